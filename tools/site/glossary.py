"""The glossary: a page of the terms in `book/data/glossary.yml`, each with a sentence and a link to its section."""

from __future__ import annotations

import unicodedata
from itertools import groupby

import yaml

from tools.project import ROOT, write_if_changed

SOURCE = ROOT / "book" / "data" / "glossary.yml"
INTRODUCTION = (
    "# Glossary\n\nA sentence for each term, and the section that explains it. The search of this book knows these "
    "terms, their other names, and the British and the American spelling.\n"
)


def entries(source=SOURCE):
    """The terms, in the order of their first letters."""
    return sorted(yaml.safe_load(source.read_text(encoding="utf-8")), key=lambda entry: sort_key(entry["term"]))


def sort_key(term):
    """The term as the alphabet sorts it: without accents, Greek letters by their names."""
    spelled = (
        unicodedata.name(letter).split()[-1] if "GREEK" in unicodedata.name(letter) else letter for letter in term
    )
    return unicodedata.normalize("NFKD", "".join(spelled)).encode("ascii", "ignore").decode().casefold()


def heading(term):
    first = sort_key(term)[0]
    return first.upper() if first.isalpha() else "0–9"


def link(see):
    """A reference that Sphinx checks: to a section by its page and title, or to a whole chapter."""
    page, _, title = see.partition("#")
    return f"{{ref}}`{page}:{title}`" if title else f"{{doc}}`/{page}`"


def text():
    page = [INTRODUCTION]
    for letter, group in groupby(entries(), key=lambda entry: heading(entry["term"])):
        page.append(f"## {letter}\n\n:::{{glossary}}")
        for entry in group:
            names = [entry["term"], *entry.get("also", ())]
            page.append("\n".join(names) + f"\n  {entry['text']} See {link(entry['see'])}.\n")
        page.append(":::\n")
    return "\n".join(page)


def write(path):
    write_if_changed(path, text())
