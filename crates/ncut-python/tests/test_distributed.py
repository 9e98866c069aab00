"""`ncut.distributed`: without Ray, and on a Ray cluster of three nodes in a network namespace of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import namespace  # noqa: E402

CASES = Path(__file__).parent / "distributed_cases.py"

WITHOUT_RAY = """
import sys
sys.modules["ray"] = None
import ncut
assert ncut.__version__
try:
    ncut.distributed
except ImportError as error:
    assert "pip install 'ncut[ray]'" in str(error), error
else:
    raise SystemExit("no error")
"""


def test_without_ray_the_package_works_and_says_what_to_install():
    subprocess.run([sys.executable, "-c", WITHOUT_RAY], check=True, timeout=60)


def test_on_a_cluster_of_three_nodes():
    missing = [name for name in ("ray", "pyarrow") if importlib.util.find_spec(name) is None]
    problem = f"{missing[0]} is not installed" if missing else namespace.problem()
    if problem is not None:
        if os.environ.get("NCUT_CI"):
            pytest.fail(f"the cluster cannot be tested: {problem}")
        pytest.skip(f"the cluster is not tested: {problem}")
    pytest_arguments = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(CASES)]
    tested = subprocess.run(
        namespace.command(*pytest_arguments), capture_output=True, text=True, timeout=1500, cwd=CASES.parent.parent
    )
    assert tested.returncode == 0, tested.stdout[-6000:] + tested.stderr[-2000:]
