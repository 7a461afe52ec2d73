from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StatePosition(_message.Message):
    __slots__ = ("epoch", "generation")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    generation: int
    def __init__(self, epoch: _Optional[int] = ..., generation: _Optional[int] = ...) -> None: ...

class StringMap(_message.Message):
    __slots__ = ("keys", "values")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedScalarFieldContainer[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, keys: _Optional[_Iterable[int]] = ..., values: _Optional[_Iterable[int]] = ...) -> None: ...

class ResourceVector(_message.Message):
    __slots__ = ("names", "amounts")
    NAMES_FIELD_NUMBER: _ClassVar[int]
    AMOUNTS_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[int]
    amounts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, names: _Optional[_Iterable[int]] = ..., amounts: _Optional[_Iterable[int]] = ...) -> None: ...

class Taint(_message.Message):
    __slots__ = ("key", "value", "effect")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    key: int
    value: int
    effect: int
    def __init__(self, key: _Optional[int] = ..., value: _Optional[int] = ..., effect: _Optional[int] = ...) -> None: ...

class Toleration(_message.Message):
    __slots__ = ("key", "operation", "value", "effect")
    KEY_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    key: int
    operation: int
    value: int
    effect: int
    def __init__(self, key: _Optional[int] = ..., operation: _Optional[int] = ..., value: _Optional[int] = ..., effect: _Optional[int] = ...) -> None: ...

class NodeSelectorRequirement(_message.Message):
    __slots__ = ("key", "operation", "values")
    KEY_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    key: int
    operation: int
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, key: _Optional[int] = ..., operation: _Optional[int] = ..., values: _Optional[_Iterable[int]] = ...) -> None: ...

class NodeSelectorTerm(_message.Message):
    __slots__ = ("match_expressions", "match_fields")
    MATCH_EXPRESSIONS_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELDS_FIELD_NUMBER: _ClassVar[int]
    match_expressions: _containers.RepeatedCompositeFieldContainer[NodeSelectorRequirement]
    match_fields: _containers.RepeatedCompositeFieldContainer[NodeSelectorRequirement]
    def __init__(self, match_expressions: _Optional[_Iterable[_Union[NodeSelectorRequirement, _Mapping]]] = ..., match_fields: _Optional[_Iterable[_Union[NodeSelectorRequirement, _Mapping]]] = ...) -> None: ...

class NodeSelector(_message.Message):
    __slots__ = ("terms",)
    TERMS_FIELD_NUMBER: _ClassVar[int]
    terms: _containers.RepeatedCompositeFieldContainer[NodeSelectorTerm]
    def __init__(self, terms: _Optional[_Iterable[_Union[NodeSelectorTerm, _Mapping]]] = ...) -> None: ...

class PreferredSchedulingTerm(_message.Message):
    __slots__ = ("weight", "preference")
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    PREFERENCE_FIELD_NUMBER: _ClassVar[int]
    weight: int
    preference: NodeSelectorTerm
    def __init__(self, weight: _Optional[int] = ..., preference: _Optional[_Union[NodeSelectorTerm, _Mapping]] = ...) -> None: ...

class NodeConstraints(_message.Message):
    __slots__ = ("node_selector", "tolerations", "required_affinity", "preferred_affinity")
    NODE_SELECTOR_FIELD_NUMBER: _ClassVar[int]
    TOLERATIONS_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_AFFINITY_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_AFFINITY_FIELD_NUMBER: _ClassVar[int]
    node_selector: StringMap
    tolerations: _containers.RepeatedCompositeFieldContainer[Toleration]
    required_affinity: NodeSelector
    preferred_affinity: _containers.RepeatedCompositeFieldContainer[PreferredSchedulingTerm]
    def __init__(self, node_selector: _Optional[_Union[StringMap, _Mapping]] = ..., tolerations: _Optional[_Iterable[_Union[Toleration, _Mapping]]] = ..., required_affinity: _Optional[_Union[NodeSelector, _Mapping]] = ..., preferred_affinity: _Optional[_Iterable[_Union[PreferredSchedulingTerm, _Mapping]]] = ...) -> None: ...

class SliceConstraint(_message.Message):
    __slots__ = ("topology", "size")
    TOPOLOGY_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    topology: int
    size: int
    def __init__(self, topology: _Optional[int] = ..., size: _Optional[int] = ...) -> None: ...

class TopologyRequest(_message.Message):
    __slots__ = ("required", "preferred", "unconstrained", "slice_topology", "slice_size", "slice_constraints", "pod_set_group_name", "pod_index_label", "sub_group_index_label", "sub_group_count")
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_FIELD_NUMBER: _ClassVar[int]
    UNCONSTRAINED_FIELD_NUMBER: _ClassVar[int]
    SLICE_TOPOLOGY_FIELD_NUMBER: _ClassVar[int]
    SLICE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SLICE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    POD_SET_GROUP_NAME_FIELD_NUMBER: _ClassVar[int]
    POD_INDEX_LABEL_FIELD_NUMBER: _ClassVar[int]
    SUB_GROUP_INDEX_LABEL_FIELD_NUMBER: _ClassVar[int]
    SUB_GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    required: int
    preferred: int
    unconstrained: bool
    slice_topology: int
    slice_size: int
    slice_constraints: _containers.RepeatedCompositeFieldContainer[SliceConstraint]
    pod_set_group_name: int
    pod_index_label: int
    sub_group_index_label: int
    sub_group_count: int
    def __init__(self, required: _Optional[int] = ..., preferred: _Optional[int] = ..., unconstrained: bool = ..., slice_topology: _Optional[int] = ..., slice_size: _Optional[int] = ..., slice_constraints: _Optional[_Iterable[_Union[SliceConstraint, _Mapping]]] = ..., pod_set_group_name: _Optional[int] = ..., pod_index_label: _Optional[int] = ..., sub_group_index_label: _Optional[int] = ..., sub_group_count: _Optional[int] = ...) -> None: ...

class TopologyAssignment(_message.Message):
    __slots__ = ("levels", "values", "counts")
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    levels: _containers.RepeatedScalarFieldContainer[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    counts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, levels: _Optional[_Iterable[int]] = ..., values: _Optional[_Iterable[int]] = ..., counts: _Optional[_Iterable[int]] = ...) -> None: ...
