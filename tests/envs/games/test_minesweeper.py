"""Minesweeper: where mines lie, what a reveal opens, flags, how it ends, and the faults of gem-llm."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.envs.games.minefield import cells_of, grid_of
from gem.errors import RegistrationError

VARIANTS = ["game:Minesweeper-v0-easy", "game:Minesweeper-v0-hard", "game:Minesweeper-v0-random"]
EASY, HARD, RANDOM = VARIANTS


def start(id=EASY, seed=0, **kwargs):
    env = gem.make(id, **kwargs)
    env.reset(seed=seed)
    return env


def boxed(move):
    return f"\\boxed{{{move}}}"


def play(env, *moves):
    """Make moves; return the last step."""
    for move in moves:
        result = env.step(boxed(move))
    return result


def play_out(env, choose):
    total = 0.0
    while True:
        _, reward, terminated, truncated, info = env.step(choose(env))
        assert not truncated
        total += reward
        if terminated:
            return total, info


def position(env):
    """What the player sees and what decides the game: the board, mines, flags."""
    game = env.unwrapped
    return game.board(), game.mines, game.flags, game.opened


def pairs(env, cells):
    return [divmod(cell, env.unwrapped.grid.cols) for cell in cells]


def around(row, col, rows, cols):
    return [(r, c) for r in range(row - 1, row + 2) for c in range(col - 1, col + 2) if (0 <= r < rows and 0 <= c < cols)]


def seen(board):
    """Read a board as a player does: the mark at each row and column."""
    lines = [line.split() for line in board.splitlines()]
    return {(int(line[0]), int(col)): mark for line in lines[1:] for col, mark in zip(lines[0], line[1:], strict=True)}


def with_mines(mines, rows=5, cols=5, **kwargs):
    """Lay mines by hand, as pairs of row and column."""
    env = start(rows=rows, cols=cols, num_mines=len(mines), **kwargs)
    env.unwrapped.mines = sum(1 << row * cols + col for row, col in mines)
    return env


# -- winning -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", VARIANTS)
def test_the_oracle_wins_every_start_and_is_paid_1(id):
    env = gem.make(id)
    for seed in range(60):
        env.reset(seed=seed)
        total, info = play_out(env, lambda e: e.oracle_action())
        assert info["success"]
        assert total == pytest.approx(1.0)


@pytest.mark.parametrize("id", VARIANTS)
def test_random_play_is_readable_and_rarely_wins(id):
    env = gem.make(id)
    totals, wins = [], 0
    for seed in range(200):
        env.reset(seed=seed)
        total, info = play_out(env, lambda e: e.sample_random_action())
        assert "invalid_action" not in info
        totals.append(total)
        wins += info["success"]
    assert wins <= 0.2 * 200
    assert sum(totals) / 200 <= 0.8


def test_the_oracle_takes_one_turn_for_each_area_and_each_cell_beside_none():
    for seed in range(20):
        env = start(HARD, seed)
        rows, cols, mines = 8, 8, {tuple(place) for place in env.unwrapped.gold()}
        left = {(row, col) for row in range(rows) for col in range(cols)} - mines
        needed = 0
        for place in sorted(left, key=lambda place: bool(mines & set(around(*place, rows, cols)))):  # first those that open an area
            if place in left:
                left -= opened_naively(*place, mines, set(), rows, cols)
                needed += 1
        assert play_out(env, lambda e: e.oracle_action())[1]["metrics"]["turns"] == needed


def test_the_oracle_wins_after_random_flags_and_reveals():
    for seed in range(40):
        env = start(HARD, seed=seed, max_turns=200)
        rng = random.Random(seed)
        for _ in range(12):
            game = env.unwrapped
            cell = rng.choice([c for c in range(64) if not game.opened >> c & 1])
            may_reveal = game.mines and not (game.mines | game.flags) >> cell & 1
            play(env, (game.grid.reveals if may_reveal and rng.random() < 0.3 else game.grid.flags)[cell])
            if not game.mines and rng.random() < 0.2 and not game.flags >> 9 & 1:
                play(env, "reveal 1 1")
        assert play_out(env, lambda e: e.oracle_action())[1]["success"]


def test_the_oracle_wins_when_every_cell_is_flagged_first():
    env = start(EASY, max_turns=100)
    play(env, *env.unwrapped.grid.flags)
    assert play_out(env, lambda e: e.oracle_action())[1]["success"]


def test_all_safe_cells_revealed_is_a_win_without_any_flag():
    # gem-llm went on until all mines were flagged as well.
    env = with_mines([(0, 0), (4, 4)])
    obs, reward, terminated, _, info = play(env, "reveal 0 4")
    assert terminated
    assert info["success"]
    assert reward == pytest.approx(1.0)
    assert "\n" not in obs


def test_rewards_are_shares_of_the_cells_without_a_mine():
    env = with_mines([(0, 1), (1, 1), (0, 3)])
    assert play(env, "reveal 0 0")[1] == pytest.approx(1 / 22)
    assert play(env, "flag 0 1")[1] == 0.0
    _, reward, terminated, _, _ = play(env, "reveal 4 4")
    assert reward == pytest.approx(18 / 22)
    assert not terminated
    assert [play(env, move)[1:3] for move in ("reveal 0 2", "reveal 0 4")] == [(pytest.approx(1 / 22), False)] * 2
    _, reward, terminated, _, info = play(env, "reveal 1 0")
    assert terminated
    assert info["success"]
    assert reward == pytest.approx(1 / 22)


def test_a_mine_ends_the_game_and_pays_nothing():
    env = with_mines([(0, 0), (2, 2)])
    obs, reward, terminated, truncated, info = play(env, "reveal 2 2")
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)
    assert "Row 2, column 2 is a mine" in obs


def test_the_turn_limit_ends_the_game():
    env = start(EASY)
    for turn in range(25):
        _, _, terminated, truncated, info = env.step(boxed("flag 0 0"))
        assert (terminated, truncated) == (turn == 24, False)
    assert not info["success"]


# -- mines -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [EASY, HARD])
def test_the_first_reveal_finds_no_mine_at_it_or_around_it(id):
    env = gem.make(id)
    game = env.unwrapped
    for first in range(game.grid.cells):
        for seed in range(10):
            env.reset(seed=seed)
            play(env, game.grid.reveals[first])
            assert game.mines.bit_count() == game.num_mines
            row, col = divmod(first, game.grid.cols)
            free = set(around(row, col, game.grid.rows, game.grid.cols))
            assert not free & set(pairs(env, cells_of(game.mines)))
            assert free <= {place for place, mark in seen(game.board()).items() if mark != "."}


def test_the_same_first_reveal_finds_the_same_mines_whatever_came_before():
    # gem-llm draws mines from the global generator.
    for seed in range(20):
        plain, busy = start(HARD, seed), start(HARD, seed)
        play(plain, "reveal 3 5")
        random.seed(seed)
        play(busy, "flag 0 0", "flag 7 7", "flag 0 0", "reveal 9 9", "reveal 7 7")
        busy.sample_random_action()
        busy.oracle_action()
        busy.unwrapped.gold()
        play(busy, "reveal 3 5")
        assert busy.unwrapped.mines == plain.unwrapped.mines != 0


def test_mines_are_spread_evenly():
    counts, env = [0] * 25, gem.make(EASY)
    for seed in range(2000):
        env.reset(seed=seed)
        play(env, "reveal 0 0")
        for cell in cells_of(env.unwrapped.mines):
            counts[cell] += 1
    zone = {0, 1, 5, 6}
    assert all(counts[cell] == 0 for cell in zone)
    expected = 2000 * 5 / 21  # standard deviation 19
    assert all(abs(counts[cell] - expected) < 90 for cell in range(25) if cell not in zone)


def test_gold_names_the_mines_and_looking_changes_nothing():
    for seed in range(20):
        env, other = start(EASY, seed), start(EASY, seed)
        gold = env.unwrapped.gold()
        assert gold == env.unwrapped.gold()
        assert len(gold) == 5
        play(env, "reveal 2 2")
        play(other, "reveal 2 2")
        assert env.unwrapped.gold() == gold == other.unwrapped.gold() == [list(p) for p in pairs(env, cells_of(env.unwrapped.mines))]


@pytest.mark.parametrize("first", [0, 7, 12])
def test_train_and_test_share_no_layout(first):
    layouts = {}
    for split in ("train", "test"):
        env = gem.make(EASY, split=split)
        layouts[split] = set()
        for seed in range(400):
            env.reset(seed=seed)
            play(env, env.unwrapped.grid.reveals[first])
            layouts[split].add(env.unwrapped.mines)
    assert len(layouts["train"]) > 300
    assert len(layouts["test"]) > 200
    assert not layouts["train"] & layouts["test"]


# -- what a reveal opens -----------------------------------------------------------------------------------------------


def opened_naively(row, col, mines, flags, rows, cols):
    opened, todo = set(), [(row, col)]
    while todo:
        place = todo.pop()
        if place in opened:
            continue
        opened.add(place)
        if not mines & set(around(*place, rows, cols)):
            todo += [near for near in around(*place, rows, cols) if near not in flags]
    return opened


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_reveal_opens_and_counts_what_the_rules_say(data):
    rows, cols = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 12))
    places = [(row, col) for row in range(rows) for col in range(cols)]
    mines = set(data.draw(st.lists(st.sampled_from(places), max_size=6)))
    safe = [place for place in places if place not in mines]
    if not safe:
        return
    first = data.draw(st.sampled_from(safe))
    flags = set(data.draw(st.lists(st.sampled_from(places), max_size=3))) - {first}

    def cells(some):
        return sum(1 << row * cols + col for row, col in some)

    opened = grid_of(rows, cols).opened_by(first[0] * cols + first[1], cells(mines), cells(flags))
    assert opened == cells(opened_naively(*first, mines, flags, rows, cols))


@pytest.mark.parametrize("id", VARIANTS)
def test_the_board_shows_the_count_of_mines_around_each_open_cell(id):
    for seed in range(30):
        env = start(id, seed)
        game = env.unwrapped
        for _ in range(6):
            if env.step(env.oracle_action())[2]:
                break
            mines = set(pairs(env, cells_of(game.mines)))
            marks = seen(game.board())
            assert len(marks) == game.grid.cells
            for (row, col), mark in marks.items():
                is_open = bool(game.opened >> row * game.grid.cols + col & 1)
                assert is_open == (mark != ".")
                if is_open:
                    assert int(mark) == len(mines & set(around(row, col, game.grid.rows, game.grid.cols)))


def test_a_whole_large_board_opens_at_once():
    # A recursive flood would overflow the stack here.
    env = start(rows=50, cols=50, num_mines=1, max_turns=3000)
    assert play(env, "reveal 25 25")[4]["success"]


def test_wide_boards_keep_their_columns_apart():
    env = with_mines([(0, 0)], rows=12, cols=12, max_turns=200)
    play(env, "reveal 0 1", "flag 11 11", "flag 10 9")
    marks = seen(env.unwrapped.board())
    assert (marks[0, 1], marks[11, 11], marks[10, 9]) == ("1", "F", "F")
    assert sum(mark == "." for mark in marks.values()) == 141
    assert len({len(line) for line in env.unwrapped.board().splitlines()}) == 1


# -- flags -------------------------------------------------------------------------------------------------------------


def test_a_flagged_cell_cannot_be_revealed_until_the_flag_is_gone():
    # gem-llm let a flagged mine explode.
    env = with_mines([(0, 0), (0, 2)])
    play(env, "flag 0 0", "flag 0 1")
    before = position(env)
    for move in ("reveal 0 0", "reveal 0 1"):
        obs, reward, terminated, _, info = play(env, move)
        assert (reward, terminated) == (0.0, False)
        assert "flagged" in info["invalid_action"]["reason"]
        assert obs.endswith(env.unwrapped.board())
    assert position(env) == before
    assert play(env, "flag 0 1", "reveal 0 1")[1] == pytest.approx(1 / 23)
    assert play(env, "flag 0 0", "reveal 0 0")[2]


def test_a_flag_stops_the_spread_and_its_cell_is_paid_later():
    env = with_mines([(0, 0)])
    play(env, "flag 0 4", "flag 4 0", "flag 1 1")
    _, reward, terminated, _, _ = play(env, "reveal 4 4")
    assert not terminated
    assert reward == pytest.approx(21 / 24)
    assert play(env, "flag 0 4", "flag 4 0", "reveal 0 4")[1] == pytest.approx(1 / 24)
    assert play(env, "reveal 4 0")[1] == pytest.approx(1 / 24)
    assert play(env, "flag 1 1", "reveal 1 1")[4]["success"]


def test_a_flag_before_the_first_reveal_may_stand_and_lays_no_mines():
    env = start(EASY)
    play(env, "flag 2 2")
    assert seen(env.unwrapped.board())[2, 2] == "F"
    assert env.unwrapped.mines == 0
    play(env, "flag 2 2")
    assert seen(env.unwrapped.board())[2, 2] == "."


# -- moves -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("move", ["reveal 5 0", "reveal 0 5", "flag -1 0", "reveal 0 -1", "flag 99999999999 3", "reveal 4 4", "flag 4 4"])
def test_a_move_against_the_rules_costs_a_turn_and_changes_nothing_else(move):
    env = with_mines([(0, 0), (0, 2)])
    play(env, "reveal 4 4")
    before, turn = position(env), env.unwrapped.turn
    obs, reward, terminated, truncated, info = play(env, move)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["invalid_action"]["reason"]
    assert position(env) == before
    assert env.unwrapped.turn == turn + 1
    assert obs.endswith(env.unwrapped.board())


REVEALS = [
    *("reveal 1 4", "Reveal 1 4", "REVEAL 1, 4", "reveal (1, 4)", "reveal(1,4)", "(reveal 1 4)", "[reveal, 1, 4]", " reveal  1   4 "),
    *("reveal row 1, col 4", "reveal: row=1 column=4", "reveal r1 c4", "reveal1 4", "reveal\n1\t4", "`reveal 1 4`."),
    *(r"\text{reveal} 1 4", r"\text{reveal 1 4}"),
]


@pytest.mark.parametrize("move", REVEALS)
def test_a_reveal_is_read_however_it_is_written(move):
    plain, other = start(), start()
    assert play(other, move) == play(plain, "reveal 1 4")
    assert other.unwrapped.opened >> 9 & 1


@pytest.mark.parametrize("move", ["flag 0 2", "FLAG 0,2", "flag (0, 2)", "flag row 0 col 2", "<flag 0 2>"])
def test_a_flag_is_read_however_it_is_written(move):
    env = start()
    play(env, move)
    assert env.unwrapped.flags == 1 << 2


UNREADABLE = [
    "",
    "1 4",
    "reveal",
    "reveal 1",
    "reveal 1 2 3",
    "reveal 1 b",
    "open 1 4",
    "unflag 1 4",
    "flagged 1 4",
    "reveal 1.5 2",
    "reveal 1 2 flag 0 0",
]


@pytest.mark.parametrize("move", UNREADABLE)
def test_what_is_no_move_ends_the_episode_with_the_format(move):
    obs, reward, terminated, _, info = play(start(), move)
    assert (reward, terminated, info["success"]) == (-0.1, True, False)
    assert info["invalid_action"]["hint"] in obs


def test_the_format_in_the_rules_is_readable():
    rules, _ = gem.make(EASY).reset(seed=0)
    examples = [part.split("}")[0] for part in rules.split("\\boxed{")[2:]]  # the first box is empty: it names the place
    assert examples == ["reveal 1 4", "flag 0 2"]
    for example in examples:
        assert "invalid_action" not in play(start(), example)[4]


@pytest.mark.parametrize(
    "move", ["reveal 1 2" + " 3" * 500_000, "\0", "\ud800", "reveal " + "9" * 1_000_000 + " 1", "reveal ٣ ٤", "(" * 1_000_000]
)
def test_huge_and_odd_text_is_answered_in_few_words(move):
    obs, _, _, _, _ = play(start(), move)
    assert len(obs) < 500


@settings(max_examples=150, deadline=None)
@given(st.text() | st.from_regex(r"\s*(reveal|flag)[ (\[]*-?\d{1,30}[ ,]+-?\d{1,30}\W*", fullmatch=True))
def test_any_text_is_answered(move):
    obs, reward, _, truncated, _ = start().step(boxed(move))
    assert reward in (-0.1, 0.0) or 0 < reward <= 1
    assert not truncated
    assert len(obs) < 500


# -- parameters, copies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kwargs", "says"),
    [
        ({"rows": 0}, "rows must be"),
        ({"cols": 51}, "cols must be"),
        ({"rows": 5.0}, "rows must be"),
        ({"num_mines": 0}, "num_mines must be 1 to 16"),
        ({"num_mines": 17}, "num_mines must be 1 to 16"),
        ({"rows": 2, "cols": 3, "num_mines": 1}, "num_mines must be"),
        ({"max_turns": 11}, "max_turns must be 12 or more"),
    ],
)
def test_parameters_without_a_level_are_refused(kwargs, says):
    with pytest.raises(RegistrationError, match=says):
        gem.make(EASY, **kwargs)


@pytest.mark.parametrize(("rows", "cols", "num_mines"), [(5, 5, 16), (1, 9, 3), (9, 1, 6), (2, 8, 4), (4, 3, 3), (6, 6, 3)])
def test_the_least_turn_limit_is_enough(rows, cols, num_mines):
    limit = rows * cols - min(rows, 3) * min(cols, 3) - num_mines + 1
    for split in ("train", "test"):
        env = gem.make(EASY, rows=rows, cols=cols, num_mines=num_mines, max_turns=limit, split=split)
        for seed in range(20):
            env.reset(seed=seed)
            assert play_out(env, lambda e: e.oracle_action())[1]["success"]


def test_random_levels_have_all_sizes_of_the_table():
    env = gem.make(RANDOM)
    sizes = set()
    for seed in range(60):
        env.reset(seed=seed)
        game = env.unwrapped
        sizes.add((game.grid.rows, game.grid.cols, game.num_mines, game.max_turns))
    assert sizes == {(5, 5, 5, 25), (6, 6, 7, 36), (7, 7, 9, 49), (8, 8, 12, 64)}


@pytest.mark.parametrize("moves", [[], ["flag 0 0"], ["flag 0 0", "reveal 3 3", "flag 7 7"]])
def test_a_snapshot_goes_on_as_the_original(moves):
    env = start(HARD, seed=5)
    for move in moves:
        play(env, move)
    twin = gem.make(HARD)
    twin.set_state(pickle.loads(pickle.dumps(env.get_state())))
    assert twin.unwrapped.grid is env.unwrapped.grid
    for _ in range(30):
        action = env.oracle_action()
        assert twin.oracle_action() == action
        assert twin.sample_random_action() == env.sample_random_action()
        result = env.step(action)
        assert twin.step(action) == result
        if result[2]:
            break
    assert result[4]["success"]


_SHOW = """
import gem
env = gem.make("game:Minesweeper-v0-random", split="test")
for seed in range(20):
    print(env.reset(seed=seed)[0], env.unwrapped.gold(), env.sample_random_action())
"""


def test_a_start_is_the_same_in_every_process():
    shown = [
        subprocess.run(
            [sys.executable, "-c", _SHOW], env={**os.environ, "PYTHONHASHSEED": salt}, capture_output=True, text=True, check=True
        ).stdout
        for salt in ("0", "77")
    ]
    assert shown[0] == shown[1] != ""
