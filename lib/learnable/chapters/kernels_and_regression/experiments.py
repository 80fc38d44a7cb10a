"""Studies for a source without experiments: figures for what its sentences on kernels and regression say in words.

The lecture notes print theorems and formulas, but no table. The studies measure how many points a tube keeps
(`tubes`), what the penalty does to bias and variance (`bias_variance`), what regularisation is worth with more
features than points (`wide`), how the flexibility of a kernel shows in its errors (`moons`), what weights and
proximities do for documents (`documents`), what the factorisation costs (`scaling`), how many random features replace
it (`random_features`), and how kernel ridge does on real data (`tables`).
"""

from __future__ import annotations

import time

import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_diabetes, make_moons
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnable.book.study import study
from learnable.chapters.kernels_and_regression.theory import cooccurrence_proximity, docstring_corpus, ridge_path
from learnable.datasets import load
from learnable.kernels import smo
from learnable.kernels.functions import Gaussian, Polynomial, squared_distances
from learnable.kernels.random_features import RandomFourierFeatures, RandomFourierRidge
from learnable.kernels.ridge import KernelRidge, kernel_ridge_path
from learnable.kernels.svr import EpsilonSVR
from learnable.kernels.text import TextKernel
from learnable.linear.penalized import Ridge

NOISE = 0.1  # standard deviation of the noise around sinc
LAMBDAS = tuple(float(f"{lam:.3g}") for lam in np.geomspace(1e-3, 1e3, 25))  # penalties of `wide`
_NAMES = ("numpy", "np", "scipy", "sklearn", "scikit", "learn", "python")  # would give the package away
_COMMON = "the a an of to in is and for or be by as that this with it if are on at from".split()


def sinc_sample(random_state, n=200):
    """Points uniform on [-3, 3] as a column, and sin(pi x) / (pi x) with Gaussian noise."""
    x = random_state.uniform(-3.0, 3.0, n)
    return x[:, None], np.sinc(x) + NOISE * random_state.normal(size=n)


def _distance_to_sinc(model):
    at = np.linspace(-3.0, 3.0, 201)
    return float(np.sqrt(np.mean((model.predict(at[:, None]) - np.sinc(at)) ** 2)))


@study(
    source="Lember 2012, Sec. 4.6.3",
    paper={"repetitions": 100, "epsilon": [0.0, 0.05, 0.1, 0.15, 0.2, 0.3]},
    lecture={"repetitions": 2, "epsilon": [0.0, 0.1]},
    paired=("epsilon",),
    note="the notes say that a tube makes the solution sparser and print no figures; the sinc samples are our choice",
)
def tubes(random_state, *, epsilon):
    """Share of support vectors and error of a tube of half-width epsilon, beside kernel ridge on the same sample.

    Both with a Gaussian kernel of width 0.5 and penalty 0.1; errors are root mean squared distances to the truth.
    ``noise`` is the probability that the noise exceeds epsilon.
    """
    X, y = sinc_sample(random_state)
    kernel = Gaussian(0.5)
    tube = EpsilonSVR(kernel, 0.1, epsilon, tol=1e-4).fit(X, y)
    ridge = KernelRidge(kernel, 0.1).fit(X, y)
    return {
        "support": tube.support_.size / y.size,
        "noise": 2.0 * norm.sf(epsilon / NOISE),
        "rmse": _distance_to_sinc(tube),
        "ridge_support": ridge.support_.size / y.size,
        "ridge_rmse": _distance_to_sinc(ridge),
    }


@study(
    source="Lember 2012, Sec. 4.6.1",
    paper={"repetitions": 20, "lam": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]},
    lecture={"repetitions": 2, "lam": [0.01, 1.0]},
    paired=("lam",),
    note="the notes state the direction of both terms without figures; kernel ridge on sinc is our choice",
)
def bias_variance(random_state, *, lam):
    """Squared bias, variance and mean squared error of kernel ridge on sinc, over 200 draws of the noise.

    The points stay fixed within a repetition. ``error`` is measured with 200 other fits and new responses, so that the
    identity error = noise + bias + variance compares figures from separate draws.
    """
    X, _ = sinc_sample(random_state)
    at = np.linspace(-3.0, 3.0, 61)
    kernel, truth = Gaussian(0.5), np.sinc(at)
    draws = np.sinc(X) + NOISE * random_state.normal(size=(X.size, 400))
    K = kernel(X)
    means = K.mean(axis=0)
    K0 = K - means[:, None] - means + means.mean()
    coef = np.linalg.solve(K0 + lam * np.eye(X.size), draws - draws.mean(axis=0))
    fits = kernel(at[:, None], X) @ coef + (draws.mean(axis=0) - means @ coef)
    fits, others = fits[:, :200], fits[:, 200:]
    fresh = truth[:, None] + NOISE * random_state.normal(size=others.shape)
    return {
        "bias": float(np.mean((fits.mean(axis=1) - truth) ** 2)),
        "variance": float(np.mean(fits.var(axis=1))),
        "error": float(np.mean((fresh - others) ** 2)),
    }


