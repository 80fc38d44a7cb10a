"""Lasso and elastic net by coordinate descent, with a duality gap as certificate.

Every function here minimises, over b, one of two forms of the same problem::

    1/(2n) |y - Xb|^2 + alpha sum_j weights_j |b_j| + l2/2 |b|^2        solve_lasso, lasso_path
    1/2 b'Qb - c'b + alpha sum_j weights_j |b_j| + l2/2 |b|^2           solve_gram, solve_gram_batch

The first is scikit-learn's scaling, and the second with Q = X'X/n and c = X'y/n; for the objective
sum (.)^2 + lam |b|_1 take ``alpha = lam / (2n)``. A weight of infinity keeps a coefficient at zero (leave one variable
out of each of a batch of regressions by it), a weight of zero leaves it unpenalised.

How it works. A working set of columns grows by those whose correlation with the residual breaks the optimality
condition |x_j'r| <= n alpha weights_j. On the set, coordinate descent runs on the Gram matrix; once it has settled
the signs, the equations of that orthant are solved directly, moving until a coefficient meets zero. The loop ends when
the duality gap of the *whole* problem is small: the scaled residual theta is feasible for the dual, and
P(b) - D(theta) bounds what is left to gain. Along a path the working set, its Gram matrix and the coefficients carry
over, and the sequential strong rule proposes the next columns. Working sets too large for a Gram matrix are handled by
updates of the residual instead, with gap-safe screening; so are those of a sparse table, whose columns have few
entries, with extrapolation from pass to pass and from penalty to penalty.

By concept: :mod:`.lasso` and :mod:`.gram`, the two forms; `working_set` and `residual`, how the first is solved for a
dense table, and `compressed` for a sparse one; :mod:`.solutions`, what comes out.
"""

from learnable.optim.coordinate_descent.gram import solve_gram, solve_gram_batch
from learnable.optim.coordinate_descent.lasso import lasso_path, max_alpha, solve_lasso
from learnable.optim.coordinate_descent.solutions import GramBatch, LassoPath, LassoSolution

__all__ = [
    "GramBatch",
    "LassoPath",
    "LassoSolution",
    "lasso_path",
    "max_alpha",
    "solve_gram",
    "solve_gram_batch",
    "solve_lasso",
]
