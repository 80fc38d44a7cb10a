"""Claims of the chapter on moments and cones, against cvxpy with Clarabel, brute force, scipy and scikit-learn."""

import warnings
from dataclasses import FrozenInstanceError

import cvxpy
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog, minimize
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets import load
from learnable.datasets.staircase import make_staircase
from learnable.features import (
    LPSelector,
    RobustSOCPSelector,
    SOCPSelector,
    SparseFisher,
    cantelli_bound,
    eta_path,
    loo_selection,
    minimax_probability_machine,
)
from learnable.features.socp import (
    ClassMoments,
    chebyshev_factor,
    fisher_direction,
    fisher_program,
    robust_program,
    solve_cone_program,
    two_class_program,
)
from learnable.features.socp.feasibility import least_load
from learnable.features.socp.programs import Cone, ConeProgram


def two_classes(m=40, n=60, shift=1.5, informative=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    X = rng.normal(size=(m, n))
    X[:, :informative] += shift * y[:, None]
    return X, y


def _quietly(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return solve_cone_program(program)


def reference(program):
    """Status and value of the program by cvxpy and Clarabel, with b left out as the package does."""
    w = cvxpy.Variable(len(program.delta))
    heads = [cvxpy.Variable() for _ in program.cones]
    constraints = [program.delta @ w >= sum(c.weight * y for c, y in zip(program.cones, heads, strict=True))]
    for c, y in zip(program.cones, heads, strict=True):
        constraints += [y >= c.floor, y >= c.scale * cvxpy.norm(c.factor @ w)]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm1(w)), constraints)
    problem.solve(solver="CLARABEL")
    return problem.status, problem.value


def reference_with_offset(moments, eta):
    """Formulation (8) of the source word for word, with b."""
    kappa, n = np.sqrt(eta / (1 - eta)), len(moments.mu1)
    w, b = cvxpy.Variable(n), cvxpy.Variable()
    first, second = moments.mu1 @ w - b, b - moments.mu2 @ w
    constraints = [first >= 1, second >= 1, first >= kappa * cvxpy.norm(moments.factor1 @ w)]
    constraints.append(second >= kappa * cvxpy.norm(moments.factor2 @ w))
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm1(w)), constraints)
    problem.solve(solver="CLARABEL")
    return problem.value


def test_c1_the_bound_holds_for_six_laws():
    rng = np.random.default_rng(1)
    size, d = 2000, 3
    laws = {
        "normal": rng.normal(size=(size, d)),
        "exponential": rng.exponential(size=(size, d)),
        "two points": rng.choice([-1.0, 3.0], p=[0.75, 0.25], size=(size, d)),
        "t5": rng.standard_t(5, size=(size, d)),
        "uniform": rng.uniform(size=(size, d)),
        "mixture": np.where(rng.random((size, d)) < 0.1, rng.normal(8, 1, (size, d)), rng.normal(size=(size, d))),
    }
    for X in laws.values():
        mu, covariance = X.mean(axis=0), np.cov(X.T, bias=True)
        for w, offset in zip(rng.normal(size=(150, d)), rng.uniform(-1, 4, 150), strict=True):
            b = mu @ w + offset * np.sqrt(w @ covariance @ w)
            # The moments are those of this very sample, so there is no sampling error: the bound is exact.
            assert np.mean(X @ w < b) >= cantelli_bound(mu, covariance, w, b) - 1e-12


def test_the_factor_inverts_the_bound():
    for eta in (0.0, 0.2, 0.5, 0.99):
        assert cantelli_bound([0.0], [[4.0]], [1.0], 2 * chebyshev_factor(eta)) == pytest.approx(eta)
    assert chebyshev_factor(1 - 1e-15) == pytest.approx(np.sqrt(1e9), rel=1e-6)


@pytest.mark.parametrize("eta", [0.2, 0.5, 0.8, 0.9, 0.95, 0.99])
def test_c2_training_errors_of_each_class_are_within_the_bound(eta):
    for seed in range(4):
        X, y = two_classes(30 + 7 * seed, 80, shift=0.5 * seed, seed=seed)
        model = SOCPSelector(eta=eta).fit(X, y)
        assert model.status_ == "optimal" and model.eta_ >= eta - 1e-9
        for k in (0, 1):
            assert np.mean(model.predict(X)[y == k] != k) <= 1 - eta + 1e-9
            assert np.mean(model.predict(X)[y == k] != k) <= model.certified_error_ + 1e-9


