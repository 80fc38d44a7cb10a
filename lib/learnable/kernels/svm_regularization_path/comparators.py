"""What the path is compared with: Parzen windows, ridge-penalised logistic regression, regularised discriminants."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from sklearn.linear_model import LogisticRegression

from learnable.kernels.functions import as_kernel
from learnable.validation import check_finite_array, check_scalar

__all__ = ["angle_to", "effective_rank", "logistic_path", "regularised_lda_path", "rotate_wide"]


def parzen_classifier(X, y, kernel="rbf", **params):
    """The rule sign(sum of y_j K(x, x_j)): class densities by Parzen windows, weighted by the class shares.

    It is the machine without intercept at the most regularised end of its path.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)
        Labels -1 and +1.
    kernel : str, Kernel or callable
    **params
        Of a kernel given by name.

    Returns
    -------
    callable
        Maps points (m, d) to labels -1 and +1.

    Examples
    --------
    >>> rule = parzen_classifier([[0.0], [1.0], [3.0]], [-1, -1, 1], gamma=2.0)
    >>> rule([[0.4], [2.9]]).tolist()
    [-1, 1]
    """
    kernel = as_kernel(kernel, **params)
    X = check_finite_array(X, "X", ndim=2)
    y = check_finite_array(y, "y", ndim=1)
    if y.size != X.shape[0] or not np.all(np.abs(y) == 1.0):
        raise ValueError("y must hold one label -1 or +1 for each row of X")

    def rule(points):
        return np.where(kernel(check_finite_array(points, "points", ndim=2), X) @ y >= 0.0, 1, -1)

    return rule


def effective_rank(K, tol=1e-12):
    """Number of eigenvalues of a kernel matrix above `tol` (absolute, as in Hastie et al. 2004).

    Parameters
    ----------
    K : array-like of shape (n, n)
    tol : float, default=1e-12

    Examples
    --------
    >>> effective_rank([[1.0, 1.0], [1.0, 1.0]])
    1
    """
    K = check_finite_array(K, "K", ndim=2)
    tol = check_scalar(tol, "tol", low=0.0)
    return int(np.count_nonzero(linalg.svdvals(K) > tol))


def rotate_wide(X):
    """Replace X (n, p) with p > n by R = XV (n, n), from X = UDV'; returns (R, V).

    Inner products, and with them every path of a linear kernel, stay the same; apply ``X_new @ V`` to new points
    (their component outside the row space has inner product zero with all training points).

    Parameters
    ----------
    X : array-like of shape (n, p)

    Examples
    --------
    >>> X = np.arange(6.0).reshape(2, 3)
    >>> R, V = rotate_wide(X)
    >>> bool(np.allclose(R @ R.T, X @ X.T)), R.shape
    (True, (2, 2))
    """
    X = check_finite_array(X, "X", ndim=2)
    _, _, Vt = linalg.svd(X, full_matrices=False)
    V = Vt.T
    return X @ V, V


def angle_to(beta, direction):
    """Angle in degrees between a weight vector and a reference direction.

    Parameters
    ----------
    beta : array-like of shape (d,)
    direction : array-like of shape (d,)

    Examples
    --------
    >>> round(angle_to([1.0, 1.0], [1.0, 0.0]), 6)
    45.0
    """
    a, b = check_finite_array(beta, "beta", ndim=1), check_finite_array(direction, "direction", ndim=1)
    if a.size != b.size or not a.any() or not b.any():
        raise ValueError("both vectors must be non-zero and of the same length")
    return float(np.degrees(np.arccos(np.clip(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)), -1.0, 1.0))))


def logistic_path(X, y, alphas):
    """Ridge-penalised logistic regression at each lambda: sum of ln(1 + exp(-y f)) + lambda/2 |beta|^2.

    scikit-learn's Newton iteration does the work, in the row space of X when there are more columns than rows.

    Parameters
    ----------
    X : array (n, p)
    y : array (n,)
        Labels; more than two classes give the multinomial model.
    alphas : array (s,)

    Returns
    -------
    coefs : ndarray (s, p), or (s, k, p) for k > 2 classes
    intercepts : ndarray (s,) or (s, k)

    Examples
    --------
    >>> coefs, _ = logistic_path([[-1.0], [1.0], [0.5], [-0.5]], [0, 1, 0, 1], [1.0, 0.1])
    >>> bool(abs(coefs[1, 0]) > abs(coefs[0, 0]))
    True
    """
    X = check_finite_array(X, "X", ndim=2)
    alphas = _check_alphas(alphas)
    R, V = rotate_wide(X) if X.shape[1] > X.shape[0] else (X, None)
    model = LogisticRegression(solver="newton-cholesky", tol=1e-9, max_iter=200, warm_start=True)
    coefs, intercepts = [None] * alphas.size, [None] * alphas.size
    for k in np.argsort(-alphas):
        model.set_params(C=1.0 / alphas[k]).fit(R, y)
        coefs[k] = model.coef_.copy() if V is None else model.coef_ @ V.T
        intercepts[k] = model.intercept_.copy()
    coefs, intercepts = np.array(coefs), np.array(intercepts)
    return (coefs[:, 0], intercepts[:, 0]) if coefs.shape[1] == 1 else (coefs, intercepts)


def regularised_lda_path(X, y, alphas):
    """Linear discriminants with the pooled within-class scatter increased by lambda on its diagonal.

    beta = (S_W + lambda I)^{-1} (mean_1 - mean_0), with the threshold halfway between the projected means.

    Parameters
    ----------
    X : array (n, p)
    y : array (n,)
        Two labels.
    alphas : array (s,)

    Returns
    -------
    coefs : ndarray (s, p)
    intercepts : ndarray (s,)

    Examples
    --------
    >>> coefs, _ = regularised_lda_path([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1], [1.0])
    >>> coefs.tolist()
    [[2.0, 0.0]]
    """
    X = check_finite_array(X, "X", ndim=2)
    alphas = _check_alphas(alphas)
    y = np.asarray(y)
    classes = np.unique(y)
    if classes.size != 2 or y.shape != (X.shape[0],):
        raise ValueError(f"y must hold two classes, one label a row of X; got {classes.size}")
    first, second = X[y == classes[0]], X[y == classes[1]]
    means = first.mean(axis=0), second.mean(axis=0)
    centred = np.vstack([first - means[0], second - means[1]])
    difference = means[1] - means[0]
    _, D, Vt = linalg.svd(centred, full_matrices=False)
    inside = Vt @ difference
    outside = difference - Vt.T @ inside
    coefs = (inside / (D**2 + alphas[:, None])) @ Vt + outside / alphas[:, None]
    return coefs, -coefs @ (0.5 * (means[0] + means[1]))


def _check_alphas(alphas):
    alphas = check_finite_array(alphas, "alphas", ndim=1)
    if alphas.size == 0 or np.any(alphas <= 0.0):
        raise ValueError(f"alphas must hold at least one number, all positive; got {alphas.tolist()}")
    return alphas
