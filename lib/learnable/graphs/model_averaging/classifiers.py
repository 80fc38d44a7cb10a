"""The four classifiers of the source in scikit-learn's protocol: naive and general, one structure and averaged.

Features are codes of states 0, 1, ...; `OrdinalEncoder` makes them from words and `KBinsDiscretizer` from numbers. When
a row is classified, -1 stands for a value that is missing or unknown, and is summed out.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import expit, gammaln
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from learnable.graphs.discrete import check_codes
from learnable.graphs.model_averaging.averaging import average_over_order, single_structure
from learnable.graphs.model_averaging.search import greedy_thick_thin
from learnable.validation import check_choice, check_class_labels, check_rng, check_scalar, decode_labels, encode_labels


class _DiscreteClassifier(ClassifierMixin, BaseEstimator):
    """Checks and labels that the four share."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def _training(self, X, y):
        check_choice(self.kind, "kind", ("k2", "bdeu"))
        check_scalar(self.equivalent_sample_size, "equivalent_sample_size", low=0, closed="neither")
        X, y = validate_data(self, X, y)
        check_class_labels(y)
        check_non_negative(X, f"{type(self).__name__} (missing values are not accepted by fit)")
        X, self.n_states_ = check_codes(X, self.n_states, "X")
        if self.n_states is None:
            self._warn_of_gaps(X)
        self.classes_, codes = encode_labels(y)
        return X, codes

    def _warn_of_gaps(self, X):
        """Codes such as 0, 5 and 10 are read as eleven states, of which those that never occur count in the prior."""
        for j, r in enumerate(self.n_states_):
            occur = np.count_nonzero(np.bincount(X[:, j], minlength=r))
            if r > 2 * occur + 1:
                warnings.warn(
                    f"X has codes up to {r - 1} in column {j}, of which only {occur} occur, and the prior counts all "
                    f"{r} as states: number them anew, as OrdinalEncoder does, or give n_states",
                    stacklevel=4,
                )
                return

    def _rows(self, X):
        """Codes of the rows to classify, -1 where a value is not known."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        unknown = X == -1
        codes, _ = check_codes(np.where(unknown, 0, X), None, "X")
        beyond = codes.max(axis=0, initial=0) >= np.array(self.n_states_)
        if beyond.any():
            j = int(np.flatnonzero(beyond)[0])
            raise ValueError(
                f"X has the unknown state {codes[:, j].max()} in column {j}, which had {self.n_states_[j]} states in "
                "fit: give n_states, or -1 for a value that is not known"
            )
        return np.where(unknown, -1, codes)

    def predict(self, X):
        """The most probable class of each row."""
        return decode_labels(self.predict_proba(X).argmax(axis=1), self.classes_)

    def predict_log_proba(self, X):
        """Logs of the probabilities of the classes."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class _Naive(_DiscreteClassifier):
    """Counts, the two scores of each feature, and tables that mix the two."""

    def fit(self, X, y):
        """Count states by class, weigh the arc to each feature, and mix its two tables. O(n N)."""
        X, y = self._training(X, y)
        n_classes, r = len(self.classes_), np.array(self.n_states_)
        starts = np.concatenate([[0], np.cumsum(n_classes * r)])
        per_class = np.bincount(y, minlength=n_classes).astype(float)
        counts = np.bincount((starts[:-1] + y[:, None] * r + X).ravel(), minlength=starts[-1]).astype(float)
        owner = np.repeat(np.arange(len(r)), n_classes * r)
        inside = np.arange(starts[-1]) - starts[:-1][owner]
        state_of = np.concatenate([[0], np.cumsum(r)])[:-1][owner] + inside % r[owner]
        alone = np.bincount(state_of, weights=counts, minlength=r.sum())

        ess = self.equivalent_sample_size
        a_class = np.ones(len(r)) if self.kind == "k2" else ess / (n_classes * r)
        a_none = np.ones(len(r)) if self.kind == "k2" else ess / r
        class_of = inside // r[owner]
        with_arc = _by_feature(gammaln(a_class[owner] + counts) - gammaln(a_class[owner]), owner, len(r))
        whole = (a_class * r)[:, None]
        with_arc += (gammaln(whole) - gammaln(whole + per_class)).sum(axis=1)
        feature = np.repeat(np.arange(len(r)), r)
        without = _by_feature(gammaln(a_none[feature] + alone) - gammaln(a_none[feature]), feature, len(r))
        without += gammaln(a_none * r) - gammaln(a_none * r + len(y))

        self.arc_gain_ = with_arc - without
        self.arc_posterior_ = self._weights(self.arc_gain_)
        table = (a_class[owner] + counts) / ((a_class * r)[owner] + per_class[class_of])
        shared = ((a_none[feature] + alone) / ((a_none * r)[feature] + len(y)))[state_of]
        weight = self.arc_posterior_[owner]
        self._starts, self._log_table = starts[:-1], np.log(weight * table + (1 - weight) * shared)
        a = 1.0 if self.kind == "k2" else ess / n_classes
        self.class_log_prior_ = np.log((a + per_class) / (a * n_classes + len(y)))
        return self

    def predict_proba(self, X):
        """Probabilities of the classes; a value of -1 leaves its factor out."""
        X = self._rows(X)
        # A feature without an arc has one factor for all classes. It cancels exactly only when it is left out:
        # in a sum of logs, rounding would separate rows that agree in all features that count.
        r, known = np.array(self.n_states_), (X >= 0) & (self.arc_posterior_ > 0)
        place = self._starts + np.where(known, X, 0)
        scores = [
            prior + np.where(known, self._log_table[place + c * r], 0.0).sum(axis=1)
            for c, prior in enumerate(self.class_log_prior_)
        ]
        return _normalised(np.column_stack(scores))

    def feature_table(self, feature):
        """P(state | class) of one feature: an array of shape (n_classes, n_states)."""
        check_is_fitted(self)
        feature = check_scalar(feature, "feature", low=0, high=len(self.n_states_) - 1, integer=True)
        size = len(self.classes_) * self.n_states_[feature]
        start = self._starts[feature]
        return np.exp(self._log_table[start : start + size]).reshape(len(self.classes_), -1)


