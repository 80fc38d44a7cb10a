"""Experiments on votes, margins and residuals; the notes of the source print theorems and formulas, but no tables."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_friedman1
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, lars_path
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from learnable.book.study import study
from learnable.chapters.boosting_adaboost.theory import (
    margin_bound,
    margin_risk_bound,
    rademacher,
    rademacher_margin_bound,
    sample_size_for,
)
from learnable.datasets import load
from learnable.ensembles import losses
from learnable.ensembles.adaboost import AdaBoost
from learnable.ensembles.boosted_trees import GradientBoostedTrees
from learnable.ensembles.gradient import LogitBoost
from learnable.ensembles.margins import margin_distribution, minimax_margin
from learnable.ensembles.stagewise import L2Boost, stagewise_path
from learnable.ensembles.weak_learners import stump_outputs

OURS = "the notes print no table; this experiment is ours"
ROUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 400)
DIGIT_ROUNDS = (1, 5, 10, 20, 50, 100, 200, 500)
STAGES = (5, 10, 25, 50, 100, 200, 400)
FRIEDMAN_ROUNDS = (1, 3, 10, 30, 100, 200, 400, 600)
THRESHOLD = 9.34  # median of a sum of ten squared standard normal values


def _by_round(name, values, rounds):
    """Figures ``name_1, name_2, ...``, one for each number of rounds."""
    return {f"{name}_{t}": value for t, value in zip(rounds, values, strict=True)}


def gaussians(n, random_state):
    """Ten standard normal features; the label is +1 outside of the sphere that holds half of the probability."""
    X = random_state.standard_normal((n, 10))
    return X, np.where((X**2).sum(axis=1) > THRESHOLD, 1, -1)


@study(
    source="Lember 2012, Sec. 5.2 and 5.3",
    paper=[
        {"repetitions": 20, "flipped": [0.0, 0.2], "method": ["AdaBoost", "LogitBoost", "boosted trees"]},
        {"repetitions": 20, "flipped": [0.0, 0.2], "method": ["one full tree"]},
        {"repetitions": 5, "flipped": [0.0], "method": ["Gini stumps"]},
    ],
    lecture={"repetitions": 1, "flipped": [0.0], "method": ["AdaBoost", "LogitBoost"]},
    paired=("method", "flipped"),
    note=OURS,
)
def ten_gaussians(random_state, *, flipped, method):
    """Errors on 2,000 training and 10,000 test points after `ROUNDS` rounds, with a share of training labels flipped.

    Gini stumps are scikit-learn's ``AdaBoostClassifier``; boosted trees have depth 3 and shrinkage 0.1.
    """
    (X, y), (X_test, y_test) = gaussians(2000, random_state), gaussians(10_000, random_state)
    y = np.where(random_state.random(2000) < flipped, -y, y)
    if method == "one full tree":
        tree = DecisionTreeClassifier(random_state=0).fit(X, y)
        return {"test_1": np.mean(tree.predict(X_test) != y_test)}
    at = np.array(ROUNDS) - 1
    if method == "Gini stumps":
        model = AdaBoostClassifier(n_estimators=ROUNDS[-1], random_state=0).fit(X, y)
        stages = [np.array([1 - s for s in model.staged_score(*pair)]) for pair in ((X, y), (X_test, y_test))]
        return _by_round("train", stages[0][at], ROUNDS) | _by_round("test", stages[1][at], ROUNDS)
    kinds = {"AdaBoost": AdaBoost, "LogitBoost": LogitBoost, "boosted trees": GradientBoostedTrees}
    model = kinds[method](n_rounds=ROUNDS[-1]).fit(X, y)
    wrong = [
        np.mean(model.staged_decision_function(Z)[at] * label <= 0, axis=1) for Z, label in ((X, y), (X_test, y_test))
    ]
    return _by_round("train", wrong[0], ROUNDS) | _by_round("test", wrong[1], ROUNDS)


@study(
    source="Lember 2012, Sec. 5.2.3 and 5.2.4",
    paper={"repetitions": 20, "depth": [1, 3]},
    lecture={"repetitions": 1, "depth": [1]},
    paired=("depth",),
    note=OURS,
)
def digit_margins(random_state, *, depth):
    """Odd or even: errors and the smallest normalised margin after `DIGIT_ROUNDS` rounds, 1,000 digits to train."""
    X, digit = load_digits(return_X_y=True)
    y = np.where(digit % 2 == 1, 1, -1)
    order = random_state.permutation(len(y))
    train, test = order[:1000], order[1000:]
    vote = AdaBoost(base=depth, n_rounds=DIGIT_ROUNDS[-1]).fit(X[train], y[train])
    scores = y[train] * vote.staged_decision_function(X[train])
    at = np.array(DIGIT_ROUNDS) - 1
    failing = np.flatnonzero((scores <= 0).any(axis=1))
    figures = {"separated": int(failing[-1]) + 2 if len(failing) else 1}
    figures |= _by_round("train", np.mean(scores[at] <= 0, axis=1), DIGIT_ROUNDS)
    figures |= _by_round("test", vote.staged_error(X[test], y[test])[at], DIGIT_ROUNDS)
    return figures | _by_round("margin", scores[at].min(axis=1) / np.cumsum(vote.alphas_)[at], DIGIT_ROUNDS)


@study(
    source="Lember 2012, Theorem 5.2.5",
    paper=[
        {"repetitions": 100, "n": [25, 50, 100, 200, 400, 800, 1600, 3200, 6400], "rounds": ["root n"]},
        {"repetitions": 100, "n": [25, 50, 100, 200], "rounds": ["20 n"]},
        {"repetitions": 20, "n": [400], "rounds": ["20 n"]},
    ],
    lecture={"repetitions": 3, "n": [25, 50], "rounds": ["root n", "20 n"]},
    paired=("rounds",),
    note="the notes state the limit; problem and sizes are ours",
)
def noisy_square(random_state, *, n, rounds):
    """Risk of AdaBoost on a square cut by its diagonal, one label in five wrong: the Bayes risk is 0.2."""
    X = random_state.random((n, 2))
    y = np.where(X.sum(axis=1) > 1, 1, -1)
    y = np.where(random_state.random(n) < 0.2, -y, y)
    model = AdaBoost(nu=0.5, max_bins=None) if rounds == "root n" else AdaBoost(n_rounds=20 * n, max_bins=None)
    grid = (np.arange(60) + 0.5) / 60
    mesh = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    # The mesh replaces test points: on the diagonal itself, a sixtieth of the square, both answers count alike.
    side = np.sign(np.round(mesh.sum(axis=1) - 1, 9))
    wrong = np.where(side == 0, 0.5, model.fit(X, y).predict(mesh) != side)
    return {"risk": 0.2 + 0.6 * np.mean(wrong)}


@study(
    source="Lember 2012, (5.2.15) and (5.2.17)",
    paper={"repetitions": 1, "n": [1000, 10_000, 100_000, 1_000_000], "gamma": [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]},
    lecture={"repetitions": 1, "n": [1000], "gamma": [0.1, 0.3]},
    paired=("gamma",),
    note="the notes print the bound, not its values; one-cut rules on a line, V = 2, no margin below γ, δ = 0.05",
)
def risk_bounds(random_state, *, n, gamma):
    """The margin bound through the VC dimension, and with the simulated complexity of one-cut rules in its place."""
    value, se = rademacher(np.arange(float(n))[:, None], n_draws=max(20, 200_000 // n), random_state=random_state)
    return {
        "complexity": value,
        "complexity_se": se,
        "vc": margin_risk_bound(0.0, 2, gamma, n),
        "simulated": rademacher_margin_bound(0.0, value, gamma, n),
    }


@study(
    source="Lember 2012, (5.2.15) and (5.2.18)",
    paper={"repetitions": 1, "gamma": [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]},
    lecture={"repetitions": 1, "gamma": [0.3]},
    paired=("gamma",),
    note="the notes print the bound, not its values; one-cut rules on a line, V = 2, no margin below γ, δ = 0.05",
)
def sample_sizes(random_state, *, gamma):
    """Smallest n at which the margin bound falls below one half, by VC dimension and by simulated complexity."""
    constant = 1000**0.5 * rademacher(np.arange(1000.0)[:, None], n_draws=1000, random_state=random_state)[0]
    # The complexity of one-cut rules falls like 1/√n, so that the bound is constant/√n with a known constant.
    simulated = int(np.ceil(((4 * constant / gamma + np.sqrt(np.log(2 / 0.05) / 2)) / 0.5) ** 2))
    return {"vc": sample_size_for(0.5, V=2, gamma=gamma), "simulated": simulated}


@study(
    source="Lember 2012, Theorem 5.1.2",
    paper={"repetitions": 1, "loss": ["hinge", "squared_hinge", "exponential", "logistic"]},
    lecture={"repetitions": 1, "loss": ["exponential"]},
    paired=("loss",),
    note="the notes state the theorem; the 10,000 random problems are ours",
)
def comparison(random_state, *, loss):
    """Excess φ-risk minus ψ of the excess risk, over 10,000 random problems on three points with random scores."""
    p, eta = random_state.dirichlet(np.ones(3), 10_000), random_state.random((10_000, 3))
    f = random_state.normal(size=(10_000, 3)) * random_state.choice([0.1, 1.0, 3.0], (10_000, 1))
    excess = (p * np.abs(2 * eta - 1) * (np.sign(f) != np.sign(2 * eta - 1))).sum(axis=1)
    phi = losses.SURROGATES[loss]
    surrogate = (p * (phi.conditional(eta, f) - phi.H(eta))).sum(axis=1)
    slack = surrogate - phi.psi(excess)
    return {
        "violations": int((slack < -1e-12).sum()),
        "slack": slack.min(),
        "tightest": np.max(phi.psi(excess) / surrogate),
    }


def _sets(name, random_state):
    if name == "ten Gaussians":
        return gaussians(2000, random_state)
    X, y = load_breast_cancer(return_X_y=True) if name == "breast cancer" else load_digits(return_X_y=True)
    return X, np.where(y % 2 == 1, 1, -1)


@study(
    source="Lember 2012, Theorem 5.2.1",
    paper={"repetitions": 1, "data": ["digits", "breast cancer", "ten Gaussians"]},
    lecture={"repetitions": 1, "data": ["breast cancer"]},
    note="the notes state the theorem; data are ours: stumps, 200 rounds, 61 values of γ from 0 to 0.6",
)
def margin_theorem(random_state, *, data):
    """How often the share of margins ≤ γ exceeds its product bound, and how near it comes."""
    X, y = _sets(data, random_state)
    vote = AdaBoost(n_rounds=200, max_bins=None).fit(X, y)
    margins = y * vote.staged_decision_function(X) / np.cumsum(vote.alphas_)[:, None]
    gamma = np.linspace(0, 0.6, 61)
    bound = np.array([margin_bound(vote.errors_, g) for g in gamma]).T
    share = np.array([margin_distribution(row, gamma) for row in margins])
    return {
        "violations": int((share > bound + 1e-12).sum()),
        "tightest": np.max(share / bound),
        "error": share[-1, 0],
        "bound": bound[-1, 0],
    }


@study(
    source="Lember 2012, Sec. 5.2.3",
    paper={"repetitions": 50, "n": [30, 60]},
    lecture={"repetitions": 1, "n": [30]},
    note="the notes state the bound; the separable samples are ours: the sign of a sum of two of three coordinates",
)
def edges(random_state, *, n):
    """Smallest edge of 1,000 rounds beside half the minimax margin, and the round from which nothing is wrong."""
    X = random_state.normal(size=(n, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    vote = AdaBoost(n_rounds=1000).fit(X, y)
    value = minimax_margin(stump_outputs(X), y).value
    return {
        "spare": vote.edges_.min() - value / 2,
        "minimax": value,
        "reached": vote.normalised_margins(X, y).min() / value,
        "separated": int(np.flatnonzero(vote.staged_error(X, y) > 0)[-1]) + 2,
        "guaranteed": int(np.floor(np.log(n) / (2 * (value / 2) ** 2))) + 1,
    }


@study(
    source="Lember 2012, Sec. 5.3.1",
    paper={"repetitions": 20, "method": ["AdaBoost", "LogitBoost", "boosted trees"]},
    lecture={"repetitions": 1, "method": ["AdaBoost", "LogitBoost"]},
    paired=("method",),
    note=OURS,
)
def calibration(random_state, *, method):
    """Slope of the true log-odds on the estimated ones after `STAGES` rounds; below one is overconfident."""
    P = random_state.normal(size=(11_000, 5))
    odds = 1.5 * np.sign(P[:, 0]) + np.sign(P[:, 1] - 0.3) + 0.8 * P[:, 2]
    q = np.where(random_state.random(len(P)) < expit(odds), 1, -1)
    kinds = {"AdaBoost": (AdaBoost, 2), "LogitBoost": (LogitBoost, 1), "boosted trees": (GradientBoostedTrees, 1)}
    kind, link = kinds[method]
    f = link * kind(n_rounds=STAGES[-1]).fit(P[:1000], q[:1000]).staged_decision_function(P[1000:])
    line = LogisticRegression(C=np.inf)
    return {f"slope_{t}": line.fit(f[[t - 1]].T, q[1000:]).coef_[0, 0] for t in STAGES}


@study(
    source="Lember 2012, Sec. 5.4",
    paper={
        "repetitions": 20,
        "method": ["stumps, whole steps", "stumps, tenths", "depth 3, tenths", "random forest"],
    },
    lecture={"repetitions": 1, "method": ["stumps, whole steps", "stumps, tenths"]},
    paired=("method",),
    note=OURS,
)
def friedman(random_state, *, method):
    """Squared test error on Friedman's first function, 500 examples, noise of variance 1, by rounds."""
    X, y = make_friedman1(n_samples=3500, noise=1.0, random_state=int(random_state.integers(2**31)))
    if method == "random forest":
        forest = RandomForestRegressor(50, random_state=0).fit(X[:500], y[:500])
        return {"best": np.mean((forest.predict(X[500:]) - y[500:]) ** 2)}
    base, shrinkage = {"stumps, whole steps": ("stump", 1.0), "stumps, tenths": ("stump", 0.1)}.get(method, (3, 0.1))
    model = L2Boost(base, n_rounds=FRIEDMAN_ROUNDS[-1], shrinkage=shrinkage).fit(X[:500], y[:500])
    error = np.mean((model.staged_predict(X[500:]) - y[500:]) ** 2, axis=1)
    figures = {"best": error.min(), "at": int(error.argmin()) + 1}
    return figures | _by_round("error", error[np.array(FRIEDMAN_ROUNDS) - 1], FRIEDMAN_ROUNDS)


