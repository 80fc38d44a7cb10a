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

from learnable.kernels import smo
from learnable.kernels import support_vector_machines as svm
from learnable.kernels.functions import Gaussian, Linear, Polynomial
from learnable.kernels.smo import NotSeparableError
from learnable.kernels.support_vector_machines.bounds import margin_bounds_on_grid
from learnable.kernels.support_vector_machines.conversions import D_to_C, direct_objective
from learnable.kernels.support_vector_machines.duality import dual_of_qp, is_saddle_point
from learnable.kernels.support_vector_machines.lifting import quadratic_map_long

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


def random_qp(rng, p=4, m=6, k=0):
    root = rng.normal(size=(p, p))
    inside = rng.normal(size=p)
    A = rng.normal(size=(m, p))
    B = rng.normal(size=(k, p)) if k else None
    d = -A @ inside - rng.uniform(0.05, 1.0, m)
    return root @ root.T + 0.3 * np.eye(p), 3.0 * rng.normal(size=p), A, d, B, -B @ inside if k else None


# --- duality ---------------------------------------------------------------------------------------------------------


def test_claim_01_minimax_inequality_and_saddle_points():
    rng = np.random.default_rng(0)
    equalities = 0
    for _ in range(300):
        L = rng.integers(-3, 4, size=(3, 4)).astype(float)
        upper, lower = L.max(axis=1).min(), L.min(axis=0).max()
        assert upper >= lower
        x, alpha = int(L.max(axis=1).argmin()), int(L.min(axis=0).argmax())
        saddle = is_saddle_point(lambda i, j, L=L: L[i, j], x, alpha, (range(3), range(4)))
        assert saddle == (upper == lower)
        equalities += saddle
    assert 20 < equalities < 280


@pytest.mark.parametrize("k", [0, 2])
def test_claim_01_strong_duality_for_quadratic_programs(k):
    rng = np.random.default_rng(k)
    busy = 0
    for _ in range(25):
        problem = random_qp(rng, k=k)
        K, c, A, d, B, e = problem
        found = svm.solve_qp(*problem)
        x, alpha, beta = found.x, found.alpha, found.beta
        report = svm.kkt_report(x, alpha, *problem, beta=beta)
        assert max(abs(v) for v in vars(report).values()) < 1e-8
        busy += (alpha > 1e-6).sum()
        dual = dual_of_qp(*problem)
        value = 0.5 * x @ K @ x + c @ x
        assert dual.value(alpha, beta) == pytest.approx(value, abs=1e-9)
        other = np.abs(rng.normal(size=alpha.size))
        assert dual.value(other, beta) <= value + 1e-9
        Lagrangian = 0.5 * (z := dual.primal_point(other, beta)) @ K @ z + c @ z + other @ (A @ z + d)
        Lagrangian += 0.0 if B is None else beta @ (B @ z + e)
        assert dual.value(other, beta) == pytest.approx(Lagrangian, rel=1e-9)
    assert busy > 25, "no constraint was active: the test shows nothing"
    point = cp.Variable(4)
    rules = [A @ point + d <= 0] + ([B @ point + e == 0] if k else [])
    task = cp.Problem(cp.Minimize(0.5 * cp.quad_form(point, cp.psd_wrap(K)) + c @ point), rules)
    task.solve(**TIGHT)
    assert x == pytest.approx(point.value, abs=1e-6)


def test_contradicting_constraints_are_noticed():
    with pytest.raises(ValueError, match="satisf"):
        svm.solve_qp(np.eye(1), [0.0], [[1.0], [-1.0]], [1.0, 1.0])


def test_perturbed_points_are_reported():
    problem = random_qp(np.random.default_rng(5))
    found = svm.solve_qp(*problem)
    x, alpha = found.x, found.alpha
    busiest = int(alpha.argmax())
    for name, (z, a) in {
        "stationarity": (x + 0.1, alpha),
        "slackness": (x - 0.1 * problem[2][busiest], alpha),
        "primal": (x + 0.1 * problem[2][busiest], alpha),
        "sign": (x, alpha - 2.0 * alpha.max() * (np.arange(6) == busiest)),
    }.items():
        assert getattr(svm.kkt_report(z, a, *problem), name) > 1e-3, name


