"""Support vector machines against interior points, linear programs, LIBSVM, LIBLINEAR and closed forms."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.svm import SVC, NuSVC

from learnable import kernels as svm
from learnable.chapters.support_vector_machines import theory
from learnable.chapters.support_vector_machines.theory import _conversion, is_saddle_point, largest_D
from learnable.kernels import smo
from learnable.kernels.functions import Polynomial
from learnable.kernels.smo import NotSeparableError
from learnable.kernels.smo.machines import signs_of
from learnable.optim import quadratic_program
from learnable.optim.quadratic_program import dual_of_qp


def D_to_C(K, y, D, *, tol=1e-8, C_max=1e8):
    """The price C of the 1-norm machine with the same hyperplane as the direct-margin problem with constant D."""
    source = smo.as_source(K)
    y = signs_of(y, source.size)
    least = 0.5 / min(int((y > 0).sum()), int((y < 0).sum()))
    if least * (1.0 - 1e-12) > D:
        raise ValueError(f"D = {D:g} is infeasible: it must be at least {least:g} for these classes")
    cache = {}

    def excess(log_C):
        s = smo.classification(source, y, float(np.exp(log_C)), tol=tol)
        cache[log_C] = s
        return float(np.exp(log_C)) / float(s.alpha.sum()) - D

    low = high = -np.log(max(float(source.diagonal.mean()), 1e-12))
    while excess(low) > 0.0 and low > -60.0:
        high, low = low, low - 2.0
    at_high = excess(high)
    while at_high < 0.0:
        low, before = high, at_high
        high += 2.0
        at_high = excess(high)
        stalled = at_high - before < 1e-6 * D or np.exp(high) > C_max
        if at_high < 0.0 and stalled and (np.exp(high) > C_max or D >= largest_D(source, y) * (1.0 - 1e-9)):
            raise ValueError(
                f"D = {D:g} is not reached below C = {np.exp(high):.3g}: the limit of C/A for these data is "
                f"{largest_D(source, y):.6g}, and no price belongs to a larger D"
            )
    root = high if abs(cache[high].alpha.sum() * D - np.exp(high)) <= 1e-9 * np.exp(high) else None
    if root is None:
        root = brentq(excess, low, high, xtol=1e-11) if low < high else low
    if root not in cache:
        excess(root)
    return _conversion(cache[root], float(np.exp(root)))


def direct_objective(f, y, gamma, D, *, u=None):
    """The soft-margin objective -gamma + D sum u((gamma - y_i f_i)_+) of each function (Lember 2012, (4.2.13))."""
    gamma = np.asarray(gamma, dtype=float)
    error = np.maximum(gamma[..., None] - y * f, 0.0)
    return -gamma + D * (error if u is None else u(error)).sum(axis=-1)


FOUR = np.array([[0.0, 1.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
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


def test_claim_04_hulls_and_the_shortest_segment():
    for seed in range(100):
        X, y = separable(seed, n=12 + seed % 20, d=2 + seed % 4, gap=0.3)
        near = theory.hull_distance(X[y > 0], X[y < 0])
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
    near = theory.reduced_hull_distance(plus, minus, D)
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
    near = theory.hull_distance([[0.0, 0.0], [2.0, 2.0]], [[0.0, 2.0], [2.0, 0.0]])
    assert near.distance == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(NotSeparableError):
        svm.HardMarginSVM().fit(*overlapping())


def test_claim_08_one_problem_three_constants():
    X, y = overlapping(3, n=40)
    K = X @ X.T
    prices = np.geomspace(1e-3, 1e3, 30)
    values = []
    for C in prices:
        got = theory.C_to_D(K, y, C)
        s = got.solution
        w = s.beta @ X
        slack = np.maximum(1 - y * (X @ w + s.offset), 0.0)
        assert got.A == pytest.approx(w @ w + C * slack.sum(), rel=1e-5)
        assert got.nu == pytest.approx(1.0 / (40 * got.D))
        values.append(got.D)
    assert np.all(np.diff(values) >= -1e-9) and values[-1] > 1.5 * values[0]
    for C in (0.05, 0.3, 2.0):
        got = theory.C_to_D(K, y, C)
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
        back = D_to_C(K, y, theory.C_to_D(K, y, C).D)
        assert back.C == pytest.approx(C, rel=1e-4)
    limit = theory.largest_D(K, y)
    assert theory.C_to_D(K, y, 1e5).D == pytest.approx(limit, rel=1e-4)
    assert theory.C_to_D(K, y, 1e3).D <= limit * (1 + 1e-9)
    with pytest.raises(ValueError, match="limit of C/A"):
        D_to_C(K, y, 1.01 * limit)
    with pytest.raises(ValueError, match="infeasible"):
        D_to_C(K, y, 0.9 / 40)
    X, y = separable(1)
    assert theory.largest_D(X @ X.T, y) == np.inf
    hard = svm.HardMarginSVM(tol=1e-9).fit(X, y)
    # From C = max alpha on nothing changes: D = C/A grows without bound.
    C = 3.0 * hard.alpha_.max()
    assert theory.C_to_D(X @ X.T, y, C).A == pytest.approx(hard.alpha_.sum(), rel=1e-5)


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
    D = 1.05 * theory.largest_D(X @ X.T, y)
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
            bounds = theory.margin_bounds(X @ w, y, 1.0, gamma, 0.05)
            assert bounds.ramp <= min(bounds.margin_error, bounds.hinge) + 1e-12
            held += all(getattr(bounds, name) >= risk for name in ("ramp", "margin_error", "hinge", "squared"))
    assert held >= 0.95 * 1000
    found = []
    for d in (20, 200):
        X, y = sphere_problem(rng, 4000, d)
        w = svm.DualCoordinateSVM(C=0.01).fit(X, y).coef_[0]
        found.append(theory.margin_bounds(X @ w / np.linalg.norm(w), y, 1.0, 0.4).ramp)
    assert abs(found[0] - found[1]) < 0.02


def test_bounds_by_hand():
    f, y = np.array([0.5, -0.1, 0.2, 0.0]), np.array([1.0, 1.0, -1.0, -1.0])
    bounds = theory.margin_bounds(f, y, [1.0, 4.0, 1.0, 3.0], 0.4, 0.1)
    root, chance = 4.0 * 3.0 / (4 * 0.4), 3.0 * np.sqrt(np.log(20.0) / 8.0)
    assert bounds.ramp == pytest.approx(3 / 4 + root + chance)
    assert bounds.margin_error == pytest.approx(3 / 4 + root + chance)
    assert bounds.hinge == pytest.approx((0.5 + 0.6 + 0.4) / (4 * 0.4) + root + chance)
    assert bounds.squared == pytest.approx((0.25 + 0.36 + 0.16) / (4 * 0.16) + 2 * root + chance)


def test_claim_13_a_map_and_its_kernel():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    y = np.where(np.sum(X**2, axis=1) + 0.4 * rng.normal(size=80) > 1.2, 1, -1)
    Z = theory.quadratic_map(X)
    # Another map with the same inner products: x1 x2 twice.
    long = np.column_stack([X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 0] * X[:, 1], X[:, 1] ** 2])
    assert Z @ Z.T == pytest.approx((X @ X.T) ** 2)
    assert long @ long.T == pytest.approx((X @ X.T) ** 2)
    explicit = svm.SoftMarginSVM(C=2.0, tol=1e-9).fit(Z, y)
    implicit = svm.SoftMarginSVM(C=2.0, kernel=Polynomial(2, 0.0), tol=1e-9).fit(X, y)
    new = rng.normal(size=(50, 2))
    assert explicit.decision_function(theory.quadratic_map(new)) == pytest.approx(
        implicit.decision_function(new), abs=1e-6
    )
    with_constant = theory.quadratic_map(X, constant=1.0)
    assert np.array_equal(with_constant[:, :3], Z) and np.all(with_constant[:, 3] == 1.0)


def test_erratum_value_of_the_direct_dual():
    X, y = overlapping(9, n=50)
    fitted = svm.NuSVM(0.5, tol=1e-11).fit(X, y)
    vector = (fitted.beta_ * y) @ X
    primal = direct_objective(fitted.decision_function(X), y, fitted.margin_, fitted.D_)
    assert primal == pytest.approx(-np.linalg.norm(vector), abs=1e-7)
    assert abs(primal - (1.0 - 0.5 * vector @ vector)) > 0.5


def test_erratum_labels_of_the_classifier():
    X, y = overlapping(1)
    fitted = svm.SoftMarginSVM().fit(X, y)
    assert set(fitted.predict(X)) == {-1, 1}
    score = fitted.decision_function(X)
    # Zeros count as errors in the bounds, whatever sgn(0) is.
    bounds = theory.margin_bounds(np.zeros(4), np.ones(4), 1.0, 1.0)
    assert bounds.ramp - bounds.complexity == 1.0
    assert np.mean(np.where(score >= 0, 1, -1) != y) <= np.mean(y * score <= 0)


X4, Y4 = overlapping(0, n=20)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: svm.SoftMarginSVM(C=0.0).fit(X4, Y4), "C must be"),
        (lambda: svm.SoftMarginSVM(tol=0.0).fit(X4, Y4), "tol"),
        (lambda: svm.SoftMarginSVM(norm=3).fit(X4, Y4), "norm"),
        (lambda: svm.SoftMarginSVM(norm="mixed").fit(X4, Y4), "C2"),
        (lambda: svm.SoftMarginSVM(norm="mixed", C2=-1.0).fit(X4, Y4), "C2"),
        (lambda: svm.SoftMarginSVM(C2=1.0).fit(X4, Y4), "C2"),
        (lambda: svm.NuSVM().fit(X4, np.arange(20) % 3), "binary"),
        (lambda: svm.SoftMarginSVM().fit(X4, np.ones(20)), "one class"),
        (lambda: svm.SoftMarginSVM().fit(X4, Y4, sample_weight=(Y4 > 0).astype(float)), "one class"),
        (lambda: svm.SoftMarginSVM().fit(X4, Y4, sample_weight=-np.ones(20)), "sample_weight"),
        (lambda: svm.SoftMarginSVM(class_weight={-1: 0.0, 1: 1.0}).fit(X4, Y4), "class_weight"),
        (lambda: svm.NuSVM(nu=0.0).fit(X4, Y4), "nu"),
        (lambda: svm.NuSVM(nu=0.9).fit(X4[:12], np.r_[Y4[:2], np.ones(10)]), "infeasible"),
        (lambda: svm.SquaredNuSVM(D=0.0).fit(X4, Y4), "D must be"),
        (lambda: svm.DualCoordinateSVM(norm=3).fit(X4, Y4), "norm"),
        (lambda: theory.hull_distance(FOUR, FOUR).hyperplane(), "meet"),
        (lambda: dual_of_qp(-np.eye(2), [0, 0], [[1, 0]], [0]), "positive definite"),
        (lambda: dual_of_qp([[1, 1], [0, 1]], [0, 0], [[1, 0]], [0]), "symmetric"),
        (lambda: dual_of_qp(np.eye(2), [0, 0], [[1, 0]], [0, 1]), "A must have"),
        (lambda: dual_of_qp(np.eye(2), [0, 0], [[1, 0]], [0], B=[[1, 0]]), "both or neither"),
        (lambda: quadratic_program.kkt_report([0.0], [0.0], np.eye(2), [0, 0], [[1, 0]], [0]), "entries"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8])
def test_hull_distances_scale(scale):
    rng = np.random.default_rng(0)
    P, M = rng.standard_normal((12, 2)) + 4, rng.standard_normal((9, 2))
    near = theory.hull_distance(scale * P, scale * M)
    assert near.distance == pytest.approx(scale * theory.hull_distance(P, M).distance, rel=1e-9)
    assert near.lower == pytest.approx(near.distance, rel=1e-6)
