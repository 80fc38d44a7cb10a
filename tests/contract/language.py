"""The language of the package, as checks of its public names: each returns sentences; none means that all is well.

`public` walks what the modules export; a check takes one name and its object, so that the tests of the tests can plant
a dialect and see it caught.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import doctest
import functools
import importlib
import inspect
import io
import pkgutil
import re
import warnings

import fuzz
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

import learnable
from tools.project import PACKAGE, PARTS

# The word that is not used, and the word for it. A parameter may have another meaning under the same letters: then the
# name belongs to the exceptions, with the meaning as the reason.
WORDS = {
    "random_state": "seed rng random_seed rand random generator prng",
    "max_iter": "n_iter n_iters niter n_iterations num_iter iterations maxiter max_iterations max_steps max_passes "
    "max_sweeps n_passes n_epochs epochs",
    "n_restarts": "n_starts tries trials max_restarts restarts n_init n_inits",
    "n_draws": "draws n_simulations n_sim reps n_reps",
    "tol": "tolerance xtol gtol ftol",
    "n_jobs": "n_threads n_workers num_threads workers processes",
    "verbose": "verbosity quiet disp",
    "max_depth": "depth tree_depth",
    "min_samples_leaf": "min_leaf min_leaf_size",
    "min_samples_split": "min_node min_split",
    "alpha": "lam lamda lambda_ lmbda reg penalty l1_penalty ridge regularization",
    "alphas": "lams lambdas penalties regs",
    "cv": "folds n_folds",
    "gamma, degree and coef0": "kernel_params kernel_args kernel_width",
    "startprob": "pi start_prob initial_state",
    "transmat": "transition transitions transition_matrix",
    "emissionprob": "B emission_matrix",
    "covariance": "cov Sigma",
    "precision": "Theta prec",
    "sample_weight": "sample_weights case_weights",
    "n_components": "n_topics n_factors n_comp",
}
FORBIDDEN = {word: use for use, words in WORDS.items() for word in words.split()}


@dataclasses.dataclass(frozen=True)
class Name:
    """A public name: where it is exported, where it is defined, and what it is."""

    name: str
    exported: str
    value: object

    @property
    def label(self):
        return f"{self.exported}.{self.name}"

    @property
    def home(self):
        return self.value.__module__


def public_modules():
    """The modules of the library whose ``__all__`` is public; of a package with a stub, what the stub exports."""
    stubs = [path.parent.relative_to(PACKAGE.parent) for path in PACKAGE.glob("*/*/__init__.pyi")]
    closed = tuple(f"{'.'.join(path.parts)}." for path in stubs)
    apart = ("learnable.book", "learnable.chapters", "learnable.exercises", "learnable.cli")
    found = [info.name for info in pkgutil.walk_packages(learnable.__path__, "learnable.")]
    private = {name for name in found if any(part.startswith("_") for part in name.split("."))}
    doors = {f"learnable.{part}" for part in PARTS}  # they export what the modules below them define
    return [name for name in found if name not in private | doors and not name.startswith((*closed, *apart))]


@functools.cache
def public():
    """Every public function and class of the library once, under the module that exports it first."""
    found = {}
    # The package of a concept exports what its modules define: the package is the place to import from. The door of the
    # data sets comes last, because a simulator stands beside its kin.
    for module in sorted(public_modules(), key=lambda n: (n == "learnable.datasets", n)):
        loaded = importlib.import_module(module)
        for name in getattr(loaded, "__all__", ()):
            value = getattr(loaded, name)
            home = getattr(value, "__module__", None) or ""
            if callable(value) and home.startswith(module):
                found.setdefault(id(value), Name(name, module, value))
    return sorted(found.values(), key=lambda entry: entry.label)


def is_estimator(value):
    """A class with `fit`: a base that leaves it to its subclasses is none."""
    return inspect.isclass(value) and issubclass(value, BaseEstimator) and hasattr(value, "fit")


def is_result(value):
    """A class of which users receive instances: a dataclass or a named tuple."""
    return inspect.isclass(value) and (dataclasses.is_dataclass(value) or issubclass(value, tuple))


def signatures(value):
    """{"" or ".method": signature} of what a user calls; results are not called."""
    if inspect.isclass(value):
        if issubclass(value, BaseException):
            return {}
        found = {} if is_result(value) else {"": inspect.signature(value)}
        for method, function in inspect.getmembers(value, inspect.isfunction):
            if not method.startswith("_") and (function.__module__ or "").startswith(value.__module__.split(".")[0]):
                found[f".{method}"] = inspect.signature(function)
        return found
    try:
        return {"": inspect.signature(getattr(value, "py_func", value))}
    except (TypeError, ValueError):
        return {}


def words(entry):
    """Parameters that have another word here."""
    for method, signature in signatures(entry.value).items():
        for parameter in signature.parameters:
            if parameter in FORBIDDEN:
                yield f"{entry.name}{method}: in place of `{parameter}` write `{FORBIDDEN[parameter]}`"


# --- docstrings ------------------------------------------------------------------------------------------------------


def documented(text):
    """Names in the section "Parameters" of a docstring, in order."""
    lines = inspect.cleandoc(text or "").splitlines()
    inside, names = False, []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"-{3,}", below):
            inside = line.strip() == "Parameters"
        elif inside and line and not line.startswith((" ", "-")):
            names += [name.strip().lstrip("*") for name in line.partition(" :")[0].split(",")]
    return names


def docstring(entry):
    """A docstring whose section "Parameters" does not list the parameters."""
    value = entry.value
    if inspect.isclass(value) and issubclass(value, BaseException):
        return
    text = inspect.getdoc(value) or ""
    first = text.splitlines()[0] if text else ""
    if not first:
        yield f"{entry.name}: it has no docstring"
    if is_result(value):
        return
    signature = signatures(value).get("")
    parameters = [p for p in (signature.parameters if signature else ()) if p != "self"]
    listed = documented(text)
    if parameters and not listed:
        yield f"{entry.name}: the docstring has no section Parameters for {', '.join(parameters)}"
    elif sorted(listed) != sorted(parameters):
        missing = [p for p in parameters if p not in listed]
        unknown = [p for p in listed if p not in parameters]
        if missing:
            yield f"{entry.name}: the docstring does not explain {', '.join(missing)}"
        if unknown:
            yield f"{entry.name}: the docstring explains {', '.join(unknown)}, which is no parameter"


def example(entry):
    """No example of the name, or one that shows nothing."""
    value = entry.value
    if inspect.isclass(value) and issubclass(value, BaseException):
        return
    found = doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")
    if is_result(value) and not found:  # shown by the function that returns it
        return
    called = [e for e in found if re.search(rf"\b{re.escape(entry.name)}\b", e.source)]
    if not called:
        yield f"{entry.name}: the docstring has no example that calls it"
    elif not any(e.want.strip() not in ("", "None") or e.exc_msg for e in found):
        yield f"{entry.name}: the example shows no result"


# --- results ---------------------------------------------------------------------------------------------------------


def result_class(entry):
    """A result that is no frozen dataclass, or came from iterations and does not say how they ended."""
    value = entry.value
    if not is_result(value):
        return
    if issubclass(value, tuple):
        if len(getattr(value, "_fields", ())) > 2:
            yield f"{entry.name} is a named tuple: write a frozen dataclass (`learnable.validation.Result`)"
        return
    if not value.__dataclass_params__.frozen:
        yield f"{entry.name} can be changed: write @dataclass(frozen=True)"
    fields = {field.name for field in dataclasses.fields(value)} | set(vars(value))
    if "n_iter" in fields and "converged" not in fields:
        yield f"{entry.name} has n_iter: it needs `converged`, and the gap or residual"


def returned(entry, value):
    """What a call gave back: a dict, or a tuple of more than two parts."""
    if entry.exported.startswith("learnable.datasets"):
        return
    if isinstance(value, Bunch) or type(value) is dict:
        yield f"{entry.name} returns a {type(value).__name__}: write a frozen dataclass (`learnable.validation.Result`)"
    elif type(value) is tuple and len(value) > 2:
        yield f"{entry.name} returns a tuple of {len(value)}: write a frozen dataclass (`learnable.validation.Result`)"


# --- calls, as the examples make them --------------------------------------------------------------------------------


@functools.cache
def calls(entry):
    """The calls of a name in its own example, with copies of their arguments."""
    module = importlib.import_module(entry.home)
    found = fuzz.record(f"{entry.home}.{entry.name}", module, entry.value)
    return [call for call in found if call.name == f"{entry.home}.{entry.name}"]


def repeat(call, **changed):
    """The result of a recorded call, on copies."""
    args, kwargs = copy.deepcopy((call.args, call.kwargs))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return call.target(*args, **{**kwargs, **changed})


def _arrays(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _arrays(item)


def inputs(entry):
    """A call that changes its arguments."""
    for call in calls(entry)[:2]:
        args, kwargs = copy.deepcopy((call.args, call.kwargs))
        before = [array.copy() for array in _arrays([args, kwargs])]
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            call.target(*args, **kwargs)
        after = list(_arrays([args, kwargs]))
        if any(not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(before, after, strict=True)):
            yield f"{entry.name} changes its arguments: work on a copy"


def results(entry):
    """What the calls of the example give back."""
    if inspect.isclass(entry.value):
        return
    for call in calls(entry)[:1]:
        with contextlib.suppress(Exception):
            yield from returned(entry, repeat(call))


def randomness(entry):
    """`random_state` that refuses None, an int or a Generator, or does not repeat."""
    signature = signatures(entry.value).get("")
    if signature is None or "random_state" not in signature.parameters or is_estimator(entry.value):
        return
    for call in calls(entry)[:1]:
        position = list(signature.parameters).index("random_state")
        if position < len(call.args):
            continue
        makers = {"None": lambda: None, "an int": lambda: 7, "a Generator": lambda: np.random.default_rng(7)}
        for what, make in makers.items():
            try:
                once, again = (repeat(call, random_state=make()) for _ in range(2))
            except (TypeError, ValueError) as error:
                yield f"{entry.name} refuses {what} as random_state ({error}): pass it through check_rng"
                continue
            if what != "None" and not fuzz._same(once, again):
                yield f"{entry.name} gives two results for {what} as random_state: pass it through check_rng"


CHECKS = {
    check.__name__: check
    for check in (words, docstring, example, result_class, results, inputs, randomness)
}  # fmt: skip
