"""Environments of another package are found through its entry points, tried with a package that is really installed."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gem.envs import plugins
from gem.specs import EnvSpec

SOUND = {
    "pyproject.toml": """
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"
        [project]
        name = "acme-envs"
        version = "1.0"
        [project.entry-points."gem.envs"]
        acme = "acme_envs:SPECS"
    """,
    "acme_envs/__init__.py": """
        from gem import Env, EnvSpec
        SPECS = [EnvSpec("acme/shop:web", "acme_envs:Shop")]
        class Shop(Env):
            def reset(self, seed=None, options=None):
                _, info = super().reset(seed, options)
                return "welcome", info
            def step(self, action):
                return "bye", 1.0, True, False, {}
    """,
}
BROKEN = {
    "pyproject.toml": SOUND["pyproject.toml"].replace("acme-envs", "broken-envs").replace("acme_envs", "broken_envs"),
    "broken_envs/__init__.py": "raise RuntimeError('broken on purpose')",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder with both packages installed by pip."""
    root = tmp_path_factory.mktemp("plugins")
    target = root / "site"
    for name, files in (("acme", SOUND), ("broken", BROKEN)):
        source = write(root / name, files)
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", str(target), str(source)]
        done = subprocess.run(pip, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return target


def python(site: Path, code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    import os

    env = {**os.environ, "PYTHONPATH": str(site), **environ}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)


def test_an_installed_packages_environment_is_made_by_its_id(site):
    done = python(site, "import gem; e = gem.make('acme/shop:web'); print(e.reset(seed=1)[0], e.step('x')[1])")
    assert done.stdout == "welcome 1.0\n"


def test_a_broken_package_is_a_warning_that_names_it_and_takes_no_other_away(site):
    done = python(site, "import gem; print([r.id for r in gem.list_envs('acme/*')])")
    assert done.stdout == "['acme/shop:web']\n"
    assert "RuntimeWarning: the environments of package broken-envs could not be loaded (RuntimeError: broken on purpose)" in done.stderr


def test_packages_are_not_loaded_for_an_id_that_is_known(site):
    done = python(site, "import sys, gem; gem.make('game:GuessTheNumber-v0'); print('acme_envs' in sys.modules)")
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_they_can_be_switched_off(site):
    done = python(site, "import gem; print(len(gem.list_envs('acme/*')))", GEM_PLUGINS="0")
    assert done.stdout == "0\n"


def test_an_unknown_id_names_those_of_packages_too(site):
    done = python(site, "import gem\ntry: gem.make('acme/shop:wbe')\nexcept gem.errors.EnvNotFound as e: print(e)")
    assert "Did you mean 'acme/shop:web'?" in done.stdout


ROW = EnvSpec("acme/any:thing", "acme:Thing")
SEQUENCE, MAPPING, BAD = [ROW], {"any": ROW}, ["no spec"]


def from_a_function():
    return {"any": ROW}


def broken():
    raise ValueError("broken on purpose")


def offering(monkeypatch, *names):
    points = [EntryPoint(name, f"{__name__}:{name}", plugins.GROUP) for name in names]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == "gem.envs" else [])
    return plugins.load_all.__wrapped__()


@pytest.mark.parametrize("name", ["SEQUENCE", "MAPPING", "from_a_function"])
def test_an_entry_point_is_a_sequence_a_mapping_or_a_function(monkeypatch, name):
    assert offering(monkeypatch, name) == (ROW,)


def test_entry_points_that_fail_in_any_way_are_warnings_and_the_others_stay(monkeypatch):
    with pytest.warns(RuntimeWarning) as told:
        assert offering(monkeypatch, "broken", "missing", "BAD", "SEQUENCE") == (ROW,)
    text = "\n".join(str(warning.message) for warning in told)
    for said in ("ValueError: broken on purpose", "AttributeError", "'no spec', which is not an EnvSpec"):
        assert said in text
