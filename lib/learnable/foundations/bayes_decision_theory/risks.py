"""The Bayes risk in its many guises, real-valued predictors, and the regret of plugging in.

The Bayes error of a problem can be written through the largest posterior, the smallest one, the
distance of the posterior from 1/2, or the overlap of the class densities. Each formula is a function
here; that they agree is a theorem, and a test. All functions pass ``**options`` on to the problem's
`expect` (method, number of samples, ...).
"""

import numpy as np

from learnable.laws.decisions import bayes_decision, conditional_risk, cost_matrix
from learnable.laws.problems import Estimate
from learnable.laws.tables import check_loss_matrix
from learnable.validation import check_finite_array, check_has, check_scalar

__all__ = [
    "lp_regret",
    "lp_risk",
]


def bayes_error_from_max(problem, **options):
    """Return R* = 1 - E max_i p(i|X) = 1 - int max_i pi_i f_i, for 0-1 loss (Lember 2012, (1.2.12)).

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> round(float(bayes_error_from_max(five_point())), 12)
    0.24
    """
    return _affine(1.0, -1.0, _check_problem(problem).expect(lambda x, post: post.max(axis=1), **options))


def bayes_error_from_min(problem, **options):
    """Return R* = E min(p(0|X), p(1|X)) = int min(pi_0 f_0, pi_1 f_1) (Lember 2012, (1.2.14), (1.2.18)).

    Two classes, 0-1 loss.

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> round(float(bayes_error_from_min(five_point())), 12)
    0.24
    """
    _check_two_classes(problem)
    return problem.expect(lambda x, post: post.min(axis=1), **options)


def bayes_error_from_margin(problem, **options):
    """Return R* = 1/2 - E|2p(1|X) - 1|/2, for two classes and 0-1 loss.

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> round(float(bayes_error_from_margin(five_point())), 12)
    0.24
    """
    _check_two_classes(problem)
    return _affine(0.5, -0.5, problem.expect(lambda x, post: np.abs(2.0 * post[:, 1] - 1.0), **options))


def total_variation(problem, **options):
    """Return TV(f_0, f_1) = int |f_1 - f_0| / 2, the distance between the two class laws.

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import FiniteProblem
    >>> round(float(total_variation(FiniteProblem([[0.1, 0.45], [0.4, 0.05]]))), 12)
    0.7
    """
    _check_two_classes(problem)
    pi0, pi1 = problem.priors
    if min(pi0, pi1) == 0:
        raise ValueError("problem must give both classes positive probability")

    # |f_1 - f_0| = f |p(1|x)/pi_1 - p(0|x)/pi_0|, with its kink where f_1 = f_0.
    def difference(post):
        return post[:, 1] / pi1 - post[:, 0] / pi0

    return problem.expect(
        lambda x, post: np.abs(difference(post)) / 2, label=lambda x, post: difference(post) >= 0, **options
    )


def bayes_error_from_variation(problem, **options):
    """Return R* = 1/2 - int |f_1 - f_0|/4 = (1 - TV)/2, for two equally probable classes.

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import FiniteProblem
    >>> round(float(bayes_error_from_variation(FiniteProblem([[0.1, 0.45], [0.4, 0.05]]))), 12)
    0.15
    """
    _check_two_classes(problem)
    if abs(problem.priors[0] - problem.priors[1]) > 1e-9:
        raise ValueError(f"problem must have equal priors, got {problem.priors}")
    return _affine(0.5, -0.5, total_variation(problem, **options))


def bayes_risk_costs(problem, a, b, **options):
    """Return R* = E min{a p(1|X), b p(0|X)} = int min{a pi_1 f_1, b pi_0 f_0}.

    Parameters
    ----------
    problem : Problem
        With two classes.
    a, b : float
        Costs of a miss and of a false alarm.

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> round(float(bayes_risk_costs(five_point(), 2, 1)), 12)
    0.32
    """
    _check_two_classes(problem)
    return problem.bayes_risk(cost_matrix(a, b), **options)


def lp_risk(problem, h, p=2, **options):
    """Return J_p(h) = E|h(X) - Y|^p of a real-valued predictor of a class in {0, 1}.

    Parameters
    ----------
    problem : Problem
        With two classes.
    h : callable
        x -> real numbers.
    p : float, default=2
        At least 1.
    **options
        As in ``problem.expect``: method, accuracy, random_state.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> round(float(lp_risk(five_point(), lambda x: x / 5, p=2)), 12)
    0.16
    """
    _check_two_classes(problem)
    p = check_scalar(p, "p", low=1)

    def loss(x, post):
        value = _predictions(h, x)
        return post[:, 1] * np.abs(1.0 - value) ** p + post[:, 0] * np.abs(value) ** p

    return problem.expect(loss, **options)


