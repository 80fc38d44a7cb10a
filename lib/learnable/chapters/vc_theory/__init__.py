"""Empirical risk minimisation and Vapnik–Chervonenkis theory."""
