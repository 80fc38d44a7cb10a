"""Nearest neighbours, beside scikit-learn and others."""

import numpy as np
import sklearn.neighbors
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.harness import Benchmark, peer_package
from learnable.foundations import KNN
from learnable.neighbors import NeighborIndex

bench = Benchmark("classical_rules", packages=("scikit-learn-intelex", "faiss-cpu"))


def same_labels(ours, peer):
    share = np.mean(ours == peer)
    assert share > 0.995
    return f"{share:.1%} of predictions equal (the peer leaves ties open)"


for d in (2, 64):
    for n in bench.sizes([2000, 10_000, 50_000] if d == 2 else [2000, 8000, 20_000]):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
        Q = rng.normal(size=(2000, d))
        bench.compare(
            f"5 nearest neighbours in {d} dimensions, fit and 2,000 queries",
            size=n,
            ours=lambda X=X, y=y, Q=Q: KNN(k=5).fit(X, y).predict(Q),
            peers={
                "KNeighborsClassifier": lambda X=X, y=y, Q=Q: KNeighborsClassifier(5).fit(X, y).predict(Q),
            },
            accuracy=same_labels,
        )

onedal = peer_package("sklearnex.neighbors")
faiss = peer_package("faiss")


def same_distances(ours, peer):
    gap = np.abs(np.sqrt(ours[0]) - peer[0]).max()
    assert gap < 1e-3, gap
    return f"distances differ by {gap:.0e}; ours has the smaller index first among ties"


def by_faiss(X, Q, k):
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X.astype(np.float32))
    squares, rows = index.search(Q.astype(np.float32), k)
    return np.sqrt(np.maximum(squares, 0.0)), rows


for d in (2, 10, 15, 64):
    for n in bench.sizes([5000, 20_000, 50_000]):
        rng = np.random.default_rng(0)
        X, Q = rng.normal(size=(n, d)), rng.normal(size=(n // 10, d))
        peers = {
            f"{name} {algorithm}": lambda X=X, Q=Q, of=of, algorithm=algorithm: (
                of.NearestNeighbors(n_neighbors=5, algorithm=algorithm).fit(X).kneighbors(Q)
            )
            for name, of in (("scikit-learn", sklearn.neighbors), ("oneDAL", onedal))
            for algorithm in (("kd_tree", "brute") if d < 15 or (d == 15 and of is sklearn.neighbors) else ("brute",))
        }
        bench.compare(
            f"index and 5 neighbours of n/10 queries, {d} dimensions",
            size=n,
            ours=lambda X=X, Q=Q: NeighborIndex(X).query(Q, 5),
            peers={**peers, "faiss, float32": lambda X=X, Q=Q: by_faiss(X, Q, 5)},
            accuracy=same_distances,
        )

bench.finish()
