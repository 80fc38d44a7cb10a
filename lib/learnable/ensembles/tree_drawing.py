"""A fitted tree for people: its questions in words, and a drawing."""

from __future__ import annotations

import textwrap

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from learnable.validation import check_has, check_scalar

__all__ = ["draw_tree", "tree_text"]

_BEYOND = 1e299  # thresholds of this size part missing values from all others
_LINE = 26  # letters in a line of a drawn question


class _Words:
    """Questions and answers of the subtree in use of a `CARTClassifier` or `CARTRegressor`."""

    def __init__(self, model, digits):
        check_is_fitted(model)
        self.model, self.tree = model, model.tree_
        self.digits = check_scalar(digits, "digits", low=1, high=17, integer=True)
        self.names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
        self.holes = set(model._missing.columns.tolist())

    def number(self, value):
        return f"{float(f'{value:.{self.digits}g}'):,.15g}"

    def question(self, node):
        """A question in words, and whether it is the left child that says yes."""
        feature = int(self.tree.feature[node])
        column = int(self.model._original(feature))
        name, cut = self.names[column], self.tree.threshold[node]
        if np.isnan(cut):
            chosen, left = self._categories(node, column)
            return f"{name} is {' or '.join(chosen)}", left
        if abs(cut) > _BEYOND:
            return f"{name} is missing", cut < 0
        low = column in self.holes and feature == column
        return f"{name} <= {self.number(cut)}{' or missing' if low else ''}", True

    def _categories(self, node, column):
        """The categories on the left, or those on the right if they are fewer; and whether it is the left."""
        missing = self.model._missing
        known = dict(zip(missing.categorical.tolist(), missing.others.astype(int).tolist(), strict=True))
        left = self.tree.categories[node]
        count = known.get(column, self.model._n_categories.get(column, 0))
        names = self.model._coded.names(column) or [str(code) for code in range(count)]
        names = names[:count] + ["missing"] * (column in known)
        inside = [name for name, goes in zip(names, left[: len(names)], strict=True) if goes]
        outside = [name for name in names if name not in inside]
        return (inside, True) if len(inside) <= len(outside) else (outside, False)

    def answer(self, node):
        """What a leaf says, and of how many rows (or how much weight)."""
        value, weight = self.tree.value[node], f"{self.tree.weight[node]:,.6g}"
        if is_classifier(self.model):
            best = int(value.argmax())
            return f"{self.model.classes_[best]} ({value[best] / value.sum():.0%} of {weight})"
        return f"{self.number(value[0])} (mean of {weight})"


def tree_text(model, digits=4):
    """A fitted tree in words, one line for each question and each leaf; `CARTClassifier.export_text` calls it.

    Parameters
    ----------
    model : CARTClassifier or CARTRegressor
        Fitted.
    digits : int
        Significant digits of thresholds and values.

    Examples
    --------
    >>> from learnable.ensembles import CARTRegressor
    >>> print(tree_text(CARTRegressor(min_samples_split=2).fit([[0.0], [1.0]], [3.0, 4.5])))
    x0 <= 0.5?
      yes: 3 (mean of 1)
      no: 4.5 (mean of 1)
    """
    words, lines, pending = _Words(model, digits), [], [(0, 0, "")]
    while pending:
        node, depth, before = pending.pop()
        start = "  " * depth + before
        if words.tree.is_leaf[node]:
            lines.append(start + words.answer(node))
            continue
        text, left_is_yes = words.question(node)
        lines.append(f"{start}{text}?")
        children = int(words.tree.left[node]), int(words.tree.right[node])
        yes, no = children if left_is_yes else children[::-1]
        pending += [(no, depth + 1, "no: "), (yes, depth + 1, "yes: ")]
    return "\n".join(lines)


def draw_tree(model, ax, *, digits=3):
    """Draw the subtree in use: questions from the top down, answers at the bottom.

    Parameters
    ----------
    model : CARTClassifier or CARTRegressor
        Fitted.
    ax : matplotlib.axes.Axes
        Its axes are switched off.
    digits : int
        Significant digits of thresholds and values.

    Returns
    -------
    ndarray of shape (nodes, 2)
        Where the nodes stand: leaves side by side, each question in the middle above its two answers.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from learnable.ensembles import CARTClassifier
    >>> tree = CARTClassifier(min_samples_split=2).fit([[0.0], [1.0]], ["a", "b"])
    >>> draw_tree(tree, Figure().add_subplot()).tolist()
    [[0.5, 0.0], [0.0, -1.0], [1.0, -1.0]]
    """
    check_has(ax, "ax", "plot text set_axis_off", "matplotlib axes")
    words = _Words(model, digits)
    tree = words.tree
    places = _places(tree)
    boxes = [_written(words, node, ax, *places[node]) for node in range(tree.n_nodes)]
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.left[node], tree.right[node]
        answers = ("yes", "no") if words.question(node)[1] else ("no", "yes")
        for child, word, side in zip(children, answers, ("right", "left"), strict=True):
            # From box to box: on a transparent ground a line behind a question would run through its letters.
            ends = {"patchA": boxes[node].get_bbox_patch(), "patchB": boxes[child].get_bbox_patch()}
            line = {"arrowstyle": "-", "color": "gray", "shrinkA": 0, "shrinkB": 0, **ends}
            ax.annotate("", places[child], places[node], arrowprops=line)
            place = 0.35 * places[node] + 0.65 * places[child]
            ax.text(*place, f" {word} ", ha=side, va="bottom", fontsize="x-small")
    ax.set(xlim=(-0.6, tree.n_leaves - 0.4), ylim=(-tree.depth.max() - 0.5, 0.4))
    ax.set_axis_off()
    return places


def _written(words, node, ax, x, y):
    """Write the question or the answer of a node into a box of its own."""
    if words.tree.is_leaf[node]:
        text, edge = words.answer(node).replace(" (", "\n("), "none"
    else:
        text, edge = textwrap.fill(words.question(node)[0], _LINE, break_on_hyphens=False), "gray"
    box = {"facecolor": "none", "edgecolor": edge, "boxstyle": "round"}
    return ax.text(x, y, text, ha="center", va="center", fontsize="small", bbox=box)


def _places(tree):
    """Leaves at 0, 1, 2, … from left to right, each other node half-way between its children; y is minus the depth."""
    places, seen, pending = np.zeros((tree.n_nodes, 2)), 0, [0]
    while pending:
        node = pending.pop()
        if tree.is_leaf[node]:
            places[node, 0] = seen
            seen += 1
        else:
            pending += [int(tree.right[node]), int(tree.left[node])]
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        places[node, 0] = 0.5 * (places[tree.left[node], 0] + places[tree.right[node], 0])
    places[:, 1] = -tree.depth
    return places
