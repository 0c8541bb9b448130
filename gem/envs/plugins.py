"""Environments of other packages, through the entry-point group `gem.envs`.

An entry point names a sequence of `EnvSpec` (or a mapping of them, or a function that returns one). A package that fails to
load is a warning that names it: one broken package must not take the others away.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gem.errors import RegistrationError
from gem.specs import EnvSpec

__all__ = ["GROUP", "load_all"]

GROUP = "gem.envs"


@lru_cache(maxsize=1)
def load_all() -> tuple[EnvSpec, ...]:
    """Return the specs of all installed packages that offer some; loaded once per process."""
    found: list[EnvSpec] = []
    for point in entry_points(group=GROUP):
        try:
            found += _specs(point)
        except Exception as why:
            name = point.dist.name if point.dist is not None else point.value
            told = f"the environments of package {name} could not be loaded ({type(why).__name__}: {why})"
            warnings.warn(told, RuntimeWarning, stacklevel=2)
    return tuple(found)


def _specs(point: EntryPoint) -> Iterable[EnvSpec]:
    value: Any = point.load()
    if callable(value):
        value = value()
    rows = list(value.values() if isinstance(value, Mapping) else value)
    for row in rows:
        if not isinstance(row, EnvSpec):
            raise RegistrationError(f"entry point {point.value} offers {row!r:.80}, which is not an EnvSpec")
    return rows
