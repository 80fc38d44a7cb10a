"""Boosting as an l1-regularised path to the maximum-margin classifier (Rosset, Zhu and Hastie 2004)."""
