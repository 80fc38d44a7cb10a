"""Classification problems whose law is known: the common part, and problems on finitely many points.

A problem knows the joint law of (x, y), so that it can be asked for posteriors, for samples, for the
risk of a classifier and for the Bayes risk. Every risk is an expectation over x of a function of the
posterior (Lember 2012, (1.2.4)), so a problem only has to say how it takes expectations.
"""

from abc import ABC, abstractmethod

import numpy as np

from learnable.problems.decisions import bayes_conditional_risk, bayes_decision, decide, kink_label
from learnable.problems.reject import RejectTradeoff, augment_loss, error_reject_curve
from learnable.problems.tables import check_loss_matrix
from learnable.validation import check_finite_array, check_probability_vector, check_rng, check_scalar

__all__ = ["Estimate", "FiniteProblem", "Problem"]


class Estimate(float):
    """A number that knows how uncertain it is.

    Parameters
    ----------
    value : float
    error, method
        See the attributes.

    Attributes
    ----------
    error : float
        The standard error of a Monte Carlo estimate; for a quadrature the estimated absolute error; 0
        for a sum or a closed form.
    method : str
        How it was computed.

    Examples
    --------
    >>> risk = Estimate(0.1587, error=0.0004, method="mc")
    >>> risk
    0.1587 ± 0.0004 (mc)
    >>> risk + 1
    1.1587
    """

    __slots__ = ("error", "method")

    def __new__(cls, value, error=0.0, method="exact"):
        try:
            self = super().__new__(cls, value)
            self.error = float(error)
        except OverflowError:
            raise ValueError("value and error must be numbers that a float can hold") from None
        self.method = method
        return self

    def __repr__(self):
        return f"{float(self):.6g} ± {self.error:.2g} ({self.method})"

    __str__ = __repr__

    def __reduce__(self):
        return Estimate, (float(self), self.error, self.method)


