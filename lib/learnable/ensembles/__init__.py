"""Votes of many rules: boosting, bagging and what they converge to."""
