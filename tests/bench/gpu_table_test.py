#!/usr/bin/env python3
"""gpu_table.py prints what the programs of bench/device write, as it comes, and keeps it."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench/gpu_table.py"
MODEL = {"H100": 1.25, "H200": 1.125}
PROBE = {"probe": "copy to the device, pinned", "bytes": 4096, "us": 2.5, "gb_per_s": 1.64, "model": 50}
WAIT = {"probe": "wait for nothing", "us": 0.75, "model": 0}
SCENARIO = {"bench": "B21/R8", "kind": "cold", "nodes": 1024, "gangs": 50, "shapes": 8,
            "same_answers": True, "repeats": 30, "device_ms": [1, 2.5, 3], "cpu_ms": [4, 5.5, 6],
            "model_ms": MODEL, "floor_ms": 0.1, "batches": 1, "decided": 50, "on_cpu": 0}
KERNEL = {"kernel": "decide_kernel", "bench": "B21/R8", "kind": "cold", "nodes": 1024, "launches": 2,
          "ms": 0.5, "model_ms": MODEL}


def table(*lines):
    """What is printed, and what is kept."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder, "results.jsonl")
        text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        run = subprocess.run([sys.executable, "-B", SCRIPT, results], input=text, check=True,
                             capture_output=True, text=True)
        return run.stdout.splitlines(), results.read_text().splitlines()


class Tables(unittest.TestCase):
    def test_a_heading_stands_once_before_rows_of_a_kind(self):
        printed, kept = table(PROBE, WAIT, SCENARIO, SCENARIO, KERNEL)
        self.assertEqual([line.split()[0] for line in printed],
                         ["probe", "copy", "wait", "bench", "B21/R8", "B21/R8", "kernel", "decide_kernel"])
        self.assertEqual([json.loads(line) for line in kept], [PROBE, WAIT, SCENARIO, SCENARIO, KERNEL])

    def test_measured_and_predicted_times_stand_side_by_side(self):
        self.assertEqual(table(SCENARIO)[0][1].split(),
                         ["B21/R8", "cold", "1024", "50", "2.500", "5.500", "1.250", "1.125", "30", "equal"])
        self.assertEqual(table(KERNEL)[0][1].split(),
                         ["decide_kernel", "B21/R8", "cold", "2", "0.5000", "1.250", "1.125"])
        self.assertEqual(table({**KERNEL, "ms": None})[0][1].split(),
                         ["decide_kernel", "B21/R8", "cold", "2", "1.250", "1.125"])

    def test_wrong_answers_and_those_of_the_cpu_are_seen(self):
        printed, _ = table({**SCENARIO, "same_answers": False, "on_cpu": 3})
        self.assertIn("DIFFERENT, 3 BY THE CPU", printed[1])

    def test_other_lines_pass(self):
        printed, kept = table("last fault: none", {"device": "emulated", "cpu_threads": 2})
        self.assertEqual(printed, ["last fault: none", "device emulated, cpu_threads 2"])
        self.assertEqual(len(kept), 1)


if __name__ == "__main__":
    unittest.main()
