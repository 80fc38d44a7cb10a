"""Plausible wrong solutions to the exercises on tensor decompositions."""

import numpy as np
from support import wrong


@wrong(
    "q1",
    fails=(
        "Words that repeat",
        "Entries sum to one, in any order of the indices",
        "The shortest document that has a triple",
    ),
)
def diagonal_left_negative():
    """Forgets to give back what the three subtractions took twice too often from the diagonal."""

    def pair_triple_moments(counts):
        c = np.asarray(counts, dtype=float)
        n = c.sum()
        square = np.outer(c, c)
        triples = np.multiply.outer(square, c)
        for i in range(len(c)):
            triples[i, i, :] -= c[i] * c
            triples[i, :, i] -= c[i] * c
            triples[:, i, i] -= c[i] * c
        triples[range(len(c)), range(len(c)), range(len(c))] += np.where(c == 1, 2 * c, 0)
        return (square - np.diag(c)) / (n * (n - 1)), triples / (n * (n - 1) * (n - 2))

    return {"pair_triple_moments": pair_triple_moments}


@wrong("q1", fails="Entries sum to one, in any order of the indices")
def one_pair_of_indices_twice():
    """Corrects for the first and the third index twice and for the second and the third never."""

    def pair_triple_moments(counts):
        c = np.asarray(counts, dtype=float)
        n = c.sum()
        square = np.outer(c, c)
        triples = np.multiply.outer(square, c)
        for i in range(len(c)):
            triples[i, i, :] -= c[i] * c
            triples[i, :, i] -= 2 * c[i] * c
            triples[i, i, i] += 2 * c[i]
        return (square - np.diag(c)) / (n * (n - 1)), triples / (n * (n - 1) * (n - 2))

    return {"pair_triple_moments": pair_triple_moments}


@wrong("q2", fails=("Iterates after one, two and three steps", "The quadratic bound"))
def averages_with_the_old_iterate():
    """Moves half way only: it converges to the same limit, but no longer quadratically."""

    def tensor_power(T, theta0, n_iter):
        u = np.asarray(theta0, dtype=float)
        u = u / np.linalg.norm(u)
        for _ in range(n_iter):
            new = np.einsum("ijl,j,l->i", T, u, u)
            u = u + new / np.linalg.norm(new)
            u = u / np.linalg.norm(u)
        return u

    return {"tensor_power": tensor_power}


@wrong("q2", fails="A start on the far side")
def keeps_the_sign_of_the_start():
    """Turns the result back to the side of the start, as one does for eigenvectors of matrices."""

    def tensor_power(T, theta0, n_iter):
        u = np.asarray(theta0, dtype=float)
        start = u = u / np.linalg.norm(u)
        for _ in range(n_iter):
            u = np.einsum("ijl,j,l->i", T, u, u)
            u = u / np.linalg.norm(u)
        return u * (1.0 if u @ start >= 0 else -1.0)

    return {"tensor_power": tensor_power}


@wrong("q3", fails="Equal eigenvalues")
def singular_vectors():
    """Flattens the tensor and takes singular vectors: right only if all eigenvalues differ."""

    def decompose(T, k, seed):
        U = np.linalg.svd(T.reshape(len(T), -1))[0][:, :k]
        lam = np.einsum("ijl,ia,ja,la->a", T, U, U, U)
        return np.abs(lam), U * np.sign(lam)

    return {"decompose": decompose}


@wrong("q3", fails="Fewer components than dimensions")
def as_many_as_dimensions():
    """Returns a component for every dimension, not k of them."""

    def decompose(T, k, seed):
        d, rng = len(T), np.random.default_rng(seed)
        lam, V = np.zeros(d), np.zeros((d, d))
        for j in range(d):
            best = -np.inf
            for _ in range(40):
                u = rng.normal(size=d)
                for _ in range(40):
                    u = np.einsum("ijl,j,l->i", T, u, u)
                    u = u / max(np.linalg.norm(u), 1e-300)
                value = np.einsum("ijl,i,j,l->", T, u, u, u)
                if value > best:
                    best, lam[j], V[:, j] = value, value, u
            T = T - lam[j] * np.einsum("i,j,l->ijl", V[:, j], V[:, j], V[:, j])
        return lam, V

    return {"decompose": decompose}


@wrong("q3", fails="A noisy tensor, within 8 eps / lambda")
def one_random_contraction():
    """Reads eigenvectors off a single contraction: exact without noise, fragile with it."""

    def decompose(T, k, seed):
        d, rng = len(T), np.random.default_rng(seed)
        U = np.linalg.eigh(T @ rng.normal(size=d))[1]
        lam = np.einsum("ijl,ia,ja,la->a", T, U, U, U)
        top = np.argsort(-np.abs(lam))[:k]
        return np.abs(lam[top]), U[:, top] * np.sign(lam[top])

    return {"decompose": decompose}