class NMAClassifier(_Naive):
    """Naive Bayes averaged over all 2^N sets of features, exactly and in linear time.

    For each feature the arc from the class is in or out, independently of the others, with posterior odds given by two
    local scores. The average over all subsets is one naive Bayes classifier whose table for feature i is

        w_i P(state | class) + (1 - w_i) P(state).

    Parameters
    ----------
    kind : {"k2", "bdeu"}, default="k2"
        Dirichlet prior of the tables: all ones, or ess spread evenly.
    equivalent_sample_size : float, default=1.0
        The ess of BDeu.
    arc_prior : float, default=0.5
        Prior probability of each arc; 1/2 is uniform over the subsets.
    n_states : int or sequence of int, optional
        Number of states of the features; by default one more than the largest code of each in
        `fit`, with a warning where codes leave large gaps.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    arc_posterior_ : ndarray of shape (N,)
        The weights w_i: the probability that a feature depends on the class.
    arc_gain_ : ndarray of shape (N,)
        Log marginal likelihood of a feature with the arc, minus without.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logs of the posterior means of the class probabilities.
    n_states_ : tuple of int
        Number of states of each feature.

    Notes
    -----
    Dash and Cooper 2004, (19). Training O(n N), prediction as for naive Bayes.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(40) % 2
    >>> X = np.column_stack([y, np.arange(40) // 2 % 2])
    >>> model = NMAClassifier().fit(X, y)
    >>> model.arc_posterior_.round(2)
    array([1.  , 0.27])
    """

    _takes = "codes of states"

    def __init__(self, *, kind="k2", equivalent_sample_size=1.0, arc_prior=0.5, n_states=None):
        self.kind = kind
        self.equivalent_sample_size = equivalent_sample_size
        self.arc_prior = arc_prior
        self.n_states = n_states

    def fit(self, X, y):
        """Count states by class, weigh the arc to each feature, and mix its two tables. O(n N).

        Parameters
        ----------
        X : array-like of int of shape (n, N)
            Codes of states.
        y : array-like of shape (n,)
            Labels.
        """
        check_scalar(self.arc_prior, "arc_prior", low=0, high=1, closed="neither")
        return super().fit(X, y)

    def _weights(self, gain):
        return expit(gain + np.log(self.arc_prior) - np.log1p(-self.arc_prior))


