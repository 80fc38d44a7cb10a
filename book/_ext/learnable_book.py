"""The book's own Sphinx extension.

- reads a chapter again when a module, a data file or a pin that it depends on has changed (`tools.run.dependencies`);
- gives code-made figures the alternative text and the caption that the cell states (`learnable.book.show`);
- lets long names break after dots and underscores, and wide figures scroll on a phone;
- moves the frames of explorers out of the page, into scripts that are loaded when the explorer comes into view;
- prints a line under each chapter's title: reading time, prerequisites, source, exercise;
- prints under each chapter what it calls, how to cite it, how to report an error;
- says under "Use it tomorrow", in the reference and on the opening page how to install the package from the site;
- bundles MathJax and leaves out scripts that would need a network, so that the book works with none;
- shows repository links and launch buttons only once the repository has an address.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import sys
from pathlib import Path

from docutils import nodes
from myst_nb.core import render
from sphinx.errors import ExtensionError
from sphinx.util.fileutil import copy_asset

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from learnable._html import render as render_template  # noqa: E402
from learnable.exercises.wheels import large_sets_in  # noqa: E402
from tools.project import chapters, executable_pages, settings  # noqa: E402
from tools.run.build_book import WHEELS  # noqa: E402
from tools.run.dependencies import shared_dependencies  # noqa: E402
from tools.site import TEMPLATES  # noqa: E402
from tools.site.chapter_end import render as render_chapter_end  # noqa: E402
from tools.site.pages import report_url  # noqa: E402

MATHJAX = ("tex-chtml.js", "ui/lazy.js", "output/chtml/fonts", "input/tex/extensions")
EXPLORER_DATA = re.compile(r'<script type="application/json" class="explorer-data">(.*?)</script>', re.S)
FIGURE = re.compile(r"<img (?=[^>]*size-(\d+)x(\d+))([^>]*>)")
EXPLORER = re.compile(r'<img class="explorer-picture" width="(\d+)"[^>]*>')
NAME = re.compile(r'(?<=<span class="pre">)[^<]+(?=</span>)')
INDEX_NAME = re.compile(r"(?<=>)[^<>\s]+[._][^<>]*(?=<)")
INDICES = ("genindex.html", "prf-prf.html")
TITLE_END = re.compile(r"</h1>", re.S)
TOMORROW_END = re.compile(r"<h2>(?:<span[^>]*>[^<]*</span>)?Use it tomorrow.*?</h2>", re.S)
OPENING_END = re.compile(r'(?=<div class="sd-container-fluid)')
BROUGHT = {"learnable", "numpy", "scipy", "sklearn", "numba", "joblib", "tqdm"}  # what comes with the package
INSTALL_AFTER = {"book/intro": OPENING_END, "book/generated/api/index": TITLE_END}


def set_options(app, config):
    """MathJax from the site itself; repository buttons where there is a repository."""
    config.mathjax_path = "mathjax/tex-chtml.js"
    options = config.html_theme_options
    address = settings()["repository"]
    for key in ("repository_url", "repository_branch", "path_to_docs"):
        options.pop(key, None)
    if address:
        options |= {
            "repository_url": address,
            "repository_branch": settings()["branch"],
            "use_repository_button": True,
            "use_issues_button": True,
            "launch_buttons": {
                "notebook_interface": "jupyterlab",
                "binderhub_url": "https://mybinder.org",
                "colab_url": "https://colab.research.google.com",
            },
        }
    else:
        options |= {"use_repository_button": False, "use_issues_button": False, "launch_buttons": {}}
    config.html_context = {**(config.html_context or {}), "default_mode": "auto"}


def outdated(app, env, added, changed, removed):
    """Documents whose outputs depend on something that has changed since they were read."""
    dependencies = shared_dependencies()
    now = {str(p.relative_to(ROOT).with_suffix("")): dependencies.digest(p) for p in executable_pages()}
    before = getattr(env, "learnable_digests", {})
    env.learnable_digests = now
    return [doc for doc, digest in now.items() if doc in env.all_docs and before.get(doc) != digest]


_render_image = render.NbElementRenderer.render_image


def render_image(self, data):
    """Render a figure with the alternative text, and as a numbered figure where it has a caption."""
    rendered = _render_image(self, data)
    options = data.output_metadata.get(data.mime_type, {})
    image = rendered[0]
    if options.get("alt"):
        image["alt"] = options["alt"]
    else:
        self.logger.warning("a figure without alternative text: use learnable.book.show(fig, alt=...)", line=data.line)
    # The size goes into attributes later (`reserve_space`): a style would not keep the place of a lazy image.
    size = f"size-{options.get('width', 0)}x{options.get('height', 0)}"
    image["classes"] = [*image.get("classes", []), "figure-image", size]
    for key in ("width", "height"):
        image.attributes.pop(key, None)
    image["loading"] = "lazy"
    if not options.get("caption"):
        return rendered
    figure = nodes.figure("", image)
    self.renderer.add_line_and_source_path(figure, data)
    holder = nodes.Element()
    with self.renderer.current_node_context(holder):
        self.renderer.nested_render_text(options["caption"], data.line or 0)
    figure += nodes.caption("", "", *holder.children[0].children)
    if options.get("name"):
        name = nodes.fully_normalize_name(options["name"])
        figure["names"].append(name)
        self.renderer.document.note_explicit_target(figure, figure)
    return [figure]


def reserve_space(app, page, template, context, doctree):
    """Give code-made figures their width and height, so that the page does not jump, and a box to scroll in.

    The pictures of explorers know their size and get the box only.
    """
    if context.get("body"):
        context["body"] = EXPLORER.sub(
            r'<span class="figure-scroll" style="--width: \1px">\g<0></span>', context["body"]
        )
        sized = r'<span class="figure-scroll" style="--width: \1px"><img width="\1" height="\2" \3</span>'
        context["body"] = FIGURE.sub(sized, context["body"])


def breakable(match):
    """A name that may break after its dots, underscores and slashes, and not in the middle of a word."""
    return re.sub(r"(?<=\w)([._/])(?=\w)", r"\1<wbr>", match[0])


def break_names(app, page, template, context, doctree):
    if context.get("body"):
        context["body"] = NAME.sub(breakable, context["body"])


def break_names_of_indices(app, failure):
    """The same for the pages that templates make, which no event shows as HTML."""
    if failure is not None or app.builder.format != "html":
        return
    for name in INDICES:
        path = Path(app.outdir) / name
        if path.exists():
            head, mark, article = path.read_text(encoding="utf-8").partition('<article class="bd-article">')
            article = INDEX_NAME.sub(breakable, article.replace("<wbr>", ""))
            path.write_text(head + mark + article, encoding="utf-8")


def split_explorers(app, page, template, context, doctree):
    """Put the frames of each explorer into a script of its own."""
    body = context.get("body")
    if not body or "explorer-data" not in body:
        return
    folder = Path(app.outdir) / "_static" / "explorers"
    folder.mkdir(parents=True, exist_ok=True)

    def move(match):
        payload = match[1]
        key = hashlib.sha256(payload.encode()).hexdigest()[:16]
        (folder / f"{key}.js").write_text(f'window.learnableExplorers["{key}"]({payload});', encoding="utf-8")
        source = context["pathto"](f"_static/explorers/{key}.js", resource=True)
        return f'<script type="application/json" class="explorer-data" data-key="{key}" data-src="{source}"></script>'

    context["body"] = EXPLORER_DATA.sub(move, body)


def chapter_line(app, page, template, context, doctree):
    """Reading time, prerequisites, source and exercise, under the chapter's title."""
    known = {chapter.docname: chapter for chapter in chapters()}
    if page not in known or not context.get("body"):
        return
    chapter = known[page]
    by_slug = {c.slug: c for c in known.values()}
    line = render_template(
        TEMPLATES / "chapter_line.html",
        minutes=chapter.reading_minutes,
        needs=[
            (context["pathto"](by_slug[slug].docname), by_slug[slug].title)
            for slug in chapter.metadata["needs"]
            if slug in by_slug
        ],
        source=chapter.metadata["source"],
    )
    context["body"] = TITLE_END.sub(lambda match: match[0] + str(line), context["body"], count=1)


