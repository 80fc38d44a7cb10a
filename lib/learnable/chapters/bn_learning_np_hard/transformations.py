"""Transformations of a network that keep p(unobserved | observed) (Chickering et al. 2004, App. B).

Nodes come, go and merge, so a `NamedNetwork` calls them by name. Deleting an edge out of an observed node, reversing an
edge, combining childless nodes and removing barren nodes are its methods; the two algorithms of the proof are sequences
of them: `shorten_paths` (UPS) leaves a node and its root ancestors, `eliminate_observed` (ONE) the unobserved nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from learnable.chapters.bn_learning_np_hard.properties import check_table
from learnable.validation import check_has, check_scalar


class NamedNetwork:
    """A Bayesian network whose nodes are words; each change gives a new network."""

    def __init__(self, parents, tables):
        self._parents = MappingProxyType({node: tuple(named) for node, named in parents.items()})
        checked = {node: check_table(tables[node], f"tables[{node!r}]") for node in parents}
        for table in checked.values():
            table.flags.writeable = False
        self._tables = MappingProxyType(checked)
        self._nodes = tuple(_topological(self._parents))

    @classmethod
    def from_network(cls, network, names=None):
        """The same network with names instead of numbers; ``"0"``, ``"1"``, ... if None."""
        dag = network.dag
        names = [str(i) for i in range(dag.n_nodes)] if names is None else list(names)
        parents = {names[i]: tuple(names[j] for j in sorted(dag.parents(i))) for i in range(dag.n_nodes)}
        return cls(parents, {names[i]: np.array(network.tables[i]) for i in range(dag.n_nodes)})

    @property
    def parents(self):
        """The parents of every node."""
        return self._parents

    @property
    def tables(self):
        """The table of every node, read-only."""
        return self._tables

    @property
    def nodes(self):
        """Names, parents before children."""
        return self._nodes

    @property
    def edges(self):
        """Pairs of names."""
        return [(q, node) for node in self._nodes for q in self._parents[node]]

    def children(self, node):
        """Names of the children."""
        self._check(node)
        return [child for child in self._nodes if node in self._parents[child]]

    def descendants(self, node):
        """Names of all that a directed path reaches, the node itself excluded."""
        self._check(node)
        found = {node}
        for other in self._nodes:
            if found & set(self._parents[other]):
                found.add(other)
        return found - {node}

    def joint(self):
        """Joint table, an axis for each node in the order of `nodes`; for small networks."""
        product = 1
        for node in self._nodes:
            product = product * _aligned(self._tables[node], [*self._parents[node], node], self._nodes)
        return product

    def posterior(self, observed):
        """p(unobserved | observed) as a table, an axis for each unobserved node in the order of their names."""
        observed = self._check_observed(observed)
        joint = self.joint()[tuple(observed.get(node, slice(None)) for node in self._nodes)]
        left = [node for node in self._nodes if node not in observed]
        return (joint / joint.sum()).transpose(np.argsort(left, kind="stable"))

    def delete_edge(self, parent, child, state):
        """Delete an edge out of an observed node: its state is fixed in the child's table (B.1.1)."""
        axis = self._parents[child].index(parent)
        left = tuple(q for q in self._parents[child] if q != parent)
        return self._with({child: left}, {child: np.take(self._tables[child], state, axis=axis)})

    def reverse_edge(self, parent, child):
        """Give both ends the same other parents, then turn the edge round by Bayes' rule (B.1.2)."""
        if any(q == parent or q in self.descendants(parent) for q in self._parents[child] if q != parent):
            raise ValueError(f"another directed path leads from {parent!r} to {child!r}: the edge cannot be reversed")
        above, below = self._parents[parent], self._parents[child]
        shared = (*above, *(q for q in below if q != parent and q not in above))
        axes = [*shared, parent, child]
        both = _aligned(self._tables[parent], [*above, parent], axes) * _aligned(
            self._tables[child], [*below, child], axes
        )
        sizes = [self._tables[q].shape[-1] for q in axes]
        both = np.broadcast_to(both, sizes)
        child_table = both.sum(axis=-2)
        turned = np.swapaxes(both, -1, -2)  # shared parents, child, parent
        total = child_table[..., None]
        if (total == 0).any():
            raise ValueError(f"{child!r} has states of probability 0: what is given them is not defined")
        return self._with({child: shared, parent: (*shared, child)}, {child: child_table, parent: turned / total})

    def combine(self, nodes):
        """Merge childless nodes into one whose states are all combinations of theirs (B.1.3), the first slowest."""
        nodes = list(nodes)
        for node in nodes:
            if self.children(node):
                raise ValueError(f"nodes must have no children, but {node!r} has {self.children(node)}")
        if len(nodes) == 1:
            return self
        shared = tuple(dict.fromkeys(q for node in nodes for q in self._parents[node]))
        axes = [*shared, *nodes]
        table = 1
        for node in nodes:
            table = table * _aligned(self._tables[node], [*self._parents[node], node], axes)
        sizes = [self._tables[q].shape[-1] for q in shared]
        parents = {node: named for node, named in self._parents.items() if node not in nodes}
        tables = {node: table_ for node, table_ in self._tables.items() if node not in nodes}
        name = "+".join(nodes)
        return NamedNetwork({**parents, name: shared}, {**tables, name: table.reshape(*sizes, -1)})

    def remove_barren(self, node, *, observed=False):
        """Remove a node without children; if it is observed it must not have parents either (B.1.4)."""
        self._check(node)
        if self.children(node) or (observed and self._parents[node]):
            raise ValueError(f"{node!r} is not barren: it has children" + (", or parents" if observed else ""))
        parents = {other: named for other, named in self._parents.items() if other != node}
        return NamedNetwork(parents, {other: self._tables[other] for other in parents})

    def _with(self, parents, tables):
        return NamedNetwork({**self._parents, **parents}, {**self._tables, **tables})

    def _check(self, node):
        if node not in self._parents:
            raise ValueError(f"node must be one of {', '.join(map(str, self._nodes))}, got {node!r}")

    def _check_observed(self, observed):
        check_has(observed, "observed", "items keys", "a mapping of nodes to states")
        for node, state in observed.items():
            self._check(node)
            check_scalar(state, f"observed[{node!r}]", low=0, high=self._tables[node].shape[-1] - 1, integer=True)
        return dict(observed)


