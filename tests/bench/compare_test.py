"""compare.py tells slower from noise, and plot.py fills the page."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import compare  # noqa: E402
import plot  # noqa: E402


def report(p50, p90=None, sha="a", name="B21/R8", nodes=1024, target=None):
    stage = {"name": "compute", "repeats": 30, "minNanoseconds": p50, "p50Nanoseconds": p50,
             "p90Nanoseconds": p90 or p50, "p99Nanoseconds": p90 or p50, "maxNanoseconds": p50}
    result = {"name": name, "nodes": nodes, "gangs": 10, "shapes": 2, "stages": [stage],
              "floorStage": "compute", "floorNanoseconds": 10, "sha256": sha}
    if target:
        result["target"] = target
    return {"version": "espalier 0\nbuild: x", "threads": 2, "backend": "cpu", "simd": "plain",
            "machine": {"cpu": "c", "cores": 2, "memoryBytes": 1 << 30, "kernel": "k"},
            "floors": {"cellsPerSecond": 1, "bytesPerSecond": 1, "cachedBytesPerSecond": 1},
            "results": [result]}


def run(function, arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out, \
            contextlib.redirect_stderr(io.StringIO()) as err:
        code = function([str(argument) for argument in arguments])
    return code, out.getvalue() + err.getvalue()


class Compare(unittest.TestCase):
    def compare(self, *reports, extra=()):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, one in enumerate(reports):
                paths.append(pathlib.Path(folder) / f"{number}.json")
                paths[-1].write_text(json.dumps(one), encoding="utf-8")
            return run(compare.main, [*extra, *paths])

    def test_within_ten_percent_is_noise(self):
        code, text = self.compare(report(1000), report(1090))
        self.assertEqual(code, 0)
        self.assertIn("same", text)

    def test_more_is_slower_and_less_is_faster(self):
        self.assertEqual(self.compare(report(1000), report(1200))[0], 1)
        code, text = self.compare(report(1000), report(700))
        self.assertEqual(code, 0)
        self.assertIn("faster", text)

    def test_a_wide_run_widens_the_noise(self):
        self.assertEqual(self.compare(report(1000, p90=1500), report(1400))[0], 0)
        self.assertEqual(self.compare(report(1000, p90=1500), report(1600))[0], 1)

    def test_old_runs_that_differ_widen_the_noise(self):
        self.assertEqual(self.compare(report(900), report(1000), report(1200), report(1250))[0], 0)
        self.assertEqual(self.compare(report(990), report(1000), report(1010), report(1250))[0], 1)

    def test_noise_can_be_told(self):
        self.assertEqual(self.compare(report(1000), report(1200), extra=["--noise", "30"])[0], 0)

    def test_different_answers_are_never_right(self):
        code, text = self.compare(report(1000), report(1000, sha="b"))
        self.assertEqual(code, 1)
        self.assertIn("DIFFERENT ANSWERS", text)

    def test_a_new_scenario_is_no_error(self):
        self.assertEqual(self.compare(report(1000), report(1000, name="B99"))[0], 0)

    def test_a_file_that_is_none_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder) / "bad.json"
            bad.write_text("[]", encoding="utf-8")
            self.assertEqual(run(compare.main, [bad, bad])[0], 2)


PAGE = "".join(f"<!-- {part} -->\nold\n<!-- end of {part} -->\n"
               for part in ["machine", "targets", "features", "peers", "figures"])


def with_target(median):
    return report(median, target={"name": "M2", "stage": "compute", "percentile": 99,
                                  "nanoseconds": 10_000_000, "met": int(median <= 10_000_000)})


class Plot(unittest.TestCase):
    def test_fills_the_page_and_draws(self):
        results = with_target(2_000_000)
        for nodes in (1024, 4096):
            results["results"] += report(nodes * 10, name=f"B51-scaling/N{nodes}",
                                         nodes=nodes)["results"]
        for feature, median in (("PLAIN", 2000), ("LEADER", 5000)):
            results["results"] += report(median, name=f"B52-features/{feature}")["results"]
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder)
            (docs / "performance.md").write_text(PAGE, encoding="utf-8")
            (docs / "r.json").write_text(json.dumps(results), encoding="utf-8")
            code, text = run(plot.main, [docs / "r.json", "--docs", docs])
            self.assertEqual(code, 0, text)
            filled = (docs / "performance.md").read_text(encoding="utf-8")
            self.assertNotIn("old", filled)
            self.assertIn("| M2 | B21/R8 | compute | 10 ms | 2 ms | 2 ms | yes |", filled)
            self.assertIn(" | 2.5 x |", filled)
            for name in ["scaling.svg", "targets.svg"]:
                drawn = (docs / "plots" / name).read_text(encoding="utf-8")
                self.assertIn("prefers-color-scheme: dark", drawn)
                self.assertTrue(drawn.rstrip().endswith("</svg>"))

    def test_another_machine_stands_beside(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder)
            (docs / "performance.md").write_text(PAGE, encoding="utf-8")
            (docs / "r.json").write_text(json.dumps(with_target(2_000_000)), encoding="utf-8")
            (docs / "other.json").write_text(json.dumps(with_target(20_000_000)), encoding="utf-8")
            code, text = run(plot.main, [docs / "r.json", "--beside", docs / "other.json",
                                         "--docs", docs])
            self.assertEqual(code, 0, text)
            filled = (docs / "performance.md").read_text(encoding="utf-8")
            self.assertIn("| 2 ms | 2 ms | yes | 20 ms | 20 ms | **no** |", filled)
            self.assertIn("Beside them, from `bench/results/other.json`", filled)

    def test_a_page_without_markers_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder)
            (docs / "performance.md").write_text("nothing", encoding="utf-8")
            (docs / "r.json").write_text(json.dumps(report(1)), encoding="utf-8")
            self.assertEqual(run(plot.main, [docs / "r.json", "--docs", docs])[0], 2)


if __name__ == "__main__":
    unittest.main()
