"""A stack of wrappers plays the same episode on both paths, around sync and around async environments."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gem.wrappers import (
    ActionParser,
    ConcatHistory,
    Contract,
    EpisodeStats,
    Guarded,
    RecordEpisode,
    RewardShaping,
    SystemPrompt,
    TimeLimit,
)
from tests.wrappers.envs import TWINS
from tests.wrappers.paths import go_on, play
from tests.wrappers.suite import WrapperSuite
from tests.wrappers.test_action_parser import box, boxed_digit
from tests.wrappers.tokenizers import FakeTokenizer


def of_a_trainer(env):
    env = TimeLimit(Contract(env), 6)
    return EpisodeStats(ConcatHistory(RewardShaping(env, scale=2.0, per_turn=-0.125), "actions", max_turns=3))


def of_a_chat(env):
    env = SystemPrompt(ActionParser(Contract(env), boxed_digit, box, on_invalid={"mode": "retry", "max_retries": 2}), "Be brief.")
    return TimeLimit(ConcatHistory(env, "template", tokenizer=FakeTokenizer("keeps_newest_think"), max_chars=300), 7)


def of_a_rollout(env):
    return Guarded(RecordEpisode(EpisodeStats(ConcatHistory(Contract(env), "messages")), on_episode=[].append))


STACKS = (of_a_trainer, of_a_chat, of_a_rollout)


class TestAStackOfATrainer(WrapperSuite):
    wrap = staticmethod(of_a_trainer)


class TestAStackOfAChat(WrapperSuite):
    wrap = staticmethod(of_a_chat)


class TestAStackOfARollout(WrapperSuite):
    wrap = staticmethod(of_a_rollout)


digits = st.sampled_from("0123456789")
answers = st.one_of(
    digits,
    digits.map(box),
    st.text(max_size=5),
    digits.map(lambda digit: {"role": "assistant", "content": f"<think>hm</think>{box(digit)}"}),
    digits.map(lambda digit: {"content": [{"type": "text", "text": digit}], "reasoning": "hm"}),
)


@pytest.mark.parametrize("pair", TWINS, ids=["text", "messages"])
@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.__name__)
@given(actions=st.lists(answers, max_size=9), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_paths_of_both_kinds_of_environment_play_the_same_episode(stack, pair, both, actions, seed):
    episodes = []
    for cls in pair:
        for path in both:
            env = stack(cls())
            episodes.append(play(path, env, actions, seed=seed))
            path.close(env)
    first, *others = episodes
    assert all(other == first for other in others)


@pytest.mark.parametrize("pair", TWINS, ids=["text", "messages"])
@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.__name__)
@given(actions=st.lists(answers, min_size=1, max_size=9), cut=st.integers(0, 8))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_snapshot_at_any_turn_goes_on_as_the_episode_would(stack, pair, both, actions, cut):
    sync, other = both
    for cls in pair:
        env, twin = stack(cls()), stack(cls())
        over = any(row[2] or row[3] for row in play(sync, env, actions[:cut])[1:])
        twin.set_state(pickle.loads(pickle.dumps(env.get_state())))
        if not over:
            assert go_on(sync, env, actions[cut:]) == go_on(other, twin, actions[cut:])
        sync.close(env)
        other.close(twin)


@given(st.lists(digits.map(box), min_size=1, max_size=9))
@settings(max_examples=25, deadline=None)
def test_the_sum_of_rewards_is_the_same_wherever_it_is_counted(actions):
    episodes = []
    env = RecordEpisode(EpisodeStats(of_a_chat(TWINS[0][0]())), on_episode=episodes.append)
    env.reset(seed=1)
    total, info = 0.0, {}
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
        total += reward
        if terminated or truncated:
            break
    env.close()
    assert info["stats.return"] == total == episodes[0].reward
