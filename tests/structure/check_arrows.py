#!/usr/bin/env python3
"""Checks which folder includes which (docs/architecture.md, "Rooms and arrows").

Usage: check_arrows.py [ROOT]   (ROOT: the repository, by default the one this file is in)

Prints one line per include that goes against an arrow; exit code 1 when there is any.
"""

import pathlib
import re
import sys

# room -> rooms it may include, itself apart. A file belongs to the longest room that is a prefix
# of its path.
ROOMS = {
    "kernels": [],
    "host/model": [],
    "host/packing": ["kernels", "host/model"],
    "host/engine": ["kernels", "host/model", "host/packing"],
    "host/nested": ["kernels", "host/model", "host/packing", "host/engine", "host/gangs"],
    "host/what_if": ["kernels", "host/model", "host/packing", "host/engine"],
    "host/kueue": [
        "kernels", "host/model", "host/packing", "host/engine", "host/what_if", "host/nested",
        "host/gangs",
    ],
    "host/live": [
        "kernels", "host/model", "host/packing", "host/engine", "host/what_if", "host/kueue",
    ],
    "host/questions": [
        "kernels", "host/model", "host/packing", "host/engine", "host/what_if", "host/kueue",
        "host/live",
    ],
    "host/gangs": ["host/model"],
    "host/readers": ["host/model", "host/gangs"],
    "host/webhooks": [
        "kernels", "host/model", "host/packing", "host/engine", "host/what_if", "host/gangs",
        "host/kueue", "host/readers",
    ],
    "host/conformance": [
        "kernels", "host/model", "host/packing", "host/engine", "host/what_if", "host/kueue",
        "host/readers", "host/webhooks",
    ],
    "host/cuda": ["kernels", "host/model", "host/packing", "host/engine"],
    "fallback_cpu": ["kernels", "host/model", "host/packing", "host/engine", "host/nested"],
    "bench/scenarios": ["kernels", "host"],
    "service": ["kernels", "host", "fallback_cpu", "proto", "bench/scenarios"],
}
# Rooms at the end of every arrow: they may include anything of the project but the wire types.
LEAVES = ["tests", "bench"]

# (what it is, pattern on the included path, folders that may include it)
RESTRICTED = [
    ("protobuf or gRPC", re.compile(r"^(google/protobuf|grpc|grpcpp|proto)/|\.pb\.h$"),
     ["service", "tests/server", "tests/wire", "tests/fuzz", "tests/cli", "tests/attack", "tests/chaos",
      "tests/thread_sanitizer", "bench/fairness.cpp", "bench/warm_start.cpp"]),
    ("simdjson", re.compile(r"^simdjson"),
     ["host/readers", "host/webhooks", "host/conformance", "tests", "bench"]),
    ("prometheus-cpp", re.compile(r"^(prometheus/|civetweb)"), ["service/server"]),
    ("yaml-cpp", re.compile(r"^yaml-cpp/"), ["host/readers", "service/cli", "tests"]),
    ("CLI11", re.compile(r"^CLI/"), ["service", "tests/cli"]),
    ("sockets", re.compile(r"^(sys/socket|sys/un|netinet/|arpa/|netdb)"),
     ["service", "tests/server", "tests/cli", "tests/attack"]),
    ("the CUDA runtime", re.compile(r"^(cuda|cub/|cooperative_groups)"),
     ["kernels", "host/cuda", "tests/cuda", "bench"]),
    ("GoogleTest", re.compile(r"^(gtest|gmock)/"), ["tests"]),
]

SOURCE_ENDINGS = {".hpp", ".cpp", ".cuh", ".cu", ".h", ".cc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def room_of(path):
    """The longest room or leaf that holds `path`, or None."""
    holders = [room for room in [*ROOMS, *LEAVES] if within(path, room)]
    return max(holders, key=len, default=None)


def problem_with(path, included):
    """Why the file `path` may not include `included`, or None when it may."""
    for what, pattern, folders in RESTRICTED:
        if pattern.search(included) and not any(within(path, folder) for folder in folders):
            return f"{what} may be included only in {', '.join(folders)}"
    target = room_of(included)
    if target is None and within(included, "host"):
        return "no room of that name: add it to ROOMS in tests/structure/check_arrows.py"
    room = room_of(path)
    if target is None or room == target or room in LEAVES:
        return None
    if any(within(target, allowed) for allowed in ROOMS[room]):
        return None
    allowed = ", ".join([room, *ROOMS[room]])
    return f"{room} may include only {allowed}"


def check(root):
    """All problems under `root`, as "path:line: text" lines, and the number of files read."""
    problems, files = [], 0
    for folder in ["kernels", "host", "fallback_cpu", "service", "proto", *LEAVES]:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SOURCE_ENDINGS or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            files += 1
            if room_of(path) is None:
                problems.append(f"{path}:1: source file outside every room")
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                why = match and problem_with(path, match.group(1))
                if why:
                    problems.append(f'{path}:{number}: includes "{match.group(1)}": {why}')
    return problems, files


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else __file__).resolve()
    if not arguments:
        root = root.parents[2]
    problems, files = check(root)
    print("\n".join(problems + [f"arrows: {files} files, {len(problems)} problems"]))
    if files == 0:
        print(f"arrows: no source file under {root}")
    return 1 if problems or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
