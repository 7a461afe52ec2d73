"""Where workloads go, or why they do not fit: what batches are answered with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from espalier.decode import Texts
from espalier.frames import Rows
from espalier.model import (
    Assignment,
    Domain,
    NestedRequest,
    Position,
    WorkloadKey,
    WorkloadRequest,
)
from espalier.v1 import nested_pb2, workload_pb2, workloads_pb2


class Outcome(Enum):
    """What became of a pod set."""

    ABSENT = "absent"  # not evaluated: a group before it failed, or there was nothing to replace
    PLACED = "placed"
    FAILED = "failed"
    NO_RESULT = "no_result"  # the leader of a resize that failed


class Verdict(Enum):
    """What became of a tree, a group or an object's workload."""

    PLACED = "placed"
    PLACED_IN_PART = "placed_in_part"  # what is required of it, not all that it may have
    NOT_NOW = "not_now"  # the nodes could hold what is required, were they empty
    NEVER = "never"  # they could not, were they all empty
    UNDECIDED = "undecided"  # the search ended at its bound
    BAD_REQUEST = "bad_request"


class ObjectOutcome(Enum):
    """What became of a workload that objects describe."""

    PLACED = "placed"
    NOT_PLACED = "not_placed"
    NOTHING_TO_PLACE = "nothing_to_place"
    WAITING = "waiting"  # not asked about; `reason` says what it waits for


@dataclass(frozen=True)
class Shortfall:
    """Counts what was short. Each excluded leaf counts under the first thing that rules it out."""

    fit: int  # pods or slices that would fit
    total: int  # pods or slices asked for
    slice_size: int  # pods per slice; 1: `fit` and `total` count pods
    total_nodes: int
    node_selector: int
    affinity: int
    topology_domain: int
    taints: Mapping[str, int]  # by the taint as text
    resources: Mapping[str, int]  # by the limiting resource


@dataclass(frozen=True)
class Failure:
    reason: str  # Kueue's own text
    shortfall: Shortfall | None  # where the request was sound and capacity was short


@dataclass(frozen=True)
class PodSetAnswer:
    name: str
    flavor: str
    count: int  # pods asked for
    outcome: Outcome
    assignment: Assignment | None  # where it is placed
    added: tuple[int, ...] | None  # pods per domain that were not there before; None: all
    failure: Failure | None


@dataclass(frozen=True)
class GroupAnswer:
    path: str  # from below the root, as "replica[2]/workers"; empty: the root
    status: Verdict
    level: str  # of the domain that holds its pods; empty: anywhere, or it has no pods
    values: tuple[str, ...]  # of that domain, coarsest first
    assignment: Assignment | None  # of pods: domains in the order of their ranks


@dataclass(frozen=True)
class NestedAnswer:
    namespace: str
    name: str
    status: Verdict
    reason: str
    groups: tuple[GroupAnswer, ...]  # every copy of every group, parents first

    @property
    def placed(self) -> bool:
        return self.status in (Verdict.PLACED, Verdict.PLACED_IN_PART)


@dataclass(frozen=True)
class WorkloadAnswer:
    namespace: str
    name: str
    pod_sets: tuple[PodSetAnswer, ...]
    tree: NestedAnswer | None = None  # of a workload with a tree

    @property
    def key(self) -> WorkloadKey:
        return WorkloadKey(self.namespace, self.name)

    @property
    def placed(self) -> bool:
        if self.tree is not None:
            return self.tree.placed
        return all(one.outcome is Outcome.PLACED for one in self.pod_sets)

    @property
    def reason(self) -> str:
        """Returns why it is not placed, or not all of it."""
        if self.tree is not None:
            return self.tree.reason
        failures = (one.failure.reason for one in self.pod_sets if one.failure is not None)
        return next(failures, "")


_POD_SET_COLUMNS = (
    "namespace",
    "name",
    "pod_set",
    "flavor",
    "pods",
    "outcome",
    "domains",
    "reason",
)


def _pod_set_rows(workloads: Sequence[WorkloadAnswer]) -> list[tuple[object, ...]]:
    return [
        (
            workload.namespace,
            workload.name,
            one.name,
            one.flavor,
            one.count,
            one.outcome.value,
            len(one.assignment.domains) if one.assignment else 0,
            one.failure.reason if one.failure else "",
        )
        for workload in workloads
        for one in workload.pod_sets
    ]


