"""GuessTheNumber: find a hidden number by higher and lower."""

from __future__ import annotations

import random
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.moves import integers

__all__ = ["GuessTheNumber"]

_CONSOLATION = 0.5


class GuessTheNumber(Game):
    """A number hides between `min_number` and `max_number`; every guess is answered with higher or lower.

    Reward: 1 for the number; at the turn limit `0.5 * (1 - distance / range)` of the last guess.
    """

    FORMAT = "Write your guess in \\boxed{}, such as \\boxed{7}."
    VARIANTS = tuple({"min_number": 1, "max_number": n, "max_turns": n.bit_length() + 1} for n in range(6, 56))

    def __init__(self, min_number: int = 1, max_number: int = 20, max_turns: int = 10, is_random: bool = False) -> None:
        self.configure(min_number, max_number, max_turns)
        self.is_random = is_random
        self.secret = min_number
        self._guesses: list[int] = []

    def configure(self, min_number: int, max_number: int, max_turns: int) -> None:
        """Set the range, both ends included, and the turn limit."""
        if min_number >= max_number:
            self.bad_parameter(f"min_number ({min_number}) must be below max_number ({max_number})")
        if max_turns < 1:
            self.bad_parameter(f"max_turns must be 1 or more, not {max_turns}")
        self.low, self.high, self.max_turns = min_number, max_number, max_turns

    def deal(self, rng: random.Random) -> None:
        """Hide a number."""
        self.secret = rng.randint(self.low, self.high)
        self._guesses = []

    def rules(self) -> str:
        """Return the rules."""
        return (
            f"I have hidden a whole number between {self.low} and {self.high}, both included. Find it in at most {self.max_turns} "
            f"turns. After each guess I say whether the hidden number is higher or lower.\n{self.FORMAT}"
        )

    def play(self, move: str) -> Played:
        """Answer a guess."""
        # Most guesses are bare digits; the rest is read with patience.
        found = [int(move)] if move.isdecimal() and len(move) < 10 else integers(move, 1)
        if found is None:
            raise Unreadable("the box does not hold one whole number")
        guess = found[0]
        if not self.low <= guess <= self.high:
            raise Illegal(f"{guess} is not between {self.low} and {self.high}.")
        if guess in self._guesses:
            raise Illegal(f"You have guessed {guess} before.")
        self._guesses.append(guess)
        if guess == self.secret:
            return f"Yes, the hidden number is {guess}.", 1.0, True
        return f"The hidden number is {'higher' if guess < self.secret else 'lower'} than {guess}.", 0.0, None

    def at_limit(self) -> float:
        """Pay for how near the last guess came."""
        if not self._guesses:
            return 0.0
        return _CONSOLATION * (1 - abs(self._guesses[-1] - self.secret) / (self.high - self.low))

    def gold(self) -> Any:
        """Return the hidden number."""
        return self.secret

    def fitting(self) -> list[int]:
        """Return all numbers that fit what the player was told."""
        below = [g for g in self._guesses if g < self.secret]
        above = [g for g in self._guesses if g > self.secret]
        if self.secret in self._guesses:
            return [self.secret]
        return list(range(max(below, default=self.low - 1) + 1, min(above, default=self.high + 1)))

    def random_move(self, rng: random.Random) -> str:
        """Return any number of the range."""
        return str(self.low + int(rng.random() * (self.high - self.low + 1)))

    def best_move(self, rng: random.Random) -> str:
        """Halve what is left."""
        left = self.fitting()
        return str(left[len(left) // 2])
