"""Studies: the same results wherever they run and however often they were interrupted."""

from __future__ import annotations

import gzip
import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import distributed
import pyarrow
import pytest
from conftest import ROOT

import espalier
from espalier.study import Cluster, Policy, Probe, Queue, Study, StudyError, run
from espalier.study_task import edit

CLIQUE = "nvidia.com/gpu.clique"
SMALL = Study(
    clusters=(
        Cluster("two racks", "T-NVL72-9K", nodes=36),
        Cluster("three racks", "T-NVL72-9K", nodes=54),
    ),
    queues=(Queue("nvl", "X-NVL", gangs=12),),
    policies=(
        Policy("as it comes"),
        Policy("smallest first", order="smallest-first", order_by="nvidia.com/gpu"),
    ),
    seeds=(2,),
    probes=(Probe("host", {"nvidia.com/gpu": 4}),),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pyarrow.Table:
    """Returns the results of a run that nothing happened to, on processes of this machine."""
    return run(SMALL, tmp_path_factory.mktemp("whole"), workers=1).table


def threads() -> ThreadPoolExecutor:
    """Returns the quickest executor: tasks in this process, with one server."""
    return ThreadPoolExecutor(2)


def test_what_a_study_says(whole: pyarrow.Table) -> None:
    assert whole.num_rows == 4
    rows = whole.to_pylist()
    by_name = {(one["cluster"], one["policy"]): one for one in rows}
    less, more = by_name["two racks", "as it comes"], by_name["three racks", "as it comes"]
    assert (less["nodes"], more["nodes"]) == (36, 54)
    assert less["pods_placed"] < more["pods_placed"]
    for row in rows:
        assert len(row["workloads"]) == 12 == row["placed"] + row["not_placed"]
        placed = [one for one in row["workloads"] if one["outcome"] == "placed"]
        assert len(placed) == row["placed"]
        for one in placed:
            spread = one["pod_sets"][0]["spread"]
            assert [level["level"] for level in spread][-2:] == [CLIQUE, "kubernetes.io/hostname"]
            assert 1 <= spread[1]["domains"] <= spread[2]["domains"] <= one["pods"]
        assert all(one["reason"] for one in row["workloads"] if one["outcome"] == "not_placed")
        host = next(one for one in row["capacity"] if one["level"] == "")
        assert host["before"] == row["nodes"]
        assert host["before"] - host["after"] <= row["pods_placed"]
    assert less["edited"] == 0
    other = by_name["two racks", "smallest first"]
    assert other["edited"] == 12
    pods = [one["pods"] for one in other["workloads"]]
    assert pods == sorted(pods)


def test_frames(whole: pyarrow.Table, tmp_path: Path) -> None:
    with threads() as executor:
        results = run(SMALL, tmp_path, on=executor)
    assert results.table == whole
    assert len(results.tasks()) == 4
    workloads = results.workloads()
    assert len(workloads) == 4 * 12
    assert set(workloads.policy) == {one.name for one in SMALL.policies}
    placed = workloads[workloads.outcome == "placed"].groupby(["cluster", "policy"]).size()
    assert placed["two racks", "as it comes"] == results.tasks().placed[0]
    assert set(results.capacity().probe) == {"host"}


class InterruptError(Exception):
    pass


def test_an_interrupted_study_goes_on(whole: pyarrow.Table, tmp_path: Path) -> None:
    def interrupt(done: int, _: int) -> None:
        if done == 2:
            raise InterruptError

    with threads() as executor, pytest.raises(InterruptError):
        run(SMALL, tmp_path, on=executor, progress=interrupt)
    kept = {one.name: one.stat().st_mtime_ns for one in tmp_path.glob("*.parquet")}
    assert len(kept) == 2
    # As a driver leaves it that is killed while it writes.
    (tmp_path / f"{SMALL.tasks()[3].key}.partial").write_bytes(b"PAR1")
    with threads() as executor:
        results = run(SMALL, tmp_path, on=executor)
    assert results.reused == 2
    assert results.table == whole
    for name, written in kept.items():
        assert (tmp_path / name).stat().st_mtime_ns == written
    assert run(SMALL, tmp_path).reused == 4


def test_damaged_results_are_named_and_made_again(whole: pyarrow.Table, tmp_path: Path) -> None:
    with threads() as executor:
        run(SMALL, tmp_path, on=executor)
        cut, flipped, empty, *sound = sorted(tmp_path.glob("*.parquet"))
        cut.write_bytes(cut.read_bytes()[:-1])
        content = bytearray(flipped.read_bytes())
        content[len(content) // 2] ^= 1
        flipped.write_bytes(content)
        empty.write_bytes(b"")
        results = run(SMALL, tmp_path, on=executor)
    assert sorted(results.damaged) == [cut.name, flipped.name, empty.name]
    assert results.reused == len(sound) == 1
    assert results.table == whole


def test_keys_tell_all_inputs_apart(tmp_path: Path) -> None:
    def keys(study: Study) -> set[str]:
        return {one.key for one in study.tasks()}

    base = keys(SMALL)
    assert len(base) == 4
    (cluster, _), policy = SMALL.clusters, SMALL.policies[0]
    for other in (
        replace(SMALL, seeds=(3,)),
        replace(SMALL, probes=()),
        replace(SMALL, clusters=(replace(cluster, prefill="P10"),)),
        replace(SMALL, queues=(Queue("nvl", "X-NVL", gangs=13),)),
        replace(SMALL, policies=(replace(policy, gates={"TASBalancedPlacement": True}),)),
        replace(SMALL, policies=(replace(policy, mode=espalier.Mode.NOMINATE),)),
    ):
        assert not base & keys(other)
    file = tmp_path / "objects.json"
    of_file = Study(
        (Cluster("c", files=(str(file),)),), (Queue("q", files=(str(file),)),), (policy,)
    )
    file.write_text("{}")
    before = keys(of_file)
    file.write_text("[]")
    assert not before & keys(of_file)


def test_clusters_of_files(tmp_path: Path) -> None:
    dumps = tuple(str(ROOT / "tests/data/dumps" / one) for one in ("before.json.gz", "extra.json"))
    study = Study(
        (Cluster("dump", files=dumps),), (Queue("dump", files=dumps),), (Policy("kueue"),)
    )
    with threads() as executor:
        (row,) = run(study, tmp_path, on=executor).table.to_pylist()
    assert (row["nodes"], row["placed"], row["not_placed"]) == (336, 47, 19)


def test_one_task_that_fails_does_not_hide_the_rest(tmp_path: Path) -> None:
    study = replace(SMALL, policies=(Policy("good"), Policy("bad", gates={"NoSuchGate": True})))
    with threads() as executor:
        with pytest.raises(StudyError, match="NoSuchGate") as raised:
            run(study, tmp_path, on=executor)
        assert set(raised.value.failures) == {
            "two racks x nvl x bad x 2",
            "three racks x nvl x bad x 2",
        }
        good = replace(study, policies=(Policy("good"),))
        assert run(good, tmp_path, on=executor).reused == 2


def test_grids_that_make_no_sense() -> None:
    cluster, queue = SMALL.clusters[0], SMALL.queues[0]
    for wrong, text in (
        (replace(SMALL, seeds=(1, 1)), "seeds: '1' is there twice"),
        (replace(SMALL, policies=(Policy("p", order="random"),)), "policy p: order is 'random'"),
        (replace(SMALL, policies=(Policy("p", slice_size=8),)), "policy p: want both"),
        (replace(SMALL, clusters=(replace(cluster, topology=""),)), "cluster two racks: want"),
        (replace(SMALL, queues=(replace(queue, mix=""),)), "queue nvl: want either"),
        (replace(SMALL, clusters=(Cluster("f", files=("f",)),)), "queue nvl: a mix is made for"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong.tasks()


def test_edits(tmp_path: Path) -> None:
    espalier.command("generate", "T-NVL72-9K", "--gangs", "9", "--output-dir", tmp_path)
    objects = gzip.decompress((tmp_path / "queues.json.gz").read_bytes())
    policy = Policy("p", order="smallest-first", slice_level=CLIQUE, slice_size=2)
    text, edited = edit(objects, policy)
    assert edited == 9
    for item in json.loads(text)["items"]:
        if item["kind"] == "Workload":
            (pod_set,) = item["spec"]["podSets"]
            assert item["spec"]["priority"] == -pod_set["count"]
            sliced = "podSetSliceSize" in pod_set.get("topologyRequest", {})
            assert sliced == (pod_set["count"] % 2 == 0)
    assert edit(objects, Policy("none")) == (objects, 0)
    with pytest.raises(ValueError, match="policy p: the queue is not JSON"):
        edit(b"kind: Workload", policy)
    with pytest.raises(ValueError, match="cpu: is '500m'; want a whole number"):
        edit(
            b'{"kind": "Workload", "spec": {"podSets": [{"count": 1, "template": {"spec": '
            b'{"containers": [{"resources": {"requests": {"cpu": "500m"}}}]}}}]}}',
            Policy("p", order="largest-first", order_by="cpu"),
        )


# Is the command, but that the first `place` tells who started it, and goes no further.
CATCH = """#!/bin/sh
if [ "$1" = place ] && mkdir '{folder}/first' 2>&-; then
  echo "$PPID" > '{folder}/caught'
  read -r _ < '{folder}/held'
  exit 5
fi
exec '{binary}' "$@"
"""


def test_a_worker_of_dask_is_killed_in_the_middle(
    whole: pyarrow.Table, tmp_path: Path, binary: str
) -> None:
    command = tmp_path / "espalier"
    command.write_text(CATCH.format(folder=tmp_path, binary=binary))
    command.chmod(0o755)
    os.mkfifo(tmp_path / "caught")
    os.mkfifo(tmp_path / "held")
    killed: list[int] = []

    def kill() -> None:
        killed.append(int((tmp_path / "caught").read_text()))
        os.kill(killed[0], signal.SIGKILL)
        (tmp_path / "held").write_text("\n")

    killer = threading.Thread(target=kill)
    killer.start()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = set(client.run(os.getpid).values())
        assert len(workers) == 2
        results = run(SMALL, tmp_path / "results", on=client, binary=command)
        assert not killed or killed[0] in workers
        assert set(client.run(os.getpid).values()).isdisjoint(killed)
    killer.join()
    assert len(killed) == 1
    assert results.reused == 0
    assert results.table == whole
