"""The experiments of the source: five mixtures, growing noise, three real tables (Dy and Brodley 2004, Sec. 6)."""

from __future__ import annotations

import warnings

import numpy as np

from learnable.book.study import study
from learnable.chapters.unsupervised_feature_selection.synthetic import (
    NAMES,
    class_error,
    cv_class_error,
    make_noisy_clusters,
    recall_precision,
)
from learnable.datasets import load
from learnable.features.fssem.selector import FSSEM

MAX_COMPONENTS = 8  # not printed for the synthetic data
N_TRAIN, N_TEST = 450, 2000
METHODS = (
    "FSSEM-k-TR",
    "FSSEM-k-TR-STD",
    "FSSEM-k-ML",
    "FSSEM-k-ML-STD",
    "FSSEM-k-TR-STD-notnorm",
    "FSSEM-k-ML-STD-notnorm",
    "FSSEM-TR-STD",
    "FSSEM-ML-STD",
    "EM-STD",
    "EM-k-STD",
)
REAL_METHODS = (
    "FSSEM-k-TR-STD",
    "FSSEM-k-ML-STD",
    "EM-STD",
    "EM-k-STD",
    "FSS-Kmeans-ML-STD",
    "FSS-Kmeans-k-ML-STD",
    "Kmeans-STD",
)


def build(method, n_components, max_components, **options):
    """The estimator that a name of the source stands for.

    The parts of a name: ``k`` finds the number of clusters, ``TR`` and ``ML`` are the criteria, ``STD`` standardises,
    ``notnorm`` compares raw criteria, ``FSSEM`` and ``FSS-Kmeans`` search for features, ``EM`` and ``Kmeans`` take all.

    Parameters
    ----------
    method : str
        One of `METHODS` or `REAL_METHODS`.
    n_components : int
        Number of clusters where it is not found.
    max_components : int
        The largest number where it is.
    **options : dict
        Further parameters of `FSSEM`.

    Returns
    -------
    FSSEM
        Not fitted.

    Examples
    --------
    >>> build("EM-STD", 3, 8).search
    'all'
    """
    parts = method.split("-")
    return FSSEM(
        max_components if "k" in parts else n_components,
        find_k="k" in parts,
        criterion="ml" if "ML" in parts else "trace",
        normalize="notnorm" not in parts,
        standardize="STD" in parts,
        clusterer="kmeans" if "Kmeans" in parts else "em",
        search="forward" if parts[0].startswith("FSS") else "all",
        **options,
    )


def _judged(method, name, n_noise, random_state):
    """Figures of one method on one fresh sample, with its law kept for the test sample."""
    made = make_noisy_clusters(name, N_TRAIN + N_TEST, n_noise=n_noise, random_state=random_state)
    X, y = made.X[:N_TRAIN], made.y[:N_TRAIN]
    model = build(method, len(made.means), MAX_COMPONENTS, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    error = class_error(model.labels_, y, model.predict(made.X[N_TRAIN:]), made.y[N_TRAIN:])
    recall, precision = recall_precision(model.selected_, made.relevant)
    return {
        "error": 100 * error,
        "clusters": model.n_components_,
        "features": len(model.selected_),
        "recall": recall,
        "precision": precision,
        "Bayes": 100 * made.bayes_error(),
    }


@study(
    source="Dy and Brodley 2004, Tables 1-5",
    paper={"repetitions": 10, "name": [*NAMES], "method": [*METHODS]},
    lecture={"repetitions": 2, "name": ["4-class"], "method": ["FSSEM-k-TR-STD", "EM-k-STD"]},
    paired=("method",),
    note="ten samples of 450 with 2000 fresh test points each, where the source has ten folds of one sample of 500; "
    "at most 8 clusters; our covariances for the 3-class mixture, new means for each sample of the 5-class mixtures",
)
def synthetic(random_state, *, name, method):
    """Percent of test points with a class other than their cluster's, clusters, features, recall and precision."""
    return _judged(method, name, 3, random_state)


@study(
    source="Dy and Brodley 2004, Figure 9",
    paper={
        "repetitions": 5,
        "n_noise": [0, 2, 4, 8, 12, 16, 20],
        "method": ["FSSEM-k-TR-STD", "FSSEM-k-ML-STD", "EM-k-STD"],
    },
    lecture={"repetitions": 1, "n_noise": [0, 4], "method": ["FSSEM-k-TR-STD", "EM-k-STD"]},
    paired=("method",),
    note="five samples of 450 with 2000 fresh test points each",
)
def noise(random_state, *, n_noise, method):
    """The four-class mixture with more and more irrelevant features."""
    return _judged(method, "4-class", n_noise, random_state)


def _table(name):
    """(X, y, largest number of clusters, start) of a real table."""
    bunch = load(name)
    X, y = np.asarray(bunch.data, float), np.asarray(bunch.target)
    return X, y, 10 if name == "ionosphere" else 6, "random" if name == "ionosphere" else "kmeans"


@study(
    source="Dy and Brodley 2004, Tables 6-8",
    paper=[
        {"repetitions": 5, "name": ["iris", "wine"], "method": [*REAL_METHODS]},
        {"repetitions": 1, "name": ["ionosphere"], "method": [*REAL_METHODS]},
    ],
    lecture={"repetitions": 1, "name": ["iris"], "method": ["FSSEM-k-TR-STD"]},
    paired=("method",),
    note="ten folds as in the source, drawn five times for iris and wine",
)
def real_data(random_state, *, name, method):
    """Ten-fold class error in percent, clusters and features of a real table."""
    X, y, most, init = _table(name)
    folds = int(random_state.integers(2**31))
    model = build(method, len(np.unique(y)), most, init=init, random_state=folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cv_class_error(model, X, y, random_state=folds)
    return {
        "error": 100 * found.error.mean(),
        "clusters": found.n_clusters.mean(),
        "features": found.n_features.mean(),
    }
