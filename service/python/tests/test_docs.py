"""The programs of docs/python.md."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest
from conftest import ROOT

import espalier
import espalier.v1

ADDRESS = "unix:/tmp/espalier.sock"


def test_the_programs_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/python.md").read_text()
    programs = [one for one in re.findall(r"```python\n(.*?)```", page, re.S) if ADDRESS in one]
    assert len(programs) == 2
    names: dict[str, object] = {}  # the second goes on from the first
    with espalier.serve() as server, espalier.Client(server.address) as client:
        for program in programs:
            exec(program.replace(ADDRESS, server.address), names)
        assert capsys.readouterr().out == "host-0: 1 pods\nhost-1: 1 pods\n"
        found = client.state().summary()
        assert (found.holds, found.workloads) == (0, 1)
        assert found.position.generation == 4  # two loads, the hold and its confirmation


def test_the_page_names_every_call() -> None:
    page = (ROOT / "docs/python.md").read_text()
    named = {name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in row.split(", ")}
    calls = {
        f"`{call}`"
        for module in pkgutil.iter_modules(espalier.v1.__path__)
        for service in importlib.import_module(
            f"espalier.v1.{module.name}"
        ).DESCRIPTOR.services_by_name.values()
        for call in service.methods_by_name
    }
    assert calls
    assert calls - named == set()
