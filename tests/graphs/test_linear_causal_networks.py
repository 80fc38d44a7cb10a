"""Linear causal networks from the inverse covariance: the claims of the source, checked."""

import contextlib
import itertools
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from learnable.graphs.dags import DAG, markov_equivalent, moral_graph, random_dag
from learnable.graphs.linear_causal_networks import (
    LinearDAGLearner,
    all_dags,
    best_dag_greedy,
    best_dag_subset,
    best_dag_treewidth,
    cancellations,
    corrected_covariance,
    dag_score,
    dag_weights,
    direct_lingam_order,
    estimate_moral_graph,
    gap_ratio,
    nearest_covariance,
    parent_scores,
    pc_cpdag,
    regress_in_order,
    score_gap,
    top_down_order,
    tree_decomposition,
    variance_order,
    weight_scan,
)
from learnable.graphs.linear_causal_networks.experiments import sparse_model, tree_dag
from learnable.graphs.linear_causal_networks.gap import _differing_nodes
from learnable.graphs.linear_sem import LinearSEM, random_linear_sem
from learnable.graphs.mixed import cpdag


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


def random_graph(p, density, seed):
    upper = np.triu(np.random.default_rng(seed).random((p, p)) < density, 1)
    return upper | upper.T


def brute_force(scores):
    """The smallest score over all orders of the nodes: each takes its best set among what came before."""
    best = np.inf
    for order in itertools.permutations(range(scores.n_nodes)):
        total = 0.0
        for place, j in enumerate(order):
            allowed = sum(1 << b for b, c in enumerate(scores.candidates[j]) if c in order[:place])
            total += min(value for mask, value in enumerate(scores.values[j]) if mask & ~allowed == 0)
        best = min(best, total)
    return best


# --- the moral graph -------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("error", ["gaussian", "laplace", "uniform", "mixed"])
def test_theorem_2_needs_no_gaussian_errors(error):
    model = model_of(8, 3)
    # Four standard errors of a partial correlation; the smallest true one is above 0.1.
    found = estimate_moral_graph(sample_covariance(model, 20_000, error=error), 20_000, threshold=0.03)
    np.testing.assert_array_equal(found.adjacency, moral_graph(model.dag))


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


def test_the_graphical_lasso_is_solved_on_the_correlations():
    S = sample_covariance(model_of(8, 1), 200)
    scale = np.sqrt(np.diagonal(S))
    expected = graphical_lasso(S / np.outer(scale, scale), 0.1, tol=1e-6, max_iter=1000)[1]
    d = np.sqrt(np.diagonal(expected))
    found = estimate_moral_graph(S, 200, method="glasso", alpha=0.1, threshold=0.0)
    off = ~np.eye(8, dtype=bool)
    np.testing.assert_allclose(found.partial_correlations[off], (-expected / np.outer(d, d))[off], atol=2e-3)
    chosen = estimate_moral_graph(S, 200, method="glasso", alpha="bic")
    assert 0 < chosen.alpha < 1


def test_nodewise_with_and_is_contained_in_nodewise_with_or():
    S = sample_covariance(model_of(12, 4), 80)
    both, either = (estimate_moral_graph(S, 80, method="nodewise", rule=rule).adjacency for rule in ("and", "or"))
    assert (both <= either).all() and both.sum() < either.sum()


def test_more_variables_than_rows():
    model = random_linear_sem(tree_dag(80, np.random.default_rng(5)), weights=(0.6, 1.0), signed=True, random_state=1)
    S = sample_covariance(model, 60)
    with pytest.raises(ValueError, match="method='glasso'"):
        estimate_moral_graph(S, 60)
    moral = moral_graph(model.dag)
    for method in ("glasso", "nodewise"):
        found = estimate_moral_graph(S, 60, method=method).adjacency
        assert (moral & found).sum() > 0.8 * moral.sum()


# --- scores ----------------------------------------------------------------------------------------------------------


