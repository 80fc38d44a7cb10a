"""The comparison of Fernandez-Delgado et al. (2014), smaller: 36 of its data sets, 19 classifiers, two partitions.

A cell of `tournament` is one classifier on one data set with one draw of the partitions; classifiers see the same draw.
`rest_of_the_roster` runs the classifiers that it leaves out, on eight data sets and with the source's own grids.
"""

from __future__ import annotations

import functools

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from learnable import datasets
from learnable.book.study import study
from learnable.chapters.classifier_benchmark.theory import further, prepare, roster
from learnable.selection.benchmark import evaluate, make_partitions
from learnable.selection.ranking import friedman_ranks

MEDIUM_SETS = (
    "australian balance_scale bands breast cleveland crx dermatology ecoli fertility flags german_numeric glass "
    "haberman hayes_roth heart hepatitis horse_colic ionosphere iris led7digit lymphography mammographic monks_2 "
    "movement_libras pima promoters seeds sonar spectf tae tic_tac_toe vehicle vowel wine wpbc zoo"
).split()
NOISE_SETS = "ecoli glass haberman heart hepatitis ionosphere iris seeds sonar tae wine wpbc".split()
NOISE_ROSTER = ("rf", "svm_rbf", "svm_poly", "kernel_elm", "knn", "lda")
FEW_SETS = "glass heart ionosphere sonar tae vehicle wine wpbc".split()


@functools.cache
def load_set(name):
    """A stored data set, prepared as in the source: ``(X, y, split)``, with split None where the donor gave none."""
    bunch = datasets.load(name, as_frame=True)
    codes, split = np.asarray(bunch.target), bunch.get("split")
    X, y = prepare(bunch.frame.drop(columns="target"), codes)
    X.setflags(write=False)
    kept = np.isin(codes, y)
    split = None if split is None else np.asarray(split)[kept]
    if split is not None and set(np.unique(y[split == 0])) != set(np.unique(y)):
        split = None
    return X, y, split


def _partitions(name, random_state):
    X, y, split = load_set(name)
    return X, y, make_partitions(y, split=split, random_state=random_state)


def _figures(cell):
    """A failed cell has no accuracy, and says so."""
    failed = cell.error is not None
    return {"accuracy": None if failed else cell.accuracy, "kappa": None if failed else cell.kappa, "failed": failed}


def _score(entrant, X, y, partitions, protocol="paper"):
    return evaluate(entrant.estimator, X, y, partitions, grid=entrant.grid_for(X.shape[1]), protocol=protocol)


@study(
    source="Fernandez-Delgado et al. 2014, Tables 3 to 5",
    paper={
        "repetitions": 2,
        "dataset": MEDIUM_SETS,
        "classifier": [entrant.name for entrant in roster()],
        "scale": ["medium"],
    },
    lecture={
        "repetitions": 1,
        "dataset": ["iris", "wine", "tae", "hepatitis", "seeds", "zoo"],
        "classifier": ["svm_rbf", "kernel_elm", "knn", "lda", "cart", "naive_bayes", "zero_r"],
        "scale": ["medium"],
    },
    paired=("classifier", "scale"),
    note="36 of the 121 data sets and 19 classifiers instead of 179, with thinner grids (forests of 100 trees, 16 "
    "points for a Gaussian kernel), but two draws of the partitions instead of one.",
)
def tournament(random_state, *, dataset, classifier, scale):
    """Accuracy and kappa of one classifier on one data set, by the source's protocol."""
    X, y, partitions = _partitions(dataset, random_state)
    seed = int(random_state.integers(2**31))
    entrant = next(one for one in roster(scale, random_state=seed) if one.name == classifier)
    return _figures(_score(entrant, X, y, partitions))


@study(
    source="Fernandez-Delgado et al. 2014, Tables 3 to 5",
    paper={"repetitions": 1, "dataset": FEW_SETS, "classifier": [entrant.name for entrant in further()]},
    lecture={"repetitions": 1, "dataset": ["tae"], "classifier": ["one_r", "hyper_pipes", "vfi", "dagging"]},
    paired=("classifier",),
    note="Seventeen classifiers that the tournament leaves out, with the source's own grids, on eight data sets.",
)
def rest_of_the_roster(random_state, *, dataset, classifier):
    """Accuracy and kappa of a classifier that the tournament leaves out, by the source's protocol."""
    X, y, partitions = _partitions(dataset, random_state)
    seed = int(random_state.integers(2**31))
    entrant = next(one for one in further(random_state=seed) if one.name == classifier)
    return _figures(_score(entrant, X, y, partitions))


