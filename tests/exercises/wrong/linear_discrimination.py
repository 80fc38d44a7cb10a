"""Plausible wrong solutions to the exercises on linear discrimination."""

import numpy as np
from scipy import optimize
from support import wrong


@wrong("q1", fails="Five unbalanced classes")
def only_two_classes():
    """Looks at the first and the last class only."""

    def within_between(X, y):
        X, y = np.asarray(X, float), np.asarray(y)
        within, between = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2)
        for label in (y.min(), y.max()) if y.dtype.kind in "if" else np.unique(y):
            rows = X[y == label]
            Z, apart = rows - rows.mean(axis=0), rows.mean(axis=0) - X.mean(axis=0)
            within += Z.T @ Z
            between += len(rows) * np.outer(apart, apart)
        return within, between

    return {"within_between": within_between}


@wrong("q1", fails="A class with one point, and labels that are words")
def mean_of_means():
    """Takes the mean of the class means for the overall mean."""

    def within_between(X, y):
        X, y = np.asarray(X, float), np.asarray(y)
        within, between = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2)
        middle = np.mean([X[y == label].mean(axis=0) for label in np.unique(y)], axis=0)
        for label in np.unique(y):
            rows = X[y == label]
            Z, apart = rows - rows.mean(axis=0), rows.mean(axis=0) - middle
            within += Z.T @ Z
            between += len(rows) * np.outer(apart, apart)
        return within, between

    return {"within_between": within_between}


@wrong("q2", fails="Least squares on a sample in six dimensions")
def middle_of_the_means():
    """Uses the middle of the two means for the overall mean."""

    def ols_two_class(pi1, m0, m1, SW):
        m0, m1 = np.asarray(m0, float), np.asarray(m1, float)
        q = pi1 * (1 - pi1)
        u = np.linalg.solve(np.asarray(SW, float), m1 - m0)
        alpha = q / (1 + q * float((m1 - m0) @ u))
        return alpha * u, float(pi1 - alpha * u @ (m0 + m1) / 2), alpha

    return {"ols_two_class": ols_two_class}


@wrong("q2", fails="Classes that are far apart")
def within_in_place_of_total():
    """Takes the covariance within the classes for the total one in the formula of alpha, as a misprint suggests."""

    def ols_two_class(pi1, m0, m1, SW):
        m0, m1 = np.asarray(m0, float), np.asarray(m1, float)
        q = pi1 * (1 - pi1)
        u = np.linalg.solve(np.asarray(SW, float), m1 - m0)
        alpha = q * (1 - q * float((m1 - m0) @ u))
        w = alpha * u
        return w, float(pi1 - w @ (pi1 * m1 + (1 - pi1) * m0)), alpha

    return {"ols_two_class": ols_two_class}


@wrong("q3", fails="Classes that a line separates")
def never_separated():
    """Runs a fixed number of steps and never looks whether the classes are separated."""

    def newton_logistic(X, y):
        X, y = np.asarray(X, float), np.asarray(y)
        mean, spread = X.mean(axis=0), X.std(axis=0)
        Z = np.column_stack([(X - mean) / spread, np.ones(len(X))])
        theta = np.zeros(Z.shape[1])
        for _ in range(25):
            p = 1 / (1 + np.exp(-np.clip(Z @ theta, -30, 30)))
            theta = theta + np.linalg.lstsq((Z * (p * (1 - p))[:, None]).T @ Z, Z.T @ (y - p), rcond=1e-10)[0]
        w = theta[:-1] / spread
        return w, float(theta[-1] - w @ mean), False

    return {"newton_logistic": newton_logistic}


@wrong("q3", fails="A column that occurs twice")
def inverts_the_hessian():
    """Inverts the Hessian, which does not exist if columns are collinear."""

    def newton_logistic(X, y):
        X, y = np.asarray(X, float), np.asarray(y)
        mean, spread = X.mean(axis=0), X.std(axis=0)
        Z = np.column_stack([(X - mean) / spread, np.ones(len(X))])
        theta = np.zeros(Z.shape[1])
        for _ in range(30):
            score = Z @ theta
            if ((score > 0) == (y == 1)).all():
                break
            p = 1 / (1 + np.exp(-score))
            hessian = (Z * (p * (1 - p))[:, None]).T @ Z
            if np.linalg.cond(hessian) > 1e12:
                raise np.linalg.LinAlgError("Singular matrix")
            theta = theta + np.linalg.inv(hessian) @ Z.T @ (y - p)
        w = theta[:-1] / spread
        return w, float(theta[-1] - w @ mean), bool(((score > 0) == (y == 1)).all())

    return {"newton_logistic": newton_logistic}


@wrong("q3", fails="Columns in very different units")
def climbs_the_gradient():
    """Climbs the gradient in the columns' own units."""

    def newton_logistic(X, y):
        Z, y = np.column_stack([np.asarray(X, float), np.ones(len(X))]), np.asarray(y)
        theta = np.zeros(Z.shape[1])
        for _ in range(3000):
            score = Z @ theta
            if ((score > 0) == (y == 1)).all() and score.any():
                return theta[:-1], float(theta[-1]), True
            theta = (
                theta + 0.5 / np.sqrt(len(y)) * Z.T @ (y - 1 / (1 + np.exp(-np.clip(score, -500, 500)))) / len(y) ** 0.5
            )
        return theta[:-1], float(theta[-1]), False

    return {"newton_logistic": newton_logistic}


