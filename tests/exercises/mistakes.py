"""Wrong solutions, kept as patches of the master's solution.

``wrong/<slug>.diff`` lists them. A mistake begins with its question and its story; below stands what differs: a change
within a line (``~ old => new``), whole lines as in a diff, or the body of a function where little would be left of it::

    q2: Reads the transitions the wrong way round
    ~ delta[:, None] + log_P => delta[:, None] + log_P.T
    q2: The likeliest state at each time
    @ viterbi
    + return log_f.argmax(axis=1)
    q2: Forgets the start law | A single observation
    ~ log_pi + log_f[0] => log_f[0]

What is taken out must occur exactly once in the question's solution. A mistake earns at most a third of the points,
whatever the seed. One that names a case after ``|`` must be caught by that case. If the case is hidden it is a slip in
an otherwise right answer, and may earn more; if it is public the student is to see the mistake at once.
"""

import ast
import re
import textwrap
from dataclasses import dataclass

_HEAD = re.compile(r"(q\d+): ([^|]+?)(?: \| (.+))?$")
_CHANGE = re.compile(r"~ (.+?) =>(?: (.*))?$")


@dataclass(frozen=True)
class Wrong:
    """A wrong solution: which question it answers, the code, and the case that must catch it if it is but a slip."""

    question: str
    story: str
    source: str
    fails: tuple

    @property
    def name(self):
        """What to call it in a message."""
        return self.story


def read_mistakes(text, answers):
    """Return the wrong solutions in ``text``, made from the right ``answers`` (question to source).

    Raises
    ------
    ValueError
        When a patch does not apply, or changes nothing; the message names it.
    """
    found = []
    kept = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    for block in re.split(r"\n(?![-+~@])", "\n".join(kept)):
        head, *lines = block.split("\n")
        match = _HEAD.match(head)
        if not match or match[1] not in answers:
            raise ValueError(f"not the head of a mistake: {head!r}")
        question, story, fails = match.groups()
        source = answers[question]
        for old, new in _hunks(lines, head):
            source = _replace_body(source, old[1:], new) if old[0] == "@" else _replace(source, old, new, head)
        if source == answers[question]:
            raise ValueError(f"{head}: the patch changes nothing")
        found.append(Wrong(question, story, source, (fails,) if fails else ()))
    return found


def _hunks(lines, head):
    """Group the lines of a patch into pairs of what goes (``@name`` for a function's body) and what comes."""
    hunks, last = [], ""
    for line in lines:
        mark, text, change = line[:1], line[2:], _CHANGE.match(line)
        if change:
            hunks.append([change[1], [change[2] or ""]])
        elif mark == "@" or (mark == "-" and last != "-"):
            hunks.append([f"@{text}" if mark == "@" else text, []])
        elif mark == "-":
            hunks[-1][0] += "\n" + text
        elif mark == "+" and hunks:
            hunks[-1][1].append(text)
        else:
            raise ValueError(f"{head}: cannot read {line!r}")
        last = mark
    return [(old, "\n".join(new)) for old, new in hunks]


def _replace(source, old, new, head):
    """Put ``new`` in the place of ``old``; further lines are indented relative to the line of the first."""
    first = old.split("\n")[0]
    line = next((line for line in source.split("\n") if first in line), "")
    margin = "\n" + line[: len(line) - len(line.lstrip())]
    old, new = old.replace("\n", margin), new.replace("\n", margin)
    if source.count(old) != 1:
        raise ValueError(f"{head}: {old!r} occurs {source.count(old)} times in the solution")
    return source.replace(old, new)


def _replace_body(source, name, body):
    """Give the function ``name`` (or ``Class.name``) another body."""
    nodes = {}
    for node in ast.parse(source).body:
        nodes[node.name if hasattr(node, "name") else ""] = node
        if isinstance(node, ast.ClassDef):
            nodes.update({f"{node.name}.{part.name}": part for part in node.body if hasattr(part, "name")})
    if name not in nodes:
        raise ValueError(f"the solution has no function {name!r}")
    node, lines = nodes[name], source.split("\n")
    body = textwrap.indent(body, " " * (node.col_offset + 4))
    return "\n".join([*lines[: node.body[0].lineno - 1], body, *lines[node.end_lineno :]])
