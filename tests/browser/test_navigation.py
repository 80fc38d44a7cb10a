"""The two menus, at the widths of a phone, a tablet and a desktop, by pointer and by keyboard."""

import pytest
from visits import LECTURES, typeset

pytestmark = pytest.mark.browser
FIRST = "lectures/foundations/bayes_decision_theory.html"
LAST = LECTURES[-1]
WIDTHS = (390, 800, 1400)
NEXT = "a[href$='vc_theory.html']"
WIDE = "lectures/kernels/svm_regularization_path.html"


def drawer(page, name):
    """The button of a menu and the place where its links are while it is open."""
    return page.locator(f"button.{name}-toggle:visible"), page.locator(f".bd-sidebar-{name}")


@pytest.mark.parametrize("width", WIDTHS)
def test_contents_open_and_lead_to_another_chapter(open_page, width):
    page = open_page(FIRST, width=width, height=844)
    button, contents = drawer(page, "primary")
    if width >= 992:  # the contents stand open; the button folds them and brings them back
        assert button.get_attribute("aria-expanded") == "true"
        button.click()
        contents.wait_for(state="hidden")
        assert button.get_attribute("aria-expanded") == "false"
    else:
        assert contents.is_hidden() and button.get_attribute("aria-expanded") == "false"
    button.click()
    contents.wait_for(state="visible")
    assert button.get_attribute("aria-expanded") == "true"
    link = contents.locator(NEXT)
    link.scroll_into_view_if_needed()
    assert link.evaluate("a => { const r = a.getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth; }")
    link.click()
    page.wait_for_url("**/vc_theory.html")
    assert page.errors == []


@pytest.mark.parametrize("width", WIDTHS)
def test_on_this_page_opens_and_leads_to_a_section(open_page, width):
    page = open_page(FIRST, width=width, height=844)
    button, sections = drawer(page, "secondary")
    if width < 1200:
        assert sections.is_hidden()
        button.click()
        assert button.get_attribute("aria-expanded") == "true"
    sections.wait_for(state="visible")
    sections.locator("a[href='#the-right-to-remain-silent']").click()
    page.wait_for_selector("#the-right-to-remain-silent:target")
    heading = page.locator("#the-right-to-remain-silent > h2")
    page.wait_for_function(
        "h => { const r = h.getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight / 2; }",
        arg=heading.element_handle(),
    )
    if width < 1200:  # the drawer is out of the way
        assert sections.is_hidden() and button.get_attribute("aria-expanded") == "false"
    assert page.errors == []


@pytest.mark.parametrize("name", ["primary", "secondary"])
@pytest.mark.parametrize("width", [390, 800])
def test_drawers_by_keyboard(open_page, width, name):
    page = open_page(FIRST, width=width, height=844)
    button, inside = drawer(page, name)
    button.focus()
    page.keyboard.press("Enter")
    inside.wait_for(state="visible")
    dialog = page.locator(f"#pst-{name}-sidebar-modal")
    page.keyboard.press("Tab")
    # The focus moves when the browser comes to it: into the drawer, and back on the button.
    page.wait_for_function("d => d.open && d.contains(document.activeElement)", arg=dialog.element_handle())
    page.keyboard.press("Escape")
    inside.wait_for(state="hidden")
    back = "b => b === document.activeElement && b.getAttribute('aria-expanded') === 'false'"
    page.wait_for_function(back, arg=button.element_handle())


@pytest.mark.parametrize("width", WIDTHS)
def test_menu_buttons_have_names(open_page, width):
    page = open_page(FIRST, width=width, height=844)
    assert page.locator("button.primary-toggle:visible").get_attribute("aria-label") == "Contents of the book"
    if width < 1200:
        assert page.locator("button.secondary-toggle:visible").get_attribute("aria-label") == "On this page"


