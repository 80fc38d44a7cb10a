"""Plausible wrong solutions to the exercises on kernels and kernel regression."""

import numpy as np
from support import wrong


def descend_in_pairs(Q, y, eps, C):
    alpha, G = np.zeros(len(y)), -np.asarray(y, dtype=float)
    for _ in range(200_000):
        up = np.where(alpha < C, G + np.where(alpha >= 0, eps, -eps), np.inf)
        down = np.where(alpha > -C, G + np.where(alpha > 0, eps, -eps), -np.inf)
        i, j = np.argmin(up), np.argmax(down)
        if down[j] - up[i] < 1e-9:
            break
        step = (down[j] - up[i]) / max(Q[i, i] + Q[j, j] - 2 * Q[i, j], 1e-12)
        step = min(step, -alpha[i] if alpha[i] < 0 else C - alpha[i])
        step = min(step, alpha[j] if alpha[j] > 0 else C + alpha[j])
        alpha[i] += step
        alpha[j] -= step
        G += step * (Q[:, i] - Q[:, j])
    return alpha, -(up[i] + down[j]) / 2


@wrong("q1", fails="A Gaussian kernel, and centring twice")
def three_points_for_ever():
    """Divides the total by the nine entries of the first example."""

    def center_gram(K):
        return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.sum() / 9

    def center_cross(K_test, K):
        return K_test - K_test.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()

    return {"center_gram": center_gram, "center_cross": center_cross}


@wrong("q1", fails="More training than test points, far from their mean")
def test_points_by_their_own_mean():
    """Takes the mean of the columns of the test block where that of the training block is meant."""

    def center_gram(K):
        means = K.mean(axis=0)
        return K - means[:, None] - means[None, :] + means.mean()

    def center_cross(K_test, K):
        columns = K.mean(axis=0) if len(K_test) == len(K) else K_test.mean(axis=0)
        return K_test - K_test.mean(axis=1, keepdims=True) - columns + K.mean()

    return {"center_gram": center_gram, "center_cross": center_cross}


@wrong("q2", fails="A word in every document, and words that repeat")
def presence_instead_of_counts():
    """Uses whether a word occurs, not how often."""

    def tfidf_kernel(docs):
        words = sorted({w for doc in docs for w in doc.split()})
        present = np.array([[float(w in doc.split()) for w in words] for doc in docs])
        weighted = present * np.log(len(docs) / present.sum(axis=0))
        return weighted @ weighted.T

    return {"tfidf_kernel": tfidf_kernel}


@wrong("q2", fails="A document without words")
def drops_empty_documents():
    """Counts only the documents that have words."""

    def tfidf_kernel(docs):
        words = sorted({w for doc in docs for w in doc.split()})
        counts = np.array([[float(doc.split().count(w)) for w in words] for doc in docs])
        n = int((counts.sum(axis=1) > 0).sum())
        weighted = counts * np.log(n / (counts > 0).sum(axis=0))
        return weighted @ weighted.T

    return {"tfidf_kernel": tfidf_kernel}


@wrong("q3", fails="Repeated points: a singular Gram matrix")
def inverts_the_centred_matrix_first():
    """Writes alpha through the inverse of K0, which exists for few kernels only."""

    def kernel_ridge(K, y, lam):
        n = len(y)
        J = np.eye(n) - 1 / n
        K0 = J @ K @ J
        inverse = np.linalg.inv(K0 + lam * np.eye(n))
        fitted = K0 @ inverse @ (y - y.mean())
        alpha = np.linalg.pinv(K0) @ fitted
        leverage = 1 / n + np.diag(K0 @ inverse)
        return alpha, np.mean(y - K @ alpha), (y - y.mean() - fitted) / (1 - leverage)

    def loo_path(K, y, lams):
        n = len(y)
        s, U = np.linalg.eigh((np.eye(n) - 1 / n) @ K @ (np.eye(n) - 1 / n))
        share = s[:, None] / (s[:, None] + np.asarray(lams))
        residuals = (y - y.mean())[:, None] - U @ ((U.T @ (y - y.mean()))[:, None] * share)
        return np.mean((residuals / (1 - 1 / n - (U**2) @ share)) ** 2, axis=0)

    return {"kernel_ridge": kernel_ridge, "loo_path": loo_path}


