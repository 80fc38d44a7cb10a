"""Units and origins: what each estimator of the part must do when its data are multiplied or shifted."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor

from learnable.kernels import (
    DualCoordinateSVM,
    EpsilonRidge,
    EpsilonSVR,
    HardMarginSVM,
    KernelRidge,
    NuSVM,
    OneVersusRestPath,
    RandomFourierFeatures,
    RandomFourierRidge,
    SoftMarginSVM,
    SquaredNuSVM,
    SVMPath,
)
from learnable.linear import Lasso, Ridge

SCALES = [1e-8, 1e8]
SHIFTS = [1e4, -3e5]


def data(n=50, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.standard_normal(n)
    return X, f, (f > 0.3).astype(int)


def separated(n=30):
    X, _, y = data(n, 2, 3)
    return X + np.where(y == 1, 4.0, -4.0)[:, None], y


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


# A kernel of Gaussian type whose width follows the data sees neither unit nor origin.
WIDTH_FROM_DATA = {
    "SoftMarginSVM": SoftMarginSVM(C=2.0, kernel="rbf", tol=1e-8),
    "SoftMarginSVM squares": SoftMarginSVM(C=2.0, norm=2, kernel="rbf", tol=1e-8),
    "SoftMarginSVM single precision": SoftMarginSVM(C=2.0, kernel="rbf"),
    "NuSVM": NuSVM(nu=0.4, kernel="rbf", tol=1e-8),
    "SquaredNuSVM": SquaredNuSVM(D=0.05, kernel="rbf"),
    "HardMarginSVM": HardMarginSVM(kernel="rbf"),
    "SVMPath": SVMPath(lam_min=1e-2),
    "OneVersusRestPath": OneVersusRestPath(SVMPath(lam_min=1e-2)),
    "KernelRidge": KernelRidge(alpha=0.3),
    "KernelRidge cg": KernelRidge(alpha=0.3, solver="cg"),
    "KernelRidge dual ascent": KernelRidge(alpha=0.3, solver="dual_ascent"),
    "EpsilonSVR": EpsilonSVR(alpha=0.3),
    "EpsilonRidge": EpsilonRidge(alpha=0.3),
}


@pytest.mark.parametrize("change", [*SCALES, "shift 1e4", "shift -3e5"])
@pytest.mark.parametrize("name", WIDTH_FROM_DATA)
def test_a_width_taken_from_the_data_follows_unit_and_origin(name, change):
    X, f, y = data()
    model = WIDTH_FROM_DATA[name]
    target = f if is_regressor(model) else y
    moved = X + float(change.split()[1]) if isinstance(change, str) else X * change
    here, there = clone(model).fit(X, target), clone(model).fit(moved, target)
    np.testing.assert_allclose(values(there, moved), values(here, X), rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("model", [RandomFourierRidge(alpha=0.3, n_components=30, random_state=0)])
def test_random_features_follow_the_unit(model, scale):
    """Their phases see the origin, so that a shift gives another draw."""
    X, f, _ = data()
    here, there = clone(model).fit(X, f), clone(model).fit(scale * X, f)
    np.testing.assert_allclose(there.predict(scale * X), here.predict(X), rtol=1e-7, atol=1e-8)
    features = RandomFourierFeatures(n_components=20, random_state=0)
    plain, scaled = clone(features).fit_transform(X), clone(features).fit_transform(scale * X)
    np.testing.assert_allclose(scaled, plain, rtol=1e-6, atol=1e-7)


# With the linear kernel, data in another unit need the price in the unit of 1 / x^2.
LINEAR = {
    "SoftMarginSVM": lambda s: SoftMarginSVM(C=0.7 / s**2, tol=1e-8),
    "SoftMarginSVM squares": lambda s: SoftMarginSVM(C=0.7 / s**2, norm=2, tol=1e-8),
    "SoftMarginSVM mixed": lambda s: SoftMarginSVM(C=0.7 / s**2, norm="mixed", C2=0.4 / s**2, tol=1e-8),
    "SVMPath": lambda s: SVMPath(kernel="linear", lam_min=1e-3),
    "DualCoordinateSVM": lambda s: DualCoordinateSVM(C=0.7 / s**2, tol=1e-8, max_iter=100_000),
    "KernelRidge": lambda s: KernelRidge("linear", alpha=0.3 * s**2),
    "EpsilonSVR": lambda s: EpsilonSVR("linear", alpha=0.3 * s**2, tol=1e-8),
    "EpsilonRidge": lambda s: EpsilonRidge("linear", alpha=0.3 * s**2, tol=1e-8),
    "Ridge": lambda s: Ridge(alpha=0.3 * s**2),
    "Lasso": lambda s: Lasso(alpha=0.05 * s),
}
THROUGH_THE_ORIGIN = ("DualCoordinateSVM",)


@pytest.mark.parametrize("scale", [*SCALES, 1e-3, 1e3])
@pytest.mark.parametrize("name", LINEAR)
def test_linear_machines_follow_the_unit_with_their_price(name, scale):
    X, f, y = data()
    target = f if is_regressor(LINEAR[name](1.0)) else y
    here, there = LINEAR[name](1.0).fit(X, target), LINEAR[name](scale).fit(scale * X, target)
    np.testing.assert_allclose(values(there, scale * X), values(here, X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("name", [name for name in LINEAR if name not in THROUGH_THE_ORIGIN])
def test_linear_machines_with_intercept_do_not_see_the_origin(name, shift):
    X, f, y = data()
    target = f if is_regressor(LINEAR[name](1.0)) else y
    here, there = LINEAR[name](1.0).fit(X, target), LINEAR[name](1.0).fit(X + shift, target)
    np.testing.assert_allclose(values(there, X + shift), values(here, X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("change", [*SCALES, "shift 1e4", "shift 1e9"])
@pytest.mark.parametrize("name", ["HardMarginSVM", "NuSVM", "SquaredNuSVM"])
def test_margins_are_lengths(name, change):
    """The margin has the unit of x; the price D of squares that of 1 / x."""
    X, y = separated() if name == "HardMarginSVM" else (data()[0], data()[2])
    s = 1.0 if isinstance(change, str) else change
    moved = X + float(change.split()[1]) if isinstance(change, str) else X * s
    make = {
        "HardMarginSVM": lambda s: HardMarginSVM(tol=1e-9),
        "NuSVM": lambda s: NuSVM(nu=0.5, tol=1e-9),
        "SquaredNuSVM": lambda s: SquaredNuSVM(D=0.02 / s),
    }[name]
    here, there = make(1.0).fit(X, y), make(s).fit(moved, y)
    # At a distance of 1e9 the rows themselves keep seven digits.
    slack = 1e-5 if change == "shift 1e9" else 1e-6
    assert there.margin_ == pytest.approx(s * here.margin_, rel=slack)
    expected = here.decision_function(X) * (1.0 if name == "HardMarginSVM" else s)
    np.testing.assert_allclose(there.decision_function(moved), expected, rtol=1e-4, atol=3e-5 * np.abs(expected).max())


RESPONSES = {
    "KernelRidge": lambda s: KernelRidge(alpha=0.3),
    "RandomFourierRidge": lambda s: RandomFourierRidge(alpha=0.3, n_components=20, random_state=0),
    "Ridge": lambda s: Ridge(alpha=0.3),
    "Lasso": lambda s: Lasso(alpha=0.05 * s),
    "EpsilonSVR": lambda s: EpsilonSVR(alpha=0.3 / s, epsilon=0.1 * s),
    "EpsilonSVR linear": lambda s: EpsilonSVR("linear", alpha=0.3 / s, epsilon=0.1 * s),
    "EpsilonRidge": lambda s: EpsilonRidge(alpha=0.3, epsilon=0.1 * s),
    "EpsilonRidge linear": lambda s: EpsilonRidge("linear", alpha=0.3, epsilon=0.1 * s),
}


@pytest.mark.parametrize(("scale", "shift"), [(1e-8, 0.0), (1e8, 0.0), (1.0, 1e4), (1e3, -1e5)])
@pytest.mark.parametrize("name", RESPONSES)
def test_predictions_have_the_unit_and_the_origin_of_the_response(name, scale, shift):
    X, f, _ = data()
    here, there = RESPONSES[name](1.0).fit(X, f), RESPONSES[name](scale).fit(X, scale * f + shift)
    np.testing.assert_allclose(
        there.predict(X) - shift, scale * here.predict(X), rtol=1e-4, atol=1e-5 * scale * np.ptp(f)
    )
