"""Plausible wrong solutions to the exercises on boosting as a path."""

import numpy as np
from scipy.optimize import linprog
from scipy.special import logsumexp
from support import wrong


@wrong("q1", fails="Steps down, and steps back")
def only_upwards():
    """Looks for the largest correlation, not for the largest in absolute value."""

    def eps_boost_squared(X, y, eps, T):
        gram, c, beta = X.T @ X, X.T @ y, np.zeros(X.shape[1])
        for _ in range(T):
            j = int(np.argmax(c))
            beta[j] += eps
            c = c - eps * gram[j]
        return beta

    return {"eps_boost_squared": eps_boost_squared}


@wrong("q1", fails="Close to the lasso on the diabetes data")
def forgets_the_other_columns():
    """Updates the correlation of the chosen column only."""

    def eps_boost_squared(X, y, eps, T):
        c, beta = X.T @ y, np.zeros(X.shape[1])
        for _ in range(T):
            j = int(np.argmax(np.abs(c)))
            move = eps if c[j] > 0 else -eps
            beta[j] += move
            c[j] -= move * (X[:, j] @ X[:, j])
        return beta

    return {"eps_boost_squared": eps_boost_squared}


def _program(Z, both=True):
    n, J = Z.shape
    rows = np.hstack([-Z, Z if both else np.zeros((n, J)), np.ones((n, 1))])
    answer = linprog(
        np.append(np.zeros(2 * J), -1.0), A_ub=rows, b_ub=np.zeros(n), A_eq=np.append(np.ones(2 * J), 0.0)[None, :],
        b_eq=[1.0], bounds=[(0, None)] * (2 * J) + [(None, None)],
    )  # fmt: skip
    beta = answer.x[:J] - (answer.x[J:-1] if both else 0.0)
    return float(answer.x[-1]), beta


@wrong("q2", fails="Coefficients of both signs")
def positive_coefficients():
    """Allows positive coefficients only."""

    def max_l1_margin(Z):
        scale = np.abs(Z).max()
        margin, beta = _program(Z / scale, both=False)
        if margin <= 1e-9:
            return 0.0, np.zeros(Z.shape[1])
        return margin * scale, beta / np.abs(beta).sum()

    return {"max_l1_margin": max_l1_margin, "_program": _program}


@wrong("q2", fails="Points that nothing separates")
def always_divides():
    """Divides by the norm although it is zero where nothing separates."""

    def max_l1_margin(Z):
        scale = np.abs(Z).max()
        margin, beta = _program(Z / scale)
        with np.errstate(all="ignore"):
            return margin * scale, beta / np.abs(beta).sum()

    return {"max_l1_margin": max_l1_margin, "_program": _program}


@wrong("q2", fails="Small units")
def trusts_the_solver():
    """Hands the matrix to the solver in the units in which it comes."""

    def max_l1_margin(Z):
        margin, beta = _program(Z)
        if margin <= 1e-9:
            return 0.0, np.zeros(Z.shape[1])
        return margin, beta / np.abs(beta).sum()

    return {"max_l1_margin": max_l1_margin, "_program": _program}


def _decide(Z, beta1, beta2, *, scale=True, logs=True, order=True):
    values = [Z @ (b / np.abs(b).sum() if scale else b) for b in (beta1, beta2)]
    if order:
        values.sort(key=lambda v: -v.min())
    better, worse = values
    d = np.log(2 * len(Z)) / (better.min() - worse.min())
    if not logs:
        with np.errstate(all="ignore"):
            first = np.log(np.exp(-d * better).sum() / np.exp(-d * worse).sum())
            second = np.log(np.log1p(np.exp(-d * better)).sum() / np.log1p(np.exp(-d * worse)).sum())
        return float(d), float(np.nan_to_num(first)), float(np.nan_to_num(second))
    small = [np.where(d * v > 30, -d * v, np.log(np.logaddexp(0, -np.minimum(d * v, 30.0)))) for v in (better, worse)]
    first = logsumexp(-d * better) - logsumexp(-d * worse)
    return float(d), float(first), float(logsumexp(small[0]) - logsumexp(small[1]))


