"""Plug-in rules, histograms and nearest neighbours: the claims of the source, checked."""

import itertools
import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.chapters.classical_rules.theory import (
    cover_hart,
    exact_risk_1d,
    excess_risk_exact,
    knn_limit_risk,
    knn_regions_1d,
    plug_in_bounds,
    student_joint_cdf,
    two_ball_risk,
)
from learnable.foundations import KNN, HistogramRule, ParametricPlugIn
from learnable.foundations.voting import PartitionRule
from learnable.neighbors import NeighborIndex
from learnable.problems.base import FiniteProblem
from learnable.problems.zoo import student, two_gaussians

from .classical_rules_cases import PlugIn, PlugInDensity, PlugInPair, VoronoiCells, weighted_limit_risk


@parametrize_with_checks(
    [
        PartitionRule(),
        HistogramRule(),
        KNN(k=3),
    ]
)
def test_sklearn_conventions(estimator, check):
    check(estimator)


def random_problem(rng, m=8):
    p_x = rng.dirichlet(np.ones(m))
    eta = rng.random(m)
    return FiniteProblem(np.column_stack([p_x * (1 - eta), p_x * eta])), eta, p_x


def test_claim_01_excess_risk_identity_and_plug_in_bounds():
    rng = np.random.default_rng(0)
    for _ in range(200):
        problem, eta, p_x = random_problem(rng)
        g = rng.integers(0, 2, 8)
        direct = float(problem.risk(g)) - float(problem.bayes()[1])
        assert excess_risk_exact(problem, lambda x, g=g: g[x]) == pytest.approx(direct, abs=1e-12)
        for _ in range(5):
            guess = np.clip(eta + rng.normal(0, rng.uniform(0, 0.6), 8), 0, 1)
            bounds = plug_in_bounds(problem, lambda x, e=guess: e[x])
            assert bounds["excess"] <= bounds["l1"] + 1e-12 <= bounds["l2"] + 2e-12
            assert bounds["l1"] == pytest.approx(2 * p_x @ np.abs(eta - guess))
            other = np.clip(1 - eta + rng.normal(0, 0.4, 8), 0, 1)
            pair = plug_in_bounds(problem, lambda x, e=guess: e[x], lambda x, o=other: o[x])
            assert pair["excess"] <= pair["pair"] + 1e-12
    far = np.where(eta > 0.5, 1.0, 0.0)
    bounds = plug_in_bounds(problem, lambda x: far[x])
    assert bounds["excess"] == 0 and bounds["l1"] > 0.2


def test_claim_01_density_bound():
    rng = np.random.default_rng(1)
    for _ in range(200):
        problem, _, _ = random_problem(rng)
        one, zero = problem.p_xy[:, 1], problem.p_xy[:, 0]
        guess1, guess0 = one * rng.uniform(0.3, 2, 8), zero * rng.uniform(0.3, 2, 8)
        g = (guess1 > guess0).astype(int)
        excess = float(problem.risk(g)) - float(problem.bayes()[1])
        assert excess <= np.abs(one - guess1).sum() + np.abs(zero - guess0).sum() + 1e-12


def student_risk(rule, c=1.0):
    """Exact risk of a fitted histogram rule on the study-hours problem."""
    edges = np.arange(0, math.ceil(4 * c / rule.h_) + 1) * rule.h_
    middles = edges[:-1] + rule.h_ / 2
    return exact_risk_1d(edges, rule.predict(middles[:, None]), student_joint_cdf(c))


def mean_student_risk(n, h, reps, rng):
    risks = []
    for _ in range(reps):
        x, y = student(1.0).sample(n, rng)
        risks.append(student_risk(HistogramRule(h=h).fit(np.reshape(x, (-1, 1)), y)))
    return np.array(risks)


