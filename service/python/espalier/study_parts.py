"""Where results of tasks lie: a file a task, which says by its name what it has to hold."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow


class Parts:
    """A folder of files KEY.DIGEST.parquet, where DIGEST is that of all of the file's bytes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def has(self, key: str) -> bool:
        return self._find(key) is not None

    def write(self, key: str, content: bytes) -> None:
        """Makes `content` the result of a task, at once or not at all."""
        if self.has(key):  # of a task that was done twice, as its worker was given up
            return
        partial = self._folder / f"{key}.partial"
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._folder / f"{key}.{_digest(content)}.parquet")

    def remove_damaged(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Removes the results of these tasks that are not what was written, and returns their
        names."""
        damaged = []
        for key in keys:
            for path in self._folder.glob(f"{key}.*.parquet"):
                if _digest(path.read_bytes()) != path.name.split(".")[1]:
                    damaged.append(path.name)
                    path.unlink()
        return tuple(damaged)

    def read(self, keys: Sequence[str]) -> pyarrow.Table:
        """Returns the results of tasks, in their order. FileNotFoundError where one is missing."""
        import pyarrow
        import pyarrow.parquet

        tables = []
        for key in keys:
            path = self._find(key)
            if path is None:
                raise FileNotFoundError(f"{self._folder}: has no result {key}")
            tables.append(pyarrow.parquet.read_table(io.BytesIO(path.read_bytes())))
        return pyarrow.concat_tables(tables)

    def _find(self, key: str) -> Path | None:
        return next(iter(sorted(self._folder.glob(f"{key}.*.parquet"))), None)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