@wrong("q4", fails=("More words than topics",))
def symmetric_alpha():
    """Takes all Dirichlet parameters to be equal."""

    def lda_from_moments(P1, P2, P3, alpha0, k):
        M2 = P2 - alpha0 / (alpha0 + 1) * np.outer(P1, P1)
        mixed = np.multiply.outer(P2, P1)
        mixed = mixed + mixed.transpose(0, 2, 1) + mixed.transpose(2, 0, 1)
        cube = np.multiply.outer(np.outer(P1, P1), P1)
        M3 = P3 - alpha0 / (alpha0 + 2) * mixed + 2 * alpha0**2 / ((alpha0 + 2) * (alpha0 + 1)) * cube
        values, U = np.linalg.eigh(M2)
        values, U = values[-k:], U[:, -k:]
        W, B = U / np.sqrt(values), U * np.sqrt(values)
        _, V = decompose(np.einsum("ijl,ia,jb,lc->abc", M3, W, W, W), k, 0)  # noqa: F821
        topics = (B @ V).T
        return np.full(k, alpha0 / k), topics / topics.sum(axis=1, keepdims=True)

    return {"lda_from_moments": lda_from_moments}


@wrong("q4", fails=("More words than topics", "Documents of almost one topic"))
def inverts_all_eigenvalues():
    """Whitens with all d eigenvalues of M2: right only if there are as many topics as words."""

    def lda_from_moments(P1, P2, P3, alpha0, k):
        M2 = P2 - alpha0 / (alpha0 + 1) * np.outer(P1, P1)
        mixed = np.multiply.outer(P2, P1)
        mixed = mixed + mixed.transpose(0, 2, 1) + mixed.transpose(2, 0, 1)
        cube = np.multiply.outer(np.outer(P1, P1), P1)
        M3 = P3 - alpha0 / (alpha0 + 2) * mixed + 2 * alpha0**2 / ((alpha0 + 2) * (alpha0 + 1)) * cube
        values, U = np.linalg.eigh(M2)
        values = np.abs(values)
        W, B = U / np.sqrt(values), U * np.sqrt(values)
        lam, V = decompose(np.einsum("ijl,ia,jb,lc->abc", M3, W, W, W), k, 0)  # noqa: F821
        a = (2 / ((alpha0 + 2) * lam)) ** 2
        return alpha0 * (alpha0 + 1) * a, (B @ V / np.sqrt(a)).T

    return {"lda_from_moments": lda_from_moments}


@wrong(
    "q5",
    fails=("Three states, five symbols, one order of the states", "A chain that starts far from its stationary law"),
)
def full_pseudo_inverse():
    """Pseudo-inverses that keep rounding errors as if they were moments."""

    def hmm_from_moments(P12, P31, P32, P123, k):
        def pinv(M):
            return np.linalg.pinv(M, rcond=1e-300)

        A1, A2 = P32 @ pinv(P12), P31 @ pinv(P12.T)
        M2 = A1 @ P12 @ A2.T
        values, U = np.linalg.eigh((M2 + M2.T) / 2)
        values, U = np.abs(values[-k:]), U[:, -k:]
        W, B = U / np.sqrt(values), U * np.sqrt(values)
        M3 = np.einsum("abc,ia,jb,ix,jy,cz->xyz", P123, A1, A2, W, W, W, optimize=True)
        M3 = (M3 + M3.transpose(1, 2, 0) + M3.transpose(2, 0, 1)) / 3
        lam, V = decompose((M3 + M3.transpose(1, 0, 2)) / 2, k, 0)  # noqa: F821
        w, OT = lam**-2.0, B @ V * lam
        O = P12.T @ pinv(P31) @ OT
        T = np.linalg.pinv(O) @ OT
        return O, T, np.linalg.lstsq(T, w, rcond=None)[0]

    return {"hmm_from_moments": hmm_from_moments}


@wrong(
    "q5",
    fails=("Three states, five symbols, one order of the states", "A chain that starts far from its stationary law"),
)
def law_of_the_second_state():
    """Returns the weights of the middle state for pi, patched by the first symbol where that can be solved exactly."""

    def hmm_from_moments(P12, P31, P32, P123, k):
        def pinv(M):
            U, s, Vt = np.linalg.svd(M)
            return (Vt[:k].T / s[:k]) @ U[:, :k].T

        A1, A2 = P32 @ pinv(P12), P31 @ pinv(P12.T)
        M2 = A1 @ P12 @ A2.T
        values, U = np.linalg.eigh((M2 + M2.T) / 2)
        values, U = values[-k:], U[:, -k:]
        W, B = U / np.sqrt(values), U * np.sqrt(values)
        M3 = np.einsum("abc,ia,jb,ix,jy,cz->xyz", P123, A1, A2, W, W, W, optimize=True)
        M3 = (M3 + M3.transpose(1, 2, 0) + M3.transpose(2, 0, 1)) / 3
        lam, V = decompose((M3 + M3.transpose(1, 0, 2)) / 2, k, 0)  # noqa: F821
        w, OT = lam**-2.0, B @ V * lam
        O = P12.T @ pinv(P31) @ OT
        T = np.linalg.pinv(O) @ OT
        return O, T, np.linalg.solve(O, P12.sum(axis=1)) if len(O) == k else w

    return {"hmm_from_moments": hmm_from_moments}
