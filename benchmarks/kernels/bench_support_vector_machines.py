"""The SMO solver beside LIBSVM (scikit-learn's SVC), oneDAL and a dense interior-point method, at one tolerance."""

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC

from benchmarks.harness import Benchmark, Once, peer_package
from learnable.datasets import load
from learnable.kernels import smo
from learnable.kernels.functions import Gaussian, Linear

TOL, TIGHT = 1e-3, 1e-4
CACHE = 200.0
bench = Benchmark("support_vector_machines", packages=("clarabel", "scikit-learn-intelex"))
sklearnex = peer_package("sklearnex.svm")


def standardised(name):
    data = load(name)
    X = np.asarray(data.data, float)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.asarray(data.target)


def kernel_of(gamma):
    return Linear() if gamma is None else Gaussian.from_gamma(gamma)


def libsvm(X, y, C, gamma, tol=TOL, machine=SVC):
    options = {"kernel": "linear"} if gamma is None else {"kernel": "rbf", "gamma": gamma}
    return machine(C=C, tol=tol, cache_size=CACHE, **options).fit(X, y)


def onedal(X, y, C, gamma, tol=TOL):
    return libsvm(X, y, C, gamma, tol, sklearnex.SVC)


def objective_of(machine, source):
    """The dual objective of either side's coefficients, with kernel values in double precision."""
    if isinstance(machine, smo.Solution):
        beta = machine.beta
    else:
        beta = np.zeros(source.size)
        beta[machine.support_] = np.ravel(machine.dual_coef_)
    return float(np.abs(beta).sum() - 0.5 * beta @ source.dot(beta))


def timed(call, slow):
    """A peer that takes more than about five seconds is timed once."""
    return Once(call) if slow and not bench.smoke else call


def race(case, X, y, C, gamma, tol=TOL, slow=False):
    """One machine from features, nothing shared."""
    y = np.where(y, 1, -1)
    kernel = kernel_of(gamma)

    def equal(ours, peer):
        source = smo.ColumnCache(kernel, X, cache_mb=CACHE, dtype=np.float64)
        mine, theirs = objective_of(ours, source), objective_of(peer, source)
        gap = abs(mine - theirs) / theirs
        # Each side is within its own tolerance of the optimum; a better one is no disagreement.
        assert mine >= theirs * (1.0 - 1e-6), (mine, theirs)
        side = "above" if mine > theirs else "below"
        return (
            f"objective {side} the peer's by {gap:.0e} relative, KKT tolerance {tol:g}, "
            f"{ours.n_iter:,} steps against {int(np.max(peer.n_iter_)):,}"
        )

    bench.compare(
        case,
        size=len(y),
        ours=lambda: smo.classification(smo.ColumnCache(kernel, X, cache_mb=CACHE), y, C, tol=tol, cache_mb=CACHE),
        peers={
            "SVC": timed(lambda: libsvm(X, y, C, gamma, tol), slow),
            "oneDAL SVC": timed(lambda: onedal(X, y, C, gamma, tol), slow),
        },
        accuracy=equal,
    )


mnist = load("mnist_5000")
pixels, digit = np.asarray(mnist.data, float) / 255.0, np.asarray(mnist.target).astype(int)
order = np.random.default_rng(2).permutation(len(digit))
pixels, digit = pixels[order], digit[order]
pair = np.isin(digit, (3, 8))
for n in bench.sizes([250, 500, int(pair.sum())]):
    race("MNIST 3 against 8, Gaussian, C = 10", pixels[pair][:n], digit[pair][:n] == 3, 10.0, 0.02)
    race("MNIST 3 against 8, linear, C = 1", pixels[pair][:n], digit[pair][:n] == 3, 1.0, None)

spam, mail = standardised("spambase")
letters, letter = standardised("letter")
mail, letter = mail == np.unique(mail)[1], np.unique(letter, return_inverse=True)[1]
shuffled = np.random.default_rng(0).permutation(len(mail))
spam, mail = spam[shuffled], mail[shuffled]
for n in bench.sizes([500, 2000, len(mail)]):
    race("spambase, Gaussian, C = 1", spam[:n], mail[:n], 1.0, 1 / 57)
    race("spambase, Gaussian, C = 100", spam[:n], mail[:n], 100.0, 1 / 57)
    race("spambase, linear, C = 1", spam[:n], mail[:n], 1.0, None)
for n in bench.sizes([2000, 5000, 12_000]):
    race("letter A against the rest, Gaussian, C = 10", letters[:n], letter[:n] == 0, 10.0, 1 / 16)
