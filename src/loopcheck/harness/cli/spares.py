"""Workers that were started before they are needed, since a start costs the target's import."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from loopcheck.harness.worker.client import Worker


class Spares:
    """Has one worker ready behind each that is taken. `start` makes and starts one."""

    def __init__(self, start: Callable[[], Worker]) -> None:
        self._start = start
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="loopcheck-spare")
        self._next: Future[Worker] | None = None

    def prepare(self) -> None:
        """Begins to start one, unless one is ready or about to be."""
        if self._next is None:
            self._next = self._starter.submit(self._start)

    def take(self) -> Worker:
        """One that runs, as soon as there is one, while the next is started. Raises what its
        start raises."""
        self.prepare()
        ready, self._next = self._next, None
        assert ready is not None, "one is being prepared"
        worker = ready.result()
        if not worker.is_running:  # something has ended it while it waited
            worker.close()
            worker = self._start()
        self.prepare()
        return worker

    def close(self) -> None:
        """Ends the one that is ready."""
        ready, self._next = self._next, None
        self._starter.shutdown()
        if ready is not None and ready.exception() is None:
            ready.result().close(grace=0)
