"""gem: environments for LLM agents.

`gem.make(id)` builds an environment, `env.reset()` and `env.step(action)` play it. Every public name is imported on first use.
"""

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem import errors as errors
    from gem import events as events
    from gem.core import AsyncEnv as AsyncEnv
    from gem.core import Env as Env
    from gem.core import Wrapper as Wrapper
    from gem.envs.registration import list_envs as list_envs
    from gem.envs.registration import make as make
    from gem.envs.registration import register as register
    from gem.envs.registration import spec as spec
    from gem.specs import EnvInfo as EnvInfo
    from gem.specs import EnvSpec as EnvSpec
    from gem.tasks import Task as Task
    from gem.tasks import TaskSet as TaskSet
    from gem.trajectory import Trajectory as Trajectory
    from gem.vector import Mixture as Mixture
    from gem.vector import VectorEnv as VectorEnv
    from gem.vector import make_vec as make_vec

__version__ = "0.1.0"

# A library says nothing of its own accord: who wants to hear it adds a handler.
logging.getLogger("gem").addHandler(logging.NullHandler())

_WHERE = {
    "AsyncEnv": "gem.core",
    "Env": "gem.core",
    "EnvInfo": "gem.specs",
    "EnvSpec": "gem.specs",
    "Mixture": "gem.vector",
    "Task": "gem.tasks",
    "TaskSet": "gem.tasks",
    "Trajectory": "gem.trajectory",
    "VectorEnv": "gem.vector",
    "Wrapper": "gem.core",
    "errors": "gem.errors",
    "events": "gem.events",
    "list_envs": "gem.envs.registration",
    "make": "gem.envs.registration",
    "make_vec": "gem.vector",
    "register": "gem.envs.registration",
    "spec": "gem.envs.registration",
}

__all__ = [
    "AsyncEnv",
    "Env",
    "EnvInfo",
    "EnvSpec",
    "Mixture",
    "Task",
    "TaskSet",
    "Trajectory",
    "VectorEnv",
    "Wrapper",
    "errors",
    "events",
    "list_envs",
    "make",
    "make_vec",
    "register",
    "spec",
]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'gem' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(_WHERE[name])
    value: object = module if _WHERE[name] == f"gem.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
