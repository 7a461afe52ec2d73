#!/usr/bin/env python3
"""Registers, spills and shared memory of every kernel, held against bench/ptxas_baseline.json.

Usage: ptxas_table.py [--update] BUILD_FOLDER

Reads what ptxas said while the kernels were compiled (BUILD_FOLDER/kernels/cuda/*.ptxas) and prints
a table, without the kernels of libraries. Exit code 1 when a kernel uses more registers, stack or spills than the baseline allows, or
is not in it; 2 when there is nothing to read. Only printed are architectures without a baseline, and
everything when the compiler is not the one the baseline was made with. --update writes the baseline
anew for the architectures that were compiled.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

BASELINE = pathlib.Path(__file__).with_name("ptxas_baseline.json")
LIMITED = ["registers", "stack", "spill_stores", "spill_loads"]
COLUMNS = [*LIMITED, "shared"]

ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(sm_\w+)'")
FUNCTION = re.compile(r"Function properties for (\w+)")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
KERNEL = re.compile(r"\d(\w*?_kernel)")


def short_name(mangled):
    match = KERNEL.search(re.sub(r"^.*?_GLOBAL__N_\w*?_cu_\w{8}", "", mangled) or mangled)
    return re.sub(r"^\d+", "", match.group(1)) if match else mangled


def read_file(path, table):
    """Adds the kernels of one .ptxas file. Functions that were not inlined count together, under
    the file's name."""
    architecture, entry, row = None, None, None
    for line in path.read_text().splitlines():
        if match := ENTRY.search(line):
            entry, architecture = match.group(1), match.group(2)
            row = None
            if "8espalier" not in entry:
                continue
            row = table.setdefault(architecture, {}).setdefault(
                short_name(entry), dict.fromkeys(COLUMNS, 0))
        elif match := FUNCTION.search(line):
            if row is not None and match.group(1) != entry:
                row = table[architecture].setdefault(
                    f"functions of {path.stem}", dict.fromkeys(COLUMNS, 0))
        elif row is not None:
            if match := SPILLS.search(line):
                for column, value in zip(LIMITED[1:], match.groups()):
                    row[column] += int(value)
            if match := USED.search(line):
                row["registers"] = int(match.group(1))
            if match := SHARED.search(line):
                row["shared"] = int(match.group(1))


def compiler_version(build_folder):
    """As in "13.0.88"."""
    cache = (build_folder / "CMakeCache.txt").read_text()
    nvcc = re.search(r"^ESPALIER_NVCC:\w+=(.+)$", cache, re.MULTILINE).group(1)
    text = subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"V(\d+\.\d+\.\d+)", text).group(1)


def regressions(table, baseline):
    for architecture, kernels in sorted(table.items()):
        if architecture not in baseline:
            continue
        for kernel, row in sorted(kernels.items()):
            allowed = baseline[architecture].get(kernel)
            if allowed is None:
                yield f"{architecture} {kernel}: not in the baseline"
                continue
            for column in LIMITED:
                if row[column] > allowed[column]:
                    yield (f"{architecture} {kernel}: {column} {row[column]}, "
                           f"the baseline allows {allowed[column]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build_folder", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()

    table = {}
    for path in sorted((arguments.build_folder / "kernels/cuda").glob("*.ptxas")):
        read_file(path, table)
    if not table:
        print(f"ptxas: nothing under {arguments.build_folder}/kernels/cuda; build with CUDA first",
              file=sys.stderr)
        return 2
    print(f"{'arch':8}{'kernel':28}" + "".join(f"{column:>14}" for column in COLUMNS))
    for architecture, kernels in sorted(table.items()):
        for kernel, row in sorted(kernels.items()):
            print(f"{architecture:8}{kernel:28}" + "".join(f"{row[c]:>14}" for c in COLUMNS))

    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    version = compiler_version(arguments.build_folder)
    if arguments.update:
        baseline = {**baseline, **table, "nvcc": version}
        BASELINE.write_text(json.dumps(baseline, indent=1, sort_keys=True) + "\n")
        return 0
    if version != baseline.get("nvcc"):
        print(f"ptxas: not compared: compiled by nvcc {version}, the baseline by "
              f"{baseline.get('nvcc')}", file=sys.stderr)
        return 0
    found = list(regressions(table, baseline))
    for text in found:
        print(f"ptxas: {text}", file=sys.stderr)
    if found:
        print("ptxas: a wanted change is recorded with --update", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
