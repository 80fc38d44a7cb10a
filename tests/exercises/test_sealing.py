"""What an exercise asks for cannot be imported: the notebook, `learnable check` and grading say so in one sentence."""

import ast
import importlib
import shutil
import sys
from pathlib import Path

import pytest
from support import BAYES, CHAPTERS, ROOT, assignment, run_cells, submission, write_notebook

from learnable import cli
from learnable.exercises import confine
from learnable.exercises.grading import grade_cells
from learnable.exercises.notebook import Notebook
from learnable.exercises.sandbox import Sandbox
from learnable.exercises.sealing import Seal, sealed_files, sentence

SVM = "kernels/support_vector_machines"
MODULE = "learnable.foundations.cost_sensitive"
SAYS = sentence(MODULE)
# By its module, by the front door, and through an attribute of the part when the function is called.
WAYS = [
    f"from {MODULE} import RejectClassifier",
    "from learnable.foundations import RejectClassifier",
    "import learnable.foundations as f\ndef cost_bayes(*args):\n    return f.RejectClassifier, None",
    f"def cost_bayes(*args):\n    import importlib\n    return importlib.import_module({MODULE!r}), None",
]


def told(result):
    return " ".join([*result["remarks"], *(c["problem"] for q in result["questions"].values() for c in q["cases"])])


@pytest.mark.parametrize("way", WAYS)
def test_check_and_grade_refuse_alike_and_say_why(way):
    cells = submission(BAYES, {"q2": f"cost_bayes = None\n{way}"})
    given, seen = assignment(BAYES), []
    for mode in ("none", "bubblewrap"):
        if mode == "bubblewrap" and confine.refusal():
            continue
        hidden = [] if mode == "none" else sealed_files(given.sealed)
        with Sandbox(given.modules, mode, hidden, sealed=given.sealed) as sandbox:
            seen.append(grade_cells(cells, given, sandbox, 3, only="q2"))
    for result in seen:
        assert result["questions"]["q2"]["score"] == 0 and SAYS in told(result), told(result)
        assert result["questions"] == seen[0]["questions"]


def test_modules_of_others_are_sealed_too():
    """Also when somebody takes the seal off: their files are not there."""
    given = assignment(SVM)
    assert "sklearn.svm" in given.sealed
    cells = [
        "import sklearn.svm",
        "import sys; del sys.meta_path[0]\nfrom sklearn.svm import SVC\nprint('ESC' + 'APED')",
    ]
    if confine.refusal():
        pytest.skip(confine.refusal())
    with Sandbox(["numpy"], hidden=sealed_files(given.sealed), sealed=given.sealed) as sandbox:
        result = grade_cells(cells, given, sandbox, 3, only="q1")
    assert sentence("sklearn.svm") in result["remarks"][0] and "ESCAPED" not in result["output"]


@pytest.fixture
def student(tmp_path, monkeypatch):
    """A student's notebook that is answered but has not run yet."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "exercises" / f"{BAYES}.ipynb", tmp_path)
    finders, before = list(sys.meta_path), dict(sys.modules)
    yield run_cells(assignment(BAYES).cells_of_solution())
    sys.meta_path[:] = finders
    sys.modules.update(before)


@pytest.mark.parametrize("way", WAYS[:2])
def test_notebook_refuses_the_import_and_what_was_imported_before(student, way):
    exec("from learnable.exercises import Notebook\ngrader = Notebook('bayes_decision_theory.ipynb')", student)
    with pytest.raises(ImportError, match=SAYS):
        exec(way, student)
    assert student["grader"].check("q2", student, all=True).passed
    importlib.import_module(MODULE)  # what is not the notebook, such as a check, may
    with pytest.raises(ImportError, match=SAYS):
        exec("grader.check('q2')\n" + way, student)
    student["RejectClassifier"] = importlib.import_module(MODULE).RejectClassifier
    report = student["grader"].check("q2", student)
    assert not report.passed and SAYS in repr(report) and SAYS in report._repr_html_()


def test_a_function_that_imports_it_when_it_is_called_is_refused_in_the_notebook(student):
    grader = Notebook("bayes_decision_theory.ipynb")
    exec(WAYS[2], student)
    assert SAYS in repr(grader.check("q2", student))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_notebook_says_at_the_top_what_is_sealed(chapter):
    given = assignment(chapter)
    top = given.student.cells[0].source
    assert "Write it yourself" in top and all(f"`{module}`" in top for module in given.sealed)
    assert given.student.metadata["learnable"]["sealed"] == given.sealed[1:]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_solution_imports_nothing_that_is_sealed(chapter):
    """Else the given solutions would not run; nor is a name sealed that nobody has."""
    given = assignment(chapter)
    seal = Seal(given.sealed)
    for source in given.cells_of_solution():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                assert not any(seal.covers(alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert not seal.covers(node.module)
                found = importlib.import_module(node.module)
                assert not seal.found_in({a.name: getattr(found, a.name) for a in node.names}), ast.unparse(node)
    for module in given.sealed:
        if not module.startswith("learnable.chapters."):
            assert list(sealed_files([module])), f"{chapter} seals {module}, which is not there"


def test_what_was_started_elsewhere_is_found(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["start", BAYES, "--to", str(tmp_path / "mine")]) == 0
    path = tmp_path / "mine" / f"{BAYES}.ipynb"
    write_notebook(path, submission(BAYES))
    capsys.readouterr()
    for place in (tmp_path, Path("/")):
        monkeypatch.chdir(place)
        assert cli.main(["check", "bayes_decision_theory", "q1"]) == 0
        assert "bayes_decision_theory.ipynb" in capsys.readouterr().out


TWINS = [
    ("features/fcbf_feature_selection", "q1", "learnable.features.information", "symmetrical_uncertainty"),
    ("foundations/vc_theory", "q2", "learnable.foundations.tail_bounds", "pac_radius"),
    ("kernels/kernels_and_regression", "q1", "learnable.kernels.functions", "center_gram"),
    (BAYES, "q4", "learnable.problems.reject", "error_reject_curve"),
]


@pytest.mark.parametrize(("chapter", "question", "module", "name"), TWINS)
def test_a_function_of_the_library_that_answers_a_question_earns_nothing(chapter, question, module, name):
    given = assignment(chapter)
    nothing = " = ".join([*given.asked[question], "None"])
    cells = submission(chapter, {question: f"{nothing}\nfrom {module} import {name}"})
    with Sandbox(given.modules, "none", sealed=given.sealed) as sandbox:
        result = grade_cells(cells, given, sandbox, 3, only=question)
    assert result["questions"][question]["score"] == 0 and sentence(module) in told(result), told(result)
