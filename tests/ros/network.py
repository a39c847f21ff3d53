"""A network of their own for a simulation and its peers: only a loopback, and nobody else in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# a shell in the background ignores Ctrl-C, and so would all that is started from here
signal.signal(signal.SIGINT, signal.default_int_handler)
# the loopback of a new network is down, and without a way for the groups of discovery
_UP = "ip link set lo up && ip link set lo multicast on && ip route add 224.0.0.0/4 dev lo && "


def run_in_network(program: str, *arguments: str, **variables: str) -> dict[str, Any]:
    """What a Python file prints last, in a network of its own; the simulation in it has to end well by Ctrl-C."""
    inner = f"{_UP} exec {sys.executable} {Path(program).resolve()} {' '.join(arguments)}"
    command = ["unshare", "--net", "--map-root-user", "sh", "-c", inner]
    environment = os.environ | variables
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-20000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("exit") == 130, done.stderr[-20000:]
    return found


def run_beside(arguments: list[str], look: Callable[[], dict[str, Any]]) -> None:
    """Within the network: start ``simwright`` with arguments, look at it, end it; print what was seen."""
    simulation = subprocess.Popen([sys.executable, "-m", "simwright", *arguments], stdout=sys.stderr)
    try:
        found = look()
    finally:
        simulation.send_signal(signal.SIGINT)
        try:
            code = simulation.wait(20)
        except subprocess.TimeoutExpired:
            simulation.kill()
            code = -1
    sys.stdout.write(json.dumps(found | {"exit": code}) + "\n")


def run_peer(program: str, *arguments: str) -> dict[str, Any]:
    """What another Python file beside the tests prints last."""
    file = str(Path(__file__).with_name(program))
    done = subprocess.run([sys.executable, file, *arguments], stdout=subprocess.PIPE, timeout=200, check=True)
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen
