"""Forests of randomised trees beside scikit-learn's: without sources they are extremely randomised trees."""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from benchmarks.harness import Benchmark
from learnable.ensembles import TransferForestClassifier

bench = Benchmark("transfer_forests")
N_TREES, N_FEATURES, N_CLASSES = 10, 192, 8


def clouds(n):
    """Eight Gaussian clouds in 192 dimensions, numbers that single precision holds: both sides see the same."""
    rng = np.random.default_rng(0)
    centres, y = rng.normal(size=(N_CLASSES, N_FEATURES)), rng.integers(N_CLASSES, size=n + 2000)
    X = (0.35 * centres[y] + rng.normal(size=(n + 2000, N_FEATURES))).astype(np.float32)
    return X[:n].astype(np.float64), y[:n], X[:n], X[n:], y[n:]


def as_accurate(test, truth, slack):
    def check(ours, peer):
        mine, theirs = ours.score(test, truth), peer.score(test, truth)
        assert mine >= theirs - slack, (mine, theirs)
        return f"test accuracy {mine:.3f}, theirs {theirs:.3f}"

    return check


for n in bench.sizes([2_000, 20_000, 100_000]):
    X, y, single, test, truth = clouds(n)
    # Ten trees scatter by about two points of accuracy when the candidates are drawn anew.
    for tries in (14, 50):
        common = {"max_depth": 8, "random_state": 0}
        bench.compare(
            f"{N_TREES} trees of depth 8 without sources, {tries} candidates a node, {N_FEATURES} features, by rows",
            size=n,
            ours=lambda X=X, y=y, tries=tries, common=common: TransferForestClassifier(
                N_TREES, split="axis", gamma=0.0, n_candidates=tries, **common
            ).fit(X, y),
            peers={
                "ExtraTreesClassifier": lambda X=single, y=y, tries=tries, common=common: ExtraTreesClassifier(
                    N_TREES, criterion="entropy", max_features=tries, **common
                ).fit(X, y)
            },
            accuracy=as_accurate(test, truth, 0.03),
        )
    bench.compare(
        f"{N_TREES} trees of depth 8 without sources, 50 random candidates or 13 features in full, by rows",
        size=n,
        ours=lambda X=X, y=y: TransferForestClassifier(
            N_TREES, split="axis", gamma=0.0, max_depth=8, random_state=0
        ).fit(X, y),
        peers={
            "RandomForestClassifier": lambda X=single, y=y: RandomForestClassifier(
                N_TREES, criterion="entropy", max_depth=8, random_state=0
            ).fit(X, y)
        },
        accuracy=as_accurate(test, truth, 0.03),
    )
bench.finish()
