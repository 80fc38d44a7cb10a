"""Problems with known answers, against which classifiers can be measured.

Each function returns a problem whose Bayes risk is known exactly (a sum, or a formula under
``bayes_risk()``), with the closed forms that pictures and tests need beside it.
"""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import ndtr

from learnable.problems.base import FiniteProblem
from learnable.problems.decisions import bayes_conditional_risk, cost_threshold
from learnable.problems.density import DensityProblem
from learnable.problems.reject import RejectTradeoff
from learnable.problems.tables import check_posteriors
from learnable.validation import (
    check_finite_array,
    check_magnitude,
    check_probability_vector,
    check_scalar,
    check_symmetric,
)

__all__ = [
    "five_point",
    "gaussian_bayes_risk",
    "gaussian_classes",
    "gaussian_risk",
    "height_weight",
    "plateau",
    "student",
    "student_tradeoff",
    "two_gaussians",
]


def five_point():
    """Return x uniform on 1..5 with p(1|x) = x/5 (Lember 2012, exercise of Section 1.2).

    pi_1 = 3/5 and R* = 6/25 for 0-1 loss.

    Returns
    -------
    FiniteProblem

    Examples
    --------
    >>> five_point().p_xy[:, 1]
    array([0.04, 0.08, 0.12, 0.16, 0.2 ])
    """
    x = np.arange(1, 6)
    return FiniteProblem(np.column_stack([5 - x, x]) / 25, x_values=x)


def student(c=1.0):
    """Return x uniform on [0, 4c] hours of study, passed with p(1|x) = x/(c + x).

    Whatever c is: g* passes from x = c on, pi_1 = 1 - ln(5)/4 and R* = ln(5e/4)/4 for 0-1 loss
    (Lember 2012, exercise of Section 1.2.4). See ``student_bayes_risk`` for costs and
    :func:`student_tradeoff` for rejection.

    Parameters
    ----------
    c : float, default=1
        Positive.

    Returns
    -------
    DensityProblem

    Examples
    --------
    >>> problem = student(c=2)
    >>> problem.boundaries().round(9), round(float(problem.bayes_risk()), 6)
    (array([2.]), 0.305786)
    """
    c = check_scalar(c, "c", low=0, closed="neither")
    pi0 = np.log(5) / 4

    def posterior(x):
        passed = x / (c + x)
        return np.column_stack([c / (c + x), passed])

    def exact(L):
        return student_bayes_risk(L[1, 0], L[0, 1]) if _is_cost_matrix(L) else None

    return DensityProblem.from_posterior(
        posterior,
        [pi0, 1 - pi0],
        lambda x: np.full(len(x), -np.log(4 * c)),
        support=(0.0, 4 * c),
        sampler=lambda n, rng: rng.uniform(0.0, 4 * c, n),
        exact=exact,
    )


def student_bayes_risk(a=1.0, b=1.0):
    """Return the Bayes risk of the student problem when a miss costs a and a false alarm b.

    With u = min(b/a, 4) the point (in units of c) where the decision changes,
    R* = [a (u - ln(1 + u)) + b (ln 5 - ln(1 + u))]/4, for a = b = 1 equal to ln(5e/4)/4.

    Examples
    --------
    >>> round(student_bayes_risk(), 6), round(student_bayes_risk(2, 1), 6)
    (0.305786, 0.348261)
    """
    threshold = cost_threshold(a, b)
    u = 4.0 if threshold >= 0.8 else threshold / (1 - threshold)
    return float((a * (u - np.log1p(u)) + b * (np.log(5) - np.log1p(u))) / 4)


def student_tradeoff(t):
    """Return P(reject) and the accepted risk of the optimal rule g_t on the student problem, 0-1 loss.

    For 1/5 <= t <= 1/2, in units of c: rejected is (t/(1-t), (1-t)/t), so that
    P(reject) = [(1-t)/t - t/(1-t)]/4 and E(t) = [t/(1-t) + ln(1-t) + ln(5t)]/4. For smaller t the
    upper part is rejected too; for larger t nothing is.

    Parameters
    ----------
    t : array-like
        Thresholds, at least 0.

    Returns
    -------
    RejectTradeoff

    Examples
    --------
    >>> reject, risk = student_tradeoff(0.4)
    >>> round(reject, 6), round(risk, 6), round(student_tradeoff(0.4).selective_risk, 6)
    (0.208333, 0.212247, 0.268102)
    """
    t = check_finite_array(t, "t")
    if t.size and t.min() < 0:
        raise ValueError("t must be non-negative")
    t = np.minimum(t, 0.5)
    lower = t / (1 - t)
    upper = np.minimum(4.0, (1 - t) / np.maximum(t, 0.1))
    reject = (upper - lower) / 4
    accepted = (lower + np.log1p(-t) + np.log(np.maximum(5 * t, 1.0))) / 4
    if t.ndim == 0:
        return RejectTradeoff(float(reject), float(accepted))
    return RejectTradeoff(reject, accepted)