@wrong("q3", fails="Fifty penalties, 400 points, in time")
def generalised_cross_validation():
    """Replaces every leverage by their mean, which changes nothing when all points are alike."""

    def kernel_ridge(K, y, lam):
        n = len(y)
        J = np.eye(n) - 1 / n
        inverse = np.linalg.inv(J @ K @ J + lam * np.eye(n))
        alpha = inverse @ (y - y.mean())
        leverage = 1 / n + np.diag(J @ K @ J @ inverse)
        a = np.mean(y - K @ alpha)
        return alpha, a, (y - K @ alpha - a) / (1 - leverage)

    def loo_path(K, y, lams):
        n = len(y)
        s, U = np.linalg.eigh((np.eye(n) - 1 / n) @ K @ (np.eye(n) - 1 / n))
        share = s[:, None] / (s[:, None] + np.asarray(lams))
        residuals = (y - y.mean())[:, None] - U @ ((U.T @ (y - y.mean()))[:, None] * share)
        return np.mean((residuals / (1 - (1 + share.sum(axis=0)) / n)) ** 2, axis=0)

    return {"kernel_ridge": kernel_ridge, "loo_path": loo_path}


@wrong("q4", fails="One function in two expansions")
def pairs_points_one_to_one():
    """Adds over pairs with the same number when the expansions are long."""

    def rkhs_inner(k, f, g):
        (X, a), (Y, b) = f, g
        if len(X) > 2 and len(Y) > 2:
            return float(sum(ai * bi * k(x, y) for x, ai, y, bi in zip(X, a, Y, b, strict=False)))
        return float(sum(ai * bj * k(x, y) for x, ai in zip(X, a, strict=True) for y, bj in zip(Y, b, strict=True)))

    def rkhs_distance(k, f, g):
        square = rkhs_inner(k, f, f) - 2 * rkhs_inner(k, f, g) + rkhs_inner(k, g, g)
        return float(np.sqrt(max(square, 0.0)))

    return {"rkhs_inner": rkhs_inner, "rkhs_distance": rkhs_distance}


@wrong("q4", fails="Sections of a kernel, and Cauchy and Schwarz")
def distance_in_the_input_space():
    """Adds up the points before applying the kernel: right for linear functions only."""

    def rkhs_inner(k, f, g):
        (X, a), (Y, b) = f, g
        return float(sum(ai * bj * k(x, y) for x, ai in zip(X, a, strict=True) for y, bj in zip(Y, b, strict=True)))

    def rkhs_distance(k, f, g):
        difference = np.asarray(f[1]) @ np.asarray(f[0]) - np.asarray(g[1]) @ np.asarray(g[0])
        return float(np.linalg.norm(difference))

    return {"rkhs_inner": rkhs_inner, "rkhs_distance": rkhs_distance}


@wrong("q5", fails="Primal equals dual, for both powers")
def squares_like_absolute_values():
    """Solves p = 1 whatever p is."""

    def eps_regression(K, y, lam, eps, p):
        return descend_in_pairs(K, y, eps, 1 / (2 * lam))

    return {"eps_regression": eps_regression, "descend_in_pairs": descend_in_pairs}


@wrong("q5", fails="All points within the tube")
def intercept_is_the_mean():
    """Sets the intercept to the mean residual when no coefficient moved."""

    def eps_regression(K, y, lam, eps, p):
        Q = K + lam * np.eye(len(y)) if p == 2 else K
        alpha, a = descend_in_pairs(Q, y, eps, np.inf if p == 2 else 1 / (2 * lam))
        return alpha, a if np.any(alpha) else np.mean(y) + 2 * eps

    return {"eps_regression": eps_regression, "descend_in_pairs": descend_in_pairs}


@wrong("q5", fails="Squares: every support vector gives the same intercept")
def intercept_of_the_other_power():
    """Takes the first support vector to lie on the boundary of the tube, as for p = 1."""

    def eps_regression(K, y, lam, eps, p):
        Q = K + lam * np.eye(len(y)) if p == 2 else K
        alpha, a = descend_in_pairs(Q, y, eps, np.inf if p == 2 else 1 / (2 * lam))
        if p == 2 and np.any(alpha):
            support = np.abs(alpha) > 1e-9
            a = (y - K @ alpha - eps * np.sign(alpha))[support][0]
        return alpha, a

    return {"eps_regression": eps_regression, "descend_in_pairs": descend_in_pairs}
