from espalier.v1 import state_dir_pb2 as _state_dir_pb2
from espalier.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ServerInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ServerInfoResponse(_message.Message):
    __slots__ = ("version", "commit", "backend", "started_ms", "addresses", "metrics_address", "limits")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    STARTED_MS_FIELD_NUMBER: _ClassVar[int]
    ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    METRICS_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    version: str
    commit: str
    backend: str
    started_ms: int
    addresses: _containers.RepeatedScalarFieldContainer[str]
    metrics_address: str
    limits: ServerLimits
    def __init__(self, version: _Optional[str] = ..., commit: _Optional[str] = ..., backend: _Optional[str] = ..., started_ms: _Optional[int] = ..., addresses: _Optional[_Iterable[str]] = ..., metrics_address: _Optional[str] = ..., limits: _Optional[_Union[ServerLimits, _Mapping]] = ...) -> None: ...

class ServerLimits(_message.Message):
    __slots__ = ("memory_bytes", "connection_memory_bytes", "call_memory_bytes", "message_bytes", "calls", "queued_calls", "named_states", "idle_ms")
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    CONNECTION_MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    CALL_MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_CALLS_FIELD_NUMBER: _ClassVar[int]
    NAMED_STATES_FIELD_NUMBER: _ClassVar[int]
    IDLE_MS_FIELD_NUMBER: _ClassVar[int]
    memory_bytes: int
    connection_memory_bytes: int
    call_memory_bytes: int
    message_bytes: int
    calls: int
    queued_calls: int
    named_states: int
    idle_ms: int
    def __init__(self, memory_bytes: _Optional[int] = ..., connection_memory_bytes: _Optional[int] = ..., call_memory_bytes: _Optional[int] = ..., message_bytes: _Optional[int] = ..., calls: _Optional[int] = ..., queued_calls: _Optional[int] = ..., named_states: _Optional[int] = ..., idle_ms: _Optional[int] = ...) -> None: ...

class ServerStatusRequest(_message.Message):
    __slots__ = ("with_use",)
    WITH_USE_FIELD_NUMBER: _ClassVar[int]
    with_use: bool
    def __init__(self, with_use: bool = ...) -> None: ...

class ServerStatusResponse(_message.Message):
    __slots__ = ("now_ms", "states", "calls_under_way", "calls_waiting", "memory_held_bytes", "device", "refusals", "tls", "access", "state_dir")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    CALLS_UNDER_WAY_FIELD_NUMBER: _ClassVar[int]
    CALLS_WAITING_FIELD_NUMBER: _ClassVar[int]
    MEMORY_HELD_BYTES_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    REFUSALS_FIELD_NUMBER: _ClassVar[int]
    TLS_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    STATE_DIR_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    states: _containers.RepeatedCompositeFieldContainer[StateStatus]
    calls_under_way: int
    calls_waiting: int
    memory_held_bytes: int
    device: DeviceState
    refusals: _containers.RepeatedCompositeFieldContainer[Refusals]
    tls: TlsState
    access: AccessState
    state_dir: _state_dir_pb2.StateDirStatus
    def __init__(self, now_ms: _Optional[int] = ..., states: _Optional[_Iterable[_Union[StateStatus, _Mapping]]] = ..., calls_under_way: _Optional[int] = ..., calls_waiting: _Optional[int] = ..., memory_held_bytes: _Optional[int] = ..., device: _Optional[_Union[DeviceState, _Mapping]] = ..., refusals: _Optional[_Iterable[_Union[Refusals, _Mapping]]] = ..., tls: _Optional[_Union[TlsState, _Mapping]] = ..., access: _Optional[_Union[AccessState, _Mapping]] = ..., state_dir: _Optional[_Union[_state_dir_pb2.StateDirStatus, _Mapping]] = ...) -> None: ...

class StateStatus(_message.Message):
    __slots__ = ("state_name", "state", "checksum", "changed_ms", "nodes", "workloads", "warm_shapes", "flavors", "holds")
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    CHANGED_MS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    WARM_SHAPES_FIELD_NUMBER: _ClassVar[int]
    FLAVORS_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    state: _types_pb2.StatePosition
    checksum: int
    changed_ms: int
    nodes: int
    workloads: int
    warm_shapes: int
    flavors: _containers.RepeatedCompositeFieldContainer[FlavorUse]
    holds: int
    def __init__(self, state_name: _Optional[str] = ..., state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., checksum: _Optional[int] = ..., changed_ms: _Optional[int] = ..., nodes: _Optional[int] = ..., workloads: _Optional[int] = ..., warm_shapes: _Optional[int] = ..., flavors: _Optional[_Iterable[_Union[FlavorUse, _Mapping]]] = ..., holds: _Optional[int] = ...) -> None: ...

