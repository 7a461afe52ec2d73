#!/usr/bin/env python3
"""Checks that a version may be released: what is written down of it agrees with its tag.

Usage: check_version.py VERSION [ROOT]

A version of a tag, 1.2.3, is project(VERSION) of CMakeLists.txt, that of the Python package, that of the
images in docker/kustomize and docs/deployment.md, and the newest section of CHANGELOG.md, and
tests/data/wire/released says that the schema kept there is its own. Versions between tags are not checked.
"""

import pathlib
import re
import sys


def schemas(root):
    """Returns the text of every schema below `root`, by its path."""
    return {str(file.relative_to(root)): file.read_text() for file in root.rglob("*.proto")}


def pinned(root):
    """Returns (file, version) of each image and reference that manifests and their page name by version."""
    mark = re.compile(r"(?:newTag: |[?]ref=v|registry\.example/[a-z/-]+:|`:)(\d+\.\d+\.\d+)")
    files = sorted((root / "docker/kustomize").rglob("*.yaml")) + [root / "docs/deployment.md"]
    return [
        (str(file.relative_to(root)), named)
        for file in files
        for named in mark.findall(file.read_text())
    ]


def problems(version, root):
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        return []
    found = []
    project = re.search(r"project\(espalier VERSION (\S+)", (root / "CMakeLists.txt").read_text())
    if project.group(1) != version:
        found.append(f"CMakeLists.txt: the project's version is {project.group(1)}; want {version}")
    package = re.search(
        r'^version = "(.*)"$', (root / "service/python/pyproject.toml").read_text(), re.MULTILINE
    )
    if package.group(1) != version:
        found.append(
            f"service/python/pyproject.toml: its version is {package.group(1)}; want {version}"
        )
    for file, named in pinned(root):
        if named != version:
            found.append(f"{file}: it names {named}; want {version}")
    sections = re.findall(r"^## \[(\d[^\]]*)\]", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    newest = sections[0] if sections else "none"
    if newest != version:
        found.append(f"CHANGELOG.md: the newest section of a version is {newest}; want {version}")
    released = root / "tests/data/wire/released"
    schema = (released / "version").read_text().strip()
    if schema != version or schemas(root / "proto") != schemas(released):
        found.append(
            f"tests/data/wire/released: it has not the schema of {version}; copy proto/espalier "
            f"there and write {version} into the file version"
        )
    return found


def main():
    version = sys.argv[1]
    root = (
        pathlib.Path(sys.argv[2])
        if len(sys.argv) > 2
        else pathlib.Path(__file__).resolve().parents[1]
    )
    found = problems(version, root)
    for problem in found:
        print(f"check_version.py: {version}: {problem}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
