"""Kueue's objects beside what is asked and answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import HOST, ROOT, gang

from espalier import (
    Assignment,
    Domain,
    NodeConstraints,
    State,
    TopologyRequest,
    assignment_from_object,
    assignment_to_object,
    command,
)
from espalier.kueue import PodSet, Workload, request_of


def assignments_of_the_command() -> Iterator[dict[str, Any]]:
    dumps = [ROOT / "tests/data/dumps" / name for name in ("before.json.gz", "extra.json")]
    for workload in command("place", *dumps, "-o", "json").json()["items"]:
        for pod_set in workload["status"].get("admission", {}).get("podSetAssignments", ()):
            if "topologyAssignment" in pod_set:
                yield pod_set["topologyAssignment"]


def test_assignments_are_written_as_the_command_writes_them() -> None:
    written = list(assignments_of_the_command())
    assert len(written) > 40
    for one in written:
        assignment = assignment_from_object(one)
        assert assignment.levels == (HOST,)
        assert assignment.pods > 0
        assert assignment_to_object(assignment) == one


def test_what_values_have_in_common_stands_once() -> None:
    domains = (
        Domain(("zone", "r1", "aa"), 1),
        Domain(("zone", "r22", "aaa"), 2),
        Domain(("zone", "r3", "aaaa"), 2),
    )
    assignment = Assignment(("zone", "rack", HOST), domains)
    found = assignment_to_object(assignment)
    assert found == {
        "levels": ["zone", "rack", HOST],
        "slices": [
            {
                "domainCount": 3,
                "valuesPerLevel": [
                    {"universal": "zone"},
                    {"individual": {"prefix": "r", "roots": ["1", "22", "3"]}},
                    {"individual": {"suffix": "aa", "roots": ["", "a", "aa"]}},
                ],
                "podCounts": {"individual": [1, 2, 2]},
            }
        ],
    }
    assert assignment_from_object(found) == assignment
    assert assignment_to_object(Assignment((HOST,), ())) == {"levels": [HOST], "slices": []}


def test_many_domains_are_several_slices() -> None:
    domains = tuple(Domain((f"host-{number}",), 1) for number in range(100_001))
    found = assignment_to_object(Assignment((HOST,), domains))
    assert [one["domainCount"] for one in found["slices"]] == [100_000, 1]
    assert assignment_from_object(found).domains == domains


def test_an_assignment_that_is_not_whole() -> None:
    found = assignment_to_object(Assignment((HOST,), (Domain(("a",), 1), Domain(("b",), 1))))
    found["slices"][0]["valuesPerLevel"][0]["individual"]["roots"].pop()
    with pytest.raises(ValueError, match="zip"):
        assignment_from_object(found)


def test_a_workload_is_asked_about(state: State) -> None:
    rack = TopologyRequest(required="rack", pod_set_group_name="both")
    second = NodeConstraints({"rack": "rack-1"})
    workload = Workload(
        "train",
        (
            PodSet("leader", 1, {"cpu": 1000}, topology_request=rack, node_constraints=second),
            PodSet("workers", 2, {"cpu": 48000}, topology_request=rack, node_constraints=second),
        ),
        "team",
    )
    request = request_of(workload, "gpu")
    assert [one.group for one in request.pod_sets] == ["both", "both"]
    answer = state.place([request])[0]
    assert answer.key == workload.key
    workers = answer.pod_sets[1].assignment
    assert workers is not None
    assert {one.values for one in workers.domains} == {("host-2",), ("host-3",)}
    plain = Workload("plain", (PodSet("main", 1, {"cpu": 48000}),), "team")
    (pod_set,) = request_of(plain, "gpu").pod_sets
    assert pod_set.implied
    pair = PodSet("main", 2, {"cpu": 48000}, topology_request=TopologyRequest(required="rack"))
    assert request_of(Workload("pair", (pair,), "team"), "gpu") == gang("pair", 2)
