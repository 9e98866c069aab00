"""The scripts of the gallery run and make their pictures."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

SCRIPTS = sorted((pathlib.Path(__file__).parent.parent / "examples").glob("*.py"))


def test_there_are_seven():
    assert len(SCRIPTS) == 7


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_makes_a_picture_without_a_warning(script, tmp_path):
    picture = tmp_path / "picture.png"
    run = subprocess.run([sys.executable, "-W", "error", script, picture], check=True, capture_output=True, text=True)
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10_000
    assert run.stdout
