"""Every question, asked of a real server."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import grpc
import pytest
from conftest import HOST, ROOT, four_hosts, gang, host

import espalier
from espalier import (
    AdmittedWorkload,
    Assignment,
    Changes,
    Domain,
    Group,
    LeafUsage,
    Mode,
    NestedRequest,
    NodeConstraints,
    PodSetRequest,
    Position,
    Profile,
    Question,
    Replacement,
    State,
    Toleration,
    TopologyRequest,
    Victim,
    WorkloadKey,
    WorkloadRequest,
)
from espalier.answers import ObjectOutcome, Outcome, Verdict
from espalier.results import FitStatus


def on(*hosts: str) -> Assignment:
    return Assignment((HOST,), tuple(Domain((one,), 1) for one in hosts))


def runs(name: str, *hosts: str, priority: int = 0) -> AdmittedWorkload:
    """Uses 48 cores on each host."""
    usage = tuple(LeafUsage("gpu", one, {"cpu": 48000, "pods": 1}) for one in hosts)
    return AdmittedWorkload(name, "team", priority, 1700000000, usage)


def test_place(state: State) -> None:
    placed = state.place([gang("pair", 2), gang("triple", 3)])
    pair, triple = placed
    assert pair.placed
    assert pair.pod_sets[0].assignment == on("host-0", "host-1")
    assert not triple.placed
    assert triple.reason.startswith('topology "default" allows to fit only 2 out of 3 pod(s)')
    failure = triple.pod_sets[0].failure
    assert failure is not None
    assert failure.shortfall is not None
    assert (failure.shortfall.fit, failure.shortfall.total) == (2, 3)
    assert failure.shortfall.total_nodes == 4
    assert placed.state == state.position
    frame = placed.to_frame()
    assert list(frame.columns) == list(placed.COLUMNS)
    assert frame.outcome.tolist() == ["placed", "failed"]


def test_place_in_order_and_commit(state: State) -> None:
    before = state.position
    two = [gang("a", 2), gang("b", 2), gang("c", 2)]
    placed = state.place(two, Mode.SEQUENTIAL, commit=True, commit_token="first")
    assert [one.placed for one in placed] == [True, True, False]
    assert before is not None
    assert placed.committed == Position(before.epoch, before.generation + 1) == state.position
    assert not state.place([gang("d", 2)])[0].placed


def test_constraints_of_nodes(state: State) -> None:
    only_two = NodeConstraints({HOST: "host-2"}, (Toleration("dedicated", "Exists"),))
    request = WorkloadRequest(
        (PodSetRequest("main", "gpu", 1, {"cpu": 1000}, constraints=only_two, implied=True),)
    )
    assert state.place([request])[0].pod_sets[0].assignment == on("host-2")


def test_replace_a_failed_node(state: State) -> None:
    held = espalier.AdmittedPodSet(
        "main", {"cpu": "gpu"}, {"cpu": 96000}, 2, on("host-0", "host-2")
    )
    request = gang("train", 2, topology=TopologyRequest(preferred="rack"))
    request = WorkloadRequest(
        request.pod_sets, "team", "train", replacement=Replacement(("host-2",), (held,))
    )
    answer = state.replace([request])[0].pod_sets[0]
    assert answer.assignment is not None
    assert HOST in answer.assignment.levels
    assert ("host-0",) in [domain.values for domain in answer.assignment.domains]
    assert answer.added is not None
    assert sum(answer.added) == 1


def test_nested_gangs(state: State) -> None:
    tree = Group(
        "train",
        children=(
            Group(
                "replica",
                copies=2,
                required="rack",
                requests={"cpu": 48000},
                min_count=2,
                max_count=2,
            ),
        ),
    )
    placed = state.place_nested(
        [NestedRequest(tree, "gpu", "team", "train")],
        [gang("flat", 1)],
        is_nested=[False, True],
    )
    assert placed.nested[0].status is Verdict.PLACED
    racks = {one.values for one in placed.nested[0].groups if one.path}
    assert racks == {("rack-0",), ("rack-1",)}
    assert placed.flat[0].placed
    in_batch = WorkloadRequest(
        gang("train", 4).pod_sets,
        tree=NestedRequest(
            Group(
                "train",
                (
                    Group(
                        "replica",
                        copies=2,
                        required="rack",
                        requests={"cpu": 48000},
                        min_count=2,
                        max_count=2,
                        pod_set=1,
                    ),
                ),
            ),
            "gpu",
        ),
    )
    answer = state.place([in_batch])[0]
    assert answer.tree is not None
    assert answer.placed


def test_objects(state: State) -> None:
    pod = (
        '{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "%s", "namespace": "team",'
        ' "labels": {"kueue.x-k8s.io/queue-name": "queue"}}, "spec": {"suspend": true,'
        ' "parallelism": %d, "completions": %d, "template": {"metadata": {"annotations":'
        ' {"kueue.x-k8s.io/podset-required-topology": "rack"}}, "spec": {"containers": [{"name":'
        ' "main", "resources": {"requests": {"cpu": "48"}}}], "restartPolicy": "Never"}}}}'
    )
    answer = state.place_objects(pod % ("pair", 2, 2) + pod % ("triple", 3, 3), guess_flavor=True)
    outcomes = {one.key.name: one.outcome for one in answer}
    pair, triple = sorted(outcomes)
    assert outcomes[pair] is ObjectOutcome.PLACED
    assert outcomes[triple] is ObjectOutcome.NOT_PLACED
    assert [one.verdict for one in answer] == [None, Verdict.NEVER]
    assert answer.to_frame().verdict.tolist() == ["", "never"]


def test_what_if(state: State) -> None:
    state.update(Changes(set_workloads=(runs("a", "host-0"), runs("b", "host-2"))))
    pair = gang("pair", 2)
    asked = [
        Question(pair),
        Question(pair, without=(Victim("b", "team"),)),
        Question(pair, without=(Victim("a", "team"),), drained=("host-1",)),
        Question(pair, upserted=(host(4, rack=0), host(5, rack=1))),
    ]
    answers = state.what_if(asked)
    assert [one.fits for one in answers] == [False, True, False, True]
    placed = state.what_if(asked, placements=True)
    assert [one.fits for one in placed] == [one.fits for one in answers]
    where = placed[1].answer
    assert where is not None
    assert where.pod_sets[0].assignment == on("host-2", "host-3")
    assert state.what_if([Question(pair)], empty_nodes=True)[0].fits


def test_victims(state: State) -> None:
    state.update(
        Changes(set_workloads=(runs("a", "host-0", priority=5), runs("b", "host-2", priority=1)))
    )
    who = (Victim("a", "team"), Victim("b", "team"))
    found = state.victims([gang("pair", 2)], who)[0]
    assert (found.fits, found.prefix, found.targets) == (True, 1, (WorkloadKey("team", "a"),))
    assert found.answer is not None
    assert found.answer.placed
    cheapest = state.victims([gang("pair", 2)], who, cheapest=True)[0]
    by_rack = {one.values: one.sets[0].victims for one in cheapest.domains}
    assert by_rack == {
        ("rack-0",): (WorkloadKey("team", "a"),),
        ("rack-1",): (WorkloadKey("team", "b"),),
    }


def test_atlas(state: State) -> None:
    state.update(
        Changes(set_workloads=(runs("a", "host-0", priority=5), runs("b", "host-2", priority=1)))
    )
    asked = [gang("pair", 2), gang("five", 5), gang("other-pair", 2)]
    atlas = state.atlas(asked)
    assert atlas.priorities == (1, 5)
    pair, five, other = atlas.rows
    assert (pair.level, pair.anywhere) == ("rack", 1)
    assert pair.steps == {("rack-0",): 2, ("rack-1",): 1}
    assert other is pair
    assert set(five.steps.values()) == {atlas.never}
    drained = state.atlas(asked[:1], candidates=[Victim("a", "team")], drained=["host-2"])
    assert drained.rows[0].steps == {("rack-0",): 1, ("rack-1",): 2}


def test_capacity(state: State) -> None:
    room = state.capacity([gang("pair", 2)], domains=True)[0]
    assert {one.level: one.gangs for one in room.levels} == {"": 2, "rack": 2, HOST: 0}
    racks = next(one for one in room.levels if one.level == "rack")
    assert [(one.values, one.gangs, one.pods) for one in racks.domains] == [
        (("rack-0",), 1, 2),
        (("rack-1",), 1, 2),
    ]
    assert state.capacity([gang("pair", 2)], drained=["host-0"])[0].at("rack") == 1
    assert state.capacity([]) == []
    assert room.to_frame().gangs.tolist() == [2, 2, 0]


def test_explain(state: State) -> None:
    triple, pair = state.explain([gang("triple", 3), gang("pair", 2)])
    assert pair.fits
    assert not triple.fits
    assert triple.never
    assert triple.would_fit.fewer_pods == 2
    assert triple.would_fit.anywhere
    assert triple.near_miss is not None
    assert (triple.near_miss.values, triple.near_miss.fit) == (("rack-0",), 2)
    assert triple.near_miss.binding[0].resource == "cpu"
    state.update(Changes(set_workloads=(runs("a", "host-0"), runs("b", "host-2"))))
    waits = state.explain([gang("pair", 2)])[0]
    assert not waits.never
    assert waits.would_fit.gone == (WorkloadKey("team", "a"), WorkloadKey("team", "b"))
    assert state.explain([gang("pair", 2)], candidates=[])[0].would_fit.gone == ()


def test_drain(state: State) -> None:
    state.update(Changes(set_workloads=(runs("a", "host-0"), runs("b", "host-2"))))
    found = state.drain(["host-0"], [gang("a", 1)])
    assert [(one.workload, one.pods_hit) for one in found.hits] == [(WorkloadKey("team", "a"), 1)]
    assert [one.key for one in found.moved] == [WorkloadKey("team", "a")]
    assert found.moved[0].placed
    assert found.to_frame().pods_hit.tolist() == [1]


def test_defragment(state: State) -> None:
    state.update(Changes(set_workloads=(runs("a", "host-0"), runs("b", "host-2"))))
    plan = state.defragment("rack", [gang("a", 1), gang("ghost", 1)], most_moves=1)
    assert plan.domains == 2
    assert [one.values for one in plan.freed] == [("rack-0",)]
    assert plan.freed[0].moves[0].key == WorkloadKey("team", "a")
    assert plan.staying == (WorkloadKey("team", "b"),)
    assert plan.unknown == (WorkloadKey("team", "ghost"),)


def test_replay(state: State) -> None:
    chosen = [LeafUsage("gpu", one, {"cpu": 48000, "pods": 1}) for one in ("host-1", "host-2")]
    first, second = state.replay([gang("a", 2), gang("b", 2)], {0: chosen})
    assert first.pod_sets[0].assignment == on("host-0", "host-1")
    assert second.pod_sets[0].outcome is Outcome.FAILED


def test_dispatch(client: espalier.Client) -> None:
    small = four_hosts()
    client.load_state(small, "east")
    client.load_state(espalier.Contents(small.topologies, small.flavors, small.nodes[:1]), "west")
    answer = client.dispatch([gang("pair", 2)], {"west": None, "east": None, "south": None})[0]
    assert [(one.state, one.status) for one in answer.fits] == [
        ("east", FitStatus.FITS),
        ("south", FitStatus.UNKNOWN),
        ("west", FitStatus.DOES_NOT_FIT),
    ]
    assert answer.fits[0].pod_sets[0].level == "rack"
    assert {one.name for one in client.states()} >= {"east", "west"}
    client.unload("west")
    assert "west" not in {one.name for one in client.states()}


def test_leaves_and_summary(state: State) -> None:
    assert list(state.leaves("gpu")) == [(f"rack-{i // 2}", f"host-{i}") for i in range(4)]
    found = state.summary()
    assert found.nodes == 4
    assert found.flavors[0].domain_counts == (2, 4)
    assert found.position == state.position


def test_a_state_is_read_back_as_it_would_be_loaded(client: espalier.Client, state: State) -> None:
    dedicated = espalier.Taint("dedicated", "ml")
    contents = espalier.Contents(
        topologies=(espalier.Topology("default", ("rack", HOST)),),
        flavors=(
            espalier.ResourceFlavor("cpu-only", node_labels={"kind": "cpu"}),
            espalier.ResourceFlavor(
                "gpu",
                "default",
                {"kind": "gpu"},
                (espalier.Taint("gpu", effect="NoExecute"),),
                (Toleration("dedicated", "Exists"),),
            ),
        ),
        nodes=(
            espalier.Node(
                "host-0", {HOST: "host-0", "rack": "rack-0", "kind": "gpu"}, {"cpu": 64000}
            ),
            espalier.Node("host-1", {}, {"cpu": 1}, ready=False),
            espalier.Node("host-2", {}, {}, unschedulable=True, taints=(dedicated,)),
            *(host(number) for number in range(3, 5000)),  # more than one message holds
        ),
        non_tas_usage=(espalier.NodeUsage("host-0", {"cpu": 3000, "pods": 3}, {"cpu": 1000}),),
        tas_usage=(LeafUsage("gpu", "host-0", {"cpu": 2000, "pods": 1}),),
        workloads=(
            AdmittedWorkload(
                "a", "team", -7, 1700000000, (LeafUsage("gpu", "host-0", {"cpu": 5}),), "first"
            ),
        ),
        share_usage_between_flavors=False,
        kueue_configuration="kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1beta2",
    )
    loaded = client.load_state(contents, state.name)
    found = loaded.read()
    # The configuration comes as JSON, whatever it was.
    assert json.loads(found.contents.kueue_configuration)["kind"] == "Configuration"
    assert replace(found.contents, kueue_configuration=contents.kueue_configuration) == contents
    assert (found.position, found.held_usage) == (loaded.position, ())
    assert client.load_state(found.contents, "copy").summary().checksum == (
        loaded.summary().checksum
    )


def test_what_is_held_is_read_apart(state: State) -> None:
    before = state.read()
    state.place([gang("pair", 2)], Mode.SEQUENTIAL, hold=3600)
    found = state.read()
    assert found.contents == before.contents
    assert found.position == state.position != before.position
    usage = {"cpu": 48000, "pods": 1}
    assert found.held_usage == tuple(LeafUsage("gpu", f"host-{i}", usage) for i in range(2))


def test_errors_carry_code_field_and_text(state: State) -> None:
    with pytest.raises(espalier.CallError) as raised:
        state.place([gang("bad", -1)])
    assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert raised.value.field == "workloads.pod_set_counts[0]"
    assert "-1" in raised.value.text
    with pytest.raises(espalier.CallError) as raised:
        state.drain(["no-such-host"])
    assert raised.value.code is grpc.StatusCode.NOT_FOUND
    with pytest.raises(ValueError, match="cpu: is 9223372036854775808; want an int64"):
        state.place([gang("huge", 1, cpu=2**63)])


def test_a_stale_position_names_the_current_one(client: espalier.Client, state: State) -> None:
    other = client.state(state.name)
    other.update(Changes(remove_nodes=("host-3",)))
    with pytest.raises(espalier.StaleStateError) as raised:
        state.place([gang("pair", 2)])
    assert raised.value.current == other.summary().position
    assert raised.value.code is grpc.StatusCode.FAILED_PRECONDITION
    state.position = raised.value.current
    assert state.place([gang("pair", 2)])[0].placed


def test_errors_cross_processes(client: espalier.Client, state: State) -> None:
    empty = client.state("none-such")
    for call in (
        lambda: empty.place([gang("pair", 2)]),
        lambda: empty.capacity([gang("pair", 2)]),
        lambda: client.load_state(espalier.Contents((), (), (host(1), host(1))), state.name),
    ):
        with pytest.raises(espalier.CallError) as raised:
            call()
        assert raised.value.__context__ is None  # pickled with it where dask is loaded
        again = pickle.loads(pickle.dumps(raised.value))
        assert (again.code, again.text) == (raised.value.code, raised.value.text)


def test_a_server_that_is_not_there() -> None:
    with (
        espalier.Client("unix:/no/such/socket") as nobody,
        pytest.raises(espalier.CallError) as raised,
    ):
        nobody.states()
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE


def test_profile_of_trees(state: State) -> None:
    placed = state.place_nested(
        [NestedRequest(Group("solo", requests={"cpu": 1000}, min_count=1, max_count=1), "gpu")],
        profile=Profile.KEP5732,
        mode=Mode.SEQUENTIAL,
        commit=True,
    )
    assert placed.nested[0].placed
    assert placed.committed == state.position


def test_files_are_read_as_the_command_reads_them(server: espalier.Server) -> None:
    dumps = [ROOT / "tests/data/dumps" / name for name in ("before.json.gz", "extra.json")]
    with espalier.load(dumps, server=server, name="dump") as loaded:
        assert loaded.summary().nodes == 336
        here = loaded.place_objects(espalier.read_objects(dumps))
    there = espalier.command("place", *dumps, "-o", "json").json()["items"]
    admitted = {
        (one["metadata"]["namespace"], one["metadata"]["name"])
        for one in there
        if "admission" in one["status"]
    }
    assert {one.key for one in here if one.placed} == admitted
    assert len(admitted) == 47
    nothing = [one for one in here if one.outcome is ObjectOutcome.NOTHING_TO_PLACE]
    assert len(nothing) == 3  # on a flavor without a topology


def test_load_starts_a_server_of_its_own() -> None:
    with espalier.load(ROOT / "tests/data/dumps/extra.json") as loaded:
        address = loaded.address
        assert loaded.summary().position.generation == 1
    with espalier.Client(address, timeout=60) as nobody, pytest.raises(espalier.CallError):
        nobody.states()


def test_files_that_cannot_be_read_are_named(server: espalier.Server) -> None:
    with pytest.raises(espalier.CommandError, match=r"no-such\.json"):
        espalier.load(["/no-such.json"], server=server)
