"""Claims of Rosset, Zhu and Hastie (2004): small steps, l1 paths, maximum margins."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, lars_path
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable import ensembles as bl_ensembles
from learnable.ensembles import boosting_path
from learnable.ensembles.losses import Surrogate
from learnable.ensembles.margins import margin


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0), y - y.mean()


def separable(seed, n=25, J=6):
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n, J))
    y = np.where(H @ rng.normal(size=J) >= 0, 1.0, -1.0)
    return H, y


@pytest.mark.parametrize("eps, limit", [(1.0, 0.7), (0.25, 0.2)])
def test_claim_03_small_steps_follow_the_lasso_while_it_is_monotone(eps, limit):
    X, y = diabetes()
    steps = int(2200 / eps)
    run = boosting_path.eps_boost(X, y, "squared", eps=eps, n_steps=steps, record=np.arange(steps + 1))
    grid = np.arange(100.0, 1901.0, 100.0)
    exact = bl_ensembles.l1_constrained_path(X, y, "squared", [*grid, 2000.0])
    gap = [np.abs(run.at_norm(c) - b).max() for c, b in zip(exact.c, exact.coefs, strict=True)]
    assert max(gap[:-1]) <= limit
    assert 25.0 < gap[-1] < 35.0, "beyond the turn of variable 7 the gap does not depend on eps"


def test_claim_03_the_gap_is_linear_in_eps():
    X, y = diabetes()
    exact = bl_ensembles.l1_constrained_path(X, y, "squared", [500.0, 1000.0, 1500.0])
    gaps = []
    for eps in (4.0, 1.0, 0.25):
        steps = int(1600 / eps)
        run = boosting_path.eps_boost(X, y, "squared", eps=eps, n_steps=steps, record=np.arange(steps + 1))
        gaps.append(max(np.abs(run.at_norm(c) - b).max() for c, b in zip(exact.c, exact.coefs, strict=True)))
    ratios = np.array(gaps[:-1]) / gaps[1:]
    assert np.all((ratios > 2.0) & (ratios < 8.0)), ratios


def test_claim_04_length_equals_norm_until_a_coefficient_turns():
    X, y = diabetes()
    run = boosting_path.eps_boost(X, y, "squared", eps=0.5, n_steps=5200, record=np.arange(5201))
    monotone = run.length <= 1910
    assert run.norm[monotone] == pytest.approx(run.length[monotone], abs=1e-8)
    at = run.length[np.argmax(run.norm >= 2300)]
    assert 2440 < at < 2480


def test_experiment_1_knots_of_the_lasso():
    X, y = diabetes()
    _, _, coefs = lars_path(X, y, method="lasso")
    norms = np.abs(coefs).sum(axis=0)
    reported = [0, 60.1, 663.7, 888.9, 1250.7, 1440.8, 1537.1, 1914.6, 2115.7, 2195.8, 2802.4, 2863.0, 3460.0]
    assert norms == pytest.approx(reported, abs=0.06)
    ours = bl_ensembles.l1_constrained_path(X, y, "squared", norms[1:-1])
    assert ours.coefs == pytest.approx(coefs.T[1:-1], abs=1e-6)
    order = [int(np.flatnonzero(np.abs(coefs[:, k + 1]) > 0)[0]) for k in range(1)]
    assert order == [2]


def test_max_l1_margin_against_the_dual_program():
    rng = np.random.default_rng(4)
    for _ in range(10):
        Z = rng.normal(size=(12, 5)) + 0.3
        best = bl_ensembles.max_l1_margin(Z)
        # min over distributions of the largest edge
        n, J = Z.shape
        A = np.vstack([np.hstack([Z.T, -np.ones((J, 1))]), np.hstack([-Z.T, -np.ones((J, 1))])])
        dual = linprog([0.0] * n + [1.0], A_ub=A, b_ub=np.zeros(2 * J), A_eq=[[1.0] * n + [0.0]], b_eq=[1.0],
                       bounds=[(0, None)] * n + [(None, None)])  # fmt: skip
        assert best.margin == pytest.approx(dual.fun, abs=1e-9)
        if best.margin > 0:
            assert np.abs(best.beta).sum() == pytest.approx(1.0) and margin(Z, best.beta) == pytest.approx(best.margin)
            assert np.abs(best.dual @ Z).max() == pytest.approx(best.margin, abs=1e-8)


@pytest.mark.parametrize("c", [0.5, 2.0, 8.0])
def test_constrained_logistic_against_a_penalised_fit(c):
    rng = np.random.default_rng(6)
    H = rng.normal(size=(150, 8))
    y = np.where(H[:, 0] - H[:, 1] + rng.logistic(size=150) > 0, 1.0, -1.0)
    path = bl_ensembles.l1_constrained_path(H, y, "logistic", [c])
    beta = path.coefs[0]
    assert path.violations[0] <= 1e-8
    total = np.log1p(np.exp(-y * (H @ beta))).sum()
    if path.penalties[0] == 0.0:
        assert np.abs(beta).sum() < c
        return
    lam = path.penalties[0] * total  # the objective is the logarithm of the sum
    peer = LogisticRegression(
        C=1.0 / lam, l1_ratio=1.0, solver="saga", fit_intercept=False, tol=1e-10, max_iter=100_000
    )
    assert beta == pytest.approx(peer.fit(H, y).coef_[0], abs=1e-5)
    assert np.abs(beta).sum() == pytest.approx(c)


def test_constrained_exponential_against_a_general_optimiser():
    rng = np.random.default_rng(7)
    H = rng.normal(size=(40, 3))
    y = np.where(H[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    beta = bl_ensembles.l1_constrained_path(H, y, "exponential", [0.4]).coefs[0]

    def loss(u):
        return np.exp(-y * (H @ (u[:3] - u[3:]))).sum()

    answer = minimize(loss, np.full(6, 0.05), method="SLSQP", bounds=[(0, None)] * 6,
                      constraints={"type": "ineq", "fun": lambda u: 0.4 - u.sum()},
                      options={"ftol": 1e-14})  # fmt: skip
    assert beta == pytest.approx(answer.x[:3] - answer.x[3:], abs=1e-5)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_conditions_hold_far_out(loss):
    H, y = separable(3)
    top = bl_ensembles.max_l1_margin(y[:, None] * H).margin
    path = bl_ensembles.l1_constrained_path(H, y, loss, np.geomspace(1.0, 2000.0 / top, 24), tol=1e-7)
    assert path.violations.max() <= 1e-7


def test_inside_the_ball_the_bound_does_not_bind():
    rng = np.random.default_rng(9)
    H = rng.normal(size=(80, 2))
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    path = bl_ensembles.l1_constrained_path(H, y, "logistic", [50.0])
    free = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(H, y).coef_[0]
    assert path.penalties[0] == 0.0 and path.coefs[0] == pytest.approx(free, abs=1e-4)


@pytest.mark.parametrize("loss", ["squared", "exponential", "logistic"])
def test_compiled_steps_equal_plain_ones(loss):
    rng = np.random.default_rng(11)
    H = rng.normal(size=(30, 7))
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    run = boosting_path.eps_boost(H, y, loss, eps=0.03, n_steps=300, record=np.arange(301))
    beta = np.zeros(7)
    for t in range(300):
        F = H @ beta
        w = {"squared": F - y, "exponential": -y * np.exp(-y * F), "logistic": -y / (1 + np.exp(y * F))}[loss]
        g = w @ H
        j = int(np.argmax(np.abs(g)))
        beta[j] -= 0.03 * np.sign(g[j])
        assert run.chosen[t] == j
        assert run.coefs[t + 1] == pytest.approx(beta, abs=1e-9)


def test_users_loss_runs_like_the_built_in_one():
    H, y = separable(2)
    mine = Surrogate(lambda t: np.exp(-t), lambda t: -np.exp(-t), name="mine")
    ours = boosting_path.eps_boost(H, y, "exponential", eps=0.05, n_steps=100).coefs[-1]
    assert boosting_path.eps_boost(H, y, mine, eps=0.05, n_steps=100).coefs[-1] == pytest.approx(ours)


def test_large_scales_do_not_overflow():
    H, y = separable(1, n=30, J=4)
    run = boosting_path.eps_boost(1e4 * H, y, "exponential", eps=1e-6, n_steps=50_000, record=np.array([50_000]))
    assert np.isfinite(run.coefs).all()
    assert run.margin[-1] / run.norm[-1] > 0.9 * bl_ensembles.max_l1_margin(1e4 * y[:, None] * H).margin


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("base", ["tree", "stump", "poly"])
def test_classifier_stops_early_on_held_out_data(base, loss):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(400, 3))
    y = np.where((X[:, 0] ** 2 + X[:, 1] > 0.5) ^ (rng.random(400) < 0.2), "yes", "no")
    eps = 0.01 if base == "poly" else 0.1
    model = bl_ensembles.BoostedPathClassifier(base, loss, eps=eps, n_steps=60, validation_fraction=0.3).fit(X, y)
    assert model.n_steps_ == np.argmin(model.validation_error_) + 1
    assert set(model.predict(X)) <= {"yes", "no"}
    whole = bl_ensembles.BoostedPathClassifier(base, loss, eps=eps, n_steps=60).fit(X, y)
    staged = whole.staged_decision_function(X)
    assert staged[-1] == pytest.approx(whole.decision_function(X))
    margins = whole.staged_margins(X, y)
    signs = np.where(y == "yes", 1.0, -1.0)
    norm = np.abs(whole.coef_).sum() if base == "poly" else 60 * 0.1
    assert margins[-1] == pytest.approx((signs * staged[-1]).min() / norm)


@parametrize_with_checks(
    [bl_ensembles.BoostedPathClassifier("stump", n_steps=30), bl_ensembles.BoostedPathClassifier(n_steps=20)],
    expected_failed_checks=lambda e: {},
)
def test_estimator_follows_the_conventions(estimator, check):
    check(estimator)


def overlapping(seed):
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((60, 8))
    return H, np.where(H[:, 0] + 2 * rng.standard_normal(60) > 0, 1.0, -1.0)


def total_loss(beta, H, y, loss):
    m = y * (H @ beta)
    return np.exp(-m).sum() if loss == "exponential" else np.logaddexp(0, -m).sum()


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("scale", [1.0, 800.0, 1e-8, 1e8])
def test_grids_past_the_unconstrained_minimiser_stay_at_it(loss, scale):
    for seed in range(5):
        H, y = overlapping(seed)
        free = minimize(total_loss, np.zeros(8), args=(H, y, loss), method="BFGS", options={"gtol": 1e-8})
        norm = np.abs(free.x).sum()
        for grid in ([0.3, 0.8, 1.05, 3.0, 100.0], [3.0]):
            path = bl_ensembles.l1_constrained_path(H * scale, y, loss, np.array(grid) * norm / scale)
            assert path.violations.max() < 1e-6
            values = [total_loss(beta * scale, H, y, loss) for beta in path.coefs]
            for c, value, penalty in zip(grid, values, path.penalties, strict=True):
                if c > 1:
                    assert value == pytest.approx(free.fun, rel=1e-9) and penalty == 0
                else:
                    assert value > free.fun and penalty > 0


def test_a_constrained_path_that_runs_out_of_steps_warns():
    H, y = overlapping(0)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps"):
        bl_ensembles.l1_constrained_path(H, y, "logistic", [0.5], max_iter=1)


@pytest.mark.parametrize("loss", ["squared", "exponential", "logistic"])
def test_ties_go_to_the_first_of_equal_columns(loss):
    rng = np.random.default_rng(0)
    for n in (37, 101):
        column = rng.standard_normal(n)
        H = np.column_stack([column] * 7 + [-column])
        y = np.where(column + rng.standard_normal(n) > 0, 1.0, -1.0)
        assert set(boosting_path.eps_boost(H, y, loss, n_steps=50).chosen.tolist()) == {0}


def test_the_margin_of_rows_that_cannot_be_separated_is_zero_with_zero_coefficients():
    best = bl_ensembles.max_l1_margin([[1.0], [-1.0]])
    assert best.margin == 0 and best.beta.tolist() == [0.0]
    weak = bl_ensembles.max_l1_margin([[1.0, 0.0], [0.0, 0.0]])  # the second row is zero whatever beta
    assert weak.margin == pytest.approx(0, abs=1e-12)
    separable = bl_ensembles.max_l1_margin([[1e-9, 2e-9], [3e-9, 1e-9]])
    assert np.abs(separable.beta).sum() == pytest.approx(1) and separable.margin > 0


@pytest.mark.parametrize("base", ["linear", "poly", "stump"])
def test_normalised_margins_of_every_dictionary(base):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "b", "a")
    model = bl_ensembles.BoostedPathClassifier(base, n_steps=40, degree=2).fit(X, y)
    norm = np.abs(model.alphas_ if base == "stump" else model.coef_).sum()
    signs = np.where(y == "b", 1.0, -1.0)
    np.testing.assert_allclose(model.normalised_margins(X, y), signs * model.decision_function(X) / norm, atol=1e-12)
    np.testing.assert_allclose(
        model.normalised_margins(X, y, rounds=7).min(), model.staged_margins(X, y)[6], atol=1e-12
    )
    with pytest.raises(ValueError, match="'c'"):
        model.normalised_margins(X, np.where(X[:, 0] > 0, "c", "a"))


def test_early_stopping_keeps_the_steps_with_the_smallest_held_out_error():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.8 * rng.standard_normal(150) > 0, 1, -1)
    for base in ("tree", "poly"):
        model = bl_ensembles.BoostedPathClassifier(base, n_steps=60, eps=0.3, validation_fraction=0.4).fit(X, y)
        steps = int(np.argmin(model.validation_error_)) + 1
        assert model.n_steps_ == steps < 60
        if base == "tree":
            assert len(model.rules_) == len(model.alphas_) == steps
        else:
            np.testing.assert_array_equal(model.coef_, model.path_.coefs[steps])
            # after one step there is one coefficient
            assert np.count_nonzero(model.path_.coefs[1]) == 1
        from sklearn.model_selection import train_test_split

        _, outer, _, b = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
        assert np.mean(model.predict(outer) != b) == pytest.approx(model.validation_error_.min())


@pytest.mark.parametrize("leaves", [2, 3, 8])
def test_trees_with_a_bounded_number_of_leaves(leaves):
    """`max_leaf_nodes` splits best first; with two leaves the rules are stumps by squared error."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=300) > 0).astype(int)
    model = bl_ensembles.BoostedPathClassifier(n_steps=40, max_depth=None, max_leaf_nodes=leaves).fit(X, y)
    assert [rule.tree.n_leaves for rule in model.rules_] == [leaves] * 40
    if leaves == 2:
        shallow = bl_ensembles.BoostedPathClassifier(n_steps=40, max_depth=1, max_leaf_nodes=50).fit(X, y)
        np.testing.assert_allclose(shallow.decision_function(X), model.decision_function(X))
    else:
        assert model.score(X, y) > 0.75
    # a depth limits as well
    bounded = bl_ensembles.BoostedPathClassifier(n_steps=5, max_depth=2, max_leaf_nodes=leaves).fit(X, y)
    assert max(rule.tree.depth.max() for rule in bounded.rules_) <= 2


def test_leaves_are_for_trees_only():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    for options, message in (
        ({"base": "stump", "max_leaf_nodes": 4}, "max_leaf_nodes is for base='tree'"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be an integer"),
        ({"max_depth": None}, "max_depth may be None only"),
    ):
        with pytest.raises(ValueError, match=message):
            bl_ensembles.BoostedPathClassifier(**options).fit(X, y)
