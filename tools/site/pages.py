"""Write the book's generated pages from what the repository holds: nobody types them, so they cannot go stale."""

from __future__ import annotations

import importlib
import sys
from urllib.parse import quote

from learnable.book.claims import Claim
from tools.project import GENERATED, PARTS, ROOT, chapters, raw, read_data, write_if_changed
from tools.run.execution import claims_in
from tools.site import charts, ledger_page, maps, parts_page, record_page

UP = "../../"  # from book/generated/ to the root of the site


_executed = {}  # claims of the run that the book shows, by document; of the stored outputs where there is none


def write_all(folder=GENERATED, executed=None):
    """Write every generated page; return the names of those that changed.

    ``executed`` are the claims of the run that the book shows, by document (`tools.run.execution.executed_claims`).
    """
    _executed.clear()
    _executed.update(executed or {})
    made = {
        "ledger.md": ledger_page.text(chapters(), claims),
        "benchmarks.md": benchmarks(),
        "sources.md": sources(),
        "prerequisites.md": prerequisites(),
        "errata.md": errata(),
        "opening.md": opening(),
        "opening_parts.md": raw(parts_page.part_cards("../")),
    }
    made |= {f"records/{c.slug}.md": record_page.text(c) for c in chapters() if record_page.has_record(c)}
    made["records/printed_figures.csv"] = ledger_page.records_csv(chapters())
    measured = stored_benchmarks()
    parts = dict.fromkeys(chapter.part for chapter in chapters())  # the contents list a page for each
    made |= {f"benchmarks/{part}.md": part_benchmarks(part, measured.get(part, {})) for part in parts}
    changed = [name for name, text in made.items() if write_if_changed(folder / name, text)]
    parts_page.write(folder / "parts")
    for module, name in (
        ("tools.site.exercise_page", "exercises.md"),
        ("tools.site.dataset_page", "datasets.md"),
        ("tools.site.paths_page", "paths.md"),
        ("tools.site.glossary", "glossary.md"),
        ("tools.site.api_pages", "api"),
    ):
        importlib.import_module(module).write(folder / name)
    return changed


def claims(chapter):
    """The claims of a chapter, in their order: as the book's run measured them."""
    records = _executed[chapter.docname] if chapter.docname in _executed else claims_in(chapter.notebook)
    return [Claim.from_record(record) for record in records]


def opening():
    """The figures of the opening page: included by book/intro, no page of its own."""
    results = (ROOT / "benchmarks" / "results").glob("*.json")
    comparisons = sum(len(read_data(path)["rows"]) for path in results)
    questions = sum(len(read_data(chapter.exercise)["metadata"]["learnable"]["questions"]) for chapter in chapters())
    figures = {
        "chapters": len(chapters()),
        "printed figures run again": ledger_page.figures_run(chapters()),
        "graded questions": questions,
        "timed comparisons": comparisons,
        "slips found in the sources": len(errata_entries()),
    }
    items = "".join(f"<li><b>{value:,}</b>{name}</li>" for name, value in figures.items())
    resume = '<p class="actions path-resume" data-up="../" hidden></p>'
    return raw(f'<ul class="figures-line">{items}</ul>{resume}')


def stored_benchmarks():
    """Part -> the stored measurements of its chapters, ``{chapter: result}``, in reading order."""
    groups = {}
    for chapter in chapters():
        path = ROOT / "benchmarks" / "results" / f"{chapter.slug}.json"
        if path.exists():
            groups.setdefault(chapter.part, {})[chapter] = read_data(path)
    return groups


def benchmarks():
    """How the comparisons were made, and all of them in one chart; the parts have pages of their own."""
    lines = [
        "# Benchmarks\n",
        "Each chapter's code is timed beside what you would use instead: in one process, with interleaved repeats, "
        "medians, the same data and the same accuracy reached. The ratio is the peer's time over ours: above 1 we are "
        "faster, below 1 the peer wins. Times are those of the processor, on one thread unless a page differs. "
        "Where it was measured, the peak of memory beyond the data stands beside the data's own size. `make bench` "
        "measures again and rewrites this page.\n",
    ]
    groups = stored_benchmarks()
    ratios = [row["ratio"] for found in groups.values() for result in found.values() for row in result["rows"]]
    if not ratios:
        return "\n".join([*lines, "No result is stored yet.\n"])
    losses = sum(ratio < 1 for ratio in ratios)
    lines.append(
        f"So far {len(ratios)} comparisons are stored; the peer is faster in {losses} of them. The charts show all of "
        "them, a mark each; the figures behind them are on the pages of the parts.\n"
    )
    for part, found in groups.items():
        rows = {chapter.short_title: result["rows"] for chapter, result in found.items()}
        lines += [f"## {PARTS[part]}\n", raw(charts.all_ratios(rows, bounds=(min(ratios), max(ratios))))]
        lines.append(f"Figures: [](/book/generated/benchmarks/{part}.md)\n")
    return "\n".join(lines)


def extremes(rows):
    """One sentence with the worst ratio of a chapter and the best, the worst first."""

    def told(row):
        return f"**{row['ratio']:.3g} ×** beside {row['peer']} ({row['case']}, size {row['size']:,})"

    worst, *_, best = sorted(rows, key=lambda row: row["ratio"]) if len(rows) > 1 else 2 * rows
    return f"Worst ratio: {told(worst)}. Best: {told(best)}."


