"""The claims of Waegeman et al. (2014) on maximising the F-measure, and what is wrong with some of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, fbeta_score, hamming_loss, jaccard_score, precision_score, recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets import load
from learnable.datasets.multilabel import make_label_laws
from learnable.selection import f_measure_maximization as fm
from learnable.selection.f_measure_maximization.laws import all_vectors

MARGINALS = (
    ([[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], [0.1, 0.2, 0.2, 0.5], [1, 0, 0, 0]),
    ([[0, 0, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]], [0.5, 0.1, 0.2, 0.2], [0, 0, 0, 0]),
)
TWELVE = np.zeros((4, 12), dtype=int)
TWELVE[1, 0] = 1
TWELVE[2, 1:7] = 1
TWELVE[3, [1, 7, 8, 9, 10, 11]] = 1
TWELVE_P = [0.21, 0.39, 0.2, 0.2]


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


def random_law(rng, m, n=40):
    Y = (rng.random((n, m)) < rng.random(m)).astype(int)
    return Y, rng.dirichlet(np.full(n, 0.3))


# --- measures --------------------------------------------------------------------------------------------------------


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


def test_jaccard_lies_between_half_of_f_and_f():
    vectors = all_vectors(4).astype(int)[1:]
    for y in vectors:
        f = fm.f_measure(np.tile(y, (len(vectors), 1)), vectors, average=None)
        j = np.array([fm.label_scores([y], [h]).jaccard for h in vectors])
        assert (f / 2 <= j + 1e-12).all() and (j <= f + 1e-12).all()


# --- the exact maximiser ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3, 5, 8, 12])
def test_gfm_is_brute_force(m):
    rng = np.random.default_rng(m)
    for _ in range(30 if m < 10 else 3):
        Y, p = random_law(rng, m)
        want = fm.brute_force(Y, sample_weight=p)
        P, p0 = fm.size_probabilities(Y, sample_weight=p)
        found = fm.gfm(P, p0)
        assert found.by_size == pytest.approx(want.by_size, abs=1e-12)
        assert found.value == pytest.approx(want.value, abs=1e-12)
        assert fm.expected_f(Y, found.h, sample_weight=p) == pytest.approx(want.value, abs=1e-12)
        assert fm.regret(Y, found.h, sample_weight=p) == pytest.approx(0, abs=1e-12)
        assert (fm.decide(Y, "GFM", sample_weight=p) == found.h).all()


def test_gfm_by_batches_is_gfm_one_by_one():
    rng = np.random.default_rng(0)
    laws = [fm.size_probabilities(*[random_law(rng, 6)[0]]) for _ in range(300)]
    P, p0 = np.array([law[0] for law in laws]), np.array([law[1] for law in laws])
    found = fm.gfm(P, p0)
    for i in range(0, 300, 37):
        one = fm.gfm(P[i], p0[i])
        assert (one.h == found.h[i]).all() and one.value == found.value[i]
    assert found.value == pytest.approx(found.by_size.max(axis=1))
    assert (fm.gfm(np.asfortranarray(P), p0).h == found.h).all()


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


def test_sizes_that_never_occur_can_be_left_out():
    P, p0 = fm.size_probabilities([[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
    whole = fm.gfm(P, p0)
    part = fm.gfm(P[:, [1, 3]], p0, sizes=[2, 4])
    assert (whole.h == part.h).all() and part.by_size == pytest.approx(whole.by_size)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0, 5.0])
def test_f_beta(beta):
    rng = np.random.default_rng(3)
    for _ in range(20):
        Y, p = random_law(rng, 5)
        want = fm.brute_force(Y, sample_weight=p, beta=beta)
        found = fm.gfm(*fm.size_probabilities(Y, sample_weight=p), beta=beta)
        assert found.value == pytest.approx(want.value, abs=1e-12)
        assert fm.expected_f(Y, found.h, sample_weight=p, beta=beta) == pytest.approx(found.value, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 7))
def test_permuting_the_labels_permutes_the_prediction(seed, m):
    rng = np.random.default_rng(seed)
    Y, p = random_law(rng, m)
    P, p0 = fm.size_probabilities(Y, sample_weight=p)
    order = rng.permutation(m)
    assert (fm.gfm(P[order], p0).h == fm.gfm(P, p0).h[order]).all()
    assert fm.gfm(P[order], p0).value == pytest.approx(fm.gfm(P, p0).value)


def test_row_order_and_scale_of_the_weights_do_not_matter():
    rng = np.random.default_rng(4)
    Y, p = random_law(rng, 5)
    order = rng.permutation(len(Y))
    for rule in ("MM", "JM", "FM", "GFM", "threshold"):
        want = fm.decide(Y, rule, sample_weight=p)
        assert (fm.decide(Y[order], rule, sample_weight=p[order]) == want).all()
        for scale in (1e-300, 1e8, 1e300):
            assert (fm.decide(Y, rule, sample_weight=scale * p) == want).all()


def test_ties_are_broken_the_same_way_each_time():
    # Two labels of equal standing, one of them to be named: the smaller index. Equal sizes: the smaller size.
    assert fm.decide([[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]], "GFM").tolist() == [0, 0, 0]
    assert fm.gfm([[0.5, 0.0], [0.5, 0.0]], 0.0).h.tolist() == [1, 1]
    assert fm.gfm([[0.3, 0.0], [0.3, 0.0]], 0.4).h.tolist() == [0, 0]
    assert fm.gfm([[0.2], [0.5], [0.5]], 0.0, sizes=[3]).h.tolist() == [0, 1, 1]
    assert fm.decide([[1, 0], [0, 0]], "MM").tolist() == [1, 0]  # one half counts as yes
    assert fm.decide([[1, 0], [0, 1]], "JM").tolist() == [1, 0]  # the vector that comes first
    assert fm.decide([[0, 1], [1, 0]], "JM").tolist() == [0, 1]


def test_one_row_one_label_and_sure_labels():
    for rule in ("MM", "JM", "FM", "GFM", "threshold"):
        assert fm.decide([[1, 0, 1]], rule).tolist() == [1, 0, 1]
        assert fm.decide([[0, 0]], rule).tolist() == [0, 0]
        assert fm.decide([[1], [1], [0]], rule).tolist() == [1]
        assert fm.decide([[1], [0], [0]], rule).tolist() == [0]


# --- independent labels ----------------------------------------------------------------------------------------------


def product_law(p):
    Y = all_vectors(len(p)).astype(int)
    return Y, np.where(Y, p, 1 - np.asarray(p)).prod(axis=1)


@pytest.mark.parametrize("m", [1, 2, 4, 7])
def test_independent_labels_all_roads_agree(m):
    rng = np.random.default_rng(m)
    for _ in range(10):
        p = rng.random(m)
        Y, law = product_law(p)
        want = fm.brute_force(Y, sample_weight=law)
        found = fm.fm_independent(p)
        assert found.by_size == pytest.approx(want.by_size, abs=1e-12)
        assert (found.h == want.h).all()
        assert fm.gfm(*fm.size_probabilities(Y, sample_weight=law)).value == pytest.approx(found.value, abs=1e-12)
        for method in ("chai", "jansche"):
            assert fm.top_k_values(p, method=method) == pytest.approx(found.by_size, abs=1e-10)


def test_probabilities_zero_and_one():
    for p in ([0.0, 1.0, 0.5], [1.0, 1.0], [0.0, 0.0], [1.0], [0.0]):
        Y, law = product_law(p)
        want = fm.brute_force(Y, sample_weight=law)
        assert fm.fm_independent(p).by_size == pytest.approx(want.by_size, abs=1e-12)
        assert fm.top_k_values(p, method="jansche") == pytest.approx(want.by_size, abs=1e-12)
        assert fm.top_k_values(p, method="chai") == pytest.approx(want.by_size, abs=1e-9)


def test_theorem_4_the_best_set_has_the_most_probable_labels():
    rng = np.random.default_rng(8)
    for _ in range(50):
        p = rng.random(6)
        h = fm.brute_force(*product_law(p)[:1], sample_weight=product_law(p)[1]).h.astype(bool)
        if h.any() and not h.all():
            assert p[h].min() >= p[~h].max()


def test_lewis_is_an_approximation_that_is_good_for_many_labels():
    p = np.random.default_rng(9).random(400)
    exact, guess = fm.top_k_values(p), fm.top_k_values(p, method="lewis")
    assert np.abs(exact - guess)[1:].max() < 2e-3
    assert abs(fm.top_k_values([0.5, 0.4, 0.3], method="lewis")[3] - fm.top_k_values([0.5, 0.4, 0.3])[3]) > 0.05


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


def test_theorem_6_exactly_one_label():
    rng = np.random.default_rng(12)
    for m in (1, 2, 3, 5, 7):
        for _ in range(20):
            p = rng.dirichlet(np.full(m, 0.7))
            want = fm.brute_force(np.eye(m), sample_weight=p)
            got = fm.categorical_f(p)
            assert fm.expected_f(np.eye(m), got, sample_weight=p) == pytest.approx(want.value, abs=1e-12)
    assert fm.categorical_f(np.full(5, 0.2)).tolist() == [1] * 5  # no k at which the sum suffices


# --- worked examples and worst cases ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", MARGINALS)
def test_equal_marginals_other_maximisers(case):
    Y, p, want = case
    marginals = np.array(p) @ np.array(Y)
    assert marginals == pytest.approx([0.5, 0.2, 0.2, 0.1])
    assert fm.decide(Y, "GFM", sample_weight=p).tolist() == want


def test_the_best_set_is_not_ordered_by_marginals():
    marginals = np.array(TWELVE_P) @ TWELVE
    assert marginals.argmax() == 1 and marginals[0] == pytest.approx(0.39)
    best = fm.decide(TWELVE, "GFM", sample_weight=TWELVE_P)
    assert best.tolist() == [1] + [0] * 11
    assert fm.expected_f(TWELVE, best, sample_weight=TWELVE_P) == pytest.approx(0.39)
    at_best = fm.decide(TWELVE, "threshold", sample_weight=TWELVE_P)
    assert fm.expected_f(TWELVE, at_best, sample_weight=TWELVE_P) == pytest.approx(0.36, abs=5e-3)


def test_the_threshold_rule_is_the_best_threshold():
    rng = np.random.default_rng(13)
    for _ in range(30):
        Y, p = random_law(rng, 5, n=8)
        marginals = p @ Y
        sets = [(marginals >= t - 1e-12).astype(int) for t in [*marginals, 2.0]]
        want = max(fm.expected_f(Y, h, sample_weight=p) for h in sets)
        got = fm.decide(Y, "threshold", sample_weight=p)
        assert fm.expected_f(Y, got, sample_weight=p) == pytest.approx(want, abs=1e-12)
        assert any((got == h).all() for h in sets)


def test_a_threshold_cannot_part_labels_of_equal_probability():
    p = [0.2, 0.4, 0.2, 0.2]
    assert (p @ TWELVE)[:2] == pytest.approx([0.4, 0.4])
    assert fm.decide(TWELVE, "threshold", sample_weight=p).tolist() == [1, 1] + [0] * 10
    assert fm.decide(TWELVE, "GFM", sample_weight=p).tolist() == [1] + [0] * 11


@pytest.mark.parametrize(("m", "value"), [(3, 0.4875), (4, 0.6190), (5, 0.7026)])
def test_theorem_2_programme_and_closed_form(m, value):
    found = fm.worst_case_regret("subset", m)
    assert found.value == pytest.approx(value, abs=5e-5)
    assert fm.worst_case_bound("subset", m) == pytest.approx(found.value, abs=1e-9)
    sizes = found.Y.sum(axis=1)
    assert ((sizes == 0) | (sizes >= m - 2)).all() and len(found.Y) == 2 + m + m * (m - 1) // 2
    assert found.probabilities == pytest.approx(np.full(len(found.Y), 2 / (m**2 + m + 4)))
    assert found.surrogate.sum() == 0 and found.best.sum() == m


def test_theorem_1_is_too_small():
    Y, p = fm.adversarial_law("hamming", 2, eps=0.01)
    assert (p @ Y < 0.5).all()  # so the Hamming minimiser is unique: no label
    assert fm.decide(Y, "MM", sample_weight=p).tolist() == [0, 0]
    assert fm.regret(Y, [0, 0], sample_weight=p) == pytest.approx(0.98 * 2 / 3 - 0.02)
    for m in (2, 3, 4, 5):
        found = fm.worst_case_regret("hamming", m)
        assert found.value == pytest.approx(2 / 3)
        assert fm.regret(found.Y, found.surrogate, sample_weight=found.probabilities) == pytest.approx(2 / 3)
        wrong = found.probabilities @ (found.Y != found.surrogate)
        assert (wrong <= 0.5 + 1e-9).all()


def test_a_linear_programme_over_all_vectors_agrees_with_the_reduced_one():
    from scipy.optimize import linprog

    m = 3
    Y = all_vectors(m).astype(int)
    F = np.array([[fm.f_measure([y], [h]) for h in Y] for y in Y])
    best = {"hamming": 0.0, "subset": 0.0}
    for g in range(len(Y)):
        for h in range(len(Y)):
            wrong = (Y != Y[g]).T.astype(float)
            above = np.eye(len(Y)) - np.eye(len(Y))[g]
            for name, A, b in (("hamming", wrong, np.full(m, 0.5)), ("subset", above, np.zeros(len(Y)))):
                found = linprog(-(F[:, h] - F[:, g]), A_ub=A, b_ub=b, A_eq=np.ones((1, len(Y))), b_eq=[1.0])
                best[name] = max(best[name], -found.fun)
    for name, value in best.items():
        assert fm.worst_case_regret(name, m).value == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize(("m", "q"), [(3, 0.7207), (5, 0.7911), (10, 0.8621), (50, 0.9527)])
def test_theorem_5_independence(m, q):
    assert (1 + fm.worst_case_bound("independent", m)) / 2 == pytest.approx(q, abs=5e-5)
    Y, p = fm.adversarial_law("independent", m, eps=1e-4)
    h = fm.decide(Y, "FM", sample_weight=p)
    assert h.all() and fm.regret(Y, h, sample_weight=p) == pytest.approx(2 * q - 1, abs=1e-3)
    q_too_large = [p[0] + 2e-4, p[1] - 2e-4]
    assert not fm.decide(Y, "FM", sample_weight=q_too_large).any()


def test_corollary_1_holds_though_its_limit_is_another():
    # E F(all ones) tends to 2p/(1 + p), not to 1; q^m tends to 0 all the same.
    values = fm.top_k_values(np.full(3000, 0.1))
    assert values[-1] == pytest.approx(2 * 0.1 / 1.1, abs=1e-3) and values[0] < 1e-100
    assert fm.worst_case_bound("independent", 10_000) > 0.99


@pytest.mark.parametrize("m", [6, 12, 20, 60, 200])
def test_theorem_7_thresholds(m):
    Y, p = fm.adversarial_law("threshold", m, eps=1e-6)
    assert p.sum() == pytest.approx(1) and (p @ Y)[1] > (p @ Y)[0]
    h = fm.decide(Y, "threshold", sample_weight=p)
    found = fm.regret(Y, h, sample_weight=p)
    assert found >= fm.worst_case_bound("threshold", m) - 1e-5
    if m >= 20:
        assert found == pytest.approx(1 / 6 - 2 / (m + 6), abs=1e-5)
        assert fm.decide(Y, "GFM", sample_weight=p).tolist() == [1] + [0] * (m - 1)


def test_the_law_for_subset_loss():
    for m in (3, 6, 20):
        Y, p = fm.adversarial_law("subset", m, eps=1e-5)
        h = fm.decide(Y, "JM", sample_weight=p)
        assert not h.any()
        assert fm.regret(Y, h, sample_weight=p) == pytest.approx(fm.worst_case_bound("subset", m), abs=1e-4)


def test_theorem_3_the_bound_for_jaccard():
    rng = np.random.default_rng(14)
    Y = all_vectors(3).astype(int)
    F = np.array([[fm.f_measure([y], [h]) for h in Y] for y in Y])
    J = np.array([[fm.label_scores([y], [h]).jaccard for h in Y] for y in Y])
    laws = rng.dirichlet(np.full(8, 0.3), size=20_000)
    by_f, by_j = laws @ F, laws @ J
    chosen = by_f.argmax(axis=1)
    lost = by_j.max(axis=1) - by_j[np.arange(len(laws)), chosen]
    assert (lost <= 1 - by_f.max(axis=1) / 2 + 1e-12).all() and lost.max() > 0.1


def test_each_rule_is_best_for_its_own_measure():
    """Under a law of 2^6 vectors: MM for Hamming, JM for subset, GFM for F; GFM is never worse in F."""
    rng = np.random.default_rng(15)
    Y = all_vectors(6).astype(int)
    for _ in range(20):
        p = rng.dirichlet(np.full(len(Y), 0.1))
        sets = {rule: fm.decide(Y, rule, sample_weight=p) for rule in ("MM", "JM", "FM", "GFM", "threshold")}
        hamming = {rule: p @ (Y != h).mean(axis=1) for rule, h in sets.items()}
        exact = {rule: p @ (Y == h).all(axis=1) for rule, h in sets.items()}
        f = {rule: fm.expected_f(Y, h, sample_weight=p) for rule, h in sets.items()}
        assert hamming["MM"] <= min(hamming.values()) + 1e-12
        assert exact["JM"] >= max(exact.values()) - 1e-12
        assert f["GFM"] >= max(f.values()) - 1e-12 and f["threshold"] >= f["FM"] - 1e-12


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


# --- learners --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def emotions():
    X, Y = load("emotions", return_X_y=True)
    return X[:391], Y[:391], X[391:], Y[391:]


def test_neighbours_by_hand(emotions):
    X, Y, X_test, _ = emotions
    rows = [0, 5, 77]
    for rule in ("MM", "JM", "FM", "GFM", "threshold"):
        model = fm.NeighborLabels(15, rule, allow_empty=True).fit(X, Y)
        for i in rows:
            near = np.argsort(((X - X_test[i]) ** 2).sum(axis=1), kind="stable")[:15]
            assert (model.predict(X_test[[i]])[0] == fm.decide(Y[near], rule)).all()
    P, p0 = model.size_probabilities(X_test)
    near = np.argsort(((X - X_test[5]) ** 2).sum(axis=1), kind="stable")[:15]
    want = fm.size_probabilities(Y[near])[0]
    assert P[5] == pytest.approx(want[:, model.sizes_ - 1]) and p0[5] == pytest.approx(
        (Y[near].sum(axis=1) == 0).mean()
    )


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


def test_tree_splits_where_f_gains_most():
    """All thresholds of one feature by hand."""
    rng = np.random.default_rng(17)
    x = np.sort(rng.random(30))
    Y = np.column_stack([x > 0.4, x > 0.7, rng.random(30) < 0.3]).astype(int)
    model = fm.FMeasureTree(max_depth=1, min_samples_leaf=3, max_thresholds=1000).fit(x[:, None], Y)

    def best(rows):
        return len(rows) * fm.gfm(*fm.size_probabilities(rows)).value

    values = {j: best(Y[:j]) + best(Y[j:]) for j in range(3, 28)}
    j = max(values, key=values.get)
    assert model.n_leaves_ == 2
    left, right = model.predict([[x[j - 1]]])[0], model.predict([[x[j]]])[0]
    assert (left == fm.decide(Y[:j], "GFM")).all() and (right == fm.decide(Y[j:], "GFM")).all()
    P, p0 = model.size_probabilities([[x[j - 1]]])
    assert P[0] == pytest.approx(fm.size_probabilities(Y[:j])[0][:, model.sizes_ - 1])
    assert p0[0] == pytest.approx((Y[:j].sum(axis=1) == 0).mean())


def test_a_pure_node_and_a_constant_feature_are_not_split():
    Y = np.tile([1, 0, 1], (20, 1))
    X = np.arange(20.0)[:, None]
    assert fm.FMeasureTree(min_samples_leaf=1).fit(X, Y).n_leaves_ == 1
    Y = np.random.default_rng(0).integers(2, size=(20, 3))
    assert fm.FMeasureTree(min_samples_leaf=1).fit(np.ones((20, 2)), Y).n_leaves_ == 1


def test_trees_learn_and_bags_learn_more(emotions):
    X, Y, X_test, Y_test = emotions
    tree = fm.FMeasureTree(min_samples_leaf=20).fit(X, Y).score(X_test, Y_test)
    bag = fm.BaggedFMeasureTree(n_estimators=10, random_state=0).fit(X, Y)
    assert fm.expected_f(Y_test, fm.decide(Y, "GFM")) < tree < bag.score(X_test, Y_test)
    again = fm.BaggedFMeasureTree(n_estimators=10, random_state=0).fit(X, Y)
    assert (bag.predict(X_test) == again.predict(X_test)).all()


def test_a_bag_tries_the_asked_share_of_the_features():
    """One of eight features decides. Trees that may try all find it at the root; trees that try one seldom do."""
    X = np.random.default_rng(5).normal(size=(120, 8))
    Y = np.column_stack([X[:, 6] > 0, X[:, 6] <= 0]).astype(int)

    def right(share):
        options = {"max_depth": 1, "max_thresholds": 200, "random_state": 0}
        return fm.BaggedFMeasureTree(n_estimators=1, max_features=share, **options).fit(X, Y).score(X, Y)

    assert right(1.0) > 0.95 and right(0.9) > 0.95
    assert min(right(0.01), right(0.1)) < 0.9


# --- chains ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chain(emotions):
    X, Y = emotions[:2]
    return fm.LabelChain(order=[3, 0, 5, 1, 2, 4], n_draws=20_000, random_state=0).fit(X, Y)


def chain_law(model, x):
    """P(y | x) of all vectors, in the order of the columns, from the fitted coefficients."""
    m = model.n_labels_
    Y = all_vectors(m).astype(int)
    z = (x - model._mean) / model._scale
    p = np.ones(len(Y))
    ordered = Y[:, model.order_]
    for t in range(m):
        score = model.intercept_[t] + model.coef_[t] @ z + ordered[:, :t] @ model.coupling_[t, :t]
        share = 1 / (1 + np.exp(-score))
        p *= np.where(ordered[:, t], share, 1 - share)
    return Y, p


def test_draws_from_the_chain_follow_its_law(chain, emotions):
    x = emotions[2][:3]
    P, p0 = chain.size_probabilities(x)
    for i in range(3):
        Y, p = chain_law(chain, x[i])
        assert p.sum() == pytest.approx(1)
        want, empty = fm.size_probabilities(Y, sample_weight=p)
        assert np.abs(P[i] - want).max() < 0.015 and abs(p0[i] - empty) < 0.015  # four standard errors of 20,000 draws


def test_the_search_finds_the_joint_mode(chain, emotions):
    X_test = emotions[2][:60]
    found, greedy = chain.joint_modes(X_test), chain.joint_modes(X_test, method="greedy")
    assert found.converged and found.gap == 0
    for i in range(60):
        Y, p = chain_law(chain, X_test[i])
        assert found.probability[i] == pytest.approx(p.max())
        assert (found.h[i] == Y[p.argmax()]).all()
    assert (greedy.probability <= found.probability + 1e-12).all()
    assert (chain.set_params(rule="JM").predict(X_test) == found.h).all()
    chain.set_params(rule="GFM")


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


def test_a_chain_accepts_a_search_over_penalties(emotions):
    X, Y, X_test, Y_test = emotions
    search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": [0.01, 0.1]}, scoring="neg_log_loss", cv=3)
    assert fm.LabelChain(search, random_state=0).fit(X, Y).score(X_test, Y_test) > 0.6


# --- dependence ------------------------------------------------------------------------------------------------------


def test_under_dependence_gfm_gains_with_the_sample_and_fm_does_not():
    """All labels or none: what independence gets wrong does not vanish with the size of the sample."""
    Y, p = fm.adversarial_law("independent", 10, eps=0.05)
    rng = np.random.default_rng(18)
    lost = {}
    for n in (4, 1000):
        samples = [Y[rng.choice(2, size=n, p=p)] for _ in range(50)]
        for rule in ("FM", "GFM"):
            lost[rule, n] = np.mean([fm.regret(Y, fm.decide(s, rule), sample_weight=p) for s in samples])
    assert lost["GFM", 1000] == 0 < lost["GFM", 4]
    assert lost["FM", 1000] > 0.5 > lost["FM", 4]


def test_fm_needs_fewer_examples_where_labels_are_independent():
    lost = {"FM": [], "GFM": []}
    for seed in range(40):
        made = make_label_laws(12, m=25, kind="independent", random_state=seed)
        p = 1 / (1 + np.exp(-made.weights))
        exact = fm.top_k_values(p).max()
        test = (np.random.default_rng(seed).random((4000, 25)) < p).astype(int)
        for rule in lost:
            lost[rule].append(exact - fm.expected_f(test, fm.decide(made.target, rule)))
    assert np.mean(lost["FM"]) < np.mean(lost["GFM"])


# --- workflow and refusals -------------------------------------------------------------------------------------------


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


def test_inputs_are_not_modified(emotions):
    X, Y = emotions[0].copy(), emotions[1].copy()
    P, p0 = fm.size_probabilities(Y)
    before = P.copy()
    fm.gfm(P, p0)
    p = np.array([0.2, 0.7])
    fm.fm_independent(p)
    fm.LabelChain(n_draws=10).fit(X, Y).predict(X)
    assert (P == before).all() and p.tolist() == [0.2, 0.7]
    assert (X == emotions[0]).all() and (Y == emotions[1]).all()


REFUSED = {
    "Y of twos": (lambda: fm.decide([[2, 0]]), "Y must hold zeros and ones"),
    "Y with NaN": (lambda: fm.decide([[np.nan, 0]]), "Y must be finite"),
    "Y empty": (lambda: fm.decide(np.zeros((0, 3))), "Y must be a table"),
    "Y of one dimension": (lambda: fm.size_probabilities([1, 0]), "Y must be a table"),
    "rule": (lambda: fm.decide([[1, 0]], "gfm"), "rule must be"),
    "weights": (lambda: fm.decide([[1, 0]], sample_weight=[-1.0]), "sample_weight must be non-negative"),
    "shapes": (lambda: fm.f_measure([[1, 0]], [[1]]), "one shape"),
    "average": (lambda: fm.f_measure([[1, 0]], [[1, 0]], average="samples"), "average must be"),
    "beta": (lambda: fm.f_measure([[1, 0]], [[1, 0]], beta=0), "beta must be"),
    "h": (lambda: fm.expected_f([[1, 0]], [1, 0, 0]), "h must have 2 labels"),
    "P": (lambda: fm.gfm([[0.9, 0.9], [0.0, 0.0]], 0.0), "P must hold probabilities"),
    "P negative": (lambda: fm.gfm([[-0.1, 0.2], [0, 0]], 0.0), "P must hold probabilities"),
    "P of one dimension": (lambda: fm.gfm([0.1, 0.2], 0.0), "P must have shape"),
    "p0": (lambda: fm.gfm([[0.1]], 1.5), "p0 must lie"),
    "p0 of the wrong length": (lambda: fm.gfm([[[0.1]], [[0.2]]], 0.5), "p0 must have one"),
    "sizes": (lambda: fm.gfm([[0.1]], 0.5, sizes=[2]), "sizes must lie in 1..1"),
    "sizes repeat": (lambda: fm.gfm([[0.1, 0.1], [0.1, 0.1]], 0.5, sizes=[1, 1]), "sizes must be 2 different"),
    "p": (lambda: fm.fm_independent([0.5, 1.2]), "p must lie in"),
    "p empty": (lambda: fm.fm_independent([]), "p must have shape"),
    "p of two dimensions": (lambda: fm.top_k_values([[0.5]]), "p must have 1 dimension"),
    "p of classes": (lambda: fm.categorical_f([0.5, 0.2]), "p must sum to 1"),
    "too many labels": (lambda: fm.brute_force(np.ones((1, 17))), "at most 16 labels"),
    "odd m": (lambda: fm.adversarial_law("threshold", 7), "m must be even"),
    "m": (lambda: fm.worst_case_regret("subset", 11), "m must be an integer"),
    "kind": (lambda: fm.adversarial_law("jaccard", 4), "kind must be"),
    "neighbours": (lambda: fm.NeighborLabels(0).fit([[1.0], [2.0]], [[1, 0], [0, 1]]), "n_neighbors must be"),
    "too few": (lambda: fm.NeighborLabels(3).fit([[1.0], [2.0]], [[1, 0], [0, 1]]), "n_neighbors must be at most"),
    "order": (lambda: fm.LabelChain(order=[0, 0]).fit([[1.0], [2.0]], [[1, 0], [0, 1]]), "order must be a permutation"),
    "rule of the plug-in": (lambda: fm.FMeasurePlugIn(rule="JM").fit([[1.0]], [[1, 0]]), "rule must be"),
    "share": (lambda: fm.BaggedFMeasureTree(max_features=0).fit([[1.0]], [[1, 0]]), "max_features must be"),
    "huge inputs": (lambda: fm.NeighborLabels(1).fit([[1e200], [0.0]], [[1, 0], [0, 1]]), "X must have a largest"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_by_name(case):
    run, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        run()


@pytest.mark.parametrize("kind, m", [("hamming", 4), ("subset", 5), ("independent", 6), ("threshold", 8)])
def test_adversarial_laws_are_laws(kind, m):
    """Regrets divide by the sum of the weights, so that they would not notice."""
    Y, p = fm.adversarial_law(kind, m, eps=0.01)
    assert p.sum() == pytest.approx(1) and p.min() >= 0 and len(np.unique(Y, axis=0)) == len(p)
    if kind == "subset":
        assert p[0] - p[1] == pytest.approx(0.01)
