"""Bayesian decision theory and the reject option: the claims of the source, checked.

References are independent of the code: exact fractions, enumeration of all classifiers or accept sets, scipy's
quadrature, scikit-learn. Tolerances of statistical tests are four standard errors, with fixed seeds.
"""

import itertools
import json
import pickle
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnable.chapters.bayes_decision_theory.theory import (
    _lp_loss,
    _lp_optimal,
    likelihood_ratio_decision,
    lp_regret,
    lp_risk,
)
from learnable.problems.base import Estimate, FiniteProblem
from learnable.problems.decisions import (
    bayes_conditional_risk,
    bayes_decision,
    conditional_risk,
    cost_matrix,
    cost_threshold,
    decide,
    loss_from_costs,
    zero_one_matrix,
)
from learnable.problems.density import DensityProblem
from learnable.problems.reject import (
    RejectRule,
    augment_loss,
    coverage_threshold,
    error_reject_curve,
)
from learnable.problems.zoo import (
    five_point,
    gaussian_bayes_risk,
    gaussian_classes,
    gaussian_risk,
    height_weight,
    plateau,
    student,
    student_bayes_risk,
    student_tradeoff,
    two_gaussians,
)


def bayes_error_from_max(problem, **options):
    """Return R* = 1 - E max_i p(i|X) = 1 - int max_i pi_i f_i, for 0-1 loss (Lember 2012, (1.2.12))."""
    return _affine(1.0, -1.0, problem.expect(lambda x, post: post.max(axis=1), **options))


def bayes_error_from_min(problem, **options):
    """Return R* = E min(p(0|X), p(1|X)) = int min(pi_0 f_0, pi_1 f_1) (Lember 2012, (1.2.14), (1.2.18))."""
    return problem.expect(lambda x, post: post.min(axis=1), **options)


def bayes_error_from_margin(problem, **options):
    """Return R* = 1/2 - E|2p(1|X) - 1|/2, for two classes and 0-1 loss."""
    return _affine(0.5, -0.5, problem.expect(lambda x, post: np.abs(2.0 * post[:, 1] - 1.0), **options))


def total_variation(problem, **options):
    """Return TV(f_0, f_1) = int |f_1 - f_0| / 2, the distance between the two class laws."""

    # |f_1 - f_0| = f |p(1|x)/pi_1 - p(0|x)/pi_0|, with its kink where f_1 = f_0.
    def difference(post):
        return post[:, 1] / problem.priors[1] - post[:, 0] / problem.priors[0]

    return problem.expect(
        lambda x, post: np.abs(difference(post)) / 2, label=lambda x, post: difference(post) >= 0, **options
    )


def bayes_error_from_variation(problem, **options):
    """Return R* = 1/2 - int |f_1 - f_0|/4 = (1 - TV)/2, for two equally probable classes."""
    return _affine(0.5, -0.5, total_variation(problem, **options))


def _affine(shift, scale, estimate):
    return Estimate(shift + scale * float(estimate), abs(scale) * estimate.error, estimate.method)


def bayes_risk_costs(problem, a, b, **options):
    """Return R* = E min{a p(1|X), b p(0|X)} = int min{a pi_1 f_1, b pi_0 f_0}."""
    return problem.bayes_risk(cost_matrix(a, b), **options)


def cost_decision(p1, a, b):
    """Return 1 where p(1|x) >= b/(a + b), else 0: the generalisation of (1.2.13) to two costs."""
    return (np.asarray(p1) >= cost_threshold(a, b)).astype(np.int64)


def cost_risk(p1, a, b):
    """Return min{a p(1|x), b p(0|x)}, the generalisation of (1.2.14) to two costs."""
    return np.minimum(a * np.asarray(p1), b * (1.0 - np.asarray(p1)))


def zero_one_reject(post, t):
    """Return argmax_i p(i|x) where max_i p(i|x) >= 1 - t, else -1 (Lember 2012, (1.3.5))."""
    return np.where(post.max(axis=1) >= 1.0 - t, post.argmax(axis=1), -1)


def two_class_reject(p1, c):
    """Return 1 if p(1|x) >= 1/2 + c, 0 if p(1|x) <= 1/2 - c, else -1 (Lember 2012, (1.3.6)); c = 1/2 - t."""
    p1 = np.asarray(p1)
    return np.where(p1 >= 0.5 + c, 1, np.where(p1 <= 0.5 - c, 0, -1))


def lp_minimizer(problem, p=2):
    """Return the predictor h*_p that minimises J_p."""
    return lambda x: _lp_optimal(problem.posterior(x), p)


def lp_bayes_risk(problem, p=2, **options):
    """Return J*_p = min_h J_p(h): E eta(1 - eta) for p = 2, the Bayes error for p = 1."""
    return problem.expect(lambda x, post: _lp_loss(post, _lp_optimal(post, p), p), **options)


quick = settings(max_examples=40, deadline=None, derandomize=True)


def random_loss(rng, k, a=None):
    """A loss with zero diagonal, not symmetric."""
    loss = rng.uniform(0.1, 2, size=(k, a or k))
    loss[np.arange(k), np.arange(k)] = 0
    return loss


def random_problem(rng, k, m):
    return FiniteProblem(rng.dirichlet(np.full(k * m, 0.7)).reshape(m, k) * (1 - 1e-3) + 1e-3 / (k * m))


def dyadic_posteriors(rng, n, k, denominator=1024):
    """Posteriors that are multiples of a power of two: sums and ties are exact in floating point."""
    cuts = np.sort(rng.integers(0, denominator + 1, size=(n, k - 1)), axis=1)
    return np.diff(cuts, axis=1, prepend=0, append=denominator) / denominator


def brute_risk(post, loss):
    """R(i|x) by plain Python, summed over j = 0, 1, ..."""
    return np.array([[sum(p * loss[j][i] for j, p in enumerate(row)) for i in range(len(loss[0]))] for row in post])


def test_claim_01_five_point_exact():
    problem = five_point()
    joint = [(Fraction(5 - i, 25), Fraction(i, 25)) for i in range(1, 6)]
    np.testing.assert_array_equal(problem.p_xy, np.array(joint, dtype=float))
    priors = [sum(row[j] for row in joint) for j in (0, 1)]
    assert priors == [Fraction(2, 5), Fraction(3, 5)]
    np.testing.assert_allclose(problem.priors, np.array(priors, dtype=float), rtol=1e-15)
    bayes = sum(min(row) for row in joint)
    assert bayes == Fraction(6, 25)
    g, risk = problem.bayes()
    assert abs(risk - float(bayes)) < 1e-15
    assert g.tolist() == [0, 0, 1, 1, 1]
    np.testing.assert_allclose(problem.posterior()[:, 1], [float(Fraction(i, 5)) for i in range(1, 6)], rtol=1e-15)
    np.testing.assert_allclose(problem.class_conditional.sum(axis=0), 1, rtol=1e-15)
    for y, x in itertools.product((-1, 0, 0.5, 1, 7), (0.5, 1, 2.5, 5, np.inf, -np.inf)):
        exact = sum(row[j] for i, row in enumerate(joint, 1) for j in (0, 1) if j <= y and i <= x)
        assert abs(problem.cdf(y, x) - float(exact)) < 1e-15


def test_claim_02_no_classifier_beats_bayes():
    rng = np.random.default_rng(0)
    for trial in range(200):
        k, m = (2, 3, 5)[trial % 3], int(rng.integers(1, 13))
        problem, loss = random_problem(rng, k, m), random_loss(rng, k)
        cost = np.array([[sum(row[j] * loss[j, i] for j in range(k)) for i in range(k)] for row in problem.p_xy])
        rules = rng.integers(0, k, size=(500, m))
        risks = cost[np.arange(m), rules].sum(axis=1)
        g, bayes = problem.bayes(loss)
        assert risks.min() - bayes >= -1e-12
        for rule, risk in zip(rules[:3], risks[:3], strict=True):
            assert abs(problem.risk(rule, loss) - risk) < 1e-14
        assert abs(problem.risk(g, loss) - bayes) < 1e-15
        if k**m <= 16_000 and m <= 6:
            every = np.array(list(itertools.product(range(k), repeat=m)))
            assert abs(cost[np.arange(m), every].sum(axis=1).min() - bayes) < 1e-14


def test_claim_03_zero_one_identities_discrete():
    rng = np.random.default_rng(1)
    for m in (1, 2, 7, 12):
        problem = random_problem(rng, 2, m)
        exact = sum(min(Fraction(a), Fraction(b)) for a, b in problem.p_xy)
        for formula in (bayes_error_from_max, bayes_error_from_min, bayes_error_from_margin):
            assert abs(formula(problem) - float(exact)) < 1e-10
        assert abs(problem.bayes_risk() - float(exact)) < 1e-10
        f = problem.class_conditional
        assert abs(total_variation(problem) - np.abs(f[:, 1] - f[:, 0]).sum() / 2) < 1e-10
        equal = FiniteProblem(f / 2)
        assert abs(bayes_error_from_variation(equal) - np.minimum(*f.T).sum() / 2) < 1e-10
    many = random_problem(rng, 5, 9)
    assert abs(bayes_error_from_max(many) - (1 - many.p_xy.max(axis=1).sum())) < 1e-10
    assert abs(many.bayes_risk() - (1 - many.p_xy.max(axis=1).sum())) < 1e-10


