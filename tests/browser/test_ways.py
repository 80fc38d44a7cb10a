"""Ways through the book: folded parts, landing pages, reading paths that the browser remembers, maps."""

import pytest

from tools.project import PARTS, chapters
from tools.site.paths_page import routes
from tools.site.toc import part_page

pytestmark = pytest.mark.browser
CHAPTERS = chapters()
SVM = next(c for c in CHAPTERS if c.slug == "support_vector_machines")
KERNELS = next(route for route in routes(CHAPTERS) if route.key == "path-kernels")


def test_chapters_are_numbered_in_the_order_of_the_contents(open_page):
    for number, chapter in enumerate(CHAPTERS, 1):
        if number in (1, 5, len(CHAPTERS)):
            page = open_page(f"{chapter.docname}.html")
            assert page.locator(".bd-article h1").inner_text().startswith(f"{number}. ")


def test_the_current_part_is_open_and_the_others_are_folded(open_page):
    page = open_page(f"{SVM.docname}.html")
    sidebar = page.locator(".bd-sidebar-primary")
    assert sidebar.get_by_role("link", name=SVM.short_title).is_visible()
    other = next(c for c in CHAPTERS if c.part != SVM.part)
    assert sidebar.get_by_role("link", name=PARTS[other.part]).first.is_visible()
    assert not sidebar.get_by_role("link", name=other.short_title).is_visible()


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("part", dict.fromkeys(c.part for c in CHAPTERS))
def test_a_part_has_a_page_with_a_map_and_its_cards(open_page, part, width):
    page = open_page(f"{part_page(part)}.html", width=width)
    members = [c for c in CHAPTERS if c.part == part]
    # The text as it is, not as it is painted: on a phone the cards are far below.
    titles = [text.strip() for text in page.locator(".chapter-card h3").all_text_contents()]
    assert titles == [c.short_title for c in members]
    shown = page.locator("svg.map:visible")
    assert shown.count() == 1
    assert shown.bounding_box()["width"] <= width
    size = shown.locator("text").first.evaluate("t => t.getBoundingClientRect().height / t.children.length")
    assert size >= 9, "letters on the map are too small"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not page.errors


def test_a_chapter_ends_with_links_that_exist(open_page, site):
    page = open_page(f"{SVM.docname}.html")
    names = page.locator(".rooms dt").all_inner_texts()
    assert {"Exercise", "Claims", "Benchmarks", "Errata", "Data sets", "Reference", "Part"} <= set(names)
    for address in page.locator(".ways a").evaluate_all("links => links.map(a => a.href.baseVal || a.href)"):
        target = address if address.startswith("file:") else (site / SVM.docname).parent.joinpath(address).as_uri()
        if target.endswith(("#", "%23")):  # the chapter's own box on its map
            continue
        name, _, anchor = target.removeprefix("file://").partition("#")
        with open(name, encoding="utf-8") as file:
            assert not anchor or f'id="{anchor}"' in file.read(), f"{address} leads nowhere"


def test_the_ledger_shows_the_claims_of_the_chapter_that_links_it(open_page):
    page = open_page(f"{SVM.docname}.html")
    page.locator(".rooms a", has_text="in the ledger").click()
    page.wait_for_selector(".ledger-count")
    assert page.locator("select[data-filter=chapter]").input_value() == SVM.name


def test_the_browser_remembers_the_path_and_the_place_on_it(open_page):
    page = open_page("book/generated/paths.html")
    follow = page.locator(f'.path-follow[data-path="{KERNELS.key}"]')
    follow.get_by_role("button", name="Follow this path").click()
    follow.get_by_role("link", name=f"Begin with {KERNELS.steps[0].short_title}").click()
    for step in KERNELS.steps[:2]:
        page.wait_for_selector(f'.path-step.mine[data-doc="{step.docname}"]')
        mine = page.locator(".path-step").first
        assert "mine" in mine.get_attribute("class"), "the reader's path comes first"
        mine.locator("a[rel=next]").click()
    page.wait_for_selector(f'.path-step.mine[data-doc="{KERNELS.steps[2].docname}"]')
    page.goto(page.url.split("lectures/")[0] + "book/generated/paths.html")
    follow.get_by_role("link", name="Go on with").wait_for()
    assert "3 of" in follow.inner_text()
    follow.get_by_role("button", name="Leave this path").click()
    follow.get_by_role("button", name="Follow this path").wait_for()
    assert not page.errors


def test_paths_work_where_nothing_may_be_stored(open_page):
    page = open_page(f"{SVM.docname}.html")
    page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('blocked') }})")
    page.reload()
    page.wait_for_selector(".path-step button")
    page.locator(".path-step button").first.click()
    assert page.locator(".path-step a[rel=next]").first.is_visible()
    assert page.locator(".path-step.mine").count() == 0, "what cannot be remembered is not promised"
