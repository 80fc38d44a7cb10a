"""Comparing classifiers over data sets: protocol, roster, summaries and tests (Fernandez-Delgado et al. 2014)."""
