"""The base of results, and the one warning of an iteration that ended early."""

import warnings
from dataclasses import fields

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.validation.scalars import check_scalar

__all__ = ["Result", "Summary", "warn_not_converged"]


class Result:
    """What a computation returns when it has more than two parts: a base for frozen dataclasses.

    A subclass is declared with ``@dataclass(frozen=True, eq=False)``: fields hold arrays, of which "equal" has no
    truth value. It prints its fields on one line, arrays by their shape. A result that came from iterations has the
    fields `n_iter`, `converged` and a gap or a residual.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False)
    ... class Root(Result):
    ...     x: np.ndarray
    ...     n_iter: int
    ...     converged: bool
    >>> Root(np.zeros((2, 3)), 4, True)
    Root(x=<2 x 3>, n_iter=4, converged=True)
    """

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{f.name}={_brief(getattr(self, f.name))}' for f in fields(self))})"

    # dataclass() writes a __repr__ of its own unless the class body has one.
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Result.__repr__


class Summary(str):
    """Text that shows itself as it is printed, at a prompt and in a notebook too: what `summary()` methods return.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> Summary.table("Two rates", ["name", "rate"], [["ours", "0.50"], ["theirs", "0.4"]], ["Made up."])
    Two rates
    <BLANKLINE>
    name    rate
    ours    0.50
    theirs   0.4
    <BLANKLINE>
    Made up.
    """

    __slots__ = ()

    def __new__(cls, text):
        return super().__new__(cls, text)

    __repr__ = str.__str__

    @classmethod
    def table(cls, title, heads, rows, notes=()):
        """A title, a table with its first column to the left and the others to the right, and notes.

        Parameters
        ----------
        title : str
        heads : sequence of str
        rows : sequence of sequences of str
        notes : sequence of str
        """
        lines = [list(heads), *[list(row) for row in rows]]
        width = [max(len(line[j]) for line in lines) for j in range(len(heads))]
        told = [
            "  ".join(
                text.rjust(w) if j else text.ljust(w) for j, (text, w) in enumerate(zip(line, width, strict=True))
            )
            for line in lines
        ]
        parts = [title, "\n".join(line.rstrip() for line in told), *notes]
        return cls("\n\n".join(parts))


def warn_not_converged(what, n_iter, residual, tol, advice="raise max_iter", *, stacklevel=3):
    """Warn that an iteration ended before it met its tolerance, and say what to change.

    Parameters
    ----------
    what : str
        The function or estimator, for the message.
    n_iter : int
        Iterations done.
    residual : float or None
        The gap, residual or change that was reached.
    tol : float or None
        What it should have been.
    advice : str, default="raise max_iter"
        What the caller can change.
    stacklevel : int, default=3
        As in ``warnings.warn``; 3 blames the caller of the public function.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_not_converged("lasso", 10, 0.02, 1e-6)
    >>> print(caught[0].message)
    lasso did not converge in 10 iterations (0.02 > tol = 1e-06): raise max_iter
    """
    stacklevel = check_scalar(stacklevel, "stacklevel", low=1, high=10**6, integer=True)
    tol = None if tol is None else check_scalar(tol, "tol")
    reached = "" if residual is None or tol is None else f" ({residual:.3g} > tol = {tol:g})"
    message = f"{what} did not converge in {n_iter} iterations{reached}: {advice}"
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)


def _brief(value):
    if isinstance(value, np.ndarray) and value.ndim:
        return f"<{' x '.join(map(str, value.shape))}>"
    if isinstance(value, np.generic) or isinstance(value, np.ndarray):
        return repr(value.item())
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"<{type(value).__name__}>"
