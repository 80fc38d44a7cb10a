"""Plausible wrong solutions to the exercises on hidden Markov models."""

import numpy as np
from support import wrong


def filter_step(p, P, f):
    joint = (p @ P) * f
    if not joint.sum() > 0:
        raise ValueError("impossible")
    return joint / joint.sum(), joint.sum()


def viterbi(log_pi, log_P, log_f):
    n, k = log_f.shape
    delta, winner = log_pi + log_f[0], np.zeros((n, k), dtype=int)
    for t in range(1, n):
        into = delta[:, None] + log_P
        winner[t] = into.argmax(axis=0)
        delta = into.max(axis=0) + log_f[t]
    path = [int(delta.argmax())]
    for t in range(n - 1, 0, -1):
        path.append(int(winner[t, path[-1]]))
    return np.array(path[::-1])


@wrong("q1", fails="Forbidden transitions and many states")
def matrix_on_the_wrong_side():
    """Predicts with P p instead of p P when the two differ by no more than the first example shows."""

    def filter_step(p, P, f):
        p, P, f = np.asarray(p), np.asarray(P), np.asarray(f)
        predicted = p @ P if len(p) == 2 else P @ p
        joint = predicted * f
        if not joint.sum() > 0:
            raise ValueError("impossible")
        return joint / joint.sum(), joint.sum()

    return {"filter_step": filter_step}


@wrong("q1", fails="Three thousand observations")
def likelihood_as_a_product():
    """Multiplies the densities first and takes the logarithm at the end."""

    def log_likelihood(pi, P, F):
        alpha = np.asarray(pi) * F[0]
        for row in F[1:]:
            alpha = alpha @ P * row
        return np.log(max(alpha.sum(), 1e-300))

    return {"log_likelihood": log_likelihood}


@wrong("q1", fails="An observation that cannot happen")
def zero_over_zero_unnoticed():
    """Returns zeros where the observation is impossible."""

    def filter_step(p, P, f):
        joint = (p @ P) * f
        total = joint.sum()
        return (joint / total if total > 0 else joint), total

    return {"filter_step": filter_step}


@wrong("q2", fails="Forbidden transitions, compared with all paths")
def transposed_transitions():
    """Arrives at j from i with P[j, i]: right for symmetric chains only."""

    def viterbi(log_pi, log_P, log_f):
        n, k = log_f.shape
        delta, winner = log_pi + log_f[0], np.zeros((n, k), dtype=int)
        for t in range(1, n):
            into = delta[:, None] + log_P.T
            winner[t] = into.argmax(axis=0)
            delta = into.max(axis=0) + log_f[t]
        path = [int(delta.argmax())]
        for t in range(n - 1, 0, -1):
            path.append(int(winner[t, path[-1]]))
        return np.array(path[::-1])

    return {"viterbi": viterbi}


@wrong("q2", fails="A single observation")
def forgets_the_start_law():
    """Starts from the first densities alone."""

    def viterbi(log_pi, log_P, log_f):
        n, k = log_f.shape
        delta, winner = log_f[0].copy(), np.zeros((n, k), dtype=int)
        for t in range(1, n):
            into = delta[:, None] + log_P
            winner[t] = into.argmax(axis=0)
            delta = into.max(axis=0) + log_f[t]
        path = [int(delta.argmax())]
        for t in range(n - 1, 0, -1):
            path.append(int(winner[t, path[-1]]))
        return np.array(path[::-1])

    return {"viterbi": viterbi}


@wrong("q2", fails="Twenty thousand observations")
def probabilities_instead_of_logarithms():
    """Multiplies probabilities: right for short sequences, zero for long ones."""

    def viterbi(log_pi, log_P, log_f):
        P, f = np.exp(log_P), np.exp(log_f)
        delta, winner = np.exp(log_pi) * f[0], []
        for row in f[1:]:
            into = delta[:, None] * P
            winner.append(into.argmax(axis=0))
            delta = into.max(axis=0) * row
        path = [int(delta.argmax())]
        for before in winner[::-1]:
            path.append(int(before[path[-1]]))
        return np.array(path[::-1])

    return {"viterbi": viterbi}


@wrong("q3", fails="Three states that are not symmetric, compared with all paths")
def ratio_times_matrix_from_the_left():
    """Uses ratio @ P, which is the same for a symmetric matrix."""

    def smooth_derin(filtered, P):
        smoothed = np.array(filtered, dtype=float)
        for t in range(len(smoothed) - 2, -1, -1):
            predicted = filtered[t] @ P
            ratio = np.divide(smoothed[t + 1], predicted, out=np.zeros(len(P)), where=predicted > 0)
            smoothed[t] = filtered[t] * (ratio @ P)
            smoothed[t] /= smoothed[t].sum()
        return smoothed

    return {"smooth_derin": smooth_derin}


