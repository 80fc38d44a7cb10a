"""Choosing the class by data: sieves, structural risk minimisation, and what no rule can do.

Source: Lember 2012, Sec. 2.3, 2.5 and 2.8.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from sklearn.base import clone
from sklearn.model_selection import KFold

from learnable.foundations.vc_theory.learners import KIntervalERM, _BinaryRule, _inside, interval_path
from learnable.validation import check_finite_array, check_has, check_rng, check_scalar, check_seed

__all__ = [
    "PENALTIES",
    "SRM",
    "IntervalTruth",
    "RiskDecomposition",
    "SieveERM",
    "cross_validated_k",
    "no_free_lunch",
    "penalty",
    "risk_decomposition",
    "srm_select",
]


def penalty(name, V, n, k=1, a=1.0, b=0.0):
    """Complexity penalties C(V_k, n) of structural risk minimisation.

    Parameters
    ----------
    name : {"generic", "lugosi", "dgl", "none"}
        ``generic`` a√((V ln n + b)/n); ``lugosi`` 2√((V ln(n+1) + ln 2)/n) + √(ln k/n), (2.8.8); ``dgl``
        √(32 V (ln n + 1)/n), (2.8.10) with the bracket that its proof needs.
    V, k : int or arrays
        VC dimension and index of the class.
    n : int
    a : float, default=1.0
        Factor of the generic penalty.
    b : float, default=0.0
        Addend of the generic penalty.

    Examples
    --------
    >>> round(float(penalty("lugosi", V=2, n=1000)), 4)
    0.2409
    """
    V, k = check_finite_array(V, "V"), check_finite_array(k, "k")
    n, a, b = check_scalar(n, "n", low=1), check_scalar(a, "a", low=0), check_scalar(b, "b", low=0)
    if not (isinstance(name, str) and name in PENALTIES):
        raise ValueError(f"penalty must be one of {', '.join(PENALTIES)} or a callable; got {name!r}")
    if (V < 0).any() or (k < 1).any():
        raise ValueError("V must not be negative and k must be at least 1")
    return PENALTIES[name](V, n, k, a, b)


PENALTIES: dict[str, Callable] = {
    "generic": lambda V, n, k, a, b: a * np.sqrt((V * np.log(n) + b) / n),
    "lugosi": lambda V, n, k, a, b: 2 * np.sqrt((V * np.log(n + 1) + np.log(2)) / n) + np.sqrt(np.log(k) / n),
    "dgl": lambda V, n, k, a, b: np.sqrt(32 * V * (np.log(n) + 1) / n),
    "none": lambda V, n, k, a, b: np.zeros(np.broadcast(V, k).shape),
}


def srm_select(train_risks, V, n, rule="lugosi", **options):
    """Index k − 1 of the class that minimises training risk plus penalty; the smallest class on a tie.

    Parameters
    ----------
    train_risks : array (K,)
        Training risk of the minimiser in each class.
    V : array (K,)
    n : int
    rule : str or callable ``(V, n, k) -> array``
    **options
        As in `penalty`: a and b.

    Examples
    --------
    >>> int(srm_select([0.4, 0.1, 0.09], [2, 4, 6], 100_000))
    1
    """
    risks, V = check_finite_array(train_risks, "train_risks", ndim=1), check_finite_array(V, "V", ndim=1)
    if risks.shape != V.shape or len(risks) == 0:
        raise ValueError("train_risks and V must be vectors of the same length")
    k = np.arange(1, len(risks) + 1)
    cost = rule(V, n, k) if callable(rule) else penalty(rule, V, n, k, **options)
    return int(np.argmin(risks + cost))


class SRM(_BinaryRule):
    """Structural risk minimisation over classes of growing complexity.

    Parameters
    ----------
    classes : sequence of estimators, optional
        One empirical risk minimiser a class; by default unions of at most 1, …, ``k_max`` intervals, all fitted by one
        dynamic programme.
    dimensions : sequence of float, optional
        Their VC dimensions; required with ``classes``.
    k_max : int
    penalty : str or callable
        See `penalty`.
    a, b : float
        Constants of the generic penalty.
    feature : int, optional
        The column that unions of intervals use; needed where X has more than one.

    Attributes
    ----------
    k_ : int
        The chosen class.
    train_risks_, penalties_ : array
    estimator_ : the fitted minimiser

    Examples
    --------
    >>> truth = IntervalTruth(k0=3, q=0.1)
    >>> X, y = truth.sample(5000, random_state=0)
    >>> SRM(k_max=12).fit(X, y).k_
    3
    """

    def __init__(self, classes=None, dimensions=None, k_max=12, penalty="lugosi", a=1.0, b=0.0, feature=None):
        self.classes = classes
        self.dimensions = dimensions
        self.k_max = k_max
        self.penalty = penalty
        self.a = a
        self.b = b
        self.feature = feature

    def _column(self, X):
        """What the default classes look at: the only column, or the one that was asked for."""
        if self.feature is None and X.shape[1] > 1:
            raise ValueError(f"unions of intervals use one column, X has {X.shape[1]}: give feature, or classes")
        j = check_scalar(self.feature or 0, "feature", low=0, high=X.shape[1] - 1, integer=True)
        return X[:, j : j + 1]

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        n = len(codes)
        if self.classes is None:
            k_max = check_scalar(self.k_max, "k_max", low=1, integer=True)
            V = 2.0 * np.arange(1, k_max + 1)
            whole = KIntervalERM(k_max).fit(self._column(X), codes)
            self.train_risks_ = whole.errors_[1:] / n
        else:
            if self.dimensions is None or len(self.dimensions) != len(self.classes):
                raise ValueError("dimensions must give the VC dimension of each class")
            V = np.asarray(self.dimensions, float)
            fitted = [clone(member).fit(X, codes) for member in self.classes]
            self.train_risks_ = np.array([np.mean(member.predict(X) != codes) for member in fitted])
        k = np.arange(1, len(V) + 1)
        if callable(self.penalty):
            self.penalties_ = np.asarray(self.penalty(V, n, k), float)
        else:
            self.penalties_ = penalty(self.penalty, V, n, k, a=self.a, b=self.b)
        chosen = int(np.argmin(self.train_risks_ + self.penalties_))
        self.k_ = chosen + 1
        if self.classes is None:
            whole.intervals_ = whole.intervals(self.k_)
            self.intervals_ = whole.intervals_
            self.estimator_ = whole
        else:
            self.estimator_ = fitted[chosen]
        return self

    def predict(self, X):
        X = self._points(X)
        codes = self.estimator_.predict(self._column(X) if self.classes is None else X)
        return self._decode(np.asarray(codes) == 1)


class SieveERM(_BinaryRule):
    """Empirical risk minimisation in a class that grows with n: by default unions of k(n) intervals.

    Parameters
    ----------
    k_of_n : callable, optional
        n → k, by default ⌈n^{1/3}⌉.
    member : callable, optional
        k → an empirical risk minimiser over the k-th class, for another sieve: the estimator is fitted to the labels
        0 and 1. With it X may have any number of columns.

    Attributes
    ----------
    k_ : int
        The class that was used.
    estimator_ : the fitted minimiser
    intervals_ : array (j, 2)
        For unions of intervals.

    Examples
    --------
    >>> X, y = IntervalTruth().sample(1000, random_state=0)
    >>> SieveERM().fit(X, y).k_
    10
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> sieve = SieveERM(member=lambda k: DecisionTreeClassifier(max_leaf_nodes=k + 1)).fit(X, y)
    >>> int(sieve.estimator_.get_n_leaves())
    11
    """

    def __init__(self, k_of_n=None, member=None):
        self.k_of_n = k_of_n
        self.member = member

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        for name in ("k_of_n", "member"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise ValueError(f"{name} must be a function or None, got {getattr(self, name)!r}")
        rule = self.k_of_n or (lambda n: int(np.ceil(round(n ** (1 / 3), 9))))
        k = check_scalar(rule(len(codes)), "k_of_n(n)", low=1, integer=True)
        if self.member is not None:
            self.k_, self.estimator_ = k, self.member(k).fit(X, codes)
            return self
        if X.shape[1] != 1:
            raise ValueError(f"X must have 1 feature(s), got {X.shape[1]} features; give member for another sieve")
        self.k_ = min(k, (len(codes) + 1) // 2 or 1)  # more intervals than that change nothing
        self.estimator_ = KIntervalERM(self.k_).fit(X, codes)
        self.intervals_ = self.estimator_.intervals_
        return self

    def predict(self, X):
        X = self._points(X)
        return self._decode(np.asarray(self.estimator_.predict(X)) == 1)


def penalised_minimum(x, y, k_max, rule="lugosi", **options):
    """SRM as one minimisation over the union of all classes: (2.8.6), by giving each set its own penalty.

    Every candidate is charged the penalty of the smallest class that holds it. Returns (k, intervals, value).

    Examples
    --------
    >>> k, intervals, value = penalised_minimum([1, 2, 3, 4, 5, 6], [0, 1, 1, 0, 0, 0], 2, lambda V, n, k: 0.1 * k)
    >>> k, round(value, 2)
    (1, 0.1)
    """
    x = check_finite_array(x, "x", ndim=1)
    n = len(x)
    path = interval_path(x, y, k_max)
    k = np.arange(1, k_max + 1)
    cost = rule(2.0 * k, n, k) if callable(rule) else penalty(rule, 2.0 * k, n, k, **options)
    best = (np.inf, None, None)
    for limit in k:
        found = path.intervals(int(limit))
        used = max(len(found), 1)  # the smallest class that holds this set
        inside = _inside(x, found)
        value = float(np.mean(inside != (np.asarray(y) == 1)) + cost[used - 1])
        if value < best[0]:
            best = (value, used, found)
    return best[1], best[2], best[0]


def cross_validated_k(x, y, k_max, cv=5, random_state=None):
    """The number of intervals with the smallest cross-validated error: one programme a fold serves every k.

    >>> X, y = IntervalTruth().sample(600, random_state=1)
    >>> 3 <= cross_validated_k(X[:, 0], y, 12, random_state=0) <= 6
    True

    Parameters
    ----------
    x : array-like of shape (n,)
    y : array-like of shape (n,)
    k_max : int
        Largest number of intervals.
    cv : int, default=5
        Number of folds.
    random_state : None, int or Generator
    """
    x, y = check_finite_array(x, "x", ndim=1), np.asarray(y)
    if y.shape != x.shape:
        raise ValueError(f"y must hold one label for each of the {len(x)} entries of x, got shape {y.shape}")
    wrong = np.zeros(check_scalar(k_max, "k_max", low=1, integer=True))
    for train, test in KFold(cv, shuffle=True, random_state=check_seed(random_state)).split(x):
        path = interval_path(x[train], y[train], k_max)
        for k in range(1, k_max + 1):
            wrong[k - 1] += np.count_nonzero(_inside(x[test], path.intervals(k)) != (y[test] == 1))
    return int(np.argmin(wrong)) + 1


@dataclass(frozen=True)
class IntervalTruth:
    """X uniform on [0, 1]; class 1 on the even-numbered of 2 k0 + 1 equal segments; labels flipped with probability q.

    Examples
    --------
    >>> truth = IntervalTruth(k0=3, q=0.1)
    >>> truth.bayes_risk, round(truth.class_risk(1), 4)
    (0.1, 0.3286)
    """

    k0: int = 3
    q: float = 0.1

    def __post_init__(self):
        check_scalar(self.k0, "k0", low=1, integer=True)
        check_scalar(self.q, "q", low=0.0, high=0.5)

    @property
    def segments(self):
        edges = np.arange(1, 2 * self.k0 + 1) / (2 * self.k0 + 1)
        return edges.reshape(-1, 2)

    @property
    def bayes_risk(self):
        return self.q

    def class_risk(self, k):
        """Smallest risk among unions of at most k intervals: drop, or bridge, k0 − k of the segments."""
        return self.q + (1 - 2 * self.q) * max(self.k0 - k, 0) / (2 * self.k0 + 1)

    def sample(self, n, random_state=None):
        """n points as (X of shape (n, 1), y)."""
        n = check_scalar(n, "n", low=1, integer=True)
        rng = check_rng(random_state)
        x = rng.random(n)
        y = _inside(x, self.segments) ^ (rng.random(n) < self.q)
        return x[:, None], y.astype(np.int64)

    def risk(self, intervals):
        """Exact risk of deciding 1 on disjoint intervals: q + (1 − 2q) times the length of the symmetric difference."""
        mine = np.clip(np.asarray(intervals, float).reshape(-1, 2), 0.0, 1.0)
        mine = mine[mine[:, 1] > mine[:, 0]]
        ends = np.concatenate([mine.ravel(), self.segments.ravel(), [0.0, 1.0]])
        ends = np.unique(ends)
        middle = 0.5 * (ends[1:] + ends[:-1])
        differ = _inside(middle, mine) != _inside(middle, self.segments)
        return float(self.q + (1 - 2 * self.q) * np.diff(ends)[differ].sum())

    def uniform_deviation(self, X, y, k):
        """sup over unions of at most k intervals of |R_n − R|, exactly, by a dynamic programme over points and gaps."""
        return _risk_deviation(np.asarray(X, float).ravel(), np.asarray(y), self, k)


def _risk_deviation(x, y, truth, k):
    """Both signs of sup (R_n − R): a set gains, point by point and gap by gap, what it adds to the difference."""
    order = np.argsort(x)
    x, y = x[order], y[order]
    n = len(x)
    edges = truth.segments.ravel()
    cuts = np.sort(np.concatenate([x, edges, [0.0, 1.0]]))
    middle = 0.5 * (cuts[1:] + cuts[:-1])
    eta = np.where(_inside(middle, truth.segments), 1 - truth.q, truth.q)
    gap = np.diff(cuts) * (1 - 2 * eta)  # change of R when a gap joins the set
    point = np.where(y == 1, -1.0, 1.0) / n  # change of R_n when a point joins
    base = np.mean(y == 1) - float(np.sum(np.diff(cuts) * eta))
    where = np.searchsorted(cuts, x)
    worst = abs(base)
    for sign in (1.0, -1.0):
        gains = np.zeros(2 * len(middle) + 1)
        gains[1::2] = -sign * gap
        np.add.at(gains, 2 * where, sign * point)
        worst = max(worst, sign * base + _most(gains, k))
    return float(worst)


@njit(cache=True)
def _most(gains, k):
    """Largest sum of at most k disjoint runs of a sequence."""
    best = np.full(2 * k + 1, -np.inf)
    best[0] = 0.0
    for gain in gains:
        for s in range(2 * k, 0, -1):
            best[s] = max(best[s], best[s - 1]) + (gain if s % 2 else 0.0)
    return best.max()


@dataclass(frozen=True)
class RiskDecomposition:
    """Means over repetitions, and their standard errors."""

    estimation: float
    estimation_se: float
    approximation: float
    generalisation_gap: float
    sup_deviation: float | None
    train_risk: float
    risk: float


def risk_decomposition(learner, problem, n, n_draws, class_risk=None, random_state=None, sup=None):
    """Excess risk split into estimation and approximation error, (2.5.1), by simulation with exact risks.

    Parameters
    ----------
    learner : estimator
        With ``intervals_`` after fitting, or with ``risk_exact``.
    problem : IntervalTruth or a problem of the first chapter
    n, n_draws : int
    class_risk : float, optional
        inf R over the learner's class; for `IntervalTruth` and interval learners it is known.
    random_state : None, int or Generator
    sup : callable, optional
        ``sup(X, y)`` gives sup |R_n − R| over the class.

    Returns
    -------
    RiskDecomposition

    Examples
    --------
    >>> parts = risk_decomposition(KIntervalERM(1), IntervalTruth(k0=3), 500, 20, random_state=0)
    >>> round(parts.approximation, 4), bool(0 < parts.estimation < parts.approximation)
    (0.2286, True)
    """
    check_has(problem, "problem", "bayes_risk", "an IntervalTruth or a problem with a known law")
    n_draws = check_scalar(n_draws, "n_draws", low=1, integer=True)
    rng = check_rng(random_state)
    bayes = problem.bayes_risk if isinstance(problem, IntervalTruth) else float(problem.bayes_risk())
    rows = np.empty((n_draws, 4))
    for r in range(n_draws):
        X, y = problem.sample(n, rng)
        X = np.asarray(X, float).reshape(n, -1)
        fitted = clone(learner).fit(X, y)
        risk = problem.risk(fitted.intervals_) if isinstance(problem, IntervalTruth) else fitted.risk_exact(problem)
        train = float(np.mean(fitted.predict(X) != y))
        rows[r] = risk, train, abs(risk - train), np.nan if sup is None else sup(X, y)
    if class_risk is None:
        if not (isinstance(problem, IntervalTruth) and hasattr(learner, "k")):
            raise ValueError("class_risk is needed: the smallest risk within the learner's class")
        class_risk = problem.class_risk(learner.k)
    mean = rows.mean(axis=0)
    error = rows[:, 0].std(ddof=1) / np.sqrt(n_draws) if n_draws > 1 else np.nan
    return RiskDecomposition(
        estimation=float(mean[0] - class_risk),
        estimation_se=float(error),
        approximation=float(class_risk - bayes),
        generalisation_gap=float(mean[2]),
        sup_deviation=None if sup is None else float(mean[3]),
        train_risk=float(mean[1]),
        risk=float(mean[0]),
    )


def no_free_lunch(rule, K, n, exact_limit=300_000, n_draws=20_000, random_state=None):
    """Average and worst risk of a rule over all labelings of K points, when X is uniform and Y = f(X).

    Parameters
    ----------
    rule : callable
        ``rule(xs, ys, K)`` gets n seen points (integers below K) with their labels and returns K predictions.
    K, n : int
    exact_limit : int
        Samples times labelings up to which everything is enumerated; beyond it, they are drawn.
    n_draws : int, default=20000
        Labelings drawn where there are too many to enumerate.
    random_state : None, int or Generator

    Returns
    -------
    mean, worst : float
        ``worst`` is the largest mean risk of any labeling (among the drawn ones, where they are drawn).
    exact : bool

    Notes
    -----
    A rule that repeats what it has seen has mean ½ (1 − 1/K)^n exactly; no rule has less.

    Examples
    --------
    >>> def repeat(xs, ys, K):
    ...     guess = np.zeros(K, int)
    ...     guess[xs] = ys
    ...     return guess
    >>> no_free_lunch(repeat, 4, 3)
    (0.2109375, 0.421875, True)
    """
    K, n = check_scalar(K, "K", low=1, integer=True), check_scalar(n, "n", low=0, integer=True)
    exact_limit = check_scalar(exact_limit, "exact_limit", low=0)
    n_draws = check_scalar(n_draws, "n_draws", low=4, high=10**8, integer=True)
    if K > 10**6 or n > 10**6:
        raise ValueError(f"K and n must be at most a million: whole labelings are drawn; got {K} and {n}")
    # In logarithms: K**n alone has more digits than fit into memory long before it is too large to enumerate.
    exact = n * np.log(K) + K * np.log(2.0) <= np.log(max(exact_limit, 0.5)) + 1e-9
    rng = check_rng(random_state)
    if exact:
        samples = np.array(list(itertools.product(range(K), repeat=n)), int).reshape(K**n, n)
        labelings = np.array(list(itertools.product((0, 1), repeat=K)), int)
        risk = np.array([np.mean([np.mean(rule(s, f[s], K) != f) for s in samples]) for f in labelings])
        return float(risk.mean()), float(risk.max()), True
    many = max(int(np.sqrt(n_draws)), 2)
    labelings = rng.integers(0, 2, (many, K))
    samples = rng.integers(0, K, (many, n))
    risk = np.array([np.mean([np.mean(rule(s, f[s], K) != f) for s in samples]) for f in labelings])
    return float(risk.mean()), float(risk.max()), False
