"""Runs a Python program in network and mount namespaces of its own, where only the loopback is up.

A Ray cluster of several nodes then has addresses and ports to itself:
`unshare --map-root-user --net --mount python namespace.py ...`.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import sys

SIOCSIFFLAGS = 0x8914
IFF_UP_RUNNING = 0x1 | 0x40
UNSHARE = ["unshare", "--map-root-user", "--net", "--mount"]


def command(*arguments: str) -> list[str]:
    """A command line that runs Python with these arguments in the namespaces."""
    return [*UNSHARE, sys.executable, __file__, *arguments]


def problem() -> str | None:
    """Why there are no namespaces here, in one line."""
    try:
        tried = subprocess.run(command("-c", "pass"), capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if tried.returncode == 0 else (tried.stderr.strip().splitlines() or ["unshare failed"])[-1]


if __name__ == "__main__":
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as loopback:
        fcntl.ioctl(loopback, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP_RUNNING))
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
