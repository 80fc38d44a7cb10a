"""One pass of expectation-maximisation over all sequences at once.

The sequences lie one below the other in a single table, so that densities, expected transitions and sufficient
statistics are one call each; only the recursions know where a sequence begins. What does not change from one iteration
to the next (the observations' squares, the places of symbols) is computed once.
"""

from __future__ import annotations

import numpy as np

from learnable.latent.hmm import _kernels as kernels
from learnable.latent.hmm.model import HMM, DiscreteEmission, GaussianEmission, impossible_observation
from learnable.latent.hmm.recursions import _log_posterior, _scaled_forward

__all__ = ["Chain"]

_POOR = 1e-4  # variances so small beside the squared distance of the mean from the centre are computed again


class Chain:
    """Parameters of a model and the observations that they are fitted to.

    `log_likelihood` runs the filters and keeps what `maximise` needs, which replaces the parameters by the next ones.
    """

    def __init__(self, hmm, sequences, labels, shares):
        self.numbers = np.flatnonzero(shares)  # a sequence of weight zero is left out
        self.k, self.shares = hmm.n_states, shares[self.numbers]
        self.sequences = sequences = [sequences[s] for s in self.numbers]
        self.starts = np.concatenate([[0], np.cumsum([len(x) for x in sequences])])
        self.startprob, self.transmat = hmm.startprob, hmm.transmat
        kind = {DiscreteEmission: _Symbols, GaussianEmission: _Normals}.get(type(hmm.emission), _Other)
        self.emission = kind(hmm.emission, sequences, np.repeat(self.shares, np.diff(self.starts)))
        self.forbidden = None
        if labels is not None:
            y = np.concatenate([labels[s] for s in self.numbers])[:, None]
            self.forbidden = (y >= 0) & (y != np.arange(self.k))
        n = self.starts[-1]
        self.f, self.filtered, self.weight = (np.empty((n, self.k)) for _ in range(3))

    def hmm(self):
        """The model as it is now."""
        return HMM(self.startprob, self.transmat, self.emission.emission())

    def log_likelihood(self):
        """ln p of all sequences, each times its share."""
        shift = self._densities()
        sums = np.empty(len(self.sequences))
        kernels.forward_each(self.startprob, kernels.step_arcs(self.transmat), self.f, self.filtered, self.starts, sums)
        sums += np.add.reduceat(shift, self.starts[:-1])
        self.strict = {int(s): self._strictly(int(s)) for s in np.flatnonzero(np.isnan(sums))}
        for s, (value, _, _) in self.strict.items():
            sums[s] = value
        return float(self.shares @ sums)

    def maximise(self):
        """Replace the parameters by those that the expected counts would give if they were data."""
        shares = self.shares.copy()
        shares[list(self.strict)] = 0.0
        kernels.backward_each(
            kernels.step_arcs(self.transmat.T), self.f, self.filtered, self.weight, self.starts, shares
        )
        moves = self.transmat * (self.filtered[:-1].T @ self.weight[1:])
        for s, (_, smoothed, sums) in self.strict.items():
            self.f[self.starts[s] : self.starts[s + 1]] = self.shares[s] * smoothed
            moves += self.shares[s] * sums
        first = self.f[self.starts[:-1]].sum(axis=0)
        rows = moves.sum(axis=1, keepdims=True)
        P = np.where(rows > 0, moves / np.where(rows > 0, rows, 1.0), self.transmat)
        self.startprob, self.transmat = first / first.sum(), P / P.sum(axis=1, keepdims=True)
        self.emission.maximise(self.f, self.starts)

    def _densities(self):
        """Fill f with densities relative to the largest of their row; return the logarithms of those."""
        if self.forbidden is None and (shift := self.emission.relative(self.f)) is not None:
            return shift
        self.emission.log_densities(self.f)
        if self.forbidden is not None:
            self.f[self.forbidden] = -np.inf
        shift = np.empty(len(self.f))
        bad, _ = kernels.relative_densities(self.f, shift)
        if bad >= 0:
            s = int(np.searchsorted(self.starts, bad, side="right")) - 1
            raise ValueError(f"sequence {self.numbers[s]}: {impossible_observation(int(bad - self.starts[s]))}")
        return shift

    def _strictly(self, s):
        """Log-likelihood, smoothing probabilities and expected transitions of a sequence that may need logarithms."""
        hmm, x = self.hmm(), self.sequences[s]
        log_f = np.require(hmm.emission.log_likelihoods(x), dtype=np.float64, requirements=["C", "W"])
        if self.forbidden is not None:
            log_f[self.forbidden[self.starts[s] : self.starts[s + 1]]] = -np.inf
        f = log_f.copy()
        try:
            made = _scaled_forward(hmm, f)
            if made is not None:
                filtered, log_likelihood = made
                weight = np.zeros_like(f)
                if not kernels.backward(hmm.net[1], f, filtered, f, weight, True, False):
                    return log_likelihood, f, hmm.transmat * (filtered[:-1].T @ weight[1:])
            post = _log_posterior(hmm, x, log_f)
        except ValueError as error:
            raise ValueError(f"sequence {self.numbers[s]}: {error}") from None
        sums = np.zeros_like(hmm.transmat)
        kernels.log_transitions(post.log_alpha, hmm.log_transmat, log_f, post.log_beta, post.log_likelihood, sums)
        return post.log_likelihood, post.smoothed, sums


