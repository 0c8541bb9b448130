"""The Almanac of Halvane: the embedded encyclopedia of an invented country, 310 articles written for this game.

Its files are `almanac/NN.md`: a title line, then paragraphs with links as `[[Title]]` or `[[Title|shown]]`. They are read once
in a process, and no snapshot holds them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files

from gem.envs.games.wiki.graph import Graph
from gem.envs.games.wiki.source import NoSuchPage, Page
from gem.errors import DataUnavailable

__all__ = ["Almanac", "articles"]

_TITLE_LINE = re.compile(r"^# (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[\[([^\]|]+)(?:\|([^\]]+))?\]\]")


@lru_cache(maxsize=1)
def articles() -> dict[str, Page]:
    """Return all articles by title, in the order of the titles.

    Raises:
        DataUnavailable: the installation lacks the files.
    """
    folder = files(__package__).joinpath("almanac")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".md")) if folder.is_dir() else []
    if not names:
        raise DataUnavailable("the files of the almanac are missing from this installation: install gem-gym again")
    pages: dict[str, Page] = {}
    for name in names:
        parts = _TITLE_LINE.split(folder.joinpath(name).read_text("utf-8"))
        for title, body in zip(parts[1::2], parts[2::2], strict=True):
            pages[title] = _read(title, body)
    return dict(sorted(pages.items()))


def _read(title: str, body: str) -> Page:
    links = dict.fromkeys(match[1] for match in _LINK.finditer(body))
    return Page(title, _LINK.sub(lambda match: match[2] or match[1], body).strip(), tuple(links))


@lru_cache(maxsize=1)
def _graph() -> Graph:
    return Graph({title: page.links for title, page in articles().items()})


class Almanac:
    """The embedded encyclopedia: offline, its distances known."""

    def __init__(self) -> None:
        self._pages = articles()
        self._titles = list(self._pages)
        self._graph = _graph()

    def page(self, title: str) -> Page:
        """Return an article."""
        found = self._pages.get(title)
        if found is None:
            raise NoSuchPage(title)
        return found

    def pair(self, rng: random.Random, low: int, high: int, accept: Callable[[str, str], bool]) -> tuple[str, str]:
        """Return a start and a target, `low` to `high` clicks apart.

        Raises:
            DataUnavailable: no such pair is accepted.
        """
        first = rng.randrange(len(self._titles))
        for k in range(len(self._titles)):
            target = self._titles[(first + k) % len(self._titles)]
            starts = [title for title, clicks in self._graph.clicks_to(target).items() if low <= clicks <= high]
            rng.shuffle(starts)
            for start in starts:
                if accept(start, target):
                    return start, target
        raise DataUnavailable(f"the almanac has no two pages {low} to {high} clicks apart; ask for fewer clicks")

    def way(self, start: str, target: str) -> list[str] | None:
        """Return the titles of a shortest way, without `start`."""
        return self._graph.way(start, target)
