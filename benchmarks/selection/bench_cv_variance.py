"""The errors of all folds of many data sets, beside refitting with scikit-learn and with numpy."""

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict

from benchmarks.harness import Benchmark
from learnable.chapters.cv_variance.blocks import block_statistics
from learnable.chapters.cv_variance.replications import draw_regression, kfold_residuals

bench = Benchmark("cv_variance")


def refit(X, y, n_folds):
    """One solution of the normal equations for each fold, from the sums of the others."""
    out = np.empty((len(X), n_folds, X.shape[1] // n_folds))
    rows = np.arange(X.shape[1]).reshape(n_folds, -1)
    for k, test in enumerate(rows):
        train = np.delete(rows, k, axis=0).ravel()
        A, b = X[:, train], y[:, train, None]
        beta = np.linalg.solve(np.swapaxes(A, 1, 2) @ A, np.swapaxes(A, 1, 2) @ b)
        out[:, k] = y[:, test] - (X[:, test] @ beta)[..., 0]
    return out


def scikit(X, y, n_folds):
    model = LinearRegression(fit_intercept=False)
    return np.array([b - cross_val_predict(model, A, b, cv=KFold(n_folds)) for A, b in zip(X, y, strict=True)]).reshape(
        len(X), n_folds, -1
    )


def agree(ours, peer):
    gap = np.abs(ours - peer).max() / np.abs(peer).max()
    if gap > 1e-8:
        raise AssertionError(f"errors differ by {gap:.1e}")
    return f"errors equal to {gap:.0e}"


for n in bench.sizes([60, 200, 600]):
    X, y = draw_regression(40 if bench.smoke else 200, n, random_state=0)
    bench.compare(
        "ten folds of 200 data sets, 30 features, by examples",
        size=n,
        ours=lambda X=X, y=y: kfold_residuals(X, y, n_folds=10),
        peers={
            "refitting, batched numpy": lambda X=X, y=y: refit(X, y, 10),
            "cross_val_predict": lambda X=X, y=y: scikit(X, y, 10),
        },
        accuracy=agree,
    )

for n in bench.sizes([120, 600, 3000]):
    X, y = draw_regression(1, n, random_state=1)
    bench.compare(
        "leave-one-out of one data set, 30 features",
        size=n,
        ours=lambda X=X, y=y, n=n: kfold_residuals(X, y, n_folds=n),
        peers={"refitting, batched numpy": lambda X=X, y=y, n=n: refit(X, y, n)},
        accuracy=agree,
    )


def every_pair(errors):
    flat = errors.ravel()
    fold = np.arange(flat.size) // errors.shape[1]
    products = np.outer(flat, flat)
    same = fold[:, None] == fold
    off = ~np.eye(flat.size, dtype=bool)
    return np.array([np.mean(flat**2), products[same & off].mean(), products[~same].mean()])


for n in bench.sizes([300, 1000, 3000]):
    errors = np.random.default_rng(2).normal(1, 1, size=(10, n // 10))
    bench.compare(
        "three averages over pairs",
        size=n,
        ours=lambda errors=errors: block_statistics(errors),
        peers={"all pairs, numpy": lambda errors=errors: every_pair(errors)},
        accuracy=lambda ours, peer: agree(np.array([ours.s1, ours.s2, ours.s3]), peer),
    )
bench.finish()
