from .linear_discrimination import (
    FingeringClassifier as FingeringClassifier,
)
from .linear_discrimination import (
    FisherLDA as FisherLDA,
)
from .linear_discrimination import (
    GaussianBayes as GaussianBayes,
)
from .linear_discrimination import (
    HalfspaceERM2D as HalfspaceERM2D,
)
from .linear_discrimination import (
    LeastSquaresClassifier as LeastSquaresClassifier,
)
from .linear_discrimination import (
    LogisticDiscriminant as LogisticDiscriminant,
)
from .linear_discrimination import (
    MomentBoundClassifier as MomentBoundClassifier,
)
from .linear_discrimination import (
    SigmoidRiskClassifier as SigmoidRiskClassifier,
)
from .linear_discrimination import (
    SplitERM as SplitERM,
)
from .linear_discrimination import (
    linear_separation as linear_separation,
)
