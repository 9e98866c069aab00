"""What runs beside a shard: an actor that reads edges, holds the rows of a range of nodes at every level, and answers.

A method that speaks to the other shards gives one message for each shard and, last of all, a summary for the driver.
The driver never looks into messages; it only hands them on. Messages are made one after the other, and looked at one
after the other: all at once they would take as much memory as what is kept of the nodes.
"""

from __future__ import annotations

import ctypes
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from ncut import _ncut
from ncut._cluster import cluster
from ncut.distributed import _sources
from ncut.distributed._sources import Portion, Unit
from ncut.distributed._storage import (
    EdgeFiles,
    Storage,
    load_arrays,
    read_edges,
    save_arrays,
    storage_error,
    write_whole,
)

NO_LABEL = np.uint32(2**32 - 1)
NO_GROUP = np.uint64(2**64 - 1)
# Strengths of links are counted by their logarithm.
STEPS_PER_OCTAVE, N_STRENGTHS = 8, 512
LOWEST, HIGHEST = -(2**63), 2**63 - 1
# Entries that are looked at together where the coarsest graph is drawn.
ENTRIES_AT_ONCE = 1 << 18
# Smaller messages are not worth being let go at once; the smallest never were in Ray's store.
LARGE_MESSAGE = 1 << 20

Aim = tuple[str, float, float, float]


def n_bytes(messages: Any) -> int:
    """Bytes of arrays in messages, however they are nested."""
    if isinstance(messages, np.ndarray):
        return int(messages.nbytes)
    if isinstance(messages, list | tuple):
        return sum(n_bytes(message) for message in messages)
    return 0