def install_line(app, page, template, context, doctree):
    """How to install the package, from the site's own wheels; the larger data sets only where they are loaded."""
    chapter = next((c for c in chapters() if c.docname == page), None)
    place = TOMORROW_END if chapter else INSTALL_AFTER.get(page)
    if place is None or not context.get("body"):
        return
    code = "\n".join(chapter.code_below("Use it tomorrow")) if chapter else ""
    needs_data = not chapter or large_sets_in(code)
    wheels = [path.name for path in sorted(WHEELS.glob("*.whl")) if needs_data or "data" not in path.name]
    addresses = [context["pathto"](f"_static/wheels/{name}", resource=True) for name in wheels]
    called = set(re.findall(r"^\s*(?:import|from) (\w+)", code, re.M)) | ({"pandas"} if "as_frame" in code else set())
    others = sorted(called - set(sys.stdlib_module_names) - BROUGHT)
    wheels = list(zip(wheels, addresses, strict=True))
    line = render_template(TEMPLATES / "install_line.html", wheels=wheels, others=others)
    context["body"] = place.sub(lambda match: match[0] + str(line), context["body"], count=1)


def copy_wheels(app, failure):
    if failure is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "wheels"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(WHEELS, target, ignore=shutil.ignore_patterns(".built"))


def chapter_end(app, page, template, context, doctree):
    """Names that the chapter calls, its citation and a way to report an error, under the chapter."""
    chapter = next((c for c in chapters() if c.docname == page), None)
    if chapter is not None and context.get("body"):
        report = report_url(f"Error in {chapter.title}")
        context["body"] += render_chapter_end(chapter, context["pathto"], report)


