"""The bounds of VC theory, in the log domain, each solved for every one of its arguments.

Every tail bound here has the form ``P(Z > eps) <= exp(a + b ln(n + 1) - c n (eps - s/n)^2)``. A `TailBound` holds the
four numbers and answers: how likely is a deviation of eps, how large a deviation has probability delta, how large a
sample makes it so. Everything is vectorised and nothing overflows: 8 (n+1)^V does at V of about 80.
Source: Lember 2012, Sec. 2.7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.validation import check_choice, check_finite_array, check_scalar

__all__ = [
    "MeanBound",
    "TailBound",
    "erm_mean",
    "erm_tail",
    "pac_radius",
    "sample_complexity",
    "vc_mean",
]


@dataclass(frozen=True)
class TailBound:
    """``P(Z > eps) <= exp(log_factor + degree ln(samples n + 1) - rate n (eps - shift/n)^power)``.

    Use the functions of this module to get one; the fields may be arrays.

    Examples
    --------
    >>> bound = TailBound(np.log(2.0), 0.0, 2.0)  # Hoeffding: 2 exp(-2 n eps^2)
    >>> round(float(bound.tail(0.1, 100)), 4), int(bound.n(0.05, 0.05))
    (0.2707, 738)
    """

    log_factor: float
    degree: float
    rate: float
    shift: float = 0.0
    samples: float = 1.0
    power: float = 2.0

    def __post_init__(self):
        for name in ("log_factor", "degree", "rate", "shift", "samples", "power"):
            value = check_finite_array(getattr(self, name), name)
            least, what = (0.0, "positive") if name in ("rate", "power") else (-1.0, "not negative")
            if name != "log_factor" and not ((value > least) if least == 0.0 else (value >= 0)).all():
                raise ValueError(f"{name} must be {what}, got {value.min():g}")

    def log_tail(self, eps, n):
        """Natural logarithm of the bound; may be positive, where the bound says nothing."""
        eps, n = _positive(eps, "eps"), _positive(n, "n")
        reach = np.maximum(eps - self.shift / n, 0.0)
        return self._log_growth(n) - self.rate * n * reach**self.power

    def tail(self, eps, n):
        """The bound itself, cut off at 1."""
        return np.exp(np.minimum(self.log_tail(eps, n), 0.0))

    def eps(self, delta, n):
        """The deviation that is exceeded with probability at most delta."""
        delta, n = _probability(delta, "delta"), _positive(n, "n")
        excess = np.maximum(self._log_growth(n) - np.log(delta), 0.0)
        return (excess / (self.rate * n)) ** (1.0 / self.power) + self.shift / n

    def n(self, eps, delta):
        """The smallest sample size from which on a deviation of eps has probability at most delta."""
        eps, delta = _positive(eps, "eps"), _probability(delta, "delta")
        if np.any(np.asarray(self.shift) > 0):
            return self._n_by_bisection(eps, delta)
        slope = self.rate * eps**self.power
        level = self.log_factor - np.log(delta)
        degree = np.asarray(self.degree, float)
        # The left-hand side is convex in n, so Newton's method from the right falls onto the largest root.
        n = (
            2.0
            * (np.maximum(level, 0.0) + degree * (1.0 + np.log1p(2.0 * self.samples * (degree + 1.0) / slope)))
            / slope
            + 1.0
        )
        for _ in range(60):
            value = slope * n - degree * np.log1p(self.samples * n) - level
            step = value / (slope - degree * self.samples / (1.0 + self.samples * n))
            new = np.maximum(n - step, 0.0)
            if np.all(np.abs(new - n) <= 1e-12 * (1.0 + n)):
                n = new
                break
            n = new

        def holds(n):
            return slope * n - degree * np.log1p(self.samples * n) >= level - 1e-12 * np.abs(level)

        # The root is off by rounding: of the whole numbers around it the first that will do.
        whole = np.maximum(np.ceil(n - 1e-12 * n), 1.0)
        before = np.maximum(whole - 1.0, 1.0)
        return np.where(holds(before) & (before >= n - 1.0), before, whole + ~holds(whole))

    def _n_by_bisection(self, eps, delta):
        eps, delta = np.broadcast_arrays(eps, delta)
        log_delta = np.log(delta)
        low, high = np.broadcast_to(self.shift / eps, eps.shape).copy(), 4.0 / eps
        while np.any(open_ := self.log_tail(eps, high) > log_delta):
            high = np.where(open_, 2.0 * high, high)
        high = 2.0 * high  # beyond the hump of the growth term
        for _ in range(200):
            middle = 0.5 * (low + high)
            holds = self.log_tail(eps, np.maximum(middle, 1e-12)) <= log_delta
            low, high = np.where(holds, low, middle), np.where(holds, middle, high)
        return np.ceil(high - 1e-9 * high)

    def _log_growth(self, n):
        return self.log_factor + self.degree * np.log1p(self.samples * n)


def vc_tail(V=None, log_shatter=None, exponent=32.0):
    """VC inequality: 8 S(n) exp(−nε²/32), (2.7.3), with S(n) ≤ (n+1)^V, (2.7.7).

    Parameters
    ----------
    V : int or array
        VC dimension.
    log_shatter : float or array, instead of V
        ln S(n), for one n: then solving for n keeps this value.
    exponent : float
        32 here, 8 in the original paper.

    Examples
    --------
    >>> int(vc_tail(3).n(0.1, 0.05))
    129227
    """
    exponent = _positive(exponent, "exponent")
    if (V is None) == (log_shatter is None):
        raise ValueError("give V or log_shatter, not both")
    if V is None:
        return TailBound(np.log(8.0) + _log_shatter(log_shatter), 0.0, 1.0 / exponent)
    return TailBound(np.log(8.0), _dimension(V), 1.0 / exponent)


def erm_tail(V, exponent=32.0):
    """Excess risk of the empirical risk minimiser: 8 (n+1)^V exp(−nε²/128), (2.7.14): `vc_tail` at ε/2.

    Parameters
    ----------
    V : int or array-like
        VC dimension.
    exponent : float, default=32.0
        As in `vc_tail`: 32 here, 8 in the original paper.

    Examples
    --------
    >>> int(erm_tail(3).n(0.1, 0.05))
    574173
    """
    return TailBound(np.log(8.0), _dimension(V), 1.0 / (4.0 * _positive(exponent, "exponent")))


@dataclass(frozen=True)
class MeanBound:
    """``E Z <= factor sqrt((V ln(n + 1) + ln 2)/n)``, solved for each of its arguments.

    The factor is 2 for the uniform deviation, (2.7.8), and 4 for the excess risk of the minimiser, (2.7.13).

    Examples
    --------
    >>> bound = MeanBound(4.0)
    >>> n = bound.n(0.1, 3)
    >>> int(n), bool(bound.eps(n, 3) <= 0.1 < bound.eps(n - 1, 3))
    (53356, True)
    >>> round(float(bound.V(0.1, n)), 3)
    3.0
    """

    factor: float = 2.0

    def __post_init__(self):
        check_scalar(self.factor, "factor", low=0, closed="neither")

    def eps(self, n, V):
        """The bound itself."""
        n = _positive(n, "n")
        return self.factor * np.sqrt((_dimension(V) * np.log1p(n) + np.log(2.0)) / n)

    def n(self, eps, V):
        """The smallest sample size from which on the bound is at most eps."""
        # (eps/factor)^2 n >= V ln(n + 1) + ln 2: a tail bound with this rate, degree V, ln 2 in front and delta = 1.
        return TailBound(np.log(2.0), _dimension(V), 1.0 / self.factor**2).n(eps, 1.0)

    def V(self, eps, n):
        """The largest VC dimension for which the bound is at most eps; negative where none is."""
        eps, n = _positive(eps, "eps"), _positive(n, "n")
        return (n * (eps / self.factor) ** 2 - np.log(2.0)) / np.log1p(n)


def vc_mean(n, V=None, log_shatter=None):
    """Mean of the uniform deviation: 2√((ln S(n) + ln 2)/n), (2.7.4); with V, ln S(n) ≤ V ln(n+1), (2.7.8).

    >>> round(float(vc_mean(100, log_shatter=np.log(101))), 3)
    0.461

    Parameters
    ----------
    n : int or array-like
        Number of observations.
    V : int or array-like, optional
        VC dimension.
    log_shatter : float, optional
        ln S(n), if it is known.
    """
    n = _positive(n, "n")
    if (V is None) == (log_shatter is None):
        raise ValueError("give V or log_shatter, not both")
    if log_shatter is None:
        return MeanBound(2.0).eps(n, V)
    return 2.0 * np.sqrt((_log_shatter(log_shatter) + np.log(2.0)) / n)


def erm_mean(n, V):
    """Mean excess risk of the empirical risk minimiser: 4√((V ln(n+1) + ln 2)/n), (2.7.13).

    Parameters
    ----------
    n : int or array-like
        Number of observations.
    V : int or array-like
        VC dimension.

    Examples
    --------
    >>> round(float(erm_mean(10**6, 3)), 3)
    0.026
    """
    return MeanBound(4.0).eps(n, V)


def pac_radius(n, V, delta):
    """With probability 1 − δ, R(g) ≤ R_n(g) + this, for every g of the class: (2.7.15).

    >>> round(float(pac_radius(10_000, 3, 0.05)), 4)
    0.3235

    Parameters
    ----------
    n : int or array-like
        Number of observations.
    V : int or array-like
        VC dimension.
    delta : float
        Probability that the bound fails.
    """
    return vc_tail(V).eps(delta, n)


def sample_complexity(eps, delta, V, kind="erm", exponent=32.0):
    """Sample size from which on a deviation of eps has probability at most delta, or a mean of at most eps.

    Parameters
    ----------
    eps : float or array-like
        Deviation.
    delta : float or None
        Probability that the bound fails; None for the bounds on means.
    V : int or array-like
        VC dimension.
    kind : {"erm", "uniform", "erm_mean", "uniform_mean"}
        ``erm``: excess risk of the minimiser, (2.7.14); ``uniform``: gap between risk and training error, (2.7.15);
        their means, (2.7.13) and (2.7.8).
    exponent : float, default=32.0
        As in `vc_tail`: 32 here, 8 in the original paper.

    Examples
    --------
    >>> int(sample_complexity(0.05, 0.05, 1))
    965401
    >>> int(sample_complexity(0.05, None, 1, "erm_mean"))
    76396
    """
    check_choice(kind, "kind", ("erm", "uniform", "erm_mean", "uniform_mean"))
    if kind.endswith("mean"):
        if delta is not None:
            raise ValueError("delta must be None for the bound on a mean")
        return MeanBound(4.0 if kind == "erm_mean" else 2.0).n(eps, V)
    bound = erm_tail(V, exponent) if kind == "erm" else vc_tail(V, exponent=exponent)
    return bound.n(eps, delta)


def _positive(value, name):
    value = check_finite_array(value, name)
    if (value <= 0).any():
        raise ValueError(f"{name} must be positive and finite")
    return value


def _probability(value, name):
    value = check_finite_array(value, name)
    if (value <= 0).any() or (value > 1).any():
        raise ValueError(f"{name} must lie in (0, 1]")
    return value


def _dimension(V):
    if np.ndim(V) == 0:
        return float(check_scalar(V, "V", low=0))
    V = check_finite_array(V, "V")
    if (V < 0).any():
        raise ValueError("V must be finite and not negative")
    return V


def _log_shatter(value):
    value = check_finite_array(value, "log_shatter")
    if (value < 0).any():
        raise ValueError("log_shatter must not be negative: a class cuts out at least one pattern")
    return value
