"""Every public name speaks the language of the package; a dialect fails with a sentence that says which word to use.

What does not keep it yet stands in `exceptions.yml`, by check and by name, with the reason. The list can only shrink:
an entry that is no longer needed fails too.
"""

import ast
import collections
import functools
import inspect
import sys
import types
from pathlib import Path

import language
import numpy as np
import pytest
import use
import yaml
from language import Name
from sklearn.base import BaseEstimator, clone

HERE = Path(__file__).parent
EXCEPTIONS = yaml.safe_load((HERE / "exceptions.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("check", language.CHECKS.values(), ids=language.CHECKS)
def test_public_names_speak_the_language(check):
    allowed = EXCEPTIONS.get(check.__name__) or {}
    wrong, used = [], set()
    for entry in language.public():
        sentences = list(check(entry))
        if sentences and entry.label in allowed:
            used.add(entry.label)
        else:
            wrong += [f"{entry.exported}: {sentence}" for sentence in sentences]
    assert not wrong, "\n".join(wrong)
    spare = sorted(set(allowed) - used)
    assert not spare, "these speak the language now: take them out of exceptions.yml:\n" + "\n".join(spare)


def test_every_name_of_the_library_is_used():
    allowed, found = EXCEPTIONS.get("use") or {}, use.unused()
    wrong = sorted(set(found) - set(allowed))
    assert not wrong, "no lecture, exercise, benchmark, page or used name refers to these: remove them:\n" + "\n".join(
        wrong
    )
    assert sorted(set(allowed) - set(found)) == [], "these are used now: take them out of exceptions.yml"


def test_exceptions_belong_to_checks_and_give_reasons():
    assert set(EXCEPTIONS) <= {*language.CHECKS, "use"}
    for entries in EXCEPTIONS.values():
        assert all(isinstance(reason, str) and len(reason) > 8 for reason in entries.values())


def checked_estimators():
    """Names of the classes whose instances some test passes to scikit-learn's checks."""
    found = set()
    for path in HERE.parent.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in ("parametrize_with_checks", "check_estimator"):
                found |= {_name(inner.func) for inner in ast.walk(node) if isinstance(inner, ast.Call)}
    return found


def _name(function):
    return getattr(function, "attr", None) or getattr(function, "id", None)


def test_every_estimator_goes_through_the_checks_of_scikit_learn():
    checked = checked_estimators()
    found = [entry for entry in language.public() if language.is_estimator(entry.value)]
    missing = [e.label for e in found if e.name not in checked and not hasattr(e.value, "_takes")]
    assert not missing, f"write @parametrize_with_checks([...]) for {', '.join(missing)}, or say what it `_takes`"


@pytest.mark.parametrize(
    "entry", [entry for entry in language.public() if language.is_estimator(entry.value)], ids=lambda entry: entry.name
)
def test_estimators_keep_their_parameters_as_given(entry):
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(entry.value).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    marks = {name: object() if value is inspect.Parameter.empty else value for name, value in defaults.items()}
    made = entry.value(**marks)
    assert made.get_params(deep=False) == marks
    needed = [name for name, value in defaults.items() if value is inspect.Parameter.empty]
    plain = entry.value(**{name: BaseEstimator() for name in needed})
    assert clone(plain).get_params(deep=False).keys() == marks.keys()
    assert not [name for name in vars(plain) if name.endswith("_") and not name.startswith("_")]


# --- the tests of the tests: planted dialects are caught -------------------------------------------------------------

PLANTED = '''
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass
class Fit:
    """A result that anyone may change."""

    coef: np.ndarray
    n_iter: int


class Triple(NamedTuple):
    """Three parts."""

    a: int
    b: int
    c: int


def fit_lasso(X, lam, n_iterations=10, depth=3, seed=None):
    """Fit it.

    Parameters
    ----------
    X : array
    alpha : float

    Examples
    --------
    >>> fit_lasso([1.0], 2.0)
    {'coef': 1.0}
    """
    return {"coef": 1.0}


def stubborn(n, random_state=0):
    """Draw.

    Parameters
    ----------
    n : int
    random_state : int

    Examples
    --------
    >>> stubborn(3).shape
    (3,)
    """
    return np.random.RandomState(random_state).random_sample(n)


def restless(n, random_state=0):
    """Draw.

    Parameters
    ----------
    n : int
    random_state : int

    Examples
    --------
    >>> restless(3).shape
    (3,)
    """
    return np.random.default_rng().random(n)


def spoil(x):
    """Sort in place.

    Parameters
    ----------
    x : array

    Examples
    --------
    >>> spoil(np.array([3.0, 1.0]))
    3.0
    """
    last = x[0]
    x.sort()
    return float(last)


def three(x):
    """Return a long tuple.

    Parameters
    ----------
    x : float

    Examples
    --------
    >>> three(1)
    (1, 2, 3)
    """
    return x, x + 1, x + 2


def silent(x):
    """Show nothing.

    Parameters
    ----------
    x : float

    Examples
    --------
    >>> y = silent(1)
    """
    return x


def good(X, alpha, *, max_iter=10, random_state=None):
    """Draw, multiply, copy.

    Parameters
    ----------
    X : array
    alpha : float
    max_iter : int
    random_state : None, int or Generator

    Examples
    --------
    >>> good([1.0], 2.0, random_state=0).round(2)
    array([1.27])
    """
    return alpha * np.asarray(X) * np.random.default_rng(random_state).random(len(X))
'''


@pytest.fixture(scope="module")
def planted():
    module = types.ModuleType("planted")
    exec(PLANTED, vars(module))
    sys.modules["planted"] = module
    yield module
    del sys.modules["planted"]


def sentences(module, name, *checks):
    entry = Name(name, "planted", getattr(module, name))
    return "\n".join(sentence for check in checks or ALL for sentence in check(entry))


ALL = list(language.CHECKS.values())


def test_planted_words_are_caught(planted):
    found = sentences(planted, "fit_lasso", language.words)
    assert "in place of `lam` write `alpha`" in found
    assert "in place of `n_iterations` write `max_iter`" in found
    assert "in place of `depth` write `max_depth`" in found
    assert "in place of `seed` write `random_state`" in found


def test_planted_results_are_caught(planted):
    assert "can be changed: write @dataclass(frozen=True)" in sentences(planted, "Fit")
    assert "it needs `converged`" in sentences(planted, "Fit")
    assert "is a named tuple: write a frozen dataclass" in sentences(planted, "Triple")
    assert "returns a dict: write a frozen dataclass" in sentences(planted, "fit_lasso")
    assert "returns a tuple of 3" in sentences(planted, "three")


def test_planted_randomness_is_caught(planted):
    assert "refuses a Generator as random_state" in sentences(planted, "stubborn", language.randomness)
    assert "gives two results for an int as random_state" in sentences(planted, "restless", language.randomness)


def test_planted_docstrings_are_caught(planted):
    assert "does not explain lam, n_iterations, depth, seed" in sentences(planted, "fit_lasso", language.docstring)
    assert "the example shows no result" in sentences(planted, "silent", language.example)


def test_a_planted_change_of_the_input_is_caught(planted):
    assert "spoil changes its arguments: work on a copy" in sentences(planted, "spoil")


def test_a_name_that_nobody_uses_is_caught(tmp_path, monkeypatch):
    files = {
        "lib/learnable/__init__.py": "",
        "lib/learnable/linear/__init__.py": "import lazy_loader",
        "lib/learnable/linear/__init__.pyi": "from .rules import Door as Door, told as told, forgotten as forgotten",
        "lib/learnable/linear/rules.py": "class Door:\n    def fit(self): ...\n\n\ndef told():\n    return helper()\n"
        "\n\ndef helper(): ...\n\n\ndef forgotten():\n    return helper()\n\n\ndef loop(): ...\n",
        "lib/learnable/chapters/__init__.py": "",
        "lib/learnable/chapters/one.py": "from learnable.linear import rules\n\n\ndef study():\n    rules.loop()\n",
        "benchmarks/bench_one.py": "from learnable.linear import told as said\n\nsaid()\n",
        "book/front_door.rst": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(use, "ROOT", tmp_path)
    monkeypatch.setattr(use, "PACKAGE", tmp_path / "lib" / "learnable")
    for function in (use.modules, use.used):
        monkeypatch.setattr(use, function.__name__, functools.cache(function.__wrapped__))
    assert use.unused() == ["learnable.linear.rules.Door", "learnable.linear.rules.forgotten"]


def test_what_speaks_the_language_passes(planted):
    assert sentences(planted, "good") == ""


def test_every_word_has_one_meaning():
    words = [word for used in language.WORDS.values() for word in used.split()]
    assert [word for word, count in collections.Counter(words).items() if count > 1] == []
    assert not set(words) & {word for use in language.WORDS for word in use.replace(",", " ").split()}


def test_results_of_iterations_need_no_dictionary():
    """The walk finds the package's own results: a walk over nothing would pass everything."""
    names = {entry.name for entry in language.public()}
    assert {"LassoSolution", "SoftMarginSVM", "make_hmm", "check_rng", "HMM"} <= names
    assert len(names) > 400
    assert np.mean([len(language.signatures(entry.value)) > 0 for entry in language.public()]) > 0.8
