"""A student in a real JupyterLab: opens an exercise, answers wrongly, reads, takes a hint, answers rightly."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
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


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab over a ``work`` directory that `learnable start` made."""
    folder = tmp_path_factory.mktemp("lab")
    assert cli.main(["start", "bayes_decision_theory", "--to", str(folder / "work")]) == 0
    port, token = free_port(), "student"
    home = folder / "home"
    environment = {
        **os.environ,
        "LEARNABLE_HOME": str(home / "learnable"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    command = [
        str(Path(sys.executable).with_name("jupyter-lab")),
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={folder / 'work'}",
        "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    log = open(folder / "lab.log", "w")
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{address}/api?token={token}", timeout=2)
                break
            except OSError:
                assert server.poll() is None, (folder / "lab.log").read_text()
                time.sleep(0.25)
        else:
            pytest.fail((folder / "lab.log").read_text())
        yield {"address": address, "token": token, "home": home / "learnable", "work": folder / "work"}
    finally:
        server.terminate()
        server.wait(20)
        log.close()


@pytest.fixture
def page(browser, lab):
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{lab['address']}/lab/tree/{CHAPTER}.ipynb?token={lab['token']}&reset")
    page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    yield page
    context.close()


def cell_with(page, text):
    """Scroll until the code cell that holds ``text`` exists (JupyterLab builds cells as they come into view)."""
    cell = page.locator(".jp-CodeCell", has=page.locator(f".cm-content:has-text({text!r})")).first
    for _ in range(60):
        if cell.count():
            cell.scroll_into_view_if_needed()
            return cell
        page.locator(".jp-WindowedPanel-outer").first.evaluate("panel => panel.scrollBy(0, 400)")
        page.wait_for_timeout(100)
    raise AssertionError(f"no cell holds {text!r}")


def run_cell(page, cell):
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")


def type_answer(page, cell, source):
    """Replace a cell by typing, line after line, as a student does (the editor indents)."""
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    for number, line in enumerate(source.split("\n")):
        if number:
            page.keyboard.press("Enter")
        page.keyboard.insert_text(line)
    page.keyboard.press("Control+Enter")


def picture(page, name):
    """Keep what the student sees, when somebody wants to look at it."""
    if os.environ.get("LEARNABLE_SHOTS"):
        page.screenshot(path=str(Path(os.environ["LEARNABLE_SHOTS"]) / f"student_{name}.png"))


def test_wrong_answer_hint_right_answer(page, lab):
    run_cell(page, cell_with(page, "from learnable.exercises import Notebook"))

    answer = cell_with(page, "def cost_bayes")
    type_answer(page, answer, WRONG)
    check = cell_with(page, 'grader.check("q2")')
    run_cell(page, check)
    report = check.locator(".learnable-check")
    report.wait_for()
    said = report.inner_text()
    assert "q2 is not right yet: 1 of 2 checks pass." in said
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

    type_answer(page, cell_with(page, "def cost_bayes"), RIGHT)
    check = cell_with(page, 'grader.check("q2")')
    run_cell(page, check)
    check.locator(".learnable-check", has_text="q2 passed: all 2 checks").wait_for()
    assert "not right yet" not in check.locator(".learnable-check").inner_text()

    picture(page, "right")
    # Through the menu: after a hint was unfolded, the keyboard may not belong to the notebook.
    page.click(".lm-MenuBar-itemLabel:text-is('File')")
    page.click(".lm-Menu-itemLabel:text-is('Save Notebook')")
    standing = Progress(lab["home"] / "progress.sqlite").standing()[CHAPTER]
    assert {name: best for name, _, best, _ in standing}["q2"] == 1.0


def test_saved_work_is_gradable(page, lab):
    """What JupyterLab saved is a submission: the second question has its points."""
    saved = lab["work"] / f"{CHAPTER}.ipynb"
    for _ in range(600):
        if "miss, alarm" in saved.read_text():
            break
        page.wait_for_timeout(100)
    else:
        pytest.fail("JupyterLab did not save the notebook within a minute")
    from learnable.exercises.grading import grade_cells, read_submission
    from learnable.exercises.masters import Assignment
    from learnable.exercises.session import Sandbox
    from learnable.exercises.workspace import find_shelf

    assignment = Assignment.load(find_shelf(Path(__file__).parent).master(CHAPTER))
    with Sandbox(assignment.modules) as sandbox:
        result = grade_cells(read_submission(saved).code, assignment, sandbox, seed=1)
    assert result["questions"]["q2"]["score"] == 5 and result["score"] == 5
