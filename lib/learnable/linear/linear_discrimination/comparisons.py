"""Rules side by side: with quadratic terms where lines mask a class, and on a table with thirty features.

Source: Lember 2012, Sec. 3.5 and 3.6; what is compared is what the chapter teaches, not a claim of the source.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from learnable.linear.linear_discrimination.exact import FingeringClassifier
from learnable.linear.linear_discrimination.gallery import masking3
from learnable.linear.linear_discrimination.gaussian import FisherLDA, GaussianBayes
from learnable.linear.linear_discrimination.least_squares import LeastSquaresClassifier
from learnable.linear.linear_discrimination.logistic import LogisticDiscriminant
from learnable.validation import Result, check_rng, check_scalar, check_seed

__all__ = ["RuleErrors", "compare_on_breast_cancer", "masking_errors", "with_quadratic_terms"]


@dataclass(frozen=True, eq=False)
class RuleErrors(Result):
    """Error rates of several rules.

    Attributes
    ----------
    rules : tuple of str
    train, test : ndarray of shape (number of rules,)
        Mean error on the data that a rule was fitted to, and on the rest.
    test_se : ndarray
        Standard errors of the test errors.
    """

    rules: tuple
    train: np.ndarray
    test: np.ndarray
    test_se: np.ndarray


def with_quadratic_terms(rule):
    """A rule on x_i, x_i² and all products x_i x_j: linear in these, quadratic in x.

    Columns are standardised first, so that the products of columns in different units stay comparable.

    Parameters
    ----------
    rule : classifier

    Returns
    -------
    Pipeline

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    >>> with_quadratic_terms(LeastSquaresClassifier()).fit(X, [1, 0, 0, 0, 1]).predict(X).tolist()
    [1, 0, 0, 0, 1]
    """
    return make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), clone(rule))


def masking_errors(n=3000, n_test=100_000, random_state=None):
    """Errors on three classes in a row, where least squares hardly ever says the middle one.

    Parameters
    ----------
    n, n_test : int
        Sizes of the samples to fit and to judge.
    random_state : None, int or Generator

    Returns
    -------
    RuleErrors
        Of least squares, least squares with quadratic terms, LDA and logistic regression.

    Examples
    --------
    >>> found = masking_errors(n_test=20_000, random_state=0)
    >>> dict(zip(found.rules, found.test.round(2).tolist()))
    {'least squares': 0.33, 'with quadratic terms': 0.05, 'LDA': 0.03, 'logistic': 0.03}
    """
    n = check_scalar(n, "n", low=30, integer=True)
    n_test = check_scalar(n_test, "n_test", low=1, integer=True)
    rng, problem = check_rng(random_state), masking3()
    X, y = problem.sample(n, random_state=rng)
    points, labels = problem.sample(n_test, random_state=rng)
    rules = {
        "least squares": LeastSquaresClassifier(),
        "with quadratic terms": with_quadratic_terms(LeastSquaresClassifier()),
        "LDA": GaussianBayes(equal_cov=True),
        "logistic": LogisticDiscriminant(),
    }
    fitted = [rule.fit(X, y) for rule in rules.values()]
    train = np.array([np.mean(rule.predict(X) != y) for rule in fitted])
    test = np.array([np.mean(rule.predict(points) != labels) for rule in fitted])
    return RuleErrors(tuple(rules), train, test, np.sqrt(test * (1 - test) / n_test))


def compare_on_breast_cancer(max_hyperplanes=100_000, n_splits=5, n_repeats=10, random_state=None):
    """Fingering against the substitutes on all thirty features: errors in training and in repeated cross-validation.

    Through thirty points of n = 456 there are far too many hyperplanes to try them all: fingering takes random ones.

    Parameters
    ----------
    max_hyperplanes : int, default=100_000
        Random hyperplanes for each fit.
    n_splits, n_repeats : int, default=5, 10
        Of the cross-validation.
    random_state : None, int or Generator
        For the hyperplanes and the splits.

    Returns
    -------
    RuleErrors
        Of fingering, least squares, logistic regression (with a slight ridge, since the classes separate) and
        Fisher's rule with the best split.

    Examples
    --------
    >>> found = compare_on_breast_cancer(200, n_splits=2, n_repeats=1, random_state=0)
    >>> found.rules
    ('fingering', 'least squares', 'logistic', 'Fisher')
    >>> bool(found.test[0] > found.test[1])  # random hyperplanes in thirty dimensions are poor ones
    True
    """
    rng = check_rng(random_state)
    n_splits = check_scalar(n_splits, "n_splits", low=2, integer=True)
    n_repeats = check_scalar(n_repeats, "n_repeats", low=1, integer=True)
    X, y = load_breast_cancer(return_X_y=True)
    rules = {
        "fingering": FingeringClassifier(max_hyperplanes, random_state=rng),
        "least squares": LeastSquaresClassifier(),
        "logistic": make_pipeline(StandardScaler(), LogisticDiscriminant(alpha=0.01)),
        "Fisher": FisherLDA(final="erm"),
    }
    cv = RepeatedStratifiedKFold(n_splits=n_splits, n_repeats=n_repeats, random_state=check_seed(rng))
    train, test = np.empty((2, n_splits * n_repeats, len(rules)))
    for fold, (inner, outer) in enumerate(cv.split(X, y)):
        for j, rule in enumerate(rules.values()):
            rule.fit(X[inner], y[inner])
            train[fold, j] = np.mean(rule.predict(X[inner]) != y[inner])
            test[fold, j] = np.mean(rule.predict(X[outer]) != y[outer])
    # Folds of one repetition share their data: the spread is taken over repetitions, or over folds if there is one.
    means = test.reshape(n_repeats, n_splits, -1).mean(axis=1) if n_repeats > 1 else test
    return RuleErrors(
        tuple(rules), train.mean(axis=0), test.mean(axis=0), means.std(axis=0, ddof=1) / len(means) ** 0.5
    )
