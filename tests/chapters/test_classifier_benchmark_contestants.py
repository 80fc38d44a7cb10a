"""Quick rules and committees of the comparison, beside plain loops and by their definitions."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.chapters.classifier_benchmark import committees as cb_committees
from learnable.chapters.classifier_benchmark import small_rules as cb

RULES = [
    cb.ELM(20, random_state=0),
    cb.HyperPipes(),
    cb.OneR(),
    cb.VFI(),
    cb.LVQ(10, max_iter=5, random_state=0),
    cb.LVQ(10, version=3, n_neighbors=3, max_iter=5, random_state=0),
    cb.RBFNet(random_state=0),
    cb_committees.RandomCommittee(3, random_state=0),
    cb_committees.RandomSubSpace(3, random_state=0),
    cb_committees.Dagging(random_state=0),
    cb_committees.MultiBoost(random_state=0),
]


@parametrize_with_checks(
    [
        cb.ELM(20, random_state=0),
        cb.HyperPipes(),
        cb.OneR(),
        cb.VFI(),
        cb.LVQ(10, max_iter=5, random_state=0),
        cb.LVQ(10, version=3, n_neighbors=3, max_iter=5, random_state=0),
        cb.RBFNet(random_state=0),
        cb_committees.RandomCommittee(3, random_state=0),
        cb_committees.RandomSubSpace(3, random_state=0),
        cb_committees.Dagging(random_state=0),
        cb_committees.MultiBoost(random_state=0),
    ],
    legacy=False,
)
def test_scikit_learn_protocol(estimator, check):
    check(estimator)


@parametrize_with_checks([cb_committees.AveragedMLP(2, n_hidden=8, random_state=0)], legacy=False)
def test_scikit_learn_protocol_of_networks(estimator, check):
    check(estimator)


IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_units_and_origin_of_the_inputs_do_not_matter(rule):
    X, y = IRIS
    scale, shift = np.array([1e-6, 1.0, 256.0, 2.0**20]), np.array([0.0, 8.0, -64.0, 0.0])
    plain = rule.fit(X[::2], y[::2]).predict(X[1::2])
    moved = rule.fit(X[::2] * scale + shift, y[::2]).predict(X[1::2] * scale + shift)
    # Rounding may move a point across a border of the rules.
    assert np.mean(plain != moved) <= 0.03


def test_elm_is_least_squares_on_random_units():
    X, y = IRIS
    activations = {"sine": np.sin, "radbas": lambda z: np.exp(-(z**2)), "hardlim": lambda z: np.where(z < 0, 0, 1)}
    activations |= {"tribas": lambda z: np.where(np.abs(z) < 1, 1 - np.abs(z), 0), "sign": np.sign}
    activations |= {"sigmoid": lambda z: 1 / (1 + np.exp(-z))}
    for name, function in activations.items():
        rng = np.random.default_rng(5)
        W, b = rng.uniform(-1, 1, (4, 7)), rng.uniform(0, 1, 7)
        scaled = 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1
        H = function(scaled @ W + b)
        scores = H @ (np.linalg.pinv(H) @ np.where(y[:, None] == [0, 1, 2], 1.0, -1.0))
        ours = cb.ELM(7, activation=name, random_state=5).fit(X, y)
        np.testing.assert_array_equal(ours.predict(X), scores.argmax(axis=1), err_msg=name)


def test_pipes_count_the_inputs_that_contain_the_point():
    rng = np.random.default_rng(0)
    X, y, new = rng.normal(size=(60, 5)), rng.integers(0, 3, 60), rng.normal(size=(40, 5))
    said = cb.HyperPipes().fit(X, y).predict(new)
    for x, label in zip(new, said, strict=True):
        inside = [sum(X[y == c, j].min() <= x[j] <= X[y == c, j].max() for j in range(5)) for c in range(3)]
        assert label == int(np.argmax(inside))


def plain_one_r(x, y, least):
    """Holte's intervals in words: (labels, errors) of an input."""
    labels, errors, inside = [], 0, []
    for value in np.unique(x):
        here = y[x == value].tolist()
        leader = max(sorted(set(inside)), key=inside.count, default=None)
        if inside.count(leader) >= least and here.count(leader) < max(map(here.count, here)):
            labels.append(leader)
            errors += len(inside) - inside.count(leader)
            inside = []
        inside += here
    leader = max(sorted(set(inside)), key=inside.count)
    return [*labels, leader], errors + len(inside) - inside.count(leader)


@pytest.mark.parametrize("seed", range(8))
def test_one_rule_equals_the_plain_one(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 80)
    X = np.round(y[:, None] * rng.uniform(0, 2, 3) + rng.normal(size=(80, 3)), 1)
    ours = cb.OneR(min_bucket=4).fit(X, y)
    plain = [plain_one_r(x, y, 4) for x in X.T]
    errors = [wrong for _, wrong in plain]
    assert np.sum(ours.predict(X) != y) == min(errors)
    assert ours.feature_ == int(np.argmin(errors))
    labels = plain[ours.feature_][0]
    joined = [label for place, label in enumerate(labels) if place == 0 or label != labels[place - 1]]
    assert ours.labels_.tolist() == joined