# --- hard margin -----------------------------------------------------------------------------------------------------


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


def test_claim_02_the_quadratic_form_is_only_semidefinite():
    form = np.diag([1.0, 1.0, 0.0])
    assert np.linalg.matrix_rank(form) == 2
    A = -FOUR_LABELS[:, None] * np.column_stack([FOUR, np.ones(4)])
    with pytest.raises(ValueError, match="positive definite"):
        dual_of_qp(form, np.zeros(3), A, np.ones(4))
    # A little weight on the intercept makes it definite, and leads to the same plane in the limit.
    x = svm.solve_qp(form + np.diag([0, 0, 1e-9]), np.zeros(3), A, np.ones(4)).x
    assert x == pytest.approx([0.0, -2.0, 1.0], abs=1e-5)


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


def test_claim_04_hulls_and_the_shortest_segment():
    for seed in range(100):
        X, y = separable(seed, n=12 + seed % 20, d=2 + seed % 4, gap=0.3)
        near = svm.hull_distance(X[y > 0], X[y < 0])
        fitted = svm.HardMarginSVM(tol=1e-10).fit(X, y)
        w, w0 = fitted.coef_[0], fitted.intercept_
        v = near.plus - near.minus
        assert v == pytest.approx(2.0 * w / (w @ w), abs=1e-6)
        assert near.distance == pytest.approx(2.0 * fitted.margin_, rel=1e-6)
        assert w @ (near.plus + near.minus) + 2.0 * w0 == pytest.approx(0.0, abs=1e-6)
        assert -1e-12 <= near.distance - near.lower <= 1e-6
        c = 2.0 * fitted.alpha_ / fitted.alpha_.sum()
        assert c[y > 0] @ X[y > 0] == pytest.approx(near.plus, abs=1e-5)
        direction, constant = near.hyperplane()
        assert direction == pytest.approx(w, rel=1e-5, abs=1e-5)
        assert constant == pytest.approx(w0, rel=1e-5, abs=1e-5)
        assert near.weights_plus.sum() == pytest.approx(1.0) and near.weights_plus.min() >= 0.0


@pytest.mark.parametrize("D", [0.03, 0.06, 0.5])
def test_reduced_hulls_against_interior_points(D):
    X, y = overlapping(4, n=40, shift=1.6)
    plus, minus = X[y > 0], X[y < 0]
    near = svm.reduced_hull_distance(plus, minus, D)
    a, b = cp.Variable(20), cp.Variable(20)
    rules = [a >= 0, b >= 0, a <= 2 * D, b <= 2 * D, cp.sum(a) == 1, cp.sum(b) == 1]
    task = cp.Problem(cp.Minimize(cp.norm(plus.T @ a - minus.T @ b)), rules)
    task.solve(**TIGHT)
    assert near.distance == pytest.approx(task.value, abs=1e-6)
    assert near.weights_plus.max() <= 2 * D + 1e-12
    if D < 0.05:
        assert near.distance > 0.5
        # The nu-machine looks at the same two points; each class has half of the weight there.
        assert -2.0 * svm.NuSVM(1.0 / (40 * D), tol=1e-9).fit(X, y).value_ == pytest.approx(near.distance, rel=1e-6)


def test_hulls_that_meet_have_distance_zero():
    near = svm.hull_distance([[0.0, 0.0], [2.0, 2.0]], [[0.0, 2.0], [2.0, 0.0]])
    assert near.distance == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(NotSeparableError):
        svm.HardMarginSVM().fit(*overlapping())


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


# --- soft margins ----------------------------------------------------------------------------------------------------


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


# --- C, D, nu --------------------------------------------------------------------------------------------------------


