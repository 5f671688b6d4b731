// node stdlib.mjs OUT.zip: the standard library again, as byte code only (-OO), compiled by Pyodide's own Python.
//
// Sources and docstrings are what a reader's browser never needs; without them the plain start takes half the time.
// The same input gives the same bytes: sorted names, one date, unchecked hash-based .pyc files.
import fs from "node:fs";
import path from "node:path";
import { folder, loadPyodide } from "./pyodide.mjs";

const [out] = process.argv.slice(2);
const python = await loadPyodide();
python.FS.writeFile("/tmp/in.zip", fs.readFileSync(path.join(folder, "python_stdlib.zip")));
python.runPython(fs.readFileSync(new URL("../image/stdlib.py", import.meta.url), "utf8"));
fs.writeFileSync(out, python.FS.readFile("/tmp/out.zip"));
process.exit(0);
