"""The co-boosting loop, its special cases, and late fusion.

In every round each view trains several weak classifiers on random subsets of its dimensions and keeps the best one;
then all views together decide which instances count more in the next round (Wu and Cheng 2014, Alg. 1).
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.ensembles.coboosting.models import HMMClassifier
from learnable.ensembles.coboosting.sequences import Sequences, checked_classes, is_list_of_tables, stack_sequences
from learnable.ensembles.coboosting.update import coboost_update
from learnable.validation import check_choice, check_finite_array, check_has, check_magnitude, check_rng, check_scalar


class _MultiView(ClassifierMixin, BaseEstimator):
    """Views as they come: a table stands for one view, a list of tables or of lists of sequences for several."""

    def _read(self, X, *, reset):
        """A list of views, each a table (n, d) or Sequences, cut to those that are used."""
        if isinstance(X, (list, tuple)) and len(X) and all(_is_view(x) for x in X):
            views = [_view(x, f"X[{v}]") for v, x in enumerate(X)]
            if len({len(view) for view in views}) > 1:
                raise ValueError(
                    f"X must hold views of the same instances, got {[len(view) for view in views]} of them"
                )
        elif isinstance(X, Sequences) or getattr(X, "ndim", 2) == 3:
            views = [stack_sequences(X)]
        else:
            views = [validate_data(self, X, reset=reset, dtype=np.float64, ensure_min_samples=1)]
            check_magnitude(views[0], "X", smallest=0.0)
        widths = [_width(view) for view in views]
        if reset:
            self.n_features_in_, self._widths = sum(widths), widths
        elif widths != self._widths:
            raise ValueError(
                f"X has {sum(widths)} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                f"as input: views of {self._widths}, got {widths}"
            )
        return views

    def _weak(self, view):
        if self.weak is not None:
            return self.weak
        return HMMClassifier() if isinstance(view, Sequences) else DecisionTreeClassifier(max_depth=3)

    def _train(self, view, codes, weights, seed):
        """One weak classifier on one view."""
        made = clone(self._weak(view))
        if "random_state" in made.get_params():
            made.set_params(random_state=seed)
        return made.fit(view, codes) if weights is None else made.fit(view, codes, sample_weight=weights)


class BayesianCoBoost(_MultiView):
    """Boosting of several views with weights that they update together (Wu and Cheng 2014, Alg. 1).

    The strong classifier is argmax_c Σ_t Σ_v a_tv 1{h_tv(x) = c} with a_tv = ln((1 - ε_tv) / ε_tv), where ε_tv is the
    weighted training error of the weak classifier of round t and view v.

    Parameters
    ----------
    weak : classifier or None, default=None
        Weak learner of every view, with ``fit(X, y, sample_weight)`` and ``predict``. None stands for
        :class:`HMMClassifier` where a view consists of sequences, and for a decision tree of depth 3 where it is a
        table.
    n_rounds : int, default=20
    n_candidates : int or sequence of int, default=5
        How many random subsets each view tries in a round; one number for all views, or one for each. With 1 the view
        uses all its dimensions, as in the source.
    feature_ratio : float or sequence of float, default=0.5
        Share of a view's dimensions in a subset, rounded, at least one dimension.
    use : sequence of int or None, default=None
        Which views to use; None for all.
    update : {"joint", "adaboost"}, default="joint"
        How weights change: by the joint Bayesian update, or (one view only) as in AdaBoost, where the weight of a
        mistake is multiplied by exp(a_tv). The source uses the latter for a single view.
    vote : {"plain", "samme"}, default="plain"
        The vote a_tv, or a_tv + ln(C - 1), which is positive as soon as a classifier is better than guessing. With
        the joint update it is read when predicting, like `decision`, and may be changed after fitting.
    decision : {"vote", "posterior"}, default="vote"
        The weighted vote, or the class with the smallest log-odds against it (joint update only).
    smoothing : float, default=0.5
        See :func:`coboost_update`.
    random_state : None, int or Generator

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    estimators_ : list of list
        Weak classifier of each round and view.
    features_ : list of list
        The dimensions that it uses, as indices; None for all.
    vote_weights_ : ndarray of shape (n_rounds, V)
    weighted_errors_ : ndarray of shape (n_rounds, V)
    feature_counts_ : list of ndarray
        How often each dimension of each view is used by the chosen classifiers.
    view_shares_ : ndarray of shape (V,)
        Share of each view in the sum of the votes.
    weight_path_ : ndarray of shape (n_rounds + 1, n)
        Weights of the training instances before each round, and after the last.
    bounds_, class_errors_ : ndarray of shape (n_rounds, C)
        Bound and number of errors of each class after each round (joint update only).
    ratios_ : ndarray of shape (n_rounds, C, V, 2)
        Likelihood ratios of each round (joint update only).

    Notes
    -----
    Costs Σ_v n_candidates weak classifiers in a round. A classifier with ε ≥ 1/2 has no vote under "plain"; should all
    have none, all votes are equal. ε is kept above 1/(2n), so that a perfect classifier has a finite vote.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 40)
    >>> views = [y[:, None] + rng.normal(size=(120, 3)), 2 * (y[:, None] == 1) + rng.normal(size=(120, 4))]
    >>> model = BayesianCoBoost(n_rounds=5, random_state=0).fit(views, y)
    >>> bool((np.diff(model.bounds_, axis=0) <= 1e-9).all()), len(model.estimators_)
    (True, 5)
    """

    def __init__(
        self,
        weak=None,
        *,
        n_rounds=20,
        n_candidates=5,
        feature_ratio=0.5,
        use=None,
        update="joint",
        vote="plain",
        decision="vote",
        smoothing=0.5,
        random_state=None,
    ):
        self.weak = weak
        self.n_rounds = n_rounds
        self.n_candidates = n_candidates
        self.feature_ratio = feature_ratio
        self.use = use
        self.update = update
        self.vote = vote
        self.decision = decision
        self.smoothing = smoothing
        self.random_state = random_state

    def fit(self, X, y):
        """Train all rounds.

        Parameters
        ----------
        X : list of views, or one view
            A view is a table (n, d), or sequences: a list of arrays (length, d), an array (n, length, d) or
            Sequences. A single table or array is one view; a list is a list of views.
        y : array-like of shape (n,)

        Returns
        -------
        BayesianCoBoost
        """
        if self.weak is not None:
            check_has(self.weak, "weak", "fit predict get_params", "a classifier in scikit-learn's protocol")
        check_scalar(self.n_rounds, "n_rounds", low=1, integer=True)
        for name, words in (
            ("update", ("joint", "adaboost")),
            ("vote", ("plain", "samme")),
            ("decision", ("vote", "posterior")),
        ):
            check_choice(getattr(self, name), name, words)
        smoothing = check_scalar(self.smoothing, "smoothing", low=0)
        rng = check_rng(self.random_state)
        views = self._read(X, reset=True)
        self._used = _checked_use(self.use, len(views))
        views = [views[v] for v in self._used]
        self.classes_, codes = checked_classes(y, len(views[0]))
        C = len(self.classes_)
        if C < 2:
            raise ValueError(f"y must have at least two classes, got one class: {self.classes_[0]!r}")
        if self.update == "adaboost" and (len(views) > 1 or self.decision == "posterior"):
            raise ValueError("update must be 'joint' for several views, or for decision='posterior'")
        plan = self._plan(views)
        return self._rounds(views, codes, plan, smoothing, rng)

    def _plan(self, views):
        """Number of candidates and size of the subsets of each view; None stands for all dimensions."""
        counts = _for_each(self.n_candidates, "n_candidates", len(views), self._used)
        ratios = _for_each(self.feature_ratio, "feature_ratio", len(views), self._used)
        plan = []
        for view, count, ratio in zip(views, counts, ratios, strict=True):
            count = check_scalar(count, "n_candidates", low=1, integer=True)
            ratio = check_scalar(ratio, "feature_ratio", low=0, high=1, closed="right")
            size = max(1, int(np.floor(ratio * _width(view) + 0.5)))
            plan.append((count, None if count == 1 else size))
        return plan

    def _rounds(self, views, codes, plan, smoothing, rng):
        n, C = len(codes), len(self.classes_)
        weights, log_odds = np.full(n, 1 / n), np.full((n, C), np.log(C - 1.0))
        self.estimators_, self.features_, errors, updates, path = [], [], [], [], [weights]
        for _ in range(self.n_rounds):
            chosen = [self._best(view, codes, weights, *plan[v], rng) for v, view in enumerate(views)]
            self.estimators_.append([made for made, _, _, _ in chosen])
            self.features_.append([columns for _, columns, _, _ in chosen])
            predictions = np.stack([said for _, _, said, _ in chosen])
            errors.append([error for _, _, _, error in chosen])
            if self.update == "joint":
                made = coboost_update(log_odds, predictions, codes, smoothing=smoothing)
                log_odds, weights = made.log_odds, made.weights
                updates.append(made)
            else:
                # Viola and Jones: what is right is multiplied by ε / (1 - ε), and the rest by one.
                weights = weights * np.where(predictions[0] == codes, np.exp(-self._votes(errors[-1][0], n, C)), 1.0)
                weights = weights / weights.sum()
            path.append(weights)
        self.weighted_errors_, self.weight_path_ = np.array(errors), np.array(path)
        self.feature_counts_ = [self._counts(v, _width(view)) for v, view in enumerate(views)]
        if updates:
            self.bounds_, self.class_errors_ = (
                np.array([getattr(u, a) for u in updates]) for a in ("bounds", "errors")
            )
            self.ratios_ = np.array([u.ratios for u in updates])
        return self

    def _best(self, view, codes, weights, count, size, rng):
        """The candidate with the smallest weighted error: classifier, dimensions, predictions, error."""
        best = None
        for _ in range(count):
            columns = None if size is None else np.sort(rng.choice(_width(view), size, replace=False))
            made = self._train(_columns(view, columns), codes, weights, int(rng.integers(2**31)))
            said = np.asarray(made.predict(_columns(view, columns)))
            error = float(weights @ (said != codes))
            if best is None or error < best[3]:
                best = (made, columns, said.astype(np.int64), error)
        return best

    def _votes(self, error, n, C):
        kept = np.clip(error, 0.5 / n, 1 - 0.5 / n)
        return np.log((1 - kept) / kept) + (np.log(C - 1.0) if self.vote == "samme" else 0.0)

    @property
    def vote_weights_(self):
        """Votes of each round and view, shape (n_rounds, V), by the rule that `vote` names."""
        check_is_fitted(self, "weighted_errors_")
        votes = np.maximum(self._votes(self.weighted_errors_, self.weight_path_.shape[1], len(self.classes_)), 0.0)
        return votes if votes.sum() > 0 else np.ones_like(votes)

    @property
    def view_shares_(self):
        """Share of each view in the sum of the votes, shape (V,)."""
        return self.vote_weights_.sum(axis=0) / self.vote_weights_.sum()

    def _counts(self, v, width):
        used = [chosen[v] for chosen in self.features_]
        return sum(np.ones(width, int) if c is None else np.bincount(c, minlength=width) for c in used)

    def _predictions(self, X):
        """What every weak classifier says, codes of shape (n_rounds, V, n)."""
        check_is_fitted(self, "estimators_")
        views = self._read(X, reset=False)
        views = [views[v] for v in self._used]
        return np.stack(
            [
                [
                    np.asarray(made.predict(_columns(view, columns)))
                    for made, columns, view in zip(row, chosen, views, strict=True)
                ]
                for row, chosen in zip(self.estimators_, self.features_, strict=True)
            ]
        ).astype(np.int64)

    def staged_scores(self, X):
        """Scores (n_rounds, n, C) after each round: sums of votes, or log-odds for each class if `decision` says so."""
        said = self._predictions(X)
        hits = said[..., None] == np.arange(len(self.classes_))
        if self.decision == "posterior":
            moves = np.log(np.moveaxis(self.ratios_, 1, 2))[:, :, None]
            gains = np.where(hits, moves[..., 0], moves[..., 1])
            return gains.sum(axis=1).cumsum(axis=0) - np.log(len(self.classes_) - 1.0)
        return (self.vote_weights_[:, :, None, None] * hits).sum(axis=1).cumsum(axis=0)

    def staged_predict(self, X):
        """Predictions of the first 1, 2, ... rounds, shape (n_rounds, n)."""
        check_is_fitted(self, "classes_")
        return self.classes_[self.staged_scores(X).argmax(axis=2)]

    def predict(self, X):
        """Predictions of all rounds."""
        return self.staged_predict(X)[-1]


class LateFusion(_MultiView):
    """Two classifiers, one for each view, whose posterior probabilities are averaged (the baseline M1+M2).

    The score of a class is s P_1(c | x) + (1 - s) P_2(c | x), with s among `shares` chosen by cross-validation on the
    training set; or P_1^s P_2^(1-s), which for s = 1/2 decides as if the views were independent given the class.

    Parameters
    ----------
    weak : classifier or None, default=None
        With ``predict_proba``; None stands for the same learners as in :class:`BayesianCoBoost`.
    rule : {"sum", "product"}, default="sum"
    shares : sequence of float or None, default=None
        Candidates for s; None for 0, 0.1, ..., 1, as in the source.
    cv : int, default=5
        Folds for the choice of s.
    random_state : None, int or Generator
        For the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    estimators_ : list of classifier
    share_ : float
        The chosen s; of several that are best, the one nearest to 1/2.
    cv_accuracies_ : ndarray
        Accuracy of each candidate.

    Notes
    -----
    Trains 2 (cv + 1) classifiers. The source adds likelihoods P(x | c), whose scales differ from view to view by many
    orders of magnitude; posterior probabilities with equal priors are what can be averaged.

    Examples
    --------
    >>> y = np.repeat([0, 1], 20)
    >>> views = [y[:, None] + np.arange(40.0)[:, None] % 3, y[:, None] * 1.0]
    >>> LateFusion(shares=[0, 1], random_state=0).fit(views, y).share_
    0.0
    """

    def __init__(self, weak=None, *, rule="sum", shares=None, cv=5, random_state=None):
        self.weak = weak
        self.rule = rule
        self.shares = shares
        self.cv = cv
        self.random_state = random_state

    def fit(self, X, y):
        """Choose the share by cross-validation, then train on everything.

        Parameters
        ----------
        X : list of two views, or one view
            As for :class:`BayesianCoBoost`. With one view there is nothing to fuse, and its share is 1.
        y : array-like of shape (n,)

        Returns
        -------
        LateFusion
        """
        if self.weak is not None:
            check_has(self.weak, "weak", "fit predict_proba get_params", "a classifier with predict_proba")
        check_choice(self.rule, "rule", ("sum", "product"))
        shares = np.linspace(0, 1, 11) if self.shares is None else check_finite_array(self.shares, "shares", ndim=1)
        if len(shares) == 0 or shares.min() < 0 or shares.max() > 1:
            raise ValueError(f"shares must be numbers from 0 to 1, at least one, got {self.shares!r}")
        cv = check_scalar(self.cv, "cv", low=2, integer=True)
        rng = check_rng(self.random_state)
        views = self._read(X, reset=True)
        if len(views) > 2:
            raise ValueError(f"X must hold at most two views, got {len(views)}")
        self.classes_, codes = checked_classes(y, len(views[0]))
        seed = int(rng.integers(2**31))
        if len(views) == 1:
            self.share_, self.cv_accuracies_ = 1.0, np.full(len(shares), np.nan)
        else:
            self.cv_accuracies_ = self._accuracies(views, codes, shares, cv, seed)
            best = np.flatnonzero(self.cv_accuracies_ >= self.cv_accuracies_.max() - 1e-12)
            self.share_ = float(shares[best[np.abs(shares[best] - 0.5).argmin()]])
        self.estimators_ = [self._train(view, codes, None, seed) for view in views]
        return self

    def _accuracies(self, views, codes, shares, cv, seed):
        folds = min(cv, int(np.bincount(codes).min()))
        if folds < 2:
            raise ValueError("y must have at least two instances of each class to choose the share by cross-validation")
        right = np.zeros(len(shares))
        for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(codes, codes):
            made = [self._train(_rows(view, train), codes[train], None, seed) for view in views]
            tables = [m.predict_proba(_rows(view, test)) for m, view in zip(made, views, strict=True)]
            for i, share in enumerate(shares):
                right[i] += np.count_nonzero(self._fused(tables, share).argmax(axis=1) == codes[test])
        return right / len(codes)

    def _fused(self, tables, share):
        if len(tables) == 1:
            return tables[0]
        if self.rule == "sum":
            return share * tables[0] + (1 - share) * tables[1]
        logs = [np.log(np.maximum(table, 1e-300)) for table in tables]
        return share * logs[0] + (1 - share) * logs[1]

    def predict(self, X):
        """The class with the largest fused score."""
        check_is_fitted(self, "estimators_")
        views = self._read(X, reset=False)
        tables = [made.predict_proba(view) for made, view in zip(self.estimators_, views, strict=True)]
        return self.classes_[self._fused(tables, self.share_).argmax(axis=1)]


def _is_view(x):
    if isinstance(x, Sequences) or is_list_of_tables(x):
        return True
    return getattr(x, "ndim", 0) in (2, 3)


def _view(x, name):
    if isinstance(x, Sequences) or is_list_of_tables(x) or x.ndim == 3:
        return stack_sequences(x, name)
    table = check_magnitude(check_finite_array(x, name, ndim=2), name, smallest=0.0)
    if table.size == 0:
        raise ValueError(f"{name} must have rows and columns, got shape {table.shape}")
    return table


def _width(view):
    return view.n_features if isinstance(view, Sequences) else view.shape[1]


def _columns(view, columns):
    if columns is None:
        return view
    return view.columns(columns) if isinstance(view, Sequences) else np.ascontiguousarray(view[:, columns])


def _rows(view, rows):
    return view.take(rows) if isinstance(view, Sequences) else view[rows]


def _checked_use(use, V):
    if use is None:
        return list(range(V))
    chosen = list(use) if np.ndim(use) == 1 else []
    if not chosen or len(set(chosen)) < len(chosen) or not all(isinstance(v, (int, np.integer)) for v in chosen):
        raise ValueError(f"use must be different numbers of views, got {use!r}")
    if min(chosen) < 0 or max(chosen) >= V:
        raise ValueError(f"use must name views 0..{V - 1}, got {use!r}")
    return [int(v) for v in chosen]


def _for_each(value, name, V, used):
    """One value for each used view, from one for all, one for each that is used, or one for each that was given."""
    if np.ndim(value) == 0:
        return [value] * V
    values = list(value)
    if len(values) == V:
        return values
    if len(values) > max(used):
        return [values[v] for v in used]
    raise ValueError(f"{name} must be one number, or one for each of the {V} views, got {value!r}")
