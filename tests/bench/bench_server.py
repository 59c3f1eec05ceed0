"""The server alone, with one prepared reply, beside a raw server that sends the same bytes.

    python tests/bench/bench_server.py [--rounds N] [--count N]

What is between this and `bench_provider.py` or `bench_streams.py` is the provider's share.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from contestants import RAW, ours, raw
from rounds import add_options, compare
from served import EVENTS, request

from loopcheck.fake_providers.script import Mode


def transport(options: argparse.Namespace, mode: Mode, count: int, events: int) -> None:
    with ExitStack() as stack:
        servers = [
            stack.enter_context(raw("chat", mode)),
            stack.enter_context(ours("transport", "chat", mode)),
        ]
        compare(
            f"server alone, {mode}",
            servers,
            request("chat", mode),
            options,
            count=count,
            events=events,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_options(parser, count=3000)
    options = parser.parse_args()
    print(RAW)
    transport(options, "whole", options.count, 1)
    transport(options, "stream", max(1, options.count // 30), EVENTS)


if __name__ == "__main__":
    main()
