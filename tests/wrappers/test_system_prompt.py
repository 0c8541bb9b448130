"""SystemPrompt puts instructions before the first observation."""

from __future__ import annotations

import copy

import pytest

from gem.errors import ContractError
from gem.wrappers import ConcatHistory, SystemPrompt
from tests.wrappers.envs import AsyncMessageGame, AsyncTextGame, MessageGame, TextGame
from tests.wrappers.paths import play
from tests.wrappers.suite import GUESSES, WrapperSuite


class TestSystemPromptIsAWrapper(WrapperSuite):
    def wrap(self, env):
        return SystemPrompt(env, "Be brief.")


@pytest.mark.parametrize("cls", [TextGame, AsyncTextGame], ids=lambda cls: cls.__name__)
def test_stands_before_text_with_a_line_between(cls, path):
    plain, _ = path.reset(cls(), seed=1)
    assert path.reset(SystemPrompt(cls(), "Be brief."), seed=1)[0] == f"Be brief.\n\n{plain}"


@pytest.mark.parametrize("cls", [MessageGame, AsyncMessageGame], ids=lambda cls: cls.__name__)
def test_is_a_system_message_before_messages(cls, path):
    plain, _ = path.reset(cls(), seed=1)
    obs, _ = path.reset(SystemPrompt(cls(), "Be brief."), seed=1)
    assert obs == [{"role": "system", "content": "Be brief."}, *plain]


def test_only_the_first_observation_of_each_episode_is_changed(game, path):
    env = SystemPrompt(game(), "Be brief.")
    for _ in range(2):
        prompted, plain = play(path, env, [*GUESSES]), play(path, game(), [*GUESSES])
        assert prompted[0][0] != plain[0][0]
        assert prompted[1:] == plain[1:]
        assert prompted[0][1] == plain[0][1]


def test_the_environments_own_messages_are_left_alone(path):
    class Keeping(MessageGame):
        def show(self, text):
            self.shown = super().show(text)
            return self.shown

    env = SystemPrompt(Keeping(), "Be brief.")
    path.reset(env, seed=1)
    assert len(env.unwrapped.shown) == 1


def test_changing_a_returned_observation_changes_no_later_prompt(game, path):
    env = SystemPrompt(game(), "Be brief.")
    obs, _ = path.reset(env, seed=1)
    kept = copy.deepcopy(obs)
    if isinstance(obs, list):
        obs[0]["content"] = "spoilt"
        obs.clear()
    assert path.reset(env, seed=1)[0] == kept


def test_the_system_message_stays_first_in_a_history(path):
    env = ConcatHistory(SystemPrompt(MessageGame(), "Be brief."), "messages", max_turns=1)
    for obs, *_ in play(path, env, ["x"] * 3):
        assert [message["role"] for message in obs][:2] == ["system", "user"]
    path.close(env)


@pytest.mark.parametrize("text", [None, 3, ["Be brief."], {"content": "Be brief."}, b"Be brief."], ids=repr)
def test_a_prompt_that_is_no_text_is_refused(text):
    with pytest.raises(ContractError, match=r"TextGame: the system prompt must be text, not "):
        SystemPrompt(TextGame(), text)
