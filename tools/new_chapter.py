"""Create the five rooms of a chapter from templates: ``python -m tools.new_chapter PART SLUG TITLE``."""

from __future__ import annotations

import re
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.project import PARTS, ROOT, Chapter

CODE = '''"""{title}: the idea in two sentences, and the source.

Public functions first, compiled kernels below.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["running_mean"]


def running_mean(x):
    """Mean of the first 1, 2, ..., n values. Replace this example by the chapter's method. Cost O(n).

    >>> running_mean([2.0, 4.0, 6.0])
    array([2., 3., 4.])
    """
    x = np.asarray(x, dtype=float)
    if x.ndim != 1 or len(x) == 0 or not np.isfinite(x).all():
        raise ValueError("x must be a non-empty vector of finite numbers")
    return _running_mean(x)


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

from learnable.{part}.{slug} import running_mean


def test_claim_01_running_mean_is_the_mean_of_each_prefix():
    x = np.random.default_rng(0).normal(size=50)
    np.testing.assert_allclose(running_mean(x), [x[: i + 1].mean() for i in range(50)], rtol=1e-12)


@pytest.mark.parametrize("bad", [[], [[1.0]], [np.nan]])
def test_bad_input_is_refused(bad):
    with pytest.raises(ValueError, match="x must be"):
        running_mean(bad)
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

LECTURE = [
    ("markdown", "# {title}\n\nOpen with a question that a reader cares about."),
    (
        "code",
        "import numpy as np\nfrom matplotlib import pyplot as plt\n\n"
        "from learnable.book import Slider, claim, explore, show, use_style\n"
        "from learnable.{part}.{slug} import running_mean\n\nuse_style()",
    ),
    ("markdown", "## A picture first"),
    (
        "code",
        "rng = np.random.default_rng(0)\nx = rng.normal(size=400)\nfig, ax = plt.subplots()\n"
        'ax.plot(running_mean(x))\nax.set(xlabel="observations", ylabel="mean so far")\n'
        'show(fig, alt="Running mean of 400 standard normal values: it wanders, then settles near zero.")',
    ),
    ("markdown", "## What the source reports, run again"),
    (
        "code",
        'claim("The running mean ends near zero", reported="0.0", measured=running_mean(x)[-1], se=0.05,\n'
        '      source="the source, Sec. 1", kind="experiment")',
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
        "## Where it breaks\n\n## In practice\n\n## Summary\n\n## Check yourself\n\n## Exercises\n\n## Further reading",
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
    texts = {module: CODE, chapter.tests: TESTS, chapter.benchmark: BENCH}
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
    print(
        f"next: add '- file: lectures/{part}/{slug}' to _toc.yml under '{PARTS[part]}' and run `python -m tools.toc`,"
    )
    print("then CONTRIBUTING.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
