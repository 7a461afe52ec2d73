#!/usr/bin/env python3
"""Proves what is in the Debian package of a build, and that it is made in the same bytes again.

Usage: debian_package_test.py BUILD
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1))


def run(*command, **keywords):
    return subprocess.run(command, check=True, capture_output=True, text=True, **keywords).stdout


def make(folder):
    """Makes the package in a folder; returns its path."""
    folder.mkdir()
    run(
        ROOT / "release/debian_package.sh",
        BUILD.resolve(),
        folder,
        env={
            **os.environ,
            "SOURCE_DATE_EPOCH": "1700000000",
            "MAINTAINER": "A <a@example.com>",
            "LEVEL": "0",
        },
    )
    return next(folder.glob("*.deb"))


class DebianPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.package = make(cls.folder / "made")
        cls.root = cls.folder / "root"
        run("dpkg-deb", "--raw-extract", cls.package, cls.root)
        cls.version = run(BUILD / "espalier", "--version")

    def field(self, name):
        return run("dpkg-deb", "--field", self.package, name).strip()

    def test_the_same_binary_gives_the_same_bytes(self):
        again = make(self.folder / "again")
        self.assertEqual(again.name, self.package.name)
        self.assertEqual(again.read_bytes(), self.package.read_bytes())

    def test_the_command_runs_and_is_of_the_version(self):
        self.assertEqual(run(self.root / "usr/bin/espalier", "--version"), self.version)
        version = self.version.split()[1]
        self.assertEqual(self.field("Version"), version.replace("-", "~") + "-1")

    def test_what_it_depends_on_is_installed_where_it_was_built(self):
        depends = self.field("Depends").split(", ")
        self.assertGreater(len(depends), 10)
        for wanted in depends:
            name, version = re.fullmatch(r"(\S+) \(>= (\S+)\)", wanted).groups()
            there = run("dpkg-query", "-W", "-f", "${Version}", name)
            subprocess.run(["dpkg", "--compare-versions", there, "ge", version], check=True)

    def test_every_command_has_its_page(self):
        pages = {file.name for file in (self.root / "usr/share/man/man1").iterdir()}
        self.assertLessEqual({"espalier.1.gz", "espalier-place.1.gz", "espalier-serve.1.gz"}, pages)

    def test_shells_complete_it(self):
        for path in [
            "bash-completion/completions/espalier",
            "fish/vendor_completions.d/espalier.fish",
        ]:
            self.assertIn("espalier", (self.root / "usr/share" / path).read_text())

    def test_the_unit_is_one(self):
        unit = self.root / "lib/systemd/system/espalier.service"
        self.assertEqual(unit.read_text(), (ROOT / "release/espalier.service").read_text())
        if shutil.which("systemd-analyze") is None:
            self.skipTest("there is no systemd-analyze")
        # It looks for the command where the unit says; here that is in the package.
        moved = self.folder / "espalier.service"
        moved.write_text(
            unit.read_text().replace("/usr/bin/espalier", str(self.root / "usr/bin/espalier"))
        )
        made = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", moved],
            check=False,
            capture_output=True,
            text=True,
        )
        self.assertEqual(
            (made.returncode, [line for line in made.stderr.splitlines() if moved.name in line]),
            (0, []),
        )

    def test_sums_and_sbom_are_of_what_is_in_it(self):
        sums = (self.root / "DEBIAN/md5sums").read_text().splitlines()
        files = [
            file for file in self.root.rglob("*") if file.is_file() and "DEBIAN" not in file.parts
        ]
        self.assertEqual(len(sums), len(files))
        for line in sums:
            digest, path = line.split("  ")
            self.assertEqual(hashlib.md5((self.root / path).read_bytes()).hexdigest(), digest, path)
        sbom = json.loads(next(self.package.parent.glob("*.spdx.json")).read_text())
        self.assertEqual(
            sbom["packages"][0]["checksums"][0]["checksumValue"],
            hashlib.sha256((self.root / "usr/bin/espalier").read_bytes()).hexdigest(),
        )


if __name__ == "__main__":
    if shutil.which("dpkg-deb") is None:
        print("SKIPPED: there is no dpkg-deb")
        sys.exit(77)
    unittest.main()