@wrong("q3", fails="A state that cannot be reached")
def divides_by_zero():
    """Divides without looking: 0/0 becomes NaN and spreads."""

    def smooth_derin(filtered, P):
        smoothed = np.array(filtered, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            for t in range(len(smoothed) - 2, -1, -1):
                smoothed[t] = filtered[t] * (P @ (smoothed[t + 1] / (filtered[t] @ P)))
        return smoothed

    return {"smooth_derin": smooth_derin}


@wrong("q3", fails="Five thousand times")
def filter_instead_of_smoother():
    """Takes the filter of the next time for its smoother: right for two times."""

    def smooth_derin(filtered, P):
        smoothed = np.array(filtered, dtype=float)
        for t in range(len(smoothed) - 2, -1, -1):
            predicted = filtered[t] @ P
            ratio = np.divide(filtered[t + 1], predicted, out=np.zeros(len(P)), where=predicted > 0)
            smoothed[t] = filtered[t] * (P @ ratio)
        return smoothed

    return {"smooth_derin": smooth_derin}


@wrong("q4", fails="Random constants, compared with all paths")
def transitions_without_c2():
    """Weights transitions by C4 only."""

    def combined_alignment(C, log_pi, log_P, log_f, log_post, log_prior):
        score = np.zeros_like(log_f)
        for constant, table in ((C[0], log_post), (C[1], log_f), (C[2], log_prior)):
            if constant > 0:
                score = score + constant * table
        start, step = np.zeros(len(log_pi)), np.zeros_like(log_P)
        if C[3] > 0:
            start, step = C[3] * log_pi, C[3] * log_P
        return viterbi(start, step, score)

    return {"combined_alignment": combined_alignment, "viterbi": viterbi}


@wrong("q4", fails="Constants of zero and tables with -inf")
def multiplies_zero_by_infinity():
    """Multiplies every table by its constant and turns the NaN of 0 times -inf into -inf."""

    def combined_alignment(C, log_pi, log_P, log_f, log_post, log_prior):
        with np.errstate(invalid="ignore"):
            score = C[0] * log_post + C[1] * log_f + C[2] * log_prior
            start, step = (C[1] + C[3]) * log_pi, (C[1] + C[3]) * log_P
        score, start, step = (np.where(np.isnan(a), -np.inf, a) for a in (score, start, step))
        return viterbi(start, step, score)

    return {"combined_alignment": combined_alignment, "viterbi": viterbi}


@wrong("q4", fails="A small weight of the path makes it possible")
def soft_floor_for_minus_infinity():
    """Replaces -inf by a large negative number, which a small constant makes harmless."""

    def combined_alignment(C, log_pi, log_P, log_f, log_post, log_prior):
        tables = [np.maximum(a, -1000.0) for a in (log_post, log_f, log_prior)]
        score = sum(c * a for c, a in zip(C, tables, strict=False))
        weight = C[1] + C[3]
        return viterbi(weight * np.maximum(log_pi, -1000.0), weight * np.maximum(log_P, -1000.0), score)

    return {"combined_alignment": combined_alignment, "viterbi": viterbi}


@wrong("q5", fails="The theorem, for every k")
def only_pairs_are_right():
    """Adds the first and the last state for the short blocks: enough for k = 2 only."""

    def kblock_risk(s, k, smoothed, steps):
        n, total = len(s), 0.0
        blocks = [(a, a + k) for a in range(n - k + 1)]
        if k > 1:
            blocks += [(0, 1), (n - 1, n)]
        for a, b in blocks:
            total -= np.log(smoothed[a, s[a]])
            for t in range(a, b - 1):
                total -= np.log(steps[t, s[t], s[t + 1]])
        return total

    return {"kblock_risk": kblock_risk}


@wrong("q5", fails=["Rabiner's pairs, compared with all paths", "The four-state example, on both sides of A = 3/2"])
def pairs_multiplied():
    """Maximises the product of the pair posteriors, which is the admissible relative of Rabiner's path."""

    def rabiner2(pairs):
        with np.errstate(divide="ignore"):
            pairs = np.log(pairs)
        delta, winner = np.zeros(pairs.shape[1]), []
        for score in pairs:
            into = delta[:, None] + score
            winner.append(into.argmax(axis=0))
            delta = into.max(axis=0)
        path = [int(delta.argmax())]
        for before in winner[::-1]:
            path.append(int(before[path[-1]]))
        return np.array(path[::-1])

    return {"rabiner2": rabiner2}
