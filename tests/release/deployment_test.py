#!/usr/bin/env python3
"""Proves, with nothing but Python, that docker/ and docs/deployment.md agree with the command.

Usage: deployment_test.py ESPALIER
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KUSTOMIZE = ROOT / "docker/kustomize"
DOCUMENT = (ROOT / "docs/deployment.md").read_text()
ESPALIER = sys.argv.pop(1)


def flags_of_manifests():
    """Returns (flag, file) of every argument in the manifests."""
    return [
        (flag, file.relative_to(ROOT))
        for file in sorted(KUSTOMIZE.rglob("*.yaml"))
        for flag in re.findall(r"^\s*(?:-|value:) (--[a-z-]+)", file.read_text(), re.MULTILINE)
    ]


class Deployment(unittest.TestCase):
    def test_flags_are_flags_of_serve(self):
        text = subprocess.run(
            [ESPALIER, "serve", "--help"], check=True, capture_output=True, text=True
        ).stdout
        known = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.MULTILINE))
        self.assertIn("--listen", known)
        unit = (ROOT / "release/espalier.service").read_text()
        started = re.search(r"^ExecStart=/usr/bin/espalier serve (.*)$", unit, re.MULTILINE).group(1)
        used = flags_of_manifests() + [
            (flag, pathlib.Path("release/espalier.service")) for flag in re.findall(r"--[a-z-]+", started)
        ]
        self.assertGreater(len(used), 5)
        config = (ROOT / "service/go/internal/bridge/config/config.go").read_text()
        of_bridge = {f"--{name}" for name in re.findall(r'flags\.\w+\((?:&[\w.]+, )?"([a-z-]+)"', config)}
        self.assertIn("--modes", of_bridge)
        for flag, file in used:
            bridge = file.parent.name in ("bridge", "bridge-standalone", "gate")
            self.assertIn(flag, of_bridge if bridge else known, f"{file}: there is no such flag")

    def test_probes_ask_where_the_server_listens(self):
        text = subprocess.run(
            [ESPALIER, "status", "--help"], check=True, capture_output=True, text=True
        ).stdout
        known = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.MULTILINE))
        manifest = (KUSTOMIZE / "base/probes.yaml").read_text()
        commands = re.findall(r"^ *command: \[/usr/bin/espalier, status, (.*)\]$", manifest, re.MULTILINE)
        self.assertEqual(len(commands), 3)
        for command in commands:
            flags = dict(re.findall(r"(--[a-z-]+)(?:=(\S+))?(?:, |$)", command))
            self.assertLessEqual(set(flags), known)
            for file in ("base/deployment.yaml", "standalone/network.yaml"):
                self.assertIn(f"- --listen={flags['--connect']}\n", (KUSTOMIZE / file).read_text(), file)

    def test_nothing_is_open_to_those_without_a_certificate(self):
        self.assertNotIn("--insecure", [flag for flag, _ in flags_of_manifests()])

    def test_every_flag_is_explained(self):
        for flag, file in flags_of_manifests():
            self.assertIn(
                f"`{flag}", DOCUMENT, f"docs/deployment.md does not say why {file} has this flag"
            )

    def test_every_file_is_part_of_a_kustomization(self):
        for kustomization in sorted(KUSTOMIZE.glob("*/kustomization.yaml")):
            text = kustomization.read_text()
            named = set(re.findall(r"[\w./]+\.yaml", text))
            there = {file.name for file in kustomization.parent.glob("*.yaml")} - {
                "kustomization.yaml"
            }
            self.assertEqual(named, there, kustomization.relative_to(ROOT))
            for folder in re.findall(r"^- (\.\./[\w-]+)$", text, re.MULTILINE):
                self.assertTrue(
                    (kustomization.parent / folder / "kustomization.yaml").exists(), folder
                )

    def test_image_and_manifests_name_the_same_user(self):
        image = re.findall(r"^USER (\d+):(\d+)$", (ROOT / "docker/Dockerfile").read_text(), re.MULTILINE)
        self.assertEqual(set(image), {("65532", "65532")})
        manifest = (KUSTOMIZE / "base/deployment.yaml").read_text()
        self.assertEqual(re.findall(r"runAs(?:User|Group): (\d+)", manifest), ["65532", "65532"])

    def test_nothing_else_is_in_the_images(self):
        stages = (ROOT / "docker/Dockerfile").read_text().split("\nFROM ")
        finals = [stage for stage in stages if stage.startswith("scratch AS ")]
        self.assertEqual(len(finals), 3)
        for stage in finals:
            self.assertEqual(len(re.findall(r"^(?:COPY|ADD|RUN)", stage, re.MULTILINE)), 1, stage)


if __name__ == "__main__":
    unittest.main()
