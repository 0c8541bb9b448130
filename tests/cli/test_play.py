"""`play`: a person plays, on a terminal or through a pipe."""

from __future__ import annotations

import io
from importlib.util import find_spec

import pytest

import gem as library
from gem import Env, list_envs, register
from gem.specs import EnvInfo
from gem.testing import EchoEnv

PROMPT = r"\[\d+(/\d+)?\] > "
SEED = "3"


def _name(id: str) -> str:
    return id.partition(":")[2].partition("-v")[0]


def _games() -> list[str]:
    """Return the easiest variant of each game, and a hard one."""
    there = [row.id for row in list_envs("game:*") if find_spec(str(row.entry_point).partition(":")[0])]
    easiest: dict[str, str] = {}
    for id in sorted(there, key=lambda id: not id.endswith("-easy")):
        easiest.setdefault(_name(id), id)
    return [*easiest.values(), "game:Sudoku-v0-hard"]


GAMES = _games()


@pytest.fixture
def table(terminal):
    """Start a game on a dumb terminal (no colours, no control sequences) and wait for the first prompt."""

    def start(id, **env):
        game = terminal("play", id, "--seed", SEED, **({"TERM": "dumb"} | env))
        game.wait(PROMPT)
        return game

    return start


@pytest.fixture
def piped(gem, monkeypatch):
    """Play with lines of a pipe, in this process."""

    def play(id, *lines, args=("--seed", SEED)):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return gem("play", id, *args)

    return play


def hinted(game) -> str:
    game.type("hint")
    game.wait(PROMPT)
    return next(line for line in game.read.splitlines() if line.startswith("Try: ")).removeprefix("Try: ")


# -- every game --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", GAMES)
def test_a_typo_does_not_end_a_game_that_hints_win(table, id):
    game = table(id)
    assert game.read.startswith(f"{id}, seed {SEED}\nType what belongs in the box, for example ")
    game.type("one two ?!")
    game.wait(PROMPT)
    won = ""
    for _ in range(100):
        game.type(hinted(game))
        if game.wait(PROMPT, "You (won|lost) after") == 1:
            won = game.read
            break
    assert won.endswith("You won after"), won
    assert game.end() == 0
    assert f"The same game again: python -m gem play {id} --seed {SEED}\n" in game.read
    assert game.shown.count("Type what belongs in the box") <= 2
    assert "Traceback" not in game.shown


@pytest.mark.parametrize("id", GAMES)
def test_ctrl_c_leaves_politely(table, id):
    game = table(id)
    game.child.send("half a mo")
    game.wait("half a mo")
    assert game.interrupt() == 130
    assert game.read.splitlines()[-1] == f"You left after 0 turns. The same game again: python -m gem play {id} --seed {SEED}"
    assert "Traceback" not in game.shown


@pytest.mark.parametrize("id", GAMES)
def test_the_end_of_piped_moves_leaves_politely(piped, id):
    shown = piped(id, "hint")
    assert (shown.code, shown.err) == (0, "")
    limit = library.make(id).max_turns
    assert f"\n[1/{limit}] > hint\nTry: " in shown.out or "random" in id
    assert shown.out.endswith(f"\nYou left after 0 turns. The same game again: python -m gem play {id} --seed {SEED}\n")


# -- one game, closely -------------------------------------------------------------------------------------------------

NUMBER = "game:GuessTheNumber-v0-easy"  # seed 3 hides 8


def test_a_session(piped):
    shown = piped(NUMBER, "help", "6", "", "seven", "hint", "9", "\\boxed{8}")
    assert shown.code == 0
    prompt = library.make(NUMBER).reset(seed=int(SEED))[0]  # what an agent sees
    assert shown.out == (
        "game:GuessTheNumber-v0-easy, seed 3\n"
        "Type what belongs in the box, for example 7, and press Enter.\n"
        "Or: hint (a good move), help (this again), quit. A typo costs nothing.\n"
        "\n"
        f"{prompt}\n"
        "\n"
        "[1/4] > help\n"
        "Type what belongs in the box, for example 7, and press Enter.\n"
        "Or: hint (a good move), help (this again), quit. A typo costs nothing.\n"
        "\n"
        "[1/4] > 6\n"
        "The hidden number is higher than 6.\n"
        "\n"
        "[2/4] >\n"
        "\n"
        "[2/4] > seven\n"
        "That is no move: the box does not hold one whole number. It does not count. "
        "Type what belongs in the box, for example 7.\n"
        "\n"
        "[2/4] > hint\n"
        "Try: 9\n"
        "\n"
        "[2/4] > 9\n"
        "The hidden number is lower than 9.\n"
        "\n"
        "[3/4] > \\boxed{8}\n"
        "Yes, the hidden number is 8.\n"
        "\n"
        "You won after 3 turns, reward 1.\n"
        "The same game again: python -m gem play game:GuessTheNumber-v0-easy --seed 3\n"
    )


def test_typos_never_use_up_the_turns(piped):
    shown = piped(NUMBER, *["what?"] * 20, "8")
    assert "You won after 1 turn, reward 1." in shown.out
    assert shown.out.count("It does not count.") == 20


def test_a_typo_in_the_last_turn_does_not_end_the_game(piped):
    shown = piped(NUMBER, "1", "2", "3", "what?", "8")
    assert "[4/4] > what?\nThat is no move" in shown.out
    assert "You won after 4 turns" in shown.out


