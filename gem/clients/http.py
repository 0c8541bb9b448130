"""HTTP with one pool, retries and a total deadline, on the home loop.

Every service client of the house goes through `HttpClient`: what is retried, how long and how often is decided here alone.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import Any

import httpx

from gem import aio
from gem.config import Settings, settings
from gem.errors import RequestFailed

__all__ = ["HttpClient", "Retry"]

_RETRY_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
# The server has not acted on these, so that any request may be sent again.
_UNTOUCHED = frozenset({425, 429, 503})
_IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
_SHOWN = 200


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
        return rng.uniform(0, min(self.first_s * 2**attempt, self.longest_s))


class HttpClient:
    """A pooled client of one service; use it from any thread and any loop.

    Args:
        base_url: Put before every path.
        headers: Sent with every request. They are never logged and never part of an error.
        timeout_s: Seconds for one attempt.
        deadline_s: Seconds for a request, its retries and waits included.
        retry: When to try again.
        max_connections: Of the pool.
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
        self._limits = httpx.Limits(max_connections=max_connections, max_keepalive_connections=max_connections)
        self._transport = transport
        self._rng = random.Random()
        self._pool: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def request(self, method: str, url: str, *, idempotent: bool | None = None, **kwargs: Any) -> httpx.Response:
        """Send a request and return its response, whose status is below 400.

        Args:
            method: The HTTP method.
            url: A path below `base_url`, or a whole URL.
            idempotent: Whether sending it twice does no harm; by default what the method says.
            kwargs: As of `httpx.AsyncClient.request` (`json`, `params`, `content`, `headers`, ...).

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
        except ValueError:
            raise RequestFailed(f"GET {_shown(response.url)} answered with what is not JSON: {response.text[:_SHOWN]!r}") from None

    def get_json(self, url: str, **kwargs: Any) -> Any:
        """GET `url` and return the JSON of the response, waiting for it."""
        return aio.run(self.aget_json(url, **kwargs))

    def get_text(self, url: str, **kwargs: Any) -> str:
        """GET `url` and return the text of the response, waiting for it."""
        return aio.run(self.request("GET", url, **kwargs)).text

    async def aclose(self) -> None:
        """Close the pool; a later request opens it again."""
        await aio.hop(self._close())

    def close(self) -> None:
        """Close the pool, waiting for it."""
        aio.run(self._close())

    async def _close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None and self._loop is asyncio.get_running_loop():
            await pool.aclose()

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._pool is None or self._loop is not loop:  # after a fork the loop is another, and the sockets are the parent's
            self._loop = loop
            self._pool = httpx.AsyncClient(
                base_url=self.base_url,
                headers=self._headers,
                timeout=self._timeout_s,
                limits=self._limits,
                transport=self._transport,
                follow_redirects=True,
            )
        return self._pool

    async def _within_deadline(self, method: str, url: str, safe: bool, kwargs: dict[str, Any]) -> httpx.Response:
        end = monotonic() + self.deadline_s
        attempt = 0
        while True:
            failure, retry_after = None, None
            try:
                response = await asyncio.wait_for(self._client().request(method, url, **kwargs), max(end - monotonic(), 0.001))
                if response.status_code < 400:
                    return response
                failure = _of_status(method, response)
                again = response.status_code in (_RETRY_STATUS if safe else _UNTOUCHED)
                retry_after = _retry_after(response)
            except (asyncio.TimeoutError, httpx.TransportError) as why:
                failure = RequestFailed(f"{method} {self._where(url)}: {type(why).__name__} {why}".rstrip(), retryable=True)
                again = safe or isinstance(why, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
            except (httpx.HTTPError, httpx.InvalidURL) as why:
                raise RequestFailed(f"{method} {self._where(url)}: {type(why).__name__} {why}") from None
            wait = self.retry.delay(attempt, retry_after, self._rng)
            if not again or attempt >= self.retry.retries or monotonic() + wait >= end:
                failure.args = (f"{failure} ({attempt + 1} attempt{'s' * (attempt > 0)})",)
                raise failure
            attempt += 1
            await asyncio.sleep(wait)

    def _where(self, url: str) -> str:
        return _shown(httpx.URL(self.base_url).join(url)) if self.base_url else _shown(httpx.URL(url))


def _shown(url: httpx.URL) -> str:
    # Keys travel in the query and in the user part: neither belongs in a message.
    return str(url.copy_with(query=None, userinfo=b"", fragment=None))


def _of_status(method: str, response: httpx.Response) -> RequestFailed:
    body = response.text[:_SHOWN]
    status = response.status_code
    return RequestFailed(f"{method} {_shown(response.url)}: HTTP {status} {body!r}", status=status, retryable=status in _RETRY_STATUS)


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server asks to wait (RFC 9110, section 10.2.3: a number, or a date)."""
    value = response.headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(parsedate_to_datetime(value).timestamp() - time(), 0.0)
    except (TypeError, ValueError):
        return None
