"""Experiments on linear rules; the notes of the source print worked numbers, but no tables."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

from learnable.book.study import study
from learnable.chapters.linear_discrimination.theory import four_point, linear_gaussian_risk, masking3
from learnable.linear.exact import FingeringClassifier, HalfspaceERM2D, SplitERM
from learnable.linear.gaussian import FisherLDA
from learnable.linear.least_squares import LeastSquaresClassifier
from learnable.linear.logistic import LogisticDiscriminant
from learnable.linear.sigmoid_risk import SigmoidRiskClassifier

OURS = "the notes print no table; this experiment is ours"
PRIORS = {
    "least squares": lambda: LeastSquaresClassifier(),
    "LDA, gaussian": lambda: FisherLDA(),
    "LDA, erm": lambda: FisherLDA(final="erm"),
    "logistic": lambda: LogisticDiscriminant(alpha=1e-6),
}
GALLERY = {
    "least squares": lambda: LeastSquaresClassifier(),
    "logistic": lambda: LogisticDiscriminant(),
    "LDA": lambda: FisherLDA(final="midpoint"),
    "smooth count": lambda: SigmoidRiskClassifier(),
    "exact": lambda: SplitERM(),
}


@study(
    source="Lember 2012, Sec. 3.6.1",
    paper={"repetitions": 50, "n": [50, 200, 1000, 4000, 16_000], "rule": [*PRIORS]},
    lecture={"repetitions": 3, "n": [200, 1000], "rule": [*PRIORS]},
    paired=("rule",),
    note=OURS,
)
def unequal_priors(random_state, *, n, rule):
    """Exact risk of a rule learned from n points of N(0, 1) and N(2, 1), nine tenths of them from the second."""
    y = (random_state.random(n) < 0.9).astype(int)
    y[:2] = 0, 1  # both classes are needed
    x = random_state.normal(size=n) + 2 * y
    fitted = PRIORS[rule]().fit(x[:, None], y)
    return {"risk": linear_gaussian_risk(fitted.coef_[0], fitted.intercept_[0], 0.0, 2.0, 1.0, pi1=0.9)}


@study(
    source="Lember 2012, Sec. 3.6.1",
    paper={"repetitions": 10, "rule": ["least squares", "quadratic terms", "LDA", "logistic"]},
    lecture={"repetitions": 1, "rule": ["least squares", "LDA"]},
    paired=("rule",),
    note=OURS,
)
def masking(random_state, *, rule):
    """Three Gaussian classes in a row: error, and how often the middle one is predicted; 3,000 points to learn from."""
    problem = masking3()
    X, y = problem.sample(3000, random_state)
    X_test, y_test = problem.sample(100_000, random_state)
    if rule == "quadratic terms":
        X, X_test = (np.column_stack([Z, Z**2, Z[:, 0] * Z[:, 1]]) for Z in (X, X_test))
    model = {"LDA": FisherLDA, "logistic": LogisticDiscriminant}.get(rule, LeastSquaresClassifier)()
    said = model.fit(X, y).predict(X_test)
    return {"error": np.mean(said != y_test), "middle": np.mean(said == 1)}


@study(
    source="Lember 2012, Sec. 3.6.1 and 3.6.2",
    paper={"repetitions": 20, "m": [10.0, 30.0, 45.0, 55.0, 80.0, 120.0, 200.0], "rule": [*GALLERY]},
    lecture={"repetitions": 1, "m": [10.0, 120.0], "rule": ["least squares", "exact"]},
    paired=("rule",),
    note="the notes treat the law itself; samples of 2,000 are ours",
)
def four_points(random_state, *, m, rule):
    """Error of a rule on the four-point law with far mass 0.02 at ±m, learned from 2,000 draws."""
    law = four_point(0.01, m)
    x, y = law.sample(2000, random_state)
    fitted = GALLERY[rule]().fit(np.reshape(x, (-1, 1)), y)
    said = fitted.predict(np.reshape(law.x_values, (-1, 1)))
    return {"risk": law.risk(said)}


@study(
    source="Lember 2012, Sec. 3.6",
    paper=[
        {"repetitions": 10, "features": [2], "rule": ["exact", "least squares", "LDA, erm", "logistic"]},
        {"repetitions": 10, "features": [30], "rule": ["fingering", "least squares", "LDA", "LDA, erm", "logistic"]},
    ],
    lecture={"repetitions": 1, "features": [2], "rule": ["exact", "least squares"]},
    paired=("rule",),
    note=OURS,
)
def tumours(random_state, *, features, rule):
    """Breast cancer: error in one round of five-fold cross-validation, and on the data that were learned from."""
    X, y = load_breast_cancer(return_X_y=True)
    if features == 2:
        pick = np.random.default_rng(4).choice(len(y), 200, replace=False)
        X, y = X[np.ix_(pick, [0, 1])], y[pick]
    make = {
        "exact": lambda: HalfspaceERM2D(),
        "fingering": lambda: FingeringClassifier(max_hyperplanes=1000, random_state=0),
        "least squares": lambda: LeastSquaresClassifier(),
        "LDA": lambda: FisherLDA(),
        "LDA, erm": lambda: FisherLDA(final="erm"),
        "logistic": lambda: LogisticDiscriminant(alpha=1.0),
    }[rule]
    folds = StratifiedKFold(5, shuffle=True, random_state=int(random_state.integers(2**31)))
    wrong = [np.mean(make().fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in folds.split(X, y)]
    return {"held out": np.mean(wrong), "training": np.mean(make().fit(X, y).predict(X) != y)}
