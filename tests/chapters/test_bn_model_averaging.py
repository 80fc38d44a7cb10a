"""Claims of Dash and Cooper 2004, each against a sum over all structures or another independent road."""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import CategoricalNB

from learnable.chapters.bn_model_averaging.theory import (
    ama_parents,
    fitted_network,
    log_number_of_structures,
    posterior_mean_table,
)
from learnable.chapters.bn_model_averaging.trials import (
    recovered_area,
    roc_area,
    sample_random_network,
    summarise_trials,
)
from learnable.graphs import (
    AMAClassifier,
    GTTClassifier,
    NMAClassifier,
    SNNClassifier,
    average_over_order,
    greedy_thick_thin,
)
from learnable.graphs.dags import DAG, markov_equivalent
from learnable.graphs.discrete import random_network
from learnable.graphs.scores import local_score, network_score


def structures(levels, k):
    """Every structure along the levels with at most k parents, as a DAG."""
    nodes = sorted(v for level in levels for v in level)
    choices = {}
    for place, level in enumerate(levels):
        before = [v for earlier in levels[:place] for v in earlier]
        for node in level:
            choices[node] = [s for size in range(k + 1) for s in itertools.combinations(before, size)]
    for parents in itertools.product(*(choices[v] for v in nodes)):
        yield DAG.from_parents(parents)


class BruteForce:
    """Posterior weights of all structures, uniform prior, and their predictions."""

    def __init__(self, data, levels, k, r, kind="k2", ess=1.0):
        self.dags = list(structures(levels, k))
        logs = np.array([network_score(data, g, r, kind, ess) for g in self.dags])
        self.log_evidence = logsumexp(logs) - math.log(len(logs))
        self.weights = np.exp(logs - logsumexp(logs))
        tables = functools.cache(lambda i, parents: posterior_mean_table(data, i, parents, r, kind, ess))
        self.joint = 0.0
        for weight, g in zip(self.weights, self.dags, strict=True):
            cells = np.ones(r)
            for i in range(len(r)):
                table = tables(i, g.parents(i))
                axes = (*g.parents(i), i)
                # The axes of a table, parents first, put where they belong in the joint.
                order = np.argsort(axes)
                shape = [r[v] if v in axes else 1 for v in range(len(r))]
                cells = cells * np.transpose(table, order).reshape(shape)
            self.joint = self.joint + weight * cells
        self.edges = sum(w * g.adjacency for w, g in zip(self.weights, self.dags, strict=True))


def rows(r):
    return np.array(list(itertools.product(*(range(v) for v in r))))


BINARY, MIXED = (2, 2, 2, 2), (2, 3, 2, 4)


def sample(r, n=30, seed=0):
    return random_network(len(r), max_parents=2, n_states=r, random_state=seed).sample(n, random_state=seed + 1)


CASES = [
    (BINARY, [[2], [0], [3], [1]], 1, "k2"),
    (BINARY, [[2], [0], [3], [1]], 2, "k2"),
    (BINARY, [[2], [0], [3], [1]], 3, "bdeu"),
    (MIXED, [[1], [3], [0], [2]], 2, "k2"),
    (MIXED, [[1], [3], [0], [2]], 3, "bdeu"),
    (BINARY, [[1, 3], [0, 2]], 2, "k2"),
    (MIXED, [[0], [3, 1], [2]], 1, "k2"),
    (BINARY, [[0, 1, 2, 3]], 2, "k2"),
]


@pytest.mark.parametrize(("r", "levels", "k", "kind"), CASES)
def test_theorems_1_to_3_average_equals_the_sum_over_all_structures(r, levels, k, kind):
    data = sample(r)
    brute = BruteForce(data, levels, k, r, kind, 2.0)
    average = average_over_order(data, levels, k, n_states=r, kind=kind, equivalent_sample_size=2.0)
    np.testing.assert_allclose(average.edge_posterior, brute.edges, atol=1e-12)
    assert average.log_evidence == pytest.approx(brute.log_evidence, rel=1e-12)
    assert average.log_n_structures == pytest.approx(math.log(len(brute.dags)), rel=1e-12)
    assert log_number_of_structures(levels, k) == pytest.approx(math.log(len(brute.dags)), rel=1e-12)
    X = rows(r)
    got = np.exp(average.log_probability(X))
    np.testing.assert_allclose(got, brute.joint.ravel(), rtol=1e-11)
    assert got.sum() == pytest.approx(1, abs=1e-12)
    for node in (0, 3):
        expected = brute.joint / brute.joint.sum(axis=node, keepdims=True)
        expected = np.moveaxis(expected, node, -1)
        at = [X[:, v] for v in range(4) if v != node]
        np.testing.assert_allclose(average.predict_proba(X, node), expected[tuple(at)], rtol=1e-11)


