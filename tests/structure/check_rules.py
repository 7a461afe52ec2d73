#!/usr/bin/env python3
"""Holds the specification to the code, and the code's citations to the specification.

Usage: check_rules.py [ROOT]   (ROOT: the repository, by default the one this file is in)

The heading of a section, "## 9. Orders (R9.1 to R9.7)", says which rules there are. Each has exactly
one text, "**R9.1 Path order** ...", and one row of a table; the row names files and names in them that
exist, and a rule that is in scope has an implementation and a test. Worked examples, "## E7: ...", are
run from the document or have a test that cites them. Source files and documents cite no rule, and
source files no section and no example, that has no text. Prints one line per problem; exit code 1
when there is any.
"""

import pathlib
import re
import sys

SPECIFICATION = ["docs/spec/kueue-tas.md", "docs/spec/workload-apis.md", "docs/nested-gangs.md"]
EXAMPLES = "docs/spec/worked-examples.md"
SECTIONS = [*(f"R{n}" for n in [*range(1, 26), 29, 30]), *(f"W{n}" for n in [1, 2, 3, 4, 5, 6, 8])]

HEADING = re.compile(r"^## .*\(([RW]\d+)\.1 to \1\.(\d+)\)$")
NUMBERED = re.compile(r"^## W?(\d+)\. ")
TEXT = re.compile(r"^(?:\* )?\*\*([RW]\d+\.\d+)\b(.*)$")
ROW = re.compile(r"^\| ([RW]\d+\.\d+) \|")
REFERENCE = re.compile(r"`([^`]+)`")
NOT_HERE = ("Out of scope: ", "Not implemented: ")
# What the references of a column are relative to.
COLUMNS = {"implementation": "", "oracle": "tests/oracle/", "test": "tests/"}

EXAMPLE = re.compile(r"^## (E\d+): ")
RUN_EXAMPLE = re.compile(r"^```example (E\d+)$")
CITED_RULE = re.compile(r"(?<![A-Za-z0-9])([RW][1-9]\d?)[._]([1-9]\d?)(?![0-9A-Za-z])")
CITED_SECTION = re.compile(r"\bsections? (\d+)(?: (?:to|and) (\d+))?", re.IGNORECASE)
CITED_EXAMPLE = re.compile(r"(?<![A-Za-z0-9.])(E[1-9]\d?)(?![A-Za-z0-9.+-])")
COMMENT_CONTINUES = re.compile(r"\n\s*//\s*")
CITING = ["kernels", "host", "fallback_cpu", "service", "proto", "bench", "tests", "docs"]
SOURCE_ENDINGS = {".hpp", ".cpp", ".cuh", ".cu"}
CITING_ENDINGS = {*SOURCE_ENDINGS, ".proto", ".md", ".txt"}


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
    if len(cells) != 3:
        return [f"{rule}: {len(cells) + 1} columns instead of 4"]
    implementation, oracle, test = cells
    problems = []
    for column, cell in zip(COLUMNS, cells):
        for reference in REFERENCE.findall(cell):
            why = problem_with(root, COLUMNS[column] + reference)
            if why:
                problems.append(f"{rule}: {column}: {why}")
    if implementation.startswith(NOT_HERE):
        return problems
    if not REFERENCE.search(implementation):
        problems.append(f"{rule}: no implementation is named")
    if test != "**cases**" and not REFERENCE.search(test):
        problems.append(f"{rule}: no test is named")
    return problems


class Specification:
    """The rules that headings announce; texts and rows as {rule: [...]}; numbers of sections."""

    def __init__(self):
        self.announced, self.sections = [], set()
        self.texts, self.rows = {}, {}

    def read(self, text):
        for line in text.splitlines():
            heading, numbered = HEADING.match(line), NUMBERED.match(line)
            rule, row = TEXT.match(line), ROW.match(line)
            if numbered:
                self.sections.add(int(numbered[1]))
            if heading:
                section, last = heading[1], int(heading[2])
                self.sections.add(int(section[1:]))
                self.announced += [f"{section}.{number}" for number in range(1, last + 1)]
            elif rule:
                self.texts.setdefault(rule[1], []).append(rule[2].strip())
            elif row:
                cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")[1:]]
                self.rows.setdefault(row[1], []).append(cells)

    def problems(self, root):
        found = [f"section {section} has no heading"
                 for section in SECTIONS if f"{section}.1" not in self.announced]
        for rule in self.announced:
            for what, entries in {"texts": self.texts, "rows": self.rows}.items():
                if len(entries.get(rule, [])) != 1:
                    found.append(f"{rule}: {len(entries.get(rule, []))} {what} instead of 1")
        for rule in sorted({*self.texts, *self.rows} - set(self.announced)):
            found.append(f"{rule}: no heading announces it")
        for rule, texts in self.texts.items():
            found += [f"{rule}: its text is empty" for text in texts if not text.strip("*. ")]
        for rule, all_cells in self.rows.items():
            for cells in all_cells:
                found += check_row(root, rule, cells)
        return found


def citing_files(root):
    readme = root / "README.md"
    files = [readme] if readme.is_file() else []
    for folder in CITING:
        files += sorted((root / folder).rglob("*"))
    return [file for file in files if file.suffix in CITING_ENDINGS and file.is_file()]


def check_citations(root, specification, examples):
    """All citations of what is not there, and the examples that tests cite."""
    problems, cited_examples = [], set()
    known = set(specification.announced)
    for file in citing_files(root):
        text = file.read_text(encoding="utf-8")
        path = file.relative_to(root).as_posix()
        cited = {f"{m[1]}.{m[2]}" for m in CITED_RULE.finditer(text)}
        problems += [f"{path}: cites {rule}, which the specification does not have"
                     for rule in sorted(cited - known)]
        if file.suffix not in SOURCE_ENDINGS:
            continue
        joined = COMMENT_CONTINUES.sub(" ", text)
        sections = {int(number) for m in CITED_SECTION.finditer(joined)
                    for number in m.groups() if number}
        problems += [f"{path}: cites section {section}, which the specification does not have"
                     for section in sorted(sections - specification.sections)]
        if not path.startswith("tests/"):
            continue
        cited = {m[1] for m in CITED_EXAMPLE.finditer(text.replace("_", " "))}
        cited_examples |= cited
        problems += [f"{path}: cites {example}, which {EXAMPLES} does not have"
                     for example in sorted(cited - examples)]
    return problems, cited_examples


def check(root):
    """All problems, and the number of rules."""
    specification = Specification()
    for file in SPECIFICATION:
        specification.read((root / file).read_text(encoding="utf-8"))
    lines = (root / EXAMPLES).read_text(encoding="utf-8").splitlines()
    examples = {m[1] for line in lines if (m := EXAMPLE.match(line))}
    run = {m[1] for line in lines if (m := RUN_EXAMPLE.match(line))}
    problems = specification.problems(root)
    citations, cited = check_citations(root, specification, examples)
    problems += citations
    problems += [f"{EXAMPLES}: {example} has no heading" for example in sorted(run - examples)]
    problems += [f"{EXAMPLES}: {example} is neither run nor cited by a test"
                 for example in sorted(examples - run - cited)]
    return problems, len(specification.announced)


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    problems, rules = check(root)
    print("\n".join(problems + [f"rules: {rules} rules, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
