"""`ActionParser`: turns a model's text into the action that an environment takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gem.core import Env, Flow, Info, StepResult, Wrapper
from gem.errors import ResetNeeded
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
        self.action_space = Text()
        self._parse, self._format, self._hint = parse, format, hint
        self._policy = None if on_invalid is None else OnInvalid.of(on_invalid)
        self._retries = 0
        self._ended = False

    def on_reset(self, obs: Any, info: Info) -> tuple[Any, Info]:
        """Forget the retries."""
        self._retries, self._ended = 0, False
        return obs, info

    async def flow(self, action: Any, io: Flow) -> StepResult[Any]:
        """Parse, and step with what was parsed."""
        if self._ended:
            raise ResetNeeded(f"{self._name}: the episode is over. Call reset before the next step")
        reason = "it is not in the right form"
        try:
            parsed = self._parse(message_text(action))
        except ValueError as why:
            parsed, reason = None, str(why) or reason
        if parsed is None:
            return self._invalid(reason)
        result = await io.step(parsed)
        self._ended = result[2] or result[3]
        return result

    def outward(self, action: Any) -> str:
        """Write an action of the environment as text."""
        return self._format(action)

    def own_state(self) -> Any:
        """Return the number of retries, and whether the episode is over."""
        return self._retries, self._ended

    def set_own_state(self, state: Any) -> None:
        """Take what `own_state` returned."""
        self._retries, self._ended = state

    def _invalid(self, reason: str) -> StepResult[Any]:
        policy = self._policy or self.on_invalid
        self._retries += 1
        text = f"Your answer could not be read: {reason}. {self._hint}".rstrip()
        obs: Any = [{"role": "user", "content": text}] if isinstance(self.observation_space, Messages) else text
        info: Info = {"invalid_action": {"reason": reason, "hint": self._hint}}
        self._ended = policy.ends(self._retries)
        if self._ended:
            info["success"] = False
        return obs, policy.reward, self._ended, False, info