def mixture(weights, means, deviations):
    def logpdf(x):
        parts = [np.log(w) + stats.norm.logpdf(x, m, s) for w, m, s in zip(weights, means, deviations, strict=True)]
        return np.logaddexp.reduce(parts, axis=0)

    return logpdf


@pytest.mark.parametrize("pi1", [0.5, 0.3])
def test_claim_03_zero_one_identities_by_quadrature(pi1):
    logf = mixture([0.4, 0.6], [-2, 1], [0.5, 1]), mixture([0.5, 0.5], [0, 3], [0.3, 2])
    problem = DensityProblem(logf, [1 - pi1, pi1])
    grid = np.linspace(-15, 25, 40_001)
    joint = [np.exp(f(grid)) * p for f, p in zip(logf, (1 - pi1, pi1), strict=True)]
    reference = integrate.simpson(np.minimum(*joint), x=grid)
    for value in (
        problem.bayes_risk(),
        bayes_error_from_max(problem),
        bayes_error_from_min(problem),
        bayes_error_from_margin(problem),
    ):
        assert abs(value - reference) < 1e-6
        assert value.method == "quad" and value.error < 1e-9
    variation = integrate.simpson(np.abs(joint[1] / pi1 - joint[0] / (1 - pi1)), x=grid) / 2
    assert abs(total_variation(problem) - variation) < 1e-6
    if pi1 == 0.5:
        assert abs(bayes_error_from_variation(problem) - reference) < 1e-6
    ratio = likelihood_ratio_decision(logf[0](grid), logf[1](grid), pi1)
    post = problem.posterior(grid)
    clear = np.abs(post[:, 1] - 0.5) > 1e-9
    np.testing.assert_array_equal(ratio[clear], bayes_decision(post)[clear])


@pytest.mark.parametrize("c", [0.1, 1.0, 50.0])
def test_claim_04_student(c):
    problem = student(c)
    pi1, bayes = 1 - np.log(5) / 4, np.log(5 * np.e / 4) / 4
    assert abs(pi1 - 0.597641) < 5e-7 and abs(bayes - 0.305786) < 5e-7
    np.testing.assert_allclose(problem.boundaries(), [c], rtol=1e-12)
    np.testing.assert_allclose(problem.priors, [1 - pi1, pi1], rtol=1e-15)
    for value in (problem.bayes_risk(), problem.bayes_risk(method="quad"), bayes_error_from_min(problem)):
        assert abs(value - bayes) < 1e-12
    x = np.linspace(0.01 * c, 4 * c, 57)
    f1, f0 = x / ((c + x) * 4 * c * pi1), 1 / (4 * (c + x) * (1 - pi1))
    np.testing.assert_allclose(problem.joint_density(x), np.column_stack([(1 - pi1) * f0, pi1 * f1]), rtol=1e-12)
    np.testing.assert_allclose(problem.posterior(x)[:, 1], x / (c + x), rtol=1e-12)
    np.testing.assert_allclose(problem.pdf(x), 1 / (4 * c), rtol=1e-12)
    prior, _ = integrate.quad(lambda u: u / (c + u) / (4 * c), 0, 4 * c)
    assert abs(prior - pi1) < 1e-12


@pytest.mark.parametrize(
    "problem",
    [student(1.0), random_problem(np.random.default_rng(28), 2, 9), two_gaussians(m1=1.5, pi1=0.3)],
    ids=["student", "finite", "gaussians"],
)
def test_claim_05_real_valued_predictors(problem):
    bayes = problem.bayes_risk()
    median, mean = lp_minimizer(problem, 1), lp_minimizer(problem, 2)
    j1, j2 = lp_risk(problem, median, 1), lp_risk(problem, mean, 2)
    assert abs(j1 - bayes) < 1e-9 and abs(lp_bayes_risk(problem, 1) - bayes) < 1e-9
    variance = problem.expect(lambda x, post: post[:, 1] * (1 - post[:, 1]))
    assert abs(j2 - variance) < 1e-10 and abs(lp_bayes_risk(problem, 2) - variance) < 1e-10
    assert j2 <= bayes + 1e-12 and bayes <= 2 * j2 + 1e-12
    for a, b, w in np.random.default_rng(2).normal(size=(3, 3)):

        def shift(x, a=a, b=b, w=w):
            return a * np.sin(w * np.asarray(x) + b)

        def off(x, shift=shift):
            return problem.posterior(x)[:, 1] + shift(x)

        exact = problem.expect(lambda x, post, shift=shift: shift(x) ** 2)
        assert abs(lp_risk(problem, off, 2) - j2 - exact) < 1e-9
        assert abs(lp_regret(problem, off, 2) - exact) < 1e-9
        assert lp_regret(problem, off, 1) >= -1e-12


