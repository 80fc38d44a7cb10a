"""The oracle of the proof: answers about the distribution of an instance in polynomial time (Theorem 15)."""

from __future__ import annotations

import itertools

import numpy as np

from learnable.graphs.dags import d_separated


class LearnOracle:
    """Answers questions about the distribution of an instance, which is the margin of a network with hidden
    variables.
    """

    def __init__(self, instance, alpha=1 / 16):
        self.instance = instance
        self.network = instance.network(alpha)
        self.n_calls = 0

    def independent(self, x, y, given=()):
        """Whether x and y are independent given some variables: d-separation, O(nodes + edges)."""
        x, y, *given = self._variables([x, y, *given])
        self.n_calls += 1
        return d_separated(self.instance.dag, x, y, given)

    def probability(self, values):
        """Probability that the variables in a mapping have the values in it, by the cut set of Theorem 15."""
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
        return list(variables)

    def _values(self, values):
        return dict(values)
