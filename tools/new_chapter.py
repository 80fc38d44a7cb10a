"""Create a chapter that passes every check as it is: ``python -m tools.new_chapter PART SLUG TITLE``.

The rooms come from the templates below, with an example to be replaced piece by piece; then the chapter is entered in
the table of contents and the README, the student's notebook is written, and the lecture is run.
"""

from __future__ import annotations

import re
import subprocess
import sys

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import toc
from tools.project import PARTS, ROOT, Chapter, chapters

CODE = '''"""{title}: the idea in two sentences, and the source.

Public functions first, compiled kernels below.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["running_mean", "settles_at", "standard_error"]


def running_mean(x):
    """Mean of the first 1, 2, ..., n values. Replace this example by the chapter's method. Cost O(n).

    Examples
    --------
    >>> running_mean([2.0, 4.0, 6.0])
    array([2., 3., 4.])
    """
    return _running_mean(_vector(x))


def standard_error(x):
    """Standard deviation of the mean of independent values, estimated from them. Cost O(n).

    Examples
    --------
    >>> standard_error([0.0, 2.0])
    1.0
    """
    x = _vector(x)
    if len(x) < 2:
        raise ValueError("x must have at least two values")
    return float(x.std(ddof=1) / np.sqrt(len(x)))


def settles_at(x, centre, tol):
    """Index from which on the running mean stays within `tol` of `centre`; n if it does not. Cost O(n).

    Examples
    --------
    >>> settles_at([4.0, 0.0, 2.0], centre=2.0, tol=0.5)
    1
    """
    if not tol >= 0:
        raise ValueError(f"tol must not be negative, got {{tol!r}}")
    outside = np.flatnonzero(np.abs(running_mean(x) - centre) > tol)
    return int(outside[-1]) + 1 if len(outside) else 0


def _vector(x):
    x = np.asarray(x, dtype=float)
    if x.ndim != 1 or len(x) == 0 or not np.isfinite(x).all():
        raise ValueError("x must be a non-empty vector of finite numbers")
    return x


@njit(cache=True)
def _running_mean(x):
    out = np.empty_like(x)
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        out[i] = total / (i + 1)
    return out
'''

TESTS = '''"""{title}: the claims of the source, checked."""

import numpy as np
import pytest

from learnable.{part}.{slug} import running_mean, settles_at, standard_error

X = np.random.default_rng(0).normal(size=50)


def test_claim_01_running_mean_is_the_mean_of_each_prefix():
    np.testing.assert_allclose(running_mean(X), [X[: i + 1].mean() for i in range(50)], rtol=1e-12)


def test_claim_02_standard_error_falls_with_the_root_of_n():
    # Four copies have the same spread; only the divisor n - 1 keeps the ratio from being exactly one half.
    assert standard_error(np.tile(X, 4)) / standard_error(X) == pytest.approx(0.5, rel=0.01)


def test_claim_03_settles_where_all_later_means_are_near():
    at, means = settles_at(X, 0.0, 0.2), running_mean(X)
    assert (np.abs(means[at:]) <= 0.2).all() and abs(means[at - 1]) > 0.2


@pytest.mark.parametrize("bad", [[], [[1.0]], [np.nan]])
def test_bad_input_is_refused(bad):
    with pytest.raises(ValueError, match="x must be"):
        running_mean(bad)
    with pytest.raises(ValueError, match="two values"):
        standard_error([1.0])
    with pytest.raises(ValueError, match="tol must not be"):
        settles_at(X, 0.0, -1.0)
'''

BENCH = '''"""{title}, beside what a user would pick instead."""

import numpy as np

from benchmarks.harness import Benchmark
from learnable.{part}.{slug} import running_mean

bench = Benchmark("{slug}")
for n in bench.sizes([10_000, 100_000, 1_000_000]):
    x = np.random.default_rng(0).normal(size=n)
    bench.compare(
        "running mean",
        size=n,
        ours=lambda x=x: running_mean(x),
        peers={{"numpy cumsum": lambda x=x: np.cumsum(x) / np.arange(1, len(x) + 1)}},
        accuracy=lambda ours, peer: f"largest difference {{np.abs(ours - peer).max():.0e}}",
    )
bench.finish()
'''

