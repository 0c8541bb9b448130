"""Other libraries, each in a virtual environment of its own under `benchmarks/.venvs`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# gem-llm's wheel does not declare all that it imports.
GEM_LLM = ("gem-llm==0.1.0", "datasets", "transformers", "pylatexenc", "requests")


def peer_python(name: str, packages: tuple[str, ...]) -> str:
    """Return the interpreter of a peer's environment, made and filled on the first call."""
    folder = HERE / ".venvs" / name
    python = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        print(f"installing {packages[0]} for comparison ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / ".installed").touch()
    return str(python)


def measure(python: str, *args: str) -> Any:
    """Run `workload.py` with an interpreter and return what it measured."""
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONHASHSEED": "0"}
    command = [python, str(HERE / "workload.py"), *args]
    # Not in the repository's folder: the peer's `import gem` must not find ours.
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE / ".venvs", env=environ)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])
