from espalier.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlacementProfile(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLACEMENT_PROFILE_UNSPECIFIED: _ClassVar[PlacementProfile]
    PLACEMENT_PROFILE_KUEUE: _ClassVar[PlacementProfile]
    PLACEMENT_PROFILE_ESPALIER: _ClassVar[PlacementProfile]
    PLACEMENT_PROFILE_KEP5732: _ClassVar[PlacementProfile]

class NestedRankPlacement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NESTED_RANK_PLACEMENT_BY_PATH: _ClassVar[NestedRankPlacement]
    NESTED_RANK_PLACEMENT_CONTIGUOUS: _ClassVar[NestedRankPlacement]
    NESTED_RANK_PLACEMENT_TOGETHER: _ClassVar[NestedRankPlacement]
    NESTED_RANK_PLACEMENT_BALANCED: _ClassVar[NestedRankPlacement]
    NESTED_RANK_PLACEMENT_STRIPED: _ClassVar[NestedRankPlacement]

class NestedStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NESTED_STATUS_UNSPECIFIED: _ClassVar[NestedStatus]
    NESTED_STATUS_PLACED: _ClassVar[NestedStatus]
    NESTED_STATUS_PLACED_IN_PART: _ClassVar[NestedStatus]
    NESTED_STATUS_NOT_NOW: _ClassVar[NestedStatus]
    NESTED_STATUS_NEVER: _ClassVar[NestedStatus]
    NESTED_STATUS_UNDECIDED: _ClassVar[NestedStatus]
    NESTED_STATUS_BAD_REQUEST: _ClassVar[NestedStatus]
PLACEMENT_PROFILE_UNSPECIFIED: PlacementProfile
PLACEMENT_PROFILE_KUEUE: PlacementProfile
PLACEMENT_PROFILE_ESPALIER: PlacementProfile
PLACEMENT_PROFILE_KEP5732: PlacementProfile
NESTED_RANK_PLACEMENT_BY_PATH: NestedRankPlacement
NESTED_RANK_PLACEMENT_CONTIGUOUS: NestedRankPlacement
NESTED_RANK_PLACEMENT_TOGETHER: NestedRankPlacement
NESTED_RANK_PLACEMENT_BALANCED: NestedRankPlacement
NESTED_RANK_PLACEMENT_STRIPED: NestedRankPlacement
NESTED_STATUS_UNSPECIFIED: NestedStatus
NESTED_STATUS_PLACED: NestedStatus
NESTED_STATUS_PLACED_IN_PART: NestedStatus
NESTED_STATUS_NOT_NOW: NestedStatus
NESTED_STATUS_NEVER: NestedStatus
NESTED_STATUS_UNDECIDED: NestedStatus
NESTED_STATUS_BAD_REQUEST: NestedStatus

class NestedBatch(_message.Message):
    __slots__ = ("strings", "resources", "node_constraints", "shapes", "namespaces", "names", "flavors", "group_offsets", "simulate_empty", "group_names", "group_children", "copies", "min_copies", "required", "preferred", "in_order", "ranks", "rank_levels", "pods", "min_counts", "max_counts", "running_pods", "profiles", "pod_sets", "min_groups", "apart")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    NODE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    SHAPES_FIELD_NUMBER: _ClassVar[int]
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    FLAVORS_FIELD_NUMBER: _ClassVar[int]
    GROUP_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    SIMULATE_EMPTY_FIELD_NUMBER: _ClassVar[int]
    GROUP_NAMES_FIELD_NUMBER: _ClassVar[int]
    GROUP_CHILDREN_FIELD_NUMBER: _ClassVar[int]
    COPIES_FIELD_NUMBER: _ClassVar[int]
    MIN_COPIES_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_FIELD_NUMBER: _ClassVar[int]
    IN_ORDER_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    RANK_LEVELS_FIELD_NUMBER: _ClassVar[int]
    PODS_FIELD_NUMBER: _ClassVar[int]
    MIN_COUNTS_FIELD_NUMBER: _ClassVar[int]
    MAX_COUNTS_FIELD_NUMBER: _ClassVar[int]
    RUNNING_PODS_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    POD_SETS_FIELD_NUMBER: _ClassVar[int]
    MIN_GROUPS_FIELD_NUMBER: _ClassVar[int]
    APART_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    resources: _containers.RepeatedCompositeFieldContainer[_types_pb2.ResourceVector]
    node_constraints: _containers.RepeatedCompositeFieldContainer[_types_pb2.NodeConstraints]
    shapes: _containers.RepeatedCompositeFieldContainer[NestedShape]
    namespaces: _containers.RepeatedScalarFieldContainer[int]
    names: _containers.RepeatedScalarFieldContainer[int]
    flavors: _containers.RepeatedScalarFieldContainer[int]
    group_offsets: _containers.RepeatedScalarFieldContainer[int]
    simulate_empty: _containers.RepeatedScalarFieldContainer[bool]
    group_names: _containers.RepeatedScalarFieldContainer[int]
    group_children: _containers.RepeatedScalarFieldContainer[int]
    copies: _containers.RepeatedScalarFieldContainer[int]
    min_copies: _containers.RepeatedScalarFieldContainer[int]
    required: _containers.RepeatedScalarFieldContainer[int]
    preferred: _containers.RepeatedScalarFieldContainer[int]
    in_order: _containers.RepeatedScalarFieldContainer[bool]
    ranks: _containers.RepeatedScalarFieldContainer[NestedRankPlacement]
    rank_levels: _containers.RepeatedScalarFieldContainer[int]
    pods: _containers.RepeatedScalarFieldContainer[int]
    min_counts: _containers.RepeatedScalarFieldContainer[int]
    max_counts: _containers.RepeatedScalarFieldContainer[int]
    running_pods: _containers.RepeatedCompositeFieldContainer[RunningPods]
    profiles: _containers.RepeatedScalarFieldContainer[PlacementProfile]
    pod_sets: _containers.RepeatedScalarFieldContainer[int]
    min_groups: _containers.RepeatedScalarFieldContainer[int]
    apart: _containers.RepeatedScalarFieldContainer[bool]
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., resources: _Optional[_Iterable[_Union[_types_pb2.ResourceVector, _Mapping]]] = ..., node_constraints: _Optional[_Iterable[_Union[_types_pb2.NodeConstraints, _Mapping]]] = ..., shapes: _Optional[_Iterable[_Union[NestedShape, _Mapping]]] = ..., namespaces: _Optional[_Iterable[int]] = ..., names: _Optional[_Iterable[int]] = ..., flavors: _Optional[_Iterable[int]] = ..., group_offsets: _Optional[_Iterable[int]] = ..., simulate_empty: _Optional[_Iterable[bool]] = ..., group_names: _Optional[_Iterable[int]] = ..., group_children: _Optional[_Iterable[int]] = ..., copies: _Optional[_Iterable[int]] = ..., min_copies: _Optional[_Iterable[int]] = ..., required: _Optional[_Iterable[int]] = ..., preferred: _Optional[_Iterable[int]] = ..., in_order: _Optional[_Iterable[bool]] = ..., ranks: _Optional[_Iterable[_Union[NestedRankPlacement, str]]] = ..., rank_levels: _Optional[_Iterable[int]] = ..., pods: _Optional[_Iterable[int]] = ..., min_counts: _Optional[_Iterable[int]] = ..., max_counts: _Optional[_Iterable[int]] = ..., running_pods: _Optional[_Iterable[_Union[RunningPods, _Mapping]]] = ..., profiles: _Optional[_Iterable[_Union[PlacementProfile, str]]] = ..., pod_sets: _Optional[_Iterable[int]] = ..., min_groups: _Optional[_Iterable[int]] = ..., apart: _Optional[_Iterable[bool]] = ...) -> None: ...

