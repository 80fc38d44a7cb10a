"""The experiments of the source: seven of ten bits, wrappers on real data, tolerance (Stracuzzi and Utgoff 2004)."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import PredefinedSplit
from sklearn.tree import DecisionTreeClassifier

from learnable.book.study import study
from learnable.chapters.randomized_variable_elimination.perceptron import ThermalPerceptron
from learnable.datasets import load, load_splice_bits
from learnable.datasets.rules import make_led, make_m_of_n, make_monks
from learnable.features.subsets import EstimatorSubsets, NaiveBayesSubsets
from learnable.features.variable_elimination.search import rve, rvers
from learnable.features.variable_elimination.wrappers import (
    backward_elimination,
    filter_selection,
    forward_selection,
    gain_ratio,
)

EPOCHS = 1897
R_MAX = {
    "DNA": (50, 100, 180),
    "LED, labels": (25, 75, 150),
    "LED, segments": (25, 75, 150),
    "optdigits": (25, 40, 64),
    "monks-2": (5, 10, 17),
    "hiva": (100, 750, 1617),
}
SEARCHES = ("small r_max", "medium r_max", "large r_max", "k = 1")
RIVALS = ("none", "forward", "backward", "filter")
TEN_BITS = ("RVE", "r_max = 20", "r_max = 40", "r_max = 60", "r_max = 80", "r_max = 100", "RVE, k = 1")


def perceptron_cost(n, n_samples=1000):
    """Weight updates that the source counts for one training of its perceptron, 1897 n_samples (n + 1).

    Parameters
    ----------
    n : int or ndarray
        Number of columns.
    n_samples : int, default=1000
        Rows of the training set.

    Returns
    -------
    int or ndarray
        The updates.

    Examples
    --------
    >>> perceptron_cost(100)
    191597000
    """
    return EPOCHS * n_samples * (n + 1)


@study(
    source="Stracuzzi and Utgoff 2004, Table 4",
    paper={"repetitions": 12, "method": [*TEN_BITS]},
    lecture={"repetitions": 1, "method": ["RVE"]},
    paired=("method",),
    note="twelve problems instead of twenty",
)
def seven_of_ten(random_state, *, method):
    """Weight updates, calls and inputs on 7-of-10 among 100 bits, thermal perceptron, tolerance 0.06."""
    made = make_m_of_n(2000, random_state=random_state)
    seed, search = int(random_state.integers(2**31)), np.random.default_rng(random_state.integers(2**31))
    halves = PredefinedSplit(np.repeat([-1, 0], 1000))
    evaluator = EstimatorSubsets(ThermalPerceptron(random_state=seed), made.data, made.target, cv=halves)
    common = {"cost": perceptron_cost, "tol": 0.06, "random_state": search}
    if method.startswith("RVE"):
        found = rve(evaluator, 10, rule="single" if "k = 1" in method else "optimal", **common)
    else:
        found = rvers(evaluator, r_max=int(method.split("=")[1]), **common)
    return {
        "updates / 1e9": found.cumulative_cost(perceptron_cost)[-1] / 1e9,
        "calls": found.n_calls,
        "inputs": len(found.kept),
        "exact": float(np.array_equal(found.kept, made.relevant)),
        "first error": found.errors[0],
        "distinct rows": len(np.unique(made.data[:1000, made.relevant], axis=0)),
    }


def split_data(data, random_state):
    """A data set of the source with a random split: X, y and the splitter that trains on one part.

    Parameters
    ----------
    data : str
        "DNA", "LED, labels", "LED, segments", "optdigits", "monks-2" or "hiva".
    random_state : numpy.random.Generator
        For the split, and for the draw where the set is simulated.

    Returns
    -------
    tuple
        Rows of both parts, their labels, and -1 for training rows and 0 for test rows.
    """
    if data.startswith("LED"):
        noise = {"flip": 0.0, "label_noise": 0.1} if data.endswith("labels") else {"flip": 0.1, "label_noise": 0.0}
        X, y = make_led(3800, n_irrelevant=143, random_state=random_state, return_X_y=True, **noise)
        return X, y, np.repeat([-1, 0], [1800, 2000])
    if data == "monks-2":
        X, y = make_monks(2, one_hot=True, return_X_y=True)
        rows = np.concatenate([random_state.permutation(432)[:169], np.arange(432)])
        return X[rows], y[rows], np.repeat([-1, 0], [169, 432])
    X, y = load_splice_bits(return_X_y=True) if data == "DNA" else load(data, return_X_y=True)
    rows = random_state.permutation(len(X))
    n_train = {"DNA": 2000, "optdigits": 3823}.get(data, int(0.9 * len(X)))
    return X[rows], y[rows], np.repeat([-1, 0], [n_train, len(X) - n_train])


def _evaluators(X, y, part, learner):
    """What the search asks, five folds inside the training rows, and what judges it, the test rows."""
    train = part < 0
    if learner == "bayes":
        return NaiveBayesSubsets(X[train], y[train]), NaiveBayesSubsets(X, y, cv=PredefinedSplit(part))
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0)
    return EstimatorSubsets(tree, X[train], y[train]), EstimatorSubsets(tree, X, y, cv=PredefinedSplit(part))


def _search(method, inner, data, X, y, cost, random_state):
    options = {"cost": cost, "random_state": random_state}
    if method == "k = 1":
        return rvers(inner, rule="single", r_min=1, **options)
    if method in SEARCHES:
        return rvers(inner, r_max=R_MAX[data][SEARCHES.index(method)], **options)
    if method == "forward":
        return forward_selection(inner)
    if method == "backward":
        return backward_elimination(inner)
    return filter_selection(inner, gain_ratio(X, y))


@study(
    source="Stracuzzi and Utgoff 2004, Tables 6-9",
    paper=[
        {
            "repetitions": 20,
            "data": ["DNA", "LED, labels", "LED, segments", "optdigits", "monks-2"],
            "learner": ["bayes"],
            "method": [*RIVALS, *SEARCHES],
        },
        {
            "repetitions": 5,
            "data": ["hiva"],
            "learner": ["bayes"],
            "method": ["none", *SEARCHES, "forward", "filter"],
        },
        {"repetitions": 20, "data": ["monks-2"], "learner": ["tree"], "method": [*RIVALS, *SEARCHES]},
        {"repetitions": 2, "data": ["DNA"], "learner": ["tree"], "method": ["none", "small r_max", "forward"]},
        {
            "repetitions": 2,
            "data": ["LED, segments"],
            "learner": ["tree"],
            "method": ["none", "small r_max", "forward"],
        },
    ],
    lecture={"repetitions": 1, "data": ["monks-2"], "learner": ["bayes"], "method": ["none", "forward"]},
    paired=("method", "learner"),
    note="random splits; hiva in place of the internet advertisements; mult-ftr, soybean and euthyroid are not at hand",
)
def wrappers(random_state, *, data, learner, method):
    """Inputs, test error in percent, and evaluations of one wrapper with one learner on one data set."""
    X, y, part = split_data(data, random_state)
    inner, outer = _evaluators(X, y, part, learner)
    if method == "none":
        everything = np.arange(X.shape[1])
        return {"inputs": X.shape[1], "error %": 100 * outer.error(everything), "evaluations": 0}
    cost = "linear" if learner == "bayes" else "quadratic"
    train = part < 0
    found = _search(method, inner, data, X[train], y[train], cost, random_state)
    return {"inputs": len(found.kept), "error %": 100 * outer.error(found.kept), "evaluations": found.n_calls}


@study(
    source="Stracuzzi and Utgoff 2004, Fig. 4 and Sec. 7.4",
    paper={"repetitions": 20, "tol": [0.0, 0.002, 0.01], "compare_to": ["previous", "best"]},
    lecture={"repetitions": 1, "tol": [0.002], "compare_to": ["previous"]},
    paired=("tol", "compare_to"),
    note="twenty random splits of DNA; the source draws one run and prints no figures",
)
def tolerance(random_state, *, tol, compare_to):
    """Naive Bayes on DNA, r_max = 50: how far the inner error drifts, and the test error at the end and at its best."""
    X, y, part = split_data("DNA", random_state)
    inner, outer = _evaluators(X, y, part, "bayes")
    found = rvers(inner, r_max=50, tol=tol, compare_to=compare_to, random_state=random_state)
    calls = np.flatnonzero(found.accepted)
    along = np.array([outer.error(found.subset_after(call)) for call in calls])
    return {
        "inputs": len(found.kept),
        "calls": found.n_calls,
        "inner % at start": 100 * found.errors[0],
        "inner % at best": 100 * found.errors.min(),
        "inner % at end": 100 * found.error,
        "test % at end": 100 * along[-1],
        "test % at best": 100 * along.min(),
    }
