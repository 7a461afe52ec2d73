"""Reads what refers to the tables of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from espalier import model
from espalier.v1 import cluster_state_pb2, types_pb2, workload_pb2


class Texts:
    """The tables of one answer. A reference counts from 1; 0 is nothing, or the empty text."""

    def __init__(
        self,
        strings: Sequence[str],
        resources: Sequence[types_pb2.ResourceVector] = (),
        topology_requests: Sequence[types_pb2.TopologyRequest] = (),
        node_constraints: Sequence[types_pb2.NodeConstraints] = (),
        assignments: Sequence[types_pb2.TopologyAssignment] = (),
    ) -> None:
        self._strings = strings
        self._resources = resources
        self._topology_requests = topology_requests
        self._node_constraints = node_constraints
        self._assignments = assignments

    def text(self, reference: int) -> str:
        return self._strings[reference - 1] if reference else ""

    def texts(self, references: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.text(one) for one in references)

    def labels(self, message: types_pb2.StringMap) -> dict[str, str]:
        return dict(zip(self.texts(message.keys), self.texts(message.values), strict=True))

    def vector(self, message: types_pb2.ResourceVector) -> dict[str, int]:
        return dict(zip(self.texts(message.names), message.amounts, strict=True))

    def resources(self, reference: int) -> dict[str, int]:
        return self.vector(self._resources[reference - 1]) if reference else {}

    def assignment(self, reference: int) -> model.Assignment | None:
        return self.assignment_of(self._assignments[reference - 1]) if reference else None

    def assignment_of(self, row: types_pb2.TopologyAssignment) -> model.Assignment:
        width = len(row.levels)
        values = self.texts(row.values)
        return model.Assignment(
            self.texts(row.levels),
            tuple(
                model.Domain(values[d * width : (d + 1) * width], pods)
                for d, pods in enumerate(row.counts)
            ),
        )

    def topology_request(self, reference: int) -> model.TopologyRequest | None:
        if not reference:
            return None
        row = self._topology_requests[reference - 1]
        return model.TopologyRequest(
            required=self.text(row.required),
            preferred=self.text(row.preferred),
            unconstrained=row.unconstrained if row.HasField("unconstrained") else None,
            slice_topology=self.text(row.slice_topology),
            slice_size=row.slice_size if row.HasField("slice_size") else None,
            slice_constraints=tuple(
                model.SliceConstraint(self.text(one.topology), one.size)
                for one in row.slice_constraints
            ),
            pod_set_group_name=self.text(row.pod_set_group_name),
            pod_index_label=self.text(row.pod_index_label),
            sub_group_index_label=self.text(row.sub_group_index_label),
            sub_group_count=row.sub_group_count if row.HasField("sub_group_count") else None,
        )

    def node_constraints(self, reference: int) -> model.NodeConstraints | None:
        if not reference:
            return None
        row = self._node_constraints[reference - 1]
        return model.NodeConstraints(
            node_selector=self.labels(row.node_selector),
            tolerations=tuple(self._toleration(one) for one in row.tolerations),
            required_affinity=(
                tuple(self._term(one) for one in row.required_affinity.terms)
                if row.HasField("required_affinity")
                else None
            ),
            preferred_affinity=tuple(
                model.PreferredSchedulingTerm(one.weight, self._term(one.preference))
                for one in row.preferred_affinity
            ),
        )

    def admitted_pod_set(self, message: workload_pb2.AdmittedPodSet) -> model.AdmittedPodSet:
        return model.AdmittedPodSet(
            self.text(message.name),
            self.labels(message.flavors),
            self.resources(message.resource_usage),
            message.count if message.HasField("count") else None,
            self.assignment(message.assignment),
            self.text(message.delayed_topology_request),
        )

    def pod_set_update(self, message: workload_pb2.PodSetUpdate) -> model.PodSetUpdate:
        return model.PodSetUpdate(
            self.text(message.name),
            self.labels(message.labels),
            self.labels(message.annotations),
            self.labels(message.node_selector),
            tuple(self._toleration(one) for one in message.tolerations),
        )

    def leaf_usage(self, message: cluster_state_pb2.FlavorLeafUsage) -> model.LeafUsage:
        return model.LeafUsage(
            self.text(message.flavor), self.text(message.leaf), self.vector(message.usage)
        )

    def node_usage(self, message: cluster_state_pb2.NodeUsage) -> model.NodeUsage:
        return model.NodeUsage(
            self.text(message.node), self.vector(message.usage), self.vector(message.lasting)
        )

    def admitted_workload(
        self, message: cluster_state_pb2.AdmittedWorkload
    ) -> model.AdmittedWorkload:
        return model.AdmittedWorkload(
            self.text(message.name),
            self.text(message.namespace),
            message.priority,
            message.quota_reserved_at,
            tuple(self.leaf_usage(one) for one in message.usage),
            self.text(message.job),
        )

    def topology(self, message: cluster_state_pb2.Topology) -> model.Topology:
        return model.Topology(self.text(message.name), self.texts(message.levels))

    def flavor(self, message: cluster_state_pb2.ResourceFlavor) -> model.ResourceFlavor:
        return model.ResourceFlavor(
            self.text(message.name),
            self.text(message.topology_name),
            self.labels(message.node_labels),
            tuple(self._taint(one) for one in message.node_taints),
            tuple(self._toleration(one) for one in message.tolerations),
        )

    def node(self, message: cluster_state_pb2.Node) -> model.Node:
        return model.Node(
            self.text(message.name),
            self.labels(message.labels),
            self.vector(message.allocatable),
            message.ready,
            message.unschedulable,
            tuple(self._taint(one) for one in message.taints),
        )

    def _taint(self, message: types_pb2.Taint) -> model.Taint:
        return model.Taint(
            self.text(message.key), self.text(message.value), self.text(message.effect)
        )

    def _toleration(self, message: types_pb2.Toleration) -> model.Toleration:
        return model.Toleration(
            self.text(message.key),
            self.text(message.operation),
            self.text(message.value),
            self.text(message.effect),
        )

    def _requirement(
        self, message: types_pb2.NodeSelectorRequirement
    ) -> model.NodeSelectorRequirement:
        return model.NodeSelectorRequirement(
            self.text(message.key), self.text(message.operation), self.texts(message.values)
        )

    def _term(self, message: types_pb2.NodeSelectorTerm) -> model.NodeSelectorTerm:
        return model.NodeSelectorTerm(
            tuple(self._requirement(one) for one in message.match_expressions),
            tuple(self._requirement(one) for one in message.match_fields),
        )


def position(message: types_pb2.StatePosition) -> model.Position:
    return model.Position(message.epoch, message.generation)


def loaded_state(pages: Iterable[cluster_state_pb2.ReadStateResponse]) -> model.LoadedState:
    """Reads a state whole, which may be cut anywhere between the entries of its lists."""
    at = model.Position(0, 0)
    topologies: list[model.Topology] = []
    flavors: list[model.ResourceFlavor] = []
    nodes: list[model.Node] = []
    non_tas_usage: list[model.NodeUsage] = []
    tas_usage: list[model.LeafUsage] = []
    workloads: list[model.AdmittedWorkload] = []
    held_usage: list[model.LeafUsage] = []
    share_usage, kueue_configuration = True, ""
    for page in pages:
        at, chunk = position(page.state), page.chunk
        texts = Texts(chunk.strings)
        topologies += map(texts.topology, chunk.topologies)
        flavors += map(texts.flavor, chunk.flavors)
        nodes += map(texts.node, chunk.nodes)
        non_tas_usage += map(texts.node_usage, chunk.non_tas_usage)
        tas_usage += map(texts.leaf_usage, chunk.tas_usage)
        workloads += map(texts.admitted_workload, chunk.workloads)
        held_usage += map(texts.leaf_usage, page.held_usage)
        if chunk.HasField("share_usage_between_flavors"):
            share_usage = chunk.share_usage_between_flavors
        kueue_configuration = kueue_configuration or chunk.kueue_configuration
    contents = model.Contents(
        tuple(topologies),
        tuple(flavors),
        tuple(nodes),
        tuple(non_tas_usage),
        tuple(tas_usage),
        tuple(workloads),
        share_usage,
        kueue_configuration,
    )
    return model.LoadedState(at, contents, tuple(held_usage))
