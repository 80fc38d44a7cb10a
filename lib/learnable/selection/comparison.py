"""A comparison of classifiers over data sets from end to end: run the cells, store them, rank, test, draw."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from joblib import hash as digest_of
from sklearn.base import clone

from learnable._files import write_atomically
from learnable.selection.benchmark import PROTOCOLS, evaluate, make_partitions
from learnable.selection.ranking import column_names, friedman_ranks, import_pandas
from learnable.selection.significance import FriedmanTest, friedman_test, nemenyi_difference, nemenyi_groups
from learnable.validation import Result, Summary, check_choice, check_finite_array, check_has, check_scalar, check_seed

__all__ = ["Benchmark", "RankReport", "rank_report", "run_benchmark"]


@dataclass(frozen=True, eq=False)
class RankReport(Result):
    """What `rank_report` returns: who is better than whom, as far as the data sets tell.

    Attributes
    ----------
    names : tuple
        Classifiers from the best mean rank to the worst.
    ranks : ndarray of shape (n_classifiers,)
        Mean ranks in that order.
    friedman : FriedmanTest
    difference : float
        Nemenyi's critical difference.
    groups : tuple of tuple
        Names joined by a bar: no two of a group differ.
    level : float
    """

    names: tuple
    ranks: np.ndarray
    friedman: FriedmanTest
    difference: float
    groups: tuple
    level: float

    def summary(self):
        """The ranks and one sentence about them, as a `Summary` to print."""
        marks = ["".join("|" if name in group else " " for group in self.groups) for name in self.names]
        rows = [[str(n), f"{r:.2f}", m] for n, r, m in zip(self.names, self.ranks, marks, strict=True)]
        test, best = self.friedman, self.names[0]
        title = f"{len(self.names)} classifiers on {test.n_sets} data sets"
        differ = "differ" if test.f_pvalue <= self.level else "cannot be told apart"
        told = f"The classifiers {differ} (Iman and Davenport, p = {test.f_pvalue:.1g})."
        far = f"Ranks farther apart than {self.difference:.2f} differ at level {self.level:g} (Nemenyi)."
        tied = [
            str(name)
            for name, rank in zip(self.names, self.ranks, strict=True)
            if rank - self.ranks[0] <= self.difference
        ]
        rest = f"Not worse than {best} by this test: {', '.join(tied[1:]) or 'none'}."
        return Summary.table(title, ["classifier", "rank", ""], rows, [told, far, rest])

    def draw(self, ax=None):
        """The critical difference diagram: ranks on a line, a bar below those that do not differ.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        Axes
        """
        from matplotlib import pyplot as plt

        c, ink = len(self.names), plt.rcParams["text.color"]
        if ax is None:
            ax = plt.figure(figsize=(7.0, 1.2 + 0.22 * c + 0.1 * len(self.groups))).add_subplot()
        left = (c + 1) // 2
        for k, (name, rank) in enumerate(zip(self.names, self.ranks, strict=True)):
            # The better half is named on the left from the top down, the worse half on the right from below.
            side, level = (0.0, k) if k < left else (1.0, c - 1 - k)
            height = -1.0 - 0.35 * len(self.groups) - level
            end = 0.7 if side == 0.0 else c + 0.3
            ax.plot([rank, rank, end], [0, height, height], color=ink, alpha=0.5, linewidth=0.9)
            label = f"{name} {rank:.2f} " if side == 0.0 else f" {rank:.2f} {name}"
            ax.text(end, height, label, ha="right" if side == 0.0 else "left", va="center")
        ax.plot([1, c], [0, 0], color=ink, linewidth=1.2)
        for tick in range(1, c + 1):
            ax.plot([tick, tick], [0, 0.25], color=ink, linewidth=1.0)
            ax.text(tick, 0.4, str(tick), ha="center", va="bottom")
        place = dict(zip(self.names, self.ranks, strict=True))
        for k, group in enumerate(self.groups):
            low, high = place[group[0]], place[group[-1]]
            ax.plot([low - 0.05, high + 0.05], [-0.35 * (k + 1)] * 2, color=ink, linewidth=3.0, solid_capstyle="round")
        ax.plot([1, 1 + self.difference], [1.9, 1.9], color=ink, linewidth=2.0)
        ax.text(1 + self.difference / 2, 2.05, f"critical difference {self.difference:.2f}", ha="center", va="bottom")
        ax.set_xlim(-0.6, c + 1.6)
        ax.axis("off")
        return ax


@dataclass(frozen=True, eq=False)
class Benchmark(Result):
    """What `run_benchmark` returns: a row for each data set, a column for each classifier, NaN for failed cells.

    Attributes
    ----------
    datasets, classifiers : tuple of str
    accuracy, kappa, fit_seconds : ndarray of shape (n_sets, n_classifiers)
    errors : dict
        ``{(data set, classifier): message}`` of the cells that failed.
    params : dict
        ``{(data set, classifier): list of dict}``, the chosen parameters.
    """

    datasets: tuple
    classifiers: tuple
    accuracy: np.ndarray
    kappa: np.ndarray
    fit_seconds: np.ndarray
    errors: dict
    params: dict

    def to_frame(self, what="accuracy"):
        """One of the three tables as a pandas frame with names, for `leaderboard`, `compare_pair` and the like."""
        check_choice(what, "what", ("accuracy", "kappa", "fit_seconds"))
        return import_pandas().DataFrame(getattr(self, what), index=self.datasets, columns=self.classifiers)

    def report(self, level=0.05):
        """`rank_report` of the accuracies."""
        return rank_report(self.accuracy, names=self.classifiers, level=level)


def run_benchmark(
    datasets, classifiers, *, store=None, n_jobs=1, protocol="nested", n_splits=4, max_seconds=None, random_state=0
):
    """Score classifiers on data sets, each cell once, with the same partitions for all classifiers of a set.

    Parameters
    ----------
    datasets : dict
        ``{name: (X, y)}``; X is what the classifiers accept, a frame included.
    classifiers : dict
        ``{name: estimator}`` or ``{name: (estimator, grid)}``, where the grid is tuned inside as `protocol` says.
    store : str or Path, optional
        A folder that keeps a file for each cell. A comparison that was broken off goes on where it ended, and one with
        another classifier more runs only that; a cell counts as done for the same data, estimator, grid and options.
    n_jobs : int, default=1
        Processes (joblib); the numbers do not depend on it.
    protocol : {"nested", "paper"}, default="nested"
        See `evaluate`: "nested" tunes inside the training part of each fold.
    n_splits : int, default=4
    max_seconds : float, optional
        Processor seconds a cell may take before no further fit begins.
    random_state : None, int or numpy.random.Generator, default=0
        Of the partitions; what the classifiers draw is theirs. A store needs a number.

    Returns
    -------
    Benchmark
        A classifier that raises loses its cell, not the comparison.

    Notes
    -----
    Fernandez-Delgado et al. 2014, Sec. 2 and 3, with the choice of parameters inside the folds. Cost: a fit for each
    fold and each point of the grid.

    Examples
    --------
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> found = run_benchmark(
    ...     {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)},
    ...     {"bayes": GaussianNB(), "near": (KNeighborsClassifier(), {"n_neighbors": [1, 15]})},
    ... )
    >>> found.accuracy.round(1).tolist(), found.errors
    ([[1.0, 1.0], [1.0, 0.7]], {})
    """
    for name, given in (("datasets", datasets), ("classifiers", classifiers)):
        if not isinstance(given, dict) or not given or not all(isinstance(key, str) for key in given):
            raise ValueError(f"{name} must be a dict with a name for each entry, got {type(given).__name__}")
    for key, pair in datasets.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(f"datasets[{key!r}] must be a pair (X, y)")
    pairs = {key: one if isinstance(one, tuple) else (one, None) for key, one in classifiers.items()}
    for key, pair in pairs.items():
        if len(pair) != 2:
            raise ValueError(f"classifiers[{key!r}] must be an estimator or a pair (estimator, grid)")
        check_has(pair[0], f"classifiers[{key!r}]", "fit predict get_params", "a classifier")
    check_choice(protocol, "protocol", PROTOCOLS)
    n_splits = check_scalar(n_splits, "n_splits", low=2, integer=True)
    seed = check_seed(random_state)
    if store is not None and not isinstance(random_state, int | np.integer):
        raise ValueError(f"random_state must be an int where cells are stored, got {random_state!r}")
    options = {"protocol": protocol, "max_seconds": max_seconds}
    shared = {key: make_partitions(y, n_splits=n_splits, random_state=seed) for key, (_, y) in datasets.items()}
    keys = [(d, c) for d in datasets for c in pairs]
    marks = {} if store is None else _marks(datasets, pairs, {**options, "n_splits": n_splits, "seed": seed})
    found = {key: _stored(store, key, marks) for key in keys}
    missing = [key for key in keys if found[key] is None]
    # A cell is written by the process that ran it, so that nothing is lost where the comparison is broken off.
    cells = Parallel(n_jobs=n_jobs)(
        delayed(_cell)(*datasets[d], shared[d], *pairs[c], options, _path(store, (d, c)), marks.get((d, c)))
        for d, c in missing
    )
    found.update(zip(missing, cells, strict=True))
    shape = len(datasets), len(pairs)
    tables = [
        np.array([found[k][w] for k in keys], dtype=float).reshape(shape) for w in ("accuracy", "kappa", "fit_seconds")
    ]
    errors = {key: found[key]["error"] for key in keys if found[key]["error"]}
    return Benchmark(tuple(datasets), tuple(pairs), *tables, errors, {key: found[key]["params"] for key in keys})


def rank_report(accuracy, *, names=None, level=0.05):
    """Ranks, Friedman's test and critical differences of a table of scores, with a sentence and a diagram.

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        At least two data sets and three classifiers; NaN is ranked last.
    names : sequence, optional
        Of the classifiers; those of the frame's columns by default.
    level : float, default=0.05

    Returns
    -------
    RankReport
        ``summary()`` prints, ``draw()`` draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = 0.8 + 0.02 * rng.normal(size=(30, 3)) - [0.0, 0.05, 0.005]
    >>> rank_report(table, names=["forest", "tree", "boosting"]).summary()
    3 classifiers on 30 data sets
    <BLANKLINE>
    classifier  rank
    boosting    1.43  |
    forest      1.57  |
    tree        3.00
    <BLANKLINE>
    The classifiers differ (Iman and Davenport, p = 2e-18).
    <BLANKLINE>
    Ranks farther apart than 0.61 differ at level 0.05 (Nemenyi).
    <BLANKLINE>
    Not worse than boosting by this test: forest.
    """
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    test = friedman_test(accuracy)
    ranks = check_finite_array(friedman_ranks(accuracy), "ranks", ndim=1)
    names = column_names(accuracy, ranks[None, :]) if names is None else list(names)
    if len(set(names)) != len(ranks):
        raise ValueError(f"names must hold a name of its own for each of the {len(ranks)} classifiers, got {names}")
    difference = nemenyi_difference(len(ranks), test.n_sets, level=level)
    groups = tuple(tuple(names[j] for j in group) for group in nemenyi_groups(ranks, difference))
    order = np.argsort(ranks, kind="stable")
    return RankReport(tuple(names[j] for j in order), ranks[order], test, difference, groups, level)


def _cell(X, y, partitions, estimator, grid, options, path, mark):
    score = evaluate(estimator, X, y, partitions, grid=grid, **options)
    kept = {name: getattr(score, name) for name in ("accuracy", "kappa", "fit_seconds", "error")}
    kept["params"] = [{name: _plain(value) for name, value in one.items()} for one in score.params]
    if path is not None:
        write_atomically(path, json.dumps({"mark": mark, **kept}))
    return kept


def _plain(value):
    """A parameter as JSON has it; other objects by their text."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _marks(datasets, pairs, options):
    """What a cell depends on, as a digest."""
    of_sets = {name: digest_of((np.asarray(y), X)) for name, (X, y) in datasets.items()}
    of_pairs = {name: repr((clone(one), sorted((grid or {}).items()))) for name, (one, grid) in pairs.items()}
    return {
        (d, c): hashlib.sha1(repr((of_sets[d], of_pairs[c], sorted(options.items(), key=str))).encode()).hexdigest()
        for d in datasets
        for c in pairs
    }


def _path(store, key):
    if store is None:
        return None
    readable = "-".join("".join(ch if ch.isalnum() else "_" for ch in name)[:40] for name in key)
    return Path(store) / f"{readable}-{hashlib.sha1(repr(key).encode()).hexdigest()[:8]}.json"


def _stored(store, key, marks):
    path = _path(store, key)
    if path is None or not path.exists():
        return None
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"store has a file that is no cell of a comparison: {path.name}") from error
    return kept if kept.get("mark") == marks[key] else None