class NestedShape(_message.Message):
    __slots__ = ("requests", "node_constraints")
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    NODE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    requests: int
    node_constraints: int
    def __init__(self, requests: _Optional[int] = ..., node_constraints: _Optional[int] = ...) -> None: ...

class RunningPods(_message.Message):
    __slots__ = ("group", "leaves")
    GROUP_FIELD_NUMBER: _ClassVar[int]
    LEAVES_FIELD_NUMBER: _ClassVar[int]
    group: int
    leaves: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, group: _Optional[int] = ..., leaves: _Optional[_Iterable[int]] = ...) -> None: ...

class NestedAnswerBatch(_message.Message):
    __slots__ = ("strings", "workloads")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    workloads: _containers.RepeatedCompositeFieldContainer[NestedWorkloadAnswer]
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., workloads: _Optional[_Iterable[_Union[NestedWorkloadAnswer, _Mapping]]] = ...) -> None: ...

class NestedWorkloadAnswer(_message.Message):
    __slots__ = ("status", "reason", "groups")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    status: NestedStatus
    reason: int
    groups: _containers.RepeatedCompositeFieldContainer[NestedGroupAnswer]
    def __init__(self, status: _Optional[_Union[NestedStatus, str]] = ..., reason: _Optional[int] = ..., groups: _Optional[_Iterable[_Union[NestedGroupAnswer, _Mapping]]] = ...) -> None: ...

class NestedGroupAnswer(_message.Message):
    __slots__ = ("path", "status", "level", "values", "assignment")
    PATH_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENT_FIELD_NUMBER: _ClassVar[int]
    path: int
    status: NestedStatus
    level: int
    values: _containers.RepeatedScalarFieldContainer[int]
    assignment: _types_pb2.TopologyAssignment
    def __init__(self, path: _Optional[int] = ..., status: _Optional[_Union[NestedStatus, str]] = ..., level: _Optional[int] = ..., values: _Optional[_Iterable[int]] = ..., assignment: _Optional[_Union[_types_pb2.TopologyAssignment, _Mapping]] = ...) -> None: ...