WRONG = """q1: The sum so far
~ np.cumsum(x) / np.arange(1, len(x) + 1) => np.cumsum(x)
q1: The mean of all
~ np.cumsum(x) / np.arange(1, len(x) + 1) => np.full(len(x), np.mean(x))
q1: Divides by the length of the sample
~ np.arange(1, len(x) + 1) => len(x)
q1: The values themselves
~ np.cumsum(x) / np.arange(1, len(x) + 1) => np.asarray(x)
q1: One observation too many
~ np.arange(1, len(x) + 1) => np.arange(2, len(x) + 2)
q1: The middle of the range | A longer sample
~ np.cumsum(x) / np.arange(1, len(x) + 1) => (np.minimum.accumulate(x) + np.maximum.accumulate(x)) / 2
q2: The standard deviation
~ / np.sqrt(len(x)) =>
q2: Divides by n, not by its root
~ np.sqrt(len(x)) => len(x)
q2: The divisor n
~ ddof=1 => ddof=0
q2: The variance
~ np.std(x, ddof=1) / np.sqrt(len(x)) => np.var(x, ddof=1)
q2: No error
~ np.std(x, ddof=1) / np.sqrt(len(x)) => 0.0
q2: Half the range | A sample of seven
~ np.std(x, ddof=1) / np.sqrt(len(x)) => (np.max(x) - np.min(x)) / 2
q3: The last index that is far
~ int(far[-1]) + 1 => int(far[-1])
q3: The first index that is far
~ int(far[-1]) + 1 => int(far[0])
q3: The values, not their means
~ mean_so_far(x) - centre => np.asarray(x) - centre
q3: Always near
~ int(far[-1]) + 1 => 0
q3: The last value
~ int(far[-1]) + 1 => len(x) - 1
q3: Near for the first time, though it may leave again | A mean that comes and goes
~ return int(far[-1]) + 1 if len(far) else 0 => return int(np.argmax(np.abs(mean_so_far(x) - centre) <= tol))
"""

LECTURE = [
    (
        "markdown",
        "# {title}\n\nOpen with a question that a reader cares about: after how many observations is a mean worth "
        "believing?",
    ),
    (
        "code",
        "import numpy as np\nfrom matplotlib import pyplot as plt\n\n"
        "from learnable.book import Slider, claim, explore, show, use_style\n"
        "from learnable.{part}.{slug} import running_mean, settles_at, standard_error\n\nuse_style()",
    ),
    (
        "markdown",
        "## A picture first\n\nThe mean of the first $n$ values is $\\bar x_n = \\frac1n \\sum_{{i=1}}^n x_i$. "
        "Draw it before you explain it.",
    ),
    (
        "code",
        "rng = np.random.default_rng(0)\nx = rng.normal(size=400)\nfig, ax = plt.subplots()\n"
        'ax.plot(running_mean(x))\nax.set(xlabel="observations", ylabel="mean so far")\n'
        'show(fig, alt="Running mean of 400 standard normal values: it wanders, then settles near zero.")',
    ),
    (
        "markdown",
        "After the figure, say where to look and what follows: the curve is rough on the left, and most of its way "
        "to zero is done after a quarter of the observations.\n\n"
        "## What the source reports, run again\n\n"
        "One cell measures, the next one claims. A claim is something that the source printed.",
    ),
    (
        "code",
        "last = running_mean(np.arange(1, 101))[-1]\n"
        "halved = standard_error(np.tile(x, 4)) / standard_error(x)\n"
        "start = settles_at([4, 0, 2, 2], centre=2, tol=0.5)",
    ),
    (
        "code",
        'claim("The mean of the numbers 1 to 100 is 50.5", reported="50.5", measured=last,\n'
        '      source="the source, Sec. 1", kind="worked number")\n'
        'claim("Four times the observations halve the standard error", reported="0.50", measured=halved,\n'
        '      source="the source, Sec. 2", kind="worked number")\n'
        'claim("The mean of 4, 0, 2, 2 stays near 2 from the second value on", reported=1, measured=start,\n'
        '      source="the source, Sec. 3", kind="worked number")',
    ),
    ("markdown", "## Explore"),
    (
        "code",
        "def draw(n):\n    fig, ax = plt.subplots()\n    ax.plot(running_mean(x[:n]))\n"
        '    ax.set(xlim=(0, 400), ylim=(-2, 2), xlabel="observations")\n'
        '    return fig, f"After {{n}} observations the mean is {{running_mean(x[:n])[-1]:.2f}}."\n\n\n'
        'explore(draw, title="How the mean settles", n=Slider(10, 400, 10, 100))',
    ),
    (
        "markdown",
        "## Where it breaks\n\nSay what is assumed, and show what happens without it.\n\n"
        "## Use it tomorrow\n\nReal data, a pipeline, what to report, what else there is.\n\n"
        "## Summary\n\nA card: the problem, the method in two formulas, cost, when to use it, when not.\n\n"
        "## Check yourself\n\n"
        "**1.** What is the running mean of 2, 4, 6?\n\n```{{dropdown}} Answer\n2, 3, 4.\n```\n\n"
        "**2.** How many more observations halve the standard error?\n\n"
        "```{{dropdown}} Answer\nThree times as many as there are, which makes four times.\n```\n\n"
        "**3.** May a mean that has come near leave again?\n\n"
        "```{{dropdown}} Answer\nYes: with probability one it does so for small tolerances.\n```\n\n"
        "## Exercises\n\n`learnable start {slug}` copies the exercises of this chapter to `work/`.\n\n"
        "## Further reading\n\nWhat to read next, and why.",
    ),
]


