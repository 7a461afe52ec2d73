"""A client of a server."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import grpc

from espalier import encode, kueue, model, results
from espalier.connection import TLS, Connection
from espalier.decode import Texts, position
from espalier.holds import lost_holds
from espalier.model import WorkloadKey
from espalier.process import CommandResult, Server, StrPath, command
from espalier.state import State
from espalier.state_questions import Gates
from espalier.status import ServerInfo, ServerStatus, server_info, server_status
from espalier.v1 import (
    cluster_state_pb2,
    dispatch_pb2,
    multikueue_pb2,
    named_states_pb2,
    server_pb2,
    ungating_pb2,
)

_FITS = {
    dispatch_pb2.FIT_STATUS_FITS: results.FitStatus.FITS,
    dispatch_pb2.FIT_STATUS_UNKNOWN: results.FitStatus.UNKNOWN,
    dispatch_pb2.FIT_STATUS_DOES_NOT_FIT: results.FitStatus.DOES_NOT_FIT,
}


class Client:
    """Asks the server at `unix:PATH` or `HOST:PORT`; it may be used by several threads. `timeout`
    bounds each call, in seconds. `tls` encrypts, and `credentials` do so in a way of your own."""

    def __init__(
        self,
        address: str,
        *,
        timeout: float = 300,
        credentials: grpc.ChannelCredentials | None = None,
        tls: TLS | None = None,
    ) -> None:
        self._connection = Connection(address, timeout, credentials, tls)

    @property
    def address(self) -> str:
        return self._connection.address

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # The server.

    def info(self) -> ServerInfo:
        """Returns what runs there, and within which limits."""
        reply = self._connection.unary(
            "Server/Info", server_pb2.ServerInfoRequest(), server_pb2.ServerInfoResponse
        )
        return server_info(reply)

    def status(self, *, use: bool = False) -> ServerStatus:
        """Returns how the server fares at this moment; with `use` also what of each flavor is in
        use, for which the server looks at every node."""
        reply = self._connection.unary(
            "Server/Status",
            server_pb2.ServerStatusRequest(with_use=use),
            server_pb2.ServerStatusResponse,
        )
        return server_status(reply)

    # States.

    def state(self, name: str = "") -> State:
        """Returns the state of that name, to be asked about as it is at each call."""
        return State(self._connection, name)

    def load_state(self, contents: model.Contents, name: str = "") -> State:
        """Makes `contents` the state of that name."""
        reply = self._connection.upload(
            "ClusterState/LoadState",
            encode.load_chunks(contents, name),
            cluster_state_pb2.LoadStateResponse,
        )
        state = State(self._connection, name, position(reply.state))
        state.messages = tuple(reply.warnings)
        state.dropped_holds = lost_holds(reply.dropped_holds)
        return state

    def states(self) -> list[results.NamedState]:
        """Returns the named states, by name."""
        reply = self._connection.unary(
            "ClusterState/ListStates",
            named_states_pb2.ListStatesRequest(),
            named_states_pb2.ListStatesResponse,
        )
        return [
            results.NamedState(one.state_name, position(one.state), one.nodes)
            for one in reply.states
        ]

    def unload(self, name: str) -> None:
        """Forgets a named state."""
        self._connection.unary(
            "ClusterState/UnloadState",
            named_states_pb2.UnloadStateRequest(state_name=name),
            named_states_pb2.UnloadStateResponse,
        )

    # Questions that need many states, or none.

    def dispatch(
        self,
        workloads: Sequence[model.WorkloadRequest],
        states: Mapping[str, model.Position | None] | None = None,
        *,
        gates: Gates | None = None,
    ) -> list[results.Dispatch]:
        """Answers which of the named states, all unless some are named, can hold each workload."""
        request = dispatch_pb2.DispatchRequest(
            feature_gates=gates, workloads=encode.workload_batch(workloads)
        )
        for name, at in (states or {}).items():
            request.states.add(state_name=name, state=encode.position(at))
        reply = self._connection.unary(
            "Dispatching/Dispatch", request, dispatch_pb2.DispatchResponse
        )
        texts = Texts(reply.strings)
        return [
            results.Dispatch(
                WorkloadKey(asked.namespace, asked.name),
                tuple(
                    results.StateFit(
                        reply.states[fit.state].state_name,
                        _FITS[fit.status],
                        texts.text(fit.reason),
                        tuple(
                            results.PodSetFit(texts.text(one.level), one.domains, one.left_over)
                            for one in fit.pod_sets
                        ),
                    )
                    for fit in answer.fits
                ),
            )
            for asked, answer in zip(workloads, reply.workloads, strict=True)
        ]

    def ungate(
        self, workload: kueue.Workload, pods: Sequence[kueue.Pod]
    ) -> list[results.UngatedPod]:
        """Answers which gated pods of an admitted workload may start, and where."""
        tables = encode.Tables()
        request = ungating_pb2.UngateRequest(
            workload=kueue.encode_workload(workload, tables),
            pods=[kueue.encode_pod(one, tables) for one in pods],
        )
        tables.write_to(request)
        reply = self._connection.unary("Ungating/Ungate", request, ungating_pb2.UngateResponse)
        texts = Texts(reply.strings)
        return [
            results.UngatedPod(
                WorkloadKey(pods[one.pod].namespace, pods[one.pod].name),
                tuple(texts.text(one.domain).split(",")) if one.domain else (),
                texts.labels(one.node_selector),
                texts.texts(one.gates),
            )
            for one in reply.pods
        ]

    def plan_flow(
        self,
        manager: bytes | str,
        workers: Mapping[str, bytes | str],
        *,
        job: str = "",
        counts: Mapping[str, int] | None = None,
        gates: Gates | None = None,
    ) -> results.Flow:
        """Plans the steps of a job of MultiKueue that changes its size, from the objects of the
        manager and of each worker cluster. ValueError without a worker."""
        named = [(name, _bytes(objects)) for name, objects in workers.items()]
        if not named:
            raise ValueError("workers: is empty; want the objects of one worker cluster or more")
        request = multikueue_pb2.PlanFlowRequest(
            manager=_bytes(manager),
            worker_name=named[0][0],
            worker=named[0][1],
            job=job,
            counts=counts,
            feature_gates=gates,
            workers=[
                multikueue_pb2.FlowWorker(name=name, objects=objects) for name, objects in named[1:]
            ],
        )
        reply = self._connection.unary(
            "MultiKueue/PlanFlow", request, multikueue_pb2.PlanFlowResponse
        )
        return results.Flow(
            tuple(
                results.FlowStep(
                    one.at,
                    one.event,
                    one.decision,
                    tuple(
                        results.FlowWrite(
                            write.cluster,
                            write.kind,
                            write.namespace,
                            write.name,
                            write.field,
                            write.value,
                        )
                        for write in one.writes
                    ),
                    one.in_sync,
                    one.suspended,
                    dict(one.runs),
                )
                for one in reply.steps
            ),
            tuple(reply.notes),
        )


def load(
    files: StrPath | Iterable[StrPath],
    *,
    server: Server | Client | str | None = None,
    name: str = "",
    binary: StrPath | None = None,
    kueue_config: StrPath | None = None,
    timeout: float = 300,
) -> State:
    """Makes saved objects of Kubernetes (JSON or YAML, plain or gzip, files or folders) the state
    of that name on a server; without one it starts its own, which ends when the state is closed.

    The command `espalier place --load` reads the files, so that they mean what they mean there, and
    decides what of them is pending; `State.place_objects` asks for that. CommandError where they
    cannot be read."""
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    owned = None
    if server is None:
        owned = server = Server(binary)
    address = server if isinstance(server, str) else server.address
    connection = Connection(address, timeout, None)

    def close() -> None:
        connection.close()
        if owned is not None:
            owned.stop()

    try:
        said = _load(paths, address, name, binary, kueue_config)
        state = State(connection, name, None, close)
        state.position = state.summary().position
        state.messages = said.messages
    except BaseException:
        close()
        raise
    return state


def _load(
    paths: Sequence[StrPath],
    address: str,
    name: str,
    binary: StrPath | None,
    kueue_config: StrPath | None,
) -> CommandResult:
    arguments: list[StrPath] = ["place", "--connect", address, "--load", "-o", "json"]
    if name:
        arguments += ["--state", name]
    if kueue_config is not None:
        arguments += ["--kueue-config", kueue_config]
    # A file may be called as an option is.
    return command(*arguments, "--", *paths, binary=binary)


def read_objects(files: StrPath | Iterable[StrPath]) -> bytes:
    """Returns the bytes of files of objects, one after the other and unpacked, as
    `State.place_objects` takes them. What they say is for the server to read."""
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    parts = []
    for path in paths:
        part = Path(path).read_bytes()
        parts.append(gzip.decompress(part) if part.startswith(b"\x1f\x8b") else part)
    is_json = all(part.lstrip().startswith((b"{", b"[")) for part in parts)
    return (b"\n" if is_json else b"\n---\n").join(parts)


def _bytes(objects: bytes | str) -> bytes:
    return objects.encode() if isinstance(objects, str) else objects
