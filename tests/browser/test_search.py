"""Search, as a reader uses it: from disk, as you type, by keyboard, on a phone."""

from pathlib import Path

import axe_playwright_python
import pytest
import yaml

from tools.project import chapters

pytestmark = pytest.mark.browser
FIRST = "lectures/foundations/bayes_decision_theory.html"
QUERIES = yaml.safe_load(Path(__file__).with_name("search_queries.yml").read_text(encoding="utf-8"))
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
DIALOG = "#pst-search-dialog"
AT_NINETY = 4e6  # bytes of the whole index, uncompressed, once ninety chapters stand


def ask(page, query, box=DIALOG):
    """Type a query and wait for its results over the whole index; return their addresses within the site."""
    page.locator(f"{box} input").fill(query)
    page.wait_for_function("([box, q]) => document.querySelector(box + ' form').dataset.shown === q", arg=[box, query])
    root = page.evaluate("new URL(document.documentElement.dataset.content_root, location.href).href")
    links = page.locator(f"{box} .search-results a").evaluate_all("all => all.map(a => a.href)")
    return [link.removeprefix(root) for link in links]


def open_search(page):
    page.keyboard.press("Control+k")
    page.wait_for_selector(f"{DIALOG}[open] input:focus")


def test_forty_queries_find_their_page_first(open_page):
    assert len(QUERIES) >= 40
    page = open_page(FIRST)
    open_search(page)
    wrong = []
    for wanted in QUERIES:
        found = ask(page, wanted["query"])
        address, _, section = found[0].partition("#") if found else ("nothing", "", "")
        if address != wanted["page"] + ".html" or wanted.get("section", section) != section:
            wrong.append(f"{wanted['query']}: {found[:1]}")
    assert not wrong, "\n".join(wrong)
    assert page.errors == [] and page.outside == []


def test_both_spellings_find_the_same(open_page):
    page = open_page(FIRST)
    open_search(page)
    for british, american in (
        ("regularisation", "regularization"),
        ("nearest neighbour", "nearest neighbor"),
        ("generalise", "generalize"),
        ("behaviour", "behavior"),
    ):
        found = ask(page, british)
        assert found and found == ask(page, american)


def test_a_chapter_comes_before_the_reference_and_a_name_before_both(open_page):
    page = open_page(FIRST)
    open_search(page)
    found = ask(page, "baum welch")
    assert found[0].startswith("lectures/latent/hmm_alignment.html")
    assert any("/generated/api/" in address for address in found)
    assert ask(page, "baum_welch")[0].startswith("book/generated/api/latent/hmm.estimation.html#")


def test_typing_finds_what_is_not_finished_and_forgives_a_slip(open_page):
    page = open_page(FIRST)
    open_search(page)
    for typed in ("vite", "viterb", "viterbi", "vitrebi"):
        assert ask(page, typed)[0].startswith("lectures/latent/hmm_alignment.html"), typed
    assert ask(page, "qqqqqq") == []
    assert "Nothing found" in page.locator(f"{DIALOG} .search-status").inner_text()


def test_what_the_book_does_not_have_is_said_with_the_nearest(open_page):
    page = open_page(FIRST)
    open_search(page)
    for query, nearest in (("t-SNE", "unsupervised_feature_selection"), ("umap", "unsupervised_feature_selection")):
        found = ask(page, query)
        assert nearest in found[0] and len(found) <= 6, found
        assert f"Not in this book yet: {query}." in page.locator(f"{DIALOG} .search-status").inner_text()
        assert f"none is about {query} yet" in page.locator(f"{DIALOG} .search-absent").inner_text()
    found = ask(page, "blockchain")
    status = page.locator(f"{DIALOG} .search-status").inner_text()
    assert len(found) <= 5 and ("Not in this book: blockchain" in status or "Nothing found" in status)
    assert len(ask(page, "margin")) == 12 and "first 12" in page.locator(f"{DIALOG} .search-status").inner_text()


