"""ConcatHistory returns the episode so far, as text, as messages, or through a chat template."""

from __future__ import annotations

import copy
import pickle

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem.errors import RegistrationError
from gem.parsing import message_text
from gem.spaces import Messages, Text
from gem.wrappers import ConcatHistory, SystemPrompt
from tests.wrappers.envs import IMAGE, AsyncScripted, MessageGame, Scripted, TextGame
from tests.wrappers.paths import Sync, play
from tests.wrappers.suite import GUESSES, WrapperSuite
from tests.wrappers.tokenizers import ADDITIVE, TEMPLATES, FakeTokenizer

MODES = ("observations", "actions", "messages", "template", "template_on_reset")
HISTORIES = sorted(ADDITIVE | {"keeps_newest_think"})


def history(env, mode="actions", template="chatml", **options):
    needs = mode.startswith("template") or "max_tokens" in options
    return ConcatHistory(env, mode, tokenizer=FakeTokenizer(template) if needs else None, **options)


class TestObservationsJoined(WrapperSuite):
    def wrap(self, env):
        return history(env, "observations")


class TestActionsBetween(WrapperSuite):
    def wrap(self, env):
        return history(env, "actions", max_chars=90)


class TestMessages(WrapperSuite):
    def wrap(self, env):
        return history(env, "messages", max_turns=2)


class TestAdditiveTemplate(WrapperSuite):
    def wrap(self, env):
        return history(env, "template", max_tokens=60)


class TestTemplateThatIsNotAdditive(WrapperSuite):
    def wrap(self, env):
        return history(env, "template", "keeps_newest_think", max_tokens=60)


class TestTemplateOnReset(WrapperSuite):
    def wrap(self, env):
        return history(env, "template_on_reset", max_turns=3)


def begin(obs, **info):
    return obs, info


def turn(obs, **info):
    return obs, 0.0, False, False, info


def message(text, role="user"):
    return {"role": role, "content": text}


def observations(path, env, actions):
    return [row[0] for row in play(path, env, actions)]


# -- the five modes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("observations", "q0\nq1\nq2"),
        ("actions", "q0\na1\nq1\na2\nq2"),
        ("messages", [message("q0"), message("a1", "assistant"), message("q1"), message("a2", "assistant"), message("q2")]),
        (
            "template",
            "<|im_start|>user\nq0<|im_end|>\n<|im_start|>assistant\na1<|im_end|>\n<|im_start|>user\nq1<|im_end|>\n"
            "<|im_start|>assistant\na2<|im_end|>\n<|im_start|>user\nq2<|im_end|>\n<|im_start|>assistant\n",
        ),
        ("template_on_reset", "<|im_start|>user\nq0<|im_end|>\n<|im_start|>assistant\n\na1\nq1\na2\nq2"),
    ],
    ids=MODES,
)
def test_each_mode_on_text(scripted, path, mode, expected):
    env = history(scripted(begin("q0"), turn("q1"), turn("q2")), mode)
    assert observations(path, env, ["a1", "a2"])[-1] == expected


def shown(text):
    return [{"role": "user", "content": [{"type": "text", "text": text}, copy.deepcopy(IMAGE)]}]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("observations", [*shown("q0"), *shown("q1")]),
        ("actions", [*shown("q0"), message("a1", "assistant"), *shown("q1")]),
        ("messages", [*shown("q0"), message("a1", "assistant"), *shown("q1")]),
        (
            "template",
            "<|im_start|>user\nq0<image><|im_end|>\n<|im_start|>assistant\na1<|im_end|>\n"
            "<|im_start|>user\nq1<image><|im_end|>\n<|im_start|>assistant\n",
        ),
        ("template_on_reset", "<|im_start|>user\nq0<image><|im_end|>\n<|im_start|>assistant\n\na1\nq1"),
    ],
    ids=MODES,
)
def test_each_mode_on_messages(scripted, path, mode, expected):
    env = history(scripted(begin(shown("q0")), turn(shown("q1")), space=Messages()), mode)
    assert observations(path, env, ["a1"])[-1] == expected


