"""Bayesian co-boosting: the claims of Wu and Cheng (2014), and what may go wrong."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from learnable.chapters.bayesian_coboosting.theory import (
    class_accuracy,
    fusion_ratios,
    joint_sums,
    normalise_skeleton,
    skeleton_features,
)
from learnable.datasets.motion import make_skeleton_gestures
from learnable.ensembles import BayesianCoBoost, HMMClassifier, LateFusion, WeightedGaussianHMM
from learnable.ensembles.coboosting import coboost_update, stack_sequences

S = np.array([10, 1, 4, 2, 3, 2.5, 1, 12])
BONES = [(0, 3), (3, 1), (1, 2), (1, 4), (4, 5), (1, 6), (6, 7), (0, 8), (8, 9), (0, 10), (10, 11)]
PLANE = (4, 6, 0)


def sequences(n=6, d=2, seed=0, lengths=(3, 9)):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(*lengths), d)) + np.arange(d) for _ in range(n)]


def bound(S, a1, a2, a3, a4):
    """The bound of Wu and Cheng, term by term."""
    pairs = [(S[0], S[1], a1 * a3), (S[2], S[3], a1 * a4), (S[4], S[5], a2 * a3), (S[6], S[7], a2 * a4)]
    return sum(p / x + q * x for p, q, x in pairs)


def test_the_worked_example_of_the_fixed_point():
    made = fusion_ratios(S)
    assert bound(S, 1, 1, 1, 1) == 35.5
    assert made.bound == pytest.approx(24.59849373, abs=1e-8)
    np.testing.assert_allclose(made.products.ravel(), [3.588355, 1.227950, 0.946801, 0.323999], atol=1e-6)
    assert made.converged and made.residual <= 1e-10
    assert bound(S, *made.ratios.ravel()) == pytest.approx(made.bound, rel=1e-12)
    with pytest.warns(ConvergenceWarning):
        early = fusion_ratios(S, max_iter=3, tol=1e-14)
    np.testing.assert_allclose(early.products, made.products, rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_fixed_point_is_the_global_minimum(seed):
    sums = np.random.default_rng(seed).exponential(size=8) * 10.0 ** np.random.default_rng(seed).integers(-3, 4)
    found = minimize(lambda u: bound(sums / sums.sum(), *np.exp(u)), np.zeros(4), tol=1e-12)
    assert fusion_ratios(sums).bound == pytest.approx(found.fun * sums.sum(), rel=1e-8)


def test_only_products_of_ratios_count():
    made = fusion_ratios(S)
    (a1, a2), (a3, a4) = made.ratios
    assert bound(S, 3 * a1, 3 * a2, a3 / 3, a4 / 3) == pytest.approx(made.bound, rel=1e-12)
    np.testing.assert_allclose(made.products, np.outer(made.ratios[0], made.ratios[1]), rtol=1e-12)


def test_the_sums_are_those_of_the_partition():
    rng = np.random.default_rng(0)
    r, said, own = rng.normal(size=50), rng.random((2, 50)) < 0.5, rng.random(50) < 0.4
    expected = []
    for first, second in ((True, True), (True, False), (False, True), (False, False)):
        inside = (said[0] == first) & (said[1] == second)
        expected += [np.exp(r[inside & own]).sum(), np.exp(-r[inside & ~own]).sum()]
    np.testing.assert_allclose(joint_sums(r, said, own), expected)


def test_one_view_is_the_closed_form():
    made = fusion_ratios([4, 1, 2, 8])
    np.testing.assert_allclose(made.ratios, [[2.0, 0.5]])
    assert made.bound == pytest.approx(2 * (2 + 4))


def test_a_random_second_view_drops_out():
    """Its two ratios are equal, so that the update is that of the first view alone."""
    one = np.array([6.0, 1.5, 1.0, 7.0])
    S = np.stack([0.3 * one.reshape(2, 2), 0.7 * one.reshape(2, 2)], axis=1).ravel()
    made = fusion_ratios(S)
    assert made.ratios[1, 0] == pytest.approx(made.ratios[1, 1], rel=1e-9)
    np.testing.assert_allclose(made.products[:, 0], fusion_ratios(one).ratios[0], rtol=1e-9)


def test_a_perfect_view_needs_smoothing():
    with pytest.raises(ValueError, match="smoothing must be positive"):
        fusion_ratios([5, 0, 5, 0, 0, 5, 0, 5])
    assert np.isfinite(fusion_ratios([5, 0, 5, 0, 0, 5, 0, 5], smoothing=0.5).ratios).all()
    assert fusion_ratios([5, 1, 0, 0, 1, 5, 0, 0]).bound == pytest.approx(4 * np.sqrt(5))
    y = np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="smoothing"):
        coboost_update(np.zeros((4, 2)), [y, y], y, smoothing=0)


def random_rounds(n=120, C=4, n_rounds=25, seed=0, smoothing=0.5):
    """Rounds with two views of changing quality: pairs of updates and their bounds."""
    rng = np.random.default_rng(seed)
    y = rng.integers(C, size=n)
    r = np.full((n, C), np.log(C - 1.0))
    for t in range(n_rounds):
        said = [np.where(rng.random(n) < p, y, rng.integers(C, size=n)) for p in (0.5, (t % 4) / 4)]
        made = coboost_update(r, said, y, smoothing=smoothing)
        yield r, said, y, made
        r = made.log_odds


def test_all_classes_of_all_instances_are_updated():
    for before, said, y, made in random_rounds(n_rounds=3):
        for c in range(4):
            hit = [np.asarray(s) == c for s in said]
            moves = sum(np.log(np.where(hit[v], *made.ratios[c, v])) for v in range(2))
            np.testing.assert_allclose(made.log_odds[:, c], before[:, c] - moves)
            sums = joint_sums(before[:, c], hit, y == c)
            reference = fusion_ratios(sums, smoothing=0.5 * sums.sum() / len(y))
            np.testing.assert_allclose(np.outer(*made.ratios[c]), reference.products, rtol=1e-5)


def test_erratum_the_seventh_term_has_a_ratio():
    """With the printed factor of one, the sum over D_7 would not depend on the ratios."""
    S = np.array([3.0, 1, 2, 1, 1, 2, 6, 1])
    made = fusion_ratios(S)
    x = made.products.ravel()
    assert made.bound == pytest.approx((S[::2] / x + S[1::2] * x).sum(), rel=1e-12)
    printed = (S[::2] / np.append(x[:3], 1.0) + S[1::2] * x).sum()
    assert abs(printed - made.bound) > 1


def test_skeleton_features_have_138_dimensions():
    x = make_skeleton_gestures(1, n_classes=1, random_state=0).data[0]
    made = skeleton_features(x, BONES, plane=PLANE)
    assert made.shape == (len(x), 138)
    assert (made[0, 69:] == 0).all()
    np.testing.assert_allclose(made[1:, 69:], np.diff(made[:, :69], axis=0))


@pytest.mark.parametrize("size", [1e-8, 1.3, 1e8])
def test_skeleton_features_do_not_depend_on_place_turn_and_size(size):
    x = make_skeleton_gestures(1, n_classes=1, random_state=0).data[0]
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    moved = (x @ turn.T + [3.0, -2.0, 1.0]) * size
    a, b = (skeleton_features(z, BONES, plane=PLANE) for z in (x, moved))
    np.testing.assert_allclose(a, b, atol=1e-10)


def test_normalised_skeletons_have_what_the_appendix_asks():
    x = make_skeleton_gestures(1, n_classes=1, random_state=0).data[0]
    made = normalise_skeleton(x, BONES, origin=3, plane=PLANE)
    assert np.abs(made[:, 3]).max() == 0
    heights = made[:, list(PLANE), 2]
    np.testing.assert_allclose(heights - heights[:, :1], 0, atol=1e-12)
    edges = made[:, list(PLANE[1:])] - made[:, PLANE[:1]]
    np.testing.assert_allclose(edges[:, 0, 1], 0, atol=1e-12)
    assert (edges[:, 0, 0] > 0).all() and (edges[:, 1, 1] > 0).all()  # turned, not mirrored
    lengths = sum(np.linalg.norm(made[:, a] - made[:, b], axis=1) for a, b in BONES)
    np.testing.assert_allclose(lengths, 1)


def test_the_interval_is_that_of_the_tables():
    """Table 1 prints 0.0273 beside a deviation of 0.0584 over 20 classes, Table 2 0.0300 beside 0.0420 over 10."""
    for C, sd, conf in ((20, 0.0584, 0.0273), (20, 0.0173, 0.0081), (10, 0.0420, 0.0300), (10, 0.1283, 0.0918)):
        y = np.repeat(np.arange(C), 10_000)
        hits = 0.8 + sd * np.sqrt((C - 1) / C) * np.where(np.arange(C) % 2 == 0, 1, -1)
        wrong = np.arange(len(y)) % 10_000 >= np.round(hits * 10_000)[y]
        made = class_accuracy(y, np.where(wrong, -1, y))
        assert made.sd == pytest.approx(sd, abs=2e-4) and made.halfwidth == pytest.approx(conf, abs=2e-4)
        assert made.mean == pytest.approx(0.8, abs=1e-3)


X2, Y2 = [np.zeros((4, 2)) + np.arange(4)[:, None], np.ones((4, 1))], [0, 0, 1, 1]
REFUSED = {
    "n_components": lambda: WeightedGaussianHMM(0).fit(sequences()),
    "covariance_type": lambda: WeightedGaussianHMM(covariance_type="tied").fit(sequences()),
    "topology": lambda: HMMClassifier(topology="ring").fit(sequences(4), Y2),
    "reg_covar": lambda: WeightedGaussianHMM(reg_covar=-1).fit(sequences()),
    "sample_weight": lambda: WeightedGaussianHMM().fit(sequences(4), sample_weight=[0, 0, 0, 0]),
    r"X\[1\]": lambda: stack_sequences([np.zeros((2, 1)), np.full((2, 1), np.nan)]),
    "one dimension": lambda: stack_sequences([np.zeros((2, 1)), np.zeros((2, 2))]),
    "y must have one label": lambda: HMMClassifier().fit(sequences(4), [0, 1]),
    "X has 3 features": lambda: HMMClassifier().fit(sequences(4), Y2).predict(sequences(4, d=3)),
    "predictions": lambda: coboost_update(np.zeros((2, 2)), [[0, 2]], [0, 1]),
    "y must be integers": lambda: coboost_update(np.zeros((2, 2)), [[0, 1]], [0.0, 1.0]),
    "same instances": lambda: BayesianCoBoost().fit([X2[0], X2[1][:3]], Y2),
    "two classes": lambda: BayesianCoBoost().fit(X2, [1, 1, 1, 1]),
    "update must be 'joint'": lambda: BayesianCoBoost(update="adaboost").fit(X2, Y2),
    "feature_ratio": lambda: BayesianCoBoost(feature_ratio=0).fit(X2, Y2),
    "n_candidates": lambda: BayesianCoBoost(n_candidates=(1, 2, 3, 4, 5)[:1]).fit(X2, Y2),
    "use must name": lambda: BayesianCoBoost(use=[2]).fit(X2, Y2),
    "use must be different": lambda: BayesianCoBoost(use=[0, 0]).fit(X2, Y2),
    "weak must be": lambda: BayesianCoBoost(weak=3).fit(X2, Y2),
    "at most two views": lambda: LateFusion().fit([*X2, X2[0]], Y2),
    "shares": lambda: LateFusion(shares=[2]).fit(X2, Y2),
    "at least two instances": lambda: LateFusion().fit(X2, [0, 1, 1, 1]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_bad_input_is_refused(message):
    with pytest.raises((ValueError, TypeError), match=message):
        REFUSED[message]()
