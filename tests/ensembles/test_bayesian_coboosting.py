"""Bayesian co-boosting: the claims of Wu and Cheng (2014), and what may go wrong."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets.motion import make_skeleton_gestures
from learnable.datasets.sequences import make_two_view_sequences
from learnable.ensembles.bayesian_coboosting import (
    BayesianCoBoost,
    HMMClassifier,
    LateFusion,
    WeightedGaussianHMM,
    class_accuracy,
    coboost_update,
    fusion_ratios,
    joint_sums,
    normalise_skeleton,
    skeleton_features,
    stack_sequences,
)
from learnable.latent.hmm import HMM, baum_welch, forward_backward
from learnable.latent.hmm._batch import Batch

S = np.array([10, 1, 4, 2, 3, 2.5, 1, 12])
BONES = [(0, 3), (3, 1), (1, 2), (1, 4), (4, 5), (1, 6), (6, 7), (0, 8), (8, 9), (0, 10), (10, 11)]
PLANE = (4, 6, 0)


def sequences(n=6, d=2, seed=0, lengths=(3, 9)):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(*lengths), d)) + np.arange(d) for _ in range(n)]


def quiet(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*args, **kwargs)


@pytest.fixture(scope="module")
def gestures():
    made = make_two_view_sequences(12, n_classes=3, n_noise=4, noise=(1.0, 1.5), random_state=0)
    return [stack_sequences(view) for view in made.views], made.target


@parametrize_with_checks(
    [
        WeightedGaussianHMM(2, max_iter=100),
        HMMClassifier(2, max_iter=5),
        BayesianCoBoost(n_rounds=3, n_candidates=2, random_state=0),
        LateFusion(random_state=0),
    ]
)
def test_estimators_follow_the_protocol(estimator, check):
    check(estimator)


# --- hidden Markov models --------------------------------------------------------------------------------------------


def brute_force(hmm, x):
    """Log-likelihood by summing over all paths, and the best path."""
    table = norm.logpdf(x[:, None, :], hmm.means_, np.sqrt(hmm.covariances_)).sum(axis=2)
    return enumerate_paths(hmm, table)


def enumerate_paths(hmm, table):
    scores = {}
    with np.errstate(divide="ignore"):
        start, move = np.log(hmm.startprob_), np.log(hmm.transmat_)
    for path in itertools.product(range(len(start)), repeat=len(table)):
        value = start[path[0]] + table[0, path[0]]
        for t in range(1, len(table)):
            value += move[path[t - 1], path[t]] + table[t, path[t]]
        scores[path] = value
    return logsumexp(list(scores.values())), max(scores, key=scores.get)


@pytest.mark.parametrize("topology", ["ergodic", "left-right"])
def test_forward_backward_agrees_with_enumeration(topology):
    X = sequences(lengths=(5, 6))
    hmm = quiet(WeightedGaussianHMM(2, topology=topology, max_iter=4), X)
    for x in X:
        value, path = brute_force(hmm, x)
        assert hmm.score_samples([x])[0] == pytest.approx(value, rel=1e-10)
        assert hmm.decode([x])[0].tolist() == list(path)
    assert hmm.score(X) == pytest.approx(np.mean([brute_force(hmm, x)[0] for x in X]))


def test_full_covariances_agree_with_enumeration():
    X = sequences(lengths=(5, 6), n=20)
    hmm = quiet(WeightedGaussianHMM(2, covariance_type="full", topology="ergodic", max_iter=4), X)
    laws = [multivariate_normal(m, c) for m, c in zip(hmm.means_, hmm.covariances_, strict=True)]
    table = np.column_stack([law.logpdf(X[0]) for law in laws])
    assert hmm.score_samples(X[:1])[0] == pytest.approx(enumerate_paths(hmm, table)[0], rel=1e-10)
    assert abs(hmm.covariances_[0, 0, 1]) > 1e-3


def one_step(hmm, X, weights):
    """The parameters after one iteration of the engine of learnable.latent.hmm, which knows weights too."""
    return baum_welch(hmm, X, sample_weight=weights, max_iter=1, tol=1e9).hmm


@pytest.mark.parametrize("topology", ["ergodic", "left-right"])
def test_an_iteration_is_that_of_the_engine(topology):
    X, w = sequences(8), np.array([1, 2, 0.5, 3, 0.1, 1, 4, 2])
    fit = {"topology": topology, "reg_covar": 0.0}
    before = quiet(WeightedGaussianHMM(3, max_iter=2, **fit), X, sample_weight=w)
    after = quiet(WeightedGaussianHMM(3, max_iter=3, **fit), X, sample_weight=w)
    reference = one_step(before.to_hmm(), X, w)
    np.testing.assert_allclose(after.transmat_, reference.transmat, atol=1e-10)
    np.testing.assert_allclose(after.startprob_, reference.startprob, atol=1e-10)
    np.testing.assert_allclose(after.means_, reference.emission.means, rtol=1e-9)
    np.testing.assert_allclose(after.covariances_, reference.emission.variances, rtol=1e-7)


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
def test_integer_weights_are_replicated_data(covariance_type):
    X, w = sequences(6), [1, 2, 3, 1, 0, 2]
    model = WeightedGaussianHMM(2, covariance_type=covariance_type, max_iter=10)
    weighted = quiet(model, X, sample_weight=w)
    means, covariances, moves = weighted.means_, weighted.covariances_, weighted.transmat_
    copies = quiet(model, [x for x, k in zip(X, w, strict=True) for _ in range(k)])
    for a, b in ((means, copies.means_), (covariances, copies.covariances_), (moves, copies.transmat_)):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_the_weighted_log_likelihood_never_falls():
    hmm = quiet(
        WeightedGaussianHMM(3, topology="ergodic", reg_covar=0.0, max_iter=40, tol=0.0),
        sequences(20, seed=3),
        sample_weight=np.random.default_rng(0).exponential(size=20),
    )
    assert np.diff(hmm.log_likelihoods_).min() > -1e-9
    assert hmm.log_likelihoods_[-1] > hmm.log_likelihoods_[0] + 0.01


@pytest.mark.parametrize("factor", [1e-200, 7.0, 1e200])
def test_scaling_all_weights_changes_nothing(factor):
    X, w = sequences(6), np.arange(1.0, 7)
    a = quiet(WeightedGaussianHMM(2), X, sample_weight=w)
    b = quiet(WeightedGaussianHMM(2), X, sample_weight=factor * w)
    np.testing.assert_allclose(a.means_, b.means_, rtol=1e-10)
    np.testing.assert_allclose(a.log_likelihoods_, b.log_likelihoods_, rtol=1e-10)


def test_log_likelihoods_are_those_of_the_data():
    X, w = sequences(5), np.array([1.0, 2, 3, 4, 5])
    hmm = quiet(WeightedGaussianHMM(2, max_iter=3), X, sample_weight=w)
    observations = w @ [len(x) for x in X]
    assert hmm.log_likelihoods_[-1] == pytest.approx(w @ hmm.score_samples(X) / observations, rel=1e-10)


def test_improbable_sequences_are_scored_in_logarithms():
    """A left-right chain must pass through a state that explains nothing: probabilities underflow."""
    rng = np.random.default_rng(0)
    X = [np.repeat([[0.0], [100.0], [0.0]], 5, axis=0) + 0.1 * rng.normal(size=(15, 1)) for _ in range(10)]
    hmm = quiet(WeightedGaussianHMM(3, reg_covar=1e-6), X)
    far = np.full((12, 1), 100.0)
    table = norm.logpdf(far, hmm.means_.ravel(), np.sqrt(hmm.covariances_.ravel()))
    reference = forward_backward(HMM(hmm.startprob_, hmm.transmat_), table, "log").log_likelihood
    assert reference < -1e5
    assert hmm.score_samples([far])[0] == pytest.approx(reference, rel=1e-9)
    mixed = quiet(WeightedGaussianHMM(3, reg_covar=1e-6, max_iter=1), X).to_hmm()
    again = quiet(WeightedGaussianHMM(3, reg_covar=0.0, max_iter=2), [*X, far], sample_weight=[1] * 10 + [1e-6])
    assert np.isfinite(again.means_).all() and mixed.n_states == 3


def test_the_logarithmic_step_is_the_engine_s():
    """One iteration on sequences that need logarithms, against the engine."""
    X = [np.repeat([[0.0], [60.0]], 6, axis=0) + 0.1 * np.sin(np.arange(12))[:, None] for _ in range(4)]
    X += [np.full((7, 1), 60.0) + 0.1 * np.cos(np.arange(7))[:, None]]
    w = [1, 1, 1, 1, 0.01]
    before = quiet(WeightedGaussianHMM(2, reg_covar=0.0, max_iter=1), X[:4])
    assert before.score_samples(X[4:])[0] < -5000
    fit = WeightedGaussianHMM(2, reg_covar=0.0)
    fit._check_parameters()
    fit.n_features_in_, fit._centre, fit._scale = 1, before._centre, before._scale
    batch = fit._standardised(stack_sequences(X))
    smoothed = np.empty((len(batch.rows), 2))
    groups = [(slice(0, len(smoothed)), np.array(w, dtype=float), Batch(batch.starts, 2))]
    value, pairs = fit._expectation(before._models, batch.rows, groups, smoothed)
    post = [forward_backward(before.to_hmm(), x, "log") for x in X]
    expected = np.array(w) @ [p.log_likelihood for p in post] + np.log(fit._scale[0]) * (4 * 12 + 0.01 * 7)
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(smoothed[-7:], 0.01 * post[4].smoothed, rtol=1e-6, atol=1e-12)
    assert pairs.sum() == pytest.approx(4 * 11 + 0.01 * 6)
    # In a left-right chain the last sequence must start in the first state; it leaves it at once.
    assert pairs[0, 0, 1] == pytest.approx(4 + 0.01, rel=1e-6)


def test_a_sequence_of_weight_zero_changes_nothing():
    """It is run through the filter all the same, and must leave no trace in the counts."""
    X = sequences(8, lengths=(8, 12))
    with_it = quiet(WeightedGaussianHMM(3, max_iter=4), X, sample_weight=[1] * 7 + [0])
    without = quiet(WeightedGaussianHMM(3, max_iter=4), X[:7])
    np.testing.assert_allclose(with_it.means_, without.means_, rtol=1e-9)
    np.testing.assert_allclose(with_it.covariances_, without.covariances_, rtol=1e-9)
    np.testing.assert_allclose(with_it.transmat_, without.transmat_, rtol=1e-9)


def test_left_right_chains_stay_left_right():
    hmm = quiet(WeightedGaussianHMM(4), sequences(10, lengths=(8, 12)))
    assert hmm.startprob_.tolist() == [1, 0, 0, 0]
    assert (hmm.transmat_[~(np.eye(4) + np.eye(4, k=1)).astype(bool)] == 0).all()
    np.testing.assert_allclose(hmm.transmat_.sum(axis=1), 1)


def test_an_iteration_that_runs_out_warns():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        WeightedGaussianHMM(3, max_iter=2, tol=0).fit(sequences(8))
    assert quiet(WeightedGaussianHMM(1), sequences(8)).converged_


def test_sequences_shorter_than_the_chain_and_constant_columns():
    X = [np.column_stack([x[:2, 0], np.full(2, 5.0)]) for x in sequences(6)]
    model = HMMClassifier(5).fit(X, [0, 1] * 3)
    assert np.isfinite(model.score_classes(X)).all()
    one = quiet(WeightedGaussianHMM(3), [[[1.0, 2.0]]])
    assert np.isfinite(one.means_).all()


def test_an_hmm_for_each_class_from_its_own_sequences(gestures):
    """Algorithm 2: each class's model is that of its sequences alone, with the common floor of the variances."""
    views, y = gestures
    model = HMMClassifier(max_iter=3, tol=0.0, reg_covar=0.0).fit(views[0], y, sample_weight=1.0 + y)
    for c in range(3):
        alone = quiet(WeightedGaussianHMM(max_iter=3, tol=0.0, reg_covar=0.0), views[0].take(y == c))
        np.testing.assert_allclose(
            model.score_classes(views[0])[:, c], alone.score_samples(views[0]), rtol=1e-8, atol=1e-6
        )
    np.testing.assert_array_equal(model.predict(views[0]), model.score_classes(views[0]).argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(views[0]).sum(axis=1), 1)