def test_capping_at_all_nodes_is_exact_averaging():
    data = sample_random_network(60, 6, 3, random_state=2)
    average = average_over_order(data, range(6), 3, n_states=2)
    capped = average.capped(6)
    X = rows((2,) * 6)
    np.testing.assert_allclose(capped.log_probability(X), average.log_probability(X), rtol=1e-12)
    np.testing.assert_allclose(capped.edge_posterior, average.edge_posterior, atol=1e-12)


def test_capping_averages_every_set_inside_the_union():
    data = sample_random_network(40, 6, 3, random_state=3)
    average = average_over_order(data, range(6), 2)
    capped = average.capped(2)
    for i in range(6):
        sets = [tuple(int(p) for p in s if p >= 0) for s in average.sets[i]]
        union = set(ama_parents(average.weights[i], sets, 2))
        inside = [set(s) <= union for s in sets]
        expected = average.weights[i][inside] / average.weights[i][inside].sum()
        np.testing.assert_allclose(capped.weights[i], expected, rtol=1e-12)
        assert len(union) <= 2
        assert {p for s in capped.sets[i] for p in s if p >= 0} == union
    empty = average.capped(0)
    assert (empty.edge_posterior == 0).all()
    assert empty.log_n_structures == 0


def test_ama_parents_skips_and_goes_on():
    sets = [(0, 1), (2, 3), (1, 4), (5,)]
    assert ama_parents([0.4, 0.3, 0.2, 0.1], sets, 3) == (0, 1, 4)
    assert ama_parents([0.1, 0.2, 0.3, 0.4], sets, 4) == (0, 1, 4, 5)
    assert ama_parents([0.25] * 4, sets, 3) == (0, 1, 4)  # ties in the order given
    assert ama_parents([0.25] * 4, sets, 0) == ()
    assert ama_parents([], [], 2) == ()


def test_members_of_the_class_are_never_markov_equivalent():
    dags = list(structures([[0], [1], [2], [3]], 3))
    assert len(dags) == 64
    assert not any(markov_equivalent(g, h) for g, h in itertools.combinations(dags, 2))


def test_binary_and_general_enumeration_agree():
    data = sample_random_network(150, 8, 4, random_state=0)
    for kind in ("k2", "bdeu"):
        binary = average_over_order(data, range(8), 4, kind=kind)
        # A ninth column with one state takes the general road, and only halves the number of choices.
        wide = np.column_stack([data, np.zeros(len(data), dtype=int)])
        general = average_over_order(wide, range(9), 4, n_states=(2,) * 8 + (1,), kind=kind)
        for a, b in zip(binary.weights, general.weights, strict=False):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(binary.edge_posterior, general.edge_posterior[:8, :8], atol=1e-11)


def test_a_configuration_that_never_occurred_has_the_prior_mean():
    data = np.array([[0, 0], [0, 1], [0, 1]])
    np.testing.assert_allclose(posterior_mean_table(data, 1, [0], 2)[1], [0.5, 0.5])
    average = average_over_order(data, [0, 1], 1, n_states=2)
    w = average.weights[1]
    got = average.predict_proba([[1, 0]], 1)[0]
    np.testing.assert_allclose(got, w[0] * np.array([0.4, 0.6]) + w[1] * np.array([0.5, 0.5]), rtol=1e-12)


def naive_brute_force(X, y, Xt, n_classes, r):
    """The average over all subsets of features, subset by subset; and the most probable subset."""
    N = X.shape[1]
    data = np.column_stack([y, X])
    states = (n_classes, *r)
    logs, predictions = [], []
    score = functools.cache(lambda i, parents: local_score(data, i, parents, states))
    table = functools.cache(lambda i, parents: posterior_mean_table(data, i, parents, states))
    for chosen in itertools.product([False, True], repeat=N):
        parents = [(), *((0,) if c else () for c in chosen)]
        logs.append(sum(score(i, p) for i, p in enumerate(parents)))
        joint = np.tile(table(0, ()), (len(Xt), 1))
        for j, c in enumerate(chosen):
            row = table(j + 1, parents[j + 1])
            joint = joint * (row[:, Xt[:, j]].T if c else row[Xt[:, j]][:, None])
        predictions.append(joint)
    w = np.exp(np.array(logs) - logsumexp(logs))
    joint = np.tensordot(w, np.array(predictions), axes=1)
    best = list(itertools.product([False, True], repeat=N))[int(np.argmax(logs))]
    return joint / joint.sum(axis=1, keepdims=True), np.array(best)


