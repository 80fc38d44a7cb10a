"""Nearest neighbours and CART, beside scikit-learn."""

import numpy as np
import sklearn.neighbors
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import Benchmark, peer_package
from learnable import datasets
from learnable.ensembles import CARTClassifier
from learnable.foundations import KNN
from learnable.neighbors import NeighborIndex
from learnable.trees import grow, weakest_links

bench = Benchmark("classical_rules", packages=("scikit-learn-intelex", "faiss-cpu"))


def coded(name):
    X, y = datasets.load(name, return_X_y=True)
    return np.ascontiguousarray(X, dtype=float), np.unique(y, return_inverse=True)[1]


def same_error(X, y):
    def check(ours, peer):
        mine = np.mean(ours.value[ours.apply(X)].argmax(axis=1) != y)
        theirs = np.mean(peer.predict(X) != y)
        assert abs(mine - theirs) < 1e-3, (mine, theirs)
        return f"training error {mine:.4f} and {theirs:.4f}"

    return check


for name in ("letter", "satimage"):
    X, y = coded(name)
    for depth in bench.sizes([4, 8, 12]):
        bench.compare(
            f"growing a tree on {name} (size is the depth)",
            size=depth,
            ours=lambda X=X, y=y, depth=depth: grow(X, y, "gini", max_depth=depth),
            peers={
                "DecisionTreeClassifier": lambda X=X, y=y, depth=depth: DecisionTreeClassifier(
                    max_depth=depth, random_state=0
                ).fit(X, y)
            },
            accuracy=same_error(X, y),
        )


def whole(X, y):
    tree = grow(X, y, "gini")
    return tree, weakest_links(tree)


def same_path(ours, peer):
    # Near the leaves equally good splits may be broken differently; the top of both paths is the same.
    np.testing.assert_allclose(ours[1].penalty[-3:], np.unique(np.round(peer, 6))[-3:], rtol=1e-4)
    return "same last penalties of the path"


for n in bench.sizes([1000, 4000, 16_000]):
    X, y = coded("letter")
    X, y = X[:n], y[:n]
    bench.compare(
        "grow, prune and path, letter",
        size=n,
        ours=lambda X=X, y=y: whole(X, y),
        peers={
            "cost_complexity_pruning_path": lambda X=X, y=y: (
                DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y).ccp_alphas * len(y)
            )
        },
        accuracy=same_path,
    )


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

assert CARTClassifier().fit(X[:200], y[:200]).get_n_leaves() >= 1
bench.finish()
