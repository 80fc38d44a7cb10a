"""Averaging over exponentially many Bayesian networks with one network (Dash and Cooper 2004)."""
