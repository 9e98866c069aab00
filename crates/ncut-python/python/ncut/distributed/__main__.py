"""The command `python -m ncut.distributed`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from ncut.distributed._driver import OBJECTIVES, cluster


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ncut.distributed",
        description="Clusters a graph that is spread over the machines of a Ray cluster.",
        epilog="The same call goes on where it was stopped: what it needs is in the storage folder.",
    )
    parser.add_argument(
        "edges", nargs="+", metavar="EDGES", help="edge files (.parquet .csv .txt .ncut), or folders of them"
    )
    parser.add_argument("-k", type=int, required=True, metavar="K", dest="n_clusters", help="number of clusters")
    parser.add_argument(
        "-o", required=True, metavar="FOLDER", dest="output", help="folder for the labels, as Parquet parts"
    )
    parser.add_argument("--storage", metavar="FOLDER", help="folder for states, seen by all machines [FOLDER/state]")
    parser.add_argument("--shards", type=int, metavar="N", help="parts of the graph [one for each processor]")
    parser.add_argument("--preset", default="default", choices=["fast", "default", "best"])
    names = [name.replace("_", "-") for name in OBJECTIVES]
    parser.add_argument("--objective", default="ncut", choices=names)
    parser.add_argument("--min-share", type=float, metavar="F", help="smallest share of the mean volume [0.25]")
    parser.add_argument("--connected", default="yes", choices=["yes", "no"])
    parser.add_argument("--columns", metavar="A,B,W", help="columns of both ends and the weight, by name")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="end refinement after this time")
    parser.add_argument("--fit-entries", type=int, metavar="N", help="largest coarse graph for one worker, in entries")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="the Ray cluster [the one of RAY_ADDRESS, or this machine]"
    )
    parser.add_argument("--json", metavar="FILE", help="write the report to a file")
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    return parser


def interrupted(_: int, __: Any) -> None:
    """SIGTERM ends a run as Ctrl-C does."""
    raise KeyboardInterrupt


def main(arguments: list[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    output = Path(args.output)
    storage = Path(args.storage) if args.storage else output / "state"
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, interrupted)
    try:
        if args.address is not None:
            import ray

            ray.init(address=args.address, log_to_driver=False, configure_logging=False)
        found = cluster(
            args.edges,
            args.n_clusters,
            n_shards=args.shards,
            storage=storage,
            output=output,
            preset=args.preset,
            objective=args.objective.replace("-", "_"),
            min_share=args.min_share,
            connected=args.connected == "yes",
            columns=None if args.columns is None else args.columns.split(","),
            time_limit=args.time_limit,
            fit_entries=args.fit_entries,
            random_state=args.seed,
            verbose=not args.quiet,
        )
        if args.json is not None:
            Path(args.json).write_text(json.dumps(found.report, indent=1) + "\n")
    except KeyboardInterrupt:
        print(f"ncut: stopped; the same call goes on from {storage}", file=sys.stderr)
        return 130
    except (ValueError, OSError, MemoryError, RuntimeError) as error:
        words = error.strerror if isinstance(error, OSError) and error.strerror and not error.filename else str(error)
        print(f"error: {words}", file=sys.stderr)
        return 1
    if not args.quiet:
        report = found.report
        print(
            f"{report['n_nodes']} nodes, {report['n_edges']} edges in {report['n_shards']} shards\n"
            f"{report['n_clusters']} clusters, N-Cut {report['ncut']:.4f} (objective {report['objective']:.4f}), "
            f"{report['seconds']['total']:.1f} s\n{output} written",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
