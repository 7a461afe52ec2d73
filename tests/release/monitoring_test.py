#!/usr/bin/env python3
"""Holds the alert rules and the dashboard in docker/monitoring to the metrics of a running server.

Usage: monitoring_test.py ESPALIER
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
MONITORING = ROOT / "docker/monitoring"
ESPALIER = sys.argv.pop(1)
OF_PROMETHEUS = {"instance", "le"}  # labels that a server does not write itself


def scraped():
    """Returns {metric: {label: its values}} of a server that has a device, a state, shapes to count,
    certificates and access rules."""
    with tempfile.TemporaryDirectory() as folder:
        certificate, key, rules = (f"{folder}/{name}" for name in ("crt", "key", "rules"))
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
                *("-nodes", "-subj", "/CN=a", "-keyout", key, "-out", certificate),
            ],
            check=True,
            capture_output=True,
        )
        pathlib.Path(rules).write_text("rules: []\n")
        shapes = pathlib.Path(folder) / "shapes"
        shapes.write_text("1x{cpu=1}\n")
        address = f"unix:{folder}/socket"
        server = subprocess.Popen(
            [
                *(ESPALIER, "serve", "--listen", address, "--metrics", "127.0.0.1:0"),
                *("--backend", "emulated", "--capacity-shapes", shapes),
                *("--log-requests", pathlib.Path(folder) / "requests"),
                *("--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key),
                *("--tls-client-ca", certificate, "--access", rules),
                *("--state-dir", pathlib.Path(folder) / "states"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            server.stdout.readline()
            server.stdout.readline()
            url = server.stdout.readline().removeprefix("metrics on ").strip()
            file = ROOT / "tests/cli/data/fits.yaml"
            for state in ([], ["--state", "west"]):
                subprocess.run(
                    [ESPALIER, "place", file, "--connect", address, "--load", *state],
                    check=False,
                    capture_output=True,
                )
            page = urllib.request.urlopen(url, timeout=60).read().decode()
        finally:
            server.terminate()
            server.communicate()
    metrics = collections.defaultdict(lambda: collections.defaultdict(set))
    for line in page.splitlines():
        if line.startswith("#"):
            continue
        name, labels = re.match(r"(\w+)(?:\{(.*)\})? ", line).groups()
        values = metrics[name]
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels or ""):
            values[label].add(value)
    return metrics


def expressions():
    """Returns (where, expression) of every rule and every panel."""
    rules = (MONITORING / "rules.yaml").read_text()
    found = re.findall(r"- alert: (\w+)\n +expr: (.+)\n", rules)
    assert len(found) == rules.count("alert:"), "an alert without an expression on the next line"
    for panel in json.loads((MONITORING / "dashboard.json").read_text())["panels"]:
        found += [(panel["title"], target["expr"]) for target in panel["targets"]]
    return found


def metrics_of(expression):
    """Returns [(metric, the matchers behind it)]."""
    texts_out = re.sub(r'"[^"]*"', '""', expression)
    return re.findall(r"\b((?:espalier|process|exposer)_\w+)(?:\{([^}]*)\})?", texts_out)


class Monitoring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.metrics = scraped()

    def test_every_metric_and_label_is_there(self):
        self.assertGreater(len(expressions()), 20)
        for where, expression in expressions():
            self.assertEqual(expression.count("("), expression.count(")"), where)
            named = metrics_of(expression)
            self.assertTrue(named, f"{where}: names no metric")
            labels = set(OF_PROMETHEUS)
            for metric, matchers in named:
                self.assertIn(metric, self.metrics, where)
                labels |= set(self.metrics[metric])
                for label in re.findall(r"(\w+)(?:=~|!~|!=|=)", matchers):
                    self.assertIn(label, set(self.metrics[metric]) | OF_PROMETHEUS, f"{where}: {metric}")
            for group in re.findall(r"\bby \(([^)]*)\)", expression):
                self.assertLessEqual(set(re.split(r", *", group)), labels, where)

    def test_causes_are_causes(self):
        schema = (ROOT / "proto/espalier/v1/server.proto").read_text()
        causes = set(re.search(r"One of: ([\w,\s/]+)\.", schema).group(1).replace("/", " ").replace(",", " ").split())
        named = [
            cause
            for _, expression in expressions()
            for value in re.findall(r'cause=~?"([^"]*)"', expression)
            for cause in value.split("|")
        ]
        self.assertTrue(named)
        self.assertLessEqual(set(named), causes)

    def test_ends_of_holds_are_ends(self):
        named = {how for _, expression in expressions() for how in re.findall(r'how="([^"]*)"', expression)}
        self.assertTrue(named)
        self.assertLessEqual(named, self.metrics["espalier_holds_ended_total"]["how"])

    def test_the_test_sees_what_is_not_there(self):
        self.assertEqual(
            metrics_of('rate(espalier_gone_total{cause="a{b"}[5m]) / process_x'),
            [("espalier_gone_total", 'cause=""'), ("process_x", "")],
        )
        self.assertNotIn("espalier_gone_total", self.metrics)

    def test_every_alert_is_in_the_document(self):
        document = (ROOT / "docs/operations.md").read_text()
        for where, _ in expressions():
            if where.startswith("Espalier"):
                self.assertIn(f"`{where}`", document)


if __name__ == "__main__":
    unittest.main()
