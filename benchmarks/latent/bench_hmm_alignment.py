"""Hidden Markov models beside hmmlearn: posteriors and paths from data, bare recursions, sparse chains, the family."""

import warnings

import numpy as np
from hmmlearn import _hmmc
from hmmlearn.hmm import CategoricalHMM, GaussianHMM
from sklearn.exceptions import ConvergenceWarning

from benchmarks.harness import Benchmark, Once
from learnable import latent as ha
from learnable.latent import hmm as ha_hmm
from learnable.latent.hmm import HMM, DiscreteEmission, GaussianEmission, baum_welch, forward_backward, smooth
from learnable.latent.hmm import _kernels as kernels

bench = Benchmark("hmm_alignment", packages=("hmmlearn",))
SLOW = 5e8  # n K² beyond which hmmlearn, then more than ten seconds, is timed once


def chain(k):
    """A sticky chain with every transition possible; neighbouring emissions overlap."""
    rng = np.random.default_rng(k)
    P = 0.7 * np.eye(k) + 0.3 * rng.dirichlet(np.ones(k), size=k)
    return HMM(np.full(k, 1 / k), P / P.sum(axis=1, keepdims=True), GaussianEmission(np.linspace(0, 8, k)))


def ring(k):
    """Each state goes to itself and its next two neighbours only."""
    eye = np.eye(k)
    P = 0.8 * eye + 0.15 * np.roll(eye, 1, axis=1) + 0.05 * np.roll(eye, 2, axis=1)
    return HMM(np.full(k, 1 / k), P, GaussianEmission(np.linspace(0, 8, k)))


def peer_of(hmm):
    peer = GaussianHMM(hmm.n_states, "diag", implementation="scaling")
    peer.startprob_, peer.transmat_, peer.n_features = hmm.startprob, hmm.transmat, 1
    peer.means_, peer.covars_ = hmm.emission.means[:, None], hmm.emission.variances[:, None]
    return peer


def timed(call, work):
    return Once(call) if work > SLOW and not bench.smoke else call


def same_posteriors(ours, peer):
    off = abs(ours[0] - peer[0]) / abs(peer[0])
    gap = np.abs(ours[1] - peer[1]).max()
    assert off < 1e-9 and gap < 1e-9, (off, gap)
    return f"log-likelihood equal to {off:.0e}, posteriors to {gap:.0e}"


def same_value(hmm, x):
    def value(path):
        path = np.asarray(path)
        total = hmm.log_startprob[path[0]] + hmm.log_transmat[path[:-1], path[1:]].sum()
        gap = x - hmm.emission.means[path]
        return total - 0.5 * (gap @ gap) - 0.5 * len(x) * np.log(2 * np.pi)

    def check(ours, peer):
        off = abs(value(ours) - peer[0]) / abs(peer[0])
        assert off < 1e-9, off
        return f"log probability of the paths equal to {off:.0e}"

    return check


def from_data(name, hmm, n):
    x, _ = hmm.sample(n, 1)
    X, peer, work = x[:, None], peer_of(hmm), n * hmm.n_states**2
    bench.compare(
        f"posteriors from data, {name}",
        size=n,
        ours=lambda: smooth(hmm, x),
        peers={"hmmlearn score_samples": timed(lambda: peer.score_samples(X), work)},
        accuracy=same_posteriors,
    )
    bench.compare(
        f"Viterbi from data, {name}",
        size=n,
        ours=lambda: ha.viterbi(hmm, x),
        peers={"hmmlearn decode": timed(lambda: peer.decode(X), work)},
        accuracy=same_value(hmm, x),
    )


def recursions(hmm, n):
    """The scaled recursions alone, on the same table of densities."""
    x, _ = hmm.sample(n, 1)
    f = hmm.densities(x)
    kernels.relative_densities(f, np.empty(n))
    filtered, out, none = np.empty_like(f), np.empty_like(f), np.empty((0, 0))
    work = n * hmm.n_states**2
    found = _hmmc.forward_scaling(hmm.startprob, hmm.transmat, f)

    def same_filter(ours, peer):
        gap = np.abs(filtered - peer[1]).max()
        assert abs(ours[2] - peer[0]) < 1e-9 * abs(peer[0]) and gap < 1e-9, gap
        return f"filters equal to {gap:.0e}"

    bench.compare(
        f"forward recursion, K = {hmm.n_states}",
        size=n,
        ours=lambda: kernels.forward(hmm.startprob, hmm.net[0], f, filtered, False),
        peers={"hmmlearn C++": timed(lambda: _hmmc.forward_scaling(hmm.startprob, hmm.transmat, f), work)},
        accuracy=same_filter,
    )
    scale = found[2]

    def same_smoother(ours, peer):
        other = filtered * peer
        gap = np.abs(out - other / other.sum(axis=1, keepdims=True)).max()
        assert gap < 1e-9, gap
        return f"smoothers equal to {gap:.0e}; ours includes the product with the filter"

    bench.compare(
        f"backward recursion, K = {hmm.n_states}",
        size=n,
        ours=lambda: kernels.backward(hmm.net[1], f, filtered, out, none, False, False),
        peers={"hmmlearn C++": timed(lambda: _hmmc.backward_scaling(hmm.startprob, hmm.transmat, f, scale), work)},
        accuracy=same_smoother,
    )


