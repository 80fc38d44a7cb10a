"""Feedback for each student and a summary for the class, as HTML files that need nothing else.

Everything that came from a submission is escaped. Hidden cases are reported by title and kind of mistake; their inputs
and expected values appear only when the instructor asks for that (nobody hands in again).
"""

import io
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from statistics import fmean, median

from learnable._html import fill, markup, render

__all__ = ["TEMPLATES", "feedback_names", "feedback_page", "points_text", "summary_page"]

_UNCONFINED = "Graded WITHOUT confinement: a submission could have tampered with the grader."

TEMPLATES = Path(__file__).with_name("templates")


def feedback_names(students):
    """Return a file name for the page of each student: safe on every system, and no two alike.

    Examples
    --------
    >>> feedback_names(["doe jane", "doe_jane", "Doe_Jane"])
    {'doe jane': 'doe_jane.html', 'doe_jane': 'doe_jane-2.html', 'Doe_Jane': 'Doe_Jane-3.html'}
    """
    names, taken = {}, set()
    for student in students:
        stem = re.sub(r"[^0-9A-Za-z._@+-]+", "_", student).strip("._")[:100] or "student"
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        names[student] = f"{name}.html"
    return names


def points_text(points):
    """Print points as people write them: a third of a point is 1/3.

    Examples
    --------
    >>> points_text(5.0), points_text(2.6666667), points_text(2 / 3), points_text(2.5)
    ('5', '2 2/3', '2/3', '2 1/2')
    """
    exact = Fraction(points).limit_denominator(60)
    whole, rest = divmod(exact, 1)
    if abs(exact - points) > 1e-5:
        return f"{points:g}"
    return f"{whole} {rest}" if whole and rest else str(rest or whole)


def feedback_page(student, handed_in, reveal=False):
    """Return the page of one student; ``reveal`` shows the inputs and expected values of hidden cases too."""
    score = sum(result["score"] for _, result in handed_in.values())
    possible = sum(result["possible"] for _, result in handed_in.values())
    values = {"score": score, "possible": possible, "handed_in": handed_in.values(), "unconfined": _UNCONFINED}

    def told(case):
        shown = reveal or not case["hidden"]
        hint = {k: v for k, v in case["parts"].items() if k == "Think about" and case["outcome"] == "wrong"}
        return (case["problem"], case["parts"]) if shown else (_hidden_problem(case), hint)

    return _page("feedback.html", title=student, reveal=reveal, told=told, **values)


def _hidden_problem(case):
    """Say what kind of mistake a hidden case found, with no word of the submission's own and no number.

    A function can put the hidden inputs it is asked about into the text of an exception.

    Examples
    --------
    >>> _hidden_problem({"outcome": "wrong", "problem": "joint is wrong at [4, 0] (10 of 10 entries are off)."})
    'joint is wrong.'
    >>> _hidden_problem({"outcome": "wrong", "problem": "The point 3 has the smallest risk 0.25, and t = 0.25."})
    'The answer is wrong.'
    >>> _hidden_problem({"outcome": "raised ValueError", "problem": "Your function raised ValueError: x = 0.25."})
    'Your function raised ValueError.'
    """
    if case["outcome"] == "not run":
        return case["problem"]
    if case["outcome"] == "died":
        return "Your function ended its process or did not finish."
    if case["outcome"] == "unusable":
        return "The check could not use your answer."
    if case["outcome"] != "wrong":
        return f"Your function {case['outcome']}."
    short = re.sub(r" at \[[^]]*\]| \([^)]*entries are off\)", "", case["problem"])
    return "The answer is wrong." if re.search(r"\d", short) else short


