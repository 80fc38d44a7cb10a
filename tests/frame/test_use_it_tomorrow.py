"""“Use it tomorrow” runs alone: its cells, pasted into a fresh kernel, need nothing from the page before them."""

import warnings

import matplotlib
import pytest

from tools.project import chapters

matplotlib.use("Agg")
from matplotlib import pyplot as plt


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.slug)
def test_the_section_runs_alone(chapter, tmp_path, monkeypatch):
    cells = chapter.code_below("Use it tomorrow")
    assert cells, f"{chapter.slug}: the section has no code"
    monkeypatch.chdir(tmp_path)
    fresh = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for number, cell in enumerate(cells, 1):
                exec(compile(cell, f"{chapter.slug}, cell {number} of “Use it tomorrow”", "exec"), fresh)
        except NameError as error:
            pytest.fail(f"{chapter.slug}, cell {number}: {error}")
        finally:
            plt.close("all")