@dataclass(frozen=True)
class Placements(Rows):
    """Is the answer to a batch. As rows: one a pod set."""

    state: Position  # what was decided on
    committed: Position | None  # after a commit
    workloads: tuple[WorkloadAnswer, ...]  # one per request, in its order
    holds: tuple[str, ...] = ()  # with `hold`, an id per request; empty: nothing of it is held

    COLUMNS = _POD_SET_COLUMNS

    def rows(self) -> list[tuple[object, ...]]:
        return _pod_set_rows(self.workloads)

    def __iter__(self) -> Iterator[WorkloadAnswer]:
        return iter(self.workloads)

    def __len__(self) -> int:
        return len(self.workloads)

    def __getitem__(self, position: int) -> WorkloadAnswer:
        return self.workloads[position]


@dataclass(frozen=True)
class NestedPlacements:
    """Is the answer to nested gangs and flat workloads among them."""

    state: Position
    committed: Position | None
    nested: tuple[NestedAnswer, ...]
    flat: tuple[WorkloadAnswer, ...]


@dataclass(frozen=True)
class ObjectWorkload:
    """Says what became of a workload that objects describe."""

    namespace: str
    name: str
    outcome: ObjectOutcome
    reason: str
    pod_sets: tuple[PodSetAnswer, ...]  # of one that was asked about as a flat one
    tree: NestedAnswer | None  # of one that was asked about as a tree
    verdict: Verdict | None  # of one that was not placed: never, not now, undecided; else None
    not_honoured: tuple[str, ...]  # requirements that it is placed against

    @property
    def key(self) -> WorkloadKey:
        return WorkloadKey(self.namespace, self.name)

    @property
    def placed(self) -> bool:
        return self.outcome is ObjectOutcome.PLACED


@dataclass(frozen=True)
class ObjectPlacements(Rows):
    """Is the answer to objects, in queue order. As rows: one a workload."""

    state: Position
    committed: Position | None
    workloads: tuple[ObjectWorkload, ...]
    warnings: tuple[str, ...]  # about the objects
    notes: tuple[str, ...]  # what of the objects is not honoured

    COLUMNS = ("namespace", "name", "outcome", "verdict", "pods", "reason")

    def rows(self) -> list[tuple[object, ...]]:
        return [
            (
                one.namespace,
                one.name,
                one.outcome.value,
                one.verdict.value if one.verdict else "",
                sum(pod_set.count for pod_set in one.pod_sets),
                one.reason,
            )
            for one in self.workloads
        ]

    def __iter__(self) -> Iterator[ObjectWorkload]:
        return iter(self.workloads)

    def __len__(self) -> int:
        return len(self.workloads)


_OUTCOMES = {
    workload_pb2.POD_SET_OUTCOME_ABSENT: Outcome.ABSENT,
    workload_pb2.POD_SET_OUTCOME_PLACED: Outcome.PLACED,
    workload_pb2.POD_SET_OUTCOME_FAILED: Outcome.FAILED,
    workload_pb2.POD_SET_OUTCOME_NO_RESULT: Outcome.NO_RESULT,
}
_VERDICTS = {
    nested_pb2.NESTED_STATUS_PLACED: Verdict.PLACED,
    nested_pb2.NESTED_STATUS_PLACED_IN_PART: Verdict.PLACED_IN_PART,
    nested_pb2.NESTED_STATUS_NOT_NOW: Verdict.NOT_NOW,
    nested_pb2.NESTED_STATUS_NEVER: Verdict.NEVER,
    nested_pb2.NESTED_STATUS_UNDECIDED: Verdict.UNDECIDED,
    nested_pb2.NESTED_STATUS_BAD_REQUEST: Verdict.BAD_REQUEST,
}
_OBJECT_OUTCOMES = {
    workloads_pb2.OBJECT_OUTCOME_PLACED: ObjectOutcome.PLACED,
    workloads_pb2.OBJECT_OUTCOME_NOT_PLACED: ObjectOutcome.NOT_PLACED,
    workloads_pb2.OBJECT_OUTCOME_NOTHING_TO_PLACE: ObjectOutcome.NOTHING_TO_PLACE,
    workloads_pb2.OBJECT_OUTCOME_WAITING: ObjectOutcome.WAITING,
}


