"""The words of a check: ask a student's function, compare, and explain what differs.

A test in a master notebook is a function of the notebook's namespace. It asks, it compares::

    def test_five_points(env):
        \"""Five equally likely points\"""
        from learnable.exercises import ask

        answer = ask(env, "joint_table", [0.2] * 5, [0.2, 0.4, 0.6, 0.8, 1.0])
        joint, priors = answer.unpack("joint", "priors")
        joint.equals([[0.16, 0.04], ...], "one row a point, one column a class")

Whatever goes wrong (no such function, an exception, ``None``, a wrong type or shape, NaN, a wrong number) ends in one
`WrongAnswer` that names the case, what was expected and what came. ``env`` may be the globals of a
running notebook or a window onto a confined process: the same test serves the student and the grader.
"""

import contextlib
import contextvars
import difflib
import linecache
import traceback
import zlib

import numpy as np

__all__ = ["Answer", "SilentNotebook", "WrongAnswer", "ask", "hidden_rng", "hidden_seed", "refuses"]

PUBLIC_SEED = 0
MISSING = "There is no function"
NO_ANSWER = "no question is answered yet"
NOTHING_CAME = "Your function returned None"
_seed = contextvars.ContextVar("learnable_hidden_seed", default=PUBLIC_SEED)


class WrongAnswer(AssertionError):
    """A failed check, told as a teacher would.

    Parameters
    ----------
    problem : str
        One sentence: what is wrong.
    case, expected, came, why : object
        The call that was made, what it should have given, what it gave, and what to think about: words, or values,
        which are printed here. Empty words and None are left out.

    Examples
    --------
    >>> print(WrongAnswer("The answer is wrong.", case="f(2)", expected=4.0, came=0))
    The answer is wrong.
    Case: f(2)
    Expected: 4
    Came: 0
    """

    PARTS = ("Case", "Expected", "Came", "Think about")

    def __init__(self, problem, *, case="", expected="", came="", why=""):
        self.problem = str(problem)
        self.parts = {label: _words(part) for label, part in zip(self.PARTS, (case, expected, came, why), strict=True)}
        lines = [self.problem] + [f"{k}: {v}" for k, v in self.parts.items() if v]
        super().__init__("\n".join(line.replace("\n", " ") for line in lines))


class AskedElsewhere(Exception):
    """Base of what a confined submission can answer instead of a value.

    ``sentence`` completes "Your function …", ``detail`` is the student's line if it is known.
    """

    sentence = "gave no answer"
    detail = ""
    outcome = "died"


class SandboxError(RuntimeError):
    """The machinery failed, not the submission: no grade may be drawn from this."""


class TooLong(BaseException):
    """A check in this process ran into its time limit; not an `Exception`, so that few handlers catch it."""

    detail = ""

    def __init__(self, seconds):
        self.sentence = f"did not finish within {seconds:g} s"
        super().__init__(self.sentence)


class SilentNotebook:
    """Stands in for `learnable.exercises.Notebook` while a submission is graded: every request is ignored."""

    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


def describe_exception(error, namespace):
    """Say what was raised and on which line of the notebook: its kind, text, source line and number, as plain data.

    The deepest frame that runs in ``namespace``, the globals of the notebook, is the student's line.
    """
    line, number = "", 0
    if isinstance(error, SyntaxError):
        line, number = (error.text or "").strip(), error.lineno or 0
        text = error.msg or ""
    else:
        for frame, at in traceback.walk_tb(error.__traceback__):
            if frame.f_globals is namespace:
                line = linecache.getline(frame.f_code.co_filename, at).strip()
                number = at
        try:
            text = str(error)
        except Exception:
            text = "(no readable message)"
    return {"kind": type(error).__name__[:80], "text": text[:500], "line": line[:200], "number": int(number)}


