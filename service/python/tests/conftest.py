"""A server and small clusters for the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import espalier
from espalier import Contents, Node, PodSetRequest, ResourceFlavor, Topology, TopologyRequest
from espalier import WorkloadRequest as Request

ROOT = Path(__file__).resolve().parents[3]
HOST = "kubernetes.io/hostname"


@pytest.fixture(scope="session", autouse=True)
def binary() -> str:
    """Lets everything find the command that the build makes."""
    os.environ.setdefault("ESPALIER_BINARY", str(ROOT / "build/release/espalier"))
    return espalier.find_binary()


@pytest.fixture(scope="session")
def server() -> Iterator[espalier.Server]:
    with espalier.serve(arguments=["--threads", "1"]) as running:
        yield running


@pytest.fixture
def client(server: espalier.Server) -> Iterator[espalier.Client]:
    with espalier.Client(server.address) as connected:
        yield connected


@pytest.fixture
def state(client: espalier.Client, request: pytest.FixtureRequest) -> espalier.State:
    """Holds four hosts of 64 cores in two racks, under a name of the test's own."""
    name = request.node.name.lower().replace("_", "-").partition("[")[0]
    return client.load_state(four_hosts(), name)


def host(number: int, *, rack: int | None = None, ready: bool = True) -> Node:
    of_rack = f"rack-{number // 2 if rack is None else rack}"
    return Node(
        f"host-{number}",
        {"rack": of_rack, HOST: f"host-{number}"},
        {"cpu": 64000, "pods": 110},
        ready=ready,
    )


def four_hosts() -> Contents:
    return Contents(
        topologies=(Topology("default", ("rack", HOST)),),
        flavors=(ResourceFlavor("gpu", "default"),),
        nodes=tuple(host(number) for number in range(4)),
    )


def gang(
    name: str, pods: int, cpu: int = 48000, topology: TopologyRequest | None = None
) -> Request:
    topology = topology or TopologyRequest(required="rack")
    pod_set = PodSetRequest("main", "gpu", pods, {"cpu": cpu}, topology)
    return Request((pod_set,), "team", name)
