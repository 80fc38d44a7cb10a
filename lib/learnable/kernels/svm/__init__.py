"""Support vector machines: margins, duality, soft margins, bounds (Lember 2012, Sec. 4.1-4.4)."""

import lazy_loader

# The names stand in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
