"""Comparing classifiers: a whole grid of ridges, ranks of a large table, and the bootstrap of mean ranks."""

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.harness import Benchmark
from learnable.chapters.classifier_benchmark.baselines import ridge_path
from learnable.selection import friedman_ranks
from learnable.selection.significance import bootstrap_ranks

bench = Benchmark("classifier_benchmark")
C_VALUES = 2.0 ** np.arange(-5, 15)


def solve_each(K, T):
    eye = np.eye(len(K))
    return np.array([np.linalg.solve(K + eye / C, T) for C in C_VALUES])


def ridge_each(K, T):
    return np.array([KernelRidge(alpha=1 / C, kernel="precomputed").fit(K, T).dual_coef_ for C in C_VALUES])


def agree(ours, peer):
    gap = np.abs(ours - peer).max() / np.abs(peer).max()
    if gap > 1e-6:
        raise AssertionError(f"results differ by {gap:.1e}")
    return "results equal to 1e-6"


for n in bench.sizes([100, 300, 1000]):
    rng = np.random.default_rng(0)
    K, T = rbf_kernel(rng.normal(size=(n, 10)), gamma=0.05), rng.choice([-1.0, 1.0], size=(n, 5))
    bench.compare(
        "kernel ELM for 20 values of C, five classes, by examples",
        size=n,
        ours=lambda K=K, T=T: ridge_path(K, T, C_VALUES),
        peers={
            "numpy, a system for each C": lambda K=K, T=T: solve_each(K, T),
            "KernelRidge for each C": lambda K=K, T=T: ridge_each(K, T),
        },
        accuracy=agree,
    )

for n in bench.sizes([121, 1_000, 10_000]):
    table = np.round(np.random.default_rng(1).random((n, 179)), 2)
    frame = pd.DataFrame(table)
    bench.compare(
        "mean ranks of 179 classifiers, by data sets",
        size=n,
        ours=lambda table=table: friedman_ranks(table),
        peers={"pandas rank": lambda frame=frame: frame.rank(axis=1, ascending=False).mean().to_numpy()},
        accuracy=agree,
    )


def bootstrap_loop(table, n_samples):
    """Resample, rank and average, one sample after the other."""
    rng, N = np.random.default_rng(0), len(table)
    drawn = [rankdata(-table[rng.integers(N, size=N)], axis=1).mean(axis=0) for _ in range(n_samples)]
    return np.quantile(drawn, [0.025, 0.975], axis=0)


def near(ours, peer):
    gap = np.abs(np.array([ours.low, ours.high]) - peer).max()
    if gap > 0.5:
        raise AssertionError(f"ends of the intervals differ by {gap:.2f}")
    return "ends of the intervals within 0.5 ranks, from different draws"


for n in bench.sizes([36, 121, 400]):
    table = np.random.default_rng(2).random((n, 19)) + np.linspace(0.3, 0, 19)
    bench.compare(
        "intervals of 19 mean ranks, 1,000 bootstrap samples, by data sets",
        size=n,
        ours=lambda table=table: bootstrap_ranks(table, n_samples=1_000, random_state=0),
        peers={"a loop over samples, scipy": lambda table=table: bootstrap_loop(table, 1_000)},
        accuracy=near,
    )
bench.finish()
