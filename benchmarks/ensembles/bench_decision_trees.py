"""Decision trees, beside scikit-learn."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import Benchmark
from learnable import datasets
from learnable.ensembles import CARTClassifier
from learnable.trees import grow, weakest_links

bench = Benchmark("decision_trees")


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

assert CARTClassifier().fit(X[:200], y[:200]).get_n_leaves() >= 1
bench.finish()