def test_c2_the_constraints_hold_with_the_offset():
    X, y = two_classes(50, 200, shift=1.0)
    moments = ClassMoments.from_data(X, y)
    model = SOCPSelector(eta=0.9).fit(X, y)
    w, b = model.coef_[0], -model.intercept_[0]
    for room, factor in ((w @ moments.mu1 - b, moments.factor1), (b - w @ moments.mu2, moments.factor2)):
        assert room >= 1 - 1e-9 and room >= 3 * np.linalg.norm(factor @ w) - 1e-9


def test_c3_at_level_zero_one_feature_with_a_closed_form():
    X, y = two_classes(20, 50, seed=3)
    delta = ClassMoments.from_data(X, y).delta
    j = np.abs(delta).argmax()
    model = SOCPSelector(eta=0.0).fit(X, y)
    expected = np.zeros(50)
    expected[j] = 2 / delta[j]
    assert model.coef_[0] == pytest.approx(expected, rel=1e-10)
    assert model.solution_.objective == pytest.approx(2 / np.abs(delta).max(), rel=1e-12)


def test_c4_one_feature_stays_optimal_up_to_a_known_level():
    # Population moments of the synthetic data: feature 10 has difference 20 and deviation 1, so kappa <= 10.
    mu = np.concatenate([-np.arange(1.0, 11.0), np.zeros(5)])
    moments = ClassMoments.from_covariances(mu, np.eye(15), -mu, np.eye(15))
    below, above = (solve_cone_program(two_class_program(moments, eta)) for eta in (0.99, 0.9905))
    assert np.flatnonzero(below.w).tolist() == [9] and below.objective == pytest.approx(0.1, rel=1e-9)
    assert len(np.flatnonzero(above.w)) > 1 and above.objective > 0.1 + 1e-6
    assert all(np.linalg.norm(v) < 1e-9 for v in below.vectors)


def test_c4_unequal_spreads_put_the_plane_off_the_middle():
    moments = ClassMoments.from_covariances([4.0], [[0.01]], [0.0], [[1.0]])
    solution = solve_cone_program(two_class_program(moments, 0.9))  # kappa = 3: 4 w = max(1, 0.3 w) + max(1, 3 w)
    assert solution.w[0] == pytest.approx(1.0, rel=1e-9)  # 4 w = 1 + 3 w
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(4, 0.1, 200), rng.normal(0, 1, 200)])[:, None]
    model = SOCPSelector(eta=0.9).fit(X, np.repeat([1, 0], 200))
    assert -model.intercept_[0] / model.coef_[0, 0] > 2.5


def test_c5_the_norm_grows_with_the_level_and_the_radii():
    X, y = two_classes(30, 60, shift=2.0)
    X = X - X.mean(axis=0)
    path = eta_path(X, y, [0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98])
    assert (np.diff(path.objectives) >= -1e-9).all() and path.objectives[-1] > 1.2 * path.objectives[0]
    for name in ("delta", "rho"):
        norms = [
            solve_cone_program(robust_program(X[y == 1], X[y == 0], 0.5, **{name: r})).objective
            for r in (0.0, 0.02, 0.05, 0.1)
        ]
        assert (np.diff(norms) > 0).all()


@pytest.mark.parametrize("eta", [0.3, 0.8, 0.95, 0.99])
def test_c6_equal_to_clarabel_with_a_certified_gap(eta):
    X, y = two_classes(40, 300, shift=1.5, seed=4)
    moments = ClassMoments.from_data(X, y)
    solution = solve_cone_program(two_class_program(moments, eta))
    assert solution.status == "optimal" and solution.gap < 1e-8
    assert solution.objective == pytest.approx(reference_with_offset(moments, eta), rel=1e-6)
    used = solution.w != 0
    assert np.abs(solution.prices[used]) == pytest.approx(1, abs=1e-7)
    assert (np.sign(solution.prices) == np.sign(solution.w))[used].all()
    assert np.abs(solution.prices).max() <= 1 + 1e-12


def test_c6_the_certificate_is_a_feasible_dual_point():
    X, y = two_classes(36, 120, shift=1.2, seed=5)
    program = two_class_program(ClassMoments.from_data(X, y), 0.9)
    solution = solve_cone_program(program)
    covered = solution.lam * program.delta
    value = 0.0
    for cone, v in zip(program.cones, solution.vectors, strict=True):
        assert np.linalg.norm(v) <= solution.lam + 1e-12
        covered = covered - cone.scale * cone.factor.T @ v
        value += solution.lam - np.linalg.norm(v)
    assert np.abs(covered).max() <= 1 + 1e-12
    assert value == pytest.approx(solution.lower_bound, rel=1e-12)
    assert solution.lower_bound <= solution.objective * (1 + 1e-12) and program.slack(solution.w) > -1e-11
    assert program.prices(solution.lam, solution.vectors) == pytest.approx(solution.prices, abs=1e-12)


