"""The numbers of a kernel that may be tuned: names, values, and kernels with other values."""

from inspect import signature

import numpy as np

from learnable.validation import check_finite_array


class Tunable:
    """Base of :class:`~learnable.kernels.functions.Kernel`: its arguments and free parameters, by name and as a vector.

    A subclass stores its constructor's arguments unchanged under their names, lists the numbers that may be tuned in
    `_free` and the parts inside it, which are tunable themselves, in `_parts`.
    """

    _free = ()
    _parts = ()

    @property
    def parameters(self):
        """The free parameters, own first, then those of the parts, as one float vector."""
        own = [np.ravel(np.asarray(getattr(self, name), dtype=np.float64)) for name in self._free]
        return np.concatenate([*own, *(getattr(self, part).parameters for part in self._parts), np.empty(0)])

    @property
    def parameter_names(self):
        """Names of the entries of `parameters`."""
        names = []
        for name in self._free:
            value = np.asarray(getattr(self, name))
            names += [name] if value.ndim == 0 else [f"{name}[{i}]" for i in range(value.size)]
        for part in self._parts:
            names += [f"{part}__{inner}" for inner in getattr(self, part).parameter_names]
        return names

    def with_parameters(self, values):
        """Return the same kernel with other parameters, in the order of `parameters`."""
        values = check_finite_array(values, "parameters", ndim=1)
        if values.size != self.parameters.size:
            raise ValueError(f"parameters must have {self.parameters.size} entries, got {values.size}")
        new, place = self.get_params(deep=False), 0
        for name in self._free:
            shape = np.shape(getattr(self, name))
            size = int(np.prod(shape))
            taken = values[place : place + size]
            new[name] = taken.copy() if shape else float(taken[0])
            place += size
        for part in self._parts:
            inner = getattr(self, part)
            size = inner.parameters.size
            new[part] = inner.with_parameters(values[place : place + size])
            place += size
        return type(self)(**new)

    def get_params(self, deep=True):
        """Return the constructor's arguments, as scikit-learn's estimators do."""
        params = {name: getattr(self, name) for name in _arguments(type(self))}
        if deep:
            for part in self._parts:
                params |= {f"{part}__{name}": value for name, value in getattr(self, part).get_params().items()}
        return params

    def set_params(self, **params):
        """Set arguments by name (``part__name`` inside a part), check them, and return the kernel."""
        own = self.get_params(deep=False)
        inside = {}
        for name, value in params.items():
            head, _, tail = name.partition("__")
            if head not in own or (tail and head not in self._parts):
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}")
            if tail:
                inside.setdefault(head, {})[tail] = value
            else:
                own[head] = value
        for part, values in inside.items():
            own[part].set_params(**values)
        self.__init__(**own)
        return self

    def __repr__(self):
        inner = ", ".join(f"{name}={short(value)}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({inner})"

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], theirs[name]) for name in mine)

    __hash__ = None


def _arguments(cls):
    if cls.__init__ is object.__init__:
        return []
    return [name for name in signature(cls.__init__).parameters if name != "self"]


def short(value):
    if isinstance(value, np.ndarray):
        return f"array{value.shape}" if value.size > 6 else f"{value.tolist()}"
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    return repr(value)


def _same(a, b):
    if isinstance(a, Tunable) or isinstance(b, Tunable):
        return a == b
    if a is b:
        return True
    try:
        return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
    except (TypeError, ValueError):
        return False