def sentence_of_exception(description):
    """Turn a description of an exception into the end of "Your function …" and a detail.

    Examples
    --------
    >>> sentence_of_exception({"kind": "KeyError", "text": "3", "line": "return d[3]", "number": 2})
    ('raised KeyError: 3', 'line 2: return d[3]')
    """
    kind, text = description["kind"], description["text"]
    if kind == "SystemExit":
        sentence = "called sys.exit instead of returning"
    elif kind == "RecursionError":
        sentence = "calls itself without end (RecursionError)"
    elif kind == "MemoryError":
        sentence = f"asked for more memory than it may use (MemoryError{': ' + text if text else ''})"
    else:
        sentence = f"raised {kind}: {text}" if text else f"raised {kind}"
    detail = f"line {description['number']}: {description['line']}" if description["line"] else ""
    return sentence, detail


def ask(env, name, /, *args, about="", **kwargs):
    """Call the student's function ``name`` and return what came as an `Answer`.

    Parameters
    ----------
    env : mapping
        The namespace of the notebook.
    name : str
    *args, **kwargs
        Passed on; arrays and containers are copied first, so that a function that changes its
        arguments cannot spoil the test.
    about : str
        Words that replace the printed arguments in the message, when those are long.

    Raises
    ------
    WrongAnswer
        When there is no such function or it raises.

    Examples
    --------
    >>> ask({"double": lambda x: 2 * x}, "double", 3).equals(6).value
    6
    >>> ask({"double": lambda x: None}, "double", 3).equals(6)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    learnable.exercises.checking.WrongAnswer: Your function returned None: ...
    Case: double(3)
    """

    def case():
        return f"{name}: {about}" if about else _call_text(name, args, kwargs)

    return Answer(_call(_find(env, name), case, env, args, kwargs), case, env=env)


def _call(function, case, env, args, kwargs):
    try:
        return function(*_fresh(args), **_fresh(kwargs))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        sentence, detail = _told(error, env)
        raise WrongAnswer(f"Your function {sentence}.", case=case(), came=detail) from None


def _told(error, env):
    """Return the end of "Your function …" and a detail, wherever the exception was raised."""
    if isinstance(error, AskedElsewhere | TooLong):
        return error.sentence, error.detail
    return sentence_of_exception(describe_exception(error, env))


def refuses(env, name, /, *args, why="", **kwargs):
    """Check that the student's function raises ``ValueError`` for bad input.

    Examples
    --------
    >>> def root(x):
    ...     if x < 0:
    ...         raise ValueError("negative")
    ...     return x**0.5
    >>> refuses({"root": root}, "root", -1.0, why="negative numbers have no real root")
    """
    case, expected = _call_text(name, args, kwargs), "a ValueError that says what is wrong"
    function = _find(env, name)
    try:
        value = function(*_fresh(args), **_fresh(kwargs))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if getattr(error, "kind", type(error).__name__) == "ValueError":
            return
        problem = f"Your function {_told(error, env)[0]}."
        raise WrongAnswer(problem, case=case, expected=expected, why=why) from None
    problem = "This input should be refused, but your function returned a value."
    raise WrongAnswer(problem, case=case, expected=expected, came=_show(value), why=why)