def test_claim_08_one_problem_three_constants():
    X, y = overlapping(3, n=40)
    K = X @ X.T
    prices = np.geomspace(1e-3, 1e3, 30)
    values = []
    for C in prices:
        got = svm.C_to_D(K, y, C)
        s = got.solution
        w = s.beta @ X
        slack = np.maximum(1 - y * (X @ w + s.offset), 0.0)
        assert got.A == pytest.approx(w @ w + C * slack.sum(), rel=1e-5)
        assert got.nu == pytest.approx(1.0 / (40 * got.D))
        values.append(got.D)
    assert np.all(np.diff(values) >= -1e-9) and values[-1] > 1.5 * values[0]
    for C in (0.05, 0.3, 2.0):
        got = svm.C_to_D(K, y, C)
        fitted = svm.SoftMarginSVM(C=C, tol=1e-9).fit(X, y)
        nu_form = svm.NuSVM(got.nu, tol=1e-10).fit(X, y)
        assert nu_form.coef_ == pytest.approx(fitted.coef_ * fitted.margin_, abs=1e-5)
        assert nu_form.intercept_ == pytest.approx(fitted.intercept_ * fitted.margin_, abs=1e-5)
        assert nu_form.margin_ == pytest.approx(fitted.margin_, rel=1e-5)
        assert nu_form.beta_.sum() == pytest.approx(1.0) and nu_form.beta_ @ y == pytest.approx(0.0, abs=1e-12)
        assert nu_form.D_ == pytest.approx(got.D)
        peers = SVC(C=C, kernel="linear", tol=1e-9), NuSVC(nu=got.nu, kernel="linear", tol=1e-9)
        for peer in peers:
            plane = np.append(peer.fit(X, y).coef_[0], peer.intercept_[0])
            ours = np.append(nu_form.coef_[0], nu_form.intercept_)
            assert plane / np.linalg.norm(plane[:2]) == pytest.approx(ours, abs=1e-5)


def test_claim_08_back_from_D_to_C():
    X, y = overlapping(3, n=40)
    K = X @ X.T
    for C in (0.02, 0.4, 7.0):
        back = D_to_C(K, y, svm.C_to_D(K, y, C).D)
        assert back.C == pytest.approx(C, rel=1e-4)
    limit = svm.largest_D(K, y)
    assert svm.C_to_D(K, y, 1e5).D == pytest.approx(limit, rel=1e-4)
    assert svm.C_to_D(K, y, 1e3).D <= limit * (1 + 1e-9)
    with pytest.raises(ValueError, match="limit of C/A"):
        D_to_C(K, y, 1.01 * limit)
    with pytest.raises(ValueError, match="infeasible"):
        D_to_C(K, y, 0.9 / 40)
    X, y = separable(1)
    assert svm.largest_D(X @ X.T, y) == np.inf
    hard = svm.HardMarginSVM(tol=1e-9).fit(X, y)
    # From C = max alpha on nothing changes: D = C/A grows without bound.
    C = 3.0 * hard.alpha_.max()
    assert svm.C_to_D(X @ X.T, y, C).A == pytest.approx(hard.alpha_.sum(), rel=1e-5)


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


def test_claim_09_limits_of_D():
    X, y = overlapping(3, n=40)
    with pytest.raises(ValueError, match="nu"):
        svm.NuSVM(1.0 / (40 * 0.9 / 40)).fit(X, y)
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, 400)
    f = np.column_stack([np.cos(angles), np.sin(angles)]) @ X.T + rng.normal(size=(400, 1))
    # D below 1/n: the wider the better.
    low = [direct_objective(f, y, np.full(400, g), 0.9 / 40).max() for g in (1e2, 1e4, 1e6)]
    assert low[0] > low[1] > low[2] and low[2] < -1e4
    # D above 1 on data that no line separates: zero is the best margin for every line.
    gammas = np.linspace(0.0, 2.0, 41)
    values = np.array([direct_objective(f, y, np.full(400, g), 1.01) for g in gammas])
    assert np.all(values.argmin(axis=0) == 0)


