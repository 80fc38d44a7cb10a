"""Plots that chapters share: decision regions, posterior and risk curves, paths, heat maps, direct labels."""

from __future__ import annotations

import numpy as np

from learnable.book.style import COLORS, CYCLE

__all__ = ["decision_regions", "heat_map", "label_end", "overlap_curves", "path_plot", "risk_curve", "scatter_classes"]

_MARKERS = "osD^vP"


def decision_regions(ax, predict, xlim, ylim, *, n_grid=200, reject=None, labels=None):
    """Colour the plane by decision: a tint for each class, hatching where the rule abstains.

    Parameters
    ----------
    ax : matplotlib axes
    predict : callable
        Maps an array (m, 2) to m decisions.
    xlim, ylim : pair of float
    n_grid : int
        Points along each side.
    reject : object, optional
        The decision that means "no decision".
    labels : sequence, optional
        Classes in the order of their colours; by default those that occur, sorted.

    Returns
    -------
    list
        The classes, in the order of their colours.
    """
    from matplotlib.colors import ListedColormap, to_rgba

    xs, ys = np.linspace(*xlim, n_grid), np.linspace(*ylim, n_grid)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(xs, ys)])
    decided = np.asarray(predict(grid)).reshape(n_grid, n_grid)
    abstained = np.zeros(decided.shape, bool) if reject is None else decided == reject
    classes = list(labels) if labels is not None else sorted(set(decided[~abstained].tolist()))
    codes = np.full(decided.shape, np.nan)
    for code, label in enumerate(classes):
        codes[(decided == label) & ~abstained] = code
    tints = ListedColormap([to_rgba(CYCLE[i % len(CYCLE)], 0.22) for i in range(len(classes))])
    extent = (*xlim, *ylim)
    ax.imshow(
        codes,
        origin="lower",
        extent=extent,
        aspect="auto",
        cmap=tints,
        vmin=-0.5,
        vmax=len(classes) - 0.5,
        interpolation="nearest",
    )
    if abstained.any():
        ax.contourf(xs, ys, abstained.astype(float), levels=[0.5, 1.5], colors="none", hatches=["////"])
        ax.contour(xs, ys, abstained.astype(float), levels=[0.5], colors=COLORS["muted"], linewidths=0.8)
    ax.set(xlim=xlim, ylim=ylim)
    return classes


def scatter_classes(ax, X, y, *, labels=None, size=14):
    """Scatter two features with one colour and one marker for each class, so that colour is not the only cue."""
    classes = list(labels) if labels is not None else sorted(set(np.asarray(y).tolist()))
    for code, label in enumerate(classes):
        chosen = np.asarray(y) == label
        ax.scatter(
            *np.asarray(X)[chosen].T[:2],
            s=size,
            marker=_MARKERS[code % len(_MARKERS)],
            color=CYCLE[code % len(CYCLE)],
            edgecolor="white",
            linewidth=0.3,
        )
    return classes


def overlap_curves(ax, x, curves, *, names, shade=True):
    """Class curves π_j f_j over x, with the area under the second largest shaded: what any rule must lose.

    Parameters
    ----------
    x : array (m,)
    curves : array (k, m)
    names : k labels, written at the curves' peaks
    """
    curves = np.asarray(curves)
    for code, (curve, name) in enumerate(zip(curves, names, strict=True)):
        colour = CYCLE[code % len(CYCLE)]
        ax.plot(x, curve, color=colour)
        peak = int(np.argmax(curve))
        ax.annotate(name, (x[peak], curve[peak]), xytext=(0, 5), textcoords="offset points", ha="center", color=colour)
    if shade:
        lost = curves.sum(axis=0) - curves.max(axis=0)
        ax.fill_between(x, lost, color=COLORS["muted"], alpha=0.35, linewidth=0)
    ax.set_ylim(0, 1.15 * curves.max())


def risk_curve(ax, x, y, *, label, color=None, band=None, **style):
    """One curve with an optional band (standard errors or quantiles) and its name at its end.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> risk_curve(ax, [1, 2, 3], [0.3, 0.2, 0.1], label="test", band=([0.2, 0.1, 0.0], [0.4, 0.3, 0.2])).get_ydata()
    array([0.3, 0.2, 0.1])
    """
    (line,) = ax.plot(x, y, color=color, **style)
    if band is not None:
        ax.fill_between(x, *band, color=line.get_color(), alpha=0.18, linewidth=0)
    label_end(ax, line, label)
    return line


def label_end(ax, line, text, *, offset=(5, 0)):
    """Write a line's name at its last point, in its colour."""
    x, y = line.get_xdata()[-1], line.get_ydata()[-1]
    ax.annotate(
        text,
        (x, y),
        xytext=offset,
        textcoords="offset points",
        va="center",
        color=line.get_color(),
        annotation_clip=False,
    )


def path_plot(ax, knots, values, *, names=None, log=False):
    """Piecewise linear paths of many coefficients over a regularisation parameter, named at the right end.

    Parameters
    ----------
    knots : array (m,)
    values : array (m, p)
    names : p labels, optional
    log : bool
        Logarithmic horizontal axis.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> len(path_plot(Figure().subplots(), [0, 1, 2], [[0, 0], [1, 0], [2, 1]], names=["a", "b"]))
    2
    """
    values = np.asarray(values)
    lines = [ax.plot(knots, column, color=CYCLE[j % len(CYCLE)])[0] for j, column in enumerate(values.T)]
    if names is not None:
        for line, name in zip(lines, names, strict=True):
            label_end(ax, line, name)
    if log:
        ax.set_xscale("log")
    ax.axhline(0, color=COLORS["muted"], linewidth=0.7)
    return lines


def heat_map(ax, matrix, *, rows=None, columns=None, fmt="{:.2g}", center=None, cmap=None):
    """A matrix as colours with its numbers written in; diverging colours around ``center`` where it is given.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> _ = heat_map(ax, [[1.0, -0.5], [-0.5, 1.0]], rows=["x", "y"], columns=["x", "y"], center=0)
    >>> [text.get_text() for text in ax.texts]
    ['1', '-0.5', '-0.5', '1']
    """
    matrix = np.asarray(matrix, dtype=float)
    limits = {}
    if center is not None:
        reach = np.nanmax(np.abs(matrix - center)) or 1.0
        limits = {"vmin": center - reach, "vmax": center + reach}
    image = ax.imshow(matrix, cmap=cmap or ("RdBu_r" if center is not None else "Blues"), aspect="auto", **limits)
    ax.set_xticks(range(matrix.shape[1]), columns if columns is not None else range(matrix.shape[1]))
    ax.set_yticks(range(matrix.shape[0]), rows if rows is not None else range(matrix.shape[0]))
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    if matrix.size <= 400 and fmt:
        for (i, j), value in np.ndenumerate(matrix):
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
            colour = "white" if dark else COLORS["ink"]
            ax.text(j, i, fmt.format(value), ha="center", va="center", color=colour, fontsize=9)
    return image
