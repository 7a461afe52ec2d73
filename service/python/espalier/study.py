"""Studies: every policy on every queue on every cluster, with every seed.

Each combination is a task of its own. Tasks run on processes of this machine, or on the workers of
a Dask cluster, each with a server beside it. Results arrive as Parquet, a file a task, under a key
that is made of all that the task's answer depends on: a study that was interrupted goes on where it
was.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from espalier.errors import CommandError, EspalierError
from espalier.model import Mode, Profile, Resources
from espalier.process import StrPath, command
from espalier.study_parts import Parts
from espalier.study_task import solve

if TYPE_CHECKING:
    import pandas
    import pyarrow

_LOG = logging.getLogger("espalier.study")


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


class StudyError(EspalierError):
    """Some tasks are not done; all others are, and stay so."""

    def __init__(self, failures: Mapping[str, BaseException], tasks: int) -> None:
        self.failures = dict(failures)
        """By name of the task."""
        lines = [f"{name}: {error or type(error).__name__}" for name, error in failures.items()]
        super().__init__(
            f"{len(failures)} of {tasks} tasks are not done; the same call goes on with them\n"
            + "\n".join(lines)
        )


class Results:
    """Holds the results of a study."""

    def __init__(self, table: pyarrow.Table, damaged: tuple[str, ...], reused: int) -> None:
        self.table = table
        """A row a task, as docs/studies.md describes them."""
        self.damaged = damaged
        """Files that were not what was written, and were made again."""
        self.reused = reused
        """How many tasks had been done before."""

    def tasks(self) -> pandas.DataFrame:
        """Returns a row a task, without workloads and capacity."""
        frame: pandas.DataFrame = self.table.drop_columns(["workloads", "capacity"]).to_pandas()
        return frame

    def workloads(self) -> pandas.DataFrame:
        """Returns a row for each workload of each task."""
        return self._rows_of("workloads")

    def capacity(self) -> pandas.DataFrame:
        """Returns a row for each probe, level and task."""
        return self._rows_of("capacity")

    def _rows_of(self, column: str) -> pandas.DataFrame:
        import pyarrow
        import pyarrow.compute

        lists = self.table[column].combine_chunks()
        rows = pyarrow.Table.from_struct_array(lists.flatten())
        task = pyarrow.compute.list_parent_indices(lists)
        named = self.table.select(["cluster", "queue", "policy", "seed"]).take(task)
        for name in reversed(named.column_names):
            rows = rows.add_column(0, name, named[name])
        frame: pandas.DataFrame = rows.to_pandas()
        return frame


class _DaskClient(Protocol):
    def get_executor(self) -> Executor: ...


def run(
    study: Study,
    folder: StrPath,
    *,
    on: Executor | _DaskClient | None = None,
    workers: int = 2,
    binary: StrPath | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Does all tasks of a study that `folder` has no result of, and returns the results of all.

    Tasks run on `on`, a Client of Dask or any Executor, or on so many processes of this machine. A
    worker needs this package, the command `espalier` of the same version, as `binary` or as
    find_binary finds it there, and the files of the study under the same paths. `progress` is
    called with the numbers of tasks that are done and of all. StudyError where tasks fail, once all
    others are done."""
    tasks = study.tasks(binary)
    parts = Parts(Path(folder))
    damaged = parts.remove_damaged(task.key for task in tasks)
    for name in damaged:
        _LOG.warning("%s: is not what was written; its task is done again", name)
    missing = {task.key: task for task in tasks if not parts.has(task.key)}
    done = len(tasks) - len(missing)
    failures: dict[str, BaseException] = {}
    if progress is not None:
        progress(done, len(tasks))
    if missing:
        with _executor(on, workers) as executor:
            futures = {executor.submit(solve, one, binary): one for one in missing.values()}
            try:
                for future in as_completed(futures):
                    error = future.exception()
                    if error is not None:
                        failures[futures[future].name] = error
                        continue
                    parts.write(futures[future].key, future.result())
                    done += 1
                    if progress is not None:
                        progress(done, len(tasks))
            finally:  # where we are interrupted, what has not begun is not begun
                for future in futures:
                    future.cancel()
    if failures:
        raise StudyError(failures, len(tasks))
    return Results(parts.read([task.key for task in tasks]), damaged, len(tasks) - len(missing))


@contextmanager
def _executor(on: Executor | _DaskClient | None, workers: int) -> Iterator[Executor]:
    if on is None:
        # A process of its own start has no locks and no threads of ours.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context) as executor:
            yield executor
    elif isinstance(on, Executor):
        yield on
    else:
        yield on.get_executor()


__all__ = [
    "Cluster",
    "CommandError",
    "Policy",
    "Probe",
    "Queue",
    "Results",
    "Study",
    "StudyError",
    "Task",
    "run",
]
