"""Boosting with several classes: softmax trees beside scikit-learn, votes of one against the rest."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier

from learnable.ensembles import AdaBoost, GradientBoostedTrees


def test_three_classes_give_the_losses_of_the_multinomial_likelihood():
    X, y = load_wine(return_X_y=True)
    ours = GradientBoostedTrees(40, max_bins=None).fit(X, y)
    p = ours.predict_proba(X)
    assert np.mean(-np.log(p[np.arange(len(y)), y])) == pytest.approx(ours.losses_[-1], rel=1e-10)
    theirs = GradientBoostingClassifier(n_estimators=40, random_state=0).fit(X, y)
    # Equally good cuts are broken at random there.
    assert ours.losses_[-1] == pytest.approx(theirs.train_score_[-1], rel=0.1)
    stages = ours.staged_decision_function(X)
    assert stages.shape == (40, len(y), 3)
    np.testing.assert_allclose(stages[-1], ours.decision_function(X))
    np.testing.assert_allclose(ours.init_, np.log(np.bincount(y) / len(y)))


def test_first_round_by_hand():
    """Leaves ((K - 1)/K) sum r / sum p (1 - p) on a table whose first tree parts the classes."""
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "c"])
    model = GradientBoostedTrees(1, max_depth=2, shrinkage=1.0).fit(X, y)
    f = model.decision_function(X) - np.log(1 / 3)
    residual = np.eye(3) - 1 / 3
    np.testing.assert_allclose(f, 2 / 3 * residual / (1 / 3 * 2 / 3), rtol=1e-12)


def test_votes_are_those_of_one_class_against_the_rest():
    X, y = load_iris(return_X_y=True)
    names = np.array(["x", "y", "z"])[y]
    model = AdaBoost(n_rounds=20).fit(X, names)
    alone = [AdaBoost(n_rounds=20).fit(X, y == c).decision_function(X) for c in range(3)]
    np.testing.assert_allclose(model.decision_function(X), np.column_stack(alone))
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all() and model.score(X, names) > 0.95
    with pytest.raises(ValueError, match="machines_"):
        model.staged_predict(X)
    assert model.fit(X[:100], y[:100]).decision_function(X).ndim == 1


def test_rows_of_weight_zero_leave_no_trace():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    weight = (np.arange(100) % 3 > 0).astype(float)
    weighted, without = AdaBoost(n_rounds=15).fit(X, y, weight), AdaBoost(n_rounds=15).fit(X[weight > 0], y[weight > 0])
    assert weighted.rules_ == without.rules_
    assert (weighted.weights_[weight == 0] == 0).all() and len(weighted.train_scores_) == 100
    np.testing.assert_allclose(weighted.train_scores_, weighted.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("machine", [AdaBoost(), GradientBoostedTrees()])
def test_one_class_is_refused(machine):
    with pytest.raises(ValueError, match="class"):
        machine.fit([[0.0], [1.0]], [1, 1])
