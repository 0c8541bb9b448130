"""`--chaos N`: how many faults each soak makes."""

from __future__ import annotations

import pytest

FAULTS = 200


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chaos", type=int, default=FAULTS, metavar="N", help=f"faults per soak of tests/chaos (default: {FAULTS})")


@pytest.fixture
def faults(request: pytest.FixtureRequest) -> int:
    count: int = request.config.getoption("--chaos", default=FAULTS)
    return count
