"""Plain requests against the whole fake, validation and journal included, and a raw server.

    python tests/bench/bench_provider.py [--rounds N] [--count N]
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from contestants import Contestant, aimock, loopcheck, raw, request, writes
from rounds import compare

from loopcheck.fake_providers.script import DIALECTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--no-aimock", action="store_true")
    options = parser.parse_args()
    print("raw: asyncio.start_server; reads head and body, looks at neither, sends prepared bytes")
    with ExitStack() as stack:
        for dialect in DIALECTS:
            asked = request(dialect, "whole")
            servers: list[Contestant] = [
                stack.enter_context(raw(writes(dialect, "whole"))),
                stack.enter_context(loopcheck(dialect, "whole")),
            ]
            if not options.no_aimock and (it := stack.enter_context(aimock("whole"))):
                servers.append(it)
            compare(f"plain {dialect}", servers, asked, count=options.count, rounds=options.rounds)


if __name__ == "__main__":
    main()
