"""Which decision is best when the posterior is known: conditional risk and its minimiser.

Everything here is pointwise. A row of `post` is the posterior p(0|x), ..., p(k-1|x) at one x, and
``L[j, i]`` is the loss of deciding i when the truth is j. The conditional risk of a decision is

    R(i|x) = sum_j L[j, i] p(j|x),

the Bayes decision minimises it, and nothing else has to be known about the law of x (Lember 2012,
Section 1.2.2).

All functions share one pass over the rows, in which each row is checked (non-negative, no NaN, sum
one) while it is used. R(i|x) is always summed over j = 0, 1, ... in this order, so equal rows get
equal risks to the last bit, whatever the batch, the machine or the function that computes them: a
threshold taken from one call can be compared with ``<=`` in another.
"""

import numpy as np
from numba import njit

from learnable._inner import assign
from learnable.problems.tables import check_loss_matrix, check_posteriors, coerce_posteriors
from learnable.validation import (
    check_has,
    check_scalar,
    encode_labels,
)

__all__ = [
    "bayes_conditional_risk",
    "bayes_decision",
    "conditional_risk",
    "cost_matrix",
    "cost_threshold",
    "decide",
    "loss_from_costs",
    "zero_one_matrix",
]


def zero_one_matrix(n_classes):
    """Return the symmetric (0-1) loss: every mistake costs one (Lember 2012, (1.2.9)).

    Parameters
    ----------
    n_classes : int

    Examples
    --------
    >>> zero_one_matrix(3)
    array([[0., 1., 1.],
           [1., 0., 1.],
           [1., 1., 0.]])
    """
    return check_loss_matrix(None, check_scalar(n_classes, "n_classes", low=1, integer=True))


def cost_matrix(a, b):
    """Return the two-class loss in which missing a 1 costs `a` and a false alarm costs `b`.

    Parameters
    ----------
    a : float
        L[1, 0], the cost of deciding 0 when the truth is 1.
    b : float
        L[0, 1], the cost of deciding 1 when the truth is 0.

    Examples
    --------
    >>> cost_matrix(20, 1)
    array([[ 0.,  1.],
           [20.,  0.]])
    """
    a, b = _check_costs(a, b)
    return np.array([[0.0, b], [a, 0.0]])


def loss_from_costs(costs, classes):
    """Write a loss matrix by the names of the classes.

    Parameters
    ----------
    costs : dict
        ``costs[truth, decision]``; every pair of different classes must be there, a missing
        (c, c) costs nothing.
    classes : array-like of shape (k,)
        The order of rows and columns.

    Returns
    -------
    ndarray of shape (k, k)

    Examples
    --------
    >>> loss_from_costs({("sick", "well"): 20, ("well", "sick"): 1}, ["sick", "well"])
    array([[ 0., 20.],
           [ 1.,  0.]])
    """
    check_has(costs, "costs", "items", "a dictionary with pairs (truth, decision) as keys")
    classes, _ = encode_labels([], classes)
    place = {label: i for i, label in enumerate(classes.tolist())}
    loss = np.full((classes.size, classes.size), np.nan)
    np.fill_diagonal(loss, 0.0)
    for key, cost in costs.items():
        if not (isinstance(key, tuple) and len(key) == 2 and all(label in place for label in key)):
            raise ValueError(f"costs has the key {key!r}; keys are pairs (truth, decision) of {list(place)}")
        loss[place[key[0]], place[key[1]]] = check_scalar(cost, f"costs[{key!r}]", low=0)
    if np.isnan(loss).any():
        j, i = np.argwhere(np.isnan(loss))[0]
        missing = (classes[j].item(), classes[i].item())
        raise ValueError(f"costs must name every pair of different classes, {missing!r} is missing")
    return loss


def conditional_risk(post, L=None):
    """Return R(i|x) = sum_j L[j, i] p(j|x) for every row and every decision.

    Parameters
    ----------
    post : array-like of shape (n, k)
        Posteriors, one row per x. Any real dtype and memory layout; each row is checked.
    L : array-like of shape (k, a), optional
        Loss, row = truth, column = decision. By default 0-1 loss.

    Returns
    -------
    ndarray of shape (n, a)

    Notes
    -----
    O(nka) time in one pass, no temporary of the size of `post`.

    Examples
    --------
    >>> conditional_risk([[0.75, 0.25]], [[0, 1], [20, 0]])
    array([[5.  , 0.75]])
    """
    table, loss, tolerance = _prepare(post, L)
    risk = np.empty((table.shape[0], loss.shape[1]))
    if not _risk_pass(table, loss, tolerance, risk):
        check_posteriors(post)
    return risk


