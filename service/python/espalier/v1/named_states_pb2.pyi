from espalier.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListStatesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListStatesResponse(_message.Message):
    __slots__ = ("states",)
    STATES_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedCompositeFieldContainer[NamedState]
    def __init__(self, states: _Optional[_Iterable[_Union[NamedState, _Mapping]]] = ...) -> None: ...

class NamedState(_message.Message):
    __slots__ = ("state_name", "state", "nodes")
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    state: _types_pb2.StatePosition
    nodes: int
    def __init__(self, state_name: _Optional[str] = ..., state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., nodes: _Optional[int] = ...) -> None: ...

class UnloadStateRequest(_message.Message):
    __slots__ = ("state_name",)
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    state_name: str
    def __init__(self, state_name: _Optional[str] = ...) -> None: ...

class UnloadStateResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
