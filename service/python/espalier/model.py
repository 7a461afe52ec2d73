"""What questions are about: nodes, topologies, requests, and where pods are.

Amounts are integers in canonical units: `cpu` in thousandths of a core, all else in whole units
(bytes, devices, pods). An empty text is "not set". The comments of proto/espalier/v1 say more of
each field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

Labels = Mapping[str, str]
Resources = Mapping[str, int]


class Position(NamedTuple):
    """Which state something was computed on."""

    epoch: int
    generation: int


class Mode(Enum):
    """How the workloads of a batch see each other."""

    NOMINATE = "nominate"
    SEQUENTIAL = "sequential"


class Profile(Enum):
    """By which rules workloads are decided."""

    KUEUE = "kueue"
    ESPALIER = "espalier"
    KEP5732 = "kep5732"


class RankPlacement(Enum):
    """Where the ranks of a group go."""

    BY_PATH = "by_path"
    CONTIGUOUS = "contiguous"
    TOGETHER = "together"
    BALANCED = "balanced"
    STRIPED = "striped"


class WorkloadKey(NamedTuple):
    """Names a workload."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


# What pods ask for.


@dataclass(frozen=True)
class Taint:
    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True)
class Toleration:
    key: str = ""
    operation: str = ""  # Equal, Exists, Lt or Gt; empty reads as Equal
    value: str = ""
    effect: str = ""


@dataclass(frozen=True)
class NodeSelectorRequirement:
    key: str
    operation: str  # In, NotIn, Exists, DoesNotExist, Gt or Lt
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeSelectorTerm:
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


@dataclass(frozen=True)
class PreferredSchedulingTerm:
    weight: int
    preference: NodeSelectorTerm


@dataclass(frozen=True)
class NodeConstraints:
    """Says which nodes a pod may use."""

    node_selector: Labels = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    required_affinity: tuple[NodeSelectorTerm, ...] | None = None  # one of the terms; None: any
    preferred_affinity: tuple[PreferredSchedulingTerm, ...] = ()


@dataclass(frozen=True)
class SliceConstraint:
    topology: str  # level key
    size: int  # pods


@dataclass(frozen=True)
class TopologyRequest:
    """Says what a pod set asks of the topology: the fields of Kueue's topologyRequest."""

    required: str = ""  # level key
    preferred: str = ""  # level key
    unconstrained: bool | None = None
    slice_topology: str = ""  # level key
    slice_size: int | None = None  # pods
    slice_constraints: tuple[SliceConstraint, ...] = ()  # coarsest first
    pod_set_group_name: str = ""
    pod_index_label: str = ""
    sub_group_index_label: str = ""
    sub_group_count: int | None = None


class Domain(NamedTuple):
    """Pods in one domain."""

    values: tuple[str, ...]  # one per level of the assignment, coarsest first
    pods: int


@dataclass(frozen=True)
class Assignment:
    """Says which domains have how many pods."""

    levels: tuple[str, ...]  # keys, coarsest first
    domains: tuple[Domain, ...]

    @property
    def pods(self) -> int:
        return sum(domain.pods for domain in self.domains)


@dataclass(frozen=True)
class PodSetUpdate:
    """Says what an admission check merges onto a template."""

    name: str
    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)
    node_selector: Labels = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True)
class PodSetRequest:
    """Asks for places for alike pods on one flavor."""

    name: str
    flavor: str
    count: int  # pods
    requests: Resources  # of one pod, without `pods`
    topology: TopologyRequest | None = None
    implied: bool = False  # the flavor has a topology and the pod set asks for none
    group: str = ""  # pod sets of one group are placed together
    constraints: NodeConstraints | None = None
    previous: Assignment | None = None  # what an elastic workload holds before a resize
    labels: Labels = field(default_factory=dict)  # of the template; read with `updates` only
    annotations: Labels = field(default_factory=dict)
    updates: tuple[PodSetUpdate, ...] = ()

    def usage(self, assignment: Assignment) -> tuple[LeafUsage, ...]:
        """Returns what pods of it use on the leaves of an assignment, as states know it."""
        return tuple(
            LeafUsage(
                self.flavor,
                ",".join(domain.values),
                {name: amount * domain.pods for name, amount in self.requests.items()}
                | {"pods": domain.pods},
            )
            for domain in assignment.domains
        )


@dataclass(frozen=True)
class AdmittedPodSet:
    """Says what a pod set of an admitted workload holds."""

    name: str
    flavors: Labels = field(default_factory=dict)  # resource name -> flavor name
    resource_usage: Resources = field(default_factory=dict)  # of all pods
    count: int | None = None
    assignment: Assignment | None = None
    delayed_topology_request: str = ""  # Pending or Ready; empty: not delayed


@dataclass(frozen=True)
class Replacement:
    """Asks for new places for the pods of failed nodes."""

    unhealthy_nodes: tuple[str, ...]
    admitted: tuple[AdmittedPodSet, ...]
    owned_by_single_pod: bool = False
    joint: bool = False


