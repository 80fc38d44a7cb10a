"""The built book as a product: accessible, light, quick, still; and on paper."""

import gzip
import itertools
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlparse

import axe_playwright_python
import pytest
from pypdf import PdfReader

from tools import pdf
from tools.project import chapters, toc_documents

pytestmark = pytest.mark.browser
PAGES = [f"{document}.html" for document in toc_documents()]
LECTURES = [f"{chapter.docname}.html" for chapter in chapters()]
SCALE = float(os.environ.get("LEARNABLE_BUDGET_SCALE", "1"))
# Pages of the reference are made by one function, and large: axe looks at one of them.
ALIKE = [page for page in PAGES if "/generated/api/" in page and not page.endswith(("/linear.html", "/index.html"))]
OWN_LIMIT, SHARED_LIMIT = 1.5e6, 1.2e6  # bytes, compressed
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [page for page in PAGES if page not in ALIKE])
def test_no_serious_barrier(open_page, name):
    """axe-core finds nothing serious or critical: names, roles, order, contrast; the last in dark as well.

    The inside of formulas, thousands of elements that MathJax makes, is left out, and that of code, coloured alike
    everywhere, on all chapters but the first.
    """
    left_out = [["mjx-container"]] if name == LECTURES[0] else [["mjx-container"], [".highlight"]]
    page = open_page(name)
    page.evaluate(AXE)
    found = []
    for mode, rules in (("light", None), ("dark", ["color-contrast"])):
        page.evaluate("mode => { document.documentElement.dataset.theme = mode; }", mode)
        options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
        result = page.evaluate("([left, options]) => axe.run({exclude: left}, options)", [left_out, options])
        found += [
            (mode, broken["id"], [node["target"] for node in broken["nodes"][:3]])
            for broken in result["violations"]
            if broken["impact"] in ("serious", "critical")
        ]
    assert found == []


@pytest.mark.parametrize("name", PAGES)
def test_headings_do_not_skip_a_level(open_page, name):
    page = open_page(name)
    levels = page.evaluate("[...document.querySelectorAll('.bd-article :is(h1,h2,h3,h4,h5)')].map(h => +h.tagName[1])")
    skips = [(a, b) for a, b in itertools.pairwise(levels) if b > a + 1]
    assert levels[0] == 1 and skips == []


def compressed(path):
    return len(gzip.compress(path.read_bytes(), 6))


@pytest.mark.parametrize("name", LECTURES)
def test_page_weight(site, name):
    """A chapter's own files, explorers and figures included."""
    page = site / name
    text = page.read_text(encoding="utf-8")
    own = {page}
    for reference in re.findall(r'(?:src|data-src)="([^"]+)"', text):
        if "explorers/" in reference or "_images/" in reference:
            own.add((page.parent / reference).resolve())
    total = sum(map(compressed, own))
    assert total <= OWN_LIMIT, f"{total / 1e6:.2f} MB"


def test_shared_weight(browser, site, wait_for_formulas):
    """What all chapters share: theme, icons, formulas."""
    requested = set()
    for name in (LECTURES[0], "book/intro.html"):
        page = browser.new_page()
        page.on("request", lambda request: requested.add(request.url))
        page.goto((site / name).as_uri())
        if name == LECTURES[0]:
            wait_for_formulas(page)
        page.close()
    files = [Path(unquote(urlparse(url).path)) for url in requested if url.startswith("file:")]
    shared = [f for f in files if f.is_file() and f.suffix != ".html" and not {"explorers", "_images"} & set(f.parts)]
    total = sum(map(compressed, shared))
    assert total <= SHARED_LIMIT, f"{total / 1e6:.2f} MB"


@pytest.mark.parametrize("name", [LECTURES[0], "lectures/kernels/kernels_and_regression.html", "book/intro.html"])
def test_readable_at_once_and_soon_interactive(browser, site, name):
    """With a processor four times slower: text within 1.5 s, scripts done within 3 s, and nothing jumps."""
    best, shift = None, None
    for _ in range(3):  # the machine is shared: the best of three tries counts
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        page.goto((site / name).resolve().as_uri())
        page.wait_for_timeout(300)
        times = page.evaluate(
            """() => [performance.getEntriesByName('first-contentful-paint')[0].startTime,
                      performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd]"""
        )
        shift = page.evaluate(
            """() => new Promise(done => { let sum = 0;
                 new PerformanceObserver(list => { for (const e of list.getEntries()) sum += e.value; })
                   .observe({type: 'layout-shift', buffered: true});
                 setTimeout(() => done(sum), 200); })"""
        )
        best = times if best is None else [min(a, b) for a, b in zip(best, times, strict=True)]
        context.close()
    assert best[0] <= 1500 * SCALE and best[1] <= 3000 * SCALE, f"text {best[0]:.0f} ms, interactive {best[1]:.0f} ms"
    assert shift <= 0.1, f"layout shift {shift:.2f}"


def test_images_wait_until_they_are_near(site):
    for name in LECTURES:
        text = (site / name).read_text(encoding="utf-8")
        images = re.findall(r"<img [^>]*figure-image[^>]*>", text)
        assert images and all('loading="lazy"' in image for image in images), name


def test_chapter_ends_with_its_code_its_citation_and_a_report(open_page):
    page = open_page(LECTURES[0])
    names = page.locator(".chapter-end .names a")
    assert names.count() >= 5
    page.locator(".chapter-end summary", has_text="Cite this chapter").click()
    assert page.locator(".chapter-end pre").inner_text().startswith("@incollection{")
    page.locator(".chapter-end summary", has_text="Report an error").click()
    button = page.locator(".chapter-end button", has_text="Copy the report")
    button.click()
    page.locator(".chapter-end button", has_text="Copied").wait_for(timeout=3000)
    names.first.click()
    page.wait_for_selector("dl.py dt:target")
    assert page.errors == []


def test_paper(browser, site, tmp_path):
    """Two chapters bound: contents, bookmarks, page numbers, formulas, links that stay inside."""
    pages = pdf.bind(browser, site, tmp_path / "two.pdf", ("bayes_decision_theory", "vc_theory"))
    reader = PdfReader(tmp_path / "two.pdf")
    assert len(reader.pages) == pages > 20
    first = reader.pages[2].extract_text()
    assert "Bayesian decision theory" in first and re.search(r"(^|\n)3(\n|$)", first)
    titles = [item.title for item in reader.outline if not isinstance(item, list)]
    assert titles == ["Foundations"]
    inside = [a.get_object() for page in reader.pages for a in page.get("/Annots") or []]
    assert not any("file:" in str(note.get("/A", "")) for note in inside)
    text = "".join(page.extract_text() for page in reader.pages)
    assert "\\frac" not in text and "\\mathbb" not in text, "a formula was printed as its source"
