"""Entropy estimators against mpmath, brute-force sums, Monte Carlo, exact integrals and each other."""

import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from learnable import latent as ee
from learnable.chapters.entropy_estimation import theory
from learnable.chapters.entropy_estimation.theory import inverse_digamma, py_prior_moments
from learnable.datasets.counts import discrete_law, make_symbols
from learnable.latent import PYMEntropy as PYM
from learnable.latent import entropy as ee_entropy
from learnable.latent.entropy import counts as counts_module
from learnable.latent.entropy.counts import _plugin, check_alphabet, in_base, multiplicities
from learnable.latent.entropy.sampling import draw_entropy
from learnable.latent.entropy.special import digamma_from_one, trigamma


def entropy_jackknife(data, *, kind="counts", base=None):
    """N H - (N - 1) times the mean plug-in entropy with one sample left out. O(L)."""
    k, m = multiplicities(data, kind)
    N = float(k @ m)
    if N == 1:
        return 0.0
    total = m @ special.xlogy(k, k)
    left = np.log(N - 1) - (total - special.xlogy(k, k) + special.xlogy(k - 1, k - 1)) / (N - 1)
    return in_base(N * _plugin(k, m) - (N - 1) * ((m * k) @ left) / N, base)


def entropy_james_stein(data, alphabet_size=None, *, kind="counts", base=None):
    """Plug-in entropy of frequencies shrunk towards the uniform law (Hausser and Strimmer 2009)."""
    k, m = multiplicities(data, kind)
    A, N = check_alphabet(alphabet_size, int(m.sum())), float(k @ m)
    p, unseen = k / N, A - m.sum()
    spread = m @ (p - 1 / A) ** 2 + unseen / A**2
    shrink = 1.0 if N == 1 or spread == 0 else min(1.0, (1 - m @ p**2) / ((N - 1) * spread))
    mixed = shrink / A + (1 - shrink) * p
    return in_base(m @ special.entr(mixed) + unseen * special.entr(shrink / A), base)


def log_evidence_derivatives(data, d, alpha, *, kind="counts"):
    """Gradient and Hessian of the log-evidence in (d, alpha). O(K + L)."""
    k, m = multiplicities(data, kind)
    d, alpha = np.broadcast_arrays(np.asarray(d, float), np.asarray(alpha, float))
    n, N, j = k.astype(float), float(k @ m), np.arange(1, int(m.sum()))
    u = 1 / (alpha + j * d)
    first = m @ (special.digamma(n - d) - special.digamma(1 - d))
    second = m @ (trigamma(n - d) - trigamma(1 - d))
    later = special.digamma(alpha + N) - special.digamma(alpha + 1), trigamma(alpha + 1) - trigamma(alpha + N)
    gradient = np.array([j @ u - first, u.sum() - later[0]])
    mixed = -(j @ u**2)
    return gradient, np.array([[second - (j * u) @ (j * u), mixed], [mixed, later[1] - u @ u]])


def to_entropy_coordinates(d, alpha):
    """(h, gamma): the prior mean of H, psi(alpha + 1) - psi(1 - d), and the share of it that d contributes."""
    d, alpha = np.broadcast_arrays(np.asarray(d, float), np.asarray(alpha, float))
    a, b = digamma_from_one(alpha), -digamma_from_one(-d)
    h = a + b
    return h, np.divide(b, h, out=np.zeros_like(h), where=h > 0)


SMALL = [1, 2, 2, 4]
COUNTS = st.lists(st.integers(1, 30), min_size=1, max_size=12)


def draw_counts(rng, p, n):
    counts = rng.multinomial(n, p)
    return counts[counts > 0]


def test_jackknife_by_leaving_out_every_sample():
    counts = [5, 3, 2, 1, 1]
    left = [ee.entropy_plugin([c - (i == j) for j, c in enumerate(counts)]) for i in range(5) for _ in range(counts[i])]
    expected = 12 * ee.entropy_plugin(counts) - 11 * np.mean(left)
    assert entropy_jackknife(counts) == pytest.approx(expected, rel=1e-12)
    assert entropy_jackknife([1]) == 0