def test_margins_beyond_the_limit_of_D_need_not_vanish():
    X, y = overlapping(3, n=40)
    D = 1.05 * svm.largest_D(X @ X.T, y)
    best = np.inf, None
    for angle in np.linspace(0, 2 * np.pi, 241):
        f = X @ [np.cos(angle), np.sin(angle)]
        # Piecewise linear in (b, gamma): the minimum is where two margins are met, y (f + b) = gamma.
        i, j = np.nonzero((y > 0)[:, None] & (y < 0))
        b, gamma = -0.5 * (f[i] + f[j]), np.maximum(0.5 * (f[i] - f[j]), 0.0)
        values = direct_objective(f + b[:, None], y, gamma, D)
        best = min(best, (values.min(), gamma[values.argmin()]))
    assert best[0] > 0.0 and best[1] > 0.01
    flat = svm.NuSVM(1.0 / (40 * D), tol=1e-12).fit(X, y)
    assert flat.value_ == pytest.approx(0.0, abs=1e-5)


def test_direct_problem_cannot_be_improved_by_perturbation():
    X, y = overlapping(9, n=50)
    rng = np.random.default_rng(1)
    fitted = svm.NuSVM(0.5, tol=1e-11).fit(X, y)
    twin = svm.SquaredNuSVM(D=0.01).fit(X, y)
    for machine, D, u in ((fitted, fitted.D_, None), (twin, 0.01, np.square)):
        at = direct_objective(machine.decision_function(X), y, machine.margin_, D, u=u)
        assert np.linalg.norm(machine.coef_) == pytest.approx(1.0, abs=1e-9)
        for size in (1e-3, 1e-1, 1.0):
            w = machine.coef_[0] + size * rng.normal(size=(2000, 2))
            w /= np.linalg.norm(w, axis=1, keepdims=True)
            f = w @ X.T + (machine.intercept_ + size * rng.normal(size=(2000, 1)))
            gamma = np.maximum(machine.margin_ + size * rng.normal(size=2000), 0.0)
            assert direct_objective(f, y, gamma, D, u=u).min() >= at - 1e-9
    assert direct_objective(fitted.decision_function(X), y, fitted.margin_, fitted.D_) == pytest.approx(
        fitted.value_, abs=1e-7
    )
    same = svm.SoftMarginSVM(C=twin.C_, norm=2, tol=1e-9).fit(X, y)
    assert same.coef_ * same.margin_ == pytest.approx(twin.coef_, abs=1e-6)
    with pytest.raises(ValueError, match="no price C"):
        svm.SquaredNuSVM(D=1.0).fit(X, y)


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


# --- bounds ----------------------------------------------------------------------------------------------------------


def sphere_problem(rng, n, d, flip=0.02):
    """Half of a unit of margin along the first axis, the rest uniform on a sphere, some labels wrong."""
    y = rng.choice([-1.0, 1.0], n)
    u = rng.normal(size=(n, d - 1))
    X = np.column_stack([0.5 * y, np.sqrt(0.75) * u / np.linalg.norm(u, axis=1, keepdims=True)])
    return X, np.where(rng.random(n) < flip, -y, y)


def test_claim_12_bounds_hold_and_do_not_see_the_dimension():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(500):
        X, y = sphere_problem(rng, 150, 5, 0.1)
        w = (y @ X) / np.linalg.norm(y @ X)
        # Exact risk: the first coordinate decides by its sign unless the others outweigh it.
        Z, labels = sphere_problem(rng, 400, 5, 0.1)
        risk = np.mean(labels * (Z @ w) <= 0)
        for gamma in (0.2, 0.6):
            bounds = svm.margin_bounds(X @ w, y, 1.0, gamma, 0.05)
            assert bounds.ramp <= min(bounds.margin_error, bounds.hinge) + 1e-12
            held += all(getattr(bounds, name) >= risk for name in ("ramp", "margin_error", "hinge", "squared"))
    assert held >= 0.95 * 1000
    found = []
    for d in (20, 200):
        X, y = sphere_problem(rng, 4000, d)
        w = svm.DualCoordinateSVM(C=0.01).fit(X, y).coef_[0]
        found.append(svm.margin_bounds(X @ w / np.linalg.norm(w), y, 1.0, 0.4).ramp)
    assert abs(found[0] - found[1]) < 0.02


