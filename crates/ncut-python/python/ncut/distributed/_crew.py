"""The workers of a run, and how the driver speaks with them."""

from __future__ import annotations

import errno
import sys
import time
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import (
    ActorUnavailableError,
    GetTimeoutError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayActorError,
    RaySystemError,
    RayTaskError,
    WorkerCrashedError,
)

from ncut.distributed._result import DistributedProgress
from ncut.distributed._storage import Storage
from ncut.distributed._worker import Worker

FAULTS = (
    ActorUnavailableError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayActorError,
    RaySystemError,
    WorkerCrashedError,
)
SECONDS_TO_ANSWER = 20.0


class Fault(Exception):
    """A worker is lost, or does not answer."""


class Told:
    """Who is told how the run goes."""

    def __init__(self, on_progress: Callable[[DistributedProgress], object] | None, verbose: bool | int, start: float):
        self._on_progress = on_progress
        self._verbose = verbose
        self._start = start
        self.n_bytes = 0

    def seconds(self) -> float:
        return time.monotonic() - self._start

    def tell(
        self, phase: str, level: int = 0, number: int = 0, objective: float | None = None, n_moves: int = 0
    ) -> None:
        told = DistributedProgress(phase, level, number, objective, n_moves, self.n_bytes, self.seconds())
        if self._verbose:
            score = "" if objective is None else f", objective {objective:.6f}, {n_moves} moves"
            place = f", level {level}, round {number}" if number else f", level {level}" if level else ""
            sent = f", {self.n_bytes / 1e6:.0f} MB sent"
            print(f"ncut: {told.seconds:.1f} s, {phase}{place}{score}{sent}", file=sys.stderr, flush=True)
        if self._on_progress is not None:
            self._on_progress(told)


class Crew:
    """One worker for each shard."""

    def __init__(self, storage: Storage, told: Told) -> None:
        self.storage = storage
        self.told = told
        self.n_shards = 0
        self.workers: list[Any] = []

    def close(self) -> None:
        """Ends all workers."""
        for worker in self.workers:
            ray.kill(worker)
        self.workers = []

    def hire(self) -> list[int]:
        """As many workers as there are shards; tells their memory."""
        self.workers = [self._new_worker(index) for index in range(self.n_shards)]
        memory = self.each("memory")
        if not all(self.each("sees", "run.json")):
            raise ValueError(
                f"storage {self.storage.folder} is not seen by all machines; give a folder that they share"
            )
        return memory

    def _new_worker(self, index: int) -> Any:
        # A worker asks for half of its share of the processors: when a machine is lost, the others have room for all.
        share = min(1.0, round(n_processors() / (2 * self.n_shards), 2))
        actor = ray.remote(Worker).options(num_cpus=max(share, 0.01), max_restarts=0, scheduling_strategy="SPREAD")
        return actor.remote(index, self.n_shards, str(self.storage.folder))

    def replace(self) -> None:
        """Replaces workers that do not answer; the others forget what they were doing."""
        answers = [worker.reset.remote() for worker in self.workers]
        for index, answer in enumerate(answers):
            try:
                ray.get(answer, timeout=SECONDS_TO_ANSWER)
            except (*FAULTS, GetTimeoutError):
                ray.kill(self.workers[index])
                self.workers[index] = self._new_worker(index)

    def get(self, refs: list[Any]) -> list[Any]:
        """Answers of workers."""
        try:
            return list(ray.get(refs))
        except RayTaskError as error:
            cause = error.cause if isinstance(error.cause, BaseException) else error
            if isinstance(cause, FAULTS):
                raise Fault(str(cause)) from None
            if (
                isinstance(cause, OSError)
                and cause.errno in (errno.ENOSPC, errno.EDQUOT)
                and cause.strerror is not None
            ):
                raise OSError(cause.errno, cause.strerror) from None
            if isinstance(cause, ValueError | OSError | MemoryError):
                raise cause from None
            raise
        except FAULTS as error:
            raise Fault(str(error)) from None

    def each(self, method: str, *arguments: Any) -> list[Any]:
        """Calls a method of every worker."""
        return self.get([getattr(worker, method).remote(*arguments) for worker in self.workers])

    def send(self, method: str, *arguments: Any, own: list[tuple[Any, ...]] | None = None) -> tuple[list[Any], Any]:
        """Calls a method that speaks to all shards: gives the summaries, and the messages for each."""
        extra = own or [()] * self.n_shards
        answers = [
            getattr(worker, method).options(num_returns=self.n_shards + 1).remote(*arguments, *more)
            for worker, more in zip(self.workers, extra, strict=True)
        ]
        found = self.get([answer[-1] for answer in answers])
        self.told.n_bytes += sum(sent for _, sent in found)
        return [summary for summary, _ in found], [
            [answers[sender][shard] for sender in range(self.n_shards)] for shard in range(self.n_shards)
        ]

    def relay(self, method: str, messages: Any, *arguments: Any) -> tuple[list[Any], Any]:
        """As `send`, for a method that hears the messages of all shards first."""
        return self.send(method, *arguments, own=[tuple(heard) for heard in messages])

    def deliver(self, method: str, messages: Any, *arguments: Any) -> list[Any]:
        """The same, for a method that answers the driver alone."""
        return self.get(
            [
                getattr(worker, method).remote(*arguments, *heard)
                for worker, heard in zip(self.workers, messages, strict=True)
            ]
        )


def n_processors() -> float:
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return resources.get("CPU", 1.0)
