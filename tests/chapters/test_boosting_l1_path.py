"""Claims of Rosset, Zhu and Hastie (2004): small steps, l1 paths, maximum margins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from learnable import ensembles as bl_ensembles
from learnable.chapters.boosting_l1_path import experiments
from learnable.chapters.boosting_l1_path import theory as bl
from learnable.chapters.boosting_l1_path.theory import sparsify
from learnable.ensembles import boosting_path
from learnable.ensembles.boosting_path.stepping import _EXPONENTIAL, _SQUARED, _describe, _snapshots, read_problem
from learnable.ensembles.gradient import line_search
from learnable.ensembles.losses import get_surrogate
from learnable.ensembles.margins import margin


def line_search_boost(H, y, loss="exponential", *, n_steps=100, record=None):
    r"""The same choice of coordinate, with the step that minimises the loss along it."""
    H, y, code, surrogate = read_problem(H, y, loss)
    shots = _snapshots(record, n_steps)
    beta, travelled = np.zeros(H.shape[1]), 0.0
    kept, coefs, lengths, chosen = [], [], [], []
    Z = H if code == _SQUARED else y[:, None] * H
    signs = bool(np.all(np.abs(H) == 1.0))
    m = np.zeros(y.size)
    for t in range(n_steps + 1):
        if t in shots:
            kept.append(t)
            coefs.append(beta.copy())
            lengths.append(travelled)
        if t == n_steps:
            break
        if code == _SQUARED:
            r = y - H @ beta
            c = r @ H
            j = int(np.argmax(np.abs(c)))
            step = c[j] / float(H[:, j] @ H[:, j])
        else:
            shifted = m - m.min() if surrogate.scale_free else m
            w = -surrogate.derivative(shifted)
            c = w @ Z
            j = int(np.argmax(np.abs(c)))
            side = 1.0 if c[j] >= 0.0 else -1.0
            if code == _EXPONENTIAL and signs:
                right = w[side * Z[:, j] > 0].sum()
                wrong = w[side * Z[:, j] < 0].sum()
                step = side * 0.5 * np.log(right / wrong) if wrong > 0.0 else side * np.inf
            else:
                step = side * line_search(surrogate, m, side * Z[:, j])
        if not np.isfinite(step):
            break
        beta[j] += step
        travelled += abs(step)
        m = Z @ beta
        chosen.append(j)
    return _describe(
        H, y, code, surrogate, np.array(kept), np.array(coefs), np.array(chosen, dtype=np.int32), np.array(lengths)
    )


def mixture(seed):
    rng = np.random.default_rng(seed)
    plus, minus = np.array([[-1, -1], [1, 1], [0, 0.1]]), np.array([[-1, 1], [1, -1], [0.9, 0]])
    A = plus[rng.integers(3, size=50)] + 0.22 * rng.normal(size=(50, 2))
    B = minus[rng.integers(3, size=50)] + 0.22 * rng.normal(size=(50, 2))
    return np.vstack([A, B]), np.repeat([1.0, -1.0], 50)


def separable(seed, n=25, J=6):
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n, J))
    y = np.where(H @ rng.normal(size=J) >= 0, 1.0, -1.0)
    return H, y


def lexicographic_margins(Z, *, tol=1e-9):
    """Among the l1 maximum-margin separators, the one whose second smallest margin is largest, and so on."""
    rows = np.asarray(Z, float)
    n, J = rows.shape
    # The tolerances below belong to entries of size one.
    Z = rows / (float(np.abs(rows).max()) or 1.0)
    fixed = np.full(n, np.nan)
    beta = np.zeros(J)
    while np.isnan(fixed).any():
        open_rows = np.flatnonzero(np.isnan(fixed))
        beta, level = _raise(Z, fixed, open_rows)
        stuck = []
        for i in open_rows:
            if Z[i] @ beta > level + 1e-7 * max(1.0, abs(level)):
                continue
            if _highest(Z, fixed, open_rows, level, i) <= level + max(tol, 1e-8 * abs(level)) * 10.0:
                stuck.append(i)
        if not stuck:
            stuck = [int(open_rows[np.argmin((Z @ beta)[open_rows])])]
        fixed[stuck] = level
    return beta, rows @ beta


def _program(Z, fixed, rows, level=None):
    J = Z.shape[1]
    held = np.flatnonzero(~np.isnan(fixed))
    extra = 0 if level is not None else 1
    A = [np.hstack([-Z[rows], Z[rows], np.ones((len(rows), extra))])]
    b = [np.zeros(len(rows)) if level is None else np.full(len(rows), -level)]
    if held.size:
        A.append(np.hstack([-Z[held], Z[held], np.zeros((held.size, extra))]))
        b.append(-fixed[held] + 1e-11)
    equal = np.ones((1, 2 * J + extra))
    if extra:
        equal[0, -1] = 0.0
    bounds = [(0, None)] * (2 * J) + [(None, None)] * extra
    return np.vstack(A), np.concatenate(b), equal, bounds


def _raise(Z, fixed, rows):
    A, b, equal, bounds = _program(Z, fixed, rows)
    cost = np.zeros(A.shape[1])
    cost[-1] = -1.0
    answer = linprog(cost, A_ub=A, b_ub=b, A_eq=equal, b_eq=[1.0], bounds=bounds, method="highs-ds")
    J = Z.shape[1]
    return answer.x[:J] - answer.x[J : 2 * J], float(answer.x[-1])


def _highest(Z, fixed, rows, level, i):
    A, b, equal, bounds = _program(Z, fixed, rows, level - 1e-11)
    cost = np.concatenate([-Z[i], Z[i]])
    answer = linprog(cost, A_ub=A, b_ub=b, A_eq=equal, b_eq=[1.0], bounds=bounds, method="highs-ds")
    return float(-answer.fun) if answer.status == 0 else level


def test_claim_01_the_two_losses_bracket_each_other():
    m = np.linspace(0.0, 60.0, 601)
    exponential, logistic = get_surrogate("exponential")(m), get_surrogate("logistic")(m)
    assert np.all(0.5 * exponential <= logistic) and np.all(logistic <= exponential * (1 + 1e-14))


@pytest.mark.parametrize("p", [0.1, 0.35, 0.5, 0.8])
def test_claim_02_population_minimisers(p):
    """What repeated labels make of one function: half the log-odds, and the log-odds."""
    n = 1000
    y = np.where(np.arange(n) < round(p * n), 1.0, -1.0)
    H = np.ones((n, 1))
    for loss, factor in (("exponential", 0.5), ("logistic", 1.0)):
        end = line_search_boost(H, y, loss, n_steps=3).coefs[-1, 0]
        assert end == pytest.approx(factor * np.log(p / (1 - p)), abs=1e-8)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("p", [1, 2])
def test_claim_05_scaled_minimisers_tend_to_the_maximum_margin(loss, p):
    H, y = separable(3)
    Z = y[:, None] * H
    best = bl_ensembles.max_l1_margin(Z) if p == 1 else bl.max_l2_margin(Z)
    gaps = []
    for c in (20.0, 200.0, 2000.0):
        beta = bl.separable_limit(H, y, loss, c=c / best.margin, p=p)
        assert np.linalg.norm(beta, p) == pytest.approx(1.0, abs=1e-9)
        gaps.append(1.0 - margin(Z, beta, p) / best.margin)
    assert gaps[0] > gaps[1] > gaps[2] > -1e-9 and gaps[2] < 2e-3


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_claim_06_beyond_the_threshold_the_larger_margin_wins(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    Z = rng.normal(size=(n, 4))
    b1, b2 = rng.normal(size=(2, 4))
    b1, b2 = b1 / np.abs(b1).sum(), b2 / np.abs(b2).sum()
    m1, m2 = margin(Z, b1), margin(Z, b2)
    if m1 < m2:
        b1, b2, m1, m2 = b2, b1, m2, m1
    # The lemma is about separators: shift so that both margins are positive (a constant function in the dictionary).
    shift = abs(m2) + 0.1
    d = bl.lemma4_threshold(n, m1, m2) * (1 + 1e-9)
    v1, v2 = d * (Z @ b1 + shift), d * (Z @ b2 + shift)
    assert np.logaddexp.reduce(-v1) < np.logaddexp.reduce(-v2)
    low1, low2 = v1.min(), v2.min()
    if low2 < 300:
        assert np.sum(np.log1p(np.exp(-v1))) < np.sum(np.log1p(np.exp(-v2)))
    assert low1 > low2


def test_claim_06_threshold_needs_its_logarithms():
    """One row at the large margin against n - 1 rows far above: below the threshold the order can be the other way."""
    n = 50
    v1, v2 = np.full(n, 0.5), np.concatenate([[0.45], np.full(n - 1, 5.0)])
    d = bl.lemma4_threshold(n, 0.5, 0.45)
    assert np.exp(-d * v1).sum() < np.exp(-d * v2).sum()
    assert np.exp(-0.3 * d * v1).sum() > np.exp(-0.3 * d * v2).sum()


@pytest.mark.parametrize("loss", ["squared", "logistic", "exponential"])
def test_claim_07_boosting_starts_in_the_direction_of_the_path(loss):
    rng = np.random.default_rng(5)
    H = rng.normal(size=(60, 4)) + 0.3
    y = np.where(H @ [1.0, 0.8, 0.5, 0.1] + 1.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    c = 0.3
    start = bl_ensembles.l1_constrained_path(H, y, loss, [c], tol=1e-12).coefs[0]
    assert np.count_nonzero(start) >= 2
    want = bl.path_direction(H, y, loss, start)
    h = 1e-5 * c
    ahead = bl_ensembles.l1_constrained_path(H, y, loss, [c + h], tol=1e-12).coefs[0]
    assert (ahead - start) / h == pytest.approx(want, abs=1e-3)
    gaps = []
    for eps, steps in ((1e-4, 200), (1e-6, 2000)):
        run = boosting_path.eps_boost(H, y, loss, eps=eps, n_steps=steps, record=np.array([steps]), start=start)
        gaps.append(np.abs((run.coefs[-1] - start) / (eps * steps) - want).max())
    assert gaps[1] < gaps[0] + 1e-3 and gaps[1] < 0.02


def test_claim_08_solutions_are_sparse():
    rng = np.random.default_rng(0)
    H = rng.normal(size=(20, 200))
    y = np.where(rng.random(20) < 0.5, 1.0, -1.0)
    best = bl_ensembles.max_l1_margin(y[:, None] * H)
    assert np.count_nonzero(np.abs(best.beta) > 1e-9) <= 20
    path = bl_ensembles.l1_constrained_path(H, y, "logistic", [1.0, 10.0, 50.0])
    assert np.all((np.abs(path.coefs) > 1e-9).sum(axis=1) <= 20) and path.violations.max() < 1e-7
    # A dense optimum: every column twice, the weight split at random.
    double = np.hstack([H, H])
    share = rng.random(200)
    beta = np.concatenate([share * path.coefs[2], (1 - share) * path.coefs[2]])
    thin = bl.sparsify(double, beta)
    assert np.count_nonzero(beta) > 20 >= np.count_nonzero(thin)
    assert double @ thin == pytest.approx(double @ beta, abs=1e-9)
    assert np.abs(thin).sum() == pytest.approx(np.abs(beta).sum(), rel=1e-10)


def test_sparsify_says_when_the_norm_could_shrink():
    with pytest.raises(ValueError, match="not an optimum"):
        bl.sparsify([[1.0, 1.0]], [2.0, -1.0])


def test_claim_09_ties_are_broken_by_the_next_margin():
    # The first two rows fix the margin at 1/2; the third can be lifted by moving weight to column 3 or 4.
    Z = np.array([[1.0, 0.0, 0.5, 0.5], [0.0, 1.0, 0.5, 0.5], [0.6, 0.6, 1.0, 3.0]])
    _, margins = lexicographic_margins(Z)
    assert margins[:2] == pytest.approx(0.5, abs=1e-8) and margins[2] == pytest.approx(3.0, abs=1e-6)
    assert bl_ensembles.max_l1_margin(Z).margin == pytest.approx(0.5)
    limit = bl.separable_limit(Z, np.ones(3), "exponential", c=5000.0)
    assert (Z @ limit)[2] == pytest.approx(3.0, abs=0.01)


def test_claim_10_margins_of_both_losses_converge_to_one_value_and_logistic_leads_early():
    X, y = mixture(1)
    H, _ = bl.scale_columns(boosting_path.monomials(X, 8))
    best = bl_ensembles.max_l1_margin(y[:, None] * H)
    record = np.array([5000, 400_000])
    ends = {}
    for loss in ("exponential", "logistic"):
        run = boosting_path.eps_boost(H, y, loss, eps=0.002, n_steps=400_000, record=record)
        ends[loss] = run.margin / run.norm
    assert ends["logistic"][0] > ends["exponential"][0]
    assert ends["exponential"][1] == pytest.approx(ends["logistic"][1], rel=0.01)
    assert ends["logistic"][1] > 0.94 * best.margin


def test_claim_11_two_points():
    Z = np.array([[2.0, 0.5], [2.0, 1.5]])
    one, two = bl_ensembles.max_l1_margin(Z), bl.max_l2_margin(Z)
    assert one.margin == pytest.approx(2.0) and one.beta == pytest.approx([1.0, 0.0])
    assert two.margin == pytest.approx(np.sqrt(4.25)) and two.beta[0] / two.beta[1] == pytest.approx(4.0)


@pytest.mark.parametrize(
    "seed, reported", [(0, (0.01362, 0.607, 0.449)), (1, (0.03026, 0.798, 0.407)), (3, (0.02194, 0.741, 0.252))]
)
def test_experiment_4_polynomials(seed, reported):
    X, y = mixture(seed)
    H, _ = bl.scale_columns(boosting_path.monomials(X, 8))
    assert H.shape[1] == 45
    best = bl_ensembles.max_l1_margin(y[:, None] * H)
    run = boosting_path.eps_boost(H, y, "logistic", eps=0.001, n_steps=10**5, record=np.array([10**5]))
    beta = run.coefs[-1] / run.norm[-1]
    got = (best.margin, run.margin[-1] / run.norm[-1] / best.margin, np.abs(beta - best.beta).sum())
    assert got == pytest.approx(reported, abs=6e-4)


def test_experiment_5_l2_steps_lead_to_the_l2_separator():
    X, y = mixture(0)
    H, _ = bl.scale_columns(boosting_path.monomials(X, 8))
    Z = y[:, None] * H
    best, other = bl.max_l2_margin(Z), bl_ensembles.max_l1_margin(Z)
    record = np.array([10**4, 10**5])
    run = bl.l2_boost_path(H, y, "exponential", eps=0.01, n_steps=10**5, record=record)
    ratios = [margin(Z, b, 2) / best.margin for b in run.coefs]
    assert 0.3 < ratios[0] < ratios[1] and ratios[1] > 0.93
    beta = run.coefs[-1] / np.linalg.norm(run.coefs[-1])
    assert beta @ best.beta > 0.998
    assert other.beta @ best.beta / np.linalg.norm(other.beta) < 0.8, "the l1 separator is another one"
    assert np.count_nonzero(run.coefs[-1]) > 40 > np.count_nonzero(np.abs(other.beta) > 1e-9)


def test_max_l2_margin_against_libsvm():
    H, y = separable(8, n=40, J=3)
    best = bl.max_l2_margin(y[:, None] * H)
    Z = y[:, None] * H
    # Without intercept: every row and its mirror image.
    mirror = SVC(C=1e8, kernel="linear", tol=1e-9).fit(np.vstack([Z, -Z]), np.repeat([1, -1], len(y)))
    w = mirror.coef_[0]
    assert best.beta == pytest.approx(w / np.linalg.norm(w), abs=1e-5)
    assert bl.max_l2_margin(np.array([[1.0, 0.0], [-1.0, 0.0]])).margin == 0.0


def test_line_search_is_adaboost_for_signs_and_exact_otherwise():
    rng = np.random.default_rng(12)
    H = rng.choice([-1.0, 1.0], size=(101, 9))
    y = rng.choice([-1.0, 1.0], 101)
    run = line_search_boost(H, y, "exponential", n_steps=20, record=20)
    D = np.full(101, 1 / 101)
    beta = np.zeros(9)
    for t in range(20):
        edges = (D * y) @ H
        j = int(np.argmax(np.abs(edges)))
        beta[j] += np.sign(edges[j]) * 0.5 * np.log((1 + abs(edges[j])) / (1 - abs(edges[j])))
        D = np.exp(-y * (H @ beta))
        D /= D.sum()
        assert run.coefs[t + 1] == pytest.approx(beta, abs=1e-10)
    X = rng.normal(size=(101, 3))
    first = line_search_boost(X, y, "logistic", n_steps=1, record=1).coefs[-1]
    j = int(np.flatnonzero(first)[0])
    peer = minimize_scalar(lambda a: np.log1p(np.exp(-y * X[:, j] * a)).sum(), bracket=(-1, 1), tol=1e-12).x
    assert first[j] == pytest.approx(peer, abs=1e-6)


def test_line_search_with_the_squared_loss_is_a_least_squares_fit_of_one_column():
    rng = np.random.default_rng(14)
    H, y = rng.normal(size=(30, 5)) * [1.0, 3.0, 0.2, 1.0, 2.0], rng.normal(size=30)
    run = line_search_boost(H, y, "squared", n_steps=12, record=12)
    beta, travelled = np.zeros(5), 0.0
    for t in range(12):
        residual = y - H @ beta
        j = int(np.argmax(np.abs(residual @ H)))
        step = np.linalg.lstsq(H[:, [j]], residual)[0][0]
        beta[j] += step
        travelled += abs(step)
        assert run.chosen[t] == j
        np.testing.assert_allclose(run.coefs[t + 1], beta, atol=1e-12)
        assert run.length[t + 1] == pytest.approx(travelled)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: boosting_path.eps_boost([[1.0]], [0.5], "exponential"), "labels"),
        (lambda: boosting_path.eps_boost([[1.0]], [1.0], eps=0.0), "eps"),
        (lambda: boosting_path.eps_boost([[np.nan]], [1.0]), "finite"),
        (lambda: boosting_path.eps_boost([[1.0]], [1.0, -1.0]), "row"),
        (lambda: boosting_path.eps_boost([[1.0]], [1.0], n_steps=5, record=np.array([9])), "between"),
        (lambda: boosting_path.eps_boost([[1.0]], [1.0], "no such loss"), "loss"),
        (lambda: bl_ensembles.l1_constrained_path([[1.0]], [1.0], "logistic", [0.0]), "positive"),
        (lambda: bl_ensembles.l1_constrained_path([[1.0]], [1.0], "hinge", [1.0]), "loss"),
        (lambda: bl.separable_limit([[1.0], [1.0]], [1.0, -1.0]), "not separable"),
        (lambda: margin([[1.0]], [0.0]), "non-zero"),
        (lambda: bl_ensembles.max_l1_margin(np.zeros((0, 3))), "at least one"),
        (lambda: boosting_path.monomials(np.ones((2, 40)), 9), "monomials"),
        (lambda: bl_ensembles.BoostedPathClassifier(loss="hinge").fit([[0.0], [1.0]], [0, 1]), "loss"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_erratum_a_million_steps_are_close_to_the_optimum():
    """Caption (10^6) and text (3 * 10^6 steps) of Figure 8 disagree; both are near the end of the path."""
    X, y = mixture(0)
    H, _ = bl.scale_columns(boosting_path.monomials(X, 8))
    best = bl_ensembles.max_l1_margin(y[:, None] * H)
    run = boosting_path.eps_boost(H, y, "logistic", eps=0.001, n_steps=10**6, record=np.array([10**5, 10**6]))
    ratios = run.margin / run.norm / best.margin
    assert ratios == pytest.approx([0.607, 0.963], abs=6e-4)
    assert np.abs(run.coefs[-1] / run.norm[-1] - best.beta).sum() == pytest.approx(0.028, abs=6e-4)


def test_erratum_the_change_of_the_norm_is_added():
    """Along a dependence of the columns the norm changes by the sum of the changes, added: a shorter one fits."""
    H = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.25]])
    beta, dependence = np.array([1.0, 2.0, 0.8]), np.array([0.5, 0.25, -1.0])
    moved = beta + 0.8 * dependence  # the last coefficient vanishes first
    assert H @ moved == pytest.approx(H @ beta) and moved[2] == pytest.approx(0.0)
    change = np.sum(np.abs(moved) - np.abs(beta))
    assert np.abs(moved).sum() == pytest.approx(np.abs(beta).sum() + change) and change == pytest.approx(-0.2)
    with pytest.raises(ValueError, match="not an optimum"):
        sparsify(H, beta)  # beta could be made shorter, as `moved` shows
    # Where the changes cancel, the fit and the norm stay.
    H[1, 2] = 0.5
    assert np.abs(sparsify(H, beta)).sum() == pytest.approx(np.abs(beta).sum())
    assert H @ sparsify(H, beta) == pytest.approx(H @ beta)


def overlapping(seed):
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((60, 8))
    return H, np.where(H[:, 0] + 2 * rng.standard_normal(60) > 0, 1.0, -1.0)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 600.0, 1e8])
def test_line_search_steps_do_not_depend_on_the_unit_of_the_columns(scale):
    from learnable.ensembles.gradient import line_search

    alpha = line_search("exponential", np.zeros(3), scale * np.array([1.0, 1.0, -1.0]))
    assert alpha * scale == pytest.approx(0.5 * np.log(2), rel=1e-10)
    H, y = overlapping(0)
    plain, scaled = (line_search_boost(A, y, "exponential", n_steps=20, record=20) for A in (H, H * scale))
    np.testing.assert_allclose(scaled.loss, plain.loss, rtol=1e-8)
    np.testing.assert_allclose(scaled.coefs * scale, plain.coefs, atol=1e-8)


def test_a_line_search_that_runs_out_of_steps_warns():
    from learnable.ensembles.gradient import line_search

    with pytest.warns(ConvergenceWarning, match="stopped after 2 steps"):
        line_search("exponential", np.zeros(3), [1.0, 0.3, -1.0], max_iter=2)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_margins_scale_with_their_rows(scale):
    Z = np.array([[1.0, 0.0, 1.0, 0.5], [0.0, 3.0, 1.0, 0.25], [2.0, 0.5, 1.5, -1.0]])
    (beta, margins), (scaled, rescaled) = lexicographic_margins(Z), lexicographic_margins(scale * Z)
    np.testing.assert_allclose(scaled, beta, atol=1e-7)
    np.testing.assert_allclose(rescaled / scale, margins, atol=1e-7)
    for best in (bl_ensembles.max_l1_margin, bl.max_l2_margin):
        np.testing.assert_allclose(best(scale * Z).beta, best(Z).beta, atol=1e-6)
        assert best(scale * Z).margin / scale == pytest.approx(best(Z).margin, rel=1e-6)


def test_the_direction_of_the_path_has_unit_speed_and_is_the_difference_quotient():
    H, y = overlapping(2)
    for loss in ("squared", "exponential", "logistic"):
        c, h = 0.2, 1e-5
        low, high = bl_ensembles.l1_constrained_path(H, y, loss, [c, c + h], tol=1e-12).coefs
        direction = bl.path_direction(H, y, loss, low)
        assert np.sign(low) @ direction == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(direction, (high - low) / h, atol=1e-3)


def test_figures_1_5_and_6_boosting_follows_the_stored_exact_paths():
    paths = experiments.squared_paths.stored
    assert paths.row(data="prostate", steps=6000).mean["turns"] is None, "the whole path is monotone"
    for data in ("prostate", "diabetes"):
        gaps = [paths.mean("gap_before", data=data, steps=steps) for steps in (600, 6000, 60_000)]
        assert gaps[1] < 0.001 and gaps[0] > 5 * gaps[1] > 25 * gaps[2]
    five = experiments.logistic_path.stored.rows[0].mean
    assert five["monotone"] > 0.9 and 0.003 * five["gap"] < 0.01 * five["norm"]


def test_figure_7_margins_grow_while_the_test_error_rises():
    spam = experiments.spam_trees.stored
    at = {method: spam.row(method=method) for method in ("adaboost", "exponential", "logistic")}
    assert at["adaboost"].mean["margin_5"] < at["exponential"].mean["margin_5"], "AdaBoost lags behind at first"
    assert at["adaboost"].mean["margin_200"] > at["exponential"].mean["margin_200"], "and catches up"
    assert at["adaboost"].mean["rise"] < 2 * at["adaboost"].se["rise"]
    spread = np.hypot(at["logistic"].se["end_margin"], at["exponential"].se["end_margin"])
    assert abs(at["logistic"].mean["end_margin"] - at["exponential"].mean["end_margin"]) < 2 * spread
    for method in ("exponential", "logistic"):
        assert at[method].mean["end_margin"] > at[method].mean["margin_200"]
        assert 0.0015 < at[method].mean["rise_40"] < 0.0035, "0.2 to 0.3 points, as the lecture says"
        assert at["adaboost"].mean["separated"] < 0.5 * at[method].mean["separated"]
        noisy = experiments.noisy_spheres.stored.row(method=method)
        assert noisy.mean["rise"] > 5 * noisy.se["rise"] and noisy.mean["stop_norm"] < 10


def test_smaller_steps_predict_better_and_the_limits_are_reached():
    rates = experiments.spam_rates.stored
    assert rates.mean("error", rate="line search") > rates.mean("error", rate=0.1)
    limit = experiments.polynomial_limit.stored.rows[0].mean
    assert limit["share_3e6"] > limit["share_1e5"] and limit["distance_3e6"] < limit["distance_1e5"]
    ends = [experiments.l2_limit.stored.row(eps=0.0001, steps=k).mean for k in (5_000_000, 100_000_000)]
    assert ends[0]["cosine"] < ends[1]["cosine"] and ends[1]["optima"] < 0.9
