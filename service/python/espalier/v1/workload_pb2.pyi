from espalier.v1 import nested_pb2 as _nested_pb2
from espalier.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PodSetOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POD_SET_OUTCOME_UNSPECIFIED: _ClassVar[PodSetOutcome]
    POD_SET_OUTCOME_ABSENT: _ClassVar[PodSetOutcome]
    POD_SET_OUTCOME_PLACED: _ClassVar[PodSetOutcome]
    POD_SET_OUTCOME_FAILED: _ClassVar[PodSetOutcome]
    POD_SET_OUTCOME_NO_RESULT: _ClassVar[PodSetOutcome]
POD_SET_OUTCOME_UNSPECIFIED: PodSetOutcome
POD_SET_OUTCOME_ABSENT: PodSetOutcome
POD_SET_OUTCOME_PLACED: PodSetOutcome
POD_SET_OUTCOME_FAILED: PodSetOutcome
POD_SET_OUTCOME_NO_RESULT: PodSetOutcome

class WorkloadBatch(_message.Message):
    __slots__ = ("strings", "resources", "topology_requests", "node_constraints", "assignments", "namespaces", "names", "pod_set_offsets", "simulate_empty", "affinity_scores_consumed", "pod_set_names", "pod_set_flavors", "pod_set_counts", "pod_set_requests", "pod_set_topology_requests", "pod_set_implied", "pod_set_groups", "pod_set_node_constraints", "pod_set_previous_assignments", "updates", "replacements", "assumed_usage", "trees")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    NODE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    POD_SET_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    SIMULATE_EMPTY_FIELD_NUMBER: _ClassVar[int]
    AFFINITY_SCORES_CONSUMED_FIELD_NUMBER: _ClassVar[int]
    POD_SET_NAMES_FIELD_NUMBER: _ClassVar[int]
    POD_SET_FLAVORS_FIELD_NUMBER: _ClassVar[int]
    POD_SET_COUNTS_FIELD_NUMBER: _ClassVar[int]
    POD_SET_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    POD_SET_TOPOLOGY_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    POD_SET_IMPLIED_FIELD_NUMBER: _ClassVar[int]
    POD_SET_GROUPS_FIELD_NUMBER: _ClassVar[int]
    POD_SET_NODE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    POD_SET_PREVIOUS_ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    UPDATES_FIELD_NUMBER: _ClassVar[int]
    REPLACEMENTS_FIELD_NUMBER: _ClassVar[int]
    ASSUMED_USAGE_FIELD_NUMBER: _ClassVar[int]
    TREES_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    resources: _containers.RepeatedCompositeFieldContainer[_types_pb2.ResourceVector]
    topology_requests: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyRequest]
    node_constraints: _containers.RepeatedCompositeFieldContainer[_types_pb2.NodeConstraints]
    assignments: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyAssignment]
    namespaces: _containers.RepeatedScalarFieldContainer[int]
    names: _containers.RepeatedScalarFieldContainer[int]
    pod_set_offsets: _containers.RepeatedScalarFieldContainer[int]
    simulate_empty: _containers.RepeatedScalarFieldContainer[bool]
    affinity_scores_consumed: _containers.RepeatedScalarFieldContainer[bool]
    pod_set_names: _containers.RepeatedScalarFieldContainer[int]
    pod_set_flavors: _containers.RepeatedScalarFieldContainer[int]
    pod_set_counts: _containers.RepeatedScalarFieldContainer[int]
    pod_set_requests: _containers.RepeatedScalarFieldContainer[int]
    pod_set_topology_requests: _containers.RepeatedScalarFieldContainer[int]
    pod_set_implied: _containers.RepeatedScalarFieldContainer[bool]
    pod_set_groups: _containers.RepeatedScalarFieldContainer[int]
    pod_set_node_constraints: _containers.RepeatedScalarFieldContainer[int]
    pod_set_previous_assignments: _containers.RepeatedScalarFieldContainer[int]
    updates: _containers.RepeatedCompositeFieldContainer[PodSetUpdates]
    replacements: _containers.RepeatedCompositeFieldContainer[Replacement]
    assumed_usage: _containers.RepeatedCompositeFieldContainer[AssumedUsage]
    trees: WorkloadTrees
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., resources: _Optional[_Iterable[_Union[_types_pb2.ResourceVector, _Mapping]]] = ..., topology_requests: _Optional[_Iterable[_Union[_types_pb2.TopologyRequest, _Mapping]]] = ..., node_constraints: _Optional[_Iterable[_Union[_types_pb2.NodeConstraints, _Mapping]]] = ..., assignments: _Optional[_Iterable[_Union[_types_pb2.TopologyAssignment, _Mapping]]] = ..., namespaces: _Optional[_Iterable[int]] = ..., names: _Optional[_Iterable[int]] = ..., pod_set_offsets: _Optional[_Iterable[int]] = ..., simulate_empty: _Optional[_Iterable[bool]] = ..., affinity_scores_consumed: _Optional[_Iterable[bool]] = ..., pod_set_names: _Optional[_Iterable[int]] = ..., pod_set_flavors: _Optional[_Iterable[int]] = ..., pod_set_counts: _Optional[_Iterable[int]] = ..., pod_set_requests: _Optional[_Iterable[int]] = ..., pod_set_topology_requests: _Optional[_Iterable[int]] = ..., pod_set_implied: _Optional[_Iterable[bool]] = ..., pod_set_groups: _Optional[_Iterable[int]] = ..., pod_set_node_constraints: _Optional[_Iterable[int]] = ..., pod_set_previous_assignments: _Optional[_Iterable[int]] = ..., updates: _Optional[_Iterable[_Union[PodSetUpdates, _Mapping]]] = ..., replacements: _Optional[_Iterable[_Union[Replacement, _Mapping]]] = ..., assumed_usage: _Optional[_Iterable[_Union[AssumedUsage, _Mapping]]] = ..., trees: _Optional[_Union[WorkloadTrees, _Mapping]] = ...) -> None: ...

