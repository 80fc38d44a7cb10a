"""Two experiments on the reject option: the clinic that may ask for a second opinion, and rules that were learned.

The notes of the source print no table; these are the experiments of our own that the lecture shows.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnable.book.study import study
from learnable.problems.reject import error_reject_curve
from learnable.problems.zoo import student, student_tradeoff

SOURCE = "Lember 2012, Sec. 1.3"


@study(
    source=SOURCE,
    paper={"repetitions": 200, "coverage": [0.8, 0.9, 0.95, 1.0]},
    lecture={"repetitions": 20, "coverage": [0.9, 1.0]},
    paired=("coverage",),
    note="the notes have no data; this experiment is ours",
)
def second_opinion(random_state, *, coverage):
    """Error among the decided cases of one split of the breast cancer data, passing on the least certain ones."""
    X, y = load_breast_cancer(return_X_y=True)
    seed = int(random_state.integers(2**31))
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, random_state=seed, stratify=y)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_fit, y_fit)
    curve = error_reject_curve(model.predict_proba(X_test), y=y_test)
    return {"error": float(np.interp(coverage, curve.coverage, curve.selective_risk))}


@study(
    source=SOURCE,
    paper={"repetitions": 100, "n": [50, 100, 200, 500, 1000, 2000], "learner": ["logistic", "isotonic"]},
    lecture={"repetitions": 5, "n": [100, 500], "learner": ["logistic", "isotonic"]},
    paired=("learner",),
    note="the notes have no data; this experiment is ours",
)
def learned_rules(random_state, *, n, learner):
    """Excess risk mass of a learned reject rule over the best one that rejects as much, for the hours of study."""
    law = student(1.0)
    hours, passed = law.sample(n, random_state)
    judged, _ = law.sample(20_000, random_state)
    if learner == "logistic":
        model = LogisticRegression(C=1.0).fit(np.log(hours.reshape(-1, 1) + 0.05), passed)
        eta = model.predict_proba(np.log(judged.reshape(-1, 1) + 0.05))[:, 1]
    else:
        model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(hours.ravel(), passed)
        eta = model.predict(judged.ravel())
    curve = error_reject_curve(np.column_stack([1 - eta, eta]), true_post=law.posterior(judged))
    best = student_tradeoff(np.linspace(0.5, 0.2, 500))
    # Both curves have falling reject rates along their points, or rising ones, as np.interp wants them.
    found = np.interp([0.2, 0.5], curve.reject_probability[::-1], curve.accepted_risk[::-1])
    excess = found - np.interp([0.2, 0.5], best.reject_probability, best.accepted_risk)
    return {"excess at 20 %": float(excess[0]), "excess at 50 %": float(excess[1])}