def test_claim_04_histograms_are_consistent_iff_cells_shrink_and_fill():
    rng = np.random.default_rng(4)
    bayes = 0.25 * math.log(5 * math.e / 4)
    good = [mean_student_risk(n, 4 * n ** (-1 / 3), 25, rng) for n in (50, 500, 5000)]
    means = [r.mean() for r in good]
    assert means[0] > means[1] > means[2] and means[2] - bayes < 0.003
    late = [(r - bayes > 0.02).mean() for r in good]
    assert late[0] > late[2] == 0
    fixed = mean_student_risk(5000, 4.0, 3, rng).mean()
    thin = mean_student_risk(2000, 1 / 2000, 3, rng).mean()
    assert fixed - bayes > 0.09 and thin - bayes > 0.05


def test_claim_06_neighbours_come_close_inside_the_support_only():
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1, 100_000)
    for k_of_n in (lambda n: 5, lambda n: int(n**0.5)):
        inside = [NeighborIndex(x[:n, None]).query([[0.3]], k_of_n(n))[0][0, -1] ** 0.5 for n in (100, 3000, 100_000)]
        assert inside[0] > inside[1] > inside[2] and inside[2] < 0.01
    assert NeighborIndex(x[:, None]).query([[2.0]], 1)[0][0, 0] ** 0.5 > 0.99
    for _ in range(50):
        X, q, k, delta = rng.normal(size=(20, 2)), rng.normal(size=(1, 2)), int(rng.integers(1, 6)), rng.uniform(0.1, 2)
        far = NeighborIndex(X).query(q, k)[0][0, -1] ** 0.5 > delta
        assert far == (np.sum(np.linalg.norm(X - q, axis=1) <= delta) < k)


def test_claim_07_limit_risks_on_the_study_hours():
    grid = (np.arange(200_000) + 0.5) / 200_000 * 4
    eta = grid / (1 + grid)
    limit = {k: knn_limit_risk(eta, k).mean() for k in (1, 3)}
    assert limit[1] == pytest.approx(0.5 * (math.log(5) - 0.8), abs=1e-8)
    assert round(limit[1], 6) == 0.404719 and round(limit[3], 6) == 0.373026
    rng = np.random.default_rng(6)
    cdf = student_joint_cdf()
    for k, expected in limit.items():
        risks = []
        for _ in range(100):
            x, y = student(1.0).sample(1000, rng)
            risks.append(exact_risk_1d(*knn_regions_1d(np.ravel(x), y, k), cdf))
        assert np.mean(risks) == pytest.approx(expected, abs=0.003)
    np.testing.assert_allclose(
        [knn_limit_risk(0.2, k) for k in (1, 3, 5, 7)], [0.32, 0.2624, 0.234752, 0.220006], atol=5e-7
    )


def test_claim_08_limits_fall_with_k():
    rng = np.random.default_rng(7)
    for _ in range(200):
        eta, weights = rng.random(6), rng.dirichlet(np.ones(6))
        risks = [weights @ knn_limit_risk(eta, k) for k in (1, 3, 5, 7, 9)]
        assert (np.diff(risks) < 0).all()
        assert risks[-1] > weights @ np.minimum(eta, 1 - eta)
    flat = np.array([0.0, 0.5, 1.0])
    assert np.ptp([knn_limit_risk(flat, k).mean() for k in (1, 3, 9)]) < 1e-15
    assert knn_limit_risk(0.3, 101) == pytest.approx(0.3, abs=1e-4)


def test_claim_09_cover_hart():
    rng = np.random.default_rng(8)
    eta, weights = rng.random((10_000, 5)), rng.dirichlet(np.ones(5), 10_000)
    bayes = (weights * np.minimum(eta, 1 - eta)).sum(axis=1)
    one = (weights * knn_limit_risk(eta, 1)).sum(axis=1)
    assert (bayes <= one).all() and (one <= 2 * bayes * (1 - bayes) + 1e-15).all()
    constant = np.where(rng.random(50) < 0.5, 0.3, 0.7)
    assert knn_limit_risk(constant, 1).mean() == pytest.approx(cover_hart(0.3)[1])


