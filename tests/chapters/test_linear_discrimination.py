"""Linear discrimination against brute force, mixed-integer programmes, scikit-learn and closed forms."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import expit
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from learnable.chapters.linear_discrimination.theory import (
    _moments,
    best_halfplane,
    best_split,
    best_split_population,
    constant_model_scores,
    four_point,
    four_point_flip,
    four_point_population,
    linear_gaussian_risk,
    linear_gaussian_rule,
    masking3,
    moment_bound,
    scatter,
    two_class_ols,
    two_model_logistic,
    weighted_sample,
)
from learnable.features.socp.moments import ClassMoments, fisher_direction
from learnable.linear import (
    FingeringClassifier,
    FisherLDA,
    GaussianBayes,
    HalfspaceERM2D,
    LeastSquaresClassifier,
    LogisticDiscriminant,
    MomentBoundClassifier,
    SigmoidRiskClassifier,
    SplitERM,
    linear_separation,
)
from learnable.linear.gaussian import _discriminants, _factor
from learnable.linear.moments import Split, halfspace_bounds, max_J, moment_split, separation_J
from learnable.linear.rules import Hyperplane
from learnable.problems.base import FiniteProblem
from learnable.problems.density import DensityProblem
from learnable.problems.zoo import plateau


def middle_third():
    """X uniform on [0, 1], Y = 0 on the middle third: R* = 0, but the best split has risk 1/3."""
    return plateau([1.0, 0.0, 1.0], edges=[0.0, 1 / 3, 2 / 3, 1.0])


def fisher_criterion(w, m0, m1, SW):
    """J'(w) = (w'(m1 − m0))² / (w'S_W w); with equal covariances it is 4 J(w)²."""
    m0, m1, w, SW = _moments(m0, m1, w, within=SW)
    return float((w @ (m1 - m0)) ** 2 / (w @ SW @ w))


def random_covariance(rng, d, scale=1.0):
    A = rng.normal(size=(d, d + 2))
    return scale * A @ A.T / d


def step_cdf(values, p):
    below = np.append(0.0, np.cumsum(p))
    return lambda t: below[np.searchsorted(values, t, side="right")]


def milp_halfspace(X, y):
    """Fewest errors of a halfspace by a mixed-integer programme with big-M constraints, solved by HiGHS."""
    n, d = X.shape
    Z = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(n)]) * np.where(y == 1, 1.0, -1.0)[:, None]
    big = 1e3
    # s_i z_i'b >= 1 - M e_i with |b| <= 100 and e_i in {0, 1}.
    A = np.hstack([Z, big * np.eye(n)])
    answer = optimize.milp(
        np.concatenate([np.zeros(d + 1), np.ones(n)]),
        constraints=optimize.LinearConstraint(A, 1.0, np.inf),
        integrality=np.concatenate([np.zeros(d + 1), np.ones(n)]),
        bounds=optimize.Bounds(
            np.concatenate([np.full(d + 1, -100.0), np.zeros(n)]), np.concatenate([np.full(d + 1, 100.0), np.ones(n)])
        ),
        options={"time_limit": 60},
    )
    assert answer.status == 0
    return round(answer.fun)


def brute_halfplane(X, y):
    """Fewest errors over all directions between critical ones, each with the best cut."""
    best = min(y.sum(), len(y) - y.sum())
    angles = [math.atan2(d[0], -d[1]) % math.pi for a, b in itertools.combinations(X, 2) if (d := b - a).any()]
    angles = np.unique(np.round(angles, 10))
    if len(angles) == 0:
        return best
    for a in np.append(0.5 * (angles[1:] + angles[:-1]), 0.5 * (angles[-1] + angles[0] + math.pi)):
        z = np.round(X @ [math.cos(a), math.sin(a)], 9)
        for t in [-np.inf, *z]:
            wrong = np.sum((z > t) != y)
            best = min(best, wrong, len(y) - wrong)
    return best


def best_linear_risk(points, p_xy):
    """Exact smallest risk of a halfspace on few atoms: every dichotomy, feasibility by linear programming."""
    m, d = points.shape
    Z = np.column_stack([points, np.ones(m)])
    best = 1.0
    for labels in itertools.product((0, 1), repeat=m):
        risk = sum(p_xy[i, 1 - label] for i, label in enumerate(labels))
        if risk < best:
            sign = np.where(np.array(labels) == 1, 1.0, -1.0)[:, None]
            answer = optimize.linprog(
                np.zeros(d + 1), A_ub=-sign * Z, b_ub=-np.ones(m), bounds=[(None, None)] * (d + 1), method="highs"
            )
            best = risk if answer.status == 0 else best
    return best


def test_hyperplane_geometry():
    rng = np.random.default_rng(0)
    plane = Hyperplane(rng.normal(size=4), 0.7)
    x = rng.normal(size=(50, 4))
    foot = plane.project(x)
    assert np.abs(foot @ plane.w + plane.w0).max() < 1e-12
    np.testing.assert_allclose(np.linalg.norm(x - foot, axis=1), plane.distance(x), rtol=1e-12)
    unit = plane.normalise()
    assert np.linalg.norm(unit.w) == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(unit.signed(x), plane.signed(x), rtol=1e-12)
    assert (plane.predict(x) == (x @ plane.w + plane.w0 >= 0)).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 10_000))
