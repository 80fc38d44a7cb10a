"""Empirical risk minimisation and Vapnik–Chervonenkis theory.

How far can the risk of a rule be from its training error, for all rules of a class at once? The chapter counts what
a class can do (`dichotomies`, `growth_function`, `sauer`), computes exact uniform deviations (`sup_dev`), inverts the
bounds (`vc_tail`, `sample_complexity`), fits exact empirical risk minimisers (`KIntervalERM`, `RectangleERM`) and
chooses among classes (`SRM`). Source: Lember 2012, chapter 2.
"""

from learnable.foundations.tail_bounds import (
    MeanBound,
    TailBound,
    erm_mean,
    erm_tail,
    hoeffding,
    pac_radius,
    sample_complexity,
    vc_mean,
)
from learnable.foundations.vc_theory.deviations import (
    halfplane_deviation,
    kuiper,
    sup_dev,
)
from learnable.foundations.vc_theory.learners import (
    FiniteERM,
    KIntervalERM,
    Memoriser,
    RectangleERM,
    ThresholdERM,
    erm,
    interval_path,
)
from learnable.foundations.vc_theory.patterns import (
    FAMILIES,
    dichotomies,
    growth_function,
    sauer,
    vc_dimension,
)
from learnable.foundations.vc_theory.selection import (
    PENALTIES,
    SRM,
    IntervalTruth,
    RiskDecomposition,
    SieveERM,
    cross_validated_k,
    no_free_lunch,
    penalty,
    risk_decomposition,
    srm_select,
)

__all__ = [
    "FAMILIES",
    "PENALTIES",
    "SRM",
    "FiniteERM",
    "IntervalTruth",
    "KIntervalERM",
    "MeanBound",
    "Memoriser",
    "RectangleERM",
    "RiskDecomposition",
    "SieveERM",
    "TailBound",
    "ThresholdERM",
    "cross_validated_k",
    "dichotomies",
    "erm",
    "erm_mean",
    "erm_tail",
    "growth_function",
    "halfplane_deviation",
    "hoeffding",
    "interval_path",
    "kuiper",
    "no_free_lunch",
    "pac_radius",
    "penalty",
    "risk_decomposition",
    "sample_complexity",
    "sauer",
    "srm_select",
    "sup_dev",
    "vc_dimension",
    "vc_mean",
]