def shorten_paths(network, node):
    """Algorithm UPS: a node and its root ancestors, each of them its parent (Chickering et al. 2004, Fig. 14)."""
    network._check(node)
    while True:
        barren = [other for other in network.nodes if other != node and not network.children(other)]
        if not barren:
            break
        network = network.remove_barren(barren[-1])
    while inner := [q for q in network.parents[node] if network.parents[q]]:
        lowest = _lowest(network, inner)
        network = network.reverse_edge(lowest, node).remove_barren(lowest)
    return network


@dataclass(frozen=True)
class Elimination:
    """What `eliminate_observed` returns."""

    network: NamedNetwork
    chosen: tuple


def separate_observed_children(network, node, observed):
    """Transformation OCS: an unobserved node no longer has observed children (Chickering et al. 2004, B.1.5)."""
    observed = network._check_observed(observed)
    mine = [child for child in network.children(node) if child in observed]
    sizes = [network.tables[child].shape[-1] for child in mine]
    state = int(np.ravel_multi_index([observed[child] for child in mine], sizes))
    network = network.combine(mine)
    name = "+".join(mine)
    network = network.reverse_edge(node, name).delete_edge(name, node, state)
    return network, {**{other: s for other, s in observed.items() if other not in mine}, name: state}


def eliminate_observed(network, observed, *, spare=None):
    """Algorithm ONE: a network over the unobserved nodes that is p(unobserved | observed) (Chickering et al., Fig.
    15).
    """
    observed = network._check_observed(observed)
    for parent, child in network.edges:
        if parent in observed:
            network = network.delete_edge(parent, child, observed[parent])
    chosen = []
    while True:
        waiting = [q for q in network.nodes if q not in observed and any(c in observed for c in network.children(q))]
        if not waiting:
            break
        node = _lowest(network, waiting, spare)
        network, observed = separate_observed_children(network, node, observed)
        chosen.append(node)
    for node in list(observed):
        network = network.remove_barren(node, observed=True)
    return Elimination(network, tuple(chosen))


def _lowest(network, nodes, spare=None):
    """A node none of whose descendants is among `nodes`; `spare` only if it is the only one."""
    lowest = [node for node in nodes if not network.descendants(node) & set(nodes)]
    return next((node for node in reversed(lowest) if node != spare), lowest[0])


def _topological(parents):
    """Names, parents before children; refuses cycles."""
    order, left = [], dict(parents)
    while left:
        free = [node for node, named in left.items() if not any(q in left for q in named)]
        if not free:
            raise ValueError(f"parents must not make a cycle, got one among {', '.join(map(str, left))}")
        order += free
        for node in free:
            del left[node]
    return order


def _aligned(table, axes, target):
    """A table with named axes, in the order of `target` and with axes of length one for the names it lacks."""
    place = {name: n for n, name in enumerate(axes)}
    shape = [table.shape[place[name]] if name in place else 1 for name in target]
    return table.transpose([place[name] for name in target if name in place]).reshape(shape)
