"""Feature selection: filters, wrappers, embedded and unsupervised selection."""

import lazy_loader

# The names of the front door stand in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
