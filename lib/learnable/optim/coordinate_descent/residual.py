"""Coordinate descent that keeps the residual of a dense table, with gap-safe screening of the columns."""

import numpy as np
from numba import njit

from learnable.optim.proximal import soft


@njit(cache=True)
def residual_dense(XT, r, b, w, l2, norms, columns, yy, tol, max_iter):
    """Coordinate descent that keeps r = y - Xb, over `columns`, with gap-safe screening of them."""
    kept = columns.copy()
    size = kept.size
    corr = np.zeros(XT.shape[0])
    gap = np.inf
    passes = 0
    while True:
        for k in range(size):
            j = kept[k]
            corr[j] = np.dot(XT[j], r) - l2 * b[j]
        gap, size = _screen(corr, r, b, w, l2, norms, kept, size, yy)
        if gap <= tol or passes >= max_iter:
            return gap, passes
        for sweep in range(10):
            moved = 0.0
            for k in range(size):
                j = kept[k]
                # Four sweeps of five visit the support only, where nearly all the work is to be done.
                if norms[j] + l2 <= 0.0 or (sweep % 5 and b[j] == 0.0):
                    continue
                old = b[j]
                z = np.dot(XT[j], r) + norms[j] * old
                new = soft(z, w[j]) / (norms[j] + l2)
                if new != old:
                    step = new - old
                    b[j] = new
                    row = XT[j]
                    for i in range(r.size):
                        r[i] -= step * row[i]
                    moved = max(moved, step * step * (norms[j] + l2))
            passes += 1
            # A step lowers the objective by at least half of what is measured here, so it is in the units of the gap.
            if moved <= 1e-2 * tol:
                break


@njit(cache=True)
def _screen(corr, r, b, w, l2, norms, kept, size, yy):
    """Return the gap, and the number of columns left after the sphere test; they are moved to the front of `kept`."""
    scale = np.inf
    norm = 0.0
    square = 0.0
    inner = 0.0
    for k in range(size):
        j = kept[k]
        if abs(corr[j]) > 0.0:
            scale = min(scale, w[j] / abs(corr[j]))
        norm += w[j] * abs(b[j])
        square += b[j] * b[j]
        inner += corr[j] * b[j]
    rr = l2 * square
    for i in range(r.size):
        rr += r[i] * r[i]
    yr = rr + inner
    if rr == 0.0:
        return norm, size
    # The dual point s r: feasible by the first bound, and the best of its ray by the second.
    s = min(scale, yr / rr)
    gap = 0.5 * rr + norm - s * yr + 0.5 * s * s * rr
    # The dual is strongly concave with constant 1, so its maximiser lies within this radius of s r. A column whose
    # correlation stays below w_j in the whole ball is zero in every solution, and is never looked at again.
    radius = np.sqrt(2.0 * max(gap, 0.0))
    left = 0
    for k in range(size):
        j = kept[k]
        if b[j] != 0.0 or s * abs(corr[j]) + radius * np.sqrt(norms[j] + l2) >= w[j]:
            kept[left] = j
            left += 1
    return gap, left
