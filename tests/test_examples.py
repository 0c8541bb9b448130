"""Every example runs, is short, and shows what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))

# What each prints when it shows what it is there for.
SHOWS = {
    "01_play_a_game.py": ["Yes, the hidden number is 12.", "oracle", "success True, reward 1.00"],
    "02_write_an_environment.py": ["every clause of the contract holds", "test/0 has the hash"],
    "03_wrappers.py": ["return 0.7 in 6 steps; the async path gives the same: True"],
    "04_async_rollout.py": ["success True, 31 turns", "valid False, ConnectionError in the agent", "events: {'episode.end': 9}"],
    "05_evaluate.py": ["oracle    game:Hangman-v0-easy     success 1.00", "['episodes.jsonl', 'run.json', 'summary.json']"],
    "06_gymnasium.py": ["gem/game_Hangman-v0-easy-v0: train/5", "there is no action of the right form in it", "over: True"],
}


def test_examples_are_numbered_without_a_gap():
    assert [path.name[:2] for path in EXAMPLES] == [f"{n:02}" for n in range(1, len(EXAMPLES) + 1)]
    assert {path.name for path in EXAMPLES} == set(SHOWS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_short_and_says_what_it_shows(path):
    text = path.read_text()
    assert text.count("\n") < 120
    assert text.startswith('"""')


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_without_a_warning_and_leaves_nothing_behind(path, tmp_path):
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GEM_")}
    done = subprocess.run([sys.executable, "-W", "error", str(path)], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line for line in SHOWS[path.name] if line not in done.stdout] == []
    assert list(tmp_path.iterdir()) == []
