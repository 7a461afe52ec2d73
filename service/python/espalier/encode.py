"""Makes messages of what is asked.

What repeats stands once in a table and is a number from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from google.protobuf.message import Message

from espalier import model
from espalier.v1 import (
    cluster_state_pb2,
    nested_pb2,
    placement_pb2,
    questions_pb2,
    scheduling_pb2,
    types_pb2,
    ungating_pb2,
    workload_pb2,
)

_Row = TypeVar("_Row", bound=Message)

MODES = {
    model.Mode.NOMINATE: placement_pb2.PLACEMENT_MODE_NOMINATE,
    model.Mode.SEQUENTIAL: placement_pb2.PLACEMENT_MODE_SEQUENTIAL,
}
PROFILES = {
    model.Profile.KUEUE: nested_pb2.PLACEMENT_PROFILE_KUEUE,
    model.Profile.ESPALIER: nested_pb2.PLACEMENT_PROFILE_ESPALIER,
    model.Profile.KEP5732: nested_pb2.PLACEMENT_PROFILE_KEP5732,
}
_RANKS = {
    model.RankPlacement.BY_PATH: nested_pb2.NESTED_RANK_PLACEMENT_BY_PATH,
    model.RankPlacement.CONTIGUOUS: nested_pb2.NESTED_RANK_PLACEMENT_CONTIGUOUS,
    model.RankPlacement.TOGETHER: nested_pb2.NESTED_RANK_PLACEMENT_TOGETHER,
    model.RankPlacement.BALANCED: nested_pb2.NESTED_RANK_PLACEMENT_BALANCED,
    model.RankPlacement.STRIPED: nested_pb2.NESTED_RANK_PLACEMENT_STRIPED,
}
_INT64 = range(-(2**63), 2**63)

_HasTables = (
    workload_pb2.WorkloadBatch
    | scheduling_pb2.CycleRequest
    | questions_pb2.ValidateRequest
    | ungating_pb2.UngateRequest
)


def position(at: model.Position | None) -> types_pb2.StatePosition | None:
    if at is None:
        return None
    return types_pb2.StatePosition(epoch=at.epoch, generation=at.generation)


class Tables:
    """The tables of one message. A reference counts from 1; 0 is nothing, or the empty text."""

    def __init__(self) -> None:
        self._strings: dict[str, int] = {}
        self._resources: dict[bytes, tuple[int, types_pb2.ResourceVector]] = {}
        self._topology_requests: dict[bytes, tuple[int, types_pb2.TopologyRequest]] = {}
        self._node_constraints: dict[bytes, tuple[int, types_pb2.NodeConstraints]] = {}
        self._assignments: dict[bytes, tuple[int, types_pb2.TopologyAssignment]] = {}
        self._shapes: dict[tuple[int, int], int] = {}

    # Writes all tables into the message they were made for.
    def write_to(self, message: _HasTables) -> None:
        message.strings.extend(self._strings)
        message.resources.extend(row for _, row in self._resources.values())
        message.topology_requests.extend(row for _, row in self._topology_requests.values())
        message.node_constraints.extend(row for _, row in self._node_constraints.values())
        message.assignments.extend(row for _, row in self._assignments.values())

    def strings(self) -> list[str]:
        return list(self._strings)

    def text(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings) + 1) if text else 0

    def texts(self, texts: Iterable[str]) -> list[int]:
        return [self.text(text) for text in texts]

    def resources(self, amounts: model.Resources) -> int:
        return _refer(self._resources, self.vector(amounts))

    def topology_request(self, request: model.TopologyRequest | None) -> int:
        if request is None:
            return 0
        row = types_pb2.TopologyRequest(
            required=self.text(request.required),
            preferred=self.text(request.preferred),
            slice_topology=self.text(request.slice_topology),
            slice_size=request.slice_size,
            slice_constraints=[
                types_pb2.SliceConstraint(topology=self.text(one.topology), size=one.size)
                for one in request.slice_constraints
            ],
            pod_set_group_name=self.text(request.pod_set_group_name),
            pod_index_label=self.text(request.pod_index_label),
            sub_group_index_label=self.text(request.sub_group_index_label),
            sub_group_count=request.sub_group_count,
        )
        if request.unconstrained is not None:
            row.unconstrained = request.unconstrained
        return _refer(self._topology_requests, row)

    def node_constraints(self, constraints: model.NodeConstraints | None) -> int:
        if constraints is None:
            return 0
        row = types_pb2.NodeConstraints(
            node_selector=self.labels(constraints.node_selector),
            tolerations=[self.toleration(one) for one in constraints.tolerations],
            preferred_affinity=[
                types_pb2.PreferredSchedulingTerm(
                    weight=one.weight, preference=self.term(one.preference)
                )
                for one in constraints.preferred_affinity
            ],
        )
        if constraints.required_affinity is not None:
            terms = [self.term(one) for one in constraints.required_affinity]
            row.required_affinity.CopyFrom(types_pb2.NodeSelector(terms=terms))
        return _refer(self._node_constraints, row)

    def assignment(self, assignment: model.Assignment | None) -> int:
        if assignment is None:
            return 0
        row = types_pb2.TopologyAssignment(
            levels=self.texts(assignment.levels),
            values=[self.text(value) for domain in assignment.domains for value in domain.values],
            counts=[domain.pods for domain in assignment.domains],
        )
        return _refer(self._assignments, row)

    def vector(self, amounts: model.Resources) -> types_pb2.ResourceVector:
        for name, amount in amounts.items():
            if amount not in _INT64:
                raise ValueError(f"{name}: is {amount}; want an int64")
        return types_pb2.ResourceVector(names=self.texts(amounts), amounts=amounts.values())

    def labels(self, labels: Mapping[str, str]) -> types_pb2.StringMap:
        return types_pb2.StringMap(keys=self.texts(labels), values=self.texts(labels.values()))

    def taint(self, taint: model.Taint) -> types_pb2.Taint:
        return types_pb2.Taint(
            key=self.text(taint.key), value=self.text(taint.value), effect=self.text(taint.effect)
        )

    def toleration(self, toleration: model.Toleration) -> types_pb2.Toleration:
        return types_pb2.Toleration(
            key=self.text(toleration.key),
            operation=self.text(toleration.operation),
            value=self.text(toleration.value),
            effect=self.text(toleration.effect),
        )

    def requirement(
        self, requirement: model.NodeSelectorRequirement
    ) -> types_pb2.NodeSelectorRequirement:
        return types_pb2.NodeSelectorRequirement(
            key=self.text(requirement.key),
            operation=self.text(requirement.operation),
            values=self.texts(requirement.values),
        )

    def term(self, term: model.NodeSelectorTerm) -> types_pb2.NodeSelectorTerm:
        return types_pb2.NodeSelectorTerm(
            match_expressions=[self.requirement(one) for one in term.match_expressions],
            match_fields=[self.requirement(one) for one in term.match_fields],
        )

    def node(self, node: model.Node) -> cluster_state_pb2.Node:
        return cluster_state_pb2.Node(
            name=self.text(node.name),
            labels=self.labels(node.labels),
            taints=[self.taint(one) for one in node.taints],
            unschedulable=node.unschedulable,
            ready=node.ready,
            allocatable=self.vector(node.allocatable),
        )

    def topology(self, topology: model.Topology) -> cluster_state_pb2.Topology:
        return cluster_state_pb2.Topology(
            name=self.text(topology.name), levels=self.texts(topology.levels)
        )

    def flavor(self, flavor: model.ResourceFlavor) -> cluster_state_pb2.ResourceFlavor:
        return cluster_state_pb2.ResourceFlavor(
            name=self.text(flavor.name),
            node_labels=self.labels(flavor.node_labels),
            node_taints=[self.taint(one) for one in flavor.node_taints],
            tolerations=[self.toleration(one) for one in flavor.tolerations],
            topology_name=self.text(flavor.topology_name),
        )

    def node_usage(self, usage: model.NodeUsage) -> cluster_state_pb2.NodeUsage:
        return cluster_state_pb2.NodeUsage(
            node=self.text(usage.node),
            usage=self.vector(usage.usage),
            lasting=self.vector(usage.lasting) if usage.lasting else None,
        )

    def leaf_usage(self, usage: model.LeafUsage) -> cluster_state_pb2.FlavorLeafUsage:
        return cluster_state_pb2.FlavorLeafUsage(
            flavor=self.text(usage.flavor),
            leaf=self.text(usage.leaf),
            usage=self.vector(usage.usage),
        )

    def admitted_workload(
        self, workload: model.AdmittedWorkload
    ) -> cluster_state_pb2.AdmittedWorkload:
        return cluster_state_pb2.AdmittedWorkload(
            namespace=self.text(workload.namespace),
            name=self.text(workload.name),
            priority=workload.priority,
            quota_reserved_at=workload.quota_reserved_at,
            usage=[self.leaf_usage(one) for one in workload.usage],
            job=self.text(workload.job),
        )

    def admitted_pod_set(self, pod_set: model.AdmittedPodSet) -> workload_pb2.AdmittedPodSet:
        return workload_pb2.AdmittedPodSet(
            name=self.text(pod_set.name),
            flavors=self.labels(pod_set.flavors),
            resource_usage=self.resources(pod_set.resource_usage),
            count=pod_set.count,
            assignment=self.assignment(pod_set.assignment),
            delayed_topology_request=self.text(pod_set.delayed_topology_request),
        )

    def pod_set_update(self, update: model.PodSetUpdate) -> workload_pb2.PodSetUpdate:
        return workload_pb2.PodSetUpdate(
            name=self.text(update.name),
            labels=self.labels(update.labels),
            annotations=self.labels(update.annotations),
            node_selector=self.labels(update.node_selector),
            tolerations=[self.toleration(one) for one in update.tolerations],
        )

    def shape(self, requests: model.Resources, constraints: model.NodeConstraints | None) -> int:
        key = (self.resources(requests), self.node_constraints(constraints))
        return self._shapes.setdefault(key, len(self._shapes) + 1)

    def write_nested_to(self, batch: nested_pb2.NestedBatch) -> None:
        batch.strings.extend(self._strings)
        batch.resources.extend(row for _, row in self._resources.values())
        batch.node_constraints.extend(row for _, row in self._node_constraints.values())
        for requests, constraints in self._shapes:
            batch.shapes.add(requests=requests, node_constraints=constraints)


def _refer(table: dict[bytes, tuple[int, _Row]], row: _Row) -> int:
    key = row.SerializeToString(deterministic=True)
    return table.setdefault(key, (len(table) + 1, row))[0]


# Leaves a column out that says nothing.
def _unless_all(default: int, column: Sequence[int]) -> Sequence[int]:
    return () if all(entry == default for entry in column) else column


def workload_batch(workloads: Sequence[model.WorkloadRequest]) -> workload_pb2.WorkloadBatch:
    tables = Tables()
    pod_sets = [pod_set for workload in workloads for pod_set in workload.pod_sets]
    offsets = [0]
    for workload in workloads:
        offsets.append(offsets[-1] + len(workload.pod_sets))
    batch = workload_pb2.WorkloadBatch(
        namespaces=_unless_all(0, tables.texts(one.namespace for one in workloads)),
        names=_unless_all(0, tables.texts(one.name for one in workloads)),
        pod_set_offsets=offsets if workloads else (),
        pod_set_names=tables.texts(one.name for one in pod_sets),
        pod_set_flavors=tables.texts(one.flavor for one in pod_sets),
        pod_set_counts=[one.count for one in pod_sets],
        pod_set_requests=[tables.resources(one.requests) for one in pod_sets],
        pod_set_topology_requests=_unless_all(
            0, [tables.topology_request(one.topology) for one in pod_sets]
        ),
        pod_set_groups=_unless_all(0, tables.texts(one.group for one in pod_sets)),
        pod_set_node_constraints=_unless_all(
            0, [tables.node_constraints(one.constraints) for one in pod_sets]
        ),
        pod_set_previous_assignments=_unless_all(
            0, [tables.assignment(one.previous) for one in pod_sets]
        ),
    )
    if any(one.simulate_empty for one in workloads):
        batch.simulate_empty.extend(one.simulate_empty for one in workloads)
    if any(one.affinity_scores_consumed for one in workloads):
        batch.affinity_scores_consumed.extend(one.affinity_scores_consumed for one in workloads)
    if any(one.implied for one in pod_sets):
        batch.pod_set_implied.extend(one.implied for one in pod_sets)
    for position, pod_set in enumerate(pod_sets):
        if pod_set.updates:
            batch.updates.add(
                pod_set=position,
                labels=tables.labels(pod_set.labels),
                annotations=tables.labels(pod_set.annotations),
                updates=[tables.pod_set_update(one) for one in pod_set.updates],
            )
    for position, workload in enumerate(workloads):
        if workload.replacement is not None:
            batch.replacements.add(
                workload=position,
                unhealthy_nodes=tables.texts(workload.replacement.unhealthy_nodes),
                admitted=[tables.admitted_pod_set(one) for one in workload.replacement.admitted],
                owned_by_single_pod=workload.replacement.owned_by_single_pod,
                joint=workload.replacement.joint,
            )
        if workload.assumed_usage:
            batch.assumed_usage.add(
                workload=position,
                leaves=tables.texts(leaf for leaf, _ in workload.assumed_usage),
                usages=[tables.resources(usage) for _, usage in workload.assumed_usage],
            )
    trees = [(w, one.tree) for w, one in enumerate(workloads) if one.tree is not None]
    if trees:
        batch.trees.workloads.extend(w for w, _ in trees)
        batch.trees.trees.CopyFrom(nested_batch([tree for _, tree in trees]))
    tables.write_to(batch)
    return batch


def nested_batch(requests: Sequence[model.NestedRequest]) -> nested_pb2.NestedBatch:
    tables = Tables()
    groups: list[model.Group] = []
    offsets = [0]
    for request in requests:
        _append_parents_first(request.root, groups)
        offsets.append(len(groups))
    batch = nested_pb2.NestedBatch(
        namespaces=tables.texts(one.namespace for one in requests),
        names=tables.texts(one.name for one in requests),
        flavors=tables.texts(one.flavor for one in requests),
        group_offsets=offsets if requests else (),
        simulate_empty=[one.simulate_empty for one in requests],
        group_names=tables.texts(one.name for one in groups),
        group_children=[len(one.children) for one in groups],
        copies=[one.copies for one in groups],
        min_copies=[one.copies if one.min_copies is None else one.min_copies for one in groups],
        required=tables.texts(one.required for one in groups),
        preferred=tables.texts(one.preferred for one in groups),
        in_order=[one.in_order for one in groups],
        ranks=[_RANKS[one.ranks] for one in groups],
        rank_levels=tables.texts(one.rank_level for one in groups),
        pods=[
            0 if one.requests is None else tables.shape(one.requests, one.constraints)
            for one in groups
        ],
        min_counts=[one.min_count for one in groups],
        max_counts=[one.max_count for one in groups],
        pod_sets=_unless_all(0, [one.pod_set for one in groups]),
        min_groups=_unless_all(0, [one.min_groups for one in groups]),
        apart=[one.apart for one in groups],
    )
    if any(one.profile is not None for one in requests):
        batch.profiles.extend(
            nested_pb2.PLACEMENT_PROFILE_UNSPECIFIED
            if one.profile is None
            else PROFILES[one.profile]
            for one in requests
        )
    for position, group in enumerate(groups):
        if group.running:
            batch.running_pods.add(group=position, leaves=tables.texts(group.running))
    tables.write_nested_to(batch)
    return batch


def _append_parents_first(group: model.Group, groups: list[model.Group]) -> None:
    groups.append(group)
    for child in group.children:
        _append_parents_first(child, groups)


def victims(who: Sequence[model.Victim]) -> questions_pb2.Victims:
    tables = Tables()
    message = questions_pb2.Victims(
        namespaces=tables.texts(one.namespace for one in who),
        names=tables.texts(one.name for one in who),
    )
    for position, victim in enumerate(who):
        if victim.usage:
            message.usage.add(
                victim=position,
                usage=[tables.leaf_usage(one) for one in victim.usage],
                priority=victim.priority,
            )
    message.strings.extend(tables.strings())
    return message


def changes(
    what: model.Changes, base: model.Position | None, state_name: str
) -> cluster_state_pb2.UpdateStateRequest:
    tables = Tables()
    request = cluster_state_pb2.UpdateStateRequest(
        base=position(base),
        state_name=state_name,
        remove_nodes=tables.texts(what.remove_nodes),
        upsert_nodes=[tables.node(one) for one in what.upsert_nodes],
        set_non_tas_usage=[tables.node_usage(one) for one in what.set_non_tas_usage],
        set_tas_usage=[tables.leaf_usage(one) for one in what.set_tas_usage],
        remove_topologies=tables.texts(what.remove_topologies),
        upsert_topologies=[tables.topology(one) for one in what.upsert_topologies],
        remove_flavors=tables.texts(what.remove_flavors),
        upsert_flavors=[tables.flavor(one) for one in what.upsert_flavors],
        set_workloads=[tables.admitted_workload(one) for one in what.set_workloads],
        set_kueue_configuration=what.set_kueue_configuration,
    )
    request.strings.extend(tables.strings())
    return request


# How many entries of a list a chunk of a load has, as docs/api.md says.
_CHUNK = 2000


def load_chunks(
    contents: model.Contents, state_name: str
) -> Iterable[cluster_state_pb2.LoadStateRequest]:
    lists = (contents.nodes, contents.non_tas_usage, contents.tas_usage, contents.workloads)
    chunks = max(1, *(-(-len(one) // _CHUNK) for one in lists))
    for number in range(chunks):
        part = slice(number * _CHUNK, (number + 1) * _CHUNK)
        tables = Tables()
        chunk = cluster_state_pb2.LoadStateRequest(
            nodes=[tables.node(one) for one in contents.nodes[part]],
            non_tas_usage=[tables.node_usage(one) for one in contents.non_tas_usage[part]],
            tas_usage=[tables.leaf_usage(one) for one in contents.tas_usage[part]],
            workloads=[tables.admitted_workload(one) for one in contents.workloads[part]],
            state_name=state_name,
        )
        if number == 0:
            chunk.topologies.extend(tables.topology(one) for one in contents.topologies)
            chunk.flavors.extend(tables.flavor(one) for one in contents.flavors)
            chunk.share_usage_between_flavors = contents.share_usage_between_flavors
            chunk.kueue_configuration = contents.kueue_configuration
        if number == chunks - 1:
            chunk.end.nodes = len(contents.nodes)
            chunk.end.non_tas_usage = len(contents.non_tas_usage)
            chunk.end.tas_usage = len(contents.tas_usage)
            chunk.end.workloads = len(contents.workloads)
            chunk.end.SetInParent()
        chunk.strings.extend(tables.strings())
        yield chunk
