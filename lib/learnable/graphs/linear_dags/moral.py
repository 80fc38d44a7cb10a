r"""The moral graph from the inverse covariance (Loh and Bühlmann 2014, Sec. 3 and 5.1).

In a linear structural equation model an entry of Θ = cov(X)⁻¹ can only differ from zero if the two variables are
joined by an edge or have a common child, whatever the law of the errors (Theorem 2). So the support of an estimate of
Θ bounds the search: parents of a node are sought among its neighbours. A neighbour too many costs time; one too few
can never be repaired.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning

from learnable.graphs.linear_dags.local_scores import check_covariance
from learnable.linalg.precision import (
    factor,
    factor_inverse,
    gaussian_log_likelihood,
    partial_correlations,
    threshold_components,
)
from learnable.optim.coordinate_descent import solve_gram_batch
from learnable.validation import Result, check_choice, check_scalar, warn_not_converged

METHODS = ("threshold", "glasso", "nodewise")


@dataclass(frozen=True, eq=False)
class MoralGraph(Result):
    """An estimated moral graph.

    Attributes
    ----------
    adjacency : ndarray of bool of shape (p, p)
    partial_correlations : ndarray of shape (p, p)
        What was thresholded; for "nodewise" the symmetrised coefficients.
    alpha : float
        Penalty used; 0 for "threshold".
    threshold : float
        Entries up to this size were set to zero.
    """

    adjacency: np.ndarray
    partial_correlations: np.ndarray
    alpha: float
    threshold: float


def estimate_moral_graph(covariance, n_samples, *, method="threshold", alpha=None, threshold=None, rule="or"):
    """Neighbours in the moral graph, from a covariance estimated from `n_samples` rows.

    Everything is computed from correlations, so that units do not matter. O(p³) for "threshold", a graphical lasso or p
    lasso problems for the others.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
        The sample covariance, or one that was corrected for missing or noisy data.
    n_samples : int
    method : {"threshold", "glasso", "nodewise"}, default="threshold"
        Threshold the partial correlations of the inverse, for n well above p; the graphical lasso; or a lasso of each
        variable on all others (Meinshausen and Bühlmann 2006).
    alpha : float or "bic", optional
        Penalty of the two lassos, on the scale of correlations; by default √(log p / n) for "glasso" and
        √(2 log p / n) for "nodewise". "bic" takes the best of ten by the extended BIC ("glasso" only).
    threshold : float, optional
        By default √(2 log p / (n - p)) for "threshold", half of alpha for "glasso", 0 for "nodewise".
    rule : {"or", "and"}, default="or"
        For "nodewise": an edge if one regression finds it, or if both do.

    Returns
    -------
    MoralGraph

    Examples
    --------
    >>> from learnable.graphs.linear_sem import LinearSEM
    >>> model = LinearSEM([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    >>> found = estimate_moral_graph(np.cov(model.sample(500, "laplace", random_state=0).T), 500)
    >>> found.adjacency.astype(int).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    covariance = check_covariance(covariance)
    p = len(covariance)
    n_samples = check_scalar(n_samples, "n_samples", low=2, integer=True)
    check_choice(method, "method", METHODS)
    check_choice(rule, "rule", ("or", "and"))
    if alpha is not None and not (isinstance(alpha, str) and alpha == "bic" and method == "glasso"):
        alpha = check_scalar(alpha, "alpha", low=0)
    if threshold is not None:
        threshold = check_scalar(threshold, "threshold", low=0, high=1)
    scale = np.sqrt(np.diagonal(covariance))
    moving = scale > 0
    correlation = np.eye(p)
    safe = np.where(moving, scale, 1.0)
    correlation[np.ix_(moving, moving)] = (covariance / safe[:, None] / safe)[np.ix_(moving, moving)]
    np.fill_diagonal(correlation, 1.0)
    if method == "threshold":
        if threshold is None:
            threshold = float(np.sqrt(2.0 * np.log(max(p, 2)) / max(n_samples - p, 1)))
        partial, alpha = partial_correlations(_inverse(correlation, n_samples)), 0.0
    elif method == "glasso":
        if isinstance(alpha, str):
            alpha = _bic_alpha(correlation, n_samples)
        alpha = float(np.sqrt(np.log(max(p, 2)) / n_samples)) if alpha is None else alpha
        threshold = alpha / 2 if threshold is None else threshold
        partial = partial_correlations(_graphical_lasso(correlation, alpha))
    else:
        alpha = float(np.sqrt(2.0 * np.log(max(p, 2)) / n_samples)) if alpha is None else alpha
        threshold = 0.0 if threshold is None else threshold
        partial = _nodewise(correlation, alpha, threshold, rule)
    adjacency = np.abs(partial) > threshold
    np.fill_diagonal(adjacency, False)
    return MoralGraph(adjacency, partial, float(alpha), float(threshold))


def _inverse(correlation, n_samples):
    L = factor(np.ascontiguousarray(correlation))
    if L is None or n_samples <= len(correlation):
        raise ValueError(
            "covariance must be positive definite, from more rows than variables, for method='threshold': use "
            "method='glasso' or 'nodewise'"
        )
    return factor_inverse(L)


def _graphical_lasso(correlation, alpha, tol=1e-3):
    """The graphical lasso without penalty on the diagonal, block by block (Witten et al. 2011)."""
    precision = np.eye(len(correlation))
    for block in threshold_components(correlation, alpha):
        if len(block) > 1:
            S = correlation[np.ix_(block, block)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # of the lassos inside; the gap decides
                try:
                    _, estimate, costs = graphical_lasso(S, alpha, tol=tol, max_iter=200, return_costs=True)
                except FloatingPointError:
                    raise ValueError(
                        f"covariance is too far from a positive definite matrix for the graphical lasso with alpha = "
                        f"{alpha:g}: raise alpha or use method='nodewise'"
                    ) from None
            if abs(costs[-1][1]) > tol:
                warn_not_converged("the graphical lasso", 200, abs(costs[-1][1]), tol, "raise alpha", stacklevel=4)
            precision[np.ix_(block, block)] = 0.5 * (estimate + estimate.T)
    return precision


def _bic_alpha(correlation, n_samples):
    """The penalty of the best extended BIC (Foygel and Drton 2010, with γ = 1/2) among ten."""
    p = len(correlation)
    largest = np.abs(correlation - np.eye(p)).max(initial=0.0)
    if largest == 0:
        return float(np.sqrt(np.log(max(p, 2)) / n_samples))
    best = (np.inf, largest)
    for alpha in np.geomspace(largest, max(largest / 20, 0.3 * np.sqrt(np.log(p) / n_samples)), 10):
        precision = _graphical_lasso(correlation, alpha)
        n_edges = np.count_nonzero(np.triu(precision, 1))
        loss = -2 * n_samples * gaussian_log_likelihood(precision, correlation)
        best = min(best, (loss + n_edges * (np.log(n_samples) + 2 * np.log(p)), alpha))
    return float(best[1])


def _nodewise(correlation, alpha, threshold, rule):
    weights = np.where(np.eye(len(correlation)), np.inf, 1.0)
    coefficients = np.abs(solve_gram_batch(correlation, correlation, alpha, weights=weights, tol=1e-6).coefs)
    pick = np.maximum if rule == "or" else np.minimum
    out = pick(coefficients, coefficients.T)
    np.fill_diagonal(out, 1.0)
    return out
