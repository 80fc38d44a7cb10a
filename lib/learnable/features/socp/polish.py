"""From a rough interior point to all digits: guess what is active, then solve the equations that must hold there.

At the solution the features in use have fixed signs σ, and each cone is at its floor, beyond it, or exactly on it. With
that known the optimality conditions are equations in w on the support, λ, and one multiplier for each cone that is on
its floor; Newton's method doubles the digits in a step. A wrong guess is found out by the certificate that follows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FLAT, BEYOND, TOUCHING = 0, 1, 2
AT_ONCE = 3  # features that enter between two solutions


class Polished(NamedTuple):
    """Weights on the active features, the multiplier λ and the multipliers of the cones, with their unit vectors."""

    w: np.ndarray
    lam: float
    vectors: list


class Guess(NamedTuple):
    """What is thought to be active: weights and their signs, kinds of the cones, λ and the lengths of the vectors."""

    w: np.ndarray
    signs: np.ndarray
    support: np.ndarray
    kinds: np.ndarray
    lam: float
    lengths: np.ndarray


def polish(delta, weights, floors, blocks, guess, tries=30):
    """The solution of the program on the active features, near a guess; None if it is not found.

    `delta`, `weights`, `floors` and `blocks` are those of `solve_restricted`. After Newton's method the guess is
    checked: a weight of the wrong sign leaves, features with a price beyond one enter, a cone changes its kind. Cost
    O(p³ + p d) for each step with p features in use and cones of d rows.
    """
    w, signs, support, kinds, lam, lengths = guess
    signs, kinds = signs.copy(), kinds.copy()
    for _ in range(tries):
        if not support.size:
            return None
        parts = [block[:, support] for block in blocks]
        grams = [part.T @ part for part in parts]
        touching = np.flatnonzero(kinds == TOUCHING)
        start = np.concatenate([w[support], [lam], lengths[touching]])
        unknown = _newton((delta[support], weights, floors, grams, signs[support], kinds), start)
        if unknown is None:  # more features than the equations can tell apart: the smallest is the likeliest intruder
            support = np.delete(support, np.abs(w[support]).argmin())
            continue
        p = len(support)
        wrong = unknown[:p] * signs[support] < 0
        if wrong.any():
            support = support[~wrong]
            continue
        found = _collected(delta, parts, weights, kinds, support, unknown)
        prices = found.lam * delta - sum(v @ block for v, block in zip(found.vectors, blocks, strict=True))
        changed = _change_kinds(
            kinds, weights, floors, np.linalg.norm(blocks @ found.w, axis=1), found.lam, unknown[p + 1 :]
        )
        beyond = np.abs(prices)
        beyond[support] = 0.0
        worst = np.argsort(-beyond, kind="stable")[:AT_ONCE]
        worst = worst[beyond[worst] > 1 + 1e-10]
        if not changed and not worst.size:
            return found
        support = np.union1d(support, worst)
        signs[worst] = np.sign(prices[worst])
        w, lam = found.w, found.lam
        lengths = np.array([np.linalg.norm(v) for v in found.vectors])
    return None


def _newton(state, unknown, steps=12):
    """Newton's method on the optimality conditions, or None if it leads nowhere."""
    last = np.inf
    for _ in range(steps):
        made = _equations(state, unknown)
        if made is None:
            return None
        residual, jacobian = made
        size = np.abs(residual).max()
        if not np.isfinite(size) or size > 1e6:
            return None
        if size < 1e-15 or (size < 1e-11 and size > 0.5 * last):
            break
        last = size
        try:
            change = np.linalg.solve(jacobian, residual)
        except np.linalg.LinAlgError:
            change = np.linalg.lstsq(jacobian, residual, rcond=1e-12)[0]
        unknown = unknown - change
    converged = size < 1e-7 and np.isfinite(unknown).all() and unknown[len(state[0])] > 0
    return unknown if converged else None


