"""The book's search index: what the reader can find, section by section, as scripts that a page from disk can load.

Sphinx's own index is one file that every page would load, ranks helper functions above chapters, and loses entries when
only some pages are written. Here each page leaves its entries beside its doctree when it is written, and the end of a
build puts together those of all pages: a build of one page and a build of all give the same files.

    _static/search_index/shards.js    the names of the others, and topics that the book does not have yet
    _static/search_index/<part>.js    the entries of one part of the book, loaded when a reader starts to search

The browser's half is in `book/_static/search/`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import yaml
from docutils import nodes
from sphinx import addnodes

# Characters of a section that are searched: its beginning says what it is about, and ninety chapters fit into 4 MB.
SECTION = 1300
OBJECTS = ("class", "function", "method", "data", "exception")
GLOSSARY = "book/data/glossary.yml"
NOT_YET = "book/data/not_yet.yml"
SKIPPED = (
    nodes.literal_block,
    nodes.doctest_block,
    nodes.math_block,
    nodes.raw,
    nodes.comment,
    nodes.image,
    nodes.target,
    addnodes.desc,
    addnodes.index,
    addnodes.toctree,
)
SKIPPED_CLASSES = {"cell_input", "toctree-wrapper"}  # code, and lists of pages that have entries of their own
GREEK = {name: unicodedata.lookup(f"GREEK SMALL LETTER {name.upper()}") for name in (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi pi rho sigma tau phi chi psi omega"
).split()}  # fmt: skip
GREEK |= {"lambda": "λ", "varepsilon": "ε", "ell": "ℓ", "infty": "∞"}


def kind_of(docname):
    """What a page is to somebody who searches: it decides the weight and the label of its entries."""
    if docname.startswith("lectures/"):
        return "chapter"
    if docname.startswith("book/refreshers/"):
        return "refresher"
    if docname.endswith("/glossary"):
        return "glossary"
    if "/generated/api/" in docname:
        return "reference"
    return "page"


def shard_of(docname):
    """The file that holds a page's entries: one for each part, one for the reference, one for the rest."""
    if docname.startswith("lectures/"):
        return docname.split("/")[1]
    return "reference" if kind_of(docname) == "reference" else "book"


def formula(source):
    """A formula as words: `n`, `ν`, `ℓ1`, `n³`; one that does not read as text becomes dots."""
    source = source.replace("^2", "²").replace("^3", "³")
    text = re.sub(r"\\([a-zA-Z]+)", lambda match: GREEK.get(match[1], match[0]), source)
    text = re.sub(r"[_{}$\s]", "", text)
    return text if len(text) <= 8 and "\\" not in text and "^" not in text else "…"


def plain(node):
    """The text of a node as a reader would read it aloud, without code, outputs and displayed formulas."""
    if isinstance(node, SKIPPED) or not SKIPPED_CLASSES.isdisjoint(node.get("classes", ())):
        return ""
    if isinstance(node, nodes.math):
        return formula(node.astext())
    if isinstance(node, (nodes.Inline, nodes.TextElement)):
        return "".join(child.astext() if isinstance(child, nodes.Text) else plain(child) for child in node)
    return " ".join(filter(None, (plain(child) for child in node if not _is_titled(child))))


def _is_titled(node):
    """Whether a node is a section of its own (the boxes of sphinx-proof wrap their text in sections without title)."""
    return isinstance(node, nodes.section) and len(node) and isinstance(node[0], nodes.title)


def _clean(text):
    return re.sub(r"\s+", " ", text).strip()


def section_entries(doctree, numbers):
    """One entry for each titled section: anchor, number, title, text."""
    for section in doctree.findall(_is_titled):
        anchor = section["ids"][0]
        is_top = section.parent is doctree
        number = ".".join(map(str, numbers.get("" if is_top else f"#{anchor}", ())))
        body = [plain(child) for child in section[1:] if not _is_titled(child)]
        yield {
            "anchor": "" if is_top else anchor,
            "number": number,
            "title": _clean(plain(section[0])),
            "text": _clean(" ".join(body))[:SECTION],
        }


def object_entries(doctree):
    """One entry for each documented function, class or method: its name and the first paragraph of its text.

    An attribute is found through its class.
    """
    for described in doctree.findall(addnodes.desc):
        signature, content = described[0], described[-1]
        if described.get("objtype") not in OBJECTS or not signature.get("ids"):
            continue
        first = next(iter(content.findall(nodes.paragraph)), None)
        anchor = signature["ids"][0]
        names = anchor.split(".")
        yield {
            "anchor": anchor,
            "number": "",
            "title": ".".join(names[-2:] if described["objtype"] == "method" else names[-1:]),
            "text": _clean(plain(first)) if first is not None else "",
        }


