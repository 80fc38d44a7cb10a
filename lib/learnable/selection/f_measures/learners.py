"""Learners that predict sets of labels for the F-measure: what they share, neighbours, and plug-in regressions.

A learner estimates P(y_i = 1, s ones | x) and P(no label | x), or less where its rule needs less, and the rule turns
that into a prediction. All are scikit-learn classifiers for a table y of zeros and ones, a column for each label. A y
of one dimension is accepted as well: then classes exclude each other and the most probable one is predicted.
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.neighbors import NeighborIndex
from learnable.selection.f_measures.distributions import RULES, GroupDecisions, rule_sets
from learnable.selection.f_measures.measures import f_measure
from learnable.validation import check_choice, check_magnitude, check_scalar, check_zero_one, encode_labels
from learnable.validation.tags import ONE_DISTANCE


class LabelSetClassifier(ClassifierMixin, BaseEstimator):
    """What the learners of label sets share; a subclass has `_fit` and `_sets` or `_size_probabilities`."""

    def fit(self, X, y):
        """Learn from instances and their labels.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n, m)
            Zeros and ones, a column for each label; or classes, of shape (n,).

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True)
        check_magnitude(X, "X")
        y = y.toarray() if sparse.issparse(y) else y
        self._column = y.ndim == 2 and y.shape[1] == 1
        y = y.ravel() if self._column else y
        check_classification_targets(y)
        if y.ndim == 1:
            self.classes_, codes = encode_labels(y)
            Y = codes[:, None] == np.arange(len(self.classes_))
            self.n_labels_ = 1
        else:
            Y, self.n_labels_ = check_zero_one(y, "y"), y.shape[1]
            self.classes_ = [np.array([0, 1])] * y.shape[1]
        self._dtype = y.dtype
        empty = not Y.any(axis=1).all()
        self.allow_empty_ = empty if self.allow_empty == "auto" else bool(self.allow_empty)
        self._fit(X, Y)
        return self

    def predict(self, X):
        """Predict the labels of each instance.

        Parameters
        ----------
        X : array-like of shape (N, d)

        Returns
        -------
        ndarray of shape (N, m), or (N,) for classes
        """
        check_is_fitted(self)
        X = check_magnitude(validate_data(self, X, reset=False, dtype=np.float64), "X", smallest=0.0)
        if isinstance(self.classes_, list):
            return self._sets(X).astype(self._dtype)
        found = self.classes_[self._marginals(X).argmax(axis=1)]
        return found[:, None] if self._column else found

    def size_probabilities(self, X):
        """Estimate what `gfm` needs, so that other members of the family (F_beta) can be maximised without refitting.

        Parameters
        ----------
        X : array-like of shape (N, d)

        Returns
        -------
        P : ndarray of shape (N, m, S)
            P(y_i = 1, s ones), for the sizes s in ``sizes_``.
        p0 : ndarray of shape (N,)
            P(no label).
        """
        check_is_fitted(self)
        X = check_magnitude(validate_data(self, X, reset=False, dtype=np.float64), "X", smallest=0.0)
        return self._size_probabilities(X)

    def score(self, X, y, sample_weight=None):
        """Mean F-measure of the instances; accuracy for classes.

        Parameters
        ----------
        X : array-like of shape (N, d)
        y : array-like of shape (N, m)
        sample_weight : array-like of shape (N,), default=None

        Returns
        -------
        float
        """
        if not isinstance(self.classes_, list):
            return super().score(X, y, sample_weight)
        return float(np.average(f_measure(y, self.predict(X), average=None), weights=sample_weight))

    def _check_parameters(self):
        check_choice(getattr(self, "rule", "GFM"), "rule", RULES)
        if not isinstance(self.allow_empty, (bool, np.bool_)):
            check_choice(self.allow_empty, "allow_empty", ("auto",), also="a bool")

    def _sets(self, X):
        return rule_sets(*self._size_probabilities(X), self.sizes_, getattr(self, "rule", "GFM"), self.allow_empty_)

    def _marginals(self, X):
        return self._size_probabilities(X)[0].sum(axis=2)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


class NeighborLabels(LabelSetClassifier):
    """Predict label sets from the labels of the nearest neighbours (Waegeman et al. 2014, Section 7.1.1).

    The neighbours' label vectors are taken as a sample of the law of the labels at x, and one of five rules turns it
    into a prediction. Neighbours at equal distance come in the order of the training set. Fit O(n d), predict O(n d)
    for each instance and O(k m + m^3) for the decision.

    Parameters
    ----------
    n_neighbors : int, default=10
    rule : {"MM", "JM", "FM", "GFM", "threshold"}, default="GFM"
        As in `decide`.
    allow_empty : bool or "auto", default="auto"
        Whether a rule for F may predict no label at all; "auto" allows it if a training instance has no label.

    Attributes
    ----------
    classes_ : list of ndarray
    sizes_ : ndarray of shape (S,)
        Numbers of labels that occur in the training set.
    n_labels_ : int

    Examples
    --------
    >>> X, Y = [[0.0], [0.1], [0.2], [5.0], [5.1]], [[1, 0], [1, 1], [0, 1], [0, 0], [0, 1]]
    >>> NeighborLabels(n_neighbors=3).fit(X, Y).predict([[0.1], [5.2]]).tolist()
    [[1, 1], [0, 1]]
    """

    _depends_on_units = ONE_DISTANCE

    def __init__(self, n_neighbors=10, rule="GFM", allow_empty="auto"):
        self.n_neighbors = n_neighbors
        self.rule = rule
        self.allow_empty = allow_empty

    def _check_parameters(self):
        super()._check_parameters()
        check_scalar(self.n_neighbors, "n_neighbors", low=1, integer=True)

    def _fit(self, X, Y):
        if self.n_neighbors > len(X):
            raise ValueError(f"n_neighbors must be at most n_samples = {len(X)}, got {self.n_neighbors}")
        self._index, self._groups = NeighborIndex(X), GroupDecisions(Y)
        self.sizes_ = self._groups.seen

    def _neighbors(self, X):
        members = self._index.query(X, self.n_neighbors)[1]
        return np.arange(len(X) + 1) * self.n_neighbors, np.ascontiguousarray(members.ravel())

    def _sets(self, X):
        return self._groups.decide(*self._neighbors(X), self.rule, allow_empty=self.allow_empty_)

    def _size_probabilities(self, X):
        return self._groups.probabilities(*self._neighbors(X))


