"""What leads on from a page: its place on the reading paths, its rooms elsewhere in the book, its neighbours.

The paths are plain links, so that they work without JavaScript; book/_static/ways.js brings the reader's own path,
which only the browser remembers, to the front.
"""

from __future__ import annotations

import html
import re

from tools import maps, paths_page
from tools.project import PARTS, ROOT, chapters, read_data
from tools.toc import benchmark_page, part_page


def render(docname, pathto):
    """The way on from a chapter or a refresher, as HTML; empty for any other page."""
    found = chapters()
    chapter = next((c for c in found if c.docname == docname), None)
    steps = path_steps(docname, found, pathto)
    if chapter is None:
        if not steps:
            return ""
        return f'<section class="chapter-end ways" aria-label="The way on"><h2>Read next</h2>{steps}</section>'
    around = maps.around(chapter, found, lambda c: pathto(c.docname))
    if around:
        around = (
            f'<h2>Around this chapter</h2><p class="ways-note">What it builds on, and what builds on it. '
            f'<a href="{pathto("book/generated/prerequisites")}">The whole map</a></p>{around}'
        )
    return (
        '<section class="chapter-end ways" aria-label="The way on"><h2>Read next</h2>'
        f"{steps or _in_order(chapter, found, pathto)}<h2>More on this chapter</h2>{rooms(chapter, pathto)}{around}"
        "</section>"
    )


def path_steps(docname, found, pathto):
    """For each path with this page: where it stands there, the page before and the page after."""
    blocks = []
    for path in paths_page.routes(found):
        names = [step.docname for step in path.steps]
        if docname not in names:
            continue
        at = names.index(docname)
        links = []
        if at > 0:
            links.append(_step_link(path.steps[at - 1], pathto, "prev", "Before"))
        if at + 1 < len(names):
            links.append(_step_link(path.steps[at + 1], pathto, "next", "Next"))
        else:
            links.append('<span class="path-last">The path ends here.</span>')
        blocks.append(
            f'<nav class="path-step" data-path="{path.key}" data-doc="{docname}" aria-label="{html.escape(path.name)}">'
            f'<p><a href="{pathto("book/generated/paths")}#{path.key}">{html.escape(path.name)}</a>, '
            f"step {at + 1} of {len(names)}</p><p>{' '.join(links)}</p></nav>"
        )
    return f'<div class="path-steps">{"".join(blocks)}</div>' if blocks else ""


def _step_link(step, pathto, rel, word):
    link = f'<a rel="{rel}" href="{pathto(step.docname)}">{html.escape(step.short_title)}</a>'
    return f"<span><small>{word}</small> {link}</span>"


def _in_order(chapter, found, pathto):
    """A chapter on no path leads to the next one of the book."""
    after = found[found.index(chapter) + 1 :]
    if not after:
        return f'<p><a href="{pathto("book/generated/paths")}">Choose a reading path</a></p>'
    link = _step_link(after[0], pathto, "next", "Next")
    step = f'<nav class="path-step" aria-label="In the order of the book"><p>{link}</p></nav>'
    return f'<div class="path-steps">{step}</div>'


def rooms(chapter, pathto):
    """Links to what the book holds on a chapter: exercise, claims, measurements, errata, data, reference, part."""
    from tools import api_pages, pages

    slug, anchor = chapter.slug, chapter.slug.replace("_", "-")
    questions = read_data(chapter.exercise)["metadata"]["learnable"]["questions"]
    count = len(pages.claims(chapter))
    rows = [
        (
            "Exercise",
            [(f"{pathto('book/generated/exercises')}#exercises-{anchor}", f"{len(questions)} graded questions")],
            f"<code>learnable start {slug}</code>",
        ),
        ("Claims", [(f"{pathto('book/generated/ledger')}#ledger-{anchor}", f"{count} in the ledger")], ""),
    ]
    result = ROOT / "benchmarks" / "results" / f"{slug}.json"
    if result.exists():
        number = len(read_data(result)["rows"])
        where = f"{pathto(benchmark_page(chapter.part))}#benchmarks-{anchor}"
        rows.append(("Benchmarks", [(where, f"{number} timed comparisons")], ""))
    slips = sum(entry[0] == slug for entry in pages.errata_entries())
    if slips:
        words = f"{slips} slip{'s' if slips > 1 else ''} of the source"
        rows.append(("Errata", [(f"{pathto('book/generated/errata')}#errata-{anchor}", words)], ""))
    sets = data_sets(chapter)
    if sets:
        where = pathto("book/generated/datasets")
        rows.append(("Data sets", [(f"{where}#data-{name.replace('_', '-')}", name) for name in sets], ""))
    documents = dict.fromkeys(e.document for e in api_pages.chapter_entries(chapter) if e.page != "book")
    names = [(pathto(document), f"learnable.{document.rpartition('/')[2]}") for document in documents]
    rows.append(("Reference", names, ""))
    rows.append(("Part", [(pathto(part_page(chapter.part)), PARTS[chapter.part])], ""))
    items = "".join(
        f"<div><dt>{name}</dt><dd>"
        + ", ".join(f'<a href="{html.escape(link)}">{html.escape(words)}</a>' for link, words in links)
        + (f" {extra}" if extra else "")
        + "</dd></div>"
        for name, links, extra in rows
    )
    return f'<dl class="rooms">{items}</dl>'


def data_sets(chapter):
    """Stored sets that the lecture itself loads, by name."""
    from learnable.datasets import available

    code = "\n".join("".join(cell["source"]) for cell in chapter.code_cells())
    loaded = re.findall(r"\bload(?:_(\w+)\(|\(\s*[\"'](\w+)[\"'])", code)
    known = set(available())
    return [name for name in dict.fromkeys(a or b for a, b in loaded) if name in known]
