"""The contents at the left of every page, resolved once for the whole site.

The theme resolves the table of contents anew for each page, so its time grows with the square of their number. Here it
is resolved once, as seen from the root of the site; a page then has only its own links and its own place filled in.
"""

from __future__ import annotations

import re

from bs4 import BeautifulSoup
from pydata_sphinx_theme.toctree import add_collapse_checkboxes
from sphinx.environment.adapters.toctree import global_toctree_for_doc

NOWHERE = "search"  # a page at the root of the site that the contents do not list
SLOT = re.compile("\0(up|branch|leaf|open) ?([^\0]*)\0")


class Contents:
    """The contents as HTML with slots: where links begin, and what is marked on the way to the current page."""

    def __init__(self, fragment, get_uri):
        self._get_uri = get_uri
        soup = BeautifulSoup(fragment, "html.parser")
        for ul in soup("ul", recursive=False):
            ul["class"] = [*ul.get("class", []), "nav", "bd-sidenav"]
        add_collapse_checkboxes(soup)
        for item in soup("li"):
            link, inner = item.find("a"), item.find("details", recursive=False)
            address = link["href"]
            item["class"] = " ".join(item["class"]) + f"\0branch {address}\0"
            link["class"] = " ".join(link["class"]) + f"\0leaf {address}\0"
            link["href"] = f"\0up {address}\0"
            if inner is not None:
                inner[f"\0open {address}\0"] = ""
        # An attribute is there or not, which the soup cannot say of one that a page decides.
        self._html = re.sub(' (\0open [^\0]*\0)=""', r"\1", str(soup))

    def render(self, page, ancestors):
        """The contents as they stand at the left of ``page``; ``ancestors`` are the documents above it."""
        here = self._get_uri(page)
        branch = {here, *map(self._get_uri, ancestors)}
        up = "../" * here.count("/")

        def fill(match):
            kind, address = match.groups()
            if kind == "up":
                return "#" if address == here else up + address
            if kind == "leaf":
                return " current" if address == here else ""
            if address not in branch:
                return ""
            return " current active" if kind == "branch" else ' open="open"'

        return SLOT.sub(fill, self._html)


def ancestors(env, page):
    """The documents in whose contents a page stands, from the nearest on."""
    parents = {child: parent for parent, children in env.toctree_includes.items() for child in children}
    found = []
    while page in parents and parents[page] not in found:
        page = parents[page]
        found.append(page)
    return found


def offer(app, page, template, context, doctree):
    """Give the template of the sidebar its contents."""
    if not hasattr(app, "learnable_contents"):
        depth = int(app.config.html_theme_options["max_navbar_depth"])
        tree = global_toctree_for_doc(
            app.env, NOWHERE, app.builder, includehidden=True, maxdepth=depth, titles_only=True
        )
        app.learnable_contents = Contents(app.builder.render_partial(tree)["fragment"], app.builder.get_target_uri)
    context["contents"] = app.learnable_contents.render(page, ancestors(app.env, page))


def setup(app):
    app.connect("html-page-context", offer, priority=400)  # before the theme looks which of its templates are empty
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
