"""HTML from templates: whatever is put into one is escaped, unless it is HTML from here already.

Jinja2 belongs to the extras ``book`` and ``exercises``, so it is imported by whoever renders, and not by whoever only
runs a study.
"""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path

__all__ = ["fill", "markup", "render"]


def render(path, **values):
    """Return the HTML of the template in the file ``path``; line ends and indents in the file are layout, not text."""
    path = Path(path)
    return markup(_environment(path.parent).get_template(path.name).render(values))


def fill(template, **values):
    """Return the HTML of a template that is short enough to stand in the code.

    Examples
    --------
    >>> print(fill("<b>{{ name }}</b>", name="R & D"))
    <b>R &amp; D</b>
    """
    return markup(_compiled(template).render(values))


def markup(text):
    """Mark text that is HTML already, so that it is put into a template as it is."""
    from markupsafe import Markup

    return Markup(text)


@cache
def _compiled(template):
    return _environment(None).from_string(template)


@cache
def _environment(folder):
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from jinja2.ext import Extension

    class JoinLines(Extension):
        """Line ends and indents between tags would be text of their own in the page, and in stored outputs."""

        def preprocess(self, source, name, filename=None):
            return re.sub(r"\n[ \t]*", "", source)

    def escaped(value):
        # Jinja2 would write &#39; where the standard library, and hence every stored output, has &#x27;.
        return value if hasattr(value, "__html__") else markup(html.escape(str(value)))

    return Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=None if folder is None else FileSystemLoader(folder),
        extensions=[JoinLines],
        finalize=escaped,
    )
