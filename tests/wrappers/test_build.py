"""build makes wrappers from names, for command lines and trainers' configurations."""

from __future__ import annotations

import inspect

import pytest

import gem.wrappers
from gem.envs.registration import make
from gem.errors import RegistrationError
from gem.specs import EnvSpec
from gem.wrappers import NAMES, ConcatHistory, EpisodeStats, RecordEpisode, RewardShaping, SystemPrompt, TimeLimit, build
from tests.wrappers.envs import TextGame
from tests.wrappers.paths import play
from tests.wrappers.tokenizers import FakeTokenizer

# what the names need, beside the environment
NEEDED = {
    "concat_chat": {"tokenizer": FakeTokenizer("chatml")},
    "concat_chat_on_reset": {"tokenizer": FakeTokenizer("chatml")},
    "system_prompt": {"text": "Be brief."},
    "time_limit": {"max_turns": 3},
}


def wrap(env, wrappers):
    for wrapper in wrappers:
        env = wrapper(env)
    return env


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_builds_a_wrapper_that_plays(name, path):
    (wrapper,) = build(name, **NEEDED.get(name, {}))
    env = wrapper(TextGame())
    assert type(env) is NAMES[name][0]
    assert len(play(path, env, ["x", "x"])) == 3
    path.close(env)


def test_the_first_name_is_innermost():
    env = wrap(TextGame(), build("time_limit,concat,episode_stats", max_turns=3))
    assert [type(layer) for layer in (env, env.env, env.env.env)] == [EpisodeStats, ConcatHistory, TimeLimit]


@pytest.mark.parametrize("names", ["concat, episode_stats", " concat ,,episode_stats, "], ids=repr)
def test_spaces_and_empty_names_do_not_matter(names):
    assert [type(wrapper(TextGame())) for wrapper in build(names)] == [ConcatHistory, EpisodeStats]


@pytest.mark.parametrize("names", ["", " , "], ids=repr)
def test_no_names_build_nothing(names):
    assert build(names) == []


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("concat", "q0\nq1"),
        ("concat_with_action", "q0\na1\nq1"),
        ("concat_chat_on_reset", "<|im_start|>user\nq0<|im_end|>\n<|im_start|>assistant\n\na1\nq1"),
    ],
)
def test_the_names_of_histories_stand_for_their_modes(scripted, path, name, last):
    (wrapper,) = build(name, **NEEDED.get(name, {}))
    env = wrapper(scripted(("q0", {}), ("q1", 0.0, False, False, {})))
    assert play(path, env, ["a1"])[-1][0] == last


def test_an_option_goes_to_every_wrapper_that_takes_it_and_to_no_other():
    limit, stats = build("time_limit,episode_stats", max_turns=2, window=7)
    assert limit(TextGame()).max_turns == 2
    assert stats(TextGame()).returns.maxlen == 7
    prompt, shaping = build("system_prompt,reward_shaping", text="Hi.", scale=2.0)
    assert isinstance(shaping(prompt(TextGame())), RewardShaping)


def test_each_wrapper_may_be_put_on_several_environments():
    (prompt,) = build("system_prompt", text="Hi.")
    one, two = prompt(TextGame()), prompt(TextGame())
    assert one.unwrapped is not two.unwrapped
    assert isinstance(two, SystemPrompt)


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(RegistrationError, match=r"no wrapper 'concatt'; there are concat, concat_chat, .*, time_limit"):
        build("episode_stats,concatt")


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        ("concat", {"tokenizr": None}, r"none of the wrappers 'concat' takes 'tokenizr'"),
        ("concat,episode_stats", {"text": "Hi."}, r"none of the wrappers 'concat,episode_stats' takes 'text'"),
        ("concat", {"mode": "actions"}, r"none of the wrappers 'concat' takes 'mode'"),
        ("guarded", {"env": 1}, r"none of the wrappers 'guarded' takes 'env'"),
        ("", {"window": 1}, r"none of the wrappers '' takes 'window'"),
    ],
    ids=str,
)
def test_an_option_that_none_takes_is_refused(names, options, said):
    with pytest.raises(RegistrationError, match=said):
        build(names, **options)


@pytest.mark.parametrize(("name", "needed"), [("time_limit", "max_turns"), ("system_prompt", "text")])
def test_an_option_that_is_missing_is_refused_at_once(name, needed):
    with pytest.raises(RegistrationError, match=f"the wrapper '{name}' needs '{needed}'"):
        build(name)


def test_a_value_that_a_wrapper_refuses_is_refused_when_it_is_put_on():
    (wrapper,) = build("concat_chat")
    with pytest.raises(RegistrationError, match="needs a tokenizer"):
        wrapper(TextGame())


def test_make_takes_names_and_what_build_returns(path, tmp_path):
    spec = EnvSpec("test:game", TextGame)
    by_name = make(spec, wrappers="concat,episode_stats")
    by_build = make(spec, wrappers=build("concat,record_episode", path=tmp_path / "e.jsonl"))
    assert (type(by_name), type(by_name.env)) == (EpisodeStats, ConcatHistory)
    assert (type(by_build), type(by_build.env)) == (RecordEpisode, ConcatHistory)
    for env in (by_name, by_build):
        play(path, env, ["x"])
        path.close(env)


def test_all_is_sorted_and_names_every_wrapper_of_the_folder():
    assert sorted(gem.wrappers.__all__, key=lambda name: (not name.isupper(), name.islower(), name)) == gem.wrappers.__all__
    wrappers = {
        name for name, value in vars(gem.wrappers).items() if inspect.isclass(value) and value.__module__.startswith("gem.wrappers.")
    }
    assert wrappers <= set(gem.wrappers.__all__)
