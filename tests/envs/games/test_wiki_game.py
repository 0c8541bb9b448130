"""WikiGame over the embedded encyclopedia."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.errors import DataUnavailable, RegistrationError

LEVELS = ["easy", "hard", "random"]
VARIANTS = ["noregrets", "oneback", "freenav", "eidetic"]


def make(level="easy", **kwargs):
    return gem.make(f"game:WikiGame-v0-{level}", **kwargs)


def boxed(move):
    return f"\\boxed{{{move}}}"


def win(env):
    """Play the oracle's moves to the end; return the rewards, the last result and the observations."""
    rewards, seen = [], []
    while True:
        result = env.step(env.oracle_action())
        rewards.append(result[1])
        seen.append(result[0])
        if result[2] or result[3]:
            return rewards, result, seen


@pytest.mark.parametrize("level", LEVELS)
def test_the_oracle_wins_by_a_shortest_way(level):
    env = make(level)
    low, high = env.env_spec.info.reward_range
    for seed in range(60):
        env.reset(seed=seed)
        game = env.unwrapped
        clicks = len(game.gold())
        rewards, (_, _, terminated, truncated, info), _ = win(env)
        assert (terminated, truncated, info["success"]) == (True, False, True)
        assert len(rewards) == clicks == info["metrics"]["turns"] <= game.max_turns
        assert game.min_clicks <= clicks <= game.max_clicks
        assert rewards == [-0.05] * (clicks - 1) + [1.0]
        assert low <= sum(rewards) <= high + 1e-9


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_oracle_wins_after_other_moves(level, variant):
    env = make(level, variant=variant)
    for seed in range(10):
        env.reset(seed=seed)
        ended = False
        for _ in range(3):
            _, _, ended, _, _ = env.step(env.sample_random_action())
            if ended:
                break
        if not ended and len(env.unwrapped.source.way(env.unwrapped.here, env.unwrapped.target)) <= env.unwrapped.max_turns - 3:
            assert win(env)[1][4]["success"]


