"""Why learning a network stays hard with infinite data: the claims of the source, checked."""

import itertools

import numpy as np

from learnable.graphs import minimal_imap
from learnable.graphs.dags import DAG, d_separated, markov_equivalent, random_dag
from learnable.graphs.discrete import count_parameters
from learnable.graphs.equivalence import includes


def draws(seed, count, n_nodes=5, n_neighbors=2.5, most=3):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        dag = random_dag(n_nodes, n_neighbors, random_state=rng)
        yield dag, rng.integers(2, most + 1, size=n_nodes).tolist(), rng


def test_claim_faithful_networks_are_found_again():
    for dag, states, _ in draws(30, 8, n_nodes=7):
        found = minimal_imap(dag, states)
        assert found.n_parameters == count_parameters(dag, states) and markov_equivalent(found.dag, dag)


def test_oracle_of_single_questions_gives_the_same():
    class Oracle:
        def __init__(self, dag):
            self.dag = dag

        def independent(self, x, y, given):
            return d_separated(self.dag, x, y, given)

    for dag, _, rng in draws(31, 4, n_nodes=7):
        states = rng.integers(2, 5, size=5)
        plain = minimal_imap(Oracle(dag), states)
        assert plain.n_parameters == minimal_imap(dag, states, n_observed=5).n_parameters
        assert includes(plain.dag, dag, range(5))


def test_exact_search_agrees_with_the_best_dag_of_all_parent_sets():
    """An independent way: every parent set that makes a variable independent of its other predecessors is a family."""
    for dag, _, rng in draws(32, 4, n_nodes=7, n_neighbors=3):
        n, states = 5, rng.integers(2, 5, size=5)
        best = min(
            count_parameters(order_imap_by_force(dag, order), states) for order in itertools.permutations(range(n))
        )
        assert minimal_imap(dag, states, n_observed=n).n_parameters == best


def order_imap_by_force(dag, order):
    parents = [()] * len(order)
    for place, x in enumerate(order):
        before = order[:place]
        for size in range(place + 1):
            fits = [
                chosen
                for chosen in itertools.combinations(before, size)
                if not set(before) - set(chosen) or d_separated(dag, x, set(before) - set(chosen), chosen)
            ]
            if fits:
                assert len(fits) == 1  # the boundary is unique
                parents[x] = fits[0]
                break
    return DAG.from_parents(parents)
