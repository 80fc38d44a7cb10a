"""The experiments of Bengio and Grandvalet (2004): small in the lecture, at the source's scale elsewhere.

A cell draws 1,000 independent data sets, so that 100 cells are the source's 100,000 experiments.
"""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.tree import DecisionTreeClassifier

from learnable import datasets
from learnable.book.study import study
from learnable.chapters.cv_variance.replications import (
    draw_regression,
    interval_coverage,
    kfold_residuals,
    variance_components,
)
from learnable.selection.cv_intervals import nested_summary

SETS = 1_000


def expected_error(n_train, n_features=30):
    """Expected squared error of least squares without intercept on Gaussian data with noise 1."""
    return 1 + n_features / (n_train - n_features - 1)


def _figures(found):
    """Means over data sets: ratios are taken later, between means over all cells."""
    parts = dict(zip(("sigma2_part", "omega_part", "gamma_part"), found.contributions, strict=True))
    told = {name: getattr(found, name) for name in ("mean", "variance", "naive", "fold_means", "corrected")}
    return {**told, **parts}


@study(
    source="Bengio and Grandvalet 2004, Experiment 1 and Figure 1",
    paper={"repetitions": 100, "n": [60, 100, 200]},
    lecture={"repetitions": 1, "n": [60, 100]},
    note="The source's sizes n stand on the axis of a figure that is not legible; these are ours.",
)
def hold_out(random_state, *, n):
    """Variance of the mean test error over ten independent training and test sets of size n, and its two estimates.

    Given the coefficients b, the error of a fresh Gaussian example is normal with variance 1 + ||b - b*||^2, so test
    examples are drawn as such.
    """
    n_folds, d = 10, 30
    truth = np.full(d, np.sqrt(3.0 / d))
    X, y = draw_regression(SETS * n_folds, n, random_state=random_state)
    gram = np.swapaxes(X, 1, 2) @ X
    found = np.linalg.solve(gram, np.swapaxes(X, 1, 2) @ y[..., None])[..., 0]
    spread = 1 + ((found - truth) ** 2).sum(axis=1)
    errors = (spread[:, None] * random_state.standard_normal((SETS * n_folds, n)) ** 2).reshape(SETS, n_folds, n)
    numbers = variance_components(errors)
    return {
        "variance": numbers.variance,
        "naive": numbers.naive,
        "fold_means": numbers.fold_means,
        "gamma_part": numbers.contributions[2],
    }


@study(
    source="Bengio and Grandvalet 2004, Experiment 2 and Figure 4",
    paper={"repetitions": 100, "n": [50, 60, 80, 120, 200, 600], "outliers": [False, True]},
    lecture={"repetitions": 1, "n": [60, 200], "outliers": [False, True]},
    note="The sizes are ours: those of the source stand on the axis of a figure that is not legible.",
)
def variance(random_state, *, n, outliers):
    """The variance of ten-fold cross-validation of least squares, its three parts, and three estimates of it."""
    X, y = draw_regression(SETS, n, outlier_share=0.05 * outliers, random_state=random_state)
    return _figures(variance_components(kfold_residuals(X, y, n_folds=10) ** 2))


@study(
    source="Bengio and Grandvalet 2004, Figure 5",
    paper={"repetitions": 30, "n_folds": [2, 3, 5, 10, 20, 40, 120], "outliers": [False, True]},
    lecture={"repetitions": 1, "n_folds": [2, 10, 120], "outliers": [False]},
    note="30,000 data sets for each number of folds.",
)
def folds(random_state, *, n_folds, outliers):
    """The same for n = 120 and several numbers of folds."""
    X, y = draw_regression(SETS, 120, outlier_share=0.05 * outliers, random_state=random_state)
    return _figures(variance_components(kfold_residuals(X, y, n_folds=n_folds) ** 2))