def test_bounds_by_hand():
    f, y = np.array([0.5, -0.1, 0.2, 0.0]), np.array([1.0, 1.0, -1.0, -1.0])
    bounds = svm.margin_bounds(f, y, [1.0, 4.0, 1.0, 3.0], 0.4, 0.1)
    root, chance = 4.0 * 3.0 / (4 * 0.4), 3.0 * np.sqrt(np.log(20.0) / 8.0)
    assert bounds.ramp == pytest.approx(3 / 4 + root + chance)
    assert bounds.margin_error == pytest.approx(3 / 4 + root + chance)
    assert bounds.hinge == pytest.approx((0.5 + 0.6 + 0.4) / (4 * 0.4) + root + chance)
    assert bounds.squared == pytest.approx((0.25 + 0.36 + 0.16) / (4 * 0.16) + 2 * root + chance)
    value, gamma = margin_bounds_on_grid(f, y, 2.0, [0.1, 0.4, 0.9], 0.3).ramp
    each = [svm.margin_bounds(f, y, 2.0, g, 0.1).ramp for g in (0.1, 0.4, 0.9)]
    assert value == pytest.approx(min(each)) and gamma == (0.1, 0.4, 0.9)[int(np.argmin(each))]


# --- lifting and linear machines -------------------------------------------------------------------------------------


def test_claim_13_a_map_and_its_kernel():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    y = np.where(np.sum(X**2, axis=1) + 0.4 * rng.normal(size=80) > 1.2, 1, -1)
    Z = svm.quadratic_map(X)
    long = quadratic_map_long(X)
    assert Z @ Z.T == pytest.approx((X @ X.T) ** 2)
    assert long @ long.T == pytest.approx((X @ X.T) ** 2)
    explicit = svm.SoftMarginSVM(C=2.0, tol=1e-9).fit(Z, y)
    implicit = svm.SoftMarginSVM(C=2.0, kernel=Polynomial(2, 0.0), tol=1e-9).fit(X, y)
    new = rng.normal(size=(50, 2))
    assert explicit.decision_function(svm.quadratic_map(new)) == pytest.approx(
        implicit.decision_function(new), abs=1e-6
    )
    with_constant = svm.quadratic_map(X, constant=1.0)
    assert np.array_equal(with_constant[:, :3], Z) and np.all(with_constant[:, 3] == 1.0)


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


def test_pegasos_comes_near_the_optimum():
    X, y = overlapping(12, n=300, d=5, shift=0.5)
    best = svm.DualCoordinateSVM(C=0.3).fit(X, y).primal_
    values = [svm.PegasosSVM(C=0.3, max_iter=e).fit(X, y).primal_ for e in (5, 500)]
    assert best <= values[1] < 1.002 * best < values[0]


def test_pegasos_takes_the_steps_of_its_definition():
    X, y = overlapping(12, n=30, d=2, shift=0.5)
    draws = np.random.default_rng(0).integers(30, size=90)
    w, late, lam = np.zeros(2), [], 1.0 / (30 * 0.3)
    for t, i in enumerate(draws, start=1):
        inside = y[i] * (X[i] @ w) < 1.0
        w = (1.0 - 1.0 / t) * w + inside * y[i] * X[i] / (lam * t)
        late.append(w)
    fitted = svm.PegasosSVM(C=0.3, max_iter=3).fit(X, y)
    assert fitted.coef_[0] == pytest.approx(np.mean(late[45:], axis=0), rel=1e-10)


def test_too_few_sweeps_warn():
    X, y = overlapping(12, n=300, d=5, shift=0.5)
    with pytest.warns(UserWarning, match="raise max_iter"):
        svm.DualCoordinateSVM(C=100.0, max_iter=2).fit(X, y)


# --- slips of the source ---------------------------------------------------------------------------------------------


def test_erratum_constant_of_the_dual_quadratic_program():
    K, c, A, d = np.array([[2.0]]), np.array([-4.0]), np.array([[1.0]]), np.array([-1.0])
    found = svm.solve_qp(K, c, A, d)
    x, alpha = found.x, found.alpha
    primal = float(0.5 * x @ K @ x + c @ x)
    printed = float(-0.5 * alpha @ A @ A.T @ alpha / 2.0 + (d - A @ c / 2.0) @ alpha)
    constant = -0.5 * float(c @ c) / 2.0
    assert primal == pytest.approx(-3.0) and printed == pytest.approx(1.0)
    assert printed + constant == pytest.approx(primal)
    assert dual_of_qp(K, c, A, d).value(alpha) == pytest.approx(primal)


