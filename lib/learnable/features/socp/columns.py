"""Column generation: solve on a few features, price all of them, add those that would help, and certify the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from learnable._threads import one_thread
from learnable.features.socp.feasibility import least_load
from learnable.features.socp.interior_point import solve_restricted
from learnable.features.socp.polish import guess_from_interior, guess_from_solution, polish
from learnable.features.socp.programs import ConeProgram
from learnable.validation import Result, check_choice, check_scalar, warn_not_converged

FIRST = 60  # features to begin with
AT_ONCE = 40  # features that enter in a round
ROUNDING = 1e-12  # relative error of the budget that counts as none
NEARLY = 0.9  # features with a price beyond this are worth a closer look in a similar problem
ZERO = 1e-6  # relative to the largest weight


@dataclass(frozen=True, eq=False)
class ConeSolution(Result):
    """What `solve_cone_program` returns: weights that satisfy the constraints, and a proof of how good they are.

    Attributes
    ----------
    w : ndarray of shape (n,)
        The weights, exactly zero for features that are not used; feasible unless `status` is "infeasible".
    objective : float
        ‖w‖₁.
    lower_bound : float
        The value of the dual at (`lam`, `vectors`): no feasible w has a smaller norm.
    lam : float
        Multiplier of the budget.
    vectors : tuple of ndarray
        One for each cone, ‖v_i‖ ≤ h_i λ.
    prices : ndarray of shape (n,)
        Signed prices of all features, at most one in size; a feature in use has price ±1.
    columns : ndarray of int
        The features that were looked at closely, to start the next solution from.
    n_iter : int
        Interior-point steps in all rounds.
    n_rounds : int
        Rounds of column generation.
    gap : float
        (objective - lower_bound)/objective, from feasible points of both programs.
    converged : bool
        Whether `gap` is at most `tol`, or infeasibility is proved.
    status : {"optimal", "infeasible", "inaccurate"}
        "infeasible" if no w satisfies the constraints, which is proved; `w` is zero then and the norms are infinite.
    """

    w: np.ndarray
    objective: float
    lower_bound: float
    lam: float
    vectors: tuple
    prices: np.ndarray
    columns: np.ndarray
    n_iter: int
    n_rounds: int
    gap: float
    converged: bool
    status: str


def solve_cone_program(program, *, start=None, method="columns", tol=1e-8, max_iter=100):
    """Solve the program, by column generation or on all features at once, with a certified duality gap.

    A round solves the program on the features in `columns` and prices all features with the duals. Features with a
    price beyond one enter. When there are none, the duals are feasible for the whole program and bound it from below.
    Cost O(n m) for each round, and O(J³) for each interior-point step on J features.

    Parameters
    ----------
    program : ConeProgram
        What to solve.
    start : ConeSolution, optional
        The solution of a similar program with as many features and cones: what it uses, and what it nearly uses, is
        tried first. By default the largest differences of means, plain and in units of the standard deviations.
    method : {"columns", "full"}, default="columns"
        Column generation, or all features in one round.
    tol : float, default=1e-8
        The relative duality gap to reach.
    max_iter : int, default=100
        Interior-point steps in a round, and rounds.

    Returns
    -------
    ConeSolution
        The weights with their certificate. A ``ConvergenceWarning`` says when the gap is larger than `tol`.

    Examples
    --------
    >>> from learnable.features.socp import ClassMoments, two_class_program
    >>> moments = ClassMoments.from_covariances([1.0, 3.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> solution = solve_cone_program(two_class_program(moments, 0.0))
    >>> solution.w.round(6).tolist(), solution.status
    ([0.0, 0.666667], 'optimal')
    """
    if not isinstance(program, ConeProgram):
        raise TypeError(f"program must be a ConeProgram, got {type(program).__name__}")
    check_choice(method, "method", ("columns", "full"))
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    unit = np.abs(program.delta).max(initial=0.0)
    if unit == 0:  # no hyperplane separates equal means
        return _nothing(program)
    scaled = ConeProgram(program.delta / unit, tuple(c._replace(scale=c.scale / unit) for c in program.cones))
    if start is not None:
        _check_start(program, start)
    active = _first_columns(scaled, start, method)
    with one_thread("blas"):  # for small matrices, threads cost more than they give
        found = _generate(scaled, active, _rescaled(start, unit), tol, max_iter)
    solution = _unscaled(found, unit)
    if not solution.converged:
        advice = "raise max_iter or tol, or bring the columns to one scale"
        warn_not_converged("solve_cone_program", solution.n_iter, solution.gap, tol, advice)
    return solution


def _first_columns(program, start, method):
    n = len(program.delta)
    if method == "full":
        return np.arange(n)
    if start is not None and start.status != "infeasible":
        columns = np.flatnonzero((start.w != 0) | (np.abs(start.prices) > NEARLY))
    else:
        half = min(FIRST // 2, n)
        size = np.abs(program.delta)
        spread = sum(c.scale * np.sqrt(np.einsum("ij,ij->j", c.factor, c.factor)) for c in program.cones)
        ratio = size / np.maximum(spread, 1e-12)
        columns = np.union1d(_largest(size, half), _largest(ratio, half))
    return np.union1d(columns, [np.abs(program.delta).argmax()]).astype(np.intp)


def _check_start(program, start):
    if not isinstance(start, ConeSolution):
        raise TypeError(f"start must be a ConeSolution, got {type(start).__name__}")
    if len(start.w) != len(program.delta) or len(start.vectors) != len(program.cones):
        raise ValueError("start must have the features and the cones of the program")


def _rescaled(start, unit):
    """(w, λ, lengths of the vectors) of a solution, in the units of a scaled program."""
    if start is None or start.status == "infeasible":
        return None
    return start.w * unit, start.lam * unit, np.array([np.linalg.norm(v) for v in start.vectors]) * unit


def _largest(values, k):
    return np.argsort(-values, kind="stable")[:k]


def _generate(program, active, near, tol, max_iter):
    """Rounds until the gap is closed, the price of the artificial variable raised as long as it is in use."""
    price, aim = 20.0, 1e-2
    steps, best, checked = 0, None, False
    for rounds in range(1, max_iter + 1):
        points, used = _restricted(program, active, near, (price, aim, max_iter))
        steps += used
        for exact, point in points:
            found, prices = _certified(program, point)
            found |= {"n_iter": steps, "n_rounds": rounds}
            if best is None or found["gap"] < best["gap"]:
                best = found
            if best["gap"] <= tol:
                return best | {"status": "optimal", "columns": active}
            if exact:  # the solution on the active features: its prices tell what is missing
                near = point.w, point.lam, np.array([np.linalg.norm(v) for v in point.vectors])
                break
        beyond = np.abs(prices) - 1
        beyond[active] = -1.0
        entering = _largest(beyond, AT_ONCE)
        entering = entering[beyond[entering] > (0.1 * tol if exact else max(aim, 0.1 * tol))]
        if entering.size:
            active = np.union1d(active, entering)
        elif exact:  # a guess that cannot be improved and yet has a gap: back to the interior
            near = None
        elif point.artificial > 1e-3 * price**-0.5 or point.lam > 0.5 * price:
            price *= 1e3
            if not checked and least_load(program)[0] > 1:
                nothing = {"w": np.zeros_like(program.delta), "objective": np.inf, "lower_bound": np.inf, "gap": np.inf}
                return best | nothing | {"status": "infeasible", "columns": active, "n_iter": steps, "n_rounds": rounds}
            checked = True
        elif aim > 1e-11:
            aim *= 1e-2
        else:
            break
        if price > 1e11:
            break
    return best | {"status": "inaccurate", "columns": active}


class _Point(NamedTuple):
    """A point of both restricted programs."""

    w: np.ndarray
    artificial: float
    lam: float
    vectors: list


def _restricted(program, active, near, settings):
    """Points of the program on the active features, and the interior-point steps that they took.

    Newton's method from what is known (`near`), if that leads to the solution; else an interior point, and the solution
    next to it if Newton's method finds it. Rows of a factor that is longer than wide are compressed.
    """
    turns, blocks = [], []
    for cone in program.cones:
        block = cone.scale * cone.factor[:, active]
        turn = None
        if len(block) > len(active):
            turn, block = np.linalg.qr(block)
        turns.append(turn)
        blocks.append(block)
    A = np.zeros((len(blocks), max(len(block) for block in blocks), len(active)))
    for i, block in enumerate(blocks):
        A[i, : len(block)] = block
    weights, floors = (np.array([getattr(cone, name) for cone in program.cones]) for name in ("weight", "floor"))
    data = (program.delta[active], weights, floors, A)

    def widened(vectors):
        short = [v[: len(block)] for v, block in zip(vectors, blocks, strict=True)]
        return [v if turn is None else turn @ v for turn, v in zip(turns, short, strict=True)]

    def exact(guess):
        found = polish(*data, guess)
        if found is None:
            return []
        w = np.zeros(len(program.delta))
        w[active] = found.w
        return [(True, _Point(w, 0.0, found.lam, widened(found.vectors)))]

    if near is not None:
        points = exact(guess_from_solution(near[0][active], near[1], near[2], weights))
        if points:
            return points, 0
    inner = solve_restricted(*data, *settings)
    points = exact(guess_from_interior(*data, inner)) if inner.artificial < 1e-2 else []
    w = np.zeros(len(program.delta))
    w[active] = np.where(np.abs(inner.w) > ZERO * np.abs(inner.w).max(initial=0.0), inner.w, 0.0)
    points.append((False, _Point(w, inner.artificial, inner.lam, widened(inner.vectors))))
    return points, inner.n_iter


def _certified(program, inner):
    """Feasible points of both programs near the iterate, the gap between them, and the prices before they were
    scaled."""
    vectors = inner.vectors
    w = inner.w
    factor = _stretch(program, w)
    w = factor * w if np.isfinite(factor) else w
    upper = np.abs(w).sum() if np.isfinite(factor) else np.inf
    lam = max(inner.lam, 0.0)
    clipped = []
    for cone, v in zip(program.cones, vectors, strict=True):
        length, limit = np.linalg.norm(v), cone.weight * lam
        clipped.append(v * (limit / length) if length > limit else v)
    prices = program.prices(lam, clipped)
    largest = max(np.abs(prices).max(), 1.0)
    lam, clipped = lam / largest, tuple(v / largest for v in clipped)
    lower = sum(c.floor * (c.weight * lam - np.linalg.norm(v)) for c, v in zip(program.cones, clipped, strict=True))
    gap = max(upper - lower, 0.0) / upper if np.isfinite(upper) else np.inf
    found = {
        "w": w,
        "objective": float(upper),
        "lower_bound": float(lower),
        "lam": float(lam),
        "vectors": clipped,
        "prices": prices / largest,
        "gap": float(gap),
    }
    return found, prices


def _stretch(program, w):
    """The least c for which c w is feasible up to rounding: Newton on a concave, piecewise linear function, from the
    left.

    Where a cone is exactly on its floor, stretching further may gain nothing, hence the allowance.
    """
    sizes = program.norms(w)
    along = program.delta @ w
    weights = np.array([cone.weight for cone in program.cones])
    floors = np.array([cone.floor for cone in program.cones])
    c = 0.0
    for _ in range(2 * len(sizes) + 2):
        budget = weights @ np.maximum(floors, c * sizes)
        if c > 0 and c * along >= budget * (1 - ROUNDING):
            return c
        active = c * sizes >= floors
        slope = along - weights[active] @ sizes[active]
        if slope <= 0:
            return np.inf
        c = (weights[~active] @ floors[~active]) / slope
    return np.inf


def _unscaled(found, unit):
    status = found["status"]
    return ConeSolution(
        found["w"] / unit,
        found["objective"] / unit,
        found["lower_bound"] / unit,
        found["lam"] / unit,
        tuple(v / unit for v in found["vectors"]),
        found["prices"],
        found["columns"],
        found["n_iter"],
        found["n_rounds"],
        found["gap"],
        status != "inaccurate",
        status,
    )


def _nothing(program):
    n = len(program.delta)
    vectors = tuple(np.zeros(len(c.factor)) for c in program.cones)
    none = np.zeros(n)
    return ConeSolution(none, np.inf, np.inf, 0.0, vectors, none, np.arange(0), 0, 0, np.inf, True, "infeasible")
