"""The HTTP client against servers on this machine: well-behaved, overloaded, broken, silent and hostile ones."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import random
import socket
import struct
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem import aio
from gem.clients import http as http_module
from gem.clients.http import HttpClient, Retry
from gem.errors import GemError, RequestFailed

FAST = Retry(retries=4, first_s=0.001, longest_s=0.004)
KEY = "sk-live-0123456789abcdef"


@dataclass
class Answer:
    """What the server does with one request; `declare` promises more bytes than it sends."""

    status: int = 200
    body: bytes = b'{"ok": true}'
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    declare: int | None = None
    drip_s: float | None = None


@dataclass
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    port: int


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.seen: list[Seen] = []
        self.script: list[Answer] = []
        self.by_path: dict[str, Answer] = {}
        self.answer_all = Answer()
        self.lock = threading.Lock()
        self.active = self.most_active = 0
        self.released = threading.Event()
        self.echo = False

    def next_answer(self, seen):
        with self.lock:
            self.seen.append(seen)
            if self.echo:
                return Answer(400, json.dumps([seen.path, seen.headers]).encode())
            if seen.path in self.by_path:
                return self.by_path[seen.path]
            return self.script.pop(0) if self.script else self.answer_all

    def handle_error(self, request, client_address):
        pass  # clients go away on purpose here


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        seen = Seen(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body, self.client_address[1])
        answer = server.next_answer(seen)
        with server.lock:
            server.active += 1
            server.most_active = max(server.most_active, server.active)
        try:
            if answer.wait_s:
                server.released.wait(answer.wait_s)
            self.reply(answer)
        finally:
            with server.lock:
                server.active -= 1

    do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = do_GET

    def reply(self, answer):
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(answer.body) if answer.declare is None else answer.declare))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if answer.drip_s is None:
            self.wfile.write(answer.body)
        else:
            for byte in answer.body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                if self.server.released.wait(answer.drip_s):
                    return
        if answer.declare is not None:
            self.wfile.flush()
            self.close_connection = True


@contextmanager
def serving():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def collected():
    yield
    gc.collect()


def cuts_off_while_connecting(test):
    """httpx leaves the socket of a connection that was cancelled half-made to the garbage collector, which warns."""
    for mark in ("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"):
        test = pytest.mark.filterwarnings(mark)(test)
    return pytest.mark.usefixtures("collected")(test)


@pytest.fixture
def server():
    with serving() as found:
        yield found


@pytest.fixture
def client(server):
    client = HttpClient(server.url, retry=FAST, timeout_s=2, deadline_s=5)
    yield client
    client.close()


@contextmanager
def client_of(url="", **options):
    client = HttpClient(url, **{"retry": FAST, "timeout_s": 2, "deadline_s": 5, **options})
    try:
        yield client
    finally:
        client.close()


@contextmanager
def raw_server(respond):
    """A server below HTTP: `respond(connection, n)` handles the n-th connection, read up to its request."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connections.append(connection)
            threading.Thread(target=handle, args=(connection, len(connections)), daemon=True).start()

    def handle(connection, n):
        with connection:
            connection.recv(65536)
            respond(connection, n)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", connections
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(2)


def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def send(client, method, path="/", **kwargs):
    return aio.run(client.request(method, path, **kwargs))


def failure_of(call, *args, **kwargs):
    with pytest.raises(RequestFailed) as caught:
        call(*args, **kwargs)
    return caught.value


# -- plain requests and the pool ---------------------------------------------------------------------------------------


def test_json_and_text_come_back(server, client):
    server.script = [Answer(body=b'{"a": [1, null]}'), Answer(body="Größe".encode())]
    assert client.get_json("/a") == {"a": [1, None]}
    assert client.get_text("/b") == "Größe"


def test_paths_are_appended_to_the_base_url_and_whole_urls_replace_it(server):
    with client_of(server.url + "/v1") as client:
        client.get_json("/models")
        client.get_json("models", params={"n": 2})
        client.get_json(server.url + "/other")
    assert [row.path for row in server.seen] == ["/v1/models", "/v1/models?n=2", "/other"]


