from espalier.v1 import holds_pb2 as _holds_pb2
from espalier.v1 import types_pb2 as _types_pb2
from espalier.v1 import workload_pb2 as _workload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlacementMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLACEMENT_MODE_UNSPECIFIED: _ClassVar[PlacementMode]
    PLACEMENT_MODE_NOMINATE: _ClassVar[PlacementMode]
    PLACEMENT_MODE_SEQUENTIAL: _ClassVar[PlacementMode]

class DomainNaming(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOMAIN_NAMING_INDEX: _ClassVar[DomainNaming]
    DOMAIN_NAMING_NAME: _ClassVar[DomainNaming]
PLACEMENT_MODE_UNSPECIFIED: PlacementMode
PLACEMENT_MODE_NOMINATE: PlacementMode
PLACEMENT_MODE_SEQUENTIAL: PlacementMode
DOMAIN_NAMING_INDEX: DomainNaming
DOMAIN_NAMING_NAME: DomainNaming

class PlaceRequest(_message.Message):
    __slots__ = ("state", "mode", "commit", "domain_naming", "feature_gates", "workloads", "commit_token", "state_name", "hold_seconds", "hold_owner")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_NAMING_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    HOLD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    HOLD_OWNER_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    mode: PlacementMode
    commit: bool
    domain_naming: DomainNaming
    feature_gates: _containers.ScalarMap[str, bool]
    workloads: _workload_pb2.WorkloadBatch
    commit_token: str
    state_name: str
    hold_seconds: int
    hold_owner: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., mode: _Optional[_Union[PlacementMode, str]] = ..., commit: bool = ..., domain_naming: _Optional[_Union[DomainNaming, str]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., workloads: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., commit_token: _Optional[str] = ..., state_name: _Optional[str] = ..., hold_seconds: _Optional[int] = ..., hold_owner: _Optional[str] = ...) -> None: ...

class PlaceResponse(_message.Message):
    __slots__ = ("state", "committed", "answers", "hold_ids")
    STATE_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    HOLD_IDS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    committed: _types_pb2.StatePosition
    answers: _workload_pb2.AnswerBatch
    hold_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., committed: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., answers: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ..., hold_ids: _Optional[_Iterable[str]] = ...) -> None: ...
