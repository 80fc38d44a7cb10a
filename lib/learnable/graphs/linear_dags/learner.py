"""The whole method as an estimator (Loh and Bühlmann 2014, Algorithm 1)."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from learnable.graphs.dags import DAG
from learnable.graphs.linear_dags.corrupted import corrected_covariance, nearest_covariance
from learnable.graphs.linear_dags.local_scores import (
    LARGEST_NEIGHBORHOOD,
    FamilyScores,
    check_covariance,
    check_noise_variance,
    check_undirected,
    dag_weights,
    parent_scores,
)
from learnable.graphs.linear_dags.moral import METHODS, estimate_moral_graph
from learnable.graphs.linear_dags.search import (
    LARGEST_SUBSET_SEARCH,
    best_dag_greedy,
    best_dag_subset,
    climb_families,
)
from learnable.graphs.linear_dags.treewidth import BestDAG, best_dag_treewidth
from learnable.validation import check_choice, check_scalar
from learnable.validation.tags import unit_facts


class LinearDAGLearner(BaseEstimator):
    """Learn a linear causal DAG: moral graph from the inverse covariance, then the best DAG inside it.

    The squared score orients edges by the *variances of the errors*, which must be known up to a factor; equal ones are
    the default. After standardising the columns this assumption is wrong by construction, and so are the arrows. The
    score "bic" assumes nothing about them, and finds the graph up to Markov equivalence.

    Parameters
    ----------
    noise_variance : "equal" or array-like of shape (p,), default="equal"
        Variances of the errors, up to a common factor; "bic" does not use them.
    moral : {"auto", "threshold", "glasso", "nodewise"} or array-like of bool of shape (p, p), default="auto"
        How the moral graph is estimated (:func:`estimate_moral_graph`), or the graph itself. "auto" is "threshold" for
        n >= 5 p, else "nodewise".
    search : {"auto", "treewidth", "subset", "greedy"}, default="auto"
        Exact over a tree decomposition, exact over subsets, or greedy; "auto" is the first; where the graph is too wide
        for it, the second up to 20 columns; and else the last, with a warning. Exact searches need at most 20 moral
        neighbours of a node; the greedy one takes any number, of which at most 20 become parents.
    criterion : {"squared", "bic"}, default="squared"
        The weighted squared error, or the Gaussian likelihood with free variances.
    alpha, threshold : float, optional
        For :func:`estimate_moral_graph`.
    edge_cost : float or "auto", default="auto"
        For each parent, in units of the error variance: (log n + log p)/n; for "bic" (log p)/2, beside (log n)/2.
    max_parents : int, optional
        Largest number of parents.
    prune : bool, default=True
        Drop parents afterwards that the extended BIC of a node's regression does not keep: without a penalty the best
        DAG has superfluous edges (Loh and Bühlmann 2014, (26)).
    max_records : int, default=500_000
        Limit of the exact search (:func:`best_dag_treewidth`); a few microseconds each.
    noise_covariance : float or array-like, optional
        Covariance of additive noise in the data, to be subtracted (:func:`corrected_covariance`).

    Attributes
    ----------
    dag_ : DAG
    adjacency_ : ndarray of bool of shape (p, p)
        ``adjacency_[j, k]`` for j -> k.
    weights_ : ndarray of shape (p, p)
        Least squares coefficients, ``weights_[j, k]`` for j -> k.
    noise_variance_ : ndarray of shape (p,)
        Variances that the parents leave, in the units of the data.
    moral_graph_ : ndarray of bool of shape (p, p)
    covariance_ : ndarray of shape (p, p)
        What was scored.
    score_ : float
        Score of the best DAG, before pruning.
    exact_ : bool
        Whether no DAG inside the moral graph has a smaller score.
    treewidth_ : int
        Width of the tree decomposition, -1 where none was used.
    n_features_in_ : int

    Examples
    --------
    >>> from learnable.graphs.linear_sem import LinearSEM
    >>> model = LinearSEM([[0, 0, 0.8], [0, 0, 0.8], [0, 0, 0]])
    >>> X = model.sample(1000, "laplace", random_state=0)
    >>> learner = LinearDAGLearner().fit(X)
    >>> learner.dag_.edges, learner.exact_
    (((0, 2), (1, 2)), True)
    """

    _depends_on_units = unit_facts(columns="equal error variances are a statement about the units")

    def __init__(
        self,
        noise_variance="equal",
        *,
        moral="auto",
        search="auto",
        criterion="squared",
        alpha=None,
        threshold=None,
        edge_cost="auto",
        max_parents=None,
        prune=True,
        max_records=500_000,
        noise_covariance=None,
    ):
        self.noise_variance = noise_variance
        self.moral = moral
        self.search = search
        self.criterion = criterion
        self.alpha = alpha
        self.threshold = threshold
        self.edge_cost = edge_cost
        self.max_parents = max_parents
        self.prune = prune
        self.max_records = max_records
        self.noise_covariance = noise_covariance

    def fit(self, X, y=None):
        """Estimate the graph from data; NaN marks entries that are missing completely at random.

        With missing entries, thresholds and penalties are those of half the number of rows in which the pair of columns
        that is seen together least often is complete. The half is a rule of thumb from simulations: the partial
        correlations of a corrected covariance scatter more than those of as many complete rows.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : ignored

        Returns
        -------
        LinearDAGLearner
        """
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=3)
        covariance = corrected_covariance(X, noise_covariance=self.noise_covariance)
        if np.isnan(X).any() or self.noise_covariance is not None:
            covariance = nearest_covariance(covariance)
        n_samples = len(X)
        if np.isnan(X).any():
            seen = (~np.isnan(X)).astype(float)
            n_samples = max(int((seen.T @ seen).min()) // 2, 3)
        return self._fit(covariance, n_samples)

    def fit_covariance(self, covariance, n_samples):
        """Estimate the graph from a covariance matrix.

        Parameters
        ----------
        covariance : array-like of shape (p, p)
        n_samples : int
            Rows from which it was estimated.

        Returns
        -------
        LinearDAGLearner
        """
        covariance = check_covariance(covariance)
        n_samples = check_scalar(n_samples, "n_samples", low=3, integer=True)
        self.n_features_in_ = len(covariance)
        return self._fit(covariance, n_samples)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, covariance, n_samples):
        p = len(covariance)
        settings = self._check(p)
        moral = self._moral(covariance, n_samples)
        scale = 1.0
        if self.criterion == "squared":
            variance = np.ones(p) if isinstance(self.noise_variance, str) else np.asarray(self.noise_variance, float)
            # A root has its error variance and all others at least theirs: so the smallest ratio estimates the factor.
            ratios = np.diagonal(covariance) / variance
            scale = float(ratios[ratios > 0].min(initial=np.inf))
            scale = scale if np.isfinite(scale) else 1.0
            settings["noise_variance"] = variance * scale
        if settings["edge_cost"] is None:
            log_n, log_p = np.log(n_samples), np.log(p)
            settings["edge_cost"] = (log_n + log_p) / n_samples if self.criterion == "squared" else log_p / 2
        scores, found = self._search(covariance, moral, kind=self.criterion, n_samples=n_samples, **settings)
        dag = self._pruned(scores, found.dag, n_samples) if self.prune else found.dag
        self.covariance_, self.moral_graph_ = covariance, moral
        self.dag_, self.adjacency_ = dag, dag.adjacency
        self.weights_ = dag_weights(covariance, dag)
        residual = [scores.residual_variance[j][scores.mask(j, dag.parents(j))] for j in range(p)]
        self.noise_variance_ = np.array(residual)
        self.score_, self.exact_, self.treewidth_ = found.score, found.exact, found.width
        return self

    def _check(self, p):
        check_choice(self.search, "search", ("auto", "treewidth", "subset", "greedy"))
        check_choice(self.criterion, "criterion", ("squared", "bic"))
        if isinstance(self.noise_variance, str):
            check_choice(self.noise_variance, "noise_variance", ("equal",), also=f"{p} positive numbers")
        else:
            check_noise_variance(self.noise_variance, p)
        if isinstance(self.moral, str):
            check_choice(self.moral, "moral", ("auto", *METHODS), also="a symmetric matrix")
        else:
            check_undirected(self.moral, p, "moral")
        if not isinstance(self.prune, bool | np.bool_):
            raise ValueError(f"prune must be True or False, got {self.prune!r}")
        edge_cost = None
        if not (isinstance(self.edge_cost, str) and self.edge_cost == "auto"):
            edge_cost = check_scalar(self.edge_cost, "edge_cost", low=0)
        max_parents = self.max_parents
        if max_parents is not None:
            max_parents = check_scalar(max_parents, "max_parents", low=0, integer=True)
        return {"edge_cost": edge_cost, "max_parents": max_parents}

    def _moral(self, covariance, n_samples):
        if not isinstance(self.moral, str):
            return check_undirected(self.moral, len(covariance), "moral")
        method = self.moral
        if method == "auto":
            method = "threshold" if n_samples >= 5 * len(covariance) and _regular(covariance) else "nodewise"
        found = estimate_moral_graph(covariance, n_samples, method=method, alpha=self.alpha, threshold=self.threshold)
        return found.adjacency

    def _search(self, covariance, moral, **settings):
        """The scores of parent sets that the search looked at, and what it found."""
        degree = int(moral.sum(axis=0).max())
        if degree > LARGEST_NEIGHBORHOOD and self.search in ("auto", "greedy"):
            if self.search == "auto":
                self._warn_greedy(f"a node has {degree} neighbours, more than {LARGEST_NEIGHBORHOOD}")
            return _climb_without_table(covariance, moral, **settings)
        scores = parent_scores(covariance, moral, **settings)
        if self.search == "subset":
            return scores, best_dag_subset(scores)
        if self.search == "greedy":
            return scores, best_dag_greedy(scores)
        try:
            return scores, best_dag_treewidth(scores, max_records=self.max_records)
        except ValueError as error:
            if self.search == "treewidth":
                raise
            if scores.n_nodes <= LARGEST_SUBSET_SEARCH:
                return scores, best_dag_subset(scores)
            self._warn_greedy(error)
            return scores, best_dag_greedy(scores)

    @staticmethod
    def _warn_greedy(reason):
        message = f"LinearDAGLearner searches greedily, so that the DAG need not be the best: {reason}"
        warnings.warn(message, ConvergenceWarning, stacklevel=5)

    @staticmethod
    def _pruned(scores, dag, n_samples):
        """For each node the subset of its parents with the smallest extended BIC."""
        p = scores.n_nodes
        parents = []
        for j in range(p):
            chosen = scores.mask(j, dag.parents(j))
            masks = np.arange(len(scores.values[j]))
            masks = masks[(masks & ~chosen) == 0]
            rest = scores.residual_variance[j][masks]
            floor = max(1e-12 * scores.residual_variance[j][0], np.finfo(float).tiny)
            size = np.bitwise_count(masks.astype(np.uint64))
            bic = n_samples * np.log(np.maximum(rest, floor)) + size * (np.log(n_samples) + np.log(p))
            parents.append(scores.parents(j, int(masks[np.argmin(bic)])))
        return DAG.from_parents(parents)


def _climb_without_table(covariance, moral, max_parents, **settings):
    """The greedy search where nodes have many neighbours; then the scores of the subsets of the parents it chose."""
    # No more parents than the table of their subsets, from which they are pruned, can hold.
    limit = LARGEST_NEIGHBORHOOD if max_parents is None else min(max_parents, LARGEST_NEIGHBORHOOD)
    families = FamilyScores(covariance, max_parents=limit, **settings)
    dag = climb_families(families, moral)
    scores = families.table([np.array(dag.parents(j), dtype=np.int64) for j in range(len(covariance))])
    return scores, BestDAG(dag, scores.score(dag), -1, 0, False)


def _regular(covariance):
    """Whether the correlations are far enough from singular for their inverse to mean something."""
    scale = np.sqrt(np.diagonal(covariance))
    if scale.min() <= 0:
        return False
    return bool(np.linalg.eigvalsh(covariance / scale[:, None] / scale)[0] > 1e-10)