def part_benchmarks(part, found):
    """One chart for each case of a part's chapters: speed ratio over size. A line below 1 is a loss, drawn as one."""
    lines = [
        f"# Benchmarks: {PARTS[part]}\n",
        "The ratio is the peer's time over ours: above 1 we are faster, below 1 the peer wins. How the comparisons are "
        "made is said [on the page of all parts](/book/generated/benchmarks.md).\n",
    ]
    for chapter, result in found.items():
        lines += [f"(benchmarks-{chapter.slug.replace('_', '-')})=", f"## {chapter.short_title}\n"]
        lines.append(f"Chapter: [{chapter.title}](/{chapter.docname}.ipynb). {charts.machine_line(result)}\n")
        lines += [f"{extremes(result['rows'])}\n", raw(charts.ratio_charts(result, chapter.slug))]
    if not found:
        lines.append("No result is stored yet: `make bench` measures.\n")
    return "\n".join(lines)


def sources():
    data = read_data(ROOT / "book" / "data" / "sources.json")
    planned = {entry["slug"]: entry for entry in data["chapters"]}
    written = {chapter.slug: chapter for chapter in chapters()}
    done = sum(any(slug in written for slug in document["chapters"]) for document in data["documents"])
    lines = [
        "# Source index\n",
        f"The book follows {len(data['documents'])} documents: lecture notes, two theses and the papers of two journal "
        f"volumes, in {len(planned)} chapters. {len(written)} chapters are written, from {done} of the documents; the "
        "others are planned.\n",
    ]
    groups = {}
    for document in data["documents"]:
        groups.setdefault(document["venue"], []).append(document)
    for venue, documents in sorted(groups.items(), key=lambda item: (item[0].startswith("Journal"), item[0])):
        lines += [f"## {venue}\n", "| document | chapters |", "|---|---|"]
        for document in sorted(documents, key=lambda d: (d["authors"], d["title"])):
            entries = [
                f"[{written[slug].title}](/{written[slug].docname}.ipynb)"
                if slug in written
                else f"{planned[slug]['title']} *(planned)*"
                for slug in document["chapters"]
            ]
            cite = f"{document['authors']} ({document['year']}). *{document['title']}*."
            lines.append(f"| {cite} | {'; '.join(entries)} |".replace("\n", " "))
        lines.append("")
    return "\n".join(lines)


def prerequisites():
    """The parts, then each part with what it needs from others, then the same as a list."""
    found = chapters()
    parts = dict.fromkeys(chapter.part for chapter in found)
    known = {chapter.slug: chapter for chapter in found}
    lines = [
        "# Prerequisites map\n",
        "An arrow points from what is needed to what builds on it; an arrow that follows from two others is left out. "
        "Every box is a link. All chapters assume linear algebra, probability and some Python, and nothing else that "
        "is not drawn here. Every chapter ends with the map of its own neighbours.\n",
        "## The parts\n",
        raw(maps.of_parts(found, lambda part: f"parts/{part}.html")),
    ]
    for part in parts:
        lines += [f"## {PARTS[part]}\n", raw(maps.of_part(part, found, lambda c: f"{UP}{c.docname}.html"))]
        for chapter in (c for c in found if c.part == part):
            needs = [known[slug] for slug in chapter.metadata["needs"] if slug in known]
            names = ", ".join(f"[{c.short_title}](/{c.docname}.ipynb)" for c in needs)
            lines.append(f"- [{chapter.short_title}](/{chapter.docname}.ipynb) needs {names or 'no other chapter'}")
        lines.append("")
    return "\n".join(lines)


def errata_entries():
    """All errata of the sources, ``[(slug, entry), ...]``; one YAML file a chapter in book/errata."""
    return [
        (path.stem, entry) for path in sorted((ROOT / "book" / "errata").glob("*.yml")) for entry in read_data(path)
    ]


def errata():
    lines = [
        "# Errata of the sources\n",
        "Running a text finds what reading it does not. These are the slips that we met in the sources while turning "
        "them into code, each with the test that shows the right form.\n",
    ]
    titles = {chapter.slug: chapter for chapter in chapters()}
    entries = errata_entries()
    for slug in dict.fromkeys(slug for slug, _ in entries):
        chapter = titles[slug]
        lines += [f"(errata-{slug.replace('_', '-')})=", f"## {chapter.short_title}\n"]
        lines += [f"Chapter: [{chapter.title}](/{chapter.docname}.ipynb)\n"]
        for _, entry in (pair for pair in entries if pair[0] == slug):
            test = f" Shown by `{entry['test']}`." if entry.get("test") else ""
            lines.append(f"- **{entry['where']}.** Printed: {entry['printed']} Right: {entry['right']}{test}")
        lines.append("")
    if not entries:
        lines.append("None yet.\n")
    return "\n".join(lines)


def report_url(title):
    """Address of a new issue about a page, or None while the repository has no address."""
    from tools.project import settings

    address = settings()["repository"]
    return f"{address}/issues/new?title={quote(title)}" if address else None


if __name__ == "__main__":
    print("changed:", ", ".join(write_all()) or "nothing")
    sys.exit(0)
