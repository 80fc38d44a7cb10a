"""Feedback for each student and a summary for the class, as HTML files that need nothing else.

Everything that came from a submission is escaped. Hidden cases are reported by title and kind of mistake; their inputs
and expected values appear only when the instructor asks for that (nobody hands in again).
"""

import html
import io
import re
from collections import Counter
from statistics import fmean, median

__all__ = ["feedback_names", "feedback_page", "problem_html", "summary_page"]

_UNCONFINED = "Graded WITHOUT confinement: a submission could have tampered with the grader."

_CSS = """
:root{color-scheme:light dark;--ink:#1d2733;--soft:#5b6876;--line:#d5dbe3;--box:#f6f7f9;--good:#0b7a4b;--bad:#b3401f}
@media(prefers-color-scheme:dark){:root{--ink:#e6ebf1;--soft:#aeb9c6;--line:#3a4552;--box:#1d232b;
--good:#6fd3ae;--bad:#ff9d76}
svg.plot{filter:invert(.9) hue-rotate(180deg)}}
body{font:16px/1.5 system-ui,"Segoe UI",Roboto,Arial,sans-serif;color:var(--ink);max-width:60rem;margin:2rem auto;
padding:0 1rem;background:Canvas}
h1{line-height:1.2}h2{border-bottom:1px solid var(--line);padding-bottom:.2rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;
border-bottom:1px solid var(--line)}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.bar{background:var(--line);border-radius:4px;height:.7rem;min-width:6rem}
.bar i{display:block;height:100%;border-radius:4px;background:var(--good)}
.ok{color:var(--good)}.no{color:var(--bad)}.soft{color:var(--soft)}
.case{border:1px solid var(--line);border-radius:6px;padding:.5rem .8rem;margin:.4rem 0;background:var(--box)}
pre{background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.6rem;overflow:auto;max-height:16rem}
figure{margin:1rem 0}svg{max-width:100%;height:auto}.scroll{overflow-x:auto}
"""


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


def feedback_page(student, handed_in, reveal=False):
    """Return the page of one student; ``reveal`` shows the inputs and expected values of hidden cases too."""
    score = sum(result["score"] for _, result in handed_in.values())
    possible = sum(result["possible"] for _, result in handed_in.values())
    body = [f"<h1>{_e(student)}</h1>", f"<p><b>{score:g}</b> of {possible:g} points</p>", _bar(score / possible)]
    for submitted, result in handed_in.values():
        body.append(f"<h2>{_e(result['title'])}</h2>")
        body.append(f'<p class="soft">{_e(submitted.file)}</p>')
        if result["confinement"] == "none":
            body.append(f"<p><b>{_UNCONFINED}</b></p>")
        remarks = [*submitted.remarks, *result["remarks"]]
        if remarks:
            items = "".join(f"<li>{_e(r)}</li>" for r in remarks)
            body.append(f"<p>What the grader noticed:</p><ul>{items}</ul>")
        for name, question in result["questions"].items():
            body.append(_question(name, question, reveal))
        if reveal and result["output"].strip():  # a function can print the hidden cases it is asked about
            body.append(
                f"<details><summary>What the notebook printed (shortened)</summary>"
                f"<pre>{_e(result['output'])}</pre></details>"
            )
    return _page(student, body)


def _question(name, question, reveal):
    points = f"{question['score']:g} of {question['possible']:g}"
    out = [f"<h3>{_e(name)}. {_e(question['title'])}: {points}</h3>"]
    for case in question["cases"]:
        mark = '<b class="ok">✓</b>' if case["passed"] else '<b class="no">✗</b>'
        kind = ' <span class="soft">(hidden)</span>' if case["hidden"] else ""
        points = f'<span class="soft">{case["points"] if case["passed"] else 0:g} of {case["points"]:g}</span>'
        text = f"{mark} {_e(case['title'])}{kind} {points}"
        if not case["passed"]:
            shown = reveal or not case["hidden"]
            problem = case["problem"] if shown else _hidden_problem(case)
            hint = {k: v for k, v in case["parts"].items() if k == "Think about" and case["outcome"] == "wrong"}
            text += problem_html(problem, case["parts"] if shown else hint)
        out.append(f'<div class="case">{text}</div>')
    if not all(case["passed"] for case in question["cases"]):
        out.append(f"<p>Read again: <em>{_e(question['section'])}</em></p>")
    return "".join(out)


