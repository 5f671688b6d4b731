"""Runs inside Pyodide at build: rewrite /tmp/in.zip as /tmp/out.zip, with optimised byte code for sources."""

import importlib._bootstrap_external as external
import zipfile

WHERE = "/lib/python314.zip/"
"""Where the archive lies in the browser: tracebacks name it."""


def byte_code(name: str, source: bytes) -> bytes:
    """Compile a module without asserts and docstrings to a .pyc that is never checked against its source."""
    code = compile(source, WHERE + name, "exec", dont_inherit=True, optimize=2)
    return bytes(external._code_to_hash_pyc(code, bytes(8), False))


def rewrite(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
    """Copy every file in the order of names, with one date."""
    for name in sorted(n for n in old.namelist() if not n.endswith("/")):
        data = old.read(name)
        if name.endswith(".py"):
            name, data = name + "c", byte_code(name, data)
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        new.writestr(info, data, compresslevel=9)


with zipfile.ZipFile("/tmp/in.zip") as source, zipfile.ZipFile("/tmp/out.zip", "w") as target:
    rewrite(source, target)
