"""AdaBoost (Freund & Schapire 1997; Lember 2012, Sec. 5.2)."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from learnable._simd import exp_of_negative
from learnable.ensembles.votes import BinaryBoost, bare, vote, weak_learner
from learnable.validation import check_class_labels, check_scalar, encode_labels

__all__ = ["AdaBoost"]


class AdaBoost(BinaryBoost):
    """AdaBoost: reweight so that the last rule becomes useless, and let all rules vote.

    Several classes are told apart by a vote for each against all others; the largest wins.

    Cost O(n d (log n + n_rounds)) with stumps: features are sorted, or binned, once.

    Parameters
    ----------
    base : {"stump", "columns"}, int, or weak learner
        Exact stumps by default; an integer is the depth of greedy trees; ``"columns"`` takes the columns of X as rules.
    n_rounds : int
        Number T of rounds.
    nu : float, optional
        With a value in (0, 1) the number of rounds is ⌈n^ν⌉ instead: the early stopping of the consistency theorem.
    max_bins : {"auto"}, int or None
        Bins for each feature in the search for stumps or trees that `base` names: None tries every cut, a number from 2
        to 256 puts thresholds on the edges of bins, which loses nothing for a feature with at most so many different
        values; ``"auto"`` is 256 from 2,500 rows on and None below.

    Attributes
    ----------
    rules_, alphas_ : the chosen rules h_t and their votes α_t ≥ 0
    errors_ : array (T,)
        Weighted errors ε_t < ½.
    edges_ : array (T,)
        u_t = ½ − ε_t.
    normalisers_ : array (T,)
        Z_t = 2 √(ε_t (1 − ε_t)).
    train_scores_ : array (n,)
        f_T on the sample.
    weights_ : array (n,)
        D_{T+1}.
    stopped_ : str or None
        Why fewer than T rounds were made.
    machines_ : list of AdaBoost
        With several classes only, and then in place of all others: the vote for each class.

    Notes
    -----
    The weights are formed in every round from the margins, D_t(i) ∝ exp(−y_i f_{t−1}(x_i)), relative to the smallest
    margin. So they neither drift nor overflow, and a point's weight may underflow to zero without harm. That costs n
    exponentials a round, against n d steps of the stump search.

    A perfect rule (ε_t = 0) would get an infinite vote. In round 1 it is returned alone with vote 1; later it is
    discarded and the vote so far is kept, as the source prescribes. A rule with ε_t ≥ ½ ends the algorithm too.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> y = np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, -1])
    >>> model = AdaBoost(n_rounds=3).fit(X, y)
    >>> model.errors_.round(3).tolist()
    [0.2, 0.25, 0.167]
    """

    _link = 2.0

    def __init__(self, base="stump", n_rounds=100, nu=None, max_bins="auto"):
        self.base = base
        self.n_rounds = n_rounds
        self.nu = nu
        self.max_bins = max_bins

    def fit(self, X, y, sample_weight=None):
        """Run the rounds. O(T n d) with stumps, after O(n d log n) for sorting."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_class_labels(y)
        self.classes_, codes = encode_labels(y)
        self.__dict__.pop("machines_", None)  # of an earlier fit
        if len(self.classes_) > 2:
            self.machines_ = [clone(self).fit(X, codes == c, sample_weight) for c in range(len(self.classes_))]
            return self
        X, y, start = self._prepare(X, y, sample_weight)
        rounds = check_scalar(self.n_rounds, "n_rounds", low=1, integer=True)
        if self.nu is not None:
            rounds = int(np.ceil(len(y) ** check_scalar(self.nu, "nu", low=0, high=1, closed="neither")))
        used = start > 0.0  # where a row of weight zero lies is no place for a threshold
        everything = X
        if not used.all():
            X, y, start = X[used], y[used], start[used]
        learner = weak_learner(self.base, self.max_bins).prepare(X)
        with np.errstate(divide="ignore"):
            offset = np.log(start)
        self.rules_, alphas, errors, normalisers = [], [], [], []
        self.stopped_ = None
        margins = np.zeros(len(y))
        D = start.copy()
        for t in range(rounds):
            rule = learner.fit(D, y)
            wrong, right = _wrong_right(D, y, rule.outputs)
            if wrong == 0.0:
                self.stopped_ = f"round {t + 1} found a perfect rule"
                if t == 0:
                    self.rules_, alphas, errors, normalisers = [bare(rule)], [1.0], [0.0], [0.0]
                    margins = y * rule.outputs
                break
            # Rounding aside, a rule of weighted error one half: nothing left to gain.
            if wrong >= right * (1.0 - 1e-13):
                self.stopped_ = f"round {t + 1} found no rule better than a coin"
                break
            alpha = 0.5 * np.log(right / wrong)
            self.rules_.append(bare(rule))
            alphas.append(alpha)
            errors.append(wrong / (wrong + right))
            normalisers.append(2.0 * np.sqrt(wrong * right) / (wrong + right))
            _advance(margins, alpha, y, rule.outputs, offset, D)
        if not self.rules_:
            raise ValueError("no rule of the class is better than a coin on this sample")
        self.alphas_ = np.array(alphas)
        self.errors_ = np.array(errors)
        self.edges_ = 0.5 - self.errors_
        self.normalisers_ = np.array(normalisers)
        self.train_scores_ = y * margins
        self.weights_ = D
        if not used.all():
            self.train_scores_ = vote(self.rules_, self.alphas_, everything)
            self.weights_ = np.zeros(len(used))
            self.weights_[used] = D
        return self

    def decision_function(self, X):
        """f(x) = Σ α_t h_t(x); with several classes one for each of them."""
        if not hasattr(self, "machines_"):
            return super().decision_function(X)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.column_stack([one.decision_function(X) for one in self.machines_])

    def predict(self, X):
        """The class on whose side each row lies, or with the largest vote."""
        f = self.decision_function(X)
        return self._decide(f) if f.ndim == 1 else self.classes_[f.argmax(axis=1)]

    def predict_proba(self, X):
        """P(class | x) by the minimiser of the φ-risk, 1/(1 + e^{−2f}); several classes share one."""
        if not hasattr(self, "machines_"):
            return super().predict_proba(X)
        p = expit(self._link * self.decision_function(X))
        # Where every vote is against its class to the last digit, the largest still decides.
        p = np.maximum(p, 1e-300)
        return p / p.sum(axis=1, keepdims=True)

    def _checked(self, X):
        if hasattr(self, "machines_"):
            raise ValueError("y had several classes: stages and margins are those of the votes in machines_")
        return super()._checked(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags


@njit(cache=True)
def _wrong_right(D, y, h):
    """Weights of the errors and of the rest, each summed on its own: neither is one minus the other."""
    wrong, right = 0.0, 0.0
    for i in range(len(D)):
        if y[i] == h[i]:
            right += D[i]
        else:
            wrong += D[i]
    return wrong, right


@njit(cache=True)
def _advance(margins, alpha, y, h, offset, D):
    """Add the new vote to the margins y f and form D ∝ D_1 exp(−margins), relative to its largest entry."""
    n = len(D)
    for i in range(n):
        margins[i] += alpha * y[i] * h[i]
        D[i] = offset[i] - margins[i]
    top = D.max()
    total = 0.0
    for i in range(n):
        D[i] = exp_of_negative(D[i] - top)
    # Apart from the exponentials, since a sum has an order and would keep them from being vector instructions.
    for i in range(n):
        total += D[i]
    for i in range(n):
        D[i] /= total
