"""Laws of (X, Y) whose Bayes risk is known, and the decisions that are best under them.

Problems with known posteriors (:mod:`~learnable.laws.problems`, :mod:`~learnable.laws.density`), a zoo of them
(:mod:`~learnable.laws.zoo`), and what to decide when the posteriors are known
(:mod:`~learnable.laws.decisions`, :mod:`~learnable.laws.reject`).
"""
