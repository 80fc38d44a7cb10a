"""Three oracles for the distribution of the reduction, each in polynomial time (Chickering et al. 2004, Sec. 3.4).

Learning stays hard when a computer that answers such questions at once is given away, because for these distributions
it can be had: independence is d-separation in the graph with hidden variables, and the probability of a few values
needs a few small trees only.
"""

from __future__ import annotations

import itertools

import numpy as np

from learnable.graphs.bn_learning_np_hard.reduction import LearnInstance
from learnable.graphs.dags import d_separated
from learnable.validation import check_has, check_scalar

__all__ = ["LearnOracle"]


class LearnOracle:
    """Answers questions about the distribution of an instance, which is the margin of a network with hidden variables.

    Parameters
    ----------
    instance : LearnInstance
        Made by `dbfas_to_learn`.
    alpha : float, default=1/16
        The constant of the tables.

    Attributes
    ----------
    n_calls : int
        Number of questions answered so far.

    Examples
    --------
    >>> from learnable.graphs.bn_learning_np_hard import dbfas_to_learn
    >>> oracle = LearnOracle(dbfas_to_learn([(0, 1), (1, 0)], k=1))
    >>> C, F = oracle.instance.node("C", (0, 1)), oracle.instance.node("F", (0, 1))
    >>> oracle.independent(C, F, [0, 1]), round(1e7 * oracle.information(C, F), 2)
    (False, 1.08)
    >>> round(1e5 * oracle.probability({C: 0, F: 0}), 3)
    7.429
    """

    def __init__(self, instance, alpha=1 / 16):
        if not isinstance(instance, LearnInstance):
            raise TypeError(f"instance must be a LearnInstance, got {type(instance).__name__}")
        self.instance = instance
        self.network = instance.network(alpha)
        self.n_calls = 0

    def independent(self, x, y, given=()):
        """Whether x and y are independent given some variables: d-separation, O(nodes + edges)."""
        x, y, *given = self._variables([x, y, *given])
        self.n_calls += 1
        return d_separated(self.instance.dag, x, y, given)

    def probability(self, values):
        """Probability that the variables in a mapping have the values in it, by the cut set of Theorem 15.

        For every C among them the B of the same gadget is added and summed over. Given these no path passes through any
        C, so that the rest falls into trees of bounded size: O(2^(number of C)) products of small sums.
        """
        values = self._values(values)
        cut = self.cut_set(values)
        total = 0.0
        for states in itertools.product(*(range(self.instance.n_states[b]) for b in cut)):
            total += self._product({**values, **dict(zip(cut, states, strict=True))})
        self.n_calls += 1
        return total

    def cut_set(self, variables):
        """The variable B of every gadget whose C, but not whose B, is among the variables."""
        variables = set(self._variables(variables))
        found = []
        for arc in self.instance.arcs:
            b, c = self.instance.node("B", arc), self.instance.node("C", arc)
            if c in variables and b not in variables:
                found.append(b)
        return found

    def pieces(self, variables):
        """Numbers of unobserved variables in the trees that `probability` sums over, largest first."""
        variables = self._variables(variables)
        given = {*variables, *self.cut_set(variables)}
        return sorted((len(piece) for piece in self._pieces(given)[0]), reverse=True)

    def marginal(self, variables):
        """Joint table of a few variables, in their order, by variable elimination."""
        variables = self._variables(variables)
        self.n_calls += 1
        return self.network.query(variables).values

    def information(self, x, y, given=()):
        """Conditional mutual information in nats: the sum of p(x, y, z) log [p(x, y | z) / p(x | z) p(y | z)] (4)."""
        table = self.marginal([x, y, *given])
        margins = [table.sum(axis=axes, keepdims=True) for axes in ((0, 1), (1,), (0,))]
        return max(float((table * np.log(table * margins[0] / (margins[1] * margins[2]))).sum()), 0.0)

    def _pieces(self, given):
        """Connected parts of the unobserved ancestors of `given`, and all these ancestors, the given ones included."""
        dag = self.instance.dag
        relevant = set(given) | set(dag.ancestors(list(given))) if given else set()
        scopes = [[v for v in (node, *dag.parents(node)) if v not in given] for node in relevant]
        part = {v: {v} for v in relevant - set(given)}
        for scope in scopes:
            joined = set().union(*(part[v] for v in scope)) if scope else set()
            for v in joined:
                part[v] = joined
        return list({id(piece): piece for piece in part.values()}.values()), relevant

    def _product(self, values):
        """p(values) as the product over the pieces of the sum over their variables."""
        pieces, relevant = self._pieces(set(values))
        place = {v: n for n, piece in enumerate(pieces) for v in piece}
        operands = [[] for _ in pieces]
        result = 1.0
        for node in relevant:
            axes = [*self.network.parents(node), node]
            table = self.network.tables[node][tuple(values.get(v, slice(None)) for v in axes)]
            left = [v for v in axes if v not in values]
            if left:
                operands[place[left[0]]] += [table, left]
            else:
                result *= table
        for piece, factors in zip(pieces, operands, strict=True):
            letter = {v: n for n, v in enumerate(sorted(piece))}
            named = [[letter[v] for v in f] if isinstance(f, list) else f for f in factors]
            result *= np.einsum(*named, [], optimize="greedy")
        return float(result)

    def _variables(self, variables):
        last = self.instance.n_observed - 1
        found = [check_scalar(v, "variables", low=0, high=last, integer=True) for v in variables]
        if len(set(found)) < len(found):
            raise ValueError(f"variables must be different, got {found}")
        return found

    def _values(self, values):
        check_has(values, "values", "items keys", "a mapping of variables to states")
        self._variables(values)
        states = self.instance.n_states
        return {v: check_scalar(s, f"values[{v}]", low=0, high=states[v] - 1, integer=True) for v, s in values.items()}
