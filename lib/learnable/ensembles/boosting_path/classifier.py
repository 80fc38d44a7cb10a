"""The practical machine: small steps over trees or polynomials, and the number of steps as the knob."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.ensembles.boosting_path.dictionaries import monomials
from learnable.ensembles.boosting_path.stepping import eps_boost
from learnable.ensembles.gradient import GradientBoost
from learnable.ensembles.weak_learners import TreeERM
from learnable.validation import check_choice, check_scalar, check_seed


class BoostedPathClassifier(GradientBoost):
    r"""Boosting in steps of ε, stopped early: the number of steps is the l1 budget.

    With trees or stumps every step fits a rule with values -1 and +1 to the weights |w_i|; the rule with the
    smallest weighted error is the coordinate with the steepest gradient. With ``base="poly"`` or ``"linear"`` the
    dictionary is finite and all coordinates are compared.

    Parameters
    ----------
    base : {"stump", "tree", "linear", "poly"}, int or weak learner, default="tree"
        ``"tree"`` grows trees of depth `max_depth`; an integer is a depth; a weak learner has ``prepare(X)``.
    loss : {"exponential", "logistic"}, default="logistic"
    eps : float, default=0.1
    n_steps : int, default=300
    max_depth : int or None, default=3
        Of the trees; None bounds them by `max_leaf_nodes` alone.
    degree : int, default=3
        Of the polynomials.
    validation_fraction : float, default=0
        Share of the sample held out to choose the number of steps; 0 takes all steps.
    random_state : None, int or Generator, default=0
        For the split.
    max_leaf_nodes : int, optional
        Of the trees: they are split best first, where the weighted impurity falls most, until they have so many
        leaves.
    max_bins : {"auto"}, int or None, default="auto"
        Bins for each feature in the search for stumps or trees of given depth: None tries every cut, a number from 2 to
        256 puts thresholds on the edges of bins, which loses nothing for a feature with at most so many different
        values; ``"auto"`` is 256 from 2,500 rows on and None below.

    Attributes
    ----------
    n_steps_ : int
        Steps used.
    validation_error_ : ndarray
        Error on the held-out part after every step, if there is one.
    coef_ : ndarray
        With a finite dictionary.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)); y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> model = BoostedPathClassifier(n_steps=100).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> model = BoostedPathClassifier(n_steps=5, max_depth=None, max_leaf_nodes=5).fit(X, y)
    >>> [rule.tree.n_leaves for rule in model.rules_]
    [5, 5, 5, 5, 5]
    """

    def __init__(
        self, base="tree", loss="logistic", *, eps=0.1, n_steps=300, max_depth=3, degree=3, validation_fraction=0.0,
        random_state=0, max_leaf_nodes=None, max_bins="auto",
    ):  # fmt: skip
        self.base = base
        self.loss = loss
        self.eps = eps
        self.n_steps = n_steps
        self.max_depth = max_depth
        self.degree = degree
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.max_bins = max_bins

    def fit(self, X, y, sample_weight=None):
        """Run the steps; choose their number on the held-out part if there is one."""
        X, signs, _ = self._prepare(X, y, sample_weight)
        share = check_scalar(self.validation_fraction, "validation_fraction", low=0.0, high=1.0, closed="left")
        check_scalar(self.eps, "eps", low=0.0, closed="neither")
        check_choice(self.loss, "loss", ("exponential", "logistic"))
        if share == 0.0:
            self._run(X, signs, sample_weight)
            self.n_steps_ = len(self.alphas_) if self._dictionary is None else int(self.n_steps)
            return self
        if sample_weight is not None:
            raise ValueError("sample_weight and validation_fraction do not go together")
        seed = check_seed(self.random_state)
        inner, outer, a, b = train_test_split(X, signs, test_size=share, random_state=seed, stratify=signs)
        self._run(inner, a, None)
        errors = np.mean((self.staged_decision_function(outer) >= 0.0) != (b > 0), axis=1)
        self.validation_error_ = errors
        self.n_steps_ = int(np.argmin(errors)) + 1
        if self._dictionary is None:
            self.rules_, self.alphas_ = self.rules_[: self.n_steps_], self.alphas_[: self.n_steps_]
        else:
            self.coef_ = self.path_.coefs[self.n_steps_]
        return self

    def _run(self, X, signs, sample_weight):
        self._dictionary = self.base if self.base in ("linear", "poly") else None
        steps = check_scalar(self.n_steps, "n_steps", low=1, integer=True)
        if self._dictionary is not None:
            if sample_weight is not None:
                raise ValueError("sample_weight needs a base of trees or stumps")
            H = self._columns(X)
            self.path_ = eps_boost(H, signs, self.loss, eps=self.eps, n_steps=steps, record=np.arange(steps + 1))
            self.coef_ = self.path_.coefs[-1]
            self.rules_ = []
            return
        depth = (
            {"stump": 1, "tree": self.max_depth}.get(self.base, self.base) if isinstance(self.base, str) else self.base
        )
        if self.max_leaf_nodes is not None:
            if self.base != "tree":
                raise ValueError(f"max_leaf_nodes is for base='tree', got base={self.base!r}")
            depth = TreeERM(self.max_depth, self.max_leaf_nodes)
        elif depth is None:
            raise ValueError("max_depth may be None only with max_leaf_nodes")
        inner = GradientBoost(self.loss, depth, steps, step=float(self.eps), max_bins=self.max_bins)
        inner.fit(X, signs, sample_weight)
        self.rules_, self.alphas_, self.losses_ = inner.rules_, inner.alphas_, inner.losses_
        self.errors_, self.stopped_ = inner.errors_, inner.stopped_

    def _columns(self, X):
        return X if self._dictionary == "linear" else monomials(X, self.degree)

    def decision_function(self, X):
        """F(x) after the steps used."""
        check_is_fitted(self, "rules_")
        if self._dictionary is None:
            return super().decision_function(X)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self._columns(X) @ self.coef_

    def staged_decision_function(self, X):
        """F after each step, as an array (steps, n)."""
        check_is_fitted(self, "rules_")
        if self._dictionary is None:
            return super().staged_decision_function(X)
        X = np.asarray(X, dtype=float)
        return self.path_.coefs[1:] @ self._columns(X).T

    def normalised_margins(self, X, y, *, rounds=None):
        """y F / |coefficients|_1 after `rounds` steps (default: the steps used)."""
        if self._dictionary is None:
            return super().normalised_margins(X, y, rounds=rounds)
        X = self._checked(X)
        steps = (
            self.n_steps_
            if rounds is None
            else check_scalar(rounds, "rounds", low=1, high=len(self.path_.coefs) - 1, integer=True)
        )
        coef = self.path_.coefs[steps]
        norm = np.abs(coef).sum()
        if norm == 0.0:
            raise ValueError(f"all coefficients are zero after {steps} steps: there is no normalised margin")
        return self._signs(y) * (self._columns(X) @ coef) / norm

    def staged_margins(self, X, y):
        """Smallest margin y F after each step over the l1 norm of the coefficients (nan where they are all zero)."""
        scores = self.staged_decision_function(X)
        if self._dictionary is None:
            norm = np.cumsum(np.abs(self.alphas_))
        else:
            norm = np.abs(self.path_.coefs[1:]).sum(axis=1)
        smallest = (scores * self._signs(y)).min(axis=1)
        return np.divide(smallest, norm, out=np.full(norm.size, np.nan), where=norm > 0.0)
