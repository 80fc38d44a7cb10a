"""Many small estimation problems at once: means of related groups."""

import numpy as np
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = ["make_mean_tasks", "make_star_ratings"]


def make_mean_tasks(n_tasks=25, *, variance=0.1, kind="gaussian", random_state=None):
    """Samples of T tasks with random means, variances and sizes (Feldman, Gupta and Frigyik 2014, Section 5).

    Gaussian: mu_t ~ N(0, variance), sigma_t^2 ~ Gamma(0.9) + 0.1, Y ~ N(mu_t, sigma_t^2). Uniform: mu_t uniform with
    the same variance, sigma_t^2 ~ U(0.1, 2), Y uniform around mu_t. N_t is uniform on 2..100 in both.

    Parameters
    ----------
    n_tasks : int, default=25
    variance : float, default=0.1
    kind : str, default="gaussian"
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data``: list of arrays; ``means``, ``variances`` (the truth), ``sizes``.

    Examples
    --------
    >>> made = make_mean_tasks(3, random_state=0)
    >>> [len(y) for y in made.data] == made.sizes.tolist()
    True
    """
    check_choice(kind, "kind", ("gaussian", "uniform"))
    t, rng = check_size(n_tasks, "n_tasks"), check_rng(random_state)
    variance = check_scalar(variance, "variance", low=0)
    sizes = rng.integers(2, 101, size=t)
    if kind == "gaussian":
        means, variances = np.sqrt(variance) * rng.standard_normal(t), rng.gamma(0.9, size=t) + 0.1
        noise = rng.standard_normal(sizes.sum())
    else:
        means, variances = np.sqrt(3 * variance) * rng.uniform(-1, 1, t), rng.uniform(0.1, 2, t)
        noise = rng.uniform(-np.sqrt(3), np.sqrt(3), sizes.sum())
    y = np.repeat(means, sizes) + np.repeat(np.sqrt(variances), sizes) * noise
    return Bunch(data=np.split(y, np.cumsum(sizes)[:-1]), means=means, variances=variances, sizes=sizes)


def make_star_ratings(n_products=150, *, mean_reviews=8.0, random_state=None):
    """Stars 1 to 5 of products with few reviews (stand-in for Amazon reviews).

    Quality q ~ Beta(6, 2); a review is 1 + Binomial(4, q') with its own q' ~ Beta(4 q, 4 (1 - q)); the number of
    reviews is 2 + geometric with the given mean.

    Parameters
    ----------
    n_products : int, default=150
    mean_reviews : float, default=8.0
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (list of arrays), ``means`` (true: 1 + 4 q), ``quality``, ``sizes``.

    Examples
    --------
    >>> made = make_star_ratings(20, random_state=0)
    >>> min(map(len, made.data)) >= 2
    True
    """
    t, rng = check_size(n_products, "n_products"), check_rng(random_state)
    mean_reviews = check_scalar(mean_reviews, "mean_reviews", low=3)
    q = rng.beta(6, 2, t)
    sizes = 1 + rng.geometric(1 / (mean_reviews - 1), t)
    own = np.repeat(q, sizes)
    stars = 1 + rng.binomial(4, rng.beta(4 * own + 1e-9, 4 * (1 - own) + 1e-9))
    return Bunch(data=np.split(stars, np.cumsum(sizes)[:-1]), means=1 + 4 * q, quality=q, sizes=sizes)
