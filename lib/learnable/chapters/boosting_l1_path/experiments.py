"""The experiments of Rosset, Zhu and Hastie (2004): small in the lecture, at their own scale elsewhere.

The prostate, diabetes and spam data are the source's own; its two-dimensional mixture is not printed, so ours has the
same size and dictionary, and other points.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_diabetes, make_hastie_10_2

from learnable.book.study import study
from learnable.chapters.boosting_l1_path.theory import BestFirstTrees, l2_boost_path, max_l2_margin, scale_columns
from learnable.datasets import load
from learnable.ensembles.boosting_path.classifier import BoostedPathClassifier
from learnable.ensembles.boosting_path.constrained import l1_constrained_path
from learnable.ensembles.boosting_path.dictionaries import monomials
from learnable.ensembles.boosting_path.stepping import eps_boost
from learnable.ensembles.gradient import GradientBoost
from learnable.ensembles.margins import margin, max_l1_margin
from learnable.optim.homotopy import lasso_homotopy
from learnable.validation import check_rng

NORMS = np.geomspace(1.0, 500.0, 50)  # where margins and errors of trees are recorded
SHOTS = np.unique(np.geomspace(100, 3_000_000, 70).round().astype(np.int64))


def unit_columns(X, y):
    """Centre X and y, and scale the columns of X to length one."""
    X = X - np.mean(X, axis=0)
    return X / np.linalg.norm(X, axis=0), y - np.mean(y)


def mixture(random_state):
    """Fifty points in the plane for each class, around three centres each, with standard deviation 0.22."""
    rng = check_rng(random_state)
    centres = [[-1, -1], [1, 1], [0, 0.1]], [[-1, 1], [1, -1], [0.9, 0]]
    points = [np.array(c)[rng.integers(3, size=50)] + 0.22 * rng.normal(size=(50, 2)) for c in centres]
    return np.vstack(points), np.repeat([1.0, -1.0], 50)


@study(
    source="Rosset et al. 2004, Figures 1 and 5",
    paper={"repetitions": 1, "data": ["prostate", "diabetes"], "steps": [600, 6000, 60_000]},
    lecture={"repetitions": 1, "data": ["prostate", "diabetes"], "steps": [600, 6000]},
)
def squared_paths(random_state, *, data, steps):
    """Gap between boosting and the lasso, before and after a coefficient of the lasso turns back.

    The step is the norm of the least-squares fit divided by `steps`. ``turns`` and ``enters`` are the numbers of the
    variable that turns back first and of the one that enters there (None where the path is monotone); ``gap_before``
    is the largest gap at norms below that, ``gap_after`` up to 1.2 times that norm; gaps are divided by the final norm.
    """
    X, y = load_diabetes(return_X_y=True) if data == "diabetes" else _arrays("prostate")
    X, y = unit_columns(X, y)
    corners = lasso_homotopy(X, y).coefs
    norms = np.abs(corners).sum(axis=1)
    falls = np.argwhere(np.diff(np.abs(corners), axis=0) < -1e-9 * norms[-1])
    turn = norms[falls[0, 0]] if len(falls) else None
    entered = np.flatnonzero((corners[falls[0, 0] + 1] != 0) & (corners[falls[0, 0]] == 0)) if len(falls) else []
    run = eps_boost(X, y, "squared", eps=norms[-1] / steps, n_steps=steps, record=np.arange(steps + 1))
    last = 0.999 * norms[-1] if turn is None else 0.999 * turn
    before = _gap(run, X, y, np.linspace(0.02, 1.0, 50) * min(last, run.norm.max())) / norms[-1]
    after = None if turn is None else _gap(run, X, y, np.linspace(1.02, 1.2, 10) * turn) / norms[-1]
    apart = np.flatnonzero(run.length - run.norm > 1e-6 * norms[-1])
    return {
        "gap_before": before,
        "gap_after": after,
        "turns": None if turn is None else int(falls[0, 1]) + 1,
        "enters": int(entered[0]) + 1 if len(entered) else None,
        "turn_norm": turn,
        "apart_norm": run.length[apart[0]] if len(apart) else None,
        "final_norm": norms[-1],
    }


@study(
    source="Rosset et al. 2004, Figure 6",
    paper={"repetitions": 40, "eps": [0.003], "steps": [7000]},
    lecture={"repetitions": 2, "eps": [0.003], "steps": [1000]},
    note="The source does not say which five predictors it took: every repetition draws five of the 57.",
)
def logistic_path(random_state, *, eps, steps):
    """Five of the 57 spam predictors, standardised: boosting with the logistic loss beside the exact l1 path.

    ``monotone``: whether no coefficient of the exact path turns back; ``gap``: the largest difference up to the first
    turn (or the end), in units of eps; ``gap_all``: along the whole path.
    """
    X, y = _spam()
    five = np.sort(random_state.permutation(X.shape[1])[:5])
    H = (X[:, five] - X[:, five].mean(axis=0)) / X[:, five].std(axis=0)
    far = l1_constrained_path(H, y, "logistic", [1000.0]).coefs[0]
    reach = min(eps * steps, 0.98 * np.abs(far).sum())
    grid = np.linspace(0.02, 1.0, 50) * reach
    exact = l1_constrained_path(H, y, "logistic", grid).coefs
    falls = np.flatnonzero((np.diff(np.abs(exact), axis=0) < -1e-7 * reach).any(axis=1))
    run = eps_boost(H, y, "logistic", eps=eps, n_steps=steps, record=np.arange(0, steps + 1, 10))
    inside = grid <= run.norm.max()  # the bound that the run just reaches may lie a rounding error beyond it
    gaps = [np.abs(run.at_norm(c) - beta).max() / eps for c, beta in zip(grid[inside], exact[inside], strict=True)]
    end = falls[0] + 1 if len(falls) else len(gaps)
    return {"monotone": len(falls) == 0, "gap": max(gaps[:end]), "gap_all": max(gaps), "norm": grid[inside][-1]}


@study(
    source="Rosset et al. 2004, Figure 7",
    paper=[
        {"repetitions": 6, "method": ["adaboost"], "steps": [1000]},
        {"repetitions": 6, "method": ["exponential", "logistic"], "steps": [5000]},
    ],
    lecture={"repetitions": 1, "method": ["adaboost", "logistic"], "steps": [40]},
    paired=("method", "steps"),
    note="4,591 of the 4,601 messages: the stored data have 4,597, and six of these are left out, three pairs that "
    "agree in all predictors and not in the class. Trained on 3,065 at random; trees of ten leaves.",
)
def spam_trees(random_state, *, method, steps):
    """Smallest training margin and test error along the norm: trees of ten leaves on spam, three boosters.

    The curves ``margins`` and ``errors`` are recorded at `NORMS`; see `_trees` for the other figures.
    """
    X, y = _spam()
    order = random_state.permutation(np.flatnonzero(~_contradictory(X, y)))
    train, test = order[:3065], order[3065:]
    return _trees(method, steps, X[train], y[train], X[test], y[test])


@study(
    source="Rosset et al. 2004, Figure 7",
    paper={"repetitions": 4, "method": ["adaboost", "exponential", "logistic"], "n": [2000], "steps": [1000]},
    lecture={"repetitions": 1, "method": ["adaboost", "logistic"], "n": [500], "steps": [100]},
    paired=("method",),
    note="Not the source's data: ten Gaussian variables, the class says whether their squares sum to more than 9.34, "
    "and a tenth of the training labels are flipped, so that over-fitting has something to fit.",
)
def noisy_spheres(random_state, *, method, n, steps):
    """The same three boosters on nested spheres with a tenth of the training labels flipped; 10,000 test points."""
    X, y = make_hastie_10_2(n + 10_000, random_state=int(random_state.integers(2**31)))
    flipped = np.where(random_state.random(n) < 0.1, -1.0, 1.0)
    return _trees(method, steps, X[:n], flipped * y[:n], X[n:], y[n:])


@study(
    source="Rosset et al. 2004, Sec. 2.4",
    paper={"repetitions": 8, "rate": ["line search", 1.0, 0.3, 0.1, 0.03]},
    lecture={"repetitions": 1, "rate": [1.0]},
    paired=("rate",),
    note="The source states the direction and prints no figure. Spam, trees of ten leaves, logistic loss, up to norm "
    "40 (line search: 300 trees); a third of the training rows chooses the number of trees.",
)
def spam_rates(random_state, *, rate):
    """Test error of early-stopped boosting for several step sizes, and for steps by line search."""
    X, y = _spam()
    order = random_state.permutation(len(y))
    fit, choose, test = order[:2000], order[2000:3065], order[3065:]
    if rate == "line search":
        model = GradientBoost("logistic", BestFirstTrees(10), 300).fit(X[fit], y[fit])
    else:
        model = BoostedPathClassifier(BestFirstTrees(10), "logistic", eps=rate, n_steps=round(40 / rate))
        model.fit(X[fit], y[fit])
    chosen = np.mean((model.staged_decision_function(X[choose]) >= 0) != (y[choose] > 0), axis=1)
    wrong = np.mean((model.staged_decision_function(X[test]) >= 0) != (y[test] > 0), axis=1)
    k = int(np.argmin(chosen))
    return {"error": wrong[k], "trees": k + 1, "norm": np.abs(model.alphas_[: k + 1]).sum(), "end": wrong[-1]}


@study(
    source="Rosset et al. 2004, Figures 8 and 9",
    paper={"repetitions": 6, "eps": [0.001], "steps": [3_000_000]},
    lecture={"repetitions": 1, "eps": [0.001], "steps": [20_000]},
    note="The source's own hundred points are not printed: every repetition draws others, and again if they cannot be "
    "separated.",
)
def polynomial_limit(random_state, *, eps, steps):
    """Boosting with the logistic loss over 45 monomials: how near to the l1 maximum-margin separator.

    ``nonzeros`` and ``margin`` describe the separator; ``shares`` (smallest margin over the maximum) and ``distances``
    (l1, between normalised coefficients) are recorded at `SHOTS`; the others are their values at 10⁵, 10⁶ and 3·10⁶.
    """
    H, y, best = _separable(random_state)
    shots = np.union1d(SHOTS, [100_000, 1_000_000, 3_000_000])
    shots = shots[shots <= steps]
    run = eps_boost(H, y, "logistic", eps=eps, n_steps=steps, record=shots)
    share = run.margin / run.norm / best.margin
    distance = np.abs(run.coefs / run.norm[:, None] - best.beta).sum(axis=1)
    figures = {"nonzeros": int(np.sum(np.abs(best.beta) > 1e-9)), "margin": best.margin}
    figures |= {"steps": shots.astype(float), "shares": share, "distances": distance}
    for name, when in (("1e5", 100_000), ("1e6", 1_000_000), ("3e6", 3_000_000)):
        if when <= steps:
            k = int(np.flatnonzero(shots == when)[0])
            figures |= {f"share_{name}": share[k], f"distance_{name}": distance[k]}
    return figures


@study(
    source="Rosset et al. 2004, Figure 10",
    paper={"repetitions": 20, "norm": [5.0, 20.0, 50.0, 100.0]},
    lecture={"repetitions": 1, "norm": [5.0]},
    paired=("norm",),
    note="Other points than the source's, whose four norms are not printed.",
)
def same_norm(random_state, *, norm):
    """Boosting in steps of 0.001 and the exact minimiser with the same l1 norm, 45 monomials.

    ``gap`` is the l1 distance over the norm, ``agree`` the share of the square [-1.9, 1.9]² that both put into the same
    class, ``turned`` whether the exact path has turned back before this norm.
    """
    H, y, _, scales = _separable(random_state, scales=True)
    grid = np.linspace(0.0, norm, 41)[1:]
    exact = l1_constrained_path(H, y, "logistic", grid).coefs
    steps = int(norm / 0.001 * 1.5)
    run = eps_boost(H, y, "logistic", eps=0.001, n_steps=steps, record=np.arange(0, steps + 1, 50))
    beta = run.at_norm(norm)
    axis = np.linspace(-1.9, 1.9, 60)
    board = monomials(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2), 8) / scales
    return {
        "gap": np.abs(beta - exact[-1]).sum() / norm,
        "agree": np.mean((board @ beta > 0) == (board @ exact[-1] > 0)),
        "turned": bool((np.diff(np.abs(exact), axis=0) < -1e-6 * norm).any()),
    }


@study(
    source="Rosset et al. 2004, Figure 11",
    paper={"repetitions": 1, "eps": [0.0001], "steps": [5_000_000, 100_000_000]},
    lecture={"repetitions": 1, "eps": [0.01], "steps": [5000]},
    paired=("eps", "steps"),
    note="the source's steps, another draw of points",
)
def l2_limit(random_state, *, eps, steps):
    """l2 boosting with the exponential loss over 45 monomials: how near to the l2 maximum-margin separator.

    ``share`` is the smallest l2 margin over its maximum, ``cosine`` that with the l2 optimum, ``optima`` the cosine
    between the l1 and the l2 optimum, ``nonzeros`` the coefficients used.
    """
    H, y, best = _separable(random_state)
    Z = y[:, None] * H
    target = max_l2_margin(Z)
    beta = l2_boost_path(H, y, "exponential", eps=eps, n_steps=steps, record=np.array([steps])).coefs[-1]
    return {
        "share": margin(Z, beta, 2) / target.margin,
        "cosine": beta @ target.beta / np.linalg.norm(beta),
        "optima": best.beta @ target.beta / np.linalg.norm(best.beta),
        "nonzeros": int(np.count_nonzero(beta)),
    }


def _arrays(name):
    found = load(name)
    return np.asarray(found.data, dtype=float), np.asarray(found.target, dtype=float).ravel()


def _spam():
    X, y = _arrays("spambase")
    return X, np.where(y == 1, 1.0, -1.0)


def _contradictory(X, y):
    """Rows for which another row has the same features and the other label."""
    _, group = np.unique(X, axis=0, return_inverse=True)
    group = group.ravel()
    size, plus = np.bincount(group), np.bincount(group, weights=y > 0)
    return ((plus > 0) & (plus < size))[group]


def _gap(run, X, y, norms):
    exact = l1_constrained_path(X, y, "squared", norms[norms <= run.norm.max()])
    return max(np.abs(run.at_norm(c) - beta).max() for c, beta in zip(exact.c, exact.coefs, strict=True))


def _separable(random_state, *, scales=False):
    while True:
        points, y = mixture(random_state)
        H, largest = scale_columns(monomials(points, 8))
        best = max_l1_margin(y[:, None] * H)
        if best.margin > 1e-4:
            return (H, y, best, largest) if scales else (H, y, best)


def _trees(method, steps, X, y, X_test, y_test):
    """Margins and errors of one booster; the best stop is chosen on one half of the test rows, judged on the other.

    ``separated``: the step after which all training margins are positive (None if never); ``rise``: error at the end
    minus error at the stop; ``rise_40``: minus error at norm 40; ``margin_5``, …: smallest margins at these norms.
    """
    if method == "adaboost":
        model = GradientBoost("exponential", BestFirstTrees(10), steps, step="adaboost").fit(X, y)
    else:
        model = BoostedPathClassifier(BestFirstTrees(10), method, eps=0.1, n_steps=steps).fit(X, y)
    size = np.cumsum(np.abs(model.alphas_))
    smallest = (y * model.staged_decision_function(X)).min(axis=1) / size
    wrong = (model.staged_decision_function(X_test) >= 0) != (y_test > 0)
    errors, half = wrong.mean(axis=1), len(y_test) // 2
    stop = int(np.argmin(wrong[:, :half].mean(axis=1)))
    positive = np.flatnonzero(smallest > 1e-12)

    def at(norm):
        return np.minimum(np.searchsorted(size, np.asarray(norm) - 1e-9), len(size) - 1)

    return {
        "margins": smallest[at(NORMS)],
        "errors": errors[at(NORMS)],
        "end_norm": size[-1],
        "end_margin": smallest[-1],
        "separated": int(positive[0]) + 1 if len(positive) else None,
        "separated_norm": size[positive[0]] if len(positive) else None,
        **{f"margin_{norm}": smallest[at(norm)] for norm in (5, 20, 100, 200)},
        "stop_norm": size[stop],
        "stop_error": wrong[stop, half:].mean(),
        "end_error": wrong[-1, half:].mean(),
        "rise": wrong[-1, half:].mean() - wrong[stop, half:].mean(),
        "rise_40": errors[-1] - errors[at(40)],
    }
