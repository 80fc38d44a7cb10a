"""Plausible wrong solutions to the exercises on support vector machines."""

import numpy as np
from support import wrong


@wrong("q1", fails="Points in the street that nobody pays for")
def only_products():
    """Checks the margins of support vectors only, so that a neglected point in the street goes unnoticed."""

    def kkt_check(X, y, C, alpha, w0):
        X, y, alpha = (np.asarray(part, dtype=float) for part in (X, y, alpha))
        box = float(max(0.0, np.max(-alpha), np.max(alpha - C)))
        margins = y * (X @ ((alpha * y) @ X) + w0)
        inside = (alpha > 1e-8 * C) & (alpha < C * (1 - 1e-8))
        off = np.where(inside, np.abs(margins - 1), np.where(alpha > 1e-8 * C, np.maximum(margins - 1, 0), 0.0))
        return box, float(abs(alpha @ y)), float(off.max())

    return {"kkt_check": kkt_check}


@wrong("q1", fails="Perturbed multipliers")
def no_ceiling():
    """Forgets that multipliers may not exceed C."""

    def kkt_check(X, y, C, alpha, w0):
        X, y, alpha = (np.asarray(part, dtype=float) for part in (X, y, alpha))
        margins = y * (X @ ((alpha * y) @ X) + w0)
        missing = np.where(alpha < C * (1 - 1e-8), 1 - margins, 0.0)
        surplus = np.where(alpha > 1e-8 * C, margins - 1, 0.0)
        return float(max(0.0, np.max(-alpha))), float(abs(alpha @ y)), float(max(0.0, missing.max(), surplus.max()))

    return {"kkt_check": kkt_check}


@wrong("q2", fails=["Other distances, 1-norm", "Other distances, 2-norm"])
def distance_one():
    """Takes the distance for one in the formula of w."""

    def two_point_svm(a, C, norm):
        if norm == 2:
            alpha = 1 / (2 * a**2 + 1 / C)
            return alpha, 2 * alpha, 0.0
        alpha = min(C, 1 / (2 * a**2))
        return alpha, 2 * alpha, max(0.0, 1 - 2 * alpha)

    return {"two_point_svm": two_point_svm}


@wrong("q2", fails="Other distances, 2-norm")
def diagonal_twice():
    """Adds 1/C to the matrix with the wrong factor."""

    def two_point_svm(a, C, norm):
        if norm == 2:
            alpha = 1 / (2 * a**2 + 2 / C)
            return alpha, 2 * a * alpha, 0.0
        alpha = min(C, 1 / (2 * a**2))
        return alpha, 2 * a * alpha, max(0.0, 1 - 2 * a**2 * alpha)

    return {"two_point_svm": two_point_svm}


@wrong("q3", fails=["A nearest point that is not a sample point", "Eighty points in forty dimensions"])
def nearest_sample_points():
    """Joins the two nearest sample points in place of the nearest points of the hulls."""

    def hull_svm(X, y):
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        P, M = X[y > 0], X[y < 0]
        apart = ((P[:, None] - M) ** 2).sum(axis=2)
        i, j = np.unravel_index(apart.argmin(), apart.shape)
        v = P[i] - M[j]
        w = 2 * v / (v @ v)
        return w, float(-w @ (P[i] + M[j]) / 2), float(1 / np.sqrt(w @ w))

    return {"hull_svm": hull_svm}


@wrong("q3", fails=["A nearest point that is not a sample point"])
def line_between_means():
    """Joins the means of the classes."""

    def hull_svm(X, y):
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        p, q = X[y > 0].mean(axis=0), X[y < 0].mean(axis=0)
        w = 2 * (p - q) / ((p - q) @ (p - q))
        return w, float(-w @ (p + q) / 2), float(1 / np.sqrt(w @ w))

    return {"hull_svm": hull_svm}


@wrong("q4", fails="Fifteen hundred points")
def few_steps():
    """Stops after as many steps as are enough for a hundred points."""

    def smo(K, y, C):
        K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
        low, high = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
        beta, g = np.zeros(len(y)), -y
        for _ in range(400):
            i = int(np.argmin(np.where(beta < high, g, np.inf)))
            j = int(np.argmax(np.where(beta > low, g, -np.inf)))
            if g[j] - g[i] < 1e-4:
                break
            step = (g[j] - g[i]) / max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
            step = min(step, high[i] - beta[i], beta[j] - low[j])
            beta[i], beta[j] = beta[i] + step, beta[j] - step
            g = g + step * (K[:, i] - K[:, j])
        return np.clip(np.abs(beta), 0, C), -float(g[i] + g[j]) / 2

    return {"smo": smo}


@wrong("q4", fails="Equal points with different labels")
def gives_up_on_flat_pairs():
    """Stops when a pair has no curvature."""

    def smo(K, y, C):
        K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
        low, high = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
        beta, g = np.zeros(len(y)), -y
        for _ in range(20_000):
            i = int(np.argmin(np.where(beta < high, g, np.inf)))
            j = int(np.argmax(np.where(beta > low, g, -np.inf)))
            bend = K[i, i] + K[j, j] - 2 * K[i, j]
            if g[j] - g[i] < 1e-4 or bend < 1e-10:
                break
            step = min((g[j] - g[i]) / bend, high[i] - beta[i], beta[j] - low[j])
            beta[i], beta[j] = beta[i] + step, beta[j] - step
            g = g + step * (K[:, i] - K[:, j])
        return np.clip(np.abs(beta), 0, C), -float(g[i] + g[j]) / 2

    return {"smo": smo}


@wrong("q4", fails="No in-bound support vector")
def first_support_vector():
    """Takes w0 from the first support vector, whether it is in-bound or not."""

    def smo(K, y, C):
        K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
        low, high = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
        beta, g = np.zeros(len(y)), -y
        for _ in range(20_000):
            i = int(np.argmin(np.where(beta < high, g, np.inf)))
            j = int(np.argmax(np.where(beta > low, g, -np.inf)))
            if g[j] - g[i] < 1e-4:
                break
            step = (g[j] - g[i]) / max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
            step = min(step, high[i] - beta[i], beta[j] - low[j])
            beta[i], beta[j] = beta[i] + step, beta[j] - step
            g = g + step * (K[:, i] - K[:, j])
        alpha = np.clip(np.abs(beta), 0, C)
        inside = np.flatnonzero((alpha > 1e-9) & (alpha < C - 1e-9))
        first = inside[0] if inside.size else 0
        return alpha, -float(g[first]) + (0.0 if inside.size else float(y[first]))

    return {"smo": smo}


@wrong("q5", fails=["ν falls with C, and lies between two fractions"])
def counts_support_vectors():
    """Takes the fraction of support vectors, which is only an upper bound, for ν."""

    def c_to_nu(K, y, C):
        alpha, _ = smo(K, y, C)  # noqa: F821 - the student's own solver
        return float(np.mean(alpha > 1e-8 * C))

    return {"c_to_nu": c_to_nu}


@wrong("q5", fails=["There and back", "Classes with a gap"])
def short_search():
    """Searches prices between 1/2 and 2 only."""

    def nu_to_c(K, y, nu):
        grid = np.geomspace(0.5, 2.0, 25)
        came = [c_to_nu(K, y, C) for C in grid]  # noqa: F821 - the student's own function
        return float(grid[int(np.argmin(np.abs(np.array(came) - nu)))])

    return {"nu_to_c": nu_to_c}
