// node snapshot.mjs OUT STDLIB.zip FOLDER TAG: the image of a Python in whose memory our modules are imported already.
//
// Layout, little endian: seven words (magic, tag, memory size, end of the static data, length of the head, number of
// runs, checksum of what follows), then Pyodide's own head, the runs' distances, their lengths, and their bytes.
// The image is sparse: it holds only what differs from the memory right after WebAssembly.instantiate, which is the same
// in every engine. Words that the constructors touch are always written, so that nothing of an engine's own, such as
// entropy, survives a restore.
import fs from "node:fs";
import path from "node:path";
import { checksum, MAGIC, WORDS } from "../../site/app/image.mjs";

const [out, stdlib, folder, tag] = process.argv.slice(2);
freezeChance();
const { createModule, emptyLock, folder: home, loadPyodide } = await import("./pyodide.mjs");
const info = JSON.parse(fs.readFileSync(path.join(home, "pyodide-lock.json"), "utf8")).info;
const options = () => ({
  env: { PYTHONHASHSEED: "0", PYTHONOPTIMIZE: "2" }, // no docstrings in memory, as in the library
  stdLibURL: path.resolve(stdlib),
  lockFileContents: emptyLock(info),
  packageBaseUrl: "/nowhere/",
});

const { head, memory, staticEnd } = await remember();
const { base, touched } = await fresh(head, memory.length, staticEnd);
fs.writeFileSync(out, pack(head, memory, staticEnd, findRuns(memory, base, touched)));
process.exit(0);

/** No clock, no entropy: every build sees the same. */
function freezeChance() {
  Date.now = () => 1700000000000;
  performance.now = () => 1000;
  Math.random = () => 0.5;
  const getRandomValues = (array) => {
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).fill(7);
    return array;
  };
  Object.defineProperty(globalThis, "crypto", { value: { getRandomValues, randomUUID: () => "0" }, configurable: true });
}

/** Copy a folder of the disk into the file system of Pyodide. */
function copyTree(FS, from, to) {
  FS.mkdirTree(to);
  for (const entry of fs.readdirSync(from, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const [source, target] = [path.join(from, entry.name), `${to}/${entry.name}`];
    if (entry.isDirectory()) copyTree(FS, source, target);
    else FS.writeFile(target, fs.readFileSync(source));
  }
}

/** Start Python, warm it, and take its memory apart into Pyodide's head and the heap. */
async function remember() {
  const python = await loadPyodide({ ...options(), _makeSnapshot: true });
  copyTree(python.FS, folder, "/lib/python3.14/site-packages");
  python.runPython(fs.readFileSync(new URL("../image/warm.py", import.meta.url), "utf8"));
  blankUnused(python._module);
  const staticEnd = python._module._emscripten_stack_get_end();
  const snapshot = python.makeMemorySnapshot();
  const start = new Uint32Array(snapshot.buffer, 0, 4)[1];
  return { head: snapshot.slice(0, start), memory: snapshot.slice(start), staticEnd };
}

/** Fill the free heap and the dead part of the stack with zeros: they compress well and tell nothing. */
function blankUnused(module) {
  const held = [];
  for (let size = 1 << 22; size >= 16; ) {
    const top = module._sbrk(0);
    const block = top + size + 65536 > module.HEAPU8.length ? 0 : module._malloc(size);
    if (!block || module._sbrk(0) !== top) {
      if (block) {
        module._free(block);
        module._malloc_trim?.(0);
      }
      size >>= 1;
      continue;
    }
    module.HEAPU8.fill(0, block, block + size);
    held.push(block);
  }
  for (const block of held.reverse()) module._free(block);
  module._malloc_trim?.(0);
  module.HEAPU8.fill(0, module._emscripten_stack_get_end(), module._emscripten_stack_get_current() - 64);
  module.HEAPU8.fill(0, module._sbrk(0));
}

/** The static data of an untouched instance, and of one whose constructors have run. */
async function fresh(head, size, staticEnd) {
  let base;
  let touched;
  const createPyodideModule = async (settings) => {
    settings.INITIAL_MEMORY = size;
    const instantiate = settings.instantiateWasm;
    settings.instantiateWasm = (imports, done) =>
      instantiate(imports, (instance, module) => {
        base = new Uint8Array(instance.exports.memory.buffer).slice(0, staticEnd);
        done(instance, module);
      });
    const module = await createModule(settings);
    touched = module.HEAPU8.slice(0, staticEnd);
    return module;
  };
  await loadPyodide({ ...options(), _loadSnapshot: head.slice(), createPyodideModule }).catch((error) => {
    if (!touched) throw error; // the empty memory cannot go on from here, and need not
  });
  return { base, touched };
}

/** Where the memory has to be written, as [offset, length]; gaps too small to be worth a run are written too. */
function findRuns(memory, base, touched) {
  const [now, before, after] = [memory, base, touched].map((bytes) => new Uint32Array(bytes.buffer, 0, bytes.length >> 2));
  const differs = (w) => now[w] !== (before[w] ?? 0) || (after[w] ?? 0) !== (before[w] ?? 0);
  const gap = 6;
  const runs = [];
  for (let w = 0; w < now.length; w++) {
    if (!differs(w)) continue;
    let last = w;
    for (let next = w + 1; next < now.length && next - last <= gap; next++) if (differs(next)) last = next;
    runs.push([w * 4, (last + 1 - w) * 4]);
    w = last;
  }
  return runs;
}

/** Write the image. */
function pack(head, memory, staticEnd, runs) {
  const headLength = (head.length + 3) & ~3;
  const start = WORDS * 4 + headLength;
  const bytes = runs.reduce((sum, [, length]) => sum + length, 0);
  const image = new Uint8Array(start + runs.length * 8 + bytes);
  image.set(head, WORDS * 4);
  const table = new Uint32Array(image.buffer, start, runs.length * 2);
  let [end, at] = [0, start + runs.length * 8];
  runs.forEach(([offset, length], k) => {
    table[k] = offset - end;
    table[runs.length + k] = length;
    image.set(memory.subarray(offset, offset + length), at);
    [end, at] = [offset + length, at + length];
  });
  const words = new Uint32Array(image.buffer, 0, WORDS);
  words.set([MAGIC, Number(tag), memory.length, staticEnd, headLength, runs.length, 0]);
  words[6] = checksum(image.buffer);
  return image;
}
