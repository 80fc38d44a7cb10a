from . import (
    datasets as datasets,
)
from . import (
    ensembles as ensembles,
)
from . import (
    foundations as foundations,
)
from . import (
    highdim as highdim,
)
from . import (
    kernels as kernels,
)
from . import (
    latent as latent,
)
from . import (
    linear as linear,
)

__version__: str
