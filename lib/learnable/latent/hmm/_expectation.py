"""One pass of expectation-maximisation over all sequences at once.

The sequences lie one below the other in a single table, so that densities, expected transitions and sufficient
statistics are one call each; only the recursions know where a sequence begins (:mod:`._batch`). What does not change
from one iteration to the next (the observations' squares, the places of symbols) is computed once.
"""

from __future__ import annotations

import numpy as np

from learnable.latent.hmm import _kernels as kernels
from learnable.latent.hmm._batch import Batch
from learnable.latent.hmm.model import HMM, DiscreteEmission, GaussianEmission, impossible_observation

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
        self.f, self.batch = np.empty((self.starts[-1], self.k)), Batch(self.starts, self.k, self.numbers)

    def hmm(self):
        """The model as it is now."""
        return HMM(self.startprob, self.transmat, self.emission.emission())

    def log_likelihood(self):
        """ln p of all sequences, each times its share."""
        shift, narrow = self._densities()
        sums = self.batch.filter(self.startprob, self.transmat, self.f, shift, narrow, self._log_densities)
        return float(self.shares @ sums)

    def maximise(self):
        """Replace the parameters by those that the expected counts would give if they were data."""
        moves = self.batch.smooth(self.shares)
        first = self.f[self.starts[:-1]].sum(axis=0)
        rows = moves.sum(axis=1, keepdims=True)
        P = np.where(rows == 0, self.transmat, moves / np.where(rows == 0, 1.0, rows))
        self.startprob, self.transmat = first / first.sum(), P / P.sum(axis=1, keepdims=True)
        self.emission.maximise(self.f, self.starts)

    def _densities(self):
        """Fill f with densities relative to the largest of their row.

        Returns the logarithms of those, and whether a density may have underflowed.
        """
        if self.forbidden is None and (made := self.emission.relative(self.f)) is not None:
            return made
        self.emission.log_densities(self.f)
        if self.forbidden is not None:
            self.f[self.forbidden] = -np.inf
        shift = np.empty(len(self.f))
        bad, narrow = kernels.relative_densities(self.f, shift)
        if bad >= 0:
            s = int(np.searchsorted(self.starts, bad, side="right")) - 1
            raise ValueError(f"sequence {self.numbers[s]}: {impossible_observation(int(bad - self.starts[s]))}")
        return shift, narrow

    def _log_densities(self, s):
        """ln f_j(x_t) of one sequence, a table of its own."""
        log_f = np.array(self.emission.emission().log_likelihoods(self.sequences[s]), dtype=np.float64, order="C")
        if self.forbidden is not None:
            log_f[self.forbidden[self.starts[s] : self.starts[s + 1]]] = -np.inf
        return log_f


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
        table = self.table / top
        np.take(np.ascontiguousarray(table.T), self.x, axis=0, out=f, mode="clip")
        narrow = np.any((table < kernels.SMALL_DENSITY) & (self.table > 0))
        return np.log(top)[self.x], bool(narrow)

    def log_densities(self, out):
        with np.errstate(divide="ignore"):
            np.take(np.ascontiguousarray(np.log(self.table).T), self.x, axis=0, out=out, mode="clip")

    def maximise(self, smoothed, starts):
        mass = np.zeros(self.table.shape[::-1])
        kernels.symbol_mass(self.x, smoothed, mass)
        total = mass.sum(axis=0)[:, None]
        B = np.where(total == 0, self.table, mass.T / np.where(total == 0, 1.0, total))
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
        seen = mass != 0
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
