"""The whole book as one PDF: the built pages, printed through Chromium and bound.

    python -m tools.site.pdf [NAME ...]

Every page is printed as its reader sees it on paper (the print rules of the style sheet, formulas typeset, answers
unfolded, explorers in their first state). The pieces get one numbering, a table of contents, bookmarks, and links
between chapters that stay inside the file. With names, only the pages whose path contains one of them are printed.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

import yaml
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import Link
from pypdf.generic import Fit

import learnable
from learnable._html import render
from tools.project import BUILD, ROOT
from tools.site import TEMPLATES
from tools.site.chapter_end import AUTHORS, BOOK, editions
from tools.site.toc import CAPTION

OUTPUT = BUILD / "pdf"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
# For searching, not for paper; what the ledger lists stands in the chapters.
LEFT_OUT = tuple(f"book/generated/{name}" for name in ("api/", "datasets", "ledger", "benchmarks"))
A4 = {"format": "A4", "print_background": True, "prefer_css_page_size": True}
READY = """async () => {
  document.documentElement.dataset.theme = 'light';
  document.querySelectorAll('img[loading=lazy]').forEach(i => { i.loading = 'eager'; });
  document.querySelectorAll('.bd-article details:not(.hide)').forEach(d => { d.open = true; });
  if (window.MathJax && MathJax.startup) {
    await MathJax.startup.promise;
    if (MathJax.startup.document.lazyTypesetAll) await MathJax.startup.document.lazyTypesetAll();
  }
  await Promise.all([...document.images].map(i => i.decode().catch(() => null)));
  await document.fonts.ready;
}"""


def chromium():
    """Path of a Chromium or Chrome; None where there is none. One without windows of its own takes the least time."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    names = (os.environ.get("CHROMIUM"), *names)
    return next((shutil.which(name) for name in names if name and shutil.which(name)), None)


