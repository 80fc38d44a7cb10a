"""The same classes many times over: leave one out, and levels one after the other, each started from its neighbour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils.validation import check_X_y

from learnable.features.socp.selectors import SOCPSelector
from learnable.validation import Result, binary_codes, check_finite_array, check_has


@dataclass(frozen=True, eq=False)
class LOOSelection(Result):
    """What `loo_selection` returns.

    Attributes
    ----------
    error_rate : float
        Share of samples that the rule fitted without them misclassifies.
    predictions : ndarray of shape (m,)
        Label of each sample by that rule.
    union : ndarray of int
        Features in use in at least one fit.
    frequency : ndarray of shape (n,)
        Share of the fits that use a feature.
    n_features : ndarray of shape (m,)
        How many features each fit uses.
    n_iter : int
        Steps of the solver in all fits.
    gap : float
        The largest duality gap of a fit; zero for a linear program.
    converged : bool
        Whether all fits reached their tolerance.
    """

    error_rate: float
    predictions: np.ndarray
    union: np.ndarray
    frequency: np.ndarray
    n_features: np.ndarray
    n_iter: int
    gap: float
    converged: bool


@dataclass(frozen=True, eq=False)
class EtaPath(Result):
    """What `eta_path` returns; entry k belongs to ``etas[k]``.

    Attributes
    ----------
    etas : ndarray of shape (k,)
        The levels, as given.
    objectives : ndarray of shape (k,)
        Least norms ‖w‖₁; infinite where a level cannot be reached.
    n_features : ndarray of shape (k,)
        Features in use.
    train_errors : ndarray of shape (k,)
        Share of misclassified training samples.
    loo_errors : ndarray of shape (k,)
        Leave-one-out error rates, NaN if they were not asked for.
    certified_errors : ndarray of shape (k,)
        The bounds on the training error of each class.
    coefs : ndarray of shape (k, n)
        The weights.
    n_iter : int
        Interior-point steps in all fits.
    gap : float
        The largest duality gap.
    converged : bool
        Whether all fits reached their tolerance.
    """

    etas: np.ndarray
    objectives: np.ndarray
    n_features: np.ndarray
    train_errors: np.ndarray
    loo_errors: np.ndarray
    certified_errors: np.ndarray
    coefs: np.ndarray
    n_iter: int
    gap: float
    converged: bool


def loo_selection(selector, X, y, *, n_jobs=None):
    """Leave one sample out, fit, predict it; count which features the fits use.

    Each fold starts from the fit of all samples: its features, signs and multipliers are the first guess, and most
    folds need a few Newton steps only. Whether more is needed is found by pricing, so the answer is that of a cold
    start. Cost: m fits.

    Parameters
    ----------
    selector : estimator
        `SOCPSelector`, `SparseFisher`, `RobustSOCPSelector` or `LPSelector`; it is not changed.
    X : array-like of shape (m, n)
        Samples in rows.
    y : array-like of shape (m,)
        Labels of two classes, each with at least two samples.
    n_jobs : int, optional
        Folds at the same time, through joblib.

    Returns
    -------
    LOOSelection
        Error rate, union and frequencies.

    Examples
    --------
    >>> from learnable.features import SOCPSelector
    >>> y = np.arange(12) % 2
    >>> X = np.random.default_rng(0).normal(size=(12, 50)) + np.where(np.arange(50) == 7, 8.0, 0.0) * y[:, None]
    >>> found = loo_selection(SOCPSelector(eta=0.5), X, y)
    >>> found.error_rate, found.union.tolist()
    (0.0, [7])
    """
    check_has(selector, "selector", "_fit get_support", "a selector of this chapter")
    X, y = check_X_y(X, y, dtype=np.float64)
    codes = binary_codes(y)[1]
    if np.bincount(codes).min() < 2:
        raise ValueError("y must have at least two samples of each class, so that one can be left out")
    start = getattr(clone(selector).fit(X, y), "solution_", None)
    folds = Parallel(n_jobs=n_jobs)(delayed(_fold)(selector, X, y, i, start) for i in range(len(X)))
    labels, masks, steps, gaps, done = zip(*folds, strict=True)
    masks = np.array(masks)
    predictions = np.array(labels)
    return LOOSelection(
        float(np.mean(predictions != y)),
        predictions,
        np.flatnonzero(masks.any(axis=0)),
        masks.mean(axis=0),
        masks.sum(axis=1),
        int(sum(steps)),
        float(max(gaps)),
        all(done),
    )


def eta_path(X, y, etas, *, loo=False, tol=1e-8, max_iter=100, n_jobs=None):
    """Fit `SOCPSelector` at several levels, each started from the features of the level before.

    Cost: one fit for each level, and m more if `loo`.

    Parameters
    ----------
    X : array-like of shape (m, n)
        Samples in rows.
    y : array-like of shape (m,)
        Labels of two classes.
    etas : array-like of shape (k,)
        Levels in [0, 1), in any order.
    loo : bool, default=False
        Leave-one-out errors too.
    tol : float, default=1e-8
        The relative duality gap to reach.
    max_iter : int, default=100
        Interior-point steps in a round, and rounds.
    n_jobs : int, optional
        Folds at the same time, through joblib.

    Returns
    -------
    EtaPath
        Norms, numbers of features and errors.

    Examples
    --------
    >>> y = np.arange(12) % 2
    >>> X = np.random.default_rng(0).normal(size=(12, 50)) + np.where(np.arange(50) == 7, 8.0, 0.0) * y[:, None]
    >>> eta_path(X, y, [0.0, 0.5, 0.9]).n_features.tolist()
    [1, 1, 1]
    """
    etas = check_finite_array(etas, "etas", ndim=1)
    if len(etas) == 0 or etas.min() < 0 or etas.max() >= 1:
        raise ValueError("etas must be at least one number in [0, 1)")
    X, y = check_X_y(X, y, dtype=np.float64)
    rows = {}
    start = None
    for eta in np.sort(np.unique(etas)):
        model = SOCPSelector(eta=float(eta), tol=tol, max_iter=max_iter)._fit(X, y, start)
        start = model.solution_
        left_out = loo_selection(model, X, y, n_jobs=n_jobs).error_rate if loo else np.nan
        reached = model.solution_.objective if model.status_ != "infeasible" else np.inf
        rows[float(eta)] = (model, reached, float(np.mean(model.predict(X) != y)), left_out)
    chosen = [rows[float(eta)] for eta in etas]
    models = [row[0] for row in chosen]
    return EtaPath(
        etas.copy(),
        np.array([row[1] for row in chosen]),
        np.array([int(model.get_support().sum()) for model in models]),
        np.array([row[2] for row in chosen]),
        np.array([row[3] for row in chosen]),
        np.array([model.certified_error_ for model in models]),
        np.array([model.coef_[0] for model in models]),
        int(sum(row[0].n_iter_ for row in rows.values())),
        float(max(_finite_gap(row[0]) for row in rows.values())),
        all(row[0].solution_.converged for row in rows.values()),
    )


def _fold(selector, X, y, i, start):
    kept = np.arange(len(X)) != i
    model = clone(selector)._fit(X[kept], y[kept], start)
    solution = getattr(model, "solution_", None)
    done = solution is None or solution.converged
    return model.predict(X[i : i + 1])[0], model.get_support(), model.n_iter_, _finite_gap(model), done


def _finite_gap(model):
    """The gap of a solution; an infeasible program has none."""
    solution = getattr(model, "solution_", None)
    return 0.0 if solution is None or solution.status == "infeasible" else solution.gap
