"""Entropy from samples beside infomeasure, adaptive quadrature and a fixed grid.

Both sides get the samples and count them themselves. NSB of infomeasure 0.6.3 raises each symbol's factor of the
evidence to the power of its count and stops at the parameter log A: its values are near ours for small samples, and NaN
from a few hundred on. The peer with agreeing values is therefore the same integral by scipy's adaptive quadrature.
"""

import logging

import numpy as np
from scipy import integrate, special

from benchmarks.harness import Benchmark, Once, peer_package
from learnable import latent as ee
from learnable.chapters.entropy_estimation import theory
from learnable.datasets.counts import discrete_law, make_symbols
from learnable.latent import entropy as ee_entropy

infomeasure = peer_package("infomeasure")
logging.getLogger("infomeasure").setLevel(logging.ERROR)


def agree(tolerance, what="difference"):
    def check(ours, peer):
        a, b = float(np.ravel(ours)[0]), float(np.ravel(peer)[0])
        assert abs(a - b) <= tolerance * abs(b), (a, b)
        return f"{what} {abs(a - b):.1e} nats of {b:.4f}"

    return check


def theirs(name, data, **settings):
    return lambda: infomeasure.entropy(data, approach=name, base="e", **settings)


def quad_nsb(data, A):
    """NSB by adaptive quadrature over log a, with sums over all symbols."""
    n = np.bincount(data, minlength=A).astype(float)
    N = n.sum()

    def log_weight(s):
        a = np.exp(s)
        evidence = (
            special.gammaln(A * a) - special.gammaln(N + A * a) + (special.gammaln(n + a) - special.gammaln(a)).sum()
        )
        return evidence + np.log(A * special.polygamma(1, A * a + 1) - special.polygamma(1, a + 1)) + s

    def mean(s):
        w = n + np.exp(s)
        return special.digamma(w.sum() + 1) - (w * special.digamma(w + 1)).sum() / w.sum()

    grid = np.linspace(-8, 8, 33)
    top = max(grid, key=log_weight)
    ends = {"a": top - 8, "b": top + 8, "points": [top], "limit": 200, "epsrel": 1e-9, "epsabs": 0}
    peak = log_weight(top)
    total = integrate.quad(lambda s: np.exp(log_weight(s) - peak), **ends)[0]
    return integrate.quad(lambda s: np.exp(log_weight(s) - peak) * mean(s), **ends)[0] / total


def fixed_grid_dpm(data):
    """DPM on a grid in log alpha that is fine enough for the narrowest posterior here; the mean alone."""
    n = np.unique(data, return_counts=True)[1].astype(float)
    N, K = n.sum(), n.size
    s = np.linspace(-5.0, 20.0, 6001)
    alpha = np.exp(s)
    logw = K * s + special.gammaln(1 + alpha) - special.gammaln(alpha + N) + np.log(special.polygamma(1, 1 + alpha))
    seen = (n * special.digamma(n + 1)).sum()
    means = special.digamma(alpha + N + 1) - (alpha * special.digamma(1) + seen) / (alpha + N)
    w = np.exp(logw - logw.max())
    return w @ means / w.sum()


bench = Benchmark("entropy_estimation", packages=("infomeasure",))
heavy = discrete_law("zipf", 100_000, exponent=1.2)

FREQUENTIST = {
    "Miller and Madow": ("miller_madow", ee.entropy_miller_madow),
    "Chao and Shen": ("chao_shen", ee.entropy_chao_shen),
    "Zhang": ("zhang", ee_entropy.entropy_zhang),
}
for title, (name, estimate) in FREQUENTIST.items():
    for n in bench.sizes([1000, 30_000] if name == "zhang" else [1000, 30_000, 1_000_000]):
        data = make_symbols(n, heavy, random_state=0).data
        call = theirs(name, data)
        bench.compare(
            f"estimator of {title}, from samples",
            size=n,
            ours=lambda data=data, estimate=estimate: estimate(data, kind="samples"),
            peers={"infomeasure": Once(call) if name == "zhang" else call},
            accuracy=agree(1e-9),
        )

for n in bench.sizes([1000, 30_000, 1_000_000]):
    data = make_symbols(n, heavy, random_state=0).data
    bench.compare(
        "Grassberger's estimator from samples (ours of 2008, infomeasure's of 1988)",
        size=n,
        ours=lambda data=data: ee.entropy_grassberger(data, kind="samples"),
        peers={"infomeasure": theirs("grassberger", data)},
        accuracy=agree(0.02, "the two formulas differ by"),
    )

A = 50
for n in bench.sizes([100, 1000, 10_000, 100_000]):
    data = make_symbols(n, kind="zipf", k=A, exponent=1.0, random_state=0).data
    bench.compare(
        "NSB, 50 symbols",
        size=n,
        ours=lambda data=data: ee.entropy_nsb(data, A, kind="samples")[0],
        peers={"scipy.integrate.quad": lambda data=data: quad_nsb(data, A)},
        accuracy=agree(1e-6),
    )
for n in bench.sizes([60, 100]):
    data = make_symbols(n, kind="zipf", k=A, exponent=1.0, random_state=0).data
    bench.compare(
        "NSB, 50 symbols (infomeasure weighs its evidence otherwise)",
        size=n,
        ours=lambda data=data: ee.entropy_nsb(data, A, kind="samples")[0],
        peers={"infomeasure": theirs("nsb", data, K=A)},
        accuracy=agree(0.1, "the two differ by"),
    )

for n in bench.sizes([1000, 30_000, 1_000_000]):
    data = make_symbols(n, heavy, random_state=0).data
    bench.compare(
        "DPM, mean and deviation",
        size=n,
        ours=lambda data=data: theory.entropy_dpm(data, kind="samples"),
        peers={"fixed grid of 6,001 nodes, numpy (mean only)": lambda data=data: fixed_grid_dpm(data)},
        accuracy=agree(1e-6),
    )
    bench.compare(
        "PYM, mean and deviation",
        size=n,
        ours=lambda data=data: ee.entropy_pym(data, kind="samples"),
        peers={
            "the same with a grid of 120 x 160": lambda data=data: ee.entropy_pym(data, kind="samples", grid=(120, 160))
        },
        accuracy=agree(1e-6),
    )

bench.finish()
