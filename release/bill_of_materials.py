#!/usr/bin/env python3
"""Says what a build of espalier consists of: an SBOM (SPDX 2.3, JSON), notices of licences, and the
dependencies of a Debian package.

Nothing is listed by hand. Shared libraries are those that the loader finds for the binary; static
ones and compiled headers are those that ninja used for it. Each file is traced to the Debian package,
or the wheel of CUDA's compiler, that it came with. A file that belongs to none is an error.
"""

import argparse
import datetime
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

SHARED, STATIC, HEADERS = "shared", "static", "headers"

# Debian's short names of licences, where SPDX has another one.
SPDX_NAMES = {
    "apache-2": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3": "BSD-3-Clause",
    "expat": "MIT",
    "mit": "MIT",
    "zlib": "Zlib",
    "isc": "ISC",
    "cc0": "CC0-1.0",
    "cc0-1.0": "CC0-1.0",
    "boost": "BSL-1.0",
    "bsl-1.0": "BSL-1.0",
    "gpl-2": "GPL-2.0-only",
    "gpl-2+": "GPL-2.0-or-later",
    "gpl-3+": "GPL-3.0-or-later",
    "lgpl-2.1": "LGPL-2.1-only",
    "lgpl-2.1+": "LGPL-2.1-or-later",
}


# Libraries that others open while they run, which the loader does not tell.
OPENED = {"libtbb.so.12": ["libtbbmalloc.so.2"]}


class Unknown(Exception):
    """Something that cannot be traced to where it came from."""


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def shared_libraries(binary):
    """Returns the files of all shared libraries that `binary` loads, those of libraries included."""
    found = []
    for line in output_of("ldd", binary).splitlines():
        words = line.split()
        if "not found" in line:
            raise Unknown(f"{binary} wants {words[0]}, which is not there")
        if "=>" in words:
            found.append(words[words.index("=>") + 1])
        elif words[0].startswith("/"):
            found.append(words[0])
    for file in list(found):
        for name in OPENED.get(pathlib.Path(file).name, []):
            found.append(str(pathlib.Path(file).with_name(name)))
    return found


def needed_libraries(binary):
    """Returns the files of the shared libraries that `binary` itself names."""
    named = set(re.findall(r"\(NEEDED\).*\[(.+)\]", output_of("readelf", "-d", binary)))
    return [file for file in shared_libraries(binary) if pathlib.Path(file).name in named]


def read_depfile(path):
    """Returns the prerequisites in a depfile as compilers write it."""
    text = path.read_text().replace("\\\n", " ")
    return text.split(":", 1)[1].split()


