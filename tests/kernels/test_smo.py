"""The solver below all kernel machines, against interior-point optima, LIBSVM, and its own certificates."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, NuSVC

from learnable._simd import exp_in_place
from learnable.kernels import _iteration as loops
from learnable.kernels import smo
from learnable.kernels.functions import Gaussian, Linear
from learnable.kernels.smo.newton import Constrained


def sample(seed=1, n=120, d=3, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0.2, 1, -1)
    return X, y


X, Y = sample()
K = Gaussian(sigma=1.0)(X)
ROOT = np.linalg.cholesky(K + 1e-10 * np.eye(len(Y))).T


def reference(kind, C, C2=None, equality=True):
    """Optimal dual value by an interior-point method."""
    beta = cp.Variable(len(Y))
    alpha = cp.multiply(Y, beta)
    cost = 0.5 * cp.sum_squares(ROOT @ beta) - Y @ beta
    rules = [alpha >= 0]
    if equality:
        rules.append(cp.sum(beta) == 0)
    if kind == 1:
        rules.append(alpha <= C)
    elif kind == 2:
        cost += 0.5 * cp.sum(cp.multiply(1.0 / C, cp.square(beta)))
    else:
        cost += cp.sum_squares(cp.pos(alpha - C)) / (2.0 * C2)
    task = cp.Problem(cp.Minimize(cost), rules)
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return -task.value


PRICES = np.random.default_rng(5).uniform(0.2, 3.0, len(Y))


@pytest.mark.parametrize("equality", [True, False])
@pytest.mark.parametrize("kind, C, C2", [(1, PRICES, None), (2, PRICES, None), ("mixed", np.full(len(Y), 0.3), 2.0)])
def test_soft_margins_reach_the_interior_point_optimum(kind, C, C2, equality):
    s = smo.classification(K, Y, C, norm=kind, C2=C2, tol=1e-8, equality=equality)
    assert s.dual == pytest.approx(reference(kind, C, C2, equality), rel=1e-7)
    assert 0.0 <= s.gap <= 1e-5
    assert s.primal - s.dual == pytest.approx(s.gap)


@pytest.mark.parametrize("kind, C2", [(1, None), (2, None), ("mixed", 2.0)])
def test_the_primal_value_is_that_of_the_textbook(kind, C2):
    C = 0.7
    s = smo.classification(K, Y, C, norm=kind, C2=C2, tol=1e-3)
    slack = np.maximum(1.0 - Y * (K @ s.beta + s.offset), 0.0)
    loss = {1: C * slack.sum(), 2: 0.5 * C * (slack**2).sum(), "mixed": C * slack.sum() + (slack**2).sum()}[kind]
    assert s.primal == pytest.approx(0.5 * s.beta @ K @ s.beta + loss, rel=1e-9)
    assert s.dual <= reference(kind, np.full(len(Y), C), C2) + 1e-6 <= s.primal + 2e-6


def test_conditions_of_optimality_hold_term_by_term():
    s = smo.classification(K, Y, 1.0, tol=1e-9)
    margins = Y * (K @ s.beta + s.offset)
    assert np.all(margins[s.zero] >= 1 - 1e-8)
    assert np.all(margins[s.bound] <= 1 + 1e-8)
    assert margins[s.inbound] == pytest.approx(1.0, abs=1e-8)
    assert len(s.zero) + len(s.bound) + len(s.inbound) == len(Y)
    assert abs(s.beta.sum()) < 1e-12
    assert np.all(s.alpha <= 1.0) and np.all(s.beta * Y >= 0.0)
    assert s.values == pytest.approx(K @ s.beta, abs=1e-9)
    assert s.gradient == pytest.approx(K @ s.beta - Y, abs=1e-9)


def test_nu_machine_draws_the_line_of_libsvm():
    s = smo.nu_classification(K, Y, 0.4, tol=1e-9)
    peer = NuSVC(nu=0.4, kernel="precomputed", tol=1e-9).fit(K, Y)
    ours, theirs = K @ s.beta + s.offset, peer.decision_function(K)
    assert ours / np.linalg.norm(ours) == pytest.approx(theirs / np.linalg.norm(theirs), abs=1e-5)
    inside = Y[s.inbound] * ours[s.inbound]
    assert inside == pytest.approx(s.rho, abs=1e-7)
    for sign in (-1, 1):
        assert s.alpha[sign == Y].sum() == pytest.approx(0.5)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_regression_agrees_with_libsvm_and_with_a_quadratic_program(epsilon):
    t = X[:, 0] + np.random.default_rng(3).normal(size=len(Y))
    s = smo.regression(K, t, epsilon=epsilon, C=2.0, tol=1e-9)
    peer = SVR(C=2.0, epsilon=epsilon, kernel="precomputed", tol=1e-9).fit(K, t)
    assert K @ s.beta + s.offset == pytest.approx(peer.predict(K), abs=1e-6)
    squared = smo.regression(K, t, epsilon=epsilon, C=np.inf, ridge=0.5, tol=1e-9)
    beta = cp.Variable(len(t))
    cost = 0.5 * cp.sum_squares(ROOT @ beta) + 0.25 * cp.sum_squares(beta) - t @ beta + epsilon * cp.norm1(beta)
    task = cp.Problem(cp.Minimize(cost), [cp.sum(beta) == 0])
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11)
    assert squared.dual == pytest.approx(-task.value, rel=1e-8)
    assert squared.gap < 1e-7
    residual = t - K @ squared.beta - squared.offset
    assert np.maximum(np.abs(residual) - epsilon, 0.0) == pytest.approx(0.5 * squared.alpha, abs=1e-7)


def test_hard_margin_equals_libsvm_with_a_huge_price():
    rng = np.random.default_rng(2)
    Z = np.vstack([rng.normal(size=(40, 5)) + 2.0, rng.normal(size=(40, 5)) - 2.0])
    y = np.repeat([1, -1], 40)
    s = smo.classification(Z @ Z.T, y, np.inf, tol=1e-8)
    peer = SVC(C=1e8, kernel="linear", tol=1e-9).fit(Z, y)
    assert s.beta @ Z == pytest.approx(peer.coef_[0], abs=1e-6)
    assert s.offset == pytest.approx(peer.intercept_[0], abs=1e-6)
    assert np.min(y * (Z @ (s.beta @ Z) + s.offset)) == pytest.approx(1.0, abs=1e-6)
    assert s.gap <= 1e-7 * s.dual


@pytest.mark.parametrize("seed", range(3))
def test_what_cannot_be_separated_is_refused(seed):
    Z, y = sample(seed, n=60, d=2)
    with pytest.raises(smo.NotSeparableError, match="hulls meet"):
        smo.classification(Z @ Z.T, y, np.inf)


def test_equal_points_with_opposite_labels():
    Z, y = np.vstack([X, X]), np.concatenate([Y, -Y])
    with pytest.raises(smo.NotSeparableError):
        smo.classification(Gaussian(sigma=0.3)(Z), y, np.inf)
    s = smo.classification(Gaussian(sigma=0.3)(Z), y, 1.0, tol=1e-8)
    assert s.dual == pytest.approx(len(y)) and s.values == pytest.approx(0.0, abs=1e-8)


def test_two_points_have_an_interval_of_offsets():
    s = smo.classification(np.array([[1.0, -1.0], [-1.0, 1.0]]), [-1, 1], 0.2, tol=1e-9)
    assert s.beta == pytest.approx([-0.2, 0.2])
    assert s.offset_interval == pytest.approx((-0.6, 0.6))
    assert s.offset == pytest.approx(0.0)


def test_shrinking_newton_cache_and_precision_change_nothing():
    Z, y = sample(7, n=900, d=4)
    kernel = Gaussian(sigma=1.2)
    lower, upper = np.minimum(0.0, 300.0 * y), np.maximum(0.0, 300.0 * y)
    gram = kernel(Z)
    plain = smo.solve(gram, -y, lower, upper, shrinking=False, newton=False, tol=1e-6)
    assert plain.n_iter > 10_000, "the problem is too easy to see anything"
    for options in ({"shrinking": True, "newton": False}, {"shrinking": True, "newton": True}):
        s = smo.solve(gram, -y, lower, upper, tol=1e-6, **options)
        assert s.dual == pytest.approx(plain.dual, rel=1e-10)
        assert s.violation <= 1e-6
        assert s.values == pytest.approx(gram @ s.beta, abs=1e-6)
    assert s.n_iter < 0.7 * plain.n_iter, "Newton steps should save many pairs"
    s = smo.solve(smo.ColumnCache(kernel, Z), -y, lower, upper, tol=1e-3)
    assert s.dual == pytest.approx(plain.dual, rel=1e-6)


def test_memory_stays_within_what_was_granted():
    Z, y = sample(7, n=900, d=4)
    kernel = Gaussian(sigma=1.2)
    tiny = smo.ColumnCache(kernel, Z, cache_mb=0.2, dtype=np.float64)
    assert tiny.store.nbytes <= 0.2e6
    s = smo.classification(tiny, y, 3.0, tol=1e-5)
    assert tiny.evaluated > 2 * tiny.store.shape[0], "the cache is not too small: nothing is seen"
    assert s.dual == pytest.approx(smo.classification(kernel(Z), y, 3.0, tol=1e-5).dual, rel=1e-8)


def test_columns_are_shared_between_problems():
    Z, y = sample(8, n=400)
    source = smo.ColumnCache(Gaussian(sigma=1.0), Z, cache_mb=50)
    smo.classification(source, y, 1.0)
    first = source.evaluated
    smo.classification(source, y, 1.5)
    assert 0 < first and source.evaluated - first < first / 2


def test_path_in_C_equals_separate_solutions_and_takes_fewer_steps():
    Z, y = sample(9, n=300)
    gram = Gaussian(sigma=1.0)(Z)
    prices = np.geomspace(0.01, 100.0, 40)
    path = smo.classification_path(gram, y, prices[::-1], tol=1e-6)[::-1]
    alone = [smo.classification(gram, y, C, tol=1e-6) for C in prices]
    for a, b in zip(path, alone, strict=True):
        assert a.dual == pytest.approx(b.dual, rel=1e-8)
    # For larger C the Newton steps end a run after a number of steps that does not depend on its start, and rounding
    # decides on which side: sums over all C differ between processors.
    early = np.flatnonzero(prices <= 3.0)
    assert sum(path[i].n_iter for i in early) < 0.75 * sum(alone[i].n_iter for i in early)


def test_libsvm_reaches_the_same_objective():
    for kernel, options in ((Gaussian(sigma=1.0), {"gamma": 0.5}), (Linear(), {"kernel": "linear"})):
        Z, y = sample(10, n=500, d=5)
        s = smo.classification(kernel, y, 2.0, X=Z)
        peer = SVC(C=2.0, tol=1e-3, **options).fit(Z, y)
        beta = np.zeros(len(y))
        beta[peer.support_] = peer.dual_coef_[0]
        theirs = np.abs(beta).sum() - 0.5 * beta @ kernel(Z) @ beta
        assert s.dual == pytest.approx(theirs, rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 30), st.floats(0.01, 100.0), st.booleans())
def test_gap_is_certified_whatever_the_problem(seed, n, C, rounded):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    if rounded:
        Z = np.round(Z)  # many equal points
    y = rng.choice([-1, 1], n)
    y[:2] = [1, -1]
    for norm in (1, 2):
        s = smo.classification(Z @ Z.T, y, C, norm=norm, tol=1e-7)
        assert s.converged and s.gap <= 1e-5 * (1.0 + n * C)
        assert abs(s.beta.sum()) <= 1e-9 * (1.0 + np.abs(s.beta).sum())


def test_warm_start_at_the_solution_takes_no_step():
    s = smo.classification(K, Y, 1.0, tol=1e-6)
    again = smo.classification(K, Y, 1.0, start=s.beta, tol=2e-6)
    assert again.n_iter == 0 and again.dual == pytest.approx(s.dual, rel=1e-12)


def test_vectorised_exponential():
    x = -np.concatenate([np.linspace(0.0, 50.0, 20_001), np.linspace(50.0, 700.0, 1001), [0.0, 1e-300, 708.0]])
    got = x.copy()
    exp_in_place(got)
    assert np.max(np.abs(got / np.exp(x) - 1.0)) < 4e-16 * 3
    rows = smo.ColumnCache(Gaussian(sigma=0.8), X, dtype=np.float64).rows(np.array([3, 7]))
    assert rows == pytest.approx(Gaussian(sigma=0.8)(X)[[3, 7]], abs=1e-14)
    far = smo.ColumnCache(Gaussian(sigma=0.8), X + 1e6, dtype=np.float64).rows(np.array([3, 7]))
    assert far == pytest.approx(rows, abs=1e-8)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: smo.classification(K, np.ones(len(Y))), "single class"),
        (lambda: smo.classification(K, np.arange(len(Y))), "-1 and"),
        (lambda: smo.classification(K, Y[:-1]), "one label"),
        (lambda: smo.classification(K, Y, 0.0), "positive"),
        (lambda: smo.classification(K, Y, -PRICES), "positive"),
        (lambda: smo.classification(K, Y, norm=3), "norm"),
        (lambda: smo.classification(K, Y, C2=1.0), "C2"),
        (lambda: smo.classification(K, Y, np.where(Y > 0, np.inf, 1.0)), "finite"),
        (lambda: smo.classification(K * np.nan, Y), "finite"),
        (lambda: smo.classification(K[:5], Y), "square"),
        (lambda: smo.classification(K + np.triu(K), Y), "symmetric"),
        (lambda: smo.classification(-K, Y), "positive semi-definite"),
        (lambda: smo.classification(np.tanh(X @ X.T + 1.0) * (1 - 2 * np.eye(len(Y))), Y), "semi-definite"),
        (lambda: smo.nu_classification(K, Y, 1.2), "nu"),
        (lambda: smo.nu_classification(K, Y, 0.0), "nu"),
        (lambda: smo.nu_classification(K, np.where(np.arange(len(Y)) < 10, 1, -1), 0.5), "infeasible"),
        (lambda: smo.regression(K, Y * 1.0, epsilon=-0.1, C=1.0), "epsilon"),
        (lambda: smo.regression(K, Y * 1.0, epsilon=0.1, C=np.inf), "ridge"),
        (lambda: smo.nearest_points(K, Y, cap=1e-3), "cap"),
        (lambda: smo.solve(K, -Y, 1.0, -1.0), "lower"),
        (lambda: smo.solve(K, -Y, -1.0, 1.0, start=np.full(len(Y), 2.0)), "outside"),
        (lambda: smo.solve(K, -Y, -1.0, 1.0, groups=np.zeros(3, dtype=int)), "groups"),
        (lambda: smo.ColumnCache(Linear(), X, cache_mb=0.0), "cache_mb"),
        (lambda: smo.ColumnCache(Linear(), X * np.inf), "finite"),
        (lambda: smo.classification_path(K, Y, [1.0, -1.0]), "positive"),
    ],
)
def test_bad_input_is_named(call, message):
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
        call()


def test_an_indefinite_matrix_is_noticed_at_the_end():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 40))
    A = 0.5 * (A + A.T)
    A[np.diag_indices(40)] = 6.0  # every pair is fine, the whole is not
    assert np.linalg.eigvalsh(A)[0] < 0.0
    y = np.where(np.arange(40) % 2, 1, -1)
    try:
        s = smo.classification(A, y, 5.0)
    except ValueError as error:
        assert "semi-definite" in str(error)
    else:
        assert np.isfinite(s.dual)


def test_too_few_steps_warn():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        s = smo.classification(K, Y, 10.0, max_iter=5)
    assert not s.converged and s.n_iter == 5


@pytest.mark.parametrize("complete", [False, True])
def test_short_columns_copied_at_once_or_one_by_one_give_the_same_machine(monkeypatch, complete):
    X, y = sample(n=300, noise=1.5)
    kernel = Gaussian.from_gamma(0.3)
    found = []
    for copied in (1000, 0):
        monkeypatch.setattr("learnable.kernels.smo.active.COPIED", copied)
        source = smo.GramSource(kernel(X)) if complete else smo.ColumnCache(kernel, X)
        found.append(smo.classification(source, y, 50.0))
    assert found[0].n_iter == found[1].n_iter > 300
    np.testing.assert_array_equal(found[0].beta, found[1].beta)


def test_searches_over_blocks_find_the_first_of_equals():
    from learnable.kernels import _iteration as loops

    rng = np.random.default_rng(0)
    for n in (1, 127, 128, 129, 300):
        v, up = rng.integers(-3, 4, n).astype(float), rng.choice([0.0, -np.inf], n, p=[0.8, 0.2])
        where, best = loops._largest(v, up)
        assert best == (v + up).max()
        assert where == (int(np.argmax(v + up)) if np.isfinite(best) else -1)
        column, ones = rng.random(n).astype(np.float32), np.ones(n)
        gains = np.maximum(4.0 - v, 0.0) ** 2 / np.maximum(2.0 - 2.0 * column.astype(float), 1e-12)
        assert loops._partner(v, np.zeros(n), ones, column, 4.0, 1.0, 1e-12) == (int(np.argmax(gains)), v.min())


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 25), st.integers(1, 3), st.integers(0, 10**6))
def test_newton_system_with_constraints_is_the_one_of_its_conditions(n, groups, seed):
    """One factorisation and growing constraints against the whole linear system of the conditions."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 2 * n))
    A = A @ A.T / n
    group = rng.integers(0, groups, n) * 2  # labels need not be consecutive
    force = rng.normal(size=n)
    for labels in (group, None):
        system = Constrained(A, labels)
        assert system.ready
        fixed = np.zeros(0, dtype=int)
        for more in (np.array([], dtype=int), np.array([1]), np.array([0, 2])):
            if more.size and not system.fix(more):
                break
            fixed = np.concatenate([fixed, more])
            sums = np.zeros((n, 0)) if labels is None else (labels[:, None] == np.unique(labels)).astype(float)
            C = np.hstack([sums, np.eye(n)[:, fixed]])
            whole = np.block([[A, C], [C.T, np.zeros((C.shape[1],) * 2)]])
            expected = np.linalg.lstsq(whole, np.concatenate([force, np.zeros(C.shape[1])]), rcond=None)[0][:n]
            step = system.solve(force.copy())
            if step is None:  # a group of which all members are fixed says the same twice
                assert np.linalg.matrix_rank(C) < C.shape[1]
                break
            np.testing.assert_allclose(step, expected, atol=1e-5 * max(1.0, np.abs(expected).max()))
            assert np.all(step[fixed] == 0.0)
            np.testing.assert_allclose(sums.T @ step, 0.0, atol=1e-12 * n)


def test_newton_system_refuses_what_is_not_a_kernel_matrix():
    assert not Constrained(np.array([[1.0, 2.0], [2.0, 1.0]]), None).ready


def test_way_to_the_first_bound():
    """Both ends, an infinite bound, and a direction that stands still."""
    x, low, high = np.array([0.0, 1.0, 2.0, 3.0]), np.full(4, -1.0), np.array([0.5, np.inf, 9.0, 9.0])
    length, hit, new = loops.toward(x, low, high, np.array([1.0, 4.0, -6.0, 0.0]))
    assert (length, hit.tolist(), new.tolist()) == (0.5, [True, False, True, False], [0.5, 3.0, -1.0, 3.0])
    length, hit, new = loops.toward(x, low, high, np.array([0.1, 1.0, -1.0, 0.0]))
    assert (length, hit.any(), new.tolist()) == (1.0, False, [0.1, 2.0, 1.0, 3.0])
