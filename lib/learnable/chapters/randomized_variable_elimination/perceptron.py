"""The source's learner: a perceptron whose steps grow smaller as it cools (Frean 1992).

A perceptron that meets a wrongly classified row takes a step of full length towards it, however wrong it was. On data
that no hyperplane separates it never settles. The thermal perceptron takes a step of length (T / T₀) exp(-|w·x| / T):
rows that are wrong by far are given up as the temperature T falls, and the steps fade away.

On data that are not separable a change in the last digit grows about fiftyfold in an epoch. Inputs are therefore
rounded to 1/256 of a standard deviation and steps to 2^-20: then all sums are exact, and the rule is the same whatever
the order of the additions, the processor and the unit of the inputs.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.validation import binary_codes, check_rng, check_scalar

LARGEST_GRAM = 4096
GRID = 2.0**8
STEP = 2.0**20


class ThermalPerceptron(ClassifierMixin, BaseEstimator):
    """Linear rule for two classes by annealed perceptron steps (Frean 1992; Stracuzzi and Utgoff 2004, Sec. 5.2)."""

    def __init__(self, t_start=2.0, *, t_end=0.3, decay=0.999, random_state=None):
        self.t_start = t_start
        self.t_end = t_end
        self.decay = decay
        self.random_state = random_state

    def fit(self, X, y):
        """Train the rule."""
        t_start = check_scalar(self.t_start, "t_start", low=0, closed="neither")
        t_end = check_scalar(self.t_end, "t_end", low=0, high=t_start, closed="right")
        decay = check_scalar(self.decay, "decay", low=0, high=1, closed="neither")
        rng = check_rng(self.random_state)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        self.classes_, codes = binary_codes(y)
        mean = X.mean(axis=0)
        centred = X - mean
        spread = np.sqrt(np.mean(centred**2, axis=0))
        # What rounding leaves of a constant column is not information.
        constant = spread <= 1e-12 * (np.abs(mean) + np.abs(centred).max(axis=0, initial=0.0)) + 1e-300
        scale = np.where(constant, 1.0, spread)
        order = rng.permutation(len(X))
        Z = np.ones((len(X), X.shape[1] + 1))
        Z[:, 1:] = np.rint(GRID * np.where(constant, 0.0, centred / scale))[order] / GRID
        signs = np.where(codes[order] == 1, 1.0, -1.0)
        self.n_iter_ = math.floor(math.log(t_end / t_start) / math.log(decay) + 1e-9) + 1
        temperatures = t_start * decay ** np.arange(self.n_iter_)
        if len(Z) <= LARGEST_GRAM:
            weights = _anneal_gram(Z @ Z.T, signs, temperatures) @ Z
        else:
            weights = _anneal(Z, signs, temperatures)
        self.coef_ = (np.where(constant, 0.0, weights[1:]) / scale)[None, :]
        self.intercept_ = np.array([weights[0] - self.coef_[0] @ mean])
        return self

    def decision_function(self, X):
        """Signed value of the rule, positive for the second class."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coef_[0] + self.intercept_[0]

    def predict(self, X):
        """The class of each row."""
        chosen = self.decision_function(X) > 0
        return self.classes_[chosen.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


@njit(cache=True)
def _anneal(Z, signs, temperatures):
    """Weights by direct steps: each row costs d."""
    n, d = Z.shape
    weights = np.zeros(d)
    for T in temperatures:
        wrong = 0
        for i in range(n):
            value = 0.0
            for j in range(d):
                value += weights[j] * Z[i, j]
            if signs[i] * value <= 0:
                wrong += 1
                step = signs[i] * np.rint(STEP * T / temperatures[0] * np.exp(-abs(value) / T)) / STEP
                for j in range(d):
                    weights[j] += step * Z[i, j]
        if wrong == 0:
            break
    return weights


@njit(cache=True)
def _anneal_gram(gram, signs, temperatures):
    """Coefficients of the rows, by steps that keep the values w·x of all rows: each wrong row costs n."""
    n = len(signs)
    coefficients, values = np.zeros(n), np.zeros(n)
    for T in temperatures:
        wrong = 0
        for i in range(n):
            if signs[i] * values[i] <= 0:
                wrong += 1
                step = signs[i] * np.rint(STEP * T / temperatures[0] * np.exp(-abs(values[i]) / T)) / STEP
                coefficients[i] += step
                row = gram[i]
                for j in range(n):
                    values[j] += step * row[j]
        if wrong == 0:
            break
    return coefficients
