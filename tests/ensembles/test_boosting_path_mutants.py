"""The l1 path: what the planted errors got past: early stopping, degrees, tied rows, the length of a direction."""

import numpy as np
import pytest

from learnable.ensembles import BoostedPathClassifier
from learnable.ensembles.boosting_path import monomials


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
