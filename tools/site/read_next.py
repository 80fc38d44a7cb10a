"""What leads on from a page: its place on the reading paths, its rooms elsewhere in the book, its neighbours.

The paths are plain links, so that they work without JavaScript; book/_static/ways.js brings the reader's own path,
which only the browser remembers, to the front.
"""

from __future__ import annotations

import re

from learnable._html import markup
from learnable._html import render as render_template
from learnable.book.printed import printed_tables
from tools.project import PARTS, ROOT, chapters, read_data
from tools.site import TEMPLATES, maps, paths_page, record_page
from tools.site.toc import benchmark_page, part_page


def render(docname, pathto):
    """The way on from a chapter or a refresher, as HTML; empty for any other page."""
    found = chapters()
    chapter = next((c for c in found if c.docname == docname), None)
    if chapter is None:
        steps = path_steps(docname, found, pathto)
        return str(render_template(TEMPLATES / "read_next.html", steps=steps, rooms=None)) if steps else ""
    page = render_template(
        TEMPLATES / "read_next.html",
        steps=path_steps(docname, found, pathto) or _in_order(chapter, found, pathto),
        rooms=rooms(chapter, pathto),
        around=markup(maps.around(chapter, found, lambda c: pathto(c.docname))),
        whole_map=pathto("book/generated/prerequisites"),
    )
    return str(page)


def path_steps(docname, found, pathto):
    """For each path with this page: where it stands there, the page before and the page after."""
    places = []
    for path in paths_page.routes(found):
        names = [step.docname for step in path.steps]
        if docname in names:
            at = names.index(docname)
            around = (path.steps[at - 1] if at > 0 else None, path.steps[at + 1] if at + 1 < len(names) else None)
            places.append((path, at + 1, *around))
    return render_template(TEMPLATES / "path_steps.html", docname=docname, places=places, pathto=pathto)


def _in_order(chapter, found, pathto):
    """A chapter on no path leads to the next one of the book."""
    after = found[found.index(chapter) + 1 :]
    return render_template(TEMPLATES / "in_order.html", after=after[0] if after else None, pathto=pathto)


def rooms(chapter, pathto):
    """Links to what the book holds on a chapter: exercise, claims, measurements, errata, data, reference, part."""
    from tools.site import api_pages, pages

    slug, anchor = chapter.slug, chapter.slug.replace("_", "-")
    questions = read_data(chapter.exercise)["metadata"]["learnable"]["questions"]
    count = len(pages.claims(chapter))
    rows = [
        (
            "Exercise",
            [(f"{pathto('book/generated/exercises')}#exercises-{anchor}", f"{len(questions)} graded questions")],
            f"learnable start {slug}",
        ),
        ("Claims", [(f"{pathto('book/generated/ledger')}#ledger-{anchor}", f"{count} in the ledger")], ""),
    ]
    if record_page.has_record(chapter):
        count = sum(len(table.figures) for table in printed_tables(slug))
        rows.append(("Record", [(pathto(f"{record_page.FOLDER}/{slug}"), f"{count} printed figures beside ours")], ""))
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
    return render_template(TEMPLATES / "rooms.html", rows=rows)


def data_sets(chapter):
    """Stored sets that the lecture itself loads, by name."""
    from learnable.datasets import available

    code = "\n".join("".join(cell["source"]) for cell in chapter.code_cells())
    loaded = re.findall(r"\bload(?:_(\w+)\(|\(\s*[\"'](\w+)[\"'])", code)
    known = set(available())
    return [name for name in dict.fromkeys(a or b for a, b in loaded) if name in known]
