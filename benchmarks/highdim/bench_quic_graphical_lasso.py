"""QUIC beside scikit-learn's block coordinate descent and the ADMM of gglasso, at the same duality gap.

Every candidate runs at the loosest of its tolerances that brings the duality gap of its answer to at most 1e-6 p.
n = p/2 samples, the diagonal is not penalised.
"""

import contextlib
import io
import time
import warnings

import numpy as np
from sklearn.covariance import graphical_lasso

from benchmarks.harness import Benchmark, PeerAbsent, peer_package
from learnable.datasets.graphical import make_gaussian_graph
from learnable.highdim.quic_graphical_lasso import QUIC, duality_gap, objective, penalty_matrix, quic_path

bench = Benchmark("quic_graphical_lasso", packages=("gglasso",))
admm = peer_package("gglasso.solver.single_admm_solver")
GAP = 1e-6
TOLERANCES = (1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8)


def sklearn(S, lam, tol, inner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = graphical_lasso(S, lam, tol=tol * len(S), enet_tol=inner, max_iter=10)[1]
    return 0.5 * (X + X.T)


def gglasso(solver, S, lam, tol):
    with contextlib.redirect_stdout(io.StringIO()):
        found = solver(S, lam, np.diag(1 / np.diagonal(S)), tol=tol, rtol=tol)
    X = (found[0] if isinstance(found, tuple) else found)["Theta"]
    return 0.5 * (X + X.T)


PEERS = {
    "scikit-learn graphical_lasso": lambda S, lam, tol: sklearn(S, lam, tol, 1e-5),
    "scikit-learn, inner tolerance 1e-6": lambda S, lam, tol: sklearn(S, lam, tol, 1e-6),
    "gglasso ADMM_SGL": lambda S, lam, tol: gglasso(admm.ADMM_SGL, S, lam, tol),
    "gglasso block_SGL": lambda S, lam, tol: gglasso(admm.block_SGL, S, lam, tol),
}


PROGRAMS = {
    "scikit-learn graphical_lasso": ("scikit-learn graphical_lasso", "scikit-learn, inner tolerance 1e-6"),
    "gglasso ADMM_SGL": ("gglasso ADMM_SGL",),
    "gglasso block_SGL": ("gglasso block_SGL",),
}


def gap(X, S, lam):
    Lam = penalty_matrix(lam, len(S))
    return duality_gap(X, S, Lam) / len(S) if np.isfinite(objective(X, S, Lam)) else np.inf


def calibrated(peer, S, lam):
    """The peer at the loosest tolerance that reaches the gap, and the seconds that it took."""
    for tol in TOLERANCES:
        start = time.perf_counter()
        X = peer(S, lam, tol)
        taken = time.perf_counter() - start
        if gap(X, S, lam) <= GAP:
            break
    return taken, lambda: (peer(S, lam, tol), tol)


def fastest(S, lam, blocks):
    """One call for each program, at the faster of its settings."""
    found = {}
    for program, names in PROGRAMS.items():
        if "block" in program and not blocks:
            continue
        try:
            found[program] = min((calibrated(PEERS[name], S, lam) for name in names), key=lambda pair: pair[0])[1]
        except PeerAbsent as reason:
            found[program] = reason.again
    return found


def agreement(S, lam):
    Lam = penalty_matrix(lam, len(S))

    def check(ours, peer):
        mine, theirs = ours[2].gap / len(S), gap(peer[0], S, lam)
        difference = (objective(ours[0], S, Lam) - objective(peer[0], S, Lam)) / len(S)
        assert mine <= GAP, mine
        assert abs(difference) < 10 * max(GAP, theirs), difference
        return f"gap per variable {mine:.0e} (ours), {theirs:.0e} (peer, at its tolerance {peer[1]:.0e})"

    return check


for kind, lam in (("chain", 0.4), ("random", 0.06)):
    for p in bench.sizes([100, 500, 1000]):
        S = np.cov(make_gaussian_graph(kind, p // 2, p=p, random_state=0).data.T)
        Lam = penalty_matrix(lam, p)
        # On the chain there is one component, and the block version is the plain one.
        bench.compare(
            f"{kind} graph, λ = {lam:g}",
            size=p,
            ours=lambda S=S, Lam=Lam: QUIC(S, Lam, tol=GAP),
            peers=fastest(S, lam, blocks=kind == "random"),
            accuracy=agreement(S, lam),
        )

for p in bench.sizes([100, 500]):
    S = np.cov(make_gaussian_graph("random", p // 2, p=p, random_state=0).data.T)
    lams = np.geomspace(0.2, 0.05, 10)

    def theirs(S=S, lams=lams):
        return [sklearn(S, lam, 1e-6, 1e-6) for lam in lams]

    def same(ours, peer, S=S, lams=lams):
        worst = max(gap(X, S, lam) for X, lam in zip(ours.precisions, lams, strict=True))
        other = max(gap(X, S, lam) for X, lam in zip(peer, lams, strict=True))
        assert worst <= 1.01 * GAP
        return f"largest gap per variable {worst:.0e} (ours), {other:.0e} (peer)"

    bench.compare(
        "path of ten penalties, random graph",
        size=p,
        ours=lambda S=S, lams=lams: quic_path(S, lams, tol=GAP),
        peers={"10 × scikit-learn graphical_lasso": theirs},
        accuracy=same,
    )

bench.finish()