def decide(post, L=None, ties="first"):
    """Return the Bayes decision and its conditional risk, in one pass.

    Parameters
    ----------
    post, L
        As in :func:`conditional_risk`.
    ties : {"first", "last"} or callable, default="first"
        What to do where several decisions have exactly the same smallest risk: take the lowest or
        the highest index, or ask ``ties(tied)``, which gets the boolean table of the minimisers, one
        row per tied x, and returns the index it chooses in each row. The choice does not change the
        risk.

    Returns
    -------
    decision : ndarray of int64 of shape (n,)
        argmin_i R(i|x).
    risk : ndarray of shape (n,)
        min_i R(i|x).

    Examples
    --------
    >>> decide([[0.9, 0.1], [0.5, 0.5]], ties="last")
    (array([0, 1]), array([0.1, 0.5]))
    """
    return _decide(post, L, ties, True, True)


def kink_label(post, L):
    """Return the first decision whose risk is within rounding of the smallest one.

    It changes where min_i R(i|x) has a kink and, unlike the decision itself, does not flicker where two
    decisions tie over a whole region. For integration; `post` and `L` are not checked.

    Examples
    --------
    >>> kink_label(np.array([[0.5 - 1e-16, 0.5 + 1e-16], [0.4, 0.6]]), zero_one_matrix(2))
    array([0, 1])
    """
    risk = post @ L
    return (risk <= risk.min(axis=1, keepdims=True) + 1e-14 * L.max()).argmax(axis=1)


def bayes_decision(post, L=None, ties="first"):
    """Return argmin_i R(i|x), the Bayes classifier (Lember 2012, (1.2.5)).

    The formula through densities, argmin_i sum_j L[j, i] pi_j f_j(x), is the same decision: the index
    of pi f is the summed truth j ((1.2.15) prints i there).

    Parameters
    ----------
    post, L, ties
        As in :func:`decide`.

    Returns
    -------
    ndarray of int64 of shape (n,)

    Examples
    --------
    >>> bayes_decision([[0.9, 0.1], [0.5, 0.5]], [[0, 1], [20, 0]])
    array([1, 1])
    """
    return _decide(post, L, ties, True, False)[0]


def bayes_conditional_risk(post, L=None):
    """Return min_i R(i|x), what even the best decision costs at x.

    Parameters
    ----------
    post, L
        As in :func:`conditional_risk`.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> bayes_conditional_risk([[0.9, 0.1], [0.25, 0.75]])
    array([0.1 , 0.25])
    """
    return _decide(post, L, "first", False, True)[1]


def cost_threshold(a, b):
    """Return b/(a + b), the smallest posterior p(1|x) at which deciding 1 is optimal.

    Parameters
    ----------
    a, b : float
        Costs of a miss and of a false alarm, see :func:`cost_matrix`. Not both zero.

    Examples
    --------
    >>> cost_threshold(3, 1)
    0.25
    """
    a, b = _check_costs(a, b)
    largest = max(a, b)
    return (b / largest) / (a / largest + b / largest)


def _check_costs(a, b):
    a, b = check_scalar(a, "a", low=0), check_scalar(b, "b", low=0)
    if a == 0 and b == 0:
        raise ValueError("a and b must not both be 0: every decision would be optimal")
    return a, b


def _prepare(post, L):
    table, tolerance = coerce_posteriors(post)
    return table, check_loss_matrix(L, table.shape[1]), tolerance


def _decide(post, L, ties, want_decision, want_risk):
    """Return decisions and risks; what is not wanted is not stored, and comes back empty."""
    if not (callable(ties) or ties in ("first", "last")):
        raise ValueError(f"ties must be 'first', 'last' or a callable, got {ties!r}")
    table, loss, tolerance = _prepare(post, L)
    n = len(table)
    decision = np.empty(n if want_decision else 0, dtype=np.int64)
    smallest = np.empty(n if want_risk else 0)
    one_pass = _two_class_pass if loss.shape == (2, 2) else _decision_pass
    if not one_pass(table, loss, tolerance, ties == "last", decision, smallest):
        check_posteriors(post)
    if callable(ties):
        _break_ties(table, loss, ties, decision)
    return decision, smallest