@pytest.mark.parametrize("mode", MODES)
def test_says_in_its_space_which_kind_it_returns(mode):
    assert history(TextGame(), mode).observation_space == (Messages() if mode == "messages" else Text())
    assert history(MessageGame(), mode).observation_space == (Text() if mode.startswith("template") else Messages())


@pytest.mark.parametrize("mode", MODES)
def test_everything_but_the_observation_is_the_environments(game, path, mode):
    assert [row[1:] for row in play(path, history(game(), mode), [*GUESSES])] == [row[1:] for row in play(path, game(), [*GUESSES])]


@pytest.mark.parametrize("mode", MODES)
def test_a_reset_begins_a_new_history(game, path, mode):
    env = history(game(), mode)
    assert play(path, env, ["x", "x"]) == play(path, env, ["x", "x"])


def test_the_separator_may_be_chosen(scripted, path):
    env = history(scripted(begin("q0"), turn("q1")), separator=" | ")
    assert observations(path, env, ["a1"])[-1] == "q0 | a1 | q1"


def test_an_action_given_as_a_message_keeps_all_its_fields(scripted, path):
    answer = {"content": "a1", "reasoning": "hm", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}
    env = history(scripted(begin("q0"), turn("q1")), "messages")
    assert observations(path, env, [answer])[-1] == [message("q0"), {"role": "assistant", **answer}, message("q1")]


def test_an_action_given_as_a_message_is_its_text_in_text(scripted, path):
    env = history(scripted(begin("q0"), turn("q1")), "actions")
    assert observations(path, env, [{"role": "assistant", "content": "a1", "reasoning": "hm"}])[-1] == "q0\na1\nq1"


# -- what info says ------------------------------------------------------------------------------------------------------


def test_prefix_and_suffix_are_put_around_text(scripted, path):
    env = history(scripted(begin("q0", suffix=" Go!"), turn("q1", prefix="[2] ", suffix=" Go!"), turn("q2", prefix=None)))
    assert observations(path, env, ["a1", "a2"])[-1] == "q0 Go!\na1\n[2] q1 Go!\na2\nq2"


def test_prefix_and_suffix_are_messages_around_messages(scripted, path):
    env = history(scripted(begin(shown("q0"), suffix="Go!"), turn(shown("q1"), prefix="[2]"), space=Messages()))
    assert observations(path, env, ["a1"])[-1] == [
        *shown("q0"),
        message("Go!"),
        message("a1", "assistant"),
        message("[2]"),
        *shown("q1"),
    ]


@pytest.mark.parametrize("action", ["a1 and more", {"role": "assistant", "content": "a1 and more"}], ids=["text", "message"])
def test_a_parsed_action_takes_the_place_of_the_action(scripted, path, action):
    env = history(scripted(begin("q0"), turn("q1", parsed_action="a1")))
    assert observations(path, env, [action])[-1] == "q0\na1\nq1"


def test_what_a_tool_answers_is_a_message_of_role_tool(scripted, path):
    def results():
        return begin("q0"), turn("r1", use_tool=True, parsed_action="f()"), turn("q2", use_tool=False)

    env = history(scripted(*results()), "messages")
    assert observations(path, env, ["f() and so on", "a2"])[-1] == [
        message("q0"),
        message("f()", "assistant"),
        message("r1", "tool"),
        message("a2", "assistant"),
        message("q2"),
    ]
    env = history(scripted(*results()), "template")
    assert "<|im_start|>tool\nr1<|im_end|>" in observations(path, env, ["f()", "a2"])[-1]


# -- windows -------------------------------------------------------------------------------------------------------------


