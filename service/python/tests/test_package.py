"""What is committed and what is shipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from conftest import ROOT

PACKAGE = ROOT / "service/python"


def test_messages_are_those_of_proto(tmp_path: Path) -> None:
    subprocess.run(
        [PACKAGE / "make_messages.sh", tmp_path],
        check=True,
        env={**os.environ, "PYTHON": sys.executable},
    )
    made = {one.name: one.read_text() for one in (tmp_path / "espalier/v1").iterdir()}
    kept = {
        one.name: one.read_text()
        for one in (PACKAGE / "espalier/v1").iterdir()
        if "_pb2.py" in one.name
    }
    assert made == kept, "`make python-proto` makes them anew"


def test_a_wheel_is_pure_python_and_typed(tmp_path: Path) -> None:
    source = tmp_path / "source"  # the build writes into it
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", tmp_path, source],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"espalier/py.typed", "espalier/study.py", "espalier/v1/types_pb2.pyi"} <= names
    committed = {
        str(one.relative_to(PACKAGE))
        for one in (PACKAGE / "espalier").rglob("*")
        if one.suffix in (".py", ".pyi", ".typed")
    }
    assert committed <= names
