"""What one visit of a page shows: each aspect is a function of an open page that returns what is wrong with it.

A page is opened once at desktop width and once at phone width, and everything is looked at in that one visit. The
aspects stand in an order in which none spoils the next: the barriers come last, because they take formulas away first.
"""

import itertools
from pathlib import Path

import axe_playwright_python

from tools.project import ROOT, chapters, toc_documents

CHAPTERS = chapters()
LECTURES = [f"{chapter.docname}.html" for chapter in CHAPTERS]
API = ROOT / "book" / "generated" / "api"


def longest(paths):
    """The page of the reference with the longest name."""
    path = max(paths, key=lambda path: (len(path.stem), path.stem))
    return path.relative_to(ROOT).with_suffix(".html").as_posix()


# Of the concepts of each part one page, and one of the estimators.
NAMED = [longest(folder.glob("*.rst")) for folder in sorted(API.glob("*/"))]
NAMED.append(longest(path for path in API.glob("*/*.rst") if path.stem[0].isupper()))
PAGES = [f"{document}.html" for document in toc_documents()] + NAMED
# Pages of the reference are made by one function: one of each kind is looked at in full.
SAMPLE = ("/index.html", "/linear.html", "/estimators.html", *NAMED[-2:])
BRIEF = [page for page in PAGES if "/generated/api/" in page and not page.endswith(SAMPLE)]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

# A page under test does not move: colours that fade would be read halfway.
STILL = """
const still = new CSSStyleSheet();
still.replaceSync(`*, *::before, *::after {
  transition: none !important; animation: none !important; scroll-behavior: auto !important; }`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, still];
"""
TYPESET = """async () => {
  await MathJax.startup.promise;
  await MathJax.startup.document.lazyTypesetAll();
}"""


def typeset(page):
    """Typeset all formulas: by itself, a page does so as they come into view."""
    if page.locator(".math").count():
        page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
        page.evaluate(TYPESET)


def switch(page, mode):
    """Let the system ask for light or dark, and wait until the page has followed."""
    page.emulate_media(color_scheme=mode)
    page.wait_for_function("mode => document.documentElement.dataset.theme === mode", arg=mode)


def findings(page, aspects):
    """Everything that is wrong, each with the name of its aspect; an aspect that breaks off is a finding as well."""
    found = []
    for aspect in aspects:
        try:
            found += [f"{aspect.__name__}: {problem}" for problem in aspect(page)]
        except Exception as error:
            found.append(f"{aspect.__name__}: {type(error).__name__}: {error}")
    return found


def frame(page):
    """Language, one title, a text for every picture."""
    if (language := page.evaluate("document.documentElement.lang")) != "en":
        yield f"the language is {language!r}"
    if (titles := page.locator(".bd-article h1").count()) != 1:
        yield f"{titles} titles"
    nameless = page.locator("img:not([alt]), .bd-article img[alt='']").count()
    if nameless:
        yield f"{nameless} images without alternative text"


def headings(page):
    """The first heading is the title, and no level is skipped."""
    levels = page.evaluate("[...document.querySelectorAll('.bd-article :is(h1,h2,h3,h4,h5)')].map(h => +h.tagName[1])")
    if levels[:1] != [1]:
        yield f"begins with level {levels[:1]}"
    for above, below in itertools.pairwise(levels):
        if below > above + 1:
            yield f"level {below} follows level {above}"


def formulas(page):
    """All are rendered, without an error, and none needs scrolling on a desktop."""
    typeset(page)
    unrendered = page.locator(".math").filter(has_not=page.locator("mjx-container")).count()
    if unrendered:
        yield f"{unrendered} were not rendered"
    if errors := page.locator("mjx-merror, [data-mjx-error]").count():
        yield f"{errors} have an error"
    yield from page.evaluate(
        """() => [...document.querySelectorAll('mjx-container[display="true"]')]
                .filter(e => e.scrollWidth > e.clientWidth + 2)
                .map(e => 'too wide: ' + (e.closest('.math')?.id || e.innerText))"""
    )


def explorer(page):
    """The first explorer moves by keyboard and by pointer; picture, text and names follow."""
    box = page.locator(".explorer").first
    box.scroll_into_view_if_needed()
    page.locator(".explorer").first.and_(page.locator("[data-ready=yes]")).wait_for()
    slider, picture, text = box.locator("input").first, box.locator("img"), box.locator(".explorer-text")

    def state():
        return picture.get_attribute("src"), text.text_content(), slider.input_value()

    before = state()
    slider.focus()
    page.keyboard.press("ArrowRight" if slider.input_value() != slider.get_attribute("max") else "ArrowLeft")
    after = state()
    for name, old, new in zip(("picture", "text", "slider"), before, after, strict=True):
        if old == new:
            yield f"an arrow key does not change the {name}"
    if picture.get_attribute("alt") != after[1]:
        yield "the picture's alternative text is not the text below it"
    if slider.get_attribute("aria-valuetext") != box.locator("output").first.text_content():
        yield "the slider is read aloud as something else than it shows"
    slider.click(position={"x": 6, "y": slider.bounding_box()["height"] / 2})
    if slider.input_value() != "0" or picture.get_attribute("src") == after[0]:
        yield "a click at the left end does not go there"