def family(hmm, n):
    """Every alignment, given the posteriors, beside our own Viterbi: a ratio of 0.5 is twice its time."""
    x, _ = hmm.sample(n, 1)
    post = forward_backward(hmm, x)
    members = {
        "PMAP": lambda: ha.pmap(hmm, post),
        "restricted PMAP": lambda: ha_hmm.restricted_pmap(hmm, post),
        "posterior Viterbi": lambda: ha.posterior_viterbi(hmm, post),
        "penalised PMAP": lambda: ha_hmm.penalised_pmap(hmm, post),
        "3-block": lambda: ha.kblock(hmm, post, 3),
        "combined, four constants": lambda: ha_hmm.combined(hmm, post, 1, 1, 1, 1),
    }

    def better(objective):
        def check(ours, peer):
            found = ha_hmm.risks(hmm, post, np.array([ours, peer]))
            own, other = objective(found)
            assert own <= other + 1e-9 * abs(other), (own, other)
            return f"its own risk is {own:.7g}, that of Viterbi {other:.7g}"

        return check

    objectives = {
        "PMAP": lambda r: r.r1,
        "restricted PMAP": lambda r: r.r1,
        "posterior Viterbi": lambda r: r.log_r1,
        "penalised PMAP": lambda r: r.r1 + r.prior_log_rinf,
        "3-block": lambda r: r.combined(1, 2),
        "combined, four constants": lambda r: r.combined(1, 1, 1, 1),
    }
    for name, call in members.items():
        bench.compare(
            f"{name} given the posteriors, K = {hmm.n_states}",
            size=n,
            ours=call,
            peers={"our Viterbi": lambda: ha.viterbi(hmm, post)},
            accuracy=better(objectives[name]),
        )


def estimation(k, n, discrete):
    """Ten iterations of Baum-Welch from the same start."""
    rng = np.random.default_rng(5)
    truth = chain(k)
    if discrete:
        truth = HMM(truth.startprob, truth.transmat, DiscreteEmission(rng.dirichlet(np.full(12, 0.5), size=k)))
    x, _ = truth.sample(n, 1)
    made = (
        DiscreteEmission(rng.dirichlet(np.full(12, 2.0), size=k))
        if discrete
        else GaussianEmission(truth.emission.means + 0.3 * rng.normal(size=k), 2.0)
    )
    start = HMM(truth.startprob, 0.5 * np.eye(k) + 0.5 / k, made)

    def theirs():
        options = {"implementation": "scaling", "n_iter": 10, "tol": -np.inf, "init_params": ""}
        if discrete:
            peer = CategoricalHMM(k, **options)
            peer.emissionprob_ = made.emissionprob.copy()
        else:
            peer = GaussianHMM(k, "diag", min_covar=0, covars_prior=0, covars_weight=0, **options)
            peer.means_, peer.covars_ = made.means[:, None], made.variances[:, None]
        peer.startprob_, peer.transmat_ = start.startprob.copy(), start.transmat.copy()
        return peer.fit(x[:, None])

    def ours():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return baum_welch(start, x, max_iter=10, tol=0)

    def same_likelihood(mine, peer):
        off = abs(mine.log_likelihoods[-1] - peer.score(x[:, None])) / abs(mine.log_likelihoods[-1])
        assert off < 1e-9, off
        return f"log-likelihood after ten iterations equal to {off:.0e}"

    bench.compare(
        f"Baum-Welch, ten iterations, {'discrete' if discrete else 'Gaussian'}, K = {k}",
        size=n,
        ours=ours,
        peers={"hmmlearn fit": theirs},
        accuracy=same_likelihood,
    )


for k in (2, 5, 16):
    for n in bench.sizes([2_000, 10_000, 50_000]):
        estimation(k, n, False)
        estimation(k, n, True)
for n in bench.sizes([10_000, 100_000, 1_000_000]):
    from_data("K = 5", chain(5), n)
for k in (2, 16):
    for n in bench.sizes([10_000, 100_000, 1_000_000]):
        from_data(f"K = {k}", chain(k), n)
for n in bench.sizes([2_000, 10_000, 50_000]):
    from_data("K = 64", chain(64), n)
for n in bench.sizes([1_000, 4_000, 16_000]):
    from_data("ring of 256 states, 3 transitions each", ring(256), n)
for k in (5, 16, 64):
    for n in bench.sizes([2_000, 20_000, 200_000]):
        recursions(chain(k), n)
for k in (5, 16):
    for n in bench.sizes([2_000, 20_000, 200_000]):
        family(chain(k), n)

for case in ("posteriors from data, K = 5", "Viterbi from data, K = 5"):
    rows = [row for row in bench.rows if row["case"] == case]
    if len(rows) > 1:
        exponent = np.polyfit(*np.log([[r["size"] for r in rows], [r["ours_seconds"] for r in rows]]), 1)[0]
        print(f"{case}: time grows like n^{exponent:.2f}")

bench.finish()