class FlavorUse(_message.Message):
    __slots__ = ("name", "nodes", "resources", "levels")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    name: str
    nodes: int
    resources: _containers.RepeatedCompositeFieldContainer[ResourceUse]
    levels: _containers.RepeatedCompositeFieldContainer[LevelUse]
    def __init__(self, name: _Optional[str] = ..., nodes: _Optional[int] = ..., resources: _Optional[_Iterable[_Union[ResourceUse, _Mapping]]] = ..., levels: _Optional[_Iterable[_Union[LevelUse, _Mapping]]] = ...) -> None: ...

class ResourceUse(_message.Message):
    __slots__ = ("resource", "capacity", "used")
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    resource: str
    capacity: int
    used: int
    def __init__(self, resource: _Optional[str] = ..., capacity: _Optional[int] = ..., used: _Optional[int] = ...) -> None: ...

class LevelUse(_message.Message):
    __slots__ = ("level", "domains", "unused_domains", "most_free")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    UNUSED_DOMAINS_FIELD_NUMBER: _ClassVar[int]
    MOST_FREE_FIELD_NUMBER: _ClassVar[int]
    level: str
    domains: int
    unused_domains: int
    most_free: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, level: _Optional[str] = ..., domains: _Optional[int] = ..., unused_domains: _Optional[int] = ..., most_free: _Optional[_Iterable[int]] = ...) -> None: ...

class DeviceState(_message.Message):
    __slots__ = ("name", "ready", "faults", "last_fault")
    NAME_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    LAST_FAULT_FIELD_NUMBER: _ClassVar[int]
    name: str
    ready: bool
    faults: int
    last_fault: str
    def __init__(self, name: _Optional[str] = ..., ready: bool = ..., faults: _Optional[int] = ..., last_fault: _Optional[str] = ...) -> None: ...

class Refusals(_message.Message):
    __slots__ = ("cause", "calls", "last")
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    cause: str
    calls: int
    last: RefusedCall
    def __init__(self, cause: _Optional[str] = ..., calls: _Optional[int] = ..., last: _Optional[_Union[RefusedCall, _Mapping]] = ...) -> None: ...

class RefusedCall(_message.Message):
    __slots__ = ("call", "method", "time_ms", "message")
    CALL_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    TIME_MS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    call: int
    method: str
    time_ms: int
    message: str
    def __init__(self, call: _Optional[int] = ..., method: _Optional[str] = ..., time_ms: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class TlsState(_message.Message):
    __slots__ = ("expires_ms", "client_ca_expires_ms", "reloads", "failed_reloads", "error")
    EXPIRES_MS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_CA_EXPIRES_MS_FIELD_NUMBER: _ClassVar[int]
    RELOADS_FIELD_NUMBER: _ClassVar[int]
    FAILED_RELOADS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    expires_ms: int
    client_ca_expires_ms: int
    reloads: int
    failed_reloads: int
    error: str
    def __init__(self, expires_ms: _Optional[int] = ..., client_ca_expires_ms: _Optional[int] = ..., reloads: _Optional[int] = ..., failed_reloads: _Optional[int] = ..., error: _Optional[str] = ...) -> None: ...

class AccessState(_message.Message):
    __slots__ = ("has_file", "rules", "reloads", "failed_reloads", "error", "denied_calls")
    HAS_FILE_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    RELOADS_FIELD_NUMBER: _ClassVar[int]
    FAILED_RELOADS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DENIED_CALLS_FIELD_NUMBER: _ClassVar[int]
    has_file: bool
    rules: int
    reloads: int
    failed_reloads: int
    error: str
    denied_calls: int
    def __init__(self, has_file: bool = ..., rules: _Optional[int] = ..., reloads: _Optional[int] = ..., failed_reloads: _Optional[int] = ..., error: _Optional[str] = ..., denied_calls: _Optional[int] = ...) -> None: ...
