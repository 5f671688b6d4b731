"""Serve the finished site as a good static host would, for looking at it and for the tests.

Right types, precompressed files, hashed names kept for ever and pages asked for again, readable from any
origin (sandboxed frames have none of their own), and nothing that forbids a frame.
"""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote, urlsplit

from stages.policy import CSP

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
    ".gz": "application/gzip",
    ".whl": "application/zip",
    ".zip": "application/zip",
    ".webmanifest": "application/manifest+json",
}
FOR_EVER = "public, max-age=31536000, immutable"


class Server(http.server.ThreadingHTTPServer):
    """Many short requests at once, none of which outlives the server."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a reader who went away in the middle of an answer."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers GET and HEAD from one folder."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments: object, site: Path) -> None:
        self.site = site
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Send a file, or its precompressed copy where the browser takes one."""
        file = self._file()
        if file is None:
            self._send(
                HTTPStatus.NOT_FOUND,
                b"not found\n",
                {"Content-Type": "text/plain", "Cache-Control": "no-cache"},
            )
            return
        encoding, stored = self._stored(file)
        headers = {
            "Content-Type": TYPES.get(file.suffix, "application/octet-stream"),
            "Vary": "Accept-Encoding",
        }
        headers["Cache-Control"] = FOR_EVER if file.parent == self.site / "assets" else "no-cache"
        if encoding:
            headers["Content-Encoding"] = encoding
        if file.suffix == ".html":
            headers["Content-Security-Policy"] = CSP
        self._send(HTTPStatus.OK, stored.read_bytes(), headers)

    def do_HEAD(self) -> None:
        """Send what GET would, less the content."""
        self.do_GET()

    def _file(self) -> Path | None:
        """Return the file asked for, or None when it does not exist within the site."""
        asked = (self.site / unquote(urlsplit(self.path).path).lstrip("/")).resolve()
        file = asked / "index.html" if asked.is_dir() else asked
        return file if file.is_relative_to(self.site) and file.is_file() else None

    def _stored(self, file: Path) -> tuple[str, Path]:
        """Choose among the file and its copies: the name of the encoding, and what to send."""
        accepted = {part.split(";")[0].strip() for part in self.headers.get("Accept-Encoding", "").split(",")}
        for encoding, suffix in (("br", ".br"), ("gzip", ".gz")):
            copy = file.with_name(file.name + suffix)
            if encoding in accepted and copy.is_file():
                return encoding, copy
        return "", file

    def _send(self, status: HTTPStatus, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {
            **headers,
            "Access-Control-Allow-Origin": "*",
            "Content-Length": str(len(body)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


def make_server(site: Path, port: int = 0) -> Server:
    """Make a server of the folder ``site`` on this machine alone; port 0 takes any that is free."""
    if not 0 <= port <= 65535:
        raise ValueError(f"port is {port}, must be 0 to 65535")
    return Server(("127.0.0.1", port), functools.partial(Handler, site=site.resolve()))


@contextmanager
def serving(site: Path) -> Iterator[str]:
    """Serve a folder for the length of a ``with``; gives the address."""
    server = make_server(site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serve(site: Path, port: int) -> None:
    """Serve in the foreground until it is interrupted, having printed the address on one line."""
    with make_server(site, port) as server:
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
