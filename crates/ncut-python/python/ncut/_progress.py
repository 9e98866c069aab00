"""What long work tells, and how that is shown."""

from __future__ import annotations

import contextlib
import math
import sys
import time
import warnings
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
    best : float or None
        The best objective so far, where one graph is clustered into one number of clusters; it never falls.
    """

    stage: str
    done: int
    total: int
    n_iter: int
    n_moves: int
    objective: float | None
    best: float | None = None


OnProgress = Callable[[Progress], object]
"""Called with a `Progress` on the thread that called; a true answer, or StopIteration, stops the work."""

Told = Callable[[str, int, int, int, int, "float | None", "float | None"], object]

SECONDS_BETWEEN_LINES = 1.0


class Listener:
    """The callback and the bar of one piece of work."""

    def __init__(self, on_progress: OnProgress | None, verbose: bool | int) -> None:
        if on_progress is not None and not callable(on_progress):
            raise ValueError(f"on_progress is {on_progress!r}; it must be something to call")
        self._on_progress = on_progress
        self._best = -math.inf
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
                # The result is computed afresh, and may differ in the last digit.
                best = max(objective, self._best)
                self._on_progress(Progress("done", 1, 1, n_iter, n_moves, objective, best))
        if self._bar:
            self._bar.close(f"objective {objective:.6g} after {n_iter} sweeps and {n_moves} moves")

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar:
            self._bar.close()

    def _tell(
        self,
        stage: str,
        done: int,
        total: int,
        n_iter: int,
        n_moves: int,
        objective: float | None,
        best: float | None,
    ) -> object:
        progress = Progress(stage, done, total, n_iter, n_moves, objective, best)
        self._best = self._best if best is None else best
        if self._bar:
            self._bar.show(progress)
        return self._on_progress(progress) if self._on_progress else None


class _Shown:
    """What is shown of progress: phases, the share of one, and the best objective, none of which goes back."""

    # Their steps are counted once; all other stages come back many times.
    COUNTED = ("finding neighbours",)
    OF_THEIR_OWN = (*COUNTED, "preparing the picture", "computing the spectrum")

    def __init__(self) -> None:
        self._phase = ""
        self._percent = 0
        self._best: float | None = None

    def line(self, progress: Progress) -> str:
        phase = progress.stage if progress.stage in self.OF_THEIR_OWN else "clustering"
        if phase != self._phase:
            self._phase, self._percent = phase, 0
        if progress.best is not None:
            self._best = progress.best if self._best is None else max(self._best, progress.best)
        line = phase
        if phase in self.COUNTED and progress.total:
            self._percent = max(self._percent, 100 * progress.done // progress.total)
            line += f" {self._percent} %"
        return line if self._best is None else f"{line}, best objective {self._best:.4f}"


class _Bar:
    """One line of tqdm's, with the time so far."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._shown = _Shown()

    @classmethod
    def with_tqdm(cls) -> _Bar | None:
        try:
            with warnings.catch_warnings():
                # In notebooks without widgets the line is text, and no more need be said.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
        except ImportError:
            return None
        return cls(tqdm)

    def show(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = self._tqdm(bar_format="{desc} [{elapsed}]", leave=False)
        self._bar.set_description_str(f"ncut: {self._shown.line(progress)}")

    def close(self, summary: str | None = None) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        if summary:
            self._tqdm.write(f"ncut: {summary}", file=sys.stderr)


class _Lines:
    """A line when a phase begins, and now and then."""

    def __init__(self) -> None:
        self._shown = _Shown()
        self._started = time.monotonic()
        self._last: float | None = None

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        line = self._shown.line(progress)
        if self._last is not None and now < self._last + SECONDS_BETWEEN_LINES:
            return
        self._last = now
        print(f"ncut: {line}, {now - self._started:.1f} s", file=sys.stderr, flush=True)

    def close(self, summary: str | None = None) -> None:
        if summary:
            print(f"ncut: {summary}", file=sys.stderr, flush=True)