@pytest.mark.parametrize("p", [1, 1.2, 2, 3.7])
def test_claim_05_minimiser_of_every_power_beats_search(p):
    problem = FiniteProblem(np.column_stack([[0.3, 0.05, 0.2], [0.1, 0.3, 0.05]]))
    best = lp_minimizer(problem, p)(problem.x_values)
    for eta, value in zip(problem.posterior()[:, 1], best, strict=True):

        def cost(h, eta=eta):
            return eta * abs(1 - h) ** p + (1 - eta) * abs(h) ** p

        found = optimize.minimize_scalar(cost, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
        assert cost(value) <= found.fun + 1e-12
        if p > 1:
            assert abs(value - found.x) < 1e-5
    exact = problem.expect(lambda x, post: post[:, 1] * abs(1 - best) ** p + post[:, 0] * abs(best) ** p)
    assert abs(lp_bayes_risk(problem, p) - exact) < 1e-14


def test_claim_06_costs():
    problem = two_gaussians(m1=1.7, pi1=0.3)
    assert abs(bayes_risk_costs(problem, 1, 1, method="quad") - problem.bayes_risk()) < 1e-10
    for a, b in ((2.0, 1.0), (0.25, 3.0), (20.0, 1.0)):
        bayes = bayes_risk_costs(problem, a, b, method="quad")
        for s in (0.5, 7.0):
            assert abs(bayes_risk_costs(problem, s * a, s * b, method="quad") - s * bayes) < 1e-9
            np.testing.assert_allclose(
                problem.boundaries(cost_matrix(s * a, s * b)), problem.boundaries(cost_matrix(a, b)), rtol=1e-9
            )
        x = np.linspace(-4, 6, 501)
        by_ratio = likelihood_ratio_decision(stats.norm.logpdf(x), stats.norm.logpdf(x, 1.7), 0.3, a, b)
        np.testing.assert_array_equal(by_ratio, bayes_decision(problem.posterior(x), cost_matrix(a, b)))
        cut = (1.7**2 / 2 - np.log(0.3 * a / (0.7 * b))) / 1.7
        reference = a * 0.3 * stats.norm.cdf(cut - 1.7) + b * 0.7 * stats.norm.sf(cut)
        assert abs(bayes - reference) < 1e-9
    p1 = np.linspace(0, 1, 1001)
    post = np.column_stack([1 - p1, p1])
    for a, b in ((1, 1), (3, 1), (1, 7), (0.3, 0.2), (0, 1), (1, 0)):
        by_argmin = bayes_decision(post, cost_matrix(a, b), ties="last")
        by_threshold = cost_decision(p1, a, b)
        # Where both decisions cost the same up to rounding either is right.
        tie = np.abs(a * p1 - b * (1 - p1)) < 1e-12
        np.testing.assert_array_equal(by_argmin[~tie], by_threshold[~tie])
        assert (np.diff(by_threshold) >= 0).all() and p1[by_threshold == 1][0] >= b / (a + b) - 1e-15
        np.testing.assert_allclose(cost_risk(p1, a, b), bayes_conditional_risk(post, cost_matrix(a, b)), atol=1e-15)
    exact = np.arange(1025) / 1024
    for a, b in ((1, 1), (3, 1), (1, 7)):  # b/(a + b) and all products are exact here
        by_argmin = bayes_decision(np.column_stack([1 - exact, exact]), cost_matrix(a, b), ties="last")
        np.testing.assert_array_equal(by_argmin, cost_decision(exact, a, b))


def test_claim_07_reject_lemma_by_enumeration():
    rng = np.random.default_rng(3)
    for trial in range(12):
        k, m = (2, 3, 4)[trial % 3], int(rng.integers(2, 11))
        problem, loss = random_problem(rng, k, m), random_loss(rng, k)
        smallest = brute_risk(problem.posterior(), loss).min(axis=1)
        mass, risk_mass = problem.p_x, problem.p_x * smallest
        accept = np.array(list(itertools.product([0, 1], repeat=m)))
        coverage, accepted = accept @ mass, accept @ risk_mass
        cost = problem.p_x[:, None] * (problem.posterior() @ loss)
        arbitrary = (accept * cost[np.arange(m), rng.integers(0, k, size=(len(accept), m))]).sum(axis=1)
        values = np.unique(smallest)
        for t in np.concatenate([values, (values[1:] + values[:-1]) / 2, [0, 2 * values[-1]]]):
            tradeoff = problem.reject_tradeoff(t, loss)
            inside = smallest <= t
            assert abs(tradeoff.accepted_risk - risk_mass[inside].sum()) < 1e-14
            assert abs(tradeoff.coverage - mass[inside].sum()) < 1e-14
            rival = coverage >= tradeoff.coverage - 1e-12
            gain = t * (coverage[rival] - tradeoff.coverage)
            assert (accepted[rival] - tradeoff.accepted_risk >= gain - 1e-12).all()
            assert (gain >= -1e-11).all()
            assert (arbitrary[rival] >= tradeoff.accepted_risk - 1e-12).all()
            # g_t also minimises risk plus t for each rejection, among all accept sets.
            price = accepted + t * (1 - coverage)
            assert price.min() >= tradeoff.accepted_risk + t * tradeoff.reject_probability - 1e-12


def test_claim_08_reject_regions_are_nested():
    rng = np.random.default_rng(4)
    for k in (2, 3, 7):
        post, loss = rng.dirichlet(np.ones(k), size=500), random_loss(rng, k)
        thresholds = np.linspace(0, 2, 41)
        accepted = np.array([RejectRule(t, loss).accepts(post) for t in thresholds])
        assert (accepted[1:] >= accepted[:-1]).all() and accepted[0].sum() < accepted[-1].sum() == 500
        flat = np.vstack([post, np.full(k, 1 / k)])
        for t in ((k - 1) / k + 1e-12, 1.0, 50.0):
            assert RejectRule(t).accepts(flat).all()
        assert not RejectRule((k - 1) / k - 1e-9).accepts(flat)[-1]
        decision, risk = decide(post, loss)
        np.testing.assert_array_equal(RejectRule(risk.max(), loss)(post), decision)
        assert (RejectRule(np.nextafter(risk.max(), 0), loss)(post) == -1).sum() == 1


def test_claim_09_student_tradeoff():
    for c in (1.0, 50.0):
        problem = student(c)
        for t in (0.05, 0.2, 0.3, 0.4, 0.5):
            low, high = t / (1 - t), min(4, (1 - t) / t)
            reject = (high - low) / 4
            wrong_below, wrong_above = (lambda u: u / (1 + u)), (lambda u: 1 / (1 + u))
            accepted = (integrate.quad(wrong_below, 0, low)[0] + integrate.quad(wrong_above, high, 4)[0]) / 4
            for found in (student_tradeoff(t), problem.reject_tradeoff(t)):
                assert abs(found.reject_probability - reject) < 1e-8
                assert abs(found.accepted_risk - accepted) < 1e-8
    reported = {0.4: (0.208333, 0.212247, 0.268102), 0.3: (0.476190, 0.119340, 0.227832)}
    for t, figures in reported.items():
        found = student_tradeoff(t)
        np.testing.assert_allclose([*found, found.selective_risk], figures, atol=5e-7)
    assert student_tradeoff(0.5) == pytest.approx((0.0, student_bayes_risk()), abs=1e-15)
    assert student_tradeoff(0.9) == student_tradeoff(0.5)
    assert student_tradeoff(0.0) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("problem", "thresholds", "loss"),
    [
        (student(1.0), np.linspace(0.22, 0.48, 7), None),
        (two_gaussians(m1=1.5, pi1=0.4), np.linspace(0.05, 0.4, 5), None),
        (two_gaussians(0, 0.5, 1, 4), np.linspace(0.1, 0.6, 5), cost_matrix(3, 1)),
        (gaussian_classes([-2, 0, 2.5], [1, 0.5, 2], [0.3, 0.3, 0.4]), np.linspace(0.05, 0.4, 5), None),
    ],
)
def test_claim_10_slope_of_the_tradeoff_is_minus_t(problem, thresholds, loss):
    h = 1e-4
    for t in thresholds:
        up, down = problem.reject_tradeoff(t + h, loss), problem.reject_tradeoff(t - h, loss)
        slope = (up.accepted_risk - down.accepted_risk) / (up.reject_probability - down.reject_probability)
        assert abs(slope + t) < 1e-4
    t = np.array([student_tradeoff(s) for s in np.linspace(0.21, 0.49, 50)])
    slopes = np.diff(t[:, 1]) / np.diff(t[:, 0])
    assert (np.diff(slopes) < 0).all()  # convex: the slope -t rises with the reject rate


def test_claim_11_rejection_is_a_decision_with_a_price():
    rng = np.random.default_rng(5)
    for k in (2, 4):
        exact = dyadic_posteriors(rng, 100_000, k)
        loss = rng.integers(0, 8, size=(k, k)) / 4.0
        np.fill_diagonal(loss, 0)
        for L in (zero_one_matrix(k), loss):
            ties = 0
            for t in (0.0, 0.125, 0.25, 0.375, 0.5, 0.75):
                priced = bayes_decision(exact, augment_loss(L, t))
                rule = RejectRule(t, L)(exact)
                np.testing.assert_array_equal(np.where(priced == k, -1, priced), rule)
                on_edge = bayes_conditional_risk(exact, L) == t
                assert (rule[on_edge] >= 0).all()
                ties += on_edge.sum()
            assert ties > 100
        post = rng.dirichlet(np.ones(k), size=100_000)
        priced = bayes_decision(post, augment_loss(None, 0.3, n_classes=k))
        np.testing.assert_array_equal(np.where(priced == k, -1, priced), RejectRule(0.3)(post))


def test_claim_12_monte_carlo_meets_the_closed_form():
    for delta in (0.5, 2.0, 3.5):
        problem = two_gaussians(m1=delta)
        risk = problem.bayes_risk(method="mc", n_samples=50_000, random_state=7)
        assert abs(risk - stats.norm.cdf(-delta / 2)) < 4 * risk.error
        naive = np.sqrt(risk * (1 - risk) / 50_000)
        assert risk.error < 0.8 * naive  # the labels' own noise is gone
    problem = two_gaussians([0, 0, 0], [1, 1, 0], np.diag([1, 2, 0.5]), pi1=0.3)
    assert problem.bayes_risk().method == "exact"
    scores = []
    for seed in range(60):
        risk = problem.bayes_risk(method="mc", n_samples=1_000, random_state=seed)
        scores.append((risk - problem.bayes_risk()) / risk.error)
    # 60 standard scores: mean 0 +- 0.13, variance 1 +- 0.18, four of these allowed.
    assert abs(np.mean(scores)) < 0.52 and 0.3 < np.var(scores) < 1.75


def test_source_1_2_15_sums_over_the_truth():
    # As printed, pi_i f_i is constant in the sum and the rule picks a class of small own density.
    post, loss = np.array([[0.7, 0.2, 0.1]]), zero_one_matrix(3)
    joint = post[0]
    printed = [sum(loss[j, i] * joint[i] for j in range(3)) for i in range(3)]
    right = [sum(loss[j, i] * joint[j] for j in range(3)) for i in range(3)]
    assert np.argmin(printed) == 2 and np.argmin(right) == 0
    assert bayes_decision(post, loss).tolist() == [0]


def test_source_example_decides_for_the_larger_joint_mass():
    problem = FiniteProblem([[0.4, 0.1], [0.1, 0.4]])
    as_printed = [0 if row[0] < row[1] else 1 for row in problem.p_xy]
    assert problem.risk(np.array(as_printed)) > 0.79 and problem.bayes()[0].tolist() == [0, 1]
    assert abs(problem.bayes_risk() - 0.2) < 1e-15


def test_source_ties_differ_between_formulas_and_do_not_matter():
    half = [[0.5, 0.5]]
    assert bayes_decision(half, ties="first").tolist() == [0]  # (1.2.7)
    assert bayes_decision(half, ties="last").tolist() == [1]  # (1.2.13), (1.2.17)
    assert likelihood_ratio_decision([-1.0], [-1.0]).tolist() == cost_decision([0.5], 1, 1).tolist() == [1]
    assert conditional_risk(half)[0, 0] == conditional_risk(half)[0, 1]


@pytest.mark.parametrize("n", [0, 1, 2, 119, 120, 121, 240, 400])
@pytest.mark.parametrize(("k", "a"), [(1, 1), (2, 2), (2, 3), (3, 4), (7, 5)])
def test_conditional_risk_for_all_block_sizes(n, k, a):
    rng = np.random.default_rng(n + 10 * k)
    post, loss = rng.dirichlet(np.ones(k), size=n), rng.uniform(size=(k, a))
    expected = brute_risk(post.tolist(), loss.tolist()).reshape(n, a)
    risk = conditional_risk(post, loss)
    # Sums in the order j = 0, 1, ...: the same bits as plain Python.
    np.testing.assert_array_equal(risk, expected)
    decision, smallest = decide(post, loss)
    np.testing.assert_array_equal(smallest, expected.min(axis=1, initial=np.inf))
    np.testing.assert_array_equal(decision, expected.argmin(axis=1))
    np.testing.assert_array_equal(bayes_decision(post, loss), decision)
    np.testing.assert_array_equal(bayes_conditional_risk(post, loss), smallest)


