"""Plausible wrong solutions to the exercises on the dynamics of AdaBoost."""

import numpy as np
from scipy.optimize import linprog
from support import wrong


def _step(M, d, *, tie=1e-12, rescale=True):
    M, d = np.asarray(M, float), np.asarray(d, float)
    if rescale:
        d = d / d.sum()
    edges = d @ M
    j = int(np.flatnonzero(edges >= edges.max() - tie)[0])
    new = d / (1 + M[:, j] * edges[j])
    return j, float(edges[j]), new / new.sum() if rescale else new


@wrong("q1", fails="The weights are those of the votes")
def forgets_the_ones_it_got_right():
    """Moves only the wrong examples to one half and rescales all: right for one wrong example in three."""

    def adaboost_step(M, d):
        j, r, _ = _step(M, d)
        new = np.asarray(d, float).copy()
        heavy = int(np.argmin(np.where(np.asarray(M)[:, j] < 0, -new, np.inf)))
        new[heavy] = new.sum() - new[heavy]
        return j, r, new / new.sum()

    return {"adaboost_step": adaboost_step, "_step": _step}


@wrong("q1", fails="Weights that do not quite sum to one")
def trusts_the_sum():
    """Believes that the map keeps the sum."""

    def adaboost_step(M, d):
        return _step(M, d, rescale=False)

    return {"adaboost_step": adaboost_step, "_step": _step}


@wrong("q1", fails="Ties that rounding would decide")
def exact_argmax():
    """Lets rounding decide ties."""

    def adaboost_step(M, d):
        return _step(M, d, tie=0.0)

    return {"adaboost_step": adaboost_step, "_step": _step}


@wrong("q2", fails="The cycles of m rules with one error each")
def first_three_edges():
    """Uses three edges, as if every cycle had length three, with one wrong answer."""

    def cycle_margin(rs):
        return (len(rs) - 2) / 3

    return {"cycle_margin": cycle_margin}


@wrong("q2", fails="Edges that differ")
def mean_edge():
    """Puts the mean edge into the formula for equal edges."""

    def cycle_margin(rs):
        r = float(np.mean(rs))
        return -np.log(1 - r * r) / np.log((1 + r) / (1 - r))

    return {"cycle_margin": cycle_margin}


@wrong("q2", fails="A cycle of twenty thousand steps")
def products():
    """Multiplies first."""

    def cycle_margin(rs):
        rs = np.asarray(rs)
        with np.errstate(all="ignore"):
            return float(-np.log(np.prod(1 - rs**2)) / np.log(np.prod((1 + rs) / (1 - rs))))

    return {"cycle_margin": cycle_margin}


@wrong("q3", fails="From four to twenty rules")
def one_newton_step():
    """Knows the case of three and stops early in the others."""

    def mm_beta1(m):
        if m == 3:
            return (3 - 5**0.5) / 4
        beta = 2.0**-m
        return beta * (1 + (m - 1) * beta)

    return {"mm_beta1": mm_beta1}


@wrong("q3", fails="Sixty rules")
def absolute_tolerance():
    """Bisects to an absolute error."""

    def mm_beta1(m):
        low, high = 0.0, 1.0 / m
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if middle * 2.0**m * (1 - middle) ** (m - 1) < 1 else (low, middle)
        return (low + high) / 2

    return {"mm_beta1": mm_beta1}


def _orbit(M, d, steps):
    out = [np.asarray(d, float)]
    for _ in range(steps):
        out.append(_step(M, out[-1])[2])
    return np.array(out)


@wrong("q4", fails="The 4 x 5 matrix")
def number_of_columns():
    """Believes that a cycle uses every column once."""

    def detect_period(M, d, max_iter):
        return np.shape(M)[1] if max_iter > 100 else 0

    return {"detect_period": detect_period}


@wrong("q4", fails="The 8 x 8 matrix, from two starts")
def number_of_recent_columns():
    """Counts the different columns of the last steps."""

    def detect_period(M, d, max_iter):
        if max_iter < 50:
            return 0
        columns = []
        for _ in range(min(max_iter, 2000)):
            j, _, d = _step(M, d)
            columns.append(j)
        return len(set(columns[-40:]))

    return {"detect_period": detect_period, "_step": _step}


@wrong("q4", fails="A transient of thousands of steps")
def impatient():
    """Looks at the first three hundred steps only."""

    def detect_period(M, d, max_iter):
        orbit = _orbit(M, d, min(max_iter, 300))
        for lag in range(1, len(orbit) // 2):
            if np.abs(orbit[-1] - orbit[-1 - lag]).max() <= 1e-9:
                return lag
        return 0

    return {"detect_period": detect_period, "_orbit": _orbit, "_step": _step}


@wrong("q4", fails="Not enough steps")
def ignores_the_limit():
    """Makes as many steps as it likes."""

    def detect_period(M, d, max_iter):
        orbit = _orbit(M, d, 300)
        for lag in range(1, 150):
            if np.abs(orbit[-1] - orbit[-1 - lag]).max() <= 1e-9:
                return lag
        return 0

    return {"detect_period": detect_period, "_orbit": _orbit, "_step": _step}


@wrong("q4", fails="An orbit that all but stands still")
def starts_at_two():
    """Knows that separable data have no fixed point, and forgets the others."""

    def detect_period(M, d, max_iter):
        orbit = _orbit(M, d, min(max_iter, 15_000))
        for lag in range(2, len(orbit) // 2):
            if np.abs(orbit[-1] - orbit[-1 - lag]).max() <= 1e-9:
                return lag
        return 0

    return {"detect_period": detect_period, "_orbit": _orbit, "_step": _step}


def _margin(M, *, positive=False):
    M = np.asarray(M, float)
    m, n = M.shape
    answer = linprog(
        np.append(np.zeros(n), -1),
        A_ub=np.hstack([-M, np.ones((m, 1))]),
        b_ub=np.zeros(m),
        A_eq=[np.append(np.ones(n), 0)],
        b_eq=[1],
        bounds=[(0, None)] * n + [(0 if positive else None, None)],
    )
    return float(-answer.fun) if answer.status == 0 else 0.0


def _gap(M, rounds, value):
    M = np.asarray(M, float)
    d, lam = np.full(len(M), 1 / len(M)), np.zeros(M.shape[1])
    for _ in range(rounds):
        j, r, d = _step(M, d)
        lam[j] += np.arctanh(r)
    return value - float((M @ lam).min() / lam.sum())


@wrong("q5", fails="The 8 x 8 matrix")
def adaboost_is_the_optimum():
    """Believes that AdaBoost maximises the margin."""

    def max_margin(M):
        return _margin(M)

    def adaboost_gap(M, rounds):
        return 0.0

    return {"max_margin": max_margin, "adaboost_gap": adaboost_gap, "_margin": _margin}


@wrong("q5", fails="A game that cannot be won")
def margins_are_positive():
    """Leaves the default bounds on the margin."""

    def max_margin(M):
        return _margin(M, positive=True)

    def adaboost_gap(M, rounds):
        return _gap(M, rounds, _margin(M, positive=True))

    return {"max_margin": max_margin, "adaboost_gap": adaboost_gap, "_margin": _margin, "_gap": _gap, "_step": _step}