def test_the_drawer_opens_where_the_reader_is(open_page):
    page = open_page(LAST, width=390, height=600)
    button, contents = drawer(page, "primary")
    button.click()
    contents.wait_for(state="visible")
    page.wait_for_function(
        """() => { const r = document.querySelector('.bd-sidebar-primary a.current').getBoundingClientRect();
                  return r.top >= 0 && r.bottom <= innerHeight; }"""
    )


@pytest.mark.parametrize("name", ["genindex.html", "prf-prf.html", "search.html"])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_pages_outside_the_contents_fit_a_phone(open_page, name, mode):
    """The pages of the contents are tried in test_book.py."""
    page = open_page(name, width=390, height=844, mode=mode)
    assert page.locator("h1").count() >= 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.errors == []


SCROLLERS = """() => [...document.querySelectorAll('.figure-scroll, div.math mjx-container[display=true]')].map(e => ({
    wide: e.scrollWidth > e.clientWidth + 1, stop: e.tabIndex === 0, name: e.getAttribute('aria-label'),
    shaded: getComputedStyle(e).backgroundImage.split('linear-gradient').length > 4}))"""


def test_what_is_cut_on_a_phone_shows_it_and_scrolls_by_keyboard(open_page):
    page = open_page(WIDE, width=390, height=844)
    typeset(page)
    page.wait_for_function(f"({SCROLLERS})().every(e => e.wide === e.stop)")
    found = page.evaluate(SCROLLERS)
    wide = [scroller for scroller in found if scroller["wide"]]
    assert len(wide) >= 5 and all(scroller["shaded"] and scroller["name"] for scroller in wide)
    formula = page.locator("div.math mjx-container[tabindex='0']").first
    formula.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("e => e.scrollLeft > 0", arg=formula.element_handle())
    desk = open_page(WIDE, width=1400)
    typeset(desk)
    assert not any(scroller["wide"] or scroller["stop"] for scroller in desk.evaluate(SCROLLERS))


def test_ticks_of_figures_are_legible_on_a_phone(open_page):
    """Figures are drawn with text of 10.5 points at 100 dots an inch: 14.6 pixels, of which nine must be left."""
    page = open_page(WIDE, width=390, height=844)
    scales = page.locator("img.figure-image, img.explorer-picture").evaluate_all(
        "all => all.map(i => i.clientWidth / +i.getAttribute('width'))"
    )
    assert len(scales) >= 5 and min(scales) * 10.5 / 72 * 100 >= 9


def test_long_names_break_between_their_words(open_page):
    page = open_page("book/generated/api/features/variable_elimination.schedule.html", width=390, height=844)
    name = page.locator("dl.py > dt .pre", has_text="learnable.features.variable_elimination").first
    assert name.locator("wbr").count() >= 3
    assert "anywhere" not in name.evaluate("e => getComputedStyle(e).overflowWrap + getComputedStyle(e).wordBreak")
    index = open_page("genindex.html", width=390, height=844)
    assert index.locator(".genindextable wbr").count() > 100


def test_no_page_of_the_reference_is_endless(open_page, site):
    """The largest ones, with everything on them laid out, on a phone."""
    pages = sorted((site / "book/generated/api").rglob("*.html"), key=lambda path: -path.stat().st_size)
    assert len(pages) > 100
    for path in pages[:5]:
        page = open_page(path.relative_to(site).as_posix(), width=390, height=844)
        page.add_style_tag(content="* { content-visibility: visible !important; }")
        assert page.evaluate("document.documentElement.scrollHeight") <= 20_000, path.name


def test_long_generated_pages_lay_out_what_is_near(open_page):
    """At ninety chapters these pages have tens of thousands of elements; a link into them still arrives."""
    page = open_page("book/generated/benchmarks.html")
    far = page.locator(".bd-article > section > section").last
    assert far.evaluate("e => getComputedStyle(e).contentVisibility") == "auto"
    name = far.get_attribute("id")
    page.evaluate("id => { location.hash = id; }", name)
    page.wait_for_function(
        "e => { const r = e.getBoundingClientRect(); return r.top < innerHeight && r.bottom > 0; }",
        arg=far.element_handle(),
    )
