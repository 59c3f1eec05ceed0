"""Answers of 500 events from the whole fake and from a raw server, one write an event and coalesced.

    python tests/bench/bench_streams.py [--rounds N] [--count N]
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from contestants import EVENTS, Contestant, aimock, loopcheck, raw, request, writes
from rounds import compare

from loopcheck.fake_providers.script import DIALECTS, Segments


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--no-aimock", action="store_true")
    options = parser.parse_args()
    print("raw: asyncio.start_server; reads head and body, looks at neither, sends prepared bytes")
    segments: tuple[Segments, ...] = ("frame", "all")
    for how in segments:
        for dialect in DIALECTS:
            with ExitStack() as stack:
                servers: list[Contestant] = [
                    stack.enter_context(raw(writes(dialect, "stream", how))),
                    stack.enter_context(loopcheck(dialect, "stream", how)),
                ]
                if not options.no_aimock and (it := stack.enter_context(aimock("stream"))):
                    servers.append(it)
                compare(
                    f"stream {how} {dialect}",
                    servers,
                    request(dialect, "stream"),
                    count=options.count,
                    rounds=options.rounds,
                    events=EVENTS,
                )


if __name__ == "__main__":
    main()
