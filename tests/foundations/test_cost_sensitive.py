"""Bayesian decision theory and the reject option: the claims of the source, checked.

References are independent of the code: exact fractions, enumeration of all classifiers or accept sets, scipy's
quadrature, scikit-learn. Tolerances of statistical tests are four standard errors, with fixed seeds.
"""

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.foundations import CostSensitiveClassifier, RejectClassifier
from learnable.problems.decisions import (
    cost_matrix,
)
from learnable.problems.reject import (
    RejectRule,
    coverage_threshold,
)


def random_loss(rng, k, a=None):
    """A loss with zero diagonal, not symmetric."""
    loss = rng.uniform(0.1, 2, size=(k, a or k))
    loss[np.arange(k), np.arange(k)] = 0
    return loss


LOGISTIC = LogisticRegression(C=1.0)
BY_NATURE = {
    "check_classifiers_train": "wants predict to be the most probable class everywhere; a rejection is none",
    "check_classifiers_classes": "fits strings and numbers with one reject_label; the kinds must agree",
}


def rejections_are_expected(estimator):
    return BY_NATURE if getattr(estimator, "coverage", None) is not None else {}


@parametrize_with_checks(
    [
        CostSensitiveClassifier(LOGISTIC),
        RejectClassifier(GaussianNB()),
        RejectClassifier(GaussianNB(), coverage=0.9, reject_label=-7, random_state=0),
    ],
    expected_failed_checks=rejections_are_expected,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X[:, :6])
    return X, y, np.where(y == 0, "malignant", "benign")


def test_cost_sensitive_classifier_is_a_threshold_for_two_classes():
    X, y, names = cancer()
    for a, b in ((1, 1), (20, 1), (1, 6)):
        ours = CostSensitiveClassifier(LOGISTIC, loss=cost_matrix(a, b)).fit(X, y)
        fixed = FixedThresholdClassifier(LOGISTIC, threshold=b / (a + b), response_method="predict_proba").fit(X, y)
        np.testing.assert_array_equal(ours.predict(X), fixed.predict(X))
        counts = confusion_matrix(y, ours.predict(X))
        assert ours.empirical_risk(X, y) == pytest.approx((counts * cost_matrix(a, b)).sum() / len(y))
    by_name = CostSensitiveClassifier(LOGISTIC, loss={("malignant", "benign"): 20, ("benign", "malignant"): 1})
    by_name.fit(X, names)
    assert by_name.classes_.tolist() == ["benign", "malignant"]
    np.testing.assert_array_equal(by_name.loss_, [[0, 1], [20, 0]])
    flipped = CostSensitiveClassifier(LOGISTIC, loss=cost_matrix(1, 20)).fit(X, y)  # y = 1 is benign
    np.testing.assert_array_equal(by_name.predict(X) == "benign", flipped.predict(X) == 1)
    assert set(by_name.predict(X)) == {"benign", "malignant"}


def test_cost_sensitive_classifier_with_many_classes():
    X, y = load_iris(return_X_y=True)
    loss = random_loss(np.random.default_rng(24), 3)
    model = CostSensitiveClassifier(GaussianNB(), loss=loss).fit(X, y + 10)
    expected = (model.predict_proba(X) @ loss).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), expected + 10)
    assert model.n_features_in_ == 4 and model.score(X, y + 10) > 0.5
    search = GridSearchCV(CostSensitiveClassifier(GaussianNB()), {"estimator__var_smoothing": [1e-9, 1.0]}, cv=3)
    assert search.fit(X, y).best_estimator_.estimator_.var_smoothing == 1e-9