class WorkloadTrees(_message.Message):
    __slots__ = ("workloads", "trees")
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    TREES_FIELD_NUMBER: _ClassVar[int]
    workloads: _containers.RepeatedScalarFieldContainer[int]
    trees: _nested_pb2.NestedBatch
    def __init__(self, workloads: _Optional[_Iterable[int]] = ..., trees: _Optional[_Union[_nested_pb2.NestedBatch, _Mapping]] = ...) -> None: ...

class PodSetUpdates(_message.Message):
    __slots__ = ("pod_set", "labels", "annotations", "updates")
    POD_SET_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    UPDATES_FIELD_NUMBER: _ClassVar[int]
    pod_set: int
    labels: _types_pb2.StringMap
    annotations: _types_pb2.StringMap
    updates: _containers.RepeatedCompositeFieldContainer[PodSetUpdate]
    def __init__(self, pod_set: _Optional[int] = ..., labels: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., annotations: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., updates: _Optional[_Iterable[_Union[PodSetUpdate, _Mapping]]] = ...) -> None: ...

class PodSetUpdate(_message.Message):
    __slots__ = ("name", "labels", "annotations", "node_selector", "tolerations")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    NODE_SELECTOR_FIELD_NUMBER: _ClassVar[int]
    TOLERATIONS_FIELD_NUMBER: _ClassVar[int]
    name: int
    labels: _types_pb2.StringMap
    annotations: _types_pb2.StringMap
    node_selector: _types_pb2.StringMap
    tolerations: _containers.RepeatedCompositeFieldContainer[_types_pb2.Toleration]
    def __init__(self, name: _Optional[int] = ..., labels: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., annotations: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., node_selector: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., tolerations: _Optional[_Iterable[_Union[_types_pb2.Toleration, _Mapping]]] = ...) -> None: ...

class Replacement(_message.Message):
    __slots__ = ("workload", "unhealthy_nodes", "admitted", "owned_by_single_pod", "joint")
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    UNHEALTHY_NODES_FIELD_NUMBER: _ClassVar[int]
    ADMITTED_FIELD_NUMBER: _ClassVar[int]
    OWNED_BY_SINGLE_POD_FIELD_NUMBER: _ClassVar[int]
    JOINT_FIELD_NUMBER: _ClassVar[int]
    workload: int
    unhealthy_nodes: _containers.RepeatedScalarFieldContainer[int]
    admitted: _containers.RepeatedCompositeFieldContainer[AdmittedPodSet]
    owned_by_single_pod: bool
    joint: bool
    def __init__(self, workload: _Optional[int] = ..., unhealthy_nodes: _Optional[_Iterable[int]] = ..., admitted: _Optional[_Iterable[_Union[AdmittedPodSet, _Mapping]]] = ..., owned_by_single_pod: bool = ..., joint: bool = ...) -> None: ...

class AdmittedPodSet(_message.Message):
    __slots__ = ("name", "flavors", "resource_usage", "count", "assignment", "delayed_topology_request")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FLAVORS_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_USAGE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENT_FIELD_NUMBER: _ClassVar[int]
    DELAYED_TOPOLOGY_REQUEST_FIELD_NUMBER: _ClassVar[int]
    name: int
    flavors: _types_pb2.StringMap
    resource_usage: int
    count: int
    assignment: int
    delayed_topology_request: int
    def __init__(self, name: _Optional[int] = ..., flavors: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., resource_usage: _Optional[int] = ..., count: _Optional[int] = ..., assignment: _Optional[int] = ..., delayed_topology_request: _Optional[int] = ...) -> None: ...

