"""What a study asks: its clusters, queues and policies, and the tasks that they make."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from espalier.model import Mode, Profile, Resources
from espalier.process import StrPath, command


@dataclass(frozen=True)
class Cluster:
    """Is a cluster of `espalier generate`, or one of `files`, which every worker can read."""

    name: str
    topology: str = ""  # as T-NVL72-9K; `espalier generate --list` has them
    nodes: int = 0  # only the first so many; 0: all
    resources: int = 4  # of a node; as --resources
    prefill: str = "P0"  # what runs
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Queue:
    """Is what is pending: gangs of a mix of `espalier generate`, or the objects of `files`."""

    name: str
    mix: str = ""  # as X-ACME
    gangs: int = 0
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Policy:
    """Says how a queue is placed. An order, or slices, are written into the Kueue Workloads of the
    queue, which then have to be JSON."""

    name: str
    gates: Mapping[str, bool] = field(default_factory=dict)  # as {"TASBalancedPlacement": True}
    mode: Mode = Mode.SEQUENTIAL
    profile: Profile = Profile.KUEUE
    guess_flavor: bool = False
    # Empty: as the queue says, by priority and age. largest-first or smallest-first: by what the
    # pods of a workload ask for of `order_by` together, whatever their priorities were.
    order: str = ""
    order_by: str = ""  # resource, asked for in whole units; empty: pods
    # Every `slice_size` pods of a pod set share a domain of `slice_level`, where its number of pods
    # is a multiple.
    slice_level: str = ""  # label key
    slice_size: int = 0


@dataclass(frozen=True)
class Probe:
    """Is a gang that is counted before and after: how many of it fit side by side?"""

    name: str
    requests: Resources  # of one pod, in canonical units
    pods: int = 1
    flavor: str = ""  # empty: the only one with a topology


@dataclass(frozen=True)
class Task:
    """Is one combination, with all that its answer depends on."""

    cluster: Cluster
    queue: Queue
    policy: Policy
    seed: int
    probes: tuple[Probe, ...]
    version: str  # of the command
    digests: tuple[tuple[str, str], ...]  # of files: path, SHA-256

    @property
    def name(self) -> str:
        return f"{self.cluster.name} x {self.queue.name} x {self.policy.name} x {self.seed}"

    @property
    def key(self) -> str:
        """Returns the same for equal tasks alone. What files hold counts, and not their paths."""
        inputs = asdict(
            replace(
                self,
                cluster=replace(self.cluster, files=()),
                queue=replace(self.queue, files=()),
                digests=tuple(("", one) for _, one in self.digests),
            )
        )
        inputs["policy"]["mode"] = self.policy.mode.value
        inputs["policy"]["profile"] = self.policy.profile.value
        inputs["files"] = len(self.cluster.files)
        text = json.dumps(["espalier.study", 1, inputs], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Study:
    """Is a grid: every policy on every queue on every cluster, with every seed. A seed makes
    clusters and queues of `espalier generate`; one of files is the same with every seed."""

    clusters: tuple[Cluster, ...]
    queues: tuple[Queue, ...]
    policies: tuple[Policy, ...]
    seeds: tuple[int, ...] = (50,)
    probes: tuple[Probe, ...] = ()

    def tasks(self, binary: StrPath | None = None) -> list[Task]:
        """Returns the tasks, in the order of the grid. ValueError for one that makes no sense."""
        for what, names in (
            ("clusters", [one.name for one in self.clusters]),
            ("queues", [one.name for one in self.queues]),
            ("policies", [one.name for one in self.policies]),
            ("probes", [one.name for one in self.probes]),
            ("seeds", [str(one) for one in self.seeds]),
        ):
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"{what}: {name!r} is there twice")
        for policy in self.policies:
            if policy.order not in ("", "largest-first", "smallest-first"):
                raise ValueError(
                    f"policy {policy.name}: order is {policy.order!r}; want largest-first, "
                    "smallest-first or nothing"
                )
            if bool(policy.slice_level) != (policy.slice_size > 0):
                raise ValueError(f"policy {policy.name}: want both slice_level and slice_size")
        for cluster, queue in itertools.product(self.clusters, self.queues):
            _check(cluster, queue)
        version = command("--version", binary=binary).output.splitlines()[0]
        files = {path for cluster in self.clusters for path in cluster.files}
        files |= {path for queue in self.queues for path in queue.files}
        digests = {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in files}
        return [
            Task(
                cluster,
                queue,
                policy,
                seed,
                self.probes,
                version,
                tuple((path, digests[path]) for path in (*cluster.files, *queue.files)),
            )
            for cluster, queue, policy, seed in itertools.product(
                self.clusters, self.queues, self.policies, self.seeds
            )
        ]


def _check(cluster: Cluster, queue: Queue) -> None:
    if bool(cluster.topology) == bool(cluster.files):
        raise ValueError(f"cluster {cluster.name}: want either a topology or files")
    if bool(queue.mix) == bool(queue.files):
        raise ValueError(f"queue {queue.name}: want either a mix or files")
    if queue.mix and not cluster.topology:
        raise ValueError(
            f"queue {queue.name}: a mix is made for a topology; want files on cluster "
            f"{cluster.name}, which is of files"
        )
