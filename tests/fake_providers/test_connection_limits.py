"""The bound on open connections follows what the process may open."""

from __future__ import annotations

import sys

import pytest

from loopcheck.fake_providers._limits import allow_most_connections, most_connections

if sys.platform == "win32":
    pytest.skip("there is no such limit on Windows", allow_module_level=True)

import resource


class Limits:
    """The two limits of a process on open files, in place of the real ones."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, files: int, allowed: int) -> None:
        self.now = (files, allowed)
        monkeypatch.setattr(resource, "getrlimit", lambda kind: self.now)
        monkeypatch.setattr(resource, "setrlimit", self._set)

    def _set(self, kind: int, limits: tuple[int, int]) -> None:
        self.now = limits


@pytest.mark.parametrize(
    ("files", "most"),
    [(1024, 900), (256, 132), (100, 16), (10**6, 4096), (resource.RLIM_INFINITY, 4096)],
)
def test_the_bound_leaves_files_to_the_rest(
    monkeypatch: pytest.MonkeyPatch, files: int, most: int
) -> None:
    Limits(monkeypatch, files, 10**6)
    assert most_connections() == most


@pytest.mark.parametrize(
    ("files", "allowed", "then", "most"),
    [
        (1024, 10**6, 4220, 4096),
        (1024, resource.RLIM_INFINITY, 4220, 4096),
        (1024, 2048, 2048, 1924),
        (10**5, 10**6, 10**5, 4096),
    ],
)
def test_a_serving_process_raises_its_limit_as_far_as_it_may(
    monkeypatch: pytest.MonkeyPatch, files: int, allowed: int, then: int, most: int
) -> None:
    limits = Limits(monkeypatch, files, allowed)
    allow_most_connections()
    assert limits.now == (then, allowed)
    assert most_connections() == most
