#!/usr/bin/env python3
"""Runs the commands of a transcript and compares what they print with what the transcript shows.

Usage: transcripts_test.py ESPALIER TRANSCRIPT            prints what differs, with exit code 1
       transcripts_test.py ESPALIER TRANSCRIPT --update   writes the transcript anew

A transcript is prose and commands, each with what it prints:

    # Prose: what is shown, and why.
    $ COLUMNS=60 espalier place cluster.yaml < jobs.yaml > table.txt
      each line of standard output, indented by two spaces
    ! each line of standard error
    [exit 1]

A command is split as a shell would, but is given to none. Its program is `espalier`, `cat` or
`sed`; `< FILE` and `> FILE` are its standard input and output, NAME=VALUE in front of it are
variables. All commands of a transcript NAME.txt run in one temporary folder, which starts with
copies of the files of the folders NAME and shared beside it, and with the FOLDERS below. Control
characters are shown as their Unicode pictures. `--update` keeps prose and commands, nothing else.
"""

import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = {
    "data": "tests/cli/data",
    "cycle": "tests/cli_cycle/data",
    "dumps": "tests/data/dumps",
    "manifests": "tests/data/manifests",
    "workloads": "tests/data/workloads",
}
ASSIGNMENT = re.compile(r"[A-Z_]+=")
PICTURES = {code: 0x2400 + code for code in range(32) if code != ord("\n")} | {127: 0x2421}


class Broken(Exception):
    """A transcript that cannot be run."""


class Command:
    """The words of a command line, its variables and the files of its redirections."""

    def __init__(self, line):
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise Broken(f"{line}: {error}") from None
        self.line, self.variables, self.input, self.output = line, {}, None, None
        while words and ASSIGNMENT.match(words[0]):
            name, _, self.variables[name] = words.pop(0).partition("=")
        while len(words) > 2 and words[-2] in ("<", ">"):
            file, direction = words.pop(), words.pop()
            if direction == "<":
                self.input = file
            else:
                self.output = file
        if not words or words[0] not in ("espalier", "cat", "sed"):
            raise Broken(f"{line}: want espalier, cat or sed")
        if self.output and "/" in self.output:
            raise Broken(f"{line}: want a file of the temporary folder")
        self.words = words

    def run(self, espalier, folder):
        """Returns its standard output, its standard error and its exit code."""
        kept = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        environment = {"PATH": os.defpath, "LC_ALL": "C", **kept, **self.variables}
        program = espalier if self.words[0] == "espalier" else self.words[0]
        try:
            with open(folder / self.input if self.input else os.devnull, "rb") as given:
                done = subprocess.run(
                    [program, *self.words[1:]],
                    stdin=given,
                    capture_output=True,
                    cwd=folder,
                    env=environment,
                    check=False,
                )
        except OSError as error:
            raise Broken(f"{self.line}: {error}") from None
        if done.returncode < 0:
            raise Broken(f"{self.line}: ended by signal {-done.returncode}")
        output = done.stdout.decode()
        if self.output:
            (folder / self.output).write_text(output, encoding="utf-8")
            output = ""
        return output, done.stderr.decode(), done.returncode


def shown(text, prefix):
    """Returns the lines of `text` behind `prefix`; of empty lines not even that."""
    lines = text.translate(PICTURES).split("\n")
    end = lines.pop()
    shown_lines = [prefix + line if line else prefix.rstrip() for line in lines]
    return shown_lines + ([prefix + end, "[no newline at the end]"] if end else [])


def kept_lines(text):
    """Returns the lines of prose and commands, each with whether one of them is right before it."""
    lines, right_before = [], False
    for line in text.split("\n"):
        is_kept = line.startswith(("#", "$ "))
        if is_kept:
            lines.append((line, right_before))
        right_before = is_kept
    if not any(line.startswith("$ ") for line, _ in lines):
        raise Broken('it has no command: want lines that begin with "$ espalier "')
    return lines


def check_names(transcript, commands):
    """All files that are there for this transcript alone are named by one of its commands."""
    own = transcript.with_suffix("")
    for file in sorted(own.iterdir()) if own.is_dir() else []:
        if not any(file.name in command for command in commands):
            raise Broken(f"no command names {own.name}/{file.name}")


def run(espalier, transcript):
    """Returns the transcript as it is, and as it should be."""
    before = transcript.read_text(encoding="utf-8")
    lines = kept_lines(before)
    check_names(transcript, [line for line, _ in lines if line.startswith("$ ")])
    after = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for given in [transcript.parent / "shared", transcript.with_suffix("")]:
            if given.is_dir():
                shutil.copytree(given, folder, dirs_exist_ok=True)
        for link, target in FOLDERS.items():
            (folder / link).symlink_to(ROOT / target)
        printed = []
        for line, right_before in lines:
            if after and (printed or not right_before):
                after.append("")
            after.append(line)
            printed = []
            if line.startswith("$ "):
                output, errors, code = Command(line[2:]).run(espalier, folder)
                printed = shown(output, "  ") + shown(errors, "! ")
                printed += [f"[exit {code}]"] if code != 0 else []
            after += printed
    return before, "\n".join(after) + "\n"


def main(arguments):
    update = arguments[2:] == ["--update"]
    if len(arguments) != 2 and not update:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    espalier, transcript = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1])
    try:
        before, after = run(espalier, transcript)
    except (Broken, OSError, UnicodeError) as error:
        print(f"{transcript}: {error}", file=sys.stderr)
        return 1
    if before == after:
        return 0
    if update:
        transcript.write_text(after, encoding="utf-8")
        print(f"wrote {transcript}")
        return 0
    differences = difflib.unified_diff(
        before.split("\n"), after.split("\n"), str(transcript), "what is printed", lineterm=""
    )
    print("\n".join(differences))
    print(f"\nWhere that is right: {shlex.join([sys.argv[0], *arguments, '--update'])}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
