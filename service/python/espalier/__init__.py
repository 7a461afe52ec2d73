"""Espalier: where does this gang of pods go?

    with espalier.load(["cluster.json.gz"]) as state:
        for workload in state.place_objects(espalier.read_objects(["queues.json.gz"])):
            print(workload.key, workload.outcome.value, workload.reason)

docs/python.md shows the rest.
"""

from espalier import kueue
from espalier.client import Client, load, read_objects
from espalier.connection import TLS
from espalier.errors import CallError, CommandError, EspalierError, StaleStateError
from espalier.model import (
    AdmittedPodSet,
    AdmittedWorkload,
    Assignment,
    Changes,
    Contents,
    Domain,
    Group,
    LeafUsage,
    Mode,
    NestedRequest,
    Node,
    NodeConstraints,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    NodeUsage,
    PodSetRequest,
    PodSetUpdate,
    Position,
    PreferredSchedulingTerm,
    Profile,
    Question,
    RankPlacement,
    Replacement,
    ResourceFlavor,
    SliceConstraint,
    Taint,
    Toleration,
    Topology,
    TopologyRequest,
    Victim,
    WorkloadKey,
    WorkloadRequest,
)
from espalier.process import CommandResult, Server, command, find_binary, serve
from espalier.state import State

__all__ = [
    "TLS",
    "AdmittedPodSet",
    "AdmittedWorkload",
    "Assignment",
    "CallError",
    "Changes",
    "Client",
    "CommandError",
    "CommandResult",
    "Contents",
    "Domain",
    "EspalierError",
    "Group",
    "LeafUsage",
    "Mode",
    "NestedRequest",
    "Node",
    "NodeConstraints",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "NodeUsage",
    "PodSetRequest",
    "PodSetUpdate",
    "Position",
    "PreferredSchedulingTerm",
    "Profile",
    "Question",
    "RankPlacement",
    "Replacement",
    "ResourceFlavor",
    "Server",
    "SliceConstraint",
    "StaleStateError",
    "State",
    "Taint",
    "Toleration",
    "Topology",
    "TopologyRequest",
    "Victim",
    "WorkloadKey",
    "WorkloadRequest",
    "command",
    "find_binary",
    "kueue",
    "load",
    "read_objects",
    "serve",
]
