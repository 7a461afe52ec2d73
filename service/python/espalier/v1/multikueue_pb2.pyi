from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlanFlowRequest(_message.Message):
    __slots__ = ("manager", "worker", "worker_name", "job", "counts", "feature_gates", "workers")
    class CountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    MANAGER_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    WORKER_NAME_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    manager: bytes
    worker: bytes
    worker_name: str
    job: str
    counts: _containers.ScalarMap[str, int]
    feature_gates: _containers.ScalarMap[str, bool]
    workers: _containers.RepeatedCompositeFieldContainer[FlowWorker]
    def __init__(self, manager: _Optional[bytes] = ..., worker: _Optional[bytes] = ..., worker_name: _Optional[str] = ..., job: _Optional[str] = ..., counts: _Optional[_Mapping[str, int]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., workers: _Optional[_Iterable[_Union[FlowWorker, _Mapping]]] = ...) -> None: ...

class FlowWorker(_message.Message):
    __slots__ = ("name", "objects")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    objects: bytes
    def __init__(self, name: _Optional[str] = ..., objects: _Optional[bytes] = ...) -> None: ...

class PlanFlowResponse(_message.Message):
    __slots__ = ("steps", "notes")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    steps: _containers.RepeatedCompositeFieldContainer[FlowStep]
    notes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, steps: _Optional[_Iterable[_Union[FlowStep, _Mapping]]] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class FlowStep(_message.Message):
    __slots__ = ("at", "event", "decision", "writes", "in_sync", "suspended", "runs")
    class RunsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    AT_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    WRITES_FIELD_NUMBER: _ClassVar[int]
    IN_SYNC_FIELD_NUMBER: _ClassVar[int]
    SUSPENDED_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    at: str
    event: str
    decision: str
    writes: _containers.RepeatedCompositeFieldContainer[FlowWrite]
    in_sync: bool
    suspended: bool
    runs: _containers.ScalarMap[str, int]
    def __init__(self, at: _Optional[str] = ..., event: _Optional[str] = ..., decision: _Optional[str] = ..., writes: _Optional[_Iterable[_Union[FlowWrite, _Mapping]]] = ..., in_sync: bool = ..., suspended: bool = ..., runs: _Optional[_Mapping[str, int]] = ...) -> None: ...

class FlowWrite(_message.Message):
    __slots__ = ("cluster", "kind", "namespace", "name", "field", "value")
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    cluster: str
    kind: str
    namespace: str
    name: str
    field: str
    value: str
    def __init__(self, cluster: _Optional[str] = ..., kind: _Optional[str] = ..., namespace: _Optional[str] = ..., name: _Optional[str] = ..., field: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
