"""Experiments of the chapter. The source has none: these are what its theorems and remarks predict."""

from __future__ import annotations

import time

import numpy as np

from learnable.book.study import study
from learnable.chapters.linear_causal_networks.baselines import (
    direct_lingam_order,
    regress_in_order,
    top_down_order,
    variance_order,
)
from learnable.chapters.linear_causal_networks.theory import score_gap
from learnable.graphs.dags import DAG, moral_graph, random_dag
from learnable.graphs.linear_dags.learner import LinearDAGLearner
from learnable.graphs.linear_dags.local_scores import dag_score, parent_scores
from learnable.graphs.linear_dags.moral import estimate_moral_graph
from learnable.graphs.linear_dags.treewidth import best_dag_treewidth
from learnable.graphs.linear_sem import LinearSEM, random_linear_sem
from learnable.graphs.mixed import cpdag, structural_hamming_distance
from learnable.graphs.pc.estimator import PC

METHODS = ("equal variances", "variance order", "top-down", "DirectLiNGAM", "PC", "BIC")


def tree_dag(p, random_state, span=8):
    """A random tree: each node has one parent among the `span` before it."""
    rng = random_state
    return DAG.from_parents([[]] + [[int(rng.integers(max(0, k - span), k))] for k in range(1, p)])


def sparse_model(p, n_neighbors, random_state, noise_variance=1.0):
    """A random model with weights ±U[0.5, 1] whose moral graph has no degree above five."""
    rng = random_state
    while True:
        dag = random_dag(p, n_neighbors, random_state=rng)
        if moral_graph(dag).sum(axis=0).max() <= 5:
            return random_linear_sem(
                dag, weights=(0.5, 1.0), signed=True, noise_variance=noise_variance, random_state=rng
            )


@study(
    source="Loh and Bühlmann 2014, Theorem 7 and Example 1",
    paper={"repetitions": 60, "p": [20], "n": [300, 1000, 5000], "variances": ["equal", "unequal", "unequal, known"]},
    lecture={"repetitions": 5, "p": [15], "n": [300, 1000], "variances": ["equal", "unequal", "unequal, known"]},
    paired=("variances", "n"),
    note="the source prints no experiment; unequal variances are uniform in [0.4, 1.6]",
)
def weights(random_state, *, p, n, variances):
    """Structural Hamming distance with equal variances, and with unequal ones that are ignored or known."""
    drawn = random_state.uniform(0.4, 1.6, size=p)
    model = sparse_model(p, 1.0, random_state, 1.0 if variances == "equal" else drawn)
    X = model.sample(n, "laplace", random_state=random_state)
    learner = LinearDAGLearner(drawn if variances == "unequal, known" else "equal").fit(X)
    missed = (moral_graph(model.dag) & ~learner.moral_graph_).sum() // 2
    return {"SHD": structural_hamming_distance(learner.dag_, model.dag), "moral edges missed": int(missed)}


@study(
    source="Loh and Bühlmann 2014, Lemma 16 and Corollary 22",
    paper=[
        {"repetitions": 40, "p": [50, 100, 200], "n over log p": [20, 40, 80, 160, 320], "moral": ["nodewise"]},
        {"repetitions": 8, "p": [50, 100], "n over log p": [20, 40, 80, 160], "moral": ["glasso"]},
    ],
    lecture={"repetitions": 3, "p": [50, 100], "n over log p": [20, 160], "moral": ["nodewise"]},
    note="the source prints no experiment; random trees, Laplace errors with equal variances",
)
def collapse(random_state, *, p, moral, **setting):
    """Whether a random tree is found exactly, with n proportional to log p."""
    n = int(setting["n over log p"] * np.log(p))
    model = random_linear_sem(tree_dag(p, random_state), weights=(0.5, 1.0), signed=True, random_state=random_state)
    learner = LinearDAGLearner(moral=moral, max_parents=4).fit(model.sample(n, "laplace", random_state=random_state))
    distance = structural_hamming_distance(learner.dag_, model.dag)
    missed = (moral_graph(model.dag) & ~learner.moral_graph_).any()
    return {"exact": float(distance == 0), "SHD": distance, "moral edge missed": float(missed)}


