"""Clusters of a graph that is larger than one machine: the same solver on a Ray cluster.

>>> from ncut import distributed
>>> callable(distributed.cluster)
True
"""

try:
    import pyarrow  # noqa: F401
    import ray  # noqa: F401
except ImportError as _error:
    raise ImportError(
        f"ncut.distributed needs Ray and pyarrow ({_error.name} is missing); install them: pip install 'ncut[ray]'",
        name=_error.name,
    ) from None

from ncut.distributed._driver import cluster
from ncut.distributed._result import DistributedClustering, DistributedProgress

__all__ = ["DistributedClustering", "DistributedProgress", "cluster"]