@quick
@given(st.integers(1, 300), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_equal_rows_get_equal_bits(n, k, seed):
    rng = np.random.default_rng(seed)
    row, loss = rng.dirichlet(np.ones(k)), rng.uniform(size=(k, k))
    post = rng.dirichlet(np.ones(k), size=n)
    post[rng.integers(n)] = row
    where = (post == row).all(axis=1)
    alone = conditional_risk(row[None], loss)
    np.testing.assert_array_equal(conditional_risk(post, loss)[where], np.repeat(alone, where.sum(), axis=0))
    np.testing.assert_array_equal(bayes_conditional_risk(post, loss)[where], np.repeat(alone.min(), where.sum()))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.longdouble, ">f8", np.int8, bool])
def test_any_dtype_and_layout(dtype):
    rng = np.random.default_rng(6)
    post = np.eye(3)[rng.integers(0, 3, 50)] if np.dtype(dtype).kind in "ib" else rng.dirichlet(np.ones(3), size=50)
    post, loss = post.astype(dtype), random_loss(rng, 3)
    expected = post.astype(np.float64) @ loss
    wide = np.zeros((100, 6), dtype=dtype)
    wide[::2, ::2] = post
    for same in (post, np.asfortranarray(post), wide[::2, ::2], post[::-1, ::-1][::-1, ::-1], post.tolist()):
        tolerated = same if not isinstance(same, list) or np.dtype(dtype).itemsize > 4 else post
        np.testing.assert_allclose(conditional_risk(tolerated, loss), expected, rtol=1e-14)
        np.testing.assert_array_equal(bayes_decision(tolerated, loss), conditional_risk(post, loss).argmin(axis=1))
        assert RejectRule(5.0, loss)(tolerated).shape == (50,)
    assert error_reject_curve(post, loss).coverage[-1] == 1


def test_zero_one_forms():
    rng = np.random.default_rng(7)
    post = rng.dirichlet(np.ones(4), size=300)
    np.testing.assert_allclose(conditional_risk(post), 1 - post, atol=1e-15)
    np.testing.assert_array_equal(bayes_decision(post), post.argmax(axis=1))
    exact = dyadic_posteriors(rng, 4000, 3)
    for t in (0.0, 0.25, 0.5, 0.625, 0.75, 2.0):
        np.testing.assert_array_equal(zero_one_reject(exact, t), RejectRule(t)(exact))
    p1 = np.arange(1025) / 1024
    for c in (0.125, 0.25, 0.5):
        rule = RejectRule(0.5 - c, ties="last")(np.column_stack([1 - p1, p1]))
        np.testing.assert_array_equal(two_class_reject(p1, c), rule)
    assert two_class_reject([0.5, 0.25], 0).tolist() == [1, 0]


def test_ties():
    post = np.array([[0.5, 0.5, 0], [0.25, 0.375, 0.375], [0.5, 0, 0.5], [0.2, 0.5, 0.3]])
    assert bayes_decision(post).tolist() == [0, 1, 0, 1]
    assert bayes_decision(post, ties="last").tolist() == [1, 2, 2, 1]
    seen = []

    def coin(tied):
        seen.append(tied.tolist())
        return np.array([np.flatnonzero(row)[1] for row in tied])

    assert bayes_decision(post, ties=coin).tolist() == [1, 2, 2, 1]
    assert seen == [[[True, True, False], [False, True, True], [True, False, True]]]
    assert bayes_decision(post[3:], ties=coin).tolist() == [1] and len(seen) == 1
    for wrong in (lambda tied: np.full(len(tied), 2), lambda tied: [0], lambda tied: np.full(len(tied), -1)):
        with pytest.raises(ValueError, match="ties must return"):
            bayes_decision(post, ties=wrong)
    with pytest.raises(ValueError, match="ties must be"):
        bayes_decision(post, ties="middle")


def test_likelihood_ratio_far_below_the_smallest_float():
    assert likelihood_ratio_decision([-1e5], [-1e5 + 1], 0.3).tolist() == [1]
    assert likelihood_ratio_decision([-1e5], [-1e5 + 0.8], 0.3).tolist() == [0]  # ln(0.7/0.3) = 0.847
    assert likelihood_ratio_decision([-np.inf, 0.0], [0.0, -np.inf]).tolist() == [1, 0]
    assert likelihood_ratio_decision([0.0], [5.0], a=0.0).tolist() == [0]
    assert likelihood_ratio_decision([0.0], [-5.0], b=0.0).tolist() == [1]


def test_costs_by_name():
    costs = {("x", "y"): 2, ("y", "x"): 3, ("x", "z"): 1, ("z", "x"): 4, ("y", "z"): 5, ("z", "y"): 6, ("z", "z"): 0.5}
    np.testing.assert_array_equal(loss_from_costs(costs, ["x", "y", "z"]), [[0, 2, 1], [3, 0, 5], [4, 6, 0.5]])
    with pytest.raises(ValueError, match=r"\('b', 'a'\) is missing"):
        loss_from_costs({("a", "b"): 1}, ["a", "b"])
    with pytest.raises(ValueError, match=r"costs has the key \('a', 'q'\)"):
        loss_from_costs({("a", "q"): 1}, ["a", "b"])
    with pytest.raises(ValueError, match=r"costs\[\('a', 'b'\)\] must be a number"):
        loss_from_costs({("a", "b"): -1, ("b", "a"): 1}, ["a", "b"])
    assert cost_threshold(1e308, 1e308) == 0.5 and cost_threshold(0, 1) == 1 and cost_threshold(1, 0) == 0


