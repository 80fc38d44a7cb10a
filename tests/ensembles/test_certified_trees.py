"""Prunings of a given tree, their penalties and certificates: the claims of the source, checked by enumeration."""

import numpy as np
import pytest
from scipy import stats
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets import load
from learnable.ensembles import (
    CertifiedTree,
    certify,
    grow_prunable,
    grow_prune_test_split,
)
from learnable.ensembles.certified_trees import (
    ThreeWaySplit,
    averaged_bound,
    binomial_bound,
    confidence_term,
    occam_bound,
    rademacher_bound,
)
from learnable.trees.reduced_error import log_n_prunings


def test_bounds_are_the_formulas():
    eta = np.sqrt(np.log(2 / 0.05) / 800)
    assert confidence_term(400, 0.05) == pytest.approx(eta)
    assert rademacher_bound(0.1, 0.02, 400, 0.05).bound == pytest.approx(0.1 + 2 * 0.02 + 5 * eta)
    assert occam_bound(0.1, 30.0, 400, 0.05).bound == pytest.approx(0.1 + np.sqrt((30 + np.log(20)) / 800))
    third = np.sqrt(np.log(60) / 800)
    assert averaged_bound(0.1, [0.02, 0.04], 400, 0.05).bound == pytest.approx(
        0.1 + 0.06 + (3 + 4 / np.sqrt(2)) * third
    )


def test_the_smallest_probability_of_failure_has_bounds():
    """1/δ overflows below 1e-308, its logarithm does not: δ = 2^-1074."""
    delta = 5e-324
    eta = np.sqrt(1074 * np.log(2) / 800)
    assert occam_bound(0.1, 0.0, 400, delta).bound == pytest.approx(0.1 + eta)
    assert occam_bound(0.1, 3.0, 400, delta).bound == pytest.approx(0.1 + np.sqrt((3 + 1074 * np.log(2)) / 800))
    assert confidence_term(400, delta) == pytest.approx(np.sqrt(1075 * np.log(2) / 800))
    found = averaged_bound(0.1, [0.02], 400, delta)
    assert found.bound == pytest.approx(0.14 + 7 * np.sqrt((np.log(3) + 1074 * np.log(2)) / 800))


def test_binomial_bound_inverts_the_tail():
    for wrong, n, delta, count in ((0, 50, 0.05, 1), (7, 100, 0.01, 1), (30, 100, 0.01, 1000), (99, 100, 0.1, 1)):
        p = binomial_bound(wrong, n, delta, log_n=np.log(count)).bound
        assert stats.binom.cdf(wrong, n, p) == pytest.approx(delta / count, rel=1e-6)
        assert p <= min(1, occam_bound(wrong / n, np.log(count), n, delta).bound) + 1e-12
    assert binomial_bound(100, 100).bound == 1.0
    assert 0.5 < binomial_bound(20, 100, log_n=1000.0).bound <= 1.0  # δ/N is far below the smallest double


def test_a_class_that_only_the_pruning_data_have_is_an_error_everywhere():
    X = np.arange(12.0)[:, None]
    y = np.array(["a", "b"] * 4 + ["c"] * 4)
    split = ThreeWaySplit(np.arange(8), np.arange(8, 12), np.arange(0))
    grown = grow_prunable(X, y, split, min_samples_leaf=1, random_state=0)
    assert grown.prune().size == 1 and grown.prune().error == 4
    assert set(grown.predict(X)) == {"a", "b"}


def test_certified_tree_is_the_sum_of_its_steps():
    X, y = load("page_blocks", return_X_y=True)
    model = CertifiedTree(random_state=4).fit(X[1000:], y[1000:])
    assert model.bound_ == model.bound_parts_.bound and model.n_nodes_ == model.pruning_.size
    assert model.bound_parts_.error == model.pruning_.error / model.prunable_.n_prune
    assert model.pruning_.grow_errors <= model.k_ == int(1.1 * model.prunable_.tree.errors)
    wrong = (model.predict(X[:1000]) != y[:1000]).mean()
    assert wrong < model.bound_
    np.testing.assert_array_equal(model.prunable_.predict(X[:1000], model.pruning_), model.predict(X[:1000]))
    rep = model.prunable_.predict(X[:1000], model.prunable_.prune())
    assert (rep != model.prunable_.predict(X[:1000])).any()
    proba = model.predict_proba(X[:1000])
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X[:1000]))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    rep = CertifiedTree(None, certificate="binomial", random_state=4).fit(X[1000:], y[1000:])
    assert rep.k_ is None and rep.n_nodes_ < model.n_nodes_ and rep.bound_ < model.bound_
    assert set(np.unique(rep.apply(X))) <= set(rep.pruning_.leaves)


