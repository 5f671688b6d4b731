"""How soon the first live figures come, against Pyodide as it is, in the same run: ``make bench``.

Each round takes both pages, one after the other, each in a browser of its own with an empty profile:
ours (to the first scene that Python of the page has computed) and a page that starts a bare ``loadPyodide``
in a worker (to its first answer). Cold is the first visit, warm the second in the same browser. A browser
that has just been started works for itself for a while, which is no part of either page: it is left alone
until that is over. Times of one machine mean little; their ratios are what is kept to.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, Playwright, sync_playwright

from stages import browser as browsers
from stages.cache import Cache
from stages.compress import compress
from stages.serve import serving

ROOT = Path(__file__).resolve().parent.parent
SETTLE = 3000  # ms for a browser to get through its own start
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
WORKER = """
import { loadPyodide } from "./pyodide.mjs";
const python = await loadPyodide({ indexURL: new URL("./", import.meta.url).href });
postMessage(python.runPython("1 + 1"));
"""
PAGE = """
const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
worker.onmessage = () => { window.live = performance.now(); };
"""
WATCH = """
const look = () => {
    if (document.querySelector("[data-scene][data-computed=live]")) window.live ??= performance.now();
    else setTimeout(look, 2);
};
look();
"""
ACT = """() => new Promise((resolve) => {
    const root = document.querySelector("[data-scene=admission]");
    const start = performance.now();
    root.addEventListener("lesson:change", () => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => resolve(performance.now() - start);
        channel.port2.postMessage(null);
    }), { once: true });
    root.querySelector(`[data-action=order]:not(:checked)`).click();
})"""


@contextmanager
def both(site: Path) -> Iterator[tuple[str, str]]:
    """Serve our site and the bare page, by the same server, compressed alike; gives the two addresses."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare"
        (bare / "assets").mkdir(parents=True)
        for name in PYODIDE:
            shutil.copy(ROOT / "node_modules" / "pyodide" / name, bare / "assets" / name)
        (bare / "assets" / "worker.mjs").write_text(WORKER)
        (bare / "assets" / "page.mjs").write_text(PAGE)
        (bare / "index.html").write_text(
            '<!doctype html><script type="module" src="assets/page.mjs"></script>'
        )
        compress(bare, Cache(ROOT / ".cache" / "stages"))
        with serving(site) as ours, serving(bare) as theirs:
            yield ours, theirs


def live(page: Page) -> float:
    """Wait for the first live figures; return when they came, in ms since the page was asked for."""
    page.wait_for_function("() => window.live", timeout=120_000)
    return float(page.evaluate("() => window.live"))


def visit(playwright: Playwright, chromium: str, address: str, ours: bool) -> dict[str, float]:
    """Visit a page twice in a fresh browser; return the times of both visits."""
    browser = playwright.chromium.launch(executable_path=chromium, args=[*browsers.ALONE])
    try:
        page = browser.new_page()
        page.wait_for_timeout(SETTLE)
        if ours:
            page.add_init_script(WATCH)
        page.goto(address, wait_until="commit")
        cold = live(page)
        if ours:
            page.wait_for_selector("html[data-python=ready]", state="attached")
            page.wait_for_timeout(1500)
        page.reload(wait_until="commit")
        return {"cold": cold, "warm": live(page)}
    finally:
        browser.close()


def measure(site: Path, chromium: str, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Measure both pages in turn, ``rounds`` times; return times in ms by page and kind of visit."""
    times: dict[str, dict[str, list[float]]] = {"ours": defaultdict(list), "bare": defaultdict(list)}
    with both(site) as addresses, sync_playwright() as playwright:
        for _ in range(rounds):
            for who, address in zip(("ours", "bare"), addresses, strict=True):
                for kind, time in visit(playwright, chromium, address, who == "ours").items():
                    times[who][kind].append(time)
    return times


def ratio(times: dict[str, dict[str, list[float]]], kind: str) -> float:
    """Return our median over that of the bare page."""
    return statistics.median(times["ours"][kind]) / statistics.median(times["bare"][kind])


def actions(site: Path, chromium: str, count: int = 60) -> list[float]:
    """Return how long each of some actions took to the painted figures, in ms, sorted."""
    with serving(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*browsers.ALONE])
        page = browser.new_page()
        page.goto(f"{address}embed/admission.html")
        page.wait_for_selector("html[data-python=ready]", state="attached")
        page.wait_for_timeout(1500)
        taken = sorted(float(page.evaluate(ACT)) for _ in range(count))
        browser.close()
    return taken


def bytes_by_kind(site: Path) -> dict[str, int]:
    """Add up what the first visit fetches, by suffix, as it travels with brotli."""
    sizes: dict[str, int] = defaultdict(int)
    for file in [site / "index.html", *(site / "assets").iterdir()]:
        if file.name.endswith((".br", ".whl", ".zip")) or (
            file.suffix == ".gz" and file.with_suffix("").is_file()
        ):
            continue
        copy = file.with_name(f"{file.name}.br")
        sizes["".join(file.suffixes[-2:])[-9:] if file.suffix == ".gz" else file.suffix] += (
            (copy if copy.is_file() else file).stat().st_size
        )
    return dict(sizes)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    chromium = browsers.find() or browsers.install()
    times = measure(ROOT / "dist", chromium, options.rounds)
    for kind in ("cold", "warm"):
        ours, bare = (statistics.median(times[who][kind]) for who in ("ours", "bare"))
        print(
            f"first live figures, {kind}: {ratio(times, kind):.2f} of bare loadPyodide",
            f"({ours:.0f} / {bare:.0f} ms)",
        )
    taken = actions(ROOT / "dist", chromium)
    print(
        f"action to painted figures: median {statistics.median(taken):.1f} ms,",
        f"p95 {taken[int(0.95 * len(taken))]:.1f} ms",
    )
    for kind, size in sorted(bytes_by_kind(ROOT / "dist").items(), key=lambda item: -item[1]):
        print(f"{size / 1e3:9.1f} kB  {kind}")


if __name__ == "__main__":
    main()
