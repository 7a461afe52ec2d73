#!/usr/bin/env python3
"""Checks that every threat of docs/security.md names tests, and that they exist."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST_THREATS = "## Who asks"  # the heading of the first table of threats


def existing():
    """Returns all tests as Suite.Name."""
    tests = set()
    for file in (ROOT / "tests").rglob("*.cpp"):
        text = file.read_text(errors="replace")
        tests.update(map(".".join, re.findall(r"\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\)", text)))
    return tests


def wrong():
    """Returns a line for each fault."""
    tests = existing()
    page = (ROOT / "docs/security.md").read_text()
    rows = [line for line in page.split(FIRST_THREATS)[1].splitlines() if line.startswith("| ")]
    threats = [line for line in rows if not line.startswith("| threat |")]
    assert len(threats) > 20, "docs/security.md has no threats"
    for line in threats:
        named = re.findall(r"`([A-Z]\w+\.\w+)`", line.rsplit("| ", 1)[1])
        if not named:
            yield f"docs/security.md: names no test: {line[:70]}"
        for test in named:
            if test not in tests:
                yield f"docs/security.md: there is no test {test}"


faults = list(wrong())
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(1 if faults else 0)
