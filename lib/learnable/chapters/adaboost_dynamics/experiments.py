"""The experiments of Rudin, Daubechies and Schapire (2004): small in the lecture, at their own scale elsewhere.

The matrices of Theorems 1 to 8 are the source's. Its random matrices are printed as images only, so that ours, with
entries +1 with probability 0.6, stand in for them.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

from learnable.book.study import study
from learnable.chapters.adaboost_dynamics.cycles import find_cycle, theorem5_check, verify_cycle
from learnable.chapters.adaboost_dynamics.theory import (
    AdaBoostMatrix,
    block_matrix,
    coordinate_ascent,
    counterexamples,
    golden_cycles,
    iterated_map,
    one_error_matrix,
    random_matrix,
    separation,
)
from learnable.datasets import load
from learnable.ensembles.margin_boosting.algorithms import adaboost_star, arc_gv, lpboost
from learnable.ensembles.margins import minimax_margin

SHOTS = np.unique(np.geomspace(4, 1_000_000, 150).round().astype(int))  # rounds at which margins are recorded
VOTES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1)  # the ten starts of Figure 11


@study(
    source="Rudin et al. 2004, Theorem 1",
    paper={"repetitions": 20, "starts": [500]},
    lecture={"repetitions": 1, "starts": [100]},
    note="The source proves it for every start; these are starts drawn uniformly from the simplex.",
)
def golden_starts(random_state, *, starts):
    """The 3 × 3 matrix from random starts: where 60 steps lead.

    ``edge`` is the mean of the last three edges over all starts, ``farthest`` the largest distance of one of them from
    (√5 − 1)/2, ``first`` the share of starts that end in the first of the two printed cycles and ``either`` in one of
    both, ``margin`` the mean margin of the cycles.
    """
    M, edges, first, second, margins = one_error_matrix(3), [], 0, 0, []
    for d in random_state.dirichlet(np.ones(3), starts):
        run = AdaBoostMatrix(M).run(60, d)
        edges.append(run.edges[-3:])
        margins.append(find_cycle(M, d).margin)
        first += _is_on(golden_cycles()[0], run.last)
        second += _is_on(golden_cycles()[1], run.last)
    return {
        "edge": np.mean(edges),
        "farthest": np.abs(np.array(edges) - (np.sqrt(5) - 1) / 2).max(),
        "first": first / starts,
        "either": (first + second) / starts,
        "margin": np.mean(margins),
    }


@study(
    source="Rudin et al. 2004, Theorem 2",
    paper=[{"repetitions": 1, "m": [3, 4, 5], "starts": [500]}, {"repetitions": 1, "m": [6], "starts": [3000]}],
    lecture={"repetitions": 1, "m": [3, 4], "starts": [60]},
)
def one_error_starts(random_state, *, m, starts):
    """Matrices whose m rules err on one example each, from random starts: which cycles are found.

    ``cycles`` is the number of different orders of columns, ``shortest`` and ``longest`` the extreme periods,
    ``least`` and ``most`` the extreme margins, ``smallest`` the mean of the smallest weight on the cycles.
    """
    M, orders, periods, margins, smallest = one_error_matrix(m), set(), [], [], []
    for d in random_state.dirichlet(np.ones(m), starts):
        cycle = find_cycle(M, d)
        turn = int(np.argmin(cycle.columns))
        orders.add(tuple(np.roll(cycle.columns, -turn).tolist()))
        periods.append(cycle.period)
        margins.append(cycle.margin)
        smallest.append(cycle.weights.min())
    return {
        "cycles": len(orders),
        "shortest": min(periods),
        "longest": max(periods),
        "least": min(margins),
        "most": max(margins),
        "smallest": np.mean(smallest),
    }


@study(
    source="Rudin et al. 2004, Theorem 3",
    paper={"repetitions": 100, "blocks": ["2 3 2 2", "1 4 6 3", "5 5 5 5"]},
    lecture={"repetitions": 2, "blocks": ["2 3 2 2"]},
)
def block_starts(random_state, *, blocks):
    """Groups of identically classified examples, from random starts: the totals, the shares, and the idle group.

    After 90 steps: ``distance`` of the group totals from the golden cycles, ``shift`` the largest change of a share
    within a group, ``fade`` the factor by which an example that is always right shrinks in a step, ``neutral`` the
    dimension of the manifold of cycles.
    """
    sizes = [int(word) for word in blocks.split()]
    M, groups = block_matrix(sizes), np.repeat(np.arange(4), sizes)
    d = random_state.dirichlet(np.ones(len(M)))
    run = AdaBoostMatrix(M).run(90, d)
    totals = np.bincount(groups, run.last)[:3]
    shares = [w / np.bincount(groups, w)[groups] for w in (run.weights[50], d)]
    return {
        "distance": np.abs(golden_cycles().reshape(6, 3) - totals).max(axis=1).min(),
        "shift": np.abs(shares[0] - shares[1]).max(),
        "fade": run.weights[61, -1] / run.weights[60, -1],
        "neutral": verify_cycle(M, find_cycle(M, d)).neutral,
        "twins": sum(sizes[:3]) - 3,
    }


@study(
    source="Rudin et al. 2004, Figure 10",
    paper={
        "repetitions": 1,
        "method": ["AdaBoost", "coordinate ascent", "arc-gv", "AdaBoost*", "LPBoost"],
        "rounds": [1_000_000],
    },
    lecture={"repetitions": 1, "method": ["AdaBoost", "coordinate ascent"], "rounds": [2000]},
    note="The source plots AdaBoost and coordinate ascent; the other three are ours.",
)
def eight_margins(random_state, *, method, rounds):
    """Margins on the 8 × 8 matrix from votes zero: ``margin`` after all rounds, ``margins`` at `SHOTS`.

    ``period`` is that of the cycle that AdaBoost falls into, ``limit`` the margin of that cycle.
    """
    M = counterexamples()["8x8"].M
    if method == "LPBoost":
        margin = lpboost(M).margins
    else:
        margin = _run(method, M, rounds).margins
    found = {"margin": margin[-1], "margins": margin[np.minimum(SHOTS[SHOTS <= rounds], len(margin)) - 1]}
    if method == "AdaBoost":
        cycle = find_cycle(M)
        found |= {"period": cycle.period, "limit": cycle.margin}
    return found


@study(
    source="Rudin et al. 2004, Theorem 7",
    paper=[
        {"repetitions": 1, "first": [1, 2, 3, 4, 5, 6, 7, 8]},
        {"repetitions": 2000, "first": [0]},
    ],
    lecture=[{"repetitions": 1, "first": [1, 5]}, {"repetitions": 20, "first": [0]}],
    note="The source says that some starts lead to the largest margin and names none.",
)
def eight_starts(random_state, *, first):
    """The 8 × 8 matrix from other starts: a forced first column (1 to 8), or (0) weights drawn from the simplex.

    ``margin`` and ``period`` of the cycle, ``third`` and ``best``: whether the margin is 1/3 or 3/8.
    """
    M = counterexamples()["8x8"].M
    if first:
        d = iterated_map(M, np.full(8, 1 / 8), first - 1)
    else:
        d = random_state.dirichlet(np.ones(8))
    cycle = find_cycle(M, d)
    return {
        "margin": cycle.margin,
        "period": cycle.period,
        "third": abs(cycle.margin - 1 / 3) < 1e-9,
        "best": abs(cycle.margin - 3 / 8) < 1e-9,
    }


@study(
    source="Rudin et al. 2004, Figure 8",
    paper=[
        {"repetitions": 1, "learner": ["optimal", "prefers the last column"], "rounds": [20_000]},
        {"repetitions": 40, "learner": ["any good column"], "rounds": [20_000]},
    ],
    lecture={"repetitions": 1, "learner": ["optimal", "prefers the last column"], "rounds": [2000]},
    note="The source does not say how the non-optimal learner chooses; ours prefers the last column with an edge of at "
    "least ρ, or takes one of those at random.",
)
def four_by_five(random_state, *, learner, rounds):
    """Margin on the 4 × 5 matrix from votes zero, by how the learner chooses among good columns.

    ``margin`` after all rounds, ``smallest`` the smallest edge that was taken, and for the first two learners the
    ``period`` and ``limit`` of the cycle.
    """
    M = counterexamples()["4x5"].M
    if learner == "any good column":
        order = int(random_state.integers(2**31))
        run = AdaBoostMatrix(M, selector=_Careless(order)).run(rounds, keep_weights=False)
        return {"margin": run.margins[-1], "smallest": run.edges.min()}
    how = {"selector": "optimal", "tie": "first"}
    if learner == "prefers the last column":
        how = {"selector": "nonoptimal", "tie": [4, 3, 2, 1, 0]}
    run, cycle = AdaBoostMatrix(M, **how).run(rounds, keep_weights=False), find_cycle(M, **how)
    return {
        "margin": run.margins[-1],
        "smallest": run.edges.min(),
        "period": cycle.period,
        "limit": cycle.margin,
        "margins": run.margins[:300],
    }


@study(
    source="Rudin et al. 2004, Sec. 7 and Figure 6",
    paper=[
        {"repetitions": 300, "m": [6], "n": [13], "steps": [50_000]},
        {"repetitions": 300, "m": [12], "n": [25, 300], "steps": [50_000]},
        {"repetitions": 100, "m": [24], "n": [49], "steps": [50_000]},
        {"repetitions": 20, "m": [100], "n": [201], "steps": [50_000]},
    ],
    lecture={"repetitions": 5, "m": [6], "n": [13], "steps": [3000]},
    note="The source's matrices are printed as images and its rule for drawing them is not given: here the entries of "
    "m rows and n columns are +1 with probability 0.6, and a matrix that cannot be separated is drawn again.",
)
def random_cycles(random_state, *, m, n, steps):
    """A random matrix from equal weights: does AdaBoost cycle, and what does the cycle give?

    ``cyclic`` within the steps; of a cycle ``period``, ``support`` and ``columns`` (numbers of support vectors and of
    columns used), ``spread`` (largest distance of a support vector's margin from the formula of Theorem 4), ``above``
    (whether all other margins are larger), ``reaches`` (whether the margin is the largest possible), and the conditions
    of Theorem 5: ``sure`` (all three), ``needed`` (the first two, where the margin is the largest); ``share`` is the
    margin after all steps over the largest possible, ``half`` and ``almost`` whether it exceeds 0.5 and 0.99.
    """
    M = _separable(random_state, m, n)
    best = minimax_margin(M).value
    share = AdaBoostMatrix(M).run(steps, keep_weights=False).margins[-1] / best
    cycle = find_cycle(M, max_iter=steps)
    found = {"cyclic": cycle is not None, "share": share, "half": bool(share >= 0.5), "almost": bool(share > 0.99)}
    if cycle is None:
        return found
    check = theorem5_check(M, cycle)
    margins = M @ cycle.votes(M.shape[1])
    others = np.delete(margins, cycle.support)
    clear = others[np.delete(verify_cycle(M, cycle).growth, cycle.support) > 1e-6]
    return found | {
        "period": cycle.period,
        "short": cycle.period <= 20,
        "support": cycle.support.size,
        "columns": cycle.used.size,
        "spread": np.abs(margins[cycle.support] - cycle.margin).max(),
        "above": bool((clear > cycle.margin).all()),
        "reaches": check.reached,
        "sure": check.sure,
        "sure_reaches": check.reached if check.sure else None,
        "needed": (check.columns_suffice and check.equal_margins) if check.reached else None,
    }


@study(
    source="Rudin et al. 2004, Figure 11",
    paper={"repetitions": 300, "steps": [10_000]},
    lecture={"repetitions": 2, "steps": [2000]},
    note="The source shows one matrix, printed as an image; these are random ones of 12 rows and 25 columns.",
)
def initial_votes(random_state, *, steps):
    """One random matrix from the source's ten starts λ = a: how many different ends?

    ``periods`` and ``margins`` are the numbers of different periods and limits among the runs that cycle, ``cyclic``
    their share, ``three`` whether one of them is a 3-cycle, ``several`` whether the ends differ.
    """
    M = _separable(random_state, 12, 25)
    ends = [find_cycle(M, lam0=a, max_iter=steps) for a in VOTES]
    kept = [c for c in ends if c is not None]
    periods, margins = {c.period for c in kept}, {round(c.margin, 6) for c in kept}
    return {
        "cyclic": len(kept) / len(ends),
        "periods": len(periods) if kept else None,
        "margins": len(margins) if kept else None,
        "three": 3 in periods,
        "several": len(periods) > 1 or len(margins) > 1,
    }


@study(
    source="Rudin et al. 2004, Sec. 10",
    paper={"repetitions": 500, "delta": [1e-8, 1e-5, 1e-3, 1e-2]},
    lecture={"repetitions": 3, "delta": [1e-8, 1e-2]},
    paired=("delta",),
    note="The source states sensitivity to the start and prints no figure. Random matrices of 12 rows and 25 columns.",
)
def parting(random_state, *, delta):
    """Two runs of 1,000 steps whose starts differ by `delta`: ``parted`` if they are ever 0.05 apart."""
    M = _separable(random_state, 12, 25)
    d = random_state.dirichlet(np.ones(12))
    gap = separation(M, 1000, d, delta=delta, random_state=random_state)
    return {"parted": bool(gap.max() > 0.05)}


@study(
    source="Rudin et al. 2004, Sec. 1",
    paper={"repetitions": 20, "data": ["tumours", "spam"], "n": [100], "rounds": [100, 1000]},
    lecture={"repetitions": 1, "data": ["spam"], "n": [60], "rounds": [100]},
    paired=("rounds",),
    note="The source quotes experiments of others, in words: margins almost as large as the largest, and an error that "
    "is often lower. Here: all stumps on 100 rows of breast cancer or spam, error on (at most 2,000) other rows.",
)
def stump_margins(random_state, *, data, n, rounds):
    """Real data and all decision stumps: margins and test errors of four methods.

    ``rho`` is the largest possible margin; for each method ``share`` is the smallest margin over ``rho``, ``middle``
    the median margin of the training rows, ``error`` the share of wrong test rows; ``excess LP`` is the error of the
    linear program less that of AdaBoost.
    """
    if data == "tumours":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        mail = load("spambase")
        X, y = np.asarray(mail.data, dtype=float), np.asarray(mail.target)
    y = np.where(y == np.max(y), 1.0, -1.0)
    order = random_state.permutation(len(y))[: n + 2000]
    train, test = order[:n], order[n:]
    H, K = _stumps(X[train], X[test])
    M = y[train, None] * H
    best = minimax_margin(M)
    found = {"rho": best.value, "error LP": np.mean(np.sign(K @ best.vote) != y[test])}
    for method in ("AdaBoost", "arc-gv", "AdaBoost*"):
        run = _run(method, M, rounds)
        margins = (M @ run.lam) / run.lam.sum()
        found |= {
            f"share {method}": margins.min() / best.value,
            f"middle {method}": np.median(margins),
            f"error {method}": np.mean(np.sign(K @ run.lam) != y[test]),
        }
    found["middle LP"] = np.median(M @ best.vote)
    found["excess LP"] = found["error LP"] - found["error AdaBoost"]
    return found


class _Careless:
    """A learner that takes one of the columns with an edge of at least 1/2 at random."""

    def __init__(self, random_state):
        self.rng = np.random.default_rng(random_state)

    def __call__(self, edges, t):
        return int(self.rng.choice(np.flatnonzero(edges >= min(0.5, edges.max()) - 1e-12)))


def _is_on(cycle, d):
    return bool((np.abs(cycle - d).max(axis=1) < 1e-8).any())


def _separable(random_state, m, n):
    """A random matrix without a perfect column that some vote separates."""
    while True:
        M = random_matrix(m, n, 0.6, random_state)
        if not (M == 1).all(axis=0).any() and minimax_margin(M).value > 1e-9:
            return M


def _run(method, M, rounds):
    if method == "AdaBoost":
        return AdaBoostMatrix(M).run(rounds, keep_weights=False)
    if method == "AdaBoost*":
        # The accuracy that the number of rounds guarantees.
        return adaboost_star(M, rounds, float(np.sqrt(2 * np.log(len(M)) / rounds)))
    return (arc_gv if method == "arc-gv" else coordinate_ascent)(M, rounds)


def _stumps(A, B):
    """Outputs on A and B of all stumps that cut halfway between neighbouring values of A, both signs, once each."""
    middles = [(v[1:] + v[:-1]) / 2 for v in (np.unique(column) for column in A.T)]
    feature, cut = np.repeat(np.arange(len(middles)), [len(v) for v in middles]), np.concatenate(middles)
    out = [np.where(Z[:, feature] > cut, 1.0, -1.0) for Z in (A, B)]
    kept = np.sort(np.unique(out[0], axis=1, return_index=True)[1])
    return [np.hstack([H[:, kept], -H[:, kept]]) for H in out]
