r"""One solver for the quadratic programs of kernel machines.

Support vector machines of every kind, ε-insensitive regression, one-class and transductive variants
all minimise

::

    ½ β' K β + q'β + Σ_k r_k(β_k),
    r_k(t) = ½ d_k t² + e_k |t| + ½ c_k (|t| - m_k)_+² on [l_k, u_k],

over signed coefficients β whose sum is fixed, in total or within each of a few groups. :func:`solve` does
that by sequential minimal optimisation: two variables move at a time, the pair being chosen by the second-order rule
of Fan, Chen and Lin (2005). The functions after it translate the usual problems: :func:`classification`,
:func:`nu_classification`, ``nearest_points``, :func:`regression`.

In signed coefficients (β_k = y_kα_k for a classifier) the kernel matrix appears without labels. So
one ``ColumnCache`` serves all problems over the same points: each class against the
rest, every value of C, every split into groups.

By concept: :mod:`.solver`, the iteration; :mod:`.machines`, the problems that it solves; :mod:`.solution`, what comes
out; `active` and `newton`, the variables that still move and the steps over all free ones.
"""

from learnable.kernels._columns import ColumnCache, GramSource, as_source
from learnable.kernels.smo.machines import (
    classification,
    classification_path,
    nu_classification,
    regression,
)
from learnable.kernels.smo.machines import nearest_points as nearest_points
from learnable.kernels.smo.solution import NotSeparableError, Solution
from learnable.kernels.smo.solver import solve

__all__ = [
    "ColumnCache",
    "GramSource",
    "NotSeparableError",
    "Solution",
    "as_source",
    "classification",
    "classification_path",
    "nu_classification",
    "regression",
    "solve",
]
