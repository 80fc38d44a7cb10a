"""The F-maximiser of many instances, beside a loop over instances in numpy and the older dynamic programme."""

import numpy as np
from scipy import special

from benchmarks.harness import Benchmark
from learnable.chapters.f_measure_maximization.theory import top_k_values
from learnable.selection import fm_independent, gfm

bench = Benchmark("f_measure_maximization")


def draw(count, m, n_sizes):
    """Probabilities P (count, m, n_sizes) of random instances, and p0."""
    rng = np.random.default_rng(0)
    P = rng.random((count, m, n_sizes))
    P *= (0.3 * rng.random((count, m)) / P.sum(axis=2))[:, :, None]
    return P, np.full(count, 0.05)


def numpy_loop(P, p0):
    """GFM as one would write it in numpy: for each instance a product and one sort of all columns."""
    count, m, n_sizes = P.shape
    W = 2 / (np.arange(1, n_sizes + 1)[:, None] + np.arange(1, m + 1))
    value = np.empty(count)
    for i in range(count):
        delta = np.sort(P[i] @ W, axis=0)[::-1]
        value[i] = max(p0[i], np.cumsum(delta, axis=0).diagonal().max())
    return value


def numpy_batch(P, p0):
    """The same for blocks of instances at once."""
    m, n_sizes = P.shape[1:]
    W = 2 / (np.arange(1, n_sizes + 1)[:, None] + np.arange(1, m + 1))
    value = []
    for start in range(0, len(P), 100):
        delta = np.sort(P[start : start + 100] @ W, axis=1)[:, ::-1]
        sums = np.einsum("nkk->nk", np.cumsum(delta, axis=1))
        value.append(np.maximum(p0[start : start + 100], sums.max(axis=1)))
    return np.concatenate(value)


def agree(ours, peer):
    """The prediction attains the value that it claims, and no other way finds a larger one."""
    gap = np.abs(ours.value - peer).max()
    if gap > 1e-12:
        raise AssertionError(f"expected F differs by {gap:.1e}")
    return f"expected F equal to {gap:.0e}"


for m in bench.sizes([25, 50, 100]):
    P, p0 = draw(200 if bench.smoke else 10_000, m, m)
    bench.compare(
        "the exact maximiser for 10,000 instances, by labels",
        size=m,
        ours=lambda P=P, p0=p0: gfm(P, p0),
        peers={
            "numpy, a loop": lambda P=P, p0=p0: numpy_loop(P, p0),
            "numpy, blocks of 100": lambda P=P, p0=p0: numpy_batch(P, p0),
        },
        accuracy=agree,
    )


def independent_numpy(p):
    """The quadratic recursion with a loop over labels in numpy, all instances at once."""
    p = -np.sort(-p, axis=1)
    count, m = p.shape
    hits = np.zeros((m + 1, count, m + 1))
    hits[0, :, 0] = 1
    for k in range(1, m + 1):
        q = p[:, k - 1, None]
        hits[k] = (1 - q) * hits[k - 1]
        hits[k, :, 1:] += q * hits[k - 1, :, :-1]
    values = np.empty((count, m + 1))
    values[:, 0] = hits[m, :, 0]
    rest = np.tile(1 / np.arange(1, 2 * m + 2), (count, 1))
    for k in range(m, 0, -1):
        values[:, k] = 2 * np.einsum("j,nj,nj->n", np.arange(k + 1), hits[k, :, : k + 1], rest[:, k - 1 : 2 * k])
        q = p[:, k - 1, None]
        rest = q * rest[:, 1:] + (1 - q) * rest[:, :-1]
    return values


def same_values(ours, peer):
    gap = np.abs(ours.by_size - peer).max()
    if gap > 1e-10:
        raise AssertionError(f"values differ by {gap:.1e}")
    return f"all sizes equal to {gap:.0e}"


for m in bench.sizes([25, 50, 100]):
    p = special.expit(np.random.default_rng(1).normal(-1, 2, size=(100 if bench.smoke else 1_000, m)))
    bench.compare(
        "independent labels, 1,000 instances, by labels",
        size=m,
        ours=lambda p=p: fm_independent(p),
        peers={
            "numpy, all instances at once": lambda p=p: independent_numpy(p),
            "the cubic recursion of 2005": lambda p=p: np.array([top_k_values(row, method="chai") for row in p]),
        },
        accuracy=same_values,
    )
bench.finish()
