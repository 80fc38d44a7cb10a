"""The code of Learnable, an executable textbook of statistical learning.

One subpackage a part of the book, one module a chapter::

    from learnable.foundations.bayes_decision_theory import RejectClassifier

What chapters share lives in modules named after the concept (``learnable.validation``,
``learnable.datasets``, ``learnable.book``).
"""

__version__ = "0.2.0"
