"""The experiments of Wu and Cheng (2014) on stand-ins for their gesture recordings.

The eight methods of their tables are one class with different parameters, and late fusion.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from learnable.book.study import study
from learnable.chapters.bayesian_coboosting.theory import class_accuracy, fusion_ratios, joint_sums, skeleton_features
from learnable.datasets import load_mnist
from learnable.datasets.motion import make_skeleton_gestures
from learnable.datasets.sequences import make_two_view_sequences
from learnable.ensembles.coboosting.coboost import BayesianCoBoost, LateFusion
from learnable.ensembles.coboosting.models import HMMClassifier
from learnable.ensembles.coboosting.sequences import stack_sequences
from learnable.ensembles.coboosting.update import coboost_update

METHODS = ("M1", "M2", "M1+M2", "Boost.M1", "Boost.M2", "Boost.Sel.M1", "Boost.Sel.M2", "BayCoBoost")
EXTRA = ("M1 x M2",)
BONES = np.array([(0, 3), (3, 1), (1, 2), (1, 4), (4, 5), (1, 6), (6, 7), (0, 8), (8, 9), (0, 10), (10, 11)])
PLANE = (4, 6, 0)  # the elbows and the pelvis
TABLES = "Wu and Cheng 2014, Tables 1 and 2"


def method(name, random_state, *, weak=None, n_rounds=20, n_candidates=5, feature_ratio=0.3):
    """The estimator behind a name of the tables; "M1 x M2" is late fusion by products instead of sums."""
    if name in ("M1+M2", "M1 x M2"):
        return LateFusion(weak, rule="sum" if name == "M1+M2" else "product", random_state=random_state)
    shared = {"n_rounds": n_rounds, "random_state": random_state}
    if name == "BayCoBoost":
        return BayesianCoBoost(weak, n_candidates=n_candidates, feature_ratio=feature_ratio, **shared)
    kind, view = name[:-1], int(name[-1]) - 1
    if kind == "M":
        shared["n_rounds"] = 1
    chosen = {"n_candidates": n_candidates, "feature_ratio": feature_ratio} if kind == "Boost.Sel.M" else {}
    return BayesianCoBoost(weak, use=[view], update="adaboost", **({"n_candidates": 1} | chosen), **shared)


def _figures(model, train, test):
    """Accuracy by class on the test set; of co-boosting also with SAMME's votes and with the posterior decision."""
    (views, y), (views_test, y_test) = train, test
    model.fit(views, y)
    made = class_accuracy(y_test, model.predict(views_test))
    figures = {"accuracy": made.mean, "sd": made.sd, "train": np.mean(model.predict(views) == y)}
    if isinstance(model, BayesianCoBoost) and model.update == "joint":
        figures["share_2"] = model.view_shares_[1]
        for name, change in (("samme", {"vote": "samme"}), ("posterior", {"decision": "posterior"})):
            figures[name] = class_accuracy(y_test, model.set_params(**change).predict(views_test)).mean
        model.set_params(vote="plain", decision="vote")
    return figures


def _halves(made, n_train, random_state):
    """Two views as batches, n_train gestures of each class to train and the rest to test."""
    y = made.target
    train = np.zeros(len(y), dtype=bool)
    for c in np.unique(y):
        train[random_state.permutation(np.flatnonzero(y == c))[:n_train]] = True
    views = [stack_sequences(view) for view in made.views]
    return tuple(([view.take(part) for view in views], y[part]) for part in (train, ~train))


@study(
    source=TABLES,
    paper={"repetitions": 5, "noise_2": [1.0, 1.5, 3.0], "name": [*METHODS, *EXTRA], "n_rounds": [20]},
    lecture={"repetitions": 1, "noise_2": [1.5], "name": ["M1", "Boost.M1", "Boost.Sel.M1"], "n_rounds": [4]},
    paired=("name", "n_rounds"),
    note="simulated gestures: 6 classes, 40 to train and 40 to test of each, 5 informative and 30 noise dimensions",
)
def ladder(random_state, *, noise_2, name, n_rounds):
    """The eight methods on two simulated views; view 2 has `noise_2` times the emission noise of view 1."""
    made = make_two_view_sequences(80, noise=(1.0, noise_2), random_state=random_state)
    train, test = _halves(made, 40, random_state)
    model = method(name, random_state, n_rounds=n_rounds)
    figures = _figures(model, train, test)
    if name == "BayCoBoost":
        figures["informative"] = np.mean([counts[:5].sum() / counts.sum() for counts in model.feature_counts_])
        figures["bound_first"], figures["bound_last"] = model.bounds_[0].sum(), model.bounds_[-1].sum()
    return figures


@study(
    source="Wu and Cheng 2014, Sec. 4.4",
    paper={"repetitions": 5, "n_noise": [0, 10, 30, 60, 120], "name": ["M1", "Boost.M1", "Boost.Sel.M1"]},
    lecture={"repetitions": 1, "n_noise": [0, 30], "name": ["M1"]},
    paired=("name",),
    note="one simulated view with 5 informative dimensions, ten rounds of five candidates",
)
def noise_dimensions(random_state, *, n_noise, name):
    """Boosting of one view with all dimensions and with chosen ones, as noise dimensions are added."""
    made = make_two_view_sequences(80, n_noise=n_noise, random_state=random_state)
    train, test = _halves(made, 40, random_state)
    return _figures(method(name, random_state, n_rounds=10), train, test)


