"""Sparse linear classifiers from class moments: Chebyshev bounds and second-order cones (Bhattacharyya 2004)."""

import lazy_loader

# The names stand in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
