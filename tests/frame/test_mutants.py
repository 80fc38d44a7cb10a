"""Mutants change computing lines, one at a time, and leave checks and messages alone."""

import ast

from tools.check.mutants import find_mutants

CODE = """
def f(x, low=3):
    check_scalar(x + 1, "x", low=0)
    if x < 0:
        raise ValueError("x - 1")
    total = (x + 2.5) * x
    return -total if total >= low else max(total, 7)
"""


def test_every_kind_of_change_is_found_and_gives_code(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(CODE)
    changed = sorted(mutant.apply(CODE).splitlines()[mutant.line - 1].strip() for mutant in find_mutants(path))
    assert changed == [
        "return +total if total >= low else max(total, 7)",
        "return -total if total > low else max(total, 7)",
        "return -total if total >= low else max(total, 8)",
        "return -total if total >= low else min(total, 7)",
        "total = (x + 2.5) / x",
        "total = (x + 3.5) * x",
        "total = (x - 2.5) * x",
    ]
    for mutant in find_mutants(path):
        ast.parse(mutant.apply(CODE))
