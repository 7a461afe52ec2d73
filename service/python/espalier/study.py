"""Studies: every policy on every queue on every cluster, with every seed.

Each combination is a task of its own. Tasks run on processes of this machine, or on the workers of
a Dask cluster, each with a server beside it. Results arrive as Parquet, a file a task, under a key
that is made of all that the task's answer depends on: a study that was interrupted goes on where it
was.
"""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from espalier.errors import CommandError, EspalierError
from espalier.process import StrPath
from espalier.study_grid import Cluster, Policy, Probe, Queue, Study, Task
from espalier.study_parts import Parts
from espalier.study_task import solve

if TYPE_CHECKING:
    import pandas
    import pyarrow

_LOG = logging.getLogger("espalier.study")


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
