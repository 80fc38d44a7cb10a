"""Linear discrimination against brute force, mixed-integer programmes, scikit-learn and closed forms."""

import math
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.linear import (
    FingeringClassifier,
    FisherLDA,
    GaussianBayes,
    HalfspaceERM2D,
    LeastSquaresClassifier,
    LogisticDiscriminant,
    MomentBoundClassifier,
    SigmoidRiskClassifier,
    SplitERM,
)


@parametrize_with_checks(
    [
        MomentBoundClassifier(),
        SplitERM(),
        HalfspaceERM2D(),
        FingeringClassifier(max_hyperplanes=50, random_state=0),
        SigmoidRiskClassifier(n_restarts=0, scales=(4.0,)),
        LeastSquaresClassifier(),
        LogisticDiscriminant(),
        LogisticDiscriminant(alpha=1.0),
        GaussianBayes(shrinkage=0.5),
        GaussianBayes(equal_cov=True, shrinkage=0.1),
        FisherLDA(),
    ]
)
def test_estimator_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


def test_fingering_draws_uniform_subsets():
    from learnable.linear.exact import _draw_subsets

    chosen = _draw_subsets(np.random.default_rng(32).random((40_000, 2)), 5)
    assert (np.diff(np.sort(chosen, axis=1), axis=1) > 0).all() and chosen.min() == 0 and chosen.max() == 4
    counts = np.unique(np.sort(chosen, axis=1) @ [10, 1], return_counts=True)[1]
    # Ten equally likely pairs: five standard deviations of a binomial count.
    assert counts.size == 10 and np.abs(counts - 4000).max() < 5 * math.sqrt(3600)
    assert _draw_subsets(np.full((1, 3), 1.0 - 1e-16), 3).tolist() == [[0, 1, 2]]
