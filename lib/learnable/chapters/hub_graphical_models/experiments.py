"""The figures of the source: graphs, covariance graphs and binary networks with hubs (Tan et al. 2014, Sec. 3 to 5).

A cell follows one method along its penalties, with warm starts, and returns the whole curve: the number of edges drawn
and what is right about them, in the order of falling penalties. The figures "at equal edges" are read from the curve
where it has as many edges as the true graph (covariance graphs: twice as many); None where it does not reach them.
"""

from __future__ import annotations

import time

import numpy as np

from learnable.book.study import study
from learnable.chapters.hub_graphical_models.baselines import (
    admm_graphical_lasso,
    scale_free_lasso,
    screen_hubs,
    sparse_covariance,
)
from learnable.chapters.hub_graphical_models.theory import hub_metrics
from learnable.datasets.graphical import hub_adjacency, make_gaussian_graph, precision_from_adjacency
from learnable.graphs.hubs.binary import gibbs_ising, hub_binary_network
from learnable.graphs.hubs.blocks import screen_blocks
from learnable.graphs.hubs.covariance import hub_covariance
from learnable.graphs.hubs.gaussian import hub_graphical_lasso, hub_path
from learnable.highdim import neighbourhood_lasso

TOL = 2e-4  # of the duality gap, per variable
HUBS = ("hubs, λ3 = 1", "hubs, λ3 = 2")
LAM2 = {1500: (0.3, 0.2, 0.14, 0.1), 500: (0.5, 0.4, 0.3, 0.25, 0.2), 100: (0.6, 0.5, 0.4, 0.3, 0.2)}
ALPHA = {1500: (0.16, 0.12, 0.09, 0.065), 500: (0.25, 0.16, 0.12, 0.09), 100: (0.3, 0.25, 0.2, 0.15)}


def _standardised(kind, n, p, n_hubs, random_state):
    """Correlations of a sample, the true matrix in the units of standardised variables, the graph and its hubs."""
    made = make_gaussian_graph(kind, n, p=p, n_hubs=n_hubs, random_state=random_state)
    d = made.data.std(axis=0)
    truth = (
        made.cov / np.multiply.outer(d, d) if kind == "covariance-hubs" else made.precision * np.multiply.outer(d, d)
    )
    return np.corrcoef(made.data.T), np.where(made.adjacency | np.eye(p, dtype=bool), truth, 0.0), made.hubs


def _curve(estimates, truth, hubs, min_degree, *, error=True, times=1):
    rows = [hub_metrics(estimate, truth, hubs, min_degree) for estimate in estimates]
    edges = [row.n_edges for row in rows]
    true = int(np.count_nonzero(truth) - len(truth)) // 2
    figures = {
        "edges": edges,
        "correct": [row.correct_edges for row in rows],
        "hub edges": [row.hub_edge_share for row in rows] if len(hubs) else None,
        "hub nodes": [row.hub_share for row in rows] if len(hubs) else None,
        "error": [row.squared_error for row in rows] if error else None,
    }
    order = np.argsort(edges, kind="stable")
    inside = min(edges) <= times * true <= max(edges)
    at = {
        f"{name} at equal edges": float(np.interp(times * true, np.array(edges)[order], np.array(values)[order]))
        if inside and values is not None
        else None
        for name, values in figures.items()
        if name != "edges"
    }
    return {"true edges": true, **at, **figures}


def _warm(solve, values):
    fit, estimates = None, []
    for value in values:
        fit = solve(value, fit)
        estimates.append(fit.estimate)
    return estimates


@study(
    source="Tan et al. 2014, Figs. 3 to 5",
    paper=[
        {
            "repetitions": 1,
            "setup": ["hubs"],
            "p": [500],
            "method": [*HUBS, "graphical lasso", "neighbourhoods", "scale-free lasso", "partial correlations"],
        },
        {"repetitions": 1, "setup": ["scale-free"], "p": [500], "method": [HUBS[0], "graphical lasso"]},
        {"repetitions": 1, "setup": ["hubs"], "p": [1500], "method": [HUBS[0], "graphical lasso"]},
    ],
    lecture={"repetitions": 2, "setup": ["hubs"], "p": [100], "method": [HUBS[0], "graphical lasso"]},
    paired=("method",),
    note="one data set instead of 100; three to five penalties on a curve; without the method of Peng et al.",
)
def competitors(random_state, *, setup, p, method):
    """Set-ups I and III: n = 1000 at p = 1500 and 250 at 500, one hub for 50 nodes; n = 100 at 100, one for 25."""
    return _gaussian(random_state, setup, p, method)