def test_claim_01_scatter_decomposition(k, d, seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.choice(k, size=60, p=rng.dirichlet(np.full(k, 0.5)))])
    X = rng.normal(size=(len(y), d)) * 10 + rng.normal(size=(k, d))[y] * 5 + 100
    parts = scatter(X, y)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(parts.total, centred.T @ centred, rtol=1e-10, atol=1e-10 * np.abs(centred).max() ** 2)
    np.testing.assert_allclose(
        parts.cov_within + parts.cov_between, np.cov(X.T, bias=True).reshape(d, d), rtol=1e-9, atol=1e-9
    )
    for i in range(k):
        np.testing.assert_allclose(parts.means[i], X[y == i].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(
            parts.covariances[i], np.cov(X[y == i].T, bias=True).reshape(d, d), rtol=1e-8, atol=1e-9
        )
    if k == 2:
        (n0, n1), delta = parts.counts, parts.means[1] - parts.means[0]
        np.testing.assert_allclose(parts.between, n0 * n1 / len(y) * np.outer(delta, delta), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            parts.cov_between, np.prod(parts.priors) * np.outer(delta, delta), rtol=1e-9, atol=1e-9
        )


def test_scatter_weights_are_repetitions():
    rng = np.random.default_rng(1)
    X, y, times = rng.normal(size=(20, 3)), np.arange(20) % 3, rng.integers(1, 4, 20)
    a, b = scatter(X, y, times), scatter(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(a.within, b.within, rtol=1e-12)
    np.testing.assert_allclose(a.between, b.between, rtol=1e-12)


def test_claim_02_best_split_between_bayes_and_prior():
    rng = np.random.default_rng(2)
    for _ in range(40):
        pi1 = rng.uniform(0.05, 0.95)
        values = np.sort(rng.choice(np.arange(12), size=6, replace=False)).astype(float)
        p0, p1 = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
        split, risk = best_split_population(step_cdf(values, p0), step_cdf(values, p1), pi1, grid=values)
        bayes = np.minimum(pi1 * p1, (1 - pi1) * p0).sum()
        assert bayes - 1e-12 <= risk <= min(pi1, 1 - pi1) + 1e-12
        says = split.predict(values)
        assert risk == pytest.approx(pi1 * p1[says == 0].sum() + (1 - pi1) * p0[says == 1].sum(), abs=1e-12)
        brute = min(
            min(e, 1 - e)
            for t in [-1.0, *values]
            for e in [pi1 * p1[values <= t].sum() + (1 - pi1) * p0[values > t].sum()]
        )
        assert risk == pytest.approx(brute, abs=1e-12)
        m, s, pi1 = rng.normal(0, 2), rng.uniform(0.3, 3), rng.uniform(0.1, 0.9)
        f0, f1 = stats.norm(0, 1), stats.norm(m, s)
        split, risk = best_split_population(f0.cdf, f1.cdf, pi1, grid=np.linspace(-20, 20, 4001))
        x = np.linspace(-30, 30, 60_001)
        bayes = np.minimum(pi1 * f1.pdf(x), (1 - pi1) * f0.pdf(x)).sum() * (x[1] - x[0])
        assert bayes - 1e-6 <= risk <= min(pi1, 1 - pi1) + 1e-12
        assert split.risk(f0.cdf, f1.cdf, pi1) == pytest.approx(risk, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_claim_03_moment_bound_holds_for_every_direction(d):
    rng = np.random.default_rng(3 + d)
    for _ in range(6):
        points = rng.normal(size=(6, d)) * rng.uniform(0.5, 3)
        p_xy = rng.dirichlet(np.full(12, 0.6)).reshape(6, 2)
        best = best_linear_risk(points, p_xy)
        priors = p_xy.sum(axis=0)
        m0, m1 = (p_xy / priors).T @ points
        S0, S1 = (((points - m).T * p_xy[:, i] / priors[i]) @ (points - m) for i, m in ((0, m0), (1, m1)))
        for w in rng.normal(size=(50, d)):
            assert best <= moment_bound(m0, m1, S0, S1, w=w) + 1e-12
        assert best <= moment_bound(m0, m1, S0, S1) + 1e-12
        if d == 1:
            split = moment_split(m0[0], m1[0], S0[0, 0] ** 0.5, S1[0, 0] ** 0.5)
            says = split.predict(points[:, 0])
            risk = p_xy[says == 0, 1].sum() + p_xy[says == 1, 0].sum()
            assert best - 1e-12 <= risk <= moment_bound(m0, m1, S0, S1) + 1e-12


def test_claim_04_middle_third():
    problem = middle_third()
    assert float(problem.bayes_risk()) == pytest.approx(0, abs=1e-12)

    def F0(t):
        return np.clip(3 * np.asarray(t) - 1, 0, 1)

    def F1(t):
        return 1.5 * (np.clip(t, 0, 1) - F0(t) / 3)

    _, risk = best_split_population(F0, F1, 2 / 3, grid=np.linspace(0, 1, 301))
    assert risk == pytest.approx(1 / 3, abs=1e-9)
    assert moment_bound(0.5, 0.5, 1 / 108, 13 / 108) == 1.0
    x, y = problem.sample(200_000, np.random.default_rng(0))
    parts = scatter(np.reshape(x, (-1, 1)), y)
    assert np.abs(parts.means - 0.5).max() < 0.005


def test_claim_05_fisher_direction_and_max_J():
    rng = np.random.default_rng(5)
    for d in (2, 3, 6):
        S0, S1 = random_covariance(rng, d), random_covariance(rng, d, 3.0)
        m0, m1, pi1 = rng.normal(size=d), rng.normal(size=d), 0.3
        SW = (1 - pi1) * S0 + pi1 * S1
        w = fisher_direction(ClassMoments.from_covariances(m1, pi1 * S1, m0, (1 - pi1) * S0)).w
        directions = rng.normal(size=(10_000, d))
        values = (directions @ (m1 - m0)) ** 2 / np.einsum("ij,jk,ik->i", directions, SW, directions)
        assert fisher_criterion(w, m0, m1, SW) >= values.max()
        SB = pi1 * (1 - pi1) * np.outer(m1 - m0, m1 - m0)
        assert fisher_criterion(w, m0, m1, SW) == pytest.approx(w @ SB @ w / (w @ SW @ w) / (pi1 * (1 - pi1)))
        for v in directions[:20]:
            assert fisher_criterion(v, m0, m1, S0) == pytest.approx(4 * separation_J(v, m0, m1, S0, S0) ** 2)
        w, J = max_J(m0, m1, S0, S1)
        free = max(
            -optimize.minimize(
                lambda v, *law: -separation_J(v, *law), v, (m0, m1, S0, S1), method="BFGS", options={"gtol": 1e-10}
            ).fun
            for v in (m1 - m0, w + 0.1 * rng.normal(size=d))
        )
        assert abs(J - free) < 1e-8
        assert np.linalg.norm(w) == pytest.approx(1)


def test_claim_06_equal_covariance_gaussians():
    rng = np.random.default_rng(6)
    S = random_covariance(rng, 3)
    m0, m1, pi1 = rng.normal(size=3), rng.normal(size=3), 0.7
    w, w0 = linear_gaussian_rule(m0, m1, S, pi1)
    X = rng.normal(size=(100_000, 3)) * 2
    direct = pi1 * stats.multivariate_normal(m1, S).pdf(X) > (1 - pi1) * stats.multivariate_normal(m0, S).pdf(X)
    assert ((X @ w + w0 > 0) == direct).all()
    delta = math.sqrt((m1 - m0) @ np.linalg.solve(S, m1 - m0))
    tau = math.log(pi1 / (1 - pi1))
    Phi = stats.norm.cdf
    expected = pi1 * Phi(-delta / 2 - tau / delta) + (1 - pi1) * Phi(-delta / 2 + tau / delta)
    assert linear_gaussian_risk(w, w0, m0, m1, S, pi1=pi1) == pytest.approx(expected, rel=1e-12)
    scores = _discriminants(X[:500], np.array([m0, m1]), [_factor(S, i) for i in (0, 1)], np.array([1 - pi1, pi1]))
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], X[:500] @ w + w0, atol=1e-9)


def test_fisher_matches_scikit_learn_for_many_classes():
    X, y = load_wine(return_X_y=True)
    ours = FisherLDA().fit(X, y)
    peer = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert (ours.predict(X) == peer.predict(X)).all()
    mine, theirs = ours.transform(X), peer.transform(X)
    for j in range(2):
        assert abs(np.corrcoef(mine[:, j], theirs[:, j])[0, 1]) == pytest.approx(1, abs=1e-9)
    assert ours.criterion_[0] >= ours.criterion_[1] > 0
    ratios = [scatter(mine[:, [j]], y) for j in range(2)]
    np.testing.assert_allclose([r.between.item() / r.within.item() for r in ratios], ours.criterion_, rtol=1e-8)
    singular = np.column_stack([X[:, :2], X[:, 0]])
    with pytest.raises(ValueError, match="singular"):
        GaussianBayes().fit(singular, y)
    assert np.isfinite(FisherLDA().fit(singular, y).coef_).all()


def test_claim_08_least_squares_is_fisher_with_another_threshold():
    rng = np.random.default_rng(8)
    for d in (1, 3, 6):
        X = rng.normal(size=(120, d)) @ rng.normal(size=(d, d))
        y = (rng.random(120) < 0.3).astype(int)
        X[y == 1] += rng.normal(size=d)
        ols, lda, parts = LeastSquaresClassifier().fit(X, y), FisherLDA().fit(X, y), scatter(X, y)
        a, b = ols.coef_[0], lda.coef_[0]
        assert a @ b / np.linalg.norm(a) / np.linalg.norm(b) == pytest.approx(1, abs=1e-10)
        closed = two_class_ols(parts.priors[1], *parts.means, parts.cov_within)
        np.testing.assert_allclose(closed.w, a, rtol=1e-8)
        assert closed.a == pytest.approx(ols.a_[1], rel=1e-8)
        q, delta = np.prod(parts.priors), parts.means[1] - parts.means[0]
        other = q * (1 - q * delta @ np.linalg.solve(parts.cov_total, delta))
        assert closed.alpha == pytest.approx(other, rel=1e-8) and closed.alpha > 0
        np.testing.assert_allclose(a, q * np.linalg.solve(parts.cov_total, delta), rtol=1e-8)
        np.testing.assert_allclose(b, len(y) * np.linalg.solve(parts.within, delta), rtol=1e-8)
    even = two_class_ols(0.5, 0.0, 2.0, 1.0)
    assert (0.5 - even.a) / even.w[0] == pytest.approx(1.0)
    fit = two_class_ols(0.9, 0.0, 2.0, 1.0)
    assert (0.5 - fit.a) / fit.w[0] == pytest.approx(-1.2222, abs=5e-5)
    assert linear_gaussian_risk(fit.w, fit.a - 0.5, 0.0, 2.0, 1.0, pi1=0.9) == pytest.approx(0.08949, abs=5e-6)
    w, w0 = linear_gaussian_rule(0.0, 2.0, 1.0, 0.9)
    assert -w0 / w[0] == pytest.approx(-0.0986, abs=5e-5)
    assert linear_gaussian_risk(w, w0, 0.0, 2.0, 1.0, pi1=0.9) == pytest.approx(0.07006, abs=5e-6)


def test_claim_09_likelihood_prefers_the_worse_of_two_models():
    problem = two_model_logistic()
    g, risk = problem.bayes()
    assert g.tolist() == [0, 1] and float(risk) == pytest.approx(1 / 3)
    scores = constant_model_scores(problem, [0.45, 0.95])
    np.testing.assert_allclose(scores.risk, [5 / 9, 4 / 9])
    np.testing.assert_allclose(scores.loglik, [-0.70932, -1.35993], atol=5e-6)
    np.testing.assert_allclose(scores.squared, [0.25806, 0.40250], atol=6e-6)


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.2])
def test_claim_10_four_points_least_squares(eps):
    flip = four_point_flip(eps)
    for m in (0.5 * (1 + flip) if flip > 1 else 1.5, 1.01 * flip + 1, 3 * flip + 5):
        answer = four_point_population(eps, m)
        X, y, weights = weighted_sample(four_point(eps, m))
        assert weights @ X[:, 0] == pytest.approx(0, abs=1e-12)
        rule = LeastSquaresClassifier().fit(X, y, weights)
        assert rule.w_[1, 0] == pytest.approx(answer.w_ols, rel=1e-9)
        assert rule.a_[1] == pytest.approx(0.5)
        assert (answer.w_ols < 0) == (m > flip)
        risk = weights[rule.predict(X) != y].sum()
        assert risk == pytest.approx(answer.risk_ols) == pytest.approx(1 - 2 * eps if m > flip else 2 * eps)
        assert (
            answer.best
            == pytest.approx(min(2 * eps, 0.5 - eps))
            == pytest.approx(SplitERM().fit(X, y, weights).train_error_)
        )
    gaps = [(a := four_point_population(e, 10 / e)).risk_ols - a.best for e in (0.1, 0.01, 0.001)]
    assert gaps == sorted(gaps) and gaps[-1] > 0.99


