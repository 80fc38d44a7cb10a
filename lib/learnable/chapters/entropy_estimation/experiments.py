"""The experiments of Archer, Park and Pillow (2014): Figures 4 to 10, small in the lecture, whole elsewhere.

The paper has no tables. What its text says about a figure ("biased down", "covers", "26 symbols") stands in the lecture
beside the errors, in nats, that are measured here.
"""

from __future__ import annotations

import re
import warnings
from functools import cache

import numpy as np
from scipy import special, stats

from learnable.book.study import study
from learnable.chapters.entropy_estimation.theory import (
    entropy_ansb,
    from_entropy_coordinates,
    py_prior_moments,
    sample_py,
)
from learnable.datasets import load
from learnable.datasets.counts import discrete_law, make_spike_words
from learnable.latent.entropy.counts import (
    entropy_chao_shen,
    entropy_grassberger,
    entropy_miller_madow,
    entropy_plugin,
    entropy_zhang,
    multiplicities,
)
from learnable.latent.entropy.dirichlet import entropy_nsb
from learnable.latent.entropy.pym import PYMEntropy

PAPER = "Archer, Park and Pillow 2014"
FREQUENTIST = {
    "plugin": entropy_plugin,
    "MiMa": entropy_miller_madow,
    "Zhang": entropy_zhang,
    "GR08": entropy_grassberger,
    "CAE": entropy_chao_shen,
    "ANSB": entropy_ansb,
}
PITMAN_YOR = {"PY(0, 1000)": (0.0, 1000.0), "PY(0.1, 1000)": (0.1, 1000.0), "PY(0.4, 100)": (0.4, 100.0)}
POWER = {"i^-2": 2.0, "i^-1.5": 1.5}
FINITE = {"1/i": ("zipf", {"exponent": 1.0}), "uniform": ("uniform", {}), "Poisson": ("poisson", {})}
CUT = {"i^-1.5, cut at 1000": ("zipf", {"exponent": 1.5})}  # in case the source cut its power laws: it does not say
SIZES = [30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000]


@study(
    source=f"{PAPER}, Figs. 7, 8 and 10",
    paper={"repetitions": 50, "law": [*PITMAN_YOR, *POWER, *FINITE, *CUT], "n": SIZES},
    lecture={"repetitions": 4, "law": ["PY(0.1, 1000)", "i^-2", "Poisson"], "n": [30, 300, 3000]},
    note="50 data sets for each point in place of 10; each data set of a Pitman-Yor law has its own draw of the law",
)
def race(random_state, *, law, n):
    """Errors (estimate minus truth, in nats) of the estimators on n samples of a law.

    `DPM_low`, `DPM_high` are the ends of the 95 % credible interval minus the truth, `DPM_holds` is 1 if it holds the
    truth, likewise for PYM and for both under the measure without Jacobian (`DPM_flat`, `PYM_flat`); `PYM_gain` is how
    much closer to the truth PYM is than DPM, `GR08_gain` the same for GR08 and Zhang; `width` the width of DPM's
    interval over that of PYM's, `narrower` by how much it is narrower; `coincidences` is N - K. An estimate that is
    infinite is left out.
    """
    counts, truth = _sample(law, n, random_state)
    return _errors(counts, truth)


@study(
    source=f"{PAPER}, Fig. 9, left",
    paper={"repetitions": 20, "n": [100, 300, 1000, 3000, 10_000, 30_000, 59_889]},
    lecture={"repetitions": 2, "n": [300, 3000]},
    note="59,889 words of 40 tales of the brothers Grimm in place of the 217,826 of Moby Dick",
)
def words(random_state, *, n):
    """Estimates from n words drawn without replacement from a text, minus CAE of the whole text (nats).

    Nobody knows the truth here. `whole` is CAE of the whole text; the last n is the whole text.
    """
    codes = _tokens()
    counts = np.bincount(random_state.permutation(codes)[:n])
    whole = entropy_chao_shen(np.bincount(codes))
    return {"whole": whole, **_errors(counts[counts > 0], whole)}


@study(
    source=f"{PAPER}, Fig. 9, right",
    paper={"repetitions": 20, "n": [100, 300, 1000, 3000, 10_000, 30_000, 100_000]},
    lecture={"repetitions": 2, "n": [300, 3000]},
    note="simulated: eight correlated cells, each with a spike in 2 to 5 % of the bins; a new population each time",
)
def spikes(random_state, *, n):
    """Errors (nats) of the estimators on n binary words of eight simulated neurons, whose entropy is known."""
    made = make_spike_words(n, n_cells=8, random_state=random_state)
    counts = np.bincount(made.words)
    return _errors(counts[counts > 0], made.entropy)


