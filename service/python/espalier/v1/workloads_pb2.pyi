from espalier.v1 import nested_pb2 as _nested_pb2
from espalier.v1 import placement_pb2 as _placement_pb2
from espalier.v1 import types_pb2 as _types_pb2
from espalier.v1 import workload_pb2 as _workload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ObjectOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OBJECT_OUTCOME_UNSPECIFIED: _ClassVar[ObjectOutcome]
    OBJECT_OUTCOME_PLACED: _ClassVar[ObjectOutcome]
    OBJECT_OUTCOME_NOT_PLACED: _ClassVar[ObjectOutcome]
    OBJECT_OUTCOME_NOTHING_TO_PLACE: _ClassVar[ObjectOutcome]
    OBJECT_OUTCOME_WAITING: _ClassVar[ObjectOutcome]
OBJECT_OUTCOME_UNSPECIFIED: ObjectOutcome
OBJECT_OUTCOME_PLACED: ObjectOutcome
OBJECT_OUTCOME_NOT_PLACED: ObjectOutcome
OBJECT_OUTCOME_NOTHING_TO_PLACE: ObjectOutcome
OBJECT_OUTCOME_WAITING: ObjectOutcome

class PlaceObjectsRequest(_message.Message):
    __slots__ = ("state", "mode", "feature_gates", "objects", "guess_flavor", "strict", "profile", "state_name", "commit", "commit_token")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    GUESS_FLAVOR_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    mode: _placement_pb2.PlacementMode
    feature_gates: _containers.ScalarMap[str, bool]
    objects: bytes
    guess_flavor: bool
    strict: bool
    profile: _nested_pb2.PlacementProfile
    state_name: str
    commit: bool
    commit_token: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., mode: _Optional[_Union[_placement_pb2.PlacementMode, str]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., objects: _Optional[bytes] = ..., guess_flavor: bool = ..., strict: bool = ..., profile: _Optional[_Union[_nested_pb2.PlacementProfile, str]] = ..., state_name: _Optional[str] = ..., commit: bool = ..., commit_token: _Optional[str] = ...) -> None: ...

class PlaceObjectsResponse(_message.Message):
    __slots__ = ("state", "workloads", "answers", "warnings", "notes", "nested", "committed")
    STATE_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    NESTED_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    workloads: _containers.RepeatedCompositeFieldContainer[ObjectWorkload]
    answers: _workload_pb2.AnswerBatch
    warnings: _containers.RepeatedScalarFieldContainer[str]
    notes: _containers.RepeatedScalarFieldContainer[str]
    nested: _nested_pb2.NestedAnswerBatch
    committed: _types_pb2.StatePosition
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., workloads: _Optional[_Iterable[_Union[ObjectWorkload, _Mapping]]] = ..., answers: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ..., notes: _Optional[_Iterable[str]] = ..., nested: _Optional[_Union[_nested_pb2.NestedAnswerBatch, _Mapping]] = ..., committed: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ...) -> None: ...

class ObjectWorkload(_message.Message):
    __slots__ = ("namespace", "name", "outcome", "reason", "pod_sets", "verdict", "is_nested", "not_honoured")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    POD_SETS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    IS_NESTED_FIELD_NUMBER: _ClassVar[int]
    NOT_HONOURED_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    name: str
    outcome: ObjectOutcome
    reason: str
    pod_sets: _containers.RepeatedCompositeFieldContainer[ObjectPodSet]
    verdict: _nested_pb2.NestedStatus
    is_nested: bool
    not_honoured: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, namespace: _Optional[str] = ..., name: _Optional[str] = ..., outcome: _Optional[_Union[ObjectOutcome, str]] = ..., reason: _Optional[str] = ..., pod_sets: _Optional[_Iterable[_Union[ObjectPodSet, _Mapping]]] = ..., verdict: _Optional[_Union[_nested_pb2.NestedStatus, str]] = ..., is_nested: bool = ..., not_honoured: _Optional[_Iterable[str]] = ...) -> None: ...

class ObjectPodSet(_message.Message):
    __slots__ = ("name", "flavor", "count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    flavor: str
    count: int
    def __init__(self, name: _Optional[str] = ..., flavor: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class PlaceNestedRequest(_message.Message):
    __slots__ = ("state", "mode", "feature_gates", "profile", "nested", "flat", "is_nested", "state_name", "commit", "commit_token")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    NESTED_FIELD_NUMBER: _ClassVar[int]
    FLAT_FIELD_NUMBER: _ClassVar[int]
    IS_NESTED_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    mode: _placement_pb2.PlacementMode
    feature_gates: _containers.ScalarMap[str, bool]
    profile: _nested_pb2.PlacementProfile
    nested: _nested_pb2.NestedBatch
    flat: _workload_pb2.WorkloadBatch
    is_nested: _containers.RepeatedScalarFieldContainer[bool]
    state_name: str
    commit: bool
    commit_token: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., mode: _Optional[_Union[_placement_pb2.PlacementMode, str]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., profile: _Optional[_Union[_nested_pb2.PlacementProfile, str]] = ..., nested: _Optional[_Union[_nested_pb2.NestedBatch, _Mapping]] = ..., flat: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., is_nested: _Optional[_Iterable[bool]] = ..., state_name: _Optional[str] = ..., commit: bool = ..., commit_token: _Optional[str] = ...) -> None: ...

class PlaceNestedResponse(_message.Message):
    __slots__ = ("state", "nested", "flat", "committed")
    STATE_FIELD_NUMBER: _ClassVar[int]
    NESTED_FIELD_NUMBER: _ClassVar[int]
    FLAT_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    nested: _nested_pb2.NestedAnswerBatch
    flat: _workload_pb2.AnswerBatch
    committed: _types_pb2.StatePosition
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., nested: _Optional[_Union[_nested_pb2.NestedAnswerBatch, _Mapping]] = ..., flat: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ..., committed: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ...) -> None: ...