class Answer:
    """What a student's function returned, with the ways to compare it.

    Each method raises `WrongAnswer` when the answer does not pass, and otherwise returns the answer (or its
    value), so that checks can be chained.

    Parameters
    ----------
    value : object
    case : callable
        Prints the call; only asked when something is wrong.
    name : str
        What the value is called, when a function returns several.
    env : mapping, optional
        The namespace of the notebook, to find the student's line when a method raises.

    Examples
    --------
    >>> Answer(0.5, lambda: "half(1)").equals(0.5)
    Answer(0.5)
    """

    def __init__(self, value, case, name="", env=None):
        self.value, self.case, self.name, self.env = value, case, name, env

    def __repr__(self):
        return f"Answer({_show(self.value)})"

    def wrong(self, problem, *, expected="", came=None, why=""):
        """Return (not raise) a `WrongAnswer` about this answer."""
        came = _show(self.value) if came is None else came
        return WrongAnswer(problem, case=self.case(), expected=expected, came=came, why=why)

    def unpack(self, *names):
        """Take a returned tuple apart into one `Answer` a name.

        Examples
        --------
        >>> pair = ask({"f": lambda: (1, 2)}, "f").unpack("first", "second")
        >>> pair[1].value
        2
        """
        self._present()
        wanted = f"{len(names)} values: {', '.join(names)}"
        if not isinstance(self.value, tuple | list) or len(self.value) != len(names):
            count = len(self.value) if isinstance(self.value, tuple | list) else None
            came = f"a {type(self.value).__name__} of {count}" if count is not None else _kind(self.value)
            raise self.wrong(f"Your function should return {wanted}.", expected=wanted, came=came)
        return [Answer(v, self.case, name, self.env) for v, name in zip(self.value, names, strict=True)]

    def call(self, method, /, *args, about="", **kwargs):
        """Call a method of the returned object; gives an `Answer`, as `ask` does.

        Examples
        --------
        >>> class Mean:
        ...     def fit(self, x):
        ...         self.mean_ = sum(x) / len(x)
        ...         return self
        >>> model = ask({"Mean": Mean}, "Mean").call("fit", [1.0, 2.0])
        >>> model.attribute("mean_").equals(1.5).value
        1.5
        """
        before = self.case

        def case():
            return f"{before()}.{method}({about})" if about else f"{before()}.{_call_text(method, args, kwargs)}"

        return Answer(_call(self._part(method), case, self.env, args, kwargs), case, env=self.env)

    def attribute(self, name):
        """Return an attribute of the returned object as an `Answer`."""
        return Answer(self._part(name), self.case, name, self.env)

    def _part(self, name):
        self._present()
        try:
            return getattr(self.value, name)
        except Exception as error:
            if isinstance(error, AttributeError) or getattr(error, "kind", "") == "AttributeError":
                raise self.wrong(f"The object has no {name}.", expected=f"something with {name}") from None
            sentence = getattr(error, "sentence", None) or f"raised {type(error).__name__}: {error}"
            raise self.wrong(f"Reading {name}: your code {sentence}.", came="") from None

    def array(self, shape=None, why=""):
        """Return the answer as an array of finite numbers of the given shape.

        Parameters
        ----------
        shape : tuple, optional
            ``None`` in a place accepts any length there.
        """
        self._present()
        what = self.name or "The answer"
        value = self.value
        if isinstance(value, list | tuple | int | float | np.generic):
            try:
                value = np.asarray(value)
            except ValueError:
                raise self.wrong(f"{what} is not a rectangular array of numbers.") from None
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
            expected = "an array of numbers"
            raise self.wrong(f"{what} has the wrong type.", expected=expected, came=_kind(self.value), why=why)
        if shape is not None and not _fits(value.shape, shape):
            hint = why
            if value.shape[::-1] == tuple(shape) and len(shape) > 1:
                hint = " ".join(filter(None, ("The two axes are exchanged.", why)))
            expected, came = f"shape {_shape_text(shape)}", f"shape {_shape_text(value.shape)}"
            raise self.wrong(f"{what} has the wrong shape.", expected=expected, came=came, why=hint)
        if np.isnan(value).any():
            at = np.argwhere(np.isnan(value))[0]
            why = why or "NaN comes from 0/0, inf - inf or the log of a negative number."
            raise self.wrong(f"{what} contains NaN{_at(at)}.", came=_show(value), why=why)
        return value

    def number(self, why=""):
        """Return the answer as one finite-or-infinite float."""
        self._present()
        what = self.name or "The answer"
        value = self.value
        if isinstance(value, np.ndarray) and value.shape == ():
            value = value[()]
        if isinstance(value, np.ndarray | list | tuple):
            raise self.wrong(f"{what} should be one number.", expected="a number", came=_kind(self.value), why=why)
        if not isinstance(value, int | float | np.integer | np.floating | np.bool_):
            raise self.wrong(f"{what} has the wrong type.", expected="a number", came=_kind(self.value), why=why)
        if np.isnan(value):
            raise self.wrong(f"{what} is NaN.", came="nan", why=why)
        return float(value)

    def equals(self, expected, why="", *, rtol=1e-9, atol=1e-12, reveal=True):
        """Compare with ``expected``, entry by entry, and show the first entry that is off.

        Parameters
        ----------
        expected : number or array
        why : str
            What to think about when it is wrong.
        rtol, atol : float
            An entry passes when ``|came - expected| <= atol + rtol |expected|``.
        reveal : bool
            Whether the message may show the expected value.
        """
        what = self.name or "The answer"
        if expected is None or isinstance(expected, str | bool):
            if expected is not None:
                self._present()
            alike = self.value is None or isinstance(self.value, str | bool | np.bool_)
            if not alike or self.value != expected:
                raise self.wrong(f"{what} is wrong.", expected=_show(expected) if reveal else "", why=why)
            return self
        target = np.asarray(expected)
        if target.dtype.kind == "U":
            return self._same_labels(target, why, reveal)
        came = np.asarray(self.number(why)) if target.ndim == 0 else self.array(target.shape, why)
        shown = np.asarray(self.value)  # as it came: a truth value is not printed as a number
        came, wanted = came.astype(float), target.astype(float)
        with np.errstate(invalid="ignore"):
            error = np.where(came == wanted, 0.0, np.abs(came - wanted))  # equal infinities do not differ
            allowed = np.where(np.isfinite(wanted), atol + rtol * np.abs(wanted), 0.0)
        bad = ~(error <= allowed)
        if not bad.any():
            return self
        first = tuple(np.argwhere(bad)[0])
        many = f" ({int(bad.sum())} of {bad.size} entries are off)" if bad.sum() > 1 else ""
        raise self.wrong(
            f"{what} is wrong{_at(first)}{many}.",
            expected=_number_text(target[first], came[first]) if reveal else "",
            came=_number_text(shown[first], wanted[first]),
            why=why,
        )

    def _same_labels(self, target, why, reveal):
        self._present()
        what = self.name or "The answer"
        came = np.asarray(self.value) if isinstance(self.value, list | tuple | np.ndarray) else np.asarray(0)
        if came.dtype.kind != "U" or came.shape != target.shape:
            wanted = f"an array of strings of shape {_shape_text(target.shape)}"
            raise self.wrong(f"{what} has the wrong type or shape.", expected=wanted, came=_kind(self.value), why=why)
        off = np.argwhere(came != target)
        if off.size:
            at = tuple(off[0])
            shown = str(target[at]) if reveal else ""
            raise self.wrong(f"{what} is wrong{_at(at)}.", expected=shown, came=str(came[at]), why=why)
        return self

    def holds(self, condition, problem, *, expected="", came=None, why=""):
        """Check a property that the test worked out itself."""
        if not condition:
            raise self.wrong(problem, expected=expected, came=came, why=why)
        return self

    def _present(self):
        if self.value is None:
            where = f" for {self.name}" if self.name else ""
            raise self.wrong(f"{NOTHING_CAME}{where}: are the three dots still there, or is a return missing?", came="")
        if self.value is Ellipsis:
            raise self.wrong("The three dots are still in place of the answer.", came="...")


