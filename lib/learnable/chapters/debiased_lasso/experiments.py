"""The experiments of Javanmard and Montanari 2014, Sec. 5, and what its tables leave open: designs with p > n.

The source keeps one design and one vector of coefficients for each configuration and draws the noise 20 times. A cell
here is such a configuration with a design of its own, so that the standard errors also say how much the design matters.
"""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV

from learnable.book.study import study
from learnable.chapters.debiased_lasso.baselines import multi_split, naive_ols, ols, ridge_projection
from learnable.datasets.regression import make_sparse_linear
from learnable.highdim.debiased_lasso.inference import DebiasedLasso

PAPER = "Javanmard and Montanari 2014"
CIRCULANT = {"design": "circulant", "rho": 0.1, "band": 5}
SETTINGS = {
    "as printed": {"mu": "paper", "alpha": "paper", "lam0": "paper"},
    "default": {},
    "ten tries": {"n_tries": 10},
}
RIVALS = ("multi-split", "ridge")
Z95 = stats.norm.ppf(0.975)
LEVELS = np.arange(0.0125, 1.0, 0.025)  # 40 levels for quantiles and for the distribution of p-values


@study(
    source=f"{PAPER}, Tables 1 and 2",
    paper=[
        {
            "repetitions": 10,
            "n": [1000],
            "p": [600],
            "s0": [10, 30],
            "size": [0.5, 0.25, 0.1],
            "method": list(SETTINGS),
        },
        {"repetitions": 10, "n": [1000], "p": [600], "s0": [10, 30], "size": [0.5, 0.25, 0.1], "method": list(RIVALS)},
        {
            "repetitions": 5,
            "n": [2000],
            "p": [1500],
            "s0": [50, 25],
            "size": [0.5, 0.25, 0.1],
            "method": list(SETTINGS),
        },
        {"repetitions": 3, "n": [2000], "p": [1500], "s0": [50, 25], "size": [0.5, 0.25, 0.1], "method": list(RIVALS)},
    ],
    lecture={"repetitions": 2, "n": [200], "p": [100], "s0": [5], "size": [0.5], "method": ["default", "ridge"]},
    paired=("s0", "size", "method"),
    note="debiasing: 10 designs (p = 600) or 5 (p = 1500) with 20 noise draws each, the source has one design; rivals: "
    "20 draws (2 for each of 10 designs) or 3 (1 for each of 3); ten tries at p = 1500 on about 200 coefficients",
)
def tables(random_state, *, n, p, s0, size, method):
    """Length and coverage of 95 percent intervals, false and true positive rates at level 0.05.

    ``size`` is the value b of the s0 coefficients that are not zero. The figures with ``_S`` are those on the support,
    with ``_Sc`` those off it; ``sigma`` is the mean estimate of the noise level, which is one.
    """
    seed = int(random_state.integers(2**62))
    X, order = _design(seed, n, p)
    coef = np.zeros(p)
    coef[order[:s0]] = size
    if method in RIVALS:
        return _rival(method, X, coef, random_state, n_draws=2 if p < 1000 else 1)
    rows = np.union1d(order[:50], np.arange(150)) if method == "ten tries" and p > 1000 else None
    model = _fitted(seed, n, p, method, None if rows is None else tuple(rows.tolist()))
    figures = _figures(model, X @ coef, coef, random_state, n_draws=20)
    if rows is not None:  # part of the coefficients off the support: weigh them as if all were there
        for name in ("length", "coverage"):
            figures[name] = (s0 * figures[f"{name}_S"] + (p - s0) * figures[f"{name}_Sc"]) / p
    return figures


@study(
    source=f"{PAPER}, Figures 2 and 3",
    paper={"repetitions": 20, "n": [1000], "p": [600], "s0": [10], "size": [1.0], "method": ["default", "as printed"]},
    lecture={"repetitions": 2, "n": [200], "p": [100], "s0": [5], "size": [1.0], "method": ["default"]},
    paired=("method",),
    note="20 realisations, each with its own design; the source shows one",
)
def gaussian(random_state, *, n, p, s0, size, method):
    """Quantiles of the standardised errors, and the distribution of p-values off the support, for one realisation.

    ``slope`` and ``intercept`` are those of the line through the points of the quantile plot.
    """
    seed = int(random_state.integers(2**62))
    X, order = _design(seed, n, p)
    coef = np.zeros(p)
    coef[order[:s0]] = size
    model = _fitted(seed, n, p, method, None).refit(X @ coef + random_state.standard_normal(n))
    z = np.sort((model.coef_ - coef) / model.stderr_)
    normal = stats.norm.ppf((np.arange(p) + 0.5) / p)
    slope, intercept = np.polyfit(normal, z, 1)
    null = model.pvalues_[coef == 0]
    return {
        "slope": slope,
        "intercept": intercept,
        "quantiles": np.quantile(z, LEVELS),
        "cdf": np.mean(null[:, None] <= LEVELS, axis=0),
    }


