"""An instance of every estimator with data for it, and its answers: what the tests of units and of memory layout use.

A maker takes the unit s of X and the unit t of y, and gives the estimator whose parameters are converted to them: a
width is s times as long, the penalty of the lasso s t times as large. What has no unit is left as it is.
"""

from __future__ import annotations

import functools
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnable.ensembles import (
    AdaBoost,
    BayesianCoBoost,
    BoostedPathClassifier,
    CARTClassifier,
    CARTRegressor,
    CertifiedTree,
    GradientBoost,
    GradientBoostedTrees,
    HMMClassifier,
    L2Boost,
    LateFusion,
    LogitBoost,
    StagewiseRegressor,
    TransferForestClassifier,
    WeightedGaussianHMM,
)
from learnable.features import (
    CFS,
    FCBF,
    FOCUS,
    FSSEM,
    RVE,
    CMIMSelector,
    LPSelector,
    ReliefF,
    RobustSOCPSelector,
    RVErS,
    SOCPSelector,
    SparseFisher,
    ThresholdFeatures,
)
from learnable.features.discretization import MDLDiscretizer
from learnable.foundations import (
    KNN,
    SRM,
    CostSensitiveClassifier,
    HistogramRule,
    KIntervalERM,
    ParametricPlugIn,
    Regressogram,
    RejectClassifier,
)
from learnable.foundations.voting import PartitionRule
from learnable.graphs import FCI, PC, RFCI, HubCovarianceGraph, HubGraphicalLasso, LinearDAGLearner
from learnable.highdim import DebiasedLasso, GraphicalLassoQUIC, GraphicalLassoQUICCV
from learnable.kernels import (
    DualCoordinateSVM,
    EpsilonRidge,
    EpsilonSVR,
    HardMarginSVM,
    KernelRidge,
    NuSVM,
    OneVersusRestPath,
    RandomFourierFeatures,
    RandomFourierRidge,
    SoftMarginSVM,
    SquaredNuSVM,
    SVMPath,
)
from learnable.latent import EMClusterer, ICATensor, MultiViewTensor, ProductMixtureTensor, SphericalGMMTensor
from learnable.linear import (
    FingeringClassifier,
    FisherLDA,
    GaussianBayes,
    HalfspaceERM2D,
    Lasso,
    LeastSquaresClassifier,
    LogisticDiscriminant,
    MomentBoundClassifier,
    Ridge,
    SigmoidRiskClassifier,
    SplitERM,
)
from learnable.selection import BaggedFMeasureTree, FMeasurePlugIn, FMeasureTree, LabelChain, NeighborLabels


def _standard():
    return make_pipeline(StandardScaler(), LogisticRegression())


