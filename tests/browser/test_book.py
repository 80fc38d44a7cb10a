"""The built book as its reader sees it: opened from disk, no network, desktop and phone."""

import functools
import html.parser
import os
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from visits import BRIEF, CHAPTERS, DESKTOP, PAGES, PHONE, barriers, desktop_aspects, findings, phone_aspects, switch

from tools.site import ledger_page
from tools.site.pages import claims

pytestmark = pytest.mark.browser
FIRST = "lectures/foundations/bayes_decision_theory.html"


@pytest.mark.parametrize("name", PAGES)
def test_page_on_a_desktop(open_page, name):
    """Whole, quiet, headings in order, formulas rendered and fitting, the explorer moves, no barrier in either mode."""
    assert findings(open_page(name, **DESKTOP), desktop_aspects(name)) == [], name


@pytest.mark.parametrize("name", [page for page in PAGES if page not in BRIEF])
def test_page_on_a_phone(open_page, name):
    """Nothing to scroll sideways, in either mode."""
    assert findings(open_page(name, **PHONE), phone_aspects(name)) == [], name


def test_a_page_under_test_stands_still(open_page, new_context, site):
    """Colours fade for the reader; with the tests' own style sheet they have changed as soon as the theme has."""
    fading = "() => document.getAnimations().filter(a => a instanceof CSSTransition).length"
    context = new_context(viewport=DESKTOP)
    page = context.new_page()
    page.goto((site / FIRST).as_uri())
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.evaluate(fading) > 0, "nothing fades any more: the style sheet of the tests is not needed"
    page = open_page(FIRST)
    switch(page, "dark")
    assert page.evaluate(fading) == 0


@pytest.mark.parametrize(
    ("html", "broken", "mode"),
    [
        ("<a href='#' class='x'></a>", "link-name", "light"),
        ("<button></button>", "button-name", "light"),
        ("<p style='color: #999; background: #fff'>pale words</p>", "color-contrast", "light"),
        ("<p><em class='odd' style='color: #444'>words</em> of a paragraph</p>", "color-contrast", "dark"),
    ],
)
def test_a_barrier_is_found_among_many_that_are_none(open_page, html, broken, mode):
    """Of what is built alike only the first few are looked at: what is built otherwise is among them."""
    page = open_page(FIRST)
    page.evaluate(
        """html => {
          const list = document.querySelector('.bd-article section').appendChild(document.createElement('ul'));
          const fine = "<li><a href='#' class='x'>a link</a> <button>a button</button> <p>words</p></li>";
          list.innerHTML = fine.repeat(25) + `<li>${html}</li>` + fine.repeat(25);
        }""",
        html,
    )
    found = findings(page, [barriers])
    assert any(f"{broken} in {mode} mode" in problem for problem in found), found
    assert all(broken in problem for problem in found), found


def test_the_package_can_be_had_from_the_site_itself(open_page, site):
    """The line to copy names wheels of this site, wherever it is, and the data where the section loads large sets."""
    trees = "lectures/ensembles/decision_trees.html"
    for name, wheels in (("book/intro.html", 2), ("book/generated/api/index.html", 2), (FIRST, 1), (trees, 1)):
        page = open_page(name)
        line = page.locator(".install-line pre").text_content()
        addresses = re.findall(r'"([^"]+)"', line)
        assert line.startswith("pip install ") and len(addresses) == wheels, f"{name}: {line}"
        for address in addresses:
            assert Path(unquote(address.removeprefix("file://"))).exists(), f"{name}: {address}"
        assert "learnable_book-" in addresses[0]
    for chapter in CHAPTERS:
        assert 'class="install-line"' in (site / f"{chapter.docname}.html").read_text(encoding="utf-8"), chapter.docname
    nights = open_page("lectures/latent/hmm_alignment.html").locator(".install-line pre").text_content()
    assert nights.endswith(" hmmlearn matplotlib pandas") or nights.endswith(" hmmlearn pandas"), nights
    bare = open_page(FIRST, javascript=False).locator(".install-line pre").text_content()
    assert re.match(r"pip install learnable_book-[\d.]+-py3-none-any.whl", bare)