def test_james_stein_shrinks_to_uniform():
    counts, A = np.array([4, 2, 2, 1]), 10
    p = np.append(counts, np.zeros(6)) / 9
    lam = (1 - (p**2).sum()) / (8 * ((1 / A - p) ** 2).sum())
    assert 0 < lam < 1
    assert entropy_james_stein(counts, A) == pytest.approx(stats.entropy(lam / A + (1 - lam) * p), rel=1e-12)
    assert entropy_james_stein([1], 8) == pytest.approx(np.log(8))
    assert entropy_james_stein([3, 3]) == pytest.approx(np.log(2))


@pytest.mark.parametrize("name", ["miller_madow", "chao_shen", "zhang"])
def test_frequentist_estimators_agree_with_infomeasure(name):
    import infomeasure as im

    data = make_symbols(300, kind="zipf", k=100, exponent=1.0, random_state=0).data
    ours = getattr(counts_module, f"entropy_{name}")(data, kind="samples")
    assert ours == pytest.approx(float(im.entropy(data, approach=name, base="e")), rel=1e-10)


def test_erratum_ansb_has_a_minus_before_its_coincidences():
    # Mostly singletons from a Dirichlet process: ANSB is then the leading order of DPM.
    rng, law = np.random.default_rng(0), discrete_law("pitman-yor", concentration=30_000.0, random_state=0)
    counts = [draw_counts(rng, law, 1500) for _ in range(10)]
    for c in counts:
        coincidences = c.sum() - c.size
        assert abs(theory.entropy_ansb(c) - theory.entropy_dpm(c)[0]) < 0.1
        printed = theory.entropy_ansb(c) + 2 * special.digamma(coincidences)
        assert abs(printed - theory.entropy_dpm(c)[0]) > 2


@pytest.mark.parametrize("alpha", [1e-6, 0.5, 30.0, 1e6, 1e12, 1e18])
@pytest.mark.parametrize("d", [0.0, 1e-10, 0.2, 0.95])
def test_evidence_against_mpmath(alpha, d):
    counts = [40, 7, 3, 2, 1, 1]
    with mpmath.workdps(80):
        a, b, K, N = mpmath.mpf(alpha), mpmath.mpf(d), len(counts), sum(counts)
        exact = sum(mpmath.log(a + j * b) for j in range(1, K))
        exact += sum(mpmath.loggamma(n - b) - mpmath.loggamma(1 - b) for n in counts)
        exact += mpmath.loggamma(1 + a) - mpmath.loggamma(a + N)
    assert float(theory.log_evidence(counts, d, alpha)) == pytest.approx(float(exact), rel=1e-13, abs=1e-11)


@pytest.mark.parametrize("alpha", [0.5, 1e3, 1e12])
@pytest.mark.parametrize("d", [0.0, 0.3, 0.9])
def test_posterior_moments_against_mpmath(alpha, d):
    # The second moment by the paper's route, H = H(p, p_*) + p_* H', in 60 digits.
    counts = [5, 3, 2, 1, 1]
    with mpmath.workdps(60):
        al, dd = mpmath.mpf(alpha), mpmath.mpf(d)
        S, unseen = al + 12, al + 5 * dd
        a = [n - dd for n in counts]
        psi, psi1 = (lambda x: mpmath.psi(0, x)), (lambda x: mpmath.psi(1, x))
        full = [*a, unseen]
        second = mpmath.mpf(0)
        for i, j in itertools.product(range(6), repeat=2):
            x, y = full[i], full[j]
            if i != j:
                second += x * y / (S * (S + 1)) * ((psi(x + 1) - psi(S + 2)) * (psi(y + 1) - psi(S + 2)) - psi1(S + 2))
            else:
                second += x * (x + 1) / (S * (S + 1)) * ((psi(x + 2) - psi(S + 2)) ** 2 + psi1(x + 2) - psi1(S + 2))
        inner = psi(unseen + 1) - psi(1 - dd)
        inner_var = (
            (unseen + dd) / ((unseen + 1) ** 2 * (1 - dd)) + (1 - dd) / (unseen + 1) * psi1(2 - dd) - psi1(2 + unseen)
        )
        cross = psi(S + 2) - sum(x * psi(x + 1) for x in a) / (S + 1) - (unseen + 1) * psi(unseen + 2) / (S + 1)
        second += 2 * unseen / S * cross * inner + unseen * (unseen + 1) / (S * (S + 1)) * (inner_var + inner**2)
        mean = psi(S + 1) - unseen / S * psi(1 - dd) - sum(x * psi(x + 1) for x in a) / S
        var = second - mean**2
    got_mean, got_var = theory.py_posterior_moments(counts, d, alpha)
    assert float(got_mean) == pytest.approx(float(mean), rel=1e-13)
    assert float(got_var) == pytest.approx(float(var), rel=1e-9)


