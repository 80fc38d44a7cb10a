"""Bayesian decision theory and the reject option."""
