"""The five mixtures of the source with irrelevant features, and how a clustering of them is judged (Sec. 6.1, 6.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from learnable.features.fssem.criteria import check_features
from learnable.latent.mixture import _em
from learnable.latent.mixture.gaussian import check_table
from learnable.validation import Result, check_rng, encode_labels

NAMES = ("2-class", "3-class", "4-class", "5-class, 5 relevant", "5-class, 15 relevant")
FIVE = (0, 9, 17, 18, 19)
FIFTEEN = (0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 19)


@dataclass(frozen=True, eq=False)
class NoisyClusters(Result):
    """A sample from a mixture of Gaussians in some of the features, noise in the others."""

    X: np.ndarray
    y: np.ndarray
    relevant: tuple
    means: np.ndarray
    covariances: np.ndarray

    def bayes_error(self):
        """Share of the sample that the rule with the true densities and equal weights gets wrong."""
        k = len(self.means)
        Z = np.empty((len(self.X), k))
        mixture = _em.Mixture(np.full(k, 1 / k), self.means, self.covariances)
        _em.posteriors(_em.columns_first(self.X[:, self.relevant]), mixture, Z)
        return float((Z.argmax(axis=1) != self.y).mean())


@dataclass(frozen=True, eq=False)
class ClassErrors(Result):
    """What cross-validation says about a clusterer."""

    error: np.ndarray
    n_clusters: np.ndarray
    n_features: np.ndarray


def make_noisy_clusters(name, n=500, *, n_noise=3, random_state=None):
    """Draw one of the five mixtures of Dy and Brodley (2004), Sec. 6.1. Cost O(n d)."""
    rng = check_rng(random_state)
    if name.startswith("5"):
        relevant = FIVE if " 5 " in name else FIFTEEN
        means = rng.uniform(-5, 5, (5, len(relevant)))
        covariances = np.array([np.diag(v) for v in rng.uniform(0.7, 1.5, means.shape)])
        d = 20
    else:
        relevant, d = (0, 1), 2 + n_noise
        means, variances = {
            "2-class": ([[0, 0], [0, 3]], [[1, 1], [1, 1]]),
            "3-class": ([[0, 0], [0, 0], [3, 0]], [[2, 0.2], [0.2, 2], [1, 0.3]]),
            "4-class": ([[0, 0], [1, 4], [5, 5], [5, 0]], [[1, 1]] * 4),
        }[name]
        means, covariances = np.array(means, float), np.array([np.diag(v) for v in np.array(variances, float)])
    y = rng.permutation(np.arange(n) % len(means))
    X = rng.normal(size=(n, d))
    scale = np.sqrt(covariances.diagonal(axis1=1, axis2=2))
    X[:, relevant] = means[y] + scale[y] * X[:, relevant]
    return NoisyClusters(X, y, relevant, means, covariances)


def class_error(labels, y, labels_test=None, y_test=None):
    """Share of observations whose class differs from the majority class of their cluster (Sec. 6.2). Cost O(n)."""
    clusters, codes = np.unique(np.asarray(labels), return_inverse=True)
    classes, truth = encode_labels(y)
    counts = np.zeros((len(clusters), len(classes)))
    np.add.at(counts, (codes, truth), 1)
    if labels_test is None:
        return float(1 - counts.max(axis=1).sum() / len(truth))
    labels_test, y_test = np.asarray(labels_test), np.asarray(y_test)
    at = np.searchsorted(clusters, labels_test).clip(max=len(clusters) - 1)
    known = clusters[at] == labels_test
    said = np.where(known, counts.argmax(axis=1)[at], counts.sum(axis=0).argmax())
    return float((classes[said] != y_test).mean())


def recall_precision(selected, relevant):
    """Share of the relevant features that were selected, and share of the selected that are relevant (Sec. 6.2)."""
    chosen = set(check_features(selected, 2**31, "selected").tolist())
    wanted = set(check_features(relevant, 2**31, "relevant").tolist())
    common = len(chosen & wanted)
    return common / len(wanted), common / len(chosen)


def cv_class_error(estimator, X, y, *, cv=10, random_state=None):
    """Class error of a clusterer by cross-validation, features and clusters found anew in each fold (Sec. 6.2)."""
    X = check_table(X, constant=True)
    codes = encode_labels(y)[1]
    seed = int(check_rng(random_state).integers(2**31))
    rows = []
    for train, test in KFold(cv, shuffle=True, random_state=seed).split(X):
        model = clone(estimator).fit(X[train])
        labels = model.predict(X[train])
        error = class_error(labels, codes[train], model.predict(X[test]), codes[test])
        support = model.get_support().sum() if hasattr(model, "get_support") else X.shape[1]
        rows.append((error, model.n_components_, support))
    error, clusters, features = zip(*rows, strict=True)
    return ClassErrors(np.array(error), np.array(clusters), np.array(features))
