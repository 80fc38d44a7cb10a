"""Support vector machines against interior points, linear programs, LIBSVM, LIBLINEAR and closed forms."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable import kernels as svm
from learnable.kernels import smo
from learnable.kernels.functions import Gaussian, Linear
from learnable.kernels.smo import NotSeparableError

FOUR = np.array([[0.0, 1.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
FOUR_LABELS = np.array([-1, 1, 1, 1])
TIGHT = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def overlapping(seed=0, n=40, d=2, shift=1.0):
    """Two Gaussian clouds that overlap."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    X = rng.normal(size=(n, d))
    X[:, 0] += shift * y
    return X, y


def separable(seed=0, n=30, d=2, gap=0.5):
    """Points on two sides of a random hyperplane, none nearer to it than `gap`."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    y = np.where(X @ w > 0, 1, -1)
    y[:2] = 1, -1
    side = X @ w
    X += np.outer(y * (gap + np.abs(side)) - side, w)
    return X + 0.3, y


def primal_by_interior_points(X, y, C, norm=1, C2=None):
    w, w0, xi = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(y))
    paid = {1: C * cp.sum(xi), 2: 0.5 * C * cp.sum_squares(xi)}.get(norm)
    if norm == "mixed":
        paid = C * cp.sum(xi) + 0.5 * C2 * cp.sum_squares(xi)
    rules = [cp.multiply(y, X @ w + w0) >= 1 - xi, xi >= 0]
    task = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + paid), rules)
    task.solve(**TIGHT)
    return task.value, w.value, float(w0.value)


def test_claim_02_three_forms_of_the_hard_margin():
    X, y = separable(3, n=25, d=3)
    u, b, gamma = cp.Variable(3), cp.Variable(), cp.Variable()
    rules = [cp.multiply(y, X @ u + b) >= gamma, cp.norm(u) <= 1]
    cp.Problem(cp.Maximize(gamma), rules).solve(solver=cp.CLARABEL)
    w, w0 = cp.Variable(3), cp.Variable()
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w)), [cp.multiply(y, X @ w + w0) >= 1]).solve(**TIGHT)
    fitted = svm.HardMarginSVM(tol=1e-10).fit(X, y)
    assert np.linalg.norm(u.value) == pytest.approx(1.0, abs=1e-6)
    assert fitted.margin_ == pytest.approx(float(gamma.value), rel=1e-6)
    assert fitted.margin_ == pytest.approx(1.0 / np.linalg.norm(w.value), rel=1e-6)
    assert fitted.coef_[0] == pytest.approx(w.value, abs=1e-5)
    assert fitted.coef_[0] * fitted.margin_ == pytest.approx(u.value, abs=1e-5)
    assert fitted.intercept_ * fitted.margin_ == pytest.approx(float(b.value), abs=1e-5)
    assert fitted.margin_ == pytest.approx(fitted.alpha_.sum() ** -0.5, rel=1e-6)
    assert np.min(y * fitted.decision_function(X)) == pytest.approx(1.0, abs=1e-6)


def test_claim_03_four_points():
    fitted = svm.HardMarginSVM(tol=1e-10).fit(FOUR, FOUR_LABELS)
    assert fitted.margin_ == pytest.approx(0.5)
    assert np.linalg.norm(fitted.coef_) == pytest.approx(2.0)
    assert fitted.alpha_.sum() == pytest.approx(4.0)
    assert fitted.dual_ == pytest.approx(2.0)
    Q = np.outer(FOUR_LABELS, FOUR_LABELS) * (FOUR @ FOUR.T)
    for alpha in [(2, 0, 2, 0), (2, 2 / 3, 2 / 3, 2 / 3), (2, 1, 0, 1), *((2, a, 2 - 2 * a, a) for a in (0.1, 0.7))]:
        alpha = np.array(alpha, dtype=float)
        assert alpha.sum() - 0.5 * alpha @ Q @ alpha == pytest.approx(2.0)
        assert alpha @ FOUR_LABELS == pytest.approx(0.0)
        assert (alpha * FOUR_LABELS) @ FOUR == pytest.approx(fitted.coef_[0], abs=1e-6)
    assert svm.support_vector_report(fitted, FOUR).essential.tolist() == [0]


def least_multiplier(alpha, y, X, k, box):
    """The least alpha_k over all dual solutions, by a linear program over all points."""
    equal = np.vstack([(X * y[:, None]).T, y, np.ones(len(y))])
    return linprog(np.eye(len(y))[k], A_eq=equal, b_eq=equal @ alpha, bounds=[(0, box)] * len(y)).fun


def test_essential_support_vectors_against_a_program_over_all_points():
    grid = np.array([[i, j] for i in range(4) for j in range(2)], dtype=float)
    X = np.vstack([grid, grid + [0.0, 2.0]])
    y = np.repeat([1, -1], 8)
    fitted = svm.HardMarginSVM(tol=1e-10).fit(X, y)
    report = svm.support_vector_report(fitted, X)
    expected = [k for k in report.support if least_multiplier(fitted.alpha_, y, X, k, None) > 1e-6]
    assert report.essential.tolist() == expected == []
    X = np.vstack([X, [[1.5, -3.0], [1.5, 6.0]]])
    y = np.append(y, [-1, 1])
    soft = svm.SoftMarginSVM(C=1.0, tol=1e-10).fit(X, y)
    report = svm.support_vector_report(soft, X)
    expected = [k for k in report.support if least_multiplier(soft.alpha_, y, X, k, 1.0) > 1e-6]
    assert {16, 17} <= set(expected)
    assert report.essential.tolist() == expected


@pytest.mark.parametrize("hard", [True, False])
def test_claim_05_other_points_do_not_matter(hard):
    X, y = separable(8, n=60) if hard else overlapping(8, n=60)
    machine = svm.HardMarginSVM(tol=1e-11) if hard else svm.SoftMarginSVM(C=0.7, tol=1e-10)
    w, w0 = machine.fit(X, y).coef_[0], machine.intercept_
    keep = machine.support_
    assert keep.size < 45
    machine.fit(X[keep], y[keep])
    assert machine.coef_[0] == pytest.approx(w, abs=1e-6)
    assert machine.intercept_ == pytest.approx(w0, abs=1e-6)


@pytest.mark.parametrize("C", [0.1, 0.3, 0.5, 0.8, 5.0])
def test_claim_06_two_points(C):
    fitted = svm.SoftMarginSVM(C=C, tol=1e-10).fit([[-1.0], [1.0]], [-1, 1])
    assert fitted.alpha_ == pytest.approx([min(C, 0.5)] * 2)
    assert fitted.coef_[0, 0] == pytest.approx(min(2 * C, 1.0))
    assert fitted.intercept_ == pytest.approx(0.0, abs=1e-9)
    reach = max(0.0, 1.0 - 2.0 * C)
    assert fitted.intercept_interval_ == pytest.approx((-reach, reach), abs=1e-8)
    report = svm.support_vector_report(fitted, np.array([[-1.0], [1.0]]))
    assert report.inbound.size == (0 if C <= 0.5 else 2)
    assert report.margin_errors.size == (2 if C < 0.5 else 0)


@pytest.mark.parametrize("norm, C2", [(1, None), (2, None), ("mixed", 2.0)])
@pytest.mark.parametrize("C", [0.05, 3.0])
def test_claim_10_soft_margins_reach_the_primal_optimum(norm, C2, C):
    X, y = overlapping(2, n=50, d=3)
    value, w, w0 = primal_by_interior_points(X, y, C, norm, C2)
    fitted = svm.SoftMarginSVM(C=C, norm=norm, C2=C2, tol=1e-9).fit(X, y)
    assert fitted.dual_ == pytest.approx(value, rel=1e-6)
    assert fitted.primal_ == pytest.approx(value, rel=1e-6)
    assert fitted.coef_[0] == pytest.approx(w, abs=1e-5)
    assert fitted.intercept_ == pytest.approx(w0, abs=1e-4)
    if norm == "mixed":
        assert fitted.slack_ == pytest.approx(np.maximum(fitted.alpha_ - C, 0.0) / C2, abs=1e-6)
        quadratic = fitted.alpha_.sum() - 0.5 * fitted.coef_[0] @ fitted.coef_[0]
        excess = np.maximum(fitted.alpha_ - C, 0.0)
        assert quadratic - excess @ excess / (2 * C2) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_claim_07_trichotomy_and_squared_slacks(seed):
    X, y = overlapping(seed, n=80, d=3)
    C = 0.9
    one = svm.SoftMarginSVM(C=C, tol=1e-9).fit(X, y)
    margin, alpha = y * one.decision_function(X), one.alpha_
    assert np.all(alpha[margin > 1 + 1e-7] == 0.0)
    inbound = (alpha > 1e-9) & (alpha < C - 1e-9)
    assert inbound.sum() >= 2 and margin[inbound] == pytest.approx(1.0, abs=1e-7)
    assert (margin < 1 - 1e-7).sum() > 5
    assert alpha[margin < 1 - 1e-7] == pytest.approx(C)
    two = svm.SoftMarginSVM(C=C, norm=2, tol=1e-9).fit(X, y)
    margin, alpha = y * two.decision_function(X), two.alpha_
    assert alpha == pytest.approx(C * two.slack_, abs=1e-6)
    assert np.all(margin[two.support_] < 1.0)
    assert two.coef_[0] @ two.coef_[0] == pytest.approx(alpha.sum() - alpha @ alpha / C, rel=1e-7)
    assert two.margin_ == pytest.approx((alpha.sum() - alpha @ alpha / C) ** -0.5, rel=1e-6)
    assert two.support_.size >= one.support_.size
    sure = svm.support_vector_report(two, X)
    assert sure.essential.tolist() == sure.support.tolist() and sure.bound.size == 0


def test_report_counts_by_hand():
    X, y = overlapping(1, n=60)
    fitted = svm.SoftMarginSVM(C=0.5, tol=1e-9).fit(X, y)
    report = svm.support_vector_report(fitted, X)
    score = fitted.decision_function(X)
    assert report.misclassified.tolist() == np.flatnonzero(fitted.predict(X) != y).tolist()
    assert report.margin_errors.tolist() == np.flatnonzero(y * score < 1 - 1e-6).tolist()
    assert set(report.margin_errors) <= set(report.bound)
    assert sorted([*report.bound, *report.inbound]) == report.support.tolist()


def test_points_on_the_boundary_are_positive():
    X, y = np.array([[-1.0], [0.0], [0.0], [1.0]]), np.array([-1, -1, 1, 1])
    fitted = svm.SoftMarginSVM(C=1.0, tol=1e-10).fit(X, y)
    assert fitted.decision_function(X)[1] == 0.0
    assert fitted.predict(X).tolist() == [-1, 1, 1, 1]
    assert svm.support_vector_report(fitted, X).misclassified.tolist() == [1]


def test_prices_point_by_point():
    X, y = overlapping(5, n=60, d=2)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 60)
    ours = svm.SoftMarginSVM(C=0.8, kernel=Gaussian(sigma=1.0), tol=1e-9).fit(X, y, sample_weight=weights)
    peer = SVC(C=0.8, gamma=0.5, tol=1e-9).fit(X, y, sample_weight=weights)
    assert ours.decision_function(X) == pytest.approx(peer.decision_function(X), abs=1e-6)
    assert np.all(ours.alpha_ <= 0.8 * weights * (1 + 1e-12))
    ours = svm.SoftMarginSVM(C=0.8, class_weight="balanced", tol=1e-9).fit(X[5:], np.where(y[5:] > 0, "a", "b"))
    peer = SVC(C=0.8, class_weight="balanced", kernel="linear", tol=1e-9).fit(X[5:], np.where(y[5:] > 0, "a", "b"))
    assert ours.coef_ == pytest.approx(peer.coef_, abs=1e-6)
    for norm, C2 in ((1, None), (2, None), ("mixed", 0.7)):
        machine = svm.SoftMarginSVM(C=0.4, norm=norm, C2=C2, tol=1e-10)
        counts = np.random.default_rng(2).integers(0, 4, 60)
        weighted = machine.fit(X, y, sample_weight=counts).decision_function(X)
        assert machine.slack_ == pytest.approx(np.maximum(1 - y * weighted, 0.0), abs=1e-9)
        repeated = machine.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).decision_function(X)
        assert weighted == pytest.approx(repeated, abs=1e-6)


def test_precomputed_kernels_and_zero_weights():
    X, y = overlapping(6, n=50)
    gram = Gaussian(sigma=1.0)(X)
    weights = (np.arange(50) % 5 > 0).astype(float)
    direct = svm.SoftMarginSVM(kernel=Gaussian(sigma=1.0), tol=1e-9).fit(X, y, weights)
    given = svm.SoftMarginSVM(kernel="precomputed", tol=1e-9).fit(gram, y, weights)
    assert given.decision_function(gram) == pytest.approx(direct.decision_function(X), abs=1e-7)
    assert not np.isin(given.support_, np.flatnonzero(weights == 0)).any()


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(sigma=0.8)])
def test_claim_09_what_nu_controls(kernel):
    X, y = overlapping(7, n=100, shift=0.8)
    for nu in (0.45, 0.6, 0.8):
        fitted = svm.NuSVM(nu, kernel=kernel, tol=1e-9).fit(X, y)
        errors = (y * fitted.decision_function(X) < fitted.margin_ - 1e-6).sum()
        bound = (fitted.beta_ > fitted.D_ * (1 - 1e-9)).sum()
        assert fitted.margin_ > 0.0
        assert errors <= bound <= nu * 100 + 1e-9 <= fitted.support_.size + 2e-9
        assert errors > 0


def test_nu_machine_is_accurate_with_its_default_tolerance():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for nu in (0.1, 0.05):
        fitted, peer = svm.NuSVM(nu).fit(X, y), NuSVC(nu=nu, kernel="linear", tol=1e-6).fit(X, y)
        w = peer.coef_[0] / np.linalg.norm(peer.coef_[0])
        # With a tolerance of 1e-3 the directions differed by 0.08 and 0.28.
        np.testing.assert_allclose(fitted.coef_[0], w, atol=5e-3)


def test_claim_11_large_prices_and_scales():
    X, y = separable(11, n=40, gap=0.4)
    hard = svm.HardMarginSVM(tol=1e-11).fit(X, y)
    one = svm.SoftMarginSVM(C=2.0 * hard.alpha_.max(), tol=1e-10).fit(X, y)
    assert one.coef_ == pytest.approx(hard.coef_, abs=1e-5)
    gaps = []
    for C in (1e2, 1e4, 1e6):
        two = svm.SoftMarginSVM(C=C, norm=2, tol=1e-9).fit(X, y)
        gaps.append(np.linalg.norm(two.coef_ - hard.coef_))
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] < 1e-4
    X, y = overlapping(11, n=60)
    plain = svm.SoftMarginSVM(C=0.6, tol=1e-10).fit(X, y).decision_function(X)
    for scale in (0.1, 7.0):
        other = svm.SoftMarginSVM(C=0.6 / scale**2, tol=1e-10).fit(scale * X, y)
        assert other.decision_function(scale * X) == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("norm", [1, 2])
def test_coordinate_descent_against_liblinear(norm):
    X, y = overlapping(12, n=300, d=5, shift=0.5)
    ours = svm.DualCoordinateSVM(C=0.3, norm=norm, tol=1e-8, max_iter=20_000).fit(X, y)
    loss, C = ("hinge", 0.3) if norm == 1 else ("squared_hinge", 0.15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = LinearSVC(C=C, loss=loss, fit_intercept=False, tol=1e-9, max_iter=200_000, dual=True).fit(X, y)
    assert ours.coef_ == pytest.approx(peer.coef_, abs=1e-4)
    assert 0.0 <= ours.gap_ <= 1e-5 * ours.primal_
    exact = smo.classification(X @ X.T, y, 0.3, norm=norm, equality=False, tol=1e-9)
    assert ours.primal_ == pytest.approx(exact.dual, rel=1e-6)


def test_points_far_from_the_margin_are_seldom_visited():
    X = np.random.default_rng(0).normal(size=(3000, 5))
    y = X[:, 0] + 0.3 * np.random.default_rng(1).normal(size=3000) > 0
    fitted = svm.DualCoordinateSVM(C=10.0, tol=1e-6).fit(X, y)
    assert fitted.n_iter_ <= 500  # more than 10,000 with every point in every sweep
    assert 0.0 <= fitted.gap_ <= 1e-7 * fitted.primal_


def test_too_few_sweeps_warn():
    X, y = overlapping(12, n=300, d=5, shift=0.5)
    with pytest.warns(UserWarning, match="raise max_iter"):
        svm.DualCoordinateSVM(C=100.0, max_iter=2).fit(X, y)


def test_erratum_sign_of_the_constant():
    X, y = overlapping(9, n=50)
    X = X + 2.0
    fitted = svm.NuSVM(0.5, tol=1e-11).fit(X, y)
    inside = (fitted.beta_ > 1e-9) & (fitted.beta_ < fitted.D_ - 1e-9)
    i, j = np.flatnonzero(inside & (y > 0))[0], np.flatnonzero(inside & (y < 0))[0]
    b = -0.5 * (X[i] + X[j]) @ fitted.coef_[0]
    assert fitted.intercept_ == pytest.approx(b, abs=1e-7)
    # Slackness in the printed Lagrangian, y (u'x - b) = gamma, fails at the printed b and holds for its negative.
    for k in (i, j):
        assert y[k] * (X[k] @ fitted.coef_[0] + b) == pytest.approx(fitted.margin_, abs=1e-6)
        assert abs(y[k] * (X[k] @ fitted.coef_[0] - b) - fitted.margin_) > 1.0


def test_erratum_weak_inequalities_do_not_separate():
    X, y = np.array([[-1.0], [0.0], [0.0], [1.0]]), np.array([-1, -1, 1, 1])
    assert np.all(y * X[:, 0] >= 0.0)
    assert np.mean(np.where(X[:, 0] >= 0, 1, -1) != y) == 0.25
    with pytest.raises(NotSeparableError):
        svm.HardMarginSVM().fit(X, y)


def test_erratum_support_vectors_without_margin_error():
    inbound = svm.SoftMarginSVM(C=0.8, tol=1e-10).fit([[-1.0], [1.0]], [-1, 1])
    assert np.all(inbound.alpha_ > 0) and np.all(inbound.alpha_ < 0.8)
    assert inbound.slack_ == pytest.approx([0.0, 0.0], abs=1e-9)
    bound = svm.SoftMarginSVM(C=0.5, tol=1e-10).fit([[-1.0], [1.0]], [-1, 1])
    assert bound.alpha_ == pytest.approx([0.5, 0.5]) and bound.slack_ == pytest.approx([0.0, 0.0], abs=1e-9)


@parametrize_with_checks(
    [
        svm.SoftMarginSVM(tol=1e-11),
        svm.SoftMarginSVM(norm=2, tol=1e-11),
        svm.SoftMarginSVM(norm="mixed", C2=1.0, tol=1e-10),
        svm.NuSVM(nu=0.2),
        svm.SquaredNuSVM(D=1e-4, tol=1e-6),
        svm.HardMarginSVM(kernel="rbf", tol=1e-3),
        svm.DualCoordinateSVM(),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators_keep_the_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("shift", [1e4, 1e6])
def test_the_certificate_of_shifted_data_is_true(shift):
    from learnable.kernels import SoftMarginSVM

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(300) > 0, 1, -1)
    plain, moved = SoftMarginSVM().fit(X, y), SoftMarginSVM().fit(X + shift, y)
    slack = np.maximum(1 - y * moved.decision_function(X + shift), 0)
    assert moved.primal_ == pytest.approx(0.5 * moved.coef_[0] @ moved.coef_[0] + slack.sum(), rel=1e-5)
    np.testing.assert_allclose(moved.coef_, plain.coef_, atol=1e-4)
    assert moved.primal_ - moved.dual_ < 0.01


def test_kernel_values_too_large_for_double_precision_warn_and_keep_a_true_certificate():
    from learnable.kernels import SoftMarginSVM

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) + 1e4
    y = np.where(X[:, 0] > 1e4, 1, -1)
    with pytest.warns(ConvergenceWarning, match="too few digits even in double precision|SMO stopped"):
        svm = SoftMarginSVM(kernel="poly", max_iter=20_000).fit(X, y)
    norm2 = svm.dual_coef_ @ svm.kernel_(svm.support_vectors_) @ svm.dual_coef_
    slack = np.maximum(1 - y * svm.decision_function(X), 0)
    assert svm.primal_ == pytest.approx(0.5 * norm2 + slack.sum(), rel=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_features_in_small_units_do_not_spoil_the_soft_margin(weighted):
    # C K is 1e13: from zero ten million pairs left a relative gap of 0.99 and no better accuracy than guessing.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5))
    y = np.sign(X @ rng.normal(size=5) + rng.normal(size=60))
    weight = rng.uniform(0.5, 2.0, 60) if weighted else None
    far = svm.SoftMarginSVM(C=1.0).fit(1e6 * X, y, sample_weight=weight)
    near = svm.SoftMarginSVM(C=1.0).fit(1e3 * X, y, sample_weight=weight)  # the limit of large C already
    assert far.solution_.converged
    assert far.gap_ < 1e-3 * far.primal_
    np.testing.assert_allclose(1e6 * far.coef_, 1e3 * near.coef_, rtol=1e-2)
    assert (far.predict(1e6 * X) == near.predict(1e3 * X)).mean() > 0.95  # points on the margin's boundary may differ
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert svm.SoftMarginSVM(C=1.0, max_iter=50).fit(1e6 * X, y).n_iter_ <= 60
