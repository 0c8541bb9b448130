"""Clicks between the pages of an encyclopedia whose links are all known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["Graph"]


class Graph:
    """Shortest ways along links; what has been worked out for a target is kept.

    Args:
        links: The titles that each title links to. All of them must be titles too.
    """

    def __init__(self, links: Mapping[str, Sequence[str]]) -> None:
        self._links = links
        self._into: dict[str, list[str]] = {title: [] for title in links}
        for title, out in links.items():
            for other in out:
                self._into[other].append(title)
        self._known: dict[str, dict[str, int]] = {}

    def clicks_to(self, target: str) -> dict[str, int]:
        """Return the clicks to `target` from each title it can be reached from."""
        known = self._known.get(target)
        if known is None:
            known = self._known[target] = self._search(target)
        return known

    def way(self, start: str, target: str) -> list[str] | None:
        """Return the titles of a shortest way from `start`, which is left out, or None where there is no way."""
        clicks = self.clicks_to(target)
        if start not in clicks:
            return None
        way: list[str] = []
        here = start
        for left in range(clicks[start] - 1, -1, -1):
            here = next(title for title in self._links[here] if clicks.get(title) == left)
            way.append(here)
        return way

    def _search(self, target: str) -> dict[str, int]:
        clicks = {target: 0}
        queue = [target]
        for title in queue:
            for before in self._into[title]:
                if before not in clicks:
                    clicks[before] = clicks[title] + 1
                    queue.append(before)
        return clicks
