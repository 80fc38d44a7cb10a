"""A master notebook to start from: one question that already passes its own tests."""

from ._quick import nbformat

__all__ = ["master_template"]

_CELLS = [
    (
        "raw",
        "# ASSIGNMENT CONFIG\nname: {slug}\ninit_cell: false\nexport_cell: false\ntests:\n  ok_format: false",
    ),
    (
        "markdown",
        "# Exercises: {title}\n\nWrite your code where the three dots are, then run the check below it. More cases, "
        "which you do not see,\nare used for grading: write for any input that fits the description.",
    ),
    (
        "code",
        'import numpy as np\n\nfrom learnable.exercises import Notebook\n\ngrader = Notebook("{slug}.ipynb")',
    ),
    (
        "raw",
        "# BEGIN QUESTION\nname: q1\npoints: 4\ntitle: What the question is about\ndifficulty: easy\n"
        "section: A heading of the lecture, word for word\nhints:\n"
        "  - A question that points the way.\n  - The step that is usually missed.",
    ),
    ("markdown", "## 1. What the question is about\n\n`twice(x)` returns the array $2x$."),
    ("raw", "# BEGIN SOLUTION"),
    (
        "code",
        'def twice(x):\n    """Return two times x."""\n'
        "    # BEGIN SOLUTION\n    return 2 * np.asarray(x)\n    # END SOLUTION",
    ),
    ("raw", "# END SOLUTION"),
    ("raw", "# BEGIN TESTS"),
    (
        "code",
        'def test_small_numbers(env):\n    """Small numbers"""\n    from learnable.exercises import ask\n\n'
        '    ask(env, "twice", [1.0, -2.0]).equals([2.0, -4.0], "entry by entry")\n\n\ntest_small_numbers(globals())',
    ),
    (
        "code",
        '# HIDDEN\ndef test_random_numbers(env):\n    """Random numbers"""\n'
        "    from learnable.exercises import ask, hidden_rng\n\n"
        '    x = hidden_rng("random numbers").normal(size=7)\n    ask(env, "twice", x).equals([v + v for v in x])\n\n\n'
        "test_random_numbers(globals())",
    ),
    ("raw", "# END TESTS"),
    ("raw", "# END QUESTION"),
    (
        "markdown",
        "---\n\nRun every check once more, in order, then save the notebook: the file is what you hand in.",
    ),
    ("code", "grader.check_all()"),
]


def master_template(part, slug, title):
    """Return a master notebook for a new chapter.

    Examples
    --------
    >>> notebook = master_template("foundations", "my_method", "My method")
    >>> notebook.cells[1].source.split("\\n")[0]
    '# Exercises: My method'
    """
    make = {
        "raw": nbformat.v4.new_raw_cell,
        "markdown": nbformat.v4.new_markdown_cell,
        "code": nbformat.v4.new_code_cell,
    }
    cells = [make[kind](text.replace("{slug}", slug).replace("{title}", title)) for kind, text in _CELLS]
    for number, cell in enumerate(cells):
        cell["id"] = f"master-{number:03d}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "learnable": {}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)
