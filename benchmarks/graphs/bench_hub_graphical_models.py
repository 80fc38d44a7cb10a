"""The hub graphical lasso with and without blocks, beside an interior point method (cvxpy), and plain beside gglasso.

All at a certified duality gap of 1e-6 p; the interior point method at its own tolerance, with objectives compared.
"""

import contextlib
import io

import numpy as np

from benchmarks.harness import Benchmark, Once, peer_package
from learnable.chapters.hub_graphical_models.baselines import admm_graphical_lasso
from learnable.datasets.graphical import make_gaussian_graph
from learnable.graphs.hubs import hub_graphical_lasso

bench = Benchmark("hub_graphical_models", packages=("cvxpy", "gglasso"))
cp = peer_package("cvxpy")
solver = peer_package("gglasso.solver.single_admm_solver")


def interior_point(S, lam):
    p = len(S)
    T, V, Z = cp.Variable((p, p), symmetric=True), cp.Variable((p, p)), cp.Variable((p, p), symmetric=True)
    off = 1 - np.eye(p)
    penalty = lam[0] * cp.sum(cp.abs(cp.multiply(off, Z))) + lam[1] * cp.sum(cp.abs(cp.multiply(off, V)))
    penalty += lam[2] * cp.sum(cp.norm(cp.multiply(off, V), 2, axis=0))
    problem = cp.Problem(cp.Minimize(-cp.log_det(T) + cp.trace(S @ T) + penalty), [T == V + V.T + Z])
    problem.solve(solver="CLARABEL")
    return problem.value


def same_objective(ours, peer):
    value = peer if np.isscalar(peer) else peer.objective
    difference = abs(ours.objective - value) / len(ours.estimate)
    assert difference < 1e-4, difference
    return f"objectives differ by {difference:.0e} per variable; our gap {ours.gap / len(ours.estimate):.0e}"


for p in bench.sizes([10, 30]):
    S = np.corrcoef(make_gaussian_graph("hubs", 2 * p, p=p, n_hubs=2, random_state=0).data.T)
    bench.compare(
        "hub graphical lasso",
        size=p,
        ours=lambda S=S: hub_graphical_lasso(S, 0.3, 0.2, 0.8),
        peers={"cvxpy, Clarabel": Once(lambda S=S: interior_point(S, (0.3, 0.2, 0.8)))},
        accuracy=same_objective,
    )

for p in bench.sizes([100, 500]):
    S = np.corrcoef(make_gaussian_graph("hubs", p // 2, p=p, n_hubs=p // 50, random_state=0).data.T)
    bench.compare(
        "hub graphical lasso by blocks, λ2 = 0.7",
        size=p,
        ours=lambda S=S: hub_graphical_lasso(S, 0.4, 0.7, 1.0),
        peers={"without blocks": lambda S=S: hub_graphical_lasso(S, 0.4, 0.7, 1.0, screen=False)},
        accuracy=same_objective,
    )


def gglasso(S, alpha):
    with contextlib.redirect_stdout(io.StringIO()):
        found = solver.ADMM_SGL(S, alpha, np.diag(1 / np.diagonal(S)))  # its own tolerances: see `equally_good`
    X = (found[0] if isinstance(found, tuple) else found)["Theta"]
    return 0.5 * (X + X.T)


def equally_good(ours, peer, S, alpha):
    def objective(theta):
        off = np.abs(theta).sum() - np.abs(np.diagonal(theta)).sum()
        return (-np.linalg.slogdet(theta)[1] + np.vdot(S, theta) + alpha * off) / len(theta)

    assert np.linalg.eigvalsh(peer)[0] > 0
    difference = objective(peer) - objective(ours.estimate)
    assert abs(difference) < 1e-6, difference
    return f"objectives differ by {abs(difference):.0e} per variable; our gap {ours.gap / len(peer):.0e}"


for p in bench.sizes([100, 300]):
    S = np.corrcoef(make_gaussian_graph("hubs", p // 2, p=p, n_hubs=p // 50, random_state=0).data.T)
    bench.compare(
        "graphical lasso by the same engine, α = 0.3",
        size=p,
        ours=lambda S=S: admm_graphical_lasso(S, 0.3),
        peers={"gglasso ADMM_SGL": lambda S=S: gglasso(S, 0.3)},
        accuracy=lambda ours, peer, S=S: equally_good(ours, peer, S, 0.3),
    )

bench.finish()