@contextlib.contextmanager
def hidden_seed(seed):
    """Draw the hidden cases from ``seed`` inside the ``with`` block.

    Examples
    --------
    >>> with hidden_seed(5):
    ...     a = hidden_rng("tables").random()
    >>> with hidden_seed(6):
    ...     b = hidden_rng("tables").random()
    >>> a == b
    False
    """
    token = _seed.set(int(seed))
    try:
        yield
    finally:
        _seed.reset(token)


def hidden_rng(tag, seed=None):
    """Return the random generator of a hidden test.

    Parameters
    ----------
    tag : str
        Any name; two tests with different tags draw independent cases.
    seed : int, optional
        Written into the tests that leave this system (otter's own containers); otherwise the seed of the release
        decides.
    """
    seed = _seed.get() if seed is None else seed
    return np.random.default_rng([int(seed), zlib.crc32(tag.encode())])


def _find(env, name):
    try:
        function = env[name]
    except KeyError:
        names = [n for n in env.keys() if isinstance(n, str) and not n.startswith("_")]
        close = difflib.get_close_matches(name, names, 1, 0.6)
        hint = f"There is a {close[0]}: was the function renamed?" if close else ""
        raise WrongAnswer(
            f"{MISSING} {name} in the notebook.",
            expected=f"a function with the name {name}",
            came="nothing of that name (was its cell deleted, or not run?)",
            why=hint,
        ) from None
    except AskedElsewhere as error:
        raise WrongAnswer(f"The notebook {error.sentence}.", came=error.detail) from None
    if not callable(function):
        expected = f"a function with the name {name}"
        raise WrongAnswer(f"{name} is not a function.", expected=expected, came=_kind(function))
    return function


