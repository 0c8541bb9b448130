"""One measurement in this process, printed as JSON: run by `core.py` with the interpreter of the library under test.

Both libraries are `import gem`, so this file uses only what they share: `make`, `reset`, `step`, `sample_random_action`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time


def steps(env_id: str, seeded: bool, seconds: float = 1.0) -> float:
    """Steps per CPU-second over whole episodes of random play, the best of three runs."""
    import gem

    env = gem.make(env_id)
    best = 0.0
    episode = 0
    for _ in range(3):
        count, start = 0, time.process_time()
        while time.process_time() - start < seconds / 3:
            for _ in range(10):
                episode += 1
                env.reset(seed=episode) if seeded else env.reset()
                over = False
                while not over:
                    _, _, terminated, truncated, _ = env.step(env.sample_random_action())
                    over = terminated or truncated
                    count += 1
        best = max(best, count / (time.process_time() - start))
    return best


def resets(env_id: str, n: int) -> dict[str, float]:
    """CPU milliseconds of `n` seeded resets."""
    import gem

    env = gem.make(env_id)
    env.reset(seed=0)
    times = []
    for seed in range(1, n + 1):
        start = time.process_time()
        env.reset(seed=seed)
        times.append((time.process_time() - start) * 1e3)
    return {"mean": statistics.fmean(times), "median": statistics.median(times), "max": max(times)}


def importing() -> float:
    """CPU seconds of this process until `import gem` is done, less those of the bare interpreter."""
    start = time.process_time()
    import gem  # noqa: F401

    return time.process_time() - start


def main(kind: str, *args: str) -> None:
    """Print the result of one measurement."""
    found: object
    if kind == "import":
        found = importing()
    elif kind == "steps":
        found = steps(args[0], args[1] == "seeded")
    else:
        found = resets(args[0], int(args[1]))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