def test_heavy_weights_pull_the_model():
    low, high = np.zeros((6, 1)), np.full((6, 1), 4.0)
    hmm = quiet(WeightedGaussianHMM(1), [low, high], sample_weight=[3, 1])
    assert hmm.means_[0, 0] == pytest.approx(1.0)


def test_hmm_answers_do_not_depend_on_units_order_or_layout(gestures):
    views, y = gestures
    scale, shift = np.geomspace(1e-8, 1e8, views[0].n_features), np.linspace(-1e4, 1e4, views[0].n_features)
    parts = np.split(views[0].rows, views[0].starts[1:-1])
    plain = HMMClassifier().fit(parts, y)
    moved = HMMClassifier().fit([(p + shift) * scale for p in parts], y)
    back = HMMClassifier().fit([np.asfortranarray(p) for p in parts[::-1]], y[::-1])
    expected = plain.predict_log_proba(parts)
    np.testing.assert_allclose(moved.predict_log_proba([(p + shift) * scale for p in parts]), expected, atol=1e-3)
    np.testing.assert_allclose(back.predict_log_proba(parts), expected, atol=1e-6)


# --- the joint update ------------------------------------------------------------------------------------------------


def bound(S, a1, a2, a3, a4):
    """The bound of Wu and Cheng, term by term."""
    pairs = [(S[0], S[1], a1 * a3), (S[2], S[3], a1 * a4), (S[4], S[5], a2 * a3), (S[6], S[7], a2 * a4)]
    return sum(p / x + q * x for p, q, x in pairs)


