"""What long work tells, and how that is shown."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Progress(NamedTuple):
    """A snapshot of running work, as `on_progress` receives it.

    Attributes
    ----------
    stage : str
        What is being done: "finding neighbours", "coarsening", "coordinate descent", "searching", ...;
        at the end "done".
    done : int
        Steps of the stage that are behind us.
    total : int
        Steps of the stage in all; 0 when unknown.
    n_iter : int
        Whole sweeps of coordinate descent so far.
    n_moves : int
        Moves of single nodes so far.
    objective : float or None
        The objective now, once there is one.
    """

    stage: str
    done: int
    total: int
    n_iter: int
    n_moves: int
    objective: float | None


OnProgress = Callable[[Progress], object]
"""Called with a `Progress` on the thread that called; a true answer, or StopIteration, stops the work."""

Told = Callable[[str, int, int, int, int, "float | None"], object]

SECONDS_BETWEEN_LINES = 1.0


class Listener:
    """The callback and the bar of one piece of work."""

    def __init__(self, on_progress: OnProgress | None, verbose: bool | int) -> None:
        if on_progress is not None and not callable(on_progress):
            raise ValueError(f"on_progress is {on_progress!r}; it must be something to call")
        self._on_progress = on_progress
        self._bar: _Bar | _Lines | None = None
        if verbose:
            self._bar = _Bar.with_tqdm() or _Lines()

    @property
    def told(self) -> Told | None:
        """What the compiled code calls; None where nobody listens."""
        return self._tell if self._on_progress or self._bar else None

    def finish(self, n_iter: int, n_moves: int, objective: float) -> None:
        """Tells of the end."""
        if self._on_progress:
            with contextlib.suppress(StopIteration):
                self._on_progress(Progress("done", 1, 1, n_iter, n_moves, objective))
        if self._bar:
            self._bar.close(f"objective {objective:.6g} after {n_iter} sweeps and {n_moves} moves")

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar:
            self._bar.close()

    def _tell(self, stage: str, done: int, total: int, n_iter: int, n_moves: int, objective: float | None) -> object:
        progress = Progress(stage, done, total, n_iter, n_moves, objective)
        if self._bar:
            self._bar.show(progress)
        return self._on_progress(progress) if self._on_progress else None


class _Bar:
    """A bar of tqdm's for every stage."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    @classmethod
    def with_tqdm(cls) -> _Bar | None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return cls(tqdm)

    def show(self, progress: Progress) -> None:
        if self._bar is None or progress.stage != self._stage:
            self._leave()
            self._stage = progress.stage
            self._bar = self._tqdm(desc=progress.stage, total=progress.total or None, leave=False)
        self._bar.total = progress.total or None
        if progress.objective is not None:
            self._bar.set_postfix_str(f"objective {progress.objective:.4f}", refresh=False)
        self._bar.n = progress.done
        self._bar.refresh()

    def close(self, summary: str | None = None) -> None:
        self._leave()
        if summary:
            self._tqdm.write(f"ncut: {summary}", file=sys.stderr)

    def _leave(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Lines:
    """A line when a stage begins, and now and then."""

    def __init__(self) -> None:
        self._stage = ""
        self._last = 0.0

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.stage == self._stage and now < self._last + SECONDS_BETWEEN_LINES:
            return
        self._stage, self._last = progress.stage, now
        of = f" of {progress.total}" if progress.total else ""
        objective = "" if progress.objective is None else f", objective {progress.objective:.4f}"
        print(f"ncut: {progress.stage}, {progress.done}{of}{objective}", file=sys.stderr, flush=True)

    def close(self, summary: str | None = None) -> None:
        if summary:
            print(f"ncut: {summary}", file=sys.stderr, flush=True)