def _break_ties(post, L, ties, decision):
    """Ask `ties` about the rows in which more than one decision attains the smallest risk."""
    last = np.empty_like(decision)
    _decision_pass(post, L, np.inf, True, last, np.empty(0))
    rows = np.flatnonzero(last != decision)
    if rows.size == 0:
        return
    risk = np.empty((rows.size, L.shape[1]))
    _risk_pass(post[rows], L, np.inf, risk)
    tied = risk == risk.min(axis=1, keepdims=True)
    chosen = np.asarray(ties(tied))
    legal = chosen.shape == rows.shape and chosen.dtype.kind in "iu"
    if not legal or chosen.min() < 0 or chosen.max() >= L.shape[1] or not tied[np.arange(rows.size), chosen].all():
        raise ValueError("ties must return one of the tied decisions for each row of its argument")
    decision[rows] = chosen


# The passes below work on blocks of _BLOCK rows, transposed into the cache: every inner loop then
# runs over the rows of the block with unit stride and vectorises, although k may be small. (A power of
# two would put the rows of a block on top of each other in the cache.)
_BLOCK = 120


@njit(cache=True, inline="always")
def _load_block(post, start, stop, tolerance, block, total):
    """Transpose rows start:stop into `block`; return whether each is a probability vector."""
    for r in range(stop - start):
        for j in range(post.shape[1]):
            block[j, r] = post[start + r, j]
    ok = True
    total[:] = 0.0
    for j in range(post.shape[1]):
        for r in range(_BLOCK):
            total[r] += block[j, r]
    for j in range(post.shape[1]):
        for r in range(_BLOCK):  # a row past `stop` is zero or was checked before
            ok &= block[j, r] >= 0.0
    for r in range(stop - start):
        ok &= abs(total[r] - 1.0) <= tolerance
    return ok


@njit(cache=True, inline="always")
def _block_risk(block, L, risk):
    # Two truths a sweep halve the traffic to `risk`; the order of summation stays j = 0, 1, 2, ...
    for i in range(L.shape[1]):
        for r in range(_BLOCK):
            risk[i, r] = 0.0
        for j in range(0, L.shape[0] - 1, 2):
            even, odd = L[j, i], L[j + 1, i]
            for r in range(_BLOCK):
                risk[i, r] = (risk[i, r] + block[j, r] * even) + block[j + 1, r] * odd
        if L.shape[0] % 2 == 1:
            even = L[-1, i]
            for r in range(_BLOCK):
                risk[i, r] += block[-1, r] * even


@njit(cache=True)
def _risk_pass(post, L, tolerance, out):
    n, k = post.shape
    block, total, risk = np.zeros((k, _BLOCK)), np.empty(_BLOCK), np.empty((L.shape[1], _BLOCK))
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        if not _load_block(post, start, stop, tolerance, block, total):
            return False
        _block_risk(block, L, risk)
        for r in range(stop - start):
            for i in range(L.shape[1]):
                out[start + r, i] = risk[i, r]
    return True


@njit(cache=True)
def _decision_pass(post, L, tolerance, last, decision, smallest):
    """argmin_i R(i|x) and its value, block by block; False if a row is no probability vector."""
    n, k = post.shape
    block, total, risk = np.zeros((k, _BLOCK)), np.empty(_BLOCK), np.empty((L.shape[1], _BLOCK))
    best, which = np.empty(_BLOCK), np.empty(_BLOCK, dtype=np.int64)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        if not _load_block(post, start, stop, tolerance, block, total):
            return False
        _block_risk(block, L, risk)
        assign(best, risk[0])
        which[:] = 0
        for i in range(1, L.shape[1]):
            for r in range(_BLOCK):
                better = (risk[i, r] < best[r]) | (last & (risk[i, r] == best[r]))
                best[r] = risk[i, r] if better else best[r]
                which[r] = i if better else which[r]
        if decision.size > 0:
            assign(decision[start:stop], which)
        if smallest.size > 0:
            assign(smallest[start:stop], best)
    return True


@njit(cache=True)
def _two_class_pass(post, L, tolerance, last, decision, smallest):
    """The same for two classes and two decisions, where no block is needed."""
    ok = True
    for m in range(post.shape[0]):
        p0, p1 = post[m, 0], post[m, 1]
        ok &= (p0 >= 0.0) & (p1 >= 0.0) & (abs((p0 + p1) - 1.0) <= tolerance)
        risk0, risk1 = p0 * L[0, 0] + p1 * L[1, 0], p0 * L[0, 1] + p1 * L[1, 1]
        better = (risk1 < risk0) | (last & (risk1 == risk0))
        if decision.size > 0:
            decision[m] = 1 if better else 0
        if smallest.size > 0:
            smallest[m] = risk1 if better else risk0
    return ok
