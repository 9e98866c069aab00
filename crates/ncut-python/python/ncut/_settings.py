"""What several functions are told in the same way."""

from __future__ import annotations

import numbers

import numpy as np
from joblib import effective_n_jobs

RandomState = int | np.random.RandomState | np.random.Generator | None


def threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs` as scikit-learn means it: None is 1, or what a joblib context says; -1 is all."""
    return int(effective_n_jobs(n_jobs))


def seed(random_state: RandomState) -> int:
    """A seed from what scikit-learn calls a random state; None is always the same."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"random_state is {random_state}; a seed must not be negative")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(f"random_state is {random_state!r}; it must be None, an int, or a numpy RandomState or Generator")
