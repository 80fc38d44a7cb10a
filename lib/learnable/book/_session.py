"""Who is watching: somebody at a live notebook, or a build that holds the chapter to its word."""

from __future__ import annotations

import os
import sys


def live():
    """Whether the code runs in a notebook that a person has open.

    Builds and checks set ``LEARNABLE_EXPLORE``; a script or a test has no kernel.
    """
    if os.environ.get("LEARNABLE_EXPLORE", "widget") != "widget" or "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")
