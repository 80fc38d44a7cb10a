"""Certificates: upper bounds on the error probability of a pruning that hold with probability 1 - δ.

All of them are an error on the pruning data, plus what the size of the class costs, plus what a single rule that was
fixed in advance would cost. Kääriäinen et al. 2004, Lemma 3 and Sec. 6.1; Langford 2003 for the binomial tail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from learnable.validation import check_finite_array, check_scalar


@dataclass(frozen=True)
class Certificate:
    """An upper bound in three parts; above 1 it says nothing.

    Attributes
    ----------
    error : float
        Share of errors on the pruning data.
    penalty : float
        What is added for the choice among the prunings.
    confidence : float
        What is added for the probability 1 - delta, whatever the class.
    n : int
        Number of pruning examples.
    delta : float
        The probability that the bound does not hold is at most delta.
    """

    error: float
    penalty: float
    confidence: float
    n: int
    delta: float

    @property
    def bound(self):
        """Sum of the three parts."""
        return self.error + self.penalty + self.confidence


def confidence_term(n, delta=0.01):
    """η(δ, n) = √(ln(2/δ) / 2n), the unit of the terms that do not depend on the class. Cost O(1).

    Kääriäinen et al. 2004, Lemma 3, where McDiarmid's inequality is used twice, with δ/2 each.

    Parameters
    ----------
    n : int
        Number of pruning examples.
    delta : float, default=0.01
        Probability of failure.

    Returns
    -------
    float

    Examples
    --------
    >>> round(5 * confidence_term(1686), 3)
    0.198
    """
    n, delta = _sample(n, delta)
    return float(np.sqrt((np.log(2) - np.log(delta)) / (2 * n)))


def rademacher_bound(error, complexity, n, delta=0.01):
    """ε ≤ ε̂ + 2 R + 5 η for every pruning of the class at once (Kääriäinen et al. 2004, Lemma 3). Cost O(1).

    Parameters
    ----------
    error : float
        Share of errors on the pruning data.
    complexity : float
        Rademacher penalty R of the class for one draw of the signs.
    n : int
        Number of pruning examples.
    delta : float, default=0.01
        Probability of failure.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> round(rademacher_bound(0.13, 0.02, 6000).bound, 3)
    0.275
    """
    eta = confidence_term(n, delta)
    return Certificate(_share(error), 2 * _share(complexity, "complexity"), 5 * eta, int(n), float(delta))


def averaged_bound(error, complexities, n, delta=0.01):
    """ε ≤ ε̂ + 2 R̄ + 3 η' + 4 η'/√M with the mean R̄ of M penalties, η' = √(ln(3/δ) / 2n). Cost O(M).

    The expectation of the penalty over the signs moves by at most 1/n when one example changes, half as much as the
    penalty of one draw, so that its distance from its mean costs 2η' in place of 4η'. The last term is for the mean of
    M draws in place of the expectation: it moves by at most 2/(nM) with each of its nM signs.

    Parameters
    ----------
    error : float
        Share of errors on the pruning data.
    complexities : array-like of shape (M,)
        Rademacher penalties of independent draws of the signs.
    n : int
        Number of pruning examples.
    delta : float, default=0.01
        Probability of failure, shared by three events.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> round(averaged_bound(0.13, [0.02, 0.018, 0.022], 6000).bound, 3)
    0.286
    """
    n, delta = _sample(n, delta)
    complexities = check_finite_array(complexities, "complexities", ndim=1)
    if len(complexities) == 0:
        raise ValueError("complexities must hold at least one draw")
    eta = float(np.sqrt((np.log(3) - np.log(delta)) / (2 * n)))
    mean = _share(float(complexities.mean()), "complexities")
    return Certificate(_share(error), 2 * mean, (3 + 4 / len(complexities) ** 0.5) * eta, n, delta)


def occam_bound(error, log_n, n, delta=0.01):
    """ε ≤ ε̂ + √((ln N + ln(1/δ)) / 2n) for a class of N rules (Kääriäinen et al. 2004, Sec. 6.1). Cost O(1).

    Parameters
    ----------
    error : float
        Share of errors on the pruning data.
    log_n : float
        Natural logarithm of the number of rules: `log_n_prunings`; ``np.log(2) * d / 4`` is the guess of the source for
        a tree of d nodes; 0 is one rule that was fixed before the data were seen.
    n : int
        Number of pruning examples.
    delta : float, default=0.01
        Probability of failure.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> round(occam_bound(0.13, np.log(2) * 2543.8 / 4, 6000).bound, 3)
    0.323
    """
    n, delta = _sample(n, delta)
    log_n = check_scalar(log_n, "log_n", low=0)
    alone = float(np.sqrt(-np.log(delta) / (2 * n)))
    union = float(np.sqrt((log_n - np.log(delta)) / (2 * n)))
    return Certificate(_share(error), union - alone, alone, n, delta)


def binomial_bound(n_errors, n, delta=0.01, *, log_n=0.0):
    """The largest p for which at most `n_errors` of n have probability δ/N or more. Cost O(n_errors).

    The union bound of `occam_bound` with the exact binomial tail in place of Hoeffding's inequality (Langford 2003).
    With ``log_n=0`` it is the bound of a test set. The cost is that of each of 60 steps of bisection.

    Parameters
    ----------
    n_errors : int
        Errors on the pruning data, or on a test set.
    n : int
        Number of examples.
    delta : float, default=0.01
        Probability of failure.
    log_n : float, default=0
        Natural logarithm of the number N of rules.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> round(binomial_bound(0, 100, 0.05).bound, 4)  # 1 - 0.05^(1/100)
    0.0295
    """
    n, delta = _sample(n, delta)
    n_errors = check_scalar(n_errors, "n_errors", low=0, high=n, integer=True)
    log_n = check_scalar(log_n, "log_n", low=0)
    alone = _tail_inverse(n_errors, n, np.log(delta))
    union = _tail_inverse(n_errors, n, np.log(delta) - log_n) if log_n > 0 else alone
    error = n_errors / n
    return Certificate(error, union - alone, alone - error, n, delta)


def _tail_inverse(k, n, log_level):
    """Largest p with ln P(Bin(n, p) ≤ k) ≥ log_level, by bisection; in logarithms, since δ/N underflows."""
    if k == n:
        return 1.0
    j = np.arange(k + 1)
    constant = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    low, high = k / n, 1.0
    for _ in range(60):
        p = 0.5 * (low + high)
        if p <= low or p >= high:
            break
        if logsumexp(constant + j * np.log(p) + (n - j) * np.log1p(-p)) >= log_level:
            low = p
        else:
            high = p
    return float(high)


def _sample(n, delta):
    return (
        check_scalar(n, "n", low=1, integer=True),
        check_scalar(delta, "delta", low=0, high=1, closed="neither"),
    )


def _share(value, name="error"):
    return check_scalar(value, name, low=0, high=1)