def test_one_connection_is_kept_and_used_again(server, client):
    for _ in range(10):
        client.get_json("/")
    assert len({row.port for row in server.seen}) == 1


def test_no_more_connections_than_asked_for_and_the_rest_wait(server):
    server.answer_all = Answer(wait_s=0.03)
    with client_of(server.url, max_connections=3) as client:

        async def many():
            await asyncio.gather(*(client.request("GET", "/") for _ in range(12)))

        asyncio.run(many())
    assert server.most_active == 3
    assert len({row.port for row in server.seen}) == 3


def test_waiting_for_a_connection_is_no_failed_attempt(server):
    server.answer_all = Answer(wait_s=0.15)
    with client_of(server.url, max_connections=1, timeout_s=0.4, retry=Retry(retries=0)) as client:

        async def many():
            return await asyncio.gather(*(client.request("POST", "/") for _ in range(6)))

        assert len(asyncio.run(many())) == 6
    assert len(server.seen) == 6


def test_a_connection_that_the_server_closed_while_idle_is_replaced(server, client):
    server.script = [Answer(headers={"Connection": "close"})]
    client.get_json("/")
    send(client, "POST", "/", json={})
    assert len({row.port for row in server.seen}) == 2


def test_two_hundred_requests_of_all_kinds_leak_no_descriptor(server):
    answers = [Answer(), Answer(500), Answer(404), Answer(declare=99), Answer(302, headers={"Location": "/there"}), Answer(body=b"{")]
    with client_of(server.url, retry=Retry(retries=1, first_s=0.001), max_connections=4) as client:

        def burst(n):
            server.script = [answers[k % len(answers)] for k in range(2 * n)]
            for _ in range(n):
                with suppress(RequestFailed):
                    client.get_json("/")

        burst(20)
        gc.collect()
        before = len(os.listdir("/proc/self/fd"))
        burst(200)
        gc.collect()
        # Up to 4 pooled connections, and the server's ends of those that it is about to close.
        deadline = time.monotonic() + 2
        while len(os.listdir("/proc/self/fd")) > before + 8 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(os.listdir("/proc/self/fd")) <= before + 8


def sockets_to(port):
    """How many of this process's sockets are connected to a port of this machine."""
    links = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            links.append(os.readlink(f"/proc/self/fd/{name}"))
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    return sum(row[2].endswith(f":{port:04X}") and f"socket:[{row[9]}]" in links for row in rows)


@cuts_off_while_connecting
def test_timeouts_and_cancellations_leak_no_descriptor(server):
    server.answer_all = Answer(wait_s=30)
    with client_of(server.url, retry=Retry(retries=0), timeout_s=0.02) as client:

        async def cancelled(after_s):
            task = asyncio.create_task(client.request("GET", "/"))
            await asyncio.sleep(after_s)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        async def burst(n):
            for k in range(n):
                await cancelled(0.0002 * (k % 16))
                with suppress(RequestFailed):
                    await client.request("GET", "/")

        asyncio.run(burst(40))
        # httpx leaves some open whose request was cancelled while it connected; the client gives up such a pool after a while.
        settle(lambda: sockets_to(server.server_port) < 12)
        server.answer_all = Answer()
        assert client.get_json("/", idempotent=True) == {"ok": True}
    settle(lambda: sockets_to(server.server_port) == 0)


def settle(holds):
    deadline = time.monotonic() + 2
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert holds()


@cuts_off_while_connecting
def test_cancelled_requests_never_use_up_the_connections(server):
    server.answer_all = Answer(wait_s=30)
    with client_of(server.url, max_connections=1, deadline_s=1) as client:

        async def burst(n):
            for k in range(n):
                task = asyncio.create_task(client.request("GET", "/"))
                await asyncio.sleep(0.0002 * (k % 16))
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

        asyncio.run(burst(100))
        server.answer_all = Answer()
        assert client.get_json("/") == {"ok": True}


