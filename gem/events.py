"""Events: what happened, for whoever wants to watch.

`subscribe(fn)` receives episode, fault, restart and tool events. With no subscriber an event costs one attribute test. A
subscriber that raises is logged and never disturbs the emitter.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Event", "emit", "subscribe"]

_log = logging.getLogger("gem.events")
# A tuple that is replaced, never changed: emitters on other threads read it without a lock.
_subscribers: tuple[Callable[[Event], object], ...] = ()


@dataclass(frozen=True)
class Event:
    """One thing that happened: its `kind` (such as `episode.end`), the Unix `time`, and `data` by name."""

    kind: str
    time: float
    data: Mapping[str, Any]


def subscribe(fn: Callable[[Event], object]) -> Callable[[], None]:
    """Call `fn` with every later event, on the thread that emits it.

    Returns:
        A function that ends the subscription; calling it again does nothing.
    """
    global _subscribers
    _subscribers = (*_subscribers, fn)

    def unsubscribe() -> None:
        global _subscribers
        _subscribers = tuple(other for other in _subscribers if other is not fn)

    return unsubscribe


def emit(kind: str, /, **data: Any) -> None:
    """Tell all subscribers that something of `kind` happened."""
    if not _subscribers:
        return
    event = Event(kind, time.time(), data)
    for fn in _subscribers:
        try:
            fn(event)
        except Exception:
            _log.exception("a subscriber failed on %s", kind)
