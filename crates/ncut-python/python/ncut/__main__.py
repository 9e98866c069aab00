"""The command line: `ncut`, or `python -m ncut`."""

import sys

from ncut._ncut import run_command


def main() -> int:
    """Run the command line on the arguments of this process."""
    return run_command(["ncut", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
