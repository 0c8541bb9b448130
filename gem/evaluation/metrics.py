"""Numbers over episodes, with the uncertainty that comes from having played few."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

from gem.trajectory import Trajectory

__all__ = ["Interval", "Summary", "mean_interval", "summarise", "wilson_interval"]

Interval = tuple[float, float]
_Z95 = NormalDist().inv_cdf(0.975)
_T95_EXACT = (12.7062, 4.3027)
_FEW = 10  # so many equal values say little of the others


@dataclass(frozen=True)
class Summary:
    """What the valid episodes of one environment show.

    Attributes:
        episodes: All that were played.
        errors: Those cut off by a fault; they are in none of the numbers below.
        reward: Mean sum of rewards, None without a valid episode.
        reward_interval: Its 95 % interval.
        success: Share of won episodes, None where the environment does not tell.
        success_interval: Its 95 % interval.
        turns: Mean number of turns.
    """

    env_id: str
    agent: str
    episodes: int
    errors: int
    tasks: int
    reward: float | None = None
    reward_interval: Interval | None = None
    success: float | None = None
    success_interval: Interval | None = None
    turns: float | None = None


def wilson_interval(won: float, n: int) -> Interval:
    """Return the 95 % score interval of a share of `n` trials.

    Source: Wilson, Probable inference, JASA 22 (1927), 209-212.
    """
    if n < 1:
        return 0.0, 1.0
    share, z2 = won / n, _Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Return the 95 % interval of a mean by Student's t, or None where the values can't tell: fewer than two, or few and all equal."""
    if len(values) < 2 or (len(values) < _FEW and len(set(values)) == 1):
        return None
    mean, half = fmean(values), _t95(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return mean - half, mean + half


def _t95(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5; exact values for one and two degrees of freedom.
    """
    if freedom <= len(_T95_EXACT):
        return _T95_EXACT[freedom - 1]
    z, n = _Z95, float(freedom)
    terms = (
        z,
        (z**3 + z) / (4 * n),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3),
    )
    return sum(terms)


def summarise(episodes: Iterable[Trajectory]) -> list[Summary]:
    """Return one summary per environment and agent, in order of first appearance.

    Samples of one task are not independent: intervals are over the means of tasks. With one sample a task, the interval of the
    share of successes is Wilson's, and so it is, with the tasks as trials, where all tasks have the same share.
    """
    groups: dict[tuple[str, str], list[Trajectory]] = defaultdict(list)
    for episode in episodes:
        groups[episode.env_id, episode.agent].append(episode)
    return [_summary(env_id, agent, rows) for (env_id, agent), rows in groups.items()]


def _summary(env_id: str, agent: str, rows: Sequence[Trajectory]) -> Summary:
    valid = [row for row in rows if row.valid]
    tasks = len({row.task for row in rows})
    if not valid:
        return Summary(env_id, agent, len(rows), len(rows), tasks)
    told = [row for row in valid if row.success is not None]
    rewards = _task_means(valid, [row.reward for row in valid])
    wins = _task_means(told, [float(bool(row.success)) for row in told])
    return Summary(
        env_id,
        agent,
        episodes=len(rows),
        errors=len(rows) - len(valid),
        tasks=tasks,
        reward=fmean(rewards),
        reward_interval=mean_interval(rewards),
        success=fmean(wins) if told else None,
        success_interval=_share_interval(wins, samples=len(told)),
        turns=fmean(len(row.turns) for row in valid),
    )


def _share_interval(shares: Sequence[float], samples: int) -> Interval | None:
    """Return the interval of the mean of the tasks' shares, which `samples` episodes gave."""
    if not shares:
        return None
    if len(shares) == samples or (len(shares) > 1 and len(set(shares)) == 1):  # equal shares tell nothing of their spread
        return wilson_interval(sum(shares), len(shares))
    found = mean_interval(shares)
    return None if found is None else (max(found[0], 0.0), min(found[1], 1.0))


def _task_means(rows: Sequence[Trajectory], values: Sequence[float]) -> list[float]:
    by_task: dict[str | None, list[float]] = defaultdict(list)
    for row, value in zip(rows, values, strict=True):
        by_task[row.task].append(value)
    return [fmean(found) for found in by_task.values()]
