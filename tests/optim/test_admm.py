"""Alternating directions: minima known in closed form, over-relaxation, the choice of rho, warm starts, refusals."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from learnable.optim.admm import admm
from learnable.optim.proximal import soft_threshold


def lasso_maps(X, y, alpha):
    gram, cross = X.T @ X / len(X), X.T @ y / len(X)
    return (
        lambda v, rho: np.linalg.solve(gram + rho * np.eye(len(gram)), cross + rho * v),
        lambda v, rho: soft_threshold(v, alpha / rho),
    )


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 8)), rng.normal(size=40)
    return X, y, 0.1


@pytest.mark.parametrize("relaxation", [0.7, 1.0, 1.8])
@pytest.mark.parametrize("rho", [1e-2, 1.0, 1e2])
def test_the_lasso_comes_out_whatever_the_relaxation_and_the_first_rho(problem, relaxation, rho):
    X, y, alpha = problem
    found = admm(*lasso_maps(X, y, alpha), np.zeros(8), relaxation=relaxation, rho=rho, tol=1e-9)
    expected = Lasso(alpha=alpha, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    assert found.converged and np.allclose(found.z, expected, atol=1e-6)
    # The multiplier is a subgradient of the penalty at z and minus the gradient of the loss at x.
    assert np.abs(found.dual).max() <= alpha + 1e-9
    assert np.allclose(found.dual, X.T @ (y - X @ found.x) / 40, atol=1e-6)


def test_a_bad_rho_is_mended(problem):
    X, y, alpha = problem
    kept, chosen = (
        admm(*lasso_maps(X, y, alpha), np.zeros(8), rho=300.0, adapt=adapt, tol=1e-8, max_iter=5000)
        for adapt in (False, True)
    )
    assert chosen.n_iter < kept.n_iter / 3 and chosen.rho < 30 and kept.rho == 300.0


def test_over_relaxation_saves_iterations(problem):
    plain, over = (
        admm(*lasso_maps(*problem), np.zeros(8), rho=3.0, adapt=False, relaxation=r, tol=1e-9) for r in (1.0, 1.8)
    )
    assert over.n_iter < plain.n_iter


def test_a_warm_start_at_the_answer_stops_at_once(problem):
    maps = lasso_maps(*problem)
    first = admm(*maps, np.zeros(8), tol=1e-10)
    second = admm(*maps, first.z, dual=first.dual, rho=first.rho, tol=1e-9)
    assert second.n_iter <= 2


def test_the_certificate_decides():
    calls = []

    def certificate(x, z, dual):
        calls.append(len(calls))
        return 1.0 / len(calls)

    found = admm(lambda v, rho: v, lambda v, rho: v, np.ones(3), certificate=certificate, tol=0.3, check_every=2)
    assert found.converged and found.n_iter == 8 and found.gap == 0.25


def test_the_start_stays_as_it_was_and_any_shape_will_do():
    start, dual = np.ones((2, 2)), np.ones((2, 2))
    found = admm(lambda v, rho: v * rho / (1 + rho), lambda v, rho: v.copy(), start, dual=dual)
    assert found.z.shape == (2, 2) and np.allclose(found.z, 0, atol=1e-5)
    assert (start == 1).all() and (dual == 1).all()


def test_running_out_of_iterations_warns(problem):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        found = admm(*lasso_maps(*problem), np.zeros(8), max_iter=3, tol=1e-12)
    assert not found.converged and found.n_iter == 3


def test_no_warning_when_it_ends_well(problem):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        admm(*lasso_maps(*problem), np.zeros(8))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"rho": 0}, "rho"),
        ({"relaxation": 2.0}, "relaxation"),
        ({"tol": 0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"check_every": 0}, "check_every"),
        ({"start": [np.nan]}, "start"),
        ({"dual": [1.0, 2.0]}, "dual"),
    ],
)
def test_bad_arguments_are_named(change, name):
    arguments = {"start": [0.0], **change}
    with pytest.raises(ValueError, match=name):
        admm(lambda v, rho: v, lambda v, rho: v, arguments.pop("start"), **arguments)