class _Block(NamedTuple):
    """Entries of some rows: row, column, weight, and strength `w / sqrt(d d')`."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: NDArray[np.float64]
    strength: NDArray[np.float64]


class Worker:
    """The actor of one shard."""

    def __init__(self, index: int, n_shards: int, folder: str) -> None:
        _give_memory_back()
        self.index = index
        self.n_shards = n_shards
        self.storage = Storage(folder)
        self.shards: dict[int, _ncut.Shard] = {}
        self.reset()

    def reset(self) -> None:
        """Forgets everything but the rows: the driver goes back to the last state."""
        self._builder: _ncut.ShardBuilder | None = None
        self._coarse: _ncut.CoarseBuilder | None = None
        self._own: NDArray[np.int64] | None = None
        self._ghosts: NDArray[np.int64] | None = None
        self._propagation: _ncut.Propagation | None = None
        self._pieces: _ncut.Pieces | None = None
        self._piece_names: NDArray[np.uint64] | None = None
        self._contraction: _ncut.Contraction | None = None
        self._refinement: _ncut.Refinement | None = None
        self._labels: dict[int, NDArray[np.uint32]] = {}
        self._inverse: NDArray[Any] | None = None
        self._groups: NDArray[np.uint32] | None = None
        self._representatives: NDArray[np.uint64] | None = None
        self._degrees_of_ghosts: NDArray[np.float64] | None = None

    def ping(self) -> int:
        """Where the worker is: tests end it by this number."""
        return os.getpid()

    def node(self) -> str:
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def sees(self, name: str) -> bool:
        return self.storage.path(name).exists()

    def memory(self) -> int:
        """The largest resident set so far, in bytes."""
        with open("/proc/self/status") as status:
            line = next((line for line in status if line.startswith("VmHWM")), "VmHWM: 0 kB")
        return int(line.split()[1]) * 1024

    def _tell(self, messages: Iterable[Any], summary: Callable[[], Any] | None = None) -> Iterator[Any]:
        """A message for each shard, then what the driver is to know, and how many bytes were sent."""
        _let_go_of_messages()
        sent = 0
        for shard, message in enumerate(messages):
            size = n_bytes(message)
            sent += size if shard != self.index else 0
            yield message
            if size > LARGE_MESSAGE:
                _let_go_of_messages()
        yield None if summary is None else summary(), sent

    def _tell_each(self, message: Callable[[int], Any], summary: Callable[[], Any] | None = None) -> Iterator[Any]:
        """The same, of messages that are made when it is their turn."""
        return self._tell(map(message, range(self.n_shards)), summary)

    # Reading

    def sample(self, units: list[dict[str, Any]], columns: list[str] | None, n_ids: int) -> tuple[bool, Any]:
        """Ends of edges at the start of every unit, and whether any is a word."""
        samples = []
        for unit in units:
            ids, _ = _sources.sample_of(Unit(**unit), columns, n_ids)
            if ids is None:
                return True, None
            samples.append(ids)
        return False, np.concatenate(samples) if samples else np.zeros(0, np.int64)

    def spread(
        self, number: int, unit: dict[str, Any], columns: list[str] | None, splitters: list[int]
    ) -> dict[str, Any]:
        """Divides the edges of a unit by the shards of their ends."""
        cuts = np.array(splitters, np.int64)
        found = _Found(self.n_shards)
        with EdgeFiles([self.storage.edges(number, shard) for shard in range(self.n_shards)]) as files:
            for portion in _sources.portions_of(Unit(**unit), columns):
                if isinstance(portion.ids, list):
                    return {"has_words": True}
                owner = np.searchsorted(cuts, portion.ids, side="right")
                found.divide(portion, portion.ids, owner, files)
            files.keep()
        return found.marker()

    def unit_words(self, number: int, unit: dict[str, Any], columns: list[str] | None) -> dict[str, Any]:
        """The different ids of a unit that has words, divided by shards."""
        words: set[str] = set()
        for portion in _sources.portions_of(Unit(**unit), columns):
            words.update(portion.words())
        divided: list[list[str]] = [[] for _ in range(self.n_shards)]
        for word in sorted(words):
            divided[self._owner_of_word(word)].append(word)
        for shard, some in enumerate(divided):
            table = pa.table({"id": pa.array(some, pa.large_string())})
            write_whole(self.storage.words(number, shard), partial(pq.write_table, table))
        return {"n_words": len(words)}

    def _owner_of_word(self, word: str) -> int:
        return zlib.crc32(word.encode()) % self.n_shards

    def collect_words(self, n_units: int) -> int:
        """Puts the different ids of this shard in order; tells how many there are."""
        words: Any = pa.array([], pa.large_string())
        for number in range(n_units):
            more = pq.read_table(self.storage.words(number, self.index)).column("id")
            words = pc.unique(pa.chunked_array([words, *more.chunks], type=pa.large_string()))
        table = pa.table({"id": words.take(pc.array_sort_indices(words))})
        path = self.storage.level(0, "words", self.index)
        write_whole(path, partial(pq.write_table, table))
        return int(table.num_rows)

    def spread_words(
        self, number: int, unit: dict[str, Any], columns: list[str] | None, bounds: list[int]
    ) -> dict[str, Any]:
        """As `spread`, for ids that are words: they become their places among all."""
        found = _Found(self.n_shards)
        with EdgeFiles([self.storage.edges(number, shard) for shard in range(self.n_shards)]) as files:
            for portion in _sources.portions_of(Unit(**unit), columns):
                words = portion.words()
                owner = np.array([self._owner_of_word(word) for word in words], np.int64)
                ids = np.zeros(len(words), np.int64)
                array = pa.array(words, pa.large_string())
                for shard in range(self.n_shards):
                    mine = np.flatnonzero(owner == shard)
                    known = pq.read_table(self.storage.level(0, "words", shard)).column("id").combine_chunks()
                    places = pc.index_in(array.take(pa.array(mine)), value_set=known)
                    if places.null_count:
                        raise ValueError(f"{unit['path']}: the file has changed while it was read; start again")
                    ids[mine] = np.asarray(places).astype(np.int64) + bounds[shard]
                found.divide(portion, ids, owner, files)
            files.keep()
        return found.marker()

    # Rows

    def see_edges(self, n_units: int, span: tuple[int, int], own: tuple[int, int], n_entries: int) -> int:
        """Finds out which nodes the shard has; tells how many."""
        self._builder = _ncut.ShardBuilder(own, span, n_entries)
        for rows, columns, _, alone in self._all_edges(n_units):
            for ids in (rows, columns, alone):
                self._builder.see(ids)
        self._own, self._ghosts = self._builder.number()
        return len(self._own)

    def _all_edges(self, n_units: int) -> Any:
        for number in range(n_units):
            path = self.storage.edges(number, self.index)
            if path.exists():
                yield from read_edges(path)

    def ask_ghosts(self, splitters: list[int]) -> Iterator[Any]:
        """Asks the other shards for the numbers of ghosts."""
        assert self._ghosts is not None
        ghosts, self._ghosts = self._ghosts, None
        cuts = np.searchsorted(ghosts, np.array(splitters, np.int64), side="left")
        return self._tell(np.split(ghosts, cuts))

    def tell_ghosts(self, first: int, *asked: NDArray[np.int64]) -> Iterator[Any]:
        assert self._own is not None
        own, receivers = self._own, {}
        for shard, ids in _heard(asked):
            places = np.searchsorted(own, ids)
            if len(ids) and (places.max() >= len(own) or (own[places] != ids).any()):
                raise ValueError("the edge files have changed while they were read; start again")
            receivers[f"{shard}"] = places.astype(np.uint32)
        save_arrays(self.storage.level(0, "receivers", self.index), **receivers)
        return self._tell_each(lambda shard: receivers[f"{shard}"].astype(np.uint64) + np.uint64(first))

    def fill_edges(self, n_units: int, bounds: list[int], weight_bits: int, *ghosts: NDArray[np.uint64]) -> Any:
        """Makes the rows, and keeps them on disk."""
        builder, self._builder = self._builder, None
        assert builder is not None and self._own is not None
        save_arrays(self.storage.level(0, "ids", self.index), ids=self._own)
        self._own = None
        for rows, _, _, _ in self._all_edges(n_units):
            builder.count(rows)
        builder.allocate(weight_bits)
        for rows, columns, weights, _ in self._all_edges(n_units):
            builder.fill(rows, columns, weights if len(weights) else None)
        for _, numbers in _heard(ghosts):
            builder.add_ghosts(numbers)
        shard = builder.finish(self.index, np.array(bounds, np.uint64))
        return self._keep_shard(0, shard)

    def _keep_shard(self, level: int, shard: _ncut.Shard) -> Any:
        """Keeps the rows of a level on disk; tells their totals."""
        path = self.storage.level(level, "rows", self.index)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            shard.save(str(temporary))
            os.replace(temporary, path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise storage_error(error, path) from None
        # The level below is read again when it is needed.
        self.shards = {level: shard}
        self._set_receivers(level)
        return (*shard.totals(), shard.n_entries, shard.n_loops, shard.n_local, shard.n_bytes)

    def _set_receivers(self, level: int) -> None:
        path = self.storage.level(level, "receivers", self.index)
        if path.exists():
            for name, nodes in load_arrays(path).items():
                self.shards[level].set_receiver(int(name), nodes)

    def shard(self, level: int) -> _ncut.Shard:
        """The rows of a level, read again where they are not there."""
        if level not in self.shards:
            self.shards[level] = _ncut.Shard.load(str(self.storage.level(level, "rows", self.index)))
            self._set_receivers(level)
        return self.shards[level]

    def drop_levels(self, above: int) -> None:
        """Forgets the rows of coarser levels."""
        self.shards = {level: shard for level, shard in self.shards.items() if level <= above}

    # Coarsening

    def start_groups(self, level: int, max_mass: float, by_size: bool, seed: int) -> Iterator[Any]:
        self._propagation = _ncut.Propagation(self.shard(level), max_mass, by_size, seed)
        return self._ask_rooms(level)

    def _ask_rooms(self, level: int) -> Iterator[Any]:
        propagation, shard = self._propagation, self.shard(level)
        assert propagation is not None
        propagation.ask()
        return self._tell_each(lambda owner: propagation.questions(shard, owner))

    def answer_rooms(self, level: int, *questions: NDArray[np.uint32]) -> Iterator[Any]:
        propagation, shard = self._propagation, self.shard(level)
        assert propagation is not None
        for _, places in _heard(questions):
            propagation.count_askers(shard, places)
        return self._tell_each(lambda asker: propagation.answers(shard, questions[asker]))

    def sweep(self, level: int, *answers: NDArray[np.float64]) -> Iterator[Any]:
        propagation, shard = self._propagation, self.shard(level)
        assert propagation is not None
        for owner, rooms in _heard(answers):
            propagation.learn(shard, owner, rooms)
        n_moves = propagation.sweep(shard)
        return self._tell_each(lambda other: propagation.news(shard, other), lambda: n_moves)

    def hear_groups(self, level: int, *news: Any) -> Iterator[Any]:
        assert self._propagation is not None
        shard = self.shard(level)
        for sender, message in _heard(news):
            self._propagation.hear(shard, sender, message)
        return self._ask_rooms(level)

    def start_pieces(self, level: int, of_clusters: bool) -> Iterator[Any]:
        """Pieces of the groups, or of the clusters."""
        shard = self.shard(level)
        if of_clusters:
            assert self._refinement is not None
            labels = self._refinement.labels()
        else:
            assert self._propagation is not None
            labels = self._propagation.take_groups()
            labels[: shard.n_local][~shard.has_degree()] = NO_LABEL
            self._propagation = None
        self._pieces = _ncut.Pieces(shard, labels)
        return self._tell_pieces(level)

    def _tell_pieces(self, level: int) -> Iterator[Any]:
        pieces, shard, n_told = self._pieces, self.shard(level), 0
        assert pieces is not None

        def news() -> Iterator[Any]:
            nonlocal n_told
            for other in range(self.n_shards):
                message = pieces.news(shard, other)
                n_told += len(message[0])
                yield message
            pieces.set_told()

        return self._tell(news(), lambda: n_told)

    def hear_pieces(self, level: int, *news: Any) -> Iterator[Any]:
        assert self._pieces is not None
        shard = self.shard(level)
        for sender, message in _heard(news):
            self._pieces.hear(shard, sender, message)
        return self._tell_pieces(level)

    def count_groups(self, level: int) -> int:
        """Groups that are named by a node of this shard."""
        assert self._pieces is not None
        self._representatives = self._pieces.representatives(self.shard(level))
        return len(self._representatives)

    def ask_groups(self, level: int) -> Iterator[Any]:
        """Asks which coarse nodes the groups of local nodes and ghosts are."""
        assert self._pieces is not None
        shard = self.shard(level)
        names, self._groups = self._pieces.take_places(shard)
        self._pieces = None
        return self._tell(np.split(names, np.searchsorted(names, shard.bounds()[1:-1])))

    def tell_groups(self, first: int, *asked: NDArray[np.uint64]) -> Iterator[Any]:
        assert self._representatives is not None
        known = self._representatives

        def answers(asker: int) -> NDArray[np.uint64]:
            names = asked[asker]
            places = np.minimum(np.searchsorted(known, names), max(len(known) - 1, 0))
            is_known = known[places] == names if len(known) else np.zeros(len(names), bool)
            return np.where(is_known, places.astype(np.uint64) + np.uint64(first), NO_GROUP)

        return self._tell_each(answers)

    def start_contraction(self, level: int, bounds: list[int], *answers: NDArray[np.uint64]) -> Iterator[Any]:
        """Groups are known: brings the sizes of nodes to their coarse nodes."""
        assert self._groups is not None
        shard = self.shard(level)
        coarse, groups = np.concatenate(answers), self._groups
        self._groups, self._representatives = None, None
        save_arrays(self.storage.level(level, "groups", self.index), groups=coarse[groups[: shard.n_local]])
        self._contraction = _ncut.Contraction(shard, coarse, groups)
        self._coarse = _ncut.CoarseBuilder(self.index, np.array(bounds, np.uint64))
        nodes, sizes = self._contraction.sizes(shard)
        cuts = np.searchsorted(nodes, np.array(bounds[1:-1], np.uint64))
        return self._tell(zip(np.split(nodes, cuts), np.split(sizes, cuts), strict=True))

    def take_sizes(self, *sizes: tuple[NDArray[np.uint64], NDArray[np.float64]]) -> None:
        assert self._coarse is not None
        for nodes, values in sizes:
            self._coarse.add_sizes(nodes, values)

    def give_rows(self, level: int, bounds: list[int], part: int, n_parts: int) -> Iterator[Any]:
        """What this shard adds to a part of the coarse rows of every shard."""
        contraction, shard = self._contraction, self.shard(level)
        assert contraction is not None
        return self._tell_each(lambda owner: contraction.portion(shard, *_part_of(bounds, owner, part, n_parts)))

    def take_rows(self, bounds: list[int], part: int, n_parts: int, *portions: Any) -> None:
        assert self._coarse is not None
        _, end = _part_of(bounds, self.index, part, n_parts)
        self._coarse.add_rows(end, list(portions))
        _let_go_of_messages()

    def finish_contraction(self, level: int) -> Iterator[Any]:
        """The coarse rows are whole: tells the other shards which of their nodes are ghosts here."""
        assert self._coarse is not None
        # The rows below are read again when they are needed.
        self._contraction = None
        self.shards.pop(level, None)
        coarse, self._coarse = self._coarse.finish(), None
        self.shards[level + 1] = coarse
        ghosts = coarse.ghosts()
        bounds = coarse.bounds()
        return self._tell(np.split(ghosts, np.searchsorted(ghosts, bounds[1:-1])))

    def take_receivers(self, level: int, *ghosts: NDArray[np.uint64]) -> Any:
        shard = self.shards[level]
        first = shard.bounds()[self.index]
        receivers = {f"{asker}": (numbers - first).astype(np.uint32) for asker, numbers in enumerate(ghosts)}
        save_arrays(self.storage.level(level, "receivers", self.index), **receivers)
        return self._keep_shard(level, shard)

    # Solving

    def ask_degrees(self, level: int) -> Iterator[Any]:
        shard = self.shard(level)
        ghosts = shard.ghosts()
        return self._tell(np.split(ghosts, np.searchsorted(ghosts, shard.bounds()[1:-1])))

    def tell_degrees(self, level: int, *asked: NDArray[np.uint64]) -> Iterator[Any]:
        shard = self.shard(level)
        degrees, first = shard.degrees(), shard.bounds()[self.index]
        return self._tell_each(lambda asker: degrees[asked[asker] - first])

    def strengths(self, level: int, *degrees: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many links have which strength, `w / sqrt(d d')`: counts by its logarithm."""
        self._degrees_of_ghosts = np.concatenate(degrees)
        counts = np.zeros(N_STRENGTHS, np.int64)
        for block in self._blocks(level):
            places = np.floor(-STEPS_PER_OCTAVE * np.log2(block.strength)).astype(np.int64)
            counts += np.bincount(np.clip(places, 0, N_STRENGTHS - 1), minlength=N_STRENGTHS)
        return counts

    def _blocks(self, level: int) -> Iterator[_Block]:
        """The entries of this shard, some rows at a time: all at once would take several times their memory."""
        shard = self.shard(level)
        offsets, degrees, ghosts = shard.offsets().astype(np.int64), shard.degrees(), shard.ghosts().astype(np.int64)
        first, end = (int(bound) for bound in shard.bounds()[self.index : self.index + 2])
        assert self._degrees_of_ghosts is not None
        # Whole rows, each block as many as fit.
        cuts = np.unique(np.searchsorted(offsets, np.arange(0, offsets[-1] + ENTRIES_AT_ONCE, ENTRIES_AT_ONCE)))
        cuts = np.unique(np.concatenate([[0], np.minimum(cuts, shard.n_local), [shard.n_local]]))
        for start, stop in pairwise(cuts.tolist()):
            columns, weights = shard.entries(int(offsets[start]), int(offsets[stop]))
            rows = np.repeat(np.arange(start, stop), np.diff(offsets[start : stop + 1]))
            is_local = (columns >= first) & (columns < end)
            other = np.empty_like(weights)
            other[is_local] = degrees[columns[is_local] - first]
            other[~is_local] = self._degrees_of_ghosts[np.searchsorted(ghosts, columns[~is_local])]
            yield _Block(rows, columns, weights, weights / np.sqrt(degrees[rows] * other))

    def give_all_rows(self, level: int, threshold: float | None) -> tuple[Any, ...]:
        """The rows of the coarsest level: offsets, columns, weights, sizes.

        Links weaker than `threshold` are drawn by a hash, with a probability in proportion to their strength, and then
        stand for those that are not: the degrees stay what they are but for chance.
        """
        shard = self.shard(level)
        if threshold is None:
            columns, weights = shard.entries(0, shard.n_entries)
            return shard.offsets(), columns.astype(np.uint32), weights, shard.sizes()
        first = int(shard.bounds()[self.index])
        lengths = np.zeros(shard.n_local, np.int64)
        kept: list[tuple[NDArray[Any], NDArray[Any]]] = []
        for block in self._blocks(level):
            numbers, others = block.rows.astype(np.uint64) + np.uint64(first), block.columns.astype(np.uint64)
            share = np.minimum(block.strength.astype(np.float32) / np.float32(threshold), np.float32(1))
            is_kept = (_drawn(numbers, others) < share) | (numbers == others)
            share[numbers == others] = 1
            lengths += np.bincount(block.rows[is_kept], minlength=shard.n_local)
            weights = (block.weights[is_kept] / share[is_kept]).astype(np.float32)
            kept.append((others[is_kept].astype(np.uint32), weights))
        self._degrees_of_ghosts = None
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
        nothing = (np.zeros(0, np.uint32), np.zeros(0, np.float32))
        columns, weights = (np.concatenate(parts) for parts in zip(nothing, *kept, strict=True))
        return offsets, columns, weights, shard.sizes()

    def solve(
        self, n_clusters: int, settings: dict[str, Any], name: str, n_shards: int, *arrays: Any
    ) -> dict[str, Any]:
        """Clusters the coarsest graph by the ordinary search; `arrays` are four for each shard."""
        rows = [arrays[4 * shard : 4 * shard + 4] for shard in range(n_shards)]
        n_nodes, n_entries = sum(len(row[0]) - 1 for row in rows), sum(len(row[1]) for row in rows)
        if max(n_nodes, n_entries) >= 2**31:
            raise ValueError(f"the coarsest graph has {n_nodes} nodes and {n_entries} entries, too many for one worker")
        indptr = np.zeros(n_nodes + 1, np.int32)
        node = entry = 0
        for offsets, _, _, _ in rows:
            indptr[node : node + len(offsets)] = offsets.astype(np.int64) + entry
            node, entry = node + len(offsets) - 1, entry + int(offsets[-1])
        indices = np.concatenate([row[1] for row in rows], dtype=np.int32, casting="unsafe")
        weights = np.concatenate([row[2] for row in rows])
        sizes = np.concatenate([row[3] for row in rows])
        del rows, arrays
        matrix = sparse.csr_array((weights, indices, indptr), shape=(n_nodes, n_nodes))
        matrix.sort_indices()
        extra: dict[str, Any] = {}
        if settings["objective"] == "ratio_cut" and (sizes != 1).any():
            extra["node_weight"] = sizes
        n_jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        clustering = cluster(matrix, n_clusters, n_jobs=n_jobs, symmetrize="average", **settings, **extra)
        save_arrays(self.storage.path("states", name), labels=clustering.labels.astype(np.uint32))
        return {
            "n_entries": n_entries,
            "objective": clustering.objective,
            "resolution": clustering.resolution,
            "stop_reason": clustering.stop_reason,
            "n_components": clustering.n_components,
        }

    # Refinement

    def take_solution(self, level: int, name: str) -> None:
        """The labels of the coarsest level."""
        bounds = self.shard(level).bounds()
        labels = load_arrays(self.storage.path("states", name))["labels"]
        self._labels[level] = labels[int(bounds[self.index]) : int(bounds[self.index + 1])].copy()

    def take_state(self, level: int, name: str) -> None:
        """The labels of a level as they were kept."""
        self._labels[level] = load_arrays(self.storage.state(name, self.index))["labels"]

    def ask_labels(self, level: int) -> Iterator[Any]:
        """Asks for the labels of the coarse nodes that local nodes are in."""
        groups = load_arrays(self.storage.level(level, "groups", self.index))["groups"]
        names, self._inverse = np.unique(groups, return_inverse=True)
        coarse = self.shard(level + 1).bounds()
        names = names[names != NO_GROUP]
        return self._tell(np.split(names, np.searchsorted(names, coarse[1:-1])))

    def tell_labels(self, level: int, *asked: NDArray[np.uint64]) -> Iterator[Any]:
        labels = self._labels[level]
        first = self.shard(level).bounds()[self.index]
        return self._tell_each(lambda asker: labels[asked[asker] - first])

    def project(self, level: int, *answers: NDArray[np.uint32]) -> None:
        """The labels of local nodes are those of their coarse nodes."""
        assert self._inverse is not None
        found = np.append(np.concatenate(answers).astype(np.uint32), NO_LABEL)
        self._labels = {level: found[self._inverse].astype(np.uint32)}
        self._inverse = None
        self._refinement = None
        self.drop_levels(level)

    def show_labels(self, level: int) -> Iterator[Any]:
        return self._tell(self.shard(level).for_ghosts(self._labels[level]))

    def start_refinement(self, level: int, n_clusters: int, name: str | None, *shown: NDArray[np.uint32]) -> Any:
        """Labels of ghosts are known: sums them up. `name` is the state to go on from."""
        shard = self.shard(level)
        labels = np.concatenate([self._labels.pop(level), *shown])
        self._refinement = _ncut.Refinement(shard, labels, n_clusters)
        if name is not None:
            active = load_arrays(self.storage.state(name, self.index))["active"]
            if len(active):
                self._refinement.set_active(np.unpackbits(active, count=shard.n_local).astype(bool))
        return self._refinement.sums(shard)

    def propose(
        self,
        level: int,
        is_kept: bool,
        aim: Aim,
        table: NDArray[np.float64],
        floor: float,
        turn: tuple[float, int, bool],
    ) -> Iterator[Any]:
        """Keeps the state there is, or goes back to the one before; then moves nodes.

        `turn` is the part of the nodes that may move, the number of the round, and whether only nodes move that their
        cluster is seen to hang together without.
        """
        refinement, shard = self._refinement, self.shard(level)
        assert refinement is not None
        if is_kept:
            refinement.keep()
        else:
            refinement.undo()
        n_moves = 0
        if turn[0] > 0:
            n_moves = refinement.propose(shard, aim, np.ascontiguousarray(table), floor, turn)
        return self._tell_each(lambda other: refinement.news(shard, other), lambda: n_moves)

    def hear_labels(self, level: int, *news: Any) -> NDArray[np.float64]:
        assert self._refinement is not None
        shard = self.shard(level)
        for sender, message in _heard(news):
            self._refinement.hear(shard, sender, message)
        return self._refinement.sums(shard)

    def settle(self, is_kept: bool) -> None:
        """Keeps the state there is, or goes back to the one before."""
        assert self._refinement is not None
        if is_kept:
            self._refinement.keep()
        else:
            self._refinement.undo()

    def save_state(self, level: int, name: str) -> None:
        """Writes the state that was accepted."""
        if self._refinement is not None:
            n_local = self.shard(level).n_local
            labels, active = self._refinement.labels()[:n_local], np.packbits(self._refinement.active())
        else:
            labels, active = self._labels[level], np.zeros(0, np.uint8)
        save_arrays(self.storage.state(name, self.index), labels=labels, active=active)

    def end_level(self, level: int) -> None:
        """The labels of the level are final."""
        assert self._refinement is not None
        self._labels = {level: self._refinement.labels()[: self.shard(level).n_local]}
        self._refinement = None

    # Clusters that hold together

    def piece_volumes(self, level: int) -> tuple[NDArray[Any], ...]:
        """Pieces that this shard has nodes of: their name, cluster, and volume here."""
        assert self._pieces is not None and self._refinement is not None
        shard = self.shard(level)
        self._piece_names, self._pieces = self._pieces.all(), None
        labels = self._refinement.labels()[: shard.n_local]
        has_label = labels != NO_LABEL
        local = self._piece_names[: shard.n_local][has_label]
        names, first, inverse = np.unique(local, return_index=True, return_inverse=True)
        volumes = np.bincount(inverse, shard.degrees()[has_label], len(names))
        return names, labels[has_label][first], volumes

    def linked_pieces(self, level: int, moving: NDArray[np.uint64]) -> Any:
        """What this shard knows of pieces that are to move."""
        assert self._piece_names is not None and self._refinement is not None
        return _ncut.piece_links(self.shard(level), self._refinement.labels(), self._piece_names, moving)

    def move_pieces(self, level: int, moved: NDArray[np.uint64], to: NDArray[np.uint32]) -> tuple[int, Any]:
        """Gives pieces their new clusters."""
        assert self._piece_names is not None and self._refinement is not None
        shard = self.shard(level)
        n_moves = self._refinement.relabel(shard, self._piece_names, moved, to)
        self._piece_names = None
        sums = self._refinement.sums(shard)
        self._refinement.keep()
        return n_moves, sums

    # Results

    def first_places(self, n_clusters: int, isolated: int) -> NDArray[np.int64]:
        """Where every cluster appears first among the nodes of this shard."""
        labels = self._final(isolated)
        places = np.full(n_clusters, HIGHEST, np.int64)
        found, first = np.unique(labels, return_index=True)
        places[found] = first
        return places

    def _final(self, isolated: int) -> NDArray[np.uint32]:
        (labels,) = self._labels.values()
        return np.where(labels == NO_LABEL, np.uint32(isolated), labels)

    def write_labels(self, folder: str, isolated: int, numbers: NDArray[np.int64], has_words: bool) -> str:
        """Writes the labels of this shard's nodes."""
        labels: NDArray[np.int32] = numbers[self._final(isolated)].astype(np.int32)
        if has_words:
            ids = pq.read_table(self.storage.level(0, "words", self.index)).column("id")
        else:
            ids = pa.array(load_arrays(self.storage.level(0, "ids", self.index))["ids"])
        table = pa.table({"id": ids, "label": pa.array(labels)})
        path = Path(folder) / f"labels-{self.index:05}.parquet"
        write_whole(path, partial(pq.write_table, table))
        return str(path)


