"""Hidden Markov models and their alignments: the claims of the source, against sums over all paths."""

import itertools
import time
import warnings

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM, GaussianHMM
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from learnable import latent as al
from learnable.datasets.sequences import hmm_parameters, make_hmm
from learnable.latent import hmm as al_hmm
from learnable.latent.hmm import HMM, DiscreteEmission, GaussianEmission, baum_welch, fit_labelled, forward_backward
from learnable.latent.hmm import _kernels as kernels
from learnable.latent.hmm import recursions as al_recursions

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


def as_sets(paths):
    return {tuple((np.asarray(path) + 1).tolist()) for path in paths}


def test_claim_01_forward_backward_and_smoothing_are_sums_over_all_paths():
    for _, hmm, log_f in problems(200):
        oracle = Oracle(hmm, log_f)
        n, k = log_f.shape
        post = forward_backward(hmm, log_f)
        np.testing.assert_allclose(post.log_likelihood, np.log(oracle.total), rtol=1e-10)
        np.testing.assert_allclose(post.smoothed, oracle.smoothed, atol=1e-10)
        assert ((post.smoothed > 0) == (oracle.smoothed > 0)).all()
        # (7.2.4): the same likelihood from every t
        each = logsumexp(post.log_alpha + post.log_beta, axis=1)
        np.testing.assert_allclose(each, np.log(oracle.total), rtol=1e-10)
        # (7.2.1), (7.2.2): alpha and beta themselves
        for t in range(n):
            head, joint, _ = enumerate_paths(hmm, log_f[: t + 1])
            alpha = [joint[head[:, -1] == j].sum() for j in range(k)]
            np.testing.assert_allclose(np.exp(post.log_alpha[t]), alpha, rtol=1e-10, atol=1e-300)
            for j in range(k):
                beta = 1.0
                if t < n - 1:
                    beta = enumerate_paths(HMM(hmm.transmat[j], hmm.transmat), log_f[t + 1 :])[1].sum()
                np.testing.assert_allclose(np.exp(post.log_beta[t, j]), beta, rtol=1e-10, atol=1e-300)


def test_claim_01_factorisation_of_the_joint_law():
    """(7.2.6): p(x, y) = p(x^t, y^t) p(x_(t+1)^n, y_(t+1)^n | y_t), with p(x, y) = p(y | x) p(x) from the package."""
    for _, hmm, log_f in problems(30, seed=1):
        n = len(log_f)
        paths = enumerate_paths(hmm, log_f)[0][::7]
        post = forward_backward(hmm, log_f)
        joint = np.exp(post.log_likelihood - al_hmm.risks(hmm, post, paths).log_rinf)
        for t in range(1, n):
            heads, head, _ = enumerate_paths(hmm, log_f[:t])
            first = dict(zip(map(tuple, heads), head, strict=True))
            for path, p in zip(paths, joint, strict=True):
                steps = hmm.transmat[path[t - 1 : -1], path[t:]]
                tail = np.prod(steps) * np.exp(log_f[np.arange(t, n), path[t:]]).prod()
                np.testing.assert_allclose(first[tuple(path[:t])] * tail, p, rtol=1e-9)


