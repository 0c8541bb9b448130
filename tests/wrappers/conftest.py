"""Both paths, and environments that are closed after the test."""

from __future__ import annotations

import asyncio

import pytest

from tests.wrappers.envs import FAILING, GAMES, SCRIPTED, closing
from tests.wrappers.paths import Async, Sync


@pytest.fixture(scope="session")
def foreign_loop():
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture(params=["sync", "async"])
def path(request, foreign_loop):
    return Sync() if request.param == "sync" else Async(foreign_loop)


@pytest.fixture
def both(foreign_loop):
    return Sync(), Async(foreign_loop)


@pytest.fixture(params=GAMES, ids=lambda cls: cls.__name__)
def game(request):
    """Makes the digit game: as text and as messages, sync and async."""
    yield from closing(request.param)


@pytest.fixture(params=FAILING, ids=lambda cls: cls.__name__)
def failing(request):
    """Makes the digit game that fails as its plan says."""
    yield from closing(request.param)


@pytest.fixture(params=SCRIPTED, ids=lambda cls: cls.__name__)
def scripted(request):
    """Makes an environment that returns what it is given."""
    yield from closing(request.param)
