from .bounds import (
    Certificate as Certificate,
    averaged_bound as averaged_bound,
    binomial_bound as binomial_bound,
    confidence_term as confidence_term,
    occam_bound as occam_bound,
    rademacher_bound as rademacher_bound,
)
from .estimators import (
    BoundCurve as BoundCurve,
    CertifiedTree as CertifiedTree,
    bound_curve as bound_curve,
    certify as certify,
)
from .growing import (
    PrunableTree as PrunableTree,
    ThreeWaySplit as ThreeWaySplit,
    grow_prunable as grow_prunable,
    grow_prune_test_split as grow_prune_test_split,
)
from .penalties import (
    rademacher_penalty as rademacher_penalty,
)
