from espalier.v1 import cluster_state_pb2 as _cluster_state_pb2
from espalier.v1 import objects_pb2 as _objects_pb2
from espalier.v1 import placement_pb2 as _placement_pb2
from espalier.v1 import types_pb2 as _types_pb2
from espalier.v1 import workload_pb2 as _workload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Victims(_message.Message):
    __slots__ = ("strings", "namespaces", "names", "usage")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    namespaces: _containers.RepeatedScalarFieldContainer[int]
    names: _containers.RepeatedScalarFieldContainer[int]
    usage: _containers.RepeatedCompositeFieldContainer[VictimUsage]
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., namespaces: _Optional[_Iterable[int]] = ..., names: _Optional[_Iterable[int]] = ..., usage: _Optional[_Iterable[_Union[VictimUsage, _Mapping]]] = ...) -> None: ...

class VictimUsage(_message.Message):
    __slots__ = ("victim", "usage", "priority")
    VICTIM_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    victim: int
    usage: _containers.RepeatedCompositeFieldContainer[_cluster_state_pb2.FlavorLeafUsage]
    priority: int
    def __init__(self, victim: _Optional[int] = ..., usage: _Optional[_Iterable[_Union[_cluster_state_pb2.FlavorLeafUsage, _Mapping]]] = ..., priority: _Optional[int] = ...) -> None: ...

class WhatIfRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "domain_naming", "workloads", "victims", "strings", "drained_nodes", "upserted_nodes", "question_workloads", "victim_offsets", "question_victims", "drained_offsets", "question_drained", "upserted_offsets", "question_upserted", "placements", "state_name", "empty_nodes")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_NAMING_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    VICTIMS_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    DRAINED_NODES_FIELD_NUMBER: _ClassVar[int]
    UPSERTED_NODES_FIELD_NUMBER: _ClassVar[int]
    QUESTION_WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    VICTIM_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    QUESTION_VICTIMS_FIELD_NUMBER: _ClassVar[int]
    DRAINED_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    QUESTION_DRAINED_FIELD_NUMBER: _ClassVar[int]
    UPSERTED_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    QUESTION_UPSERTED_FIELD_NUMBER: _ClassVar[int]
    PLACEMENTS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    EMPTY_NODES_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    domain_naming: _placement_pb2.DomainNaming
    workloads: _workload_pb2.WorkloadBatch
    victims: Victims
    strings: _containers.RepeatedScalarFieldContainer[str]
    drained_nodes: _containers.RepeatedScalarFieldContainer[int]
    upserted_nodes: _containers.RepeatedCompositeFieldContainer[_cluster_state_pb2.Node]
    question_workloads: _containers.RepeatedScalarFieldContainer[int]
    victim_offsets: _containers.RepeatedScalarFieldContainer[int]
    question_victims: _containers.RepeatedScalarFieldContainer[int]
    drained_offsets: _containers.RepeatedScalarFieldContainer[int]
    question_drained: _containers.RepeatedScalarFieldContainer[int]
    upserted_offsets: _containers.RepeatedScalarFieldContainer[int]
    question_upserted: _containers.RepeatedScalarFieldContainer[int]
    placements: bool
    state_name: str
    empty_nodes: bool
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., domain_naming: _Optional[_Union[_placement_pb2.DomainNaming, str]] = ..., workloads: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., victims: _Optional[_Union[Victims, _Mapping]] = ..., strings: _Optional[_Iterable[str]] = ..., drained_nodes: _Optional[_Iterable[int]] = ..., upserted_nodes: _Optional[_Iterable[_Union[_cluster_state_pb2.Node, _Mapping]]] = ..., question_workloads: _Optional[_Iterable[int]] = ..., victim_offsets: _Optional[_Iterable[int]] = ..., question_victims: _Optional[_Iterable[int]] = ..., drained_offsets: _Optional[_Iterable[int]] = ..., question_drained: _Optional[_Iterable[int]] = ..., upserted_offsets: _Optional[_Iterable[int]] = ..., question_upserted: _Optional[_Iterable[int]] = ..., placements: bool = ..., state_name: _Optional[str] = ..., empty_nodes: bool = ...) -> None: ...

class WhatIfResponse(_message.Message):
    __slots__ = ("state", "fits", "answers")
    STATE_FIELD_NUMBER: _ClassVar[int]
    FITS_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    fits: _containers.RepeatedScalarFieldContainer[bool]
    answers: _workload_pb2.AnswerBatch
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., fits: _Optional[_Iterable[bool]] = ..., answers: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ...) -> None: ...

class FindVictimsRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "domain_naming", "workloads", "victims", "victim_offsets", "workload_victims", "state_name", "drained_nodes", "strings", "upserted_nodes", "cheapest", "change")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_NAMING_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    VICTIMS_FIELD_NUMBER: _ClassVar[int]
    VICTIM_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_VICTIMS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    DRAINED_NODES_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    UPSERTED_NODES_FIELD_NUMBER: _ClassVar[int]
    CHEAPEST_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    domain_naming: _placement_pb2.DomainNaming
    workloads: _workload_pb2.WorkloadBatch
    victims: Victims
    victim_offsets: _containers.RepeatedScalarFieldContainer[int]
    workload_victims: _containers.RepeatedScalarFieldContainer[int]
    state_name: str
    drained_nodes: _containers.RepeatedScalarFieldContainer[str]
    strings: _containers.RepeatedScalarFieldContainer[str]
    upserted_nodes: _containers.RepeatedCompositeFieldContainer[_cluster_state_pb2.Node]
    cheapest: bool
    change: _cluster_state_pb2.UpdateStateRequest
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., domain_naming: _Optional[_Union[_placement_pb2.DomainNaming, str]] = ..., workloads: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., victims: _Optional[_Union[Victims, _Mapping]] = ..., victim_offsets: _Optional[_Iterable[int]] = ..., workload_victims: _Optional[_Iterable[int]] = ..., state_name: _Optional[str] = ..., drained_nodes: _Optional[_Iterable[str]] = ..., strings: _Optional[_Iterable[str]] = ..., upserted_nodes: _Optional[_Iterable[_Union[_cluster_state_pb2.Node, _Mapping]]] = ..., cheapest: bool = ..., change: _Optional[_Union[_cluster_state_pb2.UpdateStateRequest, _Mapping]] = ...) -> None: ...

class FindVictimsResponse(_message.Message):
    __slots__ = ("state", "workload", "fits", "prefix", "targets", "answers", "domains")
    STATE_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    FITS_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    workload: int
    fits: bool
    prefix: int
    targets: _containers.RepeatedScalarFieldContainer[int]
    answers: _workload_pb2.AnswerBatch
    domains: _containers.RepeatedCompositeFieldContainer[DomainVictims]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., workload: _Optional[int] = ..., fits: bool = ..., prefix: _Optional[int] = ..., targets: _Optional[_Iterable[int]] = ..., answers: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ..., domains: _Optional[_Iterable[_Union[DomainVictims, _Mapping]]] = ...) -> None: ...

class DomainVictims(_message.Message):
    __slots__ = ("flavor", "values", "sets", "exact")
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    SETS_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    flavor: str
    values: _containers.RepeatedScalarFieldContainer[str]
    sets: _containers.RepeatedCompositeFieldContainer[VictimSet]
    exact: bool
    def __init__(self, flavor: _Optional[str] = ..., values: _Optional[_Iterable[str]] = ..., sets: _Optional[_Iterable[_Union[VictimSet, _Mapping]]] = ..., exact: bool = ...) -> None: ...

class VictimSet(_message.Message):
    __slots__ = ("victims", "priority", "accelerators")
    VICTIMS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    ACCELERATORS_FIELD_NUMBER: _ClassVar[int]
    victims: _containers.RepeatedScalarFieldContainer[int]
    priority: int
    accelerators: int
    def __init__(self, victims: _Optional[_Iterable[int]] = ..., priority: _Optional[int] = ..., accelerators: _Optional[int] = ...) -> None: ...

class AtlasRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "workloads", "victims", "state_name", "drained_nodes", "change")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    VICTIMS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    DRAINED_NODES_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    workloads: _workload_pb2.WorkloadBatch
    victims: Victims
    state_name: str
    drained_nodes: _containers.RepeatedScalarFieldContainer[str]
    change: _cluster_state_pb2.UpdateStateRequest
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., workloads: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., victims: _Optional[_Union[Victims, _Mapping]] = ..., state_name: _Optional[str] = ..., drained_nodes: _Optional[_Iterable[str]] = ..., change: _Optional[_Union[_cluster_state_pb2.UpdateStateRequest, _Mapping]] = ...) -> None: ...