def test_erratum_value_of_the_direct_dual():
    X, y = overlapping(9, n=50)
    fitted = svm.NuSVM(0.5, tol=1e-11).fit(X, y)
    vector = (fitted.beta_ * y) @ X
    primal = direct_objective(fitted.decision_function(X), y, fitted.margin_, fitted.D_)
    assert primal == pytest.approx(-np.linalg.norm(vector), abs=1e-7)
    assert abs(primal - (1.0 - 0.5 * vector @ vector)) > 0.5


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


def test_erratum_labels_of_the_classifier():
    X, y = overlapping(1)
    fitted = svm.SoftMarginSVM().fit(X, y)
    assert set(fitted.predict(X)) == {-1, 1}
    score = fitted.decision_function(X)
    # Zeros count as errors in the bounds, whatever sgn(0) is.
    bounds = svm.margin_bounds(np.zeros(4), np.ones(4), 1.0, 1.0)
    assert bounds.ramp - bounds.complexity == 1.0
    assert np.mean(np.where(score >= 0, 1, -1) != y) <= np.mean(y * score <= 0)


# --- estimators and inputs -------------------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        svm.SoftMarginSVM(tol=1e-11),
        svm.SoftMarginSVM(norm=2, tol=1e-11),
        svm.SoftMarginSVM(norm="mixed", C2=1.0, tol=1e-10),
        svm.NuSVM(nu=0.2),
        svm.SquaredNuSVM(D=1e-4, tol=1e-6),
        svm.HardMarginSVM(kernel="rbf", tol=1e-3),
        svm.DualCoordinateSVM(),
        svm.PegasosSVM(),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators_keep_the_contract(estimator, check):
    check(estimator)