@pytest.mark.parametrize("kind", ["two", "fisher", "span_ball", "coef_ball"])
def test_c6_random_programs_agree_with_clarabel(kind):
    rng = np.random.default_rng(7 + ["two", "fisher", "span_ball", "coef_ball"].index(kind))
    seen = set()
    for trial in range(8):
        m, n = rng.integers(6, 30), rng.integers(1, 30)
        y = np.concatenate([[0, 1, 0, 1], rng.integers(0, 2, m - 4)])
        X = rng.normal(size=(m, n)) + (rng.random(n) < 0.4) * y[:, None] * rng.uniform(0, 3)
        if trial % 3 == 0 and n > 1:
            X[:, 1] = X[:, 0]  # equal columns: the weights are not unique, the norm is
        eta = rng.choice([0.1, 0.5, 0.8, 0.95])
        moments = ClassMoments.from_data(X, y)
        program = {
            "two": lambda mo=moments, e=eta: two_class_program(mo, e),
            "fisher": lambda mo=moments, e=eta: fisher_program(mo, e),
        }.get(
            kind, lambda X=X, y=y, e=eta: robust_program(X[y == 1], X[y == 0], e, delta=0.1, rho=0.01, mean_set=kind)
        )()
        found = solve_cone_program(program)
        status, value = reference(program)
        seen.add(found.status)
        assert (found.status == "infeasible") == status.startswith("infeasible")
        if found.status == "optimal":
            assert found.objective == pytest.approx(value, rel=1e-6)
    assert seen == {"optimal", "infeasible"}


def test_c6_columns_give_what_all_features_give():
    X, y = two_classes(30, 150, shift=1.0, seed=6)
    program = two_class_program(ClassMoments.from_data(X, y), 0.95)
    few, full = (solve_cone_program(program, method=method) for method in ("columns", "full"))
    assert few.objective == pytest.approx(full.objective, rel=1e-9) and len(few.columns) < 150
    assert (few.w != 0).tolist() == (full.w != 0).tolist() and full.n_rounds == 1


def test_c6_the_tumours_with_2308_genes():
    khan = load("khan")
    kept = khan.target < 2
    assert khan.data.shape[1] == 2308
    program = two_class_program(ClassMoments.from_data(khan.data[kept], khan.target[kept]), 0.95)
    solution = solve_cone_program(program)
    assert solution.objective == pytest.approx(reference(program)[1], rel=1e-6)
    assert solution.gap < 1e-10 and len(solution.columns) < 200


def test_c7_feasible_exactly_up_to_the_minimax_level():
    X, y = two_classes(60, 4, shift=0.8, seed=7)
    moments = ClassMoments.from_data(X, y)
    limit = minimax_probability_machine(moments).eta
    low, high = 0.0, 1.0
    while high - low > 2e-5:
        middle = (low + high) / 2
        # At the very limit the norm grows without bound; what cannot be certified there is not infeasible.
        feasible = _quietly(two_class_program(moments, middle)).status != "infeasible"
        low, high = (middle, high) if feasible else (low, middle)
    assert 0.1 < limit < 0.9 and low == pytest.approx(limit, abs=1e-4)
    wide, labels = two_classes(12, 30)
    machine = minimax_probability_machine(ClassMoments.from_data(wide, labels))
    assert machine.eta == 1.0 and machine.kappa == np.inf
    assert solve_cone_program(two_class_program(ClassMoments.from_data(wide, labels), 0.9999)).status == "optimal"


