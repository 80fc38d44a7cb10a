"""The table of contents: each part is a page with its chapters below it, under the short titles that they state.

    python -m tools.site.toc [--check]

The order of the chapters is the one in _toc.yml; everything else about them comes from their own metadata.
"""

from __future__ import annotations

import sys

import yaml

from tools.project import PARTS, ROOT, chapters
from tools.site.paths_page import refresher, short_refresher

CAPTION = "Chapters"
API = "book/generated/api"
# Pages of the reference beside those of the parts. The first holds every module that has no page of its own.
SHARED = {
    "numerics": "Shared by the chapters",
    "datasets": "Data sets and simulators",
    "book": "What chapters draw and claim with",
    "exercises": "Exercises",
}
HEAD = "# Parts and titles are written by `python -m tools.site.toc`; move the lines of a part to change the order.\n"


def part_page(part):
    """Document name of a part's landing page."""
    return f"book/generated/parts/{part}"


def benchmark_page(part):
    """Document name of a part's measurements."""
    return f"book/generated/benchmarks/{part}"


def arranged(toc, order):
    """The table of contents with the chapters ``order`` (of `Chapter`), by part, and the pages that each part has."""
    parts = [part for part in PARTS if any(chapter.part == part for chapter in order)]
    entries = [
        {
            "file": part_page(part),
            "title": PARTS[part],
            "options": {"numbered": True},
            "sections": [{"file": c.docname, "title": c.short_title} for c in order if c.part == part],
        }
        for part in parts
    ]
    groups = [group for group in toc["parts"] if not _holds_chapters(group)]
    place = next(n for n, group in enumerate(toc["parts"]) if _holds_chapters(group))
    groups.insert(place, {"caption": CAPTION, "chapters": entries})
    for group in groups:
        for entry in group["chapters"]:
            if entry["file"] == "book/generated/benchmarks":
                entry["sections"] = [{"file": benchmark_page(part), "title": PARTS[part]} for part in parts]
            elif entry["file"] == "book/generated/ledger":
                entry["sections"] = [{"glob": "book/generated/records/*"}]
            elif entry["file"] == f"{API}/index":
                entry["sections"] = [{"file": name} for name in (f"{API}/estimators", "book/front_door")]
                entry["sections"] += [_reference(page) for page in [*parts, *SHARED]]
            elif entry["file"].startswith("book/refreshers/"):
                entry["title"] = short_refresher(refresher(entry["file"].rpartition("/")[2])[0])
    return {**toc, "parts": groups}


def _reference(page):
    """A page of the reference, with those of its estimators and concepts below it."""
    return {"file": f"{API}/{page}", "sections": [{"glob": f"{API}/{page}/*"}]}


def _holds_chapters(group):
    entries = [entry for chapter in group["chapters"] for entry in (chapter, *chapter.get("sections", ()))]
    return any(entry.get("file", "").startswith("lectures/") for entry in entries)


class _Indented(yaml.SafeDumper):
    """Lists stand a step further in than their key, as people write them."""

    def increase_indent(self, flow=False, indentless=False):
        return super().increase_indent(flow, False)


def written(toc):
    return HEAD + yaml.dump(toc, Dumper=_Indented, sort_keys=False, allow_unicode=True, width=120)


def current(root=ROOT):
    """What _toc.yml should be, in the order that it has now."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return written(arranged(toc, chapters(root)))


def main(arguments):
    path = ROOT / "_toc.yml"
    new = current()
    if "--check" in arguments:
        same = path.read_text(encoding="utf-8") == new
        print("table of contents: current" if same else "_toc.yml is not current; run `python -m tools.site.toc`")
        return 0 if same else 1
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