def linked_and_compiled(build, target):
    """Returns the static libraries from outside that `target` links, and the headers it compiles."""
    ninja = ["ninja", "-C", str(build)]
    steps = output_of(*ninja, "-t", "inputs", target).splitlines()
    link = output_of(*ninja, "-t", "commands", target).splitlines()[-1]
    archives = {str((build / word).resolve()) for word in link.split() if word.endswith(".a")}
    wanted = set(steps)
    headers, taken = set(), False
    for line in output_of(*ninja, "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            taken = line.split(": #deps")[0] in wanted
        elif taken and line.strip():
            headers.add(line.strip())
    for step in steps:
        depfile = build / (step + ".d")
        if step.endswith(".o") and depfile.exists():
            headers.update(read_depfile(depfile))
    inside = [str(build.resolve()) + "/", str(pathlib.Path(__file__).resolve().parents[1]) + "/"]
    toolkit = inside[1] + ".cuda-toolkit/"

    def outside(file):
        return file.startswith(toolkit) or not any(file.startswith(folder) for folder in inside)

    headers = {str((build / file).resolve()) for file in headers}
    return sorted(filter(outside, archives)), sorted(filter(outside, headers))


def spdx_license(text):
    """Returns what a machine-readable copyright file declares for `Files: *`, in SPDX's names."""
    match = re.search(
        r"^Files:\s*\*\s*$(.*?)^License:[ \t]*(.+?)[ \t]*$", text, re.MULTILINE | re.DOTALL
    )
    if not match:
        return "NOASSERTION"
    return SPDX_NAMES.get(match.group(2).lower(), "NOASSERTION")


class DebianPackage:
    def __init__(self, name):
        query = output_of(
            "dpkg-query",
            "-W",
            "-f",
            "${Version}\t${Architecture}\t${source:Package}\t${Homepage}",
            name,
        )
        self.name = name.split(":")[0]
        self.version, self.architecture, self.source, self.homepage = query.split("\t")
        release = dict(
            line.split("=", 1)
            for line in pathlib.Path("/etc/os-release").read_text().splitlines()
            if "=" in line
        )
        distribution = release["ID"].strip('"')
        self.purl = (
            f"pkg:deb/{distribution}/{self.name}@{self.version.replace('+', '%2B')}"
            f"?arch={self.architecture}&distro={distribution}-"
            + release.get("VERSION_ID", "").strip('"')
        )
        self.supplier = f"Organization: {distribution}"
        file = pathlib.Path("/usr/share/doc") / self.name / "copyright"
        if not file.exists():
            raise Unknown(f"{file} is missing; it has the licence of {self.name}, which is linked")
        self.notice = file.read_text(errors="replace")
        self.license = spdx_license(self.notice)


class Wheel:
    def __init__(self, folder):
        meta = (folder / "METADATA").read_text()
        self.name = re.search(r"^Name: (.+)$", meta, re.MULTILINE).group(1)
        self.version = re.search(r"^Version: (.+)$", meta, re.MULTILINE).group(1)
        self.homepage = re.search(r"^Home-page: (.+)$", meta, re.MULTILINE).group(1)
        self.source = self.name
        self.purl = f"pkg:pypi/{self.name}@{self.version}"
        self.supplier = "Organization: NVIDIA"
        self.notice = "\n".join(
            file.read_text(errors="replace") for file in sorted((folder / "licenses").iterdir())
        )
        self.license = "NOASSERTION"


@functools.cache
def recorded_files(folder):
    """Returns the files of a wheel, relative to where it is installed."""
    return {line.split(",")[0] for line in (folder / "RECORD").read_text().splitlines()}


def wheel_of(file):
    """Returns the wheel that a file below .cuda-toolkit came with, or None for other files."""
    path = pathlib.Path(file)
    for parent in path.parents:
        if parent.name == ".cuda-toolkit":
            relative = str(path.relative_to(parent))
            for folder in sorted(parent.glob("*.dist-info")):
                if relative in recorded_files(folder):
                    return folder
    return None


def packages_of(files):
    """Returns the names of the Debian packages that the files came with."""
    names, left = set(), set(files)
    # A file is known by the path in its package, which may be that of before /lib was a link.
    asked = {}
    for file in files:
        real = os.path.realpath(file)
        for path in [file, real, real.removeprefix("/usr")]:
            asked.setdefault(path, file)
    words = sorted(asked)
    for start in range(0, len(words), 500):
        made = subprocess.run(
            ["dpkg-query", "-S", *words[start : start + 500]],
            check=False,
            capture_output=True,
            text=True,
        )
        for line in made.stdout.splitlines():
            owners, path = line.rsplit(": ", 1)
            if path in asked and not owners.startswith("diversion by"):
                names.add(owners.split(", ")[0])
                left.discard(asked[path])
    if left:
        raise Unknown(
            "belongs to no package, so its licence is not known: " + ", ".join(sorted(left)[:5])
        )
    return names


def components(binary, build):
    """Returns {component: {how it is used, ...}}, in the order of their names."""
    archives, headers = linked_and_compiled(build, "espalier")
    used = {}
    known = {}
    for how, files in [(SHARED, shared_libraries(binary)), (STATIC, archives), (HEADERS, headers)]:
        debian = []
        for file in files:
            wheel = wheel_of(file)
            if wheel is None:
                debian.append(file)
            else:
                known[str(wheel)] = Wheel(wheel)
                used.setdefault(str(wheel), set()).add(how)
        for name in packages_of(debian):
            if name not in known:
                known[name] = DebianPackage(name)
            used.setdefault(name, set()).add(how)
    return {known[key]: used[key] for key in sorted(used, key=lambda key: known[key].name)}


def release_time():
    """Returns the time that is written into what is made."""
    return datetime.datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc
    )


