"""Concepts given by a rule: every row can be enumerated, or drawn, and its right label is known.

Attributes are small integers, classes 0, 1, ... The tables agree with the stored sets of the same name where there
is one (the tests check it).
"""

import itertools

import numpy as np
from sklearn.utils import Bunch

from learnable.datasets._simulate import answer, check_size
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = [
    "almost_disjoint_triples",
    "boolean_function",
    "make_balance_scale",
    "make_balloons",
    "make_corral",
    "make_led",
    "make_m_of_n",
    "make_monks",
    "make_tic_tac_toe",
]


def _grid(sizes):
    """All combinations of values 0..size-1, the last attribute running fastest."""
    return np.array(list(itertools.product(*map(range, sizes))))


def make_monks(problem=1, *, one_hot=False, return_X_y=False):
    """The 432 combinations of a monk's problem (Thrun et al. 1991), attributes with 3, 3, 2, 3, 4, 2 values.

    1: a1 = a2 or a5 = 1. 2: exactly two attributes have their first value. 3: (a5 = 3 and a4 = 1) or (a5 != 4 and
    a2 != 3). Values are coded from 0 here. The original training rows are stored as monks_1, monks_2, monks_3.

    Parameters
    ----------
    problem : {1, 2, 3}, default=1
    one_hot : bool, default=False
        17 bits instead of six attributes.
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> [int(make_monks(p).target.sum()) for p in (1, 2, 3)]
    [216, 142, 228]
    """
    check_choice(problem, "problem", (1, 2, 3))
    sizes = (3, 3, 2, 3, 4, 2)
    X = _grid(sizes)
    a = X.T
    rules = {
        1: (a[0] == a[1]) | (a[4] == 0),
        2: (X == 0).sum(axis=1) == 2,
        3: ((a[4] == 2) & (a[3] == 0)) | ((a[4] != 3) & (a[1] != 2)),
    }
    data = np.hstack([X[:, [j]] == np.arange(s) for j, s in enumerate(sizes)]) if one_hot else X
    return answer(data.astype(np.float64), rules[problem].astype(int), return_X_y)


def make_balance_scale(*, return_X_y=False):
    """All 625 scales: weights and distances 1..5 left and right; class 0 left, 1 balanced, 2 right.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> np.bincount(make_balance_scale().target).tolist()
    [288, 49, 288]
    """
    X = _grid((5, 5, 5, 5)) + 1
    torque = X[:, 2] * X[:, 3] - X[:, 0] * X[:, 1]
    return answer(X.astype(np.float64), np.sign(torque) + 1, return_X_y)


def make_balloons(*, return_X_y=False):
    """The 16 balloons: colour, size, act, age; class 1 (inflated) iff yellow and small, or adult and stretch.

    Codes: yellow 0, purple 1; small 0, large 1; stretch 0, dip 1; adult 0, child 1.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> int(make_balloons().target.sum())
    7
    """
    X = _grid((2, 2, 2, 2))
    inflated = (X[:, :2] == 0).all(axis=1) | (X[:, 2:] == 0).all(axis=1)
    return answer(X.astype(np.float64), inflated.astype(int), return_X_y)


def make_tic_tac_toe(*, return_X_y=False):
    """The 958 boards at the end of tic-tac-toe when x begins; class 1 iff x has won. Codes: blank 0, o 1, x 2.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> X, y = make_tic_tac_toe(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((958, 9), 626)
    """
    boards = _grid((3,) * 9)
    lines = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])
    wins = [(boards[:, lines] == player).all(axis=2) for player in (1, 2)]
    o_won, x_won = (w.any(axis=1) for w in wins)
    n_o, n_x = ((boards == player).sum(axis=1) for player in (1, 2))
    # x ends the game with one mark more, o with as many; two lines of one player must share the last mark.
    ends_x = x_won & ~o_won & (n_x == n_o + 1)
    ends_o = o_won & ~x_won & (n_x == n_o)
    drawn = ~o_won & ~x_won & (n_x == 5) & (n_o == 4)
    keep = ends_x | ends_o | drawn
    return answer(boards[keep].astype(np.float64), x_won[keep].astype(int), return_X_y)


_SEGMENTS = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ]
)


