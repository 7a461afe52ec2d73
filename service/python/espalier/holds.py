"""Holds: room that was placed and counts as usage until its controller confirms it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from espalier.decode import Texts, position
from espalier.model import LeafUsage, Position, WorkloadKey
from espalier.v1 import cluster_state_pb2, holds_pb2


class HoldReason(Enum):
    """What is wrong with a hold that a call needs."""

    UNKNOWN = "unknown"  # never made on this state, or ended long ago
    CONFIRMED = "confirmed"
    EXPIRED = "expired"
    RELEASED = "released"
    BROKEN = "broken"  # an update took a node of it away
    DROPPED = "dropped"  # a load has a node of it no more
    HELD = "held"  # the workload that is placed has this hold already


@dataclass(frozen=True)
class HoldProblem:
    id: str
    reason: HoldReason | None  # None: one that this release of the package does not know


@dataclass(frozen=True)
class Hold:
    id: str
    workload: WorkloadKey
    owner: str
    age_seconds: int
    seconds_left: int  # until it expires
    pods: int  # that there is room for
    usage: tuple[LeafUsage, ...]  # of each leaf, where it was asked for


@dataclass(frozen=True)
class LostHold:
    """Is a hold that ended because a node of it went: all that it held is free."""

    id: str
    flavor: str
    leaf: str  # the first that it held and that no node is on


@dataclass(frozen=True)
class Updated:
    """Says what came of changes to a state."""

    position: Position  # with the changes
    warnings: tuple[str, ...]  # what of Kueue's Configuration is not honoured
    broken_holds: tuple[LostHold, ...]


_REASONS = {
    holds_pb2.HOLD_PROBLEM_REASON_UNKNOWN: HoldReason.UNKNOWN,
    holds_pb2.HOLD_PROBLEM_REASON_CONFIRMED: HoldReason.CONFIRMED,
    holds_pb2.HOLD_PROBLEM_REASON_EXPIRED: HoldReason.EXPIRED,
    holds_pb2.HOLD_PROBLEM_REASON_RELEASED: HoldReason.RELEASED,
    holds_pb2.HOLD_PROBLEM_REASON_BROKEN: HoldReason.BROKEN,
    holds_pb2.HOLD_PROBLEM_REASON_DROPPED: HoldReason.DROPPED,
    holds_pb2.HOLD_PROBLEM_REASON_HELD: HoldReason.HELD,
}


def problems(message: holds_pb2.HoldProblems) -> tuple[HoldProblem, ...]:
    return tuple(HoldProblem(one.id, _REASONS.get(one.reason)) for one in message.problems)


def holds(page: holds_pb2.ListHoldsResponse) -> list[Hold]:
    texts = Texts(page.strings)
    return [
        Hold(
            one.id,
            WorkloadKey(one.namespace, one.name),
            one.owner,
            one.age_seconds,
            one.seconds_left,
            one.pods,
            tuple(texts.leaf_usage(usage) for usage in one.usage),
        )
        for one in page.holds
    ]


def lost_holds(messages: Iterable[cluster_state_pb2.LostHold]) -> tuple[LostHold, ...]:
    return tuple(LostHold(one.id, one.flavor, one.leaf) for one in messages)


def updated(
    reply: cluster_state_pb2.UpdateStateResponse | holds_pb2.ConfirmHoldsResponse,
) -> Updated:
    return Updated(position(reply.state), tuple(reply.warnings), lost_holds(reply.broken_holds))
