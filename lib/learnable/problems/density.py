"""Problems given by class-conditional densities: posteriors in the log domain, risks by integration."""

from functools import cached_property

import numpy as np

from learnable.problems.base import Estimate, Problem
from learnable.problems.decisions import kink_label, zero_one_matrix
from learnable.problems.quadrature import (
    dense_nodes,
    find_changes,
    gauss_nodes,
    graded_mesh,
    integrate_grid,
    integrate_pieces,
)
from learnable.problems.tables import check_loss_matrix
from learnable.validation import check_finite_array, check_probability_vector, check_rng, check_scalar

__all__ = ["DensityProblem"]

_BATCH = 65_536
# How far a density may integrate from one before we say that its mass was missed.
_MASS_TOLERANCE = 1e-6


class DensityProblem(Problem):
    """A problem with priors pi_j and class-conditional densities f_j.

    The posterior p(j|x) = pi_j f_j(x) / sum_i pi_i f_i(x) is computed from log-densities, so it is right
    far out in the tails, where every density underflows. It and the Monte Carlo method hold for
    densities with respect to any common measure; ``"quad"`` and ``"grid"`` integrate over lengths and
    areas.

    Parameters
    ----------
    logpdfs : list of k callables
        Vectorised log-densities: x of shape (n,) (or (n, d) for ``dim=d``) -> shape (n,).
        -inf is allowed.
    priors : array-like of shape (k,)
    support : pair of floats, or array-like of shape (d, 2), optional
        Densities are taken to be 0 outside. By default everything.
    dim : int, default=1
        Dimension d of x.
    sampler : callable or list of k callables, optional
        ``sampler(n, rng)`` -> n draws of x from the mixture, or one such function for each class. A
        one-dimensional problem can be sampled without, by inverting its distribution function
        numerically (to 1e-6).
    points : array-like, optional
        For ``dim=1``: where the densities have peaks or jumps that a search could miss.
    box : array-like of shape (2, 2), optional
        For ``dim=2`` and an unbounded support: a rectangle that carries all but negligible mass.
    exact : callable, optional
        ``exact(L)`` -> the Bayes risk in closed form, or None for a loss without one.

    Notes
    -----
    Methods that compute expectations (`expect`, `risk`, `bayes_risk`, `reject_tradeoff`) take the
    options

    ``method`` : {"exact", "quad", "grid", "mc"}
        By default a closed form if there is one, else "quad" for d = 1, "grid" for d = 2 (if there is a
        box), "mc" for the rest.

        "quad" integrates adaptively between the points where the decision changes; the error aimed at
        is 1e-10 relative. "grid" is a tensor Gauss-Legendre rule whose panels are halved along the decision
        boundaries until the estimated error is `tol`. "mc" averages the
        conditional risk, not observed losses (Rao-Blackwell): the label's noise is integrated out, and
        what is left is given as a standard error.
    ``n_samples`` : int, default=100_000
        Draws for "mc"; they are made in batches, so memory does not grow with their number.
    ``random_state`` : None, int or numpy.random.Generator
        For "mc".
    ``tol`` : float, default=1e-7
        For "grid".
    ``points`` : array-like, default=()
        For "quad": known jumps of a classifier. Changes are looked for at several thousand points that
        follow the densities; what happens between two of them may go unseen.

    Examples
    --------
    >>> from scipy import stats
    >>> problem = DensityProblem.from_scipy([stats.norm(0, 1), stats.norm(2, 1)], [0.5, 0.5])
    >>> problem.posterior([1.0, 1000.0]).round(3)
    array([[0.5, 0.5],
           [0. , 1. ]])
    >>> round(float(problem.bayes_risk()), 8), round(float(stats.norm.cdf(-1)), 8)
    (0.15865525, 0.15865525)
    >>> risk = problem.bayes_risk(method="mc", n_samples=10_000, random_state=0)
    >>> bool(abs(risk - stats.norm.cdf(-1)) < 4 * risk.error)
    True
    """

    def __init__(self, logpdfs, priors, support=None, dim=1, *, sampler=None, points=(), box=None, exact=None):
        self.logpdfs = list(logpdfs)
        if not self.logpdfs or not all(callable(f) for f in self.logpdfs):
            raise ValueError("logpdfs must be a list of callables, one for each class")
        self.n_classes = len(self.logpdfs)
        self.priors = check_probability_vector(priors, "priors", size=self.n_classes)
        self.dim = check_scalar(dim, "dim", low=1, integer=True)
        self.support = _check_support(support, self.dim, "support")
        self.points = check_finite_array(points, "points", ndim=1)
        self.box = None if box is None else _check_support(box, self.dim, "box")
        if self.box is None and np.isfinite(self.support).all():
            self.box = self.support
        if self.box is not None and not np.isfinite(self.box).all():
            raise ValueError("box must be finite")
        if sampler is not None and not callable(sampler):
            sampler = list(sampler)
            if len(sampler) != self.n_classes or not all(callable(draw) for draw in sampler):
                raise ValueError(f"sampler must be a callable or a list of {self.n_classes} callables")
        self.sampler = sampler
        self.exact = exact

    @classmethod
    def from_pdfs(cls, pdfs, priors, support=None, dim=1, **options):
        """Make a problem from densities instead of log-densities.

        Only for densities that do not underflow where it matters.

        Examples
        --------
        >>> uniform = lambda a, b: lambda x: ((a <= x) & (x <= b)) / (b - a)
        >>> problem = DensityProblem.from_pdfs([uniform(0, 2), uniform(1, 3)], [0.5, 0.5])
        >>> round(float(problem.bayes_risk()), 12)
        0.25
        """

        def take_log(pdf):
            def logpdf(x):
                value = np.asarray(pdf(x), dtype=np.float64)
                if (value < 0).any():
                    raise ValueError("pdfs must be non-negative")
                with np.errstate(divide="ignore"):
                    return np.log(value)

            return logpdf

        return cls([take_log(pdf) for pdf in pdfs], priors, support, dim, **options)

    @classmethod
    def from_scipy(cls, distributions, priors, **options):
        """Make a one-dimensional problem from frozen continuous distributions of scipy.stats.

        Examples
        --------
        >>> from scipy import stats
        >>> problem = DensityProblem.from_scipy([stats.expon(), stats.gamma(3)], [0.5, 0.5])
        >>> problem.boundaries().round(6)
        array([1.414214])
        """
        ends = np.array([distribution.support() for distribution in distributions])
        options = {
            "support": (ends[:, 0].min(), ends[:, 1].max()),
            "points": np.concatenate([d.ppf([0.01, 0.25, 0.5, 0.75, 0.99]) for d in distributions]),
            "sampler": [
                lambda n, rng, d=distribution: d.rvs(size=n, random_state=rng) for distribution in distributions
            ],
            **options,
        }
        return cls([distribution.logpdf for distribution in distributions], priors, **options)

    @classmethod
    def from_posterior(cls, posterior, priors, logpdf, support=None, dim=1, **options):
        """Make a problem from the law of x and the posterior, f_j(x) = p(j|x) f(x) / pi_j.

        Parameters
        ----------
        posterior : callable
            x -> p(j|x) of shape (n, k).
        priors : array-like of shape (k,)
            pi_j = E p(j|X); needed in advance, and checked when the problem is integrated.
        logpdf : callable
            Log-density of x.
        support, dim, **options
            As for the class.

        Examples
        --------
        >>> eta = lambda x: np.column_stack([1 - x, x])
        >>> problem = DensityProblem.from_posterior(eta, [0.5, 0.5], np.zeros_like, support=(0, 1))
        >>> round(float(problem.bayes_risk()), 12)
        0.25
        """
        priors = check_probability_vector(priors, "priors")

        def conditional(j):
            def log_f(x):
                with np.errstate(divide="ignore"):
                    return np.log(posterior(x)[:, j]) + logpdf(x) - np.log(priors[j])

            return log_f

        return cls([conditional(j) for j in range(priors.size)], priors, support, dim, **options)

    def log_joint(self, x):
        """Return log pi_j f_j(x), shape (n, k)."""
        x = self._check_x(x)
        return self._log_joint(x).T

    def joint_density(self, x):
        """Return pi_j f_j(x), shape (n, k): the curves whose overlap is the Bayes risk."""
        return np.exp(self.log_joint(x))

    def pdf(self, x):
        """Return f(x) = sum_j pi_j f_j(x), the density of x."""
        return self.joint_density(x).sum(axis=1)

    def posterior(self, x):
        """Return p(j|x), one row per x.

        Parameters
        ----------
        x : array-like of shape (n,) or (n, d)
            Each point must have positive density in some class.

        Returns
        -------
        ndarray of shape (n, k)
        """
        x = self._check_x(x)
        post, log_f = self._posterior(x)
        if (log_f == -np.inf).any():
            where = int((log_f == -np.inf).argmax())
            raise ValueError(f"x has density 0 in every class at row {where}: {x[where]} has no posterior")
        return post

    def boundaries(self, L=None):
        """Return the points where the Bayes decision changes, for a one-dimensional problem.

        A change across a gap of density 0 is put at the end of the gap. Regions of probability below 1e-13
        do not count, and two decisions whose risks differ by less than 1e-14 are taken as equal.

        Parameters
        ----------
        L : array-like of shape (k, a), optional
            Loss; by default 0-1 loss.

        Returns
        -------
        ndarray
            Increasing.
        """
        loss = check_loss_matrix(L, self.n_classes)
        changes = self._changes(lambda x, post: kink_label(post, loss))
        starts = np.concatenate([self._mesh[:1], changes])
        ends = np.concatenate([changes, self._mesh[-1:]])
        post, log_f = self._posterior((starts + ends) / 2)
        x, weights = gauss_nodes(self._mesh)
        mass = np.bincount(np.searchsorted(changes, x), weights * np.exp(self._posterior(x)[1]), starts.size)
        live = np.maximum(mass, (ends - starts) * np.exp(log_f)) > 1e-13
        decision = kink_label(post[live], loss)
        return starts[live][1:][decision[1:] != decision[:-1]]

    def sample(self, n, random_state=None):
        """Draw n independent pairs.

        Parameters
        ----------
        n : int
        random_state : numpy.random.Generator or int, optional

        Returns
        -------
        x : ndarray of shape (n,) or (n, d)
        y : ndarray of int64 of shape (n,)
        """
        n = check_scalar(n, "n", low=0, integer=True)
        random_state = check_rng(random_state)
        if callable(self.sampler):
            x = self._draw(self.sampler, n, random_state)
            cumulated = np.cumsum(self.posterior(x), axis=1)[:, :-1]
            return x, (random_state.random(n)[:, None] >= cumulated).sum(axis=1)
        y = random_state.choice(self.n_classes, size=n, p=self.priors / self.priors.sum())
        x = np.empty(n if self.dim == 1 else (n, self.dim))
        for j, draw in enumerate(self._class_samplers):
            mine = np.flatnonzero(y == j)
            x[mine] = self._draw(draw, mine.size, random_state)
        return x, y

    def bayes_risk(self, L=None, **options):
        """Return R* = E min_i R(i|X); see the class for the options."""
        method = options.get("method")
        if self.exact is not None and method in (None, "exact"):
            value = self.exact(check_loss_matrix(L, self.n_classes))
            if value is not None:
                return Estimate(value)
        if method == "exact":
            raise ValueError("method='exact' is not available: no closed form is known for this loss")
        return super().bayes_risk(L, **options)

    def _check_x(self, x):
        x = np.asarray(x, dtype=np.float64)
        if x.ndim != min(self.dim, 2) or (self.dim > 1 and x.shape[1] != self.dim):
            wanted = "(n,)" if self.dim == 1 else f"(n, {self.dim})"
            raise ValueError(f"x must have shape {wanted}, got {x.shape}")
        if np.isnan(x).any():
            raise ValueError("x must not contain NaN")
        return x

    def _log_joint(self, x):
        """Return log pi_j f_j(x), shape (k, n): rows of classes reduce faster than columns."""
        inside = (x >= self.support[..., 0]) & (x <= self.support[..., 1])
        if self.dim > 1:
            inside = inside.all(axis=1)
        joint = np.full((self.n_classes, len(x)), -np.inf)
        whole = inside.all()
        for j in np.flatnonzero(self.priors):
            value = self._log_density(j, x if whole else x[inside])
            joint[j, slice(None) if whole else inside] = value + np.log(self.priors[j])
        return joint

    def _log_density(self, j, x):
        with np.errstate(over="ignore", divide="ignore"):
            value = np.asarray(self.logpdfs[j](x), dtype=np.float64)
        if value.shape != (len(x),):
            raise ValueError(f"logpdfs[{j}] must return shape ({len(x)},), got {value.shape}")
        if value.size and not value.max() < np.inf:  # NaN is not smaller either
            raise ValueError(f"logpdfs[{j}] returned NaN or +inf at x = {x[~(value < np.inf)][0]}")
        return value

    def _rough_log_density(self, j, x):
        """For the search of modes, which goes to places where an honest density may overflow to NaN."""
        with np.errstate(all="ignore"):
            value = np.asarray(self.logpdfs[j](x), dtype=np.float64)
            return np.where(value < np.inf, value, -np.inf)

    def _posterior(self, x):
        """Return the posterior, the priors standing in where the density is 0, and log f(x)."""
        joint = self._log_joint(x)
        top = joint.max(axis=0)
        dead = top == -np.inf
        joint -= np.where(dead, 0.0, top)
        np.exp(joint, out=joint)
        total = joint.sum(axis=0)
        if dead.any():
            joint[:, dead], total[dead] = self.priors[:, None], 1.0
        joint /= total
        return np.ascontiguousarray(joint.T), np.where(dead, -np.inf, top + np.log(total))

    def _expect(self, h, label, options):
        options = dict(options)
        method = options.pop("method", None)
        if method is None:
            method = {1: "quad", 2: "mc" if self.box is None else "grid"}.get(self.dim, "mc")
        allowed = {"quad": {"points"}, "grid": {"tol"}, "mc": {"n_samples", "random_state"}}
        if method not in allowed:
            raise ValueError(f"method must be 'quad', 'grid' or 'mc' (or 'exact' for bayes_risk), got {method!r}")
        if label is None:
            loss = zero_one_matrix(self.n_classes)

            def label(x, post):
                return kink_label(post, loss)

        if set(options) - allowed[method]:
            raise ValueError(f"method={method!r} takes {sorted(allowed[method])}, got {sorted(options)}")
        value, error = getattr(self, f"_expect_{method}")(h, label, **options)
        return value, error, method

    def _weighted(self, h):
        """Return x -> h(x, post) f(x), for integration."""

        def integrand(x):
            post, log_f = self._posterior(x)
            return h(x, post) * np.exp(log_f)[:, None]

        return integrand

    def _expect_quad(self, h, label, points=()):
        points = check_finite_array(points, "points", ndim=1)
        points = points[(points > self._mesh[0]) & (points < self._mesh[-1])]
        edges = np.unique(np.concatenate([self._mesh, points, self._changes(label)]))
        return integrate_pieces(self._weighted(h), edges)

    def _expect_grid(self, h, label, tol=1e-7):
        if self.dim != 2 or self.box is None:
            raise ValueError("method='grid' needs dim=2 and a finite support, or a `box` that carries the mass")
        tol = check_scalar(tol, "tol", low=0, closed="neither")
        value, error = integrate_grid(
            self._weighted(lambda x, post: np.column_stack([h(x, post), post])), self.box, atol=tol
        )
        self._check_mass(value[-self.n_classes :], "grid", max(_MASS_TOLERANCE, 10 * error[-self.n_classes :].max()))
        return value[: -self.n_classes], error[: -self.n_classes]

    def _expect_mc(self, h, label, n_samples=100_000, random_state=None):
        n_samples = check_scalar(n_samples, "n_samples", low=2, integer=True)
        random_state = check_rng(random_state)
        count, mean, square = 0, 0.0, 0.0
        while count < n_samples:
            size = min(_BATCH, n_samples - count)
            x = self._sample_x(size, random_state)
            value = h(x, self.posterior(x))
            batch_mean = value.mean(axis=0)
            # Merge means and sums of squares of deviations (Chan, Golub and LeVeque).
            shift = batch_mean - mean
            square = square + ((value - batch_mean) ** 2).sum(axis=0) + shift**2 * count * size / (count + size)
            mean = mean + shift * size / (count + size)
            count += size
        return mean, np.sqrt(square / (count - 1) / count)

    def _sample_x(self, n, rng):
        """Draw from the mixture; the order carries the classes, which averages do not mind."""
        if callable(self.sampler):
            return self._draw(self.sampler, n, rng)
        counts = rng.multinomial(n, self.priors / self.priors.sum())
        return np.concatenate(
            [self._draw(draw, size, rng) for draw, size in zip(self._class_samplers, counts, strict=True)]
        )

    def _draw(self, draw, n, rng):
        x = np.asarray(draw(n, rng), dtype=np.float64)
        wanted = (n,) if self.dim == 1 else (n, self.dim)
        if x.shape != wanted:
            raise ValueError(f"sampler must return shape {wanted}, got {x.shape}")
        return x

    @cached_property
    def _class_samplers(self):
        if self.sampler is not None:
            return self.sampler
        if self.dim != 1:
            raise ValueError("sampler must be given for a problem of more than one dimension")
        return [self._inversion(j) if self.priors[j] else lambda n, rng: np.empty(0) for j in range(self.n_classes)]

    def _inversion(self, j):
        """Return a sampler that inverts the distribution function on a fine mesh.

        Cells have their exact mass and a constant density, so the distribution function is off by less
        than the change of the density within a cell of 1/512 of a mesh piece.
        """
        part = np.linspace(0.0, 1.0, 513)[:-1]
        edges = np.append((self._mesh[:-1, None] + np.diff(self._mesh)[:, None] * part).ravel(), self._mesh[-1])
        nodes, weights = np.polynomial.legendre.leggauss(4)
        half = np.diff(edges) / 2
        x = (edges[:-1] + half)[:, None] + half[:, None] * nodes
        mass = half * (np.exp(self._log_density(j, x.ravel())).reshape(x.shape) @ weights)
        cumulated = np.concatenate([[0.0], np.cumsum(mass)])
        # Cells without mass would make the inverse ambiguous.
        keep = np.append(True, np.diff(cumulated) > 0)
        cumulated, right = cumulated[keep], edges[keep]
        left = np.concatenate([edges[:1], edges[:-1][keep[1:]]])

        def draw(n, rng):
            u = rng.random(n) * cumulated[-1]
            cell = np.minimum(np.searchsorted(cumulated, u, side="right"), cumulated.size - 1)
            share = (u - cumulated[cell - 1]) / (cumulated[cell] - cumulated[cell - 1])
            return left[cell] + share * (right[cell] - left[cell])

        return draw

    @cached_property
    def _mesh(self):
        if self.dim != 1:
            raise ValueError("method='quad' and boundaries() need a one-dimensional problem")
        used = np.flatnonzero(self.priors)
        rough = [lambda x, j=j: self._rough_log_density(j, x) for j in used]
        mesh = graded_mesh(rough, *self.support, self.points)
        mass, _ = integrate_pieces(lambda x: np.column_stack([np.exp(self._log_density(j, x)) for j in used]), mesh)
        self._check_mass(self.priors[used] * mass, "quad", _MASS_TOLERANCE, used)
        return mesh

    def _check_mass(self, joint_mass, method, tolerance, classes=None):
        classes = np.arange(self.n_classes) if classes is None else classes
        off = np.abs(joint_mass - self.priors[classes]) > tolerance
        if off.any():
            j = classes[off.argmax()]
            mass = joint_mass[off.argmax()] / self.priors[j]
            hint = "`points` near its peaks" if method == "quad" else "a larger `box`"
            raise ValueError(f"logpdfs[{j}] integrates to {mass:.6g}, not 1; normalise it, or pass {hint}")

    def _changes(self, label):
        def label_at(x):
            post, log_f = self._posterior(x)
            return np.where(log_f == -np.inf, -2, label(x, post))  # -2: no decision there

        return find_changes(label_at, dense_nodes(self._mesh))


def _check_support(support, dim, name):
    if support is None:
        support = np.tile([-np.inf, np.inf], (dim, 1))
    array = np.asarray(support, dtype=np.float64)
    array = array.reshape(1, 2) if array.shape == (2,) and dim == 1 else array
    if array.shape != (dim, 2) or not (array[:, 0] < array[:, 1]).all():
        raise ValueError(f"{name} must give low < high for each of the {dim} coordinate(s), got {support}")
    return array[0] if dim == 1 else array
