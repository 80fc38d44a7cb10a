"""Kernels for documents: bags of words, weights for words, and words that mean the same.

A document T is the vector Phi(T) of its word counts. With weights R = diag(mu(w)) and a proximity matrix P the kernel
is K(T1, T2) = Phi(T1)' R'P'PR Phi(T2) = Phi(T1)' Q Phi(T2), and Q = (PR)'PR is positive semi-definite whatever P is
(Lember 2012, section 4.5.5).
"""

import re

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from learnable.validation import check_finite_array, check_scalar

__all__ = ["TextKernel"]

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


class TextKernel(TransformerMixin, BaseEstimator):
    """Kernel of documents K(T1, T2) = Phi(T1)' (PR)'PR Phi(T2).

    Parameters
    ----------
    weights : {"idf"}, dict or None, default="idf"
        mu(w): the inverse document frequency ln(n / df(w)); a dictionary of weights, with 1 for words not in it; or 1
        throughout.
    proximity : dict, sparse matrix, callable or None
        ``{(word, other): value}`` for the off-diagonal entries of P (both orders are set), the matrix in the order of
        `vocabulary_`, or a function of the training counts that returns it,
        such as ``cooccurrence_proximity`` of the chapter.
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

    _takes = "texts"

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
