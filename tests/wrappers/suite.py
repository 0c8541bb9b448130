"""What holds for every wrapper: one class, which each wrapper's tests subclass with a `wrap`."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from gem.errors import ContractError
from tests.wrappers.envs import TWINS
from tests.wrappers.paths import Path, go_on, play

GUESSES = "37x81025946"


def actions_for(env: Any) -> list[Any]:
    """Return guesses, a bad one among them, as the wrapper takes them."""
    return [env.outward(guess) for guess in GUESSES]


def timeless(seen: list[Any]) -> list[Any]:
    """Return an episode without its wall times."""
    return [(*row[:-1], {name: value for name, value in row[-1].items() if name != "timing"}) for row in seen]


def recorded(path: Path, env: Any) -> list[Any]:
    return timeless(play(path, env, actions_for(env)))


class WrapperSuite:
    """Subclass it as `TestX` and define `wrap`, whose wrapper leaves the digit game winnable."""

    def wrap(self, env: Any) -> Any:
        raise NotImplementedError

    @pytest.fixture
    def wrapped(self, game: Any) -> Any:
        """Makes the wrapper around a digit game."""
        return lambda **kwargs: self.wrap(game(**kwargs))

    def midway(self, path: Path, wrapped: Any) -> tuple[Any, list[Any]]:
        """Return an environment after two turns, and the actions that are left."""
        env = wrapped()
        left = actions_for(env)
        path.reset(env, seed=1)
        path.step(env, left.pop(0))
        path.step(env, left.pop(0))
        return env, left

    @pytest.mark.parametrize("pair", TWINS, ids=["text", "messages"])
    def test_plays_one_and_the_same_episode_on_both_paths_of_sync_and_async_environments(self, pair, both):
        episodes = {}
        for cls in pair:
            for path in both:
                env = self.wrap(cls())
                episodes[cls.__name__, path.name] = recorded(path, env)
                path.close(env)
        first, *others = episodes.values()
        assert len(first) > 3, "the episode is too short to tell"
        assert all(other == first for other in others), episodes

    def test_observations_are_of_the_kind_that_its_space_says(self, wrapped, path):
        env = wrapped()
        for row in play(path, env, actions_for(env)):
            assert env.observation_space.contains(row[0]), row[0]

    def test_a_snapshot_midway_goes_on_exactly_in_a_fresh_stack(self, wrapped, path):
        env, left = self.midway(path, wrapped)
        state = pickle.loads(pickle.dumps(env.get_state()))
        expected = timeless(go_on(path, env, left))
        fresh = wrapped()
        fresh.set_state(state)
        assert timeless(go_on(path, fresh, left)) == expected

    def test_a_snapshot_stays_as_it_was_when_the_episode_goes_on(self, wrapped, path):
        env, left = self.midway(path, wrapped)
        state = env.get_state()
        expected = timeless(go_on(path, env, left))
        env.set_state(state)
        assert timeless(go_on(path, env, left)) == expected

    def test_a_snapshot_of_something_else_is_refused(self, wrapped):
        env = wrapped()
        env.reset(seed=1)
        for state in (None, {}, {"wrapper": "Other", "own": None, "env": None}, env.unwrapped.get_state()):
            with pytest.raises(ContractError, match="not a snapshot"):
                env.set_state(state)

    def test_the_oracle_wins_through_it(self, wrapped, path):
        env = wrapped()
        path.reset(env, seed=1)
        _, _, terminated, _, info = path.step(env, env.oracle_action())
        assert terminated
        assert info["success"] is True

    def test_random_actions_can_be_played_through_it(self, wrapped, path):
        env = wrapped()
        path.reset(env, seed=1)
        drawn = [env.sample_random_action() for _ in range(3)]
        for action in drawn:
            _, _, terminated, truncated, info = path.step(env, action)
            assert "invalid_action" not in info, action
            if terminated or truncated:
                break

    def test_random_actions_repeat_with_the_seed_and_change_nothing_in_the_episode(self, wrapped, path):
        env, twin = wrapped(), wrapped()
        assert path.reset(env, seed=1)[0] == path.reset(twin, seed=1)[0]
        drawn = [twin.sample_random_action() for _ in range(3)]
        assert [env.sample_random_action() for _ in range(3)] == drawn
        assert recorded(path, env) == recorded(path, wrapped())

    def test_spawn_makes_the_stack_anew_and_hands_keywords_to_the_environment(self, wrapped, path):
        env = wrapped()
        expected = recorded(path, env)
        twin = env.spawn()
        assert type(twin) is type(env)
        assert twin.unwrapped is not env.unwrapped
        assert recorded(path, twin) == expected
        assert env.spawn(tries=5).unwrapped.tries == 5

    def test_spawn_can_go_on_from_the_same_state(self, wrapped, path):
        env, left = self.midway(path, wrapped)
        twin = env.spawn(same_state=True)
        assert timeless(go_on(path, twin, left)) == timeless(go_on(path, env, left))

    @pytest.mark.parametrize("clone", [lambda env: pickle.loads(pickle.dumps(env)), copy.deepcopy], ids=["pickle", "deepcopy"])
    def test_a_copy_goes_on_with_the_episode(self, wrapped, path, clone):
        env, left = self.midway(path, wrapped)
        twin = clone(env)
        assert timeless(go_on(path, twin, left)) == timeless(go_on(path, env, left))

    def test_a_reset_after_an_end_begins_a_new_episode(self, wrapped, path):
        env = wrapped()
        assert recorded(path, env) == recorded(path, env)

    def test_a_task_may_be_named(self, wrapped, path):
        env = wrapped()
        _, info = path.reset(env, 5, {"task": "test/3"})
        assert (info["task"], env.task_key) == ("test/3", "test/3")

    def test_it_may_be_closed_twice_and_before_the_first_reset(self, wrapped, path):
        env = wrapped()
        path.close(env)
        path.close(env)