def spdx(name, found, version, commit, binary, when):
    """Returns the SBOM of the program `name`, with the components of `found`, as SPDX 2.3."""
    relations = {SHARED: "DYNAMIC_LINK", STATIC: "STATIC_LINK", HEADERS: "STATIC_LINK"}
    comments = {HEADERS: "its headers are compiled in"}
    digest = hashlib.sha256(binary.read_bytes()).hexdigest()
    packages = [
        {
            "SPDXID": f"SPDXRef-{name}",
            "name": name,
            "versionInfo": version,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
            "sourceInfo": f"commit {commit}",
            "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0",
            "copyrightText": "NOASSERTION",
            "primaryPackagePurpose": "APPLICATION",
        }
    ]
    relationships = [
        {
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": f"SPDXRef-{name}",
        }
    ]
    for component, hows in found.items():
        identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", component.name)
        package = {
            "SPDXID": identifier,
            "name": component.name,
            "versionInfo": component.version,
            "supplier": component.supplier,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": component.license,
            "copyrightText": "NOASSERTION",
            "sourceInfo": f"built from {component.source}",
            "externalRefs": [
                {
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": component.purl,
                }
            ],
        }
        if component.homepage:
            package["homepage"] = component.homepage
        packages.append(package)
        for how in sorted(hows):
            relation = {
                "spdxElementId": f"SPDXRef-{name}",
                "relationshipType": relations[how],
                "relatedSpdxElement": identifier,
            }
            if how in comments:
                relation["comment"] = comments[how]
            relationships.append(relation)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"https://espalier.dev/spdx/{name}-{version}-{digest[:16]}",
        "creationInfo": {
            "created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: espalier-bill-of-materials"],
        },
        "packages": packages,
        "relationships": relationships,
    }


def notices(found, shipped):
    """Returns the notices of what is in the binary and, where `shipped`, of what goes beside it."""
    texts = {}
    for component, hows in found.items():
        if shipped or hows & {STATIC, HEADERS}:
            texts.setdefault(component.notice.strip(), []).append(
                f"{component.name} {component.version}"
            )
    parts = [
        "Espalier is licensed under the Apache License 2.0. It contains parts of the following,\n"
        "each under the licence that stands below its name."
    ]
    for text, names in texts.items():
        parts.append("=" * 100 + "\n" + "\n".join(names) + "\n" + "=" * 100 + "\n\n" + text)
    # Debian's notices point at the licences that many packages share.
    common = sorted(
        {
            name.rstrip(".")
            for text in texts
            for name in re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]+)", text)
        }
    )
    for name in common:
        file = pathlib.Path("/usr/share/common-licenses") / name
        if file.is_file():
            parts.append("=" * 100 + f"\n{file}\n" + "=" * 100 + "\n\n" + file.read_text().strip())
    return "\n\n".join(parts) + "\n"


def dependencies(binary):
    """Returns the value of Depends of a Debian package that holds `binary`."""
    wanted = set()
    for name in packages_of(needed_libraries(binary)):
        package = DebianPackage(name)
        upstream = package.version.rsplit("-", 1)[0]
        wanted.add(f"{package.name} (>= {upstream})")
    return ", ".join(sorted(wanted))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="folder of a ninja build")
    parser.add_argument(
        "--binary",
        type=pathlib.Path,
        help="what is shipped of it, such as a stripped copy; else BUILD/espalier",
    )
    parser.add_argument("--spdx", type=pathlib.Path, help="write the SBOM there")
    parser.add_argument("--notices", type=pathlib.Path, help="write the notices there")
    parser.add_argument(
        "--shipped", action="store_true", help="shared libraries go along, so their notices do too"
    )
    parser.add_argument("--depends", action="store_true", help="print Depends of a Debian package")
    parser.add_argument("--files", action="store_true", help="print the shared libraries it loads")
    arguments = parser.parse_args()
    binary = arguments.binary or arguments.build / "espalier"
    first = output_of(binary, "--version").splitlines()[0]
    version, commit = re.fullmatch(r"espalier (\S+) \((.+)\)", first).groups()
    try:
        if arguments.depends:
            print(dependencies(binary))
        if arguments.files:
            print("\n".join(shared_libraries(binary)))
        if arguments.spdx or arguments.notices:
            found = components(binary, arguments.build)
            if arguments.spdx:
                arguments.spdx.write_text(
                    json.dumps(
                        spdx("espalier", found, version, commit, binary, release_time()), indent=2
                    )
                    + "\n"
                )
            if arguments.notices:
                arguments.notices.write_text(notices(found, arguments.shipped))
    except Unknown as error:
        sys.exit(f"bill_of_materials.py: {error}")


if __name__ == "__main__":
    main()