# -- what is tried again -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_get_is_sent_again_after(server, client, status):
    server.script = [Answer(status), Answer(status)]
    assert client.get_json("/") == {"ok": True}
    assert len(server.seen) == 3


@pytest.mark.parametrize(("method", "attempts"), [("GET", 2), ("HEAD", 2), ("PUT", 2), ("DELETE", 2), ("POST", 1), ("PATCH", 1)])
def test_after_a_500_only_what_does_no_harm_twice_is_sent_again(server, client, method, attempts):
    server.script = [Answer(500)]
    if attempts == 1:
        assert failure_of(send, client, method).status == 500
    else:
        send(client, method)
    assert len(server.seen) == attempts


@pytest.mark.parametrize("status", [425, 429, 503])
def test_a_post_is_sent_again_where_the_server_has_not_acted(server, client, status):
    server.script = [Answer(status)]
    assert send(client, "POST", json={"a": 1}).status_code == 200
    assert [row.body for row in server.seen] == [b'{"a":1}'] * 2


def test_a_post_that_the_caller_calls_idempotent_is_sent_again(server, client):
    server.script = [Answer(500), Answer(declare=50)]
    assert send(client, "POST", idempotent=True).status_code == 200
    assert len(server.seen) == 3


def test_a_get_that_the_caller_calls_harmful_is_not_sent_again(server, client):
    server.script = [Answer(500)]
    failure_of(send, client, "GET", idempotent=False)
    assert len(server.seen) == 1


def test_a_post_that_was_cut_off_is_not_sent_again(server, client):
    server.script = [Answer(declare=1000)]
    assert failure_of(send, client, "POST").retryable
    assert len(server.seen) == 1


def test_a_post_that_times_out_is_not_sent_again(server):
    server.answer_all = Answer(wait_s=30)
    with client_of(server.url, timeout_s=0.2) as client:
        assert "no answer within 0.2 s (1 attempt)" in str(failure_of(send, client, "POST"))
    settle(lambda: len(server.seen) == 1)


def test_a_stream_that_was_read_is_not_sent_again(server, client):
    async def parts():
        yield b"once"

    server.script = [Answer(503)]
    assert failure_of(send, client, "POST", content=parts()).status == 503
    assert len(server.seen) == 1


def test_a_post_to_a_server_that_starts_late_is_sent_again():
    port = unused_port()
    late = []

    def start():
        late.append(Server(port))
        late[0].serve_forever(poll_interval=0.01)

    timer = threading.Timer(0.15, start)
    timer.start()
    try:
        with client_of(f"http://127.0.0.1:{port}", retry=Retry(retries=200, first_s=0.02, longest_s=0.02)) as client:
            assert send(client, "POST").status_code == 200
    finally:
        late[0].shutdown()
        late[0].server_close()
        timer.join()
    assert len(late[0].seen) == 1


def test_a_refused_connection_ends_after_the_retries_and_names_them():
    with client_of(f"http://127.0.0.1:{unused_port()}") as client:
        why = failure_of(client.get_json, "/v1/models")
    assert why.retryable
    assert why.status is None
    assert str(why).startswith(f"GET {client.base_url}/v1/models: ConnectError")
    assert str(why).endswith("(5 attempts)")


def test_no_name_no_server():
    with client_of("http://no-such-host.invalid") as client:
        assert failure_of(client.get_json, "/").retryable


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 422, 501])
def test_a_client_error_ends_it_at_once(server, client, status):
    server.script = [Answer(status, b"there is no such page")]
    why = failure_of(client.get_json, "/page")
    assert (why.status, why.retryable, len(server.seen)) == (status, False, 1)
    assert str(why) == f"GET {server.url}/page: HTTP {status} 'there is no such page' (1 attempt)"