class BatchReader:
    """Reads the columns of an AnswerBatch, one pod set after the other."""

    def __init__(self, batch: workload_pb2.AnswerBatch) -> None:
        self._batch = batch
        self._texts = Texts(batch.strings)
        self._levels = [self._texts.texts(one.levels) for one in batch.level_lists]
        self._domains = [self._texts.texts(one.values) for one in batch.named_domains]
        self._failures = [self._failure(one) for one in batch.failure_table]
        self._trees = nested_answers(batch.trees, ())
        self._next = 0
        self._next_tree = 0

    def pod_set(self, name: str, flavor: str, count: int) -> PodSetAnswer:
        batch, p = self._batch, self._next
        self._next += 1
        outcome = _OUTCOMES[batch.outcomes[p]]
        assignment = added = None
        if outcome is Outcome.PLACED:
            part = slice(batch.domain_offsets[p], batch.domain_offsets[p + 1])
            assignment = Assignment(
                self._levels[batch.levels[p] - 1],
                tuple(
                    # By name: below 0.
                    Domain(self._domains[-1 - domain], pods)
                    for domain, pods in zip(batch.domains[part], batch.counts[part], strict=True)
                ),
            )
            added = tuple(batch.added_counts[part]) if batch.added_counts else None
        failed = batch.failures[p]
        failure = self._failures[failed - 1] if failed else None
        return PodSetAnswer(name, flavor, count, outcome, assignment, added, failure)

    def workload(self, request: WorkloadRequest) -> WorkloadAnswer:
        pod_sets = tuple(self.pod_set(one.name, one.flavor, one.count) for one in request.pod_sets)
        tree = None
        if request.tree is not None:
            tree = self._trees[self._next_tree]
            self._next_tree += 1
        return WorkloadAnswer(request.namespace, request.name, pod_sets, tree)

    def _failure(self, message: workload_pb2.PlacementFailure) -> Failure:
        shortfall = None
        if message.HasField("shortfall"):
            short = message.shortfall
            shortfall = Shortfall(
                short.fit,
                short.total,
                short.slice_size,
                short.total_nodes,
                short.node_selector,
                short.affinity,
                short.topology_domain,
                self._counts(short.taints),
                self._counts(short.resources),
            )
        return Failure(self._texts.text(message.reason), shortfall)

    def _counts(self, message: workload_pb2.CountsByName) -> dict[str, int]:
        return dict(zip(self._texts.texts(message.names), message.counts, strict=True))


def workload_answers(
    batch: workload_pb2.AnswerBatch, requests: Sequence[WorkloadRequest]
) -> tuple[WorkloadAnswer, ...]:
    """Reads the answers to requests, in their order."""
    reader = BatchReader(batch)
    return tuple(reader.workload(one) for one in requests)


def verdict(status: nested_pb2.NestedStatus) -> Verdict | None:
    return _VERDICTS[status] if status else None


def nested_answers(
    batch: nested_pb2.NestedAnswerBatch, requests: Sequence[NestedRequest]
) -> tuple[NestedAnswer, ...]:
    """Reads the answers to trees; without `requests` they have no names."""
    texts = Texts(batch.strings)
    answers = []
    for position, message in enumerate(batch.workloads):
        groups = tuple(
            GroupAnswer(
                texts.text(one.path),
                _VERDICTS[one.status],
                texts.text(one.level),
                texts.texts(one.values),
                texts.assignment_of(one.assignment) if one.HasField("assignment") else None,
            )
            for one in message.groups
        )
        request = requests[position] if requests else None
        answers.append(
            NestedAnswer(
                request.namespace if request else "",
                request.name if request else "",
                _VERDICTS[message.status],
                texts.text(message.reason),
                groups,
            )
        )
    return tuple(answers)


def object_workloads(response: workloads_pb2.PlaceObjectsResponse) -> tuple[ObjectWorkload, ...]:
    """Reads what became of the workloads of objects."""
    reader = BatchReader(response.answers)
    trees = iter(nested_answers(response.nested, ()))
    return tuple(
        ObjectWorkload(
            one.namespace,
            one.name,
            _OBJECT_OUTCOMES[one.outcome],
            one.reason,
            tuple(reader.pod_set(row.name, row.flavor, row.count) for row in one.pod_sets),
            next(trees) if one.is_nested else None,
            verdict(one.verdict),
            tuple(one.not_honoured),
        )
        for one in response.workloads
    )
