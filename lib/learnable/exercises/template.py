"""A master notebook to start from: three questions that already pass their own tests."""

from ._quick import nbformat

__all__ = ["master_template"]


def _question(number, title, difficulty, section, text, solution, shown, hidden):
    """The cells of one question: text, solution, a public and a hidden test."""
    head = (
        f"# BEGIN QUESTION\nname: q{number}\npoints: {2 * number + 2}\ntitle: {title}\n"
        f"difficulty: {difficulty}\nsection: {section}\n"
        "hints:\n  - A question that points the way.\n  - The step that is usually missed."
    )
    return [
        ("raw", head),
        ("markdown", f"## {number}. {title}\n\n{text}"),
        ("raw", "# BEGIN SOLUTION"),
        ("code", solution),
        ("raw", "# END SOLUTION"),
        ("raw", "# BEGIN TESTS"),
        ("code", shown),
        ("code", hidden),
        ("raw", "# END TESTS"),
        ("raw", "# END QUESTION"),
    ]


_QUESTIONS = [
    *_question(
        1,
        "The mean so far",
        "easy",
        "A picture first",
        "`mean_so_far(x)` returns the means of the first 1, 2, ..., n values.",
        'def mean_so_far(x):\n    """Return the mean of each prefix of x."""\n'
        "    # BEGIN SOLUTION\n    return np.cumsum(x) / np.arange(1, len(x) + 1)\n    # END SOLUTION",
        'def test_three_values(env):\n    """Three values"""\n    from learnable.exercises import ask\n\n'
        '    ask(env, "mean_so_far", [2.0, 4.0, 6.0]).equals([2.0, 3.0, 4.0], "divide by the count so far")\n\n\n'
        "test_three_values(globals())",
        '# HIDDEN\ndef test_longer(env):\n    """A longer sample"""\n'
        "    from learnable.exercises import ask, hidden_rng\n\n"
        '    x = hidden_rng("longer").normal(size=7)\n'
        '    ask(env, "mean_so_far", x).equals([x[: i + 1].mean() for i in range(7)])\n\n\ntest_longer(globals())',
    ),
    *_question(
        2,
        "How far off is it?",
        "medium",
        "What the source reports, run again",
        "`error_of_mean(x)` returns the standard error $s/\\sqrt n$, where $s^2$ has the divisor $n - 1$.",
        'def error_of_mean(x):\n    """Return the standard error of the mean."""\n'
        "    # BEGIN SOLUTION\n    return np.std(x, ddof=1) / np.sqrt(len(x))\n    # END SOLUTION",
        'def test_two_values(env):\n    """Two values"""\n    from learnable.exercises import ask\n\n'
        '    ask(env, "error_of_mean", [0.0, 2.0]).equals(1.0, "the divisor is n - 1")\n\n\ntest_two_values(globals())',
        '# HIDDEN\ndef test_seven(env):\n    """A sample of seven"""\n'
        "    from learnable.exercises import ask, hidden_rng\n\n"
        '    x = hidden_rng("seven").normal(size=7)\n'
        '    ask(env, "error_of_mean", x).equals((((x - x.mean()) ** 2).sum() / 42) ** 0.5)\n\n\ntest_seven(globals())',
    ),
    *_question(
        3,
        "When does it settle?",
        "hard",
        "Explore",
        "`settles(x, centre, tol)` returns the index from which on all means so far are within `tol` of `centre`, and\n"
        "`len(x)` if the last one is not.",
        'def settles(x, centre, tol):\n    """Return the index from which on the mean stays near centre."""\n'
        "    # BEGIN SOLUTION\n    far = np.flatnonzero(np.abs(mean_so_far(x) - centre) > tol)\n"
        "    return int(far[-1]) + 1 if len(far) else 0\n    # END SOLUTION",
        'def test_four_values(env):\n    """Four values"""\n    from learnable.exercises import ask\n\n'
        '    ask(env, "settles", [4.0, 0.0, 2.0, 2.0], 2.0, 0.5).equals(1, "the means are 4, 2, 2, 2")\n\n\n'
        "test_four_values(globals())",
        '# HIDDEN\ndef test_comes_and_goes(env):\n    """A mean that comes and goes"""\n    import numpy as np\n\n'
        "    from learnable.exercises import ask, hidden_rng\n\n"
        '    x = np.append([0.0, 1.0], hidden_rng("comes and goes").normal(size=60))\n'
        "    near = [abs(x[: i + 1].mean()) <= 0.3 for i in range(62)]\n"
        "    expected = next((i for i in range(62) if all(near[i:])), 62)\n"
        '    ask(env, "settles", x, 0.0, 0.3, about="a mean that starts at the centre").equals(expected)\n\n\n'
        "test_comes_and_goes(globals())",
    ),
]

_CELLS = [
    ("raw", "# ASSIGNMENT CONFIG\nname: {slug}\ninit_cell: false\nexport_cell: false\ntests:\n  ok_format: false"),
    (
        "markdown",
        "# Exercises: {title}\n\nWrite your code where the three dots are, then run the check below it. More cases, "
        "which you do not see,\nare used for grading: write for any input that fits the description.",
    ),
    ("code", 'import numpy as np\n\nfrom learnable.exercises import Notebook\n\ngrader = Notebook("{slug}.ipynb")'),
    *_QUESTIONS,
    ("markdown", "---\n\nRun every check once more, in order, then save the notebook: the file is what you hand in."),
    ("code", "grader.check_all()"),
]


def master_template(part, slug, title, sealed=()):
    """Return a master notebook for a new chapter; ``sealed`` are the modules that answer its questions.

    Examples
    --------
    >>> notebook = master_template("foundations", "my_method", "My method")
    >>> notebook.cells[1].source.split("\\n")[0]
    '# Exercises: My method'
    """
    cells = []
    for number, (kind, text) in enumerate(_CELLS):
        cells.append(getattr(nbformat.v4, f"new_{kind}_cell")(text.replace("{slug}", slug).replace("{title}", title)))
        cells[-1]["id"] = f"master-{number:03d}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    ours = {"sealed": list(sealed)} if sealed else {}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "learnable": ours}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)
