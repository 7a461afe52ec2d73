"""What a worker of a study does with one task."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.answers import ObjectPlacements, ObjectWorkload
from espalier.client import Client, load, read_objects
from espalier.model import Assignment, PodSetRequest, WorkloadRequest
from espalier.process import Server, StrPath, command
from espalier.results import Capacity
from espalier.state import State

if TYPE_CHECKING:
    import pyarrow

    from espalier.study_grid import Policy, Probe, Task

# The servers of this process, by binary. They end with it.
_servers: dict[str, Server] = {}
_starting = threading.Lock()


def _server(binary: StrPath | None) -> Server:
    with _starting:
        server = _servers.get(str(binary))
        if server is None or not server.running:
            server = _servers[str(binary)] = Server(binary)
        return server


def solve(task: Task, binary: StrPath | None) -> bytes:
    """Does a task and returns its result as Parquet: the same bytes for the same task."""
    version = command("--version", binary=binary).output.splitlines()[0]
    if version != task.version:
        raise ValueError(f"this worker has {version}; want {task.version}")
    for path, digest in task.digests:
        if hashlib.sha256(Path(path).read_bytes()).hexdigest() != digest:
            raise ValueError(f"{path}: is another file on this worker, or has changed")
    with tempfile.TemporaryDirectory(prefix="espalier-") as folder:
        cluster, queue = _files(task, folder, binary)
        objects, edited = edit(read_objects(queue), task.policy)
        with _state(task.key, cluster, binary) as state:
            return _result(task, state, objects, edited)


def _files(
    task: Task, folder: str, binary: StrPath | None
) -> tuple[tuple[StrPath, ...], tuple[StrPath, ...]]:
    if task.cluster.files:
        return task.cluster.files, task.queue.files
    arguments = ["generate", task.cluster.topology, "--seed", str(task.seed)]
    arguments += ["--nodes", str(task.cluster.nodes), "--resources", str(task.cluster.resources)]
    arguments += ["--prefill", task.cluster.prefill, "--output-dir", folder]
    if task.queue.mix:
        arguments += ["--mix", task.queue.mix, "--gangs", str(task.queue.gangs)]
    command(*arguments, binary=binary)
    queue = Path(folder, "queues.json.gz")
    return (Path(folder, "cluster.json.gz"),), task.queue.files or (queue,)


# A state of a task's own: what it places is gone with it.
@contextmanager
def _state(name: str, files: tuple[StrPath, ...], binary: StrPath | None) -> Iterator[State]:
    server = _server(binary)
    with load(files, server=server, name=name, binary=binary) as state:
        try:
            yield state
        finally:
            if server.running:
                with Client(server.address) as client:
                    client.unload(name)


def edit(objects: bytes, policy: Policy) -> tuple[bytes, int]:
    """Writes the order and the slices of a policy into the Kueue Workloads that wait. Returns the
    objects, and how many workloads were changed. ValueError where that cannot be done."""
    if not policy.order and not policy.slice_size:
        return objects, 0
    edited = 0
    items: list[Any] = []
    try:
        text, position = objects.decode().strip(), 0
        while position < len(text):
            item, position = json.JSONDecoder().raw_decode(text, position)
            items += item["items"] if item.get("kind") == "List" else [item]
            while text[position : position + 1].isspace():
                position += 1
    except ValueError as error:
        raise ValueError(f"policy {policy.name}: the queue is not JSON: {error}") from None
    for item in items:
        if item.get("kind") != "Workload" or item.get("status", {}).get("admission"):
            continue
        edited += _edit_workload(item["spec"], policy)
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode(), edited


def _edit_workload(spec: Any, policy: Policy) -> bool:
    changed = False
    if policy.order:
        size = sum(_size(pod_set, policy.order_by) for pod_set in spec["podSets"])
        limit = 2**31 - 1
        spec["priority"] = min(size, limit) * (1 if policy.order == "largest-first" else -1)
        changed = True
    for pod_set in spec["podSets"] if policy.slice_size else ():
        if pod_set["count"] % policy.slice_size == 0:
            request = pod_set.setdefault("topologyRequest", {})
            request["podSetSliceRequiredTopology"] = policy.slice_level
            request["podSetSliceSize"] = policy.slice_size
            changed = True
    return changed


def _size(pod_set: Any, resource: str) -> int:
    if not resource:
        return int(pod_set["count"])
    asked = [
        container.get("resources", {}).get("requests", {}).get(resource, "0")
        for container in pod_set["template"]["spec"]["containers"]
    ]
    for amount in asked:
        if not str(amount).isdigit():
            raise ValueError(f"{resource}: is {amount!r}; want a whole number to order by")
    return int(pod_set["count"]) * sum(int(amount) for amount in asked)


def _result(task: Task, state: State, objects: bytes, edited: int) -> bytes:
    import pyarrow
    import pyarrow.parquet

    flavors = {one.name: one.levels for one in state.summary().flavors}
    shapes = [_shape(one, list(flavors)) for one in task.probes]
    before = state.capacity(shapes)
    policy = task.policy
    placed = state.place_objects(
        objects,
        policy.mode,
        gates=policy.gates,
        profile=policy.profile,
        guess_flavor=policy.guess_flavor,
        commit=policy.mode.value == "sequential",
    )
    after = state.capacity(shapes)
    row = {
        "cluster": task.cluster.name,
        "queue": task.queue.name,
        "policy": policy.name,
        "seed": task.seed,
        "key": task.key,
        "nodes": state.summary().nodes,
        "edited": edited,
        "placed": sum(one.placed for one in placed),
        "not_placed": sum(one.outcome.value == "not_placed" for one in placed),
        "pods_placed": sum(_pods(one) for one in placed if one.placed),
        "warnings": list(placed.warnings),
        "workloads": _workload_rows(placed, Spread(state, flavors)),
        "capacity": [
            one for rooms in zip(before, after, strict=True) for one in _room_rows(*rooms)
        ],
    }
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row], schema=_schema()), out)
    return out.getvalue()


def _shape(probe: Probe, flavors: list[str]) -> WorkloadRequest:
    if not probe.flavor and len(flavors) != 1:
        raise ValueError(f"probe {probe.name}: want a flavor, of {', '.join(flavors) or 'none'}")
    pod_set = PodSetRequest("main", probe.flavor or flavors[0], probe.pods, probe.requests)
    return WorkloadRequest((pod_set,), name=probe.name)


class Spread:
    """Counts the domains of every level that an assignment uses."""

    def __init__(self, state: State, flavors: dict[str, tuple[str, ...]]) -> None:
        self._state = state
        self._levels = flavors
        self._leaves: dict[str, dict[str, tuple[str, ...]]] = {}  # by flavor and lowest value

    def of(self, flavor: str, assignment: Assignment) -> list[dict[str, object]]:
        """Returns the number of domains for each level, coarsest first."""
        levels = self._levels[flavor]
        paths = [one.values for one in assignment.domains]
        if assignment.levels != levels:  # of hosts, whose names say which they are
            if flavor not in self._leaves:
                self._leaves[flavor] = {one[-1]: one for one in self._state.leaves(flavor)}
            paths = [self._leaves[flavor][one[-1]] for one in paths]
        return [
            {"level": level, "domains": len({path[: height + 1] for path in paths})}
            for height, level in enumerate(levels)
        ]


def _pods(workload: ObjectWorkload) -> int:
    if workload.tree is not None:
        return sum(one.assignment.pods for one in workload.tree.groups if one.assignment)
    return sum(one.count for one in workload.pod_sets)


def _workload_rows(placed: ObjectPlacements, spread: Spread) -> list[dict[str, object]]:
    return [
        {
            "namespace": one.namespace,
            "name": one.name,
            "outcome": one.outcome.value,
            "verdict": one.verdict.value if one.verdict else None,
            "pods": _pods(one),
            "reason": one.reason,
            "pod_sets": [
                {
                    "name": pod_set.name,
                    "flavor": pod_set.flavor,
                    "pods": pod_set.count,
                    "spread": spread.of(pod_set.flavor, pod_set.assignment)
                    if pod_set.assignment and one.placed
                    else [],
                }
                for pod_set in one.pod_sets
            ],
        }
        for one in placed
    ]


def _room_rows(before: Capacity, after: Capacity) -> list[dict[str, object]]:
    if before.failure:
        raise ValueError(f"probe {before.name}: {before.failure}")
    levels = zip(before.levels, after.levels, strict=True)
    return [
        {"probe": before.name, "level": b.level, "before": b.gangs, "after": a.gangs}
        for b, a in levels
    ]


def _schema() -> pyarrow.Schema:
    import pyarrow

    text, number = pyarrow.string(), pyarrow.int64()
    spread = pyarrow.struct([("level", text), ("domains", number)])
    pod_set = pyarrow.struct(
        [("name", text), ("flavor", text), ("pods", number), ("spread", pyarrow.list_(spread))]
    )
    workload = pyarrow.struct(
        [
            ("namespace", text),
            ("name", text),
            ("outcome", text),
            ("verdict", text),
            ("pods", number),
            ("reason", text),
            ("pod_sets", pyarrow.list_(pod_set)),
        ]
    )
    room = pyarrow.struct([("probe", text), ("level", text), ("before", number), ("after", number)])
    return pyarrow.schema(
        [
            ("cluster", text),
            ("queue", text),
            ("policy", text),
            ("seed", number),
            ("key", text),
            ("nodes", number),
            ("edited", number),
            ("placed", number),
            ("not_placed", number),
            ("pods_placed", number),
            ("warnings", pyarrow.list_(text)),
            ("workloads", pyarrow.list_(workload)),
            ("capacity", pyarrow.list_(room)),
        ]
    )