@pytest.mark.parametrize(("N", "n_classes", "seed"), [(6, 2, 0), (6, 3, 1), (8, 2, 2), (12, 2, 3)])
def test_nma_equals_the_average_over_all_subsets(N, n_classes, seed):
    rng = np.random.default_rng(seed)
    r = rng.integers(2, 4, N)
    y = rng.integers(0, n_classes, 40)
    X = (y[:, None] * (rng.random(N) < 0.5) + rng.integers(0, 5, (40, N))) % r
    Xt = rng.integers(0, r, (25, N))
    expected, best = naive_brute_force(X, y, Xt, n_classes, r)
    model = NMAClassifier(n_states=r).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(Xt), expected, rtol=1e-10)
    # Greedy selection is the optimum over all subsets.
    np.testing.assert_array_equal(SNNClassifier(n_states=r).fit(X, y).arc_posterior_ == 1, best)


def test_nma_is_the_averager_on_two_levels():
    data = sample_random_network(80, 7, 3, random_state=5)
    average = average_over_order(data, [[0], range(1, 7)], 1)
    model = NMAClassifier().fit(data[:, 1:], data[:, 0])
    np.testing.assert_allclose(model.arc_posterior_, average.edge_posterior[0, 1:], rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(data[:, 1:]), average.predict_proba(data, 0), rtol=1e-10)
    table = model.feature_table(2)
    np.testing.assert_allclose(table, average.summary_network().tables[3], rtol=1e-12)
    bdeu = average_over_order(data, [[0], range(1, 7)], 1, kind="bdeu", equivalent_sample_size=3.0)
    model = NMAClassifier(kind="bdeu", equivalent_sample_size=3.0).fit(data[:, 1:], data[:, 0])
    np.testing.assert_allclose(model.predict_proba(data[:, 1:]), bdeu.predict_proba(data, 0), rtol=1e-10)


def test_snn_all_is_categorical_naive_bayes_with_one_pseudo_count():
    data = sample_random_network(60, 6, 3, random_state=6)
    X, y = data[:, 1:], data[:, 0]
    peer = CategoricalNB(alpha=1.0, min_categories=2, fit_prior=True).fit(X, y)
    model = SNNClassifier(select=False).fit(X, y)
    # scikit-learn estimates the class probabilities without a pseudo-count: compare the class-conditional part.
    ours = model.predict_log_proba(X) - model.class_log_prior_
    theirs = peer.predict_log_proba(X) - peer.class_log_prior_
    np.testing.assert_allclose(ours[:, 1] - ours[:, 0], theirs[:, 1] - theirs[:, 0], rtol=1e-9)


def test_a_missing_feature_leaves_its_factor_out():
    data = sample_random_network(60, 5, 2, random_state=7)
    X, y = data[:, 1:], data[:, 0]
    model = NMAClassifier().fit(X, y)
    gone = X[:10].copy()
    gone[:, 2] = -1
    network = average_over_order(data, [[0], range(1, 5)], 1).summary_network()
    expected = [network.query([0], {1: a, 2: b, 4: d}).values for a, b, _, d in X[:10].tolist()]
    np.testing.assert_allclose(model.predict_proba(gone), expected, rtol=1e-10)
    nothing = np.full((1, 4), -1)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], np.exp(model.class_log_prior_), rtol=1e-12)


def test_constant_features_change_nothing():
    data = sample_random_network(60, 5, 2, random_state=8)
    X, y = data[:, 1:], data[:, 0]
    wide = np.column_stack([X, np.zeros(60, dtype=int)])
    for maker in (
        NMAClassifier,
        SNNClassifier,
        GTTClassifier,
        functools.partial(AMAClassifier, order=[0, 1, 2, 3, 4, 5]),
    ):
        small = maker() if not isinstance(maker, functools.partial) else AMAClassifier(order=[0, 1, 2, 3, 4])
        a, b = small.fit(X, y), maker().fit(wide, y)
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(wide), rtol=1e-9)


def test_gtt_classifier_is_its_network():
    data = sample_random_network(200, 6, 2, random_state=3)
    X, y = data[:, 1:], data[:, 0]
    model = GTTClassifier().fit(X, y)
    network = fitted_network(data, model.dag_, 2)
    expected = [network.query([0], dict(enumerate(x, 1))).values for x in X[:20].tolist()]
    np.testing.assert_allclose(model.predict_proba(X[:20]), expected, rtol=1e-10)
    gone = X[:20].copy()
    gone[:, 1] = -1
    expected = [network.query([0], {j + 1: s for j, s in enumerate(x) if s >= 0}).values for x in gone.tolist()]
    np.testing.assert_allclose(model.predict_proba(gone), expected, rtol=1e-10)


