"""Boosting as an l1-regularised path to the maximum-margin classifier (Rosset, Zhu and Hastie 2004)."""

import lazy_loader

# The names stand in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
