#!/usr/bin/env python3
"""Proves what the wheel of a release is: of the version, in the same bytes again, with its licence. Needs the
Python packages of `make test-python`, and git."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("PYTHON", str(ROOT / "build/python/bin/python"))


def make(folder, python=PYTHON):
    """Makes the wheel in a folder; returns what there is then, and what was said."""
    folder.mkdir()
    said = subprocess.run(
        [ROOT / "release/python_wheel.sh", folder],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "PYTHON": python},
    ).stdout
    return sorted(folder.iterdir()), said


class PythonWheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_it_is_of_the_version_and_the_same_again(self):
        ((wheel,), said) = make(self.folder / "made")
        self.assertEqual(said, "")
        version = subprocess.run(
            [ROOT / "release/version.sh"], check=True, capture_output=True, text=True
        ).stdout.split()[0]
        name = version.replace("-dev", ".dev0")  # as Python spells it
        self.assertEqual(wheel.name, f"espalier_placement-{name}-py3-none-any.whl")
        ((again,), _) = make(self.folder / "again")
        self.assertEqual(wheel.read_bytes(), again.read_bytes())
        with zipfile.ZipFile(wheel) as archive:
            (licence,) = [name for name in archive.namelist() if name.endswith("/LICENSE")]
            self.assertEqual(archive.read(licence), (ROOT / "LICENSE").read_bytes())

    def test_without_what_it_needs_there_is_none_and_it_is_said(self):
        made, said = make(self.folder / "made", "/nowhere/python")
        self.assertEqual(made, [])
        self.assertIn("WITHOUT the Python wheel", said)


if __name__ == "__main__":
    if not pathlib.Path(PYTHON).exists() or not (ROOT / ".git").exists():
        print(f"SKIPPED: there is no {PYTHON}, which `make test-python` makes, or no clone of git")
        sys.exit(77)
    unittest.main()
