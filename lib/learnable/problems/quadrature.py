"""Integrals of piecewise smooth functions on the line and on a rectangle.

A Bayes risk is the integral of a minimum: smooth between the decision boundaries, with a kink (or a
jump) at each of them. A quadrature that does not know where they are loses most of its digits there.
Three steps give them back:

1. :func:`graded_mesh` finds where the densities live, on any interval, bounded or not;
2. :func:`find_changes` finds every point at which a label (the optimal decision, a classifier's
   answer, which densities vanish) changes, to the last bit;
3. :func:`integrate_pieces` integrates between these points with an error estimate, by adaptive
   Gauss-Legendre rules that evaluate all pieces in one call; :func:`integrate_grid` does it on a
   rectangle.
"""

import warnings

import numpy as np
from scipy.integrate import IntegrationWarning

from learnable.validation import check_finite_array, check_row_values, check_scalar

__all__ = ["dense_nodes", "find_changes", "gauss_nodes", "graded_mesh", "integrate_grid", "integrate_pieces"]

# Log of the mass that a tail may keep before the mesh is cut off: exp(-80) = 2e-35.
_NEGLIGIBLE = -80.0
_ORDER = 12
_SECTIONS = 32
_MAX_CHANGES_PER_CELL = 8
_MAX_BOXES = 20_000
_CHUNK = 262_144


def graded_mesh(log_densities, low, high, points=()):
    """Return points that cut an interval into pieces suited to some densities.

    The modes of each density are found from a grid that covers all orders of magnitude, by zooming
    into its local maxima: a log-density tells the direction of its mode however far away that is.
    Around each mode the pieces have the width over which the log-density changes by about one, and
    double outwards until the remaining mass is negligible.

    Parameters
    ----------
    log_densities : list of callables
        Vectorised log-densities; -inf is allowed.
    low, high : float
        Ends of the interval, possibly infinite.
    points : array-like, default=()
        Points to respect as well: modes or jumps that the search could miss.

    Returns
    -------
    ndarray
        Increasing. The first and the last point are the ends of the interval, or lie where only
        negligible mass is left.

    Examples
    --------
    >>> mesh = graded_mesh([lambda x: -0.5 * ((x - 1e4) / 1e-3) ** 2], -np.inf, np.inf)
    >>> bool((abs(mesh - 1e4) < 0.01).sum() >= 8)
    True
    """
    low, high = (_end(end, name) for end, name in ((low, "low"), (high, "high")))
    points = check_finite_array(points, "points", ndim=1)
    seeds = _seeds(low, high, points)
    edges = [points]
    for j, log_density in enumerate(log_densities):
        height = check_row_values(log_density(seeds), seeds.size, f"what logpdfs[{j}] returns")
        alive = height > -np.inf
        if not alive.any():
            raise ValueError(
                f"logpdfs[{j}] is -inf at every trial point between {low} and {high}; "
                "pass a point where the class lives in `points`"
            )
        edges += [_shells(log_density, mode, low, high) for mode in _modes(log_density, seeds, height)]
    edges = np.concatenate(edges)
    edges = edges[(edges > low) & (edges < high)]
    ends = [end for end in (low, high) if np.isfinite(end)]
    return np.unique(np.concatenate([edges, ends]))


def _end(end, name):
    """An end of an interval: a number, or an infinity."""
    return float(end) if end in (-np.inf, np.inf) else check_scalar(end, name)


def _seeds(low, high, points):
    decades = np.logspace(-12, 12, 481)
    if np.isfinite(low) and np.isfinite(high):
        inner = low + (high - low) * np.concatenate([(np.arange(400) + 0.5) / 400, decades[decades < 0.5]])
        seeds = np.concatenate([inner, high - (high - low) * decades[decades < 0.5]])
    elif np.isfinite(low):
        seeds = low + decades
    elif np.isfinite(high):
        seeds = high - decades
    else:
        seeds = np.concatenate([-decades, [0.0], decades])
    near = (points[:, None] + np.concatenate([-decades, [0.0], decades])).ravel()
    seeds = np.concatenate([seeds, near])
    return np.unique(seeds[(seeds > low) & (seeds < high)])


