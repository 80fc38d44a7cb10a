"""Means and covariances: the scatter decomposition, and what two moments guarantee about the best linear rule.

Source: Lember 2012, Sec. 3.1.2 and 3.3. Covariances divide by n throughout.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from learnable.foundations.tail_bounds import TailBound, erm_mean, erm_tail, pac_radius
from learnable.linear.rules import LinearRule, check_mean
from learnable.validation import Result, check_covariance, check_scalar

__all__ = ["MomentBoundClassifier", "Scatter", "Split", "halfspace_bounds", "max_J", "separation_J"]


@dataclass(frozen=True)
class Scatter:
    """Class means, weights and scatter matrices of a labelled sample, see `scatter`."""

    classes: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    mean: np.ndarray
    per_class: np.ndarray
    within: np.ndarray
    between: np.ndarray

    @property
    def n(self):
        """Number of observations, or their total weight."""
        return self.counts.sum()

    @property
    def priors(self):
        """Shares n_i/n of the classes."""
        return self.counts / self.n

    @property
    def total(self):
        """S = S_W + S_B."""
        return self.within + self.between

    @property
    def covariances(self):
        """S_i/n_i, one for each class."""
        return self.per_class / self.counts[:, None, None]

    @property
    def cov_within(self):
        """S_W/n."""
        return self.within / self.n

    @property
    def cov_between(self):
        """S_B/n."""
        return self.between / self.n

    @property
    def cov_total(self):
        """S/n."""
        return self.total / self.n


def _scatter(X, codes, weights, classes):
    k, d = len(classes), X.shape[1]
    counts = np.bincount(codes, weights=weights, minlength=k)
    if counts.min() == 0:
        raise ValueError(
            f"sample_weight must give every class some weight, class {classes[counts.argmin()]!r} has none"
        )
    means, per_class = np.empty((k, d)), np.empty((k, d, d))
    for i in range(k):
        chosen = codes == i
        Z, share = X[chosen], weights[chosen]
        means[i] = share @ Z / counts[i]
        Z = (Z - means[i]) * np.sqrt(share)[:, None]
        per_class[i] = Z.T @ Z
    mean = counts @ means / counts.sum()
    apart = (means - mean) * np.sqrt(counts)[:, None]
    return Scatter(classes, counts, means, mean, per_class, per_class.sum(axis=0), apart.T @ apart)


@dataclass(frozen=True)
class Split:
    """The rule on the line that says `label` for x ≤ `threshold` and the other class above (3.3.1).

    Examples
    --------
    >>> Split(1.5, 0).predict([1.0, 1.5, 2.0]).tolist()
    [0, 0, 1]
    """

    threshold: float
    label: int

    def predict(self, x):
        x = np.asarray(x, float)
        return np.where(x <= self.threshold, self.label, 1 - self.label)

    def risk(self, F0, F1, pi1):
        """Risk if X has distribution function F_i in class i and P(Y = 1) = pi1."""
        below0, below1 = float(F0(self.threshold)), float(F1(self.threshold))
        errors = pi1 * below1 + (1 - pi1) * (1 - below0)
        return errors if self.label == 0 else 1 - errors


def separation_J(w, m0, m1, S0, S1):
    """J(w) = w'(m1 − m0) / (√(w'S0 w) + √(w'S1 w)), signed (3.3.5).

    Parameters
    ----------
    w : array-like of shape (d,)
        Direction.
    m0 : float or array-like of shape (d,)
        Mean of class 0.
    m1 : float or array-like of shape (d,)
        Mean of class 1.
    S0 : float or array-like of shape (d, d)
        Covariance of class 0.
    S1 : float or array-like of shape (d, d)
        Covariance of class 1.

    Examples
    --------
    >>> separation_J([1.0], 0.0, 4.0, 1.0, 1.0)
    2.0
    """
    m0, m1, S0, S1 = _two_moments(m0, m1, S0, S1)
    w = check_mean(w, "w", m0.size)
    spread = np.sqrt(max(w @ S0 @ w, 0)) + np.sqrt(max(w @ S1 @ w, 0))
    gap = w @ (m1 - m0)
    if spread == 0:
        return float(np.sign(gap) * np.inf) if gap else 0.0
    return float(gap / spread)


def max_J(m0, m1, S0, S1):
    """Maximise J over all directions. O(d³), then O(d) for each step of a bracketed root search.

    A stationary w satisfies (S0/a + S1/b) w ∝ m1 − m0 with a = √(w'S0 w), b = √(w'S1 w), hence
    w ∝ (t S0 + (1 − t) S1)⁻¹(m1 − m0) with t = b/(a + b). Minimising a + b on w'(m1 − m0) = 1 is a convex problem,
    so that every such t is a solution, and t a − (1 − t) b changes sign on (0, 1).

    Parameters
    ----------
    m0, m1 : array-like of shape (d,)
    S0, S1 : array-like of shape (d, d), or number

    Returns
    -------
    w : ndarray of shape (d,)
        Of length one; zero if the means are equal.
    J : float
        Infinite if the means differ in a direction in which neither class varies.

    Examples
    --------
    >>> w, J = max_J([0.0, 0.0], [2.0, 0.0], np.eye(2), 9 * np.eye(2))
    >>> w.tolist(), round(J, 12)
    ([1.0, 0.0], 0.5)
    """
    m0, m1, S0, S1 = _two_moments(m0, m1, S0, S1)
    delta = m1 - m0
    if not delta.any():
        return np.zeros(delta.size), 0.0
    values, vectors = linalg.eigh(S0 + S1)
    keep = values > 1e-13 * max(values[-1], 1e-300)
    off = delta - vectors[:, keep] @ (vectors[:, keep].T @ delta)
    if np.linalg.norm(off) > 1e-9 * np.linalg.norm(delta):
        return off / np.linalg.norm(off), np.inf
    root = vectors[:, keep] / np.sqrt(values[keep])
    share, rotation = linalg.eigh(root.T @ S0 @ root)
    share = np.clip(share, 0.0, 1.0)
    basis = root @ rotation
    c = basis.T @ delta

    def coordinates(t):
        return c / (t * share + (1 - t) * (1 - share))

    def balance(t):
        z2 = coordinates(t) ** 2
        return t * np.sqrt(share @ z2) - (1 - t) * np.sqrt((1 - share) @ z2)

    low, high = 1e-12, 1 - 1e-12
    if balance(low) >= 0:
        t = low
    elif balance(high) <= 0:
        t = high
    else:
        t = optimize.brentq(balance, low, high, xtol=1e-15)
    w = basis @ coordinates(t)
    w /= np.linalg.norm(w)
    return w, separation_J(w, m0, m1, S0, S1)


def moment_split(m0, m1, s0, s1):
    """The split m0 + (m1 − m0) s0/(s0 + s1) that attains the bound on the line; s0, s1 standard deviations.

    Examples
    --------
    >>> moment_split(0.0, 3.0, 1.0, 2.0)
    Split(threshold=1.0, label=0)
    """
    m0, m1 = check_scalar(m0, "m0"), check_scalar(m1, "m1")
    s0, s1 = check_scalar(s0, "s0", low=0), check_scalar(s1, "s1", low=0)
    share = s0 / (s0 + s1) if s0 + s1 > 0 else 0.5
    return Split(m0 + (m1 - m0) * share, 0 if m0 <= m1 else 1)


class MomentBoundClassifier(LinearRule):
    """Project on the direction of the largest J and split there as the moment bound does. O(n d² + d³).

    Attributes
    ----------
    coef_, intercept_ : ndarrays
    J_ : float
    risk_bound_ : float
        (1 + J²)⁻¹ with the sample's moments.

    Examples
    --------
    >>> rule = MomentBoundClassifier().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> rule.predict([[2.4], [2.6]]).tolist(), round(rule.risk_bound_, 4)
    ([0, 1], 0.0588)
    """

    def fit(self, X, y, sample_weight=None):
        X, codes, weights = self._prepare(X, y, sample_weight)
        parts = _scatter(X, codes, weights, self.classes_)
        (m0, m1), (S0, S1) = parts.means, parts.covariances
        w, self.J_ = max_J(m0, m1, S0, S1)
        self.risk_bound_ = float(1 / (1 + self.J_**2))
        if not w.any():
            return self._store(w, 1.0 if parts.counts[1] > parts.counts[0] else -1.0)
        # Where neither class varies along w, what is left of the spreads is rounding: cut half-way.
        s0, s1 = (0.0 if np.isinf(self.J_) else np.sqrt(max(w @ S @ w, 0.0)) for S in (S0, S1))
        return self._store(w, -moment_split(w @ m0, w @ m1, s0, s1).threshold)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@dataclass(frozen=True, eq=False)
class HalfspaceBounds(Result):
    """Bounds for all linear rules at once, from :func:`halfspace_bounds`.

    Attributes
    ----------
    n : int
    radius : float
        With probability 1 − δ every linear rule has R ≤ R_n + radius.
    mean_excess : float
        Bound on the mean excess risk of the empirical risk minimiser.
    bound : TailBound
    """

    n: int
    radius: float
    mean_excess: float
    bound: TailBound

    def tail(self, eps):
        """Bound on P(R(ĝ) − R > ε)."""
        return self.bound.tail(eps, self.n)


def halfspace_bounds(n, d, delta=0.05):
    """What VC theory says about linear rules in R^d, whose VC dimension is d + 1 (3.5.1)–(3.5.3).

    Parameters
    ----------
    n : int
        Number of observations.
    d : int
        Number of features.
    delta : float, default=0.05
        Probability that the radius fails.

    Returns
    -------
    HalfspaceBounds

    Examples
    --------
    >>> round(float(halfspace_bounds(10_000, 2).radius), 4)
    0.3235
    """
    d = check_scalar(d, "d", low=1, integer=True)
    return HalfspaceBounds(n, pac_radius(n, d + 1, delta), erm_mean(n, d + 1), erm_tail(d + 1))


def _two_moments(m0, m1, S0, S1):
    m0 = check_mean(m0, "m0")
    m1 = check_mean(m1, "m1", m0.size)
    S0, S1 = (S * np.eye(m0.size) if np.ndim(S) == 0 else S for S in (S0, S1))
    return m0, m1, check_covariance(S0, "S0", size=m0.size), check_covariance(S1, "S1", size=m0.size)