def _fresh(value):
    """Copy arrays and the usual containers, leave functions and everything else as it is."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(_fresh(v) for v in value)
    if type(value) is dict:
        return {k: _fresh(v) for k, v in value.items()}
    return value


def _call_text(name, args, kwargs):
    shown = [_show(a) for a in args] + [f"{k}={_show(v)}" for k, v in kwargs.items()]
    text = f"{name}({', '.join(shown)})"
    return text if len(text) <= 600 else text[:600] + " …"


def _words(part):
    """Return a part of a message as text; a test may give the value itself."""
    return part if isinstance(part, str) else "" if part is None else _show(part)


def _show(value):
    """Print a value on one line, arrays shortened.

    Examples
    --------
    >>> _show(np.arange(100.0))
    'array of shape (100,): [0., 1., 2., ..., 97., 98., 99.]'
    """
    if isinstance(value, np.ndarray):
        body = np.array2string(value, precision=6, separator=", ", threshold=24, max_line_width=10_000)
        body = " ".join(body.split()).replace("[ ", "[")
        return f"array of shape {_shape_text(value.shape)}: {body}" if value.size > 24 else f"array({body})"
    if isinstance(value, float | np.floating):
        return f"{float(value):.9g}"
    if isinstance(value, np.generic):
        return str(value.item())
    if isinstance(value, list | tuple) and len(value) <= 24:
        inner = ", ".join(_show(v) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}: {_show(list(value[:6]))[:-1]}, …"
    kind = getattr(value, "kind_of_answer", None)
    if kind is not None:
        return f"a {kind}"
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= 200 else text[:200] + " …"


def _kind(value):
    kind = getattr(value, "kind_of_answer", None)
    if kind is not None:
        return f"a {kind}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {_shape_text(value.shape)}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}: {_show(value)}"


def _shape_text(shape):
    inner = ", ".join("any" if n is None else str(n) for n in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def _fits(shape, wanted):
    return len(shape) == len(wanted) and all(w is None or n == w for n, w in zip(shape, wanted, strict=True))


def _at(index):
    index = [int(i) for i in np.atleast_1d(index)] if np.size(index) else []
    return f" at [{', '.join(map(str, index))}]" if index else ""


def _number_text(value, other):
    """Print with as many digits as it takes to tell the two apart (at most 17)."""
    if np.asarray(value).dtype.kind in "biu":
        return str(np.asarray(value).item())
    value, other = float(value), float(other)
    if value.is_integer() and abs(value) < 1e15:
        return f"{value:.0f}"
    for digits in range(6, 18):
        if f"{value:.{digits}g}" != f"{other:.{digits}g}":
            break
    return f"{value:.{digits}g}"