POST = np.array([[0.5, 0.5], [0.25, 0.75]])
BAD_CALLS = {
    "post": [
        lambda f=f, bad=bad: f(bad)
        for f in (
            conditional_risk,
            bayes_decision,
            bayes_conditional_risk,
            error_reject_curve,
            RejectRule(0.1),
        )
        for bad in ([[0.5, 0.4]], [[1.5, -0.5]], [[np.nan, 1]], [0.5, 0.5], [[0.2, 0.8]] * 200 + [[0.5, 0.6]])
    ],
    "L": [
        lambda f=f, bad=bad: f(POST, bad)
        for f in (conditional_risk, bayes_decision, error_reject_curve)
        for bad in ([[0, 1, 1]] * 3, [[0, np.nan], [1, 0]], [[0, -1], [1, 0]], [0, 1])
    ]
    + [lambda: augment_loss(None, 0.1), lambda: augment_loss([[0, np.inf], [1, 0]], 0.1)],
    "t": [lambda t=t: RejectRule(t) for t in (-0.1, np.nan, np.inf, "0.1", None)]
    + [
        lambda: augment_loss(zero_one_matrix(2), -1),
        lambda: student_tradeoff(-0.1),
        lambda: error_reject_curve(POST).at(-0.5),
        lambda: error_reject_curve(POST).at([0.1, np.nan]),
    ],
    "reject_label": [lambda r=r: RejectRule(0.1, reject_label=r)(POST) for r in (0, 1, True, np.nan, "no")],
    "a": [lambda: cost_threshold(-1, 1), lambda: cost_matrix(np.nan, 1), lambda: cost_threshold(0, 0)],
    "b": [lambda: cost_threshold(1, -1), lambda: cost_matrix(1, "2")],
    "c": [lambda: student(0), lambda: student(-1)],
    "pi1": [lambda: two_gaussians(pi1=0)],
    "y": [
        lambda: error_reject_curve(POST, y=[0, 2]),
        lambda: error_reject_curve(POST, y=[0]),
        lambda: error_reject_curve(POST, y=[0, 1], true_post=POST),
    ],
    "true_post": [
        lambda: error_reject_curve(POST, true_post=POST[:1]),
        lambda: error_reject_curve(POST, true_post=[[0.5, 0.6], [0.5, 0.5]]),
        lambda: error_reject_curve(POST, true_post=np.ones((2, 3)) / 3),
    ],
    "weights": [lambda w=w: error_reject_curve(POST, weights=w) for w in ([1], [-1, 2], [0, 0], [np.nan, 1])],
    "coverage": [lambda c=c: coverage_threshold([0.1], c) for c in (0, 1.1, np.nan)]
    + [lambda: error_reject_curve(POST).threshold_for(0)],
    "risk": [lambda: coverage_threshold([], 0.5), lambda: coverage_threshold([np.nan], 0.5)],
    "n_classes": [lambda: zero_one_matrix(0), lambda: zero_one_matrix(2.5)],
    "p_xy": [
        lambda: FiniteProblem([[0.5, 0.4]]),
        lambda: FiniteProblem([[1.5, -0.5]]),
        lambda: FiniteProblem([[0.5, 0.5], [0, 0]]),
        lambda: FiniteProblem([0.5, 0.5]),
        lambda: FiniteProblem([[np.nan, 1]]),
    ],
    "x_values": [
        lambda: FiniteProblem([[0.5, 0.1], [0.2, 0.2]], x_values=[1, 1]),
        lambda: FiniteProblem([[0.5, 0.1], [0.2, 0.2]], x_values=[1]),
        lambda: FiniteProblem([[0.5, 0.1], [0.2, 0.2]], x_values=[1, np.nan]),
        lambda: FiniteProblem([[0.5, 0.1], [0.2, 0.2]], x_values=[[1, 2], [1, 2]]),
    ],
    "x": [
        lambda: five_point().posterior([6]),
        lambda: five_point().posterior([[1]]),
        lambda: height_weight().posterior([[170.5, 60]]),
        lambda: height_weight().cdf(1, [170.0]),
        lambda: FiniteProblem([[0.5, 0.1], [0.2, 0.2]], x_values=[[0, 0], [1, 1]]).posterior([[0, 1]]),
        lambda: student().posterior([5.0]),
        lambda: student().posterior([np.nan]),
        lambda: student().posterior([[1.0]]),
        lambda: two_gaussians().posterior([1e200]),
    ],
    "g": [
        lambda: five_point().risk([0, 1]),
        lambda: five_point().risk(lambda x: np.full(5, 2)),
        lambda: five_point().risk(lambda x: np.full(5, 0.5)),
        lambda: five_point().risk(np.full(5, -1)),
        lambda: student().risk(lambda x: 0),
    ],
    "h": [
        lambda: five_point().expect(lambda x, post: 1.0),
        lambda: five_point().expect(lambda x, post: np.full(5, np.nan)),
    ],
    "priors": [
        lambda: DensityProblem([stats.norm.logpdf] * 2, [0.5, 0.6]),
        lambda: DensityProblem([stats.norm.logpdf] * 2, [1.0]),
    ],
    "logpdfs": [
        lambda: DensityProblem([], []),
        lambda: DensityProblem([1, 2], [0.5, 0.5]),
        lambda: DensityProblem([lambda x: np.zeros(3), stats.norm.logpdf], [0.5, 0.5]).posterior([1.0]),
        lambda: DensityProblem([lambda x: x * np.nan, stats.norm.logpdf], [0.5, 0.5]).posterior([1.0]),
    ],
    "support": [
        lambda: DensityProblem([stats.norm.logpdf], [1.0], support=(1, 0)),
        lambda: DensityProblem([stats.norm.logpdf], [1.0], support=[(0, 1)] * 2),
    ],
    "box": [lambda: DensityProblem([stats.norm.logpdf], [1.0], box=(0, np.inf))],
    "dim": [lambda: DensityProblem([stats.norm.logpdf], [1.0], dim=0)],
    "sampler": [
        lambda: DensityProblem([stats.norm.logpdf] * 2, [0.5, 0.5], sampler=[None]),
        lambda: DensityProblem([stats.norm.logpdf], [1.0], sampler=lambda n, rng: np.zeros(n + 1)).sample(3),
        lambda: DensityProblem([lambda x: -x.sum(axis=1)], [1.0], dim=2, support=[(0, np.inf)] * 2).sample(3),
    ],
    "method": [
        lambda: student().bayes_risk(method="guess"),
        lambda: student().bayes_risk(method="quad", n_samples=3),
        lambda: student().bayes_risk([[0.5, 1], [1, 0]], method="exact"),
        lambda: student().bayes_risk(method="grid"),
        lambda: gaussian_classes(np.zeros((2, 3))).bayes_risk(method="quad"),
    ],
    "n_samples": [lambda: student().bayes_risk(method="mc", n_samples=1)],
    "n": [lambda: student().sample(-1), lambda: five_point().sample(2.5)],
    "means": [lambda: gaussian_classes([]), lambda: gaussian_classes(np.zeros((2, 2, 2)))],
    "covs": [
        lambda: gaussian_classes([[0, 0], [1, 1]], [[1, 2], [2, 1]]),
        lambda: gaussian_classes([[0, 0], [1, 1]], [[1, 0.5], [0, 1]]),
        lambda: gaussian_classes([[0, 0], [1, 1]], np.eye(3)),
    ],
    "m0": [lambda: two_gaussians([0, 0], [1, 1, 1])],
    "eta_values": [lambda: plateau([0.5, 1.5]), lambda: plateau([[0.5, 0.6]]), lambda: plateau([])],
    "edges": [lambda: plateau([0.1, 0.2], edges=[0, 0.5, 0.9]), lambda: plateau([0.1, 0.2], edges=[0, 1])],
    "delta": [lambda: gaussian_risk(0.0), lambda: gaussian_bayes_risk(-1)],
    "threshold": [lambda: gaussian_risk(1.0, threshold=1.5)],
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_input_is_named(name):
    for call in BAD_CALLS[name]:
        with pytest.raises(ValueError, match=rf"\b{name}\b"):
            call()


def curve_by_masks(risk, loss, weights):
    thresholds = np.unique(risk)
    total = weights.sum()
    coverage = np.array([weights[risk <= t].sum() / total for t in thresholds])
    accepted = np.array([(weights * loss)[risk <= t].sum() / total for t in thresholds])
    return thresholds, coverage, accepted


@pytest.mark.parametrize("mode", ["belief", "labels", "few losses", "truth"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@settings(max_examples=12, deadline=None, derandomize=True)
@given(n=st.integers(1, 60), k=st.integers(2, 5), seed=st.integers(0, 2**32 - 1))
def test_curve_agrees_with_masks(n, k, mode, weighted, tied, seed):
    rng = np.random.default_rng(seed)
    post = dyadic_posteriors(rng, n, k, 8) if tied else rng.dirichlet(np.ones(k), size=n)
    L = rng.integers(0, 4, size=(k, k)) * 1.0 if mode == "few losses" else random_loss(rng, k)
    weights = rng.integers(0, 3, size=n) * 1.0 if weighted else None
    if weighted and weights.max() == 0:
        weights[0] = 1
    risks = conditional_risk(post, L)
    decision, risk = risks.argmin(axis=1), risks.min(axis=1)
    arguments = {}
    loss = risk
    if mode in ("labels", "few losses"):
        arguments["y"] = rng.integers(0, k, size=n)
        loss = L[arguments["y"], decision]
    elif mode == "truth":
        arguments["true_post"] = rng.dirichlet(np.ones(k), size=n)
        loss = conditional_risk(arguments["true_post"], L)[np.arange(n), decision]
    curve = error_reject_curve(post, L, weights=weights, **arguments)
    mass = np.ones(n) if weights is None else weights
    thresholds, coverage, accepted = curve_by_masks(risk[mass > 0], loss[mass > 0], mass[mass > 0])
    np.testing.assert_array_equal(curve.threshold, thresholds)
    np.testing.assert_allclose(curve.coverage, coverage, atol=1e-14)
    np.testing.assert_allclose(curve.accepted_risk, accepted, atol=1e-14)
    np.testing.assert_allclose(curve.selective_risk, accepted / coverage, atol=1e-13)
    np.testing.assert_allclose(curve.reject_probability, 1 - coverage, atol=1e-14)
    assert curve.coverage[-1] == 1
    # Area: E is linear in the coverage between steps, where equal risks are rejected at random.
    c, e = np.append(0, coverage), np.append(0, accepted)
    fine = np.concatenate([np.linspace(a, b, 400)[1:] for a, b in itertools.pairwise(c)])
    first = e[1] / c[1] * fine[0]  # before the first fine point the selective risk is constant
    area = first + integrate.trapezoid(np.interp(fine, c, e) / fine, fine)
    assert abs(curve.area - area) < 2e-4 * max(1, curve.area)


def test_curve_reads_as_a_step_function():
    curve = error_reject_curve([[0.9, 0.1], [0.6, 0.4], [0.25, 0.75], [0.1, 0.9]])
    below, at, between = curve.at(0.05), curve.at(0.1), curve.at(0.2)
    assert below == (1.0, 0.0) and np.isnan(below.selective_risk) and below.coverage == 0
    assert at == between == (0.5, pytest.approx(0.05))
    many = curve.at([0.0, 0.1, 0.3, 9.0])
    np.testing.assert_allclose(many.reject_probability, [1, 0.5, 0.25, 0])
    np.testing.assert_allclose(many.coverage, [0, 0.5, 0.75, 1])
    assert np.isnan(many.selective_risk[0]) and many.selective_risk[3] == pytest.approx(0.2125)
    assert [curve.threshold_for(c) for c in (0.01, 0.5, 0.51, 0.75, 1)] == [0.1, 0.1, 0.25, 0.25, 0.4]
    flat = error_reject_curve([[0.5, 0.5]] * 7)
    assert flat.threshold.tolist() == [0.5] and flat.area == 0.5


def test_curve_sums_are_compensated():
    # 10^6 equal-mass risks of 0.1 and one of 0.4: a plain running sum is off by 1e-12 here.
    p = np.full(1_000_001, 0.1)
    p[0] = 0.4
    curve = error_reject_curve(np.column_stack([1 - p, p]))
    exact = (Fraction(0.1) * 1_000_000 + Fraction(0.4)) / 1_000_001
    assert abs(Fraction(curve.accepted_risk[-1]) - exact) < Fraction(1, 10**16)


def test_curve_of_a_problem_and_of_its_sample():
    problem = five_point()
    curve = problem.error_reject_curve()
    # Risks 1/5, 2/5, 2/5, 1/5, 0 at the five points, each of mass 1/5.
    np.testing.assert_allclose(curve.threshold, [0, 0.2, 0.4], atol=1e-15)
    np.testing.assert_allclose(curve.coverage, [0.2, 0.6, 1], atol=1e-15)
    np.testing.assert_allclose(curve.accepted_risk, [0, 2 / 25, 6 / 25], atol=1e-15)
    hours = student(2.0)
    x, y = hours.sample(100_000, 9)
    ts = np.linspace(0.05, 0.5, 10)
    exact = student_tradeoff(ts)
    believed = error_reject_curve(hours.posterior(x)).at(ts)
    observed = error_reject_curve(hours.posterior(x), y=y).at(ts)
    for found in (believed, observed):  # four standard errors of a proportion of 10^5
        np.testing.assert_allclose(found.reject_probability, exact.reject_probability, atol=4 * 0.5 / np.sqrt(1e5))
        np.testing.assert_allclose(found.accepted_risk, exact.accepted_risk, atol=4 * 0.5 / np.sqrt(1e5))


def test_plug_in_curve_lies_above_the_oracle():
    hours = student(1.0)
    x_fit, y_fit = hours.sample(500, 10)
    model = LogisticRegression().fit(np.log(x_fit[:, None]), y_fit)
    x, _ = hours.sample(20_000, 11)
    oracle = error_reject_curve(hours.posterior(x))
    plug_in = error_reject_curve(model.predict_proba(np.log(x[:, None])), true_post=hours.posterior(x))
    at_least = np.interp(plug_in.coverage, oracle.coverage, oracle.accepted_risk)
    assert (plug_in.accepted_risk >= at_least - 1e-12).all()
    assert plug_in.area > oracle.area
    assert (np.diff(oracle.accepted_risk) >= 0).all()
    slopes = np.diff(oracle.accepted_risk) / np.diff(oracle.coverage)
    assert (np.diff(slopes) > -1e-9).all()  # convex in the coverage


@quick
@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.4]), min_size=1, max_size=25), st.floats(1e-6, 1))
def test_coverage_threshold_is_the_smallest_that_suffices(risks, coverage):
    t = coverage_threshold(risks, coverage)
    risks = np.array(risks)
    assert t in risks and (risks <= t).mean() >= coverage
    assert (risks < t).mean() < coverage