@study(
    source=f"{PAPER}, Figs. 7 to 10, grey zones",
    paper={"repetitions": 1, "law": [*PITMAN_YOR, *POWER, *FINITE, "words", "spikes"]},
    lecture={"repetitions": 1, "law": ["PY(0.4, 100)", "uniform"]},
    note="words and spikes are the stand-ins of Fig. 9",
)
def crowding(random_state, *, law):
    """Expected number of different symbols E[K_N]: its share of N at N = 4, and the largest N with a share above 0.9.

    Above 0.9 lies what the source calls the regime of ANSB; `excess_at_4` is the share at N = 4 less 0.9.
    Nothing is sampled but the rates of the simulated cells.
    """
    expected = _expected_symbols(law, random_state)
    n = 1
    while expected(2 * n) > 0.9 * 2 * n:
        n *= 2
    low, high = n, 2 * n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if expected(middle) > 0.9 * middle else (low, middle)
    return {"share_at_4": expected(4) / 4, "excess_at_4": expected(4) / 4 - 0.9, "largest_n": low}


@study(
    source=f"{PAPER}, Fig. 4B",
    paper={"repetitions": 10, "prior": ["DPM", "PY(d, 0)", "PYM", "fixed"]},
    lecture={"repetitions": 1, "prior": ["DPM", "fixed"]},
)
def prior_entropy(random_state, *, prior):
    """Shares of 500 draws of H in six bins on [0, 3], with h uniform on [0, 3] and three priors on gamma.

    ``fixed`` is one Dirichlet process, that with expected entropy 1.5, for comparison. A draw breaks 400 sticks and
    counts the rest by its expected entropy.
    """
    h = np.full(500, 1.5) if prior == "fixed" else random_state.uniform(0, 3, 500)
    gamma = {"PY(d, 0)": np.ones(500), "PYM": _tail_shares(500, random_state)}.get(prior, np.zeros(500))
    draws = []
    for d, alpha in zip(*from_entropy_coordinates(h, gamma), strict=True):
        weights, left = sample_py(float(d), float(max(alpha, 1e-12)), n_sticks=400, random_state=random_state)
        rest = py_prior_moments(d, max(alpha, 1e-12) + 400 * d)[0]
        draws.append(special.entr(weights).sum() + special.entr(left) + left * rest)
    shares = np.histogram(draws, bins=6, range=(0, 3))[0] / 500
    return {"shares": shares, "above": float(np.mean(np.array(draws) > 3)), "middle": shares[1:5].sum()}


@study(
    source=f"{PAPER}, Fig. 5",
    paper={"repetitions": 20, "n": [100, 1000, 10_000, 100_000]},
    lecture={"repetitions": 2, "n": [100, 1000]},
)
def parameters(random_state, *, n):
    """Posterior of (d, alpha) given n samples of a draw from PY(0.25, 40).

    Standard deviations of d and of log alpha, `area` the root of the determinant of their covariance, and `inside` 1 if
    d = 0.25 is within two standard deviations of the mean.
    """
    law = discrete_law("pitman-yor", discount=0.25, concentration=40.0, random_state=random_state)
    model = PYMEntropy().fit(_draw(law, n, random_state))
    both = np.cov(model.d_, np.log(model.alpha_), aweights=model.weights_, ddof=0)
    sd = np.sqrt(np.diag(both))
    mean = model.weights_ @ model.d_
    return {
        "sd_d": sd[0],
        "sd_log_alpha": sd[1],
        "area": np.sqrt(np.linalg.det(both)),
        "d": mean,
        "inside": float(abs(mean - 0.25) < 2 * sd[0]),
    }


