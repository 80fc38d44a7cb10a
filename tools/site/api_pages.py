"""The reference of the package: which names it has, on which page each stands, and which chapters call it.

Sphinx's autodoc writes what the pages say, from the docstrings (`book/_ext/learnable_reference`); here they are laid
out. A part of the book has a page with what its front door exports and the modules of its methods below; each estimator
has a page of its own, and so has each concept, that is each public module with its functions, classes and results.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import itertools
import pkgutil
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache

from sklearn.base import BaseEstimator

import learnable
from tools.project import PACKAGE, PARTS, ROOT, chapters, write_if_changed
from tools.site.toc import API, SHARED
from tools.site.traits import FACTS, traits

# Packages whose submodules are an implementation: only what the package itself exports is public.
CLOSED = ("learnable.exercises", "learnable.book")
OPEN = ("learnable.book.plots",)
MOST_CHAPTERS = 4  # that the entry of a name lists: every chapter calls `claim`, and there will be ninety
MOST_ROWS = 20  # of a table that stands open: a part of eighteen chapters stays a page that a thumb can pass
KINDS = {
    "estimator": "Estimators",
    "function": "Functions",
    "class": "Classes",
    "result": "Results",
    "data": "Constants",
}


@dataclass
class Entry:
    """One public name: where it is documented and which chapters call it."""

    name: str
    module: str
    value: object
    page: str
    exported: str
    used_in: list = field(default_factory=list)

    @property
    def label(self):
        return f"{self.exported}.{self.name}"

    @property
    def kind(self):
        return kind_of(self.value)

    @property
    def document(self):
        """An estimator has a page of its own, everything else stands on that of its module."""
        if self.kind == "estimator":
            name = self.label.removeprefix(f"learnable.{self.page}.")
            return f"{API}/{self.page}/{name}"
        return concept_page(self.page, self.module)

    def is_of(self, chapter):
        """Whether the chapter teaches the module."""
        return any(f"{self.module}.".startswith(f"{taught}.") for taught in chapter.teaches)


def kind_of(value):
    """Which of `KINDS` a public object is; a result is what functions return or raise."""
    if not inspect.isclass(value):
        return "function" if inspect.isroutine(value) or hasattr(value, "py_func") else "data"
    if issubclass(value, BaseEstimator) and hasattr(value, "fit"):
        return "estimator"
    frozen = dataclasses.is_dataclass(value) and value.__dataclass_params__.frozen
    return "result" if frozen or issubclass(value, (tuple, Exception)) else "class"


def concept_page(page, module):
    """Document of a module: ``kernels/smo``, ``numerics/linalg.precision``."""
    return f"{API}/{page}/{module.removeprefix('learnable.').removeprefix(f'{page}.')}"


def page_names():
    """The groups in their order, name and title; parts without code have none."""
    parts = {part: title for part, title in PARTS.items() if any(c.part == part for c in chapters())}
    return {**parts, **SHARED}


def _roots():
    """Each group with the modules right below ``learnable`` that it covers."""
    top = [info.name for info in pkgutil.iter_modules(learnable.__path__) if not info.name.startswith("_")]
    own = {*PARTS, *SHARED, "chapters", "cli", "warm"}
    return {page: [page] if page != "numerics" else [name for name in top if name not in own] for page in page_names()}


def _public_modules(root):
    """Names of the public modules at and below ``learnable.<root>``, the package first."""
    name = f"learnable.{root}"
    found = [name]
    module = importlib.import_module(name)
    if hasattr(module, "__path__"):
        found += [info.name for info in pkgutil.walk_packages(module.__path__, f"{name}.")]
    return [m for m in found if not any(part.startswith("_") for part in m.split("."))]


def _exporters(root):
    """Modules whose ``__all__`` is public: of a method's package, only what its stub exports."""
    packages = [path.parent.relative_to(PACKAGE.parent) for path in PACKAGE.glob("*/*/__init__.pyi")]
    inner = tuple(f"{name}." for name in (*CLOSED, *(".".join(path.parts) for path in packages)))
    return [m for m in _public_modules(root) if m in OPEN or not m.startswith(inner)]


@cache
def entries():
    """All public names, keyed by the identity of what they name; the front door comes first, then the packages."""
    found = {}
    for page, roots in _roots().items():
        # A simulator is documented beside its kin, although the data package exports it too.
        names = [m for root in roots for m in _exporters(root)]
        names.sort(key=lambda m: (m == "learnable.datasets", m.count(".")))
        for name in names:
            module = importlib.import_module(name)
            for public in getattr(module, "__all__", ()):
                value = getattr(module, public)
                home = _home(name, public, value)
                if not inspect.ismodule(value) and (home, public) not in found and _belongs(home, name):
                    found[home, public] = Entry(public, _shown(home, name), value, page, name)
    _note_uses(found)
    return found


