"""Boosting against brute force, closed forms, linear programmes and scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression

from learnable.ensembles import (
    AdaBoost,
    GradientBoost,
    LogitBoost,
)
from learnable.ensembles.margins import minimax_margin
from learnable.ensembles.weak_learners import (
    TreeERM,
    stump_outputs,
)


def noisy_sample(seed=0, n=200, d=4, noise=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where((X[:, 0] > 0.2) ^ (X[:, -2] + X[:, -1] > 0.5), 1, -1)
    return X, np.where(rng.random(n) < noise, -y, y)


def brute_force_error(X, y, D):
    best = min(D[y < 0].sum(), D[y > 0].sum())
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            wrong = D[np.where(column > cut, 1, -1) != y].sum()
            best = min(best, wrong, D.sum() - wrong)
    return best


def test_ten_points_by_hand():
    X, y = np.arange(10.0)[:, None], np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, -1])
    D = np.full(10, 0.1)
    model = AdaBoost(n_rounds=3).fit(X, y)
    for t, rule in enumerate(model.rules_):
        h = rule.predict(X)
        error = D[h != y].sum()
        alpha = 0.5 * np.log((1 - error) / error)
        assert error == pytest.approx(brute_force_error(X, y, D), abs=1e-12)
        assert model.errors_[t] == pytest.approx(error, abs=1e-12)
        assert model.alphas_[t] == pytest.approx(alpha, abs=1e-12)
        # Both forms of the update give the same weights.
        D = D * np.exp(2 * alpha * (y != h)) if t % 2 else D * np.exp(-alpha * y * h)
        D /= D.sum()
    assert model.weights_ == pytest.approx(D, abs=1e-14)
    assert (model.predict(X) == y).all()


def test_claim_05_stagewise_exponential_loss():
    X, y = noisy_sample(6, n=60, d=2)
    H = stump_outputs(X)
    model = AdaBoost(base="columns", n_rounds=12).fit(H, y)
    f = np.zeros(60)
    grid = np.linspace(-2, 2, 401)
    for t, (alpha, rule) in enumerate(zip(model.alphas_, model.rules_, strict=True)):
        w = np.exp(-y * f)
        wrong = w @ (H != y[:, None])
        tries = np.outer(np.exp(grid), wrong) + np.outer(np.exp(-grid), w.sum() - wrong)
        chosen = np.sum(np.exp(-y * (f + alpha * rule.predict(H))))
        assert chosen <= tries.min() + 1e-9
        f += alpha * rule.predict(H)
        product = 60 * np.prod(model.normalisers_[: t + 1])
        D = np.exp(-y * f) / product
        assert D.sum() == pytest.approx(1, abs=1e-12)
    assert model.weights_ == pytest.approx(D, abs=1e-12)


def test_many_rounds_on_separable_data_do_not_drift():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaBoost(n_rounds=10_000).fit(X, y)
    assert len(model.alphas_) == 10_000
    assert model.weights_.sum() == pytest.approx(1, abs=1e-12)
    assert np.isfinite(model.train_scores_).all()
    assert (y * model.train_scores_).min() > 700  # exp of it would underflow
    last = model.rules_[-1].predict(X)
    assert model.weights_[last != y].sum() == pytest.approx(0.5, abs=1e-9)
    rho = minimax_margin(stump_outputs(X), y).value
    smallest = model.normalised_margins(X, y).min()
    assert 0.9 * rho < smallest <= rho + 1e-9


def test_perfect_useless_and_early_stopped_rules():
    X, y = np.arange(6.0)[:, None], np.array([-1, -1, -1, 1, 1, 1])
    model = AdaBoost(n_rounds=10).fit(X, y)
    assert model.alphas_.tolist() == [1.0]
    assert "perfect" in model.stopped_
    assert (model.predict(X) == y).all()
    xor = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="coin"):
        AdaBoost().fit(xor, [0, 1, 1, 0])
    with pytest.raises(ValueError, match="coin"):
        LogitBoost().fit(xor, [0, 1, 1, 0])
    Z, z = noisy_sample(1, n=100)
    assert len(AdaBoost(nu=0.5).fit(Z, z).alphas_) == 10


def test_votes_of_stumps_are_step_functions():
    X, y = noisy_sample(26)
    model = AdaBoost(n_rounds=150).fit(np.round(X, 1), y)
    Z = np.concatenate([np.round(X, 1), [[rule.threshold] * 4 for rule in model.rules_]])
    slow = sum(alpha * rule.predict(Z) for alpha, rule in zip(model.alphas_, model.rules_, strict=True))
    assert model.decision_function(Z) == pytest.approx(slow, abs=1e-12)
    assert model.staged_decision_function(Z)[-1] == pytest.approx(slow, abs=1e-12)
    assert model.train_scores_ == pytest.approx(slow[: len(y)], abs=1e-12)
    constant = AdaBoost(n_rounds=30).fit(X[:, :1], np.where(np.arange(200) % 5, 1, -1))
    assert any(rule.feature < 0 for rule in constant.rules_)
    assert constant.decision_function(X[:, :1]) == pytest.approx(constant.train_scores_, abs=1e-12)


def test_weights_of_examples_are_copies():
    X, y = noisy_sample(12, n=60)
    times = np.random.default_rng(12).integers(1, 4, 60)
    weighted = AdaBoost(n_rounds=20).fit(X, y, times)
    copied = AdaBoost(n_rounds=20).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.alphas_ == pytest.approx(copied.alphas_)
    assert weighted.train_scores_ == pytest.approx(copied.decision_function(X))


def test_scikit_learn_counts_votes_twice():
    X, y = noisy_sample(13, d=2)
    ours = AdaBoost(base=TreeERM(1), n_rounds=10).fit(X, y)
    peer = AdaBoostClassifier(n_estimators=10).fit(X.astype(np.float32), y)
    assert 2 * ours.alphas_ == pytest.approx(peer.estimator_weights_[: len(ours.alphas_)], rel=1e-5)


def test_claim_10_gradient_boosting_the_exponential_is_adaboost():
    X, y = noisy_sample(14)
    ada, gradient = AdaBoost(n_rounds=60).fit(X, y), GradientBoost("exponential", n_rounds=60).fit(X, y)
    assert ada.rules_ == gradient.rules_
    assert gradient.alphas_ == pytest.approx(ada.alphas_, abs=1e-8)
    assert gradient.train_scores_ == pytest.approx(ada.train_scores_, abs=1e-8)


def test_claim_11_variants_and_probabilities():
    X, y = noisy_sample(17)
    one, two = LogitBoost(1, n_rounds=30).fit(X, y), LogitBoost(2, n_rounds=30).fit(X, y)
    # φ(2t) has the same path at half the scale: the same probabilities.
    assert two.alphas_ == pytest.approx(one.alphas_ / 2, abs=1e-7)
    assert two.predict_proba(X) == pytest.approx(one.predict_proba(X), abs=1e-6)
    assert one.predict_proba(X)[:, 1] == pytest.approx(expit(one.decision_function(X)))
    ada = AdaBoost(n_rounds=30).fit(X, y)
    assert ada.predict_proba(X)[:, 1] == pytest.approx(expit(2 * ada.decision_function(X)))
    constant = LogitBoost(n_rounds=30, step=0.5).fit(X, y)
    assert constant.alphas_ == pytest.approx(np.full(len(constant.alphas_), 0.5))
    borrowed = LogitBoost(n_rounds=5, step="adaboost").fit(X, y)
    assert borrowed.alphas_ == pytest.approx(0.5 * np.log(1 / borrowed.errors_ - 1))


def additive_odds(n, rng):
    X = rng.normal(size=(n, 5))
    odds = 1.5 * np.sign(X[:, 0]) + 1.0 * np.sign(X[:, 1] - 0.3) + 0.8 * X[:, 2]
    return X, np.where(rng.random(n) < expit(odds), 1, -1), odds


def calibration_slope(score, y):
    model = LogisticRegression(C=np.inf).fit(score[:, None], y)
    return float(model.coef_[0, 0])


def test_claim_11_adaboost_becomes_overconfident():
    rng = np.random.default_rng(18)
    X, y, _ = additive_odds(1000, rng)
    Z, z, _ = additive_odds(20_000, rng)
    logit = LogitBoost(n_rounds=25).fit(X, y)
    assert calibration_slope(logit.decision_function(Z), z) == pytest.approx(1, abs=0.15)
    scores = 2 * AdaBoost(n_rounds=400).fit(X, y).staged_decision_function(Z)
    slopes = [calibration_slope(scores[t - 1], z) for t in (25, 100, 400)]
    assert slopes[0] > slopes[1] > slopes[2]
    assert slopes[2] < 0.6


def test_claim_14_early_stopping_is_what_makes_it_consistent():
    def sample(n, rng):
        X = rng.random((n, 2))
        y = np.where(X.sum(axis=1) > 1, 1, -1)
        return X, np.where(rng.random(n) < 0.2, -y, y)

    rng = np.random.default_rng(23)
    Z, z = sample(4000, rng)
    early, late = {}, []
    for n in (50, 800):
        tests = []
        for _ in range(8):
            X, y = sample(n, rng)
            tests.append(np.mean(AdaBoost(nu=0.5).fit(X, y).predict(Z) != z))
            if n == 50:
                late.append(np.mean(AdaBoost(n_rounds=20 * n).fit(X, y).predict(Z) != z))
        early[n] = np.mean(tests)
    assert early[800] < early[50] - 0.01
    assert early[800] < 0.28
    assert np.mean(late) > early[50] + 0.015


def test_erratum_weights_have_the_next_index():
    X, y = noisy_sample(24, n=40)
    two, three = (AdaBoost(n_rounds=t).fit(X, y) for t in (2, 3))
    left = np.exp(-y * three.train_scores_)
    product = 40 * np.prod(three.normalisers_)
    assert left == pytest.approx(product * three.weights_)
    assert not np.allclose(left, product * two.weights_)


def test_erratum_normalised_margin_uses_the_rules():
    X, y = noisy_sample(25, n=40)
    model = AdaBoost(n_rounds=5).fit(X, y)
    beta = model.alphas_ / model.alphas_.sum()
    rules = np.array([rule.predict(X) for rule in model.rules_])
    assert y * (beta @ rules) == pytest.approx(model.normalised_margins(X, y))
    partial = model.staged_decision_function(X)
    assert not np.allclose(y * (beta @ partial), model.normalised_margins(X, y))


def test_erratum_a_perfect_first_rule_is_not_thrown_away():
    model = AdaBoost(n_rounds=5).fit([[0.0], [1.0]], [0, 1])
    assert len(model.rules_) == 1
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
