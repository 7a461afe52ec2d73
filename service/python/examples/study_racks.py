"""What do 20 % more racks give a queue, and what do an order, slices and balance give for nothing?

Writes docs/studies.svg and the tables of docs/studies.md:

    ESPALIER_BINARY=build/release/espalier PYTHONPATH=service/python \
        build/python/bin/python service/python/examples/study_racks.py [FOLDER]

FOLDER keeps the results of the tasks (default: build/study_racks).
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd

from espalier.study import Cluster, Policy, Probe, Queue, Results, Study, run

ROOT = Path(__file__).resolve().parents[3]
RACK = "nvidia.com/gpu.clique"
HOSTS_OF_RACK, GPUS_OF_HOST = 18, 4
GPU = "nvidia.com/gpu"

STUDY = Study(
    clusters=(
        Cluster("30 racks", "T-NVL72-9K", nodes=30 * HOSTS_OF_RACK),
        Cluster("36 racks", "T-NVL72-9K", nodes=36 * HOSTS_OF_RACK),
    ),
    queues=(Queue("400 jobs", "X-ACME", gangs=400),),
    policies=(
        Policy("as it comes"),
        Policy("largest first", order="largest-first", order_by=GPU),
        Policy("smallest first", order="smallest-first", order_by=GPU),
        Policy("balanced", gates={"TASBalancedPlacement": True}),
        Policy("slices of 8", slice_level=RACK, slice_size=8),
    ),
    seeds=tuple(range(1, 6)),
    probes=(
        Probe("gpu", {GPU: 1}),
        Probe("8 hosts", {GPU: GPUS_OF_HOST}, pods=8),
    ),
)


def figures(results: Results) -> pd.DataFrame:
    """Returns a row a task: what was placed, how close together, and what room is left."""
    keys = ["cluster", "policy", "seed"]
    tasks = results.tasks().set_index(keys)
    room = results.capacity().set_index([*keys, "probe", "level"])
    gpus = room.xs(("gpu", ""), level=("probe", "level"))
    blocks = room.xs(("8 hosts", RACK), level=("probe", "level"))
    workloads = results.workloads()
    placed = workloads[workloads.outcome == "placed"]
    wide = placed[placed.pods >= 8].copy()
    wide["racks"] = [
        next(one["domains"] for one in pod_sets[0]["spread"] if one["level"] == RACK)
        for pod_sets in wide.pod_sets
    ]
    # A gang of n hosts needs this many racks.
    wide["least"] = -(-wide.pods // HOSTS_OF_RACK)
    sums = wide.groupby(keys)[["racks", "least"]].sum()
    return pd.DataFrame(
        {
            "gpus used": 100 * (gpus.before - gpus.after) / gpus.before,
            "gpus": gpus.before - gpus.after,
            "jobs placed": tasks.placed,
            "racks of wide jobs": sums.racks / sums.least,
            "blocks of 8 hosts left": blocks.after,
        }
    ).reindex(tasks.index)


def table(means: pd.DataFrame) -> str:
    lines = [
        "| cluster | policy | GPUs in use | of all | jobs placed of 400 | racks per rack needed | "
        "blocks of 8 hosts left |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in means.reset_index().to_dict("records"):
        cells = (
            row["cluster"],
            row["policy"],
            f"{row['gpus']:,.0f}",
            f"{row['gpus used']:.1f} %",
            f"{row['jobs placed']:.0f}",
            f"{row['racks of wide jobs']:.2f}",
            f"{row['blocks of 8 hosts left']:.1f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Draws each task as a point, and the mean of a policy as a line."""
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "espalier"  # the same bytes each time
    import matplotlib.pyplot as plt

    policies = [one.name for one in STUDY.policies]
    panels = {
        "gpus": "GPUs in use",
        "jobs placed": "jobs placed, of 400",
        "racks of wide jobs": "racks of jobs of 8 hosts or more,\nfor each that they need",
    }
    figure, axes = plt.subplots(1, len(panels), figsize=(11, 3.4), layout="constrained")
    for axis, (column, title) in zip(axes, panels.items(), strict=True):
        for number, cluster in enumerate(STUDY.clusters):
            values = rows[column][cluster.name]
            for position, policy in enumerate(policies):
                at = position + 0.32 * number - 0.16
                points = values[policy]
                color = ("#4269d0", "#ff725c")[number]
                axis.plot([at] * len(points), points, "o", ms=3, alpha=0.45, color=color)
                mean = points.mean()
                label = cluster.name if position == 0 else None
                axis.plot([at - 0.13, at + 0.13], [mean, mean], lw=2, color=color, label=label)
        axis.set_title(title, fontsize=10)
        axis.set_xticks(range(len(policies)), policies, rotation=25, ha="right", fontsize=8)
        axis.tick_params(axis="y", labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_ylim(bottom=1 if column == "racks of wide jobs" else 0)
    axes[0].legend(fontsize=8, frameon=False, loc="lower right")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    logging.basicConfig(format="%(message)s")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/study_racks")
    results = run(
        STUDY,
        folder,
        progress=lambda done, all_: print(f"\r{done} of {all_} tasks", end="", file=sys.stderr),
    )
    print(file=sys.stderr)
    rows = figures(results)
    print(table(rows.groupby(level=["cluster", "policy"], sort=False).mean()))
    draw(rows, ROOT / "docs/studies.svg")


if __name__ == "__main__":
    main()