class AtlasResponse(_message.Message):
    __slots__ = ("state", "priorities", "levels", "rows")
    STATE_FIELD_NUMBER: _ClassVar[int]
    PRIORITIES_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    priorities: _containers.RepeatedScalarFieldContainer[int]
    levels: _containers.RepeatedCompositeFieldContainer[AtlasLevel]
    rows: _containers.RepeatedCompositeFieldContainer[AtlasRow]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., priorities: _Optional[_Iterable[int]] = ..., levels: _Optional[_Iterable[_Union[AtlasLevel, _Mapping]]] = ..., rows: _Optional[_Iterable[_Union[AtlasRow, _Mapping]]] = ...) -> None: ...

class AtlasLevel(_message.Message):
    __slots__ = ("flavor", "level", "domains", "values")
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    flavor: str
    level: str
    domains: int
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, flavor: _Optional[str] = ..., level: _Optional[str] = ..., domains: _Optional[int] = ..., values: _Optional[_Iterable[str]] = ...) -> None: ...

class AtlasRow(_message.Message):
    __slots__ = ("workloads", "level", "steps", "anywhere")
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    ANYWHERE_FIELD_NUMBER: _ClassVar[int]
    workloads: _containers.RepeatedScalarFieldContainer[int]
    level: int
    steps: _containers.RepeatedScalarFieldContainer[int]
    anywhere: int
    def __init__(self, workloads: _Optional[_Iterable[int]] = ..., level: _Optional[int] = ..., steps: _Optional[_Iterable[int]] = ..., anywhere: _Optional[int] = ...) -> None: ...

class CountGangsRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "shapes", "levels", "drained_nodes", "domains", "state_name", "all_domains", "change")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    SHAPES_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    DRAINED_NODES_FIELD_NUMBER: _ClassVar[int]
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    ALL_DOMAINS_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    shapes: _workload_pb2.WorkloadBatch
    levels: _containers.RepeatedScalarFieldContainer[str]
    drained_nodes: _containers.RepeatedScalarFieldContainer[str]
    domains: bool
    state_name: str
    all_domains: bool
    change: _cluster_state_pb2.UpdateStateRequest
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., shapes: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., levels: _Optional[_Iterable[str]] = ..., drained_nodes: _Optional[_Iterable[str]] = ..., domains: bool = ..., state_name: _Optional[str] = ..., all_domains: bool = ..., change: _Optional[_Union[_cluster_state_pb2.UpdateStateRequest, _Mapping]] = ...) -> None: ...

class CountGangsResponse(_message.Message):
    __slots__ = ("state", "shape", "failure", "levels")
    STATE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    shape: int
    failure: str
    levels: _containers.RepeatedCompositeFieldContainer[LevelCensus]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., shape: _Optional[int] = ..., failure: _Optional[str] = ..., levels: _Optional[_Iterable[_Union[LevelCensus, _Mapping]]] = ...) -> None: ...

class LevelCensus(_message.Message):
    __slots__ = ("level", "gangs", "values", "domain_gangs", "domain_pods")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    GANGS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_GANGS_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_PODS_FIELD_NUMBER: _ClassVar[int]
    level: str
    gangs: int
    values: _containers.RepeatedScalarFieldContainer[str]
    domain_gangs: _containers.RepeatedScalarFieldContainer[int]
    domain_pods: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, level: _Optional[str] = ..., gangs: _Optional[int] = ..., values: _Optional[_Iterable[str]] = ..., domain_gangs: _Optional[_Iterable[int]] = ..., domain_pods: _Optional[_Iterable[int]] = ...) -> None: ...

class ExplainRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "domain_naming", "workloads", "victims", "state_name")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_NAMING_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    VICTIMS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    domain_naming: _placement_pb2.DomainNaming
    workloads: _workload_pb2.WorkloadBatch
    victims: Victims
    state_name: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., domain_naming: _Optional[_Union[_placement_pb2.DomainNaming, str]] = ..., workloads: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., victims: _Optional[_Union[Victims, _Mapping]] = ..., state_name: _Optional[str] = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ("state", "workload", "fits", "answers", "never", "empty", "near_miss", "fewer_pods", "coarser_level", "anywhere", "repaired_nodes", "gone", "undecided", "repaired_together", "labelled", "slice_size", "lower_requests", "other_flavors", "without", "tolerated", "left_out")
    STATE_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    FITS_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    NEVER_FIELD_NUMBER: _ClassVar[int]
    EMPTY_FIELD_NUMBER: _ClassVar[int]
    NEAR_MISS_FIELD_NUMBER: _ClassVar[int]
    FEWER_PODS_FIELD_NUMBER: _ClassVar[int]
    COARSER_LEVEL_FIELD_NUMBER: _ClassVar[int]
    ANYWHERE_FIELD_NUMBER: _ClassVar[int]
    REPAIRED_NODES_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    UNDECIDED_FIELD_NUMBER: _ClassVar[int]
    REPAIRED_TOGETHER_FIELD_NUMBER: _ClassVar[int]
    LABELLED_FIELD_NUMBER: _ClassVar[int]
    SLICE_SIZE_FIELD_NUMBER: _ClassVar[int]
    LOWER_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    OTHER_FLAVORS_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_FIELD_NUMBER: _ClassVar[int]
    TOLERATED_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    workload: int
    fits: bool
    answers: _workload_pb2.AnswerBatch
    never: bool
    empty: _workload_pb2.AnswerBatch
    near_miss: NearMiss
    fewer_pods: int
    coarser_level: str
    anywhere: bool
    repaired_nodes: _containers.RepeatedScalarFieldContainer[str]
    gone: _containers.RepeatedCompositeFieldContainer[WorkloadName]
    undecided: bool
    repaired_together: _containers.RepeatedScalarFieldContainer[str]
    labelled: _containers.RepeatedCompositeFieldContainer[LabelledNodes]
    slice_size: int
    lower_requests: _containers.RepeatedCompositeFieldContainer[LowerRequest]
    other_flavors: _containers.RepeatedScalarFieldContainer[str]
    without: _containers.RepeatedScalarFieldContainer[str]
    tolerated: _containers.RepeatedScalarFieldContainer[str]
    left_out: _containers.RepeatedCompositeFieldContainer[LeftOutNodes]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., workload: _Optional[int] = ..., fits: bool = ..., answers: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ..., never: bool = ..., empty: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ..., near_miss: _Optional[_Union[NearMiss, _Mapping]] = ..., fewer_pods: _Optional[int] = ..., coarser_level: _Optional[str] = ..., anywhere: bool = ..., repaired_nodes: _Optional[_Iterable[str]] = ..., gone: _Optional[_Iterable[_Union[WorkloadName, _Mapping]]] = ..., undecided: bool = ..., repaired_together: _Optional[_Iterable[str]] = ..., labelled: _Optional[_Iterable[_Union[LabelledNodes, _Mapping]]] = ..., slice_size: _Optional[int] = ..., lower_requests: _Optional[_Iterable[_Union[LowerRequest, _Mapping]]] = ..., other_flavors: _Optional[_Iterable[str]] = ..., without: _Optional[_Iterable[str]] = ..., tolerated: _Optional[_Iterable[str]] = ..., left_out: _Optional[_Iterable[_Union[LeftOutNodes, _Mapping]]] = ...) -> None: ...

class LabelledNodes(_message.Message):
    __slots__ = ("label", "value", "nodes")
    LABEL_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    label: str
    value: str
    nodes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, label: _Optional[str] = ..., value: _Optional[str] = ..., nodes: _Optional[_Iterable[str]] = ...) -> None: ...

class LowerRequest(_message.Message):
    __slots__ = ("resource", "amount", "asked")
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    resource: str
    amount: int
    asked: int
    def __init__(self, resource: _Optional[str] = ..., amount: _Optional[int] = ..., asked: _Optional[int] = ...) -> None: ...

class LeftOutNodes(_message.Message):
    __slots__ = ("cause", "nodes")
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    cause: str
    nodes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, cause: _Optional[str] = ..., nodes: _Optional[_Iterable[str]] = ...) -> None: ...

class RuledOut(_message.Message):
    __slots__ = ("by", "nodes", "remedy")
    BY_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    REMEDY_FIELD_NUMBER: _ClassVar[int]
    by: str
    nodes: int
    remedy: str
    def __init__(self, by: _Optional[str] = ..., nodes: _Optional[int] = ..., remedy: _Optional[str] = ...) -> None: ...