@study(
    source="Lember 2012, Sec. 4.6.2",
    paper={"repetitions": 100, "scales": ["decreasing", "equal"], "d": [500], "n": [100]},
    lecture={"repetitions": 2, "scales": ["decreasing"], "d": [200], "n": [50]},
    note="the notes say that regularisation is inevitable in high dimension; 500 features, 100 points are our choice",
)
def wide(random_state, *, scales, d, n):
    """Ridge with more features than points: errors without a penalty, along `LAMBDAS`, and at the leave-one-out choice.

    With decreasing scales feature j has standard deviation 3/j and ten features matter; with equal scales all do a
    little. ``chosen`` and ``none`` are test errors relative to the best on the path; ``fitted`` is the largest residual
    on the sample without a penalty.
    """
    if scales == "decreasing":
        X = random_state.normal(size=(n + 1000, d)) * (3.0 / np.arange(1, d + 1))
        w = np.repeat([1.0, 0.0], [10, d - 10])
    else:
        X = random_state.normal(size=(n + 1000, d))
        w = 2.0 * random_state.normal(size=d) / np.sqrt(d)
    y = X @ w + random_state.normal(size=n + 1000)
    path = ridge_path(X[:n], y[:n], LAMBDAS)
    test = np.mean((X[n:] @ path.coefs.T + path.intercepts - y[n:, None]) ** 2, axis=0)
    train = np.mean((X[:n] @ path.coefs.T + path.intercepts - y[:n, None]) ** 2, axis=0)
    bare = Ridge(0.0).fit(X[:n], y[:n])
    return {
        "train": train.tolist(),
        "loo": np.asarray(path.loo_mse).tolist(),
        "test": test.tolist(),
        "fitted": float(np.abs(bare.predict(X[:n]) - y[:n]).max()),
        "none": float(np.mean((bare.predict(X[n:]) - y[n:]) ** 2) / test.min()),
        "chosen": float(test[np.argmin(path.loo_mse)] / test.min()),
    }


@study(
    source="Lember 2012, Sec. 4.5.5",
    paper=[
        {"repetitions": 20, "kernel": ["Gaussian"], "parameter": [0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0]},
        {"repetitions": 20, "kernel": ["polynomial"], "parameter": [1, 2, 3, 4, 5, 6, 7, 8]},
    ],
    lecture={"repetitions": 1, "kernel": ["Gaussian"], "parameter": [0.03, 0.5]},
    paired=("kernel", "parameter"),
    note="the notes compare small widths with large degrees in words; two moons and C = 10 are our choice",
)
def moons(random_state, *, kernel, parameter):
    """Training and test error of a support vector machine on 100 points of two moons, C = 10.

    ``parameter`` is the width of a Gaussian kernel or the degree of a polynomial one (with R = 1).
    """
    seeds = random_state.integers(2**31, size=2)
    X, y = make_moons(100, noise=0.25, random_state=int(seeds[0]))
    new, truth = make_moons(2000, noise=0.25, random_state=int(seeds[1]))
    K = Gaussian(parameter) if kernel == "Gaussian" else Polynomial(int(parameter), 1.0)
    machine = smo.classification(K(X), 2.0 * y - 1.0, 10.0)
    wrong = (np.mean((K(Z, X) @ machine.beta + machine.offset > 0) != t) for Z, t in ((X, y), (new, truth)))
    return dict(zip(("train", "test"), map(float, wrong), strict=True))


@study(
    source="Lember 2012, Sec. 4.5.5",
    paper=[
        {
            "repetitions": 20,
            "kernel": ["counts", "no stop words", "tf-idf", "proximity"],
            "normalised": [True, False],
        },
    ],
    lecture={"repetitions": 1, "kernel": ["counts", "tf-idf"], "normalised": [True]},
    paired=("kernel", "normalised"),
    note="the notes define the kernels and try none; docstrings, which depend on installed versions, are our choice",
)
def documents(random_state, *, kernel, normalised):
    """Error at guessing one of four packages from a docstring: 100 documents for learning, 500 for the test.

    A support vector machine for each package, C = 10, the largest value decides.
    """
    texts, package = docstring_corpus(150, random_state=random_state)
    order = random_state.permutation(len(texts))
    train, test = order[:100], order[100:]
    stop = [*_NAMES, *_COMMON] if kernel == "no stop words" else _NAMES
    weights = "idf" if kernel in ("tf-idf", "proximity") else None
    near = cooccurrence_proximity if kernel == "proximity" else None
    K = TextKernel(weights, near, stop_words=stop, normalise=normalised).fit(texts[train])
    gram, cross = K(texts[train]), K(texts[test], texts[train])
    shelves = np.unique(package)
    machines = [smo.classification(gram, np.where(package[train] == shelf, 1, -1), 10.0) for shelf in shelves]
    scores = [cross @ machine.beta + machine.offset for machine in machines]
    return {"error": float(np.mean(shelves[np.argmax(scores, axis=0)] != package[test]))}


