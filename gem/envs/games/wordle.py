"""Wordle: find a hidden word by letters that are right, misplaced or absent."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.letters import spelled
from gem.envs.games.words import words

__all__ = ["Wordle"]

_PLACES = 0.5  # what all letters in their places pay together; the word itself pays the rest


class Wordle(Game):
    """A common English word hides; every guess is answered with a mark for each of its letters.

    Reward: 0.5 over the length for each place that is right for the first time, and 0.5 for the word.
    """

    VARIANTS = tuple({"word_length": n, "max_turns": 5 * n} for n in (3, 4, 5))

    def __init__(self, word_length: int = 5, only_real_words: bool = False, max_turns: int = 25, is_random: bool = False) -> None:
        self.only_real_words = only_real_words
        self.configure(word_length, max_turns)
        self.is_random = is_random
        self.secret = ""
        self._told: list[tuple[str, str]] = []
        self._right: list[int] = []

    def configure(self, word_length: int, max_turns: int) -> None:
        """Set the length of the word and the turn limit."""
        if not words(word_length):
            self.bad_parameter(f"there are no words of {word_length} letters; word_length must be 3 to 10")
        if max_turns < 1:
            self.bad_parameter(f"max_turns must be 1 or more, not {max_turns}")
        self.length, self.max_turns = word_length, max_turns
        example = words(word_length)[0]
        self.FORMAT = f"Write your guess in \\boxed{{}}, such as \\boxed{{{example}}}."

    def deal(self, rng: random.Random) -> None:
        """Hide a word."""
        self.secret = rng.choice(words(self.length))
        self._told = []
        self._right = []

    def rules(self) -> str:
        """Return the rules."""
        allowed = "must be an English word that I know" if self.only_real_words else "need not be a word"
        return (
            f"This is Wordle. I have hidden a common English word of {self.length} letters. Find it in at most {self.max_turns} turns. "
            f"A guess has {self.length} letters and {allowed}; a guess that breaks these rules takes a turn too. Under each letter of "
            f"a guess I write G if it is in the right place, Y if the word has it in another place, and - otherwise. If a guess has a "
            f"letter more often than the word, only as many of them get G or Y as the word has: the right places first, then from left "
            f"to right.\n{self.FORMAT}"
        )

    def play(self, move: str) -> Played:
        """Mark the letters of a guess."""
        guess = spelled(move)
        if guess is None:
            raise Unreadable("the box holds something other than the letters a to z")
        if len(guess) != self.length:
            raise Illegal(f"A guess has {self.length} letters, not {len(guess)}.")
        if self.only_real_words and guess not in _known(self.length):
            raise Illegal(f"I do not know the word {guess}.")
        marks = _marks(guess, self.secret)
        self._told.append((guess, marks))
        new = [place for place, mark in enumerate(marks) if mark == "G" and place not in self._right]
        self._right += new
        reward = _PLACES * len(new) / self.length
        if guess == self.secret:
            return f"Yes, the word is {guess}.", reward + 1 - _PLACES, True
        return f"{' '.join(guess.upper())}\n{' '.join(marks)}", reward, None

    def gold(self) -> Any:
        """Return the word."""
        return self.secret

    def fitting(self) -> list[str]:
        """Return all words that fit what the player was told."""
        if not self._told:
            return list(words(self.length))
        left = list(_after(self.length, *self._told[0]))
        for guess, marks in self._told[1:]:
            left = [word for word in left if _marks(guess, word) == marks]
        return left

    def random_move(self, rng: random.Random) -> str:
        """Return any common word of this length."""
        known = words(self.length)
        return known[int(rng.random() * len(known))]

    def best_move(self, rng: random.Random) -> str:
        """Guess the word that shares most letters with the others that fit."""
        return _telling(self.fitting()) if self._told else _opening(self.length)


def _marks(guess: str, word: str) -> str:
    spare = [own for letter, own in zip(guess, word, strict=True) if letter != own]
    marks = ""
    for letter, own in zip(guess, word, strict=True):
        if letter == own:
            marks += "G"
        elif letter in spare:
            spare.remove(letter)
            marks += "Y"
        else:
            marks += "-"
    return marks


def _telling(left: list[str]) -> str:
    """Return the word of `left` whose letters are in most of the others, by place and at all."""
    at_all = Counter(letter for word in left for letter in dict.fromkeys(word))
    in_place = Counter(pair for word in left for pair in enumerate(word))

    def shared(word: str) -> int:
        return sum(at_all[letter] for letter in dict.fromkeys(word)) + sum(in_place[pair] for pair in enumerate(word))

    return max(left, key=shared)


# Public knowledge about the word list, kept once for all environments and out of their snapshots.
@lru_cache(maxsize=16)
def _opening(length: int) -> str:
    return _telling(list(words(length)))


@lru_cache(maxsize=512)
def _after(length: int, guess: str, marks: str) -> tuple[str, ...]:
    return tuple(word for word in words(length) if _marks(guess, word) == marks)


@lru_cache(maxsize=16)
def _known(length: int) -> frozenset[str]:
    return frozenset(words(length)) | frozenset(words(length, "rare"))
