"""The simulations of Colombo and Maathuis 2014 (Sec. 5 and Appendix A), and stand-ins for their yeast data.

A cell is one random graph with one sample; the orders of the columns are shuffled inside it, so that means over orders
and the variance over orders are figures of the cell. `alpha` is paired: all levels see the same graphs and samples.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from learnable.book.study import study
from learnable.chapters.order_independent_pc.theory import graph_errors, hide_common_causes, top_effects_roc
from learnable.graphs.dags import DAG, random_dag
from learnable.graphs.fci.estimators import fci, rfci
from learnable.graphs.independence import GaussianIndependence, OracleIndependence
from learnable.graphs.linear_sem import LinearSEM, random_linear_sem
from learnable.graphs.mixed import cpdag, structural_hamming_distance
from learnable.graphs.pc.effects import ida_lower_bounds
from learnable.graphs.pc.estimator import PC, orient, pc
from learnable.graphs.pc.search import adjacency_search
from learnable.graphs.pc.tuning import stability_selection

PAPER = "Colombo and Maathuis 2014"
ALPHAS = [0.000625, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04]
RULES = {"PC": None, "CPC": 0.0, "MPC": 0.5}
COMPARED = [("PC-stable", "PC"), ("CPC-stable", "CPC"), ("MPC-stable", "MPC"), ("CPC-stable", "PC-stable")]
COMPARED += [("MPC-stable", "PC-stable")]


def simulated(random_state, p, n, n_neighbors):
    """A linear Gaussian model with weights in [0.1, 1] on a random DAG with shuffled columns, and a sample."""
    model = random_linear_sem(random_dag(p, n_neighbors, random_state), weights=(0.1, 1.0), random_state=random_state)
    return model, model.sample(n, random_state=random_state)


@study(
    source=f"{PAPER}, Figure 5 and Table 4",
    paper={"repetitions": 20, "p": [1000], "n": [50], "orders": [20], "alpha": ALPHAS},
    lecture={"repetitions": 2, "p": [150], "n": [50], "orders": [6], "alpha": [0.01, 0.04]},
    paired=("alpha",),
    note="20 graphs in place of 250",
)
def skeletons(random_state, *, p, n, orders, alpha):
    """Skeletons of PC over random orders, and that of PC-stable: edges, errors, tests by level."""
    model, X = simulated(random_state, p, n, 2)
    truth, ci_test = model.dag.adjacency | model.dag.adjacency.T, GaussianIndependence(X, alpha)
    rows, often = [], np.zeros((p, p))
    for _ in range(orders):
        found = adjacency_search(ci_test, method="original", order=random_state.permutation(p))
        often += found.adjacency
        rows.append(_skeleton_figures(found, truth))
    figures = {f"PC {name}": float(np.mean([row[name] for row in rows])) for name in rows[0]}
    stable = adjacency_search(ci_test, method="stable")
    figures |= {f"stable {name}": value for name, value in _skeleton_figures(stable, truth).items()}
    other = adjacency_search(ci_test, method="stable", order=random_state.permutation(p))
    share = np.triu(often / orders)
    figures |= {
        f"stable fewer {name}": figures[f"PC {name}"] - figures[f"stable {name}"] for name in ("edges", "errors")
    }
    figures["stable more TDR"] = figures["stable TDR"] - figures["PC TDR"]
    return figures | {
        "always": int((share == 1).sum()),
        "ever": int((share > 0).sum()),
        "below half": int(((share > 0) & (share <= 0.5)).sum()),
        "stable within always": float(np.triu((often == orders) & stable.adjacency).sum() / max((share == 1).sum(), 1)),
        "stable differs": int((other.adjacency != stable.adjacency).sum()) // 2,
    }


def _skeleton_figures(found, truth):
    near, tests = found.adjacency, [*found.tests_by_level, *[0] * 8]
    edges, hits = int(near.sum()) // 2, int((near & truth).sum()) // 2
    levels = {f"tests {level}": tests[level] for level in range(6)}
    errors = int((near != truth).sum()) // 2
    tdr = hits / edges if edges else 1.0
    return {"edges": edges, "errors": errors, "TDR": tdr, "tests": sum(tests), **levels}


@study(
    source=f"{PAPER}, Figures 7 and 8",
    paper={"repetitions": 12, "p": [1000], "n": [50], "n_neighbors": [2], "orders": [5], "alpha": [0.01, 0.04]},
    lecture={"repetitions": 2, "p": [100], "n": [50], "n_neighbors": [2], "orders": [4], "alpha": [0.04]},
    paired=("alpha",),
    note="12 graphs and 5 orders in place of 250 and 20; two levels of seven",
)
def orientations(random_state, *, p, n, n_neighbors, orders, alpha):
    """Structural Hamming distance of all twelve variants: its mean and its variance over the orders."""
    return _all_variants(random_state, p, n, n_neighbors, orders, alpha)


@study(
    source=f"{PAPER}, Figures 13 and 14",
    paper={"repetitions": 60, "p": [50], "n": [1000], "n_neighbors": [2, 4], "orders": [6], "alpha": [0.01, 0.04]},
    lecture={"repetitions": 2, "p": [20], "n": [500], "n_neighbors": [2], "orders": [4], "alpha": [0.01]},
    paired=("alpha",),
    note="60 graphs and 6 orders in place of 250 and 50; two levels of seven",
)
def low_dimensional(random_state, *, p, n, n_neighbors, orders, alpha):
    """The same where there are more observations than variables."""
    return _all_variants(random_state, p, n, n_neighbors, orders, alpha)


def _all_variants(random_state, p, n, n_neighbors, orders, alpha):
    model, X = simulated(random_state, p, n, n_neighbors)
    truth, ci_test = cpdag(model.dag), GaussianIndependence(X, alpha)
    distance, edges = {}, {"PC": [], "stable": []}
    for _ in range(orders):
        order = random_state.permutation(p)
        for method, suffix in (("original", ""), ("stable", "-stable")):
            found = adjacency_search(ci_test, method=method, order=order)
            edges["stable" if suffix else "PC"].append(int(found.adjacency.sum()) // 2)
            for name, rule in RULES.items():
                for lists in (False, True):
                    graph, _ = orient(found.adjacency, found.sepsets, ci_test, rule, lists, order)
                    key = f"{'L' if lists else ''}{name}{suffix}"
                    distance.setdefault(key, []).append(structural_hamming_distance(graph, truth))
    figures = {f"{key} SHD": float(np.mean(values)) for key, values in distance.items()}
    figures |= {f"{key} variance": float(np.var(values, ddof=1)) for key, values in distance.items()}
    for better, than in COMPARED:
        for name in ("SHD", "variance"):
            figures[f"{name}: {better} below {than}"] = figures[f"{than} {name}"] - figures[f"{better} {name}"]
    return figures | {f"{key} edges": float(np.mean(values)) for key, values in edges.items()}


@study(
    source=f"{PAPER}, Figures 15 to 18",
    paper=[
        {"repetitions": 60, "p": [50], "n": [50], "n_neighbors": [2], "orders": [4], "alpha": [0.04]},
        {"repetitions": 20, "p": [50], "n": [1000], "n_neighbors": [2], "orders": [4], "alpha": [0.01]},
    ],
    lecture={"repetitions": 1, "p": [15], "n": [500], "n_neighbors": [2], "orders": [2], "alpha": [0.01]},
    paired=("alpha",),
    note="60 graphs (n = 50) or 20 (n = 1000) and 4 orders in place of 250 or 120 and 50 or 20; one level and one "
    "density; sets of at most 3 nodes",
)
def hidden(random_state, *, p, n, n_neighbors, orders, alpha):
    """FCI and RFCI against the graph that an oracle gives: errors in edges and in end marks."""
    model, X = simulated(random_state, p, n, n_neighbors)
    latent = hide_common_causes(model.dag, random_state)
    truth = fci(OracleIndependence(model.dag, latent), max_level=3).graph
    ci_test = GaussianIndependence(np.delete(X, latent, axis=1), alpha)
    figures = {"hidden": len(latent), "true edges": int(truth.adjacency.sum()) // 2}
    for name, algorithm in (("FCI", fci), ("RFCI", rfci)):
        for prefix, colliders in (("", "sepset"), ("C", "cpc"), ("M", "mpc")):
            for suffix, stable in (("", False), ("-stable", True)):
                rows = []
                for index in range(orders):
                    order = np.random.default_rng(index).permutation(ci_test.n_nodes)
                    found = algorithm(ci_test, stable=stable, colliders=colliders, order=order, max_level=3)
                    rows.append(graph_errors(found.graph, truth))
                key = f"{prefix}{name}{suffix}"
                figures[f"{key} edges"] = float(np.mean([row.n_edges for row in rows]))
                figures[f"{key} TDR"] = float(np.mean([row.true_discovery_rate for row in rows]))
                figures[f"{key} marks"] = float(np.mean([row.marks for row in rows]))
                figures[f"{key} variance"] = float(np.var([row.marks for row in rows], ddof=1))
    for name in ("FCI", "RFCI"):
        pairs = [(f"{name}-stable", name), (f"C{name}-stable", f"{name}-stable"), (f"M{name}-stable", f"{name}-stable")]
        for better, than in pairs:
            for what in ("edges", "marks", "variance"):
                figures[f"{what}: {better} below {than}"] = figures[f"{than} {what}"] - figures[f"{better} {what}"]
        figures[f"TDR: {name}-stable above {name}"] = figures[f"{name}-stable TDR"] - figures[f"{name} TDR"]
    for suffix in ("", "-stable"):
        figures[f"edges: FCI{suffix} below RFCI{suffix}"] = (
            figures[f"RFCI{suffix} edges"] - figures[f"FCI{suffix} edges"]
        )
    return figures


EXAMPLE = {(0, 1): 0.7, (1, 2): 0.8, (2, 3): 0.6, (0, 4): 0.5, (3, 4): 0.9}


@study(
    source=f"{PAPER}, Section 4.5 (consistency; no figures are printed)",
    paper=[
        {"repetitions": 60, "graph": ["example 2", "random"], "n": [100, 1000, 10_000]},
        {"repetitions": 20, "graph": ["random"], "n": [100_000]},
    ],
    lecture={"repetitions": 20, "graph": ["example 2"], "n": [1000, 10_000]},
    note="the source proves consistency and simulates none of it",
)
def consistency(random_state, *, graph, n):
    """Whether PC-stable finds the exact CPDAG with alpha = 2 (1 - Phi(n^(1/4)))."""
    if graph == "random":
        model = random_linear_sem(random_dag(15, 2, random_state), weights=(0.4, 1.0), random_state=random_state)
    else:
        weights = np.zeros((5, 5))
        weights[tuple(zip(*EXAMPLE, strict=True))] = list(EXAMPLE.values())
        model = LinearSEM(weights)
    alpha = max(2 * stats.norm.sf(n**0.25), 1e-300)
    found = pc(GaussianIndependence(model.sample(n, random_state=random_state), alpha))
    return {"exact": found.graph == cpdag(DAG(model.adjacency))}


@study(
    source=f"{PAPER}, Figures 1(b), 11 and 12 (simulated stand-in)",
    paper={"repetitions": 3, "p": [300], "n": [63], "n_draws": [20], "alpha": [0.01]},
    lecture={"repetitions": 1, "p": [40], "n": [63], "n_draws": [4], "alpha": [0.01]},
    note="the yeast data cannot be passed on: a linear model with 300 variables in place of 5361 genes, 20 subsamples",
)
def effects(random_state, *, p, n, n_draws, alpha):
    """How many of the largest tenth of the true effects are among the first 500 ranked ones."""
    model, X = simulated(random_state, p, n, 2)
    total = np.linalg.inv(np.eye(p) - model.weights) - np.eye(p)
    figures, first = {}, 500 if p >= 100 else 50
    covariance = np.cov(X, rowvar=False)
    rules = {
        "PC": {"stable": False, "colliders": "sepset", "lists": False},
        "PC-stable": {"stable": True, "colliders": "sepset", "lists": False},
        "MPC-stable": {"stable": True, "colliders": "mpc", "lists": False},
    }
    for name, chosen in rules.items():
        hits = []
        for _ in range(5):
            order = random_state.permutation(p)
            graph = PC(alpha, order=order, **chosen).fit(X).graph_
            hits.append(_hits(ida_lower_bounds(graph, covariance), total, first))
        figures[name] = float(np.mean(hits))
        figures[f"{name} spread"] = float(np.std(hits, ddof=1))
        for suffix, permute in (("+SS", False), ("+SSP", True)):
            settled = stability_selection(
                X, PC(alpha, **chosen), n_draws=n_draws, permute=permute, top=2 * first, random_state=random_state
            )
            figures[f"{name}{suffix}"] = _hits(settled.ranked, total, first)
    largest = min(round(0.1 * p * (p - 1)), int((total != 0).sum()))  # fewer effects than a tenth may exist
    figures["guessing"] = first * largest / (p * (p - 1))
    return figures


def _hits(sizes, total, first):
    _, hits = top_effects_roc(sizes, total)
    return float(hits[min(first, len(hits) - 1)])
