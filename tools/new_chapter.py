"""Create a chapter that passes every check as it is: ``python -m tools.new_chapter PART SLUG TITLE``.

The rooms come from the templates below, with an example to be replaced piece by piece: a package with a module for each
concept, a frozen result, ``random_state``, the source's experiments. Then the chapter is entered at the front door, in
the table of contents, on the page of methods and in the README, the student's notebook is written, and the lecture is
run.
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

PACKAGE = '''"""{title}.

The idea in two sentences, and the source (Author year).

By concept:

- :mod:`.means`: running means, and from when on to believe them;
- :mod:`.experiments`: the tables of the source, at any scale.
"""

from learnable.{part}.{slug}.means import Settling, running_mean, settle, standard_error

__all__ = ["Settling", "running_mean", "settle", "standard_error"]
'''

CODE = '''"""Running means, and from when on to believe them (Author year, Sec. 1). Replace this example by your method.

Public functions validate and document; the loop that costs time is a compiled kernel below them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.validation import check_finite_array, check_scalar

__all__ = ["Settling", "running_mean", "settle", "standard_error"]


@dataclass(frozen=True)
class Settling:
    """What `settle` returns: from when on the running mean stays near a value.

    Attributes
    ----------
    index : int
        The first index from which on all means are near; n if the last one is not.
    means : ndarray of shape (n,)
        The running means.
    settled : bool
        Whether the last mean is near.
    """

    index: int
    means: np.ndarray
    settled: bool


def running_mean(x):
    """Mean of the first 1, 2, ..., n values (Author year, (1)). Cost O(n).

    Parameters
    ----------
    x : array-like of shape (n,)
        The values, in the order in which they came.

    Returns
    -------
    ndarray of shape (n,)
        The means.

    Examples
    --------
    >>> running_mean([2.0, 4.0, 6.0])
    array([2., 3., 4.])
    """
    return _running_mean(_vector(x))


def standard_error(x):
    """Standard deviation of the mean of independent values, estimated from them (Author year, (2)). Cost O(n).

    Parameters
    ----------
    x : array-like of shape (n,)
        At least two values.

    Returns
    -------
    float
        The standard error.

    Examples
    --------
    >>> standard_error([0.0, 2.0])
    1.0
    """
    x = _vector(x)
    if len(x) < 2:
        raise ValueError("x must have at least two values")
    return float(x.std(ddof=1) / np.sqrt(len(x)))


def settle(x, centre, *, tol=0.1):
    """Find from when on the running mean stays within `tol` of `centre` (Author year, (3)). Cost O(n).

    Parameters
    ----------
    x : array-like of shape (n,)
        The values.
    centre : float
        Where the mean should be.
    tol : float, default=0.1
        What counts as near.

    Returns
    -------
    Settling
        The index, with the means.

    Examples
    --------
    >>> settle([4.0, 0.0, 2.0], centre=2.0, tol=0.5).index
    1
    """
    tol = check_scalar(tol, "tol", low=0)
    means = running_mean(x)
    outside = np.flatnonzero(np.abs(means - centre) > tol)
    index = int(outside[-1]) + 1 if len(outside) else 0
    return Settling(index, means, index < len(means))


def _vector(x):
    x = check_finite_array(x, "x", ndim=1)
    if len(x) == 0:
        raise ValueError("x must have at least one value")
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

EXPERIMENTS = '''"""The experiments of the source: small in the lecture, at its own scale elsewhere."""

from __future__ import annotations

from learnable.book.study import study
from learnable.{part}.{slug}.means import running_mean

__all__ = ["scatter"]


@study(
    source="Author year, Table 1",
    paper={{"repetitions": 1000, "n": [10, 40, 160]}},
    lecture={{"repetitions": 400, "n": [10, 40]}},
)
def scatter(random_state, *, n):
    """Square of the mean of n standard normal values: 1/n on average. Replace this example by the source's table."""
    return {{"square": running_mean(random_state.normal(size=n))[-1] ** 2}}
'''

DOOR = '''"""{part_title}."""

import lazy_loader

# The names of the front door stand in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
'''

STUB = """from .{slug} import (
    running_mean as running_mean,
    settle as settle,
    standard_error as standard_error,
)
"""

ROW = (
    "| your data, in the words of a reader | {{py:func}}`~learnable.{part}.settle` | [{title}](/{docname}.ipynb) | "
    "when another package is the better choice |\n"
)