def _home(exporter, name, value):
    """The module that defines a name; for a constant, the one below the exporter in whose source it is assigned."""
    home = getattr(value, "__module__", None)
    if kind_of(value) != "data" and home:
        return home
    for below in [m for m in _public_modules(exporter.removeprefix("learnable.")) if m != exporter]:
        module = importlib.import_module(below)
        if hasattr(module, name) and re.search(rf"^{name}\b.*=", inspect.getsource(module), re.M):
            return below
    return exporter


def _belongs(home, exporter):
    """A name re-exported from another documented module is documented there."""
    return not home.startswith("learnable.") or home == exporter or home.startswith(f"{exporter}.")


def _shown(home, exporter):
    """The module on whose page a name stands: its own, or the exporter where that is private."""
    public = home.startswith("learnable.") and not any(part.startswith("_") for part in home.split("."))
    closed = home.startswith(tuple(f"{name}." for name in CLOSED)) and home not in OPEN
    return home if public and not closed else exporter


def _note_uses(found):
    by_value = {id(entry.value): entry for entry in found.values()}
    for chapter in chapters():
        for value in called_names(chapter):
            entry = by_value.get(id(value))
            if entry is not None and chapter not in entry.used_in:
                entry.used_in.append(chapter)


def called_names(chapter):
    """What a chapter's cells take from the package, as objects, in the order of first use."""
    modules, values = {}, []
    for cell in chapter.code_cells():
        source = "".join(cell["source"])
        try:
            tree = ast.parse(source)
        except SyntaxError:  # a cell with a magic
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("learnable"):
                for alias in node.names:
                    value = resolve(f"{node.module}.{alias.name}")
                    if inspect.ismodule(value):
                        modules[alias.asname or alias.name] = value
                    elif value is not None:
                        values.append(value)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                value = getattr(modules[node.value.id], node.attr, None)
                if value is not None:
                    values.append(value)
    return values


def resolve(path):
    """The object of a dotted path into the package, or None."""
    holder, _, name = path.rpartition(".")
    if not holder:
        return learnable if path == "learnable" else None
    try:
        value = getattr(importlib.import_module(holder), name, None)
        return importlib.import_module(path) if value is None else value
    except ModuleNotFoundError:
        inner = resolve(holder)
        return getattr(inner, name, None)


def find(target, module=""):
    """The entry that a docstring of ``module`` means by a name, dotted or bare; None if there is none."""
    by_value, by_name = _registers()
    if target.startswith("learnable."):
        return by_value.get(id(resolve(target)))
    return max(by_name.get(target, ()), key=lambda entry: _shared_parts(entry.module, module), default=None)


@cache
def _registers():
    """The entries by what they name, the first of each, and by their bare name: every reference looks here."""
    by_value, by_name = {}, {}
    for entry in entries().values():
        by_value.setdefault(id(entry.value), entry)
        by_name.setdefault(entry.name, []).append(entry)
    return by_value, by_name


def _shared_parts(one, other):
    pairs = zip(one.split("."), other.split("."), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(one.count("."), other.count(".")) + 1)


def chapter_entries(chapter):
    """The documented names that a chapter calls, those of its own module first."""
    used = [entry for entry in entries().values() if chapter in entry.used_in]
    return sorted(used, key=lambda e: (not e.is_of(chapter), e.exported, e.name.lower()))


def concepts(page):
    """Module -> its entries, for the modules of a group: shared ones first, then methods in the order of the book."""
    order = {taught: number for number, c in reversed([*enumerate(chapters())]) for taught in c.teaches}
    groups = {}
    for entry in entries().values():
        if entry.page == page:
            groups.setdefault(entry.module, []).append(entry)
    return dict(sorted(groups.items(), key=lambda item: (order.get(package_of(item[0]), -1), item[0])))


def package_of(module):
    """The method or concept right below a part to which a module belongs."""
    return ".".join(module.split(".")[:3])


def write(folder):
    """Write the pages, remove those that no name fills any more; return the names of those that changed."""
    made = {"index.rst": _index(), "estimators.rst": glance()}
    for page, title in page_names().items():
        made[f"{page}.rst"] = _group(page, title)
        for module, group in concepts(page).items():
            for entry in (e for e in group if e.kind == "estimator"):
                made[f"{entry.document.removeprefix(API + '/')}.rst"] = _estimator(entry)
            if any(e.kind != "estimator" for e in group):
                made[f"{concept_page(page, module).removeprefix(API + '/')}.rst"] = _concept(module, group)
    for path in [p for p in folder.rglob("*") if p.is_file() and p.relative_to(folder).as_posix() not in made]:
        path.unlink()
    return [name for name, text in made.items() if write_if_changed(folder / name, text)]


