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
    """One turn: its messages, its text as rendered once, and its tokens."""

    messages: tuple[dict[str, Any], ...]
    text: str
    tokens: int


class ConcatHistory(Wrapper[Any, Any, Any, Any]):
    """Returns the whole episode at each turn, or as much of it as a window holds.

    Modes: `observations` joins them; `actions` puts the actions between; `messages` is a list of chat messages; `template` is
    those rendered with the tokenizer's chat template; `template_on_reset` renders the first observation so, and appends raw text.
    Of an environment with message observations, the first two return messages too.

    Each turn is rendered once, unless the template needs all of them (`ChatRenderer.additive`). A window (`max_turns`, `max_chars`,
    `max_tokens`; what fits them all) drops the oldest turns and never the first observation, which holds the task, nor the newest.
    Characters and tokens are those of the text; in messages, images and roles count for nothing.

    `info["prefix"]` and `info["suffix"]` are put around an observation, `info["parsed_action"]` replaces the action, and
    `info["use_tool"]` makes the observation a tool's message.

    Raises:
        RegistrationError: an unknown mode, a window below 1, or a tokenizer that is missing or none.
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
            if limit is not None and (type(limit) is not int or limit < 1):
                raise RegistrationError(f"ConcatHistory: {name} must be an integer of 1 or more, not {limit!r:.80}")
        _check_tokenizer(tokenizer, mode, max_tokens)
        self._mode, self._separator = mode, separator
        self._renderer = None if tokenizer is None else ChatRenderer(tokenizer)
        self._window_turns, self._max_chars, self._max_tokens = max_turns, max_chars, max_tokens
        self._as_messages = mode == "messages" or (mode not in _TEMPLATED and isinstance(env.observation_space, Messages))
        self.observation_space = Messages() if self._as_messages else Text()
        self._whole = False  # whether the template needs the whole conversation at each turn
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
        self._head = _Entry(messages, text, self._count(text))
        self._turns.clear()
        self._whole = self._mode == "template" and self._renderer is not None and not self._renderer.additive
        self._chars, self._tokens = len(text), self._head.tokens
        return self._render(), info

    def on_step(self, action: Any, obs: Any, reward: float, terminated: bool, truncated: bool, info: Info) -> StepResult[Any]:
        """Append the turn, and drop what the window no longer holds."""
        entry = self._entry(_answered(action, info), _observed(obs, info))
        self._turns.append(entry)
        self._chars += len(entry.text)
        self._tokens += entry.tokens
        while len(self._turns) > 1 and self._over():
            gone = self._turns.popleft()
            self._chars -= len(gone.text)
            self._tokens -= gone.tokens
        return self._render(), reward, terminated, truncated, info

    def own_state(self) -> Any:
        """Return the history."""
        return self._head, list(self._turns), self._whole, self._chars, self._tokens

    def set_own_state(self, state: Any) -> None:
        """Take the history."""
        self._head, turns, self._whole, self._chars, self._tokens = state
        self._turns = deque(turns)

    def _entry(self, answer: dict[str, Any], observed: tuple[dict[str, Any], ...]) -> _Entry:
        messages = observed if self._mode == "observations" else (answer, *observed)
        if self._mode == "template" and self._renderer is not None:
            self._whole = self._whole or not (self._renderer.additive_with_tools or all(row["role"] == "user" for row in observed))
            text = "" if self._whole else self._renderer.turn(messages)
        else:
            text = self._separator + self._separator.join(map(message_text, messages))
        return _Entry(messages, text, self._count(text))

    def _count(self, text: str) -> int:
        return self._renderer.count(text) if self._max_tokens is not None and self._renderer is not None else 0

    def _over(self) -> bool:
        if self._window_turns is not None and len(self._turns) > self._window_turns:
            return True
        if self._max_chars is None and self._max_tokens is None:
            return False
        if self._whole:  # no turn has a size of its own
            text = self._render()
            self._chars, self._tokens = len(text), self._count(text)
        too_long = self._max_chars is not None and self._chars > self._max_chars
        return too_long or (self._max_tokens is not None and self._tokens > self._max_tokens)

    def _render(self) -> Any:
        if self._as_messages:
            return [_copy(message) for message in self._messages()]
        if self._whole and self._renderer is not None:
            return self._renderer.whole(self._messages())
        return "".join([self._head.text, *(entry.text for entry in self._turns)])

    def _messages(self) -> list[dict[str, Any]]:
        return [message for entry in (self._head, *self._turns) for message in entry.messages]


def _check_tokenizer(tokenizer: Any, mode: str, max_tokens: int | None) -> None:
    needs = [name for name, needed in (("apply_chat_template", mode in _TEMPLATED), ("encode", max_tokens is not None)) if needed]
    if not needs:
        return
    if tokenizer is None:
        raise RegistrationError(f"ConcatHistory(mode={mode!r}) needs a tokenizer: pass tokenizer=AutoTokenizer.from_pretrained(...)")
    for name in needs:
        if not callable(getattr(tokenizer, name, None)):
            raise RegistrationError(f"ConcatHistory(mode={mode!r}): the tokenizer {tokenizer!r:.80} has no {name}")


def _copy(value: Any) -> Any:
    """Copy JSON values: the history and what callers hold must not share what can change."""
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _observed(obs: Any, info: Info) -> tuple[dict[str, Any], ...]:
    """Return an observation as messages, with what `info` puts around it."""
    prefix, suffix = str(info.get("prefix") or ""), str(info.get("suffix") or "")
    if isinstance(obs, str):
        role = "tool" if info.get("use_tool") else "user"
        return ({"role": role, "content": prefix + obs + suffix},)
    before = [{"role": "user", "content": prefix}] if prefix else []
    after = [{"role": "user", "content": suffix}] if suffix else []
    return (*before, *_copy(obs), *after)


def _answered(action: Any, info: Info) -> dict[str, Any]:
    if "parsed_action" in info:
        return {"role": "assistant", "content": info["parsed_action"]}
    if isinstance(action, dict):
        return {"role": "assistant", **_copy(action)}
    return {"role": "assistant", "content": message_text(action)}
