"""Who may import whom: chapters, concepts, data, ground. `python -m tools.layers` checks it with import-linter.

The contracts follow from the table of contents: what lies in ``learnable.<part>.<slug>`` of a lecture is a chapter;
every other module of an algorithm is a concept. A new chapter needs no line here.
"""

from __future__ import annotations

import pkgutil
import sys
from pathlib import Path

from importlinter.cli import lint_imports

from tools.project import BUILD, PARTS, ROOT, chapters

BESIDE = ("book", "cli", "exercises")
DATA, GROUND = "learnable.datasets", "learnable.validation"


def concepts(package, slugs):
    """The modules of algorithms that belong to no chapter: ``learnable.optim``, ``learnable.kernels.smo``, …"""
    found = []
    for info in pkgutil.iter_modules([str(package)]):
        if info.name in PARTS:
            inner = pkgutil.iter_modules([str(package / info.name)])
            found += [f"learnable.{info.name}.{i.name}" for i in inner if (info.name, i.name) not in slugs]
        elif f"learnable.{info.name}" not in (DATA, GROUND) and info.name not in BESIDE:
            found.append(f"learnable.{info.name}")
    return found


def contracts(package, slugs):
    """The text of import-linter's configuration for a package whose chapters are the pairs (part, slug) in `slugs`."""
    ours = [f"learnable.{part}.{slug}" for part, slug in slugs]
    shared = concepts(package, slugs)
    private = [f"{DATA}.{i.name}" for i in pkgutil.iter_modules([str(package / "datasets")]) if i.name.startswith("_")]
    beside = [f"learnable.{name}" for name in BESIDE if (package / name).exists() or (package / f"{name}.py").exists()]
    layers = [" | ".join(ours), " : ".join(shared), DATA, GROUND]

    def listed(values):
        return "".join(f"\n    {value}" for value in values if value)

    text = "[importlinter]\nroot_package = learnable\nexclude_type_checking_imports = True\n"
    text += "\n[importlinter:contract:layers]\ntype = layers\n"
    text += "name = chapters import concepts, concepts data, data the ground; no chapter imports another\n"
    text += f"layers ={listed(layers)}\n"
    if beside:
        text += (
            "\n[importlinter:contract:beside]\ntype = forbidden\nname = no algorithm imports the book or exercises\n"
        )
        text += f"source_modules ={listed([*ours, *shared, DATA, GROUND])}\nforbidden_modules ={listed(beside)}\n"
        # A chapter's experiments are studies of the book.
        text += "ignore_imports =\n    learnable.*.*.experiments -> learnable.book.study\n"
        text += "unmatched_ignore_imports_alerting = none\n"
    if private:
        text += "\n[importlinter:contract:private]\ntype = forbidden\nallow_indirect_imports = True\n"
        text += "name = no algorithm imports a private helper of the data package\n"
        text += f"source_modules ={listed([*ours, *shared])}\nforbidden_modules ={listed(private)}\n"
    return text


def main(root=ROOT):
    """Check the package below `root`; the exit status of import-linter."""
    sys.path.insert(0, str(Path(root) / "lib"))
    slugs = [(chapter.part, chapter.slug) for chapter in chapters()]
    path = BUILD / "importlinter.ini"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(contracts(Path(root) / "lib" / "learnable", slugs), encoding="utf-8")
    return lint_imports(config_filename=str(path), no_cache=True)


if __name__ == "__main__":
    raise SystemExit(main())
