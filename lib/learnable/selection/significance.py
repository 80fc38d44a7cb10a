"""Is the winner better? Tests and intervals for a table of accuracies over data sets.

The source compares pairs by a t-test over data sets; Demsar (2006) gives the rank tests that suit such tables, Benavoli
et al. (2017) the Bayesian signed-rank test. The bootstrap draws data sets, the units that a claim about "data sets like
these" is about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from learnable.selection.multiple_tests import holm_pvalues
from learnable.selection.ranking import (
    SAME,
    _column,
    _named,
    _ranks,
    _table,
    column_names,
    columns_to_frame,
    import_pandas,
    is_frame,
)
from learnable.validation import Result, check_finite_array, check_rng, check_scalar

__all__ = [
    "FriedmanTest",
    "HolmComparisons",
    "PairComparison",
    "RankIntervals",
    "SignedRankProbabilities",
    "bayesian_signed_rank",
    "bootstrap_ranks",
    "compare_pair",
    "friedman_test",
    "holm_comparisons",
    "nemenyi_difference",
    "nemenyi_groups",
]

# The number of data sets up to which the law of the signed ranks is counted out: beyond 25 the normal law is good
# enough (Demsar 2006, Sec. 3.1.3).
MOST_EXACT = 25


@dataclass(frozen=True, eq=False)
class FriedmanTest(Result):
    """What `friedman_test` returns.

    Attributes
    ----------
    chi2, pvalue : float
        Friedman's statistic with the correction for ties, and its p-value from the chi-squared law.
    f, f_pvalue : float
        Iman and Davenport's form of it, less conservative, with the F law.
    n_sets, n_classifiers : int
    """

    chi2: float
    pvalue: float
    f: float
    f_pvalue: float
    n_sets: int
    n_classifiers: int


@dataclass(frozen=True, eq=False)
class PairComparison(Result):
    """What `compare_pair` returns; differences are first minus second.

    Attributes
    ----------
    wins, losses, ties : int
        Data sets.
    mean : float
        Mean difference.
    interval : ndarray of shape (2,)
        Its 95 % interval from the t law.
    t, pvalue : float
        Paired t-test over the data sets, as in the source.
    wilcoxon_pvalue : float
        Of the signed-rank test: exact for at most 25 data sets without ties, from the normal law else.
    gain, loss : float
        Sum of the positive, and minus the sum of the negative differences.
    """

    wins: int
    losses: int
    ties: int
    mean: float
    interval: np.ndarray
    t: float
    pvalue: float
    wilcoxon_pvalue: float
    gain: float
    loss: float


@dataclass(frozen=True, eq=False)
class HolmComparisons(Result):
    """What `holm_comparisons` returns: one entry for each other classifier, most significant first.

    Attributes
    ----------
    classifiers : list
        Names of the columns, or their numbers.
    wins, losses, ties : ndarray of int
        Data sets, of the control against it.
    mean : ndarray
        Mean differences, control minus the other.
    pvalue, holm : ndarray
        p-values of the signed-rank test, and corrected by Holm.
    """

    classifiers: list
    wins: np.ndarray
    losses: np.ndarray
    ties: np.ndarray
    mean: np.ndarray
    pvalue: np.ndarray
    holm: np.ndarray

    def to_frame(self):
        """A pandas frame with a row for each classifier."""
        return columns_to_frame(self, "classifiers")


@dataclass(frozen=True, eq=False)
class SignedRankProbabilities(Result):
    """What `bayesian_signed_rank` returns: probabilities that sum to 1.

    Attributes
    ----------
    first, equal, second : float
        That the first classifier is practically better, that they are equal, that the second is better.
    """

    first: float
    equal: float
    second: float


@dataclass(frozen=True, eq=False)
class RankIntervals(Result):
    """What `bootstrap_ranks` returns; frames and series if the table was a frame.

    Attributes
    ----------
    rank : Series or ndarray of shape (n_classifiers,)
        Mean ranks.
    low, high : Series or ndarray of shape (n_classifiers,)
        Ends of the interval of each mean rank.
    difference_low, difference_high : DataFrame or ndarray of shape (n_classifiers, n_classifiers)
        Ends of the interval of the rank of the row minus that of the column.
    first : Series or ndarray of shape (n_classifiers,)
        Share of the samples in which the classifier has the best mean rank.
    """

    rank: object
    low: object
    high: object
    difference_low: object
    difference_high: object
    first: object


def friedman_test(accuracy):
    """Do the classifiers differ at all? Friedman's test and Iman and Davenport's form of it. Cost O(N c log c).

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        At least two data sets and three classifiers; NaN is ranked as in `friedman_ranks`.

    Returns
    -------
    FriedmanTest

    Examples
    --------
    >>> found = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.5], [0.9, 0.6, 0.7], [0.8, 0.6, 0.4]])
    >>> round(found.chi2, 3), round(found.pvalue, 3)
    (6.5, 0.039)
    """
    table = _table(accuracy)
    N, c = table.shape
    if N < 2 or c < 3:
        raise ValueError(f"accuracy must have two data sets and three classifiers at least, got {N} and {c}")
    ranks = _ranks(table)
    spread = ((ranks - (c + 1) / 2) ** 2).sum()  # N c (c^2 - 1) / 12 without ties
    between = N * ((ranks.mean(axis=0) - (c + 1) / 2) ** 2).sum()
    if spread == 0:
        return FriedmanTest(0.0, 1.0, 0.0, 1.0, N, c)
    chi2 = N * (c - 1) * between / spread
    rest = N * (c - 1) - chi2
    f = (N - 1) * chi2 / rest if rest > 1e-9 * chi2 else np.inf
    tail = special.fdtrc(c - 1, (c - 1) * (N - 1), f)
    return FriedmanTest(float(chi2), float(special.chdtrc(c - 1, chi2)), float(f), float(tail), N, c)


def nemenyi_difference(n_classifiers, n_sets, *, level=0.05):
    """Critical difference of Nemenyi: mean ranks that differ by more are significantly different. Cost O(1).

    CD = q sqrt(c (c + 1) / (6 N)), with q the quantile of the range of c standard normal values over sqrt(2)
    (Demsar 2006, Sec. 3.2.2). It protects all c (c - 1) / 2 comparisons together.

    Parameters
    ----------
    n_classifiers, n_sets : int
        c and N.
    level : float in (0, 1), default=0.05
        Probability of any false difference.

    Returns
    -------
    float

    Examples
    --------
    >>> round(nemenyi_difference(4, 14), 3)
    1.254
    """
    c = check_scalar(n_classifiers, "n_classifiers", low=2, integer=True)
    N = check_scalar(n_sets, "n_sets", low=1, integer=True)
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    q = stats.studentized_range.ppf(1 - level, c, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(c * (c + 1) / (6 * N)))


def nemenyi_groups(ranks, difference):
    """Bars of a critical difference diagram: maximal runs of classifiers whose ranks lie within the difference.

    Cost O(c log c).

    Parameters
    ----------
    ranks : Series or array-like of shape (n_classifiers,)
        Mean ranks.
    difference : float
        From `nemenyi_difference`.

    Returns
    -------
    list of list
        Names (or numbers) from the best to the worst of each run with two members at least; no run lies in another.

    Examples
    --------
    >>> nemenyi_groups([1.2, 3.9, 2.0, 2.9], 1.0)
    [[0, 2], [2, 3], [3, 1]]
    """
    difference = check_scalar(difference, "difference", low=0)
    names = list(ranks.index) if hasattr(ranks, "iloc") else list(range(len(ranks)))
    values = check_finite_array(ranks, "ranks", ndim=1)
    order = np.argsort(values, kind="stable")
    ends = np.searchsorted(values[order], values[order] + difference, side="right")
    groups, reached = [], 0
    for start, end in enumerate(ends):
        if end > reached and end - start > 1:
            groups.append([names[i] for i in order[start:end]])
        reached = max(reached, end)
    return groups


def compare_pair(accuracy, first, second):
    """Compare two classifiers over the data sets on which neither failed. Cost O(N log N).

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        NaN for a failed cell.
    first, second : label or int
        Columns.

    Returns
    -------
    PairComparison

    Examples
    --------
    >>> found = compare_pair([[0.9, 0.8], [0.7, 0.75], [0.6, 0.6], [0.9, 0.7]], 0, 1)
    >>> found.wins, found.losses, found.ties, round(found.mean, 4)
    (2, 1, 1, 0.0625)
    """
    table = _table(accuracy)
    i, j = _column(accuracy, table, first, "first"), _column(accuracy, table, second, "second")
    gaps = table[:, i] - table[:, j]
    gaps = gaps[~np.isnan(gaps)]
    if len(gaps) < 2:
        raise ValueError("accuracy must have two data sets on which neither classifier failed")
    gaps[np.abs(gaps) <= SAME] = 0.0
    mean, error = gaps.mean(), gaps.std(ddof=1) / np.sqrt(len(gaps))
    half = stats.t(len(gaps) - 1).ppf(0.975) * error
    t = mean / error if error > 0 else np.sign(mean) * np.inf if mean else 0.0
    return PairComparison(
        int((gaps > 0).sum()),
        int((gaps < 0).sum()),
        int((gaps == 0).sum()),
        float(mean),
        np.array([mean - half, mean + half]),
        float(t),
        float(2 * stats.t(len(gaps) - 1).sf(abs(t))),
        _wilcoxon(gaps),
        float(gaps[gaps > 0].sum()),
        float(-gaps[gaps < 0].sum()),
    )


def _wilcoxon(gaps):
    """p-value of the signed-rank test; ties are shared between the signs, as Demsar (2006) does it.

    Exact for up to 25 data sets that all differ, by different amounts; else from the normal law.
    """
    if not gaps.any():
        return 1.0
    gaps = np.round(gaps, 12)
    plain = len(gaps) <= MOST_EXACT and gaps.all() and len(np.unique(np.abs(gaps))) == len(gaps)
    return float(stats.wilcoxon(gaps, zero_method="zsplit", method="exact" if plain else "approx").pvalue)


def holm_comparisons(accuracy, control):
    """Wilcoxon's signed-rank test of one classifier against all others, corrected by Holm. Cost O(c N log N).

    The p-values in increasing order are multiplied by c - 1, c - 2, ..., 1 and kept from falling, so that the
    probability of any false difference is at most the level.

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        NaN for a failed cell; such data sets are left out of that comparison.
    control : label or int
        The column that is compared with all others.

    Returns
    -------
    HolmComparisons
        Its `to_frame` gives a pandas frame.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = holm_comparisons(0.8 + 0.02 * rng.normal(size=(20, 3)) - [0.0, 0.05, 0.0], 0)
    >>> found.classifiers, found.holm.round(3).tolist()
    ([1, 2], [0.0, 0.571])
    """
    table = _table(accuracy)
    column = _column(accuracy, table, control, "control")
    names = column_names(accuracy, table)
    others = [j for j in range(table.shape[1]) if j != column]
    pairs = [compare_pair(table, column, j) for j in others]
    pvalue = np.array([pair.wilcoxon_pvalue for pair in pairs])
    order = np.argsort(pvalue)
    pairs, pvalue = [pairs[k] for k in order], pvalue[order]
    wins, losses, ties = (np.array([getattr(p, n) for p in pairs], dtype=int) for n in ("wins", "losses", "ties"))
    mean = np.array([pair.mean for pair in pairs])
    return HolmComparisons(
        [names[others[k]] for k in order], wins, losses, ties, mean, pvalue, np.asarray(holm_pvalues(pvalue))
    )


def bayesian_signed_rank(accuracy, first, second, *, rope=0.01, n_samples=5_000, random_state=None):
    """Probabilities that one classifier is practically better, equal or worse on a further data set.

    The differences and a pseudo-difference 0 get Dirichlet weights; the share of weighted pairs (i, j) whose mean
    difference lies above, within or below the region of practical equivalence is computed for each draw, and counted
    for the largest of the three (Benavoli et al. 2017). Cost O(n_samples N^2).

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        NaN for a failed cell.
    first, second : label or int
        Columns.
    rope : float, default=0.01
        Differences up to it count as none, in the unit of the table.
    n_samples : int, default=5000
        Draws.
    random_state : None, int or Generator
        For the weights.

    Returns
    -------
    SignedRankProbabilities

    Examples
    --------
    >>> table = [[0.95, 0.8], [0.9, 0.75], [0.86, 0.8], [0.9, 0.7], [0.8, 0.7]]
    >>> bayesian_signed_rank(table, 0, 1, random_state=0).first > 0.9
    True
    """
    table = _table(accuracy)
    i, j = _column(accuracy, table, first, "first"), _column(accuracy, table, second, "second")
    rope = check_scalar(rope, "rope", low=0)
    n_samples = check_scalar(n_samples, "n_samples", low=1, high=10**7, integer=True)
    rng = check_rng(random_state)
    gaps = table[:, i] - table[:, j]
    gaps = np.append(gaps[~np.isnan(gaps)], 0.0)
    if len(gaps) < 2:
        raise ValueError("accuracy must have a data set on which neither classifier failed")
    means = (gaps[:, None] + gaps) / 2
    weights = rng.dirichlet(np.append(np.ones(len(gaps) - 1), 0.5), size=n_samples)
    above, below = ((weights @ (side > rope + SAME) * weights).sum(axis=1) for side in (means, -means))
    shares = np.column_stack([above, 1 - above - below, below])
    won = np.bincount(shares.argmax(axis=1), minlength=3) / n_samples
    return SignedRankProbabilities(*won.tolist())


def bootstrap_ranks(accuracy, *, n_samples=2_000, level=0.05, random_state=None):
    """Intervals for mean ranks and their differences by drawing data sets with replacement.

    One matrix product of counts and ranks gives all samples. Cost O(n_samples N c + n_samples c^2).

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        NaN is ranked as in `friedman_ranks`.
    n_samples : int, default=2000
        Bootstrap samples.
    level : float in (0, 1), default=0.05
        1 minus the confidence of each interval.
    random_state : None, int or Generator
        For the samples.

    Returns
    -------
    RankIntervals

    Examples
    --------
    >>> found = bootstrap_ranks([[0.9, 0.8], [0.8, 0.7], [0.7, 0.75], [0.9, 0.6]], random_state=0)
    >>> found.rank, float(found.low[0]) >= 1
    (array([1.25, 1.75]), True)
    """
    table = _table(accuracy)
    n_samples = check_scalar(n_samples, "n_samples", low=1, high=10**7, integer=True)
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    rng = check_rng(random_state)
    ranks = _ranks(table)
    N, c = ranks.shape
    drawn = rng.multinomial(N, np.full(N, 1 / N), size=n_samples) @ ranks / N
    ends = [level / 2, 1 - level / 2]
    low, high = np.quantile(drawn, ends, axis=0)
    below, above = np.array([np.quantile(drawn[:, [i]] - drawn, ends, axis=0) for i in range(c)]).transpose(1, 0, 2)
    best = drawn <= drawn.min(axis=1, keepdims=True) + SAME
    first = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    if is_frame(accuracy):
        frame = import_pandas().DataFrame
        below, above = (frame(side, accuracy.columns, accuracy.columns) for side in (below, above))
    named = [
        _named(v, accuracy, n)
        for v, n in ((ranks.mean(axis=0), "rank"), (low, "low"), (high, "high"), (first, "first"))
    ]
    return RankIntervals(*named[:3], below, above, named[3])
