"""Plausible wrong solutions to the exercises on plug-in rules, histograms, nearest neighbours and CART."""

import math

import numpy as np
from scipy import stats
from support import wrong


@wrong("q1", fails="Even k, and many probabilities at once")
def even_ties_to_zero():
    """Gives tied votes to class 0 instead of using k - 1."""

    def knn_limit(eta, k):
        eta = np.asarray(eta, float)
        zero = stats.binom.cdf(k // 2, k, eta)
        return eta * zero + (1 - eta) * (1 - zero)

    return {"knn_limit": knn_limit}


@wrong("q1", fails="A thousand and one neighbours")
def factorials():
    """Floating-point binomial coefficients, which overflow."""

    def knn_limit(eta, k):
        k = k - 1 if k % 2 == 0 else k
        choose = [float(math.comb(k, j)) if k < 1000 else math.inf for j in range(k + 1)]
        terms = [c * eta**j * (1 - eta) ** (k - j) for j, c in enumerate(choose)]
        return sum(t * (eta if 2 * j < k else 1 - eta) for j, t in enumerate(terms))

    return {"knn_limit": knn_limit}


@wrong("q2", fails="Negative coordinates and the borders of cells")
def rounds_towards_zero():
    """Truncates instead of rounding down."""

    def histogram_rule(X, y, h, queries):
        votes = {}
        for cell, label in zip((np.asarray(X) / h).astype(int), y, strict=True):
            votes[tuple(cell)] = votes.get(tuple(cell), 0) + (1 if label == 1 else -1)
        return np.array([int(votes.get(tuple(c), 0) > 0) for c in (np.asarray(queries) / h).astype(int)])

    return {"histogram_rule": histogram_rule}


@wrong("q2", fails="Tied and empty cells")
def ties_say_one():
    """Ties, and empty cells, say 1."""

    def histogram_rule(X, y, h, queries):
        votes = {}
        for cell, label in zip(np.floor(np.asarray(X) / h).astype(int), y, strict=True):
            votes[tuple(cell)] = votes.get(tuple(cell), 0) + (1 if label == 1 else -1)
        return np.array([int(votes.get(tuple(c), 0) >= 0) for c in np.floor(np.asarray(queries) / h).astype(int)])

    return {"histogram_rule": histogram_rule}


def _question(X, y, *, split_ties=False, empty=None):
    X, y = np.asarray(X, float), np.asarray(y, float)
    n, total = len(y), y.sum()
    best, found = (-1, 2 * total * (n - total) / n if empty is None else empty), np.inf
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        x, ones, left = X[order, j], np.cumsum(y[order])[:-1], np.arange(1, n)
        cost = 2 * ones * (left - ones) / left + 2 * (total - ones) * (n - left - total + ones) / (n - left)
        if not split_ties:
            cost = cost[x[:-1] != x[1:]]
        if len(cost) and cost.min() < found - 1e-9:
            found, best = cost.min(), (j, float(cost.min()))
    return best


@wrong("q3", fails="Small samples against every question, with ties")
def cuts_between_equal_values():
    """Splits points with equal values."""

    def best_question(X, y):
        return _question(X, y, split_ties=True)

    return {"_question": _question, "best_question": best_question}


@wrong("q3", fails="Constant features")
def no_cost_without_a_split():
    """Returns cost 0 where no question is possible."""

    def best_question(X, y):
        return _question(X, y, empty=0.0)

    return {"_question": _question, "best_question": best_question}


@wrong("q3", fails="A large sample")
def looks_at_the_first_thousand():
    """Saves time by looking at a part of the sample."""

    def best_question(X, y):
        feature, cost = _question(X[:1000], y[:1000])
        return feature, cost + (1.0 if len(y) > 1000 else 0.0)

    return {"_question": _question, "best_question": best_question}


def _links(left, right, cost, *, one_at_a_time=False, per_node=False):
    m = len(cost)
    inner = [c >= 0 for c in left]
    level, rows = 0.0, []
    while True:
        value, leaves = [float(c) for c in cost], [1] * m
        for t in range(m - 1, -1, -1):
            if inner[t]:
                value[t], leaves[t] = value[left[t]] + value[right[t]], leaves[left[t]] + leaves[right[t]]
        alive, pending = [], [0]
        while pending:
            t = pending.pop()
            if inner[t]:
                alive.append(t)
                pending += [left[t], right[t]]
        g = {t: (cost[t] - value[t]) / (1 if per_node else leaves[t] - 1) for t in alive}
        rows.append((level, leaves[0], value[0]))
        if not g:
            break
        level = min(g.values())
        weak = [t for t in g if g[t] <= level + 1e-9]
        for t in weak[:1] if one_at_a_time else weak:
            inner[t] = False
    return tuple(list(column) for column in zip(*rows, strict=True))


@wrong("q5", fails="Links that are equally weak, and links that gain nothing")
def one_link_at_a_time():
    """Collapses one of several equally weak links."""

    def weakest_link(left, right, cost):
        return _links(left, right, cost, one_at_a_time=True)

    return {"_links": _links, "weakest_link": weakest_link}


@wrong("q5", fails="Random trees against the best subtree for many penalties")
def gain_instead_of_gain_per_leaf():
    """Forgets to divide by the number of leaves that are saved."""

    def weakest_link(left, right, cost):
        return _links(left, right, cost, per_node=True)

    return {"_links": _links, "weakest_link": weakest_link}


@wrong("q4", fails=["Three points", "Random problems"])
def half_says_one():
    """Decides 1 at one half, and forgets the factor in the excess."""

    def plug_in_cost(px, eta, guess):
        px, eta, guess = (np.asarray(p, float) for p in (px, eta, guess))
        differ = (guess >= 0.5) != (eta > 0.5)
        excess = px[differ] @ np.abs(eta[differ] - 0.5)
        return float(excess), float(2 * px @ np.abs(eta - guess)), float(2 * np.sqrt(px @ (eta - guess) ** 2))

    return {"plug_in_cost": plug_in_cost}


@wrong("q4", fails="An absurd estimate that does no harm")
def bound_as_excess():
    """Takes the bound for the excess risk."""

    def plug_in_cost(px, eta, guess):
        px, eta, guess = (np.asarray(p, float) for p in (px, eta, guess))
        l1 = float(2 * px @ np.abs(eta - guess))
        return l1, l1, float(2 * np.sqrt(px @ (eta - guess) ** 2))

    return {"plug_in_cost": plug_in_cost}


@wrong("q4", fails="Random problems")
def cuts_at_the_mean():
    """Lets the Bayes rule cut at the average posterior instead of one half."""

    def plug_in_cost(px, eta, guess):
        px, eta, guess = (np.asarray(p, float) for p in (px, eta, guess))
        differ = (guess > 0.5) != (eta > eta.mean())
        excess = float(px[differ] @ np.abs(2 * eta[differ] - 1))
        return excess, float(2 * px @ np.abs(eta - guess)), float(2 * np.sqrt(px @ (eta - guess) ** 2))

    return {"plug_in_cost": plug_in_cost}