def _change_kinds(kinds, weights, floors, sizes, lam, multipliers):
    """Correct in place what a solution shows to be wrong about the cones; say whether anything was."""
    before = kinds.copy()
    touching = np.flatnonzero(before == TOUCHING)
    kinds[touching[multipliers < 0]] = FLAT
    kinds[touching[multipliers > weights[touching] * lam]] = BEYOND
    kinds[(before == FLAT) & (sizes > floors * (1 + 1e-12))] = TOUCHING
    kinds[(before == BEYOND) & (sizes < floors * (1 - 1e-12))] = TOUCHING
    return (kinds != before).any()


def guess_from_interior(delta, weights, floors, blocks, inner):
    """Of two numbers whose product is nearly zero, the larger one is taken to be positive."""
    largest = np.abs(inner.w).max(initial=0.0)
    prices = inner.lam * delta - np.einsum("ij,ijk->k", inner.vectors, blocks)
    support = np.flatnonzero((np.abs(inner.w) > 1 - np.abs(prices)) & (np.abs(inner.w) > 1e-9 * largest))
    sizes = np.linalg.norm(blocks @ inner.w, axis=1)
    lengths = np.linalg.norm(inner.vectors, axis=1)
    spare = weights * inner.lam - lengths
    kinds = np.full(len(weights), TOUCHING)
    kinds[lengths < np.maximum(floors - sizes, 0)] = FLAT
    kinds[spare < np.maximum(sizes - floors, 0)] = BEYOND
    kinds[floors == 0] = BEYOND
    kinds[sizes == 0] = FLAT
    return Guess(inner.w, np.sign(inner.w), support, kinds, inner.lam, lengths)


def guess_from_solution(w, lam, lengths, weights):
    """The guess that a similar program gives: its support, and the kinds of the cones that its vectors tell."""
    kinds = np.full(len(weights), TOUCHING)
    kinds[lengths >= weights * lam * (1 - 1e-9)] = BEYOND
    kinds[lengths == 0] = FLAT
    return Guess(w, np.sign(w), np.flatnonzero(w), kinds, lam, lengths)


def _equations(state, unknown):
    """Residual and Jacobian of stationarity, of the budget, and of ‖A_i w‖ = l_i for the cones that touch."""
    delta, weights, floors, grams, signs, kinds = state
    p = len(delta)
    w, lam = unknown[:p], unknown[p]
    touching = np.flatnonzero(kinds == TOUCHING)
    size = p + 1 + len(touching)
    jacobian = np.zeros((size, size))
    slope = delta.copy()
    budget = delta @ w
    pull = np.zeros(p)
    for i, kind in enumerate(kinds):
        if kind == FLAT:
            budget -= weights[i] * floors[i]
            continue
        image = grams[i] @ w
        length = np.sqrt(max(w @ image, 0.0))
        if length == 0:
            return None
        g = image / length
        if kind == BEYOND:
            multiplier = lam * weights[i]
            slope -= weights[i] * g
            budget -= weights[i] * length
        else:
            place = p + 1 + int(np.searchsorted(touching, i))
            multiplier = unknown[place]
            pull += multiplier * g
            budget -= weights[i] * floors[i]
            jacobian[:p, place] = jacobian[place, :p] = g
        jacobian[:p, :p] += (multiplier / length) * (grams[i] - np.outer(g, g))
    jacobian[:p, p] = jacobian[p, :p] = -slope
    square = np.arange(p)
    jacobian[square, square] += 1e-12 * max(np.abs(jacobian[square, square]).max(), 1e-6)  # equal columns: any split
    touch = [np.sqrt(max(w @ grams[i] @ w, 0.0)) - floors[i] for i in touching]
    return np.concatenate([signs - lam * slope + pull, [-budget], touch]), jacobian


def _collected(delta, parts, weights, kinds, support, unknown):
    p = len(support)
    w = np.zeros(len(delta))
    w[support] = unknown[:p]
    touching = np.flatnonzero(kinds == TOUCHING)
    vectors = []
    for i, (part, kind) in enumerate(zip(parts, kinds, strict=True)):
        image = part @ unknown[:p]
        length = np.linalg.norm(image)
        if kind == FLAT or length == 0:
            vectors.append(np.zeros(len(part)))
            continue
        multiplier = unknown[p] * weights[i] if kind == BEYOND else unknown[p + 1 + np.searchsorted(touching, i)]
        vectors.append(multiplier * image / length)
    return Polished(w, float(unknown[p]), vectors)
