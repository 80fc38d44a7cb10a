"""Claims of the source, checked: randomized_variable_elimination."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from learnable.datasets.rules import make_led, make_m_of_n, make_monks
from learnable.features import (
    RVE,
    RVErS,
    backward_elimination,
    filter_selection,
    forward_selection,
    gain_ratio,
    rve,
    rve_schedule,
    rvers,
)
from learnable.features.subsets import EstimatorSubsets, NaiveBayesSubsets, SubsetEvaluator
from learnable.features.variable_elimination import expected_failures, fixed_schedule, training_cost
from learnable.features.variable_elimination.schedule import _log_success


def updates(n):
    return 1897000 * (n + 1)


class Always(SubsetEvaluator):
    """An evaluator that lets everything go, or nothing."""

    def __init__(self, n_features, rises):
        super().__init__(n_features)
        self.rises = rises

    def _error(self, columns):
        return float(self.n_features - len(columns)) if self.rises else 0.0


class Creeping(SubsetEvaluator):
    """The error rises by 0.001 with every column that is removed."""

    def _error(self, columns):
        return 0.001 * (self.n_features - len(columns))


def brute_force(n, r, cost):
    """The smallest expected cost over all ways to write n - r as an ordered sum."""

    def compositions(m):
        if m == 0:
            yield ()
        for first in range(1, m + 1):
            yield from ((first, *rest) for rest in compositions(m - first))

    def price(parts):
        here, total = n, 0.0
        for k in parts:
            total += cost(here - k) / hypergeom(here, r, k).pmf(0)
            here -= k
        return total

    return min((price(parts), parts) for parts in compositions(n - r))


@pytest.mark.parametrize("cost", ["linear", "quadratic", "constant"])
@pytest.mark.parametrize("n, r", [(8, 2), (10, 3)])
def test_claim_schedule_equals_brute_force_over_all_compositions(cost, n, r):
    schedule = rve_schedule(n, r, cost)
    price, parts = brute_force(n, r, lambda m: training_cost(cost, n)[m])
    assert schedule.expected_cost == pytest.approx(price, rel=1e-9)
    assert tuple(schedule.steps) == parts


@pytest.mark.parametrize("r", [2, 3])
def test_claim_schedule_equals_brute_force_at_fourteen_columns(r):
    """All 2^(N-r-1) compositions, priced by tables instead of scipy."""
    n, cost = 14, training_cost("linear", 14)
    p = {(m, k): math.comb(m - r, k) / math.comb(m, k) for m in range(r + 1, n + 1) for k in range(1, m - r + 1)}
    best = math.inf
    for cuts in itertools.product((False, True), repeat=n - r - 1):
        stops = [n, *(n - 1 - i for i, cut in enumerate(cuts) if cut), r]
        best = min(best, sum(cost[b] / p[a, a - b] for a, b in itertools.pairwise(stops)))
    assert rve_schedule(n, r).expected_cost == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("cost", ["constant", "log", "linear", "quadratic", updates])
def test_claim_schedule_is_never_dearer_than_the_simple_rules(cost):
    for n, r in ((30, 2), (100, 10), (100, 60), (57, 1)):
        best = rve_schedule(n, r, cost)
        for rule in ("ratio", "single"):
            assert (best.cost_to_go <= fixed_schedule(n, r, cost, rule=rule).cost_to_go * (1 + 1e-12)).all()


def test_claim_figures_of_the_seven_of_ten_problem():
    best, single = rve_schedule(100, 10, updates), fixed_schedule(100, 10, updates, rule="single")
    assert best.expected_cost == pytest.approx(5.512e9, rel=1e-3)
    assert best.cost_ratio == pytest.approx(28.77, abs=0.01)
    assert best.steps[:8] == [9, 8, 8, 7, 6, 6, 5, 5] and len(best.steps) == 27 and sum(best.steps) == 90
    assert best.expected_calls == pytest.approx(89.5, abs=0.05)
    assert single.expected_cost == pytest.approx(12.15e9, rel=1e-3)
    assert single.expected_calls == pytest.approx(140.8, abs=0.05) and single.steps == [1] * 90
    assert fixed_schedule(100, 10, updates).expected_cost == pytest.approx(5.515e9, rel=1e-3)


def test_claim_cost_is_a_constant_number_of_trainings():
    sizes = (50, 100, 200, 400, 800, 1600)
    best = [rve_schedule(n, 10, lambda m: m).cost_ratio for n in sizes]
    single = [fixed_schedule(n, 10, lambda m: m, rule="single").cost_ratio for n in sizes]
    np.testing.assert_allclose(best, [28.6, 28.2, 27.4, 26.8, 26.4, 26.2], atol=0.06)
    np.testing.assert_allclose(single, [39, 63, 111, 211, 410, 810], atol=0.6)


def test_claim_order_of_growth_for_a_cost_that_does_not_grow():
    """For M = 1 the cost grows like log N."""
    ratios = [rve_schedule(n, 10, "constant").cost_ratio for n in (200, 400, 800, 1600)]
    steps = np.diff(ratios)
    assert (steps > 0).all() and np.ptp(steps) < 0.1 * steps.mean()


def test_claim_expected_failures_are_largest_at_one_irrelevant_column():
    for r in (4, 5, 10, 40):
        values = [expected_failures(n, r, max(1, n // r)) for n in range(r + 1, 60 * r) if n // r <= n - r]
        assert values[0] == pytest.approx(r) and max(values) == pytest.approx(r)
    assert expected_failures(100_000, 100, 1000) == pytest.approx(math.e - 1, abs=0.02)


def test_erratum_for_two_or_three_relevant_columns_failures_exceed_r():
    """Sec. 4.2.1 puts the largest E⁻(n, r, n/r) at n = r + 1; for r = 2 and 3 it lies at n = 2r."""
    assert expected_failures(4, 2, 2) == pytest.approx(5) and expected_failures(3, 2, 1) == pytest.approx(2)
    assert expected_failures(6, 3, 2) == pytest.approx(4) and expected_failures(4, 3, 1) == pytest.approx(3)


def test_claim_batches_are_near_n_over_r_and_larger_for_steeper_costs():
    linear, quadratic = rve_schedule(1000, 10, "linear"), rve_schedule(1000, 10, "quadratic")
    assert (linear.batch[1000], quadratic.batch[1000]) == (99, 105)
    assert abs(linear.batch[500] - 50) <= 2


def test_erratum_cost_of_single_removals_is_not_an_equation():
    """Sec. 4.2.2 prints an equality; it is the bound that sets every E⁻ to r."""
    printed = sum(11 * updates(100 - i) for i in range(1, 91))
    assert fixed_schedule(100, 10, updates, rule="single").expected_cost < 0.2 * printed


@pytest.mark.parametrize("rule", ["optimal", "ratio", "single"])
@pytest.mark.parametrize("rises", [False, True])
@pytest.mark.parametrize("r_min, r_max", [(2, 30), (2, 3), (1, 2), (5, 5), (0, 1), (29, 30)])
def test_claim_rvers_ends_whatever_the_answers(rule, rises, r_min, r_max):
    found = rvers(Always(30, rises), r_min=r_min, r_max=r_max, rule=rule, random_state=0, max_calls=5000)
    assert found.converged
    assert len(found.kept) == (30 if rises else r_min)
    low, r, high = found.brackets.T
    assert (low <= r).all() and (r <= high).all() and (found.remaining >= r_min).all()
    assert (np.diff(found.remaining) <= 0).all()


@pytest.mark.parametrize("rule", ["optimal", "ratio", "single"])
@pytest.mark.parametrize("r_min, r_max", [(2, 30), (2, 3), (0, 1), (7, 7)])
def test_claim_rvers_ends_if_the_answers_are_random(rule, r_min, r_max):
    class Dice(SubsetEvaluator):
        def _error(self, columns):
            return rng.normal()

    for seed in range(10):
        rng = np.random.default_rng(seed)
        found = rvers(Dice(30), r_min=r_min, r_max=r_max, rule=rule, random_state=seed, max_calls=5000)
        low, r, high = found.brackets.T
        assert found.converged and found.remaining.min() >= r_min
        assert (low <= r).all() and (r <= high).all() and (np.diff(found.remaining) <= 0).all()


def test_claim_a_closed_interval_becomes_the_number_of_columns():
    """With r_max = r_min + 1 the midpoint is r_min: then r, r_min, r_max <- n, and single columns to the end."""
    found = rvers(Always(30, True), r_min=3, r_max=4, random_state=0, max_calls=2000)
    assert found.converged and (found.brackets[1:] == 30).all() and (found.sizes[2:] == 29).all()
    assert found.n_calls == 1 + 3 * 29  # the first batch counts in the streak of c1 (n - 1) failures
    through = rvers(Always(30, False), r_min=3, r_max=4, random_state=0)
    np.testing.assert_array_equal(through.brackets[1:], np.repeat(through.remaining[1:, None], 3, axis=1))
    assert (np.diff(through.remaining[1:]) == -1).all() and len(through.kept) == 3


def test_claim_streaks_move_the_interval_as_the_source_says():
    down = rvers(Always(100, False), r_max=40, random_state=0)
    believed, k = 21, int(rve_schedule(100, 21).batch[100])
    needed = math.ceil(0.3 * (believed - expected_failures(100, believed, k)))
    highs = down.brackets[:, 2]
    assert (highs[:needed] == 40).all() and highs[needed] == 21 and down.brackets[needed, 1] == 11
    up = rvers(Always(100, True), r_max=40, random_state=0)
    patience = math.ceil(3 * expected_failures(100, believed, k))
    lows = up.brackets[:, 0]
    assert (lows[:patience] == 2).all() and lows[patience] == 21 and up.brackets[patience, 1] == 30
    twice = rvers(Always(100, True), r_max=40, c1=6, random_state=0)
    patience = math.ceil(6 * expected_failures(100, believed, k))
    assert (twice.brackets[:patience, 0] == 2).all() and twice.brackets[patience, 0] == 21


@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_a_success_ends_a_streak_of_failures_and_the_other_way_round():
    class Alternating(SubsetEvaluator):
        def _error(self, columns):
            return float(self.n_calls % 2 == 0)

    found = rvers(Alternating(100), r_max=40, random_state=0, max_calls=31)
    assert found.accepted.sum() == 16 and (found.brackets == [2, 21, 40]).all()


def test_a_long_run_of_successes_lowers_the_upper_end_to_the_midpoint():
    found = rvers(Always(100, False), r_max=90, c2=0.05, random_state=0)
    first = np.flatnonzero(np.diff(found.brackets[:, 2]))[0] + 1
    assert found.brackets[first, 2] == found.brackets[first - 1, 1] == 46
    assert found.brackets[first, 1] == (2 + 46) // 2


def test_claim_tolerance_lets_the_error_creep_and_best_bounds_it():
    creeping = rvers(Creeping(40), tol=0.002, rule="single", random_state=0)
    assert creeping.error > 10 * 0.002
    bounded = rvers(Creeping(40), tol=0.002, rule="single", compare_to="best", random_state=0)
    assert bounded.error <= 0.002 + 1e-12 and len(bounded.kept) == 38
    assert len(rvers(Creeping(40), tol=0.0, random_state=0).kept) == 40


def test_batches_are_drawn_uniformly():
    """First batches of 2000 searches: every column is in about k/n of them."""
    drawn = np.zeros(20)
    for seed in range(2000):
        found = rve(Always(20, False), 4, random_state=seed)
        drawn += found.removed_by == 1
    k = rve_schedule(20, 4).batch[20]
    share = drawn / 2000
    assert np.abs(share - k / 20).max() < 5 * math.sqrt(0.25 / 2000)


def test_stepwise_searches_are_greedy():
    X, y = make_led(300, n_irrelevant=6, random_state=0, return_X_y=True)
    evaluator = NaiveBayesSubsets(X, y)
    found = forward_selection(evaluator)
    inside = []
    while True:
        errors = {j: evaluator.error([*inside, j]) for j in range(13) if j not in inside}
        j = min(errors, key=errors.get)
        if inside and errors[j] >= evaluator.error(inside):
            break
        inside.append(j)
    np.testing.assert_array_equal(found.kept, sorted(inside))
    assert found.error == evaluator.error(inside) == found.errors[found.accepted][-1]
    back = backward_elimination(evaluator)
    assert back.error == evaluator.error(back.kept) <= evaluator.error(range(13))
    for j in back.kept:
        assert evaluator.error(np.setdiff1d(back.kept, [j])) >= back.error
    assert len(forward_selection(evaluator, max_features=2).kept) == 2
    assert len(backward_elimination(evaluator, tol=-1, min_features=3).kept) == 3


def test_filter_tries_the_ranking_from_the_top():
    X, y = make_led(400, n_irrelevant=20, random_state=1, return_X_y=True)
    evaluator, ratio = NaiveBayesSubsets(X, y), gain_ratio(X, y)
    found = filter_selection(evaluator, ratio)
    order = np.argsort(-ratio, kind="stable")
    errors = [evaluator.error(order[:m]) for m in range(1, 28)]
    np.testing.assert_allclose(found.errors, errors)
    assert found.error == min(errors) and len(found.kept) == 1 + int(np.argmin(errors)) and found.n_calls == 27


def test_gain_ratio_is_information_over_entropy():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (200, 3)), rng.integers(0, 3, 200)
    for j, ratio in enumerate(gain_ratio(X, y)):
        joint = np.histogram2d(X[:, j], y, bins=[4, 3])[0] / 200
        inside = joint[joint > 0]
        rows, cols = joint.sum(1), joint.sum(0)
        information = (inside * np.log(inside / np.outer(rows, cols)[joint > 0])).sum()
        assert ratio == pytest.approx(information / -(rows * np.log(rows)).sum(), rel=1e-9)
    assert gain_ratio(np.zeros((4, 1)), [0, 1, 0, 1]) == [0.0]


def test_claim_forward_selection_is_stuck_on_monks_2_and_rvers_is_not():
    """No single bit helps a tree; removing irrelevant ones does."""
    X, y = make_monks(2, one_hot=True, return_X_y=True)
    tree = EstimatorSubsets(DecisionTreeClassifier(criterion="entropy", random_state=0), X, y)
    forward = forward_selection(tree)
    random = rvers(tree, tol=0.0, r_max=10, cost="quadratic", random_state=0)
    assert len(forward.kept) <= 2 and forward.error > 0.3
    assert random.error < min(0.5 * forward.error, tree.error(range(17)))


def test_claim_rve_finds_seven_of_ten_with_a_learner():
    made = make_m_of_n(800, m=3, n_relevant=4, d=30, random_state=1)
    evaluator = EstimatorSubsets(LogisticRegression(), made.data, made.target, cv=2)
    found = rve(evaluator, 4, tol=0.02, random_state=0)
    np.testing.assert_array_equal(found.kept, made.relevant)


def test_selectors_stand_in_a_pipeline_and_keep_names():
    X, y = make_led(600, n_irrelevant=30, flip=0, random_state=0, return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"bit {j}" for j in range(37)])
    model = make_pipeline(RVErS(r_max=20, random_state=0).set_output(transform="pandas"), CategoricalNB())
    model.fit(frame, y)
    names = model[0].get_feature_names_out()
    assert len(names) == model[0].support_.sum() < 20 and set(names) <= set(frame.columns)
    assert model.score(frame, y) > 0.95
    assert model[0].n_iter_ == model[0].search_.n_calls
    np.testing.assert_array_equal(RVErS(r_max=20, random_state=0).fit(X, y).support_, model[0].support_)


def test_rve_keeps_as_many_as_it_is_told():
    X, y = make_led(400, n_irrelevant=13, random_state=0, return_X_y=True)
    assert RVE(n_relevant=7, tol=0.05, random_state=0).fit(X, y).support_.sum() == 7
    assert RVE(n_relevant=0.25, tol=0.05, random_state=0).fit(X, y).support_.sum() == 5


def test_selectors_take_any_estimator():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 12))
    y = X[:, 3] - 2 * X[:, 7] + 0.1 * rng.normal(size=150)
    kept = RVErS(LinearRegression(), r_max=6, random_state=0).fit(X, y).get_support(indices=True)
    assert {3, 7} <= set(kept) and len(kept) < 6


def test_rows_in_another_order_and_other_codes_change_nothing():
    X, y = make_led(500, n_irrelevant=10, random_state=0, return_X_y=True)
    fold = np.arange(500) % 5
    rows = np.random.default_rng(1).permutation(500)
    plain = RVErS(cv=PredefinedSplit(fold), random_state=0).fit(X, y)
    other = RVErS(cv=PredefinedSplit(fold[rows]), random_state=0).fit(np.asfortranarray(1 - X)[rows], y[rows] + 5)
    np.testing.assert_array_equal(plain.support_, other.support_)


def test_constant_and_duplicated_columns_and_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 120))
    y = X[:, 0]
    X[:, 1], X[:, 2] = X[:, 0], 1
    found = RVErS(random_state=0).fit(X, y)
    kept = found.get_support(indices=True)
    assert set(kept) & {0, 1} and found.search_.error == 0 and 2 <= len(kept) <= 5


@pytest.mark.parametrize("answer", [np.nan, None, "0.5", 0.5j, np.ones(2)], ids=str)
def test_an_error_that_is_no_number_names_its_subset(answer):
    class Broken:
        n_features = 5

        def error(self, columns):
            return answer if 3 in columns else 0.5

    searches = (forward_selection, backward_elimination, lambda e: filter_selection(e, [1, 2, 3, 4, 5]))
    for search, named in zip(searches, (r"\[3\]", r"\[0, 1, 2, 3, 4\]", r"\[4, 3\]"), strict=True):
        with pytest.raises(ValueError, match="evaluator must give a number.*" + named):
            search(Broken())


@pytest.mark.parametrize(
    ("n", "r", "k"),
    [(10**12, 1000, 1000), (10**12, 5000, 5000), (10**12, 10**5, 10**6), (10_100, 5000, 5000), (100_000, 5000, 95_000)],
)
def test_expected_failures_of_huge_tables(n, r, k):
    few, many = min(r, k), max(r, k)
    log_success = math.fsum(np.log1p(-many / (n - np.arange(float(few)))))
    assert _log_success(n, r, k) == pytest.approx(log_success, rel=1e-13)
    if log_success > -1:
        assert expected_failures(n, r, k) == pytest.approx(math.expm1(-log_success), rel=1e-12)


@pytest.mark.parametrize("r", [0, 1, 3])
def test_a_schedule_finds_cheap_batches_behind_dear_ones(r):
    """Costs that rise in jumps: larger batches get dearer at first, and cheap once the model is below the jump."""
    for edges in ((10,), (6, 14)):
        cost = 1.0 + 999 * np.sum([np.arange(25) > edge for edge in edges], axis=0)
        total = np.zeros(25)
        for n in range(r + 1, 25):
            tries = [1 / hypergeom(n, r, k).pmf(0) for k in range(1, n - r + 1)]
            total[n] = min(cost[n - k] * t + total[n - k] for k, t in enumerate(tries, 1))
        np.testing.assert_allclose(rve_schedule(24, r, cost).cost_to_go, total, rtol=1e-9)


@pytest.mark.parametrize("selector", [RVE, RVErS])
def test_a_learner_that_is_none_is_refused_by_name(selector):
    X = np.random.default_rng(0).integers(0, 2, (30, 4))
    with pytest.raises(TypeError, match="estimator must be an estimator in scikit-learn's protocol, got int"):
        selector(2).fit(X, X[:, 0])
