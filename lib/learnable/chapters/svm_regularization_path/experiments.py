"""The experiments of Hastie, Rosset, Tibshirani and Zhu (2004), at any scale.

The authors stopped their walks at lambda = 1e-4 (C = 10,000, the default of their own program), and so do these.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sklearn.svm import SVC

from learnable.book.study import study
from learnable.chapters.svm_regularization_path.baselines import (
    angle_to,
    effective_rank,
    logistic_path,
    regularised_lda_path,
    rotate_wide,
)
from learnable.datasets import load
from learnable.datasets.classification import make_mixture_means
from learnable.datasets.wide import make_microarray, make_one_shift
from learnable.kernels.functions import Gaussian
from learnable.kernels.svm_path.path import SVMPath
from learnable.kernels.svm_path.validation import OneVersusRestPath, cv_path

PAPER = "Hastie et al. 2004"
STOP = 1e-4
GAMMAS = [5.0, 1.0, 0.5, 0.1]
# Where curves are kept: a quarter of a power of ten apart.
COSTS = np.logspace(-1.5, 4, 23)
SHARES = np.linspace(0, 1, 9)
SPREAD = 0.2


@study(
    source=f"{PAPER}, Table 1 and Figs. 3, 4, 7",
    paper={"repetitions": 20, "n": [200], "gamma": GAMMAS},
    lecture={"repetitions": 1, "n": [200], "gamma": [5.0, 0.1]},
    paired=("gamma",),
    note="20 fresh draws of the centres and the points in place of the authors' one; lattice of 100 x 100",
)
def mixture(random_state, *, n, gamma):
    """Every machine of a path on the mixture example: its errors on a lattice, its length, its elbows.

    ``change_points`` are the breakpoints with lambda >= 1e-4, ``least_errors`` the fewest training errors among them,
    ``curve`` and ``elbow`` the error and the size of the elbow at the costs `COSTS`.
    """
    X, y, lattice, weight = _mixture_with_lattice(n, random_state, side=100)
    path = SVMPath(gamma=gamma, lam_min=STOP).fit(X, y)
    seen = path.lambdas_ >= STOP
    errors = lattice_error(path.path_decision(lattice), weight)[seen]
    best = int(errors.argmin())
    curve = lattice_error(np.array([path.decision_function(lattice, 1 / c) for c in COSTS]), weight)
    two, many = lattice_error(np.array([path.decision_function(lattice, lam) for lam in (0.5, STOP)]), weight)
    at = np.clip(np.searchsorted(-path.lambdas_, -1 / COSTS, side="right") - 1, 0, path.n_steps_ - 1)
    return {
        "rank": effective_rank(Gaussian.from_gamma(gamma)(X)),
        "least_errors": int(path.n_errors_[seen].min()),
        # The walk records its end at 1e-4 as well; it is no change of the elbow.
        "change_points": int(sum(name != "end" for name, _ in path.events_)),
        "elbow_mean": path.elbow_sizes_[:-1].mean(),
        "elbow_largest": int(path.elbow_sizes_.max()),
        "log10_best_cost": -np.log10(path.lambdas_[seen][best]),
        "error_first": errors[0],
        "error_best": errors[best],
        "error_last": errors[-1],
        "error_at_2": two,
        "error_at_10000": many,
        "error_added": many - two,
        "bayes": weight.min(axis=0).sum(),
        "curve": curve,
        "elbow": np.where(1 / COSTS > path.lambdas_[0], 0, path.elbow_sizes_[at]),
    }


@study(
    source=f"{PAPER}, Sec. 4.3",
    paper={"repetitions": 10, "n": [100, 200, 400, 800], "share": [0.5, 0.25], "gamma": [5.0, 1.0, 0.1]},
    lecture={"repetitions": 1, "n": [100], "share": [0.5, 0.25], "gamma": [1.0]},
    paired=("gamma",),
    note="the authors give no data for their range 4 to 6; sizes, shares and draws are ours",
)
def length(random_state, *, n, share, gamma):
    """How many steps a path has for each point of its smaller class, from the top to lambda = 1e-4."""
    made = make_mixture_means(2 * n, grid=2, random_state=random_state)
    small = round(share * n)
    chosen = np.concatenate([np.flatnonzero(made.target == 1)[: n - small], np.flatnonzero(made.target == 0)[:small]])
    path = SVMPath(gamma=gamma, lam_min=STOP).fit(made.data[chosen], made.target[chosen])
    return {
        "steps": path.n_steps_,
        "steps_per_point": path.n_steps_ / small,
        "elbow_mean": path.elbow_sizes_[:-1].mean(),
    }


@study(
    source=f"{PAPER}, Sec. 4.3",
    paper={"repetitions": 5, "n": [200, 500, 1000, 2000]},
    lecture={"repetitions": 1, "n": [200]},
    note="processor time of this package and of scikit-learn's LIBSVM, 10 costs equally far apart in logarithms; "
    "the authors timed R code of 2004 at 10 costs that their Fig. 7 marks",
)
def timing(random_state, *, n):
    """Processor time of the whole path (gamma = 1, down to lambda = 1e-4) over that of LIBSVM at ten costs on it.

    Times depend on the machine, their ratio much less; ``events`` and ``iterations`` (of LIBSVM, for one cost on
    average) are counts. Each time is the smallest of three runs, taken in turn.
    """
    X, y = make_mixture_means(n, random_state=random_state, return_X_y=True)
    path = SVMPath(gamma=1.0, lam_min=STOP).fit(X, y)
    costs = 1 / np.geomspace(path.lambdas_[0], STOP, 10)

    def walk():
        SVMPath(gamma=1.0, lam_min=STOP).fit(X, y)
        return 0

    def grid():
        return sum(int(SVC(C=c, gamma=1.0, cache_size=500).fit(X, y).n_iter_.sum()) for c in costs)

    times = {walk: [], grid: []}
    for _ in range(3):
        for run, taken in times.items():
            started = time.process_time()
            iterations = run()
            taken.append(time.process_time() - started)
    ratio = min(times[grid]) / min(times[walk])
    return {
        "ten_fits_over_path": ratio,
        "path_over_one_fit": 10 / ratio,
        "events": path.n_steps_,
        "iterations": iterations / 10,
    }


@study(
    source=f"{PAPER}, Sec. 1 (the choice of the cost; the comparison is ours)",
    paper={"repetitions": 20, "n": [200], "gamma": [5.0, 1.0, 0.1]},
    lecture={"repetitions": 1, "n": [100], "gamma": [1.0]},
    paired=("gamma",),
)
def choosing(random_state, *, n, gamma):
    """The true error of the cost that five-fold cross-validation chooses: exactly, on a grid of six, and of C = 1.

    ``promise_...`` is the cross-validated error of the choice, which is too small because it is a minimum.
    """
    X, y, lattice, weight = _mixture_with_lattice(n, random_state, side=60)
    path = SVMPath(gamma=gamma, lam_min=STOP)
    curve = cv_path(X, y, 5, path=path, random_state=random_state)
    low, high = curve.best()[1]
    grid = np.geomspace(30, 2 * STOP, 6)
    chosen = {"exact": np.sqrt(low * min(high, 100.0)), "grid": grid[curve(grid).argmin()], "default": 1.0}
    path.fit(X, y)
    found = {}
    for name, lam in chosen.items():
        found[f"error_{name}"] = lattice_error(path.decision_function(lattice, lam)[None], weight)[0]
        found[f"promise_{name}"] = float(curve(lam))
    found["error_best"] = lattice_error(path.path_decision(lattice), weight).min()
    found["pieces"] = curve.values.size
    return found


@study(
    source=f"{PAPER}, Sec. 5.2 and Fig. 10",
    paper={"repetitions": 100, "p": [50]},
    lecture={"repetitions": 5, "p": [50]},
    note="100 draws in place of one",
)
def many_features(random_state, *, p):
    """Forty points, p features of which one matters: angle to the Bayes direction and exact error along the path.

    Curves have nine values of lambda, equally far apart in logarithms from the first breakpoint to the last; the
    discriminants and the logistic regression use the same ones.
    """
    X, y = make_one_shift(40, d=p, random_state=random_state, return_X_y=True)
    y = 2 * y - 1
    path = SVMPath("linear").fit(X, y)
    lams = path.lambdas_[0] * (path.lambdas_[-1] / path.lambdas_[0]) ** SHARES
    offsets = [path.decision_function(np.zeros((1, p)), lam)[0] for lam in lams]
    methods = {
        "svm": ([path.coef_path(lam) for lam in lams], offsets),
        "lda": regularised_lda_path(X, y, lams),
        "logistic": logistic_path(X, y, lams),
    }
    found = {"margin_points": int(np.count_nonzero(path.alpha_at(lams[-1]))), "steps": path.n_steps_}
    found["separable"] = float(path.separable_)
    for name, (coefs, offsets) in methods.items():
        angles = np.array([angle_to(beta, np.eye(p)[0]) for beta in coefs])
        errors = exact_error(np.array(coefs), np.array(offsets))
        found |= {f"angle_{name}": angles, f"error_{name}": errors}
        found |= {f"angle_added_{name}": angles[-1] - angles[0], f"error_added_{name}": errors[-1] - errors[0]}
        found |= {f"error_first_{name}": errors[0], f"error_last_{name}": errors[-1]}
    return found


@study(
    source=f"{PAPER}, Sec. 5.3 and Fig. 11",
    paper=[
        {"repetitions": 10, "data": ["simulated"], "d": [4000, 16063]},
        {"repetitions": 10, "data": ["khan"], "d": [2308]},
    ],
    lecture={"repetitions": 1, "data": ["khan"], "d": [2308]},
    note="the tumours of Ramaswamy et al. (2001) are not here: 14 simulated classes with as many training samples "
    "(144) and 560 test samples, and the four tumours of Khan et al. (2001), where repetitions shuffle the folds only",
)
def many_classes(random_state, *, data, d):
    """One class against the rest at a common lambda: training, eight-fold cross-validation and test errors.

    Curves are kept at nine values of lambda, equally far apart in logarithms, from the first breakpoint of all classes
    to the last. ``train_worst`` is the largest training error among them; ``steps`` counts those of all classes' paths.
    """
    X, labels, X_new, labels_new = _tumours(data, d, random_state)
    R, V = rotate_wide(X)
    template = OneVersusRestPath(SVMPath("linear"))
    model = template.fit(R, labels)
    lams = model.lambdas_[0] * (model.lambdas_[-1] / model.lambdas_[0]) ** SHARES
    turned = X_new @ V
    train = np.array([np.mean(model.predict(R, lam) != labels) for lam in lams])
    test = np.array([np.mean(model.predict(turned, lam) != labels_new) for lam in lams])
    steps = sum(path.n_steps_ for path in model.paths_)
    curve = cv_path(R, labels, 8, path=OneVersusRestPath(SVMPath("linear")), random_state=random_state)
    # Below the last edge of the curve nothing changes any more.
    cross = curve(np.maximum(lams, curve.edges[-1] * (1 + 1e-9)))
    return {
        "train": train,
        "cv": cross,
        "test": test,
        "train_worst": train.max(),
        "cv_first": cross[0],
        "cv_last": cross[-1],
        "test_first": test[0],
        "test_last": test[-1],
        "test_added": test[0] - test[-1],
        "steps": steps,
        "log10_first": np.log10(lams[0]),
        "log10_last": np.log10(lams[-1]),
    }


@study(
    source=f"{PAPER}, Table 1 and Secs. 4.3, 5.1",
    paper={"repetitions": 1, "gamma": GAMMAS, "stop": [1e-4, 8.05e-5, 1e-6]},
    lecture={"repetitions": 1, "gamma": [1.0], "stop": [1e-4]},
    note="on the 200 points that the authors published with The Elements of Statistical Learning; they are not handed "
    "on here: put mixture.txt (columns x1, x2, y) into the folder that LEARNABLE_DATA names",
)
def published_draw(random_state, *, gamma, stop):
    """Rank, fewest training errors and change points of the path on the authors' points, down to lambda = stop.

    Nothing is random here. ``change_points`` counts breakpoints with lambda >= stop, the first one included; ``steps``
    lie between them.
    """
    X, y = published_points()
    path = SVMPath(gamma=gamma, lam_min=stop).fit(X, y)
    events = [name for name, _ in path.events_]
    points = sum(name != "end" for name in events)
    return {
        "rank": effective_rank(Gaussian.from_gamma(gamma)(X)),
        "least_errors": int(path.n_errors_.min()),
        "change_points": points,
        "steps": points - 1,
        "returns": events.count("from_R"),
        "elbow_mean": path.elbow_sizes_[:-1].mean(),
        "elbow_largest": int(path.elbow_sizes_.max()),
    }


def published_points(path=None):
    """The 200 points that the authors published, from a copy that you have: x1, x2 and labels -1, +1."""
    place = Path(path) if path else Path(os.environ.get("LEARNABLE_DATA", ".")) / "mixture.txt"
    if not place.is_file():
        raise FileNotFoundError(
            "the authors' mixture example is not handed on with this package: put mixture.txt (x1,x2,y; from the "
            "pages of The Elements of Statistical Learning) into the folder that LEARNABLE_DATA names"
        )
    table = np.loadtxt(place, delimiter=",", skiprows=1)
    if table.shape != (200, 3) or not np.isin(table[:, 2], (0, 1)).all() or table[:, 2].sum() != 100:
        raise ValueError(f"{place.name} does not hold 200 points in the columns x1, x2, y, half of them with y = 1")
    return table[:, :2], 2 * table[:, 2].astype(int) - 1


def _mixture_with_lattice(n, random_state, side):
    """A draw of the mixture, and the two densities (each with prior 1/2) on a lattice that holds all their mass."""
    made = make_mixture_means(n, grid=2, random_state=random_state)
    reach = 4 * np.sqrt(SPREAD)
    low, high = made.means.min(axis=(0, 1)) - reach, made.means.max(axis=(0, 1)) + reach
    axes = [np.linspace(a, b, side) for a, b in zip(low, high, strict=True)]
    lattice = np.column_stack([a.ravel() for a in np.meshgrid(*axes)])
    squares = ((lattice[:, None, None, :] - made.means) ** 2).sum(axis=-1)
    weight = np.exp(-squares / (2 * SPREAD)).mean(axis=-1).T
    return made.data, 2 * made.target - 1, lattice, weight / weight.sum()


def lattice_error(f, weight):
    """Error of rules sign(f), one for each row of f, where weight[0] and weight[1] are the classes' masses."""
    return np.where(f >= 0, weight[0], weight[1]).sum(axis=1)


def exact_error(beta, offset, shift=2.0):
    """Error of linear rules, one for each row of beta, when the first feature has means +-shift and variance one."""
    mean, size = shift * beta[:, 0], np.linalg.norm(beta, axis=1)
    return 0.5 * (norm.cdf(-(mean + offset) / size) + norm.cdf(-(mean - offset) / size))


def _tumours(data, d, random_state):
    """Training samples and labels, test samples and labels."""
    if data == "khan":
        khan = load("khan")
        new = khan.split == 1
        return khan.data[~new], khan.target[~new], khan.data[new], khan.target[new]
    # Fourteen classes of 8 or 16, as many as the source had (its class sizes were multiples of eight).
    sizes = np.array([8] * 10 + [16] * 4)
    made = make_microarray("many-classes", sizes + 40, d=d, random_state=random_state)
    rank = np.concatenate([np.arange(size + 40) for size in sizes])
    new = rank < 40
    return made.data[~new], made.target[~new], made.data[new], made.target[new]
