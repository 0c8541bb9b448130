"""The doctor, on fake site-packages in every order of installing and uninstalling, and once on the real gem-llm."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from gem_gym_doctor import Report, check

REPO = Path(__file__).parents[1]
REINSTALL = "pip install --force-reinstall --no-deps gem-gym"
BOOM = "raise SystemExit('the doctor imported gem')\n"
OURS = {
    "gem/__init__.py": "name = 'gem-gym'\n",
    "gem/__main__.py": (REPO / "gem" / "__main__.py").read_text(),
    "gem/cli/__init__.py": "def main(argv=None):\n    print('cli', argv)\n    return 7\n",
    "gem/core/__init__.py": "",
    "gem/envs/__init__.py": "",
    "gem/envs/registration.py": "ours = True\n",
    "gem/graders/__init__.py": "",
    "gem_gym_doctor.py": (REPO / "gem_gym_doctor.py").read_text(),
}
THEIRS = {
    "gem/__init__.py": BOOM,
    "gem/core.py": BOOM,
    "gem/envs/__init__.py": BOOM,
    "gem/envs/registration.py": BOOM,
    "gem/utils/constants.py": BOOM,
}
SHARED = ("gem/__init__.py", "gem/envs/__init__.py", "gem/envs/registration.py")


class Site:
    """A folder that packages are installed into and uninstalled from the way pip does it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(exist_ok=True)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def install(self, name: str, files: dict[str, str], version: str = "0.1.0", direct_url: object = None) -> None:
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        rows = []
        for path, text in files.items():
            self.write(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(text)}")
        rows += ["gem/__pycache__/__init__.cpython-311.pyc,,", f"{info}/METADATA,,", f"{info}/RECORD,,"]
        self.write(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not this one\n")
        if direct_url:
            self.write(f"{info}/direct_url.json", json.dumps(direct_url))
            rows.append(f"{info}/direct_url.json,,")
        self.write(f"{info}/RECORD", "\n".join(rows) + "\n")

    def uninstall(self, name: str) -> None:
        (record,) = self.root.glob(f"{name.replace('-', '_')}-*.dist-info/RECORD")
        for row in record.read_text().splitlines():
            (self.root / row.split(",")[0]).unlink(missing_ok=True)
        for folder in sorted((path for path in self.root.rglob("*") if path.is_dir()), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()

    def check(self) -> Report:
        return check(paths=[str(self.root)])

    def run(self, code: str) -> subprocess.CompletedProcess[str]:
        code = f"import runpy, sys; sys.path.insert(0, {str(self.root)!r}); {code}"
        return subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60)

    def doctor(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.run(f"sys.argv[1:] = {list(options)!r}; runpy.run_module('gem_gym_doctor', run_name='__main__', alter_sys=True)")

    def script(self) -> subprocess.CompletedProcess[str]:
        return self.run("from gem_gym_doctor import main; sys.exit(main(['list']))")

    def python_m_gem(self) -> subprocess.CompletedProcess[str]:
        return self.run("runpy.run_module('gem', run_name='__main__', alter_sys=True)")


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path / "site-packages")


def test_gem_gym_alone_is_healthy(site):
    site.install("gem-gym", OURS)
    report = site.check()
    assert (report.status, report.installation, report.version) == ("healthy", "wheel", "0.1.0")
    assert report.imported_from == report.location == str(site.root.resolve())
    assert not list(report.repair())


def test_gem_llm_installed_last_breaks_gem_gym(site):
    site.install("gem-gym", OURS)
    site.install("gem-llm", THEIRS)
    report = site.check()
    assert (report.status, report.changed, report.missing) == ("broken", SHARED, ())
    (other,) = report.others
    assert (other.name, other.version, other.files, other.shared, other.replaced) == ("gem-llm", "0.1.0", 5, 3, 3)
    assert other.imported
    assert list(report.repair()) == ["pip uninstall gem-llm", REINSTALL]
    assert "only one of them can be whole" in report.text()


def test_gem_gym_installed_last_is_healthy_with_a_warning(site):
    site.install("gem-llm", THEIRS)
    site.install("gem-gym", OURS)
    report = site.check()
    assert (report.status, report.changed, report.missing, report.leftovers) == ("warning", (), (), ())
    (other,) = report.others
    assert (other.shared, other.replaced, other.imported) == (3, 0, False)
    assert "uninstalling gem-llm will break gem-gym" in report.text()
    assert list(report.repair()) == ["pip uninstall gem-llm", REINSTALL]


@pytest.mark.parametrize("order", [["gem-gym", "gem-llm"], ["gem-llm", "gem-gym"]], ids="-then-".join)
def test_uninstalling_gem_llm_takes_files_of_gem_gym_away(site, order):
    for name in order:
        site.install(name, OURS if name == "gem-gym" else THEIRS)
    site.uninstall("gem-llm")
    report = site.check()
    assert (report.status, report.missing, report.changed, report.others) == ("broken", SHARED, (), ())
    assert list(report.repair()) == [REINSTALL]
    site.install("gem-gym", OURS)
    assert site.check().status == "healthy"


def test_after_gem_gym_is_uninstalled_the_rest_is_said_to_be_no_gem_gym(site):
    site.install("gem-llm", THEIRS)
    site.install("gem-gym", OURS)
    site.uninstall("gem-gym")
    report = site.check()
    assert (report.status, report.installation, report.version) == ("broken", "none", None)
    assert "no such distribution" in report.text()
    assert list(report.repair()) == ["pip uninstall gem-llm", REINSTALL]


def test_gem_llm_alone_is_not_gem_gym(site):
    site.install("gem-llm", THEIRS)
    report = site.check()
    assert (report.status, report.installation) == ("broken", "none")
    assert report.others[0].imported


def test_an_empty_site_is_broken(site):
    report = site.check()
    assert (report.status, report.imported_from, report.others) == ("broken", None, ())
    assert list(report.repair()) == [REINSTALL]


def test_modules_that_nobody_owns_are_named(site):
    site.install("gem-gym", OURS)
    site.write("gem/utils/constants.py", BOOM)
    site.write("gem/utils/__pycache__/constants.cpython-311.pyc", "")
    report = site.check()
    assert (report.status, report.leftovers) == ("warning", ("gem/utils/constants.py",))


def test_a_hand_changed_file_is_named(site):
    site.install("gem-gym", OURS)
    site.write("gem/graders/__init__.py", "changed = True\n")
    report = site.check()
    assert (report.status, report.changed) == ("broken", ("gem/graders/__init__.py",))


def test_compiled_files_that_are_missing_are_no_fault(site):
    site.install("gem-gym", OURS)
    assert not (site.root / "gem/__pycache__").exists()
    assert site.check().status == "healthy"


def test_gem_entirely_gone(site):
    site.install("gem-gym", {path: text for path, text in OURS.items() if path.startswith("gem/")})
    for path in OURS:
        (site.root / path).unlink(missing_ok=True)
    report = site.check()
    assert (report.status, len(report.missing)) == ("broken", 7)


def editable(site: Site, checkout: Site, files: dict[str, str]) -> list[str]:
    for path, text in OURS.items():
        checkout.write(path, text)
    site.install("gem-gym", files, direct_url={"dir_info": {"editable": True}, "url": checkout.root.as_uri()})
    return [str(site.root), str(checkout.root)]


def test_an_editable_install_is_healthy_without_hashes(site, tmp_path):
    report = check(paths=editable(site, Site(tmp_path / "checkout"), {"_editable_impl_gem_gym.pth": "x"}))
    assert (report.status, report.installation) == ("healthy", "editable")
    assert report.imported_from == str((tmp_path / "checkout").resolve())


def test_gem_llm_hides_an_editable_install(site, tmp_path):
    paths = editable(site, Site(tmp_path / "checkout"), {})
    site.install("gem-llm", THEIRS)
    report = check(paths=paths)
    assert (report.status, report.installation) == ("broken", "editable")
    assert report.others[0].imported
    assert list(report.repair()) == ["pip uninstall gem-llm"]


def test_an_editable_install_that_lost_its_checkout_is_broken(site, tmp_path):
    report = check(paths=editable(site, Site(tmp_path / "checkout"), {})[:1])
    assert (report.status, report.imported_from) == ("broken", None)
    assert "--editable" in report.text()


def test_a_source_checkout_is_healthy_and_said_to_have_no_distribution(tmp_path):
    checkout = Site(tmp_path / "checkout")
    for path, text in OURS.items():
        checkout.write(path, text)
    report = checkout.check()
    assert (report.status, report.installation, report.leftovers) == ("healthy", "none", ())
    assert "No distribution gem-gym" in report.text()


def test_gem_llm_in_another_folder_shares_nothing(site, tmp_path):
    late, early = Site(tmp_path / "late"), Site(tmp_path / "early")
    site.install("gem-gym", OURS)
    late.install("gem-llm", THEIRS)
    report = check(paths=[str(site.root), str(late.root)])
    assert (report.status, report.others[0].shared, list(report.repair())) == ("warning", 0, [])
    early.install("gem-llm", THEIRS)
    report = check(paths=[str(early.root), str(site.root)])
    assert (report.status, report.changed, list(report.repair())) == ("broken", (), ["pip uninstall gem-llm"])


def test_another_gem_earlier_on_the_path_is_named(site, tmp_path):
    site.install("gem-gym", OURS)
    stranger = Site(tmp_path / "stranger")
    stranger.write("gem/__init__.py", BOOM)
    report = check(paths=[str(stranger.root), str(site.root)])
    assert (report.status, list(report.repair())) == ("broken", [])
    assert str(stranger.root.resolve()) in report.text()


@pytest.mark.parametrize("state", ["healthy", "warning", "broken"])
def test_command_line_prints_and_exits(site, state):
    for name, files in {"healthy": [("gem-gym", OURS)], "warning": [("gem-llm", THEIRS), ("gem-gym", OURS)]}.get(
        state, [("gem-gym", OURS), ("gem-llm", THEIRS)]
    ):
        site.install(name, files)
    plain, machine = site.doctor(), site.doctor("--json")
    assert plain.returncode == machine.returncode == (1 if state == "broken" else 0), plain.stderr
    assert plain.stderr == machine.stderr == ""
    assert plain.stdout.startswith("gem-gym 0.1.0 is ")
    assert (REINSTALL in plain.stdout) == (state != "healthy")
    report = json.loads(machine.stdout)
    assert report["status"] == state
    assert report["repair"] == ([] if state == "healthy" else ["pip uninstall gem-llm", REINSTALL])
    assert {"installation", "version", "location", "imported_from", "missing", "changed", "others", "leftovers", "notes"} <= set(report)


def test_command_line_has_help(site):
    site.install("gem-gym", OURS)
    helped = site.doctor("--help")
    assert helped.returncode == 0
    assert "--json" in helped.stdout


def test_command_line_works_when_gem_is_gone(site):
    site.write("gem_gym_doctor.py", OURS["gem_gym_doctor.py"])
    gone = site.doctor()
    assert (gone.returncode, gone.stderr) == (1, "")
    assert "no such distribution" in gone.stdout


@pytest.mark.parametrize("before", [[], ["gem-llm"]], ids=["alone", "beside-gem-llm"])
def test_both_entries_run_the_command_line_when_intact(site, before):
    for name in before:
        site.install(name, THEIRS)
    site.install("gem-gym", OURS)
    ran, ran_as_module = site.script(), site.python_m_gem()
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, "cli ['list']\n", "")
    assert (ran_as_module.returncode, ran_as_module.stdout) == (7, "cli None\n")