def test_rules_are_written_in_the_units_of_the_data():
    X = np.repeat([[1e9], [3e9]], 30, axis=0)
    y = np.repeat(["low", "high"], 30)
    text = CertifiedTree(random_state=0).fit(X, y).export_text(["mass"])
    assert text == "mass ≤ 2e+09 → low\nmass > 2e+09 → high"
    deep = CertifiedTree(random_state=0).fit(*load("page_blocks", return_X_y=True)).export_text(max_depth=1)
    assert "… (mostly" in deep and deep.count("\n") < 8


def test_units_origin_and_missing_values():
    X, y = load("page_blocks", return_X_y=True)
    plain = CertifiedTree(random_state=0).fit(X, y)
    for other in (X * 1e-8, X * 1e8, X + 1e4, np.asfortranarray(X)):
        moved = CertifiedTree(random_state=0).fit(other, y)
        assert abs(moved.bound_ - plain.bound_) < 2e-3
        assert (moved.predict(other) == plain.predict(X)).mean() > 0.999
    holes = X.copy()
    holes[::3, 0] = np.nan
    holes[:, 1] = np.nan
    before = holes.copy()
    model = CertifiedTree(random_state=0).fit(holes, y)
    assert (model.predict(holes) == y).mean() > 0.9
    np.testing.assert_array_equal(holes, before)


def test_the_same_seed_gives_the_same_tree():
    X, y = load("nursery", return_X_y=True)
    one, two, other = (CertifiedTree(random_state=s).fit(X, y).bound_ for s in (0, np.random.default_rng(0), 1))
    assert one == two != other


@parametrize_with_checks([CertifiedTree(random_state=0), CertifiedTree(None, certificate="binomial", random_state=0)])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("as_rows", [np.asarray, lambda rows: np.isin(np.arange(200), rows), lambda rows: rows - 200])
def test_a_tree_is_not_certified_by_rows_that_it_has_seen(as_rows):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    rows = np.arange(200)
    with pytest.raises(ValueError, match="must not share rows"):
        grow_prunable(X, y, ThreeWaySplit(as_rows(rows), rows, rows[:0]))
    with pytest.raises(ValueError, match="must not share rows, got 1 in both, row 120"):
        grow_prunable(X, y, ThreeWaySplit(rows[:121], as_rows(rows[120:]), rows[:0]))


def test_parts_of_a_split_are_rows_of_the_table_and_each_counts_once():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    for grow, prune, match in (([0, 1], [2, 2], "each row once"), ([0, 1], [12], "split.prune"), ([], [1], "grow")):
        split = ThreeWaySplit(np.array(grow, int), np.array(prune, int), np.arange(0))
        with pytest.raises(ValueError, match=match):
            grow_prunable(X, y, split)


@pytest.mark.parametrize("kind", ["occam", "binomial"])
def test_counted_certificates_use_the_budget(kind):
    """Under a budget there are fewer prunings to choose from, and the bound is that of their number."""
    X, y = load("page_blocks", return_X_y=True)
    grown = grow_prunable(X, y, grow_prune_test_split(len(y), random_state=0), random_state=0)
    k = grown.budget(1.1)
    pruning = grown.prune(k)
    few, many = log_n_prunings(grown.tree, k), log_n_prunings(grown.tree)
    assert few < many
    n, errors = grown.n_prune, pruning.error
    want = [
        occam_bound(errors / n, count, n, 0.05) if kind == "occam" else binomial_bound(errors, n, 0.05, log_n=count)
        for count in (few, many)
    ]
    found = [certify(grown, pruning, kind, k=budget, delta=0.05).bound for budget in (k, None)]
    assert found == pytest.approx([w.bound for w in want], rel=1e-12)
    assert found[0] < found[1]
