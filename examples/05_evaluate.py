"""Evaluate agents on environments, and read the episodes back.

The command does the same: python -m gem eval 'game:*-easy' --agent oracle,random --tasks 20
"""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from gem.evaluation import evaluate
from gem.rollout import AgentAction, EpisodeContext, agents
from gem.trajectory import Trajectory, read_trajectories

IDS = ["game:Hangman-v0-easy", "game:Hangman-v0-hard"]


class Alphabet:
    """An agent with a memory of its episode: it guesses letters by how common they are.

    `start` is called once for each episode, so that what a session remembers never gets into another.
    """

    name = "alphabet"

    def start(self, context: EpisodeContext) -> "_Session":
        return _Session()


class _Session:
    def __init__(self) -> None:
        self._letters = iter("eaionrtslcudpmhgbfywkvxzjq")

    async def act(self, observation: str, info: dict[str, Any]) -> AgentAction:
        return AgentAction(f"\\boxed{{{next(self._letters, 'e')}}}")

    async def end(self, trajectory: Trajectory) -> None:
        pass  # here a trainer would take the trajectory


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for agent in (agents.get("oracle"), agents.get("random"), Alphabet()):
            result = evaluate(IDS, agent, out=Path(folder) / agent.name, tasks=20, seed=1)
            for row in result.summaries:
                low, high = row.success_interval
                print(f"{row.agent:<9} {row.env_id:<24} success {row.success:.2f} ({low:.2f} to {high:.2f}), reward {row.reward:.2f}")

        # A run is three files; the episodes are one JSON line each.
        print(sorted(path.name for path in (Path(folder) / "alphabet").iterdir()))
        episodes = list(read_trajectories(Path(folder) / "alphabet" / "episodes.jsonl"))
        longest = max(episodes, key=lambda episode: len(episode.turns))
        print(f"the longest took {len(longest.turns)} turns, task {longest.task} of {longest.env_id}:")
        for turn in longest.turns[:3]:
            print(f"  {turn.action!r} -> reward {turn.reward:.2f} {turn.info}")
        ends = Counter("won" if episode.success else "lost" for episode in episodes if episode.valid)
        print(dict(ends))


if __name__ == "__main__":
    main()
