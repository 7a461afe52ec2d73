from espalier.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RequestLogFile(_message.Message):
    __slots__ = ("run", "number", "version", "commit", "feature_gates")
    RUN_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    run: str
    number: int
    version: str
    commit: str
    feature_gates: str
    def __init__(self, run: _Optional[str] = ..., number: _Optional[int] = ..., version: _Optional[str] = ..., commit: _Optional[str] = ..., feature_gates: _Optional[str] = ...) -> None: ...

class RequestLogPiece(_message.Message):
    __slots__ = ("call", "method", "time_ns", "kind", "code", "message", "details", "position", "kept")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[RequestLogPiece.Kind]
        KIND_REQUEST: _ClassVar[RequestLogPiece.Kind]
        KIND_ANSWER: _ClassVar[RequestLogPiece.Kind]
        KIND_END: _ClassVar[RequestLogPiece.Kind]
    KIND_UNSPECIFIED: RequestLogPiece.Kind
    KIND_REQUEST: RequestLogPiece.Kind
    KIND_ANSWER: RequestLogPiece.Kind
    KIND_END: RequestLogPiece.Kind
    CALL_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    TIME_NS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    call: int
    method: str
    time_ns: int
    kind: RequestLogPiece.Kind
    code: int
    message: str
    details: bytes
    position: _types_pb2.StatePosition
    kept: KeptStateEnd
    def __init__(self, call: _Optional[int] = ..., method: _Optional[str] = ..., time_ns: _Optional[int] = ..., kind: _Optional[_Union[RequestLogPiece.Kind, str]] = ..., code: _Optional[int] = ..., message: _Optional[str] = ..., details: _Optional[bytes] = ..., position: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., kept: _Optional[_Union[KeptStateEnd, _Mapping]] = ...) -> None: ...

class KeptStateEnd(_message.Message):
    __slots__ = ("checksum", "changed_ns")
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    CHANGED_NS_FIELD_NUMBER: _ClassVar[int]
    checksum: int
    changed_ns: int
    def __init__(self, checksum: _Optional[int] = ..., changed_ns: _Optional[int] = ...) -> None: ...