class _Found:
    """What was found in a unit of edges."""

    def __init__(self, n_shards: int) -> None:
        self._n_entries = np.zeros(n_shards, np.int64)
        self._span = (HIGHEST, LOWEST)
        self._weight_bits = 0
        self._n_edges = 0

    def divide(self, portion: Portion, ids: NDArray[np.int64], owner: NDArray[Any], files: EdgeFiles) -> None:
        """Adds the entries of both rows of every edge, in the order of the edges, to those of their shards."""
        if not len(ids):
            return
        self._span = (min(self._span[0], int(ids.min())), max(self._span[1], int(ids.max())))
        source, target, weight = portion.source, portion.target, portion.weight
        is_edge = weight > 0
        is_alone = np.zeros(0, np.int64)
        if not is_edge.all():
            is_alone = np.unique(np.concatenate([source[~is_edge], target[~is_edge]]))
            source, target, weight = source[is_edge], target[is_edge], weight[is_edge]
        self._n_edges += len(source)
        rows: NDArray[Any] = np.stack([source, target], axis=1).reshape(-1)
        columns: NDArray[Any] = np.stack([target, source], axis=1).reshape(-1)
        weights = np.repeat(weight, 2)
        once = np.ones(len(rows), bool)
        # Ids may stand more than once among those of a portion.
        once[1::2] = ids[source] != ids[target]
        if not once.all():
            rows, columns, weights = rows[once], columns[once], weights[once]
        bits = 0 if (weight == 1).all() else 32 if (weight == weight.astype(np.float32)).all() else 64
        self._weight_bits = max(self._weight_bits, bits)
        owners = owner.astype(np.uint16)[rows]
        order = np.argsort(owners, kind="stable")
        cuts = np.searchsorted(owners[order], np.arange(len(self._n_entries) + 1))
        rows, columns = ids[rows[order]], ids[columns[order]]
        weights = weights[order] if bits else np.zeros(0)
        alone_owner: NDArray[Any] = owner[is_alone]
        for shard in range(len(self._n_entries)):
            start, end = int(cuts[shard]), int(cuts[shard + 1])
            alone = ids[is_alone[alone_owner == shard]]
            if end > start or len(alone):
                files.add(shard, (rows[start:end], columns[start:end], weights[start:end], alone))
                self._n_entries[shard] += end - start

    def marker(self) -> dict[str, Any]:
        return {
            "has_words": False,
            "n_entries": self._n_entries.tolist(),
            "span": list(self._span),
            "weight_bits": self._weight_bits,
            "n_edges": self._n_edges,
        }