def _titled(text, mark="="):
    return [text, mark * (len(text) + 2), ""]


def _table(entries_):
    """Names with their one-line summaries."""
    return [
        ".. currentmodule:: None",
        "",
        ".. autosummary::",
        "   :nosignatures:",
        "",
        *(f"   ~{entry.label}" for entry in entries_),
        "",
    ]


def _index():
    names = page_names()
    lines = [
        *_titled("The package"),
        f"``learnable`` has {len(entries())} public names, in scikit-learn's conventions. Each part of the book is a "
        "subpackage that exports what people use in their own work; the modules below it, one for each method, hold "
        "the rest. Every name is documented from its docstring, with an example that the tests run, and says which "
        "chapters use it; each chapter ends with links back.",
        "",
        ".. code-block:: python",
        "",
        "   from learnable.kernels import SoftMarginSVM",
        "   from learnable.latent import HMM, viterbi",
        "",
        "- :doc:`/book/which_method`: from your task and your data to a method, or to scikit-learn;",
        f"- :doc:`/{API}/estimators`: all estimators at a glance;",
        "- :doc:`/book/front_door`: examples in a pipeline with a grid search, on data frames.",
        "",
    ]
    for page in names:
        shown = [e for e in entries().values() if e.page == page and e.exported == f"learnable.{page}"]
        estimators = [e for e in shown if e.kind == "estimator"] or shown
        some = ", ".join(f":py:obj:`~{e.label}`" for e in sorted(estimators, key=lambda e: e.name)[:6])
        more = f": {some}" + (" …" if len(shown) > 6 else "") if some else ""
        lines += [f"- :doc:`{names[page]} </{API}/{page}>`{more}"]
    return "\n".join(lines) + "\n"


def _group(page, title):
    """A part, or what stands beside the parts: the front door first, the modules below."""
    path = f"learnable.{page}"
    lines = _titled(path if page != "numerics" else "Shared modules")
    if page == "numerics":
        lines += [f"{title}.", ""]
    else:
        lines += [f".. automodule:: {path}", ""]
    door = sorted((e for e in entries().values() if e.exported == path), key=lambda e: e.name.lower())
    for kind, heading in KINDS.items():
        if chosen := [e for e in door if e.kind == kind]:
            table = _table(chosen)
            # Estimators are what most readers come for, and stand open however many they are.
            if kind != "estimator" and len(chosen) > MOST_ROWS:
                table = _behind(f"{len(chosen)} {heading.lower()}", table)
            lines += [*_titled(heading, "-"), *table]
    taught = {}
    for chapter in chapters():
        for name in chapter.teaches:
            taught.setdefault(name, []).append(f":doc:`{chapter.title} </{chapter.docname}>`")
    below = [(module, group) for module, group in concepts(page).items() if module != path]
    lines += _titled("Modules", "-") if below else []
    for package, modules in itertools.groupby(below, key=lambda item: package_of(item[0])):
        modules = list(modules)
        about = f" (taught in {', '.join(taught[package])})" if package in taught else ""
        lines += [*_titled(package, "~"), *_targets(package, below), f"{summary(package)}{about}", ""]
        lines += _folded(page, modules) if page != "numerics" else _listed(page, modules)
    return "\n".join(lines) + "\n"


def _targets(package, below):
    """Makes modules without a page of their own known to references."""
    plain = [m for m, group in below if package_of(m) == package and all(e.kind == "estimator" for e in group)]
    plain += [package] if package not in dict(below) else []
    return [line for module in sorted(plain) for line in (f".. py:module:: {module}", "")]


def _listed(page, modules):
    return [*(f"- {_concept_link(page, module, group)}" for module, group in modules), ""]


def _folded(page, modules):
    """The names of a package behind one line."""
    size = sum(len(group) for _, group in modules)
    words = [f"{size} name{'s' * (size > 1)}", f"{len(modules)} module{'s' * (len(modules) > 1)}"]
    return _behind(" in ".join(words), _listed(page, modules))


def _behind(title, lines):
    """Lines that open with a click on their title."""
    return [f".. dropdown:: {title}", "", *(f"   {line}".rstrip() for line in lines), ""]


def _concept_link(page, module, group):
    rest = [e for e in group if e.kind != "estimator"]
    short = module.removeprefix(f"learnable.{page}.").removeprefix("learnable.")
    head = f":doc:`{short} </{concept_page(page, module)}>`" if rest else f"``{short}``"
    names = ", ".join(f":py:obj:`~{e.label}`" for e in sorted(group, key=lambda e: (e.kind != "estimator", e.name)))
    return f"{head}: {names}"


