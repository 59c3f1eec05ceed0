"""The connection to a Ray cluster, and the environments that are asked of it."""

from __future__ import annotations

import logging
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from loopcheck.harness.matrix import own_wheel
from loopcheck.harness.matrix.cell import Cell
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.local_ray import local_ray
from loopcheck.harness.matrix.uv import Uv

# What Ray calls an instance of one's own.
_LOCAL: Final = "local"
_ANSWER_SECONDS: Final = 10.0
# What was sent with the job; Ray says on each machine where that is.
_SENT: Final = "${RAY_RUNTIME_ENV_CREATE_WORKING_DIR}"
_SETTINGS: Final = "uv.toml"


@dataclass(frozen=True, slots=True)
class Runtime:
    """What every environment has besides the packages of its cell."""

    wheel: str
    options: tuple[str, ...]
    variables: Mapping[str, str]

    def environment(self, cell: Cell) -> dict[str, object]:
        """The runtime environment of the cell's task, as Ray wants it described."""
        own = f"{own_wheel.NAME} @ file://{_SENT}/{self.wheel}"
        uv = {
            "packages": [*cell.requirements, own],
            "uv_pip_install_options": ["--no-deps", *self.options],
        }
        return {"uv": uv, "env_vars": dict(self.variables)}


@contextmanager
def connected(address: str | None, uv: Uv, root: Path, *, cores: int) -> Iterator[Runtime]:
    """Connects to the cluster at this address, else at RAY_ADDRESS, else to one of this machine
    with so many cores, which ends with the block. Raises MatrixError."""
    if find_spec("ray") is None:
        raise MatrixError("--on ray needs Ray, which is not here; pip install 'loopcheck[ray]'")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="loopcheck-sent-")))
        described = runtime(folder, uv, root)
        wanted = address or os.environ.get("RAY_ADDRESS") or _LOCAL
        if wanted == _LOCAL:
            wanted = stack.enter_context(local_ray(cores, uv.environment))
        else:
            _check(wanted)
        stack.enter_context(_connection(wanted, folder))
        yield described


def runtime(folder: Path, uv: Uv, root: Path) -> Runtime:
    """Lays what is sent to the cluster into this folder."""
    wheel = own_wheel.write(folder)
    wheel = wheel.replace(folder / wheel.name)
    settings = uv.settings_file(root)
    options = uv.options
    if settings is not None:
        shutil.copyfile(settings, folder / _SETTINGS)
        options += ("--config-file", f"{_SENT}/{_SETTINGS}")
    return Runtime(wheel=wheel.name, options=options, variables=uv.sent)


def _check(address: str) -> None:
    """Looks whether anybody answers; Ray itself would try for long. Raises MatrixError."""
    if address == "auto":
        return
    if "://" in address:
        raise MatrixError(
            f"--ray-address {address}: cells say what they measure while they run, which a "
            "connection by Ray Client cannot pass on; give HOST:PORT of the cluster itself"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise MatrixError(f"--ray-address {address}: write HOST:PORT, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise MatrixError(f"no Ray cluster answers at {address}: {error}") from None


@contextmanager
def _connection(address: str, folder: Path) -> Iterator[None]:
    import ray
    from ray.exceptions import RayError

    try:
        ray.init(
            address=address,
            logging_level=logging.ERROR,
            log_to_driver=False,
            runtime_env={"working_dir": str(folder)},
        )
    except (ConnectionError, RuntimeError, ValueError, RayError) as error:
        raise MatrixError(f"Ray at {address}: {_reason(error)}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _reason(error: Exception) -> str:
    if "AuthenticationError" in f"{type(error).__name__} {error} {error.__cause__}":
        return "it asks for a token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