def test_the_worked_example_of_the_fixed_point():
    made = fusion_ratios(S)
    assert bound(S, 1, 1, 1, 1) == 35.5
    assert made.bound == pytest.approx(24.59849373, abs=1e-8)
    np.testing.assert_allclose(made.products.ravel(), [3.588355, 1.227950, 0.946801, 0.323999], atol=1e-6)
    assert made.converged and made.residual <= 1e-10
    assert bound(S, *made.ratios.ravel()) == pytest.approx(made.bound, rel=1e-12)
    with pytest.warns(ConvergenceWarning):
        early = fusion_ratios(S, max_iter=3, tol=1e-14)
    np.testing.assert_allclose(early.products, made.products, rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_fixed_point_is_the_global_minimum(seed):
    sums = np.random.default_rng(seed).exponential(size=8) * 10.0 ** np.random.default_rng(seed).integers(-3, 4)
    found = minimize(lambda u: bound(sums / sums.sum(), *np.exp(u)), np.zeros(4), tol=1e-12)
    assert fusion_ratios(sums).bound == pytest.approx(found.fun * sums.sum(), rel=1e-8)


def test_only_products_of_ratios_count():
    made = fusion_ratios(S)
    (a1, a2), (a3, a4) = made.ratios
    assert bound(S, 3 * a1, 3 * a2, a3 / 3, a4 / 3) == pytest.approx(made.bound, rel=1e-12)
    np.testing.assert_allclose(made.products, np.outer(made.ratios[0], made.ratios[1]), rtol=1e-12)


def test_the_sums_are_those_of_the_partition():
    rng = np.random.default_rng(0)
    r, said, own = rng.normal(size=50), rng.random((2, 50)) < 0.5, rng.random(50) < 0.4
    expected = []
    for first, second in ((True, True), (True, False), (False, True), (False, False)):
        inside = (said[0] == first) & (said[1] == second)
        expected += [np.exp(r[inside & own]).sum(), np.exp(-r[inside & ~own]).sum()]
    np.testing.assert_allclose(joint_sums(r, said, own), expected)


def test_one_view_is_the_closed_form():
    made = fusion_ratios([4, 1, 2, 8])
    np.testing.assert_allclose(made.ratios, [[2.0, 0.5]])
    assert made.bound == pytest.approx(2 * (2 + 4))


def test_a_random_second_view_drops_out():
    """Its two ratios are equal, so that the update is that of the first view alone."""
    one = np.array([6.0, 1.5, 1.0, 7.0])
    S = np.stack([0.3 * one.reshape(2, 2), 0.7 * one.reshape(2, 2)], axis=1).ravel()
    made = fusion_ratios(S)
    assert made.ratios[1, 0] == pytest.approx(made.ratios[1, 1], rel=1e-9)
    np.testing.assert_allclose(made.products[:, 0], fusion_ratios(one).ratios[0], rtol=1e-9)


def test_a_perfect_view_needs_smoothing():
    with pytest.raises(ValueError, match="smoothing must be positive"):
        fusion_ratios([5, 0, 5, 0, 0, 5, 0, 5])
    assert np.isfinite(fusion_ratios([5, 0, 5, 0, 0, 5, 0, 5], smoothing=0.5).ratios).all()
    assert fusion_ratios([5, 1, 0, 0, 1, 5, 0, 0]).bound == pytest.approx(4 * np.sqrt(5))
    y = np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="smoothing"):
        coboost_update(np.zeros((4, 2)), [y, y], y, smoothing=0)


