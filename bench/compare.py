#!/usr/bin/env python3
"""Compares results of `espalier bench --output json`.

Usage: compare.py [--noise PERCENT] [--stage STAGE] OLD.json [OLD.json...] NEW.json

Of several old files the median counts. A stage is faster or slower when its median moved by more
than the noise: PERCENT (10 unless told), or as much as the old files differ among themselves, or as
far as the old run's own 90th percentile lay above its median, whichever is most. Digests that differ
are different answers.

Exit code: 0 nothing slower and the same answers; 1 otherwise; 2 the files cannot be compared.
"""

import argparse
import json
import statistics
import sys


class CannotCompare(Exception):
    pass


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        return report, {result["name"]: result for result in report["results"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotCompare(f"{path}: no results of espalier bench: {error}") from error


def stages(result):
    return {stage["name"]: stage for stage in result["stages"]}


def noise_of(old_stages, least):
    """The relative change that means nothing, and the old median."""
    medians = [stage["p50Nanoseconds"] for stage in old_stages]
    median = statistics.median(medians)
    if median <= 0:
        return least, median
    between = (max(medians) - min(medians)) / median
    within = statistics.median(
        stage["p90Nanoseconds"] / max(stage["p50Nanoseconds"], 1) - 1 for stage in old_stages)
    return max(least, between, within), median


def time_text(nanoseconds):
    for size, name in [(1e9, "s"), (1e6, "ms"), (1e3, "us")]:
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {name}"
    return f"{nanoseconds:.0f} ns"


def compare(olds, new, least_noise, only_stage=None):
    """Rows of (scenario, stage, old, new, change, noise, verdict)."""
    rows = []
    for name, result in new.items():
        before = [old[name] for old in olds if name in old]
        if not before:
            rows.append((name, "", "", "", "", "", "new"))
            continue
        if any(old["sha256"] != result["sha256"] for old in before):
            rows.append((name, "", "", "", "", "", "DIFFERENT ANSWERS"))
        for stage_name, stage in stages(result).items():
            if only_stage and stage_name != only_stage:
                continue
            old_stages = [stages(old)[stage_name] for old in before if stage_name in stages(old)]
            if not old_stages:
                continue
            noise, median = noise_of(old_stages, least_noise)
            now = stage["p50Nanoseconds"]
            change = now / median - 1 if median > 0 else 0.0
            verdict = "SLOWER" if change > noise else "faster" if change < -noise else "same"
            rows.append((name, stage_name, time_text(median), time_text(now),
                         f"{100 * change:+.1f} %", f"{100 * noise:.0f} %", verdict))
    return rows


def print_table(rows):
    header = ("SCENARIO", "STAGE", "OLD P50", "NEW P50", "CHANGE", "NOISE", "VERDICT")
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="old files, then the new one")
    parser.add_argument("--noise", type=float, default=10, help="percent that mean nothing")
    parser.add_argument("--stage", help="only this stage, as compute")
    options = parser.parse_args(arguments)
    if len(options.files) < 2:
        parser.error("two files or more: old ones, then the new one")
    try:
        reports = [read(path) for path in options.files]
    except CannotCompare as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    machines = {(report["machine"]["cpu"], report["machine"]["cores"], report["threads"],
                 report["backend"]) for report, _ in reports}
    if len(machines) > 1:
        print("compare.py: these are of different machines, threads or back ends:", file=sys.stderr)
        for machine in sorted(machines):
            print("  {}, {} cores, {} threads, {}".format(*machine), file=sys.stderr)
    rows = compare([results for _, results in reports[:-1]], reports[-1][1], options.noise / 100,
                   options.stage)
    print_table(rows)
    bad = [row for row in rows if row[-1] in ("SLOWER", "DIFFERENT ANSWERS")]
    print(f"\n{len(rows)} compared, {len(bad)} slower or different")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