# axe's time grows with the square of the elements. What MathJax makes of a formula goes, code keeps one word of each
# colour, and of siblings that are built and styled alike the first few stay, and the last: the others could only be
# wrong in the same way. Whether a link, a button, a field or a picture has a name is part of how it is built.
THIN = """kept => {
  document.querySelectorAll('mjx-container').forEach(e => e.remove());
  const seen = new Set();
  for (const word of document.querySelectorAll('.highlight pre span[class]')) {
    if (seen.has(word.className)) word.replaceWith(word.textContent); else seen.add(word.className);
  }
  const named = e => !e.matches('a, button, input, select, summary, img, svg, [role]')
    || Boolean(e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('alt') || e.title
      || e.labels?.length);
  const builds = new Map();
  const build = e => {
    let told = builds.get(e);
    if (told === undefined) {
      const parts = [...new Set([...e.children].map(build))].sort();
      told = [e.tagName, e.getAttribute('class'), e.getAttribute('style'), named(e), `(${parts})`].join();
      builds.set(e, told);
    }
    return told;
  };
  const thin = parent => {
    const counts = new Map();
    for (const child of [...parent.children]) {
      const count = (counts.get(build(child)) || 0) + 1;
      counts.set(build(child), count);
      if (count > kept && child.nextElementSibling) child.remove(); else thin(child);
    }
  };
  thin(document.body);
}"""
ALIKE = 6  # siblings that stay: rows are striped, first and second ones are special
# The contrast of a text follows from what it stands in: two of each kind are enough. The others go, after everything
# but the contrast has been looked at.
HUSH = """() => {
  const paths = new Map([[document.body, '']]), counts = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, above = paths.get(node.parentElement);
    if (node.nodeType === Node.ELEMENT_NODE) {
      const turn = node.tagName === 'TR' ? node.rowIndex % 2 : '';
      paths.set(node, [above, node.tagName, node.className, node.getAttribute('style'), turn].join('|'));
    } else if (node.nodeValue.trim()) {
      const count = (counts.get(above) || 0) + 1;
      counts.set(above, count);
      if (count > 2) node.nodeValue = '';
    }
  }
  for (const element of [...paths.keys()].slice(1)) {
    if (element.isConnected && !element.textContent.trim() && !element.closest('svg')) element.remove();
  }
}"""


def barriers(page):
    """axe-core finds nothing serious or critical in light, and no poor contrast in either mode."""
    page.evaluate(THIN, ALIKE)
    page.evaluate(AXE)
    yield from _violations(page, "light", {"rules": {"color-contrast": {"enabled": False}}})
    page.evaluate(HUSH)
    for mode in ("light", "dark"):
        yield from _violations(page, mode, {"runOnly": ["color-contrast"]})


def _violations(page, mode, rules):
    switch(page, mode)
    if moving := page.evaluate("document.getAnimations().length"):
        yield f"{moving} elements still move in {mode} mode, so that colours cannot be read"
    options = {"resultTypes": ["violations"], "preload": False, **rules}
    for broken in page.evaluate("options => axe.run(document, options)", options)["violations"]:
        if broken["impact"] in ("serious", "critical"):
            yield f"{broken['id']} in {mode} mode at {[node['target'] for node in broken['nodes'][:3]]}"


def sideways(page):
    """In both modes nothing reaches beyond a phone's screen, except inside what scrolls by itself."""
    typeset(page)
    for mode in ("light", "dark"):
        switch(page, mode)
        for wide in page.evaluate(
            """width => [...document.querySelectorAll('.bd-article *')].filter(e => {
                const r = e.getBoundingClientRect();
                if (r.right <= width + 1 || !r.width || getComputedStyle(e).position === 'absolute') return false;
                for (let p = e; p; p = p.parentElement)
                  if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
                return true;
              }).slice(0, 5).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 60))""",
            PHONE["width"],
        ):
            yield f"{mode}: {wide} is too wide"
        if (width := page.evaluate("document.documentElement.scrollWidth")) > PHONE["width"]:
            yield f"{mode}: the page is {width} pixels wide"


def quiet(page):
    """Neither an error in the console nor a request that leaves the machine."""
    yield from (f"console: {text}" for text in page.errors)
    yield from (f"asked for {address}" for address in page.outside)


def desktop_aspects(name):
    """What is looked at on a page, in this order."""
    aspects = [frame, headings, formulas]
    if name in LECTURES:
        aspects.append(explorer)
    aspects.append(quiet)  # before the page is taken apart: its scripts may miss what is gone
    if name not in BRIEF:
        aspects.append(barriers)
    return aspects


def phone_aspects(name):
    return [sideways, quiet]