class WorkloadName(_message.Message):
    __slots__ = ("namespace", "name")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    name: str
    def __init__(self, namespace: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class NearMiss(_message.Message):
    __slots__ = ("pod_set", "flavor", "level", "values", "fit", "pods", "nodes", "nodes_with_room", "nodes_not_matching", "binding", "ruled_out")
    POD_SET_FIELD_NUMBER: _ClassVar[int]
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    FIT_FIELD_NUMBER: _ClassVar[int]
    PODS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    NODES_WITH_ROOM_FIELD_NUMBER: _ClassVar[int]
    NODES_NOT_MATCHING_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    RULED_OUT_FIELD_NUMBER: _ClassVar[int]
    pod_set: str
    flavor: str
    level: str
    values: _containers.RepeatedScalarFieldContainer[str]
    fit: int
    pods: int
    nodes: int
    nodes_with_room: int
    nodes_not_matching: int
    binding: _containers.RepeatedCompositeFieldContainer[BindingResource]
    ruled_out: _containers.RepeatedCompositeFieldContainer[RuledOut]
    def __init__(self, pod_set: _Optional[str] = ..., flavor: _Optional[str] = ..., level: _Optional[str] = ..., values: _Optional[_Iterable[str]] = ..., fit: _Optional[int] = ..., pods: _Optional[int] = ..., nodes: _Optional[int] = ..., nodes_with_room: _Optional[int] = ..., nodes_not_matching: _Optional[int] = ..., binding: _Optional[_Iterable[_Union[BindingResource, _Mapping]]] = ..., ruled_out: _Optional[_Iterable[_Union[RuledOut, _Mapping]]] = ...) -> None: ...

class BindingResource(_message.Message):
    __slots__ = ("resource", "pods", "missing")
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    PODS_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    resource: str
    pods: int
    missing: int
    def __init__(self, resource: _Optional[str] = ..., pods: _Optional[int] = ..., missing: _Optional[int] = ...) -> None: ...

class ValidateRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "strings", "resources", "topology_requests", "node_constraints", "assignments", "workloads", "state_name")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    NODE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    strings: _containers.RepeatedScalarFieldContainer[str]
    resources: _containers.RepeatedCompositeFieldContainer[_types_pb2.ResourceVector]
    topology_requests: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyRequest]
    node_constraints: _containers.RepeatedCompositeFieldContainer[_types_pb2.NodeConstraints]
    assignments: _containers.RepeatedCompositeFieldContainer[_types_pb2.TopologyAssignment]
    workloads: _containers.RepeatedCompositeFieldContainer[_objects_pb2.Workload]
    state_name: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., strings: _Optional[_Iterable[str]] = ..., resources: _Optional[_Iterable[_Union[_types_pb2.ResourceVector, _Mapping]]] = ..., topology_requests: _Optional[_Iterable[_Union[_types_pb2.TopologyRequest, _Mapping]]] = ..., node_constraints: _Optional[_Iterable[_Union[_types_pb2.NodeConstraints, _Mapping]]] = ..., assignments: _Optional[_Iterable[_Union[_types_pb2.TopologyAssignment, _Mapping]]] = ..., workloads: _Optional[_Iterable[_Union[_objects_pb2.Workload, _Mapping]]] = ..., state_name: _Optional[str] = ...) -> None: ...

class ValidateResponse(_message.Message):
    __slots__ = ("state", "workloads", "faults")
    STATE_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    workloads: int
    faults: _containers.RepeatedCompositeFieldContainer[AssignmentFault]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., workloads: _Optional[int] = ..., faults: _Optional[_Iterable[_Union[AssignmentFault, _Mapping]]] = ...) -> None: ...

class AssignmentFault(_message.Message):
    __slots__ = ("workload", "pod_set", "problem")
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    POD_SET_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    workload: WorkloadName
    pod_set: str
    problem: str
    def __init__(self, workload: _Optional[_Union[WorkloadName, _Mapping]] = ..., pod_set: _Optional[str] = ..., problem: _Optional[str] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "domain_naming", "nodes", "workloads", "state_name")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_NAMING_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    domain_naming: _placement_pb2.DomainNaming
    nodes: _containers.RepeatedScalarFieldContainer[str]
    workloads: _workload_pb2.WorkloadBatch
    state_name: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., domain_naming: _Optional[_Union[_placement_pb2.DomainNaming, str]] = ..., nodes: _Optional[_Iterable[str]] = ..., workloads: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., state_name: _Optional[str] = ...) -> None: ...

class DrainResponse(_message.Message):
    __slots__ = ("state", "hits", "moved", "answers")
    STATE_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    MOVED_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    hits: _containers.RepeatedCompositeFieldContainer[HitWorkload]
    moved: _containers.RepeatedScalarFieldContainer[int]
    answers: _workload_pb2.AnswerBatch
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., hits: _Optional[_Iterable[_Union[HitWorkload, _Mapping]]] = ..., moved: _Optional[_Iterable[int]] = ..., answers: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ...) -> None: ...

