"""Samples of discrete laws with known entropy, spike words, and genotypes."""

import numpy as np
from scipy import special, stats
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = [
    "discrete_law",
    "make_genotypes",
    "make_spike_words",
    "make_symbols",
    "pitman_yor_sticks",
    "pitman_yor_weights",
]

_BLOCK = 1000  # sticks that are drawn at a time


def pitman_yor_weights(discount, concentration, *, tol=1e-3, max_sticks=2_000_000, random_state=None):
    """Weights of a random law from PY(d, alpha) by stick breaking, until the mass left is below `tol`.

    beta_i ~ Beta(1 - d, alpha + i d), weight_i = beta_i prod_{j < i} (1 - beta_j), i = 1, 2, ...; d = 0 is the
    Dirichlet process. The mass left over is spread over the last sticks by normalising.

    Parameters
    ----------
    discount : float in [0, 1)
    concentration : float > -discount
    tol : float, default=1e-3
    max_sticks : int, default=2_000_000
        With a large discount the mass decays like a power and may need this many.
    random_state : None, int or Generator

    Examples
    --------
    >>> weights = pitman_yor_weights(0.1, 5.0, random_state=0)
    >>> round(float(weights.sum()), 12)
    1.0
    """
    weights, _ = pitman_yor_sticks(discount, concentration, tol=tol, max_sticks=max_sticks, random_state=random_state)
    weights = weights[weights > 0]
    return weights / weights.sum()


def pitman_yor_sticks(discount, concentration, *, tol=1e-3, n_sticks=None, max_sticks=2_000_000, random_state=None):
    """Break sticks: weights of a draw from PY(d, alpha), in size-biased order, and the mass that is left.

    beta_i ~ Beta(1 - d, alpha + i d), weight_i = beta_i prod_{j<i} (1 - beta_j), until less than `tol` is left.
    Nothing is normalised: the weights and the rest sum to one.

    Parameters
    ----------
    discount : float in [0, 1)
        d; zero is the Dirichlet process.
    concentration : float > -discount
        alpha.
    tol : float, default=1e-3
        Not used if `n_sticks` is given.
    n_sticks : int, optional
        Break exactly that many.
    max_sticks : int, default=2_000_000
        With a large discount the mass decays like a power of the number of sticks.
    random_state : None, int or Generator

    Returns
    -------
    weights : ndarray
    left : float

    Examples
    --------
    >>> weights, left = pitman_yor_sticks(0.2, 5.0, random_state=0)
    >>> left < 1e-3, round(float(weights.sum()) + left, 12)
    (True, 1.0)
    """
    d = check_scalar(discount, "discount", low=0, high=1, closed="left")
    alpha = check_scalar(concentration, "concentration", low=-d, closed="neither")
    tol, rng = check_scalar(tol, "tol", low=0, high=1, closed="neither"), check_rng(random_state)
    limit = check_size(max_sticks, "max_sticks") if n_sticks is None else check_size(n_sticks, "n_sticks")
    left, parts, done = 1.0, [], 0
    while done < limit and (n_sticks is not None or left >= tol):
        index = np.arange(done + 1, min(done + _BLOCK, limit) + 1)
        beta = rng.beta(1.0 - d, alpha + index * d)
        rest = left * np.cumprod(1.0 - beta)
        parts.append(np.append(left, rest[:-1]) * beta)
        left, done = float(rest[-1]), done + index.size
    return np.concatenate(parts), left


def discrete_law(kind="zipf", k=1000, *, exponent=1.5, mean=np.e, discount=0.0, concentration=100.0, random_state=None):
    """Probabilities of a discrete law.

    Parameters
    ----------
    kind : {"zipf", "uniform", "geometric", "poisson", "pitman-yor"}, default="zipf"
        p_i proportional to i^-exponent for i = 1..k; uniform on k symbols; proportional to exp(-i / mean) on k;
        Poisson with `mean`, cut where the mass falls below machine precision; a draw from PY(discount, concentration).
    k : int, default=1000
        Number of symbols, for the first three.
    exponent : float, default=1.5
    mean : float, default=2.718281828459045
    discount : float, default=0.0
    concentration : float, default=100.0
    random_state : None, int or Generator

    Examples
    --------
    >>> p = discrete_law("zipf", 1000, exponent=1.0)
    >>> round(float(-(p * np.log(p)).sum()), 4)
    5.191
    """
    check_choice(kind, "kind", ("zipf", "uniform", "geometric", "poisson", "pitman-yor"))
    k = check_size(k, "k")
    if kind == "pitman-yor":
        return pitman_yor_weights(discount, concentration, random_state=random_state)
    if kind == "poisson":
        mean = check_scalar(mean, "mean", low=0, closed="neither")
        mass = stats.poisson.pmf(np.arange(int(mean + 20 * np.sqrt(mean) + 60)), mean)
        mass = mass[mass > np.finfo(float).eps]
    elif kind == "zipf":
        mass = np.arange(1.0, k + 1) ** -check_scalar(exponent, "exponent", low=0)
    elif kind == "geometric":
        mass = np.exp(-np.arange(k) / check_scalar(mean, "mean", low=0, closed="neither"))
    else:
        mass = np.ones(k)
    return mass / mass.sum()