def test_one_rule_on_iris_is_the_known_one():
    """Petal width below 0.8 and 1.75, 96 % of the rows: whatever their order."""
    X, y = IRIS
    rows = np.random.default_rng(0).permutation(150)
    for order in (np.arange(150), rows):
        rule = cb.OneR().fit(X[order], y[order])
        assert rule.feature_ == 3 and rule.cuts_ == pytest.approx([0.8, 1.75]) and rule.score(X, y) == 0.96


def test_one_rule_keeps_equal_values_together():
    X = np.array([[0.0]] * 3 + [[1.0]] * 8 + [[2.0]] * 7)
    y = np.array([0] * 3 + [0, 1] * 4 + [1] * 7)
    rule = cb.OneR(min_bucket=3).fit(X, y)
    assert rule.cuts_.tolist() == [1.5] and rule.predict([[1.0], [2.0]]).tolist() == [0, 1]


def test_intervals_vote_by_shares_of_the_classes():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [2.0], [4.0], [5.0], [6.0]])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    rule = cb.VFI(bias=0).fit(X, y)
    # Ends are 0, 3 (class 0) and 2, 6 (class 1); strictly between 0 and 2 lies one row of class 0, between 3 and 6 two.
    assert rule.cuts_[0].tolist() == [0, 2, 3, 6]
    votes = rule.votes_[0]
    assert votes[2].tolist() == [1, 0] and votes[6].tolist() == [0, 1]
    assert votes[3].tolist() == [0.5, 0.5]  # at 2 itself: one of four rows of either class
    assert votes[0].tolist() == votes[8].tolist() == [0.5, 0.5]  # nobody was there
    assert rule.predict([[1.5], [4.5]]).tolist() == [0, 1]


def test_inputs_that_say_more_count_more():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 200)
    X = np.column_stack([y * 3 + rng.normal(size=400), rng.normal(size=(400, 12))])
    even, weighted = (cb.VFI(bias=b).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) for b in (0.0, 1.0))
    assert weighted > even


def plain_lvq(X, y, order, books, labels, third):
    """The rules of both versions, a row at a time."""
    books = books.copy()
    for step, i in enumerate(order):
        rate, distance = 0.03 * (1 - step / len(order)), np.linalg.norm(X[i] - books, axis=1)
        a, b = np.argsort(distance, kind="stable")[:2]
        right = labels[[a, b]] == y[i]
        if not third or step < len(order) / 2:
            books[a] += (1 if right[0] else -1) * rate * (X[i] - books[a])
        elif right.all():
            books[[a, b]] += 0.1 * rate * (X[i] - books[[a, b]])
        elif right.sum() == 1 and distance[a] / distance[b] > (1 - 0.3) / (1 + 0.3):
            near, far = (a, b) if right[0] else (b, a)
            books[near] += rate * (X[i] - books[near])
            books[far] -= rate * (X[i] - books[far])
    return books


@pytest.mark.parametrize("version", [1, 3])
def test_codebooks_move_as_the_rules_say(version):
    X, y = IRIS
    ours = cb.LVQ(9, version=version, max_iter=3, random_state=4).fit(X, y)
    rng = np.random.default_rng(4)
    rows = np.concatenate([rng.choice(np.flatnonzero(y == c), 3, replace=False) for c in range(3)])
    order = np.concatenate([rng.permutation(150) for _ in range(3)])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(ours.codebooks_, plain_lvq(Z, y, order, Z[rows], y[rows], version == 3), atol=1e-12)


def test_radial_units_solve_the_ridge_equations():
    X, y = IRIS
    ours = cb.RBFNet(15, alpha=1e-3, random_state=0).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((Z[:, None, :] - ours.centers_) ** 2).mean(axis=2)
    H = np.column_stack([np.ones(150), np.exp(-squares / (2 * ours.spreads_**2))])
    T = np.where(y[:, None] == [0, 1, 2], 1.0, -1.0)
    W = np.linalg.solve(H.T @ H + 1e-3 * np.eye(16), H.T @ T)
    np.testing.assert_array_equal(ours.predict(X), (H @ W).argmax(axis=1))
    own = np.argmin(squares, axis=1)
    for c in range(15):
        assert ours.spreads_[c] == pytest.approx(max(np.sqrt(squares[own == c, c].mean()), 0.1))


