"""The Pitman-Yor mixture: entropy with (d, alpha) integrated out.

The integral runs over v = -log(1 - d) and s = log alpha, where the posterior has one mode and exponential tails:
nothing has to be assumed about a Hessian. Each node of v gets its own window in s: d and alpha trade off, and the
ridge would be lost in a common rectangle.
"""

import warnings

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from learnable.latent.entropy.counts import in_base, multiplicities
from learnable.latent.entropy.pitman_yor import (
    CountSums,
    check_prior,
    conditional_moments,
    log_new,
    log_prior,
    log_seen,
    tail_power,
)
from learnable.latent.entropy.quadrature import integrate_rows, legendre, window
from learnable.latent.entropy.sampling import draw_entropy
from learnable.latent.entropy.special import trigamma
from learnable.validation import check_choice, check_rng, check_scalar

V_MAX = 30.0  # 1 - d >= exp(-30)
S_MIN = -60.0
MODE_STEPS = 24
TINY = 1e-9  # a mode below this is on the boundary


class PYMEntropy(BaseEstimator):
    """Posterior of Shannon's entropy under a mixture of Pitman-Yor processes (Archer, Park and Pillow 2014).

    The prior is flat in the expected entropy h and has density q in gamma, the share of h that comes from heavy
    tails. Cost O(L n_d + n_d n_alpha) for L distinct counts.

    Parameters
    ----------
    q : {"exp", "dpm", "py", "uniform"} or callable, default="exp"
        Prior of gamma: exp(-strength / (1 - gamma)); all mass at gamma = 0, Dirichlet processes (d = 0); all mass at
        gamma = 1, PY(d, 0); uniform; or a vectorised non-negative function of gamma.
    strength : float, default=10.0
        Of q="exp"; larger prefers lighter tails.
    prior_measure : {"h_gamma", "d_alpha"}, default="h_gamma"
        "d_alpha" drops the Jacobian of (h, gamma): the density q(gamma) dd dalpha.
    grid : pair of int, default=(40, 64)
        Nodes in d and, for each of them, in alpha.
    method : {"auto", "laplace"}, default="auto"
        Adaptive windows, or the rectangle of 6 posterior standard deviations around the mode in (d, alpha), which cuts
        heavy right tails; where the mode is at a boundary "laplace" falls back to "auto".
    alpha_max : float, default=inf
        Largest alpha; only of use to see how a divergent integral grows.
    base : float, optional
        Of the logarithm, more than 1; nats by default.

    Attributes
    ----------
    entropy_, std_ : float
        Posterior mean and standard deviation; the variance of the conditional means is part of it.
    map_ : tuple of float
        Mode (d, alpha) of the posterior density in those coordinates.
    d_, alpha_, weights_ : ndarray
        Nodes of the posterior of (d, alpha) and their probabilities.
    n_samples_, n_symbols_ : int

    Notes
    -----
    Without a coincidence (N = K) the estimate is infinite, and so it is for "d_alpha" with N - K = 1, each with a
    warning. If q does not restrain the tails, the posterior mean exists only if enough symbols were seen twice: three
    for "py" and two for "uniform" under "h_gamma", one under "d_alpha"; the standard deviation needs one more. What
    does not exist is infinite, the mean with a warning. Of a function q the power of 1 - gamma near 1 is found out.

    Examples
    --------
    >>> model = PYMEntropy().fit([1, 2, 2, 4])
    >>> round(model.entropy_, 4), round(model.std_, 4)
    (1.8146, 0.4846)
    """

    _takes = "counts of symbols"

    def __init__(
        self,
        q="exp",
        *,
        strength=10.0,
        prior_measure="h_gamma",
        grid=(40, 64),
        method="auto",
        alpha_max=np.inf,
        base=None,
    ):
        self.q = q
        self.strength = strength
        self.prior_measure = prior_measure
        self.grid = grid
        self.method = method
        self.alpha_max = alpha_max
        self.base = base

    def fit(self, counts, y=None, *, kind="counts"):
        """Compute the posterior; `counts` and `kind` as in :func:`multiplicities`. `y` is ignored."""
        self._check()
        k, m = multiplicities(counts, kind)
        self._k, self._m, self._map = k, m, None
        self.n_samples_, self.n_symbols_ = int(k @ m), int(m.sum())
        if self.n_symbols_ == 1 and self.n_samples_ > 1:
            warnings.warn("only one symbol was seen: the estimate rests on the prior", UserWarning, stacklevel=2)
        reason = self._divergence()
        if reason:
            warnings.warn(f"{reason}: the estimate is infinite", UserWarning, stacklevel=2)
            self.entropy_ = self.std_ = np.inf
            self._map = (np.nan, np.nan)
            self.d_ = self.alpha_ = self.weights_ = np.empty(0)
            return self
        self._integrate(*{"dpm": self._nodes_dpm, "py": self._nodes_py}.get(self._kind(), self._nodes)())
        if self.method == "laplace":
            nodes = self._rectangle()
            if nodes is None:
                warnings.warn("the mode is at a boundary: method='auto' was used", UserWarning, stacklevel=2)
            else:
                self._integrate(*nodes)
        if not self._tail() > 1:
            self.std_ = np.inf
        return self

    @property
    def map_(self):
        """Mode (d, alpha) of the posterior density in those coordinates, found when it is first asked for."""
        check_is_fitted(self, "entropy_")
        if self._map is None:
            self._map = self._mode()
        return self._map

    def credible_interval(self, level=0.95, *, method="gaussian", n_draws=2000, random_state=None):
        """Interval that holds H with posterior probability `level`.

        "gaussian" is mean +- z sd, which may cross zero when H is small; "sample" takes quantiles of
        :meth:`sample_entropy`, O(n_draws (K + 1000)).

        Examples
        --------
        >>> low, high = PYMEntropy().fit([1, 2, 2, 4]).credible_interval(0.9)
        >>> round(low, 2), round(high, 2)
        (1.02, 2.61)
        """
        check_is_fitted(self, "entropy_")
        level = check_scalar(level, "level", low=0, high=1, closed="neither")
        check_choice(method, "method", ("gaussian", "sample"))
        if not np.isfinite(self.entropy_) or (method == "gaussian" and not np.isfinite(self.std_)):
            return 0.0, np.inf
        if method == "sample":
            draws = self.sample_entropy(n_draws, random_state=random_state)
            low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)
        reach = special.ndtri((1 + level) / 2) * self.std_
        return self.entropy_ - float(reach), self.entropy_ + float(reach)

    def sample_entropy(self, n_draws=1000, *, n_sticks=1000, random_state=None):
        """Draw H from its posterior: (d, alpha) from the grid, the seen masses, then sticks for the unseen."""
        check_is_fitted(self, "entropy_")
        n_draws = check_scalar(n_draws, "n_draws", low=1, integer=True)
        n_sticks = check_scalar(n_sticks, "n_sticks", low=1, integer=True)
        if not np.isfinite(self.entropy_):
            raise ValueError("the posterior of H is improper: there is nothing to draw from")
        rng = check_rng(random_state)
        chosen = rng.choice(self.weights_.size, size=n_draws, p=self.weights_)
        draws = draw_entropy(self._k, self._m, self.d_[chosen], self.alpha_[chosen], n_sticks, rng)
        return draws / (1.0 if self.base is None else np.log(self.base))

    def log_posterior(self, d, alpha):
        """Log-density of (d, alpha) given the counts, up to a constant."""
        check_is_fitted(self, "entropy_")
        d, alpha = np.broadcast_arrays(np.asarray(d, dtype=float), np.asarray(alpha, dtype=float))
        return log_seen(self._k, self._m, d) + log_new(self._k, self._m, d, alpha) + self._log_prior(d, alpha)

    def _check(self):
        check_prior(self.q, self.strength, self.prior_measure, ("exp", "dpm", "py", "uniform"))
        check_choice(self.method, "method", ("auto", "laplace"))
        if np.shape(self.grid) != (2,):
            raise ValueError(f"grid must be a pair of integers, got {self.grid!r}")
        for size in self.grid:
            check_scalar(size, "grid", low=4, high=10_000, integer=True)
        if self.alpha_max != np.inf:
            check_scalar(self.alpha_max, "alpha_max", low=0, closed="neither")
        in_base(1.0, self.base)

    def _kind(self):
        return self.q if isinstance(self.q, str) else "callable"

    def _tail(self):
        """The power of 1 - d in the posterior density near d = 1: the mean needs more than 0, the deviation than 1."""
        return int(self._m[self._k > 1].sum()) + tail_power(self.q, self.strength, self.prior_measure)

    def _divergence(self):
        """Why the posterior mean is infinite, or None."""
        coincidences = self.n_samples_ - self.n_symbols_
        flat = self.prior_measure == "d_alpha"
        if self._kind() != "py" and self.alpha_max == np.inf:
            if coincidences == 0:
                return "no symbol was seen twice"
            if flat and coincidences == 1:
                return "the measure 'd_alpha' needs N - K >= 2 (Archer et al. 2014, Theorem 2)"
        if not self._tail() > 0:
            return f"q={self.q!r} does not restrain the tails, and too few symbols were seen twice"
        return None

    def _log_prior(self, d, alpha):
        if self._kind() == "dpm":
            return np.log(trigamma(1.0 + alpha)) if self.prior_measure == "h_gamma" else np.zeros(np.shape(alpha))
        if self._kind() == "py":
            return np.log(trigamma(1.0 - d)) if self.prior_measure == "h_gamma" else np.zeros(np.shape(d))
        return log_prior(d, alpha, q=self.q, strength=self.strength, prior_measure=self.prior_measure)

    def _s_limits(self, rows):
        high = min(np.log(self.alpha_max), 2 * np.log(self.n_samples_) + 130)
        return np.full(rows, min(S_MIN, high - 60)), np.full(rows, high)

    def _row_density(self, d):
        seen = log_seen(self._k, self._m, d)[:, None]
        d = d[:, None]

        def log_density(s):
            alpha = np.exp(s)
            wide = np.broadcast_to(d, s.shape)
            return seen + log_new(self._k, self._m, wide, alpha) + self._log_prior(wide, alpha) + s

        return log_density

    def _nodes_dpm(self):
        """(d, alpha, log-weight) on the line d = 0."""
        s, logw = integrate_rows(self._row_density(np.zeros(1)), *self._s_limits(1), 2 * self.grid[1])
        return np.zeros(s.shape), np.exp(s), logw

    def _nodes_py(self):
        """(d, alpha, log-weight) on the line alpha = 0."""

        def log_density(v):
            d = -np.expm1(-v)
            return (
                log_seen(self._k, self._m, d)
                + log_new(self._k, self._m, d, np.zeros_like(d))
                + self._log_prior(d, 0.0)
                - v
            )

        v, logw = integrate_rows(log_density, np.array([1e-12]), np.array([V_MAX]), 2 * self.grid[1])
        return -np.expm1(-v), np.zeros(v.shape), logw

    def _nodes(self):
        """(d, alpha, log-weight) over the plane: windows in v, and for each v in s."""

        def rows(v, n_nodes):
            d = -np.expm1(-v)
            s, logw = integrate_rows(self._row_density(d), *self._s_limits(v.size), n_nodes)
            return np.broadcast_to(d[:, None], s.shape), np.exp(s), logw - v[:, None]

        def marginal(v):
            _, _, logw = rows(v.ravel(), 16)
            return special.logsumexp(logw, axis=1).reshape(v.shape)

        low, mode, high = window(marginal, np.zeros(1), np.array([V_MAX]), n_points=16)
        split = mode[0] if low[0] < mode[0] < high[0] else low[0] + (high[0] - low[0]) / 8
        unit, weight = legendre((self.grid[0] + 1) // 2)
        # Where the window begins at d = 0, the cube meets the integrable singularity at h = 0.
        power = 3 if low[0] == 0.0 else 1
        v = np.append(low[0] + (split - low[0]) * unit**power, split + (high[0] - split) * unit)
        w = np.append((split - low[0]) * power * unit ** (power - 1) * weight, (high[0] - split) * weight)
        d, alpha, logw = rows(v, self.grid[1])
        return d, alpha, logw + np.log(w)[:, None]

    def _rectangle(self):
        """Nodes on the mode +- 6 standard deviations in (d, alpha), or None where there is no such rectangle."""
        d0, alpha0 = self.map_
        step = np.array([1e-4 * min(d0, 1 - d0), 1e-4 * alpha0])
        if self._kind() in ("dpm", "py") or min(step) < 1e-10:
            return None
        grid = np.arange(-1, 2)
        f = self.log_posterior(d0 + step[0] * grid[:, None], alpha0 + step[1] * grid)
        cross = (f[2, 2] - f[2, 0] - f[0, 2] + f[0, 0]) / 4
        hessian = np.array([[f[2, 1] - 2 * f[1, 1] + f[0, 1], cross], [cross, f[1, 2] - 2 * f[1, 1] + f[1, 0]]])
        hessian /= np.outer(step, step)
        if np.linalg.eigvalsh(hessian)[-1] >= 0:
            return None
        reach = 6 * np.sqrt(np.diag(np.linalg.inv(-hessian)))
        (x, wx), (y, wy) = legendre(self.grid[0]), legendre(self.grid[1])
        low = np.maximum([d0 - reach[0], alpha0 - reach[1]], 1e-12)
        high = np.minimum([d0 + reach[0], alpha0 + reach[1]], [1 - 1e-12, np.inf])
        d, alpha = np.meshgrid(low[0] + (high - low)[0] * x, low[1] + (high - low)[1] * y, indexing="ij")
        return d, alpha, self.log_posterior(d, alpha) + np.log(np.outer(wx, wy))

    def _integrate(self, d, alpha, logw):
        if not logw.max() > -np.inf:
            raise ValueError("q must not vanish everywhere: no (d, alpha) has positive posterior density")
        weights = np.exp(logw - logw.max())
        weights /= weights.sum()
        keep = weights > 0
        rows = np.nonzero(keep)[0]
        sums = CountSums(self._k, self._m, np.ascontiguousarray(d[:, 0]) if d.shape[0] > 1 else d[0])
        where = rows if d.shape[0] > 1 else np.nonzero(keep)[1]
        self.d_, self.alpha_, self.weights_ = d[keep], alpha[keep], weights[keep]
        mean, var = conditional_moments(sums.take(where), self.d_, self.alpha_)
        centre = self.weights_ @ mean
        sd = np.sqrt(self.weights_ @ var + self.weights_ @ (mean - centre) ** 2)
        self.entropy_, self.std_ = in_base(centre, self.base), in_base(sd, self.base)

    def _mode(self):
        """Zoom in on the best node, in v and s; a coordinate that the prior holds at zero stays there."""
        best = int(np.argmax(self.log_posterior(self.d_, self.alpha_)))
        v, s = -np.log1p(-self.d_[best]), np.log(max(self.alpha_[best], 1e-300))
        moves = np.linspace(-1.0, 1.0, 9)
        fixed_d, fixed_alpha = self._kind() == "dpm", self._kind() == "py"
        reach = np.array([max(0.2 * v, 1e-3), 0.5])
        for _ in range(MODE_STEPS):
            d = -np.expm1(-np.clip(v + reach[0] * (np.zeros(1) if fixed_d else moves), 0.0, V_MAX))
            alpha = np.zeros(1) if fixed_alpha else np.clip(np.exp(s + reach[1] * moves), 1e-30, self.alpha_max)
            value = self.log_posterior(d[:, None], alpha)
            i, j = np.unravel_index(np.argmax(value), value.shape)
            v, s = -np.log1p(-d[i]), s if fixed_alpha else np.log(alpha[j])
            inside = np.array([fixed_d or 0 < i < 8 or d[i] == 0.0, fixed_alpha or 0 < j < 8 or alpha[j] < TINY])
            reach *= np.where(inside.all(), 0.5, np.where(inside, 1.0, 1.5))
        d, alpha = -np.expm1(-v), 0.0 if fixed_alpha else np.exp(s)
        return float(0.0 if d < TINY else d), float(0.0 if alpha < TINY else alpha)


def entropy_pym(data, *, kind="counts", base=None, **settings):
    """Posterior mean and standard deviation of H under PYM; `settings` as for :class:`PYMEntropy`.

    Parameters
    ----------
    data : array-like
        Counts, samples or multiplicities; see `kind`.
    kind : {"counts", "samples", "multiplicities"}, default="counts"
    base : float, optional
        Of the logarithm; e by default.
    **settings
        As for :class:`PYMEntropy`.

    Examples
    --------
    >>> mean, sd = entropy_pym([1, 2, 2, 4])
    >>> round(mean, 4)
    1.8146
    """
    model = PYMEntropy(base=base, **settings).fit(data, kind=kind)
    return model.entropy_, model.std_


def mutual_information_pym(table, *, base=None, **settings):
    """H(X) + H(Y) - H(X, Y) from a table of joint counts, each by PYM. It may come out negative.

    Parameters
    ----------
    table : array-like of shape (r, s)
        Joint counts.
    base : float, optional
        Of the logarithm; e by default.
    **settings
        As for :class:`PYMEntropy`.

    Examples
    --------
    >>> round(mutual_information_pym([[50, 0], [0, 50]]), 2)
    0.71
    """
    table = np.asarray(table)
    if table.ndim != 2:
        raise ValueError(f"table must be a matrix of joint counts, got shape {table.shape}")
    parts = [multiplicities(part) for part in (table.sum(axis=1), table.sum(axis=0), table.ravel())]
    multiplicities(table.ravel())  # refuses what the sums would hide
    h = [entropy_pym(part, kind="multiplicities", base=base, **settings)[0] for part in parts]
    return h[0] + h[1] - h[2]
