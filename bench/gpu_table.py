#!/usr/bin/env python3
"""Prints what device_speed measured as tables: scenarios, then what their kernels took.

Usage: gpu_table.py FILE   (its JSON objects, one a line)
"""

import json
import sys


def print_scenarios(rows):
    print("bench               kind        nodes  gangs  device ms     cpu ms  % of floor  answers")
    for row in rows:
        device, cpu = row["device_ms"][1], row["cpu_ms"][1]
        print(f"{row['bench']:20}{row['kind']:9}{row['nodes']:8}{row['gangs']:7}{device:11.3f}{cpu:11.3f}"
              f"{100 * row['floor_ms'] / device:12.1f}  "
              f"{'equal' if row['same_answers'] else 'DIFFERENT'}")
        if row["kind"] == "in order":
            print(f"    {row['gangs']} gangs in {row['batches']} batches, {row['decided']} decided,"
                  " in all repeats")


def print_kernels(rows):
    sums = {}
    for row in rows:
        case = (row["bench"], row["kind"])
        sums[case] = sums.get(case, 0) + row["ms"]
    print("kernel                      bench               kind      launches         ms  % of kernels")
    for row in rows:
        share = 100 * row["ms"] / max(sums[(row["bench"], row["kind"])], 1e-9)
        print(f"{row['kernel']:28}{row['bench']:20}{row['kind']:9}{row['launches']:9}{row['ms']:11.4f}"
              f"{share:14.1f}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    scenarios = [row for row in rows if "device_ms" in row]
    kernels = [row for row in rows if "kernel" in row]
    if scenarios:
        print_scenarios(scenarios)
    if kernels:
        print_kernels(kernels)


if __name__ == "__main__":
    main()
