"""The code of Learnable, an executable textbook of statistical learning.

Each part of the book is a subpackage that exports what people use in their own work, in scikit-learn's conventions::

    from learnable.kernels import SoftMarginSVM
    from learnable.latent import HMM, viterbi

The rest lives in the modules of the chapters (``learnable.kernels.support_vector_machines``), and what chapters share
in modules named after the concept (``learnable.optim``, ``learnable.trees``). Nothing is imported before it is used.
"""

import lazy_loader

__version__ = "0.5.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
