"""Answers of 500 events from the whole fake, beside a raw server: a write an event, and coalesced.

    python tests/bench/bench_streams.py [--rounds N] [--count N] [--together N] [--no-aimock]

Then so many streams at once (1,000 by default; 0 for none), all of which must be complete.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from contestants import RAW, aimock, ours, raw
from rounds import add_options, compare, load
from served import EVENTS, request

from loopcheck.fake_providers.script import DialectName, Segments


def streams(options: argparse.Namespace, dialect: DialectName, segments: Segments) -> None:
    with ExitStack() as stack:
        servers = [
            stack.enter_context(raw(dialect, "stream", segments)),
            stack.enter_context(ours("loopcheck", dialect, "stream", segments)),
        ]
        if not options.no_aimock:
            servers += stack.enter_context(aimock("stream"))
        compare(
            f"segments {segments} {dialect}",
            servers,
            request(dialect, "stream"),
            options,
            count=options.count,
            events=EVENTS,
        )


def together(dialect: DialectName, count: int) -> None:
    with ours("loopcheck", dialect, "stream") as server:
        seconds = load(server, request(dialect, "stream"), count, connections=count)
    print(f"{count:,} streams at once, {dialect}: all complete, in {seconds:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_options(parser, count=100)
    parser.add_argument("--together", type=int, default=1000)
    options = parser.parse_args()
    print(RAW)
    for segments in ("frame", "all"):
        for dialect in options.dialects:
            streams(options, dialect, segments)
    for dialect in options.dialects if options.together else ():
        together(dialect, options.together)


if __name__ == "__main__":
    main()
