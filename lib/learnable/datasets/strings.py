"""Strings: Markov chains of letters, planted motifs, families of proteins.

Strings of equal length come as one array with the string first; otherwise as a list of arrays.
"""

from functools import cache

import numpy as np
from numba import njit
from sklearn.utils import Bunch

from learnable.datasets._loaders import load
from learnable.datasets._simulate import check_lengths, check_size
from learnable.validation import check_finite_array, check_rng, check_scalar

__all__ = ["make_markov_strings", "make_motif_strings", "make_protein_families"]


def make_markov_strings(
    n_per_class=100, *, order=2, alphabet="ACGT", length=(60, 120), contrast=1.0, random_state=None
):
    """Two Markov sources of a given order over an alphabet.

    The rows of both transition tables are Dirichlet(1) draws; `contrast` blends the second source from the first
    (0, equal) to its own (1).

    Parameters
    ----------
    n_per_class : int, default=100
        How many of each class.
    order : int, default=2
    alphabet : str, default="ACGT"
    length : tuple of int, default=(60, 120)
    contrast : float, default=1.0
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (strings), ``target``, ``tables`` (2, a^order, a).

    Examples
    --------
    >>> made = make_markov_strings(2, length=10, random_state=0)
    >>> [len(s) for s in made.data]
    [10, 10, 10, 10]
    """
    n, order, rng = check_size(n_per_class, "n_per_class"), check_size(order, "order"), check_rng(random_state)
    contrast = check_scalar(contrast, "contrast", low=0, high=1)
    a = len(alphabet)
    if a < 2:
        raise ValueError("alphabet must have at least two letters")
    tables = rng.dirichlet(np.ones(a), size=(2, a**order))
    tables[1] = (1 - contrast) * tables[0] + contrast * tables[1]
    lengths = check_lengths(length, 2 * n, rng)
    labels = np.repeat([0, 1], n)
    letters, strings = np.array(list(alphabet)), []
    for label, size in zip(labels, lengths, strict=True):
        codes = _markov(tables[label].cumsum(axis=1), order, rng.random(size))
        strings.append("".join(letters[codes]))
    return Bunch(data=strings, target=labels, tables=tables)


@njit(cache=True)
def _markov(rows, order, u):
    """A string of a chain of the given order, its first letters uniform."""
    a = rows.shape[1]
    codes = np.empty(len(u), dtype=np.int64)
    context = 0
    for t in range(len(u)):
        if t < order:
            letter = min(int(u[t] * a), a - 1)
        else:
            letter = 0
            while letter < a - 1 and u[t] >= rows[context, letter]:
                letter += 1
        codes[t] = letter
        context = (context * a + letter) % rows.shape[0]
    return codes


def make_motif_strings(n_per_class=100, *, motif="TATAAT", length=60, max_gap=2, mutation=0.1, random_state=None):
    """Random DNA; strings of class 1 carry a motif with gaps and mutations at a random place.

    Parameters
    ----------
    n_per_class : int, default=100
        How many of each class.
    motif : str, default="TATAAT"
    length : int, default=60
    max_gap : int, default=2
    mutation : float, default=0.1
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_motif_strings(2, random_state=0)
    >>> len(made.data), made.target.tolist()
    (4, [0, 0, 1, 1])
    """
    n, rng = check_size(n_per_class, "n_per_class"), check_rng(random_state)
    longest = len(motif) + check_size(max_gap, "max_gap", low=0)
    length = check_scalar(length, "length", low=longest, integer=True)
    mutation = check_scalar(mutation, "mutation", low=0, high=1)
    letters = np.array(list("ACGT"))
    if not set(motif) <= set("ACGT") or not motif:
        raise ValueError(f"motif must be a word over A, C, G, T, got {motif!r}")
    codes = letters[rng.integers(4, size=(2 * n, length))]
    labels, starts = np.repeat([0, 1], n), np.full(2 * n, -1)
    for row in range(n, 2 * n):
        gap = int(rng.integers(longest - len(motif) + 1))
        split = int(rng.integers(1, len(motif))) if len(motif) > 1 else 1
        start = int(rng.integers(length - len(motif) - gap + 1))
        places = start + np.arange(len(motif)) + gap * (np.arange(len(motif)) >= split)
        word = np.where(rng.random(len(motif)) < mutation, letters[rng.integers(4, size=len(motif))], list(motif))
        codes[row, places] = word
        starts[row] = start
    return Bunch(data=["".join(row) for row in codes], target=labels, starts=starts)


