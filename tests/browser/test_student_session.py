"""A student in a real JupyterLab: opens an exercise, answers wrongly, reads, takes a hint, answers rightly."""

import os
from pathlib import Path

import pytest

from learnable import cli
from learnable.exercises.progress import Progress

pytestmark = pytest.mark.browser

CHAPTER = "foundations/bayes_decision_theory"
WRONG = """def cost_bayes(post1, a, b):
    post1 = np.asarray(post1)
    return (post1 > 0.5).astype(int), np.minimum(post1, 1 - post1)"""
RIGHT = """def cost_bayes(post1, a, b):
    post1 = np.asarray(post1)
    miss, alarm = a * post1, b * (1 - post1)
    return (miss >= alarm).astype(int), np.minimum(miss, alarm)"""


@pytest.fixture
def exercise(open_notebook, lab, tmp_path_factory):
    """The page of an exercise that `learnable start` has just made, and its file: one for each test."""
    work = lab.folder / tmp_path_factory.mktemp("work").name
    assert cli.main(["start", "bayes_decision_theory", "--to", str(work)]) == 0
    return open_notebook(f"{work.name}/{CHAPTER}.ipynb"), work / f"{CHAPTER}.ipynb"


# The cells as JupyterLab itself holds them; what they contain is true before it is drawn.
CELL = "number => window.jupyterapp.shell.currentWidget.content.widgets[number]"


def cell_with(page, text):
    """Number of the code cell that holds ``text``, and the place where it is shown."""
    number = page.evaluate(
        """text => window.jupyterapp.shell.currentWidget.content.widgets
             .findIndex(cell => cell.model.type === 'code' && cell.model.sharedModel.getSource().includes(text))""",
        text,
    )
    assert number >= 0, f"no cell holds {text!r}"
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell").nth(number)
    return number, shown


def run(page, cell):
    """Run a cell by keyboard, and wait until the kernel has done it."""
    number, shown = cell
    before = page.evaluate(f"number => ({CELL})(number).model.executionCount", number)
    edit(page, cell)
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        f"""([number, before]) => {{ const model = ({CELL})(number).model;
              return model.executionCount && model.executionCount !== before && model.executionState === 'idle'; }}""",
        arg=[number, before],
    )
    return shown


def edit(page, cell):
    """Click into a cell; wait until the editor has the keyboard and knows its language (by which it indents)."""
    number, shown = cell
    shown.locator(".cm-content[data-language=python]").click()
    page.wait_for_function(f"number => ({CELL})(number).editor.hasFocus()", arg=number)


def type_answer(page, cell, source):
    """Replace a cell by typing, line after line, as a student does (the editor indents)."""
    number, _ = cell
    edit(page, cell)
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    for number_of_line, line in enumerate(source.splitlines()):
        if number_of_line:
            page.keyboard.press("Enter")
        page.keyboard.insert_text(line.strip())
    page.wait_for_function(
        f"([number, source]) => ({CELL})(number).model.sharedModel.getSource() === source", arg=[number, source]
    )


def save(page):
    """Save through the menu (after a hint was unfolded, the keyboard may not belong to the notebook)."""
    page.click(".lm-MenuBar-itemLabel:text-is('File')")
    page.click(".lm-Menu-itemLabel:text-is('Save Notebook')")
    page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")


def picture(page, name):
    """Keep what the student sees, when somebody wants to look at it."""
    if os.environ.get("LEARNABLE_SHOTS"):
        page.screenshot(path=str(Path(os.environ["LEARNABLE_SHOTS"]) / f"student_{name}.png"))


def test_wrong_answer_hint_right_answer(exercise, lab):
    page, _ = exercise
    run(page, cell_with(page, "from learnable.exercises import Notebook"))
    answer, check = cell_with(page, "def cost_bayes"), cell_with(page, 'grader.check("q2")')

    type_answer(page, answer, WRONG)
    run(page, answer)
    report = run(page, check).locator(".learnable-check")
    report.wait_for()
    said = report.inner_text()
    assert "q2 (5 points) is not right yet: 1 of 2 checks pass." in said
    assert "cost_bayes([0.125, 0.5, 0.625], 2, 2)" in said, "the case that failed"
    assert "decisions is wrong at [1]" in said and "Expected" in said and "Came" in said
    assert "Read again: Errors with a price tag" in said
    assert "Traceback" not in said and "AssertionError" not in said

    hint = report.get_by_text("Deciding 0 costs a p on average")
    assert not hint.is_visible(), "a hint is given on request only"
    report.get_by_text("Hint 1 of 3").click()
    report.get_by_text("Hint 2 of 3").click()
    hint.wait_for(state="visible")
    assert not report.get_by_text("Compare products, not quotients").is_visible()
    picture(page, "wrong")

    type_answer(page, answer, RIGHT)
    run(page, answer)
    report = run(page, check).locator(".learnable-check", has_text="q2 (5 points) passed: all 2 checks")
    report.wait_for()
    assert "not right yet" not in report.inner_text()
    picture(page, "right")
    standing = Progress(lab.home / "progress.sqlite").standing()[CHAPTER]
    assert {name: share for name, share, _, _ in standing}["q2"] == 1.0


def test_saved_work_is_gradable(exercise):
    """What JupyterLab saves is a submission: the second question has its points."""
    from learnable.exercises.grading import grade_cells
    from learnable.exercises.masters import Assignment
    from learnable.exercises.reading import read_submission
    from learnable.exercises.sandbox import Sandbox
    from learnable.exercises.workspace import find_shelf

    page, saved = exercise
    type_answer(page, cell_with(page, "def cost_bayes"), RIGHT)
    save(page)
    assignment = Assignment.load(find_shelf(Path(__file__).parent).master(CHAPTER))
    with Sandbox(assignment.modules) as sandbox:
        result = grade_cells(read_submission(saved).code, assignment, sandbox, seed=1)
    assert result["questions"]["q2"]["score"] == 5 and result["score"] == 5
