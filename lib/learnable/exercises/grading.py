"""Grade one submission: run it confined, ask it everything, score the answers.

The tests run here, in the trusted process, against plain data that the submission returned. Nothing that the submission
writes, prints or redefines is read back as a result.
"""

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
    limits = limits or Limits(**assignment.limits)
    names = [*assignment.before(only), only] if only else list(assignment.questions)
    with memory_limit(_ANSWERS), Session(sandbox, cells, limits, assignment.files) as session:
        results = {name: _judge(name, assignment, session, seed) for name in names}
        session.stop()
        output = session.output()
        for name in names:
            given = [] if has_passed(results[name]) else _failed_before(name, cells, assignment, results)
            if given:
                session.add_cell("\n\n\n".join(assignment.answers[q] for q in given))
                again = _judge(name, assignment, session, seed)
                results[name] = followed_through(results[name], again, given)
        for name, result in results.items():
            if result["given"]:
                session.remark(f"{name}: judged with the given solution of {' and '.join(result['given'])}")
        ended = session.skipped or session.fatal_calls
        status = "trouble" if ended else "remarks" if session.remarks else "ok"
        return _result(assignment, results, status, session.remarks, output, sandbox.mode)


def _judge(name, assignment, session, seed):
    """Ask everything about one question; each case runs on its own, so that a death in one costs that one."""
    cases, before = [], session.fatal_calls
    for case in assignment.test_file(name).test_cases:
        if session.fatal_calls - before >= _FATAL_PER_QUESTION:
            cases.append(case_result(case, "not run", "Not run: the function had ended its process twice before."))
        else:
            cases.append(run_case(case, RemoteNames(session), seed))
    if session.fatal_calls > before:
        death = next((c for c in cases if c["outcome"] == "died" and not c["hidden"]), None)
        said = death["problem"].removeprefix("Your function ") if death else "ended its process or hung"
        session.remark(f"{name}: the function {said.rstrip('.')}")
    return question_result(assignment.questions[name], cases)


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
