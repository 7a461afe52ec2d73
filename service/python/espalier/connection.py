"""A channel to a server, and how its calls fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from espalier.errors import from_rpc
from espalier.process import StrPath

_Reply = TypeVar("_Reply", bound=Message)

_OPTIONS: tuple[tuple[str, int | str], ...] = (
    # What is too large is for the server to say.
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # A server beside us is not reached through a proxy.
    ("grpc.enable_http_proxy", 0),
)


@dataclass(frozen=True)
class TLS:
    """PEM files, as `--tls-...` of the commands name them. Without `server_name` the server's
    certificate has the host of the address."""

    ca: StrPath
    cert: StrPath | None = None
    key: StrPath | None = None
    server_name: str = ""

    def credentials(self) -> grpc.ChannelCredentials:
        """Reads the files. OSError where one cannot be read."""
        if (self.cert is None) != (self.key is None):
            raise ValueError("a certificate needs both cert and key")
        return grpc.ssl_channel_credentials(
            Path(self.ca).read_bytes(),
            None if self.key is None else Path(self.key).read_bytes(),
            None if self.cert is None else Path(self.cert).read_bytes(),
        )


class Connection:
    """A channel to the server at `unix:PATH` or `HOST:PORT`, which connects with the first call.

    Failures are raised outside of handlers: what crosses processes takes its context along, and an
    error of gRPC cannot."""

    def __init__(
        self,
        address: str,
        timeout: float,
        credentials: grpc.ChannelCredentials | None,
        tls: TLS | None = None,
    ) -> None:
        self.address = address
        self._timeout = timeout
        options = _OPTIONS
        if tls is not None:
            if credentials is not None:
                raise ValueError("either tls or credentials")
            if address.startswith("unix:"):
                raise ValueError(f"{address}: a unix socket has no TLS")
            credentials = tls.credentials()
            if tls.server_name:
                options = (*options, ("grpc.ssl_target_name_override", tls.server_name))
        self._channel = (
            grpc.insecure_channel(address, options=options)
            if credentials is None
            else grpc.secure_channel(address, credentials, options=options)
        )

    def close(self) -> None:
        self._channel.close()

    def unary(self, method: str, request: Message, reply: type[_Reply]) -> _Reply:
        """Makes a call such as `Placement/Place`. CallError where it fails."""
        call = self._channel.unary_unary(_path(method), _bytes, reply.FromString)
        try:
            answer: _Reply = call(request, timeout=self._timeout)
        except grpc.RpcError as error:
            failure = from_rpc(error)
        else:
            return answer
        raise failure

    def answers(self, method: str, request: Message, reply: type[_Reply]) -> Iterator[_Reply]:
        """Makes a call that many messages answer. It ends where the iterator does."""
        call = self._channel.unary_stream(_path(method), _bytes, reply.FromString)
        stream = call(request, timeout=self._timeout)
        failure = None
        try:
            yield from stream
        except grpc.RpcError as error:
            failure = from_rpc(error)
        finally:
            stream.cancel()
        if failure is not None:
            raise failure

    def upload(self, method: str, requests: Iterable[Message], reply: type[_Reply]) -> _Reply:
        """Makes a call that many messages ask."""
        call = self._channel.stream_unary(_path(method), _bytes, reply.FromString)
        try:
            answer: _Reply = call(iter(requests), timeout=self._timeout)
        except grpc.RpcError as error:
            failure = from_rpc(error)
        else:
            return answer
        raise failure


def _path(method: str) -> str:
    return method if method.startswith("/") else f"/espalier.v1.{method}"


def _bytes(message: Message) -> bytes:
    return message.SerializeToString()
