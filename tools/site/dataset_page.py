"""The book's page of data sets: what is stored, what is simulated, what could not be had.

Written from the registry, from the simulators' own docstrings and from what the chapters import, so that it says what
the code does.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import learnable.datasets as package
from learnable.datasets import _registry
from tools.project import chapters, write_if_changed
from tools.run.dependencies import shared_dependencies

TASKS = {
    "classification": "Classification",
    "regression": "Regression",
    "multilabel": "Several labels at once",
    "images": "Collections of images",
    "picture": "Pictures",
    "series": "Time series",
    "text": "Text",
    "graph": "Graphs",
    "bayesnet": "Bayesian networks",
    "causal": "Causal data",
    "bags": "Bags of instances",
    "records": "Records to be linked",
    "table": "Small tables",
}

INTRODUCTION = """\
# Data sets

The chapters use real data that travel with the package and simulated data whose truth is known. Nothing is downloaded:

```python
from learnable.datasets import available, describe, load

available("classification", max_samples=300)
X, y = load("sonar", return_X_y=True)
print(describe("heart"))
```

`load` returns a bunch as scikit-learn does, with `data`, `target`, `feature_names` and `DESCR`. Categories are integer
codes with their names in `categories` (`one_hot=True` expands them), missing values are NaN (`drop_missing=True` leaves
such rows out), and `split` marks the donor's own test part where there is one. What scikit-learn ships is passed on.
"""


def write(path):
    """Write the page to `path`; return whether it changed."""
    return write_if_changed(path, text())


def text():
    """The page as MyST markdown."""
    sets = {name: _registry.entry(name) for name in package.available()}
    used = _uses()
    size = sum(file.stat().st_size for file in _registry.DATA.iterdir())
    parts = [INTRODUCTION, f"{len(sets)} sets are available, {size / 1e6:.1f} MB in all.\n"]
    for task, title in TASKS.items():
        chosen = {name: about for name, about in sets.items() if about["task"] == task}
        if chosen:
            parts += [f"## {title}\n", _overview(chosen), _details(chosen, used)]
    parts += [_simulators(), _stand_ins(), _benchmark()]
    return "\n".join(parts).rstrip("\n") + "\n"


def _uses():
    """Stored set -> chapters (docname, title) whose notebook or module names its file."""
    dependencies, found = shared_dependencies(), {}
    for chapter in chapters():
        if not chapter.lecture.exists():
            continue
        for file in dependencies.data(chapter.lecture):
            if file.name.endswith(".npz.xz"):
                found.setdefault(file.name.split(".")[0], []).append(chapter)
    return found


def _escape(words):
    """Plain text that markdown, tables and mathematics leave alone."""
    return re.sub(r"([\\*_<>|$\[\]{}#~])", r"\\\1", words)


def _prose(words):
    """Text with code spans: everything outside them is escaped."""
    pieces = re.split(r"(`[^`]*`)", words)
    return "".join(piece if piece.startswith("`") else _escape(piece) for piece in pieces)


def _shape(about):
    shapes = about["arrays"]
    if "bags" in shapes:
        return f"{shapes['target'][0]} bags, {shapes['data'][0]:,} × {shapes['data'][1]}"
    if "lengths" in shapes and "values" in shapes:
        n, channels = shapes["lengths"][0], shapes["values"][1]
        return f"{n} series, {channels} channels" if n > 1 else f"{shapes['values'][0]:,} steps, {channels} channels"
    if "steps" in shapes:
        return f"{shapes['lengths'][0]:,} posts, {shapes['vocabulary'][1]:,} words"
    if "n_parents" in shapes:
        return f"{shapes['n_parents'][0]} nodes, {shapes['parents'][0]} arrows"
    if "image" in shapes:
        rows, columns = shapes["image"][-2:]
        return f"{rows} × {columns}" + (", colour" if shapes["image"][0] == 3 else "")
    first = next(iter(shapes.values()))
    if first[0] == "text":
        return f"{first[1]:,} texts"
    return " × ".join(f"{n:,}" for n in first)


def _classes(about):
    if "label_counts" in about:
        return f"{len(about['label_counts'])} labels"
    counts = about.get("class_counts")
    if not counts:
        return ""
    return ", ".join(f"{c:,}" for c in counts) if len(counts) <= 6 else f"{len(counts)} classes"


def _overview(chosen):
    lines = ["| name | what | size | class sizes | missing |", "|---|---|---|---|---|"]
    for name, about in chosen.items():
        missing = f"{about['n_rows_missing']:,} rows" if about.get("n_missing") else ""
        place = f'<span id="data-{name.replace("_", "-")}"></span>'
        cells = (f"{place}`{name}`", _escape(about["title"]), _shape(about), _classes(about), missing)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _details(chosen, used):
    """Provenance, licence and differences of each set, folded away."""
    lines = ["```{dropdown} Donors, licences, differences from other copies"]
    known = {chapter.slug: chapter for chapter in chapters()}
    for name, about in chosen.items():
        listed = {c.slug: c for c in used.get(name, ())}
        listed |= {slug: known[slug] for slug in about.get("chapters", ()) if slug in known}
        links = ", ".join(f"{{doc}}`{_escape(c.title)} </{c.docname}>`" for c in listed.values())
        told = [f"{_prose(about['donor'])}.", f"Licence: {_prose(about['licence'])}. From {_prose(about['package'])}."]
        if about.get("aliases"):
            told.append("Also " + ", ".join(f"`{a}`" for a in about["aliases"]) + ".")
        if "benchmark" in about:
            told.append(f"In the 121 sets as {_escape(about['benchmark'])}.")
        if "differs" in about:
            told.append(_prose(about["differs"]))
        if links:
            told.append(f"Used in {links}.")
        lines += [f"`{name}`", ": " + " ".join(told), ""]
    return "\n".join([*lines[:-1], "```", ""])


def _simulators():
    """Every public function of the simulating modules with the first line of its docstring."""
    lines, count = [], 0
    for info in pkgutil.iter_modules(package.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        lines += [f"### `{info.name}`\n", f"{_prose(_first_line(module))} In `{module.__name__}`:\n"]
        for name in module.__all__:
            item = getattr(module, name)
            if inspect.isfunction(item):
                lines += [f"`{name}`", f": {_prose(_first_line(item))}", ""]
                count += 1
    head = (
        f"## Simulators\n\n{count} functions draw data whose truth is known and returned: the Bayes risk, the support, "
        "the graph, the parameters. Where chance is involved, `random_state` decides.\n"
    )
    return "\n".join([head, *lines])


def _first_line(item):
    return inspect.getdoc(item).split("\n")[0].rstrip(".") + "."


def _stand_ins():
    lines = [
        "## What could not be had\n",
        "The source documents use these sets, but they may not be handed on or are in no public package. `load` says",
        "what comes nearest.\n",
        "| absent | instead |",
        "|---|---|",
    ]
    for name, instead in _registry.STAND_INS.items():
        code = re.sub(
            r'((?:load\("\w+"\))|(?:load_\w+(?:\([^)]*\))?)|(?:learnable\.[\w.]+(?:\("\w+"\))?))', r"`\1`", instead
        )
        lines.append(f"| `{name}` | {_prose(code)} |")
    return "\n".join(lines) + "\n"


def _benchmark():
    rows = package.benchmark_sets()
    offered = [row for row in rows if "load" in row or "simulate" in row]
    absent = ", ".join(_escape(row["name"]) for row in rows if row not in offered)
    return (
        "## The 121 sets of the classifier benchmark\n\n"
        f"Of the 121 sets of Fernández-Delgado et al. (2014), {len(offered)} can be loaded or simulated here; "
        "`benchmark_sets()` gives the table with the printed sizes. Absent are: "
        f"{absent}.\n"
    )
