"""What a user would pick instead, beside randomized_variable_elimination."""

import numpy as np

from benchmarks.harness import Benchmark
from learnable.features.randomized_variable_elimination import running_mean

bench = Benchmark("randomized_variable_elimination")
for n in bench.sizes([10_000, 100_000, 1_000_000]):
    x = np.random.default_rng(0).normal(size=n)
    bench.compare(
        "running mean",
        size=n,
        ours=lambda x=x: running_mean(x),
        peers={"numpy cumsum": lambda x=x: np.cumsum(x) / np.arange(1, len(x) + 1)},
        accuracy=lambda ours, peer: f"largest difference {np.abs(ours - peer).max():.0e}",
    )
bench.finish()
