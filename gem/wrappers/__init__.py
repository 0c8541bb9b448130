"""Wrappers, one a file, and `build`, which makes them from names.

`Contract` and `TimeLimit` are put on by `make`; the others are for whoever needs them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from gem.errors import RegistrationError
from gem.wrappers.action_parser import ActionParser
from gem.wrappers.concat_history import ConcatHistory
from gem.wrappers.contract import Contract
from gem.wrappers.episode_stats import EpisodeStats
from gem.wrappers.guarded import Guarded
from gem.wrappers.record_episode import RecordEpisode
from gem.wrappers.reward_shaping import RewardShaping
from gem.wrappers.system_prompt import SystemPrompt
from gem.wrappers.time_limit import TimeLimit
from gem.wrappers.timed import Timed

__all__ = [
    "NAMES",
    "ActionParser",
    "ConcatHistory",
    "Contract",
    "EpisodeStats",
    "Guarded",
    "RecordEpisode",
    "RewardShaping",
    "SystemPrompt",
    "TimeLimit",
    "Timed",
    "build",
]

# name -> the class and the keywords that the name stands for
NAMES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "concat": (ConcatHistory, {"mode": "observations"}),
    "concat_with_action": (ConcatHistory, {"mode": "actions"}),
    "concat_messages": (ConcatHistory, {"mode": "messages"}),
    "concat_chat": (ConcatHistory, {"mode": "template"}),
    "concat_chat_on_reset": (ConcatHistory, {"mode": "template_on_reset"}),
    "episode_stats": (EpisodeStats, {}),
    "guarded": (Guarded, {}),
    "record_episode": (RecordEpisode, {}),
    "reward_shaping": (RewardShaping, {}),
    "system_prompt": (SystemPrompt, {}),
    "time_limit": (TimeLimit, {}),
}


def build(names: str, **options: Any) -> list[Callable[[Any], Any]]:
    """Return wrappers by name, innermost first, ready for `make(..., wrappers=...)`.

    Args:
        names: Separated by commas, such as `concat_chat,episode_stats`.
        options: Each goes to those of the wrappers that take it, such as `tokenizer`.

    Raises:
        RegistrationError: an unknown name, an option that none of them takes, or one that is missing.
    """
    built: list[Callable[[Any], Any]] = []
    used: set[str] = set()
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name not in NAMES:
            raise RegistrationError(f"no wrapper {name!r:.80}; there are {', '.join(sorted(NAMES))}")
        target, fixed = NAMES[name]
        takes = dict(inspect.signature(target).parameters)
        takes.pop("env")
        given = {key: value for key, value in options.items() if key in takes and key not in fixed}
        used |= given.keys()
        missing = [key for key, row in takes.items() if row.default is row.empty and key not in given]
        if missing:
            raise RegistrationError(f"the wrapper {name!r} needs {missing[0]!r}: give it to build, or put the wrapper on by its class")
        built.append(partial(target, **fixed, **given))
    unused = sorted(options.keys() - used)
    if unused:
        raise RegistrationError(f"none of the wrappers {names!r} takes {unused[0]!r}")
    return built
