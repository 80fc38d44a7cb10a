"""Documents as word counts: topic models, two-class documents, and the docstrings of installed packages."""

import importlib
import inspect
import pkgutil
import re
import warnings

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_finite_array, check_rng, check_scalar

__all__ = ["load_docstrings", "make_single_topic", "make_topics", "make_two_sources", "make_two_topic_documents"]


def _word_counts(weights, topics, lengths, rng, chunk=2000):
    """Multinomial counts, document by document, as a CSR matrix; `weights` mix the topics, or number one each."""
    blocks = []
    for start in range(0, len(weights), chunk):
        some = weights[start : start + chunk]
        rows = some @ topics if some.ndim == 2 else topics[some]  # dense for a chunk of documents only
        rows = rows / rows.sum(axis=1, keepdims=True)
        blocks.append(sparse.csr_matrix(rng.multinomial(lengths[start : start + chunk], rows)))
    return sparse.vstack(blocks, format="csr").astype(np.float64)


def _document_lengths(length, n, rng):
    if np.ndim(length) == 0:
        return np.full(n, check_size(length, "length"))
    low, high = (check_size(v, "length") for v in length)
    return rng.integers(low, high + 1, size=n)


def make_topics(
    n_documents=1000, *, n_words=1000, k=10, alpha0=1.0, topics=None, length=50, spread=0.1, random_state=None
):
    """Latent Dirichlet allocation: weights h ~ Dirichlet(alpha), words independent from sum_i h_i mu_i.

    Parameters
    ----------
    n_documents : int, default=1000
    n_words, k : int
        Size of the vocabulary and number of topics.
    alpha0 : float or array-like of shape (k,), default=1
        The sum of the Dirichlet parameters (split equally), or the parameters themselves.
    topics : array-like of shape (k, n_words), optional
        Word probabilities; rows from Dirichlet(spread, ..., spread) by default.
    length : int or (int, int), default=50
    spread : float, default=0.1
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (CSR counts), ``topics``, ``alpha``, ``weights`` (documents by topics).

    Examples
    --------
    >>> made = make_topics(20, n_words=30, k=3, random_state=0)
    >>> made.data.shape, made.weights.shape
    ((20, 30), (20, 3))
    """
    n, rng = check_size(n_documents, "n_documents"), check_rng(random_state)
    topics, k = _topics(topics, k, n_words, spread, rng)
    alpha = np.full(k, check_scalar(alpha0, "alpha0", low=0, closed="neither") / k) if np.ndim(alpha0) == 0 else alpha0
    alpha = check_finite_array(alpha, "alpha0", ndim=1)
    if len(alpha) != k or (alpha <= 0).any():
        raise ValueError(f"alpha0 must be a positive number or {k} positive numbers")
    weights = rng.dirichlet(alpha, size=n)
    data = _word_counts(weights, topics, _document_lengths(length, n, rng), rng)
    return Bunch(data=data, topics=topics, alpha=alpha, weights=weights)


def make_single_topic(
    n_documents=1000, *, n_words=1000, k=10, priors=None, topics=None, length=50, spread=0.1, random_state=None
):
    """Each document has one topic, drawn from `priors`; its words are independent (Anandkumar et al. 2014, 3.1).

    Parameters
    ----------
    n_documents : int, default=1000
    n_words : int, default=1000
    k : int, default=10
    priors : array-like of shape (k,), optional
        Uniform by default.
    topics : array-like of shape (k, n_words), optional
        Word probabilities of each topic; drawn by default.
    length : int, default=50
    spread : float, default=0.1
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_single_topic(20, n_words=30, k=3, length=(5, 9), random_state=0)
    >>> bool(made.data.sum(axis=1).max() <= 9)
    True
    """
    n, rng = check_size(n_documents, "n_documents"), check_rng(random_state)
    topics, k = _topics(topics, k, n_words, spread, rng)
    priors = np.full(k, 1 / k) if priors is None else check_finite_array(priors, "priors", ndim=1)
    if len(priors) != k or (priors < 0).any() or not np.isclose(priors.sum(), 1):
        raise ValueError(f"priors must be {k} probabilities that sum to one")
    y = rng.choice(k, size=n, p=priors)
    data = _word_counts(y, topics, _document_lengths(length, n, rng), rng)
    return Bunch(data=data, target=y, topics=topics, priors=priors)


def _topics(topics, k, n_words, spread, rng):
    if topics is None:
        spread = check_scalar(spread, "spread", low=0, closed="neither")
        topics = rng.dirichlet(np.full(check_size(n_words, "n_words"), spread), size=check_size(k, "k"))
    topics = check_finite_array(topics, "topics", ndim=2)
    if topics.size == 0 or (topics < 0).any() or not np.allclose(topics.sum(axis=1), 1):
        raise ValueError("topics must have rows of probabilities that sum to one")
    return topics, len(topics)


