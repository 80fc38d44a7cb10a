"""The path of the support vector machine against LIBSVM, its optimality conditions and linear programs."""

import warnings

import numpy as np
import pytest
from scipy import optimize
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets.classification import make_mixture_means
from learnable.kernels import OneVersusRestPath, SVMPath, cv_path
from learnable.kernels.functions import Gaussian, Linear, Polynomial
from learnable.kernels.svm_path import StepCurve


def mixture(n=120, seed=0, plus=None):
    """The mixture of Hastie et al. with labels -1, +1; `plus` keeps that many of the positive points."""
    X, y = make_mixture_means(n, random_state=seed, return_X_y=True)
    y = 2 * y - 1
    if plus is not None:
        keep = np.concatenate([np.flatnonzero(y > 0)[:plus], np.flatnonzero(y < 0)])
        X, y = X[keep], y[keep]
    return X, y


def wide(seed=0, n=40, p=50):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], n // 2)
    X = rng.normal(size=(n, p))
    X[:, 0] += 2 * y
    return X, y


def separable(seed=0, n=40):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], n // 2)
    return rng.normal(size=(n, 2)) + 3.0 * y[:, None], y


def dual(K, y, alpha, lam):
    theta = y * alpha
    return alpha.sum() - theta @ K @ theta / (2 * lam)


def violation(K, y, alpha, a0, lam, balanced=True):
    """Largest violation of the optimality conditions, written out anew."""
    margin = y * (K @ (y * alpha) + a0) / lam
    assert alpha.min() >= 0 and alpha.max() <= 1
    worst = abs(y @ alpha) if balanced else 0.0
    for a, m in zip(alpha, margin, strict=True):
        if a > 0:
            worst = max(worst, m - 1)
        if a < 1:
            worst = max(worst, 1 - m)
    return worst


def random_lams(path, count, seed=0, low=None):
    rng = np.random.default_rng(seed)
    low = path.lambdas_[-1] if low is None else low
    if low >= path.lambdas_[0]:
        return path.lambdas_[0] * np.geomspace(1, 1e6, count)
    return np.exp(rng.uniform(np.log(low), np.log(path.lambdas_[0]), count))


def exact(path, X, y, K, count=30, low=1e-3, compare=8, balanced=True, tol=1e-8):
    """Claim 1 on one path: conditions at random lambdas and the dual no worse than LIBSVM's."""
    lams = random_lams(path, count, low=max(low, path.lambdas_[-1]))
    for lam in lams:
        alpha = path.alpha_at(lam)
        a0 = path._solution_at(lam)[1]
        assert violation(K, y, alpha, a0, lam, balanced) < tol
        # LIBSVM takes minutes at large costs, and where all machines are constant.
        if balanced and compare > 0 and lam > 0.05 * np.mean(np.diag(K)) and path.n_steps_ > 0:
            compare -= 1
            ref = SVC(C=1 / lam, kernel="precomputed", tol=1e-8).fit(K, y)
            theirs = np.zeros(len(y))
            theirs[ref.support_] = np.abs(ref.dual_coef_[0]) * lam
            assert dual(K, y, alpha, lam) >= dual(K, y, theirs, lam) - 1e-8


