"""Many inputs, few of them relevant: toy problems of feature selection and stand-ins for gene expression.

Each ``Bunch`` names the relevant inputs in ``relevant`` (indices, sorted).
"""

import numpy as np
from scipy import special

from learnable.datasets._simulate import answer, check_size, random_orthogonal
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = [
    "make_graded_shift",
    "make_microarray",
    "make_mislabelled",
    "make_one_shift",
    "make_redundant_bits",
    "make_rotated_spectra",
    "make_sparse_binary",
    "make_switching_inputs",
    "make_two_diagonals",
]


def make_switching_inputs(n_samples=100, *, n_noise=196, random_state=None, return_X_y=False):
    """The linear toy of Weston et al., 202 inputs of which six are relevant and redundant (Chapelle 2004, ch. 5).

    With probability 0.7, x_i = y N(i, 1) for i = 1, 2, 3 and x_4..x_6 = N(0, 1); otherwise x_1..x_3 = N(0, 1) and
    x_(3+i) = y N(i, 1). The rest is N(0, 20), 20 being the variance. y = +-1 with equal chances (classes 1 and 0).

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_noise : int, default=196
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> made = make_switching_inputs(5, random_state=0)
    >>> made.data.shape, made.relevant.tolist()
    ((5, 202), [0, 1, 2, 3, 4, 5])
    """
    n, n_noise, rng = check_size(n_samples), check_size(n_noise, "n_noise", low=0), check_rng(random_state)
    target = rng.integers(2, size=n)
    sign = (2 * target - 1)[:, None]
    first = rng.random((n, 1)) < 0.7
    steps = np.arange(1.0, 4.0)
    noise = rng.standard_normal((n, 6))
    left = np.where(first, sign * (steps + noise[:, :3]), noise[:, :3])
    right = np.where(first, noise[:, 3:], sign * (steps + noise[:, 3:]))
    X = np.hstack([left, right, np.sqrt(20) * rng.standard_normal((n, n_noise))])
    return answer(X, target, return_X_y, relevant=np.arange(6), first_half=first[:, 0])


def make_two_diagonals(n_samples=100, *, n_noise=50, random_state=None, return_X_y=False):
    """The nonlinear toy of Weston et al.: two relevant inputs of 52, of use only together (Chapelle 2004, ch. 5).

    Class 0: (x1, x2) ~ N(+-(3/4, 3), I); class 1: N((3, -3), I) or N((-3, 3), I); the rest N(0, 20), a variance.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_noise : int, default=50
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_two_diagonals(4, random_state=0).data.shape
    (4, 52)
    """
    n, n_noise, rng = check_size(n_samples), check_size(n_noise, "n_noise", low=0), check_rng(random_state)
    y = rng.integers(2, size=n)
    side = rng.choice([-1.0, 1.0], size=n)
    centres = np.array([[0.75, 3.0], [3.0, -3.0]])
    pair = side[:, None] * centres[y] + rng.standard_normal((n, 2))
    both = np.stack([pair @ c for c in centres], axis=1)
    logs = np.logaddexp(both, -both) - 0.5 * (centres**2).sum(axis=1)
    X = np.hstack([pair, np.sqrt(20) * rng.standard_normal((n, n_noise))])
    return answer(X, y, return_X_y, relevant=np.arange(2), posterior=special.softmax(logs, axis=1))


def make_graded_shift(n_samples=50, *, d=1000, n_relevant=10, random_state=None, return_X_y=False):
    """x_i = y N(-i, 1) for the first ten inputs, N(0, 1) for the others, y = +-1 (Bhattacharyya 2004, Section 5).

    The class means differ by 2 i in input i; with s^2 = 385 = 1 + 4 + ... + 100 the Bayes risk is Phi(-s).

    Parameters
    ----------
    n_samples : int, default=50
        Number of rows.
    d : int, default=1000
    n_relevant : int, default=10
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> make_graded_shift(4, random_state=0).relevant.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    n, d = check_size(n_samples), check_size(d, "d")
    r, rng = check_scalar(n_relevant, "n_relevant", low=0, high=d, integer=True), check_rng(random_state)
    y = rng.integers(2, size=n)
    sign = (2 * y - 1)[:, None]
    X = rng.standard_normal((n, d))
    steps = np.arange(1.0, r + 1)
    X[:, :r] = sign * (X[:, :r] - steps)
    risk = float(special.ndtr(-np.sqrt((steps**2).sum())))
    return answer(X, y, return_X_y, relevant=np.arange(r), bayes_risk=risk)


def make_one_shift(n_samples=40, *, d=50, shift=2.0, random_state=None, return_X_y=False):
    """N(0, I_d) but for the first coordinate, whose mean is +-shift; equal classes (Hastie et al. 2004, p >> n).

    A linear rule (beta, b) has error (Phi(-(shift beta_1 + b) / |beta|) + Phi(-(shift beta_1 - b) / |beta|)) / 2; the
    best is Phi(-shift).

    Parameters
    ----------
    n_samples : int, default=40
        Number of rows.
    d : int, default=50
    shift : float, default=2.0
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> round(make_one_shift(4, random_state=0).bayes_risk, 5)
    0.02275
    """
    n, d, rng = check_size(n_samples), check_size(d, "d"), check_rng(random_state)
    shift = check_scalar(shift, "shift", low=0)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.standard_normal((n, d))
    X[:, 0] += shift * (2 * y - 1)
    return answer(X, y, return_X_y, relevant=np.array([0]), bayes_risk=float(special.ndtr(-shift)))


def make_mislabelled(n_per_class=30, *, d=100, shift=0.62, random_state=None, return_X_y=False):
    """Two spherical clusters of which one point carries the wrong label (Chapelle 2004, Section 5.3).

    N(+-shift e_1, 1.5 / sqrt(d) I). The last point of class 1 is given label 0; ``wrong`` is its index. `shift` is
    not stated in the source; the default calibrates the test error to it.

    Parameters
    ----------
    n_per_class : int, default=30
        How many of each class.
    d : int, default=100
    shift : float, default=0.62
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> made = make_mislabelled(5, random_state=0)
    >>> int(made.wrong), made.target.tolist()
    (9, [0, 0, 0, 0, 0, 1, 1, 1, 1, 0])
    """
    n, d, rng = check_size(n_per_class, "n_per_class"), check_size(d, "d"), check_rng(random_state)
    shift = check_scalar(shift, "shift", low=0)
    variance = 1.5 / np.sqrt(d)
    clean = np.repeat([0, 1], n)
    X = np.sqrt(variance) * rng.standard_normal((2 * n, d))
    X[:, 0] += shift * (2 * clean - 1)
    y = clean.copy()
    y[-1] = 0
    risk = float(special.ndtr(-shift / np.sqrt(variance)))
    return answer(X, y, return_X_y, wrong=2 * n - 1, clean=clean, bayes_risk=risk, relevant=np.array([0]))


def make_rotated_spectra(n_samples=60, *, d=60, distance=2.2, random_state=None, return_X_y=False):
    """Two Gaussian classes, one covariance a rotation of geomspace(0.1, 5, d), the other of its reverse (peaking).

    The means are `distance` apart in a random direction. Sample covariances of n near d observations are useless:
    rules that invert them show their worst error there.

    Parameters
    ----------
    n_samples : int, default=60
        Number of rows.
    d : int, default=60
    distance : float, default=2.2
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        With ``means`` (2, d) and ``covs`` (2, d, d). Pass the ``Generator`` of a first call to a second to draw a
        test set, or use :func:`learnable.datasets.classification.make_gaussian_classes` with these moments.

    Examples
    --------
    >>> make_rotated_spectra(6, d=4, random_state=0).covs.shape
    (2, 4, 4)
    """
    n, d, rng = check_size(n_samples), check_size(d, "d", low=2), check_rng(random_state)
    distance = check_scalar(distance, "distance", low=0)
    spectrum = np.geomspace(0.1, 5, d)
    axes = [random_orthogonal(d, rng) for _ in range(2)]
    covs = np.array([q * s @ q.T for q, s in zip(axes, (spectrum, spectrum[::-1]), strict=True)])
    direction = rng.standard_normal(d)
    means = np.outer([-0.5, 0.5], distance * direction / np.linalg.norm(direction))
    y = rng.permutation(np.arange(n) % 2)
    factors = np.linalg.cholesky(covs)
    X = means[y] + np.einsum("nij,nj->ni", factors[y], rng.standard_normal((n, d)))
    return answer(X, y, return_X_y, means=means, covs=covs)


def make_microarray(kind="factors", class_sizes=None, *, d=None, shift=None, random_state=None, return_X_y=False):
    """Stand-ins for gene-expression studies: few samples, thousands of correlated genes, few of them informative.

    Parameters
    ----------
    kind : {"factors", "blocks", "many-classes"}, default="factors"
        * "factors": 2,000 genes, 40 + 22 samples, noise Z B' + E with ten factors; 30 genes in groups of five with
          correlation 0.5 among them, shifted by 1.5 standard deviations (colon-like, Chapelle 2004: a linear support
          vector machine errs on 13 percent).
        * "blocks": 2,308 genes in 60 blocks with AR(1) correlation 0.7, 30 genes shifted by 1.5 (SRBCT-like,
          Bhattacharyya 2004), 30 + 30 samples.
        * "many-classes": 4,000 independent genes, 14 classes of 8 to 16 samples, 40 genes a class shifted by 1.0
          (Hastie et al. 2004).
    class_sizes : sequence of int, optional
        Samples a class.
    d : int, optional
        Number of genes.
    shift : float, optional
        Difference of the class means in an informative gene, in standard deviations, instead of the values above.
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> made = make_microarray("blocks", random_state=0)
    >>> made.data.shape, len(made.relevant)
    ((60, 2308), 30)
    """
    check_choice(kind, "kind", ("factors", "blocks", "many-classes"))
    rng = check_rng(random_state)
    default = {"factors": (40, 22), "blocks": (30, 30)}
    if class_sizes is None:
        class_sizes = default.get(kind) or rng.integers(8, 17, size=14)
    sizes = [check_size(s, "class_sizes") for s in class_sizes]
    if kind != "many-classes" and len(sizes) != 2:
        raise ValueError(f"{kind!r} has two classes, got {len(sizes)} class_sizes")
    d = {"factors": 2000, "blocks": 2308, "many-classes": 4000}[kind] if d is None else check_size(d, "d")
    informative = {"factors": 30, "blocks": 30, "many-classes": 40 * len(sizes)}[kind]
    if d < informative:
        raise ValueError(f"d must be at least {informative} for {kind!r}, got {d}")
    shift = (1.0 if kind == "many-classes" else 1.5) if shift is None else check_scalar(shift, "shift")
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((len(y), d))
    relevant = np.sort(rng.permutation(d)[:informative])
    if kind == "factors":
        X = (X + rng.standard_normal((len(y), 10)) @ rng.standard_normal((10, d)) / np.sqrt(10)) / np.sqrt(2)
        common = np.repeat(rng.standard_normal((len(y), 6)), 5, axis=1)
        X[:, relevant] = np.sqrt(0.5) * (common + rng.standard_normal((len(y), 30))) + shift * y[:, None]
    elif kind == "blocks":
        starts = np.unique(np.linspace(0, d, 61).astype(int)[:-1])
        for j in range(1, d):
            if j not in starts:
                X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(1 - 0.49) * X[:, j]
        X[:, relevant] += shift * y[:, None]
    else:
        owners = rng.permutation(np.repeat(np.arange(len(sizes)), 40))
        X[:, relevant] += shift * (owners == y[:, None])
        return answer(X, y, return_X_y, relevant=relevant, owner=owners)
    return answer(X, y, return_X_y, relevant=relevant)


def make_sparse_binary(n_samples=1900, *, d=20_000, positives=0.022, random_state=None, return_X_y=False):
    """Rare positives and sparse binary inputs, as in drug screening (thrombin, Fleuret 2004).

    Inputs are 1 with probability between 0.5 and 1 percent. Thirty inputs are informative: ten hidden markers, each
    present in 60 percent of the positives and in 2 percent of the negatives, and each seen in three inputs that
    copy it with 10 percent of the ones lost.

    Parameters
    ----------
    n_samples : int, default=1900
        Number of rows.
    d : int, default=20000
    positives : float, default=0.022
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        ``relevant`` (30 indices, three for each marker in turn), ``bayes_risk`` of a rule that sees the markers.

    Examples
    --------
    >>> made = make_sparse_binary(100, d=500, random_state=0)
    >>> made.data.shape, made.relevant.shape
    ((100, 500), (30,))
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    d = check_scalar(d, "d", low=30, integer=True)
    positives = check_scalar(positives, "positives", low=0, high=1)
    y = (rng.random(n) < positives).astype(int)
    X = rng.random((n, d), dtype=np.float32) < rng.uniform(0.005, 0.01, d).astype(np.float32)
    markers = rng.random((n, 10)) < np.where(y == 1, 0.6, 0.02)[:, None]
    places = rng.permutation(d)[:30]
    X[:, places] = np.repeat(markers, 3, axis=1) & (rng.random((n, 30)) < 0.9)
    count = np.arange(11)
    mass = [
        prior * special.comb(10, count) * p**count * (1 - p) ** (10 - count)
        for prior, p in ((1 - positives, 0.02), (positives, 0.6))
    ]
    return answer(X, y, return_X_y, relevant=places, bayes_risk=float(np.minimum(*mass).sum()))


