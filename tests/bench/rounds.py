"""Loads servers in alternating rounds, and shows what came of it."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from contestants import Contestant

from loopcheck.fake_providers.script import DIALECTS

_CLIENT: Final = Path(__file__).with_name("load_client.py")


def add_options(parser: argparse.ArgumentParser, *, count: int) -> None:
    """The options that all these benches have."""
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--count", type=int, default=count, help="answers a round")
    parser.add_argument("--dialects", nargs="+", default=DIALECTS, choices=DIALECTS)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--no-aimock", action="store_true")


def load(server: Contestant, request: bytes, count: int, connections: int) -> float:
    """The seconds in which it answered so many requests, all of them completely."""
    command = [sys.executable, str(_CLIENT), *map(str, (server.port, count, connections))]
    client = subprocess.run(command, input=request, stdout=subprocess.PIPE, check=True)
    seconds, complete, _ = client.stdout.split()
    if int(complete) != count:
        raise SystemExit(f"{server.name} answered {int(complete)} of {count} requests")
    return float(seconds)


def compare(
    title: str,
    servers: Sequence[Contestant],
    request: bytes,
    options: argparse.Namespace,
    *,
    count: int,
    events: int = 1,
) -> None:
    """Measures them against the first of them. A round loads each once, in turns from either
    end; ratios are taken within a round."""
    speed: dict[str, list[float]] = {server.name: [] for server in servers}
    cpu_us: dict[str, list[float]] = {server.name: [] for server in servers}
    for server in servers:
        load(server, request, max(options.connections, count // 10), options.connections)
    for number in range(options.rounds):
        for server in servers if number % 2 else reversed(servers):
            before = server.cpu_seconds()
            seconds = load(server, request, count, options.connections)
            spent = server.cpu_seconds() - before
            cpu_us[server.name].append(spent / count / events * 1e6)
            speed[server.name].append(count * events / seconds)
    unit = "request" if events == 1 else "event"
    for server in servers:
        _show(title, server.name, f"{unit}s/s", speed, servers[0].name, more_is_better=True)
        _show(title, server.name, f"CPU us/{unit}", cpu_us, servers[0].name, more_is_better=False)


def _show(
    title: str,
    name: str,
    unit: str,
    values: dict[str, list[float]],
    base: str,
    *,
    more_is_better: bool,
) -> None:
    own = values[name]
    digits = 0 if median(own) >= 1000 else 2
    pairs = zip(own, values[base], strict=True)
    ratios = [mine / its if more_is_better else its / mine for mine, its in pairs]
    print(
        f"{title:24} {name:10} {unit:14} {median(own):>11,.{digits}f}  "
        f"({min(own):,.{digits}f} to {max(own):,.{digits}f})   of {base}: {median(ratios):.2f}  "
        f"({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )
