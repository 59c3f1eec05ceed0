"""Where the time of a plain answer goes: the fake in this process, stage by stage, no sockets.

    python tests/bench/bench_stages.py [--rounds N] [--dialects NAME ...] [--mode MODE]

Shown are microseconds of CPU, the least of all rounds. `the same` is a request that came before,
`new` one that did not: what is the same is read, checked and described once. A stage alone is
cheaper than in a row with the others, which drive it out of the processor's caches.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import count

from served import NUMBER, provider, request

from loopcheck.fake_providers._requests import Received, RequestReader
from loopcheck.fake_providers._responses import head
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.json_body import parsed
from loopcheck.fake_providers.provider import Provider
from loopcheck.fake_providers.recording import request_fields
from loopcheck.fake_providers.script import DIALECTS, MODES, DialectName, Mode
from loopcheck.fake_providers.wire import HttpRequest
from loopcheck.harness.journal import to_lines

TIMES = 100


def least_us(stage: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.thread_time()
        for _ in range(TIMES):
            stage()
        best = min(best, time.thread_time() - started)
    return best / TIMES * 1e6


def received(sent: bytes) -> HttpRequest:
    (whole,) = RequestReader().feed(sent)
    assert isinstance(whole, Received)
    return whole.request


def answered(fake: Provider, asked: HttpRequest) -> None:
    """Everything that a request costs but its transport, to the last journal entry."""
    reply = fake.handle(asked)
    head(reply, keep_alive=True, chunks=True)
    assert reply.finished is not None
    reply.finished("written")


def stages(name: DialectName, mode: Mode) -> Iterator[tuple[str, Callable[[], object]]]:
    """The stages by their names, in the order in which a request passes them."""
    sent, spoken, reader = request(name, mode, fresh=True), dialect(name), RequestReader()
    asked = received(sent)
    read = spoken.read(asked, Memory())
    rules = [rule for rule in spoken.rules if rule.grade not in ("D", "unsure")]
    same = provider(name, mode, "frame", forever=False)
    reply = same.handle(asked)
    numbers, new = count(), provider(name, mode, "frame", forever=False)

    def check_rules() -> None:
        memory = Memory()
        for rule in rules:
            assert rule.check(read.history, read.body, memory) is None

    yield "HTTP request", lambda: reader.feed(sent)
    yield "JSON", lambda: parsed(asked.body)
    yield "JSON and reading", lambda: spoken.read(asked, Memory())
    yield "rules", check_rules
    yield "journal's request", lambda: request_fields(asked, read, secret="sk-bench-0123456789")
    yield "HTTP head", lambda: head(reply, keep_alive=True, chunks=True)
    yield "the same, in all", lambda: answered(same, received(sent))
    yield "new, in all", lambda: answered(new, received(_numbered(sent, next(numbers))))
    entries = same.record.__self__.entries()[:30]  # type: ignore[attr-defined]
    yield "reading 30 entries", lambda: to_lines(entries)


def _numbered(sent: bytes, number: int) -> bytes:
    return sent.replace(NUMBER, b"%0*d" % (len(NUMBER), number))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--dialects", nargs="+", default=DIALECTS, choices=DIALECTS)
    parser.add_argument("--mode", default="whole", choices=MODES)
    options = parser.parse_args()
    for name in options.dialects:
        print(f"{name}, {options.mode}: CPU microseconds, least of {options.rounds} rounds")
        for title, stage in stages(name, options.mode):
            print(f"  {title:20} {least_us(stage, options.rounds):8.1f}", flush=True)


if __name__ == "__main__":
    main()
