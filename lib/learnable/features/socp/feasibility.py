"""Whether a program has a solution at all, with a proof if it has none.

The budget δ'w ≥ Σ_i h_i max(l_i, c_i‖F_i w‖) can be met by some w exactly if the least value of Σ_i h_i c_i‖F_i w‖
subject to δ'w = 1 is below one, because w may be stretched. Reweighting finds that value: for weights θ on the simplex
(Σ_i p_i)² ≤ Σ_i p_i²/θ_i, and the right side is least at a closed form. Every step also gives vectors v_i, ‖v_i‖ ≤ h_i,
with Σ_i c_i F_i'v_i = λδ, and then no w has a value below λ.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

NULL = 1e-7  # a part of δ outside the span of the factors that is smaller, relatively, counts as rounding


def column_units(delta, factors):
    """A power of two for each feature, the size of its largest entry, or of its difference of means if it never varies.

    Guarantees do not depend on units, but rounding does: a column 10⁹ times as large as the others would hide them.
    """
    sizes = np.max([np.abs(factor).max(axis=0, initial=0.0) for factor in factors], axis=0)
    sizes = np.where(sizes > 0, sizes, np.abs(delta))
    return np.exp2(np.floor(np.log2(np.where(sizes > 0, sizes, 1.0))))


def span_of_rows(matrix):
    """An orthonormal basis (in rows) of the row space, and the singular values that belong to it."""
    _, values, rows = np.linalg.svd(matrix, full_matrices=False)
    kept = values > values.max(initial=0.0) * max(matrix.shape) * np.finfo(float).eps
    return rows[kept], values[kept]


def least_load(program, max_iter=2000, tol=1e-9):
    """Bounds from below and above for the least Σ_i h_i c_i‖F_i w‖ subject to δ'w = 1.

    Cost O(n m²) once, then O(m³) for each step; steps end when the bounds agree to `tol` or are on one side of one.
    """
    factors = [cone.weight * cone.scale * cone.factor for cone in program.cones]
    units = column_units(program.delta, factors)
    factors, delta = [factor / units for factor in factors], program.delta / units
    rows, _ = span_of_rows(np.vstack(factors))
    inside = rows @ delta
    if np.linalg.norm(delta - rows.T @ inside) > NULL * np.linalg.norm(delta):
        return 0.0, 0.0
    grams = [(f @ rows.T).T @ (f @ rows.T) for f in factors]
    theta = np.full(len(grams), 1 / len(grams))
    best_lower, best_upper = 0.0, np.inf
    for _ in range(max_iter):
        M = sum(gram / t for gram, t in zip(grams, theta, strict=True))
        w = cho_solve(cho_factor(M), inside)
        square = 1 / (inside @ w)
        w *= square
        loads = np.sqrt([max(w @ gram @ w, 0.0) for gram in grams])
        best_upper = min(best_upper, loads.sum())
        best_lower = max(best_lower, square * np.min(theta / np.maximum(loads, 1e-300)))
        if best_lower > 1 or best_upper < 1 or best_upper - best_lower < tol * best_upper:
            break
        theta = np.maximum(loads / loads.sum(), 1e-14)
    return float(best_lower), float(best_upper)
