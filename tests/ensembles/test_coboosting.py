"""Bayesian co-boosting: the claims of Wu and Cheng (2014), and what may go wrong."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets.sequences import make_two_view_sequences
from learnable.ensembles import BayesianCoBoost, HMMClassifier, LateFusion, WeightedGaussianHMM
from learnable.ensembles.coboosting import coboost_update, stack_sequences
from learnable.latent.hmm import HMM, baum_welch, forward_backward
from learnable.latent.hmm._batch import Batch


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


def test_weights_are_the_odds_against_the_own_class():
    for _, _, y, made in random_rounds(n_rounds=4):
        expected = np.exp(made.log_odds[np.arange(len(y)), y])
        np.testing.assert_allclose(made.weights, expected / expected.sum())


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


def test_sequences_are_taken_by_index_mask_or_slice():
    batch = stack_sequences([[[0.0], [1.0]], [[2.0]], [[3.0]]])
    for chosen in ([2, 0], np.array([2, 0], dtype=np.uint8), slice(None, None, -2)):
        assert batch.take(chosen).rows.ravel().tolist() == [3, 0, 1]
    assert batch.take([False, True, True]).rows.ravel().tolist() == [2, 3]
    assert len(batch.take([])) == 0
    for bad in ([3], [-1], [True], [0.5], ["a"], 0, None, np.zeros((1, 1), int)):
        with pytest.raises(ValueError, match="chosen must"):
            batch.take(bad)


class Says(ClassifierMixin, BaseEstimator):
    """Reads the class from the first column of a view and adds `shift` to it."""

    def __init__(self, shift=0):
        self.shift = shift

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.eye(len(self.classes_))[self.predict(X)]

    def predict(self, X):
        return (X[:, 0].astype(int) + self.shift) % len(self.classes_)


@pytest.mark.parametrize("vote", ["samme", "plain"])
def test_votes_of_views_that_are_never_wrong_and_always_wrong(vote):
    """Half an instance stands for no error; a view that is worse than chance has no vote, not a negative one."""
    y = np.arange(12) % 3
    views = [y[:, None].astype(float), ((y + 1) % 3)[:, None].astype(float)]
    model = quiet(BayesianCoBoost(weak=Says(), n_rounds=2, vote=vote, random_state=0), views, y)
    np.testing.assert_allclose(model.weighted_errors_, [[0, 1]] * 2, atol=1e-12)
    best = np.log(23) + (np.log(2) if vote == "samme" else 0)
    np.testing.assert_allclose(model.vote_weights_, [[best, 0]] * 2)
    assert (model.predict(views) == y).all()


@pytest.mark.parametrize("reg_covar", [1e-3, 0.5])
def test_reg_covar_is_added_to_the_variances(reg_covar):
    """With one state the estimate before is the variance of the column, so that the sum is known."""
    made = stack_sequences(sequences())
    model = quiet(WeightedGaussianHMM(1, reg_covar=reg_covar), made)
    np.testing.assert_allclose(model.covariances_[0], (1 + reg_covar) * made.rows.var(axis=0), rtol=1e-9)
