"""Forward and backward recursions of many small hidden Markov models at once, compiled.

A *job* is one sequence under one model: rows `first[j]` to `last[j]` of a table of densities, and the number of the
model. Each job runs with probabilities that are normalised at every step. Densities are relative to the largest of
their row and transition probabilities at most one, so that what is lost below 1e-300 at one time is worth at most
1e-300 of the whole at every later time. If the whole never falls below exp(DEEP), nothing that counts was lost;
otherwise the job is run again in logarithms. States that a left-right chain cannot reach yet are exact zeros in both.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = ["Chains", "Jobs", "best_paths", "log_likelihoods", "posteriors"]

DEEP = -460.0  # exp(DEEP) is 1e-200, and 1e-300 / 1e-200 is far below rounding


class Jobs(NamedTuple):
    """Which rows belong to a sequence, which model it is seen by, and its weight."""

    first: np.ndarray
    last: np.ndarray
    model: np.ndarray
    weight: np.ndarray


class Chains(NamedTuple):
    """Start and transition probabilities of all models, (C, K) and (C, K, K), and their logarithms."""

    startprob: np.ndarray
    transmat: np.ndarray
    log_startprob: np.ndarray
    log_transmat: np.ndarray


@njit(cache=True, nogil=True)
def _forward(start, move, f, filtered, scale):
    """Filtering probabilities and the mass of each step; returns the logarithm of the whole mass, or -inf."""
    n, k = f.shape
    total_log = 0.0
    for t in range(n):
        total = 0.0
        for j in range(k):
            value = start[j]
            if t > 0:
                value = 0.0
                for i in range(k):
                    value += filtered[t - 1, i] * move[i, j]
            value *= f[t, j]
            filtered[t, j] = value
            total += value
        if not total > 0.0:
            return -np.inf
        for j in range(k):
            filtered[t, j] /= total
        scale[t] = total
        total_log += np.log(total)
    return total_log


@njit(cache=True, nogil=True)
def _backward(move, f, filtered, scale, pairs, weight):
    """Turn `filtered` into smoothing probabilities and add weighted expected pairs, without the factor `move`."""
    n, k = f.shape
    beta, ahead = np.ones(k), np.empty(k)
    for t in range(n - 1, 0, -1):
        for j in range(k):
            ahead[j] = f[t, j] * beta[j] / scale[t]
        for j in range(k):
            filtered[t, j] *= beta[j]
        for i in range(k):
            total = 0.0
            for j in range(k):
                total += move[i, j] * ahead[j]
                pairs[i, j] += weight * filtered[t - 1, i] * ahead[j]
            beta[i] = total
    for j in range(k):
        filtered[0, j] *= beta[j]


@njit(cache=True, nogil=True)
def _log_add(a, b):
    """ln(eᵃ + eᵇ), where both may be -inf."""
    top, low = (a, b) if a > b else (b, a)
    return top if low == -np.inf else top + np.log1p(np.exp(low - top))


@njit(cache=True, nogil=True)
def _log_forward(log_start, log_move, log_f, log_alpha):
    """ln α_t(j); returns the log-likelihood."""
    n, k = log_f.shape
    for t in range(n):
        for j in range(k):
            value = log_start[j]
            if t > 0:
                value = -np.inf
                for i in range(k):
                    value = _log_add(value, log_alpha[t - 1, i] + log_move[i, j])
            log_alpha[t, j] = value + log_f[t, j]
    whole = -np.inf
    for j in range(k):
        whole = _log_add(whole, log_alpha[n - 1, j])
    return whole


@njit(cache=True, nogil=True)
def _log_backward(log_move, log_f, log_alpha, whole, pairs, weight):
    """Turn ln α into smoothing probabilities; add weighted expected pairs, divided by their transition probability."""
    n, k = log_f.shape
    beta, ahead = np.zeros(k), np.empty(k)
    for t in range(n - 1, -1, -1):
        for j in range(k):
            log_alpha[t, j] = np.exp(log_alpha[t, j] + beta[j] - whole)
            ahead[j] = log_f[t, j] + beta[j]
        if t == 0:
            break
        for i in range(k):
            total = -np.inf
            for j in range(k):
                step = log_move[i, j] + ahead[j]
                total = _log_add(total, step)
                if step > -np.inf:
                    pairs[i, j] += weight * np.exp(log_alpha[t - 1, i] + step - whole - log_move[i, j])
            beta[i] = total


@njit(cache=True, nogil=True)
def posteriors(chains, jobs, tables, log_likelihood, pairs):
    """Smoothing probabilities of every job, times its weight, into the third table; its log-likelihood beside.

    `tables` are (log densities, densities relative to the largest of their row, result); `pairs` (C, K, K) collects
    the weighted expected transitions. The logarithms of those largest densities are not part of the log-likelihood.
    """
    log_f, f, smoothed = tables
    scale = np.empty(f.shape[0])
    for s in range(len(jobs.first)):
        a, b, c, weight = jobs.first[s], jobs.last[s], jobs.model[s], jobs.weight[s]
        value = _forward(chains.startprob[c], chains.transmat[c], f[a:b], smoothed[a:b], scale)
        if value > DEEP:
            _backward(chains.transmat[c], f[a:b], smoothed[a:b], scale, pairs[c], weight)
        else:
            value = _log_forward(chains.log_startprob[c], chains.log_transmat[c], log_f[a:b], smoothed[a:b])
            _log_backward(chains.log_transmat[c], log_f[a:b], smoothed[a:b], value, pairs[c], weight)
        log_likelihood[s] = value
        for t in range(a, b):
            for j in range(f.shape[1]):
                smoothed[t, j] *= weight
    for c in range(len(pairs)):
        pairs[c] *= chains.transmat[c]


@njit(cache=True, nogil=True)
def log_likelihoods(chains, jobs, tables, log_likelihood):
    """The log-likelihood of every job, relative to the largest densities of the rows."""
    log_f, f, scratch = tables
    scale = np.empty(f.shape[0])
    for s in range(len(jobs.first)):
        a, b, c = jobs.first[s], jobs.last[s], jobs.model[s]
        value = _forward(chains.startprob[c], chains.transmat[c], f[a:b], scratch[a:b], scale)
        if not value > DEEP:
            value = _log_forward(chains.log_startprob[c], chains.log_transmat[c], log_f[a:b], scratch[a:b])
        log_likelihood[s] = value


@njit(cache=True, nogil=True)
def best_paths(chains, jobs, log_f, path):
    """The most likely path of every job (Viterbi); ties go to the lower state."""
    k = log_f.shape[1]
    back = np.zeros(log_f.shape, dtype=np.int64)
    now, then = np.empty(k), np.empty(k)
    for s in range(len(jobs.first)):
        a, b, c = jobs.first[s], jobs.last[s], jobs.model[s]
        for t in range(a, b):
            for j in range(k):
                then[j] = chains.log_startprob[c, j]
                if t > a:
                    then[j] = -np.inf
                    for i in range(k):
                        value = now[i] + chains.log_transmat[c, i, j]
                        if value > then[j]:
                            then[j], back[t, j] = value, i
                then[j] += log_f[t, j]
            now[:] = then
        path[b - 1] = np.argmax(now)
        for t in range(b - 1, a, -1):
            path[t - 1] = back[t, path[t]]