@study(
    source="Bengio and Grandvalet 2004, Experiment 3 and Figure 6",
    paper={"repetitions": 30, "n": [100, 200, 400]},
    lecture={"repetitions": 1, "n": [100]},
    note="1,500 samples of each size; the source does not print how many. Its tree learner is not named: ours is CART "
    "grown to purity.",
)
def trees(random_state, *, n):
    """Ten-fold cross-validation of a tree on Letter, A to M against N to Z, samples drawn with replacement."""
    letter = datasets.load("letter")
    X, y = np.asarray(letter.data, dtype=np.float32), np.asarray(letter.target) < 13
    n_sets, n_folds = 50, 10
    errors = np.empty((n_sets, n_folds, n // n_folds))
    for one in errors:
        drawn = random_state.integers(len(X), size=n).reshape(n_folds, -1)
        for k in range(n_folds):
            rest = np.delete(drawn, k, axis=0).ravel()
            tree = DecisionTreeClassifier(random_state=0).fit(X[rest], y[rest])
            one[k] = tree.predict(X[drawn[k]]) != y[drawn[k]]
    return _figures(variance_components(errors))


@study(
    source="Ours, on the laws of Bengio and Grandvalet 2004, Experiment 2",
    paper={"repetitions": 5, "n": [50, 60, 120, 200], "outliers": [False, True]},
    lecture={"repetitions": 1, "n": [60], "outliers": [False]},
    note="5,000 data sets for each law; repeated and nested intervals with ten repetitions, on 500 of them.",
)
def coverage(random_state, *, n, outliers):
    """How often 95 % intervals hold the expected error of a rule trained with n - m examples (nested: with n)."""
    share = 0.05 * outliers
    X, y = draw_regression(SETS, n, outlier_share=share, random_state=random_state)
    errors = kfold_residuals(X, y, n_folds=10) ** 2
    truth, whole = (_truth(size, share) for size in (n - n // 10, n))
    found = {m: interval_coverage(errors, truth, method=m) for m in ("naive", "fold_means", "corrected")}
    few, n_repeats = SETS // 10, 10
    outer, inner = _nested(X[:few], y[:few], n_repeats, random_state)
    fold_means = outer.mean(axis=3)
    scores = fold_means.reshape(few, -1)
    spread = np.sqrt((1 / scores.shape[1] + 1 / 9) * scores.var(axis=1, ddof=1))
    half = stats.t(scores.shape[1] - 1).ppf(0.975) * spread
    found["repeated"] = float(np.mean(np.abs(scores.mean(axis=1) - truth) <= half))
    nested = np.array([nested_summary(a, b) for a, b in zip(outer, inner, strict=True)])
    found["nested"] = float(np.mean(np.abs(nested[:, 0] - whole) <= stats.norm.ppf(0.975) * nested[:, 1]))
    return found


def _truth(n_train, outlier_share):
    """Expected error of a rule trained with `n_train` examples: by formula, or over 20,000 training sets."""
    if not outlier_share:
        return expected_error(n_train)
    rng = np.random.default_rng(n_train)
    scale = 1 + 99 * outlier_share
    total = 0.0
    for _ in range(20):
        X, y = draw_regression(1_000, n_train, outlier_share=outlier_share, random_state=rng)
        found = np.linalg.solve(np.swapaxes(X, 1, 2) @ X, np.swapaxes(X, 1, 2) @ y[..., None])[..., 0]
        # x and the noise of a fresh example have mean square `scale` and 1 in the units of y.
        total += float(np.mean(1 + scale * ((found - np.sqrt(3 / 30 / scale)) ** 2).sum(axis=1)))
    return total / 20


def _nested(X, y, n_repeats, random_state):
    """Errors of plain and of twice left-out cross-validation, with new folds each time."""
    count, n = X.shape[:2]
    m, n_folds = n // 10, 10
    outer = np.empty((count, n_repeats, n_folds, m))
    inner = np.empty((count, n_repeats, n_folds, n_folds - 1, m))
    for r in range(n_repeats):
        order = random_state.permutation(n)
        Xr, yr = X[:, order], y[:, order]
        outer[:, r] = kfold_residuals(Xr, yr, n_folds=n_folds) ** 2
        for k in range(n_folds):
            rest = np.delete(np.arange(n).reshape(n_folds, m), k, axis=0).ravel()
            inner[:, r, k] = kfold_residuals(Xr[:, rest], yr[:, rest], n_folds=n_folds - 1) ** 2
    return outer, inner
