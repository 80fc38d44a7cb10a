"""Surrogates of the 0-1 loss: functions φ of the margin y f(x), and what minimising them implies.

With η = P(Y = 1 | x), a score r at x has conditional φ-risk ``η φ(r) + (1 − η) φ(−r)``. Its infimum H(η), the infimum
H⁻(η) over scores of the wrong sign, and ψ(t) = H⁻((1 + t)/2) − H((1 + t)/2) say whether small φ-risk forces a small
error (Bartlett, Jordan & McAuliffe 2006; Lember 2012, Sec. 5.1). Every `Surrogate` carries them: by a closed form where
there is one, and by minimisation for any φ (`Surrogate.numerical` drops the closed forms, so each can be checked).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlogy

from learnable.validation import check_finite_array, check_probabilities

__all__ = [
    "SURROGATES",
    "Surrogate",
    "get_surrogate",
]

# Scores tried before the refinement: dense near zero, and far enough for infima at infinity.
_REACH = 700.0
_POSITIVE = np.sinh(np.linspace(0.0, np.arcsinh(_REACH * 50), 1201)[1:]) / 50
_SCORES = np.concatenate([-_POSITIVE[::-1], [0.0], _POSITIVE])
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


class Surrogate:
    """A loss φ(y f(x)) of the margin, with the theory that connects it to the error.

    Parameters
    ----------
    phi : callable
        Vectorised φ.
    derivative, second : callable, optional
        φ′ (at a kink: any subgradient) and φ″.
    H, H_minus, r_star : callable, optional
        Closed forms; found numerically otherwise.
    convex : bool, optional
        Tested on a grid if not given.
    name : str
    scale_free : bool
        Whether adding a constant to all margins only multiplies the losses (true of e^{−t}).

    Examples
    --------
    >>> round(float(exponential.psi(0.6)), 12)
    0.2
    >>> sigmoid = Surrogate(lambda t: 1 - np.tanh(t), name="sigmoid")
    >>> sigmoid.is_calibrated(), sigmoid.convex
    (True, False)
    """

    def __init__(
        self,
        phi,
        derivative=None,
        second=None,
        *,
        H=None,
        H_minus=None,
        r_star=None,
        convex=None,
        name="user",
        scale_free=False,
    ):
        if not callable(phi):
            raise ValueError(f"phi must be a function of the margin, got {phi!r}")
        self._phi, self._derivative, self._second = phi, derivative, second
        self._closed = {"H": H, "H_minus": H_minus, "r_star": r_star}
        self._convex = convex
        self.name = name
        self.scale_free = scale_free

    def __repr__(self):
        return f"Surrogate({self.name!r})"

    def __call__(self, t):
        """φ(t)."""
        return self._phi(np.asarray(t, dtype=float))

    value = __call__

    def derivative(self, t):
        """φ′(t), a subgradient at kinks; by central differences where no derivative was given."""
        t = np.asarray(t, dtype=float)
        if self._derivative is not None:
            return self._derivative(t)
        step = 1e-6 * np.maximum(1.0, np.abs(t))
        return (self(t + step) - self(t - step)) / (2 * step)

    @property
    def has_second(self):
        """Whether φ″ is known (everywhere but at isolated points)."""
        return self._second is not None

    def second(self, t):
        """φ″(t)."""
        if self._second is None:
            raise ValueError(f"the loss {self.name!r} has no second derivative")
        return self._second(np.asarray(t, dtype=float))

    @property
    def convex(self):
        """Whether φ is convex."""
        if self._convex is None:
            t = np.linspace(-20.0, 20.0, 4001)
            values = self(t)
            self._convex = bool((values[:-2] + values[2:] - 2 * values[1:-1] >= -1e-9 * np.abs(values[1:-1])).all())
        return self._convex

    def weights(self, margins):
        """Sample weights proportional to −φ′(margin), summing to one (Lember 2012, (5.3.1)).

        Exponential weights are formed from differences to the smallest margin: no overflow, and no sum of zero.
        """
        margins = np.asarray(margins, dtype=float)
        raw = -self.derivative(margins - margins.min() if self.scale_free else margins)
        raw = np.maximum(raw, 0.0)
        total = raw.sum()
        if not total > 0.0:
            raise ValueError(f"all weights vanish: the loss {self.name!r} is flat at every margin")
        return raw / total

    def conditional(self, eta, r):
        """Conditional φ-risk η φ(r) + (1 − η) φ(−r) of a score r."""
        eta, r = np.asarray(eta, dtype=float), np.asarray(r, dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(eta > 0, eta * self(r), 0.0) + np.where(eta < 1, (1 - eta) * self(-r), 0.0)

    def H(self, eta):
        """Smallest conditional φ-risk."""
        eta = check_probabilities(eta, "eta")
        closed = self._closed["H"]
        return closed(eta) if closed is not None else self._minimise(eta, wrong_sign=False)[1]

    def H_minus(self, eta):
        """Smallest conditional φ-risk over scores with r (2η − 1) ≤ 0; φ(0) for a convex calibrated φ."""
        eta = check_probabilities(eta, "eta")
        closed = self._closed["H_minus"]
        return closed(eta) if closed is not None else self._minimise(eta, wrong_sign=True)[1]

    def r_star(self, eta):
        """A score that attains H(η); ±inf where only the limit does and a closed form is known."""
        eta = check_probabilities(eta, "eta")
        closed = self._closed["r_star"]
        if closed is not None:
            with np.errstate(divide="ignore"):
                return closed(eta)
        return self._minimise(eta, wrong_sign=False)[0]

    def psi(self, t):
        """ψ(t) = H⁻((1 + t)/2) − H((1 + t)/2) for t in [0, 1]."""
        t = check_probabilities(t, "t")
        return self.H_minus((1 + t) / 2) - self.H((1 + t) / 2)

    def psi_inverse(self, u):
        """Largest t in [0, 1] with ψ(t) ≤ u: what an excess φ-risk of u allows as excess risk. By bisection."""
        u = check_finite_array(u, "u")
        if (u < 0).any():
            raise ValueError("u must not be negative: an excess φ-risk never is")
        low, high = np.zeros(u.shape), np.ones(u.shape)
        low = np.where(self.psi(high) <= u, 1.0, low)
        for _ in range(60):
            middle = (low + high) / 2
            below = self.psi(middle) <= u
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low

    def is_calibrated(self, *, tol=1e-9):
        """Whether H⁻(η) > H(η) for all η ≠ ½.

        For a convex φ that is φ′(0) < 0 with both one-sided derivatives equal (Lember 2012, Proposition 5.1.1);
        otherwise ψ must exceed `tol` on a grid.
        """
        if self.convex:
            h = 1e-7
            left, middle, right = self(np.array([-h, 0.0, h]))
            before, after = (middle - left) / h, (right - middle) / h
            return bool(max(before, after) < -1e-6 and abs(after - before) < 1e-3)
        return bool((self.psi(np.linspace(0.02, 1.0, 50)) > tol).all())

    def numerical(self):
        """The same loss without its closed forms: everything by minimisation."""
        return Surrogate(
            self._phi, self._derivative, self._second, convex=self._convex, name=self.name, scale_free=self.scale_free
        )

    def _minimise(self, eta, *, wrong_sign):
        flat = eta.reshape(-1)
        table = self.conditional(flat[:, None], _SCORES)
        table = np.where(np.isfinite(table), table, np.inf)
        if wrong_sign:
            table[(_SCORES[None, :] * (2 * flat[:, None] - 1)) > 0] = np.inf
        at, best = self._refine(lambda r, k: self.conditional(flat[k], r), table, keep_sign=wrong_sign)
        return at.reshape(eta.shape), best.reshape(eta.shape)

    @staticmethod
    def _refine(function, table, *, keep_sign=False):
        """Golden-section search around the best grid point of each row."""
        rows = np.arange(len(table))
        place = table.argmin(axis=1)
        at, best = _SCORES[place], table[rows, place]
        a = _SCORES[np.maximum(place - 1, 0)]
        b = _SCORES[np.minimum(place + 1, len(_SCORES) - 1)]
        if keep_sign:
            a, b = np.where(at > 0, np.maximum(a, 0.0), a), np.where(at < 0, np.minimum(b, 0.0), b)
            a, b = np.where(at == 0, 0.0, a), np.where(at == 0, 0.0, b)
        for _ in range(75):
            c, d = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
            f, g = function(c, rows), function(d, rows)
            for x, value in ((c, f), (d, g)):
                better = value < best
                at, best = np.where(better, x, at), np.where(better, value, best)
            left = f < g
            a, b = np.where(left, a, c), np.where(left, d, b)
        return at, best


def _log_odds(eta):
    return np.log(eta) - np.log1p(-eta)


def _entropy(eta):
    return -xlogy(eta, eta) - xlogy(1 - eta, 1 - eta)


def _constant(value):
    return lambda eta: np.full(np.shape(eta), value) if np.ndim(eta) else np.float64(value)


exponential = Surrogate(
    lambda t: np.exp(-t),
    lambda t: -np.exp(-t),
    lambda t: np.exp(-t),
    H=lambda eta: 2 * np.sqrt(eta * (1 - eta)),
    H_minus=_constant(1.0),
    r_star=lambda eta: 0.5 * _log_odds(eta),
    convex=True,
    name="exponential",
    scale_free=True,
)
logistic = Surrogate(
    lambda t: np.logaddexp(0.0, -t),
    lambda t: -expit(-t),
    lambda t: expit(t) * expit(-t),
    H=_entropy,
    H_minus=_constant(np.log(2.0)),
    r_star=_log_odds,
    convex=True,
    name="logistic",
)
logistic2 = Surrogate(
    lambda t: np.logaddexp(0.0, -2 * t),
    lambda t: -2 * expit(-2 * t),
    lambda t: 4 * expit(2 * t) * expit(-2 * t),
    H=_entropy,
    H_minus=_constant(np.log(2.0)),
    r_star=lambda eta: 0.5 * _log_odds(eta),
    convex=True,
    name="logistic2",
)
hinge = Surrogate(
    lambda t: np.maximum(1 - t, 0.0),
    lambda t: np.where(t < 1, -1.0, 0.0),
    H=lambda eta: 2 * np.minimum(eta, 1 - eta),
    H_minus=_constant(1.0),
    r_star=lambda eta: np.sign(2 * eta - 1),
    convex=True,
    name="hinge",
)
squared_hinge = Surrogate(
    lambda t: np.maximum(1 - t, 0.0) ** 2,
    lambda t: -2 * np.maximum(1 - t, 0.0),
    lambda t: np.where(t < 1, 2.0, 0.0),
    H=lambda eta: 4 * eta * (1 - eta),
    H_minus=_constant(1.0),
    r_star=lambda eta: 2 * eta - 1,
    convex=True,
    name="squared_hinge",
)
squared = Surrogate(
    lambda t: (1 - t) ** 2,
    lambda t: -2 * (1 - t),
    lambda t: np.full(np.shape(t), 2.0),
    H=lambda eta: 4 * eta * (1 - eta),
    H_minus=_constant(1.0),
    r_star=lambda eta: 2 * eta - 1,
    convex=True,
    name="squared",
)
zero_one = Surrogate(
    lambda t: np.where(t <= 0, 1.0, 0.0),
    lambda t: np.zeros(np.shape(t)),
    H=lambda eta: np.minimum(eta, 1 - eta),
    H_minus=lambda eta: np.where(eta == 0.5, 0.5, np.maximum(eta, 1 - eta)),
    r_star=lambda eta: np.where(eta >= 0.5, 1.0, -1.0),
    convex=False,
    name="zero_one",
)

SURROGATES = {loss.name: loss for loss in (exponential, logistic, logistic2, hinge, squared_hinge, squared, zero_one)}


def get_surrogate(loss):
    """Return the `Surrogate` of a name, or the object itself.

    Parameters
    ----------
    loss : str or Surrogate
        A name of ``SURROGATES``.

    Examples
    --------
    >>> get_surrogate("hinge")
    Surrogate('hinge')
    """
    if isinstance(loss, Surrogate):
        return loss
    if not isinstance(loss, str) or loss not in SURROGATES:
        raise ValueError(f"loss must be a Surrogate or one of {', '.join(SURROGATES)}; got {loss!r}")
    return SURROGATES[loss]