class Problem(ABC):
    """A known joint law of a feature x and a class y in 0..k-1.

    Subclasses have the attributes `n_classes` and `priors`, say what the posterior at x is and how to
    take an expectation over x; risks, Bayes rules and reject trade-offs follow.

    Examples
    --------
    >>> isinstance(FiniteProblem([[0.3, 0.1], [0.2, 0.4]]), Problem)
    True
    """

    n_classes: int
    priors: np.ndarray

    @abstractmethod
    def posterior(self, x):
        """Return p(j|x), one row per x."""

    @abstractmethod
    def sample(self, n, random_state=None):
        """Draw n independent pairs; return x and y."""

    @abstractmethod
    def _expect(self, h, label, options):
        """Return E h(X, posterior(X)) for h with values of shape (n, q), its error, and the method."""

    def expect(self, h, *, label=None, **options):
        """Return E h(X, p(.|X)), the expectation of a function of the feature and its posterior.

        Parameters
        ----------
        h : callable
            ``h(x, post)`` -> values of shape (n,).
        label : callable, optional
            ``label(x, post)`` -> integers that change where `h` has a kink or a jump; quadrature
            splits there. By default the class with the largest posterior.
        **options
            How to compute it, see the class.

        Returns
        -------
        Estimate
        """
        value, error, method = self._expect(lambda x, post: _column(h(x, post), len(post)), label, options)
        return Estimate(value[0], error[0], method)

    def risk(self, g, L=None, **options):
        """Return R(g) = E L(Y, g(X)), the risk of a classifier (Lember 2012, (1.2.3)).

        Parameters
        ----------
        g : callable
            ``g(x)`` -> decisions 0..a-1.
        L : array-like of shape (k, a), optional
            Loss, row = truth, column = decision. By default 0-1 loss.
        **options
            How to compute it, see the class.

        Returns
        -------
        Estimate
        """
        loss = check_loss_matrix(L, self.n_classes)

        def h(x, post):
            return np.einsum("nj,nj->n", post, loss.T[_decisions(g, x, loss.shape[1], 0)])

        return self.expect(h, label=lambda x, post: _decisions(g, x, loss.shape[1], 0), **options)

    def bayes_classifier(self, L=None, ties="first"):
        """Return the Bayes classifier g* as a function x -> decisions."""
        check_loss_matrix(L, self.n_classes)
        return lambda x: bayes_decision(self.posterior(x), L, ties)

    def bayes_risk(self, L=None, **options):
        """Return R* = E min_i R(i|X), the smallest possible risk.

        Parameters
        ----------
        L : array-like of shape (k, a), optional
            Loss; by default 0-1 loss.
        **options
            How to compute it, see the class.

        Returns
        -------
        Estimate
        """
        loss = check_loss_matrix(L, self.n_classes)
        return self.expect(
            lambda x, post: bayes_conditional_risk(post, loss), label=lambda x, post: kink_label(post, loss), **options
        )

    def bayes(self, L=None, ties="first", **options):
        """Return the Bayes classifier and the Bayes risk, (g*, R*)."""
        return self.bayes_classifier(L, ties), self.bayes_risk(L, **options)

    def reject_tradeoff(self, rule, L=None, **options):
        """Return how often a rule rejects and the risk it carries where it answers.

        Parameters
        ----------
        rule : float or callable
            A threshold t stands for the optimal rule g_t; a callable maps x to decisions with -1 for a
            rejection.
        L : array-like of shape (k, a), optional
            Loss; by default 0-1 loss.
        **options
            How to compute it, see the class.

        Returns
        -------
        RejectTradeoff
            Its two fields are :class:`Estimate` objects.
        """
        loss = check_loss_matrix(L, self.n_classes)
        n_decisions = loss.shape[1]
        if callable(rule):

            def decision(x, post):
                return _decisions(rule, x, n_decisions, -1)

            label = decision
        else:
            t, augmented = check_scalar(rule, "t", low=0), augment_loss(loss, rule)

            def decision(x, post):
                best, risk = decide(post, loss)
                return np.where(risk <= t, best, -1)

            def label(x, post):
                return kink_label(post, augmented)

        def h(x, post):
            taken = decision(x, post)
            rejected = taken < 0
            risk = np.einsum("nj,nj->n", post, loss.T[np.maximum(taken, 0)])
            return np.column_stack([rejected, np.where(rejected, 0.0, risk)])

        value, error, method = self._expect(h, label, options)
        return RejectTradeoff(*(Estimate(v, e, method) for v, e in zip(value, error, strict=True)))


