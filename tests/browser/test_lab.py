"""The same explorer in a real JupyterLab, with a live kernel."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

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


def test_explorer_moves_with_a_live_kernel(open_notebook, lab):
    chapter = next(c for c in chapters() if c.slug == "bayes_decision_theory")
    nbformat.write(explorer_notebook(chapter), lab.folder / "explorer.ipynb")
    page = open_notebook("explorer.ipynb")
    page.click(".lm-MenuBar-itemLabel:text-is('Run')")
    page.click(".lm-Menu-itemLabel:text-is('Run All Cells')")
    readout = page.locator(".widget-readout").first
    picture = page.locator(".jp-OutputArea-output img").last
    picture.wait_for()
    before = picture.get_attribute("src"), readout.inner_text()
    page.locator(".widget-slider .noUi-handle").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "old => document.querySelectorAll('.jp-OutputArea-output img').length &&"
        " [...document.querySelectorAll('.jp-OutputArea-output img')].pop().src !== old",
        arg=before[0],
    )
    assert readout.inner_text() != before[1]
