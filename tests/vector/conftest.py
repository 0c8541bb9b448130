"""Vectors of the test environments, closed after each test, and nothing left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import gem
from gem.envs import registration
from gem.vector import VectorEnv, make_vec
from tests.vector import envs

BACKENDS = ("sync", "thread", "async", "process")
OWN_ID = {"sync": "test:puppet", "thread": "test:puppet", "async": "test:async", "process": "test:puppet"}


def register_ids() -> None:
    """Register the environments of these tests."""
    for id, (entry_point, info) in envs.IDS.items():
        gem.register(id, entry_point, override=True, info=gem.EnvInfo(**info))


@pytest.fixture(autouse=True)
def _own_registry() -> Iterator[None]:
    gem.list_envs()  # loads what is built in
    before = dict(registration.ENV_REGISTRY)
    register_ids()
    envs.RELEASE.clear()
    yield
    envs.RELEASE.set()
    registration.ENV_REGISTRY.clear()
    registration.ENV_REGISTRY.update(before)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=BACKENDS[:3])
def inner(request: pytest.FixtureRequest) -> str:
    """A backend of this process, for what the engine alone decides: a worker takes a third of a second to start."""
    return str(request.param)


Make = Callable[..., VectorEnv[Any, Any]]


@pytest.fixture
def make() -> Iterator[Make]:
    """Return `make_vec` with the environment that suits a backend; all it made are closed."""
    made: list[VectorEnv[Any, Any]] = []

    def build(backend: str, n: int | None = 3, ids: Any = None, **kwargs: Any) -> VectorEnv[Any, Any]:
        if backend == "process":
            kwargs.setdefault("num_workers", 1)
        kwargs.setdefault("seed", 7)
        vec = make_vec(OWN_ID[backend] if ids is None else ids, n, backend=backend, **kwargs)  # type: ignore[arg-type]
        made.append(vec)
        return vec

    yield build
    envs.RELEASE.set()
    for vec in made:
        vec.close(0.3)
