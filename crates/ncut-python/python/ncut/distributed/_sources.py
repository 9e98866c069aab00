"""Edge files, divided among readers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ncut import _ncut

TEXT_ENDINGS = ("txt", "tsv", "csv", "edges")
# What is read at once: about 100 bytes of memory for an edge.
BYTES_PER_PORTION = 1 << 21
BYTES_PER_UNIT = 1 << 25
EDGES_PER_PORTION = 1 << 17
EDGES_PER_UNIT = 1 << 21
NCUT_MAGIC = b"\x89ncut\r\n\x1a"
NCUT_HEADER = 128
SOURCE_NAMES = ("source", "from", "src")
TARGET_NAMES = ("target", "to", "dst", "dest", "destination")
WEIGHT_NAMES = ("weight", "weights", "w", "value")


@dataclass(frozen=True)
class Unit:
    """What one reader reads at a time: a file, or rows or bytes of it."""

    path: str
    kind: str
    start: int
    end: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Portion:
    """Some edges. Ids are whole numbers, or words."""

    ids: NDArray[np.int64] | list[str]
    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    weight: NDArray[np.float64]

    @property
    def has_words(self) -> bool:
        return isinstance(self.ids, list)

    def words(self) -> list[str]:
        return self.ids if isinstance(self.ids, list) else [str(number) for number in self.ids.tolist()]


def list_files(source: Any) -> list[Path]:
    """The edge files of a folder, or of a list of files and folders."""
    entries = [source] if isinstance(source, str | Path) else list(source)
    files: list[Path] = []
    for entry in entries:
        path = Path(entry)
        if path.is_dir():
            inside = sorted(child for child in path.iterdir() if not child.name.startswith((".", "_")))
            inside = [child for child in inside if child.is_file()]
            if not inside:
                raise ValueError(f"{path}: the folder holds no edge files")
            files += inside
        elif path.exists():
            files.append(path)
        else:
            raise FileNotFoundError(f"{path}: there is no such file or folder")
    if not files:
        raise ValueError("source is empty; give edge files or a folder of them")
    for path in files:
        kind_of(path)
    return [path.resolve() for path in files]


def kind_of(path: Path) -> str:
    """What a file is, by its ending."""
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        return "parquet"
    if name.endswith(".ncut"):
        return "ncut"
    stem, _, ending = name.rpartition(".")
    if ending in ("gz", "zst"):
        ending = stem.rpartition(".")[2]
        if ending in TEXT_ENDINGS:
            return "compressed"
    elif ending in TEXT_ENDINGS:
        return "text"
    raise ValueError(
        f"{path}: unknown kind of edge file; known endings are .parquet, .ncut, and .txt .tsv .csv .edges "
        "(each also with .gz or .zst); `ncut convert` makes one of other formats"
    )


def units_of(path: Path) -> list[Unit]:
    """A file in parts of some million edges."""
    kind = kind_of(path)
    if kind == "parquet":
        return list(_parquet_units(path))
    if kind == "ncut":
        file = _NcutFile(path)
        bounds = np.searchsorted(file.offsets, np.arange(0, file.n_entries + 1, 2 * EDGES_PER_UNIT))
        starts = sorted({*bounds.tolist()} - {file.n_nodes}) or [0]
        return [Unit(str(path), kind, *pair) for pair in zip(starts, [*starts[1:], file.n_nodes], strict=True)]
    size = path.stat().st_size
    if kind == "compressed":
        return [Unit(str(path), kind, 0, size)]
    starts = list(range(0, size, BYTES_PER_UNIT)) or [0]
    return [Unit(str(path), kind, *pair) for pair in zip(starts, [*starts[1:], size], strict=True)]


def _parquet_units(path: Path) -> Iterator[Unit]:
    try:
        metadata = pq.ParquetFile(path).metadata
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: {error}") from None
    start, n_edges = 0, 0
    for group in range(metadata.num_row_groups):
        n_edges += metadata.row_group(group).num_rows
        if n_edges >= EDGES_PER_UNIT or group + 1 == metadata.num_row_groups:
            yield Unit(str(path), "parquet", start, group + 1)
            start, n_edges = group + 1, 0


def portions_of(unit: Unit, columns: Sequence[str] | None) -> Iterator[Portion]:
    """The edges of a unit."""
    read = {"parquet": _parquet, "ncut": _ncut_rows, "text": _text, "compressed": _compressed}[unit.kind]
    return read(unit, columns)


def sample_of(unit: Unit, columns: Sequence[str] | None, n_ids: int) -> tuple[NDArray[np.int64] | None, int]:
    """Some ends of edges from the start of a unit, None where they are words; and how many edges a portion had."""
    for portion in portions_of(unit, columns):
        if isinstance(portion.ids, list):
            return None, len(portion.source)
        ends = portion.ids[np.concatenate([portion.source, portion.target])]
        return ends[:: max(1, len(ends) // n_ids)], len(portion.source)
    return np.zeros(0, np.int64), 0


# Text


def _ending(path: str) -> str:
    name = path.lower()
    return re.sub(r"\.(gz|zst)$", "", name).rpartition(".")[2]


def _header_and_shape(path: str, opened: Any) -> tuple[bytes, int]:
    """The first line if it is no edge, and the number of columns of the first line that counts."""
    for _ in range(10_000):
        line = opened.readline()
        if not line:
            break
        text = line.decode("utf-8-sig", "replace").strip()
        if text and text[0] not in "#%":
            fields = _fields(text)
            numbers = sum(bool(re.fullmatch(r"[-+.0-9eE]+", field)) for field in fields)
            lower = {re.sub(r"[-_ ]", "", field.strip('"').lower()) for field in fields}
            is_header = numbers == 0 and bool(lower & {*SOURCE_NAMES, *TARGET_NAMES, *WEIGHT_NAMES})
            return (line if is_header else b""), len(fields)
    return b"", 0


def _fields(text: str) -> list[str]:
    for separator in (",", "\t", ";", "|"):
        if separator in text:
            return [field.strip() for field in text.split(separator)]
    return text.split()


def _text(unit: Unit, columns: Sequence[str] | None) -> Iterator[Portion]:
    """Lines that begin in a range of bytes."""
    with open(unit.path, "rb") as file:
        header, n_columns = _header_and_shape(unit.path, file)
        start = unit.start
        if start > 0:
            file.seek(start - 1)
            start += len(file.readline()) - 1
        else:
            file.seek(0)
        is_first = unit.start == 0
        while start < unit.end:
            lines = file.read(min(BYTES_PER_PORTION, unit.end - start))
            lines += file.readline()
            start += len(lines)
            place = start - len(lines)
            yield _parsed(unit.path, lines, b"" if is_first else header, n_columns, columns, place)
            is_first = False


def _compressed(unit: Unit, columns: Sequence[str] | None) -> Iterator[Portion]:
    with pa.input_stream(unit.path, compression="detect") as first:
        start = first.read(1 << 16)
    header, n_columns = _header_and_shape(unit.path, pa.BufferReader(start))
    with pa.input_stream(unit.path, compression="detect") as file:
        rest, n_lines, is_first = b"", 0, True
        while block := file.read(BYTES_PER_PORTION):
            lines, newline, rest = (rest + block).rpartition(b"\n")
            lines += newline
            yield _parsed(unit.path, lines, b"" if is_first else header, n_columns, columns, None, n_lines)
            n_lines, is_first = n_lines + lines.count(b"\n"), False
        if rest:
            yield _parsed(unit.path, rest, b"" if is_first else header, n_columns, columns, None, n_lines)


def _parsed(
    path: str,
    lines: bytes,
    header: bytes,
    n_columns: int,
    columns: Sequence[str] | None,
    place: int | None,
    n_lines: int = 0,
) -> Portion:
    """Edges of lines, read as on one machine; `place` are the bytes before them."""
    told = None if columns is None else ",".join(columns)
    problem: str | None = None
    try:
        ids, source, target, weight = _ncut.parse_edges(header + lines, _ending(path), told)
    except ValueError as error:
        problem = str(error)
    else:
        found = _first_columns(lines)
        if n_columns and found and found != n_columns:
            problem = f"line 1: this line has {found} columns, the first has {n_columns}"
    if problem is not None:
        if place is not None:
            with open(path, "rb") as file:
                n_lines = sum(file.read(min(1 << 20, place - at)).count(b"\n") for at in range(0, place, 1 << 20))
        before = n_lines - (1 if header else 0)
        moved = re.sub(r"line (\d+)", lambda match: f"line {int(match[1]) + before}", problem, count=1)
        raise ValueError(f"{path}: {moved}")
    return Portion(ids, source, target, weight)


def _first_columns(lines: bytes) -> int:
    for line in lines[: 1 << 16].split(b"\n"):
        text = line.decode("utf-8-sig", "replace").strip()
        if text and text[0] not in "#%":
            return len(_fields(text))
    return 0


# Parquet


def _parquet(unit: Unit, columns: Sequence[str] | None) -> Iterator[Portion]:
    file = pq.ParquetFile(unit.path)
    names = parquet_columns(unit.path, file.schema_arrow, columns)
    groups = list(range(unit.start, unit.end))
    row = sum(file.metadata.row_group(group).num_rows for group in range(unit.start))
    for batch in file.iter_batches(EDGES_PER_PORTION, row_groups=groups, columns=names):
        yield _of_columns(unit.path, row, *(batch.column(name) for name in names))
        row += batch.num_rows


def parquet_columns(path: str, schema: pa.Schema, columns: Sequence[str] | None) -> list[str]:
    """The columns of both ends and, if there is one, of the weight."""
    names = list(schema.names)
    if columns is not None:
        missing = [name for name in columns if name not in names]
        if missing:
            raise ValueError(f"{path}: there is no column {missing[0]!r}; the columns are {', '.join(names)}")
        return list(columns)
    plain = {re.sub(r"[-_ ]", "", name.lower()): name for name in reversed(names)}

    def first(choices: tuple[str, ...]) -> str | None:
        return next((plain[choice] for choice in choices if choice in plain), None)

    source, target, weight = first(SOURCE_NAMES), first(TARGET_NAMES), first(WEIGHT_NAMES)
    if source is None or target is None:
        raise ValueError(
            f"{path}: the columns {', '.join(names)} do not tell the ends of an edge; call them source, target "
            "and weight, or name them by `columns`"
        )
    return [source, target] + ([weight] if weight is not None else [])


def _of_columns(path: str, row: int, source: Any, target: Any, weight: Any = None) -> Portion:
    for name, column in [("source", source), ("target", target)]:
        if column.null_count:
            place = int(np.flatnonzero(np.asarray(column.is_null()))[0])
            raise ValueError(f"{path}: row {row + place + 1}: the {name} is missing; an edge needs two ends")
    weights = np.ones(len(source)) if weight is None else _weights(path, row, weight)
    if pa.types.is_integer(source.type) and pa.types.is_integer(target.type):
        ends = [np.asarray(column.cast(pa.int64())) for column in (source, target)]
        both = np.concatenate(ends)
        places = np.arange(len(both), dtype=np.uint32)
        return Portion(both, places[: len(source)], places[len(source) :], weights)
    words = pa.chunked_array([_as_words(path, column) for column in (source, target)]).combine_chunks()
    coded = words.dictionary_encode()
    places = np.asarray(coded.indices).astype(np.uint32)
    return Portion(coded.dictionary.to_pylist(), places[: len(source)], places[len(source) :], weights)


def _as_words(path: str, column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind):
        return column.cast(pa.large_string())
    raise ValueError(f"{path}: ids of type {kind}; ids are whole numbers or words")


def _weights(path: str, row: int, column: Any) -> NDArray[np.float64]:
    try:
        weights = np.asarray(pc.fill_null(column.cast(pa.float64()), float("nan")))
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: the weights are no numbers: {error}") from None
    bad = ~((weights >= 0) & np.isfinite(weights))
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{path}: row {row + place + 1}: the weight is {weights[place]}; weights must be finite and not negative"
        )
    return weights


# .ncut files, as docs/files.md tells


class _NcutFile:
    def __init__(self, path: str | Path) -> None:
        header = np.fromfile(path, np.uint8, NCUT_HEADER)
        if len(header) < NCUT_HEADER or header[:8].tobytes() != NCUT_MAGIC:
            raise ValueError(f"{path}: this is no .ncut file, or it is cut short")
        if int(header[8:12].view("<u4")[0]) != 1:
            raise ValueError(f"{path}: this version of the format is not known")
        flags = int(header[12:16].view("<u4")[0])
        self.n_nodes, self.n_entries = (int(number) for number in header[16:32].view("<u8"))
        n_text = int(header[56:64].view("<u8")[0])
        at = NCUT_HEADER
        self._path = path

        def array(kind: str, length: int) -> NDArray[Any]:
            nonlocal at
            at = -(-at // 64) * 64
            if at + length * np.dtype(kind).itemsize > Path(path).stat().st_size:
                raise ValueError(f"{path}: the file is cut short")
            found = np.memmap(path, kind, "r", at, (length,)) if length else np.zeros(0, kind)
            at += length * np.dtype(kind).itemsize
            return found

        self.columns = array("<u4", self.n_entries)
        self.weights = None if flags & 3 == 0 else array("<f4" if flags & 3 == 1 else "<f8", self.n_entries)
        self.offsets = array("<u8", self.n_nodes + 1)
        array("<f8", self.n_nodes)
        if flags & 4:
            array("<f8", self.n_nodes)
        self.ends = array("<u8", self.n_nodes) if flags & 8 else None
        self.text = array("u1", n_text) if flags & 8 else None

    def names(self, nodes: NDArray[np.int64]) -> NDArray[np.int64] | list[str]:
        if self.ends is None or self.text is None:
            return nodes
        stops = self.ends[nodes].astype(np.int64)
        starts = np.where(nodes > 0, self.ends[np.maximum(nodes - 1, 0)], 0).astype(np.int64)
        words = [bytes(self.text[start:stop]).decode() for start, stop in zip(starts, stops, strict=True)]
        if all(re.fullmatch(r"0|[1-9][0-9]{0,17}", word) for word in words):
            return np.array(words, dtype=np.int64)
        return words


def _ncut_rows(unit: Unit, _: Sequence[str] | None) -> Iterator[Portion]:
    file = _NcutFile(unit.path)
    row = unit.start
    while row < unit.end:
        limit = int(file.offsets[row]) + 2 * EDGES_PER_PORTION
        end = min(unit.end, max(row + 1, int(np.searchsorted(file.offsets, limit, "right")) - 1))
        entries = slice(int(file.offsets[row]), int(file.offsets[end]))
        ends = file.offsets[row : end + 1].astype(np.int64)
        lengths = ends[1:] - ends[:-1]
        sources = np.repeat(np.arange(row, end, dtype=np.int64), lengths)
        targets = file.columns[entries].astype(np.int64)
        if len(targets) and int(targets.max()) >= file.n_nodes:
            raise ValueError(f"{unit.path}: the file is damaged: a row names a node that does not exist")
        weights = np.ones(len(targets)) if file.weights is None else file.weights[entries].astype(np.float64)
        # Every edge stands in two rows. Every node is told once without an edge, for those that have none.
        once = sources <= targets
        alone = np.arange(row, end, dtype=np.int64)
        sources = np.concatenate([sources[once], alone])
        targets = np.concatenate([targets[once], alone])
        weights = np.concatenate([weights[once], np.zeros(len(alone))])
        nodes, inverse = np.unique(np.concatenate([sources, targets]), return_inverse=True)
        places: NDArray[np.uint32] = inverse.astype(np.uint32)
        yield Portion(file.names(nodes), places[: len(sources)], places[len(sources) :], weights)
        row = end
