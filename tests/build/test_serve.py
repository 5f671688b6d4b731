"""The server: what a good static host does, and nothing that keeps a page out of a frame."""

import gzip
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from http.client import HTTPResponse
from pathlib import Path

import brotli
import pytest

from stages.serve import TYPES, make_server

ROOT = Path(__file__).resolve().parents[2]


def get(address: str, accept: str = "", method: str = "GET") -> HTTPResponse:
    request = urllib.request.Request(address, headers={"Accept-Encoding": accept}, method=method)
    response: HTTPResponse = urllib.request.urlopen(request)
    return response


def asset(site: Path, pattern: str) -> str:
    (found,) = (site / "assets").glob(pattern)
    return f"assets/{found.name}"


def test_pages_are_asked_for_again_and_may_be_framed(server: str) -> None:
    headers = get(f"{server}index.html").headers
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-cache"
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert "frame-ancestors" not in headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in headers


def test_assets_have_right_types_and_are_kept(server: str, site: Path) -> None:
    kinds = {"app.*.mjs": "text/javascript", "lesson.*.css": "text/css", "*400*.woff2": "font/woff2"}
    for pattern, kind in {**kinds, "*.image.gz": "application/gzip"}.items():
        headers = get(server + asset(site, pattern), method="HEAD").headers
        assert headers["Content-Type"].split(";")[0] == kind
        assert "immutable" in headers["Cache-Control"]
        assert headers["Access-Control-Allow-Origin"] == "*"


def test_every_file_of_the_site_has_a_type(site: Path) -> None:
    copies = {".br"}
    assert {file.suffix for file in site.rglob("*") if file.is_file()} <= {*TYPES, *copies}


@pytest.mark.parametrize(("accept", "encoding"), [("gzip, br", "br"), ("gzip;q=1", "gzip"), ("", None)])
def test_precompressed_files(server: str, site: Path, accept: str, encoding: str | None) -> None:
    response = get(f"{server}index.html", accept)
    body = response.read()
    decode = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}[encoding]
    assert response.headers["Content-Encoding"] == encoding
    assert decode(body) == (site / "index.html").read_bytes()


def test_what_is_stored_compressed_is_sent_as_it_is(server: str, site: Path) -> None:
    response = get(server + asset(site, "*.wasm.gz"), "gzip, br")
    assert response.headers["Content-Encoding"] is None
    assert response.read(2) == b"\x1f\x8b"


@pytest.mark.parametrize("path", ["nothing.html", "../build.py", "%2e%2e/build.py", "embed/"])
def test_nothing_else_is_served(server: str, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(server + path)
    assert caught.value.code == 404
    caught.value.close()


def test_a_wrong_port_is_refused(site: Path) -> None:
    with pytest.raises(ValueError, match="port is 70000, must be 0 to 65535"):
        make_server(site, 70000)


def test_serve_prints_its_address_and_honours_the_port(site: Path) -> None:
    with make_server(site) as free:
        port = free.server_port
    code = (
        "import sys, pathlib; from stages import serve; "
        "serve.serve(pathlib.Path(sys.argv[1]), int(sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, str(site), str(port)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address == f"http://127.0.0.1:{port}/"
        assert get(address).status == 200
        server.send_signal(signal.SIGINT)
        assert server.stdout.read() == ""
        assert server.wait() == 0