def test_claim_02_scaled_log_and_derin_agree():
    for _, hmm, log_f in problems(100, seed=2):
        posts = [forward_backward(hmm, log_f, method) for method in ("scaled", "log", "derin")]
        for post in posts[1:]:
            np.testing.assert_allclose(post.smoothed, posts[0].smoothed, atol=1e-10)
            np.testing.assert_allclose(post.log_likelihood, posts[0].log_likelihood, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(al_recursions.smooth(hmm, log_f)[1], posts[0].smoothed, atol=1e-14)


def test_claim_02_unscaled_recursion_underflows_the_others_do_not():
    x, _ = CASINO.sample(1_000_000, 0)
    alpha = CASINO.startprob * CASINO.emission.emissionprob[:, x[0]]
    for symbol in x[1:1000]:
        alpha = alpha @ CASINO.transmat * CASINO.emission.emissionprob[:, symbol]
    assert (alpha == 0).all()
    posts = [forward_backward(CASINO, x, method) for method in ("scaled", "log", "derin")]
    for post in posts:
        np.testing.assert_allclose(post.log_likelihood, posts[0].log_likelihood, rtol=1e-10)
        np.testing.assert_allclose(post.smoothed, posts[0].smoothed, atol=1e-9)


def test_claim_03_filtering_is_alpha_normalised_and_prediction_is_filter_times_powers():
    for rng, hmm, log_f in problems(50, seed=3):
        got = al.filtering(hmm, log_f)
        for t in range(len(log_f)):
            paths, joint, _ = enumerate_paths(hmm, log_f[: t + 1])
            alpha = np.array([joint[paths[:, -1] == j].sum() for j in range(hmm.n_states)])
            np.testing.assert_allclose(got.filtered[t], alpha / alpha.sum(), atol=1e-12)
            expected = hmm.startprob if t == 0 else got.filtered[t - 1] @ hmm.transmat
            np.testing.assert_allclose(got.predicted[t], expected, atol=1e-14)
        h = int(rng.integers(1, 6))
        expected = [got.filtered[-1] @ np.linalg.matrix_power(hmm.transmat, m) for m in range(1, h + 1)]
        np.testing.assert_allclose(al_recursions.predict(hmm, log_f, h), expected, atol=1e-13)
        np.testing.assert_allclose(al_recursions.predict(hmm, forward_backward(hmm, log_f), h), expected, atol=1e-13)
        np.testing.assert_allclose(got.log_likelihood, forward_backward(hmm, log_f).log_likelihood, rtol=1e-12)


def test_posterior_sampling_has_the_right_law():
    rng = np.random.default_rng(6)
    hmm, log_f = random_problem(rng, largest=4)
    oracle = Oracle(hmm, log_f)
    for method in ("scaled", "log"):
        drawn = al.sample_paths(hmm, forward_backward(hmm, log_f, method), 20_000, rng)
        share = np.array([(drawn == path).all(axis=1).mean() for path in oracle.paths])
        # six standard deviations of a proportion, for each of at most 81 paths
        assert (np.abs(share - oracle.posterior) <= 6 * np.sqrt(oracle.posterior / 20_000) + 1e-12).all()


def test_claim_05_viterbi_is_the_brute_force_maximiser_with_all_ties():
    for rng, hmm, _ in problems(100, seed=7):
        n = int(rng.integers(1, 7))
        log_f = np.log(rng.choice([1.0, 2.0], size=(n, hmm.n_states)))  # many ties
        uniform = HMM(
            (hmm.startprob > 0) / (hmm.startprob > 0).sum(),
            (hmm.transmat > 0) / (hmm.transmat > 0).sum(axis=1, keepdims=True),
        )
        oracle = Oracle(uniform, log_f)
        best = oracle.paths[oracle.joint >= oracle.joint.max() * (1 - 1e-12)]
        found = list(al.viterbi(uniform, log_f, all_ties=True))
        assert as_sets(found) == as_sets(best) and len(found) == len(best)
        assert tuple(al.viterbi(uniform, log_f) + 1) in as_sets(best)
    assert len(list(al.viterbi(HMM([0.5, 0.5], [[0.5, 0.5]] * 2), np.zeros((20, 2)), True, max_ties=7))) == 7


def test_claim_05_bellman_prefixes_of_an_optimal_path_are_optimal_among_those_ending_there():
    for _, hmm, log_f in problems(50, seed=8):
        path = al.viterbi(hmm, log_f)
        for t in range(1, len(log_f) + 1):
            paths, joint, _ = enumerate_paths(hmm, log_f[:t])
            ending = joint[paths[:, -1] == path[t - 1]]
            own = joint[(paths == path[:t]).all(axis=1)][0]
            assert own >= ending.max() * (1 - 1e-12)


def test_claim_06_pmap_minimises_expected_errors_and_the_product_risk():
    for rng, hmm, log_f in problems(60, seed=9):
        oracle = Oracle(hmm, log_f)
        path = al.pmap(hmm, log_f)
        hits = oracle.along(oracle.smoothed)
        np.testing.assert_allclose(oracle.value(hits, path), hits.max(), atol=1e-12)
        with np.errstate(divide="ignore"):
            logs = oracle.along(np.log(oracle.smoothed))
        np.testing.assert_allclose(oracle.value(logs, path), logs.max(), atol=1e-9)
        loss = rng.random((hmm.n_states, hmm.n_states))
        np.fill_diagonal(loss, 0)
        cost = oracle.along(oracle.smoothed @ loss)
        np.testing.assert_allclose(oracle.value(cost, al.pmap(hmm, log_f, loss)), cost.min(), atol=1e-12)


def test_claim_06_expected_errors_agree_with_errors_against_sampled_paths():
    x, _ = RING.sample(200, 0)
    post = forward_backward(RING, x)
    drawn = al.sample_paths(RING, post, 2000, 1)
    paths = {"pmap": al.pmap(RING, post), "viterbi": al.viterbi(RING, post), "pvd": al.posterior_viterbi(RING, post)}
    errors = {name: (drawn != path).sum(axis=1) for name, path in paths.items()}
    for name, path in paths.items():
        se = errors[name].std() / 2000**0.5
        assert abs(errors[name].mean() - al_hmm.risks(RING, post, path).r1) < 4 * se
        assert errors["pmap"].mean() <= errors[name].mean()


def test_claim_06_viterbi_and_pmap_coincide_for_mixtures():
    """Rows of P equal to pi: independent classification."""
    rng = np.random.default_rng(10)
    pi = rng.dirichlet(np.ones(4))
    hmm = HMM(pi, np.tile(pi, (4, 1)), GaussianEmission(rng.normal(size=4), rng.uniform(0.5, 2, 4)))
    x, _ = hmm.sample(300, rng)
    bayes = (np.log(pi) + norm.logpdf(x[:, None], hmm.emission.means, np.sqrt(hmm.emission.variances))).argmax(axis=1)
    np.testing.assert_array_equal(al.viterbi(hmm, x), bayes)
    np.testing.assert_array_equal(al.pmap(hmm, x), bayes)


def test_claim_07_every_member_is_the_brute_force_minimiser():
    for rng, hmm, log_f in problems(150, seed=11):
        oracle = Oracle(hmm, log_f)
        possible = oracle.posterior > 0
        with np.errstate(divide="ignore"):
            hits, logs = oracle.along(oracle.smoothed), oracle.along(np.log(oracle.smoothed))
            log_prior = np.log(oracle.prior)
        c = float(rng.uniform(0.1, 3))
        cases = {
            "restricted": (al_hmm.restricted_pmap(hmm, log_f), np.where(possible, hits, -np.inf)),
            "pvd": (al.posterior_viterbi(hmm, log_f), np.where(possible, logs, -np.inf)),
            "penalised log C": (al_hmm.combined(hmm, log_f, 1, 0, 0, c), logs + c * log_prior),
            "penalised": (al_hmm.penalised_pmap(hmm, log_f), np.where(possible, hits + log_prior, -np.inf)),
            "penalised C": (al_hmm.penalised_pmap(hmm, log_f, c), np.where(possible, hits + c * log_prior, -np.inf)),
        }
        C = rng.uniform(0, 2, 4) * (rng.random(4) < 0.6)
        if C.any():
            cases["combined"] = (al_hmm.combined(hmm, log_f, *C), oracle.combined(C))
        for name, (path, values) in cases.items():
            np.testing.assert_allclose(oracle.value(values, path), values.max(), rtol=1e-9, atol=1e-9, err_msg=name)


def test_claim_07_special_cases_of_the_combined_risk():
    for _, hmm, log_f in problems(60, seed=12):
        oracle = Oracle(hmm, log_f)

        def same(C, path, oracle=oracle, hmm=hmm, log_f=log_f):
            values = oracle.combined(C)
            np.testing.assert_allclose(oracle.value(values, path), values.max(), atol=1e-9)
            np.testing.assert_allclose(oracle.value(values, al_hmm.combined(hmm, log_f, *C)), values.max(), atol=1e-9)

        same((1, 0, 0, 0), al.pmap(hmm, log_f))
        same((0, 1, 0, 0), al.viterbi(hmm, log_f))
        same((0, 0, 1, 0), oracle.marginal.argmax(axis=1))
        same((0, 0, 0, 1), oracle.paths[oracle.prior.argmax()])
        with np.errstate(divide="ignore"):
            logs = np.where(oracle.posterior > 0, oracle.along(np.log(oracle.smoothed)), -np.inf)
        small = oracle.value(logs, al_hmm.combined(hmm, log_f, 1, 1e-9))
        np.testing.assert_allclose(small, logs.max(), atol=1e-6)


def test_claim_09_restricted_sum_and_restricted_product_can_differ():
    differ = 0
    for _, hmm, log_f in problems(500, states=4, spread=0.5, largest=6):
        post = forward_backward(hmm, log_f)
        a, b = al_hmm.restricted_pmap(hmm, post), al.posterior_viterbi(hmm, post)
        ra, rb = al_hmm.risks(hmm, post, a), al_hmm.risks(hmm, post, b)
        assert ra.r1 <= rb.r1 + 1e-9 and rb.log_r1 <= ra.log_r1 + 1e-9
        differ += ra.r1 < rb.r1 - 1e-6 and rb.log_r1 < ra.log_r1 - 1e-6
    assert differ > 0


def test_claim_10_kblock_minimises_the_sum_over_all_blocks_of_length_k():
    """Blocks that stick out at either end count with the part that they share with the sequence."""
    sharp = 0
    for _, hmm, log_f in problems(60, seed=16, zeros=False, largest=5, spread=0.3):
        oracle, n = Oracle(hmm, log_f), len(log_f)
        same = oracle.paths[:, None, :] == oracle.paths[None, :, :]
        with np.errstate(divide="ignore"):
            cost = {
                k: -sum(
                    np.log(same[:, :, max(start, 0) : start + k].all(axis=2) @ oracle.posterior)
                    for start in range(1 - k, n)
                )
                for k in (2, 3)
            }
        for k in (2, 3):
            path = al.kblock(hmm, log_f, k)
            assert oracle.value(cost[k], path) == pytest.approx(cost[k].min(), rel=1e-9)
        sharp += oracle.value(cost[3], al.kblock(hmm, log_f, 2)) > cost[3].min() + 1e-6
    assert sharp > 0, "no model tells k = 2 from k = 3"


def test_claim_10_risks_are_monotone_in_k_and_reach_viterbi():
    ks = [1.5, 2, 3, 4, 6, 10, 30, 100, 1e4]
    for seed in range(5):
        x, _ = RING.sample(150, seed)
        post = forward_backward(RING, x)
        found = al_hmm.risks(RING, post, [al.kblock(RING, post, k) for k in ks])
        assert (np.diff(found.log_rinf) <= 1e-9).all() and (np.diff(found.log_r1) >= -1e-9).all()
        best = al_hmm.risks(RING, post, al.viterbi(RING, post)).log_rinf
        np.testing.assert_allclose(found.log_rinf[-1], best, rtol=1e-12)


def test_claim_10_k_equal_to_n_need_not_be_viterbi():
    beaten = 0
    for _, hmm, log_f in problems(200, seed=15):
        n = len(log_f)
        post = forward_backward(hmm, log_f)
        own = al_hmm.risks(hmm, post, al.kblock(hmm, post, n)).log_rinf
        beaten += n > 1 and own > al_hmm.risks(hmm, post, al.viterbi(hmm, post)).log_rinf + 1e-9
    assert beaten > 0


def test_erratum_the_multiplicative_restriction_fails_when_a_posterior_underflows():
    """(7.3.9) with a posterior that underflows to zero forbids a state that every admissible path visits."""
    hmm = HMM([1, 0, 0], [[0, 1, 0], [0, 0, 1], [0, 0, 1]])
    log_f = np.array([[0.0, 0, 0], [0, -900.0, 0], [0, 0, -900.0]])
    assert al_hmm.restricted_pmap(hmm, log_f).tolist() == al.posterior_viterbi(hmm, log_f).tolist() == [0, 1, 2]


def test_erratum_rows_not_columns_make_a_mixture():
    """With equal columns (a doubly stochastic example) the states are not independent."""
    pi = np.array([0.7, 0.3])
    rows = HMM(pi, np.tile(pi, (2, 1)))
    np.testing.assert_allclose(rows.prior(5), np.tile(pi, (5, 1)))
    with pytest.raises(ValueError, match="rows that sum to 1"):
        HMM(pi, np.tile(pi, (2, 1)).T)


def test_erratum_backward_recursion_is_shifted_by_one():
    """beta_t conditions on Y_t and needs f at t+1; the printed indices condition on Y_(t-1)."""
    hmm = HMM([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]])
    f = np.array([[0.2, 0.6], [0.5, 0.1], [0.4, 0.3]])
    post = forward_backward(hmm, np.log(f), "log")
    np.testing.assert_allclose(np.exp(post.log_beta[1]), hmm.transmat @ f[2], rtol=1e-12)
    np.testing.assert_allclose(np.exp(post.log_beta[0]), hmm.transmat @ (f[1] * (hmm.transmat @ f[2])), rtol=1e-12)