def test_the_last_failure_is_told_with_the_number_of_attempts(server, client):
    server.answer_all = Answer(502, b"bad gateway" * 1000)
    why = failure_of(client.get_json, "/")
    assert (why.status, why.retryable, len(server.seen)) == (502, True, 5)
    assert "HTTP 502 'bad gateway" in str(why)
    assert str(why).endswith("(5 attempts)")
    assert len(str(why)) < 400


def test_a_response_cut_off_midway_is_fetched_again(server, client):
    server.script = [Answer(body=b'{"half": ', declare=100)] * 2
    assert client.get_json("/") == {"ok": True}
    assert len(server.seen) == 3


def test_a_response_that_is_always_cut_off_fails_in_words(server, client):
    server.answer_all = Answer(body=b'{"half": ', declare=100)
    assert "RemoteProtocolError" in str(failure_of(client.get_json, "/"))


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\0\xff\xfe not http\r\n\r\n",
        b"HTTP/1.1 999999 Nope\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\noops",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000,
    ],
    ids=["nothing", "noise", "status", "length", "header", "chunk", "gzip", "endless-header"],
)
def test_nonsense_from_the_server_is_a_request_failed(reply):
    def respond(connection, n):
        connection.sendall(reply)

    with raw_server(respond) as (url, _), client_of(url, retry=Retry(1, 0.001)) as client:
        assert failure_of(client.get_json, "/").status is None


def test_a_reset_connection_is_tried_again():
    def respond(connection, n):
        if n == 1:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]")

    with raw_server(respond) as (url, connections), client_of(url) as client:
        assert client.get_json("/") == []
        assert len(connections) == 2


# -- Retry-After and jitter --------------------------------------------------------------------------------------------


def test_the_wait_that_the_server_asks_for_in_seconds_is_kept(server, client):
    server.script = [Answer(429, headers={"Retry-After": "1"})]
    start = time.monotonic()
    assert client.get_json("/") == {"ok": True}
    assert 1.0 <= time.monotonic() - start < 4


def test_the_wait_that_the_server_asks_for_as_a_date_is_kept(server, client):
    server.script = [Answer(503, headers={"Retry-After": formatdate(time.time() + 2, usegmt=True)})]
    start = time.monotonic()
    assert send(client, "POST").status_code == 200
    assert 0.9 <= time.monotonic() - start < 5  # dates have whole seconds


@pytest.mark.parametrize(
    "value",
    [
        "0",
        "-5",
        "-0",
        "1.5e0x",
        "",
        "soon",
        "٣",
        "nan",
        "inf",
        "1e3",
        formatdate(0, usegmt=True),
        formatdate(-2e9, usegmt=True),
        "Mon, 32 Foo 2020 99:99:99 GMT",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 0001 00:00:00 +9999",
        "Mon, 01 Jan 0001 00:00:00",
    ],
)
def test_a_strange_or_past_retry_after_is_no_wait(server, client, value):
    server.script = [Answer(503, headers={"Retry-After": value.encode("utf-8").decode("latin-1")})]
    start = time.monotonic()
    assert client.get_json("/") == {"ok": True}
    assert time.monotonic() - start < 3


@pytest.mark.parametrize(
    "value",
    ["100000", "9" * 5000, "00000000000000000000000000000000000000100", formatdate(4e9, usegmt=True), "Fri, 31 Dec 9999 23:59:59 GMT"],
    ids=["large", "huge", "zeros", "2096", "9999"],
)
def test_a_wait_beyond_the_deadline_is_not_begun(server, value):
    server.answer_all = Answer(503, headers={"Retry-After": value})
    start = time.monotonic()
    with client_of(server.url, deadline_s=0.5) as client:
        why = failure_of(client.get_json, "/")
    assert time.monotonic() - start < 3
    assert why.status == 503
    if value[0] != "0":
        assert len(server.seen) == 1


@given(value=st.text(max_size=40), attempt=st.integers(0, 10**6))
def test_whatever_retry_after_says_it_is_read_or_passed_over(value, attempt):
    response = httpx.Response(503, headers=[(b"retry-after", value.encode("utf-8"))])
    wait = http_module._retry_after(response)
    assert wait is None or wait >= 0


