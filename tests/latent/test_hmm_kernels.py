"""The compiled recursions, unrolled and normalised now and then, beside recursions that read like the formulas."""

import numpy as np
import pytest
from scipy.special import logsumexp

from learnable.latent.hmm import _kernels


def plain_forward(pi, P, f):
    """alpha_t ∝ (alpha_{t-1}' P) f_t with sum one, and Σ ln p(x_t | x^(t-1)), up to the time when no state is left."""
    filtered, log_likelihood, predicted = np.empty(f.shape), 0.0, pi
    for t in range(len(f)):
        joint = predicted * f[t]
        if joint.sum() == 0.0:
            return t, None, -np.inf
        filtered[t] = joint / joint.sum()
        log_likelihood += np.log(joint.sum())
        predicted = filtered[t] @ P
    return -1, filtered, log_likelihood


def plain_backward(P, f, filtered):
    """beta_t = P (f_{t+1} beta_{t+1}) where the filter is positive; posteriors of states and of pairs of states."""
    beta, smoothed, pairs = np.ones(f.shape[1]), filtered.copy(), np.zeros((len(f), *P.shape))
    for t in range(len(f) - 2, -1, -1):
        pairs[t + 1] = filtered[t][:, None] * P * (f[t + 1] * beta)
        pairs[t + 1] /= pairs[t + 1].sum()
        smoothed[t] = pairs[t + 1].sum(axis=1)
        beta = np.where(filtered[t] > 0.0, P @ (f[t + 1] * beta), 0.0)
        beta /= beta @ filtered[t]
    return smoothed, pairs


def plain_log_forward(log_pi, log_P, log_f):
    """ln alpha_t(j) = ln f_t(j) + ln Σ_i exp(ln alpha_{t-1}(i) + ln P_ij)."""
    log_alpha = np.empty(log_f.shape)
    log_alpha[0] = log_pi + log_f[0]
    for t in range(1, len(log_f)):
        log_alpha[t] = logsumexp(log_alpha[t - 1][:, None] + log_P, axis=0) + log_f[t]
    return log_alpha


def chain(kind, k, n, rng):
    """A chain and densities relative to the largest of their row, hard in one way each."""
    P, pi = rng.dirichlet(np.ones(k), size=k), rng.dirichlet(np.ones(k))
    f = rng.random((n, k))
    if kind == "left-right":
        P = (n * np.eye(k) + np.eye(k, k=1)) / (n + 1)  # slow enough that no state is left for good
        P[-1, -1], pi = 1.0, np.eye(k)[0]
        f += 0.5
    elif kind == "zeros":  # the diagonal and state 0 stay possible
        P[rng.random(P.shape) < 0.6] = 0.0
        P += 0.1 * np.eye(k) + 0.1 * np.eye(k)[0]
        P /= P.sum(axis=1, keepdims=True)
        f[:, 1:][rng.random((n, k - 1)) < 0.5] = 0.0
    elif kind == "small densities":  # twelve powers of ten a step: the sum must be normalised at once
        f = 10.0 ** rng.uniform(-12, 0, (n, k))
        return pi, P, f  # not relative: no row has a one
    elif kind == "rare steps":
        P = 10.0 ** rng.uniform(-18, 0, (k, k))
        P /= P.sum(axis=1, keepdims=True)
    return pi, P, f / f.max(axis=1, keepdims=True)


KINDS = ["dense", "left-right", "zeros", "small densities", "rare steps"]
SIZES = [1, 2, 5, 7, 8, 11, 18]  # below eight in registers, then four rows at a time and a rest


@pytest.mark.parametrize("n", [1, 2, 257, 1100])
@pytest.mark.parametrize("kind", KINDS)
def test_forward_is_the_formula(kind, n):
    for k in SIZES:
        pi, P, f = chain(kind, k, n, np.random.default_rng(k))
        _, filtered, log_likelihood = plain_forward(pi, P, f)
        for net in (_kernels.step_arcs(P), (*_kernels.arcs(P)[:4], True)):
            for lenient in (False, True):
                out = np.empty(f.shape)
                stop, small, value = _kernels.forward(pi, net, f, out, lenient)
                assert stop == -1 and (lenient or not small)
                # All terms are positive, so that relative errors stay those of a few roundings a step.
                np.testing.assert_allclose(out, filtered, rtol=1e-10, atol=0.0)
                np.testing.assert_allclose(value, log_likelihood, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 257, 1100])
@pytest.mark.parametrize("kind", KINDS)
def test_backward_is_the_formula(kind, n):
    for k in SIZES:
        pi, P, f = chain(kind, k, n, np.random.default_rng(k))
        _, filtered, _ = plain_forward(pi, P, f)
        smoothed, pairs = plain_backward(P, f, filtered)
        for net in (_kernels.step_arcs(P.T), (*_kernels.arcs(P.T)[:4], True)):
            out, weight = np.empty(f.shape), np.zeros(f.shape)
            assert not _kernels.backward(net, f, filtered, out, weight, True, False)
            np.testing.assert_allclose(out, smoothed, rtol=1e-10, atol=0.0)
            np.testing.assert_allclose(
                filtered[:-1, :, None] * P * weight[1:, None, :], pairs[1:], rtol=1e-10, atol=0.0
            )


@pytest.mark.parametrize("k", [1, 3, 8, 13])
def test_forward_says_when_no_state_is_left(k):
    pi, P, f = chain("dense", k, 600, np.random.default_rng(k))
    for t in (0, 1, 255, 256, 599):
        g = f.copy()
        g[t] = 0.0
        for lenient in (False, True):
            stop, small, value = _kernels.forward(pi, _kernels.step_arcs(P), g, np.empty(g.shape), lenient)
            assert (stop, bool(small), value) == (plain_forward(pi, P, g)[0], False, -np.inf) == (t, False, -np.inf)


@pytest.mark.parametrize("t", [0, 7, 255, 256, 299])
def test_forward_says_when_a_probability_may_be_lost(t):
    """One density of 1e-160 makes one filter smaller than TINY, wherever in a block of rows it stands."""
    pi, P, f = chain("dense", 3, 300, np.random.default_rng(0))
    f[t] = [1.0, 1e-160, 0.5]
    _, filtered, _ = plain_forward(pi, P, f)
    assert 0.0 < filtered[t, 1] < _kernels.TINY
    assert _kernels.forward(pi, _kernels.step_arcs(P), f, np.empty(f.shape), False)[1]
    # The lenient filter looks at predictions, which are harmless here.
    assert not _kernels.forward(pi, _kernels.step_arcs(P), f, np.empty(f.shape), True)[1]


@pytest.mark.parametrize("scale", [1.0, 300.0, 3000.0])
def test_log_forward_is_the_formula_at_any_scale(scale):
    """Gaps of thousands between states underflow in the linear pass and are summed again in logarithms."""
    for k in (1, 2, 7, 16, 19):
        rng = np.random.default_rng(k)
        pi, P, _ = chain("zeros", k, 1, rng)
        log_f = -scale * rng.random((400, k))
        with np.errstate(divide="ignore"):
            log_pi, log_P = np.log(pi), np.log(P)
        out = np.empty(log_f.shape)
        stop = _kernels.log_forward(log_pi, _kernels.arcs(P), _kernels.arcs(log_P, -np.inf), log_f, out)
        assert stop == -1
        np.testing.assert_allclose(out, plain_log_forward(log_pi, log_P, log_f), rtol=1e-12, atol=1e-12)