@study(
    source="Loh and Bühlmann 2014, Sec. 6.3",
    paper=[
        {"repetitions": 3, "p": [50, 100, 200, 400, 800], "width": [1, 2]},
        {"repetitions": 3, "p": [50, 100, 200], "width": [3]},
    ],
    lecture={"repetitions": 1, "p": [50, 100, 200], "width": [1]},
    note="the source prints a bound, no times; processor seconds of this machine",
)
def runtime(random_state, *, p, width):
    """Processor seconds and records of the exact search with at most three parents, in banded graphs of given width."""
    parents = [list(range(max(0, k - width), k)) for k in range(p)]
    model = random_linear_sem(DAG.from_parents(parents), weights=(0.3, 0.6), signed=True, random_state=random_state)
    covariance = np.cov(model.sample(2000, random_state=random_state).T)
    best_dag_treewidth(parent_scores(np.eye(3)))  # what compiles does so once
    started = time.process_time()
    scores = parent_scores(covariance, moral_graph(model.dag), edge_cost=np.log(2000 * p) / 2000, max_parents=3)
    found = best_dag_treewidth(scores)
    return {"seconds": time.process_time() - started, "records": found.n_records, "width": found.width}


@study(
    source="Loh and Bühlmann 2014, Sec. 4.2",
    paper={
        "repetitions": 40,
        "p": [15],
        "n": [1000],
        "error": ["gaussian", "laplace", "mixed"],
        "scale": ["raw", "standardised"],
        "method": [*METHODS],
    },
    lecture={
        "repetitions": 3,
        "p": [10],
        "n": [500],
        "error": ["laplace"],
        "scale": ["raw", "standardised"],
        "method": [*METHODS],
    },
    paired=("method", "scale"),
    note="the source compares in words; equal error variances before the columns are standardised",
)
def competitors(random_state, *, p, n, error, scale, method):
    """Shares of the true edges with the right arrow, the wrong one, none; and edges too many; for several methods."""
    model = sparse_model(p, 2.0, random_state)
    X = model.sample(n, error, random_state=random_state)
    if scale == "standardised":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    S = np.cov(X.T)
    if method == "PC":
        found = PC().fit(X).graph_
    elif method == "BIC":
        found = cpdag(LinearDAGLearner(criterion="bic").fit(X).dag_)
    elif method == "equal variances":
        found = LinearDAGLearner().fit(X).dag_
    else:
        orders = {"variance order": variance_order, "top-down": top_down_order}
        order = direct_lingam_order(X) if method == "DirectLiNGAM" else orders[method](S)
        found = regress_in_order(S, order, n)
    return _agreement(found, model.dag)


