#!/usr/bin/env python3
"""Holds docs/rules.md to the code.

Usage: check_rules.py [ROOT]   (ROOT: the repository, by default the one this file is in)

The heading of a section, "## 9. Orders (R9.1 to R9.7)", says which rules there are. Each has exactly
one row; the row names files and names in them that exist; a rule that is in scope has an
implementation and a test. Source files cite no rule that is not listed. Prints one line per problem;
exit code 1 when there is any.
"""

import pathlib
import re
import sys

TABLE = "docs/rules.md"
SECTIONS = [*range(1, 26), 29]
HEADING = re.compile(r"^## (\d+)\. .*\(R(\d+)\.1 to R(\d+)\.(\d+)\)$")
ROW = re.compile(r"^\| (R\d+\.\d+) \|")
REFERENCE = re.compile(r"`([^`]+)`")
CITATION = re.compile(r"\bR([1-9]\d?)\.([1-9]\d?)\b")
CITING = ["kernels", "host", "fallback_cpu", "service", "tests"]
SOURCE_ENDINGS = {".hpp", ".cpp", ".cuh", ".cu"}

# What the references of a column are relative to.
COLUMNS = {"implementation": "", "oracle": "tests/oracle/", "test": "tests/"}


def has_name(text, name):
    """Whether `name` is an identifier in `text`, or a part of one between underscores."""
    return re.search(rf"(?<![A-Za-z0-9])(\w+_)?{re.escape(name)}(_\w+)?(?![A-Za-z0-9])", text)


def problem_with(root, reference):
    """Why `path:Name` is no reference, or None when it is one."""
    path, _, name = reference.partition(":")
    if not (root / path).is_file():
        return f"there is no file {path}"
    if name and not has_name((root / path).read_text(encoding="utf-8"), name):
        return f"{path} has no {name}"
    return None


def check_row(root, rule, cells):
    """All problems of one row; `cells` are its columns after the rule's number."""
    if len(cells) != 4:
        return [f"{rule}: {len(cells) + 1} columns instead of 5"]
    what, implementation, oracle, test = cells
    problems = [] if what else [f"{rule}: it does not say what it is"]
    for column, cell in zip(COLUMNS, [implementation, oracle, test]):
        for reference in REFERENCE.findall(cell):
            why = problem_with(root, COLUMNS[column] + reference)
            if why:
                problems.append(f"{rule}: {column}: {why}")
    if implementation.startswith("Out of scope: "):
        return problems
    if not REFERENCE.search(implementation):
        problems.append(f"{rule}: no implementation is named")
    if test != "**cases**" and not REFERENCE.search(test):
        problems.append(f"{rule}: no test is named")
    return problems


def read_table(text):
    """The rules that headings announce, and the rows as {rule: [cells, ...]}."""
    announced, rows = [], {}
    for line in text.splitlines():
        heading, row = HEADING.match(line), ROW.match(line)
        if heading and len(set(heading.groups()[:3])) == 1:
            section, last = heading[1], int(heading[4])
            announced += [f"R{section}.{number}" for number in range(1, last + 1)]
        elif row:
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")[1:]]
            rows.setdefault(row[1], []).append(cells)
    return announced, rows


def check_citations(root, known):
    problems = []
    for folder in CITING:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SOURCE_ENDINGS or not file.is_file():
                continue
            cited = {m[0] for m in CITATION.finditer(file.read_text(encoding="utf-8"))}
            path = file.relative_to(root).as_posix()
            problems += [f"{path}: cites {rule}, which {TABLE} does not list"
                         for rule in sorted(cited - known)]
    return problems


def check(root):
    """All problems, and the number of rules."""
    announced, rows = read_table((root / TABLE).read_text(encoding="utf-8"))
    problems = [f"section {section} has no heading"
                for section in SECTIONS if f"R{section}.1" not in announced]
    for rule in announced:
        if len(rows.get(rule, [])) != 1:
            problems.append(f"{rule}: {len(rows.get(rule, []))} rows instead of 1")
    problems += [f"{rule}: no heading announces it" for rule in rows if rule not in announced]
    for rule, all_cells in rows.items():
        for cells in all_cells:
            problems += check_row(root, rule, cells)
    return problems + check_citations(root, set(announced)), len(announced)


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    problems, rules = check(root)
    print("\n".join(problems + [f"rules: {rules} rules, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