def random_rounds(n=120, C=4, n_rounds=25, seed=0, smoothing=0.5):
    """Rounds with two views of changing quality: pairs of updates and their bounds."""
    rng = np.random.default_rng(seed)
    y = rng.integers(C, size=n)
    r = np.full((n, C), np.log(C - 1.0))
    for t in range(n_rounds):
        said = [np.where(rng.random(n) < p, y, rng.integers(C, size=n)) for p in (0.5, (t % 4) / 4)]
        made = coboost_update(r, said, y, smoothing=smoothing)
        yield r, said, y, made
        r = made.log_odds


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("smoothing", [0.0, 0.5, 20.0])
def test_the_bound_never_rises_and_holds_the_errors(smoothing):
    """Theorem 1 for every class and round; with any smoothing the bound does not rise."""
    last = np.inf
    for _, _, y, made in random_rounds(smoothing=smoothing):
        own = y[:, None] == np.arange(4)
        exact = np.exp(np.where(own, made.log_odds, -made.log_odds)).sum(axis=0)
        np.testing.assert_allclose(made.bounds, exact)
        wrong = np.where(own, made.log_odds >= 0, made.log_odds < 0).sum(axis=0)
        np.testing.assert_array_equal(made.errors, wrong)
        assert (made.errors <= made.bounds).all()
        assert (made.bounds <= last * (1 + 1e-9)).all()
        last = made.bounds