def test_a_move_that_the_rules_forbid_takes_its_turn(piped):
    shown = piped(NUMBER, "1", "1")
    assert "[2/4] > 1\nYou have guessed 1 before.\n" in shown.out
    assert "You left after 2 turns" in shown.out


def test_a_lost_game_says_so(piped):
    shown = piped(NUMBER, "1", "2", "3", "4")
    assert shown.code == 0
    assert "You lost after 4 turns, reward 0.278." in shown.out


def test_quit_leaves_and_what_follows_is_not_read(piped):
    shown = piped(NUMBER, "6", "quit", "8")
    assert (shown.code, "won" in shown.out) == (0, False)
    assert "You left after 1 turn." in shown.out


def test_the_same_seed_is_the_same_game_and_no_seed_is_told(piped):
    first, second = piped(NUMBER, "5"), piped(NUMBER, "5")
    assert first.out == second.out
    unseeded = piped(NUMBER, "5", args=("--split", "test"))
    seed = unseeded.out.splitlines()[0].rpartition(" ")[2]
    assert unseeded.out.endswith(f"python -m gem play {NUMBER} --seed {seed} --split test\n")
    assert piped(NUMBER, "5", args=("--split", "test", "--seed", seed)).out == unseeded.out


def test_commands_and_lines_work_through_a_real_pipe(process):
    shown = process("play", NUMBER, "--seed", SEED, input="6\nhint\n9\n8")  # no newline at the end
    assert (shown.code, shown.err) == (0, "")
    assert "You won after 3 turns, reward 1." in shown.out


def test_bytes_that_are_no_text_are_a_typo(process):
    shown = process("play", NUMBER, "--seed", SEED, input=b"\xff\xfe\n8\n")
    assert (shown.code, shown.err) == (0, "")
    assert "It does not count" in shown.out
    assert "You won after 1 turn" in shown.out


@pytest.mark.parametrize("locale", [{"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}])
def test_any_locale_will_do(table, locale):
    game = table("game:Sokoban-v0-easy", **locale)  # its rules have a sign that is not ASCII
    shown = game.read
    assert ("√ box on a target" in shown) or ("? box on a target" in shown and "PYTHONUTF8" in locale)
    game.type("fly \u00fc")
    game.wait(PROMPT)
    assert "It does not count" in " ".join(game.read.split())
    game.press("d")
    assert game.end() == 0


def test_ctrl_d_leaves_politely(table):
    game = table(NUMBER)
    game.type("6")
    game.wait(PROMPT)
    game.press("d")
    assert game.end() == 0
    assert game.read.endswith(f"\nYou left after 1 turn. The same game again: python -m gem play {NUMBER} --seed {SEED}\n")


def test_long_lines_break_between_words_on_a_terminal(table):
    game = table(NUMBER)
    assert "whether the hidden number is higher or\nlower." in game.read
    assert max(map(len, game.read.splitlines())) < 80


def test_lines_before_can_be_fetched_back(terminal):
    game = terminal("play", NUMBER, "--seed", SEED)
    game.wait(PROMPT)
    game.type("6")
    game.wait("higher than 6[^$]*" + PROMPT)
    game.type("\x1b[A")  # the up arrow
    game.wait("You have guessed 6 before")


# -- environments that are no games ------------------------------------------------------------------------------------


class Pages(Env):
    """Answers each line with a page; it cannot be copied, and decides by itself what a typo does."""

    max_turns = 3

    def reset(self, seed=None, options=None):
        _, info = super().reset(seed, options)
        self.seen = []
        return "Say something.", info

    def step(self, action):
        self.seen.append(action)
        info = {"invalid_action": {"reason": "a question", "hint": "Say it."}} if action.endswith("?") else {}
        over = bool(info) and self.on_invalid.mode == "end"
        return f"You said {action!r}.", 0.0, over, False, info


def test_without_a_box_the_line_is_the_move_and_without_copies_a_typo_is_retried(piped):
    register("lab:pages", Pages, info=EnvInfo(snapshot="none"))
    shown = piped("lab:pages", "what?", "hint", "hello")
    assert shown.code == 0
    assert "\nType your move and press Enter.\nOr: hint (a good move), help (this again), quit.\n" in shown.out
    assert "[1/3] > what?\nYou said 'what?'." in shown.out
    assert "[2/3] > hint\nThere is no hint here.\n" in shown.out
    assert "[2/3] > hello\nYou said 'hello'." in shown.out


def test_a_fence_is_read_to_its_end(piped):
    register("lab:pages", Pages, info=EnvInfo(snapshot="none"))
    shown = piped("lab:pages", "```python", "  quit", "x = 1", "```", "quit")
    assert "You said '```python\\n  quit\\nx = 1\\n```'." in shown.out
    assert "You left after 1 turn." in shown.out


def test_turns_that_are_used_up_are_told(piped):
    register("lab:echo", EchoEnv, max_turns=1)
    shown = piped("lab:echo", "nothing of the kind")
    assert shown.code == 0
    assert "after 1 turn, reward" in shown.out


def test_what_cannot_be_built_is_one_line(piped):
    register("lab:missing", EchoEnv, requires=["no_such_thing=no-such-thing"])
    shown = piped("lab:missing")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == "MissingDependency: lab:missing needs no-such-thing. Install it: pip install 'no-such-thing'\n"
