"""Plausible wrong solutions to the exercises on the path of the support vector machine."""

import numpy as np
from support import wrong


def elbow_direction(K, y, E):
    E = np.asarray(E)
    A = np.zeros((len(E) + 1, len(E) + 1))
    A[0, 1:] = A[1:, 0] = y[E]
    A[1:, 1:] = y[E][:, None] * y[E] * K[np.ix_(E, E)]
    return np.linalg.lstsq(A, np.append(0.0, np.ones(len(E))), rcond=1e-11)[0]


def all_steps(K, y, alpha, a0, lam, E):
    E = np.asarray(E)
    b = elbow_direction(K, y, E)
    h = K[:, E] @ (y[E] * b[1:]) + b[0]
    slack, rate = y * (K @ (y * alpha) + a0) - lam, y * h - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(np.abs(rate) > 1e-10, slack / rate, np.inf)
        leave = np.where(b[1:] > 0, alpha[E] / b[1:], (alpha[E] - 1) / b[1:])
        steps[E] = np.where(np.abs(b[1:]) > 1e-12, leave, np.inf)
    steps[~(steps > 1e-9 * lam)] = np.inf
    return steps


@wrong("q1", fails="Classes that overlap")
def extremes_of_all_points():
    """Takes the largest and the smallest value over both classes."""

    def initial_lambda(K, y):
        g = K @ y
        return np.array([(g.max() - g.min()) / 2, -(g.max() + g.min()) / 2])

    return {"initial_lambda": initial_lambda}


@wrong("q2", fails="The same point twice")
def gives_up_when_singular():
    """Answers zero where the system has no unique solution."""

    def elbow_direction(K, y, E):
        E = np.asarray(E)
        A = np.zeros((len(E) + 1, len(E) + 1))
        A[0, 1:] = A[1:, 0] = y[E]
        A[1:, 1:] = y[E][:, None] * y[E] * K[np.ix_(E, E)]
        if np.linalg.matrix_rank(A) <= len(E):
            return np.zeros(len(E) + 1)
        return np.linalg.solve(A, np.append(0.0, np.ones(len(E))))

    return {"elbow_direction": elbow_direction}


@wrong("q2", fails="Some of many points")
def first_points_for_the_elbow():
    """Uses the first points of the sample in place of those of the elbow."""

    def elbow_direction(K, y, E):
        E = np.arange(len(E))
        A = np.zeros((len(E) + 1, len(E) + 1))
        A[0, 1:] = A[1:, 0] = y[E]
        A[1:, 1:] = y[E][:, None] * y[E] * K[np.ix_(E, E)]
        return np.linalg.lstsq(A, np.append(0.0, np.ones(len(E))), rcond=1e-11)[0]

    return {"elbow_direction": elbow_direction}


@wrong("q3", fails="A point that comes back from the right")
def right_is_for_ever():
    """Forgets that points with multiplier zero may return."""

    def next_event(K, y, alpha, a0, lam, E):
        steps = all_steps(K, y, alpha, a0, lam, E)
        resting = alpha == 0
        resting[np.asarray(E)] = False
        steps[resting] = np.inf
        t = steps.min()
        return np.append(lam - t, np.flatnonzero(steps <= t + 1e-9 * lam))

    return {"next_event": next_event, "elbow_direction": elbow_direction, "all_steps": all_steps}


@wrong("q3", fails="Two points at once")
def one_point_at_a_time():
    """Reports the first of several points only."""

    def next_event(K, y, alpha, a0, lam, E):
        steps = all_steps(K, y, alpha, a0, lam, E)
        return np.array([lam - steps.min(), steps.argmin()])

    return {"next_event": next_event, "elbow_direction": elbow_direction, "all_steps": all_steps}


def walk(K, y, alpha, a0, lam, E, lam_min, stop):
    alpha, E = np.array(alpha, dtype=float), list(E)
    rows = [np.concatenate([[lam, a0], alpha])]
    while E and np.any(np.delete(alpha, E) == 1) and len(rows) < stop:
        steps, b = all_steps(K, y, alpha, a0, lam, E), elbow_direction(K, y, E)
        t = steps.min()
        if not lam - t > lam_min:
            break
        alpha[E] -= t * b[1:]
        a0, lam = a0 - t * b[0], lam - t
        for i in np.flatnonzero(steps <= t + 1e-9 * lam):
            if i in E:
                alpha[i] = np.round(alpha[i])
                E.remove(i)
            else:
                E.append(int(i))
        rows.append(np.concatenate([[lam, a0], alpha]))
    return np.array(rows)


@wrong("q4", fails="A hundred and twenty points")
def stops_early():
    """Stops after as many events as twenty points need."""

    def svm_path(K, y, alpha, a0, lam, E, lam_min):
        return walk(K, y, alpha, a0, lam, E, lam_min, 90)

    return {"svm_path": svm_path, "walk": walk, "all_steps": all_steps, "elbow_direction": elbow_direction}


@wrong("q4", fails="Unequal classes")
def begins_with_ones():
    """Sets every multiplier to one at the start, which is right for equal classes only."""

    def svm_path(K, y, alpha, a0, lam, E, lam_min):
        return walk(K, y, np.ones(len(y)), a0, lam, E, lam_min, 10_000)

    return {"svm_path": svm_path, "walk": walk, "all_steps": all_steps, "elbow_direction": elbow_direction}


@wrong("q4", fails="Every row twice")
def one_of_two():
    """Moves one point an event, though its double moves with it."""

    def svm_path(K, y, alpha, a0, lam, E, lam_min):
        alpha, E = np.array(alpha, dtype=float), list(E)
        rows = [np.concatenate([[lam, a0], alpha])]
        while E and np.any(np.delete(alpha, E) == 1):
            steps, b = all_steps(K, y, alpha, a0, lam, E), elbow_direction(K, y, E)
            t, i = steps.min(), int(steps.argmin())
            if not lam - t > lam_min:
                break
            alpha[E] -= t * b[1:]
            a0, lam = a0 - t * b[0], lam - t
            if i in E:
                alpha[i] = np.round(alpha[i])
                E.remove(i)
            else:
                E.append(i)
            rows.append(np.concatenate([[lam, a0], alpha]))
        return np.array(rows)

    return {"svm_path": svm_path, "all_steps": all_steps, "elbow_direction": elbow_direction}


@wrong("q5", fails="Refits at twenty costs")
def halfway():
    """Puts every change into the middle of its segment."""

    def exact_cv_curve(lams, tables, labels):
        errors, changes = 0, []
        for lam, table, y in zip(lams, tables, labels, strict=True):
            errors += int(np.sum((table[0] >= 0) != (y > 0)))
            for k in range(len(lam) - 1):
                a, b = table[k], table[k + 1]
                for i in np.flatnonzero((a >= 0) != (b >= 0)):
                    changes.append(((lam[k] + lam[k + 1]) / 2, 1 if (b[i] >= 0) != (y[i] > 0) else -1))
        rows = [[lams[0][0], errors]]
        for at, change in sorted(changes, reverse=True):
            errors += change
            rows.append([at, errors])
        return np.array(rows)

    return {"exact_cv_curve": exact_cv_curve}