def test_reject_classifier_follows_the_rule():
    X, y = load_iris(return_X_y=True)
    model = RejectClassifier(GaussianNB(), t=0.05).fit(X[:, :2], y)
    post = model.predict_proba(X[:, :2])
    np.testing.assert_array_equal(model.predict(X[:, :2]), RejectRule(0.05)(post))
    accepted = model.accepts(X[:, :2])
    assert 0 < accepted.sum() < 150
    wrong = post.argmax(axis=1) != y
    assert model.empirical_coverage(X[:, :2]) == pytest.approx(accepted.mean())
    assert model.empirical_risk(X[:, :2], y) == pytest.approx((wrong & accepted).mean())
    priced = model.empirical_risk(X[:, :2], y, reject_cost=0.05)
    assert priced == pytest.approx((wrong & accepted).mean() + 0.05 * (~accepted).mean())
    assert model.empirical_selective_risk(X[:, :2], y) == pytest.approx(wrong[accepted].mean())
    assert model.score(X[:, :2], y) == pytest.approx((accepted & ~wrong).mean())
    weight = np.random.default_rng(25).random(150)
    assert model.empirical_selective_risk(X[:, :2], y, weight) == pytest.approx(
        np.average(wrong[accepted], weights=weight[accepted])
    )
    np.testing.assert_allclose(model.expected_cost(X[:, :2]), 1 - post.max(axis=1), atol=1e-14)
    costs = random_loss(np.random.default_rng(26), 3)
    costly = RejectClassifier(GaussianNB(), t=0.1, loss=costs).fit(X[:, :2], y)
    np.testing.assert_array_equal(costly.predict(X[:, :2]), RejectRule(0.1, costs)(post))


def test_reject_classifier_labels():
    X, y, names = cancer()
    silent = RejectClassifier(LOGISTIC, t=0.01, reject_label="reject").fit(X, names)
    answers = silent.predict(X)
    assert set(answers) == {"benign", "malignant", "reject"} and answers.dtype.kind == "U"
    np.testing.assert_array_equal(answers == "reject", ~silent.accepts(X))
    none = RejectClassifier(LOGISTIC, t=0.01, reject_label=None).fit(X, names).predict(X)
    assert none.dtype == np.dtype(object)
    np.testing.assert_array_equal(np.equal(none, None), answers == "reject")
    objects = RejectClassifier(LOGISTIC, t=0.01).fit(X, names.astype(object)).predict(X)
    np.testing.assert_array_equal(objects == -1, answers == "reject")
    np.testing.assert_array_equal(
        RejectClassifier(LOGISTIC).fit(X, names).predict(X), LOGISTIC.fit(X, names).predict(X)
    )
    for label, target, message in (
        (-1, names, "strings"),
        ("benign", names, "is one of the classes"),
        (-1, np.where(y == 0, -1, 1), "is one of the classes"),
        (1, y, "is one of the classes"),
        ("reject", y, "numbers"),
    ):
        with pytest.raises(ValueError, match=f"reject_label.*{message}"):
            RejectClassifier(LOGISTIC, t=0.1, reject_label=label).fit(X, target)


def test_coverage_is_met_on_the_validation_split():
    X, y, _ = cancer()
    for coverage in (0.5, 0.8, 1.0):
        model = RejectClassifier(LOGISTIC, coverage=coverage, validation_fraction=0.3, random_state=1).fit(X, y)
        X_fit, X_held, y_fit, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=1)
        inner = LogisticRegression(C=1.0).fit(X_fit, y_fit)
        np.testing.assert_allclose(model.estimator_.coef_, inner.coef_)
        risk = 1 - inner.predict_proba(X_held).max(axis=1)
        assert model.t_ == pytest.approx(coverage_threshold(risk, coverage), abs=1e-15)
        accepted = model.accepts(X_held)
        assert coverage <= accepted.mean() < coverage + 1 / len(X_held) + 1e-12  # no ties here


def test_coverage_with_ties_accepts_the_whole_tie():
    X, y = load_iris(return_X_y=True)
    votes = KNeighborsClassifier(3)  # only four values of the probability
    model = RejectClassifier(votes, coverage=0.3, validation_fraction=None).fit(X[:, :2], y)
    assert model.t_ == 0.0 and model.empirical_coverage(X[:, :2]) > 0.3
    np.testing.assert_array_equal(model.predict(X[:, :2]) != -1, model.expected_cost(X[:, :2]) == 0)
    # Nothing smaller would do: below t_ the coverage falls short.
    assert (model.expected_cost(X[:, :2]) < model.t_).mean() < 0.3
    frozen = FrozenEstimator(KNeighborsClassifier(3).fit(X[::2, :2], y[::2]))
    held = RejectClassifier(frozen, coverage=0.9, validation_fraction=None).fit(X[1::2, :2], y[1::2])
    assert held.empirical_coverage(X[1::2, :2]) >= 0.9