def test_scores_are_residual_variances_of_regressions():
    model = model_of(7, 2, unequal=True)
    X = model.sample(60, random_state=0)
    S = np.cov(X.T)
    scores = parent_scores(S, noise_variance=model.noise_variance, edge_cost=0.3)
    centred = X - X.mean(axis=0)
    for j in (0, 4, 6):
        for mask in (0, 1, 5, 22, 63):
            parents = scores.parents(j, mask)
            coefficients, *_ = np.linalg.lstsq(centred[:, parents], centred[:, j], rcond=None)
            rest = ((centred[:, j] - centred[:, parents] @ coefficients) ** 2).sum() / 59
            assert scores.residual_variance[j][mask] == pytest.approx(rest)
            assert scores.values[j][mask] == pytest.approx(rest / model.noise_variance[j] + 0.3 * len(parents))
            assert scores.mask(j, parents) == mask


def test_bic_scores_and_limits_on_parents():
    S = sample_covariance(model_of(5, 0), 100)
    scores = parent_scores(S, kind="bic", n_samples=100, max_parents=2, edge_cost=0.5)
    rest = parent_scores(S).residual_variance[3][0b0101]
    expected = 50 * np.log(rest) + 2 * (0.5 * np.log(100) + 0.5)
    assert scores.values[3][0b0101] == pytest.approx(expected)
    assert np.isinf(scores.values[3][0b0111]) and np.isfinite(scores.values[3][0b0110])