@given(COUNTS, st.floats(0, 0.99), st.floats(1e-3, 1e15))
@settings(deadline=None)
def test_variance_is_never_negative(counts, d, alpha):
    assert float(theory.py_posterior_moments(counts, d, alpha)[1]) > -1e-17
    assert float(py_prior_moments(d, alpha)[1]) > 0


@given(st.floats(-100, 100))
@settings(deadline=None)
def test_inverse_digamma(y):
    assert special.digamma(float(inverse_digamma(y))) == pytest.approx(y, rel=1e-10, abs=1e-12)


@given(st.floats(1e-8, 0.999), st.floats(1e-8, 1e10))
@settings(deadline=None)
def test_entropy_coordinates_go_there_and_back(d, alpha):
    h, gamma = to_entropy_coordinates(d, alpha)
    got_d, got_alpha = theory.from_entropy_coordinates(h, gamma)
    # The share of the smaller part in h is only known to rounding.
    slack = 1e-11 * (1 + float(h) / min(float(h * gamma), float(h * (1 - gamma))))
    assert float(got_d) == pytest.approx(d, rel=slack)
    assert float(got_alpha) == pytest.approx(alpha, rel=slack * (1 + float(h)))


def test_jacobian_of_the_entropy_coordinates():
    d, alpha, e = 0.3, 4.0, 1e-5
    columns = [
        (np.array(to_entropy_coordinates(d + e * i, alpha + e * j)) - to_entropy_coordinates(d - e * i, alpha - e * j))
        / (2 * e)
        for i, j in ((1, 0), (0, 1))
    ]
    determinant = abs(np.linalg.det(np.transpose(columns)))
    ratio = ee_entropy.log_prior(d, alpha) - ee_entropy.log_prior(d, alpha, prior_measure="d_alpha")
    assert float(np.exp(ratio)) == pytest.approx(determinant, rel=1e-8)


def test_dirichlet_moments_against_monte_carlo():
    rng = np.random.default_rng(0)
    a = np.array([5, 3, 2, 1, 1]) + 0.5
    mean, var = theory.dirichlet_entropy_moments(a)
    assert (mean, var) == pytest.approx((1.357241, 0.017550), abs=6e-7)
    draws = special.entr(rng.dirichlet(a, 20_000)).sum(axis=1)
    assert abs(draws.mean() - mean) < 4 * draws.std() / np.sqrt(20_000)
    assert draws.var() == pytest.approx(var, rel=0.05)


def test_dirichlet_moments_on_two_symbols_by_quadrature():
    beta = stats.beta(0.7, 2.3)
    h = lambda p: special.entr(p) + special.entr(1 - p)  # noqa: E731
    first, second = beta.expect(h), beta.expect(lambda p: h(p) ** 2)
    assert theory.dirichlet_entropy_moments([0.7, 2.3]) == pytest.approx((first, second - first**2), rel=1e-6)
    assert theory.dirichlet_entropy_moments([1.0, 1.0])[0] == pytest.approx(0.5, rel=1e-14)


