"""How a data set is kept in one small file.

A file is an ordinary ``.npz`` archive: one member ``meta`` holds JSON, every other member holds bytes
that only make sense together with that JSON. Four encodings cover everything in the catalogue:

``decimal``
    a float matrix whose columns are decimal numbers with few digits. Column j is written as integers
    u = 10^k x - low in as few byte planes as it needs (with k and low of its own or common to all
    columns, whatever compresses better), and read back as (u + low) / 10^k. Numerator and denominator
    are exact in double precision and division rounds correctly, so the result is the very number that
    parsing the decimal text gives. NaN is one spare integer. A column that is no short decimal keeps
    its eight bytes;
``bytes``
    any other numeric array, its bytes gathered plane by plane (low bytes with low bytes), which
    compresses better than the interleaved form;
``picture``
    uint8 images as differences to the pixel on the left and to the row above, modulo 256;
``text``
    a list of strings, joined by the character U+001E.

Files are compressed with deflate and carry no time stamps: the same content gives the same bytes.
"""

import hashlib
import io
import json
import zipfile
import zlib

import numpy as np

__all__ = ["decode", "encode", "fingerprint", "read", "write"]

_SEPARATOR = "\x1e"
_MAX_DIGITS = 9
_EPOCH = (1980, 1, 1, 0, 0, 0)
_RAW = [-1, 0, 8, -1]


def write(path, arrays, meta):
    """Write `arrays` (name -> array or list of str) and the JSON-ready `meta` to `path`."""
    members, layout = {}, {}
    for name, value in arrays.items():
        members[name], layout[name] = encode(value)
    header = json.dumps({"layout": layout, **meta}, ensure_ascii=False, separators=(",", ":"))
    members = {"meta": np.frombuffer(header.encode(), dtype=np.uint8), **members}
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in members.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, buffer.getvalue(), compresslevel=9)


def read(path):
    """Return ``(arrays, meta)`` as given to :func:`write`."""
    with np.load(path, allow_pickle=False) as archive:
        meta = json.loads(archive["meta"].tobytes())
        layout = meta.pop("layout")
        return {name: decode(archive[name], how) for name, how in layout.items()}, meta


def encode(value):
    """Return the bytes (uint8 array) of one array or list of strings, and how to read them."""
    if isinstance(value, (list, tuple)):
        if any(_SEPARATOR in text for text in value):
            raise ValueError("a text contains the separator U+001E")
        joined = _SEPARATOR.join(value).encode()
        return np.frombuffer(joined, dtype=np.uint8), {"codec": "text", "n": len(value)}
    value = np.asarray(value)
    if value.dtype == np.float64 and value.ndim == 2:
        return _encode_decimal(value)
    if value.dtype == np.uint8 and value.ndim >= 3:
        return _encode_picture(value)
    if value.dtype == np.bool_:
        return np.packbits(value.ravel()), {"codec": "bits", "shape": list(value.shape)}
    planes = np.ascontiguousarray(value).reshape(-1, 1).view(np.uint8).T
    how = {"codec": "bytes", "dtype": value.dtype.newbyteorder("<").str, "shape": list(value.shape)}
    return np.ascontiguousarray(planes), how


def decode(stored, how):
    """Undo :func:`encode`."""
    codec = how["codec"]
    if codec == "text":
        return stored.tobytes().decode().split(_SEPARATOR) if how["n"] else []
    if codec == "decimal":
        return _decode_decimal(stored, how)
    shape = tuple(how["shape"])
    if codec == "bits":
        return np.unpackbits(stored, count=int(np.prod(shape))).astype(bool).reshape(shape)
    if codec == "picture":
        rows = np.cumsum(stored.reshape(shape), axis=-2, dtype=np.uint8)
        return np.cumsum(rows, axis=-1, dtype=np.uint8)
    return np.ascontiguousarray(stored.T).view(np.dtype(how["dtype"])).reshape(shape)


