"""The book's ways: what links its pages with each other.

- reads the citations and the references to figures that lectures hold as links (`tools.site.references`);
- numbers the chapters in the order of the table of contents, through all parts;
- prints the way on under each chapter and refresher: reading paths, rooms, neighbours (`tools.site.read_next`).
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools.project import toc_documents  # noqa: E402
from tools.site import maps, paths_page, read_next, references  # noqa: E402


def read_references(app, docname, source):
    """Give Sphinx roles where a notebook has the links that JupyterLab shows."""
    if Path(app.env.doc2path(docname)).suffix == ".ipynb":
        source[0] = references.notebook_as_roles(source[0])


def order_parts(app, env):
    """Chapters are numbered through all parts: here the environment's set of parts becomes a list, in their order."""
    order = {name: number for number, name in enumerate(toc_documents(ROOT))}
    env.tocs = dict(sorted(env.tocs.items(), key=lambda item: order.get(item[0], len(order))))
    env.numbered_toctrees = [name for name in env.tocs if name in env.numbered_toctrees]
    return []


def forget_order(app, env):
    """The environment adds to a set, and removes from it."""
    env.numbered_toctrees = set(env.numbered_toctrees)
    return []


def way_on(app, page, template, context, doctree):
    if context.get("body"):
        context["body"] += read_next.render(page, context["pathto"])


def setup(app):
    app.connect("source-read", read_references)
    app.connect("env-get-updated", order_parts, priority=100)
    app.connect("env-get-updated", forget_order, priority=900)
    app.connect("html-page-context", way_on, priority=400)
    app.add_css_file("ways.css", priority=900)  # after learnable.css
    app.add_js_file("ways.js", defer="defer")
    # What stands under every page is no dependency that Sphinx knows: a change makes all of them again.
    shared = [Path(module.__file__) for module in (maps, paths_page, references, read_next)]
    shared += [ROOT / "book" / "data" / "paths.yml", ROOT / "_toc.yml"]
    state = int(hashlib.sha256(b"".join(path.read_bytes() for path in shared)).hexdigest()[:8], 16)
    return {"version": "1", "env_version": state, "parallel_read_safe": True, "parallel_write_safe": True}
