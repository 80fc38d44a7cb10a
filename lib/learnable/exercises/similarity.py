"""Answers that look alike: a hint for the instructor, never a verdict.

Two answers to a question are compared by their syntax trees with the names replaced by their order of appearance, so
that renaming, comments, docstrings and layout hide nothing.
"""

import ast
import contextlib

from .reading import definitions

__all__ = ["normal_forms", "similar"]

_SHORTEST = 60  # nodes of a tree: right answers that are shorter look alike by themselves


def similar(book, code):
    """Return groups of students whose answers agree, each with the questions; ``code(submitted)`` gives their cells.

    Worked solutions are not listed, nor are answers so short that they look alike by themselves.
    """
    groups = {}
    for chapter, assignment in book.assignments.items():
        known, shared = set(normal_forms(assignment.cells_of_solution()).values()), {}
        handed_in = [s for s, r in book.rows if r["chapter"] == chapter and r["score"] > 0]
        for submitted in handed_in:
            forms = normal_forms(code(submitted) or [])
            for question, names in assignment.asked.items():
                answer = tuple(forms[n] for n in names if n in forms and forms[n] not in known)
                if answer:
                    shared.setdefault((question, answer), set()).add(submitted.student)
        for (question, _), students in shared.items():
            if len(students) >= 2:
                groups.setdefault(tuple(sorted(students)), []).append(
                    question if len(book.assignments) == 1 else f"{chapter}:{question}"
                )
    return sorted((students, sorted(questions)) for students, questions in groups.items())


def normal_forms(cells):
    """Return, for each function or class that cells define and that is not very short, its tree without names.

    Examples
    --------
    >>> one = "def f(total):\\n    'Polynomial'\\n    return " + " + ".join(f"{n} * total**{n}" for n in range(9))
    >>> two = one.replace("total", "x").replace("Polynomial", "My own")
    >>> normal_forms([one]) == normal_forms([two]), len(normal_forms([one]))
    (True, 1)
    """
    forms = {}
    for node in definitions(cells):
        if sum(1 for _ in ast.walk(node)) >= _SHORTEST:
            name = node.name  # the visitor replaces it
            with contextlib.suppress(RecursionError):  # an expression of hundreds of terms is compared with nothing
                forms[name] = ast.dump(_Anonymous().visit(node))
    return forms


class _Anonymous(ast.NodeTransformer):
    """Replaces each name by the order in which it first appears, and leaves docstrings out."""

    def __init__(self):
        self.order = {}

    def generic_visit(self, node):
        for attribute in ("id", "arg", "name"):
            if isinstance(getattr(node, attribute, None), str):
                setattr(node, attribute, f"n{self.order.setdefault(getattr(node, attribute), len(self.order))}")
        body = getattr(node, "body", None)
        if isinstance(body, list):
            idle = [line for line in body if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)]
            node.body = [line for line in body if line not in idle]
        return super().generic_visit(node)
