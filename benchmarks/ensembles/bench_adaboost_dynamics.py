"""The dynamics of AdaBoost: the compiled map beside plain numpy, the largest margin beside cvxpy, and cycles."""

import itertools

import cvxpy as cp
import numpy as np

from benchmarks.harness import Benchmark
from learnable.chapters.adaboost_dynamics.cycles import find_cycle, mm_cycle
from learnable.chapters.adaboost_dynamics.theory import (
    AdaBoostMatrix,
    counterexamples,
    one_error_matrix,
    random_matrix,
)
from learnable.ensembles.margins import minimax_margin

bench = Benchmark("adaboost_dynamics", packages=("numpy", "numba", "scipy", "cvxpy"))


def separable(m, n):
    for seed in itertools.count():
        M = random_matrix(m, n, 0.6, seed)
        if not (M == 1).all(axis=0).any() and minimax_margin(M).value > 1e-6:
            return M


def plain(M, steps):
    """The same iteration in numpy, renormalised at every step, with votes and margins."""
    d = np.full(len(M), 1 / len(M))
    lam, scores, margins = np.zeros(M.shape[1]), np.zeros(len(M)), np.empty(steps)
    for t in range(steps):
        edges = d @ M
        j = int(np.flatnonzero(edges >= edges.max() - 1e-12)[0])
        column, r = M[:, j], edges[j]
        alpha = np.arctanh(r)
        lam[j] += alpha
        scores += alpha * column
        margins[t] = scores.min() / lam.sum()
        d = d / (1 + column * r)
        d /= d.sum()
    return lam, margins, d


def same_start(ours, peer):
    # Orbits may part later where they are sensitive to the last digit.
    gap = float(np.abs(ours.margins[:60] - peer[1][:60]).max())
    drift = abs(float(ours.last.sum()) - 1)
    assert gap < 1e-9, gap
    assert np.isfinite(ours.lam).all() and drift < 1e-14, drift
    return f"margins of the first 60 steps equal to {gap:.0e}; weights sum to 1 within {drift:.0e} at the end"


STEPS = 2000 if bench.smoke else 10_000
for m, n in ((3, 3), (8, 8), (12, 25), (60, 300), (200, 1000)):
    if bench.smoke and m > 12:
        continue
    named = {3: one_error_matrix(3), 8: counterexamples()["8x8"].M}
    M = named[m] if m in named else separable(m, n)
    bench.compare(
        f"{STEPS:,} steps of AdaBoost by entries of the matrix",
        size=m * n,
        ours=lambda M=M: AdaBoostMatrix(M).run(STEPS, keep_weights=False),
        peers={"numpy": lambda M=M: plain(M, STEPS)},
        accuracy=same_start,
    )

for steps in bench.sizes([10_000, 100_000, 1_000_000]):
    M = separable(12, 25)
    bench.compare(
        "12 x 25 by steps; peer makes a hundredth of the steps",
        size=steps,
        ours=lambda M=M, steps=steps: AdaBoostMatrix(M).run(steps, keep_weights=False),
        peers={"numpy, steps / 100": lambda M=M, steps=steps: plain(M, steps // 100)},
        accuracy=same_start,
    )


def by_cvxpy(M):
    lam, rho = cp.Variable(M.shape[1], nonneg=True), cp.Variable()
    problem = cp.Problem(cp.Maximize(rho), [M @ lam >= rho, cp.sum(lam) == 1])
    problem.solve(solver=cp.HIGHS)
    return float(rho.value)


def same_value(ours, peer):
    gap = abs(ours.value - peer)
    assert gap < 1e-7, gap
    return f"value equal to {gap:.0e}"


for m, n in ((8, 8), (12, 25), (60, 300), (200, 1000)):
    if bench.smoke and m > 12:
        continue
    M = counterexamples()["8x8"].M if m == 8 else separable(m, n)
    bench.compare(
        "largest margin by entries of the matrix",
        size=m * n,
        ours=lambda M=M: minimax_margin(M),
        peers={"cvxpy with HiGHS": lambda M=M: by_cvxpy(M)},
        accuracy=same_value,
    )


def closed(m):
    def check(ours, peer):
        form = mm_cycle(m, ours.columns)
        gap = abs(ours.margin - (1 - 2 / m))
        weights = float(np.abs(ours.weights - form.weights).max())
        assert ours.period == peer == m, (ours.period, peer)
        assert gap < 1e-10, gap
        return (
            f"period {ours.period}, margin 1 - 2/m within {gap:.0e}, weights as in the closed form within {weights:.0e}"
        )

    return check


def naive_period(M, steps=2000, tol=1e-11):
    """Store all weights and look back for the last ones."""
    d = np.full(len(M), 1 / len(M))
    orbit = np.empty((steps, len(M)))
    for t in range(steps):
        orbit[t] = d
        edges = d @ M
        j = int(np.flatnonzero(edges >= edges.max() - 1e-12)[0])
        d = d / (1 + M[:, j] * edges[j])
        d /= d.sum()
    back = np.abs(orbit[::-1][1:] - orbit[-1]).max(axis=1) <= tol
    return int(np.argmax(back)) + 1


for m in bench.sizes([3, 4, 6, 10, 16]):
    M = one_error_matrix(m)
    bench.compare(
        "cycle of the m x m matrix by m",
        size=m,
        ours=lambda M=M: find_cycle(M),
        peers={"numpy, looking back": lambda M=M: naive_period(M)},
        accuracy=closed(m),
    )

bench.finish()
