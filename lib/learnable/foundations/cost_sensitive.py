"""scikit-learn meta-estimators that decide by cost, or decline to decide.

Both wrap a classifier with ``predict_proba`` and change nothing but the step from probabilities to
decisions. How good they are depends on how good the probabilities are: where those are off,
calibrate first (``sklearn.calibration.CalibratedClassifierCV``).
"""

import warnings

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from learnable.problems.decisions import bayes_conditional_risk, bayes_decision, decide, loss_from_costs
from learnable.problems.reject import coverage_threshold
from learnable.problems.tables import check_loss_matrix, check_posteriors
from learnable.validation import (
    NO_SENTINEL,
    check_class_labels,
    check_scalar,
    check_seed,
    check_sentinel,
    check_weights,
    decode_labels,
    encode_labels,
)

__all__ = ["CostSensitiveClassifier", "RejectClassifier"]


def _inner_has(name):
    def check(self):
        return hasattr(getattr(self, "estimator_", self.estimator), name)

    return check


class _DecisionClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fits the inner classifier and holds the loss; what is decided is left to subclasses."""

    @property
    def classes_(self):
        """The class labels, in the order of the columns of ``predict_proba`` and of the loss."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self):
        """Number of features seen during fit, if the inner estimator tells."""
        return self._fitted_attribute("n_features_in_")

    @property
    def feature_names_in_(self):
        """Names of the features seen during fit, if the inner estimator tells."""
        return self._fitted_attribute("feature_names_in_")

    def predict_proba(self, X):
        """Return the class probabilities of the inner estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        ndarray of shape (n, k)
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_inner_has("predict_log_proba"))
    def predict_log_proba(self, X):
        """Return the logarithms of the class probabilities of the inner estimator."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X):
        """Return the decision function of the inner estimator."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def get_metadata_routing(self):
        """Return the routing: metadata of ``fit`` goes to the inner estimator's ``fit``."""
        return MetadataRouter(owner=self).add(
            estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit")
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def _fitted_attribute(self, name):
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted")
        return getattr(self.estimator_, name)

    def _prepare_fit(self, X, y, params):
        if not all(hasattr(self.estimator, name) for name in ("fit", "predict_proba")):
            raise ValueError("estimator must have the methods fit and predict_proba")
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        check_class_labels(y)
        if params and get_config()["enable_metadata_routing"]:
            params = process_routing(self, "fit", **params).estimator.fit
        return X, y, dict(params)

    def _fit_inner(self, X, y, params):
        self.estimator_ = clone(self.estimator).fit(X, y, **params)
        k = len(self.classes_)
        loss = loss_from_costs(self.loss, self.classes_) if isinstance(self.loss, dict) else self.loss
        self.loss_ = check_loss_matrix(loss, k, "loss", n_decisions=k)

    def _ask(self, question, X):
        """Put a question about posteriors and loss to the probabilities of the inner estimator."""
        post = self.predict_proba(X)
        try:
            return question(post, self.loss_)
        except ValueError:
            # Say whose probabilities they are.
            check_posteriors(post, f"predict_proba of {type(self.estimator_).__name__}", n_classes=len(self.loss_))
            raise

    def _observed_losses(self, y, decision):
        _, truth = encode_labels(y, self.classes_, "y")
        if truth.size != decision.size:
            raise ValueError(f"X and y must have one length, got {decision.size} and {truth.size}")
        return truth, self.loss_[truth, decision]


class CostSensitiveClassifier(_DecisionClassifier):
    """Decide for the class with the smallest expected cost.

    Wraps a classifier with probabilities and predicts argmin_i sum_j L[j, i] p(j|x); for two classes this
    moves the threshold from 1/2 to b/(a + b).

    Cost: that of the classifier, and O(n k²) for n decisions among k classes.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``. It is cloned and fitted; wrap a fitted one in
        ``sklearn.frozen.FrozenEstimator``.
    loss : array-like of shape (k, k), dict or None, default=None
        ``loss[j, i]`` is the cost of deciding class i when the truth is class j, in the order of
        `classes_`; or a dict ``{(truth, decision): cost}`` by label, in which a missing (c, c) is 0.
        None is 0-1 loss.

    Attributes
    ----------
    estimator_ : classifier
        The fitted inner classifier.
    classes_ : ndarray of shape (k,)
    loss_ : ndarray of shape (k, k)

    See Also
    --------
    sklearn.model_selection.FixedThresholdClassifier : two classes, a threshold instead of costs.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> y = np.where(y == 0, "malignant", "benign")
    >>> costs = {("malignant", "benign"): 20, ("benign", "malignant"): 1}
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> careful = CostSensitiveClassifier(model, loss=costs).fit(X[:400], y[:400])
    >>> careful.loss_
    array([[ 0.,  1.],
           [20.,  0.]])
    >>> plain = careful.estimator_.predict(X[400:])
    >>> missed = lambda prediction: int(((prediction == "benign") & (y[400:] == "malignant")).sum())
    >>> missed(plain) >= missed(careful.predict(X[400:]))
    True
    """

    def __init__(self, estimator, loss=None):
        self.estimator = estimator
        self.loss = loss

    def fit(self, X, y, **params):
        """Fit the inner classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
            Any labels.
        **params
            Metadata for the inner ``fit`` (``sample_weight``, say): routed if scikit-learn's metadata
            routing is enabled, else passed on.

        Returns
        -------
        self
        """
        X, y, params = self._prepare_fit(X, y, params)
        self._fit_inner(X, y, params)
        return self

    def predict(self, X):
        """Return the class of smallest expected cost for each row of X; the first one on a tie."""
        check_is_fitted(self)
        return decode_labels(self._ask(bayes_decision, X), self.classes_)

    def empirical_risk(self, X, y, sample_weight=None):
        """Return the average cost of the predictions on labelled data."""
        check_is_fitted(self)
        _, losses = self._observed_losses(y, self._ask(bayes_decision, X))
        return float(np.average(losses, weights=check_weights(sample_weight, losses.size)))


class RejectClassifier(_DecisionClassifier):
    """Decide where the expected cost is small enough, and reject elsewhere.

    Wraps a classifier with probabilities and predicts the class of smallest expected cost
    where that cost is at most `t`, else `reject_label` (Lember 2012, Section 1.3).

    Cost: that of the classifier, and O(n k²) for n decisions among k classes.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``. It is cloned and fitted; wrap a fitted one in
        ``sklearn.frozen.FrozenEstimator``.
    t : float, optional
        The largest expected cost that is accepted (equality accepts), at least 0.
    coverage : float in (0, 1], optional
        Instead of `t`, the share of cases to be answered. The threshold is then the smallest one that
        accepts at least this share of a validation set. Cases with equal expected cost are accepted
        or rejected together, so with ties the share on the validation set can be larger than asked
        for, never smaller. With neither `t` nor `coverage` nothing is rejected.
    loss : array-like of shape (k, k), dict or None, default=None
        As in :class:`CostSensitiveClassifier`.
    reject_label : number, str or None, default=-1
        What `predict` returns for a rejection. It must be no class and of the kind of the labels (a
        string for string labels); None goes with every kind and makes predictions object arrays.
    validation_fraction : float in (0, 1) or None, default=0.25
        Share of the training data set aside, stratified by class, to find the threshold for
        `coverage`. With None the threshold is found on the data passed to `fit` itself, which is right
        for a frozen estimator that has not seen them and optimistic for any other.
    random_state : None, int or Generator, default=None
        For the split.

    Attributes
    ----------
    estimator_ : classifier
        The fitted inner classifier; for `coverage`, fitted on the part not set aside.
    classes_ : ndarray of shape (k,)
    loss_ : ndarray of shape (k, k)
    t_ : float
        The threshold in use, inf if nothing is rejected.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> X = X[:, :2]
    >>> model = RejectClassifier(GaussianNB(), coverage=0.7, random_state=0).fit(X[::2], y[::2])
    >>> model.predict(X[1::30])
    array([-1,  0, -1,  1,  1, -1])
    >>> float((model.estimator_.predict(X[1::2]) != y[1::2]).mean().round(3))
    0.191
    >>> round(model.empirical_selective_risk(X[1::2], y[1::2]), 3)
    0.133
    """

    def __init__(
        self,
        estimator,
        t=None,
        coverage=None,
        loss=None,
        reject_label=-1,
        validation_fraction=0.25,
        random_state=None,
    ):
        self.estimator = estimator
        self.t = t
        self.coverage = coverage
        self.loss = loss
        self.reject_label = reject_label
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X, y, **params):
        """Fit the inner classifier, and find the threshold if a coverage is asked for.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
            Any labels.
        **params
            Metadata for the inner ``fit`` (``sample_weight``, say): routed if scikit-learn's metadata
            routing is enabled, else passed on. With a validation split, arrays as long as y are split
            with it.

        Returns
        -------
        self
        """
        if self.t is not None and self.coverage is not None:
            raise ValueError("t and coverage exclude each other")
        t = np.inf if self.t is None else check_scalar(self.t, "t", low=0)
        if self.coverage is not None:
            check_scalar(self.coverage, "coverage", low=0, high=1, closed="right")
        X, y, params = self._prepare_fit(X, y, params)
        if self._may_reject:
            check_sentinel(self.reject_label, encode_labels(y)[0])
        if self.coverage is None:
            self._fit_inner(X, y, params)
            self.t_ = t
            return self
        train, held_out, params = self._split(X, y, params)
        self._fit_inner(*train, params)
        self.t_ = coverage_threshold(self._ask(bayes_conditional_risk, held_out), self.coverage)
        return self

    def predict(self, X):
        """Return a class for each row of X, or `reject_label`."""
        check_is_fitted(self)
        decision, risk = self._ask(decide, X)
        decision[risk > self.t_] = -1
        sentinel = self.reject_label if self._may_reject else NO_SENTINEL
        return decode_labels(decision, self.classes_, sentinel=sentinel)

    def accepts(self, X):
        """Return whether each row of X gets an answer."""
        return self.expected_cost(X) <= self.t_

    def expected_cost(self, X):
        """Return min_i R(i|x), the expected cost of the best class for each row of X."""
        check_is_fitted(self)
        return self._ask(bayes_conditional_risk, X)

    def score(self, X, y, sample_weight=None):
        """Return the share of rows that are accepted and classified correctly."""
        decision, accepted, truth, _, weights = self._outcome(X, y, sample_weight)
        return float(np.average(accepted & (decision == truth), weights=weights))

    def empirical_coverage(self, X):
        """Return the share of rows that are accepted."""
        return float(self.accepts(X).mean())

    def empirical_risk(self, X, y, sample_weight=None, reject_cost=0.0):
        """Return the average cost on labelled data, with `reject_cost` for a rejection.

        With the default it is the accepted risk, a mass: rejected rows count as free. With
        ``reject_cost=t`` it is what the rule g_t minimises.
        """
        check_is_fitted(self)
        reject_cost = check_scalar(reject_cost, "reject_cost", low=0)
        _, accepted, _, losses, weights = self._outcome(X, y, sample_weight)
        return float(np.average(np.where(accepted, losses, reject_cost), weights=weights))

    def empirical_selective_risk(self, X, y, sample_weight=None):
        """Return the average cost of the accepted rows; NaN, with a warning, if none is accepted."""
        check_is_fitted(self)
        _, accepted, _, losses, weights = self._outcome(X, y, sample_weight)
        weights = np.ones(losses.size) if weights is None else weights
        if not weights[accepted].sum() > 0:
            warnings.warn("no row is accepted, the selective risk is not defined", UndefinedMetricWarning, stacklevel=2)
            return float("nan")
        return float(np.average(losses[accepted], weights=weights[accepted]))

    @property
    def _may_reject(self):
        return self.t is not None or self.coverage is not None

    def _outcome(self, X, y, sample_weight):
        check_is_fitted(self)
        decision, risk = self._ask(decide, X)
        truth, losses = self._observed_losses(y, decision)
        return decision, risk <= self.t_, truth, losses, check_weights(sample_weight, losses.size)

    def _split(self, X, y, params):
        if self.validation_fraction is None:
            return (X, y), X, params
        share = check_scalar(self.validation_fraction, "validation_fraction", low=0, high=1, closed="neither")
        aligned = [name for name, value in params.items() if np.ndim(value) > 0 and len(value) == len(y)]
        parts = train_test_split(
            X,
            y,
            *(params[name] for name in aligned),
            test_size=share,
            stratify=y,
            random_state=check_seed(self.random_state),
        )
        split = dict(zip(aligned, parts[4::2], strict=True))
        return (parts[0], parts[2]), parts[1], {**params, **split}
