"""Experiments on alignments; the notes of the source print worked paths and theorems, but no tables."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.book.study import study
from learnable.chapters.hmm_alignment.theory import is_admissible, kblock_risk, rabiner_blocks
from learnable.datasets.sequences import make_hmm
from learnable.latent.hmm import (
    HMM,
    DiscreteEmission,
    GaussianEmission,
    baum_welch,
    filtering,
    fit_labelled,
    forward_backward,
)
from learnable.latent.hmm.alignments import combined, kblock, pmap, viterbi
from learnable.latent.hmm.blocks import sample_paths
from learnable.latent.hmm.path_risks import risks

OURS = "the notes print no table; this experiment is ours"
FOUR = HMM(np.full(4, 0.25), np.array([[0, 4, 2, 2], [4, 1, 1, 2], [2, 1, 1, 4], [2, 2, 4, 0]]) / 8)
BLOCKS = {f"k = {k}": k for k in (2, 3, 5, 10, 20, 50)}


@study(
    source="Lember 2012, Sec. 7.3.6, exercise",
    paper={"repetitions": 1, "A": [1.01, 1.2, 1.4, 1.6, 2.0, 4.0, 100.0]},
    lecture={"repetitions": 1, "A": [1.2, 2.0]},
    note="the exercise is for every A > 1; these are seven values",
)
def four_states(random_state, *, A):
    """Whether the alignments of the four-state example are those that the notes print; nothing in it is random."""
    f = np.ones((4, 4))
    f[[0, 3]] = [0, 1, 0, 0]
    f[1:3, 0] = A
    with np.errstate(divide="ignore"):
        post = forward_backward(FOUR, np.log(f))
    best, blocks = (_named(kblock(FOUR, post, k, all_ties=True)) for k in (np.inf, 2))
    one, rabiner = _named([pmap(FOUR, post)]), _named([rabiner_blocks(FOUR, post, 2)])
    return {
        "viterbi": best == {"2122", "2212", "2142", "2412"},
        "ties": len(best),
        "pmap": one == {"2112"} and not is_admissible(FOUR, post, pmap(FOUR, post)),
        "rabiner": rabiner == {"2112"},
        "blocks": blocks == {"2142", "2412"},
        "posterior": float(post.smoothed[1, 0]),
    }


@study(
    source="Lember 2012, Thm. 7.3.1",
    paper={"repetitions": 100, "states": [2, 4, 8]},
    lecture={"repetitions": 5, "states": [2, 4]},
    note="a theorem; these are random models, of which a third of the transitions are forbidden",
)
def block_theorem(random_state, *, states):
    """Random models, 40 observations: how often the identity fails by more than 1e-9, and how often a path its promise.

    The identity is tried on three paths drawn from the posterior and k = 1, ..., 12; monotonicity on v(2), ..., v(30).
    """
    P = random_state.dirichlet(np.ones(states), size=states) * (random_state.random((states, states)) < 2 / 3)
    P += np.diag(0.1 * random_state.random(states))
    model = HMM(np.full(states, 1 / states), P / P.sum(axis=1, keepdims=True))
    post = forward_backward(model, random_state.normal(size=(40, states)))
    found = risks(model, post, sample_paths(model, post, 3, random_state))
    gaps = [
        abs(kblock_risk(model, post, path, k) - (k - 1) * found.log_rinf[m] - found.log_r1[m])
        for m, path in enumerate(found.paths)
        for k in range(1, 13)
    ]
    family = risks(model, post, np.array([kblock(model, post, k) for k in range(2, 31)]))
    return {
        "unequal": sum(gap > 1e-9 for gap in gaps),
        "less_probable": int((np.diff(family.log_rinf) > 1e-9).sum()),
        "fewer_errors": int((np.diff(family.log_r1) < -1e-9).sum()),
        "impossible": int(np.isinf(family.log_rinf).sum()),
    }


@study(
    source="Lember 2012, Sec. 7.3.4-7.3.6",
    paper={
        "repetitions": 100,
        "rule": ["PMAP", "PVD", *BLOCKS, "Viterbi", "Rabiner 2", "Rabiner 3", "each alone"],
    },
    lecture={"repetitions": 3, "rule": ["PMAP", "PVD", "k = 5", "Viterbi"]},
    paired=("rule",),
    note=OURS,
)
def ring(random_state, *, rule):
    """Errors, expected errors and lost log probability of an alignment of 2,000 steps of the five-state ring."""
    made = make_hmm("ring", length=2000, random_state=random_state)
    model, x, y = HMM.from_parameters(**made.model), made.data[0], made.states[0]
    post = forward_backward(model, x)
    path = _aligned(model, post, rule)
    found = risks(model, post, np.array([path, viterbi(model, post)]))
    possible = np.isfinite(found.log_rinf[0])
    return {
        "error": np.mean(path != y),
        "expected": found.r1[0] / 2000,
        "lost": found.log_rinf[0] - found.log_rinf[1] if possible else None,
        "impossible": not possible,
        "forbidden": int((model.transmat[path[:-1], path[1:]] == 0).sum()),
    }


@study(
    source="Lember 2012, Sec. 7.3.2-7.3.6",
    paper={
        "repetitions": 200,
        "rule": ["each alone", "filter", "PMAP", "k = 2", "k = 5", "k = 20", "Viterbi", "one draw"],
    },
    lecture={"repetitions": 20, "rule": ["each alone", "PMAP", "Viterbi"]},
    paired=("rule",),
    note=OURS,
)
def casino(random_state, *, rule):
    """Errors of an alignment of 300 rolls at the casino, its spells of the loaded die and the true ones."""
    made = make_hmm("casino", length=300, random_state=random_state)
    model, x, y = HMM.from_parameters(**made.model), made.data[0], made.states[0]
    if rule == "filter":
        path = filtering(model, x).filtered.argmax(axis=1)
    elif rule == "one draw":
        path = sample_paths(model, x, 1, random_state)[0]
    else:
        path = _aligned(model, forward_backward(model, x), rule)
    return {"error": np.mean(path != y), "spells": _spells(path), "true_spells": _spells(y)}


@study(
    source="Lember 2012, Sec. 7.3.6",
    paper={"repetitions": 10, "n": [100, 400, 1600]},
    lecture={"repetitions": 2, "n": [100]},
    note=OURS,
)
def distinct_paths(random_state, *, n):
    """How many different block alignments lie between posterior Viterbi decoding and Viterbi, on a grid of 300 k."""
    made = make_hmm("ring", length=n, random_state=random_state)
    model = HMM.from_parameters(**made.model)
    post = forward_backward(model, made.data[0])
    paths = [kblock(model, post, 1 + c) for c in np.geomspace(1e-3, 300, 300)]
    return {"paths": 1 + sum(not np.array_equal(a, b) for a, b in pairwise(paths))}


@study(
    source="Lember 2012, Ch. 7 (unknown parameters are mentioned, not studied)",
    paper={"repetitions": 40, "nights": [1, 4, 16, 64], "learned": ["true model", "Baum–Welch", "labels"]},
    lecture={"repetitions": 1, "nights": [4], "learned": ["true model", "Baum–Welch", "labels"]},
    paired=("learned",),
    note=OURS,
)
def learned_casino(random_state, *, nights, learned):
    """PMAP errors on 50 new nights at the casino, with the true model or one learned from some nights of 300 rolls.

    Baum-Welch takes the best of three random starts; the state with more sixes is called loaded.
    """
    past, new = (make_hmm("casino", size, 300, random_state=random_state) for size in (nights, 50))
    if learned == "true model":
        model = HMM.from_parameters(**past.model)
    elif learned == "labels":
        model = fit_labelled(list(past.data), list(past.states), n_states=2, n_symbols=6, pseudocount=1)
    else:
        starts = [
            HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission(random_state.dirichlet(np.full(6, 5.0), size=2)))
            for _ in range(3)
        ]
        model = _best_fit(starts, list(past.data), 1e-5)
    loaded = int(model.emission.emissionprob[:, 5].argmax())
    wrong = [np.mean((pmap(model, x) == loaded) != (y == 1)) for x, y in zip(new.data, new.states, strict=True)]
    return {"error": np.mean(wrong), "six": model.emission.emissionprob[loaded, 5]}


@study(
    source="Lember 2012, Ch. 7 (unknown parameters are mentioned, not studied)",
    paper={"repetitions": 40, "n": [200, 500, 2000]},
    lecture={"repetitions": 1, "n": [200]},
    note=OURS,
)
def number_of_states(random_state, *, n):
    """How many of 1..5 states BIC and a held-out last third choose for three overlapping Gaussian states."""
    P = np.array([[0.95, 0.04, 0.01], [0.03, 0.94, 0.03], [0.01, 0.04, 0.95]])
    truth = HMM(np.full(3, 1 / 3), P, GaussianEmission([-2.0, 0.0, 2.0]))
    x, _ = truth.sample(n, random_state)
    head = x[: 2 * n // 3]
    bic, held = [], []
    for k in range(1, 6):
        starts = [_gaussian_start(x, k, random_state) for _ in range(3)]
        whole = filtering(_best_fit(starts, x, 1e-5), x).log_likelihood
        bic.append(-2 * whole + (k * k + 2 * k - 1) * np.log(n))
        part = _best_fit(starts, head, 1e-5)
        held.append(filtering(part, x).log_likelihood - filtering(part, head).log_likelihood)
    chosen = 1 + int(np.argmin(bic)), 1 + int(np.argmax(held))
    return {"bic": chosen[0], "held_out": chosen[1], "bic_right": chosen[0] == 3, "held_out_right": chosen[1] == 3}


def _aligned(model, post, rule):
    """The path of a rule by its name."""
    if rule == "each alone":
        long_run = np.linalg.matrix_power(model.transmat, 1000)[0]
        with np.errstate(divide="ignore"):
            return (post.log_f + np.log(long_run)).argmax(axis=1)
    if rule.startswith("Rabiner"):
        return rabiner_blocks(model, post, int(rule.split()[1]))
    if rule == "PVD":
        return combined(model, post, 1, 1e-6)
    ends = {"PMAP": pmap, "Viterbi": viterbi}
    return ends[rule](model, post) if rule in ends else kblock(model, post, BLOCKS[rule])


def _best_fit(starts, x, tol):
    """The model with the largest likelihood that Baum-Welch reaches from some starts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [baum_welch(start, x, max_iter=200, tol=tol) for start in starts]
    return max(fits, key=lambda fit: fit.log_likelihoods[-1]).hmm


def _gaussian_start(x, k, random_state):
    """States that stay, with means at observations drawn from the data."""
    P = np.full((k, k), 0.1 / max(k - 1, 1))
    np.fill_diagonal(P, 0.9 if k > 1 else 1.0)
    return HMM(np.full(k, 1 / k), P, GaussianEmission(random_state.choice(x, k, replace=False), x.var()))


def _named(paths):
    """Paths in the notes' numbering, from 1."""
    return {"".join(str(int(s) + 1) for s in path) for path in paths}


def _spells(path):
    return int(np.sum(np.diff(np.r_[0, path]) == 1))
