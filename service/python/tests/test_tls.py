"""Encryption: who asks, and what they may do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import four_hosts

import espalier

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here")


def issue(folder: Path, name: str, *, authority: bool = False) -> espalier.TLS:
    """Writes NAME.crt and NAME.key, of the authority of the folder."""
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    words += ["-nodes", "-days", "1", "-subj", f"/CN={name}"]
    words += ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")]
    if authority:
        words += ["-addext", "basicConstraints=critical,CA:TRUE"]
    else:
        words += ["-addext", f"subjectAltName=DNS:{name}"]
        words += ["-addext", "basicConstraints=critical,CA:FALSE"]
        words += ["-CA", str(folder / "ca.crt"), "-CAkey", str(folder / "ca.key")]
    subprocess.run(words, check=True, capture_output=True)
    return espalier.TLS(
        folder / "ca.crt", folder / f"{name}.crt", folder / f"{name}.key", "espalier.test"
    )


def test_a_certificate_says_who_asks(tmp_path: Path) -> None:
    issue(tmp_path, "ca", authority=True)
    issue(tmp_path, "espalier.test")
    rules = tmp_path / "access.yaml"
    rules.write_text(
        "rules:\n- {who: 'certificate:controller.test', may: [read, place, write-state]}\n"
    )
    arguments = ["--tls-cert", tmp_path / "espalier.test.crt"]
    arguments += ["--tls-key", tmp_path / "espalier.test.key"]
    arguments += ["--tls-client-ca", tmp_path / "ca.crt", "--access", rules]
    with espalier.serve(
        listen="127.0.0.1:0", arguments=[str(each) for each in arguments]
    ) as server:
        with espalier.Client(server.address, tls=issue(tmp_path, "controller.test")) as controller:
            controller.load_state(four_hosts())
        with espalier.Client(server.address, tls=issue(tmp_path, "dashboard.test")) as dashboard:
            assert dashboard.states() == []
            with pytest.raises(espalier.CallError, match="needs the permission write-state"):
                dashboard.load_state(four_hosts())
            status = dashboard.status()
        assert status.tls is not None
        assert status.tls.expires_ms > status.now_ms
        assert status.tls.client_ca_expires_ms > status.now_ms
        assert (status.access.has_file, status.access.rules) == (True, 1)
        assert status.access.denied_calls == 1


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        espalier.Client("127.0.0.1:1", tls=espalier.TLS(tmp_path / "missing"))
    with pytest.raises(ValueError, match="both cert and key"):
        espalier.Client("127.0.0.1:1", tls=espalier.TLS(tmp_path / "ca", cert=tmp_path / "crt"))
    with pytest.raises(ValueError, match="a unix socket has no TLS"):
        espalier.Client("unix:/s", tls=espalier.TLS(tmp_path / "ca"))
