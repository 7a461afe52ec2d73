from espalier.v1 import types_pb2 as _types_pb2
from espalier.v1 import workload_pb2 as _workload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Workload(_message.Message):
    __slots__ = ("namespace", "name", "uid", "annotations", "owners", "creation_seconds", "priority", "queue_name", "deactivated", "pod_sets", "admission", "conditions", "unhealthy_nodes", "reclaimable_pods", "admission_checks", "requeue_at_seconds", "resources_error")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    OWNERS_FIELD_NUMBER: _ClassVar[int]
    CREATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    QUEUE_NAME_FIELD_NUMBER: _ClassVar[int]
    DEACTIVATED_FIELD_NUMBER: _ClassVar[int]
    POD_SETS_FIELD_NUMBER: _ClassVar[int]
    ADMISSION_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    UNHEALTHY_NODES_FIELD_NUMBER: _ClassVar[int]
    RECLAIMABLE_PODS_FIELD_NUMBER: _ClassVar[int]
    ADMISSION_CHECKS_FIELD_NUMBER: _ClassVar[int]
    REQUEUE_AT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_ERROR_FIELD_NUMBER: _ClassVar[int]
    namespace: int
    name: int
    uid: int
    annotations: _types_pb2.StringMap
    owners: _containers.RepeatedCompositeFieldContainer[OwnerReference]
    creation_seconds: int
    priority: int
    queue_name: int
    deactivated: bool
    pod_sets: _containers.RepeatedCompositeFieldContainer[PodSet]
    admission: Admission
    conditions: _containers.RepeatedCompositeFieldContainer[Condition]
    unhealthy_nodes: _containers.RepeatedScalarFieldContainer[int]
    reclaimable_pods: _containers.RepeatedCompositeFieldContainer[ReclaimablePod]
    admission_checks: _containers.RepeatedCompositeFieldContainer[AdmissionCheckState]
    requeue_at_seconds: int
    resources_error: int
    def __init__(self, namespace: _Optional[int] = ..., name: _Optional[int] = ..., uid: _Optional[int] = ..., annotations: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., owners: _Optional[_Iterable[_Union[OwnerReference, _Mapping]]] = ..., creation_seconds: _Optional[int] = ..., priority: _Optional[int] = ..., queue_name: _Optional[int] = ..., deactivated: bool = ..., pod_sets: _Optional[_Iterable[_Union[PodSet, _Mapping]]] = ..., admission: _Optional[_Union[Admission, _Mapping]] = ..., conditions: _Optional[_Iterable[_Union[Condition, _Mapping]]] = ..., unhealthy_nodes: _Optional[_Iterable[int]] = ..., reclaimable_pods: _Optional[_Iterable[_Union[ReclaimablePod, _Mapping]]] = ..., admission_checks: _Optional[_Iterable[_Union[AdmissionCheckState, _Mapping]]] = ..., requeue_at_seconds: _Optional[int] = ..., resources_error: _Optional[int] = ...) -> None: ...

class OwnerReference(_message.Message):
    __slots__ = ("api_version", "kind", "name", "uid", "controller")
    API_VERSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    CONTROLLER_FIELD_NUMBER: _ClassVar[int]
    api_version: int
    kind: int
    name: int
    uid: int
    controller: bool
    def __init__(self, api_version: _Optional[int] = ..., kind: _Optional[int] = ..., name: _Optional[int] = ..., uid: _Optional[int] = ..., controller: bool = ...) -> None: ...

class PodSet(_message.Message):
    __slots__ = ("name", "count", "min_count", "topology_request", "requests", "node_constraints", "labels", "annotations", "devices", "device_backed")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_REQUEST_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    NODE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    DEVICE_BACKED_FIELD_NUMBER: _ClassVar[int]
    name: int
    count: int
    min_count: int
    topology_request: int
    requests: int
    node_constraints: int
    labels: _types_pb2.StringMap
    annotations: _types_pb2.StringMap
    devices: int
    device_backed: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[int] = ..., count: _Optional[int] = ..., min_count: _Optional[int] = ..., topology_request: _Optional[int] = ..., requests: _Optional[int] = ..., node_constraints: _Optional[int] = ..., labels: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., annotations: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., devices: _Optional[int] = ..., device_backed: _Optional[_Iterable[int]] = ...) -> None: ...