# Estimators of two classes in the plane; the second list separates them.
CLASSIFIERS = {
    AdaBoost: lambda s, t: AdaBoost(n_rounds=10),
    GradientBoost: lambda s, t: GradientBoost(n_rounds=10),
    LogitBoost: lambda s, t: LogitBoost(n_rounds=10),
    GradientBoostedTrees: lambda s, t: GradientBoostedTrees(n_rounds=10),
    BoostedPathClassifier: lambda s, t: BoostedPathClassifier(n_steps=30),
    CostSensitiveClassifier: lambda s, t: CostSensitiveClassifier(_standard(), [[0, 1], [3, 0]]),
    RejectClassifier: lambda s, t: RejectClassifier(_standard(), t=0.2, random_state=0),
    CARTClassifier: lambda s, t: CARTClassifier(alpha=0.01),
    HistogramRule: lambda s, t: HistogramRule(h=0.7 * s),
    KNN: lambda s, t: KNN(k=3),
    PartitionRule: lambda s, t: PartitionRule(lambda X: np.floor(X[:, 0] / s)),
    DualCoordinateSVM: lambda s, t: DualCoordinateSVM(C=1 / s**2, tol=1e-8),
    NuSVM: lambda s, t: NuSVM(kernel="rbf", tol=1e-8),
    SoftMarginSVM: lambda s, t: SoftMarginSVM(kernel="rbf", tol=1e-8),
    SVMPath: lambda s, t: SVMPath(lam_min=0.05),
    OneVersusRestPath: lambda s, t: OneVersusRestPath(SVMPath(lam_min=0.05)),
    FingeringClassifier: lambda s, t: FingeringClassifier(random_state=0),
    FisherLDA: lambda s, t: FisherLDA(),
    GaussianBayes: lambda s, t: GaussianBayes(),
    HalfspaceERM2D: lambda s, t: HalfspaceERM2D(),
    LeastSquaresClassifier: lambda s, t: LeastSquaresClassifier(),
    LogisticDiscriminant: lambda s, t: LogisticDiscriminant(),
    MomentBoundClassifier: lambda s, t: MomentBoundClassifier(),
    SigmoidRiskClassifier: lambda s, t: SigmoidRiskClassifier(n_restarts=2),
    SplitERM: lambda s, t: SplitERM(),
    CertifiedTree: lambda s, t: CertifiedTree(random_state=0),
    TransferForestClassifier: lambda s, t: TransferForestClassifier(10, random_state=0),
    BayesianCoBoost: lambda s, t: BayesianCoBoost(HMMClassifier(2), n_rounds=3, random_state=0),
    HMMClassifier: lambda s, t: HMMClassifier(2),
    LateFusion: lambda s, t: LateFusion(HMMClassifier(2), random_state=0),
    LPSelector: lambda s, t: LPSelector(C=1 / s),
    SOCPSelector: lambda s, t: SOCPSelector(0.3),
    SparseFisher: lambda s, t: SparseFisher(0.3),
    RobustSOCPSelector: lambda s, t: RobustSOCPSelector(0.3, delta=0.05 * s, rho=0.001),
    CFS: lambda s, t: CFS(),
    FCBF: lambda s, t: FCBF(),
    MDLDiscretizer: lambda s, t: MDLDiscretizer(),
    FOCUS: lambda s, t: FOCUS(),
    ReliefF: lambda s, t: ReliefF(nominal=False, random_state=0),
    CMIMSelector: lambda s, t: CMIMSelector(k=2),
    RVE: lambda s, t: RVE(n_relevant=1, tol=1.0, random_state=0),
    RVErS: lambda s, t: RVErS(r_min=1, random_state=0),
}
SEPARATED = {
    HardMarginSVM: lambda s, t: HardMarginSVM(),
    SquaredNuSVM: lambda s, t: SquaredNuSVM(D=0.05, kernel="rbf"),
}
ONE_FEATURE = {
    ParametricPlugIn: lambda s, t: ParametricPlugIn(),
    KIntervalERM: lambda s, t: KIntervalERM(k=2),
    SRM: lambda s, t: SRM(k_max=4),
}
REGRESSORS = {
    L2Boost: lambda s, t: L2Boost(n_rounds=10),
    StagewiseRegressor: lambda s, t: StagewiseRegressor(n_rounds=10),
    CARTRegressor: lambda s, t: CARTRegressor(alpha=0.01 * t**2),
    Regressogram: lambda s, t: Regressogram(h=0.7 * s),
    DebiasedLasso: lambda s, t: DebiasedLasso(),
    EpsilonRidge: lambda s, t: EpsilonRidge(epsilon=0.1 * t, alpha=1.0),
    EpsilonSVR: lambda s, t: EpsilonSVR(epsilon=0.1 * t, alpha=1.0 / t),
    KernelRidge: lambda s, t: KernelRidge(alpha=0.1),
    Lasso: lambda s, t: Lasso(alpha=0.1 * s * t),
    RandomFourierRidge: lambda s, t: RandomFourierRidge(alpha=0.1, n_components=50, random_state=0),
    Ridge: lambda s, t: Ridge(alpha=0.1 * s**2),
}
# Tables without y: what is compared has no unit, or the unit of X.
TABLES = {
    GraphicalLassoQUIC: lambda s, t: GraphicalLassoQUIC(alpha=0.2 * s**2),
    HubGraphicalLasso: lambda s, t: HubGraphicalLasso(0.4 * s**2, 0.3 * s**2, s**2),
    HubCovarianceGraph: lambda s, t: HubCovarianceGraph(0.2 * s**2, 0.2 * s**2, s**2, eps=1e-4 * s**2),
    GraphicalLassoQUICCV: lambda s, t: GraphicalLassoQUICCV(cv=3, alphas=4),
    LinearDAGLearner: lambda s, t: LinearDAGLearner(),
    FCI: lambda s, t: FCI(),
    PC: lambda s, t: PC(),
    RFCI: lambda s, t: RFCI(),
    RandomFourierFeatures: lambda s, t: RandomFourierFeatures(n_components=20, random_state=0),
    ICATensor: lambda s, t: ICATensor(random_state=0),
    SphericalGMMTensor: lambda s, t: SphericalGMMTensor(random_state=0),
    ProductMixtureTensor: lambda s, t: ProductMixtureTensor(random_state=0),
    WeightedGaussianHMM: lambda s, t: WeightedGaussianHMM(2),
    EMClusterer: lambda s, t: EMClusterer(2, init="random", n_restarts=3, random_state=0),
    FSSEM: lambda s, t: FSSEM(3, max_features=2, random_state=0),
    ThresholdFeatures: lambda s, t: ThresholdFeatures(),
}
VIEWS = {MultiViewTensor: lambda s, t: MultiViewTensor(random_state=0)}
# y is a table of zeros and ones, a column for each label.
LABEL_SETS = {
    BaggedFMeasureTree: lambda s, t: BaggedFMeasureTree(n_estimators=5, random_state=0),
    FMeasurePlugIn: lambda s, t: FMeasurePlugIn(),
    FMeasureTree: lambda s, t: FMeasureTree(),
    LabelChain: lambda s, t: LabelChain(n_draws=200, random_state=0),
    NeighborLabels: lambda s, t: NeighborLabels(n_neighbors=5),
}
MAKERS = CLASSIFIERS | SEPARATED | ONE_FEATURE | REGRESSORS | TABLES | VIEWS | LABEL_SETS


