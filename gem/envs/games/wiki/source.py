"""What an encyclopedia is to the game, and which one a backend's name means.

The embedded one is `gem.envs.games.wiki.almanac`; those behind a URL are in `gem.envs.games.wiki.online`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from gem.errors import RegistrationError

__all__ = ["BACKENDS", "NoSuchPage", "Page", "WikiSource", "open_source"]

BACKENDS = ("almanac", "mediawiki", "kiwix")


@dataclass(frozen=True, eq=False)  # by identity: pages are keys of caches
class Page:
    """A page: its own title (a redirect is resolved), its text in paragraphs, and the titles it links to, each once."""

    title: str
    text: str
    links: tuple[str, ...]


class NoSuchPage(LookupError):
    """The encyclopedia answered that it has no such page; that is no fault of the service."""


class WikiSource(Protocol):
    """An encyclopedia."""

    def page(self, title: str) -> Page:
        """Return the page that a link to `title` leads to.

        Raises:
            NoSuchPage: there is none.
            RequestFailed: the service did not answer as asked.
        """
        ...

    def pair(self, rng: random.Random, low: int, high: int, accept: Callable[[str, str], bool]) -> tuple[str, str]:
        """Return titles of a start and a target that `accept` takes.

        Where the source knows its distances, `low` to `high` clicks apart and drawn from `rng` alone; else at random.
        """
        ...

    def way(self, start: str, target: str) -> list[str] | None:
        """Return the titles of a shortest way, without `start`, or None where the source does not know its distances."""
        ...


@lru_cache(maxsize=16)
def open_source(backend: str, url: str | None = None) -> WikiSource:
    """Return the encyclopedia that `backend` names; one for all environments of the process.

    Raises:
        RegistrationError: there is no such backend, or its URL is not of the right form.
    """
    if backend == "almanac":
        from gem.envs.games.wiki.almanac import Almanac

        if url is not None:
            raise RegistrationError("the almanac is embedded and takes no url: leave it out, or choose backend='mediawiki' or 'kiwix'")
        return Almanac()
    if backend not in (*BACKENDS, "mw"):
        raise RegistrationError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r:.80}")
    if url is None:
        raise RegistrationError(f"backend {backend!r} needs a url, such as url='http://localhost:8080/...'")
    from gem.envs.games.wiki.online import Kiwix, MediaWiki

    return Kiwix(url) if backend == "kiwix" else MediaWiki(url)
