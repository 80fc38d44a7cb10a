"""The book's ways: what links its pages with each other.

- reads the citations and the references to figures that lectures hold as links (`tools.references`).
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools import references  # noqa: E402


def read_references(app, docname, source):
    """Give Sphinx roles where a notebook has the links that JupyterLab shows."""
    if Path(app.env.doc2path(docname)).suffix == ".ipynb":
        source[0] = references.notebook_as_roles(source[0])


def setup(app):
    app.connect("source-read", read_references)
    state = int(hashlib.sha256(Path(references.__file__).read_bytes()).hexdigest()[:8], 16)
    return {"version": "1", "env_version": state, "parallel_read_safe": True, "parallel_write_safe": True}
