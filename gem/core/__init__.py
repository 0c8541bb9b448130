"""The contract: what an environment and a wrapper are, for those who write one and those who use one.

`env` has `Env`, which needs no `__init__`; `async_env` the same written with coroutines; `wrapper` one body for both paths;
`snapshot` a mix-in. The registry is upstairs (`gem.envs.registration`), concrete wrappers are in `gem.wrappers`.
"""

from gem.core.async_env import AsyncEnv
from gem.core.env import Env, Info, StepResult
from gem.core.snapshot import ExactSnapshot
from gem.core.wrapper import Flow, Wrapper

__all__ = ["AsyncEnv", "Env", "ExactSnapshot", "Flow", "Info", "StepResult", "Wrapper"]