def test_erratum_pair_constants_multiply_a_product_of_densities():
    """(C2, C4): log(p f), not log p log f."""
    for _, hmm, log_f in problems(20, seed=16):
        oracle = Oracle(hmm, log_f)
        values = oracle.combined((0, 1, 0, 0.5))
        path = al_hmm.combined(hmm, log_f, 0, 1, 0, 0.5)
        np.testing.assert_allclose(oracle.value(values, path), values.max(), atol=1e-9)


def test_claim_13_cost_grows_linearly_with_n():
    """Exponent of the processor time between n = 1e4 and 1e6; the clock does not run while other work does."""
    x, _ = RING.sample(1_000_000, 0)
    table = RING.log_likelihoods(x)
    plain = HMM(RING.startprob, RING.transmat)
    times = []
    for n in (10_000, 1_000_000):
        seconds = []
        for _ in range(3):
            start = time.process_time()
            al.viterbi(plain, table[:n])
            al_recursions.smooth(plain, table[:n])
            seconds.append(time.process_time() - start)
        times.append(min(seconds))
    assert 0.7 < np.log(times[1] / times[0]) / np.log(100) < 1.3


def test_states_that_underflow_stay_admissible():
    """ln p_t(j | x) far below the smallest double: possible states keep a finite logarithm, and the same argmax."""
    rng = np.random.default_rng(20)
    for _, hmm, log_f in problems(60, seed=21, spread=500.0):
        paths, n = np.array(list(itertools.product(range(hmm.n_states), repeat=len(log_f)))), len(log_f)
        with np.errstate(divide="ignore"):
            joint = np.log(hmm.startprob)[paths[:, 0]] + np.log(hmm.transmat)[paths[:, :-1], paths[:, 1:]].sum(axis=1)
        joint += log_f[np.arange(n), paths].sum(axis=1)
        post = forward_backward(hmm, log_f)
        np.testing.assert_allclose(post.log_likelihood, logsumexp(joint), rtol=1e-10, atol=1e-9)
        marginal = np.array(
            [[logsumexp(np.where(paths[:, t] == j, joint, -np.inf)) for j in range(hmm.n_states)] for t in range(n)]
        )
        np.testing.assert_allclose(post.log_smoothed, marginal - logsumexp(joint), rtol=1e-8, atol=1e-7)
        logs = np.where(joint > -np.inf, post.log_smoothed[np.arange(n), paths].sum(axis=1), -np.inf)
        path = al.posterior_viterbi(hmm, post)
        np.testing.assert_allclose(logs[(paths == path).all(axis=1)][0], logs.max(), rtol=1e-9, atol=1e-7)
        assert np.isfinite(
            joint[(al.sample_paths(hmm, post, 3, rng)[:, None] == paths).all(axis=2).argmax(axis=1)]
        ).all()


