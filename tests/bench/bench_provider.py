"""Plain requests to the whole fake, validation and journal included, beside a raw server.

One request a thousand times, and then requests of which none is like another: what came before
just the same is not read and checked again.

    python tests/bench/bench_provider.py [--rounds N] [--count N] [--memory N] [--no-aimock]

Then so many requests (100,000 by default; 0 for none) to one that serves for ever, and what it
holds in memory meanwhile.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from contestants import RAW, aimock, ours, raw
from rounds import add_options, compare, load
from served import request

STEPS = 10


def plain(options: argparse.Namespace, *, fresh: bool) -> None:
    for dialect in options.dialects:
        with ExitStack() as stack:
            servers = [
                stack.enter_context(raw(dialect, "whole")),
                stack.enter_context(ours("loopcheck", dialect, "whole")),
            ]
            if not options.no_aimock:
                servers += stack.enter_context(aimock("whole"))
            asked = request(dialect, "whole", fresh=fresh)
            title = f"{'fresh' if fresh else 'plain'} {dialect}"
            compare(title, servers, asked, options, count=options.count)


def memory(options: argparse.Namespace) -> None:
    for dialect in options.dialects:
        with ours("forever", dialect, "whole") as server:
            held = []
            for _ in range(STEPS):
                load(server, request(dialect, "whole"), options.memory // STEPS, 8)
                held.append(server.resident_mib())
        shown = " ".join(f"{mib:.1f}" for mib in held)
        print(f"memory {dialect}: MiB after each tenth of {options.memory:,} requests: {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_options(parser, count=3000)
    parser.add_argument("--memory", type=int, default=100_000)
    options = parser.parse_args()
    print(RAW)
    for fresh in (False, True):
        plain(options, fresh=fresh)
    if options.memory:
        memory(options)


if __name__ == "__main__":
    main()
