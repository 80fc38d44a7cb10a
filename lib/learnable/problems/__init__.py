"""Problems: distributions of (X, Y) whose Bayes risk is known, and the decisions that are best under them.

Problems with known posteriors (:mod:`.base`, :mod:`.density`), a zoo of them (:mod:`.zoo`), and what to decide when the
posteriors are known (:mod:`.decisions`, :mod:`.reject`).
"""

import lazy_loader

# The names stand in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
