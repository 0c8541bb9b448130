"""`SystemPrompt`: instructions before the first observation."""

from __future__ import annotations

from typing import Any

from gem.core import Env, Info, Wrapper
from gem.errors import ContractError

__all__ = ["SystemPrompt"]


class SystemPrompt(Wrapper[Any, Any, Any, Any]):
    """Puts `text` before a text observation, or as a system message before messages, at reset.

    Raises:
        ContractError: `text` is not a string.
    """

    def __init__(self, env: Env[Any, Any], text: str) -> None:
        super().__init__(env)
        if not isinstance(text, str):
            raise ContractError(f"{self._name}: the system prompt must be text, not {type(text).__name__} {text!r:.80}")
        self.text = text

    def on_reset(self, obs: Any, info: Info) -> tuple[Any, Info]:
        """Put the prompt in front."""
        if isinstance(obs, str):
            return f"{self.text}\n\n{obs}", info
        return [{"role": "system", "content": self.text}, *obs], info
