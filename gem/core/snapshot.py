"""Exact snapshots for environments whose whole state is in their attributes."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any, cast

from gem.errors import ContractError, SnapshotUnsupported

__all__ = ["ExactSnapshot"]


# How an environment was set up, which is not part of an episode: a restored environment keeps its own.
_SET_UP = frozenset(
    ("_ctor", "_last_seed", "_root_seed", "_stream", "_unseeded", "env_spec", "on_invalid", "split", "timing"),
)


class ExactSnapshot:
    """Mix-in: exact snapshots of an environment whose whole state is in picklable attributes."""

    def get_state(self) -> Mapping[str, Any]:
        """Return a snapshot: who it is of, and the attributes as bytes.

        Raises:
            SnapshotUnsupported: an attribute cannot be pickled.
        """
        try:
            state = {name: value for name, value in cast(Any, self).__getstate__().items() if name not in _SET_UP}
            data = pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as why:
            raise SnapshotUnsupported(f"{cast(Any, self)._name}: its state cannot be pickled: {why}") from why
        return {"of": self._identity(), "data": data}

    def set_state(self, state: Any) -> None:
        """Continue from a snapshot of an environment with the same class and keywords.

        Raises:
            ContractError: `state` is no snapshot, or one of another environment.
        """
        if not isinstance(state, Mapping) or not isinstance(state.get("data"), bytes):
            raise ContractError(f"{cast(Any, self)._name}: {type(state).__name__} is not a snapshot that get_state returned")
        if state.get("of") != self._identity():
            raise ContractError(f"the snapshot is of {state.get('of')}, this is {self._identity()}: build it with the same id and keywords")
        kept = {name: value for name, value in self.__dict__.items() if name in _SET_UP or name == "_lane"}
        self.__dict__.clear()
        self.__dict__.update(pickle.loads(state["data"]), **kept)

    def _identity(self) -> str:
        shown = [f"{name}={value}" for name, value in sorted(cast(Any, self)._parameters().items())]
        return f"{type(self).__qualname__}({', '.join(shown)})"
