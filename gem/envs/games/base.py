"""What every game shares: the turn, the box, the two kinds of bad move, the end.

A game says how a level is made (`deal`), what its rules are, and what a move does (`play`). Text without a readable move is
`Unreadable`: `on_invalid` decides. A readable move that the rules forbid is `Illegal`: it costs the turn and nothing else.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn, TypeAlias

from gem.core import Env, ExactSnapshot, Info, StepResult
from gem.errors import ContractError, RegistrationError
from gem.parsing import last_boxed, message_text
from gem.specs import OnInvalid

__all__ = ["Game", "Illegal", "Played", "Unreadable"]

# What a move did: feedback, reward, and True for won, False for lost, None for on it goes.
Played: TypeAlias = tuple[str, float, bool | None]

_TEST_SHARE = 8  # one start in eight belongs to the test split


class Unreadable(Exception):
    """The player's text is not a move of this game; the argument is the reason."""


class Illegal(Exception):
    """The rules forbid this move now; the argument is the reason."""


class Game(ExactSnapshot, Env[str, str]):
    """Base of the games. The move is what stands in the last `\\boxed{}` of the action.

    A subclass defines `configure`, `deal`, `rules`, `play`, `random_move` and `best_move`, and `board` where there is one.

    Attributes:
        FORMAT: One line that names the format of a move; it stands in the rules and in the hint for an unreadable move.
        VARIANTS: Keywords of `configure` that `is_random` draws from at each reset.
        turn: Turns played.
    """

    FORMAT: str = ""
    VARIANTS: ClassVar[Sequence[Mapping[str, Any]]] = ()

    on_invalid = OnInvalid("end", reward=-0.1)
    max_turns: int
    is_random: bool = False
    turn: int = 0
    _retries: int = 0
    _ruled: tuple[OnInvalid | None, str] = (None, "")

    # -- what a game defines -------------------------------------------------------------------------------------------

    def configure(self, *args: Any, **parameters: Any) -> None:
        """Check and set the parameters of a level, `max_turns` among them."""
        raise NotImplementedError  # every game defines it

    def deal(self, rng: random.Random) -> None:
        """Make a start from `rng` alone. It must be winnable."""
        raise NotImplementedError  # every game defines it

    def rules(self) -> str:
        """Return the prompt: the game, its end, its turn limit and `FORMAT`."""
        raise NotImplementedError  # every game defines it

    def board(self) -> str:
        """Return what the player sees of the state, or nothing."""
        return ""

    def play(self, move: str) -> Played:
        """Make a move.

        Raises:
            Unreadable: `move` is not a move of this game.
            Illegal: the rules forbid it now. Nothing may have changed.
        """
        raise NotImplementedError  # every game defines it

    def at_limit(self) -> float:
        """Return the reward for an episode that its turn limit ends."""
        return 0.0

    def random_move(self, rng: random.Random) -> str:
        """Return a readable move, without its box, drawn from `rng` alone."""
        raise NotImplementedError  # every game defines it

    def best_move(self, rng: random.Random) -> str | None:
        """Return the next move of a winning line, without its box. It changes nothing."""
        raise NotImplementedError  # every game defines it

    # -- the contract --------------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[str, Info]:
        """Deal a start; see `Env.reset`."""
        if options:
            _check_options(self._name, options)
        _, info = super().reset(seed, options)
        self.turn = self._retries = 0
        if self.is_random:
            self.configure(**self.rng.choice(self._playable()))
        self.deal(self.rng)
        board = self.board()
        rules = f"{self.rules()}\n{self._unreadable_rule()}"
        return (f"{rules}\n\n{board}" if board else rules), info

    def _playable(self) -> list[dict[str, Any]]:
        """Return the variants that can be played within the caller's own turn limit, where there is one: no variant replaces it."""
        limit = self._ctor[1].get("max_turns")
        if limit is None:
            return [dict(variant) for variant in self.VARIANTS]
        fitting = []
        for variant in self.VARIANTS:
            level = {**variant, "max_turns": limit}
            try:
                self.configure(**level)
            except RegistrationError:
                continue
            fitting.append(level)
        if not fitting:
            self.bad_parameter(f"no level of it can be won in {limit} turns: allow more with max_turns")
        return fitting

    def _unreadable_rule(self) -> str:
        """Return what an answer without a readable move does, for the prompt."""
        policy = self.on_invalid
        if policy is self._ruled[0]:  # the same text at every reset
            return self._ruled[1]
        does = "ends the game" if policy.ends(1) else "costs its turn"
        pays = f" and pays {policy.reward:g}" if policy.reward else ""
        self._ruled = policy, f"An answer without a move that can be read {does}{pays}."
        return self._ruled[1]

    def step(self, action: Any) -> StepResult[str]:
        """Make the move in the last box of `action`."""
        text = action if type(action) is str else message_text(action)
        self.turn += 1
        box = last_boxed(text)
        try:
            if box is None:
                raise Unreadable("there is no \\boxed{...} in your answer")
            feedback, reward, won = self.play(box)
        except Illegal as why:
            return self._go_on(f"{why}", 0.0, {"invalid_action": {"kind": "illegal", "reason": str(why), "hint": self.FORMAT}})
        except Unreadable as why:
            return self._unreadable(str(why))
        if won is None and self.turn < self.max_turns:
            board = self.board()
            return (f"{feedback}\n\n{board}" if board else feedback), reward, False, False, {}
        if won is None:
            return self._end_at_limit(feedback, reward, {})
        return feedback, reward, True, False, self._ended(won)

    def _go_on(self, feedback: str, reward: float, info: Info) -> StepResult[str]:
        if self.turn >= self.max_turns:
            return self._end_at_limit(feedback, reward, info)
        board = self.board()
        return (f"{feedback}\n\n{board}" if board else feedback), reward, False, False, info

    def _end_at_limit(self, feedback: str, reward: float, info: Info) -> StepResult[str]:
        return (
            f"{feedback}\nThat was the last of {self.max_turns} turns.",
            reward + self.at_limit(),
            True,
            False,
            {**info, **self._ended(False)},
        )

    def _unreadable(self, reason: str) -> StepResult[str]:
        policy = self.on_invalid
        info: Info = {"invalid_action": {"kind": "unreadable", "reason": reason, "hint": self.FORMAT}}
        feedback = f"Your move could not be read: {reason}. {self.FORMAT}"
        self._retries += 1
        if not policy.ends(self._retries):
            return self._go_on(feedback, policy.reward, info)
        return feedback, policy.reward, True, False, {**info, **self._ended(False)}

    def _ended(self, won: bool) -> Info:
        return {"success": won, "metrics": {"turns": self.turn}}

    def sample_random_action(self) -> str:
        """Return a random move in its box."""
        rng = self._action_rng if self._action_rng_seeded else self.action_rng
        return f"\\boxed{{{self.random_move(rng)}}}"  # type: ignore[arg-type]  # seeded, so there is one

    def oracle_action(self) -> str | None:
        """Return the next move of a winning line in its box."""
        move = self.best_move(self.action_rng)
        return None if move is None else f"\\boxed{{{move}}}"

    # -- for games -----------------------------------------------------------------------------------------------------

    def in_split(self, start: str) -> bool:
        """Say whether a start belongs to the split of the current task: by its content, so that train and test never share one."""
        is_test = zlib.crc32(start.encode()) % _TEST_SHARE == 0
        return is_test == (not self.task_key.startswith("train/"))

    def bad_parameter(self, what: str) -> NoReturn:
        """Raise for a parameter that no level can be made with."""
        raise RegistrationError(f"{self._name}: {what}")


def _check_options(name: str, options: Info) -> None:
    unknown = options.keys() - {"task", "index"}
    if unknown:
        raise ContractError(f"{name}: reset has no option {min(unknown)!r:.80}; it takes task, such as 'test/3', or index")
