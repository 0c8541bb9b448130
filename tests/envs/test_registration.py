"""Ids find their environments, and what is wrong with one is said in a line."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import cloudpickle
import pytest

import gem
from gem.envs.registration import ENV_REGISTRY, make, register
from gem.errors import EnvNotFound, MissingDependency, RegistrationError
from gem.seeding import derive
from gem.specs import EnvInfo, EnvSpec, OnInvalid, WrapperSpec
from gem.wrappers import Contract, EpisodeStats, TimeLimit
from tests.core.test_env import Bare, Guess


@pytest.fixture(autouse=True)
def _unregister():
    gem.list_envs()  # the built-in ones are loaded on first use, and are not ours to remove
    before = dict(ENV_REGISTRY)
    yield
    for id in ENV_REGISTRY.keys() - before.keys():
        del ENV_REGISTRY[id]
    ENV_REGISTRY.update(before)


def test_a_class_is_registered_by_name_and_made():
    row = register("test:guess", Guess, high=5)
    assert row.entry_point == "tests.core.test_env:Guess"
    env = make("test:guess")
    assert (env.high, env.env_spec, repr(env)) == (5, row, "<Contract<Guess test:guess>>")


def test_register_is_a_decorator_too():
    @register("test:decorated", info=EnvInfo(description="x"))
    class Decorated(Bare):
        pass

    assert isinstance(make("test:decorated").unwrapped, Decorated)


def test_a_class_that_others_cannot_import_stays_live_and_travels_by_cloudpickle():
    class Local(Bare):
        pass

    row = register("test:local", Local)
    assert row.entry_point is Local
    assert cloudpickle.loads(cloudpickle.dumps(row)).id == "test:local"
    with pytest.raises(RegistrationError, match="its entry point is a live object"):
        row.to_json()


def test_specs_survive_json_and_pickle():
    row = EnvSpec(
        "a/b:c",
        "m:C",
        {"x": [1]},
        (WrapperSpec("m:W", {"k": 1}),),
        5,
        ("docker",),
        EnvInfo(tags=("t",), reward_range=(-1.0, 2.0), version=3),
    )
    assert EnvSpec.from_json(row.to_json()) == row
    assert pickle.loads(pickle.dumps(row)) == row
    later = json.loads(row.to_json()) | {"new_field": 1}
    assert EnvSpec.from_json(json.dumps(later)) == row


def test_a_second_registration_is_refused_unless_it_overrides():
    register("test:twice", Bare)
    with pytest.raises(RegistrationError, match="registered already.*override=True"):
        register("test:twice", Guess)
    register("test:twice", Guess, override=True)
    assert isinstance(make("test:twice").unwrapped, Guess)


@pytest.mark.parametrize("id", ["", "a b", "a:b:c", ":x", "x:", 5, "ä:b"])
def test_a_malformed_id_is_refused(id):
    with pytest.raises(RegistrationError, match="is not of the form"):
        register(id, Bare)


def test_an_id_of_a_scheme_is_refused():
    with pytest.raises(RegistrationError, match="built on the spot"):
        register("gymnasium:x", Bare)


@pytest.mark.parametrize("entry_point", ["nocolon", "a:", ":b", "a b:c"])
def test_a_malformed_entry_point_is_refused(entry_point):
    with pytest.raises(RegistrationError, match="not of the form 'package.module:Class'"):
        register("test:bad", entry_point)


def test_keywords_of_a_spec_must_be_json():
    with pytest.raises(RegistrationError, match="must be JSON values.*Give live objects to make"):
        register("test:live", Guess, high=object())


def test_an_unknown_id_names_the_nearest():
    with pytest.raises(
        EnvNotFound, match=r"no environment 'game:Sudku-v0-easy'. Did you mean 'game:Sudoku-v0-easy'.*python -m gem list 'game:\*'"
    ):
        make("game:Sudku-v0-easy")
    with pytest.raises(EnvNotFound, match=r"All of them: python -m gem list '\*'"):
        make("nothing:like-it")
    with pytest.raises(EnvNotFound, match="is a string"):
        make(7)


def test_an_unknown_keyword_names_the_nearest():
    register("test:guess", Guess)
    with pytest.raises(RegistrationError, match="test:guess takes no keyword 'hihg'. Did you mean 'high'"):
        make("test:guess", hihg=3)
    register("test:bare", Bare)
    with pytest.raises(RegistrationError, match="takes no keyword 'x'.*It takes: none"):
        make("test:bare", x=1)


def test_a_missing_package_names_the_line_that_installs_it():
    register("test:needs", Bare, requires=("no_such_module=no-such-package",))
    with pytest.raises(MissingDependency, match="test:needs needs no-such-package. Install it: pip install 'no-such-package'"):
        make("test:needs")


def test_a_missing_module_or_name_is_said():
    register("test:nomod", "no_such_module_xyz:Env")
    with pytest.raises(RegistrationError, match="test:nomod: no module 'no_such_module_xyz'"):
        make("test:nomod")
    register("test:noname", "tests.core.test_env:Missing")
    with pytest.raises(RegistrationError, match="has no 'Missing'"):
        make("test:noname")


def test_what_is_no_environment_is_refused():
    register("test:dict", lambda: {})
    with pytest.raises(RegistrationError, match="returned dict, which is not a gem.Env"):
        make("test:dict")


def test_wrappers_nest_from_the_inside_out():
    register("test:wrapped", Bare, wrappers=[WrapperSpec("gem.wrappers:EpisodeStats")], max_turns=3)
    env = make("test:wrapped", wrappers=[lambda inner: TimeLimit(inner, 2)])
    kinds = []
    while isinstance(env, gem.Wrapper):
        kinds.append(type(env))
        env = env.env
    assert kinds == [TimeLimit, EpisodeStats, TimeLimit, Contract]


def test_wrappers_may_be_named():
    assert isinstance(make("game:GuessTheNumber-v0", wrappers="episode_stats"), EpisodeStats)


def test_checks_can_be_left_out():
    register("test:bare", Bare)
    assert isinstance(make("test:bare", checks=False), Bare)


def test_a_limit_goes_to_the_environment_that_takes_one_and_else_truncates():
    assert make("game:GuessTheNumber-v0", max_turns=3).unwrapped.max_turns == 3
    register("test:guess", Guess)
    env = make("test:guess", max_turns=2)
    env.reset(seed=1)
    assert [env.step("x")[3], env.step("x")[3]] == [False, True]


def test_keywords_of_make_reach_the_environment():
    env = make("game:GuessTheNumber-v0", split="test", on_invalid="retry", seed=3)
    assert env.split == "test"
    assert env.on_invalid == OnInvalid("retry")
    assert env.reset()[1]["task"].startswith("test/")
    policy = {"mode": "retry", "max_retries": 1, "reward": -0.5}
    assert make("game:GuessTheNumber-v0", on_invalid=policy).on_invalid == OnInvalid(**policy)


def test_a_bad_split_or_policy_is_refused():
    with pytest.raises(gem.errors.ContractError, match="has no split 'dev'"):
        make("game:GuessTheNumber-v0", split="dev")
    with pytest.raises(RegistrationError, match="mode must be"):
        make("game:GuessTheNumber-v0", on_invalid="maybe")
    with pytest.raises(RegistrationError, match="takes mode, reward and max_retries"):
        make("game:GuessTheNumber-v0", on_invalid={"rewrd": 1})


def test_timing_is_added_only_when_asked_for():
    env = make("game:GuessTheNumber-v0", timing=True)
    assert env.reset(seed=1)[1]["timing"]["reset_s"] >= 0
    assert env.step("\\boxed{1}")[4]["timing"]["step_s"] >= 0
    assert "timing" not in make("game:GuessTheNumber-v0").reset(seed=1)[1]


def test_env_id_is_another_name_of_the_first_argument():
    assert make(env_id="game:GuessTheNumber-v0").env_spec.id == "game:GuessTheNumber-v0"
    with pytest.raises(RegistrationError, match="make needs an id"):
        make()


def test_lists_are_sorted_filtered_and_hold_no_scheme():
    ids = [row.id for row in gem.list_envs()]
    assert ids == sorted(ids)
    assert not any(id.startswith("gymnasium:") for id in ids)
    assert {row.id.split(":")[0] for row in gem.list_envs("game:*")} == {"game"}
    register("test:tagged", Bare, info=EnvInfo(tags=("t",), offline=False))
    assert [row.id for row in gem.list_envs(tags=["t"])] == ["test:tagged"]
    assert not gem.list_envs(tags=["t"], offline_only=True)


def test_listing_imports_no_environment():
    code = (
        "import sys, gem; gem.list_envs(); print([m for m in sys.modules if m.startswith('gem.envs.games.') and not m.endswith('specs')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("row", gem.list_envs(), ids=lambda row: row.id)
def test_every_built_in_spec_survives_json(row):
    assert EnvSpec.from_json(row.to_json()) == row
    assert row.info.description
    assert row.info.domain


def test_a_package_that_does_not_exist_is_said_and_nothing_to_install():
    register("test:nopackage", "no_such_package_xyz.envs:Env")
    with pytest.raises(RegistrationError, match="no module 'no_such_package_xyz' for entry point"):
        make("test:nopackage")


def test_retries_end_after_as_many_as_were_allowed():
    policy = OnInvalid("retry", max_retries=2)
    assert [policy.ends(times) for times in (1, 2, 3)] == [False, False, True]
    assert not OnInvalid("retry").ends(1000)
    assert OnInvalid("retry", max_retries=0).ends(1)


def test_seed_zero_of_make_seeds_the_resets():
    register("test:guess", Guess)
    assert make("test:guess", seed=0).reset()[1]["task"] == f"train/{derive(0, 0)}"


def test_what_make_sets_on_one_environment_is_not_set_on_the_others():
    register("test:guess", Guess)
    one, other = make("test:guess", split="test", on_invalid="retry"), make("test:guess")
    assert (one.split, other.split) == ("test", "train")
    assert (one.on_invalid.mode, other.on_invalid.mode) == ("retry", "end")


def test_keywords_given_both_ways_are_joined():
    assert register("test:both", "some.module:Env", kwargs={"a": 1, "b": 1}, b=2).kwargs == {"a": 1, "b": 2}


def test_a_factory_of_any_keywords_gets_them_and_no_turn_limit():
    register("test:factory", lambda **keywords: Guess(**keywords))
    env = make("test:factory", high=9, max_turns=1)
    assert env.high == 9
    env.reset(seed=1)
    assert env.step("x")[3] is True


def test_a_whole_number_is_a_reward_of_the_policy():
    env = make("game:GuessTheNumber-v0", on_invalid={"mode": "retry", "reward": -1})
    env.reset(seed=1)
    assert env.step("nothing")[1] == -1.0
    with pytest.raises(RegistrationError, match="reward must be a finite number"):
        OnInvalid(reward=float("nan"))


def test_two_ids_are_one_too_many():
    with pytest.raises(RegistrationError, match="was given two environments"):
        make("game:GuessTheNumber-v0", env_id="game:Sudoku-v0-easy")


def test_a_bad_level_names_the_id():
    with pytest.raises(RegistrationError, match="game:GuessTheNumber-v0: .*min_number"):
        make("game:GuessTheNumber-v0", min_number=9, max_number=3)


def test_a_callers_limit_holds_for_random_levels_too():
    env = make("game:GuessTheNumber-v0-random", max_turns=3)
    for seed in range(5):
        obs, _ = env.reset(seed=seed)
        assert env.max_turns == 3
        assert "at most 3 turns" in obs


def test_the_default_policy_stands_in_the_spec():
    assert gem.spec("game:GuessTheNumber-v0").kwargs["on_invalid"] == {"mode": "end", "reward": -0.1}
    assert make("game:GuessTheNumber-v0").on_invalid == OnInvalid("end", -0.1)


def test_equal_tasks_have_equal_hashes_however_the_environment_was_built():
    one, two = make("game:GuessTheNumber-v0"), make("game:GuessTheNumber-v0", max_number=20)
    assert one.tasks()[3].hash == two.tasks()[3].hash
    assert Guess(50).tasks()[3].hash == Guess(high=50).tasks()[3].hash != Guess(60).tasks()[3].hash


def test_a_name_may_have_a_namespace_as_gymnasiums_have():
    assert EnvSpec("gymnasium:ALE/Pong-v5", "m:C").id == "gymnasium:ALE/Pong-v5"


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"max_turns": "3"}, "max_turns must be of type int, not str '3'"),
        ({"min_number": 1.5}, "min_number must be of type int, not float 1.5"),
        ({"is_random": "yes"}, "is_random must be of type bool"),
        ({"sed": 3}, "takes no keyword 'sed'. Did you mean 'seed'"),
        ({"wrappers": EpisodeStats}, r"wrappers must be a list of wrappers, or their names.*Write wrappers=\[...\]"),
    ],
)
def test_wrong_types_are_told_by_name(keywords, said):
    with pytest.raises(RegistrationError, match=said):
        make("game:GuessTheNumber-v0", **keywords)


def test_numpy_numbers_are_numbers():
    import numpy as np

    assert make("game:GuessTheNumber-v0", max_number=np.int64(9)).unwrapped.high == 9


@pytest.mark.parametrize(
    ("id", "near"),
    [("Wordle", "game:Wordle-v0-easy"), ("wordle-v0", "game:Wordle-v0-easy"), ("games:Sudoku-v0-easy", "game:Sudoku-v0-easy")],
)
def test_a_half_remembered_id_finds_its_game(id, near):
    with pytest.raises(EnvNotFound, match=near):
        make(id)


def test_what_is_declared_must_be_an_env_info():
    with pytest.raises(RegistrationError, match="info must be an EnvInfo, not dict"):
        register("test:info", Bare, info={"offline": True})


def test_an_unknown_option_of_a_reset_is_refused():
    with pytest.raises(gem.errors.ContractError, match="reset has no option 'taks'; it takes task"):
        make("game:Sudoku-v0-easy").reset(options={"taks": "test/3"})


def test_a_limit_that_some_random_levels_cannot_keep_deals_the_others():
    env = make("game:TowerofHanoi-v0-random", max_turns=10)
    assert {env.reset(seed=seed)[0].count("disks") > 0 and env.unwrapped.max_turns for seed in range(10)} == {10}


def test_the_prompt_tells_what_an_unreadable_answer_does():
    assert "An answer without a move that can be read ends the game and pays -0.1." in make("game:Sudoku-v0-easy").reset(seed=1)[0]
    assert "can be read costs its turn" in make("game:Sudoku-v0-easy", on_invalid="retry").reset(seed=1)[0]