DATA = {
    "balanced": lambda: mixture(120, 0),
    "more positive": lambda: mixture(120, 1, plus=60)[0:2],
    "fewer positive": lambda: mixture(120, 2, plus=35),
    "few negative": lambda: (mixture(120, 3, plus=25)[0], -mixture(120, 3, plus=25)[1]),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kernel", [Gaussian.from_gamma(5.0), Gaussian.from_gamma(0.5), Linear(), Polynomial(2, 1.0)])
def test_claim_01_every_machine_of_the_path_is_optimal(data, kernel):
    X, y = DATA[data]()
    path = SVMPath(kernel).fit(X, y)
    exact(path, X, y, kernel(X), compare=2)
    assert np.all(np.diff(path.lambdas_) <= 0)


def test_claim_01_reported_residual_and_decision_function_agree_with_libsvm():
    X, y = mixture(120, 4)
    path = SVMPath(gamma=1.0).fit(X, y)
    new = np.random.default_rng(0).normal(size=(50, 2))
    for lam in (10.0, 1.0, 0.1, 0.01):
        ref = SVC(C=1 / lam, gamma=1.0, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(path.decision_function(new, lam), ref.decision_function(new), atol=2e-4)
        assert path.kkt_residual(lam) < 1e-9
        np.testing.assert_array_equal(path.predict(new, lam), ref.predict(new))
    alpha, a0 = path._solution_at(1.0)
    K = Gaussian.from_gamma(1.0)(X)
    assert path.kkt_residual(1.0) == pytest.approx(max(violation(K, y, alpha, a0, 1.0), 0.0), abs=1e-13)


def test_claim_01_residual_sees_a_wrong_solution():
    X, y = mixture(60, 4)
    path = SVMPath(gamma=1.0).fit(X, y)
    good = path.kkt_residual(1.0)
    path._offsets = path._offsets + 0.1
    assert path.kkt_residual(1.0) > 0.05 > good


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_claim_02_multipliers_are_linear_in_lambda_and_coefficients_in_cost(kernel):
    X, y = mixture(80, 5)
    path = SVMPath(kernel).fit(X, y)
    dense = path.alphas_
    lams = path.lambdas_
    for k in range(lams.size - 1):
        if lams[k] - lams[k + 1] < 1e-9 * lams[k]:
            continue
        middle = 0.5 * (lams[k] + lams[k + 1])
        half = 0.5 * (dense[k] + dense[k + 1])
        np.testing.assert_allclose(path.alpha_at(middle), half, atol=1e-10)
        # In C = 1/lambda: alpha / lambda and the intercept at the middle of the two costs.
        cost = 0.5 * (1 / lams[k] + 1 / lams[k + 1])
        alpha, a0 = path._solution_at(1 / cost)
        share = 0.5 * (dense[k] / lams[k] + dense[k + 1] / lams[k + 1])
        np.testing.assert_allclose(alpha * cost, share, atol=1e-10 * max(share.max(), 1))
        ends = 0.5 * (path.beta0_[k] + path.beta0_[k + 1])
        assert a0 * cost == pytest.approx(ends, abs=1e-9 * max(1, np.abs(path.beta0_[k : k + 2]).max()))
    assert lams.size > 40


def test_claim_02_the_true_solution_at_the_middle_is_the_mean_of_the_ends():
    # The same against LIBSVM, which knows nothing of breakpoints.
    X, y = mixture(80, 5)
    path = SVMPath(gamma=1.0).fit(X, y)
    dense = path.alphas_
    for k in (5, 20, 40):
        lam = 0.5 * (path.lambdas_[k] + path.lambdas_[k + 1])
        ref = SVC(C=1 / lam, gamma=1.0, tol=1e-10).fit(X, y)
        alpha = np.zeros(len(y))
        alpha[ref.support_] = np.abs(ref.dual_coef_[0]) * lam
        np.testing.assert_allclose(alpha, 0.5 * (dense[k] + dense[k + 1]), atol=2e-5)


def test_claim_03_function_within_a_segment():
    X, y = mixture(100, 6)
    path = SVMPath(gamma=1.0).fit(X, y)
    new = np.random.default_rng(1).normal(size=(20, 2))
    K, C = Gaussian.from_gamma(1.0)(X), Gaussian.from_gamma(1.0)(new, X)
    all_f = path.path_decision(new)
    checked = 0
    for k in range(3, path.lambdas_.size - 1, 7):
        lam, below = path.lambdas_[k], path.lambdas_[k + 1]
        alpha = path.alpha_at(0.5 * (lam + below))
        E = np.flatnonzero((alpha > 0) & (alpha < 1))
        if E.size == 0 or lam - below < 1e-8 * lam:
            continue
        m = E.size
        A = np.zeros((m + 1, m + 1))
        A[0, 1:] = A[1:, 0] = y[E]
        A[1:, 1:] = y[E][:, None] * y[E] * K[np.ix_(E, E)]
        b = np.linalg.solve(A, np.append(0.0, np.ones(m)))
        h = C[:, E] @ (y[E] * b[1:]) + b[0]
        at = 0.3 * lam + 0.7 * below
        expected = lam / at * (all_f[k] - h) + h
        np.testing.assert_allclose(path.decision_function(new, at), expected, rtol=1e-6, atol=1e-7)
        checked += 1
    assert checked > 15


def test_claim_03_values_at_all_breakpoints_match_single_ones():
    X, y = mixture(100, 6, plus=30)
    new = np.random.default_rng(1).normal(size=(20, 2))
    path = SVMPath(gamma=1.0).fit(X, y)
    table = path.path_decision(new)
    for k in (0, 1, 50, path.lambdas_.size - 1):
        np.testing.assert_allclose(table[k], path.decision_function(new, path.lambdas_[k]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("plus", [None, 30])
def test_claim_04_slack_falls_and_norm_grows(kernel, plus):
    X, y = mixture(100, 7, plus=plus)
    path = SVMPath(kernel).fit(X, y)
    known = path.lambdas_ > 1e-3  # below, the norm is a difference of nearly equal numbers
    slack, norm = path.sum_slack_, path.norm_beta_[known]
    assert np.all(np.diff(slack) <= 1e-7 * slack[0])
    assert np.all(np.diff(norm) >= -1e-7 * norm[1:])
    assert slack[-1] < 0.9 * slack[0] and norm[-1] > 2 * norm[0]


def test_claim_04_summaries_are_what_they_say():
    X, y = mixture(100, 7)
    path = SVMPath(gamma=1.0).fit(X, y)
    f = path.path_decision(X)
    K = Gaussian.from_gamma(1.0)(X)
    dense = path.alphas_
    for k in range(0, path.lambdas_.size, 23):
        theta = y * dense[k] / path.lambdas_[k]
        assert path.n_errors_[k] == np.count_nonzero(np.where(f[k] >= 0, 1, -1) != y)
        assert path.sum_slack_[k] == pytest.approx(np.maximum(1 - y * f[k], 0).sum(), rel=1e-7)
        assert path.norm_beta_[k] == pytest.approx(np.sqrt(theta @ K @ theta), rel=1e-7)
    moving = [np.count_nonzero(np.abs(dense[k + 1] - dense[k]) > 1e-13) for k in range(len(dense) - 1)]
    assert np.all(path.elbow_sizes_[:-1] >= moving) and np.mean(path.elbow_sizes_[:-1] == moving) > 0.9


def test_claim_05_geometry_of_the_elbow_in_the_plane():
    seen = set()
    for seed in range(4):
        X, y = mixture(60, seed)
        path = SVMPath("linear").fit(X, y)
        for k in range(path.lambdas_.size - 1):
            lam, below = path.lambdas_[k], path.lambdas_[k + 1]
            if lam - below < 1e-6 * lam:
                continue
            ends = [lam - 0.01 * (lam - below), below + 0.01 * (lam - below)]
            first, second = (path.coef_path(at) for at in ends)
            alpha = path.alpha_at(0.5 * (lam + below))
            E = np.flatnonzero((alpha > 0) & (alpha < 1))
            cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
            if E.size == 3:
                np.testing.assert_allclose(first, second, rtol=1e-8)
                values = [path.decision_function(X, at) for at in ends]
                np.testing.assert_allclose(*values, atol=1e-7)
            elif E.size == 0 or (E.size == 2 and y[E[0]] == y[E[1]]):
                assert cosine == pytest.approx(1, abs=1e-9)
            elif E.size == 2 and cosine < 1 - 1e-6:
                seen.add("turns")
            seen.add(E.size)
    assert {0, 2, 3, "turns"} <= seen


def test_claim_06_separable_path_ends_at_the_hard_margin():
    for X, y in (separable(), wide()):
        path = SVMPath("linear").fit(X, y)
        assert path.separable_
        ref = SVC(kernel="linear", C=1e8, tol=1e-8).fit(X, y)
        last = path.lambdas_[-1]
        np.testing.assert_allclose(path.coef_path(last), ref.coef_[0], rtol=1e-5, atol=1e-5)
        assert path.beta0_[-1] == pytest.approx(ref.intercept_[0], abs=1e-5)
        # Below the last breakpoint nothing changes.
        np.testing.assert_allclose(path.coef_path(last / 1e3), path.coef_path(last), rtol=1e-10)
        assert path.kkt_residual(last / 1e3) < 1e-9 and path.sum_slack_[-1] < 1e-8


def least_slack(X, y):
    n, p = X.shape
    cost = np.concatenate([np.zeros(p + 1), np.ones(n)])
    A = -np.hstack([y[:, None] * np.column_stack([X, np.ones(n)]), np.eye(n)])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * n
    return optimize.linprog(cost, A_ub=A, b_ub=-np.ones(n), bounds=bounds).fun


@pytest.mark.parametrize("plus", [None, 30])
def test_claim_07_other_paths_end_at_the_least_total_slack(plus):
    X, y = mixture(100, 3, plus=plus)
    path = SVMPath("linear").fit(X, y)
    assert not path.separable_
    assert path.sum_slack_[-1] == pytest.approx(least_slack(X, y), abs=1e-6)


@pytest.mark.parametrize("plus, flip", [(30, 1), (30, -1), (49, 1)])
@pytest.mark.parametrize("kernel", [Gaussian.from_gamma(1.0), Linear()])
def test_claim_08_start_of_unequal_classes(plus, flip, kernel):
    X, y = mixture(100, 2, plus=plus)
    y = y * flip
    path = SVMPath(kernel).fit(X, y)
    top = path.lambdas_[0]
    K = kernel(X)
    minority = y == (1 if (y > 0).sum() < (y < 0).sum() else -1)
    start = path.alpha_at(2 * top)
    np.testing.assert_array_equal(start[minority], 1.0)
    assert start[~minority].sum() == pytest.approx(minority.sum(), abs=1e-9)
    slacks = []
    for factor in (2, 10, 100):
        lam = factor * top
        np.testing.assert_array_equal(path.alpha_at(lam), start)
        ref = SVC(C=1 / lam, kernel="precomputed", tol=1e-10).fit(K, y)
        alpha = np.zeros(len(y))
        alpha[ref.support_] = np.abs(ref.dual_coef_[0]) * lam
        np.testing.assert_allclose(K @ (y * alpha), K @ (y * start), atol=1e-5 * max(1, np.abs(K).max()))
        assert path.kkt_residual(lam) < 1e-9
        slacks.append(path._solution_at(lam)[1] / lam)
    sign = 1 if (y > 0).sum() > (y < 0).sum() else -1
    gaps = [abs(sign - b) for b in slacks]
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] < 0.05
    # And the first breakpoint is where LIBSVM's multipliers begin to move.
    below = SVC(C=1 / (0.97 * top), kernel="precomputed", tol=1e-10).fit(K, y)
    alpha = np.zeros(len(y))
    alpha[below.support_] = np.abs(below.dual_coef_[0]) * 0.97 * top
    assert (1 - alpha[minority]).max() > 1e-4


def test_claim_08_balanced_start_in_closed_form():
    X, y = mixture(80, 9)
    K = Gaussian.from_gamma(1.0)(X)
    g = K @ y
    high, low = g[y > 0].max(), g[y < 0].min()
    path = SVMPath(gamma=1.0).fit(X, y)
    assert path.lambdas_[0] == pytest.approx((high - low) / 2, rel=1e-12)
    assert path.beta0_[0] == pytest.approx(-(high + low) / (high - low), rel=1e-10)
    np.testing.assert_array_equal(path.alphas_[0], 1.0)


@pytest.mark.parametrize("plus", [None, 25])
def test_claim_09_no_intercept_path_is_optimal(plus):
    X, y = mixture(100, 8, plus=plus)
    for kernel in (Gaussian.from_gamma(1.0), Linear()):
        path = SVMPath(kernel, fit_intercept=False).fit(X, y)
        exact(path, X, y, kernel(X), balanced=False)
        f = kernel(X) @ y
        assert path.lambdas_[0] == pytest.approx((y * f).max(), rel=1e-12)
        assert not path.alpha0_.any()


@pytest.mark.parametrize("gamma", [5.0, 1.0, 0.5, 0.1])
def test_claim_11_number_of_events(gamma):
    X, y = mixture(200, 0)
    path = SVMPath(gamma=gamma).fit(X, y)
    assert 3 <= path.n_steps_ / 100 <= 8


def test_claim_12_degenerate_data():
    X, y = mixture(60, 11)
    cases = {
        "duplicates": (np.vstack([X, X[:25]]), np.append(y, y[:25])),
        "opposite labels": (np.vstack([X, X[:3], X[:8]]), np.concatenate([y, -y[:3], y[:8]])),
        "grid": (np.round(2 * X) / 2, y),
        "constant feature": (np.column_stack([X, np.ones(60)]), y),
        "everything twice": (np.vstack([X[:30], X[:30]]), np.append(y[:30], y[:30])),
    }
    for name, (Z, labels) in cases.items():
        for kernel in (Gaussian.from_gamma(1.0), Linear()):
            with warnings.catch_warnings():
                warnings.simplefilter("error", ConvergenceWarning)
                path = SVMPath(kernel).fit(Z, labels)
            assert path.separable_ or path.lambdas_[-1] <= 1e-5 * np.mean(np.diag(kernel(Z))), name
            exact(path, Z, labels, kernel(Z), count=20, compare=1)


def test_claim_12_integer_data_of_unequal_classes():
    for seed in range(3):
        X, y = mixture(90, seed, plus=30)
        for Z in (np.round(X), np.round(2 * X) / 2):
            for intercept in (True, False):
                path = SVMPath("linear", fit_intercept=intercept).fit(Z, y)
                exact(path, Z, y, Linear()(Z), count=20, compare=1, balanced=intercept)


def test_claim_12_two_points_at_the_same_place():
    path = SVMPath(gamma=1.0).fit([[0.0], [0.0], [1.0], [2.0]], [0, 1, 0, 1])
    assert path.kkt_residual(0.1) < 1e-10 and not path.separable_
    assert path.sum_slack_[-1] == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("intercept", [True, False])
def test_claim_13_start_in_the_middle(data, intercept):
    X, y = DATA[data]()
    options = {"gamma": 1.0, "fit_intercept": intercept, "lam_min": 1e-4}
    full = SVMPath(**options).fit(X, y)
    distinct = apart(full.lambdas_)
    k = distinct.size // 2
    lam = 0.5 * (distinct[k] + distinct[k + 1])
    lower = SVMPath(**options).from_solution(X, y, lam)
    np.testing.assert_allclose(apart(lower.lambdas_[1:]), distinct[k + 1 :], rtol=1e-7)
    upper = SVMPath(**options).from_solution(X, y, lam, full.alpha_at(lam), walk="up")
    np.testing.assert_allclose(apart(upper.lambdas_[:-1]), distinct[: k + 1], rtol=1e-7)
    whole = SVMPath(**options).from_solution(X, y, lam, walk="both")
    assert whole.events_[0][0] == "start" and [e for e, _ in whole.events_].count("given") == 1
    for at in np.append(random_lams(full, 20), 3 * full.lambdas_[0]):
        np.testing.assert_allclose(whole.alpha_at(at), full.alpha_at(at), atol=1e-7)
        assert whole.kkt_residual(at) < 1e-8
    # Single events are the same, read from below.
    events = {(round(lam, 9), e) for lam, e in zip(full.lambdas_, full.events_, strict=True) if e[1] >= 0}
    again = {(round(lam, 9), e) for lam, e in zip(whole.lambdas_, whole.events_, strict=True) if e[1] >= 0}
    assert len(events & again) > 0.8 * len(events)


def apart(lams):
    """Without the repetitions that stand for several events at one lambda."""
    return lams[np.append(True, -np.diff(lams) > 1e-9 * lams[:-1])]


def test_claim_13_linear_paths_with_empty_elbows():
    X, y = mixture(100, 0)
    full = SVMPath("linear").fit(X, y)
    for share in (0.1, 0.5, 0.9):
        lam = full.lambdas_[int(share * full.lambdas_.size)] * 0.9999
        whole = SVMPath("linear").from_solution(X, y, lam, walk="both")
        for at in random_lams(full, 20):
            np.testing.assert_allclose(whole.alpha_at(at), full.alpha_at(at), atol=1e-7)
            assert whole.kkt_residual(at) < 1e-7


@pytest.mark.parametrize("data", DATA)
def test_exact_cross_validation_curve_equals_refits(data):
    X, y = DATA[data]()
    curve = cv_path(X, y, 4, path=SVMPath(gamma=1.0, lam_min=1e-3), random_state=1)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    # Far above the first breakpoint too, where the offset of unequal classes still moves.
    for lam in np.exp(np.random.default_rng(0).uniform(np.log(2e-3), np.log(200), 20)):
        wrong = 0
        for train, test in folds:
            ref = SVC(C=1 / lam, gamma=1.0, tol=1e-9).fit(X[train], y[train])
            f = ref.decision_function(X[test])
            path = SVMPath(gamma=1.0, lam_min=1e-3).fit(X[train], y[train])
            if lam > path.lambdas_[0]:
                # The intercept is not unique there: ours, after its own conditions have been checked.
                assert path.kkt_residual(lam) < 1e-9
                f = path.decision_function(X[test], lam)
            wrong += np.count_nonzero(np.where(f >= 0, 1, -1) != y[test])
        assert curve(lam) == pytest.approx(wrong / len(y), abs=1e-12)


def test_cross_validation_curve_is_exact_next_to_its_edges():
    X, y = mixture(80, 5)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    template = SVMPath(gamma=1.0, lam_min=1e-2)
    curve = cv_path(X, y, folds, path=template)
    paths = [(SVMPath(gamma=1.0, lam_min=1e-2).fit(X[a], y[a]), b) for a, b in folds]
    assert curve.edges.size > 15 and curve.edges[0] == np.inf
    for edge in curve.edges[1:-1]:
        for at in (edge * (1 + 1e-7), edge * (1 - 1e-7)):
            wrong = sum(np.count_nonzero(p.predict(X[b], at) != y[b]) for p, b in paths)
            assert curve(at) == pytest.approx(wrong / len(y), abs=1e-12)


def test_step_curve():
    curve = StepCurve(np.array([np.inf, 4.0, 2.0, 1.0, 0.5]), np.array([0.5, 0.1, 0.3, 0.1]))
    assert curve(5.0) == 0.5 and curve(4.0) == 0.1 and curve(2.0) == 0.3
    np.testing.assert_array_equal(curve([3.0, 1.5, 0.6]), [0.1, 0.3, 0.1])
    value, (low, high) = curve.best()
    assert value == 0.1 and (low, high) in ((2.0, 4.0), (0.5, 1.0))
    with pytest.raises(ValueError, match="known for lambda"):
        curve(0.5)


def test_one_against_the_rest_equals_refits():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = OneVersusRestPath(SVMPath(gamma=0.5, lam_min=1e-3)).fit(X, names)
    lams, labels = model.path_predict(X)
    assert np.all(np.diff(lams) < 0)
    for lam in np.exp(np.random.default_rng(2).uniform(np.log(5e-3), np.log(30), 8)):
        fits = [SVC(C=1 / lam, gamma=0.5, tol=1e-9).fit(X, y == k) for k in range(3)]
        f = np.column_stack([fit.decision_function(X) for fit in fits])
        top = np.array([p.lambdas_[0] for p in model.paths_])
        if np.all(lam < top):
            np.testing.assert_allclose(model.decision_function(X, lam), f, atol=1e-4)
        np.testing.assert_array_equal(model.predict(X, lam), np.array(["a", "b", "c"])[f.argmax(axis=1)])
    for k in range(0, lams.size, 60):
        np.testing.assert_array_equal(labels[k], model.predict(X, lams[k]))


def test_cross_validation_of_many_classes_is_exact():
    X, y = load_iris(return_X_y=True)
    X, y = X[::2] + 0.3 * np.random.default_rng(0).normal(size=(75, 4)), y[::2]
    model = OneVersusRestPath(SVMPath(gamma=0.5, lam_min=1e-2))
    curve = cv_path(X, y, 3, path=model, random_state=5)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=5).split(X, y))
    fits = [(OneVersusRestPath(SVMPath(gamma=0.5, lam_min=1e-2)).fit(X[a], y[a]), b) for a, b in folds]
    lams = np.exp(np.random.default_rng(3).uniform(np.log(1.01 * curve.edges[-1]), np.log(200), 60))
    near = [e * f for e in curve.edges[1:-1] for f in (1 + 1e-7, 1 - 1e-7)]
    for lam in np.append(lams, near):
        wrong = sum(np.count_nonzero(fit.predict(X[b], lam) != y[b]) for fit, b in fits)
        assert curve(lam) == pytest.approx(wrong / len(y), abs=1e-12)


def test_two_classes_against_each_other():
    X, y = mixture(60, 3)
    one = SVMPath(gamma=1.0).fit(X, y)
    two = OneVersusRestPath(SVMPath(gamma=1.0)).fit(X, y)
    np.testing.assert_array_equal(one.predict(X, 0.5), two.predict(X, 0.5))
    assert len(two.paths_) == 1


def test_precomputed_kernels():
    X, y = mixture(60, 3)
    K = Gaussian.from_gamma(1.0)(X)
    one, two = SVMPath(gamma=1.0).fit(X, y), SVMPath("precomputed").fit(K, y)
    np.testing.assert_allclose(one.lambdas_, two.lambdas_, rtol=1e-10)
    np.testing.assert_allclose(one.decision_function(X[:7], 1.0), two.decision_function(K[:7], 1.0), atol=1e-10)
    np.testing.assert_allclose(one.path_decision(X[:7])[20], two.path_decision(K[:7])[20], atol=1e-10)
    first = cv_path(X, y, 3, path=SVMPath(gamma=1.0, lam_min=1e-2))
    second = cv_path(K, y, 3, path=SVMPath("precomputed", lam_min=1e-2))
    np.testing.assert_allclose(first.values, second.values)


def test_erratum_sums_run_over_the_elbow():
    # With delta over L in place of E the conditions on the elbow fail.
    X, y = mixture(60, 2)
    K = Gaussian.from_gamma(1.0)(X)
    path = SVMPath(gamma=1.0).fit(X, y)
    k = 40
    high, low = path.lambdas_[k], path.lambdas_[k + 1]
    delta = path.alpha_at(high) - path.alpha_at(low)
    delta0 = path._solution_at(high)[1] - path._solution_at(low)[1]
    middle = path.alpha_at(0.5 * (high + low))
    E, L = (middle > 0) & (middle < 1), middle == 1
    right = y[E] * (K[np.ix_(E, E)] @ (y * delta)[E]) + y[E] * delta0
    np.testing.assert_allclose(right, high - low, rtol=1e-7)
    wrong = y[L] * (K[np.ix_(L, L)] @ (y * delta)[L]) + y[L] * delta0
    assert np.abs(wrong - (high - low)).min() > 1e-3 * (high - low)


def test_erratum_first_elbow_without_intercept():
    # The largest |f*| belongs to a point on the wrong side: it cannot be the first on its margin.
    X = np.array([[3.0], [0.0], [1.0], [1.1], [1.2], [-1.0], [-1.1]])
    y = np.array([-1, 1, 1, 1, 1, -1, -1])
    f = X @ X.T @ y
    printed = np.argmax(np.abs(f.ravel()))
    assert (y * f.ravel())[printed] < 0
    path = SVMPath("linear", fit_intercept=False).fit(X, y)
    assert path.lambdas_[0] == pytest.approx((y * f.ravel()).max())
    lam = 0.5 * (path.lambdas_[0] + np.abs(f).max())
    ref = SVC(C=1 / lam, kernel="linear").fit(np.hstack([X, X * 0]), y)  # fits exist between the two values
    assert path.alpha_at(lam).min() == 1.0 and path.kkt_residual(lam) < 1e-12 and ref.n_support_.sum() > 0


def test_erratum_representation_in_the_criterion():
    # theta_j, not theta_i, belongs under the sum over j.
    X, y = mixture(40, 2)
    K = Gaussian.from_gamma(1.0)(X)
    path = SVMPath(gamma=1.0).fit(X, y)
    alpha, a0 = path._solution_at(1.0)
    theta = y * alpha
    np.testing.assert_allclose(path.decision_function(X, 1.0), K @ theta + a0, atol=1e-9)
    assert np.abs(theta * K.sum(axis=1) - K @ theta).max() > 1


def test_erratum_dual_needs_inner_products():
    X, y = mixture(40, 2)
    path = SVMPath("linear").fit(X, y)
    lam = 3.0
    alpha = path.alpha_at(lam)
    f = path.decision_function(X, lam)
    primal = np.maximum(1 - y * f, 0).sum() + lam / 2 * np.sum(path.coef_path(lam) ** 2)
    assert dual(X @ X.T, y, alpha, lam) == pytest.approx(primal, rel=1e-8)


def test_smallest_problems():
    path = SVMPath("linear").fit([[0.0], [2.0]], ["no", "yes"])
    assert path.separable_ and path.predict([[1.7], [0.1]], 0.1).tolist() == ["yes", "no"]
    assert path.lambdas_.tolist() == [2.0] and path.coef_path(0.5)[0] == pytest.approx(1.0)
    path = SVMPath("linear").fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    assert path.separable_ and path.coef_path(1e-4)[0] == pytest.approx(1.0)


def test_constant_solutions():
    # The mean of the smaller class lies among the points of the larger: every machine is constant.
    X = np.array([[-2.0], [-1.0], [1.0], [2.0], [0.0], [0.1], [-0.1]])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    path = SVMPath("linear").fit(X, y)
    for lam in (path.lambdas_[-1], 1.0, 100.0):
        assert path.kkt_residual(lam) < 1e-9
        assert set(path.predict(X, lam)) == {0} and abs(path.coef_path(lam)[0]) < 1e-9


def test_scale_of_the_kernel():
    X, y = mixture(60, 3)
    K = Gaussian.from_gamma(1.0)(X)
    one = SVMPath("precomputed").fit(K, y)
    for factor in (1e-6, 1e6):
        other = SVMPath("precomputed").fit(factor * K, y)
        np.testing.assert_allclose(other.lambdas_, factor * one.lambdas_, rtol=1e-6)


def test_cut_paths_say_so():
    X, y = mixture(60, 3)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        path = SVMPath(gamma=1.0, max_iter=20).fit(X, y)
    assert path.kkt_residual(path.lambdas_[-1]) < 1e-10 and 20 <= path.lambdas_.size <= 25
    with pytest.raises(ValueError, match="path ends at"):
        path.alpha_at(path.lambdas_[-1] / 2)


def test_labels_of_any_kind():
    X, y = mixture(40, 3)
    names = np.where(y > 0, "spam", "ham")
    one, two = SVMPath(gamma=1.0).fit(X, y), SVMPath(gamma=1.0).fit(X, names)
    np.testing.assert_array_equal(np.where(one.predict(X, 1.0) > 0, "spam", "ham"), two.predict(X, 1.0))


@pytest.mark.parametrize(
    "options, match",
    [
        ({"gamma": -1.0}, "gamma"),
        ({"gamma": "wide"}, "gamma must be 'scale', 'auto' or a positive number"),
        ({"kernel": "poly", "degree": 0}, "degree"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0"),
        ({"kernel": "cubic"}, "kernel"),
        ({"lam_min": 0.0}, "lam_min"),
        ({"eps": 0.1}, "eps"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_iter": 2.5}, "max_iter"),
    ],
)
def test_bad_parameters(options, match):
    with pytest.raises(ValueError, match=match):
        SVMPath(**options).fit(*mixture(20))


def test_a_thousand_points_within_the_stated_cost():
    X, y = mixture(1000, 0)
    path = SVMPath(gamma=1.0, lam_min=1e-3).fit(X, y)
    assert path.n_steps_ < 8 * 500 and path.elbow_sizes_.max() < 120
    assert max(path.kkt_residual(lam) for lam in path.lambdas_[::50]) < 1e-8


def test_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    path = SVMPath("linear").fit(X, y)
    exact(path, X, 2 * y - 1, X @ X.T, count=10, compare=2, low=1e-2)


@parametrize_with_checks([SVMPath(), SVMPath("linear", fit_intercept=False), OneVersusRestPath()])
def test_sklearn_compatibility(estimator, check):
    check(estimator)


@pytest.mark.parametrize("unseen", [0, 1, 2])
def test_points_of_a_class_that_the_fold_has_not_seen_are_all_errors(unseen):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(size=(36, 2)) + 3.0 * np.column_stack([y == 1, y == 2])
    folds = [(np.flatnonzero(y != unseen), np.flatnonzero(y == unseen))]
    curve = cv_path(X, y, folds, path=OneVersusRestPath(SVMPath(gamma=0.5, lam_min=1e-2)))
    assert [curve(lam) for lam in (0.2, 1.0, 5.0)] == [1.0, 1.0, 1.0]