def test_dirichlet_multiplicities_are_repetitions():
    a = np.repeat([0.2, 1.5, 3.0], [4, 2, 1])
    assert theory.dirichlet_entropy_moments([0.2, 1.5, 3.0], [4, 2, 1]) == pytest.approx(
        theory.dirichlet_entropy_moments(a), rel=1e-12
    )


@pytest.mark.parametrize("d, alpha", [(0.0, 3.0), (0.3, 4.0), (0.4, 0.0)])
def test_py_prior_moments_against_stick_breaking(d, alpha):
    rng = np.random.default_rng(1)
    draws = []
    for _ in range(1500):
        weights, left = theory.sample_py(d, alpha, tol=1e-4, max_sticks=20_000, random_state=rng)
        draws.append(special.entr(weights).sum() + special.entr(left))
    mean, var = py_prior_moments(d, alpha)
    # The mass that is left enters as one symbol: at most left * log(sticks) is lost.
    assert abs(np.mean(draws) - mean) < 4 * np.std(draws) / np.sqrt(1500) + (2e-3 if d else 0)
    # A sample variance of 1500 draws has a relative error of about sqrt((kurtosis - 1) / 1500) = 0.04; three of them
    assert np.var(draws) == pytest.approx(float(var), rel=0.14)


def test_py_posterior_moments_against_monte_carlo():
    rng, counts, d, alpha = np.random.default_rng(2), np.array([5, 3, 2, 1, 1]), 0.3, 4.0
    mean, var = theory.py_posterior_moments(counts, d, alpha)
    assert (float(mean), float(var)) == pytest.approx((2.43829, 0.111304), abs=6e-6)
    from learnable.latent.entropy.sampling import draw_entropy

    k, m = ee_entropy.multiplicities(counts)
    draws = draw_entropy(k, m, np.full(20_000, d), np.full(20_000, alpha), 300, rng)
    assert abs(draws.mean() - mean) < 4 * draws.std() / np.sqrt(20_000)
    assert draws.var() == pytest.approx(float(var), rel=0.05)


def test_erratum_unseen_part_of_the_posterior_has_the_grown_concentration():
    # With alpha in place of alpha + K d for the tail, the mean misses the Monte Carlo value by far.
    counts, d, alpha = np.array([5, 3, 2, 1, 1]), 0.3, 4.0
    right = float(theory.py_posterior_moments(counts, d, alpha)[0])
    share = (alpha + 5 * d) / (alpha + 12)
    wrong = right + share * float(py_prior_moments(d, alpha)[0] - py_prior_moments(d, alpha + 5 * d)[0])
    assert abs(wrong - right) > 0.05


def test_finite_dirichlet_tends_to_the_dirichlet_process():
    alpha, A = 5.0, 10**7
    counts = np.array([4, 2, 1])
    expected = theory.py_posterior_moments(counts, 0.0, alpha)
    got = theory.dirichlet_entropy_moments(np.append(counts + alpha / A, alpha / A), [1, 1, 1, A - 3])
    assert got == pytest.approx([float(x) for x in expected], rel=1e-5)


def test_size_biased_identities():
    rng, d, alpha = np.random.default_rng(3), 0.25, 2.0
    squares, pairs = [], []
    for _ in range(2000):
        w, _ = theory.sample_py(d, alpha, n_sticks=400, random_state=rng)
        squares.append((w**2).sum())
        pairs.append((w**2).sum() ** 2 - (w**4).sum())
    # f(x) = x^2: E[f(first) / first] = E[first] = (1 - d) / (1 + alpha)
    assert abs(np.mean(squares) - (1 - d) / (1 + alpha)) < 4 * np.std(squares) / np.sqrt(2000)
    # Pairs: E[first second (1 - first)], first ~ Beta(1 - d, alpha + d), second = (1 - first) Beta(1 - d, alpha + 2 d)
    first = stats.beta(1 - d, alpha + d)
    expected = first.expect(lambda x: x * (1 - x) ** 2) * (1 - d) / (1 + alpha + d)
    assert abs(np.mean(pairs) - expected) < 4 * np.std(pairs) / np.sqrt(2000)