@pytest.mark.parametrize("eps", [0.01, 0.1])
def test_claim_11_four_points_logistic(eps):
    flip = four_point_flip(eps)
    for m in (0.9 * flip, 1.1 * flip, 1000.0):
        answer = four_point_population(eps, m)
        X, y, weights = weighted_sample(four_point(eps, m))
        rule = LogisticDiscriminant(tol=1e-12).fit(X, y, weights)
        assert rule.coef_.item() == pytest.approx(answer.w_logistic, rel=1e-6)
        assert rule.intercept_.item() == pytest.approx(0, abs=1e-8)
        w = answer.w_logistic
        assert eps * m * expit(m * w) * (1 + math.exp(w)) == pytest.approx(0.5 - eps, rel=1e-9)
        assert np.sign(w) == np.sign(answer.w_ols) == np.sign(flip - m)
        assert answer.risk_logistic == pytest.approx(1 - 2 * eps if m > flip else 2 * eps)


def test_claim_12_common_factor_gives_linear_log_odds():
    """Densities u(x) e^{−A(x − m)²/2} with any common factor u: the log-odds of the posterior are linear in x."""
    A, means = 1.7, (-0.4, 1.1)
    grid = np.linspace(-30, 30, 200_001)

    def log_density(m):
        def shape(x):
            return -np.log1p(np.abs(x) ** 4) - 0.5 * A * (x - m) ** 2

        total = np.log(np.exp(shape(grid)).sum() * (grid[1] - grid[0]))
        return lambda x: shape(x) - total

    problem = DensityProblem([log_density(m) for m in means], [0.3, 0.7])
    x = np.linspace(-3, 3, 7)
    posterior = problem.posterior(x)
    odds = np.log(posterior[:, 1] / posterior[:, 0])
    np.testing.assert_allclose(np.diff(odds), A * (means[1] - means[0]) * np.diff(x), rtol=1e-9)


