"""Bayesian decision theory, beside the bare array operations and scikit-learn."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

from benchmarks.harness import Benchmark
from learnable.foundations import CostSensitiveClassifier
from learnable.problems.decisions import conditional_risk, cost_matrix, cost_threshold
from learnable.problems.reject import error_reject_curve
from learnable.problems.zoo import two_gaussians

bench = Benchmark("bayes_decision_theory")


def largest_difference(ours, peer):
    difference = float(np.abs(ours - peer).max())
    assert difference < 1e-12, difference
    return f"largest difference {difference:.0e}"


def posteriors(n, k):
    return np.random.default_rng(0).dirichlet(np.ones(k), size=n)


# The peer of the first case checks nothing; ours checks every entry and row sum in the same pass.
k = 10
loss = np.random.default_rng(1).uniform(size=(k, k)) * (1 - np.eye(k))
for n in bench.sizes([1_000, 10_000, 100_000, 1_000_000]):
    post = posteriors(n, k)
    bench.compare(
        f"conditional risk, {k} classes, with all checks",
        size=n,
        ours=lambda post=post: conditional_risk(post, loss),
        peers={"bare matrix product": lambda post=post: post @ loss},
        accuracy=largest_difference,
    )


def whole_curve(post, y=None):
    """All that the curve offers: thresholds, coverage, reject rate, risk mass, selective risk, area."""
    curve = error_reject_curve(post, y=y)
    return curve, curve.reject_probability, curve.selective_risk, curve.area


def sorts_alike(ours, peer):
    """The peer only orders the risks (a lower bound for any method that does); ours must have the same thresholds."""
    curve, risk = ours[0], peer[0]
    assert np.array_equal(curve.threshold, np.unique(risk[peer[1]]))
    return f"same {curve.threshold.size} thresholds"


for with_labels in (False, True):
    case = "error-reject curve on observed labels" if with_labels else "error-reject curve"
    for n in bench.sizes([10_000, 100_000, 1_000_000, 10_000_000]):
        p = np.random.default_rng(2).uniform(size=n)
        post = np.column_stack([1 - p, p])
        y = (np.random.default_rng(3).uniform(size=n) < p).astype(np.int64) if with_labels else None
        risk = post.min(axis=1)
        bench.compare(
            case,
            size=n,
            ours=lambda post=post, y=y: whole_curve(post, y),
            peers={"one np.argsort of n floats": lambda risk=risk: (risk, np.argsort(risk))},
            accuracy=sorts_alike,
        )


def curve_by_loop(post, y):
    """The curve as one would write it without thinking: mask and average at each threshold."""
    risk, wrong = post.min(axis=1), post.argmax(axis=1) != y
    thresholds = np.unique(risk)
    accepted = np.array([(wrong & (risk <= t)).mean() for t in thresholds])
    coverage = np.array([(risk <= t).mean() for t in thresholds])
    return thresholds, coverage, accepted


def same_curve(ours, peer):
    curve = ours[0]
    for mine, theirs in zip((curve.threshold, curve.coverage, curve.accepted_risk), peer, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12)
    return "same thresholds, coverage and risk to 1e-12"


for n in bench.sizes([300, 1_000, 3_000, 10_000]):
    p = np.random.default_rng(4).uniform(size=n)
    post = np.column_stack([1 - p, p])
    y = (np.random.default_rng(5).uniform(size=n) < p).astype(np.int64)
    bench.compare(
        "error-reject curve, all thresholds",
        size=n,
        ours=lambda post=post, y=y: whole_curve(post, y),
        peers={"numpy loop over thresholds": lambda post=post, y=y: curve_by_loop(post, y)},
        accuracy=same_curve,
    )

a, b = 20.0, 1.0
problem = two_gaussians(m0=[0.0, 0.0], m1=[2.0, 0.0], cov0=np.eye(2), pi1=0.2)
X_fit, y_fit = problem.sample(2_000, 6)
by_cost = CostSensitiveClassifier(LogisticRegression(), loss=cost_matrix(a, b)).fit(X_fit, y_fit)
by_threshold = FixedThresholdClassifier(
    LogisticRegression(), threshold=cost_threshold(a, b), response_method="predict_proba"
).fit(X_fit, y_fit)


def same_decisions(ours, peer):
    different = int((ours != peer).sum())
    assert different == 0, different
    return "same decisions"


for n in bench.sizes([1_000, 10_000, 100_000, 1_000_000]):
    X, _ = problem.sample(n, 7)
    bench.compare(
        "cost-sensitive predict, two classes",
        size=n,
        ours=lambda X=X: by_cost.predict(X),
        peers={"FixedThresholdClassifier": lambda X=X: by_threshold.predict(X)},
        accuracy=same_decisions,
    )

bench.finish()
