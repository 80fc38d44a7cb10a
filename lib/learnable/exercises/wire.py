"""Plain data over a socket: how the grader and a submission talk to each other.

The grader trusts nothing that comes back, so a message can hold only numbers, strings, arrays of numbers, lists and
tuples, in bounded number, size and depth. Anything else travels as a *reference*: the far side keeps the object, the
near side gets a name tag for it. Nothing is ever unpickled, and nothing that came is hashed.

A frame is two lengths, a JSON document and the raw bytes of the arrays that the document mentions. A call of a function
with one number, which an integration routine makes thousands of times, has a short form of its own.
"""

import json
import re
import select
import struct
import time

import numpy as np

__all__ = ["Channel", "Closed", "Garbled", "Overdue", "Reference", "clean", "decode", "encode"]

LARGEST_FRAME = 1 << 26
LARGEST_TEXT = 1 << 21  # text costs the receiver many times its size
MOST_VALUES = 200_000
LONGEST_STRING = 1 << 16
_LENGTHS = struct.Struct("<IQ")
_SHORT = struct.Struct("<IQd")
_DOUBLE = struct.Struct("<d")
_SHORT_MARK = 0xFFFFFFFF
_DEEPEST = 60
_KINDS = "biufc"
_CHUNK = 1 << 20
# Characters that steer a terminal or turn the direction of writing, and halves of characters.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class Closed(Exception):
    """The other side is gone."""


class Overdue(Exception):
    """Nothing came before the deadline."""


class Garbled(Exception):
    """What came is not a message."""


def clean(text, longest=500):
    """Return foreign text that is safe to store, to print on a terminal and to show on a page.

    Examples
    --------
    >>> clean("\\x1b[2Jall \\ud800 yours")
    '�[2Jall � yours'
    """
    return _STEERING.sub("\ufffd", str(text)[:longest])


class Reference:
    """A name tag for an object that cannot travel.

    ``home`` tells the receiver that the object is its own, coming back.
    """

    def __init__(self, number, kind="object", is_callable=False, home=False):
        self.number, self.kind, self.is_callable, self.home = number, kind, is_callable, home

    def document(self):
        """Return the tag as `encode` writes it."""
        return ["h", self.number] if self.home else ["r", self.number, self.kind, self.is_callable]


class Unread:
    """Stands for a dictionary or set that a submission returned: no exercise asks for one."""

    def __init__(self, kind):
        self.kind_of_answer = kind


