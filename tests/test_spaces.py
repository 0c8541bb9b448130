"""Spaces take any text, and only what they are for."""

from __future__ import annotations

import gymnasium
import pytest

from gem.spaces import Messages, Text

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


@pytest.mark.parametrize("text", ["", "What is 3+1?", "日本語", "a\nb\0c", "\ud800", "x" * 100_000])
def test_any_text_is_text(text):
    assert Text().contains(text)


def test_a_limit_is_kept():
    assert Text(3).contains("abc")
    assert not Text(3).contains("abcd")


@pytest.mark.parametrize("value", [5, None, b"x", ["x"], {"role": "user"}])
def test_what_is_not_text_is_not(value):
    assert not Text().contains(value)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "user", "content": "hi"}],
        [{"role": "assistant", "content": None, "tool_calls": []}],
        [{"role": "user", "content": [{"type": "text", "text": "see"}, IMAGE]}],
    ],
)
def test_chat_messages_are_messages(messages):
    assert Messages().contains(messages)


@pytest.mark.parametrize(
    "value", ["hi", {"role": "user"}, [{"content": "x"}], [{"role": "user", "content": 5}], [{"role": "user", "content": ["x"]}], ["x"]]
)
def test_what_are_no_messages_are_not(value):
    assert not Messages().contains(value)


@pytest.mark.parametrize("space", [Text(), Text(5), Messages()])
def test_spaces_are_gymnasiums_sampled_by_seed_and_compared(space):
    assert isinstance(space, gymnasium.Space)
    assert space.contains(space.sample())
    space.seed(3)
    first = space.sample()
    space.seed(3)
    assert space.sample() == first
    assert not space.is_np_flattenable
    twin = type(space)(space.max_length) if isinstance(space, Text) else Messages()
    assert twin == space
    assert hash(twin) == hash(space)
    assert space != Text(99)