def test_claim_13_fingering_is_within_d_errors_of_the_optimum():
    rng = np.random.default_rng(13)
    for d, n in ((1, 60), (2, 40), (3, 22)):
        X = rng.normal(size=(n, d))
        y = (X[:, 0] + 1.2 * rng.normal(size=n) > 0).astype(int)
        rule = FingeringClassifier(max_hyperplanes=None).fit(X, y)
        assert rule.n_hyperplanes_ == math.comb(n, d)
        exact = {1: lambda X, y: best_split(X[:, 0], y)[1], 2: lambda X, y: best_halfplane(X, y)[2]}.get(
            d, milp_halfspace
        )(X, y)
        assert exact <= round(rule.train_error_ * n) <= exact + d
        assert np.mean(rule.predict(X) != y) == rule.train_error_
    some = FingeringClassifier(max_hyperplanes=100, random_state=1).fit(X, y)
    assert some.n_hyperplanes_ == 100 and some.train_error_ >= rule.train_error_


def test_claim_14_error_minimisation_is_consistent_where_least_squares_is_not():
    rng = np.random.default_rng(14)
    eps, m = 0.05, 40.0
    problem = four_point(eps, m)
    atoms = problem.x_values[:, None]
    truth = problem.p_xy.argmax(axis=1)
    x, y = problem.sample(2000, rng)
    risks = {}
    for rule in (SplitERM(), LeastSquaresClassifier()):
        says = rule.fit(np.reshape(x, (-1, 1)), y).predict(atoms)
        risks[type(rule).__name__] = problem.p_x[says != truth].sum()
    assert risks["SplitERM"] == pytest.approx(2 * eps)
    assert risks["LeastSquaresClassifier"] == pytest.approx(1 - 2 * eps)
    excess = []
    for n in (30, 300, 3000):
        y = rng.integers(0, 2, (40, n))
        x = rng.normal(size=(40, n)) + 2 * y
        splits = [best_split(a, b)[0] for a, b in zip(x, y, strict=True)]
        excess.append(np.mean([s.risk(stats.norm(0).cdf, stats.norm(2).cdf, 0.5) for s in splits]) - stats.norm.cdf(-1))
    # Cube-root convergence: each factor 10 in n divides the excess by about 4.6; half of that is safely beyond noise.
    assert excess[0] > 2.3 * excess[1] > 2.3**2 * excess[2] > 0


