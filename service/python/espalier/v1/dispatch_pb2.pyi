from espalier.v1 import types_pb2 as _types_pb2
from espalier.v1 import workload_pb2 as _workload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FitStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FIT_STATUS_UNSPECIFIED: _ClassVar[FitStatus]
    FIT_STATUS_FITS: _ClassVar[FitStatus]
    FIT_STATUS_UNKNOWN: _ClassVar[FitStatus]
    FIT_STATUS_DOES_NOT_FIT: _ClassVar[FitStatus]
FIT_STATUS_UNSPECIFIED: FitStatus
FIT_STATUS_FITS: FitStatus
FIT_STATUS_UNKNOWN: FitStatus
FIT_STATUS_DOES_NOT_FIT: FitStatus

class DispatchRequest(_message.Message):
    __slots__ = ("states", "feature_gates", "workloads")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATES_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedCompositeFieldContainer[DispatchState]
    feature_gates: _containers.ScalarMap[str, bool]
    workloads: _workload_pb2.WorkloadBatch
    def __init__(self, states: _Optional[_Iterable[_Union[DispatchState, _Mapping]]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., workloads: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ...) -> None: ...

class DispatchState(_message.Message):
    __slots__ = ("state_name", "state")
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    state: _types_pb2.StatePosition
    def __init__(self, state_name: _Optional[str] = ..., state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ...) -> None: ...

class DispatchResponse(_message.Message):
    __slots__ = ("strings", "states", "workloads")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    states: _containers.RepeatedCompositeFieldContainer[DispatchState]
    workloads: _containers.RepeatedCompositeFieldContainer[WorkloadFits]
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., states: _Optional[_Iterable[_Union[DispatchState, _Mapping]]] = ..., workloads: _Optional[_Iterable[_Union[WorkloadFits, _Mapping]]] = ...) -> None: ...

class WorkloadFits(_message.Message):
    __slots__ = ("fits",)
    FITS_FIELD_NUMBER: _ClassVar[int]
    fits: _containers.RepeatedCompositeFieldContainer[StateFit]
    def __init__(self, fits: _Optional[_Iterable[_Union[StateFit, _Mapping]]] = ...) -> None: ...

class StateFit(_message.Message):
    __slots__ = ("state", "status", "reason", "pod_sets")
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    POD_SETS_FIELD_NUMBER: _ClassVar[int]
    state: int
    status: FitStatus
    reason: int
    pod_sets: _containers.RepeatedCompositeFieldContainer[PodSetFit]
    def __init__(self, state: _Optional[int] = ..., status: _Optional[_Union[FitStatus, str]] = ..., reason: _Optional[int] = ..., pod_sets: _Optional[_Iterable[_Union[PodSetFit, _Mapping]]] = ...) -> None: ...

class PodSetFit(_message.Message):
    __slots__ = ("level", "domains", "left_over")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OVER_FIELD_NUMBER: _ClassVar[int]
    level: int
    domains: int
    left_over: int
    def __init__(self, level: _Optional[int] = ..., domains: _Optional[int] = ..., left_over: _Optional[int] = ...) -> None: ...