@cache
def _substitution():
    """BLOSUM62's conditional substitution law off the diagonal, background frequencies and the letters."""
    table = load("blosum62")
    background = table.background / table.background.sum()
    joint = background * 2.0 ** (table.data / 2)
    np.fill_diagonal(joint, 0.0)
    return joint / joint.sum(axis=1, keepdims=True), background, table.names


def make_protein_families(
    n_folds=8, *, n_superfamilies=2, n_families=3, n_members=12, flank=(10, 40), random_state=None
):
    """Protein-like strings with a fold / superfamily / family hierarchy (stand-in for SCOP; Leslie and Kuang 2004).

    The root of a superfamily is random with background frequencies and length U(90, 180); a family's ancestor evolves
    from it for time 1.2, a member from that for time 0.5: a site mutates with probability 1 - exp(-t / 2) by
    BLOSUM62, insertions and deletions start at rate 0.02 t a site with geometric lengths of mean 2. Members get
    random flanks. The superfamilies of a fold are independent here: a fold only groups them.

    Parameters
    ----------
    n_folds : int, default=8
    n_superfamilies : int, default=2
    n_families : int, default=3
    n_members : int, default=12
    flank : tuple of int, default=(10, 40)
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (strings), ``fold``, ``superfamily``, ``family`` (numbers, each over the whole set).

    Examples
    --------
    >>> made = make_protein_families(2, n_members=3, random_state=0)
    >>> len(made.data), int(made.family.max()) + 1
    (36, 12)
    """
    sizes = (n_folds, n_superfamilies, n_families, n_members)
    names = ("n_folds", "n_superfamilies", "n_families", "n_members")
    folds, supers, families, members = (check_size(s, k) for s, k in zip(sizes, names, strict=True))
    check_size(folds * supers * families * members, "the number of strings")
    flank = check_finite_array(flank, "flank", ndim=1)
    if flank.shape != (2,) or not 0 <= flank[0] <= flank[1] < 2**31:
        raise ValueError(f"flank must be two lengths, the shorter first, got {flank.tolist()}")
    flank = flank.astype(np.int64)
    rng = check_rng(random_state)
    law, background, letters = _substitution()
    cumulated, letters = law.cumsum(axis=1), np.array(letters)
    strings = []
    for _ in range(folds * supers):
        root = rng.choice(20, size=int(rng.integers(90, 181)), p=background)
        for _ in range(families):
            ancestor = _evolve(root, 1.2, cumulated, background, rng)
            for _ in range(members):
                member = _evolve(ancestor, 0.5, cumulated, background, rng)
                sides = [rng.choice(20, size=int(rng.integers(flank[0], flank[1] + 1)), p=background) for _ in (0, 1)]
                strings.append("".join(letters[np.concatenate([sides[0], member, sides[1]])]))
    family = np.repeat(np.arange(folds * supers * families), members)
    return Bunch(data=strings, family=family, superfamily=family // families, fold=family // (families * supers))


def _evolve(sequence, time, cumulated, background, rng):
    """Point mutations, then insertions and deletions."""
    sequence = sequence.copy()
    hit = np.flatnonzero(rng.random(len(sequence)) < 1 - np.exp(-0.5 * time))
    sequence[hit] = (rng.random((len(hit), 1)) >= cumulated[sequence[hit]][:, :-1]).sum(axis=1)
    parts, place = [], 0
    for start in np.flatnonzero(rng.random(len(sequence)) < 0.02 * time):
        if start < place:
            continue
        parts.append(sequence[place:start])
        size = int(rng.geometric(0.5))
        if rng.random() < 0.5:
            parts.append(rng.choice(20, size=size, p=background))
            place = start
        else:
            place = start + size
    parts.append(sequence[place:])
    return np.concatenate(parts)
