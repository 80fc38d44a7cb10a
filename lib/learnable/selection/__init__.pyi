from .cv_variance import (
    running_mean as running_mean,
    settle as settle,
    standard_error as standard_error,
)
