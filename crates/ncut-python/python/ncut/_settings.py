"""What several functions are told in the same way."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend

RandomState = int | np.random.RandomState | np.random.Generator | None


def threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs` as scikit-learn means it: None is 1, or what a joblib context says; -1 is all.

    More threads than cores would only be in each other's way. Which cores there are joblib knows, by the affinity of
    the process and the quota of its container.
    """
    if n_jobs is not None:
        whole(n_jobs, "n_jobs")
    n_threads = int(effective_n_jobs(n_jobs))
    return n_threads if n_threads == 1 else min(n_threads, _cores())


def _cores() -> int:
    """The cores for this piece of work: in a worker of joblib those that it leaves to each."""
    backend, _ = get_active_backend()
    if not getattr(backend, "nesting_level", 0):
        return int(cpu_count())
    # Joblib tells processes by this variable how many threads libraries may use; to threads it tells nothing.
    share = os.environ.get("OMP_NUM_THREADS", "")
    return min(int(share), int(cpu_count())) if share.isdecimal() and int(share) else 1


def seed(random_state: RandomState) -> int:
    """A seed from what scikit-learn calls a random state; None is always the same."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return count(random_state, "random_state", 0, 2**64 - 1)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(f"random_state is {random_state!r}; it must be None, an int, or a numpy RandomState or Generator")


def whole(value: Any, name: str) -> int:
    """A whole number of whatever type."""
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise ValueError(f"{name} is {value!r}; it must be a whole number") from None


def count(value: Any, name: str, least: int, most: int = 2**31 - 1) -> int:
    """A whole number within bounds."""
    number = whole(value, name)
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}; it must be a whole number from {least} to {most}")
    return number


def real(value: Any, name: str) -> float:
    """A number; its bounds are for the library to check."""
    if isinstance(value, numbers.Real | np.floating | np.integer):
        return float(value)
    raise ValueError(f"{name} is {value!r}; it must be a number")


def choice(value: Any, name: str) -> str:
    """One of several names, which the library knows."""
    if isinstance(value, str):
        return value
    raise ValueError(f"{name} is {value!r}; it must be a string")
