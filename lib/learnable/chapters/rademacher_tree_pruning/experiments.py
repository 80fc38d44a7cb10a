"""The experiments of the source: sizes of prunings and their bounds on data sets, budgets, sample sizes, coverage.

Kääriäinen, Malinen and Elomaa 2004, Sec. 6: a tenth of the data for testing, the rest two to one for growing and
pruning.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

from learnable.book.study import study
from learnable.chapters.rademacher_tree_pruning.theory import sup_deviation
from learnable.datasets import load
from learnable.datasets.rules import make_led
from learnable.ensembles.certified_trees.bounds import binomial_bound, occam_bound, rademacher_bound
from learnable.ensembles.certified_trees.growing import grow_prunable, grow_prune_test_split
from learnable.ensembles.certified_trees.penalties import rademacher_penalty
from learnable.trees.reduced_error import log_n_prunings

DELTA = 0.01
C = 1.1
SETS = ("adult", "anneal", "kr_vs_k", "letter", "mushroom", "musk_2", "nursery", "optdigits", "page_blocks", "penbased")


def load_table(name):
    """A stored set as the source's C4.5 trees saw it: nominal inputs one column for each value, missing as a value.

    Parameters
    ----------
    name : str
        As in `learnable.datasets.load`.

    Returns
    -------
    X : array (n, d)
    y : array (n,)
    """
    bunch = load(name)
    if "bags" in bunch:  # a row is a conformation, and has the class of its molecule
        return bunch.data, bunch.target[bunch.bags]
    nominal = [j for j, kind in enumerate(bunch.get("feature_kinds", ())) if kind == "nominal"]
    if not nominal:
        return bunch.data, bunch.target
    coded = make_column_transformer(
        (OneHotEncoder(sparse_output=False, drop="if_binary"), nominal), remainder="passthrough"
    )
    return coded.fit_transform(bunch.data), bunch.target


def led_node_errors(prunable, flip=0.1):
    """P(an example reaches the node and is not of its class), exactly, for LED data.

    Bits are independent given the digit, and no path asks for one twice.

    Parameters
    ----------
    prunable : PrunableTree
        Grown on `learnable.datasets.rules.make_led`, no bit constant in the growing data.
    flip : float, default=0.1
        Probability that a segment is shown wrongly.

    Returns
    -------
    array (m,)
    """
    shown = make_led(1000, flip=0.0, random_state=0)
    digits = np.array([shown.data[shown.target == digit][0, :7] for digit in range(10)])
    on = np.full((10, shown.data.shape[1]), 0.5)
    on[:, :7] = np.where(digits == 1, 1 - flip, flip)
    nodes = prunable.grown.tree_
    joint = np.zeros((nodes.node_count, 10))
    joint[0] = 0.1
    for node in np.flatnonzero(nodes.children_left >= 0):
        j = nodes.feature[node]
        joint[nodes.children_left[node]] = joint[node] * (1 - on[:, j])
        joint[nodes.children_right[node]] = joint[node] * on[:, j]
    return joint.sum(axis=1) - joint[np.arange(len(joint)), prunable.classes[prunable.tree.label]]


def _seconds(call):
    started = time.process_time()
    return call(), time.process_time() - started


def _compare(X, y, rng):
    """One split of a data set: sizes, errors, bounds, and processor time."""
    split = grow_prune_test_split(len(y), random_state=rng)
    grown, growing = _seconds(lambda: grow_prunable(X, y, split, random_state=rng))
    n, k = grown.n_prune, grown.budget(C)
    signs = 2.0 * rng.integers(0, 2, size=n) - 1
    count = log_n_prunings(grown.tree)
    figures = {
        "unpruned": grown.tree.n_nodes,
        "n": n,
        "bits per node": count / np.log(2) / grown.tree.n_nodes,
        "seconds growing": growing,
    }
    for name, budget in (("REP", None), ("k-REP", k)):
        pruning, pruned = _seconds(lambda budget=budget: grown.prune(budget))
        penalty, swept = _seconds(lambda budget=budget: rademacher_penalty(grown, budget, signs=signs))
        log_n = count if budget is None else log_n_prunings(grown.tree, budget)
        error = pruning.error / n
        figures |= {
            f"{name}": pruning.size,
            f"{name} error": error,
            f"{name} test": np.mean(grown.predict(X[split.test], pruning) != y[split.test]),
            f"{name} penalty": penalty,
            f"{name} Rademacher": rademacher_bound(error, penalty, n, DELTA).bound,
            f"{name} Occam, counted": occam_bound(error, log_n, n, DELTA).bound,
            f"{name} Occam, d/4": occam_bound(error, np.log(2) * grown.tree.n_nodes / 4, n, DELTA).bound,
            f"{name} binomial": binomial_bound(pruning.error, n, DELTA, log_n=log_n).bound,
            f"{name} seconds": pruned + swept,
        }
    unpruned = int((grown.prune_codes != grown.tree.label[grown.prune_leaf]).sum())
    return figures | {"test-set bound, unpruned": binomial_bound(unpruned, n, DELTA).bound}


def _warm():
    """Compile what will be timed."""
    grown = grow_prunable(np.arange(9.0)[:, None], [0, 1, 0] * 3, grow_prune_test_split(9, random_state=0))
    for k in (None, grown.budget(C)):
        grown.prune(k)
        rademacher_penalty(grown, k, random_state=0)


@study(
    source="Kääriäinen et al. 2004, Table 1 and Fig. 1",
    paper={"repetitions": 10, "data": [*SETS, "led_300000"]},
    lecture={"repetitions": 2, "data": ["letter", "page_blocks"]},
    note="scikit-learn's entropy trees in place of Weka's C4.5; census, connect-4, covertype, isolet are not stored",
)
def splits(random_state, *, data):
    """Sizes of the unpruned tree and of its prunings, errors and bounds, for one random split of a data set."""
    _warm()
    if data.startswith("led_"):
        return _compare(*make_led(int(data[4:]), random_state=random_state, return_X_y=True), random_state)
    return _compare(*load_table(data), random_state)


@study(
    source="Kääriäinen et al. 2004, Sec. 6.2, the factor c",
    paper={
        "repetitions": 10,
        "data": ["letter", "nursery", "magic", "led_30000"],
        "c": ["1", "1.02", "1.05", "1.1", "1.2", "1.5", "2", "inf"],
    },
    lecture={"repetitions": 1, "data": ["letter"], "c": ["1", "1.1", "inf"]},
    paired=("c",),
    note="the source prints no figures for this experiment, and does not name its data",
)
def budgets(random_state, *, data, c):
    """Error, penalty, bound, test error and size as the budget of growing errors grows."""
    made = data.startswith("led_")
    X, y = make_led(int(data[4:]), random_state=random_state, return_X_y=True) if made else load_table(data)
    split = grow_prune_test_split(len(y), random_state=random_state)
    grown = grow_prunable(X, y, split, random_state=random_state)
    k = grown.budget(float(c))
    pruning = grown.prune(k)
    penalty = rademacher_penalty(grown, k, random_state=random_state)[0]
    part = rademacher_bound(pruning.error / grown.n_prune, penalty, grown.n_prune, DELTA)
    wrong = np.mean(grown.predict(X[split.test], pruning) != y[split.test])
    return {"error": part.error, "2 R": part.penalty, "bound": part.bound, "test": wrong, "size": pruning.size}


@study(
    source="Kääriäinen et al. 2004, Sec. 6.2, large and small sets",
    paper=[
        {"repetitions": 10, "data": ["led"], "n": [1000, 3000, 10000, 30000, 100000]},
        {"repetitions": 10, "data": ["letter"], "n": [1000, 2000, 5000, 10000, 20000]},
    ],
    lecture={"repetitions": 1, "data": ["letter"], "n": [2000]},
    note="the source compares sets of different sizes; here the size varies within one set",
)
def crossover(random_state, *, data, n):
    """The bounds of one split as the number of examples grows."""
    if data == "led":
        return _compare(*make_led(n, random_state=random_state, return_X_y=True), random_state)
    X, y = load_table(data)
    rows = random_state.permutation(len(y))[:n]
    return _compare(X[rows], y[rows], random_state)


@study(
    source="Kääriäinen et al. 2004, Theorem 1 and Lemma 3",
    paper={"repetitions": 500, "n": [200, 500, 2000], "c": ["1.1", "inf"]},
    lecture={"repetitions": 20, "n": [500], "c": ["inf"]},
    paired=("c",),
    note="no experiment of the source: its theorem and its lemma on LED-24 data, where error probabilities are exact",
)
def coverage(random_state, *, n, c):
    """Largest deviation over the prunings, twice the penalty, and whether the bound holds, with n pruning examples."""
    X, y = make_led(3 * n, random_state=random_state, return_X_y=True)
    grown = grow_prunable(X, y, grow_prune_test_split(3 * n, test=0.0, random_state=random_state), random_state=0)
    k = grown.budget(float(c))
    truth = led_node_errors(grown)
    pruning = grown.prune(k)
    penalty = rademacher_penalty(grown, k, random_state=random_state)[0]
    bound = rademacher_bound(pruning.error / n, penalty, n, DELTA).bound
    true = truth[pruning.leaves].sum()
    return {
        "deviation": sup_deviation(grown, truth, k),
        "2 R": 2 * penalty,
        "true error": true,
        "bound": bound,
        "bound fails": float(true > bound),
    }
