"""Kueue's and Kubernetes' objects, as far as scheduling cycles, checks and ungating read them."""

from __future__ import annotations

from dataclasses import dataclass, field

from espalier.decode import Texts
from espalier.encode import Tables
from espalier.model import (
    AdmittedPodSet,
    Labels,
    NodeConstraints,
    NodeSelectorRequirement,
    PodSetRequest,
    PodSetUpdate,
    Resources,
    TopologyRequest,
    WorkloadKey,
    WorkloadRequest,
)
from espalier.v1 import objects_pb2, scheduling_pb2


@dataclass(frozen=True)
class OwnerReference:
    api_version: str
    kind: str
    name: str = ""
    uid: str = ""
    controller: bool = False


@dataclass(frozen=True)
class PodSet:
    name: str
    count: int  # pods
    requests: Resources  # of one pod, without `pods`
    min_count: int | None = None
    topology_request: TopologyRequest | None = None
    node_constraints: NodeConstraints | None = None
    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)


@dataclass(frozen=True)
class Admission:
    cluster_queue: str
    pod_set_assignments: tuple[AdmittedPodSet, ...]


@dataclass(frozen=True)
class Condition:
    type: str  # QuotaReserved, Admitted, Evicted, Finished, ...
    status: str = "True"
    reason: str = ""
    since_seconds: int | None = None  # Unix seconds


@dataclass(frozen=True)
class AdmissionCheckState:
    name: str
    state: str  # Pending, Ready, Retry or Rejected
    pod_set_updates: tuple[PodSetUpdate, ...] = ()


@dataclass(frozen=True)
class Workload:
    """Is a Kueue Workload, its status included."""

    name: str
    pod_sets: tuple[PodSet, ...]
    namespace: str = ""
    queue_name: str = ""
    uid: str = ""
    priority: int = 0
    creation_seconds: int = 0  # Unix seconds
    annotations: Labels = field(default_factory=dict)
    owners: tuple[OwnerReference, ...] = ()
    deactivated: bool = False
    admission: Admission | None = None
    conditions: tuple[Condition, ...] = ()
    unhealthy_nodes: tuple[str, ...] = ()
    reclaimable_pods: tuple[tuple[str, int], ...] = ()  # name of the pod set, pods
    admission_checks: tuple[AdmissionCheckState, ...] = ()
    requeue_at_seconds: int | None = None  # Unix seconds
    resources_error: str = ""

    @property
    def key(self) -> WorkloadKey:
        return WorkloadKey(self.namespace, self.name)


@dataclass(frozen=True)
class FlavorQuota:
    flavor: str
    nominal: Resources


@dataclass(frozen=True)
class ResourceGroup:
    covered_resources: tuple[str, ...]
    flavors: tuple[FlavorQuota, ...]  # tried in this order


@dataclass(frozen=True)
class ClusterQueueCheck:
    name: str
    flavors: tuple[str, ...] = ()  # that it is for; none: all of them


@dataclass(frozen=True)
class LabelSelector:
    """Says which labels an object must have; an empty one takes all."""

    match_labels: Labels = field(default_factory=dict)
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()


@dataclass(frozen=True)
class ClusterQueue:
    name: str
    resource_groups: tuple[ResourceGroup, ...]
    # None selects no namespace, and then nothing is admitted; the default selects all.
    namespace_selector: LabelSelector | None = field(default_factory=LabelSelector)
    cohort: str = ""
    queueing_strategy: str = ""  # BestEffortFIFO or StrictFIFO
    stop_policy: str = ""  # None, Hold or HoldAndDrain
    admission_checks: tuple[ClusterQueueCheck, ...] = ()
    within_cluster_queue: str = ""
    reclaim_within_cohort: str = ""


@dataclass(frozen=True)
class LocalQueue:
    name: str
    cluster_queue: str
    namespace: str = ""
    stop_policy: str = ""


@dataclass(frozen=True)
class Namespace:
    name: str
    labels: Labels = field(default_factory=dict)


@dataclass(frozen=True)
class AdmissionCheck:
    name: str
    controller_name: str = ""
    active: bool | None = None


@dataclass(frozen=True)
class Pod:
    """Is a pod as the ungater sees it."""

    name: str
    namespace: str = ""
    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)
    node_selector: Labels = field(default_factory=dict)
    phase: str = "Pending"
    gated: bool = False
    elastic_gated: bool = False
    ungating_unconfirmed: bool = False


