"""Hangman: find a hidden word letter by letter, or guess it whole."""

from __future__ import annotations

import random
import re
from functools import lru_cache
from math import sqrt
from typing import Any, Literal

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.letters import spelled
from gem.envs.games.words import words

__all__ = ["Hangman"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHOWN = 0.5  # what all letters pay together; the win pays the rest
_Level = Literal["common", "rare"]


class Hangman(Game):
    """An English word hides; a guessed letter is shown wherever the word has it, and the whole word may be guessed.

    Reward: 0.5 over the length for each letter shown, and 0.5 for the win; guessing the whole word pays for what was not shown too.
    """

    VARIANTS = (
        {"word_length": 3, "max_turns": 14},
        {"word_length": 5, "max_turns": 15},
        {"word_length": 7, "max_turns": 20},
    )

    def __init__(self, word_length: int = 5, hardcore: bool = False, max_turns: int = 15, is_random: bool = False) -> None:
        self.level: _Level = "rare" if hardcore else "common"
        self.configure(word_length, max_turns)
        self.is_random = is_random
        self.secret = ""
        self._shown = ""
        self._missed: list[str] = []
        self._left = _LETTERS

    def configure(self, word_length: int, max_turns: int) -> None:
        """Set the length of the word and the turn limit."""
        if not words(word_length, self.level):
            self.bad_parameter(f"there are no words of {word_length} letters; word_length must be 3 to 10")
        if max_turns < 1:
            self.bad_parameter(f"max_turns must be 1 or more, not {max_turns}")
        self.length, self.max_turns = word_length, max_turns
        example = words(word_length, self.level)[0]
        self.FORMAT = f"Write a letter in \\boxed{{}}, such as \\boxed{{e}}, or the whole word, such as \\boxed{{{example}}}."

    def deal(self, rng: random.Random) -> None:
        """Hide a word."""
        self.secret = rng.choice(words(self.length, self.level))
        self._shown = "_" * self.length
        self._missed = []
        self._left = _LETTERS

    def rules(self) -> str:
        """Return the rules."""
        kind = "a common" if self.level == "common" else "an uncommon"
        return (
            f"This is Hangman. I have hidden {kind} English word of {self.length} letters. In each turn guess one letter, and I show "
            f"every place where the word has it; or guess the whole word. Every guess takes one of your {self.max_turns} turns, right "
            f"or wrong, and so does a guess made before; beyond that wrong guesses cost nothing. You win when all letters are shown or "
            f"you guess the word, and lose when the turns run out.\n{self.FORMAT}"
        )

    def board(self) -> str:
        """Return the word as far as it is shown, what was wrong, and the turns left."""
        missed = ", ".join(self._missed) or "nothing yet"
        return f"Word: {' '.join(self._shown)}\nWrong: {missed}\nTurns left: {self.max_turns - self.turn}"

    def play(self, move: str) -> Played:
        """Answer a letter or a word."""
        guess = spelled(move)
        if guess is None:
            raise Unreadable("the box holds neither a letter nor a word of the letters a to z")
        if len(guess) not in (1, self.length):
            raise Illegal(f"The word has {self.length} letters, your guess has {len(guess)}.")
        if guess in self._missed or (len(guess) == 1 and guess not in self._left):
            raise Illegal(f"You have guessed {guess} before.")
        return self._letter(guess) if len(guess) == 1 else self._word(guess)

    def _letter(self, guess: str) -> Played:
        self._left = self._left.replace(guess, "")
        found = self.secret.count(guess)
        if not found:
            self._missed.append(guess)
            return f"The word has no {guess}.", 0.0, None
        self._shown = "".join([own if own == guess else shown for own, shown in zip(self.secret, self._shown, strict=True)])
        reward = _SHOWN * found / self.length
        if "_" not in self._shown:
            return f"Yes, the word is {self.secret}.", reward + 1 - _SHOWN, True
        return f"The word has {guess}.", reward, None

    def _word(self, guess: str) -> Played:
        if guess != self.secret:
            self._missed.append(guess)
            return f"The word is not {guess}.", 0.0, None
        hidden, self._shown = self._shown.count("_"), guess
        return f"Yes, the word is {guess}.", _SHOWN * hidden / self.length + 1 - _SHOWN, True

    def gold(self) -> Any:
        """Return the word."""
        return self.secret

    def fitting(self) -> list[str]:
        """Return all words that fit what the player was told."""
        return _fitting(self.length, self.level, self._shown, frozenset(self._missed))

    def random_move(self, rng: random.Random) -> str:
        """Return any letter that was not guessed."""
        return self._left[int(rng.random() * len(self._left))]

    def best_move(self, rng: random.Random) -> str:
        """Guess the letter that leaves the fewest words, or the word where one or two are left."""
        return _telling(self.length, self.level, self._shown, frozenset(self._missed))


def _fitting(length: int, level: _Level, shown: str, missed: frozenset[str]) -> list[str]:
    """Return the words that have the shown letters in their places and nowhere else, and nothing that was wrong."""
    hidden = f"[^_{_guessed(shown, missed)}]"
    fits = re.compile("".join(hidden if letter == "_" else letter for letter in shown)).fullmatch
    return [word for word in words(length, level) if fits(word) and word not in missed]


def _guessed(shown: str, missed: frozenset[str]) -> str:
    return "".join([letter for letter in _LETTERS if letter in shown or letter in missed])


# Public knowledge about the word list, kept once for all environments and out of their snapshots.
@lru_cache(maxsize=8192)
def _telling(length: int, level: _Level, shown: str, missed: frozenset[str]) -> str:
    left = _fitting(length, level, shown, missed)
    if len(left) <= 2:
        return left[0]
    # By letter: how many words have it in just these places (a bit each).
    counts: dict[str, dict[int, int]] = {letter: {} for letter in _LETTERS if letter not in _guessed(shown, missed)}
    for word in left:
        for letter, places in _places(word).items():
            if letter in counts:
                counts[letter][places] = counts[letter].get(places, 0) + 1

    def unsettled(letter: str) -> float:
        sizes = [*counts[letter].values(), len(left) - sum(counts[letter].values())]
        # Between the mean and the worst case: of the plain rules this one wins all three-letter words in the fewest turns.
        return sum([size * sqrt(size) for size in sizes])

    return min(counts, key=unsettled)


def _places(word: str) -> dict[str, int]:
    places: dict[str, int] = {}
    for at, letter in enumerate(word):
        places[letter] = places.get(letter, 0) | 1 << at
    return places
