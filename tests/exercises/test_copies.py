"""What a lecture prints is no answer: its functions, pasted under the name that a question asks for, earn little."""

import ast
import functools
import inspect
import warnings

import numpy as np
import pytest
from support import CHAPTERS, assignment, run_cells

from learnable.exercises.judging import run_case
from tools.project import chapters

LECTURES = {chapter.name: chapter for chapter in chapters()}
MOST = 1 / 3  # of a question's points
SECONDS = 2  # a case that takes longer earns nothing: functions of the page may walk for ever on other input


def printed_functions(chapter):
    """The functions and classes that the cells of a lecture define, with the imports and constants that they use."""
    names, found = {"np": np}, {}
    for cell in chapter.code_cells():
        for node in ast.parse("".join(cell["source"])).body:
            kept = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import))
            kept |= isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("learnable")
            kept |= isinstance(node, ast.Assign) and isinstance(node.value, (ast.Constant, ast.Tuple, ast.Lambda))
            try:
                exec(compile(ast.Module([node] if kept else [], []), "<lecture>", "exec"), names)
            except Exception:  # it needs what a cell has computed: nobody can paste it alone
                continue
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found[node.name] = names[node.name]
    return found


def takes(function):
    """The smallest and the largest number of arguments."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    arguments = [p for p in inspect.signature(function).parameters.values() if p.kind in kinds]
    return sum(p.default is p.empty for p in arguments), len(arguments)


def nothing(*args, **kwargs):
    return None


@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if name in LECTURES])
def test_printed_code_earns_at_most_a_third(chapter):
    given = assignment(chapter)
    right, printed = run_cells(given.cells_of_solution()), printed_functions(LECTURES[chapter])

    @functools.cache
    def share(question, asked, answer):
        cases = given.test_file(question).test_cases
        results = [run_case(case, {**right, asked: answer}, 0, SECONDS) for case in cases]
        return sum(r["points"] for r in results if r["passed"]) / sum(c.points for c in cases)

    worth = []
    for question, functions in given.asked.items():
        for asked in functions:
            low, high = takes(right[asked])
            for name, function in printed.items():
                least, most = takes(function)
                if least > high or most < low:
                    continue
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    # Other functions of the question are right here; what they earn is not the copy's.
                    earned = share(question, asked, function) - share(question, asked, nothing)
                if earned > MOST + 1e-9:
                    worth.append(f"{question}: {name} of the lecture as {asked} earns {earned:.0%}")
    assert not worth, "; ".join(worth)