def test_the_entries_run_in_a_checkout_without_a_distribution(site):
    for path, text in OURS.items():
        site.write(path, text)
    assert site.script().returncode == site.python_m_gem().returncode == 7


def test_the_script_refuses_when_gem_llm_was_installed_last(site):
    site.install("gem-gym", OURS)
    site.install("gem-llm", THEIRS)
    refused = site.script()
    assert (refused.returncode, refused.stdout) == (1, "")
    assert REINSTALL in refused.stderr


def test_both_entries_refuse_when_gem_llm_was_uninstalled(site):
    site.install("gem-gym", OURS)
    site.install("gem-llm", THEIRS)
    site.uninstall("gem-llm")
    for refused in (site.script(), site.python_m_gem()):
        assert (refused.returncode, refused.stdout) == (1, "")
        assert REINSTALL in refused.stderr


@pytest.mark.parametrize("path", [path for path in OURS if path.startswith("gem/")])
def test_the_script_notices_every_missing_file(site, path):
    site.install("gem-gym", OURS)
    (site.root / path).unlink()
    refused = site.script()
    assert refused.returncode == 1
    assert path in refused.stderr


def test_the_script_lets_a_file_that_cannot_collide_be_edited(site):
    site.install("gem-gym", OURS)
    site.write("gem/graders/__init__.py", "debug = True\n")
    assert site.script().returncode == 7


