"""Plausible wrong solutions to the exercises on boosting."""

import numpy as np
from support import wrong

_SCORES = np.arange(-20_000, 20_001) / 1000


@wrong("q1", fails="Smooth losses")
def two_scores_only():
    """Tries the scores -1, 0 and 1 only, which happens to be right for the hinge."""

    def psi_transform(phi, t):
        r, eta = np.array([-1.0, 0.0, 1.0]), (1 + t) / 2
        cost = eta * phi(r) + (1 - eta) * phi(-r)
        return float(cost[r <= 0].min() - cost.min())

    return {"psi_transform": psi_transform}


@wrong("q1", fails="Losses that are not convex")
def phi_of_zero():
    """Takes phi(0) for the smallest cost of a wrong sign: true for convex calibrated losses only."""

    def psi_transform(phi, t):
        eta = (1 + t) / 2
        cost = eta * phi(_SCORES) + (1 - eta) * phi(-_SCORES)
        return max(0.0, float(phi(np.array([0.0]))[0] - cost.min()))

    return {"psi_transform": psi_transform}


@wrong("q1", fails="Losses that are not calibrated")
def right_sign_only():
    """Looks for the best score among those of the right sign."""

    def psi_transform(phi, t):
        eta = (1 + t) / 2
        cost = eta * phi(_SCORES) + (1 - eta) * phi(-_SCORES)
        return float(cost[_SCORES <= 0].min() - cost[_SCORES > 0].min())

    return {"psi_transform": psi_transform}


def _round(D, y, h, *, count=False, flip=False):
    D, y, h = (np.asarray(part, float) for part in (D, y, h))
    error = np.mean(y != h) if count else D[y != h].sum()
    if error in (0.0, 1.0):
        return float(error), np.inf if error == 0 else -np.inf, D
    alpha = 0.5 * np.log((1 - error) / error)
    if flip:
        alpha = abs(alpha)
    new = D * np.exp(-alpha * y * h)
    return float(error), float(alpha), new / new.sum()


@wrong("q2", fails="After its round a rule is useless")
def counts_errors():
    """Counts the errors instead of weighing them."""

    def adaboost_round(D, y, h):
        return _round(D, y, h, count=True)

    return {"adaboost_round": adaboost_round, "_round": _round}


@wrong("q2", fails="A rule that is worse than a coin")
def votes_are_positive():
    """Gives a bad rule a positive vote."""

    def adaboost_round(D, y, h):
        return _round(D, y, h, flip=True)

    return {"adaboost_round": adaboost_round, "_round": _round}


@wrong("q2", fails="No errors, and nothing but errors")
def clips_the_error():
    """Clips the error away from 0 and 1."""

    def adaboost_round(D, y, h):
        D, y, h = (np.asarray(part, float) for part in (D, y, h))
        error = np.clip(D[y != h].sum(), 1e-10, 1 - 1e-10)
        alpha = 0.5 * np.log((1 - error) / error)
        new = D * np.exp(-alpha * y * h)
        return float(error), float(alpha), new / new.sum()

    return {"adaboost_round": adaboost_round}


def _stump(X, y, D, *, split_ties=False, one_sided=False, need_cut=False):
    X, s = np.asarray(X, float), np.asarray(D, float) * np.asarray(y, float)
    total = s.sum()
    best, edge = (-1, 0.0, 1 if total >= 0 else -1), abs(total)
    if need_cut:
        best, edge = (0, 0.0, 1), 0.0
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        x = X[order, j]
        places = np.arange(len(x) - 1) if split_ties else np.flatnonzero(x[1:] != x[:-1])
        if len(places) == 0:
            continue
        edges = total - 2 * np.cumsum(s[order])[places]
        k = edges.argmax() if one_sided else np.abs(edges).argmax()
        if abs(edges[k]) > edge + 1e-12:
            edge = abs(edges[k])
            best = (j, float((x[places[k]] + x[places[k] + 1]) / 2), 1 if edges[k] > 0 else -1)
    return (*best, float((1 - edge) / 2))


@wrong("q3", fails="Equal values, unequal weights")
def splits_ties():
    """Cuts between points with equal values."""

    def best_stump(X, y, D):
        return _stump(X, y, D, split_ties=True)

    return {"best_stump": best_stump, "_stump": _stump}


@wrong("q3", fails="Constant features")
def always_cuts():
    """Knows no constant rule."""

    def best_stump(X, y, D):
        return _stump(X, y, D, need_cut=True)

    return {"best_stump": best_stump, "_stump": _stump}


