"""Three views of one hidden class, and hidden Markov models, which have three views in every triple of neighbours."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from learnable.latent.hmm import HMM, DiscreteEmission, GaussianEmission
from learnable.latent.tensors.algebra import symmetrize
from learnable.latent.tensors.base import TensorEstimator, to_distributions
from learnable.latent.tensors.moments import CHUNK
from learnable.latent.tensors.whitening import whiten
from learnable.validation import check_finite_array, check_scalar, check_table
from learnable.validation.tags import unit_facts

MOST_SYMBOLS = 4096  # of discrete sequences: the moments are square tables over the symbols


class MultiViewTensor(TensorEstimator):
    """Means of three views that are independent given a hidden class (Anandkumar et al. 2014, Theorem 3.6).

    The first two views are mapped to look like the third, x~_1 = E[x_3 x_2'] E[x_1 x_2']^+ x_1 and
    x~_2 = E[x_3 x_1'] E[x_2 x_1']^+ x_2, with pseudo-inverses of rank k; then E[x~_1 (x) x~_2 (x) x_3] is symmetric.
    The other views' means follow from those of the third, with the same labels. O(n (d_1 d_2 + ... + k^3)).

    Parameters
    ----------
    n_components : int, default=2
        At most the dimension of every view.
    n_restarts, max_iter, random_state :
        Of the power method.

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
        Probabilities of the classes, falling.
    components_ : list of three ndarrays of shape (k, d_t)
        The conditional means of each view; row i belongs to class i in all three.
    eigenvalues_, weights_sum_, residual_ :
        Of the decomposition; the sum of the weights before they were divided by it (far from one, the model or k is in
        doubt); the share of the whitened tensor that the components leave unexplained.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> h = rng.integers(2, size=5000)
    >>> views = [3 * np.eye(3)[h] + rng.normal(size=(5000, 3)) for _ in range(3)]
    >>> model = MultiViewTensor(2, random_state=0).fit(*views)
    >>> [means.shape for means in model.components_]
    [(2, 3), (2, 3), (2, 3)]
    """

    _depends_on_units = unit_facts(
        origin="moments about the origin: the method asks for means that are linearly independent",
        columns="the pseudo-inverses of rank k are cut off in one unit for all columns",
    )
    _takes = "three tables"

    def fit(self, X1, X2, X3):
        """Fit to three views of the same n objects, each an array or sparse matrix of shape (n, d_t)."""
        k = check_scalar(self.n_components, "n_components", low=1, integer=True)
        views = [_check_view(X, f"X{t + 1}") for t, X in enumerate((X1, X2, X3))]
        if len({X.shape[0] for X in views}) > 1:
            raise ValueError(f"the views must have the same number of rows, got {[X.shape[0] for X in views]}")
        weights, self.components_ = fit_views(self, views, k, self._generator())
        self._store_weights(weights)
        return self


class HMMTensor(TensorEstimator):
    """Hidden Markov model from the moments of its consecutive triples (Anandkumar et al. 2014, Prop. 3.4).

    Given the middle state of x_1, x_2, x_3 the three are independent, with means O diag(pi) T' diag(w)^(-1), O and O T.
    So O and O T come from three views, T = O^+ (O T) and pi = T^(-1) w. The source's T is column-stochastic,
    T_ij = Pr[next = i | now = j]; the attributes have probabilities in rows. O(n (d^2 + k^3)).

    Parameters
    ----------
    n_components : int, default=2
        Number of states, at most the number of symbols (or dimensions).
    n_symbols : int, optional
        Number of symbols of discrete sequences; the largest that occurs plus one by default.
    n_restarts, max_iter, random_state :
        Of the power method.

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
        Law of the middle state, falling: the stationary law for long sequences.
    emissionprob_ : ndarray of shape (k, d)
        O': symbol probabilities of each state, one row for each; of discrete sequences.
    means_ : ndarray of shape (k, d)
        The same of vector observations.
    transmat_ : ndarray of shape (k, k)
        T'; rows sum to one.
    startprob_ : ndarray of shape (k,)
        pi, the law of the first state of a triple.
    raw_transmat_, raw_startprob_ :
        Before negative entries were set to zero and sums to one.
    n_triples_, n_short_ : int
        Triples used; sequences with fewer than three observations, which are left out.
    eigenvalues_, weights_sum_, residual_ :
        Of the decomposition; the sum of the weights before they were divided by it (far from one, the model or k is in
        doubt); the share of the whitened tensor that the components leave unexplained.

    Examples
    --------
    >>> from learnable.datasets import sample_hmm
    >>> made = sample_hmm(20, 1000, startprob=[0.5, 0.5], transmat=[[0.9, 0.1], [0.2, 0.8]],
    ...                   emissionprob=[[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]], random_state=0)
    >>> model = HMMTensor(2, random_state=0).fit(made.data)
    >>> model.transmat_.sum(axis=1).round(12)
    array([1., 1.])
    """

    _takes = "sequences of symbols"

    def __init__(self, n_components=2, *, n_symbols=None, n_restarts=None, max_iter=30, random_state=None):
        super().__init__(n_components, n_restarts=n_restarts, max_iter=max_iter, random_state=random_state)
        self.n_symbols = n_symbols

    def fit(self, sequences, y=None):
        """Fit to a list of sequences: of symbols 0, 1, ... (1-D integers) or of vectors (2-D floats)."""
        k = check_scalar(self.n_components, "n_components", low=1, integer=True)
        sequences = _check_sequences(sequences)
        self.n_short_ = sum(len(s) < 3 for s in sequences)
        sequences = [s for s in sequences if len(s) >= 3]
        if not sequences:
            raise ValueError("no sequence has three observations or more: there is no triple to learn from")
        self.discrete_ = sequences[0].ndim == 1
        views = [np.concatenate([s[t : len(s) - 2 + t] for s in sequences]) for t in range(3)]
        self.n_triples_ = len(views[0])
        if self.discrete_:
            d = self._symbols(max(int(v.max()) for v in views))
            views = [_one_hot(v, d) for v in views]
        else:
            pooled = np.concatenate(sequences)
            self._variance = pooled.var(axis=0), pooled.mean(axis=0)
        weights, (_, O, OT) = fit_views(self, views, k, self._generator())
        self._store_weights(weights)
        O, OT = O.T, OT.T
        T, self.raw_startprob_ = hmm_from_views(O, OT, self.weights_)
        self.raw_transmat_ = np.ascontiguousarray(T.T)
        if self.discrete_:
            self.emissionprob_ = to_distributions(O.T)
        else:
            self.means_ = O.T
        self.transmat_ = to_distributions(self.raw_transmat_)
        self.startprob_ = to_distributions(self.raw_startprob_[None])[0]
        return self

    def to_hmm(self):
        """Return the estimate as a :class:`learnable.latent.hmm.HMM`, whose transition matrix has rows that sum to one.

        Vector observations get diagonal Gaussian emissions, with the variance that the states' means leave unexplained.
        """

        check_is_fitted(self, "transmat_")
        if self.discrete_:
            return HMM(self.startprob_, self.transmat_, DiscreteEmission(self.emissionprob_))
        means = self.means_
        variance, centre = self._variance
        between = self.weights_ @ (means - centre) ** 2
        left = np.maximum(variance - between, 1e-3 * variance)
        return HMM(self.startprob_, self.transmat_, GaussianEmission(means, np.tile(left, (len(means), 1))))

    def _symbols(self, largest):
        d = largest + 1
        if self.n_symbols is not None:
            d = check_scalar(self.n_symbols, "n_symbols", low=1, integer=True)
        if largest >= d:
            raise ValueError(f"sequences contain the symbol {largest}, but n_symbols = {d}: symbols are 0 to {d - 1}")
        if d > MOST_SYMBOLS:
            raise ValueError(
                f"{d} symbols need moments of {d} x {d} numbers; at most {MOST_SYMBOLS} are accepted. Symbols that "
                "leave gaps can be numbered anew: np.unique(x, return_inverse=True)"
            )
        return d


def hmm_from_views(O, OT, w):
    """Transition matrix T = O^+ (O T) and start pi = T^(-1) w, before any clipping.

    Examples
    --------
    >>> T = np.array([[0.9, 0.2], [0.1, 0.8]]); O = np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.5]])
    >>> got, pi = hmm_from_views(O, O @ T, T @ [0.5, 0.5])
    >>> bool(np.allclose(got, T)), pi.round(12).tolist()
    (True, [0.5, 0.5])
    """
    O, OT = check_finite_array(O, "O", ndim=2), check_finite_array(OT, "OT", ndim=2)
    w = check_finite_array(w, "w", ndim=1)
    if O.shape != OT.shape or O.shape[1] != w.size:
        raise ValueError(f"O and OT must have shape (d, {w.size}), got {O.shape} and {OT.shape}")
    T = np.linalg.lstsq(O, OT, rcond=None)[0]
    return T, np.linalg.lstsq(T, w, rcond=None)[0]


def fit_views(estimator, views, k, rng):
    """Weights (not normalised) and the conditional means (k, d_t) of all three views, by `estimator._decompose`."""
    for t, X in enumerate(views):
        if X.shape[1] < k:
            raise ValueError(
                f"k = {k} components need at least {k} dimensions in every view, view {t + 1} has {X.shape[1]}"
            )
    X1, X2, X3 = views
    n = X1.shape[0]
    E12, E13, E23 = _cross(X1, X2) / n, _cross(X1, X3) / n, _cross(X2, X3) / n
    A1 = E23.T @ _pinv(E12, k, "1 and 2")  # x~_1 = A1 x_1
    A2 = E13.T @ _pinv(E12.T, k, "2 and 1")
    M2 = A1 @ E12 @ A2.T
    W, B = whiten((M2 + M2.T) / 2, k)
    maps = [A1.T @ W, A2.T @ W, W]
    T = symmetrize(_third(views, maps) / n)
    weights, third = estimator._decompose(T, B, rng)
    second = third @ (E12.T @ _pinv(E13.T, k, "3 and 1")).T
    first = third @ (E12 @ _pinv(E23.T, k, "3 and 2")).T
    return weights, [first, second, third]


def _third(views, maps):
    """sum over rows of (x_1 F_1) (x) (x_2 F_2) (x) (x_3 F_3), in chunks."""
    k = maps[0].shape[1]
    total = np.zeros((k, k * k))
    for start in range(0, views[0].shape[0], CHUNK):
        y1, y2, y3 = (np.asarray(X[start : start + CHUNK] @ F) for X, F in zip(views, maps, strict=True))
        total += y1.T @ (y2[:, :, None] * y3[:, None, :]).reshape(len(y1), k * k)
    return total.reshape(k, k, k)


def _cross(X, Y):
    product = X.T @ Y
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def _pinv(M, k, names):
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    if not s[k - 1] > 1e-12 * s[0] or s[0] == 0.0:
        raise ValueError(
            f"the cross moment of views {names} has rank {int((s > 1e-12 * s[0]).sum())}, k = {k} components "
            f"ask for {k}: lower k, or give views that tell the components apart"
        )
    return (Vt[:k].T / s[:k]) @ U[:, :k].T


def _check_view(X, name):
    if sparse.issparse(X):
        X = sparse.csr_matrix(X, dtype=np.float64)
        if not np.isfinite(X.data).all():
            raise ValueError(f"{name} must not contain NaN or infinite values")
        return X
    return check_table(X, name, columns=0)


def _one_hot(symbols, d):
    n = len(symbols)
    return sparse.csr_matrix((np.ones(n), symbols, np.arange(n + 1)), shape=(n, d))


def _check_sequences(sequences):
    if isinstance(sequences, np.ndarray) and sequences.ndim == 1 and sequences.dtype.kind in "iuf":
        sequences = [sequences]
    out = []
    for i, s in enumerate(sequences):
        s = np.asarray(s)
        if s.ndim == 1 and s.size == 0:
            s = s.astype(np.int64)
        if s.ndim == 1:
            if s.dtype.kind not in "iu":
                raise ValueError(
                    f"sequence {i} must hold symbols 0, 1, ... as integers, or be an array (length, d); got {s.dtype}"
                )
            if s.size and s.min() < 0:
                raise ValueError(f"symbols must be 0 or larger, got {s.min()} in sequence {i}")
            s = s.astype(np.int64)
        else:
            s = check_finite_array(s, f"sequence {i}", ndim=2)
        out.append(s)
    if not out:
        raise ValueError("sequences must hold at least one sequence")
    if len({(s.ndim, *s.shape[1:]) for s in out if len(s)}) > 1:
        raise ValueError("all sequences must be of one kind: symbols, or vectors of one length")
    return out
