"""Tensor decompositions against enumeration, population formulas, scikit-learn and the theory's own bounds."""

import itertools
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, special
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable import latent as td
from learnable.datasets.matrices import make_mixed_sources
from learnable.datasets.topics import make_single_topic, make_topics
from learnable.latent import tensors as td_tensors
from learnable.latent.tensors import moments as moments_module
from learnable.latent.tensors import text
from learnable.latent.tensors.moments import triple_mean
from learnable.latent.tensors.multiview import hmm_from_views
from learnable.latent.tensors.text import lda_em

PERMUTATIONS = list(itertools.permutations(range(3)))


def orthonormal(d, k, seed):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0][:, :k]


@given(st.integers(0, 10**6), st.integers(1, 5))
@settings(max_examples=20, deadline=None)
def test_symmetrize_is_a_projection(seed, d):
    T = np.random.default_rng(seed).normal(size=(d, d, d))
    S = td_tensors.symmetrize(T)
    for p in PERMUTATIONS:
        np.testing.assert_allclose(S, S.transpose(p), atol=1e-12)
    np.testing.assert_allclose(td_tensors.symmetrize(S), S, atol=1e-12)
    assert td_tensors.frobenius_norm(S) <= td_tensors.frobenius_norm(T) + 1e-12


def test_implicit_whitening_finds_the_dense_one():
    rng = np.random.default_rng(0)
    X = make_single_topic(3000, n_words=60, k=4, random_state=0).data
    moments = td_tensors.WordMoments(X)
    M2 = moments.multiply(np.eye(60))
    W, B = td_tensors.whiten_operator(moments.multiply, 60, 4, rng, tol=1e-12, max_iter=50)
    dense_W, _ = td_tensors.whiten((M2 + M2.T) / 2, 4)
    np.testing.assert_allclose(W.T @ M2 @ W, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(W @ W.T, dense_W @ dense_W.T, rtol=1e-5, atol=1e-5 * np.abs(W @ W.T).max())
    np.testing.assert_allclose(B.T @ W, np.eye(4), atol=1e-8)


def test_memory_stays_far_below_a_matrix_of_all_word_pairs():
    made = make_topics(1000, n_words=6000, k=3, length=20, random_state=0)
    td.LDATensor(3, random_state=0).fit(made.data)
    tracemalloc.start()
    td.LDATensor(3, random_state=0).fit(made.data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000 * 6000 * 8 / 20


def test_third_moment_of_a_chunked_sample(monkeypatch):
    Y = np.random.default_rng(0).normal(size=(50, 3))
    monkeypatch.setattr(moments_module, "CHUNK", 7)
    np.testing.assert_allclose(triple_mean(Y), np.einsum("na,nb,nc->abc", Y, Y, Y) / 50, atol=1e-13)


def test_proposition_3_4_views_of_a_hidden_markov_chain():
    rng = np.random.default_rng(0)
    k, d = 3, 4
    T, O, pi = rng.dirichlet(np.ones(k), k).T, rng.dirichlet(np.ones(d), k).T, rng.dirichlet(np.ones(k))
    joint, w = np.zeros((d, d, d, k)), T @ pi
    for a, b, c in np.ndindex(k, k, k):
        mass = pi[a] * T[b, a] * T[c, b]
        joint[..., b] += mass * np.multiply.outer(np.outer(O[:, a], O[:, b]), O[:, c])
    means = [O @ np.diag(pi) @ T.T @ np.diag(1 / w), O, O @ T]
    for h in range(k):
        product = w[h] * np.multiply.outer(np.outer(means[0][:, h], means[1][:, h]), means[2][:, h])
        np.testing.assert_allclose(joint[..., h], product, atol=1e-14)
    got_T, got_pi = hmm_from_views(O, O @ T, w)
    np.testing.assert_allclose(got_T, T, atol=1e-10)
    np.testing.assert_allclose(got_pi, pi, atol=1e-10)


def test_single_topic_em_never_loses_likelihood_and_matches_plain_formulas():
    made = make_single_topic(200, n_words=12, k=2, length=8, random_state=1)
    rng = np.random.default_rng(0)
    w, mu = np.array([0.5, 0.5]), rng.dirichlet(np.ones(12), 2)
    found = td_tensors.single_topic_em(made.data, w, mu, max_iter=1, warn=False)
    X = made.data.toarray()
    density = w * np.array([[np.prod(m**x) for m in mu] for x in X])
    shares = density / density.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.weights, shares.mean(axis=0), atol=1e-8)
    expected = shares.T @ X
    np.testing.assert_allclose(found.topics, expected / expected.sum(axis=1, keepdims=True), atol=1e-8)
    assert found.log_likelihoods[0] == pytest.approx(np.log(density.sum(axis=1)).sum(), rel=1e-6)
    longer = td_tensors.single_topic_em(made.data, w, mu, max_iter=200)
    assert longer.converged and (np.diff(longer.log_likelihoods) >= -1e-8).all()
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        td_tensors.single_topic_em(made.data, w, mu, max_iter=2, tol=0)


def test_lda_inference_agrees_with_scikit_learn():
    made = make_topics(60, n_words=30, k=3, alpha0=1.5, random_state=0)
    peer = LatentDirichletAllocation(
        3, doc_topic_prior=0.5, max_doc_update_iter=500, mean_change_tol=1e-9, random_state=0, max_iter=1
    ).fit(made.data)
    # scikit-learn's topics are Dirichlet parameters; huge ones behave like the fixed topics that we infer with.
    peer.components_ = 1e8 * made.topics + 1e-6
    peer.exp_dirichlet_component_ = made.topics + 1e-14
    ours = lda_em(made.data, np.full(3, 0.5), made.topics, max_iter=1, inner_max_iter=500, update=False)
    np.testing.assert_allclose(ours.shares, peer.transform(made.data), atol=2e-3)


def test_variational_bound_never_falls():
    made = make_topics(100, n_words=30, k=3, random_state=0)
    topics = np.random.default_rng(0).dirichlet(np.ones(30), 3)
    found = lda_em(made.data, np.full(3, 1 / 3), topics, max_iter=30, inner_max_iter=5)
    assert (np.diff(found.bounds) >= -1e-7 * abs(found.bounds[0])).all()
    x = np.array([0.1, 0.7, 3.0, 20.0])
    np.testing.assert_allclose([text._digamma(v) for v in x], special.digamma(x), atol=1e-8)


def gmm_sample(n, seed, sd):
    rng = np.random.default_rng(seed)
    means = 2 * np.random.default_rng(100).normal(size=(4, 10))
    h = rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
    return means, means[h] + np.asarray(sd)[h][:, None] * rng.normal(size=(n, 10))


def test_em_from_the_tensor_estimate_reaches_the_best_of_many_starts():
    _, X = gmm_sample(4000, 0, [1, 1, 1, 1])
    model = td.SphericalGMMTensor(4, random_state=0).fit(X)
    start = {"weights_init": model.weights_, "means_init": model.components_}
    start["precisions_init"] = 1 / model.covariances_
    ours = GaussianMixture(4, covariance_type="spherical", **start).fit(X)
    many = GaussianMixture(4, covariance_type="spherical", n_init=10, random_state=0).fit(X)
    assert ours.lower_bound_ >= many.lower_bound_ - 1e-3
    assert np.mean(model.predict(X) == ours.predict(X)) > 0.97


def test_ica_lengths_with_isotropic_noise():
    made = make_mixed_sources(100_000, ["uniform", "sign"], random_state=0)
    wide = np.hstack([made.data, np.zeros((100_000, 2))])
    wide = wide @ orthonormal(4, 4, 0) + 0.5 * np.random.default_rng(0).normal(size=wide.shape)
    model = td.ICATensor(2, noise="isotropic", random_state=0).fit(wide)
    assert model.noise_variance_ == pytest.approx(0.25, abs=0.02)
    lengths = np.sort(np.linalg.norm(model.components_, axis=1))
    np.testing.assert_allclose(lengths, np.sort(np.linalg.norm(made.mixing, axis=0)), rtol=0.06)


def test_the_same_seed_gives_the_same_answer():
    made = make_topics(500, n_words=40, k=3, random_state=0)
    first, second = (td.LDATensor(3, random_state=7).fit(made.data) for _ in range(2))
    np.testing.assert_array_equal(first.components_, second.components_)
    dense = td.LDATensor(3, random_state=7).fit(made.data.toarray())
    np.testing.assert_array_equal(first.components_, dense.components_)


def test_short_documents_are_counted_and_left_out():
    made = make_single_topic(500, n_words=20, k=2, random_state=0)
    short = sparse.csr_matrix(np.vstack([np.zeros(20), np.eye(20)[0], 2 * np.eye(20)[1]]))
    model = td.SingleTopicTensor(2, random_state=0).fit(sparse.vstack([made.data, short]))
    assert model.n_short_ == 3 and np.isfinite(model.components_).all()
    with pytest.raises(ValueError, match="three words"):
        td.SingleTopicTensor(2).fit(short)


@pytest.mark.parametrize(
    "X, match",
    [
        ([[1, -1, 3]], "non-negative"),
        ([[1, 0.5, 3]], "whole numbers"),
        ([[1, np.nan, 3]], "finite"),
        (sparse.csr_matrix([[1, np.inf, 3]]), "NaN or infinite"),
        (np.zeros((0, 3)), "at least one document"),
        ([1, 2, 3], "dimension|shape"),
    ],
)
def test_bad_counts_are_refused(X, match):
    with pytest.raises(ValueError, match=match):
        td.SingleTopicTensor(1).fit(X)


def test_more_components_than_the_rank_is_an_error_not_nan():
    X = np.vstack([np.tile([4, 2, 0, 0], (30, 1)), np.tile([0, 0, 3, 3], (30, 1))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.raises(ValueError, match=r"positive eigenvalues|eigenvalues must be positive"):
            td.SingleTopicTensor(4, random_state=0).fit(X)
    with pytest.raises(ValueError, match="dimensions"):
        td.SingleTopicTensor(5).fit(X)
    with pytest.raises(ValueError, match="rank 1"):
        td.MultiViewTensor(2).fit(*[np.ones((10, 3))] * 3)
    with pytest.raises(ValueError, match="positive eigenvalues"):
        td_tensors.whiten(np.diag([1.0, 0.0]), 2)


def test_unfitted_and_wrong_vocabulary():
    made = make_single_topic(200, n_words=10, k=2, random_state=0)
    model = td.SingleTopicTensor(2, random_state=0).fit(made.data)
    with pytest.raises(ValueError, match="features"):
        model.predict(np.ones((2, 9)))


def test_misfit_is_reported():
    """Pure noise: the weights do not sum to one, and the components leave much of the tensor unexplained."""
    X = np.random.default_rng(0).poisson(1.0, size=(1000, 30))
    with pytest.warns(ConvergenceWarning, match="instead of 1"):
        noise = td.SingleTopicTensor(6, random_state=0).fit(X)
    made = make_single_topic(1000, n_words=30, k=6, random_state=0)
    assert noise.residual_ > 3 * td.SingleTopicTensor(6, random_state=0).fit(made.data).residual_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([td.SphericalGMMTensor(1), td.ICATensor(1)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