def test_c7_the_minimax_machine_against_a_general_optimiser():
    X, y = two_classes(50, 3, shift=1.0, seed=8)
    X[y == 1] *= [0.3, 2.0, 1.0]
    moments = ClassMoments.from_data(X, y)
    machine = minimax_probability_machine(moments)

    def load_of(w):
        return (np.linalg.norm(moments.factor1 @ w) + np.linalg.norm(moments.factor2 @ w)) / abs(moments.delta @ w)

    best = min(minimize(load_of, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}).fun
               for start in np.random.default_rng(0).normal(size=(4, 3)))  # fmt: skip
    assert machine.kappa == pytest.approx(1 / best, rel=1e-6)
    spreads = [np.linalg.norm(f @ machine.w) for f in (moments.factor1, moments.factor2)]
    rooms = (machine.w @ moments.mu1 - machine.b, machine.b - machine.w @ moments.mu2)
    assert rooms[0] / spreads[0] == pytest.approx(machine.kappa) == pytest.approx(rooms[1] / spreads[1])
    lower, upper = least_load(two_class_program(moments, 0.5))  # kappa = 1
    assert lower <= 1 / machine.kappa * (1 + 1e-9) and upper >= 1 / machine.kappa * (1 - 1e-9)
    fisher = fisher_direction(moments)
    assert fisher.ratio / 2 <= machine.kappa**2 * (1 + 1e-9) and machine.kappa**2 <= fisher.ratio * (1 + 1e-9)


def test_infeasible_levels_are_reported_and_answered_with_the_best_level():
    X, y = two_classes(60, 3, shift=0.5, seed=9)
    with pytest.warns(UserWarning, match="no hyperplane reaches eta = 0.9"):
        model = SOCPSelector(eta=0.9).fit(X, y)
    machine = minimax_probability_machine(ClassMoments.from_data(X, y))
    assert model.status_ == "infeasible" and model.eta_ == pytest.approx(machine.eta) and model.eta_ < 0.9
    assert model.coef_[0] == pytest.approx(machine.w)
    flat = np.ones((6, 2))
    with pytest.warns(UserWarning, match="no hyperplane"):
        assert SOCPSelector().fit(flat, [0, 1] * 3).certified_error_ == 1.0


def test_c8_the_limit_of_sparse_fisher_is_fishers_ratio():
    X, y = two_classes(60, 4, shift=0.8, seed=10)
    moments = ClassMoments.from_data(X, y)
    fisher = fisher_direction(moments)
    total = moments.factor1.T @ moments.factor1 + moments.factor2.T @ moments.factor2
    assert fisher.ratio == pytest.approx(moments.delta @ np.linalg.solve(total, moments.delta), rel=1e-10)
    assert fisher.eta == pytest.approx(fisher.ratio / (1 + fisher.ratio))
    low, high = 0.0, 1.0
    while high - low > 2e-5:
        middle = (low + high) / 2
        feasible = _quietly(fisher_program(moments, middle)).status != "infeasible"
        low, high = (middle, high) if feasible else (low, middle)
    assert low == pytest.approx(fisher.eta, abs=1e-4)


def test_c8_the_direction_is_that_of_scikit_learn():
    X, y = two_classes(80, 5, shift=1.0, seed=11)
    w = fisher_direction(ClassMoments.from_data(X, y)).w
    other = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).coef_[0]
    assert w / np.linalg.norm(w) == pytest.approx(other / np.linalg.norm(other), rel=1e-8)


def test_sparse_fisher_keeps_its_promise_on_pairs():
    X, y = two_classes(40, 80, shift=1.0, seed=12)
    for offset in ("midpoint", "equal_tails"):
        model = SparseFisher(eta=0.9, offset=offset).fit(X, y)
        scores = model.decision_function(X)
        # Pairs of the training sample are independent draws with exactly its moments.
        assert np.mean(scores[y == 1][:, None] > scores[y == 0]) >= 0.9 and model.eta_ >= 0.9 - 1e-9
    spread = [scores[y == k].std() for k in (0, 1)]
    assert scores[y == 1].mean() / spread[1] == pytest.approx(-scores[y == 0].mean() / spread[0])
    assert model.get_support().sum() < 40


def test_c9_the_worst_mean_of_each_set():
    rng = np.random.default_rng(13)
    X, w, delta = rng.normal(size=(6, 9)), rng.normal(size=9), 0.7
    for mean_set in ("span_ball", "coef_ball"):
        program = robust_program(X, np.zeros((1, 9)), 0.0, delta=delta, mean_set=mean_set)
        lost = program.norms(w)[2]
        steps = rng.normal(size=(20_000, 6))  # members: X'(z̄ + step)
        size = np.linalg.norm(steps @ X if mean_set == "span_ball" else steps, axis=1)
        moved = delta * (steps / size[:, None]) @ X @ w
        assert moved.min() >= -lost - 1e-9 and moved.min() < -0.8 * lost
        best = np.linalg.pinv(X.T) @ w if mean_set == "span_ball" else X @ w
        best /= np.linalg.norm(X.T @ best if mean_set == "span_ball" else best)
        assert delta * best @ X @ w == pytest.approx(lost, rel=1e-9)


