"""Where the cells of a matrix are run: on this machine, or on a Ray cluster."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.cores import cores
from loopcheck.harness.matrix.cells import Workshop
from loopcheck.harness.matrix.executor import CELLS_A_CORE, Executor, LocalExecutor


def at_a_time(options: Namespace, cells: int) -> int:
    """How many cells run at a time at most. How many a cluster has room for, Ray knows."""
    most = cells if options.on == "ray" else min(cells, CELLS_A_CORE * cores())
    return int(options.jobs or most or 1)


@contextmanager
def executor_for(workshop: Workshop, options: Namespace, jobs: int) -> Iterator[Executor]:
    """What runs the cells, while the block runs. Raises MatrixError and UsageError."""
    if options.on != "ray":
        if options.ray_address is not None:
            raise UsageError("--ray-address names a Ray cluster; add --on ray")
        with LocalExecutor(workshop.prepare, jobs=jobs) as executor:
            yield executor
        return
    from loopcheck.harness.matrix.ray_cluster import connected

    root = workshop.matrix.root
    beside = LocalExecutor(workshop.prepare, jobs=min(jobs, CELLS_A_CORE * cores()))
    with connected(options.ray_address, workshop.uv, root, cores=cores()) as runtime:
        from loopcheck.harness.matrix.on_ray import RayExecutor

        with RayExecutor(runtime, jobs=jobs, beside=beside) as executor:
            yield executor
