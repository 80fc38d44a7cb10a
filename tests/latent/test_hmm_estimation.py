"""Baum-Welch on many sequences, with weights, and with densities that span hundreds of orders of magnitude."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from learnable.latent.hmm import HMM, DiscreteEmission, GaussianEmission, baum_welch, forward_backward
from learnable.latent.hmm import _batch as batches
from learnable.latent.hmm import _kernels as kernels

DISCRETE = HMM([0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]], DiscreteEmission([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]))
PLANE = HMM(
    [0.2, 0.5, 0.3],
    [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]],
    GaussianEmission([[0.0, 0.0], [2.0, 1.0], [-1.0, 3.0]], [1.0, 0.5, 2.0]),
)
LINE = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], GaussianEmission([-1.0, 1.5], [1.0, 2.0]))
LENGTHS = (1, 40, 7, 120, 2)


class Plain:
    """An emission with the public methods only, so that nothing but these is used."""

    def __init__(self, inner):
        self.inner, self.n_states, self.ndim, self.check = inner, inner.n_states, inner.ndim, inner.check

    def log_likelihoods(self, x):
        return self.inner.log_likelihoods(x)

    def reestimate(self, sequences, weights):
        return Plain(self.inner.reestimate(sequences, weights))


def parameters(hmm):
    emission = getattr(hmm.emission, "inner", hmm.emission)
    rest = (emission.emissionprob,) if isinstance(emission, DiscreteEmission) else (emission.means, emission.variances)
    return [hmm.startprob, hmm.transmat, *rest]


def run(hmm, sequences, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return baum_welch(hmm, sequences, **{"max_iter": 6, "tol": 0.0, **options})


def assert_same(a, b, rtol=1e-9):
    np.testing.assert_allclose(a.log_likelihoods, b.log_likelihoods, rtol=rtol)
    for ours, other in zip(parameters(a.hmm), parameters(b.hmm), strict=True):
        np.testing.assert_allclose(ours, other, rtol=rtol, atol=1e-12)


def draws(hmm, seed=0):
    rng = np.random.default_rng(seed)
    return [hmm.sample(n, rng)[0] for n in LENGTHS]


def some_labels(hmm):
    """The states of a fifth of the observations, at random."""
    rng = np.random.default_rng(2)
    return [np.where(rng.random(n) < 0.2, rng.integers(0, hmm.n_states, n), -1) for n in LENGTHS]


def one_iteration(hmm, sequences, weights):
    """Expected counts by a loop over sequences and times, from the posteriors alone."""
    k = hmm.n_states
    first, moves, states, total = np.zeros(k), np.zeros((k, k)), [], 0.0
    for x, weight in zip(sequences, weights, strict=True):
        post = forward_backward(hmm, x, "log")
        log_f = hmm.emission.log_likelihoods(x)
        total += weight * post.log_likelihood
        first += weight * post.smoothed[0]
        for t in range(len(x) - 1):
            joint = post.log_alpha[t][:, None] + hmm.log_transmat + log_f[t + 1] + post.log_beta[t + 1]
            moves += weight * np.exp(joint - post.log_likelihood)
        states.append(weight * post.smoothed)
    return total, HMM(
        first / first.sum(), moves / moves.sum(axis=1, keepdims=True), hmm.emission.reestimate(sequences, states)
    )


@pytest.mark.parametrize("start", [DISCRETE, PLANE, LINE])
def test_an_iteration_is_the_loop_over_sequences_and_times(start):
    sequences, weights = draws(start, 1), np.array([0.5, 2.0, 0.0, 1.0, 3.5])
    got = run(start, sequences, max_iter=3, sample_weight=weights)
    model, trace = start, []
    for _ in range(3):
        value, model = one_iteration(model, sequences, weights)
        trace.append(value)
    np.testing.assert_allclose(got.log_likelihoods[:3], trace, rtol=1e-10)
    for ours, other in zip(parameters(got.hmm), parameters(model), strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("start", [DISCRETE, PLANE, LINE])
def test_weights_count_sequences_several_times(start):
    sequences, times = draws(start), [3, 1, 0, 2, 1]
    repeated = [x for x, often in zip(sequences, times, strict=True) for _ in range(often)]
    assert_same(run(start, sequences, sample_weight=times), run(start, repeated))
    assert_same(run(start, sequences, sample_weight=np.full(5, 1.0)), run(start, sequences))


@pytest.mark.parametrize("start", [DISCRETE, PLANE, LINE])
def test_lengths_cut_one_array(start):
    sequences, labels = draws(start), some_labels(start)
    stacked = np.concatenate(sequences)
    assert_same(run(start, stacked, lengths=LENGTHS), run(start, sequences), rtol=1e-13)
    cut = run(start, stacked, lengths=np.array(LENGTHS), labels=np.concatenate(labels), sample_weight=[1, 2, 3, 4, 5])
    assert_same(cut, run(start, sequences, labels=labels, sample_weight=[1, 2, 3, 4, 5]), rtol=1e-13)


@pytest.mark.parametrize("start", [DISCRETE, PLANE, LINE])
def test_emissions_of_ones_own_give_the_same(start):
    own = HMM(start.startprob, start.transmat, Plain(start.emission))
    sequences = draws(start)
    assert_same(run(own, sequences), run(start, sequences))


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("start", [DISCRETE, PLANE, LINE])
def test_strict_recursions_give_the_same(start, labelled, monkeypatch):
    """Whether a sequence is run leniently, strictly or in logarithms does not show in the estimates."""
    sequences, options = draws(start), {"labels": some_labels(start)} if labelled else {}
    lenient = run(start, sequences, **options)

    def give_up(pi, net, f, filtered, starts, sums, narrow):
        """The lenient filter where it breaks off: it leaves behind whatever the memory held before."""
        sums.fill(np.nan)
        filtered.fill(np.nan)

    monkeypatch.setattr(kernels, "forward_each", give_up)
    assert_same(run(start, sequences, **options), lenient)
    monkeypatch.setattr(batches, "_scaled_forward", lambda hmm, f: None)
    assert_same(run(start, sequences, **options), lenient)


def test_densities_over_hundreds_of_orders_of_magnitude():
    """Far means make densities that float64 cannot hold relative to the largest; the loop in logarithms agrees."""
    start = HMM(np.full(4, 0.25), np.full((4, 4), 0.25), GaussianEmission([0.0, 50.0, 100.0, 150.0], 2.0))
    x, _ = HMM(start.startprob, 0.7 * np.eye(4) + 0.075, GaussianEmission([0.0, 50.0, 100.0, 150.0])).sample(300, 3)
    got = run(start, x, max_iter=2)
    model = start
    for _ in range(2):
        _, model = one_iteration(model, [x], [1.0])
    for ours, other in zip(parameters(got.hmm), parameters(model), strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-9, atol=1e-90)


def test_a_path_that_is_nearly_lost_and_wins_in_the_end_is_kept():
    """Two chains without a bridge: the first observation speaks against the right one by 10^-400."""
    start = HMM([0.5, 0.5], np.eye(2), GaussianEmission([0.0, 43.0]))
    x = np.concatenate([[43.0], np.full(5, 0.0)])
    got = run(start, x, max_iter=1)
    post = forward_backward(start, x, "log")
    assert post.smoothed[0, 0] > 0.999
    np.testing.assert_allclose(got.log_likelihoods[0], post.log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(got.hmm.startprob, post.smoothed[0], atol=1e-12)


def test_small_variances_far_from_the_centre():
    """The variance of a state does not suffer from its distance to the mean of all data."""
    rng = np.random.default_rng(4)
    spots = np.array([-1.0, 1.0]) + 1e5
    x = np.concatenate([spot + 1e-4 * rng.normal(size=200) for spot in spots])
    start = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], GaussianEmission(spots, 0.01))
    got = run(start, x, max_iter=1)
    np.testing.assert_allclose(got.hmm.emission.variances, [x[:200].var(), x[200:].var()], rtol=1e-6)
    constant = run(start, np.repeat(spots, 200), max_iter=1)
    np.testing.assert_allclose(constant.hmm.emission.variances, 1e-9, rtol=1e-6)  # the floor: 1e-9 of the data's


def plain_loop(startprob, transmat, log_f):
    """Log-likelihood, smoothing probabilities and expected transitions, in logarithms, term by term."""
    n, k = log_f.shape
    with np.errstate(divide="ignore"):
        log_pi, log_P = np.log(startprob), np.log(transmat)
    alpha, beta, moves = np.full((n, k), -np.inf), np.zeros((n, k)), np.zeros((k, k))
    alpha[0] = log_pi + log_f[0]
    for t in range(1, n):
        for j in range(k):
            alpha[t, j] = np.logaddexp.reduce(alpha[t - 1] + log_P[:, j]) + log_f[t, j]
    for t in range(n - 2, -1, -1):
        for i in range(k):
            beta[t, i] = np.logaddexp.reduce(log_P[i] + log_f[t + 1] + beta[t + 1])
    whole = np.logaddexp.reduce(alpha[-1])
    for t in range(n - 1):
        moves += np.exp(alpha[t][:, None] + log_P + log_f[t + 1] + beta[t + 1] - whole)
    return whole, np.exp(alpha + beta - whole), moves


def assert_is_the_plain_loop(startprob, transmat, tables, shares=None):
    """Run tables of log densities through the batch and the loop; return the sequences that were run by themselves."""
    shares = np.ones(len(tables)) if shares is None else np.asarray(shares, dtype=float)
    starts = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
    f, shift = np.concatenate(tables), np.empty(starts[-1])
    _, narrow = kernels.relative_densities(f, shift)
    batch = batches.Batch(starts, len(startprob))
    values = batch.filter(startprob, transmat, f, shift, narrow, lambda s: tables[s].copy())
    moves = batch.smooth(shares)
    plain = [plain_loop(startprob, transmat, table) for table in tables]
    np.testing.assert_allclose(values, [value for value, _, _ in plain], rtol=1e-11)
    expected = np.concatenate([w * smoothed for w, (_, smoothed, _) in zip(shares, plain, strict=True)])
    np.testing.assert_allclose(f, expected, rtol=1e-8, atol=1e-60)
    np.testing.assert_allclose(
        moves, sum(w * m for w, (_, _, m) in zip(shares, plain, strict=True)), rtol=1e-8, atol=1e-60
    )
    return sorted(batch.strict)


def left_right(k, stay=0.7):
    P = stay * np.eye(k) + (1 - stay) * np.eye(k, k=1)
    return np.eye(k)[0], P / P.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [2, 4, 9, 30])
def test_left_right_chains_run_with_probabilities_and_are_the_plain_loop(k):
    """States that the chain cannot be in are no reason for logarithms; with 9 states and more it runs over lists."""
    rng = np.random.default_rng(k)
    tables = [rng.normal(size=(n, k)) for n in (1, 2, 12, 25)]
    assert assert_is_the_plain_loop(*left_right(k), tables, shares=[1, 0.5, 0, 2.5]) == []


def test_a_long_left_right_chain_runs_with_probabilities():
    """The mass of the whole is far below 1e-200 of the largest densities, no single prediction is."""
    cycle = 0.5 * np.eye(4) + 0.5 * np.eye(4, k=1)
    cycle[3] = [0.5, 0, 0, 0.5]
    table = np.random.default_rng(0).normal(size=(900, 4)) * 3.0
    assert plain_loop(np.eye(4)[0], cycle, table)[0] - table.max(axis=1).sum() < -1000
    assert assert_is_the_plain_loop(np.eye(4)[0], cycle, [table]) == []


def test_states_that_a_left_right_chain_has_left_for_good():
    """The first state falls below 1e-200 of the whole, and is not missed unless the whole falls as far."""
    table = np.zeros((45, 3))
    table[10:, 0] = -60.0
    assert assert_is_the_plain_loop(*left_right(3), [table]) == []
    low = table.copy()
    low[20:, 1:] = -60.0
    low[20:, 0] = 0.0
    assert assert_is_the_plain_loop(*left_right(3), [low, table]) == [0]


FORK = np.array([[0.0, 0.5, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("against, by", [(-924.0, 0.5), (-250.0, 1e-290)])
def test_a_branch_that_underflows_and_wins_in_the_end_is_kept(against, by):
    """Out of the fork one branch is lost below 1e-400, by its density or by its transition; later it is the likely one.

    Every prediction that is not zero stays large, so that nothing but the size of a density or of a parameter says
    that the zeros are not those of the chain.
    """
    P = FORK.copy()
    P[0] = [0.0, 1.0 - by, by]
    table = np.zeros((25, 3))
    table[1, 2] = against
    table[2:, 1] = -100.0
    assert plain_loop(np.eye(3)[0], P, table)[1][-1, 2] > 0.999
    assert assert_is_the_plain_loop(np.eye(3)[0], P, [table]) == [0]
    few = table[:4]  # with three observations the other branch is the likely one, and nothing that counts is lost
    assert assert_is_the_plain_loop(np.eye(3)[0], P, [few]) == []


def test_small_entries_of_discrete_emissions_are_no_zeros():
    """The same for symbols, whose densities are looked up and not computed from logarithms."""
    table = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 1e-40], [0.25, 1e-200, 0.75]])
    start = HMM(np.eye(3)[0], FORK, DiscreteEmission(table / table.sum(axis=1, keepdims=True)))
    x = np.array([0, 1] + 9 * [2])
    value, smoothed, _ = plain_loop(np.eye(3)[0], FORK + 1e-320, np.log(start.emission.emissionprob.T[x] + 1e-320))
    assert smoothed[-1, 2] > 0.999
    got = run(start, x, max_iter=1)
    np.testing.assert_allclose(got.log_likelihoods[0], value, rtol=1e-10)
    np.testing.assert_allclose(got.hmm.transmat[0], [0, 0, 1], atol=1e-10)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lengths": [3, 3]}, "lengths must sum to the 5 observations of sequences, got 6"),
        ({"lengths": [5, 0]}, "lengths must be positive integers"),
        ({"lengths": [2.5, 2.5]}, "lengths must be positive integers"),
        ({"lengths": []}, "lengths must be positive integers"),
        ({"lengths": [2, 3], "labels": [0, 1]}, "lengths must sum to the 2 observations of labels"),
        ({"lengths": [2, 3], "sample_weight": [1.0]}, "sample_weight must have 2 entries"),
        ({"sample_weight": [-1.0]}, "sample_weight must be non-negative"),
        ({"sample_weight": [0.0]}, "not all zero"),
        ({"sample_weight": [np.nan]}, "sample_weight must be finite"),
    ],
)
def test_bad_lengths_and_weights(options, message):
    with pytest.raises(ValueError, match=message):
        baum_welch(DISCRETE, [0, 1, 2, 0, 1], **options)


def test_an_impossible_sequence_is_named():
    never = HMM([0.5, 0.5], [[0.5, 0.5]] * 2, DiscreteEmission([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]))
    with pytest.raises(ValueError, match="sequence 2: observation 1 has density zero in every state"):
        baum_welch(never, [[0, 1], [0], [1, 2, 0]], sample_weight=[1, 0, 1])
    stuck = HMM([1.0, 0.0], np.eye(2), DiscreteEmission([[1.0, 0.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match=r"sequence 1: the observations are impossible under the model.*t = 1"):
        baum_welch(stuck, [[0, 0], [0, 1]])