def test_nothing_accepted():
    X, y = load_iris(return_X_y=True)
    model = RejectClassifier(LogisticRegression(C=1e-6), t=0.0).fit(X, y)
    assert (model.predict(X) == -1).all() and model.score(X, y) == 0 and model.empirical_risk(X, y) == 0
    with pytest.warns(UndefinedMetricWarning, match="no row is accepted"):
        assert np.isnan(model.empirical_selective_risk(X, y))


def test_metadata_reaches_the_inner_fit():
    X, y, _ = cancer()
    weight = np.random.default_rng(27).random(len(y))
    expected = LogisticRegression(C=1.0).fit(X, y, sample_weight=weight).coef_
    np.testing.assert_allclose(
        CostSensitiveClassifier(LOGISTIC).fit(X, y, sample_weight=weight).estimator_.coef_, expected
    )
    X_fit, _, y_fit, _, weight_fit, _ = train_test_split(X, y, weight, test_size=0.25, stratify=y, random_state=0)
    expected_split = LogisticRegression(C=1.0).fit(X_fit, y_fit, sample_weight=weight_fit).coef_
    split = RejectClassifier(LOGISTIC, coverage=0.9, random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(split.estimator_.coef_, expected_split)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression(C=1.0).set_fit_request(sample_weight=True)
        routed = CostSensitiveClassifier(inner).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(routed.estimator_.coef_, expected)
        deaf = LogisticRegression(C=1.0).set_fit_request(sample_weight=False)
        with pytest.raises(TypeError, match="sample_weight"):
            CostSensitiveClassifier(deaf).fit(X, y, sample_weight=weight)


def test_estimators_with_frames_and_calibration():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = RejectClassifier(CalibratedClassifierCV(LinearSVC(), cv=2), coverage=0.8, random_state=0).fit(
        frame, pandas.Series(y)
    )
    assert model.feature_names_in_.tolist() == list("abcd") and 0.5 < model.empirical_coverage(frame) <= 1
    assert not hasattr(model, "decision_function") and hasattr(RejectClassifier(LOGISTIC), "decision_function")
    assert not hasattr(RejectClassifier(LOGISTIC), "n_features_in_")


class Liar(GaussianNB):
    """Returns probabilities that are none."""

    def predict_proba(self, X):
        return super().predict_proba(X) * 1.1


def test_estimators_name_what_is_wrong():
    X, y = load_iris(return_X_y=True)
    cases = [
        (CostSensitiveClassifier(GaussianNB(), loss=np.ones((2, 2))), "loss must have shape"),
        (CostSensitiveClassifier(GaussianNB(), loss=[[0, np.nan, 1]] * 3), "loss must be finite"),
        (CostSensitiveClassifier(GaussianNB(), loss={(0, 7): 1}), r"costs has the key \(0, 7\)"),
        (CostSensitiveClassifier(LinearSVC()), "estimator must have the methods"),
        (RejectClassifier(GaussianNB(), t=-1), "t must be a number"),
        (RejectClassifier(GaussianNB(), t=np.nan), "t must be a number"),
        (RejectClassifier(GaussianNB(), t=0.1, coverage=0.5), "t and coverage exclude"),
        (RejectClassifier(GaussianNB(), coverage=0), "coverage must be a number"),
        (RejectClassifier(GaussianNB(), coverage=1.5), "coverage must be a number"),
        (RejectClassifier(GaussianNB(), coverage=0.5, validation_fraction=1.0), "validation_fraction must"),
    ]
    for model, message in cases:
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    with pytest.raises(ValueError, match="predict_proba of Liar must have rows that sum to 1"):
        CostSensitiveClassifier(Liar()).fit(X, y).predict(X)
    with pytest.raises(ValueError, match="y contains 7, which is not among the classes"):
        CostSensitiveClassifier(GaussianNB()).fit(X, y).empirical_risk(X, np.full(150, 7))
    with pytest.raises(ValueError, match="sample_weight must"):
        RejectClassifier(GaussianNB(), t=0.1).fit(X, y).empirical_risk(X, y, sample_weight=[1])
    for model in (CostSensitiveClassifier(GaussianNB()), RejectClassifier(GaussianNB())):
        with pytest.raises(NotFittedError):
            model.predict(X)
