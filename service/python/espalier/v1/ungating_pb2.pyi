from espalier.v1 import objects_pb2 as _objects_pb2
from espalier.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class UngateRequest(_message.Message):
    __slots__ = ("strings", "resources", "topology_requests", "node_constraints", "assignments", "workload", "pods")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    NODE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    PODS_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    resources: _containers.RepeatedCompositeFieldContainer[_types_pb2.ResourceVector]
    topology_requests: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyRequest]
    node_constraints: _containers.RepeatedCompositeFieldContainer[_types_pb2.NodeConstraints]
    assignments: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyAssignment]
    workload: _objects_pb2.Workload
    pods: _containers.RepeatedCompositeFieldContainer[_objects_pb2.Pod]
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., resources: _Optional[_Iterable[_Union[_types_pb2.ResourceVector, _Mapping]]] = ..., topology_requests: _Optional[_Iterable[_Union[_types_pb2.TopologyRequest, _Mapping]]] = ..., node_constraints: _Optional[_Iterable[_Union[_types_pb2.NodeConstraints, _Mapping]]] = ..., assignments: _Optional[_Iterable[_Union[_types_pb2.TopologyAssignment, _Mapping]]] = ..., workload: _Optional[_Union[_objects_pb2.Workload, _Mapping]] = ..., pods: _Optional[_Iterable[_Union[_objects_pb2.Pod, _Mapping]]] = ...) -> None: ...

class UngateResponse(_message.Message):
    __slots__ = ("strings", "pods")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    PODS_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    pods: _containers.RepeatedCompositeFieldContainer[UngatedPod]
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., pods: _Optional[_Iterable[_Union[UngatedPod, _Mapping]]] = ...) -> None: ...

class UngatedPod(_message.Message):
    __slots__ = ("pod", "domain", "node_selector", "gates")
    POD_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    NODE_SELECTOR_FIELD_NUMBER: _ClassVar[int]
    GATES_FIELD_NUMBER: _ClassVar[int]
    pod: int
    domain: int
    node_selector: _types_pb2.StringMap
    gates: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, pod: _Optional[int] = ..., domain: _Optional[int] = ..., node_selector: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., gates: _Optional[_Iterable[int]] = ...) -> None: ...
