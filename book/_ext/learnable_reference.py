"""What autodoc leaves to us: docstrings are taken as they are written, and names in them become links.

Docstrings are written to be read in a terminal: |x|, w_j and x* mean what they say, and only code, roles and *words*
are marked. So everything else is taken literally before reStructuredText sees it.

A docstring may name anything of the package in any of the ways in which people write it: by its full path, by the path
of a chapter that re-exports it, or bare, as in its own module (`tools.site.api_pages.find`). A name in single backticks
links if it is one of the package; it may also be a parameter. What is marked as a reference and is none fails the
build.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.ext import autosummary
from sphinx.util.nodes import make_refnode

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools.site import api_pages  # noqa: E402

MARKED = re.compile(r"(:[\w:]+:`[^`]+`|``[^`]+``|`[^`]+`|(?<![\w*])\*\w(?:[^*\n]*\w)?\*(?![\w*]))")
LINES = re.compile(r'<span class="sig-paren">\(</span>\s*<dl>.*?</dl>', re.S)
OTHERS = ("numpy.", "scipy.", "sklearn.")  # named in full, and documented elsewhere: the book needs no network
BULLET = re.compile(r"(\s*(?:[*-] )?)(.*)")
FIELD = re.compile(r"\s*[\w*]+(, [\w*]+)*( : .*)?")  # the head of a parameter, which napoleon escapes


def link(app, env, node, contnode):
    """Resolve a reference to the package that Sphinx does not find under the name that it is documented by."""
    if node.get("refdomain") != "py":
        return None
    target, module = node["reftarget"], node.get("py:module") or ""
    if target.startswith(OTHERS):
        return contnode
    owner, _, method = target.rpartition(".")
    for name, suffix in ((target, ""), (owner, f".{method}")):
        entry = api_pages.find(name, module) if name else None
        if entry is not None:
            anchor = f"{entry.label}{suffix}"
            return make_refnode(app.builder, node["refdoc"], entry.document, anchor, contnode, anchor)
    return None


def relative(app, doctree):
    """Read ``:mod:`.dirichlet``` as Python reads a relative import; Sphinx would look for any name with that end."""
    for node in doctree.findall(addnodes.pending_xref):
        if node.get("refdomain") == "py" and node.get("refspecific"):
            found = nearest(node["reftarget"], node.get("py:module") or "")
            if found:
                node["reftarget"], node["refspecific"] = found, False


def nearest(target, module):
    """The full path of a name, looked for in a module and then in the packages around it; None if there is none."""
    while module:
        if api_pages.resolve(f"{module}.{target}") is not None:
            return f"{module}.{target}"
        module = module.rpartition(".")[0]
    return None


def name_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """Single backticks: a link where the text is a name of the package, else code."""
    code = nodes.literal(rawtext, text, classes=["py", "py-obj"])
    env = inliner.document.settings.env
    module = env.ref_context.get("py:module") or ""
    if api_pages.find(text.removeprefix("~"), module) is None:
        return [code], []
    found = addnodes.pending_xref(
        rawtext, code, refdomain="py", reftype="obj", reftarget=text, refdoc=env.docname, refwarn=True
    )
    found["py:module"] = module
    return [found], []


def escape(app, what, name, obj, options, lines):
    """Take a docstring literally, except for what is marked; examples and indented code stay as they are."""
    code = None  # the indentation of the line that opened a literal block or a directive
    example = False
    for number, line in enumerate(lines):
        depth, text = len(line) - len(line.lstrip()), line.strip()
        if code is not None and text and depth <= code:
            code = None
        example = bool(text) and (example or text.startswith(">>>"))
        if code is not None or example:
            continue
        if text.startswith("..") or text.endswith("::"):
            code = depth
        if not text.startswith("..") and not FIELD.fullmatch(line):
            bullet, rest = BULLET.match(line).groups()
            lines[number] = bullet + "".join(_literal(part) for part in MARKED.split(rest))


def _literal(text):
    return text if MARKED.fullmatch(text) else re.sub(r"[\\|*]|_(?!\w)", r"\\\g<0>", text)


def skip(app, what, name, obj, skipped, options):
    """Document what the package defines; scikit-learn documents what it gives to every estimator."""
    home = getattr(getattr(obj, "fget", None) or obj, "__module__", None)
    return True if home is None or not home.startswith("learnable") else None


def plain_signatures(app, page, template, context, doctree):
    """The lines of a long signature: Sphinx makes a list of definitions of them, without anything defined."""
    if context.get("body"):
        context["body"] = LINES.sub(lambda match: _as_lines(match[0]), context["body"])


def _as_lines(text):
    text = text.replace("<dl>", '<span class="sig-lines">').replace("</dl>", "</span>")
    return text.replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")


def setup(app):
    app.setup_extension("sphinx.ext.autosummary")
    autosummary.WELL_KNOWN_ABBREVIATIONS += ("Sec.", "Prop.", "Alg.", "Eq.", "Thm.", "Ch.")  # end no sentence
    app.add_role("name", name_role)
    app.connect("doctree-read", relative)
    app.connect("missing-reference", link)
    app.connect("autodoc-process-docstring", escape, priority=100)  # before napoleon
    app.connect("autodoc-skip-member", skip)
    app.connect("html-page-context", plain_signatures)
    # What a name links to is no dependency that Sphinx knows.
    state = int(hashlib.sha256(Path(api_pages.__file__).read_bytes()).hexdigest()[:8], 16)
    return {"version": "1", "env_version": state, "parallel_read_safe": True, "parallel_write_safe": True}
