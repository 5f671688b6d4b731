// node in_pyodide.mjs ROOT SIZE...: the engine's measurement in Pyodide, the Python of the reader's browser.
import fs from "node:fs";
import path from "node:path";
import { loadPyodide } from "../stages/node/pyodide.mjs";

const [root, ...sizes] = process.argv.slice(2);
const python = await loadPyodide();
for (const folder of ["sim", "bench"]) copy(path.join(root, folder), `/home/pyodide/${folder}`);
python.globals.set("sizes", python.toPy(sizes.map(Number)));
python.runPython(`
import time
from bench.engine import CASES, measure, row
for case, caching, blocks in CASES:
    for size in sizes:
        print(row(case, measure(size, time.perf_counter, caching, blocks)), flush=True)
`);
process.exit(0);

function copy(from, to) {
  python.FS.mkdirTree(to);
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), `${to}/${entry.name}`];
    if (entry.isDirectory() && entry.name !== "__pycache__") copy(source, target);
    else if (entry.name.endsWith(".py")) python.FS.writeFile(target, fs.readFileSync(source));
  }
}