def test_claim_15_likelihood_settles_on_its_favourite():
    problem = two_model_logistic()
    rng = np.random.default_rng(15)
    shares = []
    for n in (10, 100, 1000):
        ones = rng.binomial(n, problem.priors[1], 2000)
        loglik = [ones * math.log(e) + (n - ones) * math.log(1 - e) for e in (0.45, 0.95)]
        shares.append(np.mean(loglik[0] > loglik[1]))
    exact = [
        sum(
            stats.binom.pmf(j, n, 5 / 9)
            for j in range(n + 1)
            if j * math.log(0.45 / 0.95) + (n - j) * math.log(0.55 / 0.05) > 0
        )
        for n in (10, 100, 1000)
    ]
    # Four standard errors of 2,000 repetitions.
    np.testing.assert_allclose(shares, exact, atol=4 * 0.5 / math.sqrt(2000))
    assert exact[0] < exact[1] < exact[2] + 1e-12 and shares[2] == 1.0


def test_claim_16_least_squares_converges_at_root_n():
    rng = np.random.default_rng(16)
    limit = two_class_ols(0.9, 0.0, 2.0, 1.0)
    spread, gap = [], []
    for n in (200, 3200):
        slopes, risks = [], []
        for _ in range(150):
            y = (rng.random(n) < 0.9).astype(int)
            x = rng.normal(size=n) + 2 * y
            rule = LeastSquaresClassifier().fit(x[:, None], y)
            slopes.append(rule.coef_.item())
            risks.append(linear_gaussian_risk(rule.coef_[0], rule.intercept_[0], 0.0, 2.0, 1.0, pi1=0.9))
        spread.append(np.sqrt(np.mean((np.array(slopes) - limit.w[0]) ** 2)))
        gap.append(np.mean(np.abs(np.array(risks) - 0.08949)))
    # 16 times the data: a quarter of the error; 150 repetitions leave about 8 percent of noise in each.
    assert 3 < spread[0] / spread[1] < 5.3
    assert 3 < gap[0] / gap[1] < 5.5


def test_masking():
    rng = np.random.default_rng(17)
    problem = masking3()
    X, y = problem.sample(3000, rng)
    T, t = problem.sample(30_000, rng)
    ols, lda = LeastSquaresClassifier().fit(X, y), FisherLDA().fit(X, y)
    logistic = LogisticDiscriminant().fit(X, y)
    bayes = 4 / 3 * stats.norm.cdf(-2)
    assert np.mean(ols.predict(T) == 1) < 0.02 and np.mean(ols.predict(T) != t) > 0.3
    for rule in (lda, logistic):
        assert np.mean(rule.predict(T) != t) == pytest.approx(bayes, abs=0.005)
    X, y = load_iris(return_X_y=True)
    petal = X[:, [2]]
    assert np.sum(LeastSquaresClassifier().fit(petal, y).predict(petal) == 1) == 0
    assert 40 < np.sum(FisherLDA().fit(petal, y).predict(petal) == 1) < 60


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.sampled_from(["continuous", "lattice", "tenths", "line"]), st.integers(0, 10_000))
def test_halfplane_equals_brute_force(n, kind, seed):
    rng = np.random.default_rng(seed)
    X = {
        "continuous": lambda: rng.normal(size=(n, 2)),
        "lattice": lambda: rng.integers(0, 4, (n, 2)).astype(float),
        "tenths": lambda: 0.1 * rng.integers(0, 5, (n, 2)),
        "line": lambda: np.outer(rng.integers(0, 6, n), [0.3, 0.7]) + [0.1, 0.2],
    }[kind]()
    y = rng.integers(0, 2, n)
    w, w0, error = best_halfplane(X, y)
    assert error == np.sum((X @ w + w0 >= 0) != y) == brute_halfplane(X, y)


def test_halfplane_equals_mixed_integer_programme():
    rng = np.random.default_rng(60)
    X = rng.normal(size=(60, 2))
    y = (X @ [1.0, 0.5] + 0.7 * rng.normal(size=60) > 0).astype(int)
    assert best_halfplane(X, y)[2] == milp_halfspace(X, y) > 0


def test_halfplane_weights_and_offsets():
    rng = np.random.default_rng(61)
    X, y, times = rng.normal(size=(25, 2)), rng.integers(0, 2, 25), rng.integers(1, 5, 25)
    error = best_halfplane(X, y, times)[2]
    assert error == best_halfplane(np.repeat(X, times, axis=0), np.repeat(y, times))[2]
    assert best_halfplane(1e-3 * X + 5, y, times)[2] == error
    rule = HalfspaceERM2D(features=(2, 0)).fit(np.column_stack([X[:, 1], np.zeros(25), X[:, 0]]), y)
    assert rule.train_error_ * 25 == best_halfplane(X, y)[2]
    assert best_halfplane([[1.0, 1.0]] * 3, [0, 1, 1])[2] == 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=12))
