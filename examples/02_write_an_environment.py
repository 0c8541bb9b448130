"""Write an environment, register it, check it against the contract, and play it.

`python -m gem new my-envs` writes the same as an installable package with tests.
"""

from typing import Any

import gem
from gem.core import ExactSnapshot, Info, StepResult
from gem.parsing import last_boxed, message_text
from gem.testing import check_env

HINT = "Write the word in \\boxed{}, such as \\boxed{abc}."


@gem.register(
    "example/words:unscramble",
    max_turns=5,
    length=6,
    info=gem.EnvInfo(
        description="Write the letters of a word in the order of the alphabet",
        domain="example",
        snapshot="exact",
        oracle="actions",
        oracle_sees="transcript",
        split="seed",
        reward_range=(0.0, 1.0),
    ),
)
class SortLetters(ExactSnapshot, gem.Env):
    """Sort the letters of a made-up word; each wrong answer is told how many letters are in place."""

    def __init__(self, length: int = 6, max_turns: int = 5) -> None:
        self.length, self.max_turns = length, max_turns
        self.word, self.turn = "", 0

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[str, Info]:
        _, info = super().reset(seed, options)  # picks the task and seeds self.rng
        self.word = "".join(self.rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(self.length))
        self.turn = 0
        return f"Write the letters of {self.word!r} in the order of the alphabet, in at most {self.max_turns} tries. {HINT}", info

    def step(self, action: Any) -> StepResult[str]:
        self.turn += 1
        answer = last_boxed(message_text(action))
        if answer is None:
            return self._go_on(f"Your answer could not be read. {HINT}", {"invalid_action": {"reason": "there is no box", "hint": HINT}})
        if answer.strip() == self.gold():
            return "Right.", 1.0, True, False, {"success": True}
        placed = sum(a == b for a, b in zip(answer.strip(), self.gold(), strict=False))
        return self._go_on(f"{placed} of {self.length} letters are in place. Try again.", {})

    def _go_on(self, feedback: str, info: Info) -> StepResult[str]:
        over = self.turn >= self.max_turns
        return feedback, 0.0, over, False, {**info, "success": False} if over else info

    def gold(self) -> str:
        """The answer, as JSON values: it is part of the task's content and of its hash."""
        return "".join(sorted(self.word))

    def sample_random_action(self) -> str:
        return f"\\boxed{{{''.join(self.action_rng.sample(self.word, len(self.word)))}}}"

    def oracle_action(self) -> str:
        return f"\\boxed{{{self.gold()}}}"


def main() -> None:
    check_env("example/words:unscramble")
    print("every clause of the contract holds\n")
    with gem.make("example/words:unscramble", length=4, seed=1) as env:
        for _ in range(3):
            observation, info = env.reset()
            print(f"{info['task']}: {observation}")
            for action in ("I can't.", env.sample_random_action(), env.oracle_action()):
                observation, _, terminated, _, info = env.step(action)
                print(f"  {action:<16} -> {observation} {info}")
                if terminated:
                    break
        task = env.tasks("test")[0]
        print(f"\n{task.key} has the hash {task.hash[:12]} and the content {dict(task.content)}")


if __name__ == "__main__":
    main()
