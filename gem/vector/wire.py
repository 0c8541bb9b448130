"""Frames between a vector and its workers.

A frame is a length (8 bytes, big-endian), a format byte and a body: msgpack (`m`) or pickle (`p`). In a msgpack frame, a value
that msgpack can't hold, or would give back as something else, is a pickle of its own: text with half a surrogate pair, whole
numbers beyond 64 bits, tuples, live objects. One that can't be sent or read then fails alone.
"""

from __future__ import annotations

import pickle
import socket
import struct
from collections.abc import Iterator
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import msgspec

__all__ = ["BUFFER_BYTES", "Inbox", "frame", "pack", "pack_checked", "pickled_frame", "tuned", "unpack"]

# Large frames need a fifth of the time with such buffers; small ones are as fast without.
BUFFER_BYTES = 1 << 20
_HEAD = struct.Struct(">QB")
_MSGPACK, _PICKLE = ord("m"), ord("p")
_SCALARS = frozenset({str, int, float, bool, bytes, type(None)})
_MAX_DEPTH = 20
_Ext = msgspec.msgpack.Ext
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder()


def frame(message: Any) -> bytes:
    """Return the frame of a message of scalars, lists and packed values.

    Raises:
        ValueError, OverflowError: it holds text or a number that msgpack does not take; see `pack_checked`.
    """
    body = _encoder.encode(message)
    return _HEAD.pack(len(body), _MSGPACK) + body


def pickled_frame(message: Any) -> bytes:
    """Return the frame of any message.

    Raises:
        Exception: what pickle raises for a value that can't be sent.
    """
    body = _dumps(message)
    return _HEAD.pack(len(body), _PICKLE) + body


def pack(value: Any) -> Any:
    """Return what stands for any value in a frame: itself, or its pickle.

    Raises:
        Exception: what pickle raises for a value that can't be sent.
    """
    return value if _is_plain(value) else _Ext(_PICKLE, _dumps(value))


def pack_checked(value: Any) -> Any:
    """Return what `pack` does, and the pickle too where `frame` would refuse the value."""
    if _is_plain(value):
        try:
            _encoder.encode(value)
            return value
        except (ValueError, OverflowError):  # a UnicodeEncodeError is a ValueError
            pass
    return _Ext(_PICKLE, _dumps(value))


def unpack(value: Any) -> Any:
    """Return the value that was packed.

    Raises:
        Exception: what unpickling it raises.
    """
    return pickle.loads(value.data) if type(value) is _Ext else value


def _dumps(value: Any) -> bytes:
    data: bytes = cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return data


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Say whether `value` comes out of msgpack as it went in: msgspec would turn a tuple into a list, and a dataclass into a dict."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if depth > _MAX_DEPTH:
        return False
    if kind is list:
        return all(_is_plain(item, depth + 1) for item in value)
    return kind is dict and all(type(key) is str and _is_plain(item, depth + 1) for key, item in value.items())


class Inbox:
    """Puts the frames of a stream together again."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        """Take what was read, and yield the messages that are whole now."""
        self._data += data
        start = 0
        while len(self._data) - start >= _HEAD.size:
            size, kind = _HEAD.unpack_from(self._data, start)
            end = start + _HEAD.size + size
            if len(self._data) < end:
                break
            body = bytes(memoryview(self._data)[start + _HEAD.size : end])
            start = end
            yield _decoder.decode(body) if kind == _MSGPACK else pickle.loads(body)
        if start:
            del self._data[:start]


def tuned(end: socket.socket) -> socket.socket:
    """Give a socket large buffers, and return it."""
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    return end
