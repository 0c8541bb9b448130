"""Plans Sokoban from any state: A* over pushes, weighted towards finding something soon, within a fixed number of states."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from gem.envs.games.sokoban.rooms import FAR, Room, bits, mask, matching, path, reach, shifted

__all__ = ["solve"]

_MOST_STATES = 10_000
_WEIGHT = 2.5  # moves counted for a push that is still needed: with 1 the plan would be shortest, and found late

_State = tuple[int, int]  # board of the boxes, cell of the player


class _Search:
    """What all states of one search share."""

    def __init__(self, room: Room) -> None:
        self.floor, self.ways = room.floor, room.ways
        self.distances = room.distances()
        self.alive = mask(cell for cell in bits(room.floor) if min(table[cell] for table in self.distances) < FAR)
        self._needed: dict[int, int] = {}

    def needed(self, boxes: int) -> int:
        """Return a lower bound of the pushes that are still needed."""
        found = self._needed.get(boxes)
        if found is None:
            found = self._needed[boxes] = matching(self.distances, bits(boxes))
        return found

    def after(self, boxes: int, player: int) -> Iterator[tuple[int, _State]]:
        """Yield the states that one push leads to, each with the moves it takes to walk there and push."""
        free = self.floor & ~boxes
        room_behind = free & self.alive
        for moves, layer in enumerate(reach(1 << player, free, self.ways[1]), 1):
            for way in self.ways:
                for cell in bits(layer & shifted(boxes, -way) & shifted(room_behind, -2 * way)):
                    box = cell + way
                    yield moves, (boxes ^ 1 << box ^ 1 << box + way, box)


def solve(room: Room, boxes: int, player: int, longest: int, max_states: int = _MOST_STATES) -> list[int] | None:
    """Return the shifts of moves that bring all boxes to targets.

    None where no plan of at most `longest` moves was found before `max_states` states were reached; the plan is not always a shortest
    one.

    Args:
        room: Walls and targets.
        boxes: Board of the boxes.
        player: Cell of the player.
        longest: Most moves.
        max_states: Most states to reach, give or take the pushes from one.
    """
    search, start = _Search(room), (boxes, player)
    spent, came = {start: 0}, {start: start}
    tie = count()  # among equals the newest first, so that a search goes deep
    queue = [(0.0, 0, 0, start)]
    closed: set[_State] = set()
    while queue and len(spent) < max_states:
        _, _, moves, state = heappop(queue)
        if state in closed:
            continue
        closed.add(state)
        if search.needed(state[0]) == 0:
            return _moves_to(state, came, search)
        for more, after in search.after(*state):
            total, needed = moves + more, search.needed(after[0])
            if total + needed <= longest and total < spent.get(after, total + 1):
                spent[after], came[after] = total, state
                heappush(queue, (total + _WEIGHT * needed, -next(tie), total, after))
    return None


def _moves_to(state: _State, came: dict[_State, _State], search: _Search) -> list[int]:
    legs: list[list[int]] = []
    while came[state] != state:
        (boxes, player), (after, end) = came[state], state
        way = next(bits(after & ~boxes)) - end
        legs.append([*path(search.floor & ~boxes, player, end - way, search.ways), way])
        state = came[state]
    return [way for leg in reversed(legs) for way in leg]