def test_sticks_and_leftover_sum_to_one():
    weights, left = theory.sample_py(0.1, 50.0, random_state=0)
    assert left < 1e-3 and weights.sum() + left == pytest.approx(1)
    weights, left = theory.sample_py(0.5, 10.0, n_sticks=1234, random_state=0)
    assert weights.size == 1234 and weights.sum() + left == pytest.approx(1)


@given(COUNTS, st.floats(0, 0.95), st.floats(1e-3, 1e6))
@settings(deadline=None)
def test_conditional_mean_increases_in_alpha(counts, d, alpha):
    mean = theory.py_posterior_moments(counts, d, [alpha, 1.1 * alpha])[0]
    assert mean[1] >= mean[0] - 1e-12


def test_fixed_prior_is_narrow():
    sd = np.sqrt(py_prior_moments(0.1, 10.0 ** np.arange(6))[1])
    assert (np.diff(sd) < 0).all() and sd[-1] < 0.01


@given(COUNTS, st.floats(0.01, 0.9), st.floats(0.1, 100))
@settings(max_examples=40, deadline=None)
def test_gradient_and_hessian_by_differences(counts, d, alpha):
    gradient, hessian = log_evidence_derivatives(counts, d, alpha)
    e = np.array([1e-5 * min(d, 1 - d), 1e-5 * alpha])
    for i, (x, y) in enumerate(((1, 0), (0, 1))):
        up, down = ((d + s * x * e[0], alpha + s * y * e[1]) for s in (1, -1))
        slope = (theory.log_evidence(counts, *up) - theory.log_evidence(counts, *down)) / (2 * e[i])
        assert gradient[i] == pytest.approx(float(slope), rel=1e-4, abs=1e-4 * (1 + np.abs(gradient).max()))
        rows = [log_evidence_derivatives(counts, *z)[0] for z in (up, down)]
        np.testing.assert_allclose(
            hessian[i], (rows[0] - rows[1]) / (2 * e[i]), rtol=1e-4, atol=1e-6 * (1 + np.abs(hessian).max())
        )


def test_evidence_is_the_probability_of_a_partition():
    # All partitions of 4 samples into symbols: their probabilities sum to one.
    total, d, alpha = 0.0, 0.4, 1.7
    for labels in itertools.product(range(4), repeat=4):
        first = list(dict.fromkeys(labels))
        if first == list(range(len(first))):
            total += float(np.exp(theory.log_evidence(np.bincount(labels), d, alpha)))
    assert total == pytest.approx(1, rel=1e-12)


def test_theorem_8_evidence_is_unimodal_in_d():
    rng, d = np.random.default_rng(4), np.linspace(0.001, 0.999, 200)
    for _ in range(50):
        counts = rng.geometric(rng.uniform(0.1, 0.9), size=rng.integers(2, 30))
        sign = np.sign(np.diff(theory.log_evidence(counts, d, rng.uniform(0.01, 50))))
        assert np.count_nonzero(np.diff(sign[sign != 0])) <= 1


def test_theorem_9_evidence_is_unimodal_in_alpha():
    rng, alpha = np.random.default_rng(5), np.geomspace(1e-3, 1e5, 200)
    for _ in range(50):
        counts = rng.geometric(rng.uniform(0.1, 0.9), size=rng.integers(2, 30))
        sign = np.sign(np.diff(theory.log_evidence(counts, rng.uniform(0, 0.9), alpha)))
        assert np.count_nonzero(np.diff(sign[sign != 0])) <= 1


