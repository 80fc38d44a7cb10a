"""Plain data over a socket: how the grader and a submission talk to each other.

The grader trusts nothing that comes back, so a message can hold only numbers, strings, arrays of numbers and the
usual containers. Anything else travels as a *reference*: the far side keeps the object, the near side gets a
name tag for it. Nothing is ever unpickled.

A frame is two lengths, a JSON document and the raw bytes of the arrays that the document mentions. A call of a function
with one number, which an integration routine makes thousands of times, has a short form of its own.
"""

import json
import struct
import time

import numpy as np

__all__ = ["Channel", "Closed", "Garbled", "Overdue", "Reference", "decode", "encode"]

LARGEST_FRAME = 1 << 26
LARGEST_TEXT = 1 << 24  # a list of a million numbers fits; text costs the receiver many times its size
_LENGTHS = struct.Struct("<IQ")
_SHORT = struct.Struct("<IQd")
_DOUBLE = struct.Struct("<d")
_SHORT_MARK = 0xFFFFFFFF
_DEEPEST = 60
_KINDS = "biufc"
_CHUNK = 1 << 20


class Closed(Exception):
    """The other side is gone."""


class Overdue(Exception):
    """Nothing came before the deadline."""


class Garbled(Exception):
    """What came is not a message."""


class Reference:
    """A name tag for an object that cannot travel.

    ``home`` tells the receiver that the object is its own, coming back.
    """

    def __init__(self, number, kind="object", is_callable=False, home=False):
        self.number, self.kind, self.is_callable, self.home = number, kind, is_callable, home

    def document(self):
        """Return the tag as `encode` writes it."""
        return ["h", self.number] if self.home else ["r", self.number, self.kind, self.is_callable]


def encode(value, buffers, refer, depth=0):
    """Turn ``value`` into something JSON can hold, appending raw array bytes to ``buffers``.

    Parameters
    ----------
    value : object
    buffers : list
        Receives one bytes-like object an array.
    refer : callable
        ``refer(value)`` returns the `Reference` document of an object that cannot travel; it may raise.

    Examples
    --------
    >>> buffers = []
    >>> encode((1, [2.5, None]), buffers, refer=None)
    ['t', 1, ['l', 2.5, None]]
    >>> decode(['t', 1, ['l', 2.5, None]], [], dereference=None)
    (1, [2.5, None])
    """
    if depth > _DEEPEST:
        return refer(value)
    if value is None or value is True or value is False:
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind in _KINDS or value.dtype.kind == "U":
            plain = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("="))
            buffers.append(plain.tobytes())
            return ["a", plain.dtype.str, list(value.shape), len(buffers) - 1]
        return refer(value)
    if isinstance(value, np.generic):
        if value.dtype.kind in _KINDS:
            return ["s", value.dtype.str, encode(value.item(), buffers, refer, depth + 1)]
        return encode(value.item(), buffers, refer, depth + 1) if value.dtype.kind == "U" else refer(value)
    if isinstance(value, bool | int | float | str):
        plain = next(kind for kind in (bool, int, float, str) if isinstance(value, kind))
        return plain(value)
    if isinstance(value, complex):
        return ["c", value.real, value.imag]
    if value is Ellipsis:
        return ["e"]
    tag = {list: "l", tuple: "t", set: "u", frozenset: "u"}.get(type(value))
    if tag is None and isinstance(value, tuple):
        tag = "t"
    if tag:
        return [tag, *(encode(v, buffers, refer, depth + 1) for v in value)]
    if isinstance(value, dict):
        return [
            "d",
            *([encode(k, buffers, refer, depth + 1), encode(v, buffers, refer, depth + 1)] for k, v in value.items()),
        ]
    return refer(value)


