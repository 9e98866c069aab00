"""The run: who does what when. The driver sees sums over clusters, never edges or labels of single nodes.

A run is a sequence of states, each of them kept in `storage`; a step leads from one to the next. Whatever happens to a
worker, the step begins again from the last state, with the same result: every step is a function of the state.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray

from ncut import _ncut
from ncut.distributed import _sources
from ncut.distributed._crew import Crew, Fault, Told, n_processors
from ncut.distributed._storage import Storage
from ncut.distributed._worker import HIGHEST, LOWEST, N_STRENGTHS, STEPS_PER_OCTAVE, Aim

VERSION = 1

# So many faults in a row without a new state, and the run gives up.
MAX_FAULTS = 8
# Ends of edges that each unit is asked for, to divide the ids among shards.
N_SAMPLED = 2000
# Coarsening ends here: so many nodes a cluster are enough for the search, fewer cost quality.
NODES_PER_CLUSTER = 12
# Groups of so many mean masses at the most, in graphs with long rows and with short ones: large groups of meshes have
# rough borders.
GROWTH = (64, 8)
SHORT_ROW = 12.0
SWEEPS = 4
# A level that has more than this share of the nodes of the one below is not worth it.
MAX_SHARE = 0.9
MAX_ROUNDS = 40
# Rounds that gain less than this, relatively, end a level; the graph itself is refined longer.
SMALL_GAIN = (1e-6, 1e-5)
MIN_PART = 1 / 64
MAX_REPAIRS = 20
# Coarse rows are summed up in parts: at once they would take several times the memory of the rows.
MIN_PARTS, MAX_PARTS, ENTRIES_PER_PART = 4, 32, 250_000


# Which piece, which cluster, what weight.
Links = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class Run(Crew):
    """A run, from state to state."""

    def __init__(
        self,
        storage: Storage,
        settings: dict[str, Any],
        columns: list[str] | None,
        told: Told,
        deadline: float | None,
    ) -> None:
        super().__init__(storage, told)
        self.settings = settings
        self.columns = columns
        self.deadline = deadline
        self.k: int = settings["n_clusters"]
        self.units: list[dict[str, Any]] = []
        self.state: dict[str, Any] = {}
        # Which level the workers refine, and by which state, so that a step goes on from the one before.
        self._at: str | None = None

    # The beginning and the end

    def open(self, dataset: Any, files: list[Path] | None, n_shards: int | None) -> None:
        """Compares the call with the one that `storage` is of."""
        known = self.storage.read_json("run.json")
        if known is not None:
            self.storage.remove_unfinished()
        self.n_shards = n_shards or (known or {}).get("n_shards") or max(1, int(n_processors()))
        source: Any
        if files is not None:
            source = [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in files]
        else:
            source = ["dataset", int(dataset.count()), [str(name) for name in dataset.schema().names]]
        mine = {
            "version": VERSION,
            "ncut": _ncut.__version__,
            "source": source,
            "columns": self.columns,
            "settings": self.settings,
            "n_shards": self.n_shards,
        }
        if known is None:
            others = [path.name for path in self.storage.folder.iterdir() if not path.name.startswith(".")]
            if others:
                raise ValueError(
                    f"storage {self.storage.folder} holds other files ({others[0]}); give an empty folder, or one of "
                    "a run"
                )
            self.storage.write_json("run.json", mine)
        else:
            for name, words in [
                ("version", "another version of ncut"),
                ("ncut", "another version of ncut"),
                ("source", "another source, or files that have changed since"),
                ("columns", "other columns"),
                ("settings", "other settings"),
                ("n_shards", "another number of shards"),
            ]:
                if known.get(name) != mine[name]:
                    raise ValueError(
                        f"storage {self.storage.folder} holds a run of {words}; give another folder, or remove this "
                        "one to begin again"
                    )
        if files is None:
            folder = self.storage.path("source")
            if self.storage.read_json("source.json") is None:
                shutil.rmtree(folder, ignore_errors=True)
                dataset.write_parquet(str(folder))
                self.storage.write_json("source.json", True)
            files = _sources.list_files(folder)
        self.units = [unit.as_dict() for path in files for unit in _sources.units_of(path)]
        self.state = self.storage.read_json("state.json") or {"stage": "read", "seconds": {}, "n_faults": 0}

    def forget_work(self) -> None:
        """The result is elsewhere: only what tells that the run is done stays."""
        for name in (
            "edges",
            "words",
            "states",
            "source",
            *(path.name for path in self.storage.folder.glob("level-*")),
        ):
            shutil.rmtree(self.storage.path(name), ignore_errors=True)

    def run(self, output: Path | None) -> dict[str, Any]:
        """From state to state, whatever happens to the workers."""
        steps: dict[str, Callable[[], None]] = {
            "read": self.read,
            "coarsen": self.coarsen,
            "solve": self.solve,
            "project": self.project,
            "refine": self.refine,
            "polish": self.polish,
            "connect": self.connect,
        }
        n_faults, last = 0, None
        while True:
            before = self.state
            began = time.monotonic()
            try:
                if self.state["stage"] == "done":
                    finished = self.finish(output)
                    if finished is not None:
                        return finished
                    self._ready()
                    return self.write(output)
                self._ready()
                steps[self.state["stage"]]()
                most = max(self.each("memory"))
                self.state.setdefault("memory_by_stage", {})[before["stage"]] = most
            except Fault as fault:
                # Steps of several states may have come further than where they began.
                stored = self.storage.read_json("state.json") or before
                n_faults = n_faults + 1 if stored == last else 1
                last = stored
                counters: dict[str, Any] = {
                    name: self.state[name]
                    for name in ("seconds", "idle", "n_faults", "memory_by_stage")
                    if name in self.state
                }
                self.state = {**stored, **counters}
                if n_faults > MAX_FAULTS:
                    raise RuntimeError(
                        f"workers were lost {n_faults} times in a row in the stage {before['stage']!r}: {fault}. Maybe "
                        "a machine has too little memory: take more shards. The same call goes on from the last state"
                    ) from None
                self.told.tell("replacing lost workers")
                self.replace()
                self._at = None
                self.state["n_faults"] = self.state.get("n_faults", 0) + 1
            seconds = self.state.setdefault("seconds", {})
            seconds[before["stage"]] = seconds.get(before["stage"], 0.0) + time.monotonic() - began

    def _ready(self) -> None:
        """Sees to it that there are workers."""
        if not self.workers:
            self.told.n_bytes = max(self.told.n_bytes, self.state.get("n_bytes", 0))
            # What a worker takes that holds nothing.
            self.state.setdefault("idle", self.hire())

    def advance(self, stage: str, **more: Any) -> None:
        """The state that was reached is kept."""
        self.state = {**self.state, **more, "stage": stage, "n_bytes": self.told.n_bytes}
        self.storage.write_json("state.json", self.state)

    def each_unit(self, method: str, kind: str, *arguments: Any) -> list[dict[str, Any]]:
        """Has every unit read by a worker, unless it was before."""
        done: dict[int, Any] = {}
        for number in range(len(self.units)):
            marker = self.storage.read_json(f"{kind}/{number:06}.json")
            if marker is not None:
                done[number] = marker
        queue = [number for number in range(len(self.units)) if number not in done]
        running: dict[Any, tuple[int, Any]] = {}
        idle = list(self.workers)
        while queue or running:
            while queue and idle:
                number, worker = queue.pop(0), idle.pop(0)
                running[getattr(worker, method).remote(number, self.units[number], *arguments)] = (number, worker)
            (ready, *_), _ = ray.wait(list(running), num_returns=1)
            number, worker = running.pop(ready)
            (marker,) = self.get([ready])
            if marker.get("has_words"):
                return [marker]
            self.storage.write_json(f"{kind}/{number:06}.json", marker)
            done[number] = marker
            idle.append(worker)
            self.told.tell("reading", 0, len(done))
        return [done[number] for number in range(len(self.units))]

    # Reading

    def read(self) -> None:
        """From edge files to rows in shards."""
        self.told.tell("reading")
        has_words = self.state.get("has_words")
        if has_words is None:
            has_words, splitters = self._sampled()
            self.advance("read", has_words=has_words, splitters=splitters)
        if not has_words:
            splitters = self.state["splitters"]
            markers = self.each_unit("spread", "edges", self.columns, splitters)
            if any(marker.get("has_words") for marker in markers):
                shutil.rmtree(self.storage.path("edges"), ignore_errors=True)
                self.advance("read", has_words=True, splitters=None)
                return
        else:
            self.each_unit("unit_words", "words", self.columns)
            counts = self.each("collect_words", len(self.units))
            word_bounds = [0, *np.cumsum(counts).tolist()]
            splitters = word_bounds[1:-1]
            markers = self.each_unit("spread_words", "edges", self.columns, word_bounds)
        n_units = len(self.units)
        spans = [marker["span"] for marker in markers if marker["span"][0] <= marker["span"][1]]
        if not spans:
            raise ValueError("the source holds no edges")
        span = (min(low for low, _ in spans), max(high for _, high in spans))
        n_entries = np.sum([marker["n_entries"] for marker in markers], axis=0).tolist()
        weight_bits = max(marker["weight_bits"] for marker in markers)
        ends = [LOWEST, *splitters, HIGHEST]
        own = [(ends[index], ends[index + 1] - (index + 1 < self.n_shards)) for index in range(self.n_shards)]
        counts = self.get(
            [
                worker.see_edges.remote(n_units, span, own[index], n_entries[index])
                for index, worker in enumerate(self.workers)
            ]
        )
        bounds = [0, *np.cumsum(counts).tolist()]
        _, asked = self.send("ask_ghosts", splitters)
        _, told = self.send("tell_ghosts", own=[(bounds[index], *asked[index]) for index in range(self.n_shards)])
        totals = self.deliver("fill_edges", told, n_units, bounds, weight_bits)
        n_nodes = bounds[-1]
        if self.k > n_nodes:
            raise ValueError(f"{self.k} clusters were asked of {n_nodes} nodes; take a number from 1 to {n_nodes}")
        self.advance("coarsen", level=0, levels=[self._level(totals, bounds)])
        shutil.rmtree(self.storage.path("edges"), ignore_errors=True)
        shutil.rmtree(self.storage.path("words"), ignore_errors=True)

    def _sampled(self) -> tuple[bool, list[int]]:
        """Whether ids are words; if not, the ids at which shards begin."""
        own = [self.units[index :: self.n_shards] for index in range(self.n_shards)]
        found = self.get(
            [
                worker.sample.remote(units, self.columns, N_SAMPLED)
                for worker, units in zip(self.workers, own, strict=True)
            ]
        )
        if any(has_words for has_words, _ in found):
            return True, []
        ends = np.sort(np.concatenate([ids for _, ids in found]))
        places = [len(ends) * index // self.n_shards for index in range(1, self.n_shards)]
        return False, ends[places].tolist() if len(ends) else [0] * (self.n_shards - 1)

    def _level(self, totals: list[Any], bounds: list[int]) -> dict[str, Any]:
        volume, size, n_nodes = (float(sum(total[place] for total in totals)) for place in range(3))
        n_entries, n_loops = (int(sum(total[place] for total in totals)) for place in (4, 5))
        return {
            "bounds": bounds,
            "volume": volume,
            "size": size,
            "n_linked": int(n_nodes),
            "n_entries": n_entries,
            "n_edges": (n_entries - n_loops) // 2 + n_loops,
            "n_bytes": [int(total[7]) for total in totals],
        }

    # Coarsening

    def coarsen(self) -> None:
        """One level up, or the end of coarsening."""
        level = self.state["level"]
        known = self.state["levels"][level]
        n_nodes, row = known["n_linked"], known["n_entries"] / max(1, known["n_linked"])
        least = NODES_PER_CLUSTER * self.k
        if known["n_entries"] <= self.settings["fit_entries"] or n_nodes <= 4 * least:
            self.advance("solve")
            return
        self.told.tell("coarsening", level)
        by_size = self.settings["objective"] == "ratio_cut"
        mass = known["size"] if by_size else known["volume"]
        growth = GROWTH[1] if row <= SHORT_ROW else GROWTH[0]
        max_mass = min(mass / least, growth * mass / n_nodes)
        number = self.settings["random_state"] + level
        _, asked = self.send("start_groups", level, max_mass, by_size, number)
        for sweep in range(SWEEPS):
            _, answers = self.relay("answer_rooms", asked, level)
            moves, news = self.relay("sweep", answers, level)
            self.told.tell("coarsening", level, sweep + 1, None, sum(moves))
            _, asked = self.relay("hear_groups", news, level)
            if sum(moves) < n_nodes // 50:
                break
        self._find_pieces(level, False)
        counts = self.each("count_groups", level)
        n_groups = sum(counts)
        if n_groups > MAX_SHARE * n_nodes:
            self.advance("solve")
            return
        bounds = [0, *np.cumsum(counts).tolist()]
        _, asked = self.send("ask_groups", level)
        _, told = self.send("tell_groups", own=[(bounds[index], *asked[index]) for index in range(self.n_shards)])
        _, sizes = self.relay("start_contraction", told, level, bounds)
        self.deliver("take_sizes", sizes)
        n_parts = min(max(MIN_PARTS, known["n_entries"] // (self.n_shards * ENTRIES_PER_PART)), MAX_PARTS)
        for part in range(n_parts):
            _, rows = self.send("give_rows", level, bounds, part, n_parts)
            self.deliver("take_rows", rows, bounds, part, n_parts)
        _, ghosts = self.send("finish_contraction", level)
        totals = self.deliver("take_receivers", ghosts, level + 1)
        self.advance("coarsen", level=level + 1, levels=[*self.state["levels"], self._level(totals, bounds)])

    def _find_pieces(self, level: int, of_clusters: bool) -> int:
        """Has the shards find connected pieces, in rounds."""
        n_rounds = 0
        counts, news = self.send("start_pieces", level, of_clusters)
        while sum(counts):
            counts, news = self.relay("hear_pieces", news, level)
            n_rounds += 1
        return n_rounds

    # Solving

    def solve(self) -> None:
        level = self.state["level"]
        known = self.state["levels"][level]
        n_nodes = known["bounds"][-1]
        if self.k > n_nodes:
            raise ValueError(f"{self.k} clusters were asked of {n_nodes} nodes; take a number from 1 to {n_nodes}")
        self.told.tell("solving", level)
        settings = {
            name: self.settings[name] for name in ("preset", "objective", "min_share", "connected", "random_state")
        }
        if self.deadline is not None:
            settings["time_limit"] = max(0.1, self.deadline - time.monotonic())
        threshold = self._threshold(level) if level > 0 and known["n_entries"] > self.settings["fit_entries"] else None
        rows = [worker.give_all_rows.options(num_returns=4).remote(level, threshold) for worker in self.workers]
        arrays = [array for row in rows for array in row]
        (found,) = self.get([self.workers[0].solve.remote(self.k, settings, "solution.npz", self.n_shards, *arrays)])
        found["threshold"] = threshold
        self.deliver("take_solution", [()] * self.n_shards, level, "solution.npz")
        self._keep(level, f"solved-{level}")
        self.advance("project", solved=found, name=f"solved-{level}", is_solved=level == 0)

    def _threshold(self, level: int) -> float:
        """The strength of links below which they are drawn by chance, so that the coarsest graph fits one worker.

        Where clusters are hidden in noise, coarsening leaves nearly all edges between groups in place.
        """
        _, asked = self.send("ask_degrees", level)
        _, told = self.relay("tell_degrees", asked, level)
        counts = np.sum(self.deliver("strengths", told, level), axis=0)
        strength = 2.0 ** (-np.arange(N_STRENGTHS) / STEPS_PER_OCTAVE)
        above = np.concatenate([[0], np.cumsum(counts)])[:-1]
        below = np.cumsum((counts * strength)[::-1])[::-1]
        expected = above + below / strength
        enough = np.flatnonzero(expected <= self.settings["fit_entries"])
        return float(strength[enough[-1] if len(enough) else 0])

    def _keep(self, level: int, name: str) -> None:
        self.each("save_state", level, name)

    @property
    def aim(self) -> Aim:
        known = self.state["levels"][0]
        resolution = self.state["solved"]["resolution"]
        return (self.settings["objective"], 1.0 if resolution is None else resolution, known["volume"], known["size"])

    # Refinement

    def project(self) -> None:
        """The labels of a level become those of the level below; the first are those that were solved."""
        level, name = self.state["level"], self.state["name"]
        self.each("take_state", level, name)
        if level > 0:
            # What was solved is as good as a search makes it: the next level is where there is something to gain.
            level -= 1
            _, asked = self.send("ask_labels", level)
            _, told = self.relay("tell_labels", asked, level + 1)
            self.deliver("project", told, level)
        name = f"level-{level}"
        self._keep(level, name)
        table = self._start(level, None)
        value, smallest = self._value(table)
        self._at = name
        self.advance(
            "connect" if self.state["is_solved"] else "refine",
            level=level,
            name=name,
            round=0,
            part=1.0,
            objective=value,
            smallest=smallest,
            smallest_solved=self.state.get("smallest_solved", smallest),
            n_small=0,
            rounds=self.state.get("rounds", []),
            table=table.tolist(),
        )
        self.storage.remove_states(name)

    def _start(self, level: int, name: str | None) -> NDArray[np.float64]:
        """Has the shards go on with the labels they have, or with those of a state."""
        if name is not None:
            self.each("take_state", level, name)
        _, shown = self.send("show_labels", level)
        tables = self.deliver("start_refinement", shown, level, self.k, name)
        return _sum(tables)

    def _resume(self) -> NDArray[np.float64]:
        """The shards at the state that was kept last."""
        name = self.state["name"]
        if self._at != name:
            self._start(self.state["level"], name)
            self._settle(True)
            self._at = name
        return np.array(self.state["table"], np.float64).reshape(self.k, 4)

    def _settle(self, is_kept: bool) -> None:
        self.each("settle", is_kept)

    def _value(self, table: NDArray[np.float64]) -> tuple[float, float]:
        """The objective, and the smallest mass; an empty cluster has none."""
        value, masses, _ = _ncut.score_clusters(self.aim, np.ascontiguousarray(table))
        return value, float(masses.min()) if (table[:, 3] > 0).all() else -1.0

    def _floor(self) -> float:
        known = self.state["levels"][0]
        mass = known["size"] if self.settings["objective"] == "ratio_cut" else known["volume"]
        return float(self.settings["min_share"] * mass / self.k)

    def _may_keep(self, table: NDArray[np.float64], value: float, smallest: float) -> bool:
        least = min(self._floor(), self.state["smallest"])
        is_higher = value > self.state["objective"]
        return bool(is_higher and (table[:, 3] >= 1).all() and smallest >= least * (1 - 1e-12))

    def _is_over(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def refine(self) -> None:
        """Rounds of moves in all shards at once, each kept or taken back."""
        table = self._resume()
        level, part, number = self.state["level"], self.state["part"], self.state["round"]
        n_small, is_kept = self.state["n_small"], True
        small = SMALL_GAIN[0] if level == 0 else SMALL_GAIN[1]
        while True:
            if number >= MAX_ROUNDS or part < MIN_PART or n_small >= 2 or self._is_over():
                self._settle(is_kept)
                return self._leave_level(level, "time-limit" if self._is_over() else None)
            number += 1
            turn = (part, number, self.is_held)
            moves, news = self.send("propose", level, is_kept, self.aim, table, self._floor(), turn)
            n_moves = sum(moves)
            if n_moves == 0 and part >= 1.0:
                self._settle(True)
                return self._leave_level(level, None)
            found = _sum(self.deliver("hear_labels", news, level))
            value, smallest = self._value(found)
            is_kept = n_moves > 0 and self._may_keep(found, value, smallest)
            if is_kept and self.is_held:
                # What each shard has seen to hang together may have been cut by two of them at once.
                is_kept = not len(self._off_pieces(level)[1])
            self.told.tell(
                "refining", level, number, value if is_kept else self.state["objective"], n_moves if is_kept else 0
            )
            if not is_kept:
                part /= 2
                continue
            gain = value - self.state["objective"]
            n_small = n_small + 1 if gain <= small * max(1.0, abs(value)) and part >= 1.0 else 0
            part, table = min(1.0, 2 * part), found
            self._settle(True)
            name = f"level-{level}-{number:04}"
            self._keep(level, name)
            self.advance(
                "refine",
                name=name,
                round=number,
                part=part,
                objective=value,
                smallest=smallest,
                n_small=n_small,
                table=found.tolist(),
                rounds=[*self.state["rounds"], [level, number, value, n_moves]],
            )
            self._at = name
            self.storage.remove_states(name)

    def _leave_level(self, level: int, stopped: str | None) -> None:
        more = {} if stopped is None else {"stopped": stopped}
        if level == 0:
            self.advance("polish", shard=0, n_polished=0, **more)
            return
        self.each("end_level", level)
        self._at = None
        self.advance("project", **more)

    def polish(self) -> None:
        """One shard at a time: whatever it gains is gained, since no other moves."""
        table = self._resume()
        n_polished = self.state["n_polished"]
        for index in range(self.state["shard"], self.n_shards):
            if self._is_over():
                break
            answers = [
                worker.propose.options(num_returns=self.n_shards + 1).remote(
                    0,
                    True,
                    self.aim,
                    table,
                    self._floor(),
                    (1.0 if place == index else 0.0, 10**6 + index, self.is_held),
                )
                for place, worker in enumerate(self.workers)
            ]
            n_moves = sum(summary for (summary, _) in self.get([answer[-1] for answer in answers]))
            if n_moves == 0:
                continue
            news = [[answer[shard] for answer in answers] for shard in range(self.n_shards)]
            found = _sum(self.deliver("hear_labels", news, 0))
            value, smallest = self._value(found)
            is_kept = self._may_keep(found, value, smallest)
            self._settle(is_kept)
            if not is_kept:
                continue
            n_polished += n_moves
            self.told.tell("refining", 0, index + 1, value, n_moves)
            table, name = found, f"polished-{index:04}"
            self._keep(0, name)
            self.advance(
                "polish",
                name=name,
                shard=index + 1,
                n_polished=n_polished,
                objective=value,
                smallest=smallest,
                table=found.tolist(),
            )
            self._at = name
            self.storage.remove_states(name)
        self.advance("connect")

    # Clusters that hold together

    @property
    def is_held(self) -> bool:
        """Whether only moves are made that keep clusters connected."""
        return bool(self.state.get("is_held"))

    def _least(self) -> float:
        """The smallest mass that clusters may have: the floor, or what the search could reach."""
        return float(min(self._floor(), self.state["smallest_solved"]))

    def _off_pieces(
        self, level: int
    ) -> tuple[tuple[NDArray[Any], NDArray[Any]], NDArray[np.int64], NDArray[Any], Links]:
        """Pieces that came off: names and clusters of all pieces, and of these their places, sums and links."""
        self._find_pieces(level, True)
        names, labels, volumes = _joined(self.each("piece_volumes", level))
        moving = _off(names, labels, volumes)
        sums, links = _linked(self.each("linked_pieces", level, names[moving]), len(moving))
        # A piece whose edges all stay inside is a whole component, which may be anywhere.
        is_off = sums[:, 0] < sums[:, 1] * (1 - 1e-12)
        place = np.where(is_off, np.cumsum(is_off) - 1, -1)
        chosen = place[links[0].astype(np.int64)] >= 0
        which = place[links[0][chosen].astype(np.int64)].astype(np.uint32)
        return (
            (names, labels),
            moving[is_off],
            np.ascontiguousarray(sums[is_off]),
            (which, links[1][chosen], links[2][chosen]),
        )

    def connect(self) -> None:
        """Pieces that came off their cluster join others; then the labels are final."""
        table = self._resume()
        value, _ = self._value(table)
        cost = {"n_pieces": 0, "n_nodes": 0, "rounds": 0, "objective_before": value, "objective_after": value}
        n_disconnected = 0
        for number in range(MAX_REPAIRS + 1):
            (names, labels), moving, sums, links = self._off_pieces(0)
            n_disconnected = len(np.unique(labels[moving]))
            if not len(moving) or not self.settings["connected"] or number == MAX_REPAIRS:
                break
            to = _ncut.attach_pieces(
                self.aim,
                np.ascontiguousarray(table),
                labels[moving].astype(np.uint32),
                sums,
                links,
            )
            joins = to >= 0
            if not joins.any():
                break
            order = np.argsort(names[moving[joins]])
            moved, target = names[moving[joins]][order], to[joins][order].astype(np.uint32)
            answers = self.each("move_pieces", 0, moved, target)
            table = _sum([answer[1] for answer in answers])
            value, _ = self._value(table)
            cost["n_pieces"] += int(joins.sum())
            cost["n_nodes"] += sum(answer[0] for answer in answers)
            cost["rounds"] = number + 1
            cost["objective_after"] = value
            self.told.tell("connecting", 0, number + 1, value, int(cost["n_nodes"]))
        value, smallest = self._value(table)
        if cost["n_pieces"] and not self.is_held and smallest < self._least() * (1 - 1e-12):
            # Pieces that left took more than the share allows. What was solved keeps it, and is connected: refined once
            # more, by moves that keep clusters connected.
            top = len(self.state["levels"]) - 1
            self._at = None
            self.each("reset")
            self.advance("project", level=top, name=f"solved-{top}", is_held=True, rounds=[])
            return
        name = "final"
        self._keep(0, name)
        self.advance(
            "done",
            name=name,
            objective=value,
            smallest=smallest,
            table=table.tolist(),
            repair=cost,
            n_disconnected=n_disconnected,
            memory=self.each("memory"),
        )
        self._at = name
        self.storage.remove_states(name)

    # Results

    def finish(self, output: Path | None) -> dict[str, Any] | None:
        """The report of a run that is done, if its labels are where they are asked for."""
        report: dict[str, Any] | None = self.storage.read_json("report.json")
        if report is None or not all(Path(part).exists() for part in report["parts"]):
            return None
        if output is not None and any(Path(part).parent != output for part in report["parts"]):
            return None
        return report

    def write(self, output: Path | None) -> dict[str, Any]:
        """Writes the labels, and tells everything that was measured."""
        self.told.tell("writing", 0, 0, self.state["objective"])
        table = np.array(self.state["table"], np.float64).reshape(self.k, 4)
        if not self.storage.path("states").exists():
            raise ValueError(
                f"storage {self.storage.folder} is of a run that is done, and its labels are not in {output}; begin "
                "again with another folder"
            )
        self.each("take_state", 0, "final")
        # Isolated nodes join the cluster of largest volume, the lowest number among equals.
        isolated = int(np.argmax(table[:, 1]))
        places = np.array(self.each("first_places", self.k, isolated))
        shard = np.argmax(places < HIGHEST, axis=0)
        order = np.lexsort((places[shard, np.arange(self.k)], shard))
        numbers = np.empty(self.k, np.int64)
        numbers[order] = np.arange(self.k)
        folder = output if output is not None else self.storage.path("labels")
        folder.mkdir(parents=True, exist_ok=True)
        parts = self.each("write_labels", str(folder), isolated, numbers, bool(self.state["has_words"]))
        for old in folder.glob("labels-*.parquet"):
            if str(old) not in parts:
                old.unlink()
        report = self._report(table, isolated)
        report["parts"] = parts
        self.storage.write_json("report.json", report)
        self.told.tell("done", 0, 0, report["objective"])
        return report

    def _report(self, table: NDArray[np.float64], isolated: int) -> dict[str, Any]:
        known = self.state["levels"][0]
        table = table.copy()
        n_nodes = known["bounds"][-1]
        n_isolated = n_nodes - known["n_linked"]
        if not self.state["is_solved"]:
            table[isolated, 2:] += n_isolated
        volume = known["volume"]
        kind, resolution, _, _ = self.aim

        def value(objective: str, resolution: float = 1.0) -> tuple[float, float, NDArray[np.float64]]:
            found, masses, cut = _ncut.score_clusters((objective, resolution, volume, float(n_nodes)), table)
            return found, cut, masses

        objective, _, masses = value(kind, resolution)
        return {
            "n_nodes": n_nodes,
            "n_edges": known["n_edges"],
            "n_isolated": n_isolated,
            "n_clusters": self.k,
            "n_shards": self.n_shards,
            "preset": self.settings["preset"],
            "min_share": self.settings["min_share"],
            "objective_name": kind,
            "objective": objective,
            "resolution": resolution if kind == "modularity" else None,
            "ncut": value("ncut")[1],
            "ratio_cut": value("ratio_cut")[1],
            "modularity": value("modularity")[0],
            "smallest_share": float(masses.min() / masses.mean()) if masses.sum() > 0 else 0.0,
            "n_disconnected_clusters": self.state["n_disconnected"],
            "stop_reason": self.state.get("stopped", "local-optimum"),
            "repair": {**self.state["repair"], "refined_again": self.is_held},
            "rounds": self.state.get("rounds", []),
            "levels": [
                {"n_nodes": level["bounds"][-1], "n_entries": level["n_entries"], "n_bytes": level["n_bytes"]}
                for level in self.state["levels"]
            ],
            "solved": self.state["solved"],
            "seconds": {**self.state["seconds"], "total": self.told.seconds()},
            "n_bytes_sent": self.told.n_bytes,
            "n_faults": self.state.get("n_faults", 0),
            "idle_memory_bytes": self.state["idle"],
            "peak_memory_bytes": self.state["memory"],
            "peak_memory_bytes_by_stage": self.state["memory_by_stage"],
        }


def _sum(tables: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Sums of all shards, in their order."""
    total = np.zeros_like(tables[0])
    for table in tables:
        total = total + table
    return total


