"""Causal graphs that do not depend on the order of the columns (Colombo and Maathuis 2014)."""

import lazy_loader

# The names stand in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
