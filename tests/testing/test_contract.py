"""Each broken environment breaks exactly the clause it names, and its good twin breaks none."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from gem.errors import ContractError
from gem.specs import EnvInfo
from gem.testing import EchoEnv, SlowEnv, check_env, find_breaches
from gem.testing.clauses import CLAUSES
from tests.data import broken_envs
from tests.data.broken_envs.counting import INFO

MODULES = sorted(name for _, name, _ in pkgutil.iter_modules(broken_envs.__path__) if name != "counting")


def load(name: str):
    return importlib.import_module(f"tests.data.broken_envs.{name}")


def info_of(cls: type) -> EnvInfo:
    return getattr(cls, "info", INFO)


def test_there_are_at_least_a_hundred_broken_environments():
    assert len(MODULES) >= 100


def test_every_clause_has_an_environment_that_breaks_it():
    assert set(CLAUSES) - {load(name).BREAKS for name in MODULES} == set()


@pytest.mark.parametrize("name", MODULES)
def test_names_exactly_the_broken_clause(name):
    module = load(name)
    assert list(find_breaches(module.Broken, info=info_of(module.Broken), episodes=50)) == [module.BREAKS]


@pytest.mark.parametrize("name", MODULES)
def test_finds_nothing_in_the_good_twin(name):
    module = load(name)
    assert find_breaches(module.Good, info=info_of(module.Good), episodes=50) == {}


def test_check_env_lists_what_is_broken():
    with pytest.raises(ContractError, match=r"1 of \d+ clauses broken(.|\n)*info_is_fresh: "):
        check_env(load("shared_info").Broken, info=INFO)


def test_a_class_declares_what_it_is_in_its_info():
    assert find_breaches(load("shared_info").Good) == {}


@pytest.mark.parametrize("fake", [EchoEnv, SlowEnv])
def test_the_fakes_that_are_not_broken_keep_the_contract(fake):
    assert find_breaches(fake, episodes=5) == {}
