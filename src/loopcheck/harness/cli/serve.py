"""`loopcheck serve`: a fake provider for any client in any language, until it is interrupted."""

from __future__ import annotations

import signal
import threading
from argparse import Namespace
from collections.abc import Callable

from loopcheck.fake_providers._limits import allow_most_connections
from loopcheck.fake_providers.routing import by_dialect
from loopcheck.fake_providers.script import DIALECTS, DialectName
from loopcheck.fake_providers.server import Server, ServerError
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.leniency import rules_left_out
from loopcheck.harness.exit_code import AS_EXPECTED

_Handler = Callable[[HttpRequest], Reply]


def run(options: Namespace) -> int:
    """Serves until Ctrl-C. Prints the address once requests are answered."""
    _check(options)
    for number in (signal.SIGINT, signal.SIGTERM):
        # A shell that starts it in the background has it ignore Ctrl-C otherwise.
        signal.signal(number, signal.default_int_handler)
    try:
        if options.record is not None:
            _record(options)
        else:
            _serve(options)
    except KeyboardInterrupt:
        # This is how serving ends.
        return AS_EXPECTED
    except ServerError as error:
        raise UsageError(str(error)) from None
    return AS_EXPECTED


def _check(options: Namespace) -> None:
    if (options.record is None) != (options.into is None):
        raise UsageError("--record URL and --into FOLDER go together")
    if not 0 <= options.port <= 65535:
        raise UsageError(f"--port {options.port}: ports go from 0 to 65535")
    scripted = options.auto or options.scenario is not None
    if not scripted and (options.lenient or options.dialect is not None):
        raise UsageError("--lenient and --dialect go with --auto and --scenario")
    rules_left_out(options.lenient, _names(options))


def _names(options: Namespace) -> tuple[DialectName, ...]:
    return DIALECTS if options.dialect is None else (options.dialect,)


def _serve(options: Namespace) -> None:
    handle, what = _handler(options)
    allow_most_connections()
    with Server(host=options.host, port=options.port) as server:
        _ready(server.mount_root(handle), what)
        threading.Event().wait()


def _ready(url: str, what: str) -> None:
    print(f"loopcheck serve: {url} ({what})", flush=True)


def _handler(options: Namespace) -> tuple[_Handler, str]:
    if options.auto:
        return _auto(options), "auto"
    if options.scenario is not None:
        return _scenario(options)
    return _replay(options)


def _auto(options: Namespace) -> _Handler:
    from loopcheck.fake_providers.auto import AutoProvider
    from loopcheck.harness.schema_values import is_installed, value_for

    if not is_installed():
        raise UsageError("--auto needs more libraries: pip install 'loopcheck[serve]'")
    off = frozenset(options.lenient)
    return by_dialect(
        {
            name: AutoProvider(name, values=value_for, seed=options.seed, off=off).handle
            for name in _names(options)
        }
    )


def _scenario(options: Namespace) -> tuple[_Handler, str]:
    from loopcheck.harness.cli.scripted import scripted

    providers, scenario_id = scripted(options.scenario, options)
    return by_dialect({name: made.handle for name, made in providers.items()}), scenario_id


def _replay(options: Namespace) -> tuple[_Handler, str]:
    from loopcheck.fake_providers.recordings import RecordingError, read_all
    from loopcheck.fake_providers.replay import Replay

    try:
        recordings = read_all(options.replay)
        return Replay(recordings).handle, f"replay of {len(recordings)}"
    except RecordingError as error:
        raise UsageError(str(error)) from None


def _record(options: Namespace) -> None:
    from loopcheck.fake_providers.record import Recorder, Upstream, UpstreamError

    try:
        upstream = Upstream.of(options.record)
        options.into.mkdir(parents=True, exist_ok=True)
        recorder = Recorder(upstream, options.into, host=options.host, port=options.port)
    except UpstreamError as error:
        raise UsageError(f"--record: {error}") from None
    except OSError as error:
        raise UsageError(f"cannot record: {error.strerror or error}") from None
    with recorder:
        _ready(recorder.url, f"recording {options.record} into {options.into}")
        recorder.serve_forever(poll_interval=0.1)
