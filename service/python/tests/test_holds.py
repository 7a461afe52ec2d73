"""Holds: made, listed, ended, and what is said of those that are none."""

from __future__ import annotations

import pickle

import grpc
import pytest
from conftest import four_hosts, gang, host

import espalier
from espalier import (
    AdmittedWorkload,
    Changes,
    HoldError,
    HoldProblem,
    HoldReason,
    LeafUsage,
    LostHold,
    Mode,
    Position,
    State,
    WorkloadKey,
)

PAIR = gang("pair", 2)
OF_PAIR = tuple(LeafUsage("gpu", f"host-{i}", {"cpu": 48000, "pods": 1}) for i in range(2))


def hold(state: State, *names: str) -> tuple[str, ...]:
    """Holds two pods of a rack for each name."""
    placed = state.place([gang(name, 2) for name in names], Mode.SEQUENTIAL, hold=3600)
    return placed.holds


def at_generation(state: State, change: int) -> bool:
    """Returns whether the state is that of the load after so many changes, and knows it."""
    assert state.position is not None
    return state.position.generation == 1 + change and state.summary().position == state.position


def test_what_is_placed_is_held(state: State) -> None:
    asked = [PAIR, gang("triple", 3)]
    placed = state.place(asked, Mode.SEQUENTIAL, hold=3600, hold_owner="tester")
    assert placed.committed == state.position
    assert placed.committed is not None
    assert placed.holds == (f"team/pair@{placed.committed.generation}", "")
    assert state.summary().holds == 1
    (one,) = state.list_holds(usage=True)
    assert one.id == placed.holds[0]
    assert (one.workload, one.owner) == (WorkloadKey("team", "pair"), "tester")
    assert one.pods == 2
    assert one.age_seconds + one.seconds_left >= 3600
    assert one.usage == OF_PAIR
    assert state.list_holds()[0].usage == ()
    here, there = placed[0].pod_sets[0], state.place([gang("other", 2)])[0].pod_sets[0]
    assert there.assignment is not None
    assert there.assignment != here.assignment


def test_nothing_is_held_unasked(state: State) -> None:
    assert state.place([PAIR], Mode.SEQUENTIAL, commit=True).holds == ()
    assert state.list_holds() == []
    with pytest.raises(espalier.CallError) as raised:
        state.place([PAIR], hold=3600)
    assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT


def test_confirm_with_what_is_reported_in_their_place(state: State) -> None:
    placed = state.place([PAIR], Mode.SEQUENTIAL, hold=3600)
    where = placed[0].pod_sets[0].assignment
    assert where is not None
    usage = PAIR.pod_sets[0].usage(where)
    assert usage == OF_PAIR
    runs = AdmittedWorkload("pair", "team", usage=usage)
    confirmed = state.confirm_holds(placed.holds, Changes(set_workloads=(runs,)))
    assert confirmed.position == state.position
    assert (confirmed.warnings, confirmed.broken_holds) == ((), ())
    assert at_generation(state, 2)
    found = state.summary()
    assert (found.holds, found.workloads) == (0, 1)
    with pytest.raises(HoldError, match="confirmed") as raised:
        state.release_holds(placed.holds)
    assert raised.value.code is grpc.StatusCode.ALREADY_EXISTS
    assert raised.value.problems == (HoldProblem(placed.holds[0], HoldReason.CONFIRMED),)


def test_confirm_what_was_reported_before(state: State) -> None:
    ids = hold(state, "pair")
    state.update(Changes(set_workloads=(AdmittedWorkload("pair", "team", usage=OF_PAIR),)))
    state.confirm_holds(ids)
    assert at_generation(state, 3)
    assert state.list_holds() == []


def test_holds_of_which_nothing_is_reported_stay(state: State) -> None:
    ids = hold(state, "pair")
    with pytest.raises(espalier.CallError) as raised:
        state.confirm_holds(ids, Changes())
    assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [one.id for one in state.list_holds()] == list(ids)


def test_release_and_extend(state: State) -> None:
    first, second = hold(state, "first", "second")
    before = {one.id: one.seconds_left for one in state.list_holds()}
    state.extend_holds([second], 86400)
    after = {one.id: one.seconds_left for one in state.list_holds()}
    assert after[second] > 3600 >= before[second]
    assert after[first] <= 3600
    assert at_generation(state, 1)
    assert state.release_holds([first]) == state.position
    assert at_generation(state, 2)
    assert [one.id for one in state.list_holds()] == [second]
    assert state.place([PAIR])[0].pod_sets[0].assignment is not None


def test_what_is_wrong_with_holds(state: State) -> None:
    ids = hold(state, "pair")
    at = state.position
    with pytest.raises(HoldError) as raised:
        state.extend_holds([*ids, "none@1", "none@2"], 60)
    assert raised.value.code is grpc.StatusCode.NOT_FOUND
    assert raised.value.problems == (
        HoldProblem("none@1", HoldReason.UNKNOWN),
        HoldProblem("none@2", HoldReason.UNKNOWN),
    )
    assert raised.value.count == 2
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.problems, again.count) == (raised.value.problems, 2)
    with pytest.raises(HoldError) as raised:
        hold(state, "pair")
    assert raised.value.problems == (HoldProblem(ids[0], HoldReason.HELD),)
    assert state.position == at
    state.release_holds(ids)
    with pytest.raises(HoldError) as raised:
        state.release_holds(ids)
    assert raised.value.code is grpc.StatusCode.ABORTED
    assert raised.value.problems == (HoldProblem(ids[0], HoldReason.RELEASED),)


def test_changes_of_others_are_not_passed_over(client: espalier.Client, state: State) -> None:
    ids = hold(state, "pair")
    other = client.state(state.name)
    other.update(Changes(upsert_nodes=(host(4),)))
    assert other.position is None
    at = state.release_holds(ids)
    assert state.position is not None
    assert at == Position(state.position.epoch, state.position.generation + 2)
    with pytest.raises(espalier.StaleStateError) as raised:
        state.place([PAIR])
    assert raised.value.current == at


def test_an_update_and_a_load_name_the_holds_they_end(
    client: espalier.Client, state: State
) -> None:
    left, right = hold(state, "left", "right")
    updated = state.update(Changes(remove_nodes=("host-1",)))
    assert updated.position == state.position
    assert updated.broken_holds == (LostHold(left, "gpu", "host-1"),)
    small = four_hosts()
    loaded = client.load_state(
        espalier.Contents(small.topologies, small.flavors, small.nodes[:3]), state.name
    )
    assert loaded.dropped_holds == (LostHold(right, "gpu", "host-3"),)
    assert client.load_state(small, state.name).dropped_holds == ()
    with pytest.raises(HoldError) as raised:
        loaded.release_holds([left, right])
    assert [one.reason for one in raised.value.problems] == [
        HoldReason.BROKEN,
        HoldReason.DROPPED,
    ]


def test_new_pods_of_a_replacement_are_held(state: State) -> None:
    where = state.place([PAIR])[0].pod_sets[0].assignment
    held = espalier.AdmittedPodSet("main", {"cpu": "gpu"}, {"cpu": 96000}, 2, where)
    free = gang("pair", 2, topology=espalier.TopologyRequest(preferred="rack"))
    request = espalier.WorkloadRequest(
        free.pod_sets, "team", "pair", replacement=espalier.Replacement(("host-1",), (held,))
    )
    placed = state.replace([request], Mode.SEQUENTIAL, hold=3600)
    (one,) = state.list_holds()
    assert (one.id,) == placed.holds
    assert one.pods == 1