def _joined(found: list[Any]) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]:
    """Pieces of all shards: names, clusters, volumes."""
    names = np.concatenate([part[0] for part in found])
    names, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    labels = np.concatenate([part[1] for part in found])[first]
    volumes: NDArray[Any] = np.bincount(inverse, np.concatenate([part[2] for part in found]), len(names))
    return names, labels, volumes


def _off(names: NDArray[np.uint64], labels: NDArray[np.uint32], volumes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places of the pieces that are not the largest of their cluster, ascending."""
    order = np.lexsort((names, -volumes, labels))
    is_main = np.ones(len(order), bool)
    is_main[1:] = labels[order][1:] != labels[order][:-1]
    return np.sort(order[~is_main])


def _linked(found: list[Any], n_pieces: int) -> tuple[NDArray[np.float64], Links]:
    """Sums and links of pieces over all shards."""
    sums = np.zeros((n_pieces, 3))
    for part, _ in found:
        sums = sums + part
    which, to, weight = (np.concatenate([links[place] for _, links in found]) for place in range(3))
    if not len(which):
        return sums, (which, to, weight)
    keys, inverse = np.unique(np.stack([which, to], axis=1), axis=0, return_inverse=True)
    weights = np.bincount(inverse.reshape(-1), weight, len(keys))
    return sums, (keys[:, 0].astype(np.uint32), keys[:, 1].astype(np.uint32), weights)
