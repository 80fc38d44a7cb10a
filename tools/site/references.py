"""Citations and references to figures in a form that the book and JupyterLab both read.

JupyterLab (with jupyterlab-myst) renders theorems, equations and their references, and folded answers. It knows neither
the bibliography nor the figures that code draws: a role would stay a bare key there. So lectures hold links,

    [Rudin et al. (2004)](../../book/references.bib#rudin2004)      as {cite:t}`rudin2004`
    [(Platt, 1999; Fan et al., 2005)](…/references.bib#platt1999,fan2005)      as {cite:p}`platt1999,fan2005`
    [the figure below](#fig-town)      as {numref}`fig-town`
    [the exercise page](../../book/generated/exercises.md#exercises-vc-theory)      as {ref}`… <exercises-vc-theory>`

whose words JupyterLab shows, and which the book reads as the roles, with its own numbers and its own list. Authors may
write the roles: ``make notebooks`` spells them out.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache

from tools.project import ROOT

BIBLIOGRAPHY = ROOT / "book" / "references.bib"
ROLE = re.compile(r"\{(cite:[tp]|numref)\}`([^`]+)`")
CITATION = re.compile(r"\[([^\[\]]+)\]\((?:\.\./)*[\w/]*references\.bib#([\w,:-]+)\)")
EXERCISE = re.compile(r"\[([^\[\]]+)\]\((?:\.\./)*[\w/]*generated/exercises\.md#([\w-]+)\)")
FIGURE = re.compile(r"\[([^\[\]]+)\]\(#(fig-[\w-]+)\)")


def citation_words(key, textual):
    """The words of a citation: ``Rudin et al. (2004)`` in the text, ``Rudin et al., 2004`` within parentheses."""
    names, year = _authors(key)
    shown = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
    return f"{shown} ({year})" if textual else f"{shown}, {year}"


@cache
def _entries():
    from pybtex.database import parse_file

    return parse_file(str(BIBLIOGRAPHY)).entries


def _authors(key):
    from pybtex.richtext import Text

    if key not in _entries():
        raise KeyError(f"book/references.bib has no entry {key!r}")
    entry = _entries()[key]
    people = entry.persons.get("author") or entry.persons["editor"]
    names = [str(Text.from_latex(" ".join([*one.prelast_names, *one.last_names]))) for one in people]
    return names, entry.fields["year"]


def spell_out(notebook, folder):
    """Replace the roles in a notebook's text by links, seen from ``folder``; return how many there were."""
    where = os.path.relpath(BIBLIOGRAPHY, folder).replace(os.sep, "/")
    places = _figure_places(notebook)
    count = 0
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "markdown":
            continue

        def link(match, number=number):
            role, target = match[1], match[2].replace(" ", "")
            if role == "numref":
                words = f"he figure {'below' if places[target] > number else 'above'}"
                starts = re.search(r"(?:^|\n\n|[.!?:] |[.!?:]\n)\s*$", match.string[: match.start()])
                return f"[{'T' if starts else 't'}{words}](#{target})"
            words = "; ".join(citation_words(key, role == "cite:t") for key in target.split(","))
            return f"[{words}]({where}#{target})" if role == "cite:t" else f"[({words})]({where}#{target})"

        source, n = ROLE.subn(link, "".join(cell["source"]))
        if n:
            cell["source"] = source.splitlines(keepends=True) if isinstance(cell["source"], list) else source
            count += n
    return count


def _figure_places(notebook):
    """Name of a figure -> number of the cell that draws it."""
    return {
        name: number
        for number, cell in enumerate(notebook["cells"])
        if cell["cell_type"] == "code"
        for name in re.findall(r"name=[\"'](fig-[\w-]+)", "".join(cell["source"]))
    }


def as_roles(text):
    """The links of `spell_out` as the roles that Sphinx resolves."""

    def citation(match):
        return f"{{cite:{'p' if match[1].startswith('(') else 't'}}}`{match[2]}`"

    text = EXERCISE.sub(r"{ref}`\1 <\2>`", CITATION.sub(citation, text))
    return FIGURE.sub(r"{numref}`\2`", text)


def notebook_as_roles(text):
    """The same for a notebook, given and returned as JSON."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = as_roles("".join(cell["source"]))
    return json.dumps(notebook, ensure_ascii=False)


def problems(notebook):
    """What JupyterLab would show badly, one phrase each."""
    places, found = _figure_places(notebook), []
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "markdown":
            continue
        source = "".join(cell["source"])
        found += [f"JupyterLab does not know {match[0]} (run `make notebooks`)" for match in ROLE.finditer(source)]
        for words, keys in CITATION.findall(source):
            textual = not words.startswith("(")
            right = "; ".join(citation_words(key, textual) for key in keys.split(","))
            if words.strip("()") != right.strip("()"):
                found.append(f"a citation of {keys} reads “{words}”, the bibliography says “{right}”")
        for words, name in FIGURE.findall(source):
            if name not in places:
                found.append(f"no cell draws {name}")
            elif ("below" in words) != (places[name] > number):
                found.append(f"{name} stands {'below' if places[name] > number else 'above'}, not “{words}”")
    return found