def scripted_turns(n, length=2):
    return [begin("q0" * length), *[turn(f"q{k}" * length) for k in range(1, n + 1)]]


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_a_window_of_turns_keeps_the_first_observation_and_the_newest_turns(scripted, path, keep):
    env = history(scripted(*scripted_turns(5, 1)), "actions", max_turns=keep)
    last = observations(path, env, [f"a{k}" for k in range(1, 6)])[-1]
    assert last == "\n".join(["q0", *[f"a{k}\nq{k}" for k in range(6 - keep, 6)]])


@pytest.mark.parametrize("mode", MODES)
def test_a_window_of_turns_holds_in_every_mode(game, path, mode):
    env = history(game(), mode, max_turns=2)
    rows = observations(path, env, ["x"] * 6)
    text = [message_text(obs) for obs in rows]
    assert "guess a digit" in text[-1]
    assert [n for n in range(1, 7) if f"a digit! {n}" in text[-1]] == [5, 6]


@pytest.mark.parametrize("limit", [10, 14, 15, 19, 25, 1000])
def test_a_window_of_characters_holds_all_that_fits(scripted, path, limit):
    """The first observation has 4 characters, and each turn adds 2 + 1 for the action and 2 + 1 + 2 for the observation."""
    env = history(scripted(*scripted_turns(5)), "actions", max_chars=limit)
    for turns, obs in enumerate(observations(path, env, ["aa"] * 5)):
        assert obs.startswith("q0q0")
        kept = min(turns, max(1, (limit - 4) // 8)) if turns else 0
        assert obs == "\n".join(["q0q0", *[f"aa\nq{k}q{k}" for k in range(turns - kept + 1, turns + 1)]])


@pytest.mark.parametrize("unit", ["max_turns", "max_chars", "max_tokens"])
@pytest.mark.parametrize("mode", MODES)
def test_the_first_observation_and_the_newest_turn_stay_however_small_the_window(game, path, unit, mode):
    for template in ("chatml", "keeps_newest_think"):
        env = history(game(), mode, template, **{unit: 1})
        for turns, obs in enumerate(observations(path, env, ["x"] * 4)):
            text = message_text(obs)
            assert "guess a digit" in text
            assert [n for n in range(1, 5) if f"a digit! {n}" in text] == ([turns] if turns else [])


@pytest.mark.parametrize("template", HISTORIES)
@pytest.mark.parametrize("unit", ["max_chars", "max_tokens"])
def test_a_window_through_a_template_is_as_large_as_fits_the_rendered_text(game, path, template, unit):
    """Counted on the text that the model gets, thinking that the template strips left out."""
    tokenizer = FakeTokenizer(template)

    def size(text):
        return len(text) if unit == "max_chars" else len(tokenizer.encode(text, add_special_tokens=False))

    answers = [f"<think>{'hm ' * n}</think>x{n}" for n in range(8)]
    full = play(path, history(game(), "messages"), answers)
    limit = 400 if unit == "max_chars" else 150
    windowed = play(path, history(game(), "template", template, **{unit: limit}), answers)
    dropped = 0
    for turns, ((messages, *_), (obs, *_)) in enumerate(zip(full, windowed, strict=True)):
        candidates = [tokenizer.whole([messages[0], *messages[1 + 2 * gone :]]) for gone in range(dropped, max(turns, 1))]
        expected = next((text for text in candidates if size(text) <= limit), candidates[-1])
        assert obs == expected, f"turn {turns}"
        dropped += candidates.index(obs)
        assert size(obs) <= limit
    assert dropped, "the window never had to drop a turn"


def test_several_windows_hold_together(game, path):
    both = observations(path, history(game(), "actions", max_turns=4, max_chars=70), ["x"] * 8)
    by_turns = observations(path, history(game(), "actions", max_turns=4), ["x"] * 8)
    by_chars = observations(path, history(game(), "actions", max_chars=70), ["x"] * 8)
    assert [message_text(obs) for obs in both] == [min(map(message_text, pair), key=len) for pair in zip(by_turns, by_chars, strict=True)]


# -- templates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("system", [False, True], ids=["without a system message", "with a system message"])
def test_every_observation_is_what_the_template_renders_of_the_whole_conversation(path, template, system):
    answers = ["<think>up?</think>x", "y", "<think>\n</think>\n\nz", "<think>never closed", "7"]

    def build(mode):
        inner = SystemPrompt(MessageGame(), "Be brief.") if system else TextGame()
        return history(inner, mode, template)

    expected = [FakeTokenizer(template).whole(messages) for messages in observations(path, build("messages"), answers)]
    assert observations(path, build("template"), answers) == expected


@given(st.lists(st.text(alphabet="0x\n<>/", max_size=8) | st.just("<think>a</think>b"), max_size=6), st.sampled_from(sorted(TEMPLATES)))
@settings(max_examples=60, deadline=None)
def test_any_answers_render_as_the_whole_conversation_does(answers, template):
    path = Sync()
    messages = observations(path, history(TextGame(), "messages"), answers)
    expected = [FakeTokenizer(template).whole(row) for row in messages]
    assert observations(path, history(TextGame(), "template", template), answers) == expected


@pytest.mark.parametrize("template", sorted(TEMPLATES.keys() - {"no_tool"}))
@pytest.mark.parametrize("options", [{}, {"max_turns": 3}, {"max_chars": 300}], ids=str)
def test_answers_of_tools_are_rendered_as_in_the_whole_conversation(path, template, options):
    """Thinking before a tool's answer is what templates treat in the oddest ways."""
    results = [begin("q0"), turn("q1"), turn("r2", use_tool=True), turn("r3", use_tool=True), turn("q4"), turn("r5", use_tool=True)]
    answers = [f"<think>{n}</think>\n\na{n}" for n in range(5)]
    env = history(Scripted(*results), "template", template, **options)
    for turns, obs in enumerate(observations(path, env, answers)):
        messages = observations(path, history(Scripted(*results), "messages"), answers)[turns]
        rest = [messages[:1] + messages[1 + 2 * gone :] for gone in range(max(turns, 1))]
        assert obs in [FakeTokenizer(template).whole(row) for row in (rest if options else rest[:1])]


def test_a_snapshot_after_a_tools_answer_goes_on_as_the_template_does(path):
    results = [begin("q0"), turn("r1", use_tool=True), turn("q2")]
    answers = ["<think>1</think>a1", "<think>2</think>a2"]
    env = history(TextGame(), "template", "strips_think")
    whole = history(Scripted(*results), "template", "strips_think")
    path.reset(whole)
    path.step(whole, answers[0])
    env.set_own_state(whole.own_state())
    obs, *_ = env.on_step(answers[1], "q2", 0.0, False, False, {})
    assert obs == path.step(whole, answers[1])[0]


def test_a_template_that_knows_no_tools_raises_its_own_error_at_the_first_tool_answer(scripted, path):
    env = history(scripted(begin("q0"), turn("q1"), turn("r2", use_tool=True)), "template", "no_tool")
    path.reset(env)
    path.step(env, "a1")
    with pytest.raises(jinja2.TemplateError, match="roles are user and assistant"):
        path.step(env, "f()")


def rendered_chars(template, turns, **options):
    """Return how many characters the tokenizer renders in an episode of so many turns."""
    tokenizer = FakeTokenizer(template)
    env = ConcatHistory(TextGame(tries=turns + 1), "template", tokenizer=tokenizer, **options)
    tokenizer.rendered = 0
    play(Sync(), env, ["x"] * turns)
    return tokenizer.rendered


@pytest.mark.parametrize("template", sorted(ADDITIVE))
@pytest.mark.parametrize("options", [{}, {"max_turns": 50}, {"max_chars": 2000}, {"max_tokens": 500}], ids=str)
def test_an_additive_template_renders_linearly_many_characters(template, options):
    assert rendered_chars(template, 200, **options) / rendered_chars(template, 100, **options) < 2.5


def test_other_templates_are_rendered_whole_and_a_window_bounds_what_that_costs():
    name = "keeps_newest_think"
    assert rendered_chars(name, 200) / rendered_chars(name, 100) > 3
    assert rendered_chars(name, 200, max_turns=5) / rendered_chars(name, 100, max_turns=5) < 2.5


# -- nothing is shared ---------------------------------------------------------------------------------------------------


def spoil(value):
    """Change everything in a list of messages that can be changed."""
    if isinstance(value, dict):
        for item in value.values():
            spoil(item)
        value["spoilt"] = True
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.append({"role": "user", "content": "spoilt"})


@pytest.mark.parametrize("mode", ["observations", "actions", "messages"])
def test_changing_a_returned_observation_changes_no_later_one(game, path, mode):
    expected = observations(path, history(game(), mode), ["x"] * 3)
    env = history(game(), mode)
    obs, _ = path.reset(env, seed=1)
    seen = [copy.deepcopy(obs)]
    for _ in range(3):
        spoil(obs)
        obs, *_ = path.step(env, "x")
        seen.append(copy.deepcopy(obs))
    assert seen == expected


def test_changing_an_action_after_the_step_changes_no_later_observation(game, path):
    env = history(game(), "messages")
    action = {"role": "assistant", "content": [{"type": "text", "text": "x"}], "tool_calls": [{"id": "1"}]}
    kept = copy.deepcopy(action)
    path.reset(env, seed=1)
    path.step(env, action)
    spoil(action)
    obs, *_ = path.step(env, "x")
    assert obs[1] == kept


@pytest.mark.parametrize("cls", [Scripted, AsyncScripted], ids=lambda cls: cls.__name__)
def test_an_environment_that_changes_what_it_returned_changes_no_later_observation(path, cls):
    first, second = shown("q0"), shown("q1")
    env = history(cls(begin(first), turn(second), turn(shown("q2")), space=Messages()))
    path.reset(env)
    spoil(first)
    path.step(env, "a1")
    spoil(second)
    obs, *_ = path.step(env, "a2")
    assert obs == [*shown("q0"), message("a1", "assistant"), *shown("q1"), message("a2", "assistant"), *shown("q2")]


def test_changing_a_returned_observation_changes_no_snapshot(game, path):
    env = history(game(), "messages")
    path.reset(env, seed=1)
    obs, *_ = path.step(env, "x")
    state = env.get_state()
    kept = pickle.dumps(state["own"])
    spoil(obs)
    spoil(path.step(env, "x")[0])
    assert pickle.dumps(state["own"]) == kept


# -- bad arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "chat"}, "ConcatHistory has no mode 'chat'; it has observations, actions, messages, template, template_on_reset"),
        ({"mode": None}, "ConcatHistory has no mode None"),
        ({"mode": "template"}, r"ConcatHistory\(mode='template'\) needs a tokenizer: pass tokenizer="),
        ({"mode": "template_on_reset"}, r"ConcatHistory\(mode='template_on_reset'\) needs a tokenizer"),
        ({"mode": "messages", "max_tokens": 5}, r"ConcatHistory\(mode='messages'\) needs a tokenizer"),
        ({"mode": "template", "tokenizer": "gpt2"}, "the tokenizer 'gpt2' has no apply_chat_template"),
        ({"mode": "messages", "tokenizer": 3, "max_tokens": 5}, "the tokenizer 3 has no encode"),
        ({"max_turns": 0}, "max_turns must be an integer of 1 or more, not 0"),
        ({"max_chars": -1}, "max_chars must be an integer of 1 or more, not -1"),
        ({"max_chars": "100"}, "max_chars must be an integer of 1 or more, not '100'"),
        ({"max_turns": 2.0}, "max_turns must be an integer of 1 or more, not 2.0"),
        ({"max_turns": True}, "max_turns must be an integer of 1 or more, not True"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(options, said):
    with pytest.raises(RegistrationError, match=said):
        ConcatHistory(TextGame(), **options)


def test_its_window_is_not_the_environments_turn_limit():
    assert history(TextGame(), max_turns=2).max_turns is None
