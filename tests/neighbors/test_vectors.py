"""The vector instructions of the neighbour search, each beside the line of numpy that it stands for."""

import numpy as np
import pytest
from numba import njit

from learnable.neighbors import _vectors
from learnable.neighbors._vectors import LEAF, TOGETHER

# Intrinsics exist in compiled code only.
leaf_minima = njit(lambda leaves, leaf, queries, first: _vectors.leaf_minima(leaves, leaf, queries, first))
leaf_values = njit(
    lambda leaves, leaf, queries, row, limit, out: _vectors.leaf_values(leaves, leaf, queries, row, limit, out)
)
leaf_distances = njit(lambda leaves, leaf, query, out: _vectors.leaf_distances(leaves, leaf, query, out))
box_distances = njit(lambda boxes, group, query, out: _vectors.box_distances(boxes, group, query, out))
smallest = njit(lambda values: _vectors.smallest(values))
place_of = njit(lambda values, value: _vectors.place_of(values, value))
first_bit = njit(lambda bits: _vectors.first_bit(bits))

DIMENSIONS = [1, 2, 3, 7, 8, 33]
SCALES = [1e-150, 1.0, 1e150]


def plain_products(leaf, query):
    """row_0 + Σ_j q_j row_j."""
    return leaf[0] + query @ leaf[1:]


def plain_distances(leaf, query):
    """Σ_j (q_j − row_j)², added in the order of j: the last bits depend on it."""
    total = np.zeros(LEAF)
    for q, row in zip(query, leaf, strict=True):
        total += (q - row) ** 2
    return total


def plain_box_distances(box, query):
    """Σ_j max(low_j − q_j, q_j − high_j, 0)²."""
    total = np.zeros(LEAF)
    for q, low, high in zip(query, box[::2], box[1::2], strict=True):
        total += np.maximum(np.maximum(low - q, q - high), 0.0) ** 2
    return total


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
@pytest.mark.parametrize("d", DIMENSIONS)
def test_products_of_a_leaf_with_its_queries(d, scale):
    rng = np.random.default_rng(d)
    leaves = (scale * rng.normal(size=(3, d + 1, LEAF))).astype(np.float32)
    leaves[2, 0, 5:] = np.inf  # places without a point, as in the last leaf
    leaves[2, 1:, 5:] = 0.0
    queries = rng.normal(size=(2 * TOGETHER + 3, d)).astype(np.float32)
    queries[1] = 0.0
    out = np.empty(LEAF, np.float32)
    for leaf in range(3):
        exact = np.array([plain_products(leaves[leaf].astype(float), q) for q in queries.astype(float)])
        sizes = [plain_products(np.abs(leaves[leaf, :, :5]).astype(float), q) for q in np.abs(queries).astype(float)]
        # Each of the d sums and products rounds once, or the pair of them if the processor has one instruction for it.
        error = 2 * (d + 1) * 2.0**-24 * np.max(sizes)
        for first in (0, 3, TOGETHER + 3):
            lows = leaf_minima(leaves, leaf, queries, first)
            np.testing.assert_allclose(lows, exact[first : first + TOGETHER].min(axis=1), rtol=2e-6, atol=2 * error)
        for row in (0, 1, len(queries) - 1):
            limit = np.float32(np.median(exact[row][:5]))
            bits = leaf_values(leaves, leaf, queries, row, limit, out)
            below = [place for place in range(LEAF) if bits >> place & 1]
            assert below == np.flatnonzero(out <= limit).tolist()
            np.testing.assert_allclose(out, exact[row], rtol=2e-6, atol=2 * error)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_distances_of_points_and_boxes_are_the_sums_in_order(d, scale):
    rng = np.random.default_rng(d)
    query = scale * rng.normal(size=d)
    leaves = scale * rng.normal(size=(3, d, LEAF))
    leaves[0, :, 4] = query
    leaves[1, :, 7:] = np.inf
    leaves[2, 0, 0] *= 1e-160  # a square that underflows beside some that do not
    spread = scale * rng.exponential(size=leaves.shape)
    boxes = np.stack([leaves - spread, leaves + spread * (rng.random(leaves.shape) < 0.5)], axis=2).reshape(
        3, 2 * d, LEAF
    )
    out, near = np.empty(LEAF), np.empty(LEAF)
    for leaf in range(3):
        low = leaf_distances(leaves, leaf, query, out)
        np.testing.assert_array_equal(out, plain_distances(leaves[leaf], query))
        assert low == out.min()
        if leaf == 1:
            continue  # no box has ends at infinity
        low = box_distances(boxes, leaf, query, near)
        np.testing.assert_array_equal(near, plain_box_distances(boxes[leaf], query))
        assert low == near.min() and (near <= out).all()
    assert leaf_distances(leaves, 0, query, out) == 0.0 and out[4] == 0.0


@pytest.mark.parametrize("kind", ["distinct", "ties", "infinite", "subnormal", "zeros of both signs"])
def test_the_smallest_of_a_leaf_and_its_first_place(kind):
    rng = np.random.default_rng(0)
    for shift in range(LEAF):
        values = {
            "distinct": rng.normal(size=LEAF),
            "ties": rng.integers(0, 4, LEAF).astype(float),
            "infinite": np.where(np.arange(LEAF) == shift, rng.normal(), np.inf),
            "subnormal": 5e-324 * (1 + (np.arange(LEAF) != shift)),
            "zeros of both signs": np.where(np.arange(LEAF) < shift, 0.0, -0.0),
        }[kind]
        low = smallest(values)
        assert low == values.min()
        assert place_of(values, low) == np.flatnonzero(values == low)[0]
        assert place_of(values, values[shift]) == np.flatnonzero(values == values[shift])[0]
    assert smallest(np.full(LEAF, np.inf)) == np.inf and place_of(np.full(LEAF, np.inf), np.inf) == 0


def test_the_lowest_bit_of_a_mask():
    for place in range(LEAF):
        for above in (0, 0b101, 2**LEAF - 1):
            assert first_bit(np.uint32(1 << place | (above << place) % 2**LEAF)) == place
