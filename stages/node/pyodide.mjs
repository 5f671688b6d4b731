// Pyodide in Node for the build: where it lies, and how it is started without looking for anything else.
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The folder of the npm package. */
export const folder = fileURLToPath(new URL("../../node_modules/pyodide", import.meta.url));

const at = (name) => pathToFileURL(path.join(folder, name)).href;
const { loadPyodide, version } = await import(at("pyodide.mjs"));

/** Make the Emscripten module of Pyodide. */
export const createModule = (await import(at("pyodide.asm.mjs"))).default;
export { loadPyodide, version };

/** A lock file that knows no package, so that none is ever asked for. */
export const emptyLock = (info) => ({ info: { ...info, version }, packages: {} });
