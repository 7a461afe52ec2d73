from espalier.v1 import named_states_pb2 as _named_states_pb2
from espalier.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Node(_message.Message):
    __slots__ = ("name", "labels", "taints", "unschedulable", "ready", "allocatable")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    TAINTS_FIELD_NUMBER: _ClassVar[int]
    UNSCHEDULABLE_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    ALLOCATABLE_FIELD_NUMBER: _ClassVar[int]
    name: int
    labels: _types_pb2.StringMap
    taints: _containers.RepeatedCompositeFieldContainer[_types_pb2.Taint]
    unschedulable: bool
    ready: bool
    allocatable: _types_pb2.ResourceVector
    def __init__(self, name: _Optional[int] = ..., labels: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., taints: _Optional[_Iterable[_Union[_types_pb2.Taint, _Mapping]]] = ..., unschedulable: bool = ..., ready: bool = ..., allocatable: _Optional[_Union[_types_pb2.ResourceVector, _Mapping]] = ...) -> None: ...

class Topology(_message.Message):
    __slots__ = ("name", "levels")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    name: int
    levels: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[int] = ..., levels: _Optional[_Iterable[int]] = ...) -> None: ...

class ResourceFlavor(_message.Message):
    __slots__ = ("name", "node_labels", "node_taints", "tolerations", "topology_name")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_LABELS_FIELD_NUMBER: _ClassVar[int]
    NODE_TAINTS_FIELD_NUMBER: _ClassVar[int]
    TOLERATIONS_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_NAME_FIELD_NUMBER: _ClassVar[int]
    name: int
    node_labels: _types_pb2.StringMap
    node_taints: _containers.RepeatedCompositeFieldContainer[_types_pb2.Taint]
    tolerations: _containers.RepeatedCompositeFieldContainer[_types_pb2.Toleration]
    topology_name: int
    def __init__(self, name: _Optional[int] = ..., node_labels: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., node_taints: _Optional[_Iterable[_Union[_types_pb2.Taint, _Mapping]]] = ..., tolerations: _Optional[_Iterable[_Union[_types_pb2.Toleration, _Mapping]]] = ..., topology_name: _Optional[int] = ...) -> None: ...

class NodeUsage(_message.Message):
    __slots__ = ("node", "usage", "lasting")
    NODE_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    LASTING_FIELD_NUMBER: _ClassVar[int]
    node: int
    usage: _types_pb2.ResourceVector
    lasting: _types_pb2.ResourceVector
    def __init__(self, node: _Optional[int] = ..., usage: _Optional[_Union[_types_pb2.ResourceVector, _Mapping]] = ..., lasting: _Optional[_Union[_types_pb2.ResourceVector, _Mapping]] = ...) -> None: ...

class FlavorLeafUsage(_message.Message):
    __slots__ = ("flavor", "leaf", "usage")
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    LEAF_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    flavor: int
    leaf: int
    usage: _types_pb2.ResourceVector
    def __init__(self, flavor: _Optional[int] = ..., leaf: _Optional[int] = ..., usage: _Optional[_Union[_types_pb2.ResourceVector, _Mapping]] = ...) -> None: ...

class AdmittedWorkload(_message.Message):
    __slots__ = ("namespace", "name", "priority", "quota_reserved_at", "usage", "job")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    QUOTA_RESERVED_AT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    namespace: int
    name: int
    priority: int
    quota_reserved_at: int
    usage: _containers.RepeatedCompositeFieldContainer[FlavorLeafUsage]
    job: int
    def __init__(self, namespace: _Optional[int] = ..., name: _Optional[int] = ..., priority: _Optional[int] = ..., quota_reserved_at: _Optional[int] = ..., usage: _Optional[_Iterable[_Union[FlavorLeafUsage, _Mapping]]] = ..., job: _Optional[int] = ...) -> None: ...