def test_a_record_shows_the_figures_of_one_verdict(open_page):
    page = open_page("book/generated/records/debiased_lasso.html")
    rows, chosen = page.locator(".record-table tbody tr"), page.locator(".record-filter select")
    before = rows.count()
    chosen.select_option("record-differs")
    shown = [row for row in rows.all() if row.is_visible()]
    assert 0 < len(shown) < before
    assert all(row.locator(".record-differs").count() for row in shown)
    chosen.select_option("")
    assert all(row.is_visible() for row in rows.all()) and page.locator("td.faint").count() == 0


def test_explorer_answers_touch(open_page):
    page = open_page(FIRST, **PHONE)
    explorer = page.locator(".explorer").first
    explorer.scroll_into_view_if_needed()
    explorer.and_(page.locator("[data-ready=yes]")).wait_for()
    slider = explorer.locator("input").first
    box = slider.bounding_box()
    slider.tap(position={"x": box["width"] - 6, "y": box["height"] / 2})
    assert slider.input_value() == slider.get_attribute("max")


def test_explorer_shows_its_first_state_without_javascript(open_page):
    page = open_page(FIRST, javascript=False)
    explorer = page.locator(".explorer").first
    assert explorer.locator("img").get_attribute("src").startswith("data:image/webp;base64,")
    assert len(explorer.locator(".explorer-text").inner_text()) > 20
    assert explorer.locator("input").first.is_disabled()


def test_search_finds_the_reject_option(open_page):
    page = open_page("search.html?q=reject+option")
    found = page.locator("#search-results li a[href*=bayes_decision_theory]")
    found.first.wait_for()
    assert page.errors == []
    assert page.outside == []


def test_ledger_filters_and_links(open_page, site):
    page = open_page("book/generated/ledger.html")
    rows, shown = page.locator(".ledger tbody tr"), page.locator(".ledger tbody tr:visible")
    total = rows.count()
    assert total == len(ledger_page.entries(CHAPTERS, claims))
    page.select_option("select[data-filter=outcome]", "differs")
    assert 0 < shown.count() == page.locator(".ledger tbody tr[data-outcome=differs]").count() < total
    assert page.locator(".ledger-count").inner_text() == f"{shown.count()} of {total} entries"
    page.select_option("select[data-filter=outcome]", "")
    page.locator(".ledger tbody tr a").first.click()
    page.wait_for_selector(".claim:target, tr:target")
    assert page.errors == []


def test_the_state_of_the_ledger_survives_the_way_back_and_a_reload(open_page):
    page = open_page("book/generated/ledger.html")
    shown = page.locator(".ledger tbody tr:visible")
    total = shown.count()
    page.select_option("select[data-filter=kind]", "theorem")
    page.fill("input[data-filter=text]", "bound")
    page.locator(".ledger th button", has_text="Claim").click()
    found = shown.count()
    assert 0 < found < total
    names = shown.locator("a").all_inner_texts()
    page.reload()
    assert shown.locator("a").all_inner_texts() == names
    shown.locator("a").first.click()
    page.wait_for_selector(".claim:target, tr:target")
    page.go_back()
    page.wait_for_selector(".ledger-count")
    assert shown.locator("a").all_inner_texts() == names
    page.locator(".ledger th button", has_text="Claim").click()
    assert shown.locator("a").all_inner_texts() == names[::-1]
    with page.expect_download() as download:
        page.locator(".ledger-csv").click()
    lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 1 + found and lines[0].startswith("verdict,claim,printed")


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.ids = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(filter(None, (values.get("id"), values.get("name"))))
        for key in ("href", "src", "data-src"):
            if values.get(key):
                self.targets.add(values[key])


def test_no_dead_internal_link(site):
    """Every page has the whole sidebar, so a target is looked up once for each folder it is seen from."""
    load = functools.cache(lambda path: Links(path.read_text(encoding="utf-8")))

    @functools.cache
    def trouble(folder, target):
        address, fragment = urldefrag(target)
        other = Path(os.path.normpath(folder / unquote(address.split("?")[0])))
        if not other.exists():
            return "no such file"
        if "=" in fragment and other.name == "ledger.html":
            return None  # a state of the ledger's filters, which ledger.js reads: tried in a test of its own
        missing = fragment and other.suffix == ".html" and unquote(fragment) not in load(other).ids
        return "no such place" if missing else None

    dead = []
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.parts:
            continue
        for target in load(path).targets:
            if re.match(r"(?:[a-z]+:|//)", target):
                continue
            why = trouble(path.parent, path.name + target if target.startswith("#") else target)
            if why:
                dead.append(f"{path.relative_to(site)} -> {target} ({why})")
    assert dead == []
