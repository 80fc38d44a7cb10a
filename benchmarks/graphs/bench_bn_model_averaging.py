"""Averages over structures beside scores one by one, naive Bayes beside scikit-learn, all orders beside their sum."""

import itertools

import numpy as np
from scipy.special import gammaln, logsumexp
from sklearn.naive_bayes import CategoricalNB

from benchmarks.harness import Benchmark
from learnable.chapters.bn_model_averaging.trials import sample_random_network
from learnable.graphs import SNNClassifier, average_over_order, edge_posterior_all_orders
from learnable.graphs.scores import best_dag, subset_scores

bench = Benchmark("bn_model_averaging")


def by_bincount(data, k):
    """Weights of the parent sets of every node along the order of the columns: one numpy count for each set."""
    found = []
    for i in range(data.shape[1]):
        scores = []
        for size in range(min(k, i) + 1):
            strides = 2 << np.arange(size)
            for parents in itertools.combinations(range(i), size):
                code = data[:, parents] @ strides + data[:, i]
                counts = np.bincount(code, minlength=2 << size).reshape(-1, 2)
                scores.append(gammaln(1 + counts).sum() - gammaln(2 + counts.sum(axis=1)).sum())
        found.append(np.exp(scores - logsumexp(scores)))
    return found


def same_weights(ours, peer):
    # The two visit the sets in different orders: compare the sorted weights.
    gap = max(np.abs(np.sort(a) - np.sort(b)).max() for a, b in zip(ours.weights, peer, strict=True))
    assert gap < 1e-10, gap
    return f"largest difference of a weight {gap:.0e}"


for n_nodes in bench.sizes([10, 20, 30]):
    data = sample_random_network(1000, n_nodes, 5, random_state=0)
    bench.compare(
        "all parent sets along an order, k = 3, 1000 records",
        size=n_nodes,
        ours=lambda data=data: average_over_order(data, range(data.shape[1]), 3, n_states=2),
        peers={"numpy bincount for each set": lambda data=data: by_bincount(data, 3)},
        accuracy=same_weights,
    )

for n in bench.sizes([1000, 10_000, 100_000]):
    data = np.random.default_rng(0).integers(0, 3, (n, 31))
    X, y = data[:, 1:], data[:, 0] % 2

    def agree(ours, peer, X=X):
        # scikit-learn estimates the class frequencies without a pseudo-count: compare what the features say.
        a, b = (m.predict_log_proba(X[:500]) - m.class_log_prior_ for m in (ours, peer))
        gap = np.abs((a[:, 1] - a[:, 0]) - (b[:, 1] - b[:, 0])).max()
        assert gap < 1e-8, gap
        return f"largest difference of a log ratio {gap:.0e}"

    bench.compare(
        "training naive Bayes, 30 features of 3 states",
        size=n,
        ours=lambda X=X, y=y: SNNClassifier(select=False).fit(X, y),
        peers={"scikit-learn CategoricalNB": lambda X=X, y=y: CategoricalNB().fit(X, y)},
        accuracy=agree,
    )


def by_permutations(data, k):
    """Edge posteriors as the mean over all orders, each averaged exactly."""
    found = [average_over_order(data, order, k, n_states=2) for order in itertools.permutations(range(data.shape[1]))]
    w = np.exp(np.array([a.log_evidence for a in found]) - logsumexp([a.log_evidence for a in found]))
    return np.tensordot(w, [a.edge_posterior for a in found], axes=1)


def same_edges(ours, peer):
    gap = np.abs(ours.edge_posterior - peer).max()
    assert gap < 1e-9, gap
    return f"largest difference of a posterior {gap:.0e}"


for n_nodes in bench.sizes([4, 5, 6]):
    data = sample_random_network(100, n_nodes, 3, random_state=1)
    bench.compare(
        "arc posteriors over all orders, 100 records",
        size=n_nodes,
        ours=lambda data=data: edge_posterior_all_orders(data, 3, n_states=2),
        peers={"mean over all permutations": lambda data=data: by_permutations(data, 3)},
        accuracy=same_edges,
    )


def one_by_one(data):
    """The table of local scores of all subsets: one numpy count for each family."""
    p = data.shape[1]
    out = np.full((p, 2**p), -np.inf)
    for i, mask in itertools.product(range(p), range(2**p)):
        if not mask >> i & 1:
            parents = [v for v in range(p) if mask >> v & 1]
            code = data[:, parents] @ (2 << np.arange(len(parents))) + data[:, i]
            counts = np.bincount(np.unique(code // 2, return_inverse=True)[1] * 2 + code % 2).astype(float)
            counts = np.append(counts, np.zeros(len(counts) % 2)).reshape(-1, 2)
            out[i, mask] = gammaln(1 + counts).sum() - gammaln(2 + counts.sum(axis=1)).sum()
    return out


def same_table(ours, peer):
    finite = np.isfinite(peer)
    gap = np.abs(ours[finite] - peer[finite]).max()
    assert gap < 1e-8, gap
    return f"largest difference of a score {gap:.0e}; best structure {best_dag(ours).score:.3f}"


for n_nodes in bench.sizes([6, 8, 10]):
    data = sample_random_network(500, n_nodes, 3, random_state=2)
    bench.compare(
        "scores of all families, 500 records",
        size=n_nodes,
        ours=lambda data=data: subset_scores(data, 2),
        peers={"numpy bincount for each family": lambda data=data: one_by_one(data)},
        accuracy=same_table,
    )

bench.finish()