@study(
    source="Wu and Cheng 2014, Sec. 4.4",
    paper={"repetitions": 2, "noise_2": [0.5, 1.0, 1.5, 2.0, 3.0], "n_noise": [0, 10, 20, 40], "name": [*METHODS]},
    lecture={"repetitions": 1, "noise_2": [1.0], "n_noise": [10], "name": ["M1"]},
    paired=("name",),
    note="small simulated sets for a slider: 4 classes, 20 to train and 50 to test of each, five rounds",
)
def noise_grid(random_state, *, noise_2, n_noise, name):
    """The eight methods against the noise of view 2 and the number of noise dimensions."""
    made = make_two_view_sequences(70, n_classes=4, n_noise=n_noise, noise=(1.0, noise_2), random_state=random_state)
    train, test = _halves(made, 20, random_state)
    weak = HMMClassifier(3, max_iter=8)
    return _figures(method(name, random_state, weak=weak, n_rounds=5, n_candidates=3), train, test)


@study(
    source=TABLES,
    paper={"repetitions": 3, "name": [*METHODS, *EXTRA], "n_train": [40], "n_rounds": [20]},
    lecture={"repetitions": 1, "name": ["M1", "M2"], "n_train": [10], "n_rounds": [2]},
    paired=("name", "n_rounds"),
    note="handwritten digits read row by row and column by column, 40 of each class to train and 60 to test",
)
def digit_views(random_state, *, name, n_train, n_rounds):
    """The eight methods on real data: a digit of 28 × 28 pixels as 14 steps of 14 numbers, by rows and by columns."""
    data = load_mnist(28)
    images, y = np.asarray(data.data, dtype=float).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)), data.target
    chosen = np.concatenate([random_state.permutation(np.flatnonzero(y == c))[: n_train + 60] for c in range(10)])
    train = np.arange(len(chosen)) % (n_train + 60) < n_train
    images, y = images[chosen] + random_state.normal(scale=8.0, size=images[chosen].shape), y[chosen]
    views = [images, images.transpose(0, 2, 1)]
    parts = [([stack_sequences(view[part]) for view in views], y[part]) for part in (train, ~train)]
    model = method(name, random_state, weak=HMMClassifier(8), n_rounds=n_rounds, feature_ratio=0.5)
    return _figures(model, *parts)


@study(
    source="Wu and Cheng 2014, Appendix A and Table 2",
    paper={"repetitions": 10, "features": ["raw", "appendix"]},
    lecture={"repetitions": 1, "features": ["raw", "appendix"]},
    paired=("features",),
    note="a simulated stick figure, 6 gestures by 4 subjects, one subject left out at a time",
)
def stick_figures(random_state, *, features):
    """Gestures of a subject who was not in the training set, from raw joints and from the features of the appendix."""
    made = make_skeleton_gestures(12, n_subjects=4, random_state=random_state)
    if features == "raw":
        data = [x.reshape(len(x), -1) for x in made.data]
    else:
        data = [skeleton_features(x, BONES, plane=PLANE) for x in made.data]
    view, said = stack_sequences(data), np.empty(len(made.target), dtype=int)
    for subject in range(4):
        test = made.groups == subject
        said[test] = HMMClassifier().fit(view.take(~test), made.target[~test]).predict(view.take(test))
    return {"accuracy": class_accuracy(made.target, said).mean}


@study(
    source="Wu and Cheng 2014, Sec. 4.4",
    paper={"repetitions": 5, "weak": ["tree", "naive Bayes"], "name": [*METHODS, *EXTRA]},
    lecture={"repetitions": 1, "weak": ["tree", "naive Bayes"], "name": ["M1", "BayCoBoost"]},
    paired=("weak", "name"),
    note="upper and lower half of 8 × 8 digits with noise of standard deviation 6 in each pixel, as plain vectors",
)
def stable_learners(random_state, *, weak, name):
    """Weak learners that do not change much with the weights gain nothing from boosting."""
    X, y = load_digits(return_X_y=True)
    X = X + random_state.normal(scale=6.0, size=X.shape)
    order = random_state.permutation(len(y))
    train, test = (([X[part, :32], X[part, 32:]], y[part]) for part in (order[:900], order[900:]))
    learner = DecisionTreeClassifier(max_depth=4) if weak == "tree" else GaussianNB()
    return _figures(method(name, random_state, weak=learner, feature_ratio=0.5), train, test)


@study(
    source="Wu and Cheng 2014, Sec. 3.1.2",
    paper={"repetitions": 200, "n_classes": [3, 10, 20]},
    lecture={"repetitions": 20, "n_classes": [3]},
    note="two random views of random quality in each of five rounds, 50 instances of each class",
)
def fixed_point_rounds(random_state, *, n_classes):
    """Rounds of the fixed-point equations until every derivative is below 1e-6 of the bound."""
    n = 50 * n_classes
    y = np.arange(n) % n_classes
    log_odds, rounds = np.full((n, n_classes), np.log(n_classes - 1.0)), []
    for _ in range(5):
        quality = random_state.uniform(0.2, 0.9, 2)
        said = [np.where(random_state.random(n) < q, y, random_state.integers(n_classes, size=n)) for q in quality]
        for c in range(n_classes):
            sums = joint_sums(log_odds[:, c], np.array(said) == c, y == c)
            rounds.append(fusion_ratios(sums, smoothing=0.5 * sums.sum() / n, tol=1e-6).n_iter)
        log_odds = coboost_update(log_odds, said, y).log_odds
    return {"below_ten": np.mean(np.array(rounds) < 10), "rounds": np.mean(rounds), "most": np.max(rounds)}
