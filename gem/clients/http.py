"""HTTP with one pool, retries and a total deadline, on the home loop.

Every service client of the house goes through `HttpClient`: what is retried, how long and how often is decided here alone.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import Any

import anyio
import httpx

from gem import aio
from gem.config import Settings, settings
from gem.errors import RequestFailed

__all__ = ["HttpClient", "Retry"]

_log = logging.getLogger("gem.clients.http")

_RETRY_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
# The server has not acted on these, so that any request may be sent again.
_UNTOUCHED = frozenset({425, 429, 503})
_IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
# All other headers may hold keys: they go to no other server, and what they hold is cut out of messages.
_PLAIN_HEADERS = frozenset(
    {"host", "accept", "accept-encoding", "accept-language", "connection", "user-agent"}
    | {"content-type", "content-length", "transfer-encoding"}
)
_SECRET_NAME = re.compile(r"key|token|secret|sig|pass|pwd|auth|cred", re.IGNORECASE)
_MIN_SECRET = 6
_MAX_CUT_OFF = 8
_SHOWN = 200
_SEARCHED = 10_000

_ours: ContextVar[bool] = ContextVar("_ours", default=False)


def _not_ours(record: logging.LogRecord) -> bool:
    return not _ours.get()


# They log whole URLs, the keys in a query included. Other users of httpx keep their lines.
for _name in ("httpx", "httpcore.http11", "httpcore.http2"):
    logging.getLogger(_name).addFilter(_not_ours)


@dataclass(frozen=True)
class Retry:
    """When to try again: at most `retries` times, after `first_s * 2**k` seconds (full jitter), never over `longest_s`."""

    retries: int = 4
    first_s: float = 0.25
    longest_s: float = 8.0

    def delay(self, attempt: int, retry_after: float | None, rng: random.Random) -> float:
        """Seconds to wait before attempt `attempt + 1`: what the server asks for, else a random share of the backoff."""
        if retry_after is not None:
            return retry_after
        return rng.uniform(0, min(self.first_s * 2.0 ** min(attempt, 64), self.longest_s))


@dataclass(frozen=True)
class _Failure:
    """An attempt that failed, whether it may be made again, and when the server wants it."""

    error: RequestFailed
    again: bool
    retry_after: float | None = None


@dataclass(eq=False)
class _Pool:
    """The connections of one loop, how many requests they serve, and how many were cut off before their answer."""

    loop: asyncio.AbstractEventLoop
    slots: asyncio.Semaphore
    client: httpx.AsyncClient
    running: int = 0
    cut_off: int = 0


class HttpClient:
    """A pooled client of one service; use it from any thread and any loop.

    Args:
        base_url: Put before every path.
        headers: Sent with every request. They are never logged and never part of an error.
        timeout_s: Seconds for one attempt, from the first byte sent to the last received; half of them to connect.
        deadline_s: Seconds for a request, its retries and all waits included.
        retry: When to try again.
        max_connections: Of the pool; more requests wait for one of them.
        transport: Replaces the network, for tests.
    """

    def __init__(
        self,
        base_url: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        deadline_s: float | None = None,
        retry: Retry | None = None,
        max_connections: int = 100,
        transport: httpx.AsyncBaseTransport | None = None,
        config: Settings | None = None,
    ) -> None:
        config = config or settings()
        self.base_url = base_url
        self.retry = retry or Retry(retries=config.http_retries)
        self.deadline_s = config.http_deadline_s if deadline_s is None else deadline_s
        self._timeout_s = config.http_timeout_s if timeout_s is None else timeout_s
        self._headers = dict(headers or {})
        self._max_connections = max_connections
        self._transport = transport
        self._rng = random.Random()
        self._pool: _Pool | None = None
        self._old: list[_Pool] = []

    async def request(self, method: str, url: str, *, idempotent: bool | None = None, **kwargs: Any) -> httpx.Response:
        """Send a request and return its response, whose status is below 400.

        Args:
            method: The HTTP method.
            url: A path below `base_url`, or a whole URL.
            idempotent: Whether sending it twice does no harm; by default what the method says.
            kwargs: As of `httpx.AsyncClient.request` (`json`, `params`, `content`, `headers`, ...). A `content` that is a stream
                can be read only once, so that such a request is not sent again.

        Raises:
            RequestFailed: no such response came within the retries and the deadline.
        """
        safe = method.upper() in _IDEMPOTENT if idempotent is None else idempotent
        return await aio.hop(self._within_deadline(method, url, safe, kwargs))

    async def aget_json(self, url: str, **kwargs: Any) -> Any:
        """GET `url` and return the JSON of the response."""
        response = await self.request("GET", url, **kwargs)
        try:
            return response.json()
        except (ValueError, RecursionError):
            raise RequestFailed(f"GET {_shown(response.url)} answered with what is not JSON: {_excerpt(response)!r}") from None

    def get_json(self, url: str, **kwargs: Any) -> Any:
        """GET `url` and return the JSON of the response, waiting for it."""
        return aio.run(self.aget_json(url, **kwargs))

    def get_text(self, url: str, **kwargs: Any) -> str:
        """GET `url` and return the text of the response, waiting for it."""
        return _text(aio.run(self.request("GET", url, **kwargs)))

    async def aclose(self) -> None:
        """Close the pool; a later request opens it again."""
        await aio.hop(self._close())

    def close(self) -> None:
        """Close the pool, waiting for it."""
        aio.run(self._close())

    async def _close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            self._old.append(pool)
        await self._close_old(lambda _: True)

    async def _close_old(self, which: Callable[[_Pool], bool]) -> None:
        for pool in list(filter(which, self._old)):
            self._old.remove(pool)
            if pool.loop is asyncio.get_running_loop():
                await pool.client.aclose()

    def _here(self) -> _Pool:
        """Return the pool of the running loop."""
        loop = asyncio.get_running_loop()
        pool = self._pool
        if pool is None or pool.loop is not loop:  # after a fork the loop is another, and the sockets are the parent's
            pool = self._pool = _Pool(loop, asyncio.Semaphore(self._max_connections), self._client())
        elif pool.cut_off >= _MAX_CUT_OFF:
            # httpx may hold on to the connection of a request that was cancelled just then, and never use it again.
            self._old.append(pool)
            pool = self._pool = _Pool(loop, pool.slots, self._client())
        return pool

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=self.base_url,
            headers=self._headers,
            # Connecting gives up before the attempt does: what never reached the server may be sent again.
            timeout=httpx.Timeout(None, connect=self._timeout_s / 2),
            # `slots` limits the connections in use.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=self._max_connections),
            transport=self._transport,
            follow_redirects=True,
            event_hooks={"request": [_keep_keys_home]},
        )

    async def _within_deadline(self, method: str, url: str, safe: bool, kwargs: dict[str, Any]) -> httpx.Response:
        end = monotonic() + self.deadline_s
        readable_once = not isinstance(kwargs.get("content"), (str, bytes, type(None)))
        attempt = 0
        while True:
            found = await self._attempt(method, url, safe, kwargs, end)
            if isinstance(found, httpx.Response):
                return found
            wait = self.retry.delay(attempt, found.retry_after, self._rng)
            if not found.again or readable_once or attempt >= self.retry.retries or monotonic() + wait >= end:
                found.error.args = (f"{found.error} ({attempt + 1} attempt{'s' * (attempt > 0)})",)
                raise found.error
            _log.debug("%s: again in %.2f s", found.error, wait)
            await asyncio.sleep(wait)
            attempt += 1

    async def _attempt(self, method: str, url: str, safe: bool, kwargs: dict[str, Any], end: float) -> httpx.Response | _Failure:
        where = f"{method} {self._where(url)}"
        left = max(end - monotonic(), 0.001)
        try:
            # Not asyncio.wait_for: before Python 3.12 it may swallow a cancellation that comes with the timeout.
            with anyio.fail_after(left):
                response = await self._send(method, url, kwargs)
        except TimeoutError:
            return _Failure(RequestFailed(f"{where}: no answer within {min(self._timeout_s, left):.3g} s", retryable=True), safe)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeEncodeError) as why:
            # Their texts quote URLs and headers, keys included.
            hint = "look at its URL, and for characters in its headers and its text that can't be"
            return _Failure(RequestFailed(f"{where}: it can't be sent ({type(why).__name__}): {hint}"), again=False)
        except httpx.TransportError as why:
            again = safe or isinstance(why, (httpx.ConnectError, httpx.ConnectTimeout))
            return _Failure(RequestFailed(f"{where}: {type(why).__name__} {why}".rstrip(), retryable=True), again)
        except httpx.HTTPError as why:
            return _Failure(RequestFailed(f"{where}: {type(why).__name__} {why}"), again=False)
        if response.status_code < 400:
            return response
        again = response.status_code in (_RETRY_STATUS if safe else _UNTOUCHED)
        return _Failure(_of_status(method, response), again, _retry_after(response))

    async def _send(self, method: str, url: str, kwargs: dict[str, Any]) -> httpx.Response:
        async with self._here().slots:  # waiting for a connection counts for the deadline, not for the attempt
            await self._close_old(lambda old: not old.running)
            pool = self._here()
            pool.running += 1
            token = _ours.set(True)
            try:
                with anyio.fail_after(self._timeout_s):
                    return await pool.client.request(method, url, **kwargs)
            except (TimeoutError, asyncio.CancelledError):
                pool.cut_off += 1
                raise
            finally:
                pool.running -= 1
                _ours.reset(token)

    def _where(self, url: str) -> str:
        try:
            base, own = httpx.URL(self.base_url), httpx.URL(url)
        except httpx.InvalidURL:
            return "(no URL)"
        if own.is_relative_url and self.base_url:  # appended, as httpx does, and not joined
            own = base.copy_with(raw_path=base.raw_path.rstrip(b"/") + b"/" + own.raw_path.lstrip(b"/"))
        return _shown(own)


async def _keep_keys_home(request: httpx.Request) -> None:
    """Take what may be a key from a request that a redirect leads to another server."""
    first = request.extensions.setdefault("gem_first_url", request.url)
    if not _same_server(first, request.url):
        for name in set(request.headers) - _PLAIN_HEADERS:
            del request.headers[name]


def _same_server(one: httpx.URL, other: httpx.URL) -> bool:
    if one.host != other.host:
        return False
    upgraded = (one.scheme, other.scheme) == ("http", "https") and one.port is other.port is None
    return upgraded or (one.scheme, one.port) == (other.scheme, other.port)


def _shown(url: httpx.URL) -> str:
    # Keys travel in the query and in the user part: neither belongs in a message.
    return str(url.copy_with(query=None, userinfo=b"", fragment=None))


def _of_status(method: str, response: httpx.Response) -> RequestFailed:
    status = response.status_code
    what = f"{method} {_shown(response.url)}: HTTP {status} {_excerpt(response)!r}"
    return RequestFailed(what, status=status, retryable=status in _RETRY_STATUS)


def _text(response: httpx.Response) -> str:
    try:
        return response.text
    except Exception:  # the server may name a charset that is no text encoding, such as `hex`
        return response.content.decode("utf-8", "replace")


def _excerpt(response: httpx.Response) -> str:
    """Return the beginning of the body, without the keys of the request that a server may repeat in it."""
    text = _text(response)[:_SEARCHED]
    for request in (*(row.request for row in response.history), response.request):
        for secret in _secrets(request):
            text = text.replace(secret, "***")
    return text[:_SHOWN]


def _secrets(request: httpx.Request) -> Iterator[str]:
    found = [request.url.password]
    found += [value for name, value in request.url.params.multi_items() if _SECRET_NAME.search(name)]
    found += [word for name, value in request.headers.items() if name not in _PLAIN_HEADERS for word in value.split()]
    return (word for word in found if len(word) >= _MIN_SECRET)


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server asks to wait (RFC 9110, section 10.2.3: a number, or a date)."""
    value = response.headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(parsedate_to_datetime(value).timestamp() - time(), 0.0)
    except (TypeError, ValueError, OverflowError):
        return None