def test_c9_the_worst_covariance():
    rng = np.random.default_rng(14)
    X, w, rho = rng.normal(size=(5, 8)) + 1, rng.normal(size=8), 0.3
    centring = (np.eye(5) - 1 / 5) / 5
    v = X @ w
    factor = robust_program(X, X, 0.5, rho=rho).cones[0].factor
    assert (factor @ w) @ (factor @ w) == pytest.approx(v @ centring @ v + rho * v @ v, rel=1e-10)
    assert factor.T @ factor == pytest.approx(X.T @ (centring + rho * np.eye(5)) @ X, rel=1e-10)
    for change in rng.normal(size=(2000, 5, 5)):
        change = (change + change.T) / 2
        assert v @ (centring + rho * change / np.linalg.norm(change)) @ v <= (factor @ w) @ (factor @ w) + 1e-9
    attained = rho * np.outer(v, v) / (v @ v)
    assert np.linalg.norm(attained) == pytest.approx(rho)
    assert v @ (centring + attained) @ v == pytest.approx((factor @ w) @ (factor @ w))
    assert np.linalg.norm(rho * np.eye(5)) > 2 * rho  # the source's maximiser is outside the set


def test_c10_without_uncertainty_it_is_the_plain_program():
    X, y = two_classes(30, 60)
    plain, robust = SOCPSelector(0.8).fit(X, y), RobustSOCPSelector(0.8).fit(X, y)
    assert robust.coef_ == pytest.approx(plain.coef_, rel=1e-9)
    assert robust.intercept_ == pytest.approx(plain.intercept_, rel=1e-9)
    assert robust.eta_ == pytest.approx(plain.eta_, rel=1e-9)


def test_c10_the_robust_guarantee_holds_for_moved_means():
    X, y = two_classes(30, 60, shift=2.0)
    X = X - X.mean(axis=0)
    model = RobustSOCPSelector(0.7, delta=0.5).fit(X, y)
    w, b = model.coef_[0], -model.intercept_[0]
    rng = np.random.default_rng(0)
    for k, sign in ((1, 1), (0, -1)):
        rows = X[y == k]
        moves = rng.normal(size=(500, len(rows))) @ rows
        moves *= 0.5 / np.linalg.norm(moves, axis=1)[:, None]
        means = rows.mean(axis=0) + moves
        bounds = [cantelli_bound(-sign * mean, np.cov(rows.T, bias=True), w, -sign * b) for mean in means]
        assert min(bounds) >= 0.7 - 1e-9
        assert model.eta_ <= min(bounds) + 1e-9  # what is certified holds for the worst member, not for the centre
    assert model.eta_ >= 0.7 - 1e-9


def test_erratum_the_factor_of_sparse_fisher_grows_with_eta():
    X, y = two_classes(40, 30, shift=1.0, seed=17)
    moments = ClassMoments.from_data(X, y)
    for eta in (0.2, 0.9):
        cone = fisher_program(moments, eta).cones[0]
        assert cone.scale == pytest.approx(np.sqrt(eta / (1 - eta)))
    ratios = []
    for eta in (0.8, 0.9, 0.95):
        w = solve_cone_program(fisher_program(moments, eta)).w
        ratios.append((w @ moments.delta) ** 2 / np.sum((np.vstack([moments.factor1, moments.factor2]) @ w) ** 2))
        assert ratios[-1] / (1 + ratios[-1]) >= eta - 1e-9
    assert (np.diff(ratios) > 0).all()


def test_erratum_centring_divides_by_m():
    X = np.random.default_rng(18).normal(size=(6, 3)) + 5
    factor = robust_program(X, X, 0.5).cones[0].factor
    assert factor.T @ factor == pytest.approx(np.cov(X.T, bias=True))
    assert np.linalg.eigvalsh(np.eye(6) - np.ones((6, 6))).min() < -1  # what is printed is no covariance


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_c11_the_unit_of_x_changes_only_the_unit_of_w(scale):
    X, y = two_classes(40, 50)
    for model in (SOCPSelector(0.9), SparseFisher(0.9), LPSelector(C=np.inf)):
        one, other = clone(model).fit(X, y), clone(model).fit(X * scale, y)
        assert other.coef_ * scale == pytest.approx(one.coef_, rel=1e-6, abs=1e-9)
        assert (other.get_support() == one.get_support()).all()