def test_split_equals_brute_force(pairs):
    x, y = np.array(pairs, float).T
    split, error = best_split(x, y.astype(int))
    wrong = [np.sum((x > t) != y) for t in [-1.0, *x]]
    assert error == np.sum(split.predict(x) != y) == min(min(wrong), len(y) - max(wrong))


def test_sigmoid_risk_reaches_the_exact_minimum_on_four_points():
    X, y, weights = weighted_sample(four_point(0.01, 100.0))
    rule = SigmoidRiskClassifier().fit(X, y, weights)
    assert rule.train_error_ == pytest.approx(0.02)
    assert weights[rule.predict(X) != y].sum() == pytest.approx(0.02)
    rng = np.random.default_rng(18)
    Z = rng.normal(size=(150, 2))
    t = (Z[:, 0] + rng.normal(size=150) > 0).astype(int)
    exact, smooth = HalfspaceERM2D().fit(Z, t).train_error_, SigmoidRiskClassifier().fit(Z, t).train_error_
    assert exact - 1e-12 <= smooth <= exact + 4 / 150


def test_fisher_thresholds():
    rng = np.random.default_rng(23)
    X = rng.normal(size=(300, 2))
    y = (rng.random(300) < 0.8).astype(int)
    X[y == 1] += [1.5, 0.5]
    parts = scatter(X, y)
    w = np.linalg.solve(parts.cov_within, parts.means[1] - parts.means[0])
    middle = w @ parts.means.mean(axis=0)
    for final, cut in (("midpoint", middle), ("gaussian", middle - math.log(parts.counts[1] / parts.counts[0]))):
        rule = FisherLDA(final=final).fit(X, y)
        assert -rule.intercept_[0] == pytest.approx(cut)
    errors = {
        final: np.mean(FisherLDA(final=final).fit(X, y).predict(X) != y) for final in ("midpoint", "gaussian", "erm")
    }
    assert errors["erm"] <= min(errors.values())
    assert errors["erm"] * 300 == pytest.approx(best_split(X @ w, y)[1])


def test_moment_bound_never_crosses_gaussian_risk():
    for delta in np.linspace(0.1, 6, 20):
        assert stats.norm.cdf(-delta / 2) < moment_bound([0.0, 0.0], [delta, 0.0], np.eye(2), np.eye(2)) < 1


def test_ties_go_to_class_one_on_the_boundary_and_to_class_zero_among_constants():
    assert Hyperplane([1.0, 1.0], -1.0).predict([[0.5, 0.5], [0.0, 0.0]]).tolist() == [1, 0]
    assert SplitERM().fit([[-1.0], [1.0]], ["a", "b"]).predict([[0.0]]).tolist() == ["b"]
    assert best_split([1.0, 1.0], [0, 1]) == (Split(np.inf, 0), 1.0)
    assert best_split([1.0, 2.0, 3.0], [0, 1, 0]) == (Split(np.inf, 0), 1.0)
    assert best_split([1.0, 2.0, 4.0], [1, 0, 0]) == (Split(1.5, 1), 0.0)
    assert best_halfplane([[1.0, 1.0]] * 3, [0, 1, 1])[1] == 1.0 and best_halfplane([[0.0, 0.0]] * 3, [0, 0, 1])[1] < 0
    assert constant_model_scores(two_model_logistic(), [0.5]).risk.item() == pytest.approx(4 / 9)
    assert best_split_population(stats.norm.cdf, stats.norm.cdf, 0.7, grid=[0.0]) == (
        Split(np.inf, 1),
        pytest.approx(0.3),
    )


def test_symmetric_solves_where_the_matrix_is_nearly_or_quite_singular():
    from learnable.linear.rules import solve_symmetric

    # Singular but for rounding: the answer of least norm, not one blown up by a tiny pivot.
    np.testing.assert_allclose(
        solve_symmetric(np.array([[1.0, 1.0], [1.0, 1 + 4e-15]]), np.array([1.0, 1.0])), [0.5, 0.5], atol=1e-6
    )
    # Singular, and with a small eigenvalue that counts.
    C = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.01]])
    S = C @ C.T
    B = S @ np.array([1.0, -2.0, 30.0])
    np.testing.assert_allclose(S @ solve_symmetric(S, B), B, rtol=1e-9)


def test_best_split_population_refines_the_grid():
    split, risk = best_split_population(stats.norm(0).cdf, stats.norm(2).cdf, 0.5, grid=[-4.0, -1.0, 2.5, 6.0])
    assert split.threshold == pytest.approx(1.0, abs=1e-6) and risk == pytest.approx(stats.norm.cdf(-1), abs=1e-12)


def test_linear_gaussian_risk_with_two_covariances_and_constant_rules():
    rng = np.random.default_rng(27)
    S0, S1, m1 = np.diag([1.0, 4.0]), np.array([[9.0, 1.0], [1.0, 2.0]]), np.array([2.0, 1.0])
    w, w0, pi1 = np.array([1.0, -0.5]), -0.3, 0.3
    exact = linear_gaussian_risk(w, w0, [0.0, 0.0], m1, S0, S1, pi1)
    z0 = rng.multivariate_normal([0, 0], S0, 200_000) @ w + w0
    z1 = rng.multivariate_normal(m1, S1, 200_000) @ w + w0
    # Four standard errors of 200,000 draws.
    assert exact == pytest.approx(0.7 * np.mean(z0 >= 0) + 0.3 * np.mean(z1 < 0), abs=4 * 0.5 / math.sqrt(200_000))
    assert linear_gaussian_risk([0.0], 1.0, 0.0, 1.0, 1.0, pi1=0.3) == pytest.approx(0.7)
    assert linear_gaussian_risk([0.0], -1.0, 0.0, 1.0, 1.0, pi1=0.3) == pytest.approx(0.3)