@dataclass(frozen=True)
class Queues:
    """Is all that a cycle reads beside the state: workloads and their queues."""

    cluster_queues: tuple[ClusterQueue, ...]
    local_queues: tuple[LocalQueue, ...]
    workloads: tuple[Workload, ...]  # pending ones, and all that hold quota or capacity
    admission_checks: tuple[AdmissionCheck, ...] = ()
    namespaces: tuple[Namespace, ...] = ()  # all of them, or none


def request_of(workload: Workload, flavor: str) -> WorkloadRequest:
    """Returns what asks for places for a workload with all its pod sets on one flavor."""
    return WorkloadRequest(
        tuple(
            PodSetRequest(
                one.name,
                flavor,
                one.count,
                one.requests,
                one.topology_request,
                implied=not _asks_for_topology(one.topology_request),
                group=one.topology_request.pod_set_group_name if one.topology_request else "",
                constraints=one.node_constraints,
                labels=one.labels,
                annotations=one.annotations,
            )
            for one in workload.pod_sets
        ),
        workload.namespace,
        workload.name,
    )


# A group or the labels of indexes alone ask for no topology.
def _asks_for_topology(request: TopologyRequest | None) -> bool:
    return request is not None and (
        bool(request.required or request.preferred or request.slice_topology)
        or request.unconstrained is not None
        or request.slice_size is not None
        or bool(request.slice_constraints)
    )


def encode_workload(workload: Workload, tables: Tables) -> objects_pb2.Workload:
    message = objects_pb2.Workload(
        namespace=tables.text(workload.namespace),
        name=tables.text(workload.name),
        uid=tables.text(workload.uid),
        annotations=tables.labels(workload.annotations),
        owners=[
            objects_pb2.OwnerReference(
                api_version=tables.text(one.api_version),
                kind=tables.text(one.kind),
                name=tables.text(one.name),
                uid=tables.text(one.uid),
                controller=one.controller,
            )
            for one in workload.owners
        ],
        creation_seconds=workload.creation_seconds,
        priority=workload.priority,
        queue_name=tables.text(workload.queue_name),
        deactivated=workload.deactivated,
        pod_sets=[_pod_set(one, tables) for one in workload.pod_sets],
        conditions=[
            objects_pb2.Condition(
                type=tables.text(one.type),
                status=tables.text(one.status),
                reason=tables.text(one.reason),
                since_seconds=one.since_seconds,
            )
            for one in workload.conditions
        ],
        unhealthy_nodes=tables.texts(workload.unhealthy_nodes),
        reclaimable_pods=[
            objects_pb2.ReclaimablePod(name=tables.text(name), count=count)
            for name, count in workload.reclaimable_pods
        ],
        admission_checks=[
            objects_pb2.AdmissionCheckState(
                name=tables.text(one.name),
                state=tables.text(one.state),
                pod_set_updates=[tables.pod_set_update(update) for update in one.pod_set_updates],
            )
            for one in workload.admission_checks
        ],
        requeue_at_seconds=workload.requeue_at_seconds,
        resources_error=tables.text(workload.resources_error),
    )
    if workload.admission is not None:
        message.admission.cluster_queue = tables.text(workload.admission.cluster_queue)
        message.admission.pod_set_assignments.extend(
            tables.admitted_pod_set(one) for one in workload.admission.pod_set_assignments
        )
        message.admission.SetInParent()
    return message


def _pod_set(pod_set: PodSet, tables: Tables) -> objects_pb2.PodSet:
    return objects_pb2.PodSet(
        name=tables.text(pod_set.name),
        count=pod_set.count,
        min_count=pod_set.min_count,
        topology_request=tables.topology_request(pod_set.topology_request),
        requests=tables.resources(pod_set.requests),
        node_constraints=tables.node_constraints(pod_set.node_constraints),
        labels=tables.labels(pod_set.labels),
        annotations=tables.labels(pod_set.annotations),
    )


def encode_pod(pod: Pod, tables: Tables) -> objects_pb2.Pod:
    return objects_pb2.Pod(
        namespace=tables.text(pod.namespace),
        name=tables.text(pod.name),
        labels=tables.labels(pod.labels),
        annotations=tables.labels(pod.annotations),
        node_selector=tables.labels(pod.node_selector),
        phase=tables.text(pod.phase),
        gated=pod.gated,
        elastic_gated=pod.elastic_gated,
        ungating_unconfirmed=pod.ungating_unconfirmed,
    )


