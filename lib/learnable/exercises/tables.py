"""The grades as files: a table for spreadsheets, merged with the gradebook of a learning platform, and JSON."""

import csv
import io
import json
import re
import unicodedata

from .wire import clean

__all__ = ["csv_text", "json_text", "table"]


def table(book, roster=None, roster_id=None):
    """Return the grades as rows for a CSV file: a header, then one row for each student.

    A roster is a gradebook exported from the learning platform. Its columns come first, untouched, and every student in
    it gets a row, also those who handed in nothing; its column ``roster_id`` names students as the submissions do.
    """
    chapters = list(book.assignments)
    columns = ["score", "possible", "percent"]
    for chapter in chapters:
        prefix = "" if len(chapters) == 1 else f"{chapter}:"
        columns += [f"{prefix}{q}" for q in book.assignments[chapter].questions]
    columns += ["status", "remarks"]
    students = book.students()
    rows = {student: _row(book, handed_in) for student, handed_in in students.items()}
    for submitted, trouble in book.failed:
        blank = [""] * (len(columns) - 2)
        rows[submitted.student] = [*blank, "not graded", _safe(f"the grader failed: {trouble}")]
    if roster is None:
        return [["student", *columns], *([_safe(s), *r] for s, r in sorted(rows.items()))]
    return _merge(roster, roster_id, columns, rows, book)


def _row(book, handed_in):
    possible = book.possible()
    score = sum(result["score"] for _, result in handed_in.values())
    row = [_number(score), _number(possible), f"{100 * score / possible:.1f}"]
    statuses, remarks = [], []
    for chapter, assignment in book.assignments.items():
        if chapter in handed_in:
            submitted, result = handed_in[chapter]
            row += [_number(q["score"]) for q in result["questions"].values()]
            statuses.append(result["status"])
            remarks += [*submitted.remarks, *result["remarks"]]
            if result["confinement"] == "none":
                remarks.append("graded WITHOUT confinement")
        else:
            row += ["0"] * len(assignment.questions)
            statuses.append("missing")
            remarks.append(f"nothing handed in for {chapter}")
    order = ("unreadable", "wrong exercise", "trouble", "missing", "remarks", "not started")
    worst = next((s for s in order if s in statuses), "ok")
    return [*row, worst, _safe("; ".join(remarks))]


def _number(points):
    """Print points for a spreadsheet, with digits enough that the columns add up to the score."""
    return f"{round(points, 6):.12g}"


def _merge(roster, roster_id, columns, rows, book):
    with open(roster, newline="", encoding="utf-8-sig") as file:
        given = list(csv.reader(file))
    if not given:
        raise ValueError(f"{roster} is empty")
    header, *lines = given
    if roster_id is None:
        guesses = ("SIS Login ID", "Identifier", "ID number", "Username", "username", "Email address", "Email", "ID")
        roster_id = next((g for g in (*guesses, "student") if g in header), None)
    if roster_id not in header:
        raise ValueError(f"name the column of {roster} that identifies students; it has {', '.join(header)}")
    at = header.index(roster_id)
    known = _names(book)
    wanted = [_plain(line[at]) if at < len(line) else "" for line in lines]
    points = _number(book.possible())
    nothing = ["0", points, "0.0", *["0"] * (len(columns) - 5), "missing", "nothing handed in"]
    merged, taken = [[*header, *columns]], set()
    for line, name in zip(lines, wanted, strict=True):
        line += [""] * (len(header) - len(line))
        if line[0].strip() == "Points Possible":  # a row of Canvas that is no student
            merged.append([*line, points, *[""] * (len(columns) - 1)])
            continue
        found = known.get(name, ()) if name else ()
        if len(found) > 1 or (found and wanted.count(name) > 1):
            book.ambiguous[name] = sorted(found)
            why = f"ambiguous: {name} may be {' or '.join(sorted(found))}"
            merged.append([*line, *[""] * (len(columns) - 2), "ambiguous", _safe(why)])
            continue
        taken |= set(found)
        merged.append([*line, *(rows[next(iter(found))] if found else nothing)])
    book.strangers = sorted(set(rows) - taken)
    for student in book.strangers:
        line = [""] * len(header)
        line[at] = _safe(student)
        merged.append([*line, *rows[student][:-1], _safe(f"not in the roster; {rows[student][-1]}".rstrip("; "))])
    return merged


def _names(book):
    """Return the students that each name may mean: their own, and what the platform calls them."""
    known = {}
    for submitted in [s for s, _ in (*book.rows, *book.failed)]:
        for name in (submitted.student, *submitted.aliases):
            known.setdefault(_plain(name), set()).add(submitted.student)
    return known


def _plain(name):
    return unicodedata.normalize("NFC", name).strip()


def _safe(text):
    """Keep a spreadsheet from taking a student's text for a formula, whatever separates its columns.

    Examples
    --------
    >>> _safe("=HYPERLINK(1)"), _safe("x;=cmd"), _safe("＝1")
    ("'=HYPERLINK(1)", "x;'=cmd", "'＝1")
    """
    return re.sub(r"(^|[;,|])([\s\"']*)(?=[=+@\-＝＋－＠﹢﹣﹦﹫])", r"\1\2'", " ".join(clean(text, 5000).split()))


def csv_text(rows):
    """Return rows as the text of a CSV file."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def json_text(book, seed):
    """Return everything as JSON, without times, so that two runs over the same files agree byte by byte."""
    document = {
        "seed_is_public": seed == 0,
        "confinement": book.confinement,
        "chapters": {name: a.as_dict() for name, a in book.assignments.items()},
        "submissions": [
            {"student": s.student, "file": s.file, "sha256": s.key, "remarks": s.remarks, "result": result}
            for s, result in book.rows
        ],
        "not_graded": [{"student": s.student, "file": s.file, "reason": why} for s, why in book.failed],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