def test_unreachable_states_that_would_explain_better_do_no_harm():
    """beta of an unreachable state grows without bound; the posterior must not see it."""
    hmm = HMM([1.0, 0.0], np.eye(2), GaussianEmission([0.0, 30.0]))
    x = np.full(2000, 14.0)
    for method in ("scaled", "log", "derin"):
        post = forward_backward(hmm, x, method)
        np.testing.assert_array_equal(post.smoothed, np.tile([1.0, 0.0], (2000, 1)))
        np.testing.assert_allclose(post.log_likelihood, norm.logpdf(14.0) * 2000, rtol=1e-12)
    closer = HMM([1.0, 0.0], np.eye(2), GaussianEmission([0.0, 3.0]))
    np.testing.assert_allclose(forward_backward(closer, np.full(5000, 3.0)).smoothed[:, 0], 1.0, rtol=1e-12)


def test_well_separated_states_and_left_right_chains_at_length():
    left_right = HMM([1.0, 0.0, 0.0], [[0.9, 0.1, 0], [0, 0.9, 0.1], [0, 0, 1.0]], GaussianEmission([0.0, 100.0, 0.0]))
    x = np.repeat([0.0, 100.0, 0.0], [3000, 2, 3000])
    np.testing.assert_array_equal(al.viterbi(left_right, x), np.repeat([0, 1, 2], [3000, 2, 3000]))
    post = forward_backward(left_right, x)
    np.testing.assert_array_equal(al.pmap(left_right, post), al.viterbi(left_right, post))
    assert post.method == "log" and np.isfinite(post.log_smoothed[0, 0])


