"""Spaces for text and for chat messages.

`gymnasium.spaces.Text` is not used: its alphabet rejects ordinary text, and `contains` is slow. These check a type and a
length, which is what holds for the text of a model.
"""

from __future__ import annotations

from typing import Any

import gymnasium
from typing_extensions import TypeIs

__all__ = ["Messages", "Text"]


def _letters(generator: Any, n: int) -> str:
    return "".join(chr(97 + int(i)) for i in generator.integers(0, 26, n))


class Text(gymnasium.Space[str]):
    """All strings of up to `max_length` characters; 0 means any length."""

    def __init__(self, max_length: int = 0, seed: int | None = None) -> None:
        self.max_length = max_length
        super().__init__(None, None, seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Return eight random lower-case letters, or as many as may be."""
        return _letters(self.np_random, min(8, self.max_length or 8))

    def contains(self, x: Any) -> TypeIs[str]:
        """Say whether `x` is a string that is not too long."""
        return isinstance(x, str) and (not self.max_length or len(x) <= self.max_length)

    @property
    def is_np_flattenable(self) -> bool:
        """False: text has no fixed shape."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash((Text, self.max_length))

    def __repr__(self) -> str:
        return f"Text({self.max_length or ''})"


def is_message(x: object) -> bool:
    """Say whether `x` is an OpenAI chat message: a dict with a `role`, and content of text or parts if any."""
    if not isinstance(x, dict) or not isinstance(x.get("role"), str):
        return False
    content = x.get("content")
    if isinstance(content, list):
        return all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content)
    return content is None or isinstance(content, str)


class Messages(gymnasium.Space[list[dict[str, Any]]]):
    """All lists of OpenAI chat messages (images as `image_url` parts with data URLs)."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(None, None, seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> list[dict[str, Any]]:
        """Return one user message of eight random letters."""
        return [{"role": "user", "content": _letters(self.np_random, 8)}]

    def contains(self, x: Any) -> TypeIs[list[dict[str, Any]]]:
        """Say whether `x` is a list of chat messages."""
        return isinstance(x, list) and all(map(is_message, x))

    @property
    def is_np_flattenable(self) -> bool:
        """False: messages have no fixed shape."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Messages)

    def __hash__(self) -> int:
        return hash(Messages)

    def __repr__(self) -> str:
        return "Messages()"