class SNNClassifier(_Naive):
    """One naive Bayes network: with the most probable set of features, or with all of them.

    The scores of the features do not depend on each other, so the best subset keeps each feature whose score rises
    with the arc: greedy selection finds the optimum over all 2^N subsets.

    Parameters
    ----------
    select : bool, default=True
        Select features; False keeps all (SNN-all).
    kind : {"k2", "bdeu"}, default="k2"
        Dirichlet prior of the tables.
    equivalent_sample_size : float, default=1.0
        The ess of BDeu.
    n_states : int or sequence of int, optional
        Number of states of the features; by default one more than the largest code of each in
        `fit`, with a warning where codes leave large gaps.

    Attributes
    ----------
    classes_, arc_gain_, class_log_prior_, n_states_
        As in :class:`NMAClassifier`.
    arc_posterior_ : ndarray of shape (N,)
        One for the features that are kept, else zero.

    Notes
    -----
    Dash and Cooper 2004, Sec. 4.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(40) % 2
    >>> X = np.column_stack([y, np.arange(40) // 2 % 2])
    >>> SNNClassifier().fit(X, y).arc_posterior_
    array([1., 0.])
    """

    _takes = "codes of states"

    def __init__(self, *, select=True, kind="k2", equivalent_sample_size=1.0, n_states=None):
        self.select = select
        self.kind = kind
        self.equivalent_sample_size = equivalent_sample_size
        self.n_states = n_states

    def _weights(self, gain):
        return np.where(gain > 0, 1.0, 0.0) if self.select else np.ones(len(gain))


class _General(_DiscreteClassifier):
    """Classifiers by networks over the class, column 0, and the features."""

    def _joined(self, X, y):
        X, y = self._training(X, y)
        return np.column_stack([y, X]), (len(self.classes_), *self.n_states_)

    def predict_proba(self, X):
        """Probabilities of the classes; values of -1 are summed out by variable elimination, row by row."""
        X = self._rows(X)
        rows = np.column_stack([np.zeros(len(X), dtype=np.int64), X])
        complete = (X >= 0).all(axis=1)
        out = np.empty((len(X), len(self.classes_)))
        if complete.any():
            out[complete] = np.mean([m.predict_proba(rows[complete], 0) for m in self.models_], axis=0)
        if not complete.all():
            networks = [m.summary_network() for m in self.models_]
            for row in np.flatnonzero(~complete):
                evidence = {j + 1: int(s) for j, s in enumerate(X[row]) if s >= 0}
                out[row] = np.mean([network.query([0], evidence).values for network in networks], axis=0)
        return out


class GTTClassifier(_General):
    """One Bayesian network over class and features, found by greedy thick-thin search.

    Parameters
    ----------
    max_parents : int, optional
        Bound on the number of parents; by default none.
    kind : {"k2", "bdeu"}, default="k2"
        Dirichlet prior of the tables.
    equivalent_sample_size : float, default=1.0
        The ess of BDeu.
    n_states : int or sequence of int, optional
        Number of states of the features; by default one more than the largest code of each in
        `fit`, with a warning where codes leave large gaps.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    dag_ : DAG
        The structure; node 0 is the class, node j + 1 feature j.
    models_ : list
        The one network, as an average of one structure.
    n_states_ : tuple of int
        Number of states of each feature.
    n_iter_ : int
        Arcs added and removed.

    Notes
    -----
    Dash and Cooper 2004, Procedure 2.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20)
    >>> GTTClassifier().fit(X, X[:, 0]).predict([[0, 1], [1, 1]])
    array([0, 1])
    """

    _takes = "codes of states"

    def __init__(self, *, max_parents=None, kind="k2", equivalent_sample_size=1.0, n_states=None):
        self.max_parents = max_parents
        self.kind = kind
        self.equivalent_sample_size = equivalent_sample_size
        self.n_states = n_states

    def fit(self, X, y):
        """Search for a structure, and keep its posterior mean tables.

        Parameters
        ----------
        X : array-like of int of shape (n, N)
            Codes of states.
        y : array-like of shape (n,)
            Labels.
        """
        data, r = self._joined(X, y)
        options = {"kind": self.kind, "equivalent_sample_size": self.equivalent_sample_size}
        found = greedy_thick_thin(data, r, max_parents=self.max_parents, **options)
        self.dag_, self.n_iter_ = found.dag, max(found.n_iter, 1)
        self.models_ = [single_structure(data, found.dag, r, self.kind, self.equivalent_sample_size)]
        return self


