"""The conversation with a submission: plain data survives it, everything else is refused."""

import socket
import struct
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from learnable.exercises.wire import Channel, Closed, Garbled, Overdue, Reference, clean, decode, encode


def refuse(value):
    raise TypeError(f"a {type(value).__name__} cannot travel")


def there_and_back(value):
    buffers = []
    return decode(encode(value, buffers, refuse), buffers, None)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.complex_numbers(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=12,
)


@settings(max_examples=40, deadline=None)
@given(plain)
def test_plain_data_survives(value):
    came = there_and_back(value)
    assert came == value and type(came) is type(value)


@settings(max_examples=30, deadline=None)
@given(
    arrays(
        st.sampled_from(["f8", "f4", "i8", "u1", "?", "c16", "U3"]),
        array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
)
def test_arrays_survive(value):
    came = there_and_back(value)
    assert came.dtype == value.dtype and came.shape == value.shape
    np.testing.assert_array_equal(came, value)


def test_numpy_numbers_keep_their_type():
    for value in (np.float32(1.5), np.int64(-3), np.bool_(True), np.complex128(1 + 2j)):
        came = there_and_back(value)
        assert type(came) is type(value) and came == value
    assert there_and_back(...) is ...
    assert there_and_back(np.asfortranarray(np.arange(6).reshape(2, 3))).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert there_and_back(np.arange(3, dtype=">i4")).tolist() == [0, 1, 2]


def test_dictionaries_and_sets_travel_one_way():
    """The grader's arrive; a submission's are not looked into, so that nothing of it is ever hashed."""
    for value in ({"a": (1, [2])}, {1, 2}):
        document = encode(value, [], refuse)
        assert decode(document, [], None, trusted=True) == value
        assert decode(["l", document], [], None)[0].kind_of_answer == type(value).__name__
    colliding = ["u", *(n * (2**61 - 1) for n in range(60_000))]
    assert decode(colliding, [], None).kind_of_answer == "set"


@pytest.mark.parametrize("value", [object(), np.array([object()]), lambda: 1, b"bytes", np.zeros(2, dtype="M8[s]")])
def test_everything_else_needs_a_reference(value):
    with pytest.raises(TypeError, match="cannot travel"):
        there_and_back(value)
    assert encode(value, [], lambda v: Reference(7, type(v).__name__).document())[0:2] == ["r", 7]


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        [3],
        ["q", 1],
        ["a", "<f8", [2], 0],
        ["a", "|O", [1], 0],
        ["a", "<f8", [-1], 0],
        ["a", "<f8", [10**12], 0],
        ["a", "<f8", ["x"], 0],
        ["a", "<f8", [1], 5],
        ["a", "V8", [1], 0],
        ["s", "|O", 1],
        ["a", "<U230000000", [0], 0],
        ["a", "<U0", [0], 0],
        ["a", "<f8", [0] * 40, 0],
        "x" * 70_000,
        ["l", *range(300_000)],
        ["r", "x", "y", True],
        ["c", 1],
    ],
)
def test_forged_documents_are_refused(document):
    with pytest.raises(Garbled):
        decode(document, [b"\x00" * 8], lambda reference: reference)


def test_deep_nesting_is_refused_not_fatal():
    value = []
    for _ in range(200):
        value = [value]
    with pytest.raises(TypeError):
        there_and_back(value)
    document = None
    for _ in range(200):
        document = ["l", document]
    with pytest.raises(Garbled):
        decode(document, [], None)


def test_what_is_shown_steers_nothing():
    assert clean("\x1b[2J\x9b31m\u202e\ud800 and\ta tab") == "�[2J�31m�� and\ta tab"
    assert clean("x" * 1000, 10) == "x" * 10


NEVER = 300.0  # s: on the busiest machine, what has not come by then does not come


@pytest.fixture
def pair():
    a, b = socket.socketpair()
    yield Channel(a), Channel(b)
    a.close()
    b.close()


def test_frames_in_pieces_and_in_a_row(pair):
    here, there = pair
    data = np.arange(300_000.0).tobytes()
    sender = threading.Thread(
        target=lambda: [here.send(["value", n], [data]) for n in range(3)] + [here.send_number(4, 2.5)]
    )
    sender.start()
    for n in range(3):
        document, buffers = there.receive(time.monotonic() + NEVER)
        assert document == ["value", n] and buffers == [data]
    assert there.receive(time.monotonic() + NEVER) == (["number", 4, 2.5], ())
    sender.join()


def test_deadlines_and_hanging_up(pair):
    here, there = pair
    with pytest.raises(Overdue):
        there.receive(time.monotonic() + 0.05)
    with pytest.raises(Overdue):
        for _ in range(100):
            here.send(["x"], [b"0" * 2**20], time.monotonic() + 0.2)
    here.close()
    with pytest.raises((Closed, Garbled)):
        while True:
            there.receive(time.monotonic() + NEVER)


def test_what_came_in_time_counts_though_nobody_looked(pair):
    """A grader that was too busy to read must not take an answer for a missing one, nor lose half of a frame."""
    here, there = pair
    here.send(["value", 1], [b"0" * 1000])
    document, buffers = there.receive(time.monotonic() - 1)
    assert document == ["value", 1] and buffers == [b"0" * 1000]
    frame = struct.pack("<IQ", 6, 3) + b"[3]\n[]" + b"abc"
    for end in range(1, len(frame)):
        here.sock.sendall(frame[end - 1 : end])
        with pytest.raises(Overdue):
            there.receive(time.monotonic() - 1)
    here.sock.sendall(frame[-1:])
    assert there.receive(time.monotonic() - 1) == ([], [b"abc"])


@pytest.mark.parametrize(
    "raw",
    [
        struct.pack("<IQ", 10, 2**60),
        struct.pack("<IQ", 2**31, 0),
        struct.pack("<IQ", 5, 0) + b"hello",
        struct.pack("<IQ", 6, 3) + b"[9]\n[]" + b"abc",
        struct.pack("<IQ", 4, 0) + b"[]\n{",
        struct.pack("<IQ", 8003, 0) + b"[]\n" + b"[" * 8000,
    ],
)
def test_forged_frames_are_refused(pair, raw):
    here, there = pair
    here.sock.sendall(raw)
    with pytest.raises(Garbled):
        there.receive(time.monotonic() + NEVER)


def test_a_message_beyond_all_bounds_is_not_sent(pair):
    with pytest.raises(Garbled, match="too large"):
        pair[0].send(["value"], [b"0" * (80 << 20)])
