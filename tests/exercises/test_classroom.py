"""A class is graded: in parallel, resumable, with tables, pages and a summary; the same whatever happens on the way."""

import contextlib
import csv
import html
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

import psutil
import pytest
from hostile import GOOD
from simulated_class import simulate
from support import BAYES, ROOT, assignment, submission, write_notebook

from learnable import cli
from learnable.exercises import classroom, report

COUNT = 12
COMMAND = [sys.executable, "-m", "learnable.cli"]


def grade(folder, out, *arguments):
    """Run ``learnable grade`` here (its workers stay warm from call to call) and return what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = cli.main(["grade", str(folder), "--out", str(out), "--jobs", "2", *map(str, arguments)])
    assert code == 0
    return printed.getvalue()


def files_of(out):
    """Everything a run leaves that must not depend on how it went."""
    folder = out.with_name(f"{out.stem}_feedback")
    pages = {p.name: p.read_text() for p in sorted((folder / "feedback").iterdir())}
    return out.read_text(), out.with_suffix(".json").read_text(), pages


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A small class, graded once without interruption."""
    folder = tmp_path_factory.mktemp("class")
    expected = simulate(folder / "submissions", COUNT, seed=5, slow=False)
    write_notebook(folder / "submissions" / "zoe (2)" / "my answers.ipynb", GOOD)
    write_notebook(folder / "submissions" / "=cmd()" / "x.ipynb", ["print('<script>alert(1)</script>')", *GOOD])
    write_notebook(folder / "submissions" / "bare.ipynb", [*GOOD, "# no metadata"], chapter=None)
    (folder / "submissions" / "nobody").mkdir()
    (folder / "submissions" / ".DS_Store").write_text("x")
    out = folder / "grades.csv"
    printed = grade(folder / "submissions", out, "--seed", 11)
    return {"folder": folder, "expected": expected, "out": out, "printed": printed}