class HitWorkload(_message.Message):
    __slots__ = ("workload", "priority", "pods", "pods_hit")
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    PODS_FIELD_NUMBER: _ClassVar[int]
    PODS_HIT_FIELD_NUMBER: _ClassVar[int]
    workload: WorkloadName
    priority: int
    pods: int
    pods_hit: int
    def __init__(self, workload: _Optional[_Union[WorkloadName, _Mapping]] = ..., priority: _Optional[int] = ..., pods: _Optional[int] = ..., pods_hit: _Optional[int] = ...) -> None: ...

class DefragmentRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "domain_naming", "level", "flavor", "most_moves", "workloads", "state_name")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_NAMING_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    MOST_MOVES_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    domain_naming: _placement_pb2.DomainNaming
    level: str
    flavor: str
    most_moves: int
    workloads: _workload_pb2.WorkloadBatch
    state_name: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., domain_naming: _Optional[_Union[_placement_pb2.DomainNaming, str]] = ..., level: _Optional[str] = ..., flavor: _Optional[str] = ..., most_moves: _Optional[int] = ..., workloads: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., state_name: _Optional[str] = ...) -> None: ...

class DefragmentResponse(_message.Message):
    __slots__ = ("state", "flavor", "domains", "free_already", "out_of_reach", "freed", "answers", "staying", "unknown")
    STATE_FIELD_NUMBER: _ClassVar[int]
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    FREE_ALREADY_FIELD_NUMBER: _ClassVar[int]
    OUT_OF_REACH_FIELD_NUMBER: _ClassVar[int]
    FREED_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    STAYING_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    flavor: str
    domains: int
    free_already: int
    out_of_reach: int
    freed: _containers.RepeatedCompositeFieldContainer[FreedDomain]
    answers: _workload_pb2.AnswerBatch
    staying: _containers.RepeatedCompositeFieldContainer[WorkloadName]
    unknown: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., flavor: _Optional[str] = ..., domains: _Optional[int] = ..., free_already: _Optional[int] = ..., out_of_reach: _Optional[int] = ..., freed: _Optional[_Iterable[_Union[FreedDomain, _Mapping]]] = ..., answers: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ..., staying: _Optional[_Iterable[_Union[WorkloadName, _Mapping]]] = ..., unknown: _Optional[_Iterable[int]] = ...) -> None: ...

class FreedDomain(_message.Message):
    __slots__ = ("values", "moves")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[str]
    moves: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, values: _Optional[_Iterable[str]] = ..., moves: _Optional[_Iterable[int]] = ...) -> None: ...

class ReplayRequest(_message.Message):
    __slots__ = ("state", "feature_gates", "domain_naming", "workloads", "strings", "chosen", "ended", "state_name")
    class FeatureGatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATES_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_NAMING_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    CHOSEN_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    STATE_NAME_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    feature_gates: _containers.ScalarMap[str, bool]
    domain_naming: _placement_pb2.DomainNaming
    workloads: _workload_pb2.WorkloadBatch
    strings: _containers.RepeatedScalarFieldContainer[str]
    chosen: _containers.RepeatedCompositeFieldContainer[ChosenPlace]
    ended: _containers.RepeatedCompositeFieldContainer[WorkloadName]
    state_name: str
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., feature_gates: _Optional[_Mapping[str, bool]] = ..., domain_naming: _Optional[_Union[_placement_pb2.DomainNaming, str]] = ..., workloads: _Optional[_Union[_workload_pb2.WorkloadBatch, _Mapping]] = ..., strings: _Optional[_Iterable[str]] = ..., chosen: _Optional[_Iterable[_Union[ChosenPlace, _Mapping]]] = ..., ended: _Optional[_Iterable[_Union[WorkloadName, _Mapping]]] = ..., state_name: _Optional[str] = ...) -> None: ...

class ChosenPlace(_message.Message):
    __slots__ = ("workload", "usage")
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    workload: int
    usage: _containers.RepeatedCompositeFieldContainer[_cluster_state_pb2.FlavorLeafUsage]
    def __init__(self, workload: _Optional[int] = ..., usage: _Optional[_Iterable[_Union[_cluster_state_pb2.FlavorLeafUsage, _Mapping]]] = ...) -> None: ...

class ReplayResponse(_message.Message):
    __slots__ = ("state", "workload", "answers")
    STATE_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    state: _types_pb2.StatePosition
    workload: int
    answers: _workload_pb2.AnswerBatch
    def __init__(self, state: _Optional[_Union[_types_pb2.StatePosition, _Mapping]] = ..., workload: _Optional[int] = ..., answers: _Optional[_Union[_workload_pb2.AnswerBatch, _Mapping]] = ...) -> None: ...