def _agreement(found, truth):
    """Shares of true edges by what became of them; an edge without arrow counts as neither right nor wrong."""
    directed = found.adjacency if isinstance(found, DAG) else _matrix(found.directed_edges, truth.n_nodes)
    linked = found.adjacency | found.adjacency.T
    true, total = truth.adjacency, max(len(truth.edges), 1)
    right, wrong = (true & directed).sum(), (true & directed.T).sum()
    return {
        "right": right / total,
        "reversed": wrong / total,
        "no arrow": ((true & linked).sum() - right - wrong) / total,
        "missed": (true & ~linked).sum() / total,
        "extra edges": int((linked & ~(true | true.T)).sum() // 2),
    }


def _matrix(edges, p):
    matrix = np.zeros((p, p), dtype=bool)
    for i, k in edges:
        matrix[i, k] = True
    return matrix


@study(
    source="Loh and Bühlmann 2014, (30) and (31)",
    paper={
        "repetitions": 25,
        "p": [20],
        "n": [1000, 10_000],
        "rate": [0.0, 0.1, 0.2, 0.3],
        "columns": ["alike", "unlike"],
        "treatment": ["corrected", "complete rows", "filled by means"],
    },
    lecture={
        "repetitions": 4,
        "p": [15],
        "n": [1000],
        "rate": [0.0, 0.1, 0.3],
        "columns": ["unlike"],
        "treatment": ["corrected", "filled by means"],
    },
    paired=("rate", "treatment", "columns"),
    note="the source prints no experiment; unlike columns miss from nothing to twice the rate",
)
def missing(random_state, *, p, n, rate, columns, treatment):
    """Structural Hamming distance when a share of the entries is missing; with no rows left, all edges are lost."""
    model = sparse_model(p, 1.0, random_state)
    X = model.sample(n, "laplace", random_state=random_state)
    share = np.linspace(0, 2 * rate, p) if columns == "unlike" else rate
    X = np.where(random_state.random(X.shape) < share, np.nan, X)
    rows = n
    if treatment == "complete rows":
        X = X[~np.isnan(X).any(axis=1)]
        rows = len(X)
        if rows < 10:
            return {"SHD": len(model.dag.edges), "rows": rows}
        covariance = np.cov(X.T)
    elif treatment == "filled by means":
        covariance = np.cov(np.where(np.isnan(X), np.nanmean(X, axis=0), X).T)
    learner = LinearDAGLearner()
    found = learner.fit(X) if treatment == "corrected" else learner.fit_covariance(covariance, rows)
    return {"SHD": structural_hamming_distance(found.dag_, model.dag), "rows": rows}


@study(
    source="Loh and Bühlmann 2014, Lemmas 15, 16 and 18",
    paper={"repetitions": 20, "p": [20], "n": [200, 800, 3200, 12800]},
    lecture={"repetitions": 2, "p": [20], "n": [200, 800, 3200]},
    paired=("n",),
    note="the source prints rates, no figures",
)
def rates(random_state, *, p, n):
    """Largest error of the inverse covariance, of its graphical lasso estimate, and of the scores of parent sets."""
    model = sparse_model(p, 1.0, random_state)
    S = np.cov(model.sample(n, "laplace", random_state=random_state).T)
    moral = moral_graph(model.dag)
    truth, found = (parent_scores(C, moral).values for C in (model.covariance, S))
    scores = max(np.abs(a - b).max() for a, b in zip(truth, found, strict=True))
    partial = estimate_moral_graph(S, n, method="glasso").partial_correlations
    d = np.sqrt(np.diagonal(model.precision))
    exact = -model.precision / np.outer(d, d)
    np.fill_diagonal(exact, 1.0)
    return {
        "inverse": float(np.abs(np.linalg.inv(S) - model.precision).max()),
        "graphical lasso": float(np.abs(partial - exact).max()),
        "scores": float(scores),
    }


@study(
    source="Loh and Bühlmann 2014, Theorem 9",
    paper={"repetitions": 100, "p": [5], "excess": [1.0, 4.0, 16.0, 32.0, 64.0]},
    lecture={"repetitions": 20, "p": [5], "excess": [1.0, 32.0]},
    paired=("excess",),
    note="the source proves the first column; the others are beyond its bound",
)
def robustness(random_state, *, p, excess):
    """Whether the true graph stays optimal when the ratios of true and assumed variances spread by excess times ξ/p."""
    model = random_linear_sem(
        random_dag(p, 2.0, random_state=random_state), weights=(0.5, 1.0), signed=True, random_state=random_state
    )
    if not model.dag.edges:
        model = LinearSEM(np.diag(np.full(p - 1, 0.7), 1))
    gap = score_gap(model, adjacency=~np.eye(p, dtype=bool))
    spread = 1.0 + excess * gap.gap / p
    position = random_state.random(p)
    position = (position - position.min()) / np.ptp(position)
    assumed = model.noise_variance / spread**position
    best = best_dag_treewidth(parent_scores(model.covariance, noise_variance=assumed))
    lost = dag_score(model.covariance, model.dag, assumed) - best.score
    return {"wrong": float(lost > 1e-9), "gap": gap.gap}