def contents():
    """``[(caption of the part, [document, ...]), ...]`` in the order of the table of contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [("", [toc["root"]])]
    for group in toc["parts"]:
        kept = [entry for entry in group["chapters"] if not entry["file"].startswith(LEFT_OUT)]
        if group["caption"] == CAPTION:  # each part of the book is a page with its chapters below it
            parts += [(entry["title"], [page["file"] for page in (entry, *entry["sections"])]) for entry in kept]
        else:
            parts.append((group["caption"], [entry["file"] for entry in kept]))
    return parts


def print_page(browser, path):
    """One built page as a PDF, and the text of its title."""
    context = browser.new_context(viewport={"width": 900, "height": 1200}, color_scheme="light")
    context.set_offline(True)
    context.set_default_timeout(0)  # a busy machine is slow, not broken
    page = context.new_page()
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    page.evaluate(READY)
    title = page.evaluate("document.querySelector('.bd-article h1').firstChild.textContent.trim()")
    number = page.evaluate(
        "(document.querySelector('.bd-article h1 .section-number') || {textContent: ''}).textContent"
    )
    if number:
        title = page.evaluate("document.querySelector('.bd-article h1').innerText").rstrip("#").strip()
    data = page.pdf(**A4, tagged=True, outline=True)
    context.close()
    return PdfReader(io.BytesIO(data)), " ".join(title.split())


def print_html(browser, body):
    page = browser.new_page()
    page.set_default_timeout(0)
    page.set_content(f"<!doctype html><html lang=en><meta charset=utf-8><style>{STYLE}</style>{body}</html>")
    data = page.pdf(**A4)
    page.close()
    return PdfReader(io.BytesIO(data))


STYLE = """
@page { size: A4; margin: 22mm 20mm; }
body { font-family: "DejaVu Serif", Georgia, serif; color: #16202e; margin: 0; }
.cover { height: 250mm; display: flex; flex-direction: column; justify-content: center; break-after: page; }
.cover h1 { font-size: 44pt; margin: 0 0 4mm; font-weight: 600; } .cover p { font-size: 13pt; margin: 2mm 0; }
.contents h1 { font-size: 22pt; } .contents h2 { font-size: 11pt; margin: 5mm 0 1mm; break-after: avoid; }
.contents p { display: flex; font-size: 10pt; margin: 1mm 0; gap: 2mm; }
.contents p span:first-child { flex: 1; } .contents b { font-weight: 400; }
"""
NUMBERS = """<style>@page { size: A4; margin: 0; } div { height: 297mm; position: relative; break-after: page; }
div:last-child { break-after: auto; } span { position: absolute; bottom: 9mm; left: 0; right: 0; text-align: center;
font-size: 9pt; color: #4d5866; }</style>"""


def _front(browser, parts, titles, starts):
    listed = []
    for caption, documents in parts:
        pages = [(titles[document], starts[document] + 1) for document in documents if document in titles]
        listed.append((caption if pages else "", pages))
    name, _, subtitle = BOOK.partition(": ")
    front = render(
        TEMPLATES / "pdf_front.html",
        name=name,
        subtitle=subtitle[:1].upper() + subtitle[1:],
        authors=AUTHORS,
        version=learnable.__version__,
        date=editions()[0][1],
        parts=listed,
    )
    return print_html(browser, front)


def bind(browser, site, output, only=()):
    """Print and bind; return the number of pages."""
    parts = contents()
    wanted = [d for _, documents in parts for d in documents if not only or any(name in d for name in only)]
    if not wanted:
        raise ValueError(f"no page matches {', '.join(only)}")
    printed, titles = {}, {}
    for document in wanted:
        printed[document], titles[document] = print_page(browser, site / f"{document}.html")
        print(f"  {len(printed[document].pages):4d} pages  {document}", flush=True)

    def place(offset):
        starts = {}
        for document, reader in printed.items():
            starts[document] = offset
            offset += len(reader.pages)
        return starts, offset

    # The contents state page numbers, which depend on the length of the contents.
    length = len(_front(browser, parts, titles, place(0)[0]).pages)
    starts, total = place(length)
    front = _front(browser, parts, titles, starts)
    stamps = print_html(browser, NUMBERS + "".join(f"<div><span>{n + 1}</span></div>" for n in range(total)))
    writer = PdfWriter()
    writer.append(front, import_outline=False)
    for caption, documents in parts:
        parent = None
        for document in (d for d in documents if d in printed):
            if caption and parent is None:
                parent = writer.add_outline_item(caption, starts[document], bold=True)
            writer.append(printed[document], import_outline=False)
            chapter = writer.add_outline_item(titles[document], starts[document], parent=parent)
            _sections(writer, printed[document], starts[document], chapter)
    for number in range(length, total):
        writer.pages[number].merge_page(stamps.pages[number])
    _stay_inside(writer, site, starts)
    writer.add_metadata({"/Title": BOOK, "/Author": AUTHORS})
    writer.compress_identical_objects(remove_duplicates=True, remove_unreferenced=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    writer.write(output)
    return total


def _sections(writer, reader, start, parent):
    """The section headings of a piece as bookmarks below its own."""
    items = reader.outline
    while items and len([i for i in items if not isinstance(i, list)]) == 1 and isinstance(items[-1], list):
        items = items[-1]
    for item in items:
        if not isinstance(item, list) and (page := reader.get_destination_page_number(item)) is not None:
            writer.add_outline_item(str(item.title).rstrip("#"), start + page, parent=parent)


def _stay_inside(writer, site, starts):
    """Turn links to files of the built book into jumps within the PDF."""
    targets = {str((site / f"{document}.html").resolve()): number for document, number in starts.items()}
    for number, page in enumerate(writer.pages):
        kept, jumps = [], []
        for reference in page.get("/Annots") or []:
            note = reference.get_object()
            address = str((note.get("/A") or {}).get("/URI", ""))
            if address.startswith("file:"):
                target = targets.get(unquote(urlparse(address).path))
                if target is not None:
                    jumps.append(Link(rect=note["/Rect"], target_page_index=target, fit=Fit.fit_horizontally()))
                continue
            kept.append(reference)
        if "/Annots" in page:
            page["/Annots"].clear()
            page["/Annots"].extend(kept)
        for jump in jumps:
            writer.add_annotation(number, jump)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of page names; all pages by default")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args(argv)
    site = BUILD / "html"
    if not (site / "index.html").exists() or chromium() is None:
        print("make pdf needs the built book and a Chromium (set CHROMIUM to its path)", file=sys.stderr)
        return 1
    output = arguments.output or OUTPUT / ("-".join(arguments.names) if arguments.names else "learnable")
    output = output.with_suffix(".pdf")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        pages = bind(browser, site, output, arguments.names)
    print(f"{output.relative_to(ROOT) if output.is_relative_to(ROOT) else output}: {pages} pages, ", end="")
    print(f"{output.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
