"""A lecture in a real JupyterLab: nothing of the markup is left as text, and answers are folded."""

import re
import shutil

import pytest

from tools.project import chapters

pytestmark = pytest.mark.browser
LEFTOVER = re.compile(r":::|\{(?:eq|numref|cite[:\w]*|prf[:\w]*|dropdown|ref|doc)\}|\w+(?:18|19|20)\d\d\w*\)?=")
READ = {"debiased_lasso", "boosting_l1_path"}  # between them they use every directive and role that lectures use


@pytest.mark.parametrize("chapter", [c for c in chapters() if c.slug in READ], ids=lambda c: c.slug)
def test_a_lecture_reads_well(new_context, lab, chapter):
    shutil.copy(chapter.lecture, lab.folder / chapter.lecture.name)
    page = new_context(viewport={"width": 1300, "height": 1000}).new_page()
    page.goto(f"{lab.address}/lab/tree/{chapter.lecture.name}?reset")
    page.wait_for_selector(".jp-MarkdownCell .myst h1")
    cells = page.locator(".jp-MarkdownCell")
    drawn = (
        "i => { const cell = document.querySelectorAll('.jp-MarkdownCell')[i].querySelector('.myst');"
        " return cell && cell.innerText.trim().length > 0 }"
    )
    for number in range(cells.count()):  # cells are drawn as they come into view
        cells.nth(number).scroll_into_view_if_needed()
        page.wait_for_function(drawn, arg=number)
    text = "\n".join(page.locator(".jp-MarkdownCell .myst").all_inner_texts())
    unknown = page.locator('.myst [title$="Not Found"]').all_inner_texts()
    folded = page.locator(".myst details").count()
    assert page.locator(".myst details[open]").count() == 0, "an answer lies open"
    assert "Further reading" in text, "the end of the lecture was not reached"
    assert LEFTOVER.findall(text) == []
    assert unknown == [], "JupyterLab does not find these"
    assert folded >= 3
