#!/usr/bin/env python3
"""Proves what is in the image of espalier-bridge and in what a release has of Go. Needs Go and the modules of
service/go, and git."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BRIDGE = "usr/bin/espalier-bridge"
NOTICES = "usr/share/doc/espalier-bridge/NOTICES"


def run(*command, **keywords):
    return subprocess.run(
        command, check=True, capture_output=True, text=True, **{"cwd": ROOT} | keywords
    ).stdout


def linked(binary):
    """Returns (path, version) of each Go module that is linked."""
    said = run("go", "version", "-m", binary)
    return re.findall(r"^\tdep\t(\S+)\t(\S+)", said, re.MULTILINE)


def version_line():
    version, commit = run("release/version.sh").splitlines()
    return f"espalier-bridge {version} ({commit})\n"


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name) / "root"
        run("docker/collect_bridge_root.sh", cls.root, umask=0)

    def test_nothing_else_is_in_it(self):
        files = {
            str(file.relative_to(self.root)) for file in self.root.rglob("*") if not file.is_dir()
        }
        self.assertEqual(files, {"etc/passwd", "etc/group", BRIDGE, NOTICES})

    def test_its_user_may_write_nothing(self):
        for file in [self.root, *self.root.rglob("*")]:
            self.assertEqual(file.stat().st_mode & 0o022, 0, file)

    def test_the_program_needs_no_loader(self):
        program = (self.root / BRIDGE).read_bytes()
        (start,) = struct.unpack_from("<Q", program, 32)
        size, count = struct.unpack_from("<HH", program, 54)
        kinds = [struct.unpack_from("<I", program, start + size * i)[0] for i in range(count)]
        self.assertIn(1, kinds)  # PT_LOAD
        self.assertNotIn(3, kinds)  # PT_INTERP

    def test_the_program_tells_its_version_and_commit(self):
        self.assertEqual(run(self.root / BRIDGE, "--version"), version_line())

    def test_all_that_is_linked_has_its_licence(self):
        notices = (self.root / NOTICES).read_text()
        modules = linked(self.root / BRIDGE)
        self.assertGreater(len(modules), 20)
        for path, version in modules:
            self.assertRegex(
                notices, rf"\n{re.escape(path)} {re.escape(version)}: (LICENSE|COPYING)"
            )
        self.assertRegex(notices, r"\ngo go\S+: LICENSE")
        self.assertIn((ROOT / "LICENSE").read_text(), notices)


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.made = cls.make("made")
        for file in cls.made.glob("*.tar.gz"):
            run("tar", "-xf", file, "-C", cls.folder)
        (cls.proxy,) = cls.folder.glob("*-go-module")
        (cls.bridge,) = cls.folder.glob("espalier-bridge-*")

    @classmethod
    def make(cls, name):
        folder = cls.folder / name
        folder.mkdir()
        run("release/dist_go.sh", folder, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        return folder

    def test_the_same_sources_give_the_same_bytes(self):
        again = self.make("again")
        names = sorted(file.name for file in self.made.iterdir())
        self.assertEqual(len(names), 3)
        self.assertEqual(names, sorted(file.name for file in again.iterdir()))
        for name in names:
            self.assertTrue((self.made / name).read_bytes() == (again / name).read_bytes(), name)

    def test_the_bridge_comes_with_notices_and_sbom(self):
        names = {file.name for file in self.bridge.iterdir()}
        self.assertEqual(names, {"espalier-bridge", "NOTICES", "espalier-bridge.spdx.json"})
        self.assertEqual(run(self.bridge / "espalier-bridge", "--version"), version_line())

    def test_the_sbom_names_all_that_is_linked(self):
        made = json.loads((self.bridge / "espalier-bridge.spdx.json").read_text())
        packages = [(package["name"], package["versionInfo"]) for package in made["packages"]]
        self.assertEqual([name for name, _ in packages[:2]], ["espalier-bridge", "stdlib"])
        self.assertEqual(packages[2:], linked(self.bridge / "espalier-bridge"))
        identifiers = [package["SPDXID"] for package in made["packages"]]
        self.assertEqual(len(set(identifiers)), len(identifiers))

    def test_a_module_imports_it_by_its_path(self):
        version = (self.proxy / "espalier.dev/espalier/@v/list").read_text().strip()
        user = self.folder / "user"
        user.mkdir()
        (user / "main.go").write_text(
            "package main\n\n"
            'import (\n\t"fmt"\n\n\t"espalier.dev/espalier"\n)\n\n'
            'func main() {\n\tclient, err := espalier.Dial("unix:/nowhere")\n'
            "\tfmt.Println(client != nil, err)\n}\n"
        )
        shutil.copy(ROOT / "service/go/go.sum", user)  # what the dependencies are is asked nobody
        # A cache of its own: the module can be of nowhere else; dependencies may be of this machine's.
        cached = run("go", "env", "GOMODCACHE").strip()
        others = run("go", "env", "GOPROXY").strip()
        environment = {
            **os.environ,
            "GOMODCACHE": str(self.folder / "modules"),
            "GOPROXY": f"file://{self.proxy},file://{cached}/cache/download,{others}",
            "GOSUMDB": "off",
            "GOFLAGS": "-modcacherw -trimpath",
            "CGO_ENABLED": "0",
        }
        for arguments in [
            ["mod", "init", "example.com/user"],
            ["get", f"espalier.dev/espalier@{version}"],
        ]:
            run("go", *arguments, cwd=user, env=environment)
        self.assertEqual(run("go", "run", ".", cwd=user, env=environment), "true <nil>\n")
        listed = run(
            "go",
            "list",
            "-m",
            "-f",
            "{{.Version}} {{.Replace}}",
            "espalier.dev/espalier",
            cwd=user,
            env=environment,
        )
        self.assertEqual(listed.strip(), f"{version} <nil>")


class GoVersion(unittest.TestCase):
    def test_versions_between_tags_come_before_the_next_one(self):
        sys.path.insert(0, str(ROOT / "release"))
        import go_module

        self.assertEqual(go_module.go_version("1.2.3"), "v1.2.3")
        self.assertEqual(go_module.go_version("0.1.0-dev"), "v0.1.0-dev")
        self.assertEqual(go_module.go_version("1.2.9+4"), "v1.2.10-dev.4")


def missing():
    """Returns what it needs and is not here."""
    if shutil.which("go") is None:
        return "there is no Go"
    if not (ROOT / ".git").exists():
        return "a release is made in a clone of git, and this is none"
    listed = subprocess.run(
        ["go", "list", "-deps", "./cmd/espalier-bridge"],
        cwd=ROOT / "service/go",
        check=False,
        capture_output=True,
        text=True,
    )
    return f"Go cannot build espalier-bridge: {listed.stderr}" if listed.returncode else None


if __name__ == "__main__":
    said = missing()
    if said:
        print(f"SKIPPED: {said}")
        sys.exit(77)
    unittest.main()