class AssumedUsage(_message.Message):
    __slots__ = ("workload", "leaves", "usages")
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    LEAVES_FIELD_NUMBER: _ClassVar[int]
    USAGES_FIELD_NUMBER: _ClassVar[int]
    workload: int
    leaves: _containers.RepeatedScalarFieldContainer[int]
    usages: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, workload: _Optional[int] = ..., leaves: _Optional[_Iterable[int]] = ..., usages: _Optional[_Iterable[int]] = ...) -> None: ...

class AnswerBatch(_message.Message):
    __slots__ = ("strings", "level_lists", "named_domains", "failure_table", "outcomes", "levels", "failures", "domain_offsets", "domains", "counts", "added_counts", "trees")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    LEVEL_LISTS_FIELD_NUMBER: _ClassVar[int]
    NAMED_DOMAINS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_TABLE_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    ADDED_COUNTS_FIELD_NUMBER: _ClassVar[int]
    TREES_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    level_lists: _containers.RepeatedCompositeFieldContainer[LevelList]
    named_domains: _containers.RepeatedCompositeFieldContainer[NamedDomain]
    failure_table: _containers.RepeatedCompositeFieldContainer[PlacementFailure]
    outcomes: _containers.RepeatedScalarFieldContainer[PodSetOutcome]
    levels: _containers.RepeatedScalarFieldContainer[int]
    failures: _containers.RepeatedScalarFieldContainer[int]
    domain_offsets: _containers.RepeatedScalarFieldContainer[int]
    domains: _containers.RepeatedScalarFieldContainer[int]
    counts: _containers.RepeatedScalarFieldContainer[int]
    added_counts: _containers.RepeatedScalarFieldContainer[int]
    trees: _nested_pb2.NestedAnswerBatch
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., level_lists: _Optional[_Iterable[_Union[LevelList, _Mapping]]] = ..., named_domains: _Optional[_Iterable[_Union[NamedDomain, _Mapping]]] = ..., failure_table: _Optional[_Iterable[_Union[PlacementFailure, _Mapping]]] = ..., outcomes: _Optional[_Iterable[_Union[PodSetOutcome, str]]] = ..., levels: _Optional[_Iterable[int]] = ..., failures: _Optional[_Iterable[int]] = ..., domain_offsets: _Optional[_Iterable[int]] = ..., domains: _Optional[_Iterable[int]] = ..., counts: _Optional[_Iterable[int]] = ..., added_counts: _Optional[_Iterable[int]] = ..., trees: _Optional[_Union[_nested_pb2.NestedAnswerBatch, _Mapping]] = ...) -> None: ...

class LevelList(_message.Message):
    __slots__ = ("levels",)
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    levels: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, levels: _Optional[_Iterable[int]] = ...) -> None: ...

class NamedDomain(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, values: _Optional[_Iterable[int]] = ...) -> None: ...

class PlacementFailure(_message.Message):
    __slots__ = ("reason", "shortfall")
    REASON_FIELD_NUMBER: _ClassVar[int]
    SHORTFALL_FIELD_NUMBER: _ClassVar[int]
    reason: int
    shortfall: Shortfall
    def __init__(self, reason: _Optional[int] = ..., shortfall: _Optional[_Union[Shortfall, _Mapping]] = ...) -> None: ...

class Shortfall(_message.Message):
    __slots__ = ("fit", "total", "slice_size", "total_nodes", "node_selector", "affinity", "topology_domain", "taints", "resources")
    FIT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    SLICE_SIZE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_NODES_FIELD_NUMBER: _ClassVar[int]
    NODE_SELECTOR_FIELD_NUMBER: _ClassVar[int]
    AFFINITY_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_DOMAIN_FIELD_NUMBER: _ClassVar[int]
    TAINTS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    fit: int
    total: int
    slice_size: int
    total_nodes: int
    node_selector: int
    affinity: int
    topology_domain: int
    taints: CountsByName
    resources: CountsByName
    def __init__(self, fit: _Optional[int] = ..., total: _Optional[int] = ..., slice_size: _Optional[int] = ..., total_nodes: _Optional[int] = ..., node_selector: _Optional[int] = ..., affinity: _Optional[int] = ..., topology_domain: _Optional[int] = ..., taints: _Optional[_Union[CountsByName, _Mapping]] = ..., resources: _Optional[_Union[CountsByName, _Mapping]] = ...) -> None: ...

class CountsByName(_message.Message):
    __slots__ = ("names", "counts")
    NAMES_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[int]
    counts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, names: _Optional[_Iterable[int]] = ..., counts: _Optional[_Iterable[int]] = ...) -> None: ...