def height_weight():
    """Return the sex (1 = woman) of people by whole centimetres and kilograms, on a 71 x 91 grid.

    Men are a rounded N((178, 78), [[49, 28], [28, 100]]), women a rounded
    N((165, 65), [[42, 22], [22, 81]]), both cut off at 140..210 cm and 40..130 kg, and equally
    frequent: our figures for the running example of Lember 2012.

    Returns
    -------
    FiniteProblem
        `x_values` has shape (6461, 2); the grid is ``x_values.reshape(71, 91, 2)``.

    Examples
    --------
    >>> problem = height_weight()
    >>> problem.x_values.shape, round(float(problem.bayes_risk()), 3)
    ((6461, 2), 0.153)
    """
    height, weight = np.arange(140, 211), np.arange(40, 131)
    men = _rounded_gaussian((178, 78), ((49, 28), (28, 100)), height, weight)
    women = _rounded_gaussian((165, 65), ((42, 22), (22, 81)), height, weight)
    x = np.stack(np.meshgrid(height, weight, indexing="ij"), axis=-1).reshape(-1, 2)
    return FiniteProblem(np.column_stack([men.ravel(), women.ravel()]) / 2, x_values=x)


def _rounded_gaussian(mean, cov, first, second):
    """Mass of a rounded bivariate Gaussian on a grid of whole numbers, scaled to sum one."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    x = (first[:, None] + nodes / 2).ravel() - mean[0]
    density = np.exp(-(x**2) / (2 * cov[0][0])).reshape(-1, nodes.size) * weights
    # The second coordinate given the first is Gaussian; its cells are differences of two tails, taken
    # on the side where they are small.
    centre = mean[1] + cov[0][1] / cov[0][0] * x[:, None]
    scale = np.sqrt(cov[1][1] - cov[0][1] ** 2 / cov[0][0])
    low, high = (second - 0.5 - centre) / scale, (second + 0.5 - centre) / scale
    cell = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    mass = np.einsum("rn,rns->rs", density, cell.reshape(first.size, nodes.size, second.size))
    return mass / mass.sum()


def plateau(eta_values, edges=None):
    """Return x uniform on [0, 1] with a posterior that is constant on cells.

    Parameters
    ----------
    eta_values : array-like of shape (m,) or (m, k)
        p(1|x) on each cell, or all k posteriors. ``plateau([0.2])`` is a constant posterior;
        ``plateau([q, 1 - q, q])`` an interval observed with flip noise q.
    edges : array-like of shape (m + 1,), optional
        0 = edges[0] < ... < edges[m] = 1; by default equal cells. A cell contains its left end.

    Returns
    -------
    DensityProblem
        Its Bayes risk is exact for every loss.

    Examples
    --------
    >>> problem = plateau([0.1, 0.9, 0.1])
    >>> round(float(problem.bayes_risk()), 9), problem.boundaries().round(6)
    (0.1, array([0.333333, 0.666667]))
    """
    eta = check_finite_array(eta_values, "eta_values")
    if eta.ndim == 1 and eta.size and 0 <= eta.min() and eta.max() <= 1:
        eta = np.column_stack([1 - eta, eta])
    eta = check_posteriors(eta, "eta_values")
    edges = np.linspace(0, 1, len(eta) + 1) if edges is None else check_finite_array(edges, "edges", ndim=1)
    if edges.size != len(eta) + 1 or edges[0] != 0 or edges[-1] != 1 or (np.diff(edges) <= 0).any():
        raise ValueError(f"edges must increase from 0 to 1 in {len(eta)} steps, one for each of eta_values")
    share = np.diff(edges)

    def posterior(x):
        return eta[np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(eta) - 1)]

    return DensityProblem.from_posterior(
        posterior,
        share @ eta,
        lambda x: np.zeros(len(x)),
        support=(0.0, 1.0),
        points=edges[1:-1],
        sampler=lambda n, rng: rng.random(n),
        exact=lambda L: float(share @ bayes_conditional_risk(eta, L)),
    )


def gaussian_classes(means, covs=1.0, priors=None):
    """Return a problem with Gaussian classes.

    Parameters
    ----------
    means : array-like of shape (k,) or (k, d)
    covs : array-like of shape (), (d, d), (k,) (for d = 1) or (k, d, d), default=1
        One covariance for all classes, or one for each. Numbers are variances (times the identity).
    priors : array-like of shape (k,), optional
        By default equal.

    Returns
    -------
    DensityProblem
        With a closed-form Bayes risk for two classes of equal covariance and a loss with zero
        diagonal; otherwise it is integrated (d <= 2) or simulated.

    Examples
    --------
    >>> problem = gaussian_classes([[-2, 0], [0, 0], [2, 0]])
    >>> round(float(problem.bayes_risk()), 4)
    0.2115
    """
    means = check_finite_array(means, "means")
    if means.ndim not in (1, 2) or means.size == 0:
        raise ValueError(f"means must have shape (k,) or (k, d), got {means.shape}")
    table = means[:, None] if means.ndim == 1 else means
    k, d = table.shape
    covs = _covariances(covs, k, d)
    priors = np.full(k, 1 / k) if priors is None else check_probability_vector(priors, "priors", size=k)
    factors = []
    for j, cov in enumerate(covs):
        try:
            factors.append(cholesky(cov, lower=True))
        except LinAlgError:
            raise ValueError(f"covs[{j}] must be positive definite") from None

    def log_density(j):
        constant = -np.log(np.diag(factors[j])).sum() - d / 2 * np.log(2 * np.pi)

        def logpdf(x):
            if d == 1:
                z = ((x.ravel() - table[j, 0]) / factors[j][0, 0])[None]
            else:
                z = solve_triangular(factors[j], (x - table[j]).T, lower=True)
            return constant - np.einsum("dn,dn->n", z, z) / 2

        return logpdf

    def draw(j):
        def sampler(n, rng):
            x = table[j] + rng.standard_normal((n, d)) @ factors[j].T
            return x[:, 0] if d == 1 else x

        return sampler

    exact = None
    if k == 2 and np.array_equal(covs[0], covs[1]) and priors.min() > 0:
        delta = float(np.linalg.norm(solve_triangular(factors[0], table[1] - table[0], lower=True)))

        def exact(L):
            return gaussian_bayes_risk(delta, priors[1], L[1, 0], L[0, 1]) if _is_cost_matrix(L) else None

    spread = np.sqrt(np.stack([np.diag(cov) for cov in covs]))
    low, high = (table - 9 * spread).min(axis=0), (table + 9 * spread).max(axis=0)
    return DensityProblem(
        [log_density(j) for j in range(k)],
        priors,
        dim=d,
        sampler=[draw(j) for j in range(k)],
        points=table[:, 0] if d == 1 else (),
        box=np.column_stack([low, high]) if d == 2 else None,
        exact=exact,
    )


def two_gaussians(m0=0.0, m1=2.0, cov0=1.0, cov1=None, pi1=0.5):
    """Return two Gaussian classes; by default N(0, 1) and N(2, 1), so that R* = Phi(-1).

    Parameters
    ----------
    m0, m1 : float or array-like of shape (d,)
        Means.
    cov0, cov1 : float or array-like of shape (d, d)
        Covariances (variances if numbers). Without `cov1` both classes have `cov0`, and the Bayes risk
        has the closed form of :func:`gaussian_bayes_risk`.
    pi1 : float in (0, 1), default=0.5
        Prior of class 1.

    Returns
    -------
    DensityProblem

    Examples
    --------
    >>> problem = two_gaussians(m1=2, pi1=0.2)
    >>> problem.bayes_risk()
    0.112067 ± 0 (exact)
    >>> two_gaussians(0, 0, 1, 9).boundaries().round(4)  # equal means: the wide class wins outside
    array([-1.5722,  1.5722])
    """
    pi1 = check_scalar(pi1, "pi1", low=0, high=1, closed="neither")
    m0, m1 = check_finite_array(m0, "m0"), check_finite_array(m1, "m1")
    check_magnitude(m0, "m0", smallest=0.0), check_magnitude(m1, "m1", smallest=0.0)
    if m0.shape != m1.shape or m0.ndim > 1:
        raise ValueError(f"m0 and m1 must be numbers or vectors of one length, got {m0.shape} and {m1.shape}")
    d = max(m0.size, 1)
    covs = [_covariances(cov, 1, d)[0] for cov in (cov0, cov0 if cov1 is None else cov1)]
    return gaussian_classes(np.stack([m0, m1]), np.stack(covs), [1 - pi1, pi1])


def gaussian_risk(delta, pi1=0.5, a=1.0, b=1.0, threshold=0.5):
    """Return the risk, for two Gaussians of equal covariance, of deciding 1 where p(1|x) >= threshold.

    The posterior log-odds are Gaussian with variance delta^2 in both classes and means
    ln(pi_1/pi_0) +- delta^2/2. The optimal threshold is b/(a + b).

    Parameters
    ----------
    delta : array-like
        Mahalanobis distance of the means, positive.
    pi1 : array-like, default=0.5
        Prior of class 1, in (0, 1).
    a, b : array-like, default=1
        Costs of a miss and of a false alarm.
    threshold : array-like, default=0.5
        In [0, 1].

    Returns
    -------
    float or ndarray
        All arguments are broadcast.

    Examples
    --------
    >>> round(gaussian_risk(2.0, pi1=0.2, a=20), 4), round(gaussian_risk(2.0, pi1=0.2, a=20, threshold=1 / 21), 4)
    (1.5541, 0.4803)
    """
    names = ("delta", "pi1", "a", "b", "threshold")
    values = [check_finite_array(v, name) for v, name in zip((delta, pi1, a, b, threshold), names, strict=True)]
    delta, pi1, a, b, threshold = np.broadcast_arrays(*values)
    for value, name, legal in (
        (delta, "delta must be positive", delta > 0),
        (pi1, "pi1 must lie in (0, 1)", (pi1 > 0) & (pi1 < 1)),
        (a, "a must be non-negative", a >= 0),
        (b, "b must be non-negative", b >= 0),
        (threshold, "threshold must lie in [0, 1]", (threshold >= 0) & (threshold <= 1)),
    ):
        if not legal.all():
            raise ValueError(f"{name}, got {value[~legal].flat[0]}")
    with np.errstate(divide="ignore"):
        cut = np.log(threshold) - np.log1p(-threshold) - (np.log(pi1) - np.log1p(-pi1))
    miss, alarm = ndtr(cut / delta - delta / 2), ndtr(-cut / delta - delta / 2)
    risk = a * pi1 * miss + b * (1 - pi1) * alarm
    return float(risk) if risk.ndim == 0 else risk


def gaussian_bayes_risk(delta, pi1=0.5, a=1.0, b=1.0):
    """Return the Bayes risk of two Gaussians of equal covariance at Mahalanobis distance `delta`.

    R* = a pi_1 Phi(-delta/2 - tau/delta) + b pi_0 Phi(-delta/2 + tau/delta), tau = ln(a pi_1/(b pi_0)), which is
    Phi(-delta/2) for equal priors and costs.

    Parameters
    ----------
    delta : float
        Non-negative.
    pi1 : float in (0, 1), default=0.5
    a, b : float, default=1
        Costs of a miss and of a false alarm, not both zero.

    Examples
    --------
    >>> round(gaussian_bayes_risk(2.0), 6)
    0.158655
    """
    delta = check_scalar(delta, "delta", low=0)
    threshold = cost_threshold(a, b)
    pi1 = check_scalar(pi1, "pi1", low=0, high=1, closed="neither")
    if delta == 0:
        return float(min(a * pi1, b * (1 - pi1)))
    return gaussian_risk(delta, pi1, a, b, threshold)


def _is_cost_matrix(L):
    return L.shape == (2, 2) and L[0, 0] == L[1, 1] == 0 and L.max() > 0


def _covariances(covs, k, d):
    """Return k covariance matrices from the forms that :func:`gaussian_classes` accepts."""
    covs = check_finite_array(covs, "covs")
    if covs.ndim == 0 or (d == 1 and covs.shape == (k,)):
        covs = np.multiply.outer(covs, np.eye(d))
    if covs.shape not in ((d, d), (k, d, d)):
        raise ValueError(f"covs must be a number or have shape ({d}, {d}) or ({k}, {d}, {d}), got {covs.shape}")
    return np.array([check_symmetric(cov, "covs") for cov in np.broadcast_to(covs, (k, d, d))])
