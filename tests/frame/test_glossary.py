"""The glossary: enough terms, each once, in order, in one sentence, and sent to a section of the book."""

from itertools import pairwise

from tools.project import chapters, toc_documents
from tools.site import glossary


def test_terms_are_enough_unique_and_in_order():
    terms = glossary.entries()
    names = [name.casefold() for entry in terms for name in (entry["term"], *entry.get("also", ()))]
    assert len(terms) >= 5 * len(chapters())
    assert len(set(names)) == len(names)
    assert all(glossary.sort_key(a["term"]) <= glossary.sort_key(b["term"]) for a, b in pairwise(terms))


def test_each_term_is_one_sentence():
    for entry in glossary.entries():
        assert entry["text"].endswith(".") and ". " not in entry["text"], entry["term"]
        assert len(entry["text"]) <= 240, entry["term"]


def test_every_chapter_is_explained_somewhere():
    pages = {entry["see"].partition("#")[0] for entry in glossary.entries()}
    assert pages <= set(toc_documents())
    assert {chapter.docname for chapter in chapters()} <= pages


def test_the_alphabet_knows_greek_letters():
    assert glossary.sort_key("ν-SVM") == "nu-svm"
    assert glossary.heading("ℓ1 margin") == "L" and glossary.heading("0-1 loss") == "0–9"


def test_links_are_references_that_sphinx_checks():
    assert glossary.link("lectures/a/b#A title") == "{ref}`lectures/a/b:A title`"
    assert glossary.link("lectures/a/b") == "{doc}`/lectures/a/b`"
