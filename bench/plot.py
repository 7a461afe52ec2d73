#!/usr/bin/env python3
"""Plots and tables for docs/performance.md from results of `espalier bench --output json`.

Usage: plot.py RESULTS.json [--docs FOLDER]

Writes FOLDER/plots/scaling.svg (what a gang in order costs on ever larger clusters, B51) and
FOLDER/plots/targets.svg (every figure with a target, as a share of it), and the tables between the
markers of FOLDER/performance.md. FOLDER is docs/ beside this script's folder unless told. Parts
whose scenarios are not in the results stay as they are.
"""

import argparse
import html
import json
import math
import pathlib
import re
import sys

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2933; }
  .small { font-size: 11px; fill: #52606d; }
  .title { font-size: 15px; font-weight: 600; }
  .grid { stroke: #9aa5b1; stroke-opacity: .35; }
  .axis { stroke: #7b8794; }
  .line { stroke: #2a6fb0; stroke-width: 2; fill: none; }
  .dot { fill: #2a6fb0; }
  .range { fill: #2a6fb0; fill-opacity: .35; }
  .mark { stroke: #2a6fb0; stroke-width: 3; }
  .missed { fill: #b4541a; fill-opacity: .35; }
  .missed-mark { stroke: #b4541a; stroke-width: 3; }
  .limit { stroke: #1f2933; stroke-width: 1.5; stroke-dasharray: 5 4; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb; } .small { fill: #9aa5b1; } .limit { stroke: #e4e7eb; }
    .line, .mark { stroke: #6cb0f0; } .dot, .range { fill: #6cb0f0; }
    .missed { fill: #f0a060; } .missed-mark { stroke: #f0a060; }
  }
"""


def time_text(nanoseconds):
    for size, name in [(1e9, "s"), (1e6, "ms"), (1e3, "us")]:
        if nanoseconds >= 0.9995 * size:
            return f"{nanoseconds / size:.3g} {name}"
    return f"{nanoseconds:.3g} ns"


class Svg:
    """Elements of one picture, in order."""

    def __init__(self, width, height, title):
        self.head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                     f'width="{width}" height="{height}" role="img">'
                     f"<title>{html.escape(title)}</title><style>{STYLE}</style>")
        self.parts = []

    def text(self, x, y, text, anchor="start", kind=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">'
                          f"{html.escape(text)}</text>")

    def line(self, x1, y1, x2, y2, kind):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'class="{kind}"/>')

    def path(self, points, kind):
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{joined}" class="{kind}"/>')

    def dot(self, x, y, kind):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="{kind}"/>')

    def box(self, x, y, width, height, kind):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" '
                          f'height="{height:.1f}" rx="2" class="{kind}"/>')

    def save(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([self.head, *self.parts, "</svg>"]) + "\n", encoding="utf-8")


def stage_of(result, name):
    return next((stage for stage in result["stages"] if stage["name"] == name), None)


def log_scale(low, high, start, end):
    return lambda value: start + (math.log10(value) - math.log10(low)) / (
        math.log10(high) - math.log10(low)) * (end - start)


def decades(low, high):
    return [10.0 ** power for power in range(math.floor(math.log10(low)),
                                             math.ceil(math.log10(high)) + 1)]


def plot_scaling(report, path):
    points = sorted((result["nodes"], stage_of(result, "compute")["p50Nanoseconds"] / result["gangs"])
                    for result in report["results"] if result["name"].startswith("B51-scaling/"))
    if len(points) < 2:
        return False
    svg = Svg(720, 380, "Cost of a gang in order against the size of the cluster")
    svg.text(20, 28, "One gang in order: median cost against the size of the cluster", kind="title")
    svg.text(20, 48, "1,000 gangs of recorded sizes, eight resources, 70 % in use; every shape "
                     "is counted once within the run", kind="small")
    ticks = decades(min(cost for _, cost in points), max(cost for _, cost in points))
    x = log_scale(points[0][0], points[-1][0], 90, 690)
    y = log_scale(ticks[0], ticks[-1], 320, 70)
    for tick in ticks:
        svg.line(90, y(tick), 690, y(tick), "grid")
        svg.text(82, y(tick) + 4, time_text(tick), "end", "small")
    for nodes, _ in points:
        svg.text(x(nodes), 340, f"{nodes:,}", "middle", "small")
    svg.text(390, 364, "nodes", "middle")
    svg.line(90, 320, 690, 320, "axis")
    svg.path([(x(nodes), y(cost)) for nodes, cost in points], "line")
    for nodes, cost in points:
        svg.dot(x(nodes), y(cost), "dot")
        svg.text(x(nodes), y(cost) - 10, time_text(cost), "middle", "small")
    svg.save(path)
    return True


def targets(report):
    for result in report["results"]:
        target = result.get("target")
        stage = target and stage_of(result, target["stage"])
        if stage:
            yield result, target, stage


def plot_targets(report, path):
    rows = list(targets(report))
    if not rows:
        return False
    height = 110 + 34 * len(rows)
    svg = Svg(760, height, "Times as a share of their targets")
    svg.text(20, 28, "Times as a share of their targets", kind="title")
    svg.text(20, 48, "bar: fastest to 99th percentile; mark: median; dashed: the target", kind="small")
    shares = [(stage["minNanoseconds"] / target["nanoseconds"],
               max(stage["p99Nanoseconds"] / target["nanoseconds"], 1.2)) for _, target, stage in rows]
    ticks = decades(max(min(low for low, _ in shares), 1e-4), max(high for _, high in shares))
    x = log_scale(ticks[0], ticks[-1], 300, 730)
    clamp = lambda share: max(share, ticks[0])
    bottom = 70 + 34 * len(rows)
    for tick in ticks:
        svg.line(x(tick), 62, x(tick), bottom, "grid")
        svg.text(x(tick), bottom + 18, f"{100 * tick:g} %", "middle", "small")
    for row, (result, target, stage) in enumerate(rows):
        y = 70 + 34 * row
        low, middle, high = (clamp(stage[key] / target["nanoseconds"])
                             for key in ("minNanoseconds", "p50Nanoseconds", "p99Nanoseconds"))
        kind = "" if target["met"] else "missed"
        svg.text(20, y + 13, f'{target["name"]}  {result["name"]}')
        svg.text(20, y + 27, f'{target["stage"]}: {time_text(stage["p99Nanoseconds"])} of '
                             f'{time_text(target["nanoseconds"])}', kind="small")
        svg.box(x(low), y + 6, x(high) - x(low), 14, kind or "range")
        svg.line(x(middle), y + 2, x(middle), y + 24, f"{kind}-mark" if kind else "mark")
    svg.line(x(1), 58, x(1), bottom, "limit")
    svg.text(x(1), bottom + 34, "target", "middle", "small")
    svg.save(path)
    return True


def markdown_row(cells):
    return "| " + " | ".join(cells) + " |"


def cells_of_target(target, stage):
    return [time_text(stage["p50Nanoseconds"]), time_text(stage["p99Nanoseconds"]),
            "yes" if target["met"] else "**no**"]


def table_of_targets(report, beside):
    there = {(result["name"], target["stage"]): cells_of_target(target, stage)
             for result, target, stage in targets(beside or {"results": []})}
    lines = [markdown_row(["", "scenario", "stage", "target", "p50", "p99", "met"]
                          + (["p50 beside", "p99 beside", "met beside"] if beside else [])),
             "|" + "---|" * (10 if beside else 7)]
    for result, target, stage in targets(report):
        cells = [target["name"], result["name"], target["stage"],
                 time_text(target["nanoseconds"]), *cells_of_target(target, stage)]
        if beside:
            cells += there.get((result["name"], target["stage"]), [""] * 3)
        lines.append(markdown_row(cells))
    return lines


def table_of_all(report):
    lines = ["| scenario | nodes | gangs | shapes | p50 | p99 | floor | of floor |",
             "|---|---|---|---|---|---|---|---|"]
    for result in report["results"]:
        stage = stage_of(result, result["floorStage"]) or result["stages"][0]
        floor = result["floorNanoseconds"]
        median = stage["p50Nanoseconds"]
        share = 100 * floor / median if median else 0
        lines.append(markdown_row([
            result["name"], f'{result["nodes"]:,}', f'{result["gangs"]:,}', f'{result["shapes"]:,}',
            time_text(median), time_text(stage["p99Nanoseconds"]),
            time_text(floor) if floor else "",
            "" if not floor else "<1 %" if share < 1 else f"{share:.0f} %"]))
    return lines


def table_of_peers(report):
    lines = ["| scenario | there, in all | there, a gang (p50) | what was measured there | here, p50 |",
             "|---|---|---|---|---|"]
    for result in report["results"]:
        peer = result.get("recordedOnAnotherRun")
        stage = peer and stage_of(result, "compute")
        if not stage:
            continue
        lines.append(markdown_row([
            result["name"], time_text(peer["nanoseconds"]),
            time_text(peer["gangNanoseconds"]) if "gangNanoseconds" in peer else "",
            peer["what"], time_text(stage["p50Nanoseconds"])]))
    return lines


def table_of_features(report):
    lines = ["| feature | a gang (p50) | beside plain |", "|---|---|---|"]
    medians = {}
    for result in report["results"]:
        scenario, _, feature = result["name"].partition("/")
        stage = scenario == "B52-features" and stage_of(result, "compute")
        if stage:
            medians[feature] = stage["p50Nanoseconds"] / result["gangs"]
    for feature, median in medians.items():
        lines.append(markdown_row([feature.lower().replace("-", " "), time_text(median),
                                   f'{median / medians["PLAIN"]:.1f} x']))
    return lines


def heading(report, path):
    machine, floors = report["machine"], report["floors"]
    return (f'`bench/results/{path.name}`: {machine["cpu"]}, {machine["cores"]} cores, '
            f'{machine["memoryBytes"] / 2**30:.0f} GiB, {machine["kernel"]}; back end '
            f'{report["backend"]}, {report["threads"]} threads, {report["simd"]}; '
            f'{" / ".join(report["version"].splitlines()[:2])}. Floors measured in the same run: '
            f'{floors["cellsPerSecond"] / 1e9:.0f} G cells/s, '
            f'{floors["bytesPerSecond"] / 1e9:.0f} GB/s from memory, '
            f'{floors["cachedBytesPerSecond"] / 1e9:.0f} GB/s from caches.')


def fill(text, name, lines):
    """Replaces what stands between the two markers of a part."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.S)
    if not pattern.search(text):
        raise ValueError(f"no markers <!-- {name} --> and <!-- end of {name} -->")
    return pattern.sub(lambda match: match.group(1) + "\n".join(lines) + "\n" + match.group(2), text)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--beside", type=pathlib.Path,
                        help="another machine's results, for the table of targets")
    parser.add_argument("--docs", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent / "docs")
    options = parser.parse_args(arguments)
    try:
        report = json.loads(options.results.read_text(encoding="utf-8"))
        beside = options.beside and json.loads(options.beside.read_text(encoding="utf-8"))
        document = options.docs / "performance.md"
        text = document.read_text(encoding="utf-8")
        machines = ["From " + heading(report, options.results)]
        if beside:
            machines += ["", "Beside them, from " + heading(beside, options.beside)]
        for name, lines in [("machine", machines),
                            ("targets", table_of_targets(report, beside)),
                            ("features", table_of_features(report)),
                            ("peers", table_of_peers(report)), ("figures", table_of_all(report))]:
            text = fill(text, name, lines)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"plot.py: {options.results}: {error}", file=sys.stderr)
        return 2
    document.write_text(text, encoding="utf-8")
    for plot, name in [(plot_scaling, "scaling.svg"), (plot_targets, "targets.svg")]:
        path = options.docs / "plots" / name
        print(f"{path}: {'written' if plot(report, path) else 'left as it was'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
