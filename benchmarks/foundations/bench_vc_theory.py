"""VC theory: exact minimisers and suprema, beside sorting, a greedy tree, scipy, a linear programme per labeling."""

import itertools

import numpy as np
from scipy.optimize import linprog
from scipy.stats import kstest
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import Benchmark
from learnable.chapters.vc_theory.patterns import dichotomies, growth_function
from learnable.chapters.vc_theory.theory import IntervalTruth, sup_dev
from learnable.foundations.erm import interval_path

bench = Benchmark("vc_theory")
truth = IntervalTruth(k0=3, q=0.1)


def intervals_found(ours, peer):
    errors, intervals = ours
    assert (np.diff(errors) <= 0).all() and len(intervals) <= 12
    return f"{errors[12]} training errors with 12 intervals; the peer only sorts"


def fit_path(x, y):
    path = interval_path(x, y, 12)
    return path.errors, path.intervals(12)


def no_more_errors(ours, peer):
    assert ours[0][3] <= peer
    return f"training errors {ours[0][3]} (exact) against {peer} (greedy)"


for n in bench.sizes([10_000, 100_000, 1_000_000]):
    X, y = truth.sample(n, random_state=0)
    x = X[:, 0].copy()
    bench.compare(
        "k-interval minimisers for all k ≤ 12, with traceback",
        size=n,
        ours=lambda x=x, y=y: fit_path(x, y),
        peers={"one np.argsort of x": lambda x=x: np.argsort(x)},
        accuracy=intervals_found,
    )
    bench.compare(
        "three intervals: exact against greedy",
        size=n,
        ours=lambda x=x, y=y: fit_path(x, y),
        peers={
            "DecisionTree, 7 leaves": lambda X=X, y=y: int(
                np.sum(DecisionTreeClassifier(max_leaf_nodes=7, random_state=0).fit(X, y).predict(X) != y)
            )
        },
        accuracy=no_more_errors,
    )


def same_statistic(ours, peer):
    assert abs(ours - peer) < 1e-12
    return f"difference {abs(ours - peer):.0e}"


for n in bench.sizes([1_000, 30_000, 1_000_000]):
    u = np.random.default_rng(1).random(n)
    bench.compare(
        "uniform deviation over half-lines",
        size=n,
        ours=lambda u=u: sup_dev(u, "half_lines"),
        peers={"scipy kstest": lambda u=u: kstest(u, "uniform", method="asymp").statistic},
        accuracy=same_statistic,
    )


def separable_by_programmes(points):
    """One linear programme for each of the 2^n labelings."""
    count = 0
    for pattern in itertools.product((-1.0, 1.0), repeat=len(points)):
        rows = -np.array(pattern)[:, None] * np.column_stack([points, np.ones(len(points))])
        count += linprog(np.zeros(3), A_ub=rows, b_ub=-np.ones(len(points)), bounds=[(None, None)] * 3).success
    return count


def same_count(ours, peer):
    assert len(ours) == peer
    return f"{peer} patterns"


for n in bench.sizes([4, 6, 8]):
    points = np.random.default_rng(2).normal(size=(n, 2))
    assert len(dichotomies(points, "halfspaces")) == growth_function("halfspaces", n, d=2)
    bench.compare(
        "patterns cut out by lines",
        size=n,
        ours=lambda points=points: dichotomies(points, "halfspaces"),
        peers={"a programme per labeling": lambda points=points: separable_by_programmes(points)},
        accuracy=same_count,
    )

bench.finish()
