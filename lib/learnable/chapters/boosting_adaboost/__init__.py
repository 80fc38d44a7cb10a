"""Boosting: surrogate losses, AdaBoost, margin bounds, gradient boosting, and boosting for regression."""
