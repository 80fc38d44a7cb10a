"""Worked pieces of averaging over networks: unions of parent sets, posterior means, numbers of structures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from learnable.graphs.discrete import DiscreteNetwork, check_codes
from learnable.graphs.model_averaging import _kernels
from learnable.graphs.model_averaging.averaging import _levels
from learnable.graphs.scores import family_counts


def ama_parents(weights, sets, max_union):
    """Union of the heaviest parent sets that keeps at most n members (Dash and Cooper 2004, Procedure 1)."""
    n = max_union
    weights = np.asarray(weights, dtype=float)
    members = [sorted(set(of)) for of in sets]
    padded = np.full((len(members), max(map(len, members), default=0)), -1, dtype=np.int16)
    for row, of in zip(padded, members, strict=True):
        row[: len(of)] = of
    inside = _kernels.capped_union(padded, np.argsort(-weights, kind="stable"), n, int(padded.max(initial=0)) + 1)
    return tuple(np.flatnonzero(inside).tolist())


def posterior_mean_table(data, node, parents, n_states=None, kind="k2", equivalent_sample_size=1.0):
    """Posterior mean (a_ijk + N_ijk) / (a_ij + N_ij) of a node's table: what averages over its parameters."""
    ess = equivalent_sample_size
    counts = family_counts(data, node, parents, n_states)
    counts = counts + (1.0 if kind == "k2" else ess / counts.size)
    return counts / counts.sum(axis=-1, keepdims=True)


def log_number_of_structures(order, max_parents):
    """Log of the number of structures along an order with at most k parents: the product over nodes of sums of
    C(c, s).
    """
    order = list(order)
    levels = _levels(order, sum(len(v) if isinstance(v, Sequence | np.ndarray) else 1 for v in order))
    k = max_parents
    total, before = 0.0, 0
    for level in levels:
        total += len(level) * math.log(sum(math.comb(before, s) for s in range(min(k, before) + 1)))
        before += len(level)
    return total


def fitted_network(data, dag, n_states=None, *, kind="k2", equivalent_sample_size=1.0):
    """The network on a given structure whose tables are posterior means: its predictions average over the
    parameters.
    """
    data, r = check_codes(data, n_states)
    tables = [
        posterior_mean_table(data, i, dag.parents(i), r, kind, equivalent_sample_size) for i in range(data.shape[1])
    ]
    return DiscreteNetwork(dag, tables)