def _modes(log_density, seeds, height):
    """Return the local maxima of a log-density, each to within a distance over which it falls by 1."""
    # Seeds of equal height, up to rounding, are one plateau.
    with np.errstate(invalid="ignore"):
        first = np.flatnonzero(np.append(True, np.abs(np.diff(height)) > 1e-6))
    last = np.append(first[1:], seeds.size) - 1
    level = np.concatenate([[-np.inf], height[first], [-np.inf]])
    peak = np.flatnonzero((level[1:-1] > level[:-2]) & (level[1:-1] > level[2:]))
    mode = seeds[(first[peak] + last[peak]) // 2]
    left = seeds[last[np.maximum(peak - 1, 0)]]
    right = seeds[first[np.minimum(peak + 1, first.size - 1)]]
    part = np.linspace(0.0, 1.0, _SECTIONS + 1)
    rows = np.arange(peak.size)
    for _ in range(60):
        below, above = part[:-1] * (mode - left)[:, None], part * (right - mode)[:, None]
        x = np.concatenate([left[:, None] + below, mode[:, None] + above], axis=1)
        value = log_density(x.ravel()).reshape(x.shape)
        best = value.argmax(axis=1)
        before, after = np.maximum(best - 1, 0), np.minimum(best + 1, x.shape[1] - 1)
        mode, left, right = x[rows, best], x[rows, before], x[rows, after]
        if (value[rows, best] - np.minimum(value[rows, before], value[rows, after]) <= 1.0).all():
            break
    return mode


def _shells(log_density, mode, low, high):
    """Return points around a mode: equally spaced near it, at doubling distances further out."""
    top = log_density(np.array([mode]))[0]
    doubling = 2.0 ** np.arange(1000)
    edges = [np.array([mode])]
    with np.errstate(over="ignore"):  # far out, where the density is nothing
        for side in (-1.0, 1.0):
            reach = np.spacing(max(abs(mode), 1e-150)) * 16 * doubling
            x = _between(mode + side * reach, low, high)
            if x.size == 0:
                continue
            falls = np.flatnonzero(top - log_density(x) > 0.5)
            width = reach[max(falls[0] - 1, 0)] if falls.size else reach[x.size - 1]
            reach = np.concatenate([np.arange(1, 8), 8 * doubling]) * width
            x = _between(mode + side * reach[reach < 1e300], low, high)
            keep = np.flatnonzero(log_density(x) + np.log(reach[: x.size]) > _NEGLIGIBLE)
            edges.append(x[: keep[-1] + 2] if keep.size else x[:1])
    return np.concatenate(edges)


def _between(x, low, high):
    return x[(x > low) & (x < high)]


def dense_nodes(edges, per_piece=128):
    """Return points that fill the pieces between `edges` evenly, in increasing order.

    Parameters
    ----------
    edges : array-like of shape (m,)
        Increasing.
    per_piece : int, default=128
        Points for each piece.

    Examples
    --------
    >>> dense_nodes(np.array([0.0, 1.0, 3.0]), per_piece=2)
    array([0.25, 0.75, 1.5 , 2.5 ])
    """
    edges = _check_edges(edges)
    per_piece = check_scalar(per_piece, "per_piece", low=1, high=2**31, integer=True)
    part = (np.arange(per_piece) + 0.5) / per_piece
    return _inside((edges[:-1, None] + np.diff(edges)[:, None] * part).ravel(), edges[0], edges[-1])


def _check_edges(edges):
    edges = check_finite_array(edges, "edges", ndim=1)
    if len(edges) < 2 or (np.diff(edges) < 0).any():
        raise ValueError(f"edges must be two or more rising numbers, got {len(edges)}")
    return edges


def gauss_nodes(edges):
    """Return nodes and weights of a 12-point Gauss-Legendre rule on each piece between `edges`.

    Parameters
    ----------
    edges : array-like of shape (m,)
        Increasing.

    Examples
    --------
    >>> x, w = gauss_nodes(np.array([0.0, 1.0, 3.0]))
    >>> round(float(w @ x**2), 12)
    9.0
    """
    edges = _check_edges(edges)
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    x = (middle[:, None] + half[:, None] * nodes).ravel()
    return _inside(x, edges[0], edges[-1]), (half[:, None] * weights).ravel()


def _inside(x, low, high):
    """Keep nodes off the ends, where a density may be infinite and rounding may have put them."""
    return np.clip(x, np.nextafter(low, high), np.nextafter(high, low))


def find_changes(label, x):
    """Return every point at which an integer label changes, as seen from a grid.

    Each cell of the grid with different labels at its ends is cut into 32 parts again and again until
    it is as short as the spacing of floating-point numbers allows; several changes in one cell are
    followed separately.

    Parameters
    ----------
    label : callable
        Vectorised, x -> integers.
    x : ndarray of shape (n,)
        Increasing grid. Two changes within one cell that lead back to the same label go unseen.

    Returns
    -------
    ndarray
        Increasing positions of the changes.

    Examples
    --------
    >>> change = find_changes(lambda x: (x > np.pi).astype(int), np.linspace(0, 10, 11))
    >>> bool(abs(change[0] - np.pi) < 1e-14)
    True
    """
    x = check_finite_array(x, "x", ndim=1)
    values = check_row_values(label(x), x.size, "what label returns")
    cell = np.flatnonzero(values[1:] != values[:-1])
    left, right = x[cell], x[cell + 1]
    resolution = np.finfo(np.float64).eps * np.maximum(right - left, np.maximum(np.abs(left), np.abs(right)))
    owner = np.arange(cell.size)
    part = np.linspace(0.0, 1.0, _SECTIONS + 1)
    found = [np.empty(0)]
    while left.size:
        # A cell that shows more and more changes holds noise (a tie decided by rounding): leave it.
        fine = (right - left <= resolution) | (np.bincount(owner)[owner] > _MAX_CHANGES_PER_CELL)
        found.append(right[fine])
        left, right, resolution, owner = (values[~fine] for values in (left, right, resolution, owner))
        points = left[:, None] + (right - left)[:, None] * part
        points[:, -1] = right
        values = label(points.ravel()).reshape(points.shape)
        row, cell = np.nonzero(values[:, 1:] != values[:, :-1])
        left, right, resolution, owner = points[row, cell], points[row, cell + 1], resolution[row], owner[row]
    return np.unique(np.concatenate(found))


def integrate_pieces(f, edges, rtol=1e-10, atol=1e-15):
    """Integrate a piecewise smooth function of one variable, piece by piece and adaptively.

    Parameters
    ----------
    f : callable
        x of shape (n,) -> values of shape (n, q).
    edges : ndarray of shape (m,)
        Increasing, at least two.
    rtol, atol : float
        As in ``integrate_boxes``.

    Returns
    -------
    value, error : ndarrays of shape (q,)

    Examples
    --------
    >>> value, error = integrate_pieces(lambda x: np.abs(np.sin(x))[:, None], np.array([0.0, np.pi, 5.0]))
    >>> bool(abs(value[0] - (3 + np.cos(5.0))) < 1e-12)
    True
    """
    edges = check_finite_array(edges, "edges", ndim=1)
    rtol, atol = check_scalar(rtol, "rtol", low=0), check_scalar(atol, "atol", low=0)
    return integrate_boxes(lambda x: f(x[:, 0]), edges[:-1, None], edges[1:, None], rtol, atol, order=_ORDER)


def integrate_grid(f, box, rtol=0.0, atol=1e-7):
    """Integrate over a rectangle, by tensor Gauss-Legendre panels of 8 x 8 nodes, refined adaptively.

    The first 16 x 16 panels suffice where the integrand is smooth. A panel that is crossed by a kink
    (a decision boundary) is halved on both sides, down to the size that the tolerance asks for: the
    work grows like 1/h and the error falls like h^2 in the size h of the smallest panels.

    Parameters
    ----------
    f : callable
        x of shape (n, 2) -> values of shape (n, q).
    box : ndarray of shape (2, 2)
        Finite (low, high) of the two coordinates.
    rtol, atol : float
        As in ``integrate_boxes``.

    Returns
    -------
    value, error : ndarrays of shape (q,)

    Examples
    --------
    >>> value, error = integrate_grid(lambda x: np.exp(x).prod(axis=1)[:, None], np.array([[0, 1], [0, 1.0]]))
    >>> bool(abs(value[0] - (np.e - 1) ** 2) < 1e-12)
    True
    """
    box = check_finite_array(box, "box", ndim=2)
    edges = np.linspace(box[:, 0], box[:, 1], 17)
    low, high = (
        np.stack(np.meshgrid(*part.T, indexing="ij"), axis=-1).reshape(-1, 2) for part in (edges[:-1], edges[1:])
    )
    return integrate_boxes(f, low, high, rtol, atol, order=8)


def integrate_boxes(f, low, high, rtol, atol, order):
    """Integrate over a union of boxes, adaptively.

    Each box is integrated by a tensor Gauss-Legendre rule on the whole and on its 2^d halves; the
    difference is the error estimate (of the cruder value), and the boxes that contribute too much to it
    are halved again. Each round evaluates `f` on all open boxes at once.

    Parameters
    ----------
    f : callable
        x of shape (n, d) -> values of shape (n, q).
    low, high : ndarrays of shape (m, d)
        Corners of the boxes.
    rtol, atol : float
        The error aimed at is max(atol, rtol * |integral|), for each of the q integrals.
    order : int
        Nodes per side.

    Returns
    -------
    value, error : ndarrays of shape (q,)
        A warning is given if the error is far from what was aimed at.
    """
    d = low.shape[1]
    nodes, weights = np.polynomial.legendre.leggauss(order)
    nodes = np.stack(np.meshgrid(*[nodes] * d, indexing="ij"), axis=-1).reshape(-1, d)
    weights = np.stack(np.meshgrid(*[weights] * d, indexing="ij"), axis=-1).reshape(-1, d).prod(axis=1)
    upper = np.stack(np.meshgrid(*[[False, True]] * d, indexing="ij"), axis=-1).reshape(-1, 1, d)

    ends = low.min(axis=0), high.max(axis=0)

    def gauss(low, high):
        centre, half = (low + high) / 2, (high - low) / 2
        parts = []
        for rows in np.array_split(np.arange(len(low)), -(-len(low) * len(nodes) // _CHUNK)):
            x = _inside(centre[rows, None] + half[rows, None] * nodes, *ends).reshape(-1, d)
            values = np.asarray(f(x))
            if values.ndim not in (1, 2) or len(values) != len(x):
                raise ValueError(f"f must return a row of values for each of the {len(x)} points, got {values.shape}")
            parts.append(np.einsum("mnq,n->mq", values.reshape(rows.size, len(nodes), -1), weights))
        return np.concatenate(parts) * half.prod(axis=1)[:, None]

    whole = gauss(low, high)
    done, done_error = 0.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        child_low, child_high = np.where(upper, middle, low), np.where(upper, high, middle)
        children = gauss(child_low.reshape(-1, d), child_high.reshape(-1, d)).reshape(2**d, len(low), -1)
        better = children.sum(axis=0)
        error = np.abs(better - whole)
        total, total_error = done + better.sum(axis=0), done_error + error.sum(axis=0)
        goal = np.maximum(atol, rtol * np.abs(total))
        # A box that cannot be halved any more, or whose share of the error is small, is closed.
        open_ = (error > goal / (4 * len(low))).any(axis=1) & ((middle > low) & (middle < high)).all(axis=1)
        if (total_error <= goal).all() or not open_.any() or open_.sum() > _MAX_BOXES:
            break
        done, done_error = done + better[~open_].sum(axis=0), done_error + error[~open_].sum(axis=0)
        low, high = child_low[:, open_].reshape(-1, d), child_high[:, open_].reshape(-1, d)
        whole = children[:, open_].reshape(len(low), -1)
    if (total_error > 100 * goal).any():
        warnings.warn(
            f"the integral has an estimated error of {np.max(total_error):.1e}; if the integrand has peaks or jumps, "
            "tell the problem about them by `points`",
            IntegrationWarning,
            stacklevel=2,
        )
    return total, total_error
