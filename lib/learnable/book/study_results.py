"""What a study found: a row for each setting, and the file in which it travels with the package.

Beside the rows a file keeps a sample of the study's cells, so that a later version of the code can be held to the
figures of single cells on any machine (`learnable.book.study.confirm`), not to averages of many.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from learnable._files import write_atomically
from learnable.book.claims import with_error

__all__ = ["CHAPTERS", "DIGITS", "Row", "StudyResult", "store", "stored_result", "summary"]

DIGITS = 10  # significant digits that are kept: what another order of additions may change lies below them
CHAPTERS = Path(__file__).resolve().parent.parent / "chapters"


@dataclass(frozen=True)
class Row:
    """One setting: how many repetitions gave a figure, their means and the standard errors of these."""

    setting: dict
    count: dict
    mean: dict
    se: dict
    median: dict


@dataclass(frozen=True)
class StudyResult:
    """The figures of a study.

    ``rows`` has one `Row` for each setting; ``seconds`` are processor seconds of all cells together; ``made`` says on
    what machine, when and by which code it was made (empty for a run of one's own), and ``sample`` has the figures of
    some cells, ``((setting, repetition, figures), ...)``, to which later code can be held.
    """

    chapter: str
    name: str
    source: str
    scale: str | float
    rows: tuple
    seconds: float
    note: str | None = None
    made: dict = field(default_factory=dict)
    sample: tuple = ()

    def row(self, **setting):
        """The one row that agrees with all the values given.

        Raises
        ------
        LookupError
            None agrees, or several do.
        """
        found = [row for row in self.rows if all(row.setting.get(name) == value for name, value in setting.items())]
        if len(found) != 1:
            raise LookupError(f"{len(found)} rows of {self.name} agree with {setting}; it has {self._settings()}")
        return found[0]

    def mean(self, figure, **setting):
        return _named(self.row(**setting).mean, figure)

    def se(self, figure, **setting):
        """Standard error of the mean; None where one repetition was run."""
        return _named(self.row(**setting).se, figure)

    def median(self, figure, **setting):
        return _named(self.row(**setting).median, figure)

    def series(self, along, figure, **setting):
        """Two arrays: the values of one name of the setting, in order, and the means of a figure there."""
        found = sorted(
            (row.setting[along], row.mean[figure])
            for row in self.rows
            if all(row.setting.get(name) == value for name, value in setting.items())
        )
        if not found:
            raise LookupError(f"no row of {self.name} agrees with {setting}; it has {self._settings()}")
        x, y = zip(*found, strict=True)
        return np.array(x), np.array(y)

    def to_frame(self):
        """The rows as a pandas frame: setting, repetitions, means, and standard errors as ``…_se``."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    **row.setting,
                    "repetitions": max(row.count.values()),
                    **row.mean,
                    **{f"{name}_se": value for name, value in row.se.items() if value is not None},
                }
                for row in self.rows
            ]
        )

    def to_text(self):
        """The rows as an aligned table: setting, then mean ± standard error of each figure that is one number."""
        head = [*dict.fromkeys(name for row in self.rows for name in row.setting)]
        figures = [*dict.fromkeys(n for row in self.rows for n, v in row.mean.items() if not isinstance(v, list))]
        table = [[*head, *figures]]
        for row in self.rows:
            shown = [_with_error(row.mean.get(name), row.se.get(name)) for name in figures]
            table.append([*(str(row.setting.get(name, "")) for name in head), *shown])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)

    def _settings(self):
        return "; ".join(", ".join(f"{k}={v!r}" for k, v in row.setting.items()) for row in self.rows[:12])


def store(results, folder=CHAPTERS):
    """Write results into their chapter's file, replacing those of the same studies; return the path."""
    chapter = results[0].chapter
    path = Path(folder) / chapter / "results.json"
    kept = json.loads(path.read_text(encoding="utf-8"))["studies"] if path.exists() else {}
    kept |= {result.name: _record(result) for result in results}
    text = json.dumps({"chapter": chapter, "studies": dict(sorted(kept.items()))}, indent=1, ensure_ascii=False)
    write_atomically(path, text + "\n")
    return path


def stored_result(chapter, name, folder=CHAPTERS):
    """The stored result of a study."""
    path = Path(folder) / chapter / "results.json"
    known = json.loads(path.read_text(encoding="utf-8"))["studies"] if path.exists() else {}
    if name not in known:
        raise LookupError(f"no result of {name!r} is stored; `learnable reproduce {chapter} --study {name}` makes it")
    told = known[name]
    rows = tuple(Row(**row) for row in told["rows"])
    sample = tuple((cell["setting"], cell["repetition"], cell["figures"]) for cell in told.get("sample", ()))
    return StudyResult(
        chapter, name, told["source"], told["scale"], rows, told["seconds"], told.get("note"), told["made"], sample
    )


def summary(setting, figures):
    """Means, medians and standard errors over the repetitions of one setting."""
    names = list(dict.fromkeys(name for one in figures for name in one))
    count, mean, se, median = {}, {}, {}, {}
    for name in names:
        values = [one[name] for one in figures if one.get(name) is not None]
        count[name] = len(values)
        table = np.array(values, dtype=float)
        mean[name] = _rounded(table.mean(axis=0)) if values else None
        median[name] = _rounded(np.median(table, axis=0)) if values else None
        se[name] = _rounded(table.std(axis=0, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    return Row(dict(setting), count, mean, se, median)


def _rounded(value):
    return [float(f"{v:.{DIGITS}g}") for v in value] if np.ndim(value) else float(f"{float(value):.{DIGITS}g}")


def _record(result):
    rows = [
        {"setting": r.setting, "count": r.count, "mean": r.mean, "se": r.se, "median": r.median} for r in result.rows
    ]
    return {
        "source": result.source,
        "scale": result.scale,
        "note": result.note,
        "seconds": round(result.seconds, 1),
        "made": result.made,
        "rows": rows,
        "sample": [{"setting": s, "repetition": n, "figures": figures} for s, n, figures in result.sample],
    }


def _with_error(mean, se):
    """A mean with its standard error in plain decimals, as many as the error allows: 620 ± 70, 0.957 ± 0.004."""
    if mean is None:
        return "–"
    if isinstance(mean, list):
        return ", ".join(f"{value:.4g}" for value in mean)
    if not se or isinstance(se, list):
        return f"{mean:.0f}" if 1e4 <= abs(mean) < 1e9 else f"{mean:.4g}"
    return with_error(mean, se)


def _named(figures, name):
    if name not in figures:
        raise LookupError(f"no figure {name!r}; there are {', '.join(figures)}")
    return figures[name]