class AMAClassifier(_General):
    """Approximate model averaging: all structures along an order, inside capped unions of parents.

    Parameters
    ----------
    max_parents : int, default=3
        The bound k on the parents of a node in the structures that are averaged.
    max_union : int, default=10
        The bound n on the parents of a node in the one network that summarises them.
    order : {"gtt", "random", "two_opposite"} or sequence of int, default="gtt"
        A topological order of the greedy network; a random order; a random order and its reverse, whose predictions
        are averaged; or an order of the columns, where 0 is the class and j + 1 feature j.
    kind : {"k2", "bdeu"}, default="k2"
        Dirichlet prior of the tables.
    equivalent_sample_size : float, default=1.0
        The ess of BDeu.
    n_states : int or sequence of int, optional
        Number of states of the features; by default one more than the largest code of each in
        `fit`, with a warning where codes leave large gaps.
    random_state : None, int or numpy.random.Generator
        Randomness of the orders.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    models_ : list of OrderedAverage
        One average, or two for opposite orders; node 0 is the class.
    arc_posterior_ : ndarray of shape (N + 1, N + 1)
        Posterior probability of each arc, mean over `models_`.
    n_states_ : tuple of int
        Number of states of each feature.

    Notes
    -----
    Dash and Cooper 2004, Sec. 3.2. Training enumerates about N^(k + 1) / (k + 1)! parent sets.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20)
    >>> model = AMAClassifier(max_parents=2).fit(X, X[:, 0] ^ X[:, 1])
    >>> model.predict([[0, 1], [1, 1]])
    array([1, 0])
    """

    _takes = "codes of states"

    def __init__(
        self,
        *,
        max_parents=3,
        max_union=10,
        order="gtt",
        kind="k2",
        equivalent_sample_size=1.0,
        n_states=None,
        random_state=None,
    ):
        self.max_parents = max_parents
        self.max_union = max_union
        self.order = order
        self.kind = kind
        self.equivalent_sample_size = equivalent_sample_size
        self.n_states = n_states
        self.random_state = random_state

    def fit(self, X, y):
        """Choose the order, enumerate the parent sets along it, and cap their unions.

        Parameters
        ----------
        X : array-like of int of shape (n, N)
            Codes of states.
        y : array-like of shape (n,)
            Labels.
        """
        check_scalar(self.max_parents, "max_parents", low=0, integer=True)
        check_scalar(self.max_union, "max_union", low=0, integer=True)
        if isinstance(self.order, str):
            check_choice(self.order, "order", ("gtt", "random", "two_opposite"))
        rng = check_rng(self.random_state)
        data, r = self._joined(X, y)
        options = {"kind": self.kind, "equivalent_sample_size": self.equivalent_sample_size}
        if not isinstance(self.order, str):
            orders = [self.order]
        elif self.order == "gtt":
            orders = [greedy_thick_thin(data, r, **options).dag.topological_order]
        else:
            order = rng.permutation(data.shape[1])
            orders = [order] if self.order == "random" else [order, order[::-1]]
        averages = [average_over_order(data, order, self.max_parents, n_states=r, **options) for order in orders]
        self.models_ = [average.capped(self.max_union) for average in averages]
        self.arc_posterior_ = np.mean([model.edge_posterior for model in self.models_], axis=0)
        return self


def _by_feature(terms, owner, n_features):
    return np.bincount(owner, weights=terms, minlength=n_features)


def _normalised(scores):
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)
