"""The ``learnable`` command: start an exercise, see progress, release to a class, grade it.

Nothing heavy is imported before it is needed, so that ``learnable --help`` answers at once, and a missing optional
package is met with a sentence that says what to install.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # `python -m` puts the folder we are in there, which may hold a student's argparse.py

import argparse
import os
import time
from pathlib import Path

__all__ = ["main"]


def main(arguments=None):
    """Run the command line; return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.action is None:
        parser.print_help()
        return 0
    try:
        return options.action(options) or 0
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("learnable"):
            raise
        from learnable.exercises import need_extra

        return _fail(error if "learnable-book[exercises]" in str(error) else need_extra(error))
    except (OSError, ValueError, LookupError) as error:
        return _fail(error)
    except RuntimeError as error:
        if type(error).__name__ not in ("SandboxError", "StudyError"):
            raise
        return _fail(error)
    except KeyboardInterrupt:
        print("\nStopped. Nothing that was finished is lost; run the same command again to go on.", file=sys.stderr)
        return 130


def _parser():
    from learnable import __version__

    parser = argparse.ArgumentParser(prog="learnable", description="Learnable: exercises to learn, teach and grade.")
    parser.set_defaults(action=None)
    parser.add_argument("--version", action="version", version=f"learnable {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    command = commands.add_parser("start", help="copy an exercise and its lecture to work/, never overwriting")
    command.add_argument("slug", nargs="+", metavar="SLUG", help="bayes_decision_theory or foundations/bayes_…")
    command.add_argument("--to", metavar="DIR", help="where to (default: work/ in the book)")
    command.set_defaults(action=_start)

    command = commands.add_parser("check", help="check your notebooks, in a copy of the book with the hidden cases too")
    command.add_argument("slug", nargs="?", metavar="SLUG", help="an exercise or a notebook (default: all you started)")
    command.add_argument("question", nargs="?", metavar="QUESTION", help="q2, say (default: all)")
    command.set_defaults(action=_check)

    command = commands.add_parser("warm", help="compile everything ahead, so that no first call has to wait")
    command.add_argument("only", nargs="?", default="", metavar="PART", help="only modules with this in their name")
    command.add_argument("--jobs", type=int, default=_cores(), help="processes (default: one for each core)")
    command.set_defaults(action=_warm)

    command = commands.add_parser("progress", help="show which questions you have solved")
    command.set_defaults(action=_progress)

    command = commands.add_parser("list", help="list the exercises")
    command.set_defaults(action=_list)

    command = commands.add_parser("release", help="make a bundle for students, without solutions or hidden tests")
    command.add_argument("--chapters", nargs="+", required=True, metavar="SLUG")
    command.add_argument("--to", required=True, metavar="DIR", help="a new directory; the key is written beside it")
    command.add_argument("--seed", type=int, help="draws the hidden cases (default: a fresh random one)")
    command.add_argument("--otter", action="store_true", help="also make zips for otter's containers and Gradescope")
    command.add_argument("--package", metavar="SPEC", help="how students install learnable (a line for pip)")
    command.set_defaults(action=_release)

    command = commands.add_parser("grade", help="grade notebooks: a folder of submissions, or your own")
    command.add_argument("paths", nargs="+", metavar="PATH", help="folders of submissions, or notebooks")
    command.add_argument("--out", metavar="CSV", help="write the grades there, and feedback and a summary beside it")
    command.add_argument("--key", metavar="FILE", help="the key that `learnable release` wrote")
    command.add_argument(
        "--chapters", nargs="+", metavar="SLUG", help="what to grade (default: as the key says, or all)"
    )
    command.add_argument("--seed", type=int, help="the seed of the hidden cases, if there is no key")
    command.add_argument(
        "--jobs", type=int, default=_cores(), help="submissions at the same time (default: %(default)s)"
    )
    command.add_argument("--call-seconds", type=float, metavar="S", help="limit for one call of a function, CPU time")
    command.add_argument("--total-seconds", type=float, metavar="S", help="limit for one submission, on the clock")
    command.add_argument("--memory", type=_bytes, metavar="SIZE", help="memory limit, such as 2G")
    command.add_argument("--roster", metavar="CSV", help="the gradebook of your platform; its columns are kept")
    command.add_argument("--roster-id", metavar="COLUMN", help="the column of the roster that names students")
    command.add_argument("--scheduler", metavar="ADDRESS", help="grade on this Dask cluster, which sees the same files")
    command.add_argument("--again", nargs="+", metavar="STUDENT", default=(), help="grade these once more")
    command.add_argument("--reveal", action="store_true", help="show inputs of hidden cases in the feedback")
    command.add_argument(
        "--confine",
        choices=("bubblewrap", "none"),
        default="bubblewrap",
        help="none: run submissions WITHOUT protection (every report says so)",
    )
    command.set_defaults(action=_grade)

    command = commands.add_parser("solutions", help="write the worked solutions, for after the deadline")
    command.add_argument("--chapters", nargs="+", required=True, metavar="SLUG")
    command.add_argument("--to", required=True, metavar="DIR")
    command.set_defaults(action=_solutions)

    command = commands.add_parser("reproduce", help="run a chapter's studies at the source's scale, or go on with them")
    command.add_argument("slugs", metavar="SLUG", nargs="+")
    command.add_argument("--study", metavar="NAME", action="append", help="only this one (can be given several times)")
    command.add_argument(
        "--scale", type=_scale, default="paper", help="lecture, paper, or a share of the repetitions in (0, 1]"
    )
    command.add_argument("--jobs", type=int, default=_cores(), help="processes at the same time (default: %(default)s)")
    command.add_argument("--scheduler", metavar="ADDRESS", help="run on this Dask cluster instead")
    command.add_argument("--store", action="store_true", help="write the results into the package, for the book")
    command.add_argument(
        "--confirm", action="store_true", help="instead, run the stored sample of cells again and note that they agree"
    )
    command.set_defaults(action=_reproduce)

    command = commands.add_parser("sandbox", help="say how submissions would be confined on this machine")
    command.set_defaults(action=_sandbox)
    return parser


def _cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _bytes(text):
    units = {"K": 10, "M": 20, "G": 30}
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in units else (text, "")
    try:
        return int(float(number) * (1 << units.get(unit, 0)))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size, such as 512M or 2G") from None


def _fail(error):
    print(f"learnable: {error}", file=sys.stderr)
    return 2


def _shelf():
    from learnable.exercises.workspace import find_shelf

    shelf = find_shelf()
    if shelf is None:
        raise LookupError(
            "the book is not here. Run this inside a checkout of Learnable, or set LEARNABLE_BOOK to one. "
            "(In a bundle from an instructor, open its notebooks directly.)"
        )
    return shelf


def _scale(text):
    return text if text in ("lecture", "paper") else float(text)


def _reproduce(options):
    """Run studies, one after the other; what is finished is never computed again."""
    from learnable.book.compiled import drop_stale_kernels
    from learnable.book.study import find_studies

    drop_stale_kernels()
    known = {slug: find_studies(slug) for slug in options.slugs}
    chosen = [(slug, name) for slug in known for name in options.study or known[slug]]
    for slug, name in chosen:
        if name not in known[slug]:
            raise ValueError(f"no study {name!r} in {slug}; there are {', '.join(known[slug])}")
    studies = [known[slug][name] for slug, name in chosen]
    return _confirm(studies) if options.confirm else _run_studies(studies, options)


def _run_studies(studies, options):
    from learnable.book.study import reproduce
    from learnable.book.study_results import store

    for study in studies:
        print(f"{study.name}: {study.source}, {len(study.cells(options.scale))} cells", flush=True)
        started = time.monotonic()
        results = reproduce(
            [study],
            scale=options.scale,
            n_jobs=options.jobs,
            scheduler=options.scheduler,
            progress=sys.stderr.isatty(),
        )
        print(results[0].to_text())
        print(f"{time.monotonic() - started:.0f} s now, {results[0].seconds:.0f} s of processor time in all")
        if options.store:
            print(f"stored in {_short(store(results))}")


def _confirm(studies):
    """Hold studies to their stored samples; one that differs does not keep the others from being compared."""
    from learnable.book.study import StudyError, confirm

    differ = 0
    for study in studies:
        try:
            told = "{} of {} cells run again, equal".format(*confirm(study))
        except LookupError as error:
            told = f"not compared: {error.args[0]}"
        except StudyError as error:
            told, differ = f"DIFFERS: {error}", differ + 1
        print(f"{study.chapter} {study.name}: {told}", flush=True)
    return bool(differ)


def _start(options):
    import contextlib
    import sqlite3

    from learnable.exercises.progress import Progress
    from learnable.exercises.workspace import start

    shelf = _shelf()
    target = Path(options.to) if options.to else shelf.root / "work"
    for chapter in [shelf.resolve(slug) for slug in options.slug]:
        copies = start(shelf, chapter, target)
        with contextlib.suppress(OSError, sqlite3.Error):
            Progress().remember(chapter, copies[0][0])
        for path, new in copies:
            print(f"{'copied to' if new else 'kept, it is yours already:'} {_short(path)}")
    print("Open it with: " + _lab_command(target))


def _warm(options):
    from learnable._warm import warm
    from learnable.book.compiled import drop_stale_kernels

    started = time.monotonic()
    drop_stale_kernels()
    count, compiled, failed = warm(max(1, options.jobs), options.only)
    for line in failed:
        print(f"learnable: not run: {line}", file=sys.stderr)
    print(f"{compiled} kernels compiled by {count} examples in {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


def _lab_command(target):
    """The command that opens JupyterLab there, from a plain shell: it names the program of this environment."""
    import shlex
    import shutil

    program = Path(sys.executable).with_name("jupyter-lab.exe" if os.name == "nt" else "jupyter-lab")
    if not program.exists():
        return f"jupyter lab {shlex.quote(_short(target))}  (after: pip install jupyterlab)"
    on_path = shutil.which("jupyter-lab")
    same = on_path and Path(on_path).resolve() == program.resolve()
    return f"{'jupyter lab' if same else shlex.quote(str(program))} {shlex.quote(_short(target))}"


def _check(options):
    _need_posix()
    import secrets

    from learnable.exercises.grading import grade_cells
    from learnable.exercises.notebook import NO_HIDDEN, CheckReport, exercise_of, has_book
    from learnable.exercises.progress import Progress
    from learnable.exercises.reading import read_submission
    from learnable.exercises.sandbox import Sandbox
    from learnable.exercises.workspace import about, own_notebooks

    passed, progress = True, Progress()
    for path in own_notebooks(options.slug):
        chapter = about(path)["chapter"]
        exercise = exercise_of(chapter, path)
        if options.question and options.question not in exercise.questions:
            raise LookupError(f"there is no question {options.question!r}; there are {', '.join(exercise.questions)}")
        progress.register(chapter, exercise.questions)
        print(f"{chapter} ({_short(path)})")
        # It is your own code, on your own machine: sealed as in grading, but not confined.
        with Sandbox(exercise.modules, mode="none", sealed=exercise.sealed) as sandbox:
            seed = secrets.randbits(63)
            result = grade_cells(read_submission(path).code, exercise, sandbox, seed, only=options.question)
        for name, outcome in result["questions"].items():
            if name != options.question and options.question:
                continue
            report = CheckReport(name, outcome, exercise.questions[name].hints)
            progress.record(chapter, name, report.share, whole=True)
            print(report)
            passed = passed and report.passed
        for remark in result["remarks"]:
            print(f"note: {remark}")
        if not has_book(chapter):
            print(f"note: {NO_HIDDEN}")
    return 0 if passed else 1


def _progress(options):
    from learnable.exercises.progress import Progress, legend, render
    from learnable.exercises.workspace import about, find_shelf

    progress = Progress()
    standing = progress.standing()
    shelf = find_shelf()
    for chapter in shelf.chapters() if shelf else ():
        if chapter not in standing:
            standing[chapter] = [(name, None, False, 0) for name in about(shelf.exercise(chapter))["questions"]]
    standing = {chapter: rows for chapter, rows in sorted(standing.items()) if rows}
    if not standing:
        print("Nothing yet. `learnable list` shows the exercises, `learnable start SLUG` opens one.")
        return
    plain = not _can_print("✓◕█")
    print(render(standing, plain))
    print(legend(plain))
    total = sum(map(len, standing.values()))
    solved = sum(done for rows in standing.values() for _, _, done, _ in rows)
    print(f"{solved} of {total} questions solved ({progress.path})")
    if any(share == 1.0 and not done for rows in standing.values() for _, share, done, _ in rows):
        print("`learnable check SLUG`, or grader.check(..., all=True), runs the hidden cases too.")


def _list(options):
    from learnable.exercises.workspace import about

    shelf = _shelf()
    for chapter in shelf.chapters():
        known = about(shelf.exercise(chapter))
        points = sum(q["points"] for q in known["questions"].values())
        print(f"{chapter}: {known['title']} ({len(known['questions'])} questions, {points:g} points)")


def _release(options):
    from learnable.exercises.release import release

    shelf = _shelf()
    chapters = [shelf.resolve(c, shelf.masters()) for c in options.chapters]
    made = release(
        [shelf.master(c) for c in chapters],
        options.to,
        seed=options.seed,
        otter=options.otter,
        package=options.package,
        lectures=[shelf.lecture(c) for c in chapters if shelf.lecture(c).exists()],
    )
    for assignment in made["assignments"]:
        print(f"{assignment.chapter}: {len(assignment.questions)} questions, {assignment.points:g} points")
    print(f"bundle for students: {_short(made['bundle'])}")
    print(f"key, for you alone:  {_short(made['key'])}  (seed {made['seed']}; grading needs it)")
    for path in made["zips"]:
        print(f"autograder, for you alone: {_short(path)}")


def _solutions(options):
    from learnable.exercises.release import write_solutions

    shelf = _shelf()
    chapters = [shelf.resolve(c, shelf.masters()) for c in options.chapters]
    for path in write_solutions([shelf.master(c) for c in chapters], options.to):
        print(f"written: {_short(path)}")


def _sandbox(options):
    _need_posix()
    from learnable.exercises.confine import describe, refusal

    if refusal():
        print(f"submissions cannot be confined here: {refusal()}")
        return 1
    print(f"used here: {describe('bubblewrap')}")


def _need_posix():
    if os.name != "posix":
        raise ValueError(
            "grading runs submissions in confined processes, which needs Linux or macOS. "
            "On Windows use WSL, or otter's containers (`learnable release --otter`)."
        )


def _grade(options):
    _need_posix()
    from learnable.exercises import classroom, collecting
    from learnable.exercises.checking import PUBLIC_SEED
    from learnable.exercises.masters import Assignment
    from learnable.exercises.release import read_key
    from learnable.exercises.sandbox import Sandbox

    shelf = _shelf()
    if not options.scheduler:
        Sandbox(mode=options.confine)  # refuses before anything is read or written
    key = read_key(options.key) if options.key else None
    if key and options.seed is not None and options.seed != key["seed"]:
        raise ValueError("--seed and --key disagree; give one of them")
    seed = key["seed"] if key else PUBLIC_SEED if options.seed is None else options.seed
    names = options.chapters or (list(key["chapters"]) if key else shelf.masters())
    chapters = [shelf.resolve(c, shelf.masters()) for c in names]
    changes = {"call_seconds": options.call_seconds, "total_seconds": options.total_seconds, "memory": options.memory}
    changes = {name: value for name, value in changes.items() if value is not None}

    out = Path(options.out).resolve() if options.out else None
    places = _Places(out) if out else None
    skip = places.all() if places else ()
    asked = {c: collecting.functions_asked(shelf.exercise(c)) for c in chapters}
    submissions = collecting.collect(options.paths, asked, skip)
    if not options.chapters and not key:
        chapters = [c for c in chapters if any(s.chapter == c for s in submissions)]
        if not chapters:
            raise ValueError("none of the files says which exercise it is; name the exercise with --chapters")
    assignments = {c: Assignment.load(shelf.master(c)) for c in chapters}
    notes = _key_notes(key, assignments, options)
    hidden = [p.resolve() for p in (shelf.root / "exercises", *map(Path, options.paths), *skip)]

    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        database = places.store if places else Path(scratch) / "grades.sqlite"
        database.parent.mkdir(parents=True, exist_ok=True)
        with classroom.lock(database.with_suffix(".lock")), classroom.Store(database) as store:
            notes += [store.damage] if store.damage else []
            for submitted in submissions:
                if submitted.student in options.again:
                    store.forget(submitted.key)
            start = time.monotonic()
            book = classroom.grade_all(
                submissions,
                assignments,
                seed,
                store,
                jobs=max(1, options.jobs),
                changes=changes,
                hidden=hidden,
                mode=options.confine,
                scheduler=options.scheduler,
            )
            elapsed = time.monotonic() - start
    notes += _run_notes(book, elapsed)
    if places:
        _write(book, places, options, seed, notes)
    else:
        _print_table(book)
    for note in notes:
        print(note)
    _print_problems(book)
    for submitted, why in book.failed:
        print(f"learnable: {submitted.student} was NOT graded: {why}", file=sys.stderr)
    return 3 if book.failed else 0


class _Places:
    """The files of a gradebook: all beside the table, named after it."""

    def __init__(self, out):
        if out.suffix.lower() != ".csv":
            raise ValueError(f"--out names a CSV file, got {out.name}")
        self.csv = out
        self.json = out.with_suffix(".json")
        self.store = out.with_suffix(".sqlite")
        self.folder = out.with_name(f"{out.stem}_feedback")

    def all(self):
        return [self.csv, self.json, self.store, self.store.with_suffix(".lock"), self.folder]


def _write(book, places, options, seed, notes):
    from learnable._files import write_atomically
    from learnable.exercises import classroom, report, tables
    from learnable.exercises.similarity import similar

    rows = tables.table(book, options.roster, options.roster_id)
    alike = similar(book, lambda submitted: classroom.cells_of(submitted.path, submitted.key))
    write_atomically(places.csv, tables.csv_text(rows))
    write_atomically(places.json, tables.json_text(book, seed))
    students = book.students()
    for student, name in report.feedback_names(students).items():
        page = report.feedback_page(student, students[student], options.reveal)
        write_atomically(places.folder / "feedback" / name, page)
    write_atomically(places.folder / "summary.html", report.summary_page(book, notes, alike))
    print(f"grades:   {_short(places.csv)} (and {places.json.name})")
    print(f"feedback: {_short(places.folder / 'feedback')}/, one page a student")
    print(f"summary:  {_short(places.folder / 'summary.html')}")
    found = report.hardest(book)
    if found:
        share, chapter, question = found[0]
        print(f"hardest question: {question} of {chapter}, {100 * share:.0f} % of its points on average")


def _print_table(book):
    from learnable.exercises.report import points_text as text

    for submitted, result in book.rows:
        print(f"{submitted.student}: {text(result['score'])} of {text(result['possible'])}  ({result['chapter']})")
        for name, question in result["questions"].items():
            print(f"  {name}  {text(question['score'])} of {text(question['possible'])}")
            for case in question["cases"]:
                if not case["passed"]:
                    print(f"      {case['title']}: {case['problem']}")
        for remark in [*submitted.remarks, *result["remarks"]]:
            print(f"  note: {remark}")


def _print_problems(book):
    """Say at the end what an instructor has to look at."""
    from collections import Counter

    statuses = Counter(result["status"] for _, result in book.rows)
    counts = {word: statuses[word] for word in ("not started", "unreadable", "wrong exercise")}
    counts |= {"not in the roster": len(book.strangers), "ambiguous": len(book.ambiguous)}
    counts |= {"not graded": len(book.failed)}
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    for name, students in book.ambiguous.items():
        print(f"ambiguous in the roster: {name} may be {' or '.join(students)}")


def _key_notes(key, assignments, options):
    if key is None and options.seed is None:
        return ["hidden cases: the public ones (seed 0); --key or --seed draws others"]
    changed = [c for c, a in assignments.items() if key and key["chapters"].get(c, {}).get("digest") != a.digest]
    return [f"note: the master or the libraries of {c} changed since the release" for c in changed]


def _run_notes(book, elapsed):
    notes = [f"{book.graded} graded in {elapsed:.1f} s, {book.known} known from before"]
    if book.graded:
        notes[0] = (
            f"{book.graded} graded in {elapsed:.1f} s ({elapsed / book.graded:.2f} s each), "
            f"{book.known} known from before"
        )
    notes.append(f"confined by {book.confinement}")
    return notes


def _short(path):
    """Print a path relative to here when it is below."""
    path = Path(path).resolve()
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _can_print(text):
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
