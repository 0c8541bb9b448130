"""`ActionParser`: turns a model's text into the action that an environment takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gem.core import Env, Flow, Info, StepResult, Wrapper
from gem.errors import ContractError, ResetNeeded
from gem.parsing import message_text
from gem.spaces import Messages, Text
from gem.specs import OnInvalid

__all__ = ["ActionParser"]


class ActionParser(Wrapper[Any, Any, Any, Any]):
    """Gives the environment `parse(text)`; text that cannot be parsed never reaches it.

    Args:
        env: What takes the parsed action.
        parse: Returns the action, or None, or raises `ValueError` with the reason.
        format: The inverse: writes an action of the environment as text, for oracle and random actions.
        hint: What a right answer looks like; shown when one cannot be parsed.
        on_invalid: What then happens; by default the environment's own policy.

    An answer that cannot be read is a turn: it counts towards `max_turns`, where there is such a limit.

    Raises:
        ContractError: `parse` or `format` is not a function.
        ResetNeeded: `step` before `reset`, or after the end.
    """

    def __init__(
        self,
        env: Env[Any, Any],
        parse: Callable[[str], Any],
        format: Callable[[Any], str] = str,
        hint: str = "",
        on_invalid: OnInvalid | str | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(env)
        for name, function in (("parse", parse), ("format", format)):
            if not callable(function):
                raise ContractError(f"{self._name}: {name} must be a function, not {type(function).__name__} {function!r:.80}")
        self.action_space = Text()
        self._parse, self._format, self._hint = parse, format, hint
        self._policy = None if on_invalid is None else OnInvalid.of(on_invalid)
        self._retries = self._turns = 0
        self._ended = True

    def on_reset(self, obs: Any, info: Info) -> tuple[Any, Info]:
        """Forget the retries."""
        self._retries, self._turns, self._ended = 0, 0, False
        return obs, info

    async def flow(self, action: Any, io: Flow) -> StepResult[Any]:
        """Parse, and step with what was parsed."""
        if self._ended:
            raise ResetNeeded(f"{self._name}: no episode is under way. Call reset before the next step")
        self._turns += 1
        reason = "it is not in the right form"
        try:
            parsed = self._parse(message_text(action))
        except ValueError as why:
            parsed, reason = None, str(why) or reason
        obs, reward, terminated, truncated, info = self._invalid(reason) if parsed is None else await io.step(parsed)
        truncated = truncated or (self._at_limit and not terminated)
        self._ended = terminated or truncated
        return obs, reward, terminated, truncated, info

    def outward(self, action: Any) -> str:
        """Write an action of the environment as text."""
        return self._format(action)

    def own_state(self) -> Any:
        """Return the numbers of retries and turns, and whether the episode is over."""
        return self._retries, self._turns, self._ended

    def set_own_state(self, state: Any) -> None:
        """Take what `own_state` returned."""
        self._retries, self._turns, self._ended = state

    @property
    def _at_limit(self) -> bool:
        # A limit below never sees what is not parsed: without this, answers that can't be read could go on for ever.
        return self.max_turns is not None and self._turns >= self.max_turns

    def _invalid(self, reason: str) -> StepResult[Any]:
        policy = self._policy or self.on_invalid
        self._retries += 1
        text = f"Your answer could not be read: {reason}. {self._hint}".rstrip()
        obs: Any = [{"role": "user", "content": text}] if isinstance(self.observation_space, Messages) else text
        info: Info = {"invalid_action": {"reason": reason, "hint": self._hint}}
        over = policy.ends(self._retries)
        if over:
            info["success"] = False
        return obs, float(policy.reward), over, False, info