class FiniteProblem(Problem):
    """A problem on finitely many feature values: a table of p(x_m, y = j).

    All answers are exact sums. The class takes no options.

    Parameters
    ----------
    p_xy : array-like of shape (m, k)
        Joint probabilities, non-negative, summing to one; each x must have positive probability.
    x_values : array-like of shape (m,) or (m, d), optional
        The distinct feature values, numbers or vectors. By default 0..m-1.

    Attributes
    ----------
    p_x : ndarray of shape (m,)
        P(X = x_m).
    priors : ndarray of shape (k,)
        pi_j = P(Y = j).
    n_classes : int

    Examples
    --------
    >>> problem = FiniteProblem([[0.3, 0.1], [0.2, 0.4]], x_values=[1, 2])
    >>> problem.priors
    array([0.5, 0.5])
    >>> g, risk = problem.bayes()
    >>> g, round(float(risk), 6)
    (array([0, 1]), 0.3)
    >>> problem.posterior([2])
    array([[0.33333333, 0.66666667]])
    """

    def __init__(self, p_xy, x_values=None):
        table = check_finite_array(p_xy, "p_xy", ndim=2)
        check_probability_vector(table.ravel(), "p_xy")
        self.p_xy = table = table.copy()
        self.p_x = table.sum(axis=1)
        if self.p_x.min() == 0:
            raise ValueError(f"p_xy must give every x positive probability, row {self.p_x.argmin()} has none")
        self.priors = table.sum(axis=0)
        self.n_classes = table.shape[1]
        if x_values is None:
            x_values = np.arange(len(table))
        x_values = np.array(x_values)
        if x_values.ndim not in (1, 2) or len(x_values) != len(table):
            raise ValueError(f"x_values must have shape ({len(table)},) or ({len(table)}, d), got {x_values.shape}")
        check_finite_array(x_values, "x_values")
        self.x_values = x_values
        self._index = _RowIndex(self._rows(x_values))
        self._posterior = table / self.p_x[:, None]

    @property
    def class_conditional(self):
        """p(x_m|j), an array of shape (m, k) whose columns sum to one."""
        if self.priors.min() == 0:
            raise ValueError(f"class {self.priors.argmin()} has probability 0, so p(x|y) is not defined")
        return self.p_xy / self.priors

    def posterior(self, x=None):
        """Return p(j|x); without x the whole table, one row for each of `x_values`.

        Parameters
        ----------
        x : array-like of shape (n,) or (n, d), optional
            Feature values of the problem; others have no posterior and are an error.

        Returns
        -------
        ndarray of shape (n, k)
        """
        return self._posterior.copy() if x is None else self._posterior[self._atoms(x)]

    def cdf(self, y, x):
        """Return F(y, x) = P(Y <= y, X <= x), componentwise for vectors.

        Parameters
        ----------
        y : array-like
            Any real numbers, possibly infinite.
        x : array-like
            Points, one for each y (or one for all); numbers if x is one-dimensional, else vectors of
            length d along the last axis. They need not be feature values of the problem.

        Returns
        -------
        float or ndarray

        Examples
        --------
        >>> problem = FiniteProblem([[0.3, 0.1], [0.2, 0.4]], x_values=[1, 2])
        >>> problem.cdf(0, 1.5), problem.cdf(1, float("inf"))
        (0.3, 1.0)
        """
        y, x = _real(y, "y"), _real(x, "x")
        if self.x_values.ndim == 1:
            x = x[..., None]
        atoms = self._rows(self.x_values)
        if x.ndim == 0 or x.shape[-1] != atoms.shape[1]:
            raise ValueError(f"x must hold vectors of length {atoms.shape[1]}, got shape {x.shape}")
        if np.isnan(y).any() or np.isnan(x).any():
            raise ValueError("y and x must not contain NaN")
        shape = np.broadcast_shapes(y.shape, x.shape[:-1])
        y = np.broadcast_to(y, shape).ravel()
        x = np.broadcast_to(x, (*shape, atoms.shape[1])).reshape(-1, atoms.shape[1])
        # Column c of `cumulated` is P(X = x_m, Y < c): the class count c = #{j <= y} picks it.
        cumulated = np.concatenate([np.zeros((len(atoms), 1)), np.cumsum(self.p_xy, axis=1)], axis=1)
        count = np.clip(np.floor(y) + 1, 0, self.n_classes).astype(np.int64)
        below = (atoms[None] <= x[:, None]).all(axis=2)
        value = np.einsum("nm,mn->n", below, cumulated[:, count]).reshape(shape)
        return float(value) if value.ndim == 0 else value

    def sample(self, n, random_state=None):
        """Draw n independent pairs.

        Parameters
        ----------
        n : int
        random_state : numpy.random.Generator or int, optional

        Returns
        -------
        x : ndarray of shape (n,) or (n, d)
        y : ndarray of int64 of shape (n,)
        """
        n = check_scalar(n, "n", low=0, integer=True)
        cell = check_rng(random_state).choice(self.p_xy.size, size=n, p=self.p_xy.ravel() / self.p_xy.sum())
        atom, y = np.divmod(cell, self.n_classes)
        return self.x_values[atom], y

    def risk(self, g, L=None, **options):
        """Return R(g); `g` is a callable, or an array with the decision at each of `x_values`."""
        return super().risk(self._as_callable(g), L, **options)

    def bayes(self, L=None, ties="first"):
        """Return (g*, R*), with g* as an array of the decisions at `x_values`."""
        return bayes_decision(self._posterior, L, ties), self.bayes_risk(L)

    def reject_tradeoff(self, rule, L=None, **options):
        """Return P(reject) and the accepted risk; `rule` is t, a callable, or an array of decisions."""
        return super().reject_tradeoff(rule if np.ndim(rule) == 0 else self._as_callable(rule), L, **options)

    def error_reject_curve(self, L=None):
        """Return the exact error-reject curve, a step for each distinct value of min_i R(i|x)."""
        return error_reject_curve(self._posterior, L, weights=self.p_x)

    def _expect(self, h, label, options):
        if options:
            raise ValueError(f"a finite problem is summed exactly and takes no {sorted(options)}")
        value = h(self.x_values, self._posterior)
        return self.p_x @ value, np.zeros(value.shape[1]), "exact"

    def _as_callable(self, g):
        if callable(g):
            return g
        g = np.asarray(g)
        if g.shape != self.p_x.shape:
            raise ValueError(f"g must have one decision for each of the {self.p_x.size} x_values, got {g.shape}")
        return lambda x: g

    def _atoms(self, x):
        x = np.asarray(x)
        if x.ndim != self.x_values.ndim or x.shape[1:] != self.x_values.shape[1:]:
            wanted = "(n,)" if self.x_values.ndim == 1 else f"(n, {self.x_values.shape[1]})"
            raise ValueError(f"x must have shape {wanted}, got {x.shape}")
        atom = self._index.find(self._rows(x))
        if (atom < 0).any():
            raise ValueError(f"x contains {x[(atom < 0).argmax()]}, which is not one of the x_values")
        return atom

    @staticmethod
    def _rows(x):
        return check_finite_array(x, "x").reshape(len(x), -1)


