from espalier.v1 import nested_pb2 as _nested_pb2
from espalier.v1 import objects_pb2 as _objects_pb2
from espalier.v1 import types_pb2 as _types_pb2
from espalier.v1 import workload_pb2 as _workload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DecisionStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_STATUS_UNSPECIFIED: _ClassVar[DecisionStatus]
    DECISION_STATUS_ASSUMED: _ClassVar[DecisionStatus]
    DECISION_STATUS_NOT_ADMITTED: _ClassVar[DecisionStatus]
    DECISION_STATUS_REPLACED: _ClassVar[DecisionStatus]
    DECISION_STATUS_EVICTED: _ClassVar[DecisionStatus]
    DECISION_STATUS_KEPT: _ClassVar[DecisionStatus]

class SliceMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SLICE_MODE_REPLACEMENT: _ClassVar[SliceMode]
    SLICE_MODE_PER_REPLICA: _ClassVar[SliceMode]

class ResizeProfile(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESIZE_PROFILE_KUEUE: _ClassVar[ResizeProfile]
    RESIZE_PROFILE_ESPALIER: _ClassVar[ResizeProfile]

class ResizeDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESIZE_DECISION_UNSPECIFIED: _ClassVar[ResizeDecision]
    RESIZE_DECISION_NONE: _ClassVar[ResizeDecision]
    RESIZE_DECISION_IN_PLACE: _ClassVar[ResizeDecision]
    RESIZE_DECISION_NEW_SLICE: _ClassVar[ResizeDecision]
    RESIZE_DECISION_SLICES_PER_REPLICA: _ClassVar[ResizeDecision]
    RESIZE_DECISION_REFUSED: _ClassVar[ResizeDecision]
DECISION_STATUS_UNSPECIFIED: DecisionStatus
DECISION_STATUS_ASSUMED: DecisionStatus
DECISION_STATUS_NOT_ADMITTED: DecisionStatus
DECISION_STATUS_REPLACED: DecisionStatus
DECISION_STATUS_EVICTED: DecisionStatus
DECISION_STATUS_KEPT: DecisionStatus
SLICE_MODE_REPLACEMENT: SliceMode
SLICE_MODE_PER_REPLICA: SliceMode
RESIZE_PROFILE_KUEUE: ResizeProfile
RESIZE_PROFILE_ESPALIER: ResizeProfile
RESIZE_DECISION_UNSPECIFIED: ResizeDecision
RESIZE_DECISION_NONE: ResizeDecision
RESIZE_DECISION_IN_PLACE: ResizeDecision
RESIZE_DECISION_NEW_SLICE: ResizeDecision
RESIZE_DECISION_SLICES_PER_REPLICA: ResizeDecision
RESIZE_DECISION_REFUSED: ResizeDecision

class CycleRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "until_stable", "strings", "resources", "topology_requests", "node_constraints", "assignments", "cluster_queues", "local_queues", "admission_checks", "workloads", "namespaces", "now_seconds", "release_stopped", "state_name", "profile")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    UNTIL_STABLE_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    NODE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_QUEUES_FIELD_NUMBER: _ClassVar[int]
    LOCAL_QUEUES_FIELD_NUMBER: _ClassVar[int]
    ADMISSION_CHECKS_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    NOW_SECONDS_FIELD_NUMBER: _ClassVar[int]
    RELEASE_STOPPED_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    until_stable: bool
    strings: _containers.RepeatedScalarFieldContainer[str]
    resources: _containers.RepeatedCompositeFieldContainer[_types_pb2.ResourceVector]
    topology_requests: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyRequest]
    node_constraints: _containers.RepeatedCompositeFieldContainer[_types_pb2.NodeConstraints]
    assignments: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyAssignment]
    cluster_queues: _containers.RepeatedCompositeFieldContainer[_objects_pb2.ClusterQueue]
    local_queues: _containers.RepeatedCompositeFieldContainer[_objects_pb2.LocalQueue]
    admission_checks: _containers.RepeatedCompositeFieldContainer[_objects_pb2.AdmissionCheck]
    workloads: _containers.RepeatedCompositeFieldContainer[_objects_pb2.Workload]
    namespaces: _containers.RepeatedCompositeFieldContainer[_objects_pb2.Namespace]
    now_seconds: int
    release_stopped: bool
    state_name: str
    profile: _nested_pb2.PlacementProfile
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., until_stable: bool = ..., strings: _Optional[_Iterable[str]] = ..., resources: _Optional[_Iterable[_Union[_types_pb2.ResourceVector, _Mapping]]] = ..., topology_requests: _Optional[_Iterable[_Union[_types_pb2.TopologyRequest, _Mapping]]] = ..., node_constraints: _Optional[_Iterable[_Union[_types_pb2.NodeConstraints, _Mapping]]] = ..., assignments: _Optional[_Iterable[_Union[_types_pb2.TopologyAssignment, _Mapping]]] = ..., cluster_queues: _Optional[_Iterable[_Union[_objects_pb2.ClusterQueue, _Mapping]]] = ..., local_queues: _Optional[_Iterable[_Union[_objects_pb2.LocalQueue, _Mapping]]] = ..., admission_checks: _Optional[_Iterable[_Union[_objects_pb2.AdmissionCheck, _Mapping]]] = ..., workloads: _Optional[_Iterable[_Union[_objects_pb2.Workload, _Mapping]]] = ..., namespaces: _Optional[_Iterable[_Union[_objects_pb2.Namespace, _Mapping]]] = ..., now_seconds: _Optional[int] = ..., release_stopped: bool = ..., state_name: _Optional[str] = ..., profile: _Optional[_Union[_nested_pb2.PlacementProfile, str]] = ...) -> None: ...

