"""What servers say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import HOST, four_hosts, gang

import espalier
from espalier import Mode
from espalier.status import AccessState, DeviceState, KeptState, LevelUse, ResourceUse


def test_what_runs() -> None:
    arguments = ["--threads", "1", "--backend", "cpu", "--metrics", "127.0.0.1:0"]
    arguments += ["--max-states", "7", "--max-message-bytes", "1MiB", "--memory", "1GiB"]
    arguments += ["--max-calls", "3", "--max-queued-calls", "5", "--call-memory", "100MiB"]
    with espalier.serve(arguments=arguments) as server, espalier.Client(server.address) as client:
        info = client.info()
        assert info == client.info()
        status = client.status()
    said = espalier.command("--version").output
    assert info.version in said
    assert info.commit in said
    assert info.backend == "cpu"
    assert info.addresses == server.addresses
    assert info.metrics_address.startswith("127.0.0.1:")
    assert 0 < info.started_ms <= status.now_ms
    limits = info.limits
    assert (limits.calls, limits.queued_calls, limits.named_states) == (3, 5, 7)
    assert limits.memory_bytes + limits.connection_memory_bytes == 1 << 30
    assert (limits.call_memory_bytes, limits.message_bytes) == (100 << 20, 1 << 20)


def test_how_it_fares(tmp_path: Path) -> None:
    arguments = ["--threads", "1", "--backend", "emulated", "--state-dir", str(tmp_path)]
    with espalier.serve(arguments=arguments) as server, espalier.Client(server.address) as client:
        new = client.status()
        (nothing,) = new.states
        assert (nothing.name, nothing.position.generation, nothing.changed_ms) == ("", 0, 0)
        assert (new.refusals, new.tls) == ((), None)
        assert new.access == AccessState(False, 0, 0, 0, "", 0)
        state = client.load_state(four_hosts(), "east")
        state.place([gang("pair", 2)], Mode.SEQUENTIAL, hold=3600)
        with pytest.raises(espalier.CallError) as raised:
            state.place([gang("bad", -1)])
        _, east = client.status().states
        status = client.status(use=True)
    assert east.flavors == ()
    _, east = status.states
    assert (east.name, east.position, east.nodes) == ("east", state.position, 4)
    assert (east.holds, east.workloads) == (1, 0)
    assert 0 < east.changed_ms <= status.now_ms
    (gpu,) = east.flavors
    assert (gpu.name, gpu.nodes) == ("gpu", 4)
    assert gpu.resources == (
        ResourceUse("cpu", 4 * 64000, 2 * 48000),
        ResourceUse("pods", 4 * 110, 2),
    )
    assert gpu.levels == (
        LevelUse("rack", 2, 1, {"cpu": 2 * 64000, "pods": 2 * 110}),
        LevelUse(HOST, 4, 2, {"cpu": 64000, "pods": 110}),
    )
    assert status.device is not None
    assert status.device == DeviceState(status.device.name, True, 0, "")
    assert status.memory_held_bytes > 0
    (refused,) = status.refusals
    assert (refused.cause, refused.calls) == ("bad_request", 1)
    assert refused.last.method == "espalier.v1.Placement/Place"
    assert refused.last.message == raised.value.text
    assert status.state_dir is not None
    assert (status.state_dir.folder, status.state_dir.failure) == (str(tmp_path), "")
    assert status.state_dir.ignored == ()


def test_states_on_disk_are_named(tmp_path: Path) -> None:
    arguments = ["--threads", "1", "--state-dir", str(tmp_path)]
    with espalier.serve(arguments=arguments) as server, espalier.Client(server.address) as client:
        state = client.load_state(four_hosts(), "east")
        checksum = state.summary().checksum
    with espalier.serve(arguments=arguments) as server, espalier.Client(server.address) as client:
        status = client.status()
    assert status.state_dir is not None
    (kept,) = status.state_dir.kept
    assert kept == KeptState("east", kept.position, 0, kept.bytes)
    assert kept.position == state.position
    assert kept.bytes > 0
    assert [one.checksum for one in status.states if one.name == "east"] == [checksum]
