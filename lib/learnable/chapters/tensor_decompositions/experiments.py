"""Experiments for Anandkumar et al. (2014): the paper prints theorems and no tables, so these put figures on them.

What its text says in words ("unstable", "about a dozen iterations", "roughly 1/k^2.5") stands in the lecture beside
what is measured here.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from sklearn.decomposition import FastICA, LatentDirichletAllocation
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.mixture import GaussianMixture

from learnable.book.study import study
from learnable.chapters.tensor_decompositions.baselines import flattening_svd, joint_diagonalization, random_contraction
from learnable.chapters.tensor_decompositions.theory import (
    match_components,
    operator_norm,
    perturbation_ratios,
    sym_rank_one_sum,
)
from learnable.datasets.matrices import make_mixed_sources, make_symmetric_tensor
from learnable.datasets.sequences import sample_hmm
from learnable.datasets.topics import load_docstrings, make_topics
from learnable.latent.hmm import HMM, DiscreteEmission, baum_welch
from learnable.latent.tensors.algebra import symmetrize
from learnable.latent.tensors.ica import ICATensor
from learnable.latent.tensors.mixtures import SphericalGMMTensor
from learnable.latent.tensors.multiview import HMMTensor
from learnable.latent.tensors.power import tensor_eig
from learnable.latent.tensors.text import LDATensor, lda_em

PAPER = "Anandkumar et al. 2014"
WEIGHTS = {"equal": 1.0, "spread": (1.0, 2.0)}
GUESSES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


@study(
    source=f"{PAPER}, Sec. 6.2 and App. D",
    paper={"repetitions": 25, "eigenvalues": ["equal", "spread"], "k": [3, 5, 10, 15, 20, 30]},
    lecture={"repetitions": 4, "eigenvalues": ["equal", "spread"], "k": [3, 5]},
    note="the source prints no figures; noise: a symmetrised Gaussian tensor of standard deviation 0.01",
)
def decomposers(random_state, *, eigenvalues, k):
    """Worst eigenvector error of five methods on one noisy k x k x k tensor, and the starts that Algorithm 2 drew.

    `far` is 1 if Algorithm 2 accepted a vector farther than 8 eps / lambda from every component, eps the operator norm
    of the noise.
    """
    made = make_symmetric_tensor(k, k, weights=WEIGHTS[eigenvalues], noise=0.01, random_state=random_state)
    T, truth = made.tensor, made.components
    found = {
        "power": tensor_eig(T, method="restart", random_state=random_state),
        "stopping": tensor_eig(T, method="stop", random_state=random_state),
        "joint": joint_diagonalization(T),
        "flattening": flattening_svd(T),
        "contraction": random_contraction(T, random_state),
    }
    errors = {name: float(_errors(one.eigenvectors.T, truth).max()) for name, one in found.items()}
    eps = operator_norm(T - sym_rank_one_sum(made.weights, truth.T), 20, random_state=random_state)
    order, _ = match_components(found["stopping"].eigenvectors.T, truth)
    off = np.linalg.norm(found["stopping"].eigenvectors.T[order] - truth, axis=1) * made.weights
    return {**errors, "starts": found["stopping"].n_restarts / k, "far": float(np.any(off > 8 * eps))}


@study(
    source=f"{PAPER}, Theorem 5.1",
    paper={"repetitions": 20, "kind": ["random", "aimed"], "k": [4, 8, 16, 24], "share": [0.05, 0.2, 1.0]},
    lecture={"repetitions": 3, "kind": ["random"], "k": [4, 8], "share": [0.2]},
    note="the constant of the condition eps <= C lambda_min / k is not printed: share is eps k / lambda_min",
)
def noise(random_state, *, kind, k, share):
    """Errors of Algorithm 1 over eps = |E|: of the worst eigenvector times lambda, eigenvalue, and tensor.

    E is a symmetrised Gaussian tensor, or ``aimed``: it pushes the weakest component towards the middle of the others.

    `first` and `last` are the eigenvector errors, times lambda over eps, of the component found first and last.
    `within` is 1 if all three bounds of the theorem (8, 5, 55) hold.
    """
    lam, V = random_state.uniform(1, 2, k), np.linalg.qr(random_state.normal(size=(k, k)))[0]
    if kind == "random":
        E = symmetrize(random_state.normal(size=(k, k, k)))
    else:
        weak = V[:, lam.argmin()]
        others = V.sum(axis=1) - weak
        E = symmetrize(np.einsum("i,j,l->ijl", weak, weak, others))
    eps = share * lam.min() / k
    E *= eps / operator_norm(E, random_state=random_state)
    found = tensor_eig(sym_rank_one_sum(lam, V) + E, method="restart", random_state=random_state)
    used = perturbation_ratios(lam, V, found.eigenvalues, found.eigenvectors, eps, random_state=random_state)
    nearest = found.eigenvectors.T @ V
    off = np.linalg.norm(found.eigenvectors.T - V.T[nearest.argmax(axis=1)], axis=1) * lam[nearest.argmax(axis=1)] / eps
    within = used.eigenvector <= 8 and used.eigenvalue <= 5 and used.residual <= 55
    return {
        "eigenvector": used.eigenvector,
        "eigenvalue": used.eigenvalue,
        "tensor": used.residual,
        "first": off[0],
        "last": off[-1],
        "within": float(within),
    }


@study(
    source=f"{PAPER}, App. D",
    paper={"repetitions": 20, "k": [5, 10, 20, 40, 80, 160]},
    lecture={"repetitions": 4, "k": [5, 10, 20]},
)
def gaps(random_state, *, k):
    """Smallest distance between two eigenvalues of T(I, I, eta), all lambda = 1, eta uniform on the sphere.

    `gap` is the median over 200 draws of eta, `log_gap` its logarithm.
    """
    eta = random_state.normal(size=(200, k))
    eta /= np.linalg.norm(eta, axis=1, keepdims=True)
    gap = float(np.median(np.diff(np.sort(eta, axis=1), axis=1).min(axis=1)))  # v_i' eta are coordinates of eta
    return {"gap": gap, "log_gap": float(np.log(gap))}


@study(
    source=f"{PAPER}, Theorem 3.2 and Sec. 6.3",
    paper={"repetitions": 20, "scale": [2.0, 0.7], "n": [2000, 6000, 20_000]},
    lecture={"repetitions": 2, "scale": [2.0], "n": [2000]},
    note="ten dimensions, four means scale * N(0, I) drawn anew, weights 0.4, 0.3, 0.2, 0.1, variance 1",
)
def mixtures(random_state, *, scale, n):
    """Worst error of a mean: tensor estimate, EM from there, EM from one k-means++ start, the best of ten.

    `one_misses`, `ten_misses`: 1 if the log-likelihood stays below that of EM from the tensor by more than 0.01 a
    point; `start_misses` if EM from the tensor stays that much below EM from the true means.
    """
    means = scale * random_state.normal(size=(4, 10))
    w = np.array([0.4, 0.3, 0.2, 0.1])
    x = means[random_state.choice(4, size=n, p=w)] + random_state.normal(size=(n, 10))
    seeds = random_state.integers(2**31, size=11).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tensor = SphericalGMMTensor(4, random_state=seeds[0]).fit(x)
        usual = [_gaussian(x, random_state=s, init_params="k-means++") for s in seeds[1:]]
        start = (tensor.weights_, tensor.components_, 1 / np.maximum(tensor.covariances_, 1e-3))
        polished = _gaussian(x, **dict(zip(("weights_init", "means_init", "precisions_init"), start, strict=True)))
        oracle = _gaussian(x, weights_init=w, means_init=means, precisions_init=np.ones(4))
    score, one = polished.score(x), usual[0].score(x)
    best = max(usual, key=lambda model: model.score(x))
    return {
        "tensor": _errors(tensor.components_, means).max(),
        "polished": _errors(polished.means_, means).max(),
        "one": _errors(usual[0].means_, means).max(),
        "ten": _errors(best.means_, means).max(),
        "one_misses": float(one < score - 0.01),
        "ten_misses": float(best.score(x) < score - 0.01),
        "start_misses": float(score < oracle.score(x) - 0.01),
        "steps": float(polished.n_iter_),
        "steps_one": float(usual[0].n_iter_),
    }


@study(
    source=f"{PAPER}, Theorem 3.5",
    paper={"repetitions": 4, "alpha0": [0.3, 1.0, 3.0]},
    lecture={"repetitions": 1, "alpha0": [0.3]},
    note="2,000 documents of 50 words, 200 words, five topics; nobody is told alpha0 unless the name says so",
)
def topics(random_state, *, alpha0):
    """Mean L1 error of topics: tensor, tensor with variational EM to convergence, scikit-learn's variational Bayes.

    `told` gets the true alpha0, `tensor` takes the one of seven guesses with the smallest unexplained share. `polished`
    are 200 sweeps of variational EM from `tensor`, `random` the same from a random start. `bayes` is scikit-learn's
    batch variational Bayes with its default priors (1/k) until its perplexity stops falling or 200 passes are
    done, `bayes_three` after three passes.
    """
    made = make_topics(2000, n_words=200, k=5, alpha0=alpha0, random_state=random_state)
    seed = int(random_state.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [LDATensor(5, a, random_state=seed).fit(made.data) for a in GUESSES]
        told = LDATensor(5, alpha0, random_state=seed).fit(made.data)
    best = min(fits, key=lambda fit: fit.residual_)
    start = random_state.dirichlet(np.ones(200), size=5)
    guess = GUESSES[fits.index(best)]
    polished = lda_em(made.data, best.alpha_, best.components_, max_iter=200)
    scratch = lda_em(made.data, np.full(5, guess / 5), start, max_iter=200)
    few, full = (_bayes(made.data, passes, seed) for passes in (3, 200))
    given = {"told": told.components_, "tensor": best.components_, "polished": polished.topics}
    given |= {"random": scratch.topics, "bayes_three": _rows(few), "bayes": _rows(full)}
    errors = {name: _l1(found, made.topics) for name, found in given.items()}
    return {**errors, "alpha0_chosen": guess, "passes": float(full.n_iter_)}


@study(
    source=f"{PAPER}, Sec. 6.4",
    paper={"repetitions": 10, "iterations": [1, 2, 3, 6, 12, 24, 48]},
    lecture={"repetitions": 2, "iterations": [3, 12]},
    note="894 docstrings of scikit-learn and SciPy, six topics, alpha0 = 0.1, in place of the source's corpora",
)
def dozen(random_state, *, iterations):
    """Mean L1 distance of topics after so many power iterations from those after 300, same random starts."""
    counts, seed = _docstrings(), int(random_state.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        some, many = (
            LDATensor(6, 0.1, max_iter=n, random_state=seed).fit(counts).components_ for n in (iterations, 300)
        )
    return {"change": _l1(some, many)}


@study(
    source=f"{PAPER}, Sec. 3.3 (hidden Markov models)",
    paper={"repetitions": 8, "n": [5000, 20_000]},
    lecture={"repetitions": 1, "n": [5000]},
    note="four states, twelve symbols, a new chain each time; Baum-Welch runs until it converges or 300 steps",
)
def chains(random_state, *, n):
    """Worst L1 error of a state's emissions: tensor estimate, Baum-Welch from there, from one random start.

    `misses` is 1 if the random start ends more than ten log units below the other, `beaten` if it ends that far above.
    """
    k, d = 4, 12
    P = 0.6 * np.eye(k) + 0.4 * random_state.dirichlet(np.ones(k), k)
    E = random_state.dirichlet(np.full(d, 0.3), k)
    law = {"startprob": np.full(k, 1 / k), "transmat": P, "emissionprob": E}
    chain = sample_hmm(1, n, **law, random_state=random_state).data[0]
    scratch = HMM(
        np.full(k, 1 / k),
        random_state.dirichlet(np.ones(k), k),
        DiscreteEmission(random_state.dirichlet(np.ones(d), k)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        guess = HMMTensor(k, n_symbols=d, random_state=random_state).fit([chain]).to_hmm()
        ours, usual = (baum_welch(start, [chain], max_iter=300) for start in (guess, scratch))
    told = {"tensor": guess, "polished": ours.hmm, "random": usual.hmm}
    errors = {name: _l1(hmm.emission.emissionprob, E, np.max) for name, hmm in told.items()}
    return {
        **errors,
        "misses": float(usual.log_likelihoods[-1] < ours.log_likelihoods[-1] - 10),
        "beaten": float(usual.log_likelihoods[-1] > ours.log_likelihoods[-1] + 10),
        "steps": float(len(ours.log_likelihoods)),
        "steps_random": float(len(usual.log_likelihoods)),
    }


@study(
    source=f"{PAPER}, Theorem 3.4",
    paper={"repetitions": 20, "sd": [0.0, 0.5, 1.0, 2.0]},
    lecture={"repetitions": 2, "sd": [0.0, 2.0]},
    note="50,000 points, sources uniform, Laplace, uniform; Gaussian noise on one of three sensors",
)
def sources(random_state, *, sd):
    """Worst error of a normalised column of the mixing matrix: fourth cumulant, and FastICA with the same contrast.

    `refused` is 1 if the estimated cumulant could not be whitened, or a column came out with length zero, so that it
    has no direction; then `cumulant` has no figure.
    """
    made = make_mixed_sources(50_000, ["uniform", "laplace", "uniform"], random_state=random_state)
    x = made.data + random_state.normal(size=(50_000, 3)) * [sd, 0.1, 0.1]
    seed = int(random_state.integers(2**31))
    fast = FastICA(3, fun="cube", whiten="unit-variance", max_iter=1000, random_state=seed).fit(x)
    truth = _unit(made.mixing.T)
    try:
        found = ICATensor(3, random_state=seed).fit(x).components_
    except ValueError:
        found = np.zeros((3, 3))
    usable = np.linalg.norm(found, axis=1).min() > 0
    cumulant = _errors(_unit(found), truth, signed=True).max() if usable else None
    return {
        "cumulant": cumulant,
        "refused": float(not usable),
        "FastICA": _errors(_unit(fast.mixing_.T), truth, signed=True).max(),
    }


def _errors(found, truth, signed=False):
    order, signs = match_components(found, truth, signed=signed)
    return np.linalg.norm(found[order] * signs[:, None] - truth, axis=1)


def _l1(found, truth, over=np.mean):
    order, _ = match_components(found, truth)
    return float(over(np.abs(found[order] - truth).sum(axis=1)))


def _unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _gaussian(x, **how):
    return GaussianMixture(4, covariance_type="spherical", max_iter=500, **how).fit(x)


def _bayes(counts, passes, seed):
    model = LatentDirichletAllocation(
        5, learning_method="batch", max_iter=passes, evaluate_every=5, perp_tol=0.01, random_state=seed
    )
    return model.fit(counts)


def _rows(model):
    return model.components_ / model.components_.sum(axis=1, keepdims=True)


@cache
def _docstrings():
    reader = CountVectorizer(stop_words="english", token_pattern=r"[a-z]{4,}", max_df=0.3, min_df=20)
    return reader.fit_transform(load_docstrings().data)
