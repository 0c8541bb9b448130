"""Ratios to gem-llm and to gymnasium, both run in the same minutes: python benchmarks/core.py [--write] [--rounds N].

Each figure is the median over rounds that alternate between the libraries. `--write` puts the table into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from peers import GEM_LLM, measure, peer_python

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
START, END = "<!-- core:start -->", "<!-- core:end -->"
# id -> least ratio of our steps per CPU-second to the peer's
STEPS = {
    "game:GuessTheNumber-v0-hard": 0.8,
    "game:Mastermind-v0-hard": 0.8,
    "game:Minesweeper-v0-hard": 1.5,
    "game:Game2048-v0-easy": 1.5,
    "game:Sokoban-v0-easy": 1.5,
}
# id -> least speed-up of a reset, our resets, the peer's
RESETS = {"game:Sokoban-v0-hard": (30, 100, 6), "game:Sudoku-v0-hard": (10, 100, 30)}

Row = tuple[str, str, str, str, str]


def paired(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> tuple[Any, Any, float]:
    """Return the medians of both, and the median of ours / theirs, over alternating rounds."""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs), statistics.median(a / b for a, b in pairs)


def against_gem_llm(rounds: int) -> list[Row]:
    """Import, steps and resets."""
    us, peer = sys.executable, peer_python("gem-llm", GEM_LLM)
    rows: list[Row] = []
    measure(us, "import"), measure(peer, "import")  # compiled, and read from disk once
    a, b, ratio = paired(lambda: measure(us, "import"), lambda: measure(peer, "import"), max(rounds, 5))
    rows.append(("`import gem`, CPU", f"{a * 1e3:.1f} ms", f"{b * 1e3:.0f} ms", f"1/{1 / ratio:.0f}", "at most 1/25"))
    for id, least in STEPS.items():
        for how in ("unseeded", "seeded"):
            a, b, ratio = paired(lambda: measure(us, "steps", id, how), lambda: measure(peer, "steps", id, how), rounds)  # noqa: B023
            rows.append(
                (f"{id}, steps per CPU-second, {how} resets", f"{a / 1e3:.0f} k", f"{b / 1e3:.0f} k", f"{ratio:.2f}x", f"at least {least}x")
            )
    for id, (least, n_ours, n_theirs) in RESETS.items():
        mine, other = measure(us, "resets", id, str(n_ours)), measure(peer, "resets", id, str(n_theirs))
        speedup = other["mean"] / mine["mean"]
        rows.append(
            (f"{id}, reset, mean CPU", f"{mine['mean']:.1f} ms", f"{other['mean']:.0f} ms", f"{speedup:.0f}x faster", f"at least {least}x")
        )
        rows.append(
            (f"{id}, reset, worst", f"{mine['max']:.1f} ms", f"{other['max']:.0f} ms", f"{other['max'] / mine['max']:.0f}x faster", "")
        )
    return rows


def _per_call(fn: Callable[[], Any], n: int = 50_000) -> float:
    """Microseconds of one call, the best of seven runs."""
    return min(timeit.repeat(fn, number=n, repeat=7)) / n * 1e6


def wrappers() -> list[Row]:
    """What a wrapper adds to a step, beside gymnasium's own."""
    import gymnasium

    import gem
    from gem.wrappers import Contract, TimeLimit

    class Still(gem.Env):
        def step(self, action: str) -> Any:
            return "x", 0.0, False, False, {}

    class Hook(gem.Wrapper):
        def on_step(self, action: Any, *result: Any) -> Any:
            return result

    class Flow(gem.Wrapper):
        async def flow(self, action: Any, io: Any) -> Any:
            return await io.step(action)

    class GymHook(gymnasium.Wrapper):
        def step(self, action: Any) -> Any:
            return self.env.step(action)

    def cost(env: Any) -> float:
        env.reset()
        return _per_call(lambda: env.step("a"))

    bare = cost(Still())
    gym_hook = cost(GymHook(Still())) - bare
    gym_limit = cost(gymnasium.wrappers.TimeLimit(Still(), 10**9)) - bare
    return [
        ("a hook wrapper adds", f"{cost(Hook(Still())) - bare:.2f} us", f"{gym_hook:.2f} us (gymnasium.Wrapper)", "", "at most 1 us"),
        ("`TimeLimit` adds", f"{cost(TimeLimit(Still(), 10**9)) - bare:.2f} us", f"{gym_limit:.2f} us (gymnasium's)", "", "at most 1 us"),
        ("a `flow` wrapper adds", f"{cost(Flow(Still())) - bare:.2f} us", "", "", "at most 5 us"),
        ("`Contract` adds", f"{cost(Contract(Still())) - bare:.2f} us", "", "", ""),
    ]


def table(rows: list[Row]) -> str:
    """Return the rows in markdown."""
    lines = ["| what | gem | other | ratio | aim |", "|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    rows = against_gem_llm(asked.rounds) + wrappers()
    where = f"Python {platform.python_version()} on {os.cpu_count()} cores, load {load:.1f} before"
    where = f"Python {platform.python_version()} on {os.cpu_count()} cores, load {load:.1f} before"
    note = f"Measured on {time.strftime('%Y-%m-%d')} with {where}."
    text = f"{table(rows)}\n\n{note}"
    print(text)
    if asked.write:
        page = PAGE.read_text()
        before, after = page.partition(START)[0], page.partition(END)[2]
        PAGE.write_text(f"{before}{START}\n\n{text}\n\n{END}{after}")


if __name__ == "__main__":
    main()
