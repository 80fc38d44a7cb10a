"""Linear causal networks from the inverse covariance: the claims of the source, checked."""

import contextlib
import itertools
import warnings

import numpy as np
import pytest
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from learnable.graphs import (
    LinearDAGLearner,
    best_dag_greedy,
    best_dag_treewidth,
    corrected_covariance,
    estimate_moral_graph,
    parent_scores,
)
from learnable.graphs.dags import DAG, moral_graph, random_dag
from learnable.graphs.linear_dags import (
    all_dags,
    best_dag_subset,
    dag_score,
    dag_weights,
    nearest_covariance,
    tree_decomposition,
)
from learnable.graphs.linear_dags.local_scores import FamilyScores
from learnable.graphs.linear_dags.search import climb_families
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


@pytest.mark.parametrize("error", ["gaussian", "laplace", "uniform", "mixed"])
def test_theorem_2_needs_no_gaussian_errors(error):
    model = model_of(8, 3)
    # Four standard errors of a partial correlation; the smallest true one is above 0.1.
    found = estimate_moral_graph(sample_covariance(model, 20_000, error=error), 20_000, threshold=0.03)
    np.testing.assert_array_equal(found.adjacency, moral_graph(model.dag))


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


def test_a_graph_too_wide_is_refused_and_searched_over_subsets_or_greedily():
    S = sample_covariance(model_of(12, 0), 200)
    scores = parent_scores(S)
    with pytest.raises(ValueError, match="treewidth at most 7"):
        best_dag_treewidth(scores)
    narrow = parent_scores(S[:7, :7])
    with pytest.raises(ValueError, match="max_records"):
        best_dag_treewidth(narrow, max_records=100)
    X = model_of(12, 0).sample(200, random_state=0)
    settings = {"moral": ~np.eye(12, dtype=bool), "edge_cost": 0.0}
    wide, subset = (LinearDAGLearner(**settings, search=search).fit(X) for search in ("auto", "subset"))
    assert wide.exact_ and wide.score_ == subset.score_
    with pytest.raises(ValueError, match="treewidth"):
        LinearDAGLearner(**settings, search="treewidth").fit(X)
    circulant = sum(np.roll(np.eye(21, dtype=bool), by, axis=1) for by in (*range(1, 6), *range(-5, 0)))
    X = model_of(21, 0).sample(200, random_state=0)
    with pytest.warns(ConvergenceWarning, match="greedily"):
        assert not LinearDAGLearner(moral=circulant, edge_cost=0.0).fit(X).exact_


def test_the_search_over_subsets_takes_twenty_nodes():
    model = LinearSEM(np.diag(np.full(19, 0.8), 1))
    scores = parent_scores(model.covariance, moral_graph(model.dag), edge_cost=0.01)
    assert best_dag_subset(scores).score == pytest.approx(best_dag_treewidth(scores).score)


def test_the_climb_without_a_table_is_the_climb_with_one():
    for seed in range(8):
        adjacency = random_graph(9, 0.7, seed)
        S = sample_covariance(model_of(9, seed, 3.0), 30, seed)
        for settings in ({"edge_cost": 0.03}, {"max_parents": 1}, {"kind": "bic", "n_samples": 30}):
            expected = best_dag_greedy(parent_scores(S, adjacency, **settings))
            assert climb_families(FamilyScores(S, **settings), adjacency) == expected.dag


def test_a_hub_with_many_neighbours_is_searched_greedily():
    weights = np.zeros((31, 31))
    weights[0, 1:] = 0.9
    X = LinearSEM(weights).sample(2000, random_state=0)
    one = LinearDAGLearner(search="greedy", max_parents=1).fit(X)
    assert one.moral_graph_[0].sum() >= 25 and one.adjacency_.sum(axis=0).max() == 1
    assert one.adjacency_[0, 1:].all() and one.score_ < np.trace(np.cov(X.T))
    np.testing.assert_allclose(one.weights_[0, 1:], 0.9, atol=0.1)
    with pytest.warns(ConvergenceWarning, match="neighbours, more than 20"):
        assert LinearDAGLearner().fit(X).adjacency_[0, 1:].all()
    with pytest.raises(ValueError, match="at most 20 neighbours"):
        LinearDAGLearner(search="treewidth").fit(X)


def test_the_learner_is_a_scikit_learn_estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(LinearDAGLearner())


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


def test_corrected_covariances_are_unbiased_in_small_tables_too():
    """Exactly: white noise is the sum of unit rows, and all patterns with three and four of five entries are tried."""
    patterns = [
        np.array([[i in first, i in second] for i in range(5)])
        for first in itertools.combinations(range(5), 3)
        for second in itertools.combinations(range(5), 4)
    ]
    mean = np.zeros((2, 2))
    for seen in patterns:
        for row in np.eye(5):
            mean += corrected_covariance(np.where(seen, row[:, None], np.nan)) / len(patterns)
    np.testing.assert_allclose(mean, 1.0, rtol=1e-12)


def test_columns_that_are_never_observed_together_are_refused():
    X = model_of(4, 2).sample(200, random_state=0)
    X[:100, 1] = X[100:, 3] = np.nan
    for call in (corrected_covariance, LinearDAGLearner().fit):
        with pytest.raises(ValueError, match="X must have a row in which columns 1 and 3 are both observed"):
            call(X)


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


def test_one_variable():
    assert best_dag_treewidth(parent_scores([[2.0]])).score == 2.0
    learner = LinearDAGLearner().fit(np.arange(5.0)[:, None])
    assert learner.dag_.edges == () and learner.noise_variance_[0] == pytest.approx(2.5)


def test_the_threshold_of_partial_correlations_counts_the_variables_that_were_regressed_out():
    """A partial correlation given p - 2 others has the spread of a correlation of about n - p rows."""
    rng = np.random.default_rng(0)
    for n, p in ((60, 40), (41, 40), (500, 3)):
        found = estimate_moral_graph(np.cov(rng.normal(size=(n, p)).T) if n > p + 1 else np.eye(p), n)
        assert found.threshold == pytest.approx(np.sqrt(2 * np.log(p) / (n - p)))
