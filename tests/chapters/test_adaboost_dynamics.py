"""The dynamics of AdaBoost against closed forms, exact fractions, plain numpy, and other solvers."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from numba import njit
from scipy.optimize import brentq, linprog
from scipy.spatial.distance import cdist

from learnable import ensembles as ad_ensembles
from learnable.chapters.adaboost_dynamics import cycles as ad_cycles
from learnable.chapters.adaboost_dynamics import theory
from learnable.chapters.adaboost_dynamics.cycles import GONE, Cycle, smallest_period, verify_cycle
from learnable.chapters.adaboost_dynamics.theory import AdaBoostMatrix
from learnable.ensembles import margin_boosting
from learnable.ensembles.margins import margin, minimax_margin
from learnable.validation import check_rng


def edge_minmax(M):
    """Smallest possible largest edge min_d max_j (dᵀM)_j, solved as its own programme; by duality it equals ρ."""
    # The row player of M is the column player of −Mᵀ.
    game = minimax_margin(-M.T)
    return -game.value, game.vote


def group_rows(M, columns=None):
    """Identically classified examples: the different rows of M, and the row that each example belongs to."""
    if columns is not None:
        M = M[:, np.asarray(columns)]
    _, first, label = np.unique(M, axis=0, return_index=True, return_inverse=True)
    position = np.argsort(np.argsort(first))
    return M[np.sort(first)], position[label.ravel()]


def lyapunov(M, n_rounds, *, lam0=0.0, burn_in=1000, random_state=0, tie="first"):
    """Largest Lyapunov exponent per step along a run, jumps between regions ignored."""
    booster = AdaBoostMatrix(M, tie=tie)
    run = booster.run(burn_in + n_rounds, lam0=lam0)
    direction = check_rng(random_state).normal(size=len(M))
    direction -= direction.mean()
    return float(_tangent_growth(booster.M, run.weights, run.columns, direction, burn_in) / n_rounds)


@njit(cache=True)
def _tangent_growth(M, weights, columns, v, burn_in):
    """Sum of the logarithms by which each step stretches a direction v of the simplex, which is renewed every step."""
    m = v.size
    growth = 0.0
    for t in range(columns.size):
        j = columns[t]
        r = change = 0.0
        for i in range(m):
            r += weights[t, i] * M[i, j]
            change += v[i] * M[i, j]
        size = mean = 0.0
        for i in range(m):
            s = 1.0 + M[i, j] * r
            v[i] = v[i] / s - weights[t, i] * M[i, j] * change / (s * s)
            mean += v[i]
        mean /= m
        for i in range(m):
            v[i] -= mean
            size += abs(v[i])
        if size == 0.0:
            return -np.inf
        for i in range(m):
            v[i] /= size
        if t >= burn_in:
            growth += np.log(size)
    return growth


def recurrence(weights, tol=1e-3):
    """Which pairs of times have nearly the same weights: a Boolean matrix for a recurrence plot."""
    # Chebyshev distance: the largest difference of a weight.
    return cdist(weights, weights, "chebyshev") <= tol


def solve_cycle(M, columns, d0=None, *, n_sweeps=2000):
    """Solve for the cycle that uses the given columns in the given order."""
    sweeper = AdaBoostMatrix(M, selector=columns)
    columns = sweeper._forced
    T = columns.size
    d = sweeper.run(n_sweeps * T, d0, keep_weights=False).last
    growth = np.log1p(M[:, columns] * sweeper.run(T, d).edges).sum(axis=1)
    alive = (d > GONE) & (growth < 1e-3)
    # Rows that the columns treat alike move in proportion: only their totals are unknown.
    reduced, label = np.unique(M[alive][:, columns], axis=0, return_inverse=True)
    label = label.ravel()
    share = d[alive] / np.bincount(label, d[alive])[label]
    total = np.bincount(label, d[alive]) / d[alive].sum()
    total = _newton(reduced, total)
    d = np.zeros(len(M))
    d[alive] = share * total[label]
    run = sweeper.run(T, d)
    closing = np.abs(run.last - d).max()
    if closing > 1e-9:
        raise RuntimeError(
            f"these columns have no cycle that Newton's method can find; the last return missed by {closing:.1e}"
        )
    cycle = Cycle.of(M, run.weights[:-1], run.columns, run.edges)
    return cycle, verify_cycle(M, cycle).gap > -1e-12


def _newton(signs, k, n_iter=30):
    """Fixed point of the T-step map on the totals k; `signs` holds the column of each step."""
    m, T = signs.shape
    best, error = k, np.inf
    for _ in range(n_iter):
        d, product = k, np.eye(m)
        for t in range(T):
            s = signs[:, t]
            scale = 1 / (1 + s * (d @ s))
            product = (np.diag(scale) - np.outer(d * s * scale**2, s)) @ product
            d = d * scale
            d = d / d.sum()
        miss = d - k
        if np.abs(miss).max() < error:
            best, error = k, np.abs(miss).max()
        else:
            break
        step = np.linalg.lstsq(np.vstack([np.eye(m) - product, np.ones(m)]), np.append(miss, 0.0), rcond=1e-10)[0]
        if not np.isfinite(step).all() or (k + step <= 0).any():
            break
        k = (k + step) / (k + step).sum()
    return best


GOLDEN = (math.sqrt(5) - 1) / 2
EIGHT = theory.counterexamples()["8x8"]
FOUR = theory.counterexamples()["4x5"]
LONG = theory.counterexamples()["3x3, four steps"]


def separable(seed, m=12, n=25):
    M = theory.random_matrix(m, n, 0.6, seed)
    good = not (M == 1).all(axis=0).any() and minimax_margin(M).value > 1e-9
    return M if good else None


def separables(count, m=12, n=25):
    found = (separable(seed, m, n) for seed in itertools.count())
    return list(itertools.islice((M for M in found if M is not None), count))


def plain_map(M, d, steps, *, renormalise=True):
    """The iteration in plain numpy; returns the columns and the last weights."""
    columns = []
    for _ in range(steps):
        values = d @ M
        j = int(np.argmax(values))
        d = d / (1 + M[:, j] * values[j])
        if renormalise:
            d = d / d.sum()
        columns.append(j)
    return columns, d


def same_cycle(found, expected):
    return any(np.abs(np.roll(found, k, axis=0) - expected).max() < 1e-10 for k in range(len(found)))


def test_claim_01_map_equals_adaboost():
    for M in separables(50):
        run = theory.AdaBoostMatrix(M).run(200)
        lam = np.zeros(M.shape[1])
        for t in range(200):
            scores = M @ lam
            d = np.exp(scores.min() - scores)
            d /= d.sum()
            np.testing.assert_allclose(run.weights[t], d, atol=1e-10)
            j = run.columns[t]
            assert (d @ M)[j] >= (d @ M).max() - 1e-10
            lam[j] += 0.5 * math.log((1 + d @ M[:, j]) / (1 - d @ M[:, j]))
        np.testing.assert_allclose(run.lam, lam, rtol=1e-10)
        np.testing.assert_allclose(run.margins[-1], (M @ lam).min() / lam.sum(), atol=1e-10)
        np.testing.assert_allclose(run.scores, M @ run.lam, atol=1e-9)


def test_iterated_map_is_one_step_of_the_run():
    rng = np.random.default_rng(0)
    for M in separables(5):
        d = rng.dirichlet(np.ones(len(M)))
        run = theory.AdaBoostMatrix(M).run(1, d)
        np.testing.assert_allclose(theory.iterated_map(M, d), run.last, rtol=1e-13)
        j = run.columns[0]
        np.testing.assert_allclose(run.last, d / (1 + M[:, j] * (d @ M[:, j])), rtol=1e-12)


def test_exact_fractions_choose_the_same_columns():
    """Exact arithmetic, ties to the first column: no rounding can interfere."""
    for M in separables(6, 6, 8):
        signs = M.astype(int).tolist()
        d = [Fraction(1, 6)] * 6
        columns = []
        for _ in range(9):
            values = [sum(w * row[j] for w, row in zip(d, signs, strict=True)) for j in range(8)]
            j = values.index(max(values))
            columns.append(j)
            d = [w / (1 + row[j] * values[j]) for w, row in zip(d, signs, strict=True)]
            assert sum(d) == 1
        run = theory.AdaBoostMatrix(M).run(9)
        assert run.columns.tolist() == columns
        np.testing.assert_allclose(run.last, [float(w) for w in d], rtol=1e-11)


def test_claim_02_the_last_column_has_no_edge():
    for M in separables(20):
        run = theory.AdaBoostMatrix(M).run(300)
        after = (run.weights[1:] * M[:, run.columns].T).sum(axis=1)
        assert np.abs(after).max() < 1e-12


def test_claim_03_no_fixed_point_when_separable_and_convergence_when_not():
    for M in separables(10):
        run = theory.AdaBoostMatrix(M).run(2000)
        assert run.edges.min() >= minimax_margin(M).value - 1e-9
        assert np.abs(np.diff(run.weights, axis=0)).max(axis=1).min() > 1e-3
    fast = []
    for seed in range(80):
        M = np.where(np.random.default_rng(seed).random((12, 6)) < 0.5, 1.0, -1.0)
        M = np.hstack([M, -M])
        if minimax_margin(M).value > 1e-9 or (M == 1).all(axis=0).any():
            continue
        run = theory.AdaBoostMatrix(M).run(5000)
        # Where the best weights have zeros they are approached like 1/t only.
        assert run.edges[-100:].max() < 1e-2
        assert np.abs(run.weights[-1] - run.weights[-2]).max() < 1e-2
        fast.append(run.edges[-1] < 1e-9)
    assert len(fast) > 20
    assert np.mean(fast) > 0.1


def test_long_runs_stay_sound():
    for M in [theory.one_error_matrix(3), EIGHT.M, FOUR.M, *separables(4)]:
        run = theory.AdaBoostMatrix(M).run(10_000)
        assert np.abs(run.weights.sum(axis=1) - 1).max() < 1e-14
        assert np.isfinite(run.weights).all()
        assert np.isfinite(run.margins).all()
        assert (run.edges > 0).all()


def test_without_renormalising_the_sum_drifts():
    drifted = []
    for M in (theory.one_error_matrix(3), EIGHT.M, FOUR.M):
        d = np.full(len(M), 1 / len(M))
        for t in range(1, 200):
            _, d = plain_map(M, d, 1, renormalise=False)
            if not abs(d.sum() - 1) <= 1e-3:
                drifted.append(t)
                break
    assert len(drifted) == 3
    assert max(drifted) < 100


def test_vanished_weights_can_return():
    """Row 0 starts at 1e-300, below what the kernel keeps as a double; columns that fail on it bring it back."""
    M = theory.one_error_matrix(3)
    d = np.array([1e-300, 0.5, 0.5])
    run = theory.AdaBoostMatrix(M, selector=[0, 1]).run(2, d)
    # Column 0 errs on row 0 alone, so the map lifts it to one half in one step.
    assert run.weights[1][0] == pytest.approx(0.5, abs=1e-15)
    M = np.array([[-1, -1, 1, 1], [1, 1, -1, -1], [-1, 1, -1, 1], [1, -1, 1, -1.0]])
    fall = theory.AdaBoostMatrix(M, selector=[2, 3]).run(50, [1e-290, 0.4, 0.3, 0.3 - 1e-290])
    assert np.isfinite(fall.weights).all()
    lost = theory.AdaBoostMatrix(theory.block_matrix([1, 1, 1, 1])).run(3000)
    assert lost.last[3] == 0.0
    assert lost.scores[3] - lost.scores[:3].min() > 700


def test_a_tiny_weight_decides_between_columns_that_agree_elsewhere():
    M = np.array([[-1, -1, 1, 1], [1, 1, -1, 1], [1, 1, 1, -1], [-1, 1, 1, 1.0]])
    d = np.array([0.2, 0.3, 0.5 - 1e-30, 1e-30])
    assert theory.AdaBoostMatrix(M).run(1, d / d.sum()).columns[0] == 1
    assert theory.AdaBoostMatrix(M).run(1, [0.2, 0.3, 0.5, 0.0]).columns[0] == 0


def test_claim_13_exponential_loss_vanishes_whatever_the_margin():
    for M, tie in ((EIGHT.M, "first"), (theory.one_error_matrix(5), "first"), (FOUR.M, "last")):
        run = theory.AdaBoostMatrix(M, tie=tie).run(300)
        assert np.exp(-run.scores).sum() < 1e-15


def test_claim_04_three_by_three_from_everywhere():
    M = theory.one_error_matrix(3)
    rng = np.random.default_rng(1)
    seen = Counter()
    for _ in range(200):
        start = rng.dirichlet(np.ones(3))
        run = theory.AdaBoostMatrix(M).run(70, start)
        assert np.abs(run.edges[60:] - GOLDEN).max() < 1e-12
        which = [same_cycle(run.weights[66:69], cycle) for cycle in theory.golden_cycles()]
        assert sum(which) == 1
        seen[which.index(True)] += 1
    assert min(seen.values()) > 50
    margins = theory.AdaBoostMatrix(M).run(40_000).margins
    gaps = [(1 / 3 - margins[t - 1]) * t for t in (3000, 30_000)]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-2)


def test_golden_cycles_are_exact():
    for cycle in theory.golden_cycles():
        for t in range(3):
            np.testing.assert_allclose(
                theory.iterated_map(theory.one_error_matrix(3), cycle[t]), cycle[(t + 1) % 3], atol=1e-15
            )


@pytest.mark.parametrize(("m", "beta"), [(4, ".0803566"), (5, ".0362190"), (6, ".0170259"), (10, ".00098526")])
def test_claim_05_m_by_m(m, beta):
    assert theory.mm_beta1(m) == pytest.approx(float(beta), abs=0.6 * 10.0 ** -(len(beta) - 1))
    cycle = ad_cycles.find_cycle(theory.one_error_matrix(m))
    closed = ad_cycles.mm_cycle(m, cycle.columns)
    assert cycle.period == m
    assert cycle.edge_period == 1
    assert abs(cycle.margin - (1 - 2 / m)) < 1e-10
    np.testing.assert_allclose(cycle.weights, closed.weights, atol=1e-12)
    np.testing.assert_allclose(cycle.edges, 1 - 2 * theory.mm_beta1(m), atol=1e-12)


@pytest.mark.parametrize("m", [3, 4, 5, 8, 20, 60])
def test_beta_is_the_root_and_the_cycle_closes(m):
    root = brentq(lambda b: math.log(b) + m * math.log(2) + (m - 1) * math.log1p(-b), 2.0 ** -(m + 1), 1 / m)
    assert theory.mm_beta1(m) == pytest.approx(root, rel=1e-10)
    if m > 20:
        return  # 1 - 2 beta is one, for a double
    cycle = ad_cycles.mm_cycle(m)
    M = theory.one_error_matrix(m)
    np.testing.assert_allclose(cycle.weights.sum(axis=1), 1, atol=1e-12)
    for t in range(min(m, 10)):
        step = theory.iterated_map(M, cycle.weights[t])
        np.testing.assert_allclose(step, cycle.weights[(t + 1) % m], atol=1e-12)
    assert cycle.margin == pytest.approx(1 - 2 / m, abs=1e-10)


def test_claim_05_all_six_cycles_by_ties():
    M = theory.one_error_matrix(4)
    seen = set()
    for order in itertools.permutations(range(4)):
        columns = ad_cycles.find_cycle(M, tie=list(order)).columns.tolist()
        at = columns.index(0)
        seen.add(tuple(columns[at:] + columns[:at]))
    assert len(seen) == math.factorial(3)


def fold(s):
    """Weights at position s ∈ [0, 1.5) along the inner triangle: the inverse of `unfold`."""
    s = np.asarray(s, float)
    side = np.minimum((2 * s).astype(int), 2)
    x = s - side / 2
    half = np.full_like(x, 0.5)
    sides = ((x, half, half - x), (half, half - x, x), (half - x, x, half))
    return np.stack([np.choose(side, [which[k] for which in sides]) for k in range(3)], axis=-1)


def test_unfolded_map_is_the_map():
    s = np.random.default_rng(2).random(500) * 1.5
    d = fold(s)
    np.testing.assert_allclose(theory.unfold(d), s, atol=1e-12)
    step = np.array([theory.iterated_map(theory.one_error_matrix(3), row) for row in d])
    np.testing.assert_allclose(theory.unfolded_map(s), theory.unfold(np.round(step, 15)), atol=1e-12)
    x = np.linspace(1e-6, 0.25 - 1e-6, 100)
    slope = -(theory.unfolded_map(x + 1e-8) - theory.unfolded_map(x - 1e-8)) / 2e-8
    np.testing.assert_allclose(slope, 1 / (4 * (1 - x) ** 2), atol=1e-6)
    assert slope.min() > 0.25 - 1e-6
    assert slope.max() < 4 / 9 + 1e-6


def test_claim_06_support_vectors_share_the_margin():
    checked = 0
    for M in [*separables(60), EIGHT.M, FOUR.M, theory.one_error_matrix(5)]:
        cycle = ad_cycles.find_cycle(M, max_iter=6000)
        if cycle is None:
            continue
        check = ad_cycles.verify_cycle(M, cycle)
        if not check.conditions:
            continue
        margins = M @ cycle.votes(M.shape[1])
        np.testing.assert_allclose(margins[cycle.support], cycle.margin, atol=1e-8)
        assert (margins[check.growth > 1e-6] > cycle.margin + 1e-9).all()
        assert margins.min() > cycle.margin - 1e-8
        # Over whole periods the realised margin converges at the rate of the formula.
        start = theory.AdaBoostMatrix(M).run(cycle.period * 40, cycle.weights[0])
        assert abs(start.margins[-1] - cycle.margin) < 1e-6
        assert cycle.margin <= minimax_margin(M).value + 1e-9
        checked += 1
    assert checked > 45


def test_cycle_margin_is_the_formula():
    r = np.array([0.3, 0.5, 0.9])
    by_hand = -math.log(np.prod(1 - r**2)) / math.log(np.prod((1 + r) / (1 - r)))
    assert ad_cycles.cycle_margin(r) == pytest.approx(by_hand, rel=1e-14)


def test_find_cycle_reports_the_smallest_period_and_none_without_one():
    assert ad_cycles.find_cycle(theory.one_error_matrix(3), max_iter=5) is None
    assert smallest_period([1, 2, 3, 1, 2, 3]) == 3
    cycle = ad_cycles.find_cycle(EIGHT.M, EIGHT.start)
    assert (cycle.period, cycle.edge_period) == (3, 1)
    assert cycle.support.tolist() == list(range(7))
    long = ad_cycles.find_cycle(LONG.M, LONG.start, selector=LONG.columns)
    assert (long.period, long.edge_period) == (4, 2)
    # The columns come round after six steps only, the weights after three.
    twice = ad_cycles.find_cycle(theory.one_error_matrix(3), [0.2, 0.3, 0.5], selector=[0, 1, 2, 0, 1, 2])
    assert twice.period == 3


def test_near_cycles_that_do_not_last_are_not_cycles():
    """Seed 93 comes close to a 3-cycle again and again, each time leaving through a weight that had vanished."""
    M = separable(93)
    assert ad_cycles.find_cycle(M, max_iter=30_000) is None
    run = theory.AdaBoostMatrix(M).run(30_000)
    visits = [crossing.length for crossing in theory.crossings(M, run, 3, min_length=500)]
    assert len(visits) >= 5
    assert visits == sorted(visits)


def test_solve_cycle_agrees_with_the_run_and_with_closed_forms():
    for order in itertools.permutations(range(4)):
        cycle, feasible = solve_cycle(theory.one_error_matrix(4), order)
        assert feasible
        np.testing.assert_allclose(cycle.weights, ad_cycles.mm_cycle(4, order).weights, atol=1e-13)
    for M in separables(15, 8, 10):
        found = ad_cycles.find_cycle(M, max_iter=3000)
        if found is None or found.period > 30:
            continue
        solved, _ = solve_cycle(M, found.columns, found.weights[0])
        np.testing.assert_allclose(solved.edges, found.edges, atol=1e-9)


def test_jacobian_against_differences():
    rng = np.random.default_rng(3)
    M = separables(1)[0]
    d = rng.dirichlet(np.ones(12))
    v = rng.normal(size=12)
    v -= v.mean()
    step = [(d + s * 1e-7 * v) / (1 + M[:, 4] * ((d + s * 1e-7 * v) @ M[:, 4])) for s in (1, -1)]
    np.testing.assert_allclose(theory.map_jacobian(M, d, 4) @ v, (step[0] - step[1]) / 2e-7, atol=1e-6)


def test_multipliers_are_contraction_rates():
    """The product of three slopes 1/(4(1 - x)^2) of the reduced map at the cycle."""
    check = ad_cycles.verify_cycle(theory.one_error_matrix(3), ad_cycles.find_cycle(theory.one_error_matrix(3)))
    x = (3 - math.sqrt(5)) / 4
    assert check.multipliers[0] == pytest.approx((1 / (4 * (1 - x) ** 2)) ** 3, rel=1e-9)
    assert check.closes < 1e-15
    assert check.gap == pytest.approx(GOLDEN - (2 - math.sqrt(5) + GOLDEN), abs=1e-9)


def test_theorem_5():
    good = ad_cycles.theorem5_check(theory.one_error_matrix(5), ad_cycles.find_cycle(theory.one_error_matrix(5)))
    assert good.sure
    assert good.reached
    bad = ad_cycles.theorem5_check(EIGHT.M, ad_cycles.find_cycle(EIGHT.M))
    assert not bad.columns_suffice
    assert not bad.reached
    without_inverse = 0
    for M in separables(60):
        cycle = ad_cycles.find_cycle(M, max_iter=6000)
        if cycle is None:
            continue
        check = ad_cycles.theorem5_check(M, cycle)
        if check.sure:
            assert check.reached
        if check.reached:
            assert check.columns_suffice
            assert check.equal_margins
            without_inverse += not check.invertible
    assert without_inverse > 5


def test_the_corner_where_the_triangle_closes_has_position_zero():
    """(0, ½, ½) begins the first side and ends the last; a rounding error puts it on either, and `fold` takes both."""
    for corner in ([0.0, 0.5, 0.5], [0.0, 0.5 - 1e-10, 0.5 + 1e-10], [0.0, 0.5 + 1e-10, 0.5 - 1e-10]):
        assert theory.unfold(corner) == 0.0
        np.testing.assert_allclose(fold(theory.unfold(corner)), corner, atol=1e-9)


def test_ties_are_a_share_of_the_rows_on_which_two_columns_differ():
    """Only the first column is right on weight P = 1.84e-14, only the second on N = 2.16e-14: a lead of 0.08."""
    M = np.array([[1.0, 1], [-1, -1], [1, -1], [1, -1], [-1, 1], [-1, 1]])
    d = np.array([0.6, 0.4, 0.92e-14, 0.92e-14, 1.08e-14, 1.08e-14])
    for tie_tol, column in ((0.1, 0), (0.05, 1), (1e-12, 1)):
        assert theory.AdaBoostMatrix(M, tie_tol=tie_tol).run(1, d).columns.tolist() == [column]


def test_theorem_5_b_fails_where_a_support_vector_must_lie_above():
    """All columns are right on the last row, so every vote gives it margin 1; the largest margin is 1/3.

    The last column is wrong on the other rows and only lowers them, so that (a) holds, and (c) too.
    """
    M = np.array([[-1.0, 1, 1, -1], [1, -1, 1, -1], [1, 1, -1, -1], [1, 1, 1, 1]])
    assert abs(np.linalg.det(M)) > 1
    cycle = ad_cycles.Cycle(np.full((4, 4), 0.25), np.arange(4), np.full(4, 0.5), np.arange(4))
    check = ad_cycles.theorem5_check(M, cycle)
    assert check.rho == pytest.approx(1 / 3) and check.columns_suffice and check.invertible
    assert not check.equal_margins and not check.sure
    # Without that row, the vote (1, 1, 1)/3 gives all three exactly 1/3.
    three = ad_cycles.Cycle(cycle.weights, np.arange(3), cycle.edges[:3], np.arange(3))
    assert ad_cycles.theorem5_check(M, three).equal_margins


def test_claim_07_eight_by_eight():
    M = EIGHT.M
    assert minimax_margin(M).value == pytest.approx(3 / 8, abs=1e-9)
    assert edge_minmax(M)[0] == pytest.approx(3 / 8, abs=1e-9)
    exact = [sum(Fraction(int(s)) * v for s, v in zip(row, EIGHT.vote, strict=True)) for row in M]
    assert exact == [Fraction(3, 8)] * 8
    run = theory.AdaBoostMatrix(M).run(20_000)
    assert run.columns[-3:].tolist() in ([0, 2, 1], [2, 1, 0], [1, 0, 2])
    assert run.margins[-1] == pytest.approx(0.33329, abs=5e-6)
    back = theory.AdaBoostMatrix(M).run(3, EIGHT.start)
    assert back.columns.tolist() == list(EIGHT.columns)
    np.testing.assert_allclose(back.last, EIGHT.start, atol=1e-15)
    for first in range(8):
        after = theory.iterated_map(M, np.full(8, 1 / 8), first)
        margin = theory.AdaBoostMatrix(M).run(20_000, after).margins[-1]
        assert margin == pytest.approx(0.37493 if first == 4 else 0.33329, abs=1.5e-5)
    best = ad_cycles.find_cycle(M, theory.iterated_map(M, np.full(8, 1 / 8), 4))
    assert best.period == 16
    assert best.margin == pytest.approx(3 / 8, abs=1e-10)
    assert ad_cycles.theorem5_check(M, best).sure


def test_claim_07_printed_edges():
    """The edges printed in the proof, for the matrix that was put together again from them."""
    s = math.sqrt(5)
    printed = [
        [(s - 1) / 2, 0, (3 - s) / 2, *[(3 * s - 1) / 12] * 3, 1 / 2, (11 - 3 * s) / 12],
        [0, (3 - s) / 2, (s - 1) / 2, *[(4 - s) / 6] * 3, (s - 1) / 4, (5 + s) / 12],
        [(3 - s) / 2, (s - 1) / 2, 0, *[3 / 4 - s / 12] * 3, (3 - s) / 4, s / 6],
    ]
    run = theory.AdaBoostMatrix(EIGHT.M).run(3, EIGHT.start)
    np.testing.assert_allclose(run.weights[:3] @ EIGHT.M, printed, atol=1e-14)


def test_claim_08_four_by_five():
    M = FOUR.M
    assert minimax_margin(M).value == pytest.approx(1 / 2, abs=1e-9)
    best = ad_cycles.find_cycle(M)
    assert best.period == 4
    assert best.used.tolist() == [0, 1, 2, 3]
    assert best.margin == pytest.approx(1 / 2, abs=1e-10)
    poor = ad_cycles.find_cycle(M, selector="nonoptimal", tie=[4, 3, 2, 1, 0])
    assert poor.period == 3
    assert poor.margin == pytest.approx(1 / 3, abs=1e-10)
    small = (3 - math.sqrt(5)) / 4
    for eps in (0.0, 0.01, small / 2, small):
        d = np.array([eps, small - eps, 0.5, (math.sqrt(5) - 1) / 4])
        run = theory.AdaBoostMatrix(M, selector=FOUR.columns).run(3, d)
        np.testing.assert_allclose(run.last, d, atol=1e-14)
        assert run.edges.min() > 1 / 2


def test_claim_09_four_cycle_of_three_by_three():
    run = theory.AdaBoostMatrix(LONG.M, selector=LONG.columns).run(4, LONG.start)
    np.testing.assert_allclose(run.last, LONG.start, atol=1e-15)
    root = math.sqrt(2)
    np.testing.assert_allclose(run.edges, [1 / root, root - 1, 1 / root, root - 1], atol=1e-14)
    assert run.edges.min() > 1 / 3
    assert ad_cycles.cycle_margin(run.edges) == pytest.approx(1 / 3, abs=1e-14)


def test_claim_10_blocks_and_manifolds():
    rng = np.random.default_rng(4)
    M = theory.block_matrix([2, 3, 2, 2])
    rows, label = group_rows(M)
    np.testing.assert_array_equal(rows[label], M)
    for _ in range(30):
        d = rng.dirichlet(np.ones(9))
        run = theory.AdaBoostMatrix(M).run(80, d)
        totals = np.array([np.bincount(label, row) for row in run.weights])
        assert any(same_cycle(totals[75:78, :3], cycle) for cycle in theory.golden_cycles())
        for group in range(3):
            inside = label == group
            np.testing.assert_allclose(
                run.last[inside] / run.last[inside].sum(), d[inside] / d[inside].sum(), rtol=1e-9
            )
        grouped = theory.AdaBoostMatrix(rows).run(80, np.bincount(label, d))
        np.testing.assert_allclose(grouped.weights, totals, atol=1e-12)
        ratio = totals[41:60, 3] / totals[40:59, 3]
        np.testing.assert_allclose(ratio, 1 / (1 + GOLDEN), rtol=1e-6)
    check = ad_cycles.verify_cycle(M, ad_cycles.find_cycle(M))
    assert check.neutral == 1 + 2 + 1
    assert check.stable


def test_contraction_constant_of_the_manifold():
    """One step moves a neighbour closer by the factor of the proof, to first order."""
    M, rng = theory.block_matrix([1, 1, 1, 1]), np.random.default_rng(5)
    d = np.append(theory.golden_cycles()[0][0], 0.0)
    worst = 0.0
    for _ in range(500):
        a = rng.normal(size=4)
        a[3] = abs(a[3])
        a[:3] -= a.sum() / 3
        a *= 1e-7 / np.abs(a).sum()
        moved = theory.iterated_map(M, d + a, 0) - theory.iterated_map(M, d, 0)
        worst = max(worst, np.abs(moved).sum() / 1e-7)
    assert worst < 3 * (math.sqrt(5) - 1) / 4 + 1e-5


def test_claim_11_random_matrices():
    total = periodic = 0
    for seed in range(150):
        M = separable(seed)
        if M is None:
            continue
        total += 1
        periodic += ad_cycles.find_cycle(M, max_iter=6000) is not None
    assert total == 138
    assert 120 <= periodic <= 134
    M = separable(28)
    for a in (0.05, 0.1):
        assert ad_cycles.find_cycle(M, lam0=a).edge_period == 13
    assert len({ad_cycles.find_cycle(M, lam0=a).period for a in (0.0, 0.02, 0.05, 0.08)}) > 1
    # The period from equal weights depends on how a tie is decided.
    orders = [np.random.default_rng(k).permutation(25) for k in range(20)]
    assert {ad_cycles.find_cycle(M, tie=order).edge_period for order in orders} == {78, 91}
    # Plain numpy agrees with the long period that a short search misses.
    lam = np.full(25, 0.02)
    d = np.exp(-(M @ lam))
    _, d = plain_map(M, d / d.sum(), 15_000)
    _, later = plain_map(M, d, 650)
    np.testing.assert_allclose(later, d, atol=1e-9)
    assert ad_cycles.find_cycle(M, lam0=0.02).period == 650


def test_claim_12_half_the_margin_at_least_and_maximisers():
    for M in separables(40):
        rho = minimax_margin(M).value
        assert theory.AdaBoostMatrix(M).run(4000).margins[-1] > rho / 2
    rho = 3 / 8
    assert ad_ensembles.lpboost(EIGHT.M).margins[-1] == pytest.approx(rho, abs=1e-9)
    assert ad_ensembles.arc_gv(EIGHT.M, 20_000).margins[-1] > rho - 0.003
    assert theory.coordinate_ascent(EIGHT.M, 20_000).margins[-1] > rho - 0.001
    for nu in (0.1, 0.02):
        rounds = math.ceil(2 * math.log(8) / nu**2)
        assert ad_ensembles.adaboost_star(EIGHT.M, rounds, nu).margins[-1] >= rho - nu
    for run in (ad_ensembles.arc_gv(EIGHT.M, 50), theory.coordinate_ascent(EIGHT.M, 50)):
        assert run.margins[-1] == pytest.approx(margin(EIGHT.M, run.lam), abs=1e-12)


def test_arc_gv_by_hand():
    M = EIGHT.M
    lam, margins = np.zeros(8), []
    for _ in range(30):
        d = np.exp(-(M @ lam))
        d /= d.sum()
        values = d @ M
        j = int(np.flatnonzero(values > values.max() - 1e-12)[0])
        target = max((M @ lam).min() / lam.sum(), 0) if lam.any() else 0
        lam[j] += np.arctanh(values[j]) - np.arctanh(target)
        margins.append((M @ lam).min() / lam.sum())
    np.testing.assert_allclose(ad_ensembles.arc_gv(M, 30).margins, margins, atol=1e-12)


def test_max_margin_and_its_dual():
    for M in separables(10):
        game = minimax_margin(M)
        value, d = edge_minmax(M)
        assert game.value == pytest.approx(value, abs=1e-9)
        assert (M @ game.vote).min() == pytest.approx(game.value, abs=1e-9)
        assert (d @ M).max() == pytest.approx(value, abs=1e-9)
        m, n = M.shape
        # The same game as a programme in the other player's variables, written out here.
        dual = linprog(
            np.append(np.zeros(m), 1),
            A_ub=np.hstack([M.T, -np.ones((n, 1))]),
            b_ub=np.zeros(n),
            A_eq=[np.append(np.ones(m), 0)],
            b_eq=[1],
            bounds=[(0, None)] * m + [(None, None)],
        )
        assert game.value == pytest.approx(dual.fun, abs=1e-9)


def test_selectors_and_ties():
    M = theory.one_error_matrix(4)
    assert theory.AdaBoostMatrix(M, tie="last").run(1).columns[0] == 3
    assert theory.AdaBoostMatrix(M, tie=[2, 0, 1, 3]).run(1).columns[0] == 2
    firsts = [theory.AdaBoostMatrix(M, tie="random", random_state=seed).run(1).columns[0] for seed in range(40)]
    assert set(firsts) == {0, 1, 2, 3}
    called = theory.AdaBoostMatrix(M, selector=lambda values, t: int(np.argmax(values.round(9)))).run(50)
    plain = theory.AdaBoostMatrix(M).run(50)
    np.testing.assert_allclose(called.weights, plain.weights, atol=1e-13)
    np.testing.assert_allclose(called.margins, plain.margins, atol=1e-13)
    good = theory.AdaBoostMatrix(FOUR.M, selector="nonoptimal", tie="random", random_state=1).run(500)
    assert good.edges.min() >= 1 / 2 - 1e-9
    assert (good.edges < (good.weights[:-1] @ FOUR.M).max(axis=1) - 1e-3).any()


def test_start_from_votes():
    M = separables(1)[0]
    run = theory.AdaBoostMatrix(M).run(100, lam0=0.1)
    d = np.exp(-0.1 * M.sum(axis=1))
    np.testing.assert_allclose(run.weights[0], d / d.sum(), rtol=1e-12)
    assert run.margins[-1] == pytest.approx(margin(M, run.lam), abs=1e-12)
    assert run.lam.min() >= 0.1


def test_lyapunov_of_a_cycle_is_its_multiplier():
    M = theory.one_error_matrix(4)
    check = ad_cycles.verify_cycle(M, ad_cycles.find_cycle(M))
    assert lyapunov(M, 4000) == pytest.approx(math.log(check.multipliers[0]) / 4, abs=1e-3)
    assert abs(lyapunov(theory.block_matrix([2, 1, 1, 0]), 4000)) < 1e-3
    assert theory.separation(M, 60, [0.1, 0.2, 0.3, 0.4], delta=1e-6)[-1] < 1e-12


def test_runs_part_at_borders_and_ties_not_by_stretching():
    """From generic starts tiny differences stay tiny; what parts is the share that straddles a border."""
    found = [M for seed in range(60) if (M := separable(seed)) is not None]
    starts = np.random.default_rng(6).dirichlet(np.ones(12), len(found))
    parted = {}
    for delta in (1e-8, 1e-2):
        gaps = [theory.separation(M, 1000, d, delta=delta).max() for M, d in zip(found, starts, strict=True)]
        parted[delta] = int((np.array(gaps) > 0.05).sum())
    assert parted[1e-8] <= 1
    assert parted[1e-2] >= 10
    # A tied start is another matter: the push decides the tie, however small it is.
    assert theory.separation(separable(94), 3000).max() > 1e-3


def test_recurrence_and_crossings():
    M = theory.one_error_matrix(3)
    run = theory.AdaBoostMatrix(M).run(60)
    near = recurrence(run.weights[30:], 1e-6)
    gap = np.abs(np.subtract.outer(np.arange(31), np.arange(31)))
    np.testing.assert_array_equal(near, gap % 3 == 0)
    M = separable(93)
    log = theory.crossings(M, theory.AdaBoostMatrix(M).run(8000), 3, min_length=200)
    assert log
    for crossing in log:
        assert crossing.before[0] > crossing.before[1]
        assert crossing.after[0] < crossing.after[1]


def test_erratum_second_condition_uses_the_second_weights():
    d = [FOUR.start, theory.iterated_map(FOUR.M, FOUR.start, 4)]
    rho = minimax_margin(FOUR.M).value
    assert theory.edges(FOUR.M, d[0])[3] < rho
    assert theory.edges(FOUR.M, d[1])[3] > rho


def test_erratum_third_weight_of_the_m_by_m_start():
    for m in (4, 7):
        b, d = theory.mm_beta1(m), ad_cycles.mm_cycle(m).weights[0]
        assert d[2] == pytest.approx(4 * b * (1 - b) ** 2, rel=1e-12)
        assert abs(d[2] - 4 * b**2 * (1 - b) ** 2) > 0.03


def test_erratum_the_four_cycle_has_three_weights():
    d = theory.iterated_map(LONG.M, LONG.start, 1)
    np.testing.assert_allclose(d, [1 / (2 + math.sqrt(2)), 1 / 2, 1 / math.sqrt(2) - 1 / 2], atol=1e-15)


def test_erratum_it_is_the_triple_map_that_has_six_fixed_points():
    s = (np.arange(30_000) + 0.5) / 20_000
    image = s
    fixed = []
    for _ in range(3):
        image = theory.unfolded_map(image)
        change = np.diff(np.sign(image - s))
        fixed.append(int(((change != 0) & (np.abs(np.diff(image)) < 0.01)).sum()))
    assert fixed == [0, 0, 6]


def test_erratum_three_steps_close_the_cycle():
    run = theory.AdaBoostMatrix(EIGHT.M).run(4, EIGHT.start)
    np.testing.assert_allclose(run.weights[3], EIGHT.start, atol=1e-14)
    assert np.abs(run.weights[4] - EIGHT.start).max() > 0.05


def test_erratum_twins_never_have_more_than_half_the_weight():
    """After a step right and wrong weigh one half each, and twins are on the same side: 0.2 + 0.1 + 0.3 is too much."""
    blocks, rng = theory.block_matrix([3, 3, 2, 1]), np.random.default_rng(8)
    for M in (blocks, np.vstack([EIGHT.M, EIGHT.M[:1], EIGHT.M[:1]])):
        _, label = group_rows(M)
        for _ in range(20):
            cycle = ad_cycles.find_cycle(M, rng.dirichlet(np.ones(len(M))))
            totals = np.array([np.bincount(label, d) for d in cycle.weights])
            assert totals.max() <= 0.5 + 1e-9


def test_erratum_contraction_bound_is_an_equality_for_three():
    factor = [(3 - 2 * b) / (4 * (1 - b) ** 2) for b in (theory.mm_beta1(m) for m in (3, 4, 5))]
    assert factor[0] == pytest.approx(1, abs=1e-14)
    assert max(factor[1:]) < 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin_boosting.check_matrix([[1, 0]]), "entries"),
        (lambda: margin_boosting.check_matrix([[1, -1], [1, 1]]), "column 0"),
        (lambda: margin(FOUR.M, np.zeros(5)), "non-zero"),
        (lambda: ad_ensembles.arc_gv(FOUR.M, 5, tie="random"), "tie"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_edge_of_one_is_an_error():
    with pytest.raises(RuntimeError, match="edge of one"):
        theory.AdaBoostMatrix(FOUR.M).run(5, [0, 0, 0.5, 0.5])


def test_columns_that_are_always_wrong_are_named_as_such():
    with pytest.raises(RuntimeError, match="edge of minus one"):
        theory.AdaBoostMatrix([[-1]]).run(1)
    for booster in (ad_ensembles.arc_gv, ad_ensembles.adaboost_star, theory.coordinate_ascent):
        with pytest.raises(ValueError, match="no vote has a positive margin"):
            booster(-np.ones((3, 2)), 5)
    # an edge just above minus one: the target of AdaBoost* must not fall below it
    assert np.isfinite(ad_ensembles.adaboost_star(np.vstack([-np.ones((400, 1)), [[1.0]]]), 3, 0.5).lam).all()


def test_starting_votes_keep_weights_too_small_for_a_double():
    """Row 3 starts with a weight of e^-800, and still decides between columns 0 and 1, which differ on it alone."""
    M = np.array([[-1, -1, 1, 1], [1, 1, -1, 1], [1, 1, 1, -1], [-1, 1, 1, 1.0]])
    run = theory.AdaBoostMatrix(M).run(1, lam0=[0.0, 400.0, 400.25, 400.25])
    assert run.weights[0][3] == 0.0 and run.columns[0] == 1