def fingerprint(arrays):
    """SHA-256 over names, shapes and values of decoded arrays, independent of how they are stored."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        value = arrays[name]
        if isinstance(value, (list, tuple)):
            digest.update(f"{name} text {len(value)}\n".encode())
            digest.update(_SEPARATOR.join(value).encode())
            continue
        value = np.asarray(value)
        little = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        digest.update(f"{name} {little.dtype.str} {list(little.shape)}\n".encode())
        digest.update(little.tobytes())
    return digest.hexdigest()


def _encode_picture(value):
    """Differences along the last two axes; colour pictures are stored channel first."""
    columns = np.diff(value, axis=-1, prepend=np.zeros((*value.shape[:-1], 1), np.uint8))
    rows = np.diff(columns, axis=-2, prepend=np.zeros((*value.shape[:-2], 1, value.shape[-1]), np.uint8))
    return rows.reshape(-1), {"codec": "picture", "shape": list(value.shape)}


def _encode_decimal(matrix):
    """The smallest of four layouts: one format a column or one for all, columns or rows together."""
    n, d = matrix.shape
    common = _format(matrix)
    candidates = []
    for columns in [[_format(x) for x in matrix.T]] + ([[common] * d] if common else []):
        planes = [_planes(x, column) for x, column in zip(matrix.T, columns, strict=True)]
        stored = np.ascontiguousarray(np.concatenate(planes)) if planes else np.empty((0, n), np.uint8)
        how = {"codec": "decimal", "n": n, "columns": _runs([c or _RAW for c in columns])}
        candidates += [(stored, how), (np.ascontiguousarray(stored.T), {**how, "rows": True})]
    return min(candidates, key=lambda c: len(zlib.compress(c[0].tobytes(), 6)) + 20 * len(c[1]["columns"]))


def _format(x):
    """``[digits, low, width, spare]`` of a block of decimals, or None if it is none."""
    known = x[~np.isnan(x)]
    digits = next((k for k in range(_MAX_DIGITS + 1) if _is_decimal(known, k)), None)
    if digits is None:
        return None
    whole = np.rint(known * 10.0**digits)
    low = int(whole.min()) if known.size else 0
    spare = int(whole.max()) - low + 1 if known.size else 0
    largest = spare if known.size < x.size else max(spare - 1, 0)
    return [digits, low, max(1, (largest.bit_length() + 7) // 8), spare if known.size < x.size else -1]


def _planes(x, column):
    if column is None:
        return np.ascontiguousarray(x).reshape(-1, 1).view(np.uint8).T
    digits, low, width, spare = column
    codes = np.full(len(x), max(spare, 0), dtype="<i8")
    known = ~np.isnan(x)
    codes[known] = np.rint(x[known] * 10.0**digits).astype(np.int64) - low
    return codes.reshape(-1, 1).view(np.uint8).T[:width]


def _is_decimal(x, digits):
    """Whether every entry equals (an integer below 2^53) / 10^digits."""
    scaled = np.rint(x * 10.0**digits)
    return bool(np.all(np.abs(scaled) < 2.0**53) and np.array_equal(scaled / 10.0**digits, x))


def _runs(columns):
    """Equal neighbours as one entry with a count in front: images have hundreds of equal columns."""
    runs = []
    for column in columns:
        if runs and runs[-1][1:] == column:
            runs[-1][0] += 1
        else:
            runs.append([1, *column])
    return runs


def _decode_decimal(stored, how):
    matrix = np.empty((how["n"], sum(run[0] for run in how["columns"])), dtype=np.float64)
    stored = stored.T if how.get("rows") else stored
    row = start = 0
    for count, digits, low, width, spare in how["columns"]:
        planes = stored[row : row + count * width].reshape(count, width, how["n"])
        block = matrix[:, start : start + count]
        if digits < 0:
            whole = np.ascontiguousarray(planes.transpose(0, 2, 1)).view("<f8")
            block[:] = whole.reshape(count, -1).T
        else:
            codes = planes[:, 0].astype(np.int64)
            for byte in range(1, width):
                codes |= planes[:, byte].astype(np.int64) << (8 * byte)
            block[:] = (codes + low).T
            if digits:
                block /= 10.0**digits
            if spare >= 0:
                block[(codes == spare).T] = np.nan
        row += count * width
        start += count
    return matrix
