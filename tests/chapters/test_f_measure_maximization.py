"""The claims of Waegeman et al. (2014) on maximising the F-measure, and what is wrong with some of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnable import selection as fm
from learnable.chapters.f_measure_maximization import theory, worst_cases
from learnable.chapters.f_measure_maximization.theory import all_vectors
from learnable.datasets import load
from learnable.datasets.multilabel import make_label_laws

MARGINALS = (
    ([[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], [0.1, 0.2, 0.2, 0.5], [1, 0, 0, 0]),
    ([[0, 0, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]], [0.5, 0.1, 0.2, 0.2], [0, 0, 0, 0]),
)
TWELVE = np.zeros((4, 12), dtype=int)
TWELVE[1, 0] = 1
TWELVE[2, 1:7] = 1
TWELVE[3, [1, 7, 8, 9, 10, 11]] = 1
TWELVE_P = [0.21, 0.39, 0.2, 0.2]


def random_law(rng, m, n=40):
    Y = (rng.random((n, m)) < rng.random(m)).astype(int)
    return Y, rng.dirichlet(np.full(n, 0.3))


def test_jaccard_lies_between_half_of_f_and_f():
    vectors = all_vectors(4).astype(int)[1:]
    for y in vectors:
        f = fm.f_measure(np.tile(y, (len(vectors), 1)), vectors, average=None)
        j = np.array([fm.label_scores([y], [h]).jaccard for h in vectors])
        assert (f / 2 <= j + 1e-12).all() and (j <= f + 1e-12).all()


@pytest.mark.parametrize("m", [1, 2, 3, 5, 8, 12])
def test_gfm_is_brute_force(m):
    rng = np.random.default_rng(m)
    for _ in range(30 if m < 10 else 3):
        Y, p = random_law(rng, m)
        want = theory.brute_force(Y, sample_weight=p)
        P, p0 = theory.size_probabilities(Y, sample_weight=p)
        found = fm.gfm(P, p0)
        assert found.by_size == pytest.approx(want.by_size, abs=1e-12)
        assert found.value == pytest.approx(want.value, abs=1e-12)
        assert theory.expected_f(Y, found.h, sample_weight=p) == pytest.approx(want.value, abs=1e-12)
        assert worst_cases.regret(Y, found.h, sample_weight=p) == pytest.approx(0, abs=1e-12)
        assert (theory.decide(Y, "GFM", sample_weight=p) == found.h).all()


def test_gfm_by_batches_is_gfm_one_by_one():
    rng = np.random.default_rng(0)
    laws = [theory.size_probabilities(*[random_law(rng, 6)[0]]) for _ in range(300)]
    P, p0 = np.array([law[0] for law in laws]), np.array([law[1] for law in laws])
    found = fm.gfm(P, p0)
    for i in range(0, 300, 37):
        one = fm.gfm(P[i], p0[i])
        assert (one.h == found.h[i]).all() and one.value == found.value[i]
    assert found.value == pytest.approx(found.by_size.max(axis=1))
    assert (fm.gfm(np.asfortranarray(P), p0).h == found.h).all()


def test_sizes_that_never_occur_can_be_left_out():
    P, p0 = theory.size_probabilities([[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
    whole = fm.gfm(P, p0)
    part = fm.gfm(P[:, [1, 3]], p0, sizes=[2, 4])
    assert (whole.h == part.h).all() and part.by_size == pytest.approx(whole.by_size)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0, 5.0])
def test_f_beta(beta):
    rng = np.random.default_rng(3)
    for _ in range(20):
        Y, p = random_law(rng, 5)
        want = theory.brute_force(Y, sample_weight=p, beta=beta)
        found = fm.gfm(*theory.size_probabilities(Y, sample_weight=p), beta=beta)
        assert found.value == pytest.approx(want.value, abs=1e-12)
        assert theory.expected_f(Y, found.h, sample_weight=p, beta=beta) == pytest.approx(found.value, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 7))
def test_permuting_the_labels_permutes_the_prediction(seed, m):
    rng = np.random.default_rng(seed)
    Y, p = random_law(rng, m)
    P, p0 = theory.size_probabilities(Y, sample_weight=p)
    order = rng.permutation(m)
    assert (fm.gfm(P[order], p0).h == fm.gfm(P, p0).h[order]).all()
    assert fm.gfm(P[order], p0).value == pytest.approx(fm.gfm(P, p0).value)


def test_row_order_and_scale_of_the_weights_do_not_matter():
    rng = np.random.default_rng(4)
    Y, p = random_law(rng, 5)
    order = rng.permutation(len(Y))
    for rule in ("MM", "JM", "FM", "GFM", "threshold"):
        want = theory.decide(Y, rule, sample_weight=p)
        assert (theory.decide(Y[order], rule, sample_weight=p[order]) == want).all()
        for scale in (1e-300, 1e8, 1e300):
            assert (theory.decide(Y, rule, sample_weight=scale * p) == want).all()


def test_ties_are_broken_the_same_way_each_time():
    # Two labels of equal standing, one of them to be named: the smaller index. Equal sizes: the smaller size.
    assert theory.decide([[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]], "GFM").tolist() == [0, 0, 0]
    assert fm.gfm([[0.5, 0.0], [0.5, 0.0]], 0.0).h.tolist() == [1, 1]
    assert fm.gfm([[0.3, 0.0], [0.3, 0.0]], 0.4).h.tolist() == [0, 0]
    assert fm.gfm([[0.2], [0.5], [0.5]], 0.0, sizes=[3]).h.tolist() == [0, 1, 1]
    assert theory.decide([[1, 0], [0, 0]], "MM").tolist() == [1, 0]  # one half counts as yes
    assert theory.decide([[1, 0], [0, 1]], "JM").tolist() == [1, 0]  # the vector that comes first
    assert theory.decide([[0, 1], [1, 0]], "JM").tolist() == [0, 1]


def test_one_row_one_label_and_sure_labels():
    for rule in ("MM", "JM", "FM", "GFM", "threshold"):
        assert theory.decide([[1, 0, 1]], rule).tolist() == [1, 0, 1]
        assert theory.decide([[0, 0]], rule).tolist() == [0, 0]
        assert theory.decide([[1], [1], [0]], rule).tolist() == [1]
        assert theory.decide([[1], [0], [0]], rule).tolist() == [0]


def product_law(p):
    Y = all_vectors(len(p)).astype(int)
    return Y, np.where(Y, p, 1 - np.asarray(p)).prod(axis=1)


@pytest.mark.parametrize("m", [1, 2, 4, 7])
def test_independent_labels_all_roads_agree(m):
    rng = np.random.default_rng(m)
    for _ in range(10):
        p = rng.random(m)
        Y, law = product_law(p)
        want = theory.brute_force(Y, sample_weight=law)
        found = fm.fm_independent(p)
        assert found.by_size == pytest.approx(want.by_size, abs=1e-12)
        assert (found.h == want.h).all()
        assert fm.gfm(*theory.size_probabilities(Y, sample_weight=law)).value == pytest.approx(found.value, abs=1e-12)
        for method in ("chai", "jansche"):
            assert theory.top_k_values(p, method=method) == pytest.approx(found.by_size, abs=1e-10)


def test_probabilities_zero_and_one():
    for p in ([0.0, 1.0, 0.5], [1.0, 1.0], [0.0, 0.0], [1.0], [0.0]):
        Y, law = product_law(p)
        want = theory.brute_force(Y, sample_weight=law)
        assert fm.fm_independent(p).by_size == pytest.approx(want.by_size, abs=1e-12)
        assert theory.top_k_values(p, method="jansche") == pytest.approx(want.by_size, abs=1e-12)
        assert theory.top_k_values(p, method="chai") == pytest.approx(want.by_size, abs=1e-9)


def test_theorem_4_the_best_set_has_the_most_probable_labels():
    rng = np.random.default_rng(8)
    for _ in range(50):
        p = rng.random(6)
        h = theory.brute_force(*product_law(p)[:1], sample_weight=product_law(p)[1]).h.astype(bool)
        if h.any() and not h.all():
            assert p[h].min() >= p[~h].max()


def test_lewis_is_an_approximation_that_is_good_for_many_labels():
    p = np.random.default_rng(9).random(400)
    exact, guess = theory.top_k_values(p), theory.top_k_values(p, method="lewis")
    assert np.abs(exact - guess)[1:].max() < 2e-3
    assert abs(theory.top_k_values([0.5, 0.4, 0.3], method="lewis")[3] - theory.top_k_values([0.5, 0.4, 0.3])[3]) > 0.05


def test_theorem_6_exactly_one_label():
    rng = np.random.default_rng(12)
    for m in (1, 2, 3, 5, 7):
        for _ in range(20):
            p = rng.dirichlet(np.full(m, 0.7))
            want = theory.brute_force(np.eye(m), sample_weight=p)
            got = theory.categorical_f(p)
            assert theory.expected_f(np.eye(m), got, sample_weight=p) == pytest.approx(want.value, abs=1e-12)
    assert theory.categorical_f(np.full(5, 0.2)).tolist() == [1] * 5  # no k at which the sum suffices


@pytest.mark.parametrize("case", MARGINALS)
def test_equal_marginals_other_maximisers(case):
    Y, p, want = case
    marginals = np.array(p) @ np.array(Y)
    assert marginals == pytest.approx([0.5, 0.2, 0.2, 0.1])
    assert theory.decide(Y, "GFM", sample_weight=p).tolist() == want


def test_the_best_set_is_not_ordered_by_marginals():
    marginals = np.array(TWELVE_P) @ TWELVE
    assert marginals.argmax() == 1 and marginals[0] == pytest.approx(0.39)
    best = theory.decide(TWELVE, "GFM", sample_weight=TWELVE_P)
    assert best.tolist() == [1] + [0] * 11
    assert theory.expected_f(TWELVE, best, sample_weight=TWELVE_P) == pytest.approx(0.39)
    at_best = theory.decide(TWELVE, "threshold", sample_weight=TWELVE_P)
    assert theory.expected_f(TWELVE, at_best, sample_weight=TWELVE_P) == pytest.approx(0.36, abs=5e-3)


def test_the_threshold_rule_is_the_best_threshold():
    rng = np.random.default_rng(13)
    for _ in range(30):
        Y, p = random_law(rng, 5, n=8)
        marginals = p @ Y
        sets = [(marginals >= t - 1e-12).astype(int) for t in [*marginals, 2.0]]
        want = max(theory.expected_f(Y, h, sample_weight=p) for h in sets)
        got = theory.decide(Y, "threshold", sample_weight=p)
        assert theory.expected_f(Y, got, sample_weight=p) == pytest.approx(want, abs=1e-12)
        assert any((got == h).all() for h in sets)


def test_a_threshold_cannot_part_labels_of_equal_probability():
    p = [0.2, 0.4, 0.2, 0.2]
    assert (p @ TWELVE)[:2] == pytest.approx([0.4, 0.4])
    assert theory.decide(TWELVE, "threshold", sample_weight=p).tolist() == [1, 1] + [0] * 10
    assert theory.decide(TWELVE, "GFM", sample_weight=p).tolist() == [1] + [0] * 11


@pytest.mark.parametrize(("m", "value"), [(3, 0.4875), (4, 0.6190), (5, 0.7026)])
def test_theorem_2_programme_and_closed_form(m, value):
    found = worst_cases.worst_case_regret("subset", m)
    assert found.value == pytest.approx(value, abs=5e-5)
    assert worst_cases.worst_case_bound("subset", m) == pytest.approx(found.value, abs=1e-9)
    sizes = found.Y.sum(axis=1)
    assert ((sizes == 0) | (sizes >= m - 2)).all() and len(found.Y) == 2 + m + m * (m - 1) // 2
    assert found.probabilities == pytest.approx(np.full(len(found.Y), 2 / (m**2 + m + 4)))
    assert found.surrogate.sum() == 0 and found.best.sum() == m


def test_theorem_1_is_too_small():
    Y, p = worst_cases.adversarial_law("hamming", 2, eps=0.01)
    assert (p @ Y < 0.5).all()  # so the Hamming minimiser is unique: no label
    assert theory.decide(Y, "MM", sample_weight=p).tolist() == [0, 0]
    assert worst_cases.regret(Y, [0, 0], sample_weight=p) == pytest.approx(0.98 * 2 / 3 - 0.02)
    for m in (2, 3, 4, 5):
        found = worst_cases.worst_case_regret("hamming", m)
        assert found.value == pytest.approx(2 / 3)
        assert worst_cases.regret(found.Y, found.surrogate, sample_weight=found.probabilities) == pytest.approx(2 / 3)
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
        assert worst_cases.worst_case_regret(name, m).value == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize(("m", "q"), [(3, 0.7207), (5, 0.7911), (10, 0.8621), (50, 0.9527)])
def test_theorem_5_independence(m, q):
    assert (1 + worst_cases.worst_case_bound("independent", m)) / 2 == pytest.approx(q, abs=5e-5)
    Y, p = worst_cases.adversarial_law("independent", m, eps=1e-4)
    h = theory.decide(Y, "FM", sample_weight=p)
    assert h.all() and worst_cases.regret(Y, h, sample_weight=p) == pytest.approx(2 * q - 1, abs=1e-3)
    q_too_large = [p[0] + 2e-4, p[1] - 2e-4]
    assert not theory.decide(Y, "FM", sample_weight=q_too_large).any()


def test_corollary_1_holds_though_its_limit_is_another():
    # E F(all ones) tends to 2p/(1 + p), not to 1; q^m tends to 0 all the same.
    values = theory.top_k_values(np.full(3000, 0.1))
    assert values[-1] == pytest.approx(2 * 0.1 / 1.1, abs=1e-3) and values[0] < 1e-100
    assert worst_cases.worst_case_bound("independent", 10_000) > 0.99


@pytest.mark.parametrize("m", [6, 12, 20, 60, 200])
def test_theorem_7_thresholds(m):
    Y, p = worst_cases.adversarial_law("threshold", m, eps=1e-6)
    assert p.sum() == pytest.approx(1) and (p @ Y)[1] > (p @ Y)[0]
    h = theory.decide(Y, "threshold", sample_weight=p)
    found = worst_cases.regret(Y, h, sample_weight=p)
    assert found >= worst_cases.worst_case_bound("threshold", m) - 1e-5
    if m >= 20:
        assert found == pytest.approx(1 / 6 - 2 / (m + 6), abs=1e-5)
        assert theory.decide(Y, "GFM", sample_weight=p).tolist() == [1] + [0] * (m - 1)


def test_the_law_for_subset_loss():
    for m in (3, 6, 20):
        Y, p = worst_cases.adversarial_law("subset", m, eps=1e-5)
        h = theory.decide(Y, "JM", sample_weight=p)
        assert not h.any()
        assert worst_cases.regret(Y, h, sample_weight=p) == pytest.approx(
            worst_cases.worst_case_bound("subset", m), abs=1e-4
        )


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
        sets = {rule: theory.decide(Y, rule, sample_weight=p) for rule in ("MM", "JM", "FM", "GFM", "threshold")}
        hamming = {rule: p @ (Y != h).mean(axis=1) for rule, h in sets.items()}
        exact = {rule: p @ (Y == h).all(axis=1) for rule, h in sets.items()}
        f = {rule: theory.expected_f(Y, h, sample_weight=p) for rule, h in sets.items()}
        assert hamming["MM"] <= min(hamming.values()) + 1e-12
        assert exact["JM"] >= max(exact.values()) - 1e-12
        assert f["GFM"] >= max(f.values()) - 1e-12 and f["threshold"] >= f["FM"] - 1e-12


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
            assert (model.predict(X_test[[i]])[0] == theory.decide(Y[near], rule)).all()
    P, p0 = model.size_probabilities(X_test)
    near = np.argsort(((X - X_test[5]) ** 2).sum(axis=1), kind="stable")[:15]
    want = theory.size_probabilities(Y[near])[0]
    assert P[5] == pytest.approx(want[:, model.sizes_ - 1]) and p0[5] == pytest.approx(
        (Y[near].sum(axis=1) == 0).mean()
    )


def test_tree_splits_where_f_gains_most():
    """All thresholds of one feature by hand."""
    rng = np.random.default_rng(17)
    x = np.sort(rng.random(30))
    Y = np.column_stack([x > 0.4, x > 0.7, rng.random(30) < 0.3]).astype(int)
    model = fm.FMeasureTree(max_depth=1, min_samples_leaf=3, max_thresholds=1000).fit(x[:, None], Y)

    def best(rows):
        return len(rows) * fm.gfm(*theory.size_probabilities(rows)).value

    values = {j: best(Y[:j]) + best(Y[j:]) for j in range(3, 28)}
    j = max(values, key=values.get)
    assert model.n_leaves_ == 2
    left, right = model.predict([[x[j - 1]]])[0], model.predict([[x[j]]])[0]
    assert (left == theory.decide(Y[:j], "GFM")).all() and (right == theory.decide(Y[j:], "GFM")).all()
    P, p0 = model.size_probabilities([[x[j - 1]]])
    assert P[0] == pytest.approx(theory.size_probabilities(Y[:j])[0][:, model.sizes_ - 1])
    assert p0[0] == pytest.approx((Y[:j].sum(axis=1) == 0).mean())


def test_trees_learn_and_bags_learn_more(emotions):
    X, Y, X_test, Y_test = emotions
    tree = fm.FMeasureTree(min_samples_leaf=20).fit(X, Y).score(X_test, Y_test)
    bag = fm.BaggedFMeasureTree(n_estimators=10, random_state=0).fit(X, Y)
    assert theory.expected_f(Y_test, theory.decide(Y, "GFM")) < tree < bag.score(X_test, Y_test)
    again = fm.BaggedFMeasureTree(n_estimators=10, random_state=0).fit(X, Y)
    assert (bag.predict(X_test) == again.predict(X_test)).all()


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
        want, empty = theory.size_probabilities(Y, sample_weight=p)
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


def test_under_dependence_gfm_gains_with_the_sample_and_fm_does_not():
    """All labels or none: what independence gets wrong does not vanish with the size of the sample."""
    Y, p = worst_cases.adversarial_law("independent", 10, eps=0.05)
    rng = np.random.default_rng(18)
    lost = {}
    for n in (4, 1000):
        samples = [Y[rng.choice(2, size=n, p=p)] for _ in range(50)]
        for rule in ("FM", "GFM"):
            lost[rule, n] = np.mean([worst_cases.regret(Y, theory.decide(s, rule), sample_weight=p) for s in samples])
    assert lost["GFM", 1000] == 0 < lost["GFM", 4]
    assert lost["FM", 1000] > 0.5 > lost["FM", 4]


def test_fm_needs_fewer_examples_where_labels_are_independent():
    lost = {"FM": [], "GFM": []}
    for seed in range(40):
        made = make_label_laws(12, m=25, kind="independent", random_state=seed)
        p = 1 / (1 + np.exp(-made.weights))
        exact = theory.top_k_values(p).max()
        test = (np.random.default_rng(seed).random((4000, 25)) < p).astype(int)
        for rule in lost:
            lost[rule].append(exact - theory.expected_f(test, theory.decide(made.target, rule)))
    assert np.mean(lost["FM"]) < np.mean(lost["GFM"])


def test_inputs_are_not_modified(emotions):
    X, Y = emotions[0].copy(), emotions[1].copy()
    P, p0 = theory.size_probabilities(Y)
    before = P.copy()
    fm.gfm(P, p0)
    p = np.array([0.2, 0.7])
    fm.fm_independent(p)
    fm.LabelChain(n_draws=10).fit(X, Y).predict(X)
    assert (P == before).all() and p.tolist() == [0.2, 0.7]
    assert (X == emotions[0]).all() and (Y == emotions[1]).all()


REFUSED = {
    "Y of twos": (lambda: theory.decide([[2, 0]]), "Y must hold zeros and ones"),
    "Y with NaN": (lambda: theory.decide([[np.nan, 0]]), "Y must be finite"),
    "Y empty": (lambda: theory.decide(np.zeros((0, 3))), "Y must hold at least one entry"),
    "Y of one dimension": (lambda: theory.size_probabilities([1, 0]), "Y must have 2 dimension"),
    "weights": (lambda: theory.decide([[1, 0]], sample_weight=[-1.0]), "sample_weight must be non-negative"),
    "shapes": (lambda: fm.f_measure([[1, 0]], [[1]]), "one shape"),
    "average": (lambda: fm.f_measure([[1, 0]], [[1, 0]], average="samples"), "average must be"),
    "beta": (lambda: fm.f_measure([[1, 0]], [[1, 0]], beta=0), "beta must be"),
    "P": (lambda: fm.gfm([[0.9, 0.9], [0.0, 0.0]], 0.0), "P must hold probabilities"),
    "P negative": (lambda: fm.gfm([[-0.1, 0.2], [0, 0]], 0.0), "P must hold probabilities"),
    "P of one dimension": (lambda: fm.gfm([0.1, 0.2], 0.0), "P must have shape"),
    "p0": (lambda: fm.gfm([[0.1]], 1.5), "p0 must lie"),
    "p0 of the wrong length": (lambda: fm.gfm([[[0.1]], [[0.2]]], 0.5), "p0 must have one"),
    "sizes": (lambda: fm.gfm([[0.1]], 0.5, sizes=[2]), "sizes must lie in 1..1"),
    "sizes repeat": (lambda: fm.gfm([[0.1, 0.1], [0.1, 0.1]], 0.5, sizes=[1, 1]), "sizes must be 2 different"),
    "p": (lambda: fm.fm_independent([0.5, 1.2]), "p must lie in"),
    "p empty": (lambda: fm.fm_independent([]), "p must have shape"),
    "p of classes": (lambda: theory.categorical_f([0.5, 0.2]), "p must sum to 1"),
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
    Y, p = worst_cases.adversarial_law(kind, m, eps=0.01)
    assert p.sum() == pytest.approx(1) and p.min() >= 0 and len(np.unique(Y, axis=0)) == len(p)
    if kind == "subset":
        assert p[0] - p[1] == pytest.approx(0.01)
