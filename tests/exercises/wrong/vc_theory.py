"""Plausible wrong solutions to the exercises on VC theory."""

import math

import numpy as np
from support import wrong


@wrong("q1", fails="Five points on the falling diagonal")
def without_the_empty_set():
    """Forgets the orthant below all points."""

    def growth_orthants(points):
        p = np.asarray(points, float)
        return len({tuple((p[:, 0] <= a) & (p[:, 1] <= b)) for a, b in p} - {()})

    return {"growth_orthants": growth_orthants}


@wrong("q1", fails=["Repeated coordinates and repeated points", "Points in general position"])
def closed_form():
    """The growth function instead of the count: right only for the worst points."""

    def growth_orthants(points):
        n = len(points)
        return 1 + n * (n + 1) // 2

    return {"growth_orthants": growth_orthants}


@wrong("q1", fails="Repeated coordinates and repeated points")
def ranks_instead_of_values():
    """Ranks the coordinates first, which tears equal values apart."""

    def growth_orthants(points):
        p = np.asarray(points, float)
        r = np.column_stack([np.argsort(np.argsort(c, kind="stable"), kind="stable") for c in p.T])
        n = len(p)
        return len({tuple((r[:, 0] <= a) & (r[:, 1] <= b)) for a in range(-1, n) for b in range(-1, n)})

    return {"growth_orthants": growth_orthants}


@wrong("q1", fails="Forty points, quickly")
def only_small_grids():
    """Tries whole-number corners up to ten only."""

    def growth_orthants(points):
        p = np.asarray(points, float)
        grid = range(-11, 11)
        return len({tuple((p[:, 0] <= a) & (p[:, 1] <= b)) for a in grid for b in grid})

    return {"growth_orthants": growth_orthants}


@wrong("q2", fails="A VC dimension of 500")
def power_that_overflows():
    """Computes (n+1)^V before taking the logarithm."""

    def pac_radius(n, V, delta):
        return math.sqrt(32 * math.log(8 * float(n + 1) ** V / delta) / n)

    return {"pac_radius": pac_radius}


@wrong("q2", fails="The sample size is enough, and one less is not")
def doubling_only():
    """Stops at the first power of two that is enough."""

    def pac_radius(n, V, delta):
        return math.sqrt(32 * (math.log(8) + V * math.log(n + 1) - math.log(delta)) / n)

    def sample_size(eps, V, delta):
        n = 1
        while pac_radius(n, V, delta) > eps:
            n *= 2
        return n

    return {"pac_radius": pac_radius, "sample_size": sample_size}


@wrong("q3", fails="Small samples against all labelings, with ties in x")
def ties_are_split():
    """Treats points with equal x one by one."""

    def erm_intervals(x, y, k):
        labels = np.asarray(y)[np.argsort(x, kind="stable")]
        inside = np.arange(2 * k + 1) % 2
        cost = np.where(np.arange(2 * k + 1) == 0, 0.0, np.inf)
        for label in labels:
            cost[1:] = np.minimum(cost[1:], cost[:-1])
            cost += label != inside
        return int(cost.min())

    return {"erm_intervals": erm_intervals}


@wrong("q3", fails="One class only, and more intervals than needed")
def exactly_k():
    """Insists on ending outside after exactly k intervals."""

    def erm_intervals(x, y, k):
        values, where = np.unique(np.asarray(x, float), return_inverse=True)
        ones = np.bincount(where, weights=np.asarray(y), minlength=len(values))
        zeros = np.bincount(where, minlength=len(values)) - ones
        cost = np.full(2 * k + 1, np.inf)
        cost[0] = 0
        for one, zero in zip(ones, zeros, strict=True):
            cost = np.minimum(cost, np.concatenate([[np.inf], cost[:-1]]))
            cost = cost + np.where(np.arange(2 * k + 1) % 2, zero, one)
        return int(min(cost[-1], 10**6))

    return {"erm_intervals": erm_intervals}


@wrong("q3", fails="A large sample")
def greedy_runs():
    """Keeps the k longest runs of ones."""

    def erm_intervals(x, y, k):
        labels = np.asarray(y)[np.argsort(x, kind="stable")]
        change = np.flatnonzero(np.diff(np.concatenate([[0], labels, [0]])))
        lengths = np.sort(change[1::2] - change[::2])[::-1]
        return int(labels.sum() - lengths[:k].sum())

    return {"erm_intervals": erm_intervals}


@wrong("q4", fails="Against all intervals with ends at the points")
def kolmogorov_smirnov():
    """The supremum over half-lines."""

    def kuiper(u):
        u = np.sort(np.asarray(u, float))
        n = len(u)
        return float(max((np.arange(1, n + 1) / n - u).max(), (u - np.arange(n) / n).max()))

    return {"kuiper": kuiper}


@wrong("q4", fails="A sample that avoids the middle")
def closed_intervals_only():
    """Looks for too many points in closed intervals, never for too few."""

    def kuiper(u):
        u = np.sort(np.asarray(u, float))
        n = len(u)
        return float(max((j - i + 1) / n - (u[j] - u[i]) for i in range(n) for j in range(i, n)))

    return {"kuiper": kuiper}


@wrong("q5", fails=["The laboratory of the chapter", "Random error counts"])
def counts_as_risks():
    """Adds the penalty to the counts."""

    def srm_select(errors, V, n):
        V = np.asarray(V, float)
        k = np.arange(1, len(V) + 1)
        penalty = 2 * np.sqrt((V * np.log(n + 1) + np.log(2)) / n) + np.sqrt(np.log(k) / n)
        return int(np.argmin(np.asarray(errors) + penalty)) + 1

    return {"srm_select": srm_select}


@wrong("q5", fails="Classes of equal dimension")
def without_the_index():
    """Leaves out the second root."""

    def srm_select(errors, V, n):
        V = np.asarray(V, float)
        return int(np.argmin(np.asarray(errors) / n + 2 * np.sqrt((V * np.log(n + 1) + np.log(2)) / n))) + 1

    return {"srm_select": srm_select}


@wrong("q5", fails="Classes that are never, or at once, selected")
def last_size_by_default():
    """Returns the last size where the answer is 0."""

    def select(errors, V, n):
        V = np.asarray(V, float)
        k = np.arange(1, len(V) + 1)
        penalty = 2 * np.sqrt((V * np.log(n + 1) + np.log(2)) / n) + np.sqrt(np.log(k) / n)
        return int(np.argmin(np.asarray(errors, float) / n + penalty)) + 1

    def phase_change(risks, V, sizes):
        best = int(np.argmin(risks)) + 1
        for n in sizes:
            if select(np.asarray(risks) * n, V, n) == best:
                return n
        return sizes[-1]

    return {"srm_select": select, "phase_change": phase_change}
