"""The dynamics of AdaBoost against closed forms, exact fractions, plain numpy, and other solvers."""

import numpy as np

from learnable import ensembles as ad_ensembles


def test_adaboost_star_uses_the_smallest_edge_so_far():
    """By hand: target = min of the edges so far minus nu, step = artanh(edge) - artanh(target)."""
    rng = np.random.default_rng(3)
    M = np.where(rng.random((9, 6)) < 0.65, 1.0, -1.0)
    run = ad_ensembles.adaboost_star(M, 25, 0.1)
    lam, least, edges = np.zeros(6), 1.0, []
    for j in run.columns:
        d = np.exp(-(M @ lam))
        r = d @ M[:, j] / d.sum()
        edges.append(r)
        least = min(least, r)
        lam[j] += np.arctanh(r) - np.arctanh(least - 0.1)
    np.testing.assert_allclose(run.lam, lam, rtol=1e-8)
    assert np.any(np.diff(edges) > 0.01)  # else the current edge would do as well