def test_coverage_threshold_is_not_fooled_by_rounding():
    risks = np.arange(100) / 1000
    assert 0.07 * 100 > 7
    for m in range(1, 101):
        assert coverage_threshold(risks, m / 100) == risks[m - 1]


def test_reject_rule_sentinels():
    post = [[0.9, 0.1], [0.5, 0.5]]
    assert RejectRule(0.2, reject_label=9)(post).tolist() == [0, 9]
    silent = RejectRule(0.2, reject_label=None)(post)
    assert silent.dtype == np.dtype(object) and silent.tolist() == [0, None]
    with pytest.raises(ValueError, match="is one of the classes"):
        RejectRule(0.2, [[0, 1, 1], [1, 0, 1]], reject_label=2)(post)


def test_finite_problem_with_vectors():
    problem = height_weight()
    assert problem.x_values.shape == (71 * 91, 2) and problem.priors == pytest.approx([0.5, 0.5], abs=1e-12)
    rng = np.random.default_rng(12)
    order = rng.permutation(len(problem.x_values))[:200]
    np.testing.assert_array_equal(problem.posterior(problem.x_values[order]), problem.posterior()[order])
    for y, x in (((0, (170, 60.5))), (1, (np.inf, 55)), (1, (139, 200)), (0.5, (300, 300))):
        inside = (problem.x_values <= x).all(axis=1)
        expected = problem.p_xy[inside][:, : int(np.floor(y)) + 1].sum()
        assert abs(problem.cdf(y, x) - expected) < 1e-14
    both = problem.cdf([[0], [1]], [[170, 60], [200, 100]])
    assert both.shape == (2, 2) and both[1, 1] == pytest.approx(problem.cdf(1, [200, 100]))


@pytest.mark.parametrize(
    ("j", "mean", "cov"), [(0, (178, 78), [[49, 28], [28, 100]]), (1, (165, 65), [[42, 22], [22, 81]])]
)
def test_height_weight_is_the_rounded_gaussian(j, mean, cov):
    problem = height_weight()
    x = np.rint(np.random.default_rng(13).multivariate_normal(mean, cov, size=200_000))
    x = x[((x >= (140, 40)) & (x <= (210, 130))).all(axis=1)]
    bins = [np.linspace(139.5, 210.5, 11), np.linspace(39.5, 130.5, 11)]
    observed, *_ = np.histogram2d(*x.T, bins=bins)
    expected, *_ = np.histogram2d(*problem.x_values.T, bins=bins, weights=2 * problem.p_xy[:, j])
    expected *= len(x)
    big = expected > 50
    statistic = ((observed - expected)[big] ** 2 / expected[big]).sum()
    assert big.sum() > 30 and stats.chi2.sf(statistic, big.sum()) > 1e-3
    # One row of the table by the distribution function of the height; the cut moves it a little.
    centre = np.diff(stats.norm.cdf([177.5, 178.5], mean[0], np.sqrt(cov[0][0])))[0]
    assert abs(2 * problem.p_xy.reshape(71, 91, 2)[38, :, j].sum() - centre) < 1e-4
    assert problem.p_xy.min() > 0


def test_finite_sample_has_the_right_frequencies():
    problem = FiniteProblem([[0.3, 0.1], [0.2, 0.15], [0.05, 0.2]], x_values=[5, 7, 11])
    x, y = problem.sample(60_000, 14)
    counts = confusion_matrix(x, 5 + 2 * y, labels=[5, 7, 11])[:, :2]  # classes 0, 1 coded as 5, 7
    expected = problem.p_xy * 60_000
    assert stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), 5) > 1e-3
    again, _ = problem.sample(60_000, np.random.default_rng(14))
    np.testing.assert_array_equal(x, again)
    with pytest.raises(ValueError, match="takes no"):
        problem.bayes_risk(method="mc")
    with pytest.raises(ValueError, match="class 1 has probability 0"):
        _ = FiniteProblem([[1.0, 0.0]]).class_conditional


def test_reject_tradeoff_of_any_rule():
    rng = np.random.default_rng(15)
    problem, loss = random_problem(rng, 3, 8), random_loss(rng, 3)
    rule = rng.integers(-1, 3, size=8)
    found = problem.reject_tradeoff(rule, loss)
    cost = problem.p_xy @ loss
    assert abs(found.reject_probability - problem.p_x[rule < 0].sum()) < 1e-15
    assert abs(found.accepted_risk - sum(cost[m, g] for m, g in enumerate(rule) if g >= 0)) < 1e-15
    gauss = two_gaussians()
    by_rule = gauss.reject_tradeoff(lambda x: np.where(x < 0.5, 0, np.where(x > 1.5, 1, -1)))
    assert by_rule.reject_probability == pytest.approx((stats.norm.cdf(1.5) - stats.norm.cdf(0.5)), abs=1e-10)
    assert by_rule.accepted_risk == pytest.approx(stats.norm.cdf(-1.5), abs=1e-10)


def test_estimate_is_a_number_with_an_error():
    value = two_gaussians().bayes_risk(method="mc", n_samples=1000, random_state=0)
    again = pickle.loads(pickle.dumps(value))
    assert again == value and again.error == value.error > 0 and again.method == "mc"
    assert isinstance(value, float) and f"{value:.3f}" == f"{float(value):.3f}" and "±" in repr(value)
    assert Estimate(0.25).error == 0


def test_posterior_in_the_far_tails():
    problem = DensityProblem.from_scipy([stats.norm(0, 1), stats.norm(1, 1)], [0.5, 0.5])
    x = np.array([-447.0, 0.5, 447.0])  # log-densities down to -1e5
    assert problem.log_joint(x).min() < -9.9e4
    np.testing.assert_allclose(problem.posterior(x), [[1, 0], [0.5, 0.5], [0, 1]], atol=1e-12)
    log_odds = np.diff(problem.log_joint([30.0, 30.5]), axis=1).ravel()
    np.testing.assert_allclose(log_odds, [29.5, 30.0], rtol=1e-12)  # x - 1/2
    wide = DensityProblem([lambda x: -1e5 - x, lambda x: -1e5 - 2 * x], [0.25, 0.75], support=(0, np.inf))
    np.testing.assert_allclose(wide.posterior([0.0, 1.0])[:, 1], [0.75, 0.75 / (0.75 + 0.25 * np.e)], rtol=1e-12)


def test_zero_density_is_an_error():
    problem = DensityProblem.from_pdfs([lambda x: (x < 1) * 1.0, lambda x: (x > 2) * 1.0], [0.5, 0.5], support=(0, 3))
    assert problem.posterior([0.5, 2.5]).tolist() == [[1, 0], [0, 1]]
    for x in (1.5, -1.0, 4.0):
        with pytest.raises(ValueError, match="x has density 0 in every class at row 1"):
            problem.posterior([0.5, x])
    assert problem.bayes_risk() == 0 and problem.boundaries() == pytest.approx([2.0])


