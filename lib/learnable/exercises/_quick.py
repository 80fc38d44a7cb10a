"""`nbformat`, imported in a fraction of a second.

nbformat imports jsonschema, which, where the package rfc3987_syntax happens to be installed (JupyterLab brings it),
compiles a grammar for international addresses: two seconds in which a student waits for the first cell. Notebooks hold
no such addresses and jsonschema does without, so the package is out of sight while nbformat is imported.
"""

import sys

_SLOW = "rfc3987_syntax"

if "jsonschema" not in sys.modules and _SLOW not in sys.modules:
    sys.modules[_SLOW] = None
    try:
        import nbformat
    finally:
        del sys.modules[_SLOW]
else:
    import nbformat

__all__ = ["nbformat"]
