"""Claims of Dash and Cooper 2004, each against a sum over all structures or another independent road."""

import itertools
import math
import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.graphs import (
    AMAClassifier,
    GTTClassifier,
    NMAClassifier,
    SNNClassifier,
    average_over_order,
    edge_posterior_all_orders,
    greedy_thick_thin,
)
from learnable.graphs.bif import read_bif, write_bif
from learnable.graphs.dags import DAG
from learnable.graphs.discrete import random_network
from learnable.graphs.scores import local_score, network_score


def rows(r):
    return np.array(list(itertools.product(*(range(v) for v in r))))


BINARY, MIXED = (2, 2, 2, 2), (2, 3, 2, 4)


def sample(r, n=30, seed=0):
    return random_network(len(r), max_parents=2, n_states=r, random_state=seed).sample(n, random_state=seed + 1)


def test_summary_network_is_one_network_with_the_averaged_joint():
    r = (2, 3, 2, 2)
    data = sample(r, 25)
    average = average_over_order(data, [3, 1, 0, 2], 2, n_states=r)
    network = average.summary_network()
    assert network.parents(2) == (0, 1, 3)
    for table in network.tables:
        np.testing.assert_allclose(table.sum(axis=-1), 1, atol=1e-14)
    np.testing.assert_allclose(network.joint().ravel(), np.exp(average.log_probability(rows(r))), rtol=1e-12)
    # It is not a member of the class: it has three parents where the structures had two.
    assert max(len(network.parents(i)) for i in range(4)) == 3
    # Inference with missing values, and through the text that other programs read.
    marginal = np.exp(average.log_probability(rows(r))).reshape(r).sum(axis=(1, 3))
    np.testing.assert_allclose(network.query([0, 2]).values, marginal, rtol=1e-12)
    np.testing.assert_allclose(read_bif(write_bif(network)).joint(), network.joint(), rtol=1e-14)


def test_scores_along_the_order_are_local_scores():
    for r in [(2,) * 5, (2, 3, 2, 4, 2)]:
        data = sample(r, 70, seed=4)
        average = average_over_order(data, [4, 2, 0, 3, 1], 3, n_states=r)
        for i in range(5):
            sets = [[p for p in s if p >= 0] for s in average.sets[i].tolist()]
            assert len({tuple(sorted(s)) for s in sets}) == len(sets)
            logs = np.array([local_score(data, i, s, r) for s in sets])
            np.testing.assert_allclose(average.weights[i], np.exp(logs - logsumexp(logs)), rtol=1e-9)


def test_more_rows_than_a_word_and_odd_numbers_of_rows():
    for n in (1, 2, 63, 64, 65, 129):
        data = np.random.default_rng(n).integers(0, 2, (n, 3))
        average = average_over_order(data, [0, 1, 2], 2, n_states=2)
        logs = np.array([local_score(data, 2, s, 2) for s in ([], [0], [0, 1], [1])])
        np.testing.assert_allclose(average.weights[2], np.exp(logs - logsumexp(logs)), rtol=1e-9)


def test_log_sum_exp_does_not_underflow():
    data = np.random.default_rng(0).integers(0, 2, (150_000, 8))
    average = average_over_order(data, range(8), 4)
    assert -8.5e5 < average.log_evidence < -8e5
    for w in average.weights:
        assert w.sum() == pytest.approx(1, rel=1e-9)
    assert np.isfinite(average.log_probability(data[:3])).all()


def test_structure_prior_over_sizes():
    data = sample(BINARY)
    uniform = average_over_order(data, range(4), 3)
    sized = average_over_order(data, range(4), 3, structure_prior="size")
    sets = uniform.sets[3]
    size = (sets >= 0).sum(axis=1)
    expected = uniform.weights[3] / np.array([math.comb(3, s) for s in size])
    np.testing.assert_allclose(sized.weights[3], expected / expected.sum(), rtol=1e-10)


def test_units_order_of_rows_and_layout_do_not_matter():
    data = sample(MIXED, 50)
    reference = average_over_order(data, range(4), 2)
    for other in (data[::-1], np.asfortranarray(data), data.astype(np.int8), data.astype(float), data.tolist()):
        again = average_over_order(other, range(4), 2)
        np.testing.assert_allclose(again.edge_posterior, reference.edge_posterior, rtol=1e-11)
    before = data.copy()
    reference.predict_proba(data, 0)
    np.testing.assert_array_equal(data, before)


def test_predict_proba_does_not_read_the_node():
    data = sample(BINARY, 50)
    average = average_over_order(data, range(4), 2)
    other = data.copy()
    other[:, 1] = 1 - other[:, 1]
    np.testing.assert_array_equal(average.predict_proba(data, 1), average.predict_proba(other, 1))


def test_rows_that_agree_in_all_kept_features_are_tied_exactly():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    signal = np.where(rng.random((400, 2)) < 0.8, y[:, None], 1 - y[:, None])
    X = np.column_stack([rng.integers(0, 3, (400, 15)), signal, rng.integers(0, 3, (400, 15))])
    model = SNNClassifier(n_states=3).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.arc_posterior_), [15, 16])
    # The two kept features take four values, and so do the scores, to the last bit, whatever the thirty others are.
    assert len(np.unique(model.predict_proba(X), axis=0)) == 4
    assert len(np.unique(SNNClassifier(n_states=3, select=False).fit(X, y).predict_proba(X), axis=0)) > 390


