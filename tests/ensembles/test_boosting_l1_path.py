"""Claims of Rosset, Zhu and Hastie (2004): small steps, l1 paths, maximum margins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize, minimize_scalar
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, lars_path
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.ensembles import boosting_l1_path as bl
from learnable.ensembles.boosting_l1_path.constrained import sparsify
from learnable.ensembles.boosting_l1_path.margins import lexicographic_margins
from learnable.ensembles.boosting_l1_path.stepping import line_search_boost
from learnable.ensembles.losses import Surrogate, get_surrogate


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0), y - y.mean()


def mixture(seed):
    rng = np.random.default_rng(seed)
    plus, minus = np.array([[-1, -1], [1, 1], [0, 0.1]]), np.array([[-1, 1], [1, -1], [0.9, 0]])
    A = plus[rng.integers(3, size=50)] + 0.22 * rng.normal(size=(50, 2))
    B = minus[rng.integers(3, size=50)] + 0.22 * rng.normal(size=(50, 2))
    return np.vstack([A, B]), np.repeat([1.0, -1.0], 50)


def separable(seed, n=25, J=6):
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n, J))
    y = np.where(H @ rng.normal(size=J) >= 0, 1.0, -1.0)
    return H, y


def test_claim_01_the_two_losses_bracket_each_other():
    m = np.linspace(0.0, 60.0, 601)
    exponential, logistic = get_surrogate("exponential")(m), get_surrogate("logistic")(m)
    assert np.all(0.5 * exponential <= logistic) and np.all(logistic <= exponential * (1 + 1e-14))


@pytest.mark.parametrize("p", [0.1, 0.35, 0.5, 0.8])
def test_claim_02_population_minimisers(p):
    """What repeated labels make of one function: half the log-odds, and the log-odds."""
    n = 1000
    y = np.where(np.arange(n) < round(p * n), 1.0, -1.0)
    H = np.ones((n, 1))
    for loss, factor in (("exponential", 0.5), ("logistic", 1.0)):
        end = line_search_boost(H, y, loss, n_steps=3).coefs[-1, 0]
        assert end == pytest.approx(factor * np.log(p / (1 - p)), abs=1e-8)


@pytest.mark.parametrize("eps, limit", [(1.0, 0.7), (0.25, 0.2)])
def test_claim_03_small_steps_follow_the_lasso_while_it_is_monotone(eps, limit):
    X, y = diabetes()
    steps = int(2200 / eps)
    run = bl.eps_boost(X, y, "squared", eps=eps, n_steps=steps, record=np.arange(steps + 1))
    grid = np.arange(100.0, 1901.0, 100.0)
    exact = bl.l1_constrained_path(X, y, "squared", [*grid, 2000.0])
    gap = [np.abs(run.at_norm(c) - b).max() for c, b in zip(exact.c, exact.coefs, strict=True)]
    assert max(gap[:-1]) <= limit
    assert 25.0 < gap[-1] < 35.0, "beyond the turn of variable 7 the gap does not depend on eps"


def test_claim_03_the_gap_is_linear_in_eps():
    X, y = diabetes()
    exact = bl.l1_constrained_path(X, y, "squared", [500.0, 1000.0, 1500.0])
    gaps = []
    for eps in (4.0, 1.0, 0.25):
        steps = int(1600 / eps)
        run = bl.eps_boost(X, y, "squared", eps=eps, n_steps=steps, record=np.arange(steps + 1))
        gaps.append(max(np.abs(run.at_norm(c) - b).max() for c, b in zip(exact.c, exact.coefs, strict=True)))
    ratios = np.array(gaps[:-1]) / gaps[1:]
    assert np.all((ratios > 2.0) & (ratios < 8.0)), ratios


def test_claim_04_length_equals_norm_until_a_coefficient_turns():
    X, y = diabetes()
    run = bl.eps_boost(X, y, "squared", eps=0.5, n_steps=5200, record=np.arange(5201))
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
    ours = bl.l1_constrained_path(X, y, "squared", norms[1:-1])
    assert ours.coefs == pytest.approx(coefs.T[1:-1], abs=1e-6)
    order = [int(np.flatnonzero(np.abs(coefs[:, k + 1]) > 0)[0]) for k in range(1)]
    assert order == [2]


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("p", [1, 2])
def test_claim_05_scaled_minimisers_tend_to_the_maximum_margin(loss, p):
    H, y = separable(3)
    Z = y[:, None] * H
    best = bl.max_l1_margin(Z) if p == 1 else bl.max_l2_margin(Z)
    gaps = []
    for c in (20.0, 200.0, 2000.0):
        beta = bl.separable_limit(H, y, loss, c=c / best.margin, p=p)
        assert np.linalg.norm(beta, p) == pytest.approx(1.0, abs=1e-9)
        gaps.append(1.0 - bl.margin(Z, beta, p) / best.margin)
    assert gaps[0] > gaps[1] > gaps[2] > -1e-9 and gaps[2] < 2e-3


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_claim_06_beyond_the_threshold_the_larger_margin_wins(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    Z = rng.normal(size=(n, 4))
    b1, b2 = rng.normal(size=(2, 4))
    b1, b2 = b1 / np.abs(b1).sum(), b2 / np.abs(b2).sum()
    m1, m2 = bl.margin(Z, b1), bl.margin(Z, b2)
    if m1 < m2:
        b1, b2, m1, m2 = b2, b1, m2, m1
    # The lemma is about separators: shift so that both margins are positive (a constant function in the dictionary).
    shift = abs(m2) + 0.1
    d = bl.lemma4_threshold(n, m1, m2) * (1 + 1e-9)
    v1, v2 = d * (Z @ b1 + shift), d * (Z @ b2 + shift)
    assert np.logaddexp.reduce(-v1) < np.logaddexp.reduce(-v2)
    low1, low2 = v1.min(), v2.min()
    if low2 < 300:
        assert np.sum(np.log1p(np.exp(-v1))) < np.sum(np.log1p(np.exp(-v2)))
    assert low1 > low2


def test_claim_06_threshold_needs_its_logarithms():
    """One row at the large margin against n - 1 rows far above: below the threshold the order can be the other way."""
    n = 50
    v1, v2 = np.full(n, 0.5), np.concatenate([[0.45], np.full(n - 1, 5.0)])
    d = bl.lemma4_threshold(n, 0.5, 0.45)
    assert np.exp(-d * v1).sum() < np.exp(-d * v2).sum()
    assert np.exp(-0.3 * d * v1).sum() > np.exp(-0.3 * d * v2).sum()


@pytest.mark.parametrize("loss", ["squared", "logistic", "exponential"])
def test_claim_07_boosting_starts_in_the_direction_of_the_path(loss):
    rng = np.random.default_rng(5)
    H = rng.normal(size=(60, 4)) + 0.3
    y = np.where(H @ [1.0, 0.8, 0.5, 0.1] + 1.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    c = 0.3
    start = bl.l1_constrained_path(H, y, loss, [c], tol=1e-12).coefs[0]
    assert np.count_nonzero(start) >= 2
    want = bl.path_direction(H, y, loss, start)
    h = 1e-5 * c
    ahead = bl.l1_constrained_path(H, y, loss, [c + h], tol=1e-12).coefs[0]
    assert (ahead - start) / h == pytest.approx(want, abs=1e-3)
    gaps = []
    for eps, steps in ((1e-4, 200), (1e-6, 2000)):
        run = bl.eps_boost(H, y, loss, eps=eps, n_steps=steps, record=np.array([steps]), start=start)
        gaps.append(np.abs((run.coefs[-1] - start) / (eps * steps) - want).max())
    assert gaps[1] < gaps[0] + 1e-3 and gaps[1] < 0.02


def test_claim_08_solutions_are_sparse():
    rng = np.random.default_rng(0)
    H = rng.normal(size=(20, 200))
    y = np.where(rng.random(20) < 0.5, 1.0, -1.0)
    best = bl.max_l1_margin(y[:, None] * H)
    assert np.count_nonzero(np.abs(best.beta) > 1e-9) <= 20
    path = bl.l1_constrained_path(H, y, "logistic", [1.0, 10.0, 50.0])
    assert np.all((np.abs(path.coefs) > 1e-9).sum(axis=1) <= 20) and path.violations.max() < 1e-7
    # A dense optimum: every column twice, the weight split at random.
    double = np.hstack([H, H])
    share = rng.random(200)
    beta = np.concatenate([share * path.coefs[2], (1 - share) * path.coefs[2]])
    thin = bl.sparsify(double, beta)
    assert np.count_nonzero(beta) > 20 >= np.count_nonzero(thin)
    assert double @ thin == pytest.approx(double @ beta, abs=1e-9)
    assert np.abs(thin).sum() == pytest.approx(np.abs(beta).sum(), rel=1e-10)


def test_sparsify_says_when_the_norm_could_shrink():
    with pytest.raises(ValueError, match="not an optimum"):
        bl.sparsify([[1.0, 1.0]], [2.0, -1.0])


def test_claim_09_ties_are_broken_by_the_next_margin():
    # The first two rows fix the margin at 1/2; the third can be lifted by moving weight to column 3 or 4.
    Z = np.array([[1.0, 0.0, 0.5, 0.5], [0.0, 1.0, 0.5, 0.5], [0.6, 0.6, 1.0, 3.0]])
    _, margins = lexicographic_margins(Z)
    assert margins[:2] == pytest.approx(0.5, abs=1e-8) and margins[2] == pytest.approx(3.0, abs=1e-6)
    assert bl.max_l1_margin(Z).margin == pytest.approx(0.5)
    limit = bl.separable_limit(Z, np.ones(3), "exponential", c=5000.0)
    assert (Z @ limit)[2] == pytest.approx(3.0, abs=0.01)


def test_claim_10_margins_of_both_losses_converge_to_one_value_and_logistic_leads_early():
    X, y = mixture(1)
    H, _ = bl.scale_columns(bl.monomials(X, 8))
    best = bl.max_l1_margin(y[:, None] * H)
    record = np.array([5000, 400_000])
    ends = {}
    for loss in ("exponential", "logistic"):
        run = bl.eps_boost(H, y, loss, eps=0.002, n_steps=400_000, record=record)
        ends[loss] = run.margin / run.norm
    assert ends["logistic"][0] > ends["exponential"][0]
    assert ends["exponential"][1] == pytest.approx(ends["logistic"][1], rel=0.01)
    assert ends["logistic"][1] > 0.94 * best.margin


def test_claim_11_two_points():
    Z = np.array([[2.0, 0.5], [2.0, 1.5]])
    one, two = bl.max_l1_margin(Z), bl.max_l2_margin(Z)
    assert one.margin == pytest.approx(2.0) and one.beta == pytest.approx([1.0, 0.0])
    assert two.margin == pytest.approx(np.sqrt(4.25)) and two.beta[0] / two.beta[1] == pytest.approx(4.0)


@pytest.mark.parametrize(
    "seed, reported", [(0, (0.01362, 0.607, 0.449)), (1, (0.03026, 0.798, 0.407)), (3, (0.02194, 0.741, 0.252))]
)
def test_experiment_4_polynomials(seed, reported):
    X, y = mixture(seed)
    H, _ = bl.scale_columns(bl.monomials(X, 8))
    assert H.shape[1] == 45
    best = bl.max_l1_margin(y[:, None] * H)
    run = bl.eps_boost(H, y, "logistic", eps=0.001, n_steps=10**5, record=np.array([10**5]))
    beta = run.coefs[-1] / run.norm[-1]
    got = (best.margin, run.margin[-1] / run.norm[-1] / best.margin, np.abs(beta - best.beta).sum())
    assert got == pytest.approx(reported, abs=6e-4)


def test_experiment_5_l2_steps_lead_to_the_l2_separator():
    X, y = mixture(0)
    H, _ = bl.scale_columns(bl.monomials(X, 8))
    Z = y[:, None] * H
    best, other = bl.max_l2_margin(Z), bl.max_l1_margin(Z)
    record = np.array([10**4, 10**5])
    run = bl.l2_boost_path(H, y, "exponential", eps=0.01, n_steps=10**5, record=record)
    ratios = [bl.margin(Z, b, 2) / best.margin for b in run.coefs]
    assert 0.3 < ratios[0] < ratios[1] and ratios[1] > 0.93
    beta = run.coefs[-1] / np.linalg.norm(run.coefs[-1])
    assert beta @ best.beta > 0.998
    assert other.beta @ best.beta / np.linalg.norm(other.beta) < 0.8, "the l1 separator is another one"
    assert np.count_nonzero(run.coefs[-1]) > 40 > np.count_nonzero(np.abs(other.beta) > 1e-9)


# The solvers against independent ones.


def test_max_l1_margin_against_the_dual_program():
    rng = np.random.default_rng(4)
    for _ in range(10):
        Z = rng.normal(size=(12, 5)) + 0.3
        best = bl.max_l1_margin(Z)
        # min over distributions of the largest edge
        n, J = Z.shape
        A = np.vstack([np.hstack([Z.T, -np.ones((J, 1))]), np.hstack([-Z.T, -np.ones((J, 1))])])
        dual = linprog([0.0] * n + [1.0], A_ub=A, b_ub=np.zeros(2 * J), A_eq=[[1.0] * n + [0.0]], b_eq=[1.0],
                       bounds=[(0, None)] * n + [(None, None)])  # fmt: skip
        assert best.margin == pytest.approx(dual.fun, abs=1e-9)
        if best.margin > 0:
            assert np.abs(best.beta).sum() == pytest.approx(1.0) and bl.margin(Z, best.beta) == pytest.approx(
                best.margin
            )
            assert np.abs(best.dual @ Z).max() == pytest.approx(best.margin, abs=1e-8)


def test_max_l2_margin_against_libsvm():
    H, y = separable(8, n=40, J=3)
    best = bl.max_l2_margin(y[:, None] * H)
    Z = y[:, None] * H
    # Without intercept: every row and its mirror image.
    mirror = SVC(C=1e8, kernel="linear", tol=1e-9).fit(np.vstack([Z, -Z]), np.repeat([1, -1], len(y)))
    w = mirror.coef_[0]
    assert best.beta == pytest.approx(w / np.linalg.norm(w), abs=1e-5)
    assert bl.max_l2_margin(np.array([[1.0, 0.0], [-1.0, 0.0]])).margin == 0.0


@pytest.mark.parametrize("c", [0.5, 2.0, 8.0])
def test_constrained_logistic_against_a_penalised_fit(c):
    rng = np.random.default_rng(6)
    H = rng.normal(size=(150, 8))
    y = np.where(H[:, 0] - H[:, 1] + rng.logistic(size=150) > 0, 1.0, -1.0)
    path = bl.l1_constrained_path(H, y, "logistic", [c])
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
    beta = bl.l1_constrained_path(H, y, "exponential", [0.4]).coefs[0]

    def loss(u):
        return np.exp(-y * (H @ (u[:3] - u[3:]))).sum()

    answer = minimize(loss, np.full(6, 0.05), method="SLSQP", bounds=[(0, None)] * 6,
                      constraints={"type": "ineq", "fun": lambda u: 0.4 - u.sum()},
                      options={"ftol": 1e-14})  # fmt: skip
    assert beta == pytest.approx(answer.x[:3] - answer.x[3:], abs=1e-5)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_conditions_hold_far_out(loss):
    H, y = separable(3)
    top = bl.max_l1_margin(y[:, None] * H).margin
    path = bl.l1_constrained_path(H, y, loss, np.geomspace(1.0, 2000.0 / top, 24), tol=1e-7)
    assert path.violations.max() <= 1e-7


def test_inside_the_ball_the_bound_does_not_bind():
    rng = np.random.default_rng(9)
    H = rng.normal(size=(80, 2))
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    path = bl.l1_constrained_path(H, y, "logistic", [50.0])
    free = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(H, y).coef_[0]
    assert path.penalties[0] == 0.0 and path.coefs[0] == pytest.approx(free, abs=1e-4)


@pytest.mark.parametrize("loss", ["squared", "exponential", "logistic"])
def test_compiled_steps_equal_plain_ones(loss):
    rng = np.random.default_rng(11)
    H = rng.normal(size=(30, 7))
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    run = bl.eps_boost(H, y, loss, eps=0.03, n_steps=300, record=np.arange(301))
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
    ours = bl.eps_boost(H, y, "exponential", eps=0.05, n_steps=100).coefs[-1]
    assert bl.eps_boost(H, y, mine, eps=0.05, n_steps=100).coefs[-1] == pytest.approx(ours)


def test_line_search_is_adaboost_for_signs_and_exact_otherwise():
    rng = np.random.default_rng(12)
    H = rng.choice([-1.0, 1.0], size=(101, 9))
    y = rng.choice([-1.0, 1.0], 101)
    run = line_search_boost(H, y, "exponential", n_steps=20, record=20)
    D = np.full(101, 1 / 101)
    beta = np.zeros(9)
    for t in range(20):
        edges = (D * y) @ H
        j = int(np.argmax(np.abs(edges)))
        beta[j] += np.sign(edges[j]) * 0.5 * np.log((1 + abs(edges[j])) / (1 - abs(edges[j])))
        D = np.exp(-y * (H @ beta))
        D /= D.sum()
        assert run.coefs[t + 1] == pytest.approx(beta, abs=1e-10)
    X = rng.normal(size=(101, 3))
    first = line_search_boost(X, y, "logistic", n_steps=1, record=1).coefs[-1]
    j = int(np.flatnonzero(first)[0])
    peer = minimize_scalar(lambda a: np.log1p(np.exp(-y * X[:, j] * a)).sum(), bracket=(-1, 1), tol=1e-12).x
    assert first[j] == pytest.approx(peer, abs=1e-6)


def test_line_search_with_the_squared_loss_is_a_least_squares_fit_of_one_column():
    rng = np.random.default_rng(14)
    H, y = rng.normal(size=(30, 5)) * [1.0, 3.0, 0.2, 1.0, 2.0], rng.normal(size=30)
    run = line_search_boost(H, y, "squared", n_steps=12, record=12)
    beta, travelled = np.zeros(5), 0.0
    for t in range(12):
        residual = y - H @ beta
        j = int(np.argmax(np.abs(residual @ H)))
        step = np.linalg.lstsq(H[:, [j]], residual)[0][0]
        beta[j] += step
        travelled += abs(step)
        assert run.chosen[t] == j
        np.testing.assert_allclose(run.coefs[t + 1], beta, atol=1e-12)
        assert run.length[t + 1] == pytest.approx(travelled)


def test_large_scales_do_not_overflow():
    H, y = separable(1, n=30, J=4)
    run = bl.eps_boost(1e4 * H, y, "exponential", eps=1e-6, n_steps=50_000, record=np.array([50_000]))
    assert np.isfinite(run.coefs).all()
    assert run.margin[-1] / run.norm[-1] > 0.9 * bl.max_l1_margin(1e4 * y[:, None] * H).margin


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("base", ["tree", "stump", "poly"])
def test_classifier_stops_early_on_held_out_data(base, loss):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(400, 3))
    y = np.where((X[:, 0] ** 2 + X[:, 1] > 0.5) ^ (rng.random(400) < 0.2), "yes", "no")
    eps = 0.01 if base == "poly" else 0.1
    model = bl.BoostedPathClassifier(base, loss, eps=eps, n_steps=60, validation_fraction=0.3).fit(X, y)
    assert model.n_steps_ == np.argmin(model.validation_error_) + 1
    assert set(model.predict(X)) <= {"yes", "no"}
    whole = bl.BoostedPathClassifier(base, loss, eps=eps, n_steps=60).fit(X, y)
    staged = whole.staged_decision_function(X)
    assert staged[-1] == pytest.approx(whole.decision_function(X))
    margins = whole.staged_margins(X, y)
    signs = np.where(y == "yes", 1.0, -1.0)
    norm = np.abs(whole.coef_).sum() if base == "poly" else 60 * 0.1
    assert margins[-1] == pytest.approx((signs * staged[-1]).min() / norm)


@parametrize_with_checks(
    [bl.BoostedPathClassifier("stump", n_steps=30), bl.BoostedPathClassifier(n_steps=20)],
    expected_failed_checks=lambda e: {},
)
def test_estimator_follows_the_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: bl.eps_boost([[1.0]], [0.5], "exponential"), "labels"),
        (lambda: bl.eps_boost([[1.0]], [1.0], eps=0.0), "eps"),
        (lambda: bl.eps_boost([[np.nan]], [1.0]), "finite"),
        (lambda: bl.eps_boost([[1.0]], [1.0, -1.0]), "row"),
        (lambda: bl.eps_boost([[1.0]], [1.0], n_steps=5, record=np.array([9])), "between"),
        (lambda: bl.eps_boost([[1.0]], [1.0], "no such loss"), "loss"),
        (lambda: bl.l1_constrained_path([[1.0]], [1.0], "logistic", [0.0]), "positive"),
        (lambda: bl.l1_constrained_path([[1.0]], [1.0], "hinge", [1.0]), "loss"),
        (lambda: bl.separable_limit([[1.0], [1.0]], [1.0, -1.0]), "not separable"),
        (lambda: bl.margin([[1.0]], [0.0]), "non-zero"),
        (lambda: bl.max_l1_margin(np.zeros((0, 3))), "at least one"),
        (lambda: bl.lemma4_threshold(5, 0.1, 0.2), "larger"),
        (lambda: bl.monomials(np.ones((2, 40)), 9), "monomials"),
        (lambda: bl.BoostedPathClassifier(loss="hinge").fit([[0.0], [1.0]], [0, 1]), "loss"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Slips of the source.


def test_erratum_a_million_steps_are_close_to_the_optimum():
    """Caption (10^6) and text (3 * 10^6 steps) of Figure 8 disagree; both are near the end of the path."""
    X, y = mixture(0)
    H, _ = bl.scale_columns(bl.monomials(X, 8))
    best = bl.max_l1_margin(y[:, None] * H)
    run = bl.eps_boost(H, y, "logistic", eps=0.001, n_steps=10**6, record=np.array([10**5, 10**6]))
    ratios = run.margin / run.norm / best.margin
    assert ratios == pytest.approx([0.607, 0.963], abs=6e-4)
    assert np.abs(run.coefs[-1] / run.norm[-1] - best.beta).sum() == pytest.approx(0.028, abs=6e-4)


def test_erratum_the_change_of_the_norm_is_added():
    """Along a dependence of the columns the norm changes by the sum of the changes, added: a shorter one fits."""
    H = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.25]])
    beta, dependence = np.array([1.0, 2.0, 0.8]), np.array([0.5, 0.25, -1.0])
    moved = beta + 0.8 * dependence  # the last coefficient vanishes first
    assert H @ moved == pytest.approx(H @ beta) and moved[2] == pytest.approx(0.0)
    change = np.sum(np.abs(moved) - np.abs(beta))
    assert np.abs(moved).sum() == pytest.approx(np.abs(beta).sum() + change) and change == pytest.approx(-0.2)
    with pytest.raises(ValueError, match="not an optimum"):
        sparsify(H, beta)  # beta could be made shorter, as `moved` shows
    # Where the changes cancel, the fit and the norm stay.
    H[1, 2] = 0.5
    assert np.abs(sparsify(H, beta)).sum() == pytest.approx(np.abs(beta).sum())
    assert H @ sparsify(H, beta) == pytest.approx(H @ beta)


# Scales, grids past the minimiser, and input that must not get past the door


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
            path = bl.l1_constrained_path(H * scale, y, loss, np.array(grid) * norm / scale)
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
        bl.l1_constrained_path(H, y, "logistic", [0.5], max_iter=1)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 600.0, 1e8])
def test_line_search_steps_do_not_depend_on_the_unit_of_the_columns(scale):
    from learnable.ensembles.boosting_adaboost import line_search

    alpha = line_search("exponential", np.zeros(3), scale * np.array([1.0, 1.0, -1.0]))
    assert alpha * scale == pytest.approx(0.5 * np.log(2), rel=1e-10)
    H, y = overlapping(0)
    plain, scaled = (line_search_boost(A, y, "exponential", n_steps=20, record=20) for A in (H, H * scale))
    np.testing.assert_allclose(scaled.loss, plain.loss, rtol=1e-8)
    np.testing.assert_allclose(scaled.coefs * scale, plain.coefs, atol=1e-8)


def test_a_line_search_that_runs_out_of_steps_warns():
    from learnable.ensembles.boosting_adaboost import line_search

    with pytest.warns(ConvergenceWarning, match="stopped after 2 steps"):
        line_search("exponential", np.zeros(3), [1.0, 0.3, -1.0], max_iter=2)


@pytest.mark.parametrize("loss", ["squared", "exponential", "logistic"])
def test_ties_go_to_the_first_of_equal_columns(loss):
    rng = np.random.default_rng(0)
    for n in (37, 101):
        column = rng.standard_normal(n)
        H = np.column_stack([column] * 7 + [-column])
        y = np.where(column + rng.standard_normal(n) > 0, 1.0, -1.0)
        assert set(bl.eps_boost(H, y, loss, n_steps=50).chosen.tolist()) == {0}


def test_the_margin_of_rows_that_cannot_be_separated_is_zero_with_zero_coefficients():
    best = bl.max_l1_margin([[1.0], [-1.0]])
    assert best.margin == 0 and best.beta.tolist() == [0.0]
    weak = bl.max_l1_margin([[1.0, 0.0], [0.0, 0.0]])  # the second row is zero whatever beta
    assert weak.margin == pytest.approx(0, abs=1e-12)
    separable = bl.max_l1_margin([[1e-9, 2e-9], [3e-9, 1e-9]])
    assert np.abs(separable.beta).sum() == pytest.approx(1) and separable.margin > 0


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_margins_scale_with_their_rows(scale):
    Z = np.array([[1.0, 0.0, 1.0, 0.5], [0.0, 3.0, 1.0, 0.25], [2.0, 0.5, 1.5, -1.0]])
    (beta, margins), (scaled, rescaled) = lexicographic_margins(Z), lexicographic_margins(scale * Z)
    np.testing.assert_allclose(scaled, beta, atol=1e-7)
    np.testing.assert_allclose(rescaled / scale, margins, atol=1e-7)
    for best in (bl.max_l1_margin, bl.max_l2_margin):
        np.testing.assert_allclose(best(scale * Z).beta, best(Z).beta, atol=1e-6)
        assert best(scale * Z).margin / scale == pytest.approx(best(Z).margin, rel=1e-6)


def test_lexicographic_margins_fix_only_rows_that_cannot_be_lifted():
    """Row 0 is stuck at 1; rows 1 and 2 are tied with it at a first optimum, and can both be lifted to 2."""
    Z = np.array([[1.0, 1.0, 1.0], [1.0, 3.0, 1.0], [1.0, 1.0, 3.0]])
    _, margins = lexicographic_margins(Z)
    np.testing.assert_allclose(margins, [1, 2, 2], atol=1e-6)


@pytest.mark.parametrize("base", ["linear", "poly", "stump"])
def test_normalised_margins_of_every_dictionary(base):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "b", "a")
    model = bl.BoostedPathClassifier(base, n_steps=40, degree=2).fit(X, y)
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
        model = bl.BoostedPathClassifier(base, n_steps=60, eps=0.3, validation_fraction=0.4).fit(X, y)
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


def test_the_direction_of_the_path_has_unit_speed_and_is_the_difference_quotient():
    H, y = overlapping(2)
    for loss in ("squared", "exponential", "logistic"):
        c, h = 0.2, 1e-5
        low, high = bl.l1_constrained_path(H, y, loss, [c, c + h], tol=1e-12).coefs
        direction = bl.path_direction(H, y, loss, low)
        assert np.sign(low) @ direction == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(direction, (high - low) / h, atol=1e-3)


def test_bad_input_is_refused_by_name():
    with pytest.raises(ValueError, match="H must have at least one row"):
        bl.sparsify(np.zeros((0, 2)), [1.0, 1.0])
    with pytest.raises(ValueError, match="rescale H"):
        bl.separable_limit([[2e150, 0.5], [2e150, 1.5]], [1, 1])


@pytest.mark.parametrize("leaves", [2, 3, 8])
def test_trees_with_a_bounded_number_of_leaves(leaves):
    """`max_leaf_nodes` splits best first; with two leaves the rules are stumps by squared error."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=300) > 0).astype(int)
    model = bl.BoostedPathClassifier(n_steps=40, max_depth=None, max_leaf_nodes=leaves).fit(X, y)
    assert [rule.tree.n_leaves for rule in model.rules_] == [leaves] * 40
    if leaves == 2:
        shallow = bl.BoostedPathClassifier(n_steps=40, max_depth=1, max_leaf_nodes=50).fit(X, y)
        np.testing.assert_allclose(shallow.decision_function(X), model.decision_function(X))
    else:
        assert model.score(X, y) > 0.75
    # a depth limits as well
    bounded = bl.BoostedPathClassifier(n_steps=5, max_depth=2, max_leaf_nodes=leaves).fit(X, y)
    assert max(rule.tree.depth.max() for rule in bounded.rules_) <= 2


def test_leaves_are_for_trees_only():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    for options, message in (
        ({"base": "stump", "max_leaf_nodes": 4}, "max_leaf_nodes is for base='tree'"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be an integer"),
        ({"max_depth": None}, "max_depth may be None only"),
    ):
        with pytest.raises(ValueError, match=message):
            bl.BoostedPathClassifier(**options).fit(X, y)
