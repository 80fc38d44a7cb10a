"""Plausible wrong solutions to the exercises on entropy estimation."""

import numpy as np
from scipy import special
from support import wrong


@wrong("q1", fails="Counts with zeros")
def unseen_symbols_counted():
    """Takes the length of the array for K: zeros are counted as seen."""

    def miller_madow(counts, base):
        counts = np.asarray(counts, dtype=float)
        return special.entr(counts / counts.sum()).sum() / np.log(base) + (counts.size - 1) / (
            2 * counts.sum()
        ) / np.log(base)

    return {"miller_madow": miller_madow}


@wrong("q1", fails="A single symbol")
def one_symbol_corrected():
    """Adds K / (2 N) when there is one symbol."""

    def miller_madow(counts, base):
        counts = np.asarray(counts, dtype=float)
        K = np.count_nonzero(counts)
        return special.entr(counts / counts.sum()).sum() / np.log(base) + max(K - 1, 1) / (2 * counts.sum()) / np.log(
            base
        )

    return {"miller_madow": miller_madow}


@wrong("q1", fails="Bits")
def correction_left_in_nats():
    """Converts the plug-in part only."""

    def miller_madow(counts, base):
        counts = np.asarray(counts, dtype=float)
        return special.entr(counts / counts.sum()).sum() / np.log(base) + (np.count_nonzero(counts) - 1) / (
            2 * counts.sum()
        )

    return {"miller_madow": miller_madow}


@wrong("q2", fails=("Random parameters, against simulation", "A symmetric prior on many symbols"))
def without_the_own_spread():
    """Leaves out rho: only the spread between symbols, right in the limit of many samples."""

    def dirichlet_entropy_moments(alpha):
        a = np.asarray(alpha, dtype=float)
        A, w, psi = a.sum(), a / a.sum(), special.digamma(a + 1)
        return special.digamma(A + 1) - w @ psi, w @ (psi - w @ psi) ** 2 / (A + 1)

    return {"dirichlet_entropy_moments": dirichlet_entropy_moments}


@wrong("q2", fails="Large parameters")
def difference_of_second_moments():
    """E[H^2] - E[H]^2 with the double sum of the textbook."""

    def dirichlet_entropy_moments(alpha):
        a = np.asarray(alpha, dtype=float)
        A = a.sum()
        mean = special.digamma(A + 1) - a / A @ special.digamma(a + 1)
        f, g = special.digamma(a + 1) - special.digamma(A + 2), special.digamma(a + 2) - special.digamma(A + 2)
        late = special.polygamma(1, A + 2)
        second = (a @ f) ** 2 - (a**2) @ (f**2) - late * (A**2 - a @ a)
        second += (a * (a + 1)) @ (g**2 + special.polygamma(1, a + 2) - late)
        return mean, second / (A * (A + 1)) - mean**2

    return {"dirichlet_entropy_moments": dirichlet_entropy_moments}


@wrong("q3", fails="Random counts, against simulation")
def discount_forgotten_in_digamma():
    """psi0(n + 1) for psi0(n - d + 1): right for the Dirichlet process only."""

    def py_posterior_mean(counts, d, alpha):
        n = np.asarray(counts, dtype=float)
        n = n[n > 0]
        S = alpha + n.sum()
        seen = (n - d) @ special.digamma(n + 1)
        return special.digamma(S + 1) - ((alpha + n.size * d) * special.digamma(1 - d) + seen) / S

    return {"py_posterior_mean": py_posterior_mean}


@wrong("q3", fails="Zeros among the counts, and no data at all")
def zeros_taken_as_seen():
    """Gives every zero a negative mass -d among the seen."""

    def py_posterior_mean(counts, d, alpha):
        n = np.asarray(counts, dtype=float)
        S = alpha + n.sum()
        seen = (n - d) @ special.digamma(n - d + 1)
        return special.digamma(S + 1) - ((alpha + np.count_nonzero(n) * d) * special.digamma(1 - d) + seen) / S

    return {"py_posterior_mean": py_posterior_mean}


