"""The reference of the package, written from its docstrings: one page a part, every name linked with the chapters.

A name is documented where it is defined, once. Its entry says which chapters call it; each chapter's page ends with
links to the names that it calls (`book/_ext`). Docstrings are NumPy style; what they hold becomes MyST.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from dataclasses import dataclass, field
from functools import cache

import learnable
from tools.project import PARTS, ROOT, chapters, write_if_changed

# Pages beside those of the parts. The first holds every module of the package that has no page of its own.
SHARED = {
    "numerics": "Shared by the chapters",
    "datasets": "Data sets and simulators",
    "book": "What chapters draw and claim with",
    "exercises": "Exercises",
}
SECTIONS = (
    "Parameters",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "Warns",
    "See Also",
    "Notes",
    "References",
    "Examples",
)
# Packages whose submodules are an implementation: only what the package itself exports is public.
CLOSED = (
    "learnable.exercises",
    "learnable.book.claims",
    "learnable.book.explorer",
    "learnable.book.style",
    "learnable.cli",
)


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
    def document(self):
        return f"book/generated/api/{self.page}"


def page_names():
    """The pages in their order, name and title; parts without code have none."""
    parts = {part: title for part, title in PARTS.items() if any(c.part == part for c in chapters())}
    return {**parts, **SHARED}


def _roots():
    """Each page with the modules right below ``learnable`` that it covers."""
    top = [info.name for info in pkgutil.iter_modules(learnable.__path__) if not info.name.startswith("_")]
    own = {*PARTS, *SHARED, "cli"}
    return {page: [page] if page != "numerics" else [name for name in top if name not in own] for page in page_names()}


def _public_modules(root):
    """Names of the importable public modules at and below ``learnable.<root>``, the package first."""
    name = f"learnable.{root}"
    found = [name]
    module = importlib.import_module(name)
    if hasattr(module, "__path__"):
        found += [info.name for info in pkgutil.walk_packages(module.__path__, f"{name}.")]
    return [m for m in found if not any(part.startswith("_") for part in m.split("."))]


@cache
def entries():
    """All public names, keyed by the identity of what they name; first come, first documented."""
    found, order = {}, {c.code.stem: number for number, c in enumerate(chapters())}
    written = {f"learnable.{c.part}.{c.slug}" for c in chapters()}
    for page, modules in _roots().items():
        names = [m for root in modules for m in _public_modules(root)]
        names.sort(key=lambda m: (len(m.split(".")) > 2 and order.get(m.split(".")[2], -1),))
        for name in names:
            if name.removeprefix("learnable.") in PARTS:  # a front door: what it shows lives below
                continue
            if any(name != c and name.startswith(f"{c}.") for c in (*CLOSED, *written)) or name in CLOSED[1:]:
                continue
            module = importlib.import_module(name)
            for public in getattr(module, "__all__", ()):
                value = getattr(module, public)
                home = getattr(value, "__module__", None) or name
                key = (home, public) if callable(value) else (name, public)
                if not inspect.ismodule(value) and key not in found and _belongs(home, name):
                    found[key] = Entry(public, home, value, page, name)
    _note_uses(found)
    return found


def _belongs(home, exporter):
    """A name re-exported from another documented module is documented there."""
    return not home.startswith("learnable.") or home == exporter or home.startswith(f"{exporter}.")


def _note_uses(found):
    by_value = {id(entry.value): entry for entry in found.values()}
    for chapter in chapters():
        for value in called_names(chapter):
            entry = by_value.get(id(value))
            if entry is not None and chapter.name not in [c.name for c in entry.used_in]:
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
                    value = _resolve(node.module, alias.name)
                    if inspect.ismodule(value):
                        modules[alias.asname or alias.name] = value
                    elif value is not None:
                        values.append(value)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                value = getattr(modules[node.value.id], node.attr, None)
                if value is not None:
                    values.append(value)
    return values


def _resolve(module, name):
    holder = importlib.import_module(module)
    if hasattr(holder, name):
        return getattr(holder, name)
    try:
        return importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return None


def chapter_entries(chapter):
    """The documented names that a chapter calls, those of its own module first."""
    own = f"learnable.{chapter.part}.{chapter.slug}"
    used = [entry for entry in entries().values() if chapter.name in [c.name for c in entry.used_in]]
    return sorted(used, key=lambda e: (not e.exported.startswith(own), e.exported, e.name.lower()))


def write(folder):
    """Write the pages and their index; return the names of those that changed."""
    pages = {"index.md": _index(), **{f"{name}.md": _page(name, title) for name, title in page_names().items()}}
    return [name for name, text in pages.items() if write_if_changed(folder / name, text)]


def _index():
    count = len(entries())
    lines = [
        "# The package",
        "",
        f"`learnable` has {count} public names. Each is documented here from its docstring, with an example that the "
        "tests run, and says which chapters use it; each chapter ends with links back. `pip install .` in a clone "
        "installs the package alone.",
        "",
        "| module | what it holds | names |",
        "|---|---|---|",
    ]
    for page in page_names():
        for module, group in _by_module(page).items():
            summary = _escape(_summary(importlib.import_module(module)))
            lines.append(f"| [`{module.removeprefix('learnable.')}`](#{_anchor(module)}) | {summary} | {len(group)} |")
    return "\n".join(lines) + "\n"


def _anchor(module):
    return "module-" + module.replace(".", "-").replace("_", "-")


def _by_module(page):
    groups = {}
    for entry in entries().values():
        if entry.page == page:
            groups.setdefault(entry.exported, []).append(entry)
    return groups


def _summary(module):
    text = (inspect.getdoc(module) or "").strip().split("\n\n")[0]
    return " ".join(text.split()).replace("::", ":")


def _page(page, title):
    name = f"learnable.{page}" if page != "numerics" else "Shared modules"
    lines = [f"# {name}", "", f"{title}.", ""]
    written = {f"learnable.{c.part}.{c.slug}": c for c in chapters()}
    for module, group in _by_module(page).items():
        lines += [f"({_anchor(module)})=", f"## `{module}`", "", _escape(_summary(importlib.import_module(module))), ""]
        if module in written:
            lines += [f"Chapter: [{written[module].title}](/{written[module].docname}.ipynb)", ""]
        for entry in sorted(group, key=lambda e: e.name.lower()):
            lines += _entry(entry)
    return "\n".join(lines) + "\n"


def _entry(entry):
    value = entry.value
    used = [f"[{chapter.title}](/{chapter.docname}.ipynb)" for chapter in entry.used_in]
    tail = ["", "*Used in:* " + ", ".join(used), ""] if used else []
    if inspect.isclass(value):
        body = docstring(value)
        for name, method in _methods(value):
            body += [f"::::{{py:method}} {name}{_signature(method, drop_self=True)}", ":noindexentry:", ""]
            body += [*docstring(method), "::::", ""]
        return [f":::::{{py:class}} {entry.label}{_signature(value)}", "", *body, *tail, ":::::", ""]
    if callable(value):
        return [f":::::{{py:function}} {entry.label}{_signature(value)}", "", *docstring(value), *tail, ":::::", ""]
    text = repr(value) if len(repr(value)) < 80 else ""
    about = f"A constant of type `{type(value).__name__}`." + (f" Its value is `{text}`." if text else "")
    return [f":::::{{py:data}} {entry.label}", "", about, *tail, ":::::", ""]


def _methods(cls):
    """Public methods that the class itself, or a base class of this package, defines and documents."""
    found = {}
    for base in reversed(inspect.getmro(cls)):
        if base.__module__.startswith("learnable"):
            for name, value in vars(base).items():
                function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
                if not name.startswith("_") and inspect.isfunction(function) and inspect.getdoc(function):
                    found[name] = function
    return found.items()


def _signature(value, drop_self=False):
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    if drop_self:
        parameters = [p for p in parameters if p.name not in ("self", "cls")]
    parameters = [p.replace(default=_Plain(p.default)) if _odd(p.default) else p for p in parameters]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def _odd(default):
    return default is not inspect.Parameter.empty and ("<" in repr(default) or len(repr(default)) > 40)


class _Plain:
    """A default whose own text would not be Python."""

    def __init__(self, value):
        self.name = getattr(value, "__name__", type(value).__name__)

    def __repr__(self):
        return self.name


def docstring(value):
    """A docstring as lines of MyST."""
    text = inspect.getdoc(value) or ""
    lines, current, sections = text.splitlines(), None, {None: []}
    number = 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if line.strip() in SECTIONS and set(following) == {"-"}:
            current = line.strip()
            sections[current] = []
            number += 2
            continue
        sections[current].append(line)
        number += 1
    out = _prose(sections.pop(None))
    for name, content in sections.items():
        out += ["", f"**{name}**", ""]
        out += (
            _fields(content)
            if name in ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns")
            else _prose(content)
        )
    return [*out, ""]


def _fields(lines):
    """``name : type`` with an indented text below each, as a list."""
    out = []
    for head, body in _indented(lines):
        name, _, kind = head.partition(" : ")
        term = ", ".join(f"`{part.strip()}`" for part in name.split(",")) if kind or _is_name(name) else _inline(name)
        out.append(f"- {term}" + (f": *{_inline(kind).replace('*', '')}*" if kind else ""))
        out += ["  " + line if line else "" for line in ["", *_prose(body)]]
    return out


def _is_name(text):
    return re.fullmatch(r"[\w*, .]+", text) is not None and " " not in text.replace(", ", ",")


def _indented(lines):
    groups = []
    for line in lines:
        if line.strip() and not line.startswith(" "):
            groups.append((line.strip(), []))
        elif groups:
            groups[-1][1].append(line)
    return [(head, textwrap.dedent("\n".join(body)).strip("\n").splitlines()) for head, body in groups]


def _prose(lines):
    """Paragraphs, lists, literal blocks and examples."""
    out, number = [], 0
    lines = textwrap.dedent("\n".join(lines)).strip("\n").splitlines()
    while number < len(lines):
        line = lines[number]
        if line.lstrip().startswith(">>>"):
            block, number = _take(lines, number, lambda text: bool(text.strip()))
            out += ["", "```python", *textwrap.dedent("\n".join(block)).splitlines(), "```", ""]
        elif line.strip().startswith(".. math::"):
            block, number = _take(lines, number + 1, lambda text: text.startswith(" "))
            formula = " ".join([line.strip().removeprefix(".. math::").strip(), *(text.strip() for text in block)])
            out += ["", f"$${_split(formula.strip())}$$", ""]
        elif line.rstrip().endswith("::"):
            lead = line.rstrip()[:-1]
            out += [_inline(lead) if lead.strip() != ":" else "", ""]
            number += 1
            while number < len(lines) and not lines[number].strip():
                number += 1
            block, number = _take(lines, number, lambda text: text.startswith(" ") or not text.strip())
            out += ["```text", *textwrap.dedent("\n".join(block)).strip("\n").splitlines(), "```", ""]
        elif re.match(r"\s*[*-] ", line):
            mark = re.match(r"(\s*)[*-] (.*)", line)
            out.append(f"{mark[1]}- {_inline(mark[2])}")
            number += 1
        else:
            out.append((" " * (len(line) - len(line.lstrip())) if out and out[-1] else "") + _inline(line.strip()))
            number += 1
    return out


def _split(formula):
    """A displayed formula, on several lines where it says \\qquad: the page of a phone is narrow."""
    parts = [part.strip() for part in formula.split("\\qquad") if part.strip()]
    return formula if len(parts) == 1 else "\\begin{gathered}" + "\\\\ ".join(parts) + "\\end{gathered}"


def _take(lines, number, keep):
    block = []
    while number < len(lines) and keep(lines[number]):
        block.append(lines[number])
        number += 1
    return block, number


_CODE = re.compile(
    r":(?:func|class|meth|mod|attr|ref):`~?([^`]+)`|:math:`([^`]+)`|``([^`]+)``|`([^`]+)`_?|(?<!\w)\*(\w[^*\n]*\w)\*(?!\w)"
)


def _inline(text):
    """reST marks of one line as MyST; everything else is taken literally."""
    out, last = [], 0
    for match in _CODE.finditer(text):
        role, math, literal, name, emphasis = match.groups()
        out.append(_escape(text[last : match.start()]))
        code = role or literal or name
        out.append(f"`{code}`" if code else f"${math}$" if math else f"*{_escape(emphasis)}*")
        last = match.end()
    return "".join(out) + _escape(text[last:])


def _escape(text):
    return re.sub(r"([\\`*_\[\]<>|$#{}~^])", r"\\\1", text)


if __name__ == "__main__":
    print("changed:", ", ".join(write(ROOT / "book" / "generated" / "api")) or "nothing")
