#!/usr/bin/env python3
"""Makes a folder that Go takes for a module proxy, with the Go module of the commit that is checked out.

Usage: go_module.py VERSION FOLDER

With GOPROXY=file://FOLDER the module has one version, vVERSION; 1.2.3+4, a version between tags, is
v1.2.4-dev.4 to Go, which wants such a version to come before the next one. Every time in it is that of
SOURCE_DATE_EPOCH.
"""

import json
import pathlib
import re
import subprocess
import sys
import zipfile

from bill_of_materials import release_time

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODULE = ROOT / "service/go"


def go_version(version):
    between = re.fullmatch(r"(\d+\.\d+\.)(\d+)\+(\d+)", version)
    if between:
        start, patch, commits = between.groups()
        return f"v{start}{int(patch) + 1}-dev.{commits}"
    return f"v{version}"


def sources():
    """Returns the files of the module, by the name that each has in it: modules below it are none of it."""
    listed = subprocess.run(
        ["git", "-C", MODULE, "ls-files", "-z"], check=True, capture_output=True, text=True
    ).stdout.split("\0")
    names = [name for name in listed if name]
    others = [name.removesuffix("go.mod") for name in names if name.endswith("/go.mod")]
    own = [name for name in names if not any(name.startswith(folder) for folder in others)]
    return {name: MODULE / name for name in own} | {"LICENSE": ROOT / "LICENSE"}


def write(version, folder):
    text = (MODULE / "go.mod").read_text()
    path = re.search(r"^module (\S+)$", text, re.MULTILINE).group(1)
    versions = folder / path / "@v"
    versions.mkdir(parents=True)
    (versions / "list").write_text(f"{version}\n")
    (versions / f"{version}.info").write_text(
        json.dumps({"Version": version, "Time": release_time().strftime("%Y-%m-%dT%H:%M:%SZ")})
        + "\n"
    )
    (versions / f"{version}.mod").write_text(text)
    with zipfile.ZipFile(versions / f"{version}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in sorted(sources().items()):
            # As Go's own are: without times and permissions.
            archive.writestr(
                zipfile.ZipInfo(f"{path}@{version}/{name}"), file.read_bytes(), zipfile.ZIP_DEFLATED
            )


if __name__ == "__main__":
    write(go_version(sys.argv[1]), pathlib.Path(sys.argv[2]))
