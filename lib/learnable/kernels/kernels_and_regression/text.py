"""Kernels for documents: bags of words, weights for words, and words that mean the same.

A document T is the vector Phi(T) of its word counts. With weights R = diag(mu(w)) and a proximity matrix P the kernel
is K(T1, T2) = Phi(T1)' R'P'PR Phi(T2) = Phi(T1)' Q Phi(T2), and Q = (PR)'PR is positive semi-definite whatever P is
(Lember 2012, section 4.5.5).
"""

import importlib
import inspect
import re

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from learnable.validation import check_finite_array, check_rng, check_scalar

__all__ = [
    "TextKernel",
    "cooccurrence_proximity",
    "docstring_corpus",
]

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def tokens(document):
    """Return the words of a text in lower case.

    Examples
    --------
    >>> tokens("Don't panic: 42 towels!")
    ["don't", 'panic', 'towels']
    """
    if not isinstance(document, str):
        raise ValueError(f"a document must be a string, got {type(document).__name__}")
    return _WORD.findall(document.lower())


def bag_of_words(docs, vocabulary=None):
    """Return word counts as a sparse matrix, and the vocabulary.

    Parameters
    ----------
    docs : iterable of str
    vocabulary : dict of str to int, optional
        Columns of known words; others are ignored. By default all words, in alphabetical order.

    Returns
    -------
    counts : scipy.sparse.csr_array of shape (number of documents, number of words)
        Column indices sorted within each row.
    vocabulary : dict

    Examples
    --------
    >>> counts, vocabulary = bag_of_words(["to be or not to be", "to do"])
    >>> vocabulary
    {'be': 0, 'do': 1, 'not': 2, 'or': 3, 'to': 4}
    >>> counts.toarray()
    array([[2., 0., 1., 1., 2.],
           [0., 1., 0., 0., 1.]])
    """
    if isinstance(docs, str):
        raise ValueError("docs must be a collection of documents, got a single string")
    words = [tokens(document) for document in docs]
    if vocabulary is None:
        vocabulary = {word: j for j, word in enumerate(sorted(set().union(*words)))}
    known = [[vocabulary[word] for word in document if word in vocabulary] for document in words]
    starts = np.concatenate([[0], np.cumsum([len(document) for document in known])]).astype(np.int64)
    columns = np.array([j for document in known for j in document], dtype=np.int64)
    shape = (len(words), max(vocabulary.values(), default=-1) + 1)
    counts = sparse.csr_array((np.ones(columns.size), columns, starts), shape=shape)
    counts.sum_duplicates()
    return counts, vocabulary


def idf_weights(counts):
    """Return ln(n / df(w)): zero for words in every document, and for words in none.

    Examples
    --------
    >>> idf_weights(sparse.csr_array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]])).round(3)
    array([0.693, 0.   , 0.   ])
    """
    counts = sparse.csc_array(counts)
    frequency = np.diff(counts.indptr) if counts.nnz == counts.count_nonzero() else (counts != 0).sum(axis=0)
    frequency = np.asarray(frequency, dtype=np.float64).ravel()
    with np.errstate(divide="ignore"):
        return np.where(frequency > 0, np.log(counts.shape[0] / frequency), 0.0)


def merge_dot(indices1, values1, indices2, values2):
    """Return the inner product of two sparse vectors with sorted indices in one merge, O(|T1| + |T2|).

    Examples
    --------
    >>> merge_dot([0, 2, 5], [1.0, 2.0, 3.0], [2, 3, 5], [10.0, 1.0, 100.0])
    320.0
    """
    i1, i2 = (np.asarray(indices, dtype=np.int64) for indices in (indices1, indices2))
    v1, v2 = check_finite_array(values1, "values1", ndim=1), check_finite_array(values2, "values2", ndim=1)
    if i1.shape != v1.shape or i2.shape != v2.shape:
        raise ValueError("indices and values must have the same length")
    if (np.diff(i1) <= 0).any() or (np.diff(i2) <= 0).any():
        raise ValueError("indices must be strictly increasing")
    return float(_merge(i1, v1, i2, v2))


@njit(cache=True)
def _merge(i1, v1, i2, v2):
    a = 0
    b = 0
    total = 0.0
    while a < i1.size and b < i2.size:
        if i1[a] == i2[b]:
            total += v1[a] * v2[b]
            a += 1
            b += 1
        elif i1[a] < i2[b]:
            a += 1
        else:
            b += 1
    return total