@study(
    source=f"{PAPER}, Sec. 5.1, with more columns than rows",
    paper=[
        {"repetitions": 10, "n": [200], "p": [100, 150, 250, 400, 800], "method": ["debiased", "lasso, then OLS"]},
        {"repetitions": 10, "n": [200], "p": [100, 150], "method": ["OLS"]},
    ],
    lecture={"repetitions": 1, "n": [60], "p": [90], "method": ["debiased", "lasso, then OLS"]},
    paired=("method",),
    note="not in the source, which has p < n throughout its simulations",
)
def wide(random_state, *, n, p, method):
    """Five coefficients of size 0.5 among p: coverage and length for debiasing, least squares, and the naive way.

    The naive way is least squares on what a cross-validated lasso keeps. It gives intervals for what was kept only:
    ``coverage_Sc`` is then that of the null variables kept, ``FP`` the share of these that pass a test at level 0.05.
    """
    seed = int(random_state.integers(2**62))
    X, order = _design(seed, n, p)
    coef = np.zeros(p)
    coef[order[:5]] = 0.5
    if method == "debiased":
        model = _fitted(seed, n, p, "default", tuple(order[:90].tolist()))
        return _figures(model, X @ coef, coef, random_state, n_draws=10)
    kept = []
    for _ in range(2):
        y = X @ coef + random_state.standard_normal(n)
        A, b = X - X.mean(axis=0), y - y.mean()
        if method == "OLS":
            found = ols(A, b)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                penalty = LassoCV(alphas=40, cv=5).fit(A, b).alpha_
            found = naive_ols(A, b, alpha=penalty)
        kept.append((coef[found.support], found.coef, found.stderr, found.pvalues))
    truth, estimate, se, pvalues = (np.concatenate(part) for part in zip(*kept, strict=True))
    hit, on = np.abs(estimate - truth) <= Z95 * se, truth != 0
    return {
        "length": 2 * Z95 * se.mean(),
        "coverage_S": _mean(hit[on]),
        "coverage_Sc": _mean(hit[~on]),
        "FP": _mean(pvalues[~on] <= 0.05),
        "kept": len(truth) / len(kept),
    }


@study(
    source=f"{PAPER}, Sec. 5.2, its size with simulated data",
    paper={"repetitions": 8, "n": [71], "p": [4088], "s0": [3], "size": [0.5, 1.0, 2.0]},
    lecture={"repetitions": 1, "n": [40], "p": [200], "s0": [3], "size": [1.0]},
    paired=("size",),
    note="the riboflavin data are not ours to pass on: circulant design, noise of variance one, 20 draws each",
)
def riboflavin_size(random_state, *, n, p, s0, size):
    """The size of the source's gene data: coverage on 3 coefficients and off them, and what Bonferroni's rule finds."""
    seed = int(random_state.integers(2**62))
    X, order = _design(seed, n, p)
    coef = np.zeros(p)
    coef[order[:s0]] = size
    model = _fitted(seed, n, p, "default", tuple(order[: s0 + 37].tolist()))
    figures = _figures(model, X @ coef, coef, random_state, n_draws=20, family=p)
    return {**figures, "mu": np.median(model.mu_)}


