"""The search index: what it holds, and that a build of one page leaves it as a build of all does."""

import hashlib
import io
import json
import re
import shutil
import sys

import pytest
import yaml
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from tools.project import ROOT

CONF = """
import sys
sys.path.insert(0, {extensions!r})
extensions = ["myst_parser", "sphinx.ext.autosectionlabel", "sphinx.ext.autodoc", "search_index"]
autosectionlabel_prefix_document = True
myst_enable_extensions = ["dollarmath", "colon_fence"]
html_theme = "sphinx_book_theme"
templates_path = [{templates!r}]
"""
PAGES = {
    "index.md": "# Book\n\n```{toctree}\nlectures/kernels/trick\nlectures/latent/walk\nbook/glossary\n"
    "book/generated/api/strings\n```\n",
    "lectures/kernels/trick.md": "# Kernels\n\nOpening words.\n\n## A plane at home\n\n"
    "Lines for $n$ points and $\\nu$.\n\n```python\nhidden_code()\n```\n\n### Deeper\n\nFurther words.\n",
    "lectures/latent/walk.md": "# Chains\n\n## Walking\n\nSteps without memory.\n",
    "book/glossary.md": "# Glossary\n\n:::{glossary}\nfeature map\nlifting\n  Where lines live. "
    "See {ref}`lectures/kernels/trick:A plane at home`.\n:::\n",
    "book/generated/api/strings.md": "# Strings\n\n```{eval-rst}\n.. autofunction:: textwrap.dedent\n```\n",
    "book/data/glossary.yml": "- {term: feature map, also: [lifting], search: [kernel trick], text: Lines., "
    "see: lectures/kernels/trick#A plane at home}\n",
    "book/data/not_yet.yml": "- {names: [umap, map of points], nearest: lectures/latent/walk}\n"
    "- {names: [boosting], nearest: lectures/that/is_not_built}\n",
}


@pytest.fixture
def project(tmp_path):
    source = tmp_path / "source"
    for name, text in PAGES.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folders = {
        name: str(ROOT / "book" / folder) for name, folder in (("extensions", "_ext"), ("templates", "_templates"))
    }
    (source / "conf.py").write_text(CONF.format(**folders), encoding="utf-8")
    return source


def build(source, out):
    warnings = io.StringIO()
    with patch_docutils(str(source)), docutils_namespace():
        app = Sphinx(source, source, out, out / ".doctrees", "html", status=None, warning=warnings)
        app.build()
    # The theme has two warnings of its own outside the book; ours would name a file of the project.
    assert str(source) not in warnings.getvalue()
    return {path.stem: path.read_text(encoding="utf-8") for path in (out / "_static" / "search_index").glob("*.js")}


def entries(shard):
    """{address: (kind, title, keywords, text)} of one file of the index."""
    pages = json.loads(re.fullmatch(r"learnableSearch\.add\((.*)\);\n", shard, re.S)[1])
    return {
        page + (f"#{anchor}" if anchor else ""): (kind, title, keywords, text)
        for page, kind, rows in pages
        for anchor, _, title, keywords, text in rows
    }


def test_each_section_is_an_entry_with_its_text_and_its_words(project, tmp_path):
    made = build(project, tmp_path / "out")
    assert set(made) == {"shards", "kernels", "latent", "book", "reference"}
    names, absent = json.loads("[" + made["shards"][len("learnableSearch.load(") : -3] + "]")
    assert names == ["kernels", "latent", "book", "reference"]
    assert absent == [[["umap", "map of points"], "Chains", "lectures/latent/walk.html"]]
    kernels = entries(made["kernels"])
    assert kernels["lectures/kernels/trick.html"] == ("chapter", "Kernels", "", "Opening words.")
    plane = kernels["lectures/kernels/trick.html#a-plane-at-home"]
    assert plane == ("chapter", "A plane at home", "feature map; lifting; kernel trick", "Lines for n points and ν.")
    assert kernels["lectures/kernels/trick.html#deeper"][3] == "Further words."
    terms = entries(made["book"])
    assert terms["book/glossary.html#term-feature-map"][1] == "feature map, lifting"
    kind, title, _, text = entries(made["reference"])["book/generated/api/strings.html#textwrap.dedent"]
    assert (kind, title) == ("reference", "dedent") and text.startswith("Remove any common leading whitespace")
    assert not (tmp_path / "out" / "searchindex.js").exists()


def test_one_edited_page_gives_the_index_of_a_full_build(project, tmp_path):
    first = build(project, tmp_path / "out")
    page = project / "lectures/latent/walk.md"
    page.write_text(PAGES["lectures/latent/walk.md"] + "\n## Returning\n\nHome again.\n", encoding="utf-8")
    second = build(project, tmp_path / "out")
    assert second != first and {name for name in first if first[name] != second[name]} == {"latent"}
    shutil.rmtree(tmp_path / "out")
    assert second == build(project, tmp_path / "out")


def test_a_removed_page_leaves_the_index(project, tmp_path):
    build(project, tmp_path / "out")
    (project / "lectures/latent/walk.md").unlink()
    index = project / "index.md"
    index.write_text(PAGES["index.md"].replace("lectures/latent/walk\n", ""), encoding="utf-8")
    made = build(project, tmp_path / "out")
    assert "latent" not in made and "latent" not in made["shards"]


def test_the_page_of_search_loads_no_index_of_sphinx(project, tmp_path):
    build(project, tmp_path / "out")
    for name in ("search.html", "index.html"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "search-results" in text
        assert not re.search(r"<script[^>]*(searchindex|searchtools|language_data)", text), name


def test_formulas_read_as_text():
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    from search_index import formula

    assert [formula(source) for source in ("n", r"\nu", r"\ell_1", "n^3", r"\frac{1}{n}")] == [
        "n",
        "ν",
        "ℓ1",
        "n³",
        "…",
    ]


def test_libraries_of_others_are_what_their_packages_hold():
    folder = ROOT / "book" / "_static" / "vendor"
    listed = dict(re.findall(r"^\| `([^`]+)`.*\| `([0-9a-f]{64})` \|$", (folder / "README.md").read_text(), re.M))
    assert set(listed) == {path.name for path in folder.glob("*.js")}
    for name, digest in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        assert (folder / name).with_suffix(".LICENSE.txt").exists()


def test_topics_that_are_not_in_the_book_lead_to_pages_that_are():
    topics = yaml.safe_load((ROOT / "book" / "data" / "not_yet.yml").read_text(encoding="utf-8"))
    names = [name.casefold() for topic in topics for name in topic["names"]]
    assert len(set(names)) == len(names)
    assert [topic["nearest"] for topic in topics if not (ROOT / f"{topic['nearest']}.ipynb").exists()] == []
    terms = yaml.safe_load((ROOT / "book" / "data" / "glossary.yml").read_text(encoding="utf-8"))
    explained = {word.casefold() for entry in terms for word in (entry["term"], *entry.get("also", ()))}
    assert sorted(explained & set(names)) == [], "the book explains these now: take them out of not_yet.yml"
