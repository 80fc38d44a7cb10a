"""The same explorer in a real JupyterLab, with a live kernel."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import TimeoutError

from tools.project import chapters

pytestmark = pytest.mark.browser


def explorer_notebook(chapter):
    """The imports, the explorer of a chapter, and the functions right before it."""
    sources = ["".join(cell["source"]) for cell in chapter.code_cells()]
    last = next(number for number, source in enumerate(sources) if number and "explore(" in source)
    first = last
    while sources[first - 1].startswith("def "):
        first -= 1
    wanted = sources[first : last + 1]
    return new_notebook(cells=[new_code_cell(s) for s in [sources[0], *wanted]], metadata=chapter.notebook["metadata"])


def run_all(page, until):
    """Run all cells until something shows; JupyterLab may first ask for a kernel, and then forgets to run."""
    asked = True
    for attempt in range(40):
        if page.locator(".jp-Dialog .jp-mod-accept").count():
            page.click(".jp-Dialog .jp-mod-accept")
            page.wait_for_timeout(3000)
            attempt = 0
        if attempt % 15 == 0 or not asked:
            try:
                page.click(".lm-MenuBar-itemLabel:text-is('Run')", timeout=3000)
                page.click(".lm-Menu-itemLabel:text-is('Run All Cells')", timeout=3000)
                asked = True
            except TimeoutError:
                asked = False  # a dialog has come up in between: answer it in the next round
        page.wait_for_timeout(3000)
        if until.is_visible():
            return


def test_explorer_moves_with_a_live_kernel(browser, lab):
    address, folder = lab
    chapter = next(c for c in chapters() if c.slug == "bayes_decision_theory")
    nbformat.write(explorer_notebook(chapter), folder / "explorer.ipynb")
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.goto(f"{address}/lab/tree/explorer.ipynb?reset", timeout=60_000)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=60_000)
    slider = page.locator(".widget-slider").first
    run_all(page, until=slider)
    slider.wait_for(timeout=1_000)
    readout = page.locator(".widget-readout").first
    picture = page.locator(".jp-OutputArea-output img").last
    picture.wait_for(timeout=60_000)
    before = picture.get_attribute("src"), readout.inner_text()
    handle = page.locator(".widget-slider .noUi-handle").first
    handle.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "old => document.querySelectorAll('.jp-OutputArea-output img').length &&"
        " [...document.querySelectorAll('.jp-OutputArea-output img')].pop().src !== old",
        arg=before[0],
        timeout=30_000,
    )
    assert readout.inner_text() != before[1]
    page.close()
