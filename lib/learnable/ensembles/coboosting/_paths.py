"""The most likely path of states of each of many sequences, compiled."""

import numpy as np
from numba import njit

from learnable._inner import assign


@njit(cache=True)
def best_paths(log_start, log_move, log_f, starts, path):
    """Viterbi's recursion for each sequence; ties go to the lower state. O(n K²)."""
    k = log_f.shape[1]
    back = np.zeros(log_f.shape, dtype=np.int64)
    now, then = np.empty(k), np.empty(k)
    for s in range(len(starts) - 1):
        a, b = starts[s], starts[s + 1]
        for t in range(a, b):
            for j in range(k):
                then[j] = log_start[j]
                if t > a:
                    then[j] = -np.inf
                    for i in range(k):
                        value = now[i] + log_move[i, j]
                        if value > then[j]:
                            then[j], back[t, j] = value, i
                then[j] += log_f[t, j]
            assign(now, then)
        path[b - 1] = np.argmax(now)
        for t in range(b - 1, a, -1):
            path[t - 1] = back[t, path[t]]