@given(
    attempt=st.integers(0, 100_000),
    first=st.floats(0, 100, allow_nan=False),
    longest=st.floats(0, 100, allow_nan=False),
    seed=st.integers(0, 9),
)
def test_jitter_lies_between_nothing_and_the_backoff(attempt, first, longest, seed):
    wait = Retry(first_s=first, longest_s=longest).delay(attempt, None, random.Random(seed))
    assert 0 <= wait <= min(first * 2.0 ** min(attempt, 1000), longest) * (1 + 1e-12)


def test_jitter_differs_between_clients():
    waits = {HttpClient().retry.delay(3, None, HttpClient()._rng) for _ in range(20)}
    assert len(waits) == 20


# -- deadlines ---------------------------------------------------------------------------------------------------------


def elapsed(call, *args, **kwargs):
    start = time.monotonic()
    why = failure_of(call, *args, **kwargs)
    return time.monotonic() - start, why


def test_a_server_that_never_answers_takes_an_attempt_each(server):
    server.answer_all = Answer(wait_s=30)
    with client_of(server.url, timeout_s=0.1, retry=Retry(2, 0.001)) as client:
        took, why = elapsed(client.get_json, "/slow?api_key=" + KEY)
    assert 0.3 <= took < 3
    assert str(why) == f"GET {server.url}/slow: no answer within 0.1 s (3 attempts)"
    assert why.retryable


def test_the_deadline_holds_over_attempts_and_waits(server):
    server.answer_all = Answer(wait_s=30)
    with client_of(server.url, timeout_s=0.15, deadline_s=0.5, retry=Retry(1000, 0.05, 0.05)) as client:
        took, _ = elapsed(client.get_json, "/")
    assert took < 3
    assert len(server.seen) <= 5


def test_the_deadline_cuts_an_attempt_that_may_take_longer(server):
    server.answer_all = Answer(wait_s=30)
    with client_of(server.url, timeout_s=30, deadline_s=0.2) as client:
        took, why = elapsed(client.get_json, "/")
    assert took < 3
    assert "no answer within 0." in str(why)


def test_a_server_that_drips_a_byte_at_a_time_is_an_attempt_that_times_out(server):
    server.answer_all = Answer(body=b"x" * 1000, drip_s=0.03)
    with client_of(server.url, timeout_s=0.2, deadline_s=10, retry=Retry(1, 0.001)) as client:
        took, why = elapsed(client.get_text, "/")
    assert took < 4
    settle(lambda: len(server.seen) == 2)
    assert why.retryable


def test_a_deadline_holds_while_all_connections_are_taken(server):
    server.answer_all = Answer(wait_s=30)
    with client_of(server.url, max_connections=1, timeout_s=30, deadline_s=0.3, retry=Retry(0)) as client:

        async def both():
            return await asyncio.gather(client.request("GET", "/a"), client.request("GET", "/b"), return_exceptions=True)

        start = time.monotonic()
        found = asyncio.run(both())
        assert time.monotonic() - start < 3
    assert all(isinstance(why, RequestFailed) for why in found)


def test_a_post_that_cannot_even_connect_in_time_is_sent_again():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    fillers = []
    try:
        for _ in range(4):  # until its backlog is full, and the kernel drops further connections
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
            fillers.append(filler)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with client_of(url, timeout_s=0.2, deadline_s=5, retry=Retry(2, 0.001)) as client:
            why = failure_of(send, client, "POST")
        assert "ConnectTimeout" in str(why)
        assert str(why).endswith("(3 attempts)")
    finally:
        for each in (*fillers, listener):
            each.close()


