"""The embedded encyclopedia as a whole, and what simple walkers get out of it."""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
from itertools import combinations

import pytest

import gem
from gem.envs.games.wiki.almanac import Almanac, articles
from gem.envs.games.wiki.graph import Graph
from gem.envs.games.wiki.prose import key, lead, shorten, title_in
from gem.envs.games.wiki.source import NoSuchPage

PAGES = articles()
CLICKS = Graph({title: page.links for title, page in PAGES.items()})


def words(text):
    return re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower())


def test_there_are_300_articles_of_120_words_and_more():
    assert len(PAGES) >= 300
    short = {title: len(words(page.text)) for title, page in PAGES.items() if len(words(page.text)) < 120}
    assert not short


def test_every_article_has_6_to_40_links_and_all_of_them_lead_to_another_article():
    for title, page in PAGES.items():
        assert 6 <= len(page.links) <= 40, title
        assert not [link for link in page.links if link not in PAGES or link == title], title
        assert "[[" not in page.text, title
        assert "]]" not in page.text, title


def test_titles_differ_however_they_are_typed():
    assert len({key(title) for title in PAGES}) == len(PAGES)
    assert all(key(title_in(title)) == key(title) for title in PAGES)


def test_no_two_articles_share_much_text():
    shingles = {}
    for title, page in PAGES.items():
        said = words(page.text)
        shingles[title] = {tuple(said[i : i + 5]) for i in range(len(said) - 4)}
    close = []
    for one, other in combinations(shingles, 2):
        a, b = shingles[one], shingles[other]
        if len(a & b) > 0.2 * min(len(a), len(b)):
            close.append((one, other))
    assert not close


def test_every_article_can_be_reached_from_every_other():
    for target in PAGES:
        assert len(CLICKS.clicks_to(target)) == len(PAGES)


def test_distances_are_those_of_a_search_written_apart():
    for target in list(PAGES)[::40]:
        known, clicks = CLICKS.clicks_to(target), 0
        reached = {target}
        while len(reached) < len(PAGES):
            clicks += 1
            new = {title for title, page in PAGES.items() if title not in reached and not reached.isdisjoint(page.links)}
            assert all(known[title] == clicks for title in new)
            reached |= new


def test_a_way_that_does_not_exist_is_none():
    graph = Graph({"a": ["b"], "b": [], "c": ["a"]})
    assert graph.way("c", "b") == ["a", "b"]
    assert graph.way("b", "c") is None
    assert graph.way("a", "a") == []


@pytest.mark.parametrize(("level", "low", "high", "limit"), [("easy", 2, 3, 30), ("hard", 4, 8, 15)])
def test_every_pair_is_as_far_apart_as_the_level_says(level, low, high, limit):
    env = gem.make(f"game:WikiGame-v0-{level}")
    for seed in range(300):
        env.reset(seed=seed)
        clicks = CLICKS.clicks_to(env.unwrapped.target)[env.unwrapped.start]
        assert low <= clicks <= high < limit
        assert env.unwrapped.max_turns == limit


def first_link(links, target):
    return links[0]


def most_similar_title(links, target):
    return max(links, key=lambda title: difflib.SequenceMatcher(None, title, target).ratio())


@pytest.mark.parametrize("walker", [first_link, most_similar_title])
def test_a_simple_walker_seldom_wins_the_hard_game(walker):
    env = gem.make("game:WikiGame-v0-hard")
    wins = 0
    for seed in range(300):
        env.reset(seed=seed)
        game = env.unwrapped
        terminated = False
        while not terminated:
            _, _, terminated, _, info = env.step(f"\\boxed{{{walker(game.page.links, game.target)}}}")
        wins += info["success"]
    assert wins / 300 < 0.2


def test_a_title_that_is_none_is_not_there():
    with pytest.raises(NoSuchPage):
        Almanac().page("No page of that name")


def test_reading_the_files_takes_tens_of_milliseconds():
    code = (
        "import gem.envs.games.wiki.env, gem.envs.games.wiki.almanac as a; from time import process_time as t;"
        "s = t(); a.articles(); print(t() - s)"
    )
    spent = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(2))
    assert spent < 0.1


# -- prose -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count", "unit", "shown"),
    [
        ("One two three.", 2, "words", "One two ..."),
        ("One two three.", 3, "words", "One two three."),
        ("One two three.", 9, "words", "One two three."),
        ("One. Two! Three?", 2, "sentences", "One. Two! ..."),
        ("Mr. A. Bell met Dr. Coe. They sang.", 1, "sentences", "Mr. A. Bell met Dr. Coe. ..."),
        ('He said "no." Then he left.', 1, "sentences", 'He said "no." ...'),
        ("It cost 1.5 pounds. No more.", 1, "sentences", "It cost 1.5 pounds. ..."),
        ("No end", 1, "sentences", "No end"),
        ("abcdef", 3, "characters", "abc ..."),
        ("abcdef", 0, "characters", "..."),
        ("", 4, "words", ""),
    ],
)
def test_a_text_is_cut_where_its_unit_ends(text, count, unit, shown):
    assert shorten(text, count, unit) == shown


def test_a_short_first_sentence_brings_the_next():
    assert lead("How high? " + "The oldest figure, nine thousand feet, was a guess by a cheesemonger. And so on.").endswith("cheesemonger.")
    assert lead("A sentence that is long enough to say what the article is about, and more. Next.").endswith("and more.")
    assert lead("") == ""