@study(
    source="Lember 2012, Sec. 5.4 (forward stagewise linear regression)",
    paper={"repetitions": 1, "eps": [5.0, 1.0, 0.2, 0.05]},
    lecture={"repetitions": 1, "eps": [5.0]},
    note="the notes give the algorithm and its likeness to the lasso; the diabetes data are ours",
)
def lasso_gap(random_state, *, eps):
    """Largest difference of a coefficient from the lasso's at equal l1-norm, up to norm 1,900 and beyond."""
    X, y = load_diabetes(return_X_y=True)
    X = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    y = y - y.mean()
    lasso = lars_path(X, y, method="lasso")[2]
    knots = np.abs(lasso).sum(axis=0)
    path = stagewise_path(X, y, eps, int(2800 / eps))
    norms = np.abs(path).sum(axis=1)
    gap = np.abs(path - np.array([np.interp(norms, knots, row) for row in lasso]).T).max(axis=1)
    return {"near": gap[norms <= 1900].max(), "beyond": gap.max()}


@study(
    source="Lember 2012, chapter 5",
    paper={"repetitions": 20, "method": ["logistic regression", "AdaBoost", "boosted trees", "histogram trees"]},
    lecture={"repetitions": 1, "method": ["logistic regression", "AdaBoost"]},
    paired=("method",),
    note=OURS,
)
def income(random_state, *, method):
    """Test error and log loss on a table of mixed columns, 5,000 adults to train and 10,000 to test.

    Histogram trees are scikit-learn's, with early stopping; the others see nominal columns as indicators.
    """
    people = load("adult")
    X, X_test, y, y_test = train_test_split(
        people.data,
        people.target,
        train_size=5000,
        test_size=10_000,
        stratify=people.target,
        random_state=int(random_state.integers(2**31)),
    )
    nominal = np.array(people.feature_kinds) == "nominal"
    if method == "histogram trees":
        model = HistGradientBoostingClassifier(
            max_iter=1000, early_stopping=True, categorical_features=nominal, random_state=0
        )
    else:
        kinds = {
            "logistic regression": LogisticRegression(max_iter=2000),
            "AdaBoost": AdaBoost(n_rounds=200, max_bins=None),
            "boosted trees": GradientBoostedTrees(n_rounds=150, max_bins=None),
        }
        columns = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), nominal), (StandardScaler(), ~nominal)
        )
        model = make_pipeline(columns, kinds[method])
    p = model.fit(X, y).predict_proba(X_test)[:, 1]
    return {"error": np.mean((p > 0.5) != y_test), "log_loss": log_loss(y_test, p)}