def test_all_classes_of_all_instances_are_updated():
    for before, said, y, made in random_rounds(n_rounds=3):
        for c in range(4):
            hit = [np.asarray(s) == c for s in said]
            moves = sum(np.log(np.where(hit[v], *made.ratios[c, v])) for v in range(2))
            np.testing.assert_allclose(made.log_odds[:, c], before[:, c] - moves)
            sums = joint_sums(before[:, c], hit, y == c)
            reference = fusion_ratios(sums, smoothing=0.5 * sums.sum() / len(y))
            np.testing.assert_allclose(np.outer(*made.ratios[c]), reference.products, rtol=1e-5)


def test_weights_are_the_odds_against_the_own_class():
    for _, _, y, made in random_rounds(n_rounds=4):
        expected = np.exp(made.log_odds[np.arange(len(y)), y])
        np.testing.assert_allclose(made.weights, expected / expected.sum())


def test_erratum_the_seventh_term_has_a_ratio():
    """With the printed factor of one, the sum over D_7 would not depend on the ratios."""
    S = np.array([3.0, 1, 2, 1, 1, 2, 6, 1])
    made = fusion_ratios(S)
    x = made.products.ravel()
    assert made.bound == pytest.approx((S[::2] / x + S[1::2] * x).sum(), rel=1e-12)
    printed = (S[::2] / np.append(x[:3], 1.0) + S[1::2] * x).sum()
    assert abs(printed - made.bound) > 1


def test_erratum_updating_own_instances_only_breaks_the_bound():
    """Algorithm 3 as printed: other instances keep their first odds against the class, and some bound rises."""
    rng = np.random.default_rng(1)
    n, C = 60, 3
    y = rng.integers(C, size=n)
    own = y[:, None] == np.arange(C)
    printed, rises = np.full((n, C), np.log(2.0)), 0
    whole = printed
    for _ in range(6):
        said = [np.where(rng.random(n) < 0.5, y, rng.integers(C, size=n)) for _ in range(2)]
        # What the posterior really is moves by the ratios that the printed algorithm finds.
        made = coboost_update(printed, said, y)
        moves = made.log_odds - printed
        before, whole = whole, whole + moves
        bounds = [np.exp(np.where(own, r, -r)).sum(axis=0) for r in (before, whole)]
        rises += int((bounds[1] > bounds[0] * (1 + 1e-9)).any())
        printed = np.where(own, made.log_odds, printed)
    assert rises > 0


def test_erratum_equal_odds_have_a_term_of_one():
    """Views that say nothing leave the odds at one: no error for the others, and terms of exactly one."""
    y = np.array([0, 1, 0, 1])
    made = coboost_update(np.zeros((4, 2)), [[0, 0, 1, 1], [0, 0, 1, 1]], y)
    np.testing.assert_allclose(made.log_odds, 0, atol=1e-12)
    assert made.bounds.tolist() == pytest.approx([4, 4])


def test_three_views_and_huge_odds():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    said = [np.where(rng.random(60) < 0.6, y, rng.integers(3, size=60)) for _ in range(3)]
    made = coboost_update(np.zeros((60, 3)), said, y)
    assert made.ratios.shape == (3, 3, 2) and (made.bounds < 60).all()
    far = coboost_update(rng.normal(scale=300, size=(60, 3)), said, y)
    assert np.isfinite(far.log_odds).all() and far.weights.sum() == pytest.approx(1)


# --- the loop --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weak", [GaussianNB(), DecisionTreeClassifier(max_depth=4, random_state=0)])
def test_the_bound_falls_on_digits(weak):
    """Two halves of noisy digits: the sum of the bounds falls by a factor of ten, and holds the errors."""
    X, y = load_digits(return_X_y=True)
    X = X[:600] + 4 * np.random.default_rng(0).normal(size=(600, 64))
    model = BayesianCoBoost(weak, n_rounds=10, n_candidates=2, random_state=0).fit([X[:, :32], X[:, 32:]], y[:600])
    assert (np.diff(model.bounds_, axis=0) <= 1e-9).all() and (model.class_errors_ <= model.bounds_).all()
    assert model.bounds_[-1].sum() < model.bounds_[0].sum() / 4
    assert model.class_errors_[-1].sum() < model.class_errors_[0].sum() / 2


