"""Unknown parameters: counting where states are known, Baum-Welch where they are not."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.latent.hmm._expectation import Chain
from learnable.latent.hmm.model import HMM, DiscreteEmission, GaussianEmission
from learnable.latent.hmm.recursions import check_hmm
from learnable.validation import check_scalar, check_weights


@dataclass(frozen=True)
class BaumWelchResult:
    """What :func:`baum_welch` returns.

    Attributes
    ----------
    hmm : HMM
        The last model.
    log_likelihoods : ndarray
        ln p of all sequences under the first model and after each iteration; it never decreases.
    converged : bool
    """

    hmm: HMM
    log_likelihoods: np.ndarray
    converged: bool


def baum_welch(hmm, sequences, *, max_iter=100, tol=1e-6, labels=None, lengths=None, sample_weight=None):
    """Maximum likelihood by expectation-maximisation, starting from `hmm` (Baum et al. 1970).

    Each iteration computes the expected numbers of starts, transitions and emissions given the observations, and then
    divides: the next model is the one that these fractional counts would give if they were data. The likelihood cannot
    fall. It has many local maxima: start from several models, or from labelled data (:func:`fit_labelled`). Parameters
    that are zero stay zero.

    Parameters
    ----------
    hmm : HMM
        The start, with an emission. Equal states stay equal for ever: break the symmetry.
    sequences : array-like or list of array-like
        One sequence, an array of sequences of equal length, or a list; with `lengths`, all sequences one behind the
        other.
    max_iter : int, default=100
        At most so many iterations.
    tol : float, default=1e-6
        Stop when an iteration gains less than this in log-likelihood for each observation.
    labels : like `sequences`, optional
        Known states, with -1 where unknown: they are kept (semi-supervised estimation).
    lengths : array-like of int, optional
        Lengths of the single sequences in `sequences` (and `labels`); their sum is the number of observations.
    sample_weight : array-like of float, optional
        One weight for each sequence, which multiplies its log-likelihood: 2 counts it twice, 0 leaves it out.

    Returns
    -------
    BaumWelchResult

    Notes
    -----
    O(n K²) an iteration for n observations in all, memory O(nK). The recursions run with probabilities, and with
    logarithms for a sequence in which numbers become so small that some might be lost.

    Examples
    --------
    >>> truth = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], GaussianEmission([-2.0, 2.0]))
    >>> x, _ = truth.sample(1000, 0)
    >>> start = HMM([0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]], GaussianEmission([-1.0, 1.0]))
    >>> result = baum_welch(start, x)
    >>> result.converged, bool((np.diff(result.log_likelihoods) >= -1e-9).all())
    (True, True)
    >>> result.hmm.emission.means.round(1).tolist()
    [-2.0, 2.0]
    >>> parts = baum_welch(start, x, lengths=[400, 600], sample_weight=[1, 2], tol=1e-4)
    >>> parts.hmm.emission.means.round(1).tolist()
    [-2.0, 2.0]
    """
    hmm = check_hmm(hmm)
    if hmm.emission is None:
        raise ValueError("baum_welch needs a model with an emission")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    tol = check_scalar(tol, "tol", low=0)
    if lengths is not None:
        sequences, labels = _cut(sequences, "sequences", lengths), _cut(labels, "labels", lengths)
    sequences = _split(sequences, hmm.emission.ndim, hmm.emission.check, "sequences")
    if labels is not None:
        labels = _split_labels(labels, sequences, hmm.n_states)
    shares = check_weights(sample_weight, len(sequences))
    shares = np.ones(len(sequences)) if shares is None else shares
    total = float(sum(share * len(x) for share, x in zip(shares, sequences, strict=True)))
    chain = Chain(hmm, sequences, labels, shares)
    trace, converged = [chain.log_likelihood()], False
    while not converged and len(trace) <= max_iter:
        chain.maximise()
        trace.append(chain.log_likelihood())
        converged = trace[-1] - trace[-2] <= tol * total
    if not converged:
        warnings.warn(
            f"baum_welch did not converge in {max_iter} iterations: the last one still gained "
            f"{trace[-1] - trace[-2]:.3g}; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    return BaumWelchResult(chain.hmm(), np.array(trace), converged)


def fit_labelled(sequences, states, *, n_states, n_symbols=None, pseudocount=0.0):
    """Estimate a model by counting, from sequences whose states are known, wholly or in part.

    Starts, transitions (where both ends are known) and emissions are counted and divided: maximum likelihood for
    labelled data (Lember 2012, Ch. 7, calls its use semi-supervised). O(total length).

    Parameters
    ----------
    sequences : array-like or list of array-like
        Symbols 0..n_symbols-1, numbers, or rows of numbers.
    states : like `sequences`
        The state of each observation, 0..n_states-1, or -1 where it is not known.
    n_states : int
    n_symbols : int, optional
        For discrete emissions; without it emissions are Gaussian, and every state must occur.
    pseudocount : float, default=0
        Added to every count of starts, transitions and symbols; rows that would be empty are an error without it.

    Returns
    -------
    HMM

    Examples
    --------
    >>> model = fit_labelled([0, 1, 1, 0], [0, 0, 1, -1], n_states=2, n_symbols=2, pseudocount=1)
    >>> model.transmat.round(2).tolist(), model.emission.emissionprob.round(2).tolist()
    ([[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.33, 0.67]])
    """
    k = check_scalar(n_states, "n_states", low=1, integer=True)
    pseudocount = check_scalar(pseudocount, "pseudocount", low=0)
    template = _template(sequences, k, n_symbols)
    sequences = _split(sequences, template.ndim, template.check, "sequences")
    labels = _split_labels(states, sequences, k)
    first, moves = np.full(k, pseudocount), np.full((k, k), pseudocount)
    weights = []
    for y in labels:
        if y[0] >= 0:
            first[y[0]] += 1
        both = (y[:-1] >= 0) & (y[1:] >= 0)
        moves += np.bincount(y[:-1][both] * k + y[1:][both], minlength=k * k).reshape(k, k)
        weights.append((y[:, None] == np.arange(k)).astype(float))
    if first.sum() == 0:
        raise ValueError("no sequence has a known first state: label one, or give a pseudocount")
    missing = np.flatnonzero(
        (moves.sum(axis=1) == 0) | ((sum(w.sum(axis=0) for w in weights) == 0) & (pseudocount == 0))
    )
    if len(missing):
        raise ValueError(f"state {missing[0]} has no labelled successor: label more, or give a pseudocount")
    emission = template.reestimate(sequences, weights, pseudocount)
    return HMM(first / first.sum(), moves / moves.sum(axis=1, keepdims=True), emission)


def _template(sequences, k, n_symbols):
    """An emission of the right kind, whose values do not matter."""
    if n_symbols is not None:
        m = check_scalar(n_symbols, "n_symbols", low=1, integer=True)
        return DiscreteEmission(np.full((k, m), 1 / m))
    sample = sequences[0] if isinstance(sequences, (list, tuple)) and np.ndim(sequences[0]) else sequences
    sample = np.asarray(sample, dtype=float)
    return GaussianEmission(np.zeros(k) if sample.ndim == 1 else np.zeros((k, sample.shape[-1])))


def _split(sequences, ndim, check, name):
    """A list of checked sequences from one, from an array of them, or from a list."""
    if isinstance(sequences, (list, tuple)) and len(sequences) and np.ndim(sequences[0]) == ndim:
        parts = sequences
    else:
        array = np.asarray(sequences)
        if array.ndim not in (ndim, ndim + 1) or array.size == 0:
            raise ValueError(f"{name} must be a sequence with {ndim} dimension(s), an array or a list of them")
        parts = [array] if array.ndim == ndim else list(array)
    return [check(part) for part in parts]


def _cut(values, name, lengths):
    """One array cut into sequences of the given lengths; None stays None."""
    if values is None:
        return None
    array, sizes = np.asarray(values), np.asarray(lengths)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or sizes.size == 0 or sizes.min() < 1:
        raise ValueError(f"lengths must be positive integers, one for each sequence, got {lengths!r}")
    if array.ndim == 0 or sizes.sum() != len(array):
        here = "missing" if array.ndim == 0 else len(array)
        raise ValueError(f"lengths must sum to the {here} observations of {name}, got {sizes.sum()}")
    return np.split(array, np.cumsum(sizes)[:-1])


def _split_labels(labels, sequences, k):
    labels = _split(labels, 1, np.asarray, "labels")
    if [len(y) for y in labels] != [len(x) for x in sequences]:
        raise ValueError("labels must have the lengths of the sequences")
    for number, y in enumerate(labels):
        if y.dtype.kind not in "iu" or y.min() < -1 or y.max() >= k:
            raise ValueError(f"labels must be integers from -1 (unknown) to {k - 1}; sequence {number} has others")
    return [y.astype(np.int64) for y in labels]
