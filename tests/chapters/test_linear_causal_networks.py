"""Linear causal networks from the inverse covariance: the claims of the source, checked."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone

from learnable.chapters.linear_causal_networks import experiments
from learnable.chapters.linear_causal_networks.baselines import (
    direct_lingam_order,
    regress_in_order,
    top_down_order,
    variance_order,
)
from learnable.chapters.linear_causal_networks.experiments import sparse_model, tree_dag
from learnable.chapters.linear_causal_networks.theory import (
    _differing_nodes,
    cancellations,
    gap_ratio,
    score_gap,
    weight_scan,
)
from learnable.graphs import (
    LinearDAGLearner,
    best_dag_greedy,
    best_dag_treewidth,
    corrected_covariance,
    estimate_moral_graph,
    parent_scores,
)
from learnable.graphs.dags import DAG, markov_equivalent, moral_graph, random_dag
from learnable.graphs.linear_dags import (
    all_dags,
    best_dag_subset,
    dag_score,
    dag_weights,
    tree_decomposition,
)
from learnable.graphs.linear_sem import LinearSEM, random_linear_sem


def model_of(p, seed, n_neighbors=2.0, unequal=False):
    rng = np.random.default_rng(seed)
    variance = rng.uniform(0.4, 1.6, p) if unequal else 1.0
    return random_linear_sem(
        random_dag(p, n_neighbors, random_state=rng),
        weights=(0.5, 1.0),
        signed=True,
        noise_variance=variance,
        random_state=rng,
    )


def sample_covariance(model, n, seed=0, error="laplace"):
    return np.cov(model.sample(n, error, random_state=seed).T)


@pytest.mark.parametrize("seed", range(5))
def test_theorem_2_the_support_of_the_precision_is_the_moral_graph(seed):
    model = model_of(10, seed, unequal=True)
    assert cancellations(model) == []
    np.testing.assert_array_equal((np.abs(model.precision) > 1e-10) & ~np.eye(10, dtype=bool), moral_graph(model.dag))


def test_assumption_1_fails_where_an_edge_and_a_common_child_cancel():
    # σ₂⁻² B₀₂ B₁₂ = σ₁⁻² B₀₁ with σ₁² = 2, σ₂² = 0.5.
    model = LinearSEM([[0, 0.96, 0.4], [0, 0, 0.6], [0, 0, 0]], [1.0, 2.0, 0.5])
    assert abs(model.precision[0, 1]) < 1e-12 and model.dag.adjacency[0, 1]
    assert cancellations(model) == [(0, 1)]


@pytest.mark.parametrize("method", ["threshold", "glasso", "nodewise"])
def test_each_estimate_finds_the_moral_graph_and_ignores_units(method):
    model = random_linear_sem(tree_dag(20, np.random.default_rng(0)), weights=(0.5, 1.0), signed=True, random_state=0)
    S = sample_covariance(model, 3000)
    found = estimate_moral_graph(S, 3000, method=method).adjacency
    moral = moral_graph(model.dag)
    assert not (moral & ~found).any()
    assert (found & ~moral).sum() // 2 <= 12
    units = 10.0 ** np.random.default_rng(1).integers(-6, 7, 20)
    np.testing.assert_array_equal(
        estimate_moral_graph(S * np.outer(units, units), 3000, method=method).adjacency, found
    )


def test_more_variables_than_rows():
    model = random_linear_sem(tree_dag(80, np.random.default_rng(5)), weights=(0.6, 1.0), signed=True, random_state=1)
    S = sample_covariance(model, 60)
    with pytest.raises(ValueError, match="method='glasso'"):
        estimate_moral_graph(S, 60)
    moral = moral_graph(model.dag)
    for method in ("glasso", "nodewise"):
        found = estimate_moral_graph(S, 60, method=method).adjacency
        assert (moral & found).sum() > 0.8 * moral.sum()


def test_erratum_example_1_needs_the_inverse_of_the_last_factor():
    model = LinearSEM([[0, -0.5], [0, 0]], [1.0, 0.25])
    left = np.eye(2) - model.weights
    printed = np.linalg.inv(left).T @ np.diag([1.0, 0.25]) @ left
    assert not np.allclose(printed, [[1, -0.5], [-0.5, 0.5]])
    np.testing.assert_allclose(model.covariance, [[1, -0.5], [-0.5, 0.5]])


@pytest.mark.parametrize(("b", "d1", "d2"), [(0.5, 1.0, 1.0), (-1.3, 2.0, 0.7), (0.2, 0.5, 1.5)])
def test_equation_15_gap_of_two_variables(b, d1, d2):
    r = d2 / d1
    gap = score_gap(LinearSEM([[0, b], [0, 0]], [d1**2, d2**2]))
    assert gap.gap == pytest.approx(b**4 / (r**4 + b**2 * r**2))
    assert gap.tolerance == pytest.approx(1 + gap.gap / 2)
    # The best backward coefficient is b/(b² + d2²/d1²); the source's print of it has d2²/d2².
    model = LinearSEM([[0, b], [0, 0]], [d1**2, d2**2])
    assert dag_weights(model.covariance, gap.runner_up)[1, 0] == pytest.approx(b / (b**2 + r**2))


def test_lemma_13_gap_of_a_v_structure():
    model = LinearSEM([[0, 0, 0.7], [0, 0, 1.2], [0, 0, 0]], [1.0, 0.64, 1.69])
    expected = min(b**4 / (r**4 + b**2 * r**2) for b, r in ((0.7, 1.3), (1.2, 1.3 / 0.8)))
    assert score_gap(model).gap == pytest.approx(expected)
    assert expected == pytest.approx(0.0651702, abs=5e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_by_forbidden_edges_is_that_of_the_enumeration(seed):
    model = model_of(4, seed, unequal=True)
    lacking = [g for g in all_dags(4) if (model.dag.adjacency & ~g.adjacency).any()]
    expected = min(dag_score(model.covariance, g, model.noise_variance) for g in lacking) - 4
    found = score_gap(model, adjacency=~np.eye(4, dtype=bool))
    assert found.gap == pytest.approx(expected)
    assert dag_score(model.covariance, found.runner_up, model.noise_variance) == pytest.approx(4 + expected)
    assert score_gap(model).gap >= found.gap - 1e-12  # (13): a smaller class, a larger gap


def test_erratum_c4_the_printed_root_is_not_the_threshold_of_the_quadratic():
    r = 0.6
    quadratic = np.poly1d([1, -2 * (1 - r**2), -2 * r**2 * (1 - r**2)])
    lemma = 1 - r**2 + np.sqrt(1 - r**4)
    printed = (2 * (1 - r) ** 2 + np.sqrt(4 * (1 - r**2) ** 2 + 8 * r**2 * (1 - r**2))) / 2
    assert abs(quadratic(lemma)) < 1e-12 < 0.1 < abs(quadratic(printed))
    model = LinearSEM([[0, np.sqrt(lemma)], [0, 0]], [1.0, r**2])
    assert score_gap(model).tolerance == pytest.approx(1 / r**2)  # where Theorem 9 is tight


def test_theorem_9_inside_the_tolerance_the_truth_stays_best():
    rng = np.random.default_rng(1)
    complete = ~np.eye(4, dtype=bool)
    for seed in range(8):
        model = model_of(4, seed)
        spread = score_gap(model, adjacency=complete).tolerance
        for _ in range(5):
            assumed = model.noise_variance * spread ** -rng.random(4)
            best = best_dag_treewidth(parent_scores(model.covariance, noise_variance=assumed))
            assert dag_score(model.covariance, model.dag, assumed) <= best.score + 1e-9
    # Far outside it is not: Example 1 in weights that differ by 16.
    wrong = score_gap(LinearSEM([[0, 0.5], [0, 0]]), noise_variance=[1.0, 16.0])
    assert wrong.gap < 0


def test_lemma_23_gap_ratio_of_a_chain_is_at_least_that_of_its_pairs():
    for weight in (0.8, 1.3):
        ratios = []
        for p in range(2, 8):
            model = LinearSEM(np.diag(np.full(p - 1, weight), 1))
            pairs = []
            for j in range(p - 1):  # the clique {j, j + 1}: without the edge, or with the edge reversed
                S = model.covariance[j : j + 2, j : j + 2]
                truth, without = S[0, 0] + 1.0, S[0, 0] + S[1, 1]
                reverse = S[1, 1] + S[0, 0] - S[0, 1] ** 2 / S[1, 1]
                pairs.append(min(without - truth, (reverse - truth) / 2))
            ratios.append(gap_ratio(model))
            assert ratios[-1] >= min(pairs) - 1e-9
        # Strong edges keep the variances growing and the ratio at that of a pair; weak ones let it sink.
        assert (ratios[-1] == pytest.approx(ratios[0])) == (weight > 1)


def test_gap_ratio_counts_nodes_and_uses_the_closest_superset():
    model = LinearSEM([[0, 0, 0.7], [0, 0, 1.2], [0, 0, 0]], [1.0, 0.64, 1.69])
    graphs, truth = all_dags(3), model.dag
    supersets = [g for g in graphs if not (truth.adjacency & ~g.adjacency).any()]
    expected = np.inf
    for g in graphs:
        if g in supersets:
            continue
        differ = min(sum(g.parents(k) != h.parents(k) for k in range(3)) for h in supersets)
        assert _differing_nodes(g, truth) == differ
        expected = min(expected, (dag_score(model.covariance, g, model.noise_variance) - 3) / differ)
    assert gap_ratio(model) == pytest.approx(expected)


def test_weight_scan_says_which_arrows_the_assumption_decides():
    # var(X2) = 1.3: the arrow turns when the assumed ratio exceeds it; X0 -> X1 with weight 3 never does.
    model = LinearSEM([[0, 3.0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.55], [0, 0, 0, 0]])
    share = weight_scan(model.covariance, moral_graph(model.dag), spread=2.0, n_draws=60, random_state=0)
    assert share[0, 1] == 1.0 and 0.2 < share[2, 3] < 0.9
    np.testing.assert_allclose(share + share.T, moral_graph(model.dag))


def test_a_tree_of_200_nodes_is_found_exactly():
    rng = np.random.default_rng(3)
    model = random_linear_sem(tree_dag(200, rng), weights=(0.5, 1.0), signed=True, random_state=rng)
    learner = LinearDAGLearner(moral="nodewise").fit(model.sample(1000, "laplace", random_state=rng))
    assert learner.dag_ == model.dag and learner.exact_
    assert np.abs(learner.weights_ - model.weights).max() < 0.15


def test_right_weights_are_consistent_and_wrong_ones_are_not():
    wrong = right = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        variance = rng.uniform(0.4, 1.6, 12)
        model = sparse_model(12, 1.0, rng, variance)
        X = model.sample(20_000, "laplace", random_state=rng)
        right += LinearDAGLearner(variance).fit(X).dag_ != model.dag
        wrong += LinearDAGLearner().fit(X).dag_ != model.dag
    assert right == 0 < wrong


def test_standardising_turns_arrows_and_bic_finds_the_class_in_any_unit():
    turned = 0
    for seed in range(6):
        model = sparse_model(10, 1.5, np.random.default_rng(seed))
        X = model.sample(20_000, "laplace", random_state=seed)
        Z = X / X.std(axis=0)
        turned += (LinearDAGLearner().fit(Z).adjacency_ & model.dag.adjacency.T).any()
        for table in (Z, 1e4 * X):
            assert markov_equivalent(LinearDAGLearner(criterion="bic").fit(table).dag_, model.dag)
    assert turned >= 4


def test_missing_entries_are_corrected_and_filling_is_not_enough():
    corrected = filled = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        model = sparse_model(12, 1.0, rng)
        X = model.sample(20_000, "laplace", random_state=rng)
        holes = np.where(rng.random(X.shape) < np.linspace(0, 0.5, 12), np.nan, X)
        corrected += (LinearDAGLearner().fit(holes).adjacency_ != model.dag.adjacency).sum()
        means = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
        filled += (LinearDAGLearner().fit(means).adjacency_ != model.dag.adjacency).sum()
    assert corrected <= 2 < filled


@pytest.mark.parametrize("order", [variance_order, top_down_order])
def test_equal_variances_order_by_variance(order):
    hits = 0
    for seed in range(10):
        model = model_of(8, seed)
        place = np.argsort(order(model.covariance))
        hits += all(place[i] < place[k] for i, k in model.dag.edges)
    assert hits == 10 if order is top_down_order else hits >= 5


def test_regression_in_a_true_order_finds_the_graph():
    model = model_of(9, 4, unequal=True)
    order = model.dag.topological_order
    assert regress_in_order(model.covariance, order, 100_000) == model.dag
    bound = regress_in_order(sample_covariance(model, 400), order, 400, adjacency=np.zeros((9, 9)))
    assert bound.edges == ()


def test_a_copy_of_a_column_is_its_effect():
    with np.errstate(all="raise"):
        assert regress_in_order(np.ones((2, 2)), [1, 0], 50).edges == ((1, 0),)
        assert regress_in_order(np.full((3, 3), 4.0), [0, 1, 2], 50).parents(1) == (0,)


def test_direct_lingam_orders_in_any_unit_and_fails_with_gaussian_errors():
    found, gaussian = 0, 0
    for seed in range(6):
        model = model_of(6, seed, unequal=True)
        for error in ("laplace", "gaussian"):
            X = model.sample(4000, error, random_state=seed)
            X = X / X.std(axis=0)
            place = np.argsort(direct_lingam_order(X))
            right = all(place[i] < place[k] for i, k in model.dag.edges)
            found, gaussian = found + (right and error == "laplace"), gaussian + (right and error == "gaussian")
    assert found == 6 and gaussian <= 3


@pytest.mark.parametrize("call", [parent_scores])
@pytest.mark.parametrize(
    "bad", [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5]], [[1.0, np.nan], [np.nan, 1.0]], [[-1.0]], [], [[1, 0.5], [0.4, 1]]]
)
def test_bad_covariances_are_refused(call, bad):
    with pytest.raises(ValueError, match="covariance"):
        call(bad)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: parent_scores(np.eye(2), [[0, 1], [0, 0]]), "adjacency"),
        (lambda: parent_scores(np.eye(2), np.eye(2)), "diagonal"),
        (lambda: parent_scores(np.eye(2), noise_variance=[1, 0]), "noise_variance"),
        (lambda: parent_scores(np.eye(2), kind="aic"), "kind"),
        (lambda: parent_scores(np.eye(2), kind="bic"), "n_samples"),
        (lambda: parent_scores(np.eye(2), edge_cost=-1), "edge_cost"),
        (lambda: parent_scores(np.eye(30)), "at most 20 neighbours"),
        (lambda: parent_scores(np.eye(2)).mask(0, [0]), "candidates of node 0"),
        (lambda: dag_score(np.eye(3), DAG([[0]])), "dag must have 3 nodes"),
        (lambda: estimate_moral_graph(np.eye(2), 1), "n_samples"),
        (lambda: estimate_moral_graph(np.eye(2), 10, method="magic"), "method"),
        (lambda: estimate_moral_graph(np.eye(2), 10, alpha=-1), "alpha"),
        (lambda: estimate_moral_graph(np.eye(2), 10, threshold=2), "threshold"),
        (lambda: tree_decomposition([[0, 1], [0, 0]]), "adjacency"),
        (lambda: all_dags(9), "adjacency"),
        (lambda: best_dag_subset(parent_scores(np.eye(21), np.zeros((21, 21)))), "at most 20"),
        (lambda: score_gap(LinearSEM(np.zeros((2, 2)))), "at least one edge"),
        (lambda: corrected_covariance([[np.inf, 1], [0, 1]]), "X must"),
        (lambda: corrected_covariance([[np.nan, 1], [np.nan, 1]]), "at least two observed"),
        (lambda: corrected_covariance(np.eye(3), missing_rate=1.0), "missing_rate"),
        (lambda: corrected_covariance(np.eye(3), noise_covariance=-1.0), "noise_covariance"),
        (lambda: LinearDAGLearner(noise_variance="same").fit(np.eye(5)), "noise_variance"),
        (lambda: LinearDAGLearner(noise_variance=[1.0]).fit(np.eye(5)), "noise_variance"),
        (lambda: LinearDAGLearner(moral="magic").fit(np.eye(5)), "moral"),
        (lambda: LinearDAGLearner(search="magic").fit(np.eye(5)), "search"),
        (lambda: LinearDAGLearner(prune=2).fit(np.eye(5)), "prune"),
        (lambda: LinearDAGLearner(edge_cost=-2).fit(np.eye(5)), "edge_cost"),
        (lambda: LinearDAGLearner().fit_covariance(np.eye(3), 1), "n_samples"),
    ],
)
def test_bad_settings_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize("call", [best_dag_treewidth, best_dag_subset, best_dag_greedy, gap_ratio])
def test_wrong_types_are_refused(call):
    with pytest.raises(TypeError, match="must be"):
        call(np.eye(3))


def test_results_are_frozen_and_inputs_stay():
    S = sample_covariance(model_of(4, 0), 100)
    kept = S.copy()
    found = best_dag_treewidth(parent_scores(S))
    with pytest.raises(FrozenInstanceError):
        found.score = 0.0
    estimate_moral_graph(S, 100, method="glasso")
    top_down_order(S)
    assert (S == kept).all()
    assert clone(LinearDAGLearner(noise_variance=[1.0, 2.0])).noise_variance == [1.0, 2.0]


def test_lemmas_15_and_18_errors_fall_like_the_root_of_n():
    """Sixteen times the rows, a quarter of the error; over 12 models the ratio scatters by a fifth."""
    runs = [[experiments.rates.run(np.random.default_rng(seed), p=12, n=n) for seed in range(12)] for n in (400, 6400)]
    for what in ("inverse", "scores"):
        few, many = (np.mean([one[what] for one in group]) for group in runs)
        assert 2.8 < few / many < 6.0