X4, Y4 = overlapping(0, n=20)
GRAM = X4 @ X4.T


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: svm.SoftMarginSVM(C=0.0).fit(X4, Y4), "C must be"),
        (lambda: svm.SoftMarginSVM(tol=0.0).fit(X4, Y4), "tol"),
        (lambda: svm.SoftMarginSVM(norm=3).fit(X4, Y4), "norm"),
        (lambda: svm.SoftMarginSVM(norm="mixed").fit(X4, Y4), "C2"),
        (lambda: svm.SoftMarginSVM(norm="mixed", C2=-1.0).fit(X4, Y4), "C2"),
        (lambda: svm.SoftMarginSVM(C2=1.0).fit(X4, Y4), "C2"),
        (lambda: svm.SoftMarginSVM().fit(X4, np.arange(20) % 3), "binary"),
        (lambda: svm.SoftMarginSVM().fit(X4, np.ones(20)), "one class"),
        (lambda: svm.SoftMarginSVM().fit(X4, Y4, sample_weight=(Y4 > 0).astype(float)), "one class"),
        (lambda: svm.SoftMarginSVM().fit(X4, Y4, sample_weight=-np.ones(20)), "sample_weight"),
        (lambda: svm.SoftMarginSVM(class_weight={-1: 0.0, 1: 1.0}).fit(X4, Y4), "class_weight"),
        (lambda: svm.NuSVM(nu=0.0).fit(X4, Y4), "nu"),
        (lambda: svm.NuSVM(nu=0.9).fit(X4[:12], np.r_[Y4[:2], np.ones(10)]), "infeasible"),
        (lambda: svm.SquaredNuSVM(D=0.0).fit(X4, Y4), "D must be"),
        (lambda: svm.DualCoordinateSVM(norm=3).fit(X4, Y4), "norm"),
        (lambda: svm.PegasosSVM(max_iter=0).fit(X4, Y4), "max_iter"),
        (lambda: svm.C_to_D(GRAM, Y4, -1.0), "C must be"),
        (lambda: D_to_C(GRAM, Y4, 0.0), "D must be"),
        (lambda: direct_objective([1.0], [1, -1], 0.1, 1.0), "values for each"),
        (lambda: direct_objective([1.0], [1], -0.1, 1.0), "negative"),
        (lambda: svm.margin_bounds([0.1], [2.0], 1.0, 0.5), "labels"),
        (lambda: svm.margin_bounds([0.1], [1.0], 1.0, 0.0), "gamma"),
        (lambda: svm.margin_bounds([0.1], [1.0], 1.0, 0.5, 1.0), "delta"),
        (lambda: svm.margin_bounds([0.1], [1.0], -1.0, 0.5), "K_diag"),
        (lambda: svm.margin_bounds([0.1, 0.2], [1.0], 1.0, 0.5), "same"),
        (lambda: margin_bounds_on_grid([0.1], [1.0], 1.0, []), "at least one"),
        (lambda: svm.hull_distance(np.zeros((0, 2)), FOUR), "at least one"),
        (lambda: svm.hull_distance(np.zeros((2, 3)), FOUR), "dimension"),
        (lambda: svm.reduced_hull_distance(FOUR, FOUR + 5, 0.1), "cannot sum"),
        (lambda: svm.hull_distance(FOUR, FOUR).hyperplane(), "meet"),
        (lambda: svm.quadratic_map(np.zeros((3, 3))), "plane"),
        (lambda: dual_of_qp(-np.eye(2), [0, 0], [[1, 0]], [0]), "positive definite"),
        (lambda: dual_of_qp([[1, 1], [0, 1]], [0, 0], [[1, 0]], [0]), "symmetric"),
        (lambda: dual_of_qp(np.eye(2), [0, 0], [[1, 0]], [0, 1]), "A must have"),
        (lambda: dual_of_qp(np.eye(2), [0, 0], [[1, 0]], [0], B=[[1, 0]]), "both or neither"),
        (lambda: svm.kkt_report([0.0], [0.0], np.eye(2), [0, 0], [[1, 0]], [0]), "entries"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("shift", [1e4, 1e6])
def test_the_certificate_of_shifted_data_is_true(shift):
    from learnable.kernels.support_vector_machines import SoftMarginSVM

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(300) > 0, 1, -1)
    plain, moved = SoftMarginSVM().fit(X, y), SoftMarginSVM().fit(X + shift, y)
    slack = np.maximum(1 - y * moved.decision_function(X + shift), 0)
    assert moved.primal_ == pytest.approx(0.5 * moved.coef_[0] @ moved.coef_[0] + slack.sum(), rel=1e-5)
    np.testing.assert_allclose(moved.coef_, plain.coef_, atol=1e-4)
    assert moved.primal_ - moved.dual_ < 0.01


def test_kernel_values_too_large_for_double_precision_warn_and_keep_a_true_certificate():
    from learnable.kernels.support_vector_machines import SoftMarginSVM

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) + 1e4
    y = np.where(X[:, 0] > 1e4, 1, -1)
    with pytest.warns(ConvergenceWarning, match="too few digits even in double precision|SMO stopped"):
        svm = SoftMarginSVM(kernel="poly", max_iter=20_000).fit(X, y)
    norm2 = svm.dual_coef_ @ svm.kernel_(svm.support_vectors_) @ svm.dual_coef_
    slack = np.maximum(1 - y * svm.decision_function(X), 0)
    assert svm.primal_ == pytest.approx(0.5 * norm2 + slack.sum(), rel=1e-3)


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8])
def test_hull_distances_scale(scale):
    from learnable.kernels.support_vector_machines import hull_distance

    rng = np.random.default_rng(0)
    P, M = rng.standard_normal((12, 2)) + 4, rng.standard_normal((9, 2))
    near = hull_distance(scale * P, scale * M)
    assert near.distance == pytest.approx(scale * hull_distance(P, M).distance, rel=1e-9)
    assert near.lower == pytest.approx(near.distance, rel=1e-6)


def test_a_price_too_small_to_invert_is_refused():
    from learnable.kernels.support_vector_machines import PegasosSVM

    with pytest.raises(ValueError, match="1/\\(nC\\) overflows"):
        PegasosSVM(C=5e-324).fit([[-1.0], [1.0]], [0, 1])