def term_entries(doctree):
    """One entry for each term of a glossary: its names and what it means."""
    for item in doctree.findall(nodes.definition_list_item):
        terms = [node for node in item if isinstance(node, nodes.term)]
        if terms and terms[0]["ids"]:
            names = [_clean(term.astext()) for term in terms]
            yield {
                "anchor": terms[0]["ids"][0],
                "number": "",
                "title": ", ".join(names),
                "text": _clean(plain(item[-1])),
            }


def page_entries(docname, doctree, numbers):
    """Everything that can be found on a page; the page itself is the first entry."""
    sections = list(section_entries(doctree, numbers))
    kind = kind_of(docname)
    if kind == "glossary":
        return sections[:1] + list(term_entries(doctree))
    if kind == "reference":
        objects = list(object_entries(doctree))
        named = {entry["title"] for entry in objects}
        # Headings say "Functions" and lists repeat the names: the page, unless it is that of one name, and its objects.
        return [{**page, "text": page["text"][:200]} for page in sections[:1] if page["title"] not in named] + objects
    return sections


def _store(app):
    return Path(app.doctreedir) / "search"


def keep_page(app, page, template, context, doctree):
    """Leave the entries of a page that is being written where the end of the build, or of a later one, finds them."""
    if doctree is None:
        return
    entries = page_entries(page, doctree, app.env.toc_secnumbers.get(page, {}))
    path = _store(app) / f"{page}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")


def glossary(app):
    """The terms of the glossary, with the section that explains each."""
    return _stored(app, GLOSSARY)


def not_yet(app):
    """Topics that no chapter teaches: [names, title and address of the nearest page] each."""
    titles = app.env.titles
    rows = [(topic["names"], topic["nearest"]) for topic in _stored(app, NOT_YET) if topic["nearest"] in titles]
    return [[names, _clean(plain(titles[page])), app.builder.get_target_uri(page)] for names, page in rows]


def _stored(app, name):
    path = Path(app.srcdir) / name
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else []


def keywords(terms):
    """For each (page, anchor of a section), the words under which a reader may look for it."""
    found = {}
    for entry in terms:
        words = [entry["term"], *entry.get("also", ()), *entry.get("search", ())]
        page, _, title = entry["see"].partition("#")
        found.setdefault((page, nodes.make_id(title)), []).extend(words)
    return found


def shards(app):
    """The entries of all pages of the book, by shard."""
    words = keywords(glossary(app))
    made = {}
    for page in sorted(app.env.found_docs):
        path = _store(app) / f"{page}.json"
        if not path.exists():
            continue
        rows = []
        for entry in json.loads(path.read_text(encoding="utf-8")):
            terms = "; ".join(words.get((page, entry["anchor"]), ()))
            rows.append([entry["anchor"], entry["number"], entry["title"], terms, entry["text"]])
        made.setdefault(shard_of(page), []).append([app.builder.get_target_uri(page), kind_of(page), rows])
    return made


def write_index(app, failure):
    """Write the shards and remove those that no page fills any more, and the index of Sphinx itself."""
    if failure is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "search_index"
    folder.mkdir(parents=True, exist_ok=True)
    made = shards(app)
    for path in folder.glob("*.js"):
        if path.stem not in made:
            path.unlink()
    for name, pages in made.items():
        rows = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.js").write_text(f"learnableSearch.add({rows});\n", encoding="utf-8")
    # Chapters first: they are what most readers look for.
    names = sorted(made, key=lambda name: (name in ("book", "reference"), name))
    absent = json.dumps(not_yet(app), ensure_ascii=False)
    (folder / "shards.js").write_text(f"learnableSearch.load({json.dumps(names)}, {absent});\n", encoding="utf-8")
    (Path(app.outdir) / "searchindex.js").unlink(missing_ok=True)


def without_sphinx_index(app):
    """Sphinx neither makes nor writes its index; the search page is ours."""
    if app.builder.format == "html":
        app.builder.search = False


def search_page(app):
    yield "search", {"title": "Search"}, "search.html"


def setup(app):
    app.connect("builder-inited", without_sphinx_index)
    app.connect("html-collect-pages", search_page)
    app.connect("html-page-context", keep_page)
    app.connect("build-finished", write_index)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
