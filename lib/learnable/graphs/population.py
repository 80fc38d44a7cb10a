"""The score that n records would give on average: how much data the large-sample ranking needs.

BIC splits into local terms -n H(X | parents) - log(n)/2 (r - 1) q, and entropies follow from the joint distribution.
Whatever n, the expected ranking of all DAGs is therefore exact, without drawing a record.
"""

from __future__ import annotations

import numpy as np

from learnable.graphs.faithful import check_joint
from learnable.validation import check_scalar

__all__ = ["population_scores"]


def population_scores(joint, n_samples):
    """Local BIC of every family with the true distribution in place of the empirical one.

    score(x, S) = -n H(x | S) - log(n)/2 (r_x - 1) prod of r over S, in nats; the maximised likelihood of a sample
    exceeds it by half the number of parameters on average. Cost 2^p passes over margins of the joint table.

    Parameters
    ----------
    joint : ndarray
        Joint probabilities, an axis for each of at most 12 variables.
    n_samples : float
        Number of records, at least 2; need not be a whole number.

    Returns
    -------
    ndarray of shape (p, 2^p)
        For `learnable.graphs.scores.best_dag`: minus infinity where the set contains the variable.

    Examples
    --------
    >>> from learnable.graphs import best_dag
    >>> joint = np.array([[0.27, 0.23], [0.23, 0.27]])  # a weak dependence
    >>> [len(best_dag(population_scores(joint, n)).dag.edges) for n in (100, 10_000)]
    [0, 1]
    """
    joint = check_joint(joint).astype(float)
    if joint.ndim > 12:
        raise ValueError(f"joint must have at most 12 variables, got {joint.ndim}")
    n = check_scalar(n_samples, "n_samples", low=2)
    p, r = joint.ndim, joint.shape
    entropy = np.zeros(2**p)
    size = np.ones(2**p)
    for S in range(1, 2**p):
        table = joint.sum(axis=tuple(v for v in range(p) if not S >> v & 1))
        cells = table[table > 0]
        entropy[S] = -(cells * np.log(cells)).sum()
        low = (S & -S).bit_length() - 1
        size[S] = size[S & (S - 1)] * r[low]
    scores = np.full((p, 2**p), -np.inf)
    sets = np.arange(2**p)
    for x in range(p):
        S = sets[sets >> x & 1 == 0]
        scores[x, S] = -n * (entropy[S | 1 << x] - entropy[S]) - 0.5 * np.log(n) * (r[x] - 1) * size[S]
    return scores
