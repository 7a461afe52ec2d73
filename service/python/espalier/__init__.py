"""Espalier: where does this gang of pods go?

    with espalier.load(["cluster.json.gz"]) as state:
        for workload in state.place_objects(espalier.read_objects(["queues.json.gz"])):
            print(workload.key, workload.outcome.value, workload.reason)

docs/python.md shows the rest.
"""

from espalier import kueue
from espalier.client import Client, load, read_objects
from espalier.connection import TLS
from espalier.errors import CallError, CommandError, EspalierError, HoldError, StaleStateError
from espalier.holds import Hold, HoldProblem, HoldReason, LostHold, Updated
from espalier.kueue_assignment import assignment_from_object, assignment_to_object
from espalier.model import (
    AdmittedPodSet,
    AdmittedWorkload,
    Assignment,
    Changes,
    Contents,
    Domain,
    Group,
    LeafUsage,
    LoadedState,
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
from espalier.status import ServerInfo, ServerStatus

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
    "Hold",
    "HoldError",
    "HoldProblem",
    "HoldReason",
    "LeafUsage",
    "LoadedState",
    "LostHold",
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
    "ServerInfo",
    "ServerStatus",
    "SliceConstraint",
    "StaleStateError",
    "State",
    "Taint",
    "Toleration",
    "Topology",
    "TopologyRequest",
    "Updated",
    "Victim",
    "WorkloadKey",
    "WorkloadRequest",
    "assignment_from_object",
    "assignment_to_object",
    "command",
    "find_binary",
    "kueue",
    "load",
    "read_objects",
    "serve",
]