def test_erratum_noise_between_zero_and_half_does_not_force_a_gap():
    eta = np.array([0.0, 0.5])
    assert knn_limit_risk(eta, 1).mean() == np.minimum(eta, 1 - eta).mean() == 0.25


def test_claim_10_two_balls():
    rng = np.random.default_rng(9)
    for n, k in ((3, 1), (5, 1), (5, 3), (7, 5)):
        wrong = 0
        trials = 3000
        for _ in range(trials):
            y = rng.integers(0, 2, n + 1)
            x = rng.uniform(-1, 1, n + 1) + 10 * y
            order = np.argsort(np.abs(x[:n] - x[n]))[:k]
            wrong += (2 * y[:n][order].sum() > k) != y[n]
        expected = two_ball_risk(n, k)
        assert wrong / trials == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / trials) + 1e-9)
    for n in range(3, 30):
        assert all(two_ball_risk(n, 1) < two_ball_risk(n, k) for k in range(3, n + 1, 2))


def test_erratum_two_ball_sum_starts_at_zero():
    assert two_ball_risk(6, 1) == 2.0**-6
    assert two_ball_risk(7, 3) == (1 + 7) * 2.0**-7


def test_claim_11_weighted_rules():
    rng = np.random.default_rng(10)
    eta = rng.random(50)
    for _ in range(100):
        k = int(rng.choice([3, 5]))
        weights = rng.uniform(0.1, 1, k)
        totals = {round(float(np.dot(s, weights)), 9) for s in itertools.product((-1, 1), repeat=k)}
        if 0.0 in totals:
            continue
        assert (weighted_limit_risk(eta, weights) >= knn_limit_risk(eta, k) - 1e-12).all()
    np.testing.assert_allclose(weighted_limit_risk(eta, np.ones(5)), knn_limit_risk(eta, 5), atol=1e-12)
    for k in (2, 4, 6):
        even = weighted_limit_risk(eta, [3] + [2] * (k - 1))
        np.testing.assert_allclose(even, knn_limit_risk(eta, k - 1), atol=1e-12)
        np.testing.assert_allclose(even, knn_limit_risk(eta, k), atol=1e-12)
    assert weighted_limit_risk(0.3, [2, 1, 1]) == pytest.approx(0.3612)
    assert knn_limit_risk(0.3, 3) > 0.38


def test_even_k_lets_the_nearest_neighbour_decide():
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(200, 1)), rng.integers(0, 2, 200)
    Q = rng.normal(size=(300, 1))
    for k in (2, 4):
        near = KNN(k=k).fit(X, y).kneighbors(Q)
        votes = y[near].sum(axis=1)
        expected = np.where(2 * votes == k, y[near[:, 0]], 2 * votes > k)
        np.testing.assert_array_equal(KNN(k=k).fit(X, y).predict(Q), expected)
        edges, decisions = knn_regions_1d(X[:, 0], y, k)
        np.testing.assert_array_equal(decisions[np.searchsorted(edges, Q[:, 0]) - 1], expected)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_regions_on_the_line_are_those_of_the_rule(k):
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=80), rng.integers(0, 2, 80)
    Q = rng.normal(size=500)
    edges, decisions = knn_regions_1d(x, y, k)
    rule = KNN(k=k).fit(x[:, None], y)
    np.testing.assert_array_equal(decisions[np.searchsorted(edges, Q) - 1], rule.predict(Q[:, None]))


def test_claim_12_stone():
    rng = np.random.default_rng(13)
    cdf = student_joint_cdf()
    trial = {50: 0.337, 200: 0.313, 1000: 0.309, 5000: 0.3065}
    means = []
    for n in trial:
        k = round(n ** (2 / 3)) | 1
        draws = (student(1.0).sample(n, rng) for _ in range(60 if n < 5000 else 20))
        means.append(np.mean([exact_risk_1d(*knn_regions_1d(np.ravel(x), y, k), cdf) for x, y in draws]))
    assert means[0] > means[1] > means[2] > means[3]
    np.testing.assert_allclose(means[1:], list(trial.values())[1:], atol=0.006)
    assert means[3] - 0.305786 < 0.002


