"""A fault becomes a result in one shape, and errors say what they are."""

from __future__ import annotations

import json
import pickle

import pytest

from gem import errors
from gem.errors import EnvCrashed, GemError, RequestFailed, StepTimeout
from gem.faults import ErrorInfo, fault_reset, fault_step


def test_a_failed_step_is_truncated_with_the_error():
    result = fault_step("last", ValueError("boom"))
    assert result == ("last", 0.0, False, True, {"error": {"type": "ValueError", "message": "boom", "phase": "step", "retryable": False}})
    json.dumps(result[4], allow_nan=False)


def test_a_failed_reset_has_an_empty_observation():
    assert fault_reset("", OSError("no route"))[1]["error"] == {
        "type": "OSError",
        "message": "no route",
        "phase": "reset",
        "retryable": True,
    }


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (StepTimeout("x"), True),
        (EnvCrashed("x"), False),
        (RequestFailed("x", status=503, retryable=True), True),
        (RequestFailed("x", status=404), False),
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (KeyError("x"), False),
    ],
)
def test_what_may_succeed_later_is_retryable(error, retryable):
    assert ErrorInfo.of(error, "step").retryable is retryable


def test_long_and_odd_messages_are_cut_and_cleaned():
    info = ErrorInfo.of(ValueError("\ud800" + "x" * 100_000), "step")
    assert len(info.message) == 2000
    info.message.encode()


def tree(cls=GemError):
    return [cls, *(found for child in cls.__subclasses__() if child.__module__ == "gem.errors" for found in tree(child))]


def test_the_drawn_tree_is_the_real_one():
    drawn = {
        line.split()[0].lstrip("│├└─ ")
        for line in errors.__doc__.replace("│", " ").replace("├──", "").replace("└──", "").splitlines()
        if line.strip()
    }
    assert {cls.__name__ for cls in tree()} <= drawn
    assert {cls.__name__ for cls in tree()} == set(errors.__all__)


def test_errors_are_also_what_python_programs_catch():
    assert issubclass(errors.RegistrationError, ValueError)
    assert issubclass(errors.MissingDependency, ImportError)
    assert issubclass(errors.StepTimeout, TimeoutError)
    assert issubclass(errors.EnvNotFound, LookupError)


@pytest.mark.parametrize("cls", tree())
def test_errors_survive_pickle(cls):
    found = pickle.loads(pickle.dumps(cls("what, where, what to do")))
    assert type(found) is cls
    assert str(found) == "what, where, what to do"


def test_a_sandbox_may_come_back_but_not_where_there_is_none():
    assert ErrorInfo.of(errors.SandboxError("x"), "step").retryable
    assert not ErrorInfo.of(errors.SandboxUnavailable("x"), "step").retryable