@pytest.mark.parametrize("counts, A", [(SMALL, 10), ([1, 1, 1], 5), ([30, 4, 1], 3), ([6], 4)])
def test_nsb_by_an_independent_quadrature(counts, A):
    n = np.append(counts, np.zeros(A - len(counts)))

    def weight(s):
        a = np.exp(s)
        log = (
            special.gammaln(A * a)
            - A * special.gammaln(a)
            - special.gammaln(n.sum() + A * a)
            + special.gammaln(n + a).sum()
        )
        return np.exp(log) * (A * special.polygamma(1, A * a + 1) - special.polygamma(1, a + 1)) * a

    def moment(f):
        return integrate.quad(
            lambda s: weight(s) * f(*theory.dirichlet_entropy_moments(n + np.exp(s))),
            -40,
            14,
            limit=400,
            points=[-5, 0, 5],
        )[0]

    Z = moment(lambda mean, var: 1.0)
    mean = moment(lambda mean, var: mean) / Z
    sd = np.sqrt(moment(lambda mean, var: var + mean**2) / Z - mean**2)
    assert ee.entropy_nsb(counts, A) == pytest.approx((mean, sd), rel=2e-5)


def test_nsb_of_a_large_alphabet_is_dpm():
    for counts in (SMALL, [10, 5, 3, 1, 1, 1]):
        assert ee.entropy_nsb(counts, 10**5) == pytest.approx(theory.entropy_dpm(counts), abs=1e-3)
    assert ee.entropy_nsb([3], 1) == (0.0, 0.0)


def test_dpm_and_pym_reference_values():
    assert theory.entropy_dpm(SMALL) == pytest.approx((1.7863, 0.4625), abs=5e-5)
    assert ee.entropy_pym(SMALL) == pytest.approx((1.8146, 0.4846), abs=5e-5)
    assert ee.entropy_pym(SMALL, prior_measure="d_alpha")[0] == pytest.approx(2.2440, abs=5e-5)


def test_pym_by_an_independent_quadrature():
    # Over (a, b) = (h (1 - gamma), h gamma) instead, on a fixed fine grid.
    x, w = np.polynomial.legendre.leggauss(160)
    a, wa = 9.0 * (x + 1), 9.0 * w
    a, wa = a**2 / 18, wa * a / 9
    b, wb = 3.0 * (x + 1), 3.0 * w
    b, wb = b**2 / 6, wb * b / 3
    h, gamma = a[:, None] + b, b / (a[:, None] + b)
    d, alpha = theory.from_entropy_coordinates(h, gamma)
    log = theory.log_evidence(SMALL, d, alpha) - 10 / (1 - gamma) - np.log(h)
    weight = np.exp(log - log.max()) * wa[:, None] * wb
    weight /= weight.sum()
    mean, var = theory.py_posterior_moments(SMALL, d, alpha)
    centre = (weight * mean).sum()
    sd = np.sqrt((weight * (var + (mean - centre) ** 2)).sum())
    assert ee.entropy_pym(SMALL) == pytest.approx((centre, sd), abs=2e-6)


def test_uniform_q_is_strength_zero_and_a_huge_strength_is_dpm():
    counts = [9, 5, 2, 2, 1, 1, 1]
    assert ee.entropy_pym(counts, strength=0) == pytest.approx(ee.entropy_pym(counts, q="uniform"), rel=1e-9)
    assert ee.entropy_pym(counts, strength=1e5) == pytest.approx(theory.entropy_dpm(counts), rel=1e-3)


def test_erratum_variance_needs_the_spread_of_the_conditional_means():
    model = ee.PYMEntropy().fit(SMALL)
    var = theory.py_posterior_moments(SMALL, model.d_, model.alpha_)[1]
    only = float(model.weights_ @ var)
    assert model.std_**2 == pytest.approx(0.235, abs=0.001) and only < 0.5 * model.std_**2


def test_no_coincidence_is_infinite():
    for function in (ee.entropy_pym, theory.entropy_dpm):
        with pytest.warns(UserWarning, match="seen twice"):
            assert function([1, 1, 1]) == (np.inf, np.inf)
    for function in (theory.entropy_ansb, ee.entropy_chao_shen):
        with pytest.warns(UserWarning, match="seen twice"):
            assert function([1, 1]) == np.inf
    with pytest.warns(UserWarning):
        model = ee.PYMEntropy().fit([1])
    assert model.credible_interval() == (0.0, np.inf)
    with pytest.raises(ValueError, match="improper"):
        model.sample_entropy(3)