def summary_page(book, notes, alike=()):
    """Return the page of the class: distribution of scores, hardest questions, every student, notes about the run.

    ``alike`` are students whose answers agree, with the questions, as `similarity.similar` finds them.
    """
    students = book.students()
    totals = {s: sum(r["score"] for _, r in handed_in.values()) for s, handed_in in students.items()}
    possible = book.possible()
    shares = [100 * t / possible for t in totals.values()]
    figures = histogram = ""
    if shares:
        figures = (
            f"{len(shares)} students, {points_text(possible)} points. Mean {fmean(shares):.1f} %, "
            f"median {median(shares):.1f} %, {sum(s == 100 for s in shares)} with full points, "
            f"{sum(s == 0 for s in shares)} with none."
        )
        histogram = _histogram(shares)
    exercises = []
    for chapter, assignment in book.assignments.items():
        results = [r for _, r in book.rows if r["chapter"] == chapter]
        if results:
            questions, cases = _questions(assignment, results), _cases(assignment, results)
            facts = {"title": assignment.title, "count": len(results), "questions": questions, "cases": cases}
            exercises.append(facts)
    statuses = Counter(r["status"] for _, r in book.rows)
    words = {
        "ok": "without remarks",
        "remarks": "with remarks",
        "not started": "were not started",
        "trouble": "ended or hung their process",
        "unreadable": "could not be read",
        "wrong exercise": "are for another exercise",
    }
    return _page(
        "summary.html",
        title="Grades",
        unconfined=_UNCONFINED if any(r["confinement"] == "none" for _, r in book.rows) else "",
        figures=figures,
        histogram=histogram,
        exercises=exercises,
        statuses=[
            *((statuses[status], word) for status, word in words.items() if statuses[status]),
            *([(len(book.failed), "were not graded")] if book.failed else []),
        ],
        alike=alike,
        students=_students(book, totals),
        possible=possible,
        failed=book.failed,
        notes=notes,
    )


def hardest(book):
    """Return ``(mean share, chapter, question)`` of every question, hardest first."""
    found = []
    for chapter, assignment in book.assignments.items():
        results = [r for _, r in book.rows if r["chapter"] == chapter]
        found += [(share, chapter, name) for name, share in _shares(assignment, results).items() if results]
    return sorted(found)


def _shares(assignment, results):
    """Return the mean share of the points of each question."""
    questions = {name: [r["questions"][name] for r in results] for name in assignment.questions}
    return {name: fmean(q["score"] / q["possible"] for q in found) for name, found in questions.items() if found}


def _students(book, totals):
    """``(student, file name, points, remarks)`` of each student."""
    names = feedback_names(book.students())
    found = []
    for student, handed_in in sorted(book.students().items()):
        remarks = [x for submitted, result in handed_in.values() for x in (*submitted.remarks, *result["remarks"])]
        found.append((student, names[student], totals[student], remarks))
    return found


def _questions(assignment, results):
    """Draw the mean share of each question, hardest at the top."""
    from matplotlib.figure import Figure

    shares = _shares(assignment, results)
    found = [(100 * shares[q], f"{q}  {assignment.questions[q].title}") for q in sorted(shares, key=shares.get)[::-1]]
    figure = Figure(figsize=(8, 0.45 * len(found) + 0.9), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh([label for _, label in found], [share for share, _ in found], color="#0b7a9b", height=0.6)
    axes.bar_label(bars, fmt="%.0f %%", padding=4)
    axes.set(xlim=(0, 112), xlabel="mean share of the points, %", xticks=range(0, 101, 20))
    axes.spines[["top", "right"]].set_visible(False)
    words = "; ".join(f"{label.strip()}: {share:.0f} %" for share, label in reversed(found))
    return _svg(figure, f"Mean share of the points by question. {words}")


def _cases(assignment, results):
    """``(question, case, how many passed it)`` of each case."""
    return [
        (name, case, sum(r["questions"][name]["cases"][i]["passed"] for r in results))
        for name in assignment.questions
        for i, case in enumerate(assignment.test_file(name).test_cases)
    ]


def _histogram(shares):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    counts, _, bars = axes.hist(shares, bins=range(0, 101, 10), color="#0b7a9b", edgecolor="white")
    axes.bar_label(bars, labels=[f"{int(c)}" if c else "" for c in counts], padding=2)
    axes.set(xlabel="share of all points, %", ylabel="students", xticks=range(0, 101, 10))
    axes.margins(y=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    words = ", ".join(f"{10 * i} to {10 * i + 10} %: {int(c)}" for i, c in enumerate(counts))
    return _svg(figure, f"Number of students by share of the points. {words}")


def _svg(figure, words):
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "learnable", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = re.sub(r"<metadata>.*?</metadata>", "", out.getvalue(), flags=re.S)
    # Matplotlib escapes the labels that it draws.
    drawn = markup(text[text.index("<svg") + len("<svg") :])
    return fill(
        '<figure><svg class="plot" role="img" aria-label="{{ words }}"{{ drawn }}</figure>', words=words, drawn=drawn
    )


def _page(template, **values):
    css = markup("\n" + (TEMPLATES / "report.css").read_text(encoding="utf-8"))
    return str(render(TEMPLATES / template, css=css, as_points=points_text, **values)) + "\n"