@pytest.mark.parametrize("factor", [1e9, 1e-9])
def test_guarantees_do_not_depend_on_the_unit_of_one_column(factor):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 8))
    y = (X[:, 0] + 0.5 * X[:, 3] + 0.5 * rng.normal(size=60) > 0).astype(int)
    units = np.where(np.arange(8) == 5, factor, 1.0)
    plain, other = ClassMoments.from_data(X, y), ClassMoments.from_data(X * units, y)
    covariances = [factor.T @ factor for factor in (other.factor1, other.factor2)]
    known = ClassMoments.from_covariances(other.mu1, covariances[0], other.mu2, covariances[1])
    machine, fisher = minimax_probability_machine(plain), fisher_direction(plain)
    for moments in (other, known):
        np.testing.assert_allclose(minimax_probability_machine(moments).eta, machine.eta, rtol=1e-9)
        np.testing.assert_allclose(minimax_probability_machine(moments).w * units, machine.w, rtol=1e-6)
        np.testing.assert_allclose(fisher_direction(moments).eta, fisher.eta, rtol=1e-9)
        for level, feasible in ((machine.eta - 1e-4, True), (machine.eta + 1e-4, False)):
            lower, upper = least_load(two_class_program(moments, level))
            assert upper < 1 if feasible else lower > 1


def test_c12_other_names_of_the_labels_turn_the_plane_round():
    X, y = two_classes(40, 50)
    for model in (SOCPSelector(0.9), SparseFisher(0.9, offset="equal_tails"), RobustSOCPSelector(0.8, delta=0.1)):
        one, other = clone(model).fit(X, y), clone(model).fit(X, 1 - y)
        assert other.coef_ == pytest.approx(-one.coef_, rel=1e-8, abs=1e-12)
        assert other.intercept_ == pytest.approx(-one.intercept_, rel=1e-6)


def test_row_order_origin_and_memory_layout_do_not_matter():
    X, y = two_classes(40, 50)
    plain = SOCPSelector(0.9).fit(X, y)
    turn = np.random.default_rng(0).permutation(40)
    for A, b in ((X[turn], y[turn]), (X + 100, y), (np.asfortranarray(X), y)):
        assert SOCPSelector(0.9).fit(A, b).coef_ == pytest.approx(plain.coef_, rel=1e-7, abs=1e-9)


def test_moments_are_those_of_numpy():
    X, y = two_classes(21, 6)
    moments = ClassMoments.from_data(X, np.where(y == 1, "b", "a"))
    assert moments.classes == ("a", "b")
    for mu, factor, k in ((moments.mu1, moments.factor1, 1), (moments.mu2, moments.factor2, 0)):
        assert mu == pytest.approx(X[y == k].mean(axis=0))
        assert factor.T @ factor == pytest.approx(np.cov(X[y == k].T, bias=True))
    known = ClassMoments.from_covariances(moments.mu1, np.cov(X.T), moments.mu2, np.eye(6))
    assert known.factor1.T @ known.factor1 == pytest.approx(np.cov(X.T)) and known.delta == pytest.approx(moments.delta)


def test_one_sample_in_a_class_has_no_spread():
    X = np.array([[5.0, 0.0], [0.0, 1.0], [1.0, -1.0], [-1.0, 0.5]])
    model = SOCPSelector(0.9).fit(X, [1, 0, 0, 0])
    assert model.status_ == "optimal" and model.predict(X).tolist() == [1, 0, 0, 0]
    assert not ClassMoments.from_data(X, [1, 0, 0, 0]).factor1.any()


def test_constant_and_equal_columns():
    X, y = two_classes(40, 30)
    plain = SOCPSelector(0.9).fit(X, y)
    same = SOCPSelector(0.9).fit(np.hstack([X, np.full((40, 2), 7.0), X[:, :3]]), y)
    assert same.solution_.objective == pytest.approx(plain.solution_.objective, rel=1e-8)
    assert not same.get_support()[30:32].any()


