"""Empirical risk minimisation and VC theory: the claims of the source, against enumeration and simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import kstest, norm
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.chapters.vc_theory.patterns import dichotomies, growth_function, sauer
from learnable.chapters.vc_theory.theory import (
    IntervalTruth,
    Memoriser,
    classification_loss,
    cross_validated_k,
    density_loss,
    empirical_risk,
    erm,
    halfplane_deviation,
    kolmogorov_smirnov,
    kuiper,
    no_free_lunch,
    risk_decomposition,
    squared_loss,
    srm_select,
    star_discrepancy,
    sup_dev,
    tail_to_mean,
)
from learnable.foundations import SRM, KIntervalERM, sample_complexity
from learnable.foundations.erm import interval_path
from learnable.foundations.srm import penalty
from learnable.foundations.tail_bounds import erm_mean, erm_tail, pac_radius, vc_mean, vc_tail

from .vc_theory_cases import (
    FiniteERM,
    FiniteSetClass,
    RectangleERM,
    SieveERM,
    ThresholdERM,
    find_shattered_set,
    finite_class,
    hoeffding,
    penalised_minimum,
    vapnik_tail,
    vc_dimension,
    zero_error_tail,
)


@parametrize_with_checks([SRM(k_max=3, feature=0)])
def test_sklearn_conventions(estimator, check):
    check(estimator)


def all_labelings(n):
    return np.array(list(itertools.product([False, True], repeat=n)))


def linearly_separable(points, pattern, lifted=False):
    """Strict separation by a linear programme, written independently of the package."""
    X = np.asarray(points, float)
    if lifted:
        X = np.column_stack([X, (X**2).sum(axis=1)])
    s = np.where(pattern, 1.0, -1.0)
    A = -s[:, None] * np.column_stack([X, np.ones(len(X))])
    bounds = [(None, None)] * (X.shape[1] + 1)
    if lifted:
        bounds[X.shape[1] - 1] = (None, 0)
    return linprog(np.zeros(X.shape[1] + 1), A_ub=A, b_ub=-np.ones(len(X)), bounds=bounds).success


def test_claim_01_growth_of_half_lines_intervals_orthants():
    for n in range(1, 8):
        x = np.arange(n, dtype=float)
        assert len(dichotomies(x, "half_lines")) == n + 1 == growth_function("half_lines", n)
        assert len(dichotomies(x, "intervals")) == 1 + n * (n + 1) // 2
        most = max(
            len(dichotomies(np.column_stack([x, order]), "orthants"))
            for order in (itertools.permutations(range(n)) if n <= 5 else [range(n)[::-1]])
        )
        assert most == [2, 4, 7, 11, 16, 22, 29][n - 1] == growth_function("orthants", n, d=2)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_claim_01_growth_of_halfspaces_against_linear_programmes(d):
    rng = np.random.default_rng(d)
    for n in range(1, 8 if d == 2 else 6):
        points = rng.normal(size=(n, d))
        separable = {tuple(p) for p in all_labelings(n) if linearly_separable(points, p)}
        found = dichotomies(points, "halfspaces")
        assert {tuple(p) for p in found} == separable
        assert len(found) == growth_function("halfspaces", n, d=d) <= (2 * (n - 1) ** d + 2 if n > d else 2**n)
    assert [growth_function("halfspaces", n, d=2) for n in (2, 3, 4)] == [4, 8, 14]


@pytest.mark.parametrize(
    "points",
    [
        [[0, 0], [1, 0], [2, 0], [3, 0]],
        [[0, 0], [1, 0], [2, 0], [0, 1], [0, 2]],
        [[0, 0], [0, 0], [1, 1], [2, 2]],
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]],
    ],
)
def test_degenerate_points_agree_with_linear_programmes(points):
    points = np.asarray(points, float)
    distinct, where = np.unique(points, axis=0, return_inverse=True)
    expected = {
        tuple(np.array(p)[where.ravel()]) for p in all_labelings(len(distinct)) if linearly_separable(distinct, p)
    }
    assert {tuple(p) for p in dichotomies(points, "halfspaces")} == expected


def test_balls_and_polygons_and_rectangles_against_definitions():
    rng = np.random.default_rng(5)
    for _ in range(2):
        points = rng.normal(size=(6, 2))
        balls = {tuple(p) for p in all_labelings(6) if linearly_separable(points, p, lifted=True)}
        assert {tuple(p) for p in dichotomies(points, "balls")} == balls
        assert len(balls) == growth_function("balls", 6, d=2)
        boxes, hulls = set(), set()
        for p in all_labelings(6):
            inside = points[p]
            if not p.any():
                boxes.add(tuple(p)), hulls.add(tuple(p))
                continue
            others = points[~p]
            if not ((others >= inside.min(0)) & (others <= inside.max(0))).all(axis=1).any():
                boxes.add(tuple(p))
            weights = [
                linprog(
                    np.zeros(len(inside)),
                    A_eq=np.vstack([inside.T, np.ones(len(inside))]),
                    b_eq=np.append(o, 1.0),
                ).success
                for o in others
            ]
            if not any(weights):
                hulls.add(tuple(p))
        assert {tuple(p) for p in dichotomies(points, "rectangles")} == boxes
        assert {tuple(p) for p in dichotomies(points, "polygons")} == hulls


@pytest.mark.parametrize(
    ("family", "d", "k"),
    [("half_lines", 1, None), ("intervals", 1, None), ("k_intervals", 1, 2), ("k_intervals", 1, 3)]
    + [(f, d, None) for f in ("orthants", "rectangles", "halfspaces", "balls") for d in (1, 2, 3)],
)
def test_claim_02_vc_dimensions(family, d, k):
    V = vc_dimension(family, d=d, k=k)
    witness = find_shattered_set(family, V, d=d, k=k, random_state=0)
    assert witness is not None and len(dichotomies(witness, family, k)) == 2**V
    tries = 150 if V <= 3 else 25
    assert find_shattered_set(family, V + 1, d=d, k=k, n_restarts=tries, random_state=1) is None


def test_claim_02_polygons_shatter_a_circle():
    assert vc_dimension("polygons") == math.inf
    assert len(dichotomies(find_shattered_set("polygons", 10, d=2), "polygons")) == 1024


@pytest.fixture(scope="module")
def random_classes():
    rng = np.random.default_rng(2)
    made = []
    for _ in range(100):
        g = rng.integers(3, 8)
        made.append([FiniteSetClass(rng.random((rng.integers(2, 20), g)) < 0.5) for _ in range(2)])
    return made


def brute_shatter(matrix, n):
    return max(len({tuple(row[list(c)]) for row in matrix}) for c in itertools.combinations(range(matrix.shape[1]), n))


def test_claim_03_algebra_of_shatter_coefficients(random_classes):
    for A, B in random_classes:
        g = A.n_points
        S = {n: A.shatter(n) for n in range(1, g + 1)}
        for n in range(1, g + 1):
            assert S[n] == brute_shatter(A.matrix, n)
            assert S[n] <= len(A)
            assert A.complement().shatter(n) == S[n]
            assert A.union(B).shatter(n) <= S[n] + B.shatter(n)
            assert A.intersections(B).shatter(n) <= S[n] * B.shatter(n)
            assert A.unions(B).shatter(n) <= S[n] * B.shatter(n)
            for m in range(1, g - n + 1):
                assert S[n + m] <= S[n] * S[m]
        fallen = [n for n in S if S[n] < 2**n]
        assert fallen == list(range(min(fallen, default=g + 1), g + 1))


def test_claim_03_products(random_classes):
    for A, B in random_classes[:25]:
        small_a, small_b = FiniteSetClass(A.matrix[:, :3]), FiniteSetClass(B.matrix[:, :3])
        both = small_a.product(small_b)
        assert both.n_points == 9
        for n in (1, 2, 3):
            assert both.shatter(n) <= small_a.shatter(n) * small_b.shatter(n)


def test_claim_04_sauer_holds_and_k_intervals_attain_it(random_classes):
    for A, _ in random_classes:
        V = A.vc()
        for n in range(1, A.n_points + 1):
            assert A.shatter(n) <= sauer(n, V) <= sauer(n, V, form="power")
            if n >= V >= 1:
                assert sauer(n, V) <= sauer(n, V, form="euler") * (1 + 1e-12)
            if n >= V >= 3:
                assert sauer(n, V) <= sauer(n, V, form="plain") * (1 + 1e-12)
    for k, n in itertools.product((1, 2, 3), range(1, 9)):
        count = len(dichotomies(np.arange(n, dtype=float), "k_intervals", k))
        assert count == sum(math.comb(n, i) for i in range(2 * k + 1)) == sauer(n, 2 * k)
    assert sauer(10**6, 500, log=True) == pytest.approx(
        math.log(sum(math.comb(10**6, i) for i in range(501))), rel=1e-10
    )


def test_claim_05_error_sets_have_the_same_shatter_coefficients(random_classes):
    rng = np.random.default_rng(3)
    for A, _ in random_classes[:60]:
        errors = A.error_sets(rng.integers(0, 2, A.n_points))
        assert [errors.shatter(n) for n in range(1, A.n_points + 1)] == [A.shatter(n) for n in range(1, A.n_points + 1)]


def test_claim_06_uniform_deviation_controls_erm():
    truth = IntervalTruth(k0=2, q=0.2)
    ratios = []
    for seed in range(1000):
        X, y = truth.sample(20, random_state=seed)
        sup = truth.uniform_deviation(X, y, 1)
        path = interval_path(X[:, 0], y, 1)
        risk = truth.risk(path.intervals(1))
        assert abs(risk - path.errors[1] / 20) <= sup + 1e-12
        excess = risk - truth.class_risk(1)
        assert -1e-12 <= excess <= 2 * sup + 1e-12
        ratios.append(excess / sup)
    assert max(ratios) > 0.8


def test_claim_06_factor_two_is_needed():
    """Two constant rules with risks ½ ± ε and a sample that turns the order: excess 2ε, deviation just above ε."""
    n, eps = 1001, 0.05
    X, y = np.zeros((n, 1)), (np.arange(n) < 501).astype(int)  # P(Y = 1) = ½ − ε, but 501 of 1001 are ones
    rules = [lambda X: np.zeros(len(X), bool), lambda X: np.ones(len(X), bool)]
    risks = np.array([0.5 - eps, 0.5 + eps])
    empirical = np.array([FiniteERM([rule]).fit(X, y).train_risk_ for rule in rules])
    sup = np.abs(empirical - risks).max()
    excess = risks[FiniteERM(rules).fit(X, y).index_] - risks.min()
    assert excess / sup > 1.9
    assert excess <= 2 * sup


def test_uniform_deviation_against_brute_force():
    truth = IntervalTruth(k0=1, q=0.1)
    for seed in range(5):
        X, y = truth.sample(7, random_state=seed)
        x = np.sort(X[:, 0])
        ends = np.sort(np.concatenate([x - 1e-9, x + 1e-9, truth.segments.ravel(), [0.0, 1.0]]))
        worst = 0.0
        for a, b in itertools.combinations_with_replacement(ends, 2):
            inside = (X[:, 0] >= a) & (X[:, 0] <= b)
            worst = max(worst, abs(np.mean(inside != (y == 1)) - truth.risk([[a, b]])))
        assert truth.uniform_deviation(X, y, 1) == pytest.approx(worst, abs=1e-7)


@pytest.mark.parametrize(("n", "ks", "kp"), [(20, 0.186, 0.265), (100, 0.0851, 0.122), (1000, 0.0272, 0.0392)], ids=str)
def test_claim_07_means_and_bounds(n, ks, kp):
    rng = np.random.default_rng(n)
    reps = 4000
    u = np.sort(rng.random((reps, n)), axis=1)
    up = (np.arange(1, n + 1) / n - u).max(axis=1)
    down = (u - np.arange(n) / n).max(axis=1)
    # Means of 4,000 draws have a relative standard error below 0.5 %: 2 % is four of them.
    assert np.maximum(up, down).mean() == pytest.approx(ks, rel=0.02)
    assert (up + down).mean() == pytest.approx(kp, rel=0.02)
    for row in range(5):
        assert sup_dev(u[row], "half_lines") == pytest.approx(kstest(u[row], "uniform").statistic, abs=1e-14)
        assert sup_dev(u[row], "intervals") == pytest.approx(up[row] + down[row], abs=1e-14)
    bounds = {20: (0.865, 1.100), 100: (0.461, 0.607), 1000: (0.174, 0.235)}[n]
    mean_half = vc_mean(n, log_shatter=np.log(growth_function("half_lines", n)))
    mean_interval = vc_mean(n, log_shatter=np.log(growth_function("intervals", n)))
    assert (round(float(mean_half), 3), round(float(mean_interval), 3)) == pytest.approx(bounds, abs=0.0015)
    grid = np.linspace(0.01, 1.0, 50)
    tails = (np.maximum(up, down)[:, None] > grid).mean(axis=0)
    assert (tails <= vc_tail(1).tail(grid, n) + 1e-12).all()


def test_claim_07_limits():
    """√n times the mean deviation over half-lines and over intervals tends to √(π/2) ln 2 and √(π/2)."""
    n, samples = 4000, np.random.default_rng(9).random((1500, 4000))
    half_lines = np.mean([kolmogorov_smirnov(sample) for sample in samples])
    intervals = np.mean([kuiper(sample) for sample in samples])
    assert math.sqrt(n) * half_lines == pytest.approx(math.sqrt(math.pi / 2) * math.log(2), rel=0.03)
    assert math.sqrt(n) * intervals == pytest.approx(math.sqrt(math.pi / 2), rel=0.03)


def test_claim_08_glivenko_cantelli_along_one_sample():
    u = np.random.default_rng(4).random(1_000_000)
    # The law of the iterated logarithm is a limit; half as much again covers the sizes before it.
    for n in (1000, 10_000, 100_000, 1_000_000):
        assert kolmogorov_smirnov(u[:n]) < 1.5 * math.sqrt(math.log(math.log(n)) / (2 * n))
    assert kolmogorov_smirnov(u) < 2e-3


@pytest.mark.parametrize("C", [2.0, 8.0, 100.0])
@pytest.mark.parametrize("A", [0.1, 3.0, 500.0])
def test_claim_09_tail_to_mean(C, A):
    from scipy.integrate import quad

    turn = math.sqrt(math.log(C) / A)
    mean = turn + quad(lambda e: C * math.exp(-A * e * e), turn, turn + 40 / math.sqrt(A))[0]
    assert mean <= tail_to_mean(C, A)
    assert tail_to_mean(C, A) < 1.6 * mean


def test_claim_10_bounds_follow_from_each_other():
    n, V = np.array([50, 1000, 10**6])[:, None], np.array([1, 3, 40])
    eps = 0.3
    np.testing.assert_allclose(erm_tail(V).log_tail(eps, n), vc_tail(V).log_tail(eps / 2, n), rtol=1e-12)
    radius = pac_radius(n, V, 0.05)
    np.testing.assert_allclose(vc_tail(V).log_tail(radius, n), np.log(0.05), rtol=1e-9)
    np.testing.assert_allclose(radius, 2 * np.sqrt(8 * (V * np.log(n + 1) - np.log(0.05) + np.log(8)) / n), rtol=1e-12)
    np.testing.assert_allclose(erm_mean(n, V), 4 * np.sqrt((V * np.log(n + 1) + np.log(2)) / n), rtol=1e-12)
    truth = IntervalTruth(k0=1, q=0.1)
    inside = 0
    for seed in range(40):
        X, y = truth.sample(2000, random_state=seed)
        fit = KIntervalERM(1).fit(X, y)
        inside += truth.risk(fit.intervals_) <= fit.train_risk_ + pac_radius(2000, 2, 0.05)
    assert inside == 40


@pytest.mark.parametrize(
    "bound",
    [
        hoeffding(),
        finite_class(10),
        vc_tail(3),
        vc_tail(3, exponent=8),
        vapnik_tail(3),
        erm_tail(5),
        zero_error_tail(4),
    ],
    ids=lambda b: f"{b.degree:g}-{b.rate:.3g}",
)
def test_bounds_invert_in_every_argument(bound):
    for eps, delta in itertools.product((0.02, 0.1, 0.5), (1e-9, 0.05, 1.0)):
        n = float(bound.n(eps, delta))
        assert bound.log_tail(eps, n) <= math.log(delta) + 1e-9
        if n > 2 and n - 1 > bound.shift / eps:
            assert bound.log_tail(eps, n - 1) > math.log(delta) - 1e-6 * n
        for size in (n, 3 * n):
            back = bound.eps(delta, size)
            if bound.log_tail(eps, size) < 0 and back > 0:
                assert bound.log_tail(back, size) == pytest.approx(math.log(delta), abs=1e-6)


def test_bounds_survive_a_million_settings():
    rng = np.random.default_rng(0)
    size = 1_000_000
    V = rng.integers(0, 10_000, size).astype(float)
    n = 10 ** rng.uniform(0, 12, size)
    eps = 10 ** rng.uniform(-6, 0, size)
    delta = 10 ** rng.uniform(-300, 0, size)
    for bound in (hoeffding(), finite_class(1e300), vc_tail(V), erm_tail(V), vapnik_tail(V), zero_error_tail(V)):
        for values in (bound.log_tail(eps, n), bound.tail(eps, n), bound.eps(delta, n)):
            assert np.isfinite(values).all()
    needed = erm_tail(V).n(eps, delta)
    assert np.isfinite(needed).all() and (needed >= 1).all()
    assert np.isfinite(erm_mean(n, V)).all()
    assert np.isfinite(sauer(rng.integers(1, 10**9, 1000), rng.integers(0, 50, 1000), log=True)).all()


def test_claim_11_memoriser_and_singleton():
    rng = np.random.default_rng(0)
    for n in (10, 1000):
        X = rng.random((n, 1))
        y = (rng.random(n) < 0.3).astype(int)
        rule = Memoriser().fit(X, y)
        assert rule.train_risk_ == 0
        fresh = rng.random((20_000, 1))
        assert (rule.predict(fresh) == 0).all()  # so its risk is P(Y = 1) for continuous X
    truth = IntervalTruth(k0=3, q=0.1)
    never = risk_decomposition(
        FiniteConstant(), truth, n=50, n_draws=3, class_risk=truth.risk(np.empty((0, 2))), random_state=0
    )
    assert never.estimation == pytest.approx(0, abs=1e-15)
    assert never.approximation == pytest.approx(0.8 * 3 / 7)


class FiniteConstant(FiniteERM):
    """The class of one rule: always 0."""

    def __init__(self):
        super().__init__(rules=[lambda X: np.zeros(len(X))])

    @property
    def intervals_(self):
        return np.empty((0, 2))


def repeat(xs, ys, K):
    guess = np.zeros(K, int)
    guess[xs] = ys
    return guess


def contrary(xs, ys, K):
    guess = np.ones(K, int)
    guess[xs] = 1 - ys
    return guess


def test_claim_12_no_free_lunch():
    mean, worst, exact = no_free_lunch(repeat, 4, 3)
    assert exact and mean == 0.2109375 == 0.5 * 0.75**3
    for K, n in ((2, 1), (3, 2), (5, 3), (6, 2)):
        assert no_free_lunch(repeat, K, n)[0] == pytest.approx(0.5 * (1 - 1 / K) ** n, abs=1e-12)
        assert no_free_lunch(contrary, K, n)[0] > 0.5 * (1 - 1 / K) ** n
    mean, worst, exact = no_free_lunch(repeat, 500, 5, n_draws=10_000, random_state=0)
    assert not exact and worst > 0.49
    assert mean == pytest.approx(0.5 * (1 - 1 / 500) ** 5, abs=0.01)


def brute_penalised(x, y, k_max, cost):
    """Every labeling of the sorted points, charged by its number of runs: (2.8.6) from its definition."""
    order = np.argsort(x)
    labels = np.asarray(y)[order]
    best = np.inf
    for pattern in itertools.product((0, 1), repeat=len(x)):
        runs = sum(1 for i, p in enumerate(pattern) if p and (i == 0 or not pattern[i - 1]))
        if runs <= k_max:
            best = min(best, np.mean(np.array(pattern) != labels) + cost[max(runs, 1) - 1])
    return best


def test_claim_13_srm_is_one_penalised_minimisation():
    truth = IntervalTruth(k0=2, q=0.1)
    for seed in range(50):
        X, y = truth.sample(400, random_state=seed)
        model = SRM(k_max=6, penalty="generic", a=0.3).fit(X, y)
        k, intervals, _ = penalised_minimum(X[:, 0], y, 6, rule="generic", a=0.3)
        assert k == model.k_
        np.testing.assert_array_equal(intervals, model.intervals_)
    for seed in range(6):
        X, y = truth.sample(11, random_state=seed)
        cost = penalty("generic", 2.0 * np.arange(1, 5), 11, np.arange(1, 5), a=0.3)
        assert penalised_minimum(X[:, 0], y, 4, rule="generic", a=0.3)[2] == pytest.approx(
            brute_penalised(X[:, 0], y, 4, cost), abs=1e-12
        )


def smooth_sample(n, rng):
    x = rng.random(n)
    return x[:, None], (rng.random(n) < 0.5 + 0.45 * np.sin(6 * np.pi * x)).astype(int)


def smooth_excess(intervals):
    grid = np.linspace(0, 1, 20_001)
    inside = np.zeros(len(grid), bool)
    for a, b in intervals:
        inside |= (grid >= a) & (grid <= b)
    signal = 0.9 * np.sin(6 * np.pi * grid)
    return float(np.mean(np.abs(signal) * (inside != (signal > 0))))


def test_claim_14_sieves_that_grow_slowly_are_consistent():
    rng = np.random.default_rng(0)
    slow, fast = [], []
    for n in (100, 1000, 10_000, 100_000):
        reps = 12 if n < 100_000 else 2
        runs = [SieveERM().fit(*smooth_sample(n, rng)) for _ in range(reps)]
        slow.append(np.mean([smooth_excess(run.intervals_) for run in runs]))
        if n <= 1000:
            greedy = [SieveERM(lambda n: n).fit(*smooth_sample(n, rng)) for _ in range(6)]
            fast.append(np.mean([smooth_excess(run.intervals_) for run in greedy]))
    assert slow[0] > slow[1] > slow[2] > slow[3] and slow[3] < 0.25 * slow[0]
    assert fast[1] > 0.7 * fast[0]


def test_claim_15_rates():
    sizes = np.array([200, 800, 3200, 12_800])
    for q, low, high in ((0.1, -1.2, -0.4), (0.0, -1.25, -0.75)):
        truth = IntervalTruth(k0=3, q=q)
        means = [risk_decomposition(KIntervalERM(3), truth, int(n), 40, random_state=int(n)).estimation for n in sizes]
        slope = np.polyfit(np.log(sizes), np.log(means), 1)[0]
        assert low <= slope <= high
    truth = IntervalTruth(k0=1, q=0.0)
    draws = (truth.sample(200, seed) for seed in range(2000))
    risks = np.array([truth.risk(interval_path(X[:, 0], y, 1).intervals(1)) for X, y in draws])
    grid = np.quantile(risks, [0.6, 0.75, 0.9, 0.96, 0.99])
    log_tail = np.log([(risks > e).mean() for e in grid])
    straight = np.polyfit(grid, log_tail, 1, full=True)[1][0]
    curved = np.polyfit(grid**2, log_tail, 1, full=True)[1][0]
    assert straight < curved  # linear in eps, not in eps squared


REPORTED = {500: (1.0, 0.331, 0.110), 2000: (3.0, 0.102, 0.102), 5000: (3.0, 0.101, 0.101)}


@pytest.mark.parametrize("n", list(REPORTED))
def test_headline_srm_phase_change(n):
    truth = IntervalTruth(k0=3, q=0.1)
    k_mean, risk, oracle = REPORTED[n]
    chosen, risks, right = [], [], []
    for seed in range(20):
        X, y = truth.sample(n, random_state=1000 + seed)
        model = SRM(k_max=12, penalty="lugosi").fit(X, y)
        chosen.append(model.k_)
        risks.append(truth.risk(model.intervals_))
        right.append(truth.risk(model.estimator_.intervals(3)))
        assert SRM(k_max=12, penalty="dgl").fit(X, y).k_ == 1
    assert np.mean(chosen) == pytest.approx(k_mean, abs=0.3)
    assert np.mean(risks) == pytest.approx(risk, abs=0.01)
    assert np.mean(right) == pytest.approx(oracle, abs=0.01)


def test_k_interval_erm_beats_a_greedy_tree_and_reaches_zero():
    from sklearn.tree import DecisionTreeClassifier

    X, y = IntervalTruth(k0=3, q=0.3).sample(2000, random_state=0)
    exact = KIntervalERM(3).fit(X, y).train_risk_
    greedy = np.mean(DecisionTreeClassifier(max_leaf_nodes=7, random_state=0).fit(X, y).predict(X) != y)
    assert exact <= greedy
    assert KIntervalERM(1000).fit(X, y).train_risk_ == 0
    assert KIntervalERM(40).fit(X, y).train_risk_ == interval_path(X[:, 0], y, 45).errors[40] / 2000


@pytest.mark.parametrize("seed", range(6))
def test_rectangle_erm_against_all_boxes(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (25, 2)).astype(float)
    y = rng.integers(0, 2, 25)
    best = y.sum()
    for a, b in itertools.combinations_with_replacement(range(6), 2):
        for c, d in itertools.combinations_with_replacement(range(6), 2):
            inside = (X[:, 0] >= a) & (X[:, 0] <= b) & (X[:, 1] >= c) & (X[:, 1] <= d)
            best = min(best, np.sum(inside != y))
    rule = RectangleERM().fit(X, y)
    assert rule.train_risk_ == pytest.approx(best / 25)
    assert np.mean(rule.predict(X) != y) == rule.train_risk_


def test_threshold_erm_against_all_cuts():
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.integers(0, 8, 30).astype(float), rng.integers(0, 2, 30)
        cuts = np.arange(-0.5, 8.5)
        best = min(min(np.mean((x > c) != y), np.mean((x <= c) != y)) for c in cuts)
        rule = ThresholdERM().fit(x[:, None], y)
        assert rule.train_risk_ == pytest.approx(best) == np.mean(rule.predict(x[:, None]) != y)


def test_suprema_against_brute_force():
    rng = np.random.default_rng(1)
    for _ in range(4):
        u = rng.random(6)
        ends = np.sort(np.concatenate([u - 1e-10, u + 1e-10, [0, 1]]))
        pairs = list(itertools.combinations_with_replacement(ends, 2))
        one = max(abs(np.mean((u >= a) & (u <= b)) - (b - a)) for a, b in pairs)
        assert sup_dev(u, "intervals") == pytest.approx(one, abs=1e-8)
        assert sup_dev(u, "k_intervals", k=1) == pytest.approx(one, abs=1e-8)
        two = max(
            abs(np.mean(((u >= a) & (u <= b)) | ((u >= c) & (u <= d))) - (b - a) - (d - c))
            for (a, b), (c, d) in itertools.product(pairs, pairs)
            if b < c
        )
        assert sup_dev(u, "k_intervals", k=2) == pytest.approx(max(one, two), abs=1e-8)
        X = rng.normal(size=(12, 2))
        turned = max(
            sup_dev(X @ [math.cos(t), math.sin(t)], "half_lines", norm.cdf) for t in np.linspace(0, np.pi, 1500)
        )
        assert turned <= halfplane_deviation(X) + 1e-12 and halfplane_deviation(X) == pytest.approx(turned, abs=5e-3)
        S = rng.random((9, 2))
        corners = [np.sort(np.concatenate([S[:, i] - 1e-10, S[:, i], [1.0]])) for i in (0, 1)]
        brute = max(abs(np.mean((S[:, 0] <= a) & (S[:, 1] <= b)) - a * b) for a in corners[0] for b in corners[1])
        assert star_discrepancy(S) == pytest.approx(brute, abs=1e-8)


def test_one_principle_three_names():
    rng = np.random.default_rng(0)
    x = rng.normal(2.0, 1.0, 400)
    grid = np.linspace(0, 4, 401)
    densities = [lambda z, m=m: norm.pdf(z, m) for m in grid]
    _, index, _ = erm(density_loss, densities, x)
    assert grid[index] == pytest.approx(x.mean(), abs=0.006)
    y = 3 * x + rng.normal(size=400)
    slopes = np.linspace(2, 4, 401)
    _, index, risk = erm(squared_loss, [lambda z, s=s: s * z for s in slopes], x, y)
    assert slopes[index] == pytest.approx(x @ y / (x @ x), abs=0.003)
    assert risk == pytest.approx(np.mean((y - slopes[index] * x) ** 2))
    assert empirical_risk(classification_loss, lambda z: z > 2, x, x > 2) == 0


def test_cross_validation_and_selection():
    X, y = IntervalTruth(k0=3, q=0.1).sample(800, random_state=3)
    assert 3 <= cross_validated_k(X[:, 0], y, 12, random_state=0) <= 6
    assert srm_select([0.4, 0.2, 0.2], [2, 4, 6], 10**6, rule=lambda V, n, k: V / n) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: growth_function("orthants", 5, d=3), "no closed form"),
        (lambda: vc_tail(3).tail(-0.1, 10), "eps must be positive"),
        (lambda: vc_tail(3).eps(0.0, 10), "delta must lie"),
        (lambda: vc_tail(), "give V or log_shatter"),
        (lambda: sample_complexity(0.1, 0.1, -1), "V"),
        (lambda: penalty("lasso", 1, 10), "penalty must be one of"),
        (lambda: interval_path([1.0], [2], 1), "0 or 1"),
        (lambda: KIntervalERM(0).fit([[1.0], [2.0]], [0, 1]), "k"),
        (lambda: KIntervalERM(1).fit([[1.0, 2.0], [2.0, 3.0]], [0, 1]), "feature"),
        (lambda: KIntervalERM(1).fit([[1.0], [2.0], [3.0]], [0, 1, 2]), "binary"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_erratum_halfspaces_do_not_shatter_d_plus_2():
    for d in range(1, 8):
        assert growth_function("halfspaces", d + 1, d=d) == 2 ** (d + 1)
        value = growth_function("halfspaces", d + 2, d=d)
        assert 2 ** (d + 1) <= value == 2 * (2 ** (d + 1) - 1) < 2 ** (d + 2)
