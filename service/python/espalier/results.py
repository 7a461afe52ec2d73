"""What the other questions are answered with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from espalier.answers import WorkloadAnswer
from espalier.frames import Rows
from espalier.kueue import Workload
from espalier.model import AdmittedPodSet, Position, WorkloadKey

Values = tuple[str, ...]  # of a domain, coarsest first


# What a server holds.


@dataclass(frozen=True)
class FlavorSummary:
    name: str
    levels: tuple[str, ...]  # keys, coarsest first
    domain_counts: tuple[int, ...]  # per level; the last is the number of leaves
    nodes: int  # available ones
    resources: tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    position: Position  # generation 0: nothing is loaded
    nodes: int
    flavors: tuple[FlavorSummary, ...]  # those with a topology
    checksum: int  # of the contents
    workloads: int  # admitted, that the state knows by key
    kueue_configuration: str  # as JSON; empty: none
    holds: int  # whose usage is in the state


@dataclass(frozen=True)
class NamedState:
    name: str
    position: Position
    nodes: int


# What if, who must go, how many more.


@dataclass(frozen=True)
class WhatIf:
    fits: bool
    answer: WorkloadAnswer | None  # where `placements` were asked for


@dataclass(frozen=True)
class VictimSet:
    victims: tuple[WorkloadKey, ...]
    priority: int  # the highest of them
    accelerators: int  # devices that they hold


@dataclass(frozen=True)
class DomainVictims:
    flavor: str
    values: Values  # none: no domain has to be shared
    sets: tuple[VictimSet, ...]  # none of them is worse than another
    exact: bool  # False: a bound ended the search, there may be cheaper ones


@dataclass(frozen=True)
class Victims:
    fits: bool  # when some victims, in order, are gone
    prefix: int  # the fewest from the front
    targets: tuple[WorkloadKey, ...]  # who stays away
    answer: WorkloadAnswer | None  # without the targets
    domains: tuple[DomainVictims, ...]  # where the cheapest were asked for


@dataclass(frozen=True)
class AtlasRow:
    """Says who has to go for a workload, as steps: with step s everybody of the s lowest
    priorities of the atlas is gone."""

    flavor: str  # empty: no steps of domains
    level: str  # key
    steps: Mapping[Values, int]  # the first at which each domain alone holds the workload
    anywhere: int  # the first at which it is placed, wherever


@dataclass(frozen=True)
class Atlas:
    priorities: tuple[int, ...]  # distinct, ascending
    rows: tuple[AtlasRow, ...]  # one a workload; those that ask for the same share one

    @property
    def never(self) -> int:
        """The step of what does not fit even without everybody."""
        return len(self.priorities) + 1


@dataclass(frozen=True)
class DomainRoom:
    values: Values
    gangs: int
    pods: int


@dataclass(frozen=True)
class LevelRoom:
    level: str  # key; empty: anywhere in the flavor
    gangs: int  # in all its domains, side by side
    domains: tuple[DomainRoom, ...]


@dataclass(frozen=True)
class Capacity(Rows):
    """Says how many more gangs of a shape fit. As rows: one a level."""

    name: str  # of the shape
    flavor: str
    failure: str  # why no gang of it can be placed; then no levels
    levels: tuple[LevelRoom, ...]  # the whole flavor first, then coarsest to finest

    COLUMNS = ("shape", "flavor", "level", "gangs")

    def rows(self) -> list[tuple[object, ...]]:
        return [(self.name, self.flavor, one.level, one.gangs) for one in self.levels]

    def at(self, level: str) -> int:
        """Returns the gangs at a level, "" for the whole flavor. KeyError where it is not there."""
        return {one.level: one.gangs for one in self.levels}[level]


# Why not.


@dataclass(frozen=True)
class BindingResource:
    resource: str
    pods: int  # that there is enough of it for
    missing: int  # what the other pods ask of it


@dataclass(frozen=True)
class RuledOut:
    by: str
    nodes: int
    remedy: str


@dataclass(frozen=True)
class NearMiss:
    """Is the domain that comes nearest to holding a pod set that does not fit."""

    pod_set: str
    flavor: str
    level: str  # empty: the whole flavor is not enough
    values: Values
    fit: int  # pods that it holds
    pods: int  # that were to fit
    nodes: int
    nodes_with_room: int
    nodes_not_matching: int
    binding: tuple[BindingResource, ...]  # the scarcest first
    ruled_out: tuple[RuledOut, ...]


@dataclass(frozen=True)
class WouldFit:
    """Holds changes after which a workload fits, each one alone."""

    fewer_pods: int = 0  # the most pods that fit; 0: none, or not asked
    coarser_level: str = ""
    anywhere: bool = False
    repaired_nodes: tuple[str, ...] = ()
    repaired_together: tuple[str, ...] = ()
    gone: tuple[WorkloadKey, ...] = ()
    labelled: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # label, value, nodes
    slice_size: int = 0
    lower_requests: tuple[tuple[str, int, int], ...] = ()  # resource, amount, asked for
    other_flavors: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # parts of the pods' selector or affinity
    tolerated: tuple[str, ...] = ()  # taints


@dataclass(frozen=True)
class Explanation:
    fits: bool  # then nothing below but `answer`
    answer: WorkloadAnswer | None
    never: bool  # not even where nothing runs
    undecided: bool  # whether it fits where nothing runs is not known
    empty: WorkloadAnswer | None  # the answer where nothing runs
    near_miss: NearMiss | None
    would_fit: WouldFit
    left_out: tuple[tuple[str, tuple[str, ...]], ...]  # cause, nodes that take no part


# What is, and who moves.


@dataclass(frozen=True)
class Fault:
    workload: WorkloadKey
    pod_set: str
    problem: str


@dataclass(frozen=True)
class Validation(Rows):
    """Says what is wrong with assignments. As rows: one a fault."""

    workloads: int  # that were looked at
    faults: tuple[Fault, ...]

    COLUMNS = ("namespace", "name", "pod_set", "problem")

    def rows(self) -> list[tuple[object, ...]]:
        return [(*one.workload, one.pod_set, one.problem) for one in self.faults]


@dataclass(frozen=True)
class HitWorkload:
    workload: WorkloadKey
    priority: int
    pods: int
    pods_hit: int  # of them on the nodes


@dataclass(frozen=True)
class Drain(Rows):
    """Says whom a drain hits. As rows: one a workload that is hit."""

    hits: tuple[HitWorkload, ...]  # by priority, highest first
    moved: tuple[WorkloadAnswer, ...]  # of those that were described: where they would go

    COLUMNS = ("namespace", "name", "priority", "pods", "pods_hit")

    def rows(self) -> list[tuple[object, ...]]:
        return [(*one.workload, one.priority, one.pods, one.pods_hit) for one in self.hits]


@dataclass(frozen=True)
class FreedDomain:
    values: Values
    moves: tuple[WorkloadAnswer, ...]  # in the order in which they can be made


@dataclass(frozen=True)
class Defragmentation:
    flavor: str
    domains: int  # of the level
    free_already: int
    out_of_reach: int
    freed: tuple[FreedDomain, ...]  # in the order in which they become free
    staying: tuple[WorkloadKey, ...]  # that the request does not describe
    unknown: tuple[WorkloadKey, ...]  # that the state does not know


# Queues.


class DecisionStatus(Enum):
    ASSUMED = "assumed"
    NOT_ADMITTED = "not_admitted"
    REPLACED = "replaced"
    EVICTED = "evicted"
    KEPT = "kept"


@dataclass(frozen=True)
class Decision:
    cycle: int  # from 1
    cluster_queue: str
    workload: WorkloadKey
    status: DecisionStatus
    reason: str
    pending_reason: str
    pod_set_assignments: tuple[AdmittedPodSet, ...]


@dataclass(frozen=True)
class Cycles(Rows):
    """Says what Kueue's scheduler would decide. As rows: one a decision."""

    cycles: int
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...]  # what is left out or assumed for these queues

    COLUMNS = ("cycle", "cluster_queue", "namespace", "name", "status", "reason")

    def rows(self) -> list[tuple[object, ...]]:
        return [
            (one.cycle, one.cluster_queue, *one.workload, one.status.value, one.reason)
            for one in self.decisions
        ]


