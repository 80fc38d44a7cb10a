"""Hidden Markov models: any memory layout comes in, bad input does not, and each definition is pinned."""

import numpy as np
import pytest

from learnable import latent as al_latent
from learnable.chapters.hmm_alignment import theory
from learnable.datasets.sequences import hmm_parameters
from learnable.latent import hmm as al
from learnable.latent.hmm import (
    HMM,
    DiscreteEmission,
    GaussianEmission,
    baum_welch,
    filtering,
    forward_backward,
    smooth,
)

CASINO = HMM.from_parameters(**hmm_parameters("casino"))
HALF = [[0.5, 0.5], [0.5, 0.5]]


def random_model(seed, n=30, k=3):
    rng = np.random.default_rng(seed)
    return HMM(rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), k)), rng.normal(size=(n, k))


def layouts(table):
    """The same numbers as C, Fortran, non-contiguous, read-only and single-precision arrays."""
    wide = np.zeros((2 * len(table), table.shape[1] + 3))
    wide[::2, 1:-2] = table
    frozen = table.copy()
    frozen.setflags(write=False)
    return [np.asfortranarray(table), wide[::2, 1:-2], table[::-1][::-1], frozen]


@pytest.mark.parametrize("k", [2, 3, 9])
def test_every_recursion_takes_every_memory_layout(k):
    hmm, table = random_model(k, k=k)
    calls = [
        lambda x: smooth(hmm, x)[1],
        lambda x: smooth(hmm, x)[0],
        lambda x: forward_backward(hmm, x).smoothed,
        lambda x: forward_backward(hmm, x, "log").smoothed,
        lambda x: forward_backward(hmm, x, "derin").smoothed,
        lambda x: filtering(hmm, x).filtered,
        lambda x: al_latent.viterbi(hmm, x),
        lambda x: np.array(list(al_latent.viterbi(hmm, x, True))),
        lambda x: al.restricted_pmap(hmm, x),
        lambda x: al_latent.kblock(hmm, x, 3),
        lambda x: theory.rabiner_blocks(hmm, x, 2),
        lambda x: al_latent.sample_paths(hmm, x, 4, random_state=0),
    ]
    for call in calls:
        expected = call(table)
        for other in layouts(table):
            before = other.copy()
            np.testing.assert_array_equal(call(other), expected)
            np.testing.assert_array_equal(other, before)
        single = table.astype(np.float32)
        np.testing.assert_array_equal(call(single), call(single.astype(np.float64)))


def test_a_data_frame_of_log_densities_is_smoothed():
    pandas = pytest.importorskip("pandas")
    hmm, table = random_model(1)
    frame = pandas.DataFrame({f"state {j}": table[:, j] for j in range(3)})
    np.testing.assert_array_equal(smooth(hmm, frame)[1], smooth(hmm, table)[1])


def test_an_emission_of_ones_own_may_return_any_layout():
    class Table:
        n_states = 2

        def check(self, x):
            return np.asarray(x)

        def log_likelihoods(self, x):
            table = np.asfortranarray(np.column_stack([x, -np.asarray(x)]))
            table.setflags(write=False)
            return table

    x = np.linspace(-1.0, 1.0, 20)
    ours = smooth(HMM([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], Table()), x)
    plain = smooth(HMM([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]]), np.column_stack([x, -x]))
    np.testing.assert_array_equal(ours[1], plain[1])


