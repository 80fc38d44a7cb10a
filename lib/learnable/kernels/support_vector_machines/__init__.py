"""Support vector machines: margins, duality, soft margins, bounds (Lember 2012, Sec. 4.1-4.4).

By concept:

- :mod:`.duality`: the dual of a quadratic program, its solution, and reports on optimality;
- :mod:`.machines`: hard, soft and mixed margins and the nu-machine as estimators;
- :mod:`.conversions`: the constants C, D and nu of one problem;
- :mod:`.geometry`: nearest points of convex hulls, full and reduced;
- :mod:`.report`: which support vectors are in-bound, bound, margin errors, essential;
- :mod:`.bounds`: risk bounds from margins;
- :mod:`.linear`: machines without kernel matrix for many points;
- :mod:`.lifting`: the quadratic feature map.

The solver below all of them is :mod:`learnable.kernels.smo`.
"""

from learnable.kernels.support_vector_machines.bounds import margin_bounds
from learnable.kernels.support_vector_machines.conversions import C_to_D, largest_D
from learnable.kernels.support_vector_machines.duality import (
    kkt_report,
    solve_qp,
)
from learnable.kernels.support_vector_machines.geometry import HullDistance, hull_distance, reduced_hull_distance
from learnable.kernels.support_vector_machines.lifting import quadratic_map
from learnable.kernels.support_vector_machines.linear import DualCoordinateSVM, PegasosSVM
from learnable.kernels.support_vector_machines.machines import HardMarginSVM, NuSVM, SoftMarginSVM, SquaredNuSVM
from learnable.kernels.support_vector_machines.report import support_vector_report

__all__ = [
    "C_to_D",
    "DualCoordinateSVM",
    "HardMarginSVM",
    "HullDistance",
    "NuSVM",
    "PegasosSVM",
    "SoftMarginSVM",
    "SquaredNuSVM",
    "hull_distance",
    "kkt_report",
    "largest_D",
    "margin_bounds",
    "quadratic_map",
    "reduced_hull_distance",
    "solve_qp",
    "support_vector_report",
]
