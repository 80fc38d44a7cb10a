"""`learnable check`, points beside each question, and follow-through: a mistake costs its own points only."""

import re
import shutil

import pytest
from support import BAYES, CHAPTERS, ROOT, assignment, run_cells, run_tests, submission, write_notebook

from learnable import cli
from learnable.exercises import judging, notebook, workspace
from learnable.exercises.confine import Limits
from learnable.exercises.grading import grade_cells
from learnable.exercises.judging import check_here
from learnable.exercises.progress import Progress
from learnable.exercises.reading import names_reached
from learnable.exercises.report import points_text
from learnable.exercises.sandbox import Sandbox

HMM = "latent/hmm_alignment"
WRONG_VITERBI = "def viterbi(log_pi, log_P, log_f):\n    return log_f.argmax(axis=1)"
SLIP = "def cost_bayes(post1, a, b):\n    return (np.asarray(post1) >= 0.5).astype(int), None"


def full(chapter, question):
    return assignment(chapter).questions[question].points


@pytest.fixture(scope="module")
def hmm():
    with Sandbox(assignment(HMM).modules, mode="none") as sandbox:
        yield lambda cells: grade_cells(cells, assignment(HMM), sandbox, 3)


def test_wrong_viterbi_does_not_cost_the_question_that_uses_it(hmm):
    """q4 calls the function of q2: right after an earlier mistake is right. The mistake itself earns nothing."""
    result = hmm(submission(HMM, {"q2": WRONG_VITERBI}))
    questions = result["questions"]
    assert questions["q4"]["score"] == full(HMM, "q4") and questions["q4"]["given"] == ["q2"]
    alone = run_tests(HMM, "q2", run_cells(submission(HMM, {"q2": WRONG_VITERBI})), 3)
    assert [c["passed"] for c in questions["q2"]["cases"]] == [passed for passed, _ in alone.values()]
    assert questions["q2"]["score"] < full(HMM, "q2") and questions["q2"]["given"] == []
    assert "q4: judged with the given solution of q2" in result["remarks"]
    assert [questions[q]["score"] for q in ("q1", "q3", "q5")] == [full(HMM, q) for q in ("q1", "q3", "q5")]


def test_a_wrong_answer_gains_nothing_from_given_solutions(hmm):
    """Neither the failed question nor a later one that is wrong by itself, nor what it says about the solution."""
    steal = "import inspect\ndef combined_alignment(*args):\n    try:\n        viterbi(*args[1:4])\n"
    steal += "        raise ValueError(inspect.getsource(viterbi))\n    except OSError:\n        return 1"
    result = hmm([*submission(HMM, {"q2": "def viterbi(*args):\n    return None"}), steal])
    assert result["questions"]["q2"]["score"] == result["questions"]["q4"]["score"] == 0
    assert result["questions"]["q4"]["given"] == []
    told = str(result)
    line = next(line for line in assignment(HMM).answers["q2"].split("\n") if "np.empty" in line or "delta" in line)
    assert line.strip() not in told and not any("judged" in remark for remark in result["remarks"])


def test_own_functions_are_asked_first(hmm):
    """Two mistakes that agree with each other keep what they earn: the given solution is tried, not imposed."""
    turned = "_right = viterbi\ndef viterbi(log_f, log_P, log_pi):\n    return _right(log_pi, log_P, log_f)\n"
    turned += "def _turned(a, b, c):\n    return viterbi(c, b, a)"
    swapped = submission(HMM, {"q2": turned})
    at = next(i for i, cell in enumerate(swapped) if "def combined_alignment" in cell)
    assert "viterbi(" in swapped[at]
    swapped[at] = swapped[at].replace("viterbi(", "_turned(")
    result = hmm(swapped)
    assert result["questions"]["q4"]["score"] == full(HMM, "q4") and result["questions"]["q4"]["given"] == []


def test_names_are_followed_through_helpers():
    cells = ["%matplotlib inline\ndef f(x):\n    return helper(x)", "def helper(x):\n    return viterbi(x)", "("]
    assert "viterbi" in names_reached(cells, ["f"]) and "f" not in names_reached(cells, ["helper"])


