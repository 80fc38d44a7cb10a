from .criteria import (
    CrossProjection as CrossProjection,
    cross_projection as cross_projection,
    normalized_values as normalized_values,
    trace_criterion as trace_criterion,
)
from .selector import (
    FSSEM as FSSEM,
    SearchStep as SearchStep,
)