class LoadStateRequest(_message.Message):
    __slots__ = ("strings", "topologies", "flavors", "nodes", "non_tas_usage", "tas_usage", "share_usage_between_flavors", "end", "workloads", "state_name", "kueue_configuration")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGIES_FIELD_NUMBER: _ClassVar[int]
    FLAVORS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    NON_TAS_USAGE_FIELD_NUMBER: _ClassVar[int]
    TAS_USAGE_FIELD_NUMBER: _ClassVar[int]
    SHARE_USAGE_BETWEEN_FLAVORS_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    KUEUE_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    topologies: _containers.RepeatedCompositeFieldContainer[Topology]
    flavors: _containers.RepeatedCompositeFieldContainer[ResourceFlavor]
    nodes: _containers.RepeatedCompositeFieldContainer[Node]
    non_tas_usage: _containers.RepeatedCompositeFieldContainer[NodeUsage]
    tas_usage: _containers.RepeatedCompositeFieldContainer[FlavorLeafUsage]
    share_usage_between_flavors: bool
    end: LoadStateEnd
    workloads: _containers.RepeatedCompositeFieldContainer[AdmittedWorkload]
    state_name: str
    kueue_configuration: str
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., topologies: _Optional[_Iterable[_Union[Topology, _Mapping]]] = ..., flavors: _Optional[_Iterable[_Union[ResourceFlavor, _Mapping]]] = ..., nodes: _Optional[_Iterable[_Union[Node, _Mapping]]] = ..., non_tas_usage: _Optional[_Iterable[_Union[NodeUsage, _Mapping]]] = ..., tas_usage: _Optional[_Iterable[_Union[FlavorLeafUsage, _Mapping]]] = ..., share_usage_between_flavors: bool = ..., end: _Optional[_Union[LoadStateEnd, _Mapping]] = ..., workloads: _Optional[_Iterable[_Union[AdmittedWorkload, _Mapping]]] = ..., state_name: _Optional[str] = ..., kueue_configuration: _Optional[str] = ...) -> None: ...

class LoadStateEnd(_message.Message):
    __slots__ = ("nodes", "non_tas_usage", "tas_usage", "workloads")
    NODES_FIELD_NUMBER: _ClassVar[int]
    NON_TAS_USAGE_FIELD_NUMBER: _ClassVar[int]
    TAS_USAGE_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    nodes: int
    non_tas_usage: int
    tas_usage: int
    workloads: int
    def __init__(self, nodes: _Optional[int] = ..., non_tas_usage: _Optional[int] = ..., tas_usage: _Optional[int] = ..., workloads: _Optional[int] = ...) -> None: ...

class LoadStateResponse(_message.Message):
    __slots__ = ("state", "warnings", "dropped_holds")
    STATE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_HOLDS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    warnings: _containers.RepeatedScalarFieldContainer[str]
    dropped_holds: _containers.RepeatedCompositeFieldContainer[LostHold]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ..., dropped_holds: _Optional[_Iterable[_Union[LostHold, _Mapping]]] = ...) -> None: ...

class LostHold(_message.Message):
    __slots__ = ("id", "flavor", "leaf")
    ID_FIELD_NUMBER: _ClassVar[int]
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    LEAF_FIELD_NUMBER: _ClassVar[int]
    id: str
    flavor: str
    leaf: str
    def __init__(self, id: _Optional[str] = ..., flavor: _Optional[str] = ..., leaf: _Optional[str] = ...) -> None: ...

class UpdateStateRequest(_message.Message):
    __slots__ = ("base", "strings", "remove_nodes", "upsert_nodes", "set_non_tas_usage", "set_tas_usage", "remove_topologies", "upsert_topologies", "remove_flavors", "upsert_flavors", "set_workloads", "state_name", "set_kueue_configuration")
    BASE_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    REMOVE_NODES_FIELD_NUMBER: _ClassVar[int]
    UPSERT_NODES_FIELD_NUMBER: _ClassVar[int]
    SET_NON_TAS_USAGE_FIELD_NUMBER: _ClassVar[int]
    SET_TAS_USAGE_FIELD_NUMBER: _ClassVar[int]
    REMOVE_TOPOLOGIES_FIELD_NUMBER: _ClassVar[int]
    UPSERT_TOPOLOGIES_FIELD_NUMBER: _ClassVar[int]
    REMOVE_FLAVORS_FIELD_NUMBER: _ClassVar[int]
    UPSERT_FLAVORS_FIELD_NUMBER: _ClassVar[int]
    SET_WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    SET_KUEUE_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    base: _types_pb2.StatePosition
    strings: _containers.RepeatedScalarFieldContainer[str]
    remove_nodes: _containers.RepeatedScalarFieldContainer[int]
    upsert_nodes: _containers.RepeatedCompositeFieldContainer[Node]
    set_non_tas_usage: _containers.RepeatedCompositeFieldContainer[NodeUsage]
    set_tas_usage: _containers.RepeatedCompositeFieldContainer[FlavorLeafUsage]
    remove_topologies: _containers.RepeatedScalarFieldContainer[int]
    upsert_topologies: _containers.RepeatedCompositeFieldContainer[Topology]
    remove_flavors: _containers.RepeatedScalarFieldContainer[int]
    upsert_flavors: _containers.RepeatedCompositeFieldContainer[ResourceFlavor]
    set_workloads: _containers.RepeatedCompositeFieldContainer[AdmittedWorkload]
    state_name: str
    set_kueue_configuration: str
    def __init__(self, base: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., strings: _Optional[_Iterable[str]] = ..., remove_nodes: _Optional[_Iterable[int]] = ..., upsert_nodes: _Optional[_Iterable[_Union[Node, _Mapping]]] = ..., set_non_tas_usage: _Optional[_Iterable[_Union[NodeUsage, _Mapping]]] = ..., set_tas_usage: _Optional[_Iterable[_Union[FlavorLeafUsage, _Mapping]]] = ..., remove_topologies: _Optional[_Iterable[int]] = ..., upsert_topologies: _Optional[_Iterable[_Union[Topology, _Mapping]]] = ..., remove_flavors: _Optional[_Iterable[int]] = ..., upsert_flavors: _Optional[_Iterable[_Union[ResourceFlavor, _Mapping]]] = ..., set_workloads: _Optional[_Iterable[_Union[AdmittedWorkload, _Mapping]]] = ..., state_name: _Optional[str] = ..., set_kueue_configuration: _Optional[str] = ...) -> None: ...