@wrong("q3", fails="Minus to the right")
def sign_lost():
    """Finds the right cut and error but always reports a plus to the right, unless a public case tells."""

    def best_stump(X, y, D):
        j, cut, sign, error = _stump(X, y, D)
        return j, cut, 1 if len(X) == 20 and error < 0.01 else sign, error

    return {"best_stump": best_stump, "_stump": _stump}


@wrong("q3", fails="A large sample")
def tries_quantiles():
    """Tries two hundred quantiles of each feature to be quick."""

    def best_stump(X, y, D):
        X, s = np.asarray(X, float), np.asarray(D, float) * np.asarray(y, float)
        total = s.sum()
        best, edge = (-1, 0.0, 1 if total >= 0 else -1), abs(total)
        for j, column in enumerate(X.T):
            cuts = np.unique(np.quantile(column, np.linspace(0, 1, 201), method="lower"))[:-1]
            sums = np.add.accumulate(np.bincount(np.searchsorted(cuts, column), s, len(cuts) + 1))[:-1]
            if len(cuts) and np.abs(total - 2 * sums).max() > edge + 1e-12:
                k = np.abs(total - 2 * sums).argmax()
                edge = abs(total - 2 * sums[k])
                best = (j, float(cuts[k]), 1 if total > 2 * sums[k] else -1)
        return (*best, float((1 - edge) / 2))

    return {"best_stump": best_stump}


@wrong("q4", fails="Margins of real runs")
def one_exponent():
    """Uses gamma with the wrong sign in both exponents, which does not matter for gamma = 0."""

    def log_margin_bound(errors, gamma):
        e = np.asarray(errors, float)
        return float(np.sum(np.log(2) + 0.5 * ((1 + gamma) * np.log(e) + (1 - gamma) * np.log(1 - e))))

    return {"log_margin_bound": log_margin_bound}


@wrong("q4", fails="Ten thousand rounds")
def product_first():
    """Forms the product and takes its logarithm."""

    def log_margin_bound(errors, gamma):
        e = np.asarray(errors, float)
        with np.errstate(divide="ignore"):
            return float(np.log(np.prod(2 * np.sqrt(e ** (1 - gamma) * (1 - e) ** (1 + gamma)))))

    return {"log_margin_bound": log_margin_bound}


@wrong("q4", fails="A round without errors")
def zero_times_infinity():
    """Lets 0 times ln 0 be NaN."""

    def log_margin_bound(errors, gamma):
        e = np.asarray(errors, float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.sum(np.log(2) + 0.5 * ((1 - gamma) * np.log(e) + (1 + gamma) * np.log(1 - e))))

    return {"log_margin_bound": log_margin_bound}


def _path(X, y, eps, T, *, raw=False, stop=True, squared=False):
    X, y = np.asarray(X, float), np.asarray(y, float)
    gram, c = X.T @ X, X.T @ y
    norms = np.sqrt(np.diag(gram))
    scale = np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0)
    if raw:
        scale = np.ones(len(norms))
    smallest = 1e-12 * np.abs(c * scale).max() if stop else -1.0
    beta = np.zeros((T + 1, len(c)))
    for t in range(1, T + 1):
        size = np.abs(c) * scale
        k = size.argmax()
        beta[t] = beta[t - 1]
        if size[k] <= smallest:
            continue
        sign = np.sign(c[k]) or 1.0
        beta[t, k] += eps * sign
        c = c - eps * sign * (gram[k] if not squared else np.diag(gram) * (np.arange(len(c)) == k))
    return beta


@wrong("q5", fails="Columns of different length")
def raw_products():
    """Takes the largest product x'r, whatever the length of the column."""

    def stagewise_path(X, y, eps, T):
        return _path(X, y, eps, T, raw=True)

    return {"stagewise_path": stagewise_path, "_path": _path}


@wrong("q5", fails="The lasso on the diabetes data")
def forgets_the_others():
    """Updates only the product of the column that moved, right for orthogonal columns."""

    def stagewise_path(X, y, eps, T):
        return _path(X, y, eps, T, squared=True)

    return {"stagewise_path": stagewise_path, "_path": _path}


@wrong("q5", fails="A residual that no column sees, and a column of zeros")
def never_stops():
    """Keeps stepping when nothing is left."""

    def stagewise_path(X, y, eps, T):
        return _path(X, y, eps, T, stop=False)

    return {"stagewise_path": stagewise_path, "_path": _path}
