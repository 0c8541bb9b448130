"""`new`: a package that installs, keeps the contract, and whose tests find a fault."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from gem.cli.scaffolding import KINDS, module_of, scaffold
from gem.errors import RegistrationError
from tests.cli.conftest import PATIENCE_S, ROOT, environ

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# One line of each environment, and what an author may break in it.
FAULTS = {
    "single": ('return f"\\\\boxed{{{self.gold()}}}"', 'return f"\\\\boxed{{{self.gold() + 1}}}"'),
    "multi": ("1.0 - self._paid()", "1.0"),
}


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("package", "module"),
    [
        ("my-envs", "my_envs"),
        ("my_envs", "my_envs"),
        ("a", "a"),
        ("Chess2", "chess2"),
        ("a-b-c", "a_b_c"),
        ("match", "match"),
        ("x" * 64,) * 2,
    ],
)
def test_a_name_gives_a_module(package, module):
    assert module_of(package) == module


@pytest.mark.parametrize(
    "package",
    ["", "1a", "a b", "a.b", "a/b", "../a", "/a", "-a", "_a", "a-", "a_", "é", "ａ", "a\n", "a;b", "{{a}}", "x" * 65, "--out"],
)
def test_what_is_no_name_says_what_one_is(package):
    with pytest.raises(RegistrationError, match=r"is no name for a package: letters, digits, - and _, .* such as 'my-envs'"):
        module_of(package)


@pytest.mark.parametrize("package", ["class", "Import", "lambda", "async"])
def test_a_keyword_is_no_name(package):
    with pytest.raises(RegistrationError, match=f"{package.lower()!r} is a keyword"):
        module_of(package)


@pytest.mark.parametrize("package", ["gem", "Gem", "json", "gem-gym", "numpy", "tests", "pytest", "random", "concurrent"])
def test_a_module_that_exists_is_no_name(package):
    with pytest.raises(RegistrationError, match="there is a module .* already"):
        module_of(package)


# -- the command -------------------------------------------------------------------------------------------------------


def test_it_says_what_it_wrote_and_what_comes_next(gem, tmp_path):
    shown = gem("new", "zq-envs")
    assert (shown.code, shown.err) == (0, "")
    written = sorted(str(path.relative_to(tmp_path / "zq-envs")) for path in (tmp_path / "zq-envs").rglob("*") if path.is_file())
    assert shown.out == (
        "wrote zq-envs\n"
        + "".join(f"  {name}\n" for name in written)
        + "\nNext:\n\n  cd zq-envs\n  pip install -e '.[test]'\n  pytest\n  python -m gem play zq-envs/letters:count\n"
        + "\nThen change zq_envs/env.py.\n"
    )


def test_out_is_made_and_named(gem, tmp_path):
    shown = gem("new", "zq-envs", "--kind", "multi", "--out", "a folder/b")
    assert shown.code == 0
    assert "  cd 'a folder/b/zq-envs'\n" in shown.out
    assert "  python -m gem play zq-envs/lock:digits\n" in shown.out
    assert (tmp_path / "a folder" / "b" / "zq-envs" / "zq_envs" / "env.py").is_file()


def test_a_folder_that_exists_is_left_alone(gem, tmp_path):
    (tmp_path / "zq-envs").mkdir()
    shown = gem("new", "zq-envs")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == "RegistrationError: zq-envs exists already. Choose another name, or another place with --out\n"
    assert list((tmp_path / "zq-envs").iterdir()) == []


def test_a_place_that_cannot_be_written_is_one_line(gem, tmp_path):
    (tmp_path / "file").write_text("")
    shown = gem("new", "zq-envs", "--out", "file")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == "RegistrationError: file/zq-envs cannot be written: Not a directory. Choose another place with --out\n"


def test_a_kind_that_is_none_names_those_there_are(tmp_path):
    with pytest.raises(RegistrationError, match="no kind 'many'; there are single, multi"):
        scaffold("zq-envs", kind="many", out=tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("package", ["zq-envs", "ZqEnvs", "zq_a-b2"])
def test_what_is_written_is_whole(tmp_path, kind, package):
    folder = scaffold(package, kind=kind, out=tmp_path)
    module, id = module_of(package), f"{package}/{KINDS[kind]}"
    for path in (path for path in folder.rglob("*") if path.is_file()):
        text = path.read_text("utf-8")
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert "{{ " not in text
        assert "{%" not in text
        if path.suffix == ".py":
            ast.parse(text)
            assert max(map(len, text.splitlines())) <= 88  # what a formatter leaves as it is
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["name"] == package
    assert project["project"]["entry-points"]["gem.envs"] == {module: f"{module}.specs:SPECS"}
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [module]
    readme = (folder / "README.md").read_text("utf-8")
    assert all(f"python -m gem {command} {id}" in readme for command in ("play", "check", "eval"))
    assert f'"{id}"' in (folder / module / "specs.py").read_text("utf-8")


# -- installed beside the wheel ----------------------------------------------------------------------------------------


class Site:
    """A fresh virtual environment that has gem's wheel, and sees what the running Python has installed."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False)
        self.python = folder / "bin" / "python"
        self.packages = Path(self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())
        (self.packages / "parent.pth").write_text("\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}) + "\n")

    def run(self, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        env = environ(PYTHONDONTWRITEBYTECODE="1")
        del env["GEM_PLUGINS"]
        env = {name: value for name, value in env.items() if name not in ("PYTHONPATH", "PYTEST_ADDOPTS", "VIRTUAL_ENV")}
        return subprocess.run([self.python, *args], capture_output=True, text=True, cwd=cwd, env=env, timeout=PATIENCE_S)

    def install(self, what: Path) -> None:
        pip(f"--python={self.python}", "install", "--no-deps", "--no-index", "--no-build-isolation", str(what))


def pip(*args: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *args]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PIP_NO_INPUT": "1"}, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Site:
    wheels = tmp_path_factory.mktemp("wheels")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(ROOT))
    [wheel] = wheels.glob("gem_gym-*.whl")
    site = Site(tmp_path_factory.mktemp("site") / "venv")
    site.install(wheel)
    return site


@pytest.fixture(scope="session")
def installed(site, tmp_path_factory) -> dict[str, Path]:
    """The folder of a package of each kind; all are installed."""
    root = tmp_path_factory.mktemp("packages")
    for kind in KINDS:
        done = site.run("-m", "gem", "new", f"zq-{kind}", "--kind", kind, cwd=root)
        assert done.returncode == 0, done.stderr
        site.install(root / f"zq-{kind}")
    return {kind: root / f"zq-{kind}" for kind in KINDS}


@pytest.mark.slow
def test_the_wheel_is_what_runs_there(site, tmp_path):
    done = site.run("-c", "import gem; print(gem.__file__)", cwd=tmp_path)
    assert Path(done.stdout.strip()).parent.parent == site.packages
    told = site.run("-m", "gem", "info", cwd=tmp_path).stdout
    assert "is healthy." in told
    assert str(site.packages) in told


@pytest.mark.slow
def test_their_environments_are_listed(site, installed, tmp_path):
    done = site.run("-m", "gem", "list", "zq-*", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["zq-multi/lock:digits", "zq-single/letters:count"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_their_tests_pass_unchanged(site, installed, kind):
    done = site.run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=installed[kind])
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "failed" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_they_keep_the_contract(site, installed, kind, tmp_path):
    done = site.run("-m", "gem", "check", f"zq-{kind}/*", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith(f"ok      zq-{kind}/{KINDS[kind]}  (")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_makes_their_tests_fail(site, installed, kind, tmp_path):
    folder = tmp_path / "copy"
    for path in (path for path in installed[kind].rglob("*.*") if path.suffix in (".py", ".toml")):
        (folder / path.relative_to(installed[kind])).parent.mkdir(parents=True, exist_ok=True)
        (folder / path.relative_to(installed[kind])).write_text(path.read_text())
    env, (right, wrong) = folder / f"zq_{kind}" / "env.py", FAULTS[kind]
    assert env.read_text().count(right) == 1
    env.write_text(env.read_text().replace(right, wrong))
    done = site.run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "reward or solution", cwd=folder
    )  # the current folder comes first
    assert done.returncode == 1, done.stdout
    assert " failed" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_they_can_be_played_and_evaluated(site, installed, kind, tmp_path):
    id = f"zq-{kind}/{KINDS[kind]}"
    done = site.run("-m", "gem", "eval", id, "--agent", "oracle,random", "-n", "10", "--json", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    oracle, random = json.loads(done.stdout)["envs"]
    assert oracle["reward"] == 1.0
    assert random["reward"] < 0.6