def make_two_topic_documents(
    n_documents=1000, *, n_words=2000, overlap=0.875, burstiness=300.0, length=(50, 150), random_state=None
):
    """Two classes of documents, Dirichlet-multinomial, rows scaled to unit length (stand-in for two newsgroups).

    A share `overlap` of both topics' mass is one common Zipf law; the rest is a Zipf law over a random order of the
    words, one for each class. A document's own word law is Dirichlet(burstiness * topic): words come in bursts. With
    the defaults a linear support vector machine errs on 27 percent after 16 labels, as on the newsgroups of Chapelle
    (2004), and on 2 percent with an overlap of 0.7.

    Parameters
    ----------
    n_documents : int, default=1000
    n_words : int, default=2000
    overlap : float, default=0.875
    burstiness : float, default=300.0
    length : tuple of int, default=(50, 150)
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (CSR, l2-normalised counts), ``counts``, ``target``, ``topics``.

    Examples
    --------
    >>> made = make_two_topic_documents(10, n_words=50, random_state=0)
    >>> bool(np.allclose(made.data.multiply(made.data).sum(axis=1), 1))
    True
    """
    n, v, rng = check_size(n_documents, "n_documents"), check_size(n_words, "n_words"), check_rng(random_state)
    overlap = check_scalar(overlap, "overlap", low=0, high=1)
    burstiness = check_scalar(burstiness, "burstiness", low=0, closed="neither")
    zipf = 1 / np.arange(1, v + 1)
    zipf /= zipf.sum()
    topics = overlap * zipf + (1 - overlap) * np.array([rng.permutation(zipf) for _ in range(2)])
    y = rng.permutation(np.arange(n) % 2)
    laws = rng.standard_gamma(burstiness * topics[y]) + 1e-300
    counts = _word_counts(np.arange(len(laws)), laws, _document_lengths(length, n, rng), rng)
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return Bunch(data=sparse.diags(1 / norms) @ counts, counts=counts, target=y, topics=topics)


def make_two_sources(n_documents=120, *, n_own=48, n_general=24, random_state=None):
    """Which words occur in documents of two sources (Laub and Mueller 2004, stand-in for tales and articles).

    Half of the documents belong to each source. `n_own` words of either source occur with a rate U(0.08, 0.5) at
    home and 15 percent of it away; general words occur with a rate U(0.5, 0.9) everywhere.

    Parameters
    ----------
    n_documents : int, default=120
    n_own : int, default=48
    n_general : int, default=24
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (words by documents, 0/1), ``source`` (of a word: 0, 1, or -1 for general), ``target`` (of a
        document), ``rates`` (words by sources).

    Examples
    --------
    >>> made = make_two_sources(random_state=0)
    >>> made.data.shape, np.bincount(made.source + 1).tolist()
    ((120, 120), [24, 48, 48])
    """
    n, rng = check_size(n_documents, "n_documents", low=2), check_rng(random_state)
    own, general = check_size(n_own, "n_own"), check_size(n_general, "n_general", low=0)
    home = rng.uniform(0.08, 0.5, (2, own))
    rates = np.vstack(
        [
            np.column_stack([home[0], 0.15 * home[0]]),
            np.column_stack([0.15 * home[1], home[1]]),
            np.repeat(rng.uniform(0.5, 0.9, (general, 1)), 2, axis=1),
        ]
    )
    target = (np.arange(n) >= n // 2).astype(int)
    data = (rng.random((len(rates), n)) < rates[:, target]).astype(np.float64)
    source = np.repeat([0, 1, -1], [own, own, general])
    return Bunch(data=data, source=source, target=target, rates=rates)


_DOCSTRING_MODULES = {
    "sklearn": "cluster decomposition ensemble feature_selection linear_model metrics model_selection neighbors "
    "preprocessing svm",
    "scipy": "cluster.hierarchy integrate interpolate linalg optimize signal stats",
}


def load_docstrings(packages=("sklearn", "scipy"), *, min_length=200, remove_names=True):
    """Docstrings of public functions and classes of installed packages, as a labelled text corpus.

    Real technical prose without a download. What it holds depends on the installed versions; with the pinned ones it
    is always the same.

    Parameters
    ----------
    packages : sequence of str, default=("sklearn", "scipy")
        Class k is package k. For these two the usual modules are read; for any other package all of its top-level
        modules that import without a warning.
    min_length : int, default=200
        Leave out shorter docstrings.
    remove_names : bool, default=True
        Delete the packages' names, which would give the class away.

    Returns
    -------
    Bunch
        ``data`` (strings, in lower case), ``names`` (qualified names), ``target``, ``target_names``.

    Examples
    --------
    >>> corpus = load_docstrings(["json", "string"], min_length=50)
    >>> corpus.target_names
    ['json', 'string']
    """
    packages = [packages] if isinstance(packages, str) else list(packages)
    min_length = check_size(min_length, "min_length", low=0)
    texts, names, target = [], [], []
    for code, package in enumerate(packages):
        seen = set()
        for module in _modules(package):
            for name, item in sorted(vars(module).items()):
                if name.startswith("_") or not (inspect.isroutine(item) or inspect.isclass(item)):
                    continue
                home = getattr(item, "__module__", None) or ""
                text = inspect.getdoc(item) or ""
                if not home.startswith(package.split(".")[0]) or len(text) < min_length or text in seen:
                    continue
                seen.add(text)
                texts.append(text.lower())
                names.append(f"{module.__name__}.{name}")
                target.append(code)
    if remove_names:
        pattern = re.compile(r"\b(" + "|".join(re.escape(p.lower()) for p in [*packages, "scikit", "learn"]) + r")\b")
        texts = [pattern.sub(" ", text) for text in texts]
    return Bunch(data=texts, names=names, target=np.array(target, dtype=int), target_names=packages)


def _modules(package):
    """The package's documented modules, imported quietly."""
    try:
        top = importlib.import_module(package)
    except ImportError:
        raise ValueError(f"package {package!r} is not installed") from None
    if package in _DOCSTRING_MODULES:
        return [importlib.import_module(f"{package}.{name}") for name in _DOCSTRING_MODULES[package].split()]
    found = [top]
    for info in pkgutil.iter_modules(getattr(top, "__path__", ())):
        if not info.name.startswith("_"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    found.append(importlib.import_module(f"{package}.{info.name}"))
                except Exception:
                    continue
    return found
