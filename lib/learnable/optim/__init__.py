"""Solvers that several chapters share."""
