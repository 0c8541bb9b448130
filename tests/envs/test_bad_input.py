"""Whatever comes in, every offline environment answers with a result or a typed error, and never with a wrong reward."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gem
from gem.errors import ContractError, ResetNeeded

IDS = [row.id for row in gem.list_envs(offline_only=True)]
EASY = [id for id in IDS if id.endswith(("easy", "-v0"))]
HUGE = [
    "x" * 10_000_000,
    "\\boxed{" + "9" * 10_000_000 + "}",
    "\\boxed{" * 1_400_000,
    "{" * 10_000_000,
    "\\boxed{" + "up " * 3_000_000 + "}",
]
ODD = [
    "",
    "\0",
    "\\boxed{\0}",
    "\\boxed{\ud800}",
    "\ud800\udc00",
    "\\boxed{" + "٣" * 3 + "}",
    "\\boxed{-1 -1 -1}",
    "\\boxed{1e9}",
    "\\boxed{²}",
    "\\boxed{𝟝}",
]
moves = st.one_of(
    st.text(max_size=40).map(lambda text: f"\\boxed{{{text}}}"),
    st.lists(st.integers(-3, 10**20), max_size=5).map(lambda numbers: f"\\boxed{{{' '.join(map(str, numbers))}}}"),
    st.sampled_from(ODD),
    st.text(max_size=60),
)


def check(result):
    obs, reward, terminated, truncated, info = result
    assert isinstance(obs, str)
    assert len(obs) < 20_000
    assert math.isfinite(reward)
    assert reward <= 0.0
    assert "invalid_action" in info
    assert not (terminated and truncated)
    obs.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("id", EASY)
def test_ten_megabytes_are_an_invalid_action(id):
    env = gem.make(id)
    for text in HUGE if "GuessTheNumber" in id else HUGE[1::3]:  # they share the parser; it is tried in full once
        env.reset(seed=0)
        check(env.step(text))


@pytest.mark.parametrize("id", IDS)
def test_odd_characters_are_an_invalid_action_or_a_move(id):
    env = gem.make(id)
    for text in ODD[:5]:
        env.reset(seed=0)
        check(env.step(text))


@pytest.mark.parametrize("id", EASY)
@given(actions=st.lists(moves, min_size=1, max_size=12), seed=st.integers(0, 2**63))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_play_stays_within_the_contract_and_the_rewards(id, actions, seed):
    env = gem.make(id, on_invalid="retry")
    low, high = env.env_spec.info.reward_range
    env.reset(seed=seed)
    total = 0.0
    for action in actions:
        _, reward, terminated, truncated, _ = env.step(action)
        total += reward
        if terminated or truncated:
            break
    assert low - 2.4 <= total <= high + 1e-9  # a retry costs, and there are twelve at most


@pytest.mark.parametrize("action", [None, 5, 1.5, b"bytes", ["a", "list"], object(), {"content": 5}])
def test_what_is_no_text_is_refused_with_what_to_send(action):
    env = gem.make("game:GuessTheNumber-v0")
    env.reset(seed=0)
    with pytest.raises(ContractError, match=r"an action is the model's text"):
        env.step(action)


@pytest.mark.parametrize("id", IDS)
def test_a_chat_message_is_an_action(id):
    env = gem.make(id)
    env.reset(seed=0)
    message = {"role": "assistant", "content": [{"type": "text", "text": env.oracle_action()}]}
    *_, info = env.step(message)
    assert "invalid_action" not in info


@pytest.mark.parametrize("id", EASY)
def test_a_step_out_of_turn_is_refused(id):
    env = gem.make(id)
    with pytest.raises(ResetNeeded, match=f"{id}: step before reset"):
        env.step("x")
    env.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, _ = env.step(env.oracle_action())
        over = terminated or truncated
    with pytest.raises(ResetNeeded, match="the episode is over. Call reset"):
        env.step("x")


@pytest.mark.parametrize("id", EASY)
def test_a_snapshot_of_another_environment_is_refused(id):
    env = gem.make(id)
    other = gem.make("game:GuessTheNumber-v0-hard")
    env.reset(seed=0), other.reset(seed=0)
    with pytest.raises(ContractError, match="build it with the same id and keywords"):
        env.set_state(other.get_state())
