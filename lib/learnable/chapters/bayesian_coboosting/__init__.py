"""Bayesian co-boosting: two views of the same sequences train each other's weak classifiers (Wu and Cheng 2014)."""