# -- bodies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>login</html>", b'{"a": ', b"\xff\xfe\xfa", b"[" * 100_000, b"1" * 10_000, b'{"a": 1} x'],
    ids=["empty", "html", "half", "bytes", "deep", "long-number", "tail"],
)
def test_what_is_not_json_is_told_with_its_beginning(server, client, body):
    server.script = [Answer(body=body)]
    why = failure_of(client.get_json, "/data?token=" + KEY)
    assert str(why).startswith(f"GET {server.url}/data answered with what is not JSON: ")
    assert len(str(why)) < 1500
    assert KEY not in str(why)
    assert len(server.seen) == 1


@pytest.mark.parametrize("charset", ["hex", "zlib", "rot13", "base64", "no-such", "utf-16", "idna", "undefined"])
@pytest.mark.parametrize("status", [200, 404])
def test_a_charset_that_is_none_does_not_crash(server, client, charset, status):
    server.script = [Answer(status, b"plain", {"Content-Type": f"text/plain; charset={charset}"})]
    if status == 200:
        assert isinstance(client.get_text("/"), str)
    else:
        assert failure_of(client.get_text, "/").status == 404


def test_text_that_utf8_cannot_hold_is_told_and_not_a_crash(server, client):
    why = failure_of(send, client, "POST", json={"text": "\ud800"})
    assert "can't be sent" in str(why)
    assert server.seen == []


# -- redirects ---------------------------------------------------------------------------------------------------------


def test_redirects_are_followed(server, client):
    server.by_path = {"/a": Answer(302, headers={"Location": "/b"}), "/b": Answer(307, headers={"Location": server.url + "/c"})}
    assert send(client, "GET", "/a").url.path == "/c"
    assert [row.path for row in server.seen] == ["/a", "/b", "/c"]


def test_a_circle_of_redirects_ends_in_words(server, client):
    server.answer_all = Answer(302, headers={"Location": "/round"})
    assert "TooManyRedirects" in str(failure_of(client.get_json, "/round"))
    assert len(server.seen) < 50


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/x", "file:///etc/passwd", "javascript:1", "http://[", "//", "http://x:99999/"])
def test_a_redirect_to_what_is_no_http_fails(server, client, target):
    server.answer_all = Answer(302, headers={"Location": target})
    failure_of(client.get_json, "/")


def test_keys_stay_with_the_server_they_are_for(server):
    with serving() as other:
        server.by_path = {"/away": Answer(307, headers={"Location": f"http://localhost:{other.server_port}/there"})}
        headers = {"X-Api-Key": KEY, "Authorization": f"Bearer {KEY}", "User-Agent": "gem-test"}
        with client_of(server.url, headers=headers) as client:
            send(client, "POST", "/away", headers={"X-Other-Key": KEY}, json={"a": 1})
            send(client, "GET", "/here")
    assert KEY not in json.dumps(other.seen[0].headers)
    assert other.seen[0].headers["user-agent"] == "gem-test"
    assert other.seen[0].body == b'{"a":1}'
    assert server.seen[-1].headers["x-api-key"] == KEY


def test_keys_stay_through_a_redirect_of_the_same_server(server):
    server.by_path = {"/a": Answer(302, headers={"Location": "/b"})}
    with client_of(server.url, headers={"X-Api-Key": KEY}) as client:
        client.get_json("/a")
    assert server.seen[-1].path == "/b"
    assert server.seen[-1].headers["x-api-key"] == KEY


# -- keys --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def logged():
    """All that any logger says, at the finest level."""
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append(f"{record.name} {record.getMessage()}")
            if record.exc_info:
                lines.append(logging.Formatter().formatException(record.exc_info))

    handler = Keep(level=0)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(0)
    yield lines
    root.removeHandler(handler)
    root.setLevel(level)


