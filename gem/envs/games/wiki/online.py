"""Encyclopedias behind a URL: a MediaWiki's `api.php`, and a book that `kiwix-serve` serves.

The server draws the random pages, so that a seed does not fix the pair, and nobody knows whether the target can be reached.
A page that is not there is `NoSuchPage`; whatever else goes wrong is `RequestFailed`.

Source: https://www.mediawiki.org/wiki/API:Parsing_wikitext, https://www.mediawiki.org/wiki/API:Random, and the HTTP API in
https://kiwix-tools.readthedocs.io/en/latest/kiwix-serve.html.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NoReturn
from urllib.parse import quote, unquote, urljoin, urlsplit

from gem import aio
from gem.clients.http import HttpClient
from gem.envs.games.wiki.markup import Anchor, read_html
from gem.envs.games.wiki.source import NoSuchPage, Page
from gem.errors import RegistrationError, RequestFailed

__all__ = ["Kiwix", "MediaWiki"]

_KEPT_PAGES = 128
_DRAWS = 30
# Wikimedia's servers refuse clients that do not say who they are.
_HEADERS = {"User-Agent": "gem-gym WikiGame"}
_MISSING = frozenset({"missingtitle", "invalidtitle", "pagecannotexist", "nosuchpageid"})
_PASSING = frozenset({"maxlag", "ratelimited", "readonly"})
_MEDIA = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|tiff?|pdf|og[gva]|web[ma]|mp[34]|wav|flac|mid)$", re.IGNORECASE)


class _Online:
    """What both have in common: kept pages, and a pair out of random pages."""

    def __init__(self, url: str, http: HttpClient | None) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise RegistrationError(f"url must be of the form http(s)://host/..., not {url!r:.200}")
        self.url = url
        self.http = http or HttpClient(headers=_HEADERS)
        self._kept = lru_cache(maxsize=_KEPT_PAGES)(self._fetch)

    def page(self, title: str) -> Page:
        """Return the page that a link to `title` leads to."""
        return self._kept(title)

    def way(self, start: str, target: str) -> list[str] | None:
        """Return None: the distances are not known."""
        return None

    def pair(self, rng: random.Random, low: int, high: int, accept: Callable[[str, str], bool]) -> tuple[str, str]:
        """Return two random pages; where `low` is above 1, the first does not link to the second.

        Raises:
            RequestFailed: the service did not answer as asked, or had no such pages.
        """
        drawn: list[str] = []
        for _ in range(_DRAWS):
            title = self._random_title()
            if title in drawn:
                continue
            pairs = [pair for other in drawn for pair in ((title, other), (other, title))]
            drawn.append(title)
            rng.shuffle(pairs)
            for start, target in pairs:
                if accept(start, target) and self._playable(start, target, low):
                    return start, target
        raise RequestFailed(f"{self.url}: {_DRAWS} random pages held no start and target to play", retryable=True)

    def _playable(self, start: str, target: str, low: int) -> bool:
        try:
            links, there = self.page(start).links, self.page(target).title
        except NoSuchPage:
            return False
        return bool(links) and there == target and (low < 2 or target not in links)

    def _fetch(self, title: str) -> Page:
        raise NotImplementedError  # both define it

    def _random_title(self) -> str:
        raise NotImplementedError  # both define it


class MediaWiki(_Online):
    """A MediaWiki (1.25 or later) by the URL of its `api.php`, such as `https://en.wikipedia.org/w/api.php`.

    The links of a page are those of its text to existing pages of the main namespace; where its HTML names none, all of them.
    """

    def __init__(self, url: str, http: HttpClient | None = None) -> None:
        super().__init__(url, http)

    def _fetch(self, title: str) -> Page:
        parse: Any = self._call(action="parse", page=title, prop="text|links", redirects="1").get("parse")
        try:
            own, html = parse["title"], parse["text"]
            there = [row["title"] for row in parse["links"] if row["ns"] == 0 and row.get("exists")]
            text, anchors = read_html(html)
        except (KeyError, TypeError, AttributeError):
            self._unlike(parse)
        known = set(there)
        in_text = [anchor.title for anchor in anchors if anchor.title in known]
        return Page(own, text, _others(own, in_text or there))

    def _random_title(self) -> str:
        # One at a time: of several, the API draws only the first, and the rest follow it in a fixed order.
        query: Any = self._call(action="query", list="random", rnnamespace="0", rnlimit="1").get("query")
        try:
            return str(query["random"][0]["title"])
        except (KeyError, TypeError, IndexError):
            self._unlike(query)

    def _call(self, **params: str) -> dict[str, Any]:
        answer = self.http.get_json(self.url, params={**params, "format": "json", "formatversion": "2"})
        if not isinstance(answer, dict):
            self._unlike(answer)
        error = answer.get("error")
        if error is None:
            return answer
        code = error.get("code") if isinstance(error, dict) else None
        if code in _MISSING:
            raise NoSuchPage(params.get("page", ""))
        raise RequestFailed(f"{self.url}: the API reports {error!r:.200}", retryable=code in _PASSING)

    def _unlike(self, answer: object) -> NoReturn:
        raise RequestFailed(f"{self.url}: this is not the answer of a MediaWiki API: {answer!r:.200}") from None


class Kiwix(_Online):
    """A book of `kiwix-serve` by its URL, `http://host:port/content/BOOK`.

    A title is the path of a page in the book, with spaces for underscores.
    """

    def __init__(self, url: str, http: HttpClient | None = None) -> None:
        super().__init__(url, http)
        root, found, book = url.rstrip("/").partition("/content/")
        if not found or not book or "/" in book:
            raise RegistrationError(f"url must be of the form http://host:port/content/BOOK, not {url!r:.200}")
        self._root, self._book = root, unquote(book)
        self._path = f"{urlsplit(root).path}/content/{self._book}/"

    def _fetch(self, title: str) -> Page:
        # A book made from a wiki has underscores in its paths, others may have spaces.
        paths = dict.fromkeys((title.replace(" ", "_"), title))
        for path in paths:
            found = self._get(f"{self._root}/content/{quote(self._book)}/{quote(path)}")
            if found is not None:
                own, html, base = found
                text, anchors = read_html(html)
                return Page(own, text, _others(own, self._titles(anchors, base)))
        raise NoSuchPage(title)

    def _random_title(self) -> str:
        found = self._get(f"{self._root}/random", params={"content": self._book})
        if found is None:
            raise RequestFailed(f"{self.url}: /random led to no page of the book {self._book!r:.80}; does the server have it?")
        return found[0]

    def _get(self, url: str, **kwargs: Any) -> tuple[str, str, str] | None:
        """Return title, HTML and URL of the page that `url` leads to, or None where there is no such page."""
        try:
            response = aio.run(self.http.request("GET", url, **kwargs))
        except RequestFailed as why:
            if why.status in (404, 410):
                return None
            raise
        title = self._title_at(str(response.url))
        is_html = response.headers.get("content-type", "text/html").startswith(("text/html", "application/xhtml"))
        return (title, response.text, str(response.url)) if title and is_html else None

    def _title_at(self, url: str) -> str | None:
        parts = urlsplit(url)
        path = unquote(parts.path)
        if parts.netloc != urlsplit(self._root).netloc or not path.startswith(self._path):
            return None
        return path[len(self._path) :].replace("_", " ") or None

    def _titles(self, anchors: Iterable[Anchor], base: str) -> list[str]:
        found = []
        for anchor in anchors:
            try:
                title = self._title_at(urljoin(base, anchor.href))
            except ValueError:  # an href that is no URL, such as http://[
                continue
            if title is not None and not _MEDIA.search(title):
                found.append(title)
        return found


def _others(own: str, titles: Iterable[str]) -> tuple[str, ...]:
    return tuple(title for title in dict.fromkeys(titles) if title != own)