def test_follow_through_in_the_notebook_leaves_it_as_it_was():
    names = run_cells(submission(HMM, {"q2": WRONG_VITERBI}))
    own, before = names["viterbi"], set(names)
    result = check_here(assignment(HMM), "q4", names, 5)
    assert result["score"] == full(HMM, "q4") and result["given"] == ["q2"]
    assert names["viterbi"] is own and set(names) == before
    assert check_here(assignment(HMM), "q2", names, 5)["given"] == []


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A learner in a copy of the book with one exercise."""
    monkeypatch.setenv("LEARNABLE_HOME", str(tmp_path / "home"))
    book = tmp_path / "book"
    for name in (f"exercises/{BAYES}.ipynb", f"exercises/solutions/{BAYES}.ipynb", "pyproject.toml"):
        (book / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, book / name)
    monkeypatch.chdir(book)
    monkeypatch.setenv("LEARNABLE_BOOK", str(book))
    return book / "work" / f"{BAYES}.ipynb"


def marks():
    return {name: solved for name, _, solved, _ in Progress().standing()[BAYES]}


def test_check_command_runs_hidden_cases_and_keeps_the_record(desk, capsys):
    write_notebook(desk, submission(BAYES))
    assert cli.main(["check", "bayes_decision_theory", "q2"]) == 0
    printed = capsys.readouterr().out
    assert "q2 (5 of 5 points) passed: all 5 checks, hidden cases too." in printed and "q1" not in printed
    assert marks() == {"q1": False, "q2": True, "q3": False, "q4": False, "q5": False}
    write_notebook(desk, submission(BAYES, {"q2": SLIP}))
    assert cli.main(["check"]) == 1
    printed = capsys.readouterr().out
    assert "q2 (" in printed and "is not right yet" in printed and "FAILED: " in printed and "(hidden)" in printed
    assert marks() == {"q1": True, "q2": False, "q3": True, "q4": True, "q5": True}
    assert cli.main(["progress"]) == 0
    assert "4 of 5 questions solved" in capsys.readouterr().out


def test_check_command_ends_an_endless_loop(desk, capsys, monkeypatch):
    write_notebook(desk, submission(BAYES, {"q1": "def joint_table(px, p1):\n    while True:\n        pass"}))
    monkeypatch.setattr("learnable.exercises.grading.Limits", lambda **limits: Limits(call_seconds=0.2))
    assert cli.main(["check", "bayes_decision_theory", "q1"]) == 1
    assert "Your function did not finish within 0.2 s." in capsys.readouterr().out


def test_check_command_in_a_bundle_says_that_there_are_no_hidden_cases(desk, capsys, monkeypatch, tmp_path):
    bundle = write_notebook(tmp_path / "week1" / "bayes_decision_theory.ipynb", submission(BAYES))
    monkeypatch.chdir(bundle.parent)
    for module in (notebook, workspace):
        monkeypatch.setattr(module, "find_shelf", lambda: None)
    assert cli.main(["check", "bayes_decision_theory"]) == 0
    printed = capsys.readouterr().out
    assert notebook.NO_HIDDEN in printed and "(hidden)" not in printed and all(marks().values())


def test_check_command_names_what_it_does_not_find(desk, capsys):
    assert cli.main(["check"]) == 2
    assert "learnable start SLUG" in capsys.readouterr().err
    write_notebook(desk, submission(BAYES))
    assert cli.main(["check", "bayes_decision_theory", "q9"]) == 2
    assert "there is no question 'q9'; there are q1, q2" in capsys.readouterr().err


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_points_and_minutes_stand_beside_each_question(chapter):
    text = "\n".join(c.source for c in assignment(chapter).student.cells if c.cell_type == "markdown")
    shown = re.findall(r"^## .+ \(([\d /]+) points?, about (\d+) minutes\)$", text, re.M)
    questions = assignment(chapter).questions.values()
    assert shown == [(points_text(q.points), str(q.minutes)) for q in questions]


def test_time_limit_leaves_the_alarm_as_it_was():
    import signal

    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(judging.TooLong, match=r"did not finish within 0.05 s"), judging.time_limit(0.05):
        while True:
            pass
    assert signal.getsignal(signal.SIGALRM) is before