def make_redundant_bits(
    n_samples=800, *, d=100_000, n_groups=10, copies=5, noise=0.1, random_state=None, return_X_y=False
):
    """Fair bits, a class that is the majority of a few of them, and noisy copies of those few (Yu and Liu 2004).

    `n_groups` hidden bits decide the class (majority, ties broken by the first); each is seen in `copies` inputs
    with a share `noise` of the entries flipped. All other inputs are independent fair bits.

    Parameters
    ----------
    n_samples : int, default=800
        Number of rows.
    d : int, default=100000
    n_groups : int, default=10
    copies : int, default=5
    noise : float, default=0.1
    random_state : None, int or Generator
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Returns
    -------
    Bunch
        ``relevant`` (n_groups * copies indices, group by group), ``groups`` (the group of each of them).

    Examples
    --------
    >>> make_redundant_bits(50, d=300, random_state=0).data.shape
    (50, 300)
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    k, copies = check_size(n_groups, "n_groups"), check_size(copies, "copies")
    d = check_scalar(d, "d", low=k * copies, integer=True)
    noise = check_scalar(noise, "noise", low=0, high=0.5)
    X = rng.integers(2, size=(n, d), dtype=np.int8).astype(bool)
    hidden = rng.integers(2, size=(n, k))
    y = (2 * hidden.sum(axis=1) + (2 * hidden[:, 0] - 1) * (k % 2 == 0) > k).astype(int)
    places = rng.permutation(d)[: k * copies]
    X[:, places] = np.repeat(hidden, copies, axis=1) ^ (rng.random((n, k * copies)) < noise)
    truth = {"relevant": places, "groups": np.repeat(np.arange(k), copies), "hidden": hidden}
    return answer(X, y, return_X_y, **truth)