FAULTS = {
    "error": Answer(400, b"no"),
    "retried": Answer(500, b"no"),
    "slow": Answer(wait_s=30),
    "cut": Answer(declare=99),
    "json": Answer(body=b"<"),
    "moved": Answer(302, headers={"Location": "/x?api_key=" + KEY}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_keys_are_in_no_error_and_in_no_log(server, logged, fault):
    server.answer_all = FAULTS[fault]
    host = server.url.removeprefix("http://")
    with client_of(f"http://user:{KEY}@{host}", headers={"X-Api-Key": KEY}, timeout_s=0.05, retry=Retry(1, 0.001)) as client:
        why = failure_of(client.get_json, "/path?api_key=" + KEY, params={"token": KEY}, headers={"Authorization": f"Bearer {KEY}"})
    assert KEY not in str(why)
    assert "user" not in str(why)
    assert KEY not in "\n".join(logged)


def test_keys_that_the_server_repeats_are_cut_out(server):
    server.echo = True
    host = server.url.removeprefix("http://")
    with client_of(f"http://me:{KEY}-p@{host}", headers={"X-Api-Key": KEY + "-h"}) as client:
        text = str(failure_of(client.get_json, "/path", params={"access_token": KEY + "-q", "page": "Mississippi"}))
    assert "HTTP 400" in text
    assert "Mississippi" in text
    assert KEY not in text
    assert "***" in text


def test_a_key_that_no_header_can_hold_is_not_quoted(server, logged):
    for bad in (KEY + "\n", f"Bearer {KEY}\r\nX: y", "“" + KEY):
        with client_of(server.url, headers={"Authorization": bad}) as client:
            why = failure_of(client.get_json, "/")
        assert KEY not in str(why)
        assert "characters in its headers" in str(why)
        assert "(1 attempt)" in str(why)
    assert KEY not in "\n".join(logged)


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://u:sk-live-0123456789abcdef/x@host/", "ftp://u:sk-live-0123456789abcdef@h/", "http://a\0b/", "", "nope"]
)
def test_a_url_that_is_none_fails_at_once_in_words(url, logged):
    with client_of() as client:
        start = time.monotonic()
        why = failure_of(client.get_json, url)
        assert time.monotonic() - start < 3
    assert "(1 attempt)" in str(why)
    assert KEY not in str(why)
    assert KEY not in "\n".join(logged)


def test_the_lines_of_other_users_of_httpx_stay(server, client, logged):
    client.get_json("/ours")
    with httpx.Client() as other:
        other.get(server.url + "/theirs")
    lines = [line for line in logged if line.startswith("httpx ")]
    assert len(lines) == 1
    assert "/theirs" in lines[0]


def test_an_awaiter_on_the_home_loop_keeps_its_own_httpx_lines(server, client, logged):
    async def both():
        await client.request("GET", "/ours")
        async with httpx.AsyncClient() as other:
            await other.get(server.url + "/theirs")

    aio.run(both())
    assert [line for line in logged if line.startswith("httpx ") and "/theirs" in line]


# -- loops, threads, forks ---------------------------------------------------------------------------------------------


def test_thirty_threads_share_a_client(server, client):
    with ThreadPoolExecutor(30) as pool:
        assert list(pool.map(lambda k: client.get_json(f"/{k}"), range(120))) == [{"ok": True}] * 120
    assert sorted(row.path for row in server.seen) == sorted(f"/{k}" for k in range(120))


def test_two_loops_in_a_row_share_the_pool(server, client):
    async def fetch():
        return await client.aget_json("/")

    assert asyncio.run(fetch()) == asyncio.run(fetch()) == {"ok": True}
    assert len({row.port for row in server.seen}) == 1


def test_sync_calls_work_inside_a_running_loop(server, client):
    async def main():
        return client.get_json("/"), await client.aget_json("/"), client.get_text("/")

    assert asyncio.run(main())[0] == {"ok": True}


def test_awaiting_on_the_home_loop_works_and_waiting_there_is_refused(server, client):
    async def main():
        with pytest.raises(GemError, match="would wait for itself"):
            client.get_json("/")
        return await client.aget_json("/")

    assert aio.run(main()) == {"ok": True}


def test_cancelling_the_caller_ends_the_request(server, client):
    server.answer_all = Answer(wait_s=30)

    async def main():
        task = asyncio.create_task(client.aget_json("/"))
        while not server.seen:
            await asyncio.sleep(0.005)
        task.cancel()
        start = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - start

    assert asyncio.run(main()) < 3
    time.sleep(0.05)
    assert len(server.seen) == 1
    server.answer_all = Answer()
    assert client.get_json("/") == {"ok": True}


def test_cancelling_between_attempts_sends_no_more(server):
    server.answer_all = Answer(503, headers={"Retry-After": "1"})
    with client_of(server.url) as client:

        async def main():
            task = asyncio.create_task(client.aget_json("/"))
            while not server.seen:
                await asyncio.sleep(0.005)
            await asyncio.sleep(0.02)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await asyncio.sleep(1.1)

        asyncio.run(main())
    assert len(server.seen) == 1


def test_cancelled_waiters_give_their_connection_back(server):
    server.answer_all = Answer(wait_s=0.05)
    with client_of(server.url, max_connections=1) as client:

        async def main():
            tasks = [asyncio.create_task(client.aget_json(f"/{k}")) for k in range(8)]
            await asyncio.sleep(0.02)
            for task in tasks[::2]:
                task.cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

        found = asyncio.run(main())
    assert [row for row in found if isinstance(row, dict)] == [{"ok": True}] * 4


def test_a_forked_child_has_connections_of_its_own(server, client):
    client.get_json("/parent")
    child = os.fork()
    if child == 0:
        threading.Timer(5, os._exit, (4,)).start()
        try:
            fine = client.get_json("/child") == {"ok": True} and client.get_json("/child") == {"ok": True}
            client.close()
            os._exit(0 if fine else 2)
        except BaseException:
            os._exit(3)
    assert os.waitpid(child, 0)[1] == 0
    assert client.get_json("/parent") == {"ok": True}
    ports = {path: {row.port for row in server.seen if row.path == path} for path in ("/parent", "/child")}
    assert len(ports["/parent"]) == len(ports["/child"]) == 1
    assert not ports["/parent"] & ports["/child"]


def python(code):
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30)


