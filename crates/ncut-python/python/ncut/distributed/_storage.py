"""What a run keeps on disk: files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Writes a file beside its place and renames it when all of it is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise storage_error(error, path) from None


def storage_error(error: OSError, path: Path) -> OSError:
    """The error with a remedy, where the disk is full."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OSError(
            error.errno,
            f"storage is full: {path} could not be written; what was written before is whole. Free some space and "
            "call again: the run goes on from its last state",
        )
    return error


def save_arrays(path: Path, **arrays: NDArray[Any]) -> None:
    """Writes arrays to one file."""
    write_whole(path, lambda file: np.savez(file, allow_pickle=False, **arrays))


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Reads the arrays of a file."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


class _Writer:
    """A file to numpy, whose own way to write to files does not tell that a disk is full."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write


class EdgeFiles:
    """Files of edges, one for each shard, written portion by portion; they have their names when all are whole.

    A portion is rows, columns, weights (none where all are 1) and nodes without an edge.
    """

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths
        self._files: dict[int, BinaryIO] = {}

    def _temporary(self, shard: int) -> Path:
        path = self._paths[shard]
        return path.with_name(f".{path.name}.{os.getpid()}")

    def __enter__(self) -> EdgeFiles:
        return self

    def add(self, shard: int, portion: tuple[NDArray[Any], ...]) -> None:
        try:
            if shard not in self._files:
                self._paths[shard].parent.mkdir(parents=True, exist_ok=True)
                self._files[shard] = open(self._temporary(shard), "wb")  # noqa: SIM115
            for array in portion:
                np.save(_Writer(self._files[shard]), array, allow_pickle=False)
        except OSError as error:
            raise storage_error(error, self._paths[shard]) from None

    def keep(self) -> None:
        """All is written."""
        for shard, file in self._files.items():
            try:
                file.close()
            except OSError as error:
                raise storage_error(error, self._paths[shard]) from None
        for shard in list(self._files):
            os.replace(self._temporary(shard), self._paths[shard])
            del self._files[shard]

    def __exit__(self, *_: object) -> None:
        for shard, file in self._files.items():
            with contextlib.suppress(OSError):
                file.close()
            self._temporary(shard).unlink(missing_ok=True)


def read_edges(path: Path) -> Iterator[tuple[NDArray[Any], ...]]:
    """The portions of a file of edges."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        while file.tell() < size:
            yield tuple(np.load(file, allow_pickle=False) for _ in range(4))


class Storage:
    """The folder of a run, which all machines see."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, *parts: str) -> Path:
        return self.folder.joinpath(*parts)

    def write_json(self, name: str, content: Any) -> None:
        text = json.dumps(content, indent=1).encode()
        write_whole(self.path(name), lambda file: file.write(text))

    def read_json(self, name: str) -> Any:
        try:
            text = self.path(name).read_bytes()
        except FileNotFoundError:
            return None
        return json.loads(text)

    def edges(self, unit: int, shard: int) -> Path:
        return self.path("edges", f"{unit:06}-{shard:04}.edges")

    def words(self, unit: int, shard: int) -> Path:
        return self.path("words", f"{unit:06}-{shard:04}.parquet")

    def level(self, level: int, name: str, shard: int) -> Path:
        return self.path(f"level-{level}", f"{name}-{shard:04}")

    def state(self, name: str, shard: int) -> Path:
        return self.path("states", f"{name}-{shard:04}.npz")

    def remove_unfinished(self) -> None:
        """Removes what workers were writing when they were lost."""
        for path in self.folder.rglob(".*"):
            if path.is_file():
                path.unlink(missing_ok=True)

    def remove_states(self, but: str) -> None:
        """Removes the labels of states that were followed by another; those that were solved may be needed again."""
        for path in self.path("states").glob("*.npz"):
            if not path.name.startswith((but + "-", "solved-")):
                path.unlink(missing_ok=True)
