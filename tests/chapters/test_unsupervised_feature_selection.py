"""FSSEM and what it is made of: every claim of the chapter, against references of other kinds."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnable.chapters.unsupervised_feature_selection.synthetic import (
    class_error,
    cv_class_error,
    make_noisy_clusters,
    recall_precision,
)
from learnable.chapters.unsupervised_feature_selection.theory import (
    complete_likelihood,
    dimension_bias,
    initial_centres,
    kmeans_k,
    merge_components,
    merge_costs,
    ml_criterion,
)
from learnable.features import FSSEM, cross_projection, trace_criterion
from learnable.features.fssem import normalized_values
from learnable.latent import EMClusterer, em_k
from learnable.latent.mixture import em, m_step


def soft(rng, n, k):
    return rng.dirichlet(np.ones(k), size=n)


def hard(rng, n, k):
    return np.eye(k)[np.r_[np.arange(k), rng.integers(k, size=n - k)]]


def moments_by_hand(X, Z):
    weights = Z.mean(axis=0)
    means = [np.average(X, axis=0, weights=z) for z in Z.T]
    covariances = [np.cov(X.T, aweights=z, ddof=0).reshape(X.shape[1], -1) for z in Z.T]
    return weights, np.array(means), np.array(covariances)


def likelihood_by_hand(X, w, m, c):
    logs = [np.log(a) + multivariate_normal(b, s).logpdf(X) for a, b, s in zip(w, m, c, strict=True)]
    return logsumexp(np.reshape(logs, (len(w), -1)), axis=0).sum()


@pytest.fixture(scope="module")
def four():
    return make_noisy_clusters("4-class", 300, random_state=1)


def test_em_log_likelihood_is_monotone_and_is_that_of_the_parameters(four):
    fit = em(four.X[:, :3], 5, n_restarts=3, random_state=0)
    assert np.diff(fit.log_likelihoods).min() > -1e-3
    assert fit.log_likelihood == fit.log_likelihoods[-1]
    by_hand = likelihood_by_hand(four.X[:, :3], fit.weights, fit.means, fit.covariances)
    assert fit.log_likelihood == pytest.approx(by_hand, rel=1e-10)
    assert fit.change < 1e-4 and fit.weights.sum() == pytest.approx(1)
    assert fit.bic == pytest.approx(by_hand - 0.5 * (4 + 15 + 30) * np.log(300))


def test_one_cluster_is_the_sample_mean_and_covariance(four):
    fit = em(four.X, 1)
    np.testing.assert_allclose(fit.means[0], four.X.mean(axis=0))
    np.testing.assert_allclose(fit.covariances[0], np.cov(four.X.T, ddof=0), rtol=1e-5, atol=1e-8)


def test_m_step_against_numpy(four):
    Z = soft(np.random.default_rng(0), 300, 3)
    w, m, c = moments_by_hand(four.X, Z)
    fit = m_step(four.X, Z)
    np.testing.assert_allclose(fit.weights, w)
    np.testing.assert_allclose(fit.means, m)
    np.testing.assert_allclose(fit.covariances, c, atol=1e-12)
    assert fit.log_likelihood == pytest.approx(likelihood_by_hand(four.X, w, m, c), rel=1e-12)
    lifted = m_step(four.X, Z, reg_covar=0.5)
    np.testing.assert_allclose(lifted.covariances, c + 0.5 * np.diag(four.X.var(axis=0)), atol=1e-12)


def test_em_warns_when_the_steps_run_out(four):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        fit = em(four.X, 4, max_iter=1, random_state=0)
    assert not fit.converged and fit.n_iter == 1


def test_the_refined_start_beats_one_random_start(four):
    """Distortion of the centres, on average over seeds."""

    def distortion(init, seed):
        centres = initial_centres(four.X[:, :2], 4, init=init, random_state=seed)
        return ((four.X[:, None, :2] - centres) ** 2).sum(axis=2).min(axis=1).sum()

    refined, random = (np.mean([distortion(i, s) for s in range(10)]) for i in ("refined", "random"))
    best = KMeans(4, n_init=10, random_state=0).fit(four.X[:, :2]).inertia_
    assert refined < 1.15 * best < random
    assert distortion("kmeans", 0) >= best * (1 - 1e-9)


def random_mixture(rng, k, d):
    A = rng.normal(size=(k, d, d))
    return rng.dirichlet(np.ones(k)), rng.normal(size=(k, d)), A @ A.transpose(0, 2, 1) + 0.1 * np.eye(d)


def test_merging_keeps_the_mean_and_covariance_of_the_mixture():
    rng = np.random.default_rng(0)
    w, m, c = random_mixture(rng, 5, 3)

    def whole(w, m, c):
        mean = w @ m
        return mean, np.einsum("j,jab->ab", w, c) + np.einsum("j,ja,jb->ab", w, m - mean, m - mean)

    for first, second in itertools.permutations(range(5), 2):
        merged = merge_components(w, m, c, first, second)
        assert merged.n_components == 4
        for before, after in zip(whole(w, m, c), whole(merged.weights, merged.means, merged.covariances), strict=True):
            np.testing.assert_allclose(after, before, atol=1e-12)
        others = [j for j in range(5) if j not in (first, second)]
        at = min(first, second)
        np.testing.assert_allclose(np.delete(merged.means, at, axis=0), m[others])


def test_merge_costs_are_the_loss_of_the_expected_complete_likelihood():
    """With the mixing proportions: Q before minus Q after, computed from memberships."""
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(200, 2)) * [1, 3], soft(rng, 200, 4)
    fit = m_step(X, Z)
    costs = merge_costs(fit.weights, fit.means, fit.covariances, 200, mixing=True)
    for a, b in itertools.combinations(range(4), 2):
        joined = np.column_stack([np.delete(Z, [a, b], axis=1), Z[:, a] + Z[:, b]])
        loss = complete_likelihood(X, Z)[0] - complete_likelihood(X, joined)[0]
        assert costs[a, b] == pytest.approx(loss, rel=1e-8) and costs[b, a] == costs[a, b]
    assert np.isinf(np.diagonal(costs)).all()


def test_merging_equal_clusters_costs_nothing_and_no_merger_gains():
    rng = np.random.default_rng(2)
    w, m, c = random_mixture(rng, 5, 2)
    m[3], c[3] = m[1], c[1]
    costs = merge_costs(w, m, c, 100)
    assert costs[1, 3] == pytest.approx(0, abs=1e-10) and costs.min() > -1e-9
    assert merge_costs(w, m, c, 100, mixing=True)[1, 3] < -1


def test_em_k_finds_two_and_four_clusters_where_restarts_do():
    """Counting the entropy of the mixing weights finds one or four clusters in most of the first kind."""
    for seed in range(4):
        X = make_noisy_clusters("2-class", 450, random_state=seed).X[:, [1]]
        search = em_k(X, 8, random_state=0)
        assert search.best.n_components == 2
        best = max(em(X, k, n_restarts=5, random_state=0).bic for k in (1, 2, 3))
        assert search.best.bic == pytest.approx(best, abs=0.05)
    X = make_noisy_clusters("4-class", 450, random_state=0).X[:, :2]
    search = em_k(X, 8, random_state=0)
    assert search.best.n_components == 4 == search.n_components[search.bic.argmax()]
    assert (np.diff(search.n_components) < 0).all() and search.n_components[-1] == 1
    assert (np.diff(search.log_likelihood) < 0.01).all()
    for k, loglik, score in zip(search.n_components, search.log_likelihood, search.bic, strict=True):
        assert score == pytest.approx(loglik - 0.5 * ((k - 1) + 2 * k + 3 * k) * np.log(450))


def test_the_number_of_clusters_depends_on_the_subset(four):
    """Section 3: fewer clusters are seen on one axis than in the plane."""
    plane, axis = (em_k(four.X[:, s], 6, random_state=0).best.n_components for s in ([0, 1], [0]))
    assert (plane, axis) == (4, 2)
    assert em_k(four.X[:, [3]], 6, random_state=0).best.n_components == 1


def test_kmeans_k_against_scikit_learn(four):
    X = four.X[:, :2]
    found = kmeans_k(X, 4, find_k=False, random_state=0)
    peer = KMeans(4, n_init=20, random_state=0).fit(X)
    assert found.distortion == pytest.approx(peer.inertia_, rel=1e-3)
    np.testing.assert_array_equal(found.memberships.sum(axis=1), 1)
    labels = found.memberships.argmax(axis=1)
    np.testing.assert_allclose(found.means, [X[labels == j].mean(axis=0) for j in range(4)])
    assert kmeans_k(X, 7, random_state=0).n_components == 4
    assert kmeans_k(X, 7, init="refined", random_state=0).n_components == 4


def test_the_spherical_bic_by_hand(four):
    X = four.X[:, :2]
    found = kmeans_k(X, 4, find_k=False, random_state=0)
    labels, n, d, k = found.memberships.argmax(axis=1), 300, 2, 4
    variance = found.distortion / (d * (n - k))
    counts = np.bincount(labels)
    logs = -0.5 * ((X - found.means[labels]) ** 2).sum(axis=1) / variance - 0.5 * d * np.log(2 * np.pi * variance)
    by_hand = logs.sum() + (counts * np.log(counts / n)).sum() - 0.5 * (k - 1 + k * d + 1) * np.log(n)
    assert found.bic[0] == pytest.approx(by_hand, rel=1e-9)


def test_theorem_4_1_the_bias_of_ml():
    """Equal hard memberships: ML prefers A to B iff the weighted ratio of determinants is above (2 pi e)^(dA - dB)."""
    rng = np.random.default_rng(3)
    both = set()
    for _ in range(1000):
        X, Z = rng.normal(size=(30, 4)) * rng.uniform(0.05, 1, 4), hard(rng, 30, 2)
        w, _, c = moments_by_hand(X, Z)
        QA, QB = (complete_likelihood(X[:, :s], Z)[0] for s in (2, 4))
        ratio = np.prod((np.linalg.det(c) / np.linalg.det(c[:, :2, :2])) ** w)
        assert (QA >= QB) == (ratio >= (2 * np.pi * np.e) ** -2)
        assert dimension_bias(c, w, 2) == pytest.approx((QA - QB) / 30, abs=1e-9)
        both.add(bool(QA >= QB))
    assert both == {True, False}


def test_corollary_4_1_with_conditional_covariances():
    rng = np.random.default_rng(4)
    w, _, c = random_mixture(rng, 3, 4)
    conditional = [s[2:, 2:] - s[2:, :2] @ np.linalg.inv(s[:2, :2]) @ s[:2, 2:] for s in c]
    expected = 0.5 * (2 * np.log(2 * np.pi * np.e) + w @ np.log(np.linalg.det(conditional)))
    assert dimension_bias(c, w, 2) == pytest.approx(expected)


def test_a_feature_of_variance_0_05_raises_ml_and_0_07_lowers_it():
    assert dimension_bias([np.diag([1, 0.05])], [1.0], 1) < 0 < dimension_bias([np.diag([1, 0.07])], [1.0], 1)
    assert dimension_bias([np.diag([1, 1 / (2 * np.pi * np.e)])], [1.0], 1) == pytest.approx(0, abs=1e-15)
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=400) + 6 * (np.arange(400) % 2), rng.normal(size=400)
    z = (z - z.mean()) / z.std()
    Z = np.eye(2)[np.arange(400) % 2]
    alone = ml_criterion(x[:, None], Z)
    low, high = (ml_criterion(np.c_[x, np.sqrt(v) * z], Z) for v in (0.05, 0.07))
    assert high < alone < low


def test_q_plus_h_is_the_likelihood_at_a_fixed_point_and_less_elsewhere(four):
    X = four.X[:, :2]
    fit = em(X, 4, tol=1e-9, max_iter=5000, random_state=0)
    Q, H = complete_likelihood(X, fit.memberships)
    assert abs(ml_criterion(X, fit.memberships) - (Q + H)) < 1e-3
    other = em(four.X[:, [0]], 2, random_state=0).memberships
    Q, H = complete_likelihood(four.X[:, [1]], other)
    assert Q + H < ml_criterion(four.X[:, [1]], other) - 1
    rng = np.random.default_rng(6)
    for _ in range(20):
        Z = soft(rng, 300, 3)
        assert sum(complete_likelihood(X, Z)) < ml_criterion(X, Z)


@pytest.mark.parametrize("criterion", ["trace", "ml"])
def test_proposition_1_equal_clusters_give_equal_values_and_the_smaller_subset(four, criterion):
    Z = soft(np.random.default_rng(7), 300, 3)
    result = cross_projection(four.X, [0, 1, 2], Z, [1], Z, criterion=criterion)
    assert result.values[0] == result.values[1] and result.winner == 1
    assert cross_projection(four.X, [1], Z, [0, 1, 2], Z, criterion=criterion).winner == 0


@pytest.mark.parametrize("criterion", ["trace", "ml"])
def test_cross_projection_by_hand_and_in_either_order(four, criterion):
    one, two = em(four.X[:, [2]], 2, random_state=0).memberships, em(four.X[:, :2], 4, random_state=0).memberships
    value = trace_criterion if criterion == "trace" else ml_criterion
    result = cross_projection(four.X, [2], one, [0, 1], two, criterion=criterion)
    table = [[value(four.X[:, s], Z) for Z in (one, two)] for s in ([2], [0, 1])]
    np.testing.assert_allclose(result.table, table, rtol=1e-9)
    np.testing.assert_allclose(result.values, normalized_values(table, criterion), rtol=1e-9)
    turned = cross_projection(four.X, [0, 1], two, [2], one, criterion=criterion)
    np.testing.assert_allclose(turned.values, result.values[::-1])
    assert turned.winner == 1 - result.winner


def test_one_cluster_has_trace_zero_and_the_tie_goes_to_the_smaller_subset(four):
    one, two = np.ones((300, 1)), np.eye(2)[np.arange(300) % 2]
    assert cross_projection(four.X, [0], one, [0, 1], one).values.tolist() == [0, 0]
    assert cross_projection(four.X, [0], one, [0, 1], one).winner == 0
    assert cross_projection(four.X, [0], one, [0, 1], two).winner == 1


@pytest.mark.parametrize("criterion", ["trace", "ml"])
def test_fssem_finds_the_two_features_and_four_clusters(four, criterion):
    model = FSSEM(criterion=criterion, random_state=0).fit(four.X)
    assert set(model.selected_[:2]) == {0, 1} and model.n_components_ == 4 and len(model.selected_) < 5
    assert class_error(model.labels_, four.y) < 0.06
    assert model.get_support().sum() == len(model.selected_) == model.transform(four.X).shape[1]
    np.testing.assert_array_equal(model.predict(four.X), model.labels_)
    np.testing.assert_allclose(model.predict_proba(four.X), model.fit_.memberships, atol=1e-9)
    assert model.history_[-1].features != tuple(model.selected_) and not model.history_[-1].accepted


def test_the_history_is_a_forward_search_by_the_public_functions(four):
    """Each step: the largest raw criterion among the candidates, accepted iff cross-projection says so."""
    model = FSSEM(random_state=3).fit(four.X)
    X = four.X / model.scale_
    held = None
    for step in model.history_:
        new = sorted(step.features)
        Z = FSSEM(search="all", random_state=3).fit(four.X[:, new])
        assert Z.n_components_ == step.n_components or len(new) > 1
        if held is not None:
            assert set(held) < set(step.features)
            assert step.accepted == (step.value > step.before)
        held = step.features if step.accepted else held
    assert tuple(model.selected_) == held
    assert model.criterion_ == pytest.approx(trace_criterion(X[:, model.selected_], model.fit_.memberships))


def test_without_normalisation_ml_stops_at_one_feature_and_trace_goes_on(four):
    ml = FSSEM(criterion="ml", normalize=False, random_state=0).fit(four.X)
    assert len(ml.selected_) == 1
    trace, normal = (FSSEM(normalize=n, random_state=0).fit(four.X) for n in (False, True))
    assert len(trace.selected_) >= len(normal.selected_)


def test_ml_on_raw_data_prefers_the_noise_and_trace_does_not_care(four):
    raw = FSSEM(criterion="ml", standardize=False, random_state=0).fit(four.X)
    assert not set(raw.selected_) & {0, 1} and raw.n_components_ == 1
    plain, scaled = (FSSEM(standardize=s, random_state=0).fit(four.X) for s in (False, True))
    assert set(plain.selected_[:2]) == set(scaled.selected_[:2]) == {0, 1}


def test_em_k_on_all_features_of_two_classes_finds_one_cluster():
    made = make_noisy_clusters("2-class", 450, random_state=0)
    assert EMClusterer(8, find_k=True, init="refined", random_state=0).fit(made.X).n_components_ == 1
    assert FSSEM(8, search="all", random_state=0).fit(made.X).n_components_ == 1
    assert FSSEM(8, random_state=0).fit(made.X).n_components_ == 2


@pytest.mark.parametrize("search", ["forward", "backward"])
def test_searches_do_not_depend_on_the_order_of_rows_or_threads(four, search):
    X = four.X[:, :4]
    plain = FSSEM(5, search=search, random_state=0).fit(X)
    threads = FSSEM(5, search=search, random_state=0, n_jobs=2).fit(X)
    np.testing.assert_array_equal(plain.selected_, threads.selected_)
    np.testing.assert_array_equal(plain.labels_, threads.labels_)
    assert {0, 1} <= set(plain.selected_) and plain.n_components_ == 4
    turned = FSSEM(5, search=search, random_state=0).fit(X[::-1])
    assert {0, 1} <= set(turned.selected_) and turned.n_components_ == 4


def test_backward_elimination_ends_with_fewer_features(four):
    model = FSSEM(search="backward", random_state=0).fit(four.X)
    assert len(model.selected_) < 5 and {0, 1} <= set(model.selected_)
    assert model.history_[0].features == (0, 1, 2, 3, 4)


def test_max_features_ends_the_search(four):
    assert len(FSSEM(max_features=1, random_state=0).fit(four.X).selected_) == 1


def test_kmeans_wrapper_chooses_the_petals():
    X, y = load_iris(return_X_y=True)
    model = FSSEM(3, find_k=False, criterion="ml", clusterer="kmeans", init="random", random_state=0).fit(X)
    assert set(model.selected_) == {2, 3} and class_error(model.labels_, y) < 0.06
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert set(np.unique(model.predict_proba(X))) == {0.0, 1.0}


def test_constant_discrete_and_duplicated_columns(four):
    X = np.c_[four.X[:, :3], np.ones(300), four.y % 2, four.X[:, 0]]
    with pytest.warns(UserWarning, match=r"features \[3, 4\] have too few"):
        model = FSSEM(random_state=0).fit(X)
    np.testing.assert_array_equal(model.rejected_, [False, False, False, True, True, False])
    assert not set(model.selected_) & {3, 4} and np.isfinite(model.criterion_)
    assert model.n_components_ == 4 and {1} < set(model.selected_)
    with pytest.raises(ValueError, match="not constant"):
        FSSEM().fit(np.ones((30, 2)))
    with pytest.warns(UserWarning, match="at most 2 clusters"):
        assert FSSEM(random_state=0).fit(four.y[:, None] % 3).n_components_ <= 2


def test_pipeline_pandas_in_and_out(four):
    frame = pd.DataFrame(four.X, columns=list("abcde"))
    pipe = make_pipeline(StandardScaler(), FSSEM(random_state=0)).set_output(transform="pandas")
    out = pipe.fit_transform(frame)
    assert isinstance(out, pd.DataFrame) and {"a", "b"} <= set(out.columns)
    assert list(out.columns) == list(pipe[-1].get_feature_names_out(list("abcde")))
    assert pipe.predict(frame).shape == (300,)


def test_units_change_nothing(four):
    plain = em(four.X, 3, random_state=0)
    for unit in (1e-8, 1e8):
        other = em(four.X * unit, 3, random_state=0)
        assert other.log_likelihood == pytest.approx(plain.log_likelihood - 1500 * np.log(unit), abs=0.01)
    moved = em(four.X + 1e6, 3, random_state=0)
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood, abs=0.01)
    np.testing.assert_allclose(moved.means - 1e6, plain.means, atol=1e-3)


@pytest.mark.parametrize(("name", "population"), [("2-class", 0.0668), ("3-class", 0.200), ("4-class", 0.026)])
def test_bayes_errors_of_the_mixtures(name, population):
    made = make_noisy_clusters(name, 40_000, random_state=0)
    assert made.bayes_error() == pytest.approx(population, abs=4 * np.sqrt(population / 40_000) + 5e-4)
    assert made.X.shape == (40_000, 5) and np.ptp(np.bincount(made.y)) <= 1
    np.testing.assert_allclose(made.X[:, 2:].std(axis=0), 1, atol=0.02)


def test_the_five_class_mixtures_have_their_features_where_the_source_says():
    made = make_noisy_clusters("5-class, 5 relevant", 2000, random_state=0)
    assert [f + 1 for f in made.relevant] == [1, 10, 18, 19, 20]
    spread = made.X.std(axis=0)
    assert spread[list(made.relevant)].min() > 1.15 > np.delete(spread, made.relevant).max()
    other = make_noisy_clusters("5-class, 15 relevant", 10, random_state=0)
    assert [f + 1 for f in other.relevant] == [1, 2, 3, 5, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 20]
    assert made.bayes_error() < 0.05


def test_erratum_only_the_second_feature_of_the_two_class_mixture_is_informative():
    made = make_noisy_clusters("2-class", 20_000, random_state=0)
    gap = np.abs(made.X[made.y == 0].mean(axis=0) - made.X[made.y == 1].mean(axis=0))
    assert gap[1] > 2.9 and np.delete(gap, 1).max() < 0.1
    assert recall_precision(range(5), [1])[1] == 0.2 and recall_precision(range(5), made.relevant)[1] == 0.4


def test_erratum_the_printed_bayes_errors_are_those_of_a_sample():
    """5.4 and 3.4 percent of 500 are within the scatter of samples around 6.7 and 2.6 percent."""
    for name, printed, population in (("2-class", 0.054, 0.0668), ("4-class", 0.034, 0.026)):
        errors = [make_noisy_clusters(name, 500, random_state=s).bayes_error() for s in range(60)]
        assert np.mean(errors) == pytest.approx(population, abs=0.004)
        assert min(errors) < printed < max(errors) and abs(printed - population) > 0.007


def test_class_error_by_hand():
    assert class_error([0, 0, 1, 1], list("aabb")) == 0
    assert class_error([7, 7, 7], [1, 1, 2]) == pytest.approx(1 / 3)
    assert class_error([0, 0, 1], list("aab"), [0, 1, 5], list("abb")) == pytest.approx(1 / 3)


def test_cross_validation_learns_on_the_other_folds_only(four):
    """An estimator that remembers its training rows is never asked about them in the test fold."""

    class Memory(EMClusterer):
        def fit(self, X, y=None):
            self.rows_ = {tuple(row) for row in X}
            self.n_components_ = 2
            return self

        def predict(self, X):
            return np.array([tuple(row) in self.rows_ for row in X]).astype(int)

    found = cv_class_error(Memory(2), four.X, four.y, cv=5, random_state=0)
    # unknown cluster: the most frequent class of four, so about three quarters are wrong
    assert found.error.mean() > 0.6 and found.n_features.tolist() == [5] * 5
    ours = cv_class_error(FSSEM(random_state=0), four.X, four.y, cv=5, random_state=0)
    assert ours.error.mean() < 0.08 and (ours.n_clusters == 4).all() and (ours.n_features < 5).all()


X4, Z4 = np.array([[0.0], [1.0], [5.0], [6.5]]), np.eye(2)[[0, 0, 1, 1]]
M2 = ([0.5, 0.5], [[0.0], [1.0]], [[[1.0]], [[1.0]]])
REFUSED = {
    "em NaN": (lambda: em([[np.nan]], 1), "X must be finite"),
    "em constant": (lambda: em(np.ones((4, 1)), 1), "X must have no constant column"),
    "em too many": (lambda: em(X4, 5), "n_components must be"),
    "em init": (lambda: em(X4, 2, init="x"), "init must be"),
    "em memberships": (lambda: em(X4, 2, memberships=Z4[:3]), "memberships must have shape"),
    "em shares": (lambda: em(X4, 2, memberships=2 * Z4), "memberships must have rows that sum to 1"),
    "em tol": (lambda: em(X4, 2, tol=-1), "tol must be"),
    "em reg_covar": (lambda: em(X4, 2, reg_covar=0), "reg_covar must be"),
    "em restarts": (lambda: em(X4, 2, n_restarts=0), "n_restarts must be"),
    "em large": (lambda: em(X4 * 1e200, 2), "X must have a largest"),
    "em_k": (lambda: em_k(X4, 0), "max_components must be"),
    "m_step": (lambda: m_step(X4[:, 0], Z4), "X must have 2 dimension"),
    "merge shape": (lambda: merge_components(M2[0], M2[1], [[[1.0]]], 0, 1), "covariances must have shape"),
    "merge means": (lambda: merge_components(M2[0], [[0.0]], M2[2], 0, 1), "means must have a row"),
    "merge indefinite": (lambda: merge_costs(M2[0], M2[1], [[[-1.0]], [[1.0]]], 5), "covariances must be positive"),
    "merge weights": (lambda: merge_costs([0.0, 1.0], M2[1], M2[2], 5), "weights must be positive"),
    "trace empty": (lambda: trace_criterion(np.zeros((0, 2)), np.zeros((0, 1))), "X must have at least 1 row"),
    "ml reg": (lambda: ml_criterion(X4, Z4, reg_covar=-1), "reg_covar must be"),
    "bias weights": (lambda: dimension_bias([[[1.0]]], [0.5], 0), "weights must"),
    "bias indefinite": (lambda: dimension_bias([[[0.0]]], [1.0], 0), "covariances must be positive"),
    "table shape": (lambda: normalized_values([1.0, 2.0]), "table must be a 2 x 2"),
    "table sign": (lambda: normalized_values([[-1, 1], [1, 1]]), "table must not be negative"),
    "criterion": (lambda: normalized_values(np.eye(2), "x"), "criterion must be"),
    "columns": (lambda: cross_projection(X4, [1], Z4, [0], Z4), "first must hold column numbers"),
    "columns twice": (lambda: cross_projection(X4, [0], Z4, [0, 0], Z4), "second must hold different"),
    "rows": (lambda: cross_projection(X4, [0], Z4[:2], [0], Z4), "memberships_first must have shape"),
    "recall": (lambda: recall_precision([], [0]), "selected must hold"),
    "FSSEM criterion": (lambda: FSSEM(criterion="x").fit(X4), "criterion must be"),
    "FSSEM search": (lambda: FSSEM(search="x").fit(X4), "search must be"),
    "FSSEM clusterer": (lambda: FSSEM(clusterer="x").fit(X4), "clusterer must be"),
    "FSSEM flag": (lambda: FSSEM(normalize=1).fit(X4), "normalize must be True or False"),
    "FSSEM k": (lambda: FSSEM(0).fit(X4), "n_components must be"),
    "FSSEM features": (lambda: FSSEM(max_features=0).fit(X4), "max_features must be"),
    "EMClusterer": (lambda: EMClusterer(find_k="yes").fit(X4), "find_k must be True or False"),
}


@pytest.mark.parametrize("call", REFUSED)
def test_bad_input_is_refused_by_name(call):
    run, message = REFUSED[call]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            run()
