"""What goes into a frame comes out of it, however the stream is cut."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem.vector.protocol import Command, Result
from gem.vector.wire import Inbox, frame, pack, pack_checked, pickled_frame, unpack
from gem.vector.worker import _command, decode, encode, packed_command

TEXT = st.text(st.characters(codec=None))  # halves of surrogate pairs too
LEAF = st.none() | st.booleans() | st.integers() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False) | TEXT | st.binary()
VALUE = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(TEXT | st.integers(), inner, max_size=4)
        | st.frozensets(st.integers(), max_size=1)
    ),
    max_leaves=12,
)


def same(one, other):
    """Equal, and of the same types all the way down."""
    return repr(one) == repr(other) and one == other


@given(VALUE)
def test_a_packed_value_comes_back_as_it_was(value):
    (row,) = Inbox().feed(frame([pack_checked(value)]))
    assert same(unpack(row[0]), value)


@settings(max_examples=50)
@given(st.lists(VALUE, max_size=3), st.data())
def test_frames_come_out_of_a_stream_however_it_is_cut(values, data):
    stream = b"".join(frame([pack_checked(value)]) for value in values) + pickled_frame(("end",))
    inbox, found = Inbox(), []
    while stream:
        cut = data.draw(st.integers(1, max(1, min(len(stream), 50))))
        found += inbox.feed(stream[:cut])
        stream = stream[cut:]
    assert found.pop() == ("end",)
    assert same([unpack(row[0]) for row in found], values)


@settings(max_examples=50)
@given(VALUE, VALUE, VALUE)
def test_commands_and_results_travel_as_they_are(obs, options, info):
    for command in (
        Command(3, 1, "step", obs),
        Command(4, 1, "reset", (0, 2**70, options)),
        Command(5, 1, "call", ("f", (obs,), {"k": info})),
    ):
        (rows,) = Inbox().feed(frame([packed_command(command, pack_checked)]))
        assert same(_command(rows[0]), command)
    results = [
        Result(3, 1, "step", (obs, 0.5, True, False, {"i": info}), 0.1),
        Result(4, 2, "reset", (obs, {"i": info}), 0.1),
        Result(5, 3, "call", obs, 0.1),
    ]
    found = [decode(row) for rows in Inbox().feed(encode(results)) for row in rows]
    assert same(found, results)


def test_numbers_that_are_none_arrive_too():
    (row,) = Inbox().feed(frame([pack([float("nan"), float("inf"), -0.0])]))
    assert (math.isnan(row[0][0]), row[0][1], math.copysign(1, row[0][2])) == (True, math.inf, -1)


def test_a_list_that_holds_itself_and_a_deep_one_go_by_pickle():
    deep = []
    for _ in range(200):
        deep = [deep]
    (row,) = Inbox().feed(frame([pack(deep)]))
    assert unpack(row[0]) == deep
    circle = []
    circle.append(circle)
    (row,) = Inbox().feed(frame([pack(circle)]))
    again = unpack(row[0])
    assert again[0] is again


def test_what_cannot_be_pickled_is_refused():
    with pytest.raises(TypeError):
        pack(n for n in ())