@pytest.mark.parametrize(("level", "most"), [("easy", 0.5), ("hard", 0.2)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_random_play_rarely_wins_and_earns_far_less_than_the_oracle(level, most, variant):
    env = make(level, variant=variant)
    low, _ = env.env_spec.info.reward_range
    wins, total, best = 0, 0.0, 0.0
    for seed in range(200):
        env.reset(seed=seed)
        best += 1 - 0.05 * (len(env.unwrapped.gold()) - 1)
        earned = 0.0
        while True:
            _, reward, terminated, _, info = env.step(env.sample_random_action())
            earned += reward
            assert "invalid_action" not in info
            if terminated:
                break
        assert earned >= low
        wins += info["success"]
        total += earned
    assert wins / 200 <= most
    assert total / 200 <= best / 200 - 0.2


def test_the_worst_play_earns_the_declared_least():
    for level in ("easy", "hard"):
        env = make(level)
        env.reset(seed=0)
        earned, terminated = 0.0, False
        while not terminated:
            _, reward, terminated, _, info = env.step(boxed("No page of that name"))
            earned += reward
        assert earned == pytest.approx(env.env_spec.info.reward_range[0])
        assert info["success"] is False


def test_the_observation_is_enough_to_play():
    env = make()
    seen, _ = env.reset(seed=3)
    game = env.unwrapped
    for _ in range(5):
        for part in (game.page.title, game.page.text, game.target, game._about, "Turns left", "Path so far"):
            assert part in seen
        assert all(f"- {title}\n" in seen for title in game.page.links)
        assert f"Turns left: {game.max_turns - game.turn}" in seen
        assert " > ".join(game.path) in seen
        seen, *_ = env.step(boxed(game.page.links[0]))


def test_the_target_is_introduced_by_the_beginning_of_its_article():
    env = make("hard")
    for seed in range(30):
        env.reset(seed=seed)
        game = env.unwrapped
        assert len(game._about) >= 20
        assert " ".join(game.source.page(game.target).text.split()).startswith(game._about)


def test_the_turn_limit_ends_the_episode():
    env = make("hard")
    env.reset(seed=0)
    game = env.unwrapped
    for turn in range(15):
        here = game.page.title
        options = [title for title in game.page.links if title != game.target]
        _, reward, terminated, truncated, info = env.step(boxed(options[0]))
        assert here != game.here
        assert reward == -0.05
        assert terminated == (turn == 14)
        assert not truncated
    assert info["success"] is False


# -- moves -------------------------------------------------------------------------------------------------------------


def spellings(title):
    words = title.split()
    return [
        title,
        title.upper(),
        title.lower(),
        "_".join(words),
        "  ".join(words),
        f" {title} ",
        f"[[{title}]]",
        f"[[{title}|whatever is shown]]",
        f'"{title}"',
        f"- {title}",
        f"\\text{{{title}}}",
        title.replace(" ", "\\_"),
        title.replace("'", "’"),
        title + ".",
    ]


def test_a_title_is_read_however_it_is_typed():
    env = make()
    for seed in range(12):
        env.reset(seed=seed)
        game = env.unwrapped
        state = game.get_state()
        for title in game.page.links:
            if title == game.target:
                continue
            for typed in spellings(title):
                game.set_state(state)
                assert game.step(boxed(typed))[1] == -0.05, typed
                assert game.here == title, typed


def test_the_format_says_what_can_be_read():
    env = make()
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(f"I would go on. {env.unwrapped.FORMAT}")
    assert not terminated
    assert "no link" in info["invalid_action"]["reason"]
    assert reward == -0.2


@pytest.mark.parametrize("move", ["Printing Press of Nowhere", "42", "Turns left", "a"])
def test_a_title_that_is_no_link_costs_the_turn_and_a_fine_and_changes_nothing(move):
    env = make()
    env.reset(seed=1)
    game = env.unwrapped
    before = (game.here, list(game.path))
    seen, reward, terminated, truncated, info = env.step(boxed(move))
    assert (reward, terminated, truncated) == (-0.2, False, False)
    assert info["invalid_action"]["hint"] == game.FORMAT
    assert (game.here, game.path) == before
    assert "Turns left: 29" in seen


def test_a_page_that_exists_but_is_not_linked_cannot_be_entered():
    env = make("hard")
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(boxed(env.unwrapped.target))
    assert reward == -0.2
    assert not terminated
    assert "no link" in info["invalid_action"]["reason"]


NO_TITLES = ["", "   ", "<b>", "\x00", "...", "x" * 1000]


@pytest.mark.parametrize("text", ["", "no box", *map(boxed, NO_TITLES)])
def test_unreadable_text_costs_a_fine_and_the_game_goes_on(text):
    env = make()
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(text)
    assert (reward, terminated, truncated) == (-0.2, False, False)
    assert info["invalid_action"]["hint"] == env.unwrapped.FORMAT


def test_what_unreadable_text_does_can_be_set():
    env = make(on_invalid={"mode": "end", "reward": -0.5})
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step("no box")
    assert (reward, terminated, info["success"]) == (-0.5, True, False)


def test_a_fine_is_paid_once():
    env = make()
    env.reset(seed=1)
    assert env.step(boxed("Nowhere at all"))[1] == -0.2
    assert env.step(env.oracle_action())[1] == -0.05


hostile = st.one_of(
    st.text(max_size=400),
    st.text(alphabet="\\{}[]<>|_$. \x00\ud800\u0660", max_size=300),
    st.builds(lambda n: "[[" * n + "|" * n, st.integers(0, 500)),
)


@given(hostile, st.sampled_from(VARIANTS))
@settings(max_examples=150, deadline=None)
def test_hostile_text_never_breaks_a_game(text, variant):
    env = ENVS[variant]
    env.reset(seed=1)
    seen, reward, *_ = env.step(boxed(text))
    assert reward in (-0.2, -0.05)
    assert max(map(len, seen.split("\n\n")[0].splitlines())) < 400
    seen.encode()


ENVS = {variant: make(variant=variant) for variant in VARIANTS}


HUGE = ["x" * 1_000_000, "[" * 1_000_000, "\ud800" * 1000, "٣" * 50, "\x00" * 1_000_000, "\\_" * 500_000, "9" * 10_000]


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_huge_text_is_refused_and_not_repeated(text):
    env = make()
    env.reset(seed=1)
    seen, reward, *_ = env.step(boxed(text))
    assert reward == -0.2
    assert len(seen.split("\n\n")[0]) < 300
    seen.encode()


# -- ways back ---------------------------------------------------------------------------------------------------------


def walk(env, steps=2, seed=1):
    """Follow links away from the target; return the pages behind."""
    env.reset(seed=seed)
    game = env.unwrapped
    been = [game.here]
    for _ in range(steps):
        options = [title for title in game.page.links if title not in (game.target, *been)]
        env.step(boxed(options[0]))
        been.append(game.here)
    return been


BACK = ["<PREV_PAGE>", "<prev_page>", "PREV_PAGE", "prev page", "<PREV\\_PAGE>", " <PREV_PAGE> ", "previous page"]


@pytest.mark.parametrize("typed", BACK)
def test_going_back_is_read_however_it_is_typed(typed):
    env = make(variant="freenav")
    been = walk(env)
    seen, reward, *_ = env.step(boxed(typed))
    assert reward == -0.05
    assert env.unwrapped.here == been[-2]
    assert " > ".join([*been, been[-2]]) in seen


def test_noregrets_has_no_way_back():
    env = make()
    been = walk(env)
    _, reward, _, _, info = env.step(boxed("<PREV_PAGE>"))
    assert reward == -0.2
    assert "no going back" in info["invalid_action"]["reason"]
    assert env.unwrapped.here == been[-1]


def test_oneback_goes_back_once_in_a_row():
    env = make(variant="oneback")
    been = walk(env, steps=3)
    assert env.step(boxed("<PREV_PAGE>"))[1] == -0.05
    assert env.unwrapped.here == been[2]
    assert env.step(boxed("<PREV_PAGE>"))[1] == -0.2
    assert env.unwrapped.here == been[2]
    env.step(boxed(been[3]))
    assert env.step(boxed("<PREV_PAGE>"))[1] == -0.05
    assert env.unwrapped.here == been[2]


def test_freenav_goes_back_to_the_start_and_no_further():
    env = make(variant="freenav")
    been = walk(env, steps=3)
    for title in reversed(been[:-1]):
        assert env.step(boxed("<PREV_PAGE>"))[1] == -0.05
        assert env.unwrapped.here == title
    seen, reward, *_ = env.step(boxed("<PREV_PAGE>"))
    assert reward == -0.2
    assert "no page to go back to" in seen


def test_freenav_does_not_take_a_page_of_the_path_that_is_not_linked():
    env = make(variant="freenav")
    been = walk_to_unlinked(env)
    assert env.step(boxed(been[0]))[1] == -0.2


def walk_to_unlinked(env):
    for seed in range(50):
        been = walk(env, steps=3, seed=seed)
        if been[0] not in env.unwrapped.page.links:
            return been
    raise AssertionError("no such walk in 50 seeds")


def test_eidetic_goes_to_any_page_of_the_path_and_back_again():
    env = make(variant="eidetic")
    been = walk_to_unlinked(env)
    assert env.step(boxed(been[0].upper()))[1] == -0.05
    assert env.unwrapped.here == been[0]
    assert env.step(boxed("<PREV_PAGE>"))[1] == -0.05
    assert env.unwrapped.here == been[-1]


def test_what_eidetic_remembers_ends_with_the_episode():
    env = make(variant="eidetic")
    for first in range(20):
        been = walk(env, steps=6, seed=first)
        env.reset(seed=first + 1000)
        game = env.unwrapped
        assert game.path == [game.here]
        for title in been:
            if title not in (*game.page.links, game.here):
                assert env.step(boxed(title))[1] == -0.2
        assert env.step(boxed("<PREV_PAGE>"))[1] == -0.2


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_rules_name_the_ways_back(variant):
    seen, _ = make(variant=variant).reset(seed=0)
    assert ("<PREV_PAGE>" in seen) == (variant != "noregrets")


# -- what is shown -----------------------------------------------------------------------------------------------------


SUMMARIES = [
    ((50, "characters"), lambda text: len(text) in (49, 50)),  # 49: a cut before a space
    ((7, "words"), lambda text: len(text.split()) == 7),
    ((2, "sentences"), lambda text: text[-1] in ".!?'\"”"),
]


@pytest.mark.parametrize(("length", "fits"), SUMMARIES)
def test_a_page_is_shown_as_far_as_asked(length, fits):
    env = make(page_summary_length=length)
    for seed in range(20):
        seen, _ = env.reset(seed=seed)
        page = env.unwrapped.page
        shown = seen.split(f"Page: {page.title}\n\n")[1].split("\n\nLinks of this page:")[0]
        assert shown.endswith(" ...")
        shown = shown.removesuffix(" ...")
        assert page.text.startswith(shown)
        assert fits(shown)
        assert all(f"- {title}\n" in seen for title in page.links)


def test_a_page_can_be_shown_as_its_links_alone():
    env = make(page_summary_length=[0, "words"])
    seen, _ = env.reset(seed=0)
    assert env.unwrapped.page.text[:40] not in seen


@pytest.mark.parametrize(
    "wrong",
    [
        {"variant": "backwards"},
        {"backend": "gopher"},
        {"backend": "mediawiki"},
        {"backend": "kiwix", "url": "http://localhost:8080"},
        {"backend": "mediawiki", "url": "ftp://localhost/api.php"},
        {"url": "http://localhost"},
        {"page_summary_length": (10, "pages")},
        {"page_summary_length": (-1, "words")},
        {"page_summary_length": 10},
        {"max_turns": 0},
        {"min_clicks": 5, "max_clicks": 4},
        {"min_clicks": 0},
    ],
)
def test_a_parameter_that_makes_no_game_is_refused(wrong):
    with pytest.raises(RegistrationError, match="WikiGame"):
        make(**wrong)


def test_a_distance_that_no_two_pages_have_is_reported():
    env = make(min_clicks=29, max_clicks=30)
    with pytest.raises(DataUnavailable, match="29 to 30 clicks"):
        env.reset(seed=0)


def test_a_short_limit_caps_the_distance():
    env = make("hard", max_turns=5)
    for seed in range(30):
        env.reset(seed=seed)
        assert 4 <= len(env.unwrapped.gold()) <= 5


# -- seeds, splits, snapshots ------------------------------------------------------------------------------------------

STARTS = """
import gem, json
env = gem.make("game:WikiGame-v0-random", variant="eidetic")
print(json.dumps([[env.reset(seed=s)[0], env.sample_random_action(), env.oracle_action()] for s in range(20)]))
"""


def test_a_seed_gives_the_same_start_in_any_process():
    def starts(hash_seed):
        environ = {**os.environ, "PYTHONHASHSEED": hash_seed}
        return json.loads(subprocess.run([sys.executable, "-c", STARTS], env=environ, capture_output=True, text=True, check=True).stdout)

    assert starts("1") == starts("2")


@pytest.mark.parametrize("level", LEVELS)
def test_train_and_test_share_no_pair(level):
    pairs = {}
    for split in ("train", "test"):
        env = make(level)
        pairs[split] = set()
        for index in range(300):
            env.reset(options={"task": f"{split}/{index}"})
            pairs[split].add((env.unwrapped.start, env.unwrapped.target))
    assert not pairs["train"] & pairs["test"]
    assert len(pairs["train"]) > 250
    assert len(pairs["test"]) > 150


def told(game):
    """Return all that the game remembers, its generators aside."""
    return pickle.loads(
        pickle.dumps({k: v for k, v in game.__getstate__().items() if not k.startswith(("_rng", "_action_rng", "_last_seed", "_stream"))})
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_snapshot_continues_the_same_game(variant):
    env = make("random", variant=variant)
    env.reset(seed=5)
    for _ in range(4):
        env.step(env.sample_random_action())
    twin = make("random", variant=variant)
    twin.reset(seed=99)
    twin.set_state(pickle.loads(pickle.dumps(env.get_state())))
    for _ in range(5):
        action = env.sample_random_action()
        assert action == twin.sample_random_action()
        assert env.oracle_action() == twin.oracle_action()
        one, other = env.step(action), twin.step(action)
        assert one == other
        if one[2]:
            break
    assert told(env.unwrapped) == told(twin.unwrapped)


def test_a_snapshot_does_not_hold_the_encyclopedia():
    env = make("hard")
    env.reset(seed=0)
    env.step(env.oracle_action())
    data = env.unwrapped.get_state()["data"]
    assert len(data) < 12_000  # most of it two generators
    assert env.unwrapped.page.text[:50].encode() not in data


def test_asking_for_moves_changes_nothing():
    env = make(variant="eidetic")
    walk(env)
    game = env.unwrapped
    before = told(game)
    for _ in range(3):
        game.sample_random_action()
        game.oracle_action()
        game.gold()
    assert told(game) == before


def test_the_gold_is_a_way_from_link_to_link():
    env = make("hard")
    env.reset(seed=4)
    game = env.unwrapped
    here = game.start
    for title in json.loads(json.dumps(game.gold())):
        assert title in game.source.page(here).links
        here = title
    assert here == game.target


async def test_the_async_side_plays_the_same_game():
    env, twin = make(), make()
    assert await env.areset(seed=8) == twin.reset(seed=8)
    action = twin.oracle_action()
    assert await env.astep(action) == twin.step(action)
    await env.aclose()
