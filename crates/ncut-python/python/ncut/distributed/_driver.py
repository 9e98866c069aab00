"""The door: settings, the Ray cluster, the storage."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ray

from ncut._settings import choice, count, real, seed
from ncut.distributed import _sources
from ncut.distributed._crew import Told
from ncut.distributed._result import DistributedClustering, DistributedProgress
from ncut.distributed._run import Run
from ncut.distributed._storage import Storage

OBJECTIVES = ("ncut", "ratio_cut", "modularity")
# A graph of so many entries is solved by one worker, unless it was asked for otherwise: a second or two of the ordinary
# search, and the memory of a small graph.
FIT_ENTRIES = 1 << 21


def cluster(
    source: Any,
    n_clusters: int,
    *,
    n_shards: int | None = None,
    storage: str | Path | None = None,
    output: str | Path | None = None,
    preset: str = "default",
    objective: str = "ncut",
    min_share: float | None = None,
    connected: bool | None = None,
    columns: Sequence[str] | None = None,
    time_limit: float | None = None,
    fit_entries: int | None = None,
    random_state: int | None = None,
    on_progress: Callable[[DistributedProgress], object] | None = None,
    verbose: bool | int = False,
) -> DistributedClustering:
    """Clusters a graph that is spread over the machines of a Ray cluster.

    Ray is started here if it was not before. No machine ever holds all edges.

    Parameters
    ----------
    source : str, Path, list of these, or ray.data.Dataset
        Edge files, or folders of them: Parquet (columns source, target and maybe weight), CSV and other text, `.ncut`.
        All machines must see them. A Dataset has the same columns. Ids are whole numbers or words; parallel edges add
        up.
    n_clusters : int
        Number of clusters, exactly.
    n_shards : int, default=None
        In how many parts the graph is held; None is one for each processor of the Ray cluster. The labels depend on it.
    storage : str or Path, default=None
        A folder that all machines see, for edges on their way and all states: the same call goes on from the last one.
        None is a temporary folder of this machine, removed in the end.
    output : str or Path, default=None
        The folder for the labels, as Parquet parts; None is one in `storage`.
    preset : {"fast", "default", "best"}, default="default"
        How the coarse graph is searched.
    objective : {"ncut", "ratio_cut", "modularity"}, default="ncut"
        What is optimised, as for `ncut.cluster`.
    min_share : float, default=None
        As for `ncut.cluster`.
    connected : bool, default=None
        Whether clusters are to be connected; None is True.
    columns : sequence of str, default=None
        The columns of both ends and the weight, by name, where the names do not tell.
    time_limit : float, default=None
        Seconds after which refinement ends; what is then there is checked, repaired and written.
    fit_entries : int, default=None
        The largest coarse graph for one worker, in entries (two for an edge).
    random_state : int, default=None
        Seed; None is 0.
    on_progress : callable, default=None
        Called with a `DistributedProgress` after every round.
    verbose : bool, default=False
        Whether to print a line for every phase and round on standard error.

    Returns
    -------
    DistributedClustering
        Labels (a table of id and label), objective, report.

    Raises
    ------
    ValueError
        When the edges or a setting are refused; bad lines are named by file and line.
    OSError
        When a file cannot be read, or `storage` is full. What was accepted stays.

    Examples
    --------
    >>> from ncut import distributed
    >>> found = distributed.cluster("edges/", 1000, storage="/shared/run")  # doctest: +SKIP
    >>> found.labels.num_rows  # doctest: +SKIP
    1000000
    """
    started = time.monotonic()
    settings = _settings(n_clusters, preset, objective, min_share, connected, fit_entries, random_state)
    limit = None if time_limit is None else real(time_limit, "time_limit")
    if limit is not None and not limit >= 0:
        raise ValueError(f"time_limit is {limit}; it must be a number of seconds, 0 or more")
    names = None if columns is None else [str(name) for name in columns]
    if names is not None and len(names) not in (2, 3):
        raise ValueError(f"columns is {list(names)!r}; it must hold both ends and maybe the weight")
    if n_shards is not None:
        n_shards = count(n_shards, "n_shards", 1, 65_000)
    is_dataset = hasattr(source, "write_parquet") and hasattr(source, "schema")
    files = None if is_dataset else _sources.list_files(source)
    if not ray.is_initialized():
        ray.init(log_to_driver=False, configure_logging=False, include_dashboard=False)
    keeper = None
    if storage is None:
        folder = tempfile.mkdtemp(prefix="ncut-distributed-")
        keeper = _Temporary(folder)
    else:
        folder = str(Path(storage).resolve())
        Path(folder).mkdir(parents=True, exist_ok=True)
    told = Told(on_progress, verbose, started)
    run = Run(Storage(folder), settings, names, told, None if limit is None else started + limit)
    try:
        run.open(source if is_dataset else None, files, n_shards)
        report = run.run(None if output is None else Path(output).resolve())
    finally:
        run.close()
    parts = [Path(part) for part in report.pop("parts")]
    if storage is not None and output is not None:
        run.forget_work()
    return DistributedClustering(report["objective"], report, parts, keeper)


class _Temporary:
    """A folder that goes with the result."""

    def __init__(self, folder: str) -> None:
        self._finalizer = weakref.finalize(self, shutil.rmtree, folder, True)


def _settings(
    n_clusters: int,
    preset: str,
    objective: str,
    min_share: float | None,
    connected: bool | None,
    fit_entries: int | None,
    random_state: int | None,
) -> dict[str, Any]:
    if choice(preset, "preset") not in ("fast", "default", "best"):
        raise ValueError(
            f'preset is {preset!r}; it must be one of "fast", "default", "best"'
            + (" (the paper's solver looks at the whole graph at once)" if preset == "paper" else "")
        )
    if choice(objective, "objective") not in OBJECTIVES:
        raise ValueError(f"objective is {objective!r}; it must be one of {', '.join(map(repr, OBJECTIVES))}")
    share = 0.0 if objective == "modularity" else 0.25
    share = share if min_share is None else real(min_share, "min_share")
    if not 0 <= share <= 1:
        raise ValueError(f"min_share is {share}; it must be from 0 to 1")
    return {
        "n_clusters": count(n_clusters, "n_clusters", 1),
        "preset": preset,
        "objective": objective,
        "min_share": share,
        "connected": True if connected is None else bool(connected),
        "fit_entries": FIT_ENTRIES if fit_entries is None else count(fit_entries, "fit_entries", 1, 2**40),
        "random_state": seed(random_state),
    }
