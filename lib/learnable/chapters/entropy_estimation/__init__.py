"""Bayesian estimation of entropy with mixtures of Pitman-Yor processes (Archer, Park and Pillow 2014)."""