TESTS = '''"""Claims of the source, checked: {slug}."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from learnable.{part}.{slug} import running_mean, settle, standard_error
from learnable.{part}.{slug}.experiments import scatter

X = np.random.default_rng(0).normal(size=50)


def test_claim_01_running_mean_is_the_mean_of_each_prefix():
    np.testing.assert_allclose(running_mean(X), [X[: i + 1].mean() for i in range(50)], rtol=1e-12)


def test_claim_02_standard_error_falls_with_the_root_of_n():
    # Four copies have the same spread; only the divisor n - 1 keeps the ratio from being exactly one half.
    assert standard_error(np.tile(X, 4)) / standard_error(X) == pytest.approx(0.5, rel=0.01)


def test_claim_03_settles_where_all_later_means_are_near():
    found = settle(X, 0.0, tol=0.2)
    assert found.settled and (np.abs(found.means[found.index :]) <= 0.2).all()
    assert abs(found.means[found.index - 1]) > 0.2
    assert not settle([0.0, 4.0], 0.0, tol=0.5).settled


def test_claim_04_means_scatter_by_the_root_of_n():
    result = scatter.at("paper")
    for n in (10, 40, 160):
        # The study's own seeds are fixed, so this cannot flicker; four standard errors would catch a factor of two.
        assert abs(result.mean("square", n=n) - 1 / n) < 4 * result.se("square", n=n)


def test_the_same_seed_gives_the_same_answer():
    assert scatter.cell({{"n": 10}}, 0) == scatter.cell({{"n": 10}}, 0) != scatter.cell({{"n": 10}}, 1)


def test_results_are_frozen_and_inputs_stay():
    x = [4.0, 0.0, 2.0]
    found = settle(x, 2.0)
    with pytest.raises(FrozenInstanceError):
        found.index = 0
    assert x == [4.0, 0.0, 2.0]


@pytest.mark.parametrize("bad", [[], [[1.0]], [np.nan]])
def test_bad_input_is_refused(bad):
    with pytest.raises(ValueError, match="x must"):
        running_mean(bad)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="two values"):
        standard_error([1.0])
    with pytest.raises(ValueError, match="tol"):
        settle(X, 0.0, tol=-1.0)
'''

BENCH = '''"""What a user would pick instead, beside {slug}."""

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
        "from learnable.book import Slider, claim, compare, explore, show, use_style\n"
        "from learnable.{part}.{slug} import (\n    experiments,\n    running_mean,\n    settle,\n"
        "    standard_error,\n)\n\nuse_style()",
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
        "start = settle([4, 0, 2, 2], centre=2, tol=0.5).index\n"
        'scatter = experiments.scatter.at("lecture")',
    ),
    (
        "code",
        'claim("The mean of the numbers 1 to 100 is 50.5", reported="50.5", measured=last,\n'
        '      source="the source, Sec. 1", kind="worked")\n'
        'claim("Four times the observations halve the standard error", reported="0.50", measured=halved,\n'
        '      source="the source, Sec. 2", kind="worked")\n'
        'claim("The mean of 4, 0, 2, 2 stays near 2 from the second value on", reported=1, measured=start,\n'
        '      source="the source, Sec. 3", kind="worked")\n'
        'compare("Mean square of the mean", scatter, [({{"n": 10}}, "0.1"), ({{"n": 40}}, "0.025")],\n'
        '        figure="square", scale="400 repetitions")',
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
    fill = {"part": part, "slug": slug, "title": title, "part_title": PARTS[part]}
    code = root / "lib" / "learnable" / part / slug
    made = []
    wrong = root / "tests" / "exercises" / "wrong" / f"{slug}.diff"
    texts = {
        code / "__init__.py": PACKAGE,
        code / "means.py": CODE,
        code / "experiments.py": EXPERIMENTS,
        chapter.tests: TESTS,
        chapter.benchmark: BENCH,
        wrong: WRONG,
    }
    if not (code.parent / "__init__.py").exists():
        texts |= {code.parent / "__init__.py": DOOR, code.parent / "__init__.pyi": STUB}
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


def open_door(part, slug, title, root=ROOT):
    """Enter the chapter's names at the front door, the part in the package, and the chapter on the page of methods."""
    package = root / "lib" / "learnable"
    stub = package / part / "__init__.pyi"
    text = stub.read_text(encoding="utf-8")
    if f"from .{slug} import" not in text:
        stub.write_text(text + STUB.format(slug=slug), encoding="utf-8")
    index = package / "__init__.pyi"
    text = index.read_text(encoding="utf-8")
    if f" {part} as {part}," not in text:
        index.write_text(text.replace("\n)", f"\n    {part} as {part},\n)", 1), encoding="utf-8")
    methods = root / "book" / "which_method.md"
    row = ROW.format(part=part, title=title, docname=Chapter(part, slug).docname)
    text = methods.read_text(encoding="utf-8")
    if row not in text:
        methods.write_text(text + row, encoding="utf-8")


def enter(part, slug):
    """Enter the chapter where the book lists chapters, write the student's notebook, and run the lecture."""
    open_door(part, slug, Chapter(part, slug).title)
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
