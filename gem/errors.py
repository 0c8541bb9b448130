"""Every error the library raises on purpose, in one tree.

```
GemError
├── RegistrationError      (ValueError)   a spec, id or keyword that cannot be registered or built
├── EnvNotFound            (LookupError)  no environment has that id
├── MissingDependency      (ImportError)  an optional package or program is not installed
├── DataUnavailable                       a data set, file or row cannot be loaded
├── ContractError          (RuntimeError) an environment, wrapper or caller broke the contract
│   ├── ResetNeeded                       step before reset, or after the end
│   └── SnapshotUnsupported               no snapshot of this environment can be taken or restored
├── EnvError                              an environment failed while it ran
│   ├── EnvCrashed
│   ├── StepTimeout        (TimeoutError)
│   └── WorkerDied
├── RequestFailed                         an HTTP service did not answer as asked, retries included
├── SandboxError                          the place where untrusted programs run failed
│   └── SandboxUnavailable
├── ToolError                             a tool's infrastructure failed (a model's mistake is an observation)
└── GradingError                          a grader could not decide
```

A message says what, which environment, task or slot, and what to do. `retryable` says whether the same call may succeed later.
"""

from __future__ import annotations

__all__ = [
    "ContractError",
    "DataUnavailable",
    "EnvCrashed",
    "EnvError",
    "EnvNotFound",
    "GemError",
    "GradingError",
    "MissingDependency",
    "RegistrationError",
    "RequestFailed",
    "ResetNeeded",
    "SandboxError",
    "SandboxUnavailable",
    "SnapshotUnsupported",
    "StepTimeout",
    "ToolError",
    "WorkerDied",
]


class GemError(Exception):
    """Base of all errors that gem raises on purpose."""

    retryable: bool = False


class RegistrationError(GemError, ValueError):
    """A spec, an id or a keyword cannot be registered or built."""


class EnvNotFound(GemError, LookupError):
    """No environment has that id."""


class MissingDependency(GemError, ImportError):
    """An optional package or program is not installed."""


class DataUnavailable(GemError):
    """A data set, a file or a row cannot be loaded."""


class ContractError(GemError, RuntimeError):
    """An environment, a wrapper or its caller broke the contract."""


class ResetNeeded(ContractError):
    """The episode has not begun or is over: `reset` comes first."""


class SnapshotUnsupported(ContractError):
    """The environment's state cannot be saved or restored."""


class EnvError(GemError):
    """An environment failed while it ran."""


class EnvCrashed(EnvError):
    """An environment raised, or its restarts are used up."""


class StepTimeout(EnvError, TimeoutError):
    """A step or reset outlasted its deadline."""

    retryable = True


class WorkerDied(EnvError):
    """The process that ran an environment ended."""

    retryable = True


class RequestFailed(GemError):
    """An HTTP service did not answer as asked, retries included."""

    def __init__(self, message: str, *, status: int | None = None, retryable: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable


class SandboxError(GemError):
    """The place where untrusted programs run failed."""

    retryable = True


class SandboxUnavailable(SandboxError):
    """No sandbox of the asked kind or level can be had on this machine."""

    retryable = False


class ToolError(GemError):
    """A tool's infrastructure failed; a model's mistake is an observation instead."""

    retryable = True


class GradingError(GemError):
    """A grader could not decide."""

    retryable = True
