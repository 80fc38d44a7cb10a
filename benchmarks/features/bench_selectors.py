"""Five ways to choose columns, on the same three real data sets: accuracy, columns, seconds, stability.

Each selector is fitted on the training half of every split, and the same logistic regression on the columns that it
kept is scored on the other half; the labels of the test rows are seen by nobody before. Stability is the mean overlap
of the sets that two splits lead to (Jaccard: common columns over all columns of the two). Seconds are of the processor,
for one fit. The landing page of the part shows the table from ``book/data/compared_features.json``.

    python -m benchmarks.features.bench_selectors [--smoke]
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import describe_machine
from learnable.datasets import load
from learnable.features import FCBF, FSSEM, CMIMSelector, MDLDiscretizer, RVErS, SOCPSelector

STORED = Path(__file__).parents[2] / "book" / "data" / "compared_features.json"
SPLITS = 10


def data_sets(smoke):
    """Name to (X, y), two classes each."""
    cancer = load_breast_cancer()
    sets = {"breast cancer": (cancer.data, cancer.target)}
    if not smoke:
        ionosphere, khan = load("ionosphere"), load("khan")
        moving = np.ptp(np.asarray(ionosphere.data, dtype=float), axis=0) > 0
        sets["ionosphere"] = np.asarray(ionosphere.data, dtype=float)[:, moving], np.asarray(ionosphere.target)
        sets["tumours, 2,308 genes"] = np.asarray(khan.data, dtype=float), (np.asarray(khan.target) == 1).astype(int)
    return sets


def selectors(n_columns, random_state):
    """Name to (selector, what it is), in the order of the part; None keeps every column."""
    return {
        "all columns": (None, "nothing is chosen"),
        "best ten, one by one": (SelectKBest(f_classif, k=min(10, n_columns)), "scikit-learn's `SelectKBest`"),
        "FCBF": (make_pipeline(MDLDiscretizer(), FCBF()), "filter"),
        "CMIM, ten": (make_pipeline(MDLDiscretizer(), CMIMSelector(k=min(10, n_columns))), "filter"),
        "RVErS, naive Bayes": (make_pipeline(MDLDiscretizer(), RVErS(random_state=random_state)), "wrapper"),
        "SOCP, level 0.7": (make_pipeline(StandardScaler(), SOCPSelector(eta=0.7)), "embedded"),
        "FSSEM": (FSSEM(n_components=4, n_restarts=3, max_features=6, random_state=random_state), "unsupervised"),
    }


def support(fitted):
    last = fitted[-1] if hasattr(fitted, "steps") else fitted
    return last.get_support()


def one_split(selector, X, y, train, test):
    """Accuracy on the test rows, the chosen columns and the seconds of one fit."""
    started = time.process_time()
    kept = np.ones(X.shape[1], dtype=bool)
    if selector is not None:
        kept = support(clone(selector).fit(X[train], y[train]))
    seconds = time.process_time() - started
    if not kept.any():  # nothing was found relevant: the commonest class
        return float(np.mean(y[test] == np.bincount(y[train]).argmax())), kept, seconds
    rule = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(X[train][:, kept], y[train])
    return float(rule.score(X[test][:, kept], y[test])), kept, seconds


def overlap(sets):
    """Mean Jaccard index of all pairs of column sets; two empty sets are equal."""
    shares = [
        (a & b).sum() / max((a | b).sum(), 1) if (a | b).any() else 1.0 for a, b in itertools.combinations(sets, 2)
    ]
    return float(np.mean(shares))


def measure(smoke=False):
    """One row for each data set and selector."""
    rows = []
    for name, (X, y) in data_sets(smoke).items():
        splits = StratifiedShuffleSplit(2 if smoke else SPLITS, test_size=0.5, random_state=0).split(X, y)
        splits = list(splits)
        for label, (selector, kind) in selectors(X.shape[1], random_state=0).items():
            with warnings.catch_warnings():
                # Columns with too few values are left out, and a level out of reach becomes the best one: both say so.
                for ignored in (ConvergenceWarning, UserWarning):
                    warnings.simplefilter("ignore", ignored)
                if selector is not None:
                    one_split(selector, X, y, *splits[0])  # compile
                found = [one_split(selector, X, y, *split) for split in splits]
            accuracy, kept, seconds = zip(*found, strict=True)
            rows.append(
                {
                    "data": name,
                    "rows": len(X),
                    "columns": X.shape[1],
                    "selector": label,
                    "kind": kind,
                    "accuracy": round(float(np.mean(accuracy)), 4),
                    "accuracy_se": round(float(np.std(accuracy, ddof=1) / len(accuracy) ** 0.5), 4),
                    "kept": round(float(np.mean([k.sum() for k in kept])), 1),
                    "stability": round(overlap(kept), 3),
                    "seconds": float(f"{statistics.median(seconds):.2g}"),
                }
            )
            shown = "{accuracy:.3f} {kept:8.1f} {stability:.2f} {seconds:.2g} s".format(**rows[-1])
            print(f"{name:22s} {label:22s} {shown}", flush=True)
    return rows


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="one data set, two splits, store nothing")
    arguments = parser.parse_args(argv)
    load = round(os.getloadavg()[0], 1)
    rows = measure(arguments.smoke)
    if not arguments.smoke:
        about = {"measured": datetime.date.today().isoformat(), "machine": describe_machine(1), "splits": SPLITS}
        about["load"] = load
        told = {**about, "rows": rows}
        STORED.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
