"""Both paths, and environments that are closed after the test.

A test that takes an environment and a path gets half of the combinations: each environment once, each path with text and with
messages, around a sync and around an async environment. That all of them play the same episodes is tested of every wrapper
(`suite.WrapperSuite`).
"""

from __future__ import annotations

import asyncio

import pytest

from tests.wrappers.envs import FAILING, GAMES, SCRIPTED, closing
from tests.wrappers.paths import Async, Sync

PATHS = ("sync", "async")
MAKERS = {
    "game": dict(zip(GAMES, ("sync", "async", "async", "sync"), strict=True)),
    "failing": dict(zip(FAILING, ("sync", "async", "async", "sync"), strict=True)),
    "scripted": dict(zip(SCRIPTED, ("sync", "async"), strict=True)),
}


def pytest_generate_tests(metafunc):
    maker = next((name for name in MAKERS if name in metafunc.fixturenames), None)
    names = [name for name in (maker, "path") if name in metafunc.fixturenames]
    if names == ["path"]:
        metafunc.parametrize("path", PATHS, indirect=True)
    elif names == [maker]:
        metafunc.parametrize(maker, MAKERS[maker], indirect=True, ids=lambda cls: cls.__name__)
    elif names:
        rows = MAKERS[maker].items()
        metafunc.parametrize(names, rows, indirect=True, ids=[f"{cls.__name__}-{path}" for cls, path in rows])


@pytest.fixture(scope="session")
def foreign_loop():
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def both(foreign_loop):
    """Both paths."""
    return Sync(), Async(foreign_loop)


@pytest.fixture
def path(request, both):
    """One of both paths."""
    return both[PATHS.index(request.param)]


@pytest.fixture
def game(request):
    """Makes the digit game: as text and as messages, sync and async."""
    yield from closing(request.param)


@pytest.fixture
def failing(request):
    """Makes the digit game that fails as its plan says."""
    yield from closing(request.param)


@pytest.fixture
def scripted(request):
    """Makes an environment that returns what it is given."""
    yield from closing(request.param)
