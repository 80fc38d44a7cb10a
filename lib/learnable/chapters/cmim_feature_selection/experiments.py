"""The experiments of the source: errors with and without noise, rare actives, calls (Fleuret 2004, Sec. 6, 7)."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.linear_model import Perceptron
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from learnable.book.study import study
from learnable.chapters.cmim_feature_selection.baselines import filter_features
from learnable.chapters.cmim_feature_selection.boosting import FeatureBoost
from learnable.chapters.cmim_feature_selection.classifiers import NaiveBayesThreshold, WeightedNeighbors
from learnable.chapters.cmim_feature_selection.theory import draw_images, make_rare_actives, make_two_populations
from learnable.features.cmim_selection.binary_features import edge_features
from learnable.features.cmim_selection.selection import cmim
from learnable.features.information import code_columns

FILTERS = {
    "CMIM": "cmim",
    "FCBF": "fcbf",
    "C4.5": "trees",
    "AdaBoost features": "adaboost",
    "MIM": "mim",
    "random": "random",
}
SIZES = (1, 2, 5, 10, 20, 30, 40, 50)


def _classifiers(*, full):
    yield "NB", NaiveBayesThreshold()
    yield "k-NN", WeightedNeighbors()
    if full:
        yield "perceptron", Perceptron(tol=None, max_iter=200, class_weight="balanced", random_state=0)
        machine = SVC(C=1.0, class_weight="balanced")
        yield "SVM", GridSearchCV(machine, {"gamma": [0.01, 0.03, 0.1, 0.3]}, cv=3, scoring="balanced_accuracy")


def _try_all(fit, test, k, rng, *, full, balanced):
    """Error in percent of every pair of a filter and a classifier, on two tables (X, y)."""
    (X, y), (Z, z) = fit, test
    columns = code_columns(X)
    found = {}
    for name, method in FILTERS.items():
        order = filter_features(columns, y, k, method=method, random_state=rng)
        if balanced and method == "adaboost":
            order = np.unique(FeatureBoost(k, balanced=True).fit(X, y).order_)
        for title, model in _classifiers(full=full):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                said = model.fit(X[:, order].astype(float), y).predict(Z[:, order].astype(float))
            found[f"{name} + {title}"] = 100 * (1 - balanced_accuracy_score(z, said))
    said = FeatureBoost(k, balanced=balanced).fit(X, y).predict(Z)
    found["AdaBoost"] = 100 * (1 - balanced_accuracy_score(z, said))
    return found


@study(
    source="Fleuret 2004, Tables 1 and 2",
    paper=[
        {"repetitions": 25, "task": ["faces"], "flipped": [0.0, 0.05], "full": [True]},
        {"repetitions": 8, "task": ["3 or 8", "4 or 9"], "flipped": [0.0, 0.05], "full": [True]},
    ],
    lecture={"repetitions": 1, "task": ["3 or 8"], "flipped": [0.0, 0.05], "full": [False]},
    paired=("flipped", "full"),
    note="other faces (100, each in several poses) and handwritten digits; the kernel's width by cross-validation",
)
def errors(random_state, *, task, flipped, full):
    """Test error in percent with 50 of 43,904 features from 500 pictures, for each filter and classifier."""
    drawn = draw_images(task, 500, random_state=random_state)
    y = np.where(random_state.random(500) < flipped, 1 - drawn.train_target, drawn.train_target)
    fit, test = (edge_features(drawn.train), y), (edge_features(drawn.test), drawn.test_target)
    return _try_all(fit, test, 50, random_state, full=full, balanced=False)


@study(
    source="Fleuret 2004, Table 3",
    paper={"repetitions": 25, "full": [True]},
    lecture={"repetitions": 1, "full": [False]},
    paired=("full",),
    note="simulated columns in place of the Thrombin data; 4,000 test rows in place of 100",
)
def rare(random_state, *, full):
    """Balanced test error in percent with 10 of 2,500 sparse columns, 2.2 percent positives."""
    made = make_rare_actives(1809 + 4000, random_state=random_state)
    X, y = made.data, made.target
    return _try_all((X[:1809], y[:1809]), (X[1809:], y[1809:]), 10, random_state, full=full, balanced=True)


@study(
    source="Fleuret 2004, Sec. 6.2",
    paper=[
        {"repetitions": 5, "task": ["faces", "3 or 8", "4 or 9"], "k": [50, 100]},
        {"repetitions": 1, "task": ["rare"], "k": [10, 100]},
    ],
    lecture={"repetitions": 1, "task": ["3 or 8"], "k": [50]},
    paired=("k",),
    note="other data of the same sizes: 500 pictures with 43,904 features, 1,909 rows with 139,351 columns",
    timed=("naive ms", "scan ms", "heap ms"),
)
def calls(random_state, *, task, k):
    """Conditional informations computed by each order of calls, and processor milliseconds, columns coded before."""
    if task == "rare":
        made = make_rare_actives(1909, n_features=139_351, random_state=random_state)
        columns, y = code_columns(made.data), made.target
    else:
        drawn = draw_images(task, 500, random_state=random_state)
        columns, y = code_columns(edge_features(drawn.train)), drawn.train_target
    figures = {}
    for method in ("naive", "scan", "heap"):
        cmim(columns, y, 1, method=method)  # what compiles does so once
        started = time.process_time()
        found = cmim(columns, y, k, method=method)
        figures[f"{method} ms"] = 1000 * (time.process_time() - started)
        figures[f"{method} calls"] = found.n_calls
        figures.setdefault("chosen", len(found.order))
        if method == "scan":
            figures["share"] = found.share_of_calls
            figures["decay"] = decay(found.calls_per_column)
    return figures


def decay(calls_per_column):
    """Factor by which the number of columns that need n calls falls with n, by least squares for n = 5, ..., 40."""
    counts = np.bincount(calls_per_column, minlength=41)[5:41]
    seen = counts > 0
    if seen.sum() < 2:
        return 0.0
    return float(np.exp(np.polyfit(np.arange(5, 41)[seen], np.log(counts[seen]), 1)[0]))


@study(
    source="Fleuret 2004, Fig. 5",
    paper={"repetitions": 25, "task": ["faces", "3 or 8"]},
    lecture={"repetitions": 1, "task": ["3 or 8"]},
    note="other faces, and handwritten digits",
)
def growth(random_state, *, task):
    """Test error in percent with 1, ..., 50 features, of CMIM with naive Bayes, MIM with naive Bayes, and AdaBoost."""
    drawn = draw_images(task, 500, random_state=random_state)
    X, y, Z, z = edge_features(drawn.train), drawn.train_target, edge_features(drawn.test), drawn.test_target
    columns, boost = code_columns(X), FeatureBoost(50).fit(X, y)
    orders = {name: filter_features(columns, y, 50, method=name.lower()) for name in ("CMIM", "MIM")}
    votes = np.where(Z[:, boost.order_], 1.0, -1.0) * boost.weights_
    figures = {}
    for k in SIZES:
        for name, order in orders.items():
            model = NaiveBayesThreshold().fit(X[:, order[:k]], y)
            figures[f"{name} + NB, {k}"] = 100 * np.mean(model.predict(Z[:, order[:k]]) != z)
        figures[f"AdaBoost, {k}"] = 100 * np.mean((votes[:, :k].sum(axis=1) > 0) != z)
    return figures


@study(
    source="Fleuret 2004, Sec. 7",
    paper={"repetitions": 25, "minority": [0.1, 0.2, 0.3]},
    lecture={"repetitions": 2, "minority": [0.2]},
    note="the source describes the case without figures; columns and probabilities are ours",
)
def minority(random_state, *, minority):
    """Share in percent of the 30 chosen columns that tell about the smaller population, and errors of naive Bayes."""
    made = make_two_populations(3000, n_features=400, minority=minority, random_state=random_state)
    X, y, Z, z = made.data[:1000], made.target[:1000], made.data[1000:], made.target[1000:]
    small = made.population[1000:] == 2
    figures, columns = {}, code_columns(X)
    orders = {name: filter_features(columns, y, 30, method=method) for name, method in list(FILTERS.items())[:2]}
    orders["AdaBoost"] = filter_features(columns, y, 30, method="adaboost")
    orders["C4.5"] = filter_features(columns, y, 30, method="trees", random_state=random_state)
    orders["CMIM, weighted"] = reweighted_order(columns, X, y, 30)
    for name, order in orders.items():
        said = NaiveBayesThreshold().fit(X[:, order], y).predict(Z[:, order])
        figures[f"{name}: columns"] = 100 * np.mean(order >= 200)
        figures[f"{name}: error"] = 100 * np.mean(said != z)
        figures[f"{name}: missed"] = 100 * np.mean(said[small] == 0)
    return figures


def reweighted_order(columns, X, y, k):
    """Choose k/2 columns, give the rows that naive Bayes gets wrong with them half of the weight, choose the rest."""
    first = cmim(columns, y, k // 2).order
    wrong = NaiveBayesThreshold().fit(X[:, first], y).predict(X[:, first]) != y
    weight = np.where(wrong, 0.5 / max(wrong.sum(), 1), 0.5 / max((~wrong).sum(), 1))
    more = cmim(columns, y, k, sample_weight=weight).order
    return np.concatenate([first, more[~np.isin(more, first)]])[:k]
