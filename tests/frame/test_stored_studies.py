"""What the studies found, as it is stored: whole, finite, and of the studies that the chapters have today."""

import json

import numpy as np
import pytest

from learnable.book.study import find_studies
from learnable.book.study_results import RESULTS
from tools.project import ROOT

SLUGS = sorted(path.parent.name for path in (ROOT / "lib" / "learnable").glob("*/*/experiments.py"))
STORED = [slug for slug in SLUGS if (RESULTS / f"{slug}.json").exists()]


def test_every_file_of_results_belongs_to_a_chapter():
    assert {path.stem for path in RESULTS.glob("*.json")} <= set(SLUGS)


@pytest.mark.parametrize("slug", STORED)
def test_stored_results_are_those_of_the_studies_and_finite(slug):
    """Every study of the chapter and no other, every setting of its scale once, figures that are numbers or absent."""
    studies = find_studies(slug)
    assert set(json.loads((RESULTS / f"{slug}.json").read_text(encoding="utf-8"))["studies"]) == set(studies)
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
