"""ActionParser gives the environment what it reads out of a model's text, and deals with text that it cannot read."""

from __future__ import annotations

import pytest

from gem.core import Env
from gem.errors import ContractError, RegistrationError, ResetNeeded
from gem.parsing import last_boxed
from gem.spaces import Messages, Text
from gem.specs import OnInvalid
from gem.wrappers import ActionParser, Contract, TimeLimit
from tests.wrappers.envs import MessageGame, TextGame
from tests.wrappers.paths import go_on, play, text_of
from tests.wrappers.suite import WrapperSuite

HINT = "Write it as \\boxed{7}."


def boxed_digit(text):
    inner = last_boxed(text)
    if inner is None:
        return None
    if not inner.isdigit():
        raise ValueError(f"{inner!r} is not a digit")
    return inner


def box(action):
    return f"So it is \\boxed{{{action}}}"


def parser(env, **options):
    return ActionParser(env, boxed_digit, box, HINT, **options)


class TestActionParserIsAWrapper(WrapperSuite):
    def wrap(self, env):
        return parser(env)


class TestActionParserAroundTheStackOfMake(WrapperSuite):
    def wrap(self, env):
        return parser(TimeLimit(Contract(env), 6))


def ends(episode):
    return [(terminated, truncated) for _, _, terminated, truncated, _ in episode[1:]]


def test_the_environment_gets_what_was_parsed(scripted, path):
    env = ActionParser(scripted(("begin", {}), *[("on", 0.0, False, False, {})] * 3), int)
    play(path, env, ["3", " 4 ", {"role": "assistant", "content": "5"}])
    assert env.unwrapped.actions == [3, 4, 5]


def test_plays_as_the_environment_does_with_the_parsed_actions(game, path):
    digits = [*"3781025946"]
    assert play(path, parser(game()), [box(digit) for digit in digits]) == play(path, game(), digits)


def test_text_that_is_read_as_nothing_never_reaches_the_environment(game, path):
    env = parser(game())
    path.reset(env, seed=1)
    obs, reward, terminated, truncated, info = path.step(env, "I think it is 3.")
    assert env.unwrapped.turn == 0
    assert text_of(obs) == f"Your answer could not be read: it is not in the right form. {HINT}"
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info == {"invalid_action": {"reason": "it is not in the right form", "hint": HINT}}


def test_the_reason_of_a_value_error_is_told(game, path):
    env = parser(game())
    path.reset(env, seed=1)
    obs, *_, info = path.step(env, "\\boxed{three}")
    assert text_of(obs) == f"Your answer could not be read: 'three' is not a digit. {HINT}"
    assert info["invalid_action"] == {"reason": "'three' is not a digit", "hint": HINT}


def test_a_value_error_without_a_reason_gets_one(game, path):
    def refuse(text):
        raise ValueError

    env = ActionParser(game(), refuse)
    path.reset(env, seed=1)
    obs, *_, info = path.step(env, "3")
    assert text_of(obs) == "Your answer could not be read: it is not in the right form."
    assert info["invalid_action"]["hint"] == ""


def test_any_other_error_of_parse_is_a_bug_and_passes(game, path):
    env = ActionParser(game(), lambda text: text.no_such_method())
    path.reset(env, seed=1)
    with pytest.raises(AttributeError, match="no_such_method"):
        path.step(env, "3")


def test_what_is_said_of_an_unread_answer_is_of_the_environments_kind(path):
    env = parser(MessageGame())
    path.reset(env, seed=1)
    obs, *_ = path.step(env, "hm")
    assert obs == [{"role": "user", "content": f"Your answer could not be read: it is not in the right form. {HINT}"}]
    assert Messages().contains(obs)
    path.close(env)


def test_an_action_that_reads_as_false_is_an_action(scripted, path):
    env = ActionParser(scripted(("begin", {}), ("on", 0.0, False, False, {}), ("on", 0.0, False, False, {})), lambda text: text)
    path.reset(env)
    path.step(env, "")
    env._parse = int
    path.step(env, "0")
    assert env.unwrapped.actions == ["", 0]


def test_takes_text_whatever_the_environment_takes():
    inner = TextGame()
    inner.action_space = object()
    assert parser(inner).action_space == Text()


# -- what unread text does -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["end", {"mode": "end"}, OnInvalid("end")], ids=repr)
def test_end_terminates_the_episode_as_not_won(game, path, policy):
    env = parser(game(), on_invalid=policy)
    path.reset(env, seed=1)
    _, reward, terminated, truncated, info = path.step(env, "hm")
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)


@pytest.mark.parametrize("reward", [-0.5, -1, 0])
def test_each_unread_text_is_paid_as_the_policy_says_in_floats(game, path, reward):
    env = parser(game(), on_invalid={"mode": "retry", "reward": reward})
    rewards = [row[1] for row in play(path, env, ["hm", "hm"])[1:]]
    assert rewards == [reward, reward]
    assert {type(paid) for paid in rewards} == {float}


def test_retry_goes_on_without_limit(game, path):
    assert ends(play(path, parser(game(), on_invalid="retry"), ["hm"] * 30)) == [(False, False)] * 30


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_one_more_than_the_allowed_retries_ends_the_episode(game, path, retries):
    env = parser(game(), on_invalid=OnInvalid("retry", max_retries=retries))
    assert ends(play(path, env, ["hm"] * 9)) == [(False, False)] * retries + [(True, False)]


