"""The two-class program on n of 2,308 genes, beside a general cone solver, through cvxpy and called directly.

The answers must have the same norm to one part in a million; ours carries a certified gap. Leave-one-out is all 47
fits, ours from the solution of the full fit, the peers from scratch: an interior-point method has no warm start.
"""

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Benchmark, Once, peer_package
from learnable.datasets import load
from learnable.features import SOCPSelector, loo_selection
from learnable.features.socp import ClassMoments, chebyshev_factor, solve_cone_program, two_class_program

bench = Benchmark("socp_feature_selection", packages=("cvxpy", "clarabel"))
cvxpy = peer_package("cvxpy")
clarabel = peer_package("clarabel")

khan = load("khan")
pair = np.isin(khan.target, [1, 2])  # Ewing sarcoma and neuroblastoma
genes, kind = khan.data[pair], khan.target[pair]


def by_cvxpy(moments, eta):
    kappa, w, b = chebyshev_factor(eta), cvxpy.Variable(len(moments.mu1)), cvxpy.Variable()
    first, second = moments.mu1 @ w - b, b - moments.mu2 @ w
    cones = [first >= kappa * cvxpy.norm(moments.factor1 @ w), second >= kappa * cvxpy.norm(moments.factor2 @ w)]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm1(w)), [first >= 1, second >= 1, *cones])
    problem.solve(solver="CLARABEL")
    return problem.value


def by_clarabel(moments, eta):
    """The same program in standard form: unknowns w, bounds of their sizes, and the heads of the two cones."""
    n, kappa = len(moments.mu1), chebyshev_factor(eta)
    cones = [clarabel.NonnegativeConeT(2 * n + 3)]  # first, so that a missing package is noticed before the work
    eye, none = sp.identity(n, format="csc"), sp.csc_matrix((n, 2))
    rows = [sp.hstack([eye, -eye, none]), sp.hstack([-eye, -eye, none])]
    rows.append(sp.csc_matrix(np.concatenate([-moments.delta, np.zeros(n), [1.0, 1.0]])[None, :]))
    rows.append(sp.csc_matrix(-np.eye(2, 2 * n + 2, 2 * n)))
    right = [np.zeros(2 * n + 1), -np.ones(2)]
    for k, factor in enumerate((moments.factor1, moments.factor2)):
        block = np.zeros((len(factor) + 1, 2 * n + 2))
        block[0, 2 * n + k] = -1.0
        block[1:, :n] = -kappa * factor
        rows.append(sp.csc_matrix(block))
        right.append(np.zeros(len(block)))
        cones.append(clarabel.SecondOrderConeT(len(block)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cost = np.concatenate([np.zeros(n), np.ones(n), np.zeros(2)])
    P = sp.csc_matrix((2 * n + 2, 2 * n + 2))
    solver = clarabel.DefaultSolver(P, cost, sp.vstack(rows, format="csc"), np.concatenate(right), cones, settings)
    return solver.solve().obj_val


def same(ours, peer):
    difference = abs(ours.objective - peer) / ours.objective
    assert ours.gap < 1e-8 and difference < 1e-6, (ours.gap, difference)
    return f"norms differ by {difference:.0e}, our certified gap is {ours.gap:.0e}"


for eta in (0.9,) if bench.smoke else (0.5, 0.9, 0.95, 0.99):
    for n in bench.sizes([300, 1000, 2308]):
        moments = ClassMoments.from_data(genes[:, :n], kind)
        bench.compare(
            f"one fit, η = {eta:g}",
            size=n,
            ours=lambda moments=moments, eta=eta: solve_cone_program(two_class_program(moments, eta)),
            peers={
                "cvxpy with Clarabel": lambda moments=moments, eta=eta: by_cvxpy(moments, eta),
                "Clarabel, called directly": lambda moments=moments, eta=eta: by_clarabel(moments, eta),
            },
            accuracy=same,
        )


def folds(solver, X, y, eta):
    rows = np.arange(len(X))
    return [solver(ClassMoments.from_data(X[rows != i], y[rows != i]), eta) for i in rows]


def same_folds(ours, peer):
    assert ours.converged and len(peer) == len(ours.predictions)
    return f"all {len(peer)} fits certified, the largest gap is {ours.gap:.0e}"


for n in bench.sizes([300, 2308]):
    X, y = (genes[::4, :n], kind[::4]) if bench.smoke else (genes[:, :n], kind)
    bench.compare(
        "leave one out, η = 0.95",
        size=n,
        ours=lambda X=X, y=y: loo_selection(SOCPSelector(eta=0.95), X, y),
        peers={
            "cvxpy with Clarabel": Once(lambda X=X, y=y: folds(by_cvxpy, X, y, 0.95)),
            "Clarabel, called directly": Once(lambda X=X, y=y: folds(by_clarabel, X, y, 0.95)),
        },
        accuracy=same_folds,
    )

bench.finish()
