#!/usr/bin/env python3
"""Proves that a version is refused when what is written down of it does not agree with its tag."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "release"))
import check_version

SCHEMA = "espalier/v1/a.proto"


class CheckVersion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("CMakeLists.txt", "project(espalier VERSION 1.2.3 LANGUAGES CXX)\n")
        self.write(
            "CHANGELOG.md",
            "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n\n## [1.2.2]\n",
        )
        self.write("service/python/pyproject.toml", '[project]\nname = "a"\nversion = "1.2.3"\n')
        self.write("docker/kustomize/base/kustomization.yaml", "  newTag: 1.2.3\n")
        self.write("docker/kustomize/cuda/kustomization.yaml", "  newTag: 1.2.3-cuda\n")
        self.write("docs/deployment.md", "https://git.example/a?ref=v1.2.3, `:1.2.3-cuda`")
        self.write("tests/data/wire/released/version", "1.2.3\n")
        self.write(f"tests/data/wire/released/{SCHEMA}", "message A {}")
        self.write(f"proto/{SCHEMA}", "message A {}")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def problems(self, version="1.2.3"):
        return [problem.split(":")[0] for problem in check_version.problems(version, self.root)]

    def test_takes_a_version_that_everything_agrees_with(self):
        self.assertEqual(self.problems(), [])

    def test_looks_at_versions_of_tags_alone(self):
        self.assertEqual(self.problems("0.1.0-dev"), [])
        self.assertEqual(self.problems("1.0.0+4"), [])

    def test_names_everything_that_is_of_another_version(self):
        self.assertEqual(
            self.problems("1.2.4"),
            [
                "CMakeLists.txt",
                "service/python/pyproject.toml",
                "docker/kustomize/base/kustomization.yaml",
                "docker/kustomize/cuda/kustomization.yaml",
                "docs/deployment.md",
                "docs/deployment.md",
                "CHANGELOG.md",
                "tests/data/wire/released",
            ],
        )

    def test_finds_every_image_of_the_manifests(self):
        repository = pathlib.Path(check_version.__file__).resolve().parents[1]
        files = [file for file, _ in check_version.pinned(repository)]
        for folder in ("base", "bridge", "cuda"):
            self.assertIn(f"docker/kustomize/{folder}/kustomization.yaml", files)
        self.assertEqual(files.count("docs/deployment.md"), 5)

    def test_wants_a_section_of_its_own(self):
        self.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n")
        self.assertEqual(self.problems(), ["CHANGELOG.md"])

    def test_wants_the_schema_that_is_released(self):
        self.write(f"proto/{SCHEMA}", "message A { int32 a = 1; }")
        self.assertEqual(self.problems(), ["tests/data/wire/released"])

    def test_wants_every_schema_that_is_released(self):
        self.write("proto/espalier/v1/b.proto", "")
        self.assertEqual(self.problems(), ["tests/data/wire/released"])


if __name__ == "__main__":
    unittest.main()
