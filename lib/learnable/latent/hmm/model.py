"""The model: a hidden Markov chain and what it emits."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from learnable.datasets.sequences import sample_hmm
from learnable.latent.hmm import _kernels as kernels
from learnable.validation import (
    check_finite_array,
    check_has,
    check_magnitude,
    check_probability_vector,
    check_rng,
    check_scalar,
    probability_tolerance,
)


class DiscreteEmission:
    """Each state emits one of m symbols, emissionprob[j, a] = P(X_t = a | Y_t = j).

    Parameters
    ----------
    emissionprob : array-like of shape (K, m)
        Rows are probability vectors.

    Examples
    --------
    >>> coin = DiscreteEmission([[0.5, 0.5], [0.9, 0.1]])
    >>> np.exp(coin.log_likelihoods([0, 1])).round(6).tolist()
    [[0.5, 0.9], [0.5, 0.1]]
    """

    def __init__(self, emissionprob):
        self.emissionprob = _stochastic(emissionprob, "emissionprob")
        self.n_states, self.n_symbols = self.emissionprob.shape

    ndim = 1

    def check(self, x):
        """Return `x` as integer symbols after checking them."""
        symbols = np.asarray(x)
        if symbols.ndim != 1 or symbols.size == 0:
            raise ValueError(f"x must be a non-empty vector of symbols, got shape {symbols.shape}")
        if symbols.dtype.kind not in "iu":
            symbols = check_finite_array(x, "x", ndim=1)
            broken = np.floor(symbols) != symbols
            if broken.any():
                raise ValueError(f"x must hold whole numbers, got {symbols[broken][0]}")
        if symbols.min() < 0 or symbols.max() >= self.n_symbols:
            where = int(np.flatnonzero((symbols < 0) | (symbols >= self.n_symbols))[0])
            raise ValueError(f"x must hold symbols 0..{self.n_symbols - 1}, got {symbols[where]} at {where}")
        return symbols.astype(np.int64, copy=False)

    def log_likelihoods(self, x):
        """ln f_j(x_t), an (n, K) table; O(nK)."""
        with np.errstate(divide="ignore"):
            return np.log(self.emissionprob.T)[self.check(x)]

    def simulator(self):
        """Arguments for :func:`learnable.datasets.sequences.sample_hmm`."""
        return {"emissionprob": self.emissionprob}

    def reestimate(self, sequences, weights, pseudocount=0.0):
        """The maximum likelihood emission when x_t belongs to state j with weight ``weights[t, j]``."""
        pseudocount = check_scalar(pseudocount, "pseudocount", low=0)
        mass = np.full((self.n_symbols, self.n_states), pseudocount)
        sequences = [self.check(x) for x in sequences]
        for x, weight in zip(sequences, _state_weights(weights, sequences, self.n_states), strict=True):
            kernels.symbol_mass(x, weight, mass)
        total = mass.sum(axis=0)
        B = np.where(total[:, None] > 0, mass.T / np.where(total > 0, total, 1.0)[:, None], self.emissionprob)
        return DiscreteEmission(B / B.sum(axis=1, keepdims=True))

    def __repr__(self):
        return f"DiscreteEmission({self.n_states} states, {self.n_symbols} symbols)"


class GaussianEmission:
    """Each state emits a number or a vector with independent normal coordinates, X_t | Y_t = j ~ N(mu_j, diag v_j).

    Parameters
    ----------
    means : array-like of shape (K,) or (K, d)
        One mean a state; observations are numbers or vectors of length d accordingly.
    variances : float or array-like of shape (K,) or (K, d), default=1.0
        A number for all, one a state (spherical), or one a state and coordinate (diagonal). Variances, not deviations.

    Examples
    --------
    >>> GaussianEmission([0.0, 2.0]).log_likelihoods([1.0]).round(3).tolist()
    [[-1.419, -1.419]]
    >>> GaussianEmission([[0.0, 0.0], [3.0, 4.0]], [1.0, 4.0]).log_likelihoods([[0.0, 0.0]]).round(3).tolist()
    [[-1.838, -6.349]]
    """

    def __init__(self, means, variances=1.0):
        means = check_finite_array(means, "means")
        if means.ndim not in (1, 2) or means.size == 0:
            raise ValueError(f"means must have shape (K,) or (K, d), got {means.shape}")
        variances = check_finite_array(variances, "variances")
        wide = variances[:, None] if variances.ndim == 1 and means.ndim == 2 else variances
        try:
            variances = np.broadcast_to(wide, means.shape).copy()
        except ValueError:
            raise ValueError(
                f"variances must be a number or have shape ({len(means)},) or {means.shape}, got {variances.shape}"
            ) from None
        if not np.finfo(float).tiny <= variances.min() <= variances.max() <= 1e300:
            raise ValueError(f"variances must be positive normal numbers, got {variances.min()} to {variances.max()}")
        check_magnitude(means, "means", smallest=0.0)
        self.means, self.variances = _frozen(means.copy()), _frozen(variances)
        self.n_states, self.ndim = len(means), means.ndim

    def check(self, x):
        """Return `x` as a float64 array (n,) or (n, d) after checking it."""
        x = check_finite_array(x, "x", ndim=self.ndim)
        if len(x) == 0 or x.shape[1:] != self.means.shape[1:]:
            wanted = "(n,)" if self.ndim == 1 else f"(n, {self.means.shape[1]})"
            raise ValueError(f"x must have shape {wanted} with n >= 1, got {x.shape}")
        return check_magnitude(x, "x", smallest=0.0)

    def log_likelihoods(self, x):
        """ln f_j(x_t), an (n, K) table; O(nKd)."""
        x = self.check(x)
        means, variances = self.means.reshape(self.n_states, -1), self.variances.reshape(self.n_states, -1)
        out = np.empty((len(x), self.n_states))
        constants = -0.5 * np.log(2 * np.pi * variances).sum(axis=1)
        table = np.ascontiguousarray(x.reshape(len(x), -1))
        kernels.gaussian_log_density(
            table, np.ascontiguousarray(means.T), np.ascontiguousarray(0.5 / variances.T), constants, out
        )
        return out

    def simulator(self):
        """Arguments for :func:`learnable.datasets.sequences.sample_hmm`."""
        return {"means": self.means, "sds": np.sqrt(self.variances)}

    def reestimate(self, sequences, weights, pseudocount=0.0):
        """Weighted means and variances, these at least 1e-9 of the data's; a state without weight keeps its own."""
        sequences = [self.check(s) for s in sequences]
        weight = np.concatenate(_state_weights(weights, sequences, self.n_states))
        x = np.concatenate([s.reshape(len(s), -1) for s in sequences])
        old = self.means.reshape(self.n_states, -1), self.variances.reshape(self.n_states, -1)
        mass = weight.sum(axis=0)[:, None]
        safe = np.where(mass > 0, mass, 1.0)
        means = np.where(mass > 0, weight.T @ x / safe, old[0])
        centred = x[:, None, :] - means if x.size * self.n_states <= 1_000_000 else None
        if centred is None:
            spread = np.stack([w @ (x - m) ** 2 for w, m in zip(weight.T, means, strict=True)])
        else:
            spread = np.einsum("tj,tjd->jd", weight, centred**2)
        floor = 1e-9 * np.maximum(x.var(axis=0), np.finfo(float).tiny)
        variances = np.where(mass > 0, np.maximum(spread / safe, floor), old[1])
        return GaussianEmission(means.reshape(self.means.shape), variances.reshape(self.means.shape))

    def __repr__(self):
        size = "1 dimension" if self.ndim == 1 else f"{self.means.shape[1]} dimensions"
        return f"GaussianEmission({self.n_states} states, {size})"


