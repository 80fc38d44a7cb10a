"""The experiments of the source: spirals, digits against the rest, one-shot gestures (Goussies et al. 2014, Sec. 5)."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score

from learnable.book.study import study
from learnable.chapters.transfer_forests.theory import motion_features, video_scores
from learnable.datasets import load_mnist
from learnable.datasets.motion import make_depth_gestures
from learnable.datasets.shapes import make_spirals
from learnable.ensembles.transfer_forests.forest import TransferForestClassifier
from learnable.ensembles.transfer_forests.gains import mixed_information_gain

N_TEST = 2000
SPIRAL = ("forest", "mahalanobis", "printed", "euclidean", "abstain")
DIGITS = ("forest", "mahalanobis", "abstain", "scikit-learn forest", "AdaBoost")


@study(
    source="Goussies et al. 2014, Figs 2 and 3",
    paper=[
        {
            "repetitions": 10,
            "n_target": [8, 16, 32, 64],
            "method": [*SPIRAL],
            "gamma": [0.5],
            "source": ["spiral"],
            "n_estimators": [100],
        },
        {
            "repetitions": 10,
            "n_target": [16],
            "method": ["mahalanobis", "abstain"],
            "gamma": [0.0, 0.25, 0.5, 0.75, 1.0],
            "source": ["spiral", "noise"],
            "n_estimators": [100],
        },
    ],
    lecture={
        "repetitions": 3,
        "n_target": [16],
        "method": ["forest", "mahalanobis", "abstain"],
        "gamma": [0.5],
        "source": ["spiral"],
        "n_estimators": [30],
    },
    paired=("method", "gamma", "source"),
    note="the source shows pictures only and does not print the size of the samples; 400 source points, 20 candidates",
)
def spiral(random_state, *, n_target, method, gamma, source, n_estimators):
    """Accuracy on 2,000 fresh points of a two-arm spiral; "noise" gives the source labels that hang on nothing."""
    X, y = make_spirals(n_target + 400 + N_TEST, random_state=random_state, return_X_y=True)
    task = (np.arange(n_target + 400) >= n_target).astype(int)
    train, test = slice(len(task)), slice(len(task), None)
    labels = y[train].copy()
    if source == "noise":
        labels[task == 1] = random_state.integers(2, size=400)
    seed = int(random_state.integers(2**31))
    model = TransferForestClassifier(n_estimators, n_candidates=20, gamma=gamma, random_state=seed)
    if method == "forest":
        model.fit(X[train][task == 0], labels[task == 0])
    else:
        model.set_params(propagate="none" if method == "abstain" else method).fit(X[train], labels, task)
    return {"accuracy": model.score(X[test], y[test]), "empty leaves": model.empty_share_}


@study(
    source="Goussies et al. 2014, Table 4 and Fig. 9",
    paper=[
        {"repetitions": 10, "n": [100], "drawn": ["as they come", "half and half"], "method": [*DIGITS]},
        {
            "repetitions": 10,
            "n": [20, 50, 200],
            "drawn": ["half and half"],
            "method": ["forest", "mahalanobis", "abstain"],
        },
    ],
    lecture={"repetitions": 1, "n": [100], "drawn": ["half and half"], "method": ["forest", "abstain"]},
    paired=("method",),
    note="5,000 of the digits are offline: 2,000 to test instead of 10,000; splits along an axis, 50 candidates",
)
def digits(random_state, *, n, drawn, method):
    """One digit against the rest from n images, with nine other such tasks: accuracy and balanced accuracy."""
    X, digit = load_mnist(return_X_y=True)
    order = random_state.permutation(len(X))
    X, digit = X[order], digit[order]
    pool, test = np.arange(N_TEST, len(X)), slice(N_TEST)
    rows = np.concatenate([_draw(digit, pool, j, n, drawn, random_state) for j in range(10)])
    task = np.repeat(np.arange(10), n)
    y = (digit[rows] == task).astype(int)
    seed = int(random_state.integers(2**31))
    found = {}
    for j in range(10):
        model = _digit_model(method, seed)
        if method in ("mahalanobis", "abstain"):
            model.fit(X[rows], y, task, j)
        else:
            model.fit(X[rows[task == j]], y[task == j])
        said, truth = model.predict(X[test]), (digit[test] == j).astype(int)
        found[f"accuracy {j}"] = np.mean(said == truth)
        found[f"balanced {j}"] = balanced_accuracy_score(truth, said)
    for kind in ("accuracy", "balanced"):
        found[kind] = np.mean([found[f"{kind} {j}"] for j in range(10)])
    return {**found, "always no": 1 - np.mean([(digit[test] == j).mean() for j in range(10)])}


def _draw(digit, pool, j, n, drawn, random_state):
    """Rows of a task: a plain sample, with at least two of the digit, or as many of the digit as of the rest."""
    mine, rest = pool[digit[pool] == j], pool[digit[pool] != j]
    inside = n // 2 if drawn == "half and half" else min(max(2, random_state.binomial(n, 0.1)), n - 2)
    return np.concatenate(
        [random_state.choice(mine, inside, replace=False), random_state.choice(rest, n - inside, replace=False)]
    )


def _digit_model(method, seed):
    if method == "AdaBoost":
        return AdaBoostClassifier(n_estimators=40, random_state=seed)
    if method == "scikit-learn forest":
        return RandomForestClassifier(40, max_depth=6, criterion="entropy", random_state=seed)
    propagate = "none" if method in ("forest", "abstain") else method
    settings = {"max_depth": 6, "gamma": 0.5, "split": "axis", "propagate": propagate}
    return TransferForestClassifier(40, **settings, random_state=seed)


def _batches(made, tau=8, xi=25):
    """Features of all training frames with label and batch, and of the test videos of each batch."""
    X, y, task, tests = [], [], [], []
    for b, batch in enumerate(made.batches):
        frames = [motion_features(video, tau=tau, xi=xi) for video in batch.train]
        X += frames
        y += [np.full(len(part), g) for part, g in zip(frames, batch.train_target, strict=True)]
        task.append(np.full(sum(map(len, frames)), b))
        tests.append([motion_features(video, tau=tau, xi=xi) for video in batch.test])
    return np.concatenate(X), np.concatenate(y), np.concatenate(task), tests


def _errors(model, videos, labels):
    """Frames and videos of one batch that are misclassified: counts of both, and of frames."""
    frame, video, total = 0, 0, 0
    for frames, label in zip(videos, labels, strict=True):
        proba = model.predict_proba(frames)
        frame += int((model.classes_[proba.argmax(axis=1)] != label).sum())
        total += len(frames)
        video += int(model.classes_[video_scores(proba).argmax()] != label)
    return frame, total, video


@study(
    source="Goussies et al. 2014, Table 2 and Fig. 6",
    paper=[
        {
            "repetitions": 8,
            "overlap": [1.0, 0.0],
            "gamma": [-1.0, 0.0, 0.25, 0.5, 0.75, 1.0],
            "propagate": ["none"],
            "max_depth": [8],
        },
        {
            "repetitions": 8,
            "overlap": [1.0],
            "gamma": [0.0, 0.25, 0.5],
            "propagate": ["mahalanobis"],
            "max_depth": [8],
        },
        {
            "repetitions": 8,
            "overlap": [1.0],
            "gamma": [-1.0, 0.0, 0.5],
            "propagate": ["none"],
            "max_depth": [4],
        },
    ],
    lecture={
        "repetitions": 1,
        "overlap": [1.0],
        "gamma": [-1.0, 0.5],
        "propagate": ["none"],
        "max_depth": [8],
    },
    paired=("gamma", "propagate", "max_depth"),
    note="simulated batches in place of the ChaLearn data: 4 batches of 6 gestures, 20 isolated test videos each",
)
def gestures(random_state, *, overlap, gamma, propagate, max_depth):
    """Errors for frames and videos, one training video for each gesture; gamma -1 is a forest of the batch alone."""
    made = make_depth_gestures(4, n_gestures=6, n_test=20, overlap=overlap, random_state=random_state)
    X, y, task, tests = _batches(made)
    seed, counts = int(random_state.integers(2**31)), np.zeros(3)
    for b, batch in enumerate(made.batches):
        settings = {"gamma": max(gamma, 0.0), "max_depth": max_depth, "propagate": propagate, "split": "axis"}
        model = TransferForestClassifier(50, **settings, random_state=seed)
        if gamma < 0:
            model.fit(X[task == b], y[task == b])
        else:
            model.fit(X, y, task, b)
        counts += _errors(model, tests[b], batch.test_target)
    return {"video error": counts[2] / (len(tests) * 20), "frame error": counts[0] / counts[1]}


@study(
    source="Goussies et al. 2014, Table 1",
    paper={"repetitions": 4, "tau": [1, 4, 8, 12, 16], "xi": [16, 24, 32, 40]},
    lecture={"repetitions": 1, "tau": [1, 8], "xi": [24]},
    paired=("tau", "xi"),
    note="two simulated batches of 10 gestures in place of one of the ChaLearn batches",
)
def motion_grid(random_state, *, tau, xi):
    """Error for videos of a forest of the batch alone, by the memory tau and the threshold xi of the motion images."""
    made = make_depth_gestures(2, n_gestures=10, n_test=30, random_state=random_state)
    X, y, task, tests = _batches(made, tau, xi)
    counts = np.zeros(3)
    for b, batch in enumerate(made.batches):
        model = TransferForestClassifier(50, split="axis", random_state=b).fit(X[task == b], y[task == b])
        counts += _errors(model, tests[b], batch.test_target)
    return {"video error": counts[2] / 60, "frame error": counts[0] / counts[1]}


@study(
    source="Goussies et al. 2014, Sec. 3.1.1",
    paper={"repetitions": 500, "gamma": [0.0, 0.25, 0.5, 1.0], "n_target": [4]},
    lecture={"repetitions": 60, "gamma": [0.0, 0.5], "n_target": [4]},
    paired=("gamma",),
    note="our own exhibit of what the source argues in words",
)
def thresholds(random_state, *, gamma, n_target):
    """The best of 50 random thresholds on [0, 1], where the label of both tasks changes at one half."""
    x = random_state.random(n_target + 200)
    own = np.arange(len(x)) < n_target
    cuts = random_state.random(50)
    gains = [mixed_information_gain(*_sides(x, own, cut), gamma) for cut in cuts]
    best = cuts[int(np.argmax(gains))]
    return {"threshold": best, "squared error": (best - 0.5) ** 2}


def _sides(x, own, cut):
    """Counts of the labels on either side of a threshold, for the target and the source."""
    return [[np.bincount(x[part & side] > 0.5, minlength=2) for part in (own, ~own)] for side in (x < cut, x >= cut)]
