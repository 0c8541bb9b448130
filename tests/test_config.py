"""Settings come from GEM_* variables, once, and say where they come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from gem.config import Settings
from gem.errors import GemError


def test_defaults_hold_without_variables():
    assert Settings.from_environ({"HOME": "/x"}) == Settings()
    assert Settings().origins == {}


def test_a_variable_sets_its_field_and_is_named_as_its_origin():
    found = Settings.from_environ({"GEM_RUNS_DIR": "/data/runs", "GEM_PLUGINS": "0", "GEM_HTTP_RETRIES": "2", "GEM_HTTP_TIMEOUT": "1.5"})
    assert (found.runs_dir, found.plugins, found.http_retries, found.http_timeout_s) == (Path("/data/runs"), False, 2, 1.5)
    assert found.origins["runs_dir"] == "GEM_RUNS_DIR"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GEM_PLUGINS", "maybe"),
        ("GEM_HTTP_RETRIES", "-1"),
        ("GEM_HTTP_RETRIES", "x"),
        ("GEM_HTTP_TIMEOUT", "0"),
        ("GEM_HTTP_DEADLINE", "inf"),
    ],
)
def test_a_value_that_cannot_be_read_is_named(variable, value):
    with pytest.raises(GemError, match=f"{variable}='{value}' cannot be read"):
        Settings.from_environ({variable: value})


def test_settings_are_frozen():
    with pytest.raises(AttributeError):
        Settings().plugins = False


def test_no_retries_may_be_asked_for():
    assert Settings.from_environ({"GEM_HTTP_RETRIES": "0"}).http_retries == 0


@pytest.mark.parametrize(
    ("value", "plugins"),
    [("1", True), ("TRUE", True), ("yes", True), ("On", True), ("0", False), ("False", False), ("NO", False), ("off", False), ("", False)],
)
def test_a_flag_may_be_written_in_many_ways(value, plugins):
    assert Settings.from_environ({"GEM_PLUGINS": value}).plugins is plugins
