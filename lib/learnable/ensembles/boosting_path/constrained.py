"""Exact minimisers of a loss under a bound on the l1 norm, which small steps follow."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from learnable.ensembles.boosting_path.stepping import _EXPONENTIAL, _LOGISTIC, _SQUARED, read_problem
from learnable.optim.homotopy import lasso_homotopy
from learnable.validation import check_choice, check_finite_array, check_scalar


@dataclass(frozen=True)
class ConstrainedPath:
    """Minimisers for a grid of bounds: `c`, `coefs` (one row each), `penalties` (the multipliers) and `violations`."""

    c: np.ndarray
    coefs: np.ndarray
    penalties: np.ndarray
    violations: np.ndarray


class _Objective:
    """A monotone transform of the loss whose gradient and curvature keep their digits at any scale of the margins.

    For the exponential loss it is log sum exp(-m): the same minimisers under any constraint on the coefficients. For
    the logistic loss the sum is divided by its value at the current point.
    """

    def __init__(self, H, y, code):
        self.code, self.y = code, y
        self.Z = H if code == _SQUARED else y[:, None] * H

    def value(self, beta):
        m = self.Z @ beta
        if self.code == _SQUARED:
            return 0.5 * float(np.sum((self.y - m) ** 2))
        terms = -m if self.code == _EXPONENTIAL else np.log(np.logaddexp(0.0, -m) + 1e-320)
        if self.code == _LOGISTIC:
            terms = np.where(m > 30.0, -m, terms)
        top = terms.max()
        return float(top + np.log(np.sum(np.exp(terms - top))))

    def parts(self, beta):
        """Gradient and Hessian (a positive semi-definite model of it) at beta."""
        Z = self.Z
        m = Z @ beta
        if self.code == _SQUARED:
            return -(Z.T @ (self.y - m)), Z.T @ Z
        if self.code == _EXPONENTIAL:
            p = np.exp(-(m - m.min()))
            p /= p.sum()
            slope = -(Z.T @ p)
            # The Hessian has a term -slope slope'. It vanishes along the face at a minimiser (slope is a multiple of
            # the signs there), and subtracting it loses the digits that matter far out.
            return slope, (Z.T * p) @ Z
        low = -np.logaddexp(0.0, m)  # log of the weight 1/(1 + e^m)
        size = np.where(m > 30.0, -m, np.log(np.logaddexp(0.0, -m) + 1e-320))  # log of the loss
        total = size.max() + np.log(np.sum(np.exp(size - size.max())))
        p = np.exp(low - total)
        slope = -(Z.T @ p)
        curve = np.exp(low - np.logaddexp(0.0, -m) - total)
        return slope, (Z.T * curve) @ Z


def _conditions(slope, beta, active=1e-9):
    support = np.abs(beta) > active * max(np.abs(beta).max(initial=0.0), 1e-300)
    if not support.any():
        return float(np.abs(slope).max()), 0.0
    penalty = float(np.mean(-slope[support] * np.sign(beta[support])))
    off = np.abs(slope[~support]).max(initial=0.0) - penalty
    on = np.abs(-slope[support] * np.sign(beta[support]) - penalty).max()
    return penalty, float(max(off, on, 0.0) / max(abs(penalty), 1e-300))


def l1_constrained_path(H, y, loss, c_grid, *, tol=1e-8, max_iter=500):
    r"""Minimise the loss subject to ‖β‖₁ ≤ c for every c of a grid.

    The squared loss goes through the exact lasso homotopy. For the exponential and the logistic loss an active-set
    Newton method solves on a face of the l1 ball (signs fixed), drops a coefficient that reaches zero, and adds the
    one whose correlation exceeds the multiplier most, until the conditions hold to `tol`.

    Parameters
    ----------
    H : array (n, J)
    y : array (n,)
    loss : {"squared", "exponential", "logistic"}
    c_grid : array (k,)
        Bounds, positive.
    tol : float, default=1e-8
        On the conditions, relative to the multiplier.
    max_iter : int, default=500
        Newton steps for each c.

    Returns
    -------
    ConstrainedPath
        Where the unconstrained minimiser has a smaller norm than c, that one, with penalty 0.

    Examples
    --------
    >>> path = l1_constrained_path([[2.0, 0.5], [2.0, 1.5]], [1, 1], "logistic", [0.5, 5.0])
    >>> path.coefs.round(6).tolist()
    [[0.5, 0.0], [5.0, 0.0]]
    """
    check_choice(loss, "loss", ("squared", "exponential", "logistic"))
    H, y, code, _ = read_problem(H, y, loss)
    grid = check_finite_array(c_grid, "c_grid", ndim=1)
    if grid.size == 0 or np.any(grid <= 0.0):
        raise ValueError("every c must be positive")
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    coefs, penalties, worst = np.empty((grid.size, H.shape[1])), np.empty(grid.size), np.empty(grid.size)
    if code == _SQUARED:
        knots = lasso_homotopy(H, y)
        norms, scaled = np.abs(knots.coefs).sum(axis=1), len(y) * knots.alphas
        for k, c in enumerate(grid):
            if c >= norms[-1]:
                coefs[k], penalties[k], worst[k] = knots.coefs[-1], 0.0, 0.0
                continue
            i = int(np.argmax(norms > c))
            share = (c - norms[i - 1]) / (norms[i] - norms[i - 1])
            coefs[k] = (1.0 - share) * knots.coefs[i - 1] + share * knots.coefs[i]
            penalties[k] = (1.0 - share) * scaled[i - 1] + share * scaled[i]
            slope = -(H.T @ (y - H @ coefs[k]))
            worst[k] = _conditions(slope, coefs[k])[1]
        return ConstrainedPath(grid, coefs, penalties, worst)
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    # In units where the largest entry is one: c times the scale bounds the scaled coefficients.
    unit = float(np.abs(H).max()) or 1.0
    objective = _Objective(H / unit, y, code)
    beta, binding, violation = np.zeros(H.shape[1]), True, 0.0
    for k in np.argsort(grid, kind="stable"):
        c = float(grid[k]) * unit
        if binding:
            beta, penalty, violation = _on_ball(objective, beta, c, tol, max_iter)
            # Once the unconstrained minimiser has been passed, it stays the answer.
            binding = penalty > 0.0 or violation > tol
        coefs[k], penalties[k], worst[k] = beta / unit, penalty * unit, violation
    slow = worst > np.sqrt(tol)
    if slow.any():
        warnings.warn(
            f"{np.count_nonzero(slow)} of {grid.size} minimisers did not converge in {max_iter} steps (conditions "
            f"violated by {worst.max():.2g} of the multiplier); scale the columns of H, or raise max_iter",
            ConvergenceWarning,
            stacklevel=2,
        )
    return ConstrainedPath(grid, coefs, penalties, worst)


def _on_ball(objective, beta, c, tol, max_iter):
    """The minimiser under |beta|_1 <= c, started from a smaller ball's."""
    steepest = float(np.abs(objective.parts(np.zeros(beta.size))[0]).max())
    if steepest == 0.0:
        return np.zeros(beta.size), 0.0, 0.0
    beta, tight = _start(objective, beta, c)
    sign = np.sign(beta)
    penalty = violation = np.inf
    for _ in range(max_iter):
        slope, curve = objective.parts(beta)
        active = np.flatnonzero(sign)
        s = sign[active]
        penalty = float(np.mean(-slope[active] * s)) if tight else 0.0
        if tight and penalty < 0.0 and s @ _face_step(curve[np.ix_(active, active)], -slope[active], s, False) < 0.0:
            tight, penalty = False, 0.0  # Newton's step leads inside: the bound does not bind
        residual = np.abs(slope[active] + penalty * s).max(initial=0.0)
        scale = max(abs(penalty), 1e-300) if tight else max(steepest, 1e-300)
        outside = np.abs(slope)
        outside[active] = 0.0
        j = int(np.argmax(outside))
        violation = max(residual, outside[j] - max(penalty, 0.0), 0.0) / scale
        if violation <= tol:
            break
        if residual <= max(0.1 * (outside[j] - penalty), 0.3 * tol * scale) and outside[j] > penalty:
            sign[j] = -np.sign(slope[j])
            active = np.flatnonzero(sign)
            s = sign[active]
        step = _face_step(curve[np.ix_(active, active)], -slope[active], s, tight)
        # A coefficient that would change its sign stops the step, and leaves.
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step * s < 0.0, -beta[active] / step, np.inf)
        fresh = (beta[active] == 0.0) & (step * s < 0.0)
        if fresh.any():
            sign[active[fresh]] = 0.0
            continue
        longest = min(1.0, float(room.min(initial=np.inf)))
        outward = float(s @ step)
        full = (c - float(s @ beta[active])) / outward if not tight and outward > 0.0 else np.inf
        longest = min(longest, max(full, 0.0))
        length, start = longest, objective.value(beta)
        descent = float(slope[active] @ step)
        trial = beta.copy()
        for _ in range(60):
            trial[active] = beta[active] + length * step
            if objective.value(trial) <= start + 1e-4 * length * min(descent, 0.0) + 1e-15 * abs(start):
                break
            length *= 0.5
        beta = trial
        if length == longest and longest < 1.0:
            if longest == full:
                tight = True
            gone = active[room <= longest * (1.0 + 1e-12)]
            beta[gone] = 0.0
            sign[gone] = 0.0
        if tight:
            total = np.abs(beta).sum()
            if total > 0.0:
                beta *= c / total
    return beta, max(penalty, 0.0), float(violation)


