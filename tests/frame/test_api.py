"""The reference of the package: complete, linked both ways, and every public name shown somewhere."""

import dataclasses
import inspect
import json
import re

import pytest

from tools import api_pages, chapter_end
from tools.project import PACKAGE, ROOT, chapters

ENTRIES = list(api_pages.entries().values())
EXAMPLES = "\n".join(
    line
    for path in PACKAGE.rglob("*.py")
    for line in path.read_text(encoding="utf-8").splitlines()
    if line.strip().startswith((">>>", "..."))
)
DOCUMENTATION = "\n".join(inspect.getdoc(entry.value) or "" for entry in ENTRIES)
MASTERS = "\n".join(
    "".join(cell["source"])
    for path in (ROOT / "exercises" / "solutions").rglob("*.ipynb")
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
)


def is_result(value):
    """What functions return or raise: shown by the function that does so."""
    return inspect.isclass(value) and (dataclasses.is_dataclass(value) or issubclass(value, (tuple, Exception)))


def test_every_public_name_appears_in_a_chapter_or_an_example():
    hidden = []
    for entry in ENTRIES:
        if entry.used_in or not callable(entry.value) or ">>>" in (inspect.getdoc(entry.value) or ""):
            continue
        word = re.compile(rf"\b{re.escape(entry.name)}\b")
        places = [EXAMPLES, MASTERS] + ([DOCUMENTATION] if is_result(entry.value) else [])
        if not any(word.search(place) for place in places):
            hidden.append(entry.label)
    assert hidden == []


def test_every_public_name_is_documented_once():
    labels = [entry.label for entry in ENTRIES]
    assert len(labels) == len(set(labels)) > 500
    undocumented = [e.label for e in ENTRIES if callable(e.value) and not inspect.getdoc(e.value)]
    assert undocumented == []


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.slug)
def test_chapter_and_reference_link_to_each_other(chapter):
    used = api_pages.chapter_entries(chapter)
    own = [entry for entry in used if entry.exported == f"learnable.{chapter.part}.{chapter.slug}"]
    assert len(own) >= 3, "a chapter calls its own package"
    page = api_pages._page(chapter.part, "")
    assert page.count(f"](/{chapter.docname}.ipynb)") >= len(own)
    end = chapter_end.render(chapter, lambda document: f"{document}.html")
    for entry in own:
        assert f'href="{entry.document}.html#{entry.label}"' in end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|x| <= 1 and a_b*c", r"\|x\| \<= 1 and a\_b\*c"),
        ("see :func:`~learnable.x.solve` or ``y``", "see `~learnable.x.solve` or `y`"),
        ("the *best* of all", "the *best* of all"),
        (":math:`x^2`", "$x^2$"),
    ],
)
def test_docstrings_are_taken_literally(text, expected):
    assert api_pages._inline(text).replace("`learnable.x.solve`", "`~learnable.x.solve`") == expected


def test_sections_fields_and_examples_of_a_docstring():
    def sample(n):
        """Do it.

        Parameters
        ----------
        n : int
            How often::

                for _ in range(n)

        Returns
        -------
        float

        Notes
        -----
        .. math:: a_1 = \\frac12, \\qquad
                  b = 1.

        Examples
        --------
        >>> 1 + 1
        2
        """

    text = "\n".join(api_pages.docstring(sample))
    assert "**Parameters**" in text and "- `n`: *int*" in text
    assert "  ```text\n  for _ in range(n)\n  ```" in text
    assert "```python\n>>> 1 + 1\n2\n```" in text
    assert r"$$\begin{gathered}a_1 = \frac12,\\ b = 1.\end{gathered}$$" in text


def test_citation_names_the_edition():
    sentence, record = chapter_end.citation(chapters()[0])
    version = chapter_end.editions()[0][0]
    assert f"edition {version}" in sentence and record.count("{") == record.count("}")


NEEDED = {
    "article": ("author", "title", "journal", "year", "volume", "pages"),
    "inproceedings": ("author", "title", "booktitle", "year", "pages"),
    "book": ("author", "title", "publisher", "year"),
    "incollection": ("author", "title", "booktitle", "year"),
    "phdthesis": ("author", "title", "school", "year"),
}


def test_citations_are_complete():
    text = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    records = re.findall(r"@(\w+)\{([^,]+),(.*?)\n\}", text, re.S)
    keys = [key for _, key, _ in records]
    assert len(keys) == len(set(keys)) > 30
    missing = []
    for kind, key, body in records:
        fields = set(re.findall(r"^\s*(\w+)\s*=", body, re.M))
        missing += [f"{key}: {name}" for name in NEEDED.get(kind.lower(), ("title", "year")) if name not in fields]
    assert missing == []
