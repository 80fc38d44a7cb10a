"""CMIM beside what a user would write: the plain method on the same engine, and vectorised with NumPy.

Edge features of handwritten digits (28 by 28 pixels, 500 pictures), 50 columns chosen; the size is the number of
columns. Ranking by mutual information stands beside scikit-learn's estimator for discrete columns.
"""

import numpy as np
from sklearn.feature_selection import mutual_info_classif

from benchmarks.harness import Benchmark
from learnable._bits import pack_bits
from learnable.chapters.cmim_feature_selection.baselines import filter_features
from learnable.chapters.cmim_feature_selection.theory import draw_images
from learnable.features import cmim, edge_features
from learnable.features.information import code_columns

bench = Benchmark("cmim_feature_selection")
drawn = draw_images("3 or 8", 500, random_state=0)
everything, y = edge_features(drawn.train), drawn.train_target


def numpy_bits(X, y, k):
    """Algorithm 1 with words of 64 rows, all columns at once: np.bitwise_count of ANDs."""
    n = len(y)
    c = np.arange(n + 1)
    xlogx = c * np.log(np.maximum(c, 1))
    words, positive = pack_bits(np.ascontiguousarray(X.T)), pack_bits(y[None].astype(bool))[0]

    def count(a):
        return np.bitwise_count(a).sum(axis=1, dtype=np.int64)

    ones, both = count(words), count(words & positive)
    n1 = int(y.sum())

    def cells(rows, inside, first):
        return xlogx[inside] + xlogx[first - inside] + xlogx[rows - inside] + xlogx[n - rows - first + inside]

    score = cells(n1, both, ones) - xlogx[ones] - xlogx[n - ones] - xlogx[n1] - xlogx[n - n1] + xlogx[n]
    order = []
    for _ in range(k):
        m = int(np.argmax(np.where(score > 1e-9, score, 0).round(9)))
        order.append(m)
        pair, triple = count(words & words[m]), count(words & (words[m] & positive))
        o1, o0, m1, m0 = both, ones - both, both[m], ones[m] - both[m]
        t0 = pair - triple
        value = xlogx[triple] + xlogx[o1 - triple] + xlogx[m1 - triple] + xlogx[n1 - o1 - m1 + triple]
        value += xlogx[t0] + xlogx[o0 - t0] + xlogx[m0 - t0] + xlogx[n - n1 - o0 - m0 + t0]
        value += xlogx[ones[m]] + xlogx[n - ones[m]] - cells(ones[m], pair, ones)
        value -= xlogx[m1] + xlogx[m0] + xlogx[n1 - m1] + xlogx[n - n1 - m0]
        score = np.minimum(score, value)
        score[m] = -1.0
    return np.array(order)


def same_order(ours, peer):
    peer = getattr(peer, "order", peer)
    assert ours.order.tolist() == peer.tolist()
    return f"the same {len(peer)} columns in the same order, {ours.n_calls:,} calls"


for d in bench.sizes([2_000, 10_000, 43_904]):
    X = np.ascontiguousarray(everything[:, np.linspace(0, 43_903, d).astype(int)])
    packed = code_columns(X)
    bench.compare(
        "50 columns, packed before",
        size=d,
        ours=lambda packed=packed: cmim(packed, y, 50),
        peers={
            "Algorithm 1, same engine": lambda packed=packed: cmim(packed, y, 50, method="naive"),
            "Algorithm 2, same engine": lambda packed=packed: cmim(packed, y, 50, method="scan"),
        },
        accuracy=same_order,
    )
    bench.compare(
        "50 columns from a table of booleans",
        size=d,
        ours=lambda X=X: cmim(X, y, 50),
        peers={"NumPy, packed bits": lambda X=X: numpy_bits(X, y, 50)},
        accuracy=same_order,
    )

for d in bench.sizes([200, 1_000]):
    X = np.ascontiguousarray(everything[:, np.linspace(0, 43_903, d).astype(int)])

    def theirs(X=X):
        return mutual_info_classif(X, y, discrete_features=True)

    def same_values(ours, peer, X=X):
        found = code_columns(X)
        difference = np.abs(found.mutual_information(found.reference(y)) - peer).max()
        assert difference < 1e-9
        assert sorted(peer[ours].round(9)) == sorted(np.sort(peer)[-len(ours) :].round(9))
        return f"the same information, largest difference {difference:.0e}"

    bench.compare(
        "ranking by mutual information",
        size=d,
        ours=lambda X=X: filter_features(X, y, 50, method="mim"),
        peers={"scikit-learn mutual_info_classif": theirs},
        accuracy=same_values,
    )
bench.finish()