def test_a_program_that_forks_and_never_closes_ends_quietly(server):
    done = python(f"""
        import gc, os
        from gem.clients.http import HttpClient
        client = HttpClient({server.url!r})
        client.get_json("/")
        child = os.fork()
        if child == 0:
            client.get_json("/")
            gc.collect()
            raise SystemExit(0)
        print(os.waitpid(child, 0)[1], client.get_json("/"))
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 {'ok': True}\n", "")


def test_close_may_be_called_often_and_a_later_request_opens_it_again(server, client):
    client.close()
    client.get_json("/")
    client.close()
    client.close()
    assert client.get_json("/") == {"ok": True}
    assert len({row.port for row in server.seen}) == 2
    asyncio.run(client.aclose())
    asyncio.run(client.aclose())


def test_closing_with_a_request_under_way_ends_it_with_an_error_or_its_answer(server):
    server.answer_all = Answer(wait_s=0.1)
    with client_of(server.url) as client:

        async def main():
            task = asyncio.create_task(client.aget_json("/"))
            while not server.seen:
                await asyncio.sleep(0.005)
            await client.aclose()
            return await asyncio.gather(task, return_exceptions=True)

        (found,) = asyncio.run(main())
    assert found == {"ok": True} or isinstance(found, RequestFailed)


def test_settings_give_the_limits_that_the_caller_does_not():
    from gem.config import Settings

    config = Settings.from_environ({"GEM_HTTP_TIMEOUT": "3", "GEM_HTTP_DEADLINE": "7", "GEM_HTTP_RETRIES": "2"})
    client = HttpClient(config=config)
    assert (client._timeout_s, client.deadline_s, client.retry.retries) == (3.0, 7.0, 2)
    assert HttpClient(config=config, deadline_s=1).deadline_s == 1


def test_no_retries_means_one_attempt(server):
    server.answer_all = Answer(500)
    with client_of(server.url, retry=Retry(retries=0)) as client:
        assert "(1 attempt)" in str(failure_of(client.get_json, "/"))
    assert len(server.seen) == 1
