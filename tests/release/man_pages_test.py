#!/usr/bin/env python3
"""Proves that the manual pages say all that the help says, and that a formatter takes them.

Usage: man_pages_test.py ESPALIER
"""

import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ESPALIER = sys.argv.pop(1)
# What the pages say in another way: headings, and the marks of options' parts.
LEFT_OUT = {
    "Usage:",
    "Positionals:",
    "Options:",
    "Subcommands:",
    "Examples:",
    "Example:",
    "Try:",
    "Exit",
    "codes:",
}


def help_of(*command):
    return subprocess.run(
        [ESPALIER, *command, "--help"], check=True, capture_output=True, text=True
    ).stdout


def formatted(page):
    """Returns the text of a page on lines without end, and what the formatter warned of."""
    made = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=5000n", "-rIN=0n", page],
        check=False,
        capture_output=True,
        text=True,
    )
    return made.stdout, made.stderr + ("" if made.returncode == 0 else f"exit {made.returncode}")


class ManPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.pages = pathlib.Path(cls.folder.name)
        subprocess.run(
            [sys.executable, "-B", ROOT / "release/man_pages.py", ESPALIER, cls.pages], check=True
        )
        listed = help_of().split("Subcommands:\n")[1].split("\n\n")[0]
        cls.commands = re.findall(r"^  (\S+)", listed, re.MULTILINE)

    def test_there_is_a_page_for_every_command(self):
        self.assertIn("place", self.commands)
        self.assertEqual(
            {page.name for page in self.pages.iterdir()},
            {"espalier.1"} | {f"espalier-{command}.1" for command in self.commands},
        )

    def test_a_page_has_every_word_of_the_help(self):
        for command in [None, *self.commands]:
            with self.subTest(command=command):
                text = help_of(*([command] if command else []))
                name = f"espalier-{command}.1" if command else "espalier.1"
                shown, _ = formatted(self.pages / name)
                words = collections.Counter(word for word in text.split() if word not in LEFT_OUT)
                missing = words - collections.Counter(shown.split())
                self.assertEqual(dict(missing), {})

    def test_the_formatter_has_nothing_to_warn_of(self):
        for page in sorted(self.pages.iterdir()):
            with self.subTest(page=page.name):
                self.assertEqual(formatted(page)[1], "")

    def test_options_are_entries_of_their_own(self):
        page = (self.pages / "espalier-serve.1").read_text()
        self.assertIn(".TP\n.B \\-\\-insecure\nListen on addresses that others", page)
        self.assertIn(
            ".TP\n.B \\-\\-listen TEXT:ADDRESS ... REQUIRED\nunix:/path/to/socket or HOST:PORT",
            page,
        )


if __name__ == "__main__":
    if shutil.which("groff") is None:
        print("SKIPPED: there is no groff to format manual pages with")
        sys.exit(77)
    unittest.main()