def encode(value, buffers, refer, depth=0):
    """Turn ``value`` into something JSON can hold, appending the raw bytes of each array to ``buffers``.

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
    tag = {list: "l", dict: "d", set: "u", frozenset: "u"}.get(type(value), "t" if isinstance(value, tuple) else None)
    if tag:
        items = value.items() if tag == "d" else value
        return [tag, *(encode(v, buffers, refer, depth + 1) for v in items)]
    return refer(value)


def decode(document, buffers, dereference, trusted=False):
    """Rebuild what `encode` took apart; raises `Garbled` on anything that `encode` does not write.

    Dictionaries and sets are rebuilt only if they come from the grader (``trusted``), otherwise they stay `Unread`:
    numbers can be chosen so that putting them into a set takes hours.
    """
    left = [MOST_VALUES]

    def build(item, depth):
        left[0] -= 1
        if left[0] < 0 or depth > _DEEPEST + 2:
            raise Garbled("too many values, or nested too deeply")
        if item is None or isinstance(item, bool | int | float):
            return item
        if isinstance(item, str):
            if len(item) > LONGEST_STRING:
                raise Garbled("a string is too long")
            return item
        if not isinstance(item, list) or not item or not isinstance(item[0], str):
            raise Garbled("not a value")
        tag, *rest = item
        if tag in ("d", "u") and not trusted:
            return Unread("dict" if tag == "d" else "set")
        if tag in ("l", "t", "d", "u"):
            items = [build(v, depth + 1) for v in rest]
            return {"l": list, "t": tuple, "d": dict, "u": set}[tag](items)
        if tag == "a":
            dtype, shape, index = rest
            return _array(_dtype(dtype), shape, buffers[index])
        if tag == "s":
            dtype, number = rest
            return _dtype(dtype).type(build(number, depth + 1))
        if tag == "c":
            return complex(float(rest[0]), float(rest[1]))
        if tag == "e":
            return Ellipsis
        if tag == "r":
            number, kind, is_callable = rest
            return dereference(Reference(int(number), clean(kind, 80), bool(is_callable)))
        if tag == "h":
            return dereference(Reference(int(rest[0]), home=True))
        raise Garbled("unknown kind of value")

    try:
        return build(document, 0)
    except Garbled:
        raise
    except Exception as error:
        raise Garbled(f"malformed value: {type(error).__name__}") from None


def _dtype(text):
    if not isinstance(text, str) or len(text) > 8 or text[1:2] not in _KINDS + "U":
        raise Garbled("array type not accepted")
    dtype = np.dtype(text)
    if not 0 < dtype.itemsize <= LONGEST_STRING:
        raise Garbled("array type not accepted")
    return dtype


def _array(dtype, shape, data):
    if not (isinstance(shape, list) and len(shape) <= 32 and all(type(n) is int and n >= 0 for n in shape)):
        raise Garbled("array shape not accepted")
    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


class Channel:
    """Frames over a connected stream socket."""

    def __init__(self, sock):
        self.sock = sock
        self._pending = bytearray()
        self._patience = -1.0  # the time-out that the socket has

    def close(self):
        self.sock.close()

    def ready(self):
        """Whether something has come that was not read."""
        return bool(select.select([self.sock], [], [], 0)[0])

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
        """Return ``(document, buffers)`` of the next frame; the short form gives ``(["number", n, x], ())``.

        When it is overdue in the middle of a frame, what came stays, and the next call goes on from there.
        """
        self._fill(_LENGTHS.size, deadline)
        head, size = _LENGTHS.unpack_from(self._pending)
        if head == _SHORT_MARK:
            return ["number", size, _DOUBLE.unpack(self._take(_SHORT.size, deadline)[_LENGTHS.size :])[0]], ()
        if head > LARGEST_TEXT + (1 << 16) or head + size > LARGEST_FRAME + (1 << 16):
            raise Garbled("the message announced is too large")
        frame = self._take(_LENGTHS.size + head + size, deadline)
        start = _LENGTHS.size + head
        try:
            lengths, _, text = frame[_LENGTHS.size : start].partition(b"\n")
            lengths, document = json.loads(lengths), json.loads(text)
            if not all(type(n) is int and n >= 0 for n in lengths) or sum(lengths) != size:
                raise ValueError("lengths")
        except (ValueError, TypeError, RecursionError):
            raise Garbled("not a message") from None
        buffers = []
        for n in lengths:
            buffers.append(frame[start : start + n])
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

    def _fill(self, count, deadline):
        while len(self._pending) < count:
            try:
                self._allow(deadline, receiving=True)
                piece = self.sock.recv(_CHUNK)
            except (TimeoutError, BlockingIOError):
                raise Overdue from None
            except OSError:
                raise Closed from None
            if not piece:
                raise Closed
            self._pending += piece

    def _take(self, count, deadline):
        self._fill(count, deadline)
        data = bytes(self._pending[:count])
        del self._pending[:count]
        return data

    def _allow(self, deadline, receiving=False):
        if deadline is not None:
            left = max(deadline - time.monotonic(), 0.0)
            if left == 0.0 and not receiving:
                raise Overdue
            # Setting it is a system call. What came in time counts, even if this process was too busy to read.
            if not 0.8 * self._patience <= left <= self._patience:
                self._patience = left
                self.sock.settimeout(left)
