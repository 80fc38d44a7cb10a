"""Committees of the comparison: averaged networks, MultiBoost, random committees and subspaces, Dagging.

Members are scikit-learn's trees, networks and linear machines; what is written here is how they are made different and
how they vote (Fernandez-Delgado et al. 2014, Sec. 2.2).
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from learnable.selection.classifier_benchmark.contestants import Contestant
from learnable.validation import check_has, check_rng, check_scalar

__all__ = ["AveragedMLP", "Dagging", "MultiBoost", "RandomCommittee", "RandomSubSpace"]


class _Averaged(Contestant):
    """Members with probabilities of all classes, which are averaged."""

    def _scores(self, X):
        X = self._standard(X)
        return sum(member.predict_proba(X) for member in self.estimators_) / len(self.estimators_)

    def predict_proba(self, X):
        """Mean of the members' probabilities."""
        return self._scores(self._points(X))


class AveragedMLP(_Averaged):
    """Networks of one small layer that differ in their first weights alone, and their average. Cost of the members.

    The surface of errors has many minima; averaging over where five starts end takes out most of the difference
    (avNNet_t of the source).

    Parameters
    ----------
    n_estimators : int, default=5
        Networks.
    n_hidden : int, default=5
        Units of the layer.
    alpha : float, default=1e-4
        Decay of the weights, as in scikit-learn's ``MLPClassifier``.
    max_iter : int, default=500
        Of the quasi-Newton method that trains a network.
    random_state : None, int or Generator
        For the first weights.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    estimators_ : list of MLPClassifier
    n_iter_ : int
        The largest number of iterations of a member.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AveragedMLP(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    def __init__(self, n_estimators=5, n_hidden=5, alpha=1e-4, max_iter=500, random_state=None):
        self.n_estimators = n_estimators
        self.n_hidden = n_hidden
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y):
        count = check_scalar(self.n_estimators, "n_estimators", low=1, integer=True)
        hidden = check_scalar(self.n_hidden, "n_hidden", low=1, integer=True)
        alpha = check_scalar(self.alpha, "alpha", low=0)
        max_iter = check_scalar(self.max_iter, "max_iter", low=1, integer=True)
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        member = MLPClassifier((hidden,), solver="lbfgs", alpha=alpha, max_iter=max_iter)
        seeds = rng.integers(2**31, size=count)
        self.estimators_ = [clone(member).set_params(random_state=int(seed)).fit(X, codes) for seed in seeds]
        self.n_iter_ = max(member.n_iter_ for member in self.estimators_)
        return self


class RandomCommittee(_Averaged):
    """Trees that choose among a few random inputs at each split, all grown on the same rows. Cost of the members.

    Unlike in a random forest every tree sees all rows once; only the draws of inputs differ (RandomCommittee_w).

    Parameters
    ----------
    n_estimators : int, default=10
        Trees.
    random_state : None, int or Generator
        For the inputs tried at a split, log2(d) + 1 of d.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    estimators_ : list of DecisionTreeClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RandomCommittee(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    def __init__(self, n_estimators=10, random_state=None):
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        count = check_scalar(self.n_estimators, "n_estimators", low=1, integer=True)
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        tried = min(X.shape[1], int(np.log2(X.shape[1])) + 1)
        tree = DecisionTreeClassifier(criterion="entropy", max_features=tried)
        seeds = rng.integers(2**31, size=count)
        self.estimators_ = [clone(tree).set_params(random_state=int(seed)).fit(X, codes) for seed in seeds]
        return self


class RandomSubSpace(Contestant):
    """Trees that each see a random share of the inputs (Ho 1998; RandomSubSpace_w). Cost of the members.

    Parameters
    ----------
    n_estimators : int, default=10
        Trees.
    share : float in (0, 1], default=0.5
        Of the inputs that a tree sees, at least one.
    min_samples_leaf : int, default=2
        Of the trees, which split by entropy.
    random_state : None, int or Generator
        For the subsets and the trees.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    estimators_ : list of DecisionTreeClassifier
    subspaces_ : ndarray of int of shape (n_estimators, m)
        Inputs of each tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> rule = RandomSubSpace(random_state=0).fit(X[::2], y[::2])
    >>> rule.subspaces_.shape, rule.score(X[1::2], y[1::2]) > 0.9
    ((10, 2), True)
    """

    def __init__(self, n_estimators=10, share=0.5, min_samples_leaf=2, random_state=None):
        self.n_estimators = n_estimators
        self.share = share
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def fit(self, X, y):
        count = check_scalar(self.n_estimators, "n_estimators", low=1, integer=True)
        share = check_scalar(self.share, "share", low=0, high=1, closed="right")
        leaf = check_scalar(self.min_samples_leaf, "min_samples_leaf", low=1, integer=True)
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        d = X.shape[1]
        size = max(1, round(share * d))
        self.subspaces_ = np.array([np.sort(rng.choice(d, size, replace=False)) for _ in range(count)])
        tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=leaf)
        self.estimators_ = [
            clone(tree).set_params(random_state=int(rng.integers(2**31))).fit(X[:, seen], codes)
            for seen in self.subspaces_
        ]
        return self

    def _scores(self, X):
        X = self._standard(X)
        pairs = zip(self.subspaces_, self.estimators_, strict=True)
        return sum(tree.predict_proba(X[:, seen]) for seen, tree in pairs) / len(self.estimators_)

    def predict_proba(self, X):
        """Mean of the trees' class shares."""
        return self._scores(self._points(X))


