"""Kernel ridge paths, lasso and tubes beside scikit-learn and a general quadratic solver."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.linear_model import Lasso as SklearnLasso
from sklearn.linear_model import lasso_path as sklearn_lasso_path
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from benchmarks.harness import Benchmark, Once, peer_package
from learnable.chapters.kernels_and_regression.theory import epsilon_objective
from learnable.kernels import EpsilonRidge, EpsilonSVR, kernel_ridge_path
from learnable.kernels.functions import Gaussian, center_gram
from learnable.kernels.rkhs import representer_solve
from learnable.optim.coordinate_descent import lasso_path, max_alpha, solve_lasso

warnings.simplefilter("ignore", ConvergenceWarning)
bench = Benchmark("kernels_and_regression", packages=("celer", "skglm"))
celer, skglm = peer_package("celer"), peer_package("skglm")


LAMS = np.geomspace(1e-3, 1e2, 50)
for d, sigma in ((1, 0.5), (2, 1.0), (10, 3.0)):
    for n in bench.sizes([200, 500, 1000]):
        rng = np.random.default_rng(0)
        X = rng.uniform(-3, 3, size=(n, d))
        y = np.sinc(X).sum(axis=1) + 0.1 * rng.normal(size=n)

        def peer_loop(X=X, y=y, sigma=sigma):
            models = [SklearnKernelRidge(alpha=lam, kernel="rbf", gamma=0.5 / sigma**2) for lam in LAMS]
            return [model.fit(X, y - y.mean()).dual_coef_ for model in models]

        def peer_precomputed(X=X, y=y, sigma=sigma):
            K = center_gram(rbf_kernel(X, gamma=0.5 / sigma**2))
            models = [SklearnKernelRidge(alpha=lam, kernel="precomputed") for lam in LAMS]
            return [model.fit(K, y - y.mean()).dual_coef_ for model in models]

        def same_residuals(ours, peer, y=y):
            # Both models have y - f = lam alpha; on the centred kernel they are one model.
            scale = np.abs(y - y.mean()).max()
            gaps = [lam * np.abs(a - b).max() / scale for lam, a, b in zip(LAMS, ours.dual_coefs, peer, strict=True)]
            assert max(gaps) < 0.6, max(gaps)
            if max(gaps) < 1e-8:
                return f"residuals differ by at most {max(gaps):.0e} of the range"
            return f"residuals differ by up to {max(gaps):.1g} of the range: without centring the peer has no intercept"

        bench.compare(
            f"kernel ridge, 50 penalties and leave-one-out, {d} features",
            size=n,
            ours=lambda X=X, y=y, sigma=sigma: kernel_ridge_path(Gaussian(sigma)(X), y, LAMS),
            peers={
                "50 fits of KernelRidge": peer_loop,
                "50 fits of KernelRidge, centred kernel computed once": peer_precomputed,
            },
            accuracy=same_residuals,
        )


def design(n, p, density, rho, seed=0):
    rng = np.random.default_rng(seed)
    if density < 1:
        X = sparse.random_array((n, p), density=density, rng=rng, format="csc")
    else:
        X = rng.normal(size=(n, p))
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        X = np.asfortranarray(X)
    beta = np.zeros(p)
    beta[:15] = rng.normal(size=15)
    return X, X @ beta + 0.5 * rng.normal(size=n)


def same_objective(X, y, penalty):
    means = np.asarray(X.mean(axis=0)).ravel()
    target = y - y.mean()

    def objective(b):
        r = target - X @ b + means @ b
        return 0.5 * r @ r + penalty * np.abs(b).sum()

    def check(ours, peer):
        a, b = objective(ours.coef), objective(peer.coef_)
        assert a <= b + 1e-8 * target @ target, (a, b)
        return f"objectives differ by {(a - b) / b:.0e}; gap {ours.gap / (target @ target):.0e} of |y|^2"

    return check


SHAPES = {
    "10,000 x 100": (10_000, 100, 1.0, 0.5),
    "1000 x 1000": (1000, 1000, 1.0, 0.5),
    "200 x 5000": (200, 5000, 1.0, 0.5),
    "2000 x 10,000, 1 % non-zero": (2000, 10_000, 0.01, 0.0),
}
for name, shape in SHAPES.items():
    X, y = design(*shape)
    top = max_alpha(X, y, center=True)
    for share in bench.sizes([10, 100]):
        alpha = top / share
        bench.compare(
            f"lasso {name}, gap 1e-8 of |y|^2 (size: largest penalty over penalty)",
            size=share,
            ours=lambda X=X, y=y, alpha=alpha: solve_lasso(X, y, alpha, center=True, tol=1e-8),
            peers={
                "scikit-learn Lasso": lambda X=X, y=y, alpha=alpha: SklearnLasso(
                    alpha=alpha, tol=1e-8, max_iter=100_000
                ).fit(X, y)
            },
            accuracy=same_objective(X, y, len(y) * alpha),
        )


def same_path(X, y):
    def check(ours, peer):
        gap = float(np.abs(X @ (ours.coefs - peer[1].T).T).max() / np.abs(y).max())
        assert gap < 1e-2, gap
        return f"fits differ by {gap:.0e} of the largest response"

    return check


def skglm_path(X, y, alphas):
    """Its stopping rule is the largest violation of the conditions, not a gap: this one gives fits as good as ours."""
    solver = skglm.solvers.AndersonCD(tol=1e-3 * alphas[-1], fit_intercept=False, max_iter=1000)
    return solver.path(X, y, skglm.datafits.Quadratic(), skglm.penalties.L1(alphas[0]), alphas=alphas)


for name, shape in list(SHAPES.items())[:3]:
    X, y = design(*shape)
    X, y = np.asfortranarray(X - X.mean(axis=0)), y - y.mean()
    top = max_alpha(X, y)
    for k in bench.sizes([20, 50, 100]):
        alphas = top * np.geomspace(1.0, 0.01, k)
        bench.compare(
            f"lasso path {name}, gap 1e-6 of |y|^2 (size: number of penalties)",
            size=k,
            ours=lambda X=X, y=y, alphas=alphas: lasso_path(X, y, alphas, tol=1e-6),
            peers={
                "scikit-learn lasso_path": lambda X=X, y=y, alphas=alphas: sklearn_lasso_path(
                    X, y, alphas=alphas, tol=1e-6, max_iter=100_000
                ),
                "celer_path": lambda X=X, y=y, alphas=alphas: celer.celer_path(X, y, "lasso", alphas=alphas, tol=1e-6),
                "skglm path": lambda X=X, y=y, alphas=alphas: skglm_path(X, y, alphas),
            },
            accuracy=same_path(X, y),
        )


def sparse_design(n, p, density):
    """Columns with independent entries, fifty of them with an effect; noise of a third of the signal."""
    rng = np.random.default_rng(0)
    X = sparse.random(n, p, density=density, format="csc", random_state=rng, data_rvs=rng.standard_normal)
    beta = np.zeros(p)
    beta[rng.choice(p, 50, replace=False)] = rng.standard_normal(50)
    signal = X @ beta
    return X, signal + rng.standard_normal(n) * signal.std() / 3.0


def same_sparse_path(X, y, alphas):
    """Both answers by the objective: each side has stopped at a gap of 1e-6 of |y|^2 by its own certificate."""

    def worst(coefs, reference):
        return max(
            lasso_objective(X, y, b, a) - lasso_objective(X, y, r, a)
            for a, b, r in zip(alphas, coefs, reference, strict=True)
        )

    def check(ours, peer):
        exact = lasso_path(X, y, alphas, tol=1e-10).coefs
        unit = y @ y / len(y)
        mine, theirs = worst(ours.coefs, exact) / unit, worst(np.asarray(peer[1]).T, exact) / unit
        assert mine <= 1e-6, mine
        assert theirs <= 1e-4, theirs
        return f"above the minimum by {max(mine, 0.0):.0e} of |y|^2 (ours), {max(theirs, 0.0):.0e} (peer)"

    return check


def lasso_objective(X, y, b, alpha):
    return 0.5 * np.mean((y - X @ b) ** 2) + alpha * np.abs(b).sum()


for n, p, density in ((1000, 10_000, 0.01), (1000, 30_000, 0.01), (1000, 100_000, 0.01), (3000, 30_000, 0.001))[
    : 1 if bench.smoke else None
]:
    X, y = sparse_design(n, p, density)
    alphas = max_alpha(X, y) * np.geomspace(1.0, 0.01, 20 if bench.smoke else 100)
    peers = {
        "celer_path": lambda X=X, y=y, alphas=alphas: celer.celer_path(X, y, "lasso", alphas=alphas, tol=1e-6),
        "scikit-learn lasso_path": Once(
            lambda X=X, y=y, alphas=alphas: sklearn_lasso_path(X, y, alphas=alphas, tol=1e-6, max_iter=100_000)
        ),
    }
    if bench.smoke:
        del peers["scikit-learn lasso_path"]
    bench.compare(
        f"sparse lasso path, {n} rows, {density:.1%} non-zero, 100 penalties, gap 1e-6 (size: columns)",
        size=p,
        ours=lambda X=X, y=y, alphas=alphas: lasso_path(X, y, alphas, tol=1e-6),
        peers=peers,
        accuracy=same_sparse_path(X, y, alphas),
    )


def tube(n):
    rng = np.random.default_rng(1)
    x = rng.uniform(-3, 3, n)
    return x[:, None], np.sinc(x) + 0.1 * rng.normal(size=n)


def same_tube(X, y):
    K = Gaussian(0.5)(X)

    def check(ours, peer):
        coef = np.zeros(len(y))
        coef[peer.support_] = peer.dual_coef_[0]
        a = epsilon_objective(K, y, ours.dual_coef_, ours.intercept_, 0.1, 0.1, 1)
        b = epsilon_objective(K, y, coef, peer.intercept_[0], 0.1, 0.1, 1)
        assert abs(a - b) < 1e-6 * b, (a, b)
        return f"objectives differ by {(a - b) / b:.0e}; certified gap {ours.dual_gap_ / a:.0e}"

    return check


for n in bench.sizes([200, 1000, 2000]):
    X, y = tube(n)
    bench.compare(
        "tube, p = 1",
        size=n,
        ours=lambda X=X, y=y: EpsilonSVR(Gaussian(0.5), 0.1, 0.1, tol=1e-8).fit(X, y),
        peers={
            "SVR": lambda X=X, y=y: SVR(kernel="rbf", gamma=2.0, C=5.0, epsilon=0.1, tol=1e-8, cache_size=500).fit(X, y)
        },
        accuracy=same_tube(X, y),
    )


def same_squares(ours, peer):
    assert abs(ours.objective_ - peer.objective) < 1e-6 * peer.objective, (ours.objective_, peer.objective)
    return f"objectives differ by {(ours.objective_ - peer.objective) / peer.objective:.0e}"


for n in bench.sizes([200, 500, 1000]):
    X, y = tube(n)
    bench.compare(
        "tube, p = 2",
        size=n,
        ours=lambda X=X, y=y: EpsilonRidge(Gaussian(0.5), 0.1, 0.1, tol=1e-8).fit(X, y),
        peers={
            "L-BFGS and Newton on the primal": lambda X=X, y=y: representer_solve(
                Gaussian(0.5)(X), y, "epsilon", 0.1, power=2, epsilon=0.1
            )
        },
        accuracy=same_squares,
    )

bench.finish()
