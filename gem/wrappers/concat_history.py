"""`ConcatHistory`: observations that hold the episode so far, for models that remember nothing."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

from gem.core import Env, Info, StepResult, Wrapper
from gem.errors import RegistrationError
from gem.parsing import message_text
from gem.spaces import Messages, Text
from gem.wrappers.chat_rendering import ChatRenderer, ChatTokenizer

__all__ = ["ConcatHistory"]

Mode = Literal["observations", "actions", "messages", "template", "template_on_reset"]
_MODES = ("observations", "actions", "messages", "template", "template_on_reset")
_TEMPLATED = ("template", "template_on_reset")


@dataclass(frozen=True)
class _Entry:
    """One turn: its messages, its text as rendered once, and what it counts for in the window."""

    messages: tuple[dict[str, Any], ...]
    text: str
    size: int


class ConcatHistory(Wrapper[Any, Any, Any, Any]):
    """Returns the whole episode at each turn, or as much of it as a window holds.

    Modes: `observations` joins them; `actions` puts the actions between; `messages` is a list of chat messages; `template` is
    those rendered with the tokenizer's chat template; `template_on_reset` renders the first observation so, and appends raw text.
    Of an environment with message observations, the first two return messages too.

    Each turn is rendered once. A window (`max_turns`, `max_chars`, `max_tokens`; what fits them all) drops the oldest turns and
    never the first observation, which holds the task, nor the newest.

    `info["prefix"]` and `info["suffix"]` are put around an observation, `info["parsed_action"]` replaces the action, and
    `info["use_tool"]` makes the observation a tool's message.

    Raises:
        RegistrationError: an unknown mode, a window below 1, or a tokenizer that is missing.
    """

    def __init__(
        self,
        env: Env[Any, Any],
        mode: Mode = "actions",
        *,
        tokenizer: ChatTokenizer | None = None,
        max_turns: int | None = None,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        separator: str = "\n",
    ) -> None:
        super().__init__(env)
        if mode not in _MODES:
            raise RegistrationError(f"ConcatHistory has no mode {mode!r:.80}; it has {', '.join(_MODES)}")
        for name, limit in (("max_turns", max_turns), ("max_chars", max_chars), ("max_tokens", max_tokens)):
            if limit is not None and limit < 1:
                raise RegistrationError(f"ConcatHistory: {name} must be 1 or more, not {limit!r}")
        if tokenizer is None and (mode in _TEMPLATED or max_tokens is not None):
            raise RegistrationError(f"ConcatHistory(mode={mode!r}) needs a tokenizer: pass tokenizer=AutoTokenizer.from_pretrained(...)")
        self._mode, self._separator = mode, separator
        self._renderer = None if tokenizer is None else ChatRenderer(tokenizer)
        self._window_turns, self._max_chars, self._max_tokens = max_turns, max_chars, max_tokens
        self._as_messages = mode == "messages" or (mode not in _TEMPLATED and isinstance(env.observation_space, Messages))
        self.observation_space = Messages() if self._as_messages else Text()
        self._head = _Entry((), "", 0)
        self._turns: deque[_Entry] = deque()
        self._chars = self._tokens = 0

    def on_reset(self, obs: Any, info: Info) -> tuple[Any, Info]:
        """Begin with the first observation."""
        messages = _observed(obs, info)
        if self._mode in _TEMPLATED and self._renderer is not None:
            text = self._renderer.whole(messages)
        else:
            text = message_text(list(messages))
        self._head = _Entry(messages, text, 0)
        self._turns.clear()
        self._chars, self._tokens = len(text), self._count(text)
        return self._render(), info

    def on_step(self, action: Any, obs: Any, reward: float, terminated: bool, truncated: bool, info: Info) -> StepResult[Any]:
        """Append the turn, and drop what the window no longer holds."""
        entry = self._entry(_answered(action, info), _observed(obs, info))
        self._turns.append(entry)
        self._chars += len(entry.text)
        self._tokens += entry.size
        while len(self._turns) > 1 and self._over():
            gone = self._turns.popleft()
            self._chars -= len(gone.text)
            self._tokens -= gone.size
        return self._render(), reward, terminated, truncated, info

    def own_state(self) -> Any:
        """Return the history."""
        return self._head, list(self._turns), self._chars, self._tokens

    def set_own_state(self, state: Any) -> None:
        """Take the history."""
        self._head, turns, self._chars, self._tokens = state
        self._turns = deque(turns)

    def _entry(self, answer: dict[str, Any], observed: tuple[dict[str, Any], ...]) -> _Entry:
        messages = observed if self._mode == "observations" else (answer, *observed)
        if self._mode == "template" and self._renderer is not None:
            # A template that is not additive is rendered whole; the turn by itself then only measures the window.
            text = self._renderer.turn((answer, *observed)) if self._renderer.additive else message_text(list(messages))
        else:
            text = self._separator + self._separator.join(map(message_text, messages))
        return _Entry(messages, text, self._count(text))

    def _count(self, text: str) -> int:
        return self._renderer.count(text) if self._max_tokens is not None and self._renderer is not None else 0

    def _over(self) -> bool:
        return (
            (self._window_turns is not None and len(self._turns) > self._window_turns)
            or (self._max_chars is not None and self._chars > self._max_chars)
            or (self._max_tokens is not None and self._tokens > self._max_tokens)
        )

    def _render(self) -> Any:
        if self._as_messages:
            return [message for entry in (self._head, *self._turns) for message in entry.messages]
        if self._mode == "template" and self._renderer is not None and not self._renderer.additive:
            return self._renderer.whole([message for entry in (self._head, *self._turns) for message in entry.messages])
        return "".join([self._head.text, *(entry.text for entry in self._turns)])


def _observed(obs: Any, info: Info) -> tuple[dict[str, Any], ...]:
    """Return an observation as messages, with what `info` puts around it."""
    prefix, suffix = str(info.get("prefix") or ""), str(info.get("suffix") or "")
    if isinstance(obs, str):
        role = "tool" if info.get("use_tool") else "user"
        return ({"role": role, "content": prefix + obs + suffix},)
    before = [{"role": "user", "content": prefix}] if prefix else []
    after = [{"role": "user", "content": suffix}] if suffix else []
    return (*before, *obs, *after)


def _answered(action: Any, info: Info) -> dict[str, Any]:
    if "parsed_action" in info:
        return {"role": "assistant", "content": info["parsed_action"]}
    if isinstance(action, dict):
        return {"role": "assistant", **action}
    return {"role": "assistant", "content": message_text(action)}