def test_the_loop_is_the_algorithm(gestures):
    """The rounds of a fitted model, done again by hand from its classifiers."""
    views, y = gestures
    model = BayesianCoBoost(HMMClassifier(2, max_iter=3), n_rounds=4, n_candidates=2, random_state=1).fit(views, y)
    weights, r = np.full(len(y), 1 / len(y)), np.full((len(y), 3), np.log(2.0))
    tally = np.zeros((len(y), 3))
    for t in range(4):
        np.testing.assert_allclose(model.weight_path_[t], weights)
        said = [
            m.predict(v.columns(f)) for m, v, f in zip(model.estimators_[t], views, model.features_[t], strict=True)
        ]
        errors = [weights @ (s != y) for s in said]
        np.testing.assert_allclose(model.weighted_errors_[t], errors)
        for s, e in zip(said, np.maximum(errors, 0.5 / len(y)), strict=True):
            tally[np.arange(len(y)), s] += max(0.0, np.log((1 - e) / e))
        made = coboost_update(r, said, y)
        r, weights = made.log_odds, made.weights
    np.testing.assert_array_equal(model.predict(views), tally.argmax(axis=1))
    model.set_params(decision="posterior")
    np.testing.assert_allclose(model.staged_scores(views)[-1], -r, atol=1e-9)
    np.testing.assert_array_equal(model.predict(views), r.argmin(axis=1))


def test_the_best_candidate_is_kept():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = np.column_stack([rng.normal(size=(200, 9)), y + 0.1 * rng.normal(size=200)])
    model = BayesianCoBoost(n_rounds=1, n_candidates=60, feature_ratio=0.1, random_state=0).fit(X, y)
    assert model.features_[0][0].tolist() == [9]
    assert model.feature_counts_[0].tolist() == [0] * 9 + [1]


def test_subsets_have_the_sizes_of_the_source():
    """39 × 50 % is 20, 138 × 15 % is 21, 68 × 20 % is 14, 120 × 15 % is 18; one candidate takes everything."""
    rng, y = np.random.default_rng(0), np.arange(20) % 2
    for (d1, d2), ratios, sizes in (((39, 138), (0.5, 0.15), (20, 21)), ((68, 120), (0.2, 0.15), (14, 18))):
        views = [rng.normal(size=(20, d)) for d in (d1, d2)]
        model = BayesianCoBoost(n_rounds=1, n_candidates=(2, 2), feature_ratio=ratios, random_state=0).fit(views, y)
        assert tuple(len(columns) for columns in model.features_[0]) == sizes
    assert BayesianCoBoost(n_rounds=1, n_candidates=1).fit(views, y).features_ == [[None, None]]


def test_one_view_by_adaboost():
    """Weights of right answers are multiplied by ε / (1 - ε); SAMME adds ln(C - 1) to the vote."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    for vote, offset in (("plain", 0.0), ("samme", np.log(9))):
        model = BayesianCoBoost(tree, n_rounds=3, n_candidates=1, update="adaboost", vote=vote, random_state=0).fit(
            X, y
        )
        error = model.weighted_errors_[0, 0]
        right = model.estimators_[0][0].predict(X) == y
        expected = np.where(right, error / (1 - error) * np.exp(-offset), 1.0)
        np.testing.assert_allclose(model.weight_path_[1], expected / expected.sum())
        assert model.vote_weights_[0, 0] == pytest.approx(np.log((1 - error) / error) + offset)


def test_a_classifier_worse_than_one_half_has_no_plain_vote():
    X, y = load_digits(return_X_y=True)
    stump = DecisionTreeClassifier(max_depth=1)
    plain = BayesianCoBoost(stump, n_rounds=2, random_state=0).fit(X[:200, :10], y[:200])
    assert (plain.weighted_errors_ > 0.5).all()
    assert (plain.vote_weights_ == 1).all()
    samme = BayesianCoBoost(stump, n_rounds=2, vote="samme", random_state=0).fit(X[:200, :10], y[:200])
    assert ((0 < samme.vote_weights_) & (samme.vote_weights_ < np.log(9))).all()


def test_use_picks_views(gestures):
    views, y = gestures
    weak = HMMClassifier(2, max_iter=3)
    both = BayesianCoBoost(weak, n_rounds=2, use=[1], n_candidates=(1, 2), random_state=0).fit(views, y)
    alone = BayesianCoBoost(weak, n_rounds=2, n_candidates=2, random_state=0).fit([views[1]], y)
    np.testing.assert_array_equal(both.predict(views), alone.predict([views[1]]))
    assert both.view_shares_.tolist() == [1.0]
    single = BayesianCoBoost(weak, n_rounds=1, use=[0], n_candidates=1, random_state=0).fit(views, y)
    np.testing.assert_array_equal(
        single.predict(views), HMMClassifier(2, max_iter=3).fit(views[0], y).predict(views[0])
    )


def test_random_subsets_help_where_dimensions_are_noisy():
    """The source's main finding, on the stand-in: two standard errors of 240 test gestures."""
    made = make_two_view_sequences(80, random_state=0)
    view, y = stack_sequences(made.views[0]), made.target
    train = np.arange(len(y)) % 80 < 40
    score = {}
    for name, more in (("all", {"n_candidates": 1}), ("subsets", {"n_candidates": 3, "feature_ratio": 0.3})):
        model = BayesianCoBoost(HMMClassifier(max_iter=8), n_rounds=6, update="adaboost", random_state=0, **more)
        score[name] = np.mean(model.fit([view.take(train)], y[train]).predict([view.take(~train)]) == y[~train])
    assert score["subsets"] > score["all"] + 2 * np.sqrt(0.16 / 240)


