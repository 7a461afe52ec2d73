"""The command `espalier`: runs it, and servers of one's own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from espalier.errors import CommandError

StrPath = str | os.PathLike[str]

# The server lives as long as the pipe that is this shell's input: it ends with the process that
# holds the other end, however that dies, and whichever of its threads started it.
_WATCHED = """
folder=$1
shift
"$@" &
server=$!
echo "pid $server"
exec >&-
read -r _
kill -TERM "$server" 2>&-
wait "$server"
code=$?
rm -rf -- "$folder"
exit "$code"
"""
_LISTENING = "listening on "
_PID = "pid "


def find_binary(binary: StrPath | None = None) -> str:
    """Returns the path of the command: `binary`, else the environment's ESPALIER_BINARY, else
    `espalier` on the PATH. CommandError where there is none."""
    wanted = os.fspath(binary or os.environ.get("ESPALIER_BINARY") or "espalier")
    found = shutil.which(wanted)
    if found is None:
        raise CommandError(
            f"{wanted}: there is no such command; want binary=PATH, ESPALIER_BINARY or espalier on "
            "the PATH (make build makes build/release/espalier)"
        )
    return str(Path(found).absolute())


@dataclass(frozen=True)
class CommandResult:
    """Is what a command said."""

    exit_code: int  # 0: yes; 1: no for something
    output: str
    messages: tuple[str, ...]  # of standard error, a line each

    def json(self) -> Any:
        return json.loads(self.output)


def command(
    *arguments: StrPath, binary: StrPath | None = None, timeout: float | None = None
) -> CommandResult:
    """Runs a command of `espalier`. CommandError for every exit code but 0 and 1, with what the
    command wrote to standard error."""
    words = [find_binary(binary), *(os.fspath(one) for one in arguments)]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=timeout, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"{' '.join(words)}: took longer than {timeout} s") from None
    if done.returncode not in (0, 1):
        text = done.stderr.strip() or f"{' '.join(words)}: exit code {done.returncode}"
        raise CommandError(text, done.returncode)
    return CommandResult(done.returncode, done.stdout, tuple(done.stderr.splitlines()))


class Server:
    """A server of one's own. It ends with `stop`, or with the process that started it."""

    def __init__(
        self,
        binary: StrPath | None = None,
        *,
        listen: str | None = None,
        arguments: Sequence[str] = (),
    ) -> None:
        """Starts `espalier serve` with more `arguments`, and waits until it listens: at a unix
        socket of its own, unless `listen` says otherwise. CommandError where it does not start."""
        folder = tempfile.mkdtemp(prefix="espalier-")
        self._log = Path(folder, "log")
        words = [find_binary(binary), "serve", "--listen"]
        words += [listen or f"unix:{folder}/socket", *arguments]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _WATCHED, "sh", folder, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # an interrupt of the terminal is ours to pass on
            )
        assert self._process.stdout is not None
        self.pid = 0
        self.addresses: tuple[str, ...] = ()
        for line in self._process.stdout:
            if line.startswith(_PID):
                self.pid = int(line[len(_PID) :])
            if line.startswith(_LISTENING):
                self.addresses += (line[len(_LISTENING) :].strip(),)
            if self.pid and self.addresses:
                break
        if not self.addresses:
            text = self.log().strip()
            raise CommandError(text or "the server ended at once", self.stop())
        # It never waits for us to read what else it says, and the end of its output is its own.
        self._ended = threading.Event()
        threading.Thread(target=self._drain_output, daemon=True).start()

    @property
    def address(self) -> str:
        return self.addresses[0]

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    def log(self) -> str:
        """Returns what the server wrote to standard error, until it is stopped."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def stop(self) -> int:
        """Lets the server finish what it does, and returns its exit code; of one that a signal
        ended, 128 and its number."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        return self._process.wait()

    def _drain_output(self) -> None:
        assert self._process.stdout is not None
        for _ in self._process.stdout:
            pass
        self._ended.set()


@contextmanager
def serve(
    binary: StrPath | None = None,
    *,
    listen: str | None = None,
    arguments: Sequence[str] = (),
) -> Iterator[Server]:
    """Runs a server for as long as the block lasts; as Server otherwise."""
    server = Server(binary, listen=listen, arguments=arguments)
    try:
        yield server
    finally:
        server.stop()