def accuracy_table(result, figure="accuracy"):
    """The result of `tournament` as a frame: data sets in rows, classifiers in columns, NaN for failed cells."""
    frame = result.to_frame()
    frame[figure] = frame[figure].astype(float)
    wide = frame.pivot(index="dataset", columns="classifier", values=figure)
    order = [entrant.name for entrant in roster("full") if entrant.name in wide.columns]
    return wide[order].rename_axis(index=None, columns=None)


@study(
    source="Ours, on the protocol of Fernandez-Delgado et al. 2014, Sec. 3",
    paper={"repetitions": 20, "sets": [len(NOISE_SETS)]},
    lecture={"repetitions": 1, "sets": [3]},
    note="Six classifiers on twelve small data sets, run again for 20 draws of the partitions.",
)
def partition_noise(random_state, *, sets):
    """Mean ranks of six classifiers for one draw of the partitions: how much of a gap is the draw?"""
    table = []
    for name in NOISE_SETS[:sets]:
        X, y, partitions = _partitions(name, random_state)
        seed = int(random_state.integers(2**31))
        field = [entrant for entrant in roster(random_state=seed) if entrant.name in NOISE_ROSTER]
        table.append([_score(entrant, X, y, partitions).accuracy for entrant in field])
    ranks = friedman_ranks(table)
    found = {f"rank_{entrant.name}": value for entrant, value in zip(field, ranks, strict=True)}
    gap = found["rank_rf"] - found["rank_svm_rbf"]
    return {**found, "difference": gap, "forest_first": bool(gap < 0)}


@study(
    source="Ours, on the protocol of Fernandez-Delgado et al. 2014, Sec. 3",
    paper={"repetitions": 5, "dataset": FEW_SETS, "classifier": ["svm_rbf", "kernel_elm", "knn", "pnn", "rda"]},
    lecture={"repetitions": 1, "dataset": ["tae"], "classifier": ["svm_rbf"]},
    paired=("classifier",),
    note="Five classifiers with a grid on eight data sets.",
)
def protocols(random_state, *, dataset, classifier):
    """The same cell with parameters chosen once on all rows, and chosen anew inside each fold."""
    X, y, partitions = _partitions(dataset, random_state)
    entrant = next(one for one in roster(random_state=0) if one.name == classifier)
    found = {name: _score(entrant, X, y, partitions, name).accuracy for name in ("paper", "nested")}
    return {**found, "optimism": found["paper"] - found["nested"]}


@study(
    source="Fernandez-Delgado et al. 2014, Figure 7, with other base classifiers",
    paper=[
        {"repetitions": 3, "dataset": FEW_SETS, "base": ["tree", "stump", "1nn", "svm_rbf"], "ensemble": ["bagging"]},
        {"repetitions": 3, "dataset": FEW_SETS, "base": ["tree", "stump", "svm_rbf"], "ensemble": ["boosting"]},
    ],
    lecture={"repetitions": 1, "dataset": ["sonar"], "base": ["tree"], "ensemble": ["bagging"]},
    paired=("base", "ensemble"),
    note="Ten members, as in the source; CART instead of J48, SVC with C = 4 and gamma = 1/d.",
)
def ensembles(random_state, *, dataset, base, ensemble):
    """A base classifier alone and in an ensemble of ten, on the same folds."""
    X, y, partitions = _partitions(dataset, random_state)
    seed = int(random_state.integers(2**31))
    single = {
        "tree": DecisionTreeClassifier(random_state=seed),
        "stump": DecisionTreeClassifier(max_depth=1, random_state=seed),
        "1nn": KNeighborsClassifier(1),
        "svm_rbf": SVC(C=4.0, gamma=1 / X.shape[1]),
    }[base]
    kind = {"bagging": BaggingClassifier, "boosting": AdaBoostClassifier}[ensemble]
    several = kind(single, n_estimators=10, random_state=seed)
    one, many = (evaluate(model, X, y, partitions).accuracy for model in (single, several))
    return {"single": one, "several": many, "gain": many - one}
