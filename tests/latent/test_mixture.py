"""FSSEM and what it is made of: every claim of the chapter, against references of other kinds."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.features import FSSEM
from learnable.latent import EMClusterer
from learnable.latent.mixture import _em, em, em_k
from learnable.latent.mixture.gaussian import m_step


def hard(rng, n, k):
    return np.eye(k)[np.r_[np.arange(k), rng.integers(k, size=n - k)]]


def moments_by_hand(X, Z):
    weights = Z.mean(axis=0)
    means = [np.average(X, axis=0, weights=z) for z in Z.T]
    covariances = [np.cov(X.T, aweights=z, ddof=0).reshape(X.shape[1], -1) for z in Z.T]
    return weights, np.array(means), np.array(covariances)


@pytest.mark.parametrize(("d", "k", "n"), [(1, 2, 37), (2, 4, 200), (3, 6, 700), (7, 3, 1100)])
def test_em_follows_scikit_learn_step_by_step(d, k, n):
    """Same start, same rule to stop: the same number of steps and the same likelihood."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d)) + 3 * rng.integers(2, size=(n, 1))
    X /= X.std(axis=0)
    Z = hard(rng, n, k)
    w, m, c = moments_by_hand(X, Z)
    ours = em(X, k, memberships=Z, tol=1e-3)
    start = np.linalg.inv(c + 1e-6 * np.eye(d))
    peer = GaussianMixture(
        k, tol=1e-3 / n, max_iter=501, weights_init=w, means_init=m, precisions_init=start, random_state=0
    ).fit(X)
    assert ours.converged and abs(ours.n_iter + 1 - peer.n_iter_) <= 1
    assert ours.log_likelihood == pytest.approx(peer.score(X) * n, abs=0.05)
    np.testing.assert_allclose(ours.memberships, peer.predict_proba(X), atol=0.02)


def test_thin_clusters_are_deleted_and_the_weights_sum_to_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    X[30:] += 20
    Z = np.zeros((60, 3))
    Z[0, 2] = 1.0  # a cluster of one point has no variance at all
    Z[1:30, 0] = Z[30:, 1] = 1.0
    fit = em(X, 3, memberships=Z)
    assert fit.n_components == 2
    assert fit.weights.sum() == pytest.approx(1) and np.isfinite(fit.log_likelihood)


@pytest.mark.parametrize("init", ["kmeans", "random", "refined"])
def test_every_start_finds_four_far_clusters(init):
    rng = np.random.default_rng(3)
    centres = np.array([[0, 0], [20, 0], [0, 20], [20, 20.0]])
    X = centres[rng.integers(4, size=400)] + rng.normal(size=(400, 2))
    fit = em(X, 4, init=init, random_state=0)
    best = max(em(X, 4, init=init, n_restarts=1, random_state=s).log_likelihood for s in range(3))
    assert fit.log_likelihood >= best - 1e-2
    found = fit.means[np.lexsort(fit.means.round().T)]
    np.testing.assert_allclose(found, centres[np.lexsort(centres.T)], atol=0.5)


@parametrize_with_checks([FSSEM(), FSSEM(3, clusterer="kmeans", criterion="ml"), EMClusterer(2, n_restarts=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_weights_are_shared_out_in_the_step_that_deletes_a_cluster():
    """One step: the third cluster shrinks to four equal rows and goes; the likelihood is that of the two that stay."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(20, 1)), 20 + rng.normal(size=(20, 1)), np.full((4, 1), 50.0)]
    start = np.repeat(np.eye(3), [20, 20, 4], axis=0)
    start[39] = [0, 1 - 1e-4, 1e-4]  # too little to stay, enough not to be thin at the start
    with pytest.warns(ConvergenceWarning):
        fit = em(X, 3, memberships=start, max_iter=1, reg_covar=1e-6)
    assert fit.n_components == 2 and fit.weights.sum() == pytest.approx(1, abs=1e-12)
    want = logsumexp(np.log(fit.weights) + norm.logpdf(X, fit.means[:, 0], np.sqrt(fit.covariances[:, 0, 0])), axis=1)
    assert fit.log_likelihood == pytest.approx(want.sum(), rel=1e-9)


@pytest.mark.parametrize("reg_covar", [1e-6, 0.3])
def test_merging_does_not_add_to_the_variances_twice(reg_covar):
    """All clusters merged have the moments of the data, which is where EM with one cluster stands still."""
    X = np.random.default_rng(0).normal(size=(200, 2))
    search = em_k(X, 2, reg_covar=reg_covar, random_state=0)
    assert search.best.n_components == 1
    np.testing.assert_allclose(search.best.log_likelihoods, search.best.log_likelihood, rtol=0, atol=1e-9)
    assert search.best.n_iter == 1


def test_a_cluster_without_variance_has_infinite_likelihood():
    assert m_step([[0.0], [0.0], [1.0], [3.0]], np.repeat(np.eye(2), 2, axis=0)).log_likelihood == np.inf


def test_restarts_on_many_observations_see_a_sample_and_miss_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    centres = np.array([[0, 0], [3, 0], [0, 3], [9, 9], [12, 9], [30, 0]])
    X = centres[rng.integers(0, 6, 12_000)] + rng.normal(size=(12_000, 2))
    work, plain = [], _em.run_em

    def counted(XT, mixture, rules):
        run = plain(XT, mixture, rules)
        work.append(XT.shape[1] * len(run.log_likelihoods))
        return run

    monkeypatch.setattr(_em, "run_em", counted)
    single = [em(X, 6, n_restarts=1, random_state=seed).log_likelihood for seed in range(10)]
    alone = sum(work)
    work.clear()
    found = em(X, 6, n_restarts=10, random_state=0)
    assert max(single) - min(single) > 400, "there is something to miss"
    assert found.converged and found.log_likelihood > max(single) - 0.1
    assert sum(work) < alone / 2