def test_with_much_data_the_weights_settle_and_nma_becomes_snn():
    dag = DAG.from_parents([[], [0], [0], [], [0], []])
    data = random_network(dag, random_state=1).sample(50_000, random_state=0)
    X, y = data[:, 1:], data[:, 0]
    nma, snn = NMAClassifier().fit(X, y), SNNClassifier().fit(X, y)
    assert np.minimum(nma.arc_posterior_, 1 - nma.arc_posterior_).max() < 0.05
    np.testing.assert_array_equal(snn.arc_posterior_, [1, 1, 0, 1, 0])
    assert np.abs(nma.predict_proba(X[:500]) - snn.predict_proba(X[:500])).max() < 0.01


def plain_thick_thin(data, r):
    """Procedure 2, with every score computed anew."""
    N = data.shape[1]
    A = np.zeros((N, N), dtype=bool)

    def score(i):
        return local_score(data, i, np.flatnonzero(A[:, i]), r)

    for adding in (True, False):
        while True:
            best, move = 1e-10, None
            for p, i in itertools.permutations(range(N), 2):
                if A[p, i] == adding:
                    continue
                before = score(i)
                A[p, i] = adding
                try:
                    DAG(A)
                    gain = score(i) - before
                except ValueError:
                    gain = -np.inf
                A[p, i] = not adding
                if gain > best:
                    best, move = gain, (p, i)
            if move is None:
                break
            A[move] = adding
    return A


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_thick_thin_follows_the_procedure(seed):
    r = (2, 3, 2, 2, 2, 3)
    data = random_network(6, max_parents=3, n_states=r, random_state=seed).sample(200, random_state=seed)
    found = greedy_thick_thin(data, r)
    # Ties (an arc and its reverse, first of all, under K2 with equal numbers of states) may be broken either way.
    assert found.score == pytest.approx(network_score(data, plain_thick_thin(data, r), r), rel=1e-9)
    assert found.score >= network_score(data, np.zeros((6, 6), dtype=bool), r)
    assert found.converged
    bounded = greedy_thick_thin(data, r, max_parents=1)
    assert bounded.dag.adjacency.sum(axis=0).max() <= 1


def test_parity_needs_two_parents():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 4))
    y = X[:, 0] ^ X[:, 1]
    order = [1, 2, 3, 4, 0]
    assert AMAClassifier(max_parents=2, order=order).fit(X, y).score(X, y) == 1
    assert AMAClassifier(max_parents=1, order=order).fit(X, y).score(X, y) < 0.75
    assert NMAClassifier().fit(X, y).score(X, y) < 0.75


@parametrize_with_checks(
    [NMAClassifier(), SNNClassifier(), SNNClassifier(select=False), GTTClassifier(), AMAClassifier(max_parents=2)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_words_through_a_pipeline():
    rng = np.random.default_rng(0)
    y = rng.choice(["sick", "well"], 80)
    X = np.column_stack([np.where(rng.random(80) < 0.85, y, "well"), rng.choice(["a", "b", "c"], 80)]).astype(object)
    encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    for maker in (NMAClassifier, SNNClassifier, GTTClassifier, AMAClassifier):
        model = make_pipeline(encode, maker())
        assert cross_val_score(model, X, y).mean() > 0.75
        fitted = model.fit(X, y)
        assert np.isfinite(fitted.predict_proba(np.array([["sick", "z"], [None, "a"]], dtype=object))).all()


@pytest.mark.parametrize(("r", "k"), [((2,) * 5, 2), ((2, 3, 2, 2), 3), ((2, 3, 2, 2), 1)])
def test_all_orders_equals_the_mean_over_orders(r, k):
    data = sample(r, 30, seed=9)
    logs, edges = [], []
    for order in itertools.permutations(range(len(r))):
        average = average_over_order(data, order, k, n_states=r)
        logs.append(average.log_evidence)
        edges.append(average.edge_posterior)
    w = np.exp(np.array(logs) - logsumexp(logs))
    found = edge_posterior_all_orders(data, k, n_states=r)
    np.testing.assert_allclose(found.edge_posterior, np.tensordot(w, edges, axes=1), atol=1e-11)
    assert found.log_evidence == pytest.approx(logsumexp(logs) - math.log(len(logs)), rel=1e-11)


def test_all_orders_with_strong_data_does_not_underflow():
    cause = np.random.default_rng(0).integers(0, 2, 5000)
    data = np.column_stack([cause, cause, np.random.default_rng(1).integers(0, 2, 5000)])
    found = edge_posterior_all_orders(data).edge_posterior
    # A copy: one of the two arcs is certain and neither direction is preferred.
    assert found[0, 1] == pytest.approx(0.5, abs=1e-6)
    assert found[0, 1] + found[1, 0] == pytest.approx(1, abs=1e-9)


def test_erratum_each_node_has_its_own_constant():
    data = sample(BINARY, 30)
    average = average_over_order(data, range(4), 2, n_states=2)
    sums = []
    for i in range(4):
        sets = [[p for p in s if p >= 0] for s in average.sets[i].tolist()]
        sums.append(logsumexp([local_score(data, i, s, 2) for s in sets]) - math.log(len(sets)))
    # The product of the nodes' sums is the evidence, but the sums differ: no common factor normalises all tables.
    assert average.log_evidence == pytest.approx(sum(sums), rel=1e-12)
    assert np.ptp(sums) > 1
    for table in average.summary_network().tables:
        np.testing.assert_allclose(table.sum(axis=-1), 1, atol=1e-13)


def test_erratum_the_empty_parent_set_counts():
    data = sample(BINARY, 30)
    average = average_over_order(data, range(4), 2)
    for i in range(4):
        assert (average.sets[i] < 0).all(axis=1).sum() == 1
    assert len(average.sets[3]) == 1 + 3 + 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(data=[[0, np.nan]]), "data"),
        (dict(data=[[0, -1]]), "codes"),
        (dict(order=[0]), "order"),
        (dict(order=[0, 0]), "order"),
        (dict(order=[0, 5]), "order"),
        (dict(max_parents=-1), "max_parents"),
        (dict(max_parents=1.5), "max_parents"),
        (dict(kind="bic"), "kind"),
        (dict(structure_prior="sparse"), "structure_prior"),
        (dict(equivalent_sample_size=0), "equivalent_sample_size"),
        (dict(n_states=1), "unknown state"),
    ],
)
def test_bad_arguments_of_the_average(arguments, message):
    good = dict(data=[[0, 1], [1, 0]], order=[0, 1], max_parents=1)
    with pytest.raises(ValueError, match=message):
        average_over_order(**{**good, **arguments})