def test_late_fusion_chooses_the_better_view():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    good, bad = y[:, None] + 0.3 * rng.normal(size=(90, 2)), rng.normal(size=(90, 2))
    made = LateFusion(GaussianNB(), random_state=0).fit([bad, good], y)
    assert made.share_ < 0.5 and made.cv_accuracies_[0] > 0.9 > 2 * made.cv_accuracies_[-1]
    tables = [m.predict_proba(v) for m, v in zip(made.estimators_, (bad, good), strict=True)]
    fused = made.share_ * tables[0] + (1 - made.share_) * tables[1]
    np.testing.assert_array_equal(made.predict([bad, good]), fused.argmax(axis=1))
    product = LateFusion(GaussianNB(), rule="product", shares=[0.5], random_state=0).fit([bad, good], y)
    np.testing.assert_array_equal(product.predict([bad, good]), (np.log(tables[0]) + np.log(tables[1])).argmax(axis=1))


def test_the_same_seed_gives_the_same_model_and_inputs_stay(gestures):
    views, y = gestures
    rows = views[0].rows.copy()
    weak = HMMClassifier(2, max_iter=2)
    made = [BayesianCoBoost(weak, n_rounds=2, n_candidates=2, random_state=5).fit(views, y) for _ in range(2)]
    np.testing.assert_array_equal(made[0].weight_path_, made[1].weight_path_)
    np.testing.assert_array_equal(views[0].rows, rows)
    names = np.array(["wave", "point", "clap"])[y]
    assert set(BayesianCoBoost(weak, n_rounds=1, random_state=0).fit(views, names).predict(views)) <= set(names)


# --- skeletons and tables --------------------------------------------------------------------------------------------


def test_skeleton_features_have_138_dimensions():
    x = make_skeleton_gestures(1, n_classes=1, random_state=0).data[0]
    made = skeleton_features(x, BONES, plane=PLANE)
    assert made.shape == (len(x), 138)
    assert (made[0, 69:] == 0).all()
    np.testing.assert_allclose(made[1:, 69:], np.diff(made[:, :69], axis=0))


@pytest.mark.parametrize("size", [1e-8, 1.3, 1e8])
def test_skeleton_features_do_not_depend_on_place_turn_and_size(size):
    x = make_skeleton_gestures(1, n_classes=1, random_state=0).data[0]
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    moved = (x @ turn.T + [3.0, -2.0, 1.0]) * size
    a, b = (skeleton_features(z, BONES, plane=PLANE) for z in (x, moved))
    np.testing.assert_allclose(a, b, atol=1e-10)


def test_normalised_skeletons_have_what_the_appendix_asks():
    x = make_skeleton_gestures(1, n_classes=1, random_state=0).data[0]
    made = normalise_skeleton(x, BONES, origin=3, plane=PLANE)
    assert np.abs(made[:, 3]).max() == 0
    heights = made[:, list(PLANE), 2]
    np.testing.assert_allclose(heights - heights[:, :1], 0, atol=1e-12)
    edges = made[:, list(PLANE[1:])] - made[:, PLANE[:1]]
    np.testing.assert_allclose(edges[:, 0, 1], 0, atol=1e-12)
    assert (edges[:, 0, 0] > 0).all() and (edges[:, 1, 1] > 0).all()  # turned, not mirrored
    lengths = sum(np.linalg.norm(made[:, a] - made[:, b], axis=1) for a, b in BONES)
    np.testing.assert_allclose(lengths, 1)
    with pytest.raises(ValueError, match="not on one line"):
        normalise_skeleton(np.arange(9.0).reshape(1, 3, 3), [(0, 1)])


