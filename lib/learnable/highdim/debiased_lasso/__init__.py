"""Confidence intervals and p-values for high-dimensional regression (Javanmard and Montanari 2014).

By concept:

- :mod:`.programme`: the matrix M, one quadratic programme a row; infeasible rows;
- :mod:`.coherence`: how far columns are from uncorrelated, and the levels of mu that follow;
- :mod:`.influence`: rows in which no single observation may decide;
- :mod:`.scaled`: lasso, scaled lasso and square-root lasso;
- :mod:`.inference`: the debiasing step, its decomposition, the estimator;
- :mod:`.competitors`: nodewise lasso, sample splitting, ridge projection, least squares;
- :mod:`.theory`: power, optimal lengths, bounds on the bias.
"""

from learnable.highdim.debiased_lasso.coherence import default_mu, minimum_coherence
from learnable.highdim.debiased_lasso.competitors import (
    Inference,
    multi_split,
    naive_ols,
    ols,
    ridge_projection,
)
from learnable.highdim.debiased_lasso.inference import (
    ConfidenceRegion,
    DebiasedLasso,
    adjust_pvalues,
    debias,
    decompose,
    two_sided_pvalues,
)
from learnable.highdim.debiased_lasso.influence import bounded_decorrelating_matrix
from learnable.highdim.debiased_lasso.programme import Decorrelation, decorrelate, decorrelating_matrix
from learnable.highdim.debiased_lasso.scaled import ScaledLasso, lasso, scaled_lasso, sqrt_lasso, universal_lam0
from learnable.highdim.debiased_lasso.theory import (
    asymptotic_power,
    conditional_variance,
    efficiency_factor,
    optimal_length,
    oracle_power_bound,
    power_G,
)

__all__ = [
    "ConfidenceRegion",
    "DebiasedLasso",
    "Decorrelation",
    "Inference",
    "ScaledLasso",
    "adjust_pvalues",
    "asymptotic_power",
    "bounded_decorrelating_matrix",
    "conditional_variance",
    "debias",
    "decompose",
    "decorrelate",
    "decorrelating_matrix",
    "default_mu",
    "efficiency_factor",
    "lasso",
    "minimum_coherence",
    "multi_split",
    "naive_ols",
    "ols",
    "optimal_length",
    "oracle_power_bound",
    "power_G",
    "ridge_projection",
    "scaled_lasso",
    "sqrt_lasso",
    "two_sided_pvalues",
    "universal_lam0",
]
