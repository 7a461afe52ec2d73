#!/usr/bin/env python3
"""Proves what version and commit a build gives itself, by tags, without any, and out of an archive.

Usage: version_test.py CMAKE
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = sys.argv.pop(1)


class Version(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.source = self.folder / "source"
        self.source.mkdir()
        for name in ["version.txt", ".gitattributes"]:
            shutil.copy(ROOT / name, self.source)
        (self.source / "CMakeLists.txt").write_text(
            "project(espalier VERSION 0.1.0 LANGUAGES CXX)\n"
        )

    def git(self, *words):
        return subprocess.run(
            [
                "git",
                "-C",
                self.source,
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@example.com",
                *words,
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self, *tags):
        """Adds a commit with these tags; returns its abbreviated name."""
        if not (self.source / ".git").exists():
            self.git("init", "--quiet")
            self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a")
        for tag in tags:
            self.git("tag", "--annotate", "--message", tag, tag)
        return self.git("rev-parse", "--short=12", "HEAD")

    def facts(self, source=None):
        """Returns version and commit as the build of `source` would have them."""
        output = self.folder / "facts.hpp"
        subprocess.run(
            [
                CMAKE,
                f"-DOUTPUT={output}",
                f"-DSOURCE_DIR={source or self.source}",
                "-P",
                ROOT / "service/cli/write_build_facts.cmake",
            ],
            check=True,
        )
        values = dict(line.split(" ", 2)[1:] for line in output.read_text().splitlines())
        return tuple(values[name].strip('"') for name in ["ESPALIER_VERSION", "ESPALIER_COMMIT"])

    def archive(self):
        """Returns a folder with what `git archive` makes of HEAD."""
        folder = self.folder / "archive"
        folder.mkdir()
        made = subprocess.run(
            ["git", "-C", self.source, "archive", "HEAD"], check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=made, check=True)
        return folder

    def test_without_git_and_archive_nothing_is_claimed(self):
        self.assertEqual(self.facts(), ("0.1.0-dev", "unknown commit"))

    def test_without_a_tag_it_is_in_development(self):
        name = self.commit()
        self.assertEqual(self.facts(), ("0.1.0-dev", name))
        self.assertEqual(self.facts(self.archive()), ("0.1.0-dev", name))

    def test_at_a_tag_it_is_that_version(self):
        name = self.commit("v1.2.3")
        self.assertEqual(self.facts(), ("1.2.3", name))
        self.assertEqual(self.facts(self.archive()), ("1.2.3", name))

    def test_after_a_tag_commits_are_counted(self):
        self.commit("v1.2.3")
        self.commit()
        name = self.commit("measured")  # not a version
        self.assertEqual(self.facts(), ("1.2.3+2", name))
        self.assertEqual(self.facts(self.archive()), ("1.2.3+2", name))

    def test_changed_files_are_told(self):
        name = self.commit("v1.2.3")
        (self.source / "version.txt").write_text("changed")
        self.assertEqual(self.facts(), ("1.2.3", name + "-dirty"))


if __name__ == "__main__":
    unittest.main()