def summary(module):
    """The first sentence of a module's docstring, as it stands there."""
    text = (inspect.getdoc(importlib.import_module(module)) or "").strip().split("\n\n")[0]
    return " ".join(text.split()).replace("::", ":")


def _estimator(entry):
    """One estimator: how to import it, what it can do, and its docstring with all methods."""
    row = traits(entry.value)
    facts = [row["task"], *(words for key, words in FACTS.items() if row[key] == "yes")]
    return "\n".join(
        [
            *_titled(entry.name),
            f"``from {entry.exported} import {entry.name}``",
            "",
            f"*{', '.join(facts)}*" + (f"; {row['cost']}" if row["cost"] else ""),
            "",
            *(f"- {sentence}" for sentence in row["notes"]),
            "",
            f".. autoclass:: {entry.label}",
            "   :members:",
            "   :inherited-members:",
            "",
            f"   {used_in(entry)}".rstrip(),
            "",
        ]
    )


def glance():
    """All estimators in one table for each part."""
    lines = [
        *_titled("Estimators at a glance"),
        "What each estimator is for and what it can take, read from its tags and signatures. *Classes*: any number, or "
        "two; for more than two with a rule for two, wrap it in scikit-learn's ``OneVsRestClassifier``. *Cost* is that "
        "of ``fit`` for n samples, d features and k classes or components, unless the page says otherwise.",
        "",
    ]
    heads = ["estimator", "task", "classes", "probabilities", "sample weights", "sparse", "cost"]
    for page, title in page_names().items():
        found = sorted(
            (e for e in entries().values() if e.page == page and e.kind == "estimator"), key=lambda e: e.name
        )
        if not found:
            continue
        lines += _titled(title, "-")
        rows, table = [heads], [".. list-table::", "   :header-rows: 1", "   :class: glance", ""]
        for entry in found:
            row = traits(entry.value)
            classes = {"yes": "any", "two": "two"}.get(row["classes"], "")
            facts = [row[key] for key in ("probabilities", "weights", "sparse")]
            rows.append([f":py:class:`~{entry.label}`", row["task"], classes, *facts, row["cost"]])
        for row in rows:
            table += [f"   {'* -' if n == 0 else '  -'} {cell}".rstrip() for n, cell in enumerate(row)]
        table.append("")
        lines += table if len(found) <= MOST_ROWS else _behind(_tasks(found), table)
    return "\n".join(lines) + "\n"


def _tasks(found):
    """What a folded table holds: ``24 estimators: 18 classification, 6 regression``."""
    counts = Counter(traits(entry.value)["task"] for entry in found)
    return f"{len(found)} estimators: " + ", ".join(f"{count} {task}" for task, count in counts.most_common())


def _concept(module, group):
    lines = [*_titled(module.removeprefix("learnable.")), *_module_text(module, group)]
    for kind, heading in list(KINDS.items())[1:]:
        chosen = sorted((e for e in group if e.kind == kind), key=lambda e: e.name.lower())
        lines += _titled(heading, "-") if chosen else []
        for entry in chosen:
            lines += _documented(entry)
    own = [e for e in group if e.kind == "estimator"]
    if own:
        lines += [*_titled("Estimators", "-"), *_table(own)]
    return "\n".join(lines) + "\n"


def _module_text(module, group):
    """The module's own docstring; a package's stands on the page of its part, once."""
    if module == f"learnable.{group[0].page}":
        return []
    taken = any(
        entry.label == module for entry in entries().values()
    )  # a function of the same name is more often meant
    return [f".. automodule:: {module}", *(["   :no-index:"] if taken else []), ""]


def _documented(entry):
    """The directive of one name, with what its docstring does not know: who uses it."""
    used = f"   {used_in(entry)}".rstrip()
    if entry.kind == "function":
        return [f".. autofunction:: {entry.label}", "", used, ""]
    if entry.kind == "data":
        text = repr(entry.value)
        value = [f"   :value: {text}"] if len(text) < 60 and "\n" not in text else []
        about = f"   A constant of type ``{type(entry.value).__name__}``."
        return [".. py:currentmodule:: None", "", f".. py:data:: {entry.label}", *value, "", about, "", used, ""]
    return [f".. autoclass:: {entry.label}", "   :members:", "", used, ""]


def used_in(entry):
    """Links to the chapters that call a name; of a name that most chapters call, to the first few."""
    links = [f":doc:`{chapter.title} </{chapter.docname}>`" for chapter in entry.used_in]
    if len(links) > MOST_CHAPTERS + 1:
        links = [*links[:MOST_CHAPTERS], f"and {len(links) - MOST_CHAPTERS} further chapters"]
    return "*Used in:* " + ", ".join(links) if links else ""


if __name__ == "__main__":
    print("changed:", ", ".join(write(ROOT / API)) or "nothing")
