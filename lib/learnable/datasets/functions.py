"""Functions to optimise or to emulate, with their domains and known minima; draws of Gaussian processes; a queue."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import spatial
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_choice, check_finite_array, check_rng, check_scalar

__all__ = [
    "Objective",
    "gp_draw",
    "make_electrode_twin",
    "make_vaccine_twin",
    "mm1_waiting_times",
    "objective",
    "objectives",
]


@dataclass(frozen=True)
class Objective:
    """A function on a box: call it with points of shape (..., d)."""

    name: str
    formula: Callable
    low: tuple
    high: tuple
    minimum: float
    minimisers: tuple

    @property
    def d(self):
        return len(self.low)

    def __call__(self, x):
        x = check_finite_array(x, "x")
        if x.shape[-1:] != (self.d,):
            raise ValueError(f"x must have {self.d} columns, got shape {x.shape}")
        return self.formula(*np.moveaxis(x, -1, 0))

    def grid(self, n):
        """All points of a lattice with n points an axis, shape (n^d, d)."""
        axes = [np.linspace(a, b, check_size(n, "n", low=2)) for a, b in zip(self.low, self.high, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.d)

    def sample(self, n, random_state=None):
        """n uniform points of the box."""
        return check_rng(random_state).uniform(self.low, self.high, (check_size(n, "n"), self.d))


def _branin(x, y):
    return (y - 5.1 * x**2 / (4 * np.pi**2) + 5 * x / np.pi - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def _camel(x, y):
    return (4 - 2.1 * x**2 + x**4 / 3) * x**2 + x * y + (4 * y**2 - 4) * y**2


def _forrester(x):
    return (6 * x - 2) ** 2 * np.sin(12 * x - 4)


_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_A = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def _hartmann6(*x):
    x = np.stack(x, axis=-1)
    inner = (_A * (x[..., None, :] - _P) ** 2).sum(axis=-1)
    return -(_ALPHA * np.exp(-inner)).sum(axis=-1)


def _borehole(rw, r, tu, hu, tl, hl, length, kw):
    ratio = np.log(r / rw)
    return 2 * np.pi * tu * (hu - hl) / (ratio * (1 + 2 * length * tu / (ratio * rw**2 * kw) + tu / tl))


def _cosines(x, y):
    """Negated: the bandit literature maximises 1 - (u^2 + v^2 - 0.3 cos 3 pi u - 0.3 cos 3 pi v)."""
    u, v = 1.6 * x - 0.5, 1.6 * y - 0.5
    return -(1 - (u**2 + v**2 - 0.3 * np.cos(3 * np.pi * u) - 0.3 * np.cos(3 * np.pi * v)))


def _rosenbrock(x, y):
    """Negated: the bandit literature maximises 10 - 100 (y - x^2)^2 - (1 - x)^2."""
    return 100 * (y - x**2) ** 2 + (1 - x) ** 2 - 10


_FUNCTIONS = {
    "branin": Objective(
        "branin",
        _branin,
        (-5, 0),
        (10, 15),
        0.39788735772973816,
        ((-np.pi, 12.275), (np.pi, 2.275), (3 * np.pi, 2.475)),
    ),
    "camel": Objective(
        "camel",
        _camel,
        (-3, -2),
        (3, 2),
        -1.0316284534898774,
        ((0.08984201368301331, -0.7126564032704135), (-0.08984201368301331, 0.7126564032704135)),
    ),
    "forrester": Objective("forrester", _forrester, (0,), (1,), -6.020740055767083, ((0.757249,),)),
    "hartmann6": Objective(
        "hartmann6",
        _hartmann6,
        (0,) * 6,
        (1,) * 6,
        -3.3223680114155156,
        ((0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054),),
    ),
    "borehole": Objective(
        "borehole",
        _borehole,
        (0.05, 100, 63070, 990, 63.1, 700, 1120, 9855),
        (0.15, 50000, 115600, 1110, 116, 820, 1680, 12045),
        7.819676328755232,
        ((0.05, 50000, 63070, 990, 63.1, 820, 1680, 9855),),
    ),
    "cosines": Objective("cosines", _cosines, (0, 0), (1, 1), -1.6, ((0.3125, 0.3125),)),
    "rosenbrock": Objective("rosenbrock", _rosenbrock, (-1, -1), (1, 1), -10.0, ((1.0, 1.0),)),
}


def objectives():
    """Names of the functions.

    Examples
    --------
    >>> objectives()
    ['borehole', 'branin', 'camel', 'cosines', 'forrester', 'hartmann6', 'rosenbrock']
    """
    return sorted(_FUNCTIONS)


def objective(name):
    """An :class:`Objective` by name; all are to be minimised.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> branin = objective("branin")
    >>> round(float(branin(branin.minimisers[0])), 6)
    0.397887
    """
    check_choice(name, "name", tuple(objectives()))
    return _FUNCTIONS[name]


def gp_draw(points, *, kernel="rbf", length_scale=0.2, variance=1.0, n_draws=1, jitter=1e-8, random_state=None):
    """Draw functions from a Gaussian process prior at given points, by Cholesky.

    Parameters
    ----------
    points : array-like of shape (n, d)
    kernel : {"rbf", "matern52", "matern32"}, default="rbf"
        exp(-r^2 / 2), (1 + a + a^2 / 3) exp(-a) with a = sqrt(5) r, (1 + a) exp(-a) with a = sqrt(3) r, where r is the
        distance over `length_scale` (a number or one for each column).
    length_scale : float, default=0.2
    variance : float, default=1.0
    n_draws : int, default=1
    jitter : float, default=1e-08
    random_state : None, int or Generator

    Returns
    -------
    ndarray of shape (n_draws, n)

    Examples
    --------
    >>> gp_draw(np.linspace(0, 1, 5)[:, None], n_draws=2, random_state=0).shape
    (2, 5)
    """
    check_choice(kernel, "kernel", ("rbf", "matern52", "matern32"))
    points, rng = check_finite_array(points, "points", ndim=2), check_rng(random_state)
    scale = np.broadcast_to(check_finite_array(length_scale, "length_scale"), points.shape[1:])
    jitter = check_scalar(jitter, "jitter", low=0)
    if (scale <= 0).any():
        raise ValueError("length_scale must be positive")
    variance = check_scalar(variance, "variance", low=0, closed="neither")
    cov = variance * _correlation(points / scale, kernel)
    factor = np.linalg.cholesky(cov + jitter * variance * np.eye(len(points)))
    return rng.standard_normal((check_size(n_draws, "n_draws"), len(points))) @ factor.T


def _correlation(points, kernel):
    r = spatial.distance.cdist(points, points)
    if kernel == "rbf":
        return np.exp(-(r**2) / 2)
    a = np.sqrt(5 if kernel == "matern52" else 3) * r
    return (1 + a + (a**2 / 3 if kernel == "matern52" else 0)) * np.exp(-a)


def make_vaccine_twin(n_arms=3089, *, d=45, noise=1.1534, best=0.04, random_state=None):
    """Arms with features and a linear reward, clipped so that a share `best` of the arms is optimal (Desautels et al.).

    Parameters
    ----------
    n_arms : int, default=3089
    d : int, default=45
    noise : float, default=1.1534
    best : float, default=0.04
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (features), ``reward`` (true means), ``noise`` (variance of an observation).

    Examples
    --------
    >>> made = make_vaccine_twin(500, random_state=0)
    >>> int((made.reward == made.reward.max()).sum())
    20
    """
    n, d, rng = check_size(n_arms, "n_arms"), check_size(d, "d"), check_rng(random_state)
    best = check_scalar(best, "best", low=0, high=1, closed="right")
    X = rng.standard_normal((n, d))
    raw = X @ rng.standard_normal(d) / np.sqrt(d)
    keep = max(1, round(best * n))
    return Bunch(data=X, reward=np.minimum(raw, np.sort(raw)[n - keep]), noise=check_scalar(noise, "noise", low=0))


def make_electrode_twin(n_arms=116, *, noise=0.0463, random_state=None):
    """Pairs of electrodes of a 3 x 9 array with a smooth reward in 0..3 (Desautels et al. 2014, stand-in).

    `n_arms` of the ordered pairs are kept; the reward is a draw from the article's kernel with length scales 0.988,
    1.5337, 1.0051, 1.5868 on the coordinates of the two electrodes (rows 0..2, columns 0..8), rescaled to 0..3.

    Parameters
    ----------
    n_arms : int, default=116
    noise : float, default=0.0463
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_electrode_twin(random_state=0)
    >>> made.data.shape, float(made.reward.max())
    ((116, 4), 3.0)
    """
    rng, noise = check_rng(random_state), check_scalar(noise, "noise", low=0)
    places = np.array([(i, j) for i in range(3) for j in range(9)], dtype=np.float64)
    pairs = np.array([np.concatenate([a, b]) for k, a in enumerate(places) for m, b in enumerate(places) if k != m])
    n = check_scalar(n_arms, "n_arms", low=2, high=len(pairs), integer=True)
    X = pairs[np.sort(rng.permutation(len(pairs))[:n])]
    draw = gp_draw(X, length_scale=(0.988, 1.5337, 1.0051, 1.5868), variance=1.0384, random_state=rng)[0]
    return Bunch(data=X, reward=3 * (draw - draw.min()) / (draw.max() - draw.min()), noise=noise)


def mm1_waiting_times(utilisation, *, n_replications=10, run_length=1000, random_state=None):
    """Mean waiting times (in queue) of simulated M/M/1 queues with service rate one, started empty.

    Lindley's recursion W' = max(0, W + S - A). The stationary mean is rho / (1 - rho).

    Parameters
    ----------
    utilisation : float or array-like of shape (m,)
        Arrival rates rho in (0, 1).
    n_replications : int, default=10
    run_length : int, default=1000
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (m, n_replications) of run means, ``expected`` (m,).

    Examples
    --------
    >>> made = mm1_waiting_times([0.5, 0.8], random_state=0)
    >>> made.data.shape, made.expected.round(6).tolist()
    ((2, 10), [1.0, 4.0])
    """
    rho = np.atleast_1d(check_finite_array(utilisation, "utilisation"))
    if (rho <= 0).any() or (rho >= 1).any():
        raise ValueError("utilisation must lie in (0, 1)")
    reps, n = check_size(n_replications, "n_replications"), check_size(run_length, "run_length")
    rng = check_rng(random_state)
    wait, total = np.zeros((len(rho), reps)), np.zeros((len(rho), reps))
    for _ in range(n):
        total += wait
        service = rng.exponential(size=wait.shape)
        wait = np.maximum(0.0, wait + service - rng.exponential(1 / rho[:, None], size=wait.shape))
    return Bunch(data=total / n, expected=rho / (1 - rho), utilisation=rho)