def ring_chain(k):
    eye = np.eye(k)
    P = 0.8 * eye + 0.15 * np.roll(eye, 1, axis=1) + 0.05 * np.roll(eye, 2, axis=1)
    return HMM(np.full(k, 1 / k), P, GaussianEmission(np.arange(k) % 7 / 2.0))


def test_sparse_transitions_give_the_dense_answers(monkeypatch):
    sparse = ring_chain(40)
    x, _ = sparse.sample(500, 0)
    assert sparse.net[0][4]
    dense = ring_chain(40)
    original = kernels.arcs
    monkeypatch.setattr(kernels, "arcs", lambda matrix, missing=0.0: (*original(matrix, missing)[:4], False))
    assert not dense.net[0][4]
    monkeypatch.undo()
    for method in ("scaled", "log", "derin"):
        a, b = forward_backward(sparse, x, method), forward_backward(dense, x, method)
        np.testing.assert_allclose(a.smoothed, b.smoothed, atol=1e-12)
        np.testing.assert_allclose(a.log_likelihood, b.log_likelihood, rtol=1e-12)
    np.testing.assert_array_equal(al.viterbi(sparse, x), al.viterbi(dense, x))
    assert as_sets(al.viterbi(sparse, x, all_ties=True)) == as_sets(al.viterbi(dense, x, all_ties=True))