class Admission(_message.Message):
    __slots__ = ("cluster_queue", "pod_set_assignments")
    CLUSTER_QUEUE_FIELD_NUMBER: _ClassVar[int]
    POD_SET_ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    cluster_queue: int
    pod_set_assignments: _containers.RepeatedCompositeFieldContainer[_workload_pb2.AdmittedPodSet]
    def __init__(self, cluster_queue: _Optional[int] = ..., pod_set_assignments: _Optional[_Iterable[_Union[_workload_pb2.AdmittedPodSet, _Mapping]]] = ...) -> None: ...

class Condition(_message.Message):
    __slots__ = ("type", "status", "reason", "since_seconds")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SINCE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    type: int
    status: int
    reason: int
    since_seconds: int
    def __init__(self, type: _Optional[int] = ..., status: _Optional[int] = ..., reason: _Optional[int] = ..., since_seconds: _Optional[int] = ...) -> None: ...

class ReclaimablePod(_message.Message):
    __slots__ = ("name", "count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    name: int
    count: int
    def __init__(self, name: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class AdmissionCheckState(_message.Message):
    __slots__ = ("name", "state", "pod_set_updates")
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    POD_SET_UPDATES_FIELD_NUMBER: _ClassVar[int]
    name: int
    state: int
    pod_set_updates: _containers.RepeatedCompositeFieldContainer[_workload_pb2.PodSetUpdate]
    def __init__(self, name: _Optional[int] = ..., state: _Optional[int] = ..., pod_set_updates: _Optional[_Iterable[_Union[_workload_pb2.PodSetUpdate, _Mapping]]] = ...) -> None: ...

class ClusterQueue(_message.Message):
    __slots__ = ("name", "cohort", "queueing_strategy", "stop_policy", "resource_groups", "admission_checks", "within_cluster_queue", "reclaim_within_cohort", "namespace_selector")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COHORT_FIELD_NUMBER: _ClassVar[int]
    QUEUEING_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    STOP_POLICY_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_GROUPS_FIELD_NUMBER: _ClassVar[int]
    ADMISSION_CHECKS_FIELD_NUMBER: _ClassVar[int]
    WITHIN_CLUSTER_QUEUE_FIELD_NUMBER: _ClassVar[int]
    RECLAIM_WITHIN_COHORT_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_SELECTOR_FIELD_NUMBER: _ClassVar[int]
    name: int
    cohort: int
    queueing_strategy: int
    stop_policy: int
    resource_groups: _containers.RepeatedCompositeFieldContainer[ResourceGroup]
    admission_checks: _containers.RepeatedCompositeFieldContainer[ClusterQueueCheck]
    within_cluster_queue: int
    reclaim_within_cohort: int
    namespace_selector: LabelSelector
    def __init__(self, name: _Optional[int] = ..., cohort: _Optional[int] = ..., queueing_strategy: _Optional[int] = ..., stop_policy: _Optional[int] = ..., resource_groups: _Optional[_Iterable[_Union[ResourceGroup, _Mapping]]] = ..., admission_checks: _Optional[_Iterable[_Union[ClusterQueueCheck, _Mapping]]] = ..., within_cluster_queue: _Optional[int] = ..., reclaim_within_cohort: _Optional[int] = ..., namespace_selector: _Optional[_Union[LabelSelector, _Mapping]] = ...) -> None: ...

class ResourceGroup(_message.Message):
    __slots__ = ("covered_resources", "flavors")
    COVERED_RESOURCES_FIELD_NUMBER: _ClassVar[int]
    FLAVORS_FIELD_NUMBER: _ClassVar[int]
    covered_resources: _containers.RepeatedScalarFieldContainer[int]
    flavors: _containers.RepeatedCompositeFieldContainer[FlavorQuota]
    def __init__(self, covered_resources: _Optional[_Iterable[int]] = ..., flavors: _Optional[_Iterable[_Union[FlavorQuota, _Mapping]]] = ...) -> None: ...

class FlavorQuota(_message.Message):
    __slots__ = ("flavor", "nominal")
    FLAVOR_FIELD_NUMBER: _ClassVar[int]
    NOMINAL_FIELD_NUMBER: _ClassVar[int]
    flavor: int
    nominal: _types_pb2.ResourceVector
    def __init__(self, flavor: _Optional[int] = ..., nominal: _Optional[_Union[_types_pb2.ResourceVector, _Mapping]] = ...) -> None: ...

class ClusterQueueCheck(_message.Message):
    __slots__ = ("name", "flavors")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FLAVORS_FIELD_NUMBER: _ClassVar[int]
    name: int
    flavors: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[int] = ..., flavors: _Optional[_Iterable[int]] = ...) -> None: ...

class LabelSelector(_message.Message):
    __slots__ = ("match_labels", "match_expressions")
    MATCH_LABELS_FIELD_NUMBER: _ClassVar[int]
    MATCH_EXPRESSIONS_FIELD_NUMBER: _ClassVar[int]
    match_labels: _types_pb2.StringMap
    match_expressions: _containers.RepeatedCompositeFieldContainer[_types_pb2.NodeSelectorRequirement]
    def __init__(self, match_labels: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., match_expressions: _Optional[_Iterable[_Union[_types_pb2.NodeSelectorRequirement, _Mapping]]] = ...) -> None: ...

class Namespace(_message.Message):
    __slots__ = ("name", "labels")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    name: int
    labels: _types_pb2.StringMap
    def __init__(self, name: _Optional[int] = ..., labels: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ...) -> None: ...

class LocalQueue(_message.Message):
    __slots__ = ("namespace", "name", "cluster_queue", "stop_policy")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_QUEUE_FIELD_NUMBER: _ClassVar[int]
    STOP_POLICY_FIELD_NUMBER: _ClassVar[int]
    namespace: int
    name: int
    cluster_queue: int
    stop_policy: int
    def __init__(self, namespace: _Optional[int] = ..., name: _Optional[int] = ..., cluster_queue: _Optional[int] = ..., stop_policy: _Optional[int] = ...) -> None: ...

class AdmissionCheck(_message.Message):
    __slots__ = ("name", "controller_name", "active")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTROLLER_NAME_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    name: int
    controller_name: int
    active: bool
    def __init__(self, name: _Optional[int] = ..., controller_name: _Optional[int] = ..., active: bool = ...) -> None: ...

class Pod(_message.Message):
    __slots__ = ("namespace", "name", "labels", "annotations", "node_selector", "phase", "gated", "elastic_gated", "ungating_unconfirmed")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    NODE_SELECTOR_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    GATED_FIELD_NUMBER: _ClassVar[int]
    ELASTIC_GATED_FIELD_NUMBER: _ClassVar[int]
    UNGATING_UNCONFIRMED_FIELD_NUMBER: _ClassVar[int]
    namespace: int
    name: int
    labels: _types_pb2.StringMap
    annotations: _types_pb2.StringMap
    node_selector: _types_pb2.StringMap
    phase: int
    gated: bool
    elastic_gated: bool
    ungating_unconfirmed: bool
    def __init__(self, namespace: _Optional[int] = ..., name: _Optional[int] = ..., labels: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., annotations: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., node_selector: _Optional[_Union[_types_pb2.StringMap, _Mapping]] = ..., phase: _Optional[int] = ..., gated: bool = ..., elastic_gated: bool = ..., ungating_unconfirmed: bool = ...) -> None: ...