def test_density_plug_ins_and_pairs():
    rng = np.random.default_rng(19)
    problem = two_gaussians(m1=2.0)
    x, y = problem.sample(1500, rng)
    X = np.reshape(x, (-1, 1))
    fresh, labels = problem.sample(8000, rng)
    for density in ("gaussian", "kde", "histogram"):
        rule = PlugInDensity(density).fit(X, y)
        assert np.mean(rule.predict(np.reshape(fresh, (-1, 1))) != labels) < 0.18
    assert PlugInPair().fit(X, y).score(np.reshape(fresh, (-1, 1)), labels) > 0.83
    assert PlugIn(LogisticRegression()).fit(X, y).score(np.reshape(fresh, (-1, 1)), labels) > 0.83


@pytest.mark.parametrize("method", ["auto", "brute", "tree"])
def test_neighbours_and_ties_against_brute_force(method):
    rng = np.random.default_rng(20)
    for n, d, k in ((60, 1, 5), (80, 2, 7), (70, 3, 60), (50, 12, 4)):
        X, Q = rng.integers(0, 4, (n, d)).astype(float), rng.integers(0, 4, (25, d)).astype(float)
        D = cdist(Q, X, "sqeuclidean")  # whole numbers: exact
        expected = [sorted(range(n), key=lambda j, i=i: (D[i, j], j))[:k] for i in range(25)]
        distances, found = NeighborIndex(X, method).query(Q, k)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(distances, np.take_along_axis(D, found, axis=1))
        D = cdist(X, X, "sqeuclidean") + np.diag(np.full(n, np.inf))
        expected = [sorted(range(n), key=lambda j, i=i: (D[i, j], j))[: k - 1] for i in range(n)]
        np.testing.assert_array_equal(NeighborIndex(X, method).query(X, k - 1, exclude=np.arange(n))[1], expected)


def test_digits_and_leave_one_out():
    X, y = load_digits(return_X_y=True)
    rule = KNN(k=1).fit(X, y)
    direct = np.mean(
        [
            KNeighborsClassifier(1).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0] != y[i]
            for i in range(12)
        ]
    )
    _, near = rule._index.query(X[:12], 1, exclude=np.arange(12))
    assert np.mean(y[near[:, 0]] != y[:12]) == direct
    assert 0.008 < rule.leave_one_out_error() < 0.016
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    assert KNN(k=1).fit(X_fit, y_fit).score(X_test, y_test) > 0.98
    assert VoronoiCells(X_fit).owner(X_fit[:5]).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KNN(k=0).fit([[1.0], [2.0]], [0, 1]), "k"),
        (lambda: KNN(k=3).fit([[1.0], [2.0]], [0, 1]), "k"),
        (lambda: KNN(k=1, ties="coin").fit([[1.0], [2.0]], [0, 1]), "ties"),
        (lambda: KNN(k=2, weights=[1.0]).fit([[1.0], [2.0]], [0, 1]), "weights"),
        (lambda: HistogramRule(h=0.0).fit([[1.0], [2.0]], [0, 1]), "h"),
        (lambda: PartitionRule(loss="cubic").fit([[1.0], [2.0]], [0, 1]), "loss"),
        (lambda: PartitionRule(empty="no").fit([[1.0], [2.0]], [0, 1]), "empty"),
        (lambda: ParametricPlugIn("cauchy").fit([[1.0], [2.0]], [0, 1]), "family"),
        (lambda: NeighborIndex(np.zeros((0, 2))), "X"),
        (lambda: NeighborIndex([[1.0]]).query([[1.0, 2.0]], 1), "columns"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
