"""Hidden Markov models and their alignments: the claims of the source, against sums over all paths."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from learnable import latent as al
from learnable.chapters.hmm_alignment import theory
from learnable.chapters.hmm_alignment.theory import block_posterior, block_posteriors
from learnable.datasets.sequences import hmm_parameters, make_hmm
from learnable.latent import hmm as al_hmm
from learnable.latent.hmm import HMM, DiscreteEmission, GaussianEmission, baum_welch, fit_labelled, forward_backward
from learnable.latent.hmm import recursions as al_recursions
from learnable.latent.hmm.alignments import combined, kblock
from learnable.latent.hmm.path_risks import risks
from learnable.latent.hmm.recursions import as_posterior


def penalised_pmap_log(hmm, x, C=1.0):
    """Penalised posterior decoding: min -sum ln p_t(s_t | x) - C ln p(s) (Lember 2012, (7.3.18))."""
    return combined(hmm, x, 1.0, 0.0, 0.0, C)


def tradeoff_curve(hmm, x, ks):
    """The risks of the k-block alignments for several k: expected errors against the probability of the path."""
    post = as_posterior(hmm, x)
    return risks(hmm, post, np.array([kblock(hmm, post, float(k)) for k in ks]))


CASINO = HMM.from_parameters(**hmm_parameters("casino"))
RING = HMM.from_parameters(**hmm_parameters("ring"))


def random_problem(rng, zeros=True, largest=7, spread=2.0, states=None):
    """A model without emission and a table of log densities with positive likelihood."""
    while True:
        k, n = states or int(rng.integers(2, 4)), int(rng.integers(1, largest + 1))
        keep = 0.6 if zeros else 1.0
        P = rng.dirichlet(np.ones(k), size=k) * (rng.random((k, k)) < keep)
        pi = rng.dirichlet(np.ones(k)) * (rng.random(k) < 0.8)
        if (P.sum(axis=1) == 0).any() or pi.sum() == 0:
            continue
        log_f = spread * rng.normal(size=(n, k))
        if zeros:
            log_f[rng.random((n, k)) < 0.15] = -np.inf
        hmm = HMM(pi / pi.sum(), P / P.sum(axis=1, keepdims=True))
        if (log_f == -np.inf).all():
            continue
        log_f -= log_f.max()
        if enumerate_paths(hmm, log_f)[1].sum() > 0:
            return hmm, log_f


def enumerate_paths(hmm, log_f):
    """All paths, their joint probabilities with the observations, and their prior probabilities, by products."""
    n, k = log_f.shape
    paths = np.array(list(itertools.product(range(k), repeat=n)))
    prior = hmm.startprob[paths[:, 0]].copy()
    for t in range(1, n):
        prior *= hmm.transmat[paths[:, t - 1], paths[:, t]]
    joint = prior * np.prod(np.exp(log_f)[np.arange(n), paths], axis=1)
    return paths, joint, prior


class Oracle:
    """Everything about the posterior, from sums over all paths."""

    def __init__(self, hmm, log_f):
        self.paths, self.joint, self.prior = enumerate_paths(hmm, log_f)
        self.total = self.joint.sum()
        self.posterior = self.joint / self.total
        n, k = log_f.shape
        self.smoothed = np.array([[self.posterior[self.paths[:, t] == j].sum() for j in range(k)] for t in range(n)])
        self.marginal = np.array([[self.prior[self.paths[:, t] == j].sum() for j in range(k)] for t in range(n)])
        self.times = np.arange(n)

    def along(self, table):
        return table[self.times, self.paths].sum(axis=1)

    def value(self, values, path):
        return values[(self.paths == path).all(axis=1)][0]

    def combined(self, C):
        with np.errstate(divide="ignore"):
            terms = (
                self.along(np.log(self.smoothed)),
                np.log(self.posterior),
                self.along(np.log(self.marginal)),
                np.log(self.prior),
            )
        return sum(c * term for c, term in zip(C, terms, strict=True) if c > 0)


def problems(count, seed=0, **options):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng, *random_problem(rng, **options)


def four_states(A):
    """The worked example of Lember 2012, Sec. 7.3.6, states from 0."""
    P = np.array([[0, 4, 2, 2], [4, 1, 1, 2], [2, 1, 1, 4], [2, 2, 4, 0]]) / 8
    f = np.ones((4, 4))
    f[[0, 3]] = [0, 1, 0, 0]
    f[1:3, 0] = A
    with np.errstate(divide="ignore"):
        return HMM(np.full(4, 0.25), P), np.log(f)


def as_sets(paths):
    return {tuple((np.asarray(path) + 1).tolist()) for path in paths}


def test_claim_04_the_posterior_is_a_markov_chain_that_forgets_the_past():
    for rng, hmm, log_f in problems(60, seed=4, zeros=False):
        n, k = log_f.shape
        if n < 3:
            continue
        oracle = Oracle(hmm, log_f)
        Q = theory.conditional_transitions(hmm, log_f)
        t = int(rng.integers(1, n - 1))
        for history in itertools.product(range(k), repeat=t + 1):
            same = (oracle.paths[:, : t + 1] == history).all(axis=1)
            mass = oracle.posterior[same].sum()
            if mass > 1e-12:
                step = [oracle.posterior[same & (oracle.paths[:, t + 1] == j)].sum() / mass for j in range(k)]
                np.testing.assert_allclose(Q[t, history[-1]], step, atol=1e-9)
        other = log_f.copy()
        other[: t + 1] = rng.normal(size=(t + 1, k))
        np.testing.assert_allclose(theory.conditional_transitions(hmm, other)[t], Q[t], atol=1e-12)


def test_block_posteriors_are_sums_over_all_paths():
    for rng, hmm, log_f in problems(40, seed=5):
        n = len(log_f)
        oracle = Oracle(hmm, log_f)
        k = int(rng.integers(1, min(n, 4) + 1))
        got = block_posteriors(hmm, log_f, k)
        assert got.shape == (n - k + 1,) + (hmm.n_states,) * k
        for t in range(n - k + 1):
            for block in itertools.product(range(hmm.n_states), repeat=k):
                expected = oracle.posterior[(oracle.paths[:, t : t + k] == block).all(axis=1)].sum()
                np.testing.assert_allclose(got[(t, *block)], expected, atol=1e-12)
                with np.errstate(divide="ignore"):
                    np.testing.assert_allclose(block_posterior(hmm, log_f, t, block), np.log(expected), atol=1e-9)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6), st.floats(0.01, 5), st.floats(0.01, 5))
def test_claim_08_admissible_with_c2_or_with_c1_and_c4(seed, a, b):
    hmm, log_f = random_problem(np.random.default_rng(seed))
    post = forward_backward(hmm, log_f)
    for path in (
        al_hmm.combined(hmm, post, a, b),
        al_hmm.combined(hmm, post, 0, a, b),
        al_hmm.combined(hmm, post, a, 0, 0, b),
        al_hmm.restricted_pmap(hmm, post),
        al.posterior_viterbi(hmm, post),
        al.kblock(hmm, post, 1 + a),
    ):
        assert theory.is_admissible(hmm, post, path)


def test_claim_08_pmap_and_rabiner_blocks_may_be_impossible():
    hmm, log_f = four_states(2.0)
    assert not theory.is_admissible(hmm, log_f, al.pmap(hmm, log_f))
    assert not theory.is_admissible(hmm, log_f, theory.rabiner_blocks(hmm, log_f, 2))


def test_claim_10_block_risk_is_a_sum_of_two_risks():
    for _, hmm, log_f in problems(50, seed=14):
        n = len(log_f)
        post = forward_backward(hmm, log_f)
        found = al_hmm.risks(hmm, post, enumerate_paths(hmm, log_f)[0])
        for m in np.flatnonzero(np.isfinite(found.log_rinf))[::5]:
            for k in range(1, n + 1):
                expected = (k - 1) * found.log_rinf[m] + found.log_r1[m]
                np.testing.assert_allclose(
                    theory.kblock_risk(hmm, post, found.paths[m], k), expected, rtol=1e-9, atol=1e-9
                )
    hmm, log_f = four_states(2.0)
    assert theory.kblock_risk(hmm, log_f, [1, 0, 0, 1], 2) == np.inf


@pytest.mark.parametrize("A", [1.2, 2.0, 5.0])
def test_claim_11_worked_example(A):
    hmm, log_f = four_states(A)
    assert as_sets(al.viterbi(hmm, log_f, all_ties=True)) == {(2, 1, 2, 2), (2, 2, 1, 2), (2, 1, 4, 2), (2, 4, 1, 2)}
    assert (al.pmap(hmm, log_f) + 1).tolist() == [2, 1, 1, 2]
    assert not theory.is_admissible(hmm, log_f, al.pmap(hmm, log_f))
    assert as_sets(al.kblock(hmm, log_f, 2, all_ties=True)) == {(2, 1, 4, 2), (2, 4, 1, 2)}
    smoothed = forward_backward(hmm, log_f).smoothed
    np.testing.assert_allclose(smoothed[1, 0], 40 * A / (80 * A + 28), rtol=1e-12)


def test_erratum_rabiner_blocks_of_the_example_depend_on_a():
    def score(A, path):
        hmm, log_f = four_states(A)
        blocks = block_posteriors(hmm, log_f, 2)
        return sum(blocks[t, path[t] - 1, path[t + 1] - 1] for t in range(3))

    for A in (1.2, 2.0):
        Z = 80 * A + 28
        np.testing.assert_allclose(score(A, (2, 1, 1, 2)), 80 * A / Z, rtol=1e-12)
        np.testing.assert_allclose(score(A, (2, 1, 4, 2)), (72 * A + 12) / Z, rtol=1e-12)
    assert (theory.rabiner_blocks(*four_states(1.6), 2) + 1).tolist() == [2, 1, 1, 2]
    hmm, log_f = four_states(1.4)
    path = theory.rabiner_blocks(hmm, log_f, 2)
    assert tuple(path + 1) in {(2, 1, 4, 2), (2, 4, 1, 2)} and theory.is_admissible(hmm, log_f, path)


def test_erratum_the_block_alignment_needs_the_logarithmic_risk():
    """v(2) and Rabiner's 2-block path differ, so the theorem cannot hold for the minimiser of R_k."""
    hmm, log_f = four_states(2.0)
    assert al.kblock(hmm, log_f, 2).tolist() != theory.rabiner_blocks(hmm, log_f, 2).tolist()