class FMeasurePlugIn(LabelSetClassifier):
    """Estimate probabilities with any classifier, label by label, and plug them into the rule for the F-measure.

    rule="GFM": for label i one classifier with the classes t = y_i s, zero where the label is absent and else the
    number of labels of the instance; one more for "no label". Its probabilities are the rows of P (the source's EFP).
    rule="FM": one classifier for each label, and independence (LFP). rule="MM": the same, at one half (binary
    relevance, BR). A number of labels that never occurs with label i has probability 0. Costs the fits, m or m + 1 of
    them, and O(m^3) or O(m^2) for each prediction.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``predict_proba``; None is logistic regression with C = 0.1 on standardised inputs.
    rule : {"GFM", "FM", "MM"}, default="GFM"
    allow_empty : bool or "auto", default="auto"
        Whether a rule for F may predict no label at all; "auto" allows it if a training instance has no label. The
        marginals of "FM" cannot know that somebody always assigns a label, so that this matters most there.
    n_jobs : int, default=None
        As in joblib.

    Attributes
    ----------
    models_ : list
        One fitted classifier, or one probability, for each label; under "GFM" the last is for "no label".
    sizes_ : ndarray of shape (S,)
        Numbers of labels that occur in the training set.
    n_labels_ : int

    Examples
    --------
    >>> from learnable.datasets import load
    >>> X, Y = load("emotions", return_X_y=True)
    >>> for rule in ("MM", "FM"):
    ...     print(rule, round(FMeasurePlugIn(rule=rule).fit(X[:391], Y[:391]).score(X[391:], Y[391:]), 2))
    MM 0.59
    FM 0.67
    """

    def __init__(self, estimator=None, rule="GFM", allow_empty="auto", n_jobs=None):
        self.estimator = estimator
        self.rule = rule
        self.allow_empty = allow_empty
        self.n_jobs = n_jobs

    def _check_parameters(self):
        check_choice(self.rule, "rule", ("GFM", "FM", "MM"))
        super()._check_parameters()

    def _fit(self, X, Y):
        base = self.estimator
        if base is None:
            base = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000))
        sizes = Y.sum(axis=1)
        self.sizes_ = np.unique(sizes[sizes > 0])
        if self.rule == "GFM":
            targets = [*(column * sizes for column in Y.T), (sizes == 0).astype(int)]
        else:
            targets = [column.astype(int) for column in Y.T]
        self.models_ = Parallel(n_jobs=self.n_jobs)(delayed(_fit_one)(base, X, t) for t in targets)

    def _size_probabilities(self, X):
        if self.rule != "GFM":
            raise ValueError(f"rule must be 'GFM' for size_probabilities: {self.rule!r} estimates marginals alone")
        P = np.zeros((len(X), len(self.models_) - 1, max(1, self.sizes_.size)))
        for i, model in enumerate(self.models_[:-1]):
            for size, share in _probabilities(model, X):
                P[:, i, np.searchsorted(self.sizes_, size)] = share
        none = dict(_probabilities(self.models_[-1], X))
        return P, np.broadcast_to(none.get(1, 0.0), len(X)).astype(float)

    def _marginals(self, X):
        if self.rule == "GFM":
            return super()._marginals(X)
        shares = [dict(_probabilities(model, X)).get(1, 0.0) for model in self.models_]
        return np.column_stack([np.broadcast_to(share, len(X)) for share in shares])

    def _sets(self, X):
        if self.rule == "GFM":
            return super()._sets(X)
        # One column is enough: MM and FM look at the marginals alone.
        return rule_sets(self._marginals(X)[:, :, None], np.zeros(len(X)), np.ones(1), self.rule, self.allow_empty_)


def _fit_one(base, X, target):
    """A fitted classifier, or the only class."""
    classes = np.unique(target)
    return int(classes[0]) if len(classes) == 1 else clone(base).fit(X, target)


def _probabilities(model, X):
    """Pairs (class, probability of each row) for the classes other than 0."""
    if isinstance(model, int):
        return [(model, 1.0)] if model else []
    shares = model.predict_proba(X)
    return [(int(c), shares[:, j]) for j, c in enumerate(model.classes_) if c]
