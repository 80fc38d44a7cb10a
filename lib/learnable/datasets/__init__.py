"""Data: stored sets with their provenance, and simulators with their truth.

Stored sets come from one function::

    from learnable.datasets import available, describe, load

    available("classification", max_samples=500)
    X, y = load("sonar", return_X_y=True)

Simulators live in modules named after what they simulate and return, beside the data, what a simulation knows and
reality hides: the Bayes risk, the support, the graph, the parameters::

    from learnable.datasets.classification import make_twonorm

    make_twonorm(300, random_state=0).bayes_risk

``classification``, ``rules`` (exact Boolean and tabular concepts), ``regression``, ``graphical``, ``sequences``,
``topics``, ``counts``, ``networks``, ``geometry``, ``rankings``, ``motion``, ``images``, ``matrices``,
``multilabel``, ``transactions``, ``records``, ``bags``, ``tasks``, ``functions``, ``control``.
"""

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