class ResizeDecision(Enum):
    NONE = "none"
    IN_PLACE = "in_place"
    NEW_SLICE = "new_slice"
    SLICES_PER_REPLICA = "slices_per_replica"
    REFUSED = "refused"


@dataclass(frozen=True)
class PlannedSlice:
    workload: Workload  # to be created
    replacement_for: str
    admitted: bool
    reason: str  # why it waits


@dataclass(frozen=True)
class ResizePlan:
    decision: ResizeDecision
    workload: WorkloadKey
    counts: Mapping[str, int]
    leaving: Mapping[str, tuple[tuple[Values, int], ...]]  # by pod set: domains and pods that leave
    slices: tuple[PlannedSlice, ...]
    usage: tuple[tuple[str, str, int], ...]  # flavor, resource, amount of quota afterwards
    reason: str
    notes: tuple[str, ...]
    after: Workload | None  # None: as it was


# Without a state, or of many.


class FitStatus(Enum):
    FITS = "fits"
    UNKNOWN = "unknown"
    DOES_NOT_FIT = "does_not_fit"


@dataclass(frozen=True)
class PodSetFit:
    level: str  # key of the finest level of which one domain has all pods; empty: none
    domains: int
    left_over: int


@dataclass(frozen=True)
class StateFit:
    state: str
    status: FitStatus
    reason: str
    pod_sets: tuple[PodSetFit, ...]


@dataclass(frozen=True)
class Dispatch(Rows):
    """Says which states can hold a workload, best first. As rows: one a state."""

    workload: WorkloadKey
    fits: tuple[StateFit, ...]

    COLUMNS = ("namespace", "name", "state", "status", "reason")

    def rows(self) -> list[tuple[object, ...]]:
        return [(*self.workload, one.state, one.status.value, one.reason) for one in self.fits]


@dataclass(frozen=True)
class UngatedPod:
    pod: WorkloadKey  # namespace and name
    domain: Values
    node_selector: Mapping[str, str]
    gates: tuple[str, ...]  # to remove


@dataclass(frozen=True)
class FlowWrite:
    cluster: str
    kind: str
    namespace: str
    name: str
    field: str  # empty: the whole object is created
    value: str  # empty: removed


@dataclass(frozen=True)
class FlowStep:
    at: str
    event: str
    decision: str
    writes: tuple[FlowWrite, ...]
    in_sync: bool
    suspended: bool
    runs: Mapping[str, int]


@dataclass(frozen=True)
class Flow:
    steps: tuple[FlowStep, ...]
    notes: tuple[str, ...]