class CycleResponse(_message.Message):
    __slots__ = ("state", "strings", "resources", "assignments", "cycles", "decisions", "notes")
    STATE_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    strings: _containers.RepeatedScalarFieldContainer[str]
    resources: _containers.RepeatedCompositeFieldContainer[_types_pb2.ResourceVector]
    assignments: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyAssignment]
    cycles: int
    decisions: _containers.RepeatedCompositeFieldContainer[Decision]
    notes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., strings: _Optional[_Iterable[str]] = ..., resources: _Optional[_Iterable[_Union[_types_pb2.ResourceVector, _Mapping]]] = ..., assignments: _Optional[_Iterable[_Union[_types_pb2.TopologyAssignment, _Mapping]]] = ..., cycles: _Optional[int] = ..., decisions: _Optional[_Iterable[_Union[Decision, _Mapping]]] = ..., notes: _Optional[_Iterable[int]] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("cycle", "cluster_queue", "namespace", "name", "status", "reason", "pending_reason", "pod_set_assignments")
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_QUEUE_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PENDING_REASON_FIELD_NUMBER: _ClassVar[int]
    POD_SET_ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    cycle: int
    cluster_queue: int
    namespace: int
    name: int
    status: DecisionStatus
    reason: int
    pending_reason: int
    pod_set_assignments: _containers.RepeatedCompositeFieldContainer[_workload_pb2.AdmittedPodSet]
    def __init__(self, cycle: _Optional[int] = ..., cluster_queue: _Optional[int] = ..., namespace: _Optional[int] = ..., name: _Optional[int] = ..., status: _Optional[_Union[DecisionStatus, str]] = ..., reason: _Optional[int] = ..., pending_reason: _Optional[int] = ..., pod_set_assignments: _Optional[_Iterable[_Union[_workload_pb2.AdmittedPodSet, _Mapping]]] = ...) -> None: ...

class PlanResizeRequest(_message.Message):
    __slots__ = ("objects", "workload", "counts", "slice_mode", "profile")
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    SLICE_MODE_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    objects: CycleRequest
    workload: int
    counts: _containers.RepeatedCompositeFieldContainer[PodSetCount]
    slice_mode: SliceMode
    profile: ResizeProfile
    def __init__(self, objects: _Optional[_Union[CycleRequest, _Mapping]] = ..., workload: _Optional[int] = ..., counts: _Optional[_Iterable[_Union[PodSetCount, _Mapping]]] = ..., slice_mode: _Optional[_Union[SliceMode, str]] = ..., profile: _Optional[_Union[ResizeProfile, str]] = ...) -> None: ...