def test_the_linear_program_equals_linprog_and_refuses_what_cannot_be_separated():
    X, y = two_classes(24, 40, shift=1.0)
    signs = np.where(y == 1, 1.0, -1.0)
    hard = linprog(np.r_[np.ones(80), 0], A_ub=np.c_[-signs[:, None] * X, signs[:, None] * X, signs], b_ub=-np.ones(24),
                   bounds=[(0, None)] * 80 + [(None, None)])  # fmt: skip
    model = LPSelector(C=np.inf).fit(X, y)
    assert np.abs(model.coef_).sum() == pytest.approx(hard.fun, rel=1e-8) == pytest.approx(model.objective_)
    assert (signs * model.decision_function(X)).min() >= 1 - 1e-7
    with pytest.raises(ValueError, match="linearly separable"):
        LPSelector(C=np.inf).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    soft = LPSelector(C=0.1).fit(X, y)
    slack = np.maximum(0, 1 - signs * soft.decision_function(X)).sum()
    assert soft.objective_ == pytest.approx(np.abs(soft.coef_).sum() + 0.1 * slack, rel=1e-7)
    assert np.abs(soft.coef_).sum() < np.abs(model.coef_).sum()


def test_leave_one_out_with_warm_starts_is_leave_one_out():
    X, y = two_classes(14, 60, shift=1.2, seed=15)
    for selector in (SOCPSelector(0.9), SparseFisher(0.9), RobustSOCPSelector(0.8, delta=0.2), LPSelector(C=np.inf)):
        found = loo_selection(selector, X, y)
        masks, labels = [], []
        for i in range(14):
            kept = np.arange(14) != i
            model = clone(selector).fit(X[kept], y[kept])
            masks.append(model.get_support())
            labels.append(model.predict(X[i : i + 1])[0])
        assert found.frequency == pytest.approx(np.mean(masks, axis=0)) and found.converged
        assert found.predictions.tolist() == labels and found.error_rate == np.mean(np.array(labels) != y)
        assert found.union.tolist() == np.flatnonzero(np.any(masks, axis=0)).tolist()
        assert found.n_features.tolist() == np.sum(masks, axis=1).tolist()


def test_warm_starts_save_interior_point_steps_and_change_nothing():
    X, y = two_classes(40, 400, shift=1.5, seed=16)
    near, here = (two_class_program(ClassMoments.from_data(X[k:], y[k:]), 0.95) for k in (1, 0))
    cold, warm = solve_cone_program(here), solve_cone_program(here, start=solve_cone_program(near))
    assert warm.w == pytest.approx(cold.w, abs=1e-10) and warm.n_iter == 0 < cold.n_iter
    far = solve_cone_program(two_class_program(ClassMoments.from_data(X[:, ::-1], y), 0.5))
    assert solve_cone_program(here, start=far).objective == pytest.approx(cold.objective, rel=1e-9)


def test_the_path_is_that_of_single_fits_in_any_order():
    X, y = two_classes(16, 40, shift=2.0)
    etas = [0.9, 0.2]
    path = eta_path(X, y, etas, loo=True)
    for k, eta in enumerate(etas):
        model = SOCPSelector(eta).fit(X, y)
        assert path.coefs[k] == pytest.approx(model.coef_[0], rel=1e-7, abs=1e-9)
        assert path.n_features[k] == model.get_support().sum()
        assert path.certified_errors[k] == pytest.approx(1 - model.eta_)
        assert path.loo_errors[k] == loo_selection(model, X, y).error_rate
    assert np.isnan(eta_path(X, y, [0.5]).loo_errors).all()


def test_staircase_finds_the_last_step_first():
    made = make_staircase(50, 300, random_state=0)
    assert SOCPSelector(0.9).fit(made.data, made.target).get_support(indices=True).tolist() == [9]
    assert (made.data[made.target == 1, :10].mean(axis=0) < 0).all()
    with pytest.raises(ValueError, match="n_informative"):
        make_staircase(5, 3, n_informative=4)


def test_pipelines_and_data_frames():
    X, y = two_classes(40, 30, shift=2.5)
    table = pd.DataFrame(X, columns=[f"gene{j}" for j in range(30)])
    pipe = make_pipeline(StandardScaler(), SOCPSelector(0.9), LogisticRegression()).set_output(transform="pandas")
    pipe.fit(table, y)
    names = pipe[1].get_feature_names_out()
    assert pipe[1].transform(pipe[0].transform(table)).columns.tolist() == names.tolist()
    assert pipe.score(table, y) > 0.9 and 0 < len(names) < 30 and all(name.startswith("gene") for name in names)
    model = SOCPSelector(0.5).fit(X, np.where(y == 1, "tumour", "healthy"))
    assert set(model.predict(X)) <= {"tumour", "healthy"} and model.transform(X).shape[1] == model.get_support().sum()


