from .classifier import (
    BoostedPathClassifier as BoostedPathClassifier,
)
from .constrained import (
    ConstrainedPath as ConstrainedPath,
    l1_constrained_path as l1_constrained_path,
)
from .dictionaries import (
    monomials as monomials,
)
from .stepping import (
    BoostPath as BoostPath,
    eps_boost as eps_boost,
)
