"""Servers of one's own, and the command."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import espalier
from espalier.process import Server


def test_a_server_listens_and_drains() -> None:
    with espalier.serve() as server, espalier.Client(server.address) as client:
        assert server.address.startswith("unix:")
        assert client.states() == []
        assert server.running
        assert "back end: cpu" in server.log()
    assert server.stop() == 0  # drained


def test_a_server_listens_where_it_is_told() -> None:
    with (
        espalier.serve(listen="127.0.0.1:0") as server,
        espalier.Client(server.address) as client,
    ):
        assert client.states() == []
        assert not server.address.endswith(":0")


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(espalier.CommandError, match="socket") as raised:
        Server(listen="unix:/no/such/folder/socket")
    assert raised.value.exit_code == 4


def test_a_server_that_was_killed_is_noticed() -> None:
    server = Server()
    os.kill(server.pid, signal.SIGKILL)
    server._ended.wait()
    assert not server.running
    assert server.stop() == 128 + signal.SIGKILL


def test_a_server_ends_with_the_process_that_started_it() -> None:
    starts = (
        "import espalier, os, sys\n"
        "server = espalier.Server()\n"
        "print(server.pid, server.address, flush=True)\n"
        "sys.stdin.readline()\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", starts],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT / "service/python",
    )
    assert starter.stdout is not None
    pid, address = starter.stdout.readline().split()
    with espalier.Client(address) as client:
        assert client.states() == []
    gone = os.pidfd_open(int(pid))
    starter.kill()
    starter.communicate()
    select.select([gone], [], [])  # not a child of ours: its descriptor tells when it has ended
    os.close(gone)


def test_a_command_says_what_it_was_asked(tmp_path: Path) -> None:
    made = espalier.command("generate", "T-KAI512", "--gangs", "3", "--output-dir", tmp_path)
    assert made.exit_code == 0
    placed = espalier.command("place", tmp_path, "-o", "json")
    assert len(placed.json()["items"]) == 3


def test_errors_of_a_command_carry_its_exit_code(tmp_path: Path) -> None:
    with pytest.raises(espalier.CommandError, match="no-such-file") as raised:
        espalier.command("place", tmp_path / "no-such-file")
    assert raised.value.exit_code == 3


def test_a_binary_that_is_not_there_is_named() -> None:
    with pytest.raises(espalier.CommandError, match="/no/espalier: there is no such command"):
        espalier.find_binary("/no/espalier")
