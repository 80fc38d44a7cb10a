"""Experiments on trees; the notes print worked numbers, but no tables."""

from __future__ import annotations

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from learnable.book.study import study
from learnable.chapters.decision_trees.theory import MedianTree, checkerboard
from learnable.datasets import load
from learnable.ensembles import CARTClassifier, CARTRegressor
from learnable.foundations import Regressogram

OURS = "the notes print no table; this experiment is ours"


@study(
    source="Lember 2012, Sec. 6.3",
    paper={
        "repetitions": 40,
        "grow": ["gini", "entropy", "error"],
        "prune": ["never", "validation", "cross-validation"],
    },
    lecture={"repetitions": 2, "grow": ["gini"], "prune": ["never", "validation"]},
    paired=("grow", "prune"),
    note=OURS,
)
def pruning(random_state, *, grow, prune):
    """Leaves and test error of trees on the breast cancer data, grown on 380 cases, pruned in three ways."""
    X, y = load_breast_cancer(return_X_y=True)
    seed = int(random_state.integers(2**31))
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=189, random_state=seed)
    if prune == "validation":
        X_fit, X_val, y_fit, y_val = train_test_split(X_fit, y_fit, test_size=1 / 3, random_state=seed)
    tree = CARTClassifier(impurity=grow, min_samples_split=2).fit(X_fit, y_fit)
    if prune == "validation":
        tree = tree.prune_by_validation(X_val, y_val)
    elif prune == "cross-validation":
        tree = tree.prune_by_cross_validation(X_fit, y_fit, random_state=seed)
    return {"leaves": tree.get_n_leaves(), "error": np.mean(tree.predict(X_test) != y_test)}


@study(
    source="Lember 2012, Sec. 6.3",
    paper={"repetitions": 30, "n": [100, 1000, 4000], "method": ["grown", "pruned", "regressogram"]},
    lecture={"repetitions": 3, "n": [100, 1000], "method": ["grown", "pruned", "regressogram"]},
    paired=("method",),
    note=OURS,
)
def waves(random_state, *, n, method):
    """Mean squared distance from sin(2πx) of a regression tree or boxes, from n values with noise of size 0.5."""
    X = random_state.random((n, 1))
    y = np.sin(2 * np.pi * X[:, 0]) + 0.5 * random_state.standard_normal(n)
    grid = ((np.arange(2000) + 0.5) / 2000)[:, None]
    if method == "regressogram":
        model = Regressogram(h=n ** (-1 / 3)).fit(X, y)
    else:
        model = CARTRegressor().fit(X, y)
        if method == "pruned":
            model = model.prune_by_cross_validation(X, y, random_state=int(random_state.integers(2**31)))
    return {"error": np.mean((model.predict(grid) - np.sin(2 * np.pi * grid[:, 0])) ** 2)}


def _encoded(frame, learner):
    """A learner behind codes for the categories of a frame, as scikit-learn's trees need them."""
    coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    words = frame.select_dtypes("category").columns.tolist()
    return make_pipeline(make_column_transformer((coder, words), remainder="passthrough"), learner)


@study(
    source="Lember 2012, Sec. 6.3",
    paper={
        "repetitions": 20,
        "rule": [
            "majority",
            "grown",
            "pruned, least error",
            "pruned, one standard error",
            "DecisionTreeClassifier, one standard error",
            "forest",
            "boosting",
        ],
    },
    lecture={"repetitions": 1, "rule": ["majority", "grown", "pruned, one standard error"]},
    paired=("rule",),
    note="ours: 5,000 rows of the stored 32,561 of Adult to learn from, 10,000 others to test",
)
def incomes(random_state, *, rule):
    """Test error and log-loss on Adult, a table with categories and gaps, of one tree and of many."""
    adult = load("adult", as_frame=True)
    X, y = adult.frame.drop(columns="target"), adult.target
    rows = random_state.permutation(len(X))
    fit, test = rows[:5000], rows[5000:15_000]
    seed = int(random_state.integers(2**31))
    X_fit, y_fit, leaves = X.iloc[fit], y[fit], None
    if rule == "grown" or rule.startswith("pruned"):
        model = CARTClassifier(min_samples_split=2 if rule == "grown" else 20).fit(X_fit, y_fit)
        if rule != "grown":
            one_se = "standard error" in rule
            model = model.prune_by_cross_validation(X_fit, y_fit, one_se=one_se, random_state=seed)
        leaves = model.get_n_leaves()
    elif rule.startswith("DecisionTreeClassifier"):
        model, leaves = _one_standard_error(X_fit, y_fit, seed)
    else:
        model = {
            "majority": DummyClassifier(),
            "forest": _encoded(X, RandomForestClassifier(300, random_state=seed)),
            "boosting": HistGradientBoostingClassifier(random_state=seed),
        }[rule].fit(X_fit, y_fit)
    shares = np.clip(model.predict_proba(X.iloc[test]), 1e-3, 1 - 1e-3)
    figures = {"error": np.mean(model.predict(X.iloc[test]) != y[test]), "log-loss": log_loss(y[test], shares)}
    return figures | ({} if leaves is None else {"leaves": leaves})


