from .exact import (
    FingeringClassifier as FingeringClassifier,
    HalfspaceERM2D as HalfspaceERM2D,
    SplitERM as SplitERM,
)
from .gaussian import (
    FisherLDA as FisherLDA,
    GaussianBayes as GaussianBayes,
)
from .least_squares import (
    LeastSquaresClassifier as LeastSquaresClassifier,
)
from .logistic import (
    LogisticDiscriminant as LogisticDiscriminant,
    linear_separation as linear_separation,
)
from .moments import (
    MomentBoundClassifier as MomentBoundClassifier,
)
from .penalized import (
    Lasso as Lasso,
    Ridge as Ridge,
)
from .sigmoid_risk import (
    SigmoidRiskClassifier as SigmoidRiskClassifier,
)
