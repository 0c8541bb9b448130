"""Let an async function play many episodes at once, and watch the events.

The function gets an observation and an info, and returns the text of an answer. Here it stands for a model behind an endpoint:
it waits, then reads the pegs and moves.
"""

import asyncio
import re
from collections import Counter
from typing import Any

import gem
from gem.rollout import stream


def next_move(pegs: dict[str, list[int]]) -> tuple[str, str]:
    """Return the pegs of the first move on the shortest way to C: (from, to)."""
    place = {disk: name for name, disks in pegs.items() for disk in disks}
    goal, move = "C", ("A", "C")
    for disk in sorted(place, reverse=True):
        if place[disk] != goal:
            move = place[disk], goal
            goal = ({"A", "B", "C"} - {place[disk], goal}).pop()
    return move


async def thinker(observation: str, info: dict[str, Any]) -> str:
    await asyncio.sleep(0.002)  # where a model would be asked
    pegs = {name: [int(disk) for disk in re.findall(r"\d+", disks)] for name, disks in re.findall(r"^([ABC]): (.*)$", observation, re.M)}
    start, end = next_move(pegs)
    return f"The largest disk that is in the wrong place waits for this: \\boxed{{{start} {end}}}"


async def forgetful(observation: str, info: dict[str, Any]) -> str:
    """Fails now and then, as services do: the episode is reported apart, the others go on."""
    if "Disk 2" in observation:
        raise ConnectionError("the endpoint did not answer")
    return await thinker(observation, info)


async def main() -> None:
    counts: Counter[str] = Counter()
    unsubscribe = gem.events.subscribe(lambda event: counts.update([event.kind]))

    # Four tasks, two samples of each, at most eight episodes at a time; each is yielded as it ends.
    async for episode in stream("game:TowerofHanoi-v0-random", thinker, tasks=4, samples=2, concurrency=8):
        print(f"{episode.task} sample {episode.sample}: success {episode.success}, {len(episode.turns)} turns")

    async for episode in stream("game:TowerofHanoi-v0-easy", forgetful, tasks=1):
        print(f"{episode.task}: valid {episode.valid}, {episode.error['type']} in the {episode.error['phase']}: {episode.error['message']}")

    unsubscribe()
    print(f"events: {dict(counts)}")


if __name__ == "__main__":
    import logging

    logging.getLogger("gem").setLevel(logging.ERROR)  # the fault above is logged as a warning
    asyncio.run(main())
