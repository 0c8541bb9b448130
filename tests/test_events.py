"""Events reach subscribers, and a bad subscriber disturbs nobody."""

from __future__ import annotations

import logging

from gem.events import emit, subscribe


def test_a_subscriber_hears_what_happens_until_it_leaves():
    heard = []
    leave = subscribe(heard.append)
    emit("episode.end", env_id="x", reward=1.0)
    leave()
    leave()
    emit("episode.end", env_id="y")
    [event] = heard
    assert (event.kind, event.data) == ("episode.end", {"env_id": "x", "reward": 1.0})
    assert event.time > 1.7e9


def test_a_subscriber_that_raises_is_logged_and_the_others_hear(caplog):
    heard = []

    def bad(event):
        raise ValueError("as asked")

    leave = [subscribe(bad), subscribe(heard.append)]
    with caplog.at_level(logging.ERROR, "gem.events"):
        emit("fault", type="X")
    for end in leave:
        end()
    assert len(heard) == 1
    assert "a subscriber failed on fault" in caplog.text


def test_a_subscriber_may_leave_while_it_hears():
    heard = []

    def once(event):
        heard.append(event)
        leave()

    leave = subscribe(once)
    emit("a")
    emit("b")
    assert [event.kind for event in heard] == ["a"]