STEEP = np.log(integrate.quad(lambda x: np.exp(x**26 - x**28), -2, 2, epsabs=1e-12)[0])
BETA_CUT = 0.5 - np.sqrt(0.25 - np.pi**-2)
GAUSS_CUT = np.sqrt(np.log(3) * 9 / 4)
HARD_LINES = {
    # One density inside the other: x^2 (1/2 - 1/18) = ln 3 at the two crossings.
    "nested": (
        two_gaussians(0, 0, 1, 9),
        [-GAUSS_CUT, GAUSS_CUT],
        stats.norm.sf(GAUSS_CUT) + 0.5 - stats.norm.sf(GAUSS_CUT / 3),
    ),
    "heavy tails": (DensityProblem([stats.cauchy(0).logpdf, stats.cauchy(2).logpdf], [0.5, 0.5]), [1.0], 0.25),
    "infinite at both ends": (
        DensityProblem([stats.beta(0.5, 0.5).logpdf, stats.uniform.logpdf], [0.5, 0.5], support=(0, 1)),
        [BETA_CUT, 1 - BETA_CUT],
        BETA_CUT + 0.5 - stats.beta(0.5, 0.5).cdf(BETA_CUT),
    ),
    # Tails without a mean: x^-1.5 / 4 = x^-2 / 2 at x = 4.
    "pareto": (DensityProblem.from_scipy([stats.pareto(0.5), stats.pareto(1.0)], [0.5, 0.5]), [4.0], 0.375),
    "jumps": (
        DensityProblem.from_scipy([stats.uniform(0, 2), stats.uniform(1, 2), stats.uniform(2.5, 4.5)], [0.3, 0.3, 0.4]),
        [2.0, 3.0],
        0.15 + 0.5 * 0.4 / 4.5,
    ),
    "half line": (
        DensityProblem.from_scipy([stats.expon(), stats.gamma(3)], [0.5, 0.5]),
        [np.sqrt(2)],
        stats.expon.sf(np.sqrt(2)) / 2 + stats.gamma(3).cdf(np.sqrt(2)) / 2,
    ),
    "far apart": (two_gaussians(0, 40, pi1=0.3), [20 + np.log(0.7 / 0.3) / 40], gaussian_bayes_risk(40, 0.3)),
    "hardly apart": (two_gaussians(0, 1e-3, pi1=0.5), [5e-4], stats.norm.cdf(-5e-4)),
    # Nobody says where to look: a thousandth wide, twelve thousand from the origin.
    "needle": (
        DensityProblem(two_gaussians(12_345.678, 12_345.68, 1e-6).logpdfs, [0.5, 0.5]),
        [12_345.679],
        stats.norm.cdf(-1),
    ),
    # Far out this log-density is inf - inf.
    "overflow": (
        DensityProblem([lambda x: x**26 - x**28 - STEEP, stats.norm(1, 0.5).logpdf], [1.0, 0.0]),
        [],
        0.0,
    ),
}


@pytest.mark.parametrize("case", HARD_LINES)
def test_quadrature_on_hard_lines(case):
    problem, boundaries, risk = HARD_LINES[case]
    np.testing.assert_allclose(problem.boundaries(), boundaries, rtol=1e-9, atol=1e-10)
    found = problem.bayes_risk(method="quad")
    # The needle is blurred by the spacing of numbers near 12,345: 2e-12, a billionth of its width.
    assert found == pytest.approx(risk, rel=1e-9, abs=1e-9 if case == "needle" else 1e-14)
    assert found.error < 1e-10


def test_quadrature_with_a_class_between_two_others():
    # The middle class wins on an interval so short that a grid sees only its neighbours there.
    problem = gaussian_classes([0, 1, 2], [1, 1e-8, 1])
    cuts = problem.boundaries()
    z = np.linspace(-9, 11, 2_000_001)
    assert len(cuts) == 2 and 0.999 < cuts[0] < 1 < cuts[1] < 1.001
    for side in cuts:
        joint = problem.joint_density([side])[0]
        assert abs(joint[1] - max(joint[0], joint[2])) < 1e-9
    edges = (
        np.concatenate([z[z < cuts[0]], cuts[:1]]),
        np.linspace(*cuts, 20_001),
        np.concatenate([cuts[1:], z[z > cuts[1]]]),
    )
    best = sum(integrate.simpson(problem.joint_density(e).max(axis=1), x=e) for e in edges)
    assert abs(problem.bayes_risk() - (1 - best)) < 1e-7
    loss = random_loss(np.random.default_rng(16), 3, 4)
    decisions = bayes_decision(problem.posterior(z[::10]), loss)
    changes = z[::10][1:][np.diff(decisions) != 0]
    assert all(np.abs(problem.boundaries(loss) - c).min() < 2e-4 for c in changes)


def test_risk_of_classifiers_with_many_changes():
    problem = two_gaussians(m1=1.0, pi1=0.4)
    stripes = np.sort(np.random.default_rng(17).normal(0.5, 2, size=301))

    def g(x):
        return np.searchsorted(stripes, x) % 2

    ones = [np.diff(law.cdf(np.append(stripes, np.inf)))[::2].sum() for law in (stats.norm, stats.norm(1))]
    expected = 0.6 * ones[0] + 0.4 * (1 - ones[1])
    assert abs(problem.risk(g, points=stripes) - expected) < 1e-10
    assert abs(problem.risk(g) - expected) < 1e-4  # two stripes closer than the grid go unseen
    costly = problem.risk(g, cost_matrix(3, 2), points=stripes)
    assert abs(costly - (1.2 * ones[0] + 1.2 * (1 - ones[1]))) < 1e-10
    sampled = problem.risk(g, method="mc", n_samples=20_000, random_state=18)
    assert abs(sampled - expected) < 4 * sampled.error
    assert problem.risk(problem.bayes_classifier()) == pytest.approx(problem.bayes_risk(), abs=1e-10)


def test_ties_over_a_whole_region_do_not_disturb():
    same = DensityProblem([stats.norm.logpdf, lambda x: -0.5 * (x * x + np.log(2 * np.pi))], [0.5, 0.5])
    assert same.bayes_risk() == pytest.approx(0.5, abs=1e-12)
    assert same.boundaries().size == 0
    assert same.reject_tradeoff(0.4) == pytest.approx((1, 0), abs=1e-12)


def test_mass_that_was_missed_or_miscounted_is_reported():
    half = DensityProblem([lambda x: stats.norm.logpdf(x) - np.log(2), stats.norm(1).logpdf], [0.5, 0.5])
    with pytest.raises(ValueError, match=r"logpdfs\[0\] integrates to 0\.5"):
        half.bayes_risk()
    nowhere = DensityProblem([lambda x: np.where(np.abs(x - np.pi * 1e5) < 1e-9, 20.0, -np.inf)], [1.0])
    with pytest.raises(ValueError, match=r"-inf at every trial point.*points"):
        nowhere.bayes_risk()
    found = DensityProblem(
        [lambda x: np.where(np.abs(x - np.pi * 1e5) < 0.5, 0.0, -np.inf), stats.norm(np.pi * 1e5).logpdf],
        [0.5, 0.5],
        points=[np.pi * 1e5],
    )
    assert found.bayes_risk() == pytest.approx((stats.norm.cdf(0.5) - 0.5), abs=1e-9)
    wrong_priors = DensityProblem.from_posterior(
        lambda x: np.column_stack([1 - x, x]), [0.6, 0.4], np.zeros_like, support=(0, 1)
    )
    with pytest.raises(ValueError, match="integrates to"):
        wrong_priors.bayes_risk()
    outside = two_gaussians([0, 0], [1, 0], np.eye(2))
    outside.box = np.array([[-1.0, 1.0], [-1.0, 1.0]])
    with pytest.raises(ValueError, match="larger `box`"):
        outside.bayes_risk(method="grid")


@pytest.mark.parametrize(
    ("problem", "exact"),
    [
        (two_gaussians([0, 0], [2, 0], np.eye(2)), stats.norm.cdf(-1)),
        (two_gaussians([0, 0], [1, 1.7], [[1, 0.3], [0.3, 2]], pi1=0.2), None),
        (gaussian_classes([[-4 / np.sqrt(2)] * 2, [0, 0], [4 / np.sqrt(2)] * 2]), 4 / 3 * stats.norm.cdf(-2)),
    ],
)
def test_grid_keeps_its_stated_accuracy(problem, exact):
    exact = problem.bayes_risk(method="exact") if exact is None else exact
    found = problem.bayes_risk(method="grid")
    assert found.method == "grid" and found.error <= 1e-7
    assert abs(found - exact) <= found.error
    rough = problem.bayes_risk(method="grid", tol=1e-4)
    assert abs(rough - exact) <= rough.error <= 1e-4
    assert problem.bayes_risk(method="mc", n_samples=20_000, random_state=19) == pytest.approx(exact, abs=0.01)


def test_grid_and_monte_carlo_agree_on_rejection():
    problem = two_gaussians([0, 0], [1, 1], np.eye(2), [[2, 0.5], [0.5, 1]], pi1=0.3)
    loss = cost_matrix(2, 1)
    exact = problem.reject_tradeoff(0.25, loss, tol=1e-4)
    sampled = problem.reject_tradeoff(0.25, loss, method="mc", n_samples=40_000, random_state=20)
    for a, b in zip(exact, sampled, strict=True):
        assert a.method == "grid" and abs(a - b) < 4 * b.error + a.error


