"""Answers as rows, and as frames where pandas is there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import pandas


def to_frame(columns: Sequence[str], rows: Iterable[tuple[object, ...]]) -> pandas.DataFrame:
    """Makes a frame. ImportError where pandas is not installed."""
    import pandas

    return pandas.DataFrame(list(rows), columns=list(columns))


class Rows:
    """Something that can be seen as a table: one tuple a row, with the values of `COLUMNS`."""

    COLUMNS: ClassVar[tuple[str, ...]]

    def rows(self) -> list[tuple[object, ...]]:
        raise NotImplementedError

    def to_frame(self) -> pandas.DataFrame:
        """Returns the rows as a frame. ImportError where pandas is not installed."""
        return to_frame(self.COLUMNS, self.rows())
