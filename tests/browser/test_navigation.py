"""The two menus, at the widths of a phone, a tablet and a desktop, by pointer and by keyboard."""

import pytest

pytestmark = pytest.mark.browser
FIRST = "lectures/foundations/bayes_decision_theory.html"
WIDTHS = (390, 800, 1400)
NEXT = "a[href$='vc_theory.html']"


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
    assert dialog.evaluate("d => d.open && d.contains(document.activeElement)"), "the focus is in the drawer"
    page.keyboard.press("Escape")
    inside.wait_for(state="hidden")
    assert button.evaluate("b => b === document.activeElement"), "the focus is back on the button"
    assert button.get_attribute("aria-expanded") == "false"


@pytest.mark.parametrize("width", WIDTHS)
def test_menu_buttons_have_names(open_page, width):
    page = open_page(FIRST, width=width, height=844)
    assert page.locator("button.primary-toggle:visible").get_attribute("aria-label") == "Contents of the book"
    if width < 1200:
        assert page.locator("button.secondary-toggle:visible").get_attribute("aria-label") == "On this page"