def test_gaussian_shrinkage_formula():
    X, y = load_iris(return_X_y=True)
    s, parts = 0.4, scatter(X, y)
    target = (1 - s) * parts.cov_within + s * np.trace(parts.cov_within) / 4 * np.eye(4)
    np.testing.assert_allclose(GaussianBayes(equal_cov=True, shrinkage=s).fit(X, y).covariances_[1], target, rtol=1e-12)
    quadratic = GaussianBayes(shrinkage=s).fit(X, y)
    np.testing.assert_allclose(quadratic.covariances_, (1 - s) * parts.covariances + s * target, rtol=1e-12)


def test_fisher_coordinates_are_centred_and_signed():
    X, y = load_wine(return_X_y=True)
    rule = FisherLDA().fit(X, y)
    assert np.abs(rule.transform(X).mean(axis=0)).max() < 1e-9
    leading = np.abs(rule.scalings_).argmax(axis=0)
    assert (rule.scalings_[leading, [0, 1]] > 0).all()
    np.testing.assert_allclose(scatter(rule.transform(X), y).cov_within, np.eye(2), atol=1e-8)
    equal = FisherLDA(final="midpoint").fit(X, y)
    np.testing.assert_allclose(rule.intercept_ - equal.intercept_, np.log(np.bincount(y) / len(y)), rtol=1e-9)


def test_four_points_inside_one_and_at_the_flip():
    for eps, m in ((0.1, 0.5), (0.3, 0.2), (0.4, 0.7)):
        X, y, weights = weighted_sample(four_point(eps, m))
        assert four_point_population(eps, m).best == pytest.approx(SplitERM().fit(X, y, weights).train_error_)
    flip = four_point_population(0.125, 3.0)
    assert flip.w_ols == 0 and flip.risk_ols == 0.5
    assert float(masking3().bayes_risk()) == pytest.approx(4 / 3 * stats.norm.cdf(-2), rel=1e-4)


def test_halfplane_resolves_fine_detail_and_leaves_room():
    rng = np.random.default_rng(31)
    for _ in range(5):
        X, y = 1e-4 * rng.normal(size=(12, 2)), rng.integers(0, 2, 12)
        X[0] = [1.0, 0.7]
        assert best_halfplane(X, y)[2] == brute_halfplane(X, y)
    X = np.array([[0.0, 0.0], [0.0, 1.0], [0.1, 0.5], [3.0, 0.0], [3.0, 1.0], [2.9, 0.5]])
    w, w0, error = best_halfplane(X, [0, 0, 0, 1, 1, 1])
    assert error == 0 and Hyperplane(w, w0).distance(X).min() > 0.2


def test_halfplane_takes_the_widest_gap_whatever_the_axes():
    rng = np.random.default_rng(34)
    room = []
    for _ in range(12):
        X = rng.normal(size=(15, 2))
        y = (X[:, 0] + 1.5 * rng.normal(size=15) > 0).astype(int)
        w, w0, error = best_halfplane(X, y)
        if error == 0 or not w.any():
            continue
        room.append(Hyperplane(w, w0).distance(X).min())
        for angle in (0.4, 1.1, 2.0, 2.9):
            turned = X @ [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
            w, w0, again = best_halfplane(turned, y)
            assert again == error and Hyperplane(w, w0).distance(turned).min() == pytest.approx(room[-1], rel=1e-6)
    assert len(room) >= 8 and np.median(room) > 0.04


def test_fingering_handles_constants_duplicates_and_units():
    rng = np.random.default_rng(33)
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=30) > 0).astype(int)
    base = FingeringClassifier(max_hyperplanes=None).fit(X, y).train_error_
    assert best_halfplane(X, y)[2] <= base * 30 <= best_halfplane(X, y)[2] + 2
    moved = FingeringClassifier(max_hyperplanes=None).fit(X * [1e6, 1e-6] + [1e7, 0.0], y)
    assert moved.train_error_ == base
    flipped = FingeringClassifier(max_hyperplanes=None).fit(X, 1 - y)
    assert flipped.train_error_ == base
    flat = FingeringClassifier(random_state=0).fit(np.column_stack([X, np.full(30, 0.1)]), y)
    assert np.isfinite(flat.coef_).all() and flat.train_error_ == np.mean(flat.predict(np.c_[X, np.full(30, 0.1)]) != y)
    twice = FingeringClassifier(max_hyperplanes=None).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.train_error_ <= base + 2 / 30
    # One error is unavoidable, and each of the four ways to label a touched point is needed by one of these.
    for labels in itertools.product((0, 1), repeat=3):
        if 0 < sum(labels) < 3:
            rule = FingeringClassifier().fit([[0.0], [1.0], [2.0]], labels)
            assert rule.train_error_ * 3 == best_split([0.0, 1.0, 2.0], labels)[1]


def test_erratum_sign_of_the_prior_term():
    # Printed: |x - m1|^2 < |x - m0|^2 - 2 ln(pi1/pi0). It moves the threshold the wrong way.
    tau = math.log(9)
    for sign, expected in ((1, 0.07006), (-1, 0.487)):
        risk = linear_gaussian_risk([2.0], -2.0 + sign * tau, 0.0, 2.0, 1.0, pi1=0.9)
        assert risk == pytest.approx(expected, abs=5e-4)
    w, w0 = linear_gaussian_rule(0.0, 2.0, 1.0, pi1=0.9)
    assert w0 / w[0] == pytest.approx(-1 + tau / 2)


