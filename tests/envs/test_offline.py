"""What holds for every offline environment: the contract, the oracle, one format, the same episodes in any process."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check_env

import gem
from gem.parsing import message_text
from gem.testing import find_breaches

IDS = [row.id for row in gem.list_envs(offline_only=True)]
SEEDS = 500
# Their oracles look ahead at every turn; docs/games.md has all 500.
FEWER = {"game:Game2048-v0-hard": 100, "game:Game2048-v0-extreme-hard": 50}


def total_of(env, seed, policy):
    """Play one episode and return the sum of its rewards and its last info."""
    env.reset(seed=seed)
    total, over, info = 0.0, False, {}
    while not over:
        action = policy(env)
        assert action is not None, f"seed {seed}: no action"
        _, reward, terminated, truncated, info = env.step(action)
        total, over = total + reward, terminated or truncated
    return total, info


@pytest.mark.parametrize("id", IDS)
def test_no_clause_of_the_contract_is_broken(id):
    assert find_breaches(id) == {}


@pytest.mark.parametrize("id", IDS)
def test_gymnasiums_own_checker_passes_without_a_warning(id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gymnasium_check_env(gem.make(id).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("id", IDS)
def test_the_oracle_wins_from_every_start(id, split):
    env = gem.make(id, split=split)
    seeds = range(FEWER.get(id, SEEDS) if split == "train" else 40)
    lost = [seed for seed in seeds if not total_of(env, seed, lambda env: env.oracle_action())[1]["success"]]
    assert lost == []


@pytest.mark.parametrize("id", IDS)
def test_random_play_wins_seldom(id):
    limit = 0.2 if "-hard" in id else 0.5
    env = gem.make(id)
    wins = sum(total_of(env, seed, lambda env: env.sample_random_action())[1]["success"] for seed in range(200))
    assert wins / 200 <= limit


@pytest.mark.parametrize("id", IDS)
def test_the_prompt_names_the_format_that_the_parser_takes(id):
    obs, _ = gem.make(id).reset(seed=0)
    assert "\\boxed{" in message_text(obs)


PLAY_ALL = """
import hashlib, sys, gem
for id in sys.argv[1:]:
    env = gem.make(id)
    seen = []
    for seed in range(3):
        seen.append(env.reset(seed=seed)[0])
        over = False
        while not over:
            obs, reward, terminated, truncated, info = env.step(env.sample_random_action())
            seen.append((obs, reward, terminated, truncated, info))
            over = terminated or truncated
        env.reset(seed=seed)
        seen.append(env.oracle_action())
    print(id, hashlib.sha256(repr(seen).encode()).hexdigest())
"""


def test_episodes_are_the_same_in_any_process_and_hash_seed():
    outputs = set()
    for hash_seed in ("0", "1", "12345"):
        environ = {**os.environ, "PYTHONHASHSEED": hash_seed}
        ids = IDS if hash_seed != "1" else IDS[::-1]
        done = subprocess.run([sys.executable, "-c", PLAY_ALL, *ids], capture_output=True, text=True, env=environ, check=True)
        outputs.add("\n".join(sorted(done.stdout.splitlines())))
    assert len(outputs) == 1


HIDDEN = ("GuessTheNumber", "Mastermind", "Wordle", "Hangman")


@pytest.mark.parametrize("id", [id for id in IDS if any(name in id for name in HIDDEN)])
def test_a_transcript_oracle_acts_alike_for_every_secret_that_fits(id):
    assert gem.spec(id).info.oracle_sees == "transcript"
    env = gem.make(id, checks=False)
    for seed in range(8):
        env.reset(seed=seed)
        over = False
        while not over:
            action = env.oracle_action()
            for secret in _some(env.fitting()):
                twin = env.spawn(same_state=True)
                twin.secret = secret
                assert twin.oracle_action() == action
            _, _, terminated, truncated, _ = env.step(action)
            over = terminated or truncated


def _some(secrets, most=25):
    secrets = list(secrets)
    return secrets[:: max(len(secrets) // most, 1)]
