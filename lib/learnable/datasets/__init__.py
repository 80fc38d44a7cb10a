"""Data: stored sets with their provenance, and simulators with their truth.

Stored sets come from one function::

    from learnable.datasets import available, describe, load

    available("classification", max_samples=500)
    X, y = load("sonar", return_X_y=True)

Simulators live in modules named after what they simulate and return, beside the data, what a simulation knows and
reality hides: the Bayes risk, the support, the graph, the parameters::

    from learnable.datasets import make_twonorm

    make_twonorm(300, random_state=0).bayes_risk

The modules: ``classification``, ``shapes`` (sharp boundaries, flipped labels), ``wide`` (few relevant inputs),
``rules`` (exact concepts), ``regression``, ``graphical``, ``sequences``, ``strings``, ``topics``, ``counts``,
``networks``, ``geometry``, ``rankings``, ``motion``, ``images``, ``matrices``, ``multilabel``, ``transactions``,
``records``, ``bags``, ``tasks``, ``functions``, ``control``.
"""

import lazy_loader

# The names stand in __init__.pyi; the module of each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
