"""Several classes by one machine for each pair of them, as in LIBSVM, with one kernel evaluation for all pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.base import clone

from learnable.kernels.functions import Precomputed

__all__ = ["fit_pairs", "pair_scores"]


def fit_pairs(machine, X, codes, weights):
    """Fit a machine for each pair of classes and merge their support vectors.

    Parameters
    ----------
    machine : SoftMarginSVM
        With `kernel_` and `classes_`; gets `machines_`, `support_`, `dual_coef_`, `intercept_` and, with a linear
        kernel, `coef_`, one row for each pair in the order (0, 1), (0, 2), ..., (1, 2), ...
    X : ndarray (n, d)
        Or the kernel matrix, for a precomputed kernel.
    codes : ndarray (n,) of int
    weights : ndarray (n,)
        Of the points, class weights included.

    Notes
    -----
    A pair costs one binary fit on its own points. The kernel's parameters come from all points.
    """
    given = isinstance(machine.kernel_, Precomputed)
    machines, rows = [], []
    for a, b in combinations(range(len(machine.classes_)), 2):
        mine = np.flatnonzero((codes == a) | (codes == b))
        part = X[np.ix_(mine, mine)] if given else X[mine]
        one = clone(machine).set_params(kernel=machine.kernel_, class_weight=None)
        machines.append(one.fit(part, codes[mine] == b, weights[mine]))
        rows.append(mine)
    support = np.unique(np.concatenate([mine[one.support_] for mine, one in zip(rows, machines, strict=True)]))
    coef = np.zeros((len(machines), len(support)))
    for p, (mine, one) in enumerate(zip(rows, machines, strict=True)):
        coef[p, np.searchsorted(support, mine[one.support_])] = one.dual_coef_
    machine.machines_ = machines
    machine.support_, machine.dual_coef_ = support, coef
    machine.intercept_ = np.array([one.intercept_ for one in machines])
    if all(hasattr(one, "coef_") for one in machines):
        machine.coef_ = np.vstack([one.coef_ for one in machines])
    machine._points = None if given else X[support]
    if not given:
        machine.support_vectors_ = machine._points
    for name in ("n_iter_", "primal_", "dual_", "gap_", "margin_"):
        setattr(machine, name, np.array([getattr(one, name) for one in machines]))
    return machine


def pair_scores(values, k):
    """Scores of the classes from the values of all pairs: votes, and within equal votes the sum of the values.

    Parameters
    ----------
    values : ndarray (n, k (k - 1) / 2)
        Positive where the second class of the pair is preferred.
    k : int

    Returns
    -------
    ndarray (n, k)
        Votes plus a third at most either way.

    Examples
    --------
    >>> pair_scores(np.array([[-2.0, -1.0, 3.0]]), 3).round(2).tolist()
    [[2.25, -0.28, 1.22]]
    """
    votes, sums = np.zeros((len(values), k)), np.zeros((len(values), k))
    for p, (a, b) in enumerate(combinations(range(k), 2)):
        second = values[:, p] >= 0.0
        votes[:, a] += ~second
        votes[:, b] += second
        sums[:, a] -= values[:, p]
        sums[:, b] += values[:, p]
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))
