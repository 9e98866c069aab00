"""Runs what READMEs show: lines `$ ncut ...` on sample files, and blocks of Python one after the other.

What needs files that nobody has at hand stands in `ABSENT`, with the reason.

python check_readme.py README...
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
ABSENT = {
    "crates/": "what builds a package takes minutes, and has tests of its own",
    "mnist.npy": "70 000 images are not in this repository",
    "cargo": "installs",
    "pip": "installs",
}
# What the READMEs suppose to be there.
PYTHON = """
import networkx, numpy as np
from sklearn.datasets import load_digits
X, X_new = np.split(load_digits().data[:1000], 2)
names = {"Valjean": "ann", "Javert": "bo", "Marius": "cy", "Cosette": "di"}
graph = networkx.relabel_nodes(networkx.les_miserables_graph(), names)
changed_graph = networkx.Graph(graph.edges)
labels = known = np.arange(len(graph)) % 3
image = np.random.default_rng(0).random((20, 30))
strokes = np.full(image.shape, -1)
strokes[0, 0], strokes[-1, -1] = 0, 1
"""
# The same, of cells: only where they are used, so that the rest runs without the package anndata.
CELLS = """
import anndata
adata = anndata.AnnData(X.astype(np.float32))
for kind in ("connectivities", "spatial_connectivities"):
    adata.obsp[kind] = __import__("ncut").neighbor_graph(X)
"""


def main(*paths):
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder, "samples")
        subprocess.run([sys.executable, ROOT / "docs" / "samples.py", samples], check=True)
        n_failed = sum(check(Path(path), samples) for path in paths)
    return 1 if n_failed else 0


def check(path, samples):
    text = path.read_text(encoding="utf-8")
    consoles = "\n".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL))
    commands = [line[2:].split("  #")[0] for line in consoles.splitlines() if line.startswith("$ ")]
    commands = [line for line in commands if not any(word in line for word in ABSENT)]
    code = python(text)
    environment = {**os.environ, "PATH": f"{Path(os.environ['NCUT_COMMAND']).parent}{os.pathsep}{os.environ['PATH']}"}
    runs = [["bash", "-o", "pipefail", "-c", line] for line in commands] + [[sys.executable, "-c", code]]
    n_failed = 0
    for run in runs:
        ran = subprocess.run(run, cwd=samples, env=environment, capture_output=True, text=True)
        if ran.returncode:
            print(f"{path}: {run[-1]}\n{ran.stderr}", file=sys.stderr)
            n_failed += 1
    print(f"{path}: {len(commands)} commands and its Python, {n_failed} failed")
    return n_failed


def python(text):
    """The blocks of Python in a text, after what they suppose."""
    blocks = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    return PYTHON + (CELLS if "adata" in blocks else "") + blocks


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