def cooccurrence_proximity(counts, *, strength=0.3, neighbours=3, min_count=3):
    """Return a proximity matrix: one on the diagonal, `strength` times the cosine to a word's nearest words.

    Two words are near if they occur in the same documents: the cosine of their columns of presences.

    Parameters
    ----------
    counts : sparse matrix of shape (number of documents, number of words)
    strength : float, default=0.3
    neighbours : int, default=3
        Related words kept for each word.
    min_count : int, default=3
        Words in fewer documents get no relatives.

    Returns
    -------
    scipy.sparse.csr_array

    Examples
    --------
    >>> counts, _ = bag_of_words(["a b", "a b", "c"])
    >>> cooccurrence_proximity(counts, strength=0.5, min_count=1).toarray()
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    strength = check_scalar(strength, "strength", low=0)
    neighbours = check_scalar(neighbours, "neighbours", low=1, integer=True)
    min_count = check_scalar(min_count, "min_count", low=0)
    if not (sparse.issparse(counts) or isinstance(counts, np.ndarray)) or counts.ndim != 2:
        raise ValueError("counts must be a matrix with a row for each document, dense or sparse")
    present = sparse.csc_array((counts > 0).astype(np.float64))
    frequency = np.asarray(present.sum(axis=0)).ravel()
    scale = np.where(frequency >= min_count, 1.0 / np.sqrt(np.maximum(frequency, 1.0)), 0.0)
    unit = present @ sparse.diags_array(scale)
    cosine = sparse.csr_array(unit.T @ unit)
    cosine.setdiag(0.0)
    cosine.eliminate_zeros()
    rows, columns, values = [], [], []
    for w in range(cosine.shape[0]):
        stretch = slice(cosine.indptr[w], cosine.indptr[w + 1])
        order = np.argsort(-cosine.data[stretch], kind="stable")[:neighbours]
        rows += [w] * order.size
        columns += cosine.indices[stretch][order].tolist()
        values += (strength * cosine.data[stretch][order]).tolist()
    related = sparse.csr_array((values, (rows, columns)), shape=cosine.shape)
    return sparse.csr_array(related + sparse.eye_array(cosine.shape[0]))


_SHELVES = {
    "numpy": "numpy numpy.linalg numpy.fft numpy.ma",
    "scipy": "scipy.stats scipy.linalg scipy.optimize scipy.special scipy.sparse",
    "sklearn": "sklearn.metrics sklearn.preprocessing sklearn.datasets sklearn.linear_model sklearn.utils",
    "standard library": "ast calendar csv email.utils functools glob heapq inspect itertools json logging os pathlib "
    "random shutil socket statistics string subprocess tempfile textwrap threading unittest urllib.parse zipfile",
}


def docstring_corpus(n_each=150, *, n_words=60, random_state=None):
    """Return documents without a download: beginnings of docstrings, labelled by the package they come from.

    Parameters
    ----------
    n_each : int, default=150
        Documents drawn from each of numpy, scipy, scikit-learn and the standard library.
    n_words : int, default=60
        Words kept of each docstring; those with fewer than eight are left out.
    random_state : int or Generator, optional

    Returns
    -------
    documents : ndarray of str (dtype object)
    packages : ndarray of str
        What there is depends on the installed versions.

    Examples
    --------
    >>> documents, packages = docstring_corpus(5, random_state=0)
    >>> len(documents), sorted(set(packages.tolist()))
    (20, ['numpy', 'scipy', 'sklearn', 'standard library'])
    """
    n_each = check_scalar(n_each, "n_each", low=1, integer=True)
    rng = check_rng(random_state)
    documents, packages = [], []
    for name, modules in _SHELVES.items():
        found = set()
        for module in map(importlib.import_module, modules.split()):
            members = (value for member, value in vars(module).items() if not member.startswith("_"))
            texts = (inspect.getdoc(value) or "" for value in members if callable(value))
            found |= {" ".join(text.split()[:n_words]) for text in texts if len(text.split()) >= 8}
        chosen = rng.permutation(sorted(found))[:n_each]
        documents += chosen.tolist()
        packages += [name] * len(chosen)
    return np.array(documents, dtype=object), np.array(packages)


class TextKernel(TransformerMixin, BaseEstimator):
    """Kernel of documents K(T1, T2) = Phi(T1)' (PR)'PR Phi(T2).

    Parameters
    ----------
    weights : {"idf"}, dict or None, default="idf"
        mu(w): the inverse document frequency ln(n / df(w)); a dictionary of weights, with 1 for words not in it; or 1
        throughout.
    proximity : dict, sparse matrix, callable or None
        ``{(word, other): value}`` for the off-diagonal entries of P (both orders are set), the matrix in the order of
        `vocabulary_`, or a function of the training counts that returns it, such as :func:`cooccurrence_proximity`.
    stop_words : iterable of str, default=()
        Words with weight 0.
    normalise : bool, default=False
        Divide by the lengths: K(T, T) = 1, except for documents without a word of positive weight.

    Attributes
    ----------
    vocabulary_ : dict
    weights_ : ndarray
        The diagonal of R.
    proximity_ : scipy.sparse.csr_array or None

    Examples
    --------
    >>> docs = ["a fast car", "a quick automobile", "a slow boat"]
    >>> TextKernel(weights=None).fit(docs)(docs)
    array([[3., 1., 1.],
           [1., 3., 1.],
           [1., 1., 3.]])
    >>> near = {("car", "automobile"): 0.5, ("fast", "quick"): 0.5}
    >>> TextKernel(proximity=near, normalise=True).fit(docs)(docs).round(2)
    array([[1. , 0.8, 0. ],
           [0.8, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    def __init__(self, weights="idf", proximity=None, *, stop_words=(), normalise=False):
        self.weights = weights
        self.proximity = proximity
        self.stop_words = stop_words
        self.normalise = normalise

    def fit(self, docs, y=None):
        """Learn the vocabulary and the weights of words from training documents."""
        counts, self.vocabulary_ = bag_of_words(docs)
        m = len(self.vocabulary_)
        if m == 0:
            raise ValueError("the documents contain no words")
        if isinstance(self.weights, str) and self.weights == "idf":
            self.weights_ = idf_weights(counts)
        elif self.weights is None:
            self.weights_ = np.ones(m)
        elif isinstance(self.weights, dict):
            self.weights_ = check_finite_array([self.weights.get(word, 1.0) for word in self.vocabulary_], "weights")
        else:
            raise ValueError(f"weights must be 'idf', a dictionary or None, got {self.weights!r}")
        if self.weights_.min() < 0:
            raise ValueError("weights must be non-negative")
        if isinstance(self.stop_words, str):
            raise ValueError("stop_words must be a collection of words, got a single string")
        for word in self.stop_words:
            if word in self.vocabulary_:
                self.weights_[self.vocabulary_[word]] = 0.0
        self.proximity_ = self._make_proximity(counts)
        return self

    def transform(self, docs):
        """Return the vectors PR Phi(T), one sparse row for each document; unknown words are ignored."""
        check_is_fitted(self)
        counts, _ = bag_of_words(docs, self.vocabulary_)
        vectors = counts @ sparse.diags_array(self.weights_)
        if self.proximity_ is not None:
            vectors = vectors @ self.proximity_.T
        vectors = sparse.csr_array(vectors)
        if self.normalise:
            lengths = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
            vectors = (
                sparse.diags_array(np.where(lengths > 0, 1.0 / np.where(lengths > 0, lengths, 1.0), 0.0)) @ vectors
            )
        return sparse.csr_array(vectors)

    def __call__(self, docs, others=None):
        """Return the kernel matrix between documents; the Gram matrix without `others`."""
        left = self.transform(docs)
        right = left if others is None else self.transform(others)
        K = (left @ right.T).toarray()
        return 0.5 * (K + K.T) if others is None else K

    def _make_proximity(self, counts):
        m = len(self.vocabulary_)
        if self.proximity is None:
            return None
        if isinstance(self.proximity, dict):
            P = sparse.lil_array(sparse.eye_array(m))
            for (word, other), value in self.proximity.items():
                value = check_scalar(value, "proximity", low=0)
                if word in self.vocabulary_ and other in self.vocabulary_:
                    P[self.vocabulary_[word], self.vocabulary_[other]] = value
                    P[self.vocabulary_[other], self.vocabulary_[word]] = value
            return sparse.csr_array(P)
        P = sparse.csr_array(self.proximity(counts) if callable(self.proximity) else self.proximity)
        if P.shape != (m, m):
            raise ValueError(f"proximity must have shape {(m, m)}, got {P.shape}")
        return P
