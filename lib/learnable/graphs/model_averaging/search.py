"""One structure by greedy search: add arcs while the marginal likelihood rises, then remove arcs (Procedure 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.graphs.dags import DAG
from learnable.graphs.discrete import check_codes
from learnable.graphs.model_averaging import _kernels
from learnable.graphs.scores import network_score
from learnable.validation import Result, check_choice, check_scalar


@dataclass(frozen=True, eq=False)
class GreedyStructure(Result):
    """What `greedy_thick_thin` returns.

    Attributes
    ----------
    dag : DAG
        The structure at which no single arc helps.
    score : float
        Its log marginal likelihood.
    n_iter : int
        Arcs added and removed.
    converged : bool
        Always True: every move raises the score, so that the search ends.
    """

    dag: DAG
    score: float
    n_iter: int
    converged: bool


def greedy_thick_thin(data, n_states=None, *, kind="k2", equivalent_sample_size=1.0, max_parents=None):
    """Greedy thick-thin search for a structure of high marginal likelihood (Dash and Cooper 2004, Procedure 2).

    From the empty graph the arc that raises the score most, and closes no cycle, is added until none raises it; then
    arcs are removed likewise.

    Parameters
    ----------
    data : array-like of int of shape (n, N)
        Codes of states, complete.
    n_states : int or sequence of int, optional
        Number of states; by default one more than the largest code.
    kind : {"k2", "bdeu"}, default="k2"
        The Dirichlet prior.
    equivalent_sample_size : float, default=1.0
        The ess of BDeu.
    max_parents : int, optional
        Bound on the number of parents; by default none.

    Returns
    -------
    GreedyStructure

    Notes
    -----
    After an arc is added only the scores of its child change, so that a move costs N passes over the rows for each
    parent of the child.

    Examples
    --------
    >>> import numpy as np
    >>> cause = np.arange(40) % 2
    >>> greedy_thick_thin(np.column_stack([cause, cause, np.arange(40) // 2 % 2])).dag.edges
    ((1, 0),)
    """
    check_choice(kind, "kind", ("k2", "bdeu"))
    ess = check_scalar(equivalent_sample_size, "equivalent_sample_size", low=0, closed="neither")
    data, r = check_codes(data, n_states)
    n, n_nodes = data.shape
    bound = n_nodes if max_parents is None else check_scalar(max_parents, "max_parents", low=0, integer=True)
    table = _kernels.Table(np.ascontiguousarray(data.T), np.array(r, dtype=np.int64))
    adjacency = np.zeros((n_nodes, n_nodes), dtype=bool)
    moves = _kernels.thick_thin(table, _kernels.prior_tables(kind, ess, n, max(r, default=1)), bound, adjacency)
    dag = DAG(adjacency)
    return GreedyStructure(dag, network_score(data, dag, r, kind, ess), int(moves), True)
