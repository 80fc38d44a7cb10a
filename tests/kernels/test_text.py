"""Kernels and kernel regression against explicit features, brute force, quadratic programmes and scikit-learn."""

import numpy as np
import pytest
from scipy import sparse

from learnable.kernels import (
    TextKernel,
)
from learnable.kernels.text import idf_weights

DOCS = [
    "The cat sat on the mat, the cat purred.",
    "A dog barked at the cat.",
    "Stocks fell as the market closed.",
    "the shares dropped when trading ended",
]


def test_claim_15_inverse_document_frequency():
    kernel = TextKernel().fit(DOCS)
    weights = dict(zip(kernel.vocabulary_, kernel.weights_, strict=True))
    assert weights["the"] == 0.0
    assert weights["cat"] == pytest.approx(np.log(2))
    assert weights["mat"] == pytest.approx(np.log(4))
    assert kernel(DOCS)[0, 2] == 0.0
    assert (kernel(["unseen words only", ""]) == 0).all()
    np.testing.assert_array_equal(idf_weights(sparse.csr_array((2, 3))), 0.0)
    zeros = sparse.csr_array((np.array([0.0, 1.0]), ([0, 1], [0, 0])), shape=(2, 1))
    assert idf_weights(zeros)[0] == pytest.approx(np.log(2))
    assert TextKernel(weights=None, stop_words=["the"]).fit(DOCS)(DOCS)[0, 2] == 0.0
    chosen = TextKernel(weights={"the": 0.0, "cat": 3.0}).fit(DOCS)(DOCS)
    assert chosen[0, 1] == pytest.approx(2 * 1 * 9)
