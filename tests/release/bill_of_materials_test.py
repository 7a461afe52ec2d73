#!/usr/bin/env python3
"""Proves that the SBOM names all that a build is linked with, and that an image's content is whole.

Usage: bill_of_materials_test.py BUILD
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "release"))
import bill_of_materials


def run(*command, **keywords):
    return subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=ROOT, **keywords
    ).stdout


class BillOfMaterials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name) / "root"
        run("docker/collect_root.sh", str(BUILD), str(cls.root))
        cls.documents = cls.root / "usr/share/doc/espalier"
        cls.spdx = json.loads((cls.documents / "espalier.spdx.json").read_text())
        cls.names = {package["name"] for package in cls.spdx["packages"]}

    def test_every_library_has_its_package(self):
        libraries = bill_of_materials.shared_libraries(BUILD / "espalier")
        self.assertIn("libtbbmalloc.so.2", [pathlib.Path(file).name for file in libraries])
        packages = bill_of_materials.packages_of(libraries)
        self.assertLessEqual({name.split(":")[0] for name in packages}, self.names)

    def test_headers_that_are_compiled_in_are_named(self):
        # The libraries without a shared one: whose code is in the binary, and nowhere else.
        self.assertLessEqual({"libcli11-dev", "libexpected-dev"}, self.names)
        relations = {
            (relation["relatedSpdxElement"], relation["relationshipType"])
            for relation in self.spdx["relationships"]
        }
        self.assertIn(("SPDXRef-libcli11-dev", "STATIC_LINK"), relations)
        grpc = {kind for name, kind in relations if re.fullmatch(r"SPDXRef-libgrpc--1\..*", name)}
        self.assertEqual(grpc, {"DYNAMIC_LINK"})

    def test_static_libraries_of_cuda_are_named_where_they_are_linked(self):
        cuda = "cuda" in run(str(BUILD / "espalier"), "--version")
        self.assertEqual("nvidia-cuda-runtime" in self.names, cuda)

    def test_every_package_has_what_spdx_wants(self):
        identifiers = [package["SPDXID"] for package in self.spdx["packages"]]
        self.assertEqual(len(set(identifiers)), len(identifiers))
        for package in self.spdx["packages"]:
            self.assertRegex(package["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertTrue(package["versionInfo"])
        for relation in self.spdx["relationships"]:
            self.assertIn(relation["relatedSpdxElement"], identifiers)

    def test_every_package_that_goes_along_has_its_notice(self):
        notices = (self.documents / "NOTICES").read_text()
        for package in self.spdx["packages"][1:]:
            self.assertIn(f"\n{package['name']} {package['versionInfo']}\n", notices)
        for name in re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", notices):
            self.assertIn(
                f"\n/usr/share/common-licenses/{name}\n", notices, "is named, and its text missing"
            )

    def test_a_file_of_no_package_is_an_error(self):
        with self.assertRaisesRegex(bill_of_materials.Unknown, "schema_of_nobody"):
            bill_of_materials.packages_of(["/usr/include/schema_of_nobody.hpp"])

    def test_the_root_of_an_image_is_whole(self):
        # The loader of the root lists what the command of the root loads: nothing comes from outside.
        listed = run(
            str(self.root / "usr/lib64/ld-linux-x86-64.so.2"),
            "--inhibit-cache",
            "--library-path",
            str(self.root / "usr/lib/x86_64-linux-gnu"),
            "--list",
            str(self.root / "usr/bin/espalier"),
        )
        files = [line.split("=>")[1].split()[0] for line in listed.splitlines() if "=>" in line]
        self.assertGreater(len(files), 10)
        for file in files:
            if "ld-linux" not in file:  # by the path that is written in the binary
                self.assertTrue(file.startswith(str(self.root)), file)

    def test_there_is_one_program_in_it(self):
        programs = [
            file
            for file in self.root.rglob("*")
            if file.is_file() and not file.is_symlink() and os.access(file, os.X_OK)
        ]
        self.assertEqual([file.name for file in programs if ".so" not in file.name], ["espalier"])


if __name__ == "__main__":
    if shutil.which("dpkg-query") is None or os.uname().machine != "x86_64":
        print("SKIPPED: what is linked is traced to the packages of Debian, on x86-64")
        sys.exit(77)
    unittest.main()
