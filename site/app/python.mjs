// Python itself, in whatever thread this is loaded: from the image that has everything imported, or plainly.
import createModule from "./pyodide.asm.mjs";
import { loadPyodide } from "./pyodide.mjs";
import * as images from "./image.mjs";
import { info, packages, stdlib, tag, version } from "./runtime.mjs";

const here = new URL("./", import.meta.url).href;
const nowhere = `${here}python/`; // where Pyodide believes its files are; what it asks for there is answered below
const quiet = { stdout: () => {}, stderr: () => {} };

/**
 * Start Python with a compiled module and, unless it is null, an image.
 * Resolves to { respond, addLibrary, run, plain }. An image of another version, a damaged one, or one that cannot be laid
 * into memory is given up for the plain start at once.
 */
export async function start(wasm, buffer) {
  if (buffer) {
    try {
      return describe(await fromImage(wasm, images.open(buffer, tag)), false);
    } catch {
      // plainly, then
    }
  }
  return describe(await plainly(wasm), true);
}

function describe(python, plain) {
  const respond = python.pyimport("scenes.stage").respond;
  const run = (code) => python.runPython(code);
  return { respond: (text) => respond(text), addLibrary: plain ? async () => {} : () => addLibrary(python), run, plain };
}

/** The fast start: an instance whose memory is overwritten by the image. */
function fromImage(wasm, image) {
  const createPyodideModule = async (settings) => {
    settings.INITIAL_MEMORY = image.memory;
    const module = await createModule(settings);
    images.restore(image, module);
    return module;
  };
  return answering(wasm, () =>
    loadPyodide({
      ...quiet,
      indexURL: nowhere,
      stdLibURL: `${nowhere}nothing.zip`,
      env: { PYTHONHASHSEED: "0" },
      lockFileContents: lock({}),
      packageBaseUrl: nowhere,
      _loadSnapshot: image.head,
      createPyodideModule,
    }),
  );
}

/** The plain start: the library is fetched, and the wheels are installed as micropip locked them at build. */
async function plainly(wasm) {
  const python = await answering(wasm, () =>
    loadPyodide({
      ...quiet,
      indexURL: nowhere,
      stdLibURL: stdlib,
      env: { PYTHONHASHSEED: "0" },
      lockFileContents: lock(packages),
      packageBaseUrl: here,
      createPyodideModule: createModule,
    }),
  );
  await python.loadPackage(Object.keys(packages), { messageCallback: () => {}, errorCallback: () => {} });
  return python;
}

const lock = (known) => ({ info: { ...info, version }, packages: known });

/**
 * While Pyodide starts it fetches its module and library by names of its own: hand it the module that is compiled
 * already, and an empty library, since the image holds what is needed.
 */
async function answering(wasm, starting) {
  const [fetch, instantiateStreaming] = [globalThis.fetch, WebAssembly.instantiateStreaming];
  const isOurs = (input) => String(input instanceof Request ? input.url : input).startsWith(nowhere);
  globalThis.fetch = (input, init) => (isOurs(input) ? Promise.resolve(new Response(new Uint8Array(0))) : fetch(input, init));
  WebAssembly.instantiateStreaming = async (_source, imports) => {
    /** @type {any} */ // an instance, as the first argument is a module
    const instance = await WebAssembly.instantiate(wasm, imports);
    return { module: wasm, instance };
  };
  try {
    return await starting();
  } finally {
    globalThis.fetch = fetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}

/** After a start from the image: fetch the standard library, so that what is not in memory can be imported too. */
async function addLibrary(python) {
  const response = await fetch(stdlib);
  if (!response.ok) return;
  python.FS.writeFile("/lib/python314.zip", new Uint8Array(await response.arrayBuffer()));
  python.runPython("import importlib, sys; sys.path_importer_cache.clear(); importlib.invalidate_caches()");
}