class HMM:
    """A hidden Markov model: Y_1 ~ startprob, P(Y_(t+1) = j | Y_t = i) = transmat[i, j], X_t from the emission of Y_t.

    Parameters
    ----------
    startprob : array-like of shape (K,)
        The law of the first state.
    transmat : array-like of shape (K, K)
        Transition probabilities; rows sum to one, zeros are forbidden transitions.
    emission : DiscreteEmission or GaussianEmission, optional
        Any object with ``n_states``, ``check(x)``, ``log_likelihoods(x)`` and ``reestimate(sequences, weights)``.
        Without one, "observations" are (n, K) tables of log densities ln f_j(x_t), where -inf is allowed.

    Attributes
    ----------
    log_startprob, log_transmat : ndarray
        Logarithms, -inf for zero.

    Examples
    --------
    >>> casino = HMM([0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], DiscreteEmission([[1 / 6] * 6, [0.1] * 5 + [0.5]]))
    >>> x, states = casino.sample(5, 0)
    >>> casino.log_likelihoods(x).shape
    (5, 2)
    """

    def __init__(self, startprob, transmat, emission=None):
        self.startprob = _frozen(check_probability_vector(startprob, "startprob").copy())
        self.n_states = len(self.startprob)
        self.transmat = _stochastic(transmat, "transmat", shape=(self.n_states, self.n_states))
        if emission is not None:
            check_has(emission, "emission", "n_states log_likelihoods check", "an emission such as DiscreteEmission")
        if emission is not None and emission.n_states != self.n_states:
            raise ValueError(f"emission must have {self.n_states} states like startprob, got {emission.n_states}")
        self.emission = emission
        with np.errstate(divide="ignore"):
            self.log_startprob = _frozen(np.log(self.startprob))
            self.log_transmat = _frozen(np.log(self.transmat))

    @classmethod
    def from_parameters(cls, startprob, transmat, emissionprob=None, means=None, sds=1.0):
        """The model that :func:`learnable.datasets.sequences.hmm_parameters` describes.

        Examples
        --------
        >>> from learnable.datasets import hmm_parameters
        >>> HMM.from_parameters(**hmm_parameters("ring"))
        HMM(5 states, GaussianEmission(5 states, 1 dimension))
        """
        if (emissionprob is None) == (means is None):
            raise ValueError("give either emissionprob or means")
        made = DiscreteEmission(emissionprob) if means is None else GaussianEmission(means, np.square(sds))
        return cls(startprob, transmat, made)

    def check(self, x):
        """Return the observations in the form the emission needs, after checking them."""
        if self.emission is not None:
            return self.emission.check(x)
        try:
            if np.asarray(x).dtype.kind == "c":
                raise TypeError("complex")
            # The recursions run along rows: a data frame, or its transpose, comes column by column.
            table = np.array(x, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise ValueError("x must be a table of log densities, one row a time, one column a state") from None
        if table.ndim != 2 or table.shape[1] != self.n_states or len(table) == 0:
            raise ValueError(f"x must be a table of log densities of shape (n, {self.n_states}), got {table.shape}")
        bad = ~(table < np.inf)
        if bad.any():
            t, j = (int(i) for i in np.argwhere(bad)[0])
            raise ValueError(f"log densities must be below +inf and no NaN, got {table[t, j]} at [{t}, {j}]")
        return table

    def densities(self, x):
        """A new table of ln f_j(x_t), without the check for impossible observations: the recursions make their own."""
        table = self.check(x) if self.emission is None else self.emission.log_likelihoods(x)
        return np.require(table, dtype=np.float64, requirements=["C", "W"])

    def log_likelihoods(self, x):
        """Return ln f_j(x_t), an (n, K) table that may contain -inf.

        A row without a finite entry is an observation that no state can emit: an error that names it.
        """
        table = self.densities(x)
        impossible = (table == -np.inf).all(axis=1)
        if impossible.any():
            raise ValueError(impossible_observation(int(impossible.argmax())))
        return table

    def sample(self, n, random_state=None):
        """Draw n observations and the states behind them.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None

        Returns
        -------
        x : ndarray of shape (n,) or (n, d)
        states : ndarray of shape (n,)
        """
        n = check_scalar(n, "n", low=1, integer=True)
        if self.emission is None:
            raise ValueError("a model without an emission cannot be sampled")
        model = {"startprob": self.startprob, "transmat": self.transmat, **self.emission.simulator()}
        made = sample_hmm(1, n, **model, random_state=check_rng(random_state))
        return made.data[0], made.states[0]

    def prior(self, n):
        """P(Y_t = j) = (pi P^(t-1))_j for t = 1..n, an (n, K) table; O(nK²)."""
        out = np.empty((check_scalar(n, "n", low=1, integer=True), self.n_states))
        kernels.prior_marginals(self.startprob, self.net[0], out)
        return out

    @cached_property
    def net(self):
        """Transitions as the kernels want them: forward, backward, and both in logarithms."""
        return (
            kernels.arcs(self.transmat),
            kernels.arcs(self.transmat.T),
            kernels.arcs(self.log_transmat, -np.inf),
            kernels.arcs(self.log_transmat.T, -np.inf),
        )

    @cached_property
    def tiny_parameters(self):
        """Whether a positive parameter is too small for the scaled recursions."""
        positive = np.concatenate([self.startprob[self.startprob > 0], self.transmat[self.transmat > 0]])
        return bool(positive.min() < kernels.SMALL_STEP)

    def __repr__(self):
        return f"HMM({self.n_states} states, {self.emission!r})"


def impossible_observation(t):
    """The message for an observation that no state can emit."""
    return f"observation {t} has density zero in every state"


def _state_weights(weights, sequences, n_states):
    """The weights of the states of each sequence as float64 tables, after checking their shapes and signs."""
    tables = [np.asarray(table, dtype=np.float64) for table in weights]
    if len(tables) != len(sequences):
        raise ValueError(f"weights must hold one table for each of the {len(sequences)} sequences, got {len(tables)}")
    for number, (table, x) in enumerate(zip(tables, sequences, strict=True)):
        if table.shape != (len(x), n_states):
            raise ValueError(f"weights[{number}] must have shape {(len(x), n_states)}, got {table.shape}")
        if not 0 <= table.min() <= table.max() < np.inf:
            raise ValueError(f"weights[{number}] must be finite and non-negative")
    return tables


def _frozen(array):
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def _stochastic(rows, name, shape=None):
    """Return a row-stochastic matrix as a frozen copy."""
    tolerance = probability_tolerance(getattr(rows, "dtype", np.float64))
    rows = check_finite_array(rows, name, ndim=2).copy()
    if rows.size == 0 or (shape is not None and rows.shape != shape):
        raise ValueError(f"{name} must have shape {shape or '(K, m)'}, got {rows.shape}")
    if rows.min() < 0:
        i, j = np.unravel_index(rows.argmin(), rows.shape)
        raise ValueError(f"{name} must be non-negative, got {rows[i, j]} at [{i}, {j}]")
    off = np.abs(rows.sum(axis=1) - 1)
    if off.max() > tolerance:
        i = int(off.argmax())
        raise ValueError(f"{name} must have rows that sum to 1, got a sum of {rows[i].sum():.9g} in row {i}")
    return _frozen(rows)