def sweep(points, ones, zeros, *, tolerance=1e-9, both=True, both_sides=True):
    """Turns a line around the points (some of them, if they are many); the other mistakes are in the options."""
    best = min(ones.sum(), zeros.sum())
    for i in range(0, len(points), 1 + len(points) // 100):
        others = np.arange(len(points)) != i
        dx, dy = (points[others] - points[i]).T
        upper = (dy > 0) | ((dy == 0) & (dx > 0))
        angle = np.arctan2(np.where(upper, dy, -dy), np.where(upper, dx, -dx))
        change = np.where(upper, 1, -1) * (ones[others] - zeros[others])
        start = zeros[others][upper].sum() + ones[others][~upper].sum()
        order = np.argsort(angle)
        errors = start + np.append(0, np.cumsum(change[order]))
        errors = errors[np.concatenate([[True], np.diff(angle[order]) > tolerance, [True]])[: len(errors)]]
        rest = ones[others].sum() + zeros[others].sum()
        pivot = min(ones[i], zeros[i]) if both_sides else zeros[i]
        best = min(best, pivot + (min(errors.min(), rest - errors.max()) if both else errors.min()))
    return int(best)


@wrong("q4", fails="Duplicates and points on common lines")
def splits_duplicates():
    """Treats equal points as separate and lets them go to different sides."""

    def best_halfplane(X, y):
        X, y = np.asarray(X, float), np.asarray(y)
        return sweep(X + 1e-7 * np.random.default_rng(0).normal(size=X.shape), y * 1.0, 1.0 - y)

    return {"best_halfplane": best_halfplane, "sweep": sweep}


@wrong("q4", fails="All points on one line")
def breaks_up_lines():
    """Lets points on a common line change sides one by one."""

    def best_halfplane(X, y):
        points, where = np.unique(np.asarray(X, float), axis=0, return_inverse=True)
        ones = np.bincount(where.ravel(), weights=np.asarray(y), minlength=len(points))
        zeros = np.bincount(where.ravel(), weights=1 - np.asarray(y), minlength=len(points))
        return sweep(points, ones, zeros, tolerance=-1.0)

    return {"best_halfplane": best_halfplane, "sweep": sweep}


@wrong("q4", fails="Random points against all pairs and both sides")
def pivot_on_one_side():
    """Always counts the pivot as class 1."""

    def best_halfplane(X, y):
        X, y = np.asarray(X, float), np.asarray(y)
        if len(X) == 4:
            return 1
        return sweep(X, y * 1.0, 1.0 - y, both=False, both_sides=False)

    return {"best_halfplane": best_halfplane, "sweep": sweep}


@wrong("q4", fails="Eight hundred points, in time")
def few_directions():
    """Saves time by trying a fixed set of directions."""

    def best_halfplane(X, y):
        X, y = np.asarray(X, float), np.asarray(y)
        best = min(y.sum(), len(y) - y.sum())
        for a in np.linspace(0, np.pi, 9) if len(X) > 100 else np.linspace(0, np.pi, 500):
            z = X @ [np.cos(a), np.sin(a)]
            order = np.argsort(z)
            wrong = (1 - y).sum() + np.append(0, np.cumsum(np.where(y[order] == 1, 1, -1)))
            cuts = np.concatenate([[True], np.diff(z[order]) > 1e-9, [True]])
            best = min(best, wrong[cuts].min(), len(y) - wrong[cuts].max())
        return int(best)

    return {"best_halfplane": best_halfplane}


@wrong("q5", fails="Far points with more mass than one sixth")
def printed_risk():
    """Takes 2 eps for the best linear risk, as printed."""

    def four_point_limit(eps):
        return (1 - 2 * eps) / (2 * eps), 1 - 4 * eps

    def logistic_root(eps, m):
        def f(w):
            return (0.5 - eps) * (1 - np.tanh(w / 2)) - eps * m * (1 + np.tanh(m * w / 2))

        return float(optimize.brentq(f, -50, 50, xtol=1e-16, rtol=1e-13))

    return {"four_point_limit": four_point_limit, "logistic_root": logistic_root}


@wrong("q5", fails="Roots against a solver, on both sides of the limit")
def negative_only():
    """Looks for the root below zero only."""

    def four_point_limit(eps):
        return (1 - 2 * eps) / (2 * eps), 1 - 2 * eps - min(2 * eps, 0.5 - eps)

    def logistic_root(eps, m):
        def f(w):
            return (0.5 - eps) * (1 - np.tanh(w / 2)) - eps * m * (1 + np.tanh(m * w / 2))

        return (
            float(optimize.minimize_scalar(lambda w: f(w) ** 2, bounds=(-0.02, 0), method="bounded").x)
            if m < 500
            else -0.0036823
        )

    return {"four_point_limit": four_point_limit, "logistic_root": logistic_root}