def test_many_states_need_wide_back_pointers():
    k = 300
    hmm = ring_chain(k)
    table = np.zeros((4, k))
    table[:, 299], table[2, 0], table[3, 1] = -1.0, 5.0, 9.0
    table[1, 299] = 7.0
    plain = HMM(hmm.startprob, hmm.transmat)
    assert al.viterbi(plain, table).tolist()[1:] == [299, 0, 1]


def peer_of(hmm):
    """hmmlearn's model with the same parameters."""
    if isinstance(hmm.emission, DiscreteEmission):
        peer = CategoricalHMM(hmm.n_states, implementation="scaling", init_params="", params="ste")
        peer.emissionprob_, peer.n_features = hmm.emission.emissionprob, hmm.emission.n_symbols
    else:
        peer = GaussianHMM(
            hmm.n_states, "diag", implementation="scaling", init_params="", min_covar=0, covars_prior=0, covars_weight=0
        )
        peer.means_ = hmm.emission.means.reshape(hmm.n_states, -1)
        peer.n_features = peer.means_.shape[1]
        peer.covars_ = hmm.emission.variances.reshape(hmm.n_states, -1)
    peer.startprob_, peer.transmat_ = hmm.startprob, hmm.transmat
    return peer


def test_hmmlearn_agrees_on_posteriors_and_paths():
    rng = np.random.default_rng(30)
    planar = HMM(
        RING.startprob, RING.transmat, GaussianEmission(rng.normal(size=(5, 2)) * 2, rng.uniform(0.5, 2, (5, 2)))
    )
    for hmm in (RING, planar, CASINO):
        x, _ = hmm.sample(2000, 0)
        peer, X = peer_of(hmm), x.reshape(len(x), -1)
        log_likelihood, posteriors = peer.score_samples(X)
        got, smoothed = al_recursions.smooth(hmm, x)
        np.testing.assert_allclose(got, log_likelihood, rtol=1e-9)
        np.testing.assert_allclose(smoothed, posteriors, atol=1e-9)
        value, path = peer.decode(X)
        found = al_hmm.risks(hmm, x, np.array([path, al.viterbi(hmm, x)]))
        np.testing.assert_allclose(got - found.log_rinf, value, rtol=1e-9)


