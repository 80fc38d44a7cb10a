"""The built book as its reader sees it: opened from disk, no network, desktop and phone."""

import html.parser
import re
from urllib.parse import unquote, urldefrag

import pytest

from tools.pages import claims
from tools.project import chapters, toc_documents

pytestmark = pytest.mark.browser
CHAPTERS = chapters()
LECTURES = [f"{chapter.docname}.html" for chapter in CHAPTERS]
PAGES = [f"{document}.html" for document in toc_documents()]
FIRST = "lectures/foundations/bayes_decision_theory.html"


@pytest.mark.parametrize("name", PAGES)
def test_page_is_whole_and_quiet(open_page, wait_for_formulas, name):
    page = open_page(name)
    if page.locator(".math").count():
        wait_for_formulas(page)
        unrendered = page.locator(".math").filter(has_not=page.locator("mjx-container")).count()
        assert unrendered == 0, f"{unrendered} formulas were not rendered"
        assert page.locator("mjx-merror, [data-mjx-error]").count() == 0, "a formula has an error"
    assert page.errors == []
    assert page.outside == [], "a request left the machine"
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator(".bd-article h1").count() == 1
    nameless = "img:not([alt]), .bd-article img[alt='']"
    assert page.locator(nameless).count() == 0, "an image without alternative text"


@pytest.mark.parametrize("name", LECTURES)
def test_formulas_fit_the_page(open_page, wait_for_formulas, name):
    """On a desktop nobody should have to scroll within a formula."""
    page = open_page(name, width=1280)
    wait_for_formulas(page)
    wide = page.evaluate(
        """() => [...document.querySelectorAll('mjx-container[display="true"]')]
                .filter(e => e.scrollWidth > e.clientWidth + 2).map(e => e.closest('.math')?.id || e.innerText)"""
    )
    assert wide == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_no_sideways_scroll_on_a_phone(open_page, wait_for_formulas, name, mode):
    page = open_page(name, width=390, height=844, mode=mode)
    if page.locator(".math").count():
        wait_for_formulas(page)
    assert page.evaluate("document.documentElement.dataset.theme") == mode
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.bd-article *')].filter(e => {
            const r = e.getBoundingClientRect();
            if (r.right <= 391 || !r.width || getComputedStyle(e).position === 'absolute') return false;
            for (let p = e; p; p = p.parentElement)
              if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
            return true;
          }).slice(0, 5).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 60))"""
    )
    assert wide == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("name", LECTURES)
def test_explorer_moves_by_keyboard_and_pointer(open_page, name):
    page = open_page(name)
    explorer = page.locator(".explorer").first
    explorer.scroll_into_view_if_needed()
    page.wait_for_selector(".explorer[data-ready=yes]")
    slider, picture, text = explorer.locator("input").first, explorer.locator("img"), explorer.locator(".explorer-text")
    before = picture.get_attribute("src"), text.text_content(), slider.input_value()
    slider.focus()
    page.keyboard.press("ArrowRight" if slider.input_value() != slider.get_attribute("max") else "ArrowLeft")
    after = picture.get_attribute("src"), text.text_content(), slider.input_value()
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert picture.get_attribute("alt") == after[1]
    assert slider.get_attribute("aria-valuetext") == explorer.locator("output").first.text_content()
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 6, box["y"] + box["height"] / 2)
    assert slider.input_value() == "0"
    assert picture.get_attribute("src") != after[0]
    assert page.errors == []


def test_explorer_answers_touch(open_page):
    page = open_page(FIRST, width=390, height=844)
    explorer = page.locator(".explorer").first
    explorer.scroll_into_view_if_needed()
    page.wait_for_selector(".explorer[data-ready=yes]")
    slider = explorer.locator("input").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] - 6, box["y"] + box["height"] / 2)
    assert slider.input_value() == slider.get_attribute("max")


def test_explorer_shows_its_first_state_without_javascript(open_page):
    page = open_page(FIRST, javascript=False)
    explorer = page.locator(".explorer").first
    assert explorer.locator("img").get_attribute("src").startswith("data:image/webp;base64,")
    assert len(explorer.locator(".explorer-text").inner_text()) > 20
    assert explorer.locator("input").first.is_disabled()


def test_search_finds_the_reject_option(open_page):
    page = open_page("search.html")
    page.goto(page.url + "?q=reject+option")
    page.wait_for_selector("#search-results li a", timeout=15_000)
    links = page.locator("#search-results li a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert any("bayes_decision_theory" in link for link in links)
    assert page.errors == []
    assert page.outside == []


def test_ledger_filters_and_links(open_page, site):
    page = open_page("book/generated/ledger.html")
    total = page.locator(".ledger tbody tr").count()
    assert total == sum(len(claims(chapter)) for chapter in CHAPTERS)
    page.select_option("select[data-filter=verdict]", "reproduced")
    shown = page.locator(".ledger tbody tr:visible")
    assert shown.count() == page.locator(".ledger tbody tr[data-verdict=reproduced]").count()
    assert page.locator(".ledger-count").inner_text() == f"{shown.count()} of {total} claims"
    page.select_option("select[data-filter=verdict]", "")
    page.locator(".ledger tbody tr a").first.click()
    page.wait_for_selector(".claim:target")
    assert page.errors == []


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.ids = [], set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(filter(None, (values.get("id"), values.get("name"))))
        for key in ("href", "src", "data-src"):
            if values.get(key):
                self.targets.append(values[key])


def test_no_dead_internal_link(site):
    parsed = {}

    def load(path):
        if path not in parsed:
            parsed[path] = Links()
            parsed[path].feed(path.read_text(encoding="utf-8"))
        return parsed[path]

    dead = []
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.parts:
            continue
        for target in load(path).targets:
            if re.match(r"(?:[a-z]+:|//)", target):
                continue
            address, fragment = urldefrag(target)
            other = (path.parent / unquote(address.split("?")[0])).resolve() if address else path
            if not other.exists():
                dead.append(f"{path.relative_to(site)} -> {target}")
            elif fragment and other.suffix == ".html" and unquote(fragment) not in load(other).ids:
                dead.append(f"{path.relative_to(site)} -> {target} (no such place)")
    assert dead == []