def decode(document, buffers, dereference, depth=0):
    """Rebuild what `encode` took apart; raises `Garbled` on anything that `encode` does not write."""
    if depth > _DEEPEST + 2:
        raise Garbled("nested too deeply")
    if document is None or isinstance(document, bool | int | float | str):
        return document
    if not isinstance(document, list) or not document or not isinstance(document[0], str):
        raise Garbled("not a value")
    tag, rest = document[0], document[1:]
    try:
        if tag in "ltu":
            items = [decode(v, buffers, dereference, depth + 1) for v in rest]
            return {"l": list, "t": tuple, "u": set}[tag](items)
        if tag == "d":
            return {
                decode(k, buffers, dereference, depth + 1): decode(v, buffers, dereference, depth + 1) for k, v in rest
            }
        if tag == "a":
            dtype, shape, index = rest
            return _array(dtype, shape, buffers[index])
        if tag == "s":
            dtype, item = rest
            return np.dtype(_checked(dtype)).type(decode(item, buffers, dereference, depth + 1))
        if tag == "c":
            return complex(float(rest[0]), float(rest[1]))
        if tag == "e":
            return Ellipsis
        if tag == "r":
            number, kind, is_callable = rest
            return dereference(Reference(int(number), str(kind)[:80], bool(is_callable)))
        if tag == "h":
            return dereference(Reference(int(rest[0]), home=True))
    except Garbled:
        raise
    except Exception as error:
        raise Garbled(f"malformed {tag!r}: {type(error).__name__}") from None
    raise Garbled(f"unknown tag {tag!r}")


def _checked(dtype):
    if not isinstance(dtype, str) or len(dtype) > 16 or dtype[1:2] not in _KINDS + "U":
        raise Garbled("array type not accepted")
    return dtype


def _array(dtype, shape, data):
    dtype = np.dtype(_checked(dtype))
    if not (isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)):
        raise Garbled("array shape not accepted")
    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


class Channel:
    """Frames over a connected stream socket.

    Parameters
    ----------
    sock : socket.socket
    """

    def __init__(self, sock):
        self.sock = sock
        self._pending = b""

    def close(self):
        self.sock.close()

    def send(self, document, buffers=(), deadline=None):
        """Send one frame; `Garbled` when it is larger than a frame may be."""
        text = json.dumps(document, separators=(",", ":")).encode()
        size = sum(map(len, buffers))
        if len(text) > LARGEST_TEXT or len(text) + size > LARGEST_FRAME:
            raise Garbled(f"a message of {(len(text) + size) / 1e6:.0f} MB is too large to travel")
        head = json.dumps([len(b) for b in buffers]).encode() + b"\n" + text
        self._send(b"".join((_LENGTHS.pack(len(head), size), head, *buffers)), deadline)

    def send_number(self, number, value, deadline=None):
        """Send the short form: a small integer and a float."""
        self._send(_SHORT.pack(_SHORT_MARK, number, value), deadline)

    def receive(self, deadline=None):
        """Return ``(document, buffers)`` of the next frame; the short form gives ``(["number", n, x], ())``."""
        data = self._pending or self._more(deadline)
        if len(data) == _SHORT.size:
            mark, number, value = _SHORT.unpack(data)
            if mark == _SHORT_MARK:
                self._pending = b""
                return ["number", number, value], ()
        self._pending = data
        head, size = _LENGTHS.unpack(self._exactly(_LENGTHS.size, deadline))
        if head == _SHORT_MARK:
            return ["number", size, _DOUBLE.unpack(self._exactly(_DOUBLE.size, deadline))[0]], ()
        if head > LARGEST_TEXT + (1 << 16) or head + size > LARGEST_FRAME + (1 << 16):
            raise Garbled("the message announced is too large")
        text = self._exactly(head, deadline)
        data = self._exactly(size, deadline)
        try:
            lengths, _, text = text.partition(b"\n")
            lengths = json.loads(lengths)
            document = json.loads(text)
            if not all(type(n) is int and n >= 0 for n in lengths) or sum(lengths) != size:
                raise ValueError("lengths")
        except (ValueError, TypeError, RecursionError):
            raise Garbled("not a message") from None
        buffers, start = [], 0
        for n in lengths:
            buffers.append(data[start : start + n])
            start += n
        return document, buffers

    def _send(self, data, deadline):
        try:
            self._allow(deadline)
            self.sock.sendall(data)
        except TimeoutError:
            raise Overdue from None
        except OSError:
            raise Closed from None

    def _exactly(self, count, deadline):
        pieces, length = [self._pending], len(self._pending)
        while length < count:
            pieces.append(self._more(deadline))
            length += len(pieces[-1])
        data = b"".join(pieces) if len(pieces) > 1 else self._pending
        self._pending = data[count:]
        return data[:count]

    def _more(self, deadline):
        try:
            self._allow(deadline)
            piece = self.sock.recv(_CHUNK)
        except TimeoutError:
            raise Overdue from None
        except OSError:
            raise Closed from None
        if not piece:
            raise Closed
        return piece

    def _allow(self, deadline):
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Overdue
            self.sock.settimeout(left)
