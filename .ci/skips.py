"""Fails on a skipped or expected-to-fail test that is not on the list: python skips.py results.xml allowed.txt.

A line of the list is `test id: reason`; the id may end in `*`.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from fnmatch import fnmatchcase
from pathlib import Path


def main(results: str, allowed: str) -> int:
    """Print the skips that nobody allowed, and return 1 where there is one."""
    patterns = [line.partition(": ")[0] for line in Path(allowed).read_text().splitlines() if line.strip() and not line.startswith("#")]
    refused = []
    for case in ElementTree.parse(results).iter("testcase"):
        skipped = case.find("skipped")
        name = f"{case.get('classname')}::{case.get('name')}"
        if skipped is not None and not any(fnmatchcase(name, pattern) for pattern in patterns):
            refused.append(f"{name}: {skipped.get('message')}")
    for line in refused:
        print(f"skipped without being allowed: {line}")
    return int(bool(refused))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