def test_claim_12_rabiner_blocks_maximise_and_meet_both_ends():
    for rng, hmm, log_f in problems(60, seed=17):
        n = len(log_f)
        oracle = Oracle(hmm, log_f)
        k = int(rng.integers(1, min(n, 4) + 1))
        blocks = block_posteriors(hmm, log_f, k)
        score = np.zeros(len(oracle.paths))
        for t in range(n - k + 1):
            score += blocks[(t, *oracle.paths[:, t : t + k].T)]
        path = theory.rabiner_blocks(hmm, log_f, k)
        np.testing.assert_allclose(oracle.value(score, path), score.max(), atol=1e-12)
        if n <= 5:
            last = theory.rabiner_blocks(hmm, log_f, n)
            np.testing.assert_allclose(oracle.value(oracle.posterior, last), oracle.posterior.max(), rtol=1e-9)
        np.testing.assert_array_equal(theory.rabiner_blocks(hmm, log_f, 1), al.pmap(hmm, log_f))


def test_ties_are_all_paths_within_the_tolerance_of_the_best():
    """With a wide tolerance: what a path loses at one place is no longer there to be lost at another."""
    several = 0
    for _, hmm, log_f in problems(12, seed=18, zeros=False, largest=5, spread=0.5):
        oracle, n, tol = Oracle(hmm, log_f), len(log_f), 0.05
        same = oracle.paths[:, None, :] == oracle.paths[None, :, :]
        with np.errstate(divide="ignore"):
            cases = [(np.log(oracle.joint), al.viterbi(hmm, log_f, all_ties=True, tol=tol))]
        for k in range(2, min(n, 3) + 1):
            score = sum(same[:, :, t : t + k].all(axis=2) @ oracle.posterior for t in range(n - k + 1))
            cases.append((score, theory.rabiner_blocks(hmm, log_f, k, all_ties=True, tol=tol)))
        for score, found in cases:
            near = oracle.paths[score >= score.max() - tol * (1 + abs(score.max()))]
            assert sorted(map(tuple, found)) == sorted(map(tuple, near))
            several += len(near) > 2
    assert several > 5


