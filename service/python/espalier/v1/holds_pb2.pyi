from espalier.v1 import cluster_state_pb2 as _cluster_state_pb2
from espalier.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class HoldProblemReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOLD_PROBLEM_REASON_UNSPECIFIED: _ClassVar[HoldProblemReason]
    HOLD_PROBLEM_REASON_UNKNOWN: _ClassVar[HoldProblemReason]
    HOLD_PROBLEM_REASON_CONFIRMED: _ClassVar[HoldProblemReason]
    HOLD_PROBLEM_REASON_EXPIRED: _ClassVar[HoldProblemReason]
    HOLD_PROBLEM_REASON_RELEASED: _ClassVar[HoldProblemReason]
    HOLD_PROBLEM_REASON_BROKEN: _ClassVar[HoldProblemReason]
    HOLD_PROBLEM_REASON_DROPPED: _ClassVar[HoldProblemReason]
    HOLD_PROBLEM_REASON_HELD: _ClassVar[HoldProblemReason]
HOLD_PROBLEM_REASON_UNSPECIFIED: HoldProblemReason
HOLD_PROBLEM_REASON_UNKNOWN: HoldProblemReason
HOLD_PROBLEM_REASON_CONFIRMED: HoldProblemReason
HOLD_PROBLEM_REASON_EXPIRED: HoldProblemReason
HOLD_PROBLEM_REASON_RELEASED: HoldProblemReason
HOLD_PROBLEM_REASON_BROKEN: HoldProblemReason
HOLD_PROBLEM_REASON_DROPPED: HoldProblemReason
HOLD_PROBLEM_REASON_HELD: HoldProblemReason

class Hold(_message.Message):
    __slots__ = ("id", "namespace", "name", "owner", "age_seconds", "seconds_left", "pods", "usage")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    AGE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    SECONDS_LEFT_FIELD_NUMBER: _ClassVar[int]
    PODS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    id: str
    namespace: str
    name: str
    owner: str
    age_seconds: int
    seconds_left: int
    pods: int
    usage: _containers.RepeatedCompositeFieldContainer[_cluster_state_pb2.FlavorLeafUsage]
    def __init__(self, id: _Optional[str] = ..., namespace: _Optional[str] = ..., name: _Optional[str] = ..., owner: _Optional[str] = ..., age_seconds: _Optional[int] = ..., seconds_left: _Optional[int] = ..., pods: _Optional[int] = ..., usage: _Optional[_Iterable[_Union[_cluster_state_pb2.FlavorLeafUsage, _Mapping]]] = ...) -> None: ...

class ListHoldsRequest(_message.Message):
    __slots__ = ("state_name", "usage")
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    usage: bool
    def __init__(self, state_name: _Optional[str] = ..., usage: bool = ...) -> None: ...

class ListHoldsResponse(_message.Message):
    __slots__ = ("state", "strings", "holds")
    STATE_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    strings: _containers.RepeatedScalarFieldContainer[str]
    holds: _containers.RepeatedCompositeFieldContainer[Hold]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., strings: _Optional[_Iterable[str]] = ..., holds: _Optional[_Iterable[_Union[Hold, _Mapping]]] = ...) -> None: ...

class ConfirmHoldsRequest(_message.Message):
    __slots__ = ("state_name", "ids", "update", "reported")
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FIELD_NUMBER: _ClassVar[int]
    REPORTED_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    ids: _containers.RepeatedScalarFieldContainer[str]
    update: _cluster_state_pb2.UpdateStateRequest
    reported: bool
    def __init__(self, state_name: _Optional[str] = ..., ids: _Optional[_Iterable[str]] = ..., update: _Optional[_Union[_cluster_state_pb2.UpdateStateRequest, _Mapping]] = ..., reported: bool = ...) -> None: ...

class ConfirmHoldsResponse(_message.Message):
    __slots__ = ("state", "broken_holds", "warnings")
    STATE_FIELD_NUMBER: _ClassVar[int]
    BROKEN_HOLDS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    broken_holds: _containers.RepeatedCompositeFieldContainer[_cluster_state_pb2.LostHold]
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., broken_holds: _Optional[_Iterable[_Union[_cluster_state_pb2.LostHold, _Mapping]]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class ReleaseHoldsRequest(_message.Message):
    __slots__ = ("state_name", "ids")
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, state_name: _Optional[str] = ..., ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ReleaseHoldsResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ...) -> None: ...

class ExtendHoldsRequest(_message.Message):
    __slots__ = ("state_name", "ids", "hold_seconds")
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    HOLD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    ids: _containers.RepeatedScalarFieldContainer[str]
    hold_seconds: int
    def __init__(self, state_name: _Optional[str] = ..., ids: _Optional[_Iterable[str]] = ..., hold_seconds: _Optional[int] = ...) -> None: ...

class ExtendHoldsResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ...) -> None: ...

class HoldProblems(_message.Message):
    __slots__ = ("problems", "count")
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    problems: _containers.RepeatedCompositeFieldContainer[HoldProblem]
    count: int
    def __init__(self, problems: _Optional[_Iterable[_Union[HoldProblem, _Mapping]]] = ..., count: _Optional[int] = ...) -> None: ...

class HoldProblem(_message.Message):
    __slots__ = ("id", "reason")
    ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    id: str
    reason: HoldProblemReason
    def __init__(self, id: _Optional[str] = ..., reason: _Optional[_Union[HoldProblemReason, str]] = ...) -> None: ...
