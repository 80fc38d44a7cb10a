"""Experiments on boxes and neighbours; the notes print worked numbers, but no tables."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from learnable.book.study import study
from learnable.chapters.classical_rules.theory import exact_risk_1d, knn_regions_1d, student_joint_cdf
from learnable.ensembles.cart import CARTClassifier
from learnable.foundations.plug_in import ParametricPlugIn
from learnable.foundations.voting import KNN, HistogramRule
from learnable.problems.zoo import student

OURS = "the notes print no table; this experiment is ours"
NEIGHBOURS = {
    "k = 1": lambda n: 1,
    "k = 3": lambda n: 3,
    "k = 5": lambda n: 5,
    "k = 7": lambda n: 7,
    "k = √n": lambda n: int(n**0.5) | 1,
    "k = n^(2/3)": lambda n: round(n ** (2 / 3)) | 1,
}


@study(
    source="Lember 2012, Sec. 6.2",
    paper={"repetitions": 50, "n": [50, 200, 1000, 5000, 20_000], "rule": [*NEIGHBOURS, "histogram"]},
    lecture={"repetitions": 5, "n": [50, 200], "rule": ["k = 1", "k = n^(2/3)", "histogram"]},
    paired=("rule",),
    note=OURS,
)
def growing_samples(random_state, *, n, rule):
    """Exact risk of a rule learned from n students of the study-hours problem."""
    x, y = student(1.0).sample(n, random_state)
    if rule == "histogram":
        h = 4 * n ** (-1 / 3)
        edges = np.arange(int(np.ceil(4 / h)) + 1) * h
        decisions = HistogramRule(h=h).fit(np.reshape(x, (-1, 1)), y).predict((edges[:-1] + h / 2)[:, None])
    else:
        edges, decisions = knn_regions_1d(np.ravel(x), y, NEIGHBOURS[rule](n))
    return {"risk": exact_risk_1d(edges, decisions, student_joint_cdf(1.0))}


@study(
    source="Lember 2012, Sec. 6.2",
    paper={"repetitions": 10, "noise": [0, 1, 2, 5, 10, 20], "rule": ["1", "3", "5", "7", "15", "151", "histogram"]},
    lecture={"repetitions": 1, "noise": [0, 5, 20], "rule": ["1", "151", "histogram"]},
    paired=("rule",),
    note=OURS,
)
def dimension(random_state, *, noise, rule):
    """Test error with 2,000 examples when only the first coordinate matters and the others are noise."""
    law = student(1.0)

    def sample():
        x, y = law.sample(2000, random_state)
        return np.column_stack([np.ravel(x), random_state.uniform(0, 4, (2000, noise))]), y

    (X, y), (X_test, y_test) = sample(), sample()
    if rule == "histogram":
        model = HistogramRule(h=4 * 2000 ** (-1 / (noise + 3)))
    else:
        model = KNN(k=int(rule))
    return {"error": np.mean(model.fit(X, y).predict(X_test) != y_test)}


@study(
    source="Lember 2012, Sec. 6.1",
    paper={"repetitions": 50, "n": [20, 100, 1000, 10_000], "family": ["weird_uniform", "uniform"]},
    lecture={"repetitions": 3, "n": [20, 1000], "family": ["weird_uniform"]},
    paired=("family",),
    note="the notes state the limit; sizes are ours",
)
def plug_in_trap(random_state, *, n, family):
    """Distance of the estimate from the true parameter of class 1, and the risk of its plug-in rule."""
    y = random_state.integers(0, 2, n)
    x = np.where(y == 1, random_state.random(n), -2 * random_state.random(n))
    new = random_state.integers(0, 2, 20_000)
    z = np.where(new == 1, random_state.random(20_000), -2 * random_state.random(20_000))
    rule = ParametricPlugIn(family, family).fit(x[:, None], y)
    figures = {"risk": np.mean(rule.predict(z[:, None]) != new)}
    return figures | ({"distance": abs(rule.theta1_ - 1)} if family == "weird_uniform" else {})


@study(
    source="Lember 2012, Sec. 6.2 and 6.3",
    paper={"repetitions": 20, "rule": ["1", "3", "5", "tree"]},
    lecture={"repetitions": 2, "rule": ["1", "tree"]},
    paired=("rule",),
    note=OURS,
)
def digits(random_state, *, rule):
    """Test error on a fifth of the 1,797 scanned digits."""
    X, y = load_digits(return_X_y=True)
    seed = int(random_state.integers(2**31))
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
    model = CARTClassifier(min_samples_split=2) if rule == "tree" else KNN(k=int(rule))
    return {"error": np.mean(model.fit(X_fit, y_fit).predict(X_test) != y_test)}
