"""What a student reads: every way to be wrong gets a sentence, none gets the solution."""

import nbformat
import numpy as np
import pytest
from support import BAYES, ROOT, assignment, run_cells

from learnable.exercises import WrongAnswer, ask, refuses
from learnable.exercises.judging import run_case
from learnable.exercises.notebook import NO_HIDDEN, Notebook
from learnable.exercises.progress import Progress, render


def complaint(function, check, name="f"):
    """Return the message of a check about ``function``."""
    with pytest.raises(WrongAnswer) as caught:
        check({name: function} if function is not None else {"other": print})
    return str(caught.value)


def equals(expected, **kwargs):
    return lambda env: ask(env, "f", 2.0).equals(expected, **kwargs)


def raising(error):
    def f(x):
        raise error

    return f


@pytest.mark.parametrize(
    ("function", "expected", "words"),
    [
        (lambda x: None, 4.0, ["returned None", "f(2)"]),
        (lambda x: ..., 4.0, ["three dots are still in place"]),
        (lambda x: 5.0, 4.0, ["is wrong", "Expected: 4", "Came: 5"]),
        (lambda x: "four", 4.0, ["wrong type", "a number", "a str: 'four'"]),
        (lambda x: [1.0, 2.0], 4.0, ["should be one number", "a list"]),
        (lambda x: float("nan"), 4.0, ["is NaN"]),
        (lambda x: np.array([1.0, 2.0, 3.0]), [1.0, 2.0], ["wrong shape", "(2,)", "(3,)"]),
        (lambda x: np.ones((3, 2)), np.ones((2, 3)), ["wrong shape", "axes are exchanged"]),
        (lambda x: np.array([1.0, np.nan]), [1.0, 2.0], ["contains NaN at [1]"]),
        (lambda x: np.array(["a", "b"]), [1.0, 2.0], ["wrong type", "array of <U1"]),
        (lambda x: {"a": 1}, [1.0, 2.0], ["wrong type", "a dict"]),
        (lambda x: [[1.0], [1.0, 2.0]], [1.0, 2.0], ["not a rectangular array"]),
        (lambda x: [1.0, 2.5, 3.5], [1.0, 2.0, 3.0], ["at [1]", "2 of 3 entries"]),
        (lambda x: [True, True], [True, False], ["at [1]", "Expected: False", "Came: True"]),
        (lambda x: np.False_, np.True_, ["is wrong", "Expected: True", "Came: False"]),
        (lambda x: ["a", "c"], ["a", "b"], ["wrong at [1]", "Expected: b", "Came: c"]),
        (lambda x: ["a"], ["a", "b"], ["wrong type or shape", "strings of shape (2,)"]),
        (lambda x: 3, ["a", "b"], ["wrong type or shape", "an int"]),
        (raising(ZeroDivisionError("division by zero")), 4.0, ["raised ZeroDivisionError: division by zero"]),
        (raising(SystemExit()), 4.0, ["called sys.exit"]),
        (raising(MemoryError()), 4.0, ["more memory"]),
        (lambda: 4.0, 4.0, ["raised TypeError", "positional argument"]),
        (3, 4.0, ["f is not a function", "an int"]),
        (None, 4.0, ["There is no function f"]),
    ],
)
def test_every_mistake_has_its_sentence(function, expected, words):
    message = complaint(function, equals(expected))
    for word in words:
        assert word in message, message
    assert "AssertionError" not in message


def test_the_line_that_raised_is_shown():
    names = run_cells(["def f(x):\n    y = x + 1\n    return y / (x - x)"])
    with pytest.raises(WrongAnswer, match="raised ZeroDivisionError"):
        ask(names, "f", 2.0)


def test_renamed_function_is_recognised():
    with pytest.raises(WrongAnswer, match="There is a joint_tabel: was the function renamed"):
        ask({"joint_tabel": print}, "joint_table", 1)


def test_values_in_a_message_are_printed_and_a_zero_is_not_lost():
    """A test may give the values themselves; the judge, the text and the page take them."""

    class Case:
        name, hidden, points = "Values", False, 1.0

    for value, text in (
        (0, "0"),
        (0.5, "0.5"),
        (False, "False"),
        (np.float64(0), "0"),
        (np.zeros(2), "array([0., 0.])"),
    ):
        for parts in ({"expected": value, "came": "x"}, {"expected": "x", "came": value}):

            def check(env, parts=parts):
                ask(env, "f", 2.0).holds(False, "It is wrong.", **parts)

            case = Case()
            case.body = type("Body", (), {"call_func": staticmethod(check)})
            result = run_case(case, {"f": lambda x: x}, 0)
            assert result["outcome"] == "wrong"
            assert {result["parts"]["Expected"], result["parts"]["Came"]} == {"x", text}


def test_expected_value_can_be_withheld():
    message = complaint(lambda x: 5.0, equals(4.25, reveal=False))
    assert "4.25" not in message and "Came: 5" in message


