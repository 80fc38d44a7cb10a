"""The claims of Bengio and Grandvalet (2004) on the variance of K-fold cross-validation."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold

from learnable import selection as cv_selection
from learnable.chapters.cv_variance import blocks as cv
from learnable.chapters.cv_variance import replications, theory


@pytest.fixture(scope="module")
def many():
    """Squared errors of 20,000 data sets, n = 60, K = 10, d = 30."""
    rng = np.random.default_rng(0)
    pieces = []
    for _ in range(10):
        X, y = replications.draw_regression(2_000, 60, random_state=rng)
        pieces.append(replications.kfold_residuals(X, y, n_folds=10) ** 2)
    return np.concatenate(pieces)


def brute_force(errors):
    """s1, s2, s3 by looking at every pair."""
    K, m = errors.shape
    sums, counts = np.zeros(3), np.zeros(3)
    flat, fold = errors.ravel(), np.repeat(np.arange(K), m)
    for i in range(K * m):
        for j in range(K * m):
            kind = 0 if i == j else 1 if fold[i] == fold[j] else 2
            sums[kind] += flat[i] * flat[j]
            counts[kind] += 1
    return sums / np.maximum(counts, 1)


@pytest.mark.parametrize("shape", [(2, 3), (5, 2), (4, 1), (3, 4), (2, 1)])
def test_statistics_are_means_over_the_three_kinds_of_pairs(shape):
    errors = np.random.default_rng(1).normal(2, 1, size=shape)
    found = cv.block_statistics(errors)
    want = brute_force(errors)
    assert [found.s1, found.s3] == pytest.approx(want[[0, 2]])
    if shape[1] > 1:
        assert found.s2 == pytest.approx(want[1])
        assert found.eigenvalue_1 == pytest.approx(want[0] - want[1])
    else:
        assert np.isnan(found.s2) and np.isnan(found.eigenvalue_1)
    inside = want[0] + (shape[1] - 1) * want[1]
    assert found.eigenvalue_2 == pytest.approx(inside - shape[1] * want[2])


def test_eigenvalues_of_the_estimates_do_not_feel_a_shift():
    errors = np.random.default_rng(2).normal(size=(5, 4))
    near, far = cv.block_statistics(errors), cv.block_statistics(errors + 1e6)
    assert far.eigenvalue_1 == pytest.approx(near.eigenvalue_1, rel=1e-8)
    assert far.eigenvalue_2 == pytest.approx(near.eigenvalue_2, rel=1e-8)


@pytest.mark.parametrize(("n_folds", "fold_size"), [(3, 4), (2, 5), (6, 1), (4, 3)])
def test_lemma_7_eigenvalues_and_multiplicities(n_folds, fold_size):
    numbers = {"sigma2": 2.0, "omega": 0.7, "gamma": 0.3, "n_folds": n_folds, "fold_size": fold_size}
    values = np.linalg.eigvalsh(cv.block_covariance(**numbers))
    found = cv.block_eigenvalues(**numbers)
    want = np.sort(np.repeat(found.values, found.multiplicities))
    np.testing.assert_allclose(values, want, atol=1e-12)
    assert np.dot(found.values, found.multiplicities) == pytest.approx(n_folds * fold_size * 2.0)


def test_corollary_3_the_variance_is_the_mean_of_the_matrix():
    numbers = {"sigma2": 2.0, "omega": 0.7, "gamma": 0.3, "n_folds": 3, "fold_size": 4}
    parts = cv.variance_contributions(**numbers)
    assert parts.sum() == pytest.approx(cv.block_covariance(**numbers).mean())
    assert parts == pytest.approx([2 / 12, 3 * 0.7 / 12, 8 * 0.3 / 12])
    assert theory.expected_variance(method="true", **numbers) == pytest.approx(parts.sum())


def test_corollary_2_block_structure(many):
    """Entries of the covariance matrix of one kind differ by no more than their standard errors allow."""
    flat = many.reshape(len(many), 60)
    c = flat - flat.mean()
    covariance = c.T @ c / len(c)
    fold = np.arange(60) // 6
    same = fold[:, None] == fold
    numbers = replications.variance_components(many)
    for mask, value in (
        (np.eye(60, dtype=bool), numbers.sigma2),
        (same & ~np.eye(60, dtype=bool), numbers.omega),
        (~same, numbers.gamma),
    ):
        entries = covariance[mask]
        i, j = np.nonzero(mask)
        error = np.array([np.std(c[:, a] * c[:, b]) for a, b in zip(i[:200], j[:200], strict=True)]).mean() / np.sqrt(
            len(c)
        )
        assert np.abs(entries - value).max() < 5.5 * error  # up to 3,240 entries: the largest of as many normals is 3.8


def test_the_parts_add_up_to_the_variance_exactly(many):
    for errors in (many[:500], many[:500, :, :1], many[:2]):
        found = replications.variance_components(errors)
        assert found.contributions.sum() == pytest.approx(found.variance, rel=1e-12)


def test_components_of_known_covariance():
    """Gaussian errors with three given numbers: all of them, and the expectations of the estimates, come back."""
    numbers = {"sigma2": 2.0, "omega": 0.5, "gamma": 0.25, "n_folds": 4, "fold_size": 3}
    root = np.linalg.cholesky(cv.block_covariance(**numbers))
    errors = (np.random.default_rng(3).normal(size=(100_000, 12)) @ root.T + 5.0).reshape(-1, 4, 3)
    found = replications.variance_components(errors)
    got = np.array([found.sigma2, found.omega, found.gamma])
    assert np.abs((got - [2.0, 0.5, 0.25]) / found.standard_errors).max() < 4
    assert found.mean == pytest.approx(5.0, abs=0.01)
    for method in ("naive", "fold_means", "corrected"):
        assert getattr(found, method) == pytest.approx(theory.expected_variance(method=method, **numbers), rel=0.02)
        one_by_one = np.mean([theory.variance_estimate(e, method) for e in errors[:50]])
        assert one_by_one == pytest.approx(replications.variance_components(errors[:50]).__dict__[method])


def test_fold_means_miss_the_truth_by_gamma(many):
    """E[theta_2] = theta - gamma, and the naive estimate misses about what omega and gamma contribute."""
    found = replications.variance_components(many)
    assert found.fold_means == pytest.approx(found.variance - found.gamma, rel=0.02)
    assert found.naive == pytest.approx(found.variance - found.contributions[1:].sum(), rel=0.03)
    assert found.naive < 0.5 * found.variance  # the source: bias of the order of the variance itself
    numbers = {"sigma2": found.sigma2, "omega": found.omega, "gamma": found.gamma, "n_folds": 10, "fold_size": 6}
    assert theory.expected_variance(method="fold_means", **numbers) == pytest.approx(
        theory.expected_variance(method="true", **numbers) - found.gamma
    )


def test_eigenvalues_are_estimated_without_bias(many):
    found = replications.variance_components(many)
    values = cv.block_eigenvalues(found.sigma2, found.omega, found.gamma, n_folds=10, fold_size=6).values
    singles = np.array([[s.eigenvalue_1, s.eigenvalue_2] for s in map(cv.block_statistics, many[:4000])])
    error = singles.std(axis=0) / np.sqrt(len(singles))
    assert np.all(np.abs(singles.mean(axis=0) - values[:2]) < 4 * error)


def test_theorem_6_two_laws_that_one_data_set_cannot_tell_apart():
    """A common shift of all errors of a data set changes the true variance by tau^2 and no estimate at all."""
    rng = np.random.default_rng(4)
    errors = rng.normal(size=(20_000, 5, 4))
    shifted = errors + 0.5 * rng.normal(size=(20_000, 1, 1))
    plain, common = replications.variance_components(errors), replications.variance_components(shifted)
    assert common.variance - plain.variance == pytest.approx(0.25, abs=0.01)
    for method in ("naive", "fold_means", "corrected"):
        assert getattr(common, method) == pytest.approx(getattr(plain, method), rel=1e-9)
    one = cv.block_statistics(errors[0]), cv.block_statistics(shifted[0])
    assert one[0].eigenvalue_2 == pytest.approx(one[1].eigenvalue_2)


@pytest.mark.parametrize(("n_folds", "fold_size"), [(2, 1), (10, 6), (5, 100), (60, 1)])
def test_theorem_6_the_equations_contradict_each_other(n_folds, fold_size):
    found = cv.unbiased_equations(n_folds=n_folds, fold_size=fold_size)
    assert not found.solvable
    n = n_folds * fold_size
    # Any a + b + c = 0 misses a target that sums to one: the distance is 1/sqrt(4) (three unknowns) or 1/sqrt(3) (two).
    assert found.residual == pytest.approx(1 / np.sqrt(4 if fold_size > 1 else 3))
    np.testing.assert_allclose(found.target, [1 / n, (fold_size - 1) / n, (n - fold_size) / n, 0])


def test_a_mean_changes_every_estimate_whose_coefficients_do_not_add_to_zero():
    errors = np.random.default_rng(5).normal(size=(4, 3))
    a, b, c = 1 / 12, 2 / 12, 9 / 12
    value = [np.dot([a, b, c], [s.s1, s.s2, s.s3]) for s in map(cv.block_statistics, (errors, errors + 1.0))]
    want = (a + b + c) * (1 + 2 * errors.mean())
    # Every s changes by about 1 + 2 mean: the three weights add up to one.
    assert value[1] - value[0] == pytest.approx(want)


def test_hold_out_sets_make_the_fold_means_right():
    """With K independent training sets gamma is zero: fold means unbiased, the naive estimate far too small."""
    from learnable.chapters.cv_variance import experiments

    found = experiments.hold_out.cell({"n": 60}, 0)
    assert found["fold_means"] == pytest.approx(found["variance"], rel=0.15)
    assert abs(found["gamma_part"]) < 0.12 * found["variance"]
    assert found["naive"] < 0.6 * found["variance"]


def test_two_folds_are_correlated_although_training_sets_are_disjoint():
    X, y = replications.draw_regression(10_000, 100, random_state=6)
    found = replications.variance_components(replications.kfold_residuals(X, y, n_folds=2) ** 2)
    assert found.gamma > 5 * found.standard_errors[2]


def test_leave_one_out_has_two_numbers():
    X, y = replications.draw_regression(300, 40, n_features=3, random_state=7)
    found = replications.variance_components(replications.kfold_residuals(X, y, n_folds=40) ** 2)
    assert np.isnan(found.omega) and found.contributions[1] == 0
    assert found.contributions.sum() == pytest.approx(found.variance)


def test_cross_validation_is_unbiased_for_the_smaller_training_set(many):
    """1 + d / (n - m - d - 1) for least squares: 2.3043 at n = 60, K = 10, d = 30."""
    error = many.mean(axis=(1, 2)).std() / np.sqrt(len(many))
    assert abs(many.mean() - (1 + 30 / 23)) < 4 * error < 0.05


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize(("n", "d", "n_folds"), [(24, 5, 4), (24, 3, 24), (24, 3, 2), (12, 2, 3)])
def test_residuals_equal_refitting(n, d, n_folds, alpha):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(2, n, d)), rng.normal(size=(2, n))
    found = replications.kfold_residuals(X, y, n_folds=n_folds, alpha=alpha)
    for b in range(2):
        for k, (train, test) in enumerate(KFold(n_folds).split(X[b])):
            model = Ridge(alpha, fit_intercept=False) if alpha else LinearRegression(fit_intercept=False)
            want = y[b, test] - model.fit(X[b, train], y[b, train]).predict(X[b, test])
            np.testing.assert_allclose(found[b, k], want, atol=1e-10)
    np.testing.assert_allclose(
        replications.kfold_residuals(X[0], y[0], n_folds=n_folds, alpha=alpha), found[0], atol=1e-12
    )


def test_residuals_do_not_depend_on_units_or_layout():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    want = replications.kfold_residuals(X, y, n_folds=5)
    scale = np.array([1e8, 1e-8, 1.0, 1e4])
    np.testing.assert_allclose(replications.kfold_residuals(X * scale, 1e6 * y, n_folds=5), 1e6 * want, rtol=1e-6)
    np.testing.assert_array_equal(replications.kfold_residuals(np.asfortranarray(X), y, n_folds=5), want)
    big = np.broadcast_to(X, (3000, 30, 4)), np.broadcast_to(y, (3000, 30))  # several pieces
    np.testing.assert_allclose(
        replications.kfold_residuals(*big, n_folds=5), np.broadcast_to(want, (3000, 5, 6)), atol=1e-12
    )


def test_lemma_8_bounds(many):
    found = replications.variance_components(many)
    assert 0 <= found.omega <= found.sigma2
    low, high = cv.admissible_gamma(found.sigma2, found.omega, n_folds=10, fold_size=6)
    assert low <= found.gamma <= high
    for gamma in (low, high):
        values = cv.block_eigenvalues(found.sigma2, found.omega, gamma, n_folds=10, fold_size=6).values
        assert values.min() == pytest.approx(0, abs=1e-9)
    outside = cv.block_eigenvalues(found.sigma2, found.omega, high * 1.01, n_folds=10, fold_size=6).values
    assert outside.min() < 0
    # The jackknife's omega may be negative, down to -sigma2 / (m - 1).
    assert cv.admissible_gamma(1.0, -0.2, n_folds=10, fold_size=6) == pytest.approx((0, 0), abs=1e-12)


def test_jackknife_identities():
    """The mean of the terms is the training error minus the optimism (5), and CV plus the correction (6)."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], y[:60]
    options = {"n_folds": 6, "random_state": 11}
    terms = theory.jackknife_errors(LinearRegression(), X, y, **options)
    order = np.random.default_rng(11).permutation(60)
    X, y = X[order], y[order]
    whole = (y - LinearRegression().fit(X, y).predict(X)) ** 2
    losses, left_out = [], []
    for train, test in KFold(6).split(X):
        rule = LinearRegression().fit(X[train], y[train])
        losses.append((y - rule.predict(X)) ** 2)
        left_out.append(losses[-1][test])
    training = whole.mean()
    optimism = theory.optimism(LinearRegression(), X[np.argsort(order)], y[np.argsort(order)], **options)
    assert terms.mean() == pytest.approx(training - optimism)
    assert terms.mean() == pytest.approx(np.mean(left_out) + np.sum(whole - np.array(losses)) / 60)
    assert terms.mean() > training