def test_averages_are_means_of_the_members():
    X, y = IRIS
    net = cb_committees.AveragedMLP(3, random_state=1).fit(X[::3], y[::3])
    Z = (X - X[::3].mean(axis=0)) / X[::3].std(axis=0)
    mean = np.mean([member.predict_proba(Z) for member in net.estimators_], axis=0)
    np.testing.assert_allclose(net.predict_proba(X), mean, atol=1e-12)
    assert len({member.coefs_[0].tobytes() for member in net.estimators_}) == 3
    trees = cb_committees.RandomCommittee(4, random_state=1).fit(X[::3], y[::3])
    mean = np.mean([tree.predict_proba(Z) for tree in trees.estimators_], axis=0)
    np.testing.assert_allclose(trees.predict_proba(X), mean, atol=1e-12)
    assert all(tree.score(Z[::3], y[::3]) == 1 for tree in trees.estimators_)  # every tree has seen every row


def test_subspaces_are_halves_and_trees_see_nothing_else():
    X, y = make_classification(200, 9, n_informative=5, random_state=0)
    rule = cb_committees.RandomSubSpace(20, random_state=0).fit(X, y)
    assert rule.subspaces_.shape == (20, 4) and all(len(set(seen)) == 4 for seen in rule.subspaces_.tolist())
    assert len({tuple(seen) for seen in rule.subspaces_.tolist()}) > 10
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    mean = np.mean([t.predict_proba(Z[:, s]) for t, s in zip(rule.estimators_, rule.subspaces_, strict=True)], axis=0)
    np.testing.assert_allclose(rule.predict_proba(X), mean, atol=1e-12)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted on; predicts by a tree of depth one."""

    seen = []

    def fit(self, X, y, sample_weight=None):
        Recorder.seen.append((X, y, None if sample_weight is None else sample_weight.copy()))
        self.tree_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def test_dagging_deals_every_row_once_with_the_classes_in_equal_shares():
    X, y = IRIS
    Recorder.seen = []
    rule = cb_committees.Dagging(Recorder(), 4, random_state=0).fit(X, y)
    assert sorted(len(part) for part, _, _ in Recorder.seen) == [37, 37, 38, 38]
    for _, labels, _ in Recorder.seen:
        assert np.ptp(np.bincount(labels)) <= 1
    together = np.vstack([part for part, _, _ in Recorder.seen])
    np.testing.assert_allclose(np.sort(together[:, 0]), np.sort((X[:, 0] - X[:, 0].mean()) / X[:, 0].std()))
    votes = np.array([member.predict((X - X.mean(axis=0)) / X.std(axis=0)) for member, _ in rule.estimators_])
    np.testing.assert_allclose(rule.predict_proba(X)[:, 1], np.mean(votes == 1, axis=0))


def test_dagging_with_parts_of_one_class():
    rule = cb_committees.Dagging(GaussianNB(), 4, random_state=0).fit([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1])
    assert rule.predict([[1.0], [9.0]]).tolist() == [0, 0]


def test_multiboost_with_one_committee_is_adaboost_m1():
    X, y = make_classification(150, 5, flip_y=0.2, random_state=1)
    Recorder.seen = []
    rule = cb_committees.MultiBoost(Recorder(), n_rounds=6, n_subcommittees=1, random_state=0).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    weight, score = np.ones(150), np.zeros((150, 2))
    for (_, _, given), member, vote in zip(Recorder.seen, rule.estimators_, rule.votes_, strict=True):
        np.testing.assert_allclose(given, weight, rtol=1e-10)
        wrong = member.predict(Z) != y
        error = weight[wrong].sum() / 150
        assert vote == pytest.approx(np.log((1 - error) / error))
        weight = np.where(wrong, weight, weight * error / (1 - error))
        weight *= 150 / weight.sum()
        score[np.arange(150), member.predict(Z)] += vote
    np.testing.assert_array_equal(rule.predict(X), score.argmax(axis=1))


def test_multiboost_draws_weights_anew_after_a_committee_and_after_no_error():
    X, y = make_classification(400, 5, flip_y=0.2, random_state=1)
    Recorder.seen = []
    cb_committees.MultiBoost(Recorder(), n_rounds=6, n_subcommittees=3, random_state=0).fit(X, y)
    fresh = [len(np.unique(weight.round(9))) == 400 for _, _, weight in Recorder.seen]
    assert fresh[:3] == [False, False, True]  # rounds 1 and 2 are the first committee
    drawn = Recorder.seen[2][2]
    assert drawn.sum() == pytest.approx(400)
    # -log U has mean and standard deviation 1; the standard error of the deviation is about 0.1.
    assert abs(drawn.std() - 1) < 0.3
    Recorder.seen = []
    perfect = cb_committees.MultiBoost(Recorder(), random_state=0).fit(np.arange(40.0)[:, None], np.repeat([0, 1], 20))
    assert len(np.unique(Recorder.seen[1][2])) == 40
    assert perfect.votes_ == pytest.approx(np.full(10, np.log((1 - 1e-10) / 1e-10)))
