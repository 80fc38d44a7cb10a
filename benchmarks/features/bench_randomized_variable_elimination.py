"""Wrappers beside scikit-learn's: the error of many subsets, forward selection, and the table of the schedule.

All searches run with naive Bayes on bits and the same folds, so that both sides choose the same columns; the schedule
is compared with the plain dynamic programme in vectorised numpy.
"""

import numpy as np
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB

from benchmarks.harness import Benchmark
from learnable.datasets.rules import make_led
from learnable.features import forward_selection, rve_schedule, rvers
from learnable.features.subsets import EstimatorSubsets, NaiveBayesSubsets

bench = Benchmark("randomized_variable_elimination")
FOLDS = KFold(5)


def led(d, n=2000):
    return make_led(n, n_irrelevant=d - 7, random_state=0, return_X_y=True)


def same(ours, peer):
    np.testing.assert_allclose(ours, peer, atol=1e-9)
    return "equal errors"


for d in bench.sizes([50, 300]):
    X, y = led(d, 2000 if d > 20 else 200)
    rng = np.random.default_rng(0)
    subsets = [rng.permutation(d)[: d // 2] for _ in range(20)]

    def ours(X=X, y=y, subsets=subsets):
        evaluator = NaiveBayesSubsets(X, y, cv=FOLDS)
        return [evaluator.error(s) for s in subsets]

    def refit(X=X, y=y, subsets=subsets):
        return [1 - cross_val_score(BernoulliNB(), X[:, np.sort(s)], y, cv=FOLDS).mean() for s in subsets]

    bench.compare("errors of 20 subsets", size=d, ours=ours, peers={"cross_val_score": refit}, accuracy=same)


def same_columns(ours, peer):
    np.testing.assert_array_equal(ours, peer)
    return "the same columns"


for d in bench.sizes([10, 40]):
    X, y = led(d, 2000 if d > 20 else 200)

    def forward(X=X, y=y):
        return forward_selection(NaiveBayesSubsets(X, y, cv=FOLDS), max_features=5, tol=-1.0).kept

    def sequential(X=X, y=y):
        selector = SequentialFeatureSelector(BernoulliNB(), n_features_to_select=5, cv=FOLDS)
        return np.flatnonzero(selector.fit(X, y).get_support())

    bench.compare(
        "forward selection of five columns",
        size=d,
        ours=forward,
        peers={"SequentialFeatureSelector": sequential},
        accuracy=same_columns,
    )


def same_way(ours, peer):
    np.testing.assert_array_equal(ours.kept, peer.kept)
    return f"the same {len(ours.kept)} columns after {ours.n_calls} evaluations"


for d in bench.sizes([15, 60]):
    X, y = led(d, 2000 if d > 20 else 200)

    def reverse(X=X, y=y):
        return rvers(NaiveBayesSubsets(X, y, cv=FOLDS), r_max=20, random_state=0)

    def reverse_refit(X=X, y=y):
        return rvers(EstimatorSubsets(BernoulliNB(), X, y, cv=FOLDS), r_max=20, random_state=0)

    bench.compare(
        "RVErS, whole search",
        size=d,
        ours=reverse,
        peers={"the same, BernoulliNB refitted": reverse_refit},
        accuracy=same_way,
    )


def plain(n_features, r):
    cost = np.zeros(n_features + 1)
    for n in range(r + 1, n_features + 1):
        i = np.arange(n - r)
        with np.errstate(divide="ignore"):
            cost[n] = ((n - i) / np.cumprod((n - r - i) / (n - i)) + cost[n - 1 - i]).min()
    return cost


def same_cost(ours, peer):
    np.testing.assert_allclose(ours.cost_to_go, peer, rtol=1e-9)
    return "equal costs"


for n_features in bench.sizes([100, 2000]):
    bench.compare(
        "schedule, 10 relevant columns",
        size=n_features,
        ours=lambda N=n_features: rve_schedule(N, 10),
        peers={"numpy, all batches": lambda N=n_features: plain(N, 10)},
        accuracy=same_cost,
    )

bench.finish()
