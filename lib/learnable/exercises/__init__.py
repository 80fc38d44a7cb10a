"""Graded exercises: what a student's notebook imports, and what an instructor runs.

A student's notebook needs one name, an author's test cells four more::

    from learnable.exercises import Notebook                     # in the notebook
    from learnable.exercises import ask, hidden_rng, refuses     # in a test

Everything else is behind the ``learnable`` command. Names are imported when they are first used, so that
``import learnable.exercises`` costs nothing and works without the optional packages.
"""

import importlib
import os

__all__ = ["Answer", "Notebook", "WrongAnswer", "ask", "hidden_rng", "hidden_seed", "refuses"]


def need_extra(error):
    """Turn the failed import of an optional package into a sentence that says what to install.

    Examples
    --------
    >>> print(need_extra(ModuleNotFoundError("No module named 'otter'", name="otter")))
    The graded exercises need the package 'otter'. Install it with: pip install "learnable-book[exercises]"
    """
    name = (error.name or "").partition(".")[0]
    return ModuleNotFoundError(
        f'The graded exercises need the package {name!r}. Install it with: pip install "learnable-book[exercises]"',
        name=name,
    )


def __getattr__(name):
    if name == "Notebook":
        # While a submission is graded its own check cells have nothing to say: the grader asks by itself.
        if os.environ.get("LEARNABLE_GRADING"):
            return importlib.import_module(".checking", __name__).SilentNotebook
        try:
            return importlib.import_module(".notebook", __name__).Notebook
        except ModuleNotFoundError as error:
            if error.name and error.name.startswith("learnable"):
                raise
            raise need_extra(error) from None
    if name in __all__:
        return getattr(importlib.import_module(".checking", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