def test_retries_are_counted_over_the_episode_and_anew_after_a_reset(game, path):
    env = parser(game(), on_invalid=OnInvalid("retry", max_retries=1))
    miss = box("x1")
    for _ in range(2):
        path.reset(env, seed=1)
        miss = box(env.unwrapped.miss())
        assert ends([None, *go_on(path, env, ["hm", miss, "hm", miss])]) == [(False, False), (False, False), (True, False)]


def test_the_environments_own_policy_holds_where_none_is_given(game, path):
    env = parser(game())
    assert not play(path, env, ["hm"])[-1][2]
    env.on_invalid = OnInvalid("end", reward=-0.25)
    assert play(path, env, ["hm"])[-1][1:3] == (-0.25, True)


def test_the_given_policy_leaves_the_environments_own_alone(game):
    env = parser(game(), on_invalid="end")
    assert env.unwrapped.on_invalid == OnInvalid("retry")


def test_a_restored_snapshot_remembers_the_retries_used(game, path):
    env = parser(game(), on_invalid=OnInvalid("retry", max_retries=1))
    path.reset(env, seed=1)
    path.step(env, "hm")
    twin = env.spawn(same_state=True)
    assert path.step(twin, "hm")[2]
    path.close(twin)


# -- before and after an episode -----------------------------------------------------------------------------------------


def test_a_step_before_reset_is_refused_whether_it_can_be_read_or_not(game, path):
    for action in ("hm", box("3")):
        with pytest.raises(ResetNeeded, match=r"Game: no episode is under way\. Call reset"):
            path.step(parser(game()), action)


def test_a_step_after_it_ended_the_episode_itself_is_refused(game, path):
    env = parser(game(), on_invalid="end")
    play(path, env, ["hm"])
    for action in ("hm", box("3")):
        with pytest.raises(ResetNeeded, match=r"Call reset before the next step"):
            path.step(env, action)
    assert env.unwrapped.turn == 0
    assert ends(play(path, env, [box("x"), "hm"]))[-1] == (True, False)


def test_a_step_after_the_environments_own_end_is_refused(game, path):
    env = parser(game(tries=1))
    path.reset(env, seed=1)
    assert path.step(env, box(env.unwrapped.miss()))[2]
    with pytest.raises(ResetNeeded):
        path.step(env, box("3"))
    with pytest.raises(ResetNeeded):
        path.step(env, "hm")


def test_a_restored_end_is_an_end(game, path):
    env = parser(game(), on_invalid="end")
    play(path, env, ["hm"])
    twin = env.spawn(same_state=True)
    with pytest.raises(ResetNeeded):
        path.step(twin, box("3"))


def test_answers_that_can_not_be_read_count_towards_the_turn_limit(game, path):
    env = parser(TimeLimit(game(), 3), on_invalid="retry")
    assert ends(play(path, env, ["hm"] * 9)) == [(False, False), (False, False), (False, True)]
    path.reset(env, seed=1)
    miss = box(env.unwrapped.miss())
    assert ends([None, *go_on(path, env, ["hm", miss, miss, miss])]) == [(False, False), (False, False), (False, True)]
    with pytest.raises(ResetNeeded):
        path.step(env, miss)


def test_a_win_or_a_loss_at_the_turn_limit_is_not_truncated(game, path):
    env = parser(TimeLimit(game(), 2), on_invalid=OnInvalid("retry", max_retries=1))
    assert ends(play(path, env, ["hm", "hm"])) == [(False, False), (True, False)]
    path.reset(env, seed=1)
    path.step(env, "hm")
    assert path.step(env, env.oracle_action())[2:4] == (True, False)


# -- outwards ------------------------------------------------------------------------------------------------------------


def test_oracle_and_random_actions_are_written_as_it_reads_them(game, path):
    env = parser(game())
    path.reset(env, seed=1)
    inner = env.unwrapped
    assert env.oracle_action() == box(inner.hidden)
    drawn = env.sample_random_action()
    env.unwrapped.seed_actions(5)
    drawn = env.sample_random_action()
    env.unwrapped.seed_actions(5)
    assert drawn == box(inner.sample_random_action())


def test_by_default_actions_are_written_with_str(path):
    class Numbers(Env):
        def oracle_action(self):
            return 7

        def sample_random_action(self):
            return (1, 2)

    env = ActionParser(Numbers(), int)
    assert (env.oracle_action(), env.sample_random_action()) == ("7", "(1, 2)")


def test_no_oracle_stays_none():
    assert ActionParser(Env(), int).oracle_action() is None


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"parse": None}, ContractError, "TextGame: parse must be a function, not NoneType None"),
        ({"parse": "int"}, ContractError, "TextGame: parse must be a function, not str 'int'"),
        ({"parse": int, "format": "{}"}, ContractError, "TextGame: format must be a function, not str '{}'"),
        ({"parse": int, "on_invalid": "maybe"}, RegistrationError, "on_invalid mode must be 'end' or 'retry', not 'maybe'"),
        ({"parse": int, "on_invalid": {"rewrd": 1}}, RegistrationError, "on_invalid takes mode, reward and max_retries"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(options, error, said):
    with pytest.raises(error) as caught:
        ActionParser(TextGame(), **options)
    assert said in str(caught.value)