class UpdateStateResponse(_message.Message):
    __slots__ = ("state", "warnings", "broken_holds")
    STATE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    BROKEN_HOLDS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    warnings: _containers.RepeatedScalarFieldContainer[str]
    broken_holds: _containers.RepeatedCompositeFieldContainer[LostHold]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ..., broken_holds: _Optional[_Iterable[_Union[LostHold, _Mapping]]] = ...) -> None: ...

class GetStateSummaryRequest(_message.Message):
    __slots__ = ("state_name",)
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    def __init__(self, state_name: _Optional[str] = ...) -> None: ...

class GetStateSummaryResponse(_message.Message):
    __slots__ = ("state", "nodes", "flavors", "checksum", "workloads", "kueue_configuration", "holds")
    STATE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    FLAVORS_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    KUEUE_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    nodes: int
    flavors: _containers.RepeatedCompositeFieldContainer[FlavorSummary]
    checksum: int
    workloads: int
    kueue_configuration: str
    holds: int
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., nodes: _Optional[int] = ..., flavors: _Optional[_Iterable[_Union[FlavorSummary, _Mapping]]] = ..., checksum: _Optional[int] = ..., workloads: _Optional[int] = ..., kueue_configuration: _Optional[str] = ..., holds: _Optional[int] = ...) -> None: ...

class FlavorSummary(_message.Message):
    __slots__ = ("name", "levels", "domain_counts", "nodes", "resources")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_COUNTS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    name: str
    levels: _containers.RepeatedScalarFieldContainer[str]
    domain_counts: _containers.RepeatedScalarFieldContainer[int]
    nodes: int
    resources: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., levels: _Optional[_Iterable[str]] = ..., domain_counts: _Optional[_Iterable[int]] = ..., nodes: _Optional[int] = ..., resources: _Optional[_Iterable[str]] = ...) -> None: ...

class ReadStateRequest(_message.Message):
    __slots__ = ("state", "state_name")
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    state_name: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., state_name: _Optional[str] = ...) -> None: ...

class ReadStateResponse(_message.Message):
    __slots__ = ("state", "chunk", "held_usage")
    STATE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    HELD_USAGE_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    chunk: LoadStateRequest
    held_usage: _containers.RepeatedCompositeFieldContainer[FlavorLeafUsage]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., chunk: _Optional[_Union[LoadStateRequest, _Mapping]] = ..., held_usage: _Optional[_Iterable[_Union[FlavorLeafUsage, _Mapping]]] = ...) -> None: ...

class ListLeavesRequest(_message.Message):
    __slots__ = ("state", "flavor", "first", "limit", "state_name")
    STATE_FIELD_NUMBER: _ClassVar[int]
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    flavor: str
    first: int
    limit: int
    state_name: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., flavor: _Optional[str] = ..., first: _Optional[int] = ..., limit: _Optional[int] = ..., state_name: _Optional[str] = ...) -> None: ...

class ListLeavesResponse(_message.Message):
    __slots__ = ("state", "levels", "total", "values")
    STATE_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    levels: _containers.RepeatedScalarFieldContainer[str]
    total: int
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., levels: _Optional[_Iterable[str]] = ..., total: _Optional[int] = ..., values: _Optional[_Iterable[str]] = ...) -> None: ...
