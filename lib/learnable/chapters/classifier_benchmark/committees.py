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

from learnable.chapters.classifier_benchmark.baselines import Contestant
from learnable.validation import check_rng


class _Averaged(Contestant):
    """Members with probabilities of all classes, which are averaged."""

    def _scores(self, X):
        X = self._standard(X)
        return sum(member.predict_proba(X) for member in self.estimators_) / len(self.estimators_)

    def predict_proba(self, X):
        """Mean of the members' probabilities."""
        return self._scores(self._points(X))


class AveragedMLP(_Averaged):
    """Networks of one small layer that differ in their first weights alone, and their average. Cost of the members."""

    def __init__(self, n_estimators=5, n_hidden=5, alpha=1e-4, max_iter=500, random_state=None):
        self.n_estimators = n_estimators
        self.n_hidden = n_hidden
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y):
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        member = MLPClassifier((self.n_hidden,), solver="lbfgs", alpha=self.alpha, max_iter=self.max_iter)
        seeds = rng.integers(2**31, size=self.n_estimators)
        self.estimators_ = [clone(member).set_params(random_state=int(seed)).fit(X, codes) for seed in seeds]
        self.n_iter_ = max(member.n_iter_ for member in self.estimators_)
        return self


class RandomCommittee(_Averaged):
    """Trees that choose among a few random inputs at each split, all grown on the same rows. Cost of the members."""

    def __init__(self, n_estimators=10, random_state=None):
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        tried = min(X.shape[1], int(np.log2(X.shape[1])) + 1)
        tree = DecisionTreeClassifier(criterion="entropy", max_features=tried)
        seeds = rng.integers(2**31, size=self.n_estimators)
        self.estimators_ = [clone(tree).set_params(random_state=int(seed)).fit(X, codes) for seed in seeds]
        return self


class RandomSubSpace(Contestant):
    """Trees that each see a random share of the inputs (Ho 1998; RandomSubSpace_w). Cost of the members."""

    def __init__(self, n_estimators=10, share=0.5, min_samples_leaf=2, random_state=None):
        self.n_estimators = n_estimators
        self.share = share
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def fit(self, X, y):
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        d = X.shape[1]
        size = max(1, round(self.share * d))
        self.subspaces_ = np.array([np.sort(rng.choice(d, size, replace=False)) for _ in range(self.n_estimators)])
        tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=self.min_samples_leaf)
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
    """Disjoint parts of the data, a member for each, and a vote (Ting and Witten 1997; Dagging_w)."""

    def __init__(self, estimator=None, n_estimators=4, random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        member = SVC(kernel="linear") if self.estimator is None else self.estimator
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        # Rows in random order, class after class, are dealt out like cards: the parts get equal shares of a class.
        order = rng.permutation(len(X))
        order = order[np.argsort(codes[order], kind="stable")]
        self.estimators_ = []
        for part in range(min(self.n_estimators, len(X))):
            rows = np.sort(order[part :: self.n_estimators])
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
    """AdaBoost.M1 in sub-committees that begin with random weights (Webb 2000; MultiBoostAB_w). Cost of the members."""

    def __init__(self, estimator=None, n_rounds=10, n_subcommittees=3, random_state=None):
        self.estimator = estimator
        self.n_rounds = n_rounds
        self.n_subcommittees = n_subcommittees
        self.random_state = random_state

    def fit(self, X, y):
        rounds, committees = self.n_rounds, self.n_subcommittees
        member = DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator
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