def make_led(n_samples=1000, *, n_irrelevant=17, flip=0.1, label_noise=0.0, random_state=None, return_X_y=False):
    """Seven segments of a broken display, and irrelevant fair bits (Breiman et al. 1984).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_irrelevant : int, default=17
        17 gives LED-24; 143 with ``flip=0`` and ``label_noise=0.1`` gives LED-150 (Stracuzzi and Utgoff 2004).
    flip : float, default=0.1
        Probability that a segment is shown wrongly.
    label_noise : float, default=0
        Share of labels that are replaced by a uniformly drawn digit.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        ``bayes_risk`` is exact, by enumeration of the 128 displays (0.26 for the defaults).

    Examples
    --------
    >>> made = make_led(20, random_state=0)
    >>> made.data.shape, round(made.bayes_risk, 4)
    ((20, 24), 0.26)
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    extra = check_size(n_irrelevant, "n_irrelevant", low=0)
    flip = check_scalar(flip, "flip", low=0, high=1)
    label_noise = check_scalar(label_noise, "label_noise", low=0, high=1)
    digit = rng.integers(10, size=n)
    shown = _SEGMENTS[digit] ^ (rng.random((n, 7)) < flip)
    X = np.hstack([shown, rng.integers(2, size=(n, extra))]).astype(np.float64)
    y = np.where(rng.random(n) < label_noise, rng.integers(10, size=n), digit)
    displays = _grid((2,) * 7)
    wrong = (displays[:, None] != _SEGMENTS).sum(axis=2)
    joint = 0.1 * flip**wrong * (1 - flip) ** (7 - wrong)
    joint = (1 - label_noise) * joint + label_noise * joint.sum(axis=1, keepdims=True) / 10
    return answer(X, y, return_X_y, digit=digit, relevant=np.arange(7), bayes_risk=float(1 - joint.max(axis=1).sum()))


def make_corral(kind="exact", n_samples=512, *, random_state=None, return_X_y=False):
    """CorrAL: Y = (A0 and A1) or (B0 and B1), an irrelevant bit and one correlated with the class (John et al. 1994).

    Parameters
    ----------
    kind : {"exact", "random", "47", "46"}, default="exact"
        * "exact": all 32 combinations of A0, A1, B0, B1, I, four times, R equal to Y in three of the four: 128 rows.
        * "random": `n_samples` draws of the same.
        * "47" (Yu and Liu 2004): A0, A1, B0, B1, R, then 14 irrelevant inputs (two fair bits and six copies or
          complements of each), then for each of the four relevant bits seven copies with 0, 1/16, ..., 6/16 of the
          entries flipped. "46" is the same without R.
    n_samples : int, default=512
        Number of rows.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        With ``feature_names`` and ``relevant``, the indices of A0, A1, B0, B1.

    Examples
    --------
    >>> made = make_corral()
    >>> made.data.shape, made.feature_names
    ((128, 6), ['A0', 'A1', 'B0', 'B1', 'I', 'R'])
    """
    check_choice(kind, "kind", ("exact", "random", "47", "46"))
    n, rng = check_size(n_samples), check_rng(random_state)
    names = ["A0", "A1", "B0", "B1"]
    if kind == "exact":
        bits = np.repeat(_grid((2,) * 5), 4, axis=0)
        lies = np.arange(len(bits)) % 4 == 3
    else:
        bits = rng.integers(2, size=(n, 5))
        lies = rng.random(n) < 0.25
    four = bits[:, :4]
    y = (four[:, 0] & four[:, 1]) | (four[:, 2] & four[:, 3])
    correlated = (y ^ lies)[:, None]
    truth = {"relevant": np.arange(4)}
    if kind in ("exact", "random"):
        data = np.hstack([bits, correlated]).astype(np.float64)
        return answer(data, y, return_X_y, feature_names=[*names, "I", "R"], **truth)
    pair = rng.integers(2, size=(n, 2))
    turned = np.repeat(pair, 6, axis=1) ^ (np.arange(12) % 2)
    flips = np.zeros((n, 28), dtype=bool)
    for column in range(28):
        flips[rng.permutation(n)[: round(n * (column % 7) / 16)], column] = True
    copies = np.repeat(four, 7, axis=1) ^ flips
    blocks = [four, correlated, pair, turned, copies]
    names += ["R", "I0", "I1", *(f"I{i // 6}_{i % 6}" for i in range(12))]
    names += [f"{b}~{j}" for b in ("A0", "A1", "B0", "B1") for j in range(7)]
    if kind == "46":
        blocks.pop(1)
        names.remove("R")
    return answer(np.hstack(blocks).astype(np.float64), y, return_X_y, feature_names=names, **truth)


def make_m_of_n(n_samples=1000, *, m=7, n_relevant=10, d=100, random_state=None, return_X_y=False):
    """d fair bits, class 1 iff at least m of `n_relevant` hidden ones are set (Stracuzzi and Utgoff 2004: 7 of 10).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    m : int, default=7
    n_relevant : int, default=10
    d : int, default=100
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_m_of_n(5, random_state=0).relevant.shape
    (10,)
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    d = check_size(d, "d")
    r = check_scalar(n_relevant, "n_relevant", low=1, high=d, integer=True)
    m = check_scalar(m, "m", low=0, high=r, integer=True)
    relevant = np.sort(rng.permutation(d)[:r])
    X = rng.integers(2, size=(n, d))
    y = (X[:, relevant].sum(axis=1) >= m).astype(int)
    return answer(X.astype(np.float64), y, return_X_y, relevant=relevant)


