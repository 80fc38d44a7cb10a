"""QUIC against brute force, scikit-learn, cvxpy and the theory of Hsieh et al. 2014."""

import numpy as np

from learnable.datasets.graphical import make_gaussian_graph
from learnable.highdim import (
    neighbourhood_lasso,
)


def graph(kind, p, seed=0):
    return np.cov(make_gaussian_graph(kind, p // 2, p=p, random_state=seed).data.T)


def test_neighbourhoods_recover_a_chain():
    made = make_gaussian_graph("chain", 2000, p=20, random_state=0)
    S = np.corrcoef(made.data.T)
    for rule in ("and", "or"):
        found = neighbourhood_lasso(S, 0.15, rule=rule)
        assert np.array_equal(found, made.adjacency)
    some = graph("random", 40)
    assert (neighbourhood_lasso(some, 0.1, rule="and") <= neighbourhood_lasso(some, 0.1, rule="or")).all()
