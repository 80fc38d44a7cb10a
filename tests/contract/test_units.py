"""No answer depends on the unit in which somebody measures, nor on how an array lies in memory.

For every estimator: X in a unit 10⁸ times as small or as large, X moved by 10⁴, columns in units of their own (10⁻³ and
10³), and for regression y in other units and moved. Parameters that have a unit are converted (`samples`); then the
answers at converted points must be the same, or differ by the unit. Where a method promises less, a tag on its class
says so and why (`learnable.validation.tags`), and the test fails if it keeps the promise after all. The same data in
Fortran order, with gaps, read-only, or in single precision, must give the same answers.
"""

import language
import numpy as np
import pytest
import samples

ALL = [entry.value for entry in language.public() if language.is_estimator(entry.value)]
ESTIMATORS = sorted(samples.MAKERS, key=lambda cls: cls.__name__)


def _close(a, b, tol):
    return all(
        np.shape(x) == np.shape(y)
        and (
            np.allclose(x, y, rtol=tol, atol=tol * np.abs(y).max(initial=0.0))
            if np.asarray(y).dtype.kind == "f"
            else np.array_equal(x, y)
        )
        for x, y in zip(a, b, strict=True)
    )


def _columns(X):
    return np.resize([1e-3, 1e3, 1.0], X.shape[1])


# name: (X of X, unit of X, shift of X, unit of y, shift of y, relative error that rounding may cause)
CHANGES = {
    "X × 1e-8": (lambda X: X * 1e-8, 1e-8, 0.0, 1.0, 0.0, 1e-6),
    "X × 1e8": (lambda X: X * 1e8, 1e8, 0.0, 1.0, 0.0, 1e-6),
    "origin": (lambda X: X + 1e4, 1.0, 1e4, 1.0, 0.0, 1e-4),
    "columns": (lambda X: X * _columns(X), 1.0, 0.0, 1.0, 0.0, 1e-6),
    "y × 1e-8": (lambda X: X, 1.0, 0.0, 1e-8, 0.0, 1e-6),
    "y × 1e8": (lambda X: X, 1.0, 0.0, 1e8, 0.0, 1e-6),
    "y + 1e4": (lambda X: X, 1.0, 0.0, 1.0, 1e4, 1e-6),
}


def broken_units(cls):
    """{change: what went wrong} for the changes after which the estimator answers something else."""
    X, y, points = samples.data(cls)
    plain = samples.answers(samples.fitted(cls, X, y), points)
    found = {}
    for name, (move, s, shift, t, lift, tol) in CHANGES.items():
        if name.startswith("y") and cls not in samples.REGRESSORS:
            continue
        try:
            model = samples.fitted(cls, move(X), y if t == 1 and lift == 0 else y * t + lift, s, t)
            said = samples.answers(model, move(points), s, t, shift)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
            continue
        if cls is samples.DebiasedLasso and name == "columns":
            said = [said[0] * _columns(X), said[1] * _columns(X), said[2]]
        if cls is not samples.DebiasedLasso and lift:
            said = [said[0] - lift]
        if not _close(said, plain, tol):
            found[name] = "another answer"
    return found


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_answers_do_not_depend_on_units(cls):
    allowed = getattr(cls, "_depends_on_units", {}).keys()
    found = broken_units(cls)
    wrong = {change: what for change, what in found.items() if change not in allowed}
    assert not wrong, f"{cls.__name__}: {wrong}"
    assert set(allowed) <= set(found), f"{cls.__name__} keeps {set(allowed) - set(found)}: take it out of the tag"


def _strided(array):
    wide = np.zeros(tuple(2 * n for n in array.shape), dtype=array.dtype)
    part = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    part[...] = array
    return part


def _read_only(array):
    array = array.copy()
    array.setflags(write=False)
    return array


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": _strided,
    "read-only": _read_only,
    "backwards": lambda array: array[::-1].copy()[::-1],
    "float32": lambda array: array.astype(np.float32) if array.dtype.kind == "f" else array,
}


def broken_layouts(cls):
    """{layout: what went wrong} for the layouts of the same numbers that give other answers."""
    X, y, points = samples.data(cls)
    plain = samples.answers(samples.fitted(cls, X, y), points)
    found = {}
    for name, lay in LAYOUTS.items():
        try:
            said = samples.answers(samples.fitted(cls, lay(X), None if y is None else lay(y)), lay(points))
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
            continue
        if not _close(said, plain, 1e-6):
            found[name] = "another answer"
    return found


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_answers_do_not_depend_on_memory_layout(cls):
    found = broken_layouts(cls)
    assert not found, f"{cls.__name__}: {found}"


def test_every_estimator_has_a_sample():
    """A new estimator says how it is made and on which data, or what it takes that has no units."""
    left = sorted(cls.__name__ for cls in ALL if cls not in samples.MAKERS and not hasattr(cls, "_takes"))
    assert left == [], "add it to tests/contract/samples.py, or say on the class what it `_takes`"


def test_reasons_of_tags_are_sentences():
    for cls in ALL:
        facts = getattr(cls, "_depends_on_units", {})
        assert set(facts) <= set(CHANGES), cls
        assert all(len(reason) > 8 for reason in facts.values()), cls
        assert getattr(cls, "_takes", "a table of numbers").islower(), cls
