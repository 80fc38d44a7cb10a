"""Who may import whom: chapters, library, data, ground. `python -m tools.check.layers` checks it with import-linter.

The contracts follow from the folders: what lies in ``learnable.chapters`` is a chapter, ``learnable.book`` and
``learnable.exercises`` are the frame, every other module is the library. A new chapter or method needs no line here.
"""

from __future__ import annotations

import pkgutil
import sys
from pathlib import Path

from importlinter.cli import lint_imports

from tools.project import BUILD, PARTS, ROOT

FRAME = ("book", "cli", "exercises")
CHAPTERS, DATA, GROUND = "learnable.chapters", "learnable.datasets", "learnable.validation"


def library(package):
    """The modules of methods and concepts: ``learnable.optim``, ``learnable.kernels.svm``, …"""
    found = []
    for info in pkgutil.iter_modules([str(package)]):
        if info.name in PARTS:
            inner = pkgutil.iter_modules([str(package / info.name)])
            found += [f"learnable.{info.name}.{i.name}" for i in inner]
        elif f"learnable.{info.name}" not in (CHAPTERS, DATA, GROUND) and info.name not in FRAME:
            found.append(f"learnable.{info.name}")
    return found


def contracts(package):
    """The text of import-linter's configuration for the package in a folder."""
    chapters = [f"{CHAPTERS}.{i.name}" for i in pkgutil.iter_modules([str(package / "chapters")])]
    methods = library(package)
    private = [f"{DATA}.{i.name}" for i in pkgutil.iter_modules([str(package / "datasets")]) if i.name.startswith("_")]
    frame = [f"learnable.{name}" for name in FRAME if (package / name).exists() or (package / f"{name}.py").exists()]
    layers = [" | ".join(chapters), " : ".join(methods), DATA, GROUND]

    def listed(values):
        return "".join(f"\n    {value}" for value in values if value)

    text = "[importlinter]\nroot_package = learnable\nexclude_type_checking_imports = True\n"
    text += "\n[importlinter:contract:layers]\ntype = layers\n"
    text += "name = chapters import the library, the library data, data the ground; no chapter imports another\n"
    text += f"layers ={listed(layers)}\n"
    text += "\n[importlinter:contract:cycles]\ntype = acyclic_siblings\nname = no module imports itself by a detour\n"
    parts = [f"learnable.{part}" for part in PARTS if (package / part).is_dir()]
    text += f"ancestors ={listed(['learnable', *parts])}\n"
    text += "depth = 0\n"
    if frame:
        text += "\n[importlinter:contract:frame]\ntype = forbidden\nname = no method imports the book or exercises\n"
        text += f"source_modules ={listed([*methods, DATA, GROUND])}\nforbidden_modules ={listed(frame)}\n"
    if private:
        text += "\n[importlinter:contract:private]\ntype = forbidden\nallow_indirect_imports = True\n"
        text += "name = no algorithm imports a private helper of the data package\n"
        text += f"source_modules ={listed([*chapters, *methods])}\nforbidden_modules ={listed(private)}\n"
    return text


def main(root=ROOT):
    """Check the package below `root`; the exit status of import-linter."""
    sys.path.insert(0, str(Path(root) / "lib"))
    path = BUILD / "importlinter.ini"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(contracts(Path(root) / "lib" / "learnable"), encoding="utf-8")
    return lint_imports(config_filename=str(path), no_cache=True)


if __name__ == "__main__":
    raise SystemExit(main())