def test_ama_classifier_is_the_capped_average():
    data = sample_random_network(120, 7, 3, random_state=4)
    X, y = data[:, 1:], data[:, 0]
    order = greedy_thick_thin(data).dag.topological_order
    expected = average_over_order(data, order, 2).capped(3)
    model = AMAClassifier(max_parents=2, max_union=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(data, 0), rtol=1e-11)
    assert model.arc_posterior_.shape == (7, 7)
    gone = X[:5].copy()
    gone[:, [0, 3]] = -1
    network = expected.summary_network()
    by_hand = [network.query([0], {j + 1: s for j, s in enumerate(x) if s >= 0}).values for x in gone.tolist()]
    np.testing.assert_allclose(model.predict_proba(gone), by_hand, rtol=1e-10)


def test_two_opposite_orders_average_their_predictions():
    data = sample_random_network(100, 6, 3, random_state=5)
    X, y = data[:, 1:], data[:, 0]
    model = AMAClassifier(max_parents=2, order="two_opposite", random_state=3).fit(X, y)
    order = np.random.default_rng(3).permutation(6)
    parts = [AMAClassifier(max_parents=2, order=o).fit(X, y).predict_proba(X) for o in (order, order[::-1])]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(parts, axis=0), rtol=1e-12)
    one = AMAClassifier(max_parents=2, order="random", random_state=3).fit(X, y)
    np.testing.assert_allclose(one.predict_proba(X), parts[0], rtol=1e-12)


def test_roc_area():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    score = np.round(rng.random(60) + 0.3 * y, 1)
    assert roc_area(y, score) == pytest.approx(roc_auc_score(y, score), rel=1e-12)
    pairs = [(a > b) for a in score[y == 1] for b in score[y == 0]]
    assert roc_area(y, score, ties="against") == pytest.approx(np.mean(pairs), rel=1e-12)
    labels = rng.choice(["a", "b", "c"], 60)
    many = rng.dirichlet(np.ones(3), 60)
    assert roc_area(labels, many) == pytest.approx(roc_auc_score(labels, many, multi_class="ovr"), rel=1e-12)
    with pytest.raises(ValueError, match="two classes"):
        roc_area([1, 1], [0.1, 0.2])


def test_recovered_area_and_summary():
    shares = recovered_area([0.9, 1.0, 0.7, 0.8], [0.8, 1.0, 0.8, 0.6])
    np.testing.assert_allclose(shares, [0.5, np.nan, -0.5, 0.5])
    summary = summarise_trials(shares)
    assert (summary.n_used, summary.n_dropped) == (3, 1)
    assert summary.mean == pytest.approx(1 / 6)
    # Student's 99 % quantile with two degrees of freedom is 9.925.
    assert summary.half_width == pytest.approx(9.925 * np.std([0.5, -0.5, 0.5], ddof=1) / math.sqrt(3), rel=1e-3)


def test_lazy_sampler_has_uniform_tables_and_any_density():
    X = sample_random_network(400, 60, 59, random_state=0)
    assert set(np.unique(X)) <= {0, 1}
    # Nodes with one parent of two configurations: their frequencies spread over (0, 1) as uniform draws do.
    means = [sample_random_network(400, 1, 1, random_state=s).mean() for s in range(200)]
    assert np.mean(means) == pytest.approx(0.5, abs=0.06)
    assert np.std(means) == pytest.approx(math.sqrt(1 / 12), abs=0.04)
    np.testing.assert_array_equal(X, sample_random_network(400, 60, 59, random_state=0))


def test_nma_recovers_area_from_snn_on_small_problems():
    rng = np.random.default_rng(0)
    shares = []
    for N, n in [(10, 50), (10, 100), (20, 50), (20, 100)] * 75:
        while True:
            data = sample_random_network(n + 300, N, min(N, 10), random_state=rng)
            c = int(rng.integers(N))
            y, X = data[:, c], np.delete(data, c, axis=1)
            if min(len(np.unique(y[:n])), len(np.unique(y[n:]))) == 2:
                break
        areas = [
            roc_area(y[n:], maker(n_states=2).fit(X[:n], y[:n]).predict_proba(X[n:])[:, 1])
            for maker in (NMAClassifier, SNNClassifier)
        ]
        shares.append(recovered_area(*areas))
    summary = summarise_trials(shares)
    assert summary.mean - summary.half_width > 0