# Writes the objects into a request, but not yet its tables.
def encode_queues(queues: Queues, tables: Tables, request: scheduling_pb2.CycleRequest) -> None:
    request.cluster_queues.extend(_cluster_queue(one, tables) for one in queues.cluster_queues)
    for local_queue in queues.local_queues:
        request.local_queues.add(
            namespace=tables.text(local_queue.namespace),
            name=tables.text(local_queue.name),
            cluster_queue=tables.text(local_queue.cluster_queue),
            stop_policy=tables.text(local_queue.stop_policy),
        )
    for check in queues.admission_checks:
        request.admission_checks.add(
            name=tables.text(check.name),
            controller_name=tables.text(check.controller_name),
            active=check.active,
        )
    for namespace in queues.namespaces:
        request.namespaces.add(
            name=tables.text(namespace.name), labels=tables.labels(namespace.labels)
        )
    request.workloads.extend(encode_workload(one, tables) for one in queues.workloads)


def _cluster_queue(queue: ClusterQueue, tables: Tables) -> objects_pb2.ClusterQueue:
    message = objects_pb2.ClusterQueue(
        name=tables.text(queue.name),
        cohort=tables.text(queue.cohort),
        queueing_strategy=tables.text(queue.queueing_strategy),
        stop_policy=tables.text(queue.stop_policy),
        resource_groups=[
            objects_pb2.ResourceGroup(
                covered_resources=tables.texts(group.covered_resources),
                flavors=[
                    objects_pb2.FlavorQuota(
                        flavor=tables.text(one.flavor), nominal=tables.vector(one.nominal)
                    )
                    for one in group.flavors
                ],
            )
            for group in queue.resource_groups
        ],
        admission_checks=[
            objects_pb2.ClusterQueueCheck(
                name=tables.text(one.name), flavors=tables.texts(one.flavors)
            )
            for one in queue.admission_checks
        ],
        within_cluster_queue=tables.text(queue.within_cluster_queue),
        reclaim_within_cohort=tables.text(queue.reclaim_within_cohort),
    )
    selector = queue.namespace_selector
    if selector is not None:
        message.namespace_selector.CopyFrom(
            objects_pb2.LabelSelector(
                match_labels=tables.labels(selector.match_labels),
                match_expressions=[tables.requirement(one) for one in selector.match_expressions],
            )
        )
    return message


def decode_workload(message: objects_pb2.Workload, texts: Texts) -> Workload:
    admission = None
    if message.HasField("admission"):
        admission = Admission(
            texts.text(message.admission.cluster_queue),
            tuple(texts.admitted_pod_set(one) for one in message.admission.pod_set_assignments),
        )
    return Workload(
        name=texts.text(message.name),
        namespace=texts.text(message.namespace),
        queue_name=texts.text(message.queue_name),
        uid=texts.text(message.uid),
        priority=message.priority,
        creation_seconds=message.creation_seconds,
        annotations=texts.labels(message.annotations),
        owners=tuple(
            OwnerReference(
                texts.text(one.api_version),
                texts.text(one.kind),
                texts.text(one.name),
                texts.text(one.uid),
                one.controller,
            )
            for one in message.owners
        ),
        deactivated=message.deactivated,
        pod_sets=tuple(_decode_pod_set(one, texts) for one in message.pod_sets),
        admission=admission,
        conditions=tuple(
            Condition(
                texts.text(one.type),
                texts.text(one.status),
                texts.text(one.reason),
                one.since_seconds if one.HasField("since_seconds") else None,
            )
            for one in message.conditions
        ),
        unhealthy_nodes=texts.texts(message.unhealthy_nodes),
        reclaimable_pods=tuple(
            (texts.text(one.name), one.count) for one in message.reclaimable_pods
        ),
        admission_checks=tuple(
            AdmissionCheckState(
                texts.text(one.name),
                texts.text(one.state),
                tuple(texts.pod_set_update(update) for update in one.pod_set_updates),
            )
            for one in message.admission_checks
        ),
        requeue_at_seconds=(
            message.requeue_at_seconds if message.HasField("requeue_at_seconds") else None
        ),
        resources_error=texts.text(message.resources_error),
    )


def _decode_pod_set(message: objects_pb2.PodSet, texts: Texts) -> PodSet:
    return PodSet(
        name=texts.text(message.name),
        count=message.count,
        requests=texts.resources(message.requests),
        min_count=message.min_count if message.HasField("min_count") else None,
        topology_request=texts.topology_request(message.topology_request),
        node_constraints=texts.node_constraints(message.node_constraints),
        labels=texts.labels(message.labels),
        annotations=texts.labels(message.annotations),
    )
