"""What a server is and how it fares.

Times are milliseconds since 1970. Amounts are as in `espalier.model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from espalier.decode import position
from espalier.model import Position
from espalier.v1 import server_pb2, state_dir_pb2


@dataclass(frozen=True)
class ServerLimits:
    memory_bytes: int  # of calls and states together
    connection_memory_bytes: int  # of what connections buffer
    call_memory_bytes: int  # of one call
    message_bytes: int  # of one message, either way
    calls: int  # computed at once
    queued_calls: int  # that may wait
    named_states: int  # beside the one without a name
    idle_ms: int  # that a call may wait for its client


@dataclass(frozen=True)
class ServerInfo:
    """Says what runs, and within which limits: the same until the process ends."""

    version: str
    commit: str
    backend: str  # as --backend has it, with the name of the device if it has one
    started_ms: int
    addresses: tuple[str, ...]  # that it listens on
    metrics_address: str  # HOST:PORT; empty: there are no metrics
    limits: ServerLimits


@dataclass(frozen=True)
class ResourceUse:
    resource: str
    capacity: int  # of the available nodes, less what no topology-aware workload owns
    used: int  # by topology-aware workloads; may be more than the capacity


@dataclass(frozen=True)
class LevelUse:
    level: str  # key
    domains: int  # with an available node
    unused_domains: int  # where topology-aware workloads use nothing
    most_free: Mapping[str, int]  # by resource, the most that one domain has free


@dataclass(frozen=True)
class FlavorUse:
    name: str
    nodes: int  # available ones
    resources: tuple[ResourceUse, ...]
    levels: tuple[LevelUse, ...]  # coarsest first


@dataclass(frozen=True)
class StateStatus:
    name: str
    position: Position  # generation 0: nothing is loaded
    checksum: int | None  # of the contents; None while they are being changed
    changed_ms: int  # when it changed last; 0: nothing is loaded
    nodes: int
    workloads: int  # admitted, that the state knows by key
    warm_shapes: int  # shapes of gangs that need not be resolved again
    flavors: tuple[FlavorUse, ...]  # those with a topology, where their use was asked for
    holds: int  # whose usage is in the state


@dataclass(frozen=True)
class DeviceState:
    name: str
    ready: bool  # False: it is away and the CPU answers
    faults: int
    last_fault: str  # empty: there was none


@dataclass(frozen=True)
class RefusedCall:
    call: int  # its number, as in the log
    method: str
    time_ms: int
    message: str  # its beginning


@dataclass(frozen=True)
class Refusals:
    """Counts calls that ended with an error of one cause."""

    cause: str
    calls: int
    last: RefusedCall


@dataclass(frozen=True)
class TlsState:
    expires_ms: int  # the server's certificate
    client_ca_expires_ms: int  # the last authority of clients; 0: none shows a certificate
    reloads: int  # times that changed files were taken up
    failed_reloads: int  # times that they could not be
    error: str  # of the present files; empty: they are in use


@dataclass(frozen=True)
class AccessState:
    has_file: bool  # False: the defaults alone
    rules: int  # of the file, in use
    reloads: int  # as of TlsState, also the next two
    failed_reloads: int
    error: str
    denied_calls: int  # since the start


@dataclass(frozen=True)
class KeptState:
    """Is a state as its file has it."""

    name: str
    position: Position
    written_ms: int  # 0: before this start
    bytes: int


@dataclass(frozen=True)
class IgnoredStateFile:
    path: str
    why: str


@dataclass(frozen=True)
class StateDirStatus:
    folder: str
    kept: tuple[KeptState, ...]  # by name
    ignored: tuple[IgnoredStateFile, ...]  # at the start
    failure: str  # why the last attempt to write failed; empty: it did not


@dataclass(frozen=True)
class ServerStatus:
    """Says how a server fares at one moment."""

    now_ms: int  # the server's clock
    states: tuple[StateStatus, ...]  # the one without a name, then by name
    calls_under_way: int  # without this one
    calls_waiting: int  # among them, for a worker
    memory_held_bytes: int  # by calls and states
    device: DeviceState | None  # None: the back end has none
    refusals: tuple[Refusals, ...]  # causes that have occurred since the start, by name
    tls: TlsState | None  # None: TCP is not encrypted
    access: AccessState
    state_dir: StateDirStatus | None  # None: no state is kept on disk


def server_info(reply: server_pb2.ServerInfoResponse) -> ServerInfo:
    limits = reply.limits
    return ServerInfo(
        reply.version,
        reply.commit,
        reply.backend,
        reply.started_ms,
        tuple(reply.addresses),
        reply.metrics_address,
        ServerLimits(
            limits.memory_bytes,
            limits.connection_memory_bytes,
            limits.call_memory_bytes,
            limits.message_bytes,
            limits.calls,
            limits.queued_calls,
            limits.named_states,
            limits.idle_ms,
        ),
    )


def server_status(reply: server_pb2.ServerStatusResponse) -> ServerStatus:
    device, tls, access = reply.device, reply.tls, reply.access
    return ServerStatus(
        now_ms=reply.now_ms,
        states=tuple(_state(one) for one in reply.states),
        calls_under_way=reply.calls_under_way,
        calls_waiting=reply.calls_waiting,
        memory_held_bytes=reply.memory_held_bytes,
        device=(
            DeviceState(device.name, device.ready, device.faults, device.last_fault)
            if reply.HasField("device")
            else None
        ),
        refusals=tuple(
            Refusals(
                one.cause,
                one.calls,
                RefusedCall(one.last.call, one.last.method, one.last.time_ms, one.last.message),
            )
            for one in reply.refusals
        ),
        tls=(
            TlsState(
                tls.expires_ms,
                tls.client_ca_expires_ms,
                tls.reloads,
                tls.failed_reloads,
                tls.error,
            )
            if reply.HasField("tls")
            else None
        ),
        access=AccessState(
            access.has_file,
            access.rules,
            access.reloads,
            access.failed_reloads,
            access.error,
            access.denied_calls,
        ),
        state_dir=_state_dir(reply.state_dir) if reply.HasField("state_dir") else None,
    )


def _state(message: server_pb2.StateStatus) -> StateStatus:
    return StateStatus(
        message.state_name,
        position(message.state),
        message.checksum if message.HasField("checksum") else None,
        message.changed_ms,
        message.nodes,
        message.workloads,
        message.warm_shapes,
        tuple(_flavor(one) for one in message.flavors),
        message.holds,
    )


def _flavor(message: server_pb2.FlavorUse) -> FlavorUse:
    names = [one.resource for one in message.resources]
    return FlavorUse(
        message.name,
        message.nodes,
        tuple(ResourceUse(one.resource, one.capacity, one.used) for one in message.resources),
        tuple(
            LevelUse(
                one.level,
                one.domains,
                one.unused_domains,
                dict(zip(names, one.most_free, strict=True)),
            )
            for one in message.levels
        ),
    )


def _state_dir(message: state_dir_pb2.StateDirStatus) -> StateDirStatus:
    return StateDirStatus(
        message.folder,
        tuple(
            KeptState(one.state_name, position(one.state), one.written_ms, one.bytes)
            for one in message.kept
        ),
        tuple(IgnoredStateFile(one.path, one.why) for one in message.ignored),
        message.failure,
    )