def test_penalised_decoding_and_the_trade_off_over_k():
    for rng, hmm, log_f in problems(20, seed=19, zeros=False):
        oracle, C = Oracle(hmm, log_f), float(rng.uniform(0.1, 3))
        with np.errstate(divide="ignore"):
            cost = -oracle.along(np.log(oracle.smoothed)) - C * np.log(oracle.prior)
        assert oracle.value(cost, penalised_pmap_log(hmm, log_f, C)) == pytest.approx(cost.min(), rel=1e-9)
    post = forward_backward(RING, RING.sample(150, 0)[0])
    curve = tradeoff_curve(RING, post, [1.5, 3, 10, np.inf])
    assert (np.diff(curve.log_rinf) <= 1e-9).all() and (np.diff(curve.r1) >= -1e-9).all()


def test_ring_experiment_has_the_reported_order():
    """E2 at three replications: more errors and more probability as k grows; PMAP impossible."""
    for seed in range(3):
        made = make_hmm("ring", length=2000, random_state=seed)
        x, y = made.data[0], made.states[0]
        post = forward_backward(RING, x)
        paths = np.array([al.posterior_viterbi(RING, post), *(al.kblock(RING, post, k) for k in (2, 5, 50, np.inf))])
        found = al_hmm.risks(RING, post, paths)
        assert not theory.is_admissible(RING, post, al.pmap(RING, post))
        assert (np.diff(found.log_rinf) < 0).all() and (np.diff(found.r1) > 0).all()
        assert (paths[-1] != y).mean() - (paths[0] != y).mean() > 0.03