for n in bench.sizes([1000, 3000, 10_000]):
    race("letters A-M against N-Z, Gaussian, C = 10", letters[:n], letter[:n] < 13, 10.0, 1 / 16)


def overlapping(n, d=5):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=n) > 0.5


for n in bench.sizes([1000, 4000, 12_000]):
    race("simulated, overlapping, Gaussian, C = 1", *overlapping(n, 10), 1.0, 0.1, slow=n == 12_000)
for n in bench.sizes([500, 2000, 5000]):
    race("hard: overlapping, Gaussian, C = 100", *overlapping(n), 100.0, 0.2, TIGHT, n == 5000)
for n in bench.sizes([500, 1000, 2000]):
    race("hard: overlapping, Gaussian, C = 1000", *overlapping(n), 1000.0, 0.2, TIGHT, n > 500)
    race("hard: overlapping, linear, C = 100", *overlapping(n), 100.0, None, TIGHT)


def one_against_rest(n):
    """Ten machines over the same points: ours share the columns."""
    X, labels, kernel = pixels[:n], digit[:n], Gaussian.from_gamma(0.02)

    def ours():
        source = smo.ColumnCache(kernel, X, cache_mb=CACHE)
        return [
            smo.classification(source, np.where(labels == k, 1, -1), 10.0, tol=TOL, cache_mb=CACHE) for k in range(10)
        ]

    def equal(mine, peers):
        source = smo.ColumnCache(kernel, X, cache_mb=CACHE, dtype=np.float64)
        worst = max(1.0 - objective_of(m, source) / objective_of(p, source) for m, p in zip(mine, peers, strict=True))
        assert worst < 1e-6, worst
        return f"no objective below LIBSVM's by more than {max(worst, 0.0):.0e} relative"

    bench.compare(
        "MNIST, each digit against the rest, Gaussian, C = 10",
        size=n,
        ours=ours,
        peers={
            "SVC": timed(lambda: [libsvm(X, np.where(labels == k, 1, -1), 10.0, 0.02) for k in range(10)], n > 1000)
        },
        accuracy=equal,
    )


for n in bench.sizes([500, 1000, 3000]):
    one_against_rest(n)


def path(n):
    """Twenty prices, each machine started from the last one."""
    X, y = overlapping(n)
    y = np.where(y, 1, -1)
    prices = np.geomspace(0.01, 1000.0, 20)
    kernel = Gaussian.from_gamma(0.2)

    def equal(mine, peers):
        source = smo.ColumnCache(kernel, X, cache_mb=CACHE, dtype=np.float64)
        worst = max(1.0 - objective_of(m, source) / objective_of(p, source) for m, p in zip(mine, peers, strict=True))
        assert worst < 1e-6, worst
        return f"no objective below LIBSVM's by more than {max(worst, 0.0):.0e} relative"

    bench.compare(
        "20 values of C from 0.01 to 1000, Gaussian",
        size=n,
        ours=lambda: smo.classification_path(smo.ColumnCache(kernel, X, cache_mb=CACHE), y, prices, tol=TOL),
        peers={"SVC, 20 fits": timed(lambda: [libsvm(X, y, C, 0.2) for C in prices], n > 300)},
        accuracy=equal,
    )


for n in bench.sizes([300, 1000, 2000]):
    path(n)


def interior_point(gram, y, C):
    import clarabel

    n = len(y)
    A = sp.vstack([sp.csc_matrix(y[None, :]), sp.eye(n), -sp.eye(n)], format="csc")
    b = np.concatenate([[0.0], np.full(n, C), np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    Q = sp.triu(sp.csc_matrix(gram * np.outer(y, y) + 1e-10 * np.eye(n)), format="csc")
    return clarabel.DefaultSolver(
        Q, -np.ones(n), A, b, [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)], settings
    ).solve()


for n in bench.sizes([200, 500, 1000]):
    X, y = overlapping(n)
    y = np.where(y, 1.0, -1.0)
    gram = Gaussian.from_gamma(0.2)(X)

    def equal(ours, peer):
        gap = abs(ours.dual + peer.obj_val) / ours.dual
        assert gap < 1e-4, gap
        return f"objectives differ by {gap:.0e} relative"

    bench.compare(
        "dense quadratic programme from the kernel matrix, C = 10",
        size=n,
        ours=lambda gram=gram, y=y: smo.classification(gram, y, 10.0, tol=TOL),
        peers={"clarabel": lambda gram=gram, y=y: interior_point(gram, y, 10.0)},
        accuracy=equal,
    )

bench.finish()
