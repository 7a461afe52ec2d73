"""Queues: cycles, resizes, checks and ungating."""

from __future__ import annotations

import json

import pytest
from conftest import HOST, ROOT

import espalier
from espalier import AdmittedPodSet, Assignment, Domain, State, TopologyRequest, WorkloadKey
from espalier.kueue import (
    Admission,
    ClusterQueue,
    Condition,
    FlavorQuota,
    LocalQueue,
    Pod,
    PodSet,
    Queues,
    ResourceGroup,
    Workload,
)
from espalier.results import DecisionStatus, ResizeDecision

RACK = TopologyRequest(required="rack")


def queues(*workloads: Workload) -> Queues:
    group = ResourceGroup(("cpu",), (FlavorQuota("gpu", {"cpu": 512000}),))
    return Queues(
        (ClusterQueue("all", (group,)),), (LocalQueue("queue", "all", "team"),), workloads
    )


def waiting(name: str, pods: int, priority: int = 0) -> Workload:
    pod_set = PodSet("main", pods, {"cpu": 48000}, topology_request=RACK)
    return Workload(name, (pod_set,), "team", "queue", priority=priority, creation_seconds=1)


def admitted(name: str, pods: int, hosts: int) -> Workload:
    places = Assignment((HOST,), tuple(Domain((f"host-{i}",), 1) for i in range(hosts)))
    holds = AdmittedPodSet("main", {"cpu": "gpu"}, {"cpu": pods * 48000}, pods, places)
    pod_set = PodSet("main", pods, {"cpu": 48000}, topology_request=RACK)
    return Workload(
        name,
        (pod_set,),
        "team",
        "queue",
        uid=name,
        annotations={"kueue.x-k8s.io/elastic-job": "true"},
        admission=Admission("all", (holds,)),
        conditions=(Condition("QuotaReserved"), Condition("Admitted")),
    )


def test_cycle(state: State) -> None:
    found = state.cycle(queues(waiting("pair", 2), waiting("triple", 3, 1)), until_stable=True)
    by_name = {one.workload.name: one for one in found.decisions}
    assert by_name["pair"].status is DecisionStatus.ASSUMED
    assert by_name["pair"].pod_set_assignments[0].assignment == Assignment(
        (HOST,), (Domain(("host-0",), 1), Domain(("host-1",), 1))
    )
    assert by_name["triple"].status is DecisionStatus.NOT_ADMITTED
    assert "allows to fit only 2 out of 3" in by_name["triple"].reason
    assert set(found.to_frame().status) == {"assumed", "not_admitted"}


def test_plan_resize(state: State) -> None:
    running = queues(admitted("train", 2, 2))
    smaller = state.plan_resize(running, WorkloadKey("team", "train"), {"main": 1})
    assert smaller.decision is ResizeDecision.IN_PLACE
    assert smaller.counts == {"main": 1}
    assert smaller.after is not None
    assert smaller.after.pod_sets[0].count == 1
    assert smaller.after.key == WorkloadKey("team", "train")
    same = state.plan_resize(running, WorkloadKey("team", "train"), {"main": 2})
    assert same.decision is ResizeDecision.NONE
    with pytest.raises(ValueError, match="team/none: is not among the workloads"):
        state.plan_resize(running, WorkloadKey("team", "none"), {})


def test_validate(state: State) -> None:
    assert state.validate([admitted("train", 2, 2)]).faults == ()
    found = state.validate([admitted("train", 3, 2), admitted("wide", 3, 3)])
    assert found.workloads == 2
    assert {one.workload.name for one in found.faults} == {"train", "wide"}
    assert len(found.to_frame()) == len(found.faults)


def test_ungate(client: espalier.Client) -> None:
    pods = [
        Pod(
            f"train-{i}",
            "team",
            {"kueue.x-k8s.io/podset": "main"},
            {"kueue.x-k8s.io/workload": "train"},
            gated=i > 0,
            node_selector={HOST: "host-0"} if i == 0 else {},
            phase="Running" if i == 0 else "Pending",
        )
        for i in range(2)
    ]
    (pod,) = client.ungate(admitted("train", 2, 2), pods)
    assert pod.pod == WorkloadKey("team", "train-1")
    assert pod.domain == ("host-1",)
    assert pod.node_selector == {HOST: "host-1"}
    assert pod.gates == ("kueue.x-k8s.io/topology",)


def test_plan_flow(client: espalier.Client) -> None:
    data = ROOT / "tests/cli_cycle/data/multikueue"
    flow = client.plan_flow(
        (data / "manager.yaml").read_bytes(), {"east": (data / "worker.yaml").read_bytes()}
    )
    told = json.loads((data / "up.json").read_text())["steps"]
    assert [(one.at, one.event, one.decision) for one in flow.steps] == [
        (one["at"], one["event"], one["decision"]) for one in told
    ]
    write = flow.steps[0].writes[0]
    assert (write.cluster, write.kind, write.name) == ("east", "Workload", "rayjob-ray-1a2b3")
    assert write.value == '{"small-group":5}'
    assert flow.steps[0].runs == {"head": 1, "small-group": 1}
    with pytest.raises(espalier.CallError) as raised:
        client.plan_flow("{}", {"east": "{}"})
    assert "manager" in raised.value.text
    with pytest.raises(ValueError, match="workers: is empty"):
        client.plan_flow("{}", {})