def make_symbols(n_samples=1000, probabilities=None, *, kind="zipf", random_state=None, **law):
    """Draw symbols of a discrete law and say its entropy.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of symbols.
    probabilities : array-like, optional
        The law; :func:`discrete_law` with `kind` and `law` by default.
    kind : str, default="zipf"
        As in :func:`discrete_law`.
    random_state : None, int or Generator
    **law
        Further arguments of :func:`discrete_law`.

    Returns
    -------
    Bunch
        ``counts`` (symbols seen, largest first), ``data`` (the symbols in order), ``probabilities``, ``entropy``
        (in nats).

    Examples
    --------
    >>> made = make_symbols(100, kind="uniform", k=8, random_state=0)
    >>> int(made.counts.sum()), round(made.entropy, 4)
    (100, 2.0794)
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    if probabilities is None:
        p = discrete_law(kind, random_state=rng, **law)
    else:
        p = np.asarray(probabilities, dtype=np.float64)
        if p.ndim != 1 or (p < 0).any() or not np.isclose(p.sum(), 1):
            raise ValueError("probabilities must be non-negative and sum to one")
    symbols = np.searchsorted(np.cumsum(p)[:-1], rng.random(n), side="right")
    counts = np.sort(np.bincount(symbols))[::-1]
    return Bunch(data=symbols, counts=counts[counts > 0], probabilities=p, entropy=float(special.entr(p).sum()))


def make_spike_words(n_bins=100_000, *, n_cells=8, rate=(0.02, 0.05), correlation=0.2, random_state=None):
    """Binary words of a population: a correlated Gaussian, cut at a threshold in every cell.

    Cell c spikes where z_c exceeds its threshold, z ~ N(0, R) with one correlation; thresholds give rates U(rate).

    Parameters
    ----------
    n_bins : int, default=100000
    n_cells : int, default=8
    rate : tuple of float, default=(0.02, 0.05)
    correlation : float, default=0.2
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (n_bins, n_cells) of bool, ``words`` (their binary codes), ``rates``, and for at most 12 cells
        ``probabilities`` of all words and ``entropy`` (nats), by integrating over the common factor.

    Examples
    --------
    >>> made = make_spike_words(1000, n_cells=5, random_state=0)
    >>> made.data.shape, made.probabilities.shape
    ((1000, 5), (32,))
    """
    n, c, rng = check_size(n_bins, "n_bins"), check_size(n_cells, "n_cells"), check_rng(random_state)
    low, high = (check_scalar(r, "rate", low=0, high=1, closed="neither") for r in rate)
    correlation = check_scalar(correlation, "correlation", low=0, high=1, closed="left")
    rates = rng.uniform(low, high, c)
    cut = stats.norm.isf(rates)
    common, own = np.sqrt(correlation), np.sqrt(1 - correlation)
    spikes = common * rng.standard_normal((n, 1)) + own * rng.standard_normal((n, c)) > cut
    made = Bunch(data=spikes, rates=rates, correlation=correlation)
    if c <= 62:
        made.words = spikes @ (1 << np.arange(c, dtype=np.int64))
    if c <= 12:
        nodes, weight = np.polynomial.hermite_e.hermegauss(81)
        chance = special.ndtr((common * nodes[:, None] - cut) / own)
        bits = (np.arange(2**c)[:, None] >> np.arange(c)) & 1
        each = np.where(bits[None], chance[:, None, :], 1 - chance[:, None, :]).prod(axis=-1)
        made.probabilities = weight / weight.sum() @ each
        made.entropy = float(special.entr(made.probabilities).sum())
    return made


def make_genotypes(n_samples=216, *, n_populations=3, n_loci=8, n_alleles=5, random_state=None):
    """Two alleles at each locus, frequencies Dirichlet(1) in each population (impala-like, Miller and Harrison 2014).

    Parameters
    ----------
    n_samples : int, default=216
        Number of rows.
    n_populations : int, default=3
    n_loci : int, default=8
    n_alleles : int, default=5
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (n, n_loci, 2) allele numbers, ``target`` the population, ``frequencies`` (population, locus, allele).

    Examples
    --------
    >>> make_genotypes(10, random_state=0).data.shape
    (10, 8, 2)
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    k, loci = check_size(n_populations, "n_populations"), check_size(n_loci, "n_loci")
    frequencies = rng.dirichlet(np.ones(check_size(n_alleles, "n_alleles")), size=(k, loci))
    y = rng.integers(k, size=n)
    u = rng.random((n, loci, 2, 1))
    alleles = (u >= frequencies.cumsum(axis=-1)[y][:, :, None, :-1]).sum(axis=-1)
    return Bunch(data=alleles, target=y, frequencies=frequencies)
