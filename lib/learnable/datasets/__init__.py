"""Data: stored sets with their provenance, and simulators with their truth.

Stored sets come from one function::

    from learnable.datasets import available, describe, load

    available("classification", max_samples=500)
    X, y = load("sonar", return_X_y=True)

Simulators live in modules named after what they simulate and return, beside the data, what a simulation knows and
reality hides: the Bayes risk, the support, the graph, the parameters::

    from learnable.datasets.classification import make_twonorm

    make_twonorm(300, random_state=0).bayes_risk

``classification``, ``shapes`` (sharp boundaries, flipped labels), ``wide`` (few relevant inputs), ``rules`` (exact
concepts), ``regression``, ``graphical``, ``sequences``, ``strings``, ``topics``, ``counts``, ``networks``,
``geometry``, ``rankings``, ``motion``, ``images``, ``matrices``, ``multilabel``, ``transactions``, ``records``,
``bags``, ``tasks``, ``functions``, ``control``.
"""

import importlib
import pkgutil

from learnable.datasets._registry import available, benchmark_sets, describe
from learnable.datasets.loaders import (
    load,
    load_mnist,
    load_movielens,
    load_newsgroups,
    load_picture,
    load_splice_bits,
)

__all__ = [
    "available",
    "benchmark_sets",
    "describe",
    "load",
    "load_mnist",
    "load_movielens",
    "load_newsgroups",
    "load_picture",
    "load_splice_bits",
]


def __getattr__(name):
    """Say where a simulator lives; the modules are not imported here, so that a chapter loads only what it uses."""
    if name.startswith("make_"):
        for info in pkgutil.iter_modules(__path__):
            home = f"{__name__}.{info.name}"
            if not info.name.startswith("_") and name in importlib.import_module(home).__all__:
                raise ImportError(f"{name} lives in a module of its field: from {home} import {name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
