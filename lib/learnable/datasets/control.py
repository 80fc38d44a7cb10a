"""Small decision processes as tables, with what is known about their best policies, and the cart-pole.

A table has ``transition`` (actions, states, states) and rewards by state, or by state and action for several
objectives. What moves in continuous space or needs a program of its own lives in its chapter.
"""

import numpy as np
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_choice, check_finite_array, check_rng, check_scalar

__all__ = [
    "cart_pole_step",
    "colored_grid_world",
    "deep_sea_treasure",
    "pyramid_mdp",
    "random_mdp",
    "ring_mdp",
    "three_state_mdp",
]

_DEPTHS = (1, 2, 3, 4, 4, 4, 7, 7, 9, 10)
_TREASURES = {
    "vamplew": (1, 2, 3, 5, 8, 16, 24, 50, 74, 124),
    "convex": (5, 80, 120, 140, 145, 150, 163, 166, 173, 175),
}


def deep_sea_treasure(treasures="vamplew", *, pressure=False):
    """Deep sea treasure: a submarine trades time for treasure, in a known Pareto front (Vamplew et al. 2011).

    Ten columns with the sea floor at rows 1, 2, 3, 4, 4, 4, 7, 7, 9, 10; start at column 0, row 0; actions up, right,
    down, left; a move off the grid or into the floor leaves the submarine in place. Reward (-1, treasure); the episode
    ends at a treasure.

    Parameters
    ----------
    treasures : {"vamplew", "convex"} or sequence of 10 numbers, default="vamplew"
        Vamplew's values have a front that is not concave: linear scalarisation finds its two ends only. "convex" are
        the values used with `pressure` (chosen by us, the article's are in a lost figure).
    pressure : bool, default=False
        Add a third reward, minus the row, on each step.

    Returns
    -------
    Bunch
        ``successor`` (states, actions), ``reward`` (states, actions, objectives), ``terminal``, ``start``, ``cells``
        (row, column), ``front`` (true undiscounted Pareto front, one row a treasure), ``paths`` (number of steps).

    Examples
    --------
    >>> sea = deep_sea_treasure()
    >>> sea.front[[0, -1]].tolist()
    [[-1.0, 1.0], [-19.0, 124.0]]
    """
    if isinstance(treasures, str):
        check_choice(treasures, "treasures", tuple(_TREASURES))
        treasures = _TREASURES[treasures]
    values = np.asarray(treasures, dtype=np.float64)
    if values.shape != (10,):
        raise ValueError(f"treasures must be ten numbers, got {len(values)}")
    cells = [(row, column) for column, depth in enumerate(_DEPTHS) for row in range(depth + 1)]
    number = {cell: i for i, cell in enumerate(cells)}
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))
    terminal = np.array([row == _DEPTHS[column] for row, column in cells])
    successor = np.empty((len(cells), 4), dtype=np.int64)
    reward = np.empty((len(cells), 4, 3))
    for i, (row, column) in enumerate(cells):
        for a, (down, right) in enumerate(moves):
            j = i if terminal[i] else number.get((row + down, column + right), i)
            successor[i, a] = j
            found = values[cells[j][1]] if terminal[j] and not terminal[i] else 0.0
            reward[i, a] = (0, 0, 0) if terminal[i] else (-1.0, found, -cells[j][0])
    steps = np.arange(10) + np.array(_DEPTHS)
    front = np.column_stack([-steps, values, -np.array(_DEPTHS) * (np.array(_DEPTHS) + 1) / 2])
    keep = slice(None) if pressure else slice(2)
    return Bunch(
        successor=successor,
        reward=reward[:, :, keep],
        terminal=terminal,
        start=number[0, 0],
        cells=np.array(cells),
        front=front[:, keep].astype(np.float64),
        paths=steps,
    )


def pyramid_mdp(size=10, *, success=0.95):
    """Resource gathering on a triangle: terminals x + y = size pay (x, y), every step costs one in both objectives.

    Grid points x, y >= 0, x + y <= size; start (0, 0); actions right, up, left, down; with probability `success` the
    chosen move, otherwise a uniformly drawn one; impossible moves stay.

    Parameters
    ----------
    size : int, default=10
    success : float, default=0.95

    Returns
    -------
    Bunch
        ``transition`` (4, states, states), ``reward`` (states, 2), paid on entering a state, ``terminal``, ``start``,
        ``cells``, ``front`` of the deterministic version: (x - size + 1, y - size + 1).

    Examples
    --------
    >>> made = pyramid_mdp(3)
    >>> len(made.cells), bool(np.allclose(made.transition.sum(axis=2), 1))
    (10, True)
    """
    size, success = check_size(size, "size"), check_scalar(success, "success", low=0, high=1)
    cells = [(x, y) for x in range(size + 1) for y in range(size + 1 - x)]
    number = {cell: i for i, cell in enumerate(cells)}
    moves = ((1, 0), (0, 1), (-1, 0), (0, -1))
    terminal = np.array([x + y == size for x, y in cells])
    transition = np.zeros((4, len(cells), len(cells)))
    for i, (x, y) in enumerate(cells):
        ends = [i if terminal[i] else number.get((x + dx, y + dy), i) for dx, dy in moves]
        for a in range(4):
            transition[a, i, ends[a]] += success
            for j in ends:
                transition[a, i, j] += (1 - success) / 4
    reward = np.where(terminal[:, None], np.array(cells, dtype=np.float64), -1.0)
    ends = np.array([c for c, t in zip(cells, terminal, strict=True) if t])
    # size steps in all; the last one pays the terminal's reward instead of the cost.
    front = ends - (size - 1.0)
    return Bunch(
        transition=transition, reward=reward, terminal=terminal, start=number[0, 0], cells=np.array(cells), front=front
    )


def three_state_mdp():
    """Three states, two actions, with features for a softmax policy (Greensmith, Bartlett and Baxter 2004).

    Returns
    -------
    Bunch
        ``transition`` (2, 3, 3), ``reward`` (3,), ``features`` (3, 2), ``theta`` (2, 2: one row an action).

    Examples
    --------
    >>> three_state_mdp().reward.tolist()
    [0.0, 0.0, 1.0]
    """
    first = [[0, 0.8, 0.2], [0.8, 0, 0.2], [0, 0.8, 0.2]]
    second = [[0, 0.2, 0.8], [0.2, 0, 0.8], [0, 0.2, 0.8]]
    return Bunch(
        transition=np.array([first, second]),
        reward=np.array([0.0, 0.0, 1.0]),
        features=np.array([[12, 6], [6, 12], [5, 5]]) / 18,
        theta=np.array([[1.0, 1.0], [-1.0, -1.0]]),
    )


def ring_mdp():
    """Three states in a ring: each action advances or stays with chances 1/4 and 3/4 (their appendix, reconstructed).

    The policy takes action 0 with probability exp(theta) / (exp(theta) + exp(-theta)), theta = 0; discount 0.9.

    Examples
    --------
    >>> ring_mdp().transition[0, 0].tolist()
    [0.75, 0.25, 0.0]
    """
    first = [[0.75, 0.25, 0], [0, 0.25, 0.75], [0.75, 0, 0.25]]
    second = [[0.25, 0.75, 0], [0, 0.75, 0.25], [0.25, 0, 0.75]]
    return Bunch(
        transition=np.array([first, second]), reward=np.array([4.515, 0.0, 0.0]), theta=np.zeros(1), discount=0.9
    )


def random_mdp(n_states=10, n_actions=3, *, branching=None, random_state=None):
    """Dirichlet(1) transition rows, over `branching` random successors if given, and N(0, 1) rewards.

    Parameters
    ----------
    n_states : int, default=10
    n_actions : int, default=3
    branching : int, optional
        Successors of each state and action; all states by default.
    random_state : None, int or Generator

    Examples
    --------
    >>> made = random_mdp(5, 2, branching=2, random_state=0)
    >>> int((made.transition > 0).sum(axis=2).max())
    2
    """
    s, a, rng = check_size(n_states, "n_states"), check_size(n_actions, "n_actions"), check_rng(random_state)
    b = s if branching is None else check_scalar(branching, "branching", low=1, high=s, integer=True)
    transition = np.zeros((a, s, s))
    where = np.argsort(rng.random((a, s, s)), axis=2)[:, :, :b]
    np.put_along_axis(transition, where, rng.dirichlet(np.ones(b), size=(a, s)), axis=2)
    return Bunch(transition=transition, reward=rng.standard_normal((s, a)))


_MAZE = (
    "##########",
    "#S.....#.#",
    "#.##.#...#",
    "#....#.#.#",
    "#....#.#.#",
    "##.#.G.#.#",
    "#..#.##..#",
    "#.##.#...#",
    "#........#",
    "##########",
)


def colored_grid_world(observation="sight", *, failure=0.2):
    """A maze with 47 cells, slippery moves and ambiguous views, as a partially observed process (Hamilton et al. 2014).

    Actions north, east, south, west; with probability `failure` the move goes to one of the two sides instead. Walls
    block. Reaching the goal pays one and leads back to the start. The map is ours, the article's is a lost figure.

    Parameters
    ----------
    observation : {"sight", "walls", "colors"}, default="sight"
        In each of the four directions: the colour, (3 r + 5 c + r c) mod 3, of the first wall; whether the adjacent
        cell is a wall; 0 if not, else 1 or 2 by its colour.
    failure : float, default=0.2

    Returns
    -------
    Bunch
        ``transition`` (4, 47, 47), ``reward`` (4, 47): expected for action and state, ``observation`` (47,) codes,
        ``start``, ``goal``, ``cells``, ``n_observations``.

    Examples
    --------
    >>> maze = colored_grid_world()
    >>> maze.transition.shape, maze.n_observations
    ((4, 47, 47), 20)
    """
    check_choice(observation, "observation", ("sight", "walls", "colors"))
    failure = check_scalar(failure, "failure", low=0, high=1)
    cells = [(r, c) for r, row in enumerate(_MAZE) for c, mark in enumerate(row) if mark != "#"]
    number = {cell: i for i, cell in enumerate(cells)}
    start, goal = (next(i for i, (r, c) in enumerate(cells) if _MAZE[r][c] == mark) for mark in "SG")
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))
    n = len(cells)
    transition, reward, views = np.zeros((4, n, n)), np.zeros((4, n)), []
    for i, (r, c) in enumerate(cells):
        ends = [number.get((r + dr, c + dc), i) for dr, dc in moves]
        for a in range(4):
            for way, chance in ((a, 1 - failure), ((a + 1) % 4, failure / 2), ((a - 1) % 4, failure / 2)):
                reached = ends[way]
                reward[a, i] += chance * (reached == goal)
                transition[a, i, start if reached == goal else reached] += chance
        view = []
        for dr, dc in moves:
            y, x = r + dr, c + dc
            while observation == "sight" and (y, x) in number:
                y, x = y + dr, x + dc
            wall, colour = (y, x) not in number, (3 * y + 5 * x + y * x) % 3
            view.append({"sight": colour, "walls": int(wall), "colors": int(wall) * (1 + colour % 2)}[observation])
        views.append(view)
    _, codes = np.unique(np.array(views), axis=0, return_inverse=True)
    codes = codes.ravel()
    truth = {"start": start, "goal": goal, "cells": np.array(cells), "n_observations": int(codes.max()) + 1}
    return Bunch(transition=transition, reward=reward, observation=codes, **truth)


def cart_pole_step(state, action):
    """One Euler step of the cart-pole for many carts at once.

    Gravity 9.8, masses 1 and 0.1, half-length 0.5, force 10, 0.02 seconds. A pole at more than pi/2 lies still there.

    Parameters
    ----------
    state : array-like of shape (..., 4)
        Position, velocity, angle, angular velocity.
    action : array-like of shape (...)
        0 pushes to the left, 1 to the right.

    Returns
    -------
    (ndarray of shape (..., 4), ndarray of bool)
        The next state, and whether it is balanced: |angle| < 12 degrees and |position| <= 2.4.

    Examples
    --------
    >>> state, balanced = cart_pole_step([0.0, 0.0, 0.01, 0.0], 1)
    >>> state.round(4).tolist(), bool(balanced)
    ([0.0, 0.195, 0.01, -0.2895], True)
    """
    state = check_finite_array(state, "state")
    if state.shape[-1:] != (4,):
        raise ValueError(f"state must have four columns, got shape {state.shape}")
    action = np.asarray(action)
    if not np.isin(action, (0, 1)).all():
        raise ValueError("action must be 0 or 1")
    x, v, theta, omega = np.moveaxis(state, -1, 0)
    force = np.where(action == 1, 10.0, -10.0)
    mass, pole, half = 1.1, 0.1, 0.5
    push = (force + pole * half * omega**2 * np.sin(theta)) / mass
    spin = (9.8 * np.sin(theta) - np.cos(theta) * push) / (half * (4 / 3 - pole * np.cos(theta) ** 2 / mass))
    drive = push - pole * half * spin * np.cos(theta) / mass
    new = np.stack([x + 0.02 * v, v + 0.02 * drive, theta + 0.02 * omega, omega + 0.02 * spin], axis=-1)
    lying = np.abs(new[..., 2]) > np.pi / 2
    new[..., 2] = np.clip(new[..., 2], -np.pi / 2, np.pi / 2)
    new[..., 3] = np.where(lying, 0.0, new[..., 3])
    return new, (np.abs(new[..., 2]) < np.deg2rad(12)) & (np.abs(new[..., 0]) <= 2.4)
