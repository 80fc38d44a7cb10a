"""Exact search, DirectLiNGAM and PC beside causal-learn, on the same data and with the same result.

The exact searches minimise the same BIC inside the same graph; what they find is compared by that score. The greedy
equivalence search (GES) of causal-learn minimises it over all graphs without a promise, and is compared by it too.
"""

import contextlib
import io

import numpy as np

from benchmarks.harness import Benchmark, peer_package
from learnable.chapters.linear_causal_networks.baselines import direct_lingam_order, regress_in_order
from learnable.chapters.linear_causal_networks.experiments import sparse_model
from learnable.graphs import PC, LinearDAGLearner, best_dag_treewidth, parent_scores
from learnable.graphs.dags import DAG, moral_graph

bench = Benchmark("linear_causal_networks", packages=("causal-learn",))
exact = peer_package("causallearn.search.ScoreBased.ExactSearch")
ges = peer_package("causallearn.search.ScoreBased.GES")
lingam = peer_package("causallearn.search.FCMBased.lingam")
pc = peer_package("causallearn.search.ConstraintBased.PC")
N = 1000


def quietly(call):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return call()


def bic(X, adjacency=None):
    """Scores as causal-learn has them: the variance with divisor n."""
    return parent_scores(np.cov(X.T, bias=True), adjacency, kind="bic", n_samples=len(X))


def draw(p, error="laplace", n_neighbors=1.5):
    model = sparse_model(p, n_neighbors, np.random.default_rng(p))
    X = model.sample(N, error, random_state=p)
    return model, X - X.mean(axis=0)


for p in bench.sizes([8, 12, 15]):
    model, X = draw(p)
    moral = moral_graph(model.dag)
    scores = bic(X, moral)

    def same_score(ours, peer, scores=scores):
        theirs = scores.score(DAG(peer[0] > 0))
        assert abs(ours.score - theirs) < 1e-6 * abs(theirs) + 1e-3, (ours.score, theirs)
        return f"equal BIC, difference {abs(ours.score - theirs):.0e}"

    bench.compare(
        "best DAG by BIC inside a given moral graph, n = 1,000",
        size=p,
        ours=lambda X=X, moral=moral: best_dag_treewidth(bic(X, moral)),
        peers={
            "causal-learn exact search, A*": lambda X=X, moral=moral: quietly(
                lambda: exact.bic_exact_search(X, super_graph=moral.astype(float))
            ),
            "causal-learn exact search, dynamic programming": lambda X=X, moral=moral: quietly(
                lambda: exact.bic_exact_search(X, super_graph=moral.astype(float), search_method="dp")
            ),
        },
        accuracy=same_score,
    )

for p in bench.sizes([8, 12, 15]):
    model, X = draw(p)
    free = bic(X)

    def as_dag(graph):
        """A DAG of the class that GES returns, by causal-learn's own marks (-1 tail, 1 arrowhead)."""
        from learnable.graphs.mixed import MixedGraph, pdag_to_dag

        return pdag_to_dag(MixedGraph.from_causal_learn(graph))

    def not_worse(ours, peer, free=free):
        theirs, mine = free.score(as_dag(peer["G"].graph)), free.score(ours.dag_)
        return f"BIC of ours less that of GES: {mine - theirs:+.2f}"

    bench.compare(
        "linear Gaussian class by BIC, moral graph estimated, n = 1,000",
        size=p,
        ours=lambda X=X: LinearDAGLearner(criterion="bic", edge_cost=0.0, prune=False).fit(X),
        peers={"causal-learn GES": lambda X=X: quietly(lambda: ges.ges(X, score_func="local_score_BIC"))},
        accuracy=not_worse,
    )

for p in bench.sizes([6, 12, 20]):
    model, X = draw(p)

    def theirs(X=X):
        fitted = lingam.DirectLiNGAM()
        fitted.fit(X)
        return fitted

    def ours(X=X):
        order = direct_lingam_order(X)
        return order, regress_in_order(np.cov(X.T), order, len(X))

    def same_order(mine, peer):
        assert mine[0].tolist() == [int(k) for k in peer.causal_order_], "the orders differ"
        return "the same causal order"

    bench.compare(
        "DirectLiNGAM, order and coefficients, n = 1,000",
        size=p,
        ours=ours,
        peers={"causal-learn DirectLiNGAM": theirs},
        accuracy=same_order,
    )

for p in bench.sizes([10, 20, 40]):
    model, X = draw(p)

    def run_pc(X=X):
        return quietly(lambda: pc.pc(X, 0.01, "fisherz", show_progress=False))

    def same_skeleton(mine, peer):
        theirs = peer.G.graph != 0
        differ = int(((mine.adjacency | mine.adjacency.T) != (theirs | theirs.T)).sum() // 2)
        assert differ <= 1, differ
        return f"skeletons differ at {differ} pairs"

    bench.compare(
        "PC with partial correlations, n = 1,000",
        size=p,
        ours=lambda X=X: PC(0.01, colliders="sepset", lists=False).fit(X).graph_,
        peers={"causal-learn PC": run_pc},
        accuracy=same_skeleton,
    )

bench.finish()