@dataclass(frozen=True)
class LeafUsage:
    """Says what is used on one leaf of a flavor, with the number of pods under `pods`."""

    flavor: str
    leaf: str  # the hostname, or the values of all levels joined by commas
    usage: Resources


@dataclass(frozen=True)
class Group:
    """One group of a nested gang: pods, or groups inside it."""

    name: str
    children: tuple[Group, ...] = ()
    copies: int = 1
    min_copies: int | None = None  # None: all
    required: str = ""  # level key
    preferred: str = ""  # level key
    in_order: bool = False
    ranks: RankPlacement = RankPlacement.BY_PATH
    rank_level: str = ""
    requests: Resources | None = None  # of one pod; None: no pods of its own
    constraints: NodeConstraints | None = None
    min_count: int = 0  # pods that are required
    max_count: int = 0  # pods that there may be
    running: tuple[str, ...] = ()  # leaves on which pods of it run
    min_groups: int = 0  # of its children; 0: all
    apart: bool = False
    pod_set: int = 0  # in the tree of a WorkloadRequest: position from 1 of its pod set


@dataclass(frozen=True)
class NestedRequest:
    """Asks for places for a tree of groups."""

    root: Group
    flavor: str
    namespace: str = ""
    name: str = ""
    simulate_empty: bool = False
    profile: Profile | None = None  # None: that of the call


@dataclass(frozen=True)
class WorkloadRequest:
    """Asks for places for a workload."""

    pod_sets: tuple[PodSetRequest, ...]
    namespace: str = ""
    name: str = ""
    simulate_empty: bool = False  # as if no admitted workload used anything
    affinity_scores_consumed: bool = False
    replacement: Replacement | None = None
    assumed_usage: tuple[tuple[str, Resources], ...] = ()  # leaf, what is assumed used there
    tree: NestedRequest | None = None  # asked for in the place of what its pod sets ask for


# What a state holds.


@dataclass(frozen=True)
class Node:
    name: str
    labels: Labels
    allocatable: Resources
    ready: bool = True
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


@dataclass(frozen=True)
class Topology:
    name: str
    levels: tuple[str, ...]  # node-label keys, coarsest first


@dataclass(frozen=True)
class ResourceFlavor:
    name: str
    topology_name: str = ""
    node_labels: Labels = field(default_factory=dict)
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True)
class NodeUsage:
    """Says what pods that no topology-aware workload owns use on a node."""

    node: str
    usage: Resources  # with the number of pods under `pods`
    lasting: Resources = field(default_factory=dict)  # the part that an empty node has too


@dataclass(frozen=True)
class AdmittedWorkload:
    """Says what an admitted workload uses."""

    name: str
    namespace: str = ""
    priority: int = 0
    quota_reserved_at: int = 0  # Unix seconds; 0: not known
    usage: tuple[LeafUsage, ...] = ()
    job: str = ""  # of a slice of an elastic job: the first workload of its chain


@dataclass(frozen=True)
class Contents:
    """Is a whole state, as `Client.load_state` takes it."""

    topologies: tuple[Topology, ...]
    flavors: tuple[ResourceFlavor, ...]
    nodes: tuple[Node, ...]
    non_tas_usage: tuple[NodeUsage, ...] = ()
    tas_usage: tuple[LeafUsage, ...] = ()
    workloads: tuple[AdmittedWorkload, ...] = ()
    share_usage_between_flavors: bool = True
    kueue_configuration: str = ""  # JSON or YAML


@dataclass(frozen=True)
class LoadedState:
    """Is what a server holds, as `State.read` returns it."""

    position: Position
    contents: Contents
    held_usage: tuple[LeafUsage, ...]  # of holds, beside all of `contents`; no load brings it back


@dataclass(frozen=True)
class Changes:
    """Says how a state changes, in the order of the fields."""

    remove_nodes: tuple[str, ...] = ()
    upsert_nodes: tuple[Node, ...] = ()
    set_non_tas_usage: tuple[NodeUsage, ...] = ()  # from now on; an empty one forgets it
    set_tas_usage: tuple[LeafUsage, ...] = ()
    remove_topologies: tuple[str, ...] = ()
    upsert_topologies: tuple[Topology, ...] = ()
    remove_flavors: tuple[str, ...] = ()
    upsert_flavors: tuple[ResourceFlavor, ...] = ()
    set_workloads: tuple[AdmittedWorkload, ...] = ()  # without usage: forgotten
    set_kueue_configuration: str | None = None  # empty forgets it


# What questions are without.


@dataclass(frozen=True)
class Victim:
    """Names who may go, and what it gives back where that is not all that the state knows."""

    name: str
    namespace: str = ""
    usage: tuple[LeafUsage, ...] = ()
    priority: int = 0  # of one that the state does not know


@dataclass(frozen=True)
class Question:
    """Asks whether a workload fits on a changed state."""

    workload: WorkloadRequest
    without: tuple[Victim, ...] = ()
    drained: tuple[str, ...] = ()  # node names
    upserted: tuple[Node, ...] = ()  # that come, or take the place of those of the same name
