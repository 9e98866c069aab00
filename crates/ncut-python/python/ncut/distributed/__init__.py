"""Clusters of a graph that is larger than one machine: the same solver on a Ray cluster.

>>> from ncut import distributed
>>> callable(distributed.cluster)
True
"""

import os
import sys

try:
    import ray

    # Arrow's own allocator keeps what it once had, 25 MB in each worker; that of the system gives it back. Arrow looks
    # at this when it is loaded. Only in workers: the process of the caller has its own ways.
    if "pyarrow" not in sys.modules and ray.is_initialized() and ray.get_runtime_context().get_actor_id() is not None:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    import pyarrow  # noqa: F401
except ImportError as _error:
    raise ImportError(
        f"ncut.distributed needs Ray and pyarrow ({_error.name} is missing); install them: pip install 'ncut[ray]'",
        name=_error.name,
    ) from None

from ncut.distributed._driver import cluster
from ncut.distributed._result import DistributedClustering, DistributedProgress

__all__ = ["DistributedClustering", "DistributedProgress", "cluster"]