@parametrize_with_checks([SOCPSelector(), SparseFisher(), RobustSOCPSelector(delta=0.05, rho=0.001), LPSelector()])
def test_scikit_learns_conventions(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_what_is_not_certified_is_said():
    X, y = two_classes(40, 100)
    program = two_class_program(ClassMoments.from_data(X, y), 0.95)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        solution = solve_cone_program(program, max_iter=2)
    assert solution.status == "inaccurate" and not solution.converged and solution.gap > 1e-8
    with pytest.warns(ConvergenceWarning, match="SOCPSelector"):
        SOCPSelector(0.95, max_iter=2).fit(X, y)


@pytest.mark.parametrize("eta", [-0.1, 1.0, np.nan, "high"])
def test_bad_levels_are_refused(eta):
    X, y = two_classes(10, 3)
    for call in (
        lambda: chebyshev_factor(eta),
        lambda: SOCPSelector(eta).fit(X, y),
        lambda: SparseFisher(eta).fit(X, y),
        lambda: two_class_program(ClassMoments.from_data(X, y), eta),
    ):
        with pytest.raises(ValueError, match="eta must"):
            call()


def test_bad_input_is_refused():
    X, y = two_classes(10, 3)
    program = two_class_program(ClassMoments.from_data(X, y), 0.1)
    for call, word in (
        (lambda: cantelli_bound([0.0], [[1.0]], [0.0], 1.0), "w must not be zero"),
        (lambda: cantelli_bound([0.0], [[-1.0]], [1.0], 1.0), "covariance"),
        (lambda: cantelli_bound([0.0, 1.0], [[1.0]], [1.0], 1.0), "covariance"),
        (lambda: ClassMoments.from_data(X, y[:5]), "y must"),
        (lambda: ClassMoments.from_data(X, np.zeros(10)), "two classes"),
        (lambda: ClassMoments.from_data(np.full((10, 3), np.nan), y), "X"),
        (lambda: ClassMoments.from_covariances([0.0], [[-1.0]], [1.0], [[1.0]]), "covariance1"),
        (lambda: robust_program(X, X[:, :2], 0.5), "X2"),
        (lambda: robust_program(X[:0], X, 0.5), "X1"),
        (lambda: RobustSOCPSelector(delta=-1).fit(X, y), "delta"),
        (lambda: RobustSOCPSelector(rho=-1).fit(X, y), "rho"),
        (lambda: RobustSOCPSelector(mean_set="box").fit(X, y), "mean_set"),
        (lambda: SparseFisher(offset="zero").fit(X, y), "offset"),
        (lambda: LPSelector(C=0).fit(X, y), "C must"),
        (lambda: SOCPSelector(tol=0).fit(X, y), "tol"),
        (lambda: SOCPSelector(max_iter=0).fit(X, y), "max_iter"),
        (lambda: solve_cone_program(program, method="guess"), "method"),
        (lambda: loo_selection(SOCPSelector(), X[:3], [0, 0, 1]), "two samples of each class"),
        (lambda: eta_path(X, y, []), "etas"),
        (lambda: eta_path(X, y, [0.5, 1.0]), "etas"),
        (lambda: SOCPSelector().fit(X, np.arange(10) % 3), "binary"),
    ):
        with pytest.raises(ValueError, match=word):
            call()
    with pytest.raises(TypeError, match="selector"):
        loo_selection(LogisticRegression(), X, y)
    with pytest.raises(TypeError, match="program"):
        solve_cone_program("program")
    with pytest.raises(TypeError, match="start"):
        solve_cone_program(program, start="there")


def test_results_are_frozen_and_inputs_stay():
    X, y = two_classes(20, 10)
    kept = X.copy()
    solution = SOCPSelector(0.8).fit(X, y).solution_
    RobustSOCPSelector(0.5, delta=0.1, rho=0.01).fit(X, y)
    LPSelector().fit(X, y)
    with pytest.raises(FrozenInstanceError):
        solution.gap = 0.0
    assert (X == kept).all()


@pytest.mark.parametrize("excess", [5e-5, 1e-3])
def test_a_cone_just_above_its_floor_counts(excess):
    """One feature, two cones: w = (h l) / (δ - h c) once the second is above its floor, by however little."""
    scale = 2 * (1 + excess)
    program = ConeProgram(np.ones(1), (Cone(0.25, 1.0, 0.0, np.eye(1)), Cone(0.25, 1.0, scale, np.eye(1))))
    found = solve_cone_program(program, tol=1e-6)
    assert found.objective == pytest.approx(0.25 / (1 - 0.25 * scale), rel=1e-9)
    assert program.slack(found.w) >= -1e-10
