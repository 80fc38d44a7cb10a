"""Boosting against brute force, closed forms, linear programmes and scikit-learn."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from sklearn.datasets import load_breast_cancer, load_diabetes, make_hastie_10_2
from sklearn.tree import DecisionTreeRegressor

from learnable.chapters.boosting_adaboost.theory import (
    _confidence,
    margin_bound,
    margin_risk_bound,
    rademacher,
    rademacher_margin_bound,
    rademacher_supremum,
    rademacher_vc_bound,
    rounds_to_separate,
    sample_size_for,
    training_bound,
)
from learnable.ensembles import (
    AdaBoost,
    GradientBoost,
    GradientBoostedTrees,
    L2Boost,
    LogitBoost,
    StagewiseRegressor,
    losses,
    margin_distribution,
)
from learnable.ensembles.gradient import line_search
from learnable.ensembles.losses import SURROGATES, Surrogate, get_surrogate
from learnable.ensembles.margins import minimax_margin
from learnable.ensembles.stagewise import stagewise_path
from learnable.ensembles.weak_learners import (
    ColumnRules,
    ComponentwiseLinear,
    ComponentwiseSpline,
    RegressionTree,
    SortedFeatures,
    Stump,
    StumpERM,
    TreeERM,
    stump_outputs,
)
from learnable.optim.homotopy import lasso_homotopy
from learnable.problems.base import FiniteProblem


def edge_threshold(u):
    """Largest γ for which a round with edge u = ½ − ε lowers the margin bound."""
    u = np.asarray(u, float)
    return -np.log1p(-4 * u**2) / (np.log1p(2 * u) - np.log1p(-2 * u))


def ramp_loss(margins, gamma):
    """A_n: mean of the ramp that is 1 for margins ≤ 0, 0 from γ on, and linear between."""
    return np.clip(1 - np.asarray(margins) / gamma, 0.0, 1.0).mean()


def rademacher_risk_bound(train_error, complexity, n, delta=0.05):
    """R(g) ≤ R_n(g) + 𝓡_n + √(ln(1/δ)/2n) with probability 1 − δ, for all rules g of a class (5.2.16)."""
    return train_error + complexity + _confidence(n, delta, 1.0)


def _setting(problem, f):
    scores = f(problem.x_values) if callable(f) else f
    return problem.p_x, problem.p_xy[:, 1] / problem.p_x, np.asarray(scores, float)


def phi_risk(problem, f, phi):
    """E φ(Y f(X)); class 1 of the problem is Y = +1, class 0 is Y = −1."""
    p, eta, scores = _setting(problem, f)
    return float(p @ get_surrogate(phi).conditional(eta, scores))


def excess_phi_risk(problem, f, phi):
    """R_φ(f) − R_φ*, the latter Σ p(x) H(η(x))."""
    p, eta, scores = _setting(problem, f)
    loss = get_surrogate(phi)
    return float(p @ (loss.conditional(eta, scores) - loss.H(eta)))


def excess_risk(problem, f):
    """R(f) − R*, with R(f) = P(Y f(X) ≤ 0): a score of zero counts as an error of both classes."""
    p, eta, scores = _setting(problem, f)
    error = np.where(scores > 0, 1 - eta, np.where(scores < 0, eta, 1.0))
    return float(p @ (error - np.minimum(eta, 1 - eta)))


CONVEX = ("hinge", "squared_hinge", "exponential", "logistic")
ETA = np.linspace(0, 1, 201)


def noisy_sample(seed=0, n=200, d=4, noise=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where((X[:, 0] > 0.2) ^ (X[:, -2] + X[:, -1] > 0.5), 1, -1)
    return X, np.where(rng.random(n) < noise, -y, y)


@pytest.mark.parametrize("name", SURROGATES)
def test_derivatives_are_the_slopes(name):
    loss = SURROGATES[name]
    t = np.array([-3.3, -0.7, 0.4, 0.9, 1.6, 4.0])
    h = 1e-5
    slope = (loss(t + h) - loss(t - h)) / (2 * h)
    assert loss.derivative(t) == pytest.approx(slope, abs=1e-7)
    if loss.has_second:
        assert loss.second(t) == pytest.approx((loss.derivative(t + h) - loss.derivative(t - h)) / (2 * h), abs=1e-6)
    else:
        with pytest.raises(ValueError, match="second derivative"):
            loss.second(t)


@pytest.mark.parametrize("name", SURROGATES)
def test_claim_01_properties_of_H(name):
    loss = SURROGATES[name]
    numeric = loss.numerical()
    H, wrong = numeric.H(ETA), numeric.H_minus(ETA)
    assert loss.H(ETA) == pytest.approx(H, abs=1e-8)
    assert loss.H_minus(ETA) == pytest.approx(wrong, abs=1e-8)
    assert pytest.approx(H[::-1], abs=1e-8) == H
    assert pytest.approx(wrong[::-1], abs=1e-8) == wrong
    assert (H[1:-1] >= (H[:-2] + H[2:]) / 2 - 1e-8).all()
    for half in (wrong[:100], wrong[101:]):
        assert (half[1:-1] >= (half[:-2] + half[2:]) / 2 - 1e-8).all()
    assert wrong[100] == pytest.approx(H[100], abs=1e-8)
    assert (wrong >= H - 1e-12).all()
    if loss.convex:
        assert H[100] == pytest.approx(float(loss(0.0)), abs=1e-8)
        assert wrong == pytest.approx(np.full(201, float(loss(0.0))), abs=1e-8)


def test_claim_01_closed_forms():
    eta = np.linspace(0.05, 0.95, 19)
    t = np.linspace(0, 1, 21)
    odds = np.log(eta / (1 - eta))
    minimisers = {
        "squared_hinge": 2 * eta - 1,
        "squared": 2 * eta - 1,
        "exponential": odds / 2,
        "logistic": odds,
        "logistic2": odds / 2,
    }
    for name, r in minimisers.items():
        assert SURROGATES[name].r_star(eta) == pytest.approx(r, abs=1e-12)
        assert SURROGATES[name].numerical().r_star(eta) == pytest.approx(r, abs=1e-6)
    psi = {"hinge": t, "squared_hinge": t**2, "exponential": 1 - np.sqrt(1 - t**2), "zero_one": t}
    for name, values in psi.items():
        assert SURROGATES[name].psi(t) == pytest.approx(values, abs=1e-12)
        assert SURROGATES[name].numerical().psi(t) == pytest.approx(values, abs=1e-8)
    u = np.linspace(0.05, 0.65, 7)
    for name in (*CONVEX, "zero_one"):
        loss = SURROGATES[name]
        assert loss.psi(loss.psi_inverse(u)) == pytest.approx(u, abs=1e-9)
    assert losses.exponential.psi_inverse(5.0) == 1.0


def test_claim_02_calibrated_iff_falling_at_zero():
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(40):
        kinks = np.sort(rng.uniform(-3, 3, 5))
        slopes = np.sort(rng.normal(0, 1, 6))

        def phi(t, kinks=kinks, slopes=slopes):
            return slopes[0] * t + sum(
                (b - a) * np.maximum(t - k, 0) for k, (a, b) in zip(kinks, pairwise(slopes), strict=True)
            )

        at_zero = slopes[np.searchsorted(kinks, 0.0)]
        # Bounded below on both sides of the conditional risk: slopes of both signs, or the infimum is −∞.
        if slopes[0] > 0 or slopes[-1] < 0 or abs(at_zero) < 0.02 or np.abs(kinks).min() < 1e-3:
            continue
        loss = Surrogate(phi)
        assert loss.convex
        t = np.linspace(0.05, 1, 12)
        assert loss.is_calibrated() == bool((loss.psi(t) > 1e-9).all()) == (at_zero < 0)
        seen.add(bool(at_zero < 0))
    assert seen == {True, False}


def test_kink_at_zero_and_other_losses_are_not_calibrated():
    assert not Surrogate(lambda t: np.abs(t)).is_calibrated()
    assert not Surrogate(lambda t: np.maximum(-t, 0.0)).is_calibrated()
    assert not Surrogate(lambda t: np.maximum(0.5 * t, t) ** 2).is_calibrated()
    assert Surrogate(lambda t: np.clip(1 - t, 0, 2)).is_calibrated()
    assert all(loss.is_calibrated() for loss in SURROGATES.values())


def test_claim_03_comparison_theorem():
    rng = np.random.default_rng(3)
    worst = np.inf
    for k in range(2500):
        if k % 25 == 0:
            m = rng.integers(1, 5)
            problem = FiniteProblem(rng.dirichlet(np.full(2 * m, 0.7)).reshape(m, 2) * 0.999 + 0.001 / (2 * m))
        f = rng.normal(0, rng.choice([0.1, 1.0, 4.0]), m)
        for name in CONVEX:
            gap = excess_phi_risk(problem, f, name) - float(losses.SURROGATES[name].psi(excess_risk(problem, f)))
            worst = min(worst, gap)
    assert worst >= -1e-12
    # A hinge score of zero excess φ-risk has zero excess risk; ψ is attained by a single point with r = 0.
    eta = np.array([0.3])
    single = FiniteProblem([[0.7, 0.3]])
    for name in CONVEX:
        loss = SURROGATES[name]
        assert excess_phi_risk(single, [float(loss.r_star(eta)[0])], name) == pytest.approx(0, abs=1e-12)
        assert excess_phi_risk(single, [1e-9], name) == pytest.approx(float(loss.psi(0.4)), abs=1e-7)
        assert excess_risk(single, [1e-9]) == pytest.approx(0.4)


def test_claim_04_dominating_losses_bound_the_risk():
    rng = np.random.default_rng(4)
    for _ in range(200):
        problem = FiniteProblem(rng.dirichlet(np.ones(8)).reshape(4, 2))
        f = rng.normal(size=4)
        error = phi_risk(problem, f, "zero_one")
        assert error == pytest.approx(excess_risk(problem, f) + problem.p_xy.min(axis=1).sum())
        for name in ("hinge", "squared_hinge", "exponential", "squared"):
            assert error <= phi_risk(problem, f, name) + 1e-12
        assert error <= phi_risk(problem, f, "logistic") / np.log(2) + 1e-12


def test_claim_04_penalty_and_norm_ball_agree():
    """The squared-hinge soft margin solution is also the minimiser over its own norm ball."""
    X, y = noisy_sample(4, n=60, d=2)

    def total(theta):
        return np.sum(losses.squared_hinge(y * (X @ theta[:2] + theta[2])))

    penalised = optimize.minimize(lambda t: 0.5 * t[:2] @ t[:2] + 0.7 * total(t), np.zeros(3), method="BFGS").x
    radius = penalised[:2] @ penalised[:2]
    ball = {"type": "ineq", "fun": lambda t: radius - t[:2] @ t[:2]}
    constrained = optimize.minimize(total, np.array([0.01, 0.01, 0.0]), constraints=[ball], tol=1e-12).x
    assert total(constrained) == pytest.approx(total(penalised), rel=1e-6)
    assert constrained == pytest.approx(penalised, abs=1e-3)


def brute_force_error(X, y, D):
    best = min(D[y < 0].sum(), D[y > 0].sum())
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            wrong = D[np.where(column > cut, 1, -1) != y].sum()
            best = min(best, wrong, D.sum() - wrong)
    return best


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25), st.integers(1, 3), st.sampled_from([1, 2, 3, 8, 1000]), st.integers(0, 10**6), st.booleans())
def test_stumps_are_exact(n, d, levels, seed, sparse):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, d)).astype(float)
    if sparse:
        X[rng.random((n, d)) < 0.7] = 0.0
    y = rng.choice([-1.0, 1.0], n)
    D = rng.dirichlet(np.ones(n))
    rule = StumpERM().prepare(X).fit(D, y)
    assert D[rule.outputs != y].sum() == pytest.approx(brute_force_error(X, y, D), abs=1e-12)
    assert np.array_equal(rule.predict(X), rule.outputs)
    low, high = SortedFeatures(X).extremes(D * y)
    for j, column in enumerate(X.T):
        sums = [0.0] + [(D * y)[column <= cut].sum() for cut in np.unique(column)]
        assert low[j] == pytest.approx(min(sums), abs=1e-12)
        assert high[j] == pytest.approx(max(sums), abs=1e-12)


def test_stumps_never_split_ties_and_know_constants():
    D = np.full(4, 0.25)
    constant = StumpERM().prepare(np.ones((4, 2))).fit(D, np.array([1.0, 1.0, 1.0, -1.0]))
    assert (constant.feature, constant.sign) == (-1, 1)
    rule = StumpERM().prepare(np.array([[1.0], [1.0], [2.0], [2.0]])).fit(D, np.array([1.0, -1.0, -1.0, -1.0]))
    assert D[rule.outputs != [1, -1, -1, -1]].sum() == 0.25
    close = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    rule = StumpERM().prepare(close).fit(np.full(2, 0.5), np.array([-1.0, 1.0]))
    assert rule.predict(close).tolist() == [-1.0, 1.0]


def test_stump_outputs_are_all_stumps():
    X = np.array([[1.0, 5.0], [1.0, 6.0], [2.0, 7.0]])
    H = stump_outputs(X)
    assert H.shape == (3, 6)  # two constants, cuts after the second point and (second feature) after the first
    assert {tuple(-h) for h in H.T} == {tuple(h) for h in H.T}
    assert stump_outputs(X, constants=False).shape == (3, 4)


def test_column_rules():
    H = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
    y, D = np.array([1.0, -1.0, -1.0]), np.array([0.2, 0.3, 0.5])
    rule = ColumnRules(negate=False).prepare(H).fit(D, y)
    assert (rule.column, rule.sign) == (0, 1)
    assert ColumnRules().prepare(-H).fit(D, y).sign == -1
    with pytest.raises(ValueError, match="every entry"):
        ColumnRules().prepare(H * 2)


def test_small_trees_beat_stumps_and_negate():
    X, y = noisy_sample(5, noise=0.0)
    D = np.random.default_rng(5).dirichlet(np.ones(len(y)))
    error = [D[TreeERM(depth).prepare(X).fit(D, y.astype(float)).outputs != y].sum() for depth in (1, 2, 3)]
    assert error[0] >= error[1] >= error[2]
    assert error[2] < 0.5 * D[StumpERM().prepare(X).fit(D, y).outputs != y].sum()


def test_small_trees_survive_extreme_weights():
    """Weights over thirty orders of magnitude: the splits are still those of Gini, found by brute force."""
    rng = np.random.default_rng(50)
    X, y = rng.normal(size=(60, 3)), rng.choice([-1.0, 1.0], 60)
    for _ in range(20):
        D = 10.0 ** rng.uniform(-30, 0, 60)
        D /= D.sum()
        scores = {}
        for j in range(3):
            for cut in np.sort(X[:, j])[:-1]:
                sides = X[:, j] <= cut, X[:, j] > cut
                parts = [(D[s & (y > 0)].sum(), D[s & (y < 0)].sum()) for s in sides]
                scores[j, cut] = sum(2 * a * b / (a + b) for a, b in parts)
        rule = TreeERM(1).prepare(X).fit(D, y)
        j, cut = (
            rule.tree.feature[0],
            X[X[:, rule.tree.feature[0]] <= rule.tree.threshold[0], rule.tree.feature[0]].max(),
        )
        assert scores[int(j), cut] <= min(scores.values()) + 1e-12


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_regression_trees_equal_scikit_learn(depth):
    rng = np.random.default_rng(depth)
    X = rng.normal(size=(150, 4)).astype(np.float32).astype(float)
    r = rng.normal(size=150) + X[:, 0] * X[:, 1]
    rule = RegressionTree(depth).prepare(X).fit(r)
    peer = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, r)
    assert rule.outputs == pytest.approx(peer.predict(X), abs=1e-10)
    assert rule.predict(X) == pytest.approx(rule.outputs)
    if depth < 4:  # deeper down, ties between features in small nodes are broken differently
        Z = rng.normal(size=(50, 4))
        assert rule.predict(Z) == pytest.approx(peer.predict(Z), abs=1e-10)


def test_regression_trees_respect_ties_leaf_sizes_and_constants():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    assert RegressionTree(3).prepare(X).fit(np.array([0.0, 2.0, 5.0, 7.0, 9.0])).outputs.tolist() == [1, 1, 6, 6, 9]
    assert RegressionTree(2, min_samples_leaf=2).prepare(X).fit(np.arange(5.0)).outputs.tolist() == pytest.approx(
        [0.5, 0.5, 3, 3, 3]
    )
    flat = RegressionTree(3).prepare(X).fit(np.full(5, 0.1))
    assert (flat.feature == -1).all()
    assert flat.outputs == pytest.approx(np.full(5, 0.1))


def test_componentwise_bases():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(80, 3))
    r = 3 * X[:, 1] + 0.1 * rng.normal(size=80)
    rule = ComponentwiseLinear().prepare(X).fit(r)
    assert rule.feature == 1
    assert rule.slope == pytest.approx(r @ X[:, 1] / (X[:, 1] @ X[:, 1]))
    smoother = ComponentwiseSpline(df=4.0).prepare(X).smoothers[1]
    hat = smoother.rotated @ np.diag(smoother.shrink) @ smoother.rotated.T
    assert np.trace(hat) == pytest.approx(4.0, abs=1e-6)
    # Straight lines are not penalised, so a smoother reproduces them.
    assert hat @ (2 * X[:, 1] - 1) == pytest.approx(2 * X[:, 1] - 1, abs=1e-6)
    wavy = np.sin(2 * X[:, 2])
    spline = ComponentwiseSpline(df=8.0).prepare(X).fit(wavy)
    assert spline.feature == 2
    assert np.mean((spline.outputs - wavy) ** 2) < 0.05 * wavy.var()
    assert spline.predict(X) == pytest.approx(spline.outputs, abs=1e-9)


def test_claim_06_normalisers_and_products():
    X, y = noisy_sample(7)
    model = AdaBoost(n_rounds=200).fit(X, y)
    assert model.normalisers_ == pytest.approx(2 * np.sqrt(model.errors_ * (1 - model.errors_)))
    product, simple = training_bound(model.errors_)
    assert np.mean(np.exp(-y * model.train_scores_)) == pytest.approx(product[-1], abs=1e-10)
    error = model.staged_error(X, y)
    assert (error <= product + 1e-12).all()
    assert (product <= simple + 1e-12).all()
    last = model.rules_[-1].predict(X)
    assert model.weights_[last != y].sum() == pytest.approx(0.5, abs=1e-12)


def test_claim_07_margin_bound_on_three_sets():
    B, b = load_breast_cancer(return_X_y=True)
    H, h = make_hastie_10_2(300, random_state=0)
    sets = [noisy_sample(8), (B, 2 * b - 1), (H, h.astype(int))]
    for X, y in sets:
        model = AdaBoost(n_rounds=200).fit(X, y)
        scores = model.staged_decision_function(X) * y / np.cumsum(model.alphas_)[:, None]
        for gamma in np.linspace(0, 0.6, 13):
            share = (scores <= gamma).mean(axis=1)
            assert (share <= margin_bound(model.errors_, gamma) + 1e-12).all()
        assert margin_bound(model.errors_, 0.0) == pytest.approx(np.cumprod(model.normalisers_))
        assert margin_distribution(scores[-1], 0.1) == (scores[-1] <= 0.1).mean()


def test_claim_07_threshold_of_the_margin():
    for u in (0.01, 0.1, 0.3, 0.45):
        gamma = float(edge_threshold(u))

        def factor(g, u=u):
            return (1 - 2 * u) ** (1 - g) * (1 + 2 * u) ** (1 + g)

        assert factor(gamma - 1e-4) < 1 < factor(gamma + 1e-4)
        assert margin_bound([0.5 - u], gamma)[0] == pytest.approx(1)
        assert u < gamma < 2 * u
    assert float(edge_threshold(1e-4)) == pytest.approx(1e-4, rel=1e-6)


def test_margin_bound_is_stable_over_many_rounds():
    logs = 10**4 * np.log(2 * np.sqrt(0.4**0.95 * 0.6**1.05))
    assert np.log(margin_bound(np.full(10**4, 0.4), 0.05)[-1]) == pytest.approx(logs, rel=1e-9)
    assert np.isfinite(margin_bound(np.full(10**4, 0.4), 0.9)).all()


def test_exact_stumps_have_smaller_exponential_loss_than_gini_stumps():
    X, y = make_hastie_10_2(400, random_state=1)
    ours = AdaBoost(n_rounds=60).fit(X, y)
    peer = AdaBoost(base=TreeERM(1), n_rounds=60).fit(X, y)
    assert training_bound(ours.errors_)[0][-1] <= training_bound(peer.errors_)[0][-1]


def test_claim_08_hull_has_the_same_complexity():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(25, 2))
    H = stump_outputs(X)
    sigma = rng.choice([-1.0, 1.0], (50, 25))
    exact = rademacher_supremum(X, sigma)
    assert exact == pytest.approx(np.abs(sigma @ H).max(axis=1) / 25)
    assert rademacher_supremum(H, sigma, "columns") == pytest.approx(exact)
    votes = H @ rng.dirichlet(np.full(H.shape[1], 0.05), 500).T
    assert (np.abs(sigma @ votes).max(axis=1) / 25 <= exact + 1e-12).all()
    w = rng.normal(size=(2, 4000))
    reached = np.abs(sigma @ (X @ (w / np.linalg.norm(w, axis=0)))).max(axis=1) / 25
    linear = rademacher_supremum(X, sigma, "linear")
    assert (reached <= linear + 1e-12).all()
    assert reached == pytest.approx(linear, rel=1e-3)


def test_claim_08_stumps_on_a_line():
    value, se = rademacher(np.arange(100.0)[:, None], n_draws=4000, random_state=np.random.default_rng(80))
    assert abs(value - 0.1865) < 3 * se + 0.002
    assert value < float(rademacher_vc_bound(100, 2)) == pytest.approx(0.859, abs=5e-4)


def test_claim_09_minimax_margin():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    H = stump_outputs(X)
    game = minimax_margin(H, y)
    assert game.value > 0
    assert (y * (H @ game.vote)).min() == pytest.approx(game.value, abs=1e-9)
    assert (game.weights * y @ H).max() == pytest.approx(game.value, abs=1e-9)
    for D in rng.dirichlet(np.full(30, 0.3), 200):
        rule = StumpERM().prepare(X).fit(D, y.astype(float))
        assert D[rule.outputs != y].sum() <= 0.5 - game.value / 2 + 1e-12
    rounds = rounds_to_separate(30, game.value / 2)
    model = AdaBoost(n_rounds=rounds).fit(X, y)
    assert (model.edges_ >= game.value / 2 - 1e-12).all()
    assert model.staged_error(X, y)[-1] == 0
    flipped = np.concatenate([X, X[:1]]), np.append(y, -y[0])
    assert minimax_margin(stump_outputs(flipped[0]), flipped[1]).value == pytest.approx(0, abs=1e-9)


def test_risk_bounds():
    assert ramp_loss([-0.2, 0.0, 0.1, 0.3], 0.2) == pytest.approx((1 + 1 + 0.5 + 0) / 4)
    complexity = float(rademacher_vc_bound(1000, 2))
    direct = 0.1 + 8 / 0.3 * np.sqrt(4 * np.log(1001) / 1000) + np.sqrt(np.log(40) / 2000)
    assert margin_risk_bound(0.1, 2, 0.3, 1000) == pytest.approx(direct)
    assert rademacher_margin_bound(0.1, complexity, 0.3, 1000) == pytest.approx(direct)
    assert rademacher_risk_bound(0.1, 0.2, 1000) == pytest.approx(0.3 + np.sqrt(np.log(20) / 2000))
    n = sample_size_for(0.5, 2, 0.3)
    assert margin_risk_bound(0, 2, 0.3, n) < 0.5 <= margin_risk_bound(0, 2, 0.3, n - 1)
    assert 10**5 < n < 2 * 10**5


@pytest.mark.parametrize("loss", ["logistic", "logistic2", "squared_hinge", "hinge", "squared"])
def test_claim_10_losses_fall(loss):
    X, y = noisy_sample(15)
    model = GradientBoost(loss, n_rounds=40).fit(X, y)
    assert (np.diff(np.concatenate([[float(get_surrogate(loss)(0.0))], model.losses_])) <= 1e-12).all()
    assert model.losses_[-1] == pytest.approx(get_surrogate(loss)(y * model.decision_function(X)).mean())


@pytest.mark.parametrize("loss", ["logistic", "logistic2", "squared_hinge"])
def test_claim_10_rules_are_steepest(loss):
    """Each rule has the smallest error under weights −φ′, so no stump has a more negative slope."""
    X, y = noisy_sample(27, n=60)
    model = GradientBoost(loss, n_rounds=15).fit(X, y)
    f = np.zeros(60)
    for t, (alpha, rule) in enumerate(zip(model.alphas_, model.rules_, strict=True)):
        slopes = get_surrogate(loss).derivative(y * f)
        D = slopes / slopes.sum()
        assert model.errors_[t] == pytest.approx(brute_force_error(X, y, D), abs=1e-12)
        steepest = (slopes * y) @ stump_outputs(X)
        assert (slopes * y) @ rule.predict(X) == pytest.approx(steepest.min(), abs=1e-10)
        f += alpha * rule.predict(X)
        assert get_surrogate(loss).derivative(y * f) * y @ rule.predict(X) == pytest.approx(0, abs=1e-8)


def test_line_search():
    rng = np.random.default_rng(19)
    m, z, w = rng.normal(size=50), rng.choice([-1.0, 1.0], 50), rng.random(50)
    for name in ("exponential", "logistic", "logistic2", "squared_hinge", "hinge", "squared"):
        loss = get_surrogate(name)
        for direction in (z, -z):
            alpha = line_search(loss, m, direction, w)
            best = optimize.minimize_scalar(lambda a, d=direction, q=loss: w @ q(m + a * d), bounds=(-9, 9)).fun
            assert w @ loss(m + alpha * direction) <= best + 1e-9
    assert line_search("logistic", m, np.ones(50)) == np.inf
    assert line_search("logistic", m, -np.ones(50)) == -np.inf
    big = line_search("exponential", m - 800, z, w)
    assert big == pytest.approx(line_search("exponential", m, z, w), abs=1e-8)


def test_erratum_hinge_psi_second_term():
    t = np.linspace(0, 1, 11)
    printed = 1 - 2 * np.minimum((1 + t) / 2, 1 - (1 - t) / 2)
    corrected = 1 - 2 * np.minimum((1 + t) / 2, (1 - t) / 2)
    assert printed == pytest.approx(-t)
    assert corrected == pytest.approx(losses.hinge.numerical().psi(t), abs=1e-8)


def test_erratum_convexity_step_needs_minus_r():
    eta, r, phi = 0.8, -2.0, losses.exponential
    assert eta * phi(r) + (1 - eta) * phi(-r) >= phi(r * (2 * eta - 1))
    r = 2.0
    assert eta * phi(r) + (1 - eta) * phi(r) < phi(r * (2 * eta - 1))


def test_erratum_stationarity_has_a_minus_sign():
    """One wrong of five: the step of the line search is the root of −ε e^α + (1 − ε) e^{−α}; a sum has none."""
    eps, agree = 0.2, np.array([-1.0, 1.0, 1.0, 1.0, 1.0])
    alpha = line_search("exponential", np.zeros(5), agree)
    assert alpha == pytest.approx(0.5 * np.log((1 - eps) / eps))
    assert -eps * np.exp(alpha) + (1 - eps) * np.exp(-alpha) == pytest.approx(0)
    assert eps * np.exp(alpha) + (1 - eps) * np.exp(-alpha) == pytest.approx(
        get_surrogate("exponential")(alpha * agree).mean()
    )


def test_erratum_lasso_is_computable():
    """Only a closed form is missing: the path is exact and satisfies the optimality conditions."""
    X, y = load_diabetes(return_X_y=True)
    path = lasso_homotopy(X, y, center=True)
    Z, target = X - X.mean(axis=0), y - y.mean()
    for alpha, beta in zip(path.alphas[1:-1], path.coefs[1:-1], strict=True):
        correlation = Z.T @ (target - Z @ beta) / len(y)
        assert np.abs(correlation).max() == pytest.approx(alpha, rel=1e-6)
        active = np.abs(beta) > 1e-9
        assert correlation[active] == pytest.approx(alpha * np.sign(beta[active]), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AdaBoost(base="oak").fit([[0.0], [1.0]], [0, 1]), "base"),
        (lambda: AdaBoost(n_rounds=0).fit([[0.0], [1.0]], [0, 1]), "n_rounds"),
        (lambda: AdaBoost(nu=1.5).fit([[0.0], [1.0]], [0, 1]), "nu"),
        (lambda: GradientBoost("zero_one").fit([[0.0], [1.0]], [0, 1]), "not convex"),
        (lambda: GradientBoost("cubic").fit([[0.0], [1.0]], [0, 1]), "loss"),
        (lambda: GradientBoost(step=-1.0).fit([[0.0], [1.0]], [0, 1]), "step"),
        (lambda: LogitBoost(variant=3).fit([[0.0], [1.0]], [0, 1]), "variant"),
        (lambda: GradientBoostedTrees(max_depth=0).fit([[0.0], [1.0]], [0, 1]), "depth"),
        (lambda: L2Boost(base="oak").fit([[0.0], [1.0]], [0, 1]), "base"),
        (lambda: StagewiseRegressor(loss="cubic").fit([[0.0], [1.0]], [0, 1]), "loss"),
        (lambda: StagewiseRegressor(loss=losses.logistic).fit([[0.0], [1.0]], [0, 1]), "−1 or 1"),
        (lambda: stagewise_path([[1.0]], [1.0, 2.0], 0.1, 3), "rows"),
        (lambda: stagewise_path([[1.0]], [1.0], 0.0, 3), "eps"),
        (lambda: minimax_margin([[1.0]], [1.0, 1.0]), "one row"),
        (lambda: Surrogate(3), "phi"),
        (lambda: losses.hinge.H(1.2), "eta"),
        (lambda: losses.hinge.psi_inverse(-1.0), "negative"),
        (lambda: SortedFeatures(np.zeros((0, 2))), "at least one"),
        (lambda: RegressionTree(0).prepare([[1.0]]), "depth"),
        (lambda: ComponentwiseSpline().prepare([[1.0], [2.0]]), "four different"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_stump_repr_is_short():
    assert repr(Stump(0, 0.5, 1, np.ones(3))) == "Stump(feature=0, threshold=0.5, sign=1)"


def test_lengths_are_checked_before_compiled_code_is_entered():
    from learnable.ensembles.regression_learners import RegressionTree
    from learnable.trees.sorted_features import SortedFeatures, best_cut

    features = SortedFeatures(np.arange(12.0).reshape(6, 2))
    for short in (np.ones(5), np.ones(7), np.ones((6, 1))):
        with pytest.raises(ValueError, match="one number for each of the 6 rows"):
            features.extremes(short)
        with pytest.raises(ValueError, match="one number for each of the 6 rows"):
            best_cut(features, short)
        trees = RegressionTree(max_depth=2).prepare(features)
        for method in (trees.split, trees.fit):
            with pytest.raises(ValueError, match="one number for each of the 6 rows"):
                method(short)
    wide = np.random.default_rng(0).standard_normal((30, 3))
    tree = RegressionTree(max_depth=2).prepare(wide).fit(wide[:, 2] ** 2)
    with pytest.raises(ValueError, match="at least 3 columns"):
        tree.apply(wide[:, :2])


@pytest.mark.parametrize("layout", ["fortran", "strided", "readonly", "float32"])
def test_memory_layout_changes_nothing(layout):
    from learnable.ensembles.regression_learners import RegressionTree
    from learnable.trees.sorted_features import SortedFeatures, best_cut

    rng = np.random.default_rng(0)
    X, s = rng.standard_normal((40, 3)).astype(np.float32), rng.standard_normal(40).astype(np.float32)

    def laid(A):
        A = A.astype(np.float32 if layout == "float32" else np.float64)
        if layout == "fortran":
            return np.asfortranarray(A)
        if layout == "strided":
            return np.repeat(A, 2, axis=0)[::2]
        A.setflags(write=False)
        return A

    reference, features = SortedFeatures(X.astype(float)), SortedFeatures(laid(X))
    assert best_cut(features, laid(s)) == best_cut(reference, s.astype(float))
    np.testing.assert_array_equal(features.extremes(laid(s)), reference.extremes(s.astype(float)))
    fits = [
        RegressionTree(max_depth=3).prepare(A).fit(b)
        for A, b in ((laid(X), laid(s)), (X.astype(float), s.astype(float)))
    ]
    np.testing.assert_array_equal(fits[0].predict(laid(X)), fits[1].predict(X.astype(float)))


def test_bounds_are_the_printed_formulas():
    import math

    from learnable import ensembles as ba_ensembles
    from learnable.chapters.boosting_adaboost import theory as ba

    n, V, delta, gamma = 500, 3, 0.1, 0.4
    capacity = 2 * math.sqrt(2 * V * math.log(n + 1) / n)
    assert ba.rademacher_vc_bound(n, V) == pytest.approx(capacity)
    assert rademacher_risk_bound(0.1, 0.05, n, delta) == pytest.approx(
        0.1 + 0.05 + math.sqrt(math.log(1 / delta) / (2 * n))
    )
    chance = math.sqrt(math.log(2 / delta) / (2 * n))
    assert ba.rademacher_margin_bound(0.2, 0.05, gamma, n, delta) == pytest.approx(0.2 + 4 * 0.05 / gamma + chance)
    assert margin_risk_bound(0.2, V, gamma, n, delta) == pytest.approx(0.2 + 4 * capacity / gamma + chance)
    with pytest.raises(ValueError, match="at least one margin"):
        ba_ensembles.margin_distribution([], 0.2)