def test_dag_weights_are_the_true_ones_and_ignore_the_variances():
    model = model_of(8, 6, unequal=True)
    np.testing.assert_allclose(dag_weights(model.covariance, model.dag), model.weights, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_theorem_7_only_supersets_of_the_truth_attain_the_minimum(seed):
    """All 543 DAGs on four nodes; the error covariance is 3 Ω."""
    base = model_of(4, seed, unequal=True)
    model = LinearSEM(base.weights, 3.0 * base.noise_variance)
    values = {g: dag_score(model.covariance, g, base.noise_variance) for g in all_dags(4)}
    assert len(values) == 543
    assert min(values.values()) == pytest.approx(12.0)
    for graph, value in values.items():
        contains = not (model.dag.adjacency & ~graph.adjacency).any()
        assert (value < 12.0 + 1e-9) == contains
        if contains:  # Lemma 6: all share the score, and their coefficients are the true ones
            np.testing.assert_allclose(dag_weights(model.covariance, graph), model.weights, atol=1e-10)


def test_example_1_wrong_weights_prefer_the_wrong_arrow():
    model = LinearSEM([[0, -0.5], [0, 0]], [1.0, 0.25])
    forward, backward = DAG([[0, 1], [0, 0]]), DAG([[0, 0], [1, 0]])
    assert dag_score(model.covariance, forward) == pytest.approx(1.25)
    assert dag_score(model.covariance, backward) == pytest.approx(1.0)
    assert dag_score(model.covariance, forward, [1, 0.25]) < dag_score(model.covariance, backward, [1, 0.25])


def test_erratum_example_1_needs_the_inverse_of_the_last_factor():
    model = LinearSEM([[0, -0.5], [0, 0]], [1.0, 0.25])
    left = np.eye(2) - model.weights
    printed = np.linalg.inv(left).T @ np.diag([1.0, 0.25]) @ left
    assert not np.allclose(printed, [[1, -0.5], [-0.5, 0.5]])
    np.testing.assert_allclose(model.covariance, [[1, -0.5], [-0.5, 0.5]])


# --- gap and robustness ----------------------------------------------------------------------------------------------


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


def test_lemma_11_is_sufficient_and_the_exact_condition_is_larger_variance_of_the_effect():
    rng = np.random.default_rng(0)
    forward, backward = DAG([[0, 1], [0, 0]]), DAG([[0, 0], [1, 0]])
    inside = sharp = 0
    for _ in range(400):
        b, r = rng.uniform(0.05, 2), rng.uniform(0.2, 2)
        model = LinearSEM([[0, b], [0, 0]], [1.0, r**2])
        right = dag_score(model.covariance, forward) < dag_score(model.covariance, backward)
        assert right == (b**2 + r**2 > 1) == (model.covariance[1, 1] > model.covariance[0, 0])
        # For r <= 1, (C.4) prints (1 - r)² in an intermediate line; the lemma has 1 - r².
        bound = r**2 * (r**2 - 1 + np.sqrt(r**4 - 1)) if r >= 1 else 1 - r**2 + np.sqrt(1 - r**4)
        if b**2 >= bound:
            assert right
            inside += 1
        sharp += right
    assert 0 < inside < sharp


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


# --- search ----------------------------------------------------------------------------------------------------------


def test_there_are_as_many_dags_as_robinson_counted():
    assert [len(all_dags(p)) for p in (1, 2, 3, 4)] == [1, 3, 25, 543]
    assert len(set(all_dags(random_graph(6, 0.4, 0)))) == len(all_dags(random_graph(6, 0.4, 0)))


@pytest.mark.parametrize("seed", range(24))
def test_the_search_over_a_tree_decomposition_is_exact(seed):
    """Random graphs of every width, with and without penalty, against all orders of six nodes."""
    adjacency = random_graph(6, (0.3, 0.45, 0.55)[seed % 3], seed)
    S = sample_covariance(model_of(6, seed), 40, seed)
    scores = parent_scores(S, adjacency, edge_cost=(0.0, 0.05)[seed % 2], max_parents=(None, 2)[seed // 3 % 2])
    found = best_dag_treewidth(scores)
    assert found.exact and found.score == pytest.approx(brute_force(scores), abs=1e-10)
    assert scores.score(found.dag) == pytest.approx(found.score, abs=1e-10)
    assert (found.dag.adjacency <= adjacency).all()


def test_the_complete_graph_is_searched_too():
    scores = parent_scores(sample_covariance(model_of(5, 0), 40))
    assert best_dag_treewidth(scores).score == pytest.approx(brute_force(scores), abs=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_it_equals_the_search_over_subsets(seed):
    adjacency = random_graph(10, 0.3, seed)
    S = sample_covariance(model_of(10, seed), 60, seed)
    scores = parent_scores(S, adjacency, edge_cost=0.03)
    subset, tree = best_dag_subset(scores), best_dag_treewidth(scores)
    assert tree.score == pytest.approx(subset.score, abs=1e-10)
    assert scores.score(subset.dag) == pytest.approx(subset.score)
    greedy = best_dag_greedy(scores)
    assert greedy.score >= tree.score - 1e-10 and not greedy.exact


def test_arbitrary_scores_with_forbidden_sets():
    rng = np.random.default_rng(0)
    for seed in range(6):
        base = parent_scores(np.eye(6), random_graph(6, 0.6, seed + 100))
        values = []
        for row in base.values:
            drawn = rng.normal(size=len(row))
            drawn[1:][rng.random(len(row) - 1) < 0.3] = np.inf
            values.append(drawn)
        scores = type(base)(base.candidates, tuple(values), base.residual_variance)
        assert best_dag_treewidth(scores).score == pytest.approx(brute_force(scores))


def test_greedy_search_can_stop_at_a_worse_graph():
    worse = 0
    for seed in range(15):
        model = model_of(10, seed, 1.5)
        scores = parent_scores(sample_covariance(model, 100, seed), moral_graph(model.dag), edge_cost=0.03)
        worse += best_dag_greedy(scores).score > best_dag_treewidth(scores).score + 1e-9
    assert worse >= 1
    best = best_dag_treewidth(scores)
    assert best_dag_greedy(scores, start=best.dag).n_records == 0  # nothing improves the best


def plain_climb(scores, adjacency):
    """Add, remove or reverse the edge that lowers the score most, on sets of edges; the graph and the changes."""
    edges, allowed, changes = frozenset(), [tuple(edge) for edge in np.argwhere(adjacency).tolist()], 0
    value = scores.score(DAG.from_edges(scores.n_nodes, []))
    while True:
        options = []
        for i, k in allowed:
            if (i, k) in edges:
                options += [edges - {(i, k)}, edges - {(i, k)} | {(k, i)}]
            elif (k, i) not in edges:
                options.append(edges | {(i, k)})
        found = []
        for option in options:
            with contextlib.suppress(ValueError):  # a cycle
                found.append((scores.score(DAG.from_edges(scores.n_nodes, option)), sorted(option)))
        best, option = min(found)
        if best > value - 1e-12:
            return DAG.from_edges(scores.n_nodes, edges), changes
        value, edges, changes = best, frozenset(option), changes + 1


def test_greedy_search_takes_the_best_change_each_time():
    kinds = set()
    for seed in range(8):
        adjacency = random_graph(6, 0.7, seed)
        scores = parent_scores(sample_covariance(model_of(6, seed, 3.0), 30, seed), adjacency, edge_cost=0.03)
        expected, changes = plain_climb(scores, adjacency)
        found = best_dag_greedy(scores)
        assert found.dag == expected and found.n_records == changes
        kinds.add(changes > len(expected.edges))
    assert kinds == {False, True}  # some searches also remove or reverse


def test_tree_decompositions_have_their_three_properties():
    for seed in range(10):
        adjacency = random_graph(12, 0.25, seed)
        tree = tree_decomposition(adjacency)
        bags = [set(bag) for bag in tree.bags]
        assert all(any({i, k} <= bag for bag in bags) for i, k in np.argwhere(adjacency))
        for v in range(12):
            holders = [u for u in range(12) if v in bags[u]]
            # Connected: all but one holder have their parent among the holders.
            assert sum(tree.parent[u] not in holders for u in holders) == 1
        assert tree.width == max(map(len, bags)) - 1
    cycle = np.roll(np.eye(9, dtype=bool), 1, axis=1)
    widths = [random_graph(9, 0, 0), cycle | cycle.T, ~np.eye(6, dtype=bool)]
    assert [tree_decomposition(a).width for a in widths] == [0, 2, 5]


def test_records_grow_linearly_with_the_number_of_nodes():
    counts = []
    for p in (50, 100, 200):
        model = LinearSEM(np.diag(np.full(p - 1, 0.8), 1))
        counts.append(best_dag_treewidth(parent_scores(model.covariance, moral_graph(model.dag))).n_records)
    assert counts[1] / counts[0] == pytest.approx(2, rel=0.1) and counts[2] / counts[1] == pytest.approx(2, rel=0.1)


def test_a_tree_of_200_nodes_is_found_exactly():
    rng = np.random.default_rng(3)
    model = random_linear_sem(tree_dag(200, rng), weights=(0.5, 1.0), signed=True, random_state=rng)
    learner = LinearDAGLearner(moral="nodewise").fit(model.sample(1000, "laplace", random_state=rng))
    assert learner.dag_ == model.dag and learner.exact_
    assert np.abs(learner.weights_ - model.weights).max() < 0.15


def test_a_graph_too_wide_is_refused_and_searched_greedily():
    S = sample_covariance(model_of(12, 0), 200)
    scores = parent_scores(S)
    with pytest.raises(ValueError, match="treewidth at most 7"):
        best_dag_treewidth(scores)
    narrow = parent_scores(S[:7, :7])
    with pytest.raises(ValueError, match="max_records"):
        best_dag_treewidth(narrow, max_records=100)
    X = model_of(12, 0).sample(200, random_state=0)
    with pytest.warns(ConvergenceWarning, match="greedily"):
        wide = LinearDAGLearner(moral=~np.eye(12, dtype=bool), edge_cost=0.0).fit(X)
    assert not wide.exact_
    with pytest.raises(ValueError, match="treewidth"):
        LinearDAGLearner(moral=~np.eye(12, dtype=bool), edge_cost=0.0, search="treewidth").fit(X)


# --- the learner -----------------------------------------------------------------------------------------------------


def test_the_learner_is_a_scikit_learn_estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(LinearDAGLearner())


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


def test_without_penalty_and_pruning_superfluous_parents_stay():
    """(26): the empirical minimiser contains the truth."""
    model = model_of(8, 1, 1.5)
    X = model.sample(3000, "laplace", random_state=0)
    moral = moral_graph(model.dag)
    moral[0, 1] = moral[1, 0] = True
    full = LinearDAGLearner(edge_cost=0.0, prune=False, moral=moral).fit(X)
    assert not (model.dag.adjacency & ~full.adjacency_).any() and len(full.dag_.edges) > len(model.dag.edges)
    assert LinearDAGLearner(edge_cost=0.0).fit(X).dag_ == model.dag == LinearDAGLearner(prune=False).fit(X).dag_


def test_searches_agree_and_covariances_suffice():
    X = model_of(9, 2).sample(500, random_state=0)
    tree, subset = (LinearDAGLearner(search=search).fit(X) for search in ("treewidth", "subset"))
    assert tree.dag_ == subset.dag_ and tree.score_ == pytest.approx(subset.score_)
    again = LinearDAGLearner().fit_covariance(np.cov(X.T), 500)
    assert again.dag_ == tree.dag_
    np.testing.assert_allclose(
        tree.noise_variance_, np.var((X - X.mean(0)) @ (np.eye(9) - tree.weights_), axis=0, ddof=1)
    )


def test_one_unit_for_all_columns_rows_in_any_order_and_layout_do_not_matter():
    X = model_of(9, 5).sample(400, "laplace", random_state=0)
    dag = LinearDAGLearner().fit(X).dag_
    rng = np.random.default_rng(0)
    for other in (1e8 * X, 1e-8 * X, X + 1e3, X[rng.permutation(400)], np.asfortranarray(X)):
        assert LinearDAGLearner().fit(other).dag_ == dag
    place = rng.permutation(9)
    assert LinearDAGLearner().fit(X[:, place]).dag_ == DAG(dag.adjacency[np.ix_(place, place)])


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


def test_known_variances_survive_a_change_of_units():
    model = model_of(8, 1, unequal=True)
    X = model.sample(5000, "laplace", random_state=0)
    units = np.geomspace(1e-3, 1e3, 8)
    learner = LinearDAGLearner(model.noise_variance * units**2).fit(X * units)
    assert learner.dag_ == LinearDAGLearner(model.noise_variance).fit(X).dag_ == model.dag


def test_constant_and_duplicated_columns():
    X = model_of(5, 0).sample(300, random_state=0)
    constant = LinearDAGLearner().fit(np.column_stack([X, np.full(300, 7.0)]))
    assert not constant.adjacency_[5].any() and not constant.adjacency_[:, 5].any()
    assert np.isfinite(constant.weights_).all()
    doubled = LinearDAGLearner().fit(np.column_stack([X, X[:, 0]]))
    assert doubled.adjacency_[0, 5] or doubled.adjacency_[5, 0]
    assert np.isfinite(doubled.weights_).all()


# --- corrupted data --------------------------------------------------------------------------------------------------


def test_corrected_covariances_are_unbiased():
    model = model_of(4, 2)
    rng = np.random.default_rng(0)
    rate = np.array([0.0, 0.1, 0.3, 0.5])
    noise = np.diag([0.5, 0.0, 1.0, 2.0]) + 0.1
    missing, noisy = np.zeros((4, 4)), np.zeros((4, 4))
    for _ in range(400):
        X = model.sample(100, "laplace", random_state=rng)
        missing += corrected_covariance(np.where(rng.random(X.shape) < rate, np.nan, X), missing_rate=rate) / 400
        W = rng.multivariate_normal(np.zeros(4), noise, size=100)
        noisy += corrected_covariance(X + W, noise_covariance=noise, center=False) / 400
    # 40,000 rows: a standard error of at most 0.03 for these moments.
    np.testing.assert_allclose(noisy, model.covariance, atol=0.12)
    np.testing.assert_allclose(missing, model.covariance, atol=0.12)


def test_complete_data_have_the_usual_covariance():
    X = model_of(5, 0).sample(50, random_state=0) + 3.0
    np.testing.assert_allclose(corrected_covariance(X), np.cov(X.T))
    np.testing.assert_allclose(corrected_covariance(X, center=False), X.T @ X / 50)
    np.testing.assert_allclose(corrected_covariance(X, noise_covariance=0.1), np.cov(X.T) - 0.1 * np.eye(5))


def test_the_repair_leaves_good_matrices_alone_and_mends_bad_ones():
    good = model_of(5, 0).covariance
    assert nearest_covariance(good) is not None and (nearest_covariance(good) == good).all()
    X = model_of(30, 0).sample(40, random_state=0)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    bad = corrected_covariance(holes)
    assert np.linalg.eigvalsh(bad)[0] < -0.01
    assert np.linalg.eigvalsh(nearest_covariance(bad))[0] > 0
    with pytest.raises(ValueError, match="positive diagonal"):
        nearest_covariance([[-1.0]])


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


# --- rates -----------------------------------------------------------------------------------------------------------


def test_lemmas_15_and_18_errors_fall_with_the_root_of_n():
    model, errors = model_of(10, 0), []
    moral = moral_graph(model.dag)
    truth = parent_scores(model.covariance, moral).values
    sizes = np.array([300, 3000, 30_000])
    for n in sizes:
        runs = []
        for seed in range(8):
            S = sample_covariance(model, n, seed)
            found = parent_scores(S, moral).values
            scores = max(np.abs(a - b).max() for a, b in zip(truth, found, strict=True))
            runs.append((np.abs(np.linalg.inv(S) - model.precision).max(), scores))
        errors.append(np.mean(runs, axis=0))
    slopes = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    np.testing.assert_allclose(slopes, -0.5, atol=0.12)


# --- baselines -------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("seed", range(4))
def test_pc_with_many_rows_finds_the_class(seed):
    model = model_of(7, seed, unequal=True)
    assert pc_cpdag(model.covariance, 10**9, alpha=1e-8) == cpdag(model.dag)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [parent_scores, variance_order, top_down_order])
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
        (lambda: best_dag_subset(parent_scores(np.eye(19), np.zeros((19, 19)))), "at most 18"),
        (lambda: score_gap(LinearSEM(np.zeros((2, 2)))), "at least one edge"),
        (lambda: score_gap(LinearSEM([[0, 1], [0, 0]]), adjacency=np.zeros((2, 2))), "adjacency"),
        (lambda: weight_scan(np.eye(2), np.zeros((2, 2)), spread=0.5), "spread"),
        (lambda: corrected_covariance([[np.inf, 1], [0, 1]]), "X must"),
        (lambda: corrected_covariance([[np.nan, 1], [np.nan, 1]]), "at least two observed"),
        (lambda: corrected_covariance(np.eye(3), missing_rate=1.0), "missing_rate"),
        (lambda: corrected_covariance(np.eye(3), noise_covariance=-1.0), "noise_covariance"),
        (lambda: regress_in_order(np.eye(2), [0, 0], 10), "order"),
        (lambda: direct_lingam_order(np.ones((5, 2))), "constant"),
        (lambda: direct_lingam_order(np.eye(2)), "more rows"),
        (lambda: pc_cpdag(np.eye(2), 10, alpha=0), "alpha"),
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


@pytest.mark.parametrize("call", [best_dag_treewidth, best_dag_subset, best_dag_greedy, gap_ratio, cancellations])
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


def test_one_variable():
    assert best_dag_treewidth(parent_scores([[2.0]])).score == 2.0
    learner = LinearDAGLearner().fit(np.arange(5.0)[:, None])
    assert learner.dag_.edges == () and learner.noise_variance_[0] == pytest.approx(2.5)
