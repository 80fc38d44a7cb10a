"""The l1 path: what the planted errors got past: early stopping, degrees, tied rows, the length of a direction."""

import numpy as np
import pytest

from learnable.ensembles.boosting_l1_path import BoostedPathClassifier, l1_constrained_path, monomials, path_direction
from learnable.ensembles.boosting_l1_path.margins import lexicographic_margins


def noisy(seed=0, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 1.2 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("base", ["tree", "stump", "linear", "poly"])
def test_early_stopping_keeps_the_steps_up_to_the_best_one(base):
    """The kept model is the one that made the smallest error on the held-out part: no step more, none less."""
    X, y = noisy()
    model = BoostedPathClassifier(base, eps=0.2, n_steps=60, validation_fraction=0.3, random_state=1).fit(X, y)
    best = int(np.argmin(model.validation_error_)) + 1
    assert model.n_steps_ == best < 60
    plain = model.staged_decision_function(X)[best - 1]
    np.testing.assert_allclose(model.decision_function(X), plain)
    if base in ("tree", "stump"):
        assert len(model.rules_) == len(model.alphas_) == best
        assert model.staged_decision_function(X).shape == (best, len(X))
    else:
        np.testing.assert_allclose(model.coef_, model.path_.coefs[best])


def test_monomials_of_every_degree_up_to_the_last():
    X = np.array([[2.0, 3.0]])
    assert monomials(X, 1).tolist() == [[1.0, 2.0, 3.0]]
    assert monomials(X, 3)[0].tolist() == [1, 2, 3, 4, 6, 9, 8, 12, 18, 27]
    assert monomials(X, 0).tolist() == [[1.0]]


def test_only_rows_that_cannot_rise_are_fixed():
    """Rows 0 and 1 are tied at the first level, but only row 0 has to stay there: row 1 is raised in the next round.

    Row 0 is (1, 0) and (0, 1) in one: its margin is a constant ½·(β₁ + β₂). Row 1 and 2 pull apart.
    """
    Z = np.array([[0.5, 0.5, 0.5], [0.5, 1.0, 0.0], [0.5, 0.0, 2.0]])
    beta, margins = lexicographic_margins(Z)
    assert margins[0] == pytest.approx(0.5)
    # Against a grid over the simplex: the second smallest margin is as large as it can be, given the smallest.
    steps = 200
    best = -np.inf
    for i in range(steps + 1):
        for j in range(steps + 1 - i):
            b = np.array([i, j, steps - i - j]) / steps
            low = np.sort(Z @ b)
            if low[0] >= 0.5 - 1e-12:
                best = max(best, low[1])
    assert np.sort(margins)[1] == pytest.approx(best, abs=0.01) and best > 0.55
    assert np.abs(beta).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("loss", ["squared", "logistic", "exponential"])
def test_the_direction_of_the_path_has_norm_one(loss):
    """Σ s_j β̇_j = 1: per unit of the l1 norm; the difference of two minimisers along the path agrees."""
    rng = np.random.default_rng(2)
    H = rng.normal(size=(60, 4))
    y = np.sign(H @ [1.0, -0.5, 0.3, 0.1] + rng.normal(size=60))
    c, step = 0.6, 1e-4
    a, b = l1_constrained_path(H, y, loss, [c, c + step], tol=1e-12).coefs
    found = path_direction(H, y, loss, a)
    assert np.sign(a) @ found == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(found, (b - a) / step, atol=2e-3)
