"""A registry of npm on this machine, with releases that are made up."""

from __future__ import annotations

import base64
import io
import json
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha512
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Registry:
    """Where it is, and the tarballs of its only package by version."""

    url: str
    name: str
    tarballs: Mapping[str, bytes]

    def locked(self, version: str) -> dict[str, object]:
        """What a lock says of this release."""
        return {"version": version, "resolved": self.tarball(version), **self._integrity(version)}

    def tarball(self, version: str) -> str:
        return f"{self.url}/{self.name}/-/{self.name}-{version}.tgz"

    def document(self) -> dict[str, object]:
        """What is told of the package."""
        versions = {
            version: {
                "name": self.name,
                "version": version,
                "dist": {"tarball": self.tarball(version), **self._integrity(version)},
            }
            for version in self.tarballs
        }
        latest = list(versions)[-1]
        return {"name": self.name, "dist-tags": {"latest": latest}, "versions": versions}

    def _integrity(self, version: str) -> dict[str, str]:
        digest = base64.b64encode(sha512(self.tarballs[version]).digest()).decode()
        return {"integrity": f"sha512-{digest}"}


@contextmanager
def serving(name: str, modules: Mapping[str, str]) -> Iterator[Registry]:
    """A registry of this package: the text of its only module by version."""
    tarballs = {version: _packed(name, version, text) for version, text in modules.items()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.lstrip("/")
            by_path = {f"{name}/-/{name}-{version}.tgz": held for version, held in tarballs.items()}
            if path == name:
                self._answer(200, json.dumps(registry.document()).encode())
            elif path in by_path:
                self._answer(200, by_path[path])
            else:
                self._answer(404, b'{"error": "not found"}')

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry = Registry(f"http://127.0.0.1:{server.server_port}", name, tarballs)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()


def _packed(name: str, version: str, text: str) -> bytes:
    manifest = json.dumps({"name": name, "version": version, "type": "module"})
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for path, content in (("package.json", manifest), ("index.js", text)):
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(content.encode())
            archive.addfile(entry, io.BytesIO(content.encode()))
    return held.getvalue()