def _one_standard_error(X, y, seed):
    """scikit-learn's tree with the penalty of the one-standard-error rule, by a search over 20 of its path."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    first = _encoded(X, DecisionTreeClassifier(min_samples_split=20, random_state=seed)).fit(X, y)
    path = first[-1].cost_complexity_pruning_path(first[:-1].transform(X), y).ccp_alphas
    grid = np.unique(np.quantile(path[path > 0], np.linspace(0, 1, 20)))
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    search = GridSearchCV(first, {"decisiontreeclassifier__ccp_alpha": grid}, cv=folds, refit=False).fit(X, y)
    mean, se = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"] / np.sqrt(9)
    chosen = grid[mean >= mean.max() - se[mean.argmax()]].max()
    model = first.set_params(decisiontreeclassifier__ccp_alpha=chosen).fit(X, y)
    return model, model[-1].get_n_leaves()


@study(
    source="Lember 2012, Sec. 6.3",
    paper={"repetitions": 20, "rule": ["tree of 8 leaves", "forest"]},
    lecture={"repetitions": 2, "rule": ["tree of 8 leaves"]},
    paired=("rule",),
    note=OURS,
)
def resampled(random_state, *, rule):
    """Two disjoint samples of 200 tumours: do their first questions agree, and on what share the answers?"""
    cancer = load_breast_cancer()
    rows = random_state.permutation(569)
    halves, test = (rows[:200], rows[200:400]), rows[400:]
    if rule == "forest":
        models = [RandomForestClassifier(300, random_state=0).fit(cancer.data[h], cancer.target[h]) for h in halves]
    else:
        models = [DecisionTreeClassifier(max_leaf_nodes=8, random_state=0) for _ in halves]
        models = [m.fit(cancer.data[h], cancer.target[h]) for m, h in zip(models, halves, strict=True)]
    one, two = (m.predict(cancer.data[test]) for m in models)
    figures = {
        "differ": np.mean(one != two),
        "error": 0.5 * np.mean((one != cancer.target[test]) * 1.0 + (two != cancer.target[test])),
    }
    if rule != "forest":
        figures["same first question"] = float(models[0].tree_.feature[0] == models[1].tree_.feature[0])
    return figures


@study(
    source="Lember 2012, Sec. 6.3",
    paper={"repetitions": 50, "column": ["two values", "ten values", "all different", "informative"]},
    lecture={"repetitions": 5, "column": ["two values", "all different", "informative"]},
    paired=("column",),
    note=OURS,
)
def importances(random_state, *, column):
    """Shares of importance of a column: three that mean nothing, with few and with many values, and one that does."""
    names = ["two values", "ten values", "all different", "informative"]

    def sample(n):
        y = random_state.integers(0, 2, n)
        X = [random_state.integers(0, 2, n), random_state.integers(0, 10, n), random_state.random(n)]
        return np.column_stack([*X, np.where(random_state.random(n) < 0.8, y, 1 - y)]), y

    (X, y), (X_new, y_new) = sample(300), sample(300)
    tree = CARTClassifier(min_samples_split=2).fit(X, y)
    seed = int(random_state.integers(2**31))
    shuffled = permutation_importance(tree, X_new, y_new, n_repeats=10, random_state=seed).importances_mean
    at = names.index(column)
    return {"by impurity": tree.feature_importances_[at], "by permutation": shuffled[at]}


@study(
    source="Lember 2012, Sec. 6.3",
    paper={
        "repetitions": 10,
        "n": [250, 1000, 4000, 16_000],
        "rule": ["CART, 4 leaves", "CART", "median cells"],
        "noise": [0, 2, 10],
    },
    lecture={"repetitions": 2, "n": [250, 1000], "rule": ["CART", "median cells"], "noise": [0]},
    paired=("rule",),
    note="the notes refer to a counterexample of others; this one, and its sizes, are ours",
)
def board(random_state, *, n, rule, noise):
    """Test error on a checkerboard of four fields, on which no first question gains anything."""
    (X, y), (X_test, y_test) = checkerboard(n, noise, random_state), checkerboard(5000, noise, random_state)
    if rule == "median cells":
        model = MedianTree()
    else:
        model = CARTClassifier(min_samples_split=2, max_depth=2 if "4" in rule else None)
    return {"error": np.mean(model.fit(X, y).predict(X_test) != y_test)}
