"""An app behind TLS on the loopback address, with a certificate that nobody knows yet."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from loopcheck.fake_providers.server import App
from loopcheck.fake_providers.wire import HttpRequest, Reply

pytest.importorskip("cryptography", reason="certificates are made with cryptography")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@contextmanager
def encrypted(app: App, certificate: Path) -> Iterator[str]:
    """Its URL. The certificate, which signs itself, is written to this file."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*_written(certificate))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = app(HttpRequest(method="POST", path=self.path, headers=headers, body=body))
            assert isinstance(reply, Reply)
            self.send_response_only(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            if reply.streamed:
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for segment in (*reply.segments, b""):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(segment), segment))
                return
            whole = b"".join(reply.segments)
            self.send_header("content-length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Service(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that does not trust the certificate hangs up."""

    with Service(("127.0.0.1", 0), Handler) as server:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _written(certificate: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loopcheck test")])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret = certificate.with_suffix(".key")
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate, secret
