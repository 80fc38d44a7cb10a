"""Errors of subsets: the sum of columns equals refitting, whatever was asked before."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

from learnable.features.subsets import EstimatorSubsets, NaiveBayesSubsets, SubsetEvaluator


def sample(seed, n=150, d=12, states=3, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, states, (n, d))
    X[:states, :] = np.arange(states)[:, None]
    return X, (X[:, :3].sum(axis=1) + rng.integers(0, 2, n)) % classes


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("smoothing", [1.0, 0.01])
def test_naive_bayes_equals_refitting(seed, smoothing):
    X, y = sample(seed)
    rng, cv = np.random.default_rng(seed), StratifiedKFold(4, shuffle=True, random_state=seed)
    ours = NaiveBayesSubsets(X, y, cv=cv, smoothing=smoothing)
    model = CategoricalNB(alpha=smoothing, min_categories=3, force_alpha=True)
    for _ in range(12):
        subset = rng.choice(12, int(rng.integers(1, 12)), replace=False)
        refitted = cross_val_predict(model, X[:, subset], y, cv=cv)
        assert ours.error(subset) == pytest.approx(np.mean(refitted != y), abs=1e-12)


def test_the_way_to_a_subset_does_not_matter():
    X, y = sample(7, n=200, d=30)
    walked, left = NaiveBayesSubsets(X, y), list(range(30))
    for _ in range(29):
        left.pop(0)
        fresh = NaiveBayesSubsets(X, y)
        assert walked.error(left) == fresh.error(left)
        np.testing.assert_array_equal(walked._scores, fresh._scores)


def test_no_columns_means_the_commonest_class():
    X, y = sample(1)
    y = np.where(np.arange(len(y)) % 5 == 0, 1, 0)
    assert NaiveBayesSubsets(X, y).error([]) == pytest.approx(0.2)
    assert EstimatorSubsets(DecisionTreeClassifier(), X, y).error([]) == pytest.approx(0.2)


def test_a_class_absent_from_a_training_fold_is_not_chosen():
    X = np.array([[0], [0], [0], [1], [1], [1]])
    y = np.array(["a", "a", "a", "b", "b", "b"])
    assert NaiveBayesSubsets(X, y, cv=KFold(2)).error([0]) == 1.0


def test_questions_are_remembered_and_counted():
    X, y = sample(2)
    ours = NaiveBayesSubsets(X, y)
    assert ours.error([3, 1]) == ours.error((1, 3)) == ours.error(np.array([1, 3, 3]))
    assert (ours.n_calls, ours.n_evaluations) == (3, 1)
    ours.forget()
    assert (ours.n_calls, ours.n_evaluations) == (0, 0)


def test_any_estimator_by_refitting_with_frames_and_scores():
    X, y = sample(3)
    frame, cv = pd.DataFrame(X).add_prefix("f"), KFold(3)
    tree = DecisionTreeClassifier(random_state=0)
    by_hand = np.mean(cross_val_predict(tree, X[:, [0, 2]], y, cv=cv) != y)
    assert EstimatorSubsets(tree, frame, y, cv=cv).error([2, 0]) == pytest.approx(by_hand)
    target = X[:, 0] * 2.0 + X[:, 1]
    line = EstimatorSubsets(LinearRegression(), X, target, scoring="neg_mean_squared_error")
    assert line.error([0, 1]) == pytest.approx(0.0, abs=1e-20)
    assert line.error([1]) > 1.0


def test_bad_input_is_refused():
    X, y = sample(4)
    for columns in ([12], [-1]):
        with pytest.raises(ValueError, match="columns"):
            NaiveBayesSubsets(X, y).error(columns)
    with pytest.raises(ValueError, match="labels"):
        NaiveBayesSubsets(X, y[:-1])
    with pytest.raises(ValueError, match="smoothing"):
        NaiveBayesSubsets(X, y, smoothing=0)
    with pytest.raises(ValueError, match="row for each"):
        EstimatorSubsets(DecisionTreeClassifier(), X, y[:-1])
    with pytest.raises(ValueError, match="n_features"):
        SubsetEvaluator(0)