HALF = [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HMM([0.5, 0.6], HALF), "startprob must sum to 1"),
        (
            lambda: HMM([0.5, 0.5], [[0.5, 0.4], [0.5, 0.5]]),
            "transmat must have rows that sum to 1, got a sum of 0.9 in row 0",
        ),
        (lambda: HMM([0.5, 0.5], [[1.5, -0.5], [0.5, 0.5]]), r"transmat must be non-negative, got -0.5 at \[0, 1\]"),
        (lambda: HMM([0.5, 0.5], [[1.0]]), "transmat must have shape"),
        (lambda: HMM([0.5, 0.5], [[np.nan, 1], [0, 1]]), "transmat must be finite"),
        (lambda: HMM([0.5, 0.5], HALF, GaussianEmission([0.0])), "emission must have 2 states"),
        (lambda: DiscreteEmission([[0.5, 0.6]]), "emissionprob must have rows that sum to 1"),
        (lambda: GaussianEmission([0.0, 1.0], [1.0, 0.0]), "variances must be positive"),
        (lambda: GaussianEmission([0.0, 1.0], [1.0, 1.0, 1.0]), "variances must be a number or"),
        (lambda: GaussianEmission(np.zeros((2, 2, 2))), "means must have shape"),
        (lambda: HMM.from_parameters([1.0], [[1.0]]), "give either"),
        (lambda: forward_backward(CASINO, [0, 6]), "x must hold symbols 0..5, got 6 at 1"),
        (lambda: forward_backward(CASINO, [0.5]), "whole numbers"),
        (lambda: forward_backward(CASINO, []), "non-empty"),
        (lambda: forward_backward(RING, [0.0, np.nan]), r"x must be finite, got nan at \[1\]"),
        (lambda: forward_backward(RING, [[0.0]]), "x must have 1 dimension"),
        (lambda: forward_backward(HMM([0.5, 0.5], HALF), np.zeros((3, 3))), "log densities of shape"),
        (lambda: forward_backward(HMM([0.5, 0.5], HALF), [[0.0, np.nan]]), r"no NaN, got nan at \[0, 1\]"),
        (lambda: forward_backward(HMM([0.5, 0.5], HALF), [[0, 0], [-np.inf] * 2]), "observation 1 has density zero"),
        (
            lambda: al_recursions.smooth(HMM([0.5, 0.5], HALF), [[0, 0], [-np.inf] * 2]),
            "observation 1 has density zero",
        ),
        (lambda: forward_backward(CASINO, [0], method="fast"), "method must be"),
        (lambda: forward_backward("casino", [0]), "hmm must be an HMM"),
        (lambda: al.viterbi(RING, forward_backward(CASINO, [0])), "another model"),
        (lambda: al_hmm.combined(CASINO, [0]), "must be positive"),
        (lambda: al_hmm.combined(CASINO, [0], -1.0), "C1 must be"),
        (lambda: al.kblock(CASINO, [0], 0.5), "k must be"),
        (lambda: al.kblock(CASINO, [0], np.nan), "k must be"),
        (lambda: al_hmm.risks(CASINO, [0, 1], [0, 2]), "states 0..1"),
        (lambda: al_hmm.risks(CASINO, [0, 1], [0]), "2 integers for each path"),
        (lambda: al.pmap(CASINO, [0], loss=[[0, 1]]), "loss must have shape"),
        (lambda: al_recursions.predict(CASINO, [0], 0), "h must be"),
        (lambda: al.sample_paths(CASINO, [0], 0), "size must be"),
        (lambda: CASINO.sample(0), "n must be"),
        (lambda: HMM([1.0], [[1.0]]).sample(3), "without an emission"),
        (lambda: baum_welch(HMM([1.0], [[1.0]]), [[0.0]]), "with an emission"),
        (lambda: baum_welch(CASINO, [0, 1], max_iter=0), "max_iter must be"),
        (lambda: baum_welch(CASINO, [[0, 1], [0, 7]]), "symbols 0..5"),
        (lambda: baum_welch(CASINO, [0, 1], labels=[0]), "labels must have the lengths"),
        (lambda: baum_welch(CASINO, [0, 1], labels=[0, 5]), "integers from -1"),
        (lambda: fit_labelled([0, 1], [-1, 0], n_states=2, n_symbols=2), "no sequence has a known first state"),
        (lambda: fit_labelled([0, 1, 1], [0, 0, 1], n_states=2, n_symbols=2), "state 1 has no labelled successor"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
