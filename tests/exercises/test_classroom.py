"""A class is graded: in parallel, resumable, with tables, pages and a summary; the same whatever happens on the way."""

import contextlib
import csv
import html
import io
import json
import os
import re
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
from learnable.exercises import classroom, collecting, confine, report, tables
from learnable.exercises.similarity import similar

COUNT = 12
ASKED = {BAYES: collecting.functions_asked(ROOT / "exercises" / f"{BAYES}.ipynb")}
COMMAND = [sys.executable, "-m", "learnable.cli"]


def grade(folder, out, *arguments):
    """Run ``learnable grade`` here (its workers stay warm from call to call) and return what it printed."""
    if confine.refusal() and "--confine" not in arguments and not os.environ.get("CI"):
        pytest.skip(f"submissions cannot be confined: {confine.refusal()}")
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
    assert "confined by bubblewrap: own file system" in graded["printed"]
    assert re.search(
        r"\d+ not started, \d+ unreadable, 0 wrong exercise, 0 not in the roster, 0 ambiguous, 0 not graded",
        graded["printed"],
    )
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
    handed_in = {BAYES: (collecting.Submitted(page, graded["out"]), result)}
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
    submissions = graded["folder"] / "submissions"

    def stored():
        try:
            with sqlite3.connect(f"file:{out.with_suffix('.sqlite')}?mode=ro", uri=True) as connection:
                return connection.execute("SELECT COUNT(*) FROM result").fetchone()[0]
        except sqlite3.Error:
            return 0

    for attempt in range(10):  # on a busy machine we may look too late, when it has come to its end
        out = tmp_path / f"grades{attempt}.csv"
        command = [*COMMAND, "grade", str(submissions), "--out", str(out), "--seed", "11"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            while stored() < 4 and process.poll() is None:
                time.sleep(0.02)
            assert stored() >= 4, f"it ended by itself:\n{process.stderr.read()}"
            family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        finally:
            process.kill()
            process.communicate()
        total = stored()
        if total < COUNT:
            break
    assert 4 <= total < COUNT, f"{total} were stored when it was killed"
    assert not out.exists(), "no table before the end"
    psutil.wait_procs(family)
    printed = grade(submissions, out, "--seed", 11)
    fresh, known = map(int, re.search(r"(\d+) graded in .* (\d+) known from before", printed).groups())
    assert known >= total and fresh == stored() - total, "nothing is graded twice"
    assert files_of(out) == files_of(graded["out"])


def test_another_seed_is_another_grading(graded, tmp_path):
    given = assignment(BAYES)
    limits = classroom.Limits()
    keys = {classroom.assignment_key(given, seed, limits, mode) for seed in (1, 2) for mode in ("bubblewrap", "none")}
    assert len(keys) == 4, "nor is a grade without confinement taken for one with it"


def test_identical_files_are_graded_once_and_reported(tmp_path):
    for name in ("ann", "bob"):
        write_notebook(tmp_path / "s" / f"{name}.ipynb", GOOD)
    assert "1 graded in" in grade(tmp_path / "s", tmp_path / "g.csv")


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
    assert "ann,10,44,22.7,5,5,0,0,0,remarks,q3: there is no function" in (tmp_path / "g.csv").read_text()


def test_two_graders_at_once_are_kept_apart(tmp_path):
    code = f"from learnable.exercises import classroom\nwith classroom.lock({str(tmp_path / 'g.lock')!r}): pass"
    for _ in range(2):  # the file stays after a release, so nobody can hold a lock on a file that is gone
        with classroom.lock(tmp_path / "g.lock"):
            other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            assert "another grader is at work on g" in other.stderr
        assert (tmp_path / "g.lock").exists()
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_damaged_store_is_moved_aside(tmp_path, capsys):
    write_notebook(tmp_path / "s" / "ann.ipynb", GOOD)
    out = tmp_path / "g.csv"
    grade(tmp_path / "s", out)
    first = files_of(out)
    store = out.with_suffix(".sqlite")
    store.write_bytes(b"SQLite format 3\x00" + b"garbage" * 1000)
    printed = grade(tmp_path / "s", out)
    assert "g.sqlite is damaged" in printed and "1 graded in" in printed
    assert [p.name for p in tmp_path.glob("*.damaged-*")] and files_of(out) == first
    with classroom.Store(store) as good, good.connection as connection:
        connection.execute("UPDATE result SET body = '{half'")
    assert "1 graded in" in grade(tmp_path / "s", out)


def test_locked_store_and_full_disk_are_said_and_nothing_is_lost(tmp_path, capsys, monkeypatch):
    write_notebook(tmp_path / "s" / "ann.ipynb", GOOD)
    out = tmp_path / "g.csv"
    grade(tmp_path / "s", out)
    monkeypatch.setattr(classroom.Store, "patience", 0.1)
    arguments = ["grade", str(tmp_path / "s"), "--out", str(out), "--jobs", "1"]
    with contextlib.closing(sqlite3.connect(out.with_suffix(".sqlite"))) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert cli.main(arguments) == 2
    assert "g.sqlite cannot be used now (database is locked)" in capsys.readouterr().err
    write_notebook(tmp_path / "s" / "bob.ipynb", [*GOOD, "# bob"])
    real = classroom.Store._open

    def full(self):
        real(self)
        pages = self.connection.execute("PRAGMA page_count").fetchone()[0]
        self.connection.execute(f"PRAGMA max_page_count = {pages}")

    with monkeypatch.context() as patch:
        patch.setattr(classroom.Store, "_open", full)
        for number in range(9):  # until what is free in the file is used up
            write_notebook(tmp_path / "s" / f"bob{number}.ipynb", [*GOOD, f"# bob {number}", "print('x' * 4000)"])
        assert cli.main(arguments) == 2
    assert "g.sqlite cannot be used now (database or disk is full)" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.damaged-*"))
    for number in range(1, 9):
        (tmp_path / "s" / f"bob{number}.ipynb").unlink()
    assert re.search(r"[1-9]\d* known from before", grade(tmp_path / "s", out))


def test_one_folder_cannot_stop_the_class(tmp_path):
    """A link to itself, folders without end, an expression of 400 terms: each costs its own submission at most."""
    write_notebook(tmp_path / "s" / "good.ipynb", GOOD)
    os.symlink("loop.ipynb", tmp_path / "s" / "loop.ipynb")
    (tmp_path / "s" / "linked").mkdir()
    os.symlink("linked", tmp_path / "s" / "linked" / "linked")
    deep = tmp_path / "s" / "deep"
    deep.mkdir()
    here = os.open(deep, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=here)
        here, before = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(before)
    os.close(here)
    terms = "def cost_bayes(post1, a, b):\n    return " + " + ".join(["post1"] * 400)
    write_notebook(tmp_path / "s" / "terms.ipynb", [*GOOD, terms])
    try:
        grade(tmp_path / "s", tmp_path / "g.csv")
    finally:
        subprocess.run(["rm", "-rf", str(deep)], check=True)
    with open(tmp_path / "g.csv", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {s: rows[s]["score"] for s in rows} == {"good": "10", "terms": "5", "loop": "0", "linked": "0", "deep": "0"}
    assert {rows[s]["status"] for s in ("loop", "linked", "deep")} == {"unreadable"}


def test_file_name_takes_nobodys_identity(tmp_path):
    """What the student called the file comes after what the platform wrote, and is not taken for it."""
    for name in ("eve_LATE_19_4711_hanna_17_assignsubmission_file", "Eve_19_assignsubmission_file_hanna_17_1_x"):
        who = collecting._student(name, [BAYES])
        assert who["student"].casefold() == "eve_19" and "17" not in who["aliases"]
        assert bool(who["remarks"]) == ("LATE" in name)


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
    found = {s.student for s in collecting.collect([tmp_path], ASKED)}
    assert found == {"doejane_17", "roe", "smith", "Anna Maria_123"}


def test_own_notebook_without_a_table(tmp_path, capsys):
    path = write_notebook(tmp_path / "mine.ipynb", submission(BAYES, {"q2": "cost_bayes = None"}))
    assert cli.main(["grade", str(path), "--jobs", "1", "--chapters", "bayes_decision_theory"]) == 0
    printed = capsys.readouterr().out
    assert "mine: 39 of 44" in printed and "q2  0 of 5" in printed
    assert "hidden cases: the public ones" in printed
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.ipynb"]


def test_stray_notebook_never_overwrites_a_grade(tmp_path):
    """A newer scratch file is no submission: it is reported, and the real one counts."""
    write_notebook(tmp_path / "ann" / "bayes_decision_theory.ipynb", GOOD)
    write_notebook(tmp_path / "ann" / "scratch.ipynb", ["x = 1"], chapter=None)
    write_notebook(tmp_path / "ann" / "mine.ipynb", ["def cost_bayes():\n    ..."], chapter=None)
    os.utime(tmp_path / "ann" / "bayes_decision_theory.ipynb", (1, 1))
    write_notebook(tmp_path / "bob" / "scratch.ipynb", ["x = 1"], chapter=None)
    ann, bob = collecting.collect([tmp_path], ASKED)
    assert ann.path.name == "bayes_decision_theory.ipynb" and ann.key
    assert ann.remarks == [
        "mine.ipynb was handed in as well; bayes_decision_theory.ipynb counts",
        "scratch.ipynb does not count: it does not say which exercise it is",
    ]
    assert bob.trouble == "wrong exercise"


def test_newest_of_two_that_belong_counts(tmp_path):
    write_notebook(tmp_path / "ann" / "first.ipynb", GOOD)
    write_notebook(tmp_path / "ann" / "second.IPYNB", GOOD[:2])
    os.utime(tmp_path / "ann" / "first.ipynb", (1, 1))
    (found,) = collecting.collect([tmp_path], ASKED)
    assert found.path.name == "second.IPYNB" and "first.ipynb was handed in as well" in found.remarks[0]


def test_wrong_chapter_is_not_ok(tmp_path):
    chapter = "latent/hmm_alignment"
    write_notebook(tmp_path / "s" / "ann.ipynb", ["x = 1"], chapter)
    write_notebook(tmp_path / "s" / "bob.ipynb", GOOD)
    printed = grade(tmp_path / "s", tmp_path / "g.csv", "--chapters", BAYES)
    assert "0 unreadable, 1 wrong exercise" in printed
    assert (
        "ann,0,44,0.0,0,0,0,0,0,wrong exercise,it is the exercise 'latent/hmm_alignment'"
        in (tmp_path / "g.csv").read_text()
    )
    page = (tmp_path / "g_feedback" / "feedback" / "ann.html").read_text()
    assert "Not run: it is the exercise" in page and "wrong." not in page, "what was never read is not called wrong"


def test_names_as_the_platforms_write_them(tmp_path):
    """Two students of one name stay two; a late one, upper-case endings and names that begin with ~ are not lost."""
    for name in (
        "hanna_LATE_17_4711_answers.ipynb",
        "hanna_18_4712_answers.ipynb",
        "hanna_18_4700_answers-1.ipynb",
        "~tilde.IPYNB",
        "joa\u0303o.ipynb",
    ):
        write_notebook(tmp_path / name, GOOD)
    (tmp_path / "~$lock.ipynb").write_text("x")
    found = {s.student: s for s in collecting.collect([tmp_path], ASKED)}
    assert set(found) == {"hanna_17", "hanna_18", "~tilde", "joão"}
    assert found["hanna_17"].remarks == ["handed in late"] and found["hanna_17"].aliases == ("17", "hanna")


def merged(tmp_path, names, roster, column=None):
    """Return the table for students with the given file names, none of which need be graded."""
    book = classroom.Gradebook({BAYES: assignment(BAYES)})
    for number, name in enumerate(names):
        submitted = collecting.Submitted(**collecting._student(name, [BAYES]), path=tmp_path / name)
        result = classroom.empty_result(assignment(BAYES), "ok", "nothing")
        book.rows.append((submitted, {**result, "score": float(number + 1)}))
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    rows = tables.table(book, tmp_path / "roster.csv", column)
    return book, {row[0]: row for row in rows[1:]}


def test_roster_gives_points_to_nobody_else(tmp_path):
    names = ["joã", "mary-ann", "jose\u0301"]
    book, rows = merged(tmp_path, names, "student,section\njo,A\nmary,A\nann,A\njosé,A\nmary-ann,A\n")
    assert [rows[n][2] for n in ("jo", "mary", "ann")] == ["0", "0", "0"]
    assert rows["josé"][2] == "3" and rows["mary-ann"][2] == "2"
    assert book.strangers == ["joã"] and book.ambiguous == {}


def test_roster_of_canvas(tmp_path):
    names = ["hanna_17_1_x", "hanna_18_2_x", "otto_19_3_x"]
    roster = 'Student,ID,SIS Login ID\n"    Points Possible",,\n"H, A",17,hanna\n"H, B",18,hb\n"O",19,otto\n'
    book, rows = merged(tmp_path, names, roster, "ID")
    assert [rows[n][3] for n in ("H, A", "H, B", "O")] == ["1", "2", "3"] and book.strangers == []
    assert rows["    Points Possible"][3:5] == ["44", ""], "a row that is no student"
    book, rows = merged(tmp_path, names, roster, "SIS Login ID")
    assert rows["H, A"][-2:] == ["ambiguous", "ambiguous: hanna may be hanna_17 or hanna_18"]
    assert rows["H, A"][3] == "" and book.ambiguous == {"hanna": ["hanna_17", "hanna_18"]}
    assert rows["O"][3] == "3" and book.strangers == ["hanna_17", "hanna_18"]
    book, rows = merged(tmp_path, names, "ID\n17\n17\n")
    assert set(book.ambiguous) == {"17"}, "a roster that has a student twice"


def test_roster_of_moodle(tmp_path):
    names = ["Anna Maria_123_assignsubmission_file", "Anna Maria_124_assignsubmission_file"]
    _, rows = merged(tmp_path, names, "Identifier,Full name\nParticipant 123,Anna Maria\nParticipant 124,Anna Maria\n")
    assert [rows[f"Participant {n}"][2] for n in (123, 124)] == ["1", "2"]


@pytest.mark.parametrize("name", ["=cmd()", "x;=cmd|' /C calc'!A0", "＝1+1", "+1", "a,@SUM(1)", 'b;"-1', "\x1b[2J=1"])
def test_table_holds_no_formula(name):
    for separator in ",;|":
        for cell in tables._safe(name).split(separator):
            assert cell.strip(' "')[:1] not in tuple("=+-@＝＋－＠")
    assert "\x1b" not in tables._safe(name)


REMEMBERS = """
_seen = []
def joint_table(px, p1):
    _seen.append(list(px))
    return None, None
def cost_bayes(post1, a, b):
    raise ValueError(f"SECRET {_seen}")
"""
NASTY = {
    "half": "def cost_bayes(*args):\n    raise ValueError('\\ud800')",
    "alarm": "def cost_bayes(*args):\n    raise ValueError('SandboxError: x')",
    "leak": "def cost_bayes(post1, a, b):\n    raise ValueError(f'SECRET {list(post1)} {a} {b}')",
    "type": "def cost_bayes(post1, a, b):\n    raise type(f'SECRET{a}'.replace('.', '_'), (Exception,), {})()",
    "exit": "import os\ndef cost_bayes(post1, a, b):\n    os._exit(int(10 * a) % 256)",
}


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """A class in which several would have blocked everybody."""
    folder = tmp_path_factory.mktemp("nasty")
    for name, code in NASTY.items():
        write_notebook(folder / "s" / f"{name}.ipynb", [*GOOD, code])
    write_notebook(folder / "s" / "good.ipynb", GOOD)
    odd = os.path.join(os.fsencode(folder / "s"), b"not \xff utf-8.ipynb")
    with open(odd, "wb") as file:
        file.write((folder / "s" / "good.ipynb").read_bytes())
    printed = grade(folder / "s", folder / "g.csv", "--chapters", BAYES, "--jobs", "1")
    with open(folder / "g.csv", newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    return {"folder": folder, "rows": rows, "printed": printed}


def test_no_submission_blocks_the_class(nasty):
    rows = nasty["rows"]
    assert {s: rows[s]["score"] for s in ("good", "not � utf-8")} == {"good": "10", "not � utf-8": "10"}
    assert {rows[name]["score"] for name in NASTY} == {"5"}, "each keeps what its other answers earn"
    assert "0 not graded" in nasty["printed"]


def test_hidden_inputs_do_not_leak_through_the_submission(nasty):
    """An exception, its name, an exit code: nothing that a submission says about a hidden case reaches its page."""
    document = json.loads((nasty["folder"] / "g.json").read_text())
    for name in ("leak", "type", "exit"):
        page = (nasty["folder"] / "g_feedback" / "feedback" / f"{name}.html").read_text()
        result = next(s["result"] for s in document["submissions"] if s["student"] == name)
        cases = result["questions"]["q2"]["cases"]
        assert [c["hidden"] for c in cases].count(True) == 3
        hidden = page[page.index(html.escape(next(c["title"] for c in cases if c["hidden"]))) :]
        assert "SECRET" not in hidden.split("<h3>")[0] and "exit code" not in page
        assert not any("SECRET" in remark for remark in result["remarks"])
    page = (nasty["folder"] / "g_feedback" / "feedback" / "leak.html").read_text()
    assert "Your function raised ValueError.</b>" in page


def test_function_that_remembers_hidden_inputs_has_nobody_to_tell(tmp_path):
    """The inputs of hidden cases of one question do not come out in the public cases of the next."""
    write_notebook(tmp_path / "s" / "ann.ipynb", [*GOOD, REMEMBERS])
    grade(tmp_path / "s", tmp_path / "g.csv", "--seed", 5)
    page = html.unescape((tmp_path / "g_feedback" / "feedback" / "ann.html").read_text())
    result = json.loads((tmp_path / "g.json").read_text())["submissions"][0]["result"]
    public = [c for c in assignment(BAYES).test_file("q1").test_cases if not c.hidden]
    told = re.findall(r"SECRET (\[.*?\]\])", page)
    assert told and all(text.count("[") <= len(public) + 1 for text in told), told
    assert "SECRET" in str([c for c in result["questions"]["q2"]["cases"] if c["hidden"]]), "it did remember"


def test_untouched_and_renamed_are_said(tmp_path):
    from hostile import Q2, UNTOUCHED

    write_notebook(tmp_path / "s" / "ann.ipynb", [*UNTOUCHED, "# ann"])
    write_notebook(
        tmp_path / "s" / "bob.ipynb", [c.replace("cost_bayes", "cost_baies") if c == Q2 else c for c in GOOD]
    )
    printed = grade(tmp_path / "s", tmp_path / "g.csv")
    with open(tmp_path / "g.csv", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert (rows["ann"]["status"], rows["ann"]["score"]) == ("not started", "0") and "1 not started" in printed
    assert rows["bob"]["status"] == "remarks" and "q2: there is no function cost_bayes" in rows["bob"]["remarks"]
    page = (tmp_path / "g_feedback" / "feedback" / "ann.html").read_text()
    assert "returned None" not in page and "array" not in page
    assert "1 were not started" in (tmp_path / "g_feedback" / "summary.html").read_text()


def test_points_are_printed_as_fractions_and_add_up(tmp_path):
    book = classroom.Gradebook({BAYES: assignment(BAYES)})
    result = classroom.empty_result(assignment(BAYES), "ok", "nothing")
    for question in ("q1", "q2"):
        result["questions"][question]["score"] = 8 / 3
    book.rows.append((collecting.Submitted("ann", tmp_path), {**result, "score": round(16 / 3, 6)}))
    page = report.feedback_page("ann", book.students()["ann"])
    assert "<b>5 1/3</b> of 44 points" in page and "2 2/3 of 5" in page and "2.66" not in page
    assert "5 1/3" in report.summary_page(book, [])
    row = dict(zip(*tables.table(book), strict=True))
    assert float(row["score"]) == pytest.approx(float(row["q1"]) + float(row["q2"]), abs=2e-6)


def test_without_confinement_everything_says_so(tmp_path, monkeypatch, capsys):
    """Refused unless it is asked for by name; then the table, the pages, the JSON and the terminal say it."""
    write_notebook(tmp_path / "s" / "ann.ipynb", GOOD)
    monkeypatch.setattr(confine, "refusal", lambda: "no bubblewrap")
    out = tmp_path / "g.csv"
    assert cli.main(["grade", str(tmp_path / "s"), "--out", str(out), "--jobs", "1"]) == 2
    assert "Nothing was graded" in capsys.readouterr().err and not out.exists()
    assert cli.main(["sandbox"]) == 1
    assert "cannot be confined here: no bubblewrap" in capsys.readouterr().out
    printed = grade(tmp_path / "s", out, "--jobs", "1", "--confine", "none")
    pages = [out, out.with_suffix(".json"), *(tmp_path / "g_feedback").rglob("*.html")]
    assert len(pages) == 4
    for text in (printed, *(page.read_text() for page in pages)):
        assert "WITHOUT confinement" in text


def test_answers_that_look_alike_are_a_hint(tmp_path):
    """Other names, comments and layout hide nothing; what is short or the solution is not listed."""
    answer = (
        "def cost_bayes(x):\n    # mine\n    total = 0.0\n    for v in x:\n        total += v / (1 + abs(v)) - 3 * v\n"
    )
    answer += "    if total > 10:\n        total = 10 - total / 7\n    return total * 2 + 1"
    given = assignment(BAYES)
    codes = {
        "ann": [answer],
        "bob": [answer.replace("total", "s").replace("# mine", "# no, mine")],
        "cyd": [answer.replace("10", "11")],
        "dan": given.cells_of_solution(),
        "eve": given.cells_of_solution(),
    }
    book = classroom.Gradebook({BAYES: given})
    for student in codes:
        result = {**classroom.empty_result(given, "ok", ""), "score": 1.0}
        book.rows.append((collecting.Submitted(student, tmp_path), result))
    found = similar(book, lambda submitted: codes[submitted.student])
    assert [students for students, _ in found] == [("ann", "bob")]
    for student in ("fay", "gus"):
        codes[student] = codes["ann"]
        book.rows.append((collecting.Submitted(student, tmp_path), {**book.rows[0][1]}))
    assert similar(book, lambda s: codes[s.student])[0][0] == ("ann", "bob", "fay", "gus"), "half of the class, too"
    page = report.summary_page(book, [], found)
    assert "ann, bob: q" in page and "a hint and not a verdict" in page


def test_grades_on_a_dask_cluster(tmp_path):
    """The workers of an existing cluster grade; the table is the same."""
    distributed = pytest.importorskip("distributed")
    write_notebook(tmp_path / "s" / "ann.ipynb", GOOD)
    write_notebook(tmp_path / "s" / "bob.ipynb", [*GOOD, "# bob"])
    grade(tmp_path / "s", tmp_path / "here.csv")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        printed = grade(tmp_path / "s", tmp_path / "there.csv", "--scheduler", cluster.scheduler_address)
    assert "2 graded in" in printed
    assert (tmp_path / "there.csv").read_text() == (tmp_path / "here.csv").read_text()
