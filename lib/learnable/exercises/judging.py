"""How a case ended, as plain data: the same for a check in a student's notebook and for grading a class.

The tests are otter's; a case is told by the type of an exception, never by its text.
"""

import _thread
import contextlib
import signal
import threading
import warnings

import numpy as np
from otter.test_files.exception_test import ExceptionTestFile

from .checking import NO_ANSWER, NOTHING_CAME, SandboxError, TooLong, WrongAnswer, hidden_seed
from .sealing import Seal, sentence
from .wire import clean

__all__ = [
    "case_result",
    "check_here",
    "followed_through",
    "has_passed",
    "is_started",
    "question_result",
    "read_tests",
    "run_case",
    "time_limit",
]


def read_tests(text, where):
    """Return otter's test file of a question, ready to run; a case is named by its docstring."""
    file = ExceptionTestFile.from_metadata(text, str(where))
    for case in file.test_cases:
        case.name = (case.body.test_func.__doc__ or case.body.test_func.__name__).strip().split("\n")[0]
    return file


def run_case(case, env, seed, seconds=None):
    """Run one of otter's test cases against the namespace ``env``; return a `case_result`.

    ``seconds`` limits a case that runs in this process; a confined submission has limits of its own.
    """
    try:
        with hidden_seed(seed), time_limit(seconds), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.body.call_func(env)
    except SandboxError:
        raise
    except TooLong as error:
        return case_result(case, "died", f"The check {error.sentence}.")
    except Exception as error:
        # What a check raises because of an answer carries the answer's own exception as its context.
        cause = error.__context__
        if isinstance(cause, SandboxError):
            raise cause from None
        if isinstance(error, WrongAnswer):
            return case_result(case, getattr(cause, "outcome", "wrong"), error.problem, error.parts)
        return case_result(case, "unusable", f"The check could not use your answer ({type(error).__name__}: {error}).")
    return case_result(case, "passed", "")


def case_result(case, outcome, problem, parts=None):
    """Return the result of one case; what came from a submission is cleaned."""
    return {
        "title": case.name,
        "hidden": case.hidden,
        "points": case.points,
        "passed": outcome == "passed",
        "outcome": outcome,
        "problem": clean(problem.replace("\n", " "), 1000),
        "parts": {label: clean(text.replace("\n", " "), 1000) for label, text in (parts or {}).items() if text},
    }


def question_result(question, cases):
    """Return the result of a question from those of its cases."""
    return {
        "title": question.title,
        "section": question.section,
        "score": float(sum(c["points"] for c in cases if c["passed"])),
        "possible": float(question.points),
        "given": [],
        "cases": cases,
    }


def followed_through(first, again, given):
    """Return the result of a question that was asked ``again`` with the given solutions of earlier questions.

    What passes either way counts. Nothing that a submission said the second time is kept: it could hold a solution.
    """
    gained = [now["passed"] and not then["passed"] for then, now in zip(first["cases"], again["cases"], strict=True)]
    if not any(gained):
        return first
    cases = [now if new else then for then, now, new in zip(first["cases"], again["cases"], gained, strict=True)]
    score = float(sum(c["points"] for c in cases if c["passed"]))
    return {**first, "cases": cases, "score": score, "given": list(given)}


def is_started(result):
    """Whether there is an answer to a question: something came in one of its cases."""
    nothing = (NOTHING_CAME, "The three dots", f"Not run: {NO_ANSWER}")
    return not all(case["problem"].startswith(nothing) for case in result["cases"])


def has_passed(result):
    """Whether every case of a question passed."""
    return all(case["passed"] for case in result["cases"])


def check_here(assignment, name, env, seed):
    """Judge a question against the namespace of a notebook that runs in this process.

    Where it fails, and questions before it do too, the given solutions stand in for those: what is right after an
    earlier mistake counts. Nothing is judged while the notebook holds something that the exercise seals.
    """
    borrowed = Seal(assignment.sealed).found_in(env)

    def judge(name):
        cases = assignment.test_file(name).test_cases
        if borrowed:
            said = f"Not run: {sentence(borrowed)}. Take its import out, restart and run the notebook again."
            return question_result(assignment.questions[name], [case_result(c, "not run", said) for c in cases])
        seconds = assignment.limits.get("call_seconds", 10.0)
        return question_result(assignment.questions[name], [run_case(case, env, seed, seconds) for case in cases])

    result = judge(name)
    if borrowed or has_passed(result) or not assignment.answers:
        return result
    failed = [q for q in assignment.before(name) if not has_passed(judge(q))]
    own = dict(env)
    try:
        exec("\n".join(assignment.answers[q] for q in failed), env)
        again = judge(name) if failed else result
    finally:
        for added in env.keys() - own.keys():
            del env[added]
        env.update(own)
    return followed_through(result, again, failed)


@contextlib.contextmanager
def time_limit(seconds):
    """End the block with `TooLong` after some seconds on the clock (None: never; nor in a thread of its own)."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise TooLong(seconds)

    number = getattr(signal, "SIGALRM", signal.SIGINT)  # Windows has the second only
    if hasattr(signal, "pthread_kill"):  # it wakes a sleeping function too
        timer = threading.Timer(seconds, signal.pthread_kill, (threading.get_ident(), number))
    else:
        timer = threading.Timer(seconds, _thread.interrupt_main, (number,))
    before = signal.signal(number, stop)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # the signal must not come when nobody waits for it
        signal.signal(number, before)
