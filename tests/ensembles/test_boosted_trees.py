"""Boosting against brute force, closed forms, linear programmes and scikit-learn."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from learnable.ensembles import (
    GradientBoostedTrees,
)


def test_gradient_boosted_trees_equal_scikit_learn():
    rng = np.random.default_rng(20)
    X = rng.normal(size=(400, 5)).astype(np.float32).astype(float)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=400) > 0).astype(int)
    ours = GradientBoostedTrees(n_rounds=60).fit(X, y)
    peer = GradientBoostingClassifier(n_estimators=60, random_state=0).fit(X, y)
    assert 2 * ours.losses_ == pytest.approx(peer.train_score_, rel=1e-9)
    Z = rng.normal(size=(200, 5)).astype(np.float32).astype(float)
    assert ours.decision_function(X) == pytest.approx(peer.decision_function(X), abs=1e-7)
    assert ours.predict_proba(X) == pytest.approx(peer.predict_proba(X), abs=1e-7)
    # Features that split a small node alike differ beyond the sample, and each library takes the one it likes.
    assert np.mean(np.abs(ours.decision_function(Z) - peer.decision_function(Z)) < 1e-7) > 0.8
    assert ours.staged_decision_function(Z)[-1] == pytest.approx(ours.decision_function(Z))
