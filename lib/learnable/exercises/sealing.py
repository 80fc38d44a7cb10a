"""What an exercise asks for cannot be imported while it is checked or graded, and the error says so.

A seal is a finder at the front of Python's own: whoever imports a sealed module is told to write it. Where code is
confined the files are not there either; the seal is for the honest, who would take a missing file for a broken
installation.
"""

import importlib.util
import sys
from pathlib import Path
from types import FunctionType, ModuleType

__all__ = ["Seal", "sealed_files", "sentence"]


def sentence(name):
    """Say why a module cannot be had.

    Examples
    --------
    >>> print(sentence("learnable.kernels.svm"))
    this exercise asks you to write it yourself: learnable.kernels.svm cannot be used in it
    """
    return f"this exercise asks you to write it yourself: {name} cannot be used in it"


class Seal:
    """Refuses to import the ``modules`` and what is in them.

    Parameters
    ----------
    modules : sequence of str
    only_for : dict, optional
        The globals of a notebook: code elsewhere, such as a check that runs in the same process, may import them.
    """

    def __init__(self, modules, only_for=None):
        self.modules, self.only_for = tuple(modules), only_for
        self._passing = {"importlib", "_frozen_importlib", "lazy_loader", *(m.partition(".")[0] for m in self.modules)}

    def close(self):
        """Put the seal on, before every other finder and over what was imported already."""
        for other in [f for f in sys.meta_path if isinstance(f, Seal) and f.only_for is self.only_for]:
            sys.meta_path.remove(other)
        sys.meta_path.insert(0, self)
        self.forget()

    def forget(self):
        """Forget our own sealed modules that were imported, so that whoever wants them has to ask again.

        Those of others stay: what they compiled cannot be loaded twice.
        """
        for name in [name for name in sys.modules if name.startswith("learnable.") and self.covers(name)]:
            parent, _, last = name.rpartition(".")
            del sys.modules[name]
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(last, None)

    def covers(self, name):
        """Whether a module, or what it is in, is sealed."""
        return any(name == sealed or name.startswith(f"{sealed}.") for sealed in self.modules)

    def find_spec(self, name, path=None, target=None):
        """Raise `ImportError` for a sealed module; otherwise leave it to others."""
        if self.covers(name) and (self.only_for is None or self._is_asked_by_the_notebook()):
            raise ImportError(sentence(name), name=name)

    def _is_asked_by_the_notebook(self):
        """Whether its code imports, itself or through a package that loads its parts when they are first used."""
        frame = sys._getframe(2)
        while frame is not None and frame.f_globals is not self.only_for:
            if frame.f_globals.get("__name__", "").partition(".")[0] not in self._passing:
                return False
            frame = frame.f_back
        return frame is not None

    def found_in(self, names):
        """Return the first sealed module that something in a namespace comes from, or an empty string."""
        for value in list(names.values()):
            origin = value.__name__ if isinstance(value, ModuleType) else getattr(type(value), "__module__", "")
            if isinstance(value, type | FunctionType):
                origin = value.__module__
            if isinstance(origin, str) and self.covers(origin):
                return origin
        return ""


def sealed_files(modules):
    """List the files and folders of modules, with what was compiled from them; nothing is imported."""
    for module in modules:
        top, *rest = module.split(".")
        spec = importlib.util.find_spec(top)
        if spec is None or not spec.origin:
            continue
        home = Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
        stem = home.joinpath(*rest)
        for folder in (stem.parent, stem.parent / "__pycache__"):
            yield from (str(p) for p in folder.glob(f"{stem.name}*") if p.name.partition(".")[0] == stem.name)
