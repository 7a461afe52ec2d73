from espalier.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StateDirStatus(_message.Message):
    __slots__ = ("folder", "kept", "ignored", "failure")
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    IGNORED_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    folder: str
    kept: _containers.RepeatedCompositeFieldContainer[KeptState]
    ignored: _containers.RepeatedCompositeFieldContainer[IgnoredStateFile]
    failure: str
    def __init__(self, folder: _Optional[str] = ..., kept: _Optional[_Iterable[_Union[KeptState, _Mapping]]] = ..., ignored: _Optional[_Iterable[_Union[IgnoredStateFile, _Mapping]]] = ..., failure: _Optional[str] = ...) -> None: ...

class KeptState(_message.Message):
    __slots__ = ("state_name", "state", "written_ms", "bytes")
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_MS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    state: _types_pb2.StatePosition
    written_ms: int
    bytes: int
    def __init__(self, state_name: _Optional[str] = ..., state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., written_ms: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class IgnoredStateFile(_message.Message):
    __slots__ = ("path", "why")
    PATH_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    path: str
    why: str
    def __init__(self, path: _Optional[str] = ..., why: _Optional[str] = ...) -> None: ...
