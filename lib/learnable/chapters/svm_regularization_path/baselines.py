"""What the path is compared with: Parzen windows, ridge-penalised logistic regression, regularised discriminants."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from sklearn.linear_model import LogisticRegression


def effective_rank(K, tol=1e-12):
    """Number of eigenvalues of a kernel matrix above `tol` (absolute, as in Hastie et al. 2004)."""
    return int(np.count_nonzero(linalg.svdvals(K) > tol))


def rotate_wide(X):
    """Replace X (n, p) with p > n by R = XV (n, n), from X = UDV'; returns (R, V)."""
    _, _, Vt = linalg.svd(X, full_matrices=False)
    return X @ Vt.T, Vt.T


def angle_to(a, b):
    """Angle in degrees between a weight vector and a reference direction."""
    return float(np.degrees(np.arccos(np.clip(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)), -1.0, 1.0))))


def logistic_path(X, y, alphas):
    """Ridge-penalised logistic regression at each lambda: sum of ln(1 + exp(-y f)) + lambda/2 |beta|^2."""
    alphas = np.asarray(alphas, dtype=float)
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
    """Linear discriminants with the pooled within-class scatter increased by lambda on its diagonal."""
    alphas = np.asarray(alphas, dtype=float)[:, None]
    first, second = (X[y == c] for c in np.unique(y))
    means = first.mean(axis=0), second.mean(axis=0)
    centred = np.vstack([first - means[0], second - means[1]])
    difference = means[1] - means[0]
    _, D, Vt = linalg.svd(centred, full_matrices=False)
    inside = Vt @ difference
    outside = difference - Vt.T @ inside
    coefs = (inside / (D**2 + alphas)) @ Vt + outside / alphas
    return coefs, -coefs @ (0.5 * (means[0] + means[1]))
