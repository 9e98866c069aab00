"""What a run tells and gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class DistributedProgress(NamedTuple):
    """A snapshot of a run, as `on_progress` receives it.

    Attributes
    ----------
    phase : str
        "reading", "coarsening", "solving", "refining", "connecting", "writing" or "done".
    level : int
        0 for the graph itself; higher for coarser graphs.
    round : int
        Rounds of the phase so far.
    objective : float or None
        The objective now, once there is one.
    n_moves : int
        Nodes that moved in the last round.
    n_bytes : int
        Bytes that shards have sent each other so far.
    seconds : float
        Seconds since the call.
    """

    phase: str
    level: int
    round: int
    objective: float | None
    n_moves: int
    n_bytes: int
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class DistributedClustering:
    """What `ncut.distributed.cluster` found.

    Attributes
    ----------
    objective : float
        What was optimised, summed up over all edges in the end; larger is better.
    report : dict
        Everything that was measured: `n_nodes`, `n_edges`, `n_clusters`, `objective`, `ncut`, `ratio_cut`,
        `modularity`, `smallest_share`, `n_disconnected_clusters`, `stop_reason`, `seconds` by stage, `n_bytes_sent`,
        `rounds` (level, number, objective, moves), `levels`, `repair` (what it took to make clusters connected) and
        `n_faults`.
    parts : list of Path
        Parquet files with the columns id and label, a file for each shard, ids ascending within each.
    """

    objective: float
    report: dict[str, Any]
    parts: list[Path]
    _folder: Any = None

    def __repr__(self) -> str:
        return (
            f"<DistributedClustering: {self.report['n_nodes']} nodes in {self.report['n_clusters']} clusters, "
            f"objective={self.objective:.6g}>"
        )

    @property
    def labels(self) -> Any:
        """The labels as a table of pyarrow with the columns id and label, read from the parts when asked for."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pa.concat_tables([pq.read_table(part) for part in self.parts])
