"""The claims of Bengio and Grandvalet (2004) on the variance of K-fold cross-validation."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from learnable import selection as cv_selection


def test_interval_by_hand():
    scores = np.array([0.8, 0.9, 0.85, 0.95, 0.9])
    found = cv_selection.cv_interval(scores)
    error = np.sqrt((1 / 5 + 1 / 4) * scores.var(ddof=1))
    assert found.standard_error == pytest.approx(error)
    assert found.high - found.mean == pytest.approx(stats.t(4).ppf(0.975) * error)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)
    plain = cv_selection.cv_interval(scores, method="fold_means", level=0.9)
    assert plain.standard_error == pytest.approx(scores.std(ddof=1) / np.sqrt(5))
    assert plain.high - plain.mean == pytest.approx(stats.t(4).ppf(0.95) * plain.standard_error)
    assert "0.88" in str(found) and "guess" in str(found)


def test_repeating_folds_does_not_shrink_the_interval_to_nothing():
    rng = np.random.default_rng(12)
    scores = rng.normal(0.9, 0.02, size=(200, 5))
    found = cv_selection.cv_interval(scores)
    assert found.standard_error == pytest.approx(np.sqrt((1 / 1000 + 1 / 4) * scores.var(ddof=1)))
    with pytest.warns(UserWarning, match="repeated folds"):
        wrong = cv_selection.cv_interval(scores, method="fold_means")
    assert wrong.standard_error < 0.1 * found.standard_error
    split = cv_selection.cv_interval(scores.ravel(), test_share=0.2)
    assert split.standard_error == pytest.approx(found.standard_error)


def test_nested_intervals_by_hand():
    """The formula of the spread, on errors that were put together by refitting in plain loops."""
    rng = np.random.default_rng(14)
    X, y = rng.normal(size=(24, 3)), rng.normal(size=24)
    found = cv_selection.nested_cv_interval(LinearRegression(), X, y, n_folds=4, n_repeats=2, random_state=5)
    rng = np.random.default_rng(5)
    gaps, inner_means, outer_all = [], [], []
    for _ in range(2):
        folds = rng.permutation(24).reshape(4, 6)
        for k in range(4):
            rest = np.delete(folds, k, axis=0)
            inside = []
            for j in range(3):
                train = np.delete(rest, j, axis=0).ravel()
                rule = LinearRegression().fit(X[train], y[train])
                inside.append((y[rest[j]] - rule.predict(X[rest[j]])) ** 2)
            rule = LinearRegression().fit(X[rest.ravel()], y[rest.ravel()])
            outer = (y[folds[k]] - rule.predict(X[folds[k]])) ** 2
            inner_means.append(np.mean(inside))
            outer_all.append(outer)
            gaps.append((np.mean(inside) - outer.mean()) ** 2 - outer.var(ddof=1) / 6)
    bias = (1 + 2 / 4) * (np.mean(inner_means) - np.mean(outer_all))
    assert found.mean == pytest.approx(np.mean(inner_means) - bias)
    naive = np.sqrt(np.mean([np.var(np.ravel(outer_all[4 * r : 4 * r + 4]), ddof=1) for r in range(2)]) / 24)
    error = np.clip(np.sqrt(max(np.mean(gaps), 0) * 3 / 4), naive, 2 * naive)
    assert found.standard_error == pytest.approx(error)
    assert found.high == pytest.approx(found.mean + stats.norm.ppf(0.975) * error)


def test_five_by_two_by_hand():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200, :5], y[:200]
    first, second = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=3, random_state=0)
    found = cv_selection.paired_test_5x2(first, second, X, y, random_state=3)
    rng = np.random.default_rng(3)
    d = np.empty((5, 2))
    for i in range(5):
        halves = rng.permutation(200).reshape(2, 100)
        for k in range(2):
            train, test = halves[1 - k], halves[k]
            d[i, k] = np.mean(
                (first.fit(X[train], y[train]).predict(X[test]) != y[test]) * 1.0
                - (second.fit(X[train], y[train]).predict(X[test]) != y[test])
            )
    spread = np.mean([np.sum((row - row.mean()) ** 2) for row in d])
    assert found.statistic == pytest.approx(d[0, 0] / np.sqrt(spread))
    assert found.difference == pytest.approx(d.mean())
    assert found.p_value == pytest.approx(2 * stats.t(5).sf(abs(found.statistic)))
    same = cv_selection.paired_test_5x2(first, first, X, y, random_state=3)
    assert (same.statistic, same.p_value) == (0.0, 1.0)


def test_nested_folds_of_one_example_are_refused():
    X, y = np.arange(12.0)[:, None], np.arange(12.0)
    with pytest.raises(ValueError, match="n_folds must leave at least two examples in each fold"):
        cv_selection.nested_cv_interval(LinearRegression(), X, y, n_folds=12, random_state=0)
