"""EM beside a loop over scikit-learn's GaussianMixture, and the search for the number of clusters.

The same starts, the same stopping rule (total log-likelihood changes by less than 1e-4) and the same ridge, on the
tables that the wrapper meets: 500 rows, the columns of a subset. Log-likelihoods are compared before anything is timed.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from benchmarks.harness import Benchmark
from learnable.chapters.unsupervised_feature_selection.synthetic import make_noisy_clusters
from learnable.chapters.unsupervised_feature_selection.theory import ml_criterion
from learnable.features import FSSEM
from learnable.latent import em_k
from learnable.latent.mixture import em, m_step

bench = Benchmark("unsupervised_feature_selection")
N, TOL, RIDGE, CLUSTERS = 500, 1e-4, 1e-6, 4
STARTS, MOST, ROWS = (2, 5, 160) if bench.smoke else (10, 8, N)


def starts(X, k):
    """Memberships to start from: each row to the nearest of k random rows."""
    rng = np.random.default_rng(0)
    for _ in range(STARTS):
        centres = X[rng.choice(len(X), k, replace=False)]
        yield np.eye(k)[((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)]


def ours(X, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [em(X, CLUSTERS, memberships=Z, tol=TOL, reg_covar=RIDGE).log_likelihood for Z in given]


def peer(X, parameters):
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for weights, means, precisions in parameters:
            mixture = GaussianMixture(
                CLUSTERS,
                tol=TOL / len(X),
                max_iter=501,
                reg_covar=RIDGE,
                weights_init=weights,
                means_init=means,
                precisions_init=precisions,
                init_params="random_from_data",
                random_state=0,
            ).fit(X)
            found.append(mixture.lower_bound_ * len(X))
    return found


def agree(mine, theirs):
    # Runs of hundreds of steps amplify rounding; where they end at the same optimum they differ by the tolerance.
    difference = np.abs(np.subtract(mine, theirs))
    assert np.median(difference) < 1e-3, difference
    assert abs(max(mine) - max(theirs)) < 0.05, (max(mine), max(theirs))
    return f"log-likelihoods of {len(mine)} starts: median difference {np.median(difference):.0e}"


for d in bench.sizes([1, 2, 3, 5, 10]):
    made = make_noisy_clusters("4-class", N, n_noise=8, random_state=0)
    X = made.X[:, :d] / made.X[:, :d].std(axis=0)
    given = list(starts(X, CLUSTERS))
    fits = [m_step(X, Z, reg_covar=RIDGE) for Z in given]
    parameters = [(fit.weights, fit.means, np.linalg.inv(fit.covariances)) for fit in fits]
    bench.compare(
        f"EM from {STARTS} starts, 4 clusters, 500 rows; size is the number of columns",
        size=d,
        ours=lambda X=X, given=given: ours(X, given),
        peers={"loop over GaussianMixture": lambda X=X, p=parameters: peer(X, p)},
        accuracy=agree,
    )


def bic_loop(X, most):
    """What a user writes today: every number of clusters, three k-means starts each, the best BIC."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [
            GaussianMixture(k, n_init=3, tol=TOL / len(X), max_iter=500, random_state=0).fit(X)
            for k in range(1, most + 1)
        ]
    best = min(fits, key=lambda fit: fit.bic(X))
    return best.n_components, -0.5 * best.bic(X)


def merged(X, most):
    best = em_k(X, most, random_state=0).best
    return best.n_components, best.bic


def same_order(mine, theirs):
    # Both maximise the penalised likelihood; ours may find a better one, not a worse one.
    assert mine[1] > theirs[1] - 0.5, (mine, theirs)
    return f"{mine[0]} and {theirs[0]} clusters, penalised log-likelihoods {mine[1]:.1f} (ours), {theirs[1]:.1f} (peer)"


for n in bench.sizes([250, 500, 1000]):
    X = make_noisy_clusters("4-class", n, random_state=1).X[:, :2]
    bench.compare(
        f"number of clusters in two columns, at most {MOST}",
        size=n,
        ours=lambda X=X: merged(X, MOST),
        peers={"GaussianMixture and BIC, three starts each": lambda X=X: bic_loop(X, MOST)},
        accuracy=same_order,
    )


def wrapper(X, tol):
    """The forward search with scikit-learn's mixtures: the plain lines of the chapter, at most 6 clusters."""

    def clusters(T):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits = [GaussianMixture(k, tol=tol, max_iter=500, random_state=0).fit(T) for k in range(1, 7)]
        return min(fits, key=lambda fit: fit.bic(T)).predict_proba(T)

    S, chosen, held = X / X.std(axis=0), [], None
    while len(chosen) < S.shape[1]:
        found = {f: clusters(S[:, [*chosen, f]]) for f in range(S.shape[1]) if f not in chosen}
        best = max(found, key=lambda f: ml_criterion(S[:, [*chosen, f]], found[f]))
        new = [*chosen, best]
        if chosen:
            values = [sum(ml_criterion(S[:, s], Z) for s in (chosen, new)) for Z in (held, found[best])]
            if values[1] <= values[0]:
                break
        chosen, held = new, found[best]
    return sorted(chosen[:2]), held.shape[1]


def search(X):
    model = FSSEM(6, criterion="ml", random_state=0).fit(X)
    return sorted(model.selected_[:2].tolist()), model.n_components_


def same_answer(mine, theirs):
    assert mine == theirs == ([0, 1], 4), (mine, theirs)
    return "both take the two relevant columns first, and find 4 clusters"


for q in bench.sizes([1, 3]):
    X = make_noisy_clusters("4-class", ROWS, n_noise=q, random_state=1).X
    peers = {"GaussianMixture, its default tolerance": lambda X=X: wrapper(X, 1e-3)}
    if not bench.smoke:  # ten times as long, by the same code
        peers["GaussianMixture, the same tolerance"] = lambda X=X: wrapper(X, TOL / len(X))
    bench.compare(
        f"the whole search, {ROWS} rows; size is the number of noise columns",
        size=q,
        ours=lambda X=X: search(X),
        peers=peers,
        accuracy=same_answer,
    )

bench.finish()
