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
    true = int(np.count_nonzero(np.triu(truth, 1)))
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


def _at_true_edges(solve, values, truth, hubs, min_degree, *, times=1, graph_only=False):
    """Follow falling penalties with warm starts until a fit has more edges than the truth; read the curve there."""
    wanted = times * np.count_nonzero(np.triu(truth, 1))
    fit, estimates = None, []
    for value in values:
        fit = solve(value, fit)
        estimates.append(fit.astype(float) if graph_only else fit.estimate)
        if np.count_nonzero(np.abs(np.triu(estimates[-1], 1)) > 1e-5) >= wanted:
            break
    return _curve(estimates[-2:], truth, hubs, min_degree, error=not graph_only, times=times)


def _falling(first, factor, count=24):
    return [first * factor**k for k in range(count)]


def _advantages(curves):
    """How far the first curve lies above the others at equal edges; the squared error is counted the other way."""
    ours, *others = curves.items()
    figures = {}
    for name, curve in others:
        for what, sign in (("correct", 1), ("hub edges", 1), ("hub nodes", 1), ("error", -1)):
            pair = ours[1][f"{what} at equal edges"], curve[f"{what} at equal edges"]
            figures[f"{name}: {what}"] = None if None in pair else sign * (pair[0] - pair[1])
    return figures


@study(
    source="Tan et al. 2014, Figs. 3 to 5",
    paper={"repetitions": 10, "setup": ["hubs", "two-hubs", "scale-free"], "p": [500]},
    lecture={"repetitions": 1, "setup": ["hubs"], "p": [100]},
    note="10 data sets instead of 100, all with p = 500 and n = 250 (Fig. 3: 1500 and 1000); λ3 = 1; at as many edges "
    "as the truth has",
)
def advantages(random_state, *, setup, p):
    """What hubs add, competitor by competitor, on the same data: differences at as many edges as the truth has."""
    n, n_hubs, min_degree = {500: (250, 10, 100), 100: (100, 4, 20)}[p]
    min_degree = {"hubs": min_degree, "two-hubs": min_degree // 2, "scale-free": int(0.05 * p)}[setup]
    S, truth, hubs = _standardised(setup, n, p, n_hubs, random_state)
    solvers = {
        "ours": (
            lambda lam2, fit: hub_graphical_lasso(S, 0.4, lam2, 1.0, tol=TOL, warm_start=fit),
            _falling(0.7, 0.72),
        ),
        "graphical lasso": (
            lambda a, fit: admm_graphical_lasso(S, a, tol=TOL, warm_start=fit),
            _falling(0.35, 0.75),
        ),
        "neighbourhoods": (lambda a, fit: neighbourhood_lasso(S, a, tol=1e-4), _falling(0.4, 0.88)),
        "scale-free lasso": (lambda a, fit: scale_free_lasso(S, a, n_rounds=3, tol=TOL), _falling(0.25, 0.8)),
        "partial correlations": (lambda level, fit: screen_hubs(S, level, 20).adjacency, _falling(0.5, 0.9)),
    }
    graphs = ("neighbourhoods", "partial correlations")
    curves = {
        name: _at_true_edges(solve, values, truth, hubs, min_degree, graph_only=name in graphs)
        for name, (solve, values) in solvers.items()
    }
    return {"true edges": curves["ours"]["true edges"], **_advantages(curves)}


@study(
    source="Tan et al. 2014, Figs. 6, 7 and 10",
    paper=[
        {"repetitions": 50, "model": ["covariance"], "p": [200]},
        {"repetitions": 2, "model": ["covariance"], "p": [1000]},
        {"repetitions": 20, "model": ["binary"], "p": [50]},
    ],
    lecture={"repetitions": 1, "model": ["covariance"], "p": [200]},
    note="50, 20 and 2 data sets instead of 100 at p = 200, 50 and 1000; λ3 = 1, or 15 for binary networks; at as "
    "many edges as the truth has, covariance graphs at twice as many",
)
def other_models(random_state, *, model, p):
    """What hubs add in covariance graphs with n = p/2 and in binary networks with n = 2p, on the same data."""
    if model == "covariance":
        S, truth, hubs = _standardised("covariance-hubs", p // 2, p, p // 50, random_state)
        solvers = {
            "ours": (
                lambda lam2, fit: hub_covariance(S, 0.2, lam2, 1.0, tol=TOL, warm_start=fit),
                _falling(0.25, 0.93),
            ),
            "plain": (lambda a, fit: sparse_covariance(S, a, tol=TOL, warm_start=fit), _falling(0.25, 0.9)),
        }
        times = 2
    else:
        graph, hubs = hub_adjacency(p, p // 10, random_state=random_state)
        truth = precision_from_adjacency(graph, random_state=random_state)
        np.fill_diagonal(truth, 0.0)
        X = np.zeros((2 * p, p))
        while (X == X[0]).all(axis=0).any():  # a variable that never changes has no conditional model: draw again
            X = gibbs_ising(truth, 2 * p, burn_in=10**5, thin=10**4, random_state=random_state)
        solvers = {
            "ours": (
                lambda lam2, fit: hub_binary_network(X, 5.0, lam2, 15.0, tol=TOL, warm_start=fit),
                _falling(6.0, 0.9),
            ),
            "plain": (
                lambda a, fit: hub_binary_network(X, a, np.inf, np.inf, tol=TOL, warm_start=fit),
                _falling(7.0, 0.85),
            ),
        }
        times = 1
    curves = {
        name: _at_true_edges(solve, values, truth, hubs, 2 * p // (10 if times == 2 else 5), times=times)
        for name, (solve, values) in solvers.items()
    }
    return {"true edges": curves["ours"]["true edges"], **_advantages(curves)}


@study(
    source="Tan et al. 2014, Sec. 3.5",
    paper={"repetitions": 100, "p": [500, 1500]},
    lecture={"repetitions": 5, "p": [500]},
    note="degrees drawn from the power law with exponent 2.5, wired at random",
)
def scale_free(random_state, *, p):
    """Nodes of a scale-free graph that are joined to more than 5 % of all nodes, and the largest number of edges."""
    degrees = make_gaussian_graph("scale-free", 2, p=p, random_state=random_state).adjacency.sum(axis=0)
    return {"nodes": int((degrees > 0.05 * p).sum()), "largest": int(degrees.max())}
