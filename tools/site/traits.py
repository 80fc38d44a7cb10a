"""What an estimator can do, read from its tags, its signatures and its docstring: nobody keeps a second list."""

from __future__ import annotations

import inspect
import re

from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags

TASKS = {"classifier": "classification", "regressor": "regression", "clusterer": "clustering"}
# Column of the table -> what the page of an estimator says where it holds.
FACTS = {
    "classes": "any number of classes",
    "probabilities": "probabilities",
    "weights": "sample weights",
    "sparse": "sparse input",
}


def instance(estimator):
    """An estimator with its defaults; one that wraps another gets a classifier to wrap."""
    needed = [p.name for p in inspect.signature(estimator).parameters.values() if p.default is p.empty]
    return estimator(**{name: LogisticRegression() for name in needed if name == "estimator"})


def traits(estimator):
    """Task, abilities and cost of an estimator's class, as words."""
    tags = get_tags(instance(estimator))
    classifier = tags.classifier_tags
    return {
        "task": TASKS.get(tags.estimator_type) or _unsupervised(estimator),
        "classes": "" if classifier is None else "yes" if classifier.multi_class else "two",
        "probabilities": "yes" if hasattr(estimator, "predict_proba") else "",
        "weights": "yes" if "sample_weight" in inspect.signature(estimator.fit).parameters else "",
        "sparse": "yes" if tags.input_tags.sparse else "",
        "cost": cost(inspect.getdoc(estimator) or ""),
        "notes": notes(estimator),
    }


def notes(estimator):
    """What the tags of `learnable.validation.tags` say, as sentences."""
    takes = getattr(estimator, "_takes", None)
    units = {"columns": "The units of the columns count", "origin": "The origin of the scale counts"}
    facts = getattr(estimator, "_depends_on_units", {})
    return [*([f"Takes {takes}."] if takes else []), *(f"{units[name]} ({why})." for name, why in facts.items())]


def _unsupervised(estimator):
    return "transformation" if hasattr(estimator, "transform") else "unsupervised"


def cost(text):
    """The first O(…) of a docstring, brackets balanced; empty where it states none."""
    start = re.search(r"\bO\(", text.partition("Examples\n---")[0])
    if start is None:
        return ""
    depth = 0
    for place in range(start.end() - 1, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return " ".join(text[start.start() : place + 1].split())
    return ""