def test_coverage_of_independent_errors_is_nominal_and_of_real_ones_is_not(many):
    errors = np.random.default_rng(13).normal(size=(20_000, 10, 6))
    for method in ("naive", "fold_means"):
        assert replications.interval_coverage(errors, 0.0, method=method) == pytest.approx(0.95, abs=0.01)
    assert replications.interval_coverage(errors, 0.0, method="corrected") > 0.98
    truth = 1 + 30 / 23
    naive, means, corrected = (
        replications.interval_coverage(many, truth, method=m) for m in ("naive", "fold_means", "corrected")
    )
    assert naive < means < corrected < 0.95 and naive < 0.82


def test_bootstrap_is_the_naive_estimate_again():
    errors = np.random.default_rng(15).normal(size=(10, 20))
    found = theory.variance_estimate(errors, "bootstrap", n_bootstrap=4000, random_state=0)
    assert found == pytest.approx(theory.variance_estimate(errors), rel=0.1)
    assert found == theory.variance_estimate(errors, "bootstrap", n_bootstrap=4000, random_state=0)


def test_outliers_have_the_variance_of_the_rest():
    """The target's variance is 3 + 1 with and without outliers; the mean square of a feature is 1 or 5.95."""
    for share, square in ((0.0, 1.0), (0.05, 5.95)):
        X, y = replications.draw_regression(2_000, 100, outlier_share=share, random_state=16)
        assert np.mean(X**2) == pytest.approx(square, rel=0.02)
        assert np.mean(y**2) == pytest.approx(4.0, rel=0.03)


