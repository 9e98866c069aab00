"""Two steps of release/machines that are no shell: real data as plain numbers, and the table of checksums.

table.py export DATA FOLDER   writes what the program reads
table.py table FILE...        one column a file; fails when the columns differ
"""

import sys
from pathlib import Path

GRAPHS = ["airfoil1", "email-Eu-core", "planetoid_cora"]
POINTS = ["german", "segment"]


def export(data: Path, folder: Path) -> None:
    """Numbers of 8 bytes: nodes, then ends and weight of every edge; features, then all coordinates."""
    import numpy as np
    import scipy.sparse as sp

    for name in GRAPHS:
        matrix = sp.triu(sp.load_npz(data / "graphs" / f"{name}.npz")).tocoo()
        edges = np.column_stack([matrix.row, matrix.col, matrix.data])
        np.concatenate([[matrix.shape[0]], edges.ravel()]).astype("<f8").tofile(folder / name)
    for name in POINTS:
        with np.load(data / "features" / f"{name}.npz") as file:
            points = file["X"]
        np.concatenate([[points.shape[1]], points.ravel()]).astype("<f8").tofile(folder / name)


def table(files: list[Path]) -> bool:
    """Prints a row for everything that was asked; whether all machines gave the same."""
    columns = []
    for file in files:
        rows = [line.split("\t") for line in file.read_text().splitlines()]
        columns.append({(graph, setting): f"{labels} {numbers}" for graph, setting, labels, numbers in rows})
    asked = list(dict.fromkeys(row for column in columns for row in column))
    titles = ["graph", "asked", *(file.stem for file in files), ""]
    lines = [titles]
    for row in asked:
        cells = [column.get(row, "missing") for column in columns]
        lines.append([*row, *cells, "equal" if len(set(cells)) == 1 else "different"])
    widths = [max(len(line[place]) for line in lines) for place in range(len(titles))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    n_different = sum(line[-1] == "different" for line in lines)
    print(f"\nLabels, and the numbers beside them to the last bit: {len(asked) - n_different} of {len(asked)} rows equal")
    return n_different == 0


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    paths = [Path(path) for path in paths]
    if command == "export":
        export(*paths)
    elif not table(paths):
        sys.exit(1)
