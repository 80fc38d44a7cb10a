"""Classical rules: categorical splits, condensed and edited neighbours, and histograms in two dimensions."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.foundations import KNN, HistogramRule, Regressogram


@parametrize_with_checks([Regressogram(h=1.0), KNN(reduce="condensed"), KNN(k=3, reduce="edited")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


SQUARES, NOISE = 4, 0.1  # a board of 4 × 4 squares, whose colour is seen wrongly with probability 0.1


def board(X):
    return (np.floor(SQUARES * X).astype(int).sum(axis=1) % 2).astype(int)


def board_risk(rule):
    """Exact risk of a histogram rule: both the rule and the colour are constant between these lines."""
    lines = np.unique(np.concatenate([np.arange(SQUARES + 1) / SQUARES, np.arange(0, 1, rule.h_), [1.0]]))
    lines = lines[(lines >= 0) & (lines <= 1)]
    middle, length = 0.5 * (lines[1:] + lines[:-1]), np.diff(lines)
    X = np.array([(a, b) for a in middle for b in middle])
    wrong = rule.predict(X) != board(X)
    return NOISE + (1 - 2 * NOISE) * float(np.outer(length, length).ravel()[wrong].sum())


def mean_board_risk(n, h, reps, rng):
    risks = []
    for _ in range(reps):
        X = rng.random((n, 2))
        y = board(X) ^ (rng.random(n) < NOISE)
        risks.append(board_risk(HistogramRule(h=h).fit(X, y)))
    return np.mean(risks)


def test_claim_04_histograms_on_a_checkerboard():
    rng = np.random.default_rng(0)
    good = [mean_board_risk(n, 0.35 * n ** (-1 / 4), 4, rng) for n in (200, 2000, 50000)]
    assert good[0] > good[1] > good[2] and good[2] - NOISE < 0.05
    # Cells that do not shrink see as much black as white, cells that do not fill see nothing.
    assert mean_board_risk(20000, 0.5, 2, rng) - NOISE > 0.3
    assert mean_board_risk(2000, 1 / 45, 3, rng) - NOISE > 3 * (good[1] - NOISE) / 2
