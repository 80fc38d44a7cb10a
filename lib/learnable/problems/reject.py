"""The right to remain silent: classifiers that may reject, and what silence buys.

The rule g_t answers with the Bayes decision where its conditional risk is at most t and rejects
elsewhere,

    A(t) = {x : min_i R(i|x) <= t},   R(t) = complement of A(t).

Among all classifiers that reject no more often, g_t has the smallest accepted risk
E(t) = int_{A(t)} min_i R(i|x) dF(x) (Lember 2012, Lemma 1.3.1). E(t) is a *mass*: it is not divided by
P(A(t)). The quotient is the selective risk. Rejection at the price t per rejected x is the same rule:
g_t is the Bayes decision for the loss with one more column, constant t (:func:`augment_loss`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.problems.decisions import bayes_conditional_risk, conditional_risk, decide
from learnable.problems.tables import check_loss_matrix, check_posteriors, coerce_posteriors
from learnable.validation import (
    check_finite_array,
    check_scalar,
    check_sentinel,
    check_weights,
    decode_labels,
    encode_labels,
)

__all__ = [
    "ErrorRejectCurve",
    "RejectRule",
    "RejectTradeoff",
    "augment_loss",
    "coverage_threshold",
    "error_reject_curve",
]


class RejectTradeoff(NamedTuple):
    """How often a rule rejects, and the risk it carries where it answers.

    Attributes
    ----------
    reject_probability : float or ndarray
        P(reject).
    accepted_risk : float or ndarray
        Risk mass on the accepted set, not divided by its probability.

    Examples
    --------
    >>> RejectTradeoff(0.25, 0.03).selective_risk
    0.04
    """

    reject_probability: float
    accepted_risk: float

    @property
    def coverage(self):
        """P(accept)."""
        return 1.0 - self.reject_probability

    @property
    def selective_risk(self):
        """Risk given acceptance; NaN where nothing is accepted."""
        with np.errstate(invalid="ignore"):
            quotient = np.divide(self.accepted_risk, self.coverage)
        return float(quotient) if np.ndim(quotient) == 0 else quotient


@dataclass(frozen=True, eq=False)
class RejectRule:
    """The optimal classifier with reject option, g_t (Lember 2012, (1.3.2)).

    Parameters
    ----------
    t : float
        Largest conditional risk that is still accepted (equality accepts), at least 0.
    L : array-like of shape (k, a), optional
        Loss, row = truth, column = decision. By default 0-1 loss, for which nothing is rejected
        once t >= (k - 1)/k.
    reject_label : number or None, default=-1
        What stands for a rejection. It must not be one of the decisions 0..a-1; None gives an object
        array.
    ties : {"first", "last"} or callable, default="first"
        See :func:`~learnable.problems.decisions.decide`.

    Examples
    --------
    >>> RejectRule(0.2)([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    array([ 0, -1,  1])
    """

    t: float
    L: object = None
    reject_label: object = -1
    ties: object = "first"

    def __post_init__(self):
        object.__setattr__(self, "t", check_scalar(self.t, "t", low=0))

    def __call__(self, post):
        """Return the decisions for posteriors of shape (n, k), `reject_label` where rejected."""
        n_classes = coerce_posteriors(post)[0].shape[1]
        decisions = np.arange(check_loss_matrix(self.L, n_classes).shape[1])
        check_sentinel(self.reject_label, decisions, "reject_label")
        decision, risk = decide(post, self.L, self.ties)
        decision[risk > self.t] = -1
        return decode_labels(decision, decisions, sentinel=self.reject_label)

    def accepts(self, post):
        """Return whether each row is accepted, min_i R(i|x) <= t."""
        return bayes_conditional_risk(post, self.L) <= self.t


def augment_loss(L, t, n_classes=None):
    """Return the loss with one more decision, "reject", that costs `t` whatever the truth.

    The Bayes decision for it, with ties to the first, is g_t: rejecting is best exactly where every
    class costs more than t.

    Parameters
    ----------
    L : array-like of shape (k, a) or None
        None stands for 0-1 loss and then needs `n_classes`.
    t : float
        Cost of a rejection, at least 0.
    n_classes : int, optional
        Number k of classes, needed for ``L=None``.

    Returns
    -------
    ndarray of shape (k, a + 1)

    Examples
    --------
    >>> augment_loss(None, 0.25, n_classes=2)
    array([[0.  , 1.  , 0.25],
           [1.  , 0.  , 0.25]])
    """
    t = check_scalar(t, "t", low=0)
    if n_classes is None:
        if np.ndim(L) != 2:
            raise ValueError("L must have shape (k, a), or be None together with n_classes")
        n_classes = np.shape(L)[0]
    loss = check_loss_matrix(L, check_scalar(n_classes, "n_classes", low=1, integer=True))
    return np.column_stack([loss, np.full(n_classes, t)])


def coverage_threshold(risk, coverage):
    """Return the smallest threshold that accepts at least a share `coverage` of the given risks.

    It is one of the risks: the m-th smallest, m = ceil(coverage * n). Equal risks are accepted or
    rejected together, so a tie at the threshold makes the share larger than asked for, never smaller.

    Parameters
    ----------
    risk : array-like of shape (n,)
        Values of min_i R(i|x).
    coverage : float in (0, 1]

    Returns
    -------
    float

    Examples
    --------
    >>> coverage_threshold([0.4, 0.1, 0.3, 0.2], 0.5)
    0.2
    >>> coverage_threshold([0.4, 0.1, 0.2, 0.2], 0.5)
    0.2
    """
    risk = check_finite_array(risk, "risk", ndim=1)
    coverage = check_scalar(coverage, "coverage", low=0, high=1, closed="right")
    if risk.size == 0:
        raise ValueError("risk must hold at least one value")
    rank = int(np.ceil(coverage * risk.size))
    if (rank - 1) / risk.size >= coverage:  # the product was rounded up past a whole number
        rank -= 1
    return float(np.partition(risk, rank - 1)[rank - 1])


@dataclass(frozen=True, eq=False)
class ErrorRejectCurve:
    """Accepted risk against rejection, at every threshold at once.

    Made by :func:`error_reject_curve`. The curve is a step function of t: it changes only at the
    distinct values of min_i R(i|x), which are `threshold`, in increasing order.

    Attributes
    ----------
    threshold : ndarray of shape (m,)
        The distinct values of min_i R(i|x); the last one accepts everything.
    coverage : ndarray of shape (m,)
        P(A(t)) at these thresholds, ending in 1.
    accepted_risk : ndarray of shape (m,)
        E(t), the risk mass on A(t), ending in the risk without rejection.
    """

    threshold: np.ndarray
    coverage: np.ndarray
    accepted_risk: np.ndarray

    @property
    def reject_probability(self):
        """P(R(t)) = 1 - coverage at each threshold."""
        return 1.0 - self.coverage

    @cached_property
    def selective_risk(self):
        """E(t)/P(A(t)) at each threshold."""
        return self.accepted_risk / self.coverage

    @cached_property
    def area(self):
        """Area under the risk-coverage curve: selective risk integrated over coverage in (0, 1].

        Between two thresholds a coverage is reached by rejecting at random among equal risks, which
        makes E linear in the coverage there; the integral of E(c)/c is then exact, does not depend on
        the order of ties, and equals the risk when all risks are equal.
        """
        return _area(self.coverage, self.accepted_risk)

    def at(self, t):
        """Return the :class:`RejectTradeoff` of the rule g_t, for any t >= 0 (no interpolation)."""
        t = check_finite_array(t, "t")
        if t.size and t.min() < 0:
            raise ValueError("t must be non-negative")
        place = np.searchsorted(self.threshold, t, side="right")
        reject = np.concatenate([[1.0], self.reject_probability])[place]
        accepted = np.concatenate([[0.0], self.accepted_risk])[place]
        if t.ndim == 0:
            return RejectTradeoff(float(reject), float(accepted))
        return RejectTradeoff(reject, accepted)

    def threshold_for(self, coverage):
        """Return the smallest threshold whose coverage is at least `coverage`."""
        coverage = check_scalar(coverage, "coverage", low=0, high=1, closed="right")
        return float(self.threshold[np.searchsorted(self.coverage, coverage, side="left")])


def error_reject_curve(post, L=None, y=None, *, true_post=None, weights=None):
    """Return the error-reject curve of the rules g_t, for all thresholds t at once.

    Rows are accepted in the order of min_i R(i|x) under `post`. What is accumulated is

    * that conditional risk itself (default): the curve of an oracle, or of a model that is believed;
    * the observed loss L[y, g(x)], if labels `y` are given: the curve on a test set;
    * the true conditional risk of the plug-in decision, if `true_post` is given.

    Parameters
    ----------
    post : array-like of shape (n, k)
        Posteriors that decide and order.
    L : array-like of shape (k, a), optional
        Loss; by default 0-1 loss.
    y : array-like of int of shape (n,), optional
        Observed classes 0..k-1.
    true_post : array-like of shape (n, k), optional
        The true posteriors at the same points. Not together with `y`.
    weights : array-like of shape (n,), optional
        Mass of each row, for example P(X = x) of a finite problem; scaled to sum one.

    Returns
    -------
    ErrorRejectCurve

    Notes
    -----
    One sort and one compensated cumulative sum: O(n log n) time and O(n) memory, no loop over
    thresholds. Rows with equal risk form one step.

    Examples
    --------
    >>> curve = error_reject_curve([[0.9, 0.1], [0.6, 0.4], [0.25, 0.75], [0.1, 0.9]])
    >>> curve.threshold
    array([0.1 , 0.25, 0.4 ])
    >>> curve.coverage
    array([0.5 , 0.75, 1.  ])
    >>> curve.accepted_risk
    array([0.05  , 0.1125, 0.2125])
    """
    if y is not None and true_post is not None:
        raise ValueError("y and true_post exclude each other")
    if y is None and true_post is None:
        loss, risk = None, bayes_conditional_risk(post, L)
    else:
        decision, risk = decide(post, L)
        n_classes = np.shape(post)[1]
        if y is None:
            loss = _true_losses(L, true_post, decision, n_classes)
        else:
            loss = _observed_losses(L, y, decision, n_classes)
    if risk.size == 0:
        raise ValueError("post must have at least one row")
    weights = check_weights(weights, risk.size, "weights")
    if weights is None and loss is None:
        risk.sort()
        return ErrorRejectCurve(*_trim(*_cumulate(risk)))
    if weights is None and y is not None:
        values = np.unique(check_loss_matrix(L, n_classes))
        if values.size <= _FEW_VALUES:
            return ErrorRejectCurve(*_counted_curve(risk, loss, values))
    loss = risk if loss is None else loss
    weights = np.ones(risk.size) if weights is None else weights
    if weights.min() == 0:
        risk, loss, weights = (values[weights > 0] for values in (risk, loss, weights))
    threshold, coverage, accepted = _trim(*_cumulate_in_order(np.argsort(risk), risk, loss, weights))
    return ErrorRejectCurve(threshold, coverage / coverage[-1], accepted / coverage[-1])


# Up to this many distinct losses, counting each in its own sorted list beats an argsort, which is
# several times slower than a sort.
_FEW_VALUES = 16


def _observed_losses(L, y, decision, n_classes):
    _, codes = encode_labels(y, np.arange(n_classes), "y")
    if codes.size != decision.size:
        raise ValueError(f"y must have {decision.size} entries, one for each row of post, got {codes.size}")
    return check_loss_matrix(L, n_classes)[codes, decision]


def _true_losses(L, true_post, decision, n_classes):
    risk = conditional_risk(check_posteriors(true_post, "true_post", n_classes=n_classes), L)
    if len(risk) != decision.size:
        raise ValueError(f"true_post must have {decision.size} rows, as many as post, got {len(risk)}")
    return risk[np.arange(decision.size), decision]


def _counted_curve(risk, loss, values):
    """The curve of losses that take few values: a merge of one sorted list of risks for each value."""
    groups = [np.sort(risk[loss == value]) for value in values if value > 0]
    ends = np.cumsum([group.size for group in groups])
    joined = np.concatenate(groups) if groups else np.empty(0)
    risk.sort()
    return _trim(*_merge(risk, joined, ends, values[values > 0]))


def _trim(m, *columns):
    return tuple(column if column.size == m else column[:m].copy() for column in columns)


@njit(cache=True)
def _cumulate(risk):
    """Cumulate sorted risks of equal mass, one step for each distinct value."""
    n = risk.size
    threshold, coverage, accepted = np.empty(n), np.empty(n), np.empty(n)
    m = 0
    total, lost = 0.0, 0.0
    for r in range(n):
        # Neumaier's summation: `lost` collects the low-order bits.
        new = total + risk[r]
        lost += (total - new) + risk[r] if total >= risk[r] else (risk[r] - new) + total
        total = new
        if r == n - 1 or risk[r + 1] != risk[r]:
            threshold[m] = risk[r]
            coverage[m] = (r + 1) / n
            accepted[m] = (total + lost) / n
            m += 1
    return m, threshold, coverage, accepted


@njit(cache=True)
def _merge(risk, joined, ends, values):
    """Cumulate observed losses: joined[ends[v - 1] : ends[v]] are the sorted risks of loss values[v]."""
    n = risk.size
    threshold, coverage, accepted = np.empty(n), np.empty(n), np.zeros(n)
    m = 0
    for r in range(n):
        if r == n - 1 or risk[r + 1] != risk[r]:
            threshold[m] = risk[r]
            coverage[m] = (r + 1) / n
            m += 1
    start = 0
    for v in range(ends.size):
        place, end = start, ends[v]
        for step in range(m):
            while place < end and joined[place] <= threshold[step]:
                place += 1
            accepted[step] += values[v] * (place - start) / n
        start = end
    return m, threshold, coverage, accepted


@njit(cache=True)
def _cumulate_in_order(order, risk, loss, weights):
    """Cumulate any losses and masses in the order of the risks; the result is not yet scaled."""
    n = order.size
    threshold, coverage, accepted = np.empty(n), np.empty(n), np.empty(n)
    m = 0
    mass, mass_lost, total, lost = 0.0, 0.0, 0.0, 0.0
    for r in range(n):
        row = order[r]
        new = mass + weights[row]
        mass_lost += (mass - new) + weights[row] if mass >= weights[row] else (weights[row] - new) + mass
        mass = new
        term = weights[row] * loss[row]
        new = total + term
        lost += (total - new) + term if total >= term else (term - new) + total
        total = new
        if r == n - 1 or risk[order[r + 1]] != risk[row]:
            threshold[m] = risk[row]
            coverage[m] = mass + mass_lost
            accepted[m] = total + lost
            m += 1
    return m, threshold, coverage, accepted


@njit(cache=True)
def _area(coverage, accepted):
    area = accepted[0]
    for m in range(1, coverage.size):
        step = coverage[m] - coverage[m - 1]
        if step > 0.0:
            slope = (accepted[m] - accepted[m - 1]) / step
            intercept = accepted[m - 1] - slope * coverage[m - 1]
            area += intercept * np.log1p(step / coverage[m - 1]) + slope * step
    return area
