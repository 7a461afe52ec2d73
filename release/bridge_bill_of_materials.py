#!/usr/bin/env python3
"""Prints the SBOM (SPDX 2.3, JSON) of an espalier-bridge: the Go modules that are linked, as the binary itself
names them, and Go's own library.

Usage: bridge_bill_of_materials.py VERSION COMMIT FILE
"""

import json
import pathlib
import re
import sys

import bill_of_materials


class GoModule:
    supplier, license, homepage = "NOASSERTION", "NOASSERTION", ""

    def __init__(self, path, version):
        self.name, self.version, self.source = path, version, path
        self.purl = f"pkg:golang/{path}@{version.replace('+', '%2B')}"


def components(binary):
    """Returns {module: {how it is used}}."""
    said = bill_of_materials.output_of("go", "version", "-m", binary)
    modules = [GoModule("stdlib", re.search(r": go(\S+)", said).group(1))]
    modules += [
        GoModule(path, version)
        for path, version in re.findall(r"^\tdep\t(\S+)\t(\S+)", said, re.MULTILINE)
    ]
    return {module: {bill_of_materials.STATIC} for module in modules}


def main():
    version, commit, binary = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    made = bill_of_materials.spdx(
        "espalier-bridge",
        components(binary),
        version,
        commit,
        binary,
        bill_of_materials.release_time(),
    )
    print(json.dumps(made, indent=2))


if __name__ == "__main__":
    main()
