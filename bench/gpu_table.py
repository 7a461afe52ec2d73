#!/usr/bin/env python3
"""Prints what the programs of bench/device measure as tables, line by line as it comes.

Usage: PROGRAM | gpu_table.py [RESULTS]

Reads JSON objects, one a line, and appends them to the file RESULTS; other lines are printed as they
are. Every time in milliseconds under "model" is arithmetic: the device alone, on an H100 and an H200.
"""

import json
import sys

PROBES = f"{'probe':46}{'us':>12}{'GB/s':>10}{'model':>10}"
SCENARIOS = (f"{'bench':20}{'kind':9}{'nodes':>7}{'gangs':>7}{'device ms':>11}{'cpu ms':>10}"
             f"{'H100 model':>12}{'H200 model':>12}{'repeats':>9}  answers")
KERNELS = (f"{'kernel':28}{'bench':12}{'kind':9}{'launches':>9}{'ms':>12}{'H100 model':>12}"
           f"{'H200 model':>12}")


def model(row):
    return "".join(f"{row['model_ms'][gpu]:12.3f}" for gpu in ("H100", "H200"))


def probe(row):
    speed = f"{row['gb_per_s']:10.2f}" if "gb_per_s" in row else " " * 10
    name = f"{row['probe']}, {row['bytes']} B" if "bytes" in row else row["probe"]
    return f"{name:46}{row['us']:12.2f}{speed}" + (f"{row['model']:10.1f}" if row["model"] else "")


def scenario(row):
    answers = "equal" if row["same_answers"] else "DIFFERENT"
    if row["on_cpu"]:
        answers += f", {row['on_cpu']} BY THE CPU"
    if row["kind"] == "in order":
        answers += f", {row['batches']} batches, {row['decided']} decided"
    return (f"{row['bench']:20}{row['kind']:9}{row['nodes']:7}{row['gangs']:7}"
            f"{row['device_ms'][1]:11.3f}{row['cpu_ms'][1]:10.3f}{model(row)}{row['repeats']:9}  {answers}")


def kernel(row):
    took = " " * 12 if row["ms"] is None else f"{row['ms']:12.4f}"
    return (f"{row['kernel']:28}{row['bench']:12}{row['kind']:9}{row['launches']:9}{took}"
            f"{model(row)}")


# By the key that tells a kind of object from the others, which must come in this order.
TABLES = {"probe": (PROBES, probe), "kernel": (KERNELS, kernel), "bench": (SCENARIOS, scenario)}


def main():
    results = open(sys.argv[1], "a", encoding="utf-8") if len(sys.argv) > 1 else None
    heading = None
    for line in sys.stdin:
        line = line.rstrip("\n")
        if not line.startswith("{"):
            print(line, flush=True)
            continue
        if results is not None:
            print(line, file=results, flush=True)
        row = json.loads(line)
        table = next((TABLES[key] for key in TABLES if key in row), None)
        if table is None:
            print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
            continue
        if heading != table[0]:
            heading = table[0]
            print(heading, flush=True)
        print(table[1](row), flush=True)


if __name__ == "__main__":
    main()
