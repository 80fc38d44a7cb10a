"""Experiments on uniform deviations and on choosing the class; the notes of the source print no table of their own."""

from __future__ import annotations

import numpy as np

from learnable.book.study import study
from learnable.chapters.vc_theory.theory import IntervalTruth, cross_validated_k, srm_select
from learnable.foundations.erm import interval_path

OURS = "the notes print no table; this experiment is ours"


@study(
    source="Lember 2012, Sec. 2.8",
    paper={"repetitions": 100, "n": [100, 200, 500, 1000, 2000, 5000, 10_000]},
    lecture={"repetitions": 8, "n": [100, 500, 2000]},
    note=OURS,
)
def choosing_the_class(random_state, *, n):
    """True risk of the number of intervals that each criterion chooses, on one sample with three true intervals."""
    truth, k_max = IntervalTruth(k0=3, q=0.1), 12
    X, y = truth.sample(n, random_state)
    path = interval_path(X[:, 0], y, k_max)
    errors, V = path.errors[1:] / n, 2 * np.arange(1, k_max + 1)
    chosen = {
        "SRM": srm_select(errors, V, n, rule="lugosi") + 1,
        "dgl": srm_select(errors, V, n, rule="dgl") + 1,
        "mild": srm_select(errors, V, n, rule="generic", a=0.3) + 1,
        "cv": cross_validated_k(X[:, 0], y, k_max, random_state=random_state),
        "oracle": 3,
        "none": k_max,
    }
    figures = {f"k, {name}": int(chosen[name]) for name in ("SRM", "dgl", "mild", "cv")}
    return figures | {f"risk, {name}": truth.risk(path.intervals(int(k))) for name, k in chosen.items()}


@study(
    source="Lember 2012, Sec. 2.7",
    paper={"repetitions": 100, "n": [20, 100, 1000, 10_000]},
    lecture={"repetitions": 10, "n": [20, 100, 1000]},
    note=OURS,
)
def uniform_deviation(random_state, *, n):
    """Mean over 200 uniform samples of the largest gap between frequency and length, for half-lines and intervals."""
    u = np.sort(random_state.random((200, n)), axis=1)
    above = (np.arange(1, n + 1) / n - u).max(axis=1)
    below = (u - np.arange(n) / n).max(axis=1)
    return {"half-lines": np.maximum(above, below).mean(), "intervals": (above + below).mean()}