class PodSetCount(_message.Message):
    __slots__ = ("name", "count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    name: int
    count: int
    def __init__(self, name: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class PlanResizeResponse(_message.Message):
    __slots__ = ("state", "strings", "resources", "topology_requests", "node_constraints", "assignments", "decision", "namespace", "name", "counts", "leaving", "slices", "usage", "reason", "notes", "after")
    STATE_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    NODE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    LEAVING_FIELD_NUMBER: _ClassVar[int]
    SLICES_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    strings: _containers.RepeatedScalarFieldContainer[str]
    resources: _containers.RepeatedCompositeFieldContainer[_types_pb2.ResourceVector]
    topology_requests: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyRequest]
    node_constraints: _containers.RepeatedCompositeFieldContainer[_types_pb2.NodeConstraints]
    assignments: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyAssignment]
    decision: ResizeDecision
    namespace: int
    name: int
    counts: _containers.RepeatedCompositeFieldContainer[PodSetCount]
    leaving: _containers.RepeatedCompositeFieldContainer[LeavingPods]
    slices: _containers.RepeatedCompositeFieldContainer[PlannedSlice]
    usage: _containers.RepeatedCompositeFieldContainer[FlavorUsage]
    reason: int
    notes: _containers.RepeatedScalarFieldContainer[int]
    after: _objects_pb2.Workload
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., strings: _Optional[_Iterable[str]] = ..., resources: _Optional[_Iterable[_Union[_types_pb2.ResourceVector, _Mapping]]] = ..., topology_requests: _Optional[_Iterable[_Union[_types_pb2.TopologyRequest, _Mapping]]] = ..., node_constraints: _Optional[_Iterable[_Union[_types_pb2.NodeConstraints, _Mapping]]] = ..., assignments: _Optional[_Iterable[_Union[_types_pb2.TopologyAssignment, _Mapping]]] = ..., decision: _Optional[_Union[ResizeDecision, str]] = ..., namespace: _Optional[int] = ..., name: _Optional[int] = ..., counts: _Optional[_Iterable[_Union[PodSetCount, _Mapping]]] = ..., leaving: _Optional[_Iterable[_Union[LeavingPods, _Mapping]]] = ..., slices: _Optional[_Iterable[_Union[PlannedSlice, _Mapping]]] = ..., usage: _Optional[_Iterable[_Union[FlavorUsage, _Mapping]]] = ..., reason: _Optional[int] = ..., notes: _Optional[_Iterable[int]] = ..., after: _Optional[_Union[_objects_pb2.Workload, _Mapping]] = ...) -> None: ...

class LeavingPods(_message.Message):
    __slots__ = ("pod_set", "domains")
    POD_SET_FIELD_NUMBER: _ClassVar[int]
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    pod_set: int
    domains: _containers.RepeatedCompositeFieldContainer[LeavingDomain]
    def __init__(self, pod_set: _Optional[int] = ..., domains: _Optional[_Iterable[_Union[LeavingDomain, _Mapping]]] = ...) -> None: ...

class LeavingDomain(_message.Message):
    __slots__ = ("values", "count")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    count: int
    def __init__(self, values: _Optional[_Iterable[int]] = ..., count: _Optional[int] = ...) -> None: ...

class PlannedSlice(_message.Message):
    __slots__ = ("workload", "replacement_for", "admitted", "reason")
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    REPLACEMENT_FOR_FIELD_NUMBER: _ClassVar[int]
    ADMITTED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    workload: _objects_pb2.Workload
    replacement_for: int
    admitted: bool
    reason: int
    def __init__(self, workload: _Optional[_Union[_objects_pb2.Workload, _Mapping]] = ..., replacement_for: _Optional[int] = ..., admitted: bool = ..., reason: _Optional[int] = ...) -> None: ...

class FlavorUsage(_message.Message):
    __slots__ = ("flavor", "resource", "amount")
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    flavor: int
    resource: int
    amount: int
    def __init__(self, flavor: _Optional[int] = ..., resource: _Optional[int] = ..., amount: _Optional[int] = ...) -> None: ...