@study(
    source=f"{PAPER}, Fig. 6",
    paper={"repetitions": 20, "law": ["low entropy", "high entropy"]},
    lecture={"repetitions": 2, "law": ["low entropy", "high entropy"]},
    note="the source does not say which laws it took; low: (0.99, 0.01), high: 1/i on 1,000 symbols",
)
def posterior_shape(random_state, *, law):
    """Posterior of H from 100 samples: lower ends of 95 % intervals, Gaussian and by draws; skewness of the draws."""
    p = np.array([0.99, 0.01]) if law == "low entropy" else discrete_law("zipf", 1000, exponent=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one symbol only: the estimate rests on the prior, and that is the case here
        model = PYMEntropy().fit(_draw(p, 100, random_state))
    draws = model.sample_entropy(2000, n_sticks=300, random_state=random_state)
    return {
        "gaussian_low": model.credible_interval(0.95)[0],
        "drawn_low": np.quantile(draws, 0.025),
        "skewness": stats.skew(draws),
    }


def _sample(law, n, rng):
    """Counts of n samples of a law, and its entropy."""
    if law in POWER:
        # The whole zeta law: symbols are any whole numbers, nothing is cut off.
        s = POWER[law]
        return np.unique(rng.zipf(s, size=n), return_counts=True)[1], zeta_entropy(s)
    if law in PITMAN_YOR:
        d, alpha = PITMAN_YOR[law]
        p = discrete_law("pitman-yor", discount=d, concentration=alpha, random_state=rng)
    else:
        kind, options = (FINITE | CUT)[law]
        p = discrete_law(kind, 1000, **options)
    return _draw(p, n, rng), special.entr(p).sum()


def _draw(p, n, rng):
    counts = rng.multinomial(n, p)
    return counts[counts > 0]


def zeta_entropy(s):
    """Entropy of p_i = i^-s / zeta(s), i = 1, 2, ...: log zeta(s) - s zeta'(s) / zeta(s), in nats.

    >>> round(zeta_entropy(2.0), 4), round(zeta_entropy(1.5), 4)
    (1.6376, 3.2181)
    """
    # zeta'(s) = -sum log(i) / i^s: 10^6 terms, then Euler and Maclaurin with the integral of log(x) / x^s.
    m = 1_000_000
    i = np.arange(2.0, m)
    head = (np.log(i) * i**-s).sum()
    tail = m ** (1 - s) * (np.log(m) / (s - 1) + 1 / (s - 1) ** 2) + 0.5 * np.log(m) * m**-s
    zeta = float(special.zeta(s))
    return float(np.log(zeta) + s * (head + tail) / zeta)


def _errors(counts, truth):
    k, m = pair = multiplicities(counts)
    n, K = int(k @ m), int(m.sum())
    found = {"coincidences": float(n - K), "different": K / n}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # infinite estimates are left out below
        for name, estimate in FREQUENTIST.items():
            found[name] = estimate(pair, kind="multiplicities") - truth
        models = {
            name: PYMEntropy(q, prior_measure=measure).fit(pair, kind="multiplicities")
            for name, q, measure in (
                ("DPM", "dpm", "h_gamma"),
                ("PYM", "exp", "h_gamma"),
                ("DPM_flat", "dpm", "d_alpha"),
                ("PYM_flat", "exp", "d_alpha"),
            )
        }
        found["NSB"] = entropy_nsb(pair, 100_000, kind="multiplicities")[0] - truth
    for name, model in models.items():
        low, high = model.credible_interval(0.95) if np.isfinite(model.entropy_) else (np.inf, np.inf)
        found |= {name: model.entropy_ - truth, f"{name}_low": low - truth, f"{name}_high": high - truth}
        found[f"{name}_holds"] = float(low <= truth <= high) if np.isfinite(high) else np.inf
    found["finite"] = float(np.isfinite(found["PYM"]))
    if found["finite"]:
        found["PYM_gain"] = abs(found["DPM"]) - abs(found["PYM"])
        found["width"] = models["DPM"].std_ / models["PYM"].std_
        found["NSB_gap"] = abs(found["NSB"] - found["DPM"])
        found["plugin_gap"] = found["PYM"] - found["plugin"]
        for name in ("DPM", "PYM"):
            found[f"{name}_width"] = found[f"{name}_high"] - found[f"{name}_low"]
        found["narrower"] = found["PYM_width"] - found["DPM_width"]
    found["GR08_gain"] = abs(found["Zhang"]) - abs(found["GR08"])
    return {name: None if not np.isfinite(value) else value for name, value in found.items()}


@cache
def _tokens():
    """The words of the tales, as numbers."""
    text = " ".join(load("grimm_tales").texts).lower()
    return np.unique(re.findall(r"[a-z']+", text), return_inverse=True)[1]


def _tail_shares(count, rng):
    """Draws of gamma with density proportional to exp(-10 / (1 - gamma)), by rejection."""
    kept = np.empty(0)
    while kept.size < count:
        gamma = rng.uniform(size=20 * count)
        kept = np.append(kept, gamma[rng.uniform(size=gamma.size) < np.exp(10 - 10 / (1 - gamma))])
    return kept[:count]


def _expected_symbols(law, rng):
    """A function of N that gives E[K_N] under a law."""
    if law in PITMAN_YOR:
        d, alpha = PITMAN_YOR[law]

        def grown(n):
            # A new symbol comes with probability (alpha + K d) / (alpha + N), linear in K.
            expected = 0.0
            for seen in range(n):
                expected += (alpha + d * expected) / (alpha + seen)
            return expected

        return grown
    if law == "words":
        counts, total = np.bincount(_tokens()), len(_tokens())
        # Without replacement: P(word not seen) is hypergeometric.
        return lambda n: float((1 - stats.hypergeom.pmf(0, total, counts, n)).sum())
    if law in POWER:
        s, i = POWER[law], np.arange(1.0, 1_000_001)
        zeta = float(special.zeta(s))
        rest = float(special.zeta(s, 1_000_001)) / zeta  # mass beyond: each symbol there is seen at most once
        return lambda n: float(-np.expm1(n * np.log1p(-(i**-s) / zeta)).sum() + n * rest)
    if law == "spikes":
        p = make_spike_words(1, n_cells=8, random_state=rng).probabilities
    else:
        kind, options = FINITE[law]
        p = discrete_law(kind, 1000, **options)
    return lambda n: float(-np.expm1(n * np.log1p(-p)).sum())
