#!/usr/bin/env python3
"""Reports in a headless Chromium: what is drawn, what a click and what a key shows.

Usage: report_browser_test.py ESPALIER [--measure FILE.html...]

Exit code 77, which ctest calls skipped, where there is no Chromium. With --measure nothing is
tested: it prints how long a page takes from its first byte to its first picture.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from browser import Browser, find_chromium

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests/cli/data/small.yaml"
QUESTIONS = ROOT / "tests/cli/data/questions.yaml"
DUMP = [ROOT / "tests/data/dumps/before.json.gz", ROOT / "tests/data/dumps/extra.json"]
ESPALIER = ""

EMPTY = """apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: team}
spec: {clusterQueue: queue}
"""
# Hosts without a topology above them, of no accelerator; a name that would be markup; limits.
STRANGE = """apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: default}
spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: flavor}
spec: {topologyName: default}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: "</script><img src=x onerror=document.title='broken'>"}}
status: {allocatable: {cpu: "9223372036854775", pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {kubernetes.io/hostname: "%s"}}
status: {allocatable: {cpu: "8", pods: "110"}, conditions: [{type: Ready, status: "True"}]}
""" % ("n" * 200)


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser())
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def setUp(self):
        self.browser.problems.clear()

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])

    def report(self, *arguments, text=None, scheme="light"):
        """Writes a report and opens it."""
        path = self.folder / "report.html"
        run = subprocess.run([ESPALIER, *map(str, arguments), "--report", str(path)],
                             input=text, capture_output=True, text=True)
        self.assertIn(run.returncode, [0, 1], run.stderr)
        self.browser.open(path, scheme)
        self.browser.run("document.activeElement.blur()")

    def status(self):
        return self.browser.text("#cell")

    def detail(self):
        return self.browser.text("#detail")

    def focused(self):
        return self.browser.run("document.activeElement.id || document.activeElement.innerText")

    def colors_at(self, point):
        return self.browser.run("""(() => {
          const canvas = document.getElementById("canvas");
          const box = canvas.getBoundingClientRect();
          return [...canvas.getContext("2d").getImageData(%f - box.x, %f - box.y, 1, 1).data];
        })()""" % tuple(point))

    def test_shows_the_cluster_and_its_gangs(self):
        self.report("place", SMALL)
        self.assertEqual(self.browser.text("#title"), "espalier place")
        self.assertIn("7 of 8 nodes take part; left out: 1 not ready", self.browser.text("#facts"))
        self.assertIn("5 of 28 nvidia.com/gpu free\n3 in use by pods of no gang here\n"
                      "In it: 3 gangs\nteam/block-job: 4 pods, 8", self.detail())
        self.assertIn("area: nvidia.com/gpu", self.browser.text("#legend"))
        rows = self.browser.text("#gangs").split("\n")
        self.assertEqual(rows[:2], ["team/too-big", "not placed"])  # who waits comes first
        self.assertEqual(self.browser.text("#more"), "")

    def test_a_click_on_a_gang_shows_where_it_is(self):
        self.report("place", SMALL)
        self.browser.click_on("#gangs button", "team/block-job")
        self.assertIn("team/block-job\nplaced; priority 30; ClusterQueue queue\n"
                      "main: 4 pods, 2 nvidia.com/gpu each, required block", self.detail())
        self.assertEqual(self.browser.run(
            "document.querySelector('#gangs [aria-pressed=true] span').textContent"), "team/block-job")
        self.assertEqual(self.browser.text("#path"), "gpu\nb1")  # what is around it
        x, y = self.browser.point_of("host b1/r1/host-1")
        self.assertEqual("rgb(%d, %d, %d)" % tuple(self.colors_at([x + 9, y + 40])[:3]), self.browser.run(
            "getComputedStyle(document.querySelector('#gangs [aria-pressed=true] i')).backgroundColor"))

    def test_a_click_on_a_gang_that_waits_says_why(self):
        self.report("explain", "big", QUESTIONS)
        detail = self.detail()  # it is what the command was asked about
        self.assertIn("team/big\nwaits; priority 5", detail)
        self.assertIn("Why it waits\ntopology \"default\" allows to fit only 1 out of 2 pod(s)", detail)
        self.assertIn("Nearest, now (dashed)\nrack b2/r1: 1 of 2 pods fit; room for one on 1 of 1 node\n"
                      "cpu: enough for 1 of 2 pods, 4 short", detail)
        self.assertIn("Would fit\nwith 1 pod in place of 2", detail)
        self.assertEqual(self.browser.text("#path"), "tas\nb2")
        self.browser.click_on("#detail button", "Show it")
        self.assertIn("rack b2/r1: 4 cores of 8 cores free", self.status())
        self.assertEqual(self.focused(), "canvas")

    def test_an_audit_shows_what_is_wrong_and_where_it_would_go(self):
        after = QUESTIONS.read_text()
        items = after.split("  - apiVersion: kueue")
        (self.folder / "before.yaml").write_text(
            "  - apiVersion: kueue".join(item.split("    status:\n")[0] for item in items))
        (self.folder / "after.yaml").write_text(after.replace("[a, b]", "[b, c]"))
        self.report("audit", self.folder / "before.yaml", self.folder / "after.yaml")
        self.browser.click_on("#gangs button", "team/old")
        detail = self.detail()
        self.assertIn("team/old\nnot sound", detail)
        self.assertIn("What is wrong\nit must share one block, and is in 2: b1, b2", detail)
        self.assertIn("Here it would go (dashed)\nmain: 4 pods, 4 cores each, required block\n"
                      "b1/r{1,2}: 2 hosts x 2", detail)
        self.browser.click(*self.browser.point_of("host b2/r1/c"))
        self.assertIn("0 cores of 8 cores free, 4 cores more in use than there is", self.detail())

    def test_a_click_on_a_rack_shows_who_is_in_it(self):
        self.report("place", *DUMP)
        self.browser.click(*self.browser.point_of("rack us-east-1b/use1b-b02/r04: "))
        detail = self.detail()
        self.assertIn("rack us-east-1b/use1b-b02/r04\n16 of 64 nvidia.com/gpu free", detail)
        self.assertIn("In it: 2 gangs\nteam-nlp/job-moe-08-06a04: 12 pods, 48", detail)
        self.browser.click_on("#detail button", "team-nlp/job-moe-08-06a04")
        self.assertIn("us-east-1b/use1b-b02/r{01,04}: 12 hosts x 2", self.detail())
        self.browser.click_on("#path button", "gpu-h100")
        self.assertEqual(self.browser.text("#path"), "gpu-h100")

    def test_a_double_click_opens(self):
        self.report("place", *DUMP)
        self.browser.click(*self.browser.point_of("zone us-east-1b: "), count=2)
        self.assertEqual(self.browser.text("#path"), "gpu-h100\nus-east-1b")
        self.browser.click(*self.browser.point_of("host us-east-1b/use1b-b02/r04/"), count=2)
        self.assertEqual(self.browser.text("#path"), "gpu-h100\nus-east-1b\nuse1b-b02\nr04")
        self.assertIn("rack us-east-1b/use1b-b02/r04: 16 of 64 nvidia.com/gpu free, 8 hosts, 2 gangs",
                      self.status())

    def test_the_keyboard_does_all_that_the_mouse_does(self):
        self.report("place", *DUMP)
        while self.focused() != "canvas":
            self.browser.press("Tab")
        self.assertIn("zone us-east-1b: ", self.status())
        self.browser.press("ArrowRight")
        self.assertIn("zone us-east-1a: 20 of 1,167 nvidia.com/gpu free", self.status())
        self.browser.press("ArrowRight")  # there is no further one
        self.assertIn("zone us-east-1a: ", self.status())
        self.browser.press("Enter")
        self.assertEqual(self.browser.text("#path"), "gpu-h100\nus-east-1a")
        self.browser.press("ArrowDown")
        self.assertIn("block us-east-1a/use1a-b0", self.status())
        self.browser.press(" ")
        self.assertTrue(self.detail().startswith("block us-east-1a/use1a-b0"), self.detail())
        self.browser.press("Escape")  # first what is chosen, then one level out
        self.assertTrue(self.detail().startswith("zone us-east-1a"), self.detail())
        self.browser.press("Escape")
        self.assertEqual(self.browser.text("#path"), "gpu-h100")
        self.browser.press("ArrowLeft")
        self.assertIn("zone us-east-1b: ", self.status())

    def test_the_keyboard_goes_through_the_gangs(self):
        self.report("place", SMALL)
        self.browser.run("document.querySelector('#gangs button').focus()")
        self.browser.press("ArrowDown")
        self.assertIn("team/block-job", self.focused())
        self.browser.press("Enter")
        self.assertIn("team/block-job\nplaced", self.detail())
        self.browser.press("ArrowUp")
        self.assertIn("team/too-big", self.focused())
        self.browser.press("Escape")
        self.assertTrue(self.detail().startswith("block b1"), self.detail())
        self.browser.press("Escape")
        self.assertTrue(self.detail().startswith("flavor gpu"), self.detail())
        outline = self.browser.run("getComputedStyle(document.activeElement).outlineStyle")
        self.assertEqual(outline, "solid")

    def test_finds_gangs_by_name_and_state(self):
        self.report("place", SMALL)
        self.browser.click_on("#find")
        self.browser.type("BLOCK")
        self.assertEqual(self.browser.text("#gangs"), "team/block-job\nplaced")
        self.browser.type("x")
        self.assertEqual(self.browser.text("#more"), "No gang is like that.")
        self.browser.run("""(() => {
          document.getElementById("find").value = "";
          const state = document.getElementById("state");
          state.value = "waiting";
          state.dispatchEvent(new Event("change"));
        })()""")
        self.assertEqual(self.browser.text("#gangs"), "team/too-big\nnot placed")

    def test_an_atlas_is_told_cell_by_cell(self):
        self.report("victims", "--all", QUESTIONS)
        self.assertIn("3 racks of flavor tas across", self.browser.text("#atlas-about"))
        self.assertIn("all up to 1", self.browser.text("#atlas-legend"))
        self.browser.run("document.getElementById('atlas-canvas').focus()")
        self.browser.press("ArrowDown")
        self.assertEqual(self.browser.text("#atlas-cell"),
                         "team/big in b1/r1: fits once all of priority 1 or lower are gone")
        self.browser.press("ArrowRight")
        self.browser.press("ArrowRight")
        self.assertEqual(self.browser.text("#atlas-cell"),
                         "team/big in b2/r1: fits once all of priority 0 or lower are gone")
        self.report("place", SMALL)
        self.assertFalse(self.browser.run(
            "document.getElementById('atlas').checkVisibility()"))

    def test_everything_has_a_name_for_those_who_do_not_see_it(self):
        self.report("place", SMALL)
        self.assertEqual(self.browser.run("""[...document.querySelectorAll(
            "button, input, select, canvas, nav, section, ul[id]")].filter((e) =>
            !e.getAttribute("aria-label") && !e.innerText.trim() && !(e.labels || []).length).length"""), 0)
        self.assertIn("Tree map of flavor gpu: 5 of 28", self.browser.run(
            "document.getElementById('canvas').getAttribute('aria-label')"))

    def test_follows_the_color_scheme(self):
        colors = []
        for scheme in ["light", "dark"]:
            self.report("place", SMALL, scheme=scheme)
            colors.append(self.browser.run("getComputedStyle(document.body).backgroundColor"))
            colors.append(self.colors_at(self.browser.point_of("host b2/r2/host-7")))
        self.assertEqual(colors[0], "rgb(255, 255, 255)")
        self.assertNotEqual(colors[0], colors[2])
        self.assertNotEqual(colors[1], colors[3])

    def test_names_are_text_whatever_is_in_them(self):
        self.report("place", "-", text=STRANGE)
        self.assertEqual(self.browser.run("document.title"), "espalier place")
        self.assertEqual(self.browser.run("document.images.length"), 0)
        self.assertIn("area: cpu, as no node here has an accelerator", self.browser.text("#legend"))
        self.assertIsNotNone(self.browser.point_of("host </script><img src=x"))
        self.browser.click(*self.browser.point_of("host nnnn"))
        self.assertIn("8 cores of 8 cores free", self.detail())

    def test_an_empty_cluster_is_said_to_be_empty(self):
        self.report("place", "-", text=EMPTY)
        self.assertIn("There is no flavor with a topology: nothing to draw.", self.detail())
        self.assertEqual(self.browser.text("#more"), "No gang is like that.")


def measure(files):
    for file in files:
        with Browser(1400, 900) as browser:
            browser.open(file)
            drawn = browser.run("performance.getEntriesByName('drawn')[0].startTime")
            redraw = browser.run("(() => { const t = performance.now(); draw(); return performance.now() - t; })()")
            print(f"{file}: first picture after {drawn:.0f} ms, again in {redraw:.0f} ms, "
                  f"{browser.run('view.boxes.length')} boxes, "
                  f"{pathlib.Path(file).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if find_chromium() is None:
        print("skipped: no Chromium here; `make test-report` installs one")
        sys.exit(77)
    if sys.argv[2:3] == ["--measure"]:
        measure(sys.argv[3:])
    else:
        ESPALIER = sys.argv.pop(1)
        unittest.main()