def py_mean_up_to(counts, cut):
    """Posterior mean of H for q="py" over d < 1 - cut, by the trapezoidal rule in log(1 - d) and public functions."""
    v = np.linspace(0.0, -np.log(cut), 20_001)
    d = -np.expm1(-v)
    density = np.exp(theory.log_evidence(counts, d, 0.0 * d)) * special.zeta(2.0, 1 - d) * (1 - d)
    means = theory.py_posterior_moments(counts, d, 0.0 * d)[0]
    return np.trapezoid(density * means, v) / np.trapezoid(density, v)


def test_the_mean_on_the_line_of_heavy_tails_needs_three_symbols_seen_twice():
    """The density falls like (1 - d)^(r - 2) and the conditional mean grows like 1 / (1 - d)."""
    for counts in ([3, 2, 1], [5, 3, 1, 1], [2, 2]):
        cut = [py_mean_up_to(counts, 10.0**-power) for power in (4, 8, 12)]
        assert cut[2] - cut[1] > 0.8 * (cut[1] - cut[0]) > 0.5  # grows with the logarithm of the cut
        with pytest.warns(UserWarning, match="tails"):
            assert ee.entropy_pym(counts, q="py") == (np.inf, np.inf)
    for counts in ([3, 2, 2, 1], [5, 3, 2]):
        mean, sd = ee.entropy_pym(counts, q="py")
        assert mean == pytest.approx(py_mean_up_to(counts, 1e-12), rel=1e-5) and sd == np.inf
        assert PYM("py").fit(counts).credible_interval() == (0.0, np.inf)
    mean, sd = ee.entropy_pym([3, 2, 2, 2], q="py")
    assert mean == pytest.approx(py_mean_up_to([3, 2, 2, 2], 1e-12), rel=1e-5) and 0 < sd < np.inf
    assert np.isfinite(ee.entropy_pym([3, 2, 1], q="py", prior_measure="d_alpha")).all()


def test_draws_have_the_conditional_moments_however_few_the_sticks():
    """What the sticks leave enters in the mean, with the concentration that the seen symbols have added."""
    k, m, size = np.array([1, 2, 5]), np.array([3, 2, 1]), 10_000
    for d, alpha in ((0.4, 3.0), (0.0, 8.0)):
        mean, var = theory.py_posterior_moments((k, m), d, alpha, kind="multiplicities")
        for n_sticks in (1, 4, 60):
            draws = draw_entropy(k, m, np.full(size, d), np.full(size, alpha), n_sticks, np.random.default_rng(1))
            assert draws.mean() == pytest.approx(float(mean), abs=4 * float(np.sqrt(var / size)))
        assert draws.std() == pytest.approx(float(np.sqrt(var)), rel=0.06)


def test_the_mode_is_a_maximum_in_alpha():
    model = PYM().fit(SMALL)
    best = model.log_posterior(*model.map_)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert model.log_posterior(model.map_[0], factor * model.map_[1]) < best


def test_many_samples_and_huge_concentrations():
    big = (np.array([1, 2]), np.array([200_000, 3]))  # three coincidences: alpha near N^2 / 6
    model = ee.PYMEntropy(q="dpm").fit(big, kind="multiplicities")
    assert model.map_[1] > 1e9 and np.log(200_006**2 / 6) - 1 < model.entropy_ < np.log(200_006**2 / 6) + 2
    assert np.isfinite(ee.entropy_pym(big, kind="multiplicities")).all()
    assert np.isfinite(theory.py_posterior_moments(SMALL, 0.1, 1e300)).all()


