"""Grade one submission: run it confined, ask it everything, score the answers.

The tests run here, in the trusted process, against plain data that the submission returned. Nothing that the submission
writes, prints or redefines is read back as a result.
"""

from .checking import MISSING, NO_ANSWER
from .confine import Limits
from .judging import case_result, followed_through, has_passed, question_result, run_case
from .reading import memory_limit, names_reached
from .session import RemoteNames, Session

__all__ = ["empty_result", "grade_cells"]

_FATAL_PER_QUESTION = 2
_ANSWERS = 1 << 30  # memory that the answers of a submission may take here


def empty_result(assignment, status, remark):
    """Return the result of a submission that was not run: no points, and the reason."""
    questions = {}
    for name, question in assignment.questions.items():
        cases = [case_result(c, "not run", f"Not run: {remark}.") for c in assignment.test_file(name).test_cases]
        questions[name] = question_result(question, cases)
    return _result(assignment, questions, status, [remark], "", "")


def grade_cells(cells, assignment, sandbox, seed, limits=None, only=None):
    """Grade the code cells of a submission.

    A question that fails, and whose functions use those of earlier questions that fail too, is asked once more with
    the given solutions of those in their place: a mistake costs its own points only.

    The seed draws the hidden cases; with ``only``, what comes after that question is left out. Returns plain data that
    does not depend on when or where it was graded: score, status, remarks, output and, for each question, its cases.
    """
    if _as_handed_out(cells, assignment):
        return empty_result(assignment, "not started", NO_ANSWER)
    limits = limits or Limits(**assignment.limits)
    names = [*assignment.before(only), only] if only else list(assignment.questions)
    with memory_limit(_ANSWERS), Session(sandbox, cells, limits, assignment.files) as session:
        results = _judge(names, assignment, session, seed)
        session.stop()
        output = session.output()
        for name in names:
            given = [] if has_passed(results[name]) else _failed_before(name, cells, assignment, results)
            if given:
                session.add_cell("\n\n\n".join(assignment.answers[q] for q in given))
                again = _judge([name], assignment, session, seed)[name]
                results[name] = followed_through(results[name], again, given)
        for name, result in results.items():
            if result["given"]:
                session.remark(f"{name}: judged with the given solution of {' and '.join(result['given'])}")
        ended = session.skipped or session.fatal_calls
        status = "trouble" if ended else "remarks" if session.remarks else "ok"
        return _result(assignment, results, status, session.remarks, output, sandbox.mode)


def _judge(names, assignment, session, seed):
    """Ask everything about some questions; each case runs on its own, so that a death in one costs that one.

    The hidden cases come last: a function that remembers what it was asked has nothing to tell in the public ones,
    whose messages the student reads.
    """
    cases = {name: assignment.test_file(name).test_cases for name in names}
    found, deaths = {}, dict.fromkeys(names, 0)
    for hidden in (False, True):
        for name, number, case in [(q, i, c) for q in names for i, c in enumerate(cases[q]) if c.hidden == hidden]:
            before = session.fatal_calls
            if deaths[name] >= _FATAL_PER_QUESTION:
                said = "Not run: the function had ended its process twice before."
                found[name, number] = case_result(case, "not run", said)
            else:
                found[name, number] = run_case(case, RemoteNames(session), seed)
            deaths[name] += session.fatal_calls - before
    results = {}
    for name in names:
        told = [found[name, number] for number in range(len(cases[name]))]
        results[name] = question_result(assignment.questions[name], told)
        shown = [c["problem"] for c in told if not c["hidden"]]
        if deaths[name]:
            death = next((c["problem"] for c in told if c["outcome"] == "died" and not c["hidden"]), "")
            said = death.removeprefix("Your function ") or "ended its process or hung"
            session.remark(f"{name}: the function {said.rstrip('.')}")
        for problem in dict.fromkeys(p for p in shown if p.startswith(MISSING)):
            session.remark(f"{name}: {problem[0].lower()}{problem[1:].rstrip('.')}")
    return results


def _as_handed_out(cells, assignment):
    """Whether the code is what the student was given, but for comments; a bundle does not tell."""
    given = [cell.source for cell in assignment.student.cells if cell.cell_type == "code"]
    return bool(assignment.answers) and _bare(cells) == _bare(given)


def _bare(cells):
    return [c.strip() for c in cells if any(line.strip() and line.strip()[0] != "#" for line in c.split("\n"))]


def _failed_before(name, cells, assignment, results):
    """Return the questions before ``name`` that failed and whose functions the answer to ``name`` uses."""
    reached = names_reached(cells, assignment.asked.get(name, ()))
    before = [q for q in assignment.before(name) if not has_passed(results[q])]
    return [q for q in before if reached & set(assignment.asked.get(q, ()))]


def _result(assignment, questions, status, remarks, output, mode):
    return {
        "chapter": assignment.chapter,
        "title": assignment.title,
        "score": round(sum(q["score"] for q in questions.values()), 6),
        "possible": float(assignment.points),
        "status": status,
        "confinement": mode,
        "remarks": list(remarks),
        "output": output,
        "questions": questions,
    }
