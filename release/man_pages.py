#!/usr/bin/env python3
"""Makes manual pages of what `espalier --help` and `espalier COMMAND --help` print.

Usage: man_pages.py ESPALIER FOLDER   writes FOLDER/espalier.1 and FOLDER/espalier-COMMAND.1

Their date is that of SOURCE_DATE_EPOCH, so that the same command gives the same pages.
"""

import datetime
import os
import pathlib
import re
import subprocess
import sys

LISTS = {"Positionals": "ARGUMENTS", "Options": "OPTIONS", "Subcommands": "COMMANDS"}
EXAMPLES = ["Examples", "Example", "Try"]
COLUMN = 30  # where the help begins to say what an option does
ESCAPES = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def escape(text):
    made = "".join(ESCAPES.get(letter, letter) for letter in text)
    return "\\&" + made if made.startswith(".") else made


def split(text):
    """Returns the description, the usage, and (heading or None, lines) of each block of a help."""
    lines = text.rstrip().splitlines()
    usage = next(at for at, line in enumerate(lines) if line.startswith("Usage: "))
    blocks, heading, block = [], None, []
    for line in lines[usage + 1 :] + [""]:
        match = re.fullmatch(r"([A-Z][a-z]+):", line)
        # A list ends with its first empty line; examples go on to the next line without indent.
        ends = not line and heading not in EXAMPLES
        begins_text = heading in EXAMPLES and line and not line.startswith(" ")
        if match or ends or begins_text:
            if block:
                blocks.append((heading, block))
            heading, block = (match.group(1) if match else None), []
            if match or ends:
                continue
        block.append(line)
    if block:
        blocks.append((heading, block))
    return " ".join(lines[:usage]), lines[usage].removeprefix("Usage: "), blocks


def entries(lines):
    """Returns (term, description) of each entry of a list."""
    found = []
    for line in lines:
        if line.startswith(" " * COLUMN):
            found[-1][1].append(line.strip())
        elif line[COLUMN - 2 : COLUMN] == "  ":
            found.append((line[:COLUMN].strip(), [line[COLUMN:].strip()]))
        else:
            found.append((line.strip(), []))
    return [(term, " ".join(words)) for term, words in found]


def literal(lines):
    return [".RS 4", ".nf", *[escape(line) or ".sp" for line in lines], ".fi", ".RE"]


def example_lines(lines):
    made, held = [], []
    for line in [*lines, ""]:
        if line.startswith("    "):
            held.append(line[4:])
            continue
        if held:
            made += literal(held)
            held = []
        if line.strip():
            made += [".PP", escape(line.strip())]
    return made


def short_list_lines(lines):
    """Examples of a help that has them without a text before each."""
    return [".PP", *literal([line.strip() for line in lines if line.strip()])]


def page(name, help_text, version, date, others):
    """Returns the page of `name`, such as "espalier place"."""
    title = name.replace(" ", "-")
    description, usage, blocks = split(help_text)
    made = [
        f'.TH {title.upper()} 1 "{date}" "{escape(version)}" "User Commands"',
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{escape(title)} \\- {escape(description)}",
        ".SH SYNOPSIS",
        ".B " + escape(name),
        escape(usage.removeprefix(name).strip()),
    ]
    texts, codes, lists, examples = [], [], [], []
    for heading, lines in blocks:
        if heading in LISTS:
            lists.append(f".SH {LISTS[heading]}")
            for term, text in entries(lines):
                lists += [".TP", ".B " + escape(term), escape(text)]
        elif heading in EXAMPLES:
            with_text = any(line.startswith("    ") for line in lines)
            examples += (example_lines if with_text else short_list_lines)(lines)
        elif heading is not None:
            lists += [f".SH {heading.upper()}", *literal(lines)]
        else:
            before, mark, after = " ".join(line.strip() for line in lines).partition("Exit codes: ")
            if before.strip():
                texts += [".PP", escape(before.strip())]
            if mark:
                codes += [".PP", escape(after.strip())]
    if texts:
        made += [".SH DESCRIPTION", *texts]
    made += lists
    if examples:
        made += [".SH EXAMPLES", *examples]
    if codes:
        made += [".SH EXIT STATUS", *codes]
    made += [".SH SEE ALSO", ", ".join(f"\\fB{escape(other)}\\fP(1)" for other in others)]
    return "\n".join(made) + "\n"


def commands_of(help_text):
    """Returns the names of all commands."""
    return [
        term
        for heading, lines in split(help_text)[2]
        if heading == "Subcommands"
        for term, _ in entries(lines)
    ]


def main():
    espalier, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    version = output_of(espalier, "--version").splitlines()[0].split(" (")[0]
    date = datetime.datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc
    ).date()
    top = output_of(espalier, "--help")
    commands = commands_of(top)
    pages = [f"espalier-{command}" for command in commands]
    (folder / "espalier.1").write_text(page("espalier", top, version, date, pages))
    for command in commands:
        text = output_of(espalier, command, "--help")
        (folder / f"espalier-{command}.1").write_text(
            page(f"espalier {command}", text, version, date, ["espalier"])
        )


if __name__ == "__main__":
    main()
