"""What the studies found, as it is stored: whole, finite, and of the studies that the chapters have today."""

import json

import numpy as np
import pytest

from learnable.book.study import find_studies
from learnable.book.study_results import CHAPTERS
from tools.project import chapters

STORED = sorted(path.parent.name for path in CHAPTERS.glob("*/results.json"))


def test_every_folder_of_a_chapter_has_a_lecture():
    assert {path.name for path in CHAPTERS.iterdir() if (path / "__init__.py").exists()} == {c.slug for c in chapters()}
    assert len(STORED) > 20


@pytest.mark.parametrize("slug", STORED)
def test_stored_results_are_those_of_the_studies_and_finite(slug):
    """Every study of the chapter and no other, every setting of its scale once, figures that are numbers or absent."""
    studies = find_studies(slug)
    assert set(json.loads((CHAPTERS / slug / "results.json").read_text(encoding="utf-8"))["studies"]) == set(studies)
    for name, study in studies.items():
        result = study.stored
        assert result.scale == "paper" or 0 < result.scale < 1, name
        settings = {study.key(setting, 0) for setting, _ in study.cells("paper")}
        assert sorted(study.key(row.setting, 0) for row in result.rows) == sorted(settings), name
        for row in result.rows:
            figures = [value for value in row.mean.values() if value is not None]
            numbers = [number for value in figures for number in np.ravel(value) if number is not None]
            assert numbers, (name, row.setting)
            assert np.all(np.isfinite(np.asarray(numbers, dtype=float))), (name, row.setting)
