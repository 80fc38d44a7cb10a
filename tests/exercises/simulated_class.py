"""A class that never was: submissions that are right, partly right, broken and hostile, drawn from a seed.

The mixture is that of a course, roughly: a quarter perfect, half with some mistakes (the wrong solutions that are kept
for each chapter), the rest unfinished, broken or malicious.
"""

from pathlib import Path

import numpy as np
from hostile import FILES, HOSTILE, UNTOUCHED
from support import BAYES, assignment, submission, write_notebook, wrong_solutions


def simulate(folder, count, seed=0, chapter=BAYES, slow=True):
    """Write ``count`` submissions into ``folder``; return what each student must score, where that is known.

    Parameters
    ----------
    folder : path
    count : int
    seed : int
    slow : bool
        Whether to draw hostile submissions that run into a time limit.

    Returns
    -------
    dict of str to (str, float or None)
        For each student the kind of submission and, unless only a bound is known, the score.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    given = assignment(chapter)
    wrongs = {q: [w for w in wrong_solutions(chapter) if w.question == q] for q in given.questions}
    endless = ("endless", "fork bomb", "ignores every signal", "sleeps")
    hostile = [h for h in HOSTILE if slow or not h.name.startswith(endless)]
    expected = {}
    for number in range(count):
        student = f"student{number:03d}"
        path = folder / f"{student}.ipynb"
        kind = rng.choice(["right", "partly", "unfinished", "hostile", "file"], p=[0.25, 0.45, 0.14, 0.12, 0.04])
        score = None
        if kind == "right":
            write_notebook(path, [*submission(chapter), f"# {student}"], chapter)
            score = given.points
        elif kind == "partly":
            chosen = [q for q in given.questions if rng.random() < 0.5] or ["q1"]
            changes = {q: wrongs[q][rng.integers(len(wrongs[q]))].source for q in chosen}
            write_notebook(path, [*submission(chapter, changes), f"# {student}"], chapter)
        elif kind == "unfinished":
            write_notebook(path, [*UNTOUCHED, f"# {student}"], chapter)
            score = 0.0
        elif kind == "hostile":
            nasty = hostile[rng.integers(len(hostile))]
            write_notebook(path, [*nasty.cells, f"# {student}"], chapter)
            kind, score = f"hostile: {nasty.name}", float(sum(nasty.scores))
        else:
            name = sorted(FILES)[rng.integers(len(FILES))]
            path = folder / f"{student}{Path(name).suffix}"
            path.write_bytes(FILES[name][0])
            score = 0.0
        expected[student] = (str(kind), score)
    return expected
