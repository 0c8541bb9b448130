"""What each game is like, over 500 seeds: python benchmarks/games.py [--write] [PATTERN].

Random success, the oracle's turns against the limit, distinct starts, and the time of a reset. `--write` puts the table into
docs/games.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gem

PAGE = Path(__file__).parent.parent / "docs" / "games.md"
START, END = "<!-- games-table -->", "<!-- games-table-end -->"
SEEDS = 500


def play(env: Any, seed: int, policy: Callable[[Any], Any]) -> tuple[float, int, bool]:
    """Return the sum of rewards, the turns, and whether it was won."""
    env.reset(seed=seed)
    total, turns, over, info = 0.0, 0, False, {}
    while not over:
        _, reward, terminated, truncated, info = env.step(policy(env))
        total, turns, over = total + reward, turns + 1, terminated or truncated
    return total, turns, bool(info["success"])


def measure(id: str) -> tuple[str, ...]:
    """Return the row of one game."""
    env = gem.make(id)
    starts, times, limits = set(), [], set()
    for seed in range(SEEDS):
        began = time.process_time()
        obs, _ = env.reset(seed=seed)
        times.append((time.process_time() - began) * 1e3)
        starts.add((obs, repr(env.gold())))
        limits.add(env.max_turns)
    oracle = [play(env, seed, lambda env: env.oracle_action()) for seed in range(SEEDS)]
    chance = [play(env, seed, lambda env: env.sample_random_action()) for seed in range(SEEDS)]
    times.sort()
    limit = str(max(limits)) if len(limits) == 1 else f"{min(limits)}..{max(limits)}"
    return (
        f"`{id}`",
        f"{sum(won for *_, won in chance) / SEEDS:.3f}",
        f"{statistics.fmean(total for total, *_ in chance):.2f}",
        f"{statistics.fmean(total for total, *_ in oracle):.2f}",
        f"{sum(won for *_, won in oracle)} of {SEEDS}",
        f"{statistics.fmean(turns for _, turns, _ in oracle):.1f} / {max(turns for _, turns, _ in oracle)} / {limit}",
        str(len(starts)),
        f"{statistics.median(times):.2f} / {times[int(SEEDS * 0.99)]:.2f} / {times[-1]:.2f}",
    )


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="game:*")
    parser.add_argument("--write", action="store_true", help="put the table into docs/games.md")
    asked = parser.parse_args()
    names = [
        "id",
        "random success",
        "random reward",
        "oracle reward",
        "oracle wins",
        "oracle turns: mean / most / limit",
        "distinct starts",
    ]
    names.append("reset ms: median / p99 / worst")
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for row in gem.list_envs(asked.pattern):
        lines.append(f"| {' | '.join(measure(row.id))} |")
        print(lines[-1], flush=True)
    if asked.write:
        page = PAGE.read_text()
        after = page.partition(END)[2] if END in page else page.partition(START)[2]
        table = "\n".join(lines)
        PAGE.write_text(f"{page.partition(START)[0]}{START}\n\n{table}\n\n{END}{after}")


if __name__ == "__main__":
    main()
