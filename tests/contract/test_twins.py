"""No function stands twice in the package: a second reader would mend one of them only."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import learnable

LIBRARY = Path(learnable.__file__).parent
LEAST = 25  # nodes of the syntax tree, some three lines of arithmetic
# What scikit-learn asks of every estimator is short and alike; a common parent would be longer.
PROTOCOL = ("predict",)


def shape(function):
    """The syntax of a function without its name, docstring and annotations, with its names numbered as they come."""
    names = {}

    def plain(node):
        if isinstance(node, ast.AST):
            fields = [
                (field, value) for field, value in ast.iter_fields(node) if field not in ("annotation", "returns")
            ]
            parts = ", ".join(
                names.setdefault(value, f"name{len(names)}")
                if isinstance(value, str) and field in ("id", "arg")
                else plain(value)
                for field, value in fields
            )
            return f"{type(node).__name__}({parts})"
        return f"[{', '.join(map(plain, node))}]" if isinstance(node, list) else repr(node)

    body = function.body[1:] if ast.get_docstring(function) else function.body
    if sum(1 for line in body for _ in ast.walk(line)) < LEAST:
        return None
    return plain(function.args) + plain(body)


def twins(files):
    """Functions of different files that differ in nothing but names, as lists of file, line and name."""
    found = defaultdict(list)
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("__") or node.name in PROTOCOL:
                continue
            if (key := shape(node)) is not None:
                found[key].append((path, node.lineno, node.name))
    return [places for places in found.values() if len({path for path, _, _ in places}) > 1]


def test_no_function_stands_twice():
    named = [
        " = ".join(f"{path.relative_to(LIBRARY)}:{line} {name}" for path, line, name in places)
        for places in twins(sorted(LIBRARY.rglob("*.py")))
    ]
    assert not named, "the same function in several modules, keep one where both can import it:\n" + "\n".join(named)


RULE = "def {}({}low, high):\n    {}\n    m = 0.5 * (low {} high)\n    return m if low <= m < high else {}\n"


@pytest.mark.parametrize(
    "other, same",
    [
        (RULE.format("middle", "", "'A docstring.'", "+", "low"), True),
        (RULE.format("middle", "", "'Another operation.'", "-", "low"), False),
        (RULE.format("middle", "", "'Another name.'", "+", "high"), False),
        (RULE.format("middle", "a, ", "'One more argument.'", "+", "low"), False),
        (RULE.format("predict", "", "'What every estimator has.'", "+", "low"), False),
    ],
)
def test_twins_are_found_by_what_they_do(tmp_path, other, same):
    one = "def cut(a: float, b: float):\n    c = 0.5 * (a + b)\n    return c if a <= c < b else a\n"
    for name, text in (("one.py", one), ("other.py", other)):
        (tmp_path / name).write_text(text)
    assert bool(twins(sorted(tmp_path.glob("*.py")))) is same
