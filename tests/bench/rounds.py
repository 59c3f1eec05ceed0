"""Loads servers in alternating rounds, and shows what came of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from contestants import Contestant

CONNECTIONS: Final = 8
_CLIENT: Final = Path(__file__).with_name("load_client.py")


def load(server: Contestant, request: bytes, count: int, connections: int = CONNECTIONS) -> float:
    """The seconds in which it answered so many requests."""
    command = [sys.executable, str(_CLIENT), *map(str, (server.port, count, connections))]
    client = subprocess.run(command, input=request, stdout=subprocess.PIPE, check=True)
    return float(client.stdout.split()[0])


def compare(
    title: str, servers: Sequence[Contestant], request: bytes, *, count: int, rounds: int, events: int = 1
) -> None:
    """Measures them against the first of them. A round loads each once, in turns from either
    end; ratios are taken within a round."""
    speed: dict[str, list[float]] = {server.name: [] for server in servers}
    cpu: dict[str, list[float]] = {server.name: [] for server in servers}
    for server in servers:
        load(server, request, max(CONNECTIONS, count // 10))
    for number in range(rounds):
        for server in servers if number % 2 else reversed(servers):
            before = server.cpu_seconds()
            seconds = load(server, request, count)
            cpu[server.name].append((server.cpu_seconds() - before) / count / events * 1e6)
            speed[server.name].append(count * events / seconds)
    unit = "request" if events == 1 else "event"
    for server in servers:
        _show(title, server.name, f"{unit}s/s", speed, servers[0].name, higher=True)
        _show(title, server.name, f"CPU us/{unit}", cpu, servers[0].name, higher=False)


def _show(
    title: str, name: str, unit: str, values: dict[str, list[float]], base: str, *, higher: bool
) -> None:
    own = values[name]
    digits = 0 if median(own) >= 1000 else 2
    pairs = zip(own, values[base], strict=True)
    ratios = [mine / its if higher else its / mine for mine, its in pairs]
    print(
        f"{title:22} {name:10} {unit:14} {median(own):>11,.{digits}f}  "
        f"({min(own):,.{digits}f} to {max(own):,.{digits}f})   of {base}: {median(ratios):.2f}  "
        f"({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )
