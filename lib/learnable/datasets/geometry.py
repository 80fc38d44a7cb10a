"""Points on and around curves: spirals, closed curves in many dimensions, filaments with a known topology."""

import numpy as np
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = ["filament_graph", "make_filaments", "make_harmonic_curve", "make_spiral"]


def make_spiral(n_samples=1000, *, noise=0.0, random_state=None):
    """x = 0.04 t sin t, y = 0.04 t cos t, t ~ U(3, 12) (Alain and Bengio 2014, Figure 5), plus N(0, noise^2 I).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    noise : float, default=0.0
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data``, ``t``, ``curve`` (a function of t).

    Examples
    --------
    >>> made = make_spiral(5, random_state=0)
    >>> bool(np.allclose(made.curve(made.t), made.data))
    True
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    noise = check_scalar(noise, "noise", low=0)
    t = rng.uniform(3, 12, n)
    return Bunch(data=_spiral(t) + noise * rng.standard_normal((n, 2)), t=t, curve=_spiral)


def _spiral(t):
    t = np.asarray(t, dtype=np.float64)
    return 0.04 * t[..., None] * np.stack([np.sin(t), np.cos(t)], axis=-1)


_FREQUENCY = np.array([1, 1, 2, 2, 3, 3, 1, 2, 3, 1])
_PHASE = np.array([0, -np.pi / 2, 0, -np.pi / 2, 0, -np.pi / 2, 0.7, 1.1, 2.0, 2.5])


def make_harmonic_curve(n_samples=1000, *, noise=0.0, random_state=None):
    """A closed curve in ten dimensions: x_j = 1.2 cos(f_j t + phi_j), t ~ U(0, 2 pi), plus N(0, noise^2 I).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    noise : float, default=0.0
    random_state : None, int or Generator

    Examples
    --------
    >>> make_harmonic_curve(4, random_state=0).data.shape
    (4, 10)
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    noise = check_scalar(noise, "noise", low=0)
    t = rng.uniform(0, 2 * np.pi, n)
    return Bunch(data=_harmonics(t) + noise * rng.standard_normal((n, 10)), t=t, curve=_harmonics)


def _harmonics(t):
    return 1.2 * np.cos(np.asarray(t, dtype=np.float64)[..., None] * _FREQUENCY + _PHASE)


def _arc(start, end, angle, steps=200):
    """Circular arc from start to end (2-D) that leaves the chord at angle / 2."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    chord = end - start
    radius = np.linalg.norm(chord) / (2 * np.sin(abs(angle) / 2))
    normal = np.array([-chord[1], chord[0]]) / np.linalg.norm(chord)
    centre = (start + end) / 2 - np.sign(angle) * normal * radius * np.cos(abs(angle) / 2)
    turns = np.linspace(abs(angle) / 2, -abs(angle) / 2, steps)
    return centre + radius * (
        np.cos(turns)[:, None] * np.sign(angle) * normal - np.sin(turns)[:, None] * chord / np.linalg.norm(chord)
    )


def filament_graph(kind="lens", *, size=5, random_state=None):
    """A graph drawn with curves: the truth behind :func:`make_filaments`.

    Parameters
    ----------
    kind : {"segment", "Y", "star", "theta", "lens", "eight", "ladder", "streets", "tree", "neuron", "spiral"}
        A star with `size` rays; two arcs of radius 1 and angle pi/3 between two vertices with pendant edges (lens) or
        with their chord (theta); two circles sharing a point; a ladder with `size` rungs; a lattice of size x size
        streets; a random planar or spatial ("neuron") binary tree with about `size` branch points; a spiral with a
        branch.
    size : int, default=5
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``vertices`` (m, D), ``edges`` (pairs of vertex numbers; equal ones are loops), ``curves`` (polylines, one an
        edge), ``degrees``, ``length``.

    Examples
    --------
    >>> lens = filament_graph("lens")
    >>> lens.degrees.tolist(), round(lens.length, 3)
    ([3, 3, 1, 1], 4.494)
    """
    kinds = ("segment", "Y", "star", "theta", "lens", "eight", "ladder", "streets", "tree", "neuron", "spiral")
    check_choice(kind, "kind", kinds)
    size, rng = check_size(size, "size"), check_rng(random_state)
    vertices, edges, curves = [], [], {}
    if kind == "segment":
        vertices, edges = [[0, 0], [1, 0]], [(0, 1)]
    elif kind in ("Y", "star"):
        rays = 3 if kind == "Y" else size
        angles = 2 * np.pi * np.arange(rays) / rays
        vertices = [[0.0, 0.0], *np.column_stack([np.cos(angles), np.sin(angles)]).tolist()]
        edges = [(0, j + 1) for j in range(rays)]
    elif kind in ("lens", "theta"):
        chord = 2 * np.sin(np.pi / 6)
        vertices, edges = [[0.0, 0.0], [chord, 0.0]], [(0, 1), (0, 1)]
        curves = {0: _arc([0, 0], [chord, 0], np.pi / 3), 1: _arc([0, 0], [chord, 0], -np.pi / 3)}
        if kind == "lens":
            vertices += [[-1.2, 0.0], [chord + 1.2, 0.0]]
            edges += [(2, 0), (1, 3)]
        else:
            edges += [(0, 1)]
    elif kind == "eight":
        turn = np.linspace(0, 2 * np.pi, 400)
        vertices, edges = [[0.0, 0.0]], [(0, 0), (0, 0)]
        curves = {
            0: np.column_stack([1 - np.cos(turn), np.sin(turn)]),
            1: np.column_stack([np.cos(turn) - 1, np.sin(turn)]),
        }
    elif kind == "ladder":
        vertices = [[float(i), float(j)] for i in range(size) for j in (0, 1)]
        edges = [(2 * i, 2 * i + 1) for i in range(size)] + [(j, j + 2) for j in range(2 * size - 2)]
    elif kind == "streets":
        vertices = [[float(i), float(j)] for i in range(size) for j in range(size)]
        edges = [(size * i + j, size * i + j + 1) for i in range(size) for j in range(size - 1)]
        edges += [(size * i + j, size * i + size + j) for i in range(size - 1) for j in range(size)]
    elif kind == "spiral":
        t = np.linspace(2 * np.pi, 6 * np.pi, 600)
        arm = np.column_stack([t * np.cos(t), t * np.sin(t)]) / (2 * np.pi)
        middle = 300
        vertices = [arm[0].tolist(), arm[middle].tolist(), arm[-1].tolist(), (1.25 * arm[middle]).tolist()]
        edges, curves = [(0, 1), (1, 2), (1, 3)], {0: arm[: middle + 1], 1: arm[middle:]}
    else:
        vertices, edges, curves = _branching(size, 3 if kind == "neuron" else 2, rng)
    vertices = np.array(vertices, dtype=np.float64)
    lines = [curves.get(e, np.linspace(vertices[a], vertices[b], 2)) for e, (a, b) in enumerate(edges)]
    degrees = np.bincount(np.ravel(edges), minlength=len(vertices))
    length = float(sum(np.linalg.norm(np.diff(c, axis=0), axis=1).sum() for c in lines))
    return Bunch(vertices=vertices, edges=edges, curves=lines, degrees=degrees, length=length)


def _branching(size, dimension, rng):
    """Binary tree grown tip by tip, straight branches of length 100 to 150 that keep apart by at least 50."""
    vertices, edges, tips = [np.zeros(dimension)], [], []
    first = np.zeros(dimension)
    first[-1] = 1.0
    vertices.append(first * 125)
    edges.append((0, 1))
    tips.append((1, first))
    while len(tips) and len(edges) < 1 + 2 * size:
        at, heading = tips.pop(0)
        for _ in range(200):
            side = rng.standard_normal(dimension)
            side -= side @ heading * heading
            side /= np.linalg.norm(side)
            turn = rng.uniform(np.pi / 6, np.pi / 4)
            pair = [np.cos(turn) * heading + sign * np.sin(turn) * side for sign in (-1, 1)]
            ends = [vertices[at] + rng.uniform(100, 150) * d for d in pair]
            others = [(a, b) for a, b in edges if at not in (a, b)]
            if all(_segment_gap(vertices[at], e, vertices[a], vertices[b]) > 50 for e in ends for a, b in others):
                for end, direction in zip(ends, pair, strict=True):
                    vertices.append(end)
                    edges.append((at, len(vertices) - 1))
                    tips.append((len(vertices) - 1, direction))
                break
    return [v.tolist() for v in vertices], edges, {}


def _segment_gap(a, b, c, d):
    """Least distance of two segments, on a grid of 21 x 21 of their points."""
    s = np.linspace(0, 1, 21)[:, None]
    return np.linalg.norm((a + s * (b - a))[:, None] - (c + s * (d - c)), axis=-1).min()


def make_filaments(kind="lens", n_samples=1000, *, noise=0.0, size=5, random_state=None):
    """Points spread evenly along the curves of :func:`filament_graph`, moved uniformly inside a ball of radius `noise`.

    Parameters
    ----------
    kind : str, default="lens"
    n_samples : int, default=1000
        Number of rows.
    noise : float, default=0.0
    size : int, default=5
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data``, ``edge`` (of each point), ``graph`` (the truth).

    Examples
    --------
    >>> made = make_filaments("Y", 30, random_state=0)
    >>> made.data.shape, made.graph.degrees.tolist()
    ((30, 2), [3, 1, 1, 1])
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    noise = check_scalar(noise, "noise", low=0)
    graph = filament_graph(kind, size=size, random_state=rng)
    pieces = [np.diff(c, axis=0) for c in graph.curves]
    lengths = np.concatenate([np.linalg.norm(p, axis=1) for p in pieces])
    starts = np.concatenate([c[:-1] for c in graph.curves])
    steps, owner = np.concatenate(pieces), np.repeat(np.arange(len(pieces)), [len(p) for p in pieces])
    place = rng.random(n) * lengths.sum()
    index = np.minimum(np.searchsorted(np.cumsum(lengths), place, side="right"), len(lengths) - 1)
    share = (place - (np.cumsum(lengths) - lengths)[index]) / lengths[index]
    points = starts[index] + share[:, None] * steps[index]
    if noise:
        d = points.shape[1]
        move = rng.standard_normal((n, d))
        points = points + noise * (rng.random(n) ** (1 / d) / np.linalg.norm(move, axis=1))[:, None] * move
    return Bunch(data=points, edge=owner[index], graph=graph)
