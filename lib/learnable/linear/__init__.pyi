from .linear_discrimination import (
    FingeringClassifier as FingeringClassifier,
    FisherLDA as FisherLDA,
    GaussianBayes as GaussianBayes,
    HalfspaceERM2D as HalfspaceERM2D,
    LeastSquaresClassifier as LeastSquaresClassifier,
    LogisticDiscriminant as LogisticDiscriminant,
    MomentBoundClassifier as MomentBoundClassifier,
    SigmoidRiskClassifier as SigmoidRiskClassifier,
    SplitERM as SplitERM,
    linear_separation as linear_separation,
)
