"""Judges of independence against scipy, numpy and networkx."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from learnable.graphs.dags import DAG, random_dag
from learnable.graphs.independence import (
    GaussianIndependence,
    GSquareIndependence,
    ListedIndependence,
    OracleIndependence,
    partial_correlation,
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8))


@pytest.mark.parametrize("size", range(6))
def test_partial_correlations_of_every_size(data, size):
    """Against -P01/sqrt(P00 P11) of the inverse, and against the residuals of two regressions."""
    C = np.cov(data, rowvar=False)
    for i, j in combinations(range(8), 2):
        S = [k for k in range(8) if k not in (i, j)][:size]
        P = np.linalg.inv(C[np.ix_([i, j, *S], [i, j, *S])])
        expected = -P[0, 1] / np.sqrt(P[0, 0] * P[1, 1])
        assert partial_correlation(C, i, j, S) == pytest.approx(expected, abs=1e-9)
        Z = np.column_stack([np.ones(60), data[:, S]])
        rest = [data[:, k] - Z @ np.linalg.lstsq(Z, data[:, k], rcond=None)[0] for k in (i, j)]
        assert partial_correlation(C, i, j, S) == pytest.approx(np.corrcoef(rest)[0, 1], abs=1e-9)


def test_test_is_fishers_two_sided(data):
    ci_test = GaussianIndependence(data, alpha=0.2)
    for i, j in combinations(range(8), 2):
        for S in ([], [(i + j) % 8], [0, 1, 2, 3, 4, 5, 6, 7]):
            S = [k for k in S if k not in (i, j)]
            rho = partial_correlation(np.cov(data, rowvar=False), i, j, S)
            p = 2 * stats.norm.sf(np.sqrt(60 - len(S) - 3) * abs(np.arctanh(rho)))
            assert ci_test.p_value(i, j, S) == pytest.approx(p, rel=1e-6)
            assert ci_test.independent(i, j, S) == (p >= 0.2)
            assert ci_test.independent(j, i, S) == ci_test.independent(i, j, S)


def test_level_is_kept_under_independence():
    """The share of rejections among independent pairs is alpha, within four standard errors of 1,500 pairs."""
    X = np.random.default_rng(1).normal(size=(30, 3000))
    ci_test = GaussianIndependence(X, alpha=0.05)
    rejected = np.mean([not ci_test.independent(2 * k, 2 * k + 1) for k in range(1500)])
    assert abs(rejected - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 1500)


def test_units_and_origin_do_not_matter(data):
    plain = GaussianIndependence(data).correlation
    moved = data * 10.0 ** np.array([-8, 8, 0, 3, -3, 100, -100, 1]) + np.array([0, 1e9, 0, 0, 0, 0, 0, 1e3])
    assert np.allclose(GaussianIndependence(moved).correlation, plain, atol=1e-6)
    assert np.allclose(GaussianIndependence(np.asfortranarray(data)).correlation, plain)
    from_covariance = GaussianIndependence(covariance=np.cov(data, rowvar=False), n_samples=60)
    assert np.allclose(from_covariance.correlation, plain)


def test_rank_correlations_undo_a_monotone_change():
    rng = np.random.default_rng(2)
    X = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=4000)
    for kind in ("spearman", "kendall"):
        bent = GaussianIndependence(np.exp(X), correlation=kind)
        assert bent.correlation[0, 1] == pytest.approx(0.6, abs=0.05)
        assert np.allclose(bent.correlation, GaussianIndependence(X, correlation=kind).correlation)
    expected = 2 * np.sin(np.pi / 6 * stats.spearmanr(X)[0])
    assert GaussianIndependence(X, correlation="spearman").correlation[0, 1] == pytest.approx(expected)


def test_too_few_rows_and_functions_of_the_conditioning_set(data):
    ci_test = GaussianIndependence(data[:7, :6])
    assert ci_test.independent(0, 1, [2, 3, 4, 5])  # n - |S| - 3 = 0: no test, nothing against independence
    assert ci_test.p_value(0, 1, [2, 3, 4, 5]) == 1.0
    assert ci_test.thresholds(5)[3] < 1 and ci_test.thresholds(5)[4] == 1
    total = np.column_stack([data, data[:, 0] + data[:, 1]])
    ci_test = GaussianIndependence(total)
    assert ci_test.independent(0, 5, [1, 8])  # 0 is a function of 1 and 8
    C = np.corrcoef(total, rowvar=False)
    redundant = partial_correlation(C, 4, 5, [0, 1, 8])  # the third column adds nothing
    assert redundant == pytest.approx(partial_correlation(C, 4, 5, [0, 1]), abs=1e-9)


def test_bad_data_are_refused(data):
    broken = data.copy()
    broken[3, 2] = np.nan
    constant = np.column_stack([data, np.full(60, 0.1)])
    twice = np.column_stack([data, 2 - 3 * data[:, 4]])
    for X, message in [
        (broken, "finite"),
        (constant, "column 8"),
        (twice, "4 and 8 have correlation -1"),
        (data[:3], "at least 4"),
        (data[0], "2 dimension"),
    ]:
        with pytest.raises(ValueError, match=message):
            GaussianIndependence(X)
    with pytest.raises(ValueError, match="either"):
        GaussianIndependence()
    with pytest.raises(ValueError, match="n_samples"):
        GaussianIndependence(covariance=np.eye(2))
    with pytest.raises(ValueError, match="alpha"):
        GaussianIndependence(data, alpha=1)
    with pytest.raises(ValueError, match="semi-definite"):
        GaussianIndependence(covariance=[[1, 2], [2, 1]], n_samples=9)
    ci_test = GaussianIndependence(data)
    for i, j, S in [(0, 0, ()), (0, 1, [1]), (0, 9, ()), (0, 1, [2, 2]), (0, True, ())]:
        with pytest.raises(ValueError, match="i, j and given"):
            ci_test.independent(i, j, S)


def test_tests_are_counted_by_size(data):
    ci_test = GaussianIndependence(data)
    for S in ([], [2], [3], [4, 5, 6]):
        ci_test.independent(0, 1, S)
    assert ci_test.n_tests == 4 and ci_test.tests_by_size == (1, 2, 0, 1)


def test_oracle_with_hidden_nodes_is_separation_among_the_observed():
    dag = random_dag(9, 2.5, random_state=4)
    ci_test = OracleIndependence(dag, hidden=[2, 5])
    assert ci_test.observed == (0, 1, 3, 4, 6, 7, 8) and ci_test.n_nodes == 7
    graph, answers = dag.to_networkx(), set()
    for i, j in combinations(range(7), 2):
        for S in combinations([k for k in range(7) if k not in (i, j)], 2):
            names = [ci_test.observed[k] for k in (i, j, *S)]
            expected = nx.is_d_separator(graph, {names[0]}, {names[1]}, set(names[2:]))
            assert ci_test.independent(i, j, S) == ci_test.independent(j, i, S[::-1]) == expected
            answers.add(expected)
    assert len(answers) == 2
    with pytest.raises(ValueError, match="hidden"):
        OracleIndependence(dag, hidden=[9])
    with pytest.raises(TypeError, match="dag"):
        OracleIndependence(np.eye(3))


def test_listed_statements():
    ci_test = ListedIndependence(4, [(0, 1), (3, 1, [2, 0])])
    assert ci_test.independent(1, 0) and ci_test.independent(1, 3, (0, 2))
    assert not ci_test.independent(1, 3, (0,)) and not ci_test.independent(0, 1, [2])
    assert ci_test.n_tests == 4
    with pytest.raises(ValueError, match="distinct"):
        ListedIndependence(4, [(0, 1, [1])])


def test_g_square_equals_contingency_tests_in_each_stratum():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(400, 4))
    X[:, 1] = np.where(rng.random(400) < 0.4, X[:, 0], X[:, 1])
    ci_test = GSquareIndependence(X, alpha=0.05)
    for i, j, S in [(0, 1, []), (0, 2, []), (0, 1, [2]), (2, 3, [0, 1])]:
        g, freedom = 0.0, 0
        for values in {tuple(row) for row in X[:, S].tolist()}:
            part = X[(X[:, S] == values).all(axis=1)]
            table = np.zeros((3, 3))
            np.add.at(table, (part[:, i], part[:, j]), 1)
            table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
            result = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
            g, freedom = g + result.statistic, freedom + result.dof
        ours = ci_test.statistic(i, j, S)
        assert ours[0] == pytest.approx(g) and ours[1] == freedom
        assert ci_test.independent(i, j, S) == (stats.chi2.sf(g, freedom) >= 0.05)
    assert not ci_test.independent(0, 1) and ci_test.independent(0, 2)
    words = GSquareIndependence(np.array(["ab", "cd", "ef"])[X], alpha=0.05)
    assert words.statistic(0, 1, [2]) == pytest.approx(ci_test.statistic(0, 1, [2]))


def test_g_square_without_freedom_and_bad_tables():
    ci_test = GSquareIndependence([[0, 1, 0], [0, 0, 1], [0, 1, 1]])
    assert ci_test.independent(0, 1) and ci_test.independent(1, 2, [0])  # a constant column; too few rows
    missing = np.array([["a", 1], [None, 2]], dtype=object)
    for bad in ([[0.5, 1]], [[np.nan, 1]], [1, 2], np.zeros((0, 2)), missing):
        with pytest.raises(ValueError, match="data"):
            GSquareIndependence(bad)


def test_oracle_agrees_with_gaussian_tests_at_a_huge_sample():
    dag = DAG.from_edges(5, [(0, 1), (1, 2), (2, 3), (0, 4), (3, 4)])
    W = dag.adjacency * np.array([[0.7], [0.8], [0.6], [0.9], [0.0]])
    M = np.linalg.inv(np.eye(5) - W)
    test, truth = GaussianIndependence(covariance=M.T @ M, n_samples=10**7), OracleIndependence(dag)
    for i, j in combinations(range(5), 2):
        others = [k for k in range(5) if k not in (i, j)]
        for size in range(4):
            for S in combinations(others, size):
                assert test.independent(i, j, S) == truth.independent(i, j, S)
