"""A channel to a server, and how its calls fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from espalier.errors import from_rpc

_Reply = TypeVar("_Reply", bound=Message)

_OPTIONS = (
    # What is too large is for the server to say.
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # A server beside us is not reached through a proxy.
    ("grpc.enable_http_proxy", 0),
)


class Connection:
    """A channel to the server at `unix:PATH` or `HOST:PORT`, which connects with the first call."""

    def __init__(
        self, address: str, timeout: float, credentials: grpc.ChannelCredentials | None
    ) -> None:
        self.address = address
        self._timeout = timeout
        self._channel = (
            grpc.insecure_channel(address, options=_OPTIONS)
            if credentials is None
            else grpc.secure_channel(address, credentials, options=_OPTIONS)
        )

    def close(self) -> None:
        self._channel.close()

    def unary(self, method: str, request: Message, reply: type[_Reply]) -> _Reply:
        """Makes a call such as `Placement/Place`. CallError where it fails."""
        call = self._channel.unary_unary(_path(method), _bytes, reply.FromString)
        try:
            answer: _Reply = call(request, timeout=self._timeout)
        except grpc.RpcError as error:
            raise from_rpc(error) from None
        return answer

    def answers(self, method: str, request: Message, reply: type[_Reply]) -> Iterator[_Reply]:
        """Makes a call that many messages answer. It ends where the iterator does."""
        call = self._channel.unary_stream(_path(method), _bytes, reply.FromString)
        stream = call(request, timeout=self._timeout)
        try:
            yield from stream
        except grpc.RpcError as error:
            raise from_rpc(error) from None
        finally:
            stream.cancel()

    def upload(self, method: str, requests: Iterable[Message], reply: type[_Reply]) -> _Reply:
        """Makes a call that many messages ask."""
        call = self._channel.stream_unary(_path(method), _bytes, reply.FromString)
        try:
            answer: _Reply = call(iter(requests), timeout=self._timeout)
        except grpc.RpcError as error:
            raise from_rpc(error) from None
        return answer


def _path(method: str) -> str:
    return method if method.startswith("/") else f"/espalier.v1.{method}"


def _bytes(message: Message) -> bytes:
    return message.SerializeToString()
