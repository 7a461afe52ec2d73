#!/usr/bin/env python3
"""Holds commands and flags to those of the last release (docs/compatibility.md).

Usage: flags_test.py ESPALIER           finds what is gone or has another default or fewer values
       flags_test.py ESPALIER --write   writes what there is, for a release
"""

import pathlib
import re
import subprocess
import sys
import unittest

RELEASED = pathlib.Path(__file__).resolve().parents[1] / "data/released_flags.txt"
ESPALIER = sys.argv.pop(1)


def help_of(*command):
    return subprocess.run(
        [ESPALIER, *command, "--help"], check=True, capture_output=True, text=True
    ).stdout


def flags_of(text):
    """Returns {flag: (its default, its values)} of a help; "" and none where it has none."""
    found = {}
    for line in re.findall(r"^  ((?:-\w,)?--[a-z-]+.*)$", text, re.MULTILINE):
        flag, rest = re.match(r"(?:-\w,)?(--[a-z-]+)(.*)", line).groups()
        form = rest.strip().split("  ")[0]
        values = re.search(r":\{([^}]*)\}", form)
        default = re.search(r"=(\S+)", re.sub(r"\[[^\]]*\]|\([^)]*\)|\{[^}]*\}", "", form))
        found[flag] = (
            default.group(1) if default else "",
            set(values.group(1).split(",")) if values else set(),
        )
    return found


def commands_of(text):
    return re.findall(r"^  (\S+)", text.split("Subcommands:\n")[1].split("\n\n")[0], re.MULTILINE)


def there_is():
    """Returns {command: {flag: (default, values)}} of the command; "" for the flags of no command."""
    top = help_of()
    return {"": flags_of(top)} | {name: flags_of(help_of(name)) for name in commands_of(top)}


def lines(commands):
    return [
        " ".join([command or "-", flag, f"default={default}", "values=" + ",".join(sorted(values))])
        for command, flags in sorted(commands.items())
        for flag, (default, values) in sorted(flags.items())
    ]


def differences(before, after):
    found = []
    for line in before:
        command, flag, default, values = line.split(" ")
        command = command.removeprefix("-")
        if command not in after:
            found.append(f"{command}: the command is gone")
        elif flag not in after[command]:
            found.append(f"{command} {flag}: the flag is gone")
        else:
            now, allowed = after[command][flag]
            was = default.removeprefix("default=")
            if was != now:
                found.append(f"{command} {flag}: its default was {was!r} and is {now!r}")
            gone = set(values.removeprefix("values=").split(",")) - allowed - {""}
            found += [f"{command} {flag}: takes {value} no longer" for value in sorted(gone)]
    return found


class Flags(unittest.TestCase):
    def test_what_the_last_release_took_is_taken(self):
        released = RELEASED.read_text().splitlines()
        self.assertIn("place --mode default=sequential values=nominate,sequential", released)
        self.assertIn("serve --max-queued-calls default=256 values=", released)
        self.assertEqual(differences(released, there_is()), [])

    def test_what_is_gone_or_other_is_found(self):
        before = [
            "a --same default=1 values=",
            "a --gone default= values=",
            "a --other default=1 values=",
            "a --fewer default=x values=x,y",
            "b --help default= values=",
        ]
        after = {
            "": {},
            "a": {
                "--same": ("1", set()),
                "--new": ("", set()),
                "--other": ("2", set()),
                "--fewer": ("x", {"x", "z"}),
            },
        }
        self.assertEqual(
            differences(before, after),
            [
                "a --gone: the flag is gone",
                "a --other: its default was '1' and is '2'",
                "a --fewer: takes y no longer",
                "b: the command is gone",
            ],
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        RELEASED.write_text("\n".join(lines(there_is())) + "\n")
    else:
        unittest.main()