def test_correct_answers_in_any_reasonable_dress_pass():
    for value in (4.0, 4, np.float64(4), np.array(4.0), np.int32(4)):
        ask({"f": lambda x, v=value: v}, "f", 2.0).equals(4.0)
    for value in ([1, 2], (1.0, 2.0), np.array([1, 2]), np.array([1.0, 2.0])):
        ask({"f": lambda x, v=value: v}, "f", 2.0).equals([1.0, 2.0])
    ask({"f": lambda x: np.inf}, "f", 2.0).equals(np.inf)
    with pytest.raises(WrongAnswer, match="is wrong"):
        ask({"f": lambda x: 5.0}, "f", 2.0).equals(np.inf)
    for value in ("yes", True, None):
        ask({"f": lambda x, v=value: v}, "f", 2.0).equals(value)
        for other in ("no", False, 1.0, np.ones(3), [True]):
            with pytest.raises(WrongAnswer, match="is wrong"):
                ask({"f": lambda x, v=other: v}, "f", 2.0).equals(value)
    ask({"f": lambda x: np.True_}, "f", 2.0).equals(True)
    ask({"f": lambda x: ["a", "b"]}, "f", 2.0).equals(["a", "b"])


def test_a_function_that_changes_its_input_cannot_spoil_the_test():
    def f(x):
        x[:] = 0
        return x

    given = np.ones(3)
    ask({"f": f}, "f", given).equals([0, 0, 0])
    assert given.sum() == 3


def test_bad_input_must_be_refused():
    refuses({"f": raising(ValueError("no"))}, "f", -1)
    for function, word in ((lambda x: x, "should be refused"), (raising(KeyError("x")), "raised KeyError")):
        with pytest.raises(WrongAnswer, match=word):
            refuses({"f": function}, "f", -1)


def test_digits_tell_the_two_apart():
    message = complaint(lambda x: 0.123456789124, equals(0.123456789123, rtol=0, atol=0))
    expected, came = (line.split(": ")[1] for line in message.split("\n") if line.startswith(("Expected", "Came")))
    assert expected != came


def test_long_arguments_are_shortened():
    message = complaint(lambda x: 1.0, lambda env: ask(env, "f", np.arange(1e5)).equals(2.0))
    assert "shape (100000,)" in message and len(message) < 400


