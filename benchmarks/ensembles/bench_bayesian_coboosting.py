"""Weighted Baum-Welch over many short sequences, and classification by one model for each class, beside hmmlearn.

hmmlearn knows no weights of sequences: its expectation step is called sequence by sequence, the statistics are
multiplied and added, and its own maximisation step follows. Both sides start from the same model, which is ours after
one iteration, so that ours does one iteration more.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.harness import Benchmark, peer_package
from learnable.datasets.sequences import make_two_view_sequences
from learnable.ensembles import HMMClassifier, WeightedGaussianHMM
from learnable.ensembles.coboosting import stack_sequences

bench = Benchmark("bayesian_coboosting", packages=("hmmlearn",))
hmmlearn = peer_package("hmmlearn.hmm")
STEPS = 5


def fitted(batch, weight, steps):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return WeightedGaussianHMM(4, max_iter=steps, tol=0.0, reg_covar=0.0).fit(batch, sample_weight=weight)


def as_hmmlearn(model):
    peer = hmmlearn.GaussianHMM(
        4, "diag", implementation="scaling", covars_prior=0.0, covars_weight=0.0, init_params="", n_iter=STEPS, tol=-1.0
    )
    peer.startprob_, peer.transmat_ = model.startprob_, model.transmat_
    peer.means_, peer.covars_, peer.n_features = model.means_, model.covariances_, model.n_features_in_
    return peer


def loop(start, parts, weight):
    """Weighted Baum-Welch with hmmlearn's steps, sequence by sequence."""
    peer = as_hmmlearn(start)
    for _ in range(STEPS):
        total = peer._initialize_sufficient_statistics()
        for x, w in zip(parts, weight, strict=True):
            one = peer._initialize_sufficient_statistics()
            lattice, _, posteriors, forward, backward = peer._fit_scaling(x)
            peer._accumulate_sufficient_statistics(one, x, lattice, posteriors, forward, backward)
            for name, value in one.items():
                total[name] = total[name] + w * value
        peer._do_mstep(total)
    return peer


def same_likelihood(parts, weight):
    def check(ours, peer):
        theirs = np.array([peer.score(x) for x in parts])
        mine = ours.score_samples(parts)
        off = abs(weight @ mine - weight @ theirs) / abs(weight @ theirs)
        assert off < 1e-8, off
        return f"weighted log-likelihood equal to {off:.0e}"

    return check


def same_classes(ours, peer):
    assert (ours == peer).all(), np.mean(ours != peer)
    return "the same classes"


for n in bench.sizes([60, 240, 960]):
    made = make_two_view_sequences(n, n_classes=1, n_noise=5, random_state=0)
    parts, weight = made.views[0], np.random.default_rng(1).exponential(size=n)
    batch, start = stack_sequences(parts), fitted(made.views[0], weight, 1)
    bench.compare(
        "weighted Baum-Welch, five iterations, sequences of about 22 steps",
        size=n,
        ours=lambda batch=batch, weight=weight: fitted(batch, weight, STEPS + 1),
        peers={"hmmlearn, sequence by sequence": lambda s=start, p=parts, w=weight: loop(s, p, w)},
        accuracy=same_likelihood(parts, weight),
    )
    ones, first = np.ones(n), fitted(made.views[0], None, 1)
    rows, lengths = batch.rows, batch.lengths
    bench.compare(
        "Baum-Welch without weights",
        size=n,
        ours=lambda batch=batch: fitted(batch, None, STEPS + 1),
        peers={"hmmlearn fit with lengths": lambda s=first, x=rows, m=lengths: as_hmmlearn(s).fit(x, m)},
        accuracy=same_likelihood(parts, ones),
    )

for n in bench.sizes([60, 240, 960]):
    made = make_two_view_sequences(n // 6 + 20, n_noise=5, random_state=0)
    views, y = stack_sequences(made.views[0]), made.target
    train = np.arange(len(y)) % (n // 6 + 20) < 20
    model, new = HMMClassifier(4).fit(views.take(train), y[train]), views.take(~train)
    parts = np.split(new.rows, new.starts[1:-1])

    def peer(model=model, parts=parts):
        models = []
        for c in range(6):
            hmm = model._hmm(c)
            one = hmmlearn.GaussianHMM(4, "diag", implementation="scaling")
            one.startprob_, one.transmat_, one.n_features = hmm.startprob, hmm.transmat, model.n_features_in_
            one.means_, one.covars_ = hmm.emission.means, hmm.emission.variances
            models.append(one)
        return np.array([np.argmax([one.score(x) for one in models]) for x in parts])

    bench.compare(
        "classification by six models",
        size=len(parts),
        ours=lambda model=model, new=new: model.predict(new),
        peers={"hmmlearn, score in a loop": peer},
        accuracy=same_classes,
    )
bench.finish()
