"""Starts a Ray on this machine, says its address, and ends it when nobody listens any more.

    python -P ray_head.py CORES

Run as a file, by a Python that has Ray and need not have loopcheck. RAY_TMPDIR is where Ray keeps
its files; the folder is removed at the end.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys


def main() -> int:
    import ray

    ray.init(
        num_cpus=int(sys.argv[1]),
        include_dashboard=False,
        logging_level=logging.ERROR,
        log_to_driver=False,
    )
    print(ray.get_runtime_context().gcs_address, flush=True)
    sys.stdin.read()
    ray.shutdown()
    shutil.rmtree(os.environ["RAY_TMPDIR"], ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