def pip(python: Path | str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, cwd="/", env={**os.environ, **environ})


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_real_gem_llm_in_both_orders(tmp_path):
    """Builds our wheel, walks both orders with the real gem-llm, and runs the repair lines as they are printed."""
    wheels = tmp_path / "wheels"
    python = tmp_path / "venv" / "bin" / "python"
    venv.create(tmp_path / "venv", with_pip=True)
    downloaded = pip(python, "download", "--no-deps", "--dest", str(wheels), "gem-llm")
    if downloaded.returncode:
        pytest.skip(f"pip cannot download gem-llm: {downloaded.stderr[-300:]}")
    built = pip(python, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(REPO))
    assert built.returncode == 0, built.stderr

    def do(*arguments: str) -> None:
        done = pip(python, *arguments, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels), PIP_YES="1")
        assert done.returncode == 0, done.stderr

    def diagnosis(status: str) -> dict:
        command = [str(python), "-m", "gem_gym_doctor"]
        plain = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/")
        machine = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=60, cwd="/")
        assert plain.returncode == machine.returncode == (1 if status == "broken" else 0), plain.stdout + plain.stderr
        report = json.loads(machine.stdout)
        assert report["status"] == status
        assert plain.stdout.startswith(report["summary"])
        assert all(line in plain.stdout for line in report["repair"])
        return report

    def refused(script: str) -> bool:
        ran = subprocess.run([str(python.parent / script)], capture_output=True, text=True, timeout=60, cwd="/")
        return ran.returncode == 1 and REINSTALL in ran.stderr and "Traceback" not in ran.stderr

    def repair(report: dict) -> None:
        for line in report["repair"]:
            do(*line.split()[1:])
        diagnosis("healthy")

    do("install", "--no-deps", "gem-gym")
    diagnosis("healthy")
    do("install", "--no-deps", "gem-llm")
    report = diagnosis("broken")
    assert set(SHARED) <= set(report["changed"])
    assert report["others"][0]["replaced"] == len(report["changed"]) == report["others"][0]["shared"]
    assert refused("gem")
    assert refused("gem-gym")
    repair(report)

    do("install", "--no-deps", "gem-llm")
    do("uninstall", "gem-llm")
    report = diagnosis("broken")
    assert set(SHARED) <= set(report["missing"])
    assert refused("gem")
    repair(report)

    do("uninstall", "gem-gym")
    do("install", "--no-deps", "gem-llm")
    do("install", "--no-deps", "gem-gym")
    report = diagnosis("warning")
    assert report["repair"] == ["pip uninstall gem-llm", REINSTALL]
    do("uninstall", "gem-llm")
    assert set(SHARED) <= set(diagnosis("broken")["missing"])
    repair(report={"repair": [REINSTALL]})
