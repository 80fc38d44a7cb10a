"""Neighbours found by a tree or among all rows are those of a sort of all distances, ties and all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnable.neighbors import NeighborIndex
from learnable.neighbors import index as module
from learnable.neighbors._blocks import lay_out
from learnable.neighbors._tree import plant, search_tree
from learnable.neighbors._vectors import LEAF


def squared_distances(Q, X):
    """Summed in the order of the coordinates, as the search does."""
    D = np.zeros((len(Q), len(X)))
    for q, x in zip(Q.T, X.T, strict=True):
        D += np.subtract.outer(q, x) ** 2
    return D


def sorted_rows(X, Q, k, exclude=None):
    """All distances in the same order of summation, sorted by (distance, index)."""
    D = squared_distances(Q, X)
    if exclude is not None:
        D[np.arange(len(Q)), exclude] = np.inf
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


def sample(kind, n, d, m, rng):
    X, Q = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    if kind == "grid":
        return rng.integers(0, 3, (n, d)).astype(float), rng.integers(0, 3, (m, d)).astype(float)
    if kind == "clusters far apart":
        X = 1e-3 * X + 1e3 * rng.integers(0, 3, (n, 1))
        return X, X[rng.integers(0, n, m)]
    if kind == "far from the origin":
        return X + 1e8, Q + 1e8
    if kind == "outliers":
        return rng.standard_cauchy((n, d)) ** 3, Q
    if kind == "tiny":
        return 1e-145 * X, 1e-145 * Q
    if kind == "one point":
        return np.full((n, d), 7.25), Q
    if kind == "on a line":
        return X[:, :1] * np.ones(d), Q
    if kind == "queries far away":
        return X, Q * 10.0 ** rng.uniform(-20, 20, (m, 1))
    return X, Q


KINDS = (
    "normal",
    "grid",
    "clusters far apart",
    "far from the origin",
    "outliers",
    "tiny",
    "one point",
    "on a line",
    "queries far away",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["tree", "brute", "auto"])
def test_neighbours_are_those_of_a_sort(kind, method):
    rng = np.random.default_rng(KINDS.index(kind))
    for n, d, k in ((1, 2, 1), (31, 3, 31), (33, 2, 5), (1100, 2, 3), (1500, 12, 7), (700, 5, 40), (2100, 20, 1)):
        X, Q = sample(kind, n, d, 41, rng)
        distances, found = NeighborIndex(X, method).query(Q, k)
        expected = sorted_rows(X, Q, k)
        np.testing.assert_array_equal(found, expected[1])
        np.testing.assert_array_equal(distances, expected[0])
        if k < n:
            hidden = rng.integers(0, n, len(Q))
            np.testing.assert_array_equal(
                NeighborIndex(X, method).query(Q, k, exclude=hidden)[1], sorted_rows(X, Q, k, hidden)[1]
            )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 150), st.integers(1, 6), st.sampled_from(KINDS))
def test_methods_agree_at_all_sizes(seed, n, d, kind):
    rng = np.random.default_rng(seed)
    X, Q = sample(kind, n, d, 5, rng)
    k = int(rng.integers(1, n + 1))
    expected = sorted_rows(X, Q, k)
    for method in ("tree", "brute"):
        distances, found = NeighborIndex(X, method).query(Q, k)
        np.testing.assert_array_equal(found, expected[1])
        np.testing.assert_array_equal(distances, expected[0])


def test_origin_and_unit_do_not_matter():
    rng = np.random.default_rng(5)
    X, Q = rng.integers(-40, 40, (900, 11)).astype(float), rng.integers(-40, 40, (60, 11)).astype(float)
    for method in ("tree", "brute"):
        plain = NeighborIndex(X, method).query(Q, 6)[1]
        np.testing.assert_array_equal(NeighborIndex(X + 2.0**30, method).query(Q + 2.0**30, 6)[1], plain)
        np.testing.assert_array_equal(NeighborIndex(X * 2.0**-400, method).query(Q * 2.0**-400, 6)[1], plain)


def test_error_bound_of_the_float32_values():
    """|float32 value + |v|² − distance| ≤ slack (|u| + |v|)², with room to spare but not without limit."""
    rng = np.random.default_rng(6)
    for d in (2, 15, 64, 400):
        X = rng.normal(size=(640, d)) * 10.0 ** rng.uniform(-3, 3, (640, 1)) + 5.0
        blocks = lay_out(X)
        unit, slack = blocks.scale
        q = (X[7] + X[11]) / 2
        v = (q - blocks.centre) * unit
        rows = blocks.values.transpose(0, 2, 1).reshape(-1, d + 1)
        value = rows[:, 0].copy()
        for j in range(d):
            value = value + rows[:, j + 1] * np.float32(v[j])
        assert value.dtype == np.float32
        exact = squared_distances(q[None], X)[0] * unit**2
        reach = np.repeat(blocks.radii, LEAF) + np.linalg.norm(v)
        ratio = np.abs(value.astype(float) + v @ v - exact) / (slack * reach**2)
        assert ratio.max() < 1.0
        assert ratio.max() > 1e-3


def test_a_tree_visits_few_leaves_in_few_dimensions():
    rng = np.random.default_rng(7)
    Q = rng.normal(size=(100, 2))
    for n in (2000, 20_000):
        tree = plant(rng.normal(size=(n, 2)))
        visits = search_tree(tree, Q, np.arange(100), np.full(100, -1), np.empty((100, 5)), np.empty((100, 5), int))
        assert visits < 100 * 4
    leaves = tree.indices[tree.indices >= 0]
    np.testing.assert_array_equal(np.sort(leaves), np.arange(20_000))


def test_the_cheaper_method_is_taken(monkeypatch):
    used = []
    for name in ("search_tree", "scan_blocks"):
        call = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, call=call, name=name: used.append((name, len(a[-4]))) or call(*a))
    rng = np.random.default_rng(8)
    Q = rng.normal(size=(8000, 20))
    NeighborIndex(rng.normal(size=(8000, 20))).query(Q, 3)
    assert used[-1][0] == "scan_blocks" and used[-1][1] > 7900
    flat = np.zeros((8000, 20))
    flat[:, :2] = rng.normal(size=(8000, 2))
    NeighborIndex(flat).query(flat, 3)  # twenty columns, but two dimensions: the trial finds out
    assert used[-1][0] == "search_tree"
    used.clear()
    NeighborIndex(flat).query(flat[:1], 3)  # one query is not worth a tree
    assert [name for name, _ in used] == ["scan_blocks"]


def test_no_queries_and_bad_input():
    index = NeighborIndex(np.zeros((4, 2)))
    distances, found = index.query(np.zeros((0, 2)), 2)
    assert distances.shape == found.shape == (0, 2)
    with pytest.raises(ValueError, match="k must be an integer in"):
        index.query(np.zeros((1, 2)), 5)
    with pytest.raises(ValueError, match="line"):
        NeighborIndex(np.zeros((4, 2)), "line")
    with pytest.raises(ValueError, match="finite"):
        index.query([[np.nan, 0.0]], 1)