def problem_html(problem, parts):
    """Return a problem and its labelled parts, styled so that a notebook shows them like a page."""
    left = "text-align:left;vertical-align:top;border:0;padding:.1em .8em .1em 0"
    rows = "".join(
        f'<tr><td style="{left};opacity:.75;white-space:nowrap">{_e(label)}</td><td style="{left}">'
        f'<code style="white-space:pre-wrap;overflow-wrap:anywhere;background:none">{_e(text)}</code></td></tr>'
        for label, text in parts.items()
    )
    table = f'<table style="margin:.2em 0;border:none">{rows}</table>' if rows else ""
    return f'<div style="margin:0 0 .4em 1.2em"><b>{_e(problem)}</b>{table}</div>'


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
    body = ["<h1>Grades</h1>"]
    if any(r["confinement"] == "none" for _, r in book.rows):
        body.append(f"<p><b>{_UNCONFINED}</b></p>")
    if shares:
        body.append(
            f"<p>{len(shares)} students, {possible:g} points. Mean {fmean(shares):.1f} %, "
            f"median {median(shares):.1f} %, {sum(s == 100 for s in shares)} with full points, "
            f"{sum(s == 0 for s in shares)} with none.</p>"
        )
        body += ["<h2>Scores</h2>", _histogram(shares)]
    for chapter, assignment in book.assignments.items():
        results = [r for _, r in book.rows if r["chapter"] == chapter]
        if results:
            body += [f"<h2>{_e(assignment.title)}</h2>", _questions(assignment, results), _cases(assignment, results)]
    statuses = Counter(r["status"] for _, r in book.rows)
    words = {
        "ok": "without remarks",
        "remarks": "with remarks",
        "trouble": "ended or hung their process",
        "unreadable": "could not be read",
        "wrong exercise": "are for another exercise",
    }
    items = "".join(f"<li>{statuses[s]} {w}</li>" for s, w in words.items() if statuses[s])
    body += ["<h2>Submissions</h2>", f"<ul>{items}</ul>"]
    if alike:
        items = "".join(f"<li>{_e(', '.join(group))}: {_e(', '.join(questions))}</li>" for group, questions in alike)
        body.append(
            "<p>Answers that agree up to names, comments and layout. This is a hint and not a verdict: "
            f"a short question has few answers.</p><ul>{items}</ul>"
        )
    body += ["<h2>Students</h2>", _students(book, totals, possible)]
    if notes:
        body.append("<h2>This run</h2><ul>" + "".join(f"<li>{_e(n)}</li>" for n in notes) + "</ul>")
    return _page("Grades", body)


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


def _students(book, totals, possible):
    rows, names = [], feedback_names(book.students())
    for student, handed_in in sorted(book.students().items()):
        remarks = [x for submitted, r in handed_in.values() for x in (*submitted.remarks, *r["remarks"])]
        link = f'<a href="feedback/{_e(names[student])}">{_e(student)}</a>'
        note = _e("; ".join(remarks[:3]) + (" …" if len(remarks) > 3 else ""))
        rows.append(
            f'<tr><td>{link}</td><td class="n">{totals[student]:g}</td>'
            f'<td class="n">{100 * totals[student] / possible:.0f} %</td><td>{note}</td></tr>'
        )
    for submitted, why in book.failed:
        rows.append(f"<tr><td>{_e(submitted.student)}</td><td></td><td></td><td>not graded: {_e(why)}</td></tr>")
    head = '<tr><th>Student</th><th class="n">Points</th><th class="n">Share</th><th>Remarks</th></tr>'
    return f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>'


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
    return f"<p>Hardest at the top.</p>{_svg(figure, f'Mean share of the points by question. {words}')}"


def _cases(assignment, results):
    rows = []
    for name in assignment.questions:
        for i, case in enumerate(assignment.test_file(name).test_cases):
            passed = sum(r["questions"][name]["cases"][i]["passed"] for r in results)
            share = passed / len(results)
            kind = "hidden" if case.hidden else "public"
            rows.append(
                f'<tr><td>{_e(name)}</td><td>{_e(case.name)}</td><td>{kind}</td><td class="n">{case.points:g}</td>'
                f'<td class="n">{passed}</td><td>{_bar(share)}</td></tr>'
            )
    head = (
        '<tr><th></th><th>Case</th><th></th><th class="n">Points</th><th class="n">Passed</th>'
        f"<th>of {len(results)}</th></tr>"
    )
    table = f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>'
    return f"<details><summary>Every case</summary>{table}</details>"


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
    text = text[text.index("<svg") :].replace("<svg", f'<svg class="plot" role="img" aria-label="{_e(words)}"', 1)
    return f"<figure>{text}</figure>"


def _bar(share):
    return f'<div class="bar" title="{100 * share:.0f} %"><i style="width:{100 * share:.1f}%"></i></div>'


def _page(title, body):
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{_e(title)}</title><style>{_CSS}</style></head><body>{''.join(body)}</body></html>\n"
    )


def _e(text):
    return html.escape(str(text))