class _Symbols:
    """Discrete emissions: densities are looked up, and the expected counts of symbols are their statistics."""

    def __init__(self, emission, sequences, weights):
        self.x, self.table = np.concatenate(sequences), emission.emissionprob

    def emission(self):
        return DiscreteEmission(self.table)

    def relative(self, f):
        top = self.table.max(axis=0)
        if top.min() == 0.0:
            return None  # a symbol that no state emits, which may not occur
        np.take(np.ascontiguousarray((self.table / top).T), self.x, axis=0, out=f, mode="clip")
        return np.log(top)[self.x]

    def log_densities(self, out):
        with np.errstate(divide="ignore"):
            np.take(np.ascontiguousarray(np.log(self.table).T), self.x, axis=0, out=out, mode="clip")

    def maximise(self, smoothed, starts):
        mass = np.zeros(self.table.shape[::-1])
        kernels.symbol_mass(self.x, smoothed, mass)
        total = mass.sum(axis=0)[:, None]
        B = np.where(total > 0, mass.T / np.where(total > 0, total, 1.0), self.table)
        self.table = B / B.sum(axis=1, keepdims=True)


class _Normals:
    """Gaussian emissions: the statistics of all states are one product with the columns 1, x − c and (x − c)²."""

    def __init__(self, emission, sequences, weights):
        self.shape = emission.means.shape
        self.x = np.concatenate([x.reshape(len(x), -1) for x in sequences])
        self.means, self.variances = (a.reshape(len(a), -1) for a in (emission.means, emission.variances))
        self.centre = weights @ self.x / weights.sum()
        gaps = self.x - self.centre
        squares = gaps * gaps
        self.floor = 1e-9 * np.maximum(weights @ squares / weights.sum(), np.finfo(float).tiny)
        self.columns = np.column_stack([np.ones(len(gaps)), gaps, squares])

    def emission(self):
        return GaussianEmission(self.means.reshape(self.shape), self.variances.reshape(self.shape))

    def relative(self, f):
        return None

    def log_densities(self, out):
        constants = -0.5 * np.log(2 * np.pi * self.variances).sum(axis=1)
        means, halves = np.ascontiguousarray(self.means.T), np.ascontiguousarray(0.5 / self.variances.T)
        kernels.gaussian_log_density(self.x, means, halves, constants, out)

    def maximise(self, smoothed, starts):
        d = self.x.shape[1]
        sums = smoothed.T @ self.columns
        mass = sums[:, :1].copy()
        seen = mass > 0
        sums /= np.where(seen, mass, 1.0)
        gaps, squares = sums[:, 1 : d + 1], sums[:, d + 1 :]
        spread = squares - gaps * gaps
        # Far from the centre the difference cancels: those few states are summed about their own mean.
        for j in np.flatnonzero(((spread < _POOR * squares) & seen).any(axis=1)):
            own = (self.x - self.centre - gaps[j]) ** 2
            spread[j] = smoothed[:, j] @ own / mass[j]
        self.means = np.where(seen, self.centre + gaps, self.means)
        self.variances = np.where(seen, np.maximum(spread, self.floor), self.variances)


class _Other:
    """Any emission with the methods of those of :mod:`learnable.latent.hmm.model`."""

    def __init__(self, emission, sequences, weights):
        self._emission, self.sequences = emission, sequences

    def emission(self):
        return self._emission

    def relative(self, f):
        return None

    def log_densities(self, out):
        np.concatenate([self._emission.log_likelihoods(x) for x in self.sequences], out=out)

    def maximise(self, smoothed, starts):
        self._emission = self._emission.reestimate(self.sequences, np.split(smoothed, starts[1:-1]))