@wrong("q4", fails="alpha = 1e12 and more")
def difference_of_log_gammas():
    """The formula as it is printed."""

    def log_evidence(counts, d, alpha):
        n = np.asarray(counts)
        new = np.log(alpha + d * np.arange(1, n.size)).sum()
        seen = (special.gammaln(n - d) - special.gammaln(1 - d)).sum()
        return new + seen + special.gammaln(1 + alpha) - special.gammaln(alpha + n.sum())

    return {"log_evidence": log_evidence}


@wrong("q4", fails="A hundred thousand samples")
def logarithm_of_the_product():
    """Forms the product first: fine for a dozen samples."""

    def log_evidence(counts, d, alpha):
        n = np.asarray(counts)
        with np.errstate(all="ignore"):
            new = np.log(np.prod(alpha + d * np.arange(1, n.size)))
            seen = (special.gammaln(n - d) - special.gammaln(1 - d)).sum()
            value = new + seen - np.log(np.prod(alpha + np.arange(1.0, n.sum())))
        return value if np.isfinite(value) else -1e300

    return {"log_evidence": log_evidence}


@wrong("q4", fails="Without a discount")
def division_by_the_discount():
    """Gamma functions of alpha / d; for d = 0 a small discount is put in."""

    def log_evidence(counts, d, alpha):
        n = np.asarray(counts)
        if d == 0 and n.size > 2:
            d = 1e-3
        new = np.log(alpha + d * np.arange(1, n.size)).sum()
        seen = (special.gammaln(n - d) - special.gammaln(1 - d)).sum()
        return new + seen - np.log(alpha + np.arange(1, n.sum())).sum()

    return {"log_evidence": log_evidence}


@wrong("q5", fails="A single coincidence")
def range_too_short_on_the_right():
    """Stops at alpha = e^7: enough where there are several coincidences."""

    def dpm_entropy(counts):
        n = np.asarray(counts)
        s = np.linspace(-25, 7, 2001)
        N, alpha = int(n.sum()), np.exp(s)
        logw = n.size * s - np.log(alpha[:, None] + np.arange(1, N)).sum(axis=1)
        logw += np.log(special.polygamma(1, 1 + alpha))
        w = np.exp(logw - logw.max())
        seen = n @ special.digamma(n + 1)
        mean = special.digamma(alpha + N + 1) - (alpha * special.digamma(1) + seen) / (alpha + N)
        return w @ mean / w.sum()

    return {"dpm_entropy": dpm_entropy}


@wrong("q5", fails="One symbol, many times")
def range_too_short_on_the_left():
    """Starts at alpha = 0.1: enough where several symbols were seen."""

    def dpm_entropy(counts):
        n = np.asarray(counts)
        s = np.linspace(np.log(0.1), 40, 2001)
        N, alpha = int(n.sum()), np.exp(s)
        logw = n.size * s - np.log(alpha[:, None] + np.arange(1, N)).sum(axis=1)
        logw += np.log(special.polygamma(1, 1 + alpha))
        w = np.exp(logw - logw.max())
        seen = n @ special.digamma(n + 1)
        mean = special.digamma(alpha + N + 1) - (alpha * special.digamma(1) + seen) / (alpha + N)
        return w @ mean / w.sum()

    return {"dpm_entropy": dpm_entropy}


@wrong("q5", fails=("Random counts", "A single coincidence"))
def plugs_in_the_mode():
    """Empirical Bayes: the conditional mean at the most probable alpha."""

    def dpm_entropy(counts):
        n = np.asarray(counts)
        s = np.linspace(-25, 40, 4001)
        alpha, N = np.exp(s), int(n.sum())
        logw = (n.size - 1) * s - np.log(alpha[:, None] + np.arange(1, N)).sum(axis=1)
        a = alpha[np.argmax(logw)]
        return special.digamma(a + N + 1) - (a * special.digamma(1) + n @ special.digamma(n + 1)) / (a + N)

    return {"dpm_entropy": dpm_entropy}
