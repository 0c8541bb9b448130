"""TowerofHanoi: carry a tower of disks from peg A to peg C, never a larger disk onto a smaller one."""

from __future__ import annotations

import random
import re
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.moves import clean

__all__ = ["TowerofHanoi"]

_CONSOLATION = 0.5
_MAX_DISKS = 16  # 65,535 moves
_PEGS = "ABC"
_MOVES = tuple((start, end) for start in range(3) for end in range(3) if start != end)
_WRITTEN = {f"{_PEGS[start]} {_PEGS[end]}": (start, end) for start, end in _MOVES}
_ARROW = re.compile(r"\\(?:long)?(?:right)?arrow|\\to\b", re.IGNORECASE)
_LABEL = re.compile(r"\b(?:move|from|to|onto|the|top|disk|disc|peg|tower|rod)\b", re.IGNORECASE | re.ASCII)
_BETWEEN = r"[\s,;:|/()\[\]{}<>$'\"`=.→⇒-]*"
_TWO_PEGS = re.compile(rf"{_BETWEEN}([A-Z])({_BETWEEN})([A-Z]){_BETWEEN}", re.IGNORECASE | re.ASCII)


class TowerofHanoi(Game):
    """Disks 1 (smallest) to `num_disks` lie on peg A, and have to get to peg C.

    There is one start for each number of disks: every seed of a variant that names `num_disks` is the same level, and
    `is_random` chooses among three levels.

    Reward: 1 for the whole tower on C; at the turn limit `0.5 * (disks on C) / num_disks`.
    """

    FORMAT = "Name the peg to take the top disk from and the peg to put it on in \\boxed{}, such as \\boxed{A C}."
    VARIANTS = ({"num_disks": 3, "max_turns": 10}, {"num_disks": 4, "max_turns": 20}, {"num_disks": 5, "max_turns": 35})

    def __init__(self, num_disks: int = 3, max_turns: int = 100, is_random: bool = False) -> None:
        self.configure(num_disks, max_turns)
        self.is_random = is_random
        self._set_up()

    def configure(self, num_disks: int, max_turns: int) -> None:
        """Set the height of the tower and the turn limit."""
        if not 1 <= num_disks <= _MAX_DISKS:
            self.bad_parameter(f"num_disks must be from 1 to {_MAX_DISKS}, not {num_disks}")
        if max_turns < 2**num_disks - 1:
            self.bad_parameter(
                f"{num_disks} disks need {2**num_disks - 1} moves: raise max_turns ({max_turns}) to that, or take fewer disks"
            )
        self.num_disks, self.max_turns = num_disks, max_turns

    def deal(self, rng: random.Random) -> None:
        """Put all disks on A."""
        self._set_up()

    def _set_up(self) -> None:
        self.pegs: list[list[int]] = [list(range(self.num_disks, 0, -1)), [], []]

    def rules(self) -> str:
        """Return the rules."""
        return (
            f"Tower of Hanoi: {self.num_disks} disks lie on peg A, disk 1 the smallest and disk {self.num_disks} the largest. Get all of "
            f"them onto peg C in at most {self.max_turns} turns. A turn moves the top disk of one peg onto another of the pegs A, B "
            f"and C, but never onto a smaller disk. Each peg is shown from its bottom disk to its top disk, and - stands for an "
            f"empty peg.\n{self.FORMAT}"
        )

    def board(self) -> str:
        """Return the disks of each peg, the top one last."""
        a, b, c = self.pegs
        return f"A: {' '.join(map(str, a)) or '-'}\nB: {' '.join(map(str, b)) or '-'}\nC: {' '.join(map(str, c)) or '-'}"

    def play(self, move: str) -> Played:
        """Move a disk."""
        # Most moves are written as the rules show them; the rest is read with patience.
        start, end = _WRITTEN.get(move) or _read(move)
        source, target = self.pegs[start], self.pegs[end]
        if not source:
            raise Illegal(f"Peg {_PEGS[start]} is empty.")
        disk = source[-1]
        if target and target[-1] < disk:
            raise Illegal(f"Disk {disk} cannot lie on the smaller disk {target[-1]} of peg {_PEGS[end]}.")
        target.append(source.pop())
        done = f"Disk {disk} went from {_PEGS[start]} to {_PEGS[end]}."
        if end == 2 and len(target) == self.num_disks:
            return f"{done} The whole tower is on C: you have won.", 1.0, True
        return done, 0.0, None

    def at_limit(self) -> float:
        """Pay for the disks on C."""
        return _CONSOLATION * len(self.pegs[2]) / self.num_disks

    def gold(self) -> Any:
        """Return the least number of moves from the start; nothing is hidden."""
        return {"fewest_moves": 2**self.num_disks - 1}

    def random_move(self, rng: random.Random) -> str:
        """Return any move that the rules allow."""
        tops = [peg[-1] if peg else self.num_disks + 1 for peg in self.pegs]
        allowed = [(start, end) for start, end in _MOVES if tops[start] < tops[end]]
        start, end = allowed[int(rng.random() * len(allowed))]
        return f"{_PEGS[start]} {_PEGS[end]}"

    def best_move(self, rng: random.Random) -> str | None:
        """Return the first move of the shortest way to C, or None where too few turns are left for it."""
        moves, first = self._way()
        if first is None or moves > self.max_turns - self.turn:
            return None
        return f"{_PEGS[first[0]]} {_PEGS[first[1]]}"

    def _way(self) -> tuple[int, tuple[int, int] | None]:
        """Return how many moves the shortest way to C takes, and its first move.

        From the largest disk down: a disk that is not where it must go waits for all smaller ones on the third peg, moves once,
        and then they follow it, which takes one move less than a whole tower of its size.
        """
        place = {disk: peg for peg, disks in enumerate(self.pegs) for disk in disks}
        goal, moves = 2, 0
        first: tuple[int, int] | None = None
        for disk in range(self.num_disks, 0, -1):
            if place[disk] != goal:
                first = (place[disk], goal)
                moves += 2 ** (disk - 1)
                goal = 3 - place[disk] - goal
        return moves, first


def _read(move: str) -> tuple[int, int]:
    """Return the pegs of a move that is written in some other way, such as `AC`, `a -> c` or `from A to C`."""
    text = _LABEL.sub(" ", _ARROW.sub(" ", clean(move)))
    found = _TWO_PEGS.fullmatch(text)
    if found is None:
        raise Unreadable("the box does not hold two of the pegs A, B and C")
    names = found[1].upper(), found[3].upper()
    if not set(names) <= set(_PEGS):
        if not found[2]:
            raise Unreadable("the box does not hold two of the pegs A, B and C")
        raise Illegal("The pegs are A, B and C; there is no other.")
    if names[0] == names[1]:
        raise Illegal(f"A disk cannot move from peg {names[0]} to the same peg.")
    return _PEGS.index(names[0]), _PEGS.index(names[1])
