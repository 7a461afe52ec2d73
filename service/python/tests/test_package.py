"""What is committed and what is shipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
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


def release_wheel(folder: Path, python: str) -> tuple[list[Path], str]:
    """Returns what release/python_wheel.sh makes in a folder, and what it says."""
    folder.mkdir()
    made = subprocess.run(
        [ROOT / "release/python_wheel.sh", folder],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHON": python, "SOURCE_DATE_EPOCH": "1700000000"},
    )
    return list(folder.iterdir()), made.stdout


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a release is made in a clone of git")
def test_the_wheel_of_a_release_is_of_its_version_and_the_same_again(tmp_path: Path) -> None:
    ((wheel,), said) = release_wheel(tmp_path / "made", sys.executable)
    assert said == ""
    facts = subprocess.run(
        [ROOT / "release/version.sh"], check=True, capture_output=True, text=True
    ).stdout
    version = facts.split()[0].replace("-dev", ".dev0")  # as Python spells it
    assert wheel.name == f"espalier_placement-{version}-py3-none-any.whl"
    ((again,), _) = release_wheel(tmp_path / "again", sys.executable)
    assert wheel.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        (licence,) = [name for name in archive.namelist() if name.endswith("/LICENSE")]
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()


def test_a_release_without_a_wheel_says_so(tmp_path: Path) -> None:
    made, said = release_wheel(tmp_path / "made", "/nowhere/python")
    assert made == []
    assert said.startswith("dist: WITHOUT the Python wheel: ")