def test_too_many_parent_sets_are_refused_before_any_work():
    with pytest.raises(ValueError, match="parent sets"):
        average_over_order(np.zeros((5, 200), dtype=int), range(200), 6)


def test_a_summary_network_that_is_too_large_is_refused():
    data = np.random.default_rng(0).integers(0, 2, (20, 30))
    average = average_over_order(data, range(30), 1)
    with pytest.raises(ValueError, match="capped"):
        average.summary_network()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NMAClassifier(kind="bic"), "kind"),
        (NMAClassifier(arc_prior=1.0), "arc_prior"),
        (SNNClassifier(equivalent_sample_size=-1), "equivalent_sample_size"),
        (GTTClassifier(max_parents=-1), "max_parents"),
        (AMAClassifier(order="best"), "order"),
        (AMAClassifier(max_union=-2), "max_union"),
        (NMAClassifier(n_states=1), "unknown state"),
    ],
)
def test_bad_parameters_of_the_classifiers(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])


@pytest.mark.parametrize("maker", [NMAClassifier, SNNClassifier, GTTClassifier, AMAClassifier])
def test_codes_with_gaps_are_not_taken_for_many_states_without_a_word(maker):
    data = sample(MIXED)
    X, y = data[:, 1:], data[:, 0]
    with pytest.warns(UserWarning, match="X has codes up to 10 in column 0, of which only 3 occur"):
        maker().fit(5 * X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        maker().fit(X, y)
        maker(n_states=16).fit(5 * X, y)
        maker().fit(2 * X[:, :1], y)  # 0, 2 and 4: a state may be absent from a sample
    with pytest.raises(ValueError, match="X must hold codes below 1048576 where n_states is not given, got 1000000000"):
        maker().fit(np.where(X == 1, 10**9, X), y)


def test_a_feature_that_changes_nothing_is_not_selected():
    """A feature of one state has the same score with the arc and without."""
    y = np.arange(40) % 2
    model = SNNClassifier().fit(np.column_stack([y, np.zeros(40, int)]), y)
    assert model.arc_gain_[1] == 0 and model.arc_posterior_.tolist() == [1, 0]


def test_unknown_states_and_fractions_are_refused():
    model = NMAClassifier().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="unknown state 2 in column 0"):
        model.predict([[2]])
    with pytest.raises(ValueError, match="whole numbers"):
        model.fit([[0.5], [1]], [0, 1])
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[np.nan], [1]], [0, 1])
    with pytest.raises(ValueError, match="Negative"):
        model.fit([[-1], [1]], [0, 1])


def test_a_new_row_has_the_ratio_of_two_evidences():
    """Also the parent sets of small weight count: P(row | data) = P(data and row) / P(data), to rounding."""
    r = (2, 3, 2, 2)
    data = sample(r, 60, seed=3)
    average = average_over_order(data, [0, 1, 2, 3], 3, n_states=r)
    light = np.concatenate(average.weights)
    assert light[light < 1e-3].sum() > 1e-6  # so that leaving them out shows
    for row in rows(r):
        longer = average_over_order(np.vstack([data, row]), [0, 1, 2, 3], 3, n_states=r)
        ratio = longer.log_evidence - average.log_evidence
        assert average.log_probability([row])[0] == pytest.approx(ratio, abs=1e-9)
