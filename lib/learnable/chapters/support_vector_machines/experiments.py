"""Simulations for a source without experiments: what its theorems say, and what its notions are worth on data.

The lecture notes print worked numbers, theorems and bounds, but no table. The studies below check the statements that
hold for every sample (`dictionary`), those that hold with a probability (`bounds_hold`), and put figures to those that
the notes leave in words: that bounds ignore the dimension (`dimension`), that a lift bends a line (`rings`), that
errors or their squares make little difference (`penalties`), and that a kernel pays on images (`digits`).
"""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnable.book.study import study
from learnable.chapters.support_vector_machines.theory import margin_bounds, quadratic_map
from learnable.datasets import load
from learnable.kernels import smo
from learnable.kernels.svm.linear import DualCoordinateSVM
from learnable.kernels.svm.machines import NuSVM, SoftMarginSVM

FLIPPED = 0.02  # share of labels that are turned round on the sphere
GAMMAS = tuple(round(0.05 * k, 2) for k in range(1, 16))  # margins at which the bounds are evaluated
KINDS = ("ramp", "margin_error", "hinge", "squared")


def overlapping(random_state, n=40):
    """Two Gaussian clouds in the plane that overlap: points and labels -1, +1."""
    y = np.repeat([-1, 1], n // 2)
    return random_state.normal(size=(y.size, 2)) + np.outer(y, [0.9, 0.5]), y


@study(
    source="Lember 2012, Sec. 4.2.3",
    paper={"repetitions": 400, "C": [0.1, 1.0, 10.0, 100.0]},
    lecture={"repetitions": 10, "C": [0.1, 10.0]},
    paired=("C",),
    note="the notes prove the statement and print no figures; 400 samples of 40 points are our choice",
)
def dictionary(random_state, *, C):
    """One machine under its constants: D = C/A, nu = A/(nC), and the shares of bound and of all support vectors.

    ``ordered`` says whether nu lies between the two shares; ``value`` compares A with its other expression,
    the squared norm plus C times the margin errors, as a ratio.
    """
    X, y = overlapping(random_state)
    s = smo.classification(X @ X.T, y, C, tol=1e-9)
    alpha, total = s.alpha, float(s.alpha.sum())
    slack = np.maximum(1.0 - y * (s.values + s.offset), 0.0)
    nu = total / (y.size * C)
    bound, support = np.mean(alpha > C * (1.0 - 1e-6)), np.mean(alpha > 1e-6 * C)
    return {
        "D": C / total,
        "nu": nu,
        "bound": bound,
        "support": support,
        "ordered": float(bound <= nu + 1e-6 and nu <= support + 1e-6),
        "value": (float(s.beta @ s.values) + C * slack.sum()) / total,
    }


def _sphere(random_state, n, d):
    """Unit vectors with margin one half along the first axis, and labels of which a share is flipped."""
    y = random_state.choice([-1.0, 1.0], n)
    X = np.empty((n, d))
    X[:, 0] = 0.5 * y
    for part in np.array_split(X, max(1, n // 1000)):  # blocks that fit into the cache
        u = random_state.standard_normal((len(part), d - 1))
        part[:, 1:] = u * np.sqrt(0.75 / np.einsum("ij,ij->i", u, u))[:, None]
    return X, np.where(random_state.random(n) < FLIPPED, -y, y)


def _exact_risk(w):
    """Risk of sgn w'x on the sphere: the square of one coordinate of a uniform direction has a beta law."""
    side = float(w[1:] @ w[1:])
    reach = min(0.25 * w[0] ** 2 / (0.75 * side), 1.0) if side > 0.0 else 1.0
    wrong = 0.5 * stats.beta.sf(reach, 0.5, (w.size - 2) / 2)
    return float(FLIPPED + (1.0 - 2.0 * FLIPPED) * (wrong if w[0] > 0 else 1.0 - wrong))


@study(
    source="Lember 2012, (4.3.2)-(4.3.5)",
    paper={"repetitions": 20, "d": [5, 20, 60, 200, 1000], "n": [20_000]},
    lecture={"repetitions": 2, "d": [5, 100], "n": [1000]},
    note="the notes state the bounds and evaluate none; n = 20,000 points on a sphere are our choice",
)
def dimension(random_state, *, d, n):
    """The four margin bounds at fixed margins while the dimension grows, beside the exact risk of the same rule.

    Each bound is a list over `GAMMAS`; ``wrong`` is the share of training errors, which a VC bound starts from.
    """
    X, y = _sphere(random_state, n, d)
    w = DualCoordinateSVM(C=0.01).fit(X, y).coef_[0]
    f = X @ w / np.linalg.norm(w)
    rows = [margin_bounds(f, y, 1.0, gamma, 0.05) for gamma in GAMMAS]
    found = {kind: [getattr(row, kind) for row in rows] for kind in KINDS}
    return {"risk": _exact_risk(w), "wrong": np.mean(y * f <= 0.0), **found}


@study(
    source="Lember 2012, (4.3.2)-(4.3.5)",
    paper={"repetitions": 500, "gamma": [0.3, 0.5], "n": [400, 4000], "d": [50]},
    lecture={"repetitions": 20, "gamma": [0.5], "n": [400], "d": [10]},
    note="the notes state the bounds with probability 0.95 and simulate nothing; the sphere is our choice",
)
def bounds_hold(random_state, *, gamma, n, d):
    """Whether each margin bound at delta = 0.05 exceeds the exact risk of the fitted rule, and how large the least is.

    ``bare`` says whether the mean ramp alone, without the terms for complexity and chance, exceeds the risk.
    """
    X, y = _sphere(random_state, n, d)
    w = DualCoordinateSVM(C=n**-0.5).fit(X, y).coef_[0]
    bounds, risk = margin_bounds(X @ w / np.linalg.norm(w), y, 1.0, gamma, 0.05), _exact_risk(w)
    held = {kind: float(getattr(bounds, kind) >= risk) for kind in KINDS}
    least = min(getattr(bounds, kind) for kind in KINDS)
    return {**held, "bare": float(bounds.ramp - bounds.complexity >= risk), "risk": risk, "least": least}


def _circles(random_state, n):
    """Two noisy concentric rings; labels -1 inside, +1 outside."""
    y = np.repeat([-1, 1], n // 2)
    angle = random_state.uniform(0.0, 2.0 * np.pi, y.size)
    radius = np.where(y > 0, 1.0, 0.45) + 0.09 * random_state.normal(size=y.size)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


@study(
    source="Lember 2012, Sec. 4.4",
    paper={"repetitions": 100, "machine": ["line", "lifted", "Gaussian"], "n": [200]},
    lecture={"repetitions": 5, "machine": ["line", "lifted"], "n": [100]},
    paired=("machine",),
    note="the notes draw one such sample and print no error; 100 samples of 200 points are our choice",
)
def rings(random_state, *, machine, n):
    """Error on 2,000 new points of a line, a plane after the quadratic map, and a Gaussian machine on two rings."""
    X, y = _circles(random_state, n)
    new, truth = _circles(random_state, 2000)
    if machine == "lifted":
        X, new = quadratic_map(X), quadratic_map(new)
    kernel = "rbf" if machine == "Gaussian" else "linear"
    fitted = SoftMarginSVM(C=10.0, kernel=kernel, gamma=1.0).fit(X, y)
    return {"error": np.mean(fitted.predict(new) != truth), "support": fitted.support_.size / n}


@study(
    source="Lember 2012, Sec. 4.2.2 and 4.2.3",
    paper=[
        {"repetitions": 20, "penalty": ["errors", "squares"], "constant": [0.001, 0.01, 0.1, 1.0, 10.0]},
        {"repetitions": 20, "penalty": ["nu"], "constant": [0.4, 0.2, 0.1, 0.05, 0.03]},
    ],
    lecture={"repetitions": 1, "penalty": ["errors", "squares"], "constant": [0.01]},
    paired=("penalty", "constant"),
    note="the notes compare the penalties in words; breast cancer and twenty divisions into ten folds are our choice",
)
def penalties(random_state, *, penalty, constant):
    """Tenfold cross-validated error on breast cancer, and the number of support vectors on all of it."""
    X, y = load_breast_cancer(return_X_y=True)
    machines = {
        "errors": SoftMarginSVM(C=constant),
        "squares": SoftMarginSVM(C=constant, norm=2),
        "nu": NuSVM(nu=min(constant, 1.0)),
    }
    model = make_pipeline(StandardScaler(), machines[penalty])
    folds = StratifiedKFold(10, shuffle=True, random_state=int(random_state.integers(2**31)))
    error = 1.0 - cross_val_score(model, X, y, cv=folds).mean()
    return {"error": error, "support": model.fit(X, y)[-1].support_.size}


@study(
    source="Lember 2012, Sec. 4.4",
    paper={"repetitions": 40, "method": ["logistic", "linear", "Gaussian"]},
    lecture={"repetitions": 1, "method": ["linear"]},
    paired=("method",),
    note="the notes have no data; 1,000 images of the digits 3 and 8 and forty splits are our choice",
)
def digits(random_state, *, method):
    """Test error on images of 3 and 8 after a search by fivefold cross-validation on 700 of the 1,000 images."""
    images = load("mnist_5000")
    chosen = np.isin(images.target, (3, 8))
    X, y = images.data[chosen] / 255.0, images.target[chosen]
    seed = int(random_state.integers(2**31))
    X, new, y, truth = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    model, grid = {
        "logistic": (LogisticRegression(max_iter=5000), {"C": [0.001, 0.01, 0.1, 1.0]}),
        "linear": (SoftMarginSVM(), {"C": [0.001, 0.01, 0.1, 1.0]}),
        "Gaussian": (SoftMarginSVM(kernel="rbf"), {"C": [1.0, 10.0, 100.0], "gamma": [0.005, 0.02, 0.08]}),
    }[method]
    search = GridSearchCV(model, grid, cv=5).fit(X, y)
    best = search.best_estimator_
    support = best.support_.size / y.size if hasattr(best, "support_") else None
    return {"error": np.mean(search.predict(new) != truth), "support": support}