@functools.cache
def data(cls):
    """(X, y, points) for an estimator; y is None for those that take none. Numbers that single precision holds."""
    rng = np.random.default_rng(5)
    if cls in TABLES | VIEWS:
        X = rng.laplace(size=(400, 9)) @ np.linspace(0.5, 1.5, 81).reshape(9, 9) ** 2 / 9 if cls is not ICATensor else 0
        if cls is ICATensor:
            X = rng.laplace(size=(400, 2)) @ np.array([[2.0, 0.5], [0.3, 1.0]])
        elif cls in (SphericalGMMTensor, ProductMixtureTensor, MultiViewTensor, EMClusterer, FSSEM):
            centres = 3 * rng.normal(size=(2, 9))
            X = centres[rng.integers(2, size=400)] + rng.normal(size=(400, 9))
        elif cls is not RandomFourierFeatures:
            X = rng.normal(size=(80, 4)) @ np.array([[1, 0.8, 0, 0], [0, 1, 0.8, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        return np.float32(X).astype(float), None, np.float32(X[:20]).astype(float)
    n = 60
    y = np.arange(n) % 2
    gap = 6.0 if cls in SEPARATED else 1.5
    X = rng.normal(size=(n, 2)) + gap * y[:, None] * [1.0, 0.5]
    points = rng.normal(size=(40, 2)) + [0.7, 0.4]
    if cls in ONE_FEATURE:
        X, points = X[:, :1], points[:, :1]
    if cls in REGRESSORS:
        X = rng.normal(size=(n, 3))
        points = rng.normal(size=(40, 3))
        y = 2.0 + X @ [1.0, -0.5, 0.2] + 0.3 * rng.normal(size=n)
        y = np.float32(y).astype(float)
    if cls in LABEL_SETS:
        y = (X @ rng.normal(size=(2, 4)) + rng.normal(size=4) > 0).astype(int)
    return np.float32(X).astype(float), y, np.float32(points).astype(float)


def answers(model, points, s=1.0, t=1.0, shift=0.0):
    """What a fitted estimator says at points, with the units s and t and the shift of X taken out: a list of arrays."""
    if isinstance(model, (CMIMSelector, RVE, RVErS)):
        return [model.support_]
    if isinstance(model, (FCI, PC, RFCI)):
        return [model.graph_.marks]
    if isinstance(model, LinearDAGLearner):
        return [model.adjacency_]
    if isinstance(model, HubCovarianceGraph):
        return [model.covariance_ / s**2]
    if hasattr(model, "precision_"):
        return [model.precision_ * s**2, model.covariance_ / s**2]
    if isinstance(model, DebiasedLasso):
        return [model.coef_ * s / t, model.stderr_ * s / t, model.pvalues_]
    if isinstance(model, (SphericalGMMTensor, ProductMixtureTensor)):
        return [(model.components_ - shift) / s, model.weights_]
    if isinstance(model, ICATensor):
        return [model.components_ / s]
    if isinstance(model, WeightedGaussianHMM):  # log-likelihoods up to the constant that the unit adds
        return [model.score_samples(points) - model.score_samples(points[:1]), model.transmat_]
    if isinstance(model, MultiViewTensor):
        return [model.weights_, *((means - shift) / s for means in model.components_)]
    if hasattr(model, "get_support"):  # the chosen columns; what they hold has the unit of X
        return [model.get_support()]
    if hasattr(model, "transform") and not hasattr(model, "predict"):
        return [model.transform(points)]
    said = np.asarray(model.predict(points))
    scores = [getattr(model, name)(points) for name in ("decision_function", "predict_proba") if hasattr(model, name)]
    if isinstance(model, HalfspaceERM2D):  # the line has some room between the points that it touches
        scores = []
    if isinstance(model, (MomentBoundClassifier, SplitERM)):  # the score has the unit of X
        scores = [score / np.abs(score).max() for score in scores]
    return [said / t if said.dtype.kind == "f" else said, *scores]


def fitted(cls, X, y, s=1.0, t=1.0):
    """The estimator in the units s and t, fitted without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MAKERS[cls](s, t)
        if cls in VIEWS:
            return model.fit(X[:, :3], X[:, 3:6], X[:, 6:])
        return model.fit(X) if y is None else model.fit(X, y)
