"""The recursions of one chain over many sequences at once, which lie one below the other in a single table.

They run with probabilities wherever that loses nothing. A sequence for which this is not certain is run again by
itself, at last in logarithms.
"""

from __future__ import annotations

import numpy as np

from learnable.latent.hmm import _kernels as kernels
from learnable.latent.hmm.model import HMM
from learnable.latent.hmm.recursions import _log_posterior, _scaled_forward


class Batch:
    """Sequences s = 0, 1, ... in the rows starts[s] to starts[s + 1] of tables of densities with K columns.

    `filter` keeps what `smooth` needs. `numbers` are the names of the sequences in messages, 0, 1, ... by default.
    """

    def __init__(self, starts, n_states, numbers=None):
        self.starts, self.k = starts, n_states
        self.numbers = range(len(starts) - 1) if numbers is None else numbers
        self.filtered, self.weight = np.empty((starts[-1], n_states)), None

    def filter(self, startprob, transmat, f, shift, narrow, log_densities):
        """ln p of each sequence. O(n K²).

        `f` holds densities relative to exp(shift[t]) in row t, `narrow` says whether one of them may have underflowed;
        `log_densities(s)` gives a new table of the log densities of sequence s, where f does not suffice.
        """
        self.startprob, self.transmat, self.f = startprob, transmat, f
        sums = np.empty(len(self.starts) - 1)
        kernels.forward_each(startprob, kernels.step_arcs(transmat), f, self.filtered, self.starts, sums, narrow)
        sums += np.add.reduceat(shift, self.starts[:-1])
        self.strict = {}
        for s in np.flatnonzero(np.isnan(sums)).tolist():
            try:
                self.strict[s] = _strictly(HMM(startprob, transmat), log_densities(s))
            except ValueError as error:
                raise ValueError(f"sequence {self.numbers[s]}: {error}") from None
            sums[s] = self.strict[s][0]
        return sums

    def smooth(self, shares):
        """Turn f, in place, into smoothing probabilities times the share of their sequence.

        Returns the expected numbers of transitions, weighted likewise. O(n K²).
        """
        if self.weight is None:
            self.weight = np.empty_like(self.filtered)
        left = shares.copy()
        for s in self.strict:
            # The lenient filter may have stopped half-way: what it did not write must not meet the product below.
            left[s], self.filtered[self.starts[s] : self.starts[s + 1]] = 0.0, 0.0
        kernels.backward_each(kernels.step_arcs(self.transmat.T), self.f, self.filtered, self.weight, self.starts, left)
        moves = self.transmat * (self.filtered[:-1].T @ self.weight[1:])
        for s, (_, smoothed, sums) in self.strict.items():
            self.f[self.starts[s] : self.starts[s + 1]] = shares[s] * smoothed
            moves += shares[s] * sums
        return moves


def _strictly(hmm, log_f):
    """Log-likelihood, smoothing probabilities and expected transitions of a sequence that may need logarithms."""
    f = log_f.copy()
    made = _scaled_forward(hmm, f)
    if made is not None:
        filtered, log_likelihood = made
        weight = np.zeros_like(f)
        if not kernels.backward(hmm.net[1], f, filtered, f, weight, True, False):
            return log_likelihood, f, hmm.transmat * (filtered[:-1].T @ weight[1:])
    post = _log_posterior(hmm, None, log_f)
    sums = np.zeros_like(hmm.transmat)
    kernels.log_transitions(post.log_alpha, hmm.log_transmat, log_f, post.log_beta, post.log_likelihood, sums)
    return post.log_likelihood, post.smoothed, sums
