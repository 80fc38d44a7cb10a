"""Linear rules: logistic regression beside scikit-learn, the exact half-plane beside a mixed-integer programme."""

import numpy as np
from scipy import optimize
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from benchmarks.harness import Benchmark
from learnable.chapters.linear_discrimination.theory import best_halfplane
from learnable.linear import FisherLDA, LogisticDiscriminant

bench = Benchmark("linear_discrimination")


def same_coefficients(ours, peer):
    gap = float(np.abs(ours.coef_ - peer.coef_).max())
    assert gap < 1e-6, gap
    return f"coefficients differ by {gap:.0e}; gradient norm {ours.gradient_norm_:.0e}"


for d in (10, 50, 300):
    for n in bench.sizes([1000, 10_000, 50_000]):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = (X @ rng.normal(size=d) / np.sqrt(d) + rng.logistic(size=n) > 0).astype(int)
        bench.compare(
            f"logistic regression without penalty, {d} features",
            size=n,
            ours=lambda X=X, y=y: LogisticDiscriminant().fit(X, y),
            peers={
                "LogisticRegression newton-cholesky": lambda X=X, y=y: LogisticRegression(
                    C=np.inf, solver="newton-cholesky", tol=1e-8
                ).fit(X, y),
                "LogisticRegression lbfgs": lambda X=X, y=y: LogisticRegression(
                    C=np.inf, solver="lbfgs", tol=2e-9, max_iter=1000
                ).fit(X, y),
            },
            accuracy=same_coefficients,
        )


def same_decisions(X):
    def check(ours, peer):
        share = np.mean(ours.predict(X) == peer.predict(X))
        assert share == 1.0, share
        return "all decisions equal"

    return check


for n in bench.sizes([1000, 10_000, 50_000]):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 20)) + 0.3 * y[:, None]
    bench.compare(
        "Fisher's discriminant, 20 features",
        size=n,
        ours=lambda X=X, y=y: FisherLDA().fit(X, y),
        peers={
            f"LinearDiscriminantAnalysis {solver}": lambda X=X, y=y, solver=solver: LinearDiscriminantAnalysis(
                solver=solver
            ).fit(X, y)
            for solver in ("lsqr", "eigen")
        },
        accuracy=same_decisions(X),
    )


def milp_errors(X, y):
    n = len(y)
    Z = np.column_stack([X, np.ones(n)]) * np.where(y == 1, 1.0, -1.0)[:, None]
    box = np.concatenate([np.full(3, 100.0), np.ones(n)])
    answer = optimize.milp(
        np.concatenate([np.zeros(3), np.ones(n)]),
        constraints=optimize.LinearConstraint(np.hstack([Z, 1e3 * np.eye(n)]), 1.0, np.inf),
        integrality=np.concatenate([np.zeros(3), np.ones(n)]),
        bounds=optimize.Bounds(np.concatenate([-box[:3], np.zeros(n)]), box),
    )
    return round(answer.fun)


def same_optimum(ours, peer):
    assert ours[2] == peer, (ours[2], peer)
    return f"the same optimum, {peer} errors"


for n in bench.sizes([20, 40, 60]):
    rng = np.random.default_rng(60)
    X = rng.normal(size=(n, 2))
    y = (X @ [1.0, 0.5] + 0.5 * rng.normal(size=n) > 0).astype(int)
    bench.compare(
        "fewest errors of a half-plane",
        size=n,
        ours=lambda X=X, y=y: best_halfplane(X, y),
        peers={"scipy milp (HiGHS)": lambda X=X, y=y: milp_errors(X, y)},
        accuracy=same_optimum,
    )

bench.finish()