def test_all_ties_of_an_impossible_sequence_are_refused_like_one_path():
    hmm = HMM([0.5, 0.5], HALF)
    for call in (
        al_latent.viterbi,
        lambda *a, **o: al.combined(*a, 0, 1, **o),
        lambda *a, **o: al_latent.kblock(*a, 2, **o),
    ):
        with pytest.raises(ValueError, match="observation 1 has density zero"):
            call(hmm, [[0.0, 0.0], [-np.inf, -np.inf]], all_ties=True)
    turn = HMM([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match=r"impossible under the model.*t = 1"):
        al_latent.viterbi(turn, [[0.0, -np.inf], [0.0, -np.inf]], all_ties=True)
    assert len(list(al_latent.viterbi(hmm, np.zeros((3, 2)), all_ties=True))) == 8


@pytest.mark.parametrize("emission", [DiscreteEmission(HALF), GaussianEmission([0.0, 1.0])])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([np.full((2, 2), np.nan)], "finite and non-negative"),
        ([np.full((2, 2), -1.0)], "finite and non-negative"),
        ([np.full((2, 2), np.inf)], "finite and non-negative"),
        ([np.ones((1, 2))], r"weights\[0\] must have shape \(2, 2\)"),
        ([np.ones((2, 3))], r"weights\[0\] must have shape \(2, 2\)"),
        ([np.ones(2)], r"weights\[0\] must have shape \(2, 2\)"),
        ([], "one table for each"),
    ],
)
def test_weights_of_states_are_checked_before_they_are_added(emission, weights, message):
    with pytest.raises(ValueError, match=message):
        emission.reestimate([[0, 1]], weights)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: smooth(HMM([0.5, 0.5], HALF), np.zeros((3, 2), complex)), "table of log densities"),
        (lambda: forward_backward(HMM([0.5, 0.5], HALF), [["a", "b"]]), "table of log densities"),
        (lambda: forward_backward(CASINO, np.array([0, 1j])), "x must be an array of real numbers"),
        (lambda: forward_backward(CASINO, [1e300]), "symbols 0..5"),
        (lambda: GaussianEmission([0.0, 1.0], 5e-324), "variances must be positive"),
        (lambda: GaussianEmission([0.0, 1e200]), "means must have a largest"),
        (lambda: smooth(HMM([0.5, 0.5], HALF, GaussianEmission([0.0, 1.0])), [1e200]), "x must have a largest"),
        (lambda: DiscreteEmission(HALF).reestimate([[0]], [[[1.0, 1.0]]], pseudocount=-1.0), "pseudocount"),
    ],
)
def test_what_is_no_observation_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def all_paths(n, k):
    return np.array(np.meshgrid(*[range(k)] * n, indexing="ij")).reshape(n, -1).T


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_k_block_alignment_minimises_the_risk_that_defines_it(k):
    """Block by block, over all paths: with ``combined(1, k)`` in place of ``combined(1, k - 1)`` this fails."""
    differs = 0
    for seed in range(40):
        hmm, table = random_model(seed, n=5, k=3)
        post = forward_backward(hmm, 1.5 * table)
        paths = all_paths(5, 3)
        found = al.risks(hmm, post, paths)
        risk = [theory.kblock_risk(hmm, post, path, k) for path in paths[:: 1 if seed < 2 else 40]]
        if seed < 2:  # the definition itself, then its closed form, which claim 10 compares with it
            assert theory.kblock_risk(hmm, post, al_latent.kblock(hmm, post, k), k) == pytest.approx(
                min(risk), rel=1e-12
            )
        best = ((k - 1) * found.log_rinf + found.log_r1).min()
        mine = al.risks(hmm, post, al_latent.kblock(hmm, post, k))
        assert (k - 1) * mine.log_rinf + mine.log_r1 == pytest.approx(best, rel=1e-12)
        differs += not np.array_equal(al_latent.kblock(hmm, post, k), al.combined(hmm, post, 1, k))
    assert differs > 0 or k > 2  # so the data tell the two definitions apart


def test_every_risk_of_a_path_by_its_own_formula():
    hmm, table = random_model(3, n=4)
    post = forward_backward(hmm, table)
    prior = hmm.prior(4)
    for path in all_paths(4, 3)[::7]:
        found = al.risks(hmm, post, path)
        steps = hmm.transmat[path[:-1], path[1:]]
        assert found.prior_log_r1 == pytest.approx(-np.log(prior[range(4), path]).sum(), rel=1e-12)
        assert found.prior_log_rinf == pytest.approx(-np.log(hmm.startprob[path[0]] * steps.prod()), rel=1e-12)
        assert found.log_r1 == pytest.approx(-np.log(post.smoothed[range(4), path]).sum(), rel=1e-12)
        assert found.r1 == pytest.approx(4 - post.smoothed[range(4), path].sum(), rel=1e-12)
        assert min(found.prior_log_r1, found.prior_log_rinf, found.log_r1, found.log_rinf) > 0


@pytest.mark.parametrize("unit", [2.0**-26, 2.0**26])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_gaussian_models_do_not_depend_on_unit_and_origin(unit, shift):
    """x → unit (x + shift) moves the means and scales the variances; posteriors and paths stay."""
    hmm = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], GaussianEmission([-1.0, 1.0], [1.0, 0.5]))
    x, _ = hmm.sample(120, 0)
    moved = HMM(
        hmm.startprob,
        hmm.transmat,
        GaussianEmission(unit * (np.array([-1.0, 1.0]) + shift), unit**2 * np.array([1.0, 0.5])),
    )
    np.testing.assert_allclose(smooth(moved, unit * (x + shift))[1], smooth(hmm, x)[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(al_latent.viterbi(moved, unit * (x + shift)), al_latent.viterbi(hmm, x))
    plain, other = (baum_welch(m, s, max_iter=300) for m, s in ((hmm, x), (moved, unit * (x + shift))))
    np.testing.assert_allclose(other.hmm.emission.means / unit - shift, plain.hmm.emission.means, atol=1e-6)
    np.testing.assert_allclose(other.hmm.emission.variances / unit**2, plain.hmm.emission.variances, rtol=1e-6)