def test_scores_are_as_expected(graded):
    with open(graded["out"], newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert len(rows) == COUNT + 4
    full = assignment(BAYES).points
    for student, (kind, score) in graded["expected"].items():
        came = float(rows[student]["score"])
        if score is None:
            assert 0 < came < full, f"{student} ({kind}) should have part of the points, has {came}"
        else:
            assert came == score, f"{student} ({kind}): {came} instead of {score}"
        assert came == pytest.approx(sum(float(rows[student][q]) for q in assignment(BAYES).questions))
    assert rows["zoe (2)"]["score"] == rows["bare"]["score"] == "10" and rows["nobody"]["status"] == "unreadable"
    assert "no notebook in the folder" in rows["nobody"]["remarks"]
    assert "'=cmd()" in rows and "=cmd()" not in rows, "a spreadsheet must not run what a student typed"


def test_report_names_what_was_used_and_how_long_it_took(graded):
    assert re.search(r"\d+ graded in [\d.]+ s \([\d.]+ s each\), 0 known from before", graded["printed"])
    assert "confined by" in graded["printed"]
    assert "hardest question: q" in graded["printed"]


def test_pages_are_self_contained_and_escaped(graded):
    folder = graded["out"].with_name("grades_feedback")
    pages = list((folder / "feedback").iterdir())
    assert len(pages) == COUNT + 4
    for page in [*pages, folder / "summary.html"]:
        text = page.read_text()
        assert "<script" not in text and "http://" not in text.replace("http://www.w3.org", "")
        assert not re.search(r"""(src|href)=["'](https?:)?//""", text)
    summary = (folder / "summary.html").read_text()
    assert summary.count("<svg") == 2 and "Hardest at the top" in summary
    for link in re.findall(r'href="(feedback/[^"]+)"', summary):
        assert (folder / link).exists()


def test_hidden_cases_keep_their_numbers_unless_revealed(graded):
    page = next(s for s, (kind, _) in graded["expected"].items() if kind == "partly")
    document = json.loads(graded["out"].with_suffix(".json").read_text())
    result = next(s["result"] for s in document["submissions"] if s["student"] == page)
    handed_in = {BAYES: (classroom.Submitted(page, graded["out"]), result)}
    closed, opened = report.feedback_page(page, handed_in), report.feedback_page(page, handed_in, reveal=True)
    failed = [c for q in result["questions"].values() for c in q["cases"] if c["hidden"] and not c["passed"]]
    assert failed
    for case in failed:
        assert html.escape(case["title"]) in closed
        if case["parts"].get("Case"):
            assert html.escape(case["parts"]["Case"]) not in closed
            assert html.escape(case["parts"]["Case"]) in opened


def test_second_run_grades_nothing_and_changes_nothing(graded):
    before = files_of(graded["out"])
    printed = grade(graded["folder"] / "submissions", graded["out"], "--seed", 11)
    assert re.search(r"^0 graded in", printed, re.M), printed
    assert files_of(graded["out"]) == before


def test_killed_half_way_and_resumed_gives_identical_grades(graded, tmp_path):
    out = tmp_path / "grades.csv"
    command = [*COMMAND, "grade", str(graded["folder"] / "submissions"), "--out", str(out), "--seed", "11"]
    store = out.with_suffix(".sqlite")

    def stored():
        try:
            with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
                return connection.execute("SELECT COUNT(*) FROM result").fetchone()[0]
        except sqlite3.Error:
            return 0

    total = 0
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while stored() < 4 and time.monotonic() < end and process.poll() is None:
            time.sleep(0.02)
        family = psutil.Process(process.pid).children(recursive=True)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        total = stored()
    finally:
        if process.poll() is None:
            process.kill()
    assert 4 <= total < COUNT, f"{total} were stored when it was killed"
    assert not out.exists(), "no table before the end"
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not alive, f"left behind: {alive}"
    printed = grade(graded["folder"] / "submissions", out, "--seed", 11)
    fresh, known = map(int, re.search(r"(\d+) graded in .* (\d+) known from before", printed).groups())
    assert known >= total and fresh == stored() - total, "nothing is graded twice"
    assert files_of(out) == files_of(graded["out"])


def test_another_seed_is_another_grading(graded, tmp_path):
    given = assignment(BAYES)
    limits = classroom.limits_for(given, {})
    assert classroom.assignment_key(given, 1, limits) != classroom.assignment_key(given, 2, limits)


def test_identical_files_are_graded_once_and_reported(tmp_path):
    for name in ("ann", "bob"):
        write_notebook(tmp_path / "s" / f"{name}.ipynb", GOOD)
    assert "1 graded in" in grade(tmp_path / "s", tmp_path / "g.csv")
    assert "ann, bob" in (tmp_path / "g_feedback" / "summary.html").read_text()


def test_new_submission_alone_is_graded(graded, tmp_path):
    folder, out = tmp_path / "s", tmp_path / "g.csv"
    write_notebook(folder / "ann.ipynb", GOOD)
    grade(folder, out)
    write_notebook(folder / "bob.ipynb", [*GOOD, "# bob"])
    printed = grade(folder, out)
    assert "1 graded in" in printed and "1 known from before" in printed
    printed = grade(folder, out, "--again", "ann")
    assert "1 graded in" in printed and "1 known from before" in printed


def test_machinery_failure_is_no_grade(tmp_path, monkeypatch, capsys):
    """When a submission cannot be confined it gets no score at all, and the next run tries again."""
    write_notebook(tmp_path / "s" / "ann.ipynb", GOOD)

    def broken(self, *args, **kwargs):
        raise classroom.SandboxError("no kernel today")

    out = ["grade", str(tmp_path / "s"), "--out", str(tmp_path / "g.csv"), "--jobs", "1"]
    with monkeypatch.context() as patched:
        patched.setattr(classroom, "grade_cells", broken)
        assert cli.main(out) == 3
    assert "ann was NOT graded: no kernel today" in capsys.readouterr().err
    assert "not graded" in (tmp_path / "g.csv").read_text()
    assert cli.main(out) == 0
    assert "1 graded in" in capsys.readouterr().out
    assert "ann,10,44,22.7,5,5,0,0,0,ok," in (tmp_path / "g.csv").read_text()


def test_two_graders_at_once_are_kept_apart(tmp_path):
    with classroom.lock(tmp_path / "g.lock"):
        with pytest.raises(classroom.SandboxError, match="another grader"), classroom.lock(tmp_path / "g.lock"):
            pass


def test_roster_of_a_learning_platform(graded, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "Student,ID,SIS Login ID,Section\n"
        '"Doe, Jane",1,student000,A\n"Roe, Richard",2,student001,A\n"Absent, Amy",3,amy,B\n',
        encoding="utf-8-sig",
    )
    out = graded["folder"] / "grades.csv"
    target = tmp_path / "grades.csv"
    target.with_suffix(".sqlite").write_bytes(out.with_suffix(".sqlite").read_bytes())
    grade(graded["folder"] / "submissions", target, "--seed", 11, "--roster", roster)
    with open(target, newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:4] == ["Student", "ID", "SIS Login ID", "Section"]
    assert rows[0]["Student"] == "Doe, Jane" and rows[0]["score"] != ""
    assert rows[2]["status"] == "missing" and rows[2]["score"] == "0"
    assert "not in the roster" in rows[3]["remarks"]


def test_student_names_from_file_names(tmp_path):
    names = ["doejane_17_4711_bayes_decision_theory.ipynb", "bayes_decision_theory_roe.ipynb", "smith.ipynb"]
    for name in names:
        write_notebook(tmp_path / name, GOOD)
    write_notebook(tmp_path / "Anna Maria_123_assignsubmission_file" / "bayes_decision_theory.ipynb", GOOD)
    found = {s.student for s in classroom.collect([tmp_path], [BAYES])}
    assert found == {"doejane_17_4711", "roe", "smith", "Anna Maria_123_assignsubmission_file"}


def test_own_notebook_without_a_table(tmp_path, capsys):
    path = write_notebook(tmp_path / "mine.ipynb", submission(BAYES, {"q2": "cost_bayes = None"}))
    assert cli.main(["grade", str(path), "--jobs", "1", "--chapters", "bayes_decision_theory"]) == 0
    printed = capsys.readouterr().out
    assert "mine: 39 of 44" in printed and "q2  0 of 5" in printed
    assert "hidden cases: the public ones" in printed
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.ipynb"]