def test_prior_on_entropy_is_flat_in_the_middle():
    # h ~ U[0, 3], gamma from q by rejection; the histogram over [0.5, 2.5] is level.
    rng = np.random.default_rng(7)
    gamma = rng.uniform(size=200_000)
    gamma = gamma[rng.uniform(size=gamma.size) < np.exp(-10 / (1 - gamma) + 10)][:4000]
    h = rng.uniform(0, 3, size=gamma.size)
    d, alpha = theory.from_entropy_coordinates(h, gamma)
    draws = np.empty(gamma.size)
    for i in range(gamma.size):
        w, left = theory.sample_py(float(d[i]), float(alpha[i]), n_sticks=200, random_state=rng)
        draws[i] = special.entr(w).sum() + special.entr(left)
    counts = np.histogram(draws, bins=4, range=(0.5, 2.5))[0]
    assert counts.max() / counts.min() < 1.35  # a single PY(0, 1) would put over half of its draws in one bin


def test_posterior_draws_have_the_moments():
    draws = ee.PYMEntropy().fit(SMALL).sample_entropy(20_000, n_sticks=200, random_state=1)
    mean, sd = ee.entropy_pym(SMALL)
    assert abs(draws.mean() - mean) < 4 * sd / np.sqrt(20_000) and draws.std() == pytest.approx(sd, rel=0.05)
    assert draws.min() > 0


def test_headline_pym_is_nearly_unbiased_on_its_own_laws_and_high_on_uniform():
    # Ten repeats; the tolerance is three standard errors of a mean whose sd is about 0.15.
    rng, rows = np.random.default_rng(9), {}
    cases = {
        "uniform": (discrete_law("uniform", 1000), 300),
        "py": (discrete_law("pitman-yor", discount=0.4, concentration=100.0, random_state=0), 300),
    }
    for name, (p, n) in cases.items():
        sets = [draw_counts(rng, p, n) for _ in range(10)]
        truth = special.entr(p).sum()
        rows[name] = {
            f.__name__: np.mean([np.ravel(f(c))[0] for c in sets]) - truth
            for f in (ee.entropy_plugin, ee.entropy_chao_shen, theory.entropy_dpm, ee.entropy_pym)
        }
    assert rows["py"]["entropy_plugin"] < -0.8 and abs(rows["py"]["entropy_pym"]) < 0.15
    assert (
        rows["uniform"]["entropy_pym"]
        > rows["uniform"]["entropy_dpm"]
        > 0.4
        > abs(rows["uniform"]["entropy_chao_shen"])
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: ee.entropy_plugin([1, 2], base=1), "base"),
        (lambda: ee.entropy_plugin([1, 2], base=-2), "base"),
        (lambda: ee.entropy_plugin([1, 2], base=0.5), "base"),
        (lambda: ee.entropy_pym([2, 2], base=0.5), "base"),
        (lambda: ee.entropy_nsb([1, 2], 1), "alphabet_size"),
        (lambda: ee.entropy_nsb([1, 2], None), "alphabet_size"),
        (lambda: entropy_james_stein([1, 2], 1), "alphabet_size"),
        (lambda: theory.sample_py(0.2, -1.0), "concentration"),
        (lambda: theory.sample_py(0.2, 1.0, n_sticks=0), "n_sticks"),
        (lambda: ee.PYMEntropy(q="flat").fit(SMALL), "q must"),
        (lambda: ee.PYMEntropy(strength=-1).fit(SMALL), "strength"),
        (lambda: ee.PYMEntropy(grid=5).fit(SMALL), "grid"),
        (lambda: ee.PYMEntropy(grid=(2, 5)).fit(SMALL), "grid"),
        (lambda: ee.PYMEntropy(method="exact").fit(SMALL), "method"),
        (lambda: ee.PYMEntropy(prior_measure="flat").fit(SMALL), "prior_measure"),
        (lambda: ee.PYMEntropy(alpha_max=0).fit(SMALL), "alpha_max"),
        (lambda: ee.PYMEntropy().fit(SMALL).credible_interval(1.0), "level"),
        (lambda: ee.PYMEntropy().fit(SMALL).credible_interval(0.9, method="x"), "method"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