def _real(value, name):
    """Numbers as float64, infinities included."""
    try:
        if np.asarray(value).dtype.kind == "c":
            raise TypeError
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number or an array of numbers") from None


class _RowIndex:
    """Finds rows of numbers in a table: coordinates are coded one after the other, O(d log m) a row."""

    def __init__(self, table):
        self.values, self.pairs = [], []
        code = np.zeros(len(table), dtype=np.int64)
        for column in table.T:
            values, place = np.unique(column, return_inverse=True)
            pairs, code = np.unique(code * values.size + place, return_inverse=True)
            self.values.append(values)
            self.pairs.append(pairs)
        self.rows = np.argsort(code, kind="stable")
        if self.pairs[-1].size != len(table):
            raise ValueError("x_values must be distinct")

    def find(self, table):
        """Return the index of each row, -1 where it does not occur."""
        code = np.zeros(len(table), dtype=np.int64)
        known = np.ones(len(table), dtype=bool)
        for column, values, pairs in zip(table.T, self.values, self.pairs, strict=True):
            place = np.minimum(np.searchsorted(values, column), values.size - 1)
            known &= values[place] == column
            pair = code * values.size + place
            code = np.minimum(np.searchsorted(pairs, pair), pairs.size - 1)
            known &= pairs[code] == pair
        return np.where(known, self.rows[code], -1)


def _column(value, n):
    value = np.asarray(value, dtype=np.float64)
    if value.shape != (n,):
        raise ValueError(f"h must return one number for each x, shape ({n},), got {value.shape}")
    if not np.isfinite(value).all():
        raise ValueError("h must return finite numbers")
    return value[:, None]


def _decisions(g, x, n_decisions, lowest):
    decision = np.asarray(g(x))
    if decision.shape != (len(x),):
        raise ValueError(f"g must return one decision for each x, shape ({len(x)},), got {decision.shape}")
    if decision.dtype.kind not in "iub" and not (
        decision.dtype.kind == "f" and np.array_equal(decision, np.round(decision))
    ):
        raise ValueError(f"g must return class numbers, got {decision[:3]}")
    if decision.size and (decision.min() < lowest or decision.max() >= n_decisions):
        raise ValueError(f"g must return decisions in [{lowest}, {n_decisions - 1}]")
    return decision.astype(np.int64, copy=False)
