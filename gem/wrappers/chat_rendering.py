"""Chat templates, rendered turn by turn.

Rendering a whole conversation at every turn costs O(T^2) text. Where a template is additive (what it writes for a message does
not depend on the later ones), each turn is rendered once. Whether it is, is tried on a conversation made to find out; templates
that strip earlier thinking, say, are not, and are rendered whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Protocol

__all__ = ["ChatRenderer", "ChatTokenizer"]

Message = Mapping[str, Any]


class ChatTokenizer(Protocol):
    """What is used of a tokenizer: Hugging Face's have it."""

    def apply_chat_template(self, conversation: Any, *, tokenize: bool, add_generation_prompt: bool) -> Any:
        """Render messages as text."""

    def encode(self, text: str, *, add_special_tokens: bool) -> Any:
        """Return the token ids of `text`."""


_HEAD: tuple[Message, ...] = ({"role": "user", "content": "q0"},)
_HEADS = (_HEAD, ({"role": "system", "content": "s"}, *_HEAD))  # some templates write the system's words into the last question
_ASKED: tuple[Message, ...] = ({"role": "assistant", "content": "<think>t1</think>a1"}, {"role": "user", "content": "q1"})
_TOLD: tuple[Message, ...] = ({"role": "assistant", "content": "<think>t2</think>a2"}, {"role": "tool", "content": "r2"})
_ASKED_AGAIN: tuple[Message, ...] = ({"role": "assistant", "content": "<think>t3</think>\n\na3"}, {"role": "user", "content": "q3"})


class ChatRenderer:
    """Renders a head and turns with a tokenizer's chat template.

    Attributes:
        additive: Whether turns can be rendered one by one, where all that is answered is a user's.
        additive_with_tools: Whether they can where there are tools' messages too. Some templates keep the thinking up to a tool's
            message, and strip it at the next question.
    """

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        self._tokenizer = tokenizer
        self.additive = self._is_additive((_ASKED, _ASKED_AGAIN))
        self.additive_with_tools = self.additive and self._is_additive((_ASKED, _TOLD, _ASKED_AGAIN))

    def whole(self, messages: Sequence[Message], *, generate: bool = True) -> str:
        """Render a conversation from its beginning, with the opening of the answer where `generate`."""
        return str(self._tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=generate))

    def turn(self, messages: Sequence[Message]) -> str:
        """Render what `messages` (an answer and what came of it) add to any conversation of an additive template."""
        stem = self.whole(_HEAD)
        return self.whole([*_HEAD, *messages])[len(stem) :]

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, without special tokens added."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def _is_additive(self, turns: Sequence[Sequence[Message]]) -> bool:
        if self._try([*_HEAD, *chain(*turns)]) is None:
            return False
        return all(self._adds_up(head, turns) for head in _HEADS if self._try(head) is not None)

    def _adds_up(self, head: Sequence[Message], turns: Sequence[Sequence[Message]]) -> bool:
        conversation, text = list(head), self.whole(head)
        for turn in turns:
            if self._try([*_HEAD, *turn]) is None:
                return False
            conversation += turn
            text += self.turn(turn)
            if text != self._try(conversation):
                return False
        return True

    def _try(self, messages: Sequence[Message]) -> str | None:
        try:
            return self.whole(messages)
        except Exception:  # templates raise errors of their own, such as for a role they don't know
            return None
