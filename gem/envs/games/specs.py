"""The table of the games: ids, parameters and what each declares."""

from __future__ import annotations

from typing import Any, Literal

from gem.specs import EnvInfo, EnvSpec

__all__ = ["SPECS"]

SPECS: list[EnvSpec] = []


def _game(
    name: str,
    entry_point: str,
    description: str,
    variants: dict[str, dict[str, Any]],
    *,
    sees: Literal["transcript", "state"] = "state",
    split: Literal["content", "seed"] = "content",
    low: float = -0.1,
    high: float = 1.0,
    tags: tuple[str, ...] = (),
) -> None:
    info = EnvInfo(
        description=description,
        domain="games",
        snapshot="exact",
        oracle="actions",
        oracle_sees=sees,
        split=split,
        reward_range=(low, high),
        tags=("game", *tags),
    )
    for variant, kwargs in variants.items():
        id = f"game:{name}-v0-{variant}" if variant else f"game:{name}-v0"
        SPECS.append(EnvSpec(id, f"gem.envs.games.{entry_point}", kwargs, info=info))


_game(
    "GuessTheNumber",
    "guess_the_number:GuessTheNumber",
    "Find a hidden number by higher and lower",
    {
        "": {},
        "easy": {"min_number": 1, "max_number": 10, "max_turns": 4},
        "hard": {"min_number": 1, "max_number": 50, "max_turns": 7},
        "random": {"is_random": True},
    },
    sees="transcript",
    split="seed",
)
