from . import (
    growing_cholesky as growing_cholesky,
    precision as precision,
)
