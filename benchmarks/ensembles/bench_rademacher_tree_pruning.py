"""Pruning with certificates beside Algorithm 6 as printed, a sparse product, and scikit-learn's pruning by folds.

Trees are grown on LED-24 data by scikit-learn, outside the time that is measured, except in the last comparison. Size
is the number of examples in all: 60 % grow, 30 % prune.
"""

import numpy as np
from numba import njit
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import Benchmark
from learnable.chapters.rademacher_tree_pruning.theory import relabelled_penalty
from learnable.datasets.rules import make_led
from learnable.ensembles import CertifiedTree, grow_prunable, grow_prune_test_split, rademacher_penalty
from learnable.trees.reduced_error import k_rep

bench = Benchmark("rademacher_tree_pruning")
FAR = 1 << 60


@njit(cache=True)
def algorithm_6(parent, reach, grow_errors, packed, k):
    """Packed cost of the best pruning by tables over 0..min(n, k) growing errors, as the source prints it."""
    m = len(parent)
    tables = [np.empty(0, np.int64) for _ in range(m)]
    first = np.full(m, -1)
    for node in range(m - 1, -1, -1):
        width = min(reach[node], k) + 1
        if first[node] < 0:
            table = np.full(width, FAR)
        else:
            table = tables[node]
        for i in range(grow_errors[node], width):
            table[i] = min(table[i], packed[node])
        tables[node] = table
        if node == 0:
            break
        up = parent[node]
        if first[up] < 0:
            first[up] = node
            continue
        a, b = table, tables[first[up]]
        out = np.full(min(reach[up], k) + 1, FAR)
        for i in range(len(out)):
            for u in range(max(0, i - len(b) + 1), min(i, len(a) - 1) + 1):
                out[i] = min(out[i], a[u] + b[i - u] + 1)
        for i in range(1, len(out)):
            out[i] = min(out[i], out[i - 1])  # "at most i" where a table of a child has ended
        tables[up] = out
        tables[first[up]] = tables[node] = np.empty(0, np.int64)
    return tables[0][-1]


def sparse_penalties(path, loss, parent, signs):
    """One product with the decision path, then one vectorised step for each node."""
    scores = path.multiply(loss).tocsr().T @ signs
    found = []
    for score in (scores, -scores):
        best, below = score.copy(), np.zeros_like(score)
        inner = np.zeros(len(parent), bool)
        for node in range(len(parent) - 1, -1, -1):
            if inner[node]:
                np.maximum(best[node], below[node], out=best[node])
            if node:
                below[parent[node]] += best[node]
                inner[parent[node]] = True
        found.append(best[0])
    return np.maximum(*found) / len(signs)


for n in bench.sizes([3_000, 30_000]):
    X, y = make_led(n, random_state=0, return_X_y=True)
    split = grow_prune_test_split(n, random_state=0)
    grown = grow_prunable(X, y, split, random_state=0)
    tree, errors, k = grown.tree, grown.prune_errors, grown.budget(1.1)
    reach = grown.grown.tree_.n_node_samples.astype(np.int64)
    base = 2 * tree.n_nodes

    def same_pruning(ours, peer, base=base):
        assert ours.error * base + ours.size == peer, (ours.error, ours.size, peer)
        return f"same errors and size: {ours.error}, {ours.size}"

    bench.compare(
        "k-REP, c = 1.1, tree given",
        size=n,
        ours=lambda tree=tree, errors=errors, k=k: k_rep(tree, errors, k),
        peers={
            "Algorithm 6 as printed, compiled": lambda tree=tree, reach=reach, packed=errors * base + 1, k=k: (
                algorithm_6(tree.parent, reach, tree.grow_errors, packed, k)
            )
        },
        accuracy=same_pruning,
    )

for n in bench.sizes([3_000, 30_000, 300_000]):
    X, y = make_led(n, random_state=0, return_X_y=True)
    split = grow_prune_test_split(n, random_state=0)
    grown = grow_prunable(X, y, split, random_state=0)
    signs = 2.0 * np.random.default_rng(0).integers(0, 2, size=(100, grown.n_prune)) - 1
    path = grown.grown.decision_path(X[split.prune].astype(np.float32)).tocsr()
    loss = (grown.prune_codes[:, None] != grown.tree.label[None, :]) if n < 30_000 else None
    if loss is None:  # too large as a table: only where the path goes
        loss = path.copy()
        rows = np.repeat(np.arange(path.shape[0]), np.diff(path.indptr))
        loss.data = (grown.prune_codes[rows] != grown.tree.label[path.indices]).astype(float)

    def same_numbers(ours, peer):
        assert np.abs(ours - peer).max() < 1e-12
        return f"largest difference {np.abs(ours - peer).max():.0e}"

    peers = {
        "sparse decision path, numpy sweep": lambda path=path, loss=loss, grown=grown, signs=signs: sparse_penalties(
            path, loss, grown.tree.parent, np.ascontiguousarray(signs.T)
        )
    }
    if n <= 30_000:
        peers["200 × REP on relabelled data"] = lambda grown=grown, signs=signs: np.array(
            [relabelled_penalty(grown, row) for row in signs]
        )
    bench.compare(
        "100 Rademacher penalties, tree given",
        size=n,
        ours=lambda grown=grown, signs=signs: rademacher_penalty(grown, signs=signs),
        peers=peers,
        accuracy=same_numbers,
    )


def cross_validated(X, y):
    """ccp_alpha by five folds over ten values of the path."""
    path = DecisionTreeClassifier(criterion="entropy", random_state=0).cost_complexity_pruning_path(X, y)
    alphas = np.quantile(np.maximum(path.ccp_alphas, 0), np.linspace(0.5, 0.999, 10))
    search = GridSearchCV(DecisionTreeClassifier(criterion="entropy", random_state=0), {"ccp_alpha": alphas}, cv=5)
    return search.fit(X, y)


for n in bench.sizes([3_000, 10_000]):
    X, y = make_led(n, random_state=0, return_X_y=True)
    fresh_X, fresh_y = make_led(20_000, random_state=1, return_X_y=True)

    def as_good(ours, peer, X=fresh_X, y=fresh_y):
        mine, theirs = (np.mean(model.predict(X) != y) for model in (ours, peer))
        assert mine < theirs + 0.05, (mine, theirs)
        return f"error on fresh examples {mine:.3f} (ours, with bound {ours.bound_:.2f}), {theirs:.3f} (peer, no bound)"

    bench.compare(
        "grow and prune",
        size=n,
        ours=lambda X=X, y=y: CertifiedTree(None, certificate="binomial", random_state=0).fit(X, y),
        peers={"scikit-learn ccp_alpha, 5 folds × 10": lambda X=X, y=y: cross_validated(X, y)},
        accuracy=as_good,
    )

bench.finish()
