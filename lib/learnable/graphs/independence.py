"""Tests of conditional independence: on data, and perfect or listed answers for theory and worked examples.

A test has ``n_nodes``, ``independent(i, j, given)`` and ``n_tests``; algorithms that learn graphs from independences
take any object with these. For Gaussian data the partial correlation rho of i and j given S is compared with zero by
Fisher's transformation: independent if sqrt(n - |S| - 3) |atanh(rho)| <= Phi^-1(1 - alpha/2), which is the same as
|rho| <= tanh(...) and needs no logarithm for a test.

Sources: Colombo and Maathuis 2014, Sec. 3.2; Kalisch and Buehlmann 2007, Sec. 2.2.2; Harris and Drton 2013 (ranks).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import stats

from learnable.graphs._walks import separated
from learnable.validation import (
    check_choice,
    check_finite_array,
    check_has,
    check_magnitude,
    check_scalar,
    check_symmetric,
)

__all__ = [
    "GSquareIndependence",
    "GaussianIndependence",
    "ListedIndependence",
    "OracleIndependence",
    "partial_correlation",
]

# A variance that remains of a standardised variable below this share is rounding: the variable is a function of others.
NOTHING = 1e-11

WHOLE = (int, np.integer)  # a tuple: a union would be built anew for each of many questions


class _CITest:
    """Counts questions by the size of the conditioning set, and checks the nodes."""

    n_nodes = 0

    def _start(self, n_nodes):
        self.n_nodes = n_nodes
        self._counts = {}

    @property
    def n_tests(self):
        """The number of questions answered so far."""
        return sum(self._counts.values())

    @property
    def tests_by_size(self):
        """How many of them had a conditioning set of 0, 1, 2, ... nodes."""
        return tuple(self._counts.get(size, 0) for size in range(max(self._counts, default=-1) + 1))

    def _count(self, size, number=1):
        self._counts[size] = self._counts.get(size, 0) + number

    def _question(self, i, j, given):
        try:
            given = (given,) if isinstance(given, WHOLE) else tuple(given)
        except TypeError:
            raise TypeError(f"given must be a node or an iterable of nodes, got {type(given).__name__}") from None
        for node in (i, j, *given):
            if not isinstance(node, WHOLE) or isinstance(node, bool) or not 0 <= node < self.n_nodes:
                raise ValueError(f"i, j and given must name nodes 0, ..., {self.n_nodes - 1}, got {node!r}")
        if i == j or i in given or j in given or len(set(given)) < len(given):
            raise ValueError(f"i, j and given must be distinct, got {i}, {j} and {given}")
        self._count(len(given))
        return given


class GaussianIndependence(_CITest):
    """Test partial correlations against zero with Fisher's transformation.

    Parameters
    ----------
    data : array-like of shape (n, p), optional
        Rows are observations. Constant columns, copies of a column and missing values are refused.
    alpha : float, default=0.01
        Level of each single test, in (0, 1); there is no correction for their number.
    covariance : array-like of shape (p, p), optional
        In place of `data`, together with `n_samples`.
    n_samples : int, optional
        Sample size behind `covariance`, at least 4.
    correlation : {"pearson", "spearman", "kendall"}, default="pearson"
        Ranks are turned into correlations of a Gaussian copula by 2 sin(pi r/6) and sin(pi t/2) (Harris and Drton
        2013); only with `data`.

    Notes
    -----
    For n - |S| <= 3 there is no test: nothing speaks against independence and the answer is True. If i or j is a
    linear function of S, its rest is constant and the answer is True as well. O(|S|^3) a test.

    Examples
    --------
    >>> chain = np.linalg.inv([[1.0, -0.5, 0.0], [-0.5, 1.25, -0.5], [0.0, -0.5, 1.0]])
    >>> ci_test = GaussianIndependence(covariance=chain, n_samples=1000)
    >>> ci_test.independent(0, 2), ci_test.independent(0, 2, [1]), ci_test.tests_by_size
    (False, True, (1, 1))
    """

    def __init__(self, data=None, alpha=0.01, *, covariance=None, n_samples=None, correlation="pearson"):
        self.alpha = check_scalar(alpha, "alpha", low=0, high=1, closed="neither")
        kind = check_choice(correlation, "correlation", ("pearson", "spearman", "kendall"))
        if (data is None) == (covariance is None):
            raise ValueError("either data or covariance must be given")
        if data is not None:
            if n_samples is not None:
                raise ValueError("n_samples must be left out where data are given: it is their number of rows")
            data = check_magnitude(check_finite_array(data, "data", ndim=2), "data")
            self.n_samples = len(data)
            if self.n_samples < 4:
                raise ValueError(f"data must have at least 4 rows for a test of correlation, got {self.n_samples}")
            self.correlation = _data_correlation(data, kind)
        else:
            if kind != "pearson":
                raise ValueError(f"correlation must be 'pearson' where covariance is given, got {kind!r}")
            self.n_samples = check_scalar(n_samples, "n_samples", low=4, integer=True)
            self.correlation = _covariance_correlation(check_symmetric(covariance, "covariance", allow_empty=True))
        _refuse_copies(self.correlation, "data" if covariance is None else "covariance")
        self.correlation.setflags(write=False)
        self._start(len(self.correlation))

    def thresholds(self, largest):
        """The largest |rho| judged independent for |S| = 0, ..., `largest`; 1 where there is no test.

        Parameters
        ----------
        largest : int

        Examples
        --------
        >>> GaussianIndependence(covariance=np.eye(2), n_samples=4).thresholds(1).round(3).tolist()
        [0.988, 1.0]
        """
        sizes = np.arange(check_scalar(largest, "largest", low=0, high=10**6, integer=True) + 1)
        room = self.n_samples - sizes - 3
        cut = stats.norm.isf(self.alpha / 2)
        return np.where(room > 0, np.tanh(cut / np.sqrt(np.maximum(room, 1))), 1.0)

    def independent(self, i, j, given=()):
        """Whether i and j are judged independent given the nodes `given`."""
        given = self._question(i, j, given)
        if self.n_samples - len(given) <= 3:
            return True
        rho = _partial(self.correlation, i, j, np.array(given, dtype=np.int64))
        return bool(abs(rho) <= self.thresholds(len(given))[-1])

    def p_value(self, i, j, given=()):
        """The two-sided p-value of the same test; 1 where there is no test."""
        given = self._question(i, j, given)
        room = self.n_samples - len(given) - 3
        if room <= 0:
            return 1.0
        rho = _partial(self.correlation, i, j, np.array(given, dtype=np.int64))
        return float(2 * stats.norm.sf(np.sqrt(room) * abs(np.arctanh(min(abs(rho), 1 - 1e-16)))))


class OracleIndependence(_CITest):
    """Perfect answers: d-separation in a known DAG, of which some nodes may be hidden.

    Parameters
    ----------
    dag : DAG
    hidden : iterable of int, default=()
        Nodes that nobody observes. The others are renumbered 0, 1, ... in their order (`observed` has their names).

    Examples
    --------
    >>> from learnable.graphs.dags import DAG
    >>> confounded = DAG.from_edges(3, [(0, 1), (0, 2)])
    >>> OracleIndependence(confounded).independent(1, 2, [0]), OracleIndependence(confounded, [0]).independent(0, 1)
    (True, False)
    """

    def __init__(self, dag, hidden=()):
        check_has(dag, "dag", "_lists adjacency n_nodes", "a DAG")
        hidden = {check_scalar(i, "hidden", low=0, high=dag.n_nodes - 1, integer=True) for i in hidden}
        self.dag, self.hidden = dag, tuple(sorted(hidden))
        self.observed = tuple(i for i in range(dag.n_nodes) if i not in hidden)
        self._known = {}
        self._start(len(self.observed))

    def independent(self, i, j, given=()):
        """Whether i and j are d-separated by `given`; each question is worked out once."""
        given = self._question(i, j, given)
        key = (min(i, j), max(i, j), frozenset(given))
        if key not in self._known:
            flat = np.array([self.observed[k] for k in (i, j, *given)], dtype=np.int64)
            self._known[key] = bool(separated(self.dag._lists, np.array([0, 1, 2, len(flat)]), flat)[0])
        return self._known[key]


class ListedIndependence(_CITest):
    """Answers from a list: independent if it says so, dependent otherwise.

    Parameters
    ----------
    n_nodes : int
    statements : iterable of (i, j) or (i, j, given)
        The independences; i and j may be exchanged.

    Examples
    --------
    >>> ci_test = ListedIndependence(3, [(0, 2, [1])])
    >>> ci_test.independent(2, 0, [1]), ci_test.independent(0, 2)
    (True, False)
    """

    def __init__(self, n_nodes, statements):
        self._start(check_scalar(n_nodes, "n_nodes", low=0, integer=True))
        known = set()
        for statement in statements:
            try:
                i, j, given = statement if len(statement) == 3 else (*statement, ())
            except (TypeError, ValueError):
                raise ValueError(f"statements must be (i, j) or (i, j, given), got {statement!r}") from None
            known.add((frozenset((i, j)), frozenset(self._question(i, j, given))))
        self.statements = frozenset(known)
        self._counts = {}

    def independent(self, i, j, given=()):
        """Whether the list has the statement."""
        given = self._question(i, j, given)
        return (frozenset((i, j)), frozenset(given)) in self.statements


class GSquareIndependence(_CITest):
    """The likelihood-ratio test for discrete columns, G^2 = 2 sum N log(N N_s / (N_i N_j)), stratum by stratum.

    Degrees of freedom are (rows - 1)(columns - 1) in each stratum of the conditioning columns, counting rows and
    columns that occur there (so that empty strata cost nothing). O(n) a test.

    Parameters
    ----------
    data : array-like of shape (n, p)
        Each column holds the values of a discrete variable: integers, booleans or strings.
    alpha : float, default=0.01
        Level of each single test, in (0, 1).

    Examples
    --------
    >>> x = np.tile([0, 0, 1, 1], 25)
    >>> ci_test = GSquareIndependence(np.column_stack([x, x, np.tile([0, 1], 50)]))
    >>> ci_test.independent(0, 1), ci_test.independent(0, 2)
    (False, True)
    """

    def __init__(self, data, alpha=0.01):
        self.alpha = check_scalar(alpha, "alpha", low=0, high=1, closed="neither")
        array = np.asarray(data)
        if array.ndim != 2 or array.dtype.kind not in "biufUSO":
            raise ValueError(f"data must be a table of discrete values, got {array.dtype} of shape {array.shape}")
        if array.dtype.kind == "f":
            array = check_finite_array(array, "data")
            if (array != np.round(array)).any():
                raise ValueError("data must be discrete, but some values are not whole numbers: bin them first")
        if len(array) == 0:
            raise ValueError("data must have at least one row")
        try:
            columns = [np.unique(column, return_inverse=True) for column in array.T]
        except TypeError:
            raise ValueError("data must hold values of one kind in each column, and none missing") from None
        self.n_samples, self.n_states = len(array), tuple(len(values) for values, _ in columns)
        self._codes = np.array([codes for _, codes in columns], dtype=np.int64).reshape(array.shape[1], -1)
        self._start(array.shape[1])

    def statistic(self, i, j, given=()):
        """G^2 and its degrees of freedom."""
        given = self._question(i, j, given)
        stratum, n_strata = np.zeros(self.n_samples, dtype=np.int64), 1
        for k in given:
            # Numbering those that occur keeps the table as small as the data, whatever the number of columns.
            values, stratum = np.unique(stratum * self.n_states[k] + self._codes[k], return_inverse=True)
            n_strata = len(values)
        shape = (n_strata, self.n_states[i], self.n_states[j])
        table = np.bincount(
            (stratum * shape[1] + self._codes[i]) * shape[2] + self._codes[j], minlength=np.prod(shape)
        ).reshape(shape)
        rows, columns = table.sum(axis=2), table.sum(axis=1)
        here = table > 0
        expected = rows[:, :, None] * columns[:, None, :] / rows.sum(axis=1)[:, None, None]
        g = 2 * float((table[here] * np.log(table[here] / expected[here])).sum())
        freedom = int((np.maximum((rows > 0).sum(axis=1) - 1, 0) * np.maximum((columns > 0).sum(axis=1) - 1, 0)).sum())
        return max(g, 0.0), freedom

    def independent(self, i, j, given=()):
        """Whether i and j are judged independent given `given`; True where no degree of freedom is left."""
        g, freedom = self.statistic(i, j, given)
        return freedom == 0 or bool(stats.chi2.sf(g, freedom) >= self.alpha)


def partial_correlation(covariance, i, j, given=()):
    """The correlation of what remains of i and j after regression on `given`. O(|S|^3).

    It is 0 where i or j is a linear function of `given`: nothing remains.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
        Of which correlations follow; positive variances.
    i, j : int
        Two columns.
    given : iterable of int, default=()
        The columns S.

    Returns
    -------
    float

    Examples
    --------
    >>> partial_correlation([[1, 0.5, 0.5], [0.5, 1, 0.25], [0.5, 0.25, 1]], 1, 2, [0])
    0.0
    """
    ci_test = _CITest()
    correlation = _covariance_correlation(check_symmetric(covariance, "covariance"))
    ci_test._start(len(correlation))
    given = ci_test._question(i, j, given)
    return float(_partial(correlation, i, j, np.array(given, dtype=np.int64)))


def _data_correlation(data, kind):
    """Correlations of the columns, with ranks transformed to those of a Gaussian copula."""
    spread = data.max(axis=0, initial=-np.inf) - data.min(axis=0, initial=np.inf)
    # A column that is constant up to rounding has no correlation with anything.
    constant = np.flatnonzero(spread <= 1e-14 * np.abs(data).max(axis=0, initial=0.0))
    if len(constant):
        raise ValueError(f"data must have no constant column, but column {constant[0]} is: leave it out")
    if kind == "kendall":
        p = data.shape[1]
        C = np.eye(p)
        for i in range(p):
            for j in range(i):
                C[i, j] = C[j, i] = np.sin(np.pi / 2 * stats.kendalltau(data[:, i], data[:, j])[0])
        return C
    if kind == "spearman":
        data = stats.rankdata(data, axis=0)
    centred = data - data.mean(axis=0)
    centred = centred / np.abs(centred).max(axis=0, initial=0.0)  # columns in units of 1e-100 must not underflow
    scaled = centred / np.sqrt((centred**2).sum(axis=0))
    C = scaled.T @ scaled
    C = 2 * np.sin(np.pi / 6 * C) if kind == "spearman" else C
    return _tidied(C)


def _covariance_correlation(covariance):
    variances = np.diagonal(covariance)
    if (variances <= 0).any():
        i = int(np.argmin(variances))
        raise ValueError(f"covariance must have positive variances, got {variances[i]:g} for column {i}")
    root = np.sqrt(variances)
    C = covariance / root / root[:, None]
    if np.abs(C).max(initial=0.0) > 1 + 1e-8:
        i, j = np.unravel_index(np.abs(C).argmax(), C.shape)
        raise ValueError(
            f"covariance must be positive semi-definite, but columns {i}, {j} have correlation {C[i, j]:g}"
        )
    return _tidied(C)


def _tidied(C):
    C = np.clip((C + C.T) / 2, -1.0, 1.0)
    np.fill_diagonal(C, 1.0)
    return C


def _refuse_copies(C, name):
    copies = np.argwhere(np.triu(np.abs(C) > 1 - 1e-13, 1))
    if len(copies):
        i, j = copies[0]
        raise ValueError(
            f"{name} must have no copies among the columns, but {i} and {j} have correlation {C[i, j]:.0f}: "
            "no test can tell them apart, leave one out"
        )


@njit(cache=True)
def _partial(C, i, j, S):
    """Partial correlation of i and j given S from a correlation matrix."""
    return _partial_in(C, i, j, S, len(S), np.empty((len(S) + 2, len(S))))


@njit(cache=True)
def _partial_in(C, i, j, S, size, work):
    """The same for the first `size` members of S, by a Cholesky factor of C[S, S] that skips redundant columns.

    `work` has size + 2 rows of `size` numbers: the factor, and below it the solutions for i and for j.
    """
    if size == 0:
        return C[i, j]
    uu, vv, uv = 0.0, 0.0, 0.0
    if size == 1:
        x, y = C[S[0], i], C[S[0], j]
        uu, vv, uv = x * x, y * y, x * y
    else:
        u, v = work[size], work[size + 1]
        for a in range(size):
            pivot, x, y = 1.0, C[S[a], i], C[S[a], j]
            for b in range(a):
                entry = C[S[a], S[b]]
                for c in range(b):
                    entry -= work[a, c] * work[b, c]
                entry = entry / work[b, b] if work[b, b] > 0.0 else 0.0
                work[a, b] = entry
                pivot -= entry * entry
                x -= entry * u[b]
                y -= entry * v[b]
            keep = pivot > NOTHING
            work[a, a] = np.sqrt(pivot) if keep else 0.0
            u[a], v[a] = (x / work[a, a], y / work[a, a]) if keep else (0.0, 0.0)
            uu += u[a] * u[a]
            vv += v[a] * v[a]
            uv += u[a] * v[a]
    if 1.0 - uu <= NOTHING or 1.0 - vv <= NOTHING:
        return 0.0
    rho = (C[i, j] - uv) / np.sqrt((1.0 - uu) * (1.0 - vv))
    return min(max(rho, -1.0), 1.0)
