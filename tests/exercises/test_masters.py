"""Every chapter: the master scores everything, the untouched notebook nothing, every hidden case catches a mistake."""

import itertools
import json
import os
import re
import time

import pytest
from mistakes import read_mistakes
from support import CHAPTERS, ROOT, assignment, run_cells, run_tests, wrong_solutions

from tools.check.budgets import GRACE

# Two seeds in every run, twenty at night: LEARNABLE_SEEDS says how many.
SEEDS = tuple(range(int(os.environ.get("LEARNABLE_SEEDS", "2"))))
LAZY = 5  # wrong answers kept for each question that earn at most a third of its points
BUDGET_SECONDS = 10.0  # for two seeds; another machine or busy neighbours may take GRACE times as long

each_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


@pytest.fixture(autouse=True)
def quiet_numbers(monkeypatch):
    import numpy as np

    with np.errstate(all="ignore"):
        yield


@each_chapter
def test_master_scores_everything_whatever_the_seed(chapter):
    names = run_cells(assignment(chapter).cells_of_solution())
    for seed in (*SEEDS, 20120116):
        for question in assignment(chapter).questions:
            for title, (passed, message) in run_tests(chapter, question, names, seed).items():
                assert passed, f"seed {seed}, {question}, {title}: {message}"


@each_chapter
def test_untouched_notebook_scores_nothing(chapter):
    cells = [c.source for c in assignment(chapter).student.cells if c.cell_type == "code"]
    names = run_cells(cells)
    for question in assignment(chapter).questions:
        for title, (passed, message) in run_tests(chapter, question, names).items():
            assert not passed, f"{question}, {title} passes without an answer"
            assert message.startswith("wrong; "), f"{question}, {title}: {message}"


def earned(chapter, question, outcome):
    """Return the share of a question's points that an outcome earns."""
    cases = assignment(chapter).test_file(question).test_cases
    return sum(c.points for c in cases if outcome[c.name][0]) / sum(c.points for c in cases)


def test_a_patch_that_does_not_apply_is_named():
    answers = {"q1": "def f(x):\n    return x + x"}
    for text, problem in (("- y\n+ z", "occurs 0 times"), ("- x\n+ z", "occurs 3 times"), ("- x +\n+ x +", "nothing")):
        with pytest.raises(ValueError, match=f"q1: A slip.*{problem}"):
            read_mistakes(f"q1: A slip\n{text}", answers)
    (wrong,) = read_mistakes("q1: A constant | Case\n@ f\n+ return 3", answers)
    assert wrong.source == "def f(x):\n    return 3" and wrong.fails == ("Case",)


def test_patches_follow_each_other_without_a_blank_line():
    answers = {"q1": "def f(x):\n    y = x\n    return y + 1", "q2": "g = 2"}
    text = "q1: Twice\n~ + 1 => * 2\n~ y = x => y = -x\nq1: Nothing\n- y = x\n- return y + 1\n+ return 0"
    text += "\n\nq2: Short\n~ = 2 => = 3"
    sources = [wrong.source for wrong in read_mistakes(text, answers)]
    assert sources == ["def f(x):\n    y = -x\n    return y * 2", "def f(x):\n    return 0", "g = 3"]


@each_chapter
def test_each_hidden_case_catches_a_plausible_mistake(chapter):
    given = assignment(chapter)
    caught, subtle, lazy = set(), set(), dict.fromkeys(given.questions, 0)
    start = time.process_time()
    for wrong in wrong_solutions(chapter):
        public = {c.name for c in given.test_file(wrong.question).test_cases if not c.hidden}
        slip = bool(set(wrong.fails) - public)
        lazy[wrong.question] += not slip
        names = run_cells(given.cells_of_solution())
        exec(compile(wrong.source, f"<{wrong.name}>", "exec"), names)
        passes_public = True
        for seed in SEEDS:
            outcome = run_tests(chapter, wrong.question, names, seed)
            failed = {title for title, (passed, _) in outcome.items() if not passed}
            for title, (_, message) in outcome.items():
                assert not message.startswith("unusable"), f"{wrong.question}, {wrong.name}, {title}: {message}"
            assert failed >= set(wrong.fails), f"{wrong.name}, seed {seed}: should fail {set(wrong.fails) - failed}"
            if not slip:
                share = earned(chapter, wrong.question, outcome)
                assert share <= 1 / 3 + 1e-9, f"{wrong.question}, {wrong.name}, seed {seed}: earns {share:.0%}"
            caught |= {(wrong.question, title) for title in failed}
            passes_public &= not failed & public
        if passes_public:
            subtle.add(wrong.question)
    spent = time.process_time() - start
    for question in given.questions:
        hidden = {(question, c.name) for c in given.test_file(question).test_cases if c.hidden}
        assert hidden, f"{question} has no hidden case"
        assert hidden <= caught, f"no wrong solution fails {sorted(t for _, t in hidden - caught)}"
        assert question in subtle, f"{question}: no kept mistake passes the public cases and fails a hidden one"
        assert lazy[question] >= LAZY, f"{question}: only {lazy[question]} answers that earn at most a third are kept"
    assert spent < GRACE * BUDGET_SECONDS * len(SEEDS) / 2, f"the wrong solutions of {chapter} take {spent:.1f} s"