def drop_thebe(app, page, template, context, doctree):
    """Leave out the scripts of sphinx-thebe: they need a network, and explorers here need no kernel."""
    kept = []
    for script in context.get("script_files", []):
        text = f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', {}).get('body', '')}"
        if "thebe" not in text.lower():
            kept.append(script)
    context["script_files"] = kept


def copy_mathjax(app, failure):
    if failure is not None or app.builder.format != "html":
        return
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    if found is None:
        raise ExtensionError("MathJax is missing: install requirements.txt (sphinx-mathjax-offline)")
    source, target = Path(found.origin).parent / "static" / "mathjax", Path(app.outdir) / "_static" / "mathjax"
    for name in MATHJAX:
        if (source / name).is_dir():
            copy_asset(str(source / name), str(target / name))
        elif not (target / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


ICON_SCRIPT = re.compile(r"\s*<script[^>]*scripts/fontawesome\.js[^>]*></script>")
FORMULA_SCRIPT = re.compile(r'<script defer="defer" src="([^"]*mathjax/tex-chtml\.js[^"]*)"></script>')
# MathJax comes once the page is there: neither the first text nor the first click waits for it.
LATE = (
    '<script>document.addEventListener("DOMContentLoaded", function () { setTimeout(function () { const s = '
    'document.createElement("script"); s.src = "%s"; document.head.appendChild(s); }, 0); });</script>'
)


def lighten(app, failure):
    """Icons come from the theme's font, so its half megabyte of icon script goes.

    The list of citations loses roles that its markup does not keep.
    """
    if failure is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        light = FORMULA_SCRIPT.sub(lambda match: LATE % match[1], ICON_SCRIPT.sub("", text))
        light = light.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
        light = light.replace(' role="doc-biblioentry"', "")
        if light != text:
            path.write_text(light, encoding="utf-8")


def drop_old_explorers(app, failure):
    """Remove the scripts of explorers that no page shows any more."""
    if failure is not None or app.builder.format != "html":
        return
    shown = set()
    for page in Path(app.outdir).rglob("*.html"):
        shown.update(re.findall(r"_static/explorers/(\w+)\.js", page.read_text(encoding="utf-8")))
    for path in Path(app.outdir, "_static", "explorers").glob("*.js"):
        if path.stem not in shown:
            path.unlink()


def setup(app):
    app.connect("config-inited", set_options, priority=900)
    app.connect("env-get-outdated", outdated)
    app.connect("html-page-context", reserve_space)
    app.connect("html-page-context", break_names)
    app.connect("html-page-context", split_explorers)
    app.connect("html-page-context", chapter_line)
    app.connect("html-page-context", install_line)
    app.connect("html-page-context", chapter_end)
    app.connect("html-page-context", drop_thebe, priority=950)
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", copy_wheels)
    app.connect("build-finished", lighten)
    app.connect("build-finished", drop_old_explorers)
    app.connect("build-finished", break_names_of_indices)
    render.NbElementRenderer.render_image = render_image
    # A change of this file, the style sheet, the scripts or the templates makes every page again.
    folders = [*(ROOT / "book" / name for name in ("_ext", "_static", "_templates")), TEMPLATES]
    shared = sorted(path for folder in folders for path in folder.rglob("*.*") if path.suffix != ".pyc")
    state = int(hashlib.sha256(b"".join(path.read_bytes() for path in shared)).hexdigest()[:8], 16)
    return {"version": "1", "env_version": state, "parallel_read_safe": True, "parallel_write_safe": True}