def lp_minimizer(problem, p=2):
    """Return the predictor h*_p that minimises J_p.

    With eta = p(1|x) it is eta^q / (eta^q + (1 - eta)^q), q = 1/(p - 1): the posterior itself (the
    conditional mean) for p = 2, and for p = 1 the indicator of eta >= 1/2 (the conditional median, the
    Bayes classifier).

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> lp_minimizer(five_point(), p=2)([1, 2, 3])
    array([0.2, 0.4, 0.6])
    >>> lp_minimizer(five_point(), p=1)([1, 2, 3])
    array([0., 0., 1.])
    """
    _check_two_classes(problem)
    p = check_scalar(p, "p", low=1)
    return lambda x: _lp_optimal(problem.posterior(x), p)


def lp_bayes_risk(problem, p=2, **options):
    """Return J*_p = min_h J_p(h): E eta(1 - eta) for p = 2, the Bayes error for p = 1.

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> round(float(lp_bayes_risk(five_point(), p=1)), 12)
    0.24
    """
    _check_two_classes(problem)
    p = check_scalar(p, "p", low=1)

    def smallest(x, post):
        value = _lp_optimal(post, p)
        return post[:, 1] * (1.0 - value) ** p + post[:, 0] * value**p

    return problem.expect(smallest, **options)


def lp_regret(problem, h, p=2, **options):
    """Return J_p(h) - J*_p, what h loses against the best real-valued predictor.

    For p = 2 it is E (h(X) - p(1|X))^2.

    Parameters
    ----------
    problem : FiniteProblem or DensityProblem
        With two classes.
    h : callable
        Predictor, x to a number.
    p : float, default=2
    **options
        As in ``problem.expect``: method, accuracy, random_state.

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> round(float(lp_regret(five_point(), lambda x: x / 5 + 0.1, p=2)), 12)
    0.01
    """
    _check_two_classes(problem)
    p = check_scalar(p, "p", low=1)

    def regret(x, post):
        value, best = _predictions(h, x), _lp_optimal(post, p)
        eta, rest = post[:, 1], post[:, 0]
        return eta * (np.abs(1.0 - value) ** p - (1.0 - best) ** p) + rest * (np.abs(value) ** p - best**p)

    return problem.expect(regret, **options)


def plug_in_regret(problem, post_hat, L=None, **options):
    """Return R(g) - R* of the rule g that takes estimated posteriors for true ones.

    Computed as one expectation of R(g(x)|x) - min_i R(i|x), so that a small regret keeps its digits (and
    a Monte Carlo one has a small standard error). For two classes and 0-1 loss it is at most
    2 E|p_hat(1|X) - p(1|X)|.

    Parameters
    ----------
    problem : Problem
    post_hat : callable
        x -> estimated posteriors of shape (n, k), for example the `predict_proba` of a fitted model.
    L : array-like of shape (k, a), optional
        Loss; by default 0-1 loss.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from learnable.foundations.bayes_decision_theory import five_point
    >>> always_one = lambda x: np.tile([0.0, 1.0], (len(x), 1))
    >>> round(float(plug_in_regret(five_point(), always_one)), 12)
    0.16
    """

    loss = check_loss_matrix(L, _check_problem(problem).n_classes)

    def decision(x, post):
        return bayes_decision(post_hat(x), loss)

    def regret(x, post):
        risk = conditional_risk(post, loss)
        return risk[np.arange(len(risk)), decision(x, post)] - risk.min(axis=1)

    # The regret jumps where either decision changes.
    def label(x, post):
        return decision(x, post) * loss.shape[1] + bayes_decision(post, loss)

    return problem.expect(regret, label=label, **options)


def _lp_optimal(post, p):
    eta, rest = post[:, 1], post[:, 0]
    if p == 1:
        return (eta >= 0.5).astype(np.float64)
    # The larger of the two is divided out before the power, which could underflow.
    power = 1.0 / (p - 1.0)
    top = np.maximum(eta, rest)
    up, down = (eta / top) ** power, (rest / top) ** power
    return up / (up + down)


def _predictions(h, x):
    value = check_finite_array(h(x), "h(x)", ndim=1)
    if value.size != len(x):
        raise ValueError(f"h must return one number for each x, got {value.size} for {len(x)}")
    return value


def _check_problem(problem):
    return check_has(problem, "problem", "n_classes expect posterior", "a FiniteProblem, a DensityProblem or alike")


def _check_two_classes(problem):
    if _check_problem(problem).n_classes != 2:
        raise ValueError(f"problem must have two classes, got {problem.n_classes}")


def _affine(shift, scale, estimate):
    return Estimate(shift + scale * float(estimate), abs(scale) * estimate.error, estimate.method)
