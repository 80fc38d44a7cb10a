"""The code of Learnable, an executable textbook of statistical learning.

Each part of the book is a subpackage that exports what people use in their own work, in scikit-learn's conventions::

    from learnable.kernels import SoftMarginSVM
    from learnable.latent import HMM, viterbi

Below the door each method has a module of its own (``learnable.kernels.svm``), and so has each concept that methods
share (``learnable.optim``, ``learnable.trees``). ``learnable.chapters`` holds what single lectures tell: studies,
bounds, what a source compares with. Nothing is imported before it is used.
"""

import lazy_loader

__version__ = "0.5.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