@each_chapter
def test_hidden_cases_follow_the_seed(chapter):
    """The inputs that a submission is asked about change with the seed."""
    given = assignment(chapter)

    def inputs(seed):
        seen = []
        names = run_cells(given.cells_of_solution())

        class Spy(dict):
            def __getitem__(self, name):
                function = super().__getitem__(name)

                def spied(*args, **kwargs):
                    seen.append(repr((name, args, kwargs)))
                    return function(*args, **kwargs)

                return spied

        for question in given.questions:
            run_tests(chapter, question, Spy(names), seed)
        return [re.sub(r"0x[0-9a-f]+", "", text) for text in seen]

    assert inputs(5) == inputs(5)
    assert inputs(5) != inputs(6)


@each_chapter
def test_student_notebook_gives_nothing_away(chapter):
    given = assignment(chapter)
    text = (ROOT / "exercises" / f"{chapter}.ipynb").read_text(encoding="utf-8")
    stored = json.loads(text)
    everything = "\n".join("".join(c["source"]) for c in stored["cells"]) + json.dumps(stored["metadata"])
    for cell in given.solved.cells:
        inside = False
        for line in cell.source.split("\n") if cell.cell_type == "code" else ():
            if "# BEGIN SOLUTION" in line or "# END SOLUTION" in line:
                inside = "BEGIN" in line
            elif inside and len(line.strip()) > 25:
                assert line.strip() not in everything, (
                    f"the solution line {line.strip()!r} is in the student's notebook"
                )
    for question in given.questions:
        for case in given.test_file(question).test_cases:
            if case.hidden:
                assert case.name not in everything
                assert case.body.test_func.__name__ not in everything
    assert "hidden_rng" not in everything


@each_chapter
def test_questions_are_complete_and_ordered(chapter):
    given = assignment(chapter)
    assert 3 <= len(given.questions) <= 5
    order = [("easy", "medium", "hard").index(q.difficulty) for q in given.questions.values()]
    assert order == sorted(order), "questions go from easy to hard"
    for name, question in given.questions.items():
        cases = given.test_file(name).test_cases
        assert sum(c.points for c in cases) == pytest.approx(question.points)
        assert len({c.name for c in cases}) == len(cases), f"{name}: two cases have the same title"
        assert 2 <= len(question.hints) <= 5
        assert any(not c.hidden for c in cases)


@each_chapter
def test_points_follow_effort(chapter):
    questions = assignment(chapter).questions.values()
    assert all(5 <= q.minutes <= 60 for q in questions)
    for long, short in itertools.permutations(questions, 2):
        if long.minutes >= max(2 * short.minutes, short.minutes + 10):
            assert long.points > short.points, f"{long.name} takes twice as long as {short.name} and earns no more"


@each_chapter
def test_section_to_read_again_exists(chapter):
    lecture = ROOT / "lectures" / f"{chapter}.ipynb"
    if not lecture.exists():
        pytest.skip("the chapter has no lecture yet")
    cells = json.loads(lecture.read_text(encoding="utf-8"))["cells"]
    lines = [line for c in cells if c["cell_type"] == "markdown" for line in "".join(c["source"]).split("\n")]
    headings = {re.sub(r"^#+\s*(\d+(\.\d+)*\.?\s+)?", "", line).strip() for line in lines if line.startswith("#")}
    for name, question in assignment(chapter).questions.items():
        assert question.section in headings, f"{name} sends to {question.section!r}; the lecture has {sorted(headings)}"


@each_chapter
def test_stored_student_notebook_agrees_with_its_master(chapter):
    stored = (ROOT / "exercises" / f"{chapter}.ipynb").read_text(encoding="utf-8")
    assert stored == assignment(chapter).student_text(), "run `make exercises`"


def test_every_exercise_has_a_master_and_wrong_solutions():
    students = {
        f"{p.parent.name}/{p.stem}" for p in (ROOT / "exercises").glob("*/*.ipynb") if p.parent.name != "solutions"
    }
    assert students == set(CHAPTERS)
    for chapter in CHAPTERS:
        assert wrong_solutions(chapter)