@study(
    source=f"{PAPER}, consequences of (4) and (40)",
    paper={"repetitions": 20, "n": [200], "p": [50, 400], "correlation": [0.0, 0.5, 0.8, 0.9, 0.95, 0.98]},
    lecture={"repetitions": 2, "n": [80], "p": [120], "correlation": [0.0, 0.95]},
    paired=("correlation",),
    note="not in the source",
)
def twins(random_state, *, n, p, correlation):
    """Two columns with a given correlation, all others independent; the first has coefficient 0.5, the second zero.

    Length and coverage are those of the first; ``found`` and ``twin`` are the shares of tests at level 0.05 that
    reject for the first and for the second; ``lasso_twin`` is how often the lasso keeps the second; ``mu`` is
    the bound at which the row of the first was solved.
    """
    X = random_state.standard_normal((n, p))
    X[:, 1] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, 1]
    signal = 0.5 * X[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DebiasedLasso(rows=[0, 1]).fit(X, signal + random_state.standard_normal(n))
    kept = []
    for _ in range(40):
        model.refit(signal + random_state.standard_normal(n))
        hit = abs(model.coef_[0] - 0.5) <= Z95 * model.stderr_[0]
        kept.append([2 * Z95 * model.stderr_[0], hit, *(model.pvalues_ <= 0.05), model.coef_lasso_[1] != 0])
    figures = dict(zip(("length", "coverage", "found", "twin", "lasso_twin"), np.mean(kept, axis=0), strict=True))
    return {**figures, "mu": model.mu_[0]}


@study(
    source=f"{PAPER}, Theorem 8",
    paper={"repetitions": 10, "n": [200], "p": [400], "s0": [2, 5, 10, 20, 40, 100], "noise": ["known", "estimated"]},
    lecture={"repetitions": 1, "n": [80], "p": [120], "s0": [2, 10], "noise": ["known"]},
    paired=("s0", "noise"),
    note="not in the source",
)
def sparsity(random_state, *, n, p, s0, noise):
    """How many coefficients of size 0.5 are too many: remainder and coverage against s0, noise level known or not.

    ``remainder`` is the mean of |Delta| on the support, ``fluctuation`` that of |Z|.
    """
    seed = int(random_state.integers(2**62))
    X, order = _design(seed, n, p)
    coef = np.zeros(p)
    coef[order[:s0]] = 0.5
    fitted = _fitted(seed, n, p, "default", tuple(order[: p // 4 + 20].tolist()))
    fitted.set_params(sigma=1.0 if noise == "known" else "scaled")
    figures = _figures(fitted, X @ coef, coef, random_state, n_draws=20, parts=True)
    fitted.set_params(sigma="scaled")
    return figures


@study(
    source=f"{PAPER}, Theorem 16",
    paper={"repetitions": 10, "n": [200], "p": [400], "size": [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4]},
    lecture={"repetitions": 2, "n": [80], "p": [120], "size": [0.2, 0.6]},
    paired=("size",),
    note="not in the source, which proves the limit",
)
def power(random_state, *, n, p, size):
    """Share of five coefficients of a given size that a test at level 0.05 finds; 20 draws for each design."""
    seed = int(random_state.integers(2**62))
    X, order = _design(seed, n, p)
    coef = np.zeros(p)
    coef[order[:5]] = size
    model = _fitted(seed, n, p, "default", tuple(order[:10].tolist()))
    return {"TP": _figures(model, X @ coef, coef, random_state, n_draws=20)["TP"]}


@lru_cache(maxsize=10)
def _design(seed, n, p):
    """A circulant design and a random order of its columns, whose first ones carry the signal."""
    rng = np.random.default_rng(seed)
    X = make_sparse_linear(n, p, **CIRCULANT, n_nonzero=0, random_state=rng).data
    return X, rng.permutation(p)


@lru_cache(maxsize=10)
def _fitted(seed, n, p, method, rows):
    """A model with its matrix M, which depends on X alone: cells with the same design share it."""
    X, _ = _design(seed, n, p)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column that is hard to tell from the others, or M = I: part of the figures
        return DebiasedLasso(**SETTINGS[method], rows=rows).fit(X, X[:, 0] + np.random.default_rng(0).normal(size=n))


def _figures(model, signal, coef, random_state, *, n_draws, family=None, parts=False):
    """Means over noise draws of what the source's tables have, for the rows of the model."""
    truth = coef[model.rows_]
    on = truth != 0
    names = ("length_S", "length_Sc", "coverage_S", "coverage_Sc", "TP", "FP", "length", "coverage", "sigma")
    kept, extra = [], []
    for _ in range(n_draws):
        noise = random_state.standard_normal(len(signal))
        model.refit(signal + noise)
        length, reject = 2 * Z95 * model.stderr_, model.pvalues_ <= 0.05
        hit = np.abs(model.coef_ - truth) <= Z95 * model.stderr_
        split = [part.mean() for values in (length, hit, reject) for part in (values[on], values[~on])]
        kept.append([*split, length.mean(), hit.mean(), model.sigma_])
        if family:
            extra.append([(model.pvalues_ <= 0.05 / family)[on].mean(), model.coef_[on].mean()])
        if parts:
            Z, Delta = model.decompose(coef, noise)
            extra.append([np.abs(Z[on]).mean(), np.abs(Delta[on]).mean()])
    figures = dict(zip(names, np.mean(kept, axis=0), strict=True))
    if extra:
        told = ("found", "estimate") if family else ("fluctuation", "remainder")
        figures |= dict(zip(told, np.mean(extra, axis=0), strict=True))
    return figures


def _rival(method, X, coef, random_state, *, n_draws):
    A, on, kept = X - X.mean(axis=0), coef != 0, []
    for _ in range(n_draws):
        y = X @ coef + random_state.standard_normal(len(X))
        y -= y.mean()
        if method == "ridge":
            pvalues = ridge_projection(A, y).pvalues
        else:
            pvalues = multi_split(A, y, random_state=random_state)
        kept.append([(pvalues[~on] <= 0.05).mean(), (pvalues[on] <= 0.05).mean()])
    return dict(zip(("FP", "TP"), np.mean(kept, axis=0), strict=True))


def _mean(values):
    return float(values.mean()) if values.size else None