def test_a_result_names_its_section_and_shows_the_words(open_page):
    page = open_page(FIRST)
    open_search(page)
    ask(page, "free lunch")
    hit = page.locator(f"{DIALOG} .search-results a").first
    assert "No free lunch" in hit.locator(".search-name").inner_text()
    assert "Empirical risk minimisation" in hit.locator(".search-where").inner_text()
    ask(page, "reject option")
    marked = page.locator(f"{DIALOG} .search-snippet mark").all_inner_texts()
    assert {"reject", "option"} <= {word.casefold() for word in marked}


def test_nothing_of_search_is_loaded_before_it_is_used(new_context, site):
    page = new_context().new_page()
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto((site / FIRST).as_uri())
    page.wait_for_load_state("networkidle")
    parts = ("search_index/", "minisearch", "search/engine", "search/box", "searchindex.js", "searchtools.js")
    assert [url for url in requested if any(part in url for part in parts)] == []
    open_search(page)
    page.wait_for_selector(f"{DIALOG} form[data-ready=yes]")
    assert any("search_index/kernels.js" in url for url in requested)
    page.close()


def test_the_index_stays_light_at_ninety_chapters(site):
    """What a chapter adds in all places, its reference and data sets included, times ninety."""
    total = sum(path.stat().st_size for path in (site / "_static" / "search_index").glob("*.js"))
    assert total / len(chapters()) * 90 <= AT_NINETY
    assert not (site / "searchindex.js").exists()


def test_keyboard_alone(open_page):
    page = open_page(FIRST)
    open_search(page)
    ask(page, "viterbi")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    focused = "document.activeElement === document.querySelectorAll('.search-results a')[{}]"
    assert page.evaluate(focused.format(1))
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused.format(0))
    page.keyboard.press("Enter")
    page.wait_for_url("**/hmm_alignment.html*")


def test_escape_closes_and_the_focus_returns(open_page):
    page = open_page(FIRST)
    button = page.locator(".bd-sidebar-primary .search-button__button")
    button.click()
    page.wait_for_selector(f"{DIALOG}[open] input:focus")
    ask(page, "margin")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    page.wait_for_selector(f"{DIALOG}:not([open])", state="attached")
    page.wait_for_function("b => b === document.activeElement", arg=button.element_handle())


def test_a_result_on_the_same_page_is_shown(open_page):
    page = open_page(FIRST)
    open_search(page)
    ask(page, "reject option")
    page.locator(f"{DIALOG} .search-results a").first.click()
    page.wait_for_selector("#the-right-to-remain-silent:target")
    assert not page.locator(DIALOG).evaluate("dialog => dialog.open")


def test_search_page_answers_its_address_and_typing(open_page):
    page = open_page("search.html")
    page.goto(page.url + "?q=graphical+lasso")
    page.wait_for_selector(".bd-search-container form[data-ready=yes]")
    first = page.locator(".bd-search-container .search-results a").first
    assert "quic_graphical_lasso" in first.get_attribute("href")
    assert ask(page, "topic model", ".bd-search-container")[0].startswith("lectures/latent/tensor_decompositions.html")
    assert "q=topic+model" in page.url
    assert page.errors == []


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_dialog_is_accessible_and_fits(open_page, width, mode):
    page = open_page(FIRST, width=width, height=844, mode=mode)
    page.locator(".search-button__button:visible").first.click()
    ask(page, "kernel trick")
    fits = "e => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth && r.width > 300; }"
    assert page.locator(DIALOG).evaluate(fits)
    # The magnifier stands before the text, not on its first letter.
    gap = page.evaluate(
        """() => { const input = document.querySelector('#pst-search-dialog input');
             const box = input.getBoundingClientRect();
             const icon = document.querySelector('#pst-search-dialog .fa-magnifying-glass').getBoundingClientRect();
             return box.left + parseFloat(getComputedStyle(input).paddingLeft) - icon.right; }"""
    )
    assert gap >= 4
    page.evaluate(AXE)
    result = page.evaluate("axe.run('#pst-search-dialog', {resultTypes: ['violations']})")
    assert [broken["id"] for broken in result["violations"] if broken["impact"] in ("serious", "critical")] == []