def _give_memory_back() -> None:
    """Has what is freed go back to the system at once; otherwise large arrays leave holes that are never filled."""
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        libc = ctypes.CDLL(None)
        # M_MMAP_THRESHOLD: from a megabyte on, each array has pages of its own. M_ARENA_MAX: one heap.
        libc.mallopt(-3, 1 << 20)
        libc.mallopt(-8, 1)
    except (OSError, AttributeError):
        # Not glibc: its allocator is left as it is.
        return


def _heard(messages: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """The messages of all shards, one after the other: each is let go when the next is asked for."""
    for sender, message in enumerate(messages):
        yield sender, message
        if n_bytes(message) > LARGE_MESSAGE:
            _let_go_of_messages()


def _let_go_of_messages() -> None:
    """Unmaps pages of Ray's store that were looked at: otherwise all messages there ever were would count as this
    worker's memory. They stay in the store, and are mapped again when they are needed."""
    if _LIBC is None:
        return
    with open("/proc/self/maps") as maps:
        stores = [line.split(maxsplit=1)[0] for line in maps if "plasma" in line]
    for span in stores:
        start, end = (int(place, 16) for place in span.split("-"))
        # MADV_DONTNEED
        _LIBC.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), 4)


def _libc() -> Any:
    """The C library, where it is that of Linux."""
    try:
        library = ctypes.CDLL(None)
        return library if hasattr(library, "madvise") and os.path.exists("/proc/self/maps") else None
    except OSError:
        return None


_LIBC = _libc()


def _drawn(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.float32]:
    """A number from 0 to 1 for every pair, whichever comes first, by a hash (SplitMix64)."""
    bits = np.minimum(one, other) * np.uint64(0x9E3779B97F4A7C15) + np.maximum(one, other)
    for shift, factor in [(30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)]:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return (bits >> np.uint64(40)).astype(np.float32) / np.float32(2**24)


def _part_of(bounds: list[int], owner: int, part: int, n_parts: int) -> tuple[int, int]:
    start, end = bounds[owner], bounds[owner + 1]
    return start + (end - start) * part // n_parts, start + (end - start) * (part + 1) // n_parts