def test_zero_spread_gives_a_point():
    found = cv_selection.cv_interval([0.5, 0.5, 0.5])
    assert (found.low, found.high, found.standard_error) == (0.5, 0.5, 0.0)
    assert theory.variance_estimate(np.ones((3, 2)), "corrected") == 0


NAN = np.full((4, 3), np.nan)
REFUSED = [
    (lambda: cv.block_statistics([[1.0, 2.0]]), "at least 2 folds"),
    (lambda: cv.block_statistics(NAN), "errors"),
    (lambda: cv.block_statistics([1.0, 2.0]), "errors"),
    (lambda: cv_selection.cv_errors(Ridge(), np.ones((10, 2)), np.ones(10), n_folds=3), "n_folds = 3 must divide"),
    (lambda: cv_selection.cv_errors(Ridge(), np.ones((10, 2)), np.ones(10), n_folds=20), "n_folds"),
    (lambda: cv_selection.cv_errors(Ridge(), np.ones((10, 2)), np.ones(9), n_folds=3), "inconsistent"),
    (lambda: cv_selection.cv_errors(Ridge(), np.ones((10, 2)), np.ones(10), n_folds=2, loss="hinge"), "loss"),
    (lambda: cv_selection.cv_errors(Ridge(), np.ones((10, 2)), np.ones(10), n_folds=2, loss=lambda t, p: 1.0), "loss"),
    (lambda: replications.kfold_residuals(np.ones((10, 2)), np.ones(10), n_folds=5), "linearly dependent"),
    (lambda: replications.kfold_residuals(np.ones((10, 2)), np.ones(9), n_folds=5), "shape"),
    (lambda: cv_selection.cv_interval([0.5]), "scores"),
    (lambda: cv_selection.cv_interval([0.5, np.nan]), "scores"),
    (lambda: cv_selection.cv_interval([0.5, 0.6], level=1.0), "level"),
    (lambda: cv_selection.cv_interval([0.5, 0.6], test_share=1.0), "test_share"),
    (lambda: cv_selection.nested_cv_interval(Ridge(), np.ones((10, 2)), np.ones(10), n_folds=2), "n_folds"),
    (lambda: cv_selection.paired_test_5x2(Ridge(), Ridge(), np.ones((9, 2)), np.ones(9)), "n_folds = 2 must divide"),
]


@pytest.mark.parametrize(("call", "says"), REFUSED, ids=range(len(REFUSED)))
def test_refuses(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_a_fold_whose_absence_loses_a_column_is_refused():
    X = np.zeros((8, 2))
    X[:, 0] = np.arange(8)
    X[:2, 1] = 1.0  # only the first fold sees the second feature
    with pytest.raises(ValueError, match="dependent"):
        replications.kfold_residuals(X, np.arange(8.0), n_folds=4)