@study(
    source="Lember 2012, Sec. 4.6.2",
    paper={"repetitions": 5, "n": [500, 1000, 1500, 2000, 3000], "D": [1000]},
    lecture={"repetitions": 1, "n": [300], "D": [100]},
    note="the notes say that the inverse is difficult for big n; seconds are processor time on the machine that ran it",
)
def scaling(random_state, *, n, D):
    """Processor seconds of exact kernel ridge and of ridge on D random features, and how far the two fits are apart.

    ``gap`` is the largest distance on [-3, 3], ``exact`` and ``random`` are distances to the truth.
    """
    X, y = sinc_sample(random_state, n)
    clock = [time.process_time()]
    exact = KernelRidge(Gaussian(0.5), 0.1).fit(X, y)
    clock.append(time.process_time())
    few = RandomFourierRidge(2.0, 0.1, D, random_state=random_state).fit(X, y)
    clock.append(time.process_time())
    at = np.linspace(-3.0, 3.0, 201)[:, None]
    return {
        "seconds_exact": clock[1] - clock[0],
        "seconds_random": clock[2] - clock[1],
        "gap": float(np.abs(exact.predict(at) - few.predict(at)).max()),
        "exact": _distance_to_sinc(exact),
        "random": _distance_to_sinc(few),
    }


@study(
    source="Lember 2012, Theorem 4.5.5",
    paper={"repetitions": 20, "D": [100, 300, 1000, 3000, 10_000]},
    lecture={"repetitions": 2, "D": [100, 1000]},
    note="the notes state Bochner's theorem and draw nothing; 300 Gaussian points in five dimensions are our choice",
)
def random_features(random_state, *, D):
    """Largest error of the Gram matrix of a Gaussian kernel of width 2 from D random features.

    ``printed`` draws the frequencies with the variance that the notes print, the square of the width instead of its
    inverse.
    """
    X = random_state.normal(size=(300, 5))
    exact = Gaussian(2.0)(X)

    def worst(gamma):
        Z = RandomFourierFeatures(gamma, D, random_state=random_state).fit_transform(X)
        return float(np.abs(Z @ Z.T - exact).max())

    return {"error": worst(0.5 / 2.0**2), "printed": worst(0.5 * 2.0**2)}


def _regression_table(name):
    return load_diabetes(return_X_y=True) if name == "diabetes" else load(name, return_X_y=True)


def loo_ridge(X, y, factors=(0.5, 1.0, 2.0, 4.0), lams=None):
    """Kernel ridge whose width (a multiple of the median distance) and penalty minimise the leave-one-out error."""
    lams = np.geomspace(1e-3, 1e2, 16) if lams is None else lams
    middle = np.sqrt(np.median(squared_distances(X, X)[np.triu_indices(len(X), 1)]))
    best = np.inf, None, None
    for factor in factors:
        kernel = Gaussian(factor * middle)
        path = kernel_ridge_path(kernel(X), y, lams)
        if path.loo_mse[path.best] < best[0]:
            best = path.loo_mse[path.best], kernel, float(path.alphas[path.best])
    return KernelRidge(best[1], best[2]).fit(X, y)


@study(
    source="Lember 2012, Sec. 4.6.2",
    paper={
        "repetitions": 20,
        "data": ["diabetes", "concrete"],
        "method": ["mean", "ridge", "kernel ridge", "boosted trees"],
    },
    lecture={"repetitions": 1, "data": ["diabetes"], "method": ["ridge", "kernel ridge"]},
    paired=("method",),
    note="the notes have no data; two tables, twenty splits (30 % for the test), default boosting are our choice",
)
def tables(random_state, *, data, method):
    """Root mean squared test error on real tables: ridge and kernel ridge tuned by leave-one-out, default boosting."""
    X, y = _regression_table(data)
    seed = int(random_state.integers(2**31))
    X, new, y, truth = train_test_split(X, np.ravel(y), test_size=0.3, random_state=seed)
    if method == "mean":
        guess = np.full(truth.size, y.mean())
    elif method == "ridge":
        guess = make_pipeline(StandardScaler(), RidgeCV(np.geomspace(0.01, 1000, 16))).fit(X, y).predict(new)
    elif method == "kernel ridge":
        scaler = StandardScaler().fit(X)
        guess = loo_ridge(scaler.transform(X), y).predict(scaler.transform(new))
    else:
        guess = HistGradientBoostingRegressor(random_state=seed).fit(X, y).predict(new)
    return {"rmse": float(np.sqrt(np.mean((guess - truth) ** 2)))}
