"""Components of a pattern: which to factorise, or to solve, together."""

from __future__ import annotations

import numpy as np

from learnable.highdim.quic._kernels import block_of, set_block
from learnable.linalg.precision import component_labels, factor, factor_inverse, factor_logdet, split_components

# Components smaller than this are factorised, or solved, together: a call costs more than the arithmetic.
SMALL = 128


def merge(components):
    """Groups of components, large ones alone and small ones together, and the variables that stand alone."""
    single = np.concatenate([np.empty(0, dtype=np.int64)] + [c for c in components if len(c) == 1])
    groups, small = [], []
    for component in sorted((c for c in components if len(c) > 1), key=len, reverse=True):
        if len(component) >= SMALL:
            groups.append(component)
            continue
        small.append(component)
        if sum(map(len, small)) >= SMALL:
            groups.append(np.sort(np.concatenate(small)))
            small = []
    if small:
        groups.append(np.sort(np.concatenate(small)))
    return groups, single


def pattern_blocks(starts, cols, p):
    """Connected components of a pattern, the small ones merged."""
    count, labels = component_labels(starts, cols)
    if count == 1:
        return [np.arange(p)]
    groups, single = merge(split_components(count, labels))
    return groups + [single[k : k + SMALL] for k in range(0, single.size, SMALL)]


class Blockwise:
    """Factors of matrices that vanish between blocks, by LAPACK."""

    def __init__(self, blocks):
        self.blocks = blocks

    def factor(self, X, D, alpha):
        """The factors of the blocks of X + alpha D and its log-determinant; None where it is not positive definite."""
        factors = []
        for block in self.blocks:
            if len(self.blocks) == 1:
                moved = X + alpha * D
            else:
                moved = block_of(X, block) + alpha * block_of(D, block)
            L = factor(moved, overwrite=True)
            if L is None:
                return None
            factors.append(L)
        return factors, sum(factor_logdet(L) for L in factors)

    def inverse(self, factors):
        """The inverse, exactly symmetric, from :meth:`factor`, whose result is overwritten."""
        if len(self.blocks) == 1:
            return factor_inverse(factors[0])
        p = sum(map(len, self.blocks))
        W = np.zeros((p, p))
        for L, block in zip(factors, self.blocks, strict=True):
            set_block(W, block, factor_inverse(L))
        return W


def vanishes_between(X, groups, single):
    label = np.empty(len(X), dtype=np.int64)
    for k, group in enumerate(groups):
        label[group] = k
    label[single] = len(groups) + np.arange(single.size)
    i, j = np.nonzero(X)
    return np.array_equal(label[i], label[j])