class Dagging(Contestant):
    """Disjoint parts of the data, a member for each, and a vote (Ting and Witten 1997; Dagging_w). Cost of the members.

    Parameters
    ----------
    estimator : classifier, optional
        The member; by default a linear support vector machine with C = 1 on standardised inputs.
    n_estimators : int, default=4
        Parts, with the classes in equal shares.
    random_state : None, int or Generator
        For dealing rows into parts.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    estimators_ : list of (classifier or None, ndarray of int)
        A member and the codes of the classes that it has seen; no classifier where there was one class only.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Dagging(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    def __init__(self, estimator=None, n_estimators=4, random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        count = check_scalar(self.n_estimators, "n_estimators", low=1, integer=True)
        member = SVC(kernel="linear") if self.estimator is None else self.estimator
        check_has(member, "estimator", "fit predict", "a classifier")
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        # Rows in random order, class after class, are dealt out like cards: the parts get equal shares of a class.
        order = rng.permutation(len(X))
        order = order[np.argsort(codes[order], kind="stable")]
        self.estimators_ = []
        for part in range(min(count, len(X))):
            rows = np.sort(order[part::count])
            seen = np.unique(codes[rows])
            fitted = clone(member).fit(X[rows], codes[rows]) if len(seen) > 1 else None
            self.estimators_.append((fitted, seen))
        return self

    def _scores(self, X):
        X = self._standard(X)
        votes = np.zeros((len(X), len(self.classes_)))
        for member, seen in self.estimators_:
            said = np.full(len(X), seen[0]) if member is None else member.predict(X)
            votes[np.arange(len(X)), said] += 1
        return votes

    def predict_proba(self, X):
        """Shares of the votes."""
        votes = self._scores(self._points(X))
        return votes / votes.sum(axis=1, keepdims=True)


class MultiBoost(Contestant):
    """AdaBoost.M1 in sub-committees that begin with random weights (Webb 2000; MultiBoostAB_w). Cost of the members.

    Boosting lowers bias, wagging (random weights) lowers variance. At the end of a sub-committee, and whenever a member
    has no error or more than one half, the weights are drawn anew: -log U for every row, scaled to the sum n. A member
    with weighted error e votes with weight log((1 - e) / e); one without error counts as e = 1e-10.

    Parameters
    ----------
    estimator : classifier, optional
        The member, with ``sample_weight``; by default a tree of depth one.
    n_rounds : int, default=10
        Members.
    n_subcommittees : int, default=3
        Sub-committees, of rounds as equal in number as possible.
    random_state : None, int or Generator
        For the random weights and the members.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    estimators_ : list of classifiers
    votes_ : ndarray
        Weight of each member.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MultiBoost(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    def __init__(self, estimator=None, n_rounds=10, n_subcommittees=3, random_state=None):
        self.estimator = estimator
        self.n_rounds = n_rounds
        self.n_subcommittees = n_subcommittees
        self.random_state = random_state

    def fit(self, X, y):
        rounds = check_scalar(self.n_rounds, "n_rounds", low=1, integer=True)
        committees = check_scalar(self.n_subcommittees, "n_subcommittees", low=1, high=rounds, integer=True)
        member = DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator
        check_has(member, "estimator", "fit predict", "a classifier")
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        ends = set(np.ceil(np.arange(1, committees + 1) * rounds / committees).astype(int).tolist())
        n, weight = len(X), np.ones(len(X))
        self.estimators_, votes = [], []
        for t in range(1, rounds + 1):
            fitted = clone(member)
            if "random_state" in fitted.get_params():
                fitted.set_params(random_state=int(rng.integers(2**31)))
            wrong = fitted.fit(X, codes, sample_weight=weight).predict(X) != codes
            error = weight[wrong].sum() / weight.sum()
            if error <= 0.5:
                bounded = max(error, 1e-10)
                self.estimators_.append(fitted)
                votes.append(np.log((1 - bounded) / bounded))
            if t in ends or error > 0.5 or error <= 0:
                weight = rng.standard_exponential(n)
            else:
                weight[~wrong] *= error / (1 - error)
            weight *= n / weight.sum()
        if not votes:  # no member was better than one half: the last one decides alone
            self.estimators_, votes = [fitted], [1.0]
        self.votes_ = np.array(votes)
        return self

    def _scores(self, X):
        X = self._standard(X)
        total = np.zeros((len(X), len(self.classes_)))
        for member, vote in zip(self.estimators_, self.votes_, strict=True):
            total[np.arange(len(X)), member.predict(X)] += vote
        return total
