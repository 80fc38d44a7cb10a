"""The claims of Fernandez-Delgado et al. (2014), and of the tests that suit such a table."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from learnable import selection as cb
from learnable.selection import significance


@pytest.fixture(scope="module")
def toy():
    """A table with ties that other packages ranked: autorank 1.3 and scikit-posthocs 0.17 gave the figures below."""
    rng = np.random.default_rng(2014)
    base = 0.7 + 0.1 * rng.normal(size=(12, 1)) + 0.03 * rng.normal(size=(12, 5))
    return pd.DataFrame(np.round(base + [0.03, 0.02, 0, -0.01, -0.05], 2), columns=list("abcde"))


def test_ranks_are_those_of_autorank_and_scikit_posthocs(toy):
    ranks = cb.friedman_ranks(toy)
    assert ranks.to_dict() == pytest.approx({"a": 2.125, "b": 1.875, "c": 3.625, "d": 2.7916666667, "e": 4.5833333333})
    found = cb.friedman_test(toy)
    assert found.pvalue == pytest.approx(6.403214508808459e-05, rel=1e-9)
    assert cb.nemenyi_difference(5, 12) == pytest.approx(1.7607556243045581, rel=1e-5)


def test_friedman_is_that_of_scipy():
    table = np.round(np.random.default_rng(14).random((20, 6)), 1)
    want = stats.friedmanchisquare(*table.T)
    found = cb.friedman_test(table)
    assert (found.chi2, found.pvalue) == pytest.approx((want.statistic, want.pvalue))
    N, c = table.shape
    assert found.f == pytest.approx((N - 1) * found.chi2 / (N * (c - 1) - found.chi2))
    assert found.f_pvalue == pytest.approx(stats.f.sf(found.f, c - 1, (c - 1) * (N - 1)))


def test_friedman_of_equal_and_of_perfectly_ordered_classifiers():
    assert cb.friedman_test(np.full((5, 3), 0.5)).pvalue == 1.0
    ordered = cb.friedman_test(np.tile([0.9, 0.8, 0.7], (5, 1)))
    assert ordered.chi2 == pytest.approx(10) and ordered.f_pvalue < 1e-9


@pytest.mark.parametrize("c, q", [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_values_of_demsar(c, q):
    """Table 5 of Demsar (2006)."""
    assert cb.nemenyi_difference(c, 30) == pytest.approx(q * np.sqrt(c * (c + 1) / 180), rel=4e-4)


def test_groups_are_maximal_runs():
    ranks = pd.Series({"d": 4.0, "a": 1.0, "c": 2.4, "b": 1.5, "e": 9.0})
    assert significance.nemenyi_groups(ranks, 1.4) == [["a", "b", "c"]]
    assert significance.nemenyi_groups(ranks, 1.7) == [["a", "b", "c"], ["c", "d"]]
    assert significance.nemenyi_groups(ranks, 0.1) == [] and significance.nemenyi_groups(ranks, 8) == [list("abcde")]


def test_pair_is_compared_as_in_scipy(toy):
    found = cb.compare_pair(toy, "a", "e")
    gaps = toy["a"] - toy["e"]
    want = stats.ttest_rel(toy["a"], toy["e"])
    assert (found.t, found.pvalue) == pytest.approx((want.statistic, want.pvalue))
    assert found.interval == pytest.approx(want.confidence_interval(0.95))
    assert found.wins + found.losses + found.ties == 12 and found.wins == (gaps > 1e-9).sum()
    assert found.gain - found.loss == pytest.approx(gaps.sum()) and found.loss >= 0
    back = cb.compare_pair(toy, "e", "a")
    assert (back.wins, back.t, back.gain) == pytest.approx((found.losses, -found.t, found.loss))


def test_pair_of_equals():
    found = cb.compare_pair([[0.5, 0.5], [0.1 + 0.2, 0.3]], 0, 1)
    assert (found.ties, found.t, found.pvalue, found.wilcoxon_pvalue) == (2, 0.0, 1.0, 1.0)


def test_pair_leaves_failures_out():
    table = [[0.5, 0.4], [np.nan, 0.4], [0.7, 0.6], [0.6, 0.65]]
    assert cb.compare_pair(table, 0, 1).wins == 2 and cb.compare_pair(table, 0, 1).mean == pytest.approx(0.05)


def test_holm_multiplies_and_never_falls(toy):
    found = cb.holm_comparisons(toy, "b").to_frame()
    p = found["pvalue"].to_numpy()
    assert (np.diff(p) >= 0).all()
    by_hand, largest = [], 0.0
    for step, value in zip((4, 3, 2, 1), p, strict=True):
        largest = max(largest, min(1.0, step * value))
        by_hand.append(largest)
    assert found["holm"].tolist() == pytest.approx(by_hand)
    gaps = (toy["b"] - toy["e"]).round(12)
    want = stats.wilcoxon(gaps, zero_method="zsplit", method="approx").pvalue
    assert found.loc["e", "pvalue"] == pytest.approx(want)


def test_signed_ranks_of_few_data_sets_are_counted_out():
    # Of 2^5 signs two are as extreme as five wins: 0.0625, where the normal law says 0.043.
    gaps = np.array([0.01, 0.02, 0.03, 0.04, 0.05])
    table = np.column_stack([0.7 + gaps, np.full(5, 0.7)])
    assert cb.compare_pair(table, 0, 1).wilcoxon_pvalue == pytest.approx(2 / 32)
    assert cb.holm_comparisons(table, 0).pvalue.tolist() == pytest.approx([2 / 32])
    mixed = gaps * [1, -1, 1, 1, 1]  # rank sum 2 of the losses: {}, {1}, {2} lie as low, on both sides
    assert cb.compare_pair(np.column_stack([0.7 + mixed, np.full(5, 0.7)]), 0, 1).wilcoxon_pvalue == pytest.approx(
        6 / 32
    )
    for other in (gaps * [1, 1, 1, 1, 0], np.array([0.01, 0.01, 0.03, 0.04, 0.05])):  # ties: the normal law
        found = cb.compare_pair(np.column_stack([0.7 + other, np.full(5, 0.7)]), 0, 1).wilcoxon_pvalue
        want = stats.wilcoxon(other.round(12), zero_method="zsplit", method="approx").pvalue
        assert found == pytest.approx(want)


def test_bayesian_signed_rank_against_a_slow_one():
    gaps = np.array([0.05, 0.02, -0.01, 0.03, 0.004, 0.06, -0.03])
    table = np.column_stack([0.7 + gaps, np.full(7, 0.7)])
    found = significance.bayesian_signed_rank(table, 0, 1, random_state=0)
    z = np.append(gaps, 0.0)
    rng, votes = np.random.default_rng(1), np.zeros(3)
    for _ in range(3000):
        w = rng.dirichlet([1.0] * 7 + [0.5])
        shares = np.zeros(3)
        for i in range(8):
            for j in range(8):
                mean = (z[i] + z[j]) / 2
                shares[0 if mean > 0.01 + 1e-9 else 2 if mean < -0.01 - 1e-9 else 1] += w[i] * w[j]
        votes[shares.argmax()] += 1
    assert [found.first, found.equal, found.second] == pytest.approx(
        votes / 3000, abs=0.03
    )  # two simulations of 3,000 and 5,000 draws
    turned = significance.bayesian_signed_rank(table, 1, 0, random_state=0)
    assert turned.second == pytest.approx(found.first, abs=1e-12)
    assert found.first + found.equal + found.second == pytest.approx(1)
    wide = significance.bayesian_signed_rank(table, 0, 1, rope=0.2, random_state=0)
    assert wide.equal == 1


def test_bootstrap_ranks_against_a_loop(toy):
    found = significance.bootstrap_ranks(toy, n_samples=4000, random_state=0)
    ranks = toy.rank(axis=1, ascending=False).to_numpy()
    rng = np.random.default_rng(1)
    drawn = np.array([ranks[rng.integers(12, size=12)].mean(axis=0) for _ in range(4000)])
    assert found.low.to_numpy() == pytest.approx(np.quantile(drawn, 0.025, axis=0), abs=0.12)
    assert found.high.to_numpy() == pytest.approx(np.quantile(drawn, 0.975, axis=0), abs=0.12)
    gap = drawn[:, 0] - drawn[:, 4]
    assert found.difference_low.loc["a", "e"] == pytest.approx(np.quantile(gap, 0.025), abs=0.12)
    assert found.difference_high.loc["a", "e"] == pytest.approx(np.quantile(gap, 0.975), abs=0.12)
    assert found.difference_low.loc["a", "e"] == pytest.approx(-found.difference_high.loc["e", "a"])
    assert found.first.sum() == pytest.approx(1) and found.first.idxmax() == "b"
