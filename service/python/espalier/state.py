"""A state of a server, and what changes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType

from espalier import encode, model
from espalier.answers import (
    NestedPlacements,
    ObjectPlacements,
    Placements,
    nested_answers,
    object_workloads,
    workload_answers,
)
from espalier.connection import Connection
from espalier.decode import position
from espalier.holds import LostHold, Updated, updated
from espalier.state_questions import Gates, StateQuestions
from espalier.v1 import cluster_state_pb2, holds_pb2, placement_pb2, workloads_pb2


class State(StateQuestions):
    """A state of a server: the questions about it, and what changes it. `position`, unless it is
    None, follows the changes that are made here."""

    def __init__(
        self,
        connection: Connection,
        name: str = "",
        at: model.Position | None = None,
        close: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(connection, name, at)
        self._close = close
        self.messages: tuple[str, ...] = ()
        """What was said while the state was loaded: warnings about the input, a line each."""
        self.dropped_holds: tuple[LostHold, ...] = ()
        """The holds that ended as `Client.load_state` loaded the state, which lacks a node of
        theirs."""

    def close(self) -> None:
        """Closes the connection, and stops the server, where `espalier.load` made them for this."""
        if self._close is not None:
            self._close()
            self._close = None

    def __enter__(self) -> State:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def update(self, changes: model.Changes) -> Updated:
        """Changes the state, and `position` with it."""
        base = self.position or self.summary().position
        reply = self._connection.unary(
            "ClusterState/UpdateState",
            encode.changes(changes, base, self.name),
            cluster_state_pb2.UpdateStateResponse,
        )
        self._moved_to(position(reply.state))
        return updated(reply)

    # Where to.

    def place(
        self,
        workloads: Sequence[model.WorkloadRequest],
        mode: model.Mode = model.Mode.NOMINATE,
        *,
        gates: Gates | None = None,
        commit: bool = False,
        commit_token: str = "",
        hold: int = 0,
        hold_owner: str = "",
    ) -> Placements:
        """Answers where workloads go. `commit` books what is placed, in mode SEQUENTIAL; `hold`
        books it as holds, which end after so many seconds unless they are confirmed, released or
        extended. `hold_owner` says who holds, for people."""
        return self._place("Place", workloads, mode, gates, commit, commit_token, hold, hold_owner)

    def replace(
        self,
        workloads: Sequence[model.WorkloadRequest],
        mode: model.Mode = model.Mode.NOMINATE,
        *,
        gates: Gates | None = None,
        commit: bool = False,
        commit_token: str = "",
        hold: int = 0,
        hold_owner: str = "",
    ) -> Placements:
        """Answers for workloads with pods in place: a node failed, or their number changes. What is
        booked, as `place` does, are the pods that are new on their nodes."""
        return self._place(
            "Replace", workloads, mode, gates, commit, commit_token, hold, hold_owner
        )

    def _place(
        self,
        call: str,
        workloads: Sequence[model.WorkloadRequest],
        mode: model.Mode,
        gates: Gates | None,
        commit: bool,
        commit_token: str,
        hold: int,
        hold_owner: str,
    ) -> Placements:
        request = placement_pb2.PlaceRequest(
            mode=encode.MODES[mode],
            commit=commit or hold != 0,
            domain_naming=placement_pb2.DOMAIN_NAMING_NAME,
            feature_gates=gates,
            workloads=encode.workload_batch(workloads),
            commit_token=commit_token,
            hold_seconds=hold,
            hold_owner=hold_owner,
        )
        self._address(request)
        reply = self._connection.unary(f"Placement/{call}", request, placement_pb2.PlaceResponse)
        committed = self._committed(reply)
        answers = workload_answers(reply.answers, workloads)
        return Placements(position(reply.state), committed, answers, tuple(reply.hold_ids))

    def place_objects(
        self,
        objects: bytes | str,
        mode: model.Mode = model.Mode.SEQUENTIAL,
        *,
        gates: Gates | None = None,
        profile: model.Profile = model.Profile.KUEUE,
        guess_flavor: bool = False,
        strict: bool = False,
        commit: bool = False,
        commit_token: str = "",
    ) -> ObjectPlacements:
        """Answers where the workloads go that Kubernetes objects describe: JSON or YAML, plain or
        gzip, as `espalier.read_objects(files)` has them."""
        request = workloads_pb2.PlaceObjectsRequest(
            mode=encode.MODES[mode],
            feature_gates=gates,
            objects=objects.encode() if isinstance(objects, str) else objects,
            guess_flavor=guess_flavor,
            strict=strict,
            profile=encode.PROFILES[profile],
            commit=commit,
            commit_token=commit_token,
        )
        self._address(request)
        reply = self._connection.unary(
            "Workloads/PlaceObjects", request, workloads_pb2.PlaceObjectsResponse
        )
        committed = self._committed(reply)
        return ObjectPlacements(
            position(reply.state),
            committed,
            object_workloads(reply),
            tuple(reply.warnings),
            tuple(reply.notes),
        )

    def place_nested(
        self,
        nested: Sequence[model.NestedRequest],
        flat: Sequence[model.WorkloadRequest] = (),
        mode: model.Mode = model.Mode.NOMINATE,
        *,
        is_nested: Sequence[bool] = (),
        gates: Gates | None = None,
        profile: model.Profile = model.Profile.ESPALIER,
        commit: bool = False,
        commit_token: str = "",
    ) -> NestedPlacements:
        """Answers nested gangs, and flat workloads among them in the order of `is_nested`."""
        request = workloads_pb2.PlaceNestedRequest(
            mode=encode.MODES[mode],
            feature_gates=gates,
            profile=encode.PROFILES[profile],
            nested=encode.nested_batch(nested),
            flat=encode.workload_batch(flat),
            is_nested=is_nested,
            commit=commit,
            commit_token=commit_token,
        )
        self._address(request)
        reply = self._connection.unary(
            "Workloads/PlaceNested", request, workloads_pb2.PlaceNestedResponse
        )
        committed = self._committed(reply)
        return NestedPlacements(
            position(reply.state),
            committed,
            nested_answers(reply.nested, nested),
            workload_answers(reply.flat, flat),
        )

    # Holds.

    def confirm_holds(self, ids: Sequence[str], changes: model.Changes | None = None) -> Updated:
        """Ends holds in whose place `changes` report usage, in one step: their workloads by key, or
        the usage of their leaves. Without changes the state must have that usage already. HoldError
        where one is no hold any more; then all are as they were."""
        request = holds_pb2.ConfirmHoldsRequest(
            state_name=self.name, ids=ids, reported=changes is None
        )
        if changes is not None:
            request.update.CopyFrom(encode.changes(changes, self.position, self.name))
        reply = self._connection.unary(
            "Placement/ConfirmHolds", request, holds_pb2.ConfirmHoldsResponse
        )
        if changes is None:
            self._moved_by_one(position(reply.state))
        else:
            self._moved_to(position(reply.state))
        return updated(reply)

    def release_holds(self, ids: Sequence[str]) -> model.Position:
        """Ends holds whose room is free again. Returns the position without them. HoldError as
        `confirm_holds`."""
        request = holds_pb2.ReleaseHoldsRequest(state_name=self.name, ids=ids)
        reply = self._connection.unary(
            "Placement/ReleaseHolds", request, holds_pb2.ReleaseHoldsResponse
        )
        at = position(reply.state)
        self._moved_by_one(at)
        return at

    def extend_holds(self, ids: Sequence[str], seconds: int) -> None:
        """Lets holds expire after so many seconds from now on. HoldError as `confirm_holds`."""
        request = holds_pb2.ExtendHoldsRequest(state_name=self.name, ids=ids, hold_seconds=seconds)
        self._connection.unary("Placement/ExtendHolds", request, holds_pb2.ExtendHoldsResponse)

    def _committed(
        self,
        reply: placement_pb2.PlaceResponse
        | workloads_pb2.PlaceObjectsResponse
        | workloads_pb2.PlaceNestedResponse,
    ) -> model.Position | None:
        committed = position(reply.committed) if reply.HasField("committed") else None
        self._moved_to(committed)
        return committed

    def _moved_to(self, at: model.Position | None) -> None:
        if at is not None and self.position is not None:
            self.position = at

    # After a call that named no position: where somebody else changed the state before it, what is
    # asked next has to fail.
    def _moved_by_one(self, at: model.Position) -> None:
        before = self.position
        if before is not None and at == model.Position(before.epoch, before.generation + 1):
            self.position = at