def _gaussian(random_state, setup, p, method):
    n, n_hubs, min_degree = {1500: (1000, 30, 300), 500: (250, 10, 100), 100: (100, 4, 20)}[p]
    S, truth, hubs = _standardised(setup, n, p, n_hubs, random_state)
    min_degree = min_degree if setup == "hubs" else int(0.05 * p)
    started, extra = time.process_time(), {}
    if method in HUBS:
        path = hub_path(S, n, 0.4, LAM2[p], float(method[-1]), tol=TOL)
        estimates = [fit.estimate for fit in path.fits]
        chosen = int(path.bic.argmin())
        extra = {
            "chosen": chosen,
            "criterion": float(path.bic[chosen]),
            "columns of V": [len(fit.hubs) for fit in path.fits],
            "true hubs among them": [int(np.isin(hubs, fit.hubs).sum()) for fit in path.fits],
        }
    elif method == "graphical lasso":
        estimates = _warm(lambda a, fit: admm_graphical_lasso(S, a, tol=TOL, warm_start=fit), ALPHA[p])
    elif method == "scale-free lasso":
        estimates = [scale_free_lasso(S, alpha, n_rounds=3, tol=TOL).estimate for alpha in (0.12, 0.09, 0.07)]
    elif method == "neighbourhoods":
        estimates = [neighbourhood_lasso(S, a, tol=1e-4).astype(float) for a in (0.25, 0.18, 0.14)]
    else:
        estimates = [screen_hubs(S, level, 20).adjacency.astype(float) for level in (0.25, 0.2, 0.15)]
    extra["seconds"] = time.process_time() - started
    error = method not in ("neighbourhoods", "partial correlations")
    return {**_curve(estimates, truth, hubs, min_degree, error=error), **extra}


@study(
    source="Tan et al. 2014, Fig. 10",
    paper={"repetitions": 5, "p": [200], "method": [*HUBS, "thresholded"]},
    lecture={"repetitions": 1, "p": [200], "method": [HUBS[0], "thresholded"]},
    paired=("method",),
    note="5 data sets instead of 100; two of the three λ3; without the method of Bien and Tibshirani",
)
def covariance_graphs(random_state, *, p, method):
    """Hub covariance graphs with n = p/2, one hub for 50 nodes; "thresholded" is the estimator of Xue et al. (2012)."""
    S, truth, hubs = _standardised("covariance-hubs", p // 2, p, max(1, p // 50), random_state)
    if method in HUBS:
        lam3 = float(method[-1])
        estimates = _warm(
            lambda lam2, fit: hub_covariance(S, 0.2, lam2, lam3, tol=TOL, warm_start=fit), (0.4, 0.25, 0.2, 0.18, 0.16)
        )
    else:
        alphas = (0.25, 0.22, 0.19, 0.16, 0.13)
        estimates = _warm(lambda alpha, fit: sparse_covariance(S, alpha, tol=TOL, warm_start=fit), alphas)
    return _curve(estimates, truth, hubs, p // 5, times=2)


@study(
    source="Tan et al. 2014, Fig. 7",
    paper={"repetitions": 3, "p": [50], "method": ["hubs, λ3 = 15", "hubs, λ3 = 25", "no hubs"]},
    lecture={"repetitions": 1, "p": [50], "method": ["hubs, λ3 = 15", "no hubs"]},
    paired=("method",),
    note="3 data sets instead of 100; two of the three λ3",
)
def binary_networks(random_state, *, p, method):
    """Ising models with one hub for ten nodes; n = 2p draws of a Gibbs chain with the source's burn-in and thinning."""
    graph, hubs = hub_adjacency(p, p // 10, random_state=random_state)
    theta = precision_from_adjacency(graph, random_state=random_state)
    np.fill_diagonal(theta, 0.0)
    X = gibbs_ising(theta, 2 * p, burn_in=10**5, thin=10**4, random_state=random_state)
    if method == "no hubs":
        estimates = _warm(
            lambda a, fit: hub_binary_network(X, a, np.inf, np.inf, tol=TOL, warm_start=fit), (7.0, 5.0, 4.0, 3.5, 3.0)
        )
    else:
        lam3 = float(method.rpartition(" ")[2])
        estimates = _warm(
            lambda lam2, fit: hub_binary_network(X, 5.0, lam2, lam3, tol=TOL, warm_start=fit), (6.0, 5.0, 4.0, 3.5, 3.0)
        )
    return _curve(estimates, theta, hubs, 2 * p // 5)


@study(
    source="Tan et al. 2014, Sec. 3.2",
    paper={"repetitions": 1, "p": [500], "lam2": [0.7, 0.6, 0.5], "screen": [True, False]},
    lecture={"repetitions": 1, "p": [100], "lam2": [0.6], "screen": [True, False]},
    paired=("lam2", "screen"),
    note="set-up I with n = p/2; the source does not print its data or penalties",
)
def screening(random_state, *, p, lam2, screen):
    """Processor seconds with and without the blocks of Theorem 1, and what the blocks are."""
    S, _, _ = _standardised("hubs", p // 2, p, p // 50, random_state)
    hub_graphical_lasso(S[:20, :20], 0.4, lam2, 1.0)  # what compiles does so once
    blocks = screen_blocks(S, 0.4, lam2)
    started = time.process_time()
    fit = hub_graphical_lasso(S, 0.4, lam2, 1.0, screen=screen)
    return {
        "seconds": time.process_time() - started,
        "components": len(blocks),
        "largest": max(map(len, blocks)),
        "objective": fit.objective,
    }
