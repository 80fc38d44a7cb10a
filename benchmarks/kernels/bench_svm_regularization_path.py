"""The whole path of the support vector machine beside LIBSVM at a few costs, at a grid of costs, and at one."""

import numpy as np
from sklearn.svm import SVC

from benchmarks.harness import Benchmark
from learnable.datasets.classification import make_mixture_means
from learnable.kernels import SVMPath
from learnable.kernels.functions import Gaussian

bench = Benchmark("svm_regularization_path")
# At lambda = 1e-3 the rounding errors of K theta still leave more than eight digits of y f.
LAM_MIN = 1e-3


def dual(K, y, alpha, lam):
    theta = y * alpha
    return alpha.sum() - theta @ K @ theta / (2 * lam)


def libsvm(X, y, gamma, lams):
    """LIBSVM at its default tolerance, with room for the whole kernel matrix."""
    return [SVC(C=1 / lam, gamma=gamma, cache_size=500).fit(X, y) for lam in lams]


def agreement(X, y, gamma, lams):
    K = Gaussian.from_gamma(gamma)(X)

    def check(path, fits):
        worst = max(path.kkt_residual(lam) for lam in path.lambdas_)
        assert worst <= 1e-8, worst
        gains = []
        for lam, fit in zip(lams, fits, strict=True):
            alpha = np.zeros(len(y))
            alpha[fit.support_] = np.abs(fit.dual_coef_[0]) * lam
            gains.append((dual(K, y, path.alpha_at(lam), lam) - dual(K, y, alpha, lam)) / len(y))
        assert min(gains) >= -1e-9, min(gains)
        return (
            f"{path.n_steps_} events, conditions violated by at most {worst:.0e} at any breakpoint; "
            f"dual above LIBSVM's by 0 to {max(gains):.0e} a point"
        )

    return check


def costs(X, y, gamma, count):
    path = SVMPath(gamma=gamma, lam_min=LAM_MIN).fit(X, y)
    return np.geomspace(path.lambdas_[0], path.lambdas_[-1], count)


def data(n):
    X, y = make_mixture_means(n, random_state=0, return_X_y=True)
    return X, 2 * y - 1


for gamma in (1.0, 5.0):
    for count in (15, 100):
        for n in bench.sizes([200, 500, 1000]):
            X, y = data(n)
            lams = costs(X, y, gamma, count)
            bench.compare(
                f"whole path, Gaussian kernel, gamma = {gamma:g}, against {count} costs",
                size=n,
                ours=lambda X=X, y=y, gamma=gamma: SVMPath(gamma=gamma, lam_min=LAM_MIN).fit(X, y),
                peers={f"{count} fits of SVC": lambda X=X, y=y, gamma=gamma, lams=lams: libsvm(X, y, gamma, lams)},
                accuracy=agreement(X, y, gamma, lams),
            )

for n in bench.sizes([200, 500, 1000, 2000]):
    X, y = data(n)
    lams = costs(X, y, 1.0, 15)[7:8]
    bench.compare(
        "whole path, Gaussian kernel, gamma = 1, against a single fit in the middle",
        size=n,
        ours=lambda X=X, y=y: SVMPath(gamma=1.0, lam_min=LAM_MIN).fit(X, y),
        peers={"1 fit of SVC": lambda X=X, y=y, lams=lams: libsvm(X, y, 1.0, lams)},
        accuracy=agreement(X, y, 1.0, lams),
    )

bench.finish()