@pytest.fixture
def student(tmp_path, monkeypatch):
    """A student's notebook, open in its folder, with its functions as they came."""
    monkeypatch.setenv("LEARNABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    source = ROOT / "exercises" / f"{BAYES}.ipynb"
    (tmp_path / source.name).write_bytes(source.read_bytes())
    names = run_cells([c.source for c in assignment(BAYES).student.cells if c.cell_type == "code"])
    names["grader"] = Notebook(source.name)
    return names


WRONG_TABLE = "def joint_table(px, p1):\n    return np.column_stack([px, p1]), np.array([0.4, 0.6])"


def test_failed_check_shows_case_expected_came_section_and_hints(student):
    exec(WRONG_TABLE, student)
    report = student["grader"].check("q1", student)
    text, page = repr(report), report._repr_html_()
    question = assignment(BAYES).questions["q1"]
    for shown in (text, page):
        assert "joint_table([0.2, 0.2, 0.2, 0.2, 0.2]" in shown and "joint is wrong at [0, 0]" in shown
        assert "0.16" in shown and question.section in shown
        assert "AssertionError" not in shown and "Traceback" not in shown
    assert page.count("<details") == len(question.hints)
    first, second = (page.index(f"Hint {n} of") for n in (1, 2))
    assert first < second and page.index("</details>") > second, "a hint unfolds inside the one before"
    assert 'grader.hint("q1")' in text


def test_question_without_an_answer_is_not_started(student):
    report = student["grader"].check("q1", student)
    assert "q1 (5 points) is not started" in repr(report) and "FAILED" not in repr(report)
    assert "is not started" in report._repr_html_() and "array" not in report._repr_html_()


def test_hints_come_one_at_a_time(student):
    hints = [repr(student["grader"].hint("q2")) for _ in range(4)]
    assert hints[0].startswith("Hint 1 of 3") and hints[1].startswith("Hint 2 of 3")
    assert hints[2] == hints[3]
    with pytest.raises(ValueError, match="there is no question 'q9'"):
        student["grader"].hint("q9")


def test_right_answer_passes_and_is_remembered(student):
    grader = student["grader"]
    assert not grader.check("q1", student).passed
    names = run_cells(assignment(BAYES).cells_of_solution())
    report = grader.check("q1", names)
    assert report.passed and "q1 (5 points) passed" in repr(report) and "details" not in report._repr_html_()
    standing = Progress().standing()[BAYES]
    assert [share for _, share, _, _ in standing] == [1.0, None, None, None, None]
    assert "q1 ◕  q2 ·" in render({BAYES: standing}), "hidden cases have not been asked"
    assert "0 of 5" in render({BAYES: standing}, ascii_only=True)


SLIP = "def cost_bayes(post1, a, b):\n    post1 = np.asarray(post1)\n    r = (post1 >= 0.5).astype(int)\n"
SLIP += "    return r, np.minimum(a * (1 - post1), b * post1)"


def test_solved_means_hidden_cases_too_and_goes_with_a_later_failure(student):
    """The public cases alone are no ✓; all cases are; a check that fails afterwards takes it away again."""
    grader, solved = student["grader"], run_cells(assignment(BAYES).cells_of_solution())

    def mark():
        return render(Progress().standing(), ascii_only=True).split("q2 ")[1][:3]

    assert grader.check("q2", solved).passed and mark() == "[+]"
    report = grader.check("q2", solved, all=True)
    assert report.passed and "5 of 5 points" in repr(report) and "(hidden)" in repr(report) and mark() == "[x]"
    assert grader.check("q2", solved).passed and mark() == "[x]", "what passes less does not take it away"
    exec(SLIP, solved)
    assert not grader.check("q2", solved, all=True).passed and mark() == "[/]"


def test_hidden_cases_are_drawn_anew_for_each_check(student, monkeypatch):
    seeds = []
    from learnable.exercises import judging

    real = judging.hidden_seed
    monkeypatch.setattr(judging, "hidden_seed", lambda seed: seeds.append(seed) or real(seed))
    for _ in range(2):
        student["grader"].check("q2", student, all=True)
    assert len(set(seeds)) == 2


def test_in_a_bundle_the_public_checks_are_all_and_it_says_so(student, tmp_path, monkeypatch):
    """Without the book there are no hidden cases: a ✓ is the public checks, and ``all`` says that."""
    from learnable.exercises import notebook

    monkeypatch.setattr(notebook, "find_shelf", lambda: None)
    solved = run_cells(assignment(BAYES).cells_of_solution())
    report = student["grader"].check("q2", solved, all=True)
    assert report.passed and not report.is_whole and NO_HIDDEN in repr(report) and NO_HIDDEN in report._repr_html_()
    assert "q2 ✓" in render(Progress().standing())


def test_endless_loop_in_a_check_ends_with_a_message(student, monkeypatch):
    """Also one that sleeps, and one that catches every exception on its way."""
    student["grader"]._public.master.metadata["learnable"]["limits"] = {"call_seconds": 0.2}
    for endless in ("while True: pass", "time.sleep(1000)"):
        body = f"    try:\n        {endless}\n    except Exception:\n        pass"
        exec(f"import time\ndef cost_bayes(post1, a, b):\n{body}", student)
        text = repr(student["grader"].check("q2", student))
        assert text.count("Your function did not finish within 0.2 s.") == 2, text
    assert student["grader"].check("q1", run_cells(assignment(BAYES).cells_of_solution())).passed


def test_check_all_and_default_namespace(student):
    exec("everything = grader.check_all()\none = grader.check('q2')", student)
    assert [r.name for r in student["everything"]] == list(assignment(BAYES).questions)
    assert not student["one"].passed


def test_overwritten_helpers_in_the_notebook_change_nothing(student):
    exec("ask = hidden_rng = print\nassert_equal = None\n" + WRONG_TABLE, student)
    assert not student["grader"].check("q1", student).passed


def test_unwritable_progress_does_not_stop_a_check(student, tmp_path, monkeypatch):
    blocker = tmp_path / "blocked"
    blocker.write_text("a file where the directory should be")
    monkeypatch.setenv("LEARNABLE_HOME", str(blocker / "x"))
    student["grader"] = Notebook("bayes_decision_theory.ipynb")
    report = student["grader"].check("q1", student)
    assert "progress could not be stored" in repr(report)


def test_renamed_notebook_is_found(student, tmp_path):
    (tmp_path / "bayes_decision_theory.ipynb").rename(tmp_path / "my answers.ipynb")
    assert Notebook("bayes_decision_theory.ipynb").chapter == BAYES
    (tmp_path / "my answers.ipynb").unlink()
    with pytest.raises(FileNotFoundError, match="If you renamed it"):
        Notebook("bayes_decision_theory.ipynb")


def test_public_checks_agree_with_plain_otter(student):
    """The notebook is an ordinary otter notebook: otter alone comes to the same verdicts."""
    import otter

    plain = otter.Notebook("bayes_decision_theory.ipynb")
    solved = run_cells(assignment(BAYES).cells_of_solution())
    for question in assignment(BAYES).questions:
        assert plain.check(question, solved).passed_all
        assert not plain.check(question, student).passed_all


def test_student_notebook_is_valid_and_clean():
    for path in (ROOT / "exercises").glob("*/*.ipynb"):
        if path.parent.name != "solutions":
            notebook = nbformat.read(path, as_version=4)
            nbformat.validate(notebook)
            assert all(not c.get("outputs") for c in notebook.cells)