@wrong("q3", fails="Random separators of any length and order")
def any_length():
    """Takes the vectors as they come, whatever their norms."""

    def margin_decides(Z, beta1, beta2):
        return _decide(Z, beta1, beta2, scale=False)

    return {"margin_decides": margin_decides, "_decide": _decide}


@wrong("q3", fails=("Random separators of any length and order", "The better one wins"))
def first_is_better():
    """Believes that the first vector is the better one."""

    def margin_decides(Z, beta1, beta2):
        return _decide(Z, beta1, beta2, order=False)

    return {"margin_decides": margin_decides, "_decide": _decide}


@wrong("q3", fails="Margins that nearly agree")
def plain_exponentials():
    """Computes the losses themselves, which vanish."""

    def margin_decides(Z, beta1, beta2):
        return _decide(Z, beta1, beta2, logs=False)

    return {"margin_decides": margin_decides, "_decide": _decide}


@wrong("q4", fails=("Every column twice", "Dependences of many columns"))
def one_slide():
    """Removes one coefficient and stops."""

    def sparsify(H, beta):
        beta = np.array(beta, dtype=float)
        if np.count_nonzero(beta) > H.shape[0]:
            active = np.flatnonzero(beta)
            gamma = np.linalg.svd(H[:, active])[2][-1]
            steps = -beta[active] / gamma
            out = int(np.argmin(np.abs(steps)))
            beta[active] += steps[out] * gamma
            beta[active[out]] = 0.0
        return beta

    return {"sparsify": sparsify}


@wrong("q4", fails="Dependences of many columns")
def solves_for_the_first_columns():
    """Solves for the fit with the first n active columns: the norm is another one."""

    def sparsify(H, beta):
        beta = np.array(beta, dtype=float)
        active = np.flatnonzero(beta)
        if len(active) > H.shape[0]:
            chosen = active[: H.shape[0]]
            fit = H @ beta
            beta[:] = 0.0
            beta[chosen] = np.linalg.solve(H[:, chosen], fit)
        return beta

    return {"sparsify": sparsify}


@wrong("q4", fails=("Every column twice", "Dependences of many columns"))
def drops_the_smallest():
    """Sets the smallest coefficients to zero."""

    def sparsify(H, beta):
        beta = np.array(beta, dtype=float)
        while np.count_nonzero(beta) > H.shape[0]:
            active = np.flatnonzero(beta)
            smallest = active[np.argmin(np.abs(beta[active]))]
            others = active[active != smallest]
            beta[others[0]] += beta[smallest]
            beta[smallest] = 0.0
        return beta

    return {"sparsify": sparsify}


def _run(H, y, T, eps, *, signs=True, shift=True, travelled=False):
    Z = y[:, None] * H
    beta, v, margins, path = np.zeros(H.shape[1]), np.zeros(len(y)), np.zeros(T), 0.0
    for t in range(T + 1):
        with np.errstate(all="ignore"):
            D = np.exp((v.min() if shift else 0.0) - v)
            D = np.nan_to_num(D / D.sum())
        if t == T:
            return margins, D
        r = D @ Z
        j = int(np.argmax(np.abs(r) if signs else r))
        step = 0.5 * np.log((1 + r[j]) / (1 - r[j])) if eps == "line search" else eps * np.sign(r[j])
        beta[j] += step
        path += abs(step)
        v = v + step * Z[:, j]
        norm = path if travelled else np.abs(beta).sum()
        margins[t] = v.min() / norm if norm > 0 else 0.0


@wrong("q5", fails="Columns that err more often than not")
def positive_edges():
    """Overlooks that a negative edge is as good as a positive one."""

    def boosting_margins(H, y, T, eps):
        return _run(H, y, T, eps, signs=False)

    return {"boosting_margins": boosting_margins, "_run": _run}


@wrong("q5", fails="Columns that err more often than not")
def path_travelled():
    """Divides by the sum of the steps instead of the norm of the coefficients."""

    def boosting_margins(H, y, T, eps):
        return _run(H, y, T, eps, travelled=True)

    return {"boosting_margins": boosting_margins, "_run": _run}


@wrong("q5", fails="A long run")
def no_shift():
    """Lets the weights underflow."""

    def boosting_margins(H, y, T, eps):
        return _run(H, y, T, eps, shift=False)

    return {"boosting_margins": boosting_margins, "_run": _run}
