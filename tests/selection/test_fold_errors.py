"""The claims of Bengio and Grandvalet (2004) on the variance of K-fold cross-validation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnable import selection as cv_selection


def test_errors_are_those_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:100], y[:100]
    order = np.random.default_rng(10).permutation(100)
    found = cv_selection.cv_errors(Ridge(), X, y, n_folds=5, random_state=10)
    scores = -cross_val_score(Ridge(), X[order], y[order], cv=KFold(5), scoring="neg_mean_squared_error")
    np.testing.assert_allclose(found.mean(axis=1), scores)
    frame = cv_selection.cv_errors(
        Ridge(), pd.DataFrame(X, columns=list("abcdefghij")), pd.Series(y), n_folds=5, random_state=10
    )
    np.testing.assert_allclose(frame, found)
    absolute = cv_selection.cv_errors(Ridge(), X, y, n_folds=5, loss="absolute", random_state=10)
    np.testing.assert_allclose(absolute**2, found)
    own = cv_selection.cv_errors(Ridge(), X, y, n_folds=5, loss=lambda t, p: abs(t - p), random_state=10)
    np.testing.assert_allclose(own, absolute)


def test_errors_of_a_classifier_are_mistakes():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])[y[:300]]
    rule = make_pipeline(StandardScaler(), LogisticRegression())
    found = cv_selection.cv_errors(rule, X[:300], names, random_state=0)
    assert found.shape == (10, 30) and set(np.unique(found)) <= {0.0, 1.0} and 0 < found.mean() < 0.1
    worse = cv_selection.delta_cv_errors(DummyClassifier(), rule, X[:300], names, random_state=0)
    guess = cv_selection.cv_errors(DummyClassifier(), X[:300], names, random_state=0)
    np.testing.assert_array_equal(worse, guess - found)


def test_refuses_what_is_no_estimator():
    with pytest.raises(TypeError, match="estimator"):
        cv_selection.cv_errors("ridge", np.ones((10, 2)), np.ones(10), n_folds=2)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, bool])
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_differences_of_labels_do_not_wrap(kind, loss):
    # 0 - 1 is 255 in uint8, and booleans have no difference.
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:300, :3], y[:300]
    found = cv_selection.cv_errors(DummyClassifier(), X, y.astype(kind), loss=loss, random_state=0)
    plain = cv_selection.cv_errors(DummyClassifier(), X, y, loss="zero_one", random_state=0)
    np.testing.assert_array_equal(found, plain)
    with pytest.raises(ValueError, match="y must be an array of real numbers"):
        cv_selection.cv_errors(DummyClassifier(), X, np.where(y, "a", "b"), loss=loss, random_state=0)