def test_the_interval_is_that_of_the_tables():
    """Table 1 prints 0.0273 beside a deviation of 0.0584 over 20 classes, Table 2 0.0300 beside 0.0420 over 10."""
    for C, sd, conf in ((20, 0.0584, 0.0273), (20, 0.0173, 0.0081), (10, 0.0420, 0.0300), (10, 0.1283, 0.0918)):
        y = np.repeat(np.arange(C), 10_000)
        hits = 0.8 + sd * np.sqrt((C - 1) / C) * np.where(np.arange(C) % 2 == 0, 1, -1)
        wrong = np.arange(len(y)) % 10_000 >= np.round(hits * 10_000)[y]
        made = class_accuracy(y, np.where(wrong, -1, y))
        assert made.sd == pytest.approx(sd, abs=2e-4) and made.halfwidth == pytest.approx(conf, abs=2e-4)
        assert made.mean == pytest.approx(0.8, abs=1e-3)


# --- bad input -------------------------------------------------------------------------------------------------------

X2, Y2 = [np.zeros((4, 2)) + np.arange(4)[:, None], np.ones((4, 1))], [0, 0, 1, 1]
REFUSED = {
    "n_components": lambda: WeightedGaussianHMM(0).fit(sequences()),
    "covariance_type": lambda: WeightedGaussianHMM(covariance_type="tied").fit(sequences()),
    "topology": lambda: HMMClassifier(topology="ring").fit(sequences(4), Y2),
    "reg_covar": lambda: WeightedGaussianHMM(reg_covar=-1).fit(sequences()),
    "sample_weight": lambda: WeightedGaussianHMM().fit(sequences(4), sample_weight=[0, 0, 0, 0]),
    r"X\[1\]": lambda: stack_sequences([np.zeros((2, 1)), np.full((2, 1), np.nan)]),
    "one dimension": lambda: stack_sequences([np.zeros((2, 1)), np.zeros((2, 2))]),
    "y must have one label": lambda: HMMClassifier().fit(sequences(4), [0, 1]),
    "X has 3 features": lambda: HMMClassifier().fit(sequences(4), Y2).predict(sequences(4, d=3)),
    "8 for two": lambda: fusion_ratios([1, 2, 3]),
    "non-negative": lambda: fusion_ratios([1, 2, 3, -1]),
    "said must be": lambda: joint_sums([0.0], [[1]], [True]),
    "own must be": lambda: joint_sums([0.0], [[True]], [1]),
    "log_odds": lambda: joint_sums([1e4], [[True]], [True]),
    "predictions": lambda: coboost_update(np.zeros((2, 2)), [[0, 2]], [0, 1]),
    "y must be integers": lambda: coboost_update(np.zeros((2, 2)), [[0, 1]], [0.0, 1.0]),
    "same instances": lambda: BayesianCoBoost().fit([X2[0], X2[1][:3]], Y2),
    "two classes": lambda: BayesianCoBoost().fit(X2, [1, 1, 1, 1]),
    "update must be 'joint'": lambda: BayesianCoBoost(update="adaboost").fit(X2, Y2),
    "feature_ratio": lambda: BayesianCoBoost(feature_ratio=0).fit(X2, Y2),
    "n_candidates": lambda: BayesianCoBoost(n_candidates=(1, 2, 3, 4, 5)[:1]).fit(X2, Y2),
    "use must name": lambda: BayesianCoBoost(use=[2]).fit(X2, Y2),
    "use must be different": lambda: BayesianCoBoost(use=[0, 0]).fit(X2, Y2),
    "weak must be": lambda: BayesianCoBoost(weak=3).fit(X2, Y2),
    "at most two views": lambda: LateFusion().fit([*X2, X2[0]], Y2),
    "shares": lambda: LateFusion(shares=[2]).fit(X2, Y2),
    "at least two instances": lambda: LateFusion().fit(X2, [0, 1, 1, 1]),
    "bones": lambda: skeleton_features(np.zeros((2, 4, 3)), [(0, 9)]),
    "all bones": lambda: skeleton_features(np.zeros((2, 4, 3)), [(0, 1)]),
    "plane must be three": lambda: skeleton_features(np.zeros((2, 4, 3)), [(0, 1)], plane=(0, 0, 1)),
    "origin and plane": lambda: skeleton_features(np.zeros((2, 4, 3)), [(0, 1)], origin=7),
    r"shape \(length, J, 3\)": lambda: skeleton_features(np.zeros((2, 4, 2)), [(0, 1)]),
    "y_pred": lambda: class_accuracy([0, 1], [0]),
    "level": lambda: class_accuracy([0, 1], [0, 1], level=1),
}


@pytest.mark.parametrize("message", REFUSED)
def test_bad_input_is_refused(message):
    with pytest.raises((ValueError, TypeError), match=message):
        REFUSED[message]()
