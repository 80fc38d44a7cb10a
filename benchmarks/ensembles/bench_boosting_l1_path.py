"""Small steps in compiled code beside plain numpy, exact l1 paths beside scikit-learn, margins beside cvxpy."""

import cvxpy as cp
import numpy as np
from sklearn.linear_model import LogisticRegression, lars_path

from benchmarks.harness import Benchmark
from learnable import ensembles as bl
from learnable.ensembles import boosting_path

bench = Benchmark("boosting_l1_path", packages=("cvxpy",))


def noisy(n, J):
    rng = np.random.default_rng(0)
    H = rng.normal(size=(n, J))
    return H, np.where(H[:, :5].sum(axis=1) + 2.0 * rng.normal(size=n) > 0, 1.0, -1.0)


def plain_steps(H, y, eps, steps):
    Z, beta, m = y[:, None] * H, np.zeros(H.shape[1]), np.zeros(len(y))
    for _ in range(steps):
        c = (1.0 / (1.0 + np.exp(m))) @ Z
        j = int(np.argmax(np.abs(c)))
        move = eps if c[j] >= 0.0 else -eps
        beta[j] += move
        m += move * Z[:, j]
    return beta


def same(ours, peer):
    gap = float(np.abs(ours - peer).max())
    assert gap < 1e-8, gap
    return f"coefficients differ by {gap:.0e}"


for n in bench.sizes([100, 1000, 10_000]):
    H, y = noisy(n, 45)
    bench.compare(
        "2,000 steps, logistic loss, 45 functions",
        size=n,
        ours=lambda H=H, y=y: boosting_path.eps_boost(
            H, y, "logistic", eps=0.001, n_steps=2000, record=np.array([2000])
        ).coefs[-1],
        peers={"the same loop in numpy": lambda H=H, y=y: plain_steps(H, y, 0.001, 2000)},
        accuracy=same,
    )


def objective(H, y, beta, lam):
    return float(np.logaddexp(0.0, -y * (H @ beta)).sum() + lam * np.abs(beta).sum())


for n in bench.sizes([200, 1000, 5000]):
    H, y = noisy(n, 60)
    grid = np.geomspace(0.05, 1.5, 20)
    exact = bl.l1_constrained_path(H, y, "logistic", grid)
    totals = np.logaddexp(0.0, -y * (exact.coefs @ H.T)).sum(axis=1)
    lams = exact.penalties * totals

    def liblinear(H=H, y=y, lams=lams):
        return [
            LogisticRegression(C=1 / lam, l1_ratio=1.0, solver="liblinear", fit_intercept=False, tol=1e-6)
            .fit(H, y)
            .coef_[0]
            for lam in lams
        ]

    def no_worse(ours, peer, H=H, y=y, lams=lams):
        gap = max(
            objective(H, y, a, lam) / objective(H, y, b, lam) - 1.0
            for a, b, lam in zip(ours.coefs, peer, lams, strict=True)
        )
        assert gap < 1e-8, gap
        conditions = ours.violations.max()
        return (
            f"objective at most {max(gap, 0.0):.0e} (relative) above liblinear's; conditions hold to {conditions:.0e}"
        )

    bench.compare(
        "20 bounds on the l1 norm, logistic loss, 60 functions",
        size=n,
        ours=lambda H=H, y=y, grid=grid: bl.l1_constrained_path(H, y, "logistic", grid),
        peers={"LogisticRegression liblinear, 20 fits": liblinear},
        accuracy=no_worse,
    )


def same_knots(ours, peer):
    norms = np.abs(peer[2]).sum(axis=0)
    inner = norms[1:-1]
    gap = float(np.abs(bl.l1_constrained_path(*data, "squared", inner).coefs - peer[2].T[1:-1]).max())
    assert gap < 1e-6, gap
    return f"solutions at the knots differ by {gap:.0e}"


for n in bench.sizes([200, 1000]):
    data = noisy(n, 40)
    bench.compare(
        "lasso path, 40 functions, all knots",
        size=n,
        ours=lambda data=data: bl.l1_constrained_path(*data, "squared", [0.5]),
        peers={"lars_path": lambda data=data: lars_path(*data, method="lasso")},
        accuracy=same_knots,
    )


def by_cvxpy(Z):
    beta, m = cp.Variable(Z.shape[1]), cp.Variable()
    task = cp.Problem(cp.Maximize(m), [Z @ beta >= m, cp.norm1(beta) <= 1])
    task.solve(solver=cp.CLARABEL)
    return task.value


for n in bench.sizes([50, 200, 800]):
    rng = np.random.default_rng(1)
    H = rng.normal(size=(n, n // 2))
    Z = np.where(H @ rng.normal(size=n // 2) > 0, 1.0, -1.0)[:, None] * H

    def same_margin(ours, peer):
        gap = abs(ours.margin - peer)
        assert gap < 1e-6, gap
        return f"margins differ by {gap:.0e}"

    bench.compare(
        "maximum l1 margin",
        size=n,
        ours=lambda Z=Z: bl.max_l1_margin(Z),
        peers={"cvxpy with clarabel": lambda Z=Z: by_cvxpy(Z)},
        accuracy=same_margin,
    )

bench.finish()
