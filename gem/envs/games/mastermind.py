"""Mastermind: find a hidden code by black and white pegs."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from math import perm
from operator import eq
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.moves import clean, integers

__all__ = ["Mastermind"]

_MAX_LENGTH = 20
_MAX_CODES = 1_000_000  # with more of them the search for one that fits takes seconds
# `1-2-3-4` is four numbers, none of them negative.
_DASH = re.compile(r"(?<=\d)\s*-\s*(?=\d)")

_Code = tuple[int, ...]


class Mastermind(Game):
    """A code of numbers hides; every guess is answered with black pegs (right place) and white pegs (wrong place).

    Reward: each new best count of black pegs pays what it adds, over the length of the code. The code itself totals 1.
    """

    VARIANTS = (
        {"code_length": 2, "num_numbers": 4, "max_turns": 10},
        {"code_length": 4, "num_numbers": 6, "max_turns": 20},
        {"code_length": 4, "num_numbers": 8, "max_turns": 30},
    )

    def __init__(
        self, code_length: int = 4, num_numbers: int = 6, max_turns: int = 20, duplicate_numbers: bool = False, is_random: bool = False
    ) -> None:
        self.duplicates = duplicate_numbers
        self.configure(code_length, num_numbers, max_turns)
        self.is_random = is_random
        self.secret: _Code = ()
        self._told: list[tuple[_Code, int, int]] = []
        self._best = 0

    def configure(self, code_length: int, num_numbers: int, max_turns: int) -> None:
        """Set the length of the code, its numbers 1 to `num_numbers`, and the turn limit."""
        self._check(code_length, num_numbers, max_turns)
        self.length, self.numbers, self.max_turns = code_length, num_numbers, max_turns
        self._values = {str(number): number for number in range(1, num_numbers + 1)}
        example = " ".join(str(i % num_numbers + 1) for i in range(code_length))
        self.FORMAT = f"Write your guess in \\boxed{{}}, such as \\boxed{{{example}}}."

    def _check(self, length: int, numbers: int, max_turns: int) -> None:
        if not 1 <= length <= _MAX_LENGTH:
            self.bad_parameter(f"code_length must be 1 to {_MAX_LENGTH}, not {length}")
        if numbers < 2:
            self.bad_parameter(f"num_numbers must be 2 or more, not {numbers}")
        if length > numbers and not self.duplicates:
            self.bad_parameter(
                f"a code of {length} different numbers needs num_numbers of {length} or more, not {numbers}; or set duplicate_numbers"
            )
        if (numbers**length if self.duplicates else perm(numbers, length)) > _MAX_CODES:
            self.bad_parameter(f"there are more than {_MAX_CODES:,} codes; lower code_length ({length}) or num_numbers ({numbers})")
        if max_turns < 1:
            self.bad_parameter(f"max_turns must be 1 or more, not {max_turns}")

    def deal(self, rng: random.Random) -> None:
        """Hide a code."""
        numbers = range(1, self.numbers + 1)
        self.secret = tuple(rng.choices(numbers, k=self.length) if self.duplicates else rng.sample(numbers, self.length))
        self._told = []
        self._best = 0

    def rules(self) -> str:
        """Return the rules."""
        repeats = "a number may appear more than once" if self.duplicates else "no number appears twice, and none may in a guess"
        return (
            f"This is Mastermind. I have hidden a code of {self.length} numbers, each from 1 to {self.numbers}; {repeats}. Find it in at "
            f"most {self.max_turns} turns; a guess that breaks these rules takes a turn too. After each guess I count its black and white "
            f"pegs: one black peg for each number in its right place, and one white peg for each other number of the guess that the "
            f"code has in another place. The pegs do not say which numbers they are for, and each number of the code counts for one "
            f"peg at most.\n{self.FORMAT}"
        )

    def play(self, move: str) -> Played:
        """Count the pegs of a guess."""
        guess = self._read(move)
        if not self.duplicates and len(set(guess)) < len(guess):
            raise Illegal("No number may appear twice in a guess.")
        black, white = _pegs(guess, self.secret)
        self._told.append((guess, black, white))
        gained, self._best = max(black - self._best, 0), max(black, self._best)
        shown = " ".join(map(str, guess))
        if black == self.length:
            return f"Yes, the code is {shown}.", gained / self.length, True
        return f"{shown}: {black} black, {white} white.", gained / self.length, None

    def _read(self, move: str) -> _Code:
        try:
            guess = [self._values[part] for part in move.split()] or self._read_patiently(move)
        except KeyError:
            guess = self._read_patiently(move)
        if len(guess) != self.length:
            raise Illegal(f"A guess has {self.length} numbers, not {len(guess)}.")
        return tuple(guess)

    def _read_patiently(self, move: str) -> list[int]:
        found = integers(_DASH.sub(" ", clean(move)))
        if found is None:
            raise Unreadable(f"the box does not hold {self.length} whole numbers")
        # One-digit numbers may be run together: 1234.
        if len(found) == 1 and self.numbers < 10 and len(str(found[0])) == self.length:
            found = [int(digit) if digit.isdecimal() else -1 for digit in str(found[0])]
        if not all(1 <= number <= self.numbers for number in found):
            raise Illegal(f"Only the numbers 1 to {self.numbers} are used.")
        return found

    def gold(self) -> Any:
        """Return the code."""
        return list(self.secret)

    def fitting(self) -> list[_Code]:
        """Return all codes that fit what the player was told."""
        return list(self._search(()))

    def _search(self, begun: _Code) -> Iterator[_Code]:
        left = self.length - len(begun)
        for guess, black, white in self._told:
            hits, near = _pegs(guess, begun)
            # The places left can add a peg each, and take none away.
            if not (black - left <= hits <= black and black + white - left <= hits + near <= black + white):
                return
        if left == 0:
            yield begun
            return
        for number in range(1, self.numbers + 1):
            if self.duplicates or number not in begun:
                yield from self._search((*begun, number))

    def random_move(self, rng: random.Random) -> str:
        """Return any guess that the rules allow."""
        numbers = list(self._values)
        if self.duplicates:
            return " ".join([numbers[int(rng.random() * len(numbers))] for _ in range(self.length)])
        return " ".join([numbers.pop(int(rng.random() * len(numbers))) for _ in range(self.length)])

    def best_move(self, rng: random.Random) -> str:
        """Guess the first code that fits."""
        return " ".join(map(str, next(self._search(()))))


def _pegs(guess: _Code, code: _Code) -> tuple[int, int]:
    """Return how many places agree, and how many more numbers the two share."""
    rest = list(code)
    shared = 0
    for number in guess:
        if number in rest:
            rest.remove(number)
            shared += 1
    black = sum(map(eq, guess, code))
    return black, shared - black