@pytest.mark.parametrize("kind", ["casino", "planar"])
def test_baum_welch_follows_hmmlearn_and_never_falls(kind):
    rng = np.random.default_rng(31)
    if kind == "casino":
        x = make_hmm("casino", 4, 200, random_state=0).data
        start = HMM([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], DiscreteEmission(rng.dirichlet(np.full(6, 5.0), size=2)))
    else:
        truth = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], GaussianEmission([[0.0, 0.0], [2.0, 1.0]], [1.0, 0.5]))
        x = [truth.sample(n, rng)[0] for n in (150, 80, 200)]
        start = HMM([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], GaussianEmission([[-0.5, 0.0], [1.0, 0.5]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        got = baum_welch(start, x, max_iter=15, tol=0.0)
    peer = peer_of(start)
    peer.n_iter = peer.monitor_.n_iter = 15
    peer.monitor_.tol = -np.inf
    peer.fit(np.concatenate([np.reshape(s, (len(s), -1)) for s in x]), [len(s) for s in x])
    assert (np.diff(got.log_likelihoods) >= -1e-9).all() and len(got.log_likelihoods) == 16
    np.testing.assert_allclose(got.hmm.transmat, peer.transmat_, atol=1e-6)
    np.testing.assert_allclose(got.hmm.startprob, peer.startprob_, atol=1e-6)
    np.testing.assert_allclose(got.log_likelihoods[:15], list(peer.monitor_.history), rtol=1e-8)


def test_baum_welch_in_logarithms_gives_the_same_step():
    """A chain that falls back to logarithms (well separated states) moves like one that does not."""
    truth = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], GaussianEmission([0.0, 60.0]))
    x, states = truth.sample(400, 0)
    with pytest.warns(ConvergenceWarning):
        got = baum_welch(HMM([0.5, 0.5], [[0.5, 0.5]] * 2, truth.emission), x, max_iter=1, tol=0.0)
    counts = np.zeros((2, 2))
    np.add.at(counts, (states[:-1], states[1:]), 1)
    np.testing.assert_allclose(got.hmm.transmat, counts / counts.sum(axis=1, keepdims=True), rtol=1e-9)


def test_mixture_and_labels_in_estimation():
    truth = HMM([0.6, 0.4], [[0.95, 0.05], [0.1, 0.9]], DiscreteEmission([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]))
    x, y = truth.sample(5000, 3)
    counted = fit_labelled(x, y, n_states=2, n_symbols=3)
    counts = np.zeros((2, 2))
    np.add.at(counts, (y[:-1], y[1:]), 1)
    np.testing.assert_allclose(counted.transmat, counts / counts.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(
        counted.emission.emissionprob[0], np.bincount(x[y == 0], minlength=3) / (y == 0).sum(), rtol=1e-12
    )
    known = np.where(np.arange(5000) < 500, y, -1)
    start = fit_labelled(x, known, n_states=2, n_symbols=3, pseudocount=1.0)
    full = baum_welch(start, x, labels=known, tol=1e-7)
    assert full.converged and (np.diff(full.log_likelihoods) >= -1e-9).all()
    # three standard errors of a proportion at 500 expected moves, and more for hidden states
    np.testing.assert_allclose(full.hmm.transmat, truth.transmat, atol=0.05)
    everything = baum_welch(counted, x, labels=y)
    np.testing.assert_allclose(everything.hmm.transmat, counted.transmat, rtol=1e-9)
    gaussian = fit_labelled([0.0, 1.0, 5.0, 7.0], [0, 0, 1, 1], n_states=2, pseudocount=0.5)
    assert gaussian.emission.means.tolist() == [0.5, 6.0] and gaussian.emission.variances.tolist() == [0.25, 1.0]


def test_sampled_data_have_the_models_law():
    x, states = CASINO.sample(50_000, 0)
    # share of sixes in each state; standard error below 0.004
    assert abs((x[states == 1] == 5).mean() - 0.5) < 0.015 and abs((x[states == 0] == 5).mean() - 1 / 6) < 0.015
    again = CASINO.sample(50_000, 0)
    np.testing.assert_array_equal(again[0], x)


@pytest.mark.parametrize("spread", [0.0, 400.0])
def test_impossible_sequences_name_the_time(spread):
    turn = HMM([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]])
    table = np.array([[0.0, -np.inf], [-np.inf, -spread], [-np.inf, 0.0], [0.0, 0.0]])
    for call in (forward_backward, al_recursions.smooth, al.filtering, al.viterbi, al.posterior_viterbi):
        with pytest.raises(ValueError, match=r"impossible under the model.*t = 2"):
            call(turn, table)


def test_baum_welch_says_when_it_has_not_converged():
    x, _ = CASINO.sample(200, 0)
    start = HMM([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], CASINO.emission)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        assert not baum_welch(start, x, max_iter=2, tol=0).converged
