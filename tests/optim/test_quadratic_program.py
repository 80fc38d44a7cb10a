"""Support vector machines against interior points, linear programs, LIBSVM, LIBLINEAR and closed forms."""

import cvxpy as cp
import numpy as np
import pytest

from learnable.optim import quadratic_program
from learnable.optim.quadratic_program import dual_of_qp

FOUR = np.array([[0.0, 1.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
FOUR_LABELS = np.array([-1, 1, 1, 1])
TIGHT = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def random_qp(rng, p=4, m=6, k=0):
    root = rng.normal(size=(p, p))
    inside = rng.normal(size=p)
    A = rng.normal(size=(m, p))
    B = rng.normal(size=(k, p)) if k else None
    d = -A @ inside - rng.uniform(0.05, 1.0, m)
    return root @ root.T + 0.3 * np.eye(p), 3.0 * rng.normal(size=p), A, d, B, -B @ inside if k else None


@pytest.mark.parametrize("k", [0, 2])
def test_claim_01_strong_duality_for_quadratic_programs(k):
    rng = np.random.default_rng(k)
    busy = 0
    for _ in range(25):
        problem = random_qp(rng, k=k)
        K, c, A, d, B, e = problem
        found = quadratic_program.solve_qp(*problem)
        x, alpha, beta = found.x, found.alpha, found.beta
        report = quadratic_program.kkt_report(x, alpha, *problem, beta=beta)
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
        quadratic_program.solve_qp(np.eye(1), [0.0], [[1.0], [-1.0]], [1.0, 1.0])


def test_perturbed_points_are_reported():
    problem = random_qp(np.random.default_rng(5))
    found = quadratic_program.solve_qp(*problem)
    x, alpha = found.x, found.alpha
    busiest = int(alpha.argmax())
    for name, (z, a) in {
        "stationarity": (x + 0.1, alpha),
        "slackness": (x - 0.1 * problem[2][busiest], alpha),
        "primal": (x + 0.1 * problem[2][busiest], alpha),
        "sign": (x, alpha - 2.0 * alpha.max() * (np.arange(6) == busiest)),
    }.items():
        assert getattr(quadratic_program.kkt_report(z, a, *problem), name) > 1e-3, name


def test_claim_02_the_quadratic_form_is_only_semidefinite():
    form = np.diag([1.0, 1.0, 0.0])
    assert np.linalg.matrix_rank(form) == 2
    A = -FOUR_LABELS[:, None] * np.column_stack([FOUR, np.ones(4)])
    with pytest.raises(ValueError, match="positive definite"):
        dual_of_qp(form, np.zeros(3), A, np.ones(4))
    # A little weight on the intercept makes it definite, and leads to the same plane in the limit.
    x = quadratic_program.solve_qp(form + np.diag([0, 0, 1e-9]), np.zeros(3), A, np.ones(4)).x
    assert x == pytest.approx([0.0, -2.0, 1.0], abs=1e-5)


def test_erratum_constant_of_the_dual_quadratic_program():
    K, c, A, d = np.array([[2.0]]), np.array([-4.0]), np.array([[1.0]]), np.array([-1.0])
    found = quadratic_program.solve_qp(K, c, A, d)
    x, alpha = found.x, found.alpha
    primal = float(0.5 * x @ K @ x + c @ x)
    printed = float(-0.5 * alpha @ A @ A.T @ alpha / 2.0 + (d - A @ c / 2.0) @ alpha)
    constant = -0.5 * float(c @ c) / 2.0
    assert primal == pytest.approx(-3.0) and printed == pytest.approx(1.0)
    assert printed + constant == pytest.approx(primal)
    assert dual_of_qp(K, c, A, d).value(alpha) == pytest.approx(primal)