def create(part, slug, title, root=ROOT):
    """Write the rooms that do not exist yet; return their paths."""
    if part not in PARTS:
        raise ValueError(f"unknown part {part!r}; the parts are {', '.join(PARTS)}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", slug):
        raise ValueError(f"a slug is lower-case letters, digits and underscores, got {slug!r}")
    title = title or slug.replace("_", " ").capitalize()
    chapter = Chapter(part, slug, root=root)
    fill = {"part": part, "slug": slug, "title": title}
    module = root / "lib" / "learnable" / part / f"{slug}.py"
    made = []
    wrong = root / "tests" / "exercises" / "wrong" / f"{slug}.diff"
    texts = {module: CODE, chapter.tests: TESTS, chapter.benchmark: BENCH, wrong: WRONG}
    package = module.parent / "__init__.py"
    if not package.exists():
        texts[package] = f'"""Chapters of the part “{PARTS[part]}”."""\n'
    for path, template in texts.items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(template.format(**fill), encoding="utf-8")
            made.append(path)
    if not chapter.lecture.exists():
        cells = [
            new_code_cell(text.format(**fill)) if kind == "code" else new_markdown_cell(text.format(**fill))
            for kind, text in LECTURE
        ]
        notebook = new_notebook(cells=cells, metadata=_metadata(title))
        for index, cell in enumerate(notebook.cells):
            cell["id"] = f"c{index:03d}"
            if cell.source.startswith("claim("):
                cell.metadata["tags"] = ["hide-input"]
        chapter.lecture.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, chapter.lecture)
        made.append(chapter.lecture)
    if not chapter.master.exists():
        from learnable.exercises.template import master_template

        chapter.master.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(master_template(part, slug, title), chapter.master)
        made.append(chapter.master)
    return made


def _metadata(title):
    return {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "learnable": {
            "source": "Author (year), title",
            "needs": [],
            "reading_minutes": 30,
            "short_title": title.partition(":")[0][:30],
            "problem": "The question that a reader brings to this chapter, in one or two sentences?",
        },
    }


def enter(part, slug):
    """Enter the chapter where the book lists chapters, write the student's notebook, and run the lecture."""
    order = chapters()
    if slug not in {chapter.slug for chapter in order}:
        order.append(Chapter(part, slug))
    contents = ROOT / "_toc.yml"
    listed = yaml.safe_load(contents.read_text(encoding="utf-8"))
    contents.write_text(toc.written(toc.arranged(listed, order)), encoding="utf-8")
    for command in (["readme"], ["exercises", "build", slug], ["notebooks", "run", slug]):
        subprocess.run([sys.executable, "-m", f"tools.{command[0]}", *command[1:]], cwd=ROOT, check=True)


def main(arguments):
    if len(arguments) < 2 or not arguments[0] or not arguments[1]:
        print('usage: make chapter PART=foundations SLUG=my_method TITLE="My method"', file=sys.stderr)
        return 2
    try:
        made = create(*arguments[:2], arguments[2] if len(arguments) > 2 else "")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for path in made:
        print("created", path.relative_to(ROOT))
    part, slug = arguments[:2]
    enter(part, slug)
    print(f"next: make test ONLY={slug} passes; CONTRIBUTING.md says what to write where")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