def almost_disjoint_triples(n=20, m=12, *, random_state=None):
    """m triples of 0..n-1, no two sharing more than one element: instances of one-in-three satisfiability.

    Drawn one after the other, uniformly among all triples, and rejected if they share two elements with an earlier one.

    Parameters
    ----------
    n : int, default=20
    m : int, default=12
    random_state : None, int or Generator

    Examples
    --------
    >>> almost_disjoint_triples(9, 4, random_state=0).shape
    (4, 3)
    """
    n, m, rng = check_size(n, "n", low=3), check_size(m, "m"), check_rng(random_state)
    if m > n * (n - 1) // 6:
        raise ValueError(f"at most {n * (n - 1) // 6} triples of {n} elements share at most one, got m={m}")
    triples, pairs = [], set()
    for _ in range(2000 * m):
        triple = sorted(int(i) for i in rng.permutation(n)[:3])
        inside = set(itertools.combinations(triple, 2))
        if not inside & pairs:
            triples.append(triple)
            pairs |= inside
            if len(triples) == m:
                return np.array(triples)
    raise ValueError(f"no {m} almost disjoint triples of {n} elements were found; ask for fewer")


def boolean_function(kind="parity", n=10, *, size=3, terms=3, flip=0.0, random_state=None):
    """The truth table of a Boolean function f: {-1, 1}^n -> {-1, 1}, as 2^n values (int8).

    Row b has x_i = 1 - 2 * (bit i of b). Used by learners of parities, formulas and juntas.

    Parameters
    ----------
    kind : {"parity", "majority", "top", "dnf", "tree", "junta", "random"}, default="parity"
        Parity of `size` random variables; majority of all (odd n) or of the first n - 1; TOP, the sign of the sum of
        `terms` random parities of `size` variables (odd `terms`); DNF with `terms` terms of `size` literals
        (-1 is true); a decision tree of depth `size`; a random table on `size` variables; a random table.
    n : int, default=10
    size, terms : int
    flip : float, default=0
        Share of the table that is negated at random places.
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``table``, ``clean`` (before flipping) and ``relevant`` (sorted indices).

    Examples
    --------
    >>> made = boolean_function("parity", 4, size=4)
    >>> made.table[:4].tolist(), made.relevant.tolist()
    ([1, -1, -1, 1], [0, 1, 2, 3])
    """
    check_choice(kind, "kind", ("parity", "majority", "top", "dnf", "tree", "junta", "random"))
    n = check_scalar(n, "n", low=1, high=24, integer=True)
    size = check_scalar(size, "size", low=1, high=n, integer=True)
    terms, rng = check_size(terms, "terms"), check_rng(random_state)
    flip = check_scalar(flip, "flip", low=0, high=1)
    if kind == "top" and terms % 2 == 0:
        raise ValueError(f"terms must be odd for a threshold of parities, got {terms}")
    x = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.int8)
    relevant = np.arange(n)
    if kind == "parity":
        relevant = np.sort(rng.permutation(n)[:size])
        table = x[:, relevant].prod(axis=1)
    elif kind == "majority":
        relevant = np.arange(n if n % 2 else n - 1) if n > 1 else relevant
        table = np.sign(x[:, relevant].sum(axis=1))
    elif kind == "top":
        chosen = [rng.permutation(n)[:size] for _ in range(terms)]
        relevant = np.unique(np.concatenate(chosen))
        table = np.sign(sum(x[:, c].prod(axis=1).astype(int) for c in chosen))
    elif kind == "dnf":
        chosen = [rng.permutation(n)[:size] for _ in range(terms)]
        true = np.zeros(2**n, dtype=bool)
        for c in chosen:
            true |= (x[:, c] == rng.choice([-1, 1], size=size)).all(axis=1)
        relevant, table = np.unique(np.concatenate(chosen)), np.where(true, -1, 1)
    elif kind == "tree":
        table, relevant = _random_tree(x, size, rng)
    elif kind == "junta":
        relevant = np.sort(rng.permutation(n)[:size])
        values = rng.choice([-1, 1], size=2**size)
        table = values[((1 - x[:, relevant]) // 2 @ (1 << np.arange(size))).astype(int)]
    else:
        table = rng.choice([-1, 1], size=2**n)
    clean = table.astype(np.int8)
    table = clean.copy()
    table[rng.permutation(2**n)[: round(flip * 2**n)]] *= -1
    return Bunch(table=table, clean=clean, relevant=np.asarray(relevant))


def _random_tree(x, depth, rng):
    """A complete tree: every inner node asks a variable not asked above it, leaves are random."""
    table, used = np.zeros(len(x), dtype=np.int8), set()

    def grow(rows, asked):
        if len(asked) == depth:
            table[rows] = rng.choice([-1, 1])
            return
        variable = int(rng.choice([i for i in range(x.shape[1]) if i not in asked]))
        used.add(variable)
        for side in (-1, 1):
            grow(rows[x[rows, variable] == side], [*asked, variable])

    grow(np.arange(len(x)), [])
    return table, sorted(used)
