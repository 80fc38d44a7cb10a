"""The fast correlation-based filter beside other programs for it, and ReliefF beside skrebate.

Tables of bits with 800 rows: ten hidden bits in five noisy copies each, the rest noise. All candidates start from the
same array of bits (a frame for the package fcbf, which takes nothing else) and must return the same columns.
skfeature rounds its relevances to whole numbers, and so walks in the order of the columns: it gets them ranked, and the
ranking is not counted as its time.
"""

import numpy as np
import pandas as pd

from benchmarks.harness import Benchmark, Once, peer_package
from learnable.datasets.wide import make_redundant_bits
from learnable.features import FCBF, ReliefF

bench = Benchmark("fcbf_feature_selection", packages=("skfeature-chappers", "fcbf", "skrebate"))
skfeature = peer_package("skfeature.function.information_theoretical_based.FCBF")
pandas_fcbf = peer_package("fcbf")
skrebate = peer_package("skrebate")


def packed_numpy(X, y):
    """What an afternoon with numpy gives: packed bits, one vectorised round for each kept column."""
    n = len(y)
    pad = -n % 64
    words = np.packbits(np.pad(X, ((0, pad), (0, 0))).T, axis=1, bitorder="little").copy().view(np.uint64)
    target = np.packbits(np.pad(y.astype(np.uint8), (0, pad)), bitorder="little").view(np.uint64)
    ones = np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    counts = np.arange(n + 1)
    t = counts * np.log(np.maximum(counts, 1))

    def su(columns, word, total):
        both = np.bitwise_count(words[columns] & word).sum(axis=1, dtype=np.int64)
        own = ones[columns]
        margins = t[own] + t[n - own] + t[total] + t[n - total]
        joint = t[both] + t[own - both] + t[total - both] + t[n - own - total + both]
        return np.round(2 * (joint - margins + t[n]) / np.maximum(2 * t[n] - margins, 1e-9), 12)

    relevance = su(np.arange(len(words)), target, int(y.sum()))
    left = np.argsort(-relevance, kind="stable")
    left = left[relevance[left] > 0]
    kept = []
    while len(left):
        j, left = left[0], left[1:]
        kept.append(j)
        left = left[su(left, words[j], ones[j]) < relevance[left]]
    return np.array(kept)


def same_columns(ours, peer):
    assert set(ours.tolist()) == {int(j) for j in peer}, (len(ours), len(peer))
    return f"the same {len(ours)} columns"


for d in bench.sizes([200, 1000, 10_000, 100_000]):
    made = make_redundant_bits(800, d=d, random_state=0)
    order = np.argsort(-FCBF().fit(made.data, made.target).relevance_, kind="stable")
    X, y = np.ascontiguousarray(made.data[:, order]), made.target
    peers = {"numpy, packed bits by hand": lambda X=X, y=y: packed_numpy(X, y)}
    if d <= 1000:
        codes = X.astype(np.int64)
        frame, labels = pd.DataFrame(codes), pd.Series(y, name="class")
        peers["skfeature"] = Once(lambda X=codes, y=y: skfeature.fcbf(X, y, mode="index"))
        peers["fcbf"] = Once(lambda X=frame, y=labels: pandas_fcbf.fcbf(X, y)[0])
    bench.compare(
        "FCBF, threshold 0, 800 rows",
        size=d,
        ours=lambda X=X, y=y: FCBF().fit(X, y).selected_,
        peers=peers,
        accuracy=same_columns,
    )


def same_weights(ours, peer):
    assert np.abs(ours - peer).max() < 1e-6, np.abs(ours - peer).max()
    return f"largest difference of the weights {np.abs(ours - peer).max():.0e}"


for d in bench.sizes([50, 500]):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, d))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    bench.compare(
        "ReliefF, all 400 rows, 5 neighbours",
        size=d,
        ours=lambda X=X, y=y: ReliefF(n_instances=400, nominal=False).fit(X, y).weights_,
        peers={"skrebate": lambda X=X, y=y: skrebate.ReliefF(n_neighbors=5, n_jobs=1).fit(X, y).feature_importances_},
        accuracy=same_weights,
    )

bench.finish()
