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
from tests.data.broken_envs.counting import INFO, Counting

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


def test_a_close_that_needs_a_reset_before_it_is_found():
    class Late(Counting):
        def reset(self, seed=None, options=None):
            self.log = []
            return super().reset(seed, options)

        def close(self):
            self.log.clear()

    assert list(find_breaches(Late, info=INFO, episodes=5)) == ["close_may_be_repeated"]


class Generous(load("pays_for_form").Good):
    form = 0.08  # which makes 0.76 for the oracle, and 0.64 for any digits


def test_random_play_that_earns_nearly_as_much_does_not_fall_short():
    assert list(find_breaches(Generous, info=info_of(Generous), episodes=50)) == ["random_play_falls_short"]


class Strict(Counting):
    def step(self, action):
        if isinstance(action, str) and not action.isdigit():
            raise ContractError(f"{action!r:.40} is no number")
        return super().step(action)


def test_text_may_not_be_refused_by_an_environment_that_takes_text():
    assert list(find_breaches(Strict, info=INFO, episodes=5)) == ["survives_any_text"]
