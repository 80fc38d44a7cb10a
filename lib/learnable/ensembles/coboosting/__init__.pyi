from .coboost import (
    BayesianCoBoost as BayesianCoBoost,
    LateFusion as LateFusion,
)
from .models import (
    HMMClassifier as HMMClassifier,
    WeightedGaussianHMM as WeightedGaussianHMM,
)
from .sequences import (
    Sequences as Sequences,
    stack_sequences as stack_sequences,
)
from .update import (
    CoBoostUpdate as CoBoostUpdate,
    coboost_update as coboost_update,
)
