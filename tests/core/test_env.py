"""An environment of ten lines has seeds, tasks, an async side, snapshots and copies."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import random
import threading
import weakref

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

from gem.core import Env, ExactSnapshot
from gem.errors import ContractError, RegistrationError, SnapshotUnsupported
from gem.seeding import derive


class Guess(ExactSnapshot, Env):
    def __init__(self, high: int = 100) -> None:
        self.high = high
        self.secret = self.turn = 0

    def reset(self, seed=None, options=None):
        _, info = super().reset(seed, options)
        self.secret, self.turn = self.rng.randrange(self.high), 0
        return f"guess below {self.high}", info

    def step(self, action):
        self.turn += 1
        return f"{self.turn}: {self.rng.random():.6f}", float(action == str(self.secret)), action == str(self.secret), False, {}

    def gold(self):
        return self.secret

    def sample_random_action(self):
        return str(self.action_rng.randrange(self.high))


class Bare(Env):
    def step(self, action):
        return action, 0.0, True, False, {}


def test_an_environment_needs_no_constructor_and_no_reset():
    with Bare() as env:
        assert env.reset(seed=3) == ("", {"task": "train/3"})
        assert env.step("x") == ("x", 0.0, True, False, {})


def test_seed_and_options_may_be_positional():
    assert Guess().reset(5, None) == Guess().reset(seed=5)


def test_the_seed_alone_decides():
    one, two = Guess(), Guess()
    two.reset(seed=9)
    two.step("1")
    assert [one.reset(seed=5), one.step("3")] == [two.reset(seed=5), two.step("3")]


def test_generators_follow_the_seed_and_are_made_on_first_use():
    env = Guess()
    env.reset(seed=5)
    assert env.np_random.integers(1000) == np.random.default_rng(5).integers(1000)
    again = Guess()
    again.reset(seed=5)
    assert [env.rng.random() for _ in range(20)] == [again.rng.random() for _ in range(20)]


def test_the_global_generators_are_left_alone():
    before = random.getstate()
    env = Guess()
    env.reset()
    env.step(env.sample_random_action())
    assert random.getstate() == before


def test_sampling_actions_does_not_touch_the_episode():
    one, two = Guess(), Guess()
    one.reset(seed=1), two.reset(seed=1)
    for _ in range(10):
        one.sample_random_action()
    assert one.step("1") == two.step("1")


def test_unseeded_resets_follow_the_seed_given_to_make():
    env = Guess()
    env.seed_resets(7)
    tasks = [env.reset()[1]["task"] for _ in range(3)]
    assert tasks == [f"train/{derive(7, k)}" for k in range(3)]


def test_a_seed_given_to_reset_does_not_move_the_stream_of_make():
    env = Guess()
    env.seed_resets(7)
    env.reset()
    env.reset(seed=1)
    assert env.reset()[1]["task"] == f"train/{derive(7, 1)}"


def test_without_a_seed_of_make_unseeded_resets_follow_the_last_one_given():
    one, two = Guess(), Guess()
    one.reset(seed=4), two.reset(seed=4)
    assert [one.reset(), one.reset()] == [two.reset(), two.reset()]


def test_environments_without_any_seed_differ():
    assert len({Guess().reset()[1]["task"] for _ in range(20)}) == 20


def test_numpy_integers_are_seeds():
    assert Guess().reset(seed=np.int64(5)) == Guess().reset(seed=5)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", [1]])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(ContractError, match="seed must be"):
        Guess().reset(seed=seed)


def test_a_task_is_played_by_its_key_whatever_the_seed():
    env = Guess()
    first = env.reset(options={"task": "test/3"}), env.secret
    again = env.reset(seed=99, options={"task": "test/3"}), env.secret
    assert first == again
    assert env.task_key == "test/3"


def test_an_index_names_a_task_of_the_current_split():
    env = Guess()
    env.split = "test"
    assert env.reset(options={"index": 3})[1] == {"task": "test/3"}


@pytest.mark.parametrize("key", ["train/x", "train/-1", "validation/0", "train", 5, "train/١"])
def test_an_unknown_task_is_refused(key):
    with pytest.raises(ContractError):
        Guess().reset(options={"task": key})


def test_train_and_test_tasks_have_other_contents():
    env = Guess(high=10**9)
    train = {task.hash for task in env.tasks("train").first(50)}
    test = {task.hash for task in env.tasks("test").first(50)}
    assert len(train | test) == 100


def test_an_unknown_split_is_refused():
    with pytest.raises(ContractError, match="has no split 'dev'; it has train, test"):
        Guess().tasks("dev")


# -- copies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), lambda env: env.spawn(same_state=True)])
def test_a_copy_goes_on_with_the_episode(clone):
    env = Guess(50)
    env.reset(seed=2)
    env.step("1")
    twin = clone(env)
    assert [env.step("2"), env.sample_random_action()] == [twin.step("2"), twin.sample_random_action()]


def test_a_copy_taken_after_async_use_works():
    async def play():
        env = Guess()
        await env.areset(seed=1)
        twin = copy.deepcopy(env)
        results = await env.astep("1"), await twin.astep("1")
        await env.aclose()
        await twin.aclose()
        return results

    one, two = asyncio.run(play())
    assert one == two


def test_spawn_keeps_keywords_and_takes_overrides():
    env = Guess(high=50)
    assert env.spawn().high == 50
    assert env.spawn(high=9).high == 9
    assert env.spawn(seed=3).reset()[1]["task"] == f"train/{derive(3, 0)}"


def test_a_snapshot_of_other_keywords_is_refused():
    env, other = Guess(10), Guess(20)
    env.reset(seed=1), other.reset(seed=1)
    with pytest.raises(ContractError, match=r"snapshot is of Guess\(high=10\), this is Guess\(high=20\)"):
        other.set_state(env.get_state())


def test_an_environment_without_snapshots_says_so():
    with pytest.raises(SnapshotUnsupported, match="Bare takes no snapshots"):
        Bare().get_state()


def test_what_cannot_be_pickled_is_named():
    env = Guess()
    env.reset(seed=1)
    env.lock = threading.Lock()
    with pytest.raises(SnapshotUnsupported, match="cannot be pickled"):
        env.get_state()


# -- gymnasium ---------------------------------------------------------------------------------------------------------


def test_it_is_a_gymnasium_environment():
    assert isinstance(Bare(), gymnasium.Env)


def test_it_mixes_with_another_gymnasium_environment():
    class Lake(Env, FrozenLakeEnv):
        def __init__(self):
            Env.__init__(self)
            FrozenLakeEnv.__init__(self, is_slippery=False)

        def reset(self, seed=None, options=None):
            Env.reset(self, seed)
            obs, _ = FrozenLakeEnv.reset(self, seed=seed)
            return str(obs), {}

        def step(self, action):
            obs, reward, terminated, truncated, _ = FrozenLakeEnv.step(self, int(action))
            return str(obs), float(reward), terminated, truncated, {}

    env = Lake()
    assert env.reset(seed=3) == ("0", {})
    assert env.step("1")[0] == "4"


# -- the async side ----------------------------------------------------------------------------------------------------


def test_the_async_side_runs_on_one_thread_of_its_own():
    class Where(Bare):
        def step(self, action):
            return threading.current_thread().name, 0.0, False, False, {}

    async def play():
        async with Where() as env:
            return {(await env.astep("x"))[0] for _ in range(5)}

    [name] = asyncio.run(play())
    assert name == "gem-env-Where"


def test_closing_ends_the_thread_and_so_does_forgetting():
    def lanes():
        return [thread for thread in threading.enumerate() if thread.name == "gem-env-Bare"]

    async def play(env):
        await env.areset(seed=1)

    env = Bare()
    asyncio.run(play(env))
    [lane] = lanes()
    env.close()
    lane.join(5)
    assert not lane.is_alive()

    env = Bare()
    gone = weakref.ref(env)
    asyncio.run(play(env))
    [lane] = lanes()
    del env
    gc.collect()
    assert gone() is None
    lane.join(5)
    assert not lane.is_alive()


def test_an_exception_passes_through_the_async_side():
    class Bad(Bare):
        def step(self, action):
            raise ValueError("as asked")

    async def play():
        async with Bad() as env:
            await env.astep("x")

    with pytest.raises(ValueError, match="as asked"):
        asyncio.run(play())


def test_the_async_side_works_after_a_fork():
    env = Guess()
    asyncio.run(env.areset(seed=1))
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(asyncio.wait_for(env.areset(seed=2), 5))
            os._exit(0)
        except BaseException:
            os._exit(3)
    assert os.waitpid(child, 0)[1] == 0
    env.close()


def test_a_class_with_only_the_async_half_of_a_pair_is_refused():
    with pytest.raises(TypeError, match="Half has astep of Half and step of Env"):

        class Half(Env):
            async def astep(self, action):
                return "", 0.0, True, False, {}


# -- what nothing above would have noticed (tests/mutants) -------------------------------------------------------------


def test_seeding_the_resets_again_begins_their_stream_again():
    env = Guess()
    env.seed_resets(7)
    first = env.reset()
    env.reset()
    env.seed_resets(7)
    assert env.reset() == first


def test_zero_is_a_seed_like_any_other():
    env = Guess()
    env.seed_resets(0)
    assert env.reset()[1] == {"task": f"train/{derive(0, 0)}"}
    assert Guess().reset(seed=np.int64(0)) == Guess().reset(seed=0)


def test_a_spawned_environment_draws_from_the_same_split():
    env = Guess()
    env.split = "test"
    assert env.spawn().reset(seed=3)[1] == {"task": "test/3"}
    assert env.spawn(split="train").reset(seed=3)[1] == {"task": "train/3"}


def test_a_restored_environment_forgets_what_it_learnt_after_the_snapshot():
    env = Guess()
    env.reset(seed=1)
    state = env.get_state()
    env.noted = "later"
    env.set_state(state)
    assert not hasattr(env, "noted")


def test_a_snapshot_of_other_named_keywords_is_refused_too():
    env, other = Guess(high=10), Guess(high=20)
    env.reset(seed=1), other.reset(seed=1)
    with pytest.raises(ContractError, match=r"snapshot is of Guess\(high=10\), this is Guess\(high=20\)"):
        other.set_state(env.get_state())


def test_spawn_overrides_what_was_given_by_position():
    assert Guess(50).spawn(high=9).high == 9
    assert Guess(50).spawn(seed=1).high == 50


def test_a_method_inherited_for_one_side_only_is_refused():
    class Both(Env):
        def step(self, action):
            return "", 0.0, True, False, {}

        async def astep(self, action):
            return "", 0.0, True, False, {}

    with pytest.raises(TypeError, match="has astep of Both and step of Later"):

        class Later(Both):
            def step(self, action):
                return "other", 0.0, True, False, {}


def test_a_restored_environment_keeps_its_own_split_seeds_and_policy():
    env, other = Guess(), Guess()
    env.seed_resets(1), other.seed_resets(99)
    env.reset(), other.reset()
    other.split = "test"
    other.set_state(env.get_state())
    assert other.split == "test"
    assert other.reset()[1]["task"] == f"test/{derive(99, 1)}"


def test_a_snapshot_fits_however_the_keywords_were_written():
    env, twin = Guess(50), Guess(high=50)
    env.reset(seed=1)
    twin.set_state(env.get_state())
    assert twin.step("1") == env.step("1")


def test_spawn_refuses_what_it_does_not_know():
    with pytest.raises(ContractError, match="has no split 'tset'"):
        Guess().spawn(split="tset")
    with pytest.raises(RegistrationError, match="takes no keyword 'hihg'. Did you mean 'high'"):
        Guess().spawn(hihg=3)


def test_spawn_takes_positional_arguments_of_any_kind():
    class Words(Bare):
        def __init__(self, *words, flag=False):
            self.words, self.flag = words, flag

    twin = Words("a", "b").spawn(flag=True)
    assert (twin.words, twin.flag) == (("a", "b"), True)


def test_a_stop_iteration_is_an_error_on_both_sides_and_hangs_neither():
    class Rows(Bare):
        def step(self, action):
            return next(iter(()))

    with pytest.raises(StopIteration):
        Rows().step("x")

    async def play():
        async with Rows() as env:
            await asyncio.wait_for(env.astep("x"), 10)

    with pytest.raises(RuntimeError, match="raised StopIteration"):
        asyncio.run(play())


@pytest.mark.parametrize("seed", [np.array([1, 2]), np.array(1.5), "9" * 5000])
def test_odd_seeds_are_refused_too(seed):
    with pytest.raises(ContractError, match="seed must be"):
        Guess().reset(seed=seed)


def test_a_number_of_a_task_has_an_end():
    with pytest.raises(ContractError, match="its tasks are numbered"):
        Guess().reset(options={"task": "train/" + "9" * 5000})