def _start(objective, beta, c):
    """Where to begin in the ball of radius c, and whether that is on its surface.

    The ray through the minimiser of a smaller ball (from zero: through the steepest coordinate) leads to the surface.
    Where the loss is higher there than at the minimiser itself, the ray has passed the bottom and is not followed.
    """
    ray = beta.copy()
    if not ray.any():
        slope, _ = objective.parts(ray)
        j = int(np.argmax(np.abs(slope)))
        ray[j] = -np.sign(slope[j])
    ray *= c / np.abs(ray).sum()
    return (ray, True) if objective.value(ray) < objective.value(beta) else (beta.copy(), False)


def _face_step(curve, force, s, tight):
    """Newton step on a face of the ball: minimise 1/2 d'Qd - force'd, with s'd = 0 if the bound is tight."""
    scale = max(float(np.trace(curve)) / len(s), 1e-300)
    Q = curve + 1e-12 * scale * np.eye(len(s))
    if not tight:
        try:
            return linalg.solve(Q, force, assume_a="pos")
        except linalg.LinAlgError:
            return linalg.lstsq(Q, force)[0]
    try:
        both = linalg.solve(Q, np.column_stack([force, s]), assume_a="pos")
    except linalg.LinAlgError:
        both = linalg.lstsq(Q, np.column_stack([force, s]))[0]
    step = both[:, 0] - both[:, 1] * (s @ both[:, 0]) / (s @ both[:, 1])
    return step - s * (s @ step) / len(s)