def test_monte_carlo_in_batches_is_one_average(monkeypatch):
    monkeypatch.setattr("learnable.problems.density._BATCH", 7)
    found = student(1.0).bayes_risk(method="mc", n_samples=1_000, random_state=5)
    u = np.random.default_rng(5).uniform(0, 4, 1_000)  # the same stream, in one draw
    values = np.minimum(u, 1) / (1 + u)
    assert found == pytest.approx(values.mean(), rel=1e-12)
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(1_000), rel=1e-12)


def test_monte_carlo_needs_little_memory():
    problem = gaussian_classes(np.arange(10.0))
    problem.bayes_risk(method="mc", n_samples=1000, random_state=0)
    tracemalloc.start()
    problem.bayes_risk(method="mc", n_samples=500_000, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500_000 * 10 * 8  # one table of all posteriors would take 40 MB, and several are in use
    batches = problem.bayes_risk(method="mc", n_samples=200_000, random_state=0)
    assert batches == pytest.approx(problem.bayes_risk(method="quad"), abs=4 * batches.error)


@pytest.mark.parametrize(
    "problem",
    [
        two_gaussians(0, 1, 1, 4, pi1=0.3),
        DensityProblem([stats.norm.logpdf, stats.norm(1, 2).logpdf], [0.7, 0.3]),
        DensityProblem(
            [stats.norm.logpdf, stats.norm(1, 2).logpdf],
            [0.7, 0.3],
            sampler=two_gaussians(0, 1, 1, 4, pi1=0.3)._sample_x,
        ),
    ],
    ids=["by class", "by inversion", "by the law of x"],
)
def test_samples_follow_the_law(problem):
    x, y = problem.sample(40_000, 21)
    assert abs(y.mean() - 0.3) < 4 * np.sqrt(0.21 / 40_000)
    for j, law in enumerate((stats.norm, stats.norm(1, 2))):
        assert stats.kstest(x[y == j], law.cdf).pvalue > 1e-3
    np.testing.assert_array_equal(x, problem.sample(40_000, np.random.default_rng(21))[0])
    assert problem.sample(0)[0].shape == (0,)


def test_sampling_by_inversion_is_accurate():
    class Ladder:
        def random(self, n):
            return (np.arange(n) + 0.5) / n

    for law in (stats.norm(3, 0.2), stats.cauchy, stats.beta(0.5, 2), stats.expon):
        draw = DensityProblem([law.logpdf], [1.0], support=law.support())._class_samplers[0]
        u = (np.arange(10_001) + 0.5) / 10_001
        assert np.abs(law.cdf(draw(10_001, Ladder())) - u).max() < 1e-6


def test_plateau_is_exact_for_every_loss():
    rng = np.random.default_rng(22)
    eta, edges = rng.dirichlet(np.ones(3), size=6), np.concatenate([[0], np.sort(rng.random(5)), [1]])
    problem, loss = plateau(eta, edges), random_loss(rng, 3, 4)
    exact = sum(w * min(row @ loss) for w, row in zip(np.diff(edges), eta, strict=True))
    assert problem.bayes_risk(loss) == pytest.approx(exact, abs=1e-14)
    assert problem.bayes_risk(loss, method="quad") == pytest.approx(exact, abs=1e-10)
    noisy = plateau([0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1])
    assert noisy.bayes_risk() == pytest.approx(0.1, abs=1e-15)
    np.testing.assert_allclose(noisy.boundaries(), np.arange(1, 7) / 7, rtol=1e-12)
    assert noisy.posterior([1 / 7, 1.0])[:, 1] == pytest.approx([0.9, 0.1])  # a cell contains its left end
    x, y = noisy.sample(20_000, 23)
    assert abs((y != np.floor(x * 7).astype(int) % 2).mean() - 0.1) < 4 * 0.3 / np.sqrt(20_000)
    assert plateau([0.2]).bayes_risk() == pytest.approx(0.2) and plateau([0.0, 1.0]).bayes_risk(method="quad") == 0


def test_gaussian_closed_forms():
    for delta, pi1, a, b in ((2.0, 0.5, 1, 1), (2.0, 0.2, 20, 1), (0.7, 0.6, 1, 3), (3.0, 0.9, 0.1, 1)):
        problem = two_gaussians(m1=delta, pi1=pi1)
        tau = np.log(a * pi1 / (b * (1 - pi1)))
        formula = a * pi1 * stats.norm.cdf(-delta / 2 - tau / delta) + b * (1 - pi1) * stats.norm.cdf(
            -delta / 2 + tau / delta
        )
        assert gaussian_bayes_risk(delta, pi1, a, b) == pytest.approx(formula, rel=1e-12)
        assert problem.bayes_risk(cost_matrix(a, b), method="quad") == pytest.approx(formula, rel=1e-9)
        assert problem.bayes_risk(cost_matrix(a, b)).method == "exact"

        def rule(x, problem=problem):
            return (problem.posterior(x)[:, 1] >= 0.35).astype(int)

        assert problem.risk(rule, cost_matrix(a, b)) == pytest.approx(gaussian_risk(delta, pi1, a, b, 0.35), rel=1e-8)
    assert gaussian_bayes_risk(0, 0.3, 2, 1) == 0.6 and gaussian_bayes_risk(2.0) == pytest.approx(stats.norm.cdf(-1))
    assert two_gaussians(m1=0, pi1=0.3).bayes_risk() == pytest.approx(0.3)
    correlated = two_gaussians([0, 0], [1, 2], [[2, 0.6], [0.6, 1]])
    delta = np.sqrt(np.array([1, 2]) @ np.linalg.inv([[2, 0.6], [0.6, 1]]) @ [1, 2])
    assert correlated.bayes_risk() == pytest.approx(stats.norm.cdf(-delta / 2), rel=1e-12)
    unequal = cost_matrix(1, 1) + np.array([[0.2, 0], [0, 0.1]])  # no closed form: integrated
    assert two_gaussians().bayes_risk(unequal).method == "quad"


def test_waste_of_the_one_half_rule_grows_with_the_cost_ratio():
    ratios = np.geomspace(1 / 20, 20, 41)
    best = np.array([gaussian_bayes_risk(2.0, 0.2, a, 1.0) for a in ratios])
    waste = gaussian_risk(2.0, 0.2, ratios, 1.0) / best
    assert waste[20] == pytest.approx(1, abs=1e-12) and (waste > 1 - 1e-12).all()
    assert (np.diff(waste[20:]) > 0).all() and (np.diff(waste[:21]) < 0).all()


def test_student_with_costs():
    for a, b in ((1, 1), (2, 1), (1, 3), (1, 9), (0, 1), (1, 0)):
        value = student(3.0).bayes_risk(cost_matrix(a, b), method="quad")
        assert student_bayes_risk(a, b) == pytest.approx(value, abs=1e-10)
        assert student(3.0).bayes_risk(cost_matrix(a, b)).method == "exact"


def test_selective_error_falls_on_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    full, selective = [], []
    for seed in range(12):
        X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_fit, y_fit)
        curve = error_reject_curve(model.predict_proba(X_test), y=y_test)
        full.append(curve.accepted_risk[-1])
        selective.append(curve.at(curve.threshold_for(0.9)).selective_risk)
    assert np.mean(selective) <= np.mean(full) / 2


def test_benchmark_harness(tmp_path, monkeypatch):
    from benchmarks import harness

    monkeypatch.setattr(harness, "SECONDS", 0.0)
    monkeypatch.setattr(harness, "threadpool_limits", lambda limits: None)
    work = np.arange(300_000.0)
    bench = harness.Benchmark("some_chapter", argv=["--output", str(tmp_path)])
    for n in bench.sizes([200, 100]):
        bench.compare(
            "sum",
            size=n,
            ours=lambda n=n: work[:n].sum(),
            peers={"slow": lambda n=n: (work * 1.0).sum() * 0 + work[:n].sum()},
            accuracy=lambda ours, peer: f"equal to {abs(ours - peer):.0e}",
        )
    result = json.loads(bench.finish().read_text())
    assert [row["size"] for row in result["rows"]] == [100, 200] and result["machine"]["threads"] == 1
    row = result["rows"][0]
    assert row["ratio"] > 3 and row["accuracy"] == "equal to 0e+00" and row["turns"] == harness.TURNS[0]
    assert row["ratio"] == pytest.approx(row["peer_seconds"] / row["ours_seconds"], rel=1e-2)
    assert set(result["versions"]) >= {"python", "numpy", "numba"} and result["machine"]["cpu"]
    smoke = harness.Benchmark("some_chapter", argv=["--smoke", "--output", str(tmp_path / "no")])
    assert smoke.sizes([5, 3, 4]) == [3]
    with pytest.raises(ValueError, match="compared nothing"):
        smoke.finish()

    def disagree(ours, peer):
        assert ours == peer, "different"

    with pytest.raises(AssertionError, match="different"):
        smoke.compare("x", size=1, ours=lambda: 1, peers={"p": lambda: 2}, accuracy=disagree)
    smoke.compare("x", size=1, ours=lambda: 1, peers={"p": lambda: 1}, accuracy=disagree)
    assert smoke.finish() is None and not (tmp_path / "no").exists()
