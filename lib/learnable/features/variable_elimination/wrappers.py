"""The usual searches over subsets, on the same evaluator and with the same accounts as the randomised ones.

Forward selection adds the column that lowers the error most, backward elimination takes the one away that does, a
filter ranks the columns once and tries the best 1, 2, ..., N of the list (Stracuzzi and Utgoff 2004, Sec. 7.3). All of
them, and `rve` and `rvers` too, ask a `SubsetEvaluator`, and a `SubsetSearch` keeps every question that was asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.features.discretization import code_for_classes
from learnable.features.variable_elimination.schedule import training_cost
from learnable.validation import Result, check_finite_array, check_has, check_scalar


@dataclass(frozen=True, eq=False)
class SubsetSearch(Result):
    """What a search over subsets of columns found, and every training run that it asked for.

    Attributes
    ----------
    kept : ndarray of int64
        The chosen columns, in order.
    error : float
        Their error, as the evaluator gave it.
    n_features : int
        Number of columns at the start.
    sizes : ndarray of int64 of shape (n_calls,)
        How many columns each training run had.
    errors : ndarray of shape (n_calls,)
        The error of each.
    accepted : ndarray of bool of shape (n_calls,)
        Which of them the search went on from.
    n_iter : int
        Steps of the search: one call each, except in stepwise searches, where a step asks for every neighbour.
    converged : bool
        Whether the search ended by its own rule.
    """

    kept: np.ndarray
    error: float
    n_features: int
    sizes: np.ndarray
    errors: np.ndarray
    accepted: np.ndarray
    n_iter: int
    converged: bool

    @property
    def n_calls(self):
        """Number of training runs asked for, with the first one on all columns where there is one."""
        return len(self.sizes)

    def cumulative_cost(self, cost="linear"):
        """Cost of all training runs up to each one.

        Parameters
        ----------
        cost : {"constant", "log", "linear", "quadratic"}, callable, or array-like, default="linear"
            Cost of training, as in `training_cost`.

        Returns
        -------
        ndarray of shape (n_calls,)
            The running total of M over the runs.
        """
        return np.cumsum(training_cost(cost, self.n_features)[self.sizes])


def forward_selection(evaluator, *, tol=0.0, max_features=None):
    """Start with no column; add the one that gives the smallest error, as long as that falls by more than `tol`.

    Parameters
    ----------
    evaluator : SubsetEvaluator
        Gives the error of a subset.
    tol : float, default=0.0
        By how much a further column must lower the error.
    max_features : int, optional
        Stop at so many columns.

    Returns
    -------
    SubsetSearch
        The columns and the account. At most N calls for each column that is added, and N for the last, vain step.

    Examples
    --------
    >>> from learnable.chapters.randomized_variable_elimination.theory import OracleSubsets
    >>> found = forward_selection(OracleSubsets(20, [3, 8]))
    >>> found.kept, found.n_calls
    (array([3, 8]), 57)
    """
    evaluator, tol = _checked(evaluator, tol)
    n = evaluator.n_features
    limit = n if max_features is None else check_scalar(max_features, "max_features", low=1, high=n, integer=True)
    account, inside, outside, error, steps = _Account(), [], list(range(n)), np.inf, 0
    while outside and len(inside) < limit:
        steps += 1
        tried = [account.ask(evaluator, [*inside, j]) for j in outside]
        best = int(np.argmin(tried))
        if not error - tried[best] > tol:
            break
        error = tried[best]
        account.accept(len(outside) - best)
        inside.append(outside.pop(best))
    return account.close(inside, error, n, steps)


def backward_elimination(evaluator, *, tol=0.0, min_features=1):
    """Start with all columns; remove the one whose absence gives the smallest error, as long as the error falls.

    Parameters
    ----------
    evaluator : SubsetEvaluator
        Gives the error of a subset.
    tol : float, default=0.0
        By how much a removal must lower the error; a negative value lets it rise by so much.
    min_features : int, default=1
        Stop at so few columns.

    Returns
    -------
    SubsetSearch
        The columns and the account. N calls for the first step, N - 1 for the second, and so on.

    Examples
    --------
    >>> from learnable.chapters.randomized_variable_elimination.theory import OracleSubsets
    >>> found = backward_elimination(OracleSubsets(20, [3, 8]), tol=-1e-9)
    >>> found.kept, found.n_calls
    (array([3, 8]), 210)
    """
    evaluator, tol = _checked(evaluator, tol)
    n = evaluator.n_features
    least = check_scalar(min_features, "min_features", low=0, high=n, integer=True)
    account, inside, steps = _Account(), list(range(n)), 0
    error = account.ask(evaluator, inside)
    account.accept(1)
    while len(inside) > least:
        steps += 1
        tried = [account.ask(evaluator, inside[:j] + inside[j + 1 :]) for j in range(len(inside))]
        best = int(np.argmin(tried))
        if not error - tried[best] > tol:
            break
        error = tried[best]
        account.accept(len(inside) - best)
        inside.pop(best)
    return account.close(inside, error, n, steps)


def filter_selection(evaluator, relevance):
    """Rank the columns once, train with the best 1, 2, ..., N of them, and keep the number with the smallest error.

    Parameters
    ----------
    evaluator : SubsetEvaluator
        Gives the error of a subset.
    relevance : array-like of shape (n_features,)
        A figure of merit for each column, such as `gain_ratio`; larger is better, ties go to the earlier column.

    Returns
    -------
    SubsetSearch
        The columns and the account; N calls.

    Examples
    --------
    >>> from learnable.chapters.randomized_variable_elimination.theory import OracleSubsets
    >>> found = filter_selection(OracleSubsets(4, [1, 3]), [0.1, 0.9, 0.2, 0.7])
    >>> found.kept, found.n_calls
    (array([1, 3]), 4)
    """
    evaluator, _ = _checked(evaluator, 0.0)
    relevance = check_finite_array(relevance, "relevance", ndim=1)
    n = evaluator.n_features
    if len(relevance) != n:
        raise ValueError(f"relevance must have one value for each of the {n} columns, got {len(relevance)}")
    order = np.argsort(-relevance, kind="stable")
    account = _Account()
    tried = [account.ask(evaluator, order[:m]) for m in range(1, n + 1)]
    best = int(np.argmin(tried))
    account.accept(n - best)
    return account.close(order[: best + 1], tried[best], n, n)


def gain_ratio(X, y):
    """Share of the entropy of each column that tells about the class, I(X_j; Y) / H(X_j) (Quinlan 1993).

    Parameters
    ----------
    X : array-like of shape (n, d)
        Discrete columns; continuous ones are cut as `MDLDiscretizer` does.
    y : array-like of shape (n,)
        Class labels.

    Returns
    -------
    ndarray of shape (d,)
        The ratios, in [0, 1]; 0 for a constant column. Cost O(n d).

    Examples
    --------
    >>> gain_ratio([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], [0, 0, 1, 1])
    array([1., 0., 0.])
    """
    columns = code_for_classes(X, y)
    information, entropies = columns.mutual_information(columns.reference(y)), columns.entropies()
    return np.divide(information, entropies, out=np.zeros(columns.n_features), where=entropies > 0)


class _Account:
    """The list of training runs."""

    def __init__(self):
        self.sizes, self.errors, self.accepted = [], [], []

    def ask(self, evaluator, columns):
        error = evaluator.error(columns)
        value = np.asarray(error)
        if value.ndim or value.dtype.kind not in "biuf" or np.isnan(value):
            named = ", ".join(str(j) for j in list(columns)[:10]) + (", ..." if len(columns) > 10 else "")
            got = f"{error!r:.40}"
            raise ValueError(f"evaluator must give a number as the error of a subset, got {got} for columns [{named}]")
        self.sizes.append(len(columns))
        self.errors.append(error)
        self.accepted.append(False)
        return self.errors[-1]

    def accept(self, ago):
        """Mark the run that was asked for so many runs ago, the last one being 1."""
        self.accepted[-ago] = True

    def arrays(self):
        return np.array(self.sizes, dtype=np.int64), np.array(self.errors), np.array(self.accepted, dtype=bool)

    def close(self, columns, error, n_features, n_iter):
        kept = np.sort(np.array(columns, dtype=np.int64))
        return SubsetSearch(kept, float(error), n_features, *self.arrays(), n_iter, True)


def _checked(evaluator, tol):
    check_has(evaluator, "evaluator", "error n_features", "a SubsetEvaluator")
    return evaluator, check_scalar(tol, "tol")
