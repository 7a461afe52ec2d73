"""What can go wrong: every exception of this package is an `EspalierError`."""

from __future__ import annotations

import re

import grpc

from espalier.holds import HoldProblem, problems
from espalier.model import Position
from espalier.v1 import error_pb2, holds_pb2

# As the server writes it: "workloads.pod_set_counts[0]: is -1; ...".
_FIELD = re.compile(r"([a-z_][a-z0-9_]*(?:\[\d+\])?(?:\.[a-z_][a-z0-9_]*(?:\[\d+\])?)*): ")


class EspalierError(Exception):
    """Is the base of all exceptions of this package."""


class CommandError(EspalierError):
    """A command failed: wrong input, no server, no such binary."""

    def __init__(self, text: str, exit_code: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.exit_code = exit_code
        """Of the command (docs/operations.md); None where it did not run to its end."""

    def __reduce__(self) -> tuple[type[CommandError], tuple[str, int | None]]:
        return type(self), (self.text, self.exit_code)


class CallError(EspalierError):
    """A call failed. "Does not fit" is no error, but an answer."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(f"{code.name}: {text}")
        self.code = code
        self.text = text

    @property
    def field(self) -> str:
        """Returns the path of the field that is wrong, such as `workloads.pod_set_counts[0]`, or ""
        where the error is about none."""
        found = _FIELD.match(self.text)
        return found.group(1) if found else ""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.code, self.text)


class StaleStateError(CallError):
    """The call named a position that is not the current one."""

    def __init__(self, code: grpc.StatusCode, text: str, current: Position) -> None:
        super().__init__(code, text)
        self.current = current

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.code, self.text, self.current)


class HoldError(CallError):
    """The call needs holds that are not there, or that are there already; it changed nothing."""

    def __init__(
        self, code: grpc.StatusCode, text: str, problems: tuple[HoldProblem, ...], count: int
    ) -> None:
        super().__init__(code, text)
        self.problems = problems
        """The first of them, 32 at most."""
        self.count = count
        """How many there are in all."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.code, self.text, self.problems, self.count)


def from_rpc(error: grpc.RpcError) -> CallError:
    """Makes the exception of a failed call."""
    if not isinstance(error, grpc.Call):
        return CallError(grpc.StatusCode.UNKNOWN, str(error))
    code, text = error.code(), error.details() or ""
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        status = error_pb2.ErrorStatus.FromString(
            value if isinstance(value, bytes) else value.encode()
        )
        for detail in status.details:
            stale = error_pb2.StaleState()
            if detail.Unpack(stale):
                at = Position(stale.current.epoch, stale.current.generation)
                return StaleStateError(code, text, at)
            held = holds_pb2.HoldProblems()
            if detail.Unpack(held):
                return HoldError(code, text, problems(held), held.count)
    return CallError(code, text)
