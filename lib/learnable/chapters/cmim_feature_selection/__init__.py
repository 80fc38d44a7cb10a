"""Conditional mutual information maximization: exact, lazy, bit-parallel feature selection."""
