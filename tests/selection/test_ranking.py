"""The claims of Fernandez-Delgado et al. (2014), and of the tests that suit such a table."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from learnable import selection as cb


def holes(seed=0, shape=(30, 7)):
    rng = np.random.default_rng(seed)
    table = np.round(rng.random(shape), 1)
    table[rng.random(shape) < 0.1] = np.nan
    table[:, 0] = np.where(np.isnan(table[:, 0]), 0.5, table[:, 0])
    return table


def test_ranks_sum_to_the_same_with_ties_and_failures():
    for seed in range(5):
        table = holes(seed)
        c = table.shape[1]
        ranks = cb.friedman_ranks(table, average=False)
        assert ranks.sum(axis=1) == pytest.approx(np.full(len(table), c * (c + 1) / 2))
        assert cb.friedman_ranks(table).mean() == pytest.approx((c + 1) / 2)


def test_a_failed_cell_is_ranked_at_the_mean_of_its_row():
    ranks = cb.friedman_ranks([[0.9, 0.5, np.nan, 0.6], [0.1, 0.1, 0.1, 0.2]], average=False)
    assert ranks.tolist() == [[1, 4, 2, 3], [3, 3, 3, 1]]  # the mean of the others in the first row is 0.667
    assert cb.leaderboard([[0.9, 0.5, np.nan, 0.6]]).to_frame()["accuracy"].isna().sum() == 1


def test_ranks_do_not_feel_a_monotone_change_nor_the_order():
    table = np.random.default_rng(1).random((20, 6))
    want = cb.friedman_ranks(table)
    assert cb.friedman_ranks(table**3 * 100) == pytest.approx(want)
    order = [3, 0, 5, 1, 2, 4]
    assert cb.friedman_ranks(table[::-1][:, order]) == pytest.approx(want[order])
    assert cb.friedman_ranks(np.asfortranarray(table)) == pytest.approx(want)


def test_ranks_agree_with_pandas():
    table = np.round(np.random.default_rng(2).random((15, 8)), 1)
    frame = pd.DataFrame(table, columns=list("stuvwxyz"))
    ours = cb.friedman_ranks(frame, average=False)
    pd.testing.assert_frame_equal(ours, frame.rank(axis=1, ascending=False))


def test_a_tie_survives_the_order_of_additions():
    assert cb.friedman_ranks([[0.1 + 0.2, 0.3, 0.9]], average=False).tolist() == [[2.5, 2.5, 1]]


def test_pama_near_and_pma_by_hand():
    table = pd.DataFrame({"a": [0.8, 0.5, 1.0, np.nan], "b": [0.8, 0.6, 0.95, 0.4], "c": [0.4, 0.3, 0.1, 0.8]})
    board = cb.leaderboard(table).to_frame()
    assert board.loc["a", ["pama", "near", "failed"]].tolist() == [50, 50, 1]
    assert board.loc["b", ["pama", "near", "failed"]].tolist() == [50, 75, 0]  # 0.95 is met exactly
    assert board.loc["a", "pma"] == pytest.approx(100 * np.mean([1, 5 / 6, 1]))
    assert board.loc["c", "accuracy"] == pytest.approx(0.4)
    assert cb.leaderboard(table, threshold=0.5).to_frame().loc["c", "near"] == pytest.approx(75)  # 0.4, 0.3, 0.8
    assert board["rank"].is_monotonic_increasing


def test_percent_and_fractions_give_the_same():
    table = np.round(np.random.default_rng(4).random((12, 4)), 3)
    one, other = cb.leaderboard(table).to_frame(), cb.leaderboard(100 * table).to_frame()
    columns = ["rank", "pama", "near", "pma"]
    np.testing.assert_allclose(one.loc[range(4), columns], other.loc[range(4), columns])


def test_pama_sums_to_a_hundred_only_without_ties():
    plain = np.random.default_rng(5).random((25, 6))
    assert cb.leaderboard(plain).to_frame()["pama"].sum() == pytest.approx(100)
    tied = plain.copy()
    tied[3, :2] = 2.0
    assert cb.leaderboard(tied).to_frame()["pama"].sum() == pytest.approx(104)


def test_unstable_winner_and_steady_method_change_places():
    """Kernel ELM against the forest: first by PAMA, last by P95 and PMA."""
    unstable = np.where(np.arange(20) < 4, 1.0, 0.7)
    steady = np.full(20, 0.97)
    rest = [np.where(np.arange(20) == 4 + i, 1.0, 0.9) for i in range(16)]
    board = cb.leaderboard(pd.DataFrame({"unstable": unstable, "steady": steady, **dict(enumerate(rest))})).to_frame()
    assert board["pama"].idxmax() == "unstable" and board.loc["steady", "pama"] == 0
    assert board.loc["unstable", "near"] == 20 and board.loc["steady", "near"] == 100
    assert board["pma"].idxmax() == "steady" and board["pma"].idxmin() == "unstable"


def test_a_row_of_zeros_is_no_division_by_zero():
    board = cb.leaderboard([[0.0, 0.0], [0.5, 1.0]]).to_frame()
    assert board.loc[0, "pma"] == pytest.approx(75) and np.isfinite(board.to_numpy()).all()


def test_kappa_column():
    table, kappa = [[0.9, 0.8], [0.7, 0.9]], [[0.8, 0.5], [0.2, np.nan]]
    assert cb.leaderboard(table, kappa=kappa).to_frame().loc[[0, 1], "kappa"].tolist() == pytest.approx([0.5, 0.5])
    with pytest.raises(ValueError, match="kappa"):
        cb.leaderboard(table, kappa=[[0.1]])


HIDDEN = """
import sys
sys.modules["pandas"] = None
from learnable.selection import compare_pair, friedman_ranks, friedman_test, holm_comparisons, leaderboard
from learnable.selection.significance import bayesian_signed_rank, bootstrap_ranks, nemenyi_groups
table = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.5], [0.9, 0.6, 0.7], [0.8, 0.6, float("nan")]]
ranks = friedman_ranks(table)
assert ranks.shape == (3,) and friedman_ranks(table, average=False).shape == (4, 3)
board, holm = leaderboard(table, kappa=table), holm_comparisons(table, 0)
assert board.classifiers[0] == 0 and board.kappa.shape == (3,) and sorted(holm.classifiers) == [1, 2]
assert compare_pair(table, 0, 1).wins == 4 and friedman_test(table).n_classifiers == 3
assert bayesian_signed_rank(table, 0, 1, random_state=0).first > 0.9
assert bootstrap_ranks(table, n_samples=10, random_state=0).rank.shape == (3,)
assert nemenyi_groups(ranks, 5.0)
for found in (board, holm):
    try:
        found.to_frame()
    except ImportError as error:
        assert "pip install pandas" in str(error)
    else:
        raise AssertionError("a frame without pandas")
"""


def test_pandas_is_not_needed():
    subprocess.run([sys.executable, "-c", HIDDEN], check=True)
    assert cb.friedman_ranks([[0.5, 0.6]]).tolist() == [2.0, 1.0]
