"""The claims of Waegeman et al. (2014) on maximising the F-measure, and what is wrong with some of them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, fbeta_score, hamming_loss, jaccard_score, precision_score, recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable import selection as fm
from learnable.datasets import load
from learnable.selection.f_measures.independent import fm_rows


@parametrize_with_checks(
    [
        fm.NeighborLabels(n_neighbors=3),
        fm.FMeasurePlugIn(LogisticRegression(max_iter=500)),
        fm.FMeasurePlugIn(LogisticRegression(max_iter=500), rule="FM"),
        fm.FMeasureTree(min_samples_leaf=2),
        fm.BaggedFMeasureTree(n_estimators=4, min_samples_leaf=2, random_state=0),
        fm.LabelChain(n_draws=100, random_state=0),
    ]
)
def test_protocol(estimator, check):
    check(estimator)


def test_measures_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    Y, H = (rng.random((200, 5)) < 0.3).astype(int), (rng.random((200, 5)) < 0.3).astype(int)
    found = fm.label_scores(Y, H)
    assert found.f == pytest.approx(f1_score(Y, H, average="samples", zero_division=1))
    assert found.jaccard == pytest.approx(jaccard_score(Y, H, average="samples", zero_division=0))
    assert found.precision == pytest.approx(precision_score(Y, H, average="samples", zero_division=1))
    assert found.recall == pytest.approx(recall_score(Y, H, average="samples", zero_division=1))
    assert found.hamming == pytest.approx(hamming_loss(Y, H))
    assert found.subset == pytest.approx(np.mean((Y != H).any(axis=1)))
    assert found.micro_f == pytest.approx(f1_score(Y, H, average="micro"))
    assert found.macro_f == pytest.approx(f1_score(Y, H, average="macro"))
    want = fbeta_score(Y, H, beta=2, average="samples", zero_division=1)
    assert fm.f_measure(Y, H, beta=2) == pytest.approx(want)


def test_zero_over_zero_is_one_for_f_and_zero_for_jaccard():
    found = fm.label_scores([[0, 0]], [[0, 0]])
    assert (found.f, found.jaccard) == (1.0, 0.0)
    assert fm.f_measure([[0, 0]], [[0, 0]], zero_division=0.0) == 0.0
    assert fm.f_measure([[0, 0]], [[0, 1]]) == 0.0


def test_gfm_for_many_labels_against_plain_sorting():
    rng = np.random.default_rng(1)
    m, n = 60, 20
    P = rng.random((n, m, m))
    P *= (rng.random((n, m)) * 0.3 / P.sum(axis=2))[:, :, None]
    k = np.arange(1, m + 1)
    delta = P @ (2 / (k[:, None] + k))
    want = np.stack([np.sort(delta[:, :, j], axis=1)[:, ::-1][:, : j + 1].sum(axis=1) for j in range(m)], axis=1)
    found = fm.gfm(P, np.full(n, 0.01))
    assert found.by_size[:, 1:] == pytest.approx(want, abs=1e-12)
    assert (found.h.sum(axis=1) == found.by_size.argmax(axis=1)).all()
    chosen = np.einsum("ni,nik->nk", found.h, delta)[np.arange(n), found.h.sum(axis=1) - 1]
    assert chosen == pytest.approx(found.value)


def test_many_independent_labels():
    p = np.random.default_rng(10).random(2000) * 0.1
    found = fm.fm_independent(p)
    assert np.isfinite(found.by_size).all() and 0 < found.value < 1
    threshold = np.sort(p)[::-1][found.h.sum() - 1]
    assert threshold == pytest.approx(found.value / 2, abs=2e-3)  # in the limit the best threshold is half of the F


def test_fm_by_batches():
    p = np.random.default_rng(11).random((50, 7))
    found = fm.fm_independent(p)
    for i in (0, 17, 49):
        assert (fm.fm_independent(p[i]).h == found.h[i]).all()
        assert fm.fm_independent(p[i]).by_size == pytest.approx(found.by_size[i])


def test_instance_wise_predictions_are_not_best_for_micro_f():
    """Two instances with their own laws: one threshold for all labels is better for micro F."""
    p = np.array([[0.9, 0.9, 0.9, 0.9, 0.9, 0.9], [0.4, 0.4, 0.4, 0.0, 0.0, 0.0]])
    rng = np.random.default_rng(16)
    by_instance = fm.fm_independent(p).h
    all_at_once = fm.fm_independent(p.ravel()).h.reshape(p.shape)
    draws = (rng.random((1000, *p.shape)) < p).astype(int)
    micro = {}
    for name, h in (("instance", by_instance), ("micro", all_at_once)):
        micro[name] = np.mean([fm.f_measure(y.reshape(1, -1), h.reshape(1, -1)) for y in draws])
    assert micro["micro"] > micro["instance"]
    assert (by_instance != all_at_once).any()


@pytest.fixture(scope="module")
def emotions():
    X, Y = load("emotions", return_X_y=True)
    return X[:391], Y[:391], X[391:], Y[391:]


def test_scene_and_yeast_neighbours_give_the_printed_figures():
    """Table 2: Scene to 0.15 of a point; MM counts one half as yes, and the empty prediction is allowed."""
    found = load("scene")
    X, Y, cut = found.data, found.target, 1211
    X = MinMaxScaler().fit(X[:cut]).transform(X)
    for rule, printed in (("MM", 65.80), ("FM", 70.80), ("GFM", 71.42)):
        model = fm.NeighborLabels(10, rule, allow_empty=True).fit(X[:cut], Y[:cut])
        assert 100 * model.score(X[cut:], Y[cut:]) == pytest.approx(printed, abs=0.15)


def test_plug_in_rows_are_multinomial_probabilities(emotions):
    X, Y, X_test, _ = emotions
    base = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000))
    model = fm.FMeasurePlugIn(base).fit(X, Y)
    P, p0 = model.size_probabilities(X_test)
    assert model.sizes_.tolist() == [1, 2, 3] and P.shape == (202, 6, 3)
    assert (P.sum(axis=2) <= 1 + 1e-12).all() and not p0.any()  # no instance is without a label
    target = Y[:, 2] * Y.sum(axis=1)
    want = base.fit(X, target).predict_proba(X_test)
    assert P[:, 2, :] == pytest.approx(want[:, 1:])
    assert (model.predict(X_test) == fm.gfm(P, np.zeros(len(P)), sizes=model.sizes_).h).all()
    with pytest.raises(ValueError, match="rule must be 'GFM'"):
        fm.FMeasurePlugIn(rule="FM").fit(X, Y).size_probabilities(X_test)


def test_plug_in_with_empty_rows_and_constant_labels(emotions):
    X, Y, X_test, _ = emotions
    Y = Y.copy()
    Y[::5] = 0
    Y = np.column_stack([Y, np.zeros(len(Y), dtype=int)])
    model = fm.FMeasurePlugIn().fit(X, Y)
    P, p0 = model.size_probabilities(X_test)
    assert 0.05 < p0.mean() < 0.4 and not P[:, -1].any() and not model.predict(X_test)[:, -1].any()
    Y[:, -1] = 1
    assert fm.FMeasurePlugIn(rule="FM").fit(X, Y).predict(X_test)[:, -1].all()


def test_rules_for_f_beat_one_half(emotions):
    X, Y, X_test, Y_test = emotions
    scores = {rule: fm.FMeasurePlugIn(rule=rule).fit(X, Y).score(X_test, Y_test) for rule in ("MM", "FM", "GFM")}
    assert min(scores["FM"], scores["GFM"]) > scores["MM"] + 0.04


def test_the_empty_prediction_is_allowed_only_where_it_occurs(emotions):
    X, Y, X_test, _ = emotions
    auto = fm.FMeasurePlugIn(rule="FM").fit(X, Y)
    free = fm.FMeasurePlugIn(rule="FM", allow_empty=True).fit(X, Y)
    assert not auto.allow_empty_ and auto.predict(X_test).any(axis=1).all()
    same = free.predict(X_test).any(axis=1)
    assert (auto.predict(X_test)[same] == free.predict(X_test)[same]).all()
    Y = Y.copy()
    Y[0] = 0
    assert fm.NeighborLabels().fit(X, Y).allow_empty_
    with pytest.raises(ValueError, match="allow_empty"):
        fm.NeighborLabels(allow_empty="never").fit(X, Y)


def test_a_pure_node_and_a_constant_feature_are_not_split():
    Y = np.tile([1, 0, 1], (20, 1))
    X = np.arange(20.0)[:, None]
    assert fm.FMeasureTree(min_samples_leaf=1).fit(X, Y).n_leaves_ == 1
    Y = np.random.default_rng(0).integers(2, size=(20, 3))
    assert fm.FMeasureTree(min_samples_leaf=1).fit(np.ones((20, 2)), Y).n_leaves_ == 1


def test_a_bag_tries_the_asked_share_of_the_features():
    """One of eight features decides. Trees that may try all find it at the root; trees that try one seldom do."""
    X = np.random.default_rng(5).normal(size=(120, 8))
    Y = np.column_stack([X[:, 6] > 0, X[:, 6] <= 0]).astype(int)

    def right(share):
        options = {"max_depth": 1, "max_thresholds": 200, "random_state": 0}
        return fm.BaggedFMeasureTree(n_estimators=1, max_features=share, **options).fit(X, Y).score(X, Y)

    assert right(1.0) > 0.95 and right(0.9) > 0.95
    assert min(right(0.01), right(0.1)) < 0.9


@pytest.fixture(scope="module")
def chain(emotions):
    X, Y = emotions[:2]
    return fm.LabelChain(order=[3, 0, 5, 1, 2, 4], n_draws=20_000, random_state=0).fit(X, Y)


def test_the_search_opens_few_beginnings(chain, emotions):
    found = chain.joint_modes(emotions[2])
    assert (found.n_iter <= 6 / found.probability + 1e-9).all()  # at most m / p beginnings are as probable as the mode


def test_greedy_can_miss_the_mode():
    model = fm.LabelChain(n_draws=1)
    rng = np.random.default_rng(0)
    model.fit(rng.normal(size=(30, 1)), rng.integers(2, size=(30, 3)))
    model.coef_[:], model.intercept_[:], model.coupling_[:] = 0.0, [0.2, 0.0, 0.0], 0.0
    model.intercept_[1:], model.coupling_[1:, 0] = 4.0, -4.0  # after y_1 = 1 the others are coins, else they are sure
    greedy, exact = model.joint_modes([[0.0]], method="greedy"), model.joint_modes([[0.0]])
    assert greedy.h[0, 0] == 1 and exact.h[0].tolist() == [0, 1, 1]
    assert exact.probability[0] > 1.5 * greedy.probability[0]


def test_a_search_that_is_cut_short_says_so(chain, emotions):
    from sklearn.exceptions import ConvergenceWarning

    chain.set_params(max_nodes=2)
    with pytest.warns(ConvergenceWarning, match="raise max_nodes"):
        found = chain.joint_modes(emotions[2])
    chain.set_params(max_nodes=100_000)
    assert not found.converged and found.gap > 0


def test_a_chain_may_leave_inputs_as_they_are(emotions):
    X, Y, X_test, _ = emotions
    centred = (X - X.mean(axis=0)) / X.std(axis=0)
    there = (X_test - X.mean(axis=0)) / X.std(axis=0)
    plain = fm.LabelChain(standardize=False, n_draws=50, random_state=0).fit(centred, Y)
    scaled = fm.LabelChain(n_draws=50, random_state=0).fit(X, Y)
    np.testing.assert_allclose(plain.coef_, scaled.coef_, atol=1e-6)
    assert (plain.predict(there) == scaled.predict(X_test)).all()
    other = fm.LabelChain(standardize=False, n_draws=50, random_state=0).fit(1e-3 * centred, Y)
    assert np.abs(1e-3 * other.coef_ - plain.coef_).max() > 0.1 * np.abs(plain.coef_).max()
    with pytest.raises(ValueError, match="standardize"):
        fm.LabelChain(standardize="no").fit(X, Y)


def test_a_chain_accepts_a_search_over_penalties(emotions):
    X, Y, X_test, Y_test = emotions
    search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": [0.01, 0.1]}, scoring="neg_log_loss", cv=3)
    assert fm.LabelChain(search, random_state=0).fit(X, Y).score(X_test, Y_test) > 0.6


def test_frames_pipelines_and_searches(emotions):
    X, Y, X_test, Y_test = emotions
    frame, labels = pd.DataFrame(X).add_prefix("x"), pd.DataFrame(Y).add_prefix("label")
    model = make_pipeline(StandardScaler(), fm.NeighborLabels())
    search = GridSearchCV(model, {"neighborlabels__n_neighbors": [5, 15]}, cv=3).fit(frame, labels)
    said = search.predict(pd.DataFrame(X_test).add_prefix("x"))
    assert search.score(pd.DataFrame(X_test).add_prefix("x"), Y_test) == pytest.approx(fm.f_measure(Y_test, said))
    assert cross_val_score(model, X, Y, cv=3).shape == (3,)
    assert (
        fm.NeighborLabels().fit(X, sparse.csr_matrix(Y)).predict(X_test) == model[-1].fit(X, Y).predict(X_test)
    ).all()
    assert (fm.NeighborLabels().fit(X, Y.astype(bool)).predict(X_test)).dtype == bool


def test_contradicting_probabilities_give_no_f_above_one():
    # Exactly one label, and each of two with probability 0.9: the values came out as 1.2.
    for P, p0 in (([[0.9], [0.9]], 0.9), ([[0.9], [0.9]], 0.1), ([[0.0, 1.0], [0.0, 0.0]], 1.0)):
        found = fm.gfm(P, p0)
        assert found.by_size.max() == found.value <= 1
    P = np.array([[[0.3], [0.2]], [[0.9], [0.9]]])
    assert fm.gfm(P, [0.5, 0.1]).value[0] == fm.gfm(P[0], 0.5).value == 0.5  # a law is left alone
    assert fm.gfm(P, [0.5, 0.1]).value[1] == pytest.approx(1.2 / 1.9)


def test_rows_of_independent_labels_are_probabilities():
    with pytest.raises(ValueError, match="p "):
        fm_rows(np.array([[1.5, 0.2]]))


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_does_not_see_the_order_of_the_rows(seed):
    # Columns that are copies or mirrors tie exactly, and rounding, which depends on the order, must not decide.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (300, 3)).astype(float)
    X = np.column_stack([X, -X, X**3])
    Y = (rng.random((300, 7)) < 0.2 + 0.5 * (X[:, :1] > 5)).astype(int)
    tree = fm.FMeasureTree(min_samples_leaf=5).fit(X, Y)
    for _ in range(4):
        turn = rng.permutation(300)
        other = fm.FMeasureTree(min_samples_leaf=5).fit(X[turn], Y[turn])
        for a, b in zip(tree._tree, other._tree, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("side", [1, -1])
def test_a_split_counts_rows_without_labels_on_the_side_where_they_are(side):
    x = side * np.repeat([0.0, 1.0], 20)
    Y = np.column_stack([np.repeat([0, 1], 20), np.zeros(40, int)])
    tree = fm.FMeasureTree(min_samples_leaf=5).fit(x[:, None], Y)
    assert tree.n_leaves_ == 2
    np.testing.assert_array_equal(tree.predict(x[:, None]), Y)
