// node lock.mjs OUT.json MICROPIP.whl WHEEL...: let micropip install our wheels in a throw-away interpreter and freeze
// what it found into the lock file from which the plain start boots.
//
// micropip cannot run in the interpreter whose memory is kept, so this is another one.
import fs from "node:fs";
import path from "node:path";
import { loadPyodide } from "./pyodide.mjs";

const [out, micropip, ...wheels] = process.argv.slice(2);
const python = await loadPyodide();
python.unpackArchive(new Uint8Array(fs.readFileSync(micropip)), "wheel");
python.FS.mkdir("/wheels");
for (const wheel of wheels) python.FS.writeFile(`/wheels/${path.basename(wheel)}`, fs.readFileSync(wheel));
const lock = await python.runPythonAsync(fs.readFileSync(new URL("../image/lock.py", import.meta.url), "utf8"));
fs.writeFileSync(out, lock);
process.exit(0);