def test_erratum_absolute_value_form():
    # |w'x - w'm1| < |w'x - w'm0| + 2 ln(pi1/pi0) holds everywhere once 2 ln(pi1/pi0) > w'(m1 - m0).
    w, w0 = linear_gaussian_rule(0.0, 2.0, 1.0, 0.9)
    x = np.linspace(-5, 5, 201)
    assert 2 * math.log(9) > w[0] * 2
    assert (np.abs(w * x - w * 2) < np.abs(w * x) + 2 * math.log(9)).all()
    assert (w * x + w0 < 0).any()


def test_erratum_alpha_needs_the_total_covariance():
    q, delta, SW = 0.25, 4.0, 1.0
    assert q * (1 - q * delta**2 / SW) < 0
    assert q * (1 - q * delta**2 / (SW + q * delta**2)) == pytest.approx(two_class_ols(0.5, 0.0, delta, SW).alpha)


def test_erratum_root_of_the_logistic_example():
    assert four_point_population(0.1, 1000.0).w_logistic == pytest.approx(-0.006209, abs=5e-7)
    assert four_point_population(0.01, 1000.0).w_logistic == pytest.approx(-0.003682, abs=5e-7)


def test_erratum_best_risk_of_the_four_points():
    for eps in (0.1, 1 / 6, 0.2, 0.24):
        X, y, weights = weighted_sample(four_point(eps, 10.0))
        assert SplitERM().fit(X, y, weights).train_error_ == pytest.approx(min(2 * eps, 0.5 - eps))
    assert four_point_population(0.2, 10.0).best < 2 * 0.2


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: Hyperplane([0.0, 0.0], 1.0), "w"),
        (lambda: Hyperplane([1.0], np.nan), "w0"),
        (lambda: Hyperplane([1.0, 1.0], 0.0).distance([[1.0]]), "x"),
        (lambda: scatter([[1.0], [2.0]], [0, 1], [1.0, 0.0]), "sample_weight"),
        (lambda: max_J([0.0], [1.0, 2.0], 1.0, 1.0), "m1"),
        (lambda: max_J([0.0], [1.0], -1.0, 1.0), "S0"),
        (lambda: moment_split(0.0, 1.0, -1.0, 1.0), "s0"),
        (lambda: halfspace_bounds(100, 0), "d must"),
        (lambda: linear_separation([[1.0]], [0]), "X"),
        (lambda: LogisticDiscriminant(alpha=-1).fit([[0.0], [1.0]], [0, 1]), "alpha"),
        (lambda: LogisticDiscriminant(tol=0).fit([[0.0], [1.0]], [0, 1]), "tol"),
        (lambda: LogisticDiscriminant(max_iter=0).fit([[0.0], [1.0]], [0, 1]), "max_iter"),
        (lambda: LogisticDiscriminant().fit([[0.0], [1.0]], [0, 0]), "class"),
        (lambda: LeastSquaresClassifier(alpha=-1).fit([[0.0], [1.0]], [0, 1]), "alpha"),
        (lambda: FisherLDA(final="best").fit([[0.0], [1.0]], [0, 1]), "final"),
        (lambda: FisherLDA(n_components=2).fit([[0.0], [1.0]], [0, 1]), "n_components"),
        (lambda: FisherLDA(final="erm").fit([[0.0], [1.0], [2.0]], [0, 1, 2]), "final"),
        (lambda: GaussianBayes(shrinkage=2).fit([[0.0], [1.0]], [0, 1]), "shrinkage"),
        (lambda: GaussianBayes().fit([[0.0], [1.0]], [0, 1]), "singular"),
        (lambda: SplitERM(feature=1).fit([[0.0], [1.0]], [0, 1]), "feature"),
        (lambda: HalfspaceERM2D(features=(0, 0)).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]), "features"),
        (lambda: HalfspaceERM2D(features=3).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]), "features"),
        (lambda: FingeringClassifier(max_hyperplanes=0).fit([[0.0], [1.0]], [0, 1]), "max_hyperplanes"),
        (lambda: SigmoidRiskClassifier(p=0.5).fit([[0.0], [1.0]], [0, 1]), "p must"),
        (lambda: SigmoidRiskClassifier(scales=()).fit([[0.0], [1.0]], [0, 1]), "scales"),
        (lambda: MomentBoundClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 2]), "binary"),
    ],
)
def test_bad_input_names_the_argument(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def test_split_at_infinity_is_a_constant():
    assert Split(np.inf, 1).predict([0.0, 1.0]).tolist() == [1, 1]
    assert SplitERM().fit([[0.0], [1.0], [2.0]], [1, 0, 1]).predict([[-5.0], [5.0]]).tolist() == [1, 1]
    assert isinstance(four_point(0.1, 3.0), FiniteProblem)


@pytest.mark.parametrize("flip", [False, True])
def test_no_line_is_drawn_where_a_constant_does_as_well(flip):
    """One point amid four of the other class: lines err once at best, and so does the constant, which is returned."""
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [0.0, 0.0]])
    y = np.array([1, 1, 1, 1, 0])
    w, w0, error = best_halfplane(X, 1 - y if flip else y)
    assert error == 1 and not w.any() and (w0 >= 0) == (not flip)
